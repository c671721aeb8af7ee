"""A program with a decimal comma (locale.setlocale): files are those of the C locale, and are read."""
import locale
import os
import subprocess
import sys

import hotfiber
import numpy as np

from cli import check, end

FILES = ["peaks.mif", "peaks.nhdr", "peaks.vtp", "peaks.vti", "peaks.tck", "sh.mif"]


def write(folder):
    random = np.random.default_rng(4)
    directions = random.normal(size=(30, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    table = np.vstack([[0, 0, 0, 0], np.c_[directions, np.full(30, 2500.5)]])
    along = random.normal(size=(4, 4, 3, 1, 3))
    along /= np.linalg.norm(along, axis=-1, keepdims=True)
    b = table[:, 3]
    cosines = np.sum(along * table[:, :3], axis=-1) ** 2
    signals = (100 * np.exp(-b * (2e-4 + 1.5e-3 * cosines))).astype(np.float32)
    affine = np.diag([1.25, 1.5, 2.5, 1])
    affine[:3, 3] = .5, -.75, .125
    response = hotfiber.Response(np.array([0, 2500.5]), np.array([[350.5, 0, 0], [120.25, -60.5, 15.125]]))
    fitted = hotfiber.fit(signals, table, affine, np.ones((4, 4, 3)), response=response, order=4, device="cpu")
    found = hotfiber.peaks(fitted, method="maxima", device="cpu")
    os.mkdir(folder)
    for name in FILES:
        hotfiber.export(fitted if name == "sh.mif" else found, os.path.join(folder, name))


if len(sys.argv) > 1:
    locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
    write("comma")
    for name in ("peaks.mif", "peaks.nhdr"):
        check(len(hotfiber.load(os.path.join("point", name), kind="directions").peaks) == 4, name)
    with open("response.txt", "w") as file:
        file.write("350.5 0 0\n120.25 -60.5 15.125\n")
    check(hotfiber.load("response.txt").coefficients[1, 1] == -60.5, "response.txt")
    try:
        hotfiber.fit(np.ones((2, 2, 2, 4), np.float32), np.eye(4), device="cpu", regularise=-.5)
    except (hotfiber.Error, ValueError) as error:
        print(error)
    check(locale.str(.5) == "0,5", "the program's locale stays")
    end()

made = subprocess.run(["localedef", "-c", "-i", "de_DE", "-f", "UTF-8", "./de_DE.UTF-8"], capture_output=True)
if not os.path.exists("de_DE.UTF-8"):
    print("skipped: no locale can be made here:", made.stderr.decode())
    sys.exit(77)
subprocess.run(["rm", "-rf", "point", "comma"], check=True)
write("point")
done = subprocess.run([sys.executable, __file__, "comma"], env={**os.environ, "LOCPATH": os.getcwd()},
                      capture_output=True, text=True)
check(done.returncode == 0, f"with a decimal comma: {done.stdout}{done.stderr}")
check("-0,5" not in done.stdout, done.stdout)
for name in FILES:
    with open(os.path.join("point", name), "rb") as one, open(os.path.join("comma", name), "rb") as other:
        check(one.read() == other.read(), f"{name} is the same")
end()
