"""Places and directions through NRRD and NIfTI: the same world gradients and signals both ways, as MRtrix and nibabel
see them; NIfTI of every type, byte order, version, scale; bval and bvec in the layouts that exist."""
import gzip
import json
import os
import shutil
import struct
import subprocess

import numpy as np

import _nrrd
from _dwi import Dwi, check, end, hot, rotation, write

try:
    import nibabel
except ImportError:
    nibabel = None
mrinfo = shutil.which("mrinfo")
SIGN = {"right-anterior-superior": (1, 1, 1), "left-posterior-superior": (-1, -1, 1),
        "left-anterior-superior": (-1, 1, 1)}


def info(path, *more):
    done = hot("info", "-i", path, "--json", *more)
    check(done.returncode == 0, "info %s: %s" % (path, done.stderr))
    return json.loads(done.stdout) if done.returncode == 0 else None


def in_ras(about):
    """World gradients and matrix of `info --json`, in RAS."""
    sign = np.array(SIGN.get(about["space"], (1, 1, 1)))
    return np.array(about["gradients_world"]) * sign, np.array(about["to_world"]) * sign[:, None]


def agree(name, one, two, angle=1e-6, b_off=1e-6):
    g1, m1 = in_ras(one)
    g2, m2 = in_ras(two)
    check(np.abs(g1 - g2).max() <= angle, "%s: gradients differ by %g" % (name, np.abs(g1 - g2).max()))
    check(np.abs(m1 - m2).max() <= 1e-4, "%s: places differ by %g" % (name, np.abs(m1 - m2).max()))
    b1, b2 = np.array(one["b_values"]), np.array(two["b_values"])
    check(np.allclose(b1, b2, rtol=b_off, atol=0), "%s: b-values %s and %s" % (name, b1, b2))
    check(one["size"] == two["size"], "%s: sizes" % name)


# ---- NRRD to NIfTI and back, in grids of every handedness ----
cases = {"lps oblique": ("left-posterior-superior", np.diag([1.5, -2, 2.5])),
         "ras": ("right-anterior-superior", np.diag([1.5, 2, 2.5])),
         "las": ("left-anterior-superior", np.diag([1.5, 2, 2.5])),
         "permuted": ("right-anterior-superior", np.diag([1.5, 2, 2.5])[:, [2, 0, 1]]),
         "permuted, flipped": ("left-posterior-superior", np.diag([-1.5, 2, 2.5])[:, [1, 0, 2]])}
for name, (space, axes) in cases.items():
    dwi = Dwi(space=space)
    dwi.axes = rotation((1, 2, 3), 25) @ axes
    write("a.nrrd", dwi.header() + dwi.keys(), dwi.bytes())
    for image in ("a.nii", "a.nii.gz"):
        done = hot("convert", "-i", "a.nrrd", "-o", image)
        check(done.returncode == 0, "%s: %s" % (name, done.stderr))
        here = info(image)
        agree("%s, %s" % (name, image), info("a.nrrd"), here)
        done = hot("convert", "-i", image, "-o", "b.nrrd")
        check(done.returncode == 0, "%s: %s" % (name, done.stderr))
        header, keys, samples = _nrrd.read("b.nrrd")
        check(np.array_equal(samples, dwi.samples), "%s: samples there and back" % name)
        check(header["type"] in ("short", "int16"), "%s: type %s" % (name, header["type"]))
        sign = np.array(SIGN[space])
        b, g = _nrrd.scheme(header, keys, len(dwi.b))
        check(header["space"] == "right-anterior-superior", "%s: back in %s" % (name, header["space"]))
        check(np.abs(g - dwi.g * sign).max() < 1e-6, "%s: gradients there and back" % name)
        check(np.allclose(b, dwi.b), "%s: b-values there and back" % name)
    # others see the same
    if nibabel:
        seen = nibabel.load("a.nii.gz")
        expected = np.eye(4)
        expected[:3, :3] = np.array(SIGN[space])[:, None] * dwi.axes
        expected[:3, 3] = np.array(SIGN[space]) * dwi.origin
        check(np.abs(seen.affine - expected).max() < 1e-5, "%s: nibabel's affine" % name)
        check(np.array_equal(np.asarray(seen.dataobj), dwi.samples), "%s: nibabel's samples" % name)
    if mrinfo:
        text = subprocess.run([mrinfo, "-quiet", "-dwgrad", "-fslgrad", "a.bvec", "a.bval", "a.nii.gz"],
                              stdout=subprocess.PIPE, check=True).stdout.decode()
        table = np.array([[float(x) for x in line.split()] for line in text.splitlines() if line.strip()])
        check(table.shape == (len(dwi.b), 4), "%s: mrinfo's table" % name)
        check(np.abs(table[:, :3] - dwi.g * SIGN[space]).max() < 1e-6,
              "%s: MRtrix's gradients off by %g" % (name, np.abs(table[:, :3] - dwi.g * SIGN[space]).max()))
        check(np.allclose(table[:, 3], dwi.b), "%s: MRtrix's b" % name)
        # and what MRtrix writes is read the same: its strides may be reordered, its world is not
        subprocess.run(["mrconvert", "-quiet", "-force", "-fslgrad", "a.bvec", "a.bval", "a.nii.gz", "m.nii",
                        "-export_grad_fsl", "m.bvec", "m.bval", "-strides", "-3,1,2,4"], check=True)
        again = info("m.nii")
        check(np.abs(in_ras(again)[0] - dwi.g * SIGN[space]).max() < 1e-5, "%s: mrconvert's bvec" % name)

# ---- NIfTI in the forms that exist, written byte by byte ----
dwi = Dwi(space="right-anterior-superior")
affine = np.eye(4)
affine[:3, :3], affine[:3, 3] = dwi.axes, dwi.origin


def nifti(path, code, dtype, endian="<", version=1, slope=0.0, intercept=0.0, samples=None, sform=1):
    samples = dwi.samples if samples is None else samples
    data = samples.astype(np.dtype(dtype).newbyteorder(endian)).tobytes(order="F")
    size = np.dtype(dtype).itemsize
    dims = [4] + list(samples.shape) + [1, 1, 1]
    pixdim = [1.0, 1.5, 2.0, 2.5] + [1.0] * 4
    rows = [list(affine[r]) for r in range(3)]
    if version == 1:
        head = struct.pack(endian + "i36s8h3f4h8f3fh2B4f2i80s24s2h6f12f16s4s", 348, b"", *dims, 0, 0, 0, 0, code,
                           8 * size, 0, *pixdim, 352.0, slope, intercept, 0, 0, 2, 0, 0, 0, 0, 0, 0, b"", b"", 0, sform,
                           *[0.0] * 6, *rows[0], *rows[1], *rows[2], b"", b"n+1\0")
        check(len(head) == 348, "header of %d bytes" % len(head))
    else:
        head = struct.pack(endian + "i8s2h8q3d8dq6d2q80s24s2i6d12d3i16sB15s", 540, b"n+2\0\r\n\x1a\n", code, 8 * size,
                           *dims, 0.0, 0.0, 0.0, *pixdim, 544, slope, intercept, 0.0, 0.0, 0.0, 0.0, 0, 0, b"", b"", 0,
                           sform, *[0.0] * 6, *rows[0], *rows[1], *rows[2], 0, 2, 0, b"", 0, b"")
        check(len(head) == 540, "header of %d bytes" % len(head))
    whole = head + b"\0" * 4 + data
    with (gzip.open if path.endswith(".gz") else open)(path, "wb") as file:
        file.write(whole)


frame = np.stack([dwi.axes[:, c] / np.linalg.norm(dwi.axes[:, c]) for c in range(3)], 1)
inner = dwi.g @ frame
if np.linalg.det(frame) > 0:
    inner[:, 0] *= -1
with open("n.bval", "w") as file:
    file.write(" ".join("%g" % b for b in dwi.b) + "\n")
np.savetxt("n.bvec", inner.T, "%.12f")
write("a.nrrd", dwi.header() + dwi.keys(), dwi.bytes())
reference = info("a.nrrd")
for code, dtype in ((256, "i1"), (2, "u1"), (4, "i2"), (512, "u2"), (8, "i4"), (768, "u4"), (1024, "i8"), (1280, "u8"),
                    (16, "f4"), (64, "f8")):
    for endian in "<>":
        for version in (1, 2):
            nifti("n.nii", code, dtype, endian, version)
            name = "NIfTI-%d %s%s" % (version, endian, dtype)
            agree(name, info("n.nii"), reference)
            done = hot("convert", "-i", "n.nii", "-o", "b.nrrd")
            check(done.returncode == 0, name + done.stderr)
            kind = dict(_nrrd.TYPES, **{"signed char": "i1", "long long int": "i8", "unsigned long long int": "u8"})
            _nrrd.TYPES.update(kind)
            header, keys, samples = _nrrd.read("b.nrrd")
            check(np.array_equal(samples, dwi.samples) and np.dtype(_nrrd.TYPES[header["type"]]) == np.dtype(dtype),
                  name + ": samples")
nifti("n.nii", 4, "i2", slope=2.5, intercept=-30)
hot("convert", "-i", "n.nii", "-o", "b.nrrd")
header, keys, samples = _nrrd.read("b.nrrd")
check(header["type"] == "float" and np.array_equal(samples, dwi.samples * 2.5 - 30), "scl_slope and scl_inter")
odd = dwi.samples.astype("f4")
odd[0, 0, 0, 3], odd[1, 1, 1, 4], odd[2, 2, 2, 5] = np.nan, np.inf, -7
nifti("n.nii.gz", 16, "f4", samples=odd)
hot("convert", "-i", "n.nii.gz", "--bval", "n.bval", "--bvec", "n.bvec", "-o", "b.nrrd")
header, keys, samples = _nrrd.read("b.nrrd")
check(np.array_equal(samples, odd, equal_nan=True), "NaN and Inf come through")
about = info("n.nii.gz")
check(about["not_finite"] == 2 and about["negative"] == 1, "NaN and negative values are counted")
nifti("n.nii", 4, "i2", sform=0)
check(info("n.nii")["space"] == "unknown", "neither sform nor qform")

# ---- header and samples in a file each, named by either, packed or not ----
if nibabel:
    nibabel.save(nibabel.Nifti1Pair(dwi.samples.astype("i2"), affine), "pair.img")
    for ending in ("bval", "bvec"):
        shutil.copy("n." + ending, "pair." + ending)
    halves = {half: open("pair." + half, "rb").read() for half in ("hdr", "img")}
    for packed in ((), ("hdr",), ("img",), ("hdr", "img")):
        for half, content in halves.items():
            for old in ("pair." + half, "pair.%s.gz" % half):
                if os.path.exists(old):
                    os.remove(old)
            with open("pair." + half + (".gz" if half in packed else ""), "wb") as file:
                file.write(gzip.compress(content) if half in packed else content)
        for half in halves:
            image = "pair." + half + (".gz" if half in packed else "")
            agree(image, info(image), reference)
            hot("convert", "-i", image, "-o", "b.nrrd")
            check(np.array_equal(_nrrd.read("b.nrrd")[2], dwi.samples), "%s, packed %s: samples" % (image, packed))

# ---- bval and bvec ----
nifti("n.nii", 4, "i2")
np.savetxt("t.bvec", inner, "%.12f")
agree("vectors as lines of three", info("n.nii", "--bvec", "t.bvec"), reference)
np.savetxt("t.bval", dwi.b, "%g")
agree("b-values as a column", info("n.nii", "--bval", "t.bval"), reference)
with open("t.bvec", "w") as file:
    file.write("# made by hand\r\n" + "\r\n".join(",\t".join("%.12f" % x for x in row) + "  "
                                                  for row in inner.T) + "\r\n\r\n")
agree("comments, commas, tabs, CR LF", info("n.nii", "--bvec", "t.bvec"), reference)
# clearly not unit: shells in the length under one nominal b, as MRtrix reads them
length = np.sqrt(dwi.b / 3000)
np.savetxt("t.bvec", (inner * length[:, None]).T, "%.12f")
with open("t.bval", "w") as file:
    file.write(" ".join("3000" if b else "0" for b in dwi.b) + "\n")
done = hot("info", "-i", "n.nii", "--bval", "t.bval", "--bvec", "t.bvec", "--json")
agree("shells in the vectors' length", json.loads(done.stdout), reference)
check("squared length" in done.stderr, "with a note: " + done.stderr)
np.savetxt("t.bvec", (inner * 1.004).T, "%.12f")
agree("nearly unit vectors", info("n.nii", "--bvec", "t.bvec"), reference)
if mrinfo:
    np.savetxt("t.bvec", (inner * length[:, None]).T, "%.12f")
    text = subprocess.run([mrinfo, "-quiet", "-dwgrad", "-fslgrad", "t.bvec", "t.bval", "n.nii"],
                          stdout=subprocess.PIPE, check=True).stdout.decode()
    table = np.array([[float(x) for x in line.split()] for line in text.splitlines() if line.strip()])
    check(np.allclose(table[:, 3], dwi.b, rtol=1e-4), "MRtrix scales b the same way: %s" % table[:, 3])
bad = inner.copy()
bad[0] = bad[5] = np.nan
np.savetxt("t.bvec", bad.T, "%.12f")
agree("NaN where b is 0", info("n.nii", "--bvec", "t.bvec"), reference)

# a right-handed grid: x of the vectors is mirrored there, whoever writes them
other = Dwi(space="right-anterior-superior")
other.axes = rotation((1, 2, 3), 25) @ np.diag([1.5, 2, 2.5])
write("a.nrrd", other.header() + other.keys(), other.bytes())
left = affine.copy()
affine[:3, :3] = other.axes
nifti("r.nii", 4, "i2")
np.savetxt("r.bvec", (other.g @ (other.axes / np.linalg.norm(other.axes, axis=0)) * [-1, 1, 1]).T, "%.12f")
agree("right-handed NIfTI", info("r.nii", "--bval", "n.bval"), info("a.nrrd"))
affine[:] = left

# ---- an input is never written over, under any of its names ----
before = {name: open(name, "rb").read() for name in ("n.nii", "n.bval", "n.bvec")}
for output in ("n.nii", "./n.nii", "n.nii.gz"):
    if output == "n.nii.gz" and os.path.exists(output):
        os.remove(output)
    done = hot("convert", "-i", "n.nii", "-o", output)
    check(done.returncode == 1 and len(done.stderr.splitlines()) == 1, "over an input: %s %s" % (output, done.stderr))
check(all(open(name, "rb").read() == data for name, data in before.items()), "inputs unchanged")
check(not os.path.exists("n.nii.gz"), "nothing half written")
end()
