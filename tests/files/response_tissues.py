"""hotfiber response --tissues 3: on simulated tissue the responses match the simulation, and on simulated and real data
those of MRtrix's dwi2response dhollander."""
import os
import shutil
import subprocess

import nibabel
import numpy as np

from _dwi import check, end, hot

random = np.random.default_rng(3)
SIZE = (24, 20, 12)
B = np.repeat([0, 1000, 2500], [6, 40, 60])
affine = np.diag([-2.0, 2, 2, 1])  # a determinant below 0: bvecs are along the voxels' axes as they are


def units(*shape):
    v = random.normal(size=shape + (3,))
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


g = units(len(B))
np.savetxt("dwi.bval", B[None], "%g")
np.savetxt("dwi.bvec", (g * [-1, 1, 1]).T)
AXIAL, RADIAL, GREY, WATER = 1.7e-3, .3e-3, .8e-3, 3e-3


def simulate():
    """Half white matter (a third of it single fibres, the rest crossings, some with grey matter), a third grey, CSF,
    and voxels between them."""
    count = int(np.prod(SIZE))
    white = random.choice([0, .3, .7, 1], count, p=[.45, .05, .05, .45])
    csf = np.where(white < 1, random.choice([0, .2, .6, 1], count, p=[.6, .1, .1, .2]), 0) * (1 - white)
    grey = 1 - white - csf
    fibers, single = units(count, 2), random.uniform(size=(count, 1)) < 1 / 3
    share = np.where(single, [[1, 0]], [[.6, .4]])
    fiber = sum(share[:, k, None] * np.exp(-B * (RADIAL + (AXIAL - RADIAL) * (fibers[:, k] @ g.T) ** 2))
                for k in range(2))
    data = 900 * white[:, None] * fiber + 1100 * grey[:, None] * np.exp(-B * GREY) + \
        2600 * csf[:, None] * np.exp(-B * WATER)
    data *= random.normal(1, .05, (count, 1))
    data = np.hypot(data + random.normal(scale=15, size=data.shape), random.normal(scale=15, size=data.shape))
    return data.reshape(SIZE + (-1,))


def save(path, values):
    nibabel.save(nibabel.Nifti1Image(values.astype(np.float32), affine), path)


def rows(path):
    return np.loadtxt(path, ndmin=2)


def agree(name, ours, theirs, limit):
    """Each coefficient that is a twentieth of its row's mean or more."""
    n = min(ours.shape[1], theirs.shape[1], 5)
    ours, theirs = ours[:, :n], theirs[:, :n]
    matter = np.abs(theirs) > .05 * theirs[:, :1]
    off = (np.abs(ours - theirs)[matter] / np.abs(theirs)[matter]).max()
    check(ours.shape == theirs.shape and off <= limit, "%s: a coefficient is off by %.2g" % (name, off))
    print("%s: off by %.2g" % (name, off))


def ours(dwi, *more):
    done = hot("response", "-i", dwi, "--tissues", 3, "-o", "wm.txt", "--gm", "gm.txt", "--csf", "csf.txt", *more)
    check(done.returncode == 0, "%s: %s" % (dwi, done.stderr))
    return [rows(t + ".txt") for t in ("wm", "gm", "csf")]


def theirs(dwi, *more):
    subprocess.run(["dwi2response", "dhollander", "-quiet", "-force", dwi, "t_wm.txt", "t_gm.txt", "t_csf.txt",
                    "-erode", "0", "-nthreads", "0", *more], check=True, stderr=subprocess.DEVNULL)
    return [rows("t_%s.txt" % t) for t in ("wm", "gm", "csf")]


save("dwi.nii", simulate())
save("mask.nii", np.ones(SIZE))
unit = np.sqrt(4 * np.pi)
found = ours("dwi.nii", "--mask", "mask.nii", "--erode", 0)
shell = np.array([0, 1000, 2500])
check(found[0].shape == (3, 5) and found[1].shape == (3, 1) and found[2].shape == (3, 1), "the files' shapes")
agree("grey matter as simulated", found[1], 1100 * unit * np.exp(-shell * GREY)[:, None], .05)
agree("CSF as simulated", found[2][:2], 2600 * unit * np.exp(-shell * WATER)[:2, None], .1)
cosine, weight = np.polynomial.legendre.leggauss(40)
fiber = 900 * np.exp(-np.outer(shell, RADIAL + (AXIAL - RADIAL) * cosine ** 2))
zonal = np.stack([2 * np.pi * np.sqrt((4 * i + 1) / (4 * np.pi)) * fiber @
                  (weight * np.polynomial.legendre.Legendre.basis(2 * i)(cosine)) for i in range(5)], 1)
agree("white matter as simulated", found[0], zonal, .1)
check(open("wm.txt").read().startswith("# hotfiber") and "# Shells: 0,1000,2500" in open("gm.txt").read(), "shells")
check("single-fibre" in open("wm.txt").read() and "isotropic" in open("csf.txt").read(), "whose response it is")
one = ours("dwi.nii", "--mask", "mask.nii", "--erode", 0, "--threads", 1)
check(all(np.array_equal(a, b) for a, b in zip(found, one)), "other threads, other responses")

# their use: a deconvolution of the same data, which estimates them if they are not given
ours("dwi.nii", "--mask", "mask.nii")  # eroded by the default number of voxels
fit = ["fit", "-i", "dwi.nii", "--model", "msmt", "--mask", "mask.nii", "-o", "t.nrrd"]
done = hot(*fit, "--response", "wm.txt,gm.txt,csf.txt", "--tissues", "given.nii")
check(done.returncode == 0, done.stderr)
done = hot(*fit, "--tissues", "estimated.nii")
check(done.returncode == 0 and "responses of white matter, grey matter and CSF" in done.stderr, done.stderr)
done = hot("run", "-i", "dwi.nii", "--model", "msmt", "--mask", "mask.nii", "-o", "out", "--outputs", "tissues")
check(done.returncode == 0, done.stderr)
given = nibabel.load("given.nii").get_fdata()
for path in ("estimated.nii", "out/tissues.nii.gz"):
    check(np.abs(nibabel.load(path).get_fdata() - given).max() < 1e-3 * given.max(), path + ": other amounts")

def starts(command):
    """Whether the script of MRtrix starts: Debian 13 ships some that import a module which its Python lacks."""
    done = subprocess.run([command, "-version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode and "No module named" in done.stdout:
        print(f"left out: this MRtrix's {command} does not start: {done.stdout.strip().splitlines()[-1]}")
        return False
    return True


if shutil.which("dwi2response") and starts("dwi2response"):
    subprocess.run(["mrconvert", "-quiet", "-force", "dwi.nii", "-fslgrad", "dwi.bvec", "dwi.bval", "dwi.mif"],
                   check=True)
    for name, a, b in zip(("white matter", "grey matter", "CSF"), found, theirs("dwi.mif", "-mask", "mask.nii")):
        agree(name + " as MRtrix has it", a, b, .05)
    region = os.path.join(os.environ.get("HOT_DATA", ""), "mrtrix_msmt_roi", "orig", "")
    if os.path.isdir(region):
        mask = region + "mask.mif"
        for name, a, b in zip(("white matter", "grey matter", "CSF"),
                              ours(region + "dwi.mif", "--mask", mask, "--erode", 0),
                              theirs(region + "dwi.mif", "-mask", mask)):
            agree(name + " of a human region, four shells, as MRtrix has it", a, b, .05)
    else:
        print("left out: no mrtrix_msmt_roi in HOT_DATA")
    real = os.path.join(os.environ.get("HOT_DATA", ""), "human_2shell", "")
    if os.path.isdir(real):
        subprocess.run(["mrconvert", "-quiet", "-force", real + "dwi.nii.gz", "-fslgrad", real + "dwi.bvec",
                        real + "dwi.bval", "human.mif"], check=True)
        mask = real + "mask.nii.gz"
        for name, a, b in zip(("white matter", "grey matter", "CSF"), ours("human.mif", "--mask", mask, "--erode", 0),
                              theirs("human.mif", "-mask", mask)):
            agree(name + " of a human brain, as MRtrix has it", a, b, .05)
    else:
        print("left out: no human_2shell in HOT_DATA")

# refusals: one line, no file
three = ["--tissues", 3, "--gm", "x.txt", "--csf", "y.txt"]
for words, text in ((["--tissues", 3], "--gm"), (["--tissues", 2, "--gm", "x.txt"], "1 or 3"),
                    (["--gm", "x.txt"], "--gm"), (["--erode", 1], "--erode"),
                    ([*three, "--diffusivities", "1e-3,1e-4"], "--tissues 3")):
    done = hot("response", "-i", "dwi.nii", "-o", "bad.txt", *words)
    check(done.returncode == 2 and text in done.stderr and done.stderr.count("\n") == 1,
          "%s: %s" % (words, done.stderr))
flat = np.full((4, 4, 4, len(B)), 100.0)
save("flat.nii", flat)
for end_ in (".bval", ".bvec"):
    shutil.copy("dwi" + end_, "flat" + end_)
done = hot("response", "-i", "flat.nii", "--tissues", 3, "-o", "bad.txt", "--gm", "x.txt", "--csf", "y.txt")
check(done.returncode == 1 and done.stderr.strip().count("\n") <= 1 and not os.path.exists("bad.txt") and
      not os.path.exists("x.txt"), "flat data: %s" % done.stderr)
end()
