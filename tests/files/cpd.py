"""hotfiber cpd: files in and out, recovery, an independent decomposition in numpy, Ctrl-C, and a real slice."""
import os, signal, subprocess, time

import numpy as np

from _arrays import HOTFIBER, check, end, nrrd, read


def write(name, array, kind="double"):
    with open(name, "wb") as file:
        file.write(nrrd(array, kind))


def results(prefix):
    """Weights and factors as a decomposition left them."""
    found = []
    for part in ("lambda", "a", "b", "c"):
        with open("%s_%s.nrrd" % (prefix, part), "rb") as file:
            found.append(read(file.read())[0].astype("f8"))
    return found


def compose(weights, a, b, c):
    return np.einsum("r,ir,jr,kr->ijk", weights, a, b, c, optimize=True)


def fit(x, prefix):
    return 1 - np.linalg.norm(x - compose(*results(prefix))) / np.linalg.norm(x)


def run(*arguments, data=None):
    return subprocess.run([HOTFIBER, "cpd", *arguments], input=data, capture_output=True, timeout=600)


def als(x, factors, iterations):
    """The textbook's: unfoldings, Khatri-Rao products, pseudo-inverses."""
    for _ in range(iterations):
        for mode in range(3):
            one, other = [f for m, f in enumerate(factors) if m != mode]
            khatri_rao = np.einsum("pr,qr->pqr", one, other).reshape(-1, one.shape[1])
            factors[mode] = np.moveaxis(x, mode, 0).reshape(x.shape[mode], -1) @ np.linalg.pinv(khatri_rao).T
    return 1 - np.linalg.norm(x - compose(np.ones(factors[0].shape[1]), *factors)) / np.linalg.norm(x)


rng = np.random.default_rng(3)
true = [rng.normal(size=(n, 4)) for n in (12, 15, 18)]
clean = compose(np.ones(4), *true)
noise = rng.normal(size=clean.shape)
noisy = clean + .01 * np.linalg.norm(clean) / np.linalg.norm(noise) * noise
write("clean.nrrd", clean), write("noisy.nrrd", noisy)

done = run("-i", "clean.nrrd", "--rank", "4", "--start", "hosvd", "-o", "clean")
check(done.returncode == 0 and done.stdout.decode().startswith("rank 4: fit 1.000000 after "),
      done.stdout.decode() + done.stderr.decode())
weights, a, b, c = results("clean")
check(weights.shape == (4,) and a.shape == (12, 4) and b.shape == (15, 4) and c.shape == (18, 4), "shapes")
check(np.all(np.diff(weights) <= 0) and np.all(weights > 0), "weights fall")
check(max(np.abs(np.linalg.norm(f, axis=0) - 1).max() for f in (a, b, c)) < 1e-12, "unit columns")
check(fit(clean, "clean") > 1 - 1e-6, "the clean tensor is recovered")
for name, f, own in (("a", a, true[0]), ("b", b, true[1]), ("c", c, true[2])):
    cosine = np.abs(f.T @ (own / np.linalg.norm(own, axis=0)))
    check(np.abs(np.sort(cosine.max(0)) - 1).max() < 1e-5, "the factors themselves: " + name)

done = run("--rank", "4", "-o", "noisy", "--start", "hosvd", "--tolerance", "1e-12",
           data=open("noisy.nrrd", "rb").read())
reported = float(done.stdout.decode().split()[3])
best = max(als(noisy, [rng.normal(size=(n, 4)) for n in noisy.shape], 300) for _ in range(3))
check(abs(fit(noisy, "noisy") - best) < 1e-6, "with noise: fit %.9f, numpy's %.9f" % (fit(noisy, "noisy"), best))
check(abs(reported - best) < 1e-5, "the reported fit")

for precision in ("single", "tf32", "split"):
    done = run("-i", "noisy.nrrd", "--rank", "4", "-o", precision, "--start", "hosvd", "--precision", precision)
    check(done.returncode == 0 and abs(fit(noisy, precision) - best) < 1e-3,
          "%s: fit %.6f %s" % (precision, fit(noisy, precision), done.stderr.decode()))
done = run("-i", "clean.nrrd", "--rank", "7", "-o", "above", "--iterations", "100")
check(done.returncode == 0 and fit(clean, "above") > .99, "a rank above the data's: " + done.stderr.decode())
write("zero.nrrd", np.zeros((3, 4, 5)))
done = run("-i", "zero.nrrd", "--rank", "2", "-o", "zero")
check(done.returncode == 0 and "2 of 2 terms have weight 0" in done.stderr.decode(), "zero: " + done.stderr.decode())
done = run("-i", "noisy.nrrd", "--rank", "3", "--non_negative", "-o", "positive", "--quiet")
check(done.returncode == 0 and done.stdout == b"" and min(part.min() for part in results("positive")) >= 0,
      "non-negative, quiet")

# The same for any number of threads.
for threads in ("1", "5"):
    check(run("-i", "noisy.nrrd", "--rank", "4", "--threads", threads, "--device", "cpu", "-o",
              "t" + threads).returncode == 0, "threads")
check(all(np.array_equal(x, y) for x, y in zip(results("t1"), results("t5"))), "threads matter")

# Ctrl-C leaves the best so far.
write("large.nrrd", rng.normal(size=(90, 90, 90)), "float")
process = subprocess.Popen([HOTFIBER, "cpd", "-i", "large.nrrd", "--rank", "20", "--iterations", "1000000",
                            "--tolerance", "1e-300", "-o", "stopped"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
while "SigCgt" not in (status := open("/proc/%d/status" % process.pid).read()) or not int(
        [line for line in status.split("\n") if line.startswith("SigCgt")][0].split()[1], 16) & 2:
    time.sleep(.01)  # until it listens
time.sleep(.3)
process.send_signal(signal.SIGINT)
out, err = process.communicate(timeout=120)
check(process.returncode == 1 and b"best so far" in err, "Ctrl-C: %d %s" % (process.returncode, err.decode()))
check(os.path.exists("stopped_c.nrrd") and np.isfinite(results("stopped")[0]).all(), "Ctrl-C leaves files")

for arguments, status, word in (
        (["-i", "clean.nrrd", "-o", "x"], 2, "--rank"), (["-i", "clean.nrrd", "--rank", "2"], 2, "-o"),
        (["-i", "noisy_a.nrrd", "--rank", "2", "-o", "x"], 1, "2 axes: three"),
        (["-i", "nowhere.nrrd", "--rank", "2", "-o", "x"], 1, "nowhere.nrrd"),
        (["-i", "clean.nrrd", "--rank", "2", "-o", "clean.nrrd/x"], 1, "clean.nrrd")):
    done = run(*arguments)
    text = done.stderr.decode()
    check(done.returncode == status and word in text and text.count("\n") == 1,
          "%s: %d %s" % (" ".join(arguments), done.returncode, text))
    check(not os.path.exists("x_a.nrrd"), "nothing is written")
broken = clean.copy()
broken[1, 2, 3] = np.nan
write("nan.nrrd", broken)
done = run("-i", "nan.nrrd", "--rank", "2", "-o", "nan")
check(done.returncode == 1 and "NaN" in done.stderr.decode() and not os.path.exists("nan_a.nrrd"),
      "NaN: " + done.stderr.decode())

# The example of the help: one slice of a real phantom.
slice_of = os.path.join(os.environ["HOT_DATA"], "fibercup", "fibercup_b1500.nhdr")
unu = next((p for p in ("/usr/bin/teem-unu", "/usr/bin/unu") if os.path.exists(p)), None)
if os.path.exists(slice_of) and unu:
    cut = subprocess.run([unu, "slice", "-a", "2", "-p", "1", "-i", slice_of], capture_output=True)
    done = run("--rank", "8", "--non_negative", "--seed", "1", "-o", "slice", data=cut.stdout)
    check(done.returncode == 0, done.stderr.decode())
    if done.returncode == 0:
        value = float(done.stdout.decode().split()[3])
        print("FiberCup, slice 1, x - y - direction, rank 8, non-negative:", done.stdout.decode().strip())
        check(value > .6, "fit %g" % value)  # noise is the rest: SNR 4 a volume
else:
    print("no real slice here: skipped")

end()
