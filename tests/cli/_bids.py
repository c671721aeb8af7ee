"""BIDS data sets of phantoms, for the tests of hotfiber-bids and of its workflow."""
import json
import shutil
import struct
import time

from _tags import Tags
from cli import *

BIDS = os.path.join(os.path.dirname(HOTFIBER), "hotfiber-bids")
os.environ["HOTFIBER"] = HOTFIBER
LONG = bool(os.environ.get("HOT_TEST_LONG"))


def bids(*arguments, **more):
    """Runs hotfiber-bids; stdout and stderr are text."""
    return subprocess.run([BIDS, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=more.pop("timeout", 600), check=False, **more)


def phantom(path, seed=1, size="9,9,3", snr=30, b="1000,3000", count=30):
    """A small head with .bval and .bvec."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    works("phantom", "--layout", "bundles", "--size", size, "--snr", snr, "-b", b, "--directions", count, "--seed",
          seed, "-o", path, "--quiet")
    return path


def dataset(folder, **more):
    os.makedirs(folder, exist_ok=True)
    json.dump({"Name": "phantoms", "BIDSVersion": "1.10.0", "DatasetType": "raw", "License": "CC0", **more},
              open(f"{folder}/dataset_description.json", "w"))
    open(f"{folder}/README", "w").write("Phantoms, made for a test. They are small heads with bundles of fibres.\n")
    return folder


def scan(folder, subject, session=None, more="", **about):
    """The image of a subject (and session); returns its path without .nii.gz."""
    name = f"sub-{subject}" + (f"_ses-{session}" if session else "") + more
    start = f"{folder}/sub-{subject}/" + (f"ses-{session}/" if session else "") + f"dwi/{name}_dwi"
    phantom(start + ".nii.gz", **about)
    return start


def truncate(path):
    with open(path, "r+b") as file:
        file.truncate(2000)


def sparse(start, like, size, volumes):
    """An image of zeros that takes no room on the disk: a NIfTI header and a hole, float32; gradients from `like`."""
    header = bytearray(348)
    struct.pack_into("<i", header, 0, 348)
    struct.pack_into("<8h", header, 40, 4, *size, volumes, 1, 1, 1)
    struct.pack_into("<2h", header, 70, 16, 32)
    struct.pack_into("<8f", header, 76, 1, 2, 2, 2, 1, 0, 0, 0)
    struct.pack_into("<3f", header, 108, 352, 1, 0)
    struct.pack_into("<2h", header, 252, 0, 1)
    struct.pack_into("<12f", header, 280, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0)
    header[344:348] = b"n+1\0"
    os.makedirs(os.path.dirname(start), exist_ok=True)
    with open(start + ".nii", "wb") as file:
        file.write(header + bytes(4))
        file.truncate(352 + 4 * volumes * size[0] * size[1] * size[2])
    for ending in (".bval", ".bvec"):
        shutil.copy(like + ending, start + ending)


def status(out, name):
    return json.load(open(f"{out}/logs/{name}.json"))


def table(out):
    """group_dwi.tsv as {scan: {column: text}}."""
    head, *rows = [line.split("\t") for line in open(f"{out}/group_dwi.tsv").read().splitlines()]
    check(all(len(row) == len(head) for row in rows), "every row of the table has all columns")
    return {row[0]: dict(zip(head, row)) for row in rows}


class Html(Tags):
    """The errors of a page, its links and its words."""

    def __init__(self, path):
        self.pictures = []
        super().__init__(open(path, encoding="utf-8").read())

    def handle_starttag(self, tag, attributes):
        about = dict(attributes)
        if tag not in ("meta", "img", "br"):
            self.open.append(tag)
        local = tag == "img" and about.get("src", "").startswith("sub-")
        self.pictures += [about["src"]] if local else []
        if tag in ("script", "link", "iframe") or ("src" in about and not local):
            self.wrong.append(f"<{tag}> {about}")
        if "href" in about:
            self.links.append(about["href"])

    def handle_startendtag(self, tag, attributes):
        pass


def read_page(path):
    page = Html(path)
    check(not page.wrong, f"{path}: {page.wrong[:3]}")
    missing = [link for link in page.links + page.pictures
               if not os.path.exists(os.path.join(os.path.dirname(path), link))]
    check(not missing, f"{path}: links lead nowhere: {missing[:3]}")
    return page
