"""hotfiber run, end to end: the files, the directions against the truth, frames, threads, refusals."""
import json
import re
import shutil

import nibabel

from cli import *

size = (16, 16, 5)
works("phantom", "--layout", "bundles", "--size", "16,16,5", "--oblique", "--snr", 30, "-o", "dwi.nrrd", "--truth",
      "truth.nrrd", "--seed", 5, "--quiet")
truth, _ = read_nrrd("truth.nrrd")
truth = truth.reshape(3, -1, *size, order="F")
true_count = (np.linalg.norm(truth, axis=0) > 0).sum(0)

# Plain arguments: the input; a second one, or -i as well, is refused.
done = works("run", "dwi.nrrd", "-o", "plain", "--outputs", "peaks", "--no_report")
check(set(os.listdir("plain")) == {"peaks.nii.gz", "report.json"}, f"--no_report: {os.listdir('plain')}")
said = done.stdout.decode()
check("written to plain" in said and "plain/peaks.nii.gz" in said and "report.html" not in said and
      "hotfiber view plain" in said, f"the last lines name what was written: {said}")
for wrong, word in ((["dwi.nrrd", "plain2"], "-o"), (["dwi.nrrd", "-o", "plain2", "-i", "other.nrrd"], "other.nrrd"),
                    (["-i", "dwi.nrrd", "dwi.nrrd", "-o", "plain2"], "dwi.nrrd"),
                    (["plain", "-o", "plain2"], "of a run")):
    done = hotfiber("run", *wrong)
    check(done.returncode in (1, 2) and word in done.stderr and done.stderr.count("\n") == 1 and
          not os.path.exists("plain2"), f"{wrong}: {done.stderr}")
# The folder of a run in the place of one of its files.
works("run", "dwi.nrrd", "-o", "first", "--quiet")
works("run", "dwi.nrrd", "-o", "again", "--mask", "first", "--response", "first", "--quiet")
check(open("again/mask.nii.gz", "rb").read() == open("first/mask.nii.gz", "rb").read(), "--mask FOLDER")
check(json.load(open("again/report.json"))["response"]["from"] == "first/response.txt", "--response FOLDER")
works("export", "first", "-o", "lines.vtp")
works("export", "first/peaks.nrrd", "-o", "lines2.vtp")
check(open("lines.vtp", "rb").read() == open("lines2.vtp", "rb").read(), "export FOLDER")
# A background counts as right: score notes it, unless a mask leaves it out.
for count, words in ((3, False), (11, True)):
    field = np.zeros((count + 10, 1, 1, 3), "f4")
    field[:10, ..., 0] = 1
    nibabel.save(nibabel.Nifti1Image(field, np.eye(4)), "field.nii.gz")
    nibabel.save(nibabel.Nifti1Image(field[..., 0].astype("u1"), np.eye(4)), "inside.nii.gz")
    for mask in [], ["--mask", "inside.nii.gz"]:
        done = works("score", "field.nii.gz", "--truth", "field.nii.gz", "--as", "peaks", *mask)
        check((f"{count} of {count + 10} voxels have no direction in either file" in done.stderr) ==
              (words and not mask), f"{count} empty voxels, {mask}: {done.stderr}")
scores = [works("score", of, "--truth", "truth.nrrd").stdout for of in ("first", "first/peaks.nrrd")]
check(scores[0] == scores[1] and scores[0], f"score FOLDER: {scores}")
os.remove("first/mask.nii.gz")
done = hotfiber("run", "dwi.nrrd", "-o", "third", "--mask", "first")
check(done.returncode == 1 and "of a run without mask.nii.gz" in done.stderr and done.stderr.count("\n") == 1,
      f"a run's folder without a mask: {done.stderr}")
for name in ("plain", "first", "again"):
    shutil.rmtree(name)
for name in ("lines.vtp", "lines2.vtp"):
    os.remove(name)

# A mask of the brain's shape that lies elsewhere, from a wrong affine, is refused; a region of any shape is not.
works("phantom", "--layout", "bundles", "--size", "24,22,14", "-o", "head.nrrd", "--quiet")
works("run", "head.nrrd", "-o", "head", "--outputs", "mask", "--model", "adc", "--no_report", "--quiet")
grid = nibabel.load("head/mask.nii.gz")
inside = np.asarray(grid.dataobj).astype(np.uint8)
moved = grid.affine.copy()
moved[0, 3] += 16
nibabel.save(nibabel.Nifti1Image(inside, moved), "moved.nii")
done = hotfiber("run", "head.nrrd", "-o", "none", "--mask", "moved.nii", "--model", "adc")
check(done.returncode == 1 and "--mask" in done.stderr and "beside the brain" in done.stderr and
      not os.path.exists("none"), f"a mask 16 mm off: {done.stderr}")
half = inside.copy()
half[:12] = 0
nibabel.save(nibabel.Nifti1Image(half, grid.affine), "half.nii")
works("run", "head.nrrd", "-o", "half", "--mask", "half.nii", "--model", "adc", "--outputs", "mask", "--no_report")
for name in ("head", "half"):
    shutil.rmtree(name)
for name in ("head.nrrd", "moved.nii", "half.nii"):
    os.remove(name)

# The files that every run leaves, and those with --outputs all; no more and no less.
works("run", "-i", "dwi.nrrd", "-o", "few", "--quiet")
few = {"peaks.nii.gz", "peaks.nrrd", "nfibers.nii.gz", "mask.nii.gz", "response.txt", "dec.nii.gz", "fibers.png",
       "report.json", "report.html", "b0.nii.gz", "certainty.nii.gz"}
check(set(os.listdir("few")) == few, f"files: {sorted(set(os.listdir('few')) ^ few)}")
before = tree()
done = works("run", "-i", "dwi.nrrd", "-o", "out", "--outputs", "all")
expected = {"tensors.nrrd", "peaks.nrrd", "peaks.nii.gz", "nfibers.nii.gz", "fiber_1.nrrd", "fiber_2.nrrd",
            "fiber_3.nrrd", "dec.nii.gz", "fibers.png", "fibers.vtp", "fixels", "probability.nii.gz", "report.json",
            "report.html", "b0.nii.gz", "certainty.nii.gz", "mask.nii.gz", "response.txt", "amplitude.nii.gz",
            "fa.nii.gz", "md.nii.gz", "afd_total.nii.gz", "afd_max.nii.gz", "afd_sum.nii.gz", "nufo.nii.gz"}
check(set(os.listdir("out")) == expected, f"files: {sorted(set(os.listdir('out')) ^ expected)}")
check({"index.mif", "directions.mif"} <= set(os.listdir("out/fixels")), f"fixels: {os.listdir('out/fixels')}")
check({p for p in tree() if not p.startswith("./out")} == set(before), "no files outside the directory")
for word in ("voxels in the mask", "with one fibre", "with two fibres", "time", "out/fibers.png", "out/report.json"):
    check(word in done.stdout.decode(), f"the table speaks of {word}: {done.stdout.decode()}")
for name in few & expected - {"report.json", "report.html"}:
    check(open(f"few/{name}", "rb").read() == open(f"out/{name}", "rb").read(), f"{name} depends on the others")
quiet = works("run", "-i", "dwi.nrrd", "-o", "quiet", "--quiet", "--method", "maxima")
check(quiet.stdout == b"" and quiet.stderr == "", f"--quiet is quiet: {quiet.stderr}")

# The directions against the truth.
peaks, header = read_nrrd("out/peaks.nrrd")
peaks = peaks.reshape(3, 3, *size, order="F")
length = np.linalg.norm(peaks, axis=0)
count = (length > 0).sum(0)
tensors, tensor_header = read_nrrd("out/tensors.nrrd")
inside = tensors[0] > 0
single = inside & (true_count == 1)
cross = inside & (true_count == 2)
check(single.sum() > 100 and cross.sum() > 10, f"enough to judge by: {single.sum()} single, {cross.sum()} crossing")
error = angle(np.moveaxis(peaks[:, 0], 0, -1), np.moveaxis(truth[:, 0], 0, -1))
check(np.median(error[single]) < 3, f"median error of single fibres {np.median(error[single])} degrees")
check(np.percentile(error[single], 95) < 12, f"95 % of single fibres within {np.percentile(error[single], 95)} degrees")
check((count[single] >= 1).mean() > .98, f"single fibres found: {(count[single] >= 1).mean()}")
wide = cross & (angle(np.moveaxis(truth[:, 0], 0, -1), np.moveaxis(truth[:, 1], 0, -1)) > 60)
check((count[wide] >= 2).mean() > .8,
      f"two fibres found in wide crossings: {(count[wide] >= 2).mean()} of {wide.sum()}")
if wide.any():
    both = [min(max(angle(peaks[(slice(None), a, *v)], truth[(slice(None), 0, *v)]),
                    angle(peaks[(slice(None), 1 - a, *v)], truth[(slice(None), 1, *v)])) for a in (0, 1))
            for v in np.argwhere(wide & (count >= 2))]
    check(np.median(both) < 10, f"median of the worse error in crossings: {np.median(both)}")
check((np.diff(length, axis=0) <= 1e-6).all(), "longest first")
flat = np.moveaxis(peaks, 0, -1)[length > 0]
up = (flat[:, 2] > 0) | ((flat[:, 2] == 0) & ((flat[:, 1] > 0) | ((flat[:, 1] == 0) & (flat[:, 0] > 0))))
check(up.all(), "one hemisphere")
check(np.isfinite(peaks).all() and np.isfinite(tensors).all(), "no NaN")
probability = np.frombuffer(gzip.open("out/probability.nii.gz").read()[352:], "<f4").reshape(*size, 4, order="F")
known = probability.sum(-1) > 0
check(not (known & ~inside).any() and known.sum() > .85 * inside.sum(),
      f"probabilities in {known.sum()} of {inside.sum()} voxels")
check(np.abs(probability[known].sum(-1) - 1).max() < 1e-5 and probability.min() >= 0,
      "probabilities of 0, 1, 2, 3 fibres")
check((probability.argmax(-1) == count)[known].mean() > .95,
      f"the number found is the most probable one: {(probability.argmax(-1) == count)[known].mean()}")

# The report agrees with the files.
report = json.load(open("out/report.json"))
nfibers = nibabel.load("out/nfibers.nii.gz").get_fdata()
check((nfibers == count).all(), "nfibers.nii.gz counts what peaks.nrrd holds")
found = report["counts"]["fibers"]
check([found[n] for n in ("none", "one", "two", "three", "more")] ==
      [int((count[inside] == n).sum()) for n in range(4)] + [0], f"counts: {found}")
check(report["counts"]["flagged"] == 0, f"no voxel of a phantom is flagged: {report['counts']}")
check(sum(found.values()) == report["counts"]["voxels"], "counts add up")
check(report["counts"]["fitted"] == inside.sum(), "fitted")
small = json.load(open("few/report.json")) # of a run that fits no tensors, since no file is made of them
for part in ("settings", "counts", "response", "noise", "input"):
    check(small[part] == report[part], f"{part} depends on the outputs: {small[part]} {report[part]}")
listed = {os.path.join(path, f)[6:] for path, _, files in os.walk("./out") for f in files}
check(set(report["files"]) == listed, f"files listed: {set(report['files']) ^ listed}")
check(report["input"]["size"] == list(size) and report["input"]["file"] == "dwi.nrrd", f"input: {report['input']}")
check(report["settings"]["order"] == 6 and report["settings"]["model"] == "fod", f"settings: {report['settings']}")
check(report["device"]["asked"] == "auto" and report["device"]["used"] in ("cpu", "cuda"),
      f"device: {report['device']}")
check(report["device"]["threads"] >= 1 and report["versions"]["hotfiber"] in works("--version").stdout.decode(),
      "device")
rows = report["response"]["shells"]
check(len(rows) >= 1 and rows[-1]["coefficients"][0] > 0 > rows[-1]["coefficients"][1],
      f"a response like a fibre: {rows}")
check(report["seconds"]["total"] > 0 and report["peak_memory"] > 1e6, "time and memory")
check({"reading", "mask", "response", "fitting", "finding", "writing"} <= set(report["seconds"]),
      str(report["seconds"]))

# The NIfTI says the same in scanner RAS (the phantom's space is LPS: x and y change sign).
image = nibabel.load("out/peaks.nii.gz")
ras = image.get_fdata().reshape(*size, 3, 3)
check(np.allclose(np.moveaxis(ras, (3, 4), (1, 0)) * np.array([-1, -1, 1]).reshape(3, 1, 1, 1, 1), peaks, atol=1e-6),
      "peaks.nii.gz is peaks.nrrd in RAS")
first, _ = read_nrrd("out/fiber_1.nrrd")
check(np.array_equal(first, peaks[:, 0]), "fiber_1.nrrd is the first of peaks.nrrd")

# Any number of threads, the same bytes; --threads 1 twice, too.
every = ["--outputs", "all,maps,peaks_fod", "--quiet"]
works("run", "-i", "dwi.nrrd", "-o", "one", "--threads", 1, *every)
works("run", "-i", "dwi.nrrd", "-o", "four", "--threads", 4, *every)
check(listed < set(json.load(open("one/report.json"))["files"]), "all and more")
for name in sorted(set(json.load(open("one/report.json"))["files"]) - {"report.json", "report.html"}):
    one, four = (open(os.path.join(folder, name), "rb").read() for folder in ("one", "four"))
    check(one == four, f"{name}: 1 and 4 threads differ")

# A run does not overwrite other files, and replaces only its own.
before = tree()
done = hotfiber("run", "-i", "dwi.nrrd", "-o", "out")
check(done.returncode == 1 and "--force" in done.stderr and done.stderr.count("\n") == 1, f"no force: {done.stderr}")
open("out/mine.txt", "w").write("mine")
done = hotfiber("run", "-i", "dwi.nrrd", "-o", "out", "--force")
check(done.returncode == 1 and "mine.txt" in done.stderr, f"a stranger's file: {done.stderr}")
os.remove("out/mine.txt")
done = hotfiber("run", "-i", "out/tensors.nrrd", "-o", "out", "--force")
check(done.returncode == 1 and "out/tensors.nrrd" in done.stderr, f"input inside: {done.stderr}")
check(set(tree()) == set(before), "nothing changed")
works("run", "-i", "dwi.nrrd", "-o", "out", "--force", "--order", 4, "--max_fibers", 2, "--quiet", "--outputs",
      "all")
check(set(os.listdir("out")) == expected - {"fiber_3.nrrd"}, f"replaced as a whole: {os.listdir('out')}")
check(set(tree()) - set(before) == set(), "no other files")

# Usage.
for arguments, word in ((["-i", "dwi.nrrd"], "-o"), (["-i", "dwi.nrrd", "-o", "-"], "directory"),
                        (["-o", "x", "--diffusivities", "1e-3"], "--diffusivities"),
                        (["-o", "x", "--diffusivities", "1e-4,1e-3"], "--diffusivities"),
                        (["-o", "x", "--response", "f", "--diffusivities", "1e-3,1e-4"], "--response"),
                        (["-o", "x", "--outputs", "peaks,pekas"], "'pekas'"),
                        (["-o", "x", "--outputs", "noise"], "--denoise"),
                        (["-o", "x", "--outputs", "response", "--model", "adc"], "fod"),
                        (["-o", "x", "--outputs", "probability", "--method", "maxima"], "signal")):
    done = hotfiber("run", *arguments)
    check(done.returncode == 2 and word in done.stderr and done.stderr.count("\n") == 1, f"{arguments}: {done.stderr}")

# sshopm: 128 starts by default, which are in the report.
works("run", "-i", "dwi.nrrd", "-o", "s0", "--method", "sshopm", "--quiet")
works("run", "-i", "dwi.nrrd", "-o", "s1", "--method", "sshopm", "--starts", 128, "--shift", "adaptive", "--quiet")
check(open("s0/peaks.nrrd", "rb").read() == open("s1/peaks.nrrd", "rb").read(), "128 starts are the default")
settings = json.load(open("s0/report.json"))["settings"]
check([settings[name] for name in ("method", "starts", "shift")] == ["sshopm", 128, "adaptive"],
      f"{settings}")
works("fit", "-i", "dwi.nrrd", "-o", "s.nrrd", "--quiet")
works("peaks", "-i", "s.nrrd", "-o", "s_peaks.nrrd", "--method", "sshopm", "--quiet")
ours, theirs = read_nrrd("s_peaks.nrrd")[0], read_nrrd("s0/peaks.nrrd")[0]
check(np.array_equal(ours, theirs) and (ours != 0).any(), "run and peaks find the same")
works("run", "-i", "dwi.nrrd", "-o", "s2", "--method", "sshopm", "--starts", 40, "--shift", 2.5, "--quiet")
check(json.load(open("s2/report.json"))["settings"]["shift"] == 2.5, "a shift of one's own")

# From a pipe; other models; a mask; a response from diffusivities.
raw = open("dwi.nrrd", "rb").read()
works("run", "-o", "piped", "--quiet", stdin=raw)
check(open("piped/peaks.nrrd", "rb").read() == open("one/peaks.nrrd", "rb").read(), "a pipe gives the same")
mask = np.zeros(size, np.uint8)
mask[4:12, 4:12, 2] = 1
nibabel.save(nibabel.Nifti1Image(mask, image.affine), "mask.nii.gz")
for model, order in (("adc", 2), ("odf", 4), ("fod", 8)):
    works("run", "-i", "dwi.nrrd", "-o", f"{model}{order}", "--model", model, "--order", order, "--mask", "mask.nii.gz",
          "--quiet", *(["--diffusivities", "1.7e-3,.2e-3"] if model == "fod" else []))
    got, _ = read_nrrd(f"{model}{order}/peaks.nrrd")
    here = (got[:3] != 0).any(0)
    check(here[mask > 0].mean() > .5 and not here[mask == 0].any(), f"{model}: inside the mask alone")
    error = angle(np.moveaxis(got[:3], 0, -1), np.moveaxis(truth[:, 0], 0, -1))[single & here]
    check(np.median(error) < 4, f"{model}: median error {np.median(error)}")

# NRRD with an oblique grid, a measurement frame and the list axis in front, against NIfTI written by nibabel with bvecs
# in FSL's convention: the same directions in the world, both near the truth.
scene = Scene(count=40, b=2500, size=(8, 6, 5), noise=10, seed=3)
turn, _ = np.linalg.qr(np.random.default_rng(7).normal(size=(3, 3)))
turn *= np.linalg.det(turn)
for flip in (1, -1):
    ras = np.hstack([turn @ np.diag([1.5 * flip, 2, 2.5]), [[10], [-20], [5]]])
    frame, _ = np.linalg.qr(np.random.default_rng(9).normal(size=(3, 3)))
    lps = np.diag([-1, -1, 1])
    # The scene's gradients and fibres are meant in LPS here; frame's columns are the measurement frame in LPS.
    write_dwi("oblique.nrrd", scene, affine=lps @ ras, space="left-posterior-superior", frame=frame, list_axis=0)
    affine = np.vstack([ras, [0, 0, 0, 1]])
    nibabel.save(nibabel.Nifti1Image(scene.data.astype(np.float32), affine), "oblique.nii.gz")
    axes = ras[:, :3] / np.linalg.norm(ras[:, :3], axis=0)
    bvec = np.linalg.solve(axes, lps @ scene.gradients.T)
    if np.linalg.det(axes) > 0:
        bvec[0] *= -1
    np.savetxt("oblique.bvec", bvec, "%.12g")
    np.savetxt("oblique.bval", scene.b[None], "%g")
    results = []
    for name in ("oblique.nrrd", "oblique.nii.gz"):
        works("run", "-i", name, "-o", "o", "--force", "--quiet", "--diffusivities", "1.7e-3,.3e-3")
        got = nibabel.load("o/peaks.nii.gz")
        check(np.allclose(got.affine, affine, atol=1e-5), f"{name}: affine")
        results.append(got.get_fdata().reshape(*scene.size, 3, 3))
    nrrd, nifti = results
    check(((nrrd != 0).any(-1) == (nifti != 0).any(-1)).mean() > .99, "NRRD and NIfTI: as many fibres")
    # A peak at the threshold may be there in one and not in the other: 99 % of the first ones say it all.
    first = (nrrd[..., 0, :] != 0).any(-1) & (nifti[..., 0, :] != 0).any(-1)
    apart = angle(nrrd[..., 0, :], nifti[..., 0, :])[first]
    check(np.percentile(apart, 99) < .05, f"NRRD and NIfTI: {np.percentile(apart, 99)} degrees apart")
    error = [angle(nrrd[(*v, 0)], lps @ fibres[0][0]) for v, fibres in scene.fibres.items() if len(fibres) == 1
             and first[v]]
    check(len(error) > 50 and np.median(error) < 3, f"oblique: {np.median(error)} degrees off in {len(error)} voxels")

# Few directions: order 4, said in one line.
fifteen = Scene(count=20)
write_dwi("twenty.nrrd", fifteen)
done = works("run", "-i", "twenty.nrrd", "-o", "twenty", "--diffusivities", "1.7e-3,.3e-3")
check(json.load(open("twenty/report.json"))["settings"]["order"] == 4, "order 4")
check(len([line for line in done.stderr.split("\n") if "order 4" in line]) == 1, f"said in one line: {done.stderr}")

# One file alone, by its own name; a set leaves out what the model does not have.
works("run", "-i", "dwi.nrrd", "-o", "alone", "--outputs", "peaks.nrrd", "--no_report", "--quiet")
check(set(os.listdir("alone")) == {"peaks.nrrd", "report.json"}, f"{os.listdir('alone')}")
works("run", "-i", "dwi.nrrd", "-o", "adc", "--outputs", "maps", "--model", "adc", "--order", 2, "--quiet")
check(set(os.listdir("adc")) == {"mask.nii.gz", "amplitude.nii.gz", "b0.nii.gz", "fa.nii.gz", "md.nii.gz",
                                 "report.json", "report.html"},
      f"{os.listdir('adc')}")
helped = works("run", "--help").stdout.decode()
for name in ("peaks_nrrd", "fa", "afd_total", "nufo", "peaks_fod"):
    check(re.search(rf"^ +{name}  +\S", helped, re.M), f"--help lists {name}")

# A file name that is no UTF-8: JSON is UTF-8 all the same.
name = os.fsdecode(b"caf\xe9.nrrd")
shutil.copy("dwi.nrrd", name)
works("run", "-i", name, "-o", "latin", "--outputs", "peaks.nrrd", "--quiet")
check(json.loads(open("latin/report.json", "rb").read().decode("utf-8"))["input"]["file"] == "caf\ufffd.nrrd", "report")
check(json.loads(works("info", "-i", name, "--json").stdout.decode("utf-8"))["file"] == "caf\ufffd.nrrd", "info --json")
shutil.copy("dwi.nrrd", "caf\u00e9.nrrd")
check(json.loads(works("info", "-i", "caf\u00e9.nrrd", "--json").stdout.decode("utf-8"))["file"] == "caf\u00e9.nrrd",
      "UTF-8 does not change")
end()
