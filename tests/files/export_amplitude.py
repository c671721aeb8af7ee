"""Amplitudes on the scale of MRtrix's fODF: `--amplitude fod` and the output peaks_fod against dwi2fod csd and sh2peaks
with the same response, for single fibres of any fraction; tckgen tracks them with its usual cutoff."""
import os
import shutil
import subprocess

import nibabel
import numpy as np

from _export import HOTFIBER, export, run
from counted import check, end

if not shutil.which("dwi2fod"):
    print("skipped: dwi2fod (MRtrix) is not installed")
    raise SystemExit(77)
os.environ["MRTRIX_RNG_SEED"] = "1"  # tckgen's seeds


def load(path):
    image = nibabel.load(path)
    values = np.nan_to_num(image.get_fdata()).reshape(image.shape[:3] + (-1, 3))
    return values, np.linalg.norm(values, axis=-1)


def refused(word, *arguments):
    done = subprocess.run([HOTFIBER, "export", *arguments], capture_output=True, text=True)
    check(done.returncode == 1 and word in done.stderr and done.stderr.count("\n") == 1, f"{arguments}: {done.stderr}")


for b, snr in ((3000, 30), (1000, 25)):
    name = f"b{b}"
    run(HOTFIBER, "phantom", "--single", "--voxels", "200", "--csf", "0-.8", "-b", b, "--snr", snr, "-o",
        name + ".nii.gz", "--truth", "truth.nrrd", "--quiet")
    image = nibabel.load(name + ".nii.gz")
    bright = np.linspace(.6, 1.4, image.shape[0])[:, None, None, None]  # what T2, proton density and coils do
    nibabel.save(nibabel.Nifti1Image((image.get_fdata() * bright).astype(np.float32), image.affine), name + ".nii.gz")
    run(HOTFIBER, "run", "-i", name + ".nii.gz", "-o", name, "--outputs", "peaks_nrrd,peaks_fod,response", "--quiet")
    with open("one.txt", "w") as file:  # csd wants the row of its shell alone
        file.write(open(name + "/response.txt").read().strip().split("\n")[-1] + "\n")
    run("dwi2fod", "-quiet", "-force", "csd", "-fslgrad", name + ".bvec", name + ".bval", name + ".nii.gz", "one.txt",
        "fod.nii")
    run("sh2peaks", "-quiet", "-force", "fod.nii", "-num", "1", "theirs.nii")
    theirs, their_length = load("theirs.nii")
    ours, our_length = load(name + "/peaks_fod.nii.gz")
    near = np.abs((ours[..., 0, :] * theirs[..., 0, :]).sum(-1)) > .95 * our_length[..., 0] * their_length[..., 0]
    one = ((our_length > 0).sum(-1) == 1) & near
    ratio = our_length[one][:, 0] / their_length[one][:, 0]
    spread = np.percentile(ratio, [10, 50, 90])
    check(one.sum() > 80 and abs(spread[1] - 1) < .06 and spread[0] > .8 and spread[2] < 1.25,
          f"{name}: ours over MRtrix's {spread}, {one.sum()} voxels")
    # The command gives the same as the run; without the data every voxel is as bright as the response.
    export(name + "/peaks.nrrd", "e.nii.gz", "--format", "peaks", "--amplitude", "fod", "--dwi", name + ".nii.gz")
    check(np.allclose(load("e.nii.gz")[1], our_length, rtol=1e-5), f"{name}: export and run")
    export(name + "/peaks.nrrd", "p.nii.gz", "--amplitude", "fod")
    export(name + "/peaks.nrrd", "f.nii.gz")
    export("f.nii.gz", "r.nii.gz", "--amplitude", "fod", "--response", name + "/response.txt")
    plain, fraction, told = load("p.nii.gz")[1], load("f.nii.gz")[1], load("r.nii.gz")[1]
    factor = plain[fraction > 0] / fraction[fraction > 0]
    check(np.ptp(factor) < 1e-4 * factor.mean() and factor.mean() > 1.1, f"{name}: one factor, {factor.mean()}")
    check(np.allclose(plain, told, rtol=1e-5), f"{name}: the response from its file")
    export(name + "/peaks.nrrd", "p.nrrd", "--amplitude", "fraction")
    check(open("p.nrrd", "rb").read() == open(name + "/peaks.nrrd", "rb").read(), "fractions are the default")

refused("--response", "-i", "f.nii.gz", "-o", "x.nii.gz", "--amplitude", "fod")
refused("--amplitude fod", "-i", "f.nii.gz", "-o", "x.nii.gz", "--response", "one.txt")
refused("tensors", "-i", "f.nii.gz", "-o", "x.nii.gz", "--format", "afd_max", "--amplitude", "fod")
check(not os.path.exists("x.nii.gz"), "nothing is written")

# tckgen on directions, and on fixels through fixel2sh, at the cutoff that its fODF algorithms have. On MRtrix's own
# fODF, with the same response, the same seeds find about as many tracks in voxels with fibres.
run(HOTFIBER, "phantom", "--layout", "bundles", "--size", "20,20,6", "-o", "head.nii.gz", "--truth", "truth.nii",
    "--quiet")
run(HOTFIBER, "run", "-i", "head.nii.gz", "-o", "head", "--outputs", "peaks_nrrd,peaks_fod,mask,response", "--quiet")
truth = nibabel.load("truth.nii")  # voxels with a fibre: elsewhere noise has tracks in any fODF
nibabel.save(nibabel.Nifti1Image(truth.get_fdata().any(axis=3).astype(np.uint8), truth.affine), "fibers.nii")
export("head/peaks.nrrd", "fixels", "--amplitude", "fod", "--dwi", "head.nii.gz")
run("fixel2sh", "-quiet", "fixels/amplitude.mif", "fixel_sh.mif", "-lmax", "8")
with open("one.txt", "w") as file:
    file.write(open("head/response.txt").read().strip().split("\n")[-1] + "\n")
run("dwi2fod", "-quiet", "-force", "csd", "-fslgrad", "head.bvec", "head.bval", "head.nii.gz", "one.txt", "fod.nii",
    "-mask", "head/mask.nii.gz")
run("sh2peaks", "-quiet", "-force", "fod.nii", "-num", "3", "theirs.nii")


def count(algorithm, source):
    run("tckgen", "-quiet", "-force", "-algorithm", algorithm, "-cutoff", ".1", "-seed_image", "fibers.nii",
        "-mask", "fibers.nii", "-minlength", "8", "-seeds", "2000", "-nthreads", "0", source, "tracks.tck")
    return len(nibabel.streamlines.load("tracks.tck").streamlines)


# Lobes made of fixels have no noise, and SD_STREAM loses fewer tracks in them than in an fODF.
for algorithm, source, reference, most in (("FACT", "head/peaks_fod.nii.gz", "theirs.nii", 1.25),
                                           ("SD_STREAM", "fixel_sh.mif", "fod.nii", 2)):
    ours, theirs = count(algorithm, source), count(algorithm, reference)
    print(f"{algorithm}: {ours} tracks, {theirs} on MRtrix's fODF")
    check(theirs > 200 and .8 < ours / theirs < most, f"{algorithm}: {ours} tracks, {theirs} on MRtrix's fODF")
end()
