"""The matrix of exports: every file we write, read by somebody else's reader, gives the same world directions within
.01 degree: for an oblique LPS file, a RAS file, permuted and flipped axes, LAS, and measurement frames that are not the
identity. A reader that is not installed is named and left out; HOT_ALL_READERS=1 makes that a failure."""
import os
import shutil

import nibabel
import numpy as np

from _export import GEOMETRIES, HOTFIBER, check_vectors, export, make, make_tensors, run
from counted import check, end
from _readers import READERS, VOXELS

formats = run(HOTFIBER, "export", "--list")
absent = {name for name, (_, needs, _) in READERS.items()
          if any(shutil.which(n) is None if isinstance(n, str) else n is None for n in needs)}
if "pam5 " not in formats:  # built without HDF5
    absent.add("pam5, DIPY")
if absent:
    print("not installed, left out:", *sorted(absent))
    check(os.environ.get("HOT_ALL_READERS") != "1", "all readers are there")


class Case:
    """One geometry, as the readers' functions need it."""

    def __init__(self, name):
        self.check, self.name, self.space = check, name, GEOMETRIES[name][0]
        self.source, self.tensors = os.path.abspath("directions.nrrd"), os.path.abspath("tensors.nrrd")
        self.affine, self.truth = make(name, self.source)
        make_tensors(name, self.tensors, self.truth)
        self.count = sum(map(len, self.truth.values()))
        longest = max(np.linalg.norm(v) for vectors in self.truth.values() for v in vectors)
        self.scale = np.linalg.norm(GEOMETRIES[name][1], axis=0).min() / longest  # mm per amplitude of drawn segments

    def read(self, reader):
        """Runs a reader in a folder of its own and compares all voxels."""
        function, _, first_only = READERS[reader]
        self.what = f"{self.name}, {reader}"
        folder = self.what.replace(" ", "_")
        os.mkdir(folder)
        os.chdir(folder)
        found = function(self)
        os.chdir("..")
        check(set(found) == set(VOXELS), f"{self.what}: {len(found)} of {len(VOXELS)} voxels")
        for voxel, vectors in found.items():
            wanted = self.truth[voxel][:1] if first_only else self.truth[voxel]
            check_vectors(vectors, wanted, f"{self.what} {voxel}", amplitude=1e-4)


def maps(case):
    """Other outputs than directions: counts and colours by nibabel, MRtrix and Teem, and the pictures."""
    export(case.source, "nfibers.nii.gz")
    counts = nibabel.load("nfibers.nii.gz")
    check(counts.get_data_dtype() == np.uint8 and counts.shape == (5, 4, 3), f"{case.name}: nfibers")
    check(all(counts.dataobj[v] == len(case.truth[v]) for v in VOXELS), f"{case.name}: counts")
    export(case.source, "nfibers.nrrd")
    check("type: unsigned char" in run("teem-unu", "head", "nfibers.nrrd"), f"{case.name}: nfibers.nrrd")
    export(case.source, "dec.nii.gz")
    dec = nibabel.load("dec.nii.gz").get_fdata()
    for v in VOXELS:
        want = np.abs(np.array(case.truth[v])).sum(axis=0) if case.truth[v] else np.zeros(3)
        check(np.abs(dec[v] - want).max() <= 1e-5, f"{case.name}: dec {v}")
    mean = float(run("mrstats", "-quiet", "-output", "mean", "-allvolumes", "dec.nii.gz"))
    check(abs(mean - dec.mean()) < 1e-4, f"{case.name}: mrstats says {mean}")
    for picture in ("fibers.png", "dec.png"):
        export(case.source, picture)
        with open(picture, "rb") as f:
            check(f.read(8) == b"\x89PNG\r\n\x1a\n", f"{case.name}: {picture}")


for name in GEOMETRIES:
    case = Case(name)
    for reader in READERS:
        if reader not in absent:
            case.read(reader)
    if shutil.which("mrstats") and shutil.which("teem-unu"):
        maps(case)
print(f"{len(READERS) - len(absent)} readers, {len(GEOMETRIES)} geometries")
end()
