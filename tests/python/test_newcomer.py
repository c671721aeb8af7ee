"""The first calls of a DIPY user: modules, tables, masks, and the messages for wrong ones."""
import os
import subprocess
import sys
import warnings

os.environ["MPLBACKEND"] = "agg"
import hotfiber
import nibabel
import numpy as np

from cli import Scene, check, end


def said(call, *words, error=(ValueError, TypeError)):
    """The call is refused with a message of all these words."""
    try:
        call()
    except error as raised:
        check(all(word in str(raised) for word in words), f"{words}: {raised}")
    else:
        check(False, f"not refused: {words}")


def told(call):
    """The result of a call, and its warnings in one text."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = call()
    return made, " | ".join(str(one.message) for one in caught)


# Modules on first use; DIPY and PyTorch are not imported before.
program = """
import sys, hotfiber
assert not {"dipy", "torch", "jax", "hotfiber.linalg", "hotfiber.fem"} & set(sys.modules), sys.modules.keys()
assert {"linalg", "fem", "fibers"} <= set(dir(hotfiber))
print(hotfiber.linalg.eigh([[2., 0], [0, 1]]).eigenvalues.tolist(), callable(hotfiber.fem.basis))
print(hasattr(hotfiber, "nothing_such"))
"""
done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
check(done.stdout.split("\n")[:2] == ["[1.0, 2.0] True", "False"], f"{done.stdout} {done.stderr}")

# Tables whose vectors are not of length 1: as the command reads files of them, and with a warning.
scene = Scene(count=30, b=1000., size=(6, 6, 4), noise=10., seed=5)
b, vectors, affine = scene.b, scene.gradients, np.diag([2., 2, 2, 1])
plain, silence = told(lambda: hotfiber.Dwi(scene.data, (b, vectors), affine))
check(silence == "" and np.array_equal(plain.bvals, b), f"unit vectors: {silence}")
nibabel.save(nibabel.Nifti1Image(scene.data.astype(np.float32), affine), "scan.nii.gz")
np.savetxt("scan.bval", b[None])
shells = np.where(np.arange(len(b)) % 2, 1., np.sqrt(.5))[:, None]
for name, lengths, word in (("double", 2, "length 2,"), ("rounded", 1.01, "length 1.01,"),
                            ("shells", shells, "from 0.7071 to 1,"), ("half", .5, "length 0.5,")):
    made, warning = told(lambda: hotfiber.Dwi(scene.data, (b, vectors * lengths), affine))
    np.savetxt("scan.bvec", (vectors * lengths).T, fmt="%.9f")
    commands = hotfiber.load("scan.nii.gz", kind="dwi")
    check(np.allclose(made.bvals, commands.bvals, rtol=1e-6), f"{name}: {made.bvals[-4:]}, {commands.bvals[-4:]}")
    check(word in warning and "s/mm^2" in warning, f"{name}: {warning}")
    if np.max(lengths) > 1:
        check(np.array_equal(made.bvals, b), f"{name}: b is unchanged, not {made.bvals.max()}")
    check(np.allclose(np.linalg.norm(made.gradients[b > 0], axis=1), 1), f"{name}: unit vectors")
    check(np.array_equal(hotfiber.Dwi(made.data, (made.bvals, made.gradients), frame="scanner").bvals, made.bvals),
          f"{name}: read once, never again")

# Tables in another order, arguments in other places.
table = np.column_stack([vectors, b])
data = scene.data
said(lambda: hotfiber.Dwi(data, table[:, [3, 0, 1, 2]]), "b x y z", "x y z b")
said(lambda: hotfiber.fibers(data, b, vectors), "parentheses")
said(lambda: hotfiber.fibers("scan.nii.gz", "scan.bval", "scan.bvec"), "parentheses")
said(lambda: hotfiber.fibers(data, affine), "affine", "order")
said(lambda: hotfiber.fibers(data[..., 0], (b, vectors)), "3 axes")
two = np.array([[0., 0, 1, 1], [0, 1, 0, 1]])  # b of 1, which a unit vector could be
check(np.array_equal(hotfiber.Dwi(np.ones((2, 2)), two).bvals, [1, 1]), "x y z b with a small b")

# Masks: a path, on another grid too; NaN.
mask = np.zeros(scene.size, np.uint8)
mask[1:5, 1:4] = 1
nibabel.save(nibabel.Nifti1Image(mask, affine), "mask.nii.gz")
fast = {"response": (1.7e-3, .3e-3), "method": "maxima"}
by_array, _ = told(lambda: hotfiber.fibers(data, table, affine, mask=mask, **fast))
for name in ("mask.nii.gz", __import__("pathlib").Path("mask.nii.gz")):
    by_path, _ = told(lambda: hotfiber.fibers(data, table, affine, mask=name, **fast))
    check(np.array_equal(by_path.peaks, by_array.peaks) and np.array_equal(by_path.mask, mask > 0), "mask by its path")
for function in (lambda where: hotfiber.fit(data, table, affine, where, order=4, response=(1.7e-3, .3e-3)).values,
                 lambda where: hotfiber.peaks(by_array.tensors, mask=where).peaks,
                 lambda where: hotfiber.denoise(data, where).data):
    check(np.array_equal(function("mask.nii.gz"), function(mask)), "a path of a mask in every function")
said(lambda: hotfiber.fibers(data, table, affine, mask="none.nii.gz"), "none.nii.gz", error=OSError)
said(lambda: hotfiber.fibers(data, table, affine, mask=np.full(scene.size, np.nan)), "NaN", "mask")

# Voxels that the method signal leaves out are counted in a warning: a sixth of the scene is air.
found, warning = told(lambda: hotfiber.fibers(data, table, affine, mask=np.ones(scene.size), sigma=10.,
                                              response=(1.7e-3, .3e-3)))
count = int((found.flags == 16).sum())
check(count and f"{count} of 144 voxels are nothing but noise" in warning, f"{count} voxels of noise: {warning}")
check(not found.probability[found.flags > 0].any() and not found.nfibers[found.flags > 0].any(), "flags and fibres")
check("144 voxels" in warning and "priors" in warning, f"few voxels: {warning}")

# Without an affine there are no anatomical letters, and files of it are warned of.
where, _ = told(lambda: hotfiber.fibers(data, table, mask=mask, **fast))
_, warning = told(lambda: hotfiber.export(where, "nowhere.nii.gz"))
check("no affine" in warning, f"export without an affine: {warning}")
_, warning = told(lambda: hotfiber.export(by_array, "somewhere.nii.gz"))
check(warning == "", f"export with one: {warning}")
try:
    import matplotlib
except ImportError:
    print("not run: matplotlib is not here (python3-matplotlib)")
else:
    for axis, right, up in (("k", "i", "j"), ("j", "i", "k"), ("i", "j", "k")):
        ax = hotfiber.plot(where, axis=axis)
        labels = ax.get_xlabel() + ax.get_ylabel() + ax.get_title()
        check(not set("RLAPIS") & set(labels) and "axial" not in labels, f"letters without an affine: {labels}")
        check(right in ax.get_xlabel() and up in ax.get_ylabel() and ax.get_xlim()[0] < ax.get_xlim()[1] and
              ax.get_ylim()[0] < ax.get_ylim()[1], f"{axis}: {labels}")
    bright = data[..., 0].astype(float)
    bright[0] = 1e6  # a sixth of the slice, outside of the mask
    limits = hotfiber.plot(by_array, bright).images[0].get_clim()
    check(limits[1] < 1e4, f"the window of a slice with a bright edge: {limits}")
    check("fraction" in " ".join(text.get_text() for text in ax.texts), "what a stick's length means")

# The library's messages name Python's parameters.
for message, wanted in (("give --response or --sigma", "give response= or sigma="),
                        ("--force_table uses it", "force_table=True uses it"),
                        ("run --learned FILE --mask MASK", "run --learned FILE --mask MASK"),
                        ("(`hotfiber fit --order 4`)", "(`hotfiber fit --order 4`)"),
                        ("give --order 4, or", "give order=4, or"),
                        ("see `hotfiber check`", "python3 -m hotfiber check"),
                        ("--as peaks says", "--as peaks says")):
    check(wanted in hotfiber._library.in_python(message), hotfiber._library.in_python(message))
end()
