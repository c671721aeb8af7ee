# cross.sh ARCHITECTURE [ctest's arguments]: the project for another of Debian's architectures (arm64; s390x, whose
# bytes are the other way round), by Debian's cross compiler, and its C tests under qemu. Needs the packages
# gcc-aarch64-linux-gnu or gcc-s390x-linux-gnu, qemu-user-static and pkg-config, and Debian's archive for the libraries.
# HOT_CROSS: the folder for it (default: build-ARCHITECTURE of the checkout).
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
arch=$1
shift
case $arch in
arm64) machine=aarch64 flags=-O2 ;;
s390x) machine=s390x flags=-O1 ;; # without vector registers -O3 takes a quarter of an hour and 1.2 GB for one file
*) echo "cross.sh: arm64 or s390x, not $arch" >&2; exit 2 ;;
esac
triplet=$machine-linux-gnu
build=${HOT_CROSS:-$source/build-$arch}
for tool in "$triplet-gcc" "qemu-$machine-static" pkg-config; do
    command -v "$tool" >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
sh "$source/tests/sysroot.sh" "$arch" "$build/sysroot"
root=$build/sysroot
export PKG_CONFIG_SYSROOT_DIR="$root" PKG_CONFIG_LIBDIR="$root/usr/lib/$triplet/pkgconfig:$root/usr/share/pkgconfig"
cmake -S "$source" -B "$build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE="$flags" \
    -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="$machine" \
    -DCMAKE_C_COMPILER="$triplet-gcc" -DCMAKE_ASM_COMPILER="$triplet-gcc" -DCMAKE_SYSROOT="$root" \
    -DCMAKE_FIND_ROOT_PATH_MODE_PROGRAM=NEVER -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY \
    -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_PACKAGE=ONLY \
    -DCMAKE_CROSSCOMPILING_EMULATOR="qemu-$machine-static;-L;$root" -DCMAKE_LIBRARY_ARCHITECTURE="$triplet" \
    -DHOTFIBER_CUDA=OFF -DHOTFIBER_LAPACK=OFF >"$build/configure.log" 2>&1 || { cat "$build/configure.log"; exit 1; }
jobs=${HOT_JOBS:-$(getconf _NPROCESSORS_ONLN)}
targets="fuzz_targets test_kernels_checker
    $(cd "$source/tests/kernels" && ls test_*.c | grep -v batch_pipeline | sed 's/^test_/test_kernels_/; s/\.c$//')
    $(cd "$source/tests/unit" && ls test_*.c | sed 's/^test_/test_unit_/; s/\.c$//')"
# shellcheck disable=SC2086
cmake --build "$build" --parallel "$jobs" --target $targets >"$build/build.log" 2>&1 ||
    { grep -m 5 -E 'error|Error' "$build/build.log"; exit 1; }
export QEMU_LD_PREFIX="$root"
[ $# -gt 0 ] || set -- -R '^(unit_|kernels_|fuzz_[a-z_]*$)' -E 'long|coverage|batch_pipeline|device'
ctest --test-dir "$build" --output-on-failure --parallel "$jobs" --timeout 3600 "$@"
