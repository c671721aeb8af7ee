"""Results against the papers' formulas in numpy, on noisy data and in frames without other tests: the diffusivity with
weights and penalty, qform without sform, centimetres, shells, noise."""
import json

import nibabel
import numpy as np

from _dwi import check, end, hot, rotation
from _nrrd import read, scheme, vectors


def good(*words):
    done = hot(*words, "--quiet")
    check(done.returncode == 0, "%s: %s" % (" ".join(map(str, words)), done.stderr[-300:]))
    return done


def powers(order, g):
    """The form A g^m as a matrix on the unique values xxxx, xxxy, xxxz, xxyy ...: multiplicities times powers."""
    from math import factorial as f
    exponents = [(order - y - z, y, z) for s in range(order + 1) for z in range(s + 1) for y in [s - z]]
    return np.stack([f(order) / (f(a) * f(b) * f(c)) * g[:, 0] ** a * g[:, 1] ** b * g[:, 2] ** c
                     for a, b, c in exponents], axis=1)


def laplace_square(order):
    """The penalty sum over l of (l (l+1))^2 |f_l|^2, as a matrix on the form's values, by quadrature on the sphere:
    f_l is the projection on harmonics of degree l, by the addition theorem (2l+1)/(4 pi) P_l(g.h)."""
    z, wz = np.polynomial.legendre.leggauss(order + 2)
    phi = 2 * np.pi * np.arange(2 * order + 3) / (2 * order + 3)
    g = np.array([[np.sqrt(1 - c * c) * np.cos(p), np.sqrt(1 - c * c) * np.sin(p), c] for c in z for p in phi])
    w = np.repeat(wz, len(phi)) * 2 * np.pi / len(phi)
    forms = powers(order, g)
    total = np.zeros((forms.shape[1], forms.shape[1]))
    for l in range(2, order + 1, 2):
        kernel = (2 * l + 1) / (4 * np.pi) * np.polynomial.legendre.Legendre.basis(l)(np.clip(g @ g.T, -1, 1))
        part = kernel @ (w[:, None] * forms)
        total += (l * (l + 1)) ** 2 * part.T @ (w[:, None] * part)
    return total


# ---- the apparent diffusivity: plain and weighted least squares of -ln(S / S0), with and without a penalty ----
good("phantom", "--voxels", 12, "--snr", 15, "--seed", 8, "-b", "700,1500", "--directions", 30, "-o", "noisy.nrrd")
header, keys, data = read("noisy.nrrd")
axis = header["kinds"].split().index("list")
data = np.moveaxis(data, axis, 0).astype(float)
data = data.reshape(data.shape[0], -1, order="F")
b, g = scheme(header, keys, data.shape[0])
zero = b < 50
# Laid out by b_max, as the penalty is measured against signals' logarithms.
for order in (2, 4):
    for weight in (0, .02):
        for weights in ("none", "signal"):
            good("fit", "-i", "noisy.nrrd", "-o", "fit.nrrd", "--model", "adc", "--order", order, "--weights", weights,
                 "--regularise", weight)
            tensors = read("fit.nrrd")[2].astype(float)
            tensors = tensors.reshape(tensors.shape[0], -1, order="F")
            design = b[~zero, None] * powers(order, g[~zero])
            penalty = weight * b.max() ** 2 * laplace_square(order)
            worst, seen = 0, 0
            for v in range(data.shape[1]):
                if tensors[0, v] == 0 or (data[~zero, v] <= 0).any():
                    continue
                y = -np.log(data[~zero, v] / data[zero, v].mean())
                plain = np.linalg.solve(design.T @ design + penalty, design.T @ y)
                if weights == "signal":
                    w = np.exp(-2 * design @ plain)  # squared signals of the plain fit (Veraart 2013)
                    plain = np.linalg.solve(design.T @ (w[:, None] * design) + penalty, design.T @ (w * y))
                worst = max(worst, np.abs(design @ (plain - tensors[1:, v])).max() / np.abs(design @ plain).max())
                seen += 1
            check(seen > 50 and worst < 2e-3, "order %d, weights %s, W %g: %g off in %d voxels" % (order, weights,
                                                                                                   weight, worst, seen))

# ---- NIfTI with a qform and no sform: position and gradients, either handedness, qfac 1 and -1 ----
random = np.random.default_rng(3)
for hand in (1, -1):
    affine = np.eye(4)
    affine[:3, :3] = rotation((1, -2, .5), 40) @ np.diag([2, 2.5, 3 * hand])
    affine[:3, 3] = [-11, 23, 5]
    image = nibabel.Nifti1Image(random.integers(100, 900, (4, 5, 3, 8)).astype(np.int16), None)
    image.header.set_qform(affine, code=1)
    image.header.set_sform(None, code=0)
    check(image.header["sform_code"] == 0 and image.header["qform_code"] == 1 and
          image.header["pixdim"][0] == hand, "qform alone")
    nibabel.save(image, "q.nii")
    bvec = random.normal(size=(3, 8))
    bvec /= np.linalg.norm(bvec, axis=0)
    bvec[:, 0] = 0
    np.savetxt("q.bvec", bvec, "%.9g")
    np.savetxt("q.bval", np.array([[0] + 7 * [1000]]), "%d")
    good("convert", "-i", "q.nii", "-o", "q.nrrd")
    header, keys, _ = read("q.nrrd")
    signs = {"right": 1, "left": -1, "anterior": 1, "posterior": -1, "superior": 1, "inferior": -1}
    ras = np.array([signs[word] for word in header["space"].split("-")])
    axes = np.stack([part for part in vectors(header["space directions"]) if part is not None], axis=1) * ras[:, None]
    origin = vectors(header["space origin"])[0] * ras
    check(np.abs(axes - affine[:3, :3]).max() < 1e-4 and np.abs(origin - affine[:3, 3]).max() < 1e-3,
          "qform of hand %d: %s %s" % (hand, axes, origin))
    # FSL: bvec are in image axes, the first one turned round where these are right-handed in RAS
    unit = affine[:3, :3] / np.linalg.norm(affine[:3, :3], axis=0)
    world = unit @ np.diag([-1 if np.linalg.det(unit) > 0 else 1, 1, 1]) @ bvec
    apart = np.abs(scheme(header, keys, 8)[1][1:].T * ras[:, None] - world[:, 1:]).max()
    check(apart < 1e-5, "gradients in a qform of hand %d: %g" % (hand, apart))

# ---- voxels whose size is not known count as 1 mm ----
raw = bytearray(open("q.nii", "rb").read())
for offset, value in ((80, 0), (84, np.nan)):  # pixdim[1], pixdim[2]
    raw[offset:offset + 4] = np.float32(value).tobytes()
raw[252:254] = bytes(2)  # qform_code; sform_code is 0 already
open("s.nii", "wb").write(raw)
good("convert", "-i", "s.nii", "--bval", "q.bval", "--bvec", "q.bvec", "-o", "sized.nii")
zooms = nibabel.load("sized.nii").header.get_zooms()[:3]
check(np.allclose(zooms, (1, 1, 3)), "sizes of voxels: %s" % (zooms,))

# ---- NRRD in centimetres: millimetres come out ----
header, keys, data8 = read("q.nrrd")
raw = open("q.nrrd", "rb").read()
units = [line for line in raw.split(b"\n\n")[0].split(b"\n") if line.startswith(b"space units")]
check(len(units) == 1 and units[0].count(b'"mm"') == 3, "units %s" % units)
open("cm.nrrd", "wb").write(raw.replace(units[0], b'space units: "cm" "cm" "cm"', 1))
good("convert", "-i", "cm.nrrd", "-o", "cm.nii")
good("convert", "-i", "q.nrrd", "-o", "mm.nii")
cm, mm = (nibabel.load(name).affine[:3] for name in ("cm.nii", "mm.nii"))
check(np.allclose(cm, 10 * mm, rtol=1e-5), "centimetres: %s, millimetres: %s" % (cm, mm))

# ---- shells: values of one shell spread by a few percent; 200 s/mm^2 apart are two ----
def shells_of(b):
    values = random.integers(100, 900, (4, 4, 4, len(b))).astype(np.int16)
    nibabel.save(nibabel.Nifti1Image(values, np.diag([-2, 2, 2, 1])), "s.nii")
    bvec = random.normal(size=(3, len(b)))
    bvec /= np.linalg.norm(bvec, axis=0)
    bvec[:, np.array(b) < 50] = 0
    np.savetxt("s.bvec", bvec, "%.9g")
    np.savetxt("s.bval", np.array([b]), "%d")
    about = json.loads(good("info", "-i", "s.nii", "--json").stdout)
    return [(shell["b"], shell["volumes"]) for shell in about["shells"]]


for b, sizes in (([0, 0] + 6 * [1000] + 6 * [1200], [2, 6, 6]), ([0, 5] + [980, 1000, 1020, 1040, 1060] * 2, [2, 10]),
                 ([0, 0] + 6 * [1000] + 6 * [1100], [2, 6, 6]), ([0] + 6 * [3000] + 6 * [3120], [1, 12])):
    found = shells_of(b)
    check([volumes for _, volumes in found] == sizes, "shells of %s: %s" % (sorted(set(b)), found))

# ---- the noise: the phantom's, from few repeats and from many; its quartile or mean is elsewhere ----
for b0 in (3, 5, 12):
    good("phantom", "--voxels", 400, "--snr", 20, "--s0", 1000, "--b0", b0, "--seed", b0, "-o", "noise.nrrd")
    about = json.loads(good("info", "-i", "noise.nrrd", "--json").stdout)
    check(abs(about["noise"] - 50) < 1.5 and abs(about["snr"] - 20) < .7, "sigma 50 from %d volumes: %g, SNR %g" % (
        b0, about["noise"], about["snr"]))

# ---- the response does not depend on how bright each of its voxels is, also where bright ones diffuse less ----
good("phantom", "--voxels", 300, "--single", "--snr", 0, "--vary", .2, "--seed", 2, "-o", "bright.nrrd")
good("response", "-i", "bright.nrrd", "-o", "even.txt")
even = np.loadtxt("even.txt")
header, keys, data = read("bright.nrrd")
axis = header["kinds"].split().index("list")
data = np.moveaxis(data.astype(float), axis, 0)
weighted = scheme(header, keys, data.shape[0])[0] > 50
left = data[weighted].mean(0) / data[~weighted].mean(0)
gain = np.where(left > np.median(left), 1.3, .8)
head = open("bright.nrrd", "rb").read().split(b"\n\n")[0].replace(b"encoding: gzip", b"encoding: raw")
open("uneven.nrrd", "wb").write(head + b"\n\n" + np.moveaxis(data * gain, 0, axis).astype("<f4").tobytes(order="F"))
good("response", "-i", "uneven.nrrd", "-o", "uneven.txt")
uneven = np.loadtxt("uneven.txt")
check(np.allclose(uneven[1:] / uneven[0, 0], even[1:] / even[0, 0], atol=2e-3), "response %s, evenly bright %s" % (
    uneven / uneven[0, 0], even / even[0, 0]))

# ---- the angle within which two directions are one: random forms have maxima 15 to 25 degrees apart ----
good("fit", "-i", "noisy.nrrd", "-o", "eight.nrrd", "--order", 8, "--diffusivities", ".0017,.0002")
tensors = read("eight.nrrd")[2]
forms = random.normal(size=tensors.shape).astype("<f4")
forms[0] = 1
head = open("eight.nrrd", "rb").read().split(b"\n\n")[0].replace(b"encoding: gzip", b"encoding: raw")
open("forms.nrrd", "wb").write(head + b"\n\n" + forms.tobytes(order="F"))
for method in ("maxima", "sshopm"):
    found = {}
    for angle in (None, 15, 25):
        good("peaks", "-i", "forms.nrrd", "-o", "peaks.nrrd", "--method", method, "--max-fibers", 6,
             *(["--min-angle", angle] if angle else []))
        found[angle] = read("peaks.nrrd")[2]
    check(np.array_equal(found[None], found[15]), "%s: the default is not 15 degrees" % method)
    check((found[15] != 0).sum() > (found[25] != 0).sum(), "%s: nothing between 15 and 25 degrees" % method)
end()
