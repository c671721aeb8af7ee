"""Bad input gets one clear line and status 1, and nothing is written."""
import os
import re
import resource
import shutil
import signal
import subprocess

import numpy as np

from cli import *

scene = Scene()
good = write_dwi("good.nrrd", scene)


def refused(name, arguments, words, status=1, **more):
    before = tree()
    done = hotfiber(*arguments, "--quiet", **more)
    # --quiet leaves warnings; the verdict is the one other line
    line = "\n".join(l for l in done.stderr.rstrip("\n").split("\n") if not l.startswith("warning: "))
    what = f"{name}: hotfiber {' '.join(map(str, arguments))}"
    check(done.returncode == status, f"{what}: status {done.returncode}, not {status}: {line}")
    check("\n" not in line and line.startswith(f"hotfiber {arguments[0]}: "), f"{what}: one line, not: {line}")
    check(re.search(words, line, re.I), f"{what}: should speak of /{words}/: {line}")
    check(len(line) < 600, f"{what}: the line is too long to be read: {line}")
    check(tree() == before, f"{what}: files changed: {set(tree().items()) ^ set(before.items())}")


def refused_by_all(name, path, words, stages=("info", "fit", "run", "convert", "response"), **more):
    for stage in stages:
        output = {"info": [], "run": ["-o", "out"]}.get(stage, ["-o", "out.nrrd"])
        refused(name, [stage, "-i", path, *output], words, **more)


# Files that are not there, or not what they should be.
refused_by_all("no such file", "nowhere.nrrd", "nowhere.nrrd.*No such file")
os.mkdir("folder.nrrd")
refused_by_all("a folder", "folder.nrrd", "folder.nrrd")
open("empty.nrrd", "w").close()
refused_by_all("empty file", "empty.nrrd", "empty.nrrd")
open("text.nrrd", "w").write("Dear reader,\nthis is a letter.\n")
refused_by_all("a letter", "text.nrrd", "text.nrrd")
open("noise.nrrd", "wb").write(np.random.default_rng(0).bytes(5000))
refused_by_all("random bytes", "noise.nrrd", "noise.nrrd")
open("scalar.nrrd", "wb").write(b"NRRD0004\ntype: float\ndimension: 3\nsizes: 4 4 4\nencoding: raw\nendian: little\n\n"
                                + bytes(256))
refused_by_all("a scalar volume", "scalar.nrrd", "scalar.nrrd.*(DWI|DWMRI|diffusion|axes|axis)")
write_dwi("nokeys.nrrd", scene, keys=[])
refused_by_all("four axes without gradients", "nokeys.nrrd", "DWMRI|gradient|b-value")
refused_by_all("standard input that ends at once", "-", "standard input|no|end|empty", stdin=b"")

# Data that are not there.
write_dwi("missing.nhdr", scene, detached="missing.raw", header_only=True)
refused_by_all("missing data file", "missing.nhdr", "missing.raw|missing.nhdr")
raw = open(good, "rb").read()
open("short.nrrd", "wb").write(raw[:-1000])
refused_by_all("truncated", "short.nrrd", "short.nrrd")
write_dwi("gz.nrrd", scene, encoding="gzip")
packed = open("gz.nrrd", "rb").read()
open("shortgz.nrrd", "wb").write(packed[:-500])
refused_by_all("truncated gzip", "shortgz.nrrd", "shortgz.nrrd")
open("badgz.nrrd", "wb").write(packed[:-3000] + bytes(100) + packed[-2900:])
refused_by_all("damaged gzip", "badgz.nrrd", "badgz.nrrd")
refused_by_all("truncated pipe", "-", "standard input|short|end|read|-", stdin=raw[:-1000])

# Absurd headers: refused at once, by their sizes, not by running out of memory.
for name, sizes in (("overflow", "4294967296 4294967296 4294967296 34"), ("terabytes", "10000 10000 10000 34"),
                    ("wide", "1000000000000 1 1 34"), ("zero", "0 5 4 34"), ("negative", "-6 5 4 34")):
    write_dwi(f"{name}.nrrd", scene, sizes=sizes, header_only=True)
    refused_by_all(f"absurd sizes, {name}", f"{name}.nrrd", f"{name}.nrrd")

layout = "mrtrix image\ndim: 9000,9000,9000,15\nvox: 1,1,1,1\nlayout: +0,+1,+2,+3\ndatatype: Float32LE\nfile: %s\nEND\n"
for where in (". 400", "good.nrrd 0"): # a run would leave data of any size in their file, but wants gradients
    for stage, words in ((["info", "-i", "-"], "GB, more than this machine's memory"),
                         (["peaks", "-i", "-", "-o", "out.nrrd"], "GB are more than the memory that may be taken, and"),
                         (["run", "-i", "-", "-o", "out"], "standard input.*gradients")):
        if where == f"{good} 0":  # a file has a length
            words = f"'{good}' is too short: .*speaks of"
        refused(f"more than memory, {where}", stage, words, stdin=(layout % where).encode().ljust(900, b" "))

# Gradients.
base = ["modality:=DWMRI", "DWMRI_b-value:=2000"]
coded = [f"DWMRI_gradient_{v:04d}:=" + " ".join(f"{x:.9g}" for x in g) for v, g in enumerate(scene.gradients)]
write_dwi("few.nrrd", scene, keys=base + coded[:-2])
refused_by_all("too few gradients", "few.nrrd", "32|gradient")
write_dwi("many.nrrd", scene, keys=base + coded + ["DWMRI_gradient_0034:=1 0 0"])
refused_by_all("too many gradients", "many.nrrd", "35|gradient")
write_dwi("nob.nrrd", scene, keys=["modality:=DWMRI"] + coded)
refused_by_all("no b-value", "nob.nrrd", "b-value")
write_dwi("wordy.nrrd", scene, keys=base + coded[:5] + ["DWMRI_gradient_0005:=left up out"] + coded[6:])
refused_by_all("a gradient of words", "wordy.nrrd", "gradient_0005|gradient")
write_dwi("nan.nrrd", scene, keys=base + coded[:5] + ["DWMRI_gradient_0005:=nan 0 1"] + coded[6:])
refused_by_all("a gradient with NaN", "nan.nrrd", "gradient")

computing = ("fit", "run", "response")
without = Scene(b0=0)
write_dwi("nob0.nrrd", without)
refused_by_all("no b=0", "nob0.nrrd", "b *= *0", stages=computing)
flat = Scene()
flat.gradients[2:, 2] = 0
flat.gradients[2:] /= np.linalg.norm(flat.gradients[2:], axis=1)[:, None]
write_dwi("flat.nrrd", flat)
refused_by_all("gradients in one plane", "flat.nrrd", "plane|direction|order", stages=computing)
fifteen = Scene(count=15)
write_dwi("fifteen.nrrd", fifteen)
for stage, output in (("fit", "out.nrrd"), ("run", "out")):
    refused("too few directions", [stage, "-i", "fifteen.nrrd", "-o", output, "--order", 6], "28.*order 4|order 4.*28")
    refused("too few directions", [stage, "-i", "fifteen.nrrd", "-o", output, "--order", 8], "45.*order 4|order 4.*45")
three = Scene(count=3)
write_dwi("three.nrrd", three)
refused_by_all("three directions", "three.nrrd", "direction|order", stages=("fit", "run"))

# Masks and responses.
open("mask.nrrd", "wb").write(b"NRRD0004\ntype: uchar\ndimension: 3\nsizes: 6 5 5\nencoding: raw\n\n" + bytes(150))
open("none.nrrd", "wb").write(b"NRRD0004\ntype: uchar\ndimension: 3\nsizes: 6 5 4\nencoding: raw\n\n" + bytes(120))
open("response.txt", "w").write("here is\nno number\n")
open("nan.txt", "w").write("500 nan 3 1\n")
for stage, output in (("fit", "out.nrrd"), ("run", "out")):
    call = [stage, "-i", good, "-o", output]
    refused("mask of another size", [*call, "--mask", "mask.nrrd"], r"mask.*5.*4|6.*5.*5")
    refused("mask that is not there", [*call, "--mask", "nomask.nrrd"], "nomask.nrrd")
    refused("empty mask", [*call, "--mask", "none.nrrd"], "mask|empty")
    refused("response without numbers", [*call, "--response", "response.txt"], "response.txt")
    refused("response with NaN", [*call, "--response", "nan.txt"], "nan.txt")
    refused("response that is not there", [*call, "--response", "norsp.txt"], "norsp.txt")

for name, value in (("NaN", np.nan), ("zero", 0), ("negative", -5)):
    write_dwi("useless.nrrd", scene, data=np.full_like(scene.data, value))
    refused_by_all(f"all signals {name}", "useless.nrrd", "signals are NaN, zero or negative", stages=computing)

# Lines of a header that Teem would quote in a message of 1,024 bytes; what it takes whatever it says may be long.
head, _, samples = open(good, "rb").read().partition(b"\n\n")
for name, line in (("field", b"labels: " + 400 * b'"x" '), ("nothing", 3000 * b"z"), ("name", 1300 * b"n" + b": x")):
    open("long.nrrd", "wb").write(head + b"\n" + line + b"\n\n" + samples)
    refused_by_all(f"long line, {name}", "long.nrrd", "line of [0-9]+ characters", stages=("info", "run"))
open("long.nrrd", "wb").write(head + b"\ncontent: " + 5000 * b"c" + b"\nnote:=" + 5000 * b"n" + b": x\n\n" + samples)
works("info", "-i", "long.nrrd")

# An MRtrix header that needs more bytes than any file has, before the size of the file is known.
for axis, words in ((66000000000000, "66000000000000 values per voxel"), (1 << 62, "sizes")):
    open("large.mif", "wb").write(b"mrtrix image\ndim: 1,1,1,%d\nvox: 1,1,1,1\nlayout: +0,+1,+2,+3\ndatatype: UInt8\n"
                                  b"file: . 200\nEND\n" % axis + bytes(200))
    refused_by_all("too many values", "large.mif", words)

# NIfTI without its companions, or with the wrong ones.
works("convert", "-i", good, "-o", "good.nii.gz", "--quiet")
shutil.copy("good.nii.gz", "alone.nii.gz")
refused_by_all("NIfTI without bval", "alone.nii.gz", "bval|b-value", stages=("info", "fit", "run"))
for stage, output in (("info", []), ("fit", ["-o", "out.nrrd"]), ("run", ["-o", "out"])):
    refused("bval that is not there", [stage, "-i", "good.nii.gz", "--bval", "x.bval", *output], "x.bval")
    open("short.bval", "w").write("0 0 2000\n")
    refused("bval of another length", [stage, "-i", "good.nii.gz", "--bval", "short.bval", *output], "34|short.bval")
    open("short.bvec", "w").write("0 0 1\n0 1 0\n1 0 0\n")
    refused("bvec of another length", [stage, "-i", "good.nii.gz", "--bvec", "short.bvec", *output], "34|short.bvec")
    open("unit.bval", "w").write(" ".join(f"{b / 1000:g}" for b in scene.b) + "\n")
    if stage != "info":
        refused("b-values of another unit", [stage, "-i", "good.nii.gz", "--bval", "unit.bval", *output],
                "largest b-value is 2 .*unit")
open("cut.nii.gz", "wb").write(open("good.nii.gz", "rb").read()[:-700])
for suffix in ("bval", "bvec"):
    shutil.copy(f"good.{suffix}", f"cut.{suffix}")
refused_by_all("truncated NIfTI", "cut.nii.gz", "cut.nii.gz", stages=("info", "fit", "run"))

# Later stages.
refused("peaks of a DWI", ["peaks", "-i", good, "-o", "out.nrrd"], "good.nrrd.*not tensors.*hotfiber run")
refused("peaks of a letter", ["peaks", "-i", "text.nrrd", "-o", "out.nrrd"], "text.nrrd")
refused("peaks of nothing", ["peaks", "-i", "-", "-o", "out.nrrd"], "standard input|empty|end|no", stdin=b"")
works("fit", "-i", good, "-o", "tensors.nrrd", "--order", 4, "--quiet")
works("peaks", "-i", "tensors.nrrd", "-o", "peaks.nrrd", "--quiet")
refused("export of tensors' neighbour", ["export", "-i", good, "-o", "x.vtp"], "direction|tensor|peaks|axis")
refused("export of tensors as lines", ["export", "-i", "tensors.nrrd", "-o", "x.vtp"], "--format glyphs")
refused("a tensor field for eig", ["eig", "-i", "tensors.nrrd", "-o", "x.nrrd", "--order", 4], "16 values.*confidence")
for name in ("peaks.nrrd", "./peaks.nrrd"):
    refused("export over its input", ["export", "-i", "peaks.nrrd", "-o", name], "peaks.nrrd")
refused("export to an unknown format", ["export", "-i", "peaks.nrrd", "-o", "x.jpeg"], "jpeg|format", status=1)

# Options that would do nothing, or each undo the other.
for call, words in ((["fit", "-i", good, "--model", "adc", "--response", "r.txt"],
                     "--response: the model adc does not use it; choose the model fod, or leave it out"),
                    (["fit", "-i", good, "--weights", "none"], r"--weights: the model fod \(the default\) .*model adc"),
                    (["peaks", "-i", "tensors.nrrd", "--margin", "m.nrrd"], "--margin.*signal"),
                    (["fit", "-i", good, "--response", "r.txt", "--diffusivities", "2e-3,1e-3"],
                     "--response: .*give one"),
                    (["peaks", "--method", "signal", "--dwi", good, "--starts", 9],
                     "--starts: the method signal does not use it; choose the method sshopm, or leave it out"),
                    (["peaks", "-i", "tensors.nrrd", "--starts", 9], r"--starts: .*maxima \(the default\) .*sshopm"),
                    (["peaks", "-i", "tensors.nrrd", "--dwi", good], "--dwi: .*maxima .*choose the method signal"),
                    (["peaks", "-i", "tensors.nrrd", "--method", "lowrank", "--max_fibers", 4],
                     "--max_fibers: .*at most 3"),
                    (["run", "-i", good, "--starts", 9],
                     r"--starts: the method signal \(the default with the model fod\) .*sshopm"),
                    (["run", "-i", good, "--method", "maxima", "--starts", 9], "--starts: .*maxima .*sshopm"),
                    (["run", "-i", good, "--method", "maxima", "--shift", "adaptive"], "--shift: .*maxima .*sshopm"),
                    (["run", "-i", good, "--method", "sshopm", "--shift", "-1"], "--shift .*'-1'"),
                    (["run", "-i", good, "--method", "maxima", "--sigma", 9], "--sigma: .*maxima .*the method signal"),
                    (["run", "-i", good, "--method", "maxima", "--sigma", 3], "--sigma: .*the method signal"),
                    (["run", "-i", good, "--threshold", 0],
                     "--threshold: the method signal .*sshopm, maxima or lowrank"),
                    (["run", "-i", good, "--method", "signal", "--model", "adc"], "--method: signal .*fod.*maxima"),
                    (["run", "-i", good, "--method", "lowrank", "--order", 2], "--method: lowrank .*order 4"),
                    (["run", "-i", good, "--max_fibers", 4], "--max_fibers: .*at most 3"),
                    (["run", "-i", good, "--positive"], r"--positive: the model fod \(the default\) .*adc"),
                    (["run", "-i", good, "--model", "odf", "--response", "r.txt"], "--response: the model odf .*fod"),
                    (["run", good, good], "good.nrrd.*-o"), (["run", good, "-i", "b.nrrd"], "b.nrrd")):
    refused("no use", [*call, "-o", "out"], words, status=2)
for call in (["denoise", "-i", good, "--noise", "out.nrrd"], ["phantom", "--truth", "out.nrrd"],
             ["peaks", "--method", "signal", "--dwi", good, "--probability", "out.nrrd"]):
    refused("one name for two files", [*call, "-o", "out.nrrd"], "both name 'out.nrrd'")
refused("one name for two files", ["peaks", "--method", "signal", "--dwi", good, "--margin", "m.nrrd", "--width",
                                   "m.nrrd", "-o", "out.nrrd"], "--margin and --width both name 'm.nrrd'")

works("export", "-i", "peaks.nrrd", "-o", "fixels", "--format", "fixels", "--quiet")
check(os.path.exists("fixels/index.mif"), "a format may be the name of the output too")

# An input is never overwritten, whatever name it goes by.
os.symlink(good, "link.nrrd")
os.link(good, "hard.nrrd")
shutil.copy("tensors.nrrd", "t2.nrrd")
os.symlink("t2.nrrd", "t3.nrrd")
for stage in ("fit", "convert"):
    for name in (good, "link.nrrd", "hard.nrrd", "./" + good, os.path.abspath(good), "folder.nrrd/../" + good):
        refused("output is the input", [stage, "-i", good, "-o", name], "input|overwrit|same")
        refused("input is the output", [stage, "-i", name, "-o", good], "input|overwrit|same")
for name in ("t2.nrrd", "t3.nrrd"):
    refused("output is the input", ["peaks", "-i", "t2.nrrd", "-o", name], "input|overwrit|same")
write_dwi("detached.nhdr", scene, detached="samples.nrrd")
for stage in ("fit", "convert", "response"):
    refused("output is the input's data", [stage, "-i", "detached.nhdr", "-o", "samples.nrrd"], "input|overwrit|same")
refused("output folder is the input's", ["run", "-i", good, "-o", "."], "stand in|folder|holds")
refused("output is a file", ["run", "-i", good, "-o", "text.nrrd"], "file")
refused("output is the input", ["run", "-i", good, "-o", good], "file|input")

# Places that cannot be written.
for stage in ("fit", "run", "convert", "denoise", "response"):
    refused("a file is no folder", [stage, "-i", good, "-o", "text.nrrd/out.nrrd"], "text.nrrd.*Not a directory")
    if stage != "run":
        refused("a folder is no file", [stage, "-i", good, "-o", "folder.nrrd"], "folder.nrrd.*is a folder")
        refused("told before the input is read", [stage, "-i", "nowhere.nrrd", "-o", "folder.nrrd"], "folder.nrrd")
for output in ("text.nrrd/x.vtp", "folder.nrrd/../text.nrrd/x.nii.gz"):
    refused("told before the input is read", ["export", "-i", "nowhere.nrrd", "-o", output], "text.nrrd.*directory")
refused("a folder is no file", ["export", "-i", "nowhere.nrrd", "-o", "folder.nrrd"], "folder.nrrd.*is a folder$")
refused("told before the input is read", ["cpd", "-i", "nowhere.nrrd", "--rank", 2, "-o", "text.nrrd/x"], "text.nrrd")
for form, name in (("dec", "x.jpeg"), ("peaks", "x.png"), ("nfibers", "x.vtp")):
    refused("unknown suffix", ["export", "-i", "peaks.nrrd", "-o", name, "--format", form], "'.[a-z]+' is none of")
for call in (["peaks", "-i", "tensors.nrrd", "-o", "a.xyz"], ["convert", "-i", good, "-o", "a.xyz"],
             ["peaks", "--method", "signal", "--dwi", good, "-o", "out.nrrd", "--probability", "a.xyz"],
             ["phantom", "-o", "a.xyz"], ["denoise", "-i", good, "-o", "out.nrrd", "--noise", "a.xyz"]):
    refused("unknown suffix", call, r"'a.xyz'.*'\.xyz' is none of \.nrrd, \.nhdr, \.nii")
refused("unknown suffix", ["fit", "-i", good, "-o", "t.png"], r"'\.png' is none of \.nrrd, \.nhdr")
refused("no such GPU", ["fit", "-i", "nowhere.nrrd", "-o", "out.nrrd", "--device", "cuda:9"], "--device cuda:9: .*GPU")

# Folders that lack are made, and go again when the work fails.
for stage, output in (("fit", "new/a/t.nrrd"), ("convert", "new/b/d.nii.gz"), ("convert", "new/c/d.nhdr"),
                      ("run", "new/d/e/out"), ("response", "new/r.txt")):
    works(stage, "-i", good, "-o", output, "--quiet")
    check(os.path.exists(output), f"{output} is made")
for stage in ("fit", "run"):
    refused("no folder is left", [stage, "-i", good, "-o", "gone/a/out.nrrd", "--mask", "none.nrrd"], "empty")

# Names: a file that begins with a dash, one that is nearly there.
shutil.copy(good, "-odd.nrrd")
works("info", "-i", "-odd.nrrd")
works("info", "--", "-odd.nrrd")
refused("a plain name with a dash", ["info", "-odd.nrrd"], r"write \./-odd.nrrd", status=2)
for name, meant in (("godo.nrrd", "good.nrrd"), ("good.nrr", "good.nrrd"), ("./Good.nrrd", "./good.nrrd")):
    refused("a near name", ["fit", "-i", name, "-o", "out.nrrd"], f"did you mean '{meant}'$")
    refused("a near name", ["view", name, "--screenshot", "x.png"], f"did you mean '{meant}'$")
shutil.copy("text.nrrd", "scan.dcm")
refused("DICOM", ["fit", "-i", "scan.dcm", "-o", "out.nrrd"], "not an NRRD file.*dcm2niix makes NIfTI")
refused("a folder of DICOM", ["run", "-i", "folder.nrrd", "-o", "out"], "is a folder.*dcm2niix")
refused("no near name", ["fit", "-i", "elsewhere.nrrd", "-o", "out.nrrd"], "No such file or directory$")
refused("full disk", ["fit", "-i", good, "-o", "/dev/full"], "/dev/full.*(No space|full)")
refused("full disk", ["convert", "-i", good, "-o", "/dev/full"], "/dev/full.*(No space|full)")


def small_files():
    """Writing fails after 1,000 bytes of a file, as on a disk that has just become full."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))


for stage, output in (("fit", "out.nrrd"), ("convert", "out.nrrd"), ("convert", "out.nii.gz"), ("convert", "out.nii"),
                      ("convert", "gone/out.nhdr"), ("run", "gone/out"), ("run", "out")):
    refused(f"disk that fills up, {output}", [stage, "-i", good, "-o", output], "large|space|write|disk",
            preexec_fn=small_files)
for output in ("p.nrrd", "p.nii.gz"):
    refused("disk that fills up", ["peaks", "-i", "tensors.nrrd", "-o", output], "large|space|write|disk",
            preexec_fn=small_files)
if os.getuid() == 0 and shutil.which("setpriv"):
    os.chmod(".", 0o755)
    nobody = lambda: (os.setgid(65534), os.setuid(65534))
    try:  # a checkout in root's own folder is out of another user's reach
        reachable = subprocess.run([HOTFIBER, "info", "-i", os.path.abspath(good)], preexec_fn=nobody,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   stdin=subprocess.DEVNULL).returncode == 0
    except PermissionError:
        reachable = False
    if reachable:
        os.chmod("hard.nrrd", 0o644)
        shutil.copy(good, "secret.nrrd")
        os.chmod("secret.nrrd", 0)
        refused_by_all("no permission to read", "secret.nrrd", "Permission denied", stages=("info", "fit"),
                       preexec_fn=nobody)
        for stage, output in (("fit", "out.nrrd"), ("run", "out"), ("convert", "out.nii.gz")):
            refused("no permission to write", [stage, "-i", good, "-o", output], "Permission", preexec_fn=nobody)
    else:
        print("permission cases skipped: another user does not reach this folder")

# Bad values in single voxels are data: these voxels are flagged, the results of all others do not change.
clean, header = read_nrrd(works("fit", "-i", good, "--order", 4, "--model", "adc", "--quiet").stdout)
broken = scene.data.copy()
bad = [(1, 1, 1), (2, 3, 0), (3, 2, 2), (4, 0, 3), (5, 4, 1)]
for value, voxel in zip((np.nan, np.inf, -5., 0., -np.inf), bad):
    broken[voxel][7] = value
broken[bad[3]][:2] = 0  # no b=0 signal
write_dwi("broken.nrrd", scene, data=broken)
open("all.nrrd", "wb").write(b"NRRD0004\ntype: uchar\ndimension: 3\nsizes: 6 5 4\nencoding: raw\n\n" + bytes([1] * 120))
clean, _ = read_nrrd(works("fit", "-i", good, "--order", 4, "--model", "adc", "--mask", "all.nrrd", "--quiet").stdout)
dirty, _ = read_nrrd(works("fit", "-i", "broken.nrrd", "--order", 4, "--model", "adc", "--mask", "all.nrrd",
                           "--quiet").stdout)
check(dirty.shape == (16, 6, 5, 4), f"shape {dirty.shape}")
check(np.isfinite(dirty).all(), "no NaN comes out")
for voxel in bad[:2] + bad[3:]:
    check((dirty[(slice(None), *voxel)] == 0).all(), f"voxel {voxel} is flagged")
others = np.ones(scene.size, bool)
for voxel in bad:
    others[voxel] = False
check((clean[:, others] == dirty[:, others]).all(), "the other voxels are the same to the last bit")
check((clean[0][others & (np.arange(6) > 0)[:, None, None]] == 1).all(), "and fitted")
end()
