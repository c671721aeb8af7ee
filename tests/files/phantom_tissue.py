"""hotfiber phantom --tissue, and the mixture layout: signals without noise against integrals over the whole sphere in
numpy, shares of 0 to 3 fibres, weights, other compartments, varying noise, and refusals."""
import os
import subprocess

import nibabel
import numpy as np

import _nrrd
from _check import check, end, refused

HOT = os.environ["HOTFIBER"]


def phantom(*options):
    """b, gradients, signals [voxel volume], truth [voxel fibre xyz] and the map [voxel value], in order of the file."""
    subprocess.run([HOT, "phantom", "-o", "d.nrrd", "--truth", "t.nrrd", "--tissue-map", "m.nrrd",
                    *map(str, options)], check=True)
    header, keys, data = _nrrd.read("d.nrrd")
    truth, table = _nrrd.read("t.nrrd")[2], _nrrd.read("m.nrrd")[2]
    flat = lambda a: np.moveaxis(a, 0, -1).reshape(-1, a.shape[0], order="F").astype(float)  # noqa: E731
    b, g = _nrrd.scheme(header, keys, data.shape[3])
    return b, g, data.reshape(-1, len(b), order="F").astype(float), flat(truth).reshape(-1, 3, 3), flat(table)


def sphere():
    """Nodes and weights of a product rule on the half sphere, far finer than any signal here needs."""
    t, w = np.polynomial.legendre.leggauss(160)
    t, w = (t + 1) / 2, w / 2
    p = np.arange(96) * 2 * np.pi / 96
    u = np.stack([np.sqrt(1 - t ** 2)[:, None] * np.cos(p), np.sqrt(1 - t ** 2)[:, None] * np.sin(p),
                  t[:, None] * np.ones(96)], -1).reshape(-1, 3)
    return u, np.repeat(w / 96, 96)


NODES, AREA = sphere()


def watson(v, degrees):
    """Orientations (turned so that the rule's pole is v) and their weights."""
    e1 = np.cross(v, [1, 0, 0] if abs(v[0]) < 0.7 else [0, 1, 0])
    e1 /= np.linalg.norm(e1)
    u = NODES @ np.stack([e1, np.cross(v, e1), v])
    w = AREA * np.exp((NODES[:, 2] ** 2 - 1) / (2 * np.radians(degrees) ** 2))
    return u, w / w.sum()


def fibre(tissue, b, g, v, degrees, intra, d, across):
    """Signal of one fibre of volume 1 (ball and stick: with its ball)."""
    u, w = watson(v, degrees) if degrees > 0 else (v[None], np.ones(1))
    square = (u @ g.T) ** 2
    stick = w @ np.exp(-b * d * square)
    radial = across if across else (1 - intra) * d
    if tissue == "ball-stick":
        other = np.exp(-b * d)
    elif tissue == "stick-zeppelin":
        other = w @ np.exp(-b * (radial + (d - radial) * square))
    else:  # the tensor's mean, as a 3 x 3 matrix
        mean = radial * np.eye(3) + (d - radial) * np.einsum("p,pi,pj->ij", w, u, u)
        other = np.exp(-b * np.einsum("vi,ij,vj->v", g, mean, g))
    return intra * stick + (1 - intra) * other


# The signals without noise: every tissue, with and without dispersion, weak and strong, and other compartments.
for tissue in ("ball-stick", "stick-zeppelin", "noddi"):
    for dispersion, across in (("0", 0), ("2-20", 0), ("30-45", 0.5e-3)):
        more = ["--across", across] if across else []
        b, g, data, truth, table = phantom("--tissue", tissue, "--dispersion", dispersion, "--snr", 0, "--layout",
                                           "mixture", "--size", "4,3,2", "--b", "1000,6000", "--directions", 12,
                                           "--intra", ".3-.8", "--csf", "0-.2", "--grey", ".05-.2", "--seed", 3, *more)
        worst = 0
        for voxel in range(len(data)):
            want = table[voxel, 9] * np.exp(-b * 0.8e-3) + table[voxel, 10] * np.exp(-b * 3e-3)
            for i in range(3):
                length = np.linalg.norm(truth[voxel, i])
                if length == 0:
                    continue
                f, degrees, intra = table[voxel, i], table[voxel, 3 + i], table[voxel, 6 + i]
                check(abs(length - f) < 1e-6, "the map's fractions are the lengths of the truth")
                share = f / intra if tissue == "ball-stick" else f
                want = want + share * fibre(tissue, b, g, truth[voxel, i] / length, degrees, intra, 1.7e-3, across)
            worst = max(worst, np.abs(data[voxel] - 1000 * want).max())
        check(worst < 0.02, "%s, dispersion %s: off by %g of 1000" % (tissue, dispersion, worst))
        fibres = truth.any(-1).sum(-1) > 0
        check(abs(table[fibres, 3:6].max() - float(dispersion.split("-")[-1])) < 8, "dispersion up to %s" % dispersion)
        whole = table[:, :3] / np.where(table[:, 6:9] > 0, table[:, 6:9], 1) if tissue == "ball-stick" else table[:, :3]
        check(np.abs(whole.sum(1) + table[:, 9] + table[:, 10] - 1).max() < 1e-5, "volumes add up to 1")

# The mixture: shares, angles, weights, kinds of isotropic voxels.
b, g, data, truth, table = phantom("--layout", "mixture", "--size", "50,40,3", "--snr", 0, "--directions", 6, "--b0", 1,
                                   "--weights", ".4-1", "--shares", ".2,.3,.4,.1", "--csf", "0-.3", "--grey", "0-.2")
number = truth.any(-1).sum(-1)
shares = np.bincount(number, minlength=4) / len(number)
check(np.abs(shares - [0.2, 0.3, 0.4, 0.1]).max() < 0.025, "shares as asked: %s" % shares)
f = table[number == 2, :2]
ratio = f[:, 1] / f[:, 0]
check(ratio.min() > 0.4 - 1e-6 and ratio.min() < 0.45 and ratio.max() > 0.98, "ratios of two from .4 to 1")
f = table[number == 3, :3]
check((f[:, 2] / f[:, 0]).min() > 0.4 - 1e-6 and len(np.unique(np.round(f[:, 1] - f[:, 2], 6))) > 50, "three differ")
u = truth / np.maximum(np.linalg.norm(truth, axis=-1, keepdims=True), 1e-9)
angle = np.degrees(np.arccos(np.clip(np.abs((u[:, 0] * u[:, 1]).sum(-1)), 0, 1)))
check(angle[number == 2].min() > 29.9 and angle[number == 2].min() < 31 and angle[number == 2].max() > 89, "30 to 90")
csf = table[number == 0, 10]
check(abs((csf == 0).mean() - 0.25) < 0.05 and abs((csf == 1).mean() - 0.25) < 0.05 and
      np.abs(table[number == 0, 9] + csf - 1).max() < 1e-6, "grey matter, CSF and both in voxels without a fibre")
check(table[number > 0, 10].max() > 0.28 and table[number > 0, 10].max() <= 0.3 and table[number > 0, 9].max() > 0.18
      and table[number > 0, 9].max() <= 0.2 + 1e-6, "beside fibres")
even = phantom("--layout", "mixture", "--size", "60,50,1", "--snr", 0, "--directions", 6, "--b0", 1)[3]
shares = np.bincount(even.any(-1).sum(-1), minlength=4) / 3000
check(np.abs(shares - [0.15, 0.4, 0.35, 0.1]).max() < 0.03, "the usual shares: %s" % shares)

# Noise: its standard deviation rises along the first axis; the map says by how much.
args = ("--layout", "mixture", "--size", "9,30,30", "--shares", "1,0,0,0", "--directions", 6, "--b0", 40)
noisy, table = phantom(*args, "--snr", 20, "--noise-slope", 0.6)[2::2]
sigma = noisy[:, :40].std(1, ddof=1).reshape(30, 30, 9).mean((0, 1))
want = 50 * np.linspace(0.4, 1.6, 9)
check(np.abs(sigma / want - 1).max() < 0.02, "noise along x: %s" % np.round(sigma, 1))
check(np.abs(table[:, 11].reshape(30, 30, 9) - want).max() < 1e-3, "the map's sigma")

# The map as NIfTI has the same values.
small = ["--layout", "mixture", "--size", "3,4,5", "--tissue", "noddi", "--dispersion", "0-20", "--oblique"]
table = phantom(*small)[4]
subprocess.run([HOT, "phantom", *small, "-o", "d.nii.gz", "--tissue-map", "m.nii.gz"], check=True)
image = np.asanyarray(nibabel.load("m.nii.gz").dataobj)
check(image.shape == (3, 4, 5, 12) and np.array_equal(image.reshape(-1, 12, order="F"), table), "the map as NIfTI")

# The file records the new options only if they are used.
phantom("--voxels", 2)
keys = _nrrd.read("d.nrrd")[1]
check(not [k for k in keys if k.split("_")[-1] in ("tissue", "intra", "grey", "weights", "shares", "slope")],
      "no new keys: %s" % keys)
phantom(*small)
keys = _nrrd.read("d.nrrd")[1]
check(keys["hotfiber_phantom_tissue"] == "noddi" and keys["hotfiber_phantom_intra"] == "0.4-0.7" and
      keys["hotfiber_phantom_shares"] == "0.15,0.4,0.35,0.1" and keys["hotfiber_phantom_layout"] == "mixture", "keys")

# Nonsensical options are refused in one line, and nothing is written.
mixture = ["--layout", "mixture", "--size", "2,2,2"]
for options, status, word in ((["--tissue", "muscle"], 2, "muscle"), (["--intra", ".5"], 2, "--intra"),
                              (["--tissue", "noddi", "--intra", "0-.5"], 1, ".01"),
                              (["--tissue", "noddi", "--intra", "x"], 2, "--intra"),
                              (["--shares", "1,1,1,1"], 2, "mixture"),
                              (mixture + ["--shares", "1,2"], 2, "four"), (mixture + ["--shares", "0,0,0,0"], 1, "0"),
                              (mixture + ["--single"], 2, "--shares"), (mixture + ["--angles", "30,40"], 2, "--angles"),
                              (["--weights", "0-1"], 1, "0"),
                              (["--weights", "1", "--fractions", ".5"], 2, "--fractions"),
                              (["--grey", ".6", "--csf", ".5"], 1, ".95"), (["--grey", "1.2"], 2, ".95"),
                              (["--noise-slope", "2"], 2, "--noise-slope")):
    refused([HOT, "phantom", "-o", "bad.nrrd", *options], "bad.nrrd", status, word)

end()
