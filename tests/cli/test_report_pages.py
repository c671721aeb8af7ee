"""hotfiber report, word for word: pages of folders that are written here, with every number, chart and sentence of them
compared with report_pages.txt, which was read and found right. Pictures are compared as means of 3 x 3 parts; of
items of a list that are numbered one after another, the first and the last are in that file.
`python3 test_report_pages.py --write` writes that file anew, for what is changed on purpose."""
import base64
import io
import json
import re
import struct
import sys
import zlib

import nibabel

from cli import *

HERE = os.path.dirname(os.path.abspath(__file__))
SIZE = (11, 9, 7)
AFFINE = np.array([[-2., 0, 0, 10], [0, 1.9, .6, -8], [0, -.6, 1.9, -5], [0, 0, 0, 1]])
SHELLS = [{"b": 0, "volumes": 6}, {"b": 1000, "volumes": 30}, {"b": 2990.4, "volumes": 61}]
RESPONSE = {"from": "estimated", "voxels": 1234, "shells": [
    {"b": 1000, "coefficients": [1.9, -.62, .13, -.02]}, {"b": 3000, "coefficients": [.9, -.51, .22, -.07]}]}
COUNTS = {"voxels": 1234567, "flagged": 89, "fibers": {"none": 34567, "one": 600000, "two": 500000, "three": 100000}}
FULL = {
    "hotfiber": "9.8.7",
    "input": {"file": "some/where/sub-01_dwi.nii.gz", "bval": "a.bval", "bvec": "a.bvec", "size": [11, 9, 7],
              "to_world": AFFINE.tolist(), "space": "RAS", "volumes": 97, "shells": SHELLS},
    "settings": {"method": "signal", "model": "fod", "order": 8, "max_fibers": 3, "mask": "estimated",
                 "denoise": True, "noise_model": "rician", "population": {"noise": 1.0449}, "sigma_map": None,
                 "threshold_of": .123456789},
    "device": {"name": "cpu", "threads": 7, "avx512": False},
    "versions": {"compiler": "some compiler 1.2", "zlib": "1.3"},
    "seconds": {"read": .25, "fibres": 12.5, "total": 99.96}, "peak_memory": 1234567890,
    "noise": {"snr": 23.4567, "sigma": 12.34567}, "response": RESPONSE, "counts": COUNTS,
    "gradients": {"verdict": "likeliest", "z": 4.2},
    "log": [{"level": "note", "text": "the first note"}, {"level": "warning", "text": "one <warning>"},
            {"level": "note", "text": "the second note"}],
    "files": ["report.json", "peaks.nii.gz", "fa.nii.gz", "md.nii.gz", "afd_total.nii.gz", "bedpostx/dyads1.nii.gz"]}
CASES = { # each differs from the one above in what is named
    "signal": {},
    "adc": {"settings": {"method": "maxima", "model": "adc", "order": 4, "max_fibers": 4, "mask": "given"}, "log": None,
            "gradients": {"verdict": "wrong", "likeliest": "x flipped", "z": -12.345}, "noise": {"sigma": .5},
            "counts": {"voxels": 12, "fibers": {"one": 1, "two": 2, "three": 3}}, "seconds": {"total": 100.4},
            "files": ["md.nii.gz"]},
    "tensor": {"settings": {"method": "sshopm", "model": "adc", "order": 2, "starts": 128}, "counts": None,
               "gradients": {"verdict": "unsure", "reason": "too few voxels"}, "noise": None, "log": [], "files": []},
    "odf": {"settings": {"method": "lowrank", "model": "odf", "order": 6, "max_fibers": 2}, "gradients": None,
            "input": {"file": "-", "volumes": 1, "shells": []}, "counts": {"voxels": 0, "flagged": 0},
            "log": [{"level": "warning", "text": f"warning {i} " + 1200 * (i == 7) * "long"} for i in range(103)],
            "files": [f"file{i}" for i in range(103)]},
    "tissues": {"settings": {"method": "signal", "model": "msmt", "order": 8, "max_fibers": 3, "denoise": False,
                             "noise_model": "gaussian"}, "response": None, "counts": {"voxels": 1000, "flagged": 1000},
                "input": {"file": "a/", "to_world": [[0, 0], [3]], "size": [1, 2], "volumes": 4,
                          "shells": SHELLS[1:2]}, "log": [], "files": []},
    "given": {"gradients": {"verdict": "possible", "alike": "z flipped, or <x> and y swapped"},
              "settings": {"method": "signal", "model": "fod", "max_fibers": 1}, "response": {"from": "diffusivities"}},
    "file": {"settings": {"method": "lowrank", "model": "fod", "order": 4, "max_fibers": 3},
             "response": {"from": "file", "shells": [{"b": 700, "coefficients": [1, 0]},
                                                     {"b": 9, "coefficients": "?"}]}}}


def bodies(seed, most):
    """Fibres of every number, in a field without symmetries."""
    random = np.random.RandomState(seed)
    peaks = np.zeros((*SIZE, most, 3), np.float32)
    for at in np.ndindex(SIZE):
        many, length = (at[0] + 2 * at[1] + 3 * at[2]) % (most + 1), .95
        for n in range(many):
            x = random.normal(size=3) * (1, 2, .5)
            length *= .4 + .6 * random.random_sample()
            peaks[(*at, n)] = length * x / np.linalg.norm(x)
    return peaks.reshape(*SIZE, 3 * most)


def save(folder, name, values):
    nibabel.save(nibabel.Nifti1Image(values.astype(np.float32), AFFINE), f"{folder}/{name}.nii.gz")


def parts_of(coded, large):
    """Size of a picture and the mean colours of 3 x 3 parts of it; only the size, if it is large and these are not."""
    raw, at, pixels = base64.b64decode(coded), 8, b""
    while at < len(raw):
        length, kind = struct.unpack(">I4s", raw[at:at + 8])
        body = raw[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, form = struct.unpack(">IIBB", body[:10])
        pixels += body if kind == b"IDAT" else b""
        at += 12 + length
    if width * height > 10000 and not large:
        return width, height
    check(depth == 8 and form in (0, 2), f"8 bits, gray or colour: {depth}, {form}")
    channels = 3 if form == 2 else 1
    rows = np.frombuffer(zlib.decompress(pixels), np.uint8).reshape(height, 1 + width * channels)
    image, above = np.zeros((height, width, channels), np.int64), np.zeros((width, channels), np.int64)
    for y, row in enumerate(rows): # the filters of PNG
        now, kind = row[1:].reshape(width, channels).astype(np.int64), row[0]
        if kind == 2:
            now = (now + above) % 256
        elif kind == 1:
            now = now.cumsum(axis=0) % 256
        elif kind:
            left = corner = [0] * channels
            over, bytes_of = above.tolist(), now.tolist()
            for x, pixel in enumerate(bytes_of):
                for c in range(channels):
                    a, b, d = left[c], over[x][c], corner[c]
                    if kind == 3:
                        guess = (a + b) // 2
                    else:
                        near = abs(b - d), abs(a - d), abs(a + b - 2 * d)
                        guess = a if near[0] <= near[1] and near[0] <= near[2] else b if near[1] <= near[2] else d
                    pixel[c] = (pixel[c] + guess) % 256
                left, corner = pixel, over[x]
            now = np.array(bytes_of)
        image[y] = above = now
    means = [part.mean(axis=(0, 1)) for band in np.array_split(image, 3) for part in np.array_split(band, 3, axis=1)]
    return (width, height, *np.round(np.concatenate(means), 1))


def lines_of(path, large):
    """The page without its styles; pictures as numbers. large: the large ones, too."""
    text = open(path, encoding="utf-8").read()
    text = re.sub(r"<style>.*?</style>", "<style/>", text, flags=re.S)
    text = re.sub(r"(<footer><p>Made by hotfiber )[^<]*?(\. Not)", r"\1VERSION\2", text)
    text = re.sub(r'src="data:image/png;base64,([^"]*)"',
                  lambda found: "\nPNG " + " ".join(f"{x:g}" for x in parts_of(found[1], large)) + "\n",
                  text)
    lines = [""]
    for line in text.splitlines():
        if line.startswith("<li>") and line == re.sub(r"\d+", lambda n: str(int(n[0]) + 1), lines[-1], count=1):
            lines[-1:] = [line] if lines[-2] == "..." else [lines[-1], "...", line]
        else:
            lines.append(line)
    return lines[1:]


os.makedirs("pages", exist_ok=True)
os.chdir("pages")
found = []
about = FULL
for case, changes in CASES.items():
    about = {**about, **changes}
    folder = f"{case}.run"
    os.makedirs(folder, exist_ok=True)
    json.dump({name: value for name, value in about.items() if value is not None}, open(f"{folder}/report.json", "w"))
    if case in ("signal", "adc"):
        random = np.random.RandomState(5)
        save(folder, "peaks", bodies(7, 3 if case == "signal" else 4))
        save(folder, "fa", random.random_sample(SIZE) ** 2)
    if case == "signal":
        inside = np.zeros(SIZE)
        inside[1:-2, 2:, :-1] = 1
        save(folder, "mask", inside)
        save(folder, "md", np.where(random.random_sample(SIZE) < .1, np.nan, 1e-3 * random.random_sample(SIZE)))
        save(folder, "b0", 100 * np.arange(np.prod(SIZE)).reshape(SIZE))
        save(folder, "probability", random.random_sample((*SIZE, 4)))
        save(folder, "afd_total", random.normal(size=SIZE))
        save(folder, "nufo", np.full(SIZE, np.nan))
    works("report", folder, "-o", f"{case}.html", "--quiet")
    found += [f"==== {case}", *lines_of(f"{case}.html", case == "signal")]
if "--write" in sys.argv:
    io.open(f"{HERE}/report_pages.txt", "w", encoding="utf-8").write("\n".join(found) + "\n")
wanted = io.open(f"{HERE}/report_pages.txt", encoding="utf-8").read().splitlines()
check(len(found) == len(wanted), f"{len(found)} lines, {len(wanted)} were wanted")
case = ""
for got, want in zip(found, wanted):
    case = want if want.startswith("====") else case
    if want.startswith("PNG"):
        got, want = (np.array(line.split()[1:], float) for line in (got.replace("<", "PNG <"), want))
        check(len(got) == len(want) and (got[:2] == want[:2]).all() and abs(got - want).max() <= 2,
              f"{case}: a picture is {got}, not {want}")
    else:
        check(got == want, f"{case}: {got[:300]!r}, not {want[:300]!r}")
# What the file says was computed apart: medians of the charts.
peaks = np.linalg.norm(bodies(7, 3).reshape(-1, 3, 3), axis=2)
for n, name in enumerate(("first", "second", "third")):
    lengths = np.sort(peaks[peaks[:, n] > 0, n])
    check(any(f"{name}, median {lengths[len(lengths) // 2]:.3g}" in line for line in wanted), f"median of the {name}")
end()
