"""On real data, too, arrays give what the command writes, bit by bit: of one shell and several, NRRD and NIfTI.
HOT_TEST_LONG=1: two more of one shell."""

import nibabel

from cli import *
import hotfiber  # after cli, whose function of this name runs the command

SETS = ["mrtrix_msmt_roi/mrtrix_msmt_roi.nrrd", "dipy_small_64D/dipy_small_64D.nhdr", "human_2shell/dwi.nii.gz"]
if os.environ.get("HOT_TEST_LONG"):
    SETS += ["fibercup/fibercup_b1500.nhdr", "pnl_wip_dti/orig/WIP_dti_ax_601.nhdr"]
import _stand_in
DATA, _ = _stand_in.data()
for path in SETS:
    name, path = path.split("/")[0], os.path.join(DATA, path)
    works("run", "-i", path, "-o", name, "--outputs", "peaks,nfibers,mask,tensors", "--quiet", timeout=600)
    result = hotfiber.fibers(hotfiber.load(path))
    for file, array in (("peaks", result.peaks), ("nfibers", result.nfibers), ("mask", result.mask)):
        wanted = np.asanyarray(nibabel.load(f"{name}/{file}.nii.gz").dataobj)
        check(wanted.shape == array.shape and np.array_equal(wanted, array), f"{name}: {file}")
    check(np.array_equal(hotfiber.load(f"{name}/tensors.nrrd").values, result.tensors.values), f"{name}: tensors")
    check(np.count_nonzero(result.nfibers) > 100, f"{name}: {result}")
end()
