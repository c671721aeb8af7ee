"""The panel of the window: every control is pressed and changes its setting and the picture, in place; it is hidden by
one key; pictures, settings and the command that it writes are what the window shows."""
import os
import struct
import subprocess

import numpy as np

from screen import PATIENCE, Screen, VIEWER, Viewer, check, end, need_tools, power, same, wait_for, write_nrrd

need_tools()
SIZE, ORDER = (8, 7, 6), 4
vectors, origin = [(-2, 0, 0), (0, 2, 0), (0, 0, 2)], (7, -6, -5)
tensors, peaks, image, mask = np.zeros((16, *SIZE)), np.zeros((6, *SIZE)), np.zeros(SIZE), np.ones(SIZE)
for i, j, k in np.ndindex(SIZE):
    angle = .25 * i + .1 * j + .2 * k
    first = np.array([np.cos(angle), np.sin(angle), 0])
    second = np.array([-np.sin(angle), np.cos(angle), 0])
    tensors[0, i, j, k] = 1
    tensors[1:, i, j, k] = (.1 + .1 * i) * (.6 * power(ORDER, first) + .4 * power(ORDER, second))
    peaks[:, i, j, k] = (.1 + .1 * i) * np.array([*(.6 * first), *(.4 * second)])
    image[i, j, k] = 10 + 20 * i + 7 * j + 3 * k
mask[:3] = 0
os.makedirs("data", exist_ok=True)
files = [write_nrrd("data/tensors.nrrd", tensors, vectors, origin, "tijk_mask_4o3d_sym"),
         write_nrrd("data/peaks.nrrd", peaks, vectors, origin, "directions"),
         write_nrrd("data/t1.nrrd", image, vectors, origin)]
write_nrrd("data/mask.nrrd", mask, vectors, origin)

screen = Screen(size=(1000, 1300))
view = Viewer(screen, *files, "--mask", "data/mask.nrrd", "--size", "980x1280", "--scale", "2", panel="on")
view.need_panel()
place, press, click, settle = view.place, view.press, view.click, view.settle


def changes(name, act, shows=True):
    """act() changes the setting and the picture; its reset button restores both."""
    before, was = settle(), view.state()[name]
    act()
    view.wait_state(f"{name} changes", **{name: lambda text: text != was})
    if shows:
        view.wait_picture(f"{name} {view.state()[name]} shows", lambda now: not same(now, before), [(300, 1270)])
    return was


def resets(name, was):
    click(f"reset_{name}")
    view.wait_state(f"{name} is reset", **{name: was})


def choose(name, item):
    click(name)
    wait_for(lambda: f"at_{item}" in view.state(), f"{name} lists {item}")
    click(item)


for heading, row in (("Canvas_and_letters", "canvas"), ("Camera", "camera")):
    click(heading)
    wait_for(lambda: f"at_{row}" in view.state(), f"{heading} is open")

# switches; these have effects in a single plane
for name in ("interpolate", "normalise", "clip", "use_mask", "light", "image", "crosshair", "annotations", "values"):
    was = changes(name, lambda: click(name))
    resets(name, was)
# sliders: a press at the end of the widget
for name in ("opacity", "threshold", "stick_width", "zoom", "slab"):
    was = changes(name, lambda: click(name, right=60), shows=name != "slab")
    resets(name, was)
# choices and volumes
for name, item in (("mode", "3d"), ("plane", "coronal"), ("glyph", "sticks"), ("color", "fiber"),
                   ("background", "amplitude")):
    was = changes(name, lambda: choose(name, item))
    check(view.state()[name] == item, f"{name} is {item}")
    resets(name, was)
# numbers that are dragged: the window of the image, angles
for name in ("window", "tilt"):
    def drag():
        x, y = place(name)
        screen.xdotool("mousemove", x - 60, y, "sleep", ".1", "mousedown", 1, "sleep", ".1", "mousemove", x - 30, y,
                       "sleep", ".1", "mousemove", x, y, "sleep", ".1", "mouseup", 1)
    was = changes(name, drag)
    resets(name, was)
# the coordinate box: a slider, and mm typed in
was = changes("voxel", lambda: click("k", right=80))
x, y = place("mm")
screen.xdotool("mousemove", x - 100, y, "sleep", ".1", "click", "--repeat", 2, 1, "sleep", ".2", "key", "ctrl+a",
               "key", "3", "key", "Return")
view.wait_state("3 mm to the right is i = 2", voxel=lambda text: text.startswith("2,"))
for heading, row in (("Canvas_and_letters", "canvas"), ("Glyphs", "glyph"), ("Camera", "camera")):
    click(heading)
    wait_for(lambda: f"at_{row}" not in view.state(), f"{heading} is closed")
for heading, row in (("Settings", "copy_command"), ("Picture", "save_picture")):
    click(heading)
    wait_for(lambda: f"at_{row}" in view.state(), f"{heading} is open")
# a picture, and one on white paper
click("save_picture")
wait_for(lambda: os.path.exists("picture.png"), "a picture")
png = open("picture.png", "rb").read()
check(png[:4] == b"\x89PNG" and struct.unpack(">II", png[16:24]) == (980, 1280), "of the window's size")
click("white")
os.rename("picture.png", "black.png")
click("save_picture")
wait_for(lambda: os.path.exists("picture.png"), "a second picture")
check(open("picture.png", "rb").read() != open("black.png", "rb").read(), "on white paper")
# a movie: the slices of this plane
click("save_movie")
wait_for(lambda: os.path.exists("movie.png"), "a movie")
movie = open("movie.png", "rb").read()
check(movie[37:41] == b"acTL" and struct.unpack(">I", movie[41:45]) == (SIZE[2],), f"{SIZE[2]} frames: {movie[33:49]}")
# settings: saved, changed, read back
saved = view.state()
click("save_state")
wait_for(lambda: os.path.exists("view.txt"), "a file of settings")
screen.xdotool("mousemove", 300, 600, "sleep", ".2", "key", "n", "F2")
view.wait_state("changed by keys", normalise="on", mode="planes")
click("load_state")
settings = [name for name in saved if not name.startswith("at_") and
            name not in ("pictures", "events", "picks", "pointer", "panel")]
view.wait_state("read back", **{name: saved[name] for name in settings})
# undone and made again: by keys and by the panel's buttons
for undo, redo in ((lambda: screen.xdotool("mousemove", 300, 600, "sleep", ".2", "key", "ctrl+z"),
                    lambda: screen.xdotool("mousemove", 300, 600, "sleep", ".2", "key", "ctrl+shift+z")),
                   (lambda: click("undo"), lambda: click("redo"))):
    undo()
    view.wait_state("undone", normalise="on", mode="planes")
    redo()
    view.wait_state("made again", **{name: saved[name] for name in settings})
# the same settings on the command line of a picture, and what the window itself has written
picture = ["--size", "200x150", "--quiet", "--screenshot"]
commands = {"file": [*files, "--mask", "data/mask.nrrd", "--state", "view.txt"],
            "dump": [*files, "--mask", "data/mask.nrrd", "--state", view.dump_file]}
for name, words in commands.items():
    done = subprocess.run([VIEWER, *words, *picture, f"{name}.png"], capture_output=True, text=True, timeout=PATIENCE)
    check(done.returncode == 0, f"{name}: {done.stderr}")
check(open("file.png", "rb").read() == open("dump.png", "rb").read(), "both files give one picture")
open("wrong.txt", "w").write("zoom 2\nzooom 3\n")
done = subprocess.run([VIEWER, *files, "--state", "wrong.txt", *picture, "x.png"], capture_output=True, text=True)
check(done.returncode == 1 and "line 2" in done.stderr and "zooom" in done.stderr, done.stderr)
# one key hides the panel: the picture has the whole window
view.wait_state("beside the panel", width="650")
screen.xdotool("mousemove", 300, 600, "key", "Tab")
view.wait_state("Tab", panel="off", width="980")
screen.xdotool("key", "Tab")
view.wait_state("Tab again", panel="on", width="650")
view.leave()
screen.close()
end()
