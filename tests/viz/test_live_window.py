"""Windows that are filled while they are open: hot_view_open (example_live), `hotfiber view -`, and `hotfiber run
--view`, whose run neither needs its window nor waits for it."""
import os
import shutil
import signal
import subprocess
import time

import numpy as np

import screen as screens
from screen import Screen, Viewer, check, need_tools, wait_for, write_nrrd

BUILD = os.environ["HOT_BUILD"]
EXAMPLE, HOTFIBER = os.path.join(BUILD, "bin", "example_live"), os.path.join(BUILD, "bin", "hotfiber")
SIZE, VECTORS = (12, 12, 6), [(2, 0, 0), (0, 2, 0), (0, 0, 2)]
PLAIN = ["crosshair", "off", "annotations", "off", "panel", "off"]


def coloured(pixels):
    """Pixels with colour: glyphs, not images or letters."""
    return int((pixels.max(2).astype(int) - pixels.min(2) > 60).sum())


def more(pixels, a, b):
    """Pixels in which one component (0, 1, 2) is far above another."""
    return int((pixels[..., a].astype(int) - pixels[..., b] > 60).sum())


def wait_window(screen, name="live"):
    def found():
        out = subprocess.run(["xdotool", "search", "--onlyvisible", "--name", name], env=screen.environment,
                             capture_output=True, text=True).stdout.split()
        return out[-1] if out else None
    return wait_for(found, f"a window '{name}'")


def no_window(screen, name="live"):
    return not subprocess.run(["xdotool", "search", "--onlyvisible", "--name", name], env=screen.environment,
                              capture_output=True, text=True).stdout.split()


def directions(first, count):
    """Bytes of an NRRD: x in the even slices, y in the odd ones."""
    peaks = np.zeros((3, SIZE[0], SIZE[1], count))
    for k in range(count):
        peaks[(first + k) % 2, :, :, k] = 1
    path = write_nrrd("slab.nrrd", peaks, VECTORS, (0, 0, 2 * first), "directions")
    return open(path, "rb").read()


def image():
    return open(write_nrrd("image.nrrd", np.full(SIZE, 5.0), VECTORS, (0, 0, 0)), "rb").read()


class Fed(Viewer):
    """`hotfiber-view -` and the pipe into it."""

    def __init__(self, screen, first, *arguments):
        read, write = os.pipe()
        self.pipe = os.fdopen(write, "wb", buffering=0)
        self.pipe.write(first)
        super().__init__(screen, "-", "--size", "600x500", *arguments, stdin=read)
        os.close(read)


def test_example(screen):
    for mode in ("thread", "poll"):
        shown = subprocess.Popen([EXAMPLE, mode, *PLAIN], env=screen.environment, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_window(screen)
        check(shown.stdout.readline() == "computed 12 slices\n", f"{mode}: it computes while the window is open")
        check(wait_for(lambda: coloured(screen.pixels()[:480, :640]) > 3000, "glyphs"), f"{mode}: glyphs")
        check(shown.poll() is None, f"{mode}: the window stays")
        screen.xdotool("mousemove", 50, 50)
        screen.xdotool("key", "q")
        wait_for(lambda: shown.poll() is not None, f"{mode}: Q ends it")
        check(shown.poll() == 0 and shown.stderr.read() == "", f"{mode}: status {shown.poll()}")
        shown.kill()
        shown.wait()
    bare = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    done = subprocess.run([EXAMPLE], env=bare, capture_output=True, text=True)
    check(done.returncode == 0 and "no window" in done.stderr and "display" in done.stderr and
          done.stdout == "computed 12 slices\n", f"without a display: {done}")


def test_calls(screen):
    for mode in ("thread", "poll"):
        done = subprocess.run([os.path.join(BUILD, "bin", "test_viz_live_calls"), mode], env=screen.environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=screens.PATIENCE)
        check(done.returncode == 0, f"{mode}: {done}")


def test_stream(screen):
    view = Fed(screen, image(), "--crosshair", "off", "--annotations", "off")
    check(coloured(view.picture()) == 0, "an image without fibres has no colours")
    began = time.monotonic()
    view.pipe.write(directions(0, 2))
    view.wait_picture("the first slices", lambda p: coloured(p) > 500)
    print(f"first glyphs {time.monotonic() - began:.2f} s after their slices were sent")
    view.wait_state("the view follows", voxel=lambda v: v.endswith(",1"))
    view.wait_picture("slice 1, fibres along y, is green", lambda p: more(p, 1, 0) > 500 and more(p, 0, 1) < 50)
    view.pipe.write(directions(4, 1))
    view.wait_state("slice 4", voxel=lambda v: v.endswith(",4"))
    view.wait_picture("slice 4, fibres along x, is red", lambda p: more(p, 0, 1) > 500 and more(p, 1, 0) < 50)
    screen.xdotool("mousemove", 300, 250)
    screen.xdotool("key", "Down")  # the user's slice is kept
    view.wait_state("the user moves", voxel=lambda v: v.endswith(",3"))
    pictures = int(view.state()["pictures"])
    view.pipe.write(directions(5, 1))
    view.wait_state("slice 5 is drawn", pictures=lambda n: int(n) > pictures)
    check(view.state()["voxel"].endswith(",3"), f"the view stays: {view.state()['voxel']}")
    view.pipe.write(b"no NRRD\n")
    wait_for(lambda: view.errors(), "a message")
    check("what follows NRRD 4 is not an NRRD" in view.errors() and view.errors().count("\n") == 1 and
          view.process.poll() is None, f"one line, and the window stays: {view.errors()}")
    view.pipe.close()
    view.leave()


def test_signals(screen):
    """The pipe stays open: neither the window nor the reader may wait for it."""
    for number in (signal.SIGINT, signal.SIGTERM):
        view = Fed(screen, image())
        began = time.monotonic()
        view.process.send_signal(number)
        wait_for(lambda: view.process.poll() is not None, f"{number.name} closes the window")
        print(f"{number.name}: closed after {time.monotonic() - began:.2f} s")
        check(view.process.poll() == 1 and "cancelled" in view.errors() and view.errors().count("\n") == 1,
              f"{number.name}: status {view.process.poll()}: {view.errors()}")
        view.pipe.close()
    for wrong, words in ((b"", "empty"), (b"P5 1 1", "not a stream of NRRDs"), (b"NRRD0005\n\n", "NRRD"),
                         (directions(0, 2) + directions(0, 3), "not slices"),
                         (directions(0, 2) + image(), "not slices")):
        done = subprocess.run([screens.VIEWER, "-", "--screenshot", "a.png"], input=wrong, capture_output=True)
        check(done.returncode == 1 and words in done.stderr.decode() and done.stderr.count(b"\n") == 1,
              f"{wrong[:20]}: {done}")
    # all at once is the picture of a file
    whole = directions(0, SIZE[2])
    open("whole.nrrd", "wb").write(whole)
    subprocess.run([screens.VIEWER, "-", "--screenshot", "stream.png"], input=directions(0, 6) + directions(2, 1),
                   check=True)
    subprocess.run([screens.VIEWER, "whole.nrrd", "--screenshot", "file.png"], check=True)
    check(open("stream.png", "rb").read() == open("file.png", "rb").read(), "a stream's picture is the file's")


def run(folder, environment, *options, hotfiber=HOTFIBER):
    data = os.path.join(os.environ["HOT_SOURCE"], "sample_data", "phantom.nhdr")
    return subprocess.run([hotfiber, "run", data, "-o", folder, "--no_report", "--threads", "1", *options],
                          env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)


def test_run(screen):
    def fibres():
        """Coloured pixels in a quarter of the picture, without crosshair, letters and panel."""
        return coloured(screen.pixels()[80:370, 400:640])

    def close_window():
        screen.xdotool("mousemove", 50, 50)
        screen.xdotool("key", "q")
        wait_for(lambda: no_window(screen), "the window is closed")

    bare = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    plain = run("plain", bare)
    # its output ends with the run, although the window stays
    done = run("shown", screen.environment, "--view")
    wait_window(screen)
    check(done.returncode == 0 and "no window" not in done.stderr, f"{done}")
    check(wait_for(lambda: fibres() > 500, "fibres"), f"fibres after the run: {fibres()}")
    close_window()
    dark = run("dark", bare, "--view")
    lines = [line for line in dark.stderr.splitlines() if "no window (the run continues)" in line]
    check(dark.returncode == 0 and len(lines) == 1 and "display" in lines[0], f"without a display: {dark.stderr}")
    # fibres are left out after they were found: the window shows the rest
    few = run("few", screen.environment, "--view", "--min_probability", "1", "--max_cone", ".01")
    check(few.returncode == 0, f"{few}")
    wait_window(screen)
    check(wait_for(lambda: fibres() == 0, "no fibres"), f"{fibres()} pixels of fibres")
    close_window()
    maxima = run("maxima", screen.environment, "--view", "--method", "maxima", "--outputs", "peaks_nrrd")
    check(maxima.returncode == 0, f"{maxima}")
    wait_window(screen)
    check(wait_for(lambda: fibres() > 500, "fibres of maxima"), "maxima: all at the end")
    close_window()
    # Ctrl-C in a terminal goes to the group of both
    data = os.path.join(os.environ["HOT_SOURCE"], "sample_data", "phantom.nhdr")
    both = subprocess.Popen([HOTFIBER, "run", data, "-o", "stopped", "--threads", "1", "--view"],
                            start_new_session=True, env=screen.environment, stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_window(screen)
    os.killpg(both.pid, signal.SIGINT)
    wait_for(lambda: both.poll() is not None and no_window(screen), "Ctrl-C ends both")
    check(both.wait() in (0, 1), f"status {both.returncode}")
    # without the program
    os.makedirs("alone/libraries", exist_ok=True)
    shutil.copy(HOTFIBER, "alone/hotfiber")
    for name in os.listdir(os.path.join(BUILD, "lib")):
        if ".so" in name:
            shutil.copy(os.path.join(BUILD, "lib", name), "alone/libraries", follow_symlinks=True)
    alone = {**bare, "LD_LIBRARY_PATH": os.path.abspath("alone/libraries"), "PATH": "/nowhere:."}
    program, stub = os.path.abspath("alone/hotfiber"), "alone/hotfiber-view"
    for script, words in ((None, "hotfiber-view is not installed"),
                          ("#!/bin/sh\necho hotfiber view: broken >&2\nexit 3\n", "(the run continues): broken")):
        if script:
            with open(stub, "w") as file:
                file.write(script)
            os.chmod(stub, 0o755)
        done = run("without", alone, "--view", "--force", hotfiber=program)
        check(done.returncode == 0 and words in done.stderr, f"{words}: {done}")
    read = lambda folder: open(os.path.join(folder, "peaks.nrrd"), "rb").read()
    check(plain.returncode == 0 and read("plain") == read("shown") == read("dark") == read("without"),
          "the same results")


need_tools()
screen = Screen(size=(1100, 850))
test_example(screen)
test_calls(screen)
test_stream(screen)
test_signals(screen)
test_run(screen)
screen.close()
screens.end()
