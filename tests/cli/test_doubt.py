"""Doubtful fibres are left out on request: --min_probability and --max_cone. And --denoise changes directions alone."""
import json

import nibabel

from cli import *

works("phantom", "--layout", "mixture", "--size", "12,10,5", "--snr", 15, "-b", 1000, "--directions", 32, "-o",
      "dwi.nii.gz", "--truth", "truth.nii.gz", "--seed", 21, "--quiet")
OUTPUTS = "peaks,nfibers,probability,cone,fraction_sd"


def run(name, *options):
    done = works("run", "-i", "dwi.nii.gz", "-o", name, "--outputs", OUTPUTS, *options)
    load = lambda file: np.asanyarray(nibabel.load(f"{name}/{file}.nii.gz").dataobj)  # noqa: E731
    made = {file: load(file) for file in OUTPUTS.split(",")}
    made["peaks"] = made["peaks"].reshape(made["nfibers"].shape + (-1, 3))
    made["log"] = [line["text"] for line in json.load(open(f"{name}/report.json"))["log"]]
    made["text"] = done.stderr
    return made


def kept(whole, keep):
    """A voxel's fibres for which keep is true, moved to the front; [voxel, fibre, ...]."""
    order = np.argsort(~keep, axis=-1, kind="stable")
    found = {}
    for name in ("peaks", "cone", "fraction_sd"):
        values = whole[name] if name == "peaks" else whole[name][..., None]
        values = np.where(keep[..., None], values, 0)
        found[name] = np.take_along_axis(values, order[..., None], -2).reshape(whole[name].shape)
    found["nfibers"] = keep.sum(-1)
    return found


whole = run("whole")
there = np.linalg.norm(whole["peaks"], axis=-1) > 0
least = np.cumsum(whole["probability"][..., ::-1].astype(float), -1)[..., ::-1][..., 1:]  # of k fibres or more
CUTS = {"p": (["--min_probability", .9], there & (least >= .9)),
        "cone": (["--max_cone", 12], there & (whole["cone"] <= 12)),
        "both": (["--min_probability", .7, "--max_cone", 20], there & (least >= .7) & (whole["cone"] <= 20))}
for name, (options, keep) in CUTS.items():
    cut, wanted = run(name, *options), kept(whole, keep)
    dropped = there.sum() - keep.sum()
    print(f"{name}: {dropped} of {there.sum()} fibres are left out")
    check(20 < dropped < .8 * there.sum(), f"{name}: {dropped} of {there.sum()}")
    for file, values in wanted.items():
        check(np.array_equal(cut[file], values), f"{name}: {file}")
    check(np.array_equal(cut["probability"], whole["probability"]), f"{name}: probabilities stay")
    check(any(f"{dropped} fibres are left out" in line for line in cut["log"]), f"{name}: {cut['log']}")
same = run("none", "--min_probability", 0, "--max_cone", 90)
check(np.array_equal(same["peaks"], whole["peaks"]), "no bound: nothing is left out")

# Files that need neither probabilities nor cones are filtered as well, and parts are as a whole run.
works("run", "-i", "dwi.nii.gz", "-o", "few", "--outputs", "nfibers", *CUTS["both"][0], "--quiet")
few = np.asanyarray(nibabel.load("few/nfibers.nii.gz").dataobj)
check(np.array_equal(few, CUTS["both"][1].sum(-1)), "nfibers alone")
for part in (1, 2):
    works("run", "-i", "dwi.nii.gz", "-o", "parts", "--part", f"{part}/2", "--outputs", OUTPUTS, *CUTS["both"][0],
          "--quiet")
works("merge", "parts", "-o", "merged", "--quiet")
check(open("merged/peaks.nii.gz", "rb").read() == open("both/peaks.nii.gz", "rb").read(), "parts are filtered once")

for options, word in ((["--min_probability", 1.5], "min_probability"), (["--max_cone", 91], "max_cone"),
                      (["--max_cone", 20, "--method", "maxima"], "max_cone")):
    done = hotfiber("run", "-i", "dwi.nii.gz", "-o", "no", *options)
    check(done.returncode in (1, 2) and word in done.stderr and not os.path.exists("no"), f"{options}: {done.stderr}")

# Numbers, probabilities and cones are those of the samples as they came.
works("phantom", "--layout", "bundles", "--size", "14,14,6", "--snr", 12, "-b", 1000, "--directions", 32, "-o",
      "dwi.nii.gz", "--truth", "truth.nii.gz", "--seed", 22, "--quiet")
plain, denoised = run("plain"), run("denoised", "--denoise")
for file in ("nfibers", "probability", "cone", "fraction_sd"):
    check(np.array_equal(plain[file], denoised[file]), f"--denoise: {file} is the original's")
length = [np.linalg.norm(x["peaks"], axis=-1) for x in (plain, denoised)]
check(np.allclose(*length, atol=1e-6), "--denoise: fractions are the original's")
truth = np.asanyarray(nibabel.load("truth.nii.gz").dataobj)[..., :3]
single = (plain["nfibers"] == 1) & (np.linalg.norm(truth, axis=-1) > 0)
off = [np.median(angle(x["peaks"][single][:, 0], truth[single])) for x in (plain, denoised)]
print(f"single fibres are {off[0]:.2f} degrees off, denoised {off[1]:.2f}, in {single.sum()} voxels")
check(single.sum() > 50 and off[1] < off[0], f"--denoise: {off} degrees from the truth")
end()
