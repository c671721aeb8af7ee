"""Arrays in a GPU's memory (PyTorch, CuPy, DLPack): results are those of the same arrays on the host, on the library's
current stream, without a copy. Refusals are tested everywhere; the rest needs a GPU and one of the two libraries, and
is otherwise skipped with a message."""
import os
import re

import hotfiber
import numpy as np
from hotfiber import _contract, _gpu

from counted import check, end


class Elsewhere:
    """An object that claims to be on a GPU."""

    def __init__(self, shape, typestr="<f4", strides=None):
        self.__cuda_array_interface__ = {"shape": shape, "typestr": typestr, "strides": strides, "data": (256, False),
                                         "version": 3}


class Dlpack:
    """An object with DLPack only, like JAX's arrays: a PyTorch tensor, or a NumPy array that claims to be on a GPU."""

    def __init__(self, array):
        self.array, self.device = array, getattr(array, "device", None)

    def __dlpack_device__(self):
        return (2, 0) if isinstance(self.array, np.ndarray) else self.array.__dlpack_device__()

    def __dlpack__(self, stream=None):
        if not isinstance(self.array, np.ndarray):
            return self.array.detach().__dlpack__(stream=stream)
        capsule = self.array.__dlpack__()
        _gpu._DLTensor.from_address(_gpu._capsule_pointer(capsule, b"dltensor")).device_type = 2
        return capsule

    def __array_namespace__(self):
        return self

    def __getattr__(self, name):
        if name in ("float32", "float64", "uint8", "int32", "complex64", "complex128"):
            return getattr(torch, name)
        raise AttributeError(name)

    def empty(self, shape, dtype, device):
        return Dlpack(torch.empty(shape, dtype=dtype, device=device))

    def pad(self, array, widths):
        return Dlpack(torch.nn.functional.pad(array.array, widths[-1]))

    def swapaxes(self, one, other):
        return Dlpack(self.array.swapaxes(one, other))

    def conj(self):
        return Dlpack(self.array.conj().resolve_conj())


class OnHost:
    """An object with DLPack only, in the host's memory."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def refused(call, kind, says):
    try:
        call()
    except kind as error:
        check(re.search(says, str(error)), f"{error!r} speaks of {says}")
    else:
        check(False, f"not refused: {says}")


random = np.random.default_rng(3)
refused(lambda: hotfiber.directions(Elsewhere((5, 28), "<f8")), TypeError, "float32")
refused(lambda: hotfiber.directions(Elsewhere((5, 28), strides=(4, 20))), ValueError, "contiguous")
refused(lambda: hotfiber.directions(Elsewhere((5, 27))), ValueError, "27 values")
refused(lambda: hotfiber.directions(Elsewhere((5, 28))), TypeError, "need arrays to go to")
refused(lambda: hotfiber.directions(Elsewhere((5, 28)), mask=np.ones(5)), TypeError, "mask")
refused(lambda: hotfiber.directions(Elsewhere((5, 28)), out=(Elsewhere((5, 3, 2)), None)), ValueError, "shape")
both = Elsewhere((5, 3, 3)), Elsewhere((5,), "|u1")
refused(lambda: hotfiber.directions(Elsewhere((5, 28)), out=both, device="cpu"), ValueError, "cuda:0")
refused(lambda: hotfiber.directions(Dlpack(np.zeros((5, 28)))), TypeError, "float32")
refused(lambda: hotfiber.directions(Dlpack(np.zeros((28, 5), np.float32).T)), ValueError, "contiguous")
refused(lambda: hotfiber.directions(Elsewhere((5, 28)), out=(np.zeros((5, 3, 3), np.float32), None)), TypeError, "out")
refused(lambda: hotfiber.heev(Elsewhere((5, 3, 3), strides=(36, 24, 4))), ValueError, "contiguous")
refused(lambda: hotfiber.heev(Elsewhere((5, 3, 3), "<i4")), TypeError, "float32")
refused(lambda: hotfiber.denoise(Elsewhere((5, 4, 3, 20), "<f8")), TypeError, "float32")
refused(lambda: hotfiber.denoise(Elsewhere((5, 4, 3, 20)), mask=np.ones((5, 4, 3))), TypeError, "mask")
refused(lambda: hotfiber.deconvolve(Elsewhere((5, 40), "<f8"), np.ones((40, 7)), 2), TypeError, "float32")
refused(lambda: hotfiber.tridiag(Elsewhere((5, 3)), np.zeros((5, 2))), TypeError, "off")
refused(lambda: hotfiber.contract("ik,kj->ij", Elsewhere((3, 3)), np.eye(3)), TypeError, "other")
refused(lambda: hotfiber.contract("ik,kj->ij", Elsewhere((3, 3)), Elsewhere((3, 3), "<f8")), TypeError, "float32")
for function in (hotfiber.eigenpairs, lambda x: hotfiber.values(x, np.eye(3)), lambda x: hotfiber.cpd(x, 2)):
    refused(lambda: function(Elsewhere((5, 28))), TypeError, "host")
for shape, strides, batch, wanted in (((4, 5, 3, 3), (45, 9, 3, 1), (4, 5), 9), ((3, 3), (3, 1), (4, 5), 0),
                                      ((1, 1, 3, 3), (7, 7, 3, 1), (4, 5), 0), ((4, 3, 3), (18, 3, 1), (4,), 18),
                                      ((4, 1, 3, 3), (18, 1, 3, 1), (4, 1), 18),
                                      ((4, 5, 3, 3), (54, 9, 3, 1), (4, 5), 0),
                                      ((5, 3, 3), (9, 3, 1), (4, 5), 0)):
    one = _gpu.There("a", Elsewhere(shape, strides=tuple(4 * s for s in strides)), [np.float32], contiguous=False)
    try:
        check(_contract._batch_stride(one, "ik", batch) == wanted, f"the stride of {shape}, {strides}")
    except ValueError:
        check(shape in ((4, 5, 3, 3), (5, 3, 3)) and wanted == 0, f"no stride of {shape}, {strides}")
tensors = random.normal(size=(3, 15))
check(np.array_equal(hotfiber.directions(OnHost(tensors)).directions, hotfiber.directions(tensors).directions),
      "DLPack of the host")
try:
    hotfiber.directions(random.normal(size=28), device="cuda")
    gpu = True
except hotfiber.DeviceError:
    gpu = False
    # which of them depends on whether CUDA was built in
    refused(lambda: hotfiber.directions(Dlpack(np.zeros((5, 28), np.float32)), out=both), hotfiber.DeviceError,
            "GPU|CUDA")
    refused(lambda: hotfiber.directions(Elsewhere((5, 28)), out=both), hotfiber.DeviceError, "GPU|CUDA")


def same(what, found, wanted, tolerance=0):
    check(found.dtype == wanted.dtype and found.shape == wanted.shape and
          (np.array_equal(found, wanted) if tolerance == 0 else np.allclose(found, wanted, atol=tolerance)), what)


def compare(library, there, back):
    tensors = random.normal(size=(40, 25, 28)).astype(np.float32)
    mask = random.random(size=(40, 25)) < .5
    for name, call in (("directions", lambda t, m: hotfiber.directions(t, mask=m)),
                       ("by starts", lambda t, m: hotfiber.directions(t, mask=m, starts=64)),
                       ("lowrank", lambda t, m: hotfiber.lowrank(t, mask=m)),
                       ("sshopm", lambda t, m: hotfiber.sshopm(t, 32))):
        wanted = call(tensors, mask)
        found = call(there(tensors), there(mask))
        for field in wanted._fields:
            same(f"{library}, {name}: {field}", back(getattr(found, field)), getattr(wanted, field))
        check(type(found[0]) is type(there(tensors)), f"{library}, {name}: an array of the same library")
    for kind in (np.float32, np.float64):
        cubes = random.normal(size=(9, 84)).astype(kind)  # order 3 in 7 dimensions: by blocks
        wanted, found = hotfiber.sshopm(cubes, 150, dim=7, device="cuda"), hotfiber.sshopm(there(cubes), 150, dim=7)
        for field in wanted._fields:
            same(f"{library}, sshopm by blocks: {field}", back(getattr(found, field)), getattr(wanted, field))
        points = random.normal(size=(70, 7)).astype(kind)
        for times in range(3):
            wanted = hotfiber.forms(tensors.astype(kind), points, times, dim=7, device="cuda")
            same(f"{library}, forms", back(hotfiber.forms(there(tensors.astype(kind)), there(points), times, dim=7)),
                 wanted)
            same(f"{library}, forms on the CPU",
                 hotfiber.forms(tensors.astype(kind), points, times, dim=7, device="cpu"), wanted,
                 2e-3 if kind == np.float32 else 1e-11)
        real, imaginary = random.normal(size=(2, 7, 3, 20, 20)).astype(kind)
        for matrices in (real + real.swapaxes(-1, -2),
                         real + real.swapaxes(-1, -2) + 1j * (imaginary - imaginary.swapaxes(-1, -2))):
            for largest in (None, 4):
                wanted = hotfiber.heev(matrices, largest=largest, device="cuda")
                found = hotfiber.heev(there(matrices), largest=largest)
                same(f"{library}, heev: values", back(found.values), wanted.values)
                same(f"{library}, heev: vectors", back(found.vectors), wanted.vectors)
            half, whole = there(matrices + np.triu(np.full_like(matrices, 3), 1)), matrices  # rubbish above
            for given in (half, half.swapaxes(-1, -2).conj()):
                uplo = "L" if given is half else "U"
                same(f"{library}, heev: {uplo}", back(hotfiber.heev(given, UPLO=uplo).values),
                     hotfiber.heev(whole, device="cuda").values, 1e-4)
            found = hotfiber.heev(there(matrices).swapaxes(-1, -2), vectors=False)  # the transposed, where it is
            same(f"{library}, heev: transposed", back(found.values), hotfiber.heev(matrices, vectors=False,
                                                                                  device="cuda").values, 1e-4)
        d, e = random.normal(size=(7, 3, 20)).astype(kind), random.normal(size=(7, 3, 19)).astype(kind)
        for options in ({}, {"index": (3, 6)}):
            same(f"{library}, tridiag", back(hotfiber.tridiag(there(d), there(e), **options)),
                 hotfiber.tridiag(d, e, device="cuda", **options))
        for spec, other in (("ik,kj->ij", real), ("ik,kj->ij", imaginary[0, 0]), ("ij,ij->ij", real),
                            ("ki,kj->ij", real)):
            same(f"{library}, contract {spec}", back(hotfiber.contract(spec, there(real), there(other))),
                 hotfiber.contract(spec, real, other, device="cuda"))
    volumes = (random.normal(size=(12, 11, 9, 20)) + 5 * np.arange(20)).astype(np.float32)
    for data in (volumes, volumes * np.complex64(1 + 2j)):
        wanted = hotfiber.denoise(data, mask=volumes[..., 0] > 0, device="cpu")
        found = hotfiber.denoise(there(data), mask=there(volumes[..., 0] > 0))
        same(f"{library}, denoise {data.dtype}", back(found.data), wanted.data, 1e-3)
        check(np.allclose(back(found.noise), wanted.noise, atol=1e-3, equal_nan=True), f"{library}, denoise: noise")
    design, signals = random.normal(size=(40, 16)), random.normal(size=(50, 40)).astype(np.float32)
    wanted = hotfiber.deconvolve(signals, design, 4, mask=mask.ravel()[:50], device="cuda")
    found = hotfiber.deconvolve(there(signals), design, 4, mask=there(mask.ravel()[:50]))
    for field in wanted._fields:
        same(f"{library}, deconvolve: {field}", back(getattr(found, field)), getattr(wanted, field))
    again = there(np.zeros((40, 25, 3, 3), np.float32))
    result = hotfiber.directions(there(tensors), out=(again,))
    check(result.directions is again and np.array_equal(back(again), hotfiber.directions(tensors).directions),
          f"{library}: out")
    if library != "jax":  # whose arrays are always contiguous
        refused(lambda: hotfiber.directions(there(tensors).swapaxes(0, 1)), ValueError, "contiguous")
    refused(lambda: hotfiber.contract("ik,kj->ij", there(tensors[:, 0]), there(np.eye(3))), TypeError, "float32")


if gpu:
    try:
        import torch
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            compare("torch", lambda a: torch.as_tensor(a, device="cuda"), lambda a: a.cpu().numpy())
            weights = torch.randn(100, 28, device="cuda", requires_grad=True)
            compare("DLPack", lambda a: Dlpack(torch.as_tensor(a, device="cuda")), lambda a: a.array.cpu().numpy())
            check(tuple(hotfiber.directions(weights).found.shape) == (100,), "a tensor that needs a gradient")
    except ImportError:
        print("no PyTorch: left out")
    try:
        import cupy
        compare("cupy", cupy.asarray, cupy.asnumpy)
    except ImportError:
        print("no CuPy: left out")
    try:
        os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
        import jax
        jax.config.update("jax_enable_x64", True)
        place = jax.devices("cuda")[0]
        compare("jax", lambda a: jax.device_put(a, place), np.asarray)
    except (ImportError, RuntimeError) as error:
        print("no JAX on a GPU: left out", str(error)[:80])
else:
    print("no GPU: arrays there are left out")
end()
