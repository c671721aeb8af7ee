"""Gradient tables in all their names, places and layouts give the same world gradients; MRtrix is the reference for its
own tables. Unreadable tables are refused with a line that names the remedy."""
import json
import os
import shutil
import subprocess

import nibabel
import numpy as np

from _dwi import check, end, hot, refused, rotation

random = np.random.default_rng(7)
VOLUMES = 11
data = random.integers(1, 900, size=(4, 3, 2, VOLUMES)).astype(np.int16)
affine = np.eye(4)
affine[:3, :3] = rotation((3, 1, 2), 20) @ np.diag([-2, -2, 2.5])  # LPS+, as QSIPrep's images: determinant positive
affine[:3, 3] = 40, 30, -20
b = np.array([0] + [1000] * 5 + [2500] * 5, float)
g = random.normal(size=(VOLUMES, 3))
g /= np.linalg.norm(g, axis=1)[:, None]
g[0] = 0
axes = affine[:3, :3] / np.linalg.norm(affine[:3, :3], axis=0)
along = g @ axes                      # components along the image's axes
fsl = along * [-1, 1, 1]              # FSL mirrors x where the determinant is positive
table = np.c_[g, b]


def put(path, text):
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())


def lines(rows, between=" ", line_end="\n", form="%.9f"):
    return line_end.join(between.join(form % n for n in row) for row in np.atleast_2d(rows)) + line_end


def image(path):
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    nifti = nibabel.Nifti1Image(data, affine)
    nifti.set_sform(affine, 1)
    nibabel.save(nifti, path)


def same(name, *arguments, said=None, stdin=None, degrees=1e-3):
    done = hot("info", "--json", *arguments, stdin=stdin)
    check(done.returncode == 0, "%s: %s" % (name, done.stderr))
    if done.returncode:
        return
    about = json.loads(done.stdout)
    check(np.allclose(about["b_values"], b, rtol=1e-4), "%s: b %s" % (name, about["b_values"]))
    dot = np.abs((np.array(about["gradients_world"]) * g).sum(1))[b > 0]
    off = np.degrees(np.arccos(np.minimum(dot, 1))).max()
    check(off < degrees, "%s: directions off by %g degrees" % (name, off))
    check((not done.stderr) if said is None else all(word in done.stderr for word in said), "%s: said '%s'"
          % (name, done.stderr))


bval, bvec, grad = lines([b], form="%g"), lines(fsl.T), lines(table)
# layouts, in files that are named
image("a.nii.gz")
named = ("-i", "a.nii.gz", "--bval", "x.bval", "--bvec", "x.bvec")
for name, one, other in (
        ("three lines", bval, bvec), ("tabs", bval.replace(" ", "\t"), bvec.replace(" ", "\t")),
        ("CR LF", bval.replace("\n", "\r\n"), bvec.replace("\n", "\r\n")),
        ("CR alone", bval.replace("\n", "\r"), bvec.replace("\n", "\r")),
        ("byte order mark", "\ufeff" + bval, "\ufeff" + bvec), ("no last line end", bval.rstrip(), bvec.rstrip()),
        ("blank lines", "\n" + bval + "\n\n", bvec + "\n \n"), ("trailing blanks", bval.replace("\n", "  \n"),
                                                              bvec.replace("\n", " \t\n")),
        ("a column, a line each", lines(b[:, None], form="%g"), lines(fsl)),
        ("commas", lines([b], ", ", form="%g"), lines(fsl, ", ")),
        ("commas alone", lines([b], ",", form="%g"), lines(fsl.T, ",")),
        ("semicolons", lines([b], ";", form="%g"), lines(fsl.T, ";")),
        ("exponents", lines([b], form="%.6e"), lines(fsl.T, form="%.9e")),
        ("all in one line", bval, lines(fsl.T.reshape(1, -1))),
        ("volume after volume", bval, lines(fsl.reshape(1, -1))),
        ("comments", "# b\n" + bval, "# x y z\n" + bvec)):
    put("x.bval", one)
    put("x.bvec", other)
    same(name, *named)

# decimal commas: what, which value, what would be right
comma = lambda text: text.replace(".", ",")
put("x.bval", bval)
put("x.bvec", comma(bvec))
refused("info", *named, words=("x.bvec", "line 1", "decimal comma", comma("%.9f" % fsl[0, 0]), "%.9f" % fsl[0, 0]))
put("x.bvec", comma(lines(fsl, ";")))
refused("info", *named, words=("x.bvec", "decimal comma"))
put("x.bvec", bvec)
for text in map(comma, (lines([b], form="%.1f"), lines(b[:, None], form="%.1f"), lines([b], ";", form="%.1f"))):
    put("x.bval", text)
    refused("info", *named, words=("x.bval", "decimal comma", "0,0", "0.0"))
for name in ("x.bval", "x.bvec"):
    os.remove(name)

# MRtrix's table: named, next to the image, and preferred to a pair that is not in FSL's convention
put("x.b", grad)
same("--grad", "-i", "a.nii.gz", "--grad", "x.b")
for line_end in "\r", "\r\n":
    put("x.b", grad.replace("\n", line_end))
    same("--grad with %r" % line_end, "-i", "a.nii.gz", "--grad", "x.b")
put("x.b", grad)
put("a.b", grad)
same(".b beside", "-i", "a.nii.gz", said=("a.b", "scanner axes"))
put("a.bval", bval)
put("a.bvec", lines(along.T))
same("QSIPrep's three files", "-i", "a.nii.gz", said=("a.b", "a.bvec", "differ", "degrees"))
put("a.bvec", bvec)
done = hot("info", "-i", "a.nii.gz")
check("scanner axes" in done.stderr and "differ" not in done.stderr, "a pair that agrees: %s" % done.stderr)
os.remove("a.b")
same("the pair alone", "-i", "a.nii.gz")

# QSIPrep's pair without the .b, told by its name and LPS+ image; with it; the same name with an image that is not LPS+
NAME = "sub-1_space-T1w_desc-preproc_dwi"
image(NAME + ".nii.gz")
put(NAME + ".bval", bval)
put(NAME + ".bvec", lines(along.T))
same("QSIPrep's pair", "-i", NAME + ".nii.gz", said=(NAME + ".bvec", "QSIPrep", "hotfiber check", "--grad"))
put(NAME + ".b", grad)
same("and its .b", "-i", NAME + ".nii.gz", said=(NAME + ".b", "scanner axes"))
check("differ" not in hot("info", "-i", NAME + ".nii.gz").stderr, "they say the same")
os.remove(NAME + ".b")
nibabel.save(nibabel.Nifti1Image(data[:, ::-1], affine @ np.array([[1, 0, 0, 0], [0, -1, 0, 2], [0, 0, 1, 0],
                                                                   [0, 0, 0, 1.]])), NAME + ".nii.gz")
put(NAME + ".bvec", lines((along * [1, -1, 1]).T))  # LAS+: FSL's convention, which mirrors nothing there
same("LAS+ of that name", "-i", NAME + ".nii.gz")
refused("info", "-i", "a.nii.gz", "--grad", "x.b", "--bvec", "a.bvec", words=("x.b", "a.bvec", "not needed"))
put("y.b", lines(table[:5]))
refused("info", "-i", "a.nii.gz", "--grad", "y.b", words=("--grad: ", "11 volumes", "y.b", "5 lines"))
put("y.b", "1 0 0\n")
for option in ("--grad", "--bval"):  # the option is called what the user called it
    refused("info", "-i", "a.nii.gz", option, "y.b", words=(option + ": ", "y.b", "lines of 3 numbers", "x y z b"))
    refused("info", "-i", "a.nii.gz", option, "a.bvec", words=(option + ": ", "a.bvec", "gradient vectors", "--bvec"))
put("y.b", comma(grad))
refused("info", "-i", "a.nii.gz", "--grad", "y.b", words=("y.b", "decimal comma"))
os.remove("a.bval")
os.remove("a.bvec")
refused("info", "-i", "a.nii.gz", words=("a.nii.gz", "a.bval", "--bval", "--grad"))
with open("a.nii.gz", "rb") as file:
    content = file.read()
refused("info", "-i", "-", stdin=content, words=("standard input", "without gradients", "--grad"))
same("standard input", "-i", "-", "--grad", "x.b", stdin=content)
if shutil.which("mrinfo"):  # b goes with the squared length of vectors that are not of length 1
    scaled = table.copy()
    scaled[1:, 3] = 2500
    scaled[:, :3] *= np.sqrt(b / 2500)[:, None]
    for name, rows in (("coded in the length", scaled), ("nearly of length 1", table * [1.001, 1.001, 1.001, 1])):
        put("z.b", lines(rows))
        text = subprocess.run(["mrconvert", "a.nii.gz", "-grad", "z.b", "z.mif", "-quiet", "-force"],
                              stderr=subprocess.PIPE)
        check(text.returncode == 0, "mrconvert: %s" % text.stderr)
        expected = np.array([line.split() for line in subprocess.run(
            ["mrinfo", "z.mif", "-dwgrad", "-quiet"], stdout=subprocess.PIPE).stdout.decode().splitlines()], float)
        # nearly of length 1: MRtrix 3.0.3 makes 1002 of it; 3.0.4 and this program take what the table says
        nominal = np.c_[expected[:, :3], rows[:, 3]] if name == "nearly of length 1" else expected
        for expected, *arguments in ((nominal, "-i", "a.nii.gz", "--grad", "z.b"), (expected, "-i", "z.mif")):
            about = json.loads(hot("info", "--json", *arguments).stdout)
            check(np.allclose(about["b_values"], expected[:, 3], rtol=1e-4, atol=1e-3), "%s: b %s"
                  % (name, about["b_values"]))
            check(np.abs(np.array(about["gradients_world"]) - expected[:, :3])[b > 0].max() < 1e-5, "%s: g" % name)

# other names
for names in (("b/dwi.bvals", "b/dwi.bvecs"), ("b/bvals", "b/bvecs"), ("b/bval", "b/bvec"),
              ("b/bvals", "b/dwi.eddy_rotated_bvecs")):
    image("b/dwi.nii.gz")
    put(names[0], bval)
    put(names[1], bvec)
    same(names[0], "-i", "b/dwi.nii.gz", said=(names[0], names[1]))
    shutil.rmtree("b")

# BIDS: tables are inherited from folders above, the nearest and most particular ones count
FILE = "s/sub-01/ses-1/dwi/sub-01_ses-1_dir-AP_run-2_dwi.nii.gz"
wrong_b, wrong_g = lines([b[::-1]], form="%g"), lines(fsl[::-1].T)
for where, named in (("s/", ("dwi", "dwi")), ("s/sub-01/", ("sub-01_dwi", "sub-01_dwi")),
                     ("s/sub-01/ses-1/", ("sub-01_ses-1_dwi",) * 2), ("s/", ("dir-AP_dwi", "dwi")),
                     ("s/sub-01/ses-1/dwi/", ("sub-01_ses-1_run-2_dwi",) * 2)):
    image(FILE)
    put("s/dataset_description.json", "{}")
    put("dwi.bval", wrong_b)          # outside of the data set
    put("dwi.bvec", wrong_g)
    put("s/sub-01/ses-1/dwi/sub-01_ses-1_run-1_dwi.bval", wrong_b)  # another run's
    put("s/sub-01/ses-1/dwi/sub-01_ses-1_run-1_dwi.bvec", wrong_g)
    put("s/sub-02_dwi.bval", wrong_b)
    if named[0] != "dwi":             # a less particular one in the same folder, or one further up
        put("s/dwi.bval", wrong_b)
    put(where + named[0] + ".bval", bval)
    put(where + named[1] + ".bvec", bvec)
    same("BIDS " + where + named[0], "-i", FILE, said=(named[0] + ".bval",))
    shutil.rmtree("s")
    os.remove("dwi.bval")
    os.remove("dwi.bvec")

# three volumes, where nothing but the lengths of the vectors tells lines from columns
nibabel.save(nibabel.Nifti1Image(data[..., :3], np.diag([-2, 2, 2, 1.0])), "three.nii.gz")
vectors = np.array([[1, 0, 0], [.6, .8, 0], [0, .6, .8]])
put("three.bval", "1000 1000 1000\n")
for rows in vectors, vectors.T:
    put("three.bvec", lines(rows))
    done = hot("info", "--json", "-i", "three.nii.gz")
    check(done.returncode == 0, "three volumes: %s" % done.stderr)
    found = np.abs(json.loads(done.stdout)["gradients_world"])
    check(np.allclose(found, vectors, atol=1e-6), "three volumes: %s" % found)
end()
