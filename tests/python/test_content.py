"""load() finds the content of a file, and refuses ambiguous ones."""
import os
import tempfile

import hotfiber
import nibabel
import numpy as np

from cli import check, end

os.chdir(tempfile.mkdtemp())
rng = np.random.default_rng(3)
main = rng.normal(size=(5, 4, 3, 3))
main /= np.linalg.norm(main, axis=-1, keepdims=True)
affine = np.diag([2., 2, 2, 1])


def save(name, values):
    nibabel.save(nibabel.Nifti1Image(np.asarray(values, np.float32), affine), name)
    return name


def asked(name, *words):
    try:
        check(False, f"{name} was read as {type(hotfiber.load(name)).__name__}")
    except hotfiber.Error as error:
        check("kind='directions'" in str(error) and all(word in str(error) for word in words), str(error))


check(isinstance(hotfiber.load(save("v.nii", 0.7 * main)), hotfiber.Fibers), "directions")
harmonics = 0.1 * rng.normal(size=(5, 4, 3, 15))
harmonics[..., 0] = 0.3
check(isinstance(hotfiber.load(save("sh.nii", harmonics)), hotfiber.TensorField), "harmonics are a field of tensors")
matrices = 1.2e-3 * main[..., :, None] * main[..., None, :] + 4e-4 * np.eye(3)
mrtrix = np.stack([matrices[..., "xyz".index(a), "xyz".index(b)] for a, b in ("xx yy zz xy xz yz".split())], -1)
tensors = hotfiber.load(save("dt.nii", mrtrix))
check(isinstance(tensors, hotfiber.TensorField) and tensors.order == 2, "tensors of MRtrix")
found = hotfiber.peaks(tensors, max_fibers=1).directions[..., 0, :]
check(np.abs((found * main).sum(-1)).min() > 1 - 1e-6, "their first directions")
asked(save("um.nii", 1e3 * mrtrix), "tensor")
again = hotfiber.load("um.nii", kind="tensor_mrtrix")
check(np.allclose(again.values, 1e3 * tensors.values), "kind='tensor_mrtrix'")
asked(save("noise.nii", rng.normal(size=(5, 4, 3, 9))))
check(isinstance(hotfiber.load("noise.nii", kind="directions"), hotfiber.Fibers), "kind='directions' decides")
check(isinstance(hotfiber.load(save("map.nii", rng.uniform(size=(5, 4, 3)))), hotfiber.Image), "a map")
end()
