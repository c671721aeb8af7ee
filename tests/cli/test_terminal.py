"""What a user at a terminal sees: a bar on standard error, a line of its own for errors, Ctrl-C, no NRRD on the
screen."""
import pty
import select
import shutil
import sys
import time

from cli import *

shutil.rmtree("work", ignore_errors=True)
os.mkdir("work")
os.chdir("work")
try:
    for end_of_pair in pty.openpty():
        os.close(end_of_pair)
except OSError as reason:
    print(f"skipped: this machine gives no terminal ({reason})")
    sys.exit(77)
works("phantom", "--layout", "bundles", "--size", "40,40,16", "-o", "dwi.nrrd", "--quiet")


def at_terminal(arguments, keys=None, stdout=None):
    """Runs the command with a terminal for standard input and error (and output, unless a file is given); keys are
    typed as soon as the first bar is seen. Returns the status and what the terminal showed."""
    main, side = pty.openpty()
    process = subprocess.Popen([HOTFIBER, *map(str, arguments)], stdin=side, stdout=stdout or side, stderr=side,
                               start_new_session=True,
                               preexec_fn=lambda: __import__("fcntl").ioctl(0, __import__("termios").TIOCSCTTY, 0))
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


status, shown = at_terminal(["run", "-i", "dwi.nrrd", "-o", "out"])
check(status == 0, f"status {status}: {shown}")
check("[####" in shown and "100 %" in shown, "a bar is drawn")
lines = [line.split("\r")[-1] for line in shown.replace("\r\n", "\n").split("\n")]
check(any(line.startswith("  voxels in the mask") for line in lines), f"the table begins on a line of its own: {lines}")
check(not any("%]" in line or ("..." in line and "voxels in" in line) for line in lines), "bars and text do not mix")
stages = {line.split("[")[0].strip() for line in shown.replace("\n", "\r").split("\r") if "[" in line}
check(len(stages) >= 3, f"the bar says what is done: {stages}")

status, shown = at_terminal(["run", "-i", "dwi.nrrd", "-o", "quiet", "--quiet"])
check(status == 0 and "#" not in shown and "%" not in shown, f"--quiet: {shown}")

before = tree()
status, shown = at_terminal(["run", "-i", "dwi.nrrd", "-o", "stopped", "--method", "sshopm", "--starts", 500],
                            keys=b"\x03")
check(status == 1, f"Ctrl-C: status {status}")
last = shown.replace("\r\n", "\n").rstrip("\n").split("\n")[-1].split("\r")[-1]
check(last.startswith("hotfiber run: cancelled"), f"Ctrl-C: the message has a line of its own: {last}")
check(tree() == before, "Ctrl-C leaves nothing")

status, shown = at_terminal(["fit", "-i", "dwi.nrrd", "--quiet"])
check(status == 1 and "terminal" in shown and "NRRD0" not in shown, f"no NRRD on the terminal: {status} {shown[:200]}")
status, shown = at_terminal(["fit"])
check(status == 2 and "-i FILE is needed" in shown, f"-i forgotten: {status} {shown[:200]}")
with open("piped.nrrd", "wb") as file:
    status, shown = at_terminal(["fit", "-i", "dwi.nrrd", "--model", "adc", "--order", 4], stdout=file)
check(status == 0 and open("piped.nrrd", "rb").read(4) == b"NRRD", "a file instead of the terminal")
status, shown = at_terminal(["run", "--help"])
check(status == 0 and max(map(len, shown.replace("\r", "").split("\n"))) <= 100, "help fits")
end()
