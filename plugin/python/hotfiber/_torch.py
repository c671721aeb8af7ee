"""Functions of `linalg` on tensors of PyTorch: derivatives in both directions, torch.compile, torch.func. Imported when
the first tensor arrives."""
from __future__ import annotations

import torch

from .linalg import _solve

if not hasattr(torch.library, "custom_op"):
    raise ImportError(f"hotfiber.linalg needs PyTorch 2.4 or later for tensors, not {torch.__version__}; arrays of "
                      "NumPy (tensor.numpy()) need none")


def _found(a, upper, vectors):
    """Values, and vectors as rows, of plain tensors."""
    a = a.resolve_conj().resolve_neg()
    values, columns = _solve(a if a.is_cuda else a.numpy(), "U" if upper else "L", vectors)
    rows = torch.as_tensor(columns).mT.resolve_conj().contiguous() if vectors else None
    return torch.as_tensor(values), rows


def _square(a):
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"a: a tensor of shape (..., n, n) is needed, not {tuple(a.shape)}")


# Operators, so that torch.compile does not look inside.
@torch.library.custom_op("hotfiber::eigh", mutates_args=())
def _eigh(a: torch.Tensor, upper: bool) -> tuple[torch.Tensor, torch.Tensor]:
    return _found(a, upper, True)


@torch.library.custom_op("hotfiber::eigvalsh", mutates_args=())
def _eigvalsh(a: torch.Tensor, upper: bool) -> torch.Tensor:
    return _found(a, upper, False)[0]


def _empty_values(a):
    _square(a)
    return a.new_empty(a.shape[:-1], dtype=a.real.dtype)


_eigh.register_fake(lambda a, upper: (_empty_values(a), a.new_empty(a.shape)))
_eigvalsh.register_fake(lambda a, upper: _empty_values(a))
if hasattr(_eigvalsh, "register_vmap"):  # PyTorch 2.5
    _eigvalsh.register_vmap(lambda info, dims, a, upper: (_eigvalsh(a.movedim(dims[0], 0), upper), 0))


def _gaps(values):
    """lambda_j - lambda_i, NaN where the two are equal to rounding: their vectors have no derivative. Diagonal: 1."""
    gaps = values.unsqueeze(-2) - values.unsqueeze(-1)
    if values.shape[-1] == 0:
        return gaps
    rounding = 4 * values.shape[-1] ** .5 * torch.finfo(values.dtype).eps * values.abs().amax(-1)[..., None, None]
    gaps = gaps.masked_fill(gaps.abs() <= rounding, torch.nan)
    return gaps.masked_fill(torch.eye(values.shape[-1], dtype=torch.bool, device=values.device), 1)


def _without_diagonal(a):
    return a - torch.diag_embed(a.diagonal(dim1=-2, dim2=-1))


def _hermitian(a):
    return (a + a.mH) / 2


class _Eigh(torch.autograd.Function):
    """Eigenvalues and, as rows, vectors. Derivatives are those for Hermitian changes of the matrix; formulas: Giles
    2008, "An extended collection of matrix derivative results", 3.1."""

    @staticmethod
    def forward(a, upper):
        return _eigh(a, upper)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*output)
        ctx.save_for_forward(*output)
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx, g_values, g_rows):
        values, rows = ctx.saved_tensors
        vectors = rows.mT
        inner = None if g_values is None else torch.diag_embed(g_values).to(rows.dtype)
        if g_rows is not None:
            along = vectors.mH @ g_rows.mT
            turned = _without_diagonal(along - along.mH) / 2 / _gaps(values)
            # Vectors that the loss does not use may belong to equal eigenvalues.
            used = (g_rows != 0).any(-1)
            turned = turned.masked_fill(~(used.unsqueeze(-1) | used.unsqueeze(-2)), 0)
            if along.is_complex():  # a loss that depends on the phases of vectors, which are arbitrary, has no gradient
                size = along.abs().sum((-2, -1)).unsqueeze(-1)
                phase = along.diagonal(dim1=-2, dim2=-1).imag.abs()
                depends = phase > torch.finfo(values.dtype).eps ** .5 * size
                turned = turned.masked_fill(depends.unsqueeze(-1), torch.nan)
            inner = turned if inner is None else inner + turned
        return None if inner is None else vectors @ inner @ vectors.mH, None

    @staticmethod
    def jvp(ctx, change, _):
        values, rows = ctx.saved_tensors
        vectors = rows.mT
        inner = vectors.mH @ _hermitian(change) @ vectors
        turned = _without_diagonal(inner) / _gaps(values)
        return inner.diagonal(dim1=-2, dim2=-1).real.clone(memory_format=torch.contiguous_format), \
            (vectors @ turned).mT.clone(memory_format=torch.contiguous_format)

    @staticmethod
    def vmap(info, dims, a, upper):
        return _Eigh.apply(a.movedim(dims[0], 0), upper), (0, 0)


def _number(a):
    """In a type that the library computes in."""
    _square(a)
    if a.dtype in (torch.float32, torch.float64, torch.complex64, torch.complex128):
        return a
    return a.to(torch.complex128 if a.is_complex() else torch.float64)


# torch.compile does not look into functions with a jvp; these stay whole.
@torch.compiler.allow_in_graph
def _eigh_of(a, upper):
    return _Eigh.apply(a, upper)


@torch.compiler.allow_in_graph
def _eigvalsh_of(a, upper):
    if a.requires_grad or torch.autograd.forward_ad.unpack_dual(a).tangent is not None:
        return _Eigh.apply(a, upper)[0]
    return _eigvalsh(a, upper)


def eigh(a, upper):
    values, rows = _eigh_of(_number(a), upper)
    return values, rows.mT


def eigvalsh(a, upper):
    return _eigvalsh_of(_number(a), upper)
