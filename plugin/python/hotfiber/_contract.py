"""Contractions of small tensors, as numpy.einsum's."""
# Arguments become arrays under the same name, but mypy uses their declared types:
# mypy: disable-error-code="union-attr,assignment,arg-type"
from __future__ import annotations

import ctypes
import functools
import math

import numpy as np
from numpy.typing import ArrayLike

from . import _declarations as c
from ._arrays import address, host, outputs, overlaps
from ._gpu import There, dense, is_there
from ._library import Context, lib
from ._types import Progress


def _operand(name, array, kind, letters):
    """An operand without negative strides, and its axes beyond the letters: the batch."""
    if not isinstance(array, There):
        if array.dtype.kind not in "fiubc":
            raise TypeError(f"{name}: an array of numbers is needed, not of {array.dtype}")
        array = array.astype(kind, copy=False)
    if array.ndim < len(letters):
        raise ValueError(f"{name}: '{letters}' needs {len(letters)} axes, it has {array.ndim}")
    return array


def _kind_of(arrays):
    """What contractions of these arrays of the host are computed in: single precision only if all are single."""
    single = all(one.dtype in (np.float32, np.complex64) for one in arrays)
    if any(one.dtype.kind == "c" for one in arrays):
        return np.complex64 if single else np.complex128
    return np.float32 if single else np.float64


def _scalars(kind, alpha, beta):
    """alpha and beta as the library takes them."""
    if np.dtype(kind).kind != "c":
        for name, value in (("alpha", alpha), ("beta", beta)):
            if isinstance(value, (complex, np.complexfloating)):
                raise TypeError(f"{name}: {value} is complex, and the arrays are real")
        return alpha, beta
    value = ctypes.c_float if kind == np.complex64 else ctypes.c_double
    return tuple((value * 2)(complex(one).real, complex(one).imag) for one in (alpha, beta))


def _batch_stride(array, letters, batch):
    """The one stride from item to item of a batch, of an array on the GPU."""
    axes = array.ndim - len(letters)
    own = [(size, 0 if array.shape[i] == 1 else array.strides[i])
           for i, size in zip(range(axes), batch[len(batch) - axes:])]
    axes_of = [(size, stride) for size, stride in [(size, 0) for size in batch[:len(batch) - axes]] + own if size != 1]
    for (_, outer), (size, inner) in zip(axes_of, axes_of[1:]):
        if outer != size * inner:
            raise ValueError("on the GPU the axes of a batch must have one stride in common (array.contiguous(), "
                             f"ascontiguousarray): {array.shape} in steps of {array.strides} for {tuple(batch)}")
    return axes_of[-1][1] if axes_of else 0


def _layout(array, letters, batch):
    """The library's description of an operand; arrays with an unsupported layout are copied."""
    at = array.ndim - len(letters)
    shape = array.shape[at:]
    if isinstance(array, There):
        return array, _layout_of(_batch_stride(array, letters, batch), shape, array.strides[at:])
    item = array.itemsize
    if at:
        if array.shape[:at] != batch:
            array = np.broadcast_to(array, batch + shape)
        array = array.reshape((-1,) + shape) if len(batch) != 1 else array
    if any(stride < 0 or stride % item for stride in array.strides) or not array.flags.aligned:
        array = array.copy()
    strides = tuple(stride // item for stride in array.strides)
    return array, _layout_of(strides[0], shape, strides[1:]) if at else _layout_of(0, shape, strides)


@functools.lru_cache(256)
def _layout_of(batch, shape, strides):
    made = c.hot_contract_layout(axes=len(shape), batch=batch)
    made.size[:len(shape)], made.stride[:len(shape)] = shape, strides
    return made


@functools.lru_cache(256)
def _terms(spec):
    """The letters of the two operands and the result, and all of it as the library reads it."""
    if not isinstance(spec, str):
        raise TypeError(f"spec: text like 'ik,kj->ij' is needed, not {spec!r}")
    terms = spec.replace(" ", "").replace("...", "")
    operands, arrow, result = terms.partition("->")
    first, comma, second = operands.partition(",")
    if not arrow or not comma or "," in second:
        raise ValueError(f"spec: two operands and a result are needed, 'ik,kj->ij', not {spec!r}")
    for letters in (first, second, result):
        if len(letters) > c.HOT_CONTRACT_AXES:
            raise ValueError(f"spec: at most {c.HOT_CONTRACT_AXES} axes an operand, not '{letters}'")
    return first, second, result, terms.encode()


@functools.lru_cache(256)
def _order(terms, batches, result, sizes):
    """The pairs that are contracted until two operands are left, each put to the end, with the fewest multiplications:
    their number, and (i, j, letters that are kept) for each."""
    letters = dict(sizes)

    def cost(i, j):
        batch = np.broadcast_shapes(batches[i], batches[j])
        return math.prod(batch) * math.prod(letters[one] for one in {*terms[i], *terms[j]})
    if len(terms) == 2:
        return cost(0, 1), ()
    best = None
    for j in range(len(terms)):
        for i in range(j):
            rest = [k for k in range(len(terms)) if k not in (i, j)]
            needed = set(result).union(*(terms[k] for k in rest))
            kept = "".join(one for one in dict.fromkeys(terms[i] + terms[j]) if one in needed)
            if len(kept) > c.HOT_CONTRACT_AXES:
                continue
            later = _order(tuple(terms[k] for k in rest) + (kept,), tuple(batches[k] for k in rest) +
                           (np.broadcast_shapes(batches[i], batches[j]),), result, sizes)
            if later and (best is None or cost(i, j) + later[0] < best[0]):
                best = cost(i, j) + later[0], ((i, j, kept),) + later[1]
    return best


def _contract_all(spec, arrays, last, how):
    """Contracts more than two arrays, pair by pair. last: further arguments of the last contraction."""
    operands, arrow, result = spec.replace(" ", "").replace("...", "").partition("->")
    terms = operands.split(",")
    if not arrow or len(terms) != len(arrays):
        raise ValueError(f"spec: {len(arrays)} operands and a result are needed, not {spec!r}")
    if not any(map(is_there, arrays)):
        arrays = [host("arrays", one) for one in arrays]
        kind = _kind_of(arrays)
        arrays = [_operand("arrays", one, kind, letters) for one, letters in zip(arrays, terms)]
    shapes = [tuple(one.shape) for one in arrays]
    sizes: dict[str, int] = {}
    for letters, shape in zip(terms, shapes):
        sizes.update(zip(letters, shape[len(shape) - len(letters):]))
    try:
        found = _order(tuple(terms), tuple(shape[:len(shape) - len(letters)] for letters, shape in zip(terms, shapes)),
                       result, tuple(sorted(sizes.items())))
    except ValueError:
        raise ValueError("arrays: batches of shape " + ", ".join(
            str(shape[:len(shape) - len(letters)]) for letters, shape in zip(terms, shapes)) +
            " do not go together") from None
    if found is None:
        raise ValueError(f"spec: each order of '{spec}' needs an intermediate result of more than "
                         f"{c.HOT_CONTRACT_AXES} axes")
    for i, j, kept in found[1]:
        arrays.append(contract(f"{terms[i]},{terms[j]}->{kept}", arrays[i], arrays[j], **how))
        terms.append(kept)
        for used in (j, i):
            del arrays[used], terms[used]
    return contract(f"{terms[0]},{terms[1]}->{result}", *arrays, **last, **how)


def contract(spec: str, a: ArrayLike, b: ArrayLike, *more: ArrayLike, out: np.ndarray | None = None,
             alpha: complex = 1.0, beta: complex = 0.0, device: str = "auto", threads: int = 0, seed: int = 0,
             progress: Progress = None) -> np.ndarray:
    """Contracts arrays, alone or in a batch, as numpy.einsum does: C = alpha contraction(A, B) + beta C.

    spec: a letter for each axis of A, B and C, "ik,kj->ij". Letters that are only in A and B are summed over; each
        letter occurs at most once in an operand and in at least two of the three. At most 8 letters an operand.
    a, b: arrays with these axes last. Axes before them are the batch, broadcast as NumPy does ("..." may stand for
        them in spec). Any type and strides; computed in single precision where all are float32 or complex64, else in
        double. Conjugate an operand with `a.conj()`.
    more: further arrays, "ij,jk,kl->il": pairs are contracted in the order with the fewest multiplications.
    out: an array for C; with beta other than 0 it is read too.
    device, threads, seed, progress: see `sshopm`.

    >>> import hotfiber, numpy as np
    >>> hotfiber.contract("ik,kj->ij", np.eye(2), np.arange(8.).reshape(2, 2, 2)).shape
    (2, 2, 2)
    """
    if more:
        return _contract_all(spec, [a, b, *more], {"out": out, "alpha": alpha, "beta": beta},
                             {"device": device, "threads": threads, "seed": seed, "progress": progress})
    first, second, result_letters, terms = _terms(spec)
    if is_there(a) or is_there(b):
        if not (is_there(a) and is_there(b)):
            raise TypeError("a, b: one is in a GPU's memory, and so must the other be")
        a = There("a", a, [np.float32, np.float64, np.complex64, np.complex128], contiguous=False)
        b = There("b", b, [a.dtype], contiguous=False)
        kind = a.dtype
    else:
        a, b = host("a", a), host("b", b)
        kind = _kind_of([a, b])
    a, b = _operand("a", a, kind, first), _operand("b", b, kind, second)
    batch, other = a.shape[:a.ndim - len(first)], b.shape[:b.ndim - len(second)]
    if batch != other:
        try:
            batch = np.broadcast_shapes(batch, other)
        except ValueError:
            raise ValueError(f"a, b: batches of shape {batch} and {other} do not go together") from None
    sizes = dict(zip(first, a.shape[a.ndim - len(first):]))
    sizes.update(zip(second, b.shape[b.ndim - len(second):]))
    if any(letter not in sizes for letter in result_letters):
        raise ValueError(f"spec: a letter of '{result_letters}' is in no operand")
    result, = outputs(out, (batch + tuple(sizes[letter] for letter in result_letters), kind), like=a)
    if beta != 0:
        if out is None:
            raise ValueError("beta: other than 0 it needs out, the array that is added to")
        if result.array is not out and not isinstance(a, There):
            result.array[...] = out
    if overlaps([a, b], [result]):
        a, b = a.copy(), b.copy()
    a, a_layout = _layout(a, first, batch)
    b, b_layout = _layout(b, second, batch)
    if isinstance(a, There):  # new, or an out that is contiguous
        shape = tuple(sizes[letter] for letter in result_letters)
        c_layout = _layout_of(math.prod(shape) if batch else 0, shape, dense(shape))
    else:
        c_layout = _layout(result.array, result_letters, batch)[1]
    function = {np.float32: lib.hot_contract_f32, np.float64: lib.hot_contract_f64, np.complex64: lib.hot_contract_c64,
                np.complex128: lib.hot_contract_c128}[kind]
    conjugate = (0,) if np.dtype(kind).kind == "c" else ()
    alpha, beta = _scalars(kind, alpha, beta)
    with Context(device, threads, seed, progress, a) as context:
        context.check(function(context.handle, None, terms, *conjugate, math.prod(batch), alpha,
                               address(a), ctypes.byref(a_layout), address(b), ctypes.byref(b_layout), beta,
                               address(result.array), ctypes.byref(c_layout)))
    return result.done()


einsum = contract
