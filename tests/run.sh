#!/bin/sh
# Sets everything up, builds, and runs all tests.
#   sh tests/run.sh               the ordinary run, a few minutes
#   sh tests/run.sh --long        the same with the full numbers of random cases
#   sh tests/run.sh --mutants N   no tests but random faults with the seed N, and which of them the tests see: hours
#   sh tests/run.sh --sanitize    built with ASan and UBSan, CPU only, in a build folder of its own
# Further arguments go to ctest (for example: -R phantom).
set -eu
long=0
while [ $# -gt 0 ]; do
    case $1 in
    --long) long=1 ;;
    --sanitize) sanitize=1 ;;
    --mutants) mutants=$2 && shift ;;
    *) break ;;
    esac
    shift
done
. "$(dirname "$0")/../cmake/setup.sh"
if [ "${sanitize:-0}" = 1 ]; then
    build=$source/build-asan
    hot_configure="--preset asan+ubsan"
fi
[ $long = 0 ] || export HOT_TEST_LONG=1 HOT_TEST_FULL=1
# Without a GPU no test runs what nvcc makes, without AVX-512 none what is made for it; they took half of the time of a
# build. That they compile is shown without the optimizer, CUDA for one architecture. The long form, demo.sh and a
# build by hand have all; what they have built is used as it is.
if [ -z "${HOT_TEST_LONG:-}" ] && [ -z "${hot_configure:-}" ] && [ ! -e /dev/nvidiactl ] &&
    [ ! -f "$build/CMakeCache.txt" ]; then
    hot_configure="--preset release -DHOTFIBER_COMPILE_CHECK=ON"
fi
hot_setup --tests
[ -z "${mutants:-}" ] || exec /usr/bin/python3 "$source/tests/mutants/mutants.py" --seed "$mutants"
export HOT_ALL_READERS=1 # they were just installed
# Tests share the processors: a thread that waits for another one sleeps. Spinning, the default, took a third of the
# processors' time, as two tests have two threads each on two processors. OpenBLAS' threads, in every program that loads
# it (each that imports numpy), can only spin.
export OMP_WAIT_POLICY=passive OPENBLAS_NUM_THREADS=1
# One test more than there are processors: with as many these idled a ninth of the time, as tests wait for files and
# signals.
ctest --test-dir "$build" --output-on-failure --parallel $((jobs + 1)) "$@"
