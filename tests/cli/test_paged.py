"""Data that are larger than --memory stay in their file and are read slice by slice: what a run leaves is the same byte
by byte, whatever the format, and memory does not grow with the number of volumes. HOT_TEST_LONG=1: more voxels, with
every format by the default method, and 40 GB."""
import json
import resource
import shutil

import nibabel

from _folders import same
from cli import *

LONG = bool(os.environ.get("HOT_TEST_LONG"))
# A page is less than one slice either way, and what parts may keep is less than the data.
SIZE, PAGE, KEPT, CUT = ("26,24,9", "64k", "1M", 400000) if LONG else ("8,7,6", "6k", "64k", 40000)
works("phantom", "--layout", "bundles", "--size", SIZE, "--snr", 25, "-b", "1000,2500", "--directions", 32,
      "-o", "plain.nrrd", "--seed", 5, "--quiet")
data, header = read_nrrd("plain.nrrd")
scene = Scene(count=2, b0=1)
table = []
for v in range(data.shape[3]):
    table.append([float(x) for x in header[f"DWMRI_gradient_{v:04d}"].split()])
table = np.array(table)
length = np.linalg.norm(table, axis=1)
scene.b = float(header["DWMRI_b-value"]) * length ** 2
scene.gradients = table / np.where(length > 0, length, 1)[:, None]
for name, options in (("first", {"list_axis": 0, "dtype": "<u2"}), ("second", {"list_axis": 1}),
                      ("third", {"list_axis": 2, "dtype": ">i2"}), ("swapped", {"dtype": ">f4"}),
                      ("packed", {"encoding": "gzip", "dtype": "<i2"}), ("wide", {"dtype": "<f8"}),
                      ("detached", {"detached": "detached.raw"})):
    write_dwi(f"{name}.nrrd", scene, data=data, **options)
for name in ("image.nii", "image.nii.gz"):
    works("convert", "-i", "plain.nrrd", "-o", name, "--quiet")
for name in ("plain.nrrd", "first.nrrd", "second.nrrd", "third.nrrd", "swapped.nrrd", "packed.nrrd", "wide.nrrd",
             "detached.nrrd", "image.nii", "image.nii.gz"):
    # Learning reads the data in another order, for all formats.
    learns = LONG or name in ("packed.nrrd", "image.nii.gz")
    method = [] if learns else ["--method", "maxima"]
    works("run", "-i", name, "-o", f"whole_{name}", "--quiet", "--memory", "4G", *method)
    works("run", "-i", name, "-o", f"paged_{name}", "--quiet", "--memory", PAGE, *method)
    same(f"whole_{name}", f"paged_{name}", name)
for name, options in (("all", ["--outputs", "all,maps,peaks_fod", "--report"]), ("msmt", ["--model", "msmt"]),
                      ("maxima", ["--method", "maxima", "--outputs", "tensors"]), ("adc", ["--model", "adc"]),
                      ("samples", ["--samples", 2, "--resume"]), ("denoise", ["--denoise"])):
    works("run", "-i", "image.nii.gz", "-o", f"whole_{name}", "--quiet", *options)
    works("run", "-i", "image.nii.gz", "-o", f"paged_{name}", "--quiet", "--memory", PAGE, *options)
    same(f"whole_{name}", f"paged_{name}", name)
for name in ("image.nii", "packed.nrrd"):
    for memory in ("4G", PAGE):
        works("fit", "-i", name, "-o", f"tensors_{memory}.nrrd", "--memory", memory, "--quiet")
        works("response", "-i", name, "-o", f"response_{memory}.nrrd", "--memory", memory, "--quiet")
        works("peaks", "--dwi", name, "--method", "signal", "-o", f"peaks_{memory}.nrrd", "--memory", memory, "--quiet")
        works("peaks", "-i", "tensors_4G.nrrd", "-o", f"maxima_{memory}.nii.gz", "--memory", memory, "--quiet")
        works("denoise", "-i", name, "-o", f"denoised_{memory}.nrrd", "--noise", f"noise_{memory}.nii.gz", "--memory",
              memory, "--quiet")
        works("denoise", "-i", name, "-o", f"denoised_{memory}.nii", "--memory", memory, "--quiet")
    for what in ("tensors.nrrd", "response.nrrd", "peaks.nrrd", "maxima.nii.gz", "denoised.nrrd", "noise.nii.gz",
                 "denoised.nii", "denoised.bvec"):
        one, two = (open(what.replace(".", f"_{memory}.", 1), "rb").read() for memory in ("4G", PAGE))
        check(one == two, f"{what} of {name}")
for name, options in (("peaks.nrrd", ["fibers.vtp"]), ("peaks.nrrd", ["fixels", "--format", "fixels"]),
                      ("peaks.nrrd", ["picture.png", "--dwi", "image.nii"]), ("peaks.nrrd", ["dec.nii.gz"]),
                      ("peaks.nrrd", ["fod.nii.gz", "--format", "peaks", "--amplitude", "fod", "--dwi", "packed.nrrd"]),
                      ("../tensors_4G.nrrd", ["sh.mif", "--format", "sh"])):
    for memory in ("4G", PAGE):
        os.makedirs(f"exports_{memory}", exist_ok=True)
        works("export", "-i", f"whole_image.nii/{name}", "-o", f"exports_{memory}/{options[0]}", *options[1:],
              "--memory", memory, "--quiet")
made = [os.path.join(folder, name) for folder, _, names in os.walk("exports_4G") for name in names]
check(len(os.listdir("exports_4G")) == 6 and len(made) > 6, f"{made}")
for path in made:
    paged = path.replace("exports_4G", f"exports_{PAGE}")
    check(open(path, "rb").read() == open(paged, "rb").read(), f"export: {path}")
works("learn", "-i", "image.nii.gz", "-o", "model.json", "--memory", KEPT, "--quiet")
for k in (1, 2):
    works("run", "--learned", "model.json", "-o", "parts", "--part", f"{k}/2", "--memory", KEPT, "--quiet")
works("merge", "parts", "-o", "merged", "--quiet")
same("whole_image.nii.gz", "merged", "parts")
check([name for name in os.listdir(".") if name.startswith(".part")] == [], "nothing is left")

# A file that ends too early, and one whose packed samples do.
for name, cut in (("image.nii", 1), ("image.nii", CUT), ("image.nii.gz", 200), ("plain.nrrd", 4)):
    content = open(name, "rb").read()
    suffix = name[name.index("."):]
    open(f"cut{suffix}", "wb").write(content[:-cut])
    for table in (".bval", ".bvec"):
        shutil.copy(f"image{table}", f"cut{table}")
    before = tree()
    done = hotfiber("run", "-i", f"cut{suffix}", "-o", "no", "--memory", PAGE, "--quiet")
    check(done.returncode == 1 and done.stderr.count("\n") == 1 and f"cut{suffix}" in done.stderr and tree() == before,
          f"{name} less {cut}: {done.returncode} {done.stderr}")
for size in ("much", "0", "-4G", "4X", "G", "nan"):
    done = hotfiber("run", "-i", "plain.nrrd", "-o", "no", "--memory", size)
    check(done.returncode == 2 and "--memory" in done.stderr and done.stderr.count("\n") == 1, f"{size}: {done.stderr}")
if SANITIZED:
    end()

# Nearly all of it is a hole in the file; a few voxels have signals.
SIDE, SLICES = (8, 4) if LONG else (6, 3)


def sparse(shape, volumes):
    """sparse.nii, its gradients and sparse_mask.nii.gz; returns the number of voxels in the mask."""
    image = nibabel.Nifti1Image(np.zeros((1, 1, 1, 1), np.uint16), np.diag([2, 2, 2, 1]))
    image.header.set_data_shape((*shape, volumes))
    image.header.set_data_offset(352)
    g = directions(volumes - 10, 3)
    b = np.array([0] * 10 + [1000, 2500] * ((volumes - 10) // 2))
    g = np.vstack([np.tile([1, 0, 0], (10, 1)), g])
    np.savetxt("sparse.bval", b[None], "%g")
    np.savetxt("sparse.bvec", (g * [-1, 1, 1]).T)
    with open("sparse.nii", "wb") as file:
        file.write(image.header.binaryblock + bytes(4))
        file.truncate(352 + 2 * int(np.prod(shape)) * volumes)
        random = np.random.default_rng(4)
        for v in range(volumes):
            for k in range(shape[2] // 2, shape[2] // 2 + SLICES):
                for j in range(20, 20 + SIDE):
                    file.seek(352 + 2 * (((v * shape[2] + k) * shape[1] + j) * shape[0] + 30))
                    line = signals([([1, .1, 0], .7)], b[v:v + 1], g[v:v + 1]) + random.normal(0, 20, SIDE)
                    file.write(np.clip(line, 0, 65535).astype("<u2").tobytes())
    mask = np.zeros(shape, np.uint8)
    mask[30:30 + SIDE, 20:20 + SIDE, shape[2] // 2:shape[2] // 2 + SLICES] = 1
    nibabel.save(nibabel.Nifti1Image(mask, image.affine), "sparse_mask.nii.gz")
    return int(mask.sum())


def peak_of(*arguments):
    """The largest resident set of the command, which works."""
    process = subprocess.Popen([HOTFIBER, *map(str, arguments)], stdin=subprocess.DEVNULL)
    _, status, about = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    check(process.returncode == 0, f"{arguments}: status {process.returncode}")
    return about.ru_maxrss * 1024


shape, bound, volumes = ((256, 256, 150), 4 << 30, 2000) if LONG else ((96, 96, 50), 160 << 20, 380)
inside = sparse(shape, volumes)
larger = os.path.getsize("sparse.nii")
done = works("run", "-i", "sparse.nii", "--mask", "sparse_mask.nii.gz", "-o", "sparse", "--memory", f"{bound}",
             "--threads", 2, "--device", "cpu", "--quiet", timeout=3600,
             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (bound + (1 << 29),) * 2))
peak = json.load(open("sparse/report.json"))["peak_memory"] if done.returncode == 0 else 0
print(f"{larger / 1e9:.2f} GB of samples, bound {bound / 1e6:.0f} MB, peak {peak / 1e6:.0f} MB")
check(larger > 2 * bound and 0 < peak < bound, f"peak {peak / 1e6:.0f} MB")
found = json.load(open("sparse/report.json"))["counts"]
check(found["voxels"] == inside and found["fibers"]["one"] > .9 * inside, f"{found}")

# The data kept for each voxel of the grid are larger than the bound: tensors in 29 floats, denoised data.
shape, bound, given = ((160, 160, 100), 256 << 20, "256M") if LONG else ((128, 128, 90), 148 << 20, "148M")
inside = sparse(shape, 76)
common = ["--device", "cpu", "--threads", 2, "--quiet", "--memory", given, "--mask", "sparse_mask.nii.gz"]
peak = peak_of("fit", "-i", "sparse.nii", "-o", "large.nrrd", *common)
kept = os.path.getsize("large.nrrd")
print(f"{kept / 1e6:.0f} MB of tensors, bound {bound / 1e6:.0f} MB, peak {peak / 1e6:.0f} MB")
check(kept > 1.08 * bound and peak < bound, f"fit: peak {peak / 1e6:.0f} MB")
peak = peak_of("export", "-i", "large.nrrd", "-o", "large_sh.nii.gz", "--format", "sh", "--memory", given, "--quiet")
check(peak < bound, f"export: peak {peak / 1e6:.0f} MB")
if LONG:
    peak = peak_of("denoise", "-i", "sparse.nii", "-o", "denoised.nii", *common)
    print(f"{os.path.getsize('denoised.nii') / 1e6:.0f} MB of denoised data, peak {peak / 1e6:.0f} MB")
    check(peak < bound, f"denoise: peak {peak / 1e6:.0f} MB")
    # 40 GB with as many voxels as tissue from a microscope has: 5 GB and more of results.
    inside = sparse((500, 500, 400), 200)
    peak = peak_of("run", "-i", "sparse.nii", "-o", "ex_vivo", *common[:-4], "--memory", "4G", *common[-2:])
    print(f"{os.path.getsize('sparse.nii') / 1e9:.1f} GB of samples, bound 4295 MB, peak {peak / 1e6:.0f} MB")
    check(peak < 4 << 30, f"run: peak {peak / 1e6:.0f} MB")
end()
