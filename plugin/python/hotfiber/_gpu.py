"""Arrays that other libraries have in a GPU's memory (`__cuda_array_interface__`: PyTorch, CuPy, Numba, JAX): computed
on where they are, on their library's current stream. Results are arrays of the same library."""
import sys

import numpy as np


def is_there(array):
    """Whether it is an array in a GPU's memory."""
    if isinstance(array, (np.ndarray, list, tuple, int, float)):
        return False
    if hasattr(array, "is_cuda"):  # PyTorch: what needs a gradient has no interface
        return bool(array.is_cuda)
    return getattr(array, "__cuda_array_interface__", None) is not None


class There:
    """What the library needs to know of such an array. Nothing is copied: another type or order than is needed is an
    error that says what to do."""

    __slots__ = ("owner", "shape", "dtype", "pointer", "device", "stream")

    def __init__(self, name, array, kinds, shape=None):
        about = (array.detach() if hasattr(array, "is_cuda") else array).__cuda_array_interface__
        self.owner, self.shape, self.dtype = array, tuple(about["shape"]), np.dtype(about["typestr"])
        if self.dtype not in [np.dtype(kind) for kind in kinds]:
            wanted = " or ".join(str(np.dtype(kind)) for kind in kinds)
            raise TypeError(f"{name}: on the GPU {wanted} is needed, not {self.dtype}")
        strides, expected = about.get("strides"), self.dtype.itemsize
        for size, stride in zip(reversed(self.shape), reversed(strides or ())):
            if size > 1 and stride != expected:
                raise ValueError(f"{name}: on the GPU it must be contiguous (array.contiguous(), ascontiguousarray)")
            expected *= size
        if shape is not None and self.shape != tuple(shape):
            raise ValueError(f"{name}: its shape is {self.shape}, not {tuple(shape)}")
        self.pointer = about["data"][0] or None
        library = type(array).__module__.partition(".")[0]
        self.device, self.stream = 0, about.get("stream")
        if library == "torch":
            self.device = array.device.index
            self.stream = sys.modules["torch"].cuda.current_stream(array.device).cuda_stream
        elif library == "cupy":
            self.device = array.device.id
            self.stream = sys.modules["cupy"].cuda.get_current_stream().ptr

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def size(self):
        return int(np.prod(self.shape, dtype=np.intp))

    def new(self, shape, dtype):
        """An empty array of the same library beside this one."""
        library = type(self.owner).__module__.partition(".")[0]
        if library == "torch":
            return self.owner.new_empty(tuple(shape), dtype=getattr(sys.modules["torch"], np.dtype(dtype).name))
        if library == "cupy":
            return sys.modules["cupy"].empty(shape, dtype)
        raise TypeError(f"out: results beside arrays of {library} need arrays to go to")


class Output:
    """A result beside `like`: the caller's `out`, or a new one."""

    __slots__ = ("array",)

    def __init__(self, like, shape, dtype, out):
        self.array = There("out", like.new(shape, dtype) if out is None else out, [dtype], shape)

    def done(self):
        return self.array.owner
