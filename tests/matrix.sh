# matrix.sh [--full] [NAME...]: builds the project in other ways than tests/run.sh does, each in its own folder
# (HOT_MATRIX, default build-matrix of the checkout), and runs C tests, or with --full all tests. A line for each; a
# failure is the status. Names, default all but the last four:
#   debug     gcc, -O0, warnings are errors       clang     clang, release
#   gcc       the newest gcc of this machine      lto       gcc, link-time optimization
#   openmp    without OpenMP: one thread          nocuda    without CUDA, LAPACK and HDF5
#   cxx       consumers in C++: every public header, a program that links
#   arm64     by a cross compiler and qemu        s390x     the same with the bytes the other way round
#   musl      the kernels with musl's C library
#   asan      address and undefined-behaviour sanitizers      tsan   thread sanitizer (clang, Archer)
#   twice     two builds in two folders, the same bytes      abi    types of the headers against those kept
# A build without its compiler on this machine is named and left out.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
work=${HOT_MATRIX:-$source/build-matrix}
jobs=${HOT_JOBS:-$(getconf _NPROCESSORS_ONLN)}
full=
if [ "${1:-}" = --full ]; then
    full=1
    shift
fi
mkdir -p "$work"
failed=0
# Tests in C: seconds each. The checkers of kernels, the plugin.
quick='^(unit_|fuzz_[a-z_]*$|kernels_(symtensor|allocations|cancel|fallback|checker_[a-z]*)$)'

say() { printf '%-8s %s\n' "$@"; }
leave_out() { say "$1" "left out: $2"; }

# build NAME OPTION...: configures and builds what the quick tests need, or everything.
build() {
    name=$1
    shift
    folder=$work/$name
    mkdir -p "$folder"
    if ! cmake -S "$source" -B "$folder" "$@" >"$folder/configure.log" 2>&1; then
        say "$name" "FAILED: cannot be configured: $folder/configure.log"
        failed=1
        return 1
    fi
    if ! cmake --build "$folder" --parallel "$jobs" >"$folder/build.log" 2>&1; then
        say "$name" "FAILED: does not build: $(grep -m 1 -E 'error|Error' "$folder/build.log")"
        failed=1
        return 1
    fi
    warnings=$(grep -c 'warning:' "$folder/build.log" || true)
}

# run NAME [ctest's arguments]: and its tests.
run() {
    name=$1
    shift
    folder=$work/$name
    if [ $# -eq 0 ] && [ -z "$full" ]; then
        set -- -R "$quick" -E 'long|coverage'
    fi
    if ctest --test-dir "$folder" --parallel "$jobs" "$@" >"$folder/test.log" 2>&1; then
        say "$name" "$(grep 'tests passed' "$folder/test.log"), $warnings warnings"
    else
        say "$name" "FAILED: $(sed -n '/^The following tests FAILED/,$p' "$folder/test.log" | grep -- ' - ' |
            tr -s ' \n' ' ')"
        failed=1
    fi
}

try() {
    case $1 in
    debug) build debug -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-O0 -g" -DHOTFIBER_WERROR=ON \
        -DHOTFIBER_CUDA=OFF && run debug -R '^(unit_|fuzz_[a-z_]*$)' ;; # kernels take hours
    gcc)
        newest=$(ls /usr/bin | grep -E '^gcc-[0-9]+$' | sort -t - -k 2 -n | tail -n 1)
        [ -n "$newest" ] || { leave_out gcc "no gcc-N"; return; }
        build gcc -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER="$newest" -DHOTFIBER_CUDA=OFF && run gcc ;;
    clang)
        newest=$(ls /usr/bin | grep -E '^clang-[0-9]+$' | sort -t - -k 2 -n | tail -n 1)
        [ -n "$newest" ] || { leave_out clang "not installed"; return; }
        build clang -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER="$newest" -DCMAKE_CXX_COMPILER=clang++ \
            -DHOTFIBER_CUDA=OFF && run clang ;;
    lto) build lto -DCMAKE_BUILD_TYPE=Release -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON -DHOTFIBER_CUDA=OFF && run lto ;;
    openmp) build openmp -DCMAKE_BUILD_TYPE=Release -DHOTFIBER_OPENMP=OFF -DHOTFIBER_CUDA=OFF && run openmp ;;
    nocuda) build nocuda -DCMAKE_BUILD_TYPE=Release -DHOTFIBER_CUDA=OFF -DHOTFIBER_LAPACK=OFF -DHOTFIBER_HDF5=OFF \
        && run nocuda ;;
    cxx) build cxx -DCMAKE_BUILD_TYPE=Release -DHOTFIBER_CUDA=OFF && run cxx -R '^(cli_install|module_scirun)$' ;;
    arm64 | s390x)
        if HOT_CROSS=$work/$1 HOT_JOBS=$jobs sh "$source/tests/cross.sh" "$1" -R '^(unit_|fuzz_[a-z_]*$)' \
            >"$work/$1.log" 2>&1; then
            say "$1" "$(grep 'tests passed' "$work/$1.log")"
        else
            [ $? = 77 ] || failed=1
            say "$1" "$(tail -n 3 "$work/$1.log" | tr '\n' ' ')"
        fi ;;
    musl)
        command -v musl-gcc >/dev/null || { leave_out musl "musl-tools is not installed"; return; }
        build musl -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER=musl-gcc -DHOTFIBER_KERNELS_ONLY=ON \
            -DHOTFIBER_OPENMP=OFF -DHOTFIBER_CUDA=OFF -DHOTFIBER_LAPACK=OFF && run musl -R '^kernels_|^unit_context' ;;
    asan) build asan -DCMAKE_BUILD_TYPE=RelWithDebInfo -DHOTFIBER_CUDA=OFF -DHOTFIBER_SANITIZE=address,undefined \
        && run asan -E 'long|coverage' ;;
    tsan)
        archer=$(ls /usr/lib/llvm-*/lib/libarcher.so 2>/dev/null | tail -n 1)
        [ -n "$archer" ] || { leave_out tsan "no libarcher.so (libomp-dev)"; return; }
        export OMP_TOOL_LIBRARIES="$archer"
        export TSAN_OPTIONS="ignore_noninstrumented_modules=1 suppressions=$source/tests/races.supp"
        build tsan -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
            -DHOTFIBER_CUDA=OFF -DHOTFIBER_SANITIZE=thread && run tsan -E 'long|coverage' ;;
    twice) sh "$source/tests/build/twice.sh" "$work/twice" && say twice "the same bytes" ||
        { say twice FAILED; failed=1; } ;;
    abi)
        mkdir -p "$work/abi"
        if (cd "$work/abi" && sh "$source/tests/abi/compare.sh") >"$work/abi.log" 2>&1; then
            say abi "fits"
        elif [ $? = 77 ]; then
            leave_out abi "$(tail -n 1 "$work/abi.log")"
        else
            say abi "FAILED: $work/abi.log"
            failed=1
        fi ;;
    *) say "$1" "no such build"; failed=1 ;;
    esac
}

[ $# -gt 0 ] || set -- debug gcc clang lto openmp nocuda cxx arm64 s390x musl
for wanted in "$@"; do
    try "$wanted" || true
done
exit $failed
