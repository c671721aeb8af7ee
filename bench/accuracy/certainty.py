#!/usr/bin/python3
"""Calibration of the method signal: P(k), cones and fractions on phantoms of known tissue.

    bench/accuracy/certainty.py [--hotfiber FILE] [--seed N] [--seeds N] [--only TEXT] [--size X,Y,Z] [--jobs N]

Mixtures as in tissue.py, 2,000 voxels each (--size 40,40,10: 16,000), the response from the same data. Calibration:
mean of |P(k) - share right| over ten bins; in brackets the binomial scatter of a perfect P(k) for the same number of
voxels. Cones: of fibres in voxels with the right number, the share within the circle, and its standard error, for 1, 2
and 3 fibres; the standard error accounts for the correlation within a voxel. Fractions: mean, its standard error and
standard deviation of the error, for 1, 2 and 3 fibres; of the free water likewise. Intervals: the share of true
fractions within 1.96 fraction_sd, and its standard error. "all": the voxels of all tissues and seeds of an
acquisition. The last lines count cells beyond the targets, and those by more than two standard errors (P(k): by more
than the scatter). With several seeds (N, N + 1000, ...) a cell pools all voxels, except for P(k), the mean.
Needs python3-nibabel, python3-numpy."""
import functools
import multiprocessing
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
FEW = SCHEMES[:1]  # directions: P(k) within .06 there, .03 elsewhere
LEAST = 100  # fibres of a cell
CONES, FRACTIONS, CERTAIN, CERTAIN_FEW = (.93, .97), .03, .03, .06


class Sums:
    """Of figures of fibres, those of a voxel in a row: what their mean, its standard error and deviation take. They add
    up over phantoms."""

    def __init__(self, values=None):
        values = np.zeros((0, 1)) if values is None else values.astype(float)
        whole, inside = values.sum(1), values.shape[1]
        self.sums = np.array([inside * len(values), whole.sum(), (values ** 2).sum(), (whole ** 2).sum(),
                              inside * whole.sum(), inside ** 2 * len(values)])

    def add(self, other):
        self.sums = self.sums + other.sums

    def mean(self):
        return self.sums[1] / self.sums[0]

    def deviation(self):
        return np.sqrt(max(0, self.sums[2] / self.sums[0] - self.mean() ** 2))

    def error(self):
        """Standard error of the mean where voxels are independent and fibres of one are not."""
        m = self.mean()
        return np.sqrt(max(0, self.sums[3] - 2 * m * self.sums[4] + m * m * self.sums[5])) / self.sums[0]

    def enough(self):
        return self.sums[0] >= LEAST


def measure(folder):
    """What a phantom shows: the solved, P(k) and true numbers, [k] held and [k] off of fibres, free water's."""
    load = lambda name: np.asanyarray(nibabel.load(os.path.join(folder, name)).dataobj).astype(float)  # noqa: E731
    truth, found = (tissue.vectors(os.path.join(folder, name)) for name in ("t.nii.gz", "o/peaks.nii.gz"))
    shape = load("o/cone.nii.gz").shape[:3]
    cone, p, water, sd = (load("o/%s.nii.gz" % name).reshape(np.prod(shape), -1) for name in
                          ("cone", "probability", "free_water", "fraction_sd"))
    true_water = load("m.nii.gz").reshape(len(p), -1)[:, 10]
    sizes = [np.linalg.norm(v, axis=-1) for v in (truth, found)]
    numbers = [(size > 0).sum(1) for size in sizes]
    held, off, inside = [], [], []
    for k in (1, 2, 3):
        mine = np.flatnonzero((numbers[0] == k) & (numbers[1] == k))
        first = np.argsort(-sizes[0][mine], 1)[:, :k]
        true = np.take_along_axis(truth[mine], first[..., None], 1)
        size = np.take_along_axis(sizes[0][mine], first, 1)
        dots = np.abs(np.einsum("vic,vjc->vij", found[mine, :k], true)) / (sizes[1][mine, :k, None] * size[:, None])
        near = dots.argmax(-1)
        angle = np.degrees(np.arccos(np.clip(dots.max(-1), 0, 1)))
        held.append(Sums(angle <= cone[mine, :k]))
        error = sizes[1][mine, :k] - np.take_along_axis(size, near, 1)
        off.append(Sums(error))
        inside.append(Sums(np.abs(error) <= 1.96 * sd[mine, :k]))
    wrong = (water[:, 0] - true_water)[numbers[0] > 0]
    return {"solved": Sums(tissue.solved(truth, found)[:, None]), "p": p, "truth": truth, "held": held, "off": off,
            "inside": inside, "water": Sums(wrong[:, None])}


def run_case(hot, size, case):
    """The figures of a phantom, and how far P(k) is off."""
    words, more, seed = case
    with tempfile.TemporaryDirectory() as folder:
        tissue.call(hot, "phantom", "-o", "d.nii.gz", "--truth", "t.nii.gz", "--tissue-map", "m.nii.gz",
                    *tissue.MIX.split(), *more.split(), *words.split(), "--size", size, "--seed", seed, "--quiet",
                    folder=folder)
        tissue.call(hot, "run", "-i", "d.nii.gz", "-o", "o", "--quiet", "--outputs",
                    "peaks,probability,cone,free_water,fraction_sd", folder=folder)
        made = measure(folder)
    p, truth = made.pop("p"), made.pop("truth")
    made["calibration"] = [(tissue.calibration(p, truth),) + tissue.chance(p, np.random.default_rng(seed))]
    return made


def together(made):
    """All voxels of several phantoms."""
    lists = ("held", "off", "inside")
    total = {"solved": Sums(), "water": Sums(), **{name: [Sums() for _ in range(3)] for name in lists},
             "calibration": [c for one in made for c in one["calibration"]]}
    for one in made:
        for name in ("solved", "water"):
            total[name].add(one[name])
        for name in lists:
            for to, more in zip(total[name], one[name]):
                to.add(more)
    return total


def cells(made):
    held, inside = (["%.3f (%.3f)" % (s.mean(), s.error()) if s.enough() else "-" for s in made[name]]
                    for name in ("held", "inside"))
    off = ["%+.3f (%.3f), %.3f" % (s.mean(), s.error(), s.deviation()) if s.enough() else "-" for s in made["off"]]
    said = np.mean(made["calibration"], 0)
    return ["%.3f" % made["solved"].mean(), "%.3f (%.3f)" % tuple(said[:2]), " / ".join(held), " / ".join(off),
            " / ".join(inside), "%+.3f, %.3f" % (made["water"].mean(), made["water"].deviation())]


def beyond(rows, few=()):
    """Counts of what is beyond the targets; few: of each row whether its directions are few, else P(k) is left out."""
    said = [(c, CERTAIN_FEW if a else CERTAIN) for made, a in zip(rows, few) for c in made["calibration"]]
    wide = [s for made in rows for s in made["held"] if s.enough()]
    off = [s for made in rows for s in made["off"] if s.enough()]
    inside = [s for made in rows for s in made["inside"] if s.enough()]
    # an error of zero is a cell that holds all, which is no chance
    far = lambda s, low, high: max(low - s.mean(), s.mean() - high) > 2 * s.error()  # noqa: E731
    out = lambda s, low, high: not low <= s.mean() <= high  # noqa: E731
    counts = [("P(k) off by more than %.2f (%.2f)" % (CERTAIN, CERTAIN_FEW), len(said),
               sum(c[0] > most for c, most in said), sum(c[0] > most + 2 * c[2] for c, most in said)),
              ("cones outside %.2f to %.2f" % CONES, len(wide), sum(out(s, *CONES) for s in wide),
               sum(far(s, *CONES) for s in wide)),
              ("intervals outside %.2f to %.2f" % CONES, len(inside), sum(out(s, *CONES) for s in inside),
               sum(far(s, *CONES) for s in inside)),
              ("fractions off by more than %.2f" % FRACTIONS, len(off), sum(out(s, -FRACTIONS, FRACTIONS) for s in off),
               sum(far(s, -FRACTIONS, FRACTIONS) for s in off))]
    return "; ".join("%s: %d of %d, %d beyond chance" % (name, n, every, sure)
                     for name, every, n, sure in counts if every)


def main():
    parser = tissue.command_line(__doc__)
    parser.add_argument("--seed", type=int, default=97001)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--size", default="20,20,5")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    chosen = [(at, s, t) for at, (s, t) in enumerate((s, t) for s in SCHEMES for t in TISSUES)
              if options.only in "%s %s" % (s[0], t[0])]
    every = [(s[1], t[1], options.seed + at + 1000 * i) for at, s, t in chosen for i in range(options.seeds)]
    print("| acquisition | tissue | solved | calibration | cones of 1 / 2 / 3 hold | fractions of 1 / 2 / 3: bias, sd |"
          " intervals of 1 / 2 / 3 hold | free water |\n|" + " --- |" * 8, flush=True)
    rows = []
    with multiprocessing.Pool(options.jobs) as pool:
        results = pool.imap(functools.partial(run_case, options.hotfiber, options.size), every, 1)
        for i, (_, s, t) in enumerate(chosen):
            rows.append([next(results) for _ in range(options.seeds)])
            print("| %s | %s | %s |" % (s[0], t[0], " | ".join(cells(together(rows[-1])))), flush=True)
            mine = [r for (_, other, _), r in zip(chosen, rows) if other == s]
            if len(mine) == len(TISSUES):
                print("| %s | all | %s |" % (s[0], " | ".join(cells(together(sum(mine, []))))), flush=True)
    few = [s in FEW for _, s, _ in chosen]
    print("\nBy acquisition and tissue: %s." % beyond([together(r) for r in rows], few))
    kinds = [s for s in SCHEMES if any(s == other for _, other, _ in chosen)]
    groups = [together([one for (_, other, _), r in zip(chosen, rows) if other == s for one in r]) for s in kinds]
    print("By acquisition: %s." % beyond(groups))


if __name__ == "__main__":
    main()
