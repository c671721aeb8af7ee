"""Maps of one number per voxel. FA and MD against MRtrix's dwi2tensor and tensor2metric and against DIPY's; AFD and
NuFO by their definitions (scilpy's fodf metrics) from the harmonics that `export sh` writes, sampled by MRtrix; mask,
response and amplitudes against what they are made from."""
import os
import shutil
import sys

import nibabel
import numpy as np

sys.path.insert(0, __file__.rsplit("/", 1)[0])
from _export import HOTFIBER, Checks, export, run

check = Checks()
MAPS = ("fa", "md", "afd_total", "afd_sum", "afd_max", "nufo", "amplitude", "mask")


def load(path):
    return nibabel.load(path).get_fdata()


def fibonacci(count):
    """Directions all over the half sphere."""
    i = np.arange(count) + .5
    z, turn = i / count, np.pi * (1 + 5 ** .5) * i
    return np.stack([np.sqrt(1 - z * z) * np.cos(turn), np.sqrt(1 - z * z) * np.sin(turn), z], axis=1)


def amplitudes(sh, directions):
    np.savetxt("directions.txt", directions)
    run("sh2amp", "-quiet", "-force", sh, "directions.txt", "amplitudes.nii")
    return nibabel.load("amplitudes.nii")


def maxima(values, directions, near):
    """Heights of the local maxima, the highest first, at least 25 degrees apart: directions that none of their
    neighbours (near) exceeds. And whether that is clear: no two are about 25 degrees apart."""
    tops = np.flatnonzero((values[:, None] >= values[near]).all(axis=1) & (values > 0))
    kept = []
    for at in tops[np.argsort(-values[tops])]:
        if all(abs(directions[at] @ directions[other]) < np.cos(np.radians(25)) for other in kept):
            kept.append(at)
    angle = np.degrees(np.arccos(np.clip(np.abs(directions[tops] @ directions[tops].T), 0, 1)))
    return values[kept], not ((angle > 23.5) & (angle < 26.5)).any()


# ---- FA and MD: two shells, of which the lower is used -------------------------------------------------------------
run(HOTFIBER, "phantom", "--layout", "bundles", "--size", "14,14,4", "-b", "1000,2500", "--snr", "25", "--seed", "3",
    "-o", "dwi.nii.gz", "--truth", "truth.nrrd", "--quiet")
run(HOTFIBER, "run", "-i", "dwi.nii.gz", "-o", "out", "--outputs", "default,maps,tensors,peaks_fod", "--quiet")
wanted = {m + ".nii.gz" for m in (*MAPS, "peaks", "peaks_fod", "dec", "nfibers")} | {
    "tensors.nrrd", "peaks.nrrd", "response.txt", "fibers.png", "report.json"}
check(set(os.listdir("out")) == wanted, f"files: {sorted(set(os.listdir('out')) ^ wanted)}")
mask = load("out/mask.nii.gz") > 0
check(nibabel.load("out/mask.nii.gz").get_data_dtype() == np.uint8 and 100 < mask.sum() < mask.size, "mask")
bval = np.loadtxt("dwi.bval")
if shutil.which("dwi2tensor"):
    run("mrconvert", "-quiet", "-fslgrad", "dwi.bvec", "dwi.bval", "dwi.nii.gz", "all.mif")
    run("dwiextract", "-quiet", "-shells", "0,1000", "all.mif", "low.mif")
    run("dwi2tensor", "-quiet", "low.mif", "-mask", "out/mask.nii.gz", "dt.mif")
    run("tensor2metric", "-quiet", "dt.mif", "-fa", "fa.nii", "-adc", "md.nii")
    for name, bound in (("fa", .01), ("md", 1.5e-5)):
        ours, theirs = load(f"out/{name}.nii.gz")[mask], np.nan_to_num(load(f"{name}.nii")[mask])
        off = np.abs(ours - np.minimum(theirs, 1) if name == "fa" else ours - theirs)
        check(np.median(off) < bound / 10 and np.percentile(off, 95) < bound and theirs.std() > 5 * bound,
              f"{name} against MRtrix: {np.percentile(off, [50, 95, 100])} apart")
try:
    from dipy.core.gradients import gradient_table
    from dipy.reconst.dti import TensorModel
except Exception:
    print("DIPY does not load: left out")
else:
    low = bval < 1500
    model = TensorModel(gradient_table(bval[low], np.loadtxt("dwi.bvec").T[low]), fit_method="WLS")
    fit = model.fit(load("dwi.nii.gz")[mask][:, low])
    for name, theirs, bound in (("fa", fit.fa, .01), ("md", fit.md, 1.5e-5)):
        # DIPY makes negative eigenvalues, which noise gives to a quarter of these voxels, positive: it has no others
        same = fit.evals[..., 2] > 1e-7
        off = np.abs(load(f"out/{name}.nii.gz")[mask] - theirs)[same]
        check(same.mean() > .5 and off.max() < bound / 100, f"{name} against DIPY: {np.percentile(off, [50, 95, 100])} "
              f"apart in {same.mean():.2f} of the voxels")
# The same from the stages.
run(HOTFIBER, "fit", "-i", "dwi.nii.gz", "--model", "adc", "--order", "2", "--mask", "out/mask.nii.gz", "--quiet",
    "-o", "dti.nrrd")
for name in ("fa", "md"):
    export("dti.nrrd", name + ".nrrd")
    export("dti.nrrd", name + "_all.nii", "--format", name)
fa = load("fa_all.nii")
check(np.isfinite(fa).all() and 0 <= fa.min() < fa.max() <= 1, f"FA is from {fa.min()} to {fa.max()}")

# ---- AFD and NuFO, from the harmonics ------------------------------------------------------------------------------
export("out/tensors.nrrd", "sh.nii", "--format", "sh")
sh = load("sh.nii")
check(np.abs(load("out/afd_total.nii.gz") - sh[..., 0]).max() < 1e-4, "afd_total")
check(np.abs(load("out/afd_sum.nii.gz") - np.sqrt((sh ** 2).sum(-1))).max() < 1e-4, "afd_sum")
if shutil.which("sh2amp"):
    directions = fibonacci(6000)
    near = np.argsort(-np.abs(directions @ directions.T), axis=1)[:, 1:9]
    image = amplitudes("sh.nii", directions)
    values = image.get_fdata().reshape(mask.shape + (-1,))
    check(np.allclose(image.affine, nibabel.load("sh.nii").affine, atol=1e-4), "the order of voxels")
    ours_max, ours_nufo = load("out/afd_max.nii.gz"), load("out/nufo.nii.gz")
    same = total = 0
    for voxel in np.argwhere(mask)[::5]:
        v = values[tuple(voxel)]
        heights, clear = maxima(v, directions, near)
        heights, lowest = heights[:5], max(v.min(), 0)
        high = heights[0] if len(heights) else 0
        check(-1e-4 < ours_max[tuple(voxel)] / high - 1 < 1.5e-3, f"afd_max {voxel}: {ours_max[tuple(voxel)]} {high}")
        total += clear
        same += clear and (heights >= lowest + .1 * (high - lowest)).sum() == ours_nufo[tuple(voxel)]
    check(total > 50 and same >= total - 1, f"nufo: the same in {same} of {total} voxels")
    check(len(np.unique(ours_nufo[mask])) > 1, "nufo is not one number")

# ---- Amplitudes, response, and what lengths add up to --------------------------------------------------------------
peaks = load("out/peaks.nii.gz").reshape(mask.shape + (3, 3))
lengths = np.linalg.norm(peaks, axis=-1)
check(np.abs(load("out/amplitude.nii.gz") - lengths).max() < 1e-6, "amplitude")
run(HOTFIBER, "response", "-i", "dwi.nii.gz", "--mask", "out/mask.nii.gz", "-o", "r.txt", "--quiet")
check(np.allclose(np.loadtxt("r.txt"), np.loadtxt("out/response.txt")), "response")

# Dark voxels: the noise floor is large beside their b=0 signal, and fits add up to more than the voxel.
image = nibabel.load("dwi.nii.gz")
data = image.get_fdata()
data[:7, ..., bval == 0] *= .5
nibabel.save(nibabel.Nifti1Image(data.astype(np.float32), image.affine), "dark.nii.gz")
for suffix in (".bval", ".bvec"):
    shutil.copy("dwi" + suffix, "dark" + suffix)
for method in ("signal", "lowrank"):
    run(HOTFIBER, "run", "-i", "dark.nii.gz", "-o", method, "--method", method, "--response", "r.txt", "--mask",
        "out/mask.nii.gz", "--outputs", "peaks", "--quiet")
    sums = np.linalg.norm(load(f"{method}/peaks.nii.gz").reshape(mask.shape + (3, 3)), axis=-1).sum(-1)
    check(.99 < sums.max() <= 1 and (sums > .999).sum() > 30, f"{method}: fractions add up to {sums.max()}, "
          f"{(sums > .999).sum()} voxels at 1")
check.end()
