# sysroot.sh ARCHITECTURE FOLDER: the headers and libraries that the project is built with, of another of Debian's
# architectures (arm64, s390x), unpacked into FOLDER for a cross compiler and qemu. Nothing is installed, and apt's own
# lists are left alone.
set -eu
arch=$1
mkdir -p "$2"
root=$(cd "$2" && pwd)
[ ! -f "$root/complete" ] || exit 0
state=$root/apt
mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$root/packages"
: >"$state/status"
apt() {
    apt-get -q -o APT::Architecture="$arch" -o APT::Architectures="$arch" -o Dir::State="$state" \
        -o Dir::State::status="$state/status" -o Dir::State::lists="$state/lists" -o Dir::Cache="$state/cache" \
        -o APT::Sandbox::User=root -o Debug::NoLocking=1 "$@"
}
apt update >"$state/log" 2>&1 || { tail -n 5 "$state/log" >&2; exit 1; }
apt install -y --download-only --no-install-recommends libc6-dev libgomp1 libteem-dev libnifti-dev zlib1g-dev \
    libpng-dev libcjson-dev libcairo2-dev >>"$state/log" 2>&1 || { tail -n 5 "$state/log" >&2; exit 1; }
for package in "$state"/cache/archives/*.deb; do
    dpkg-deb -x "$package" "$root"
done
# links with absolute names point into this machine otherwise
find "$root" -type l -lname '/*' | while read -r link; do
    ln -snf "$root$(readlink "$link")" "$link"
done
rm -rf "$state"
: >"$root/complete"
