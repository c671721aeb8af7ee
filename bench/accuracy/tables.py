#!/usr/bin/python3
"""hotfiber check against wrong gradient tables: how many faults are found, how many named, are right tables faulted?

    bench/accuracy/tables.py ../shared/data [--seed N] [--seeds N] [--only TEXT] [--faults TEXT]
                             [--right | --simulated] [--jobs N] [--list] [-o FILE.md]

Sets: real ones below the folder, those of Debian's python3-dipy, and phantoms that `hotfiber phantom` makes. Each is
cropped at places drawn by the seed (about 2,000 voxels), and its table is damaged: rows shifted, reversed, sorted,
permuted within shells, exchanged; two series exchanged; one row moved; a computed volume appended with an invented
row.
Found: the verdict on rows is that the table is wrong (of right tables: or that on axes, unless these were changed).
Named: the row that --json gives for every volume is right (rows of b=0 and repeated rows are interchangeable), or the
text names the kind: sorted, directions of others, a computed volume. --right: right tables of crops, half the volumes,
few directions, one b=0, other axes, drift, joined series, damaged slices. --simulated: right tables of simulated data
without noise or with little (tables_simulated.py), one a seed."""
import argparse
import collections
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile

import nibabel
import numpy as np

from tables_simulated import simulate

HOTFIBER = os.path.abspath(os.environ.get("HOTFIBER", "build/bin/hotfiber"))
DIPY = os.environ.get("HOT_DIPY", "/usr/lib/python3/dist-packages/dipy/data/files/")
SETS = {"human_2shell": ("human_2shell/dwi.nii.gz", "human_2shell/dwi"),
        "mrtrix_msmt_roi": ("mrtrix_msmt_roi/mrtrix_msmt_roi.nii.gz", "mrtrix_msmt_roi/mrtrix_msmt_roi"),
        "small_64D": ("dipy_small_64D/orig/small_64D.nii", "dipy_small_64D/orig/small_64D"),
        "fibercup": ("fibercup/fibercup_b1500.nii.gz", "fibercup/fibercup_b1500"),
        "fibercup_b650": ("fibercup_b650/acq1.nii.gz", "fibercup_b650/dwi"),
        "fibercup_b650_2": ("fibercup_b650/acq2.nii.gz", "fibercup_b650/dwi"),
        "pnl_wip_dti": ("pnl_wip_dti/orig/WIP_dti_ax_601.nii.gz", "pnl_wip_dti/orig/WIP_dti_ax_601"),
        "small_25": (DIPY + "small_25.nii.gz", DIPY + "small_25"),
        "small_101D": (DIPY + "small_101D.nii.gz", DIPY + "small_101D")}
PHANTOMS = {"phantom_32": "-b 1000 --directions 32 --b0 4", "phantom_64": "-b 3000 --directions 64 --b0 1",
            "phantom_2x45": "-b 1000,2500 --directions 45 --b0 6", "phantom_12": "-b 1000 --directions 12 --b0 2",
            "phantom_100": "-b 2000 --directions 100 --b0 8", "phantom_20": "-b 1000 --directions 20 --b0 1"}
TISSUE = "--layout mixture --tissue stick-zeppelin --dispersion 0-20 --csf 0-.2 --grey 0-.2 --weights .4-1"
LIKE = 50.  # s/mm^2: b=0 below


def call(*words):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        sys.exit(done.stderr.decode())


def load(folder, name):
    """Signals, b-values, unit vectors (n x 3), affine."""
    image, table = SETS[name]
    image = nibabel.load(os.path.join(folder, image))
    b, g = np.loadtxt(os.path.join(folder, table) + ".bval").ravel(), np.loadtxt(os.path.join(folder, table) + ".bvec")
    g = np.nan_to_num(g if g.shape[1] == 3 and len(b) != 3 else g.T)
    g = g / np.maximum(np.linalg.norm(g, axis=1, keepdims=True), 1e-9) * (b >= LIKE)[:, None]
    return np.asarray(image.dataobj), b, g, image.affine


def phantom(words, snr, seed, size="16,12,10"):
    call(HOTFIBER, "phantom", "--quiet", *TISSUE.split(), "--size", size, *words.split(), "--snr", snr, "--seed", seed,
         "-o", "p.nii.gz", "--truth", "t.nii.gz")
    image = nibabel.load("p.nii.gz")
    return np.asarray(image.dataobj), np.loadtxt("p.bval"), np.loadtxt("p.bvec").T, image.affine


def crop(samples, draw, most=2000):
    """A box of about `most` voxels of which two thirds have signal; all where there are no more."""
    size = np.array(samples.shape[:3])
    if size.prod() <= 1.3 * most:
        return samples
    mean = samples.mean(-1)
    inside = mean > .25 * np.percentile(mean, 98)
    best = None
    for _ in range(60):
        shape = np.minimum(size, np.array([20, 20, 5]) if draw.random() < .5 else np.array([13, 13, 12]))
        shape[:2] = np.minimum(size[:2], np.ceil(np.sqrt(most / shape[2])))
        at = [int(draw.integers(0, n - s + 1)) for n, s in zip(size, shape)]
        box = tuple(slice(a, a + s) for a, s in zip(at, shape))
        share = inside[box].mean()
        if best is None or share > best[0]:
            best = share, box
        if share > .67:
            break
    return samples[best[1]]


def shells(b):
    order, label, of = np.argsort(b, kind="stable"), 0, np.zeros(len(b), int)
    for n in range(1, len(b)):
        label += b[order[n]] - b[order[n - 1]] > max(50, .05 * b[order[n]])
        of[order[n]] = label
    return of


def intersperse(samples, b, g, draw):
    """The volumes of a phantom in an order as scanners have them."""
    order = np.r_[0, 1 + draw.permutation(len(b) - 1)] if draw.random() < .7 else np.arange(len(b))
    return samples[..., order], b[order], g[order]


def damaged_tables(b, g, draw):
    """Fault: the right table's row that stands in each place."""
    n, every, shell = len(b), np.arange(len(b)), shells(b)
    none, some = np.flatnonzero(b < LIKE), np.flatnonzero(b >= LIKE)
    made = {}

    def put(name, order):
        """Unless every row stays or is exchanged for its like, as two acquisitions with one table are."""
        order = np.asarray(order)
        same = (np.abs(np.einsum("ij,ij->i", g[order], g)) > .99) | ((b < LIKE) & (b[order] < LIKE))
        if not np.all(same & (np.abs(b[order] - b) < 1)):
            made[name] = order

    def changed(where, by):
        order = every.copy()
        order[where] = by
        return order

    for by in (1, -1, 2, -3):
        put("all rows shifted by %+d" % by, np.roll(every, by))
    for by in (1, -1):
        at = int(draw.integers(1, n - 3))
        put("rows shifted by %+d from some row on" % by, changed(every[at:], np.roll(every[at:], by)))
    put("reversed", every[::-1])
    put("b > 0 reversed", changed(some, some[::-1]))
    put("b > 0 shifted by one", changed(some, np.roll(some, 1)))
    put("sorted by b", np.argsort(b, kind="stable"))
    order = every.copy()
    for s in np.unique(shell[some]):
        order[shell == s] = draw.permutation(np.flatnonzero(shell == s))
    put("permuted within shells", order)
    order = every.copy()
    order[some] = draw.permutation(some)
    put("permuted, b > 0", order)
    put("two series exchanged", np.r_[every[n // 2:], every[:n // 2]])
    for again in range(2):
        pair = np.array([draw.choice(none), draw.choice(some)])
        put("b=0 exchanged with b > 0" + " again" * again, changed(pair, pair[::-1]))
    whole = [s for s in np.unique(shell[some]) if (shell == s).sum() > 2]
    if whole:
        for _ in range(99):
            pair = draw.choice(np.flatnonzero(shell == draw.choice(whole)), 2, replace=False)
            if abs(g[pair[0]] @ g[pair[1]]) < .8:
                break
        put("two rows of a shell exchanged", changed(pair, pair[::-1]))
    early = [v for v in none if v > 0 and b[v - 1] >= LIKE]
    for count, name in ((1, "one b=0 row one place early"), (2, "two b=0 rows one place early"),
                        (len(early), "every b=0 row one place early")):
        if count <= len(early) and (count < 3 or len(early) > 2):
            order = every.copy()
            for v in sorted(draw.choice(early, count, replace=False)) if count else []:
                order[[v - 1, v]] = order[[v, v - 1]]
            put(name, order)
    if early:
        v, to = draw.choice(early), 3
        if v >= to:
            put("one b=0 row three places early", np.r_[every[:v - to], v, every[v - to:v], every[v + 1:]])
    return made


def appended(samples, b, g, draw):
    """Fault: signals and table with a computed volume at the end, under an invented row."""
    shell, some = shells(b), b >= LIKE
    of = [s for s in np.unique(shell[some]) if (some & (shell == s)).sum() >= 6]
    if not of:
        return {}
    of = some & (shell == draw.choice(of))
    low = np.maximum(samples[..., ~some].mean(-1), 1e-3)
    trace = np.exp(np.log(np.maximum(samples[..., of], 1e-3)).mean(-1))
    adc = np.clip(np.log(low / trace) / b[of].mean(), 0, 4e-3)
    row = draw.standard_normal(3)
    row /= np.linalg.norm(row)
    made = {}
    for name, volume in (("ADC", adc * 1e6), ("ADC, mm^2/s", adc), ("trace", trace), ("mean", samples.mean(-1))):
        for under, value, vector in (("b > 0", b[of].mean(), row), ("b=0", 0, 0 * row)):
            made["%s appended as %s" % (name, under)] = (
                np.concatenate([samples, volume[..., None]], -1), np.r_[b, value], np.r_[g, [vector]])
    return made


def check(samples, b, g, affine):
    nibabel.save(nibabel.Nifti1Image(np.asarray(samples, "f4"), affine), "d.nii")
    np.savetxt("d.bval", b[None], "%.10g")
    np.savetxt("d.bvec", g.T, "%.10g")
    done = subprocess.run([HOTFIBER, "check", "d.nii", "--json", "--quiet", "--threads", "1"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    if done.returncode not in (0, 1) or not done.stdout:
        return {"rows": {"verdict": "failed", "text": done.stderr.decode(), "row": []}, "gradients": {}}
    return json.loads(done.stdout)


def is_wrong(about):
    return about["rows"]["verdict"] in ("volumes", "order", "foreign directions")


def is_named(fault, order, about, b, g):
    """Whether every volume gets its own row: row[v] is a place in the damaged table, where order[place] stands."""
    text, row = about["rows"]["text"], about["rows"]["row"]
    if "appended" in fault:
        return "volume %d is" % (len(b) - 1) in text and row[-1] == -1
    if ("permuted" in fault or fault == "sorted by b") and (
            "do not belong" in text or "another order" in text or "sorted" in text):
        return True
    if not row or min(row) < 0:
        return False
    got = order[row]
    same = np.abs(np.einsum("ij,ij->i", g[got], g)) > .99
    return bool(np.all((np.abs(b[got] - b) < 60) & (same | (b < LIKE))))


def try_one(job):
    """One damaged or right table: set, fault, found, named, what was said."""
    folder, name, seed, which = job
    rows = []
    draw = np.random.default_rng([seed, sum(map(ord, name))])
    back = os.getcwd()
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        try:
            if which == "simulated":
                samples, b, g, affine, what = simulate(np.random.default_rng([seed, 77]))
                about = check(samples, b, g, affine)
                return [(what, "right: simulated", is_wrong(about), about["rows"]["verdict"], about["rows"]["text"])]
            if name in PHANTOMS:
                snr = float(draw.choice((15, 20, 30, 40, 60)))
                samples, b, g, affine = phantom(PHANTOMS[name], snr, seed)
                samples, b, g = intersperse(samples, b, g, draw)
            else:
                samples, b, g, affine = load(folder, name)
                samples = crop(samples, draw) if seed % 3 or samples[..., 0].size < 3000 else samples
            if which == "right":
                rows += try_right(name, samples, b, g, affine, draw, seed)
            else:
                for fault, order in damaged_tables(b, g, draw).items():
                    if which in fault:
                        about = check(samples, b[order], g[order], affine)
                        rows.append((name, fault, is_wrong(about), is_named(fault, order, about, b, g),
                                     about["rows"]["text"]))
                for fault, (more, values, vectors) in appended(samples, b, g, draw).items():
                    if which in fault:
                        about = check(more, values, vectors, affine)
                        rows.append((name, fault, is_wrong(about),
                                     is_named(fault, None, about, values, vectors), about["rows"]["text"]))
        finally:
            os.chdir(back)
    return rows


def try_right(name, samples, b, g, affine, draw, seed):
    """Right tables: the crop as it is; half its volumes; few directions; one b=0; drift; joined series; dropouts; axes
    flipped or permuted."""
    n, some = len(b), np.flatnonzero(b >= LIKE)
    none = np.flatnonzero(b < LIKE)
    axes = np.eye(3)[draw.permutation(3)] * draw.choice((-1, 1), 3)
    drift = 1 - .1 * np.arange(n) / n
    joined = np.where(np.arange(n) < n // 2, 1, 1.5)
    dropped = np.array(samples, "f4")
    for _ in range(35):
        dropped[:, :, int(draw.integers(samples.shape[2])), int(draw.integers(n))] *= .3
    few = np.sort(np.r_[none, draw.choice(some, min(len(some), int(draw.integers(6, 31))), replace=False)])
    half = np.sort(np.r_[none, draw.choice(some, (len(some) + 1) // 2, replace=False)])
    one = np.sort(np.r_[none[:1], some])
    every = np.arange(n)
    cases = [("as it is", samples, every, g), ("half", samples, half, g), ("few", samples, few, g),
             ("one b=0", samples, one, g), ("axes", samples, every, g @ axes), ("drift", samples * drift, every, g),
             ("joined", samples * joined, every, g), ("dropouts", dropped, every, g)]
    rows = []
    for what, of, keep, vectors in cases:
        if what == "dropouts" and samples.shape[2] < 4:
            continue
        about = check(of[..., keep], b[keep], vectors[keep], affine)
        turned = what != "axes" and about["gradients"].get("verdict") == "wrong"
        rows.append((name, "right: " + what, is_wrong(about) or turned, "axes" if turned else about["rows"]["verdict"],
                     about["gradients"]["likeliest"] if turned else about["rows"]["text"]))
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--faults", default="")
    parser.add_argument("--right", action="store_true")
    parser.add_argument("--simulated", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="every miss, with its message")
    parser.add_argument("-o", help="the tables, in Markdown")
    asked = parser.parse_args()
    jobs = [(os.path.abspath(asked.folder), name, seed, "right" if asked.right else asked.faults)
            for seed in range(asked.seed, asked.seed + asked.seeds) for name in list(SETS) + list(PHANTOMS)
            if asked.only in name]
    if asked.simulated:
        jobs = [("", "simulated", seed, "simulated") for seed in range(asked.seed, asked.seed + asked.seeds)]
    right = asked.right or asked.simulated
    with multiprocessing.Pool(asked.jobs) as pool:
        rows = []
        for some in pool.imap_unordered(try_one, jobs):
            rows += some
            for row in some if asked.list else ():
                if row[2] if right else not (row[2] and row[3]):
                    print("%s; %s; found %d; named %s; %s" % row, flush=True)
            print("%d tables of %s" % (len(some), some[0][0] if some else "none"), file=sys.stderr, flush=True)
    lines = []
    for what, at in (("fault", 1), ("set", 0))[:1 if asked.simulated else 2]:
        count = collections.OrderedDict()
        for row in rows:
            total = count.setdefault(row[at].replace(" again", ""), [0, 0, 0])
            total[0] += 1
            total[1] += row[2]
            total[2] += row[3] is True
        lines += ["| %s | tables | %s | named |" % (what, "faulted" if right else "found"), "| --- " * 4 + "|"]
        lines += ["| %s | %d | %d | %d |" % (key, *value) for key, value in count.items()]
        total = np.sum(list(count.values()), 0)
        lines += ["| all | %d | %d | %d |" % tuple(total), ""]
    print("\n".join(lines))
    if asked.o:
        with open(asked.o, "w") as file:
            file.write("\n".join(lines))


main()
