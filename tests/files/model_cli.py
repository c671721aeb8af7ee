"""hotfiber fit and hotfiber response as a user calls them: pipes, NRRD and NIfTI alike, responses in and out,
refusals."""
import os
import subprocess

import numpy as np

from _check import check, end
from _nrrd import read

HOTFIBER = os.environ["HOTFIBER"]


def run(*words, given=None):
    return subprocess.run([HOTFIBER] + [str(w) for w in words], input=given, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=120)


def good(*words, given=None):
    done = run(*words, given=given)
    check(done.returncode == 0, "%s: %s" % (" ".join(map(str, words)), done.stderr.decode()[-300:]))
    return done


def refused(words, *text, status=1):
    out = "refused.nrrd"
    done = run(*words, "-o", out)
    message = done.stderr.decode()
    check(done.returncode == status, "%s: status %d, %s" % (words, done.returncode, message))
    check(len(message.strip().splitlines()) == 1, "more than one line: " + message)
    for part in text:
        check(part in message, "'%s' is not in: %s" % (part, message))
    check(not os.path.exists(out), "a refused fit left a file")


phantom = ["phantom", "--voxels", 30, "--snr", 0, "--seed", 3]
good(*phantom, "--single", "-o", "single.nrrd", "--truth", "truth.nrrd")
good(*phantom, "-o", "all.nrrd")
good("convert", "-i", "all.nrrd", "-o", "all.nii.gz")

# through a pipe as through files, NIfTI as NRRD, one thread as many
data = open("all.nrrd", "rb").read()
good("fit", "-i", "all.nrrd", "-o", "file.nrrd", "--diffusivities", ".0017,.0002", "--order", 6)
piped = good("fit", "--diffusivities", ".0017,.0002", "--order", 6, "--threads", 1, given=data)
open("piped.nrrd", "wb").write(piped.stdout)
good("fit", "-i", "all.nii.gz", "-o", "nifti.nrrd", "--diffusivities", ".0017,.0002", "--order", 6)
header, keys, tensors = read("file.nrrd")
check(keys.get("hotfiber_model") == "fod" and keys.get("hotfiber_order") == "6", "keys: %s" % keys)
check(tensors.shape[0] == 29 and (tensors[0] == 1).any(), "shape %s" % (tensors.shape,))
check(np.array_equal(read("piped.nrrd")[2], tensors), "a pipe and one thread change the tensors")
scale = np.abs(tensors).max()
check(np.abs(read("nifti.nrrd")[2] - tensors).max() <= 1e-5 * scale, "NIfTI gives other tensors than NRRD")

# a single fibre without noise: the rank-1 tensor of the truth
good("fit", "-i", "single.nrrd", "-o", "one.nrrd", "--diffusivities", ".0017,.0002", "--order", 8)
one = read("one.nrrd")[2].reshape(46, -1, order="F").astype(float)
truth = read("truth.nrrd")[2].astype(float)
truth = truth.reshape(truth.shape[0], -1, order="F")[:3]
inside = one[0] > 0
exponents = [(8 - y - z, y, z) for s in range(9) for z in range(s + 1) for y in [s - z]]
want = np.array([np.prod([truth[d] ** e[d] for d in range(3)], axis=0) for e in exponents])
check(inside.sum() >= 30, "%d voxels fitted" % inside.sum())
error = np.abs(one[1:, inside] - want[:, inside]).max()
check(error <= .01, "rank-1 tensors off by %g" % error)  # the response's harmonics above l = 8 are not in the tensor

# the response: estimated, written, read, and the same as when it is estimated on the way
good("response", "-i", "all.nrrd", "-o", "response.txt")
rows = np.loadtxt("response.txt")
check(rows.shape == (2, 5) and rows[0, 1:].any() == False and rows[1, 0] > 0 > rows[1, 1], "response %s" % rows)
check("# Shells: 0,3000" in open("response.txt").read(), "shells")
good("fit", "-i", "all.nrrd", "-o", "a.nrrd", "--response", "response.txt")
good("fit", "-i", "all.nrrd", "-o", "b.nrrd")
check(np.abs(read("a.nrrd")[2] - read("b.nrrd")[2]).max() <= 1e-5, "a saved response is another one")
# in MRtrix's manner: only the outer shell's row, amplitudes then in units of the signal
open("mrtrix.txt", "w").write("# Shells: 3000\n" + " ".join("%.10g" % x for x in rows[1] * 2) + "\n")
done = good("fit", "-i", "all.nrrd", "-o", "c.nrrd", "--response", "mrtrix.txt")
check("no row for b=0" in done.stderr.decode(), "not said: " + done.stderr.decode())
s0 = rows[0, 0] / np.sqrt(4 * np.pi)
check(np.abs(read("c.nrrd")[2][1:] * 2 * 1000 / 1000 - read("a.nrrd")[2][1:] * 1000 / s0).max() <= .01,
      "relative scale")
done = good("fit", "-i", "all.nrrd", "-o", "d.nrrd", "--model", "odf", "--order", 4)
check(read("d.nrrd")[2].shape[0] == 16, "odf at order 4")
good("fit", "-i", "all.nrrd", "-o", "e.nrrd", "--model", "adc", "--order", 2, "--positive", "--known_b0", "false")
check(read("e.nrrd")[2].shape[0] == 7, "adc at order 2")

# fewer directions: a lower order, said in one line
good("phantom", "--voxels", 30, "--directions", 20, "--seed", 4, "-o", "few.nrrd")
done = good("fit", "-i", "few.nrrd", "-o", "f.nrrd")
check(b"order 4: the 20 diffusion-weighted volumes do not support order 6" in done.stderr, done.stderr.decode())
check(read("f.nrrd")[2].shape[0] == 16, "order 4 by default")

# refusals: one line, status 1 (2 where the command line is wrong), nothing written
refused(["fit", "-i", "few.nrrd", "--order", 6], "order 6 needs 28", "has 20", "order 4 would do")
refused(["fit", "-i", "all.nrrd", "--response", "nothing.txt"], "nothing.txt", "cannot read")
open("bad.txt", "w").write("1 2\n3\n")
refused(["fit", "-i", "all.nrrd", "--response", "bad.txt"], "line 2")
open("low.txt", "w").write("# Shells: 0,3000\n3500 0 0\n800 -600 200\n")
refused(["fit", "-i", "all.nrrd", "--response", "low.txt", "--order", 6], "up to l=4", "order 6 needs l=6")
refused(["fit", "-i", "all.nrrd", "--response", "response.txt", "--diffusivities", "1e-3,1e-4"], "give one", status=2)
refused(["fit", "-i", "all.nrrd", "--diffusivities", "1.7,.2"], "mm^2/s")
refused(["fit", "-i", "all.nrrd", "--order", 5], "2, 4, 6 or 8", status=2)
text = data.split(b"\n\n", 1)[0].decode()
plane = []
for line in text.splitlines():
    if line.startswith("DWMRI_gradient_"):
        name, value = line.split(":=")
        g = np.array([float(x) for x in value.split()])
        length = np.linalg.norm(g)
        g[2] = 0
        if length > 0:
            g *= length / np.linalg.norm(g)
        line = name + ":=" + " ".join("%.9f" % x for x in g)
    plane.append(line)
open("plane.nrrd", "wb").write("\n".join(plane).encode() + b"\n\n" + data.split(b"\n\n", 1)[1])
refused(["fit", "-i", "plane.nrrd"], "in one plane", "no tensor")
good("phantom", "--isotropic", "--voxels", 200, "--snr", 20, "-o", "isotropic.nrrd")
refused(["fit", "-i", "isotropic.nrrd"], "no voxel looks like a single fibre", "--response")

# Low contrast and noise that differs from voxel to voxel: the first choice is mostly noise, the last is not. At most .8
# of a voxel is fibre.
good("phantom", "--single", "--voxels", 100, "--snr", 0, "--b0", 1, "-b", 400, "-o", "sharp.nrrd")
good("response", "-i", "sharp.nrrd", "-o", "sharp.txt")
for seed in (1, 2, 3):
    good("phantom", "--layout", "mixture", "--shares", ".3,.5,.2,0", "--size", "30,10,6", "--snr", 6, "--noise-slope",
         .8, "--b0", 1, "-b", 400, "--csf", ".2-.7", "--seed", seed, "-o", "dull.nrrd")
    good("response", "-i", "dull.nrrd", "-o", "dull.txt")
    sharp, dull = np.loadtxt("sharp.txt"), np.loadtxt("dull.txt")
    ratio = dull[1, 1] / dull[0, 0] / (sharp[1, 1] / sharp[0, 0])
    check(.65 < ratio < .9, "seed %d: the response has %.2f of the fibre's contrast" % (seed, ratio))
end()
