"""Arrays that other libraries have in a GPU's memory: computed on where they are. PyTorch's and CuPy's on their
library's current stream; those of others (JAX, by DLPack) on the default stream, which their library makes wait for
its own work, and the call waits for its results. Results are arrays of the same library."""
import ctypes
import functools
import glob
import math
import os
import sys

import numpy as np

_CUDA = 2, 13  # device types of DLPack: memory of a GPU, managed memory
_KINDS = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}  # type codes of DLPack


class _DLTensor(ctypes.Structure):
    """The first members of DLPack's struct."""
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64)]


_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.argtypes, _capsule_pointer.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p


def is_there(array):
    """Whether it is an array in a GPU's memory."""
    if isinstance(array, (np.ndarray, list, tuple, int, float)):
        return False
    is_cuda = getattr(array, "is_cuda", None)
    if is_cuda is not None:  # PyTorch: what needs a gradient has no interface
        return bool(is_cuda)
    if getattr(array, "__cuda_array_interface__", None) is not None:
        return True
    return hasattr(array, "__dlpack_device__") and array.__dlpack_device__()[0] in _CUDA


@functools.lru_cache(None)
def load_cusolver():
    """Loads cuSOLVER from the packages that pip installs for PyTorch and CuPy, whose folders are on no search path; the
    library then finds it by its name. Without effect where there are none."""
    for folder in sys.path:
        for path in glob.glob(os.path.join(glob.escape(folder), "nvidia", "*", "lib", "libcusolver.so.1[0-9]")):
            try:
                ctypes.CDLL(path)
                return
            except OSError:
                pass  # of another version of CUDA, or incomplete


@functools.lru_cache(None)
def _numpy_type(dtype):
    """The NumPy type of a PyTorch type, or None."""
    return getattr(np, str(dtype).partition(".")[2].replace("bool", "bool_"), None)


@functools.lru_cache(None)
def _type_of(functions, kind):
    """A library's type of NumPy's."""
    return getattr(functions, np.dtype(kind).name)


@functools.lru_cache(None)
def _library_of(kind):
    return kind.__module__.partition(".")[0]


def _library(array):
    return _library_of(type(array))


@functools.lru_cache(None)
def _torch_stream():
    """The function for the address of PyTorch's current stream; the fast one if this version has it."""
    torch = sys.modules["torch"]
    quick = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    return quick or (lambda device: torch.cuda.current_stream(device).cuda_stream)


@functools.lru_cache(None)
def _place(device):
    return f"cuda:{device}"


class There:
    """Address, type and strides (in elements) of a GPU array. Nothing is copied: an unsupported type or memory order
    raises an error that names the remedy."""

    __slots__ = ("owner", "shape", "dtype", "pointer", "device", "waits", "_strides", "_contiguous", "_stream",
                 "_capsule")

    def __init__(self, name, array, kinds, shape=None, contiguous=True):
        library = _library(array)
        self.waits, self._contiguous = False, None  # waits: whether a call is to wait for its results
        if library == "torch":
            array = self._of_torch(array)
        elif library == "cupy":
            self._of_cupy(array)
        elif hasattr(array, "__dlpack__"):
            self._of_dlpack(array)
        else:
            self._of_interface(array.__cuda_array_interface__)
        self.owner = array
        if self.dtype not in kinds:
            wanted = " or ".join(np.dtype(kind).name for kind in kinds)
            raise TypeError(f"{name}: on the GPU {wanted} is needed, not {getattr(self.dtype, '__name__', self.dtype)}")
        if contiguous and not self.is_contiguous():
            raise ValueError(f"{name}: on the GPU it must be contiguous (array.contiguous(), ascontiguousarray)")
        if shape is not None and self.shape != tuple(shape):
            raise ValueError(f"{name}: its shape is {self.shape}, not {tuple(shape)}")

    def _of_torch(self, array):
        kind = array.dtype
        if array.is_neg() or (kind.is_complex and array.is_conj()):  # the values are others than those in memory
            array = array.resolve_conj().resolve_neg()
        self.shape, self._strides, self.pointer = tuple(array.shape), array.stride, array.data_ptr() or None
        self.dtype, self.device = _numpy_type(kind) or kind, array.get_device()
        self._contiguous, self._stream = array.is_contiguous(), _torch_stream()
        return array

    def _of_cupy(self, array):
        self.shape, self.dtype, self.pointer = array.shape, array.dtype.type, array.data.ptr or None
        self._strides = tuple(stride // array.itemsize for stride in array.strides)
        self.device, self._stream = array.device.id, lambda device: sys.modules["cupy"].cuda.get_current_stream().ptr

    def _of_dlpack(self, array):
        self._capsule = array.__dlpack__(stream=1)  # 1: the default stream, as CUDA's runtime and DLPack write it
        about = _DLTensor.from_address(_capsule_pointer(self._capsule, b"dltensor"))
        self.shape = tuple(about.shape[:about.ndim])
        self._strides = tuple(about.strides[:about.ndim]) if about.strides else dense(self.shape)
        known = about.lanes == 1 and about.code in _KINDS
        self.dtype = np.dtype(f"{_KINDS[about.code]}{about.bits // 8}").type if known else f"DLPack's {about.code}"
        self.pointer = about.data + about.offset if about.data else None
        self.device, self._stream, self.waits = about.device, lambda device: 1, True

    def _of_interface(self, about):
        kind = np.dtype(about["typestr"])
        self.shape, self.dtype, strides = tuple(about["shape"]), kind.type, about.get("strides")
        self._strides = tuple(stride // kind.itemsize for stride in strides) if strides else dense(self.shape)
        self.pointer, self.device, self._stream = about["data"][0] or None, 0, lambda device: about.get("stream")

    @property
    def strides(self):
        return self._strides() if callable(self._strides) else self._strides

    @property
    def place(self):
        """Its GPU, as `device=` has it."""
        return _place(self.device)

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def size(self):
        return math.prod(self.shape)

    def stream(self):
        """The address of the stream that the array's library is queueing on."""
        return self._stream(self.device)

    def is_contiguous(self, swapped=False):
        """Whether its elements lie one after the other; swapped: with the last two axes exchanged."""
        if self._contiguous is not None and not swapped:
            return self._contiguous
        shape, strides = list(self.shape), list(self.strides)
        if swapped:
            shape[-2:], strides[-2:] = shape[:-3:-1], strides[:-3:-1]
        expected = 1
        for size, stride in zip(reversed(shape), reversed(strides)):
            if size > 1 and stride != expected:
                return 0 in shape
            expected *= size
        return True

    def _namespace(self):
        """The functions of an array's library."""
        library = _library(self.owner)
        if library in ("torch", "cupy"):
            return sys.modules[library]
        if hasattr(self.owner, "__array_namespace__"):
            return self.owner.__array_namespace__()
        raise TypeError(f"out: results beside arrays of {library} need arrays to go to")

    def new(self, shape, dtype):
        """An empty array of the same library on the same device."""
        library = _library(self.owner)
        if library == "torch":
            return self.owner.new_empty(shape, dtype=_type_of(sys.modules[library], dtype))
        functions = self._namespace()
        if library == "cupy":
            return functions.empty(shape, dtype)
        return functions.empty(shape, dtype=getattr(functions, np.dtype(dtype).name), device=self.owner.device)

    def packed(self, name, swapped):
        """This array or a copy whose elements lie one after the other; swapped: those of its transposed matrices."""
        if self.is_contiguous(swapped):
            return self
        library = _library(self.owner)
        if library not in ("torch", "cupy") and not hasattr(self.owner, "__array_namespace__"):
            order = ", column by column" if swapped else ""
            raise ValueError(f"{name}: on the GPU arrays of {library} must be contiguous{order}")
        if library == "torch":
            copy = self.owner.detach()
            copy = (copy.transpose(-1, -2) if swapped else copy).contiguous()
        elif library == "cupy":
            copy = self._namespace().ascontiguousarray(self.owner.swapaxes(-1, -2) if swapped else self.owner)
        else:
            functions = self._namespace()
            copy = functions.matrix_transpose(self.owner) if swapped else functions.asarray(self.owner, copy=True)
        return There(name, copy, [self.dtype])

    def padded(self, name):
        """Its copy with a further column."""
        functions = self._namespace()
        if _library(self.owner) == "torch":
            copy = functions.nn.functional.pad(self.owner.detach(), (0, 1))
        else:
            copy = functions.pad(self.owner, [(0, 0)] * (self.ndim - 1) + [(0, 1)])
        return There(name, copy, [self.dtype])


def dense(shape):
    strides, step = [], 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= size
    return tuple(strides)


class _New:
    """A new array of PyTorch: of it nothing is needed but where it is."""

    __slots__ = ("owner", "pointer")

    def __init__(self, array):
        self.owner, self.pointer = array, array.data_ptr() or None


class Output:
    """A result beside `like`: the caller's `out`, or a new one."""

    __slots__ = ("array",)

    def __init__(self, like, shape, dtype, out):
        if out is None:
            made = like.new(shape, dtype)
            self.array = _New(made) if _library(made) == "torch" else There("out", made, [dtype], shape)
            return
        if not is_there(out):
            raise TypeError(f"out: the data are in a GPU's memory, and so must the results be, not a "
                            f"{type(out).__name__} of the host")
        self.array = There("out", out, [dtype], shape)
        if self.array.owner is not out:
            raise ValueError("out: a negated view cannot be written to")

    def done(self):
        return self.array.owner
