"""Shared by the tests of files."""
import os
import subprocess

from counted import check, end  # noqa: F401


def refused(call, output, status, word):
    """A command that makes no sense: one line that has `word`, this status, and nothing written to `output`."""
    if os.path.exists(output):
        os.remove(output)
    got = subprocess.run(call, capture_output=True, text=True)
    check(got.returncode == status and word in got.stderr and got.stderr.count("\n") == 1, "%s: %s" % (call, got))
    check(not os.path.exists(output), "nothing written for %s" % call)
