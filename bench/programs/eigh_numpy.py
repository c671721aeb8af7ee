#!/usr/bin/env python3
"""Eigenpairs of many matrices on one thread of the CPU: hotfiber and NumPy in turns, and the ratio of their CPU times.

    PYTHONPATH=build/python python3 bench/programs/eigh_numpy.py

Best of 3, in seconds. From NumPy's wheel hotfiber takes its OpenBLAS."""
import os
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy as np  # noqa: E402

import hotfiber  # noqa: E402

SIZES = ((2, 20000), (4, 10000), (8, 4000), (16, 1000), (32, 200), (33, 8), (64, 60), (65, 60), (100, 40), (128, 30),
         (200, 12), (256, 6), (384, 3), (512, 2), (700, 1), (1024, 1))


def matrices(n, count, kind):
    random = np.random.default_rng(n + count)
    a = random.normal(size=(count, n, n))
    if kind.startswith("complex"):
        a = a + 1j * random.normal(size=a.shape)
    return (a + a.conj().swapaxes(-1, -2)).astype(kind)


def seconds(call):
    begin = time.process_time()
    call()
    return time.process_time() - begin


def main():
    print("NumPy", np.__version__)
    for n, count in SIZES:
        for kind in ("float32", "float64", "complex64", "complex128"):
            a = matrices(n, count, kind)
            for vectors, peer in ((True, np.linalg.eigh), (False, np.linalg.eigvalsh)):
                pairs = [(seconds(lambda: hotfiber.heev(a, device="cpu", threads=1, vectors=vectors)),
                          seconds(lambda: peer(a))) for _ in range(4)][1:]
                ours, theirs = (min(times) for times in zip(*pairs))
                print(f"{n:5d} {count:6d} {kind:10s} {'vectors' if vectors else 'values '} hotfiber {ours:.4f} "
                      f"NumPy {theirs:.4f} ratio {ours / theirs:.2f}", flush=True)


main()
