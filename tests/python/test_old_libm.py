"""old_libm.py: a library linked here needs exp, log and pow of glibc 2.29; afterwards those of the first glibc, and it
computes the same bits. A library that needs another function of that version is not changed."""
import ctypes
import os
import platform
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["HOT_SOURCE"], "plugin", "python"))
import old_libm  # noqa: E402

failures = 0


def check(condition, message):
    global failures
    if not condition:
        failures += 1
        print("not so:", message)


def versions(path):
    """The lines of readelf about libm."""
    text = subprocess.run(["readelf", "-W", "-V", path], stdout=subprocess.PIPE, text=True, check=True).stdout
    return [line for line in text.partition("File: libm.so")[2].partition("File: ")[0].splitlines() if "Name:" in line]


def bits(path):
    library = ctypes.CDLL(os.path.abspath(path))
    library.compute.restype = ctypes.c_double
    library.compute.argtypes = [ctypes.c_int, ctypes.c_double]
    values = [1e-300 * 7 ** n for n in range(350)] + [-3.5, -708.0, float("inf"), float("nan"), 0.0]
    return [library.compute(which, value).hex() for which in range(6) for value in values]


if not shutil.which("readelf") or platform.machine() not in ("x86_64", "aarch64"):
    print("skipped: no readelf, or another machine than x86-64 and AArch64")
    sys.exit(77)
with open("some.c", "w", encoding="ascii") as file:
    file.write("""#include <math.h>
double compute(int which, double x)
{
    switch (which) {
    case 0: return exp(x);
    case 1: return log(x);
    case 2: return pow(x, .7);
    case 3: return exp2(x);
    case 4: return log2(x);
    default: return cbrt(x);
    }
}
""")
subprocess.run(["cc", "-O1", "-fPIC", "-shared", "some.c", "-o", "new.so", "-Wl,-soname,new.so", "-lm"], check=True)
if not any("GLIBC_2.29" in line for line in versions("new.so")):
    print("skipped: this C library does not have the versions of glibc 2.29")
    sys.exit(77)
shutil.copy("new.so", "old.so")
check(old_libm.use_old_libm("old.so"), "it was changed")
check(not any("2.29" in line for line in versions("old.so")), f"no 2.29 is left: {versions('old.so')}")
check(len(versions("old.so")) == len(versions("new.so")), f"{versions('old.so')}")
check(not old_libm.use_old_libm("old.so"), "a second time nothing changes")
# The loader compares the hashes as well as the names: here it binds every function at once.
os.environ["LD_BIND_NOW"] = "1"
check(subprocess.run([sys.executable, "-c", "import ctypes; ctypes.CDLL('./old.so')"]).returncode == 0, "it loads")
check(bits("old.so") == bits("new.so"), "it computes the same")
for line in versions("old.so"):
    name = line.partition("Name: ")[2].split()[0]
    check(name in ("GLIBC_2.2.5", "GLIBC_2.17"), f"the first version of the machine: {line}")

# A function that is not one of the five.
old_libm.FUNCTIONS.discard("pow")
shutil.copy("new.so", "kept.so")
check(not old_libm.use_old_libm("kept.so"), "another function has that version: nothing changes")
with open("new.so", "rb") as one, open("kept.so", "rb") as other:
    check(one.read() == other.read(), "byte by byte")
old_libm.FUNCTIONS.add("pow")

# The libraries that a program needs: only changed ones are copied.
subprocess.run(["cc", "-x", "c", "-", "-x", "none", "new.so", "-Wl,-rpath,$ORIGIN", "-o", "program"], check=True,
               text=True, input="double compute(int, double);\nint main(void) { return compute(0, 0) != 1; }\n")
old_libm.copy_libraries(["./program"], "copies")
check(os.listdir("copies") == ["new.so"], f"{os.listdir('copies')}")
check(subprocess.run(["./program"], env={**os.environ, "LD_LIBRARY_PATH": "copies"}).returncode == 0, "and it runs")
print("1 passed, 0 failed" if not failures else f"0 passed, {failures} failed")
sys.exit(1 if failures else 0)
