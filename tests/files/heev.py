"""hotfiber heev: files in and out, against numpy."""
import functools
import subprocess

import numpy as np

import _arrays
from _arrays import HOTFIBER, check, end

nrrd = functools.partial(_arrays.nrrd, order="C")


def run(*arguments, data=None):
    return subprocess.run([HOTFIBER, "heev", "--quiet", *map(str, arguments)], input=data, capture_output=True,
                          timeout=120)


def read(data):
    values, kind = _arrays.read(data, "C")
    check(kind == "double", "the output is double: " + kind)
    return values


def parts(z):
    """complex matrices (batch, row, column) as NRRD wants them: (batch, column, row, part)"""
    z = z.swapaxes(-1, -2)
    return np.ascontiguousarray(np.stack([z.real, z.imag], -1))


random = np.random.default_rng(1)
for batch, n in (((3,), 5), ((2, 4), 17), ((), 1), ((2,), 70)):
    z = random.normal(size=(*batch, n, n)) + 1j * random.normal(size=(*batch, n, n))
    z = z + z.conj().swapaxes(-1, -2)
    true = np.linalg.eigvalsh(z)
    done = run("--vectors", "v.nrrd", data=nrrd(parts(z)))
    check(done.returncode == 0, done.stderr.decode())
    values, v = read(done.stdout), read(open("v.nrrd", "rb").read())
    check(values.shape == (true.shape if batch else (n,)) and np.abs(values - true).max() < 1e-12,
          f"values of {batch} {n}")
    check(v.shape == (*batch, n, n, 2), f"vectors are laid out as the input: {v.shape}")
    v = (v[..., 0] + 1j * v[..., 1]).swapaxes(-1, -2)
    check(np.abs(z @ v - v * values[..., None, :]).max() < 1e-12 * n, "A V = V D")
    check(np.abs(v.conj().swapaxes(-1, -2) @ v - np.eye(n)).max() < 1e-13 * n, "V^H V = 1")
    k = (n + 2) // 3
    done = run("--largest", k, "--vectors", "k.nrrd", data=nrrd(parts(z)))
    part, w = read(done.stdout), read(open("k.nrrd", "rb").read())
    check(part.shape[-1] == k and np.abs(part - true[..., n - k:]).max() < 1e-12, f"the {k} largest of {n}")
    w = (w[..., 0] + 1j * w[..., 1]).swapaxes(-1, -2)
    check(w.shape == (*batch, n, k) and np.abs(z @ w - w * part[..., None, :]).max() < 1e-12 * n, "their vectors")
    s = z.real.copy()
    values = read(run("--real", "--vectors", "r.nrrd", data=nrrd(s.astype("<f4"), "float")).stdout)
    s = s.astype("<f4").astype(float)
    v = read(open("r.nrrd", "rb").read()).swapaxes(-1, -2)
    check(np.abs(values - np.linalg.eigvalsh(s)).max() < 1e-12, "real, from floats")
    check(np.abs(s @ v - v * values[..., None, :]).max() < 1e-12 * n, "real vectors")

z = random.normal(size=(3, 4, 4)) + 0j
z = z + z.swapaxes(-1, -2)
bad = parts(z)
bad[1, 2, 2, 0] = np.nan
done = subprocess.run([HOTFIBER, "heev"], input=nrrd(bad), capture_output=True)
values = read(done.stdout)
check(b"1 of 3 matrices" in done.stderr and np.isnan(values[1]).all() and
      np.abs(values[[0, 2]] - np.linalg.eigvalsh(z[[0, 2]])).max() < 1e-12, done.stderr.decode())
skew = parts(z)
skew[2, 1, 3, 1] += 1
for arguments, data, words in [((), nrrd(skew), "not Hermitian"),
                               (("--real",), nrrd(random.normal(size=(4, 4))), "not symmetric"),
                               ((), nrrd(random.normal(size=(4, 4))), "axis 0"),
                               ((), nrrd(random.normal(size=(3, 4, 2))), "square"),
                               (("--largest", 5), nrrd(parts(z)), "size 4"),
                               (("--real",), nrrd(np.zeros((4097, 4097))), "4097")]:
    done = run(*arguments, data=data)
    check(done.returncode == 1 and words in done.stderr.decode() and done.stdout == b"",
          f"{words}: {done.stderr.decode()}")
end()
