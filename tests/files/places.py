"""Masks and other images of the same head, in every order of voxels and every spelling of space, give the same voxels.
Other grids are resampled or refused; files without a position are used in array order, with a warning."""
import itertools
import json
import shutil
import subprocess

import nibabel
import numpy as np

import _nrrd
from _dwi import Dwi, check, end, hot, refused, write

dwi = Dwi(size=(6, 5, 4))
random = np.random.default_rng(3)
fiber = random.normal(size=(6, 5, 4, 3))
fiber /= np.linalg.norm(fiber, axis=3, keepdims=True)
along = np.einsum("ijkd,vd->ijkv", fiber, dwi.g)
dwi.samples = np.rint(900 * np.exp(-dwi.b * (.0003 + .0014 * along ** 2)) + random.normal(0, 5, along.shape)).clip(1)
dwi.samples = dwi.samples.astype(int)
write("a.nrrd", dwi.header(order="ijkv") + dwi.keys(), dwi.bytes(order="ijkv"))
SIGN = {"right-anterior-superior": (1, 1, 1), "RAS": (1, 1, 1), "left-anterior-superior": (-1, 1, 1), "LAS": (-1, 1, 1),
        "left-posterior-superior": (-1, -1, 1), "LPS": (-1, -1, 1), "right-anterior-superior-time": (1, 1, 1)}
ras = np.eye(4)
ras[:3, :3] = np.diag([-1, -1, 1]) @ dwi.axes  # the data are in LPS
ras[:3, 3] = np.diag([-1, -1, 1]) @ dwi.origin
mask = (random.random((6, 5, 4)) < .4).astype(np.uint8)
image = nibabel.Nifti1Image(mask, ras)
image.set_sform(ras, 1)
ORDERS = [np.array([[axis, sign] for axis, sign in zip(axes, signs)]) for axes in itertools.permutations(range(3))
          for signs in itertools.product((1, -1), repeat=3)]


def fit(name, path, said=(), same=True):
    done = hot("fit", "-i", "a.nrrd", "--model", "adc", "--order", "2", "--mask", path, "-o", "t.nrrd")
    check(done.returncode == 0, "%s: %s" % (name, done.stderr))
    if done.returncode:
        return None
    lines = [line for line in done.stderr.splitlines() if "mask" in line]
    check(len(lines) == bool(said) and all(word in done.stderr for word in said), "%s: said %s" % (name, lines))
    confidence = _nrrd.read("t.nrrd")[2][0]
    if same:
        check(np.array_equal(confidence != 0, mask != 0), "%s: %d voxels fitted, %d of them in the mask"
              % (name, (confidence != 0).sum(), ((confidence != 0) & (mask != 0)).sum()))
    return confidence


def nrrd(path, values, matrix, space, more=()):
    vector = lambda v: "(%s)" % ",".join("%.17g" % x for x in v)
    sign = np.array(SIGN.get(space, (1, 1, 1)))
    m = matrix[:3] * sign[:, None]
    write(path, ["NRRD0005", "type: uchar", "dimension: 3", "space: " + space,
                 "sizes: %d %d %d" % values.shape, "space directions: " + " ".join(vector(m[:, a]) for a in range(3)),
                 "space origin: " + vector(m[:, 3]), "encoding: raw", *more], values.tobytes(order="F"))


nibabel.save(image, "m.nii")
fit("as the data", "m.nii")
confidence = _nrrd.read("t.nrrd")[2][0]
with open("t.nrrd", "rb") as file:
    expected = file.read()
for n, order in enumerate(ORDERS):  # nibabel turns the array and keeps the place
    turned = image.as_reoriented(order)
    nibabel.save(turned, "m.nii.gz")
    fit("NIfTI %s" % order.tolist(), "m.nii.gz")
    with open("t.nrrd", "rb") as file:
        check(file.read() == expected, "%s: other bytes" % order.tolist())
    if n % 7 == 3:
        for space in ("right-anterior-superior", "RAS", "LAS", "left-anterior-superior", "LPS",
                      "left-posterior-superior"):
            nrrd("m.nrrd", np.asarray(turned.dataobj), turned.affine, space)
            fit("NRRD %s %s" % (space, order.tolist()), "m.nrrd")
if shutil.which("mrconvert"):
    for strides in ("-1,2,3", "3,-1,2", "2,3,1", "-3,-2,-1"):
        for kind in ("bit", "uint8", "float32"):
            subprocess.run(["mrconvert", "m.nii", "-strides", strides, "-datatype", kind, "m.mif", "-quiet", "-force"],
                           check=True)
            fit("MIF %s %s" % (strides, kind), "m.mif")

# qform without sform; a position in float32; a mask half a voxel off (corners instead of centres)
turned = nibabel.Nifti1Image(mask[::-1], None)
flipped = ras @ np.array([[-1, 0, 0, 5], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.]])
turned.set_qform(flipped, 1)
turned.set_sform(None, 0)
nibabel.save(turned, "m.nii")
fit("qform alone", "m.nii")
shifted = image.affine.copy()
shifted[:3, 3] += .49 * shifted[:3, 0]
nibabel.save(nibabel.Nifti1Image(mask, shifted), "m.nii")
fit("half a voxel off", "m.nii")

# other grids: nearest neighbour, with a note; elsewhere: refused
fine = np.repeat(np.repeat(np.repeat(mask, 2, 0), 3, 1), 2, 2)
m = ras @ np.diag([1 / 2, 1 / 3, 1 / 2, 1])
m[:3, 3] = (ras @ [-.25, -1 / 3, -.25, 1])[:3]
nibabel.save(nibabel.Nifti1Image(fine, m), "m.nii")
fit("a finer grid", "m.nii", said=("nearest neighbour", "100 %"))
part = ras.copy()
part[:3, 3] = (ras @ [2, 0, 0, 1])[:3]
nibabel.save(nibabel.Nifti1Image(mask[2:], part), "m.nii")
confidence = fit("a part", "m.nii", said=("nearest neighbour", "66.7 %"), same=False)
check(np.array_equal(confidence != 0, (mask != 0) & (np.arange(6) >= 2)[:, None, None]), "a part: other voxels")
far = ras.copy()
far[:3, 3] += 500
nibabel.save(nibabel.Nifti1Image(mask, far), "m.nii")
refused("fit", "-i", "a.nrrd", "--mask", "m.nii", "-o", "x.nrrd", words=("m.nii", "elsewhere", "mm"), 
        leaves=("x.nrrd",))

# no place: array order, and a line
write("m.nrrd", ["NRRD0005", "type: uchar", "dimension: 3", "sizes: 6 5 4", "encoding: raw"], mask.tobytes(order="F"))
fit("NRRD without a place", "m.nrrd", said=("m.nrrd", "does not say where", "order they are stored"))
bare = nibabel.Nifti1Image(mask, None)
bare.set_sform(None, 0)
bare.set_qform(None, 0)
nibabel.save(bare, "m.nii")
fit("NIfTI without a place", "m.nii", said=("m.nii", "does not say where", "order they are stored"))
nibabel.save(nibabel.Nifti1Image(mask[1:], None), "m.nii")
refused("fit", "-i", "a.nrrd", "--mask", "m.nii", "-o", "x.nrrd", words=("m.nii", "5 x 5 x 4", "6 x 5 x 4"))

# a noise map, tensors that go with data, directions and their truth: in another order too
for name in ("n.nii", "n2.nii"):
    noise = nibabel.Nifti1Image(np.where(mask, 5, 0).astype("f4"), ras)
    nibabel.save(noise if name == "n.nii" else noise.as_reoriented(ORDERS[29]), name)
    done = hot("peaks", "--method", "signal", "--dwi", "a.nrrd", "--sigma", name, "--order", "4", "-o", name + ".nrrd",
               "--flags", "f" + name + ".nrrd")
    check(done.returncode == 0, "%s: %s" % (name, done.stderr))
check(np.array_equal(_nrrd.read("n.nii.nrrd")[2], _nrrd.read("n2.nii.nrrd")[2]), "a noise map in another order")
hot("fit", "-i", "a.nrrd", "--model", "adc", "--order", "2", "-o", "t.nrrd")
hot("peaks", "-i", "t.nrrd", "-o", "p.nii")
peaks = nibabel.load("p.nii")
first = hot("score", "-i", "p.nii", "--truth", "p.nii", "--json")
nibabel.save(peaks.as_reoriented(ORDERS[17]), "p2.nii")
other = hot("score", "-i", "p2.nii", "--truth", "p.nii", "--json")
check(other.returncode == 0 and other.stdout == first.stdout and not other.stderr, "score: %s" % other.stderr)
done = hot("convert", "-i", "a.nrrd", "-o", "a.nii")
turned = nibabel.load("a.nii").as_reoriented(ORDERS[11])
nibabel.save(turned, "b.nii")
about = json.loads(hot("info", "-i", "a.nrrd", "--json").stdout)
g = np.array(about["gradients_world"]) * [-1, -1, 1]
np.savetxt("b.b", np.c_[g, about["b_values"]], fmt="%.12g")
hot("fit", "-i", "a.nrrd", "--model", "adc", "--order", "2", "--mask", "n.nii", "-o", "t.nrrd")
done = hot("peaks", "--method", "signal", "--dwi", "b.nii", "-i", "t.nrrd", "--sigma", "5", "--order", "4", "-o",
           "q.nii")
check(done.returncode == 0, "tensors in another order than the data: %s" % done.stderr)
found = nibabel.load("q.nii")
inverse = nibabel.orientations.ornt_transform(nibabel.io_orientation(found.affine), nibabel.io_orientation(ras))
back = np.asarray(found.as_reoriented(inverse).dataobj)
check(not back[mask == 0].any() and back[mask != 0].any(), "tensors' mask in another order than the data")
for data in ("a.nii", "b.nii"):
    done = hot("export", "-i", "p.nii", "-o", data + ".png", "--dwi", data)
    check(done.returncode == 0, "picture over %s: %s" % (data, done.stderr))
with open("a.nii.png", "rb") as one, open("b.nii.png", "rb") as two:
    check(one.read() == two.read(), "a picture over data in another order")

# data without a place: one warning
bare = nibabel.Nifti1Image(np.asarray(nibabel.load("a.nii").dataobj), None)
bare.set_sform(None, 0)
bare.set_qform(None, 0)
nibabel.save(bare, "c.nii")
shutil.copy("a.bval", "c.bval")
shutil.copy("a.bvec", "c.bvec")
done = hot("info", "-i", "c.nii")
check(done.returncode == 0 and done.stderr.count("\n") == 1 and "c.nii" in done.stderr and "sform" in done.stderr,
      "data without a place: %s" % done.stderr)
end()
