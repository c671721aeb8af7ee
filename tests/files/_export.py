"""Shared by the export tests: NRRDs with known directions in many geometries, written byte by byte without our code,
and their directions in scanner RAS."""
import math
import os
import subprocess
import tempfile

import numpy as np
from scipy.special import sph_harm

from _dwi import rotation
from counted import check

HOTFIBER = os.environ["HOTFIBER"]
folder = tempfile.TemporaryDirectory()  # every run starts with an empty one
os.chdir(folder.name)

SIGN = {"right-anterior-superior": (1, 1, 1), "left-posterior-superior": (-1, -1, 1),
        "left-anterior-superior": (-1, 1, 1)}

# name: (space, directions of the grid axes in that space as columns, measurement frame)
GEOMETRIES = {
    "ras": ("right-anterior-superior", np.diag([2.0, 2, 2]), np.eye(3)),
    "lps_oblique": ("left-posterior-superior", rotation((1, 2, 3), 25) @ np.diag([1.5, 2, 2.5]),
                    rotation((1, 0, 1), 70)),
    "permuted": ("right-anterior-superior", rotation((3, 1, 0), 12)[:, [2, 0, 1]] @ np.diag([-2.0, 1.5, 3]),
                 rotation((0, 1, 0), 90)),
    "las": ("left-anterior-superior", rotation((0, 0, 1), 5) @ np.diag([2.0, -2, 2]), np.eye(3)),
}
SIZE = (5, 4, 3)
FIBERS = 2


ORIGIN = np.array([10.0, -20, 30])


def vector_text(v):
    return "(%.17g,%.17g,%.17g)" % tuple(v)


def write(path, name, values, *fields, frame=None):
    """values[i, j, k, n...] as floats on a grid of a geometry, n (...) fastest; fields: further header lines."""
    space, axes, own = GEOMETRIES[name]
    frame = own if frame is None else frame
    inner = values.shape[3:]
    lines = ["NRRD0005", "type: float", "dimension: %d" % values.ndim, "space: " + space,
             "sizes: " + " ".join(map(str, inner + values.shape[:3])),
             "space directions: " + " ".join(["none"] * len(inner) + [vector_text(axes[:, a]) for a in range(3)]),
             *fields, "endian: little", "encoding: raw", "space origin: " + vector_text(ORIGIN),
             "measurement frame: " + " ".join(vector_text(frame[:, a]) for a in range(3)), "", ""]
    order = tuple(range(3, values.ndim)) + (0, 1, 2)
    with open(path, "wb") as f:
        f.write("\n".join(lines).encode() + np.asarray(values, np.float32).transpose(order).tobytes(order="F"))


def affine_of(name):
    """Voxel -> scanner RAS."""
    space, axes, _ = GEOMETRIES[name]
    affine = np.eye(4)
    affine[:3, :3] = np.array(SIGN[space])[:, None] * axes
    affine[:3, 3] = SIGN[space] * ORIGIN
    return affine


def make(name, path):
    """Writes peaks of two fibres; returns the RAS affine and {voxel: [RAS vectors, longest first]}."""
    space, _, frame = GEOMETRIES[name]
    rng = np.random.default_rng(len(name))
    stored = np.zeros(SIZE + (3 * FIBERS,))
    truth = {}
    for voxel in np.ndindex(SIZE):
        truth[voxel] = []
        for f in range(sum(voxel) % (FIBERS + 1)):
            v = rng.normal(size=3)
            v *= (0.9 - 0.4 * f) / np.linalg.norm(v)  # in the file's space
            stored[voxel + (slice(3 * f, 3 * f + 3),)] = frame.T @ v  # the frame's columns turn it into the space
            truth[voxel].append(np.array(SIGN[space]) * v)
    write(path, name, stored, "kinds: list space space space")
    return affine_of(name), truth


PAIRS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))  # of a packed tensor of order 2


def make_tensors(name, path, truth):
    """Writes |v| u u^T of each voxel's first fibre v = |v| u as Teem's masked matrices; voxels without a fibre are not
    fitted."""
    space, _, frame = GEOMETRIES[name]
    values = np.zeros(SIZE + (7,))
    for voxel, vectors in truth.items():
        if vectors:
            v = frame.T @ (SIGN[space] * vectors[0])
            values[voxel] = [1] + [v[a] * v[b] / np.linalg.norm(v) for a, b in PAIRS]
    write(path, name, values, "kinds: 3D-masked-symmetric-matrix space space space")


def run(*command, **more):
    return subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True, **more).stdout


def export(source, target, *options):
    run(HOTFIBER, "export", "-i", source, "-o", target, *options)


def angle(a, b):
    """Degrees between two axes (up to sign); exact for small angles."""
    (ax, ay, az), (bx, by, bz) = map(float, a), map(float, b)
    apart, along = math.hypot(ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx), abs(ax * bx + ay * by + az * bz)
    return math.degrees(math.atan2(apart, along)) if apart or along else math.nan  # of none: nan


def check_vectors(found, wanted, where, amplitude=1e-5):
    """Two lists of vectors, longest first: same number, axes within .01 degree, same lengths."""
    check(len(found) == len(wanted), f"{where}: {len(found)} fibres, {len(wanted)} wanted")
    for f, w in zip(found, wanted):
        check(angle(f, w) <= 0.01, f"{where}: {angle(f, w)} degrees off")
        check(abs(np.linalg.norm(f) - np.linalg.norm(w)) <= amplitude, f"{where}: length {np.linalg.norm(f)}")


def harmonics(lmax, v):
    """Real harmonics as MRtrix defines them, from scipy's: points x coefficients."""
    polar, azimuth = np.arccos(np.clip(v[:, 2], -1, 1)), np.arctan2(v[:, 1], v[:, 0])
    columns = []
    for l in range(0, lmax + 1, 2):
        for m in range(-l, l + 1):
            y = sph_harm(abs(m), l, azimuth, polar)
            columns.append(y.real if m == 0 else np.sqrt(2) * (y.imag if m < 0 else y.real))
    return np.array(columns).T
