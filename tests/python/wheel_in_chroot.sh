#!/bin/sh
# Installs a wheel on a clean, minimal Debian with nothing but Python and NumPy, and uses it there: without root,
# without a compiler, Teem or CUDA. It needs root, debootstrap and the network (test_wheel_old.sh starts it).
#   sh tests/python/wheel_in_chroot.sh WHEEL [FOLDER [RELEASE]]
# FOLDER: where the Debian is made (kept; default a new one in /tmp)
# RELEASE: bookworm (Debian 12, the default), bullseye (11) or trixie (13)
set -eu
wheel=$1
root=${2:-$(mktemp -d /tmp/hotfiber-wheel-XXXXXX)}
release=${3:-bookworm}
source=$(cd "$(dirname "$0")/../.." && pwd)
mirror=$(sed -n 's/^URIs: //p' /etc/apt/sources.list.d/debian.sources 2>/dev/null | head -n 1)
[ -x "$root/usr/bin/python3" ] || debootstrap --variant=minbase --include=python3,python3-venv "$release" "$root" \
    ${mirror:+"$mirror"} >"$root.log" 2>&1
rm -rf "$root/tmp/wheels" "$root/tmp/venv" "$root/tmp/out" "$root/tmp/view.log"
mkdir "$root/tmp/wheels"
cp "$wheel" "$source/sample_data/phantom.nhdr" "$source/sample_data/phantom.raw.gz" "$root/tmp/wheels"
version=$(chroot "$root" python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
python3 -m pip download --quiet --only-binary :all: --python-version "$version" -d "$root/tmp/wheels" numpy
cat >"$root/tmp/use.py" <<'PROGRAM'
import hotfiber
import numpy as np

result = hotfiber.fibers(hotfiber.load("/tmp/wheels/phantom.nhdr"))
print(result)
assert np.array_equal(result.peaks, hotfiber.load("/tmp/out").peaks), "the command and the library differ"
hotfiber.export(result, "/tmp/out/fibers.vtp")
outside = {line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}
outside = {path for path in outside if not path.startswith(("/tmp/venv", "/usr/lib/python3"))}
print("libraries of the system:", " ".join(sorted(path.split("/")[-1] for path in outside)))
PROGRAM
# shellcheck disable=SC2016
env -i LC_ALL=C HOME=/tmp PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    unshare -m sh -c 'mount -t proc proc "$1/proc" && exec chroot "$1" sh -eu' sh "$root" <<'INSIDE'
cd /tmp
chmod 777 /tmp
ldd --version | sed -n '1s/.* /glibc /p'
begin=$(date +%s)
setpriv --reuid=65534 --regid=65534 --clear-groups sh -eu <<'USER'
python3 -m venv venv
venv/bin/pip install --quiet --no-index --find-links wheels hotfiber
venv/bin/hotfiber --version
venv/bin/hotfiber run -i wheels/phantom.nhdr -o out --quiet 2>errors || { cat errors; exit 1; }
[ ! -s errors ] || { echo "not so: nothing on standard error, but: $(cat errors)"; exit 1; }
venv/bin/python -m hotfiber info -i wheels/phantom.nhdr | head -n 3
ls out
[ -s out/fibers.png ] && [ -s out/report.html ] || { echo "not so: a picture and a page"; exit 1; }
venv/bin/python use.py
for picture in "" "--screenshot view.png"; do
    # shellcheck disable=SC2086
    if venv/bin/hotfiber view out $picture 2>view.log || [ "$(wc -l <view.log)" != 1 ]; then
        echo "not so: one line where neither X nor EGL is"
        exit 1
    fi
    cat view.log
done
USER
echo "installed and used in $(($(date +%s) - begin)) s"
INSIDE
echo "1 passed, 0 failed ($root)"
