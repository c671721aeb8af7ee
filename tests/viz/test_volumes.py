"""Images in the viewer: one alone, and of several volumes the first with b=0."""
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.environ["HOT_SOURCE"], "tests", "cli"))
from cli import *  # noqa: E402

import nibabel

shutil.rmtree("work", ignore_errors=True)
os.makedirs("work/one")
os.chdir("work")
scene = Scene(count=30, b0=2)
# b=0 last but one and last: the first volume is another picture
order = np.r_[2:32, 0, 1]
scene.data, scene.b, scene.gradients = scene.data[..., order], scene.b[order], scene.gradients[order]
scene.data[..., 30] *= np.linspace(.5, 1, scene.size[1])[:, None]  # the two b=0 volumes differ
affine = np.hstack([2 * np.eye(3), np.zeros((3, 1))])


def picture(name, *files):
    works("view", *files, "--screenshot", name, "--size", "160x120", "--annotations", "off", "--quiet")
    return open(name, "rb").read()


def image(path, values):
    nibabel.Nifti1Image(values.astype(np.float32), np.vstack([affine, [0, 0, 0, 1]])).to_filename(path)


for volume in (0, 30, 31):
    image(f"one/{volume}.nii.gz", scene.data[..., volume])
wanted = [picture(f"{volume}.png", f"one/{volume}.nii.gz") for volume in (0, 30, 31)]
check(len(set(wanted)) == 3, "three volumes are three pictures")
write_dwi("dwi.nrrd", scene)
write_dwi("first.nrrd", scene, list_axis=0)
image("dwi.nii.gz", scene.data)
np.savetxt("dwi.bval", scene.b[None], fmt="%g")
np.savetxt("dwi.bvec", scene.gradients.T, fmt="%.6f")
image("plain.nii.gz", scene.data)
check(picture("x.png", "plain.nii.gz") == wanted[0], "without b-values at its first volume")
for name in ("dwi.nrrd", "first.nrrd", "dwi.nii.gz"):
    check(picture("x.png", name) == wanted[1], f"{name} opens at its first b=0")
done = hotfiber("view", "dwi.nii.gz", "--screenshot", "x.png", "--size", "20x20")
check("32 volumes: the first with b=0, number 30 from 0" in done.stderr, done.stderr)
# behind the glyphs of a run it is the same image
works("run", "-i", "dwi.nrrd", "-o", "out", "--quiet")
names = ["--background", "dwi", "--glyph", "none"]
check(picture("x.png", "out", "dwi.nii.gz", *names) == wanted[1], "behind the glyphs too")
end()
