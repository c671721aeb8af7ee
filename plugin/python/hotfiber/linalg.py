"""Eigenvalues and eigenvectors with the names of numpy.linalg and scipy.linalg, for many matrices at once.

    from hotfiber import linalg
    values, vectors = linalg.eigh(matrices)                     # (..., n, n)

Arrays of NumPy are computed on with all cores, one small matrix per lane of the vector unit; arrays in a GPU's memory
(PyTorch, CuPy, DLPack) where they are. Three things differ from NumPy. A matrix with NaN or Inf gives NaN; other
matrices are not affected. An array that is not of shape (..., n, n) raises ValueError, not LinAlgError. The sign of a
vector (complex: its phase) may be the other.

**Derivatives.** `eigh` and `eigvalsh` take tensors of PyTorch (2.4 or later, in either memory) and arrays of JAX (under
jit, grad and vmap they pass through the host's memory), return the same, and have derivatives of any order: in PyTorch
backward and forward mode, torch.func and torch.compile, in JAX grad and jvp. Changes of the matrix are taken as
Hermitian, and so are gradients. Eigenvectors of eigenvalues that are equal to rounding have no derivative: it is NaN,
never a large wrong number. The gradient of a loss in PyTorch is finite if it uses no vector of equal eigenvalues; of
eigenvalues alone it always is. A complex vector's phase is arbitrary: a loss that depends on it has the gradient NaN
in PyTorch."""
# Arguments become arrays under the same name, but mypy uses their declared types:
# mypy: disable-error-code="union-attr,assignment,arg-type"
from __future__ import annotations

import os
import sys
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from . import _declarations as c
from ._arrays import host, real
from ._gpu import is_there
from ._matrices import heev, tridiag, tridiag_vectors
from ._types import Uplo

__all__ = ["EighResult", "eigh", "eigh_tridiagonal", "eigvalsh", "eigvalsh_tridiagonal"]


class EighResult(NamedTuple):
    """Eigenvalues and eigenvectors of each matrix; NaN for one with NaN or Inf."""
    eigenvalues: np.ndarray  #: (..., n) ascending
    eigenvectors: np.ndarray  #: (..., n, n) orthonormal columns


def _threads():
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _is_numpys(a):
    """Whether these matrices of the host are NumPy's: larger than the library takes, or so large that its LAPACK works
    on one with several threads, and too few for several at once."""
    if is_there(a) or a.ndim < 2 or a.shape[-1] != a.shape[-2] or not a.size:
        return False
    n = a.shape[-1]
    return n > c.HOT_HEEV_MAX or n > 64 and min(_threads(), a.size // n ** 2) < 3


def _numpy(function, a, uplo):
    """NumPy's function, so that only one triangle is looked at and NaN stays in its matrix."""
    single = a.dtype.newbyteorder("=") in (np.float32, np.complex64)
    if a.dtype.kind == "c":
        a = a.astype(np.complex64 if single else np.complex128, copy=False)
    else:
        a = real("a", a, np.float32 if single else np.float64)
    half = (np.triu if uplo == "U" else np.tril)(a.reshape((-1,) + a.shape[-2:]))
    if half.dtype.kind == "c":
        half.imag[:, range(a.shape[-1]), range(a.shape[-1])] = 0
    finite = np.isfinite(half).all((-1, -2))
    half[~finite] = 0
    done = function(half, uplo)
    parts = [np.array(part) for part in (done if isinstance(done, tuple) else (done,))]
    for part in parts:
        part[~finite] = np.nan
    return [part.reshape(a.shape[:-2] + part.shape[1:]) for part in parts]


def _solve(a, uplo, vectors):
    """Values, and vectors or None, of arrays of NumPy or on a GPU."""
    if _is_numpys(a):
        return _numpy(np.linalg.eigh, a, uplo) if vectors else _numpy(np.linalg.eigvalsh, a, uplo) + [None]
    return heev(a, UPLO=uplo, vectors=vectors)


def _library_of(a):
    """Our module for tensors of PyTorch or arrays of JAX, or None."""
    torch, jax = sys.modules.get("torch"), sys.modules.get("jax")
    if torch is not None and isinstance(a, torch.Tensor):
        from . import _torch
        return _torch
    if jax is not None and isinstance(a, jax.Array) and (isinstance(a, jax.core.Tracer) or not is_there(a)):
        from . import _jax
        return _jax
    return None


def _triangle(uplo):
    """"L" or "U"."""
    if uplo not in ("L", "l", "U", "u"):
        raise ValueError(f"UPLO: 'L' or 'U', not {uplo!r}")
    return uplo.upper()


def eigh(a: ArrayLike, UPLO: Uplo = "L") -> EighResult:
    """Eigenvalues and eigenvectors of Hermitian or real symmetric matrices, as numpy.linalg.eigh.

    a: (..., n, n), real or complex; computed in single precision for float32 and complex64, else in double. NumPy
        itself is called for matrices in the host's memory with n above 4096, and above 64 where fewer than three
        matrices or cores are at hand: it works on one matrix with several threads.
    UPLO: the triangle that is read, "L" the lower or "U" the upper one.

    Tensors of PyTorch and arrays of JAX give such, and derivatives: see "Derivatives" above.

    >>> from hotfiber import linalg
    >>> values, vectors = linalg.eigh([[2, 1j], [-1j, 2]])
    >>> values.round(9)
    array([1., 3.])
    """
    uplo, library = _triangle(UPLO), _library_of(a)
    if library is not None:
        return EighResult(*library.eigh(a, uplo == "U"))
    return EighResult(*_solve(a if is_there(a) else host("a", a), uplo, True))


def eigvalsh(a: ArrayLike, UPLO: Uplo = "L") -> np.ndarray:
    """Eigenvalues of Hermitian or real symmetric matrices, ascending, as numpy.linalg.eigvalsh: see `eigh`.

    >>> from hotfiber import linalg
    >>> linalg.eigvalsh([[2, 1j], [-1j, 2]]).round(9)
    array([1., 3.])
    """
    uplo, library = _triangle(UPLO), _library_of(a)
    if library is not None:
        return library.eigvalsh(a, uplo == "U")
    return _solve(a if is_there(a) else host("a", a), uplo, False)[0]


def _select(select, select_range, *arrays):
    """What scipy's `select` and `select_range` are to `tridiag` of these arrays."""
    if select in ("a", "all", 0):
        return {}
    if select_range is None:
        raise ValueError("select_range: needed unless select is 'a'")
    low, high = select_range
    if select in ("i", "index", 2):
        return {"index": (low, high)}
    if select in ("v", "value", 1):  # scipy's interval is (low, high], that of tridiag [low, high)
        kind = np.float32 if all(getattr(array, "dtype", None) == np.float32 for array in arrays) else np.float64
        return {"interval": tuple(float(np.nextafter(kind(end), kind(np.inf))) for end in (low, high))}
    raise ValueError(f"select: 'a', 'v' or 'i', not {select!r}")


def eigvalsh_tridiagonal(d: ArrayLike, e: ArrayLike, select: str = "a",
                         select_range: tuple[float, float] | None = None, check_finite: bool = True, tol: float = 0.0,
                         lapack_driver: str = "auto") -> np.ndarray:
    """Eigenvalues of real symmetric tridiagonal matrices, as scipy.linalg.eigvalsh_tridiagonal.

    d: (..., n) the diagonal. e: (..., n - 1) the off-diagonal.
    select: "a" all, "i" those numbered select_range[0] to select_range[1], "v" those in (select_range[0],
        select_range[1]].
    tol: absolute tolerance of an eigenvalue; 0 = as accurate as the precision allows.
    check_finite, lapack_driver: SciPy's, without effect: a matrix with NaN or Inf gives NaN.
    Returns (..., k) ascending. With "v" and several matrices k = n, and rows end with NaN.

    >>> from hotfiber import linalg
    >>> linalg.eigvalsh_tridiagonal([2., 2, 2], [1., 1]).round(6)
    array([0.585786, 2.      , 3.414214])
    """
    d = d if is_there(d) else host("d", d)
    values = tridiag(d, e, absolute=tol, **_select(select, select_range, d, e))
    if select in ("v", "value", 1) and values.ndim == 1:
        values = values[~np.isnan(values)]
    return values


def eigh_tridiagonal(d: ArrayLike, e: ArrayLike, eigvals_only: bool = False, select: str = "a",
                     select_range: tuple[float, float] | None = None, check_finite: bool = True, tol: float = 0.0,
                     lapack_driver: str = "auto") -> np.ndarray | EighResult:
    """Eigenvalues and eigenvectors of real symmetric tridiagonal matrices, as scipy.linalg.eigh_tridiagonal.

    d, e, select, select_range, check_finite, tol, lapack_driver: as `eigvalsh_tridiagonal`. Vectors come for arrays in
        the host's memory. A few of a large matrix take memory for these alone: ten of 100,000 rows are no problem.
    Returns the values alone, or values (..., k) and vectors (..., n, k); with "v" and several matrices k = n, and
        NaN follows those found.

    >>> from hotfiber import linalg
    >>> values, vectors = linalg.eigh_tridiagonal([2., 2], [1.])
    >>> (vectors * values @ vectors.T).round(6).tolist()
    [[2.0, 1.0], [1.0, 2.0]]
    """
    if eigvals_only:
        return eigvalsh_tridiagonal(d, e, select, select_range, check_finite, tol, lapack_driver)
    d = host("d", d)
    values, vectors = tridiag_vectors(d, e, absolute=tol, **_select(select, select_range, d, e))
    if select in ("v", "value", 1) and values.ndim == 1:
        vectors = vectors[:, ~np.isnan(values)]
        values = values[~np.isnan(values)]
    return EighResult(values, vectors)
