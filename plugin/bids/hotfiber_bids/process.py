"""Running the command hotfiber: where it is, what it says, how it ended, what it took."""
import ctypes
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time

from .text import shown

LAST = 64 << 10 # bytes of its output to search for the last line
_running = set()
_lock = threading.Lock()
_stopping = False
_libc = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1


def _end_with_parent():
    """In the child: it is stopped where this program is killed, so that nobody works on unseen."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def command():
    """The path of hotfiber: $HOTFIBER, the one next to this program, or the one on the path."""
    here = [os.path.join(os.path.dirname(os.path.abspath(place)), "hotfiber")
            for place in (sys.argv[0], sys.executable)]
    for path in [os.environ.get("HOTFIBER", ""), *here, shutil.which("hotfiber") or ""]:
        if path and os.path.isfile(path) and os.access(path, os.X_OK):
            return os.path.abspath(path)
    raise SystemExit("hotfiber-bids: the command hotfiber is neither next to this program nor on the path")


def version():
    done = subprocess.run([command(), "--version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    words = done.stdout.split()
    return words[1] if len(words) > 1 else "unknown"


def free_memory():
    """The available memory in MB, within the control group if there is one; None if unknown."""
    def read(path, pattern):
        try:
            with open(path, encoding="ascii") as file:
                return int(re.search(pattern, file.read()).group(1))
        except (OSError, AttributeError, ValueError):
            return None

    free = read("/proc/meminfo", r"MemAvailable: *(\d+) kB")
    most, used = (read(f"/sys/fs/cgroup/memory.{name}", r"^(\d+)\s*$") for name in ("max", "current"))
    known = [free / 1024] if free is not None else []
    known += [(most - used) / 1048576] if most is not None and used is not None else []
    return min(known) if known else None


class Ended:
    """The result of a process: a shell's status, its last line, wall-clock and CPU seconds."""

    def __init__(self, status, message, seconds, cpu_seconds):
        self.status, self.message, self.seconds, self.cpu_seconds = status, message, seconds, cpu_seconds

    @property
    def explained(self):
        """hotfiber looked at data and options and said what is wrong: again would be no different."""
        return self.status in (1, 2)


def run(arguments, log, folder):
    """Runs hotfiber with these arguments in a folder; what it says is added to the file `log`."""
    began = time.monotonic()
    os.makedirs(os.path.dirname(log), exist_ok=True)
    with open(log, "a", encoding="utf-8") as file:
        file.write(f"$ hotfiber {shown(shlex.join(arguments))}\n")
    with open(log, "ab") as file:
        at = file.tell()
        with _lock:
            if _stopping:
                raise SystemExit(143)
            process = subprocess.Popen([command(), *arguments, "--confine"], stdin=subprocess.DEVNULL, stdout=file,
                                       stderr=file, cwd=folder, preexec_fn=_end_with_parent)
            _running.add(process)
    _, status, used = os.wait4(process.pid, 0)
    with _lock:
        _running.discard(process)
        process.returncode = os.waitstatus_to_exitcode(status)
    with open(log, "rb") as file:
        file.seek(max(at, os.path.getsize(log) - LAST))
        lines = file.read(LAST).decode(errors="replace").strip().splitlines()
    code, message = process.returncode, lines[-1].strip() if lines else ""
    if code < 0:
        name = signal.Signals(-code).name if -code in signal.Signals._value2member_map_ else f"signal {-code}"
        message = f"hotfiber was killed by {name}" + (
            ": most likely more memory was needed than there was (--mem bounds it)" if -code == signal.SIGKILL else "")
        code = 128 - code
    for prefix in ("hotfiber run: ", "hotfiber learn: ", "hotfiber merge: ", "hotfiber: "):
        message = message[len(prefix):] if message.startswith(prefix) else message
    return Ended(code, message or f"hotfiber ended with status {code} and said nothing",
                 time.monotonic() - began, used.ru_utime + used.ru_stime)


def _stop(number, _):
    """Ends what runs, then this program, as the signal would have."""
    global _stopping
    _stopping = True
    for process in list(_running):
        try:
            process.send_signal(signal.SIGTERM)
        except OSError:
            pass
    os._exit(128 + number)


def stop_on_signals():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
