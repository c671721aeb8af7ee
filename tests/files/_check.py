"""Checks that are counted: a test goes on after one has failed, and ends with their number."""
import sys

failures = 0


def check(condition, text):
    """Says what is not so."""
    global failures
    if not condition:
        failures += 1
        print("FAILED:", text)


def end():
    print("%d failures" % failures)
    sys.exit(1 if failures else 0)
