"""hotfiber-bids: a cohort of good and bad scans. Every good one gives hotfiber's results, every bad one is explained;
names, sidecars, inheritance, sessions, QSIPrep's files, the table, and a second call."""
import fcntl
import signal
import sys

import nibabel

from _bids import *


# ---- A mixed cohort: one good, two sessions with inherited gradients, two runs, and what goes wrong.
raw = dataset("raw")
good = scan(raw, "01", seed=1)
json.dump({"Manufacturer": "Phantoms"}, open(f"{raw}/dwi.json", "w")) # applies to all images of the suffix
json.dump({"Manufacturer": "Nobody", "MagneticFieldStrength": 3}, open(f"{good}.json", "w"))
for session in ("a", "b"):
    start = scan(raw, "02", session, "_dir-AP", seed=2)
    for ending in (".bval", ".bvec"):
        shutil.move(start + ending, f"{raw}/sub-02/sub-02_dir-AP_dwi{ending}")
os.remove(scan(raw, "03", seed=3) + ".bvec")
truncate(scan(raw, "04", seed=4) + ".nii.gz")
scan(raw, "05", seed=5, count=6, b="1000") # six directions are few, but enough for one fibre
open(scan(raw, "06", seed=6) + ".bval", "w").write("0 1000\n")
os.symlink("../../.git/annex/objects/absent", f"{raw}/sub-06/dwi/sub-06_run-2_dwi.nii.gz")
os.makedirs(f"{raw}/sub-07/anat")
shutil.copy(f"{good}.nii.gz", f"{raw}/sub-01/dwi/sub-01_part-phase_dwi.nii.gz")
bad = ["sub-03", "sub-04", "sub-06", "sub-06_run-2"]
fine = ["sub-01", "sub-02_ses-a_dir-AP", "sub-02_ses-b_dir-AP", "sub-05"]

listed = bids(raw, "out", "participant", "--list").stdout.splitlines()
check(sorted(line.split("\t")[0] for line in listed) == sorted(bad + fine), f"the scans: {listed}")
check(not os.path.exists("out"), "a list makes nothing")
done = bids(raw, "out", "participant", "--nprocs", 2, "--skip-bids-validation")
check(done.returncode == 1, f"status {done.returncode}: some failed")
for name in fine:
    check(f"{name}: done in" in done.stdout, f"{name}: {done.stdout}{done.stderr}")
for name, words in (("sub-03", "no .bvec"), ("sub-04", "truncated"), ("sub-06", "2 b-values"),
                    ("sub-06_run-2", "datalad get")):
    lines = [line for line in done.stderr.splitlines() if line.startswith(f"hotfiber-bids: {name}: ")]
    check(len(lines) == 1, f"{name}: one line with the reason: {lines}")
    message = status("out", name)["message"]
    check(lines and message in lines[0] and "\n" not in message, f"{name}: the record says the same: {message}")
    check(words in message and os.getcwd() not in message, f"{name}: {message}")
    page = read_page(f"out/{name}.html") if os.path.exists("out/group_dwi.html") else Html(f"out/{name}.html")
    check(message in page.words, f"{name}: its page says why")
    check(not os.path.exists(f"out/{name.split('_')[0]}/dwi/{name}_model-hot_dwimap.json"), f"{name}: no maps")
check("4 of 8 scans failed: sub-03, sub-04, sub-06, sub-06_run-2" in done.stderr, done.stderr)
check("sub-07: no diffusion images" in done.stderr, "a subject without images is named")

# ---- As hotfiber alone, under the names of BEP016.
works("run", "-i", f"{good}.nii.gz", "-o", "alone", "--outputs", "default,maps", "--report", "--quiet")
start = "out/sub-01/dwi/sub-01"
for here, there in (("peaks.nii.gz", "_model-hot_param-direction_dwimap.nii.gz"),
                    ("mask.nii.gz", "_desc-brain_mask.nii.gz"),
                    ("fa.nii.gz", "_model-tensor_param-fa_dwimap.nii.gz"), ("b0.nii.gz", "_S0map.nii.gz"),
                    ("nfibers.nii.gz", "_model-hot_param-nfibers_dwimap.nii.gz"),
                    ("afd_total.nii.gz", "_model-hot_param-afdtotal_dwimap.nii.gz"),
                    ("response.txt", "_model-hot_param-response_dwimap.txt")):
    check(open(f"alone/{here}", "rb").read() == open(start + there, "rb").read(), f"{there} is that of hotfiber run")
check(os.path.exists("out/sub-01.html") and "noise" in Html("out/sub-02_ses-b_dir-AP.html").words.lower(), "pages")
check(os.path.exists("out/sub-02/ses-a/dwi/sub-02_ses-a_dir-AP_model-hot_param-dec_dwimap.nii.gz"), "sessions")
for folder, _, names in os.walk("out"):
    for name in names:
        if name.endswith(".nii.gz"):
            image = nibabel.load(os.path.join(folder, name))
            about = json.load(open(os.path.join(folder, name[:-len(".nii.gz")] + ".json")))
            check("Description" in about and about["Sources"][0].startswith("bids:source:sub-"), f"{name}: {about}")
            if "_dwimap" in name:
                check("Model" in about, f"{name}: the model")
                # BEP016: needed of images with more than three axes
                coded = about.get("OrientationEncoding", {})
                check(len(image.shape) < 4 or "Type" in coded, f"{name}: {image.shape} {coded}")
                check(coded.get("Type") in (None, "scalar") or coded["EncodingAxis"] < len(image.shape), f"{name}")
about = json.load(open(f"{start}_model-hot_param-direction_dwimap.json"))
coded = about["OrientationEncoding"]
check(coded["Type"] == "3vector" and coded["Reference"] == "xyz", "vectors")
model = json.load(open(f"{start}_model-hot_dwimap.json"))
check(model["HotfiberReport"]["counts"] == json.load(open("alone/report.json"))["counts"], "the report is kept")
check(len(model["ResponseFunction"]["Coefficients"]) == 3, "a row of the response per shell")
about = json.load(open("out/dataset_description.json"))
check(about["DatasetType"] == "derivative" and about["GeneratedBy"][0]["Name"] == "hotfiber" and
      about["GeneratedBy"][0]["Version"] == model["HotfiberReport"]["hotfiber"], f"{about}")
check(os.path.normpath(os.path.join("out", about["DatasetLinks"]["source"])) == "raw", "where it is from")
check(status("out", "sub-01")["scanner"] == {"Manufacturer": "Nobody", "MagneticFieldStrength": 3}, "closest .json")
check(status("out", "sub-05")["scanner"] == {"Manufacturer": "Phantoms"}, "a .json above applies")
check(status("out", "sub-02_ses-a_dir-AP")["gradients"] == ["sub-02/sub-02_dir-AP_dwi.bval",
                                                           "sub-02/sub-02_dir-AP_dwi.bvec"], "inherited gradients")

# ---- The table.
done = bids(raw, "out", "group")
check(done.returncode == 1 and all(name in done.stderr for name in bad), f"{done.returncode} {done.stderr}")
rows = table("out")
check(sorted(rows) == sorted(bad + fine), f"{sorted(rows)}")
report = json.load(open("alone/report.json"))
counts = report["counts"]
check(rows["sub-01"]["voxels"] == str(counts["voxels"]) and rows["sub-01"]["snr"] == f"{report['noise']['snr']:.1f}" and
      rows["sub-01"]["share_1"] == f"{100 * counts['fibers']['one'] / counts['voxels']:.1f}", f"{rows['sub-01']}")
check(all(rows[name]["status"] == "failed" and rows[name]["snr"] == "n/a" for name in bad), "failed: no numbers")
check("truncated" in rows["sub-04"]["message"], "and the reason")
page = read_page("out/group_dwi.html")
for words in ("4 of 8", "sub-04", "truncated", "sub-07", "No diffusion images"):
    check(words in page.words, f"the page says {words}")
check({f"{name}.html" for name in bad + fine} <= set(page.links), "it links to every page")

# Outliers: against numpy; whatever the records hold, the page stays whole.
sys.path.insert(0, os.path.join(os.environ["HOT_SOURCE"], "plugin", "bids"))
from hotfiber_bids import group # noqa: E402

random = np.random.default_rng(2)
values = np.r_[random.normal(20, 1, 30), 3., 40.]
rows = [{**dict.fromkeys(group.COLUMNS), "scan": str(i), "outliers": [], "snr": v} for i, v in enumerate(values)]
scores = group.mark(rows)["snr"]
expected = (values - np.median(values)) / (1.4826 * np.median(np.abs(values - np.median(values))))
check(np.allclose([scores[str(i)] for i in range(32)], expected), "robust z-scores")
check([row["scan"] for row in rows if row["outliers"]] == [str(i) for i in np.flatnonzero(abs(expected) > 3.5)] and
      abs(expected[30]) > 3.5 and abs(expected[31]) > 3.5, "those beyond 3.5 are marked")
rows = [{**dict.fromkeys(group.COLUMNS), "scan": str(i), "outliers": [], "voxels": 1000 + (i == 0)} for i in range(9)]
check(group.mark(rows)["voxels"]["0"] < 1 and not rows[0]["outliers"], "one voxel more is not far from the others")
few = [{**dict.fromkeys(group.COLUMNS), "scan": str(i), "outliers": [], "snr": 10. ** i} for i in range(4)]
check(not group.mark(few), "four scans are too few")
check(any(image.startswith("sub-01/figures/") for image in page.pictures), f"a picture of each scan: {page.pictures}")
twins = [{**dict.fromkeys(group.COLUMNS), "scan": name, "snr": 20.123456, "voxels": 812, "share_0": share,
          "share_1": 40.}
         for name, share in (("a", 12.5), ("b", 12.5), ("c", 12.500001))]
group.find_copies(twins)
check([row["copy_of"] for row in twins] == [None, "a", None], f"the same scan twice: {twins}")
path = "out/sub-01/dwi/sub-01_model-hot_dwimap.json"
kept = open(path).read()
for poison in ("</td><script>alert(1)</script>", 1e308, -1, None, True, [], {}, [3], "\x01"):
    poisoned = json.loads(kept)
    poisoned["HotfiberReport"] = {key: {k: poison for k in value} if isinstance(value, dict) else poison
                                  for key, value in poisoned["HotfiberReport"].items()}
    poisoned["HotfiberReport"]["counts"]["fibers"] = poison
    json.dump(poisoned, open(path, "w"))
    done = bids(raw, "out", "group")
    check(done.returncode == 1 and "Traceback" not in done.stderr, f"{poison!r}: {done.stderr[-300:]}")
    read_page("out/group_dwi.html")
    table("out")
open(path, "w").write(kept)

# ---- Again: finished scans are kept; only the repaired ones are processed.
before = tree("out/sub-01")
done = bids(raw, "out", "participant", "--skip-bids-validation")
check(done.stdout.count("done already") == 4 and done.returncode == 1, f"{done.stdout}{done.stderr}")
check(tree("out/sub-01") == before, "done ones are not touched")
shutil.copy(f"{good}.bvec", f"{raw}/sub-03/dwi/sub-03_dwi.bvec")
done = bids(raw, "out", "participant", "--participant-label", "sub-03", "01", "--skip-bids-validation")
check(done.returncode == 0 and "sub-03: done in" in done.stdout and "sub-01: done already" in done.stdout,
      f"{done.stdout}{done.stderr}")
done = bids(raw, "out", "participant", "--participant-label", "01", "--skip-bids-validation", "--hotfiber-options",
            "--method maxima --outputs peaks,vtp")
names = set(os.listdir("out/sub-01/dwi"))
check(done.returncode == 0 and "sub-01_model-hot_param-fibers_dwimap.vtp" in names and
      not any("_param-fa_" in name for name in names), f"other options: made anew: {done.stderr}{names}")

# Another one that is at work on a scan is not disturbed.
os.makedirs("out/.work", exist_ok=True)
before = tree("out/sub-01") | tree("out/logs")
with open("out/.work/.sub-01.lock", "w", encoding="ascii") as held:
    fcntl.flock(held, fcntl.LOCK_EX)
    done = bids(raw, "out", "participant", "--participant-label", "01", "--skip-bids-validation", "--force")
check(done.returncode == 1 and "sub-01: another hotfiber-bids is at work on it" in done.stderr, done.stderr)
os.remove("out/.work/.sub-01.lock")
check(tree("out/sub-01") | tree("out/logs") == before, "and their files do not change")

# ---- In parts: the same bytes. Preprocessed data: the mask and the .b of QSIPrep, subjects of the raw data.
prep = dataset("prep", DatasetType="derivative")
os.makedirs(f"{prep}/sub-01/dwi")
start = f"{prep}/sub-01/dwi/sub-01_space-ACPC_desc-preproc_dwi"
shutil.copy(f"{good}.nii.gz", f"{start}.nii.gz")
image = nibabel.load(f"{good}.nii.gz")
b, g = np.loadtxt(f"{good}.bval"), np.loadtxt(f"{good}.bvec")
turn = image.affine[:3, :3] / np.linalg.norm(image.affine[:3, :3], axis=0)
flip = np.diag([-1, 1, 1]) if np.linalg.det(image.affine[:3, :3]) > 0 else np.eye(3)
np.savetxt(f"{start}.b", np.c_[(turn @ flip @ g).T, b]) # MRtrix's: scanner axes
mask = nibabel.load("alone/mask.nii.gz").get_fdata() > 0
mask[:, :, 0] = False
brain = f"{prep}/sub-01/dwi/sub-01_space-ACPC_desc-brain_mask.nii.gz"
nibabel.save(nibabel.Nifti1Image(mask.astype(np.uint8), image.affine), brain)
nibabel.save(nibabel.Nifti1Image(1 - mask.astype(np.uint8), image.affine), brain.replace("_space-ACPC", ""))
done = bids(raw, "prepped", "participant", "--qsiprep", prep, "--participant-label", "01", "--parts", 3, "-w",
            "scratch", "--mem", "1G", "--skip-bids-validation")
check(done.returncode == 0, done.stderr)
works("run", "-i", f"{start}.nii.gz", "--grad", f"{start}.b", "--mask", brain, "-o", "alone2", "--quiet")
name = "prepped/sub-01/dwi/sub-01_space-ACPC_model-hot_param-direction_dwimap.nii.gz"
check(open("alone2/peaks.nii.gz", "rb").read() == open(name, "rb").read(), "parts of preprocessed data")
check(not os.listdir("scratch"), "nothing is left in the folder for work")
done = bids(raw, "prepped", "participant", "--qsiprep", prep, "--participant-label", "05", "--skip-bids-validation")
check(done.returncode == 1 and "sub-05: no diffusion images" in done.stderr, f"not preprocessed: {done.stderr}")

# ---- Stopped and killed: no half results; the same command resumes. A hotfiber that has made all its files and does
# not end holds the moment.
big = dataset("big")
scan(big, "01")
with open("held", "w", encoding="ascii") as file:
    file.write(f'#!/bin/sh\n"{HOTFIBER}" "$@" || exit\n[ "$1" = run ] || exit 0\n'
               f'echo $$ > "{os.getcwd()}/pid.new"\nmv "{os.getcwd()}/pid.new" "{os.getcwd()}/pid"\nexec sleep 300\n')
os.chmod("held", 0o755)


def within(seconds, true):
    """Whether something becomes true in time."""
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(.02)
    return true()


def ended(process):
    try:
        return open(f"/proc/{process}/stat", encoding="ascii").read().rsplit(")", 1)[1].split()[0] in "ZX"
    except OSError:
        return True


for number, expected in ((signal.SIGTERM, 143), (signal.SIGKILL, -9)):
    running = subprocess.Popen([BIDS, big, "slow", "participant", "--skip-bids-validation"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, env={**os.environ, "HOTFIBER": os.path.abspath("held")})
    check(within(120, lambda: os.path.exists("pid")), f"{number}: hotfiber has run")
    held = int(open("pid", encoding="ascii").read())
    os.remove("pid")
    running.send_signal(number)
    check(running.wait(20) == expected, f"{number}: status {running.returncode}")
    check(not os.path.exists("slow/sub-01"), f"{number}: nothing half done")
    check(within(20, lambda: ended(held)), f"{number}: hotfiber ends with it")
done = bids(big, "slow", "participant", "--skip-bids-validation")
check(done.returncode == 0 and os.path.exists("slow/sub-01.html"), f"again: {done.stdout}{done.stderr}")

# ---- Wrong use.
for arguments, code, words in (([], 2, "arguments are required"), (["raw", "out", "dance"], 2, "dance"),
                               (["nowhere", "out", "participant"], 1, "nowhere"),
                               (["raw", "raw", "group"], 1, "itself"),
                               (["out/logs", "o2", "participant"], 1, "not a BIDS data set"),
                               (["raw", "o2", "participant", "--participant-label", "99"], 1, "no subject 99"),
                               (["raw", "o2", "participant", "--nprocs", "0"], 2, "at least 1"),
                               (["raw", "o2", "participant", "--mem", "lots"], 2, "lots"),
                               (["raw", "o2", "participant", "--scan", "sub-99"], 1, "no scan"),
                               (["raw", "o2", "participant", "--stage", "learn"], 1, "--scan")):
    done = bids(*arguments)
    check(done.returncode == code and words in done.stderr, f"{arguments}: {done.returncode} {done.stderr}")
    check(code == 2 or done.stderr.count("\n") == 1, f"{arguments}: one line: {done.stderr}")
check(not os.path.exists("o2"), "wrong use makes nothing")
check(bids("--version").stdout == f"hotfiber-bids {model['HotfiberReport']['hotfiber']}\n", "the version")
end()
