"""Diffusion data whose number of volumes is a multiple of 3 are never read as directions; directions of any program
are."""
import os
import shutil
import subprocess

import nibabel
import numpy as np

from _export import HOTFIBER, export, run
from counted import check, end


def attempt(path, *must):
    """Refused by export and by score with one line that says these words, or (no words) taken by both."""
    for arguments in (["export", "-i", path, "-o", "out.vtp"], ["score", "-i", path, "--truth", "truth.nii.gz"]):
        done = subprocess.run([HOTFIBER, *arguments], capture_output=True, text=True)
        if must:
            check(done.returncode == 1 and done.stderr.count("\n") == 1,
                  f"{arguments}: {done.returncode} {done.stderr}")
            check(all(word in done.stderr for word in must + (path,)), f"{arguments}: {must}: {done.stderr}")
            check(not os.path.exists("out.vtp"), f"{arguments}: left a file")
        else:
            check(done.returncode == 0, f"{arguments}: {done.stderr}")
    if not must:
        os.remove("out.vtp")


run(HOTFIBER, "phantom", "--layout", "bundles", "--size", "20,20,8", "--directions", "64", "--b0", "8", "-o",
    "dwi.nii.gz", "--truth", "truth.nii.gz")
data = nibabel.load("dwi.nii.gz")
values, affine = np.asarray(data.dataobj, np.float32), data.affine
check(values.shape[3] == 72, f"{values.shape}")


def save(name, samples, dtype=np.float32):
    nibabel.save(nibabel.Nifti1Image(np.asarray(samples, dtype), affine), name)
    return name


# signals: beside their b-values; without them as whole numbers, as floats, masked, with a few negative samples
attempt("dwi.nii.gz", "diffusion-weighted", "dwi.bval")
os.rename("dwi.bval", "gone")
attempt("dwi.nii.gz", "diffusion-weighted", "intent_name")
attempt(save("float.nii", values), "no directions")
attempt(save("short.nii", np.round(values), np.int16), "whole numbers")
attempt(save("whole.nii", np.round(values)), "whole numbers")
attempt(save("three.nii", values[..., 8:11]), "all three", "positive")
scaled = np.abs(values) / values.max() + 1e-4
attempt(save("scaled.nii", scaled), "positive")
head = values[..., :8].mean(axis=3) > 200
attempt(save("masked.nii", scaled * head[..., None]), "positive")
eddy = scaled * head[..., None]
eddy[head] -= (np.random.default_rng(1).random((head.sum(), 1)) < 0.05) * 2  # interpolation leaves negative samples
attempt(save("eddy.nii", eddy), "positive")
# amounts of three tissues, as dwi2fod estimates them: a little below 0 in voxels without that tissue
random = np.random.default_rng(2)
amounts = random.dirichlet((.5, .5, .5), values.shape[:3])
amounts[amounts < .02] = -.002 * random.random((amounts < .02).sum())
check((amounts.min(axis=-1) < 0).mean() > .2, "some amounts are negative")
attempt(save("amounts.nii", .28 * amounts), "directions or colours or a map", "--as peaks|rgb")

# directions: ours, MRtrix's, axes as integers, one fibre everywhere, few voxels, nothing at all
attempt("truth.nii.gz")
os.rename("gone", "dwi.bval")
if shutil.which("sh2peaks"):
    run(HOTFIBER, "fit", "-i", "dwi.nii.gz", "-o", "tensors.nrrd", "--order", "8", "--quiet")
    export("tensors.nrrd", "sh.nii.gz", "--format", "sh")
    run("sh2peaks", "-quiet", "sh.nii.gz", "mrtrix.nii")
    attempt("mrtrix.nii")
one = np.zeros(values.shape[:3] + (3,))
one[...] = (0.6, 0.48, 0.64)
attempt(save("one.nii", one))
along = np.zeros(values.shape[:3] + (3,))
along[...] = (.7, 0, 0)
attempt(save("along.nii", along + .02 * random.standard_normal(along.shape)))
axes = np.zeros(values.shape[:3] + (6,))
axes[..., 0] = axes[..., 4] = 1
attempt(save("axes.nii", axes, np.int8))
few = np.zeros(values.shape[:3] + (6,))
few[3:5, 3:5, 2] = (0.6, 0.48, 0.64, 0.1, 0.2, 0.3)
attempt(save("few.nii", few))
attempt(save("none.nii", np.zeros(values.shape[:3] + (9,))))
end()
