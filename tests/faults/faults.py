"""Every system call fails in turn while the programs work: they print one line, write nothing half, leave nothing,
keep existing files and do not hang; or, if the call did not matter, the result is complete."""
import os
import re
import shutil
import subprocess
import sys

from _dwi import HOT, check, end

if os.environ.get("HOT_SANITIZED", "") not in ("", "OFF"):
    print("skipped: the sanitizer wants to be loaded first")
    sys.exit(77)
BUILD = os.environ["HOT_BUILD"]
FAULTS = os.path.join(BUILD, "lib", "libhot_faults.so")
FULL = bool(os.environ.get("HOT_TEST_FULL"))
MOST = 1000 if FULL else 3  # calls of one name, spread over all of them
COMMON = ["--quiet", "--threads", "1", "--device", "cpu"]
# may not occur at all, depending on input and output
RARE = ("openat", "opendir", "mkdir", "fread", "fopen", "fwrite", "fclose", "read", "pread", "pwrite", "mmap", "close")


def call(words, fault, only):
    environment = {**os.environ, "LD_PRELOAD": FAULTS, "HOT_FAULT": fault, "HOT_FAULT_COUNT": "../count"}
    if only:
        environment["HOT_FAULT_ONLY"] = only
    return subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=120)


def content(path):
    """report.json and HDF5 have times in them, pictures the fonts that could be read; of a page, all but these."""
    if path.endswith((".json", ".pam5", ".png")):
        return None
    data = open(path, "rb").read()
    return re.sub(rb"<(td|b)>[0-9.]+|base64,[A-Za-z0-9+/=]{400,}", b"", data) if path.endswith(".html") else data


def tree():
    """Every file with its content."""
    return {os.path.join(path, name): content(os.path.join(path, name))
            for path, _, names in os.walk(".") for name in names}


def folders():
    return sorted(os.path.join(path, name) for path, names, _ in os.walk(".") for name in names)


def begin(earlier):
    """In a new folder, with files of an earlier call."""
    if os.path.basename(os.getcwd()) == "out":
        os.chdir("..")
    shutil.rmtree("out", ignore_errors=True)
    os.mkdir("out")
    os.chdir("out")
    for name in earlier:
        open(name, "w").write("earlier " + name)


def all_in_turn(name, words, calls, says="", earlier=(), may_stay="", again=False, only=""):
    """says: how its error begins; may_stay: a name that may be left; again: the same call, unhurt, must then end
    well."""
    begin(earlier)
    before = tree()
    done = call(words, "all:0" if "malloc" in calls else "most:0", only)
    check(done.returncode == 0, "%s: status %d: %s" % (name, done.returncode, done.stderr.decode()))
    whole = tree(), folders()
    numbers = dict(line.split() for line in open("../count"))
    for kind in calls:
        number = int(numbers[kind])
        most = MOST if FULL or kind in ("open", "write", "malloc") else 2  # the first and the last one
        check(number > 0 or kind in RARE, "%s: no %s" % (name, kind))
        refused = 0
        for at in sorted({1 + i * (number - 1) // max(1, min(most, number) - 1) for i in range(min(most, number))}):
            begin(earlier)
            what = "%s, %s %d of %d" % (name, kind, at, number)
            try:
                done = call(words, "%s:%d" % (kind, at), only)
            except subprocess.TimeoutExpired:
                check(False, what + ": hangs")
                continue
            text = done.stderr.decode(errors="replace")
            if "HDF5-DIAG" in text: # HDF5 prints until it has started, and at its end if it has not
                text = "\n".join(line for line in text.splitlines() if line.startswith("hotfiber "))
            if "Fontconfig error" in text: # fontconfig prints
                text = text[text.rfind("\nhotfiber "):].strip() if "\nhotfiber " in text else ""
            lines = [line for line in text.splitlines() if not line.startswith(("warning: ", says + "warning: "))]
            if done.returncode == 0:
                check((tree(), folders()) == whole and not lines, "%s: went on, but not to the same result: %s %s" % (
                    what, sorted(set(tree()) ^ set(whole[0])), text))
                continue
            refused += 1
            check(done.returncode == 1, "%s: status %d: %s" % (what, done.returncode, text))
            check(len(lines) == 1 and lines[0].startswith(says), "%s: %s" % (what, text))
            left = [path for path in {**tree(), **dict.fromkeys(folders())} if path not in before and
                    not (may_stay and path.startswith(may_stay))]
            check(not left, "%s: left %s" % (what, left))
            check(all(tree().get(path) == before[path] for path in before), "%s: earlier files are gone" % what)
            if again:
                done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                      timeout=120)
                check(done.returncode == 0 and (tree(), folders()) == whole, "%s, then again: %d %s: %s" % (
                    what, done.returncode, done.stderr.decode(), sorted(set(tree()) ^ set(whole[0]))))
        check(refused > 0 or kind not in ("write", "rename", "malloc") or number == 0, "%s: no %s mattered" % (
            name, kind))
    os.chdir("..")


def command(name, words, calls, **more):
    all_in_turn(name, [HOT, *words, *COMMON], calls, says="hotfiber " + words[0] + ": ", **more)


model = ["--diffusivities", "1.7e-3,.2e-3"]
for words in (["phantom", "--layout", "mixture", "--size", "4,4,2", "--seed", "2", "-o", "dwi.nrrd"],
              ["convert", "-i", "dwi.nrrd", "-o", "dwi.nii.gz"],
              ["fit", "-i", "dwi.nrrd", "-o", "tensors.nrrd", *model],
              ["peaks", "-i", "tensors.nrrd", "-o", "peaks.nrrd"],
              ["learn", "-i", "dwi.nii.gz", "-o", "model.json", *model],
              ["run", "-i", "dwi.nii.gz", "-o", "parts", "--part", "1/2", "--learned", "model.json"],
              ["run", "-i", "dwi.nii.gz", "-o", "parts", "--part", "2/2", "--learned", "model.json"]):
    subprocess.run([HOT, *words, "--quiet"], check=True)
CALLS = ("open", "openat", "write", "close", "fsync", "rename", "mkdir", "opendir", "fopen", "fread", "fwrite",
         "fclose", "read", "mmap", "malloc")
command("run", ["run", "--no_report", "-i", "../dwi.nii.gz", "-o", "result", "--outputs", "all,maps", *model], CALLS)
command("run with a page", ["run", "-i", "../dwi.nii.gz", "-o", "result", "--report", *model],
        ("fwrite", "fclose", "malloc", "finish"))
command("paged run", ["run", "--no_report", "-i", "../dwi.nii.gz", "-o", "result", "--memory", "64k", *model],
        ("open", "read", "pread", "pwrite", "write", "mmap", "malloc"))
command("resumable run", ["run", "--no_report", "-i", "../dwi.nii.gz", "-o", "result", "--resume", *model],
        ("open", "openat", "mkdir", "write", "fopen", "fread", "fwrite", "fclose", "rename", "fsync", "malloc"),
        may_stay="./result.resume", again=True)
command("learn", ["learn", "-i", "../dwi.nii.gz", "-o", "model.json", *model],
        ("open", "write", "close", "fsync", "rename", "malloc"), earlier=["model.json"])
command("run with a model", ["run", "--no_report", "--learned", "../model.json", "-i", "../dwi.nii.gz", "-o", "result"],
        ("open", "fopen", "fread", "read", "malloc"))
command("part", ["run", "-i", "../dwi.nii.gz", "-o", "parts", "--part", "1/2", "--learned", "../model.json"],
        ("open", "mkdir", "write", "fwrite", "fclose", "fsync", "rename", "malloc"))
command("merge", ["merge", "../parts", "-o", "result"], ("open", "opendir", "fopen", "fread", "write", "malloc"))
command("fit", ["fit", "-i", "../dwi.nrrd", "-o", "tensors.nhdr", *model],
        CALLS if FULL else ("open", "write", "fread", "rename", "malloc"))
command("convert", ["convert", "-i", "../dwi.nrrd", "-o", "a/b/dwi.nii.gz"], CALLS)
listed = subprocess.run([HOT, "export", "--list"], check=True, stdout=subprocess.PIPE).stdout.decode()
for format, name in (("vtp", "fibers.vtp"), ("tck", "fibers.tck"), ("fixels", "fixels"), ("fz", "fibers.fz"),
                     ("odx", "fibers.odx"), ("pam5", "fibers.pam5"), ("png", "picture.png"), ("dec", "dec.nii.gz")):
    if "\n" + format + " " not in "\n" + listed: # of a build without HDF5
        print("left out: this build has no", format)
        continue
    # One piece of code puts them all in their places: a file, a folder and an archive show it.
    command("export " + format, ["export", "-i", "../peaks.nrrd", "-o", name, "--format", format],
            ("open", "write", "fsync", "rename", "mkdir", "malloc") if FULL or format in ("vtp", "fixels", "odx") else
            ("write",) if format == "pam5" else # HDF5 itself dies of some failed allocations
            ("write", "malloc"), earlier=[] if format == "fixels" else [name])

# ---- What is refused, without the memory to say why
begin([])
words = [HOT, "export", "-i", "../peaks.nrrd", "-o", "x", "--format", "none", *COMMON]
call(words, "all:0", "")
numbers = dict(line.split() for line in open("../count"))
for kind in ("malloc", "finish"):
    number = int(numbers[kind])
    check(number > 0, "refused: no %s" % kind)
    for at in range(1, number + 1):
        done = call(words, "%s:%d" % (kind, at), "")
        lines = done.stderr.decode().splitlines()
        check(done.returncode == 1 and len(lines) == 1 and lines[0].startswith("hotfiber export: ") and not tree(),
              "refused, %s %d of %d: status %d: %s" % (kind, at, number, done.returncode, lines))
os.chdir("..")

# ---- The module as a program, with outputs of an earlier run
MODULE = os.path.join(BUILD, "bin", "HotFiber")
if os.path.exists(MODULE):
    all_in_turn("module", [MODULE, "--device", "cpu", "--peaks", "p.nrrd", "--nfibers", "n.nii.gz", "--dec", "d.nhdr",
                           "--report", "r.json", "--order", "4", "--method", "maxima", "../dwi.nrrd"],
                ("open", "write", "fsync", "rename", "mkdir", "opendir", "malloc"), says="HotFiber: ",
                earlier=["p.nrrd", "n.nii.gz", "d.nhdr"])

# ---- The viewer, as it loads and writes a picture
if os.path.exists(os.path.join(BUILD, "bin", "hotfiber-view")):
    all_in_turn("viewer", [HOT, "view", "../peaks.nrrd", "--screenshot", "view.png", "--size", "64x48"],
                ("open", "fread", "fsync", "rename"), says="hotfiber view: ", earlier=["view.png"])

# ---- The Python package: an exception with one line
if os.path.exists(os.path.join(BUILD, "python", "hotfiber")):
    open("call.py", "w").write('''
import sys
import warnings
import hotfiber
warnings.simplefilter("ignore") # few voxels
try:
    open("/hot_fault_begin")
except OSError:
    pass
try:
    found = hotfiber.fibers(hotfiber.load("../dwi.nrrd"), device="cpu", threads=1)
    open("peaks.bin", "wb").write(found.peaks.tobytes())
except hotfiber.Error as error:
    print("python:", str(error), file=sys.stderr)
    sys.exit(1)
''')
    os.environ["PYTHONPATH"] = os.path.join(BUILD, "python")
    os.environ["HOT_FAULT_LATER"] = "1"
    all_in_turn("python", ["/usr/bin/python3", "../call.py"], ("malloc",), says="python:",
                only="libhotfiber_python")
end()
