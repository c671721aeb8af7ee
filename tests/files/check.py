"""hotfiber check: wrong gradient tables are found and right ones are not faulted, on a phantom and on real data; every
fault of the volumes that it tells of is made on purpose and found."""
import itertools
import json
import os

import nibabel as nib
import numpy as np

from _dwi import check, end, hot

DATA = os.environ.get("HOT_DATA", "")


def tables():
    """All flips and permutations of three axes, as matrices; of a matrix and its negative, one. The identity first."""
    found = []
    for places in itertools.permutations(range(3)):
        for flip in (None, 0, 1, 2):
            matrix = np.eye(3, dtype=int)[list(places)]
            if flip is not None:
                matrix[flip] *= -1
            found.append(matrix)
    return found


def run(image, bval, vectors, *more):
    np.savetxt("table.bvec", vectors)
    done = hot("check", "-i", image, "--bval", bval, "--bvec", "table.bvec", "--json", *more)
    check(done.returncode in (0, 1), "status %d: %s" % (done.returncode, done.stderr))
    about = json.loads(done.stdout)
    wrong = about["gradients"]["verdict"] == "wrong" or about["rows"]["verdict"] in ("volumes", "order",
                                                                                   "foreign directions")
    check(done.returncode == wrong, "the status says what the verdict says")
    return about


def same(a, b):
    return np.array_equal(a, b) or np.array_equal(a, -b)


def try_tables(name, image, bval, bvec, alike=(), first=1, every=3):
    """The table given is right; others, of which the phantom and two real data sets together try each, are found and
    named. alike: tables that the data cannot tell from it."""
    right = np.loadtxt(bvec)
    about = run(image, bval, right)["gradients"]
    check(about["verdict"] in ("right", "possible"), "%s: the right table is %s" % (name, about["verdict"]))
    given = [table["matrix"] for table in about["tables"] if table["given"]]
    check(given == [np.eye(3, dtype=int).tolist()], "%s: the table given is among the tables: %s" % (name, given))
    check(len(about["tables"]) == 24 and about["tables"][0]["z"] == max(t["z"] for t in about["tables"]) or alike,
          "%s: the likeliest table comes first" % name)
    found = wrong = 0
    for matrix in tables()[first::every]:
        about = run(image, bval, matrix @ right)["gradients"]
        best = np.array(about["tables"][0]["matrix"]) @ matrix  # the table that is proposed, from the right one
        good = any(same(best, np.array(a)) for a in (np.eye(3, dtype=int), *alike))
        if any(same(matrix, np.array(a)) for a in alike):
            check(about["verdict"] == "possible", "%s: %s cannot be told" % (name, matrix.tolist()))
            continue
        wrong += 1
        found += about["verdict"] == "wrong" and good
    check(found >= 0.95 * wrong, "%s: %d of %d wrong tables found and named" % (name, found, wrong))
    print("%s: %d of %d wrong tables found" % (name, found, wrong))


# All but one of the phantom's bundles are in the x-y plane, and that one is symmetric in it: flips of z are invisible.
Z_FLIPPED = np.diag([1, 1, -1])
check(hot("phantom", "--layout", "bundles", "--size", "30,30,9", "-b", "1000", "--directions", "30", "--b0", "2",
          "-o", "p.nii.gz").returncode == 0, "a phantom")
try_tables("phantom", "p.nii.gz", "p.bval", "p.bvec", [Z_FLIPPED], first=3)

# A run warns of either table, on the terminal, in report.json, on the page and in its text for a paper.
for matrix in np.eye(3), Z_FLIPPED:
    np.savetxt("tied.bvec", matrix @ np.loadtxt("p.bvec"))
    done = hot("run", "p.nii.gz", "--bvec", "tied.bvec", "--method", "maxima", "--outputs", "nfibers", "-o", "tied",
               "--force")
    said = [line for line in done.stderr.splitlines() if "these data cannot tell which" in line]
    about = json.load(open("tied/report.json"))["gradients"]
    page = open("tied/report.html").read()
    check(done.returncode == 0 and len(said) == 1 and "z flipped" in said[0], "a tie: %s" % done.stderr)
    check(about["verdict"] == "possible" and "z flipped" in about["alike"], "a tie: %s" % about)
    check("not settled" in page and "none was more likely" in page and "found the most likely" not in page, "the page")

# Noise alone, and a few voxels: check reports that it cannot decide.
image, bvec, bval = nib.load("p.nii.gz"), np.loadtxt("p.bvec"), np.loadtxt("p.bval")
data = np.asarray(image.dataobj)
volumes = data.shape[3]
random = np.random.default_rng(1)


def write(samples, name="q.nii"):
    nib.save(nib.Nifti1Image(samples, image.affine), name)
    return name


noise = np.hypot(500 * (bval < 50) + 300 + 50 * random.standard_normal(data.shape),
                 50 * random.standard_normal(data.shape)).astype("f4")
for what, samples in (("noise", noise), ("5 x 5 x 3 voxels", data[15:20, 15:20, 3:6])):
    about = run(write(samples), "p.bval", bvec)["gradients"]
    check(about["verdict"] == "cannot tell" and about["reason"], "%s: %s" % (what, about["verdict"]))

# Voxels that have nothing to do with their neighbours: with these seeds another table is likelier by 3 standard errors,
# by chance, but than few of the others.
for seed in (16, 19, 24):
    check(hot("phantom", "--layout", "mixture", "--size", "12,10,8", "-b", "1000", "--directions", "20", "--b0", "2",
              "--snr", "25", "--seed", seed, "-o", "m.nii.gz").returncode == 0, "a mixture")
    about = run("m.nii.gz", "m.bval", np.loadtxt("m.bvec"))["gradients"]
    check(about["verdict"] == "cannot tell" and about["reason"], "mixture %d: %s" % (seed, about["verdict"]))
    check(any(table["told"] and table["z"] > 0 for table in about["tables"]), "mixture %d: no table is likelier" % seed)


# Faults of volumes and scheme, each made in the phantom.
def kinds(samples=data, vectors=bvec, values=bval):
    np.savetxt("q.bval", values[None])
    about = run(write(samples), "q.bval", vectors)
    return {f["kind"]: f for f in about["findings"]}, about


clean, _ = kinds()
check(not any(f["mend"] for f in clean.values()), "a clean phantom: %s" % list(clean))


def fault(kind, change, words=(), mend=True, **scheme):
    samples = data.copy()
    if change:
        change(samples)
    found, about = kinds(samples, **scheme)
    check(kind in found, "%s among %s" % (kind, list(found)))
    check(kind not in clean, "%s is not in the clean data" % kind)
    if kind in found:
        check(found[kind]["mend"] == mend, "%s: %s" % (kind, found[kind]))
        for word in words:
            check(word in found[kind]["text"], "%s in '%s'" % (word, found[kind]["text"]))
    return about


def put(*place):
    def change(samples):
        samples[place[:-1]] = place[-1]
    return change


everywhere = slice(None)
fault("duplicate_volumes", put(..., 9, data[..., 4]), ["9 as 4", "another gradient"])
fault("empty_volumes", put(..., 7, 0), ["7"])
fault("empty_slices", put(everywhere, everywhere, 5, 11, 0), ["1 slice of zeros in volume 11"])
fault("not_finite", put(3, 4, 5, 6, np.nan), ["1 samples in 1 volume"])
fault("clipped", lambda samples: np.minimum(samples, 700, out=samples), ["700"])
fault("dark_slices", put(everywhere, everywhere, 4, 12, data[:, :, 4, 12] * .4), ["slice 4 of volume 12"])
jitter = bval.copy()
jitter[bval > 50] += np.resize([-5, 0, 5], int((bval > 50).sum()))
fault("b_jitter", None, ["995", "1005", "one shell"], mend=False, values=jitter)
cone = bvec.copy()
cone[2] += 2 * np.where(cone[2] < 0, -1, 1)
cone /= np.maximum(np.linalg.norm(cone, axis=0), 1e-9)
fault("clustered_directions", None, ["gap"], vectors=cone * (bval > 50))
half = bvec * np.where(bvec[2] < 0, -1, 1)
check("clustered_directions" not in kinds(vectors=half)[0], "one hemisphere is no fault")
few = np.r_[np.flatnonzero(bval < 50), np.flatnonzero(bval > 50)[:7]]
found, _ = kinds(data[..., few], bvec[:, few], bval[few])
check("few_directions" in found and "order 2" in found["few_directions"]["text"], "seven directions: %s" % list(found))
found, _ = kinds(data[..., 2:], bvec[:, 2:], bval[2:])
check("no_b0" in found, "no b=0 volume: %s" % list(found))
found, _ = kinds(values=bval / 1000)  # ms/um^2: all would count as b=0
check("no_weighting" in found and "largest b-value is %g" % (bval.max() / 1000) in found["no_weighting"]["text"] and
      "signal_drift" not in found, "b-values in another unit: %s" % list(found))

# Drift: b=0 volumes between the others, falling by 8 per cent over the scan, against noise of 1 per cent a volume.
order = np.insert(np.arange(2, volumes), [0, 10, 20, 30], [0, 1, 0, 1])
level = (1 - .08 * np.arange(order.size) / (order.size - 1)) * (1 + .002 * random.standard_normal(order.size))
drifted = data[..., order] * level.astype("f4")
found, about = kinds(drifted, bvec[:, order], bval[order])
check("signal_drift" in found and found["signal_drift"]["mend"], "drift: %s" % list(found))
check(abs(about["drift_percent"] + 8) < 1, "drift of %s per cent" % about["drift_percent"])
found, about = kinds(data[..., order] * (1 + .002 * random.standard_normal(order.size)).astype("f4"), bvec[:, order],
                     bval[order])
check("signal_drift" not in found, "no drift: %s" % about["drift_percent"])

# The text ends with the verdict, and `run` warns in one line.
np.savetxt("flipped.bvec", np.diag([-1, 1, 1]) @ bvec)
done = hot("check", "p.nii.gz", "--bvec", "flipped.bvec")
last = done.stdout.decode().strip().splitlines()[-1]
check(done.returncode == 1 and "WRONG" in last and  # a flip of y is one of x and of z, and that of z cannot be told
      any(all(word in last for word in words) for words in (("x flipped", "-x, y, z"), ("y flipped", "x, -y, z"))),
      "text: " + last)

# A verdict never says "right" of a table that the data do not tell from another.
for name, samples, alone in (("whole", data, None), ("one slice", data[:, :, :1], False)):
    nib.save(nib.Nifti1Image(samples, image.affine), "v.nii")
    arguments = ["v.nii", "--bval", "p.bval", "--bvec", "p.bvec"]
    last = hot("check", *arguments).stdout.decode().strip().splitlines()[-1]
    about = json.loads(hot("check", *arguments, "--json").stdout)["gradients"]
    alike = [table["name"] for table in about["tables"] if not table["given"] and not table["told"]]
    check((about["verdict"] == "right") == ("table: right" in last), "%s: %s, %s" % (name, last, about["verdict"]))
    check(about["verdict"] not in ("right", "possible") or (about["verdict"] == "possible") == bool(alike),
          "%s: %s, %s" % (name, about["verdict"], alike))
    check(about["verdict"] != "possible" or
          ("cannot tell which" in last and alike[0] in last and "the other %d are" % (23 - len(alike)) in last),
          "%s: %s, %s" % (name, last, alike))
    print(name, about["verdict"], last)

# The same in the words of MRtrix's table, in scanner axes, and of an NRRD's keys, whose axes are not the image's.
turned = image.affine[:, [2, 1, 0, 3]]  # i runs along z, k along x
nib.save(nib.Nifti1Image(data.transpose(2, 1, 0, 3), turned), "turned.nii")
axes = image.affine[:3, :3] / np.linalg.norm(image.affine[:3, :3], axis=0)
scanner = axes @ (bvec * np.array([[-1 if np.linalg.det(axes) > 0 else 1], [1], [1]]))
np.savetxt("right.b", np.c_[scanner.T, bval])
np.savetxt("swapped.b", np.c_[scanner[[1, 0, 2]].T, bval])
check(hot("check", "-i", "turned.nii", "--grad", "right.b").returncode == 0, "the table turned with the image")
check(hot("convert", "-i", "turned.nii", "--grad", "swapped.b", "-o", "swapped.nrrd").returncode == 0, "an NRRD")
for words, arguments in (("columns x y z", ["-i", "turned.nii", "--grad", "swapped.b"]),
                         ("DWMRI_gradient keys", ["-i", "swapped.nrrd"])):
    done = hot("check", *arguments)
    last = done.stdout.decode().strip().splitlines()[-1]
    check(done.returncode == 1 and words in last and "bvec" not in last and "x and y swapped" in last and
          (" y, x, z of" in last or " y, x, -z of" in last), "%s: %s" % (words, last))
    told = json.loads(hot("check", *arguments, "--json").stdout)["gradients"]
    check(words.split()[0] in told["axes"] and told["tables"][0]["rows"] in last and
          np.abs(told["tables"][0]["matrix"]).tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1]], "JSON: %s" % told["axes"])
    done = hot("run", *arguments, "-o", "out", "--force", "--method", "maxima", "--order", "4", "--outputs", "peaks")
    check("more likely is x and y swapped" in done.stderr, "run: " + done.stderr)
for name, warned in (("p.bvec", False), ("flipped.bvec", True)):
    done = hot("run", "-i", "p.nii.gz", "--bvec", name, "-o", "out", "--force", "--method", "maxima", "--order", "4",
               "--outputs", "peaks")
    check(done.returncode == 0, "run: " + done.stderr)
    lines = [line for line in done.stderr.splitlines() if "gradient table" in line and "z flipped" not in line]
    check(len(lines) == warned, "run with %s: %s" % (name, done.stderr))

# Real data. FiberCup's fibres are in the x-y plane, human_2shell's slices are far apart: flips of z are undetectable.
if os.path.isdir(os.path.join(DATA, "fibercup")):
    def real(name, alike=(), **some):
        path = os.path.join(DATA, name)
        try_tables(name, path + ".nii.gz", path + ".bval", path + ".bvec", alike, **some)

    real("fibercup/fibercup_b1500", [Z_FLIPPED], first=2)
    real("mrtrix_msmt_roi/mrtrix_msmt_roi")
    real("pnl_wip_dti/orig/WIP_dti_ax_601", first=5, every=19)
    real("human_2shell/dwi", [Z_FLIPPED], every=8)
    small = os.path.join(DATA, "dipy_small_64D/orig/small_64D")
    about = run(small + ".nii", small + ".bval", np.nan_to_num(np.loadtxt(small + ".bvec")).T)["gradients"]
    check(about["verdict"] == "cannot tell", "1000 voxels of grey matter mostly: %s" % about["verdict"])
else:
    print("no real data in '%s': the phantom alone" % DATA)
end()
