"""Tensors through `export sh`, read by MRtrix: the amplitude along any scanner direction is the tensor's A x^m there,
for orders 2 4 6 8, every geometry, and measurement frames that are not the identity."""
import itertools
import math
import shutil

import nibabel
import numpy as np

from _export import GEOMETRIES, SIGN, export, run, write
from counted import check, end

if not shutil.which("sh2amp"):
    print("skipped: sh2amp (MRtrix) is not installed")
    raise SystemExit(77)
LABELS = {2: "tijk_mask_2o3d_sym", 4: "tijk_mask_4o3d_sym", 6: "tijk_mask_6o3d_sym", 8: "tijk_mask_8o3d_sym"}
SIZE = (3, 2, 2)


def classes(order):
    return list(itertools.combinations_with_replacement(range(3), order))


def value(order, tensor, x):
    """A x^m by its definition: every index class times its multiplicity."""
    total = 0
    for coefficient, index in zip(tensor, classes(order)):
        counts = [index.count(d) for d in range(3)]
        multiplicity = math.factorial(order) // math.prod(math.factorial(c) for c in counts)
        total += multiplicity * coefficient * math.prod(x[d] ** counts[d] for d in range(3))
    return total


rng = np.random.default_rng(5)
directions = rng.normal(size=(12, 3))
directions /= np.linalg.norm(directions, axis=1)[:, None]
np.savetxt("directions.txt", directions)  # in scanner axes

for name, (space, _, frame) in GEOMETRIES.items():
    for order in (2, 4, 6, 8):
        count = len(classes(order))
        tensors = rng.normal(size=SIZE + (1 + count,)).astype(np.float32)
        tensors[..., 0] = 1
        tensors[0, 0, 0, 0] = 0  # not fitted
        write("tensors.nrrd", name, tensors, 'labels: "%s" "" "" ""' % LABELS[order])
        export("tensors.nrrd", "sh.nii", "--format", "sh")
        image = nibabel.load("sh.nii")
        check(image.shape == SIZE + (count,), f"{name} order {order}: {image.shape}")
        run("sh2amp", "-quiet", "-force", "sh.nii", "directions.txt", "amplitudes.nii")
        amplitudes = nibabel.load("amplitudes.nii")
        data, to_ours = amplitudes.get_fdata(), np.linalg.inv(image.affine) @ amplitudes.affine
        for voxel in np.ndindex(SIZE):
            ours = tuple(int(round(x)) for x in (to_ours @ np.array(voxel + (1,)))[:3])
            for d, scanner in enumerate(directions):
                x = frame.T @ (np.array(SIGN[space]) * scanner)  # scanner -> the file's space -> the tensor's own frame
                want = value(order, tensors[ours][1:], x) if tensors[ours][0] else 0
                check(abs(data[voxel][d] - want) <= 2e-5 * order,
                      f"{name} order {order} {ours}: {data[voxel][d]} {want}")
end()
