"""Refuses interpreters with their own lock, before NumPy is imported: some versions of NumPy end the process there
("free(): invalid pointer", NumPy 2.2 with Python 3.13) instead of raising ImportError."""
import importlib

try:
    _interpreters = importlib.import_module("_interpreters")  # unknown to checkers of older versions
    isolated = _interpreters.get_config(_interpreters.get_current()[0]).check_multi_interp_extensions
except (ImportError, AttributeError):  # Python before 3.13
    isolated = False
if isolated:
    raise ImportError("hotfiber needs NumPy, which an interpreter with its own lock cannot import: "
                      "use threads or processes")
