"""hotfiber.fem against the definition B^T D B by numpy.einsum and against integrals that are known."""
import doctest

import numpy as np

from counted import check, end, raises
from hotfiber import fem

random = np.random.default_rng(20261128)
done = doctest.testmod(fem)
check(done.attempted > 5 and not done.failed, f"the examples: {done}")

# Gauss's rule is exact up to degree 2 points - 1, and the polynomials reproduce any of their degree.
for dofs in (2, 3, 6, 16):
    values, weights = fem.basis(dofs, dofs)
    check(values.shape == (dofs, dofs) and weights.shape == (dofs,), f"shapes of {dofs}")
    mass = np.einsum("q,qi,qj->ij", weights, values, values)
    check(np.isclose(mass.sum(), 1) and np.allclose(values.sum(1), 1), f"a partition of one, {dofs}")
# order 1: the mass matrix of the unit interval is [[1/3, 1/6], [1/6, 1/3]]
values, weights = fem.basis(2, 2)
line = np.array([[1 / 3, 1 / 6], [1 / 6, 1 / 3]])
check(np.allclose(fem.mass_assemble(values, weights[:, None] * weights, dim=2), np.kron(line, line)), "the unit square")

letters = {2: ("pi,qj,pq,pk,ql->ijkl", 2), 3: ("pi,qj,rk,pqr,pl,qm,rn->ijklmn", 3)}
for dim, (spec, half) in letters.items():
    for dofs, points, batch in ((2, 2, ()), (3, 4, (5,)), (4, 3, (2, 3)), (6, 7, (0,)), (1, 2, (2,))):
        basis = random.normal(size=(points, dofs))
        for kind, limit in ((np.float64, 1e-12), (np.float32, 1e-4)):
            d = random.normal(size=batch + (points,) * dim).astype(kind)
            v = random.normal(size=batch + (dofs,) * dim).astype(kind)
            what = f"dim {dim}, {dofs} of {points}, {batch}, {np.dtype(kind).name}"
            count = int(np.prod(batch))
            exact = np.array([np.einsum(spec, *[basis] * dim, one, *[basis] * dim) for one in
                              d.reshape((count,) + d.shape[len(batch):]).astype(float)])
            exact = exact.reshape(batch + (dofs ** dim,) * 2)
            matrices, u = fem.mass_assemble(basis, d, dim=dim), fem.mass_action(basis, d, v, dim=dim)
            check(matrices.dtype == u.dtype == kind, f"{what}: types")
            check(matrices.shape == exact.shape and u.shape == v.shape, f"{what}: shapes")
            size = np.abs(exact).max(initial=1e-9)
            check(np.abs(matrices - exact).max(initial=0) < limit * size, f"{what}: matrices")
            applied = (exact @ v.reshape(batch + (dofs ** dim, 1)).astype(float)).reshape(v.shape)
            check(np.abs(u - applied).max(initial=0) < 10 * limit * size * dofs ** dim, f"{what}: applied")
            if batch:  # any memory order; results in the caller's array, also over an input
                turned = fem.mass_action(np.asfortranarray(basis), np.asfortranarray(d), v, dim=dim)
                check(np.array_equal(turned, u), f"{what}: order")
                place = v.copy()
                check(fem.mass_action(basis, d, place, dim=dim, out=place) is place, f"{what}: out")
                check(np.array_equal(place, u), f"{what}: the values in out")
for wrong, word in ((lambda: fem.mass_action(values, np.ones((3, 3)), np.ones((2, 2)), dim=2), "d:"),
                    (lambda: fem.mass_action(values, np.ones((2, 2)), np.ones((3, 2)), dim=2), "v:"),
                    (lambda: fem.mass_action(values, np.ones((5, 2, 2)), np.ones((4, 2, 2)), dim=2), "v:"),
                    (lambda: fem.mass_assemble(values, np.ones((2, 2)), dim=4), "dim"),
                    (lambda: fem.mass_assemble(np.ones((17, 2)), np.ones((17, 17)), dim=2), "basis"),
                    (lambda: fem.basis(1, 3), "dofs"), (lambda: fem.basis(3, 17), "points")):
    raises(ValueError, word, wrong)

# Gradients of polynomials are exact, and so are the derivatives of the basis.
for dofs, points in ((2, 1), (3, 4), (5, 5), (16, 16)):
    at = (np.polynomial.legendre.leggauss(points)[0] + 1) / 2
    slopes, values = fem.slopes(dofs, points), fem.basis(dofs, points)[0]
    check(np.abs(slopes.sum(1)).max() < 1e-9 * dofs ** 2, f"slopes of a constant, {dofs}")
    nodes = np.linalg.lstsq(fem.basis(dofs, 16)[0], (np.polynomial.legendre.leggauss(16)[0] + 1) / 2, rcond=None)[0]
    for power in range(1, dofs):
        check(np.allclose(slopes @ nodes ** power, power * at ** (power - 1), atol=1e-8), f"slope of x^{power}, {dofs}")
for dim, spec in ((2, "ka,lb,ab->kl"), (3, "ka,lb,mc,abc->klm")):
    for kind, limit in ((np.float64, 1e-11), (np.float32, 1e-4)):
        dofs, points, low, batch = 4, 5, 3, (2, 3)
        values, slopes, energy = fem.basis(dofs, points)[0], fem.slopes(dofs, points), fem.basis(low, points)[0]
        v = random.normal(size=batch + (dim,) + (dofs,) * dim).astype(kind)
        stress = random.normal(size=batch + (dim, dim) + (points,) * dim).astype(kind)
        found = fem.gradient(values, slopes, v, dim=dim)
        inputs, outs = spec.split(",")[-1].split("->")
        terms = ",".join(spec.split(",")[:-1])
        exact = np.stack([np.einsum(f"{terms},...{inputs}->...{outs}",
                                    *[slopes if axis == d else values for axis in range(dim)], v.astype(float))
                          for d in range(dim)], axis=-dim - 1)
        check(found.dtype == kind and found.shape == exact.shape, f"gradient {dim} {kind}: {found.shape}")
        check(np.abs(found - exact).max() < limit * np.abs(exact).max(), f"gradient, {dim}, {kind}")
        # F by its definition, all points at once
        tables = [[slopes if axis == d else values for axis in range(dim)] for d in range(dim)]
        kron = [one[0] if dim == 1 else np.kron(one[0], one[1]) if dim == 2 else
                np.kron(np.kron(one[0], one[1]), one[2]) for one in tables]
        phi = np.kron(energy, energy) if dim == 2 else np.kron(np.kron(energy, energy), energy)
        flat = stress.reshape(batch + (dim, dim, -1)).astype(float)
        wanted = np.einsum("...cdk,dki,kj->...cij", flat, np.stack(kron), phi)
        wanted = wanted.reshape(batch + (-1, low ** dim))
        matrix = fem.force(values, slopes, stress, energy, dim=dim)
        check(matrix.dtype == kind and matrix.shape == wanted.shape, f"force: {matrix.dtype}, {matrix.shape}")
        size = np.abs(wanted).max()
        check(np.abs(matrix - wanted).max() < limit * size, f"force, {dim}, {kind}")
        action = fem.force_action(values, slopes, stress, dim=dim)
        work = fem.force_work(values, slopes, stress, v, energy, dim=dim)
        check(np.abs(action.reshape(batch + (-1,)) - wanted.sum(-1)).max() < 30 * limit * size, f"F 1, {dim}, {kind}")
        transposed = np.einsum("...ij,...i->...j", wanted, v.reshape(batch + (-1,)).astype(float))
        check(work.shape == batch + (low,) * dim and
              np.abs(work.reshape(batch + (-1,)) - transposed).max() < 100 * limit * size, f"F^T v, {dim}, {kind}")
for wrong, word in ((lambda: fem.gradient(values, slopes[1:], v), "slopes"),
                    (lambda: fem.gradient(values, slopes, v[..., 1:]), "v:"),
                    (lambda: fem.force_action(values, slopes, stress[:, :, :2]), "stress"),
                    (lambda: fem.force(values, slopes, stress, energy[1:]), "energy"),
                    (lambda: fem.slopes(1, 2), "dofs")):
    raises(ValueError, word, wrong)
end()
