"""Constants inside MRtrix's programs."""
import os
import shutil

import numpy as np


def constraint_directions(count=300):
    """The directions in which `dwi2fod msmt_csd` requires positivity, as azimuth and inclination. The program contains
    them as pairs of doubles: the most evenly spread run of 300 possible pairs. None without such a run. (-directions
    with these gives the same numbers as the default.)"""
    program = shutil.which("dwi2fod")
    if not program:
        return None
    with open(os.path.realpath(program), "rb") as file:
        raw = file.read()
    numbers = np.frombuffer(raw[:len(raw) // 8 * 8], "<f8")
    with np.errstate(invalid="ignore"):
        angle = (np.abs(numbers) <= 3.1416) & ((np.abs(numbers) > 1e-12) | (numbers == 0))
    best, evenest = None, 10
    for parity in (0, 1):
        azimuth, inclination = angle[parity::2], (angle & (numbers >= 0))[parity + 1::2]
        pairs = min(len(azimuth), len(inclination))
        so_far = np.concatenate([[0], np.cumsum(azimuth[:pairs] & inclination[:pairs])])
        for first in np.flatnonzero(so_far[count:] - so_far[:-count] == count):
            run = numbers[parity + 2 * first:][:2 * count].reshape(count, 2)
            a, i = run.T
            v = np.stack([np.cos(a) * np.sin(i), np.sin(a) * np.sin(i), np.cos(i)], 1)
            if np.abs(v[1:] @ v[0]).max() > np.cos(np.radians(6)):
                continue
            nearest = np.degrees(np.arccos(np.minimum((np.abs(v @ v.T) - 2 * np.eye(count)).max(1), 1)))
            if nearest.min() > 6 and nearest.max() < evenest:
                best, evenest = run, nearest.max()
    return best
