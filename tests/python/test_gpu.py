"""Arrays in a GPU's memory (PyTorch, CuPy): results are those of the same arrays on the host, on the library's current
stream, without a copy. What is refused is tried everywhere; the rest needs a GPU and one of the two, and is left out
aloud."""
import numpy as np

import hotfiber

passed = failed = 0


def check(condition, what):
    global passed, failed
    passed, failed = passed + bool(condition), failed + (not condition)
    if not condition:
        print("not so:", what)


class Elsewhere:
    """What says that it is on a GPU."""

    def __init__(self, shape, typestr="<f4", strides=None):
        self.__cuda_array_interface__ = {"shape": shape, "typestr": typestr, "strides": strides, "data": (256, False),
                                         "version": 3}


def refused(call, kind, says):
    try:
        call()
    except kind as error:
        check(says in str(error), f"{error!r} speaks of {says}")
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
try:
    hotfiber.directions(random.normal(size=28), device="cuda")
    gpu = True
except hotfiber.DeviceError:
    gpu = False
    refused(lambda: hotfiber.directions(Elsewhere((5, 28)), out=both), hotfiber.DeviceError, "GPU")


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
            one = back(getattr(found, field))
            check(one.dtype == getattr(wanted, field).dtype and np.array_equal(one, getattr(wanted, field)),
                  f"{library}, {name}: {field}")
        check(type(found[0]) is type(there(tensors)), f"{library}, {name}: an array of the same library")
    again = there(np.zeros((40, 25, 3, 3), np.float32))
    result = hotfiber.directions(there(tensors), out=(again,))
    check(result.directions is again and np.array_equal(back(again), hotfiber.directions(tensors).directions),
          f"{library}: out")
    refused(lambda: hotfiber.directions(there(tensors).swapaxes(0, 1)), ValueError, "contiguous")


if gpu:
    try:
        import torch
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            compare("torch", lambda a: torch.as_tensor(a, device="cuda"), lambda a: a.cpu().numpy())
            weights = torch.randn(100, 28, device="cuda", requires_grad=True)
            check(tuple(hotfiber.directions(weights).found.shape) == (100,), "a tensor that needs a gradient")
        large = torch.randn(1 << 18, 28, device="cuda")
        for _ in range(20):
            hotfiber.directions(large)
        torch.cuda.synchronize()
    except ImportError:
        print("no PyTorch: left out")
    try:
        import cupy
        compare("cupy", cupy.asarray, cupy.asnumpy)
    except ImportError:
        print("no CuPy: left out")
else:
    print("no GPU: arrays there are left out")
print(f"{passed} passed, {failed} failed")
raise SystemExit(failed > 0)
