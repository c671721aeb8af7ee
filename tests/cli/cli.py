"""Shared by the tests of the command: runs it, writes DWI files from scratch, reads NRRD back. Our own
code makes none of the inputs, so that a fault on both sides cannot hide itself."""
import gzip
import os
import subprocess

import numpy as np

from counted import check, end  # noqa: F401

HOTFIBER = os.environ.get("HOTFIBER", "hotfiber")
DATA = os.environ.get("HOT_DATA", "")
SANITIZED = os.environ.get("HOT_SANITIZED", "") not in ("", "OFF")


def hotfiber(*arguments, stdin=None, timeout=300, **more):
    """Runs the command; stdout and stderr are bytes and text."""
    done = subprocess.run([HOTFIBER, *map(str, arguments)], input=stdin, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=timeout,
                          **({} if stdin is not None else {"stdin": subprocess.DEVNULL}), **more)
    done.stderr = done.stderr.decode(errors="replace")
    return done


def works(*arguments, **more):
    """Runs it and expects success."""
    done = hotfiber(*arguments, **more)
    check(done.returncode == 0, f"{' '.join(map(str, arguments))}: status {done.returncode}: {done.stderr}")
    return done


def tree(folder="."):
    """Every file below a folder with size and time, hidden ones included: what must not change when a run fails."""
    found = {}
    for path, folders, files in os.walk(folder):
        for name in folders + files:
            full = os.path.join(path, name)
            about = os.lstat(full)
            found[full] = (about.st_size, about.st_mtime_ns)
    return found


def directions(count, seed=0):
    """Well spread unit vectors over the half sphere, turned at random: a spherical Fibonacci lattice."""
    i = np.arange(count) + .5
    z = i / count
    phi = i * np.pi * (3 - np.sqrt(5)) * 2
    r = np.sqrt(1 - z * z)
    q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    return np.stack([r * np.cos(phi), r * np.sin(phi), z], 1) @ q.T


def signals(fibres, b, gradients, s0=1000., along=1.7e-3, across=.3e-3):
    """Signals of volumes (b, unit gradients) in a voxel with fibres [(direction, fraction), ...]."""
    total = np.zeros(len(b))
    for direction, fraction in fibres:
        v = np.asarray(direction, float) / np.linalg.norm(direction)
        total += fraction * np.exp(-b * (across + (along - across) * (gradients @ v) ** 2))
    return s0 * total


class Scene:
    """A small volume: air, single fibres of many directions, crossings at 60 and 90 degrees; 6 x 5 x 4 voxels."""

    def __init__(self, count=32, b=2000., b0=2, size=(6, 5, 4), noise=0., seed=1):
        random = np.random.default_rng(seed)
        self.b = np.concatenate([np.zeros(b0), np.full(count, b)])
        self.gradients = np.concatenate([np.zeros((b0, 3)), directions(count)])
        self.size = size
        self.fibres = {}
        self.data = np.zeros((*size, len(self.b)))
        for index in np.ndindex(size):
            q, _ = np.linalg.qr(random.normal(size=(3, 3)))
            kind = sum(index) % 4
            if kind == 3:
                angle = np.radians(60 if index[0] % 2 else 90)
                here = [(q[0], .5), (np.cos(angle) * q[0] + np.sin(angle) * q[1], .5)]
            else:
                here = [(q[0], 1.)]
            if index[0] == 0:
                here = []  # air
            self.fibres[index] = here
            value = signals(here, self.b, self.gradients)
            if noise:
                value = np.hypot(value + noise * random.normal(size=len(self.b)),
                                 noise * random.normal(size=len(self.b)))
            self.data[index] = value


TYPES = {"<f4": "float", "<f8": "double", "<i2": "short", "<u2": "unsigned short", "<i4": "int", ">f4": "float",
         ">i2": "short", "u1": "unsigned char"}


def write_dwi(path, scene, dtype="<f4", list_axis=3, affine=None, space="right-anterior-superior", frame=np.eye(3),
              encoding="raw", detached=None, keys=None, data=None, gradients=None, sizes=None, header_only=False):
    """Writes a DWI NRRD. affine: 3 x 4, world = affine (i, j, k, 1); gradients of the scene are in world axes and are
    written in the measurement frame `frame` (its columns are the frame's vectors)."""
    data = scene.data if data is None else data
    if affine is None:
        affine = np.hstack([2 * np.eye(3), np.zeros((3, 1))])
    gradients = scene.gradients if gradients is None else gradients
    largest = scene.b.max()
    moved = np.moveaxis(data, 3, list_axis).astype(dtype)
    kinds = ["space", "space", "space"]
    vectors = ["(" + ",".join(f"{x:.17g}" for x in affine[:, axis]) + ")" for axis in range(3)]
    kinds.insert(list_axis, "list")
    vectors.insert(list_axis, "none")
    vector = lambda v: "(" + ",".join(f"{x:.17g}" for x in v) + ")"
    lines = ["NRRD0005", f"type: {TYPES[dtype]}", "dimension: 4", f"space: {space}",
             "sizes: " + (sizes or " ".join(map(str, moved.shape))), "space directions: " + " ".join(vectors),
             "kinds: " + " ".join(kinds), "endian: " + ("big" if dtype[0] == ">" else "little"),
             f"encoding: {encoding}", "space origin: " + vector(affine[:, 3]),
             "measurement frame: " + " ".join(vector(frame[:, c]) for c in range(3))]
    if detached:
        lines.append(f"data file: {detached}")
    if keys is None:
        keys = ["modality:=DWMRI", f"DWMRI_b-value:={largest:.17g}"]
        for v, (b, g) in enumerate(zip(scene.b, gradients)):
            coded = np.linalg.solve(frame, g) * np.sqrt(b / largest)
            keys.append(f"DWMRI_gradient_{v:04d}:=" + " ".join(f"{x:.17g}" for x in coded))
    raw = b"" if header_only else moved.tobytes(order="F")
    if encoding == "gzip":
        raw = gzip.compress(raw, 1)
    head = ("\n".join(lines + keys) + "\n").encode()
    if detached:
        open(path, "wb").write(head + b"\n")
        if not header_only:
            open(os.path.join(os.path.dirname(path), detached), "wb").write(raw)
    else:
        open(path, "wb").write(head + b"\n" + raw)
    return path


NUMPY = {"float": "f4", "double": "f8", "short": "i2", "unsigned short": "u2", "int": "i4", "unsigned int": "u4",
         "unsigned char": "u1", "uint8": "u1", "uchar": "u1", "signed char": "i1"}


def read_nrrd(source):
    """An attached or detached NRRD (raw or gzip): (array with the fastest axis first, header as a dict)."""
    raw = source if isinstance(source, bytes) else open(source, "rb").read()
    head, _, body = raw.partition(b"\n\n")
    header = {}
    for line in head.decode().split("\n")[1:]:
        if line and not line.startswith("#"):
            if ":=" in line:
                name, value = line.split(":=", 1)
            else:
                name, value = line.split(": ", 1)
            header[name] = value
    if "data file" in header:
        body = open(os.path.join(os.path.dirname(source), header["data file"]), "rb").read()
    if header["encoding"] in ("gzip", "gz"):
        body = gzip.decompress(body)
    order = ">" if header.get("endian") == "big" else "<"
    sizes = [int(n) for n in header["sizes"].split()]
    array = np.frombuffer(body, order + NUMPY[header["type"]], int(np.prod(sizes)))
    return array.reshape(sizes, order="F"), header


def angle(a, b):
    """Degrees between axes (sign does not count)."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    cosine = np.abs((a * b).sum(-1)) / np.maximum(np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1), 1e-300)
    return np.degrees(np.arccos(np.minimum(cosine, 1)))
