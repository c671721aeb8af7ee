"""Replacements for the tests' real data sets on machines without them: the same names, schemes and forms, made by
formulas (two crossing ribbons in tissue, surrounded by air) and without our code."""
import os

import nibabel
import numpy as np

import _dwi

REAL = os.environ.get("HOT_DATA", "")
FA, MAIN = .574215, np.array([.796954, .272381, .539142])  # of helix at (37, 8, 14)


def spread(count):
    """Directions on a half sphere, about evenly."""
    z = 1 - (np.arange(count) + .5) / count
    angle = 2.399963 * np.arange(count)
    return np.stack([np.sqrt(1 - z * z) * np.cos(angle), np.sqrt(1 - z * z) * np.sin(angle), z], 1)


def turned(count, seed):
    """The same, turned at random, each on either side."""
    random = np.random.default_rng(seed)
    return spread(count) @ np.linalg.qr(random.normal(size=(3, 3)))[0] * random.choice([-1, 1], size=(count, 1))


class Set(_dwi.Dwi):
    def __init__(self, size, b0, shells, axes, air=.5, seed=1, snr=30):
        """air: the tissue's radius over half the size; 0: tissue everywhere."""
        random = np.random.default_rng(seed)
        self.b = np.concatenate([np.zeros(b0)] + [np.full(n, float(b)) for b, n in shells.items()])
        self.g = np.concatenate([np.zeros((b0, 3))] + [turned(n, seed + b) for b, n in shells.items()])
        self.axes, self.origin = axes, np.array([-40.5, -31.25, 12])
        self.space, self.frame = "left-posterior-superior", _dwi.rotation((1, 2, -1), 40)
        place = np.stack(np.meshgrid(*[(np.arange(n) + .5) / n * 2 - 1 for n in size], indexing="ij"), -1)
        flat = size[2] < 5
        radius = np.linalg.norm(place[..., :2] if flat else place, axis=-1)
        x, y = np.abs(place[..., 1]) < .2, np.abs(place[..., 0]) < .2  # ribbons along the first and the second axis
        if not air:
            x, y = np.abs(place[..., 1]) < .8, np.abs(place[..., 0]) < .3
        inside = radius < air if air else np.ones(size, bool)
        self.labels = np.where(inside, x.astype(int) + y, 0)
        grey = np.exp(-self.b * .8e-3)
        fibre = [np.exp(-self.b * (.2e-3 + 1.5e-3 * (self.g @ (axes[:, d] / np.linalg.norm(axes[:, d]))) ** 2))
                 for d in (0, 1)]
        clean = np.where(self.labels[..., None] == 0, grey, (x[..., None] * fibre[0] + y[..., None] * fibre[1]) /
                         np.maximum(1, x.astype(int) + y)[..., None]) * inside[..., None] * 1000.
        noise = random.normal(size=(2,) + clean.shape) * 1000 / snr
        self.samples = np.rint(np.hypot(clean + noise[0], noise[1])).astype("i2")

    def ras(self):
        to_ras = np.diag([-1., -1, 1])
        return to_ras @ self.axes, to_ras @ self.origin, self.g @ to_ras

    def save(self, nrrd, nifti):
        for path in (nrrd, nifti):
            os.makedirs(os.path.dirname(path), exist_ok=True)
        data = os.path.splitext(nrrd)[0] + ".raw"
        detached = nrrd.endswith(".nhdr")
        lines = self.header(more=["data file: " + os.path.basename(data)] if detached else []) + self.keys()
        _dwi.write(nrrd, lines, None if detached else self.bytes())
        if detached:
            open(data, "wb").write(self.bytes())
        axes, origin, g = self.ras()
        image = nibabel.Nifti1Image(self.samples, np.vstack([np.c_[axes, origin], [0, 0, 0, 1]]))
        image.header.set_xyzt_units("mm")
        nibabel.save(image, nifti)
        inner = g @ (axes / np.linalg.norm(axes, axis=0))
        if np.linalg.det(axes) > 0:
            inner[:, 0] *= -1
        stem = nifti[:-7] if nifti.endswith(".gz") else nifti[:-4]
        np.savetxt(stem + ".bval", self.b[None], "%g")
        np.savetxt(stem + ".bvec", inner.T, "%.8f")


def helix(path):
    """Tensors that are known, in floats without noise; of the helix itself there is one voxel."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    made = Set((64, 32, 16), 1, {1000: 6}, _dwi.rotation((3, 1, 2), 30) @ np.diag([1.2, 1.2, 1.5]))
    random = np.random.default_rng(5)
    main = random.normal(size=made.samples.shape[:3] + (3,))
    fa = random.uniform(.2, .8, size=main.shape[:3])
    main[37, 8, 14], fa[37, 8, 14] = MAIN, FA
    main /= np.linalg.norm(main, axis=-1, keepdims=True)
    # FA = (l1 - l2) / sqrt(l1^2 + 2 l2^2) of two equal eigenvalues
    a, ratio = 1 - 2 * fa ** 2, None
    ratio = np.where(np.abs(a) < 1e-9, (1 - fa ** 2) / 2,
                     (1 - np.sqrt(np.maximum(1 - a * (1 - fa ** 2), 0))) / np.where(np.abs(a) < 1e-9, 1, a))
    along = 1.7e-3
    d = ratio[..., None] * along + (1 - ratio[..., None]) * along * (main @ made.g.T) ** 2
    made.samples = 1000 * np.exp(-made.b * d)
    _dwi.write(path, made.header("float", more=["data file: helix-DWI.raw"]) + made.keys(), None)
    open(os.path.join(os.path.dirname(path), "helix-DWI.raw"), "wb").write(made.bytes("<f4"))


def data():
    """The folder of the real data, or one that was just made in the current folder; and whether they are real."""
    if os.path.isdir(os.path.join(REAL, "fibercup")):
        return REAL, True
    print("no real data in '%s': a stand-in is made" % REAL)
    here = os.path.abspath("stand_in")
    oblique = _dwi.rotation((1, 2, 3), 12) @ np.diag([2, -2, 2.5])
    plain = np.diag([3., 3, 3])
    cup = Set((64, 64, 3), 2, {1500: 64}, plain, air=.56)
    cup.save(here + "/fibercup/fibercup_b1500.nhdr", here + "/fibercup/fibercup_b1500.nii.gz")
    nibabel.save(nibabel.Nifti1Image(cup.labels.astype("i2"), np.diag([-3, -3, 3, 1.])),
                 here + "/fibercup/fibercup_nfib_labels.nii.gz")
    Set((15, 15, 11), 6, {700: 16, 1200: 30, 2800: 50}, oblique, air=0).save(
        here + "/mrtrix_msmt_roi/mrtrix_msmt_roi.nrrd", here + "/mrtrix_msmt_roi/mrtrix_msmt_roi.nii.gz")
    Set((80, 80, 40), 1, {2000: 15}, oblique, air=.72).save(here + "/pnl_wip_dti/orig/WIP_dti_ax_601.nhdr",
                                                          here + "/pnl_wip_dti/orig/WIP_dti_ax_601.nii.gz")
    small = Set((10, 10, 10), 1, {994: 64}, plain, air=0)
    small.save(here + "/dipy_small_64D/dipy_small_64D.nhdr", here + "/dipy_small_64D/orig/small_64D.nii")
    Set((12, 12, 4), 2, {1000: 30, 2000: 30}, oblique, air=0).save(here + "/human_2shell/dwi.nrrd",
                                                                 here + "/human_2shell/dwi.nii.gz")
    helix(here + "/slicer_native_nrrd/orig/helix-DWI.nhdr")
    shells = Set((3, 3, 3), 1, {1000: 6, 3000: 6}, plain, air=0)
    _dwi.write(here + "/slicer_native_nrrd/orig/3x3x3_13_b1000_b3000.nrrd", shells.header() + shells.keys(),
               shells.bytes())
    return here, False
