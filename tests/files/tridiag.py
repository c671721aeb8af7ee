"""hotfiber tridiag: files in and out, against numpy."""
import functools
import subprocess

import numpy as np

import _arrays
from _arrays import HOTFIBER, check, end

nrrd = functools.partial(_arrays.nrrd, order="C")


def run(*arguments, data=None):
    return subprocess.run([HOTFIBER, "tridiag", "--quiet", *arguments], input=data, capture_output=True, timeout=120)


def read(data):
    values, kind = _arrays.read(data, "C")
    check(kind == "double", "the output is double: " + kind)
    return values


def expected(matrices):
    flat = matrices.reshape(-1, *matrices.shape[-2:])
    values = [np.linalg.eigvalsh(np.diag(d) + np.diag(e[:-1], 1) + np.diag(e[:-1], -1)) for d, e in flat]
    return np.array(values).reshape(*matrices.shape[:-2], -1)


random = np.random.default_rng(1)
for shape in ((3, 4, 2, 17), (5, 2, 1), (2, 30)):
    matrices = random.normal(size=shape)
    true = expected(matrices)
    n = shape[-1]
    spoilt = matrices.copy()
    spoilt[..., 1, -1] = np.nan  # the last off-diagonal value is not used
    done = run(data=nrrd(spoilt))
    check(done.returncode == 0, done.stderr.decode())
    mine = read(done.stdout)
    check(mine.shape == true.shape and np.abs(mine - true).max() < 1e-13, f"all of {shape}")
    mine = read(run("--precision", "single", data=nrrd(matrices)).stdout)
    check(1e-12 < np.abs(mine - true).max() < 1e-5 or n == 1, f"single precision is single: {shape}")
    mine = read(run(data=nrrd(matrices.astype("<f4"), "float")).stdout)
    check(np.abs(mine - expected(matrices.astype("<f4").astype(float))).max() < 1e-13,
          f"floats stay floats: {shape}")
    if n > 5:
        mine = read(run("--index", "2,5", data=nrrd(matrices)).stdout)
        check(mine.shape[-1] == 4 and np.abs(mine - true[..., 2:6]).max() < 1e-13, f"index of {shape}")
        mine = read(run("--range", "-0.5,0.7", data=nrrd(matrices)).stdout)
        inside = [row[(row >= -.5) & (row < .7)] for row in true.reshape(-1, n)]
        check(mine.shape[-1] == max(map(len, inside)), f"width of a range: {mine.shape}")
        for row, right in zip(mine.reshape(len(inside), -1), inside):
            check(np.abs(row[:len(right)] - right).max(initial=0) < 1e-13 and np.isnan(row[len(right):]).all(),
                  "a range")
        mine = read(run("--tolerance", "0.01", "--index", "0,3", data=nrrd(matrices)).stdout)
        check(0 < np.abs(mine - true[..., :4]).max() <= .01, "a tolerance is used and kept")
        check(read(run("--range", "1e5,1e6", data=nrrd(matrices)).stdout).shape[-1] == 1,
              "an empty range keeps its axis")
bad = random.normal(size=(3, 2, 6))
bad[1, 0, 3] = np.inf
done = subprocess.run([HOTFIBER, "tridiag"], input=nrrd(bad), capture_output=True)
mine = read(done.stdout)
check(b"1 of 3 matrices" in done.stderr and np.isnan(mine[1]).all() and np.isfinite(mine[[0, 2]]).all(),
      done.stderr.decode())
for arguments, data, words in [
        ((), nrrd(random.normal(size=(3, 6))), "axis 1"),
        ((), nrrd(random.normal(size=6)), "axis 1"),
        (("--index", "4,6"), nrrd(bad), "size 6")]:
    done = run(*arguments, data=data)
    check(done.returncode == 1 and words in done.stderr.decode() and done.stdout == b"", done.stderr.decode())
for arguments in (("--index", "3,1"), ("--index", "1.5,2"), ("--range", "1"), ("--range", "0,1", "--index", "0,1")):
    done = run(*arguments, data=b"")
    check(done.returncode == 2 and done.stderr.count(b"\n") == 1, done.stderr.decode())
end()
