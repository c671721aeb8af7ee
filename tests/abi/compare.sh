# compare.sh [--update] FOLDER: the interfaces of the libraries, functions with the types that they take and give,
# against those of the last release (tests/abi/NAME.abi.gz), by abidiff of Debian's abigail-tools. The libraries are
# built in FOLDER with what debuggers need. What has been added is told; what has changed or gone is a failure.
# --update: this state is the release's.
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)
command -v abidiff >/dev/null || { echo "skipped: abigail-tools is not installed"; exit 77; }
update=
if [ "$1" = --update ]; then
    update=1
    shift
fi
if [ -z "$update" ] && [ ! -f "$source/tests/abi/hotfiber.abi.gz" ]; then
    echo "no release has left its interface yet (--update); symbols alone are compared, by symbols.sh"
    exit 77
fi
mkdir -p "$1"
work=$(cd "$1" && pwd)
cmake -S "$source" -B "$work" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-O0 -g" -DHOTFIBER_CUDA=OFF \
    -DHOTFIBER_TESTS=OFF >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cmake --build "$work" --parallel "${HOT_JOBS:-$(getconf _NPROCESSORS_ONLN)}" --target hotkernels hotarrays hotfiber \
    >>"$work/log" 2>&1 || { tail -n 5 "$work/log"; exit 1; }
failed=0
for name in hotkernels hotarrays hotfiber; do
    headers="--headers-dir $source/kernels/include --headers-dir $source/plugin/include"
    # shellcheck disable=SC2086
    abidw $headers --drop-private-types --no-corpus-path --no-comp-dir-path --no-show-locs --type-id-style hash \
        --no-write-default-sizes --no-parameter-names --no-elf-needed \
        --out-file "$work/$name.abi" "$work/lib/lib$name.so"
    if [ -n "$update" ]; then
        gzip -9nc "$work/$name.abi" >"$source/tests/abi/$name.abi.gz"
        continue
    fi
    changed=0
    gzip -dc "$source/tests/abi/$name.abi.gz" >"$work/$name.kept.abi"
    abidiff --no-added-syms "$work/$name.kept.abi" "$work/$name.abi" >"$work/$name.diff" || changed=$?
    abidiff "$work/$name.kept.abi" "$work/$name.abi" | sed -n '/Added functions/,/^$/p'
    if [ $changed != 0 ]; then
        cat "$work/$name.diff"
        failed=1
    fi
done
exit $failed
