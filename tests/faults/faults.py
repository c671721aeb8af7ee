"""Every call of the system fails in turn while the command works: one line that says so, nothing half written, nothing
left, no hang; or, where the call did not matter, a result that is whole."""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["HOT_SOURCE"], "tests", "files"))
from _dwi import HOT, check, end  # noqa: E402

if os.environ.get("HOT_SANITIZED", "") not in ("", "OFF"):
    print("skipped: the sanitizer wants to be loaded first")
    sys.exit(77)
FAULTS = os.path.join(os.environ["HOT_BUILD"], "lib", "libhot_faults.so")
MOST = 1000 if os.environ.get("HOT_TEST_FULL") else 8  # calls of one name, spread over all of them


def call(words, fault):
    environment = {**os.environ, "LD_PRELOAD": FAULTS, "HOT_FAULT": fault, "HOT_FAULT_COUNT": "../count"}
    return subprocess.run([HOT, *words, "--quiet", "--threads", "1", "--device", "cpu"], env=environment,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)


def tree():
    """Every file with its content; report.json and HDF5 have times in them, pictures the fonts that could be read."""
    return {os.path.join(path, name): None if name.endswith((".json", ".pam5", ".png")) else
            open(os.path.join(path, name), "rb").read() for path, _, names in os.walk(".") for name in names}


def folders():
    return sorted(os.path.join(path, name) for path, names, _ in os.walk(".") for name in names)


def all_in_turn(name, words, calls):
    for kind in calls:
        shutil.rmtree("out", ignore_errors=True)
        os.mkdir("out")
        os.chdir("out")
        done = call(words, kind + ":0")
        check(done.returncode == 0, "%s: status %d: %s" % (name, done.returncode, done.stderr.decode()))
        whole, number = (tree(), folders()), int(open("../count").read())
        check(number > 0 or kind in ("openat", "opendir", "mkdir", "fread", "fopen"), "%s: no %s" % (name, kind))
        refused = 0
        for at in sorted({1 + i * (number - 1) // max(1, min(MOST, number) - 1) for i in range(min(MOST, number))}):
            os.chdir("..")
            shutil.rmtree("out")
            os.mkdir("out")
            os.chdir("out")
            what = "%s, %s %d of %d" % (name, kind, at, number)
            try:
                done = call(words, "%s:%d" % (kind, at))
            except subprocess.TimeoutExpired:
                check(False, what + ": hangs")
                continue
            text = done.stderr.decode()
            lines = [line for line in text.splitlines() if not line.startswith("warning: ")]
            if done.returncode == 0:
                check((tree(), folders()) == whole and not lines, "%s: went on, but not to the same result: %s %s" % (
                    what, sorted(set(tree()) ^ set(whole[0])), text))
            else:
                refused += 1
                check(done.returncode == 1, "%s: status %d: %s" % (what, done.returncode, text))
                check(len(lines) == 1 and lines[0].startswith("hotfiber " + words[0] + ": "), "%s: %s" % (what, text))
                check(not tree() and not folders(), "%s: left %s %s" % (what, sorted(tree()), folders()))
        check(refused > 0 or kind not in ("write", "rename") or number == 0, "%s: no %s mattered" % (name, kind))
        os.chdir("..")


shutil.rmtree("work", ignore_errors=True)
os.mkdir("work")
os.chdir("work")
for words in (["phantom", "--layout", "mixture", "--size", "4,4,2", "--seed", "2", "-o", "dwi.nrrd"],
              ["convert", "-i", "dwi.nrrd", "-o", "dwi.nii.gz"],
              ["fit", "-i", "dwi.nrrd", "-o", "tensors.nrrd", "--diffusivities", "1.7e-3,.2e-3"],
              ["peaks", "-i", "tensors.nrrd", "-o", "peaks.nrrd"]):
    subprocess.run([HOT, *words, "--quiet"], check=True)
CALLS = ("open", "openat", "write", "close", "fsync", "rename", "mkdir", "opendir", "fopen", "fread")
model = ["--diffusivities", "1.7e-3,.2e-3"]
all_in_turn("run", ["run", "-i", "../dwi.nii.gz", "-o", "result", "--outputs", "all,maps", *model], CALLS)
all_in_turn("fit", ["fit", "-i", "../dwi.nrrd", "-o", "tensors.nhdr", *model], CALLS)
all_in_turn("convert", ["convert", "-i", "../dwi.nrrd", "-o", "a/b/dwi.nii.gz"], CALLS)
for format, name in (("vtp", "fibers.vtp"), ("tck", "fibers.tck"), ("fixels", "fixels"), ("fz", "fibers.fz"),
                     ("odx", "fibers.odx"), ("pam5", "fibers.pam5"), ("png", "picture.png"), ("dec", "dec.nii.gz")):
    all_in_turn("export " + format, ["export", "-i", "../peaks.nrrd", "-o", name, "--format", format],
                ("open", "write", "fsync", "rename", "mkdir"))
end()
