"""Broken diffusion data: status 1, one line that says what is wrong with the numbers, nothing written."""
import gzip
import os

import numpy as np

from _dwi import Dwi, check, encode, end, hot, refused, write

dwi = Dwi()
keys, data = dwi.keys(), dwi.bytes()


def bad(path, *words, stdin=None, more=()):
    """Refused by convert, and no output appears."""
    refused("convert", "-i", path, "-o", "out.nrrd", *more, words=words, stdin=stdin, leaves=("out.nrrd",))


def header_bad(lines, *words, samples=data):
    write("a.nrrd", lines, samples)
    bad("a.nrrd", "a.nrrd", *words)


def without(lines, start):
    return [line for line in lines if not line.startswith(start)]


# ---- no such thing ----
bad("absent.nrrd", "absent.nrrd", "No such file")
bad(".", "folder")
open("empty.nrrd", "w").close()
bad("empty.nrrd", "empty.nrrd", "is empty")
bad("-", "standard input", "empty", stdin=b"")
bad("-", "standard input", "not an NRRD", stdin=b"not an nrrd at all\n")
with open("noise.nrrd", "wb") as file:
    file.write(np.random.default_rng(1).bytes(5000))
bad("noise.nrrd", "not an NRRD")
if os.geteuid() != 0:
    write("secret.nrrd", dwi.header() + keys, data)
    os.chmod("secret.nrrd", 0)
    bad("secret.nrrd", "Permission denied")

# ---- not diffusion data ----
header_bad(dwi.header(), "modality", "DWMRI")
header_bad(dwi.header() + ["modality:=CT"] + keys[1:], "CT", "DWMRI")
header_bad(dwi.header() + keys[:1] + keys[2:], "DWMRI_b-value")
header_bad(dwi.header() + keys[:2], "DWMRI_gradient_0000", "B-matrix")
nowhere = without(dwi.header(list_kind="domain", space=""), "measurement")
header_bad(nowhere + keys, "0 axes of kind list")
header_bad([line.replace("space space space list", "list space space list") for line in dwi.header()] + keys, "2 axes")
flat = [line.replace("dimension: 4", "dimension: 3").replace("sizes: 5 4 3 20", "sizes: 5 4 60")
        .replace(" none", "").replace("space space space list", "space space list") for line in dwi.header()]
header_bad([line if not line.startswith("space directions") else line for line in flat] + keys, "3 axes")

# ---- gradients that do not fit ----
header_bad(dwi.header() + keys[:-1], "20 volumes", "19", "DWMRI_gradient_0019")
header_bad(dwi.header() + keys + ["DWMRI_gradient_0020:=1 0 0"], "21", "20 volumes")
header_bad(dwi.header() + keys[:5] + ["DWMRI_gradient_0003:=1 0"] + keys[6:], "DWMRI_gradient_0003", "1 0")
header_bad(dwi.header() + keys[:5] + ["DWMRI_gradient_0003:=1 0 nan"] + keys[6:], "DWMRI_gradient_0003", "nan")
header_bad(dwi.header() + keys + ["DWMRI_NEX_0004:=3"], "DWMRI_gradient_0005", "NEX")
header_bad(dwi.header() + keys[:-1] + ["DWMRI_NEX_0018:=5"], "DWMRI_NEX_0018", "5")
header_bad(dwi.header() + keys[:1] + ["DWMRI_b-value:=nan"] + keys[2:], "b-value", "nan")
header_bad(dwi.header() + keys[:1] + ["DWMRI_b-value:=high"] + keys[2:], "b-value", "high")
header_bad(dwi.header() + keys[:1] + ["DWMRI_b-value:=-1000"] + keys[2:], "b-value", "-1000")
header_bad(dwi.header() + keys[:2] + ["DWMRI_gradient_%04d:=0 0 0" % v for v in range(20)], "zero")

# ---- headers out of this world ----
header_bad([line.replace("5 4 3 20", "5 4 3 20000000000") for line in dwi.header()] + keys, "20000000000", "too short")
header_bad([line.replace("5 4 3 20", "10000 10000 10000 20") for line in dwi.header()] + keys,
           "10000 x 10000 x 10000 x 20")
header_bad([line.replace("5 4 3 20", "%d %d %d 20" % (3 * (2 ** 62,))) for line in dwi.header()] + keys)
header_bad([line.replace("5 4 3 20", "5 -4 3 20") for line in dwi.header()] + keys, "-4")
header_bad([line.replace("5 4 3 20", "5 4 3") for line in dwi.header()] + keys, "sizes")
header_bad([line.replace("type: short", "type: block") for line in dwi.header()] + ["block size: 2"] + keys)
header_bad(without(dwi.header(), "endian") + keys, "endian")
header_bad(without(dwi.header(), "type") + keys, "type")
header_bad([line.replace("encoding: raw", "encoding: magic") for line in dwi.header()] + keys, "magic")
header_bad(dwi.header() + ["no such field: 3"] + keys, "no such field")
header_bad([line.replace("space directions: (", "space directions: (nan,") for line in dwi.header()] + keys)
first = [line for line in dwi.header() if line.startswith("space directions")][0].split()[2]
header_bad([line.replace(first, "(0,0,0)") for line in dwi.header()] + keys, "span")
header_bad([line if not line.startswith("measurement") else "measurement frame: (1,0,0) (1,0,0) (0,0,1)"
            for line in dwi.header()] + keys, "measurement frame", "singular")
bad("-", "10000 x 10000 x 10000 x 20", stdin="\n".join(
    [line.replace("5 4 3 20", "10000 10000 10000 20") for line in dwi.header()] + keys + ["", ""]).encode())
write("a.nrrd", dwi.header() + keys, None)
bad("a.nrrd", "ends with its header")

# ---- data that are not there ----
for encoding in ("raw", "gzip", "hex", "ascii", "bzip2"):
    packed = encode(encoding, data)
    write("a.nrrd", dwi.header(encoding=encoding) + keys, packed[:len(packed) // 2])
    bad("a.nrrd", "a.nrrd")
    with open("a.raw", "wb") as file:
        file.write(packed[:-20])
    write("a.nhdr", dwi.header(encoding=encoding, more=["data file: a.raw"]) + keys, None)
    bad("a.nhdr", "a.raw")
broken = bytearray(encode("gzip", data))
broken[200:220] = bytes(20)
write("a.nrrd", dwi.header(encoding="gzip") + keys, bytes(broken))
bad("a.nrrd", "damaged")
write("a.nrrd", dwi.header(encoding="gzip") + keys, encode("gzip", data[:-2]))
bad("a.nrrd", "2398", "2400")
write("a.nrrd", dwi.header() + keys, data[:-1])
bad("a.nrrd", "2399", "2400")
with open("a.nrrd", "rb") as file:
    bad("-", "truncated", "2399", "2400", stdin=file.read())
write("a.nhdr", dwi.header(more=["data file: absent.raw"]) + keys, None)
bad("a.nhdr", "absent.raw", "a.nhdr", "No such file")
write("a.nhdr", dwi.header(more=["data file: ."]) + keys, None)
bad("a.nhdr", "folder")
for line in ("data file: p%03d.raw 1 20 0", "data file: p%s.raw 1 20 1", "data file: p%d%n.raw 1 20 1",
             "data file: p%9999999d.raw 1 20 1", "data file: ", "data file: LIST", "byte skip: many", "line skip: -2"):
    write("a.nhdr",
          dwi.header(more=[line, "byte skip: 0"] if "skip" not in line else [line, "data file: a.raw"]) + keys, None)
    bad("a.nhdr", "a.nhdr")
for range_ in ("0 -9223372036854775808 -1", "-9223372036854775808 0 1", "0 9223372036854775807 1",
               "0 %s 1" % (43 * "9"), "0 5 -9223372036854775808", "1 2000000 1"):
    write("a.nhdr", dwi.header(more=["data file: x%d.raw " + range_]) + keys, None)
    bad("a.nhdr", "a.nhdr", "numbered from " + range_.split()[0])

# ---- a skip from the end never reaches the header ----
for skip in (-2, -5, -1000, -2 ** 63):
    header_bad(dwi.header(more=["byte skip: %d" % skip]) + keys, "too short", "byte skip: %d" % skip, "2400")
write("a.nrrd", dwi.header(more=["byte skip: -5"]) + keys, data + b"last")
check(hot("convert", "-i", "a.nrrd", "-o", "whole.nrrd").returncode == 0, "four bytes behind the data are there")
write("a.nrrd", dwi.header(encoding="ascii") + keys, b"1 2 three " + encode("ascii", data))
bad("a.nrrd", "three")
write("a.nrrd", dwi.header(encoding="hex") + keys, b"00zz" + encode("hex", data))
bad("a.nrrd", "hex")

# ---- NIfTI and its tables ----
write("a.nrrd", dwi.header() + keys, data)
check(hot("convert", "-i", "a.nrrd", "-o", "n.nii").returncode == 0, "a NIfTI to break")
good = {name: open(name).read() for name in ("n.bval", "n.bvec")}


def table(name, text, *words):
    with open(name, "w") as file:
        file.write(text)
    bad("n.nii", name, *words)
    with open(name, "w") as file:
        file.write(good[name])


table("n.bval", "0 1000 1000\n", "20 volumes", "3 b-values", "20 vectors")
table("n.bvec", "1 0\n0 1\n0 0\n", "2 vectors", "20 b-values")
table("n.bvec", "\n".join(good["n.bvec"].splitlines()[:2]) + "\n", "2 lines")
table("n.bvec", good["n.bvec"].rstrip() + " 1\n", "line 3", "21", "20")
table("n.bval", good["n.bval"].replace("3000", "three", 1), "line 1", "three")
table("n.bval", good["n.bval"].replace("3000", "nan", 1), "volume 2", "nan")
table("n.bval", good["n.bval"].replace("3000", "-5", 1), "volume 2", "-5")
table("n.bvec", 3 * (" ".join(20 * "0") + "\n"), "volume 1", "no gradient direction")
table("n.bvec", good["n.bvec"].replace(good["n.bvec"].split()[1], "inf"), "volume 1", "inf")
table("n.bval", "", "no numbers")
table("n.bval", "\0\0\0", "not a text file")
os.rename("n.bvec", "elsewhere")
bad("n.nii", "n.bvec", "No such file", "--bvec")
bad("n.nii", "absent", "No such file", more=("--bvec", "absent"))
os.rename("elsewhere", "n.bvec")
bad("a.nrrd", "bval", more=("--bval", "n.bval"))
with open("n.nii", "rb") as file:
    whole = file.read()
for name, content in (("n.nii", whole[:1000]), ("n.nii", whole[:200]), ("n.nii", b""), ("n.nii", os.urandom(2000))):
    with open(name, "wb") as file:
        file.write(content)
    bad(name, name)
with open("n.nii.gz", "wb") as file:
    file.write(gzip.compress(whole)[:-300])
bad("n.nii.gz", "n.nii.gz", more=("--bval", "n.bval", "--bvec", "n.bvec"))
huge = bytearray(whole)
huge[42:50] = np.array([32767] * 4, "<i2").tobytes()
with open("n.nii", "wb") as file:
    file.write(bytes(huge))
bad("n.nii", "too short")

# ---- what info tells of data that can be read but not fitted ----
plane = Dwi()
plane.g[:, 2] = 0
plane.g[plane.b > 0] /= np.linalg.norm(plane.g[plane.b > 0], axis=1, keepdims=True)
plane.frame = np.eye(3)
write("a.nrrd", plane.header() + plane.keys(), data)
text = hot("info", "a.nrrd").stdout.decode()
check("all in one plane" in text and "highest order  0" in text, "directions in a plane: " + text)
shell = Dwi()
shell.b[shell.b == 0] = 1000
shell.g[[0, 5]] = [[1, 0, 0], [0, 1, 0]]
write("a.nrrd", shell.header() + shell.keys(), data)
text = hot("info", "a.nrrd").stdout.decode()
check("no b = 0" in text, "no b=0: " + text)
few = Dwi()
few.g[few.b > 0] = np.eye(3)[np.arange((few.b > 0).sum()) % 3]
write("a.nrrd", few.header() + few.keys(), data)
text = hot("info", "a.nrrd").stdout.decode()
check("3 directions, too few for a tensor" in text, "three directions: " + text)
end()
