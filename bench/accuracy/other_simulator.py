#!/usr/bin/python3
"""Phantoms of another simulator: DIPY's multi_tensor and sticks_and_ball (dipy.sims.voxel), compared with MRtrix.

    bench/accuracy/other_simulator.py [--hotfiber FILE] [--seed N] [--voxels N] [--only TEXT] [--no-peers]

Multi-tensor: fibres are tensors with individual eigenvalues, 1.4 to 1.9 and twice .2 to .5e-3 mm^2/s; up to 30 %
of a voxel is an isotropic tensor (.7 to 3e-3). Biaxial tensors: the second and third eigenvalue are drawn apart, so
that a fibre is no figure of revolution, as one that fans out is not. Sticks and ball: sticks of fractions .3 to .8 in
all, D 1.1 to 1.9e-3, the rest the ball. 15, 40, 35 and 10 % of the voxels have 0 to 3 fibres, every two of them 30 to
90 degrees apart, the first of two with .4 to .6 of the fibres' volume. Rician noise. Every tool estimates its response
from the same data; MRtrix: the best of its csd and msmt_csd, of 81 pairs of thresholds and of the harmonic orders,
chosen by the score itself. Needs mrtrix3, python3-dipy, python3-nibabel, python3-numpy."""
import os
import tempfile

import nibabel
import numpy as np
from dipy.core.gradients import gradient_table
from dipy.sims.voxel import multi_tensor, sticks_and_ball

import tissue

KINDS = "multi-tensor", "biaxial tensors", "sticks and ball"
SCHEMES = (("b=1000, 32 directions", (1000,), 32, 4, 25), ("b=2000, 64 directions", (2000,), 64, 8, 25),
           ("b=3000, 64 directions", (3000,), 64, 8, 20),
           ("b=1000 and 2500, 48 directions each", (1000, 2500), 48, 8, 25))


def table(b, directions, b0, random):
    """Directions that repel each other, on each shell anew, whole sphere."""
    bvals, vectors = [0] * b0, [np.zeros((b0, 3))]
    for shell in b:
        v = random.normal(size=(directions, 3))
        for _ in range(400):
            v /= np.linalg.norm(v, axis=1, keepdims=True)
            both = np.concatenate([v, -v])
            apart = v[:, None] - both[None]
            length = np.linalg.norm(apart, axis=-1, keepdims=True)
            length[length < 1e-9] = np.inf
            v = v + .02 * (apart / length ** 3).sum(1) / directions ** .5
        vectors.append(v / np.linalg.norm(v, axis=1, keepdims=True))
        bvals += [shell] * directions
    return np.array(bvals, float), np.concatenate(vectors)


def directions_of(k, random):
    """k axes, every two of them 30 to 90 degrees apart."""
    while True:
        v = random.normal(size=(k, 3))
        v /= np.linalg.norm(v, axis=1, keepdims=True)
        if k < 2 or np.degrees(np.arccos(np.abs(v @ v.T)[np.triu_indices(k, 1)].max())) >= 30:
            return v


def angles(v):
    """Degrees from the z axis and about it, as DIPY takes directions."""
    return [(np.degrees(np.arccos(z)), np.degrees(np.arctan2(y, x))) for x, y, z in v]


def voxel(kind, gtab, random):
    """Signals without noise, S0 being 1, and the truth."""
    k = int(random.choice(4, p=(.15, .4, .35, .1)))
    v = directions_of(k, random)
    shares = random.uniform(.4, .6, 1) if k == 2 else random.dirichlet(np.full(max(k, 1), 20.))
    shares = np.array([shares[0], 1 - shares[0]]) if k == 2 else shares
    if kind == "sticks and ball":
        whole = random.uniform(.3, .8) if k else 0
        d = random.uniform(1.1e-3, 1.9e-3) if k else random.uniform(.7e-3, 3e-3)
        signal, _ = sticks_and_ball(gtab, d=d, S0=1., angles=angles(v) if k else [(0, 0)],
                                    fractions=list(100 * whole * shares) if k else [0], snr=None)
        return signal, v * (whole * shares)[:, None] if k else np.zeros((0, 3))
    beside = random.uniform(0, .3) if k else 1
    evals = []
    for _ in v:
        across = random.uniform(.2e-3, .5e-3, 2 if kind == "biaxial tensors" else 1)
        evals.append(np.array([random.uniform(1.4e-3, 1.9e-3), across.max(), across.min()]))
    evals.append(np.full(3, random.uniform(.7e-3, 3e-3)))
    parts = list(100 * (1 - beside) * shares)[:k] + [100 * beside]
    signal, _ = multi_tensor(gtab, np.array(evals), S0=1., angles=angles(v) + [(0, 0)], fractions=parts, snr=None)
    return signal, v * ((1 - beside) * shares[:k])[:, None]


def make(kind, scheme, voxels, seed, folder):
    """Data, gradients and mask of a phantom in the folder; the truth, (voxels, 3, 3)."""
    _, b, count, b0, snr = scheme
    random = np.random.default_rng(seed)
    bvals, vectors = table(b, count, b0, random)
    gtab = gradient_table(bvals, vectors, b0_threshold=50)
    made = [voxel(kind, gtab, random) for _ in range(voxels)]
    clean = np.array([signal for signal, _ in made])
    noise = random.normal(scale=1 / snr, size=(2,) + clean.shape)
    data = np.hypot(clean + noise[0], noise[1]) * 1000
    truth = np.zeros((voxels, 3, 3))
    for i, (_, v) in enumerate(made):
        truth[i, :len(v)] = v
    affine = np.diag([-2., 2, 2, 1])  # determinant below 0: FSL's axes are those of the image, whose x is -x here
    shape = (voxels, 1, 1)
    data = data.reshape(shape + (-1,)).astype("f4")
    nibabel.save(nibabel.Nifti1Image(data, affine), os.path.join(folder, "d.nii.gz"))
    nibabel.save(nibabel.Nifti1Image(np.ones(shape, "u1"), affine), os.path.join(folder, "mask.nii.gz"))
    np.savetxt(os.path.join(folder, "d.bval"), bvals[None], fmt="%g")
    np.savetxt(os.path.join(folder, "d.bvec"), (vectors * [-1, 1, 1]).T)
    return truth


def main():
    parser = tissue.command_line(__doc__)
    parser.add_argument("--seed", type=int, default=96001)
    parser.add_argument("--voxels", type=int, default=600)
    parser.add_argument("--only", default="")
    parser.add_argument("--no-peers", action="store_true")
    options = parser.parse_args()
    hot, back = options.hotfiber, os.getcwd()
    print("| simulation | acquisition | SNR | hotfiber | one / two / three | calibration | MRtrix csd | msmt_csd |\n|" +
          " --- |" * 8, flush=True)
    for at, (kind, scheme) in enumerate((k, s) for k in KINDS for s in SCHEMES):
        if options.only not in kind + scheme[0]:
            continue
        with tempfile.TemporaryDirectory() as folder:
            truth = make(kind, scheme, options.voxels, options.seed + at, folder)
            os.chdir(folder)
            ours = tissue.hotfiber(hot, truth, 1.0)["hotfiber"]
            peers = {} if options.no_peers else tissue.mrtrix(hot, truth, 1.0)
            os.chdir(back)
        cells = ["%.3f" % peers[n]["all"] if n in peers else "-" for n in ("MRtrix csd", "MRtrix msmt_csd")]
        print("| %s | %s | %g | %.3f | %s | %.3f | %s |" % (
            kind, scheme[0], scheme[4], ours["all"], " / ".join("%.2f" % ours[str(k)] for k in (1, 2, 3)),
            ours["calibration"], " | ".join(cells)), flush=True)


if __name__ == "__main__":
    main()
