"""Kinds of files in the viewer: what another program has written is drawn as the same values are in a file of ours, or
where a formula says. Streamlines, fixel directories, harmonics, tensors of other programs; bad files."""
import gzip
import io
import json
import os
import shutil
import struct
import subprocess
import zipfile

from cli import *
from screen import power, write_nrrd

import nibabel

SIZE = (7, 6, 5)
VECTORS, ORIGIN = [(2, 0, 0), (0, 2, 0), (0, 0, 2)], (-6, -5, -4)
AFFINE = np.array([[2, 0, 0, -6], [0, 2, 0, -5], [0, 0, 2, -4], [0, 0, 0, 1.]])
random = np.random.default_rng(4)


def picture(*words, size="200x160"):
    works("view", *words, "--screenshot", "x.png", "--size", size, "--annotations", "off", "--quiet")
    return open("x.png", "rb").read()


def refused(words, *arguments):
    done = hotfiber("view", *arguments, "--screenshot", "bad.png", "--size", "20x20", "--quiet")
    check(done.returncode == 1 and done.stderr.count("\n") == 1 and words in done.stderr and
          not os.path.exists("bad.png"), f"{arguments}: {done.returncode} {done.stderr}")


image = np.zeros(SIZE)
write_nrrd("none.nrrd", image + 1, VECTORS, ORIGIN)
# ---- streamlines: three, one of them in the slice z = 0 and one across it; float32 is exact for these points
lines = [np.array([[x, 1., 0] for x in np.arange(-5, 5.5, .5)], "f4"),
         np.array([[-2.5, y, 2] for y in np.arange(-4, 4.5, .5)], "f4"),
         np.array([[3, -2., z] for z in np.arange(-3.75, 4, .5)], "f4")]
nibabel.streamlines.save(nibabel.streamlines.Tractogram(lines, affine_to_rasmm=np.eye(4)), "a.tck")
check([len(line) for line in nibabel.streamlines.load("a.tck").streamlines] == [21, 17, 16], "its own reader")
quiet = ["none.nrrd", "--opacity", "0"]
seen = picture(*quiet, "--overlay", "a.tck")
check(seen != picture(*quiet), "streamlines are seen")
check(seen == picture(*quiet, "a.tck"), "among the files as well")
subprocess.run(["tckedit", "a.tck", "edited.tck", "-quiet"], check=True)
check(open("edited.tck", "rb").readline() == b"mrtrix tracks    \n", "MRtrix puts blanks behind its first line")
check(picture(*quiet, "--overlay", "edited.tck") == seen, "as MRtrix writes it")
for name, kind, big in (("b.tck", "d", 1), ("c.tck", "f", 1), ("d.tck", "d", 0)):
    triples = np.concatenate([np.vstack([line, [[np.nan] * 3]]) for line in lines] + [[[np.inf] * 3]])
    said = "Float" + ("64" if kind == "d" else "32") + ("BE" if big else "LE")
    head = f"mrtrix tracks\ncount: 3\ndatatype: {said}\nfile: . 100\nEND\n".encode()
    open(name, "wb").write(head.ljust(100, b"\0") + triples.astype((">" if big else "<") + kind).tobytes())
    check(picture(*quiet, "--overlay", name) == seen, f"{said}: the same picture")


def write_trx(name, kind, offset, method, end):
    first = np.cumsum([0] + [len(line) for line in lines])[:None if end else -1]
    with zipfile.ZipFile(name, "w", method) as file:
        file.writestr("header.json", "{}")
        file.writestr(f"offsets.{offset}", first.astype(offset).tobytes())
        file.writestr(f"positions.3.{kind}", np.concatenate(lines).astype(kind).tobytes())
        file.writestr("dpv/color.3.uint8", b"\0" * 9)


for row in (("a.trx", "float32", "uint32", zipfile.ZIP_STORED, True),
            ("b.trx", "float16", "uint64", zipfile.ZIP_DEFLATED, True),
            ("c.trx", "float64", "uint64", zipfile.ZIP_DEFLATED, False)):
    write_trx(*row)
    check(picture(*quiet, "--overlay", row[0]) == seen, f"{row}: the same picture")
# more than the reader takes at a time: 4,000 points, which do not shrink
noisy = np.random.RandomState(3)
kept, lines = lines, [noisy.uniform(-4, 4, (50, 3)).astype("f4") for _ in range(80)]
pictures = []
for name, method in ("long.trx", zipfile.ZIP_STORED), ("longer.trx", zipfile.ZIP_DEFLATED):
    write_trx(name, "float32", "uint32", method, True)
    pictures.append(picture(*quiet, "--overlay", name))
check(max(entry.compress_size for entry in zipfile.ZipFile("longer.trx").infolist()) > 1 << 15, "much is packed")
check(pictures[0] == pictures[1] != seen, "packed or not, the same picture")
lines = kept
# where they are: the slice z = 0 has the first as a red line at y = 1; radiological, so x = 0 is where 0 is mirrored


def colours(*words):
    """Rows of RGB of a picture of 240 x 240 pixels."""
    works("view", *words, "--screenshot", "x.png", "--size", "240x240", "--annotations", "off", "--quiet", "--samples",
          "1", "--light", "off", "--stick_width", "0.6", "--center=0,0,0")
    from PIL import Image
    return np.asarray(Image.open("x.png").convert("RGB")).astype(int)


try:
    shown = colours(*quiet, "--overlay", "a.tck")
    red = np.argwhere((shown[..., 0] > 200) & (shown[..., 1] < 30))
    green = np.argwhere((shown[..., 1] > 200) & (shown[..., 0] < 30))
    mm = (red[:, 1].max() - red[:, 1].min()) / 11.2  # pixels per mm: it is 10 mm long, with round ends of .6 mm
    check(len(red) > 100 and len(green) == 0, f"of the slice alone: {len(red)} red, {len(green)} green pixels")
    check(abs(119.5 - red[:, 0].mean() - mm) < 1.5, f"1 mm above the middle: {red[:, 0].mean()}, {mm} pixels")
    slab = colours(*quiet, "--overlay", "a.tck", "--slab", "5")
    green = np.argwhere((slab[..., 1] > 200) & (slab[..., 0] < 30))
    check(len(green) > 100 and abs(green[:, 1].mean() - 119.5 - 2.5 * mm) < 1.5, "left of it in a slab of five slices")
    plain = colours(*quiet, "--overlay", "a.tck,color=sky")
    check(((plain - [87, 179, 237]).__abs__().max(2) < 3).sum() > 100, "in one colour")
except ImportError:
    print("not tried: pixels of streamlines (no PIL)")
# alone: a grid around them
check(picture("a.tck", "--mode", "3d", "--extent", "volume") != picture("a.tck", "--mode", "3d", "--glyph", "none",
                                                                     "--overlay", "a.tck,visible=off"), "alone")
for name, data, said in (
        ("x.tck", b"mrtrix image\n", "first line"), ("y.tck", open("a.tck", "rb").read()[:-12], "truncated"),
        ("z.tck", b"mrtrix tracks\ndatatype: Int8\nfile: . 60\nEND\n", "Int8"),
        ("u.tck", b"mrtrix tracks\nfile: . 60\nEND\n", "datatype"), ("x.trx", b"PK" * 30, "zip"),
        ("y.trx", open("b.trx", "rb").read()[:-30], "zip")):
    open(name, "wb").write(data)
    refused(said, name)
    refused(said, "none.nrrd", "--overlay", name)
stream = io.BytesIO()
with zipfile.ZipFile(stream, "w") as file:
    file.writestr("positions.3.float32", np.zeros((2, 3), "f4").tobytes())
    file.writestr("offsets.uint32", np.array([0, 9], "u4").tobytes())
open("z.trx", "wb").write(stream.getvalue())
refused("offset", "z.trx")

# ---- fixels: as peaks, whatever the order in which the lists are stored
peaks = random.normal(size=(*SIZE, 2, 3))
peaks[..., 1, :] *= .5
peaks[random.random(SIZE) < .3, 1] = 0
peaks[random.random(SIZE) < .3] = 0
order = np.argsort(-np.linalg.norm(peaks, axis=-1), -1)
peaks = np.take_along_axis(peaks, order[..., None], -2).astype("f4")
nibabel.Nifti1Image(peaks.reshape(*SIZE, 6), AFFINE).to_filename("peaks.nii.gz")
peaks_shown = picture("peaks.nii.gz", "--as", "peaks")
works("export", "peaks.nii.gz", "--as", "peaks", "--format", "fixels", "-o", "fixels", "--quiet")
check(picture("fixels") == peaks_shown, "fixels that hotfiber has written")


def mif(name, values, axes, kind, layout):
    """layout: the file's axes, fastest first; negative ones (1 = the first) are stored backwards."""
    stored = np.transpose(values, [abs(a) - 1 for a in layout])
    stored = stored[tuple(slice(None, None, -1 if a < 0 else 1) for a in layout)]
    place = {abs(a) - 1: f"{'-' if a < 0 else '+'}{p}" for p, a in enumerate(layout)}
    text = (f"mrtrix image\ndim: {','.join(map(str, values.shape))}\nvox: {','.join(map(str, axes))}\nlayout: "
            f"{','.join(place[a] for a in range(values.ndim))}\ndatatype: {kind}\n" +
            "".join("transform: " + ",".join(map(str, AFFINE[r] / [2, 2, 2, 1] if values.ndim == 4 and axes[0] == 2
                                                 else np.eye(4)[r])) + "\n" for r in range(3)) + "file: . 512\nEND\n")
    data = stored.astype({"Float32LE": "<f4", "UInt32LE": "<u4"}[kind]).tobytes(order="F")
    open(name, "wb").write(text.encode().ljust(512, b"\0") + data)


there = np.linalg.norm(peaks, axis=-1) > 0
count = there.sum(-1)
first = np.zeros(count.size, int)
first[1:] = np.cumsum(count.ravel())[:-1]
listed = peaks[there]
length = np.linalg.norm(listed, axis=-1)
for number, layout in enumerate([(1, 2, 3), (2, 1, 3), (-1, 2, 3), (2, -1, 3)]):
    os.makedirs(f"fx{number}")
    mif(f"fx{number}/index.mif", np.stack([count, first.reshape(SIZE)], -1), (2, 2, 2, 1), "UInt32LE",
        [(1, 2, 3, 4), (4, -2, 1, 3)][number % 2])
    mif(f"fx{number}/directions.mif", (listed / length[:, None])[..., None], (1, 1, 1), "Float32LE", layout)
    mif(f"fx{number}/afd.mif", length[:, None, None], (1, 1, 1), "Float32LE", layout)
    seen = picture(f"fx{number}", "--glyph", "sticks", "--background", "nfibers")
    check(seen == picture("fx0", "--glyph", "sticks", "--background", "nfibers"), f"fixels stored as {layout}")
check(picture("fx0", "--background", "nfibers", "--glyph", "none") ==
      picture("peaks.nii.gz", "--as", "peaks", "--background", "nfibers", "--glyph", "none"), "the same numbers")
check(picture(*quiet, "--overlay", "fixels") != picture(*quiet), "fixels as an overlay")
os.makedirs("half")
shutil.copy("fx0/index.mif", "half")
refused("directions", "half")
shutil.copytree("fx0", "short")
mif("short/directions.mif", (listed / length[:, None])[:9, :, None], (1, 1, 1), "Float32LE", (1, 2, 3))
refused("directions.mif", "short")

# ---- archives of DSI Studio and ODX: files of `hotfiber export`, and others made by their descriptions
sticks = ["--glyph", "sticks", "--background", "amplitude"]
wanted = picture("peaks.nii.gz", "--as", "peaks", *sticks)
for suffix in ("fz", "odx"):
    works("export", "peaks.nii.gz", "--as", "peaks", "--format", suffix, "-o", f"own.{suffix}", "--quiet")
seen = picture("own.odx", *sticks)
check(seen == wanted, ".odx that hotfiber has written")
lengths = np.linalg.norm(peaks, axis=-1)
units = np.divide(peaks, lengths[..., None], out=np.zeros_like(peaks), where=lengths[..., None] > 0)
inside = count > 0


def write_odx(name, float_type, offset_type, method, **changed):
    parts = {"header.json": json.dumps({"VOXEL_TO_RASMM": AFFINE.tolist(), "DIMENSIONS": list(SIZE),
                                        "NB_VOXELS": int(inside.sum()), "NB_PEAKS": int(count.sum())}).encode(),
             "mask.uint8": inside.astype("u1").tobytes(),
             f"offsets.{offset_type}": np.cumsum([0, *count[inside]]).astype(offset_type).tobytes(),
             f"directions.3.{float_type}": units[there].astype(float_type).tobytes(),
             f"dpf/amplitude.{float_type}": lengths[there].astype(float_type).tobytes(), **changed}
    with zipfile.ZipFile(name, "w", method) as file:
        for part, content in parts.items():
            if content is not None:
                file.writestr(part, content)


write_odx("a.odx", "float32", "uint64", zipfile.ZIP_DEFLATED)
check(picture("a.odx", *sticks) == wanted, ".odx, deflated")
write_odx("b.odx", "float64", "uint32", zipfile.ZIP_STORED)
check(picture("b.odx", *sticks) == wanted, ".odx of float64")
write_odx("plain.odx", "float32", "uint32", zipfile.ZIP_STORED, **{"dpf/amplitude.float32": None})
nibabel.Nifti1Image(units.reshape(*SIZE, 6), AFFINE).to_filename("units.nii.gz")
check(picture("plain.odx", *sticks) == picture("units.nii.gz", "--as", "peaks", *sticks), ".odx without amplitudes")
for said, changed in (("header.json", {"header.json": None}), ("DIMENSIONS", {"header.json": b"{}"}),
                      ("DIMENSIONS", {"header.json": b"nothing"}), ("mask", {"mask.uint8": b"1"}),
                      ("offsets", {"offsets.uint32": b"\0" * 8}), ("in order", {"offsets.uint32": b"\xff" * (
                          4 * int(inside.sum()) + 4)}), ("directions", {"directions.3.float32": None}),
                      ("amplitudes", {"dpf/amplitude.float32": b"\0" * 4})):
    write_odx("bad.odx", "float32", "uint32", zipfile.ZIP_STORED, **changed)
    refused(said, "bad.odx")


def write_fz(name, order, flip, **changed):
    """Level 4 MAT-file, voxels in this order of axes, with these reversed; directions along its own axes."""
    at = lambda values: np.flip(np.transpose(values, order + list(range(3, values.ndim))), flip)
    axes = np.eye(3)[order]
    axes[flip] *= -1
    trans = np.eye(4)
    trans[:3, :3] = 2 * axes.T
    trans[:3, 3] = AFFINE[:3, 3] + sum((2 * (SIZE[order[a]] - 1) * np.eye(3)[order[a]] for a in flip), np.zeros(3))
    parts = {"dimension": np.array([[SIZE[o] for o in order]], "i4"), "voxel_size": np.full((1, 3), 2, "f4"),
             "trans": trans.T.astype("f4"), "comment": np.frombuffer(b"by hand", "u1")[None]}
    for n in range(2):
        parts[f"fa{n}"] = at(lengths)[..., n].reshape(1, -1, order="F").astype("f4")
        parts[f"dir{n}"] = (at(units)[..., n, :] @ axes.T).reshape(-1, 3, order="F").T.astype("f4")
    parts.update(changed)
    with gzip.open(name, "wb") as file:
        for part, values in parts.items():
            if values is not None:
                kind = {"f4": 10, "i4": 20, "u1": 50}[values.dtype.str[1:]]
                file.write(struct.pack("<5i", kind, *values.shape, 0, len(part) + 1) + part.encode() + b"\0" +
                           values.tobytes(order="F"))


def near(name):
    """The same sticks apart from rounding: DSI Studio's directions are units, so that lengths are multiplied again."""
    try:
        from PIL import Image
    except ImportError:
        return picture(name, *sticks) != b""
    a, b = (np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)
            for data in (picture(name, *sticks, "--annotations", "off"), wanted))
    return (np.abs(a - b).max(-1) > 8).sum() <= 20


check(near("own.fz"), ".fz that hotfiber has written")
# voxels in other orders are at the same places: as a layer, whose sticks are at their places in mm
layer = lambda name: picture("none.nrrd", "--opacity", "0", "--overlay", name)
write_fz("straight.fz", [0, 1, 2], [])
check(near("straight.fz"), ".fz in the image's order")
seen = layer("straight.fz")
check(seen != picture(*quiet), ".fz as an overlay")
for order, flip in (([0, 1, 2], [0, 1]), ([2, 0, 1], []), ([1, 0, 2], [2])):
    write_fz("turned.fz", order, flip)
    try:
        from PIL import Image
        a, b = (np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)
                for data in (layer("turned.fz"), seen))
        check((np.abs(a - b).max(-1) > 30).sum() <= 60, f".fz of axes {order}, {flip} reversed: "
              f"{(np.abs(a - b).max(-1) > 30).sum()} pixels differ")
    except ImportError:
        pass
for said, changed in (("dimension", {"dimension": np.zeros((1, 3), "i4")}), ("dimension", {"dimension": None}),
                      ("trans", {"trans": None}), ("trans", {"trans": np.zeros((3, 4), "f4")}),
                      ("mask alone", {"fa0": np.zeros((1, 5), "f4")}), ("fa0 and dir0", {"dir0": None})):
    write_fz("bad.fz", [0, 1, 2], [], **changed)
    refused(said, "bad.fz")
open("bad.fz", "wb").write(gzip.decompress(open("straight.fz", "rb").read())[:-99])
refused("truncated", "bad.fz")
open("bad.fz", "wb").write(b"no archive at all, but a text")
refused("record", "bad.fz")

# ---- voxels as MRtrix counts them, however .mif stores them: the same words and pictures as of an image in that order
signals = random.integers(1, 1000, (*SIZE, 3)).astype("f4")
nibabel.Nifti1Image(signals, AFFINE).to_filename("order.nii.gz")
letters = ["--voxel", "5,1,3", "--values", "on", "--volume", "2", "--screenshot", "x.png", "--size", "400x300",
           "--quiet"]
for layout in ((1, 2, 3, 4), (3, 1, 2, 4), (4, -1, 2, -3), (-2, 4, 1, 3)):
    mif("order.mif", signals, (2, 2, 2, 1), "Float32LE", layout)
    mif("order_peaks.mif", peaks.reshape(*SIZE, 6), (2, 2, 2, 1), "Float32LE", layout)
    for ours, theirs, more in (("order.nii.gz", "order.mif", ["--as", "dwi"]),
                               ("peaks.nii.gz", "order_peaks.mif", ["--as", "peaks", "--volume", "auto"])):
        seen = []
        for name in (ours, theirs):
            works("view", name, *letters, *more)
            seen.append(open("x.png", "rb").read())
        check(seen[0] == seen[1], f"{theirs} stored as {layout}: voxel 5 1 3 is the same")

# ---- tensors of order 2 and harmonics: the same surfaces as our tensors
rows = np.zeros((*SIZE, 6))
for index in np.ndindex(SIZE):
    turn = np.linalg.qr(random.normal(size=(3, 3)))[0]
    D = turn @ np.diag(np.sort(random.uniform(.2e-3, 2e-3, 3))) @ turn.T
    rows[index] = D[0, 0], D[0, 1], D[0, 2], D[1, 1], D[1, 2], D[2, 2]
ours = np.concatenate([np.ones((1, *SIZE)), np.moveaxis(rows, -1, 0)])
write_nrrd("tensors.nrrd", ours, VECTORS, ORIGIN, "tijk_mask_2o3d_sym")
wanted = picture("tensors.nrrd", "--surfaces", "all")
flip = np.array([1, -1, -1, 1, 1, 1])  # FSL's axes: x is reversed where the determinant is positive
for kind, values in (("tensor_mrtrix", rows[..., [0, 3, 5, 1, 2, 4]]), ("tensor_fsl", rows * flip),
                     ("tensor_dipy", (rows * flip)[..., [0, 1, 3, 2, 4, 5]])):
    nibabel.Nifti1Image(values.astype("f4"), AFFINE).to_filename(f"{kind}.nii.gz")
    check(picture(f"{kind}.nii.gz", "--as", kind, "--surfaces", "all") == wanted, f"{kind}: the same surfaces")
check(picture("tensor_fsl.nii.gz", "--as", "tensor_mrtrix", "--surfaces", "all") != wanted, "another order differs")
# ellipsoids, unless they are no diffusion tensors: ODFs of our models, and harmonics of lmax 2
peanuts = picture("tensors.nrrd", "--surfaces", "all", "--shape", "peanut")
check(peanuts != wanted, "an ellipsoid is no peanut")
header, data = open("tensors.nrrd", "rb").read().split(b"\n\n", 1)
for model in ("adc", "odf", "fod", "msmt"):
    open("model.nrrd", "wb").write(header + f"\nhotfiber_model:={model}\n\n".encode() + data)
    check(picture("model.nrrd", "--surfaces", "all") == (wanted if model == "adc" else peanuts), f"model {model}")
    for shape, shown in (("ellipsoid", wanted if model == "adc" else peanuts), ("peanut", peanuts)):
        done = subprocess.run([os.environ["HOTFIBER"], "view", "-", "--surfaces", "all", "--shape", shape,
                               "--screenshot", "x.png", "--size", "200x160", "--annotations", "off", "--quiet"],
                              input=open("model.nrrd", "rb").read())
        check(done.returncode == 0 and open("x.png", "rb").read() == shown, f"model {model} as a stream, {shape}")
mif("dt.mif", rows[..., [0, 3, 5, 1, 2, 4]].astype("f4"), (2, 2, 2, 1), "Float32LE", (1, 2, 3, 4))
for shape, shown in (("ellipsoid", wanted), ("peanut", peanuts)):
    check(picture("dt.mif", "--as", "tensor_mrtrix", "--surfaces", "all", "--shape", shape) == shown, f".mif, {shape}")
second = random.normal(size=(*SIZE, 6)) * .2
second[..., 0] = 1
nibabel.Nifti1Image(second.astype("f4"), AFFINE).to_filename("sh2.nii.gz")
check(picture("sh2.nii.gz", "--as", "sh", "--shape", "peanut") == picture("sh2.nii.gz", "--as", "sh"),
      "harmonics of lmax 2 are amplitudes, not ellipsoids")
fourth = np.zeros((16, *SIZE))
fourth[0] = 1
for index in np.ndindex(SIZE):
    for weight in (.7, .4):
        v = random.normal(size=3)
        fourth[(slice(1, None), *index)] += weight * power(4, v / np.linalg.norm(v))
write_nrrd("fourth.nrrd", fourth, VECTORS, ORIGIN, "tijk_mask_4o3d_sym")
for suffix in ("nii.gz", "mif"):
    works("export", "fourth.nrrd", "--format", "sh", "-o", f"sh.{suffix}", "--quiet")
    seen, other = (picture(name, "--surfaces", "all", *words) for name, words in
                   (("fourth.nrrd", ()), (f"sh.{suffix}", ("--as", "sh"))))
    check(seen == other, f"harmonics in {suffix}: the same surfaces")
check(picture("sh.mif", "--as", "sh", "--basis", "descoteaux07", "--frame", "image") != seen, "another basis differs")
turned = nibabel.load("sh.nii.gz")
turned = nibabel.Nifti1Image(turned.get_fdata().astype("f4"), np.array([[1.6, -1.2, 0, 0], [1.2, 1.6, 0, 0],
                                                                        [0, 0, 2, 0], [0, 0, 0, 1.]]))
turned.to_filename("turned.nii.gz")
check(picture("turned.nii.gz", "--as", "sh", "--frame", "image") != picture("turned.nii.gz", "--as", "sh"),
      "axes of a turned image differ from the scanner's")
wide = np.zeros((*SIZE, 66), "f4")
wide[..., 0] = 1
wide[..., 3] = -.2
nibabel.Nifti1Image(wide, AFFINE).to_filename("wide.nii.gz")
# ---- side by side: each pane is what the set shows alone, on the image of the first
try:
    from PIL import Image

    def pixels(*words, size):
        return np.asarray(Image.open(io.BytesIO(picture(*words, size=size))).convert("RGB")).astype(int)

    one = {"peaks.nii.gz": ("--as", "peaks"), "tensors.nrrd": (), "fourth.nrrd": (), "fixels": (), "sh2.nii.gz":
           ("--as", "sh")}
    alone = {(name, mode): pixels(name, *words, "--surfaces", "all", "--mode", mode, "--image", "off", size="200x160")
             for name, words in one.items() for mode in ("single", "3d")}
    for mode in ("single", "3d"):
        for first, others in (("peaks.nii.gz", ["tensors.nrrd", "fourth.nrrd"]), ("fourth.nrrd", ["tensors.nrrd"]),
                              ("tensors.nrrd", ["sh2.nii.gz", "fixels", "fourth.nrrd"])):
            words = [first, *one[first], "--surfaces", "all", "--mode", mode, "--image", "off"]
            for name in others:
                words += ["--beside", name + (",as=sh" if name.startswith("sh2") else "")]
            count = 1 + len(others)
            panes = {2: [(0, 0), (0, 1)], 3: [(0, 0), (0, 1), (0, 2)], 4: [(0, 0), (0, 1), (1, 0), (1, 1)]}[count]
            rows, columns = 1 + max(at[0] for at in panes), 1 + max(at[1] for at in panes)
            for raster in ("auto", "gpu", "compute"):
                seen = pixels(*words, "--raster", raster, size=f"{200 * columns}x{160 * rows}")
                for name, (row, column) in zip([first, *others], panes):
                    part = seen[160 * row:160 * (row + 1), 200 * column:200 * (column + 1)]
                    line = 2  # separators, at the left and upper edges, are left out
                    off = np.abs(part - alone[name, mode]).max(-1)[line:-line, line:-line] > (6 if raster == "auto"
                                                                                           else 60)
                    check(off.sum() <= (20 if raster == "auto" else .04 * off.size), f"{mode}, {raster}: {name} beside "
                          f"{first}: {off.sum()} pixels differ")
    tall = pixels("tensors.nrrd", "--surfaces", "all", "--image", "off", "--beside", "fourth.nrrd", size="200x320")
    check((np.abs(tall[162:-2] - alone["fourth.nrrd", "single"][2:-2]).max(-1) > 6).sum() <= 20,
          "one above the other in tall pictures")
    # the same set on grids with reversed, exchanged and more voxels: all values are kept
    wanted = pixels("peaks.nii.gz", "--as", "peaks", "--beside", "fixels", size="400x160")
    given = nibabel.load("peaks.nii.gz")
    flips = np.array([[-1, 0, 0, SIZE[0] - 1], [0, 1, 0, 0], [0, 0, -1, SIZE[2] - 1], [0, 0, 0, 1.]])
    reversed_axes = nibabel.Nifti1Image(given.get_fdata()[::-1, :, ::-1].astype("f4"), AFFINE @ flips)
    exchanged = nibabel.Nifti1Image(np.transpose(given.get_fdata(), (1, 2, 0, 3)).astype("f4"),
                                    AFFINE[:, [1, 2, 0, 3]])
    larger = nibabel.Nifti1Image(np.pad(given.get_fdata(), ((1, 2), (2, 0), (0, 3), (0, 0))).astype("f4"),
                                 AFFINE @ np.array([[1, 0, 0, -1], [0, 1, 0, -2], [0, 0, 1, 0], [0, 0, 0, 1.]]))
    for name, moved in (("reversed", reversed_axes), ("exchanged", exchanged), ("larger", larger)):
        moved.to_filename(f"{name}.nii.gz")
        seen = pixels("peaks.nii.gz", "--as", "peaks", "--beside", f"{name}.nii.gz,as=peaks", size="400x160")
        check((seen == wanted).all(), f"axes {name}: {(seen != wanted).sum()} values differ")
    # half as many voxels, twice as wide: the nearest one, and a note
    coarse = nibabel.Nifti1Image(given.get_fdata()[::2, ::2, ::2].astype("f4"),
                                 AFFINE @ np.array([[2, 0, 0, .5], [0, 2, 0, .5], [0, 0, 2, .5], [0, 0, 0, 1.]]))
    coarse.to_filename("coarse.nii.gz")
    near = [np.arange(n) // 2 * 2 for n in SIZE]
    nibabel.Nifti1Image(given.get_fdata()[np.ix_(*near)].astype("f4"), AFFINE).to_filename("near.nii.gz")
    seen, wanted = (pixels("peaks.nii.gz", "--as", "peaks", "--beside", f"{name}.nii.gz,as=peaks", size="400x160")
                    for name in ("coarse", "near"))
    check((seen == wanted).all(), f"a coarse grid: {(seen != wanted).sum()} values differ")
    done = hotfiber("view", "peaks.nii.gz", "--as", "peaks", "--beside", "coarse.nii.gz,as=peaks", "--screenshot",
                    "x.png", "--size", "40x40")
    check("'coarse.nii.gz' is on another grid" in done.stderr, f"a note: {done.stderr}")
    # its own threshold
    seen, other = (pixels("peaks.nii.gz", "--as", "peaks", "--beside", f"fixels,threshold={t}", size="400x160")
                   for t in (0, 1.5))
    check((seen[:, :200] == other[:, :200]).all() and (seen[:, 200:] != other[:, 200:]).sum() > 100,
          "a threshold of one pane")
except ImportError:
    print("not tried: panes (no PIL)")
nibabel.Nifti1Image(given.get_fdata().astype("f4"), AFFINE + np.array([[0, 0, 0, 500.]] * 3 + [[0] * 4])).to_filename(
    "away.nii.gz")
refused("does not overlap", "tensors.nrrd", "--beside", "away.nii.gz,as=peaks")
refused("neither directions nor tensors", "tensors.nrrd", "--beside", "order.nii.gz,as=dwi")
refused("neither directions nor tensors", "tensors.nrrd", "--beside", "a.tck")
refused("fourth set", "tensors.nrrd", *["--beside", "fixels"] * 4)
refused("no such file", "tensors.nrrd", "--beside", "absent.nii.gz")
refused("--basis", "fourth.nrrd", "--basis", "tournier07")
refused("--frame", "peaks.nii.gz", "--as", "peaks", "--frame", "bvec")
refused("lmax 10", "wide.nii.gz", "--as", "sh")
refused("plain argument", "fourth.nrrd", "--overlay", "tensors.nrrd")
end()
