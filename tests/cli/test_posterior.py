"""The uncertainty of the signal method: cones about the fibres contain the true directions, and the samples of
--samples, read like FSL's programs, agree with the fibres in the world. Any number of threads, the same bytes; another
seed, other samples."""
import os

import nibabel
import numpy as np

from cli import check, end, hotfiber, works

OUTPUTS = ("--outputs", "default,cone,cone_axes,fraction_sd,isotropic,free_water,noise_sd", "--samples", 40, "--device",
           "cpu", "--quiet")
FIBERS = (1, 2, 3)


def load(folder, name):
    return nibabel.load(f"{folder}/{name}.nii.gz").get_fdata()


def in_world(folder, vectors, affine):
    """From the axes that FSL's gradient tables are in: of the image, x mirrored where its determinant is positive."""
    axes = affine[:3, :3] / np.linalg.norm(affine[:3, :3], axis=0)
    if np.linalg.det(axes) > 0:
        axes[:, 0] *= -1
    return vectors @ axes.T


def between(a, b):
    return np.degrees(np.arccos(np.clip(np.abs((a * b).sum(-1)), 0, 1)))


def check_samples(folder, what):
    affine = nibabel.load(f"{folder}/peaks.nii.gz").affine
    peaks, cone = load(folder, "peaks"), load(folder, "cone")
    mask = load(folder, "bedpostx/nodif_brain_mask") > 0
    check((mask == (load(folder, "mask") > 0)).all(), f"{what}: another mask")
    total = 0
    for f in FIBERS:
        theta, phi, part = (load(folder, f"bedpostx/merged_{kind}{f}samples") for kind in ("th", "ph", "f"))
        check(theta.shape == mask.shape + (40,) and phi.shape == part.shape == theta.shape, f"{what}: {theta.shape}")
        total = total + part
        drawn = in_world(folder, np.stack((np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)),
                                          -1), affine)
        dyads = in_world(folder, load(folder, f"bedpostx/dyads{f}"), affine)
        length = np.linalg.norm(peaks[..., 3 * f - 3:3 * f], axis=-1)
        has = length > 0
        unit = peaks[..., 3 * f - 3:3 * f][has] / length[has][:, None]
        check(has.sum() > 50, f"{what}: {has.sum()} fibres")
        check(np.median(between(dyads[has], unit)) < 1.5, f"{what}: dyads{f} and directions differ")
        there = part[has] > 0
        inside = between(drawn[has], unit[:, None]) <= cone[..., f - 1][has][:, None]
        check(.92 <= inside[there].mean() <= .98, f"{what}: {inside[there].mean()} of samples {f} are in the cones")
        check(abs(part[has].mean() - length[has].mean()) < .02, f"{what}: fractions {f}")
        deviation = np.median(part[has].std(-1)[there.all(-1)] / load(folder, "fraction_sd")[..., f - 1][has]
                              [there.all(-1)])
        check(.8 <= deviation <= 1.2, f"{what}: fractions {f} deviate {deviation} times as much as said")
        for kind, samples in (("th", theta), ("ph", phi), ("f", part)):
            mean = load(folder, f"bedpostx/mean_{kind}{f}samples")
            check(np.median(np.abs(mean - samples.mean(-1))[has]) < .02, f"{what}: mean_{kind}{f}samples")
    check(total.max() <= 1.001, f"{what}: fractions up to {total.max()}")


def check_truth(folder, what, truth="truth.nii.gz", numbers=FIBERS, least=.91, most=.985):
    peaks, truth = load(folder, "peaks"), nibabel.load(truth).get_fdata()
    shape = peaks.shape[:3] + (3, 3)
    lengths = [np.linalg.norm(x.reshape(shape), axis=-1) for x in (peaks, truth)]
    unit, true = (x.reshape(shape) / np.maximum(n, 1e-9)[..., None] for x, n in zip((peaks, truth), lengths))
    axes = load(folder, "cone_axes").reshape(shape[:4] + (2, 3))
    for k in numbers:
        right = ((lengths[0] > 0).sum(-1) == k) & ((lengths[1] > 0).sum(-1) == k)
        near = np.abs(np.einsum("vij,vkj->vik", unit[right][:, :k], true[right][:, :k])).argmax(-1)
        to = np.take_along_axis(true[right][:, :k], near[..., None], 1)
        angles = np.linalg.norm(axes[right][:, :k], axis=-1)
        across = np.einsum("vij,viaj->via", to, axes[right][:, :k]) / angles
        across /= (to * unit[right][:, :k]).sum(-1)[..., None]
        places = (across / np.tan(np.radians(angles))) ** 2
        held = places.sum(-1) <= 1
        circle = between(to, unit[right][:, :k]) <= load(folder, "cone")[right][:, :k]
        # 3.84 and 5.99: 95 % of chi squared in one dimension and in two
        larger, smaller = (places[..., a] <= 3.8415 / 5.9915 for a in (0, 1))
        for name, share in (("ellipses", held.mean()), ("cones", circle.mean()), ("larger axes", larger.mean()),
                            ("smaller axes", smaller.mean())):
            print(f"{what}: {name} of {k} hold {share:.3f} of {held.size}")
            check(least <= share <= most, f"{what}: {name} of {k} fibres hold {share}")


def check_parts(folder, what):
    """Fractions, isotropic part and free water add to 1 and are those of the tissue; the noise is the voxel's own."""
    peaks, truth = load(folder, "peaks"), nibabel.load("truth.nii.gz").get_fdata()
    shape = peaks.shape[:3] + (3, 3)
    found, true = (np.linalg.norm(x.reshape(shape), axis=-1) for x in (peaks, truth))
    isotropic, water, noise = (load(folder, name) for name in ("isotropic", "free_water", "noise_sd"))
    tissue = nibabel.load("tissue.nii.gz").get_fdata()
    total = found.sum(-1) + isotropic + water
    check(np.abs(total - 1).max() < 1e-5 and min(isotropic.min(), water.min()) >= 0, f"{what}: parts add to {total}")
    right = ((found > 0) == (true > 0)).all(-1)
    for k in FIBERS:
        mine = right & ((true > 0).sum(-1) == k)
        off = np.sort(found[mine])[:, -k:] - np.sort(true[mine])[:, -k:]
        print(f"{what}: fractions of {k} are off by {off.mean():.3f} +- {off.std():.3f}")
        check(abs(off.mean()) < .03 and off.std() < .09, f"{what}: fractions of {k}: {off.mean()} +- {off.std()}")
    off = (water - tissue[..., 10])[right & (true[..., 0] > 0)]
    check(abs(off.mean()) < .05 and off.std() < .05, f"{what}: free water {off.mean()} +- {off.std()}")
    alike = np.corrcoef(noise[right], tissue[..., 11][right])[0, 1]
    check(alike > .8 and abs(np.median(noise / tissue[..., 11]) - 1) < .1, f"{what}: noise, {alike}")


works("phantom", "--layout", "mixture", "--size", "16,16,6", "--csf", "0-.2", "--weights", ".4-1", "-b", "1000,3000",
      "--directions", 32, "--snr", 25, "--noise-slope", ".3", "-o", "dwi.nii.gz", "--truth", "truth.nii.gz",
      "--tissue_map", "tissue.nii.gz", "--seed", 3, "--quiet")
image = nibabel.load("dwi.nii.gz")
works("run", "-i", "dwi.nii.gz", "-o", "one", *OUTPUTS, "--threads", 1)
works("run", "-i", "dwi.nii.gz", "-o", "two", *OUTPUTS, "--threads", 2)
works("run", "-i", "dwi.nii.gz", "-o", "seed", *OUTPUTS, "--seed", 2)
works("run", "-i", "dwi.nii.gz", "-o", "few", "--samples", 2, "--outputs", "nfibers",
      "--quiet")
check(os.path.exists("few/bedpostx/merged_f3samples.nii.gz"), "--samples writes samples whatever else is wanted")
files = [os.path.join(at, name)[4:] for at, _, names in os.walk("one") for name in names
         if not name.startswith("report.")]
check(len([f for f in files if f.startswith("bedpostx/")]) == 22, f"{files}")
for name in files:
    check(open(f"one/{name}", "rb").read() == open(f"two/{name}", "rb").read(), f"{name} depends on the threads")
check((load("one", "bedpostx/merged_th1samples") != load("seed", "bedpostx/merged_th1samples")).mean() > .5, "seeds")
check((load("one", "peaks") == load("seed", "peaks")).all(), "directions depend on the seed")
check_samples("one", "as it came")
check_truth("one", "as it came")
check_parts("one", "as it came")

# Two fibres of unequal weights and widths at b=1000: their cones are twice as long as broad, and the long axis is what
# such data tell poorly.
works("phantom", "--layout", "mixture", "--size", "40,40,8", "--shares", ".1,.3,.5,.1", "--dispersion", "0-20",
      "--csf", "0-.2", "--grey", "0-.2", "--weights", ".4-1", "--tissue", "ball-stick", "--intra", ".6-.9", "-b", 1000,
      "--directions", 32, "--snr", 25, "-o", "long.nii.gz", "--truth", "long_truth.nii.gz", "--seed", 5, "--quiet")
works("run", "-i", "long.nii.gz", "-o", "long", "--outputs", "default,cone,cone_axes", "--device", "cpu", "--quiet")
check_truth("long", "long cones", "long_truth.nii.gz", numbers=(2,), least=.935, most=.97)

# The same data stored from right to left, and turned: the determinant has the other sign.
for what, turn in (("mirrored", np.diag((-1, 1, 1))),
                   ("turned", np.array(((.36, .48, -.8), (-.8, .6, 0), (.48, .64, .6))))):
    affine = image.affine.copy()
    affine[:3, :3] = turn @ affine[:3, :3]
    nibabel.save(nibabel.Nifti1Image(np.asanyarray(image.dataobj), affine), f"{what}.nii.gz")
    for name in ("bval", "bvec"):
        open(f"{what}.{name}", "w").write(open(f"dwi.{name}").read())
    works("run", "-i", f"{what}.nii.gz", "-o", what, *OUTPUTS)
    check_samples(what, what)

# peaks has the maps too; what does not go together is refused.
works("peaks", "--method", "signal", "--dwi", "dwi.nii.gz", "-o", "p.nrrd", "--cone",
      "c.nii.gz", "--cone_axes", "a.nii.gz", "--fraction_sd", "s.nii.gz", "--isotropic", "i.nii.gz", "--free_water",
      "w.nii.gz", "--noise_sd", "n.nii.gz", "--quiet")
check(nibabel.load("c.nii.gz").shape[-1] == 3 and nibabel.load("a.nii.gz").shape[-1] == 18, "maps of peaks")
check(all(nibabel.load(f"{name}.nii.gz").shape == image.shape[:3] for name in "iwn"), "one volume each")
for must, arguments in (("signal", ("--outputs", "cone", "--method", "maxima")),
                        ("--samples", ("--outputs", "samples")),
                        ("signal", ("--samples", 5, "--method", "maxima")),
                        ("1000", ("--samples", 1001))):
    done = hotfiber("run", "-i", "dwi.nii.gz", "-o", "refused", *arguments)
    check(done.returncode in (1, 2) and must in done.stderr and not os.path.exists("refused"),
          f"{arguments}: {done.returncode} {done.stderr}")
end()
