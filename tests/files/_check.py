"""Counted checks: a test continues after a failed check, and ends with their number."""
import os
import subprocess
import sys

failures = 0


def check(condition, text):
    """Prints a failed check."""
    global failures
    if not condition:
        failures += 1
        print("FAILED:", text)


def refused(call, output, status, word):
    """A command that makes no sense: one line that has `word`, this status, and nothing written to `output`."""
    if os.path.exists(output):
        os.remove(output)
    got = subprocess.run(call, capture_output=True, text=True)
    check(got.returncode == status and word in got.stderr and got.stderr.count("\n") == 1, "%s: %s" % (call, got))
    check(not os.path.exists(output), "nothing written for %s" % call)


def end():
    print("%d failures" % failures)
    sys.exit(1 if failures else 0)
