"""hotfiber denoise on a phantom with known noise, compared with MRtrix's dwidenoise; complex data; in hotfiber run."""
import json, os, shutil, subprocess

import nibabel as nib
import numpy as np

from _arrays import HOTFIBER, check, end


def run(*arguments, data=None, status=0):
    done = subprocess.run([HOTFIBER, *map(str, arguments)], input=data, capture_output=True, timeout=300)
    check(done.returncode == status, f"{arguments}: status {done.returncode}: {done.stderr.decode()}")
    return done


def image(path):
    return nib.load(path).get_fdata(dtype=np.float32)


def nrrd(array, kinds, keys=(), extra=""):
    """array: numpy axes in the reverse of NRRD's order, as kinds are in NRRD's"""
    sizes = " ".join(str(s) for s in array.shape[::-1])
    head = f"NRRD0005\ntype: float\ndimension: {array.ndim}\nsizes: {sizes}\nkinds: {' '.join(kinds)}\nencoding: raw\n"
    head += "endian: little\n" + extra + "".join(f"{k}:={v}\n" for k, v in keys)
    return head.encode() + b"\n" + array.astype("<f4").tobytes()


def read(data):
    head, body = data.split(b"\n\n", 1)
    lines = head.decode().split("\n")
    fields = dict(line.split(": ", 1) for line in lines if ": " in line and ":=" not in line)
    keys = dict(line.split(":=", 1) for line in lines if ":=" in line)
    check(fields["type"] == "float", "the output is float: " + fields["type"])
    return np.frombuffer(body, "<f4").reshape([int(s) for s in fields["sizes"].split()][::-1]), fields, keys


# A ring of fibres around fluid in grey matter, with smoothly varying brightness; Gaussian noise.
random = np.random.default_rng(0)
size, volumes, sigma = (24, 24, 16), 64, 30.
gradients = random.normal(size=(volumes, 3))
gradients /= np.linalg.norm(gradients, axis=1)[:, None]
b = np.full(volumes, 1000.)
b[:6] = 0
x = np.stack(np.meshgrid(*[np.linspace(-1, 1, n) for n in size], indexing="ij"), -1)
angle, radius = np.arctan2(x[..., 1], x[..., 0]), np.linalg.norm(x[..., :2], axis=-1)
fibre = np.stack([-np.sin(angle), np.cos(angle), .3 * np.sin(3 * x[..., 2])], -1)
fibre /= np.linalg.norm(fibre, axis=-1)[..., None]
white, fluid = ((radius > .35) & (radius < .8))[..., None], (radius <= .35)[..., None]
truth = np.where(white, np.exp(-b * (.3e-3 + 1.4e-3 * (fibre @ gradients.T) ** 2)),
                 np.exp(-b * np.where(fluid, 3e-3, .8e-3)))
truth *= np.where(fluid, 2000., np.where(white, 800., 1000.))
truth *= 1 + .2 * np.sin(4 * x[..., :1]) * np.cos(3 * x[..., 1:2])
truth *= 1 + .3 * x[..., 2:]
noisy = truth + sigma * random.normal(size=truth.shape)
affine = np.diag([2., 2., 2., 1.])
nib.save(nib.Nifti1Image(noisy.astype("f4"), affine), "noisy.nii")
np.savetxt("noisy.bval", b[None], fmt="%g")
np.savetxt("noisy.bvec", gradients.T * [[-1], [1], [1]])  # FSL's x runs against the world's here


def error(a):
    return np.sqrt(((a - truth) ** 2).mean())


done = run("denoise", "-i", "noisy.nii", "-o", "clean.nii", "--noise", "noise.nii")
check(b"standard deviation" in done.stderr, "the noise is printed: " + done.stderr.decode())
clean, noise, data = image("clean.nii"), image("noise.nii"), image("noisy.nii")
told = "standard deviation %.4g in the mean over %d voxels" % (noise[noise > 0].mean(dtype=float), (noise > 0).sum())
check(told.encode() in done.stderr, "%s: %s" % (told, done.stderr.decode()))
check(clean.shape == data.shape and noise.shape == size, "sizes stay")
check(np.allclose(nib.load("clean.nii").affine, affine) and np.allclose(nib.load("noise.nii").affine, affine),
      "the grid stays")
check(np.allclose(np.loadtxt("clean.bval"), b) and
      np.allclose(np.loadtxt("clean.bvec")[:, 6:], np.loadtxt("noisy.bvec")[:, 6:], atol=1e-6),
      "the gradients stay")
check(abs(noise.mean() - sigma) < .03 * sigma and .93 * sigma < noise.min() and noise.max() < 1.07 * sigma,
      f"noise {noise.mean()}, {noise.min()} to {noise.max()}, not {sigma}")
rest = data - clean
whole = np.corrcoef(rest.ravel(), truth.ravel())[0, 1]
each = max(abs(np.corrcoef(rest[..., v].ravel(), truth[..., v].ravel())[0, 1]) for v in range(volumes))
check(abs(whole) < .02 and each < .02, f"the residual correlates with the signal: {whole}, a volume {each}")
check(abs(rest.std() / sigma - 1) < .1, f"the residual is noise: {rest.std()}")
lag = [np.mean(rest[1:] * rest[:-1]), np.mean(rest[:, 1:] * rest[:, :-1]), np.mean(rest[:, :, 1:] * rest[:, :, :-1])]
check(max(map(abs, lag)) < .04 * sigma ** 2,
      f"the residual is white: neighbours correlate {np.array(lag) / sigma ** 2}")
check(error(clean) < .3 * sigma, f"error {error(clean)} of noise {sigma}")

if shutil.which("dwidenoise"):
    for estimator in ("Exp1", "Exp2") if os.environ.get("HOT_TEST_LONG") else ("Exp2",):
        subprocess.run(["dwidenoise", "-quiet", "-force", "-extent", "5,5,5", "-estimator", estimator, "-noise",
                        "their_noise.nii", "noisy.nii", "theirs.nii"], check=True)
        run("denoise", "-i", "noisy.nii", "-o", "ours.nii", "--noise", "our_noise.nii", "--window", 5, "--estimator",
            estimator.lower())
        ours, theirs = error(image("ours.nii")), error(image("theirs.nii"))
        check(ours < theirs, f"{estimator}: error {ours}, dwidenoise's {theirs}")
        mine, peer = image("our_noise.nii").mean(), image("their_noise.nii").mean()
        print(f"{estimator}: error {ours:.3f}, dwidenoise {theirs:.3f}; "
              f"noise {mine:.2f}, dwidenoise {peer:.2f}, true {sigma:g}")
        check(abs(mine - sigma) < .03 * sigma, f"{estimator}: noise {mine}")
else:
    print("dwidenoise is not here: not compared with it")

# Options: every voxel, other windows, threads, a mask, pipes.
run("denoise", "-i", "noisy.nii", "-o", "every.nii", "--step", 1)
check(error(image("every.nii")) < error(clean), "windows at every voxel leave less noise")
run("denoise", "-i", "noisy.nii", "-o", "small.nii", "--window", "3,3,5", "--step", "1,2,3")
check(error(image("small.nii")) < .6 * sigma, "a small window")
for threads in (1, 3):
    run("denoise", "-i", "noisy.nii", "-o", f"threads{threads}.nii", "--threads", threads, "--device", "cpu")
check(open("threads1.nii", "rb").read() == open("threads3.nii", "rb").read(), "threads do not show")
mask = white[..., 0].astype("u1")
nib.save(nib.Nifti1Image(mask, affine), "mask.nii")
run("denoise", "-i", "noisy.nii", "-o", "masked.nii", "--mask", "mask.nii", "--noise", "masked_noise.nii")
masked, level = image("masked.nii"), image("masked_noise.nii")
check((masked[mask == 0] == data[mask == 0]).all() and (level[mask == 0] == 0).all(),
      "nothing is done outside the mask")
check(np.abs(masked[mask == 1] - clean[mask == 1]).max() < 1e-2, "inside it is as without")
piped = run("convert", "-i", "noisy.nii").stdout
piped = read(run("denoise", "--quiet", data=piped).stdout)[0]
check(np.abs(piped.transpose(3, 2, 1, 0) - clean).max() < 1e-2, "through pipes")

# Complex data, in two orders of axes.
phase = np.exp(1j * (.8 * x[..., 0] - .5 * x[..., 1] * x[..., 2]))[..., None]
z = truth * phase + 20 * (random.normal(size=truth.shape) + 1j * random.normal(size=truth.shape))
parts = np.stack([z.real, z.imag], -1)  # i j k volume part
first = nrrd(parts.transpose(3, 2, 1, 0, 4), ["complex", "space", "space", "space", "list"], [("scanner", "one")],
             "space: left-posterior-superior\nspace directions: none (2,0,0) (0,2,0) (0,0,2) none\n"
             "space origin: (1,2,3)\n")
last = nrrd(parts.transpose(4, 2, 1, 0, 3), ["list", "domain", "domain", "domain", "complex"])
done = run("denoise", "--complex", "--window", 5, "--noise", "complex.nrrd", data=first)
a, fields, keys = read(done.stdout)
c = read(run("denoise", "--complex", "--window", 5, data=last).stdout)[0]
back = a.transpose(3, 2, 1, 0, 4)
check((back == c.transpose(3, 2, 1, 4, 0)).all(), "the order of axes does not matter")
check(fields["space origin"] == "(1,2,3)" and keys.get("scanner") == "one" and fields["kinds"].split()[0] == "complex",
      f"the header stays: {fields} {keys}")
level = read(open("complex.nrrd", "rb").read())[0]
check(level.shape == size[::-1] and abs(level.mean() - 20) < .6, f"complex noise {level.mean()}")
wrong = np.sqrt((np.abs(back[..., 0] + 1j * back[..., 1] - truth * phase) ** 2).mean() / 2)
check(wrong < 10, f"complex: error {wrong} of noise 20")

# Refusals.
for arguments, words in [
        (("-i", "noisy.nii", "-o", "noisy.nii"), "noisy.nii"), (("-i", "none.nii", "-o", "out.nii"), "none.nii"),
        (("-i", "noisy.nii", "-o", "out.nii", "--window", 1), "window"),
        (("--complex", "-i", "complex.nrrd", "-o", "out.nrrd"), "complex")]:
    done = run("denoise", *arguments, status=1)
    check(words in done.stderr.decode() and not os.path.exists("out.nii"), f"{arguments}: {done.stderr.decode()}")
for arguments in (("--window", "2.5"), ("--window", "3,3"), ("--step", "0"), ("--complex", "--mask", "mask.nii")):
    done = run("denoise", *arguments, status=2, data=b"")
    check(done.stderr.count(b"\n") == 1, f"{arguments}: one line: {done.stderr.decode()}")
check((image("noisy.nii") == data).all(), "the input is unchanged")

# In a run: fewer spurious fibres in grey matter and fluid, and a map of the noise.
found = {}
for name, more in (("plain", ()), ("denoised", ("--denoise",))):
    run("run", "-i", "noisy.nii", "-o", name, "--quiet", *more)
    report = json.load(open(f"{name}/report.json"))
    check(report["settings"]["denoise"] == bool(more) and ("denoising" in report["seconds"]) == bool(more),
          "it is in the report")
    check(os.path.exists(f"{name}/noise.nii.gz") == bool(more), "the noise's map")
    check(abs(report["noise"]["sigma"] - sigma) < .05 * sigma, f"{name}: noise {report['noise']}")
    count, peaks = image(f"{name}/nfibers.nii.gz"), image(f"{name}/peaks.nii.gz")[..., :3]
    ring = (radius > .4) & (radius < .75)
    cosine = np.abs((peaks * fibre).sum(-1)) / np.maximum(np.linalg.norm(peaks, axis=-1), 1e-9)
    off = np.degrees(np.arccos(np.clip(cosine, 0, 1)))[ring & (count == 1)]
    found[name] = (count[ring] == 1).mean(), off.mean(), (count[(radius < .3) | (radius > .85)] > 0).mean()
    print(f"{name}: one fibre in {found[name][0]:.4f} of the ring, {found[name][1]:.2f} degrees off, "
          f"fibres elsewhere {found[name][2]:.4f}")
check(found["denoised"][0] >= found["plain"][0] and found["denoised"][1] < found["plain"][1] and
      found["denoised"][2] <= found["plain"][2], f"denoising does not help: {found}")
restored = json.load(open("denoised/report.json"))["noise"]["shape_restored"]
check(restored < .05, f"of what neighbours share shape was removed in {restored} of the voxels")

# Neighbours that have nothing in common: denoising would remove fine crossings as noise, and warns instead.
run("phantom", "-o", "mixture.nii", "--layout", "mixture", "--size", "12,10,8", "-b", 1000, "--directions", 32, "--snr",
    20, "--seed", 7, "--quiet")
done = {name: run("run", "-i", "mixture.nii", "-o", name, "--outputs", "peaks", *more)
        for name, more in (("apart", ()), ("apart_denoised", ("--denoise",)))}
report = json.load(open("apart_denoised/report.json"))["noise"]
check(report["shape_restored"] > .8 and b"not denoised: neighbours" in done["apart_denoised"].stderr,
      f"{report}: {done['apart_denoised'].stderr.decode()}")
check((image("apart/peaks.nii.gz") == image("apart_denoised/peaks.nii.gz")).all(), "the data are used as they came")

# A response without degree 6: the run uses order 4; an explicit --order is refused.
open("flat.txt", "w").write("# Shells: 0,1000\n3550 0 0 0\n1850 -650 115 0\n")
done = run("run", "-i", "mixture.nii", "-o", "flat", "--response", "flat.txt", "--outputs", "peaks,tensors")
check(b"order 4: the response of these data has no degree 6" in done.stderr, done.stderr.decode())
check(json.load(open("flat/report.json"))["settings"]["order"] == 4, "the order that was taken")
done = run("run", "-i", "mixture.nii", "-o", "flat6", "--response", "flat.txt", "--order", 6, status=1)
check(b"lower order" in done.stderr, done.stderr.decode())
end()
