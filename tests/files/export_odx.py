"""Directions to ODX and to DSI Studio's .fz, for every geometry. Standard library, nibabel and scipy read the files;
odx (PyPI), in an environment that the set-up makes, reads both. World directions come back within .1 degree, with their
amplitudes, at the position of their voxel."""
import gzip
import json
import os
import subprocess
import sys
import zipfile

import numpy as np

from _export import FIBERS, GEOMETRIES, SIZE, angle, export, make, write
from counted import check, end

LPS = np.array([-1, -1, 1])
PYTHON = os.path.join(os.environ["HOT_BUILD"], "tests-python", "bin", "python")
# Reads a file with odx and prints what it holds as JSON: affine, and per voxel directions and amplitudes.
READ = """
import json, sys, numpy as np, odx
name = sys.argv[1]
found = odx.from_fz(name) if name.endswith(".fz") else odx.load(name)
places = np.argwhere(np.asarray(found.mask).reshape(found.dimensions) > 0)
dense, heights = found.densify_directions(), found.densify_dpf("amplitude")
out = [[p.tolist(), dense[tuple(p)].tolist(), heights[tuple(p)].tolist()] for p in places]
print(json.dumps({"affine": np.asarray(found.affine).tolist(), "voxels": out}))
"""


def judge(what, truth, affine, found, degrees):
    """found: (affine, [(index, vectors)]); vectors of length amplitude."""
    theirs, voxels = found
    seen = set()
    for index, vectors in voxels:
        position = np.linalg.inv(affine) @ theirs @ np.append(index, 1)
        voxel = tuple(int(round(x)) for x in position[:3])
        check(np.abs(position[:3] - voxel).max() < 1e-3 and voxel in truth, f"{what}: unexpected fibre at {position}")
        wanted = truth.get(voxel, [])
        seen.add(voxel)
        check(len(vectors) == len(wanted), f"{what} {voxel}: {len(vectors)} fibres, {len(wanted)} wanted")
        for v, w in zip(vectors, wanted):
            check(angle(v, w) <= degrees, f"{what} {voxel}: {angle(v, w)} degrees off")
            check(abs(np.linalg.norm(v) - np.linalg.norm(w)) < 1e-5, f"{what} {voxel}: length {np.linalg.norm(v)}")
    check(seen == {v for v, vectors in truth.items() if vectors}, f"{what}: {len(seen)} voxels")


def by_zip(path):
    """The archive by its specification."""
    with zipfile.ZipFile(path) as archive:
        check(archive.testzip() is None, f"{path}: checksums")
        header = json.loads(archive.read("header.json"))
        mask = np.frombuffer(archive.read("mask.uint8"), np.uint8)
        offsets = np.frombuffer(archive.read("offsets.uint32"), "<u4")
        directions = np.frombuffer(archive.read("directions.3.float32"), "<f4").reshape(-1, 3)
        amplitudes = np.frombuffer(archive.read("dpf/amplitude.float32"), "<f4")
    check(header["NB_VOXELS"] == mask.sum() == len(offsets) - 1 and header["NB_PEAKS"] == offsets[-1] ==
          len(directions) == len(amplitudes), f"{path}: counts {header}")
    check((np.abs(np.linalg.norm(directions, axis=1) - 1) < 1e-6).all(), f"{path}: unit vectors")
    places = np.argwhere(mask.reshape(header["DIMENSIONS"]) > 0)
    return np.array(header["VOXEL_TO_RASMM"]), [
        (place, [amplitudes[n] * directions[n].astype(float) for n in range(offsets[i], offsets[i + 1])])
        for i, place in enumerate(places)]


def mat4(path):
    """The records of a MATLAB 4 file, columns first as it keeps them."""
    raw, at, records = gzip.open(path).read(), 0, {}
    types = {0: "<f8", 1: "<f4", 2: "<i4", 3: "<i2", 4: "<u2", 5: "u1"}
    while at < len(raw):
        kind, rows, columns, imaginary, length = np.frombuffer(raw, "<u4", 5, at)
        at += 20
        name, sample = raw[at:at + length - 1].decode(), np.dtype(types[int(kind) // 10])
        at += int(length)
        records[name] = np.frombuffer(raw, sample, int(rows * columns), at).reshape(columns, rows)
        at += int(rows * columns) * sample.itemsize
        check(imaginary == 0 and at <= len(raw), f"{path}: record {name}")
    return records


def by_voxel_axes(path, affine):
    """As DSI Studio reads it: dir0, dir1 ... along the axes of voxels, which it takes to be in LPS order."""
    records = mat4(path)
    size = records["dimension"].ravel()
    trans = records["trans"].reshape(4, 4).astype(float)
    axes = trans[:3, :3] / np.linalg.norm(trans[:3, :3], axis=0)
    check(np.allclose(records["voxel_size"].ravel(), np.linalg.norm(trans[:3, :3], axis=0), atol=1e-5),
          f"{path}: voxel size")
    nearest = [np.abs(axes[:, a]).argmax() for a in range(3)]
    check(nearest == [0, 1, 2] and all(axes[a, a] * LPS[a] > 0 for a in range(3)), f"{path}: LPS order {axes}")
    check(sorted(size) == sorted(SIZE), f"{path}: {size}")
    found = []
    for at in np.flatnonzero(records["mask"].ravel()):
        index = np.array([at % size[0], at // size[0] % size[1], at // size[0] // size[1]])
        vectors = []
        for n in range(FIBERS):
            height = records[f"fa{n}"].ravel()[at]
            if height > 0:
                vectors.append(float(height) * axes @ records[f"dir{n}"][at].astype(float))
        found.append((index, vectors))
    return trans, found


def by_odx(path):
    said = json.loads(subprocess.run([PYTHON, "-c", READ, path], check=True, capture_output=True, text=True).stdout)
    affine, turn = np.array(said["affine"]), np.eye(3)
    if path.endswith(".fz"):
        # It takes the vectors of DSI Studio's files, which are along the axes of the voxels, as if these were L, P, S.
        turn = affine[:3, :3] / np.linalg.norm(affine[:3, :3], axis=0) * LPS
    return affine, [
        (np.array(place), [h * turn @ np.array(v) for v, h in zip(vectors, heights) if h > 0])
        for place, vectors, heights in said["voxels"]]


have_odx = os.path.exists(PYTHON) and subprocess.run([PYTHON, "-c", "import odx"], capture_output=True).returncode == 0
if not have_odx:
    print("odx (PyPI) is not installed: its own readers are left out")
    check(os.environ.get("HOT_ALL_READERS") != "1" or not os.path.exists(PYTHON), "odx can be imported")
for name in GEOMETRIES:
    affine, truth = make(name, "directions.nrrd")
    export("directions.nrrd", "x.odx")
    judge(f"{name}, odx by zipfile", truth, affine, by_zip("x.odx"), .01)
    for path in ("x.fz", "x.fib.gz"):
        export("directions.nrrd", path)
        judge(f"{name}, {path} along voxel axes", truth, affine, by_voxel_axes(path, affine), .01)
    if have_odx:
        for path in ("x.odx", "x.fz"):
            judge(f"{name}, {path} by odx", truth, affine, by_odx(path), .1)

# No fibre at all, and a name that cannot be written: whole files, or none.
write("none.nrrd", "ras", np.zeros(SIZE + (6,)), "kinds: list space space space")
export("none.nrrd", "none.odx")
export("none.nrrd", "none.fz")
check(by_zip("none.odx")[1] == [] and mat4("none.fz")["mask"].sum() == 0, "no fibre")
for path in ("none.nrrd/x.odx", "none.nrrd/x.fz"):  # below a file
    done = subprocess.run([os.environ["HOTFIBER"], "export", "-i", "none.nrrd", "-o", path], capture_output=True,
                          text=True)
    check(done.returncode == 1 and done.stderr.count("\n") == 1, f"{path}: {done.stderr}")
end()
