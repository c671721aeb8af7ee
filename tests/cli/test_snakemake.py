"""The Snakemake workflow: a short cohort with bad scans; the same bytes as hotfiber-bids alone; nothing is done twice;
a job that was killed is tried again; a GPU is a resource."""
import sys

from _bids import *

if not shutil.which("snakemake"):
    print("skipped: snakemake is not installed (Debian's package, or PyPI's)")
    sys.exit(1 if os.environ.get("HOT_ALL_READERS") else 77)
raw = dataset("raw")
scan(raw, "01", seed=1)
scan(raw, "02", "x", seed=2)
truncate(scan(raw, "03", seed=3) + ".nii.gz")
os.remove(scan(raw, "04", seed=4) + ".bvec")
workflow = bids("--workflow").stdout.strip()
os.environ["PATH"] = os.path.dirname(BIDS) + ":" + os.environ["PATH"]


def snakemake(*more, out="out", profile="local", timeout=500):
    done = subprocess.run(["snakemake", "-s", f"{workflow}/Snakefile", "--profile", f"{workflow}/profiles/{profile}",
                           *more, "--config", "bids=raw", f"out={out}", "parts=2", "command=hotfiber-bids"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=timeout, check=False)
    done.jobs = {rule: done.stdout.count(f"\nrule {rule}:") + done.stdout.count(f"\nlocalrule {rule}:")
                 for rule in ("learn", "part", "merge", "report", "group", "all")}
    return done


# The first part of the first scan is killed once, as a node that is lost would do it.
os.mkdir("bin")
open("bin/hotfiber-bids", "w").write(f"""#!/bin/sh
case "$*" in
*'--stage part --part 1 --scan sub-01'*) if mkdir killed 2>/dev/null; then kill -9 $$; fi ;;
esac
echo "$*" >>calls
exec {BIDS} "$@"
""")
os.chmod("bin/hotfiber-bids", 0o755)
os.environ["PATH"] = os.path.abspath("bin") + ":" + os.environ["PATH"]
done = snakemake()
check(done.returncode == 1, f"status {done.returncode}: two scans failed")
check("2 of 4 scans failed or were not done: sub-03, sub-04" in done.stdout, done.stdout[-2000:])
check(os.path.isdir("killed") and "Trying to restart job" in done.stdout, "the killed job was tried again")
rows = table("out")
check([rows[name]["status"] for name in sorted(rows)] == ["done", "done", "failed", "failed"], f"{rows}")
check("truncated" in rows["sub-03"]["message"] and ".bvec" in rows["sub-04"]["message"], "they are explained")
check(all(name in read_page("out/group_dwi.html").words for name in rows), "the page has all")
check(open("calls").read().count("--stage learn --scan sub-03") == 1, "what is wrong with data is not tried again")

# As without the workflow, byte by byte.
bids(raw, "alone", "participant", "--skip-bids-validation", "--hotfiber-options", "--device cpu")
for folder, _, names in os.walk("alone"):
    for name in names:
        if name.endswith((".nii.gz", ".txt")) and ".work" not in folder:
            here = os.path.join(folder, name)
            there = os.path.join("out", os.path.relpath(here, "alone"))
            check(os.path.exists(there) and open(here, "rb").read() == open(there, "rb").read(), f"{there} differs")
check(sorted(os.listdir("out/.work")) == ["sub-03", "sub-04"], f"left: {os.listdir('out/.work')}")

# Again: nothing but the status. Scans that changed are done again, alone.
done = snakemake()
check(done.returncode == 1 and done.jobs == {**dict.fromkeys(done.jobs, 0), "all": 1}, f"{done.jobs}")
shutil.copy("raw/sub-01/dwi/sub-01_dwi.bvec", "raw/sub-04/dwi/sub-04_dwi.bvec")
phantom("raw/sub-03/dwi/sub-03_dwi.nii.gz", seed=3)
phantom("raw/sub-02/ses-x/dwi/sub-02_ses-x_dwi.nii.gz", seed=5) # which was done before
done = snakemake()
check(done.jobs["learn"] == 3 and done.jobs["report"] == 3, f"only changed scans: {done.jobs} {done.stdout[-1500:]}")
check(table("out")["sub-04"]["status"] == "done", "and it is done")
check(done.returncode == 0 and "4 of 4 scans" in done.stdout, f"all done: {done.stdout[-1500:]}")

# Jobs that use a GPU request one.
done = subprocess.run(["snakemake", "-s", f"{workflow}/Snakefile", "-n", "--cores", "1", "--config", "bids=raw",
                       "out=new", "gpu=1"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
gpus = {rule: f"gpu={int(rule in ('learn', 'part'))}" for rule in ("learn", "part", "merge", "report")}
for rule, words in gpus.items():
    block = done.stdout.partition(f"\nrule {rule}:")[2].partition("\n\n")[0]
    check(words in block, f"{rule}: {words}: {block}")
check("--device" not in done.stdout or "cuda" in done.stdout, "and computes on it")

# Names that a shell, Snakemake or a terminal would obey, here and by the profile for Slurm (with an sbatch that runs
# the job at once): nothing is executed, the scans are done, and the same bytes come.
TRAP = "touch PWNED"
WILD = f"-d a'\"$({TRAP})`{TRAP}`;{TRAP}&|<>{{scan}} {{x}} {{0}} %s *?[a-z]~!#\\\nb"
os.mkdir(WILD)
wild = dataset(f"{WILD}/raw{WILD}")
scan(wild, "01", seed=1, size="7,7,3")
for label in (f"acq-$({TRAP})", f"acq-`{TRAP}`", "acq-a b;c", "acq-{scan}", "acq-a\nb"):
    for ending in (".nii.gz", ".bval", ".bvec"):
        shutil.copy(f"{wild}/sub-01/dwi/sub-01_dwi{ending}", f"{wild}/sub-01/dwi/sub-01_{label}_dwi{ending}")
for name, script in (("sbatch", 'for script; do :; done\nsh "$script" >>sbatch.log 2>&1; echo $?\n'),
                     ("scontrol", 'test "$3" = 0 && echo JobState=COMPLETED || echo JobState=FAILED\n')):
    open(f"bin/{name}", "w").write("#!/bin/sh\n" + script)
    os.chmod(f"bin/{name}", 0o755)
# The requests to Slurm: in Snakemake 7 by arguments, later by the properties of the script.
os.mkdir("slurm")
open("slurm/sbatch", "w").write("#!/bin/sh\necho \"$@\"\n")
os.chmod("slurm/sbatch", 0o755)
open("job.sh", "w").write("#!/bin/sh\n# properties = " + json.dumps({
    "type": "single", "rule": "part", "input": ['"rule": "no"'], "params": {"stage": f'$({TRAP})\n"threads": 7'},
    "threads": 3, "resources": {"mem_mb": 500, "runtime": 20, "gpu": 1, "tmpdir": "/tmp"}}) + "\n")
said = [subprocess.run([f"{workflow}/profiles/slurm/submit.sh", *words, "job.sh"], stdout=subprocess.PIPE, text=True,
                       env={**os.environ, "PATH": os.path.abspath("slurm") + ":" + os.environ["PATH"]},
                       check=False).stdout for words in (("part", "3", "500", "20", "1"), ())]
check(said[0] == said[1] and "--gres=gpu:1 job.sh" in said[0] and "--mem=500 --time=20" in said[0], f"{said}")

# Snakemake 7 reads a quoted value as YAML, with escapes; later versions remove the quotes and read the rest, so
# that some texts have no spelling. Those come from a file.
version = int(subprocess.run(["snakemake", "--version"], stdout=subprocess.PIPE, text=True,
                             check=True).stdout.split(".")[0])
for profile, more in (("local", []), ("slurm", ["--until", "learn"])):
    out = f"{WILD}/{profile}{WILD}"
    given = {"bids": wild, "out": out, "work": f"{WILD}/w{profile}{WILD}", "parts": 1,
             "command": os.path.abspath("bin/hotfiber-bids")}
    json.dump(given, open(f"{profile}.json", "w"))
    options = ["--config", *(f"{key}={json.dumps(value)}" for key, value in given.items())] if version < 8 else \
        ["--configfile", f"{profile}.json"]
    done = subprocess.run(["snakemake", "-s", f"{workflow}/Snakefile", "--profile", f"{workflow}/profiles/{profile}",
                           *more, "--latency-wait", "5", *options], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=500, check=False)
    check(done.returncode == 0, f"{profile}: {done.returncode} {done.stdout[-3000:]}")
    check(done.stdout.count("left out: ") >= 5, f"{profile}: bad names are listed: {done.stdout[:1000]}")
    check(not [name for _, _, names in os.walk(".") for name in names if name == "PWNED"], f"{profile}: executed")
bids(wild, "wild_alone", "participant", "--skip-bids-validation", "--hotfiber-options", "--device cpu")
name = "sub-01/dwi/sub-01_model-hot_param-direction_dwimap.nii.gz"
check(open(f"{WILD}/local{WILD}/{name}", "rb").read() == open(f"wild_alone/{name}", "rb").read(), "the same bytes")
check(list(table(f"{WILD}/local{WILD}")) == ["sub-01"], "the scan, and no other")
model = json.load(open(f"{WILD}/wslurm{WILD}/sub-01/model.json"))
check(model["mask"]["from"] == "estimated", "a job of a cluster has such names as well")
# YAML reads a label of digits as a number: it is that subject all the same.
done = subprocess.run(["snakemake", "-s", f"{workflow}/Snakefile", "-n", "--cores", "1", "--config", "bids=raw",
                       "out=o2", "subjects=01"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                      check=False)
check(done.returncode == 0 and "sub-01" in done.stdout and "sub-03" not in done.stdout, f"subjects=01: {done.stdout}")
for settings, word in ((("bids=007", "out=o"), "./NAME"), (("bids=raw", "out=o", "subjects=77"), "no sub-77")):
    done = subprocess.run(["snakemake", "-s", f"{workflow}/Snakefile", "-n", "--cores", "1", "--config", *settings],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    check(done.returncode != 0 and word in done.stdout, f"{settings}: {done.stdout}")
end()
