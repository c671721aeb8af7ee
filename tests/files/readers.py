"""Well-formed data that are easily misread: lengths of vectors, units, frames, headers, names. Each is read as its
writer meant it, or refused with a line that names the problem."""
import gzip
import json

import nibabel as nib
import numpy as np

from _dwi import check, end, hot, refused, rotation

random = np.random.default_rng(4711)
SIZE = (4, 4, 3)
AFFINE = np.eye(4)
AFFINE[:3, :3] = rotation((1, 1, 0), 20) @ np.diag([2, 2, 2.5])
AFFINE[:3, 3] = 10, -20, 30
axis = np.array([1, .5, .2]) / np.linalg.norm([1, .5, .2])


def directions(count):
    g = random.normal(size=(count, 3))
    return g / np.linalg.norm(g, axis=1, keepdims=True)


def signals(b, g, noise=4):
    """One fibre in every voxel."""
    along = g @ axis
    s = 1000 * np.exp(-b * (.3e-3 + 1.4e-3 * along ** 2))
    return (s + noise * random.normal(size=SIZE + (len(b),))).clip(1).astype(np.float32)


def write(name, samples, b, vectors, affine=AFFINE, edit=None):
    image = nib.Nifti1Image(samples, affine)
    image.header.set_xyzt_units("mm")
    if edit:
        edit(image.header)
    nib.save(image, name + ".nii.gz")
    np.savetxt(name + ".bval", b[None], fmt="%.8g")
    np.savetxt(name + ".bvec", np.transpose(vectors), fmt="%.10f")


def shells(name, *more):
    """{b: volumes} of info, and what it said."""
    done = hot("info", "-i", name, "--json", *more)
    check(done.returncode == 0, "%s: %s" % (name, done.stderr))
    about = json.loads(done.stdout) if done.returncode == 0 else {"shells": []}
    return {round(s["b"]): s["volumes"] for s in about["shells"]}, done.stderr


# ---- b and the lengths of vectors ------------------------------------------------------------------------------------
g = np.vstack([np.zeros((4, 3)), directions(45)])
nominal = np.r_[np.zeros(4), np.full(45, 2000.)]
b = np.r_[np.zeros(4), np.repeat([500., 1000., 2000.], 15)]
scaled = g * np.sqrt(b / 2000)[:, None]
expected = {0: 4, 500: 15, 1000: 15, 2000: 15}
one = {0: 4, 2000: 45}
write("right_already", signals(b, g), b, scaled)
check(shells("right_already.nii.gz")[0] == expected, "b-values that go with the lengths already")
write("coded", signals(b, g), nominal, scaled)
got, said = shells("coded.nii.gz")
check(got == expected and "multiplied" in said and "warning" not in said, "shells under one b: %s %s" % (got, said))
write("not_coded", signals(nominal, g), nominal, scaled)
got, said = shells("not_coded.nii.gz")
check(got == one and "do not fall" in said, "lengths that the signals contradict: %s %s" % (got, said))
write("dark", np.abs(random.normal(size=SIZE + (49,))).astype(np.float32), nominal, scaled)
got, said = shells("dark.nii.gz")
check("do not tell" in said, "signals that tell nothing: %s" % said)
long = g.copy()
long[7] = 1, 0, 1
write("long", signals(nominal, g), nominal, long)
got, said = shells("long.nii.gz")
check(got == one and "volume 7" in said and "1.414" in said, "a vector longer than 1: %s %s" % (got, said))
all_long = 10 * g
write("all_long", signals(nominal, g), nominal, all_long)
check(shells("all_long.nii.gz")[0] == one, "vectors of length 10")
np.savetxt("length_10.txt", np.c_[all_long, nominal])
check(shells("all_long.nii.gz", "--grad", "length_10.txt")[0] == one, "MRtrix's table with vectors of length 10")
np.savetxt("right.txt", np.c_[scaled, b])
check(shells("right_already.nii.gz", "--grad", "right.txt")[0] == expected, "MRtrix's table, b right already")

# ---- other tables ----------------------------------------------------------------------------------------------------
for name, rows in ("front", np.c_[b, g]), ("upper", np.c_[b, np.abs(g)]), ("grid", np.c_[b, .2 * g]):
    np.savetxt(name + ".txt", rows, fmt="%.6f")
    refused("info", "-i", "long.nii.gz", "--grad", name + ".txt", words=("DSI Studio", "x y z b"))
high = nominal.copy()
high[9] = 200000
write("high", signals(nominal, g), high, g)
refused("info", "-i", "high.nii.gz", words=("200000", "100000"))

# ---- NRRD ------------------------------------------------------------------------------------------------------------
samples = signals(nominal, g)


def nrrd(name, keys, data=None, file=None, more=(), encoding="raw"):
    lines = ["NRRD0005", "type: float", "dimension: 4", "space: right-anterior-superior",
             "sizes: %d %d %d %d" % samples.shape, "endian: little", "encoding: " + encoding,
             "space directions: (2,0,0) (0,2,0) (0,0,2.5) none", "kinds: space space space list",
             "space origin: (0,0,0)", "measurement frame: (1,0,0) (0,1,0) (0,0,1)", *more]
    if file:
        lines.append("data file: " + file)
    text = "\n".join(lines + ["modality:=DWMRI", "DWMRI_b-value:=2000"] + keys) + "\n"
    with open(name, "wb") as out:
        out.write(text.encode() + (b"" if file else b"\n" + data))


raw = np.asfortranarray(samples).tobytes("F")
keys = ["DWMRI_gradient_%04d:=%.8f %.8f %.8f" % ((v,) + tuple(x)) for v, x in enumerate(g)]
nrrd("plain.nrrd", keys, raw)
check(shells("plain.nrrd")[0] == one, "the NRRD itself")
nrrd("from_1.nrrd", ["DWMRI_gradient_%04d:=%.8f %.8f %.8f" % ((v + 1,) + tuple(x)) for v, x in enumerate(g)], raw)
refused("info", "-i", "from_1.nrrd", words=("count from 1", "_0000", "_0049"))
nrrd("blanks.nrrd", [key.replace(":=", " :=") for key in keys], raw)
with open("blanks.nrrd", "rb") as old:
    text = old.read().replace(b"modality:=", b"modality  :=").replace(b"b-value:=", b"b-value :=")
with open("blanks.nrrd", "wb") as new:
    new.write(text)
check(shells("blanks.nrrd")[0] == one, "blanks before :=")
bright = samples.copy()
kinds = {40: np.eye(3) / 3, 41: np.diag([.5, .5, 0]), 42: np.diag([.6, .2, .2])}
matrices = []
for v, x in enumerate(g):
    m = 2000 * kinds.get(v, np.outer(x, x))
    matrices.append("DWMRI_B-matrix_%04d:=%.9g %.9g %.9g %.9g %.9g %.9g" % (
        v, m[0, 0], m[0, 1], m[0, 2], m[1, 1], m[1, 2], m[2, 2]))
nrrd("encodings.nrrd", matrices, raw)
got, said = shells("encodings.nrrd")
check(got == {0: 4, 2000: 42} and "40, 41, 42" in said, "spherical and planar B-matrices: %s %s" % (got, said))
# a data file that holds more than the samples
nib.save(nib.Nifti1Image(samples, AFFINE), "under.nii")
with open("under.nii", "rb") as old, gzip.open("under.nii.gz", "wb") as new:
    new.write(old.read())
nib.save(nib.Nifti2Image(samples, AFFINE), "two.nii")
for file, encoding in ("under.nii", "raw"), ("under.nii.gz", "gzip"), ("two.nii", "raw"):
    nrrd("no_skip.nhdr", keys, file=file, encoding=encoding)
    refused("info", "-i", "no_skip.nhdr", words=("NIfTI header", "byte skip: -1"))
    nrrd("skip.nhdr", keys, file=file, encoding=encoding, more=["byte skip: -1"])
    check("warning" not in shells("skip.nhdr")[1], "byte skip: -1")
with open("rest.raw", "wb") as new:
    new.write(raw + bytes(100))
with gzip.open("rest.raw.gz", "wb") as new:
    new.write(raw + bytes(100))
for file, encoding in ("rest.raw", "raw"), ("rest.raw.gz", "gzip"):
    nrrd("rest.nhdr", keys, file=file, encoding=encoding)
    got, said = shells("rest.nhdr")
    check(got == one and "100 bytes more" in said, "%s: %s" % (file, said))

# ---- units and frames ------------------------------------------------------------------------------------------------
def voxel(name):
    done = hot("info", "-i", name, "--json")
    check(done.returncode == 0, done.stderr)
    return np.round(json.loads(done.stdout)["voxel_size_mm"], 5).tolist(), done.stderr


for unit, factor in ("meter", 1e-3), ("micron", 1e3), ("mm", 1):
    write(unit, samples, nominal, g, AFFINE @ np.diag([factor, factor, factor, 1]),
          lambda header: header.set_xyzt_units(unit))
    check(voxel(unit + ".nii.gz") [0] == [2, 2, 2.5], "%s: %s" % (unit, voxel(unit + ".nii.gz")))
write("wrong_unit", samples, nominal, g, AFFINE, lambda header: header.set_xyzt_units("meter"))
got, said = voxel("wrong_unit.nii.gz")
check(got == [2, 2, 2.5] and "more likely in mm" in said, "metres that are mm: %s %s" % (got, said))
for unit, size in ("microns", 2000), ("m", .002), ("cm", .2), ("mm", 2), ("furlong", 2):
    nrrd("unit.nrrd", keys, raw, more=['space units: "%s" "%s" "%s"' % ((unit,) * 3)])
    with open("unit.nrrd", "rb") as old:
        text = old.read().replace(b"(2,0,0) (0,2,0) (0,0,2.5)",
                                  b"(%g,0,0) (0,%g,0) (0,0,%g)" % (size, size, 1.25 * size))
    with open("unit.nrrd", "wb") as new:
        new.write(text)
    got, said = voxel("unit.nrrd")
    check(got == [2, 2, 2.5] and ("furlong" in said) == (unit == "furlong"), "%s: %s %s" % (unit, got, said))


def form(turn, shift):
    def edit(header):
        other = AFFINE.copy()
        other[:3, :3] = rotation((0, 0, 1), turn) @ other[:3, :3]
        other[:3, 3] += shift
        header.set_sform(AFFINE, 1)
        header.set_qform(other, 1)
    return edit


for turn, shift, word in (28, 0, "degrees"), (1.5, 0, "degrees"), (0, 3, "mm"), (0, 0, None), (.2, .1, None):
    write("forms", samples, nominal, g, AFFINE, form(turn, shift))
    said = hot("info", "-i", "forms.nii.gz").stderr
    check("qform" in said and word in said if word else "qform" not in said, "forms %g %g: %s" % (turn, shift, said))

# ---- MIF -------------------------------------------------------------------------------------------------------------
def mif(name, last=b"END\n", row=None, file=b"file: . 4096"):
    lines = [b"mrtrix image", b"dim: 4,4,3,49", b"vox: 2,2,2.5,1", b"layout: +0,+1,+2,+3", b"datatype: Float32LE",
             b"transform: 1,0,0,0", b"transform: 0,1,0,0", b"transform: 0,0,1,0"]
    lines += [b"transform: " + row] if row else []
    lines += [b"dw_scheme: %.6f,%.6f,%.6f,%g" % (*x, v) for x, v in zip(g, nominal)] + [file]
    head = b"\n".join(lines) + b"\n" + last
    with open(name, "wb") as new:
        new.write(head if name.endswith(".mih") else head.ljust(4096, b"\0") + raw)


for last in b"END\n", b"END ", b"END  \n", b"END\t\n", b"END\r\n":
    mif("end.mif", last)
    check(shells("end.mif")[0] == one, "a header that ends in %r" % last)
mif("four.mif", row=b"0,0,0,1")
check(shells("four.mif")[0] == one, "a fourth transform row")
mif("four.mif", row=b"0,0,0,2")
refused("info", "-i", "four.mif", words=("transform", "0,0,0,1"))

# samples in numbered files; MRtrix reads these patterns the same way
for pattern, files in (("half[0:1].dat", ["half0.dat", "half1.dat"]), ("s[1:3:19].dat", ["s%d.dat" % n for n in
                       range(1, 20, 3)]), ("p[08:14].dat", ["p%02d.dat" % n for n in range(8, 15)]),
                       ("l[2,0].dat", ["l2.dat", "l0.dat"])):
    for name, part in zip(files, np.array_split(np.frombuffer(raw, "<f4"), len(files))):
        part.tofile(name)
    if samples.size % len(files) == 0:
        mif("numbered.mih", file=b"file: %s 0" % pattern.encode())
        done = hot("convert", "-i", "numbered.mih", "-o", "numbered.nii")
        got = np.asarray(nib.load("numbered.nii").dataobj) if done.returncode == 0 else np.zeros(1)
        check(np.array_equal(got, samples), "%s: %s" % (pattern, done.stderr))
mif("numbered.mih", file=b"file: half[3:1].dat 0")
refused("info", "-i", "numbered.mih", words=("half[3:1].dat", "FIRST:LAST"))

# ---- names -----------------------------------------------------------------------------------------------------------
for image, bval, bvec in (("A.NII.GZ", "A.bval", "A.bvec"), ("B.NII", "B.BVAL", "B.BVEC"),
                          ("C.Nii.Gz", "C.bval", "C.bvec")):
    with open("long.nii.gz", "rb") as old, open(image, "wb") as new:
        new.write(old.read() if image.lower().endswith("gz") else gzip.decompress(old.read()))
    np.savetxt(bval, nominal[None], fmt="%g")
    np.savetxt(bvec, g.T, fmt="%.8f")
    check(shells(image)[0] == one, image)
end()
