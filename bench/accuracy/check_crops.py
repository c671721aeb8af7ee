"""hotfiber check on crops of real data: of the 23 wrong gradient tables, how many are found; is the right one faulted?

    python3 bench/accuracy/check_crops.py ../shared/data [--most 12] [--set pnl] [--all] [--single] [--seed N]
                                          [--every N]

Crops of about 2,000 voxels of which two thirds or more are tissue (of FiberCup .3), thick and thin, at places drawn
by the seed. A flip across the plane of a crop of one slice (or of slices far apart, or of fibres in a plane) is not
counted: nothing tells it. Of each wrong table the verdict is right ("wrong", and the right table is the one it names or
among those it calls a tie), a tie ("cannot tell", or the right table is among those that it cannot tell from the one
given), or wrong."""
import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile

import nibabel
import numpy as np

HOTFIBER = os.environ.get("HOTFIBER", "build/bin/hotfiber")
SETS = {"pnl": "pnl_wip_dti/orig/WIP_dti_ax_601", "human": "human_2shell/dwi", "roi": "mrtrix_msmt_roi/mrtrix_msmt_roi",
        "fibercup": "fibercup/fibercup_b1500", "dipy": "dipy_small_64D/orig/small_64D"}
SIZES = {"pnl": [(13, 13, 12), (20, 20, 5), (26, 26, 3), (32, 32, 2), (45, 45, 1), (50, 1, 40), (1, 50, 40)],
         "human": [(104, 104, 2), (32, 32, 2), (45, 45, 1)], "roi": [(15, 15, 11), (15, 15, 9), (15, 12, 11)],
         "fibercup": [(64, 64, 3), (36, 36, 3)], "dipy": [(10, 10, 10)]}
SMALL = {"pnl": [(8, 8, 8), (16, 16, 2), (22, 22, 1)], "human": [(22, 22, 1)], "roi": [(8, 8, 8), (15, 15, 1)],
         "dipy": [(7, 7, 7)]}


def tables():
    for places in itertools.permutations(range(3)):
        for flip in (None, 0, 1, 2):
            matrix = np.eye(3, dtype=int)[list(places)]
            if flip is not None:
                matrix[flip] *= -1
            yield matrix


def verdict(image, bval, vectors, truth):
    """wrong: the given table is faulted; and whether the answer is right, a tie or wrong. truth: makes the right table
    of the one given."""
    np.savetxt("t.bvec", vectors)
    done = subprocess.run([HOTFIBER, "check", "-i", image, "--bval", bval, "--bvec", "t.bvec", "--json", "--quiet"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode not in (0, 1) or not done.stdout:
        sys.exit(done.stderr.decode())
    check = json.loads(done.stdout)["gradients"]
    if check["verdict"] not in ("right", "possible", "wrong"):
        return False, "tie"
    of_truth = [t for t in check["tables"] if any((np.array(t["matrix"]) == s * truth).all() for s in (1, -1))][0]
    if check["verdict"] == "wrong":
        return True, "right" if of_truth["tied"] else "wrong"
    return False, "right" if of_truth["given"] else "wrong" if of_truth["told"] else "tie"


def places(inside, size, most, draw, share):
    """Corners of crops of which a share is tissue; all of the image is one crop."""
    if tuple(size) == inside.shape:
        return [(0, 0, 0)]
    found = []
    for _ in range(3000):
        at = tuple(draw.integers(0, n - s + 1) for n, s in zip(inside.shape, size))
        if inside[tuple(slice(a, a + s) for a, s in zip(at, size))].mean() > share and at not in found:
            found.append(at)
            if len(found) == most:
                break
    return found


def try_set(name, folder, sizes, most, seed, every):
    stem = os.path.join(folder, SETS[name])
    image = nibabel.load(next(stem + end for end in (".nii.gz", ".nii") if os.path.exists(stem + end)))
    right, bval, data = np.nan_to_num(np.loadtxt(stem + ".bvec")), stem + ".bval", np.asarray(image.dataobj)
    right = right if len(right) == 3 else right.T
    np.savetxt("all.bvec", right)
    subprocess.run([HOTFIBER, "run", "-i", image.get_filename(), "--bval", bval, "--bvec", "all.bvec", "-o", name,
                    "--outputs", "mask", "--method", "maxima", "--model", "adc", "--order", "2", "--quiet"], check=True)
    inside = np.asarray(nibabel.load(name + "/mask.nii.gz").dataobj) > 0
    draw = np.random.default_rng(seed)
    for size in sizes:
        found, faulted, alike = [], 0, {"human": [[1, 1, -1]], "fibercup": [[1, 1, -1]]}.get(name, [])
        alike = alike + [1 - 2 * np.eye(3, dtype=int)[d] for d in range(3) if size[d] == 1]
        answers = {"right": 0, "tie": 0, "wrong": 0}
        for at in places(inside, size, most, draw, 0.3 if name == "fibercup" else 0.65):
            part = tuple(slice(a, a + s) for a, s in zip(at, size))
            nibabel.save(nibabel.Nifti1Image(data[part], image.affine), "crop.nii")
            faulted += verdict("crop.nii", bval, right, np.eye(3, dtype=int))[0]
            wrong = [m for m in list(tables())[1:] if not any((m == np.diag(a)).all() for a in alike)]
            told = [verdict("crop.nii", bval, m @ right, m.T) for m in wrong[len(found) % every::every]]
            found.append(np.mean([is_found for is_found, _ in told]))
            for _, answer in told:
                answers[answer] += 1
        if found:
            total = sum(answers.values())
            share = {answer: count / total for answer, count in answers.items()}
            print("%-9s %-13s %3d crops: %.3f of the wrong tables found (least %.2f): right %.3f, tie %.3f, wrong "
                  "%.3f; right ones faulted: %d" % (
                      name, " x ".join(map(str, size)), len(found), np.mean(found), min(found), share["right"],
                      share["tie"], share["wrong"], faulted), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data")
    parser.add_argument("--most", type=int, default=12, help="crops of each size")
    parser.add_argument("--set", choices=SETS, action="append")
    parser.add_argument("--all", action="store_true", help="smaller crops, too")
    parser.add_argument("--single", action="store_true", help="single slices alone")
    parser.add_argument("--seed", type=int, default=11, help="of the places of crops")
    parser.add_argument("--every", type=int, default=1, help="only every so many of the wrong tables, turn about")
    given = parser.parse_args()
    folder = os.path.abspath(given.data)
    global HOTFIBER
    HOTFIBER = os.path.abspath(HOTFIBER)
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        for name in given.set or SETS:
            sizes = [size for size in SIZES[name] + (SMALL.get(name, []) if given.all else [])
                     if 1 in size or not given.single]
            try_set(name, folder, sizes, given.most, given.seed, given.every)
        os.chdir("/")


if __name__ == "__main__":
    main()
