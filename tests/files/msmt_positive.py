"""Deconvolution that is negative nowhere (--constraint hpsd), on all real sets there are: no amplitude below zero in
10,000 directions, the tensor's matrix positive semidefinite, residuals; also after --normalise. HOT_TEST_LONG=1: every
voxel of every set, orders 2 to 8, both kernels; else thinned masks, orders 4 and 8."""
import os
from itertools import product
from math import factorial

import nibabel
import numpy as np

from _dwi import check, end, hot

LONG = bool(os.environ.get("HOT_TEST_LONG"))
DATA = os.path.join(os.environ.get("HOT_DATA", ""), "")
MSMT = DATA + "mrtrix_refs/msmt/"
# name, image, mask, responses, the orders that its directions carry
SETS = [("mrtrix_refs", MSMT + "dwi.mif", MSMT + "mask.mif",
         ",".join(MSMT + t for t in ("wm.txt", "gm.txt", "csf.txt")), (2, 4, 6, 8)),
        ("mrtrix_msmt_roi", DATA + "mrtrix_msmt_roi/mrtrix_msmt_roi.nrrd", None, None, (2, 4, 6, 8)),
        ("human_2shell", DATA + "human_2shell/dwi.nii.gz", DATA + "human_2shell/mask.nii.gz", None, (2, 4, 6, 8)),
        ("fibercup", DATA + "fibercup/fibercup_b1500.nhdr", None, None, (2, 4, 6, 8)),
        ("dipy_small_64D", DATA + "dipy_small_64D/dipy_small_64D.nhdr", None, None, (2, 4, 6, 8)),
        ("pnl_wip_dti", DATA + "pnl_wip_dti/orig/WIP_dti_ax_601.nhdr", None, None, (2, 4))]
random = np.random.default_rng(10)
v = random.normal(size=(10000, 3))
v /= np.linalg.norm(v, axis=1)[:, None]


def exponents(order):
    return [(order - s, s - c, c) for s in range(order + 1) for c in range(s + 1)]


def multiplicity(order):
    return np.array([factorial(order) / np.prod([factorial(k) for k in e]) for e in exponents(order)])


def judge(name, order, tensors, residual):
    """Tensors [voxel, value] of the fitted voxels."""
    monomials = multiplicity(order) * np.stack([np.prod(v ** np.array(e), 1) for e in exponents(order)], 1)
    lowest, least, places = np.inf, np.inf, {e: i for i, e in enumerate(exponents(order))}
    half, root = exponents(order // 2), np.sqrt(multiplicity(order // 2))
    at = [[places[tuple(np.add(p, q))] for q in half] for p in half]
    for some in np.array_split(tensors, 1 + len(tensors) // 500):
        lowest = min(lowest, ((some @ monomials.T).min(1) / np.abs(some).max(1)).min())
        matrices = some[:, at] * np.outer(root, root)
        least = min(least, (np.linalg.eigvalsh(matrices)[:, 0] / np.trace(matrices, axis1=1, axis2=2)).min())
    print("%s: %d voxels, lowest of 10,000 amplitudes %.2g of the largest value, least eigenvalue %.2g of the trace, "
          "residuals to %.2g" % (name, len(tensors), lowest, least, residual.max()))
    check(lowest >= 0, "%s: an amplitude of %g" % (name, lowest))
    check(least >= -1e-7, "%s: an eigenvalue of %g of the trace" % (name, least))
    check(0 <= residual.min() and residual.max() < 1e-4 and (residual > 1e-6).mean() < 5e-3, name + ": residuals")


def thinned(image, mask):
    """A mask of about 300 voxels, or of all."""
    done = hot("fit", "-i", image, "-o", "m.nii", "--model", "adc", "--order", 2, *(["--mask", mask] if mask else []))
    check(done.returncode == 0, done.stderr)
    whole = nibabel.load("m.nii")
    inside = np.asanyarray(whole.dataobj)[..., 0] > 0
    places = np.flatnonzero(inside)
    if not LONG and len(places) > 300:
        inside = np.zeros(inside.size, bool)
        inside[places[::len(places) // 300]] = True
    nibabel.save(nibabel.Nifti1Image(inside.reshape(whole.shape[:3]).astype("u1"), whole.affine), "m.nii")


def fit(name, image, responses, order, kernel, *more):
    done = hot("fit", "-i", image, "-o", "t.nii", "--model", "msmt", "--constraint", "hpsd", "--order", order, "--mask",
               "m.nii", "--kernel", kernel, "--residual", "r.nii", *(["--response", responses] if responses else []),
               *more)
    check(done.returncode == 0, "%s: %s" % (name, done.stderr))
    if done.returncode:
        return
    tensors = nibabel.load("t.nii").get_fdata()
    tensors = tensors.reshape(-1, tensors.shape[-1])
    fitted = tensors[:, 0] > 0
    check(fitted.sum() > .9 * nibabel.load("m.nii").get_fdata().sum() or name == "fibercup", name + ": voxels missing")
    some = np.abs(tensors[:, 1:]).max(1) > 0  # else nothing but other tissues
    judge("%s, order %d, %s%s" % (name, order, kernel, "".join(", " + m[2:] for m in more)), order,
          tensors[fitted & some, 1:], nibabel.load("r.nii").get_fdata().ravel()[fitted])


tried = 0
for name, image, mask, responses, orders in SETS:
    if not os.path.isfile(image):
        print("left out: no %s in HOT_DATA" % name)
        continue
    tried += 1
    if not responses:  # of the whole image, as thinned masks have too few voxels of one fibre
        three = name in ("mrtrix_msmt_roi", "human_2shell")
        done = hot("response", "-i", image, *(["--mask", mask] if mask else []), "-o", "wm.txt",
                   *(["--tissues", 3, "--erode", 0, "--gm", "gm.txt", "--csf", "csf.txt"] if three else []))
        check(done.returncode == 0, "%s: %s" % (name, done.stderr))
        responses = "wm.txt,gm.txt,csf.txt" if three else "wm.txt"
    thinned(image, mask)
    for order, kernel in product([o for o in orders if LONG or o % 4 == 0], ("rank1", "delta")):
        if LONG or kernel == "rank1" or order == 8:
            fit(name, image, responses, order, kernel)
    if "," in responses:
        fit(name, image, responses, orders[-1], "rank1", "--normalise")

# without real data: what voxels of a phantom hold, one after the other, and of noise, zeros, signals turned round
done = hot("phantom", "-o", "p.nii", "--truth", "truth.nii", "--layout", "mixture", "--shares", ".2,.3,.3,.2",
           "-b", "1000,2500", "--directions", 45, "--b0", 6, "--size", "12,10,3", "--snr", 12, "--csf", "0-.4",
           "--grey", "0-.4", "--seed", 77)
check(done.returncode == 0, done.stderr)
image = nibabel.load("p.nii")
data = np.asanyarray(image.dataobj).astype(np.float32)
level = data[..., :6].mean()
data[0] = random.normal(scale=.05 * level, size=data[0].shape)  # noise; half of the voxels have a b=0 signal below 0
data[1, 0], data[1, 1], data[1, 2, 0] = 0, -data[1, 1], np.nan
data[1, 3, ..., :6] *= 1e-6  # hardly any b=0 signal
data[1, 4] = level  # no decay
nibabel.save(nibabel.Nifti1Image(data, image.affine), "odd.nii")
nibabel.save(nibabel.Nifti1Image(np.ones(data.shape[:3], "u1"), image.affine), "m.nii")
done = hot("response", "-i", "p.nii", "--mask", "m.nii", "--tissues", 3, "--erode", 0, "-o", "wm.txt", "--gm", "gm.txt",
           "--csf", "csf.txt")
check(done.returncode == 0, done.stderr)
for constraint in ("hpsd", "nonnegative"):
    done = hot("fit", "-i", "odd.nii", "--bval", "p.bval", "--bvec", "p.bvec", "-o", "t.nii", "--mask", "m.nii",
               "--model", "msmt", "--order", 8, "--response", "wm.txt,gm.txt,csf.txt", "--constraint", constraint,
               "--residual", "r.nii", "--tissues", "a.nii")
    check(done.returncode == 0 and "left empty" in done.stderr, done.stderr)
    tensors, amounts = nibabel.load("t.nii").get_fdata(), nibabel.load("a.nii").get_fdata()
    check(np.isfinite(tensors).all() and np.isfinite(amounts).all(), constraint + ": not finite")
    check(not tensors[1, 0].any() and not amounts[1, 0].any(), constraint + ": voxels of zeros are not empty")
    check(not tensors[1, 1].any() and not tensors[1, 2, 0].any(), constraint + ": negative or NaN voxels are not empty")
    check((tensors[1, 3:5, :, 0] == 1).all() and (tensors[2:, ..., 0] == 1).all(), constraint + ": voxels left empty")
    check(((tensors[0, ..., 0] == 1) == (data[0, ..., :6].mean(-1) > 0)).all(), constraint + ": noise without b=0")
    check(amounts[..., 1:].min() >= 0, "%s: an amount of %g" % (constraint, amounts[..., 1:].min()))
    check(.5 < np.median(amounts[2:].sum(-1)) < 2, "%s: %g tissue" % (constraint, np.median(amounts[2:].sum(-1))))
    if constraint == "hpsd":
        fitted = np.abs(tensors[..., 1:]).max(-1) > 0
        judge("phantom", 8, tensors[fitted][:, 1:], nibabel.load("r.nii").get_fdata()[fitted])
end()
