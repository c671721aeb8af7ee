"""One damaged voxel does not change the others; a volume without a signal is left out as if it did not exist; odd
b-values."""
import json
import os
import shutil

import numpy as np

from cli import *

scene = Scene(count=40, b0=4, size=(7, 6, 5), noise=25., seed=11)
hurt = (4, 4, 3)
inside = np.zeros(scene.size, np.uint8)
inside[1:] = 1 # the first slab is air


def write_mask(path):
    with open(path, "wb") as file:
        file.write(("NRRD0004\ntype: unsigned char\ndimension: 3\nspace: right-anterior-superior\nsizes: 7 6 5\n"
                    "space directions: (2,0,0) (0,2,0) (0,0,2)\nspace origin: (0,0,0)\nencoding: raw\n\n").encode())
        file.write(inside.tobytes(order="F"))


write_mask("mask.nrrd")


QUICK = ["--method", "maxima"]  # messages about the data do not depend on the method


def run(name, data, without=(), options=()):
    """Directions and numbers of fibres that `run` finds in these data, and what it says."""
    kept = np.setdiff1d(np.arange(len(scene.b)), without)
    part = Scene(count=1, size=(1, 1, 1))
    part.b, part.gradients = scene.b[kept], scene.gradients[kept]
    write_dwi(f"{name}.nrrd", part, data=data[..., kept])
    done = works("run", "-i", f"{name}.nrrd", "-o", name, "--mask", "mask.nrrd", "--outputs", "peaks_nrrd", "--force",
                 *options)
    return read_nrrd(f"{name}/peaks.nrrd")[0], done.stderr


plain, said = run("plain", scene.data)
check("warning" not in said, f"whole data: {said}")

# In a voxel of NaN there is no fibre, whatever else. Others get what they get when it holds something worse.
reference = None
for name, value in (("nan", np.nan), ("inf", np.inf), ("spike", 1e9), ("largest", 3e38)):
    data = scene.data.copy()
    data[hurt] = value
    peaks, said = run(name, data)
    reference = peaks if reference is None else reference
    found = np.linalg.norm(np.nan_to_num(peaks[(slice(None), *hurt)]))
    check(found == 0, f"{name}: a fibre of {found} in a damaged voxel")
    check(np.array_equal(peaks, reference, equal_nan=True), f"{name}: other voxels are not those beside NaN")
    check("1 of 180 voxels are not usable" in said, f"{name}: {said}")
    check("nothing but noise" not in said, f"{name}: {said}")
length = lambda peaks: np.linalg.norm(np.nan_to_num(peaks).reshape(3, 3, -1), axis=1)
same = ((length(plain) > 0) == (length(reference) > 0)).all(0).mean()
check(same > .97, f"one voxel changes the number of fibres of {1 - same:.3f} of the others")
# A mean over the mask would be the damaged voxel's alone.
said = works("info", "-i", "spike.nrrd").stdout.decode()
snr = float(said.split("SNR")[1].split()[0])
check(30 < snr < 50, f"info with one voxel of 1e9: SNR {snr}, 40 is true")

# Volumes that were lost.
for name, lost, value in (("zeros", [9], 0), ("nans", [9], np.nan), ("several", [0, 9, 20, 30], 0),
                          ("b0", [1], np.nan)):
    options = [] if name in ("zeros", "b0") else QUICK
    whole, said = run("without", scene.data, without=lost, options=options)
    data = scene.data.copy()
    data[..., lost] = value
    peaks, said = run(name, data, options=options)
    check(np.array_equal(peaks, whole, equal_nan=True), f"{name}: not as without the volumes {lost}")
    listed = ", ".join(map(str, lost))
    check(f"warning: volume{'s' if len(lost) > 1 else ''} {listed} (counted from 0)" in said, f"{name}: {said}")
    report = json.load(open(f"{name}/report.json"))
    check(report["input"]["volumes"] == len(scene.b) - len(lost), f"{name}: report.json: {report['input']}")
    if name == "several":
        for stage, more in (("fit", ["--order", 4]), ("response", []), ("peaks", ["--method", "signal"])):
            for what in (name, "without"):
                given = ["--dwi" if stage == "peaks" else "-i", f"{what}.nrrd", "-o", f"{stage}_{what}.nrrd"]
                works(stage, *given, "--mask", "mask.nrrd", *more)
            check(open(f"{stage}_{name}.nrrd", "rb").read() == open(f"{stage}_without.nrrd", "rb").read(),
                  f"{stage}: not as without the volumes")
# Slices that were lost: they are named, whatever the mask has beside; a voxel of zeros is no slice.
data = scene.data.copy()
data[:, :, 2, [9, 20]] = 0
data[:, :, 3, 9] = np.nan
data[1, 3, 1, 12] = 0  # the voxel of the mask in its slice that is checked first
said = run("slices", data, options=QUICK)[1]
check(f"3 slices of zeros in volumes 9, 20 of the {len(scene.b)} of 'slices.nrrd' (counted from 0; slice" in said, said)
# Zeros at the edge, as of motion correction, are no sign of noise that is Gaussian; clipped negatives are.
data = scene.data.copy()
data[1:3, :, :, 14:24] = 0
said = run("edge", data)[1]
check("Gaussian" not in said and "which noise does not explain" in said, said)
data = np.maximum(scene.data - np.quantile(scene.data[1:, :, :, 4:], .1), 0)
said = run("clipped", data)[1]
check("the noise is taken to be Gaussian" in said and "explain" not in said, said)
check("slice" not in run("no_slices", scene.data, options=QUICK)[1], "slices of whole data")
many = scene.data.copy()
many[..., 10:20] = 0
write_dwi("many.nrrd", scene, data=many)
said = works("fit", "-i", "many.nrrd", "-o", "tensors.nrrd", "--model", "adc", "--order", 2).stderr
check("volumes 10, 11, 12, 13, 14, 15 and 4 more (counted from 0) of 'many.nrrd' have no signal" in said, said)

# Slice by slice from a file, volumes side by side or one behind the other.
lost = [0, 9, 20, 30]
data = scene.data.copy()
data[..., lost] = 0
whole, _ = run("without", scene.data, without=lost, options=QUICK)
for axis in (0, 3):
    write_dwi("paged.nrrd", scene, data=data, list_axis=axis)
    works("run", "-i", "paged.nrrd", "-o", "paged", "--mask", "mask.nrrd", "--outputs", "peaks_nrrd", "--memory", "40K",
          "--force", *QUICK)
    check(np.array_equal(read_nrrd("paged/peaks.nrrd")[0], whole, equal_nan=True), f"paged, list axis {axis}")

# A few voxels do not decide about a volume: their signals of 0 are measurements.
small = Scene(count=40, size=(3, 2, 2), noise=25.)
small.data[..., 9] = 0
write_dwi("small.nrrd", small)
said = works("fit", "-i", "small.nrrd", "-o", "tensors.nrrd", "--model", "adc", "--order", 2).stderr
check("left out" not in said, f"12 voxels: {said}")

# Scanners of 7 T have no b=0: their imaging gradients alone are b=55 to 65. With or without a direction they count as
# b=0, and the files keep their b-values.
works("convert", "-i", "plain.nrrd", "-o", "plain.nii", "--quiet")
table = np.loadtxt("plain.bvec")
for name, vectors in (("with", np.random.default_rng(3).normal(size=(3, 4))), ("NaN", np.full((3, 4), np.nan)),
                      ("zero", np.zeros((3, 4)))):
    vectors /= np.maximum(np.linalg.norm(vectors, axis=0), 1e-9)
    table[:, :4] = vectors
    np.savetxt("seven.bvec", table)
    np.savetxt("seven.bval", [np.concatenate([[55, 65, 60, 60], scene.b[4:]])], fmt="%g")
    shutil.copy("plain.nii", "seven.nii")
    said = works("run", "-i", "seven.nii", "-o", "seven", "--mask", "mask.nrrd", "--outputs", "peaks_nrrd",
                 "--force").stderr
    check(np.array_equal(read_nrrd("seven/peaks.nrrd")[0], plain, equal_nan=True), f"b0 of b=60, {name} directions")
    check(("4 of b=55 to 65 count as b=0" in said) == (name == "with"), f"b=60, {name} directions: {said}")
    if name == "with":
        works("convert", "-i", "seven.nii", "-o", "kept.nii", "--quiet")
        check(np.allclose(np.loadtxt("kept.bval")[:4], [55, 65, 60, 60]), "convert changes b=60")
np.savetxt("seven.bval", [np.concatenate([[0] * 4, [80] * 6, scene.b[10:]])], fmt="%g")
said = works("info", "-i", "seven.nii").stdout.decode()
check("b = 80" in said, f"beside b=0, b=80 is a shell: {said}")
np.savetxt("seven.bval", [np.concatenate([[105] * 4, scene.b[4:]])], fmt="%g")
done = hotfiber("run", "-i", "seven.nii", "-o", "x", "--quiet")
check(done.returncode == 1 and "no b=0 volume" in done.stderr, done.stderr)

# The mean over the directions as one more volume, as scanners write it: a b-value without a direction.
more = Scene(count=1, size=(1, 1, 1))
more.b, more.gradients = np.append(scene.b, 2000.), np.vstack([scene.gradients, [0, 0, 1]])
write_dwi("trace.nrrd", more, data=np.concatenate([scene.data, scene.data[..., 4:].mean(-1)[..., None]], 3))
works("convert", "-i", "trace.nrrd", "-o", "trace.nii", "--quiet")
table = np.loadtxt("trace.bvec")
table[:, -1] = 0
np.savetxt("trace.bvec", table)
np.savetxt("trace.b", np.column_stack([np.vstack([scene.gradients, np.zeros(3)]), more.b]))
quick, _ = run("plain", scene.data, options=QUICK)
for gradients in ([], ["--grad", "trace.b"]):
    if not gradients:
        os.rename("trace.b", "aside")
    said = works("run", "-i", "trace.nii", *gradients, "-o", "trace", "--mask", "mask.nrrd", "--outputs", "peaks_nrrd",
                 "--force", *QUICK).stderr
    check("volume 44 (counted from 0) of 'trace.nii' has a b-value and no direction: it is left out" in said, said)
    off = np.abs(np.nan_to_num(read_nrrd("trace/peaks.nrrd")[0] - quick)).max()
    check(off < 1e-4, f"with the mean as a volume {gradients}: off by {off}")
    if not gradients:
        os.rename("aside", "trace.b")

# b-values in s/m^2, SI's unit.
scene.b *= 1e6
write_dwi("si.nrrd", scene)
done = hotfiber("run", "-i", "si.nrrd", "-o", "si", "--quiet")
check(done.returncode == 1 and "b = 2e+09 s/mm^2" in done.stderr and "another unit" in done.stderr, done.stderr)
end()
