#!/usr/bin/python3
"""How do single fibres of FiberCup differ from the model of `signal`? Its two acquisitions tell noise and signal apart.

    bench/accuracy/fibercup_shape.py [--hotfiber FILE] [--data FOLDER]

For b=1500 and 650, of the 2,016 voxels labelled as one-fibre, relative to the b=0 signal:
  noise      of one volume, from the difference of the acquisitions; the residuals' variance over that of functions of
             the angle to the fibre (degrees 0, 2, 4) about the axis of the other acquisition
  shape      parts of degree 2 and 4 about the axis that the other b-value shows: mean, deviation between voxels (from
             products of the acquisitions, without noise), noise. "2, m=2": (a^2 - c^2) / 2, a across the fibre in the
             plane of the phantom, c along its normal
  numbers    single fibres with 0 / 1 / 2 / 3 fibres and the mean P(1): measured (acquisition 1), and signals simulated
             from the mean of both: symmetric about the axis, with Rician or with the measured noise; all of degree 0
             to 4 with Rician noise; all with the response of the measured signals
Needs python3-nibabel, python3-numpy."""
import os
import tempfile

import numpy as np

import people
import tissue

LABELLED = 1
PARTS = "0", "2", "4", "2, m=1", "2, m=1 to the normal", "2, m=2", "2, m=2, 45 degrees", "4, m=2"


def main_axis(signals, g):
    """Along which a quadratic form of the signals is lowest."""
    x, y, z = g.T
    form = np.linalg.lstsq(np.stack([x * x, y * y, z * z, 2 * x * y, 2 * x * z, 2 * y * z], 1), -signals.T,
                           rcond=None)[0]
    return np.linalg.eigh(np.moveaxis(form[[[0, 3, 4], [3, 1, 5], [4, 5, 2]]], 2, 0))[1][:, :, 2]


def zonal(u):
    return np.stack([np.ones_like(u), (3 * u * u - 1) / 2, (35 * u ** 4 - 30 * u * u + 3) / 8], -1)


def fitted(signals, columns):
    """Coefficients and fitted signals of each voxel."""
    found = np.stack([np.linalg.lstsq(c, s, rcond=None)[0] for s, c in zip(signals, columns)])
    return found, np.einsum("vjc,vc->vj", columns, found)


def about(axis, g):
    """Columns of the shape: zonal, then m=1 and m=2 of degree 2 and m=2 of degree 4."""
    across = np.cross([0, 0, 1.], axis)
    across /= people.length(across)[:, None]
    u, a, c = (v @ g.T for v in (axis, across, np.cross(axis, across)))
    two = (a * a - c * c) / 2
    return np.concatenate([zonal(u), np.stack([u * a, u * c, two, a * c, (7 * u * u - 1) * two], -1)], -1)


def numbers(hot, name, scan, inside, response):
    found = people.run(hot, scan, ("--response", response))
    count = (people.length(found["peaks"]) > 0).sum(-1)[inside]
    print("  %-44s %s, P(1) %.2f" % (name, " / ".join(map(str, np.bincount(count, minlength=4))),
                                     found["probability"][inside][:, 1].mean()), flush=True)


def judge(hot, scans, inside, b, other):
    pair = [scans[b, a] for a in (1, 2)]
    mask, g = pair[0].mask, pair[0].bvec[:, 1:].T
    one = inside[mask]
    dark, bright = ([s.data[mask][:, part].astype(float) for s in pair] for part in (slice(1, None), 0))
    mean, s0 = sum(dark) / 2, sum(bright) / 2
    sigma = np.median((dark[0] - dark[1])[one].std(1)) / np.sqrt(2)
    left = []
    for d, axis_of in zip(dark, dark[::-1]):
        near = fitted(d[one], zonal(main_axis(axis_of[one], g) @ g.T))[1]
        left.append(np.median(((d[one] - near) ** 2).sum(1)) / (len(g) - 3) / sigma ** 2)
    print("b=%d: noise %.4f, residuals %.2f and %.2f of its variance" % (b, sigma / np.median(s0[one]), *left))
    third = [scans[other, a] for a in (1, 2)]
    axis = main_axis(sum(s.data[inside][:, 1:].astype(float) for s in third), third[0].bvec[:, 1:].T)
    shape = [fitted(d[one], about(axis, g))[0] / s0[one, None] for d in dark]
    for i, name in enumerate(PARTS):
        x, y = shape[0][:, i], shape[1][:, i]
        print("  degree %-24s %8.4f +- %.4f, noise %.4f" % (
            name, (x + y).mean() / 2, np.sqrt(max(np.cov(x, y)[0, 1], 0)), (x - y).std() / np.sqrt(2)))
    random = np.random.default_rng(1)
    symmetric = fitted(mean, zonal(main_axis(mean, g) @ g.T))[1]
    x, y, z = g.T
    form = np.stack([x ** i * y ** j * z ** (4 - i - j) for i in range(5) for j in range(5 - i)], 1)
    smooth = mean @ (form @ np.linalg.pinv(form)).T
    clean = lambda s: np.sqrt(np.maximum(s * s - sigma ** 2, 1))  # noqa: E731
    noisy = lambda s: np.hypot(clean(s) + sigma * random.normal(size=s.shape),  # noqa: E731
                               sigma * random.normal(size=s.shape))

    def made(signals):
        data = pair[0].data.copy()
        data[mask] = np.concatenate([bright[0][:, None], signals], 1)
        return people.Scan(data, pair[0].affine, pair[0].b, pair[0].bvec, mask)

    with tempfile.TemporaryDirectory() as folder:
        stem, response = pair[0].save(os.path.join(folder, "d")), os.path.join(folder, "r.txt")
        tissue.call(hot, "response", "-i", stem + ".nii.gz", "--mask", stem + "_mask.nii.gz", "-o", response, "--quiet")
        for name, scan in (("measured", pair[0]), ("symmetric, Rician noise", made(noisy(symmetric))),
                           ("symmetric, measured noise", made(symmetric + (dark[0] - dark[1]) / np.sqrt(2))),
                           ("degrees 0 to 4, Rician noise", made(noisy(smooth)))):
            numbers(hot, name, scan, inside, response)


def main():
    parser = tissue.command_line(__doc__)
    parser.add_argument("--data", default=os.path.join(tissue.ROOT, "..", "shared", "data"))
    options = parser.parse_args()
    scans, labels = people.fibercup_scans(os.path.abspath(options.data))
    for b, other in ((1500, 650), (650, 1500)):
        judge(options.hotfiber, scans, labels == LABELLED, b, other)


if __name__ == "__main__":
    main()
