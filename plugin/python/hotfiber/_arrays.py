"""NumPy arrays in and out: any type, order and leading shape, as the C library takes them."""
import ctypes
import functools

import numpy as np

from . import _declarations as c
from . import _gpu


class _ArrayStruct(ctypes.Structure):
    """NumPy's PyArrayInterface. The dictionary of the array interface says the same and takes three times as long."""
    _fields_ = [("two", ctypes.c_int), ("axes", ctypes.c_int), ("kind", ctypes.c_char), ("size", ctypes.c_int),
                ("flags", ctypes.c_int), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
                ("data", ctypes.c_void_p)]


_pointer_at, _data_at = ctypes.c_void_p.from_address, _ArrayStruct.data.offset


def address(array):
    """Where an array's data are; None for no array."""
    if isinstance(array, np.ndarray):
        return _pointer_at(_gpu._capsule_pointer(array.__array_struct__, None) + _data_at).value
    return None if array is None else array.pointer


def unmasked(array):
    """An array without a mask: NaN, which is no number either, where one was masked."""
    if not isinstance(array, np.ma.MaskedArray):
        return array
    if not np.ma.is_masked(array):
        return array.data
    return array.astype(np.result_type(array.dtype, np.float32), copy=False).filled(np.nan)


def host(name, array):
    """A NumPy array of data in the host's memory, also of objects that only support DLPack."""
    if _gpu.is_there(array):
        raise TypeError(f"{name}: an array in the host's memory is needed here (array.cpu(), cupy.asnumpy(array)); "
                        "those of a GPU go to sshopm, directions, lowrank, heev, tridiag, contract, denoise and "
                        "deconvolve")
    if hasattr(array, "__dlpack__") and not hasattr(array, "__array__"):
        return np.from_dlpack(array)
    return np.asarray(unmasked(array))


def real(name, array, dtype=None, there=False):
    """A C-ordered array of float32 or float64 in the machine's byte order: `dtype`, or float32 where the array is
    that, else float64. Copies nothing that is right already. there: of an array in a GPU's memory, which is refused
    otherwise, what describes it."""
    if there and _gpu.is_there(array):
        return _gpu.There(name, array, [np.float32, np.float64] if dtype is None else [dtype])
    array = host(name, array)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name}: an array of real numbers is needed, not of {array.dtype}")
    if dtype is None:
        dtype = np.float32 if array.dtype.newbyteorder("=") == np.float32 else np.float64
    return np.ascontiguousarray(array, dtype) if array.ndim else array.astype(dtype)


def mask_bytes(mask, shape, like=None):
    """A mask as bytes of this shape, or None. Values other than 0 and NaN are inside. In GPU memory if `like` is."""
    if mask is None:
        return None
    if isinstance(like, _gpu.There):
        if not _gpu.is_there(mask):
            raise TypeError("mask: the data are in a GPU's memory, and so must the mask be")
        return _gpu.There("mask", mask, [np.bool_, np.uint8], shape)
    mask = host("mask", mask)
    if mask.dtype.kind not in "fiubc":
        raise TypeError(f"mask: an array of numbers or booleans is needed, not of {mask.dtype}")
    if mask.shape != tuple(shape):
        raise ValueError(f"mask: its shape is {mask.shape}, that of the data {tuple(shape)}")
    inside = mask != 0
    if mask.dtype.kind in "fc":
        inside &= mask == mask
    return np.ascontiguousarray(inside).view(np.uint8)


class Output:
    """The output array of a call: the caller's `out` if its layout fits, else a new one that done() copies to it."""

    __slots__ = ("array", "is_new", "_out")

    def __init__(self, shape, dtype, out=None, name="out"):
        self._out, self.is_new = None, True
        if out is None:
            self.array = np.empty(shape, dtype)
            return
        if isinstance(out, np.ndarray) and out.shape == shape and out.dtype == dtype and out.flags.carray:
            self.array, self.is_new = out, False
            return
        if not isinstance(out, np.ndarray):
            raise TypeError(f"{name}: a NumPy array is needed, not a {type(out).__name__}")
        if out.shape != tuple(shape):
            raise ValueError(f"{name}: its shape is {out.shape}, that of the result {tuple(shape)}")
        if out.dtype != dtype and not np.can_cast(dtype, out.dtype, "same_kind"):
            raise TypeError(f"{name}: {np.dtype(dtype)} does not go into {out.dtype}")
        if not out.flags.writeable:
            raise ValueError(f"{name}: it is read-only")
        self.array, self._out = np.empty(shape, dtype), out

    def done(self):
        """The filled array."""
        if self._out is None:
            return self.array
        np.copyto(self._out, self.array, casting="same_kind")
        return self._out


def outputs(out, *specs, like=None):
    """An Output for each of `specs`, (shape, dtype). out: None, or a tuple of arrays and Nones, at most one for each;
    for a single result also an array. Beside `like`, when that is in a GPU's memory."""
    if out is None:
        out = ()
    elif isinstance(out, np.ndarray) or _gpu.is_there(out):
        out = (out,)
    if not isinstance(out, (tuple, list)) or len(out) > len(specs):
        raise TypeError(f"out: None, an array or a tuple of at most {len(specs)} arrays is needed")
    out = tuple(out) + (None,) * (len(specs) - len(out))
    if isinstance(like, _gpu.There):
        return [_gpu.Output(like, shape, dtype, one) for (shape, dtype), one in zip(specs, out)]
    return [Output(shape, dtype, one) for (shape, dtype), one in zip(specs, out)]


def overlaps(inputs, results):
    """Whether a result (an Output) lies where an input does: then the input must be copied first. On the GPU that is
    the caller's affair."""
    if isinstance(inputs[0], _gpu.There):
        return False
    return any(np.may_share_memory(a, b.array) for b in results if not b.is_new for a in inputs if a is not None)


def choice(name, value, choices):
    """The constant of a word."""
    try:
        return choices[value]
    except (KeyError, TypeError):
        raise ValueError(f"{name}: it is one of {', '.join(map(repr, choices))}, not {value!r}") from None


def count(name, value, least, most):
    """A whole number within bounds."""
    try:
        if least <= value <= most and int(value) == value:
            return int(value)
    except (TypeError, ValueError):
        pass
    raise ValueError(f"{name}: a whole number from {least} to {most} is needed, not {value!r}")


def struct(kind, **named):
    """A struct of options of the library with its size and these values."""
    return fill(kind(size=ctypes.sizeof(kind)), **named)


def fill(made, **named):
    """Sets members of a struct; a value that does not fit raises an error that names it."""
    for name, value in named.items():
        try:
            setattr(made, name, value)
        except TypeError:
            whole = isinstance(getattr(made, name), int)
            raise TypeError(f"{name}: a {'whole ' if whole else ''}number is needed, not {value!r}") from None
        if isinstance(value, int) and getattr(made, name) != value:
            raise ValueError(f"{name}: {value} is out of bounds")
    return made


def number(value):
    """A number as an option of the library, whose 0 is the default and whose HOT_ZERO is 0: None and negative numbers
    are the default here."""
    try:
        return 0 if value is None or value < 0 else c.HOT_ZERO if value == 0 else value
    except (TypeError, ValueError):
        return value  # struct says what it is


_kept = functools.lru_cache(256)(struct)


def options(kind, **named):
    """The same, used again for the same values and never changed."""
    try:
        return _kept(kind, **named)
    except TypeError:
        return struct(kind, **named)  # of what cannot be looked up; it says which value that is
