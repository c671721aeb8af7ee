"""Real data, or their replacements: every set reads, and NRRD and NIfTI copies are the same data."""
import json
import os

import numpy as np

import _nrrd
import _stand_in
from _dwi import check, end, hot

DATA, REAL = _stand_in.data()
SIGN = {"right-anterior-superior": (1, 1, 1), "left-posterior-superior": (-1, -1, 1)}


def info(path):
    done = hot("info", "-i", os.path.join(DATA, path), "--json")
    check(done.returncode == 0, "%s: %s" % (path, done.stderr))
    return json.loads(done.stdout)


def samples(path):
    done = hot("convert", "-i", os.path.join(DATA, path), "-o", "real.nrrd")
    check(done.returncode == 0, "%s: %s" % (path, done.stderr))
    data = _nrrd.read("real.nrrd")[2].astype("f8")
    os.remove("real.nrrd")
    return data


pairs = {"fibercup": ("fibercup/fibercup_b1500.nhdr", "fibercup/fibercup_b1500.nii.gz"),
         "msmt": ("mrtrix_msmt_roi/mrtrix_msmt_roi.nrrd", "mrtrix_msmt_roi/mrtrix_msmt_roi.nii.gz"),
         "pnl": ("pnl_wip_dti/orig/WIP_dti_ax_601.nhdr", "pnl_wip_dti/orig/WIP_dti_ax_601.nii.gz"),
         "dipy": ("dipy_small_64D/dipy_small_64D.nhdr", "dipy_small_64D/orig/small_64D.nii")}
expected = {  # sizes, b=0 volumes, {b: directions}, highest order
    "fibercup": ([64, 64, 3], 2, {1500: 64}, 8), "msmt": ([15, 15, 11], 6, {700: 16, 1200: 30, 2800: 50}, 8),
    "pnl": ([80, 80, 40], 1, {2000: 15}, 4), "dipy": ([10, 10, 10], 1, {994: 64}, 8)}
for name, (nrrd, nifti) in pairs.items():
    one, two = info(nrrd), info(nifti)
    for about in (one, two):
        size, b0, shells, order = expected[name]
        check(about["size"] == size and about["b0_volumes"] == b0 and about["highest_order"] == order,
              "%s: %s %d %d" % (name, about["size"], about["b0_volumes"], about["highest_order"]))
        found = {round(s["b"]): s["directions"] for s in about["shells"] if s["b"] > 50}
        check(found == shells, "%s: shells %s" % (name, found))
    sign = [np.array(SIGN[about["space"]]) for about in (one, two)]
    g = [np.array(about["gradients_world"]) * s for about, s in zip((one, two), sign)]
    # pnl's header was written with another rounding of the grid's axes
    check(np.abs(g[0] - g[1]).max() < (2e-3 if name == "pnl" else 1e-5),
          "%s: gradients differ by %g" % (name, np.abs(g[0] - g[1]).max()))
    m = [np.array(about["to_world"]) * s[:, None] for about, s in zip((one, two), sign)]
    check(np.abs(m[0] - m[1]).max() < 1e-3, "%s: places differ by %g" % (name, np.abs(m[0] - m[1]).max()))
    check(np.allclose(one["b_values"], two["b_values"], rtol=1e-4), "%s: b-values" % name)
    a, b = samples(nrrd), samples(nifti)
    if name == "pnl" and REAL:  # its NRRD header drops the NIfTI's scale
        b /= np.float64(two["range"][1] / one["range"][1])
    check(np.allclose(a, b, rtol=1e-5), "%s: samples differ by %g" % (name, np.abs(a - b).max()))

helix = info("slicer_native_nrrd/orig/helix-DWI.nhdr")
check(helix["size"] == [64, 32, 16] and helix["volumes"] == 7 and helix["highest_order"] == 2,
      "helix: %s" % helix["size"])
check(not np.allclose(helix["measurement_frame"], np.eye(3)), "helix: its frame is read")
# The tensor of one voxel, fitted here: FA and main direction are known for it.
data = samples("slicer_native_nrrd/orig/helix-DWI.nhdr")[37, 8, 14]
g = np.array(helix["gradients_world"])[1:]
design = np.stack([g[:, 0] ** 2, g[:, 1] ** 2, g[:, 2] ** 2, 2 * g[:, 0] * g[:, 1], 2 * g[:, 0] * g[:, 2],
                   2 * g[:, 1] * g[:, 2]], 1)
d = np.linalg.solve(design, -np.log(data[1:] / data[0]) / 1000)
values, vectors = np.linalg.eigh([[d[0], d[3], d[4]], [d[3], d[1], d[5]], [d[4], d[5], d[2]]])
fa = np.sqrt(1.5 * ((values - values.mean()) ** 2).sum() / (values ** 2).sum())
check(abs(fa - .574215) < 1e-3, "helix: FA %g" % fa)
check(abs(abs(vectors[:, 2] @ [.796954, .272381, .539142]) - 1) < 1e-3, "helix: main direction %s" % vectors[:, 2])
two_shells = info("slicer_native_nrrd/orig/3x3x3_13_b1000_b3000.nrrd")
check([round(s["b"]) for s in two_shells["shells"]] == [0, 1000, 3000], "shells in the gradients' length")

# The built-in mask: the phantom's labelled voxels, about a fifth of a head's volume, nearly all of a crop of brain.
check(1900 < info(pairs["fibercup"][0])["mask_voxels"] < 4000, "fibercup's mask")
check(40000 < info(pairs["pnl"][0])["mask_voxels"] < 60000, "a head's mask")
check(info(pairs["msmt"][0])["mask_voxels"] > 2400 and info(pairs["dipy"][0])["mask_voxels"] > 950, "masks of crops")
end()
