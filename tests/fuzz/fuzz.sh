# fuzz.sh [SECONDS [TARGET...]]: builds the fuzz targets with clang's libFuzzer, libraries and all instrumented, with
# the address and undefined-behaviour sanitizers, and runs each for so long (60 s) from the corpus. Whatever is found is
# kept in findings/ of the folder that this is run in, and is a failure. As a test it is of the long form.
set -eu
source=${HOT_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
[ -z "${HOT_BUILD:-}" ] || [ -n "${HOT_TEST_LONG:-}" ] || { echo "skipped: a test of the long form"; exit 77; }
command -v clang >/dev/null || { echo "skipped: clang is not installed"; exit 77; }
seconds=${1:-60}
[ $# -eq 0 ] || shift
build=${HOT_FUZZ_BUILD:-$source/build-fuzz}
jobs=$(getconf _NPROCESSORS_ONLN)
(cd "$source" && cmake --preset fuzz -B "$build") >configure.log 2>&1 || { cat configure.log; exit 1; }
cmake --build "$build" --parallel "$jobs" --target fuzz_targets >build.log 2>&1 || { tail -n 20 build.log; exit 1; }
mkdir -p findings
export LSAN_OPTIONS="suppressions=$source/tests/leaks.supp:print_suppressions=0" OMP_NUM_THREADS=1
failed=0
for name in ${*:-$(cd "$source/tests/fuzz/corpus" && ls)}; do
    [ -x "$build/bin/fuzz_$name" ] || continue # the viewer may not have been built
    mkdir -p "found_$name" "scratch_$name"
    # a single input may ask for what its header says: 2 GB is the limit, and 25 s the time
    if (cd "scratch_$name" && "$build/bin/fuzz_$name" -max_total_time="$seconds" -timeout=25 -rss_limit_mb=2048 \
        -max_len=8192 -print_final_stats=1 -artifact_prefix=../findings/"$name"- "../found_$name" \
        "$source/tests/fuzz/corpus/$name") >"$name.log" 2>&1; then
        result=fine
    else
        result=FAILED failed=1
        grep -m 3 -E 'ERROR|SUMMARY|runtime error' "$name.log" || tail -n 5 "$name.log"
    fi
    printf '%-10s %s: %s runs, coverage %s edges, corpus %s\n' "$name" "$result" \
        "$(sed -n 's/^stat::number_of_executed_units: *//p' "$name.log")" \
        "$(sed -n 's/.* cov: \([0-9]*\).*/\1/p' "$name.log" | tail -n 1)" \
        "$(ls "found_$name" | wc -l) new"
done
exit $failed
