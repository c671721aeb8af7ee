#!/usr/bin/python3
"""A slow, plain reference of one model for all data: 0 to 3 fibres, each with a width of its own, and always an isotropic
part; what is usual in these data (widths, isotropic part, inequality, shares of 0 to 3 fibres) is learnt from them.

    bench/accuracy/hierarchical.py -i dwi.nii.gz --response r.txt -o peaks.nii.gz --probability p.nii.gz
                                   [--mask mask.nii.gz] [--rounds N] [--sample N] [--report FILE.json]

The signal of volume v, over the mean of the b=0 volumes: sum_i w_i R_s(u_i . g_v, t_i) + w_0 exp(-b_v D). R_s is the
response of shell s (zonal harmonics a_l) with a_l exp(-l (l + 1) t / 2): a fibre spread by diffusion on the sphere for
the time t, which may be negative (narrower than the response). The mean of the b=0 volumes is a datum like the others,
so that sum w_i + w_0 = 1 but for the noise. Rician noise: mean and standard deviation of the magnitude.

Priors: directions uniform, none two nearer than about 25 degrees; t normal; the logarithms of the weights about their
mean normal; w_0 normal where there are fibres; ln D normal, other for 0 fibres; shares of k. Their means and deviations
are estimated by EM: the E step fits all k in every voxel and takes Laplace's approximation of each evidence and of the
posterior; the M step takes moments over voxels and k, with a few tens of pseudo-voxels for the start values. Noise:
every voxel's own variance, shrunk to the common one by as much as the variances of all say (Smyth 2004).

Needs numpy and nibabel. Directions are written as MRtrix peaks (scanner RAS)."""
import argparse
import json
import sys

import numpy as np

KMAX = 3
TWO_PI = 2 * np.pi
WATER = 3e-3           # diffusivity of free water at 37 degrees, mm^2/s
START = {"width": (0.0, 0.035), "iso": (0.15, 0.15), "water": (0.1, 0.12), "spread": 0.5, "ln_d": (np.log(0.9e-3), 0.3),
         "ln_d_none": (np.log(0.9e-3), 0.3), "share": np.array([0.2, 0.35, 0.3, 0.15])}
PSEUDO = 20.0          # pseudo-voxels of the start values
FIXED = 3              # parameters beside the fibres': w_0, water, ln D
EDGES = np.array([25, 35, 45, 55, 65, 75, 90.0])   # of the learnt distribution of the smallest separation
WALL = (np.cos(np.radians(30.0)), 0.03)


# ---- Rician mean and deviation, in units of sigma: tabulated once ----------------------------------------------------
def rician_table(step=0.01, end=40.0):
    s = np.arange(0, end + 2 * step, step)
    x = s * s / 4
    turn = (np.arange(400) + 0.5) * np.pi / 400   # exp(-x) I_0(x) and I_1(x) by their integrals
    part = np.exp(x[:, None] * (np.cos(turn) - 1))
    mean = np.sqrt(np.pi / 2) * ((1 + 2 * x) * part.mean(1) + 2 * x * (part * np.cos(turn)).mean(1))
    variance = 2 + s * s - mean * mean
    return step, mean, np.sqrt(np.maximum(variance, 1e-3)), np.gradient(mean, step)


STEP, MEAN, SD, SLOPE = rician_table()


def rician(s):
    """Mean, deviation and slope of the mean at true signals s (sigma = 1)."""
    high = s >= 39.9
    x = np.clip(s, 0, 39.9) / STEP
    at = x.astype(np.int32)
    x -= at
    mean = MEAN[at] * (1 - x) + MEAN[at + 1] * x
    sd = SD[at] * (1 - x) + SD[at + 1] * x
    slope = SLOPE[at] * (1 - x) + SLOPE[at + 1] * x
    if high.any():
        mean = np.where(high, s + 0.5 / np.maximum(s, 1), mean)
        sd, slope = np.where(high, 1, sd), np.where(high, 1, slope)
    return mean, sd, slope


# ---- scheme, response, data -------------------------------------------------------------------------------------------
class Scheme:
    """Directions and shells of the weighted volumes; the b=0 volumes become one, the first row."""

    def __init__(self, b, g, response, response_b):
        self.weighted = np.flatnonzero(b > 50)
        self.zero = np.flatnonzero(b <= 50)
        self.b = np.concatenate([[0], b[self.weighted]])
        self.g = np.concatenate([[[0, 0, 1.0]], g[self.weighted]])
        self.count = len(self.b)
        shells = [x for x in response_b if x > 50]
        rows = [response[i] for i, x in enumerate(response_b) if x > 50]
        at = np.argmin(np.abs(self.b[1:, None] - np.array(shells)), 1)
        self.order = np.argsort(at, kind="stable") + 1   # shell by shell
        self.shells = [(np.flatnonzero(at == s) + 1, np.array(rows[s])) for s in range(len(shells)) if (at == s).any()]
        self.lmax = 2 * (response.shape[1] - 1)
        self.ls = np.arange(0, self.lmax + 1, 2)
        self.b0_weight = np.sqrt(max(len(self.zero), 1))


def read_response(path):
    """Rows of zonal coefficients (of the fibre's signal at S0 = 1) and their b-values, from MRtrix's text format."""
    b, rows = None, []
    for line in open(path):
        if line.lower().startswith("# shells"):
            b = [float(x) for x in line.split(":")[1].replace(",", " ").split()]
        elif line.strip() and not line.startswith("#"):
            rows.append([float(x) for x in line.split()])
    rows = np.array(rows)
    if b is None or len(b) != len(rows):
        sys.exit("%s does not say which b-values its %d rows belong to ('# Shells: 0,1000')" % (path, len(rows)))
    zonal = rows * np.sqrt((2 * np.arange(rows.shape[1]) * 2 + 1) / (4 * np.pi))  # of P_l instead of Y_l0
    zero = [i for i, x in enumerate(b) if x <= 50]
    return zonal / zonal[zero[0], 0] if zero else zonal, b, bool(zero)


def legendre(t, ls):
    """P_l(t) and their derivatives, l = 0, 2, ...: arrays of shape (len(ls),) + t.shape."""
    p, d = [np.ones_like(t), t], [np.zeros_like(t), np.ones_like(t)]
    for l in range(2, ls[-1] + 1):
        p.append(((2 * l - 1) * t * p[-1] - (l - 1) * p[-2]) / l)
        d.append(d[-2] + (2 * l - 1) * p[-2])
    return p[::2][:len(ls)], d[::2][:len(ls)]


# ---- the model: parameters theta = ln w (k), t (k), w_0, water, ln D; directions beside it ------------------------------
def tangents(u):
    """Two unit vectors at right angles to each direction."""
    a = np.where(np.abs(u[..., :1]) < 0.7, [1.0, 0, 0], [0, 1.0, 0])
    e1 = np.cross(u, a)
    e1 /= np.linalg.norm(e1, axis=-1, keepdims=True)
    return e1, np.cross(u, e1)


def predict(scheme, theta, u, slopes=True):
    """Signals [voxel, row] and their slopes [voxel, row, parameter]: ln w, t, 2 turns per fibre, w_0, ln D."""
    voxels, k = u.shape[:2]
    n = scheme.count
    w0, d0 = theta[:, -3], np.exp(theta[:, -1])
    iso, water = np.exp(-d0[:, None] * scheme.b), np.exp(-WATER * scheme.b)
    signal = w0[:, None] * iso + theta[:, -2:-1] * water
    jacobian = np.empty((voxels, n, 4 * k + FIXED)) if slopes else None
    if slopes:
        jacobian[:, :, -3] = iso
        jacobian[:, :, -2] = water
        jacobian[:, :, -1] = -w0[:, None] * (d0[:, None] * scheme.b) * iso
    for i in range(k):
        w, tau = np.exp(theta[:, i]), theta[:, k + i]
        if slopes:
            e1, e2 = tangents(u[:, i])
        signal[:, 0] += w
        if slopes:
            jacobian[:, 0, [i]] = w[:, None]
            jacobian[:, 0, [k + i, 2 * k + 2 * i, 2 * k + 2 * i + 1]] = 0
        decay = np.exp(-0.5 * tau[:, None] * scheme.ls * (scheme.ls + 1))
        for rows, a in scheme.shells:
            g = scheme.g[rows]
            t = u[:, i] @ g.T
            p, d = legendre(t, scheme.ls)
            value = widen = turn = 0
            for j, l in enumerate(scheme.ls[:len(a)]):
                c = (w * a[j] * decay[:, j])[:, None]
                value = value + c * p[j]
                if slopes and l:
                    widen = widen - 0.5 * l * (l + 1) * c * p[j]
                    turn = turn + c * d[j]
            signal[:, rows] += value
            if slopes:
                jacobian[:, rows, i] = value
                jacobian[:, rows, k + i] = widen
                jacobian[:, rows, 2 * k + 2 * i] = turn * (e1 @ g.T)
                jacobian[:, rows, 2 * k + 2 * i + 1] = turn * (e2 @ g.T)
    return signal, jacobian


class Prior:
    def __init__(self):
        self.width, self.spread = list(START["width"]), START["spread"]
        self.iso, self.ln_d, self.ln_d_none = list(START["iso"]), list(START["ln_d"]), list(START["ln_d_none"])
        self.water = list(START["water"])
        self.share = START["share"].copy()
        self.near = np.ones((KMAX + 1, len(EDGES) - 1))   # how much more often than by chance, of 2 and 3 fibres

    def describe(self):
        return {"width": self.width, "iso": self.iso, "water": self.water, "spread": float(self.spread),
                "ln_d": self.ln_d, "ln_d_none": self.ln_d_none, "share": self.share.tolist(),
                "near": self.near[2:].tolist()}


def prior_terms(prior, theta, u):
    """-2 ln prior without constants, its gradient and its Gauss-Newton matrix in the parameters of `predict`."""
    voxels, k = u.shape[:2]
    size = 4 * k + FIXED
    gradient, matrix = np.zeros((voxels, size)), np.zeros((voxels, size, size))
    d_mean, d_sd = prior.ln_d if k else prior.ln_d_none
    x = (theta[:, -1] - d_mean) / d_sd
    cost = x * x
    gradient[:, -1] = x / d_sd
    matrix[:, -1, -1] = 1 / d_sd ** 2
    if k == 0:
        return cost, gradient, matrix
    for at, (mean, sd) in ((-3, prior.iso), (-2, prior.water)):
        x = (theta[:, at] - mean) / sd
        cost = cost + x * x
        gradient[:, at] = x / sd
        matrix[:, at, at] = 1 / sd ** 2
    for i in range(k):
        x = (theta[:, k + i] - prior.width[0]) / prior.width[1]
        cost = cost + x * x
        gradient[:, k + i] = x / prior.width[1]
        matrix[:, k + i, k + i] = 1 / prior.width[1] ** 2
    if k > 1:
        centred = theta[:, :k] - theta[:, :k].mean(1, keepdims=True)
        cost = cost + (centred ** 2).sum(1) / prior.spread ** 2
        gradient[:, :k] = centred / prior.spread ** 2
        matrix[:, :k, :k] = (np.eye(k) - 1 / k) / prior.spread ** 2
        e1, e2 = tangents(u)
        for i in range(k):
            for j in range(i):
                dot = (u[:, i] * u[:, j]).sum(-1)
                over = np.maximum(np.abs(dot) - WALL[0], 0) / WALL[1]
                cost = cost + over ** 2
                slope = np.zeros((voxels, size))
                for a, b in ((i, j), (j, i)):
                    slope[:, 2 * k + 2 * a] = np.sign(dot) * (e1[:, a] * u[:, b]).sum(-1) / WALL[1]
                    slope[:, 2 * k + 2 * a + 1] = np.sign(dot) * (e2[:, a] * u[:, b]).sum(-1) / WALL[1]
                slope *= (over > 0)[:, None]
                gradient += over[:, None] * slope
                matrix += slope[:, :, None] * slope[:, None, :]
    return cost, gradient, matrix


def misfit(scheme, y, sigma, theta, u, slopes=True):
    """Sum of squared weighted residuals, ln of their deviations, gradient and matrix (as of half the cost)."""
    signal, jacobian = predict(scheme, theta, u, slopes)
    weight = np.ones(scheme.count)
    weight[0] = scheme.b0_weight
    mean, sd, slope = rician(signal / sigma[:, None])
    if scheme.b0_weight > 1:  # the mean of several magnitudes has the mean of one
        pass
    residual = (y / sigma[:, None] - mean) * weight / sd
    chi = (residual ** 2).sum(1)
    log_sd = 2 * np.log(sd).sum(1)
    if not slopes:
        return chi, log_sd, None, None
    jacobian *= (slope * weight / sd / sigma[:, None])[:, :, None]
    gradient = -(jacobian * residual[:, :, None]).sum(1)
    return chi, log_sd, gradient, jacobian.transpose(0, 2, 1) @ jacobian


class Fit:
    """Fits of k fibres: theta, u, cost (chi + prior), chi, log_sd, matrix."""

    def __init__(self, theta, u):
        self.theta, self.u = theta, u
        self.cost = np.full(len(theta), np.inf)
        self.chi = self.log_sd = self.matrix = None

    def take(self, rows):
        part = Fit(self.theta[rows], self.u[rows])
        part.cost = self.cost[rows]
        return part


def clip(theta, k):
    theta[:, :k] = np.clip(theta[:, :k], np.log(0.01), np.log(2.0))
    theta[:, k:2 * k] = np.clip(theta[:, k:2 * k], -0.06, 0.4)
    theta[:, -3:-1] = np.clip(theta[:, -3:-1], -0.3, 1.5)
    theta[:, -1] = np.clip(theta[:, -1], np.log(0.1e-3), np.log(4e-3))


def optimise(scheme, y, sigma, prior, fit, iterations):
    """Levenberg and Marquardt's method in every voxel at once; a voxel whose step is refused damps more."""
    k = fit.u.shape[1]
    damping = np.full(len(y), 1e-2)
    theta, u = fit.theta.copy(), fit.u.copy()

    def full(theta, u, slopes):
        chi, log_sd, gradient, matrix = misfit(scheme, y, sigma, theta, u, slopes)
        cost, more, more_matrix = prior_terms(prior, theta, u)
        if slopes:
            gradient, matrix = gradient + more, matrix + more_matrix
        return chi + log_sd + cost, chi, log_sd, gradient, matrix

    cost, chi, log_sd, gradient, matrix = full(theta, u, True)
    for _ in range(iterations):
        diagonal = np.einsum("npp->np", matrix)
        damped = matrix + np.einsum("np,pq->npq", damping[:, None] * diagonal + 1e-9, np.eye(matrix.shape[1]))
        step = -np.linalg.solve(damped, gradient[..., None])[..., 0]
        limit = np.concatenate([np.full(k, 0.7), np.full(k, 0.04), np.full(2 * k, 0.3), [0.4, 0.4, 0.7]])
        step /= np.maximum(1, np.abs(step) / limit).max(1, keepdims=True)
        trial, turned = theta.copy(), u.copy()
        trial[:, :2 * k] += step[:, :2 * k]
        trial[:, -FIXED:] += step[:, -FIXED:]
        clip(trial, k)
        if k:
            e1, e2 = tangents(u)
            turned = u + step[:, 2 * k:4 * k:2, None] * e1 + step[:, 2 * k + 1:4 * k:2, None] * e2
            turned /= np.linalg.norm(turned, axis=-1, keepdims=True)
        result = full(trial, turned, True)
        better = result[0] < cost
        damping = np.where(better, damping * 0.2, np.minimum(damping * 6, 1e6))
        for old, new in zip((cost, chi, log_sd, gradient, matrix), result):
            old[better] = new[better]
        theta[better], u[better] = trial[better], turned[better]
    fit.theta, fit.u, fit.cost, fit.chi, fit.log_sd, fit.matrix = theta, u, cost, chi, log_sd, matrix
    return fit


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
        for bin_, pair in enumerate(pairs):   # the third of each pair, by what it explains beyond them
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
    return Fit(theta, u.copy())


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
    """How often the smallest separation of 2 and of 3 uniform directions lies in each of EDGES, within the prior."""
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
        total += k * ln(TWO_PI * prior.width[1] ** 2) + 2 * k * ln(TWO_PI)
        total += (k - 1) * ln(TWO_PI * prior.spread ** 2) + 2 * ln(SHARES[k]) + ln(k)
        total -= 2 * sum(ln(i) for i in range(1, k + 1))
    return total


def widened(fit):
    """The posterior's matrix; a direction has at most the whole half sphere, whose area 2 pi is that of a normal
    distribution of deviation 1: so each turn has 1 more, and the evidence of what the data do not tell is 1."""
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
    from math import lgamma
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


# ---- the whole: fits, noise, EM ---------------------------------------------------------------------------------------
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


class Model:
    def __init__(self, scheme, y, sigma, options):
        self.scheme, self.y, self.sigma = scheme, y, np.full(len(y), sigma)
        self.prior, self.options = Prior(), options
        self.fits = [None] * (KMAX + 1)
        self.noise = (sigma ** 2, np.inf)

    def log(self, *words):
        if self.options.get("verbose"):
            print(*words, file=sys.stderr, flush=True)

    def search(self):
        """All k from their starts: short fits of every start, the best of them to the end."""
        s, y, sigma, prior = self.scheme, self.y, self.sigma, self.prior
        one, two, three = Starts(s, prior.width[0]).find(y)
        self.fits[0] = optimise(s, y, sigma, prior, started(prior, np.zeros((len(y), 0, 3))), 12)
        self.fits[1] = optimise(s, y, sigma, prior, started(prior, one), 20)
        for k, starts in ((2, two), (3, three)):
            tries = [optimise(s, y, sigma, prior, started(prior, u), 8) for u in starts]
            which = np.argmin([t.cost for t in tries], 0)
            best = started(prior, starts[0])
            for number, t in enumerate(tries):
                mine = which == number
                best.theta[mine], best.u[mine] = t.theta[mine], t.u[mine]
            self.fits[k] = optimise(s, y, sigma, prior, best, 14)

    def refit(self, iterations=8):
        for k in range(KMAX + 1):
            self.fits[k] = optimise(self.scheme, self.y, self.sigma, self.prior, self.fits[k], iterations)

    def weigh(self, last=False):
        if last and self.options.get("samples", 0 if self.scheme.count > 40 else 200):
            self.cost = np.stack([importance(self.scheme, self.y, self.sigma, self.prior, k, self.fits[k],
                                             self.options.get("samples", 200))[0] for k in range(KMAX + 1)], 1)
        else:
            self.cost = np.stack([evidence(self.prior, k, self.fits[k]) for k in range(KMAX + 1)], 1)
        p = np.exp(-0.5 * (self.cost - self.cost.min(1, keepdims=True)))
        self.p = p / p.sum(1, keepdims=True)

    def update_noise(self):
        """From what the fits leave over, averaged over k."""
        freedom = np.maximum(self.scheme.count - FIXED - 4 * np.arange(KMAX + 1), self.scheme.count / 4)
        left = np.stack([f.chi for f in self.fits], 1)
        chi = (self.p * left).sum(1)
        free = self.p @ freedom
        variance = self.sigma ** 2 * chi / free
        common, own = noise_prior(variance, np.median(free))
        self.noise = (common, own)
        self.sigma = np.sqrt((own * common + free * variance) / (own + free))

    def update_prior(self):
        prior, p = self.prior, self.p
        prior.share = (p.sum(0) + PSEUDO * START["share"]) / (len(p) + PSEUDO)
        width, iso, water, ln_d, spread, spread_count = [], [], [], [], 0.0, 0.0
        for k in range(1, KMAX + 1):
            f = self.fits[k]
            covariance = np.linalg.inv(widened(f))
            variance = np.einsum("npp->np", covariance)
            for i in range(k):
                width.append((p[:, k], f.theta[:, k + i], variance[:, k + i]))
            iso.append((p[:, k], f.theta[:, -3], variance[:, -3]))
            water.append((p[:, k], f.theta[:, -2], variance[:, -2]))
            ln_d.append((p[:, k], f.theta[:, -1], variance[:, -1]))
            if k > 1:
                found = np.histogram(smallest(f.u), EDGES, weights=p[:, k])[0]
                prior.near[k] = (found + PSEUDO * CHANCE[k]) / (found.sum() + PSEUDO) / CHANCE[k]
                centred = f.theta[:, :k] - f.theta[:, :k].mean(1, keepdims=True)
                c = np.eye(k) - 1 / k
                own = np.einsum("ij,njk,ki->n", c, covariance[:, :k, :k], c)
                spread += (p[:, k] * ((centred ** 2).sum(1) + own)).sum()
                spread_count += p[:, k].sum() * (k - 1)

        def moments(parts, start, least):
            w, x, v = (np.concatenate([part[i] for part in parts]) for i in range(3))
            total = w.sum() + PSEUDO
            mean = ((w * x).sum() + PSEUDO * start[0]) / total
            square = (w * ((x - mean) ** 2 + v)).sum() + PSEUDO * (start[1] ** 2 + (start[0] - mean) ** 2)
            return [float(mean), float(max(np.sqrt(square / total), least))]

        prior.width = moments(width, START["width"], 0.005)
        prior.iso = moments(iso, START["iso"], 0.02)
        prior.water = moments(water, START["water"], 0.02)
        prior.ln_d = moments(ln_d, START["ln_d"], 0.1)
        f = self.fits[0]
        prior.ln_d_none = moments([(p[:, 0], f.theta[:, -1], 1 / np.maximum(f.matrix[:, -1, -1], 1e-9))],
                                  START["ln_d_none"], 0.1)
        prior.spread = np.sqrt((spread + PSEUDO * START["spread"] ** 2) / (spread_count + PSEUDO))

    def run(self):
        rounds = self.options.get("rounds", 5)
        self.search()
        self.weigh()
        for number in range(rounds):
            self.log("round %d: sigma %.4f (%.0f), %s" % (number, np.median(self.sigma), self.noise[1],
                                                         json.dumps(self.prior.describe())))
            self.update_noise()
            self.update_prior()
            if number == 1:
                self.search()   # with the priors that the data have by now
            else:
                self.refit()
            self.weigh(number == rounds - 1)
        self.log("end: sigma %.4f (%.0f), %s" % (np.median(self.sigma), self.noise[1],
                                                 json.dumps(self.prior.describe())))
        return self

    def peaks(self):
        """Directions times weight of the most probable k [voxel, 3, xyz], longest first."""
        k = self.p.argmax(1)
        out = np.zeros((len(k), KMAX, 3))
        for number in range(1, KMAX + 1):
            mine = k == number
            f = self.fits[number]
            v = f.u[mine] * np.exp(f.theta[mine, :number])[..., None]
            order = np.argsort(-np.exp(f.theta[mine, :number]), 1)
            out[mine, :number] = np.take_along_axis(v, order[..., None], 1)
        return k, out


# ---- files ------------------------------------------------------------------------------------------------------------
def load(path, mask_path=None):
    import nibabel
    image = nibabel.load(path)
    data = np.asanyarray(image.dataobj).astype(float)
    stem = path[:-7] if path.endswith(".nii.gz") else path[:-4]
    b, bvec = np.loadtxt(stem + ".bval"), np.loadtxt(stem + ".bvec")
    axes = image.affine[:3, :3] / np.linalg.norm(image.affine[:3, :3], axis=0)
    if np.linalg.det(axes) > 0:
        bvec = bvec * np.array([[-1], [1], [1]])
    mask = np.asanyarray(nibabel.load(mask_path).dataobj) > 0 if mask_path else np.ones(data.shape[:3], bool)
    return image, data, b, (axes @ bvec).T, mask & (data[..., b <= 50].mean(-1) > 0)


def normalised(scheme, data):
    zero = data[:, scheme.zero].mean(1, keepdims=True)
    return np.concatenate([np.ones((len(data), 1)), data[:, scheme.weighted] / zero], 1), zero[:, 0]


def first_sigma(scheme, data, zero):
    """Noise over S0: from the b=0 volumes; with fewer than three, from fits of harmonics to each shell."""
    if len(scheme.zero) > 2:
        return float(np.sqrt(np.median(data[:, scheme.zero].var(1, ddof=1) / zero ** 2)))
    left, free = 0, 0
    y = data[:, scheme.weighted] / zero[:, None]
    for rows, _ in scheme.shells:
        g = scheme.g[rows]
        x, yy, z = g.T
        design = np.stack([np.ones(len(g)), x * x, yy * yy, x * yy, x * z, yy * z] +
                          ([x ** 4, yy ** 4, x ** 3 * yy, x * yy ** 3, x ** 3 * z, yy ** 3 * z, x * x * yy * yy,
                            x * x * yy * z, x * yy * yy * z] if len(g) > 20 else []), 1)
        q = np.linalg.qr(design)[0]
        part = y[:, rows - 1]
        part = part - (part @ q) @ q.T
        left, free = left + (part ** 2).sum(1), free + max(len(g) - design.shape[1], 0)
    return float(np.sqrt(np.median(left) / max(free, 1)))


def fit_files(path, response_path, mask_path=None, **options):
    """Runs the model on a data set; returns the model, the image and the mask."""
    image, data, b, g, mask = load(path, mask_path)
    response, response_b, _ = read_response(response_path)
    scheme = Scheme(b, g, response, response_b)
    flat = data[mask]
    y, zero = normalised(scheme, flat)
    model = Model(scheme, np.maximum(y, 1e-3), first_sigma(scheme, flat, zero), options).run()
    return model, image, mask


def main():
    import nibabel
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-i", required=True)
    parser.add_argument("--response", required=True)
    parser.add_argument("--mask")
    parser.add_argument("-o", required=True)
    parser.add_argument("--probability")
    parser.add_argument("--report")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    model, image, mask = fit_files(options.i, options.response, options.mask, rounds=options.rounds, verbose=True)
    k, peaks = model.peaks()
    volume = np.zeros(mask.shape + (9,), "f4")
    volume[mask] = peaks.reshape(len(k), 9)
    nibabel.save(nibabel.Nifti1Image(volume, image.affine), options.o)
    if options.probability:
        volume = np.zeros(mask.shape + (4,), "f4")
        volume[mask] = model.p
        nibabel.save(nibabel.Nifti1Image(volume, image.affine), options.probability)
    if options.report:
        with open(options.report, "w") as file:
            json.dump({"prior": model.prior.describe(), "sigma": float(np.median(model.sigma)),
                       "noise_freedom": model.noise[1], "voxels": int(len(k)),
                       "counts": np.bincount(k, minlength=4).tolist()}, file, indent=1)


if __name__ == "__main__":
    main()
