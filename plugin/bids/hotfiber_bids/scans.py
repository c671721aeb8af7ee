"""The diffusion scans of a BIDS data set, raw or preprocessed (QSIPrep): names, inheritance, gradients, masks."""
import functools
import json
import os

IMAGES = (".nii.gz", ".nii")
# Not diffusion signals: parts of complex data.
OTHER_PARTS = ("phase", "real", "imag")


class Unusable(Exception):
    """A data set, or a scan of it, that cannot be used; the message is one line."""


def parse(name):
    """`sub-01_ses-2_dwi.nii.gz` as ({"sub": "01", "ses": "2"}, "dwi", ".nii.gz"); None where it is no such name."""
    stem, dot, extension = name.partition(".")
    *pairs, suffix = stem.split("_")
    entities = {}
    for pair in pairs:
        key, dash, value = pair.partition("-")
        if not dash or not key or not value or key in entities:
            return None
        entities[key] = value
    return (entities, suffix, dot + extension) if suffix and dot and "-" not in suffix else None


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
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    merged.update(json.load(file))
            except (OSError, ValueError, TypeError) as error:
                remarks.append(f"{name} cannot be read: {error}")
    return merged, remarks


class Scan:
    """One diffusion image with what belongs to it. `problem` says in one line why it cannot be used, or is None."""

    def __init__(self, root, path):
        name = os.path.basename(path)
        self.root, self.path, self.problem, self.remarks = root, path, None, []
        self.entities, _, self.extension = parse(name)
        self.subject, self.session = self.entities["sub"], self.entities.get("ses")
        # BIDS: a derivative is named after its source, but what `desc` said of that is no longer true.
        kept = {key: value for key, value in self.entities.items() if key != "desc"}
        self.name = "_".join(f"{key}-{value}" for key, value in kept.items())
        self.bval = self.bvec = self.grad = self.mask = None
        self.metadata = {}
        try:
            self._complete(name)
        except Unusable as error:
            self.problem = str(error)

    def _complete(self, name):
        if not os.path.exists(self.path):
            raise Unusable(f"{name} is a link to data that are not here; `datalad get` or `git annex get` fetches them")
        find = functools.partial(inherited, self.root, self.path, self.entities)
        self.metadata, self.remarks = inherited_metadata(self.root, self.path, self.entities, "dwi")
        self.bval, self.bvec, self.grad = find("dwi", ".bval"), find("dwi", ".bvec"), find("dwi", ".b")
        if self.bval and self.bvec:
            self.grad = None
        elif self.grad:
            self.bval = self.bvec = None
        else:
            lacks = " and ".join(what for what, there in ((".bval", self.bval), (".bvec", self.bvec)) if not there)
            raise Unusable(f"{name} has no {lacks} (and no .b): neither beside it nor in a folder above it is a file "
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

    @property
    def relative(self):
        """The image's path in its data set."""
        return os.path.relpath(self.path, self.root).replace(os.sep, "/")

    def folder(self, out):
        """Where the scan's derivatives go."""
        return os.path.join(out, f"sub-{self.subject}", *([f"ses-{self.session}"] if self.session else []), "dwi")

    def figures(self, out):
        return os.path.join(out, f"sub-{self.subject}", "figures")

    def files(self):
        """What is read of it and is there."""
        paths = (self.path, self.bval, self.bvec, self.grad, self.mask)
        return [path for path in paths if path and os.path.exists(path)]

    def stamp(self):
        """Sizes and times of what is read, to see whether it changed."""
        about = []
        for path in self.files():
            stat = os.stat(path)
            about.append([os.path.basename(path), stat.st_size, stat.st_mtime_ns])
        return about


def subjects(root):
    """Labels of the subjects that have a folder."""
    try:
        names = sorted(os.listdir(root))
    except OSError as error:
        raise Unusable(f"'{root}' cannot be read: {error.strerror}")
    return [name[4:] for name in names if name.startswith("sub-") and os.path.isdir(os.path.join(root, name))]


def _images(root, subject, sessions):
    folder = os.path.join(root, f"sub-{subject}")
    below = [""] if not sessions else []
    if os.path.isdir(folder):
        below += [name for name in sorted(os.listdir(folder))
                  if name.startswith("ses-") and (not sessions or name[4:] in sessions)]
    for session in below:
        for name, entities, suffix, extension in _listing(os.path.join(folder, session, "dwi")):
            if (suffix == "dwi" and extension in IMAGES and entities.get("sub") == subject and
                    entities.get("part") not in OTHER_PARTS):
                yield os.path.join(folder, session, "dwi", name)


def find(root, labels=None, sessions=None, listed_in=None):
    """All scans, and the subjects that have none. labels, sessions: only these, without or with `sub-` and `ses-`.
    listed_in: the data set whose subjects are meant, where the images are in another one."""
    plain = lambda names, prefix: [name[len(prefix):] if name.startswith(prefix) else name for name in names or []]
    labels, sessions = plain(labels, "sub-"), plain(sessions, "ses-")
    there = subjects(listed_in or root)
    if not there:
        raise Unusable(f"'{listed_in or root}' has no folder sub-...: it is not a BIDS data set")
    unknown = [label for label in labels if label not in there]
    if unknown:
        raise Unusable(f"there is no subject {', '.join(unknown)} in '{listed_in or root}'; there are "
                       f"{', '.join(there[:8])}{' ...' if len(there) > 8 else ''}")
    scans, without = [], []
    for subject in labels or there:
        images = list(_images(root, subject, sessions))
        scans += [Scan(root, path) for path in images]
        if not images:
            without.append(subject)
    named = {}
    for scan in scans:
        named.setdefault(scan.name, []).append(scan)
    for name, alike in named.items():
        for scan in alike[1:]:
            scan.problem = (f"{os.path.basename(scan.path)} and {os.path.basename(alike[0].path)} differ in desc "
                            "alone, and their results would have one name; move one of them away")
            scan.name = os.path.basename(scan.path).split(".")[0].rsplit("_", 1)[0].replace("_desc-", "_rec-desc")
    return scans, without
