"""hotfiber phantom against formulas written anew in numpy: signals without noise, angles, fractions, noise, dispersion,
frames, determinism, and what it refuses."""
import gzip
import os
import subprocess

import numpy as np

import _nrrd
from _check import check, end, refused

HOT = os.environ["HOTFIBER"]


def phantom(*options):
    """Makes d.nrrd and t.nrrd; returns b, gradients, signals [i j k volume], truth [i j k fibre xyz], both headers."""
    subprocess.run([HOT, "phantom", "-o", "d.nrrd", "--truth", "t.nrrd", *map(str, options)], check=True)
    header, keys, data = _nrrd.read("d.nrrd")
    truth_header, _, truth = _nrrd.read("t.nrrd")
    truth = np.moveaxis(truth, 0, -1).reshape(truth.shape[1:] + (3, 3)).astype(float)
    b, g = _nrrd.scheme(header, keys, data.shape[3])
    return b, g, data.astype(float), truth, header, truth_header


def lengths(truth):
    return np.linalg.norm(truth, axis=-1)


def angle(u, v):
    c = np.abs((u * v).sum(-1)) / np.linalg.norm(u, axis=-1) / np.linalg.norm(v, axis=-1)
    return np.degrees(np.arccos(np.clip(c, 0, 1)))


def formula(b, g, truth, along, across):
    """Fibres of the truth file, the rest of the volume free water."""
    f = lengths(truth)
    unit = np.divide(truth, f[..., None], out=np.zeros_like(truth), where=f[..., None] > 0)
    dot = np.einsum("...fd,vd->...fv", unit, g)
    return ((f[..., None] * np.exp(-b * (across + (along - across) * dot ** 2))).sum(-2)
            + (1 - f.sum(-1))[..., None] * np.exp(-b * 3e-3))


# Without noise the signals are the formula, in every fibre row; isotropic voxels are grey matter and CSF in turn.
b, g, data, truth, header, _ = phantom("--snr", 0, "--voxels", 50, "--csf", "0-.3", "--b", "1000,3000", "--directions",
                                       30, "--along", 1.6e-3, "--across", 0.3e-3, "--b0", 3, "--s0", 800)
check(data.shape == (50, 6, 1, 63) and (b[:3] == 0).all(), "sizes and b=0 volumes")
check(np.allclose(b[3:33], 1000) and np.allclose(b[33:], 3000), "two shells")
want = 800 * formula(b, g, truth[:, :5], 1.6e-3, 0.3e-3)
check(np.abs(data[:, :5] - want).max() <= 3e-4, "signals of fibres: off by %g" % np.abs(data[:, :5] - want).max())
for odd, diffusivity in ((0, 0.8e-3), (1, 3e-3)):
    check(np.abs(data[odd::2, 5] - 800 * np.exp(-b * diffusivity)).max() <= 1e-3, "isotropic voxels")
check((truth[:, 5] == 0).all(), "no fibre where it is isotropic")
csf = 1 - lengths(truth[:, :5]).sum(-1)
check(csf.min() >= -1e-6 and csf.max() <= 0.3 and csf.max() > 0.27 and csf.min() < 0.03, "water from 0 to .3")

# Truth: counts, ranges of angles, fractions, order, hemisphere; directions uniform.
b, g, data, truth, _, _ = phantom("--snr", 0, "--voxels", 400)
f = lengths(truth)
check(((f > 0).sum(-1) == np.array([1, 2, 2, 2, 3, 0])[None, :, None]).all(), "numbers of fibres")
for row, low, high in ((1, 30, 40), (2, 45, 55), (3, 60, 90)):
    a = angle(truth[:, row, 0, 0], truth[:, row, 0, 1])
    check(a.min() >= low - 1e-3 and a.max() <= high + 1e-3, "angles in %d-%d" % (low, high))
    check(abs(a.mean() - (low + high) / 2) < 0.1 * (high - low), "mean angle in %d-%d: %g" % (low, high, a.mean()))
for p, q in ((0, 1), (0, 2), (1, 2)):
    a = angle(truth[:, 4, 0, p], truth[:, 4, 0, q])
    check(a.min() >= 60 - 1e-3 and a.max() <= 90 + 1e-3, "three fibres' angles")
check((np.diff(f, axis=-1) <= 1e-6).all(), "longest first")
present = truth[f > 0]
check(((present[:, 2] > 0) | ((present[:, 2] == 0) & (present[:, 1] >= 0))).all(), "hemisphere")
unit = truth[:, 0, 0, 0] / f[:, 0, 0, :1]
check(np.abs(unit.T @ unit / 400 - np.eye(3) / 3).max() < 0.06, "single fibres everywhere on the sphere")
b, g, data, truth, _, _ = phantom("--snr", 0, "--voxels", 5, "--angles", "20,35-36,90", "--fractions", ".5,.8")
f = lengths(truth)
want_angle, want_share = np.tile([20, 35.5, 90], 2), np.repeat([0.5, 0.8], 3)
check(truth.shape[1] == 6, "a row per angle and fraction")
check((np.abs(angle(truth[:, :, 0, 0], truth[:, :, 0, 1]) - want_angle) < 0.51).all(), "angles as asked")
check(np.abs(f[:, :, 0, 0] - want_share).max() < 1e-6, "fractions as asked")
b, g, data, truth, _, _ = phantom("--layout", "grid", "--voxels", 2, "--directions", 6, "--b0", 1)
check(truth.shape[:3] == (2, 28, 3), "the grid of angles, fractions and SNR")
# Which rows there are, by their numbers of fibres; 512 at most.
many = ",".join(map(str, range(20, 84)))
small = ("--voxels", 1, "--directions", 6, "--b0", 1, "--snr", 0)
for asked, rows in ((["--single"], [1]), (["--three"], [3]), (["--isotropic"], [0]), (["--angles", "40,50"], [2, 2]),
                    (["--three", "--single"], [1, 3]), (["--isotropic", "--angles", "60"], [2, 0]),
                    (["--fractions", ".5,.6"], [1] + 6 * [2] + [3, 0]), (["--three-angles", "90"], [1, 2, 2, 2, 3, 0]),
                    (["--angles", many, "--fractions", ".5,.55,.6,.65,.7,.75,.8,.85"], 512 * [2])):
    b, g, data, truth, _, _ = phantom(*small, *asked)
    f = lengths(truth)
    check((f[0, :, 0] > 0).sum(-1).tolist() == rows, "%s: the rows have %s fibres" % (asked, (f > 0).sum(-1).ravel()))
    if "--three-angles" in asked:
        check(all(abs(angle(truth[0, 4, 0, p], truth[0, 4, 0, q]) - 90) < .01 for p, q in ((0, 1), (0, 2), (1, 2))),
              "three fibres at right angles")

# Noise: Rician of sigma = S0 / SNR. E[S^2] = A^2 + 2 sigma^2; air-like signal has the mean sigma sqrt(pi / 2).
args = ("--voxels", 400, "--isotropic", "--csf", "0", "--b", "3000,20000", "--directions", 20, "--b0", 20)
b, g, clean, truth, _, _ = phantom("--snr", "0,20,10", *args)
b, g, noisy, _, _, _ = phantom("--snr", "20,10,0", *args)
for k, sigma in ((0, 50), (1, 100)):
    exact, noise = clean[:, :, 0], noisy[:, :, k]
    low = exact < 2 * sigma
    second = (noise ** 2 - exact ** 2)[low].mean() / (2 * sigma ** 2)
    check(abs(second - 1) < 0.02, "second moment of the noise, sigma %g: %g" % (sigma, second))
    spread = noise[..., b == 0].std() / sigma
    check(abs(spread - 1) < 0.03, "spread at b=0: %g" % spread)
    dark = noise[1::2][..., b > 10000] / sigma
    check(abs(dark.mean() - np.sqrt(np.pi / 2)) < 0.02 and abs(dark.std() - np.sqrt(2 - np.pi / 2)) < 0.02,
          "Rayleigh in the dark")
    flat = noise[..., b == 0].reshape(-1, 20)
    check(np.abs(np.corrcoef(flat.T) - np.eye(20)).max() < 0.15, "volumes independent")
check(np.array_equal(noisy[:, :, 2], clean[:, :, 2]) is False and np.abs(noisy[:, :, 2] - clean[:, :, 0]).max() < 1e-3,
      "SNR 0 is no noise, slice by slice")

# Dispersion: the mean over normal tilts, by brute force on a fine grid of tilts.
b, g, data, truth, _, _ = phantom("--snr", 0, "--single", "--voxels", 3, "--dispersion", "12", "--directions", 20)
s = np.radians(12)
t = np.linspace(-7 * s, 7 * s, 241)
x, y = np.meshgrid(t, t)
weight = np.exp(-(x ** 2 + y ** 2) / (2 * s * s))
weight /= weight.sum()
tilt = np.hypot(x, y)
for voxel in range(3):
    v = truth[voxel, 0, 0, 0]
    e1 = np.cross(v, [1, 0, 0] if abs(v[0]) < 0.7 else [0, 1, 0])
    e1 /= np.linalg.norm(e1)
    e2 = np.cross(v, e1)
    part = (np.cos(tilt)[..., None] * v
            + np.sinc(tilt / np.pi)[..., None] * (x[..., None] * e1 + y[..., None] * e2)).reshape(-1, 3)
    want = 1000 * (weight.reshape(-1, 1) * np.exp(-b * (0.2e-3 + 1.5e-3 * (part @ g.T) ** 2))).sum(0)
    check(np.abs(data[voxel, 0, 0] - want).max() < 0.05,
          "dispersed: off by %g" % np.abs(data[voxel, 0, 0] - want).max())

# Varying diffusivities: each fibre's own, found back by a fit of ln S = -b (across + (along - across) dot^2).
b, g, data, truth, _, _ = phantom("--snr", 0, "--single", "--voxels", 300, "--vary", 0.1)
dot2 = np.einsum("nd,vd->nv", truth[:, 0, 0, 0], g)[:, b > 0] ** 2
adc = -np.log(data[:, 0, 0, b > 0] / 1000) / 3000
fits = np.array([np.polyfit(dot2[i], adc[i], 1) for i in range(300)])
check(abs(fits[:, 1].std() / 0.2e-3 - 0.1) < 0.02 and abs((fits.sum(1) / 1.7e-3).std() - 0.1) < 0.02,
      "diffusivities vary by .1")

# Determinism: threads do not matter, seeds do.
for name, options in (("a", ["--threads", "1"]), ("b", ["--threads", "7"]), ("c", ["--seed", "2"])):
    subprocess.run([HOT, "phantom", "-o", name + ".nrrd", "--voxels", "40", "--dispersion", "0-15", *options],
                   check=True)
a, same, other = (open(name + ".nrrd", "rb").read() for name in "abc")
check(a == same and a != other, "the same bytes for any number of threads, others for another seed")

# An oblique grid with a turned frame: the same physics in world axes, and integers.
b, g, data, truth, header, truth_header = phantom("--oblique", "--snr", 0, "--voxels", 30, "--type", "uint16", "--gzip")
check(header["type"] in ("unsigned short", "uint16", "ushort") and header["space"] == "left-posterior-superior",
      "header")
frame = np.stack(_nrrd.vectors(header["measurement frame"]), axis=1)
check(np.allclose(frame @ frame.T, np.eye(3)) and np.abs(frame - np.eye(3)).max() > 0.2, "a turned measurement frame")
check(np.abs(data[:, :5] - 1000 * formula(b, g, truth[:, :5], 1.7e-3, 0.2e-3)).max() <= 0.51, "signals in world axes")
check(header["space directions"].split(" none")[0] in truth_header["space directions"],
      "the truth is on the same grid")

# Bundles: single, crossing, isotropic voxels and air; fibres follow their neighbours; all in one piece.
b, g, data, truth, header, _ = phantom("--layout", "bundles", "--snr", 0, "--size", "40,40,6", "--oblique")
f = lengths(truth)
number = (f > 0).sum(-1)
air = data[..., 0] == 0
check((number[air] == 0).all() and air.mean() > 0.1, "air around")
check(all((number == n).sum() > 100 for n in (0, 1, 2)), "0, 1 and 2 fibres: %s" % np.bincount(number.ravel()))
check(np.abs(data[~air & (number > 0)] - 1000 * formula(b, g, truth[~air & (number > 0)], 1.7e-3, 0.2e-3)).max() < 1e-3,
      "signals")
iso = data[~air & (number == 0)][:, b > 0] / 1000
kinds = np.round(-np.log(iso) / 3000 * 1e4).astype(int)
check(set(np.unique(kinds)) == {8, 30}, "grey matter and CSF")
one = number == 1
both = one[1:] & one[:-1]
turn = angle(truth[1:][both][:, 0], truth[:-1][both][:, 0])
check(np.median(turn) < 10, "neighbours run alike: %g degrees" % np.median(turn))

# The default scheme is as even as MRtrix's own makes them: electrostatic energy against that of a known good set.
def energy(u):
    d = u @ u.T
    i = np.triu_indices(len(u), 1)
    return (1 / np.sqrt(2 - 2 * d[i]) + 1 / np.sqrt(2 + 2 * d[i])).sum()


# Lowest energies known for antipodal point sets: octahedron (6 points: N = 3), icosahedron (12: N = 6); the others are
# below those of spirals by a margin that plain optimisation gives.
def spiral(n):
    z = (np.arange(n) + 0.5) / n
    p = np.arange(n) * 2.399963229728653
    return np.stack([np.sqrt(1 - z * z) * np.cos(p), np.sqrt(1 - z * z) * np.sin(p), z], 1)


for n, lowest in ((3, 3 * np.sqrt(2)), (6, None), (64, None), (150, None)):
    b, g, _, _, _, _ = phantom("--directions", n, "--voxels", 1, "--single")
    u = g[b > 0]
    check(len(u) == n and np.allclose(np.linalg.norm(u, axis=1), 1), "%d unit directions" % n)
    if n == 3:
        check(energy(u) <= lowest * (1 + 1e-9), "three axes: %g" % energy(u))
    elif n == 6:
        off = np.abs(u @ u.T)[~np.eye(6, dtype=bool)]
        check(np.abs(off - 1 / np.sqrt(5)).max() < 1e-6, "the icosahedron's axes")
    else:
        nearest = np.degrees(np.arccos((np.abs(u @ u.T) - 2 * np.eye(n)).max(1)))
        check(energy(u) < energy(spiral(n)),
              "%d directions: energy %g, a spiral's %g" % (n, energy(u), energy(spiral(n))))
        check(nearest.min() > 0.8 * np.degrees(np.sqrt(8 * np.pi / np.sqrt(3) / (2 * n))), "nearest %g" % nearest.min())

# A scheme of one's own, as FSL writes it (image axes, x negated for a positive determinant): the same numbers come back
# next to a NIfTI phantom on an oblique grid. The scheme's own files are not overwritten.
random = np.random.default_rng(5)
b_in = np.array([0, 1000, 700, 0, 2500, 2500])
g_in = random.normal(size=(3, 6))
g_in /= np.linalg.norm(g_in, axis=0)
g_in[:, b_in == 0] = 0
np.savetxt("own.bval", b_in[None], fmt="%g")
np.savetxt("own.bvec", g_in)
own = ["--bval", "own.bval", "--bvec", "own.bvec", "--oblique", "--single", "--voxels", "2"]
subprocess.run([HOT, "phantom", "-o", "made.nii.gz", *own], check=True)
check(np.allclose(np.loadtxt("made.bval"), b_in), "b-values of a given scheme")
check(np.allclose(np.loadtxt("made.bvec"), g_in, atol=1e-6), "vectors of a given scheme")
before = open("own.bvec").read()
got = subprocess.run([HOT, "phantom", "-o", "own.nii.gz", *own], capture_output=True, text=True)
check(got.returncode == 1 and open("own.bvec").read() == before, "a scheme's files are not overwritten: %s" % got)

# The sample data are what the command in their README makes, sample by sample.
sample = os.path.join(os.environ["HOT_SOURCE"], "sample_data")
text = open(os.path.join(sample, "README.md")).read().replace("\\\n", "")
command = [line.split() for line in text.splitlines() if line.startswith("    hotfiber phantom ")][0]
subprocess.run([HOT] + command[1:], check=True)
check(open("phantom.nhdr").read() == open(os.path.join(sample, "phantom.nhdr")).read(), "the sample's header")
unzip = lambda name: gzip.decompress(open(name, "rb").read())  # noqa: E731
check(unzip("phantom.raw.gz") == unzip(os.path.join(sample, "phantom.raw.gz")), "the sample's data")
check(np.array_equal(_nrrd.read("phantom_truth.nrrd")[2], _nrrd.read(os.path.join(sample, "phantom_truth.nrrd"))[2]),
      "its truth")

# Nonsensical options are refused in one line, and nothing is written.
for options, status, word in ((["--angles", "30-x"], 2, "--angles"), (["--angles", "100"], 1, "90"),
                              (["--angles", many + ",84", "--single"], 2, "--angles needs up to 64"),
                              (["--angles", many[:-3], "--fractions", ".5,.52,.54,.6,.62,.64,.7,.72,.74"], 2, "512"),
                              (["--angles", many, "--fractions", ".5,.52,.54,.6,.62,.64,.7,.72", "--three"], 2, "512"),
                              (["--single", "--three-angles", "60-70,80"], 2, "--three-angles"),
                              (["--csf", "2"], 2, "--csf"), (["--fractions", "1.5"], 1, "fractions"),
                              (["--size", "4,4"], 2, "--size"), (["--dispersion", "80"], 2, "45"),
                              (["--voxels", "0"], 2, "--voxels"), (["-o", "own.bval/x.nrrd"], 1, "own.bval"),
                              (["--bval", "own.bval"], 2, "--bvec")):
    refused([HOT, "phantom", "-o", "bad.nrrd", *options], "bad.nrrd", status, word)

end()
