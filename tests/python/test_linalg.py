"""hotfiber.linalg against its definitions and the functions of NumPy: types, shapes, triangles, hard matrices."""
import numpy as np

import hotfiber
from counted import check, end, raises
from hotfiber import linalg

random = np.random.default_rng(20261128)
KINDS = np.float32, np.float64, np.complex64, np.complex128


def hermitian(shape, n, kind):
    a = random.normal(size=shape + (n, n))
    if np.dtype(kind).kind == "c":
        a = a + 1j * random.normal(size=shape + (n, n))
    return ((a + a.conj().swapaxes(-1, -2)) / 2).astype(kind)


def with_values(values, n, kind, count=3):
    """Matrices of these eigenvalues with random vectors, in the precision of `kind`."""
    vectors = np.linalg.qr(hermitian((count,), n, np.complex128 if np.dtype(kind).kind == "c" else np.float64))[0]
    a = (vectors * values) @ vectors.conj().swapaxes(-1, -2)
    return ((a + a.conj().swapaxes(-1, -2)) / 2).astype(kind)


def right(a, what):
    """A V = V D and V^H V = 1 to a few n eps, as LAPACK's, and its eigenvalues."""
    n, eps = a.shape[-1], np.finfo(a.dtype).eps
    wide = a.astype(np.complex128 if a.dtype.kind == "c" else np.float64)
    values, vectors = linalg.eigh(a)
    check(values.dtype == np.zeros(1, a.dtype).real.dtype and vectors.dtype == a.dtype, f"{what}: types")
    check(values.shape == a.shape[:-1] and vectors.shape == a.shape, f"{what}: shapes")
    if not a.size:
        return
    largest = np.abs(wide).max((-1, -2), keepdims=True)  # so that no square underflows
    bound, norm = 4 * n * eps, (largest * np.linalg.norm(wide / (largest + (largest == 0)), axis=(-1, -2),
                                                         keepdims=True))[..., 0, 0]
    left = np.abs(wide @ vectors - vectors * values[..., None, :].astype(np.float64)).max((-1, -2))
    check((left <= bound * norm).all(), f"{what}: residual {left.max()}")
    off = vectors.conj().swapaxes(-1, -2).astype(wide.dtype) @ vectors - np.eye(n)
    vectors_off = np.linalg.norm(off, axis=(-1, -2)).max() / eps
    check(vectors_off <= 4 * n, f"{what}: vectors off by {vectors_off} eps")
    check((np.diff(values) >= 0).all(), f"{what}: not ascending")
    exact = np.linalg.eigvalsh(wide)
    alone = linalg.eigvalsh(a)
    for got in (values, alone):
        check((np.abs(got - exact).max(-1) <= bound * norm).all(), f"{what}: eigenvalues differ from LAPACK's")


for kind in KINDS:
    name = np.dtype(kind).name
    tiny = np.finfo(kind).tiny
    for n in (1, 2, 3, 4, 5, 8, 15, 16, 17, 31, 32, 40, 64, 65):
        right(hermitian((37,), n, kind), f"{name}, n = {n}")
        graded = np.float64(10.) ** -np.linspace(0, 30, n)
        right(with_values(graded, n, kind), f"{name}, n = {n}, graded")
        right(np.diag(graded).astype(kind)[None], f"{name}, n = {n}, graded diagonal")
        scaled = graded[:, None] * hermitian((40,), n, kind) * graded
        right(scaled.astype(kind), f"{name}, n = {n}, graded rows")
        right(scaled[:, ::-1, ::-1].astype(kind), f"{name}, n = {n}, graded rows, reversed")
        right(with_values(1 + np.finfo(kind).eps * np.arange(n), n, kind), f"{name}, n = {n}, clustered")
        right(with_values(np.arange(n) % 2 - .5, n, kind, 34), f"{name}, n = {n}, two eigenvalues")
        right(np.zeros((40, n, n), kind), f"{name}, n = {n}, zero")
        right(np.ones((2, n, n), kind), f"{name}, n = {n}, rank one")
        for size in (tiny, 1 / tiny / 1e4):
            right((hermitian((3,), n, kind) * kind(size)).astype(kind) if size > 1 else
                  np.ldexp(1., int(np.log2(size)) + 30).astype(kind) * hermitian((3,), n, kind),
                  f"{name}, n = {n}, entries near {size:g}")
    right(hermitian((2, 0, 3), 4, kind), f"{name}, no matrices")
    right(hermitian((2, 1, 3), 4, kind), f"{name}, leading shape")

    # Only one triangle is read; NaN harms its own matrix alone.
    for n, count in ((3, 50), (20, 50), (40, 50), (70, 5), (70, 2)):
        a = hermitian((count,), n, kind)
        for uplo in "LU":
            spoiled = a.copy()
            rows, columns = np.triu_indices(n, 1) if uplo == "L" else np.tril_indices(n, -1)
            spoiled[:, rows, columns] = np.nan
            clean, got = linalg.eigh(a, uplo), linalg.eigh(spoiled, UPLO=uplo)
            check(np.array_equal(clean.eigenvalues, got.eigenvalues), f"{name}, n = {n}: the triangle {uplo}")
            check(np.array_equal(clean.eigenvectors, got.eigenvectors), f"{name}, n = {n}: vectors, {uplo}")
        if np.dtype(kind).kind == "c":
            spoiled = a.copy()
            spoiled[:, range(n), range(n)] += kind(3j)
            got = linalg.eigh(spoiled)
            check(np.array_equal(linalg.eigvalsh(a), linalg.eigvalsh(spoiled)) and
                  np.array_equal(linalg.eigh(a).eigenvectors, got.eigenvectors), f"{name}, n = {n}: the diagonal")
        a[1, n - 1, 0] = a[1, 0, n - 1] = np.nan
        got = linalg.eigh(a)
        check(np.isnan(got.eigenvalues[1]).all() and np.isnan(got.eigenvectors[1]).all(), f"{name}: NaN")
        rest = np.arange(count) != 1
        clean = linalg.eigh(np.where(rest[:, None, None], a, 0))
        check(np.array_equal(got.eigenvalues[rest], clean.eigenvalues[rest]) and
              np.array_equal(got.eigenvectors[rest], clean.eigenvectors[rest]), f"{name}, n = {n}: NaN's neighbours")

# Larger than the library's matrices: NumPy's function.
big = hermitian((2,), 1030, np.float32)
big[1, 5, 5] = np.nan
values = linalg.eigvalsh(big)
check(np.allclose(values[0], np.linalg.eigvalsh(big[0])) and np.isnan(values[1]).all(), "n = 1030")

# Tridiagonal matrices, with and without vectors.
for n in (1, 2, 7, 30, 50):
    d, e = random.normal(size=(2, 5, n)), random.normal(size=(2, 5, n - 1))
    full = np.zeros((2, 5, n, n))
    full[..., range(n), range(n)] = d
    full[..., range(1, n), range(n - 1)] = full[..., range(n - 1), range(1, n)] = e
    values, vectors = linalg.eigh_tridiagonal(d, e)
    check(np.abs(values - np.linalg.eigvalsh(full)).max() < 1e-13 * n, f"tridiagonal, n = {n}")
    check(np.abs(full @ vectors - vectors * values[..., None, :]).max() < 1e-13 * n, f"tridiagonal vectors, n = {n}")
    check(np.abs(linalg.eigh_tridiagonal(d, e, eigvals_only=True) - values).max() < 1e-13 * n, "eigvals_only")
    if n > 2:
        some = linalg.eigh_tridiagonal(d, e, select="i", select_range=(1, 2))
        check(np.abs(some.eigenvalues - values[..., 1:3]).max() < 1e-13 * n, "a range")
        check(some.eigenvectors.shape[-1] == 2, "vectors of a range")
        inside = linalg.eigvalsh_tridiagonal(d[0, 0], e[0, 0], "v", (values[0, 0, 1] - 1e-9, values[0, 0, 2] + 1e-9))
        check(np.allclose(inside, values[0, 0, 1:3]), "an interval")
# Vectors of a part, against those of scipy where it is installed and against the definition: in batches, of large
# matrices, clustered, with zeros, in single precision.
try:
    from scipy.linalg import eigh_tridiagonal as scipys
except ImportError:
    scipys = None
    print("no scipy: vectors are not compared with its")
for n in (5, 90, 3000):
    for kind in (np.float32, np.float64):
        d, e = random.normal(size=(2, n)).astype(kind), random.normal(size=(2, n - 1)).astype(kind)
        d[1], e[1] = np.arange(n) % 2, 0  # two eigenvalues
        eps, wide = np.finfo(kind).eps, (d.astype(np.float64), e.astype(np.float64))
        for select, given in (("i", (1, 3)), ("v", (-.05, .05)), ("a", None)) if n < 3000 else (("i", (7, 19)),):
            values, vectors = linalg.eigh_tridiagonal(d, e, select=select, select_range=given)
            what = f"n = {n}, {np.dtype(kind).name}, {select}"
            check(values.dtype == vectors.dtype == kind, f"{what}: types")
            check(vectors.shape == (2, n, values.shape[-1]), f"{what}: shapes")
            check(np.array_equal(values, linalg.eigvalsh_tridiagonal(d, e, select, given), True), f"{what}: values")
            for m in range(2):
                count = np.isfinite(values[m]).sum()
                v, lam = vectors[m, :, :count].astype(np.float64), values[m, :count]
                left = wide[0][m, :, None] * v - v * lam
                left[1:] += wide[1][m, :, None] * v[:-1]
                left[:-1] += wide[1][m, :, None] * v[1:]
                check(np.abs(left).max(initial=0) < 20 * n * eps and np.isnan(vectors[m, :, count:]).all() and
                      np.abs(v.T @ v - np.eye(count)).max(initial=0) < 8 * n * eps, f"{what}: vectors of matrix {m}")
                if scipys and n < 3000:
                    alone = linalg.eigh_tridiagonal(d[m], e[m], select=select, select_range=given)
                    exact, their = scipys(*(one[m] for one in wide), select=select, select_range=given)
                    check(alone.eigenvectors.shape == their.shape and
                          np.abs(alone.eigenvalues - exact).max(initial=0) < 20 * n * eps, f"{what}: scipy's values")
                    if m == 0 and kind == np.float64:  # simple eigenvalues: the same vectors but for the sign
                        check(np.abs(np.abs((alone.eigenvectors * their).sum(0)) - 1).max(initial=0) < 1e-8,
                              f"{what}: scipy's vectors")
values, vectors = linalg.eigh_tridiagonal([[1, np.nan, 2], [3, 4, 5]], [[0, 0], [0, 0]])
check(np.isnan(values[0]).all() and np.isnan(vectors[0]).all() and np.array_equal(np.abs(vectors[1]), np.eye(3)),
      "tridiagonal, NaN")
check(linalg.eigh_tridiagonal([], []).eigenvectors.shape == (0, 0), "tridiagonal, n = 0")
check(linalg.eigh_tridiagonal([2., 2], [1.], check_finite=False, lapack_driver="stemr").eigenvalues.shape == (2,),
      "arguments of scipy")
rough = linalg.eigh_tridiagonal(random.normal(size=300), random.normal(size=299), select="i", select_range=(0, 2),
                                tol=1e-3)
check(np.abs(rough.eigenvectors.T @ rough.eigenvectors - np.eye(3)).max() < 1e-12, "vectors with a tolerance")
# an interval's ends are rounded in the precision computed in
check(linalg.eigvalsh_tridiagonal(np.ones(1, np.float32), np.zeros(0), "v", (1 - 1e-9, 1)).size == 1, "ends, two types")
# scipy's interval is open below and closed above
check(linalg.eigvalsh_tridiagonal([1., 2, 3], [0., 0], "v", (1, 2)).tolist() == [2.], "the interval's ends")
# Large matrices, of which threads share one: hotfiber.heev, as eigh calls NumPy for few of them.
for kind, n in zip(KINDS, (515, 1030, 600, 700)):
    a = hermitian((1,), n, kind)
    a = np.concatenate([a, np.full_like(a, np.nan), a / 2])
    found = hotfiber.heev(a, threads=4, device="cpu")
    exact, eps = np.linalg.eigvalsh(a[0]), np.finfo(kind).eps
    for k, scale in ((0, 1), (2, 2)):
        v = found.vectors[k]
        check(np.abs(found.values[k] * scale - exact).max() < 4 * n * eps * np.abs(exact).max(), f"{n} rows: values")
        check(np.abs(a[k] @ v - v * found.values[k]).max() < 4 * n * eps * np.abs(exact).max(), f"{n} rows: residual")
        check(np.abs(v.conj().T @ v - np.eye(n)).max() < 4 * n * eps, f"{n} rows: orthonormal")
    check(np.isnan(found.values[1]).all() and np.isnan(found.vectors[1]).all(), f"{n} rows: NaN")
    some = hotfiber.heev(a[0], largest=7, threads=1, device="cpu")
    check(np.abs(some.values - exact[-7:]).max() < 4 * n * eps * np.abs(exact).max() and
          some.vectors.shape == (n, 7), f"{n} rows: the largest")
for word in ("4097", "4096"):
    raises(ValueError, word, hotfiber.heev, np.zeros((4097, 4097), np.float32))
for wrong in (lambda: linalg.eigh_tridiagonal([1., 2], [1., 2]), lambda: linalg.eigh(np.zeros((3, 2))),
              lambda: linalg.eigh(np.zeros((2, 2)), "X"), lambda: linalg.eigvalsh_tridiagonal([1., 2], [1.], "x"),
              lambda: linalg.eigh_tridiagonal([1., 2], [1.], select="i", select_range=(0, 2))):
    raises(ValueError, "", wrong)
end()
