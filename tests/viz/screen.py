"""A real window on a virtual screen: starts Xvfb and the viewer, sends keys and mouse events with xdotool, reads the
screen's pixels and the state that the viewer writes. Tests wait for conditions, never for a fixed time."""
import ctypes
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time

import numpy as np

from counted import check, end  # noqa: F401

PATIENCE = 120  # seconds until a condition counts as failed
VIEWER = os.path.join(os.environ["HOT_BUILD"], "bin", "hotfiber-view")


def need_tools():
    missing = [tool for tool in ("Xvfb", "xdotool") if not shutil.which(tool)]
    if missing:
        print("skipped: missing:", " ".join(missing))
        sys.exit(77)


def wait_for(condition, what):
    """Polls until the result is true and returns it; None after PATIENCE."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        answer = condition()
        if answer:
            return answer
        time.sleep(0.01)
    check(False, f"timed out: {what}")
    return None


class Screen:
    """A private X display whose framebuffer is a file."""

    def __init__(self, size=(900, 700), arguments=()):
        self.folder = tempfile.mkdtemp(prefix="screen", dir=".")
        read, write = os.pipe()
        self.server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", f"{size[0]}x{size[1]}x24", "-fbdir", self.folder,
             "-nolisten", "tcp", "-noreset", *arguments], pass_fds=[write], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as line:
            number = line.readline().strip()
        if not number:
            print("skipped: Xvfb does not start")
            sys.exit(77)
        self.environment = {**os.environ, "DISPLAY": f":{number}", "LIBGL_ALWAYS_SOFTWARE": "1"}
        self.environment.pop("WAYLAND_DISPLAY", None)
        self.environment["XDG_STATE_HOME"] = os.path.abspath("state")  # recent files
        if os.environ.get("HOT_SANITIZED"):
            # Mesa's driver leaks 112 bytes and is unloaded before the report, so a suppression cannot name it.
            self.environment["ASAN_OPTIONS"] = "detect_leaks=0"

    def set_resource(self, text):
        """Sets the X resources, as desktops do: "Xft.dpi: 192" is the resolution."""
        try:
            x = ctypes.CDLL("libX11.so.6")
        except OSError:
            print("no libX11: the HiDPI screen is not tested")
            return False
        x.XOpenDisplay.restype = ctypes.c_void_p
        x.XDefaultRootWindow.restype = x.XInternAtom.restype = ctypes.c_ulong
        x.XInternAtom.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]
        x.XDefaultRootWindow.argtypes = x.XCloseDisplay.argtypes = [ctypes.c_void_p]
        x.XChangeProperty.argtypes = [ctypes.c_void_p, ctypes.c_ulong, ctypes.c_ulong, ctypes.c_ulong, ctypes.c_int,
                                      ctypes.c_int, ctypes.c_char_p, ctypes.c_int]
        display = x.XOpenDisplay(self.environment["DISPLAY"].encode())
        string, replace = 31, 0
        x.XChangeProperty(display, x.XDefaultRootWindow(display), x.XInternAtom(display, b"RESOURCE_MANAGER", 0),
                          string, 8, replace, text.encode(), len(text))
        x.XCloseDisplay(display)
        return True

    def pixels(self):
        """rows x columns x RGB, of the whole screen."""
        raw = open(os.path.join(self.folder, "Xvfb_screen0"), "rb").read()
        head = struct.unpack(">25I", raw[:100])  # XWD header; Xvfb writes it big-endian
        start, width, height, row, colors = head[0], head[4], head[5], head[12], head[19]
        data = np.frombuffer(raw, np.uint8, row * height, start + 12 * colors).reshape(height, row)
        return data[:, :4 * width].reshape(height, width, 4)[:, :, 2::-1]

    def xdotool(self, *arguments):
        done = subprocess.run(["xdotool", *map(str, arguments)], env=self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        check(done.returncode == 0, f"xdotool {arguments}: {done.stderr.decode()}")
        return done.stdout.decode()

    def close(self):
        self.server.terminate()
        self.server.wait()


class Viewer:
    """hotfiber-view in a window on a screen."""

    def __init__(self, screen, *arguments, panel="off", stdin=subprocess.DEVNULL):
        self.screen = screen
        folder = tempfile.mkdtemp(prefix="viewer", dir=".")
        self.dump_file, self.out_file = os.path.join(folder, "state"), os.path.join(folder, "out")
        self.out, self.err = open(self.out_file, "wb"), open(self.out_file + ".err", "wb")
        self.process = subprocess.Popen([VIEWER, *map(str, arguments), "--panel", panel, "--dump_state",
                                         self.dump_file],
                                        env=screen.environment, stdin=stdin, stdout=self.out,
                                        stderr=self.err)
        wait_for(lambda: self.process.poll() is not None or self.state().get("pictures", "0") != "0",
                 "the first picture")
        check(self.process.poll() is None, f"the viewer runs: {self.errors()}")
        self.window = screen.xdotool("search", "--pid", self.process.pid, "--onlyvisible", "--name",
                                     "hotfiber").split()[-1]

    def errors(self):
        return open(self.out_file + ".err", errors="replace").read()

    def printed(self):
        return open(self.out_file, errors="replace").read()

    def state(self):
        """The viewer's state file: name -> value."""
        try:
            return dict(line.rstrip("\n").split(" ", 1) for line in open(self.dump_file))
        except FileNotFoundError:
            return {}

    def wait_state(self, what, **wanted):
        """Waits until the settings have these values; each is a string or a predicate."""
        def so():
            state = self.state()
            return state if all(value(state[name]) if callable(value) else state[name] == value
                                for name, value in wanted.items()) else None
        found = wait_for(lambda: self.process.poll() is not None or so(), f"{what}: {list(wanted)} in {self.state()}")
        alive = self.process.poll() is None
        check(alive and found, f"{what}: the viewer runs: {self.errors() if not alive else ''}")
        return self.state()

    def picture(self, away_from=()):
        """The window's pixels on the screen, without squares around positions of the pointer."""
        state = self.state()
        pixels = self.screen.pixels()[:int(state["height"]), :int(state["width"])].copy()
        for x, y in away_from:
            pixels[max(0, int(y) - 20):int(y) + 20, max(0, int(x) - 20):int(x) + 20] = 0
        return pixels

    def wait_picture(self, what, right, away_from=()):
        """Waits until right(picture) is true; returns the picture."""
        kept = []

        def so():
            kept[:] = [self.picture(away_from)]
            return right(kept[0])
        check(wait_for(so, f"{what}: the picture"), what)
        return kept[0]

    def leave(self, key="q"):
        self.screen.xdotool("key", key)
        wait_for(lambda: self.process.poll() is not None, f"{key} quits")
        status = self.process.poll()
        check(status == 0, f"exit status 0: {status}: {self.errors()}")
        if status is None:
            self.process.kill()
            self.process.wait()

    # ---- The panel, in a window of 1000 x 1300 whose picture has a corner at (300, 1270)

    def need_panel(self):
        """Skips the test if this build has none."""
        if "at_mode" not in self.state():
            print("skipped: this build has no panel (libimgui-dev)")
            self.leave()
            self.screen.close()
            sys.exit(77)

    def place(self, name):
        """Where a control is, once it does not move any more: rows appear, and lists unfold in several frames."""
        seen = []

        def still():
            seen.append(self.state().get(f"at_{name}"))
            time.sleep(.03)
            return seen[-1] if len(seen) > 5 and len(set(seen[-5:])) == 1 else None
        found = wait_for(still, f"{name} is in the panel")
        return [int(part) for part in (found or "500,5").split(",")]

    def press(self, x, y):
        self.screen.xdotool("mousemove", x, y, "sleep", ".15", "mousedown", 1, "sleep", ".15", "mouseup", 1)

    def click(self, name, right=0):
        x, y = self.place(name)
        self.press(x + right, y)

    def settle(self):
        """The picture once the pointer is off the panel and nothing moves."""
        self.screen.xdotool("mousemove", 300, 1270)
        kept = [self.picture()]

        def still():
            kept.append(self.picture())
            return same(kept[-1], kept[-2])
        wait_for(still, "the picture is still")
        return kept[-1]


def same(a, b):
    return a.shape == b.shape and np.array_equal(a, b)


def write_nrrd(path, data, vectors, origin, label=None, space="right-anterior-superior", late=0):
    """Writes a float array, fastest axis first; axes 1 2 3 (or 0 1 2 without label) are spatial. It is written to a
    temporary name and renamed, as hotfiber does, with a time `late` seconds from now: the change is visible at any
    resolution of the clock."""
    data = np.asarray(data, "<f4")
    vector = lambda v: "(" + ",".join(f"{x:.9g}" for x in v) + ")"
    spaces = [vector(v) for v in vectors]
    kinds = ["space"] * 3
    if label:
        spaces.insert(0, "none")
        kinds.insert(0, "list")
    lines = ["NRRD0005", "type: float", f"dimension: {data.ndim}", f"space: {space}",
             "sizes: " + " ".join(map(str, data.shape)), "space directions: " + " ".join(spaces),
             "kinds: " + " ".join(kinds)]
    if label:
        lines.append(f'labels: "{label}" "" "" ""')
    lines += ["endian: little", "encoding: raw", "space origin: " + vector(origin)]
    with open(path + ".new", "wb") as file:
        file.write(("\n".join(lines) + "\n\n").encode() + data.tobytes(order="F"))
    os.utime(path + ".new", (time.time() + late,) * 2)
    os.rename(path + ".new", path)
    return path


def power(order, v):
    """Unique coefficients of (x . v)^order, in lexicographic order."""
    values = []
    for x in range(order, -1, -1):
        for y in range(order - x, -1, -1):
            values.append(v[0] ** x * v[1] ** y * v[2] ** (order - x - y))
    return np.array(values)
