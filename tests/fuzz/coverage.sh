# coverage.sh [ROUNDS [FAILURES]]: which lines of the readers the fuzz targets reach with the corpus, with each of the
# first FAILURES (300) requests for memory failing in turn, and with ROUNDS (50) changed copies of each file: a table
# by file. A failure is less than 90 % of all lines. Built by clang, without sanitizers. As a test it is of the long
# form.
set -eu
source=${HOT_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
[ -z "${HOT_BUILD:-}" ] || [ -n "${HOT_TEST_LONG:-}" ] || { echo "skipped: a test of the long form"; exit 77; }
tool=$(command -v llvm-cov || true)
[ -n "$tool" ] && command -v clang >/dev/null || { echo "skipped: clang and llvm-cov are not installed"; exit 77; }
rounds=${1:-50} failures=${2:-300} least=90
build=${HOT_COVERAGE_BUILD:-$source/build-coverage}
jobs=$(getconf _NPROCESSORS_ONLN)
flags="-O1 -g -fprofile-instr-generate -fcoverage-mapping"
cmake -S "$source" -B "$build" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
    -DHOTFIBER_CUDA=OFF -DCMAKE_C_FLAGS_DEBUG="$flags" -DCMAKE_EXE_LINKER_FLAGS=-fprofile-instr-generate \
    >configure.log 2>&1 || { cat configure.log; exit 1; }
cmake --build "$build" --parallel "$jobs" --target fuzz_targets >build.log 2>&1 || { tail -n 20 build.log; exit 1; }
export OMP_NUM_THREADS=1
programs=
for name in $(cd "$source/tests/fuzz/corpus" && ls); do
    program=$build/bin/fuzz_$name
    [ -x "$program" ] || continue # the viewer may not have been built
    mkdir -p "scratch_$name"
    much="$rounds $failures"
    [ "$name" != kept ] || much="$((rounds / 10)) $((failures / 3))" # whole runs
    (cd "scratch_$name" && LLVM_PROFILE_FILE=../$name.profraw "$program" "$source/tests/fuzz/corpus/$name" $much) \
        >"$name.log" 2>&1 || { tail -n 5 "$name.log"; exit 1; }
    programs="$programs -object $program"
done
llvm-profdata merge -o all.profdata ./*.profraw
# Code that reads other programs' bytes or words. Functions that write do not matter here, but files with both count by
# their readers' lines.
readers="nrrd/nrrdheader nrrd/nrrddata nrrd/nrrd_read nrrd/nrrd_dwi nrrd/nrrd_values nrrd/nrrd_frame nrrd/tensor_file
    nrrd/tensor_frame nrrd/response_keys nifti/nifti_read mrtrix/mif_header mrtrix/mif_read mrtrix/response_file
    common/gradient_files common/stream common/input"
files="plugin/io/sh_file.c plugin/cli/options.c plugin/module/parse.c plugin/run/learned.c plugin/run/parts.c
    plugin/run/resume.c plugin/run/rows.c plugin/io/dwi_load.c plugin/io/dwi_image.c plugin/io/gradient_find.c
    plugin/io/image_open.c plugin/io/directions_file.c plugin/io/tensors_file.c plugin/io/nrrd/nrrd_directions.c
    viz/scene/vtp.c kernels/contract/contract_tuning.c"
for reader in $readers; do
    files="$files plugin/io/$reader.c"
done
# shellcheck disable=SC2086
llvm-cov export -summary-only -instr-profile all.profdata ${programs# -object } >coverage.json
# shellcheck disable=SC2086
/usr/bin/python3 - $least $files <<'END'
import json
import sys

found = json.load(open("coverage.json"))["data"][0]
covered = lines = 0
for entry in found["files"]:
    name = [name for name in sys.argv[2:] if entry["filename"].endswith("/" + name)]
    if not name:
        continue
    here = entry["summary"]["lines"]
    covered, lines = covered + here["covered"], lines + here["count"]
    print("%5.1f %%  %4d of %4d  %s" % (100 * here["covered"] / max(1, here["count"]), here["covered"], here["count"],
                                       name[0]))
print("%5.1f %%  %4d of %4d  all; wanted are 90 %%" % (100 * covered / lines, covered, lines))
sys.exit(100 * covered < int(sys.argv[1]) * lines)
END
