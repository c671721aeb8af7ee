"""Python's view(block=False) and fibers(view=True) in windows; the example of docs/viewer.md."""
import os
import re
import subprocess
import sys

import numpy as np

import screen as screens
from screen import Screen, check, need_tools, wait_for

package = os.path.join(os.environ["HOT_BUILD"], "python")
if not os.path.exists(os.path.join(package, "hotfiber", "libhotfiber_python.so")):
    print("skipped: the Python package is not built")
    sys.exit(77)
sys.path.insert(0, package)
import hotfiber  # noqa: E402

need_tools()
screen = Screen(size=(1100, 850))
os.environ.update(screen.environment)
GRID = (10, 8, 4)
AFFINE = np.array([[0, -2., 0, 5], [2, 0, 0, 6], [0, 0, 3, 7], [0, 0, 0, 1]])


def windows():
    return subprocess.run(["xdotool", "search", "--onlyvisible", "--name", "live"], capture_output=True,
                          text=True).stdout.split()


def colours():
    """Reds, greens, blues in a quarter of the picture, without crosshair, letters and panel."""
    part = screen.pixels()[80:370, 400:640].astype(int)
    return [int((part[..., c] - part[..., [d for d in range(3) if d != c]].max(-1) > 60).sum()) for c in range(3)]


def close_windows():
    screen.xdotool("mousemove", 50, 50)
    screen.xdotool("key", "q")
    wait_for(lambda: not windows(), "the windows are closed")


def refused(call, words):
    try:
        call()
    except (TypeError, ValueError, hotfiber.Error) as error:
        check(words in str(error), f"{words}: {error}")
    else:
        check(False, f"refused: {words}")


def fibres(slices, axis):
    peaks = np.zeros(GRID[:2] + (slices, 3))
    peaks[..., axis] = 1
    return hotfiber.Fibers(peaks)


with hotfiber.view(hotfiber.Fibers(np.zeros(GRID + (3,)), affine=AFFINE), np.ones(GRID), block=False,
                   plane="axial") as live:
    wait_for(windows, "a window")
    check(live.is_open, "it is open")
    live.update(fibres(1, 0), first=1)
    check(wait_for(lambda: colours()[0] > 200 and colours()[1] == 0, "x"), f"slice 1, x: {colours()}")
    live.update(fibres(2, 2), first=2)
    check(wait_for(lambda: colours()[2] > 200 and colours()[0] == 0, "z"), f"slice 3, z: {colours()}")
    for first, slices in ((-1, 1), (3, 2), (0, 5)):
        refused(lambda first=first, slices=slices: live.update(fibres(slices, 0), first), "are not slices of a grid")
    refused(lambda: live.update(np.ones((2, 2, 1))), "are not slices of a grid")
wait_for(lambda: not windows(), "the end of `with` closes it")
check(not live.is_open and live.update(fibres(1, 0)) is None, "an update afterwards does nothing")

live = hotfiber.view(fibres(4, 1), block=False)
wait_for(windows, "a window")
check(wait_for(lambda: colours()[1] > 200, "y"), f"y: {colours()}")
close_windows()
wait_for(lambda: not live.is_open, "the object knows that the user has closed it")
live.update(fibres(4, 1))
live.close()

refused(lambda: hotfiber.view("peaks.nrrd", block=False), "TensorField")
refused(lambda: hotfiber.view(fibres(4, 0), block=False, screenshot="a.png"), "screenshot")


def without_display():
    display = os.environ.pop("DISPLAY")
    try:
        live = hotfiber.view(fibres(4, 0), block=False)
        wait_for(lambda: not live.is_open, "the viewer ends")
        live.update(fibres(4, 0))
    finally:
        os.environ["DISPLAY"] = display


refused(without_display, "display")

sample = os.path.join(os.environ["HOT_SOURCE"], "sample_data")
plain = hotfiber.fibers(os.path.join(sample, "phantom.nhdr"), threads=1)
shown = hotfiber.fibers(os.path.join(sample, "phantom.nhdr"), threads=1, view=True)
check(np.array_equal(plain.peaks, shown.peaks), "the same results")
wait_for(windows, "the window stays")
check(wait_for(lambda: sum(colours()) > 200, "fibres"), f"fibres: {colours()}")
close_windows()

page = open(os.path.join(os.environ["HOT_SOURCE"], "docs", "viewer.md")).read()
block, = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
here = os.getcwd()
os.chdir(sample)
exec(compile(block, "viewer.md", "exec"), {})
os.chdir(here)
check(wait_for(lambda: sum(colours()) > 200, "fibres of the example"), f"fibres: {colours()}")
close_windows()
screen.close()
screens.end()
