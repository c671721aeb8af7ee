"""Makes the constants behind the choice of k, by multinomial logistic regression on simulated voxels.

    mkdir /tmp/features
    bench_kernel_accuracy --seed 101 --voxels 400 --features /tmp/features
    /usr/bin/python3 signal_rule.py /tmp/features > kernels/signal/signal_rule_constants.h

Another folder, of another seed, as last argument: how well the rule does there, to stderr.
Only voxels whose best fit of the true k is right are learned from: a wrong fit is no gain whatever is chosen.
"""
import glob
import itertools
import os
import sys

import numpy as np

GROUP_WEIGHT = {"alike": {0: 10.0, 1: 1.0, 2: 1.0, 3: 1.0, 4: 1.0, 5: 0.5, 6: 0.5, 8: 0.8, 9: 0.8, 10: 0.8},
                "dispersed": {0: 4.0, 1: 1.0, 2: 1.0, 3: 1.0, 4: 1.0, 5: 0.5, 6: 0.5, 8: 0.8, 9: 0.8, 10: 0.8},
                "varied": {0: 3.0, 1: 1.0, 2: 1.0, 3: 1.0, 4: 1.0, 5: 1.0, 6: 0.5, 8: 0.4, 9: 0.4, 10: 0.4}}
FIBERS = (1, 1, 2, 3)  # of the fits iso, one, two, three
RIDGE = 1e-5
STEEPEST = 20


def read(path):
    rows = np.fromfile(path, np.float32).reshape(-1, 65).astype(float)
    voxels = {"group": rows[:, 0].astype(int), "k": rows[:, 1].astype(int), "truth": rows[:, 2:11].reshape(-1, 3, 3)}
    at, fits = 11, []
    for k in FIBERS:
        q, logdet, tau, more, chi, water = rows[:, at:at + 6].T
        fiber = rows[:, at + 6:at + 6 + 4 * k].reshape(-1, k, 4)
        fits.append({"q": q, "logdet": logdet, "tau": tau, "more": more, "chi": chi, "water": water,
                     "w": fiber[:, :, 0], "v": fiber[:, :, 1:]})
        at += 6 + 4 * k
    voxels["limit"], voxels["volumes"] = rows[:, at], rows[:, at + 1]
    return voxels, fits


def nearest(fit):
    """Largest |cosine| between two fibres."""
    k = fit["w"].shape[1]
    return np.max([np.abs((fit["v"][:, i] * fit["v"][:, j]).sum(1)) for i in range(k) for j in range(i)], axis=0)


def right(voxels, fits):
    """right[:, k]: the true number is k and the best fit of k is within 15 degrees everywhere."""
    answer = np.zeros((len(voxels["k"]), 4), bool)
    answer[:, 0] = voxels["k"] == 0
    for k in (1, 2, 3):
        near = np.abs(np.einsum("nic,njc->nij", voxels["truth"][:, :k], fits[k]["v"])) >= np.cos(np.radians(15))
        for order in itertools.permutations(range(k)):
            answer[:, k] |= np.all([near[:, i, order[i]] for i in range(k)], axis=0)
        answer[:, k] &= voxels["k"] == k
    return answer


def quantities(voxels, fits):
    """Per k the columns that the rule weighs; column 1 is q and has the same factor for every k."""
    one = np.ones(len(voxels["k"]))
    iso = fits[0]
    w = np.minimum(iso["w"][:, 0], 1)
    over = np.maximum(0, iso["water"] - voxels["limit"]) / (0.03 * voxels["limit"])
    columns = [np.stack([one, iso["q"], iso["logdet"], w, w * w, np.minimum(over * over, 50)], 1)]
    for k in (1, 2, 3):
        fit = fits[k]
        missing = np.maximum(0, 0.75 - fit["w"].sum(1)) / 0.1
        fat, thin = np.clip(fit["tau"] / 0.015, 0, 6), np.minimum(0, fit["tau"]) / 0.015
        part = [one, fit["q"], fit["logdet"], missing ** 2, fat ** 2, fat, thin ** 2]
        columns.append(np.stack(part + (many(fit) if k > 1 else []), 1))
    return columns


def many(fit):
    near = nearest(fit)
    sine = np.sqrt(np.maximum(1 - near ** 2, 1e-4))
    ratio = np.maximum(np.log(fit["w"].min(1) / fit["w"].max(1)), -4)
    return [np.log(sine), ratio, np.maximum(0, 35 - np.degrees(np.arcsin(np.minimum(sine, 1)))) / 5]


def tempered(voxels, fits):
    """Of iso, two, three: lr_tempered of q."""
    n = voxels["volumes"]
    left = np.min([fits[i]["chi"] / np.maximum(n - p, n / 4) for i, p in ((0, 6), (2, 8), (3, 11))], axis=0)
    base = np.min([fits[i]["q"] for i in (0, 2, 3)], axis=0)
    return {i: 1.25 * n * np.log(1 + (fits[i]["q"] - base) / (n / 4 + n * left)) for i in (0, 2, 3)}


def quantities_varied(voxels, fits):
    """The same for lr_costs_mixed, where one fibre is the fit iso and no fibre is that fit too."""
    one, iso, q = np.ones(len(voxels["k"])), fits[0], tempered(voxels, fits)
    lw = np.clip(np.log(iso["w"][:, 0]), -3, 0)
    over = np.maximum(0, iso["water"] - voxels["limit"]) / (0.03 * voxels["limit"])
    columns = [np.stack([one, q[0], iso["logdet"], lw, lw * lw, np.minimum(over * over, 50)], 1)]
    for k, i in ((1, 0), (2, 2), (3, 3)):
        fit = fits[i]
        columns.append(np.stack([one, q[i], fit["logdet"]] + (many(fit) if k > 1 else []), 1))
    return columns


def impossible(fits):
    out = np.zeros((len(fits[0]["q"]), 4), bool)
    for k in (2, 3):
        out[:, k] = (nearest(fits[k]) > 0.9272) | (fits[k]["w"].min(1) / fits[k]["w"].max(1) < 0.12)
    return out


def regress(columns, k, weight):
    """Damped Newton on the weighted multinomial log-likelihood. Returns the vector of factors of each k."""
    base = columns[1][:, 1].copy()
    for c in columns:
        c[:, 1] -= base
    sizes = [c.shape[1] for c in columns]
    total = 1 + sum(s - 1 for s in sizes)
    design = np.zeros((len(k), 4, total))
    design[:, :, 0] = np.stack([c[:, 1] for c in columns], 1)
    places, at = [], 1
    for i, c in enumerate(columns):
        own = [j for j in range(sizes[i]) if j != 1]
        design[:, i, at:at + len(own)] = c[:, own]
        places.append((at, own))
        at += len(own)
    scale = np.abs(design).mean((0, 1)) + 1e-9
    design /= scale
    start = np.zeros(total)
    start[0] = 0.5 * scale[0]
    truth = np.eye(4)[k]

    def loss(theta):
        minus = -(design @ theta)
        minus -= minus.max(1, keepdims=True)
        p = np.exp(minus)
        p /= p.sum(1, keepdims=True)
        return -(weight * np.log((p * truth).sum(1) + 1e-30)).sum() + RIDGE / 2 * ((theta - start) ** 2).sum(), p

    theta, damping = start.copy(), 1e-3
    value, p = loss(theta)
    for _ in range(200):
        gradient = -np.einsum("nk,nkp->p", (p - truth) * weight[:, None], design) + RIDGE * (theta - start)
        centred = design - np.einsum("nk,nkp->np", p, design)[:, None, :]
        square = (centred * np.sqrt(p * weight[:, None])[:, :, None]).reshape(-1, total)
        hessian = square.T @ square + RIDGE * np.eye(total)
        while damping < 1e8:
            trial = theta - np.linalg.solve(hessian + damping * np.diag(np.diag(hessian)), gradient)
            trial_value, trial_p = loss(trial)
            if trial_value < value:
                break
            damping *= 10
        if damping >= 1e8:
            break
        fall, theta, value, p = value - trial_value, trial, trial_value, trial_p
        damping = max(damping * 0.2, 1e-9)
        if fall < 1e-9:
            break
    theta = theta / scale
    answer = []
    for i, (at, own) in enumerate(places):
        vector = np.zeros(sizes[i])
        vector[1] = theta[0]
        vector[own] = theta[at:at + len(own)]
        answer.append(vector)
    return answer, value


def load(folder, kind):
    sets = []
    for path in sorted(glob.glob(folder + "/*.bin")):
        if not os.path.basename(path).startswith(kind):
            continue
        voxels, fits = read(path)
        if kind == "varied":  # one fibre is that fit
            columns, fits = quantities_varied(voxels, fits), [fits[0], fits[0], fits[2], fits[3]]
        else:
            columns = quantities(voxels, fits)
        sets.append((path, voxels, fits, columns, right(voxels, fits)))
    return sets


def learn(sets, kind):
    columns, ks, weights = [[], [], [], []], [], []
    for _, voxels, _, own, good in sets:
        w = np.array([GROUP_WEIGHT[kind].get(g, 0.0) for g in voxels["group"]])
        use = (w > 0) & good[np.arange(len(w)), voxels["k"]]
        for i in range(4):
            columns[i].append(own[i][use])
        ks.append(voxels["k"][use])
        weights.append(w[use])
    weight = np.concatenate(weights)
    return regress([np.concatenate(c) for c in columns], np.concatenate(ks), weight / weight.sum())


def judge(sets, factors, averaged=False):
    """Mean rightly solved over the first five groups, per set."""
    for path, voxels, fits, own, good in sets:
        cost = np.stack([c @ f for c, f in zip(own, factors)], 1)
        if averaged:
            cost += np.stack([f["more"] for f in fits], 1) * factors[0][1]
        cost[impossible(fits)] = 1e30
        chosen = cost.argmin(1)
        hit = good[np.arange(len(chosen)), chosen]
        best = good[np.arange(len(chosen)), voxels["k"]]
        rate = [hit[voxels["group"] == g].mean() for g in range(11)]
        print("%s %.4f (k known %.4f) |" % (path[-8:-4], np.mean(rate[:5]),
                                            np.mean([best[voxels["group"] == g].mean() for g in range(5)])),
              " ".join("%.3f" % r for r in rate), file=sys.stderr)


def main():
    print("/* Made by bench/accuracy/signal_rule.py: scale, then for 0, 1, 2, 3 fibres the factors of the "
          "quantities. */")
    for kind in GROUP_WEIGHT:
        factors, value = learn(load(sys.argv[1], kind), kind)
        # hardly a voxel without fibres has an isotropic part above the limit: how steep that is nothing says
        factors[0][5] = min(factors[0][5], STEEPEST * factors[0][1])
        if len(sys.argv) > 2:
            print("%s: loss %.5f" % (kind, value), file=sys.stderr)
            judge(load(sys.argv[2], kind), factors)
        print("static const lr_rule rule_%s = {\n    %.5ff," % (kind, 2 * factors[0][1]))
        for vector in factors:
            numbers = ["%.5gf" % x if "." in "%.5g" % x else "%.5g.0f" % x for x in np.delete(vector, 1) / vector[1]]
            print("    {%s}," % ", ".join(numbers))
        print("};")


if __name__ == "__main__":
    main()
