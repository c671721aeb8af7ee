"""hotfiber.linalg on tensors of PyTorch: derivatives against finite differences and PyTorch's own, equal eigenvalues,
phases, NaN, torch.compile and torch.func. Skipped without PyTorch 2.4 or later."""
import importlib.util
import sys

if importlib.util.find_spec("torch") is None:
    print("skipped: no PyTorch")
    sys.exit(77)
import numpy as np
import torch

if not hasattr(torch.library, "custom_op"):
    print(f"skipped: PyTorch {torch.__version__}, 2.4 is needed")
    sys.exit(77)

from counted import check, end, raises
from hotfiber import linalg
from torch.autograd import gradcheck, gradgradcheck

torch.manual_seed(20261128)
torch.set_num_threads(1)
KINDS = torch.float32, torch.float64, torch.complex64, torch.complex128


def hermitian(*shape, dtype=torch.float64):
    a = torch.randn(*shape, dtype=dtype)
    return (a + a.mH) / 2


def gradient(function, a):
    a = a.detach().requires_grad_()
    return torch.autograd.grad(function(a), a)[0]


# Values and vectors.
for dtype in KINDS:
    for shape in ((3, 3), (2, 0, 3, 3), (0, 0), (4, 1, 1), (2, 2, 20, 20), (70, 70)):
        for uplo in "LU":
            a = hermitian(*shape, dtype=dtype)
            rest = torch.ones(shape[-2:], dtype=torch.bool).triu(1)
            half = a.masked_fill(rest if uplo == "L" else rest.T, torch.nan)
            values, vectors = linalg.eigh(half, uplo)
            what = f"{dtype}, {shape}, {uplo}"
            check(values.dtype == a.real.dtype and vectors.dtype == dtype, f"{what}: types")
            check(values.shape == a.shape[:-1] and vectors.shape == a.shape, f"{what}: shapes")
            bound = 10 * (shape[-1] + 1) * torch.finfo(dtype).eps
            off = (a @ vectors - vectors * values[..., None, :]).abs()
            check(not off.numel() or off.max() <= bound * a.abs().sum(-1).max(), f"{what}: A V = V D")
            check(torch.allclose(linalg.eigvalsh(half, uplo), values, atol=bound * 10), f"{what}: values alone")
            check(torch.equal(linalg.eigvalsh(half.mT.contiguous().mT.conj(), uplo),
                              linalg.eigvalsh(half.conj().resolve_conj(), uplo)), f"{what}: a conjugated view")
check(linalg.eigvalsh(torch.eye(3, dtype=torch.int32)).dtype == torch.float64, "whole numbers")
check(isinstance(linalg.eigh(torch.eye(2)).eigenvalues, torch.Tensor), "a result with names")
raises(ValueError, "(..., n, n)", lambda: linalg.eigh(torch.zeros(2, 3)))
raises(ValueError, "UPLO", lambda: linalg.eigh(torch.zeros(2, 2), "X"))


# Derivatives of both orders and modes against finite differences. Of complex vectors only functions without phase.
def parts(x, uplo):
    values, vectors = linalg.eigh(x + x.mH, uplo)
    return values, vectors[..., :, None, :] * vectors.conj()[..., None, :, :]


for dtype in (torch.float64, torch.complex128):
    for n in (1, 2, 4):
        x = torch.randn(2, n, n, dtype=dtype, requires_grad=True)
        for uplo in "LU":
            function = lambda x: parts(x, uplo)
            check(gradcheck(function, (x,), check_forward_ad=True, check_batched_grad=True), f"{dtype}, n = {n}")
        check(gradgradcheck(function, (x,)), f"{dtype}, n = {n}: second derivatives")
        function = lambda x: linalg.eigvalsh(x + x.mH)
        check(gradcheck(function, (x,), check_forward_ad=True), f"{dtype}, n = {n}: values alone")
        check(gradgradcheck(function, (x,)), f"{dtype}, n = {n}: values alone, second derivatives")
x = torch.randn(2, 4, 4, dtype=torch.float64, requires_grad=True)
check(gradcheck(lambda x: linalg.eigh(x + x.mT)[1], (x,), check_forward_ad=True), "real vectors")

# A loss that depends only on the matrix has the gradient that PyTorch's function gives, made Hermitian.
for dtype in KINDS:
    a, weight = hermitian(5, 6, 6, dtype=dtype), torch.randn(6, 6)

    def loss(eigh, a):
        values, vectors = eigh(a)
        return ((vectors.abs() ** 2 * weight).sum((-1, -2)) * values.exp().sum(-1)).sum()
    ours = gradient(lambda a: loss(linalg.eigh, a), a)
    theirs = gradient(lambda a: loss(torch.linalg.eigh, a), a)
    theirs = (theirs + theirs.mH) / 2
    check((ours - theirs).abs().max() <= 3000 * torch.finfo(dtype).eps * theirs.abs().max(), f"{dtype}: as PyTorch's")

# Equal eigenvalues: what has a derivative is right, what has none is NaN.
turn = torch.linalg.qr(torch.randn(3, 3, dtype=torch.float64))[0]
for name, basis in (("equal", torch.eye(3, dtype=torch.float64)), ("equal to rounding", turn)):
    a = basis @ torch.diag(torch.tensor([1., 1, 3], dtype=torch.float64)) @ basis.T
    target = torch.randn(3, dtype=torch.float64)
    main = lambda a: (linalg.eigh(a).eigenvectors[:, 2] @ target) ** 2
    v = basis[:, 2]
    # v' = (3 - A)^+ A' v, and 3 - A is 2 beside v
    rest = (target - v * (v @ target)) * (v @ target) * 2 / 2
    exact = (torch.outer(rest, v) + torch.outer(v, rest)) / 2
    check(torch.allclose(gradient(main, a), exact, atol=1e-12), f"{name}: the simple eigenvalue's vector")
    check(torch.allclose(gradient(lambda a: linalg.eigvalsh(a)[2] ** 2, a), 6 * torch.outer(v, v), atol=1e-12),
          f"{name}: its value")
    check(torch.allclose(gradient(lambda a: linalg.eigvalsh(a).sum(), a), torch.eye(3, dtype=torch.float64),
                         atol=1e-12), f"{name}: the sum of the values")
    check(gradient(lambda a: (linalg.eigh(a).eigenvectors[:, 0] @ target) ** 2, a).isnan().any(),
          f"{name}: their vectors have no derivative")
    tangent = hermitian(3, 3)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(a, tangent)
        turned = torch.autograd.forward_ad.unpack_dual(linalg.eigh(dual).eigenvectors).tangent
    check(turned[:, :2].isnan().any() and turned[:, 2].isfinite().all(), f"{name}: forward")

# A loss that depends on a vector's phase has no gradient; nor has a matrix with NaN. Their neighbours have.
a = hermitian(3, 4, 4, dtype=torch.complex128)
got = gradient(lambda a: linalg.eigh(a).eigenvectors[1, 1].real.sum(), a)
check(got[1].isnan().any() and (got[[0, 2]] == 0).all(), "a loss that depends on phases")
for dtype in KINDS:
    a = hermitian(3, 4, 4, dtype=dtype)
    spoiled = a.clone()
    spoiled[1, 2, 1] = torch.nan
    sizes = lambda a: (linalg.eigh(a).eigenvectors[..., 0].abs() ** 4).sum()
    got = gradient(sizes, spoiled)
    check(got[1].isnan().all() and torch.equal(got[[0, 2]], gradient(sizes, a)[[0, 2]]), f"{dtype}: NaN")

# torch.compile without a break in the graph, and torch.func.
x = torch.randn(3, 4, 4, dtype=torch.float64)


def loss(x):
    values, vectors = linalg.eigh(x + x.mT, "U")
    return (values ** 3).sum() + (vectors[..., 0] ** 4).sum() + linalg.eigvalsh(x + x.mT).abs().sum()


# Of a change of the matrix its Hermitian part counts.
change = torch.randn(4, 4, dtype=torch.float64)
for part in (0, 1):
    moved = [torch.func.jvp(lambda a: linalg.eigh(a)[part], (x[0] + x[0].T,), (one,))[1]
             for one in (change, (change + change.T) / 2)]
    check(torch.allclose(*moved), "a change that is not symmetric")
compiled, expected = torch.compile(loss, fullgraph=True, backend="aot_eager"), gradient(loss, x)
check(torch.allclose(compiled(x), loss(x)), "compiled")
check(torch.allclose(gradient(compiled, x), expected), "compiled, its gradient")
check(torch.allclose(torch.func.grad(loss)(x), expected), "torch.func.grad")
check(torch.allclose(torch.func.vmap(torch.func.grad(loss))(x), expected), "vmap of grad")
check(torch.equal(torch.func.vmap(linalg.eigvalsh, in_dims=1)(x.movedim(0, 1)), linalg.eigvalsh(x)), "vmap")
check(torch.allclose(torch.func.jacfwd(linalg.eigvalsh)(x[0]), torch.func.jacrev(linalg.eigvalsh)(x[0])), "jacobians")
check(torch.allclose(torch.func.hessian(loss)(x[:1]), torch.autograd.functional.hessian(loss, x[:1])), "Hessian")
for function in (torch.ops.hotfiber.eigh, torch.ops.hotfiber.eigvalsh):
    torch.library.opcheck(function, (x, True), test_utils=("test_schema", "test_faketensor"))
end()
