"""The window of hot_view_show, tested with example_view: it shows fields in memory, its keys work, the call returns
when it is closed, and without a display it fails."""
import os
import subprocess

import screen as screens
from screen import Screen, check, need_tools, wait_for

EXAMPLE = os.path.join(os.environ["HOT_BUILD"], "bin", "example_view")


def settled(screen, what, right):
    """Waits until right(window) is true; returns the window's part of the screen."""
    kept = []

    def so():
        kept[:] = [screen.pixels()[:480, :640].astype(int)]
        return right(kept[0])
    check(wait_for(so, what), what)
    return kept[0]


need_tools()
screen = Screen(size=(640, 480))
command = [EXAMPLE, "-", "crosshair", "off", "annotations", "off", "image", "off",
           "panel", "off"]
shown = subprocess.Popen(command, env=screen.environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
window = wait_for(lambda: shown.poll() is not None or subprocess.run(
    ["xdotool", "search", "--pid", str(shown.pid), "--onlyvisible", "--name", "hotfiber"], env=screen.environment,
    capture_output=True, text=True).stdout.split(), "a window")
check(shown.poll() is None, "the program runs")
# fibres in the x-y plane: red and green; blue only in white highlights
first = settled(screen, "glyphs", lambda p: (p.max(2) > 100).sum() > 5000)
check(first[:, :, 0].mean() > 1.3 * first[:, :, 2].mean() and first[:, :, 1].mean() > 1.3 * first[:, :, 2].mean(),
      f"red and green: {first.mean((0, 1))}")
screen.xdotool("mousemove", 5, 5)
screen.xdotool("key", "g")
settled(screen, "G changes the glyphs", lambda p: abs(p - first).max(2).astype(bool).sum() > 1000)
screen.xdotool("key", "q")
wait_for(lambda: shown.poll() is not None, "the call returns after Q")
check(shown.poll() == 0, f"exit status 0: {shown.poll()} {shown.stderr.read() if shown.poll() is not None else ''}")
shown.kill()
shown.wait()
screen.close()

bare = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
done = subprocess.run([EXAMPLE], env=bare, capture_output=True, text=True)
check(done.returncode == 1 and "display" in done.stderr, f"without a display: {done.returncode} {done.stderr}")
done = subprocess.run([EXAMPLE, "picture.png", "glyph", "sticks"], env=bare, capture_output=True, text=True)
check(done.returncode == 0 and os.path.getsize("picture.png") > 1000, f"a picture without a display: {done.stderr}")
done = subprocess.run([EXAMPLE, "picture.png", "glyph", "balls"], env=bare, capture_output=True, text=True)
check(done.returncode == 1 and "none, surface, sticks or both" in done.stderr, f"an invalid setting: {done.stderr}")
screens.end()
