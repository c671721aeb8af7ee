#!/usr/bin/python3
"""The constants of the method signal that are derived or fitted, made anew: what the sources have, and what comes out.

    bench/accuracy/signal_constants.py [--hotfiber FILE] [--seed N] [--voxels N] [--draws N]

Geometry (signal_prior.c, signal_population.c): of 2 and of 3 uniform axes, the share that SIGNAL_NEAR lets through, and
how often the smallest separation is in each bin. Cones (signal_posterior.c): at which half angle a cone's variance must
be twice Laplace's to hold 95 %, fitted to voxels of another simulator than the benchmark's (other_simulator.py:
tensors by DIPY), whose number of fibres is right. Needs python3-dipy, python3-nibabel, python3-numpy, python3-scipy."""
import argparse
import os
import re
import tempfile

import nibabel
import numpy as np
from scipy.optimize import brentq

import other_simulator
import tissue

EDGES = (25, 35, 45, 55, 65, 75, 90)


def in_source(path, name):
    text = open(os.path.join(tissue.ROOT, path)).read()
    numbers = re.search(re.escape(name) + r"[^={]*=\s*([^;]*);", text).group(1)
    return [float(n) for n in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", numbers)]


def geometry(draws, random):
    through, bins = [], []
    for k in (2, 3):
        v = random.normal(size=(draws, k, 3))
        v /= np.linalg.norm(v, axis=-1, keepdims=True)
        i, j = np.triu_indices(k, 1)
        near = np.abs(np.einsum("nic,njc->nij", v, v)[:, i, j])
        over = np.maximum(near - .8660254, 0) / .03  # SIGNAL_NEAR, SIGNAL_NEAR_INVERSE
        through.append(np.exp(-.5 * (over ** 2).sum(1)).mean())
        angle = np.degrees(np.arccos(near.max(1)))
        counts = np.histogram(angle, EDGES)[0]
        bins += list(counts / counts.sum())
    return through, bins


def cones(hot, seed, voxels, twice):
    """Half angles by Laplace, and how far off the truth the fibres are; radians."""
    laplace, off = [], []
    for at, scheme in enumerate(other_simulator.SCHEMES):
        with tempfile.TemporaryDirectory() as folder:
            truth = other_simulator.make("multi-tensor", scheme, voxels, seed + at, folder)
            tissue.call(hot, "run", "-i", "d.nii.gz", "--mask", "mask.nii.gz", "-o", "o", "--outputs", "peaks,cone",
                        "--quiet", folder=folder)
            found = tissue.vectors(os.path.join(folder, "o/peaks.nii.gz"))
            cone = np.radians(np.asanyarray(nibabel.load(os.path.join(folder, "o/cone.nii.gz")).dataobj)).reshape(-1, 3)
        for k in (1, 2, 3):
            mine = np.flatnonzero(((truth ** 2).sum(-1) > 0).sum(1) == k)
            mine = mine[((found[mine] ** 2).sum(-1) > 0).sum(1) == k]
            unit = [v[mine, :k] / np.linalg.norm(v[mine, :k], axis=-1, keepdims=True) for v in (found, truth)]
            dots = np.abs(np.einsum("vic,vjc->vij", *unit)).max(-1)
            off += list(np.arccos(np.minimum(dots, 1)).ravel())
            laplace += list(cone[mine, :k].ravel())
    # a cone is wider than Laplace's by the root of 1 + (its angle / twice)^3
    angles = np.linspace(1e-3, 1.2, 2000)
    wider = np.arctan(np.tan(angles) * np.sqrt(1 + (angles / twice) ** 3))
    return np.interp(laplace, wider, angles), np.array(off)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hotfiber", default=os.path.join(tissue.ROOT, "build", "bin", "hotfiber"))
    parser.add_argument("--seed", type=int, default=98001)
    parser.add_argument("--voxels", type=int, default=2000)
    parser.add_argument("--draws", type=int, default=2000000)
    options = parser.parse_args()
    through, bins = geometry(options.draws, np.random.default_rng(options.seed))
    for name, made, known in (("let_through", through, in_source("kernels/signal/signal_prior.c", "let_through")[-2:]),
                              ("chance", bins, in_source("plugin/fibers/signal_population.c", "chance"))):
        print("%-14s in the source %s\n%14s comes out %s" % (
            name, " ".join("%.4f" % x for x in known[-len(made):]), "", " ".join("%.4f" % x for x in made)))
    twice = in_source("plugin/fibers/signal_posterior.c", "twice_as_wide")[-1]
    laplace, off = cones(os.path.abspath(options.hotfiber), options.seed, options.voxels, twice)

    def holds(t):
        return (np.tan(off) <= np.tan(laplace) * np.sqrt(1 + (laplace / t) ** 3)).mean()

    print("%-14s in the source %.3f: cones hold %.4f of %d; Laplace's alone %.4f" % (
        "twice_as_wide", twice, holds(twice), len(off), holds(1e6)))
    print("%14s comes out %s" % ("", "%.3f" % brentq(lambda t: holds(t) - .95, .02, 5) if holds(.02) > .95 > holds(5)
                                 else "none: .95 is not between those"))


if __name__ == "__main__":
    main()
