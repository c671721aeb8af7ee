"""hotfiber report: one self-contained page. It is parsed, its pictures decoded, its numbers compared with report.json;
names are escaped; missing or damaged files are listed.
HOT_TEST_LONG=1: every file damaged in every way, every key with every value."""
import base64
import json
import re
import shutil
import struct
import zlib

import nibabel

from _tags import Tags
from cli import *

LONG = bool(os.environ.get("HOT_TEST_LONG"))
MOST = 5 << 20
VOID = {"meta", "img", "br"}
SECTIONS = ["warnings", "fibres", "quality", "maps", "input", "settings", "methods"]


class Page(Tags):
    """The content of the page, and its errors as HTML."""

    def __init__(self, path):
        self.images, self.ids, self.svgs, self.tags = [], [], [], {}
        raw = open(path, "rb").read() if isinstance(path, str) else path
        self.size = len(raw)
        text = raw.decode("utf-8")
        super().__init__(text)
        if re.search("[\0-\x08\x0b-\x1f\x7f-\x9f]", text):
            self.wrong.append("control characters")
        self.wrong += [f"id {name} is there twice" for name in set(self.ids) if self.ids.count(name) > 1]

    def handle_starttag(self, tag, attributes):
        about = dict(attributes)
        self.tags[tag] = self.tags.get(tag, 0) + 1
        if len(about) != len(attributes):
            self.wrong.append(f"<{tag}> has an attribute twice")
        if tag not in VOID:
            self.open.append(tag)
        self.wrong += [f"<{tag} {name}>" for name in about if name.startswith("on")]
        if "id" in about:
            self.ids.append(about["id"])
        if tag == "img":
            self.images.append(about)
        if tag == "svg":
            self.svgs.append(about)
        if "href" in about:
            self.links.append(about["href"])

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes) # <line .../>, of SVG alone
        if self.open and self.open[-1] == tag:
            self.open.pop()
        if "svg" not in self.open:
            self.wrong.append(f"<{tag}/>")


def png_size(source):
    """Width and height of a picture given as an address; it must be whole."""
    kind, _, coded = source.partition(";base64,")
    raw = base64.b64decode(coded, validate=True)
    check(kind == "data:image/png" and raw[:8] == b"\x89PNG\r\n\x1a\n", f"a PNG in the page: {source[:40]}")
    at, pixels, size = 8, b"", (0, 0)
    while at < len(raw):
        length, kind = struct.unpack(">I4s", raw[at:at + 8])
        body = raw[at + 8:at + 8 + length]
        check(zlib.crc32(kind + body) == struct.unpack(">I", raw[at + 8 + length:at + 12 + length])[0], "checksum")
        size = struct.unpack(">II", body[:8]) if kind == b"IHDR" else size
        pixels += body if kind == b"IDAT" else b""
        at += 12 + length
    check(len(zlib.decompress(pixels)) >= size[1] * (1 + size[0]), "all of its pixels")
    return size


def read(path, what):
    """The page, after what every page must be."""
    page = Page(path)
    check(not page.wrong, f"{what}: {page.wrong[:5]}")
    check(page.size <= MOST, f"{what}: {page.size} bytes")
    check([name for name in page.ids if name in SECTIONS] == SECTIONS, f"{what}: sections {page.ids}")
    check(all(link[0] == "#" and link[1:] in page.ids for link in page.links), f"{what}: links {page.links}")
    check(not {"script", "link", "iframe", "object", "base", "form"} & set(page.tags), f"{what}: {page.tags}")
    for about in page.images:
        check(len(about.get("alt", "")) > 10, f"{what}: a picture is described: {about.get('alt')}")
        png_size(about["src"])
    for about in page.svgs:
        check(about.get("role") == "img" and len(about.get("aria-label", "")) > 10, f"{what}: a chart is described")
    return page


def report(folder):
    return json.load(open(f"{folder}/report.json"))


works("phantom", "--layout", "bundles", "--size", "12,10,4", "--snr", 30, "-b", "1000,3000", "--directions", 30,
      "-o", "dwi.nrrd", "--seed", 5, "--quiet")

# With the run: named in report.json, replaced with it.
done = works("run", "-i", "dwi.nrrd", "-o", "out", "--outputs", "default,maps,probability", "--report")
check("out/report.html" in done.stdout.decode(), "the run says where it is")
check({"report.html", "b0.nii.gz"} <= set(report("out")["files"]), "report.json names it and what it is drawn on")
page = read("out/report.html", "run --report")
bare = subprocess.run([HOTFIBER, "report", "out", "-o", "bare.html"], env={}, cwd=".", stdout=subprocess.PIPE,
                      stderr=subprocess.PIPE) if os.path.sep in HOTFIBER else None
check(bare is None or (bare.returncode == 0 and open("bare.html", "rb").read() == open("out/report.html", "rb").read()),
      "without an environment it is the same, byte by byte")
works("run", "-i", "dwi.nrrd", "-o", "out", "--outputs", "default,maps,probability", "--force", "--no_report",
      "--quiet")
check("report.html" not in os.listdir("out") and "b0.nii.gz" in os.listdir("out"), "a run without it removes it")

# From the folder, which is only read.
before = tree("out")
works("report", "out/", "-o", "page.html", "--quiet")
check(tree("out") == before, "the folder does not change")
again = works("report", "out", "-o", "-").stdout
check(again == open("page.html", "rb").read(), "twice the same bytes; -o - is standard output")
page = read("page.html", "report")
about = report("out")
counts = about["counts"]
words = re.sub(r"\s+", " ", page.words)
for what in (f"{counts['voxels']:,}", f"{counts['fibers']['one']:,}", f"{about['noise']['snr']:.1f}", "dwi.nrrd",
             "12 × 10 × 4", f"{100 * counts['fibers']['two'] / counts['voxels']:.1f} %", about["hotfiber"],
             about["versions"]["compiler"], "b = 3000 s/mm²", "Rician", "10.1016/j.neuroimage.2004.07.037",
             "Basser 1994", about["input"]["space"]):
    check(what in words, f"the page says {what}")
check("Veraart 2016" not in words and "Kolda 2011" not in words, "citations only for methods that were used")
warned = [line["text"] for line in about["log"] if line["level"] == "warning"]
check(len(warned) == 1 and "z flipped" in warned[0] and warned[0] in words, f"these bundles do not show z: {warned}")
sticks = [png_size(image["src"]) for image in page.images[:3]]
check(all(max(size) > 400 for size in sticks), f"fibres are large: {sticks}")
names = " ".join(image["alt"] for image in page.images)
for what in ("axial", "coronal", "sagittal", "sticks", "colours", "Number of fibres", "Fractional anisotropy",
             "Mean diffusivity"):
    check(what in names, f"a picture of {what}: {names}")
shown = [name for name in about["files"] if re.match(r"(fa|md|afd_\w+|nufo|probability|certainty|b0)\.nii", name)]
maps = len(shown)
check(len(page.images) == 3 * (4 + maps), f"{len(page.images)} pictures of {maps} maps")
check(len([image for image in page.images if image["alt"].startswith("Glyphs, ")]) == 3, "glyphs in three planes")
check(len(page.svgs) == 3 + maps, f"{len(page.svgs)} charts of {maps} maps")
# The median in the chart is that of the file.
fa = np.asarray(nibabel.load("out/fa.nii.gz").dataobj)[np.asarray(nibabel.load("out/mask.nii.gz").dataobj) > 0]
chart = [about["aria-label"] for about in page.svgs if "Fractional" in about["aria-label"]]
check(len(chart) == 1 and abs(float(chart[0].rsplit(" ", 1)[1]) - np.median(fa)) < 2e-3,
      f"median FA {np.median(fa)}: {chart}")

# In the folder by default; a run replaces it then, but no page of somebody else.
works("report", "out", "--quiet")
check(read("out/report.html", "in the folder").size == page.size, "the same page in the folder")
works("run", "-i", "dwi.nrrd", "-o", "out", "--outputs", "default,maps,probability", "--force", "--no_report",
      "--quiet")
open("out/report.html", "w").write("<html>mine</html>")
done = hotfiber("run", "-i", "dwi.nrrd", "-o", "out", "--force")
check(done.returncode == 1 and "report.html" in done.stderr, f"a page of somebody else: {done.stderr}")
os.remove("out/report.html")

# Over another image; one that lies elsewhere or is none is refused.
grid = nibabel.load("out/mask.nii.gz")
nibabel.save(nibabel.Nifti1Image(np.random.default_rng(1).random((6, 5, 4), np.float32),
                                 grid.affine @ np.diag([2., 2, 1, 1])), "t1.nii.gz")
works("report", "out", "-o", "t1.html", "--background", "t1.nii.gz", "--quiet")
other = read("t1.html", "another background")
check(other.images[0]["src"] != page.images[0]["src"] and other.images[3]["src"] == page.images[3]["src"],
      "sticks over another image, the same colours")
for name in ("none.nii.gz", "dwi.bval"):
    done = hotfiber("report", "out", "-o", "no.html", "--background", name)
    check(done.returncode == 1 and name in done.stderr.strip().split("\n")[-1] and not os.path.exists("no.html"),
          f"background {name}: {done.stderr}")

# Two slices: seen from the side they are nothing.
works("phantom", "--layout", "bundles", "--size", "30,28,2", "-o", "flat.nrrd", "--quiet")
works("run", "-i", "flat.nrrd", "-o", "flat", "--outputs", "peaks,mask", "--method", "maxima", "--report", "--quiet")
flat = read("flat/report.html", "two slices")
check(len(flat.images) == 5 and all("axial slice" in image["alt"] for image in flat.images) and
      "few slices" in flat.words, f"{[image['alt'] for image in flat.images]}")

# A name that is markup, and no UTF-8.
odd = os.fsdecode(b"<img src=x onerror=alert(1)>&amp;\"'\xff.nrrd")
shutil.copy("dwi.nrrd", odd)
works("run", "-i", odd, "-o", "odd", "--outputs", "peaks", "--report", "--quiet")
page = read("odd/report.html", "an odd name")
check("<img src=x onerror=alert(1)>&amp;\"'\ufffd.nrrd" in page.words, "it is shown unchanged")
check("No maps" not in page.words and len(page.images) == 18, f"background and certainty are maps: {len(page.images)}")

# Missing or damaged files.
kept = sorted(set(report("out")["files"]) - {"report.json"})
for i, name in enumerate(kept):
    damages = ("gone", "cut", "empty")
    for damage in damages if LONG or name in ("peaks.nrrd", "mask.nii.gz", shown[0]) else damages[i % 3:i % 3 + 1]:
        shutil.rmtree("less", ignore_errors=True)
        shutil.copytree("out", "less")
        whole = open(f"less/{name}", "rb").read()
        os.remove(f"less/{name}")
        if damage != "gone":
            open(f"less/{name}", "wb").write(whole[:len(whole) // 2] if damage == "cut" else b"")
        works("report", "less", "-o", "less.html", "--quiet")
        told = "This page lacks something" in read("less.html", f"{name} {damage}").words
        read_for_it = name in ("peaks.nrrd", "mask.nii.gz", *shown)
        check(told == (read_for_it and damage != "gone"), f"{name} {damage}: told {told}")
shutil.rmtree("less")
os.mkdir("less")
shutil.copy("out/report.json", "less")
works("report", "less", "--quiet")
page = read("less/report.html", "report.json alone")
check("No directions are in the folder" in page.words and "No maps are in the folder" in page.words, "the page says it")
check(len(page.images) == 0 and f"{counts['voxels']:,}" in page.words, "numbers are there")

# Any content of report.json.
done = hotfiber("report", "no_such")
check(done.returncode == 1 and "report.json" in done.stderr and done.stderr.count("\n") == 1, done.stderr)
os.mkdir("folder")
done = hotfiber("report", "folder")
check(done.returncode == 1 and "'folder' is not the result of a run" in done.stderr and "DICOM" not in done.stderr,
      done.stderr)
for text in ("", "{", "[]", "3", '{"hotfiber": 3}'):
    open("less/report.json", "w").write(text)
    done = hotfiber("report", "less", "-o", "no.html")
    check(done.returncode == 1 and "report.json" in done.stderr and done.stderr.count("\n") == 1 and
          not os.path.exists("no.html"), f"{text}: {done.stderr}")


def poison(item, with_what):
    """Every leaf replaced."""
    if isinstance(item, dict):
        return {name: poison(value, with_what) for name, value in item.items()}
    if isinstance(item, list):
        return [poison(value, with_what) for value in item]
    return with_what


for with_what in ("</td><script>alert(1)</script>", 1e300, -1e300, None, True, [], {}, "\u0001\u0085"):
    poisoned = poison(about, with_what)
    poisoned["hotfiber"] = "<script>"
    json.dump(poisoned, open("out/report.json", "w"))
    works("report", "out", "-o", "poisoned.html", "--quiet")
    read("poisoned.html", f"every value {with_what!r}")
for i, name in enumerate(about):
    values = ([], {}, 3, "x", [[[]]], [{"level": 3}], {"shells": [3, {"coefficients": ["x", {}]}]})
    for value in values if LONG else (values[i % 2], values[2 + i % 2], values[4 + i % 3]):
        json.dump({**about, name: value, "hotfiber": "0"}, open("less/report.json", "w"))
        works("report", "less", "-o", "poisoned.html", "--quiet")
        read("poisoned.html", f"{name} is {value}")
wrong = {**about, "gradients": {"verdict": "wrong", "likeliest": "x flipped", "z": 12.5},
         "log": [{"level": "warning", "text": "the gradient table does not look right"}]}
json.dump(wrong, open("less/report.json", "w"))
works("report", "less", "-o", "wrong.html", "--quiet")
check("x flipped" in Page("wrong.html").words and "2 warnings" in Page("wrong.html").words, "a wrong table is seen")

# Many maps, large and without structure: the page stays small.
shutil.rmtree("less")
os.mkdir("less")
json.dump(about, open("less/report.json", "w"))
random = np.random.default_rng(3)
for name in ("b0", "fa", "md", "probability", "cone", "fraction_sd", "afd_total", "afd_max", "afd_sum", "nufo",
             "noise"):
    nibabel.save(nibabel.Nifti1Image(random.integers(0, 255, (420, 400, 3), np.uint8), np.diag([1., 1, 3, 1])),
                 f"less/{name}.nii.gz")
works("report", "less", "--quiet")
page = read("less/report.html", "noise")
check("Its picture is left out" in page.words and 3 < len(page.images) < 33 and len(page.svgs) >= 11,
      f"{len(page.images)} pictures in {page.size} bytes")

for arguments, word in (([], "folder"), (["a", "b"], "one argument too many"), (["out", "-i", "x"], "no option")):
    done = hotfiber("report", *arguments)
    check(done.returncode == 2 and word in done.stderr and done.stderr.count("\n") == 1, f"{arguments}: {done.stderr}")
end()
