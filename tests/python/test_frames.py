"""Where voxels and gradients lie, against independent references: NumPy's polar factor for sheared axes, nibabel for
NIfTI, MRtrix for a MIF without a transform, SciPy for the .fz of every flip and permutation of the axes; numbers in
text that their type does not hold."""
import gzip
import itertools
import os
import shutil
import struct
import subprocess

import nibabel
import numpy as np
import scipy.io

import hotfiber

from _dwi import check, end, rotation

random = np.random.default_rng(39)
VOLUMES = 8


def table(name):
    b = np.array([0] + [1000] * (VOLUMES - 1), float)
    g = random.normal(size=(VOLUMES, 3))
    g /= np.linalg.norm(g, axis=1, keepdims=True)
    g[0] = 0
    np.savetxt(name + ".bval", b[None], fmt="%g")
    np.savetxt(name + ".bvec", g.T, fmt="%.9f")
    return g


def load(name):
    """World gradients in RAS, and voxels to RAS."""
    dwi = hotfiber.load(name)
    return np.asarray(dwi.gradients), np.asarray(dwi.affine), np.array(dwi.shape[:3]) - 1


def polar(m):
    u, _, v = np.linalg.svd(m)
    return u @ v


def sheared():
    """bvecs are rotated by the rotation nearest to the image's axes, even if these are far from right angles; FSL's x
    is flipped if the axes are right-handed."""
    for step, shear in enumerate([0, 1e-7, 1e-4, 1e-3, .01, .03, .07, .15, .3]):
        for flip in ([1, 1, 1], [-1, 1, 1], [1, -1, -1], [-1, -1, -1]):
            axes = np.diag(flip) @ (np.eye(3) + shear * random.normal(size=(3, 3)))
            axes = rotation(random.normal(size=3), 50) @ axes
            axes /= np.linalg.norm(axes, axis=0)
            affine = np.eye(4)
            affine[:3, :3], affine[:3, 3] = axes * [1.5, 2, 2.5], [3, -4, 5]
            affine = affine.astype(np.float32).astype(float)
            image = nibabel.Nifti1Image(random.integers(1, 99, size=(3, 3, 2, VOLUMES)).astype(np.int16), None)
            image.set_sform(affine, 1)
            image.set_qform(None, 0)
            nibabel.save(image, "sheared.nii.gz")
            g = table("sheared")
            unit = affine[:3, :3] / np.linalg.norm(affine[:3, :3], axis=0)
            frame = polar(unit)
            if np.linalg.det(frame) > 0:
                frame[:, 0] *= -1
            world, found, _ = load("sheared.nii.gz")
            check(np.abs(found - affine).max() < 1e-6, "shear %g: affine" % shear)
            error = np.abs(world[:, :3] - g @ frame.T).max()
            check(error < 2e-7, "shear %g, flips %s: gradients are off by %.2g" % (shear, flip, error))


def no_place():
    """NIfTI without sform and qform: sizes of voxels alone, whatever their sign; 0 or no number counts as 1."""
    for sizes, right in (((-2, 3, -4), (2, 3, 4)), ((2, -3, 4), (2, 3, 4)), ((0, 2.5, 1), (1, 2.5, 1)),
                         ((np.nan, 2, np.inf), (1, 2, 1)), ((.5, .25, 1e-2), (.5, .25, 1e-2))):
        image = nibabel.Nifti1Image(np.ones((3, 4, 5, VOLUMES), np.int16), None)
        image.set_sform(None, 0)
        image.set_qform(None, 0)
        nibabel.save(image, "none.nii")
        bytes_ = bytearray(open("none.nii", "rb").read())
        for axis, size in enumerate(sizes):
            struct.pack_into("<f", bytes_, 76 + 4 * (1 + axis), size)
        open("none.nii", "wb").write(bytes_)
        table("none")
        _, affine, _ = load("none.nii")
        check(np.abs(affine[:3, :3] - np.diag(np.float32(right).astype(float))).max() < 1e-7 and
              (affine[:3, 3] == 0).all(), "voxels of %s: %s" % (sizes, affine.tolist()))


def quaternions():
    """qform: random rotations, both signs of qfac, offsets; as nibabel has it."""
    for qfac in (1, -1):
        for _ in range(5):
            affine = np.eye(4)
            affine[:3, :3] = rotation(random.normal(size=3), random.uniform(0, 180)) * [1.5, 2, 2.5 * qfac]
            affine[:3, 3] = random.uniform(-90, 90, 3)
            image = nibabel.Nifti1Image(np.ones((3, 4, 5, VOLUMES), np.int16), None)
            image.set_sform(None, 0)
            image.set_qform(affine, 1)
            nibabel.save(image, "qform.nii.gz")
            table("qform")
            _, found, _ = load("qform.nii.gz")
            right = nibabel.load("qform.nii.gz").affine
            check(np.abs(found - right).max() < 1e-5, "qform: %s, not %s" % (found.tolist(), right.tolist()))


def mif():
    """Without a transform MRtrix's origin is the middle of the image: the centre of the middle voxel, or between two;
    layouts that flip or swap axes."""
    if not shutil.which("mrinfo"):
        check(not os.environ.get("HOT_ALL_READERS"), "mrinfo is not installed")
        return
    for size, sizes in (((5, 4, 3), (1.5, 2, 2.5)), ((2, 2, 2), (1, 1, 1)), ((1, 6, 7), (.7, 3, 1.1))):
        for layout in ("+0,+1,+2,+3", "-0,+1,-2,+3", "+1,-0,+3,+2"):
            scheme = "".join("dw_scheme: %s\n" % ",".join("%.9f" % x for x in row)
                             for row in np.column_stack([table("mif"), [0] + [1000.] * (VOLUMES - 1)]))
            head = "mrtrix image\ndim: %s,%d\nvox: %s,nan\nlayout: %s\ndatatype: UInt8\n%s" % (
                ",".join(map(str, size)), VOLUMES, ",".join(map(str, sizes)), layout, scheme)
            head += "file: . 2048\nEND\n"
            with open("plain.mif", "wb") as file:
                file.write(head.encode().ljust(2048, b"\0") + bytes(range(1, 1 + int(np.prod(size)))) * VOLUMES)
            _, affine, last = load("plain.mif")
            lines = subprocess.run(["mrinfo", "plain.mif", "-transform"], capture_output=True, text=True).stdout
            transform = np.array([list(map(float, line.split())) for line in lines.strip().splitlines()])
            right = transform @ np.diag([*sizes, 1])
            # our voxels may come in another order: the same box
            box = lambda m, last: np.sort([(m @ [*(c * last), 1])[:3] for c in itertools.product((0, 1), repeat=3)], 0)
            check(np.abs(box(affine, last) - box(right, np.array(size) - 1)).max() < 1e-5,
                  "%s %s: %s, MRtrix has %s" % (size, layout, affine.tolist(), right.tolist()))
            middle = affine @ [*(last / 2), 1]
            check(np.abs(middle[:3]).max() < 1e-5, "%s %s: the middle is at %s" % (size, layout, middle))


def fz():
    """DSI Studio's file of every order and direction of axes: `trans` takes each voxel to where it was."""
    for order in itertools.permutations(range(3)):
        for flip in itertools.product((1, -1), repeat=3):
            shape = (3, 4, 5)
            affine = np.eye(4)
            affine[:3, :3] = rotation((1, 2, 3), 8) @ np.eye(3)[:, order] * flip * [1, 1.5, 2.5]
            affine[:3, 3] = [11, -22, 33]
            peaks = np.zeros(shape + (1, 3), np.float32)
            inside = random.random(shape) < .3
            where = np.argwhere(inside)
            peaks[inside, 0] = random.normal(size=(len(where), 3))
            peaks[inside, 0] /= np.linalg.norm(peaks[inside, 0], axis=1, keepdims=True)
            strength = .1 + .8 * np.arange(len(where)) / len(where)
            peaks[inside, 0] *= strength[:, None].astype(np.float32)
            hotfiber.export(hotfiber.Fibers(peaks[..., 0, :], affine=affine), "all.fz", format="fz", force=True)
            with gzip.open("all.fz") as file:
                kept = scipy.io.loadmat(file)
            size = kept["dimension"].ravel().astype(int)
            trans = kept["trans"].reshape(4, 4).T  # row by row
            check(np.abs(kept["voxel_size"].ravel() - np.linalg.norm(trans[:3, :3], axis=0)).max() < 1e-5,
                  "%s %s: sizes of voxels" % (order, flip))
            fa = kept["fa0"].ravel(order="F").reshape(size, order="F")
            mask = kept["mask"].ravel(order="F").reshape(size, order="F")
            there = np.argwhere(fa > 0)
            check(len(there) == len(where) and ((fa > 0) == (mask > 0)).all(), "%s %s: voxels" % (order, flip))
            by_strength = there[np.argsort([fa[tuple(v)] for v in there])]
            at = np.c_[by_strength, np.ones(len(there))] @ trans.T
            right = np.c_[where, np.ones(len(where))] @ affine.T
            check(np.abs(at - right).max() < 1e-4, "%s %s: voxels are off by %.3g mm" % (
                order, flip, np.abs(at - right).max()))
            # L, P, S come first: each axis goes most nearly where it should
            check((np.abs(trans[:3, :3]).argmax(0) == [0, 1, 2]).all() and (np.diag(trans[:3, :3]) * [-1, -1, 1] > 0)
                  .all(), "%s %s: not L, P, S" % (order, flip))
            found = kept["dir0"].reshape(3, -1, order="F").T.reshape(*size, 3, order="F")
            unit = trans[:3, :3] / np.linalg.norm(trans[:3, :3], axis=0)
            turned = np.array([unit @ found[tuple(v)] for v in by_strength])
            given = peaks[inside, 0] / np.linalg.norm(peaks[inside, 0], axis=1, keepdims=True)
            check(np.abs(np.abs((turned * given).sum(1)) - 1).max() < 1e-5, "%s %s: directions" % (order, flip))


def text():
    """NRRD in text: a number that its type does not hold is an error, never another number."""
    head = ("NRRD0005\ntype: %s\ndimension: 4\nsizes: 2 2 2 7\nencoding: ascii\nspace: left-posterior-superior\n"
            "space directions: (2,0,0) (0,2,0) (0,0,2) none\nspace origin: (0,0,0)\n"
            "kinds: space space space list\nmodality:=DWMRI\nDWMRI_b-value:=1000\n" + "".join(
                "DWMRI_gradient_%04d:=%g %g %g\n" % (v, *g) for v, g in enumerate(
                    [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (.6, .8, 0), (0, .6, .8), (.8, 0, .6)])) + "\n")
    limits = {"uchar": (0, 255), "signed char": (-128, 127), "short": (-2**15, 2**15 - 1), "ushort": (0, 2**16 - 1),
              "int": (-2**31, 2**31 - 1), "uint": (0, 2**32 - 1), "longlong": (-2**63, 2**63 - 1),
              "ulonglong": (0, 2**64 - 1)}
    for kind, (low, high) in limits.items():
        for number, good in ((low, True), (high, True), (low - 1, False), (high + 1, False), (10**25, False),
                             (-10**25, False)):
            words = [str(number)] + ["7"] * 55
            open("text.nrrd", "w").write(head % kind + " ".join(words) + "\n")
            try:
                data = np.asarray(hotfiber.load("text.nrrd").data)
                said = float(data[0, 0, 0, 0])
                check(good and abs(said - number) <= abs(number) * 1e-7, "%s %d: read as %g" % (kind, number, said))
            except hotfiber.Error as error:
                check(not good and str(number)[:20] in str(error), "%s %d: %s" % (kind, number, error))
    open("text.nrrd", "w").write(head % "double" + " ".join(["1e400"] + ["7"] * 55) + "\n")
    try:
        check(False, "1e400 is read as %s" % np.asarray(hotfiber.load("text.nrrd").data)[0, 0, 0, 0])
    except hotfiber.Error as error:
        check("1e400" in str(error), str(error))
    for word, right in (("1e-400", 0), ("2.5", 2.5), ("-3e2", -300)):
        for kind in ("float", "double"):
            open("text.nrrd", "w").write(head % kind + " ".join([word] + ["7"] * 55) + "\n")
            data = np.asarray(hotfiber.load("text.nrrd").data)
            check(float(data[0, 0, 0, 0]) == right, "%s %s: read as %g" % (kind, word, data[0, 0, 0, 0]))


for test in (sheared, no_place, quaternions, mif, fz, text):
    test()
    print(test.__name__)
end()
