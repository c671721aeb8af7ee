#!/bin/sh
# Installs missing packages, builds, and runs the pipeline on the sample data. Ends with a table of the fibres and the
# path of a picture. Takes about three minutes the first time on two cores, seconds afterwards.
#   sh sample_data/demo.sh [FOLDER]     FOLDER: where the results go (default: out/demo in the checkout)
set -eu
. "$(dirname "$0")/../cmake/setup.sh"
hot_setup
out=${1:-$source/out/demo}
mkdir -p "$(dirname "$out")"
say "running: hotfiber run sample_data/phantom.nhdr -o $out"
"$build/bin/hotfiber" run "$source/sample_data/phantom.nhdr" -o "$out" --force
printf '\nHow the directions compare with the true ones:\n'
"$build/bin/hotfiber" score -i "$out/peaks.nrrd" --truth "$source/sample_data/phantom_truth.nrrd"
printf '\nPicture: %s\n' "$out/fibers.png"
