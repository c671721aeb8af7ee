"""hotfiber.linalg on arrays of JAX: results as of NumPy's arrays, derivatives against finite differences, jit, vmap,
equal eigenvalues. Skipped without JAX."""
import importlib.util
import sys

if importlib.util.find_spec("jax") is None:
    print("skipped: no JAX")
    sys.exit(77)
import jax
import jax.numpy as jnp
import numpy as np
from counted import check, end, raises
from hotfiber import linalg
from jax.test_util import check_grads

random = np.random.default_rng(20261128)


def hermitian(*shape, is_complex=False):
    a = random.normal(size=shape) + (1j * random.normal(size=shape) if is_complex else 0)
    return (a + a.conj().swapaxes(-1, -2)) / 2


single = hermitian(2, 3, 3).astype(np.float32)
got = linalg.eigh(jnp.asarray(single))
check(isinstance(got.eigenvectors, jax.Array) and got.eigenvectors.dtype == np.float32, "single precision")
check(linalg.eigh(jnp.arange(4).reshape(2, 2)).eigenvalues.dtype == np.float32, "whole numbers, without 64 bits")
jax.config.update("jax_enable_x64", True)
for is_complex in (False, True):
    for n in (0, 1, 2, 4, 20, 70):
        a = hermitian(3, n, n, is_complex=is_complex)
        for uplo in "LU":
            half = np.where((np.tril if uplo == "L" else np.triu)(np.ones((n, n))), a, np.nan)
            numpys = linalg.eigh(half, uplo)
            for what, got in (("", linalg.eigh(jnp.asarray(half), uplo)),
                              (", jit", jax.jit(linalg.eigh, static_argnums=1)(half, uplo)),
                              (", vmap", jax.vmap(lambda a: linalg.eigh(a, uplo))(jnp.asarray(half)))):
                check(all(isinstance(part, jax.Array) and np.array_equal(part, numpys_part)
                          for part, numpys_part in zip(got, numpys)), f"n = {n}, {uplo}{what}")
            alone = linalg.eigvalsh(half, uplo)
            check(np.array_equal(linalg.eigvalsh(jnp.asarray(half), uplo), alone) and np.array_equal(
                jax.jit(linalg.eigvalsh, static_argnums=1)(half, uplo), alone), f"n = {n}, {uplo}: values alone")


def parts(x):
    values, vectors = linalg.eigh((x + x.conj().mT) / 2)
    return values, vectors[..., :, None, :] * vectors.conj()[..., None, :, :]  # without a phase


for is_complex in (False, True):
    a = jnp.asarray(hermitian(2, 4, 4, is_complex=is_complex))
    for what, function in (("eigh", parts), ("eigvalsh", lambda x: linalg.eigvalsh(x + x.conj().mT, "U"))):
        try:
            check_grads(function, (a,), order=2)
            check(True, "")
        except AssertionError as error:
            check(False, f"derivatives of {what}, complex: {is_complex}: {error}")

a, v = jnp.diag(jnp.asarray([1., 1, 3])), np.eye(3)[2]
check(np.allclose(jax.grad(lambda a: linalg.eigvalsh(a)[2])(a), np.outer(v, v)), "equal eigenvalues: values")
basis = np.linalg.qr(random.normal(size=(3, 3)))[0]
for what, matrix in (("equal", a), ("equal to rounding", jnp.asarray(basis @ np.asarray(a) @ basis.T))):
    turned = jax.jvp(lambda a: linalg.eigh(a).eigenvectors, (matrix,), (jnp.asarray(hermitian(3, 3)),))[1]
    check(np.isnan(turned[:, :2]).any() and np.isfinite(turned[:, 2]).all(), f"{what} eigenvalues: vectors")
for wrong in (lambda: linalg.eigh(jnp.zeros((2, 3))), lambda: linalg.eigh(jnp.zeros((2, 2)), "X")):
    raises(ValueError, "", wrong)
end()
