# Every key and mouse gesture in a real window: the state and the picture on the screen change, and toggling a switch
# twice restores the picture. Then resizing, full screen, reloading, dropping files, quitting.
import os
import re
import signal
import subprocess

import numpy as np

from screen import PATIENCE, Screen, VIEWER, Viewer, check, end, need_tools, power, same, wait_for, write_nrrd

need_tools()
ORDER, SIZE = 4, (8, 7, 6)
VECTORS, ORIGIN = [(-2, 0, 0), (0, 2, 0), (0, 0, 2)], (7, -6, -5)  # the first axis points to the left


def grown(i):
    return .08 + .12 * i


def write_data(folder, turn=0., size=SIZE, late=0):
    """Two fibres at 90 degrees in every voxel, rotating over the volume and growing to the left; an image that
    increases along every axis."""
    tensors = np.zeros((16, *size))
    peaks = np.zeros((9, *size))
    image = np.zeros(size)
    for i, j, k in np.ndindex(size):
        angle = turn + .25 * i + .1 * j + .2 * k
        first = np.array([np.cos(angle), np.sin(angle), 0])
        second = np.array([-.6 * np.sin(angle), .6 * np.cos(angle), .8])
        tensors[0, i, j, k] = 1
        tensors[1:, i, j, k] = grown(i) * (.6 * power(ORDER, first) + .4 * power(ORDER, second))
        peaks[:6, i, j, k] = grown(i) * np.array([*(.6 * first), *(.4 * second)])
        image[i, j, k] = 10 + 20 * i + 7 * j + 3 * k
    os.makedirs(folder, exist_ok=True)
    return [write_nrrd(f"{folder}/tensors.nrrd", tensors, VECTORS, ORIGIN, "tijk_mask_4o3d_sym", late=late),
            write_nrrd(f"{folder}/peaks.nrrd", peaks, VECTORS, ORIGIN, "directions", late=late),
            write_nrrd(f"{folder}/t1.nrrd", image, VECTORS, ORIGIN, late=late)]


def test_switches(view):
    """Toggle keys: (label, key, setting, value after one press)."""
    screen = view.screen
    for label, key, name, value in [
            ("F", "f", "crosshair", "off"), ("V", "v", "values", "on"), ("M", "m", "image", "off"),
            ("Space", "space", "annotations", "off"), ("H or ?", "h", "keys", "on"),
            ("H or ?", "question", "keys", "on"),
            ("N", "n", "normalise", "on"), ("K", "k", "clip", "on"), ("T", "t", "light", "off"),
            ("I", "i", "interpolate", "off")]:
        before = view.picture()
        was = view.state()[name]
        screen.xdotool("key", key)
        view.wait_state(f"{key}", **{name: value})
        view.wait_picture(f"{key} shows", lambda now: not same(now, before))
        screen.xdotool("key", key)
        view.wait_state(f"{key} again", **{name: was})
        view.wait_picture(f"{key} again: the same picture as before", lambda now: same(now, before))
        driven.add(label)
    before = view.picture()
    screen.xdotool("key", "Tab")
    view.wait_state("Tab", panel="on")
    screen.xdotool("key", "Tab")
    view.wait_state("Tab again", panel="off", width="640")
    view.wait_picture("Tab again: the same picture as before", lambda now: same(now, before))
    driven.add("Tab")


def test_steps(view):
    """Sequences of keys that change a setting: each a key, the expected value, and its label. The last key of a
    sequence restores the first value and picture."""
    screen = view.screen
    middle = view.state()["voxel"]
    voxel = lambda axis, step: ",".join(str(int(v) + (step if a == axis else 0))
                                        for a, v in enumerate(middle.split(",")))
    near = lambda number: lambda text: abs(float(text) - number) < 1e-6
    for run in [
            [("c", "plane", "coronal", "A  S  C"), ("s", "plane", "sagittal", ""), ("a", "plane", "axial", "")],
            [("Up", "voxel", voxel(2, 1), "Up  Down"), ("Down", "voxel", middle, "")],
            [("F2", "mode", "planes", "F1  F2  F3"), ("F3", "mode", "3d", ""), ("F1", "mode", "single", "")],
            [("g", "glyph", "none", "G"), ("g", "glyph", "surface", ""), ("g", "glyph", "sticks", ""),
             ("g", "glyph", "both", "")],
            [("d", "color", "fiber", "D"), ("d", "color", "value", ""), ("b", "colorbar", "off", "B"),
             ("b", "colorbar", "on", ""),
             ("d", "color", "plain", ""), ("d", "color", "direction", "")],
            [("plus", "scale", near(1.65), "+  −"), ("minus", "scale", near(1.5), "")],
            [("ctrl+plus", "zoom", near(1.25), "Ctrl +  Ctrl −"), ("ctrl+minus", "zoom", near(1), "")],
            [("F3", "mode", "3d", ""), ("w", "extent", "volume", "W"), ("w", "extent", "slices", ""),
             ("F1", "mode", "single", "")],
            [("Next", "background", lambda name: name != "t1", "Page Down  Up"), ("Prior", "background", "t1", "")]]:
        first = view.picture()
        for key, name, wanted, label in run:
            before = view.picture()
            screen.xdotool("key", key)
            view.wait_state(f"{key}: {name}", **{name: wanted})
            view.wait_picture(f"{key} shows {name} {view.state()[name]}", lambda now: not same(now, before))
            if label:
                driven.add(label)
        view.wait_picture(f"{run[-1][0]}: all is as before {run[0][0]}", lambda now: same(now, first))
    # three steps of the threshold hide the smallest glyphs
    first = view.picture()
    for step in range(3):
        screen.xdotool("key", "bracketright")
        view.wait_state("]", threshold=lambda text: float(text) > (step + .5) * .02)
    view.wait_picture("small glyphs are gone", lambda now: not same(now, first))
    for step in range(3):
        screen.xdotool("key", "bracketleft")
        view.wait_state("[", threshold=lambda text: float(text) < (2.5 - step) * .04)
    view.wait_picture("and back", lambda now: view.state()["threshold"] == "0" and same(now, first))
    driven.add("]  [")


def drag(view, button, path, modifier=None, behind=False):
    """Moves the pointer along the path with a button (and a key) held; behind: while the viewer is stopped. Returns the
    picture before, and the positions that the pointer hides."""
    screen = view.screen
    places = [path[0], path[-1]]
    screen.xdotool("mousemove", *path[0])
    view.wait_state("the pointer is there", pointer="%.2f,%.2f" % tuple(path[0]))
    before = view.picture(places)
    if modifier:
        screen.xdotool("keydown", modifier)
    if behind:
        view.process.send_signal(signal.SIGSTOP)
    screen.xdotool("mousedown", button)
    for place in path[1:]:
        screen.xdotool("mousemove", *place)
    # the viewer ignores small movements at first, so its pointer may lag by that much
    screen.xdotool("mouseup", button)
    if modifier:
        screen.xdotool("keyup", modifier)
    if behind:
        view.process.send_signal(signal.SIGCONT)
    return before, places


def test_mouse(view):
    screen = view.screen
    numbers = lambda text: np.array([float(n) for n in text.split(",")])
    start = view.state()
    # left: moves the crosshair and prints the voxel
    before, places = drag(view, 1, [(300, 200)])
    after = view.wait_state("left click", picks="1", values="on", voxel=lambda text: text != start["voxel"])
    view.wait_picture("left click shows", lambda now: not same(now, before), places)
    wait_for(lambda: "eigenpairs" in view.printed(), "the voxel is printed")
    check(view.printed().startswith("voxel " + after["voxel"].replace(",", " ") + ", index "),
          f"printed: {view.printed()}")
    i, j, k = map(int, after["voxel"].split(","))
    ras = re.search(r"RAS +(\S+) (\S+) (\S+) mm", view.printed())
    expected = np.array(ORIGIN) + i * np.array(VECTORS[0]) + j * np.array(VECTORS[1]) + k * np.array(VECTORS[2])
    check(ras and np.allclose([float(n) for n in ras.groups()], expected), f"position {expected}: {view.printed()}")
    check(re.search(r"t1 +%g\n" % (10 + 20 * i + 7 * j + 3 * k), view.printed()), f"value: {view.printed()}")
    angle = .25 * i + .1 * j + .2 * k
    first = np.array([np.cos(angle), np.sin(angle), 0])
    line = re.search(r"\n  1 +(\S+) +(\S+) +(\S+) +(\S+)\n", view.printed())
    check(line and abs(float(line[1]) - .6 * grown(i)) < 1e-4 and
          abs(abs(np.dot([float(n) for n in line.groups()[1:]], first)) - 1) < 1e-3,
          f"its fibre {first}: {view.printed()}")
    check("1 to 2 90.0°" in view.printed(), f"angle: {view.printed()}")
    drag(view, 1, [(330, 260)])
    view.wait_state("another click", picks="2")
    check(wait_for(lambda: view.printed().count("voxel ") == 2, "the second voxel"), "two voxels are printed")
    screen.xdotool("key", "v")
    view.wait_state("panel away", values="off")
    driven.add("Left")
    # the crosshair follows a drag
    where = view.state()["voxel"]
    drag(view, 1, [(300, 200), (320, 240), (350, 300)])
    view.wait_state("left drag", picks="3", voxel=lambda text: text != where, values="off")

    # the wheel: next slice and back
    slice_of = lambda text: int(text.split(",")[2])
    at = slice_of(view.state()["voxel"])
    before = view.picture()
    screen.xdotool("click", 4)
    view.wait_state("wheel up", voxel=lambda text: slice_of(text) == at + 1)
    view.wait_picture("wheel up shows", lambda now: not same(now, before))
    screen.xdotool("click", 5)
    view.wait_state("wheel down", voxel=lambda text: slice_of(text) == at)
    view.wait_picture("wheel down: as before", lambda now: same(now, before))
    driven.add("Wheel")
    # right: the image's window
    before, places = drag(view, 3, [(300, 200), (330, 200), (360, 200)])
    view.wait_state("right drag", window=lambda text: text != "auto")
    view.wait_picture("right drag shows", lambda now: not same(now, before), places)
    bright = numbers(view.wait_state("to its end", pointer="360.00,200.00")["window"])
    drag(view, 3, [(300, 200), (300, 170), (300, 140)])
    view.wait_state("right drag up", window=lambda text: np.ptp(numbers(text)) < .9 * np.ptp(bright))
    driven.add("Right drag")
    screen.xdotool("key", "Escape")
    view.wait_state("Esc", window="auto")
    driven.add("Esc")
    # a slow viewer: a press counts at its position, not at the pointer's position when it is processed
    before, places = drag(view, 3, [(300, 200), (330, 200), (360, 200)], behind=True)
    view.wait_state("late right drag", window=lambda text: text != "auto" and
                    np.allclose(numbers(text), bright, atol=1e-3 * np.ptp(bright)))
    screen.xdotool("key", "Escape")
    view.wait_state("Esc", window="auto")
    # middle, and left with Shift: pan
    for button, modifier in (2, None), (1, "shift"):
        before, places = drag(view, button, [(300, 200), (330, 215), (360, 230)], modifier)
        view.wait_state("pan", center=lambda text: text != "auto")
        view.wait_picture("pan shows", lambda now: not same(now, before), places)
        # the picture has moved by the drag
        now = view.picture()
        screen.xdotool("key", "r")
        view.wait_state("R", center="auto", zoom="1", tilt="0,0,0")
    driven.update(["Middle drag", "R"])
    # right with Shift: through the slices
    at = slice_of(view.state()["voxel"])
    drag(view, 3, [(300, 200), (300, 190), (300, 184)], "shift")
    view.wait_state("shift right drag", voxel=lambda text: slice_of(text) == at + 2)
    driven.add("Shift right drag")
    # Ctrl: turn and roll; L resets the tilt
    before, places = drag(view, 1, [(300, 200), (330, 215), (360, 230)], "ctrl")
    view.wait_state("turn", tilt=lambda text: np.abs(numbers(text)).max() > 5)
    view.wait_picture("turn shows", lambda now: not same(now, before), places)
    screen.xdotool("key", "l")
    view.wait_state("L", tilt="0,0,0", lock_axes="on")
    screen.xdotool("key", "l")
    view.wait_state("L again", lock_axes="off")
    screen.xdotool("key", "l")
    view.wait_state("L once more", lock_axes="on")
    before, places = drag(view, 3, [(420, 240), (420, 280), (400, 330)], "ctrl")
    view.wait_state("roll", tilt=lambda text: np.abs(numbers(text)).max() > 5)
    view.wait_picture("roll shows", lambda now: not same(now, before), places)
    screen.xdotool("key", "r")
    view.wait_state("R", tilt="0,0,0")
    driven.update(["Ctrl drag", "Ctrl right drag", "L"])
    # Ctrl and the wheel: zoom about the pointer, in and out
    screen.xdotool("mousemove", 250, 300)
    view.wait_state("the pointer is there", pointer="250.00,300.00")
    screen.xdotool("keydown", "ctrl", "click", 4, "keyup", "ctrl")
    view.wait_state("zoom", zoom=lambda text: abs(float(text) - 1.15) < 1e-6)
    screen.xdotool("keydown", "ctrl", "click", 5, "keyup", "ctrl")
    view.wait_state("zoom back", zoom=lambda text: abs(float(text) - 1) < 1e-6)
    driven.add("Ctrl wheel")
    # in 3-D a drag turns, a click picks
    screen.xdotool("key", "F3")
    view.wait_state("3-D", mode="3d")
    was = view.state()
    drag(view, 1, [(300, 200), (330, 215), (360, 230)])
    view.wait_state("turn in 3-D", camera=lambda text: text != was["camera"])
    picks = int(view.state()["picks"])
    check(picks == int(was["picks"]), "a drag picks nothing")
    drag(view, 1, [(320, 240)])
    view.wait_state("click in 3-D", picks=str(picks + 1))
    screen.xdotool("key", "F1", "r")
    view.wait_state("back", mode="single", center="auto")


def test_window(view, files):
    screen = view.screen
    # resizing
    screen.xdotool("windowsize", view.window, 500, 400)
    view.wait_state("smaller", width="500", height="400")
    small = view.wait_picture("the letters are at its edges", lambda now: now[350:, 200:300].max() > 200)
    screen.xdotool("windowsize", view.window, 640, 480)
    view.wait_state("as before", width="640", height="480")
    check(small.shape == (400, 500, 3), "the picture was smaller")
    # undo and redo
    before = view.state()["normalise"]
    other = "off" if before == "on" else "on"
    for key, wanted in (("n", other), ("ctrl+z", before), ("ctrl+y", other), ("ctrl+z", before),
                        ("ctrl+shift+z", other), ("n", before)):
        screen.xdotool("key", key)
        view.wait_state(key, normalise=wanted)
    driven.add("Ctrl+Z  Ctrl+Y")
    # full screen and back
    screen.xdotool("key", "F11")
    view.wait_state("full screen", width="900", height="700")
    screen.xdotool("key", "F11")
    view.wait_state("a window again", width="640", height="480")
    driven.add("F11")
    # changed files are read again
    before = view.picture()
    write_data(os.path.dirname(files[0]), turn=.7, late=2)
    view.wait_picture("changed files are shown without a key", lambda now: not same(now, before))
    # half-written files leave the view unchanged; Shift+R reports them
    whole = open(files[0], "rb").read()
    calm = view.wait_state("calm", voxels=str(np.prod(SIZE)))
    before = view.picture()
    with open(files[0], "wb") as file:
        file.write(whole[:len(whole) // 2])
    screen.xdotool("key", "shift+r")
    view.wait_picture("a message is shown", lambda now: not same(now, before))
    check(view.state()["voxels"] == calm["voxels"], "the view is unchanged")
    check(wait_for(lambda: "tensors.nrrd" in view.errors(), "the log says which file"), view.errors())
    screen.xdotool("key", "f", "f")
    view.wait_picture("the next key dismisses the message", lambda now: same(now, before))
    # complete again, with another size: the view is reset
    write_data(os.path.dirname(files[0]), size=(5, 4, 3), late=4)
    view.wait_state("complete again", voxels="60", voxel="2,2,1", center="auto")
    write_data(os.path.dirname(files[0]), late=6)
    screen.xdotool("key", "shift+r")
    view.wait_state("Shift+R", voxels=str(np.prod(SIZE)))
    driven.add("Shift+R")


def test_drop(view):
    helper = os.path.join(os.environ["HOT_BUILD"], "bin", "test_viz_drop_file")
    if not os.path.exists(helper):
        print("no Xlib: dropping is not tested")
        return
    tensors, peaks, image = write_data("other place", turn=1.3, size=(4, 4, 4))

    def drop(*paths):
        done = subprocess.run([helper, view.window, *map(os.path.abspath, paths)], env=view.screen.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE)
        check(done.returncode == 0, f"drop {paths}: {done.stdout.decode()}")
    drop(tensors)
    view.wait_state("dropped tensors", voxels="64", title="tensors.nrrd")
    drop(image)  # an image alone: becomes the background of the current scene
    view.wait_state("dropped image", voxels="64", background="t1")
    before = view.picture()
    open("broken.nrrd", "w").write("NRRD0004\ntype: float\n")
    drop("broken.nrrd")
    view.wait_picture("an error is shown", lambda now: not same(now, before))
    check(view.state()["voxels"] == "64", "the view is unchanged")
    check("broken.nrrd" in view.errors(), f"the log names it: {view.errors()}")


def test_series():
    """Volumes of a 4-D image: their values and, on the screen, their numbers."""
    series = np.zeros((3, *SIZE))
    for v in range(3):
        series[v] = 1 + (np.arange(np.prod(SIZE)).reshape(SIZE) * (v + 1) % 7)
    write_nrrd("series.nrrd", series, VECTORS, ORIGIN, "series")
    view = Viewer(screen, "series.nrrd", "--as", "dwi", "--size", "640x480")
    first = view.picture()
    screen.xdotool("mousemove", 320, 240, "key", "Left")  # the first already
    for key, volume in (("Right", "1"), ("Right", "2"), ("Right", "2"), ("Left", "1"), ("Left", "0")):
        before, was = view.picture(), view.state()["volume"]
        screen.xdotool("key", key)
        view.wait_state(key, volume=volume)
        if was not in ("auto", volume):
            view.wait_picture(f"{key} shows volume {volume}", lambda now: not same(now, before), [(320, 240)])
    view.wait_picture("back at the first", lambda now: same(now[100:400], first[100:400]))
    driven.add("Right  Left")
    view.leave()


def run_without(environment, *arguments):
    return subprocess.run([VIEWER, *arguments], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=PATIENCE)


def test_no_window(files):
    """No display, no OpenGL, or an old OpenGL: status 1 and one line that suggests --screenshot."""
    nowhere = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    blind = Screen(arguments=["-extension", "GLX"])
    old = Screen()
    for what, environment in [("no display", nowhere), ("a wrong display", {**nowhere, "DISPLAY": ":987"}),
                              ("no GLX", blind.environment),
                              ("OpenGL 2.1", {**old.environment, "MESA_GL_VERSION_OVERRIDE": "2.1"})]:
        done = run_without(environment, *files)
        said = done.stderr.decode()
        check(done.returncode == 1, f"{what}: status {done.returncode}: {said}")
        check(said.count("\n") == 1 and "--screenshot" in said and said.startswith("hotfiber"), f"{what}: {said!r}")
    blind.close()
    old.close()


def test_fine_screen(files):
    """On a screen of twice the resolution everything is twice as large, including text."""
    screen = Screen(size=(1400, 1100))
    if not screen.set_resource("Xft.dpi:\t192\n"):
        return
    view = Viewer(screen, *files, "--size", "640x480")
    view.wait_state("twice as fine", width="1280", height="960", pixel_ratio="2")
    view.leave("ctrl+q")
    screen.close()


driven = set()
files = write_data("data")
screen = Screen()
view = Viewer(screen, *files, "--size", "640x480", "--background", "t1", "--scale", "1.5")
screen.xdotool("mousemove", 320, 240)
view.wait_state("the pointer is in the window", pointer="320.00,240.00")
for test in (test_switches, test_steps, test_mouse):
    test(view)
test_window(view, files)
test_drop(view)
view.leave()
driven.add("Q")
test_series()
screen.close()
test_no_window(files)
test_fine_screen(files)
# every row of the table in docs/viewer.md was tested (a unit test compares it with the program's table)
readme = open(os.path.join(os.environ["HOT_SOURCE"], "docs/viewer.md")).read()
rows = re.findall(r"^\| (?:Mouse|View|Glyphs|Image|Annotations|Window) \| (.*) \|$", readme, re.M)
labels = {label for row in rows for label in re.findall(r"`([^`]*)`", row)}
check(len(rows) == 6 and labels == driven, f"not tested: {labels - driven}; not in the table: {driven - labels}")
end()
