"""What decides a result is in one table (plugin/run/options.inc): every member of the options structs has a row, and
every option of the command, each input file and each byte of the data, changed in turn, is seen by --resume, by a file
of hotfiber learn and by a merge of parts: refused, or of no consequence, byte by byte."""
import json
import re
import shutil

from _folders import same
from cli import *


# ---- Every member has a row.
SOURCE = os.path.join(os.environ["HOT_SOURCE"], "plugin")
LIST = open(f"{SOURCE}/run/options.inc").read()
rows = re.findall(r"^\w+\((RUN|FIT|PEAKS|SIGNAL), (\w+)", LIST, re.MULTILINE)
rows += re.findall(r"^PAIR\((RUN), \w+, (\w+)", LIST, re.MULTILINE)
headers = "".join(open(os.path.join(folder, name)).read() for folder, _, names in os.walk(f"{SOURCE}/include")
                  for name in names)
headers = re.sub(r"/\*.*?\*/", "", headers, flags=re.DOTALL)
for group, struct in (("RUN", "hot_run_options"), ("FIT", "hot_fit_options"), ("PEAKS", "hot_peaks_options"),
                      ("SIGNAL", "hot_signal_find_options")):
    body = re.search(r"typedef struct %s \{(.*?)\} %s;" % (struct, struct), headers, re.DOTALL).group(1)
    members = [re.search(r"(\w+)\s*$", word).group(1) for part in body.split(";") for word in part.split(",")
               if word.strip()]
    own = {"size"} | ({"fit", "peaks", "signal"} if group == "RUN" else set())
    check(len(members) > 8 and own <= set(members), f"{struct} is read: {members}")
    table = {name for of, name in rows if of == group}
    check(set(members) - own == table, f"{struct}: no row for {sorted(set(members) - own - table)}, "
          f"no member for {sorted(table - set(members))}")

# ---- Data, and runs that have ended just before their folder appears: `complete` cannot be written.
SIZE = "7,6,5"
works("phantom", "--layout", "bundles", "--size", SIZE, "--snr", 25, "-b", "1000,2500", "--directions", 32, "-o",
      "dwi.nii", "--seed", 5, "--quiet")
works("run", "-i", "dwi.nii", "-o", "first", "--outputs", "mask,response,nfibers", "--quiet")
works("run", "-i", "dwi.nii", "-o", "second", "--outputs", "mask,response", "--quiet", "--diffusivities",
      "1.9e-3,.4e-3")
for name in ("wm", "gm", "csf"):
    lines = open("first/response.txt").read().splitlines()
    scale = {"wm": 1, "gm": .7, "csf": .9}[name]
    kept = [line if line.startswith("#") else " ".join(f"{scale * float(word):.9g}" if name == "wm" or not at else "0"
                                                      for at, word in enumerate(line.split())) for line in lines]
    open(f"{name}.txt", "w").write("\n".join(kept) + "\n")
mask = bytearray(gzip.open("first/mask.nii.gz").read())
open("mask.nii", "wb").write(mask)
open("mask.raw", "wb").write(mask[352:])
shape = [int(word) for word in SIZE.split(",")]
open("mask.nhdr", "w").write(f"NRRD0004\ntype: uint8\ndimension: 3\nsizes: {' '.join(map(str, shape))}\nencoding: raw\n"
                             "data file: mask.raw\n")
BASES = {
    "signal": [], "given": ["--mask", "mask.nii", "--response", "first/response.txt"],
    "detached": ["--mask", "mask.nhdr", "--diffusivities", "1.7e-3,.3e-3"],
    "adc": ["--model", "adc", "--order", 4], "sshopm": ["--method", "sshopm", "--starts", 20],
    "msmt": ["--model", "msmt", "--response", "wm.txt,gm.txt,csf.txt"], "learned": ["--learned", "model.json"],
}
works("learn", "-i", "dwi.nii", "-o", "model.json", "--quiet")
for name, options in BASES.items():
    os.makedirs(f"{name}.resume/complete")
    done = hotfiber("run", "-i", "dwi.nii", "-o", name, "--resume", "--quiet", *options)
    check(done.returncode == 1 and "complete" in done.stderr and not os.path.exists(name), f"{name}: {done.stderr}")
    os.rmdir(f"{name}.resume/complete")
    shutil.move(f"{name}.resume", f"kept_{name}")


def resume(base, *more):
    """The same run resumes with other options."""
    for folder in ("again", "again.resume"):
        shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(f"kept_{base}", "again.resume")
    return hotfiber("run", "-i", "dwi.nii", "-o", "again", "--resume", *BASES[base], *more)


def refused(done, word, what):
    """In one line that names what is another."""
    kept = os.path.exists("again.resume/found") or done.args[1] != "run" or "--resume" not in done.args
    check(done.returncode in (1, 2) and word in done.stderr and done.stderr.count("\n") == 1 and kept and
          not os.path.exists("again"), f"{what}: {done.returncode} {done.stderr}")


for base, options in BASES.items():
    done = resume(base)
    check(done.returncode == 0 and "already" in done.stderr, f"{base}: resumes: {done.stderr}")
    if base == "signal":
        works("run", "-i", "dwi.nii", "-o", "whole", "--quiet")
        same("whole", "again", "goes on")

# ---- Every option in turn: a base that takes it, its value, and what the refusal names; None: of no consequence.
CHANGES = {
    "bval": ("signal", "other.bval", "data"), "grad": None, "bvec": ("signal", "other.bvec", "data"),
    "mask": ("given", "first/nfibers.nii.gz", "mask"), "denoise": ("signal", None, "denoise"),
    "model": ("adc", "odf", "model"), "order": ("signal", 4, "order"),
    "response": ("given", "second/response.txt", "response"),
    "diffusivities": ("detached", "1.7e-3,.31e-3", "radial_diffusivity"), "regularise": ("adc", .01, "regularise"),
    "known_b0": ("adc", "false", "estimate_s0"), "weights": ("adc", "none", "weighted"),
    "positive": ("adc", None, "positive"), "constraint": ("msmt", "hpsd", "constraint"),
    "kernel": ("msmt", "delta", "kernel"), "normalise": ("msmt", None, "normalise"),
    "method": ("sshopm", "lowrank", ""), "max_fibers": ("signal", 2, "max_fibers"),
    "threshold": ("adc", .3, "threshold"), "min_angle": ("adc", 20, "min_angle"),
    "min_amplitude": ("adc", .2, "min_amplitude"), "starts": ("sshopm", 21, "starts"),
    "shift": ("sshopm", "2", "shift"),
    "noise_model": ("signal", "gaussian", "noise_model"), "sigma": ("signal", 31, "sigma"),
    "samples": ("signal", 2, "samples"), "min_probability": ("signal", .5, "min_probability"),
    "max_cone": ("signal", 20, "max_cone"), "learned": ("learned", "changed.json", "learned"),
    "seed": ("signal", 9, "seed"), "device": ("signal", "reference", "device"),
    "outputs": ("signal", "all,maps", "tensors"), "merge": ("signal", "parts", "merge"),
    "part": ("signal", "1/2", "part"), "report": ("signal", None, None),
    "no_report": ("signal", None, None), "force": ("signal", None, None),
    "memory": ("signal", "300M", None), "threads": ("signal", 2, None), "quiet": ("signal", None, None),
    "confine": ("signal", None, None), "force_table": ("signal", None, None),
    "progress": ("signal", "none", None), "resume": None, "view": None, "help": None, "i": None, "o": None,
}
model = json.load(open("model.json"))
model["signal"]["sigma"] *= 1.0000001
json.dump(model, open("changed.json", "w"))
b, g = np.loadtxt("dwi.bval"), np.loadtxt("dwi.bvec")
g[:, -1] *= -1
g[0, -2] += 1e-4
np.savetxt("other.bvec", g, "%.9g")
b[-1] += 1
np.savetxt("other.bval", b[None], "%.9g")
known = set(re.findall(r"^ {1,6}(?:-\w, )?--?(\w+)", works("run", "--help").stdout.decode(), re.MULTILINE))
check(len(known) > 35 and known <= set(CHANGES), f"options without a change here: {sorted(known - set(CHANGES))}")
for option, change in CHANGES.items():
    if change is None:
        continue
    base, value, word = change
    done = resume(base, f"--{option}", *([] if value is None else [value]))
    if word is not None:
        refused(done, word, f"--{option}")
    elif check(done.returncode == 0, f"--{option}: {done.stderr}"):
        check(open("again/peaks.nrrd", "rb").read() == open("whole/peaks.nrrd", "rb").read(), f"--{option}: the same")

# ---- Every file in turn, under its name, with its size and its times.
def changed(path, how=None):
    """The file's content, changed in its last byte other than white space, or by `how`."""
    about, before = os.stat(path), open(path, "rb").read()
    after = how(before) if how else before[:-1] + bytes([before[-1] ^ 1])
    open(path, "wb").write(after)
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
    check(after != before and len(after) == len(before), f"{path} changes")
    return before


def digit(at):
    """Another last digit, of the text's last number that is not 0."""
    return lambda text: re.sub(rb"([1-9])([0\D]*)$" if at < 0 else rb"([1-9])", lambda found: (
        b"%d" % (int(found.group(1)) % 9 + 1)) + (found.group(2) if at < 0 else b""), text, count=1)


data_files = (("dwi.nii", None), ("dwi.nii", lambda b: b[:352] + bytes([b[352] ^ 1]) + b[353:]),
              ("dwi.nii", lambda b: b[:290] + bytes([b[290] ^ 64]) + b[291:]), ("dwi.bval", digit(-1)),
              ("dwi.bvec", digit(-1)))
for base, path, how in (*(("signal", *change) for change in data_files), ("given", "mask.nii", None),
                        ("given", "first/response.txt", digit(-1)), ("detached", "mask.raw", None),
                        ("msmt", "wm.txt", digit(-1)), ("msmt", "gm.txt", digit(1)), ("msmt", "csf.txt", digit(1)),
                        ("learned", "model.json", lambda text: text.replace(b'"sampled":\t', b'"sampled": '))):
    before = changed(path, how)
    done = resume(base)
    refused(done, "data is" if path.startswith("dwi") else "left by a run of other data", f"{base}: {path} changed")
    open(path, "wb").write(before)
resume("given", "--help")
os.rename("mask.nii", "renamed.nii")
done = hotfiber("run", "-i", "dwi.nii", "-o", "again", "--resume", "--mask", "renamed.nii", *BASES["given"][2:])
check(done.returncode == 0, f"a name decides nothing: {done.stderr}")
os.rename("renamed.nii", "mask.nii")
os.mkfifo("pipe")
done = hotfiber("run", "-i", "dwi.nii", "-o", "other", "--resume", "--mask", "pipe")
check(done.returncode == 1 and "--mask" in done.stderr and not os.path.exists("other.resume"), f"a pipe: {done.stderr}")

# ---- Parts of other options or data; and models.
shutil.rmtree("again", ignore_errors=True)
for name, options, others in (
        ("adc", BASES["adc"], (["--order", 2], ["--known_b0", "false"], ["--weights", "none"], ["--positive"],
                               ["--regularise", .01], ["--threshold", .3], ["--min_angle", 20], ["--max_fibers", 2],
                               ["--min_amplitude", .2], ["--seed", 9], ["--denoise"], ["--mask", "small.nii"])),
        ("sshopm", BASES["sshopm"], (["--starts", 21], ["--shift", 2])),
        ("msmt", BASES["msmt"], (["--constraint", "hpsd"], ["--kernel", "delta"], ["--normalise"],
                                 ["--response", "wm.txt,csf.txt"])),
        ("signal", [], (["--sigma", 31], ["--noise_model", "gaussian"], ["--samples", 2]))):
    small = mask[:352] + bytes(len(mask) - 352 - 40) + mask[-40:]
    small[352 + int(np.flatnonzero(np.frombuffer(mask[352:], np.uint8))[0])] = 1
    open("small.nii", "wb").write(small)
    for k in (1, 2):
        works("run", "-i", "dwi.nii", "-o", f"{name}_parts", "--part", f"{k}/2", "--quiet", *options)
    for more in others:
        works("run", "-i", "dwi.nii", "-o", "parts", "--part", "2/2", "--force", "--quiet", *options, *more)
        shutil.copy(f"{name}_parts/part-1-of-2.nrrd", "parts")
        done = hotfiber("merge", "parts", "-o", "again", "--quiet")
        refused(done, "part-", f"{name}: a part with {more}")
        done = hotfiber("run", "-i", "dwi.nii", "-o", "again", "--merge", f"{name}_parts", "--quiet", *options, *more)
        refused(done, "part", f"{name}: merged with {more}")
    works("learn", "-i", "dwi.nii", "-o", "of.json", "--quiet", *[word for word in options])
    taken = [word for at, word in enumerate(options) if "--response" not in (word, options[at - 1])]
    for more in others:
        if more[0] == "--mask":
            continue
        shutil.rmtree("learned", ignore_errors=True)
        done = hotfiber("run", "--learned", "of.json", "-o", "learned", "--quiet", *taken, *more)
        if done.returncode:
            check("other options" in done.stderr or "already" in done.stderr, f"{name}: learned, {more}: {done.stderr}")
            continue
        shutil.rmtree("direct", ignore_errors=True)
        works("run", "-i", "dwi.nii", "-o", "direct", "--quiet", *options, *more)
        same("direct", "learned", f"{name}: learned, with {more}")
for path, how in data_files:
    before = changed(path, how)
    done = hotfiber("merge", "adc_parts", "-o", "again", "--quiet")
    refused(done, "other data", f"merged with another {path}")
    done = hotfiber("run", "--learned", "model.json", "-o", "again", "--quiet")
    refused(done, "is", f"learned from another {path}")
    open(path, "wb").write(before)
works("merge", "adc_parts", "-o", "again", "--quiet")
end()
