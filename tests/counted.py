"""Counted checks: a test continues after a failed check, and ends with the numbers of both."""
import sys

passed = failed = 0


def check(condition, text):
    """Prints a failed check."""
    global passed, failed
    if condition:
        passed += 1
    else:
        failed += 1
        print("not so:", text, flush=True)
    return bool(condition)


def end():
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


def raises(kind, word, function, *arguments, **named):
    """A call that raises this kind of exception, with `word` in its text."""
    try:
        function(*arguments, **named)
    except Exception as error:
        check(isinstance(error, kind) and word in str(error), f"{kind.__name__} with '{word}', not {error!r}")
    else:
        check(False, f"{kind.__name__} with '{word}': nothing was raised")
