"""Gradient tables: how arrays and files of them are read, and messages about those that look wrong."""
from __future__ import annotations

import os
import warnings

import numpy as np

from ._library import HotfiberWarning


def numbers(name, given):
    try:
        return np.asarray(given, float)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: numbers are needed, not {given!r:.60}") from None


def _table(given):
    """The numbers of a table, or of a file of one."""
    return np.loadtxt(given, float) if isinstance(given, (str, os.PathLike)) else numbers("gradients", given)


def _is_b_first(table):
    """Whether four columns are b and a unit vector, and not a unit vector and b."""
    if table.ndim != 2 or table.shape[1] != 4:
        return False
    first, last = (np.linalg.norm(table[:, columns], axis=1) for columns in (slice(0, 3), slice(1, 4)))
    return bool((np.minimum(last, abs(last - 1)) < .05).all() and (last > .5).any() and first.max() > 1.5)


def tables(gradients):
    """b-values, vectors (N, 3), and the axes that such a table is usually in."""
    if hasattr(gradients, "bvals") and hasattr(gradients, "bvecs"):  # DIPY's GradientTable
        return np.asarray(gradients.bvals, float), np.asarray(gradients.bvecs, float), "bvec"
    if isinstance(gradients, (tuple, list)) and len(gradients) == 2:
        b, vectors = _table(gradients[0]).ravel(), _table(gradients[1])
        if vectors.shape == (3, len(b)) and len(b) != 3:
            vectors = vectors.T
        if vectors.size * 3 == b.size and vectors.size > 1:
            raise ValueError(f"gradients: {vectors.size} vectors and then {vectors.size} b-values were given; "
                             "did you mean (bvals, bvecs), in this order?")
        if vectors.shape != (len(b), 3):
            raise ValueError(f"gradients: {len(b)} b-values need vectors of shape ({len(b)}, 3), not {vectors.shape}")
        return b, vectors, "bvec"
    table = _table(gradients)
    if table.ndim == 1 or table.ndim == 2 and len(table) == 1:
        raise ValueError("gradients: b-values alone; put parentheses around both: (bvals, bvecs)")
    if table.shape == (4, 4) and np.array_equal(table[3], [0, 0, 0, 1]):
        raise ValueError("gradients: this is an affine; the order is data, gradients, affine")
    if _is_b_first(table):
        raise ValueError("gradients: the columns look like b x y z; x y z b is needed (table[:, [1, 2, 3, 0]])")
    if table.ndim != 2 or table.shape[1] != 4:
        raise ValueError("gradients: (bvals, bvecs), an array of lines x y z b, or DIPY's GradientTable is needed")
    return table[:, 3].copy(), table[:, :3], "scanner"


def tell_lengths(squared, given, used):
    """Warns of vectors that are not of length 1, with the b-values that are used instead of those given."""
    there = (given > 0) & (squared > 0) & np.isfinite(squared)
    if not there.any() or np.abs(np.log(squared[there])).max() <= .01:
        return
    low, high = np.sqrt([squared[there].min(), squared[there].max()])
    lengths = f"length {low:.4g}" if high - low < .005 * high else f"lengths from {low:.4g} to {high:.4g}"
    shells = used[there].min(), used[there].max()
    values = f"{shells[0]:.6g}" if shells[0] == shells[1] else f"{shells[0]:.6g} to {shells[1]:.6g}"
    what = "only their directions are used, with the b-values as given" if np.array_equal(given, used) else \
        f"the given b-values ({given[there].max():.6g}) are multiplied by their squares"
    warnings.warn(f"gradients: the vectors have {lengths}, not 1: {what} ({values} s/mm^2)", HotfiberWarning,
                  stacklevel=4)
