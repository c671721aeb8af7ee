"""Doubt is where people look: pictures and colours fade by certainty.nii.gz, the report counts fibres where few are
expected, --min_probability and --max_cone of run and export leave fibres out, fraction_sd has what fractions cannot
know. And --denoise changes directions alone."""
import json
import shutil

import nibabel

from cli import *

works("phantom", "--layout", "mixture", "--size", "12,10,5", "--snr", 15, "-b", 1000, "--directions", 32, "-o",
      "dwi.nii.gz", "--truth", "truth.nii.gz", "--seed", 21, "--quiet")
OUTPUTS = "peaks,nfibers,probability,cone,fraction_sd,certainty,dec,fa,md,mask"


def run(name, *options):
    done = works("run", "-i", "dwi.nii.gz", "-o", name, "--outputs", OUTPUTS + ",fixels", *options)
    load = lambda file: np.asanyarray(nibabel.load(f"{name}/{file}.nii.gz").dataobj)  # noqa: E731
    made = {file: load(file) for file in OUTPUTS.split(",")}
    made["peaks"] = made["peaks"].reshape(made["nfibers"].shape + (-1, 3))
    made["dec"] = made["dec"].reshape(made["nfibers"].shape + (3,))
    made["log"] = [line["text"] for line in json.load(open(f"{name}/report.json"))["log"]]
    made["text"], made["counts"] = done.stderr, json.load(open(f"{name}/report.json"))["counts"]
    return made


def kept(whole, keep):
    """A voxel's fibres for which keep is true, moved to the front; [voxel, fibre, ...]."""
    order = np.argsort(~keep, axis=-1, kind="stable")
    found = {}
    for name in ("peaks", "cone", "fraction_sd", "certainty"):
        values = whole[name] if name == "peaks" else whole[name][..., None]
        values = np.where(keep[..., None], values, np.nan if name in ("cone", "fraction_sd") else 0)
        found[name] = np.take_along_axis(values, order[..., None], -2).reshape(whole[name].shape)
    found["nfibers"] = keep.sum(-1)
    return found


whole = run("whole")
there = np.linalg.norm(whole["peaks"], axis=-1) > 0
for name in "cone", "fraction_sd":  # 0 would be certain
    check(np.array_equal(np.isnan(whole[name]), ~there), f"{name} is NaN without a fibre, and only there")
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
        check(np.array_equal(cut[file], values, equal_nan=True), f"{name}: {file}")
    check(np.array_equal(cut["probability"], whole["probability"]), f"{name}: probabilities stay")
    check(any(f"{dropped} fibres are left out" in line for line in cut["log"]), f"{name}: {cut['log']}")


def fixels(folder):
    """The data files of a fixel directory, by the places of its index: [voxel, fibre], NaN without a fibre."""
    def data(name):
        text = open(f"{folder}/{name}.mif", "rb").read()
        head = dict(line.split(": ", 1) for line in text[:text.index(b"END")].decode().splitlines()[1:] if ": " in line)
        kind = np.dtype({"UInt32LE": "<u4", "Float32LE": "<f4"}[head["datatype"]])
        return np.frombuffer(text, kind, offset=int(head["file"].split()[1])).reshape(
            [int(n) for n in head["dim"].split(",")], order="F")
    index = data("index")
    found = {}
    for name in ("certainty", "probability", "cone", "amplitude"):
        values, found[name] = data(name), np.full(index.shape[:3] + (3,), np.nan, np.float32)
        check(values.shape == (index[..., 0].sum(), 1, 1), f"{folder}: {name}: {values.shape}")
        for k in range(3):
            here = index[..., 0] > k
            found[name][here, k] = values[index[here][:, 1] + k, 0, 0]
    return found


# Fixels carry what is known of each: in run, where fibres are left out, and in export of the folder.
works("export", "whole", "-o", "whole_fixels", "--format", "fixels", "--quiet")
works("export", "whole", "-o", "cone_fixels", "--format", "fixels", "--quiet", *CUTS["cone"][0])
for folder, of, keep in (("whole/fixels", whole, there), ("whole_fixels", whole, there),
                         ("cone/fixels", kept(whole, CUTS["cone"][1]), CUTS["cone"][1]),
                         ("cone_fixels", kept(whole, CUTS["cone"][1]), CUTS["cone"][1])):
    has, each = np.arange(3) < keep.sum(-1)[..., None], np.argsort(~keep, axis=-1, kind="stable")
    of = dict(of, probability=np.take_along_axis(least, each, -1), amplitude=np.linalg.norm(of["peaks"], axis=-1))
    for name, values in fixels(folder).items():
        check(np.allclose(values, np.where(has, of[name], np.nan), atol=1e-6, equal_nan=True), f"{folder}: {name}")
check(set(os.listdir("whole/fixels")) == {f"{name}.mif" for name in (
    "index", "directions", "amplitude", "certainty", "probability", "cone")}, f"{os.listdir('whole/fixels')}")
works("run", "dwi.nii.gz", "-o", "maxima", "--method", "maxima", "--outputs", "fixels", "--quiet")
check(set(os.listdir("maxima/fixels")) == {"index.mif", "directions.mif", "amplitude.mif"}, "maxima: no certainty")
if shutil.which("fixel2voxel"):  # MRtrix reads them as fixel data files of this directory
    for name, operation in (("cone", "max"), ("probability", "min"), ("certainty", "mean")):
        done = subprocess.run(["fixel2voxel", "-quiet", "-force", f"whole/fixels/{name}.mif", operation, "m.nii"])
        check(done.returncode == 0, f"fixel2voxel of {name}")
        theirs, mine = np.asanyarray(nibabel.load("m.nii").dataobj), fixels("whole/fixels")[name][there.any(-1)]
        mine = {"max": np.nanmax, "min": np.nanmin, "mean": np.nanmean}[operation](mine, -1)
        check(np.allclose(theirs[there.any(-1)], mine, atol=1e-4), f"fixel2voxel {operation} of {name}")
same = run("none", "--min_probability", 0, "--max_cone", 90)
check(np.array_equal(same["peaks"], whole["peaks"]), "no bound: nothing is left out")

# The same cuts of the folder of a whole run by export; a file, or a folder without the maps, is refused.
for name, (options, _) in CUTS.items():
    works("export", "whole", "-o", f"{name}.nii.gz", "--format", "peaks", "--quiet", *options)
    cut, wanted = (np.asanyarray(nibabel.load(path).dataobj) for path in (f"{name}.nii.gz", f"{name}/peaks.nii.gz"))
    check(np.array_equal(cut, wanted), f"export: {name}")
    works("export", "whole", "-o", f"{name}.vtp", "--quiet", *options)
works("run", "dwi.nii.gz", "-o", "plain_run", "--quiet")
files = set(os.listdir("plain_run"))
check("certainty.nii.gz" in files and not {"probability.nii.gz", "cone.nii.gz"} & files, f"default: {files}")
for options, words in ((["whole/peaks.nii.gz", "--max_cone", 15], ("max_cone", "is a file")),
                       (["plain_run", "--max_cone", 15], ("max_cone", "lacks cone;", "--outputs default,cone")),
                       (["plain_run", "--min_probability", .5], ("min_probability", "lacks probability;")),
                       (["plain_run", "--min_probability", .5, "--max_cone", 15],
                        ("lacks probability,cone;", "--outputs default,probability,cone")),
                       (["whole", "--min_probability", 1.5], ("min_probability", "1.5"))):
    done = hotfiber("export", *options, "-o", "no.vtp")
    check(done.returncode in (1, 2) and not os.path.exists("no.vtp") and all(word in done.stderr for word in words),
          f"export {options}: {done.stderr}")

# Certainty: the probability of so many fibres, times that of a direction within 15 degrees by a normal distribution
# with 95 % in the cone. At least so many fibres are right: errors are less spread than normal ones. dec is faded.
within = 1 - 20.0 ** -(15 / np.maximum(whole["cone"].astype(float), 1e-9)) ** 2
wanted = np.where(there, least * within, 0)
check(np.abs(whole["certainty"] - wanted).max() < 1e-5, "certainty: its formula")
check(np.array_equal(np.asanyarray(nibabel.load("plain_run/certainty.nii.gz").dataobj), whole["certainty"]),
      "certainty: the same without cones among the outputs")
check(np.abs(whole["dec"] - (np.abs(whole["peaks"]) * whole["certainty"][..., None]).sum(-2)).max() < 1e-6,
      "dec is faded")
truth = np.asanyarray(nibabel.load("truth.nii.gz").dataobj)
truth = truth.reshape(truth.shape[:3] + (-1, 3))
near = np.stack([np.where((np.linalg.norm(truth[..., t, :], axis=-1) > 0)[..., None],
                          angle(whole["peaks"], truth[..., t, None, :]), 90) for t in range(truth.shape[-2])], -1)
right, said = (near.min(-1) <= 15)[there], whole["certainty"][there]
for low, high in ((0, .5), (.5, .9), (.9, 1.01)):
    mine = (said >= low) & (said < high)
    print(f"certainty {low} to {high}: {said[mine].mean():.3f} stated, {right[mine].mean():.3f} right, {mine.sum()}")
    # three standard errors, and .03: what P(k) may be off by
    check(mine.sum() > 40 and -.03 - 1.5 / mine.sum() ** .5 < right[mine].mean() - said[mine].mean() < .3,
          f"certainty {low} to {high}: {said[mine].mean()} stated, {right[mine].mean()} right")

# report.json counts fibres in voxels like CSF and like grey matter, by the maps MD and FA.
inside, md, fa = whole["mask"] > 0, whole["md"].astype(float), whole["fa"].astype(float)
csf, grey = inside & (md > 2e-3), inside & (md > 0) & (md <= 2e-3) & (fa < .15)
counted = {"voxels": inside.sum(), "b": 1000, "csf": csf.sum(), "csf_with_fibers": (whole["nfibers"][csf] > 0).sum(),
           "grey": grey.sum(), "grey_with_two": (whole["nfibers"][grey] > 1).sum()}
check(whole["counts"]["tissues"] == counted, f"tissues: {whole['counts']['tissues']}, not {counted}")
check(counted["csf"] > 5 and counted["grey"] > 5, f"tissues: {counted}")
page = open("plain_run/report.html").read()
check("voxels like CSF" in page and "That is more than in good scans" not in page, "the page: nothing odd")
check("fainter" in page, "the page: fading is explained")

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
    check(np.array_equal(plain[file], denoised[file], equal_nan=True), f"--denoise: {file} is the original's")
length = [np.linalg.norm(x["peaks"], axis=-1) for x in (plain, denoised)]
check(np.allclose(*length, atol=1e-6), "--denoise: fractions are the original's")
truth = np.asanyarray(nibabel.load("truth.nii.gz").dataobj)[..., :3]
single = (plain["nfibers"] == 1) & (np.linalg.norm(truth, axis=-1) > 0)
off = [np.median(angle(x["peaks"][single][:, 0], truth[single])) for x in (plain, denoised)]
print(f"single fibres are {off[0]:.2f} degrees off, denoised {off[1]:.2f}, in {single.sum()} voxels")
check(single.sum() > 50 and off[1] < off[0], f"--denoise: {off} degrees from the truth")

# Much water with a little of a fibre in many voxels: the page says that this is more than usual. Above b=1500 CSF and
# grey matter are not told apart, and with several shells a line names msmt.
works("phantom", "--layout", "mixture", "--size", "12,12,6", "--snr", 60, "-b", 1000, "--directions", 32, "-o",
      "dwi.nii.gz", "--truth", "truth.nii.gz", "--seed", 25, "--quiet")
image = nibabel.load("dwi.nii.gz")
b, bvec = np.loadtxt("dwi.bval"), np.loadtxt("dwi.bvec")
data = np.asanyarray(image.dataobj).astype(np.float32)
mixed = 1000 * (.87 * np.exp(-b * 3e-3) + .13 * np.exp(-b * (.3e-3 + 1.4e-3 * bvec[2] ** 2)))
data[:, :6] = mixed + np.random.default_rng(1).normal(0, 10, data[:, :6].shape)
nibabel.save(nibabel.Nifti1Image(data, image.affine), "mixed.nii.gz")
np.savetxt("mixed.bval", b[None], "%g")
np.savetxt("mixed.bvec", bvec, "%.8f")
told = works("run", "mixed.nii.gz", "-o", "mixed").stderr
tissues = json.load(open("mixed/report.json"))["counts"]["tissues"]
check(tissues["csf"] > 300 and tissues["csf_with_fibers"] > .9 * tissues["csf"], f"mixed: {tissues}")
check("That is more than in good scans" in open("mixed/report.html").read(), "mixed: the sentence on the page")
line = [line for line in told.splitlines() if "voxels like CSF" in line]
share = f"{100 * tissues['csf_with_fibers'] / tissues['csf']:.0f} % of {tissues['csf']} voxels"
check(len(line) == 1 and all(words in line[0] for words in (share, "more than in good scans", "mask of white matter")),
      f"mixed: the line: {told}")
line = [line["text"] for line in json.load(open("mixed/report.json"))["log"] if "voxels like CSF" in line["text"]]
check(len(line) == 1, f"mixed: the line in the report: {line}")
for name, shells, more in (("high", 2500, ()), ("two", "1000,2500", ()), ("tissue", "1000,2500", ("--model", "msmt"))):
    works("phantom", "--layout", "mixture", "--size", "8,8,4", "--snr", 30, "-b", shells, "--directions", 32, "-o",
          f"{name}.nii.gz", "--truth", "t.nii.gz", "--seed", 23, "--quiet")
    done = works("run", f"{name}.nii.gz", "-o", f"run_{name}", *more)
    check(("--model msmt also" in done.stderr) == (name == "two"), f"{name}: {done.stderr}")
    counts = json.load(open(f"run_{name}/report.json"))["counts"]
    check((counts["tissues"] is None) == (name == "high"), f"{name}: {counts}")
check("is not known" in open("run_high/report.html").read(), "high b: the page says that it is not known")

# Fractions of single fibres of sticks and zeppelins: the fits alone would say a third of the deviation there is.
works("phantom", "--layout", "mixture", "--dispersion", "0-20", "--csf", "0-.2", "--grey", "0-.2", "--weights", ".4-1",
      "--tissue", "stick-zeppelin", "--shares", ".15,.6,.25,0", "--size", "12,12,6", "--snr", 25, "-b", "1000,3000",
      "--directions", 45, "-o", "dwi.nii.gz", "--truth", "truth.nii.gz", "--seed", 24, "--quiet")
tissue = run("tissue")
truth = np.asanyarray(nibabel.load("truth.nii.gz").dataobj)
length = np.linalg.norm(truth.reshape(truth.shape[:3] + (-1, 3)), axis=-1)
single = (tissue["nfibers"] == 1) & ((length > 0).sum(-1) == 1)
off = np.linalg.norm(tissue["peaks"][single][:, 0], axis=-1) - length[single].max(-1)
held = np.mean(np.abs(off) <= 1.96 * tissue["fraction_sd"][single][:, 0])
print(f"fractions: {held:.3f} of {single.sum()} within 95 %, deviation {off.std():.3f}, "
      f"stated {tissue['fraction_sd'][single][:, 0].mean():.3f}")
check(single.sum() > 300 and .9 <= held <= .995, f"fractions: {held} of {single.sum()} are held")
end()
