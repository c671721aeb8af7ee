"""Tensor glyphs as PLY: where they are, how large, closed and the right side out, in every geometry."""
import itertools
import math
import os
import subprocess

import numpy as np

from _export import GEOMETRIES, HOTFIBER, ORIGIN, SIGN, angle, export, write
from counted import check, end


def read_ply(path):
    with open(path, "rb") as f:
        head, body = f.read().split(b"end_header\n", 1)
    lines = head.decode().splitlines()
    check("format binary_little_endian 1.0" in lines and "comment SPACE=LPS" in lines, f"{path}: {lines[:4]}")
    vertices, faces = (int(line.split()[2]) for line in lines if line.startswith("element"))
    vertex = np.dtype([("xyz", "<f4", 3), ("rgb", "u1", 3)])
    face = np.dtype([("n", "u1"), ("corners", "<i4", 3)])
    check(len(body) == vertices * vertex.itemsize + faces * face.itemsize, f"{path}: {len(body)} bytes")
    v = np.frombuffer(body, vertex, vertices)
    t = np.frombuffer(body, face, faces, vertices * vertex.itemsize)
    check((t["n"] == 3).all() and t["corners"].min() == 0 and t["corners"].max() == vertices - 1, f"{path}: faces")
    return v["xyz"].astype(float), v["rgb"], t["corners"]


for name, (space, axes, _) in GEOMETRIES.items():
    sign = np.array(SIGN[space])
    direction = np.array([0.6, -0.48, 0.64])  # of the second voxel's tensor, in the file's space
    values = np.zeros((2, 2, 1, 7))
    values[0, 0, 0] = (1, 1, 0, 0, 1, 0, 1)  # round
    values[1, 0, 0] = [1] + [direction[a] * direction[b] for a, b in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))]
    values[0, 1, 0] = (0, 9, 0, 0, 9, 0, 9)  # not fitted
    values[1, 1, 0] = (1, np.nan, 0, 0, 1, 0, 1)  # broken
    write(name + ".nrrd", name, values, "kinds: 3D-masked-symmetric-matrix space space space", frame=np.eye(3))
    export(name + ".nrrd", name + ".ply")
    points, colors, triangles = read_ply(name + ".ply")
    half = len(points) // 2
    check(half == 642 and len(triangles) == 2 * 1280, f"{name}: two glyphs, {len(points)} vertices")
    lps = np.array([-1, -1, 1]) * sign  # the file's space -> LPS
    side = np.linalg.norm(axes, axis=0).min()
    for glyph, voxel in enumerate(((0, 0, 0), (1, 0, 0))):
        centre = lps * (axes @ voxel + ORIGIN)
        p = points[glyph * half:(glyph + 1) * half] - centre
        t = triangles[glyph * 1280:(glyph + 1) * 1280] - glyph * half
        edges = np.sort(np.concatenate([t[:, (0, 1)], t[:, (1, 2)], t[:, (2, 0)]]), axis=1)
        check((np.unique(edges, axis=0, return_counts=True)[1] == 2).all(), f"{name}: glyph {glyph} is closed")
        volume = (np.cross(p[t[:, 0]], p[t[:, 1]]) * p[t[:, 2]]).sum() / 6
        check(volume > 0, f"{name}: glyph {glyph} is the right side out: {volume}")
        radius = np.linalg.norm(p, axis=1)
        if glyph == 0:
            check(np.abs(radius - 0.45 * side).max() < 5e-3 * side,
                  f"{name}: radii {radius.min()} to {radius.max()}, side {side}")
            check(abs(volume / (4 / 3 * math.pi * (0.45 * side) ** 3) - 1) < 0.02, f"{name}: volume {volume}")
            want = np.abs(p / radius[:, None]) * 255
            check(np.abs(colors[:half] - want).max() <= 1.5, f"{name}: colours")
        else:
            check(angle(p[radius.argmax()], lps * direction) < 5, f"{name}: points to {p[radius.argmax()]}")
            inner = radius > 0.01 * side
            along = (p[inner] @ (lps * direction) / radius[inner]) ** 2  # r(x) = (v.x)^2
            check(np.abs(radius[inner] / (0.45 * side) - along).max() < 0.02, f"{name}: r(x) is the form")

# A file that few programs can turn is announced with its size; others are not.
for size in ((20, 21, 20), (20, 20, 2)):
    write("many.nrrd", "lps_oblique", np.tile([1., 1, 0, 0, 1, 0, 1], size + (1,)),
          "kinds: 3D-masked-symmetric-matrix space space space")
    said = subprocess.run([HOTFIBER, "export", "many.nrrd", "-o", "glyphs.vtp"], check=True, capture_output=True,
                          text=True).stderr
    megabytes = os.path.getsize("glyphs.vtp") / 1e6
    check((f"{np.prod(size)} surfaces make a file of {megabytes:.0f} MB" in said) == (megabytes > 100),
          f"{megabytes} MB: {said}")
    check((megabytes > 100) == (size[2] > 2), f"{size}: {megabytes} MB")
    os.remove("glyphs.vtp")
os.remove("many.nrrd")

# Any order, negative parts and a measurement frame: the surface is max(0, A x^m) times one scale
rng = np.random.default_rng(2)
name = "lps_oblique"
space, axes, frame = GEOMETRIES[name]
lps = np.array([-1, -1, 1]) * SIGN[space]
for order in (4, 6, 8):
    classes = list(itertools.combinations_with_replacement(range(3), order))
    values = rng.normal(size=(2, 1, 2, 1 + len(classes)))
    values[..., 0] = 1
    write("any.nrrd", name, values, 'labels: "tijk_mask_%do3d_sym" "" "" ""' % order)
    export("any.nrrd", "any.ply")
    points, colors, triangles = read_ply("any.ply")
    check(len(points) == 4 * 642, f"order {order}: {len(points)} vertices")
    scales = []
    for glyph, voxel in enumerate(((0, 0, 0), (1, 0, 0), (0, 0, 1), (1, 0, 1))):
        p = points[glyph * 642:(glyph + 1) * 642] - lps * (axes @ voxel + ORIGIN)
        radius = np.linalg.norm(p, axis=1)
        out = radius > 0.02 * radius.max()
        x = (p[out] / radius[out, None] * lps) @ frame  # LPS -> the file's space -> the tensor's own frame
        form = sum(math.factorial(order) // math.prod(math.factorial(c.count(d)) for d in range(3)) * value *
                   np.prod(x[:, list(c)], axis=1) for value, c in zip(values[voxel][1:].astype(np.float32), classes))
        check(form.min() > 0, f"order {order}: a radius where the form is {form.min()}")
        scales.append(np.median(radius[out] / form))
        check(np.abs(radius[out] - scales[-1] * form).max() < 2e-3 * radius.max(), f"order {order} {voxel}: shape")
    check(np.ptp(scales) < 1e-3 * scales[0], f"order {order}: one scale for all: {scales}")
end()
