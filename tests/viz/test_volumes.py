"""Images in the viewer: single images, the first b=0 of diffusion data, and the tissue colours of a run."""
import os
import shutil
import struct
import zlib

from cli import *

import nibabel

shutil.rmtree("work", ignore_errors=True)
os.makedirs("work/one")
os.chdir("work")
scene = Scene(count=30, b0=2)
# the last two volumes have b=0; the first volume gives a different picture
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
check(len(set(wanted)) == 3, "three volumes give three pictures")
write_dwi("dwi.nrrd", scene)
write_dwi("first.nrrd", scene, list_axis=0)
image("dwi.nii.gz", scene.data)
np.savetxt("dwi.bval", scene.b[None], fmt="%g")
np.savetxt("dwi.bvec", scene.gradients.T, fmt="%.6f")
image("plain.nii.gz", scene.data)
check(picture("x.png", "plain.nii.gz") == wanted[0], "without b-values: the first volume")
for name in ("dwi.nrrd", "first.nrrd", "dwi.nii.gz"):
    check(picture("x.png", name) == wanted[1], f"{name} shows its first b=0")
done = hotfiber("view", "dwi.nii.gz", "--screenshot", "x.png", "--size", "20x20")
check("the first with b=0 (number 30, counted from 0)" in done.stderr, done.stderr)
# every volume, by its number
image("one/7.nii.gz", scene.data[..., 7])
one = {0: wanted[0], 7: picture("7.png", "one/7.nii.gz"), 31: wanted[2]}
check(len(set(one.values())) == 3, "the volumes differ")
for name in ("dwi.nrrd", "first.nrrd", "dwi.nii.gz", "plain.nii.gz"):
    for v in one:
        check(picture("x.png", name, "--volume", str(v)) == one[v], f"{name}: volume {v}")
for words, name in ((["--volume", "32"], "dwi.nii.gz"), (["--volume", "1"], "one/0.nii.gz")):
    done = hotfiber("view", name, *words, "--screenshot", "x.png", "--size", "20x20", "--quiet")
    check(done.returncode == 1 and done.stderr.count("\n") == 1 and "--volume" in done.stderr, done.stderr)
# the same image behind the glyphs of a run
works("run", "-i", "dwi.nrrd", "-o", "out", "--quiet")
names = ["--background", "dwi", "--glyph", "none"]
check(picture("x.png", "out", "dwi.nii.gz", *names) == wanted[1], "behind the glyphs")


def pixels(png):
    """height x width x channels of a PNG's bytes, of 8 bits each."""
    width, height, depth, kind = struct.unpack(">IIBB", png[16:26])
    channels, at, data = {2: 3, 6: 4}[kind], 8, b""
    check(depth == 8, "8 bits")
    while at < len(png):
        size, = struct.unpack(">I", png[at:at + 4])
        data += png[at + 8:at + 8 + size] if png[at + 4:at + 8] == b"IDAT" else b""
        at += 12 + size
    lines = np.frombuffer(zlib.decompress(data), np.uint8).reshape(height, -1)
    rows = np.zeros((height + 1, width + 1, channels), int)  # padded by a zero row above and a zero column before
    for y, line in enumerate(lines, 1):
        for x, some in enumerate(line[1:].reshape(width, channels).astype(int), 1):
            left, up, corner = rows[y, x - 1], rows[y - 1, x], rows[y - 1, x - 1]
            near = np.abs(np.stack([left, up, corner]) - (left + up - corner))
            paeth = np.choose(near.argmin(0), [left, up, corner])
            rows[y, x] = (some + [0, left, up, (left + up) // 2, paeth][line[0]]) % 256
    return rows[1:, 1:]


# a transparent picture: clear around the image and in its dark voxels, opaque on it
values = np.zeros(scene.data.shape[:3])
values[2:4] = 100
image("bar.nii.gz", values)
clear = pixels(picture("x.png", "bar.nii.gz", "--transparent", "on", "--interpolate", "off", "--opacity", "1"))
check(clear.shape[2] == 4 and set(np.unique(clear[..., 3])) <= {0, 255}, "alpha is 0 or 255")
bright = clear[..., :3].min(2) > 250
check(bright.sum() > 100 and (clear[..., 3] == 255 * bright).all(), "opaque where it is bright")
white = pixels(picture("x.png", "bar.nii.gz", "--canvas", "1", "--interpolate", "off"))
check(white.shape[2] == 3 and white[0, 0].min() == 255 and (white.min(2) < 255).sum() == 0,
      "white paper stays white around white voxels")

# the tissues of a run with msmt: white matter blue, grey matter green, CSF red, negative values black
size = scene.data.shape[:3]
third, tissues = size[0] // 3, np.zeros(size + (3,))
for t in range(3):
    tissues[t * third:(t + 1) * third, ..., t] = 1
tissues[:, 0] = -1
image("out/tissues.nii.gz", tissues)
shown = pixels(picture("x.png", "out", "--glyph", "none", "--interpolate", "off", "--opacity", "1"))
for color, name in (((0, 0, 255), "white matter"), ((0, 255, 0), "grey matter"), ((255, 0, 0), "CSF")):
    check((np.abs(shown[..., :3] - color).max(2) <= 8).sum() > 100, f"{name} is {color} by default")
check(picture("y.png", "out", "--glyph", "none", "--background", "amplitude") != open("x.png", "rb").read(),
      "another background can be chosen")
# Colours are shown as colours: the directions' of a run, on the glyphs' grid and on another one, and by --as.
colours = np.zeros(size + (3,))
for c in range(3):
    colours[c * third:(c + 1) * third, ..., c] = 1
image("c.nii.gz", colours)
for name, values, scale in (("said.nii.gz", colours, 2), ("finer.nii.gz", np.repeat(colours, 2, 2), 1)):
    said = nibabel.Nifti1Image(values.astype(np.float32), np.diag([2, 2, scale, 1]))
    said.header.set_intent("NIFTI_INTENT_RGB_VECTOR", allow_unknown=True)
    said.to_filename(name)
for made in (("c.nii.gz", "--as", "rgb"), ("out", "said.nii.gz", "--glyph", "none", "--background", "said"),
             ("out", "finer.nii.gz", "--glyph", "none", "--background", "finer")):
    shown = pixels(picture("x.png", *made, "--interpolate", "off", "--opacity", "1"))
    for color in np.eye(3, dtype=int) * 255:
        check((np.abs(shown - color).max(2) <= 8).sum() > 100, f"{made}: {color} is shown")
works("run", "-i", "dwi.nrrd", "-o", "dec", "--outputs", "dec", "--method", "maxima", "--quiet")
shown = pixels(picture("x.png", "dec/dec.nii.gz", "--opacity", "1"))
check(np.ptp(shown, 2).max() > 100, "dec.nii.gz is shown in colour")
image("out/tissues.nii.gz", tissues[1:])
done = hotfiber("view", "out", "--screenshot", "x.png", "--size", "20x20")
check(done.returncode == 1 and "tissues.nii.gz" in done.stderr and done.stderr.count("\n") == 1, done.stderr)
end()
