"""Functions of `linalg` on arrays of JAX: callbacks to the host with derivatives. Imported when the first array
arrives."""
from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np

from .linalg import _solve


def _number(a):
    """In a type that the library computes in."""
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"a: an array of shape (..., n, n) is needed, not {a.shape}")
    if a.dtype in (np.float32, np.float64, np.complex64, np.complex128):
        return a
    return a.astype(jnp.result_type(float))  # float64 if jax_enable_x64 is set


def _call(a, upper, vectors):
    values = jax.ShapeDtypeStruct(a.shape[:-1], a.real.dtype)
    results = (values, jax.ShapeDtypeStruct(a.shape, a.dtype)) if vectors else (values,)

    def solve(a):
        return tuple(_solve(np.asarray(a), "U" if upper else "L", vectors)[:len(results)])
    if isinstance(a, jax.core.Tracer):
        return jax.pure_callback(solve, results, a, vmap_method="expand_dims")
    return tuple(jnp.asarray(part) for part in solve(a))


@functools.partial(jax.custom_jvp, nondiff_argnums=(1,))
def _eigh(a, upper):
    return _call(a, upper, True)


@functools.partial(jax.custom_jvp, nondiff_argnums=(1,))
def _eigvalsh(a, upper):
    return _call(a, upper, False)[0]


def _rotated(a, change, upper):
    """Values, vectors, and a Hermitian change of the matrix in their basis."""
    values, vectors = _eigh(a, upper)
    change = (change + change.conj().mT) / 2
    return values, vectors, vectors.conj().mT @ change @ vectors


@_eigh.defjvp
def _eigh_jvp(upper, given, changes):
    """Giles 2008, "An extended collection of matrix derivative results", 3.1."""
    values, vectors, inner = _rotated(*given, *changes, upper)
    gaps = values[..., None, :] - values[..., None]
    if values.size:  # vectors of eigenvalues that are equal to rounding have no derivative
        rounding = 4 * values.shape[-1] ** .5 * jnp.finfo(values.dtype).eps * jnp.abs(values).max(-1)[..., None, None]
        gaps = jnp.where(jnp.abs(gaps) <= rounding, jnp.nan, gaps)
    own = jnp.eye(values.shape[-1], dtype=bool)
    turned = jnp.where(own, 0, inner) / jnp.where(own, 1, gaps)
    return (values, vectors), (jnp.diagonal(inner, axis1=-2, axis2=-1).real, vectors @ turned)


@_eigvalsh.defjvp
def _eigvalsh_jvp(upper, given, changes):
    values, _, inner = _rotated(*given, *changes, upper)
    return values, jnp.diagonal(inner, axis1=-2, axis2=-1).real


def eigh(a, upper):
    return _eigh(_number(a), upper)


def eigvalsh(a, upper):
    return _eigvalsh(_number(a), upper)
