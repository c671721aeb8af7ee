#!/usr/bin/env python3
"""Eigenpairs of many matrices in a GPU's memory, from a Python call to its result: hotfiber beside CuPy and PyTorch.

    PYTHONPATH=build/python python3 bench/programs/eigh_peers.py

Needs a GPU, CuPy and PyTorch. Medians in ms; "-": the peer fails, or is not tried (PyTorch, with more than 20,000
matrices: it fails or needs all memory). residual and orthogonality are the largest entries of A V - V D over |lambda|
and of V^H V - 1, of the first 200 matrices."""
import time

import cupy
import numpy as np
import torch

import hotfiber
from hotfiber import linalg

SIZES = ((3, 100000, "float64"), (3, 100000, "float32"), (4, 100000, "complex128"), (8, 100000, "float64"),
         (8, 100000, "float32"), (8, 100000, "complex64"), (12, 100000, "float64"), (16, 5000, "float64"),
         (16, 100000, "float64"), (16, 100000, "float32"), (16, 20000, "complex128"), (32, 10000, "float64"),
         (64, 1000, "float32"), (100, 500, "float32"), (128, 1000, "complex128"), (256, 180, "float64"),
         (512, 64, "float64"))


def median(call, repeats=9):
    """Milliseconds, the work on the GPU included; NaN where the call fails."""
    times = []
    for k in range(repeats + 2):  # two to warm up
        torch.cuda.synchronize()
        begin = time.perf_counter()
        try:
            call()
        except Exception:  # whatever the peer raises
            return float("nan")
        torch.cuda.synchronize()
        times.append(1e3 * (time.perf_counter() - begin))
    return sorted(times[2:])[repeats // 2]


def matrices(n, count, kind):
    random = np.random.default_rng(n + count)
    a = random.normal(size=(count, n, n))
    if kind.startswith("complex"):
        a = a + 1j * random.normal(size=a.shape)
    return (a + a.conj().swapaxes(-1, -2)).astype(kind)


def main():
    print(torch.cuda.get_device_name(), "PyTorch", torch.__version__, "CuPy", cupy.__version__)
    print("   n    count type        heev(CuPy)  eigh(torch)  values  |  cupy.eigh  torch.eigh  |  residual  "
          "orthogonality")
    for n, count, kind in SIZES:
        a = matrices(n, count, kind)
        theirs, tensor = cupy.asarray(a), torch.as_tensor(a, device="cuda")
        found = hotfiber.heev(theirs)
        some, w, v = a[:200], cupy.asnumpy(found.values[:200]), cupy.asnumpy(found.vectors[:200])
        residual = np.abs(some @ v - v * w[:, None]).max() / np.abs(w).max()
        orthogonality = np.abs(v.conj().swapaxes(-1, -2) @ v - np.eye(n)).max()
        times = [median(lambda: hotfiber.heev(theirs)), median(lambda: linalg.eigh(tensor)),
                 median(lambda: hotfiber.heev(theirs, vectors=False)), median(lambda: cupy.linalg.eigh(theirs), 3),
                 median(lambda: torch.linalg.eigh(tensor), 3) if count <= 20000 else float("nan")]
        text = [f"{t:.3f}" if t == t else "-" for t in times]
        print(f"{n:4d} {count:8d} {kind:10s} {text[0]:>11} {text[1]:>12} {text[2]:>7}  | {text[3]:>10} {text[4]:>11}  "
              f"| {residual:9.1e} {orthogonality:14.1e}", flush=True)


main()
