"""Maxima of fODFs, file to file: hotfiber peaks compared with MRtrix's sh2peaks and odx (PyPI), one thread each, in
turns.

    python3 bench/accuracy/peaks_speed.py [--size 48 48 20] [--rounds 3] [--python build/tests-python/bin/python]

Prints voxels per second of CPU time (user and system) of whole processes, the ratio to hotfiber's in every round, and
how far their directions are from hotfiber's. The images: fODFs of lmax 8 of a phantom, one to three fibres and noise,
uncompressed NIfTI. odx reads with nibabel, finds and writes .odx; without the time of `import odx, nibabel`."""
import argparse
import os
import resource
import subprocess
import sys
import tempfile

import nibabel
import numpy as np

HOTFIBER = os.path.abspath(os.environ.get("HOTFIBER", "build/bin/hotfiber"))
BY_ODX = """
import sys, numpy as np, nibabel, odx
if sys.argv[1] == "-":
    sys.exit()
image = nibabel.load(sys.argv[1])
sh = np.asarray(image.dataobj)
config = odx.PeakFinderConfig(npeaks=3, relative_peak_threshold=.1, min_separation_angle_deg=25.)
made = odx.from_sh_coefficients(sh, np.ones(sh.shape[:3], np.uint8), image.affine, basis="tournier07", sh_order=8,
                                legacy=False, peak_config=config)
odx.save(sys.argv[2], made)
"""
ONE = {**os.environ, "OMP_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def seconds(*command):
    """CPU time of a process that must succeed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(list(map(str, command)), env=ONE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit("%s: %s" % (command[0], done.stderr.decode()))
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def make_image(size):
    """fODFs as fit and export make them of noisy data, as one image; 8,000 that repeat."""
    voxels = int(np.prod(size))
    for command in (
            ["phantom", "--layout", "mixture", "--voxels", 8000, "-b", 3000, "--snr", 30, "-o", "dwi.nrrd"],
            ["fit", "-i", "dwi.nrrd", "--order", 8, "-o", "t.nrrd"],
            ["export", "-i", "t.nrrd", "--format", "sh", "-o", "all.nii"]):
        seconds(HOTFIBER, *command, "--quiet")
    sh = nibabel.load("all.nii").get_fdata(dtype=np.float32).reshape(-1, 45)
    sh = np.resize(sh, (voxels, 45)).reshape(*size, 45)
    nibabel.save(nibabel.Nifti1Image(sh, np.diag([2., 2, 2, 1])), "sh.nii")
    return voxels


def off(name, found):
    """Degrees between the first directions of two images."""
    other = np.nan_to_num(nibabel.load(name).get_fdata())[..., :3].reshape(-1, 3)
    mine = np.nan_to_num(found[..., :3].reshape(-1, 3))
    both = mine.any(1) & other.any(1)
    dot = np.abs((mine[both] * other[both]).sum(1)) / np.linalg.norm(mine[both], axis=1) / np.linalg.norm(
        other[both], axis=1)
    return np.degrees(np.arccos(np.minimum(dot, 1)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--size", type=int, nargs=3, default=(48, 48, 20))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--python", default="build/tests-python/bin/python", help="one that has odx and nibabel")
    given = parser.parse_args()
    python = os.path.abspath(given.python)
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        voxels = make_image(given.size)
        programs = {
            "hotfiber": lambda: seconds(HOTFIBER, "peaks", "-i", "sh.nii", "-o", "hot.nii", "--threads", 1, "--device",
                                        "cpu", "--quiet"),
            "sh2peaks": lambda: seconds("sh2peaks", "-num", 3, "sh.nii", "mrtrix.nii", "-nthreads", 0, "-quiet",
                                        "-force"),
            "odx": lambda: seconds(python, "-c", BY_ODX, "sh.nii", "o.odx") - seconds(python, "-c", BY_ODX, "-", "-")}
        print("%d voxels, lmax 8, %.0f MB" % (voxels, os.path.getsize("sh.nii") / 1e6))
        for n in range(given.rounds):
            times = {name: run() for name, run in programs.items()}
            print("round %d: " % (n + 1) + ", ".join("%s %.3g voxels/s (%.1f)" % (
                name, voxels / time, time / times["hotfiber"]) for name, time in times.items()), flush=True)
        angles = off("mrtrix.nii", nibabel.load("hot.nii").get_fdata())
        print("first directions: sh2peaks' median %.3f, 99th percentile %.2f degrees off" % (
            np.median(angles), np.percentile(angles, 99)))
        os.chdir("/")


if __name__ == "__main__":
    main()
