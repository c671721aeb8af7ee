"""Diffusion data sets written from scratch in every form an NRRD can take, for the tests of the readers. Nothing of the
program makes them."""
import bz2
import gzip
import os
import subprocess

import numpy as np

from counted import check, end  # noqa: F401

HOT = os.environ["HOTFIBER"]


def hot(*arguments, stdin=None):
    done = subprocess.run([HOT, *map(str, arguments)], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    done.stderr = done.stderr.decode(errors="replace")
    return done


def refused(*arguments, words=(), stdin=None, leaves=()):
    """Status 1, one line on stderr that holds all the words, nothing left behind."""
    done = hot(*arguments, stdin=stdin)
    text = " ".join(map(str, arguments))
    check(done.returncode == 1, "%s: status %d: %s" % (text, done.returncode, done.stderr))
    lines = done.stderr.strip().splitlines()
    check(len(lines) == 1, "%s: %d lines on stderr: %s" % (text, len(lines), done.stderr))
    for word in words:
        check(str(word) in done.stderr, "%s: '%s' is not in: %s" % (text, word, done.stderr.strip()))
    for name in leaves:
        check(not os.path.exists(name), "%s left %s" % (text, name))


def rotation(axis, degrees):
    axis = np.asarray(axis, float) / np.linalg.norm(axis)
    k = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    a = np.radians(degrees)
    return np.eye(3) + np.sin(a) * k + (1 - np.cos(a)) * k @ k


class Dwi:
    """samples[i j k volume], b, unit world gradients, axes as columns, origin; all in `space`."""

    def __init__(self, size=(5, 4, 3), seed=1, space="left-posterior-superior"):
        random = np.random.default_rng(seed)
        self.b = np.array([0, 1000, 3000, 1000, 3000, 0] + [1000, 3000] * 7, float)
        g = random.normal(size=(len(self.b), 3))
        self.g = g / np.linalg.norm(g, axis=1, keepdims=True)
        self.g[self.b == 0] = 0
        self.samples = random.integers(0, 120, size=tuple(size) + (len(self.b),))
        self.axes = rotation((1, 2, 3), 25) @ np.diag([1.5, -2, 2.5])
        self.origin = np.array([10.5, -20.25, 30])
        self.space = space
        self.frame = rotation((1, 0, 1), 70)

    def keys(self, longest=1.0):
        """b is coded in the gradients' length; `longest` is the longest one's (readers rescale it to 1)."""
        inner = self.g @ self.frame  # frame^T g: the frame's columns turn it back
        length = longest * np.sqrt(self.b / self.b.max())
        lines = ["modality:=DWMRI", "DWMRI_b-value:=%.15g" % self.b.max()]
        return lines + ["DWMRI_gradient_%04d:=%.16g %.16g %.16g" % ((v,) + tuple(length[v] * inner[v]))
                        for v in range(len(self.b))]

    def header(self, kind="short", order="ijkv", encoding="raw", endian="little", list_kind="list", more=(), space=None,
               magic="NRRD0005", frame=True):
        sizes = dict(zip("ijkv", self.samples.shape))
        vector = lambda v: "(%.17g,%.17g,%.17g)" % tuple(v)
        along = {"v": "none"}
        along.update({a: vector(self.axes[:, n]) for n, a in enumerate("ijk")})
        lines = [magic, "# made by a test", "type: " + kind, "dimension: 4",
                 space if space is not None else "space: " + self.space,
                 "sizes: " + " ".join(str(sizes[a]) for a in order)]
        if space != "":
            lines += ["space directions: " + " ".join(along[a] for a in order), "space origin: " + vector(self.origin)]
            if frame:
                lines += ["measurement frame: " + " ".join(vector(self.frame[:, a]) for a in range(3))]
        else:
            lines.remove("")
            lines += ["spacings: " + " ".join({"i": "1.5", "j": "2", "k": "2.5", "v": "nan"}[a] for a in order)]
        lines += ["kinds: " + " ".join(list_kind if a == "v" else "space" for a in order), "encoding: " + encoding]
        if endian:
            lines.append("endian: " + endian)
        return lines + list(more)

    def bytes(self, dtype="<i2", order="ijkv"):
        moved = self.samples.astype(dtype).transpose(["ijkv".index(a) for a in order])
        return moved.tobytes(order="F")


def encode(encoding, data, dtype="<i2"):
    if encoding in ("gzip", "gz"):
        return gzip.compress(data, 1)
    if encoding in ("bzip2", "bz2"):
        return bz2.compress(data)
    if encoding == "hex":
        text = data.hex()
        return "\n".join(text[i:i + 70] for i in range(0, len(text), 70)).encode() + b"\n"
    if encoding in ("ascii", "text", "txt"):
        return "\n".join(str(n) for n in np.frombuffer(data, dtype).tolist()).encode() + b"\n"
    return data


def write(path, lines, data=b"", line_end="\n"):
    with open(path, "wb") as file:
        file.write((line_end.join(lines) + line_end).encode())
        if data is not None:
            file.write(line_end.encode() + data)
