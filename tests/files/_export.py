"""Shared by the export tests: NRRDs with known directions in many geometries, written here byte by byte so that nothing of
ours is in them, and what they mean in scanner RAS."""
import os
import subprocess
import tempfile

import numpy as np

HOTFIBER = os.environ["HOTFIBER"]
folder = tempfile.TemporaryDirectory()  # every run starts with an empty one
os.chdir(folder.name)


def rotation(axis, degrees):
    axis = np.asarray(axis, float) / np.linalg.norm(axis)
    k = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    a = np.radians(degrees)
    return np.eye(3) + np.sin(a) * k + (1 - np.cos(a)) * k @ k


SIGN = {"right-anterior-superior": (1, 1, 1), "left-posterior-superior": (-1, -1, 1), "left-anterior-superior": (-1, 1, 1)}

# name: (space, directions of the grid axes in that space as columns, measurement frame)
GEOMETRIES = {
    "ras": ("right-anterior-superior", np.diag([2.0, 2, 2]), np.eye(3)),
    "lps_oblique": ("left-posterior-superior", rotation((1, 2, 3), 25) @ np.diag([1.5, 2, 2.5]), rotation((1, 0, 1), 70)),
    "permuted": ("right-anterior-superior", rotation((3, 1, 0), 12)[:, [2, 0, 1]] @ np.diag([-2.0, 1.5, 3]),
                 rotation((0, 1, 0), 90)),
    "las": ("left-anterior-superior", rotation((0, 0, 1), 5) @ np.diag([2.0, -2, 2]), np.eye(3)),
}
SIZE = (5, 4, 3)
FIBERS = 2


def make(name, path):
    """Writes peaks of two fibres; returns the RAS affine and {voxel: [RAS vectors, longest first]}."""
    space, axes, frame = GEOMETRIES[name]
    rng = np.random.default_rng(len(name))
    origin = np.array([10.0, -20, 30])
    sign = np.array(SIGN[space])
    stored = np.zeros(SIZE + (3 * FIBERS,), np.float32)
    truth = {}
    for voxel in np.ndindex(SIZE):
        truth[voxel] = []
        for f in range(sum(voxel) % (FIBERS + 1)):
            v = rng.normal(size=3)
            v *= (0.9 - 0.4 * f) / np.linalg.norm(v)  # in the file's space
            stored[voxel + (slice(3 * f, 3 * f + 3),)] = frame.T @ v  # the frame's columns turn it into the space
            truth[voxel].append(sign * v)
    vector = lambda v: "(%.17g,%.17g,%.17g)" % tuple(v)
    header = "\n".join([
        "NRRD0005", "type: float", "dimension: 4", "space: " + space, "sizes: %d %d %d %d" % ((3 * FIBERS,) + SIZE),
        "space directions: none " + " ".join(vector(axes[:, a]) for a in range(3)),
        "kinds: list space space space", "endian: little", "encoding: raw", "space origin: " + vector(origin),
        "measurement frame: " + " ".join(vector(frame[:, a]) for a in range(3)), "", ""])
    with open(path, "wb") as f:
        f.write(header.encode())
        f.write(stored.transpose(3, 0, 1, 2).tobytes(order="F"))
    affine = np.eye(4)
    affine[:3, :3] = sign[:, None] * axes
    affine[:3, 3] = sign * origin
    return affine, truth


def run(*command, **more):
    return subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True, **more).stdout


def export(source, target, *options):
    run(HOTFIBER, "export", "-i", source, "-o", target, *options)


def angle(a, b):
    """Degrees between two axes (up to sign); exact for small angles."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    return np.degrees(np.arctan2(np.linalg.norm(np.cross(a, b)), abs(a @ b)))


class Checks:
    def __init__(self):
        self.passed = self.failed = 0

    def __call__(self, condition, what):
        if condition:
            self.passed += 1
        else:
            self.failed += 1
            if self.failed <= 20:
                print("not so:", what)

    def vectors(self, found, wanted, where, amplitude=1e-5):
        """Two lists of vectors, longest first: same number, axes within .01 degree, same lengths."""
        self(len(found) == len(wanted), f"{where}: {len(found)} fibres, {len(wanted)} wanted")
        for f, w in zip(found, wanted):
            self(angle(f, w) <= 0.01, f"{where}: {angle(f, w)} degrees off")
            self(abs(np.linalg.norm(f) - np.linalg.norm(w)) <= amplitude, f"{where}: length {np.linalg.norm(f)}")

    def end(self):
        print(f"{self.passed} passed, {self.failed} failed")
        raise SystemExit(1 if self.failed else 0)
