"""Layers and volumes in the panel of the window: each row is pressed, changes its setting and the picture; layers are
added by file and by the list, moved, hidden, removed, saved and read back."""
import os
import subprocess
import time

import numpy as np

from screen import PATIENCE, Screen, VIEWER, Viewer, check, end, need_tools, same, wait_for, write_nrrd

need_tools()
SIZE = (12, 10, 6)
vectors, origin = [(2, 0, 0), (0, 2, 0), (0, 0, 2)], (-11, -9, -5)
i, j, k = np.indices(SIZE)
series = np.stack([1. + (n + 1) * i + j for n in range(4)])
ramp, blocks = 10. + i * j, np.where(i < 6, 3., 0) + np.where(j > 4, 5., 0)
peaks = np.zeros((3, *SIZE))
peaks[0], peaks[1] = 1, .5
os.makedirs("data", exist_ok=True)
write_nrrd("data/dwi.nrrd", series, vectors, origin, "series")
for name, values in (("ramp", ramp), ("blocks", blocks)):
    write_nrrd(f"data/{name}.nrrd", values, vectors, origin)
write_nrrd("data/peaks.nrrd", peaks, vectors, origin, "directions")

screen = Screen(size=(1000, 1300))
view = Viewer(screen, "data/dwi.nrrd", "--as", "dwi", "--size", "980x1280", panel="on")
view.need_panel()
place, click, settle = view.place, view.click, view.settle


def overlays():
    """The layers in the state's file, from the bottom."""
    return [line.split(" ", 1)[1] for line in open(view.dump_file).read().splitlines() if line.startswith("overlay ")]


def changes(what, act, wanted):
    """act() makes the list of layers `wanted`, and another picture."""
    before = settle()
    act()
    check(wait_for(lambda: wanted(overlays()), f"{what}: {overlays()}"), what)
    view.wait_picture(f"{what} shows", lambda now: not same(now, before), [(300, 1270)])


def add(text):
    x, y = place("layer_file")
    screen.xdotool("mousemove", x - 60, y, "sleep", ".1", "mousedown", 1, "sleep", ".15", "mouseup", 1, "sleep", ".2",
                   "key", "ctrl+a", "sleep", ".1", "type", "--delay", "60", text)
    time.sleep(.3)
    screen.xdotool("key", "Return")


# the slider of volumes
before = settle()
click("volume", right=60)
view.wait_state("the slider steps through the volumes", volume=lambda text: text in ("2", "3"))
view.wait_picture("another volume", lambda now: not same(now, before), [(300, 1270)])
click("reset_volume")
view.wait_state("reset", volume="auto")
# images: by file, with keys, by the list
changes("an image is added", lambda: add("data/ramp.nrrd"), lambda now: now == ["data/ramp.nrrd"])
changes("labels on top", lambda: add("data/blocks.nrrd,opacity=0.5"), lambda now: len(now) == 2)
row = lambda n, text: lambda now: len(now) == 2 and text in now[n]
changes("opacity", lambda: click("layer1_opacity", right=30), lambda now: len(now) == 2 and "opacity=0.5" not in now[1])
for item in ("cubehelix", "grey"):
    def choose():
        click("layer0_colormap")
        wait_for(lambda: f"at_{item}" in view.state(), f"{item} is listed")
        click(item)
    changes(item, choose, row(0, f"colormap={item}"))
for name, text in (("window", "m"), ("threshold", "threshold=")):
    def drag():
        x, y = place(f"layer0_{name}")
        x -= 40
        before = overlays()
        for attempt in range(6):  # slow frames may miss the press
            screen.xdotool("mousemove", x, y, "sleep", ".2", "mousedown", 1, "sleep", ".2", "mousemove", x + 25, y,
                           "sleep", ".2", "mousemove", x + 50, y, "sleep", ".2", "mouseup", 1, "sleep", ".5")
            if overlays() != before:
                return
    changes(name, drag, row(0, "min=" if name == "window" else text))
changes("outline", lambda: click("layer1_outline"), row(1, "outline=on"))
changes("no outline", lambda: click("layer1_outline"), lambda now: "outline" not in now[1])


def blend():
    click("layer1_blend")
    wait_for(lambda: "at_add" in view.state(), "add is listed")
    click("add")


changes("added light", blend, row(1, "blend=add"))
changes("hidden", lambda: click("layer1_visible", right=-40), row(1, "visible=off"))
changes("shown again", lambda: click("layer1_visible", right=-40), lambda now: "visible" not in now[1])
first = overlays()
changes("down", lambda: click("layer1_down"), lambda now: now == first[::-1])
changes("up", lambda: click("layer0_up"), lambda now: now == first)
# an error is a line in the panel, and nothing is added
add("nothing.nii")
time.sleep(.3)
check(overlays() == first, f"nothing is added: {overlays()}")
# directions over them, and the list of sources
changes("directions", lambda: add("data/peaks.nrrd"), lambda now: len(now) == 3)
changes("by direction", lambda: click("layer2_direction"), lambda now: "color=direction" in now[2])
changes("in a separate pane", lambda: click("layer2_beside"), lambda now: "beside=on" in now[2])
changes("over the others again", lambda: click("layer2_beside"), lambda now: "beside" not in now[2])
changes("removed", lambda: click("layer2_remove"), lambda now: now == first)


def add_beside():
    x, y = place("layer_file")
    screen.xdotool("mousemove", x - 60, y, "sleep", ".1", "mousedown", 1, "sleep", ".15", "mouseup", 1, "sleep", ".2",
                   "key", "ctrl+a", "sleep", ".1", "type", "--delay", "60", "data/peaks.nrrd")
    time.sleep(.3)
    click("layer_beside")


changes("the button beside", add_beside, lambda now: len(now) == 3 and now[2] == "data/peaks.nrrd,beside=on")
changes("the pane is closed", lambda: click("layer2_remove"), lambda now: now == first)
# saved, changed, read back; and by the command line
for heading, row in (("Glyphs", "glyph"), ("View", "mode")):
    click(heading)
    wait_for(lambda: f"at_{row}" not in view.state(), f"{heading} is closed")
click("Settings")
wait_for(lambda: "at_save_state" in view.state(), "Settings is open")
click("save_state")
wait_for(lambda: os.path.exists("view.txt"), "a file of settings")
changes("removed", lambda: click("layer1_remove"), lambda now: now == first[:1])
changes("read back", lambda: click("load_state"), lambda now: now == first)
view.leave()
screen.close()
picture = ["--size", "200x150", "--quiet", "--screenshot"]
words = [word for text in first for word in ("--overlay", text)]
for name, arguments in (("file", ["--state", "view.txt"]), ("words", words), ("none", [])):
    done = subprocess.run([VIEWER, "data/dwi.nrrd", "--as", "dwi", *arguments, *picture, f"{name}.png"],
                          capture_output=True, text=True, timeout=PATIENCE)
    check(done.returncode == 0, f"{name}: {done.stderr}")
shown = {name: open(f"{name}.png", "rb").read() for name in ("file", "words", "none")}
check(shown["file"] != shown["none"] and shown["words"] != shown["none"], "layers are in the picture")
end()
