"""The C library: loading it, its contexts, its errors.

A context serves one thread at a time. Contexts are kept for the next call with the same device, number of threads and
seed, because one that has computed on a GPU keeps memory there."""
import ctypes
import glob
import logging
import os
import re
import warnings

import numpy as np

from . import _declarations as c
from ._arrays import count
from ._gpu import There

_here = os.path.dirname(os.path.abspath(__file__))
_logger = logging.getLogger("hotfiber")


class Error(Exception):
    """An error of the library. The message names the problem, the value, and what would be right."""

    parameter = ""  #: the library's name of the argument at fault, or ""


class ArgumentError(Error, ValueError):
    """An argument is out of its bounds."""


class DataError(Error, ValueError):
    """The computation is not possible with these data."""


class FormatError(Error, ValueError):
    """The content of a file is invalid or not supported."""


class FileError(Error, OSError):
    """A file cannot be opened, read or written."""


class DeviceError(Error, RuntimeError):
    """There is no usable GPU, or it failed."""


class OutOfMemory(Error, MemoryError):
    """An allocation failed, or a size overflows."""


class HotfiberWarning(UserWarning):
    """Something about the data that results may suffer from."""


_KINDS = {c.HOT_ERROR_MEMORY: OutOfMemory, c.HOT_ERROR_ARGUMENT: ArgumentError, c.HOT_ERROR_FILE: FileError,
          c.HOT_ERROR_FORMAT: FormatError, c.HOT_ERROR_DATA: DataError, c.HOT_ERROR_DEVICE: DeviceError}


class _Library:
    """The functions of the C library, each looked up when it is first used."""

    def __init__(self):
        self._handle = ctypes.CDLL(os.path.join(_here, "libhotfiber_python.so"))

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        function = getattr(self._handle, name)
        function.restype, function.argtypes = c.FUNCTIONS[name]
        setattr(self, name, function)
        return function


lib = _Library()
for _path in glob.glob(os.path.join(glob.escape(os.path.dirname(os.path.dirname(np.__file__))), "numpy.libs",
                                    "libscipy_openblas64_*")):
    lib.hot_python_offer_lapack(os.fsencode(_path))


def _addresses():
    def address(name):
        return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
    return c.hot_python_functions(address("PyGILState_Ensure"), address("PyGILState_Release"),
                                  address("PyErr_CheckSignals"), address("PyObject_CallFunction"),
                                  address("PyErr_Fetch"), address("Py_DecRef"))


_functions = _addresses()
_restore = ctypes.pythonapi.PyErr_Restore
_restore.argtypes, _restore.restype = [ctypes.c_void_p] * 3, None


# The library's messages name the command's options.
_OPTIONS = {"diffusivities": "response=(axial, radial)", "force_table": "force_table=True",
            **{name: f"{name}=" for name in ("response", "sigma", "order")}}


def in_python(message):
    """A message of the library with Python's parameters in place of the command's options."""
    message = re.sub(r"`[^`]*`|--([a-z_]+)(?: (\d+))?", lambda found: found[0] if
                     found[1] not in _OPTIONS else _OPTIONS[found[1]] + (found[2] or ""), message)
    return message.replace("`hotfiber check`", "`python3 -m hotfiber check FILE`")


def _log(level, line):
    line = in_python(line)
    if level == c.HOT_LOG_WARNING:
        warnings.warn(line, HotfiberWarning, stacklevel=3)
    else:
        _logger.info("%s", line)


_usual = c.HOT_DEVICE_AUTO  # what "auto" is


def _device(text):
    """The device and its number in the library's terms."""
    simple = {"auto": _usual, "cpu": c.HOT_DEVICE_CPU, "cuda": c.HOT_DEVICE_CUDA,
              "reference": c.HOT_DEVICE_REFERENCE}
    if isinstance(text, str) and text in simple:
        return simple[text], -1
    if isinstance(text, str) and text.startswith("cuda:") and text[5:].isdecimal():
        return c.HOT_DEVICE_CUDA, int(text[5:])
    raise ArgumentError(f"device: it is 'auto', 'cpu', 'cuda' or 'cuda:N', not {text!r}")


class _Slot:
    """A context with what its callbacks need, which must not move."""

    def __init__(self, device, threads, seed):
        number = _device(device)
        threads, seed = count("threads", threads, 0, 2**31 - 1), count("seed", seed, 0, 2**64 - 1)
        self.call = c.hot_python_call()
        self.call.functions = ctypes.addressof(_functions)
        self.address = ctypes.addressof(self.call)
        self.call.log = id(_log)
        handle = ctypes.c_void_p()
        status = lib.hot_python_context(self.address, *number, threads, seed, ctypes.byref(handle))
        if status != c.HOT_OK:
            raise _KINDS[status](f"no context with threads={threads}")
        self.handle = handle.value
        self.stream = None  # (its address,), for arrays in a GPU's memory

    def destroy(self):
        lib.hot_context_destroy(ctypes.byref(ctypes.c_void_p(self.handle)))


_free: dict = {}  # (device, threads, seed, whether for arrays in a GPU's memory): slots that nobody uses
_KEPT = 8  # of these keys


def _forget():
    """In the child of a fork: contexts are the parent's, threads and GPU memory with them. CUDA cannot be used in the
    child of a process that has used it."""
    global _usual
    if any(lib.hot_context_device_used(slot.handle) == c.HOT_DEVICE_CUDA for slots in _free.values() for slot in slots):
        _usual = c.HOT_DEVICE_CPU
    _free.clear()


os.register_at_fork(before=lib.hot_python_before_fork, after_in_child=_forget)


def _drop_oldest():
    try:
        slots = _free.pop(next(iter(_free)))
        while slots:
            slots.pop().destroy()  # out of the list first: another thread may just be taking from it
    except (KeyError, IndexError, RuntimeError, StopIteration):  # another thread was first
        pass


class Context:
    """`with Context(options) as context:` takes a context for calls of this thread; `context.check(status)` raises what
    a call has failed with."""

    __slots__ = ("_key", "_slot", "_progress", "_there", "handle")

    def __init__(self, device="auto", threads=0, seed=0, progress=None, like=None):
        if type(like) is There:
            here = like.place
            if device not in ("auto", "cuda", here):
                raise ArgumentError(f"device: the arrays are in the memory of {here}, not of {device}")
            self._there, self._key = like, (here, threads, seed, True)
        else:
            self._there, self._key = None, (device, threads, seed, False)
        self._progress = progress
        if progress is not None and not callable(progress):
            raise TypeError(f"progress: it is called with a stage and a fraction, not a {type(progress).__name__}")

    def __enter__(self):
        try:
            slot = _free[self._key].pop()
        except (KeyError, IndexError, TypeError):  # the last: it says which argument cannot be
            slot = _Slot(*self._key[:3])
        if self._progress is not None:
            slot.call.progress = id(self._progress)
        lib.hot_python_begin(slot.address)
        self._slot = slot
        self.handle = slot.handle
        if self._there is not None:
            stream = (self._there.stream(),)
            if slot.stream != stream:
                slot.stream = None
                status = lib.hot_context_set_memory(self.handle, c.HOT_MEMORY_DEVICE, *stream)
                if status != c.HOT_OK:
                    try:
                        self.check(status)
                    finally:
                        self.__exit__(Error)
                slot.stream = stream
        return self

    def __exit__(self, *error):
        slot = self._slot
        if self._progress is not None:
            slot.call.progress = None
        if self._there is not None and self._there.waits:
            waited = lib.hot_context_wait(self.handle)
            if waited != c.HOT_OK and error[0] is None:
                try:
                    self.check(waited)
                finally:
                    slot.destroy()
        if slot.call.stop:  # a context that was cancelled stays so
            slot.destroy()
            return
        kept = _free.get(self._key)
        if kept is not None:
            kept.append(slot)
            return
        _free.setdefault(self._key, []).append(slot)
        if len(_free) > _KEPT:
            _drop_oldest()

    def check(self, status):
        """Raises what the call failed with, if it did."""
        call = self._slot.call
        if call.type:
            kept = call.type, call.value, call.trace
            call.type = call.value = call.trace = None
            _restore(*kept)  # raises it
        if status == c.HOT_OK:
            return
        message = in_python(lib.hot_context_message(self.handle).decode(errors="replace"))
        error = _KINDS.get(status, Error)(message)
        error.parameter = lib.hot_context_parameter(self.handle).decode()
        raise error


def version() -> str:
    """The version of the C library, "major.minor.patch"."""
    return lib.hot_version().decode()


def use_fonts():
    """Tells the library that draws text where fonts are, if the system does not, or tells another version of fontconfig
    than the wheel's: it would print warnings."""
    if not os.path.exists("/etc/fonts/fonts.conf") or glob.glob(_here + "/../hotfiber.libs/libfontconfig*"):
        os.environ.setdefault("FONTCONFIG_FILE", os.path.join(_here, "fonts.conf"))


def command() -> str:
    """The path of the command `hotfiber` in this package."""
    return os.path.join(_here, "bin", "hotfiber")
