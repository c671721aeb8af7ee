"""hotfiber-bids and what others put into a data set: names that a shell, a terminal or a format would obey, scans that
are no series, sidecars and names that cannot be read, folders that say who somebody is, what a killed call leaves."""

import nibabel

from _bids import *

TRAP = "touch PWNED"
# Blanks, quotes, shell, format and glob characters, a line break, an escape sequence; no name of a file is forbidden.
WILD = f"-d a\t'\"$({TRAP})`{TRAP}`;{TRAP}&|<>{{scan}} {{x}} {{0}} %s %n *?[a-z]~!#\\\n\x1b]0;owned\x07 é"
PERSON = "Erika_Mustermann_1964"


def traps(what):
    """Nothing was executed, here or wherever else something ran."""
    found = [os.path.join(folder, name) for folder, _, names in os.walk(".") for name in names if "PWNED" == name]
    check(not found, f"{what}: executed: {found}")


def check_lines(done, what):
    """Output cannot control a terminal, and no name adds a line."""
    text = done.stdout + done.stderr
    check(all(c.isprintable() or c == "\n" for c in text), f"{what}: {text!r}")
    check(all(line.startswith(("hotfiber-bids: ", "sub-", "0 of", "1 of", "2 of", "3 of", "4 of", "6 of"))
              for line in text.splitlines()), f"{what}: {text}")


# ---- The whole way with such folders: data, derivatives, output, work; at once and in parts; the same bytes.
raw = dataset("raw")
good = scan(raw, "01", seed=1, size="7,7,3")
check(bids(raw, "plain", "participant", "--skip-bids-validation").returncode == 0, "a usual name")
for number, more in enumerate((["--parts", 2], ["--derivatives", f"{WILD}/raw{WILD}"])):
    os.makedirs(WILD, exist_ok=True)
    wild, out = f"{WILD}/raw{WILD}", f"{WILD}/out{number}{WILD}"
    if not os.path.exists(wild):
        shutil.copytree(raw, wild)
    done = bids(f"./{wild}", f"./{out}", "participant", "-w", f"./{WILD}/work{WILD}", "--skip-bids-validation", *more)
    check(done.returncode == 0, f"{more}: {done.returncode} {done.stdout} {done.stderr}")
    check_lines(done, more)
    name = "sub-01/dwi/sub-01_model-hot_param-direction_dwimap.nii.gz"
    check(open(f"plain/{name}", "rb").read() == open(f"{out}/{name}", "rb").read(), f"{more}: the same bytes")
    done = bids(f"./{wild}", f"./{out}", "group")
    check(done.returncode == 0, done.stderr)
    check_lines(done, "group")
    read_page(f"{out}/group_dwi.html")
traps("folders")
listed = bids(f"./{WILD}/raw{WILD}", "o", "participant", "--list")
check(listed.stdout.count("\n") == 1, f"a line per scan: {listed.stdout!r}")
listed = json.loads(bids(f"./{WILD}/raw{WILD}", "o", "participant", "--list-json").stdout)
check(all(os.path.exists(path) for path in listed["sub-01"]), f"the names: {listed}")
shutil.rmtree(WILD)

# ---- Labels are letters and digits; what has others is named and left out, like what is no series.
odd = dataset("odd")
shutil.copytree("raw/sub-01", f"{odd}/sub-01")
labels = [f"acq-$({TRAP})", f"acq-`{TRAP}`", "acq-a b", "acq-a;b", "acq-a'b", 'acq-a"b', "acq-a\nb", "acq-{scan}",
          "acq-*", "acq--x", "acq-é", "acq-a\x1b[2J", "acq-%s", "acq-<b>", "acq-", "a$cq-1"]
for label in labels:
    for ending in (".nii.gz", ".bval", ".bvec"):
        shutil.copy(good + ending, f"{odd}/sub-01/dwi/sub-01_{label}_dwi{ending}")
shutil.copy(f"{good}.nii.gz", os.fsencode(f"{odd}/sub-01/dwi/sub-01_acq-") + b"\xff\xfe_dwi.nii.gz")
for folder in (f"sub-$({TRAP})", "sub-a b", "sub-\x1b[2J", "sub-01/ses-a;b", "sub-\udcff"):
    shutil.copytree(f"{raw}/sub-01/dwi", f"{odd}/{folder}/dwi")
done = bids(odd, "odd_out", "participant", "--skip-bids-validation")
check(done.returncode == 0 and "sub-01: done in" in done.stdout, f"{done.returncode} {done.stdout} {done.stderr}")
check_lines(done, "labels")
left = [line for line in done.stderr.splitlines() if "left out: " in line]
check(len(left) == len(labels) + 6, f"{len(left)} of {len(labels) + 6} are named: {left}")
check(sorted(os.listdir("odd_out/logs")) == ["sub-01.json"], f"{os.listdir('odd_out/logs')}")
check(bids(odd, "odd_out", "group").returncode == 0, "the table")
page = read_page("odd_out/group_dwi.html")
check("Left out" in page.words and "letters and digits" in page.words, "the page names them")
traps("labels")


# ---- b=0 volumes alone, and one volume, are no failures: NIfTI of 3 and 4 dimensions, 1 and 2, packed or not; .b.
def series(name, values, shape=(5, 5, 3), kind=nibabel.Nifti1Image, ending=".nii.gz", table=True):
    start = f"none/sub-{name}/dwi/sub-{name}_dwi"
    os.makedirs(os.path.dirname(start))
    nibabel.save(kind(np.full((*shape, *values.shape), 100, np.int16), np.eye(4)), start + ending)
    if table:
        np.savetxt(start + ".bval", np.atleast_1d(values)[None], "%g")
        np.savetxt(start + ".bvec", np.zeros((3, values.size)), "%g")


dataset("none")
series("zeros", np.zeros(4))
series("fifty", np.array([0., 55., 60., 65.]))
series("nobvec", np.zeros(3))
os.remove("none/sub-nobvec/dwi/sub-nobvec_dwi.bvec")
series("grad", np.zeros(2), table=False)
open("none/sub-grad/dwi/sub-grad_dwi.b", "w").write("# of MRtrix\n0 0 0 0\n1 0 0 0\n")
series("trace", np.zeros(()), table=False)
series("four", np.array([1000.]))
series("second", np.zeros(()), kind=nibabel.Nifti2Image, ending=".nii", table=False)
series("big", np.zeros(()), ending=".nii", table=False)
done = bids("none", "none_out", "participant", "--skip-bids-validation")
check(done.returncode == 0 and done.stderr.count("left out: ") == 8, f"{done.returncode} {done.stderr}")
check(done.stderr.count("b=0 volumes only") == 4 and done.stderr.count("one volume") == 4, done.stderr)
check(not os.path.exists("none_out/logs"), "they have no records")
check(bids("none", "none_out", "group").returncode == 0, "and a table of nothing")
done = bids("none", "none_out", "participant", "--scan", "sub-trace", "--stage", "learn")
check(done.returncode == 1 and "one volume" in done.stderr, f"requested by name: {done.stderr}")
series("series", np.array([0., 1000.] * 3), table=False) # without a table a series is a failure, as before
done = bids("none", "none_out", "participant", "--skip-bids-validation")
check(done.returncode == 1 and "1 of 1 scans failed: sub-series" in done.stderr, f"{done.returncode} {done.stderr}")

# ---- What cannot be read is one scan's affair: sidecars, a description, a damaged mask.
bad = dataset("bad")
kinds = {"deep": b"[" * 100000, "deepobject": b'{"a":' * 100000, "latin": b'{"Manufacturer": "\xe9"}', "empty": b"",
         "list": b"[1, 2]", "pairs": b'[["Manufacturer", 1]]', "number": b"1" * 10000,
         "surrogate": b'{"Manufacturer": "\\ud800", "MagneticFieldStrength": 1e999}',
         "nest": b'{"Manufacturer": ' + b"[" * 400 + b"]" * 400 + b"}",
         "bom": b'\xef\xbb\xbf{"Manufacturer": "Known"}', "large": b'{"a": "' + b"x" * (17 << 20) + b'"}'}
for name, content in kinds.items():
    shutil.copytree("raw/sub-01", f"{bad}/sub-{name}")
    for ending in (".nii.gz", ".bval", ".bvec"):
        shutil.move(f"{bad}/sub-{name}/dwi/sub-01_dwi{ending}", f"{bad}/sub-{name}/dwi/sub-{name}_dwi{ending}")
    open(f"{bad}/sub-{name}/dwi/sub-{name}_dwi.json", "wb").write(content)
for name, how in (("pipe", os.mkfifo), ("endless", lambda path: os.symlink("/dev/zero", path)), ("folder", os.mkdir)):
    shutil.copytree(f"{bad}/sub-bom", f"{bad}/sub-{name}")
    for file in os.listdir(f"{bad}/sub-{name}/dwi"):
        shutil.move(f"{bad}/sub-{name}/dwi/{file}", f"{bad}/sub-{name}/dwi/{file.replace('bom', name)}")
    os.remove(f"{bad}/sub-{name}/dwi/sub-{name}_dwi.json")
    how(f"{bad}/sub-{name}/dwi/sub-{name}_dwi.json")
open(f"{bad}/dataset_description.json", "wb").write(b'{"Name": ' + b"[" * 100000)
done = bids(bad, "bad_out", "participant", "--skip-bids-validation", timeout=120)
names = sorted([*kinds, "pipe", "endless", "folder"])
check(done.returncode == 0 and done.stdout.count("done in") == len(names),
      f"{done.returncode} {done.stdout}{done.stderr}")
for name in names:
    about = status("bad_out", f"sub-{name}")
    fine = name in ("surrogate", "nest", "bom")
    check(len(about["remarks"]) == int(not fine), f"{name}: {about['remarks']}")
check(status("bad_out", "sub-bom")["scanner"] == {"Manufacturer": "Known"} and
      status("bad_out", "sub-nest")["scanner"] == {}, "what is kept of them")
check(bids(bad, "bad_out", "group").returncode == 0, "the table")
read_page("bad_out/group_dwi.html")
done = bids(bad, "bad_out", "participant", "--skip-bids-validation")
check(done.stdout.count("done already") == len(names), f"once: {done.stdout}{done.stderr}")

# ---- Folders are often named after people: no folder's name gets into shared files, with or without parts or failures.
os.makedirs(f"{PERSON}/study")
shutil.copytree("raw", f"{PERSON}/study/raw")
shutil.copytree("raw/sub-01", f"{PERSON}/study/raw/sub-02")
for ending in (".nii.gz", ".bval", ".bvec"):
    start = f"{PERSON}/study/raw/sub-02/dwi/sub-0"
    shutil.move(f"{start}1_dwi{ending}", f"{start}2_dwi{ending}")
truncate(f"{PERSON}/study/raw/sub-02/dwi/sub-02_dwi.nii.gz")
works("response", "-i", f"{good}.nii.gz", "-o", f"{PERSON}/response.txt", "--quiet")
for number, more in enumerate(([], ["--parts", 2], ["--hotfiber-options", f"--response {PERSON}/response.txt"])):
    out = f"{PERSON}/study/raw/derivatives/hot{number}"
    done = bids(f"{PERSON}/study/raw", out, "participant", "--skip-bids-validation", *more)
    check(done.returncode == 1 and "1 of 2 scans failed: sub-02" in done.stderr, f"{more}: {done.stderr}")
    bids(f"{PERSON}/study/raw", out, "group", *more)
    for folder, _, names in os.walk(out):
        for name in names:
            content = open(os.path.join(folder, name), "rb").read()
            content += gzip.decompress(content) if name.endswith(".gz") else b""
            at = content.find(PERSON.encode())
            check(at < 0 or ".work" in folder, f"{more}: {name} names somebody: {content[max(0, at - 60):at + 60]!r}")
    check("sub-01/dwi/sub-01_dwi.nii.gz" in Html(f"{out}/sub-01.html").words, "the page names the image all the same")
# A response that changes under its name makes its scans anew.
call = (f"{PERSON}/study/raw", out, "participant", "--skip-bids-validation", "--participant-label", "01", *more)
check("done already" in bids(*call).stdout, "the same response")
open(f"{PERSON}/response.txt", "a").write("# another\n")
check("sub-01: done in" in bids(*call).stdout, "another one")

# ---- A killed call leaves hidden files; the next one removes them, but not those in somebody's hands.
shutil.copytree("plain", "killed")
for path in ("killed/.part-1-2-dataset_description.json", "killed/.part-1-2-sub-01.html",
             "killed/logs/.part-1-2-sub-01.json", "killed/.part-1-2-group_dwi.html",
             "killed/sub-01/dwi/.part-1-2-sub-01_S0map.nii.gz"):
    open(path, "w").write("half")
os.makedirs("killed/.work/sub-01/parts")
open("killed/.work/.sub-01.lock", "w").close()
open("killed/sub-01/dwi/.part-1-2-sub-01_run-2_S0map.nii.gz", "w").write("of another scan")
open("killed/.part-notes", "w").write("the user's")
done = bids(raw, "killed", "participant", "--skip-bids-validation")
check("sub-01: done already" in done.stdout, f"{done.stdout} {done.stderr}")
hidden = sorted(os.path.join(folder, name) for folder, folders, names in os.walk("killed") for name in names + folders
                if name.startswith(".") and name != ".bidsignore")
check(hidden == ["killed/.part-notes", "killed/sub-01/dwi/.part-1-2-sub-01_run-2_S0map.nii.gz"], f"left: {hidden}")
end()
