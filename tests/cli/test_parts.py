"""hotfiber run --part and hotfiber merge: byte by byte what one run leaves, whatever the method, the order of the parts
and who made them; parts that are missing, damaged or of another run are named."""
import json
import signal

import nibabel

from _folders import same
from cli import *

LONG = bool(os.environ.get("HOT_TEST_LONG"))
SIZE = (14, 13, 6) if LONG else (7, 6, 5)
works("phantom", "--layout", "bundles", "--size", ",".join(map(str, SIZE)), "--snr", 25, "-b", "1000,2500",
      "--directions", 32, "-o", "dwi.nrrd", "--seed", 5, "--quiet")
data, _ = read_nrrd("dwi.nrrd")

every = ["--outputs", "all,maps,peaks_fod"]
CONES = "default,cone,cone_axes,fraction_sd,isotropic,free_water,noise_sd,probability"
for name, options, parts in (
        ("signal", every, 5), ("one", every, 1), ("sigma", ["--sigma", 30, "--outputs", "all"], 2),
        ("two", ["--max_fibers", 2], 2),
        ("cones", ["--outputs", CONES], 3),
        ("maxima", ["--method", "maxima", *every[:1], "maps,tensors,peaks"], 3),
        ("lowrank", ["--method", "lowrank"], 2),
        ("sshopm", ["--method", "sshopm", "--starts", 40, "--seed", 7], 2),
        ("given", ["--diffusivities", "1.7e-3,.3e-3", "--order", 4], 2), ("adc", ["--model", "adc", "--order", 4], 2),
        ("msmt", ["--model", "msmt", "--outputs", "default,maps"], 2), ("bare", ["--no_report"], 2),
        ("denoise", ["--denoise"], 2), ("samples", ["--samples", 4, *([] if LONG else ["--outputs", CONES])], 3)):
    if not LONG and name in ("one", "two", "cones", "maxima", "given", "adc", "bare"):
        continue  # HOT_TEST_LONG=1: these, too; cones come with samples
    works("run", "-i", "dwi.nrrd", "-o", f"{name}_whole", "--quiet", *options)
    order = list(range(1, parts + 1))
    np.random.default_rng(parts).shuffle(order)
    for k in order:
        works("run", "-i", "dwi.nrrd", "-o", f"{name}_parts", "--part", f"{k}/{parts}", "--threads", 1 + k % 3,
              "--quiet", *options)
    check(sorted(os.listdir(f"{name}_parts")) == sorted(f"part-{k}-of-{parts}.nrrd" for k in order),
          f"{name}: {os.listdir(f'{name}_parts')}")
    works("merge", f"{name}_parts", "-o", f"{name}_merged", "--quiet")
    same(f"{name}_whole", f"{name}_merged", name)

# Parts and merge in other folders: the data are found all the same. Other files than the requested ones.
os.mkdir("elsewhere")
works("merge", "../signal_parts", "-o", "merged", "--outputs", "peaks", "--no_report", "--quiet", cwd="elsewhere")
check(sorted(os.listdir("elsewhere/merged")) == ["peaks.nii.gz", "report.json"], f"{os.listdir('elsewhere/merged')}")
check(open("elsewhere/merged/peaks.nii.gz", "rb").read() == open("signal_whole/peaks.nii.gz", "rb").read(), "the same")
done = works("run", "-i", "dwi.nrrd", "-o", "by_hand", "--merge", "signal_parts", *every)
check("voxels in the mask" in done.stdout.decode(), "run --merge")
same("signal_whole", "by_hand", "run --merge")

# The file of a part is an NRRD: a row per voxel, directions first.
rows = [read_nrrd(f"signal_parts/part-{k}-of-5.nrrd")[0] for k in range(1, 6)]
mask = json.load(open("signal_whole/report.json"))["counts"]["voxels"]
check(sum(part.shape[1] for part in rows) == mask and len({part.shape[0] for part in rows}) == 1, "rows of all voxels")
check(max(part.shape[1] for part in rows) - min(part.shape[1] for part in rows) <= 1, "shares of a size")

# A killed part leaves nothing that a merge could read; only it is made again.
os.remove("signal_parts/part-3-of-5.nrrd")
call = [HOTFIBER, "run", "-i", "dwi.nrrd", "-o", "signal_parts", "--part", "3/5", "--quiet", *every]
for _ in range(3):
    process = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close() # begun or not: whatever the moment
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stderr.close()
if not os.path.exists("signal_parts/part-3-of-5.nrrd"):
    before = tree()
    done = hotfiber("merge", "signal_parts", "-o", "no")
    check(done.returncode == 1 and "1 of 5 parts: 3" in done.stderr and done.stderr.count("\n") == 1, done.stderr)
    check(tree() == before, "nothing is left")
    works(*call[1:])
works("merge", "signal_parts", "-o", "signal_merged", "--force", "--quiet")
same("signal_whole", "signal_merged", "made again")
done = hotfiber(*call[1:])
check(done.returncode == 1 and "--force" in done.stderr, f"an existing part: {done.stderr}")
works(*call[1:], "--force")

# Damaged, or of another run.
whole = open("signal_parts/part-2-of-5.nrrd", "rb").read()
other = {"cut": whole[:-1], "head": whole[:300], "empty": b"", "text": b"hello\n\n",
         "key": whole.replace(b"_part:=", b"_prat:="), "options": None, "data": None}
for what, content in other.items():
    if what == "options":
        works("run", "-i", "dwi.nrrd", "-o", "signal_parts", "--part", "2/5", "--force", "--quiet", "--order", 4)
    elif what == "data":
        open("signal_parts/part-2-of-5.nrrd", "wb").write(whole)
        changed = open("dwi.nrrd", "rb").read()
        open("dwi.nrrd", "wb").write(changed[:-40000] + bytes(40000))
    else:
        open("signal_parts/part-2-of-5.nrrd", "wb").write(content)
    before = tree()
    done = hotfiber("merge", "signal_parts", "-o", "no", "--quiet")
    check(done.returncode == 1 and ("part-2-of-5" in done.stderr or what == "data") and done.stderr.count("\n") == 1 and
          done.stderr.startswith("hotfiber merge: "), f"{what}: {done.returncode} {done.stderr}")
    check(tree() == before, f"{what}: nothing is left")
open("dwi.nrrd", "wb").write(changed)
works("run", "-i", "dwi.nrrd", "-o", "signal_parts", "--part", "1/2", "--quiet")
done = hotfiber("merge", "signal_parts", "-o", "no")
check(done.returncode == 1 and "several runs" in done.stderr, f"two runs: {done.stderr}")

# More parts than voxels.
tiny = np.zeros(SIZE, np.uint8)
tiny[SIZE[0] // 2, SIZE[1] // 2, 2:4] = 1
image = nibabel.load("signal_whole/mask.nii.gz")
nibabel.save(nibabel.Nifti1Image(tiny, image.affine), "tiny.nii.gz")
options = ["-i", "dwi.nrrd", "--mask", "tiny.nii.gz", "--diffusivities", "1.7e-3,.3e-3", "--quiet"]
works("run", *options, "-o", "tiny_whole")
for k in range(1, 6):
    works("run", *options, "-o", "tiny_parts", "--part", f"{k}/5")
works("merge", "tiny_parts", "-o", "tiny_merged", "--quiet")
check(open("tiny_whole/peaks.nrrd", "rb").read() == open("tiny_merged/peaks.nrrd", "rb").read(),
      "two voxels, five parts")

for arguments, status, word in (
        (["run", "-i", "dwi.nrrd", "-o", "p", "--part", "0/3"], 2, "'0/3'"),
        (["run", "-i", "dwi.nrrd", "-o", "p", "--part", "4/3"], 2, "'4/3'"),
        (["run", "-i", "dwi.nrrd", "-o", "p", "--part", "1/3x"], 2, "'1/3x'"),
        (["run", "-i", "-", "-o", "p", "--part", "1/2"], 1, "--part: the data are read again"),
        (["run", "-i", "dwi.nrrd", "-o", "p", "--part", "1/2", "--merge", "q"], 1, "--part"),
        (["merge", "-o", "p"], 2, "folder of the parts"), (["merge", "elsewhere"], 2, "-o DIR"),
        (["merge", "elsewhere", "-o", "p"], 1, "no part of a run"), (["merge", "none", "-o", "p"], 1, "'none'")):
    done = hotfiber(*arguments)
    check(done.returncode == status and word in done.stderr and done.stderr.count("\n") == 1 and
          not os.path.exists("p"), f"{arguments}: {done.returncode} {done.stderr}")
end()
