"""CP decompositions of four axes and with missing values, against tensors of known terms and plain ALS."""
import math

import hotfiber
import numpy as np

from counted import check, end, raises

random = np.random.default_rng(11)


def full(weights, factors):
    letters = "ijkl"[:len(factors)]
    return np.einsum("r," + ",".join(one + "r" for one in letters) + "->" + letters, weights, *factors)


def made(shape, rank, low=None):
    factors = [random.standard_normal((n, rank)) if low is None else random.uniform(low, 1, (n, rank)) for n in shape]
    return full(np.arange(rank, 0, -1.), factors)


def best(x, rank, **how):
    """Of up to eight starts: least squares may end in a local minimum."""
    made = []
    while len(made) < 8 and not (made and made[-1].fit > 1 - 1e-6):
        made.append(hotfiber.cpd(x, rank, seed=len(made), **how))
    return max(made, key=lambda one: one.fit)


# Four axes: exact terms are found again, as columns of unit length, by falling weight; also from float32.
x = made((6, 5, 4, 7), 3)
for kind, limit in ((np.float64, 1e-6), (np.float32, 1e-3)):
    result = best(x.astype(kind), 3, iterations=600, tolerance=1e-9)
    check(np.abs(full(result.weights, result.factors) - x).max() < limit * np.abs(x).max(), f"order 4, {kind}")
    check(result.weights.dtype == kind and [one.shape for one in result.factors] == [(6, 3), (5, 3), (4, 3), (7, 3)],
          "shapes of order 4")
    check(all(np.allclose(np.linalg.norm(one, axis=0), 1, atol=1e-5) for one in result.factors) and
          (np.diff(result.weights) <= 0).all(), "unit columns, falling weights")
check(result.factors.d.shape == (7, 3), "the fourth factor by name")

# One iteration is that of the formula A <- X_(1) (D . C . B) (B^T B * C^T C * D^T D)^+, for all four modes in turn.
start = [random.standard_normal((n, 2)) for n in x.shape]
step = hotfiber.cpd(x, 2, iterations=1, start=start)
factors = [one.copy() for one in start]
for mode in range(4):
    others = [m for m in range(4) if m != mode]
    letters = "ijkl"
    right = np.einsum("ijkl," + ",".join(letters[m] + "r" for m in others) + "->" + letters[mode] + "r", x,
                      *(factors[m] for m in others))
    gram = math.prod(factors[m].T @ factors[m] for m in others)
    factors[mode] = np.linalg.solve(gram, right.T).T
check(np.allclose(full(step.weights, step.factors), full(np.ones(2), factors), rtol=1e-8, atol=1e-8 * np.abs(x).max()),
      "an iteration is that of alternating least squares")
wanted = 1 - np.linalg.norm(x - full(step.weights, step.factors)) / np.linalg.norm(x)
check(abs(step.fit - wanted) < 1e-10, f"the fit: {step.fit}, {wanted}")

# Missing values: the terms of the complete tensor are found from 60 % of it, whatever stands for the rest.
for shape in ((9, 8, 10), (6, 5, 4, 7)):
    whole = made(shape, 2)
    gone = random.uniform(size=shape) < .4
    x = np.where(gone, np.nan, whole)
    result = best(x, 2, missing=True, iterations=600, tolerance=1e-12)
    again = full(result.weights, result.factors)
    check(np.abs(again - whole).max() < 1e-5 * np.abs(whole).max(), f"{shape}: {np.abs(again - whole).max()}")
    check(result.fit > 1 - 1e-6, f"fit of the known values: {result.fit}")
# Weighted least squares: no value of the known ones can be fitted better, a minimum: the gradient vanishes.
noisy = np.where(gone, np.nan, whole + .1 * random.standard_normal(whole.shape))
result = hotfiber.cpd(noisy, 2, missing=True, iterations=1000, tolerance=1e-13, start="hosvd")
residual = np.where(gone, 0, noisy - full(result.weights, result.factors))
gradient = np.einsum("ijkl,jr,kr,lr->ir", residual, *result.factors[1:])
check(np.abs(gradient).max() < 1e-4 * np.linalg.norm(np.nan_to_num(noisy)), f"the gradient: {np.abs(gradient).max()}")
known = 1 - np.linalg.norm(residual) / np.linalg.norm(np.nan_to_num(noisy))
check(abs(result.fit - known) < 1e-9, f"the fit is of the known values: {result.fit}, {known}")
# Without a NaN it is the library's own decomposition.
whole = made((5, 6, 7), 2)
check(np.array_equal(hotfiber.cpd(whole, 2, missing=True, seed=5).factors.a, hotfiber.cpd(whole, 2, seed=5).factors.a),
      "missing=True without missing values")
# A whole slice that is missing keeps what the start had; the others are as without it.
x = whole.copy()
x[2] = np.nan
result = best(x, 2, missing=True, iterations=600, tolerance=1e-12)
check(np.abs(np.delete(full(result.weights, result.factors) - whole, 2, 0)).max() < 1e-4 * np.abs(whole).max(),
      "a missing slice")
# Terms of any size, and non-negative ones.
for scale in (1e-200, 1e200):
    result = best(made((4, 5, 3, 4), 1) * scale, 1)
    check(result.fit > 1 - 1e-9, f"scale {scale:g}: {result.fit}")
positive = made((6, 5, 4, 5), 2, .1)
result = best(np.where(random.uniform(size=positive.shape) < .3, np.nan, positive), 2, missing=True, non_negative=True,
              iterations=600)
check(all((one >= 0).all() for one in result.factors) and result.fit > .999, f"non-negative: {result.fit}")
one, other = (hotfiber.cpd(positive, 2, seed=3, iterations=9) for _ in range(2))
check(np.array_equal(one.factors.d, other.factors.d), "same seed")
seen = []
hotfiber.cpd(positive, 2, iterations=3, tolerance=-1, progress=lambda stage, part: seen.append(part))
check(seen[-1] == 1 and len([one for one in seen if one]) >= 3, f"progress: {seen}")

hole = whole.copy()
hole[0, 0, 0] = np.nan
raises(hotfiber.DataError, "NaN", hotfiber.cpd, hole, 2)
raises(hotfiber.DataError, "missing=True", hotfiber.cpd, np.where(positive > .5, np.nan, positive), 2)
raises(hotfiber.DataError, "every value", hotfiber.cpd, np.full((3, 3, 3), np.nan), 2, missing=True)
hole[1, 1, 1] = np.inf
raises(hotfiber.DataError, "Inf", hotfiber.cpd, hole, 2, missing=True)
raises(ValueError, "four are needed", hotfiber.cpd, positive, 2, start=[np.ones((6, 2))] * 3)
raises(ValueError, "iterations", hotfiber.cpd, positive, 2, iterations=-1)
end()
