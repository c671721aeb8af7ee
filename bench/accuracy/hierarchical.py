#!/usr/bin/python3
"""A slow, plain reference of one model for all data: 0 to 3 fibres, each with its own dispersion, and always an
isotropic compartment. The priors (dispersion, isotropic fraction, inequality, shares of 0 to 3 fibres) are estimated
from the data.

    bench/accuracy/hierarchical.py -i dwi.nii.gz --response r.txt -o peaks.nii.gz --probability p.nii.gz
                                   [--mask mask.nii.gz] [--rounds N] [--fan DEGREES] [--positive]
                                   [--report FILE.json]

The signal of volume v, over the mean of the b=0 volumes: sum_i w_i R_s(u_i . g_v, t_i) + w_0 exp(-b_v D). R_s is the
response of shell s (zonal harmonics a_l) with a_l exp(-l (l + 1) t / 2): a fibre spread by diffusion on the sphere for
the time t, which may be negative (narrower than the response). The mean of the b=0 volumes is a datum like the others,
so that sum w_i + w_0 = 1 but for the noise. Rician noise: mean and standard deviation of the magnitude.

Priors: directions uniform, none two nearer than about 25 degrees; t normal; the logarithms of the weights about their
mean normal; w_0 normal where there are fibres; ln D normal, other for 0 fibres; shares of k. Their means and deviations
are estimated by EM: the E step fits all k in every voxel and takes Laplace's approximation of each evidence and of the
posterior; the M step averages moments over voxels and k, with a few tens of pseudo-voxels for the start values. Noise:
every voxel's own variance, shrunk to the common one by as much as the variances of all say (Smyth 2004).

--fan: a fibre may also fan out in a plane, as two halves that part by an angle on either side of its direction (normal,
of this deviation at first, estimated like the widths). --positive: an isotropic part below 0 costs (it is a normal
prior's tail otherwise). Neither is on by default: docs/decisions/001-signal-one-model.md and
004-signal-fans.md.

Needs numpy and nibabel. Directions are written as MRtrix peaks (scanner RAS)."""
import argparse
import json
import sys

import numpy as np

from hierarchical_evidence import CHANCE, Starts, evidence, importance, noise_prior, smallest, started, widened
from hierarchical_model import EDGES, KMAX, PSEUDO, START, Prior, Scheme, optimise, parameters, read_response


class Model:
    def __init__(self, scheme, y, sigma, options):
        self.scheme, self.y, self.sigma = scheme, y, np.full(len(y), sigma)
        fan = np.radians(options["fan"]) if options.get("fan") else None
        self.start_fan = fan
        self.prior, self.options = Prior(fan, bool(options.get("positive"))), options
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
                if best.fan is not None:
                    best.fan[mine] = t.fan[mine]
            self.fits[k] = optimise(s, y, sigma, prior, best, 14)

    def refit(self, iterations=8):
        for k in range(KMAX + 1):
            self.fits[k] = optimise(self.scheme, self.y, self.sigma, self.prior, self.fits[k], iterations)

    def weigh(self, last=False):
        if last and self.prior.fan is None and self.options.get("samples", 0 if self.scheme.count > 40 else 200):
            self.cost = np.stack([importance(self.scheme, self.y, self.sigma, self.prior, k, self.fits[k],
                                             self.options.get("samples", 200))[0] for k in range(KMAX + 1)], 1)
        else:
            self.cost = np.stack([evidence(self.prior, k, self.fits[k]) for k in range(KMAX + 1)], 1)
        p = np.exp(-0.5 * (self.cost - self.cost.min(1, keepdims=True)))
        self.p = p / p.sum(1, keepdims=True)

    def update_noise(self):
        """From what the fits leave over, averaged over k."""
        sizes = np.array([parameters(k, self.prior.fan) for k in range(KMAX + 1)])
        freedom = np.maximum(self.scheme.count - sizes, self.scheme.count / 4)
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
        width, iso, water, ln_d, spread, spread_count, fan = [], [], [], [], 0.0, 0.0, np.zeros(2)
        for k in range(1, KMAX + 1):
            f = self.fits[k]
            covariance = np.linalg.inv(widened(f))
            variance = np.einsum("npp->np", covariance)
            for i in range(k):
                width.append((p[:, k], f.theta[:, k + i], variance[:, k + i]))
                if f.fan is not None:
                    own = variance[:, 4 * k + 2 * i:4 * k + 2 * i + 2].sum(1)
                    fan += np.array([(p[:, k] * ((f.fan[:, i] ** 2).sum(1) + own)).sum(), 2 * p[:, k].sum()])
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
        if prior.fan is not None:
            fan += 2 * PSEUDO * np.array([self.start_fan ** 2, 1])
            prior.fan = max(np.sqrt(fan[0] / fan[1]), 0.02)
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


# ---- files ---------------------------------------------------------------------------------------------------------
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
    parser.add_argument("--fan", type=float, help="degrees")
    parser.add_argument("--positive", action="store_true")
    options = parser.parse_args()
    model, image, mask = fit_files(options.i, options.response, options.mask, rounds=options.rounds,
                                   fan=options.fan, positive=options.positive, verbose=True)
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
