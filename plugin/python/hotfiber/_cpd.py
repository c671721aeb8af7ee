"""CP decompositions that the library's own loop does not cover: four axes, missing values. Alternating (weighted) least
squares; all work on the tensor is the library's MTTKRP."""
from __future__ import annotations

import numpy as np

from ._library import ArgumentError, DataError

_NEAR = 1e-12  # weight of the previous values: decides where the data do not


def _rows(one, other):
    """The Khatri-Rao product of two factors, the first one's index fastest."""
    return np.asfortranarray((other[:, None] * one[None]).reshape(-1, one.shape[1]))


class _Products:
    """MTTKRP of a tensor of three or four axes, which becomes one of three with the factors of two axes merged."""

    def __init__(self, x, mttkrp, how):
        self.x, self.mttkrp, self.how = x, mttkrp, how

    def __call__(self, factors, mode):
        x, shape = self.x, self.x.shape
        if x.ndim == 3:
            return self.mttkrp(x, factors, mode, **self.how)
        a, b, c, d = factors
        if mode < 2:
            merged = x.reshape(shape[0], shape[1], -1, order="F"), [a, b, _rows(c, d)], mode
        else:
            merged = x.reshape(-1, shape[2], shape[3], order="F"), [_rows(a, b), c, d], mode - 1
        return self.mttkrp(*merged, **self.how)


def _squared(factor):
    """Products of each pair of a factor's columns: the lower triangle of each row's outer product."""
    row, column = np.tril_indices(factor.shape[1])
    return np.asfortranarray(factor[:, row] * factor[:, column])


def _normal(factors, mode, known):
    """The matrix of a mode's normal equations: one for all rows, or one for each if values are missing."""
    rank = factors[0].shape[1]
    if known is None:
        product = np.ones((rank, rank))
        for other, factor in enumerate(factors):
            if other != mode:
                wide = factor.astype(float)
                product *= wide.T @ wide
        return product[None]
    row, column = np.tril_indices(rank)
    packed = known([_squared(factor) for factor in factors], mode).astype(float)
    matrices = np.empty((len(packed), rank, rank))
    matrices[:, row, column] = matrices[:, column, row] = packed
    return matrices


def _solve(matrices, right, old, non_negative):
    """The factor that minimises the residual, near the old one where several do."""
    rank = right.shape[1]
    if non_negative:  # hierarchical: column by column
        new = old.copy()
        for r in range(rank):
            diagonal = matrices[:, r, r]
            step = right[:, r] - np.einsum("iq,iq->i", new, np.broadcast_to(matrices[:, :, r], new.shape))
            step = np.divide(step, diagonal, out=np.zeros_like(step), where=diagonal > 0)
            new[:, r] = np.maximum(new[:, r] + step, 0)
        return new
    trace = np.trace(matrices, axis1=1, axis2=2) / rank
    near = _NEAR * np.where(trace > 0, trace, trace.max() or 1)  # rows without a value keep the old ones
    damped = matrices + near[:, None, None] * np.eye(rank)
    return np.linalg.solve(np.broadcast_to(damped, (len(right), rank, rank)),
                           (right + near[:, None] * old)[:, :, None])[:, :, 0]


def _residual(x, there, weights, factors):
    """Squares of the residual over the known values, slice by slice of the last axis."""
    total = 0.
    for k in range(x.shape[-1]):
        last = weights * factors[-1][k]
        model = _rows(*factors[:2]) if len(factors) == 4 else factors[0]
        model = (model * last) @ factors[-2].T
        difference = x[..., k].reshape(model.shape, order="F") - model
        if there is not None:
            difference *= there[..., k].reshape(model.shape, order="F")
        total += float(np.sum(difference * difference, dtype=float))
    return total


def _start(x, rank, start, non_negative, seed):
    random = np.random.default_rng(seed)
    made = []
    for mode, length in enumerate(x.shape):
        factor = random.uniform(size=(length, rank)) if non_negative else random.standard_normal((length, rank))
        if start == "hosvd":
            unfolded = np.moveaxis(x, mode, 0).reshape(length, -1).astype(float)
            vectors = np.linalg.eigh(unfolded @ unfolded.T)[1][:, ::-1][:, :rank]
            factor[:, :vectors.shape[1]] = np.abs(vectors) if non_negative else vectors
        made.append(factor)
    return made


def _unit(factor):
    length = np.sqrt(np.sum(factor * factor, 0))
    return factor / np.where(length > 0, length, 1), length


def decompose(x, rank, missing, given, start, iterations, tolerance, non_negative, seed, mttkrp, how, step):
    """weights, factors, fit, iterations, converged, congruence. x: Fortran-ordered. given: factors to begin with, or
    None. step(done): called after each iteration; may raise."""
    there = None
    if missing:
        there = np.asfortranarray(~np.isnan(x), x.dtype)
        if not there.any():
            raise DataError("x: every value is missing (NaN)")
        x = np.nan_to_num(x, nan=0., posinf=np.inf, neginf=-np.inf)
    if not np.isfinite(x).all():
        raise DataError("x holds Inf" if missing else
                        "x holds NaN or Inf (missing=True takes NaN as missing values)")
    scale = float(np.max(np.abs(x))) or 1.  # squares must neither overflow nor vanish
    x = np.asfortranarray(x / scale, x.dtype)
    squares = float(np.sum(x * x, dtype=float))
    product = _Products(x, mttkrp, how)
    known = None if there is None else _Products(there, mttkrp, how)
    factors = [one.astype(float) for one in given] if given else _start(x, rank, start, non_negative, seed)
    if non_negative and any((one < 0).any() for one in factors):
        raise ArgumentError("start: non_negative needs factors that are not negative")
    weights, fit, converged, done = np.ones(rank), -np.inf, False, 0
    while done < iterations and not converged:
        for mode in range(x.ndim):
            narrow = [np.asfortranarray(one, x.dtype) for one in factors]
            right = product(narrow, mode).astype(float)
            matrices = _normal(narrow, mode, known)
            new = _solve(matrices, right, factors[mode] * weights, non_negative)
            loss = squares - 2 * np.sum(new * right) + np.einsum(
                "iq,iqr,ir->", new, np.broadcast_to(matrices, (len(new), rank, rank)), new, optimize=True)
            factors[mode], weights = _unit(new)
        done += 1
        before, fit = fit, 1 - np.sqrt(max(loss, 0) / squares) if squares else 1.
        converged = tolerance > 0 and abs(fit - before) < tolerance
        step(done)
    order = np.argsort(-weights, kind="stable")
    weights, factors = weights[order], [one[:, order] for one in factors]
    cosines = np.ones((rank, rank))
    for one in factors:
        cosines *= np.abs(one.T @ one)
    np.fill_diagonal(cosines, 0)
    narrow = [np.asfortranarray(one, x.dtype) for one in factors]
    fit = 1 - np.sqrt(_residual(x, there, weights, factors) / squares) if squares else 1.
    return (weights * scale).astype(x.dtype), narrow, float(fit), done, bool(converged), float(np.max(cosines))
