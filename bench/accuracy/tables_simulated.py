"""Simulated data for tables.py: fibres of many layouts, schemes of many kinds, without noise or with very little.

Without noise volumes differ by their directions alone, often by few patterns: all fibres parallel, two populations, a
plane. What is judged by comparison with noise fails there first."""
import numpy as np

LAYOUTS = ("random", "parallel", "two", "three axes", "few", "plane", "arc", "crossing", "crossing 90", "isotropic",
           "mixture", "halves")
SIZES = ((8, 8, 4), (7, 6, 5), (10, 10, 6), (16, 12, 10), (20, 20, 5), (40, 40, 1))


def unit(of):
    return of / np.linalg.norm(of, axis=-1, keepdims=True)


def spread(count, draw):
    """Nearly even directions on a half sphere (Fibonacci), turned at random."""
    k = np.arange(count) + .5
    z, angle = 1 - k / count, np.pi * (1 + 5 ** .5) * k
    rho = np.sqrt(1 - z * z)
    return np.c_[rho * np.cos(angle), rho * np.sin(angle), z] @ np.linalg.qr(draw.standard_normal((3, 3)))[0]


def scheme(draw):
    """b-values, unit vectors (n x 3), what it is."""
    kind = str(draw.choice(("shell", "shell", "shells", "shells", "grid", "random", "repeated")))
    none = int(draw.choice((1, 1, 2, 4, 8)))
    if kind == "grid":
        radius = int(draw.choice((3, 4)))
        axis = np.arange(-radius, radius + 1)
        q = np.stack(np.meshgrid(axis, axis, axis), -1).reshape(-1, 3)
        square = (q * q).sum(1)
        half = (square > 0) & (square <= radius * radius) & ((q @ [1, 1e-3, 1e-6]) > 0)
        q, square = q[half], square[half]
        b, g = float(draw.choice((3000, 6000))) * square / radius ** 2, unit(q.astype(float))
    else:
        count = int(draw.choice((6, 12, 15, 20, 30, 32, 45, 64, 100)))
        values = np.sort(draw.choice((700, 1000, 1500, 2000, 2500, 3000), int(draw.integers(2, 4)), replace=False))
        values = values if kind == "shells" else [float(draw.choice((700, 1000, 1500, 2000, 3000)))]
        count = min(count, 64) if kind == "shells" else count
        if kind == "random":
            g = unit(draw.standard_normal((count, 3)))
        else:
            g = np.concatenate([spread(count, draw) for _ in values])
        b = np.repeat(values, count).astype(float)
        if kind == "repeated":
            b, g = np.tile(b, 2), np.tile(g, (2, 1))
    b, g = np.r_[np.zeros(none), b], np.r_[np.zeros((none, 3)), g]
    if draw.random() < .6:
        order = np.r_[0, 1 + draw.permutation(len(b) - 1)]
        b, g = b[order], g[order]
    return b, g, "%s of %d" % (kind, len(b))


def directions(layout, size, draw):
    """Of two fibres per voxel, and the first one's share."""
    shape = (*size, 3)
    first, second, share = unit(draw.standard_normal(shape)), unit(draw.standard_normal(shape)), np.ones(size)
    at = np.indices(size)
    if layout == "parallel":
        first = np.broadcast_to(unit(draw.standard_normal(3)), shape)
    elif layout in ("two", "three axes", "few"):
        count = {"two": 2, "three axes": 3, "few": int(draw.integers(3, 9))}[layout]
        some = np.eye(3)[:count] if layout != "few" else unit(draw.standard_normal((count, 3)))
        first = some[draw.integers(0, count, size) if draw.random() < .5 else at.sum(0) % count]
    elif layout in ("plane", "arc"):
        angle = draw.uniform(0, np.pi, size) if layout == "plane" else np.arctan2(at[1] + 2., at[0] + 1.)
        first = np.stack([-np.sin(angle), np.cos(angle), 0 * angle], -1)
    elif layout in ("crossing", "crossing 90", "mixture"):
        share = draw.uniform(.4, .6, size) if layout != "mixture" else draw.uniform(0, 1, size)
        if layout == "crossing 90":
            second = unit(np.cross(first, second))
    elif layout == "halves":
        one, other = np.linalg.qr(draw.standard_normal((3, 3)))[0][:2]
        first, second = np.broadcast_to(one, shape), np.broadcast_to(other, shape)
        share = np.where(at[0] < size[0] // 2, 1, .5 if draw.random() < .5 else 0)
    return first, second, share


def simulate(draw):
    """Signals, b-values, unit vectors, affine, what they are."""
    layout, size = str(draw.choice(LAYOUTS)), SIZES[int(draw.integers(len(SIZES)))]
    b, g, name = scheme(draw)
    first, second, share = directions(layout, size, draw)
    along, across = draw.choice((1.2e-3, 1.7e-3, 2e-3)), draw.choice((0, .2e-3, .3e-3, .5e-3))
    iso = draw.uniform(0, .5, size) if draw.random() < .4 else np.zeros(size)
    d = draw.choice((.8e-3, 3e-3), size) if draw.random() < .5 else np.full(size, .8e-3)
    if layout == "isotropic":
        iso, d = np.ones(size), draw.uniform(.5e-3, 3e-3, size) if draw.random() < .5 else np.full(size, .8e-3)

    def fibre(v):
        return np.exp(-b * (across + (along - across) * (v @ g.T) ** 2))

    signals = (1 - iso)[..., None] * (share[..., None] * fibre(first) + (1 - share)[..., None] * fibre(second))
    signals += iso[..., None] * np.exp(-b * d[..., None])
    s0 = draw.uniform(.5, 1.5, size) if draw.random() < .5 else np.ones(size)
    if draw.random() < .3:
        s0[0] = 0  # air
    snr = float(draw.choice((0, 0, 0, 0, 1000, 200, 66)))
    signals *= 1000 * s0[..., None]
    if snr:
        signals = np.hypot(signals + 1000 / snr * draw.standard_normal(signals.shape),
                           1000 / snr * draw.standard_normal(signals.shape))
    if draw.random() < .3:
        signals = np.round(signals)
    about = "%s, %s, %s, %s SNR %g%s%s" % (
        layout, "x".join(map(str, size)), name, "sticks" if across == 0 else "tensors", snr,
        ", S0 varies" if np.ptp(s0) else "", ", water" if iso.any() else "")
    return signals, b, g, np.diag((2., 2., 2., 1.)), about
