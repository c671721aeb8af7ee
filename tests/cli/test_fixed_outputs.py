"""Outputs over links to files that must not change, of git-annex or read-only, also for root; names in messages about a
full disk; the page of a run with a very long log; superfluous plain arguments of the module."""
import json
import shutil
import sys

from cli import *

works("phantom", "--layout", "bundles", "--size", "7,6,5", "--snr", 25, "-b", "1000", "--directions", 20, "-o",
      "dwi.nii", "--seed", 5, "--quiet")
works("run", "-i", "dwi.nii", "-o", "run", "--outputs", "default,tensors", "--quiet")
MODULE = os.path.join(os.environ["HOT_BUILD"], "bin", "HotFiber")

# ---- Links. Everything that writes one file: the link's target is never replaced, and the hint is that of inputs.
os.makedirs("set/.git/annex/objects/K1")
os.makedirs("set/sub")
os.makedirs("plain")
open("set/.git/annex/objects/K1/K1.x", "w").write("annexed")
os.chmod("set/.git/annex/objects/K1/K1.x", 0o444)
open("plain/fixed", "w").write("read-only")
os.chmod("plain/fixed", 0o444)
open("plain/free", "w").write("free")
LINKS = {"there": "../.git/annex/objects/K1/K1.x", "gone": "../.git/annex/objects/K2/K2.x",
         "absolute": os.path.abspath("set/.git/annex/objects/K1/K1.x"), "twice": "first", "fixed": "../../plain/fixed"}
os.symlink("../.git/annex/objects/K1/K1.x", "set/sub/first")
os.symlink(".git/annex/objects", "set/objects") # a folder on the way
WRITERS = {
    ".nii.gz": ["convert", "-i", "dwi.nii", "-o"], ".nii": ["convert", "-i", "dwi.nii", "-o"],
    ".nrrd": ["convert", "-i", "dwi.nii", "-o"], ".mif": ["convert", "-i", "dwi.nii", "-o"],
    ".nhdr": ["convert", "-i", "dwi.nii", "-o"], ".json": ["learn", "-i", "dwi.nii", "-o"],
    ".txt": ["response", "-i", "dwi.nii", "-o"], ".html": ["report", "run", "-o"],
    ".vtp": ["export", "-i", "run/peaks.nrrd", "-o"], ".png": ["export", "-i", "run/peaks.nrrd", "-o"],
}
content = {path: open(path).read() for path in ("set/.git/annex/objects/K1/K1.x", "plain/fixed")}
for ending, words in WRITERS.items():
    for kind, target in LINKS.items():
        if kind not in ("there", "fixed") and ending not in (".nii.gz", ".json"):
            continue
        link = f"set/sub/{kind}{ending}"
        os.symlink(target, link)
        done = hotfiber(*words, link, "--quiet")
        check(done.returncode == 1 and "link" in done.stderr and done.stderr.count("\n") == 1 and
              ("datalad unlock" in done.stderr or kind == "fixed"), f"{link}: {done.returncode} {done.stderr}")
        check(os.readlink(link) == target, f"{link}: the link stays")
for path, text in content.items():
    check(open(path).read() == text and os.stat(path).st_mode & 0o777 == 0o444, f"{path} is unchanged")
done = hotfiber("convert", "-i", "dwi.nii", "-o", "set/objects/K1/new.nii", "--quiet")
check(done.returncode == 1 and "datalad unlock" in done.stderr, f"into the store: {done.stderr}")
os.symlink(LINKS["there"], "set/sub/part.raw") # of a detached header
hotfiber("convert", "-i", "dwi.nii", "-o", "set/sub/part.nhdr", "--quiet")
check(open("set/.git/annex/objects/K1/K1.x").read() == "annexed", "a header's samples")
done = subprocess.run([MODULE, "dwi.nii", "--peaks", "set/sub/there.nrrd"], stdout=subprocess.PIPE,
                      stderr=subprocess.PIPE, text=True, check=False)
check(done.returncode != 0 and "datalad unlock" in done.stderr, f"the module: {done.stderr}")
check(open("set/.git/annex/objects/K1/K1.x").read() == "annexed", "the module replaces nothing")
os.symlink("../../plain/free", "set/sub/free.txt")
works("response", "-i", "dwi.nii", "-o", "set/sub/free.txt", "--quiet")
check(os.path.islink("set/sub/free.txt") and "free" not in open("plain/free").read(), "another link is followed")
check(not [name for name in os.listdir("set/sub") + os.listdir("set/.git/annex/objects") if "part-" in name], "left")

# ---- A full disk: the message has the requested name.
limit = "import os, resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); " \
        "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2); os.execv(sys.argv[2], sys.argv[2:])"
seen = set()
for size in (0, 1, 200, 600, 1500, 3000, 6000):
    for words in (["run", "-i", "dwi.nii", "-o", "full", "--outputs", "all,maps,bedpostx", "--samples", 2],
                  ["run", "-i", "dwi.nii", "-o", "deep/er/full", "--outputs", "peaks,fixels,vtp", "--report"],
                  ["run", "-i", "dwi.nii", "-o", "full", "--outputs", "tensors,png"]):
        done = subprocess.run([sys.executable, "-c", limit, str(size), HOTFIBER, *map(str, words), "--quiet"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              check=False)
        check(done.returncode in (0, 1) and done.stderr.count("\n") == done.returncode and ".part-" not in done.stderr,
              f"{size}: {words}: {done.returncode} {done.stderr}")
        seen |= {done.stderr.partition("full/")[2].partition("'")[0]} if "full/" in done.stderr else set()
        for folder in ("full", "deep"):
            shutil.rmtree(folder, ignore_errors=True)
check(len(seen) >= 4, f"files that had no room: {seen}")

# ---- A page is never larger than 5 MB for any report.json; omissions are listed.
report = json.load(open("run/report.json"))
LONG = "a note with <many> \"characters\" " * 40
for name, change, words in (
        ("notes", {"log": [{"level": "note", "text": f"{n} {LONG}"} for n in range(12000)]}, ["more notes"]),
        ("both", {"log": [{"level": ("note", "warning")[n == 9999], "text": f"line {n}"} for n in range(10000)]},
         ["and 9899 more notes", "line 9999"]),
        ("line", {"log": [{"level": "warning", "text": "x" * 15000000}]}, ["15000000 bytes"]),
        ("utf8", {"log": [{"level": "warning", "text": "é" * 2000000}]}, ["4000000 bytes"]),
        ("files", {"files": [f"file {n} {LONG}" for n in range(8000)]}, ["more, which report.json has"]),
        ("settings", {"settings": {f"s{n}": LONG * 4 for n in range(2000)}}, []),
        ("device", {"device": {"&" * 100000: "'" * 1000000}}, []),
        ("shells", {"input": {**report["input"], "shells": [{"b": n, "volumes": 1} for n in range(100000)]}}, []),
        ("response", {"response": {"shells": [{"b": n, "coefficients": [1, -.5]} for n in range(90000)]}}, []),
        ("gradients", {"gradients": {"verdict": "wrong", "likeliest": LONG * 9000}}, [])):
    json.dump({**report, **change}, open("run/report.json", "w"))
    check(os.path.getsize("run/report.json") < 16 << 20, f"{name}: a report of reasonable size")
    done = works("report", "run", "-o", "page.html", "--quiet")
    if done.returncode == 0:
        page = open("page.html", encoding="utf-8").read()
        check(os.path.getsize("page.html") < 5 << 20, f"{name}: {os.path.getsize('page.html')} bytes")
        check(all(word in page for word in words), f"{name}: it says {words}")
        check(page.rstrip().endswith("</html>"), f"{name}: whole")

# ---- What is left over on the module's command line.
for more, word in ((["extra1"], "extra1"), (["extra1", "extra2"], "extra1"), (["other.nii"], "other.nii")):
    done = subprocess.run([MODULE, "--peaks", "p.nrrd", "dwi.nii", *more], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    check(done.returncode != 0 and word in done.stderr and done.stderr.count("\n") == 1 and
          not os.path.exists("p.nrrd"), f"{more}: {done.returncode} {done.stderr}")
end()
