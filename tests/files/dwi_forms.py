"""One data set in every form an NRRD can take: `hotfiber convert` must give the same samples, type, b-values, world
gradients and place each time."""
import gzip
import os

import numpy as np

import _nrrd
from _dwi import Dwi, check, encode, end, hot, write

dwi = Dwi()
BACK = {"signed char": "i1", "uchar": "u1", "short": "i2", "unsigned short": "u2", "int": "i4", "unsigned int": "u4",
        "long long int": "i8", "unsigned long long int": "u8", "float": "f4", "double": "f8"}
_nrrd.TYPES.update({"signed char": "i1", "long long int": "i8", "unsigned long long int": "u8", "unsigned int": "u4",
                    "unsigned short": "u2"})


def same(name, path, kind=None, keep=None, gradients=True, place=True, stdin=None):
    """Converts and compares with `dwi` (volumes `keep`)."""
    done = hot("convert", "-i", path, "-o", "out.nrrd", stdin=stdin)
    check(done.returncode == 0 and not done.stderr, "%s: %d %s" % (name, done.returncode, done.stderr))
    if done.returncode:
        return
    keep = np.arange(len(dwi.b)) if keep is None else np.array(keep)
    header, keys, samples = _nrrd.read("out.nrrd")
    os.remove("out.nrrd")
    check(samples.shape == dwi.samples.shape[:3] + (len(keep),), "%s: shape %s" % (name, samples.shape))
    check(np.array_equal(samples, dwi.samples[..., keep]), "%s: samples" % name)
    if kind:
        check(np.dtype(_nrrd.TYPES[header["type"]]) == np.dtype(BACK[kind]), "%s: type %s" % (name, header["type"]))
    if gradients:
        b, g = _nrrd.scheme(header, keys, len(keep))
        check(np.allclose(b, dwi.b[keep], rtol=1e-12, atol=0), "%s: b %s" % (name, b))
        check(np.abs(g - dwi.g[keep]).max() < 1e-12, "%s: gradients off by %g" % (name, np.abs(g - dwi.g[keep]).max()))
    check(header.get("measurement frame") in ("(1,0,0) (0,1,0) (0,0,1)", None), "%s: frame" % name)
    if place:
        directions = _nrrd.vectors(header["space directions"])
        check(directions[3] is None and np.array_equal(np.stack(directions[:3], 1), dwi.axes), "%s: directions" % name)
        check(np.array_equal(_nrrd.vectors(header["space origin"])[0], dwi.origin), "%s: origin" % name)
        check(header["space"] == dwi.space, "%s: space %s" % (name, header.get("space")))


# the list axis at each place, with the axes of space in any order (voxel order is the file's own: only v moves here)
for order in ("vijk", "ivjk", "ijvk", "ijkv"):
    for kind in ("list", "vector"):
        write("a.nrrd", dwi.header(order=order, list_kind=kind) + dwi.keys(), dwi.bytes(order=order))
        same("axis order %s %s" % (order, kind), "a.nrrd", "short")

# every type in both byte orders
for kind, code in (("signed char", "i1"), ("uchar", "u1"), ("short", "i2"), ("unsigned short", "u2"), ("int", "i4"),
                   ("unsigned int", "u4"), ("long long int", "i8"), ("unsigned long long int", "u8"), ("float", "f4"),
                   ("double", "f8")):
    for endian in ("little", "big"):
        write("a.nrrd", dwi.header(kind, "vijk", endian=endian) + dwi.keys(),
              dwi.bytes(("<" if endian == "little" else ">") + code, "vijk"))
        same("%s %s" % (kind, endian), "a.nrrd", kind)
for alias in ("int16", "short int", "signed short", "int16_t"):
    write("a.nrrd", dwi.header(alias) + dwi.keys(), dwi.bytes())
    same("type " + alias, "a.nrrd", "short")

# every encoding, attached and detached, with skips, in one file and in several, and line ends of another system
for encoding in ("raw", "gzip", "gz", "bzip2", "hex", "ascii", "text"):
    write("a.nrrd", dwi.header(encoding=encoding) + dwi.keys(), encode(encoding, dwi.bytes()))
    same(encoding, "a.nrrd", "short")
    with open("a.raw", "wb") as file:
        file.write(encode(encoding, dwi.bytes()))
    write("a.nhdr", dwi.header(encoding=encoding, more=["data file: a.raw"]) + dwi.keys(), None)
    same(encoding + " detached", "a.nhdr", "short")
    write("a.nhdr", dwi.header(encoding=encoding, more=["datafile: ./a.raw"]) + dwi.keys(), None, "\r\n")
    same(encoding + " detached, CR LF", "a.nhdr", "short")
    header = dwi.header(encoding=encoding, more=["data file: " + os.path.abspath("a.raw")])
    write("a.nhdr", dwi.keys() + header[1:], None)
    with open("a.nhdr", "rb") as file:
        text = file.read()
    write("a.nhdr", ["NRRD0005"] + text.decode().splitlines(), None)
    same(encoding + " detached, full path, keys first", "a.nhdr", "short")
for encoding in ("raw", "gzip"):
    pack = gzip.compress if encoding == "gzip" else bytes
    with open("a.raw", "wb") as file:
        file.write(pack(b"0123456" + dwi.bytes()))
    write("a.nhdr", dwi.header(encoding=encoding, more=["data file: a.raw", "byte skip: 7"]) + dwi.keys(), None)
    same(encoding + " byte skip 7", "a.nhdr")
    write("a.nhdr", dwi.header(encoding=encoding, more=["data file: a.raw", "byteskip: -1"]) + dwi.keys(), None)
    same(encoding + " byte skip -1", "a.nhdr")
    with open("a.raw", "wb") as file:
        file.write(pack(b"0123456" + dwi.bytes() + b"end"))
    write("a.nhdr", dwi.header(encoding=encoding, more=["data file: a.raw", "byte skip: -4"]) + dwi.keys(), None)
    same(encoding + " byte skip -4", "a.nhdr")
    with open("a.raw", "wb") as file:
        file.write(b"one\ntwo\n" + pack(dwi.bytes()))
    write("a.nhdr", dwi.header(encoding=encoding, more=["line skip: 2", "data file: a.raw"]) + dwi.keys(), None)
    same(encoding + " line skip 2", "a.nhdr")
    volumes = dwi.samples.shape[3]
    part = len(dwi.bytes()) // volumes
    for v in range(volumes):
        with open("p%03d.raw" % (2 * v + 1), "wb") as file:
            file.write(pack(dwi.bytes()[v * part:(v + 1) * part]))
    numbered = ["data file: p%%03d.raw 1 %d 2" % (2 * volumes - 1)]
    write("a.nhdr", dwi.header(encoding=encoding, more=numbered) + dwi.keys(), None)
    same(encoding + " numbered files", "a.nhdr")
    listed = ["data file: LIST 3"] + ["p%03d.raw" % (2 * v + 1) for v in range(volumes)]
    write("a.nhdr", dwi.header(encoding=encoding) + dwi.keys() + listed, None)
    same(encoding + " list of files", "a.nhdr")
with open("two.gz", "wb") as file:  # gzip files may be several members
    file.write(gzip.compress(dwi.bytes()[:1001]) + gzip.compress(dwi.bytes()[1001:]))
write("a.nhdr", dwi.header(encoding="gzip", more=["data file: two.gz"]) + dwi.keys(), None)
same("gzip in two members", "a.nhdr")
os.mkdir("sub")
with open("sub/a.raw", "wb") as file:
    file.write(dwi.bytes())
write("sub/a.nhdr", dwi.header(more=["data file: a.raw"]) + dwi.keys(), None)
same("data file next to a header elsewhere", "sub/a.nhdr")
write("a.nrrd", dwi.header() + dwi.keys(), dwi.bytes())
with open("a.nrrd", "rb") as file:
    whole = file.read()
same("standard input", "-", stdin=whole)
write("a.nrrd", dwi.header(encoding="gzip") + dwi.keys(), encode("gzip", dwi.bytes()))
with open("a.nrrd", "rb") as file:
    same("gzip on standard input", "-", stdin=file.read())

# spaces
for space in ("right-anterior-superior", "RAS", "left-anterior-superior", "LPS"):
    dwi.space = {"RAS": "right-anterior-superior", "LPS": "left-posterior-superior"}.get(space, space)
    write("a.nrrd", dwi.header(space="space: " + space) + dwi.keys(), dwi.bytes())
    same(space, "a.nrrd")
for space in ("space: scanner-xyz", "space: 3D-right-handed", "space dimension: 3"):
    write("a.nrrd", dwi.header(space=space) + dwi.keys(), dwi.bytes())
    same(space, "a.nrrd", place=False)
    done = hot("info", "a.nrrd", "--json").stdout.decode()
    check('"unknown"' in done, "%s: %s" % (space, done[:300]))
write("a.nrrd", dwi.header(space="") + dwi.keys(), dwi.bytes())
inner = dwi.g
dwi.g = dwi.g @ dwi.frame  # no space, no frame: the gradients are those of the keys
same("no space", "a.nrrd", place=False)
dwi.g = inner
dwi.space = "left-posterior-superior"
lines = dwi.header()
write("a.nrrd", [line for line in lines if not line.startswith("kinds")] + dwi.keys(), dwi.bytes())
same("no kinds, one axis without direction", "a.nrrd")

# keys: lengths of another scale, NEX, skip, n/a, B-matrices
write("a.nrrd", dwi.header() + dwi.keys(longest=7.5), dwi.bytes())
same("gradients of length 7.5", "a.nrrd")
keys = dwi.keys()
write("a.nrrd", dwi.header() + keys[::-1], dwi.bytes())
same("keys in reverse", "a.nrrd")
skip = keys + ["DWMRI_skip_0004:=true", "DWMRI_skip_0007:=False", "DWMRI_skip_0011:= TRUE"]
skip[2 + 9] = "DWMRI_gradient_0009:= N/A"
write("a.nrrd", dwi.header() + skip, dwi.bytes())
same("skipped volumes", "a.nrrd", keep=[v for v in range(20) if v not in (4, 9, 11)])
saved = dwi.g.copy(), dwi.b.copy()
dwi.g[8:11], dwi.b[8:11] = dwi.g[8], dwi.b[8]
nex = [line for line in dwi.keys() if "0009" not in line and "0010" not in line] + ["DWMRI_NEX_0008:=3"]
write("a.nrrd", dwi.header() + nex, dwi.bytes())
same("NEX", "a.nrrd")
dwi.g, dwi.b = saved
matrices = keys[:2]
for v, g in enumerate(dwi.g @ dwi.frame):
    m = 2.5 * dwi.b[v] * np.outer(g, g)
    matrices.append("DWMRI_B-matrix_%04d:=%.17g %.17g %.17g %.17g %.17g %.17g" % (
        v, m[0, 0], m[0, 1], m[0, 2], m[1, 1], m[1, 2], m[2, 2]))
write("a.nrrd", dwi.header() + matrices, dwi.bytes())
done = hot("convert", "-i", "a.nrrd", "-o", "out.nrrd")
check(done.returncode == 0, "B-matrix: " + done.stderr)
header, keys, samples = _nrrd.read("out.nrrd")
b, g = _nrrd.scheme(header, keys, len(dwi.b))
check(np.allclose(b, dwi.b), "B-matrix: b %s" % b)
check(np.abs(np.abs((g * dwi.g).sum(1)) - (dwi.b > 0)).max() < 1e-12, "B-matrix: directions up to sign")
check(np.array_equal(samples, dwi.samples), "B-matrix: samples")
# One direction: the largest eigenvalue has .9 of the trace or more. b is the trace whatever the direction's share.
shares = {1: .9, 3: .89, 7: .95, 8: .5, 9: 1 / 3, 11: .91}
for v, share in shares.items():
    rest = 1000 * (1 - share) / 2
    matrices[2 + v] = "DWMRI_B-matrix_%04d:=%.17g 0 0 %.17g 0 %.17g" % (v, rest, 1000 * share, rest)
write("a.nrrd", dwi.header() + matrices, dwi.bytes())
done = hot("convert", "-i", "a.nrrd", "-o", "out.nrrd")
out = [v for v, share in shares.items() if share < .9]
check(done.returncode == 0 and "B-matrices of volumes 3, 8, 9 (counted" in done.stderr, "planar: " + done.stderr)
header, keys, samples = _nrrd.read("out.nrrd")
kept = [v for v in range(len(dwi.b)) if v not in out]
b, g = _nrrd.scheme(header, keys, len(kept))
check(np.array_equal(samples, dwi.samples[..., kept]), "planar: they are left out")
for v in (1, 7, 11):  # b of the others is 2.5 times dwi.b, as the longest says
    at = kept.index(v)
    check(abs(b[at] / b.max() - 1000 / (2.5 * dwi.b.max())) < 1e-6 and abs(abs(g[at] @ dwi.frame[:, 1]) - 1) < 1e-6,
          "one direction and more: volume %d has b %g, %s" % (v, b[at], g[at]))

# axes of space in another order: the voxel order is the file's own
write("a.nrrd", dwi.header(order="kvij") + dwi.keys(), dwi.bytes(order="kvij"))
hot("convert", "-i", "a.nrrd", "-o", "b.nhdr")
with open("b.nhdr") as file:
    lines = file.read()
check("sizes: 3 5 4 20" in lines and "data file: b.raw" in lines, "permuted axes: " + lines[:400])
check(np.array_equal(np.fromfile("b.raw", "<i2").reshape(3, 5, 4, 20, order="F"), dwi.samples.transpose(2, 0, 1, 3)),
      "permuted axes keep their order")
end()
