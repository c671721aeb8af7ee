"""Several tissues: fit and run --model msmt on signals made here from the responses themselves, against what they were
made of, against MRtrix's dwi2fod with the same directions, and against its own tests' data; refusals."""
import json
import os
import shutil
import subprocess
from math import factorial

import nibabel
import numpy as np

from _dwi import check, end, hot, refused
from _mrtrix import constraint_directions

random = np.random.default_rng(19)
SIZE, ORDER = (6, 5, 4), 8
B = [0, 700, 1200, 2800]
WM = np.array([[4128.5, 0, 0, 0, 0], [2533.2, -656.0, 70.5, -4.8, .2], [1978.9, -732.5, 151.1, -25.4, 3.1],
               [1269.3, -602.6, 252.3, -73.2, 13.5]])
ISOTROPIC = {"gm": np.array([7349.1, 3690.5, 2548.5, 995.6]), "csf": np.array([21958.8, 3444.0, 1316.8, 440.9])}
affine = np.diag([-2.0, 2, 2, 1])  # a determinant below 0: bvecs are along the voxels' axes as they are
EXPONENTS = [(ORDER - s, s - c, c) for s in range(ORDER + 1) for c in range(s + 1)]
MULTIPLICITY = np.array([factorial(ORDER) / np.prod([factorial(k) for k in e]) for e in EXPONENTS])


def units(count):
    v = random.normal(size=(count, 3))
    return v / np.linalg.norm(v, axis=1)[:, None]


def lattice(count):
    k = np.arange(count)
    z, turn = (k + .5) / count, k * np.pi * (3 - 5 ** .5)
    return np.stack([np.sqrt(1 - z * z) * np.cos(turn), np.sqrt(1 - z * z) * np.sin(turn), z], 1)


def monomials(v):
    """A form's value in each direction for each unique value of its tensor."""
    return MULTIPLICITY * np.stack([v[:, 0] ** a * v[:, 1] ** b * v[:, 2] ** c for a, b, c in EXPONENTS], 1)


def save(path, values):
    nibabel.save(nibabel.Nifti1Image(values.astype(np.float32), affine), path)


def load(path):
    return nibabel.load(path).get_fdata()


def responses():
    np.savetxt("wm.txt", WM)
    for name, rows in ISOTROPIC.items():
        np.savetxt(name + ".txt", rows)


def acquire(name, shells, each=45):
    """The shell and world direction of each volume, with their files."""
    shell = np.concatenate([np.full(4 if s == 0 else each, s) for s in shells])
    b, g = np.array(B, float)[shell], units(len(shell))
    np.savetxt(name + ".bval", b[None], "%g")
    np.savetxt(name + ".bvec", (g * [-1, 1, 1]).T)
    return shell, g


def white(shell, cosine):
    """A fibre's signal; shell: of each volume, cosine: with each direction."""
    legendre = [np.polynomial.legendre.Legendre.basis(l)(cosine) for l in range(0, ORDER + 1, 2)]
    return sum(WM[shell, i] * np.sqrt((4 * i + 1) / (4 * np.pi)) * legendre[i] for i in range(5))


def make(shell, g, tissues):
    """Signals, weights (voxels x 2 fibres), fibres (voxels x 2 x 3) and amounts of the other tissues."""
    voxels = int(np.prod(SIZE))
    v = units(2 * voxels).reshape(voxels, 2, 3)
    w = random.uniform(.1, .6, (voxels, 2)) * (random.uniform(size=(voxels, 1)) > .2)
    amount = random.uniform(0, .5, (voxels, len(tissues)))
    data = sum(w[:, k, None] * white(shell, v[:, k] @ g.T) for k in range(2))
    for t, rows in enumerate(tissues):
        data = data + amount[:, t, None] * rows[shell]
    return data, w, v, amount


def rank1(w, v):
    return sum(w[:, k, None] * np.stack([v[:, k, 0] ** a * v[:, k, 1] ** b * v[:, k, 2] ** c for a, b, c in EXPONENTS],
                                        1) for k in range(2))


def fit(name, *more, scheme="whole", files=("wm.txt", "gm.txt", "csf.txt")):
    done = hot("fit", "-i", name + ".nii", "-o", name + "_t.nii", "--model", "msmt", "--order", ORDER, "--mask",
               "mask.nii", "--bval", scheme + ".bval", "--bvec", scheme + ".bvec", "--response", ",".join(files),
               "--tissues", name + "_a.nii", "--residual", name + "_r.nii", *more)
    check(done.returncode == 0, "%s %s: %s" % (name, more, done.stderr))
    count = int(np.prod(SIZE))
    return [load(name + what).reshape(count, -1) for what in ("_t.nii", "_a.nii", "_r.nii")]


responses()
save("mask.nii", np.ones(SIZE))
shell, g = acquire("whole", [0, 1, 2, 3])
unit = 1 / np.sqrt(4 * np.pi)  # a row's coefficient of degree 0 -> its signal
rows = [r * unit for r in ISOTROPIC.values()]
data, w, v, amount = make(shell, g, rows)
truth = np.column_stack([w.sum(1), amount])
save("whole.nii", data.reshape(SIZE + (-1,)))

# without noise the minimum is what the signals were made of, with the constraint and without
for constraint in ("nonnegative", "hpsd", "none"):
    tensors, amounts, residual = fit("whole", "--constraint", constraint)
    check(tensors[:, 0].all(), "voxels were not fitted")
    check(np.abs(tensors[:, 1:] - rank1(w, v)).max() < 2e-3, "%s: the tensors are off by %g" %
          (constraint, np.abs(tensors[:, 1:] - rank1(w, v)).max()))
    check(np.abs(amounts - truth).max() < 2e-3, constraint + ": the amounts are off")
    check(residual.min() >= 0 and residual.max() < 1e-6, constraint + ": residuals up to %g" % residual.max())

# with noise nothing is negative; a voxel with a signal that is no number is left empty
noisy = data + random.normal(scale=100, size=data.shape)
noisy[7, 9] = np.nan
noisy[8] = 0
save("noisy.nii", noisy.reshape(SIZE + (-1,)))
tensors, amounts, residual = fit("noisy")
values = tensors[:, 1:] @ monomials(lattice(300)).T
check(values.min() > -1e-5 * values.max() and amounts[:, 1:].min() >= 0, "below zero: %g" % values.min())
check((fit("noisy", "--constraint", "none")[0][:, 1:] @ monomials(lattice(300)).T).min() < -.01, "nothing was held")
check(not tensors[7].any() and not amounts[7].any() and not tensors[8].any(), "a voxel without signals is not empty")
check(residual.max() < 1e-6, "residuals up to %g" % residual.max())

# hpsd: the matrix of values for products of two monomials of half the order is positive semidefinite, and the form
# is negative nowhere
HALF = [(4 - s, s - c, c) for s in range(5) for c in range(s + 1)]
ROOT = np.sqrt([24 / np.prod([factorial(k) for k in e]) for e in HALF])
PLACE = np.array([[EXPONENTS.index(tuple(np.add(p, q))) for q in HALF] for p in HALF])


def matrix_is_definite(name, tensors, residual):
    fitted = tensors[tensors[:, 0] > 0, 1:]
    matrices = fitted[:, PLACE] * np.outer(ROOT, ROOT)
    least = np.linalg.eigvalsh(matrices)[:, 0] / np.trace(matrices, axis1=1, axis2=2)
    check(len(fitted) > 50 and least.min() >= -1e-9, "%s: a matrix's least eigenvalue is %g of its trace" %
          (name, least.min()))
    lowest = min((fitted @ monomials(v).T).min() for v in np.array_split(units(10000), 20))
    check(lowest >= 0, "%s: a density of %g" % (name, lowest))
    check(residual.max() < 1e-6, "%s: residuals up to %g" % (name, residual.max()))


tensors, amounts, residual = fit("noisy", "--constraint", "hpsd")
matrix_is_definite("hpsd", tensors, residual)
check(amounts[:, 1:].min() >= 0, "hpsd: an amount of %g" % amounts[:, 1:].min())
real_data = os.path.join(os.environ.get("HOT_DATA", ""), "mrtrix_refs", "msmt", "")

# the directions may be given, in both forms
given = units(200)
np.savetxt("xyz.txt", given)
np.savetxt("angles.txt", np.column_stack([np.arctan2(given[:, 1], given[:, 0]), np.arccos(given[:, 2])]))
ours = fit("noisy", "--directions", "xyz.txt", "--kernel", "delta")
check(np.abs(ours[0] - fit("noisy", "--directions", "angles.txt", "--kernel", "delta")[0]).max() < 1e-4 *
      np.abs(ours[0]).max(), "angles are other directions than x y z")
values = ours[0][:, 1:] @ monomials(given).T
check(values.min() > -1e-5 * values.max(), "below zero in given directions: %g" % values.min())


def harmonics_agree(name, tensors, amounts, wm, others, limit):
    """The form against harmonics of MRtrix in 500 directions; amounts against coefficients of degree 0."""
    v = units(500)
    np.savetxt("look.txt", v)
    subprocess.run(["sh2amp", "-quiet", "-force", wm, "look.txt", "amp.nii"], check=True)
    want = load("amp.nii").reshape(len(tensors), -1)
    got = tensors[:, 1:] @ monomials(v).T
    scale = np.maximum(np.abs(want).max(1), np.abs(amounts).max(1))[:, None]
    keep = (tensors[:, 0] > 0) & (scale[:, 0] > 1e-6)
    check(keep.sum() > 50, name + ": nothing to compare")
    worst = (np.abs(got - want)[keep] / scale[keep]).max()
    check(worst < limit, "%s: the densities differ by %g" % (name, worst))
    for t, path in enumerate(others):
        want = load(path).reshape(-1) * np.sqrt(4 * np.pi)
        check(np.abs(amounts[:, t + 1] - want)[keep].max() < limit, "%s: the amounts of %s differ by %g" %
              (name, path, np.abs(amounts[:, t + 1] - want)[keep].max()))
    print("%s: the densities of %d voxels differ by %.2g" % (name, keep.sum(), worst))


if shutil.which("dwi2fod"):
    clean = np.nan_to_num(noisy)
    save("noisy.nii", clean.reshape(SIZE + (-1,)))
    tensors, amounts, residual = fit("noisy", "--directions", "angles.txt", "--kernel", "delta")
    subprocess.run(["mrconvert", "-quiet", "-force", "noisy.nii", "-fslgrad", "whole.bvec", "whole.bval", "noisy.mif"],
                   check=True)
    subprocess.run(["dwi2fod", "-quiet", "-force", "msmt_csd", "noisy.mif", "wm.txt", "wm_sh.nii", "gm.txt",
                    "gm_sh.nii", "csf.txt", "csf_sh.nii", "-directions", "angles.txt", "-lmax", "8,0,0"], check=True)
    harmonics_agree("dwi2fod", tensors, amounts, "wm_sh.nii", ["gm_sh.nii", "csf_sh.nii"], 1e-3)
    theirs = constraint_directions()
    check(theirs is not None, "dwi2fod's own directions are not to be found in the program")
    if os.path.isdir(real_data) and theirs is not None:
        # what MRtrix's tests hold their program to
        np.savetxt("theirs.txt", theirs, "%.17g")
        names = [real_data + t for t in ("wm.txt", "gm.txt", "csf.txt")]
        done = hot("fit", "-i", real_data + "dwi.mif", "-o", "real_t.nii", "--model", "msmt", "--order", 8, "--mask",
                   real_data + "mask.mif", "--kernel", "delta", "--response", ",".join(names), "--directions",
                   "theirs.txt", "--tissues", "real_a.nii")
        check(done.returncode == 0, done.stderr)
        for t in ("wm", "gm", "csf"):
            subprocess.run(["mrconvert", "-quiet", "-force", real_data + t + ".mif", t + "_real.nii", "-strides",
                            "1,2,3,4"], check=True)
        count = int(np.prod(load("real_t.nii").shape[:3]))
        harmonics_agree("MRtrix's tests", load("real_t.nii").reshape(count, -1), load("real_a.nii").reshape(count, -1),
                        "wm_real.nii", ["gm_real.nii", "csf_real.nii"], 1e-3)

# rows in any order, and of more shells, are found by their b-values
with open("turned.txt", "w") as file:
    file.write("# Shells: 2800,0,1200,700,5000\n")
    np.savetxt(file, np.vstack([WM[[3, 0, 2, 1]], [300, -100, 50, -20, 5]]))
turned = fit("noisy", files=("turned.txt", "gm.txt", "csf.txt"))
check(np.array_equal(turned[0], fit("noisy")[0]), "a response's rows in another order")
done = hot("fit", "-i", "whole.nii", "-o", "w.nrrd", "--model", "msmt", "--mask", "mask.nii", "--response",
           "turned.txt,gm.txt")
check(done.returncode == 0 and "brighter" not in done.stderr, done.stderr)

# warnings: white matter's response as another tissue's; more tissues than shells, of which two are separated
done = hot("fit", "-i", "whole.nii", "-o", "w.nrrd", "--model", "msmt", "--mask", "mask.nii", "--response",
           "wm.txt,gm.txt,wm.txt")
check(done.returncode == 0 and "tissue 3 has coefficients above l=0" in done.stderr, done.stderr)
# white matter alone, one shell: the isotropic part is free water
shell, g = acquire("one", [0, 3], 90)
water = WM[0, 0] * unit * np.exp(-3e-3 * np.array(B))
data, w, v, amount = make(shell, g, [water])
save("one.nii", data.reshape(SIZE + (-1,)))
np.savetxt("one_wm.txt", WM[[0, 3]])
np.savetxt("one_csf.txt", ISOTROPIC["csf"][[0, 3]])
np.savetxt("one_gm.txt", ISOTROPIC["gm"][[0, 3]])
one = ("fit", "-i", "one.nii", "-o", "o.nrrd", "--model", "msmt", "--mask", "mask.nii", "--tissues", "o.nii",
       "--response", "one_wm.txt,one_csf.txt")
done = hot(*one[:-1], "one_wm.txt,one_gm.txt,one_csf.txt")
check(done.returncode == 0 and "3 tissues" in done.stderr and "2 shells" in done.stderr, done.stderr)
done = hot(*one)
check(done.returncode == 0 and "tissues" not in done.stderr and load("o.nii").shape == SIZE + (2,), done.stderr)
tensors, amounts, residual = fit("one", scheme="one", files=("one_wm.txt",))
check(np.abs(amounts - np.column_stack([w.sum(1), amount])).max() < 5e-3, "one shell: the amounts are off")
check(np.abs(tensors[:, 1:] - rank1(w, v)).max() < 5e-3, "one shell: the tensors are off")

# the whole job
done = hot("run", "-i", "whole.nii", "-o", "out", "--model", "msmt", "--mask", "mask.nii", "--order", 8, "--response",
           "wm.txt,gm.txt,csf.txt", "--outputs", "default,tensors,residual", "--method", "lowrank")
check(done.returncode == 0, done.stderr)
check(np.abs(load("out/tissues.nii.gz").reshape(120, 3) - truth).max() < 2e-3, "the tissues' map")
check(os.path.isfile("out/residual.nii.gz") and os.path.isfile("out/tensors.nrrd"), "files of the run")
for name, rows_of in (("response", WM), ("response_gm", ISOTROPIC["gm"]), ("response_csf", ISOTROPIC["csf"])):
    check(np.allclose(np.loadtxt("out/%s.txt" % name), rows_of, rtol=1e-5), "%s.txt of the run" % name)

# harmonics of each tissue: with the kernel and the directions of MRtrix's program the same, in its units
if shutil.which("dwi2fod"):
    done = hot("run", "-i", "whole.nii", "-o", "sh", "--model", "msmt", "--mask", "mask.nii", "--order", 8,
               "--response", "wm.txt,gm.txt,csf.txt", "--outputs", "tissues_sh", "--kernel", "delta")
    check(done.returncode == 0, done.stderr)
    subprocess.run(["dwi2fod", "msmt_csd", "-quiet", "-force", "-fslgrad", "whole.bvec", "whole.bval", "-mask",
                    "mask.nii", "-lmax", "8,0,0", "whole.nii", "wm.txt", "their_wm.nii", "gm.txt", "their_gm.nii",
                    "csf.txt", "their_csf.nii"], check=True)
    for name, theirs in (("wmfod", "their_wm"), ("gm", "their_gm"), ("csf", "their_csf")):
        ours_sh, theirs_sh = load("sh/%s.nii.gz" % name), load(theirs + ".nii")
        check(ours_sh.reshape(120, -1).shape == theirs_sh.reshape(120, -1).shape, "%s: %s" % (name, ours_sh.shape))
        degree0 = ours_sh.reshape(120, -1)[:, 0], theirs_sh.reshape(120, -1)[:, 0]
        check(np.abs(degree0[0] - degree0[1]).max() < 5e-3, "%s beside dwi2fod's: off by %g" % (
            name, np.abs(degree0[0] - degree0[1]).max()))
    smooth = load("sh/wmfod.nii.gz").reshape(120, -1)
    check(np.abs(smooth - load("their_wm.nii").reshape(120, -1)).max() < .1 * smooth.max(), "wmfod beside dwi2fod's")

# normalised: tissues that add up to 1, under a field that varies smoothly, are found again; a few voxels that are
# brighter do not matter
voxels = int(np.prod(SIZE))
shell, g = acquire("whole", [0, 1, 2, 3])
data, w, v, amount = make(shell, g, rows)
every = w.sum(1) + amount.sum(1)
place = np.stack(np.meshgrid(*[np.linspace(-1, 1, n) for n in SIZE], indexing="ij"), -1).reshape(-1, 3)
bright = np.exp(.3 * place[:, 0] - .2 * place[:, 1] * place[:, 2] + .1 * place[:, 2] ** 3 + .5)
outlier = np.where(np.arange(voxels) % 17 == 3, 4, 1)
scale = outlier / every
save("uneven.nii", (data * (scale * bright)[:, None]).reshape(SIZE + (-1,)))
truth = np.column_stack([w.sum(1), amount]) * scale[:, None]
tensors, amounts, residual = fit("uneven")
check(np.abs(amounts - truth).max() > .2, "nothing to normalise")
tensors, amounts, residual = fit("uneven", "--normalise")
check(np.abs(amounts - truth).max() < 5e-3, "normalised amounts are off by %g" % np.abs(amounts - truth).max())
check(np.abs(tensors[:, 1:] - rank1(w * scale[:, None], v)).max() < 5e-3, "normalised tensors are off")
check(residual.max() < 1e-6 and tensors[:, 0].all(), "confidence and residual are not to be divided")
done = hot("run", "-i", "uneven.nii", "-o", "even", "--model", "msmt", "--mask", "mask.nii", "--response",
           "wm.txt,gm.txt,csf.txt", "--normalise", "--order", 8, "--bval", "whole.bval", "--bvec", "whole.bvec")
check(done.returncode == 0, done.stderr)
check(np.abs(load("even/tissues.nii.gz").reshape(voxels, 3) - truth).max() < 5e-3, "run's normalised tissues")
check(json.load(open("even/report.json"))["settings"]["normalise"] is True, "it is in the report")


def mtnormalise_agrees(name, image, mask, *more):
    """Our division of our amounts against mtnormalise's of the same."""
    fits = [hot("fit", "-i", image, "-o", "n_t.nii", "--model", "msmt", "--mask", mask, "--tissues", "n_%d.nii" % k,
                *more, *option) for k, option in enumerate(([], ["--normalise"]))]
    check(all(one.returncode == 0 for one in fits), [one.stderr for one in fits])
    command = ["mtnormalise", "-quiet", "-force", "-mask", mask]
    for t in range(3):
        subprocess.run(["mrconvert", "-quiet", "-force", "n_0.nii", "-coord", "3", str(t), "-axes", "0,1,2", "n.mif"],
                       check=True)
        subprocess.run(["mrcalc", "-quiet", "-force", "n.mif", ".28209479", "-mult", "n_in%d.mif" % t], check=True)
        command += ["n_in%d.mif" % t, "n_out%d.nii" % t]
    subprocess.run(command, check=True)
    ours = load("n_1.nii").reshape(-1, 3)
    theirs = np.column_stack([load("n_out%d.nii" % t).reshape(-1) for t in range(3)]) / .28209479
    inside = ours.sum(1) > 0
    worst = (np.abs(ours - theirs).max(1)[inside] / np.abs(theirs).max(1)[inside]).max()
    check(inside.sum() > 100 and worst < 1e-5, "%s: normalised amounts differ by %g" % (name, worst))


if shutil.which("mtnormalise"):
    mtnormalise_agrees("made here", "uneven.nii", "mask.nii", "--bval", "whole.bval", "--bvec", "whole.bvec",
                       "--response", "wm.txt,gm.txt,csf.txt")
    if os.path.isdir(real_data):
        mtnormalise_agrees("a real region", real_data + "dwi.mif", real_data + "mask.mif", "--response",
                           ",".join(real_data + t for t in ("wm.txt", "gm.txt", "csf.txt")))

# refusals
base = ["fit", "-i", "whole.nii", "-o", "bad.nrrd", "--mask", "mask.nii"]
refused(*base, "--model", "msmt", "--response", "wm.txt,nothing.txt", words=["nothing.txt"], leaves=["bad.nrrd"])
refused(*base, "--model", "msmt", "--response", "wm.txt,one_wm.txt", words=["tissue 2 of 2", "2 rows", "4 shells"],
        leaves=["bad.nrrd"])
refused(*base, "--model", "msmt", "--response", "gm.txt,wm.txt", words=["above l=0", "white matter"],
        leaves=["bad.nrrd"])
open("no_b0.txt", "w").write("# Shells: 700,1200,2800\n3690\n2548\n995\n")
refused(*base, "--model", "msmt", "--response", "wm.txt,no_b0.txt", words=["tissue 2", "no row for b=0"],
        leaves=["bad.nrrd"])
np.savetxt("low.txt", WM[:, :2])
refused(*base, "--model", "msmt", "--order", 8, "--response", "low.txt,gm.txt", words=["l=2", "order 8"])
np.savetxt("four.txt", np.ones((3, 4)))
refused(*base, "--model", "msmt", "--response", "wm.txt,gm.txt", "--directions", "four.txt", words=["4 numbers"])
open("zero.txt", "w").write("0 0 0\n")
refused(*base, "--model", "msmt", "--response", "wm.txt,gm.txt", "--directions", "zero.txt", words=["direction 1"])
few = np.zeros(SIZE)
few[:2, :2, :2] = 1
save("few.nii", few)
refused("fit", "-i", "whole.nii", "-o", "bad.nrrd", "--mask", "few.nii", "--model", "msmt", "--response",
        "wm.txt,gm.txt", "--normalise", "--quiet", words=["8 voxels", "40"], leaves=["bad.nrrd"])
for words in (["--constraint", "none"], ["--kernel", "delta"], ["--directions", "xyz.txt"], ["--tissues", "t.nii"],
              ["--model", "fod", "--normalise"], ["--model", "msmt", "--regularise", "1"],
              ["--model", "msmt", "--diffusivities", ".0017,.0003"]):
    done = hot(*base, *words)
    check(done.returncode == 2 and done.stderr.count("\n") == 1 and any(w in done.stderr for w in words[-2:]),
          "%s: %d %s" % (words, done.returncode, done.stderr))
end()
