"""Notebooks' pictures, matplotlib's slice, and nibabel's images."""
import os

os.environ["MPLBACKEND"] = "agg"
import base64
import glob
import re
import shutil
import tempfile

import hotfiber
import nibabel
import numpy as np

from cli import check, end

peaks = np.zeros((6, 5, 4, 6), np.float32)
peaks[1, 2, 2] = [.6, 0, 0, 0, .3, 0]
peaks[4, 2, 2, :3] = [0, 0, .5]
affine = np.array([[0, 0, 3., 10], [-2, 0, 0, 20], [0, 1, 0, 30], [0, 0, 0, 1]])  # i runs back, j up, k to the right
result = hotfiber.Fibers(peaks, affine=affine)
check(result.nfibers[1, 2, 2] == 2 and result.nfibers.sum() == 3, f"{result.nfibers.sum()} fibres")
check(np.allclose(result.fractions[1, 2, 2], [.6, .3]) and np.allclose(result.directions[1, 2, 2], np.eye(3)[:2]),
      "fractions and directions")

text = result._repr_html_()
embedded = base64.b64decode(re.search(r"base64,([^\"]+)", text).group(1))
check(embedded[:8] == b"\x89PNG\r\n\x1a\n" == result._repr_png_()[:8] and len(embedded) > 2000, "a picture in HTML")
check("2" in text and "6 x 5 x 4" in text, text[:200])
dwi = hotfiber.Dwi(np.ones((3, 2, 1, 3)), ([0, 1000, 1000], np.eye(3)), np.diag([2., 3, 4, 1]))
check("2 x b=1000" in dwi._repr_html_() and "2 x 3 x 4 mm" in dwi._repr_html_(), dwi._repr_html_())
field = hotfiber.TensorField(np.ones((3, 2, 1, 15)), affine=affine)
check("order 4" in repr(field) and "<table>" in field._repr_html_(), repr(field))

image = result.nifti()
check(np.array_equal(image.get_fdata(), peaks) and np.allclose(image.affine, affine), "peaks as nibabel's image")
check(result.nifti("directions").shape == (6, 5, 4, 6) and result.nifti("fractions").shape == (6, 5, 4, 2), "volumes")
check(field.nifti().shape == (3, 2, 1, 15), "tensors as nibabel's image")
nibabel.save(image, "peaks.nii.gz")
loaded = hotfiber.load("peaks.nii.gz", kind="directions")
check(np.allclose(loaded.peaks, peaks) and np.allclose(loaded.affine, affine), "and through a file")
try:
    result.nifti("probability")
except ValueError as error:
    check("probability" in str(error), str(error))
else:
    check(False, "a missing file")

# The viewer is found by the command; a picture needs no display.
if shutil.which("hotfiber-view"):
    hotfiber.view(result, screenshot="view.png", size="200x150", quiet=True)
    check(open("view.png", "rb").read(8) == b"\x89PNG\r\n\x1a\n", "the viewer's picture")
    before = set(glob.glob(os.path.join(tempfile.gettempdir(), "hotfiber-view-*")))
    try:
        hotfiber.view(result, plane="middle", screenshot="no.png")
    except hotfiber.Error as error:
        check("plane" in str(error), f"what the viewer says: {error}")
    else:
        check(False, "a wrong option")
    check(before == set(glob.glob(os.path.join(tempfile.gettempdir(), "hotfiber-view-*"))), "no files are left")
else:
    print("not run: the viewer is not in this build")

try:
    import matplotlib
except ImportError:
    print("not run: matplotlib is not here (python3-matplotlib)")
    end()
# A stick along +x of the world is along k, which is across; one along y is against i, which is up. The typical
# length, .5, is a voxel's smallest side; k has steps of 3 of these, i of 2.
ax = hotfiber.plot(result, axis="j")
segments = {tuple(np.round((s[1] - s[0]) / 1, 3)): np.round(s.mean(0), 3) for s in ax.collections[0].get_segments()}
check(len(segments) == 3, f"{segments}")
check((.4, 0) in segments and np.array_equal(segments[.4, 0], [2, 1]), f"{segments}")
check((0, -.3) in segments, f"{segments}")
colors = ax.collections[0].get_colors()[:, :3]
check(sorted(map(tuple, np.round(colors, 3))) == sorted(map(tuple, np.eye(3))), f"colours {colors}")
check((ax.collections[0].get_colors()[:, 3] == 1).all(), "nothing is known: nothing fades")
result.certainty = np.where(result.fractions > 0, np.clip(result.fractions, .1, .9), 0).astype(np.float32)
faded = hotfiber.plot(result, axis="j").collections[0]
shown = {tuple(np.round(c[:3], 3)): round(float(c[3]), 3) for c in faded.get_colors()}
there = np.take(result.fractions, result.fractions.shape[1] // 2, 1)
check(np.allclose(sorted(shown.values()), np.sort(np.clip(there[there > 0], .1, .9)), atol=1e-3), f"faded: {shown}")
result.certainty = None
check(len(hotfiber.plot(result, axis=2, index=0).collections[0].get_segments()) == 0, "an empty slice")
# radiological, whatever the voxels' axes: R is on the left, A and S are up
for axis, left, right, bottom, top, name in (("j", "R", "L", "P", "A", "axial"), ("i", "R", "L", "I", "S", "coronal"),
                                             ("k", "A", "P", "I", "S", "sagittal")):
    ax = hotfiber.plot(result, axis=axis)
    x, y = ax.get_xlabel(), ax.get_ylabel()
    check((x[0], x[-1], y[0], y[-1]) == (left, right, bottom, top) and name in ax.get_title(), f"{axis}: {x}, {y}")
    for limits, label in ((ax.get_xlim(), x), (ax.get_ylim(), y)):
        vector = affine[:3, "ijk".index(label.strip("RLAPIS ←→"))] * (limits[1] - limits[0])
        ends = {"R": (0, -1), "A": (1, -1), "P": (1, 1), "I": (2, 1)}[label[0]]
        check(vector[ends[0]] * ends[1] > 0, f"{axis}: {label} runs along {vector}")
ax = hotfiber.plot(result, np.arange(120.).reshape(6, 5, 4), axis="k", index=2, scale=2)
check("i" in ax.get_xlabel() and "j" in ax.get_ylabel() and "k = 2" in ax.get_title(), "labels")
ax.figure.savefig("slice.png")
for call in (lambda: hotfiber.plot(result, axis="z"), lambda: hotfiber.plot(result, np.ones(3)),
             lambda: hotfiber.plot(hotfiber.Fibers(peaks[0]))):
    try:
        call()
    except ValueError as error:
        check(str(error), "a line")
    else:
        check(False, "refused")
end()
