"""The model of hierarchical.py: signals and slopes, priors, and fits of k fibres in all voxels at once."""
import sys

import numpy as np

KMAX = 3
TWO_PI = 2 * np.pi
WATER = 3e-3           # diffusivity of free water at 37 degrees, mm^2/s
START = {"width": (0.0, 0.035), "iso": (0.15, 0.15), "water": (0.1, 0.12), "spread": 0.5, "ln_d": (np.log(0.9e-3), 0.3),
         "ln_d_none": (np.log(0.9e-3), 0.3), "share": np.array([0.2, 0.35, 0.3, 0.15])}
PSEUDO = 20.0          # pseudo-voxels of the start values
BELOW = 0.02           # --positive: how far the noise and the response's error let an isotropic part fall below 0
FIXED = 3              # parameters other than the fibres': w_0, water, ln D
EDGES = np.array([25, 35, 45, 55, 65, 75, 90.0])   # of the learnt distribution of the smallest separation
WALL = (np.cos(np.radians(30.0)), 0.03)


# ---- Rician mean and deviation, in units of sigma: tabulated once --------------------------------------------------
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


# ---- scheme, response, data ----------------------------------------------------------------------------------------
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


# ---- the model: parameters theta = ln w (k), t (k), w_0, water, ln D; and directions --------------------------------
def tangents(u):
    """Two unit vectors at right angles to each direction."""
    a = np.where(np.abs(u[..., :1]) < 0.7, [1.0, 0, 0], [0, 1.0, 0])
    e1 = np.cross(u, a)
    e1 /= np.linalg.norm(e1, axis=-1, keepdims=True)
    return e1, np.cross(u, e1)


def halves(u, fan):
    """The directions that represent a fibre, each with its derivatives with respect to rotation and fanning."""
    if fan is None:
        return [(u, 1.0, 0.0)]
    size = np.linalg.norm(fan, axis=1, keepdims=True)
    sinc = np.sinc(size / np.pi)
    return [(u * np.cos(size) + sign * fan * sinc, np.cos(size), sign * sinc) for sign in (1, -1)]


def parameters(k, fan):
    """How many there are: ln w, t, 2 turns and with fans 2 more per fibre, and the rest."""
    return (4 if fan is None else 6) * k + FIXED


def predict(scheme, theta, u, slopes=True, fan=None):
    """Signals [voxel, row] and their slopes [voxel, row, parameter]: ln w, t, 2 turns (2 fans) per fibre, w_0, water,
    ln D. fan: [voxel, fibre, xyz], at right angles to u, radians; None: fibres do not fan."""
    voxels, k = u.shape[:2]
    n = scheme.count
    w0, d0 = theta[:, -3], np.exp(theta[:, -1])
    iso, water = np.exp(-d0[:, None] * scheme.b), np.exp(-WATER * scheme.b)
    signal = w0[:, None] * iso + theta[:, -2:-1] * water
    jacobian = np.zeros((voxels, n, parameters(k, fan))) if slopes else None
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
        decay = np.exp(-0.5 * tau[:, None] * scheme.ls * (scheme.ls + 1))
        for rows, a in scheme.shells:
            g = scheme.g[rows]
            parts = halves(u[:, i], None if fan is None else fan[:, i])
            for v, turned, fanned in parts:
                p, d = legendre(v @ g.T, scheme.ls)
                value = widen = turn = 0
                for j, l in enumerate(scheme.ls[:len(a)]):
                    c = (w * a[j] * decay[:, j])[:, None] / len(parts)
                    value = value + c * p[j]
                    if slopes and l:
                        widen = widen - 0.5 * l * (l + 1) * c * p[j]
                        turn = turn + c * d[j]
                signal[:, rows] += value
                if slopes:
                    jacobian[:, rows, i] += value
                    jacobian[:, rows, k + i] += widen
                    for c, e in enumerate((e1, e2)):
                        slope = turn * (e @ g.T)
                        jacobian[:, rows, 2 * k + 2 * i + c] += slope * turned
                        if fan is not None:
                            jacobian[:, rows, 4 * k + 2 * i + c] += slope * fanned
    return signal, jacobian


class Prior:
    def __init__(self, fan=None, positive=False):
        self.width, self.spread = list(START["width"]), START["spread"]
        self.iso, self.ln_d, self.ln_d_none = list(START["iso"]), list(START["ln_d"]), list(START["ln_d_none"])
        self.water = list(START["water"])
        self.fan, self.positive = fan, positive   # radians; None: fibres do not fan
        self.share = START["share"].copy()
        self.near = np.ones((KMAX + 1, len(EDGES) - 1))   # how much more often than by chance, of 2 and 3 fibres

    def describe(self):
        return {"width": self.width, "iso": self.iso, "water": self.water, "spread": float(self.spread),
                "ln_d": self.ln_d, "ln_d_none": self.ln_d_none, "share": self.share.tolist(),
                "near": self.near[2:].tolist(), "fan": None if self.fan is None else float(self.fan)}


def prior_terms(prior, theta, u, fan=None):
    """-2 ln prior without constants, its gradient and its Gauss-Newton matrix in the parameters of `predict`."""
    voxels, k = u.shape[:2]
    size = parameters(k, fan)
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
        if prior.positive:
            below = np.minimum(theta[:, at], 0) / BELOW
            cost = cost + below ** 2
            gradient[:, at] += below / BELOW
            matrix[:, at, at] += (below < 0) / BELOW ** 2
    if fan is not None:
        for c, e in enumerate(tangents(u)):
            for i in range(k):
                x = (fan[:, i] * e[:, i]).sum(-1) / prior.fan
                at = 4 * k + 2 * i + c
                cost = cost + x * x
                gradient[:, at] = x / prior.fan
                matrix[:, at, at] = 1 / prior.fan ** 2
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


def misfit(scheme, y, sigma, theta, u, slopes=True, fan=None):
    """Sum of squared weighted residuals, ln of their deviations, gradient and matrix (as of half the cost)."""
    signal, jacobian = predict(scheme, theta, u, slopes, fan)
    weight = np.ones(scheme.count)
    weight[0] = scheme.b0_weight
    mean, sd, slope = rician(signal / sigma[:, None])
    residual = (y / sigma[:, None] - mean) * weight / sd
    chi = (residual ** 2).sum(1)
    log_sd = 2 * np.log(sd).sum(1)
    if not slopes:
        return chi, log_sd, None, None
    jacobian *= (slope * weight / sd / sigma[:, None])[:, :, None]
    gradient = -(jacobian * residual[:, :, None]).sum(1)
    return chi, log_sd, gradient, jacobian.transpose(0, 2, 1) @ jacobian


class Fit:
    """Fits of k fibres: theta, u, fan, cost (chi + prior), chi, log_sd, matrix."""

    def __init__(self, theta, u, fan=None):
        self.theta, self.u, self.fan = theta, u, fan
        self.cost = np.full(len(theta), np.inf)
        self.chi = self.log_sd = self.matrix = None


def clip(theta, k):
    theta[:, :k] = np.clip(theta[:, :k], np.log(0.01), np.log(2.0))
    theta[:, k:2 * k] = np.clip(theta[:, k:2 * k], -0.06, 0.4)
    theta[:, -3:-1] = np.clip(theta[:, -3:-1], -0.3, 1.5)
    theta[:, -1] = np.clip(theta[:, -1], np.log(0.1e-3), np.log(4e-3))


def optimise(scheme, y, sigma, prior, fit, iterations):
    """Levenberg and Marquardt's method in every voxel at once; a voxel whose step is refused damps more."""
    k = fit.u.shape[1]
    damping = np.full(len(y), 1e-2)
    theta, u, fan = fit.theta.copy(), fit.u.copy(), None if fit.fan is None else fit.fan.copy()
    limit = np.concatenate([np.full(k, 0.7), np.full(k, 0.04), np.full(2 * k, 0.3),
                            [] if fan is None else np.full(2 * k, 0.2), [0.4, 0.4, 0.7]])

    def full(theta, u, fan):
        chi, log_sd, gradient, matrix = misfit(scheme, y, sigma, theta, u, True, fan)
        cost, more, more_matrix = prior_terms(prior, theta, u, fan)
        return chi + log_sd + cost, chi, log_sd, gradient + more, matrix + more_matrix

    cost, chi, log_sd, gradient, matrix = full(theta, u, fan)
    for _ in range(iterations):
        diagonal = np.einsum("npp->np", matrix)
        damped = matrix + np.einsum("np,pq->npq", damping[:, None] * diagonal + 1e-9, np.eye(matrix.shape[1]))
        step = -np.linalg.solve(damped, gradient[..., None])[..., 0]
        step /= np.maximum(1, np.abs(step) / limit).max(1, keepdims=True)
        trial, turned, fanned = theta.copy(), u.copy(), fan
        trial[:, :2 * k] += step[:, :2 * k]
        trial[:, -FIXED:] += step[:, -FIXED:]
        clip(trial, k)
        if k:
            e1, e2 = tangents(u)
            turned = u + step[:, 2 * k:4 * k:2, None] * e1 + step[:, 2 * k + 1:4 * k:2, None] * e2
            turned /= np.linalg.norm(turned, axis=-1, keepdims=True)
        if k and fan is not None:
            fanned = fan + step[:, 4 * k:6 * k:2, None] * e1 + step[:, 4 * k + 1:6 * k:2, None] * e2
            fanned -= (fanned * turned).sum(-1, keepdims=True) * turned
            fanned *= np.minimum(1, 0.6 / np.maximum(np.linalg.norm(fanned, axis=-1, keepdims=True), 1e-9))
        result = full(trial, turned, fanned)
        better = result[0] < cost
        damping = np.where(better, damping * 0.2, np.minimum(damping * 6, 1e6))
        for old, new in zip((cost, chi, log_sd, gradient, matrix), result):
            old[better] = new[better]
        theta[better], u[better] = trial[better], turned[better]
        if fan is not None:
            fan[better] = fanned[better]
    fit.fan = fan
    fit.theta, fit.u, fit.cost, fit.chi, fit.log_sd, fit.matrix = theta, u, cost, chi, log_sd, matrix
    return fit
