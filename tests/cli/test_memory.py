"""A large input does not need several times its size: input in its own type, outputs, and one slab."""
import json
import sys

from cli import *

if SANITIZED:
    print("skipped: sanitizers need additional memory")
    sys.exit(77)
size = (112, 112, 40)
scene = Scene(count=34, b0=2)
voxels = int(np.prod(size))
data = np.zeros((*size, 36), "<i2")
data[...] = (1000 * (np.arange(36) < 2) + 300).astype("<i2")
fibers = scene.data[1:5, 1:5, :4].repeat(2, 0).repeat(2, 1).repeat(2, 2)
data[60:68, 60:68, 2:10] = data[60:68, 60:68, 24:32] = fibers
write_dwi("dwi.nrrd", scene, dtype="<i2", data=data)
mask = np.zeros(size, np.uint8)
mask[60:68, 60:68, 2:10] = mask[60:68, 60:68, 24:32] = 1
open("mask.nrrd", "wb").write(b"NRRD0004\ntype: uchar\ndimension: 3\nsizes: %d %d %d\nencoding: raw\n\n" % size +
                              mask.tobytes(order="F"))
small = "small.nrrd"
write_dwi(small, scene, dtype="<i2")
ballast = np.ones(20_000_000)
works("run", "-i", small, "-o", "base", "--quiet", "--diffusivities", "1.7e-3,.3e-3")
base = json.load(open("base/report.json"))["peak_memory"]
works("run", "-i", "dwi.nrrd", "-o", "out", "--mask", "mask.nrrd", "--quiet", "--diffusivities", "1.7e-3,.3e-3")
peak = json.load(open("out/report.json"))["peak_memory"]
of_input = data.nbytes
# directions, counts, background, mask; certainty, and the probabilities and cones that it is made of
of_output = voxels * (9 * 4 + 1 + 4 + 1 + (3 + 4 + 3) * 4)
print(f"base {base / 1e6:.0f} MB, input {of_input / 1e6:.0f} MB, outputs {of_output / 1e6:.0f} MB, "
      f"peak {peak / 1e6:.0f} MB")
check(base < 60e6, "memory of this program, whose child it is, is not counted")
slab = (4 << 24) + (4 * 672 << 12)  # signals of the voxels that are read together; fits of 4,096 voxels
check(peak < base + of_input + of_output + slab, f"peak {peak / 1e6:.0f} MB")
found = json.load(open("out/report.json"))["counts"]
check(found["voxels"] == mask.sum() and found["fitted"] > .9 * mask.sum(), f"{found}")

# Signals that have been used make room for directions, and the directions are those of a run that keeps its signals.
few = ("--mask", "mask.nrrd", "--quiet", "--diffusivities", "1.7e-3,.3e-3", "--outputs")
works("run", "-i", "dwi.nrrd", "-o", "forgets", *few, "peaks,dec")
works("run", "-i", "dwi.nrrd", "-o", "keeps", *few, "peaks,fa")
check(open("forgets/peaks.nii.gz", "rb").read() == open("keeps/peaks.nii.gz", "rb").read(), "directions differ")
end()
