# HOT_TEST_LONG=1 only: cmake/wheel.sh makes the wheel that is published, for glibc 2.28 or later, and a clean Debian 11
# (glibc 2.31, Python 3.9), without a compiler and not as root, gets from it to a picture. Needs root, debootstrap and
# the network; HOT_DEBIAN_11 names a Debian 11 of an earlier run.
set -eu
[ -n "${HOT_TEST_LONG:-}" ] || { echo "skipped: a test of the long form (HOT_TEST_LONG=1)"; exit 77; }
[ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null || { echo "skipped: not root, or no mount of one's own"; exit 77; }
command -v debootstrap >/dev/null || { echo "skipped: debootstrap is not installed"; exit 77; }
keep=$HOT_BUILD/wheel-old # the two systems, and objects of the last run
mkdir -p "$keep"
cd "$keep"
rm -rf dist
HOT_DEBIAN_11=${HOT_DEBIAN_11:-$keep/build} sh "$HOT_SOURCE/cmake/wheel.sh" dist >wheel.log 2>&1 || {
    tail -n 30 wheel.log
    exit 1
}
ls dist/hotfiber-*manylinux_2_28_x86_64.whl || { echo "not so: a wheel for glibc 2.28: $(ls dist)"; exit 1; }
rm -rf unpacked
python3 -m zipfile -e dist/hotfiber-*.whl unpacked
newest=$(find unpacked -type f -exec sh -c 'readelf -W -V "$1" 2>/dev/null' sh {} \; | grep -o 'GLIBC_[0-9.]*' |
    sort -uV | tail -n 1)
case $newest in
GLIBC_2.2.5 | GLIBC_2.[3-9] | GLIBC_2.1[0-9] | GLIBC_2.2[0-8]) ;;
*) echo "not so: no file needs more than glibc 2.28, but $newest"; exit 1 ;;
esac
sh "$HOT_SOURCE/tests/python/wheel_in_chroot.sh" dist/hotfiber-*.whl "$keep/clean" bullseye
