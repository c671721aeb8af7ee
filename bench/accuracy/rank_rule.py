#!/usr/bin/python3
"""The rule by which `lowrank` decides how many fibres a constrained deconvolution shows: prints the constants in
plugin/fibers/method_lowrank.c.

    bench/accuracy/rank_rule.py [--hotfiber FILE] [--seeds N] [--first SEED]

Phantoms with the same share of one, two and three fibres, none of docs/accuracy.md's acquisitions or tissues, are
deconvolved with `--model msmt` (hpsd and nonnegative); the residuals of the best one, two and three terms of their
tensors' part of order 4 are the inputs of a logistic regression. Needs the Python package (PYTHONPATH=build/python),
python3-nibabel, python3-numpy and python3-scipy."""
import os
import tempfile

import hotfiber
import nibabel
import numpy as np
from scipy.optimize import minimize

import tissue

SCHEMES = ("-b 700,2000 --directions 32 --b0 5", "-b 1200,2800 --directions 40",
           "-b 800,1600,2400 --directions 45 --b0 9", "-b 1500,3000 --directions 60")
TISSUES = ("--across .2e-3", "--across .2e-3 --vary .1", "--tissue ball-stick --intra .4-.7",
           "--tissue stick-zeppelin --intra .5-.8 --along 2e-3")
SNRS = (15, 20, 30)
MIX = "--layout mixture --shares .16,.28,.28,.28 --csf 0-.3 --grey 0-.1 --weights .5-1"


def residuals(words, snr, seed):
    """[voxel, k] of one to three terms, and the number of fibres; both constraints."""
    back = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            tissue.call(HOT, "phantom", "-o", "d.nii.gz", "--truth", "t.nii.gz", *MIX.split(), *words.split(), "--size",
                        "20,10,2", "--snr", snr, "--seed", seed, "--quiet")
            image = nibabel.load("d.nii.gz")
            nibabel.save(nibabel.Nifti1Image(np.ones(image.shape[:3], "u1"), image.affine), "mask.nii.gz")
            number = (np.linalg.norm(tissue.vectors("t.nii.gz"), axis=-1) > 0).sum(1)
            tissue.call(HOT, "response", "-i", "d.nii.gz", "--mask", "mask.nii.gz", "--tissues", 3, "-o",
                        "wm.txt", "--gm", "gm.txt", "--csf", "csf.txt", "--quiet")
            made = []
            for constraint in ("hpsd", "nonnegative"):
                tissue.call(HOT, "fit", "-i", "d.nii.gz", "--mask", "mask.nii.gz", "--model", "msmt", "--response",
                            "wm.txt,gm.txt,csf.txt", "--constraint", constraint, "--order", 4, "-o", "f.nrrd",
                            "--quiet")
                values = hotfiber.load("f.nrrd").values
                values = values.reshape(len(number), values.shape[-1])
                made.append(np.stack([hotfiber.lowrank(values, k, exact_rank=True, min_weight=0, min_angle=0).residual
                                      for k in (1, 2, 3)], 1)[number > 0])
            return np.concatenate(made), np.tile(number[number > 0], 2)
        finally:
            os.chdir(back)


def scores(x, weights):
    """Of two and of three fibres, relative to one."""
    w = weights.reshape(2, 4)
    return np.c_[np.zeros(len(x)), w[:, 0] + x @ w[:, 1:].T]


def main():
    global HOT
    parser = tissue.command_line(__doc__)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first", type=int, default=52000)
    options = parser.parse_args()
    HOT = options.hotfiber
    every, seed = [], options.first
    for _ in range(options.seeds):
        for scheme in SCHEMES:
            for t, what in enumerate(TISSUES):
                for s, snr in enumerate(SNRS):
                    spread = ("0-15", "0-20", "0-25")[(s + t) % 3]
                    every.append(residuals("%s %s --dispersion %s" % (scheme, what, spread), snr, seed))
                    seed += 1
    x, number = np.concatenate([e[0] for e in every]).astype(float), np.concatenate([e[1] for e in every])

    def loss(weights):
        s = scores(x, weights)
        return (np.logaddexp.reduce(s, axis=1) - s[np.arange(len(s)), number - 1]).mean() + 1e-6 * (weights**2).sum()

    best = minimize(loss, np.zeros(8), method="BFGS").x
    chosen = scores(x, best).argmax(1) + 1
    print("%d voxels; right: %s" % (len(x), ", ".join("%.3f of %d" % ((chosen[number == k] == k).mean(), k)
                                                      for k in (1, 2, 3))))
    for k, row in zip((2, 3), best.reshape(2, 4)):
        print("%d fibres: %.2f %+.2f r1 %+.2f r2 %+.2f r3" % ((k,) + tuple(row)))


if __name__ == "__main__":
    main()
