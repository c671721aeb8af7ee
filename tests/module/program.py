"""HotFiber as a program: its XML as both dialects read it, its progress, its exit status, and no GPU touched for
--xml."""
import json
import os
import re
import shutil
import signal
import xml.etree.ElementTree as ElementTree

from cli import *

PROGRAM = os.path.join(os.environ["HOT_BUILD"], "bin", "HotFiber")


def program(*arguments, **more):
    done = subprocess.run([PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, timeout=300, text=True, **more)
    return done


# ---- The description -------------------------------------------------------------------------------------------------
done = program("--xml")
check(done.returncode == 0 and done.stderr == "", f"--xml: {done.stderr}")
root = ElementTree.fromstring(done.stdout)
check(root.tag == "executable", root.tag)
heads = [child.tag for child in root]
allowed = ["category", "title", "description", "version", "documentation-url", "license", "contributor",
           "acknowledgements"]
places = [allowed.index(tag) for tag in heads if tag != "parameters"]
check(places == sorted(places) and {"title", "description"} <= set(heads), f"the head's order: {heads}")
check(heads[len(places):] == ["parameters"] * (len(heads) - len(places)) and len(heads) > len(places), f"{heads}")
version = program("--version").stdout
check(version == f"HotFiber {root.find('version').text}\n", version)

KINDS = {"boolean": set(), "integer": {"constraints"}, "double": {"constraints"}, "double-vector": {"constraints"},
         "string-enumeration": {"element"}, "string": set(), "file": set(), "image": set(), "geometry": set()}
ORDER = ["name", "flag", "longflag", "index", "description", "label", "default", "channel", "constraints", "element"]
IMAGES = {"scalar", "label", "tensor", "diffusion-weighted", "vector", "model"}
names, flags, indices = [], [], []
for group in root.findall("parameters"):
    children = list(group)
    check([child.tag for child in children[:2]] == ["label", "description"], f"a group begins: {children[0].tag}")
    check(set(group.attrib) <= {"advanced"} and group.get("advanced") in ("true", "false"), f"{group.attrib}")
    for parameter in children[2:]:
        name = parameter.findtext("name")
        names.append(name)
        check(parameter.tag in KINDS, f"{name}: {parameter.tag}")
        tags = [child.tag for child in parameter]
        places = [ORDER.index(tag) for tag in tags]
        check(places == sorted(places), f"{name}: the order that CTK needs: {tags}")
        check(all(tags.count(tag) == 1 for tag in tags if tag != "element"), f"{name}: twice: {tags}")
        check({"name", "description", "label"} <= set(tags), f"{name}: {tags}")
        check(re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name) is not None, name)
        check(("longflag" in tags) != ("index" in tags), f"{name}: a flag or an index")
        if "longflag" in tags:
            flags.append(parameter.findtext("longflag"))
            check(re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", flags[-1]) is not None, f"{flags[-1]}")
        else:
            indices.append(int(parameter.findtext("index")))
        check(set(tags) - {"name", "flag", "longflag", "index", "description", "label", "default", "channel"}
              <= KINDS[parameter.tag], f"{name}: {tags}")
        if "constraints" in tags:
            check([c.tag for c in parameter.find("constraints")] == ["minimum", "maximum", "step"],
                  f"{name}: CTK wants a step")
            low, high, step = (float(c.text) for c in parameter.find("constraints"))
            check(low < high and step > 0, f"{name}: bounds")
            for text in parameter.findtext("default").split(","):
                check(low <= float(text) <= high, f"{name}: default")
        if parameter.tag == "string-enumeration":
            words = [e.text for e in parameter.findall("element")]
            check(parameter.findtext("default") in words and len(set(words)) == len(words) > 1, f"{name}: {words}")
        if parameter.tag in ("image", "file", "geometry"):
            check(parameter.findtext("channel") in ("input", "output"), f"{name}: channel")
            check(all(re.fullmatch(r"(\.[a-z]+)+", s) for s in parameter.get("fileExtensions").split(",")), f"{name}")
        if parameter.tag == "image":
            check(parameter.get("type") in IMAGES, f"{name}: {parameter.get('type')}")
        if parameter.tag not in ("image", "file", "geometry"):
            check(parameter.findtext("channel") in (None, "input"), f"{name}: a simple return parameter")
        check(parameter.findtext("index") != "1000", f"{name}: a simple return parameter")
        check("multiple" not in parameter.attrib, f"{name}: multiple")
check(len(set(names)) == len(names) and len(set(flags)) == len(flags), "names are unique")
check(indices == [0], f"arguments: {indices}")
hidden = [p for p in root.iter("boolean") if p.get("hidden") == "true"]
check([(p.findtext("name"), p.findtext("default")) for p in hidden] == [("AllowInMemoryTransfer", "false")],
      "AllowInMemoryTransfer")
dwi = next(p for p in root.iter("image") if p.findtext("index") == "0")
check(dwi.get("type") == "diffusion-weighted" and dwi.findtext("channel") == "input", "the DWI")
check(next(root.iter("geometry")).get("type") == "fiberbundle", "fibre lines")
for wanted in ("dwi", "mask", "order", "model", "method", "max_fibers", "threshold", "starts", "shift",
               "device", "peaks", "tensors", "nfibers", "dec", "fibers", "report"):
    check(wanted in names, f"a parameter {wanted}")
help_text = program("--help").stdout
check(all(f"--{flag}" in help_text for flag in flags if flag != "AllowInMemoryTransfer"), "--help lists every flag")

# ---- Nothing of a GPU is touched to describe oneself -----------------------------------------------------------------
loaded = subprocess.run([PROGRAM, "--xml"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                        env={**os.environ, "LD_DEBUG": "files"})
check("libteem" in loaded.stderr and "libcuda.so" not in loaded.stderr, "libcuda is loaded for --xml")
if shutil.which("strace"):
    traced = subprocess.run(["strace", "-f", "-e", "trace=openat,open", PROGRAM, "--xml"], stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, text=True)
    if "ptrace" not in traced.stderr:
        check("nvidia" not in traced.stderr and "libcuda" not in traced.stderr, "a GPU's files are opened for --xml")

# ---- Runs ----------------------------------------------------------------------------------------------------------
scene = Scene(count=34, b0=2, noise=8.)
write_dwi("dwi.nrrd", scene)
before = set(tree())
done = program("--processinformationaddress", "0xdeadbeef", "--returnparameterfile", "back.txt", "--device", "cpu",
               "--order", "4", "--method", "maxima", "--peaks", "peaks.nrrd", "--nfibers", "n.nii.gz", "--dec",
               "dec.nrrd", "--fibers", "f.vtp", "--tensors", "t.nrrd", "--report", "r.json", "dwi.nrrd")
check(done.returncode == 0, f"{done.stderr}")
made = {name[2:] for name in set(tree()) - before}
check(made == {"peaks.nrrd", "n.nii.gz", "dec.nrrd", "f.vtp", "t.nrrd", "r.json"}, f"{made}")
lines = done.stdout.split("\n")
check(lines[0] == "<filter-start>" and "</filter-end>" in lines, f"{lines[:3]}")
shares = [float(s) for s in re.findall(r"<filter-progress>([^<]*)</filter-progress>", done.stdout)]
check(shares == sorted(shares) and shares[-1] == 1 and len(shares) > 5 and min(shares) >= 0, f"{shares}")
check(re.search(r'<filter-progress-text progress="0\.\d+">fitting tensors</filter-progress-text>',
                done.stdout) is not None, "text")
report = json.load(open("r.json"))
check(report["settings"]["order"] == 4 and report["input"]["file"] == "dwi.nrrd" and
      set(report["files"]) == made, f"{report['settings']} {report['files']}")
# The same directions as the command's.
works("run", "-i", "dwi.nrrd", "-o", "out", "--device", "cpu", "--order", 4, "--method", "maxima", "--quiet", "--seed",
      1)
ours, _ = read_nrrd("peaks.nrrd")
theirs, _ = read_nrrd("out/peaks.nrrd")
check(np.array_equal(ours, theirs) and np.abs(ours).max() > .3, "the module finds what the command finds")
colors, header = read_nrrd("dec.nrrd")
vectors = ours.reshape(3, 3, *ours.shape[1:], order="F")
check(np.allclose(colors, np.abs(vectors).sum(1), atol=1e-6) and header["kinds"].startswith("RGB-color"), "colours")

# A killed run's leftovers are removed, those in use stay; links are followed, as by the command.
os.makedirs("far/.part-4000001-7-there.nrrd/deep")
os.mkdir(".part-4000001-7-other.nrrd")
os.symlink("far/there.nrrd", "l.nrrd")
os.symlink("far/n.nrrd", "m.nrrd")
open("far/there.nrrd", "w").write("old")
done = program("--device", "cpu", "--order", "4", "--method", "maxima", "--peaks", "l.nrrd", "--nfibers", "m.nrrd",
               "dwi.nrrd")
check(done.returncode == 0, done.stderr)
check(os.readlink("l.nrrd") == "far/there.nrrd" and os.readlink("m.nrrd") == "far/n.nrrd", "links stay links")
check(sorted(os.listdir("far")) == ["n.nrrd", "there.nrrd"], f"{os.listdir('far')}")
check(open("far/there.nrrd", "rb").read() == open("peaks.nrrd", "rb").read(), "the target has the new data")
check(os.path.isdir(".part-4000001-7-other.nrrd"), "what belongs to another output stays")
os.rmdir(".part-4000001-7-other.nrrd")
shutil.rmtree("far")
os.remove("l.nrrd")
os.remove("m.nrrd")

# SS-HOPM: the same options, the same directions, and what it does not go with refused in the same words.
done = program("--device", "cpu", "--order", "4", "--method", "sshopm", "--starts", "40", "--shift", "2.5", "--peaks",
               "p.nrrd", "dwi.nrrd")
works("run", "-i", "dwi.nrrd", "-o", "out2", "--device", "cpu", "--order", 4, "--method", "sshopm", "--starts", 40,
      "--shift", 2.5, "--quiet")
check(done.returncode == 0 and np.array_equal(read_nrrd("p.nrrd")[0], read_nrrd("out2/peaks.nrrd")[0]), done.stderr)
os.remove("p.nrrd")
done = program("--tissues", "t.nrrd", "--model", "msmt", "--constraint", "hpsd", "--order", "4", "dwi.nrrd")
check(done.returncode == 0 and read_nrrd("t.nrrd")[0].shape[0] == 2, done.stderr)
os.remove("t.nrrd")
for options in (["--method", "maxima", "--starts", "9"], ["--starts", "9"], ["--method", "maxima", "--shift", "none"],
                ["--method", "maxima", "--sigma", "3"], ["--threshold", ".5"], ["--max_fibers", "4"],
                ["--method", "lowrank", "--max_fibers", "4"], ["--method", "lowrank", "--order", "2"],
                ["--method", "signal", "--model", "adc"], ["--model", "adc", "--response", "r.txt"],
                ["--response", "r.txt", "--diffusivities", "2e-3,1e-3"], ["--diffusivities", "1e-3,2e-3"]):
    ours = program("--peaks", "p.nrrd", *options, "dwi.nrrd")
    theirs = hotfiber("run", "-i", "dwi.nrrd", "-o", "out3", *options)
    said = theirs.stderr.replace("hotfiber run: --", "HotFiber: ").replace("; see `hotfiber run --help`", "")
    check(ours.returncode == 1 and theirs.returncode == 2 and ours.stderr == said, f"{options}: {ours.stderr} {said}")

# Denoised as by the command; a dash for an underscore; an unknown flag gives a warning, and nothing else.
done = program("--denoise", "--max-fibers", "2", "--zoom", "3", "--device", "cpu", "--peaks", "p.nrrd", "dwi.nrrd")
works("run", "-i", "dwi.nrrd", "-o", "out4", "--device", "cpu", "--denoise", "--max_fibers", 2, "--quiet")
check(done.returncode == 0 and np.array_equal(read_nrrd("p.nrrd")[0], read_nrrd("out4/peaks.nrrd")[0]),
      f"denoised: {done.stderr}")
check(done.stderr.count("warning: there is no option --zoom") == 1, f"an unknown flag: {done.stderr}")
os.remove("p.nrrd")

# Doubtful fibres are left out as by the command.
works("run", "-i", "dwi.nrrd", "-o", "sure", "--device", "cpu", "--quiet", "--outputs", "peaks")
everything = open("sure/peaks.nii.gz", "rb").read()
for options in (["--max_cone", "2"], ["--min_probability", "1"]):
    done = program("--device", "cpu", *options, "--peaks", "p.nii.gz", "dwi.nrrd")
    works("run", "-i", "dwi.nrrd", "-o", "sure", "--device", "cpu", *options, "--quiet", "--force", "--outputs",
          "peaks")
    check(open("p.nii.gz", "rb").read() == open("sure/peaks.nii.gz", "rb").read() != everything,
          f"{options}: as the command: {done.stderr}")
os.remove("p.nii.gz")

done = program("--peaks", "p.nrrd", "--order", "5", "dwi.nrrd")
check(done.returncode != 0 and done.stderr == "HotFiber: order: '5' is not auto, 2, 4, 6 or 8\n", f"{done.stderr}")
check(done.stdout == "", done.stdout)
done = program()
check(done.returncode != 0 and done.stderr.count("\n") == 1 and "dwi" in done.stderr, done.stderr)
check(program("--peaks", "/dev/full/p.nrrd", "dwi.nrrd").returncode != 0, "a file is no folder")
full = subprocess.run([PROGRAM, "--xml"], stdout=open("/dev/full", "w"))
check(full.returncode != 0, "--xml to a full disk")

# The host's Cancel for programs is a signal: heard at once, nothing left.
works("phantom", "--layout", "bundles", "--size", "44,44,24", "-o", "large.nrrd", "--quiet")
before = tree()
process = subprocess.Popen([PROGRAM, "--device", "cpu", "--threads", "1", "--peaks", "p.nrrd", "--fibers", "p.vtp",
                            "large.nrrd"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
for line in process.stdout:
    if "fitting" in line or "finding" in line:
        break
process.send_signal(signal.SIGTERM)
_, errors = process.communicate(timeout=120)
check(process.returncode != 0 and "cancelled" in errors, f"status {process.returncode}: {errors}")
check(tree() == before, f"left {set(tree()) ^ set(before)}")
end()
