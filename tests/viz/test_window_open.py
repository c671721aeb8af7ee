"""The section Open of the panel: a file that is typed in, and the recent ones, of which other windows know."""
import os
import shutil
import time

import numpy as np

from screen import Screen, Viewer, check, end, need_tools, wait_for, write_nrrd

need_tools()
shutil.rmtree("state", ignore_errors=True)
os.makedirs("data", exist_ok=True)
vectors, origin = [(2, 0, 0), (0, 2, 0), (0, 0, 2)], (-5, -5, -5)
for name in ("first", "second"):
    write_nrrd(f"data/{name}.nrrd", np.ones((3, 6, 6, 6)), vectors, origin, "directions")
write_nrrd("data/image.nrrd", 1. + np.indices((6, 6, 6)).sum(0), vectors, origin)
screen = Screen(size=(900, 700))
listed = lambda: [line.split("/")[-1] for line in open("state/hotfiber/recent").read().splitlines()]
view = Viewer(screen, "data/first.nrrd", "--size", "880x680", panel="on")
view.need_panel()
view.click("Open")
wait_for(lambda: "at_recent0" in view.state(), "the list has this file")
check(listed() == ["first.nrrd"], f"in the state folder: {listed()}")
x, y = view.place("open_file")
screen.xdotool("mousemove", x - 60, y, "sleep", ".1", "mousedown", 1, "sleep", ".15", "mouseup", 1, "sleep", ".2",
               "type", "--delay", "60", "data/second.nrrd")
time.sleep(.3)
screen.xdotool("key", "Return")
view.wait_state("typed in", title="second.nrrd")
wait_for(lambda: listed() == ["second.nrrd", "first.nrrd"], "the newest first")
wait_for(lambda: "at_recent1" in view.state(), "both are listed")
view.click("recent1")
view.wait_state("the one before", title="first.nrrd")
wait_for(lambda: listed() == ["first.nrrd", "second.nrrd"], "their order")
# a missing file is a message, and the window keeps its own
os.remove("data/second.nrrd")
view.click("recent1")
time.sleep(1)
view.wait_state("still there", title="first.nrrd")
view.leave()
# a window that cannot write the list
screen.environment["XDG_STATE_HOME"] = "/dev/null/state"
view = Viewer(screen, "data/image.nrrd", "--size", "880x680", panel="on")
view.wait_state("opens", title="image.nrrd")
check(view.errors() == "", f"says nothing: {view.errors()}")
view.leave()
screen.close()
end()
