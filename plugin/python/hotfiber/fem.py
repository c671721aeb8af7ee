"""Mass operators of high-order finite elements on squares and cubes, for many elements.

    from hotfiber import fem
    basis, weights = fem.basis(4, 5)                            # order 3, 5 points: (5, 4), (5,)
    u = fem.mass_action(basis, d, v)                            # d (..., 5, 5, 5), v and u (..., 4, 4, 4)

The mass matrix of an element is B^T D B: B evaluates the basis functions, products of those of the axes, at the points;
D is diagonal: weight times density times Jacobian determinant. (Abdelfattah et al. 2016, High-performance tensor
contractions for GPUs, section 3.) Computed in float32 where d (and v) are float32, else in float64."""
# Arguments become arrays under the same name, but mypy uses their declared types:
# mypy: disable-error-code="union-attr,assignment,arg-type"
from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from . import _declarations as c
from ._arrays import address, choice, count, host, outputs, overlaps, real
from ._library import Context, lib
from ._types import Progress

__all__ = ["Basis", "basis", "mass_action", "mass_assemble"]


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
