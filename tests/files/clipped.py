"""Clipped is what reaches the ceiling of the file, not a voxel whose own volumes happen to share their maximum."""
import os

import nibabel as nib
import numpy as np

from _dwi import check, end, hot

DATA = os.environ.get("HOT_DATA", "")
CLIPPED = 8


def flags(name, samples, affine, bval, bvec, *more):
    nib.save(nib.Nifti1Image(samples, affine), name + ".nii")
    done = hot("peaks", "--method", "signal", "--dwi", name + ".nii", "--bval", bval, "--bvec", bvec, "-o",
               "peaks.nrrd", "--flags", "flags.nii", *more)
    check(done.returncode == 0, "%s: %s" % (name, done.stderr))
    found = np.asarray(nib.load("flags.nii").dataobj) == CLIPPED
    said = hot("check", "-i", name + ".nii", "--bval", bval, "--bvec", bvec).stdout
    check((b"clipped" in said) == found.any(), "%s: check says otherwise" % name)
    return found


def judge(name, clip, whole, *arguments):
    """Every voxel with a sample at the ceiling is flagged, and no other."""
    found, true = flags(name, clip, *arguments), (whole >= clip.max()).any(-1)
    check(true.sum() > 20, "%s: %d clipped voxels are too few for a test" % (name, true.sum()))
    check(found[true].mean() >= .99, "%s: %d of %d clipped voxels found" % (name, found[true].sum(), true.sum()))
    check(not found[~true].any(), "%s: %d whole voxels flagged" % (name, found[~true].sum()))


done = hot("phantom", "-o", "phantom.nii", "--layout", "mixture", "--size", "9,8,8", "--snr", 20, "--seed", 90210,
           "-b", 1000, "--directions", 32, "--csf", "0-.3")
check(done.returncode == 0, done.stderr)
table = "phantom.bval", "phantom.bvec"
image = nib.load("phantom.nii")
whole = np.round(image.get_fdata().clip(0) * 4000 / image.get_fdata().max())
inside = "--mask", "all.nii"
nib.save(nib.Nifti1Image(np.ones(whole.shape[:3], np.uint8), image.affine), "all.nii")
for kind, scale in (np.int16, 1), (np.float32, .37), (np.uint8, 255 / 4000):
    samples = np.round(whole * scale) if np.issubdtype(kind, np.integer) else whole * scale
    name = "%s_%g" % (np.dtype(kind).name, scale)
    check(not flags(name, samples.astype(kind), image.affine, *table, *inside).any(), "%s: none is clipped" % name)
    ceiling = np.sort(samples.ravel())[-samples.size // 100]
    if kind == np.uint8:
        samples = np.round(samples * 255 / ceiling)
        ceiling = 255
    judge(name + "_clipped", np.minimum(samples, ceiling).astype(kind), samples.astype(np.float32), image.affine,
          *table, *inside)

# The brightest sample of one voxel twice, a diffusion-weighted one among them; one voxel damaged beyond the ceiling.
b = np.loadtxt("phantom.bval")
odd = whole.astype(np.float32)
odd[3, 4, 5, np.argmax(b)] = odd[3, 4, 5].max()
check(not flags("shared", odd, image.affine, *table, *inside).any(), "one voxel's own maximum is no ceiling")
damaged = np.minimum(whole, np.sort(whole.ravel())[-whole.size // 100]).astype(np.float32)
damaged[1, 2, 3, 20] = 30000
found = flags("damaged", damaged, image.affine, *table, *inside)
check(found[(damaged < whole).any(-1)].all() and found[1, 2, 3], "a damaged voxel hides the ceiling")
# Signals divided by b=0; no noise, the same b=0 everywhere.
ratio = (whole / whole[..., b == 0].mean(-1, keepdims=True)).astype(np.float32)
ratio[..., b == 0] = 1
check(not flags("ratio", np.minimum(ratio, 1), image.affine, *table, *inside).any(), "b=0 of 1 everywhere")
# Tensors of clipped signals are left empty, too.
done = hot("fit", "-i", "int16_1_clipped.nii", "--bval", table[0], "--bvec", table[1], "--mask", "all.nii", "--model",
           "adc", "--order", 4, "-o", "adc.nrrd")
check("clipped" in done.stderr, "fit: %s" % done.stderr)

if DATA and os.path.isdir(os.path.join(DATA, "human_2shell")):
    human = os.path.join(DATA, "human_2shell")
    image = nib.load(human + "/dwi.nii.gz")
    samples = np.round(image.get_fdata() / 8).clip(0).astype(np.int16)
    found = flags("human", samples, image.affine, human + "/dwi.bval", human + "/dwi.bvec", "--mask",
                  human + "/mask.nii.gz")
    check(found.sum() == 0, "human_2shell: %d voxels are called clipped" % found.sum())
else:
    print("real data are not here: not looked at")
end()
