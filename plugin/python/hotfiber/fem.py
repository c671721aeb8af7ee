"""Operators of high-order finite elements on squares and cubes, for many elements: mass, gradient, corner force.

    from hotfiber import fem
    basis, weights = fem.basis(4, 5)                            # order 3, 5 points: (5, 4), (5,)
    u = fem.mass_action(basis, d, v)                            # d (..., 5, 5, 5), v and u (..., 4, 4, 4)
    g = fem.gradient(basis, fem.slopes(4, 5), v)                # (..., 3, 5, 5, 5)

The mass matrix of an element is B^T D B: B evaluates the basis functions, products of those of the axes, at the points;
D is diagonal: weight times density times Jacobian determinant. (Abdelfattah et al. 2016, High-performance tensor
contractions for GPUs, section 3.) Computed in float32 where d (and v) are float32, else in float64.

The corner force of a Lagrangian step (equations 1 and 2 there; Dobrev, Kolev, Rieben 2012) is the matrix
F_(c,i),j = sum over points k and axes d of stress_cdk (dw_i/dx_d)(k) phi_j(k), w the functions of velocity, phi those
of energy. The caller's stress holds the factors of the point: weight, determinant, and the inverse Jacobian that turns
derivatives along the element's axes into those of space. These functions are sums of `hotfiber.contract`."""
# Arguments become arrays under the same name, but mypy uses their declared types:
# mypy: disable-error-code="union-attr,assignment,arg-type"
from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from . import _declarations as c
from ._arrays import address, choice, count, host, outputs, overlaps, real
from ._contract import contract
from ._library import Context, lib
from ._types import Progress

__all__ = ["Basis", "basis", "force", "force_action", "force_work", "gradient", "mass_action", "mass_assemble",
           "slopes"]


class Basis(NamedTuple):
    """Basis functions of an axis at its quadrature points."""
    values: np.ndarray  #: (points, dofs)
    weights: np.ndarray  #: (points,)


def basis(dofs: int, points: int) -> Basis:
    """The Lagrange polynomials of the Gauss-Lobatto nodes in [0, 1], at the Gauss-Legendre points of [0, 1].

    dofs: 2 to 16, one more than the order. points: 1 to 16.

    >>> from hotfiber import fem
    >>> values, weights = fem.basis(3, 4)
    >>> print(values.sum(1).round(9), weights.sum().round(9))   # a partition of one; the length of the axis
    [1. 1. 1. 1.] 1.0
    """
    dofs, points = count("dofs", dofs, 2, c.HOT_FEM_POINTS), count("points", points, 1, c.HOT_FEM_POINTS)
    values, weights = np.empty((dofs, points)), np.empty(points)
    with Context("cpu") as context:
        context.check(lib.hot_fem_basis(context.handle, dofs, points, address(values), address(weights)))
    return Basis(values.T, weights)


def _elements(basis, d, dim, *rest):
    """The arrays in one type, the basis point by point; points and basis functions of an axis; the batch."""
    basis, d, rest = host("basis", basis), host("d", d), [host("v", one) for one in rest]
    kind = np.float32 if all(one.dtype.newbyteorder("=") == np.float32 for one in (d, *rest)) else np.float64
    if basis.ndim != 2 or not 0 < min(basis.shape) <= max(basis.shape) <= c.HOT_FEM_POINTS:
        raise ValueError(f"basis: a shape of (points, dofs), each 1 to {c.HOT_FEM_POINTS}, is needed, not "
                         f"{basis.shape}")
    points, dofs = basis.shape
    if d.ndim < dim or d.shape[d.ndim - dim:] != (points,) * dim:
        raise ValueError(f"d: for {dim} axes with {points} points a shape of (..., "
                         f"{', '.join([str(points)] * dim)}) is needed, not {d.shape}")
    return real("basis", basis.T, kind), real("d", d, kind), [real("v", one, kind) for one in rest], d.shape[:-dim]


def mass_action(basis: ArrayLike, d: ArrayLike, v: ArrayLike, *, dim: int = 3, out: np.ndarray | None = None,
                device: str = "auto", threads: int = 0, progress: Progress = None) -> np.ndarray:
    """Applies the mass matrix of each element, without assembling it.

    basis: (points, dofs), the same for all axes and elements.
    d: (..., points, points[, points]) weight times density times Jacobian determinant.
    v: (..., dofs, dofs[, dofs]) coefficients.
    dim: 2 or 3 axes.
    out: an array for the result.
    device, threads, progress: see `hotfiber.sshopm`.
    Returns u, with the shape of v.

    >>> import numpy as np
    >>> from hotfiber import fem
    >>> values, w = fem.basis(3, 4)
    >>> u = fem.mass_action(values, w[:, None] * w, np.ones((3, 3)), dim=2)
    >>> print(u.sum().round(9))                                 # the area of the unit square
    1.0
    """
    dim = choice("dim", dim, {2: 2, 3: 3})
    rows, d, (v,), batch = _elements(basis, d, dim, v)
    dofs, points = rows.shape
    if v.shape != batch + (dofs,) * dim:
        raise ValueError(f"v: for this basis and d a shape of {batch + (dofs,) * dim} is needed, not {v.shape}")
    result, = outputs(out, (v.shape, v.dtype))
    if overlaps([d, v], [result]):
        d, v = d.copy(), v.copy()
    function = lib.hot_fem_mass_action_f32 if v.dtype == np.float32 else lib.hot_fem_mass_action_f64
    with Context(device, threads, 0, progress) as context:
        context.check(function(context.handle, dim, dofs, points, address(rows), math.prod(batch), address(d),
                               address(v), address(result.array)))
    return result.done()


def mass_assemble(basis: ArrayLike, d: ArrayLike, *, dim: int = 3, out: np.ndarray | None = None,
                  device: str = "auto", threads: int = 0, progress: Progress = None) -> np.ndarray:
    """Assembles the mass matrix of each element.

    basis, d, dim, out, device, threads, progress: as `mass_action`.
    Returns (..., dofs^dim, dofs^dim), symmetric: `matrix @ v.ravel()` is `mass_action(basis, d, v).ravel()`.

    >>> from hotfiber import fem
    >>> values, w = fem.basis(2, 3)
    >>> print(fem.mass_assemble(values, w[:, None] * w, dim=2).sum().round(9))
    1.0
    """
    dim = choice("dim", dim, {2: 2, 3: 3})
    rows, d, _, batch = _elements(basis, d, dim)
    dofs, points = rows.shape
    result, = outputs(out, (batch + (dofs ** dim, dofs ** dim), d.dtype))
    if overlaps([d], [result]):
        d = d.copy()
    function = lib.hot_fem_mass_assemble_f32 if d.dtype == np.float32 else lib.hot_fem_mass_assemble_f64
    with Context(device, threads, 0, progress) as context:
        context.check(function(context.handle, dim, dofs, points, address(rows), math.prod(batch), address(d),
                               address(result.array)))
    return result.done()


def slopes(dofs: int, points: int) -> np.ndarray:
    """The derivatives of the functions of `basis` at the same points, (points, dofs).

    >>> from hotfiber import fem
    >>> print(fem.slopes(2, 1))                                 # of 1 - x and x
    [[-1.  1.]]
    """
    dofs, points = count("dofs", dofs, 2, c.HOT_FEM_POINTS), count("points", points, 1, c.HOT_FEM_POINTS)
    legendre = np.polynomial.legendre
    inner = legendre.legroots(legendre.legder([0] * (dofs - 1) + [1])) if dofs > 2 else []
    nodes, at = (np.r_[-1, np.sort(inner), 1] + 1) / 2, (legendre.leggauss(points)[0] + 1) / 2
    made = np.zeros((points, dofs))
    for i in range(dofs):
        others = np.delete(nodes, i)
        for j in range(dofs - 1):  # the product rule
            made[:, i] += np.prod(at[:, None] - np.delete(others, j), axis=1)
        made[:, i] /= np.prod(nodes[i] - others)
    return made


def _axes(basis, slopes, dim):
    """The matrices of each derivative's axes: slopes for its own, else the basis."""
    basis, slopes = np.asarray(basis, float), np.asarray(slopes, float)
    if basis.ndim != 2 or slopes.shape != basis.shape:
        raise ValueError(f"basis, slopes: one shape of (points, dofs) is needed, not {basis.shape} and {slopes.shape}")
    return [[slopes if axis == along else basis for axis in range(dim)] for along in range(dim)]


def _of_kind(array, kind):
    return np.asarray(array, np.float32 if kind == np.float32 else float)


def _checked(name, array, tail):
    array = host(name, array)
    if array.shape[array.ndim - len(tail):] != tail:
        raise ValueError(f"{name}: a shape of (..., {', '.join(map(str, tail))}) is needed, not {array.shape}")
    return array


def gradient(basis: ArrayLike, slopes: ArrayLike, v: ArrayLike, *, dim: int = 3, device: str = "auto",
             threads: int = 0) -> np.ndarray:
    """The derivatives of v along each axis of the element, at the quadrature points.

    basis, slopes: (points, dofs), see `slopes`.
    v: (..., dofs, dofs[, dofs]) coefficients.
    dim, device, threads: as `mass_action`.
    Returns (..., dim, points, points[, points]); the derivative along the first of v's axes is first.

    >>> from hotfiber import fem
    >>> values, _ = fem.basis(2, 1)
    >>> fem.gradient(values, fem.slopes(2, 1), [[0., 1.], [2., 3.]], dim=2).ravel().tolist()    # 2 x + y
    [2.0, 1.0]
    """
    dim = choice("dim", dim, {2: 2, 3: 3})
    axes = _axes(basis, slopes, dim)
    v = _checked("v", v, (axes[0][0].shape[1],) * dim)
    spec = "ka,lb,ab->kl" if dim == 2 else "ka,lb,mc,abc->klm"
    return np.stack([contract(spec, *(_of_kind(one, v.dtype) for one in axis), v, device=device, threads=threads)
                     for axis in axes], axis=-dim - 1)


def force_action(basis: ArrayLike, slopes: ArrayLike, stress: ArrayLike, *, dim: int = 3, device: str = "auto",
                 threads: int = 0) -> np.ndarray:
    """The corner force times one, F 1, without assembling it: the right side of the momentum's equation.

    basis, slopes: (points, dofs) of the velocity. stress: (..., dim, dim, points, points[, points]), component first.
    dim, device, threads: as `mass_action`.
    Returns (..., dim, dofs, dofs[, dofs]).

    >>> import numpy as np
    >>> from hotfiber import fem
    >>> values, w = fem.basis(2, 1)
    >>> fem.force_action(values, fem.slopes(2, 1), np.eye(2)[:, :, None, None], dim=2)[0].tolist()
    [[-0.5, -0.5], [0.5, 0.5]]
    """
    dim = choice("dim", dim, {2: 2, 3: 3})
    axes = _axes(basis, slopes, dim)
    stress = _checked("stress", stress, (dim, dim) + (axes[0][0].shape[0],) * dim)
    spec = "ka,lb,kl->ab" if dim == 2 else "ka,lb,mc,klm->abc"
    along: np.ndarray = np.moveaxis(stress, -dim - 1, 0)
    return np.sum([contract(spec, *(_of_kind(one, stress.dtype) for one in axis), part, device=device, threads=threads)
                   for axis, part in zip(axes, along)], axis=0)


def force_work(basis: ArrayLike, slopes: ArrayLike, stress: ArrayLike, v: ArrayLike, energy: ArrayLike, *, dim: int = 3,
               device: str = "auto", threads: int = 0) -> np.ndarray:
    """The transposed corner force times a velocity, F^T v, without assembling it: the right side of the energy's
    equation.

    basis, slopes, stress, dim, device, threads: as `force_action`.
    v: (..., dim, dofs, dofs[, dofs]). energy: (points, energy dofs), the basis of the energy.
    Returns (..., energy dofs, energy dofs[, energy dofs]).

    >>> import numpy as np
    >>> from hotfiber import fem
    >>> values, w = fem.basis(2, 1)
    >>> v = np.stack([[[0., 0], [1, 1]], [[0., 1], [0, 1]]])    # (x, y): its divergence is 2
    >>> fem.force_work(values, fem.slopes(2, 1), np.eye(2)[:, :, None, None], v, [[1.]], dim=2).tolist()
    [[2.0]]
    """
    dim = choice("dim", dim, {2: 2, 3: 3})
    axes = _axes(basis, slopes, dim)
    energy = np.asarray(energy, float)
    stress = _checked("stress", stress, (dim, dim) + (axes[0][0].shape[0],) * dim)
    v = _checked("v", v, (dim,) + (axes[0][0].shape[1],) * dim)
    if energy.ndim != 2 or len(energy) != len(axes[0][0]):
        raise ValueError(f"energy: a shape of ({len(axes[0][0])}, energy dofs) is needed, not {energy.shape}")
    work = (stress * gradient(basis, slopes, v, dim=dim, device=device, threads=threads)).sum((-dim - 2, -dim - 1))
    spec = "ka,lb,kl->ab" if dim == 2 else "ka,lb,mc,klm->abc"
    return contract(spec, *[_of_kind(energy, work.dtype)] * dim, work, device=device, threads=threads)


def force(basis: ArrayLike, slopes: ArrayLike, stress: ArrayLike, energy: ArrayLike, *, dim: int = 3,
          device: str = "auto", threads: int = 0) -> np.ndarray:
    """Assembles the corner force of each element.

    basis, slopes, stress, energy, dim, device, threads: as `force_work`.
    Returns (..., dim dofs^dim, energy dofs^dim): `matrix @ ones` is `force_action`, `matrix.T @ v.ravel()` is
        `force_work`.

    >>> import numpy as np
    >>> from hotfiber import fem
    >>> values, w = fem.basis(2, 1)
    >>> fem.force(values, fem.slopes(2, 1), np.eye(2)[:, :, None, None], [[1.]], dim=2).ravel().tolist()
    [-0.5, -0.5, 0.5, 0.5, -0.5, 0.5, -0.5, 0.5]
    """
    dim = choice("dim", dim, {2: 2, 3: 3})
    axes = _axes(basis, slopes, dim)
    energy = np.asarray(energy, float)
    stress = _checked("stress", stress, (dim, dim) + (axes[0][0].shape[0],) * dim)
    if energy.ndim != 2 or len(energy) != len(axes[0][0]):
        raise ValueError(f"energy: a shape of ({len(axes[0][0])}, energy dofs) is needed, not {energy.shape}")

    def whole(matrices):
        return _of_kind(functools.reduce(np.kron, matrices), stress.dtype)
    flat = np.moveaxis(stress.reshape(stress.shape[:-dim] + (-1,)), -2, 0)
    made = np.sum([contract("ki,k,kj->ij", whole(axis), part, whole([energy] * dim), device=device, threads=threads)
                   for axis, part in zip(axes, flat)], axis=0)
    return made.reshape(made.shape[:-3] + (-1, made.shape[-1]))
