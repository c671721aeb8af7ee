"""A terminal's output: a bar on standard error, separate lines for errors, Ctrl-C, no NRRD on the screen."""
import fcntl
import json
import pty
import re
import select
import struct
import sys
import termios
import time

from cli import *

try:
    for end_of_pair in pty.openpty():
        os.close(end_of_pair)
except OSError as reason:
    print(f"skipped: this machine gives no terminal ({reason})")
    sys.exit(77)
works("phantom", "--layout", "bundles", "--size", "40,40,16", "-o", "dwi.nrrd", "--quiet")
works("phantom", "--layout", "bundles", "--size", "16,16,8", "-o", "few.nrrd", "--quiet")


def at_terminal(arguments, keys=None, stdout=None, columns=80):
    """Runs the command with a terminal for standard input and error (and output, unless a file is given); keys are
    typed as soon as the first bar is seen. Returns the status and what the terminal showed."""
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen([HOTFIBER, *map(str, arguments)], stdin=side, stdout=stdout or side, stderr=side,
                               start_new_session=True,
                               preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
    os.close(side)
    shown = b""
    end_at = time.monotonic() + 120
    while time.monotonic() < end_at:
        ready, _, _ = select.select([main], [], [], .2)
        if ready:
            try:
                got = os.read(main, 65536)
            except OSError:
                break
            if not got:
                break
            shown += got
            if keys and b"%" in shown:
                os.write(main, keys)
                keys = None
        elif process.poll() is not None:
            break
    process.wait(timeout=60)
    os.close(main)
    return process.returncode, shown.decode(errors="replace")


status, shown = at_terminal(["run", "-i", "few.nrrd", "-o", "out"])
check(status == 0, f"status {status}: {shown}")
check("[####" in shown and "100 %" in shown, "a bar is drawn")
lines = [line.split("\r")[-1] for line in shown.replace("\r\n", "\n").split("\n")]
check(any(line.startswith("  voxels in the mask") for line in lines), f"the table begins on a new line: {lines}")
check(not any("%]" in line or ("..." in line and "voxels in" in line) for line in lines), "bars and text do not mix")
stages = {line.split("[")[0].strip() for line in shown.replace("\n", "\r").split("\r") if "[" in line}
check(len(stages) >= 3, f"the bar says what is done: {stages}")

QUICK = ["run", "-i", "dwi.nrrd", "--method", "maxima"] # if the method does not matter
status, shown = at_terminal([*QUICK, "-o", "quiet", "--quiet"])
check(status == 0 and "#" not in shown and "%" not in shown, f"--quiet: {shown}")

# What --progress says wins over what standard error is.
for columns in (60, 40, 200):
    status, shown = at_terminal([*QUICK, "-o", "narrow", "--force"], columns=columns)
    bars = [line for line in re.split("[\r\n]", shown) if "] " in line]
    check(status == 0 and bars and max(map(len, bars)) < max(columns, 50), f"{columns} columns: {max(bars, key=len)}")
for form in ("none", "lines"):
    status, shown = at_terminal([*QUICK, "-o", "narrow", "--force", "--progress", form])
    check(status == 0 and "[#" not in shown and "voxels in the mask" in shown, f"--progress {form}: {shown}")
done = works(*QUICK, "-o", "bars", "--progress", "bar")
check("[####" in done.stderr and "100 %" in done.stderr, f"--progress bar into a file: {done.stderr}")
done = works(*QUICK, "-o", "log")
check("[" not in done.stderr and "\r" not in done.stderr, f"no bar in a log: {done.stderr}")


def events(text):
    """Every line an object of JSON; the fractions of a stage only grow; the end is the last."""
    found = [json.loads(line) for line in text.replace("\r\n", "\n").splitlines()]
    check(found[-1]["event"] == "end" and [e["event"] for e in found].count("end") == 1, f"the end: {found[-1]}")
    check(all(a["elapsed"] <= b["elapsed"] for a, b in zip(found, found[1:])), "time never decreases")
    steps = [e for e in found if e["event"] == "progress"]
    for one, two in zip(steps, steps[1:]):
        check(set(one) == {"event", "stage", "fraction", "elapsed"} and 0 <= one["fraction"] <= 1, f"{one}")
        check(one["stage"] != two["stage"] or one["fraction"] < two["fraction"] or one["fraction"] == 1,
              f"forward: {one} {two}")
    return found


done = works("run", "-i", "few.nrrd", "-o", "json", "--progress", "json")
found = events(done.stderr)
check(len({e.get("stage") for e in found}) >= 4 and found[-1]["status"] == 0, f"stages: {found}")
check(any(e["event"] == "note" and "text" in e for e in found) and "voxels in the mask" in done.stdout.decode(),
      "notes are JSON, the table is not")
status, shown = at_terminal(["run", "-i", "few.nrrd", "-o", "json", "--force", "--quiet", "--progress", "json"])
check(status == 0 and {e["event"] for e in events(shown)} == {"progress", "end"}, "--quiet: the requested progress")
done = hotfiber("fit", "-i", "no\"such\n.nrrd", "-o", "x.nrrd", "--progress", "json")
found = events(done.stderr)
check(done.returncode == 1 and [e["event"] for e in found] == ["error", "end"] and found[-1]["status"] == 1 and
      "no\"such" in found[0]["text"], f"errors are JSON: {found}")

before = tree()
status, shown = at_terminal(["run", "-i", "dwi.nrrd", "-o", "stopped", "--method", "sshopm", "--starts", 500],
                            keys=b"\x03")
check(status == 1, f"Ctrl-C: status {status}")
last = shown.replace("\r\n", "\n").rstrip("\n").split("\n")[-1].split("\r")[-1]
check(last.startswith("hotfiber run: cancelled"), f"Ctrl-C: the message is on a new line: {last}")
check(tree() == before, "Ctrl-C leaves nothing")

status, shown = at_terminal(["fit", "-i", "dwi.nrrd", "--quiet"])
check(status == 1 and "terminal" in shown and "NRRD0" not in shown, f"no NRRD on the terminal: {status} {shown[:200]}")
status, shown = at_terminal(["fit"])
check(status == 2 and "an input is needed" in shown, f"-i forgotten: {status} {shown[:200]}")
with open("piped.nrrd", "wb") as file:
    status, shown = at_terminal(["fit", "-i", "dwi.nrrd", "--model", "adc", "--order", 4], stdout=file)
check(status == 0 and open("piped.nrrd", "rb").read(4) == b"NRRD", "a file instead of the terminal")
status, shown = at_terminal(["run", "--help"])
check(status == 0 and max(map(len, shown.replace("\r", "").split("\n"))) <= 100, "help fits")
end()
