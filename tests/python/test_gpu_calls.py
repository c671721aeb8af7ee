"""The way that tensors of PyTorch on a GPU take through a call, on any machine: a stand-in for PyTorch has its arrays
in the host's memory, and the contexts are those of the CPU. On a GPU test_gpu.py compares the results."""
import sys
import types

import hotfiber
import numpy as np
from hotfiber import _library

from cli import check, end

torch = types.ModuleType("torch")


class Dtype:
    def __init__(self, name):
        self.name, self.is_complex = name, name.startswith("complex")

    def __str__(self):
        return "torch." + self.name


for name in ("float32", "float64", "complex64", "complex128", "uint8", "int32", "bool"):
    setattr(torch, name, Dtype(name))
stream = [7]
torch._C = types.SimpleNamespace(_cuda_getCurrentRawStream=lambda device: stream[0])
torch.nn = types.SimpleNamespace(functional=types.SimpleNamespace(
    pad=lambda array, widths: Tensor(np.pad(array.host, [(0, 0)] * (array.host.ndim - 1) + [widths]))))
sys.modules["torch"] = torch


class Tensor:
    is_cuda = True
    shape = property(lambda self: self.host.shape)
    dtype = property(lambda self: getattr(torch, self.host.dtype.name))

    def __init__(self, host):
        self.host = host

    def stride(self):
        return tuple(stride // self.host.itemsize for stride in self.host.strides)

    def data_ptr(self):
        return self.host.ctypes.data

    def get_device(self):
        return 0

    def is_contiguous(self):
        return self.host.flags.c_contiguous

    def is_neg(self):
        return False

    is_conj = is_neg

    def detach(self):
        return self

    def new_empty(self, shape, dtype):
        return Tensor(np.full(shape, 77, dtype.name))

    def swapaxes(self, one, other):
        return Tensor(self.host.swapaxes(one, other))

    def detach(self):
        return self

    def transpose(self, one, other):
        return Tensor(self.host.swapaxes(one, other))

    def contiguous(self):
        return Tensor(np.ascontiguousarray(self.host))

    def conj(self):
        return Tensor(self.host.conj())


Tensor.__module__ = "torch"
set_to, make = [], _library._Slot.__init__
_library.lib.hot_context_set_memory = lambda handle, memory, to: set_to.append(to) or 0
_library._Slot.__init__ = lambda self, device, threads, seed: make(self, "cpu", threads, seed)

random = np.random.default_rng(4)
tensors = random.normal(size=(6, 15)).astype(np.float32)
wanted = hotfiber.directions(tensors)
for stream[0] in (7, 7, 8, 8, 7):
    found = hotfiber.directions(Tensor(tensors))
    check(np.array_equal(found.directions.host, wanted.directions) and np.array_equal(found.found.host, wanted.found),
          f"directions on the stream {stream[0]}")
check(set_to == [7, 8, 7], f"a context's stream is set when it changes: {set_to}")
out = Tensor(np.empty((6, 3, 3), np.float32)), Tensor(np.empty(6, np.uint8))
found = hotfiber.directions(Tensor(tensors), out=out, mask=Tensor(np.array([1, 1, 0, 1, 1, 1], np.uint8)))
check(found.directions is out[0] and found.found is out[1], "out is returned")
check(np.array_equal(np.delete(out[0].host, 2, 0), np.delete(wanted.directions, 2, 0)) and not out[0].host[2].any(),
      "out is filled, inside the mask")
for name, call in (("lowrank", hotfiber.lowrank), ("sshopm", lambda t: hotfiber.sshopm(t, 8))):
    for ours, theirs in zip(call(tensors), call(Tensor(tensors))):
        check(np.array_equal(ours, theirs.host), name)
points = random.normal(size=(5, 3)).astype(np.float32)
for times in range(5):
    check(np.array_equal(hotfiber.forms(Tensor(tensors), Tensor(points), times).host,
                         hotfiber.forms(tensors, points, times)), f"forms, p = {times}")
into = Tensor(np.empty((6, 5, 3), np.float32))
check(hotfiber.forms(Tensor(tensors), Tensor(points), 3, out=into) is into and
      np.array_equal(into.host, hotfiber.forms(tensors, points, 3)), "forms into out")
for wrong in ((Tensor(tensors), points), (tensors, Tensor(points))):
    try:
        hotfiber.forms(*wrong, 2)
        check(False, "forms of arrays in two places")
    except TypeError as error:
        check("points" in str(error), f"forms of arrays in two places: {error}")
a, b = (random.normal(size=(4, 3, 3)).astype(np.float32) for _ in range(2))
for left, right in ((a, b), (a[0], b), (a[0], b[0]), (a[:, :, ::2], b[:, ::2])):
    result = hotfiber.contract("ik,kj->ij", Tensor(left), Tensor(right))
    check(np.allclose(result.host, left @ right, atol=1e-5), f"contract {left.shape}, {right.shape}")
    into = Tensor(np.full_like(result.host, 2))
    hotfiber.contract("ik,kj->ij", Tensor(left), Tensor(right), out=into, beta=.5)
    check(np.allclose(into.host, left @ right + 1, atol=1e-5), "contract with out and beta")
symmetric = a + a.swapaxes(1, 2)
found = hotfiber.heev(Tensor(symmetric))
check(np.allclose(found.values.host, np.linalg.eigvalsh(symmetric), atol=1e-4), "heev")
for uplo in "LU":  # one triangle, however it lies
    half = a + (1j * b if uplo == "U" else 0)
    values = np.linalg.eigh(half, UPLO=uplo)[0]
    for layout, given in (("rows", half), ("columns", half.swapaxes(1, 2).copy().swapaxes(1, 2)),
                          ("steps", np.repeat(half, 2, axis=2)[..., ::2]),
                          ("backwards", half[::-1, ::-1].copy()[::-1, ::-1])):
        given = given.astype(np.complex64) if uplo == "U" else given
        result = hotfiber.heev(Tensor(given), UPLO=uplo)
        check(np.allclose(result.values.host, values, atol=1e-4), f"heev there, {uplo}, {layout}")
        whole = np.tril(half, -1) if uplo == "L" else np.triu(half, 1)
        whole = whole + whole.conj().swapaxes(1, 2) + np.stack([np.diag(np.diag(m).real) for m in half])
        vectors = result.vectors.host
        check(np.allclose(whole @ vectors, vectors * result.values.host[:, None], atol=1e-4),
              f"vectors there, {uplo}, {layout}")
off = random.normal(size=(4, 2)).astype(np.float32)
check(np.allclose(hotfiber.tridiag(Tensor(a[0, :, :].copy()), Tensor(off[:3])).host,
                  hotfiber.tridiag(a[0], off[:3]), atol=1e-5), "tridiag")

# The last axis of voxels is the library's first there: windows that differ along the axes tell the axes apart.
volumes = (random.normal(size=(8, 7, 6, 9)) + np.arange(9.)).astype(np.float32)
inside = random.random(size=(8, 7, 6)) < .8
for data in (volumes, (volumes * (1 + 2j)).astype(np.complex64), volumes[0], volumes[0, 0]):
    mask = inside if data.ndim == 4 else None
    for options in ({"window": (5, 3, 1), "step": (2, 1, 1)}, {}):
        usual = hotfiber.denoise(data, mask, **options)
        out = Tensor(np.empty(data.shape, data.dtype)), Tensor(np.empty(data.shape[:-1], np.float32))
        found = hotfiber.denoise(Tensor(data), None if mask is None else Tensor(mask), out=out, **options)
        check(found.data is out[0] and found.noise is out[1], "denoise fills out")
        check(np.allclose(found.data.host, usual.data, atol=1e-4) and
              np.allclose(found.noise.host, usual.noise, atol=1e-4, equal_nan=True),
              f"denoise of {data.shape}, {data.dtype}, {options}")
design = random.normal(size=(30, 8))
signals = random.normal(size=(4, 5, 30)).astype(np.float32)
inside = random.random(size=(4, 5)) < .7
usual = hotfiber.deconvolve(signals, design, 2, mask=inside)
found = hotfiber.deconvolve(Tensor(signals), design, 2, mask=Tensor(inside))
check(all(np.array_equal(ours, theirs.host) for ours, theirs in zip(usual, found)), "deconvolve")
check(np.array_equal(hotfiber.directions(tensors).directions, wanted.directions), "arrays of the host work as before")
end()
