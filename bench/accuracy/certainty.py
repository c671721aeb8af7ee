#!/usr/bin/python3
"""Is what the method signal says of its certainty true? P(k), cones and fractions on phantoms of known tissue.

    bench/accuracy/certainty.py [--hotfiber FILE] [--seed N] [--only TEXT] [--size X,Y,Z]

Mixtures as in tissue.py, 2,000 voxels each, the response from the same data. Calibration: mean of |P(k) said - share
right| over ten bins; in brackets what a P(k) that is exactly right would show in as many voxels (their binomial
scatter), which is no error of the method. Cones: of fibres in voxels whose number is right, the share within the
circle. Fractions: mean and standard deviation of what was found less the truth, for 1, 2 and 3 fibres; of the free
water likewise. Needs python3-nibabel, python3-numpy."""
import argparse
import os
import tempfile

import nibabel
import numpy as np

import tissue

TISSUES = (("zeppelin", "--across .3e-3 --vary .15"), ("stick-zeppelin", "--tissue stick-zeppelin"),
           ("noddi", "--tissue noddi"))
SCHEMES = (("12 x b=1000, SNR 30", "-b 1000 --directions 12 --b0 2 --snr 30"),
           ("32 x b=1000, SNR 25", "-b 1000 --directions 32 --b0 4 --snr 25"),
           ("64 x b=1000, SNR 10", "-b 1000 --directions 64 --snr 10"),
           ("64 x b=1000, SNR 20", "-b 1000 --directions 64 --snr 20"),
           ("64 x b=3000, SNR 25", "-b 3000 --directions 64 --snr 25"),
           ("45 x b=1000, 3000, SNR 25", "-b 1000,3000 --directions 45 --snr 25"),
           ("60 x b=1000, 2000, 3000, SNR 25", "-b 1000,2000,3000 --directions 60 --b0 12 --snr 25"))
DRAWS = 40


def chance(p, random):
    """The calibration error of P(k) where it is the truth."""
    found = []
    for _ in range(DRAWS):
        number = (random.random((len(p), 1)) > np.cumsum(p, 1)[:, :3]).sum(1)
        truth = (np.arange(3)[None, :] < number[:, None])[..., None] * np.ones(3)
        found.append(tissue.calibration(p, truth))
    return np.mean(found)


def row(folder, random):
    load = lambda name: np.asanyarray(nibabel.load(os.path.join(folder, name)).dataobj).astype(float)  # noqa: E731
    truth, found = (tissue.vectors(os.path.join(folder, name)) for name in ("t.nii.gz", "o/peaks.nii.gz"))
    shape = load("o/cone.nii.gz").shape[:3]
    cone, p, water = (load("o/%s.nii.gz" % name).reshape(np.prod(shape), -1) for name in
                      ("cone", "probability", "free_water"))
    true_water = load("m.nii.gz").reshape(len(p), -1)[:, 10]
    sizes = [np.linalg.norm(v, axis=-1) for v in (truth, found)]
    numbers = [(size > 0).sum(1) for size in sizes]
    cells = ["%.3f" % (tissue.solved(truth, found)).mean(), "%.3f (%.3f)" % (tissue.calibration(p, truth),
                                                                             chance(p, random))]
    held, off = [], []
    for k in (1, 2, 3):
        mine = np.flatnonzero((numbers[0] == k) & (numbers[1] == k))
        first = np.argsort(-sizes[0][mine], 1)[:, :k]
        true = np.take_along_axis(truth[mine], first[..., None], 1)
        size = np.take_along_axis(sizes[0][mine], first, 1)
        dots = np.abs(np.einsum("vic,vjc->vij", found[mine, :k], true)) / (sizes[1][mine, :k, None] * size[:, None])
        near = dots.argmax(-1)
        angle = np.degrees(np.arccos(np.clip(dots.max(-1), 0, 1)))
        wrong = sizes[1][mine, :k] - np.take_along_axis(size, near, 1)
        held.append("-" if len(mine) < 100 else "%.3f" % (angle <= cone[mine, :k]).mean())
        off.append("-" if len(mine) < 100 else "%+.3f, %.3f" % (wrong.mean(), wrong.std()))
    beside = numbers[0] > 0
    wrong = (water[:, 0] - true_water)[beside]
    return cells + [" / ".join(held), " / ".join(off), "%+.3f, %.3f" % (wrong.mean(), wrong.std())]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hotfiber", default=os.path.join(tissue.ROOT, "build", "bin", "hotfiber"))
    parser.add_argument("--seed", type=int, default=97001)
    parser.add_argument("--only", default="")
    parser.add_argument("--size", default="20,20,5")
    options = parser.parse_args()
    hot = os.path.abspath(options.hotfiber)
    print("| acquisition | tissue | solved | calibration | cones of 1 / 2 / 3 hold | fractions of 1 / 2 / 3: bias, sd |"
          " free water |\n|" + " --- |" * 7, flush=True)
    for at, (scheme, words, name, more) in enumerate(s + t for s in SCHEMES for t in TISSUES):
        if options.only not in "%s %s" % (scheme, name):
            continue
        with tempfile.TemporaryDirectory() as folder:
            tissue.call(hot, "phantom", "-o", "d.nii.gz", "--truth", "t.nii.gz", "--tissue-map", "m.nii.gz",
                        *tissue.MIX.split(), *more.split(), *words.split(), "--size", options.size, "--seed",
                        options.seed + at, "--quiet", folder=folder)
            tissue.call(hot, "run", "-i", "d.nii.gz", "-o", "o", "--quiet", "--outputs",
                        "peaks,probability,cone,free_water", folder=folder)
            print("| %s | %s | %s |" % (scheme, name, " | ".join(row(folder, np.random.default_rng(at)))), flush=True)


if __name__ == "__main__":
    main()
