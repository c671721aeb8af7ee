"""Tensors that their directions hardly determine. As many directions as coefficients, and one b=0 volume, leave
nothing to estimate the noise from: unregularised, nearly every single fibre had three maxima. Tensors that do not
tell one fibre from two are a warning: in the terminal, in the report, in Python (test_doubt.py there), and for commands
that read them later."""
import json

import nibabel

from cli import *

HARDLY = "hardly tell one fibre from two"


def phantom(name, directions, b, b0):
    """Rows: single fibres, crossings at 30-40, 45-55 and 60-90 degrees, three fibres, none."""
    works("phantom", "--voxels", 200, "--snr", 20, "-b", b, "--directions", directions, "--b0", b0, "--seed", 3,
          "-o", f"{name}.nii.gz", "--truth", f"{name}_truth.nrrd", "--quiet")


def run(name, *options):
    done = works("run", f"{name}.nii.gz", "-o", f"{name}_out", "--force", "--outputs", "nfibers,tensors", *options)
    report = [line for line in json.load(open(f"{name}_out/report.json"))["log"] if HARDLY in line["text"]]
    check(len(report) == done.stderr.count(HARDLY) <= 1, f"{name} {options}: told once: {report} {done.stderr}")
    check(all(line["level"] == "warning" for line in report), f"{report}")
    page = open(f"{name}_out/report.html").read()
    check((HARDLY in page) == bool(report), f"{name}: the page says it, too")
    found = np.asarray(nibabel.load(f"{name}_out/nfibers.nii.gz").dataobj)[:, :, 0]
    return np.mean(found[:, 0] == 1), np.mean(found[:, 3] == 2), bool(report)


phantom("exact", 28, 1000, 1)   # order 6 exactly
phantom("few", 15, 1000, 1)     # order 4 exactly
phantom("plenty", 64, 2000, 6)
for name, options, expected in (("exact", ["--method", "maxima"], False), ("few", ["--method", "maxima"], True),
                                ("few", ["--method", "sshopm"], True), ("few", ["--model", "odf"], True),
                                ("exact", ["--model", "adc"], True), ("plenty", ["--method", "maxima"], False),
                                ("plenty", ["--model", "msmt"], False), ("few", ["--order", 2], False),
                                ("plenty", ["--method", "lowrank"], None)):
    one, two, told = run(name, *options)
    print(f"{name} {options}: single fibres {one:.2f}, crossings {two:.2f}, warned: {told}")
    # The simulation has the response for a fibre, so it knows little less than the phantom's truth: told where the
    # mean is below .8, give or take what 200 voxels and the response's own error may change.
    if expected is not None:
        check(told == expected, f"{name} {options}: {one:.2f} {two:.2f}, warned: {told}")
    check(told or "2" in map(str, options) or one + two > 1.4, f"{name} {options}: {one:.2f} {two:.2f} without a word")
one, _, _ = run("exact", "--method", "maxima")
check(one > .9, f"28 directions and one b=0 volume: {one:.2f} of single fibres have one direction")

# A noise that is estimated from the residuals does not judge them.
for name, circular in ("few", True), ("plenty", False):
    works("run", f"{name}.nii.gz", "-o", f"{name}_signal", "--outputs", "nfibers", "--quiet")
    page, report = open(f"{name}_signal/report.html").read(), json.load(open(f"{name}_signal/report.json"))
    check(report["noise"]["from_residuals"] == circular, f"{name}: {report['noise']}")
    check(("cannot be judged" in page) == circular != ("times the noise of the b=0 volumes" in page), f"{name}: page")

# The tensors' file says it to whoever reads it next; fits of enough directions say nothing.
KINDS = "nrrd", "nii.gz", "mif"
fits = {name: works("fit", f"{name}.nii.gz", "-o", f"{name}_fit.nrrd").stderr for name in ("few", "plenty")}
for name in fits:
    whole = None
    for kind in KINDS:
        works("fit", f"{name}.nii.gz", "-o", f"{name}_fit.{kind}", "--quiet")
        done = works("peaks", f"{name}_fit.{kind}", "-o", "peaks.nii.gz")
        check((HARDLY in done.stderr) == (name == "few"), f"peaks of {name}_fit.{kind}: {done.stderr}")
        check("does not say" not in done.stderr, f"{name}_fit.{kind}: {done.stderr}")
        found = np.asarray(nibabel.load("peaks.nii.gz").dataobj)
        length = np.linalg.norm(found.reshape(*found.shape[:3], -1, 3), axis=-1)
        whole = length > 0 if whole is None else whole
        check(np.array_equal(length > 0, whole), f"{name}_fit.{kind}: as many directions as from NRRD")
        done = works("export", f"{name}_fit.{kind}", "-o", "sh.nii.gz", "--format", "sh")
        check((HARDLY in done.stderr) == (name == "few"), f"export of {name}_fit.{kind}: {done.stderr}")
# Other words in its place say nothing.
for words in (b"tensors: xyz .1 .1", b"tensors: fodfodfodfodfodfodfod", b"tensors: fod -1 2   "):
    data = open("few_fit.mif", "rb").read()
    at = data.index(b"hotfiber_tensors: ")
    line = data[at:data.index(b"\n", at)]
    open("other.mif", "wb").write(data.replace(line, (b"hotfiber_" + words)[:len(line)].ljust(len(line))))
    done = works("peaks", "other.mif", "-o", "peaks.nii.gz")
    check(HARDLY not in done.stderr and ("does not say" in done.stderr) == (b" -1" not in words), done.stderr)
check(HARDLY in fits["few"] and HARDLY not in fits["plenty"], f"fit: {fits}")
end()
