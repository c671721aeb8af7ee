"""hotfiber learn: runs and parts with a model do not learn, and write byte by byte the files of a run that does; a file
that is damaged, or of other data or options, is refused in one line."""
import json

import nibabel

from _folders import same
from cli import *

LONG = bool(os.environ.get("HOT_TEST_LONG"))
SIZE = [14, 13, 6] if LONG else [10, 9, 5]
PHANTOM = ["phantom", "--layout", "bundles", "--size", ",".join(map(str, SIZE)), "--snr", 25, "--seed", 5, "--quiet"]

works(*PHANTOM, "-b", "1000,2500", "--directions", 32, "-o", "dwi.nrrd")
works(*PHANTOM, "-b", "1000", "--directions", 12, "-o", "few.nrrd")
content = open("dwi.nrrd", "rb").read()
open("other.nrrd", "wb").write(content[:-40000] + content[-80000:-40000])
works("run", "-i", "dwi.nrrd", "-o", "given", "--outputs", "mask,response", "--quiet")

for name, data, options, own in (
        ("signal", "dwi", [], ["--outputs", "all,maps,peaks_fod"]),
        ("cones", "dwi", ["--max_fibers", 2], ["--outputs", "default,cone,fraction_sd,probability"]),
        ("gaussian", "dwi", ["--noise_model", "gaussian"], []),
        ("sigma", "dwi", ["--sigma", 30], []), ("denoise", "dwi", ["--denoise"], None),
        ("files", "dwi", ["--mask", "given/mask.nii.gz", "--response", "given/response.txt"], []),
        ("tensor", "dwi", ["--diffusivities", "1.7e-3,.3e-3", "--order", 4], ["--report"]),
        ("maxima", "dwi", ["--method", "maxima"], ["--outputs", "maps,tensors,peaks"]),
        ("adc", "dwi", ["--model", "adc", "--order", 4], []), ("few", "few", [], []),
        ("msmt", "dwi", ["--model", "msmt"], ["--outputs", "default,maps"])):
    if not LONG and name in ("gaussian", "sigma", "tensor", "adc"):
        continue # HOT_TEST_LONG=1: these, too, and parts of all
    parts = 3 if own is not None and (LONG or name in ("signal", "maxima", "msmt")) else 0
    own = own or []
    works("run", "-i", f"{data}.nrrd", "-o", f"{name}_whole", "--quiet", *options, *own)
    said = works("learn", "-i", f"{data}.nrrd", "-o", f"{name}.json", *options)
    check(f"learned: {name}.json" in said.stdout.decode(), f"{name}: {said.stdout}")
    works("run", "--learned", f"{name}.json", "-o", f"{name}_learned", "--quiet", "--threads", 1, *own)
    same(f"{name}_whole", f"{name}_learned", f"{name}, whole")
    for k in range(parts, 0, -1):
        works("run", "--learned", f"{name}.json", "-o", f"{name}_parts", "--part", f"{k}/{parts}", "--quiet", *own)
    if parts:
        works("merge", f"{name}_parts", "-o", f"{name}_merged", "--quiet")
        same(f"{name}_whole", f"{name}_merged", f"{name}, parts")

# A mask that the options did not make is refused; what is learned is what counts, and its lines are logged again.
model = json.load(open("signal.json"))
check(model["mask"]["size"] == SIZE and len(model["response"]["tissues"]) == 1 and
      len(json.load(open("msmt.json"))["response"]["tissues"]) == 3, "what is in it")
runs = [int(word) for word in model["mask"]["runs"].split()]
check(sum(runs) == np.prod(SIZE) and
      sum(runs[1::2]) == json.load(open("signal_whole/report.json"))["counts"]["voxels"], "the mask")
changed = dict(model, mask=dict(model["mask"], runs=f"{sum(runs) - 40} 40"))
changed["made_of"] = dict(model["made_of"])
json.dump(changed, open("changed.json", "w"))
done = hotfiber("run", "--learned", "changed.json", "-o", "changed")
check(done.returncode == 1 and "mask_sum is" in done.stderr and not os.path.exists("changed"), f"mask: {done.stderr}")
changed["signal"]["sigma"] *= 4
changed["mask"] = model["mask"]
json.dump(changed, open("changed.json", "w"))
works("run", "--learned", "changed.json", "-o", "changed", "--outputs", "nfibers", "--quiet")
found, whole = [json.load(open(f"{folder}/report.json")) for folder in ("changed", "signal_whole")]
check(abs(found["noise"]["sigma"] / whole["noise"]["sigma"] - 4) < 1e-6 and
      found["counts"]["fibers"] != whole["counts"]["fibers"], f"its noise is what counts: {found['noise']}")

# Files of before have no certainty: P(k) is as the fits say, and the fibres are the same.
before = json.load(open("signal.json"))
del before["signal"]["population"]["certainty"], before["signal"]["population"]["cone_growth"]
json.dump(before, open("before.json", "w"))
works("run", "--learned", "before.json", "-o", "before", "--outputs", "peaks,probability,cone", "--quiet")
works("run", "--learned", "signal.json", "-o", "now", "--outputs", "peaks,probability,cone", "--quiet")
peaks, p = [[open(f"{folder}/{name}.nii.gz", "rb").read() for folder in ("before", "now")]
            for name in ("peaks", "probability")]
check(peaks[0] == peaks[1], "fibres by a file without certainty")
check(p[0] != p[1], "P(k) with and without certainty")
before["signal"]["population"]["certainty"] = [0]
json.dump(before, open("uncertain.json", "w"))

# In the file's place: standard output, other names of the data, options given again.
text = works("learn", "-i", "dwi.nrrd", "-o", "-", "--quiet").stdout
open("piped.json", "wb").write(text)
os.mkdir("elsewhere")
works("run", "-i", "../dwi.nrrd", "--learned=../piped.json", "-o", "out", "--outputs", "peaks", "--quiet",
      cwd="elsewhere")
check(open("elsewhere/out/peaks.nii.gz", "rb").read() == open("signal_whole/peaks.nii.gz", "rb").read(), "the same")

# A region: with the model the fibres in it are those of the whole brain; without, they are learned from it alone, which
# a warning says.
whole = nibabel.load("signal_whole/mask.nii.gz")
region = np.asarray(whole.dataobj).copy()
region[:, region.shape[1] // 3:] = 0
nibabel.save(nibabel.Nifti1Image(region, whole.affine), "region.nii.gz")
nibabel.save(nibabel.Nifti1Image(0 * region, whole.affine), "nowhere.nii.gz")
peaks = lambda folder: np.asarray(nibabel.load(f"{folder}/peaks.nii.gz").dataobj)  # noqa: E731
told = works("run", "--learned", "signal.json", "--mask", os.path.abspath("region.nii.gz"), "-o", "region",
             "--outputs", "peaks,mask")
check("alone" not in told.stderr, f"learned from the whole brain: {told.stderr}")
check(np.array_equal(peaks("region"), peaks("signal_whole") * (region > 0)[..., None]) and region.sum() > 50,
      "fibres of a region as of the whole")
check(np.array_equal(np.asarray(nibabel.load("region/mask.nii.gz").dataobj), region), "the region is the mask")
for k in (2, 1):
    works("run", "--learned", "signal.json", "--mask", "region.nii.gz", "-o", "region_parts", "--part", f"{k}/2",
          "--quiet", "--outputs", "peaks,mask")
works("merge", "region_parts", "-o", "region_merged", "--quiet")
same("region", "region_merged", "a region in parts")
region[:, 2:] = 0
nibabel.save(nibabel.Nifti1Image(region, whole.affine), "few_voxels.nii.gz")
told = works("run", "dwi.nrrd", "--mask", "few_voxels.nii.gz", "-o", "few_voxels", "--outputs", "peaks").stderr
check(f"the mask has {region.sum()} voxels" in told and "alone" in told and "--learned" in told, f"a region: {told}")
told = works("run", "dwi.nrrd", "--mask", "given/mask.nii.gz", "-o", "all_voxels", "--outputs", "peaks").stderr
check("alone" not in told and "response from" in told and "priors from" in told, f"the whole brain: {told}")

open("text.json", "w").write("{")
open("empty.json", "w").write("{}")
for key, value in (("mask", {}), ("noise", None), ("signal", {}), ("response", {"from": "estimated"})):
    json.dump(dict(model, **{key: value}), open(f"no_{key}.json", "w"))
json.dump(dict(model, signal=dict(model["signal"], volumes=[0, 70])), open("volumes.json", "w"))
json.dump(dict(model, mask=dict(model["mask"], runs="5 x")), open("runs.json", "w"))
for arguments, status, word in (
        (["run", "--learned", "none.json", "-o", "p"], 1, "none.json"),
        (["run", "--learned", "signal.json", "--mask", "nowhere.nii.gz", "-o", "p"], 1, "empty"),
        (["run", "--learned", "text.json", "-o", "p"], 1, "not JSON"),
        (["run", "--learned", "empty.json", "-i", "dwi.nrrd", "-o", "p"], 1, "hotfiber learn"),
        (["run", "--learned", "no_mask.json", "-o", "p"], 1, "no mask"),
        (["run", "--learned", "runs.json", "-o", "p"], 1, "mask"),
        (["run", "--learned", "no_signal.json", "-o", "p"], 1, "signal method"),
        (["run", "--learned", "volumes.json", "-o", "p"], 1, "volumes"),
        (["run", "--learned", "no_response.json", "-o", "p"], 1, "response"),
        (["run", "--learned", "uncertain.json", "-o", "p"], 1, "certainty"),
        (["run", "--learned", "signal.json", "-i", "other.nrrd", "-o", "p"], 1, "data is"),
        (["run", "--learned", "signal.json", "-i", "few.nrrd", "-o", "p"], 1, "data is"),
        (["run", "--learned", "signal.json", "--order", 4, "-o", "p"], 1, "order is 4 here and was 6"),
        (["run", "--learned", "signal.json", "--model", "adc", "-o", "p"], 1, "model is"),
        (["run", "--learned", "signal.json", "--response", "given/response.txt", "-o", "p"], 1, "--response"),
        (["run", "-o", "p", "--learned", "none.json"], 1, "none.json"), (["learn", "-i", "dwi.nrrd"], 2, "-o FILE"),
        (["learn", "-i", "dwi.nrrd", "-o", "dwi.nrrd"], 1, "dwi.nrrd"),
        (["learn", "-i", "none.nrrd", "-o", "p"], 1, "none.nrrd"),
        (["learn", "-i", "dwi.nrrd", "-o", "p", "--part", "1/2"], 2, "--part")):
    before = tree()
    done = hotfiber(*arguments, "--quiet")
    check(done.returncode == status and word in done.stderr and done.stderr.count("\n") == 1 and tree() == before,
          f"{arguments}: {done.returncode} {done.stderr}")
end()
