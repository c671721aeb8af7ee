"""Ends programs that sleep forever, but not those that wait for a processor on a busy machine."""
import collections
import os
import pathlib
import signal
import time

SAMPLES, EVERY = 150, 2  # a program that sleeps through 95 % of so many looks, so many seconds apart, is not slow


def descendants(pid):
    """Of a process, as the machine's own namespace sees them."""
    children = collections.defaultdict(list)
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            children[int(path.read_text().rsplit(")", 1)[1].split()[1])].append(int(path.parent.name))
        except (OSError, IndexError):
            pass  # it has just ended
    found = [pid]
    for one in found:
        found += children[one]
    return found


def is_active(pid):
    """Whether a thread of these processes runs, waits for a processor or for a disk."""
    for one in descendants(pid):
        for path in pathlib.Path("/proc/%d/task" % one).glob("*/stat"):
            try:
                if path.read_text().rsplit(")", 1)[1].split()[0] in "RD":
                    return True
            except (OSError, IndexError):
                pass
    return False


def watch(pid, ended, verdict):
    """Ends what waits for something that never comes; on a busy machine a program waits for a processor instead."""
    looks = collections.deque(maxlen=SAMPLES)
    begin = time.monotonic()
    while not ended.wait(EVERY):
        looks.append(is_active(pid))
        asleep = len(looks) == SAMPLES and sum(looks) <= SAMPLES // 20
        if asleep or time.monotonic() - begin > 3600:
            verdict.append("hung" if asleep else "undecided")
            os.killpg(pid, signal.SIGKILL)
            return
