#!/usr/bin/python3
"""The gate on people: in vivo there is no ground truth, but true fibres are found twice. Judge changes to method, mask,
noise or denoising by this table first.

    bench/accuracy/people.py [--only TEXT] [--rows ROW;ROW ...] [--quick] [--hotfiber FILE] [--data FOLDER]
                             [--folder F] [--csv FILE]

Directions, of human sets. Judged are voxels of clear white matter (the first peak of MRtrix's msmt_csd exceeds .5) and
of CSF and grey matter (more than .9 and .5 of MRtrix's three tissues, or two with one shell):
  0/1/2/3      share of the mask with so many fibres, percent
  none         voxels of clear white matter without a fibre, of how many
  same         halves of the volumes: share of clear white matter with the same number in both
  1st 2nd 3rd  share of the first, second, third directions of a half within 20 degrees of any of the other half's
  chance       the same for 2nd, with the other half's voxels exchanged at random
  cone 1, 2    both halves found one (two): share of fibres that differ by less than both 95 % cones together
  three, one   peaks_in_two_scans.csv: of 110 voxels with three fibres and of 500 with one, how many get that number
  CSF, grey    share of their voxels with a fibre; grey 2: with two or more
  lost         voxels of clear white matter that the estimated mask loses: whole, and worst slab of 1 to 3 slices
Halves: of each pair of neighbouring directions of a shell one goes to either half. MRtrix's peaks are cut where as
many remain as hotfiber finds, or at .1, fod2fixel's default; its responses are those of the whole scan.
FiberCup, a phantom with two acquisitions: numbers of fibres in voxels labelled as one-fibre, the median angle between
the first directions of both acquisitions and to those of the other b, and the share right where P > .9.

--folder keeps MRtrix's results, which take most of the time; hotfiber always runs again. --quick: human_2shell, signal
alone. Needs mrtrix3, python3-nibabel, python3-numpy."""
import csv
import os
import shutil
import sys
import tempfile

import nibabel
import numpy as np

import tissue

NEAR = 20  # degrees
ROWS = {"signal": (), "signal, denoised": ("--denoise",), "msmt": ("--model", "msmt"), "maxima": ("--method", "maxima"),
        "MRtrix, same count": None, "MRtrix, peaks > .1": None}
# name: data, mask, b-values used (None: all), halves
SETS = {"human_2shell": ("human_2shell/dwi.nii.gz", "human_2shell/mask.nii.gz", None, True),
        "human_2shell, b=2000": ("human_2shell/dwi.nii.gz", "human_2shell/mask.nii.gz", (0, 2000), True),
        "human_2shell, b=1000": ("human_2shell/dwi.nii.gz", "human_2shell/mask.nii.gz", (0, 1000), True),
        "mrtrix_msmt_roi": ("mrtrix_msmt_roi/mrtrix_msmt_roi.nii.gz", None, None, True),
        "small_64D": ("dipy_small_64D/dipy_small_64D.nhdr", None, None, True),
        "pnl_wip_dti": ("pnl_wip_dti/orig/WIP_dti_ax_601.nhdr", "dwi2mask", None, False)}
COLUMNS = ("set", "row", "0", "1", "2", "3", "none", "white", "same", "1st", "2nd", "3rd", "chance", "cone 1", "cone 2",
           "three", "one", "CSF", "grey", "grey 2", "lost", "lost in slabs")


class Scan:
    """Data, b, bvec and mask; saved as NAME.nii.gz, .bval, .bvec where a program reads them."""

    def __init__(self, data, affine, b, bvec, mask):
        self.data, self.affine, self.b, self.bvec, self.mask = data, affine, b, bvec, mask

    def part(self, volumes):
        return Scan(self.data[..., volumes], self.affine, self.b[volumes], self.bvec[:, volumes], self.mask)

    def slab(self, first, count):
        """Some slices of the third axis."""
        affine = self.affine.copy()
        affine[:3, 3] += first * affine[:3, 2]
        here = slice(first, first + count)
        return Scan(self.data[:, :, here], affine, self.b, self.bvec, self.mask[:, :, here])

    def save(self, stem):
        nibabel.save(nibabel.Nifti1Image(self.data, self.affine), stem + ".nii.gz")
        nibabel.save(nibabel.Nifti1Image(self.mask.astype("u1"), self.affine), stem + "_mask.nii.gz")
        np.savetxt(stem + ".bval", self.b[None], "%g")
        np.savetxt(stem + ".bvec", self.bvec, "%.8f")
        return stem


def load(path):
    return np.nan_to_num(np.asanyarray(nibabel.load(path).dataobj).astype(float))


def peaks(path):
    """x y z fibre 3, longest first."""
    data = load(path)
    return tissue.in_order(data.reshape(-1, data.shape[3] // 3, 3)).reshape(data.shape[:3] + (-1, 3))


def length(v):
    return np.linalg.norm(v, axis=-1)


def angle(a, b):
    """Degrees between axes; 90 where one is absent."""
    dots = np.abs((a * b).sum(-1)) / np.maximum(length(a) * length(b), 1e-12)
    return np.degrees(np.arccos(np.clip(dots, 0, 1)))


def shells(b):
    return np.round(b, -2)


def halves(scan):
    """Volumes of both halves: directions are paired with their nearest and the two of a pair are parted."""
    chosen = [[], []]
    unit = scan.bvec / np.maximum(length(scan.bvec.T), 1e-9)
    for shell in np.unique(shells(scan.b)):
        left, turn = list(np.flatnonzero(shells(scan.b) == shell)), 0
        while len(left) > 1:
            near = np.abs(unit[:, left].T @ unit[:, left]) - 2 * np.eye(len(left))
            i, j = np.unravel_index(near.argmax(), near.shape)
            chosen[turn].append(left[i])
            chosen[1 - turn].append(left[j])
            left, turn = [v for n, v in enumerate(left) if n not in (i, j)], 1 - turn
        for one in chosen if shell == 0 else chosen[turn:turn + 1]:
            one += left  # a single b=0 serves both
    return [np.sort(one) for one in chosen]


# ---- MRtrix --------------------------------------------------------------------------------------------------------
def gradients(stem):
    return ("-fslgrad", stem + ".bvec", stem + ".bval", "-quiet", "-force")


def mrtrix(folder, scan, name, responses=None):
    """msmt_csd of three tissues, two with one shell; five peaks in NAME_peaks.nii.gz, fractions in NAME_TISSUE.nii.gz.
    Kept in the folder."""
    stem = os.path.join(folder, name)
    responses = responses or stem
    tissues = ("wm", "gm", "csf") if len(np.unique(shells(scan.b))) > 2 else ("wm", "csf")
    if os.path.exists(stem + "_peaks.nii.gz"):
        return stem, tissues
    scan.save(stem)
    mask = ("-mask", stem + "_mask.nii.gz")
    if responses == stem:
        few = () if scan.mask.sum() > 5000 else ("-sfwm", "5", "-gm", "20", "-csf", "30")
        tissue.call("dwi2response", "dhollander", stem + ".nii.gz",
                    *["%s_%s.txt" % (stem, t) for t in ("wm", "gm", "csf")], "-erode", "0", *few, *mask,
                    *gradients(stem))
    pairs = [x for t in tissues for x in ("%s_%s.txt" % (responses, t), "%s_%s.mif" % (stem, t))]
    tissue.call("dwi2fod", "msmt_csd", stem + ".nii.gz", *pairs, *mask, *gradients(stem))
    for t in tissues:
        tissue.call("mrconvert", "%s_%s.mif" % (stem, t), "-coord", "3", "0", "%s_%s.nii.gz" % (stem, t), "-quiet",
                    "-force")
    tissue.call("sh2peaks", stem + "_wm.mif", stem + "_part.nii.gz", "-num", "5", "-quiet", "-force")
    os.rename(stem + "_part.nii.gz", stem + "_peaks.nii.gz")
    return stem, tissues


def tissue_masks(stem, tissues, mask):
    """Clear white matter, CSF, grey matter."""
    amount = {t: load("%s_%s.nii.gz" % (stem, t)).reshape(mask.shape) for t in tissues}
    total = np.maximum(sum(amount.values()), 1e-9)
    share = {t: a / total for t, a in amount.items()}
    white = mask & (length(peaks(stem + "_peaks.nii.gz")[..., 0, :]) > .5)
    return white, mask & (share["csf"] > .9), mask & (share.get("gm", np.zeros(mask.shape)) > .5)


def cut(v, bound):
    return np.where((length(v) > bound)[..., None], v, 0)[..., :3, :]


def bound_for_count(found, count):
    """The amplitude above which `count` peaks are left."""
    sizes = np.sort(np.concatenate([length(v[..., :3, :]).ravel() for v in found]))[::-1]
    return sizes[min(int(count), len(sizes) - 1)]


# ---- hotfiber ------------------------------------------------------------------------------------------------------
def run(hot, scan, options, mask=True):
    """A dict of peaks and, of signal, cone and probability."""
    signal = not {"--model", "--method"} & set(options)
    with tempfile.TemporaryDirectory() as folder:
        stem = scan.save(os.path.join(folder, "d"))
        out = os.path.join(folder, "o")
        tissue.call(hot, "run", "-i", stem + ".nii.gz", "-o", out, *options, "--quiet", "--outputs",
                    "peaks,mask" + (",cone,probability" if signal else ""),
                    *(("--mask", stem + "_mask.nii.gz") if mask else ()))
        found = {"peaks": load(out + "/peaks.nii.gz").reshape(scan.mask.shape + (-1, 3)),
                 "mask": load(out + "/mask.nii.gz") > 0}
        if signal:
            found.update({name: load("%s/%s.nii.gz" % (out, name)) for name in ("cone", "probability")})
        return found


def lost_by_mask(hot, scan, white):
    """Clear white matter outside of the estimated mask: of the whole, and the worst of all slabs of 1 to 3 slices, as
    (voxels, of how many)."""
    def lost(part, inside):
        with tempfile.TemporaryDirectory() as folder:
            stem = part.save(os.path.join(folder, "d"))
            tissue.call(hot, "run", "-i", stem + ".nii.gz", "-o", folder + "/o", "--outputs", "mask", "--method",
                        "maxima", "--model", "adc", "--order", "2", "--quiet")
            return (int((inside & (load(folder + "/o/mask.nii.gz") == 0)).sum()), int(inside.sum()))

    whole, worst, depth = lost(scan, white), (0, 1), scan.mask.shape[2]
    for count in (1, 2, 3):
        for first in range(0, depth - count + 1, count if depth <= 15 else 3):
            inside = white[:, :, first:first + count]
            if count < depth and inside.sum() >= 50:
                worst = max(worst, lost(scan.slab(first, count), inside), key=lambda x: x[0] / x[1])
    return whole, worst


# ---- figures -------------------------------------------------------------------------------------------------------
def found_again(a, b, white):
    """Figures of two [x y z fibre 3]: same number, k-th direction of either near any of the other, chance."""
    a, b = (np.pad(v[white], ((0, 0), (0, 3 - v.shape[-2]), (0, 0))) if v.shape[-2] < 3 else v[white] for v in (a, b))
    counts = [(length(v) > 0).sum(1) for v in (a, b)]
    exchange = np.random.default_rng(1)
    result = {"same": (counts[0] == counts[1]).mean()}
    for k, name in enumerate(("1st", "2nd", "3rd")):
        near, chance = [], []
        for one, other, n in ((a, b, counts[0]), (b, a, counts[1])):
            mine = np.flatnonzero(n > k)
            again = lambda to: ((angle(one[mine, None, k], to) < NEAR) & (length(to) > 0)).any(1)  # noqa: E731
            near.append(again(other[mine]))
            chance.append(again(other[exchange.permutation(mine)]))
        near = np.concatenate(near)
        result[name] = near.mean() if len(near) > 50 else np.nan
        if k == 1:
            result["chance"] = np.concatenate(chance).mean() if len(near) else np.nan
    return result


def cones(a, b, white):
    """Of voxels in which both found one fibre, and two: the share within both 95 % cones together."""
    result = {}
    counts = [(length(x["peaks"]) > 0).sum(-1) for x in (a, b)]
    for k in (1, 2):
        here = white & (counts[0] == k) & (counts[1] == k)
        one, other = (x["peaks"][here][:, :k] for x in (a, b))
        apart = angle(one[:, :, None], other[:, None])
        which = apart.argmin(2)
        both = np.hypot(a["cone"][here][:, :k], np.take_along_axis(b["cone"][here][:, :k], which, 1))
        result["cone %d" % k] = (apart.min(2) <= both).mean() if here.any() else np.nan
    return result


def counts(v, mask, white, csf, grey):
    n = (length(v) > 0).sum(-1)
    share = lambda here, least: (n[here] >= least).mean() if here.sum() >= 20 else np.nan  # noqa: E731
    result = {str(k): (n[mask] == k).mean() for k in range(4)}
    result.update({"none": int((n[white] == 0).sum()), "white": int(white.sum()), "CSF": share(csf, 1),
                   "grey": share(grey, 1), "grey 2": share(grey, 2)})
    return result


def two_scans(path, v):
    """How many voxels with the same three peaks in two scans get three fibres, and with one get one."""
    rows = np.loadtxt(path, delimiter=",", skiprows=1, usecols=range(4), dtype=int)
    n = (length(v) > 0).sum(-1)[tuple(rows[:, :3].T)]
    return {name: int((n[rows[:, 3] == k] == k).sum()) for name, k in (("three", 3), ("one", 1))}


# ---- sets ----------------------------------------------------------------------------------------------------------
def open_set(hot, data, name, folder):
    path, mask, used, _ = SETS[name]
    tissue.call(hot, "convert", "-i", os.path.join(data, path), "-o", folder + "/d.nii.gz", "--quiet")
    image = nibabel.load(folder + "/d.nii.gz")
    b, bvec = np.loadtxt(folder + "/d.bval"), np.loadtxt(folder + "/d.bvec")
    if mask == "dwi2mask":
        tissue.call("dwi2mask", folder + "/d.nii.gz", folder + "/mask.nii.gz", *gradients(folder + "/d"))
        inside = load(folder + "/mask.nii.gz") > 0
    else:
        inside = load(os.path.join(data, mask)) > 0 if mask else np.ones(image.shape[:3], bool)
    scan = Scan(np.asanyarray(image.dataobj).astype("f4"), image.affine, b, bvec, inside)
    return scan, scan if used is None else scan.part(np.flatnonzero(np.isin(shells(b), used)))


def judge(hot, data, name, rows, folder):
    """Yields a row of figures for each tool."""
    os.makedirs(folder, exist_ok=True)
    whole, scan = open_set(hot, data, name, folder)
    # white matter of a part of the shells is that of all
    home = os.path.join(os.path.dirname(folder), name.split(",")[0])
    os.makedirs(home, exist_ok=True)
    white, csf, grey = tissue_masks(*mrtrix(home, whole, "mrtrix"), whole.mask)
    parts = [scan.part(v) for v in halves(scan)] if SETS[name][3] else []
    csv_file = os.path.join(data, "human_2shell", "peaks_in_two_scans.csv")
    ours = None
    for row in rows:
        options = ROWS[row]
        figures = {"set": name, "row": row}
        if options is not None:
            found = run(hot, scan, options)
            again = [run(hot, part, options) for part in parts]
            full, pair = found["peaks"], [x["peaks"] for x in again]
            ours = ours if ours is not None else (full, pair)
        elif not parts:
            continue
        else:
            stem = mrtrix(folder, scan, "mrtrix")[0]
            all_peaks = [peaks(stem + "_peaks.nii.gz")]
            all_peaks += [peaks(mrtrix(folder, p, "half_%d" % h, stem)[0] + "_peaks.nii.gz")
                          for h, p in enumerate(parts)]
            bounds = [.1, .1]
            if "same" in row:
                if ours is None:
                    sys.exit("--rows: \"%s\" needs a row of hotfiber before it" % row)
                amount = lambda found: sum((length(v[white]) > 0).sum() for v in found)  # noqa: E731
                bounds = [bound_for_count([v[white] for v in m], amount(o))
                          for m, o in ((all_peaks[:1], ours[:1]), (all_peaks[1:], ours[1]))]
            full, pair = cut(all_peaks[0], bounds[0]), [cut(v, bounds[1]) for v in all_peaks[1:]]
        figures.update(counts(full, scan.mask, white, csf, grey))
        if name.startswith("human_2shell"):
            figures.update(two_scans(csv_file, full))
        if parts:
            figures.update(found_again(*pair, white))
        if parts and options is not None and "cone" in again[0]:
            figures.update(cones(*again, white))
        if row == "signal" and name == name.split(",")[0]:
            for key, (lost, of) in zip(("lost", "lost in slabs"), lost_by_mask(hot, scan, white)):
                figures[key] = "%d/%d" % (lost, of)
        yield figures


# ---- FiberCup ------------------------------------------------------------------------------------------------------
def fibercup_scans(data):
    """{(b, acquisition): scan}, with the phantom's mask; the labels."""
    inside = load(data + "/fibercup_b650/mask.nii.gz") > 0
    image = nibabel.load(data + "/fibercup/fibercup_b1500.nii.gz")
    samples = np.asanyarray(image.dataobj).astype("f4")
    labels = load(data + "/fibercup/fibercup_nfib_labels.nii.gz").astype(int)
    b, bvec = (np.loadtxt(data + "/fibercup/fibercup_b1500." + end) for end in ("bval", "bvec"))
    low, high = np.flatnonzero(b < 50), np.flatnonzero(b > 50)
    whole = Scan(samples, image.affine, b, bvec, inside)
    made = {(1500, a + 1): whole.part(np.r_[low[a], high[64 * a:64 * (a + 1)]]) for a in (0, 1)}
    b, bvec = (np.loadtxt(data + "/fibercup_b650/dwi." + end) for end in ("bval", "bvec"))
    for a in (1, 2):
        image = nibabel.load(data + "/fibercup_b650/acq%d.nii.gz" % a)
        made[(650, a)] = Scan(np.asanyarray(image.dataobj).astype("f4"), image.affine, b, bvec, inside)
    return made, labels


def judge_fibercup(hot, data, rows):
    scans, labels = fibercup_scans(data)
    ones, twos = labels == 1, labels == 2
    print("\n| FiberCup | row | one-fibre voxels: 0 / 1 / 2 / 3 | two-fibre voxels with two | right where P > .9 | "
          "first, other acquisition | first, other b |\n|" + " --- |" * 7, flush=True)
    for row in [r for r in rows if ROWS[r] is not None]:
        found = {}
        for key, scan in scans.items():
            try:
                found[key] = run(hot, scan, ROWS[row])
            except RuntimeError as error:
                print("| b=%d, %d | %s | failed: %s | - | - | - | - |" % (*key, row, str(error).splitlines()[-1]))
        first = {key: f["peaks"][..., 0, :] for key, f in found.items()}
        for (b, a), f in found.items():
            n = (length(f["peaks"]) > 0).sum(-1)
            off = lambda key: np.median(angle(first[b, a][ones], first[key][ones])) if key in first else np.nan  # noqa
            sure = np.nan
            if "probability" in f:
                sure_here = ones & (f["probability"].max(-1) > .9)
                sure = (n[sure_here] == 1).mean() if sure_here.any() else np.nan
            print("| b=%d, %d | %s | %s | %d of %d | %.2f | %.1f | %.1f |" % (
                b, a, row, " / ".join(map(str, np.bincount(n[ones], minlength=4))), (n[twos] == 2).sum(), twos.sum(),
                sure, off((b, 3 - a)), off((2150 - b, a))), flush=True)


# ---- table ---------------------------------------------------------------------------------------------------------
def shown(name, value):
    if value is None or isinstance(value, float) and np.isnan(value):
        return "-"
    if name in "0123":
        return "%.1f" % (100 * value)
    return "%.3f" % value if isinstance(value, float) else str(value)


def main():
    parser = tissue.command_line(__doc__)
    parser.add_argument("--data", default=os.path.join(tissue.ROOT, "..", "shared", "data"))
    parser.add_argument("--folder")
    parser.add_argument("--only", default="")
    parser.add_argument("--rows", default=";".join(ROWS), help="separated by semicolons")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--csv")
    options = parser.parse_args()
    hot, data = options.hotfiber, os.path.abspath(options.data)
    if not os.path.isdir(data + "/human_2shell"):
        sys.exit("no human data at %s" % options.data)
    rows = ["signal"] if options.quick else options.rows.split(";")
    sets = ["human_2shell"] if options.quick else [s for s in SETS if options.only in s]
    folder = os.path.abspath(options.folder) if options.folder else tempfile.mkdtemp()
    table = []
    print("| " + " | ".join(COLUMNS) + " |\n|" + " --- |" * len(COLUMNS), flush=True)
    for name in sets:
        for figures in judge(hot, data, name, rows, os.path.join(folder, name)):
            table.append([shown(c, figures.get(c)) for c in COLUMNS])
            print("| " + " | ".join(table[-1]) + " |", flush=True)
    if options.csv:
        with open(options.csv, "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS] + table)
    if not options.quick and options.only in "FiberCup":
        judge_fibercup(hot, data, rows)
    if not options.folder:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
