"""Results do not depend on the unit of the signals, from 1e-30 to 1e30 times scanners' values."""
import shutil

import nibabel

from cli import *

UNITS = (66, -100)  # powers of two, which change no digit


def values(file):
    return np.asarray(nibabel.load(file).dataobj)


def make(name, *options):
    works("phantom", "-o", f"{name}.nii.gz", "--truth", f"{name}_truth.nii.gz", "--layout", "mixture", "--seed", 7,
          *options)
    image = nibabel.load(f"{name}.nii.gz")
    for power in UNITS:
        scaled = (values(f"{name}.nii.gz").astype(float) * 2.**power).astype("<f4")
        nibabel.save(nibabel.Nifti1Image(scaled, image.affine), f"{name}{power}.nii")
        for end in "bval", "bvec":
            shutil.copy(f"{name}.{end}", f"{name}{power}.{end}")


def same(name, *options, unit=(), outputs="default"):
    """The run's images in each unit; `unit`: images in the data's."""
    ask = *options, "--outputs", outputs, "--force"
    works("run", "-i", f"{name}.nii.gz", "-o", "plain", *ask)
    for power in UNITS:
        done = hotfiber("run", "-i", f"{name}{power}.nii", "-o", "scaled", *ask)
        check(done.returncode == 0, f"{name}, 2^{power}, {options}: {done.stderr[-300:]}")
        for file in sorted(os.listdir("plain") if done.returncode == 0 else []):
            if not file.endswith(".nii.gz"):
                continue
            a, b = (values(f"{folder}/{file}").astype(float) for folder in ("plain", "scaled"))
            if file in unit or file == "b0.nii.gz":
                b = b * 2.**-power
            check(np.array_equal(a, b, equal_nan=True),
                  f"{name}, 2^{power}, {options}, {file}: {np.sum(a != b)} of {a.size} numbers differ")


make("shells", "--size", "6,6,6", "-b", "1000,3000", "--directions", 45, "--b0", 6, "--snr", 25)
# hardly more volumes than coefficients: the noise that regularises is that of the b=0 images
make("few", "--size", "6,6,4", "-b", 3000, "--directions", 31, "--b0", 4, "--snr", 20)
same("shells", outputs="default,noise_sd,isotropic,free_water,cone,amplitude", unit=("noise_sd.nii.gz",))
same("few", "--denoise", unit=("noise.nii.gz",))
same("few", "--method", "maxima")
for model in "fod", "odf", "adc", "msmt":
    same("shells", "--method", "lowrank", "--model", model, outputs="default,fa,md,b0", unit=("b0.nii.gz",))

# The response is in the unit of the data.
works("response", "-i", "shells.nii.gz", "-o", "plain.txt")
for power in UNITS:
    works("response", "-i", f"shells{power}.nii", "-o", "scaled.txt")
    check(np.allclose(np.loadtxt("plain.txt"), np.loadtxt("scaled.txt") * 2.**-power, rtol=1e-4, atol=1e-9),
          f"response, 2^{power}")
end()
