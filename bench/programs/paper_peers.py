"""Times of other libraries for `hotfiber bench paper`, which runs this script and adds its lines to the table:

    paper_peers.py cpu|cuda SECONDS PEER 'kind|n|count|argument|name' ...

Prints "name|backend|median|fastest|repeats", or "name|backend|why there is none". cpu: NumPy, SciPy (both LAPACK or
BLAS), PyTorch, TensorLy on NumPy. cuda: PyTorch, CuPy, TensorLy on PyTorch, all with arrays in the GPU's memory and
CUDA's events. PAPER_PEER_SECONDS in the environment (default 240): when these have passed, further cases are left
out, each with a line."""
import importlib
import os
import statistics
import sys
import time


def load(name):
    try:
        return importlib.import_module(name)
    except Exception as error:  # a package may fail in any way when it is loaded
        return str(error).split("\n")[0][:100] or type(error).__name__


def seconds_of(call, clock, limit):
    """At least one call to warm up and two to time; more within the limit."""
    clock(call)
    times = []
    while len(times) < 2 or (sum(times) < limit and len(times) < 100):
        times.append(clock(call))
    return statistics.median(times), min(times), len(times)


def host_clock(call):
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def torch_clock(torch):
    def clock(call):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        begin.record()
        call()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / 1e3
    return clock


def cupy_clock(cupy):
    def clock(call):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        cupy.cuda.Device().synchronize()
        begin.record()
        call()
        end.record()
        end.synchronize()
        return cupy.cuda.get_elapsed_time(begin, end) / 1e3
    return clock


class Numpy:
    """NumPy's names for NumPy and CuPy."""

    def __init__(self, np):
        self.np, self.random = np, np.random.RandomState(1)

    def heev(self, n, count, _):
        a = self.random.standard_normal((count, n, n)) + 1j * self.random.standard_normal((count, n, n))
        a = a + a.conj().transpose(0, 2, 1)
        return {"": lambda: self.np.linalg.eigh(a)}

    def products(self, n, count, _):
        a, b, c = (self.random.standard_normal((count, n, n)) for _ in range(3))
        return {"": lambda: self.np.matmul(a, b) + .5 * c}

    def mttkrp(self, n, _, mode):
        """The paper's baseline: unfolding in memory, Khatri-Rao product, matrix product."""
        np = self.np
        x = self.random.standard_normal((n, n, n)).astype(np.float32)
        b, c = (self.random.standard_normal((n, n // 10)).astype(np.float32) for _ in range(2))

        def baseline():
            unfolded = np.moveaxis(x, mode - 1, 0).copy().reshape(n, -1)  # mode 1 too
            return unfolded @ (b[:, None] * c[None]).reshape(n * n, -1)
        return {", unfolded, FP32": baseline}


class Torch:
    def __init__(self, torch, device):
        self.torch, self.device = torch, device
        torch.manual_seed(1)

    def randn(self, *shape, dtype=None):
        return self.torch.randn(*shape, dtype=dtype or self.torch.float32, device=self.device)

    def heev(self, n, count, _):
        a = self.randn(count, n, n, dtype=self.torch.complex128)
        a = a + a.mH
        return {"": lambda: self.torch.linalg.eigh(a)}

    def products(self, n, count, _):
        a, b, c = (self.randn(count, n, n, dtype=self.torch.float64) for _ in range(3))
        return {"": lambda: self.torch.baddbmm(c, a, b, beta=.5)}

    def sshopm(self, _, count, steps):
        """Dense products for all starts of a tensor, at equal steps."""
        if not steps:
            return {}
        a, start = self.randn(count, 3, 27), self.torch.nn.functional.normalize(self.randn(1, 3, 128), dim=1)

        def dense():
            x = start.expand(count, 3, 128)
            for _ in range(steps):
                k = (x[:, :, None] * x[:, None]).reshape(count, 9, 128)
                k = (k[:, :, None] * x[:, None]).reshape(count, 27, 128)
                x = self.torch.nn.functional.normalize(a @ k, dim=1)
            return x
        return {", dense": dense} if count <= 65536 else {}

    def mttkrp(self, n, _, mode):
        x, b, c = self.randn(n, n, n), self.randn(n, n // 10), self.randn(n, n // 10)

        def baseline():
            unfolded = x.movedim(mode - 1, 0).contiguous().reshape(n, -1)
            if mode == 1:
                unfolded = unfolded.clone()  # the baseline forms every unfolding
            return unfolded @ (b[:, None] * c[None]).reshape(n * n, -1)

        def tf32():
            self.torch.backends.cuda.matmul.allow_tf32 = True
            product = baseline()
            self.torch.backends.cuda.matmul.allow_tf32 = False
            return product
        return {", unfolded, FP32": baseline, **({", unfolded, TF32": tf32} if self.device == "cuda" else {})}


class Scipy:
    def __init__(self, scipy):
        self.linalg = importlib.import_module("scipy.linalg")
        self.np = importlib.import_module("numpy")

    def tridiag(self, n, _, digits):
        random = self.np.random.RandomState(1)
        a, b = (random.uniform(-.875, .875, size).astype(self.np.float32) for size in (n, n - 1))
        return {", stebz": lambda: self.linalg.eigvalsh_tridiagonal(a, b, lapack_driver="stebz", tol=10. ** -digits),
                ", sterf": lambda: self.linalg.eigvalsh_tridiagonal(a, b, lapack_driver="sterf")}


class Tensorly:
    def __init__(self, tensorly, device):
        self.tl = tensorly
        self.decomposition = importlib.import_module("tensorly.decomposition")
        self.backend = "pytorch" if device == "cuda" else "numpy"
        tensorly.set_backend(self.backend)
        self.made = Torch(importlib.import_module("torch"), device) if device == "cuda" else None

    def cp(self, n, _, iterations):
        import numpy
        random = numpy.random.RandomState(1)
        x = self.made.randn(n, n, n) if self.made else random.standard_normal((n, n, n)).astype("f")
        return {"": lambda: self.decomposition.parafac(x, n // 10, n_iter_max=iterations, init="random", tol=0,
                                                       normalize_factors=False, random_state=1)}


def peers(device, wanted):
    """Name, object with a method for each kind that it knows, clock; or the reason why it is not here."""
    makers = {"numpy": (lambda m: (Numpy(m), host_clock), ["cpu"]),
              "scipy": (lambda m: (Scipy(m), host_clock), ["cpu"]),
              "torch": (lambda m: (Torch(m, device), torch_clock(m) if device == "cuda" else host_clock),
                        ["cpu", "cuda"]),
              "cupy": (lambda m: (Numpy(m), cupy_clock(m)), ["cuda"]),
              "tensorly": (lambda m: (Tensorly(m, device), torch_clock(importlib.import_module("torch"))
                                      if device == "cuda" else host_clock), ["cpu", "cuda"])}
    for name, (make, devices) in makers.items():
        if device not in devices or wanted not in ("all", name):
            continue
        module = load(name)
        if isinstance(module, str):
            yield name, module, None
            continue
        try:
            yield (name, *make(module))
        except Exception as error:
            yield name, str(error).split("\n")[0][:100] or type(error).__name__, None


def free(device):
    """Gives memory that a library keeps back to the GPU, for the next library."""
    if device == "cuda":
        for name in ("torch", "cupy"):
            module = sys.modules.get(name)
            if name == "torch" and module:
                module.cuda.empty_cache()
            elif module:
                module.get_default_memory_pool().free_all_blocks()


def main():
    device, limit, wanted = sys.argv[1], float(sys.argv[2]), sys.argv[3]
    end = time.perf_counter() + float(os.environ.get("PAPER_PEER_SECONDS", 240))
    for peer, library, clock in peers(device, wanted):
        if clock is None:
            print(f"peers in Python|{peer}|{library}", flush=True)
            continue
        for case in sys.argv[4:]:
            kind, n, count, argument, name = case.split("|")
            if not hasattr(library, kind):
                continue
            if time.perf_counter() > end:
                print(f"{name}|{peer}|left out: PAPER_PEER_SECONDS have passed", flush=True)
                continue
            try:
                for what, call in getattr(library, kind)(int(n), int(count), int(argument)).items():
                    median, fastest, repeats = seconds_of(call, clock, limit)
                    print(f"{name}|{peer}{what}|{median:.9g}|{fastest:.9g}|{repeats}", flush=True)
            except Exception as error:  # out of memory, not supported: said in the table
                print(f"{name}|{peer}|{str(error).split(chr(10))[0][:100] or type(error).__name__}", flush=True)
            free(device)


main()
