#!/bin/sh
# Sets everything up, builds, and runs all tests.
#   sh tests/run.sh               the ordinary run, a few minutes
#   sh tests/run.sh --long        the same with the full numbers of random cases
#   sh tests/run.sh --mutants N   no tests but random faults with the seed N, and which of them the tests see: hours
#   sh tests/run.sh --sanitize    built with ASan and UBSan, CPU only, in its own build folder
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
# Without a GPU, CUDA is compiled for one architecture, to see that it compiles; the long form builds what is released.
cuda=
if [ ! -e /dev/nvidiactl ] && [ -z "${hot_configure:-}" ] && { [ -x /usr/local/cuda/bin/nvcc ] || command -v nvcc; } \
    >/dev/null; then
    cuda="-DHOTFIBER_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=90-real"
    [ $long = 0 ] || cuda="-DHOTFIBER_CUDA=ON"
fi
# shellcheck disable=SC2086
hot_setup --tests $cuda
[ -z "${mutants:-}" ] || exec /usr/bin/python3 "$source/tests/mutants/mutants.py" --seed "$mutants"
export HOT_ALL_READERS=1 # they were just installed
# Tests share the processors, so a waiting thread must sleep. OpenBLAS' threads can only spin: it gets one.
export OMP_WAIT_POLICY=passive OPENBLAS_NUM_THREADS=1
# One test more than there are processors, as tests wait for files and signals.
ctest --test-dir "$build" --output-on-failure --parallel $((jobs + 1)) "$@"
