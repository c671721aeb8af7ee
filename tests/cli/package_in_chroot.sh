#!/bin/sh
# Installs the packages on a clean, minimal Debian 12 and uses them there: command, library through CMake's and
# pkg-config's eyes, VTK's layer. Not one of ctest's tests: it needs root, debootstrap, the network and some minutes.
#   sh tests/cli/package_in_chroot.sh BUILD [FOLDER]
# FOLDER: where the Debian is made (kept; default a new one in /tmp)
set -eu
build=$(cd "$1" && pwd)
root=${2:-$(mktemp -d /tmp/hotfiber-debian-XXXXXX)}
mirror=$(sed -n 's/^URIs: //p' /etc/apt/sources.list.d/debian.sources 2>/dev/null | head -n 1)
[ -x "$root/bin/sh" ] || debootstrap --variant=minbase bookworm "$root" ${mirror:+"$mirror"} >"$root.log" 2>&1
rm -rf "$root/tmp/packages"
cpack --config "$build/CPackConfig.cmake" -B "$root/tmp/packages" >"$root.log" 2>&1 || { cat "$root.log"; exit 1; }
cat >"$root/tmp/main.c" <<'PROGRAM'
#include <hotfiber/hotfiber.h>
#include <stdio.h>

int main(void)
{
    printf("%s\n", hot_version());
    return 0;
}
PROGRAM
chroot "$root" sh -eu <<'INSIDE'
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
cd /tmp
rm -rf out work
apt-get update >apt.log 2>&1
apt-get install -y --no-install-recommends ./packages/hotfiber_*.deb >apt.log 2>&1 || { tail apt.log; exit 1; }
ls /usr/lib/*/libvtk* >/dev/null 2>&1 && echo "note: VTK was here before"
hotfiber --version
for file in /usr/bin/hotfiber* /usr/lib/libhot*.so /usr/lib/hotfiber/cli-modules/*; do
    ldd "$file" | grep 'not found' && exit 1
done
/usr/lib/hotfiber/cli-modules/HotFiber --xml | grep '<title>'
hotfiber phantom --layout bundles --size 20,20,8 --truth truth.nrrd | hotfiber run -i - -o out --outputs all
hotfiber score -i out/peaks.nrrd --truth truth.nrrd | grep -E '^(condition|all voxels)'
if [ -x /usr/bin/hotfiber-view ]; then # what the package recommends lets it draw
    apt-get install -y --no-install-recommends libegl1 libgl1 libgl1-mesa-dri >apt.log 2>&1
    hotfiber view out/tensors.nrrd --screenshot view.png --quiet && ls -s view.png
fi
apt-get install -y --no-install-recommends gcc libc6-dev make cmake pkg-config >apt.log 2>&1
cc main.c -o by-pkg-config $(pkg-config --cflags --libs hotfiber) && ./by-pkg-config
mkdir work && cp main.c work/ && cat >work/CMakeLists.txt <<'LISTS'
cmake_minimum_required(VERSION 3.21)
project(user C)
find_package(hotfiber REQUIRED)
add_executable(user main.c)
target_link_libraries(user hotfiber::hotfiber)
LISTS
cmake -S work -B work/build >cmake.log && cmake --build work/build >>cmake.log && work/build/user
if ls packages/hotfiber-vtk_*.deb >/dev/null 2>&1; then
    apt-get install -y --no-install-recommends ./packages/hotfiber-vtk_*.deb >apt.log 2>&1 || { tail apt.log; exit 1; }
    ldd /usr/lib/libhotvtk.so.?* | grep 'not found' && exit 1
    cmake -S work -B work/build >cmake.log # still, with hotfiber::hotvtk as well
    printf '%s\n' '#include <hotfiber/vtk.h>' '#include <stdio.h>' \
        'int main(void) { return puts(hot_vtk_version()) < 0; }' >vtk.c
    cc vtk.c -o by-vtk $(pkg-config --cflags --libs hotvtk) && ./by-vtk
fi
apt-get purge -y hotfiber >apt.log 2>&1
! ls /usr/bin/hotfiber* /usr/lib/libhot* >/dev/null 2>&1 && echo "purged: nothing left"
INSIDE
echo "1 passed, 0 failed ($root)"
