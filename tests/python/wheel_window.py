"""For test_wheel.sh: `hotfiber view` of the wheel whose command is the first argument opens a window on a virtual
screen, and `hotfiber.view` does. The screen is left as screen.ppm."""
import os
import shutil
import subprocess
import sys

import screen
from screen import Screen, Viewer, check, end, need_tools, wait_for



def press_q(window):
    """The window may be gone before the key is up, of which xdotool complains."""
    subprocess.run(["xdotool", "windowfocus", "--sync", window, "key", "q"], env=display.environment,
                   stderr=subprocess.DEVNULL)


need_tools()
screen.VIEWER = os.path.abspath(sys.argv[1])
display = Screen((760, 560))
display.environment = {"LC_ALL": "C", "HOME": os.getcwd(), "PATH": "/usr/bin:/bin",
                       **{name: display.environment[name] for name in ("DISPLAY", "LIBGL_ALWAYS_SOFTWARE")}}
view = Viewer(display, "view", "out", "--size", "760x560")
colours = lambda: (display.pixels().astype(int).max(-1) - display.pixels().min(-1) > 100).sum()
wait_for(lambda: colours() > 2000, "a picture of coloured fibres")
pixels = display.pixels()
with open("screen.ppm", "wb") as file:
    file.write(b"P6 %d %d 255\n" % (pixels.shape[1], pixels.shape[0]) + pixels.tobytes())
with open(f"/proc/{view.process.pid}/maps") as file:
    names = {line.split()[-1] for line in file if ".so" in line}
check(any("hotfiber.libs/libglfw" in name for name in names), "GLFW is that of the wheel")
check(any(name.endswith("/libX11.so.6.4.0") or name.endswith("/libX11.so.6") for name in names if
          "hotfiber.libs" not in name), "libX11 is the system's")
press_q(view.window)
wait_for(lambda: view.process.poll() is not None, "Q ends it")
check(view.process.returncode == 0 and not view.errors(), f"{view.process.returncode} {view.errors()}")

# From Python, with arrays: the window of a result, in the background.
program = ("import hotfiber, sys\n"
           "process = hotfiber.view(hotfiber.load('out'), wait=False, size='400x300')\n"
           "print(process.pid, flush=True)\nsys.exit(process.wait())")
python = subprocess.Popen([os.path.join(os.path.dirname(screen.VIEWER), "python"), "-c", program], text=True,
                          env=display.environment, stdout=subprocess.PIPE)
pid = python.stdout.readline().strip()
find = lambda: subprocess.run(["xdotool", "search", "--pid", pid, "--onlyvisible", "--name", "hotfiber"], text=True,
                              env=display.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.split()
if wait_for(find, "the window that hotfiber.view opens") and wait_for(lambda: colours() > 200, "its picture"):
    press_q(find()[-1])  # the one with the picture: others may have been tried before, of more samples
if not wait_for(lambda: python.poll() is not None, "Q ends it"):
    python.kill()
check(python.wait() == 0, "it ends with 0")
display.close()
for folder in (display.folder, os.path.dirname(view.out_file)):
    shutil.rmtree(folder, ignore_errors=True)
end()
