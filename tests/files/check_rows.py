"""hotfiber check and run compare volumes with their rows: tables in another order are found and named, right ones are
not faulted, with noise or without, and run says at its end what check finds. On phantoms, and on real data."""
import json
import os
import sys

import nibabel as nib
import numpy as np

sys.path.insert(0, os.path.join(os.environ["HOT_SOURCE"], "bench", "accuracy"))
from _dwi import check, end, hot  # noqa: E402
from tables_simulated import simulate  # noqa: E402

DATA = os.environ.get("HOT_DATA", "")
random = np.random.default_rng(40)
check(hot("phantom", "--layout", "mixture", "--tissue", "stick-zeppelin", "--size", "12,10,8", "-b", "1000,2500",
          "--directions", "20", "--b0", "4", "--csf", "0-.2", "--grey", "0-.2", "--snr", "25", "-o", "p.nii.gz",
          "--truth", "t.nii.gz").returncode == 0, "a phantom")
image = nib.load("p.nii.gz")
samples, b, g = np.asarray(image.dataobj), np.loadtxt("p.bval"), np.loadtxt("p.bvec")
order = np.r_[0, 1 + random.permutation(len(b) - 1)]  # as scanners have them
samples, b, g = samples[..., order], b[order], g[:, order]
every, none, some = np.arange(len(b)), np.flatnonzero(b < 50), np.flatnonzero(b > 50)


def write(data=samples, rows=every, values=b, vectors=g, affine=image.affine):
    nib.save(nib.Nifti1Image(np.asarray(data, "f4"), affine), "q.nii")
    np.savetxt("q.bval", values[None, rows])
    np.savetxt("q.bvec", vectors[:, rows])


def ask(what, wrong, words=(), **table):
    """The verdict on rows; the status says the same, and no verdict on axes goes with a wrong one."""
    write(**table)
    done = hot("check", "q.nii", "--json")
    check(done.returncode in (0, 1) and done.stdout, "%s: %s" % (what, done.stderr))
    about = json.loads(done.stdout)
    rows, axes = about["rows"], about["gradients"]["verdict"]
    is_wrong = rows["verdict"] in ("volumes", "order", "foreign directions")
    check(is_wrong == wrong, "%s: %s: %s" % (what, rows["verdict"], rows["text"]))
    check(not is_wrong or (done.returncode == 1 and axes == "none"),
          "%s: status %d, axes %s" % (what, done.returncode, axes))
    said = rows["text"] + "; " + rows["remedy"]
    for word in words:
        check(word in said, "%s: '%s' in: %s" % (what, word, said))
    return rows


def mended(what, rows, **table):
    """The volumes' rows, as they are told, are theirs."""
    values, vectors = table.get("values", b), table.get("vectors", g)
    told = ask(what, True, rows=rows, **table)
    row = np.array(told["row"])
    check(len(row) == len(values) and row.min() >= 0, "%s: a row for each volume" % what)
    if len(row) == len(values):
        got = np.asarray(rows)[row]
        cosine = np.abs((vectors[:, got] * vectors).sum(0))
        check(np.all((np.abs(values[got] - values) < 60) & ((cosine > .99) | (values < 50))),
              "%s: %s" % (what, told["text"]))
    return told


def named(what, rows, *words):
    """The same, and text and remedy have these words."""
    told = mended(what, rows)
    for word in words:
        check(word in told["text"] + "; " + told["remedy"], "%s: '%s' in: %s" % (what, word, told))


def moved(rows, place, to):
    rows = list(rows)
    rows.insert(to, rows.pop(place))
    return np.array(rows)


def changed(places, by):
    rows = every.copy()
    rows[places] = by
    return rows


# Right tables, and what is no fault of a table.
rows = ask("right", False)
check(rows["verdict"] == "agree", "right: %s" % rows["verdict"])
ask("axes flipped and permuted", False, vectors=np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]]) @ g)
ask("few directions", False, data=samples[..., every[:20]], rows=every[:20])
bright = np.where(every < 22, 1, 1.5)
rows = ask("joined series", False, data=samples * bright)
check(rows.get("series") == 22 and abs(rows["brightness"] - 1.5) < .05, "joined series: %s" % rows)
noise = np.hypot(random.standard_normal(samples.shape) + 4 * (b < 50) + 2, random.standard_normal(samples.shape))
rows = ask("noise", False, data=noise, rows=changed(some, random.permutation(some)))
check(rows["verdict"] == "cannot tell" and rows["text"], "noise: %s" % rows["verdict"])

# Without noise volumes differ by few patterns: nothing is a mean, odd or another's because the model errs by as much.
for seed in (1, 6, 14, 19, 28, 42, 47, 100, 134):
    clean, values, vectors, affine, what = simulate(np.random.default_rng([seed, 77]))
    ask("without noise: " + what, False, data=clean, rows=np.arange(len(values)), values=values, vectors=vectors.T,
        affine=affine)

# Rows in another order.
late = none[-1]
pair = np.array([late, some[3]])
told = mended("b=0 exchanged with b > 0", changed(pair, pair[::-1]))
check("volume %d is called b=0 and is as dark as" % some[3] in told["text"] or
      "volume %d is called b=" % late in told["text"], told["text"])
entry = "of bval and bvec"
named("one row shifted", moved(every, 42, 39), "shifted by one from 39 to 42 (row 39 belongs to volume 42)",
      "move the entries %s 39 to place 42" % entry)
named("shifted by one from some row on", changed(every[11:], np.roll(every[11:], 1)),
      "shifted by one from 11 on (row 11 belongs to volume 43)", "move the entries %s 11 to place 43" % entry)
told = mended("all shifted", np.roll(every, 1))
check("all rows are shifted by 1" in told["text"] and "move the first entry of bval and bvec to the end" in
      told["remedy"], "%(text)s; %(remedy)s" % told)
named("all shifted by two", np.roll(every, -2), "all rows are shifted by 2: row 0 belongs to volume 2",
      "move the last 2 entries %s to the front" % entry)
told = mended("reversed", every[::-1])
check("reverse" in told["text"] and "reverse the order" in told["remedy"], told["text"])
named("b > 0 reversed", changed(some, some[::-1]), "with b > 0 are in reverse order",
      "of the entries %s with b > 0 among themselves" % entry)
named("b > 0 shifted", changed(some, np.roll(some, -2)), "with b > 0 are shifted by 2 among themselves",
      "among those with b > 0 move the last 2 entries %s to the front" % entry)
named("series exchanged", np.r_[every[22:], every[:22]],
      "two series have changed places: rows 0 to 21 belong to volumes 22 to 43",
      "move the last 22 entries %s to the front" % entry)
high = np.flatnonzero(b > 2000)
angles = np.abs(g[:, high].T @ g[:, high])
pair = high[list(np.unravel_index(np.argmin(angles), angles.shape))]
mended("two directions", changed(pair, pair[::-1]))
ask("sorted", True, ["sorted by b"], rows=np.argsort(b, kind="stable"))
shuffled = every.copy()
for value in (1000, 2500):
    where = np.flatnonzero(np.abs(b - value) < 50)
    shuffled[where] = random.permutation(where)
ask("permuted within shells", True, ["do not belong to these volumes"], rows=shuffled)
np.savetxt("foreign.bvec", g[:, shuffled])

# A computed volume at the end, under an invented row.
low, shell = samples[..., none].mean(-1), np.abs(b - 1000) < 50
trace = np.exp(np.log(np.maximum(samples[..., shell], 1)).mean(-1))
for what, volume in (("trace", trace), ("the mean", samples.mean(-1)),
                     ("ADC", 1e6 * np.log(np.maximum(low / trace, 1.0001)) / 1000)):
    ask(what, True, ["volume %d is" % len(b), what, "leave out volume %d" % len(b)],
        data=np.concatenate([samples, volume[..., None]], -1), rows=np.arange(len(b) + 1), values=np.r_[b, 1000],
        vectors=np.c_[g, [.6, 0, .8]])

# The text names volumes and the remedy, in the words of the file.
write(rows=changed(np.array([late - 1, late]), [late, late - 1]))
done = hot("check", "q.nii")
text = done.stdout.decode()
check(done.returncode == 1 and "gradient table: WRONG" in text and "to mend it: exchange the entr" in text and
      "likeliest" not in text, text)

# run ends with one line, unless it is forced; results do not depend on that.
write()
fast = ["-i", "q.nii", "--method", "maxima", "--order", "4", "--outputs", "peaks", "--force"]
check(hot("run", *fast, "-o", "right").returncode == 0, "run with the right table")
check(hot("run", *fast, "-o", "forced", "--force_table").returncode == 0, "and forced")
check(open("right/peaks.nii.gz", "rb").read() == open("forced/peaks.nii.gz", "rb").read(), "the same directions")
write(rows=every[::-1])
done = hot("run", *fast, "-o", "none")
lines = done.stderr.strip().splitlines()
check(done.returncode == 1 and len(lines) == 1 and "in reverse order" in lines[0] and "--force_table" in lines[0] and
      not os.path.exists("none"), "run: %s" % done.stderr)
write(rows=changed(pair, pair[::-1]) if (b[pair] < 50).any() else changed([late, some[3]], [some[3], late]))
done = hot("run", *fast, "-o", "none")
check(done.returncode == 1 and "changed places" in done.stderr and not os.path.exists("none"), "run: " + done.stderr)
# So do directions that explain nothing; forced, it warns, and report.json says so.
write()
others = ["--bvec", "foreign.bvec", "--diffusivities", "1.7e-3,.2e-3"]
done = hot("run", *fast, "-o", "none", *others)
check(done.returncode == 1 and "do not belong" in done.stderr and not os.path.exists("none"), "run: " + done.stderr)
done = hot("run", *fast, "-o", "wrong", *others, "--force_table")
lines = [line for line in done.stderr.splitlines() if "do not belong" in line]
check(done.returncode == 0 and len(lines) == 1, "forced: %s" % done.stderr)
if done.returncode == 0:
    about = json.load(open("wrong/report.json"))
    check(about["gradients"]["rows"]["verdict"] == "foreign" and "do not belong" in about["log"][-1]["text"],
          "report.json")

# What check finds of the volumes is said when run ends, and in report.json.
damaged = np.array(samples) * bright
for at in range(6):
    damaged[:, :, at, 5 + 2 * at] *= .2
write(data=damaged)
done = hot("run", *fast, "-o", "damaged")
log = [line["text"] for line in json.load(open("damaged/report.json"))["log"] if line["level"] == "warning"]
check(done.returncode == 0 and any("volume 22 on" in line and "bright" in line for line in log), "series: %s" % log)

# Of large slices run looks at some lines: what it says is what check finds in all of them.
TOLD = ("empty_slices", "dark_slices", "signal_drift", "duplicate_volumes")


def both(what, data):
    """The findings that run prints, and whether check has the same, but for the amount of drift."""
    write(data=data)
    found = json.loads(hot("check", "q.nii", "--json").stdout)["findings"]
    done = hot("run", *fast, "-o", "damaged", "--force_table")
    check(done.returncode == 0, "%s: %s" % (what, done.stderr))
    told = [line["text"] for line in json.load(open("damaged/report.json"))["log"] if line["level"] == "warning"]
    for about in found:
        if about["kind"] in TOLD and about["mend"]:
            start = about["text"][:24] if about["kind"] == "signal_drift" else about["text"]
            check(any(line.startswith(start) for line in told), "%s: '%s' not in %s" % (what, about["text"], told))
    return {about["kind"] for about in found if about["kind"] in TOLD and about["mend"]}


large = np.tile(samples, (6, 5, 1, 1))
check(both("large", large) == set(), "a sound large image")
damaged = large.copy()
for at in range(6):
    damaged[:, :, at, some[3 + at]] *= .3
damaged[:, :, 6, some[12]] = 0
damaged[..., some[20]] = damaged[..., some[19]]
check(both("damaged", damaged) == {"empty_slices", "dark_slices", "duplicate_volumes"}, "damaged slices")
check("signal_drift" in both("drift", large * (1 - .12 * every / len(b))), "drift")
check(both("half", np.where(np.arange(large.shape[1])[None, :, None, None] < 25, large, 0)) == set(), "half a volume")

if os.path.isdir(os.path.join(DATA, "human_2shell")):
    real = os.path.join(DATA, "human_2shell/dwi")
    image = nib.load(real + ".nii.gz")
    everything, b, g = np.asarray(image.dataobj), np.loadtxt(real + ".bval"), np.loadtxt(real + ".bvec")
    every = np.arange(len(b))
    about = dict(data=everything, values=b, vectors=g, affine=image.affine)
    ask("human", False, rows=every, **about)
    told = mended("human, a b=0 row one place early", changed([50, 51], [51, 50]), **about)
    check("volume 50 is called b=2000 and is as bright as b=0; 51 the other way round" in told["text"] or
          "volume 51 is called b=0 and is as dark as b=2000; 50 the other way round" in told["text"], told["text"])
    told = mended("human, another one", changed([75, 76], [76, 75]), **about)
    check("rows 75 and 76 have changed places" in told["text"], told["text"])
    mended("human, two of them", changed([50, 51, 63, 64], [51, 50, 64, 63]), **about)
    late = np.array([36, 50, 63, 76, 89, 102])  # row 37 has b=0, too, and stays
    mended("human, six of them, one before another", changed(np.r_[late - 1, late], np.r_[late, late - 1]), **about)
    told = ask("human, sorted", True, ["sorted by b"], rows=np.argsort(b, kind="stable"), **about)
    check(not told.get("series"), "shells that are none are no series: %s" % told)
    # Volumes that lost signal in one of two slices, or in both, are not those of other rows.
    for seed in (2, 3, 4):
        draw, lost = np.random.default_rng(seed), np.array(everything, "f4")
        for _ in range(35):
            lost[:, :, int(draw.integers(2)), int(draw.integers(len(b)))] *= .3
        ask("human, slices lost %d" % seed, False, rows=every, **dict(about, data=lost))
    shuffled = every.copy()
    for value in (1000, 2000):
        where = np.flatnonzero(np.abs(b - value) < 50)
        shuffled[where] = random.permutation(where)
    ask("human, permuted within shells", True, ["do not belong to these volumes"], rows=shuffled, **about)
    if os.path.exists(os.path.join(DATA, "mrtrix_msmt_roi")):
        # b=0 volumes in their places again explain nothing: the directions of the other rows are in another order, too.
        roi = os.path.join(DATA, "mrtrix_msmt_roi/mrtrix_msmt_roi")
        values, vectors, part = np.loadtxt(roi + ".bval"), np.loadtxt(roi + ".bvec"), nib.load(roi + ".nii.gz")
        ask("roi, sorted", True, ["sorted by b"], rows=np.argsort(values, kind="stable"), values=values,
            vectors=vectors, data=np.asarray(part.dataobj), affine=part.affine)
    np.savetxt("flipped.bvec", np.diag([1, -1, 1]) @ g)
    done = hot("check", real + ".nii.gz", "--bvec", "flipped.bvec")
    last = done.stdout.decode().strip().splitlines()[-1]
    check(done.returncode == 1 and "x flipped" in last and "y flipped" in last and "a tie" in last, "a tie: " + last)
else:
    print("no real data in '%s': the phantom alone" % DATA)
end()
