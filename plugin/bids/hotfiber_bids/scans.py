"""The diffusion scans of a BIDS data set, raw or preprocessed (QSIPrep): names, inheritance, gradients, masks."""
import functools
import os
import re
import typing

from . import images
from .text import read_json, shown

IMAGES = (".nii.gz", ".nii")
# Keys and labels of BIDS. Nothing else becomes part of a path, a command or a page.
LABEL = re.compile(r"[0-9A-Za-z]+")
# s/mm^2: a scan whose b-values are all up to here has no diffusion weighting.
B0_HIGHEST = 100.
SCANNER = ("Manufacturer", "ManufacturersModelName", "MagneticFieldStrength")
# Not diffusion signals: parts of complex data.
OTHER_PARTS = ("phase", "real", "imag")


class Unusable(Exception):
    """A data set, or a scan of it, that cannot be used; the message is one line."""


def parse(name):
    """`sub-01_ses-2_dwi.nii.gz` as ({"sub": "01", "ses": "2"}, "dwi", ".nii.gz"); None for other names."""
    stem, dot, extension = name.partition(".")
    *pairs, suffix = stem.split("_")
    entities = {}
    for pair in pairs:
        key, _, value = pair.partition("-")
        if not LABEL.fullmatch(key) or not LABEL.fullmatch(value) or key in entities:
            return None
        entities[key] = value
    return (entities, suffix, dot + extension) if dot and LABEL.fullmatch(suffix) else None


@functools.lru_cache(maxsize=None)
def _listing(folder):
    """(name, entities, suffix, extension) of what has a BIDS name in a folder, sorted."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return ()
    return tuple((name, *parsed) for name in names for parsed in [parse(name)] if parsed)


def _folders(root, path):
    """The folder of a file and those above it, up to the data set's."""
    folder = os.path.dirname(path)
    while True:
        yield folder
        if os.path.samefile(folder, root) or folder == os.path.dirname(folder):
            return
        folder = os.path.dirname(folder)


def _applicable(folder, entities, suffix, extension):
    """Files of a folder that apply to a scan by the inheritance principle, most entities first."""
    found = [(len(theirs), name) for name, theirs, kind, ending in _listing(folder)
             if kind == suffix and ending == extension and theirs.items() <= entities.items()]
    return sorted(found, reverse=True)


def inherited(root, path, entities, suffix, extension):
    """The closest file that applies to a scan, or None. Two in one folder that apply alike are refused."""
    for folder in _folders(root, path):
        found = _applicable(folder, entities, suffix, extension)
        if len(found) > 1 and found[0][0] == found[1][0]:
            raise Unusable(f"both {found[0][1]} and {found[1][1]} in {folder} apply to {os.path.basename(path)}")
        if found:
            return os.path.join(folder, found[0][1])
    return None


def inherited_metadata(root, path, entities, suffix):
    """All .json that apply, merged: what is closer to the file wins. Also a list of remarks on those unreadable."""
    merged, remarks = {}, []
    for folder in list(_folders(root, path))[::-1]:
        for _, name in _applicable(folder, entities, suffix, ".json")[::-1]:
            try:
                about = read_json(os.path.join(folder, name))
                if not isinstance(about, dict):
                    raise ValueError("no JSON object")
                merged.update(about)
            except (OSError, ValueError) as error:
                remarks.append(f"{name} cannot be read: {shown(error)}")
    return merged, remarks


def _plain(value):
    """A number or a short text of a sidecar; None for other values."""
    if isinstance(value, str):
        return value[:200]
    return value if isinstance(value, (int, float)) and abs(value) < 1e300 else None


class Scan:
    """One diffusion image with what belongs to it. `problem` says in one line why it cannot be used, or is None;
    `no_series` why it is none for fibre directions, although nothing is wrong with it, or is None."""

    def __init__(self, root, path):
        name = os.path.basename(path)
        self.root, self.path, self.problem, self.no_series, self.remarks = root, path, None, None, []
        self.entities, _, self.extension = parse(name)
        self.subject, self.session = self.entities["sub"], self.entities.get("ses")
        # BIDS: a derivative is named after its source, but what `desc` said of that is no longer true.
        kept = {key: value for key, value in self.entities.items() if key != "desc"}
        self.name = "_".join(f"{key}-{value}" for key, value in kept.items())
        self.bval = self.bvec = self.grad = self.mask = None
        self.metadata = {}
        try:
            self._complete(name)
        except (Unusable, OSError, ValueError) as error:
            self.problem = shown(error)
        try:
            self.no_series = self._no_series()
        except (OSError, ValueError): # hotfiber says what is wrong with the file
            pass

    def _complete(self, name):
        if not os.path.exists(self.path):
            raise Unusable(f"{name} is a link to data that are not here; `datalad get` or `git annex get` fetches them")
        find = functools.partial(inherited, self.root, self.path, self.entities)
        metadata, self.remarks = inherited_metadata(self.root, self.path, self.entities, "dwi")
        self.metadata = {key: _plain(metadata[key]) for key in SCANNER if _plain(metadata.get(key)) is not None}
        self.bval, self.bvec, self.grad = find("dwi", ".bval"), find("dwi", ".bvec"), find("dwi", ".b")
        if self.bval and self.bvec:
            self.grad = None
        elif self.grad:
            self.bval = self.bvec = None
        else:
            lacks = " and ".join(what for what, there in ((".bval", self.bval), (".bvec", self.bvec)) if not there)
            raise Unusable(f"{name} has no {lacks} (and no .b): neither next to it nor in a folder above it is a file "
                           "that applies to it")
        self.mask = self._brain_mask()

    def _brain_mask(self):
        """desc-brain_mask of the same space in the same folder; of several the one that is named most alike."""
        mine = {key: value for key, value in self.entities.items() if key != "desc"}
        folder, found = os.path.dirname(self.path), []
        for name, theirs, suffix, extension in _listing(folder):
            rest = {key: value for key, value in theirs.items() if key != "desc"}
            if (suffix == "mask" and extension in IMAGES and theirs.get("desc") == "brain" and
                    rest.items() <= mine.items() and rest.get("space") == mine.get("space")):
                found.append((len(rest), name))
        return os.path.join(folder, max(found)[1]) if found else None

    def _no_series(self):
        """b=0 volumes alone are for the correction of distortions, one volume is a map or a mean of others."""
        if os.path.exists(self.path) and images.volumes(self.path) == 1:
            return "one volume: no diffusion series"
        table = self.bval or self.grad
        b = images.b_values(table, column=None if self.bval else 3) if table else []
        if b and all(0 <= value <= B0_HIGHEST for value in b):
            return "b=0 volumes only, as for distortion correction: no diffusion series"
        return None

    def within(self, path):
        """A path relative to the data set's folder: hotfiber is called there, so that no name above it gets into shared
        files."""
        return os.path.relpath(path, self.root).replace(os.sep, "/")

    @property
    def relative(self):
        """The image's path in its data set."""
        return self.within(self.path)

    def folder(self, out):
        """Where the scan's derivatives go."""
        return os.path.join(out, f"sub-{self.subject}", *([f"ses-{self.session}"] if self.session else []), "dwi")

    def figures(self, out):
        return os.path.join(out, f"sub-{self.subject}", "figures")

    def files(self):
        """The existing files of the scan."""
        paths = (self.path, self.bval, self.bvec, self.grad, self.mask)
        return [path for path in paths if path and os.path.exists(path)]


class LeftOut(typing.NamedTuple):
    """A skipped file: its path in the data set, and the reason. failed: it is faulty."""

    path: str
    why: str
    failed: bool = False


def _folder_names(folder, prefix):
    """Labels of the folders `prefix`LABEL in a folder, and the names of those that are no labels."""
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise Unusable(f"'{shown(folder)}' cannot be read: {error.strerror}")
    names = [name for name in names if name.startswith(prefix) and os.path.isdir(os.path.join(folder, name))]
    labels = [name[len(prefix):] for name in names if LABEL.fullmatch(name[len(prefix):])]
    return labels, [name for name in names if name[len(prefix):] not in labels]


NO_LABEL = "labels of BIDS are letters and digits"


def _images(root, subject, sessions, left_out):
    """Paths of a subject's diffusion images. Other files in their folder are added to left_out."""
    folder = os.path.join(root, f"sub-{subject}")
    below = [""] if not sessions else []
    if os.path.isdir(folder):
        labels, odd = _folder_names(folder, "ses-")
        below += [f"ses-{label}" for label in labels if not sessions or label in sessions]
        left_out += [LeftOut(f"sub-{subject}/{name}", NO_LABEL) for name in odd if not sessions]
    for session in below:
        where = os.path.join(folder, session, "dwi")
        start = "/".join(word for word in (f"sub-{subject}", session, "dwi") if word)
        for name in sorted(os.listdir(where)) if os.path.isdir(where) else []:
            parsed = parse(name)
            if not parsed:
                if name.endswith(IMAGES):
                    left_out.append(LeftOut(f"{start}/{name}", f"no name of BIDS: {NO_LABEL}"))
                continue
            entities, suffix, extension = parsed
            if suffix != "dwi" or extension not in IMAGES or entities.get("part") in OTHER_PARTS:
                continue
            if entities.get("sub") == subject:
                yield os.path.join(where, name)
            else:
                left_out.append(LeftOut(f"{start}/{name}", "its name is of another subject than its folder"))


def find(root, labels=None, sessions=None, listed_in=None):
    """All scans, the subjects that have none, and a list of LeftOut. labels, sessions: only these, with or without
    `sub-` and `ses-`. listed_in: the data set that lists the subjects, if the images are in another one."""
    plain = lambda names, prefix: [name[len(prefix):] if name.startswith(prefix) else name for name in names or []]
    labels, sessions = plain(labels, "sub-"), plain(sessions, "ses-")
    home = listed_in or root
    there, odd = _folder_names(home, "sub-")
    if not there and not odd:
        raise Unusable(f"'{shown(home)}' has no folder sub-...: it is not a BIDS data set")
    unknown = [label for label in labels if label not in there]
    if unknown:
        raise Unusable(f"there is no subject {', '.join(map(shown, unknown))} in '{shown(home)}'; there are "
                       f"{', '.join(there[:8])}{' ...' if len(there) > 8 else ''}")
    scans, without, left_out = [], [], [LeftOut(name, NO_LABEL) for name in odd if not labels]
    for subject in labels or there:
        try:
            found = [Scan(root, path) for path in _images(root, subject, sessions, left_out)]
        except (OSError, Unusable) as error:
            left_out.append(LeftOut(f"sub-{subject}", shown(error), True))
            continue
        if not found:
            without.append(subject)
        left_out += [LeftOut(scan.relative, scan.no_series) for scan in found if scan.no_series]
        scans += [scan for scan in found if not scan.no_series]
    named = {}
    for scan in scans:
        named.setdefault(scan.name, []).append(scan)
    for name, alike in named.items():
        for scan in alike[1:]:
            scan.problem = (f"{os.path.basename(scan.path)} and {os.path.basename(alike[0].path)} differ in desc "
                            "alone, and their results would have one name; move one of them away")
            scan.name = os.path.basename(scan.path).split(".")[0].rsplit("_", 1)[0].replace("_desc-", "_rec-desc")
    return scans, without, left_out
