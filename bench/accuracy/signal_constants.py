#!/usr/bin/python3
"""The constants of the method signal that are derived or fitted, made anew: what the sources have, and what comes out.

    bench/accuracy/signal_constants.py [--hotfiber FILE] [--seed N] [--voxels N] [--draws N]

Geometry (signal_prior.c, signal_population.c): of 2 and of 3 uniform axes, the share that SIGNAL_NEAR lets through, and
how often the smallest separation is in each bin. Cones (signal_posterior.c): at which angle along one of its axes the
variance must be twice Laplace's for cones to hold 95 %, fitted to voxels whose number of fibres is right, half of
another simulator than certainty.py's (other_simulator.py: tensors by DIPY), half mixtures of a tissue that is not there
(balls and sticks). Needs python3-dipy, python3-nibabel, python3-numpy, python3-scipy."""
import os
import re
import tempfile

import nibabel
import numpy as np
from scipy.optimize import brentq

import other_simulator
import tissue

EDGES = (25, 35, 45, 55, 65, 75, 90)
SEEN = .1, .314  # radians: in narrower cones it matters little, of wider ones data tell (cone_growth)


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


def tensors(hot, scheme, voxels, seed, folder):
    return other_simulator.make("multi-tensor", scheme, voxels, seed, folder)


def mixture(hot, scheme, voxels, seed, folder):
    _, b, directions, b0, snr = scheme
    tissue.call(hot, "phantom", "-o", "d.nii.gz", "--truth", "t.nii.gz", *tissue.MIX.split(), "--tissue", "ball-stick",
                "--intra", ".6-.9", "-b", ",".join(map(str, b)), "--directions", directions, "--b0", b0, "--snr", snr,
                "--size", "%d,100,1" % (voxels // 100), "--seed", seed, "--quiet", folder=folder)
    image = nibabel.load(os.path.join(folder, "t.nii.gz"))
    nibabel.save(nibabel.Nifti1Image(np.ones(image.shape[:3], "u1"), image.affine), os.path.join(folder, "mask.nii.gz"))
    return tissue.vectors(os.path.join(folder, "t.nii.gz"))


def cones(hot, make, seed, voxels, twice):
    """Of fibres: angles of their cones' axes by Laplace, and how far off the truth they are along these; radians."""
    laplace, off = [], []
    for at, scheme in enumerate(other_simulator.SCHEMES):
        with tempfile.TemporaryDirectory() as folder:
            truth = make(hot, scheme, voxels, seed + at, folder)
            tissue.call(hot, "run", "-i", "d.nii.gz", "--mask", "mask.nii.gz", "-o", "o", "--outputs",
                        "peaks,cone_axes", "--quiet", folder=folder)
            found = tissue.vectors(os.path.join(folder, "o/peaks.nii.gz"))
            axes = tissue.vectors(os.path.join(folder, "o/cone_axes.nii.gz")).reshape(-1, 3, 2, 3)
        for k in (1, 2, 3):
            mine = np.flatnonzero(((truth ** 2).sum(-1) > 0).sum(1) == k)
            mine = mine[((found[mine] ** 2).sum(-1) > 0).sum(1) == k]
            unit = [v[mine, :k] / np.linalg.norm(v[mine, :k], axis=-1, keepdims=True) for v in (found, truth)]
            dots = np.einsum("vic,vjc->vij", *unit)
            nearest = np.abs(dots).argmax(-1)[..., None]
            true = np.take_along_axis(unit[1], nearest, 1) / np.take_along_axis(dots, nearest, 2)
            angle = np.linalg.norm(axes[mine, :k], axis=-1)
            off += list(np.arctan(np.einsum("vic,viac->via", true, axes[mine, :k]) / angle).reshape(-1, 2))
            laplace += list(np.radians(angle).reshape(-1, 2))
    # along an axis a cone is wider than Laplace's by the root of 1 + (its angle / twice)^3
    angles = np.linspace(1e-3, 1.2, 2000)
    wider = np.arctan(np.tan(angles) * np.sqrt(1 + (angles / twice) ** 3))
    laplace = np.interp(laplace, wider, angles)
    mine = (laplace.max(1) > SEEN[0]) & (laplace.max(1) < SEEN[1])
    return laplace[mine], np.array(off)[mine]


def main():
    parser = tissue.command_line(__doc__)
    parser.add_argument("--seed", type=int, default=98001)
    parser.add_argument("--voxels", type=int, default=2000)
    parser.add_argument("--draws", type=int, default=2000000)
    options = parser.parse_args()
    through, bins = geometry(options.draws, np.random.default_rng(options.seed))
    for name, made, known in (("let_through", through, in_source("kernels/signal/signal_prior.c", "let_through")[-2:]),
                              ("chance", bins, in_source("plugin/fibers/signal_shown.c", "hot_separation_chance"))):
        print("%-14s in the source %s\n%14s comes out %s" % (
            name, " ".join("%.4f" % x for x in known[-len(made):]), "", " ".join("%.4f" % x for x in made)))
    twice = in_source("plugin/fibers/signal_posterior.c", "twice_as_wide")[0]
    made = [cones(options.hotfiber, make, options.seed, options.voxels, twice)
            for make in (tensors, mixture)]
    for name, some in (("tensors", made[:1]), ("mixtures", made[1:]), ("both", made)):
        laplace, off = (np.concatenate(x) for x in zip(*some))

        def holds(t):
            return (((np.tan(off) / np.tan(laplace)) ** 2 / (1 + (laplace / t) ** 3)).sum(1) <= 1).mean()

        print("%-14s in the source %.3f: cones of %s hold %.4f of %d; Laplace's alone %.4f" % (
            "twice_as_wide", twice, name, holds(twice), len(off), holds(1e6)))
        print("%14s comes out %s" % ("", "%.3f" % brentq(lambda t: holds(t) - .95, .02, 5)
                                     if holds(.02) > .95 > holds(5) else "none: .95 is not between those"))


if __name__ == "__main__":
    main()
