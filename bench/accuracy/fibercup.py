#!/usr/bin/python3
"""FiberCup, a real phantom: in how many of the hand-labelled two-fibre voxels does a tool find exactly two fibres, each
along one of the two bundles that meet there, and in how many of the one-fibre voxels does it find one? hotfiber and
MRtrix on the same files, counted the same way.

    bench/accuracy/fibercup.py [--hotfiber FILE] [--data FOLDER] [--no-peers]

The bundles' directions are not taken from any tool under test: around each group of two-fibre voxels the diffusion
tensor of the one-fibre voxels (7 voxels about, least squares of the logarithms, both repeats averaged) points along one
bundle or the other; two clusters of those axes are the two bundles. A voxel counts when it has two fibres, each within
20 degrees of its own bundle (so in the plane). MRtrix is run with three harmonic orders and five relative thresholds;
two of the fifteen are shown."""
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


def load_scheme(stem, affine):
    b, bvec = np.loadtxt(stem + ".bval"), np.loadtxt(stem + ".bvec")
    axes = affine[:3, :3] / np.linalg.norm(affine[:3, :3], axis=0)
    if np.linalg.det(axes) > 0:
        bvec = bvec * np.array([[-1], [1], [1]])
    return b, bvec, (axes @ bvec).T


def averaged(data, b, bvec, gradients):
    """Volumes of equal b and direction (up to sign) averaged."""
    groups = []
    for v in range(len(b)):
        for g in groups:
            if abs(b[g[0]] - b[v]) < 50 and (b[v] < 50 or abs(gradients[g[0]] @ gradients[v]) > 0.9999):
                g.append(v)
                break
        else:
            groups.append([v])
    first = [g[0] for g in groups]
    return np.stack([data[..., g].mean(-1) for g in groups], -1).astype("f4"), b[first], bvec[:, first]


def tensor_axis(signal, b, g):
    """Principal axis of the diffusion tensor by least squares on the logarithms."""
    x, y, z = g.T
    design = np.stack([np.ones_like(b), -b * x * x, -b * y * y, -b * z * z, -2 * b * x * y, -2 * b * x * z,
                       -2 * b * y * z], 1)
    d = np.linalg.lstsq(design, np.log(np.maximum(signal, 1)), rcond=None)[0][1:]
    return np.linalg.eigh(np.array([[d[0], d[3], d[4]], [d[3], d[1], d[5]], [d[4], d[5], d[2]]]))[1][:, 2]


def two_clusters(axes):
    """Two mean axes of a set of axes (up to sign): k-means from the pair of axes farthest apart."""
    dots = np.abs(axes @ axes.T)
    centres = axes[list(np.unravel_index(np.argmin(dots), dots.shape))]
    for _ in range(50):
        mine = np.argmax(np.abs(axes @ centres.T), 1)
        centres = np.stack([np.linalg.eigh(axes[mine == c].T @ axes[mine == c])[1][:, 2] for c in (0, 1)])
    return centres


def bundles(labels, data, b, gradients):
    """{voxel: two axes} for the two-fibre voxels."""
    voxels = np.argwhere(labels == 2)
    ones = np.argwhere(labels == 1)
    result = {}
    while len(voxels):
        group = voxels[np.linalg.norm(voxels[:, :2] - voxels[0, :2], axis=1) < 6]
        voxels = voxels[np.linalg.norm(voxels[:, :2] - voxels[0, :2], axis=1) >= 6]
        near = ones[np.linalg.norm(ones[:, :2] - group[:, :2].mean(0), axis=1) < 7]
        axes = np.stack([tensor_axis(data[tuple(v)], b, gradients) for v in near])
        centres = two_clusters(axes)
        angle = np.degrees(np.arccos(min(1, abs(centres[0] @ centres[1]))))
        print("bundles about voxel %s: %s and %s, %.0f degrees apart"
              % (np.round(group[:, :2].mean(0)).astype(int), np.round(centres[0], 2), np.round(centres[1], 2), angle))
        result.update({tuple(v): centres for v in group})
    return result


def count(peaks_file, truth, ones, threshold):
    """Two-fibre voxels with exactly two fibres, each along its bundle; one-fibre voxels with 0, 1, 2, 3 and more."""
    data = np.nan_to_num(np.asanyarray(nibabel.load(peaks_file).dataobj))

    def fibres(voxel):
        v = data[voxel].reshape(-1, 3)
        length = np.linalg.norm(v, axis=1)
        v = v[(length > 0) & (length >= threshold * length.max())]
        return v / np.linalg.norm(v, axis=1)[:, None]

    right = 0
    for voxel, axes in truth.items():
        v = fibres(voxel)
        if len(v) == 2:
            off = np.degrees(np.arccos(np.clip(np.abs(v @ axes.T), 0, 1)))
            right += bool(min(max(off[0, 0], off[1, 1]), max(off[0, 1], off[1, 0])) <= 20)
    return right, np.bincount([min(len(fibres(tuple(v))), 3) for v in ones], minlength=4)


def row(data, tool, counted):
    print("| %s | %s | %d | %s |" % (data, tool, counted[0], " / ".join("%d" % n for n in counted[1])), flush=True)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    root = os.path.normpath(os.path.join(here, "..", ".."))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hotfiber", default=os.path.join(root, "build", "bin", "hotfiber"))
    parser.add_argument("--data", default=os.path.join(root, "..", "shared", "data", "fibercup"))
    parser.add_argument("--no-peers", action="store_true")
    options = parser.parse_args()
    hot, stem = os.path.abspath(options.hotfiber), os.path.join(os.path.abspath(options.data), "fibercup_b1500")
    if not os.path.exists(stem + ".nii.gz"):
        sys.exit("no FiberCup data at %s" % options.data)
    image = nibabel.load(stem + ".nii.gz")
    data = np.asanyarray(image.dataobj).astype("f4")
    label_image = nibabel.load(os.path.join(options.data, "fibercup_nfib_labels.nii.gz"))
    labels = np.asanyarray(label_image.dataobj)
    b, bvec, gradients = load_scheme(stem, image.affine)
    mean, mean_b, mean_bvec = averaged(data, b, bvec, gradients)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        nibabel.save(nibabel.Nifti1Image((labels > 0).astype("u1"), image.affine), "mask.nii.gz")
        for name, d, b_, v_ in (("averaged", mean, mean_b, mean_bvec), ("all", data, b, bvec),
                                ("first", data[..., :66], b[:66], bvec[:, :66])):
            nibabel.save(nibabel.Nifti1Image(d, image.affine), name + ".nii.gz")
            np.savetxt(name + ".bval", b_[None], fmt="%g")
            np.savetxt(name + ".bvec", v_)
        truth = bundles(labels, mean, *[load_scheme("averaged", image.affine)[i] for i in (0, 2)])
        ones = np.argwhere(labels == 1)
        print("%d two-fibre voxels, %d one-fibre voxels\n" % (len(truth), len(ones)))
        print("| data | tool | two-fibre voxels: both bundles found | one-fibre voxels with 0 / 1 / 2 / 3 fibres |\n"
              "| --- | --- | --- | --- |")
        for name, what in (("averaged", "repeats averaged"), ("all", "both repeats, not averaged"),
                           ("first", "one repeat")):
            call(hot, "response", "-i", name + ".nii.gz", "--mask", "mask.nii.gz", "-o", "r.txt", "--quiet")
            call(hot, "peaks", "--method", "signal", "--dwi", name + ".nii.gz", "--mask", "mask.nii.gz", "--response",
                 "r.txt", "-o", "peaks.nii.gz", "--quiet")
            row(what, "hotfiber, signal", count("peaks.nii.gz", truth, ones, 0))
            call(hot, "fit", "-i", name + ".nii.gz", "--mask", "mask.nii.gz", "--response", "r.txt", "-o", "fod.nrrd",
                 "--quiet")
            call(hot, "peaks", "-i", "fod.nrrd", "-o", "peaks.nii.gz", "--quiet")
            row(what, "hotfiber, maxima of the fod", count("peaks.nii.gz", truth, ones, 0))
            if options.no_peers:
                continue
            tried = []
            grad = ("-fslgrad", name + ".bvec", name + ".bval", "-quiet", "-force", "-mask", "mask.nii.gz")
            for lmax in (6, 8, 10):
                call("dwi2response", "tournier", name + ".nii.gz", "m.txt", "-lmax", lmax, *grad)
                call("dwi2fod", "csd", name + ".nii.gz", "m.txt", "fod.mif", "-lmax", lmax, *grad)
                call("sh2peaks", "fod.mif", "m.nii.gz", "-num", 5, "-quiet", "-force")
                tried += [(count("m.nii.gz", truth, ones, t), lmax, t) for t in (0.1, 0.2, 0.3, 0.4, 0.5)]
            best, lmax, t = max(tried, key=lambda x: (x[0][0], x[0][1][1]))
            row(what, "MRtrix csd, most two-fibre voxels of 15 settings (lmax %d, threshold %g)" % (lmax, t), best)
            best, lmax, t = max(tried, key=lambda x: x[0][1][1])
            row(what, "MRtrix csd, most one-fibre voxels (lmax %d, threshold %g)" % (lmax, t), best)


if __name__ == "__main__":
    main()
