"""Kernels on packed symmetric tensors: SS-HOPM, eigenpairs, directions, low-rank approximation.

A packed tensor of order m and dimension n is the C(m+n-1, m) unique values in lexicographic order (xxxx xxxy xxxz
xxyy ...), not multiplied by their multiplicity, along the last axis of an array."""
# Arguments become arrays under the same name, but mypy uses their declared types:
# mypy: disable-error-code="union-attr,assignment,arg-type"
from __future__ import annotations

import ctypes
import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from . import _declarations as c
from ._arrays import Output, address, choice, count, mask_bytes, number, options, outputs, overlaps, real
from ._gpu import There
from ._library import Context, lib
from ._types import Out, PairKind, Progress, Seek, Shift

_SEEK = {"max": c.HOT_MAXIMA, "min": c.HOT_MINIMA, "all": c.HOT_ALL_PAIRS}


@functools.lru_cache(None)
def _order_of(values, dim):
    return next((order for order in range(2, c.HOT_ORDER_MAX + 1)
                 if dim > 1 and lib.hot_symtensor_count(order, dim) == values), 0)


def _order(name, array, dim):
    """The order of packed tensors, from how many values they have."""
    count("dim", dim, 2, 16)
    values = array.shape[-1] if array.ndim else 0
    if _order_of(values, dim):
        return _order_of(values, dim)
    raise ValueError(f"{name}: {values} values along the last axis are no packed tensor of dimension {dim}"
                     + (" (6, 15, 28, 45 for orders 2, 4, 6, 8)" if dim == 3 else ""))


def _shift(shift):
    """The library's two numbers for a shift."""
    if isinstance(shift, str):
        return choice("shift", shift, {"adaptive": c.HOT_SHIFT_ADAPTIVE, "none": c.HOT_SHIFT_NONE}), 0.0
    return c.HOT_SHIFT_FIXED, shift


def _starts(starts, dim, seed):
    """Starting vectors as an array: evenly spread in dimension 3, else random."""
    if not isinstance(starts, (int, np.integer)):
        given = real("starts", starts, np.float64)
        if given.ndim != 2 or given.shape[1] != dim:
            raise ValueError(f"starts: a number, or an array of shape (count, {dim}), not {given.shape}")
        return given
    starts = count("starts", starts, 1, 10**9)
    if dim != 3:
        seed = count("seed", seed, 0, 2**64 - 1)
        vectors = np.empty((starts, dim))
        lib.hot_starts_random(seed, dim, starts, address(vectors))
        return vectors
    return _even(starts) if starts <= 1024 else _even.__wrapped__(starts)


@functools.lru_cache(8)
def _even(starts):
    vectors = np.empty((starts, 3))
    lib.hot_starts_even(starts, address(vectors))
    vectors.flags.writeable = False  # others get them, too
    return vectors


class Sshopm(NamedTuple):
    """The result of SS-HOPM for each start."""
    values: np.ndarray  #: (..., starts) eigenvalues, in the tensor's unit
    vectors: np.ndarray  #: (..., starts, dim) unit eigenvectors
    residuals: np.ndarray  #: (..., starts) ||A x^(m-1) - lambda x||
    iterations: np.ndarray  #: (..., starts) steps, int32; negative where it did not converge


def sshopm(tensors: ArrayLike, starts: int | ArrayLike = 128, *, dim: int = 3, shift: Shift = "adaptive",
           seek: Seek = "max", tolerance: float = 0.0, change: float = 0.0, max_iterations: int = 0,
           out: Out = None, device: str = "auto", threads: int = 0, seed: int = 0,
           progress: Progress = None) -> Sshopm:
    """Runs the shifted symmetric higher-order power method on every tensor from every start.

    tensors: (..., unique) packed symmetric tensors, any real type; computed in float32 where they are float32, else in
        float64. Order 2 to 16. An array in a GPU's memory (PyTorch, CuPy, DLPack) is computed on there, on its
        library's current stream and without waiting, and so are those of `directions`, `lowrank`, `heev`, `tridiag`
        and `contract`; results are arrays of the same library.
    starts: how many (evenly spread for dim 3, else random), or vectors (count, dim).
    dim: of the tensors, 2 to 16.
    shift: "adaptive", "none", or a number (negative: minima).
    seek: "max" or "min"; with a fixed shift its sign decides instead.
    tolerance: of the residual, relative to the scale of the tensor; 0 = the default; negative: all iterations.
    change: > 0: stop when lambda changes by less, instead (Ballard, Kolda, Plantenga 2011).
    max_iterations: 0 = 1000.
    out: up to four arrays for the results, in their order.
    device: "auto", "cpu", "cuda" or "cuda:N". threads: 0 = all cores. seed: of random starts.
    progress: called as progress(stage, fraction); what it raises ends the call.

    A tensor with NaN or Inf gives NaN.

    >>> import hotfiber
    >>> found = hotfiber.sshopm([[3., 0, 0, 2, 0, 1]])      # order 2: the matrix diag(3, 2, 1)
    >>> found.vectors.shape, found.values[0, 0].round(9).item()
    ((1, 128, 3), 3.0)
    """
    tensors = real("tensors", tensors, there=True)
    order, kind = _order("tensors", tensors, dim), tensors.dtype
    starts = _starts(starts, dim, seed).astype(kind)
    batch = tensors.shape[:-1] + (len(starts),)
    results = outputs(out, (batch, kind), (batch + (dim,), kind), (batch, kind), (batch, np.int32), like=tensors)
    if overlaps([tensors, starts], results):
        tensors, starts = tensors.copy(), starts.copy()
    how, alpha = _shift(shift)
    chosen = options(c.hot_sshopm_options, shift=how, alpha=alpha, change=change,
                     tolerance=c.HOT_ZERO if isinstance(tolerance, (int, float)) and tolerance < 0 else tolerance,
                     seek=choice("seek", seek, {"max": c.HOT_MAXIMA, "min": c.HOT_MINIMA}),
                     max_iterations=max_iterations)
    function = lib.hot_sshopm_f32 if kind == np.float32 else lib.hot_sshopm_f64
    with Context(device, threads, seed, progress, tensors) as context:
        context.check(function(context.handle, ctypes.byref(chosen), order, dim, tensors.size // tensors.shape[-1],
                               address(tensors), tensors.shape[-1], len(starts), address(starts),
                               *(address(one.array) for one in results)))
    return Sshopm(*(one.done() for one in results))


class Eigenpairs(NamedTuple):
    """The distinct real eigenpairs of each tensor, largest eigenvalue first; NaN in rows that are not used."""
    values: np.ndarray  #: (..., pairs) eigenvalues, in the tensor's unit
    vectors: np.ndarray  #: (..., pairs, dim) unit eigenvectors
    residuals: np.ndarray  #: (..., pairs) ||A x^(m-1) - lambda x||
    kinds: np.ndarray  #: (..., pairs) 1 local maximum, -1 local minimum, 0 saddle or degenerate
    found: np.ndarray  #: (...) how many there are, int32; -1 for a tensor with NaN or Inf


def eigenpairs(tensors: ArrayLike, *, dim: int = 3, kind: PairKind = "all", starts: int | ArrayLike = 0,
               shift: Shift = "adaptive", pairs: int | None = None, same_angle: float = 0.0,
               device: str = "auto", threads: int = 0, seed: int = 0, progress: Progress = None) -> Eigenpairs:
    """Finds the real eigenpairs A x^(m-1) = lambda x, ||x|| = 1, of every tensor: the critical points of A x^m on the
    sphere.

    tensors: (..., unique) packed symmetric tensors, any real type; computed in float64. Order 2 to 16.
    dim: 2 to 16.
    kind: "max", "min" or "all" (with saddles).
    starts: vectors (count, dim), or their number; 0 = chosen by order and dimension.
    shift: "adaptive", "none" or a number.
    pairs: rows of the result; None = the largest number of pairs of a tensor, at most 512.
    same_angle: degrees below which two pairs are the same; 0 = 0.05.
    device, threads, seed, progress: see `sshopm`.

    x and -x are one pair; of odd orders the one with lambda >= 0.

    >>> import hotfiber
    >>> hotfiber.eigenpairs([3., 0, 0, 2, 0, 1]).values.round(9)
    array([3., 2., 1.])
    """
    tensors = real("tensors", tensors, np.float64)
    order = _order("tensors", tensors, dim)
    how, alpha = _shift(shift)
    chosen = options(c.hot_sshopm_options, shift=how, alpha=alpha, seek=choice("kind", kind, _SEEK),
                     same_angle=same_angle)
    number = int(starts) if isinstance(starts, (int, np.integer)) else 0
    given = None if isinstance(starts, (int, np.integer)) else _starts(starts, dim, seed)
    count("starts", number, 0, 10**9)
    most = min(lib.hot_eigenpairs_bound(order, dim), 512) if pairs is None else count("pairs", pairs, 1, 10**6)
    batch = tensors.shape[:-1]
    rows, found = np.empty(batch + (most, dim + 3)), np.empty(batch, np.int32)
    with Context(device, threads, seed, progress) as context:
        context.check(lib.hot_eigenpairs_f64(context.handle, ctypes.byref(chosen), order, dim, found.size,
                                             address(tensors), tensors.shape[-1],
                                             number if given is None else len(given), address(given), most,
                                             address(rows), address(found)))
    if pairs is None:
        rows = rows[..., :min(most, max(1, found.max(initial=0))), :]
    return Eigenpairs(rows[..., 0], rows[..., 1:1 + dim], rows[..., 1 + dim], rows[..., 2 + dim], found)


class Directions(NamedTuple):
    """Directions of each tensor, longest first; missing ones are 0."""
    directions: np.ndarray  #: (..., most, 3) float32 vectors: their length is lambda, or the weight of `lowrank`
    found: np.ndarray  #: (...) uint8 how many; 255 for a tensor with NaN or Inf


def _tensors3(tensors):
    tensors = real("tensors", tensors, np.float32, there=True)
    return tensors, _order("tensors", tensors, 3)


def directions(tensors: ArrayLike, *, max_directions: int = 3, threshold: float = -1.0, min_angle: float = -1.0,
               min_relative_range: float = -1.0, starts: int = 0, shift: Shift = "adaptive",
               mask: ArrayLike | None = None, out: Out = None, device: str = "auto", threads: int = 0, seed: int = 0,
               progress: Progress = None) -> Directions:
    """Finds the local maxima of the form A x^m of every tensor on the sphere.

    tensors: (..., 6 | 15 | 28 | 45) packed symmetric tensors of order 2, 4, 6, 8 (and 66, 91 for 10, 12), any real
        type; computed in float32.
    max_directions: 1 to 16.
    threshold: maxima below this fraction of the largest one are dropped; negative = 0.25.
    min_angle: degrees: of two maxima closer than this the lower is dropped; negative = 15.
    min_relative_range: forms flatter than this have no direction; negative = 1e-4.
    starts: 0 = a scan of the sphere; else SS-HOPM from so many starts, with `shift` as in `sshopm`.
    mask: (...) where to compute; elsewhere the results are 0.
    out: up to two arrays for the results, in their order.
    device, threads, seed, progress: see `sshopm`.

    >>> import hotfiber
    >>> found = hotfiber.directions([[1., 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 2.]])
    >>> found.found.tolist(), found.directions[:, 0].round(4).tolist()
    ([1, 1], [[1.0, 0.0, 0.0], [0.0, 0.0, 2.0]])
    """
    tensors, order = _tensors3(tensors)
    batch, most = tensors.shape[:-1], count("max_directions", max_directions, 1, 16)
    inside = mask_bytes(mask, batch, tensors)
    results = outputs(out, (batch + (most, 3), np.float32), (batch, np.uint8), like=tensors)
    if overlaps([tensors, inside], results):
        tensors = tensors.copy()
    how, alpha = _shift(shift)
    chosen = options(c.hot_directions_options, max_directions=most, threshold=number(threshold), starts=starts,
                     min_angle=number(min_angle), min_relative_range=number(min_relative_range), shift=how, alpha=alpha)
    with Context(device, threads, seed, progress, tensors) as context:
        context.check(lib.hot_directions_f32(context.handle, ctypes.byref(chosen), order,
                                             tensors.size // tensors.shape[-1], address(tensors), tensors.shape[-1],
                                             address(inside), *(address(one.array) for one in results)))
    return Directions(*(one.done() for one in results))


class Lowrank(NamedTuple):
    """Rank-1 terms of each tensor, A ~ sum_i w_i v_i^m, largest weight first; missing ones are 0."""
    directions: np.ndarray  #: (..., most, 3) float32 vectors w_i v_i
    found: np.ndarray  #: (...) uint8 how many; 255 for a tensor with NaN or Inf
    residual: np.ndarray  #: (...) float32 ||A - approximation|| / ||A||


def lowrank(tensors: ArrayLike, max_rank: int = 3, *, exact_rank: bool = False, drop: float = 0.0, floor: float = 0.0,
            min_weight: float = -1.0, min_angle: float = -1.0, mask: ArrayLike | None = None, out: Out = None,
            device: str = "auto", threads: int = 0, seed: int = 0, progress: Progress = None) -> Lowrank:
    """Approximates every tensor by one to three rank-1 terms (Schultz, Seidel 2008).

    tensors: (..., 15 | 28 | 45) packed symmetric tensors of order 4, 6, 8, any real type; computed in float32.
    max_rank: 1 to 3. exact_rank: the best fit found with that many terms (some may be 0); twice the time.
    drop, floor, min_weight, min_angle: how the number of terms is chosen; 0, 0, negative, negative = the defaults.
    mask: (...) where to compute; elsewhere the results are 0.
    out: up to three arrays for the results, in their order.
    device, threads, seed, progress: see `sshopm`.

    >>> import hotfiber, numpy as np
    >>> tensor = np.zeros(15); tensor[0] = 2         # 2 x^4: one term along x, or -x
    >>> abs(hotfiber.lowrank(tensor).directions[0]).round(4).tolist()
    [2.0, 0.0, 0.0]
    """
    tensors, order = _tensors3(tensors)
    batch, most = tensors.shape[:-1], count("max_rank", max_rank, 1, 3)
    inside = mask_bytes(mask, batch, tensors)
    results = outputs(out, (batch + (most, 3), np.float32), (batch, np.uint8), (batch, np.float32), like=tensors)
    if overlaps([tensors, inside], results):
        tensors = tensors.copy()
    chosen = options(c.hot_lowrank_options, max_rank=most, exact_rank=bool(exact_rank), drop=drop,
                     floor=floor, min_weight=number(min_weight), min_angle=number(min_angle))
    with Context(device, threads, seed, progress, tensors) as context:
        context.check(lib.hot_lowrank_f32(context.handle, ctypes.byref(chosen), order,
                                          tensors.size // tensors.shape[-1], address(tensors), tensors.shape[-1],
                                          address(inside), *(address(one.array) for one in results)))
    return Lowrank(*(one.done() for one in results))


def values(tensors: ArrayLike, points: ArrayLike, *, out: np.ndarray | None = None) -> np.ndarray:
    """Evaluates A x^m for every tensor at every point.

    tensors: (..., unique) packed symmetric tensors of dimension 3, any real type.
    points: (count, 3), of any length.
    Returns (..., count) float64.

    >>> import hotfiber
    >>> hotfiber.values([3., 0, 0, 2, 0, 1], [[1, 0, 0], [0, 1, 1]]).tolist()
    [3.0, 3.0]
    """
    tensors, at = real("tensors", tensors, np.float64), real("points", points, np.float64)
    order = _order("tensors", tensors, 3)
    if at.ndim != 2 or at.shape[1] != 3:
        raise ValueError(f"points: an array of shape (count, 3) is needed, not {at.shape}")
    # One product with the values of the monomials, times their multiplicity.
    unique = tensors.shape[-1]
    exponents, multiplicity = np.empty((unique, 3), np.int32), np.empty(unique)
    with Context("cpu") as context:
        context.check(lib.hot_symtensor_exponents(order, 3, address(exponents)))
        context.check(lib.hot_symtensor_multiplicity(order, 3, address(multiplicity)))
    monomials = np.prod(at[:, None, :] ** exponents, axis=-1) * multiplicity
    result = Output(tensors.shape[:-1] + (len(at),), np.float64, out)
    np.matmul(tensors, monomials.T, out=result.array)
    return result.done()


def forms(tensors: ArrayLike, points: ArrayLike, times: int, *, dim: int = 3, out: np.ndarray | None = None,
          device: str = "auto", threads: int = 0, progress: Progress = None) -> np.ndarray:
    """Contracts every tensor `times` times with every point: A x^p, a symmetric tensor of order m - p, p = `times`.

    tensors: (..., unique) packed symmetric tensors of order m, any real type; computed in float32 where they are
        float32, else in float64. An array in a GPU's memory is computed on there, as by `sshopm`; the points must be
        there, too.
    points: (count, dim), of any length.
    times: 0 (A itself) to m (the value A x^m); m - 1 gives the vectors A x^(m-1).
    dim: of the tensors, 2 to 16.
    out: an array for the result.
    device, threads, progress: see `sshopm`.
    Returns (..., count, values), packed tensors of order m - p; one value for p = m.

    >>> import hotfiber
    >>> hotfiber.forms([3., 0, 0, 2, 0, 1], [[1, 0, 0], [0, 1, 1]], 1).tolist()     # diag(3, 2, 1) times vectors
    [[3.0, 0.0, 0.0], [0.0, 2.0, 1.0]]
    """
    tensors = real("tensors", tensors, there=True)
    order, kind = _order("tensors", tensors, dim), tensors.dtype
    there = isinstance(tensors, There)
    at, times = real("points", points, kind, there=there), count("times", times, 0, order)
    if there and not isinstance(at, There):
        raise TypeError("points: the tensors are in a GPU's memory, and so must the points be")
    if at.ndim != 2 or at.shape[1] != dim:
        raise ValueError(f"points: an array of shape (count, {dim}) is needed, not {at.shape}")
    width = lib.hot_symtensor_count(order - times, dim) if times < order else 1
    points = at.shape[0]
    result, = outputs(out, (tensors.shape[:-1] + (points, width), kind), like=tensors)
    if overlaps([tensors, at], [result]):
        tensors, at = tensors.copy(), at.copy()
    function = lib.hot_symtensor_contract_f32 if kind == np.float32 else lib.hot_symtensor_contract_f64
    with Context(device, threads, 0, progress, tensors) as context:
        context.check(function(context.handle, order, dim, times, tensors.size // tensors.shape[-1], address(tensors),
                               tensors.shape[-1], points, address(at), address(result.array)))
    return result.done()
