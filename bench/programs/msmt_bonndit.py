"""Deconvolution of one shell and of several compared with bonndit's results and a third solver.

    python3 bench/programs/msmt_bonndit.py BUILD FOLDER [--directions FILE]

FOLDER has bonndit's test data: data.nii.gz, bvals, sh_response_complete.npz, shore_response_complete.npz and
results/{cs,shore}_deconvolution. Their signals are modelled as there: of one shell by white matter's response in
harmonics, of several by a response of each tissue in the SHORE basis (Merlet and Deriche 2013, order 4); its part of
degree l over that of a fibre of weight 1, which is a delta or the power of its direction. `hotfiber.deconvolve` gets
the same design. For `nonneg` the directions of bonndit's constraint are needed: FILE has polar angle and azimuth
in turn, as numbers among any text (its constants.py). The third solver is Clarabel (pip install clarabel scipy), to a
gap of 1e-12 of the objective.

Printed for each constraint and kernel: the largest difference of a voxel's values (tensor and amounts) over the largest
of them, of ours from bonndit's, and of both from Clarabel's; how much more than Clarabel's minimum they cost at most,
over |signals|^2; and the worst violation, over the voxel's largest value."""
import argparse
import math
import os
import re
import sys

import nibabel
import numpy as np
import scipy.sparse
import scipy.special

ORDER = 4
TERMS = [(ORDER - s, s - t, t) for s in range(ORDER + 1) for t in range(s + 1)]
HALF = [(ORDER // 2 - s, s - t, t) for s in range(ORDER // 2 + 1) for t in range(s + 1)]
DEGREE = np.repeat([0, 2, 4], [1, 5, 9])


def read_nrrd(path):
    import gzip
    head, body = open(path, "rb").read().split(b"\n\n", 1)
    sizes = re.search(rb"sizes: ([\d ]+)", head).group(1).split()
    return np.frombuffer(gzip.decompress(body), "<f8").reshape([int(s) for s in sizes], order="F")


def harmonics(v):
    """Real and orthonormal, without Condon and Shortley's sign."""
    azimuth, columns = np.arctan2(v[:, 1], v[:, 0]), []
    for l in range(0, ORDER + 1, 2):
        for m in range(-l, l + 1):
            k = abs(m)
            size = math.sqrt((2 * l + 1) / (4 * math.pi) * math.factorial(l - k) / math.factorial(l + k))
            p = (-1) ** k * size * scipy.special.lpmv(k, l, v[:, 2])
            columns.append(p if m == 0 else math.sqrt(2) * p * (np.sin(k * azimuth) if m < 0 else np.cos(k * azimuth)))
    return np.array(columns).T


def forms(v):
    """A direction's value of each unique value of the tensor."""
    return np.array([math.factorial(ORDER) / np.prod([math.factorial(e) for e in t]) * np.prod(v ** np.array(t), axis=1)
                     for t in TERMS]).T


def harmonics_of_forms():
    around = np.random.default_rng(1).normal(size=(200, 3))
    around /= np.linalg.norm(around, axis=1)[:, None]
    return np.linalg.lstsq(harmonics(around), forms(around), rcond=None)[0]


def fibers(kernel):
    """The zonal harmonic of each degree of a fibre of weight 1."""
    power = harmonics_of_forms()[:, TERMS.index((0, 0, ORDER))]  # of a fibre along z
    degrees = range(0, ORDER + 1, 2)
    if kernel == "delta":
        return [math.sqrt((2 * l + 1) / (4 * math.pi)) for l in degrees]
    return [power[np.flatnonzero(DEGREE == l)[l]] for l in degrees]


def one_shell(response, kernel):
    weighted = response["bvals"] > 50
    v = response["bvecs"][weighted]
    zonal = np.repeat(response["wm_resp"] / fibers(kernel), [1, 5, 9])
    return (harmonics(v / np.linalg.norm(v, axis=1)[:, None]) * zonal) @ harmonics_of_forms()


def several_shells(response, kernel):
    b, tau, zeta = response["bvals"], float(response["tau"]), float(response["zeta"])
    length = np.linalg.norm(response["bvecs"], axis=1)
    v = np.where(length[:, None] > 0, response["bvecs"] / np.maximum(length, 1e-12)[:, None], [0, 0, 1])
    r = np.where(b < 50, 0, b) / (4 * np.pi ** 2 * tau) / zeta
    y, white, tissues, i = harmonics(v), np.zeros((len(b), len(TERMS))), np.zeros((2, len(b))), 0
    for l, fiber in zip(range(0, ORDER + 1, 2), fibers(kernel)):
        for n in range(l, (ORDER + l) // 2 + 1):
            size = math.sqrt(2 * math.factorial(n - l) / (zeta ** 1.5 * math.gamma(n + 1.5)))
            radial = size * scipy.special.genlaguerre(n - l, l + 0.5)(r) * np.exp(-r / 2) * r ** (l / 2)
            white += y * (DEGREE == l) * (radial * response["wm"][i] / fiber)[:, None]
            if l == 0:
                tissues += [y[:, 0] * radial * response[name][i] / fiber for name in ("gm", "csf")]
            i += 1
    return np.c_[white @ harmonics_of_forms(), tissues.T]


def read_directions(path):
    text = open(path).read()
    numbers = np.array([float(x) for x in re.findall(r"-?\d+\.\d+", text)]).reshape(-1, 2)
    polar, azimuth = numbers.T
    return np.c_[np.sin(polar) * np.cos(azimuth), np.sin(polar) * np.sin(azimuth), np.cos(polar)]


def matrices(tensors):
    at = [[TERMS.index(tuple(np.add(p, q))) for q in HALF] for p in HALF]
    return tensors[:, at]


def third_solver(design, signals, constraint, directions):
    import clarabel
    unknowns, normal, tissues = design.shape[1], design.T @ design, design.shape[1] - len(TERMS)
    scale = np.trace(normal)
    signs = -np.eye(unknowns)[len(TERMS):]
    cones = [clarabel.NonnegativeConeT(tissues)] if tissues else []
    if constraint == "hpsd":
        rows = np.zeros((len(HALF) * (len(HALF) + 1) // 2, unknowns))
        for k, (i, j) in enumerate((i, j) for j in range(len(HALF)) for i in range(j + 1)):
            rows[k, TERMS.index(tuple(np.add(HALF[i], HALF[j])))] = -1 if i == j else -math.sqrt(2)
        cones.append(clarabel.PSDTriangleConeT(len(HALF)))
    else:
        rows = np.c_[-forms(directions), np.zeros((len(directions), tissues))]
        cones.append(clarabel.NonnegativeConeT(len(rows)))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    matrix = scipy.sparse.csc_matrix(np.r_[signs, rows])
    upper = scipy.sparse.triu(scipy.sparse.csc_matrix(normal / scale)).tocsc()
    return np.array([clarabel.DefaultSolver(upper, -design.T @ y / scale, matrix, np.zeros(matrix.shape[0]), cones,
                                            settings).solve().x for y in signals])


def violation(x, constraint, directions):
    """The worst amount, form or eigenvalue below 0, over the voxel's largest value."""
    size, tensors = np.abs(x).max(axis=1), x[:, :len(TERMS)]
    if constraint == "hpsd":
        least = np.linalg.eigvalsh(matrices(tensors))[:, 0]
    else:
        least = (tensors @ forms(directions).T).min(axis=1)
    return -min(0, (np.c_[least, x[:, len(TERMS):]].min(axis=1) / size).min())


def compare(name, signals, design, theirs, constraint, directions):
    import hotfiber
    field = hotfiber.deconvolve(signals, design, order=ORDER,
                                constraint="nonnegative" if constraint == "nonneg" else constraint,
                                **({"directions": directions} if constraint == "nonneg" else {}))
    ours = np.hstack([field.tensors] + ([field.amounts] if design.shape[1] > len(TERMS) else [])).astype(float)

    def apart(a, b):
        return (np.abs(a - b).max(axis=1) / np.abs(b).max(axis=1)).max()

    line = f"{name}: ours - theirs {apart(ours, theirs):.2g}"
    if constraint != "none":
        third = third_solver(design, signals, constraint, directions)
        cost = [((signals - x @ design.T) ** 2).sum(axis=1) / (signals ** 2).sum(axis=1) for x in (ours, theirs, third)]
        line += (f"; from Clarabel's {apart(ours, third):.2g} and {apart(theirs, third):.2g}, cost more "
                 f"{(cost[0] - cost[2]).max():.2g} and {(cost[1] - cost[2]).max():.2g}, violation "
                 f"{violation(ours, constraint, directions):.2g} and {violation(theirs, constraint, directions):.2g}")
    print(line)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build")
    parser.add_argument("folder")
    parser.add_argument("--directions")
    options = parser.parse_args()
    sys.path.insert(0, os.path.join(options.build, "python"))

    image = nibabel.load(os.path.join(options.folder, "data.nii.gz")).get_fdata()
    signals = image.reshape(-1, image.shape[-1], order="F")
    b = np.loadtxt(os.path.join(options.folder, "bvals"))
    directions = read_directions(options.directions) if options.directions else None
    print(f"{len(signals)} voxels" + (f", {len(directions)} directions" if options.directions else ""))
    cases = (("one shell", one_shell, "sh", "cs", (b > 50) & (b < 1000), ()),
             ("several shells", several_shells, "shore", "shore", b >= 0, ("gm", "csf")))
    for shells, make_design, basis, folder, volumes, tissues in cases:
        response = np.load(os.path.join(options.folder, basis + "_response_complete.npz"))
        results = os.path.join(options.folder, "results", folder + "_deconvolution")
        for constraint in ("none", "nonneg", "hpsd"):
            for kernel in ("delta", "rank1"):
                if constraint == "nonneg" and directions is None:
                    continue
                tensors = read_nrrd(f"{results}/odf_{constraint}_{kernel}.nrrd").reshape(len(TERMS) + 1, -1, order="F")
                zonal = math.sqrt(1 / (4 * math.pi)) * (4 * math.pi / (ORDER + 1) if kernel == "rank1" else 1)
                amounts = [read_nrrd(f"{results}/{name}_{constraint}_{kernel}.nrrd").reshape(-1, 1, order="F") * zonal
                           for name in tissues]
                compare(f"{shells}, {constraint:6} {kernel:5}", signals[:, volumes], make_design(response, kernel),
                        np.hstack([tensors[1:].T] + amounts), constraint, directions)


if __name__ == "__main__":
    main()
