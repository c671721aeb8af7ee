"""Kernels on arrays of any origin: Hermitian and tridiagonal eigenvalues, CP decomposition."""
# Arguments become arrays under the same name, but mypy uses their declared types:
# mypy: disable-error-code="union-attr,assignment,arg-type"
from __future__ import annotations

import ctypes
import math
import operator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Sequence, overload

import numpy as np
from numpy.typing import ArrayLike

from . import _declarations as c
from ._arrays import address, choice, count, host, options, outputs, overlaps, real, struct
from ._cpd import decompose
from ._gpu import There, is_there, load_cusolver
from ._library import ArgumentError, Context, lib
from ._types import Arithmetic, Progress, Start, Uplo


class Heev(NamedTuple):
    """Eigenvalues and eigenvectors of each matrix; NaN for one with NaN or Inf."""
    values: np.ndarray  #: (..., k) ascending
    vectors: np.ndarray  #: (..., n, k) orthonormal columns; None if not requested


if TYPE_CHECKING:
    class HeevValues(NamedTuple):
        """A Heev without eigenvectors."""
        values: np.ndarray
        vectors: None
else:
    HeevValues = Heev


_ENTRIES = np.float32, np.float64, np.complex64, np.complex128


@overload
def heev(matrices: ArrayLike, *, UPLO: Uplo = "L", largest: int | None = None, vectors: Literal[True] = True,
         out: np.ndarray | None = None, device: str = "auto", threads: int = 0, seed: int = 0,
         progress: Progress = None) -> Heev: ...


@overload
def heev(matrices: ArrayLike, *, UPLO: Uplo = "L", largest: int | None = None, vectors: Literal[False],
         out: np.ndarray | None = None, device: str = "auto", threads: int = 0, seed: int = 0,
         progress: Progress = None) -> HeevValues: ...


@overload
def heev(matrices: ArrayLike, *, UPLO: Uplo = "L", largest: int | None = None, vectors: bool,
         out: np.ndarray | None = None, device: str = "auto", threads: int = 0, seed: int = 0,
         progress: Progress = None) -> Heev | HeevValues: ...


def heev(matrices: ArrayLike, *, UPLO: Uplo = "L", largest: int | None = None, vectors: bool = True,
         out: np.ndarray | None = None, device: str = "auto", threads: int = 0, seed: int = 0,
         progress: Progress = None) -> Heev | HeevValues:
    """Computes eigenvalues and eigenvectors of many Hermitian or real symmetric matrices.

    matrices: (..., n, n), n at most 4096, in any order in memory. Complex and real types, computed in single
        precision for complex64 and float32, else in double. Arrays in a GPU's memory are read where they are if each
        matrix lies row by row or column by column, else from a copy there. Above n = 1024 a GPU needs cuSOLVER, which
        comes with CUDA, CuPy and PyTorch, and solves one matrix after the other.
    UPLO: which triangle is read, "L" the lower or "U" the upper one, as with numpy.linalg.eigh; the imaginary parts of
        the diagonal are ignored.
    largest: how many, from the largest eigenvalue on; None = all n.
    vectors: whether to compute them.
    out: an array for the values.
    device, threads, seed, progress: see `sshopm`, also for arrays in a GPU's memory.

    >>> import hotfiber
    >>> hotfiber.heev([[2, 1j], [-1j, 2]]).values.round(9)
    array([1., 3.])
    """
    if UPLO not in ("L", "l", "U", "u"):
        raise ValueError(f"UPLO: 'L' or 'U', not {UPLO!r}")
    upper = UPLO in ("U", "u")
    there = is_there(matrices)
    matrices = There("matrices", matrices, _ENTRIES, contiguous=False) if there else host("matrices", matrices)
    if matrices.ndim < 2 or matrices.shape[-1] != matrices.shape[-2]:
        raise ValueError(f"matrices: an array of shape (..., n, n) is needed, not {matrices.shape}")
    native = np.dtype(matrices.dtype).newbyteorder("=")
    is_complex, single = native.kind == "c", native in (np.complex64, np.float32)
    kind = np.float32 if single else np.float64
    entry = (np.complex64 if single else np.complex128) if is_complex else kind
    # The library takes columns that lie together. Where rows do, that is the transposed matrix, which is the conjugate;
    # its other triangle is meant.
    by_columns = matrices.is_contiguous(swapped=True) if there else bool(matrices.swapaxes(-1, -2).flags.c_contiguous)
    if there:
        matrices = matrices.packed("matrices", swapped=by_columns)
    else:
        matrices = matrices.swapaxes(-1, -2) if by_columns else matrices
        matrices = np.ascontiguousarray(matrices, entry) if is_complex else real("matrices", matrices, kind)
    batch, n = matrices.shape[:-2], matrices.shape[-1]
    if n > 1024 and device != "cpu":
        load_cusolver()
    kept = n if largest is None else count("largest", largest, min(n, 1), n)
    result, = outputs(out, (batch + (kept,), kind), like=matrices)
    if overlaps([matrices], [result]):
        matrices = matrices.copy()
    rows, = outputs(None, (batch + (kept, n), entry), like=matrices) if vectors else (None,)
    chosen = options(c.hot_heev_options, largest=0 if kept == n else kept,
                     uplo=c.HOT_HEEV_UPPER if upper == by_columns else c.HOT_HEEV_LOWER)
    function = getattr(lib, f"hot_{'heev' if is_complex else 'syev'}_{'f32' if single else 'f64'}")
    with Context(device, threads, seed, progress, matrices) as context:
        context.check(function(context.handle, ctypes.byref(chosen), n, math.prod(batch),
                               address(matrices), address(result.array), address(rows.array) if rows else None, None))
    if rows is None:
        return HeevValues(result.done(), None)
    columns = rows.done().swapaxes(-1, -2)
    return Heev(result.done(), columns.conj() if is_complex and not by_columns else columns)


def tridiag(diagonal: ArrayLike, off: ArrayLike, *, index: tuple[int, int] | None = None,
            interval: tuple[float, float] | None = None, absolute: float = 0.0, relative: float = 0.0,
            out: np.ndarray | None = None, device: str = "auto", threads: int = 0, seed: int = 0,
            progress: Progress = None) -> np.ndarray:
    """Computes eigenvalues of real symmetric tridiagonal matrices.

    diagonal: (..., n). off: (..., n - 1) the off-diagonal. Computed in float32 where both are float32, else float64.
    index: (first, last): only these eigenvalues, counted from 0 in ascending order.
    interval: (low, high): only eigenvalues with low <= lambda < high.
    absolute, relative: tolerances of an eigenvalue; 0 = as accurate as the precision allows.
    out: an array for the result.
    device, threads, seed, progress: see `sshopm`.
    Returns (..., k) ascending, k = n or last - first + 1; NaN beyond those found, and for a matrix with NaN or Inf.

    >>> import hotfiber
    >>> hotfiber.tridiag([2., 2, 2], [1., 1]).round(6)
    array([0.585786, 2.      , 3.414214])
    """
    diagonal, padded = _tridiagonal(diagonal, off)
    chosen, width = _tridiagonal_part(diagonal.shape[-1], index, interval, absolute, relative)
    kind, n = np.dtype(diagonal.dtype), diagonal.shape[-1]
    result, = outputs(out, (diagonal.shape[:-1] + (width,), kind), like=diagonal)
    if overlaps([diagonal], [result]):
        diagonal = diagonal.copy()
    function = lib.hot_tridiag_f32 if kind == np.float32 else lib.hot_tridiag_f64
    with Context(device, threads, seed, progress, diagonal) as context:
        context.check(function(context.handle, ctypes.byref(chosen), n, math.prod(diagonal.shape[:-1]),
                               address(diagonal), address(padded), n, address(result.array), width, None))
    return result.done()


def tridiag_vectors(diagonal, off, *, index=None, interval=None, absolute=0.0, threads=0):
    """Values as of `tridiag`, and vectors (..., n, k), of arrays in the host's memory."""
    diagonal, padded = _tridiagonal(host("diagonal", diagonal), off)
    chosen, width = _tridiagonal_part(diagonal.shape[-1], index, interval, absolute, 0)
    n, batch = diagonal.shape[-1], diagonal.shape[:-1]
    values, rows = np.empty(batch + (width,), diagonal.dtype), np.empty(batch + (width, n), diagonal.dtype)
    function = lib.hot_tridiag_vectors_f32 if diagonal.dtype == np.float32 else lib.hot_tridiag_vectors_f64
    with Context(threads=threads) as context:
        context.check(function(context.handle, ctypes.byref(chosen), n, math.prod(batch), address(diagonal),
                               address(padded), n, address(values), address(rows), width, None))
    return Heev(values, rows.swapaxes(-1, -2))


def _tridiagonal(diagonal, off):
    """Diagonal and off-diagonal in one type, both with n values a row."""
    there = is_there(diagonal)
    if there:
        diagonal = real("diagonal", diagonal, there=True)
        kind = diagonal.dtype
        if not is_there(off):
            raise TypeError("off: the diagonal is in a GPU's memory, and so must this be")
        off = There("off", off, [kind], contiguous=False)
    else:
        diagonal, off = host("diagonal", diagonal), host("off", off)
        kind = np.float32 if diagonal.dtype == off.dtype == np.float32 else np.float64
        diagonal, off = real("diagonal", diagonal, kind), real("off", off, kind)
    n = diagonal.shape[-1] if diagonal.ndim else 0
    if not diagonal.ndim or off.shape != diagonal.shape[:-1] + (max(n - 1, 0),):
        raise ValueError(f"off: its shape is {off.shape}, for a diagonal of {diagonal.shape} it is to be "
                         f"{diagonal.shape[:-1] + (max(n - 1, 0),)}")
    if there:
        padded = off.padded("off") if n else off
    else:
        padded = np.zeros_like(diagonal)  # both have the stride of the diagonal
        padded[..., :max(n - 1, 0)] = off
    return diagonal, padded


def _tridiagonal_part(n, index, interval, absolute, relative):
    """The library's options for these eigenvalues, and how many there may be."""
    part: dict[str, Any] = {}
    width = n
    if index is not None and interval is not None:
        raise ValueError("index: give this or interval, not both")
    if index is not None:
        try:
            first, last = map(operator.index, index)
        except (TypeError, ValueError):
            raise TypeError(f"index: (first, last) is needed, not {index!r}") from None
        if not 0 <= first <= last < n:
            raise ValueError(f"index: 0 <= first <= last < {n} is needed, not {index}")
        part, width = {"range": c.HOT_TRIDIAG_INDEX, "first": first, "last": last}, last - first + 1
    elif interval is not None:
        low, high = interval
        part = {"range": c.HOT_TRIDIAG_VALUE, "low": low, "high": high}
    return options(c.hot_tridiag_options, absolute=absolute, relative=relative, **part), width


class CpdFactors(NamedTuple):
    """The three factors of a CP decomposition; their columns have unit length."""
    a: np.ndarray  #: (I, rank)
    b: np.ndarray  #: (J, rank)
    c: np.ndarray  #: (K, rank)


class CpdFactors4(NamedTuple):
    """The four factors of an array with four axes."""
    a: np.ndarray  #: (I, rank)
    b: np.ndarray  #: (J, rank)
    c: np.ndarray  #: (K, rank)
    d: np.ndarray  #: (L, rank)


class Cpd(NamedTuple):
    """A CP decomposition, X_ijk ~ sum over r of weights_r a_ir b_jr c_kr."""
    weights: np.ndarray  #: (rank,) at least 0, descending
    factors: CpdFactors  #: a (I, rank), b (J, rank), c (K, rank): columns of unit length; of four axes a CpdFactors4
    fit: float  #: 1 - ||X - approximation|| / ||X||
    iterations: int  #: how many there were
    converged: bool  #: stopped by the tolerance
    congruence: float  #: the largest |cosine| between two terms; near 1 only their sum is meaningful

    def to_tensorly(self) -> Any:
        """The same as a CPTensor of TensorLy, with arrays of NumPy."""
        from tensorly.cp_tensor import CPTensor  # only here: it is not needed otherwise
        return CPTensor((self.weights, list(self.factors)))


_ARITHMETIC = {"full": c.HOT_CPD_FULL, "tf32": c.HOT_CPD_TF32, "split": c.HOT_CPD_SPLIT}


def _of_order(x, orders):
    x = host("x", x)
    if x.dtype.kind not in "fiub":
        raise TypeError(f"x: an array of real numbers is needed, not of {x.dtype}")
    if x.ndim not in orders:
        raise ValueError(f"x: {' or '.join(('three', 'four')[order - 3] for order in orders)} axes are needed, "
                         f"not {x.ndim}")
    return np.asfortranarray(x, np.float32 if x.dtype == np.float32 else np.float64)


def _factors(factors, shape, rank, kind):
    if len(factors) != len(shape):
        raise ValueError(f"factors: {('three', 'four')[len(shape) - 3]} are needed, not {len(factors)}")
    made = []
    for factor, length in zip(factors, shape):
        factor = np.array(factor, kind, order="F")  # a copy: the argument is not changed
        if factor.shape != (length, rank):
            raise ValueError(f"factors: one of shape {(length, rank)} is needed, not {factor.shape}")
        made.append(factor)
    return made


def cpd(x: ArrayLike, rank: int, *, iterations: int = 0, tolerance: float = 0.0,
        start: Start = "random", non_negative: bool = False, arithmetic: Arithmetic = "full",
        missing: bool = False, device: str = "auto", threads: int = 0, seed: int = 0,
        progress: Progress = None) -> Cpd:
    """Decomposes an array with three or four axes into `rank` rank-1 terms, by alternating least squares.

    x: (I, J, K) or (I, J, K, L), any real type, finite; computed in float32 where it is float32, else in float64.
    rank: at least 1.
    iterations: at most so many; 0 = 500. tolerance: stop when the fit changes by less; 0 = 1e-10, float32 1e-6.
    start: "random" (by seed), "hosvd", three factors, another Cpd or a CPTensor of TensorLy.
    non_negative: all factors >= 0.
    missing: NaN are missing values; the terms and the fit are of the others (weighted least squares). The work grows
        with the square of rank.
    arithmetic: "full"; for float32 on a GPU also "tf32" and "split" (tensor cores, 11 and 22 bits).
    device, threads, seed, progress: see `sshopm`.

    >>> import hotfiber, numpy as np
    >>> x = np.einsum("i,j,k->ijk", [3., 4], [1., 0, 0], [0, 2.])
    >>> result = hotfiber.cpd(x, 1)
    >>> result.weights.round(6), result.fit > 1 - 1e-9
    (array([10.]), True)
    """
    x = _of_order(x, (3, 4))
    rank, kind = count("rank", rank, 1, 2**31 - 1), x.dtype
    chosen = struct(c.hot_cpd_options, rank=rank, iterations=iterations,
                    tolerance=c.HOT_ZERO if isinstance(tolerance, (int, float)) and tolerance < 0 else tolerance,
                    non_negative=bool(non_negative), arithmetic=choice("arithmetic", arithmetic, _ARITHMETIC))
    if isinstance(start, str):
        chosen.start = choice("start", start, {"random": c.HOT_CPD_RANDOM, "hosvd": c.HOT_CPD_HOSVD})
        factors = [np.empty((length, rank), kind, order="F") for length in x.shape]
    else:
        chosen.start = c.HOT_CPD_GIVEN
        factors = _factors(getattr(start, "factors", start), x.shape, rank, kind)
        if getattr(start, "weights", None) is not None:
            factors[0] *= np.asarray(start.weights, kind)
    if x.ndim == 4 or (missing and np.isnan(x).any()):
        return _cpd_any(x, rank, factors, chosen, missing, device, threads, seed, progress, arithmetic)
    weights, report = np.empty(rank, kind), c.hot_cpd_report()
    function = lib.hot_cpd_f32 if kind == np.float32 else lib.hot_cpd_f64
    with Context(device, threads, seed, progress) as context:
        context.check(function(context.handle, ctypes.byref(chosen), *x.shape, address(x), address(weights),
                               *(address(factor) for factor in factors), ctypes.byref(report)))
    return Cpd(weights, CpdFactors(*factors), report.fit, report.iterations, bool(report.converged), report.congruence)


def _cpd_any(x, rank, factors, chosen, missing, device, threads, seed, progress, arithmetic):
    """Four axes, or missing values."""
    if chosen.iterations < 0:
        raise ArgumentError(f"iterations: at least 1 is needed (0: 500), not {chosen.iterations}")
    iterations, tolerance = chosen.iterations or 500, chosen.tolerance
    if not tolerance:
        tolerance = 1e-6 if x.dtype == np.float32 else 1e-10
    given = chosen.start == c.HOT_CPD_GIVEN
    how = {"device": device, "threads": threads, "arithmetic": arithmetic}

    def step(done):
        if progress:
            progress("cpd", done / iterations)
    made = decompose(x, rank, missing, factors if given else None,
                     "hosvd" if chosen.start == c.HOT_CPD_HOSVD else "random", iterations, tolerance,
                     bool(chosen.non_negative), seed, mttkrp, how, step)
    kind = CpdFactors4 if x.ndim == 4 else CpdFactors
    return Cpd(made[0], kind(*made[1]), *made[2:])  # type: ignore[call-arg]


def mttkrp(x: ArrayLike, factors: Sequence[ArrayLike | None], mode: int, *, arithmetic: Arithmetic = "full",
           out: np.ndarray | None = None, device: str = "auto", threads: int = 0, seed: int = 0,
           progress: Progress = None) -> np.ndarray:
    """Multiplies a matricised tensor by the Khatri-Rao product of the two factors of the other modes.

    x: (I, J, K), finite; computed in float32 where it is float32, else in float64.
    factors: three arrays (I, rank), (J, rank), (K, rank); the one of `mode` is not read and may be None.
    mode: 0, 1 or 2: out_ir = sum_jk x_ijk b_jr c_kr for mode 0.
    arithmetic, device, threads, seed, progress: see `cpd`.
    out: an array for the result, (I | J | K, rank).

    >>> import hotfiber, numpy as np
    >>> x, ones = np.arange(8.).reshape(2, 2, 2), np.ones((2, 1))
    >>> hotfiber.mttkrp(x, [None, ones, ones], 0).ravel()
    array([ 6., 22.])
    """
    x = _of_order(x, (3,))
    mode, rank, given, made = _mttkrp_arrays(x.shape, x.dtype, factors, mode)
    with Context(device, threads, seed, progress) as context:
        pointers = [address(one) for one in given]
        if x.dtype == np.float32:
            status = lib.hot_mttkrp_f32(context.handle, choice("arithmetic", arithmetic, _ARITHMETIC), mode + 1,
                                        *x.shape, rank, address(x), *pointers, address(made))
        else:
            status = lib.hot_mttkrp_f64(context.handle, mode + 1, *x.shape, rank, address(x), *pointers,
                                        address(made))
        context.check(status)
    return _into(out, made)


def _mttkrp_arrays(shape, kind, factors, mode):
    """The mode as a number, the rank, three factors, and an array for the product."""
    mode = choice("mode", mode, {0: 0, 1: 1, 2: 2})
    if len(factors) != 3:
        raise ValueError(f"factors: three are needed, not {len(factors)}")
    shapes: list[Any] = [np.shape(factor) for m, factor in enumerate(factors) if m != mode]
    rank = shapes[0][-1] if shapes[0] else 0
    given = [np.zeros((length, rank)) if m == mode else factor
             for m, (length, factor) in enumerate(zip(shape, factors))]
    return mode, rank, _factors(given, shape, rank, kind), np.empty((rank, shape[mode]), kind).T


def _into(out, made):
    if out is None:
        return made
    result, = outputs(out, (made.shape, made.dtype))
    result.array[...] = made
    return result.done()


class MttkrpTensor:
    """A tensor kept for many products `mttkrp`, for an algorithm of your own: copied to the device, checked and rounded
    once.

    x: (I, J, K), finite; float32 is kept in single precision, all else in double. May be changed afterwards.
    arithmetic, device, threads: see `cpd`; all products are computed there.

    Its memory is freed by `close`, at the end of a `with` block, or with the object. Several threads may use it.

    >>> import hotfiber, numpy as np
    >>> x, ones = np.arange(8.).reshape(2, 2, 2), np.ones((2, 1))
    >>> with hotfiber.MttkrpTensor(x) as kept:
    ...     kept.product([None, ones, ones], 0).ravel(), kept.product([ones, ones, None], 2).ravel()
    (array([ 6., 22.]), array([12., 16.]))
    """

    def __init__(self, x: ArrayLike, *, arithmetic: Arithmetic = "full", device: str = "auto",
                 threads: int = 0) -> None:
        self._tensor = ctypes.c_void_p()
        x = _of_order(x, (3,))
        self.shape: tuple[int, ...] = x.shape  #: (I, J, K)
        self.dtype: np.dtype = x.dtype  #: float32 or float64
        self._how = device, threads
        chosen = choice("arithmetic", arithmetic, _ARITHMETIC)
        self._context = Context(device, threads)  # is there as long as the tensor
        self._context.__enter__()
        try:
            arguments = *x.shape, address(x), ctypes.byref(self._tensor)
            if x.dtype == np.float32:
                status = lib.hot_mttkrp_tensor_create_f32(self._context.handle, chosen, *arguments)
            else:
                status = lib.hot_mttkrp_tensor_create_f64(self._context.handle, *arguments)
            self._context.check(status)
        except BaseException:
            self._context.__exit__(None)
            raise

    def product(self, factors: Sequence[ArrayLike | None], mode: int, *, out: np.ndarray | None = None) -> np.ndarray:
        """The same as `mttkrp(x, factors, mode)`."""
        if not self._tensor:
            raise ValueError("the tensor is closed")
        mode, rank, given, made = _mttkrp_arrays(self.shape, self.dtype, factors, mode)
        function = lib.hot_mttkrp_tensor_product_f32 if self.dtype == np.float32 else lib.hot_mttkrp_tensor_product_f64
        with Context(*self._how) as context:
            context.check(function(context.handle, self._tensor, mode + 1, rank, *(address(one) for one in given),
                                   address(made)))
        return _into(out, made)

    def close(self) -> None:
        """Frees its memory; products are not possible any more."""
        if self._tensor:
            lib.hot_mttkrp_tensor_destroy(ctypes.byref(self._tensor))
            self._context.__exit__(None)

    def __enter__(self) -> MttkrpTensor:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()
