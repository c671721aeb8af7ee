"""hotfiber score against a scorer written anew in numpy, on found directions that are the truth with errors: wrong
numbers, tilts, flipped signs; through NRRD and through NIfTI in scanner RAS with NaN for absent fibres."""
import itertools
import json
import os
import subprocess

import nibabel
import numpy as np

import _nrrd
from _check import check, end

HOT = os.environ["HOTFIBER"]
random = np.random.default_rng(11)


def degrees(u, v):
    return np.degrees(np.arccos(min(1, abs(u @ v) / np.linalg.norm(u) / np.linalg.norm(v))))


def score(*options):
    out = subprocess.run([HOT, "score", "--json", *map(str, options)], capture_output=True, text=True, check=True)
    result = json.loads(out.stdout)
    return result, {(g["table"], g["name"]): g for g in result["groups"]}, out.stderr


def judge(truth, found, threshold, most):
    """[(condition, true count, found count, solved, errors, angle, share)] per voxel, by trying all pairings."""
    rows = []
    for t, f in zip(truth.reshape(-1, 3, 3), found.reshape(-1, found.shape[-2], 3)):
        t = [v for v in t if np.linalg.norm(v) > 0]
        f = sorted([v for v in f if np.isfinite(v).all() and np.linalg.norm(v) > 0], key=np.linalg.norm, reverse=True)
        f = [v for v in f[:most] if np.linalg.norm(v) >= threshold * np.linalg.norm(f[0])]
        small, large = (t, f) if len(t) <= len(f) else (f, t)
        errors = min(([degrees(a, b) for a, b in zip(small, p)] for p in itertools.permutations(large, len(small))),
                     key=sum)
        condition, angle, share = {0: "isotropic", 1: "single", 3: "three"}.get(len(t), "other"), None, None
        if len(t) == 2:
            angle = degrees(*t)
            share = np.linalg.norm(t[0]) / (np.linalg.norm(t[0]) + np.linalg.norm(t[1]))
            for name, low, high in (("30-40", 30, 40), ("45-55", 45, 55), ("60-90", 60, 90)):
                if low - 0.05 <= angle <= high + 0.05:
                    condition = name
        rows.append((condition, len(t), len(f), len(t) == len(f) and all(e <= 15 for e in errors), errors, angle,
                     share))
    return rows


def compare(rows, groups, result, label):
    def group(key, members):
        g = groups.get(key)
        if not members:
            check(g is None, "%s: %s should not be there" % (label, key))
            return
        check(g is not None and g["voxels"] == len(members),
              "%s: %s has %s voxels, not %d" % (label, key, g, len(members)))
        if g is None:
            return
        errors = np.array([e for m in members for e in m[4]])
        want = {"right_count": np.mean([m[1] == m[2] for m in members]),
                "over": np.mean([m[2] > m[1] for m in members]), "under": np.mean([m[2] < m[1] for m in members]),
                "solved": np.mean([m[3] for m in members]), "n_plus": np.mean([max(0, m[2] - m[1]) for m in members]),
                "n_minus": np.mean([max(0, m[1] - m[2]) for m in members]), "matched": len(errors)}
        if len(errors):
            want.update(error_mean=errors.mean(), error_median=np.median(errors), error_95=np.percentile(errors, 95))
        for name, value in want.items():
            check(abs(g[name] - value) <= 2e-4 * max(1, abs(value)),
                  "%s: %s %s is %g, not %g" % (label, key, name, g[name], value))

    conditions = ["single", "30-40", "45-55", "60-90", "three", "isotropic", "other"]
    for c in conditions:
        group(("condition", c), [r for r in rows if r[0] == c])
        for tenth in range(5, 10):
            group(("fraction", "%s .%d" % (c, tenth)),
                  [r for r in rows if r[1] == 2 and r[0] == c and int(np.floor(10 * r[6] + 0.5)) == tenth])
    for n in range(4):
        group(("fibres", str(n)), [r for r in rows if r[1] == n])
    for ten in range(0, 100, 10):
        group(("angle", str(ten)), [r for r in rows if r[1] == 2 and int(np.floor(r[5] / 10 + 0.5)) * 10 == ten])
    group(("all", "all voxels"), rows)
    five = [np.mean([r[3] for r in rows if r[0] == c]) for c in conditions[:5] if any(r[0] == c for r in rows)]
    check(abs(result["mean_solved"] - np.mean(five)) < 1e-6 and result["mean_groups"] == len(five),
          label + ": mean of five")


def distort(truth, slots):
    """Found directions: tilted, some lost, some invented, shuffled, signs at random."""
    found = np.zeros(truth.shape[:-2] + (slots, 3))
    for index in np.ndindex(truth.shape[:-2]):
        fibres = [v for v in truth[index] if np.linalg.norm(v) > 0]
        keep = []
        for v in fibres:
            if random.random() < 0.12:
                continue
            tilt = random.normal(size=3) * random.choice([0.02, 0.1, 0.25]) * np.linalg.norm(v)
            keep.append((v + tilt) * random.choice([-1, 1]) * random.uniform(0.7, 1.3))
        while len(keep) < slots and random.random() < 0.15:
            keep.append(random.normal(size=3) * 0.1)
        for i, v in zip(random.permutation(slots), keep):
            found[index][i] = v
    return found


# A phantom with every condition, unequal fractions and angles between the groups, on an oblique LPS grid.
subprocess.run([HOT, "phantom", "-o", "d.nrrd", "--truth", "t.nrrd", "--oblique", "--single", "--angles",
                "30-40,41-44,45-55,60-90", "--fractions", ".5-.9", "--three", "--isotropic", "--voxels", "150",
                "--directions", "6"], check=True)
header, _, raw = _nrrd.read("t.nrrd")
truth = np.moveaxis(raw, 0, -1).reshape(raw.shape[1:] + (3, 3)).astype(float)
found = distort(truth, 5)
lines = open("t.nrrd", "rb").read().split(b"\n\n")[0].decode().splitlines()


def write_nrrd(path, vectors):
    sizes = "sizes: %d %d %d %d" % ((3 * vectors.shape[-2],) + vectors.shape[:3])
    text = "\n".join("encoding: raw" if l.startswith("encoding") else sizes if l.startswith("sizes") else l
                     for l in lines)
    samples = np.moveaxis(vectors.reshape(vectors.shape[:3] + (-1,)), -1, 0).astype("<f4")
    with open(path, "wb") as file:
        file.write(text.encode() + b"\n\n" + samples.tobytes(order="F"))


write_nrrd("f.nrrd", found)
found32 = found.astype("f4").astype(float)
for options, threshold, most in (((), 0, 8), (("--threshold", "0.3"), 0.3, 8), (("--max-fibers", "2"), 0, 2)):
    result, groups, _ = score("-i", "f.nrrd", "--truth", "t.nrrd", *options)
    compare(judge(truth, found32, threshold, most), groups, result, "NRRD %s" % (options,))

# The same through NIfTI: scanner RAS = the LPS vectors with x and y negated; absent fibres NaN, as MRtrix writes them.
directions = np.stack([v for v in _nrrd.vectors(header["space directions"]) if v is not None], axis=1)
affine = np.eye(4)
affine[:3, :3] = np.diag([-1, -1, 1]) @ directions
affine[:3, 3] = np.diag([-1, -1, 1]) @ _nrrd.vectors(header["space origin"])[0]
ras = found * [-1, -1, 1]
plain, groups, said = score("-i", "f.nrrd", "--truth", "t.nrrd")
for absent in (0, np.nan):
    volumes = np.where(ras == 0, absent, ras).reshape(ras.shape[:3] + (-1,)).astype("f4")
    nibabel.save(nibabel.Nifti1Image(volumes, affine), "f.nii.gz")
    result, _, said = score("-i", "f.nii.gz", "--truth", "t.nrrd")
    check(result == plain, "NIfTI with %s scores as NRRD does" % absent)
    check("oriented" not in said, "the grids agree: %s" % said)
nibabel.save(nibabel.Nifti1Image(volumes, np.diag([2, 2, 2, 1.0])), "g.nii.gz")
check("oriented" in score("-i", "g.nii.gz", "--truth", "t.nrrd")[2], "another orientation of the grid is reported")

# The truth itself in both formats, from the program: the same world directions, and NIfTI's data obey the formula in
# scanner RAS with FSL's bvec convention (image axes, x negated when the affine's determinant is positive).
subprocess.run([HOT, "phantom", "-o", "n.nii.gz", "--truth", "t.nii.gz", "--oblique", "--snr", "0", "--single",
                "--angles", "60-90", "--voxels", "40", "--b", "1000,3000", "--directions", "20"], check=True)
subprocess.run([HOT, "phantom", "-o", "n.nrrd", "--truth", "t2.nrrd", "--oblique", "--snr", "0", "--single", "--angles",
                "60-90", "--voxels", "40", "--b", "1000,3000", "--directions", "20"], check=True)
image, peaks = nibabel.load("n.nii.gz"), nibabel.load("t.nii.gz")
raw = _nrrd.read("t2.nrrd")[2]
lps = np.moveaxis(raw, 0, -1).reshape(raw.shape[1:] + (3, 3))
in_ras = np.asanyarray(peaks.dataobj).reshape(lps.shape)
line = np.abs(np.cross(in_ras, lps * [-1, -1, 1])).max()
check(line < 1e-6, "truth in RAS and in LPS are the same lines: %g" % line)
b, bvec = np.loadtxt("n.bval"), np.loadtxt("n.bvec")
axes = image.affine[:3, :3] / np.linalg.norm(image.affine[:3, :3], axis=0)
if np.linalg.det(axes) > 0:
    bvec = bvec * np.array([[-1], [1], [1]])
g = (axes @ bvec).T
f = np.linalg.norm(in_ras, axis=-1)
unit = np.divide(in_ras, f[..., None], out=np.zeros_like(in_ras), where=f[..., None] > 0)
dot = np.einsum("...fd,vd->...fv", unit, g)
want = 1000 * (f[..., None] * np.exp(-b * (0.2e-3 + 1.5e-3 * dot ** 2))).sum(-2)
check(np.abs(np.asanyarray(image.dataobj) - want).max() < 0.05,
      "NIfTI data: off by %g" % np.abs(np.asanyarray(image.dataobj) - want).max())
result, _, _ = score("-i", "t.nii.gz", "--truth", "t2.nrrd")
check(result["mean_solved"] == 1, "the truth scores 1")

# A slice of a phantom with several SNRs, and refusals.
subprocess.run([HOT, "phantom", "-o", "d.nrrd", "--truth", "s.nrrd", "--voxels", "4", "--snr", "10,20", "--directions",
                "6"], check=True)
check(score("-i", "s.nrrd", "--truth", "s.nrrd", "--slice", 1)[1][("all", "all voxels")]["voxels"] == 24, "one slice")
for options, status, word in ((["--truth", "s.nrrd"], 1, "voxels"), ([], 2, "--truth"),
                              (["--truth", "none.nrrd"], 1, "none.nrrd"),
                              (["--truth", "t.nrrd", "--slice", "9"], 1, "slice"),
                              (["--truth", "t.nrrd", "-o", "f.nrrd"], 1, "f.nrrd")):
    got = subprocess.run([HOT, "score", "-i", "f.nrrd", *options], capture_output=True, text=True)
    check(got.returncode == status and word in got.stderr and got.stderr.count("\n") == 1, "%s: %s" % (options, got))

end()
