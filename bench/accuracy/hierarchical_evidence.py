"""For hierarchical.py: where fits start, the evidence of k fibres, and the noise of all voxels."""
from math import erf, lgamma

import numpy as np

from hierarchical_model import EDGES, FIXED, KMAX, TWO_PI, WALL, Fit, misfit, predict, prior_terms, tangents


# ---- starts: the best single directions, pairs and triples of a fixed set --------------------------------------------
def half_sphere(count):
    z = (np.arange(count) + 0.5) / count
    p = np.arange(count) * 2.399963229728653
    return np.stack([np.sqrt(1 - z * z) * np.cos(p), np.sqrt(1 - z * z) * np.sin(p), z], 1)


class Starts:
    BINS = ((22.0, 42.0), (42.0, 62.0), (62.0, 90.1))

    def __init__(self, scheme, width, count=130):
        self.directions = half_sphere(count)
        weight = np.ones(scheme.count)
        weight[0] = scheme.b0_weight
        theta = np.zeros((count, 2 + FIXED))
        theta[:, 1], theta[:, -1] = width, np.log(1e-3)
        kernel = predict(scheme, theta, self.directions[:, None], False)[0] * weight   # [direction, row]
        iso = np.exp(-np.outer([0.8e-3, 3e-3], scheme.b)) * weight
        q = np.linalg.qr(iso.T)[0]
        self.project = lambda x: x - (x @ q) @ q.T  # noqa: E731
        self.weight = weight
        self.kernel = self.project(kernel)
        self.gram = self.kernel @ self.kernel.T
        self.gram += 1e-9 * np.trace(self.gram) / count * np.eye(count)
        first, second = np.triu_indices(count, 1)
        angle = np.degrees(np.arccos(np.clip(np.abs((self.directions[first] * self.directions[second]).sum(1)), 0, 1)))
        self.pairs = [(first[k], second[k]) for k in ((angle >= low) & (angle < high) for low, high in self.BINS)]

    def find(self, y):
        """Directions of one fibre [voxel, 1, xyz], and lists of starts of two and of three."""
        data = self.project(y * self.weight)
        c = data @ self.kernel.T
        diagonal = np.diag(self.gram)
        best = np.argmax(np.where(c > 0, c * c / diagonal, -np.inf), 1)
        one = self.directions[best][:, None]
        pairs = [np.empty((len(y), 2), int) for _ in self.BINS]
        threes = [np.empty((len(y), 3), int) for _ in self.BINS]
        for begin in range(0, len(y), 64):
            rows = slice(begin, begin + 64)
            for bin_, (i, j) in enumerate(self.pairs):
                gii, gjj, gij = diagonal[i], diagonal[j], self.gram[i, j]
                determinant = gii * gjj - gij ** 2
                ci, cj = c[rows][:, i], c[rows][:, j]
                wi, wj = (ci * gjj - cj * gij) / determinant, (cj * gii - ci * gij) / determinant
                gain = np.where((wi > 0) & (wj > 0) & (np.minimum(wi, wj) > 0.15 * np.maximum(wi, wj)),
                                ci * wi + cj * wj, -np.inf)
                at = np.argmax(gain, 1)
                pairs[bin_][rows] = np.stack([i[at], j[at]], 1)
        for bin_, pair in enumerate(pairs):   # the third of each pair, by the signal that it explains in addition
            i, j = pair.T
            block = np.stack([np.stack([self.gram[i, i], self.gram[i, j]], -1),
                              np.stack([self.gram[j, i], self.gram[j, j]], -1)], -2)
            cross = np.stack([self.gram[i], self.gram[j]], 1)                     # [voxel, 2, direction]
            inner = np.linalg.solve(block, cross)
            left = diagonal - (cross * inner).sum(1)
            extra = c - (np.stack([c[np.arange(len(y)), i], c[np.arange(len(y)), j]], 1)[:, None] @ inner)[:, 0]
            near = np.maximum(np.abs(self.directions[i] @ self.directions.T),
                              np.abs(self.directions[j] @ self.directions.T))
            gain = np.where((extra > 0) & (near < np.cos(np.radians(30))), extra ** 2 / np.maximum(left, 1e-9), -1)
            threes[bin_] = np.stack([i, j, np.argmax(gain, 1)], 1)
        return one, [self.directions[p] for p in pairs], [self.directions[t] for t in threes]


def started(prior, u):
    """A fit at directions u with usual weights."""
    voxels, k = u.shape[:2]
    theta = np.zeros((voxels, 2 * k + FIXED))
    theta[:, -3] = max(prior.iso[0], 0.05) if k else 0.7
    theta[:, -2] = max(prior.water[0], 0.02) if k else 0.3
    theta[:, :k] = np.log(max(0.95 - prior.iso[0] - prior.water[0], 0.1) / max(k, 1))
    theta[:, k:2 * k] = prior.width[0]
    theta[:, -1] = prior.ln_d[0] if k else prior.ln_d_none[0]
    if prior.fan is None:
        return Fit(theta, u.copy())
    e1, e2 = tangents(u) if k else (u, u)
    return Fit(theta, u.copy(), 0.1 * (e1 + 0.5 * e2))   # not 0, where the slope by it is 0


# ---- evidence --------------------------------------------------------------------------------------------------------
def wall_share(k, count=40000):
    """The share of uniform k-tuples of directions that the prior on separations lets through."""
    if k < 2:
        return 1.0
    u = np.random.default_rng(1).normal(size=(count, k, 3))
    u /= np.linalg.norm(u, axis=-1, keepdims=True)
    cost = 0
    for i in range(k):
        for j in range(i):
            cost = cost + (np.maximum(np.abs((u[:, i] * u[:, j]).sum(1)) - WALL[0], 0) / WALL[1]) ** 2
    return np.exp(-0.5 * cost).mean()


SHARES = [wall_share(k) for k in range(KMAX + 1)]


def smallest(u):
    """The smallest angle between two of a voxel's fibres, degrees."""
    k, near = u.shape[1], 0
    for i in range(k):
        for j in range(i):
            near = np.maximum(near, np.abs((u[:, i] * u[:, j]).sum(-1)))
    return np.degrees(np.arccos(np.clip(near, 0, 1)))


def chance():
    """How often the smallest separation of 2 and of 3 uniform directions is in each bin of EDGES, within the prior."""
    result = np.ones((KMAX + 1, len(EDGES) - 1))
    for k in range(2, KMAX + 1):
        u = np.random.default_rng(2).normal(size=(200000, k, 3))
        u /= np.linalg.norm(u, axis=-1, keepdims=True)
        result[k] = np.histogram(smallest(u), EDGES)[0]
        result[k] /= result[k].sum()
    return result


CHANCE = chance()


def separation_cost(prior, k, u):
    """-2 ln of how much more often than by chance this smallest separation occurs; linear between the bins' middles."""
    middle = (EDGES[1:] + EDGES[:-1]) / 2
    return -2 * np.interp(smallest(u), middle, np.log(prior.near[k])) if k > 1 else 0.0


def constant(prior, k):
    """-2 ln of the priors' constants and of the number of ways to name k fibres."""
    ln = np.log
    d_sd = prior.ln_d[1] if k else prior.ln_d_none[1]
    total = ln(TWO_PI * d_sd ** 2) - 2 * ln(prior.share[k])
    if k:
        total += ln(TWO_PI * prior.iso[1] ** 2) + ln(TWO_PI * prior.water[1] ** 2)
        if prior.positive:
            total += 2 * sum(ln(0.5 * (1 + erf(mean / sd / 2 ** 0.5))) for mean, sd in (prior.iso, prior.water))
        if prior.fan is not None:
            total += 2 * k * ln(TWO_PI * prior.fan ** 2)
        total += k * ln(TWO_PI * prior.width[1] ** 2) + 2 * k * ln(TWO_PI)
        total += (k - 1) * ln(TWO_PI * prior.spread ** 2) + 2 * ln(SHARES[k]) + ln(k)
        total -= 2 * sum(ln(i) for i in range(1, k + 1))
    return total


def widened(fit):
    """The posterior's matrix; a direction has at most the whole half sphere, whose area 2 pi is that of a normal
    distribution of deviation 1: so each turn has 1 more, and parameters that the data do not determine have an evidence
    of 1."""
    k = fit.u.shape[1]
    matrix = fit.matrix + 1e-9 * np.eye(fit.matrix.shape[1])
    turns = np.arange(2 * k, 4 * k)
    matrix[:, turns, turns] += 1
    return matrix


def evidence(prior, k, fit):
    """-2 ln (share of k times evidence), Laplace."""
    matrix = widened(fit)
    total = fit.cost + constant(prior, k) + np.linalg.slogdet(matrix)[1] - matrix.shape[1] * np.log(TWO_PI)
    if k:  # uniform in the sum of weights W: in ln W the density is W
        total = total - 2 * np.log(np.exp(fit.theta[:, :k]).sum(1))
    return total + separation_cost(prior, k, fit.u)


def importance(scheme, y, sigma, prior, k, fit, samples, seed=7, freedom=6.0):
    """The same by importance sampling from Student's t about the fit, and how many samples count."""
    random = np.random.default_rng(seed)
    matrix = widened(fit)
    voxels, size = len(y), matrix.shape[1]
    factor = np.linalg.cholesky(np.linalg.inv(matrix))
    logdet = np.linalg.slogdet(matrix)[1]
    logs = np.empty((samples, voxels))
    e1, e2 = tangents(fit.u) if k else (None, None)
    t_constant = lgamma((freedom + size) / 2) - lgamma(freedom / 2) - 0.5 * size * np.log(freedom * np.pi)
    for sample in range(samples):
        z = random.normal(size=(voxels, size)) / np.sqrt(random.chisquare(freedom, voxels) / freedom)[:, None]
        step = (factor @ z[..., None])[..., 0]
        theta = fit.theta.copy()
        theta[:, :2 * k] += step[:, :2 * k]
        theta[:, -FIXED:] += step[:, -FIXED:]
        u, area = fit.u, 0.0
        if k:
            a, b = step[:, 2 * k:4 * k:2], step[:, 2 * k + 1:4 * k:2]
            u = u + a[..., None] * e1 + b[..., None] * e2
            area = -1.5 * np.log(1 + a * a + b * b).sum(1)
            u /= np.linalg.norm(u, axis=-1, keepdims=True)
        outside = (np.abs(theta[:, k:2 * k] - 0.2) > 0.26).any(1) | (theta[:, -1] > np.log(5e-3))
        theta[:, k:2 * k] = np.clip(theta[:, k:2 * k], -0.06, 0.46)
        chi, log_sd, _, _ = misfit(scheme, y, sigma, theta, u, False)
        cost = chi + log_sd + prior_terms(prior, theta, u)[0] + constant(prior, k) + separation_cost(prior, k, u)
        if k:
            cost = cost - 2 * np.log(np.exp(theta[:, :k]).sum(1))
        proposal = t_constant + 0.5 * logdet - 0.5 * (freedom + size) * np.log(1 + (z ** 2).sum(1) / freedom)
        logs[sample] = np.where(outside, -np.inf, -0.5 * cost - proposal + area)
    top = logs.max(0)
    weight = np.exp(logs - top)
    return -2 * (top + np.log(weight.mean(0))), weight.sum(0) ** 2 / (weight ** 2).sum(0)


# ---- noise ---------------------------------------------------------------------------------------------------
def polygamma(order, x):
    """Digamma (0), trigamma (1) and its slope (2) for x > 0: recurrence to x > 8, then the asymptotic series."""
    value = 0.0
    while x < 8:
        value += (-1 / x, 1 / x ** 2, -2 / x ** 3)[order]
        x += 1.0
    y = 1 / (x * x)
    return value + (np.log(x) - 0.5 / x - y * (1 / 12 - y * (1 / 120 - y / 252)),
                    1 / x + y / 2 + y / x * (1 / 6 - y * (1 / 30 - y / 42)),
                    -y - y / x - y * y * (0.5 - y * (1 / 6 - y / 6)))[order]


def trigamma_inverse(x):
    """y with trigamma(y) = x (Smyth 2004, appendix)."""
    y = 0.5 + 1 / x
    for _ in range(30):
        value = polygamma(1, y)
        y += value * (1 - value / x) / polygamma(2, y)
    return y


def noise_prior(variance, freedom):
    """Common variance and its degrees of freedom, from the variances of all voxels, robustly."""
    z = np.log(np.maximum(variance, 1e-20)) - polygamma(0, freedom / 2) + np.log(freedom / 2)
    centre = np.median(z)
    low, high = np.percentile(z, [16, 84])
    spread = ((high - low) / 2) ** 2 - polygamma(1, freedom / 2)
    if spread <= 1e-3:
        return float(np.exp(centre)), 1e4
    own = 2 * trigamma_inverse(spread)
    return float(np.exp(centre + polygamma(0, own / 2) - np.log(own / 2))), float(own)
