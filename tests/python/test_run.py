"""The whole job on arrays gives what the command writes, bit by bit; and the other ways to give the same data."""
import pickle
import warnings

import nibabel

from cli import *
import hotfiber  # after cli, whose function of this name runs the command

SAMPLE = os.path.join(os.environ["HOT_SOURCE"], "sample_data", "phantom.nhdr")


def equal(a, b, what):
    a, b = np.asanyarray(a), np.asanyarray(b)
    check(a.shape == b.shape and a.dtype == b.dtype and np.ascontiguousarray(a).tobytes() ==
          np.ascontiguousarray(b).tobytes(), f"{what}: {a.shape} {a.dtype}, {b.shape} {b.dtype}, "
          f"{np.abs(a.astype(float) - b).max() if a.shape == b.shape else ''}")


def image(path):
    return np.asanyarray(nibabel.load(path).dataobj)


def compare(folder, result, what):
    """A run's files and a result."""
    equal(image(f"{folder}/peaks.nii.gz"), result.peaks, f"{what}: directions")
    equal(image(f"{folder}/nfibers.nii.gz"), result.nfibers, f"{what}: numbers of fibres")
    equal(image(f"{folder}/mask.nii.gz").astype(bool), result.mask, f"{what}: mask")
    check(np.allclose(nibabel.load(f"{folder}/peaks.nii.gz").affine, result.affine, atol=1e-4), f"{what}: affine")
    tensors = hotfiber.load(f"{folder}/tensors.nrrd")
    equal(tensors.values, result.tensors.values, f"{what}: tensors")
    equal(tensors.confidence, result.tensors.confidence, f"{what}: confidence")


# A small part of the sample data, in an LPS frame, and the same as NIfTI with FSL's tables.
for name, arguments, options in (
        ("signal", (), {}),
        ("maxima", ("--method", "maxima", "--order", 4), {"method": "maxima", "order": 4}),
        ("sshopm", ("--method", "sshopm", "--starts", 32, "--shift", "none"),
         {"method": "sshopm", "starts": 32, "shift": "none"}),
        ("lowrank", ("--method", "lowrank", "--max_fibers", 2), {"method": "lowrank", "max_fibers": 2}),
        ("adc", ("--model", "adc", "--positive"), {"model": "adc", "positive": True}),
        ("odf", ("--model", "odf", "--regularise", .01), {"model": "odf", "regularise": .01})):
    if name == "signal":
        works("phantom", "--layout", "bundles", "--size", "12,10,4", "--oblique", "--snr", 30, "-o", "dwi.nrrd",
              "--seed", 5, "--quiet")
        works("convert", "-i", "dwi.nrrd", "-o", "dwi.nii.gz", "--quiet")
    works("run", "-i", "dwi.nrrd", "-o", f"of_nrrd_{name}", "--outputs", "default,tensors", "--quiet", *arguments)
    compare(f"of_nrrd_{name}", hotfiber.fibers(hotfiber.load("dwi.nrrd"), **options), f"NRRD, {name}")
works("run", "-i", "dwi.nii.gz", "-o", "of_nifti", "--outputs", "default,tensors,probability", "--quiet")
loaded = hotfiber.load("dwi.nii.gz")
result = hotfiber.fibers(loaded)
compare("of_nifti", result, "NIfTI")
equal(image("of_nifti/probability.nii.gz"), result.probability, "probabilities")
works("run", "-i", SAMPLE, "-o", "sample", "--outputs", "default,tensors", "--method", "maxima", "--quiet")
compare("sample", hotfiber.fibers(hotfiber.load(SAMPLE), method="maxima"), "sample data")

# The same from arrays: nibabel's, in any type and order, with FSL's tables or lines x y z b.
of_path = hotfiber.fibers("dwi.nii.gz")
equal(of_path.peaks, result.peaks, "the path of an image, whose tables are found beside it")
equal(hotfiber.fibers("dwi.nii.gz", ("dwi.bval", "dwi.bvec")).peaks, result.peaks, "with the paths of the tables")
for data, swapped in (("dwi.nii.gz", ("dwi.bvec", "dwi.bval")),
                      (nibabel.load("dwi.nii.gz"), (np.loadtxt("dwi.bvec"), np.loadtxt("dwi.bval")))):
    try:
        hotfiber.fibers(data, swapped)
        check(False, f"swapped tables were taken: {swapped}")
    except (hotfiber.Error, ValueError) as error:
        check("bval" in str(error) and "bvec" in str(error), f"swapped tables: {error}")
nifti = nibabel.load("dwi.nii.gz")
tables = np.loadtxt("dwi.bval"), np.loadtxt("dwi.bvec")
samples = nifti.get_fdata()
compare("of_nifti", hotfiber.fibers(nifti, tables), "nibabel's image")
compare("of_nifti", hotfiber.fibers(samples, tables, nifti.affine), "array")
compare("of_nifti", hotfiber.fibers(nifti, ("dwi.bval", "dwi.bvec")), "paths of the tables")
for what, array in (("C order", np.ascontiguousarray(samples)), ("float32", samples.astype(np.float32)),
                    ("big-endian", samples.astype(">f8")),
                    ("reversed twice", np.ascontiguousarray(samples[:, ::-1])[:, ::-1])):
    equal(hotfiber.fibers(array, tables, nifti.affine).peaks, result.peaks, what)
table = np.column_stack([loaded.gradients, loaded.bvals])
near = hotfiber.fibers(samples, table, nifti.affine)
check((near.nfibers == result.nfibers).mean() > .99 and np.median(np.abs(near.peaks - result.peaks)) < 1e-5,
      "lines x y z b")
# The library takes data where they are: it must not have written there.
check(np.array_equal(samples, nifti.get_fdata()), "the data are unchanged")
hidden = np.ma.masked_array(samples, np.zeros(samples.shape, bool))
place = tuple(np.argwhere(result.mask)[50])
hidden[place + (3,)] = np.ma.masked
there = hotfiber.fibers(hidden, tables, nifti.affine, result.mask, response=result.response, sigma=result.sigma)
check(there.flags[place] == 1 and np.count_nonzero(there.flags != result.flags) == 1,
      "a voxel with a masked value is not used")
# A volume that was lost is left out, as if it were not there.
lost = samples.copy()
lost[..., 20] = 0
rest = np.delete(np.arange(samples.shape[3]), 20)
for call, what in ((hotfiber.fit, "values"), (lambda *given: hotfiber.fibers(*given, method="maxima"), "peaks")):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = call(lost, tables, nifti.affine)
    equal(getattr(found, what), getattr(call(samples[..., rest], (tables[0][rest], tables[1][:, rest]), nifti.affine),
                                        what), f"without a volume of zeros: {what}")
    check(any("volume 20 (counted from 0) of 'the data set' has no signal" in str(w.message) for w in said),
          f"a volume of zeros is named: {[str(w.message) for w in said]}")
samples.flags.writeable = False
equal(hotfiber.fibers(samples, tables, nifti.affine, result.mask).peaks, result.peaks, "read-only, with the mask")

# Results can go to another process.
again = pickle.loads(pickle.dumps(result))
equal(again.peaks, result.peaks, "pickled")
equal(hotfiber.peaks(again.tensors, method="lowrank").peaks, hotfiber.peaks(result.tensors, method="lowrank").peaks,
      "tensors, pickled")

# How sure learned fits are, and samples of the posterior: as the files have them, those of FSL's in bvec's axes.
works("run", "-i", "dwi.nrrd", "-o", "learned", "--samples", 20, "--outputs",
      "peaks,nfibers,mask,cone,cone_axes,fraction_sd,isotropic,free_water,noise_sd,samples", "--quiet")
learned = hotfiber.fibers(hotfiber.load("dwi.nrrd"), cones=True, samples=20, seed=1)
for name in ("peaks", "nfibers", "cone", "fraction_sd", "isotropic", "free_water", "noise_sd"):
    equal(image(f"learned/{name}.nii.gz"), getattr(learned, name), f"learned: {name}")
check(learned.cone_axes.shape == learned.cone.shape + (2, 3), f"semi-axes: {learned.cone_axes.shape}")
equal(image("learned/cone_axes.nii.gz"), learned.cone_axes.reshape(learned.mask.shape + (-1,)), "semi-axes")
across = np.einsum("...ax,...x->...a", learned.cone_axes, learned.directions)
check(np.abs(across).max() < 1e-3 and learned.cone[learned.fractions > 0].min() > 0, "are across the fibres")
inside = learned.mask
drawn = np.linalg.norm(learned.samples, axis=-1)
check(learned.samples.shape == (inside.sum(), 20, 3, 3), f"samples {learned.samples.shape}")
for fiber in range(3):
    given = image(f"learned/bedpostx/merged_f{fiber + 1}samples.nii.gz")[inside]
    check(np.abs(given - drawn[:, :, fiber]).max() < 6e-4 and (given.any() or fiber == 2), # of which there are none
          f"fractions of fibre {fiber + 1}")
one = inside & (learned.nfibers == 1)
first = learned.samples[one[inside], :, 0] / np.maximum(drawn[one[inside], :, :1], 1e-9)
cosines = np.abs(np.einsum("vsx,vx->vs", first, learned.directions[one][:, 0]))[drawn[one[inside]][:, :, 0] > .1]
check(np.degrees(np.arccos(np.minimum(np.median(cosines), 1))) < 5, f"samples lie about the directions: {cosines}")
for case in ({"samples": 1001}, {"samples": -1}, {"method": "maxima", "samples": 5}):
    try:
        hotfiber.fibers(loaded, **case)
    except hotfiber.ArgumentError as error:
        check("\n" not in str(error), str(error))
    else:
        check(False, f"{case} is refused")

# How certain fibres are: as the files have it, from a run's folder, and for another program without the doubtful ones.
works("run", "-i", "dwi.nrrd", "-o", "sure", "--outputs", "default,probability,cone", "--quiet")
run = hotfiber.load("sure")
for name in ("certainty", "probability", "cone"):
    equal(image(f"sure/{name}.nii.gz"), getattr(learned, name), f"learned: {name}")
    equal(getattr(run, name), getattr(learned, name), f"a run's folder: {name}")
check(hotfiber.fibers(hotfiber.load("dwi.nrrd"), seed=1).cone is None, "cones without cones=True")
equal(hotfiber.fibers(hotfiber.load("dwi.nrrd"), seed=1).certainty, learned.certainty, "certainty without cones=True")
hotfiber.export(learned, "faded.nii.gz", "dec")
check(np.abs(image("faded.nii.gz") - image("sure/dec.nii.gz")).max() < 1e-6, "colours are faded")
for number, cuts in enumerate(({"min_probability": .9999}, {"max_cone": 4}, {"min_probability": .999, "max_cone": 5})):
    words = [word for name, value in cuts.items() for word in (f"--{name}", value)]
    works("export", "sure", "-o", f"by_command{number}.nii.gz", "--format", "peaks", "--quiet", *words)
    wanted = image(f"by_command{number}.nii.gz")
    check(0 < np.count_nonzero(wanted) < np.count_nonzero(learned.peaks), f"{cuts} leave out some")
    for given, what in ((learned, "fibers"), (run, "load")):
        hotfiber.export(given, "by_python.nii.gz", "peaks", force=True, **cuts)
        equal(image("by_python.nii.gz"), wanted, f"{what}: {cuts}")
for given, cuts, kind in ((learned, {"max_cone": 91}, ValueError), (learned, {"min_probability": -1}, ValueError),
                          (hotfiber.load("sure/peaks.nrrd"), {"max_cone": 9}, ValueError),
                          (learned.tensors, {"max_cone": 9}, TypeError)):
    try:
        hotfiber.export(given, "no.nii.gz", **cuts)
    except kind as error:
        check(next(iter(cuts)) in str(error) and "\n" not in str(error) and not os.path.exists("no.nii.gz"), str(error))
    else:
        check(False, f"{cuts} are refused")

# Options that take arrays and objects.
again = hotfiber.fibers(loaded, mask=result.mask, response=result.response, sigma=result.sigma)
equal(again.nfibers, result.nfibers, "mask, response and noise of an earlier run")
noise = np.full(loaded.shape[:3], result.sigma)
equal(hotfiber.fibers(loaded, sigma=noise).peaks.shape, result.peaks.shape, "a map of the noise")
works("fit", "-i", "dwi.nrrd", "-o", "fit.nrrd", "--quiet")
fitted = hotfiber.fit(hotfiber.load("dwi.nrrd"))
equal(hotfiber.load("fit.nrrd").values, fitted.values, "fit")
works("peaks", "-i", "fit.nrrd", "-o", "peaks.nrrd", "--quiet")
equal(hotfiber.load("peaks.nrrd").peaks, hotfiber.peaks(fitted).peaks, "peaks")
equal(hotfiber.load("peaks.nrrd").peaks, hotfiber.peaks(hotfiber.load("fit.nrrd")).peaks, "peaks of a file")
works("denoise", "-i", "dwi.nii.gz", "-o", "denoised.nii.gz", "--noise", "noise.nii.gz", "--quiet")
denoised = hotfiber.denoise(loaded.data)
check(np.abs(image("denoised.nii.gz") - denoised.data).max() < 1e-3, "denoise")
works("run", "-i", "dwi.nii.gz", "-o", "of_denoised", "--denoise", "--outputs", "default,tensors", "--quiet")
compare("of_denoised", hotfiber.fibers(loaded, denoise=True), "denoised first")

# Batches: the voxels' axes of the data are those of the results.
few = loaded.data[4:7, 6, 2]
for data in (few, few[0], loaded.data[4:7, 6:8, 2], loaded.data[None, 4:7, 6:8, 2:4, :][:, :, :, :, :]):
    some = hotfiber.fibers(data, (loaded.bvals, loaded.gradients), mask=np.ones(data.shape[:-1]),
                           response=result.response, sigma=result.sigma)
    check(some.peaks.shape == data.shape[:-1] + (9,) and some.nfibers.shape == data.shape[:-1], "shape of a batch")
    check(some.directions.shape == data.shape[:-1] + (3, 3) and some.fractions.shape == data.shape[:-1] + (3,),
          "directions and fractions")
    check(some.tensors.values.shape == data.shape[:-1] + (28,), "tensors of a batch")
    lengths = np.linalg.norm(some.directions, axis=-1)
    check(np.allclose(lengths[some.fractions > 0], 1) and not lengths[some.fractions == 0].any(), "unit vectors")
equal(hotfiber.fibers(few[0], (loaded.bvals, loaded.gradients), mask=np.ones(()), response=result.response,
                      sigma=result.sigma).peaks,
      hotfiber.fibers(few, (loaded.bvals, loaded.gradients), mask=np.ones(3), response=result.response,
                      sigma=result.sigma).peaks[0], "a voxel alone and in a batch")

none = hotfiber.peaks(np.zeros((0, 3, 15)))
check(none.directions.shape == (0, 3, 3, 3) and none.nfibers.shape == (0, 3) and none._repr_png_() is None, "no voxels")
check("one voxel" in repr(hotfiber.peaks(np.eye(15)[0])), "a voxel alone")

# Files: written for others and read again.
hotfiber.export(result, "out.nii.gz", "peaks")
check(np.array_equal(image("out.nii.gz"), result.peaks), "export of directions")
hotfiber.export(result, "peaks.mif")
check(np.allclose(hotfiber.load("peaks.mif").peaks, result.peaks), "export and load, MIF")
hotfiber.export(result.tensors, "tensors.nii.gz")
check(np.allclose(hotfiber.load("tensors.nii.gz").values, result.tensors.values), "export and load of tensors")
hotfiber.export(result.tensors, "fod.mif", "sh")
harmonics = hotfiber.load("fod.mif", kind="sh")
check(harmonics.model == "sh" and np.abs(harmonics.values - result.tensors.values).max() < 1e-5, "harmonics and back")
check(not np.allclose(hotfiber.load("fod.mif", kind="sh", basis="descoteaux07", frame="scanner").values,
                      harmonics.values), "of another basis")
hotfiber.export(hotfiber.fibers(hotfiber.load("dwi.nrrd")), "lps.nrrd", "peaks")
equal(hotfiber.load("lps.nrrd").peaks, hotfiber.load("of_nrrd_signal/peaks.nrrd").peaks, "LPS out and in")
hotfiber.export(result, "fixels")
check(os.path.exists("fixels/index.mif"), "export to a folder")
check(hotfiber.load("of_nifti/nfibers.nii.gz").data.shape == result.nfibers.shape, "load of an image")
check(isinstance(hotfiber.load("of_nifti/response.txt"), hotfiber.Response), "load of a response")
check(isinstance(hotfiber.load("of_nifti"), hotfiber.Fibers), "load of a run")
for kind, call in ((FileExistsError, lambda: hotfiber.export(result, "out.nii.gz", "peaks")),
                   (ValueError, lambda: hotfiber.export(result, "out.xyz")),
                   (ValueError, lambda: hotfiber.export(result, "out.ply")),
                   (FileNotFoundError, lambda: hotfiber.load("nothing.nrrd")),
                   (OSError, lambda: hotfiber.load("nothing.nrrd", kind="dwi")),
                   (ValueError, lambda: hotfiber.load("fod.mif", kind="sh", basis="mine")),
                   (ValueError, lambda: hotfiber.load("fod.mif", kind="fod")),
                   (TypeError, lambda: hotfiber.load("fod.mif", basis="tournier07")),
                   (ValueError, lambda: hotfiber.fibers(samples, (tables[0][:5], tables[1]), nifti.affine)),
                   (ValueError, lambda: hotfiber.fibers(samples, tables, np.zeros((4, 4)))),
                   (ValueError, lambda: hotfiber.fibers(samples, tables, nifti.affine, np.ones((2, 2, 2)))),
                   (ValueError, lambda: hotfiber.fibers(samples, tables, nifti.affine, np.zeros(samples.shape[:3]))),
                   (ValueError, lambda: hotfiber.fibers(loaded, method="best")),
                   (ValueError, lambda: hotfiber.fibers(loaded, order=5)),
                   (ValueError, lambda: hotfiber.fibers(loaded, method="maxima", sigma=3.)),
                   (ValueError, lambda: hotfiber.fibers(loaded, sigma=np.ones(3))),
                   (TypeError, lambda: hotfiber.fibers(loaded, tables)),
                   (TypeError, lambda: hotfiber.fibers(samples)),
                   (TypeError, lambda: hotfiber.fibers("dwi.nii.gz", tables)),
                   (OSError, lambda: hotfiber.fibers(loaded, response="nothing.txt")),
                   (OSError, lambda: hotfiber.fibers(samples, ("no.bval", "no.bvec"))),
                   (TypeError, lambda: hotfiber.fibers(samples, (["a"], ["b"]))),
                   (TypeError, lambda: hotfiber.fibers(samples, tables, "affine.txt")),
                   (TypeError, lambda: hotfiber.fibers(loaded, response=3)),
                   (TypeError, lambda: hotfiber.fibers(loaded, order=6.0)),
                   (TypeError, lambda: hotfiber.fibers(loaded, model=6)),
                   (TypeError, lambda: hotfiber.fibers(loaded, sigma="low")),
                   (TypeError, lambda: hotfiber.fibers(loaded, samples="many")),
                   (ValueError, lambda: hotfiber.peaks(result.tensors, method="signal"))):
    try:
        call()
    except kind as error:
        check(str(error) and "\n" not in str(error), f"one line: {error}")
    except Exception as error:
        check(False, f"{kind.__name__} is expected, not {error!r}")
    else:
        check(False, f"{kind.__name__} is expected")
end()
