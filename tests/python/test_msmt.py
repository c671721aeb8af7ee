"""Multi-tissue deconvolution: `deconvolve` on arrays, `fit` and `fibers` with the model msmt, and, if its data are
present, bonndit's constrained deconvolution: our minimum must be lower."""
import gzip
import os
from itertools import combinations_with_replacement
from math import factorial

import hotfiber
import numpy as np

from counted import check, end, raises

random = np.random.default_rng(7)


def exponents(order):
    return [tuple(index.count(d) for d in range(3)) for index in combinations_with_replacement(range(3), order)]


def forms(order, v):
    """The value in each direction of each unique value of a packed tensor."""
    return np.stack([factorial(order) / np.prod([factorial(k) for k in e]) * np.prod(v ** np.array(e), 1)
                     for e in exponents(order)], 1)


def units(count):
    v = random.normal(size=(count, 3))
    return v / np.linalg.norm(v, axis=1)[:, None]


def min_eigenvalue(order, tensors):
    """Of the matrix of values for products of two monomials of half the order, over its trace."""
    whole, half = exponents(order), exponents(order // 2)
    root = np.sqrt([factorial(order // 2) / np.prod([factorial(k) for k in e]) for e in half])
    matrices = tensors.astype(float)[:, [[whole.index(tuple(np.add(p, q))) for q in half] for p in half]]
    matrices = matrices * np.outer(root, root)
    return (np.linalg.eigvalsh(matrices)[:, 0] / np.trace(matrices, axis1=1, axis2=2)).min()


# Arrays: a random design, of which plain least squares is known, and whose constrained minima cost more.
order, v = 4, units(60)
design = np.hstack([forms(order, v) ** 1, np.ones((60, 1))]) + .1 * random.normal(size=(60, 16))
signals = (random.normal(size=(5, 7, 60)) + design[:, :15] @ forms(order, units(1))[0]).astype(np.float32)
plain = hotfiber.deconvolve(signals, design, order, constraint="none")
want = np.linalg.lstsq(design, signals.reshape(-1, 60).T.astype(float), rcond=None)[0].T.reshape(5, 7, 16)
check(np.abs(plain.tensors - want[..., :15]).max() < 1e-4 and np.abs(plain.amounts - want[..., 15:]).max() < 1e-4,
      "plain least squares")
given = units(50)
for name, found in {"nonnegative": hotfiber.deconvolve(signals, design, order, directions=given),
                    "hpsd": hotfiber.deconvolve(signals, design, order, constraint="hpsd")}.items():
    x = np.concatenate([found.tensors, found.amounts], -1).astype(float)
    cost = ((x @ design.T - signals) ** 2).sum(-1)
    check((cost >= ((want @ design.T - signals) ** 2).sum(-1) * (1 - 1e-6)).all(), name + ": below the minimum")
    check(found.amounts.min() >= 0 and found.residual.max() < 1e-6 and not found.flags.any(), name + ": conditions")
    lowest = (found.tensors @ forms(order, given).T).min()
    check(lowest >= (-1e-5 if name == "nonnegative" else 0), f"{name}: a form of {lowest}")
check(min_eigenvalue(order, found.tensors.reshape(-1, 15)) > -1e-9, "hpsd: an eigenvalue below zero")
signals[1, 2, 3] = np.nan
found = hotfiber.deconvolve(signals, design, order, mask=np.arange(7) * np.ones((5, 1)) > 0)
check(found.flags[1, 2] == 1 and found.flags.sum() == 1 and not found.tensors[1, 2].any(), "a signal that is NaN")
check(not found.tensors[:, 0].any() and found.tensors[0, 1].any(), "the mask")
raises(ValueError, "design", hotfiber.deconvolve, signals, design[:, :14], order)
raises(ValueError, "constraint", hotfiber.deconvolve, signals, design, order, constraint="some")
raises(ValueError, "directions", hotfiber.deconvolve, signals, design, order, directions=np.ones((4, 2)))

# From responses: one fibre and two tissues, told apart.
b, row = np.repeat([0, 700, 1200, 2800], [4, 30, 40, 50]), np.repeat(range(4), [4, 30, 40, 50])
g, fiber = units(len(b)), units(1)[0]
zonal = np.array([[4128.5, 0, 0, 0], [2533.2, -656, 70.5, -4.8], [1978.9, -732.5, 151.1, -25.4],
                  [1269.3, -602.6, 252.3, -73.2]])
others = [np.array([7349.1, 3690.5, 2548.5, 995.6]), np.array([21958.8, 3444, 1316.8, 440.9])]
shape = sum(zonal[row, i] * np.sqrt((4 * i + 1) / (4 * np.pi)) *
            np.polynomial.legendre.Legendre.basis(2 * i)(g @ fiber) for i in range(4))
data = .6 * shape + .3 * others[0][row] / np.sqrt(4 * np.pi) + .1 * others[1][row] / np.sqrt(4 * np.pi)
data = np.tile(data, (3, 2, 2, 1))
responses = [hotfiber.Response([0, 700, 1200, 2800], rows) for rows in (zonal, others[0][:, None], others[1][:, None])]
for constraint in ("nonnegative", "hpsd", "none"):
    field = hotfiber.fit(data, (b, g), mask=np.ones((3, 2, 2)), model="msmt", order=6, response=responses,
                         constraint=constraint)
    check(field.amounts.shape == (3, 2, 2, 3) and np.abs(field.amounts - [.6, .3, .1]).max() < 2e-3,
          f"{constraint}: amounts {field.amounts[0, 0, 0]}")
    check(field.residual.shape == (3, 2, 2) and field.residual.max() < 1e-6, constraint + ": residual")
    rank1 = [.6 * np.prod(fiber ** np.array(e)) for e in exponents(6)]
    check(np.abs(field.values - rank1).max() < 2e-3, constraint + ": the tensor is not the fibre's")
delta = hotfiber.fit(data, (b, g), mask=np.ones((3, 2, 2)), model="msmt", order=6, response=responses, kernel="delta",
                     constraint="none")
check(abs((forms(6, fiber[None]) @ delta.values[0, 0, 0])[0] - .6 * 28 / (4 * np.pi)) < .01, "the height of a delta")
result = hotfiber.fibers(data, (b, g), mask=np.ones((3, 2, 2)), model="msmt", order=6, response=responses,
                         method="lowrank", constraint="hpsd")
check((result.nfibers == 1).all() and np.abs(np.abs(result.directions[..., 0, :] @ fiber) - 1).max() < 1e-4,
      "the whole job finds the fibre")
check(np.abs(result.tensors.amounts - [.6, .3, .1]).max() < 2e-3, "the whole job's amounts")
parts = np.array([shape] + [one[row] / np.sqrt(4 * np.pi) for one in others])
mixed = np.random.default_rng(5).dirichlet([3, 2, 1], (5, 4, 4))
uneven = np.exp(np.linspace(-.3, .3, 5))[:, None, None, None] * (mixed @ parts)
even = [hotfiber.fit(uneven, (b, g), mask=np.ones((5, 4, 4)), model="msmt", order=6, response=responses,
                     normalise=which) for which in (False, True)]
check(np.abs(even[0].amounts - mixed).max() > .1 and np.abs(even[1].amounts - mixed).max() < 5e-3, "normalised amounts")
raises(hotfiber.Error, "tissue", hotfiber.fit, np.tile(data, (2, 3, 3, 1)), (b, g), mask=np.ones((6, 6, 6)),
       model="msmt", response=responses[:1], normalise=True)
raises(ValueError, "kernel", hotfiber.fit, data, (b, g), model="msmt", kernel="sharp")

# Noise alone: nearly all inequalities hold as equations at the minimum. (With too small a pivot in a factor 1 in 150 of
# these voxels was NaN, and so left empty.)
row, g = np.repeat(range(4), [6, 30, 30, 30]), units(96)
noise = np.random.default_rng(13).normal(scale=60, size=(2000, 1, 1, 96))
noise[..., :6] += 60 - noise[..., :6].mean(-1, keepdims=True)
rows = (np.c_[zonal, [0, .2, 3.1, 13.5]], others[0][:, None], others[1][:, None])
responses = [hotfiber.Response([0, 700, 1200, 2800], each) for each in rows]
for order in (4, 6, 8):
    for constraint in ("nonnegative", "hpsd"):
        field = hotfiber.fit(noise, (np.array([0, 700, 1200, 2800])[row], g), mask=np.ones((2000, 1, 1)), model="msmt",
                             order=order, response=responses, constraint=constraint)
        check((field.confidence == 1).all(), f"{constraint}, order {order}: {(field.confidence != 1).sum()} are empty")
        check(field.residual.max() < 1e-4 and field.amounts[..., 1:].min() >= 0, f"{constraint}, order {order}: noise")

# bonndit's results: one shell, no other tissue. Its solver stops earlier than ours, so where the two differ ours must
# be the better one.
folder = os.path.join(os.environ.get("HOT_DATA", ""), "bonndit_refs", "")


def nrrd(path):
    header, body = open(path, "rb").read().split(b"\n\n", 1)
    sizes = next(line for line in header.decode().split("\n") if line.startswith("sizes:")).split()[1:]
    return np.frombuffer(gzip.decompress(body), "<f8").reshape([int(n) for n in sizes], order="F").reshape(
        int(sizes[0]), -1, order="F").T


def judge():
    import nibabel
    response = np.load(folder + "sh_response_complete.npz")
    weighted = response["bvals"] > 50
    around = response["bvecs"][weighted] / np.linalg.norm(response["bvecs"][weighted], axis=1)[:, None]
    whole = nibabel.load(folder + "data.nii.gz").get_fdata()
    volumes = np.flatnonzero(np.loadtxt(folder + "bvals") < 1000)[weighted]
    data = whole[..., volumes].reshape(-1, len(volumes), order="F").astype(np.float32)
    # a tensor's signal: Funk and Hecke, degree by degree, by the projections of its form
    nodes = units(4000)
    legendre = [np.polynomial.legendre.Legendre.basis(l) for l in (0, 2, 4)]
    for kernel, scale in (("delta", [1, 1, 1]), ("rank1", 4 * np.pi * np.array([1 / 5, 4 / 35, 8 / 315]))):
        basis = np.hstack([legendre[i](around @ nodes.T) * (4 * i + 1) / (4 * np.pi) * response["wm_resp"][i] *
                           np.sqrt(4 * np.pi / (4 * i + 1)) / scale[i] for i in range(3)])
        # the projection on a degree is a combination of zonal harmonics about many nodes
        zonals = np.hstack([legendre[i](nodes @ nodes.T[:, :60]) * (4 * i + 1) / (4 * np.pi) for i in range(3)])
        weights = np.linalg.lstsq(zonals, forms(4, nodes), rcond=1e-10)[0]
        design = np.hstack([basis[:, 4000 * i:4000 * i + 60] for i in range(3)]) @ weights
        for constraint in ("none", "hpsd"):
            theirs = nrrd(f"{folder}results/cs_deconvolution/odf_{constraint}_{kernel}.nrrd")[:, 1:]
            ours = hotfiber.deconvolve(data, design, 4, constraint=constraint).tensors
            cost = [((data - x.astype(float) @ design.T) ** 2).sum(1) for x in (ours, theirs)]
            differ = np.abs(ours - theirs).max(1) / np.abs(theirs).max(1)
            better = cost[0] < cost[1] * (1 - 1e-7)
            name = f"bonndit, {constraint}, {kernel}"
            check((cost[0] <= cost[1] * (1 + 3e-6)).all(), f"{name}: a cost of {(cost[0] / cost[1]).max()} of theirs")
            check((differ[~better] < 1e-3).all() and np.median(differ) < 1e-3,
                  f"{name}: off by {differ[~better].max()}, better in {better.sum()}")
            if constraint == "hpsd":
                check(min_eigenvalue(4, ours) > -1e-9, name + ": an eigenvalue below zero")
            print(f"{name}: off by {np.median(differ):.2g} (median), {differ.max():.2g} (most); better in "
                  f"{better.sum()} of {len(better)} voxels")


if os.path.isdir(folder):
    judge()
else:
    print("left out: no bonndit_refs in HOT_DATA")
end()
