"""Directions from signals in Python: hotfiber's methods compared with DIPY's CSD with peaks_from_model, one thread
each, in turns in one process.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONPATH=build/python python3 bench/accuracy/dipy_speed.py
        [--copies 4] [--share 12] [--rounds 3]

Prints voxels per second of CPU time of each call, and the ratio to DIPY's in every round. Data: the sample phantom's
voxels inside the mask, in several copies with independent noise (so that learning, whose time does not depend on the
number of voxels, counts as it would in a small brain). DIPY has every `share`-th of these voxels. All are given mask
and response; all fits are of lmax 8."""
import argparse
import os
import sys
import time
import warnings

import dipy
import hotfiber
import numpy as np
from dipy.core.gradients import gradient_table
from dipy.data import default_sphere
from dipy.direction import peaks_from_model
from dipy.reconst.csdeconv import ConstrainedSphericalDeconvModel
from hotfiber.dipy import HigherOrderTensorModel

SAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "sample_data", "phantom.nhdr")
METHODS = {"signal": {}, "lowrank": {"method": "lowrank", "order": 8}, "maxima": {"method": "maxima", "order": 8}}


def make_data(copies):
    """Voxels, their gradients, response and noise."""
    dwi = hotfiber.load(SAMPLE)
    whole = hotfiber.fibers(dwi)
    inside = dwi.data[whole.mask]
    random = np.random.default_rng(1)
    parts = [inside] + [np.abs(inside + random.normal(scale=whole.sigma, size=inside.shape)) for _ in range(copies - 1)]
    return np.concatenate(parts).astype(np.float32), dwi, whole


def csd(gtab, s0):
    """As in DIPY's tutorial, with the phantom's response."""
    model = ConstrainedSphericalDeconvModel(gtab, (np.array([1.7e-3, .3e-3, .3e-3]), s0), sh_order_max=8)
    return lambda data: peaks_from_model(model, data, default_sphere, relative_peak_threshold=.5,
                                         min_separation_angle=25)


def seconds(call):
    begin = time.process_time()
    call()
    return time.process_time() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--copies", type=int, default=4)
    parser.add_argument("--share", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    if os.environ.get("OMP_NUM_THREADS") != "1" or os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        sys.exit("dipy_speed.py: set OMP_NUM_THREADS=1 and OPENBLAS_NUM_THREADS=1")
    warnings.simplefilter("ignore")
    data, dwi, whole = make_data(given.copies)
    gtab = gradient_table(dwi.bvals, bvecs=dwi.gradients)
    few, run_dipy = data[::given.share], csd(gtab, float(data[:, gtab.b0s_mask].mean()))
    print(f"{len(data)} voxels of {data.shape[1]} volumes, {len(few)} of them for DIPY {dipy.__version__}, NumPy "
          f"{np.__version__}", flush=True)
    ours = {name: HigherOrderTensorModel(gtab, response=whole.response, threads=1, device="cpu", **options)
            for name, options in METHODS.items()}
    mask = np.ones(len(data), bool)
    for n in range(given.rounds):
        theirs = len(few) / seconds(lambda: run_dipy(few))
        rates = {name: len(data) / seconds(lambda: model.fit(data, mask)) for name, model in ours.items()}
        rates["maxima with peaks()"] = len(data) / seconds(lambda: ours["maxima"].fit(data, mask).peaks())
        print(f"round {n + 1}: DIPY {theirs:.4g} voxels/s" + "".join(
            f", {name} {rate:.4g} ({rate / theirs:.1f} x)" for name, rate in rates.items()), flush=True)


if __name__ == "__main__":
    main()
