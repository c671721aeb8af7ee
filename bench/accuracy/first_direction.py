#!/usr/bin/python3
"""First directions compared with MRtrix's msmt_csd: on a human scan, and on phantoms with the same table and noise,
where the truth shows which of the two is off.

    bench/accuracy/first_direction.py [--hotfiber FILE] [--data FOLDER] [--seed N] [--no-phantoms]

Voxels whose first peak in MRtrix exceeds .5 (of the phantoms: half the 95th percentile); angles in degrees, medians:
between the first directions; from MRtrix's first to the nearest of ours; on phantoms of either to the truth.
The folder holds dwi.nii.gz, .bval, .bvec and mask.nii.gz. Needs mrtrix3, python3-nibabel, python3-numpy and
python3-scipy."""
import os
import tempfile

import nibabel
import numpy as np

import tissue

QUIET = ("-quiet", "-force", "-nthreads", "1")


def angle(a, b):
    lengths = np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1)
    return np.degrees(np.arccos(np.clip(np.abs((a * b).sum(-1)) / np.maximum(lengths, 1e-12), 0, 1)))


def both(hot, dwi, mask, table, small):
    """Directions of MRtrix and of hotfiber, [voxel, fibre, xyz], longest first."""
    shares = ("-erode", "0", "-sfwm", "5", "-gm", "20", "-csf", "30") if small else ("-erode", "0")
    tissue.call("dwi2response", "dhollander", dwi, "wm.txt", "gm.txt", "csf.txt", "-mask", mask, *table, *shares,
                *QUIET)
    tissue.call("dwi2fod", "msmt_csd", dwi, "wm.txt", "wm.mif", "gm.txt", "gm.mif", "csf.txt", "csf.mif", "-mask", mask,
                *table, *QUIET)
    tissue.call("sh2peaks", "wm.mif", "m.nii.gz", "-num", "5", *QUIET)
    tissue.call(hot, "peaks", "--method", "signal", "--dwi", dwi, "--mask", mask, "-o", "p.nii.gz", "--quiet")
    return tissue.in_order(tissue.vectors("m.nii.gz")), tissue.in_order(tissue.vectors("p.nii.gz"))


def nearest(first, others):
    """From one direction a voxel to the nearest of others, of which absent ones are 0."""
    return (angle(first, others) + 1e3 * (np.linalg.norm(others, axis=-1) == 0)).min(1)


def line(name, number, kept, mrtrix, ours, truth=None):
    row = [np.median(angle(ours[kept, 0], mrtrix[kept, 0])), np.median(nearest(mrtrix[:, :1], ours)[kept])]
    if truth is not None:
        row += [np.median(nearest(found[:, :1], truth)[kept]) for found in (ours, mrtrix)]
    print("| %s | %s | %d | %s |" % (name, number, kept.sum(), " | ".join("%.2f" % r for r in row)))


def main():
    parser = tissue.command_line(__doc__)
    parser.add_argument("--data", default=os.path.join(tissue.ROOT, "..", "shared", "data", "human_2shell"))
    parser.add_argument("--seed", type=int, default=92001)
    parser.add_argument("--no-phantoms", action="store_true")
    options = parser.parse_args()
    hot, data = options.hotfiber, os.path.abspath(options.data)
    length = lambda v: np.linalg.norm(v, axis=-1)  # noqa: E731
    print("| data | fibres | voxels | firsts | MRtrix's first to the nearest of ours | ours to the truth | "
          "MRtrix to the truth |\n|" + " --- |" * 7)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        table = ("-fslgrad", data + "/dwi.bvec", data + "/dwi.bval")
        mrtrix, ours = both(hot, data + "/dwi.nii.gz", data + "/mask.nii.gz", table, False)
        strong = length(mrtrix[:, 0]) > .5
        white = strong & (length(ours[:, 0]) > 0)
        print("without a fibre: %d of %d" % ((strong & ~white).sum(), strong.sum()))
        found = (length(ours) > 0).sum(1)
        line("human", "all", white, mrtrix, ours)
        for k in (1, 2, 3):
            line("human", "%d found" % k, white & (found == k), mrtrix, ours)
        for dispersion in () if options.no_phantoms else ("0-20", "5-25"):
            tissue.call(hot, "phantom", "-o", "d.nii.gz", "--truth", "t.nii.gz", "--layout", "mixture", "--tissue",
                        "noddi", "--dispersion", dispersion, "--csf", "0-.2", "--grey", "0-.2", "--weights", ".4-1",
                        "--shares", ".1,.3,.45,.15", "--bval", data + "/dwi.bval", "--bvec", data + "/dwi.bvec",
                        "--snr", 42, "--size", "30,30,2", "--seed", options.seed, "--s0", 500, "--quiet")
            image = nibabel.load("d.nii.gz")
            nibabel.save(nibabel.Nifti1Image(np.ones(image.shape[:3], "u1"), image.affine), "mask.nii.gz")
            truth = tissue.in_order(tissue.vectors("t.nii.gz"))
            mrtrix, ours = both(hot, "d.nii.gz", "mask.nii.gz", ("-fslgrad", "d.bvec", "d.bval"), True)
            white = length(mrtrix[:, 0]) > .5 * np.percentile(length(mrtrix[:, 0]), 95)
            white &= (length(truth[:, 0]) > 0) & (length(ours[:, 0]) > 0)
            for k in (1, 2, 3):
                line("phantom, dispersion " + dispersion, "%d true" % k, white & ((length(truth) > 0).sum(1) == k),
                     mrtrix, ours, truth)


if __name__ == "__main__":
    main()
