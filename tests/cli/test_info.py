"""hotfiber info of data larger than memory: 40 GB, as sparse files, of which little is read; a sample of large data
gives the same results as all of them, for every layout of the file."""
import json
import resource
import shutil
import struct
import sys

from cli import *


def info(*arguments, memory=None, **more):
    """The JSON of info; memory: bytes of address space that it may take. Its reads are bounded where the system counts
    them."""
    limit = (lambda: resource.setrlimit(resource.RLIMIT_AS, (memory, memory))) if memory and not SANITIZED else None
    process = subprocess.Popen([HOTFIBER, "info", "--json", "--threads", "2", *map(str, arguments)], preexec_fn=limit,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, **({"stdin": subprocess.DEVNULL} | more))
    out, error = process.stdout.read(), process.stderr.read()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    read = None
    try:
        read = int(open(f"/proc/{process.pid}/io").read().split("rchar: ")[1].split()[0])
    except (OSError, IndexError):
        pass
    process.wait()
    check(process.returncode == 0, f"info {arguments}: status {process.returncode}: {error.decode()}")
    if memory and read is not None:
        check(read < 100 << 20, f"info {arguments} read {read} bytes")
    return json.loads(out)


# ---- 40 GB that are nearly all hole ---------------------------------------------------------------------------------
SIZE, BYTES = (500, 500, 400, 200), 2 * 500 * 500 * 400 * 200
scene = Scene(count=192, b0=8, size=(1, 1, 1))
scene.b[100:] = 1000
np.savetxt("big.bval", scene.b[None], "%g")
np.savetxt("big.bvec", scene.gradients.T, "%.9g")


def sparse(path, header):
    with open(path, "wb") as file:
        file.write(header)
        file.truncate(len(header) + BYTES)


def nifti_header():
    """NIfTI-1 of SIZE, uint16, with an sform."""
    head = bytearray(352)
    struct.pack_into("<i", head, 0, 348)
    struct.pack_into("<8h", head, 40, 4, *SIZE, 1, 1, 1)
    struct.pack_into("<hh", head, 70, 512, 16)
    struct.pack_into("<8f", head, 76, 1, 1, 1, 1, 1, 0, 0, 0)
    struct.pack_into("<f", head, 108, 352)
    struct.pack_into("<hh", head, 252, 0, 1)
    struct.pack_into("<12f", head, 280, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0)
    head[344:348] = b"n+1\0"
    return bytes(head)


def nrrd_header(list_axis, detached=None):
    sizes = list(SIZE[:3])
    sizes.insert(list_axis, SIZE[3])
    path = write_dwi("head.nrrd", scene, dtype="<u2", list_axis=list_axis, sizes=" ".join(map(str, sizes)),
                     header_only=True, detached=detached)
    return open(path, "rb").read()


try:
    sparse("big.nii", nifti_header())
except OSError as reason:
    print(f"skipped: no file of 40 GB can be made here ({reason})")
    sys.exit(77)
sparse("last.nrrd", nrrd_header(3))
sparse("first.nrrd", nrrd_header(0))
sparse("big.raw", b"")
open("big.nhdr", "wb").write(nrrd_header(3, detached="big.raw"))
for name in ("big.nii", "last.nrrd", "first.nrrd", "big.nhdr"):
    about = info("-i", name, memory=1 << 30)
    check(about["size"] == list(SIZE[:3]) and about["volumes"] == SIZE[3], f"{name}: {about['size']}")
    check([(round(s["b"]), s["volumes"]) for s in about["shells"]] == [(0, 8), (1000, 100), (2000, 92)],
          f"{name}: {about['shells']}")
    check(about["highest_order"] == 8 and len(about["gradients_world"]) == SIZE[3], f"{name}: the scheme")
    check(about["range"] == [0, 0] and about["sample"]["size"][2] > 0, f"{name}: {about['range']} {about['sample']}")
done = hotfiber("info", "-i", "last.nrrd")
check("slices" in done.stdout.decode() and "--full" in done.stdout.decode(), f"sampled: {done.stdout.decode()}")
taken = about["sample"]
check(taken["volumes"] == 24 and not taken["from_the_beginning"], f"{taken}")
for name in ("big.nii", "last.nrrd", "first.nrrd", "big.raw"):
    os.remove(name)

# ---- A sample tells what all of it tells ----------------------------------------------------------------------------
# Sixteen times the same side by side: slices and volumes, of which the sample takes some, are all different.
works("phantom", "--layout", "bundles", "--size", "26,25,52", "--snr", 25, "--b0", 6, "--directions", 60, "-o",
      "small.nrrd", "--type", "uint16", "--seed", 3, "--quiet")
data, header = read_nrrd("small.nrrd")
full = info("-i", "small.nrrd", "--full")
scene = Scene(count=60, b0=6, size=(1, 1, 1))
scene.b, scene.gradients = np.array(full["b_values"]), np.array(full["gradients_world"])
own = np.moveaxis(data, int(np.argmax(np.array(data.shape) == 66)), 3)
own = np.asfortranarray(np.tile(own, (4, 4, 1, 1)))
affine = np.array(full["to_world"])
write_dwi("dwi.nrrd", scene, dtype="<u2", list_axis=3, data=own, affine=affine, space=full["space"])
full = info("-i", "dwi.nrrd", "--full")
check("sample" not in full and full["snr"] > 20, f"all of it: {full['snr']}")
works("convert", "-i", "dwi.nrrd", "-o", "dwi.nii", "--quiet")
works("convert", "-i", "dwi.nrrd", "-o", "packed.nii.gz", "--quiet")
for axis in range(3):
    write_dwi(f"list{axis}.nrrd", scene, dtype="<u2", list_axis=axis, data=own, affine=affine, space=full["space"])
write_dwi("swapped.nrrd", scene, dtype=">i2", list_axis=3, data=own, affine=affine, space=full["space"])
write_dwi("zipped.nrrd", scene, dtype="<u2", list_axis=3, data=own, affine=affine, space=full["space"],
          encoding="gzip")
head = open(write_dwi("parts.nhdr", scene, dtype="<u2", list_axis=3, data=own, affine=affine, space=full["space"],
                      detached="parts.raw", header_only=True), "rb").read()
names = [f"part{v}.raw" for v in range(66)]
for v, name in enumerate(names):
    open(name, "wb").write(b"a line\n" + b"skip" + own[..., v].astype("<u2").tobytes(order="F"))
open("parts.nhdr", "wb").write(head.replace(b"data file: parts.raw\n", b"").rstrip(b"\n") +
                               b"\nline skip: 1\nbyte skip: 4\ndata file: LIST\n" + "\n".join(names).encode() + b"\n")
for name in ("dwi.nrrd", "dwi.nii", "packed.nii.gz", *(f"list{axis}.nrrd" for axis in range(3)), "swapped.nrrd",
             "zipped.nrrd", "parts.nhdr"):
    about = info("-i", name)
    some = about.pop("sample")
    beginning = name in ("packed.nii.gz", "zipped.nrrd")
    check(some["from_the_beginning"] == beginning, f"{name}: {some}")
    check(np.prod(some["size"]) * some["volumes"] * 2 <= 32 << 20, f"{name}: more than 32 MB: {some}")
    check(some["size"][2] >= (52 if beginning else 4), f"{name}: {some}")
    check(abs(about["snr"] / full["snr"] - 1) < .05 and abs(about["noise"] / full["noise"] - 1) < .05,
          f"{name}: SNR {about['snr']}, of all {full['snr']}")
    check(abs(about["mask_voxels"] / full["mask_voxels"] - 1) < .1,
          f"{name}: mask of {about['mask_voxels']}, of all {full['mask_voxels']}")
    check(full["range"][0] <= about["range"][0] and .8 * full["range"][1] < about["range"][1] <= full["range"][1],
          f"{name}: {about['range']}, of all {full['range']}")
    for what in ("size", "volumes", "shells", "highest_order", "b_values"):
        check(about[what] == full[what], f"{name}: {what}")
    check(np.allclose(about["gradients_world"], full["gradients_world"], atol=1e-5) and
          np.allclose(about["to_world"], full["to_world"], atol=1e-4), f"{name}: geometry")

# Through a pipe there is no way back: the beginning.
with open("dwi.nrrd", "rb") as file:
    cat = subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE)
    about = info("-i", "-", stdin=cat.stdout)
    cat.stdout.close()
    cat.wait()
check(about["sample"]["from_the_beginning"] and abs(about["snr"] / full["snr"] - 1) < .05, f"a pipe: {about['snr']}")

# A file that ends before the sampled part.
whole = os.path.getsize("dwi.nii")
os.truncate("dwi.nii", whole - 10)
done = hotfiber("info", "-i", "dwi.nii")
check(done.returncode == 1 and "truncated" in done.stderr and done.stderr.count("\n") == 1, f"cut: {done.stderr}")
shutil.copy("packed.nii.gz", "cut.nii.gz")
shutil.copy("packed.bval", "cut.bval")
shutil.copy("packed.bvec", "cut.bvec")
os.truncate("cut.nii.gz", 1 << 20)
done = hotfiber("info", "-i", "cut.nii.gz")
check(done.returncode == 1 and "truncated" in done.stderr.split("\n")[-2], f"cut within: {done.stderr}")
end()
