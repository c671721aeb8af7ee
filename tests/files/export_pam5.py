"""DIPY's peaks file, all of its fields, with h5py, in every geometry. export_readers.py reads it with DIPY."""
import os
import re
import subprocess

import numpy as np

from _export import GEOMETRIES, HOTFIBER, angle, check_vectors, export, make
from counted import check, end

try:
    import h5py
except ImportError:
    print("skipped: python3-h5py is not installed")
    raise SystemExit(77)
if "pam5" not in subprocess.run([HOTFIBER, "export", "--list"], capture_output=True, text=True).stdout:
    print("skipped: built without HDF5")
    raise SystemExit(77)

for name in GEOMETRIES:
    affine, truth = make(name, name + ".nrrd")
    export(name + ".nrrd", name + ".pam5")
    with h5py.File(name + ".pam5", "r") as f:
        check(f.attrs["version"] == "0.0.1", f"{name}: version {f.attrs['version']!r}")
        pam = {key: f["pam"][key][:] for key in f["pam"]}
    check(np.allclose(pam["affine"], affine), f"{name}: affine")
    check(pam["peak_dirs"].shape == (5, 4, 3, 2, 3) and pam["peak_values"].shape == (5, 4, 3, 2), f"{name}: shapes")
    axes = affine[:3, :3] / np.linalg.norm(affine[:3, :3], axis=0)  # image axes in the world
    sphere = pam["sphere_vertices"]
    check(np.abs(np.linalg.norm(sphere, axis=1) - 1).max() < 1e-12 and len(sphere) == 2562, f"{name}: sphere")
    for v in truth:
        count = len(truth[v])
        dirs, values, indices = pam["peak_dirs"][v], pam["peak_values"][v], pam["peak_indices"][v]
        check_vectors([axes @ d * a for d, a in zip(dirs, values) if a > 0], truth[v], f"{name} {v}")
        check((indices[count:] == -1).all() and (values[count:] == 0).all(), f"{name} {v}: absent ones")
        for d, i in zip(dirs[:count], indices):
            check(angle(sphere[i], d) < 2.5 and sphere[i] @ d > 0,
                  f"{name} {v}: vertex {i} is {angle(sphere[i], d)} off")
        check(pam["gfa"][v] == values[0] and (pam["qa"][v] == values).all(), f"{name} {v}: qa")

# ---- Without HDF5 (another library has its name): the message names the package, nothing is written
libraries = os.path.join(os.environ["HOT_BUILD"], "lib")
with open(os.path.join(libraries, "libhotfiber.so"), "rb") as f:
    soname = re.search(rb"libhdf5\w*\.so[.0-9]*(?=\0)", f.read()).group().decode()
os.mkdir("instead")
os.symlink(os.path.join(libraries, "libhotkernels.so"), os.path.join("instead", soname))
done = subprocess.run([HOTFIBER, "export", "-i", "ras.nrrd", "-o", "without.pam5"], capture_output=True, text=True,
                      env={**os.environ, "LD_LIBRARY_PATH": "instead"})
package = re.search(r"install HDF5( \(Debian's package (libhdf5-[^ ]+)\))?$", done.stderr)
check(done.returncode == 1 and done.stderr.count("\n") == 1 and soname in done.stderr and package,
      f"without HDF5: {done.returncode} {done.stderr!r}")
check(not os.path.exists("without.pam5"), "without HDF5 there is a file")
if package and package.group(2):
    holds = subprocess.run(["dpkg-query", "-L", package.group(2)], capture_output=True, text=True).stdout
    check(soname + "\n" in holds, f"{package.group(2)} does not hold {soname}")

# ---- What DIPY makes of it: the harmonics have their maxima at the fibres, and its getter of directions takes them
try:
    from dipy.core.sphere import Sphere
    from dipy.direction import ProbabilisticDirectionGetter
    from dipy.io.peaks import load_peaks
    from dipy.reconst.shm import sh_to_sf
except ImportError:
    print("python3-dipy is not installed: its getter is not tried")
else:
    name = "lps_oblique"
    pam = load_peaks(name + ".pam5")
    check(pam.shm_coeff.shape == (5, 4, 3, 91) and pam.B.shape == (91, 2562), "sizes of shm_coeff and B")
    check(np.allclose(pam.shm_coeff[4, 1, 0] @ pam.B, sh_to_sf(pam.shm_coeff[4, 1, 0], pam.sphere, sh_order=12,
                                                             basis_type="descoteaux07", legacy=True), atol=1e-5), "B")
    getter = ProbabilisticDirectionGetter.from_shcoeff(pam.shm_coeff, max_angle=30, sphere=pam.sphere,
                                                       basis_type="descoteaux07")
    tried = 0
    for v in np.ndindex(5, 4, 3):
        fibers = [d for d, a in zip(pam.peak_dirs[v], pam.peak_values[v]) if a > 0]
        if len(fibers) < 1 or (len(fibers) > 1 and angle(*fibers) < 35):
            continue
        tried += 1
        values = sh_to_sf(pam.shm_coeff[v], Sphere(xyz=np.array(fibers)), sh_order=12, basis_type="descoteaux07",
                          legacy=True)
        check(np.allclose(values, pam.peak_values[v][:len(fibers)], rtol=1e-3), f"{v}: heights {values}")
        found = getter.initial_direction(np.array(v, float))
        check(len(found) >= len(fibers) and all(min(angle(f, d) for d in found) < 4 for f in fibers),
              f"{v}: DIPY starts along {found}, not {fibers}")
    check(tried > 20, f"{tried} voxels tried")
end()
