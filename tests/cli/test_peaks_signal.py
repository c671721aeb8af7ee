"""hotfiber peaks --method signal: directions, maps, noise maps, tensors as a mask, refusals."""
import json

import nibabel
import numpy as np

from cli import check, end, hotfiber, works


def score(peaks):
    done = works("score", "-i", peaks, "--truth", "truth.nrrd", "--json")
    return json.loads(done.stdout)["mean_solved"]


def refused(must, *arguments):
    done = hotfiber("peaks", "--method", "signal", *arguments)
    lines = done.stderr.strip().split("\n")
    check(done.returncode in (1, 2) and must in lines[-1],
          f"{arguments}: {done.returncode}: {done.stderr!r} speaks not of {must}")


works("phantom", "-o", "dwi.nii.gz", "--truth", "truth.nrrd", "--voxels", 40, "--snr", 30, "--seed", 5, "--device",
      "cpu")
works("peaks", "--method", "signal", "--dwi", "dwi.nii.gz", "-o", "all.nrrd", "--probability", "p.nii.gz", "--margin",
      "m.nii", "--residual", "r.nii.gz", "--width", "w.nii", "--flags", "f.nii", "--quiet")
check(score("all.nrrd") >= 0.95, f"score {score('all.nrrd')}")
p = nibabel.load("p.nii.gz").get_fdata()
check(p.shape == (40, 6, 1, 4) and np.all(np.abs(p.sum(-1) - 1) < 1e-4), "probabilities")
check((p[:, 0, 0, 1] > 0.5).mean() > 0.9 and (p[:, 5, 0, 0] > 0.5).mean() > 0.9,
      "probabilities of single and isotropic voxels")
check(0.8 < nibabel.load("r.nii.gz").get_fdata().mean() < 1.1, "residual in units of the noise")
check(np.all(nibabel.load("m.nii").get_fdata() >= 0) and np.all(nibabel.load("f.nii").get_fdata() == 0),
      "margin, flags")

# a noise map equals its number
noise = nibabel.Nifti1Image(np.full((40, 6, 1), 1000 / 30, np.float32), nibabel.load("dwi.nii.gz").affine)
nibabel.save(noise, "noise.nii.gz")
works("response", "-i", "dwi.nii.gz", "-o", "response.txt", "--quiet")
given = ("--dwi", "dwi.nii.gz", "--response", "response.txt", "--quiet")
works("peaks", "--method", "signal", *given, "-o", "number.nrrd", "--sigma", 1000 / 30)
works("peaks", "--method", "signal", *given, "-o", "map.nrrd", "--sigma", "noise.nii.gz")
check(abs(score("number.nrrd") - score("map.nrrd")) <= 0.02, "a noise map and its number differ")
works("peaks", "--method", "signal", *given, "-o", "one.nii.gz", "--max_fibers", 1)
check(nibabel.load("one.nii.gz").shape[-1] == 3, "one fibre")

# the response by the diffusivities that the phantom has, and by others
for name, values in (("right", "1.7e-3,0.3e-3"), ("wrong", "1e-3,0.6e-3")):
    works("peaks", "--method", "signal", "--dwi", "dwi.nii.gz", "--diffusivities", values, "-o", name + ".nrrd",
          "--quiet")
check(score("right.nrrd") >= 0.95 > score("wrong.nrrd"), f"{score('right.nrrd')}, {score('wrong.nrrd')}")
refused("--response", *given, "--diffusivities", "1.7e-3,0.3e-3", "-o", "x.nrrd")

# tensors say where; piped too
works("fit", "-i", "dwi.nii.gz", "-o", "tensors.nrrd", "--order", 4, "--response", "response.txt", "--quiet")
works("peaks", "--method", "signal", "-i", "tensors.nrrd", "--dwi", "dwi.nii.gz", "-o", "again.nrrd", "--quiet")
check(score("again.nrrd") >= 0.95, "with the tensors' response")
with open("tensors.nrrd", "rb") as file:
    piped = works("peaks", "--method", "signal", "-i", "-", "--dwi", "dwi.nii.gz", "--quiet", stdin=file.read())
with open("piped.nrrd", "wb") as file:
    file.write(piped.stdout)
check(abs(score("piped.nrrd") - score("again.nrrd")) < 1e-9, "piped")

# fibres that differ: fractions are relative to the average one, which the response's file and the tensors' say
works("phantom", "-o", "mixed.nii.gz", "--truth", "mixed_truth.nii.gz", "--layout", "mixture", "--tissue", "noddi",
      "--dispersion", "0-20", "--grey", "0-.2", "-b", "1000,3000", "--directions", 45, "--snr", 25, "--size", "20,20,2",
      "--seed", 61, "--quiet")
works("response", "-i", "mixed.nii.gz", "-o", "typical.txt", "--quiet")
with open("typical.txt") as file:
    lines = file.readlines()
typical = [float(line.split(":")[1]) for line in lines if line.startswith("# Typical fibre:")]
check(len(typical) == 1 and .8 < typical[0] < .97, f"typical: {typical}")
noise = [float(line.split(":")[1]) for line in lines if line.startswith("# Noise over b=0:")]
check(len(noise) == 1 and .03 < noise[0] < .05, f"noise of the response's voxels: {noise}, the data have .04")
# of more voxels the best are better, but the average fibre is the same: its strength, what there is in degree 2
strength = {}
for voxels, size in ((3000, "20,15,10"), (19200, "40,40,12")):
    works("phantom", "-o", "many.nii.gz", "--truth", "many_truth.nii.gz", "--layout", "mixture", "--tissue", "noddi",
          "--grey", "0-.2", "-b", "1000,3000", "--directions", 32, "--snr", 25, "--size", size, "--seed", 61, "--quiet")
    works("response", "-i", "many.nii.gz", "-o", "many.txt", "--quiet")
    with open("many.txt") as file:
        many = file.readlines()
    rows = [[float(x) for x in line.split()] for line in many if not line.startswith("#")]
    found = [float(line.split(":")[1]) for line in many if line.startswith("# Typical fibre:")][0]
    strength[voxels] = [found * row[1] / rows[0][0] for row in rows[1:]]
gain = [many / few - 1 for few, many in zip(strength[3000], strength[19200])]
check(max(map(abs, gain)) < .03, f"the average fibre of 19200 voxels compared with that of 3000: {gain}")
with open("without.txt", "w") as file:
    file.writelines(line for line in lines if not line.startswith("# Typical"))
works("fit", "-i", "mixed.nii.gz", "-o", "typical.nrrd", "--order", 4, "--response", "typical.txt", "--quiet")
with open("noisy.txt", "w") as file:
    file.writelines(line.replace(line.split()[-1], "0.2") if line.startswith("# Noise") else line for line in lines)
FILES = {"data": (), "file": ("--response", "typical.txt"), "without": ("--response", "without.txt"),
         "noisy": ("--response", "noisy.txt"),
         "tensors": ("-i", "typical.nrrd")}
for name, more in FILES.items():
    works("peaks", "--method", "signal", "--dwi", "mixed.nii.gz", *more, "-o", name + ".nii.gz", "--isotropic",
          name + "_i.nii.gz", "--free_water", name + "_w.nii.gz", "--fraction_sd", name + "_sd.nii.gz", "--quiet")
load = lambda name: nibabel.load(name + ".nii.gz").get_fdata().reshape(800, -1)  # noqa: E731
lengths = {name: np.linalg.norm(load(name).reshape(800, 3, 3), axis=-1) for name in (*FILES, "mixed_truth")}
for name in FILES:
    total = lengths[name].sum(1) + load(name + "_i")[:, 0] + load(name + "_w")[:, 0]
    check(np.abs(total - 1).max() < 1e-4, f"{name}: parts add to {total.min()} to {total.max()}")
check(np.abs(lengths["data"] - lengths["file"]).max() < 1e-4, "the response's file gives other fractions")
check(np.abs(lengths["data"] - lengths["tensors"]).max() < 1e-4, "the tensors' response gives other fractions")
some = (lengths["without"][:, 0] > 0) & (lengths["data"].sum(1) < .999)
check(some.sum() > 300 and np.abs(lengths["without"] / typical[0] - lengths["data"])[some].max() < 1e-4,
      f"a response without data: {np.abs(lengths['without'] / typical[0] - lengths['data'])[some].max()}")
check(np.abs(lengths["data"] - lengths["noisy"]).max() > .05, "the noise of the response's voxels is not heeded")
deviations = load("data_sd")
check(np.allclose(load("without_sd") / typical[0], deviations, atol=1e-5, equal_nan=True), "deviations of fractions")
check(np.array_equal(np.isnan(deviations), lengths["data"] == 0), "deviations of absent fibres, or none of others")
one = ((lengths["mixed_truth"] > 0).sum(1) == 1) & ((lengths["data"] > 0).sum(1) == 1)
bias = [(lengths[name] - lengths["mixed_truth"])[one].sum(1).mean() for name in ("data", "without")]
check(abs(bias[0]) < abs(bias[1]) - .02, f"single fibres: {bias}")

done = hotfiber("peaks", "--method", "signal", "-o", "x.nrrd")
check(done.returncode == 2 and "--dwi FILE is needed" in done.stderr, "signal without --dwi")
refused("not 5", *given, "--max_fibers", 5, "-o", "x.nrrd")
refused("not 5", *given, "--order", 5, "-o", "x.nrrd")
refused("sigma", *given, "--sigma", "-3", "-o", "x.nrrd")
refused("both name 'x.nrrd'", *given, "--margin", "x.nrrd", "-o", "x.nrrd")
refused("truth.nrrd", *given, "--sigma", "truth.nrrd", "-o", "x.nrrd")
refused("none.nrrd", "--dwi", "none.nrrd", "-o", "x.nrrd")
done = hotfiber("peaks", "--method", "maxima", "--dwi", "dwi.nii.gz", "-i", "tensors.nrrd", "-o", "x.nrrd")
check(done.returncode == 2 and "--dwi" in done.stderr, "maxima with --dwi")
end()
