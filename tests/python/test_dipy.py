"""hotfiber as a model of DIPY, with the DIPY that is installed."""
import inspect
import sys
import warnings

import nibabel
import numpy as np

try:
    import dipy
except ImportError:
    print("skipped: no DIPY (Debian: python3-dipy)")
    sys.exit(77)
warnings.simplefilter("ignore")
from dipy.core.gradients import gradient_table
from dipy.io.gradients import read_bvals_bvecs
from dipy.data import default_sphere, get_sphere
from dipy.direction import DeterministicMaximumDirectionGetter, ProbabilisticDirectionGetter
from dipy.reconst.shm import sh_to_sf
from dipy.tracking.local_tracking import LocalTracking
from dipy.tracking.stopping_criterion import BinaryStoppingCriterion
from dipy.tracking.streamline import Streamlines

import hotfiber
from cli import Scene, angle, check, end, signals
from hotfiber.dipy import HigherOrderTensorModel

print("DIPY", dipy.__version__)
try:
    from dipy.io.peaks import load_peaks, save_peaks
except ImportError:  # later
    from dipy.io.peaks import load_pam as load_peaks, save_pam as save_peaks

scene = Scene(count=64, b=3000., size=(8, 8, 4), noise=20., seed=3)
try:
    gtab = gradient_table(scene.b, bvecs=scene.gradients)
except TypeError:  # older
    gtab = gradient_table(scene.b, scene.gradients)
mask = np.ones(scene.size, bool)
mask[0] = False  # air
response = (1.7e-3, .3e-3)
fit = HigherOrderTensorModel(gtab, response=response).fit(scene.data, mask)
check(fit.directions.shape == scene.size + (3, 3), f"directions {fit.directions.shape}")
right = errors = 0
for index, here in scene.fibres.items():
    if here and fit.nfibers[index] == len(here):
        right += 1
        errors += max(angle(fit.directions[index][:len(here)], v / np.linalg.norm(v)).min() for v, _ in here) > 6
check(right > .95 * mask.sum() and errors <= 3, f"{right} of {mask.sum()} right, {errors} far off")

# NIfTI files of either handedness, read as the recipe does: scanner axes by hotfiber.load, turned into the image's.
# FSL flips x where the determinant is positive, read_bvals_bvecs does not.
def read_as_recipe(handed):
    """The angle of 95 % of the first directions to the true ones in voxels of one fibre: by hotfiber.load, by DIPY."""
    nearest = np.linalg.qr([[2., .3, .1], [-.2, 2, .4], [.1, -.3, 2]])[0]
    turn = nearest * (handed * np.sign(np.linalg.det(nearest)), 1, 1)
    affine = np.eye(4)
    affine[:3, :3] = 2 * turn
    nibabel.save(nibabel.Nifti1Image(scene.data.astype(np.float32), affine), "scan.nii.gz")
    np.savetxt("scan.bval", scene.b[None])
    np.savetxt("scan.bvec", (scene.gradients @ turn * (-handed, 1, 1)).T)
    dwi, angles = hotfiber.load("scan.nii.gz"), []
    axes = dwi.affine[:3, :3] / np.linalg.norm(dwi.affine[:3, :3], axis=0)
    for b, vectors in ((dwi.bvals, dwi.gradients @ axes), read_bvals_bvecs("scan.bval", "scan.bvec")):
        found = HigherOrderTensorModel(gradient_table(b, bvecs=vectors), response=response).fit(dwi.data, mask)
        off = [angle(found.directions[index][:1] @ axes.T, here[0][0] / np.linalg.norm(here[0][0])).min()
               for index, here in scene.fibres.items() if len(here) == 1 and found.nfibers[index]]
        angles.append(np.percentile(off, 95))
    return angles


for handed in (1, -1):
    ours, theirs = read_as_recipe(handed)
    check(ours < 6, f"determinant {handed}: {ours:.1f} degrees by hotfiber.load")
    check((theirs > 20) == (handed > 0), f"determinant {handed}: {theirs:.1f} degrees by read_bvals_bvecs")

# The tensors' form, the harmonics of DIPY's basis, and DIPY's own reading of these agree.
sphere = get_sphere(name="repulsion200")
odf = fit.odf(sphere)
check(odf.shape == scene.size + (200,), f"odf {odf.shape}")
order = "sh_order_max" if "sh_order_max" in inspect.signature(sh_to_sf).parameters else "sh_order"
read = sh_to_sf(fit.shm_coeff, sphere, basis_type=fit.sh_basis, legacy=fit.legacy, **{order: fit.sh_order})
check(np.abs(read - odf).max() < 1e-5 * np.abs(odf).max(), f"harmonics: {np.abs(read - odf).max()}")

# Signals: what went in without noise, to the fit's accuracy.
clean = np.stack([signals(here, scene.b, scene.gradients) for here in scene.fibres.values()]).reshape(scene.data.shape)
predicted = fit.predict()
error = np.abs(predicted - clean)[mask]
check(predicted.shape == clean.shape and error.mean() < 12, f"predicted signals differ by {error.mean()}")
few = gradient_table(scene.b[:9], bvecs=scene.gradients[:9])
check(np.allclose(fit.predict(few), predicted[..., :9]), "other gradients")
check(np.allclose(fit.predict(S0=1.), predicted / fit.S0[..., None], equal_nan=True), "S0 of 1")
diffusion = HigherOrderTensorModel(gtab, model="adc", order=4).fit(scene.data, mask)
check(np.abs(diffusion.predict() - clean)[mask].mean() < 25, "signals by adc")
try:
    fit.predict(gradient_table(np.r_[0., np.full(8, 700.)], bvecs=scene.gradients[:1].repeat(9, 0) +
                               np.r_[np.zeros((1, 3)), scene.gradients[2:10]]))
except ValueError as raised:
    check("b=700" in str(raised), str(raised))
else:
    check(False, "a shell that the response has not")

# PeaksAndMetrics: what it holds, a file of it, and the trackers that take it.
peaks = fit.peaks(with_odf=True)
check(np.array_equal(peaks.peak_dirs, fit.directions) and peaks.odf.shape == scene.size + (len(peaks.sphere.vertices),),
      "peaks")
present = peaks.peak_indices >= 0
check(np.array_equal(present, fit.fractions > 0), "which are there")
near = angle(peaks.sphere.vertices[peaks.peak_indices[present]], peaks.peak_dirs[present])
check(near.max() < 6, f"the nearest vertex is {near.max()} degrees off")
check((peaks.gfa[mask] > .1).all() and not peaks.gfa[~mask].any(), f"gfa {peaks.gfa[mask].min()}")
save_peaks("fit.pam5", peaks)
check(np.allclose(load_peaks("fit.pam5").peak_dirs, peaks.peak_dirs), "saved and loaded")

# Two straight bundles along x and y, which cross in the middle: streamlines run along them.
b, gradients = scene.b, scene.gradients
x, y = np.array([1., 0, 0]), np.array([0, 1., 0])
data = np.zeros((16, 16, 3, len(b)))
inside = np.zeros(data.shape[:3], bool)
inside[:, 6:10] = inside[6:10] = True
data[:, 6:10] = signals([(x, 1)], b, gradients)
data[6:10] = signals([(y, 1)], b, gradients)
data[6:10, 6:10] = signals([(x, .5), (y, .5)], b, gradients)
bundles = HigherOrderTensorModel(gtab, response=response, sigma=10.).fit(data, inside)
seeds = np.array([[1., j, 1.] for j in (7, 7.5, 8, 8.5)])
stop = BinaryStoppingCriterion(inside)
coefficients = {"sphere": default_sphere, "max_angle": 30.}
for name, getter in (("peaks", bundles.peaks()),
                     ("deterministic", DeterministicMaximumDirectionGetter.from_shcoeff(
                         bundles.shm_coeff, basis_type=bundles.sh_basis, **coefficients)),
                     ("probabilistic", ProbabilisticDirectionGetter.from_shcoeff(
                         bundles.shm_coeff, basis_type=bundles.sh_basis, **coefficients))):
    tracks = Streamlines(LocalTracking(getter, stop, seeds, np.eye(4), step_size=.5))
    spans = [np.ptp(track, axis=0) for track in tracks]
    check(len(tracks) == 4, f"{name}: {len(tracks)} streamlines")
    if name != "probabilistic":
        check(all(span[0] > 13 and span[1] < 3 for span in spans), f"{name}: {spans}")
    else:
        check(max(span[0] for span in spans) > 8, f"{name}: {spans}")
one = HigherOrderTensorModel(gtab, response=response, sigma=20.).fit(scene.data[3, 3, 2])
check(one.directions.shape == (3, 3) and one.peaks().peak_dirs.shape == (3, 3), "a single voxel")
# As DIPY's models are called: the response after the table, in DIPY's forms; options are checked before any work.
evals = np.array([1.7e-3, .3e-3, .3e-3])
for given in ((evals, 1000.), evals, [1.7e-3, .4e-3, .2e-3]):
    same = HigherOrderTensorModel(gtab, given).fit(scene.data[3:5], mask[3:5])
    wanted = HigherOrderTensorModel(gtab, response=response).fit(scene.data[3:5], mask[3:5])
    check(np.allclose(same.directions, wanted.directions, atol=1e-5) and same.nfibers.any(), f"response {given}")
for wrong, words in ((lambda: HigherOrderTensorModel(gtab, sh_order=8), ("sh_order", "order=8")),
                     (lambda: HigherOrderTensorModel(gtab, sh_order_max=6), ("sh_order_max", "order=6")),
                     (lambda: HigherOrderTensorModel(gtab, metod="signal"), ("metod", "method")),
                     (lambda: HigherOrderTensorModel((scene.b, scene.gradients)), ("gtab", "GradientTable")),
                     (lambda: HigherOrderTensorModel(gtab, (evals * 1e3, 1000.)), ("response", "mm^2/s")),
                     (lambda: HigherOrderTensorModel(gtab).fit(scene.data, npeaks=2), ("npeaks", "max_fibers=2"))):
    try:
        wrong()
    except (TypeError, ValueError) as raised:
        check(all(word in str(raised) for word in words), f"{words}: {raised}")
    else:
        check(False, f"not refused: {words}")

# With an affine fit.fibers is in scanner axes, in an oblique image of either handedness; the rest does not change.
inside = mask.copy()
inside[:, :, 1:] = False
bare = HigherOrderTensorModel(gtab, response=response).fit(scene.data, inside)
check(bare.fibers._grid.space == 0, "no affine, no space")
for handed in (1, -1):
    turn = np.linalg.qr([[2., .3, .1], [-.2, 2, .4], [.1, -.3, 2]])[0] * (handed, 1, 1)
    affine = np.eye(4)
    affine[:3, :3], affine[:3, 3] = turn * (2, 2, 3), (5, 6, 7)
    placed = HigherOrderTensorModel(gtab, response=response, affine=affine).fit(scene.data, inside)
    there = (placed.nfibers == bare.nfibers) & (bare.nfibers == 1)
    check(there.sum() > 15 and (placed.nfibers == bare.nfibers)[inside].mean() > .9, f"{there.sum()} alike")
    stay = np.abs((placed.directions[there][:, 0] * bare.directions[there][:, 0]).sum(-1))
    check(stay.min() > .9998, f"directions stay: {stay.min()}")
    world = np.abs(np.einsum("vi,vi->v", placed.fibers.directions[there][:, 0], bare.directions[there][:, 0] @ turn.T))
    check(world.min() > .9998, f"fibers are turned: {world.min()}")
    check(np.allclose(placed.fibers.affine, affine), "affine")
    for name, a, z in (("odf", placed.odf(default_sphere), bare.odf(default_sphere)),
                       ("shm_coeff", placed.shm_coeff, bare.shm_coeff), ("predict", placed.predict(), bare.predict())):
        check(np.abs(a - z).max() < .01 * np.abs(z).max(), f"{name} stays: {np.abs(a - z).max() / np.abs(z).max()}")
end()
