"""Eigenvalues with the OpenBLAS of NumPy's wheels, whose functions have other names and integers of 64 bits: in place
of a system's, which is older or not there. $HOT_NUMPY_OPENBLAS names its file where NumPy itself is a system's."""
import glob
import os
import sys

import numpy as np

import hotfiber
from cli import check, end
from hotfiber import linalg
from hotfiber._library import lib

numpys = glob.glob(os.path.join(glob.escape(os.path.dirname(os.path.dirname(np.__file__))), "numpy.libs",
                                "libscipy_openblas64_*"))
file = os.environ.get("HOT_NUMPY_OPENBLAS") or (numpys[0] if numpys else "")
if not os.path.exists(file):
    print("skipped: NumPy is no wheel with its own OpenBLAS, and $HOT_NUMPY_OPENBLAS names none")
    sys.exit(77)
lib.hot_python_offer_lapack(b"relative/libscipy_openblas64_.so")  # a file of the current folder: not taken
lib.hot_python_offer_lapack(os.fsencode(file))
lib.hot_python_offer_lapack(b"/nowhere/libscipy_openblas64_.so")  # only the first counts
random = np.random.default_rng(9)
for kind in (np.float32, np.float64, np.complex64, np.complex128):
    eps = np.finfo(kind).eps
    for n, count in ((40, 2), (130, 3), (520, 2), (1100, 1)):  # whole drivers of LAPACK; its pieces
        a = random.normal(size=(count, n, n)).astype(kind)
        if a.dtype.kind == "c":
            a = a + 1j * random.normal(size=a.shape).astype(a.real.dtype)
        a = (a + a.conj().swapaxes(-1, -2)).astype(kind)
        found = hotfiber.heev(a, device="cpu", threads=2)
        alone = hotfiber.heev(a, device="cpu", threads=1, vectors=False).values
        bound = 4 * n * eps * np.abs(found.values).max()
        check(np.abs(found.values - np.linalg.eigvalsh(a)).max() < bound, f"{kind.__name__}, {n}: values")
        check(np.abs(alone - found.values).max() < bound, f"{kind.__name__}, {n}: values alone")
        check(np.abs(a @ found.vectors - found.vectors * found.values[:, None]).max() < bound, f"{n}: residual")
        off = np.abs(found.vectors.conj().swapaxes(-1, -2) @ found.vectors - np.eye(n)).max()
        check(off < 4 * n * eps, f"{kind.__name__}, {n}: orthonormal")
d, e = random.normal(size=90), random.normal(size=89)
values, vectors = linalg.eigh_tridiagonal(d, e)
whole = np.diag(d) + np.diag(e, 1) + np.diag(e, -1)
check(np.abs(whole @ vectors - vectors * values).max() < 1e-12, "tridiagonal, with vectors")
check(np.abs(hotfiber.tridiag(d, e, device="cpu") - np.linalg.eigvalsh(whole)).max() < 1e-12, "tridiagonal")
x = np.einsum("ir,jr,kr->ijk", *(random.normal(size=(n, 3)) for n in (40, 50, 60)))
check(hotfiber.cpd(x, 3, device="cpu", start="hosvd").fit > 0.999, "products of CP")
with open("/proc/self/maps") as maps:
    check(os.path.realpath(file) in maps.read(), "NumPy's OpenBLAS is not used")
end()
