#!/usr/bin/python3
"""Do neighbouring voxels agree? In vivo there is no ground truth, but bundles are wider than a voxel, so that most
neighbours share a direction. hotfiber and MRtrix on the same human regions, counted the same way.

    bench/accuracy/coherence.py [--hotfiber FILE] [--data FOLDER]

For every fibre of every voxel and each of the six neighbours with fibres: the angle to the nearest of the neighbour's
fibres. A tool that finds many fibres finds a near one by chance; so the same is done with the neighbours' directions
turned at random, each voxel's by its own rotation, and both medians are shown. MRtrix: dwi2response dhollander and
msmt_csd with several shells, tournier and csd with one, sh2peaks, three relative thresholds."""
import argparse
import os
import subprocess
import sys
import tempfile

import nibabel
import numpy as np


def call(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit("%s failed:\n%s" % (" ".join(map(str, command)), done.stderr))


def directions(path, threshold):
    """x y z by fibre by 3, unit or 0."""
    data = np.nan_to_num(np.asanyarray(nibabel.load(path).dataobj))
    v = data.reshape(data.shape[:3] + (-1, 3))[..., :3, :]
    length = np.linalg.norm(v, axis=-1)
    keep = (length > 0) & (length >= threshold * length.max(-1, keepdims=True))
    return np.where(keep[..., None], v / np.maximum(length, 1e-9)[..., None], 0)


def angles(v, neighbours):
    """Angles in degrees from every fibre to the nearest one of each neighbour."""
    found = []
    for axis in range(3):
        for ours, theirs in ((v, neighbours), (np.flip(v, axis), np.flip(neighbours, axis))):
            a, b = np.moveaxis(ours, axis, 0)[:-1], np.moveaxis(theirs, axis, 0)[1:]
            near = np.abs(np.einsum("xyzic,xyzjc->xyzij", a, b)).max(-1)
            both = (np.abs(a).sum(-1) > 0) & (np.abs(b).sum((-1, -2)) > 0)[..., None]
            found.append(near[both])
    return np.degrees(np.arccos(np.clip(np.concatenate(found), 0, 1)))


def row(data, tool, v):
    random = np.random.default_rng(1)
    turn = np.linalg.qr(random.normal(size=v.shape[:3] + (3, 3)))[0]
    near, chance = angles(v, v), angles(v, np.einsum("xyzab,xyzib->xyzia", turn, v))
    count = np.bincount((np.abs(v).sum(-1) > 0).sum(-1).ravel(), minlength=4)
    print("| %s | %s | %s | %.1f | %.1f | %.2f |" % (data, tool, " / ".join("%d" % n for n in count), np.median(near),
                                                    np.median(chance), (near < 20).mean()), flush=True)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    root = os.path.normpath(os.path.join(here, "..", ".."))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hotfiber", default=os.path.join(root, "build", "bin", "hotfiber"))
    parser.add_argument("--data", default=os.path.join(root, "..", "shared", "data"))
    options = parser.parse_args()
    hot, folder_of_data = os.path.abspath(options.hotfiber), os.path.abspath(options.data)
    sets = {"mrtrix_msmt_roi": "mrtrix_msmt_roi/mrtrix_msmt_roi.nii.gz",
            "dipy_small_64D": "dipy_small_64D/dipy_small_64D.nhdr"}
    if not os.path.exists(os.path.join(folder_of_data, sets["mrtrix_msmt_roi"])):
        sys.exit("no human regions at %s" % options.data)
    print("| data | tool | voxels with 0 / 1 / 2 / 3 fibres | median angle to the neighbour's nearest fibre | "
          "the same, neighbours turned at random | below 20 degrees |\n| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, path in sets.items():
            call(hot, "convert", "-i", os.path.join(folder_of_data, path), "-o", "d.nii.gz", "--quiet")
            call(hot, "run", "-i", "d.nii.gz", "-o", "out", "--force", "--quiet")
            call(hot, "run", "-i", "d.nii.gz", "-o", "maxima", "--method", "maxima", "--force", "--quiet")
            row(name, "hotfiber, signal", directions("out/peaks.nii.gz", 0))
            row(name, "hotfiber, maxima of the fod", directions("maxima/peaks.nii.gz", 0))
            grad = ("-fslgrad", "d.bvec", "d.bval", "-quiet", "-force")
            if len(np.unique(np.round(np.loadtxt("d.bval"), -2))) > 2:
                call("dwi2response", "dhollander", "d.nii.gz", "wm.txt", "gm.txt", "csf.txt", *grad)
                call("dwi2fod", "msmt_csd", "d.nii.gz", "wm.txt", "fod.mif", "gm.txt", "gm.mif", "csf.txt", "csf.mif",
                     *grad)
            else:
                call("dwi2response", "tournier", "d.nii.gz", "wm.txt", *grad)
                call("dwi2fod", "csd", "d.nii.gz", "wm.txt", "fod.mif", *grad)
            call("sh2peaks", "fod.mif", "m.nii.gz", "-num", 5, "-quiet", "-force")
            for threshold in (0.1, 0.25, 0.5):
                row(name, "MRtrix, threshold %g" % threshold, directions("m.nii.gz", threshold))


if __name__ == "__main__":
    main()
