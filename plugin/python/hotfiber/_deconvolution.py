"""Multi-tissue deconvolution of arrays."""
# Arguments become arrays under the same name, but mypy uses their declared types:
# mypy: disable-error-code="union-attr,assignment,arg-type"
from __future__ import annotations

import ctypes
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from . import _declarations as c
from ._arrays import address, choice, count, mask_bytes, outputs, overlaps, real, struct
from ._library import Context, lib
from ._types import Constraint, Out, Progress

_CONSTRAINT = {"nonnegative": c.HOT_CONSTRAINT_NONNEGATIVE, "hpsd": c.HOT_CONSTRAINT_HPSD,
               "none": c.HOT_CONSTRAINT_NONE}


class Deconvolution(NamedTuple):
    """The tissues of signals."""
    tensors: np.ndarray  #: (..., 6 | 15 | 28 | 45) float32 packed tensors, whose form is the fibre density
    amounts: np.ndarray  #: (..., tissues) float32 of the isotropic tissues
    residual: np.ndarray  #: (...) float32 what the conditions of the constrained minimum leave, of the signals' size
    flags: np.ndarray  #: (...) uint8, 1 where a signal is NaN or infinite


def deconvolve(signals: ArrayLike, design: ArrayLike, order: int = 8, *, constraint: Constraint = "nonnegative",
               directions: ArrayLike | None = None, ridge: float = 0.0, mask: ArrayLike | None = None,
               out: Out = None, device: str = "auto", threads: int = 0, seed: int = 0,
               progress: Progress = None) -> Deconvolution:
    """Fits a tensor and amounts of isotropic tissues to signals, none of them negative (Jeurissen et al. 2014; Ankele
    et al. 2017). `fit` with the model "msmt" makes the design from responses.

    signals: (..., volumes), any real type; computed in float64.
    design: (volumes, terms + tissues): the signal of each unique value of a packed tensor of this order (2, 4, 6, 8),
        then of one unit of each tissue.
    constraint: "nonnegative" (amounts, and the form in a set of directions), "hpsd" (amounts, and the matrix of values
        for products of two monomials of half the order: negative nowhere) or "none".
    directions: (count, 3) of the constraint; None = 300, evenly spread.
    ridge: weight of the solution's squared norm; 0 = 1e-10 of the largest squared column.
    mask: (...) where to compute; elsewhere the results are 0.
    out: up to four arrays for the results, in their order.
    device, threads, seed, progress: see `sshopm`, also for signals in a GPU's memory (float32).

    >>> import hotfiber, numpy as np
    >>> design = np.ones((8, 7))                # six values of a tensor, a volume each; one tissue in all volumes
    >>> design[:, :6] = np.eye(8)[:, :6]
    >>> found = hotfiber.deconvolve([2.5, .5, .5, 1.5, .5, 1.5, .5, .5], design, order=2)
    >>> np.allclose(found.tensors, [2, 0, 0, 1, 0, 1], atol=1e-3), round(float(found.amounts[0]), 3)
    (True, 0.5)
    """
    signals, design = real("signals", signals, np.float32, there=True), real("design", design, np.float64)
    order = count("order", order, 2, 8)
    terms = (order + 1) * (order + 2) // 2
    volumes = signals.shape[-1] if signals.ndim else 0
    if design.ndim != 2 or design.shape[0] != volumes or design.shape[1] < terms:
        raise ValueError(f"design: its shape is {design.shape}; {volumes} signals and order {order} need "
                         f"({volumes}, {terms}) or more columns")
    around = None if directions is None else real("directions", directions, np.float64)
    if around is not None and (around.ndim != 2 or around.shape[1] != 3):
        raise ValueError(f"directions: its shape is {around.shape}, not (count, 3)")
    batch, tissues = signals.shape[:-1], design.shape[1] - terms
    inside = mask_bytes(mask, batch, signals)
    results = outputs(out, (batch + (terms,), np.float32), (batch + (tissues,), np.float32), (batch, np.float32),
                      (batch, np.uint8), like=signals)
    if overlaps([signals, inside], results):
        signals = signals.copy()
    problem = struct(c.hot_msmt_problem, order=order, tissues=tissues, rows=volumes, design=address(design),
                     constraint=choice("constraint", constraint, _CONSTRAINT),
                     directions=0 if around is None else len(around), direction=address(around), ridge=ridge)
    tensors, amounts, residual, flags = (address(one.array) for one in results)
    with Context(device, threads, seed, progress, signals) as context:
        context.check(lib.hot_msmt_f32(context.handle, ctypes.byref(problem), math.prod(batch), address(signals),
                                       volumes, address(inside), tensors, terms, amounts, residual, flags))
    return Deconvolution(*(one.done() for one in results))
