"""The content of an image comes from its header, its values or --as, never from the number of its values. Tensors,
harmonics, colours, maps and signals are not directions; tensors of order 2 of FSL, MRtrix, DIPY, ITK and Slicer are
read in the order and the axes of each; directions of any tool are accepted."""
import gzip
import os
import shutil
import subprocess

os.environ["OPENBLAS_NUM_THREADS"] = "1"
import nibabel as nib
import numpy as np

from _export import HOTFIBER, rotation, run
from counted import check, end

rng = np.random.default_rng(40)
VIEW = os.path.join(os.path.dirname(HOTFIBER), "hotfiber-view")
SHAPE = (6, 5, 4)
COUNT = int(np.prod(SHAPE))


def call(*arguments):
    return subprocess.run([HOTFIBER, *map(str, arguments)], capture_output=True, text=True)


def refused(path, *words, commands=("export", "score"), options=()):
    """One line that has these words, status 1, no file."""
    for command in commands:
        target = "no.vtp" if command == "export" else "no.nii"
        more = ("--truth", "truth.nii") if command == "score" else ("-o", target)
        done = call(command, "-i", path, *more, *options)
        check(done.returncode == 1 and len(done.stderr.strip().splitlines()) == 1 and not os.path.exists(target) and
              all(word in done.stderr for word in words + (path,)), f"{command} {path} {words}: {done}")
        if os.path.exists(target):
            os.remove(target)


def export_peaks(path, *options):
    """x y z of each voxel's fibres as export writes them, in scanner axes; None where it fails."""
    done = call("export", "-i", path, "-o", "peaks.nii", "--format", "peaks", *options)
    if done.returncode != 0:
        check(False, f"export {path} {options}: {done.stderr}")
        return None
    data = nib.load("peaks.nii").get_fdata()
    os.remove("peaks.nii")
    return data.reshape(data.shape[:3] + (-1, 3))


def same_axes(name, found, wanted, degrees=0.05):
    if found is None:
        return
    cosine = np.abs((found * wanted).sum(-1)) / np.maximum(np.linalg.norm(found, axis=-1), 1e-30)
    off = np.degrees(np.arccos(np.clip(cosine, -1, 1))).max()
    check(off < degrees, f"{name}: first directions are up to {off:.2f} degrees off")


def same_vectors(found, wanted):
    """Each found direction is an expected one, up to the sign (files have those of one hemisphere), and up to the order
    of equal lengths."""
    pairs = found[..., :, None, :], wanted[..., None, :, :]
    apart = np.minimum(np.abs(pairs[0] - pairs[1]).max(-1), np.abs(pairs[0] + pairs[1]).max(-1))
    return (apart.min(-1) < 1e-6).all() and (apart.min(-2) < 1e-6).all()


def unit(v):
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def save(path, values, affine, intent=None, p1=0, name=""):
    image = nib.Nifti1Image(np.asarray(values), affine)
    if intent:
        image.header["intent_code"], image.header["intent_p1"] = intent, p1
    image.header["intent_name"] = name
    nib.save(image, path)
    return path


def write_nrrd(path, values, frame, kind, space="left-posterior-superior", key=""):
    """values[i, j, k, n] with the axes of an oblique grid."""
    axes = rotation((1, 2, 3), 25) @ np.diag([1.5, 2, 2.5])
    text = lambda v: "(%.17g,%.17g,%.17g)" % tuple(v)
    lines = ["NRRD0005", "type: float", "dimension: 4", "space: " + space,
             "sizes: %d %d %d %d" % ((values.shape[3],) + SHAPE),
             "space directions: none " + " ".join(text(axes[:, a]) for a in range(3)),
             "kinds: %s space space space" % kind, "endian: little", "encoding: raw", "space origin: (0,0,0)",
             "measurement frame: " + " ".join(text(frame[:, a]) for a in range(3)), *([key] if key else []), "", ""]
    with open(path, "wb") as f:
        f.write("\n".join(lines).encode() + np.asarray(values, "<f4").transpose(3, 0, 1, 2).tobytes(order="F"))
    return path


def in_order(d, order):
    """Matrices as a list of values; order: "xx xy ..."."""
    return np.stack([d[..., "xyz".index(a), "xyz".index(b)] for a, b in order.split()], -1).astype(np.float32)


FSL, MRTRIX, LOWER = "xx xy xz yy yz zz", "xx yy zz xy xz yz", "xx xy yy xz yz zz"
WHOLE = "xx xy xz yx yy yz zx zy zz"

# ---- Tensors of order 2 in every order, frame and unit: known axes, oblique grids of both handednesses
main = unit(rng.normal(size=SHAPE + (3,)))
second = unit(np.cross(main, unit(rng.normal(size=SHAPE + (3,)))))
third = np.cross(main, second)
diffusivity = np.stack([rng.uniform(1.3e-3, 1.8e-3, SHAPE), rng.uniform(4e-4, 7e-4, SHAPE),
                        rng.uniform(2e-4, 4e-4, SHAPE)], -1)
axes = np.stack([main, second, third], -1)
world = np.einsum("...ia,...a,...ja->...ij", axes, diffusivity, axes)  # scanner RAS
nib.save(nib.Nifti1Image(np.zeros(SHAPE + (3,), np.float32), np.eye(4)), "truth.nii")
for side in (1, -1):
    turn = rotation((1, 2, 3), 25) @ np.diag([side, 1, 1])
    affine = np.eye(4)
    affine[:3, :3] = turn * [1.5, 2, 2.5]
    bvec = turn @ np.diag([-side, 1, 1])  # FSL: x is mirrored where the axes are right-handed
    lps = np.diag([-1.0, -1, 1])
    in_frame = {"scanner": world, "bvec": bvec.T @ world @ bvec, "lps": lps @ world @ lps}
    for name, values, order, frame, more, options in (
            ("fsl", None, FSL, "bvec", {}, ()),  # dtifit --save_tensor
            ("fsl_lone", None, FSL, "bvec", {}, ("--as", "tensor_fsl")),
            ("mrtrix", None, MRTRIX, "scanner", {}, ()),
            ("mrtrix_um", 1e3, MRTRIX, "scanner", {}, ("--as", "tensor")),
            ("dipy", None, LOWER, "bvec", {}, ()),
            ("dipy_5d", 5, LOWER, "bvec", {"intent": 1005, "p1": 3}, ()),
            ("ants", 5, LOWER, "lps", {"intent": 1005}, ()),
            ("ants_4d", None, LOWER, "lps", {"intent": 1005}, ()),
            ("itk", None, LOWER, "lps", {}, ("--as", "tensor_itk")),
            ("whole", None, WHOLE, "bvec", {}, ("--as", "tensor_dipy")),
            ("whole_scanner", None, WHOLE, "scanner", {}, ("--as", "tensor_mrtrix"))):
        stored = in_order(in_frame[frame], order)
        stored = stored[:, :, :, None] if values == 5 else stored * (values or 1)
        path = save(f"{name}.nii", stored, affine, **more)
        found = export_peaks(path, *options)
        same_axes(f"{name}, side {side}", found if found is None else found[..., 0, :], main)
        done = call("peaks", "-i", path, "-o", "p.nii", "--num", 1, *options)
        check(done.returncode == 0, f"peaks {path}: {done.stderr}")
        if done.returncode == 0:
            same_axes(f"peaks {name}, side {side}", nib.load("p.nii").get_fdata(), main)
            os.remove("p.nii")
        if not options:
            refused(path, "tensors", "hotfiber peaks", commands=("score",))
refused("mrtrix_um.nii", "--as", "tensor", commands=("export", "score", "peaks"))
refused("whole.nii", "--as", "tensor_dipy", "tensor_itk", commands=("export", "peaks"))

# ---- Slicer's and Teem's: the measurement frame counts
frame = rotation((1, 0, 1), 70)
file_frame = frame.T @ (lps @ world @ lps) @ frame
for name, order, kind, masked in (("matrix", WHOLE, "3D-matrix", 0), ("masked", WHOLE, "3D-masked-matrix", 1),
                                  ("sym", FSL, "3D-symmetric-matrix", 0),
                                  ("masked_sym", FSL, "3D-masked-symmetric-matrix", 1)):
    stored = in_order(file_frame, order)
    if masked:
        stored = np.concatenate([np.ones(SHAPE + (1,)), stored], -1)
    path = write_nrrd(f"{name}.nrrd", stored, frame, kind)
    found = export_peaks(path)
    same_axes(kind, found if found is None else found[..., 0, :], main)
    refused(path, "tensors", commands=("score",))
outside = in_order(file_frame, WHOLE)
outside[0] = 0  # air: no tensor, not one along x
found = export_peaks(write_nrrd("outside.nrrd", outside, frame, "3D-matrix"))
check(found is None or (not found[0].any() and found[1:].any(-1).all()), "voxels of zeros have a direction")

# ---- Harmonics, colours, maps and signals are no directions
affine = np.diag([2.0, 2, 2, 1])


def lobes(lmax):
    """Two narrow lobes, MRtrix's basis up to degree 2 exactly enough: a positive first coefficient, the rest signed."""
    count = (lmax + 1) * (lmax + 2) // 2
    rows = rng.normal(size=SHAPE + (count,)) * 0.15
    rows[..., 0] = rng.uniform(0.2, 0.4, SHAPE)
    return rows.astype(np.float32)


for lmax in (2, 4, 8, 10):
    path = save(f"fod{lmax}.nii", lobes(lmax), affine)
    refused(path, "harmonics", "hotfiber peaks")
    check(call("peaks", "-i", path, "-o", "p.nii", "--quiet").returncode == 0, f"peaks of lmax {lmax}")
colours = np.abs(main * rng.uniform(0.1, 1, SHAPE + (1,))).astype(np.float32)
refused(save("dec.nii", colours, affine), "colours", "--as")
refused(save("unit_dec.nii", np.abs(main).astype(np.float32), affine), "colours", "--as")
refused(save("bytes.nii", (255 * colours).astype(np.uint8), affine), "--as")
refused(save("few_dec.nii", colours[:2, :2, :2], affine), "colours", "--as")
amounts = rng.dirichlet((1, 1, 1), SHAPE).astype(np.float32)
refused(save("tissues.nii", amounts, affine), "map", "--as")
refused(save("signals.nii", np.sort(rng.uniform(0.1, 1, SHAPE + (9,)))[..., ::-1].astype(np.float32), affine),
        "signals", "--as")
refused(save("noise.nii", rng.normal(size=SHAPE + (9,)).astype(np.float32), affine), "--as")
refused(save("warp.nii", main[:, :, :, None].astype(np.float32), affine, intent=1006), "1006")
refused(save("colour_vectors.nii", main[:, :, :, None].astype(np.float32), affine, intent=2003), "colours")
refused(write_nrrd("rgb.nrrd", colours, np.eye(3), "RGB-color"), "colours")
refused(save("seven.nii", rng.uniform(2, 9, SHAPE + (7,)).astype(np.float32), affine), "--as", commands=("peaks",))
many = np.zeros(SHAPE + (15,), np.float32)  # directions are no harmonics either
many[..., :3], many[..., 3:6] = main, -0.5 * second
refused(save("directions15.nii", many, affine), "directions", "--as", commands=("peaks",))

# ... unless the user says so
for path in ("dec.nii", "tissues.nii", "noise.nii", "fod4.nii", "colour_vectors.nii"):
    check(export_peaks(path, "--as", "peaks") is not None, f"{path} --as peaks")
check(call("score", "-i", "noise.nii", "--truth", "truth.nii", "--as", "peaks").returncode == 0, "score --as peaks")
check(call("peaks", "-i", "directions15.nii", "--as", "sh", "-o", "p.nii", "--quiet").returncode == 0, "peaks --as sh")
for word in ("rgb", "dwi"):
    refused("noise.nii", "not", commands=("export",), options=("--as", word))
check(call("export", "-i", "noise.nii", "-o", "x.vtp", "--as", "fibres").returncode == 2, "--as without such a word")

# ---- Directions of other tools are
two = np.concatenate([main, 0.5 * second, 0 * third], -1).astype(np.float32)
two[::2, :, :, 3:6] = 0
unequal = np.where(two == 0, np.nan, two)  # sh2peaks
backwards = np.where(main[..., :1] < 0, -main, main)  # one hemisphere, x > 0
for name, values in (("mrtrix", unequal), ("zeros", two), ("units", np.concatenate([main, second], -1)),
                     ("dipy_dirs", np.stack([main, second, third, -main, 0 * main], -2).reshape(SHAPE + (15,))),
                     ("one", main * rng.uniform(0.2, 1, SHAPE + (1,))), ("bundle", main * 0 + (0.6, 0.48, 0.64)),
                     ("two", np.concatenate([0.8 * main, 0.3 * second], -1)),
                     ("hemisphere", np.concatenate([0.8 * backwards, 0.3 * second, 0 * main, 0 * main, 0 * main], -1)),
                     ("voxel", main[:1, :1, :1] * 0.7), ("air", np.zeros(SHAPE + (15,)))):
    found = export_peaks(save(f"{name}.nii", values.astype(np.float32), affine))
    wanted = np.nan_to_num(values)
    wanted = wanted.reshape(wanted.shape[:3] + (-1, 3))
    check(found is None or same_vectors(found, wanted), f"{name}: other directions")
stacked = np.stack([main, 0.6 * second, 0 * third, 0 * third], -2).astype(np.float32)  # (..., 4, 3), as NumPy has them
found = export_peaks(save("stacked.nii", stacked, affine))
check(found is None or same_vectors(found, stacked), "an axis of vectors, then one of 3 values")

# ---- What our own files say, whatever their values look like, and who reads it
fake = np.abs(two[..., :6]) + 0.1
found = export_peaks(save("own.nii", fake, affine, name="hotfiber peaks"))
check(found is not None, "our own word")
for word in ("rgb", "map"):
    refused(save(f"own_{word}.nii", main.astype(np.float32), affine, name="hotfiber " + word), "intent_name")
dyads = (bvec.T @ main[..., None])[..., 0].astype(np.float32)
oblique = np.eye(4)
oblique[:3, :3] = turn
found = export_peaks(save("dyads.nii", dyads, oblique), "--as", "dyads")
same_axes("dyads in the axes of the bvecs", found if found is None else found[..., 0, :], main)

run(HOTFIBER, "phantom", "--layout", "bundles", "--size", "10,10,4", "--snr", "0", "-b", "1000", "--directions", "40",
    "--b0", "4", "-o", "dwi.nii.gz", "--truth", "bundles.nii.gz", "--quiet")
run(HOTFIBER, "fit", "-i", "dwi.nii.gz", "--model", "adc", "--order", "2", "-o", "adc.nrrd", "--quiet")
run(HOTFIBER, "fit", "-i", "dwi.nii.gz", "--model", "adc", "--order", "2", "-o", "adc.nii.gz", "--quiet")
run(HOTFIBER, "fit", "-i", "dwi.nii.gz", "--order", "4", "-o", "fod.nrrd", "--quiet")
for source, names in (("bundles.nii.gz", ("dec.nii.gz", "dec.mif", "dec.nrrd", "peaks.nii.gz", "peaks.mif",
                                          "peaks.nrrd", "amplitude.nii.gz")), ("fod.nrrd", ("sh.nii.gz", "sh.mif"))):
    for name in names:
        run(HOTFIBER, "export", "-i", source, "-o", name, "--format", name.split(".")[0], "--quiet")
        with open(name, "rb") as f:
            raw = f.read()
        head = (gzip.decompress(raw) if name.endswith(".gz") else raw)[:4000]
        word = {"dec": b"rgb", "amplitude": b"map"}.get(name.split(".")[0], name.split(".")[0].encode())
        key = b"hotfiber " if ".nii" in name else b"hotfiber_content: " if "mif" in name else b"hotfiber_content:="
        mark = key + word
        check(mark in head, f"{name} does not say what it holds")
for name in ("dec.nii.gz", "dec.mif", "dec.nrrd", "amplitude.nii.gz"):
    refused(name, "hotfiber_content" if "nii" not in name and name != "dec.nrrd" else "says so")
for name in ("sh.nii.gz", "sh.mif"):
    refused(name, "harmonics")
for name in ("peaks.nii.gz", "peaks.mif", "peaks.nrrd"):
    check(export_peaks(name) is not None, name)

# ---- The same data fitted by others: the same first directions in single-fibre voxels
truth = nib.load("bundles.nii.gz").get_fdata()
alone = truth[..., :3].any(-1) & ~truth[..., 3:].any(-1)
ours = export_peaks("adc.nrrd")
check(alone.sum() > 20 and ours is not None, f"{alone.sum()} voxels of one fibre")


def like_ours(path, *options):
    found = export_peaks(path, *options)
    if found is not None and ours is not None:
        same_axes(path, found[alone][:, 0], unit(ours[alone][:, 0]), 0.2)


like_ours("adc.nii.gz")
if shutil.which("dwi2tensor"):
    for name in ("dt.mif", "dt.nii"):
        run("dwi2tensor", "-quiet", "-fslgrad", "dwi.bvec", "dwi.bval", "dwi.nii.gz", name)
        like_ours(name)
    refused("dt.mif", "tensors", commands=("score",))
    if shutil.which("sh2peaks"):  # hands our line on, and changes what it is of
        run("sh2peaks", "-quiet", "sh.mif", "found.mif")
        check(export_peaks("found.mif") is not None, "MRtrix's peaks of our harmonics")
try:
    from dipy.core.gradients import gradient_table
    from dipy.io.utils import nifti1_symmat
    from dipy.reconst.dti import TensorModel, lower_triangular
except ImportError:
    pass
else:
    image = nib.load("dwi.nii.gz")
    table = gradient_table(np.loadtxt("dwi.bval"), bvecs=np.loadtxt("dwi.bvec").T)
    fitted = lower_triangular(TensorModel(table).fit(image.get_fdata()).quadratic_form).astype(np.float32)
    nib.save(nifti1_symmat(fitted, image.affine), "dipy.nii")
    like_ours("dipy.nii")
    like_ours(save("dipy4.nii", fitted, image.affine))
tend = shutil.which("tend") or shutil.which("teem-tend")
if tend:
    run(HOTFIBER, "convert", "-i", "dwi.nii.gz", "-o", "dwi.nrrd", "--quiet")
    run(tend, "estim", "-i", "dwi.nrrd", "-B", "kvp", "-knownB0", "true", "-t", "10", "-o", "tend.nrrd")
    like_ours("tend.nrrd")

# ---- The viewer
if os.path.exists(VIEW):
    def view(path, *options):
        done = subprocess.run([HOTFIBER, "view", path, "--screenshot", "s.png", "--size", "60x40", *options],
                              capture_output=True, text=True)
        return done

    for path in ("fod4.nii", "sh.mif"):
        done = view(path)
        check(done.returncode == 0 and "is taken as spherical harmonics of lmax 4" in done.stderr, f"{path}: {done}")
    done = view("noise.nii")
    check(done.returncode == 1 and "--as" in done.stderr, f"view of noise: {done}")
end()
