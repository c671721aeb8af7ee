"""Ctrl-C and SIGTERM close a window that waits for events, with the status that they have in every command."""
import signal

from screen import Screen, Viewer, check, end, need_tools, wait_for, write_nrrd

import numpy as np

need_tools()
screen = Screen()
peaks = np.zeros((3, 4, 4, 4))
peaks[0] = 1
path = write_nrrd("peaks.nrrd", peaks, [(2, 0, 0), (0, 2, 0), (0, 0, 2)], (0, 0, 0), "directions")
for number in (signal.SIGINT, signal.SIGTERM):
    view = Viewer(screen, path, "--size", "320x240")
    view.process.send_signal(number)
    wait_for(lambda: view.process.poll() is not None, f"{number.name} closes the window")
    check(view.process.poll() == 1, f"{number.name}: status {view.process.poll()}: {view.errors()}")
    check("cancelled" in view.errors() and view.errors().count("\n") == 1, f"one line: {view.errors()}")
    if view.process.poll() is None:
        view.process.kill()
        view.process.wait()
screen.close()
end()
