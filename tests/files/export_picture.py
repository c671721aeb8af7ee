"""Pictures by the command: over the data, and refusals."""
import re
import subprocess

from _export import HOTFIBER, export, run
from counted import check, end

run(HOTFIBER, "phantom", "--layout", "bundles", "--size", "20,20,8", "--directions", "6", "-o", "dwi.nrrd", "--truth",
    "truth.nrrd")
run(HOTFIBER, "phantom", "--layout", "bundles", "--size", "16,16,8", "--directions", "6", "-o", "other.nrrd", "--truth",
    "t.nrrd")
export("truth.nrrd", "over.png", "--dwi", "dwi.nrrd")
export("truth.nrrd", "plain.png")
with open("over.png", "rb") as over, open("plain.png", "rb") as plain:
    check(over.read() != plain.read(), "the background is another")
with open("other.nrrd", "rb") as file:  # the same data, far away
    text, samples = file.read().split(b"\n\n", 1)
with open("far.nrrd", "wb") as file:
    file.write(re.sub(rb"space origin: \S+", b"space origin: (900,900,900)", text) + b"\n\n" + samples)
done = subprocess.run([HOTFIBER, "export", "-i", "truth.nrrd", "-o", "part.png", "--dwi", "other.nrrd"],
                      capture_output=True, text=True)
check(done.returncode == 0 and "other.nrrd" in done.stderr and "64 %" in done.stderr, f"another grid: {done.stderr}")
for options, must in ((["-o", "x.vtp", "--dwi", "dwi.nrrd"], "--dwi"),
                      (["-o", "x.png", "--dwi", "far.nrrd"], "far.nrrd"),
                      (["-o", "dwi.nrrd", "--format", "png", "--dwi", "dwi.nrrd"], "dwi.nrrd"),
                      (["-o", "x.png", "--dwi", "truth.nrrd"], "truth.nrrd")):
    done = subprocess.run([HOTFIBER, "export", "-i", "truth.nrrd", *options], capture_output=True, text=True)
    check(done.returncode == 1 and done.stderr.count("\n") == 1 and must in done.stderr, f"{options}: {done.stderr}")
end()
