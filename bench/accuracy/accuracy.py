#!/usr/bin/python3
"""How right are the directions? Makes phantoms, runs hotfiber, MRtrix and DIPY on the same files, scores all with
`hotfiber score`, and prints one table in Markdown that includes the goals.

    bench/accuracy/accuracy.py [--hotfiber FILE] [--seed N] [--voxels N] [--only TEXT] [--no-peers]
                                     [--phantom OPTIONS] [-o FILE.md]

A benchmark, not a test: takes minutes. Needs Debian's mrtrix3, python3-dipy, python3-nibabel and python3-numpy. Every
condition has --voxels voxels (200). Every tool estimates its response from a separate phantom of single fibres with the
same b-values and noise (without CSF and dispersion). hotfiber runs with its defaults; of the peers the table has the
best of all settings tried (harmonic order, model, relative threshold), chosen by the score itself, which favours
them."""
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile

import nibabel
import numpy as np

import tissue

FIVE = ("single", "30-40", "45-55", "60-90", "three")
THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5)

# name, options of the data (pairs), goal for the mean of the five groups
CASES = [
    ("b=3000, no noise", "--b 3000 --snr 0", None),
    ("b=3000, SNR 30", "--b 3000 --snr 30", 0.995),
    ("b=3000, SNR 20", "--b 3000 --snr 20", 0.965),
    ("b=1000, no noise", "--b 1000 --snr 0", None),
    ("b=1000, SNR 30", "--b 1000 --snr 30", 0.98),
    ("b=1000, SNR 20", "--b 1000 --snr 20", 0.90),
    ("CSF 0-30 %, b=3000, SNR 30", "--b 3000 --snr 30 --csf 0-.3", 0.98),
    ("CSF 0-30 %, b=3000, SNR 20", "--b 3000 --snr 20 --csf 0-.3", 0.875),
    ("dispersion 0-15, b=3000, SNR 30", "--b 3000 --snr 30 --dispersion 0-15", 0.96),
    ("dispersion 0-15, b=3000, SNR 20", "--b 3000 --snr 20 --dispersion 0-15", 0.87),
    ("two shells 1000+3000, SNR 30", "--b 1000,3000 --directions 32 --snr 30", 0.985),
    ("two shells 1000+3000, SNR 20", "--b 1000,3000 --directions 32 --snr 20", 0.94),
    ("fractions .8/.2, b=3000, SNR 30", "--b 3000 --snr 30 --angles 30-40,45-55,60-90 --fractions .8", None),
    ("40 degrees, b=3000, SNR 20", "--b 3000 --snr 20 --angles 40", None),
]

# (case, table, group, figure, goal): what must not be bought at the expense of something else
SINGLE_GOALS = [
    ("b=3000, SNR 30", "single", "right_count", 0.995), ("b=3000, SNR 20", "single", "right_count", 0.985),
    ("b=3000, SNR 30", "isotropic", "right_count", 0.99), ("b=3000, SNR 20", "isotropic", "right_count", 0.99),
    ("b=1000, SNR 30", "isotropic", "right_count", 0.99), ("b=1000, SNR 20", "isotropic", "right_count", 0.99),
    ("dispersion 0-15, b=3000, SNR 30", "single", "right_count", 0.95),
    ("fractions .8/.2, b=3000, SNR 30", "30-40", "solved", 0.72),
    ("fractions .8/.2, b=3000, SNR 30", "45-55", "solved", 0.88),
    ("fractions .8/.2, b=3000, SNR 30", "60-90", "solved", 0.95),
    ("40 degrees, b=3000, SNR 20", "30-40", "right_count", 0.96),
]


def call(*command, quiet=False):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode and not quiet:
        sys.exit("%s failed:\n%s" % (" ".join(map(str, command)), done.stderr))
    return done


class Bench:
    def __init__(self, options):
        self.hot, self.options = options.hotfiber, options

    def score(self, peaks, truth, *more):
        result = json.loads(call(self.hot, "score", "-i", peaks, "--truth", truth, "--json", *more).stdout)
        groups = {g["name"]: g for g in result["groups"] if g["table"] == "condition"}
        return {"mean": result["mean_solved"], "groups": groups}

    def best(self, results):
        return max(results, key=lambda r: r["mean"])

    # ---- the three tools: a dict of name -> score each ------------------------------------------------------
    def hotfiber(self, data):
        results = {}
        call(self.hot, "response", "-i", "r.nii.gz", "--mask", "r_mask.nii.gz", "-o", "r_hot.txt", "--quiet")
        fits = [("ADC, maxima", "adc", o) for o in (4, 6)] + [("fod, maxima", "fod", o) for o in (4, 6, 8)]
        for name, model, order in fits:
            response = ["--response", "r_hot.txt"] if model == "fod" else []
            fit = (self.hot, "fit", "-i", "d.nii.gz", "--mask", "d_mask.nii.gz", "--model", model, "--order", order,
                   "-o", "tensors.nrrd", "--quiet", *response)
            done = call(*fit, quiet=True)
            if done.returncode:
                if "too little contrast" not in done.stderr:
                    sys.exit("%s failed:\n%s" % (" ".join(map(str, fit)), done.stderr))
                # the noise hides this order of the response: no figure
                print("%s, order %d: %s" % (name, order, done.stderr.strip()), file=sys.stderr)
                continue
            call(self.hot, "peaks", "-i", "tensors.nrrd", "-o", "peaks.nrrd", "--quiet")
            results["%s, order %d" % (name, order)] = self.score("peaks.nrrd", "t.nrrd")
            if model == "fod" and order < 8:
                if call(self.hot, "peaks", "--method", "lowrank", "-i", "tensors.nrrd", "-o", "peaks.nrrd", "--quiet",
                        quiet=True).returncode == 0:
                    results["fod, lowrank, order %d" % order] = self.score("peaks.nrrd", "t.nrrd")
        signal = (self.hot, "peaks", "--method", "signal", "--dwi", "d.nii.gz", "--mask", "d_mask.nii.gz", "-o",
                  "peaks.nrrd", "--quiet")
        for order in (4, 6, 8):
            call(*signal, "--response", "r_hot.txt", "--order", order)
            results["signal, order %d" % order] = self.score("peaks.nrrd", "t.nrrd")
        if "--angles" not in data:  # there is no response to be had from crossings alone
            call(*signal)
            results["signal, response from the data"] = self.score("peaks.nrrd", "t.nrrd")
        return results

    def mrtrix(self, shells):
        tried = []
        grad = lambda stem: ("-fslgrad", stem + ".bvec", stem + ".bval")  # noqa: E731
        for lmax in (8, 10, 12):
            common = ("-quiet", "-force", "-mask", "d_mask.nii.gz")
            if len(shells) == 1:
                call("dwi2response", "tournier", "r.nii.gz", "r_mrtrix.txt", *grad("r"), "-mask", "r_mask.nii.gz",
                     "-lmax", lmax, "-quiet", "-force")
                call("dwi2fod", "csd", "d.nii.gz", "r_mrtrix.txt", "fod.mif", *grad("d"), "-lmax", lmax, *common)
            else:  # the true directions of the response's phantom: better than any estimate
                call("mrconvert", "rt.nii.gz", "-coord", "3", "0:2", "r_dirs.mif", "-quiet", "-force")
                call("mrconvert", "r.nii.gz", "r.mif", *grad("r"), "-quiet", "-force")
                call("amp2response", "r.mif", "r_mask.nii.gz", "r_dirs.mif", "r_mrtrix.txt", "-shells",
                     ",".join(["0"] + shells), "-lmax", ",".join(["0"] + [str(lmax)] * len(shells)), "-quiet", "-force")
                call("dwi2fod", "msmt_csd", "d.nii.gz", "r_mrtrix.txt", "fod.mif", *grad("d"), "-lmax", lmax, *common)
            call("sh2peaks", "fod.mif", "peaks.nii.gz", "-num", 5, *common)
            tried += [self.score("peaks.nii.gz", "t.nrrd", "--threshold", t) for t in THRESHOLDS]
        return {"MRtrix, best": self.best(tried)}

    def dipy(self, shells):
        from dipy.core.gradients import gradient_table
        from dipy.data import get_sphere
        from dipy.direction import peak_directions
        from dipy.reconst.csdeconv import ConstrainedSphericalDeconvModel, response_from_mask_ssst
        from dipy.reconst.shm import CsaOdfModel

        def load(stem):
            image = nibabel.load(stem + ".nii.gz")
            b, bvec = np.loadtxt(stem + ".bval"), np.loadtxt(stem + ".bvec")
            axes = image.affine[:3, :3] / np.linalg.norm(image.affine[:3, :3], axis=0)
            if np.linalg.det(axes) > 0:
                bvec = bvec * np.array([[-1], [1], [1]])
            keep = (b < 50) | (np.abs(b - float(shells[-1])) < 50)  # its CSD and CSA take one shell
            table = gradient_table(b[keep], (axes @ bvec).T[keep], b0_threshold=50)
            return image, np.asanyarray(image.dataobj)[..., keep], table

        image, data, table = load("d")
        _, single, _ = load("r")
        sphere = get_sphere("repulsion724")
        tried = []
        response, _ = response_from_mask_ssst(table, single, np.ones(single.shape[:3], int))
        models = [ConstrainedSphericalDeconvModel(table, response, sh_order=o) for o in (6, 8)]
        models += [CsaOdfModel(table, sh_order=o) for o in (4, 6, 8)]
        for model in models:
            with contextlib.redirect_stderr(io.StringIO()):  # its progress bar
                odf = model.fit(data).odf(sphere)
            odf = odf - np.maximum(odf.min(-1, keepdims=True), 0)  # what its relative threshold refers to
            peaks = np.zeros(data.shape[:3] + (5, 3), "f4")
            for index in np.ndindex(data.shape[:3]):
                directions, values, _ = peak_directions(odf[index], sphere, THRESHOLDS[0], 25)
                n = min(5, len(values))
                peaks[index][:n] = directions[:n] * np.maximum(values[:n, None], 1e-6)
            nibabel.save(nibabel.Nifti1Image(peaks.reshape(data.shape[:3] + (15,)), image.affine), "peaks.nii.gz")
            tried += [self.score("peaks.nii.gz", "t.nrrd", "--threshold", t) for t in THRESHOLDS]
        return {"DIPY, best": self.best(tried)}

    # ---- one case -------------------------------------------------------------------------------------------
    def case(self, name, data, number):
        seed, voxels = self.options.seed, self.options.voxels
        words = data.split()
        base = dict(zip(*[iter(self.options.phantom.split())] * 2))
        words += [w for pair in base.items() if pair[0] not in words for w in pair]
        call(self.hot, "phantom", "-o", "d.nii.gz", "--truth", "t.nrrd", *words, "--voxels", voxels, "--seed",
             seed + number)
        pairs = zip(words[::2], words[1::2])
        of_response = ("--b", "--snr", "--directions", "--along", "--across", "--vary", "--s0")
        kept = [w for pair in pairs if pair[0] in of_response for w in pair]
        call(self.hot, "phantom", "-o", "r.nii.gz", "--truth", "rt.nii.gz", *kept, "--single", "--voxels", 2 * voxels,
             "--seed", seed + 500 + number)
        for stem in "dr":
            image = nibabel.load(stem + ".nii.gz")
            nibabel.save(nibabel.Nifti1Image(np.ones(image.shape[:3], "u1"), image.affine), stem + "_mask.nii.gz")
        shells = words[words.index("--b") + 1].split(",")
        results = self.hotfiber(data)
        if not self.options.no_peers:
            results.update(self.mrtrix(shells))
            results.update(self.dipy(shells))
        for tool, r in results.items():
            groups = " ".join("%s %.3f" % (g, r["groups"][g]["solved"]) for g in FIVE + ("isotropic",)
                              if g in r["groups"])
            print("%-34s %-24s %.4f  %s" % (name, tool, r["mean"], groups), file=sys.stderr, flush=True)
        return results


def table(results):
    """Markdown: a row per tool, a column per case."""
    lines = []
    cases = [c for c in CASES if c[0] in results and c[0].split(",")[0] not in ("fractions .8/.2", "40 degrees")]
    tools = list(dict.fromkeys(t for r in results.values() for t in r))
    lines += ["| rightly solved, mean of the five groups | " + " | ".join(c[0] for c in cases) + " |",
              "| --- |" + " --- |" * len(cases)]
    for tool in tools:
        row = ["%.3f" % results[c[0]][tool]["mean"] if tool in results[c[0]] else "-" for c in cases]
        lines.append("| %s | %s |" % (tool, " | ".join(row)))
    lines.append("| **goal** | " + " | ".join("-" if c[2] is None else "**%g**" % c[2] for c in cases) + " |")
    rows = [g for g in SINGLE_GOALS if g[0] in results]
    if rows:
        chosen = [t for t in tools if t.startswith(("signal", "fod, lowrank", "MRtrix", "DIPY"))] or tools
        lines += ["", "| what | " + " | ".join(chosen) + " | goal |", "| --- |" + " --- |" * (len(chosen) + 1)]
        for case, group, figure, goal in rows:
            row = ["%.3f" % results[case][t]["groups"][group][figure] if t in results[case] else "-" for t in chosen]
            lines.append("| %s: %s, %s | %s | >= %g |" % (case, group, figure.replace("_", " "), " | ".join(row), goal))
    return "\n".join(lines)


def main():
    parser = tissue.command_line(__doc__)
    parser.add_argument("--seed", type=int, default=20000)
    parser.add_argument("--voxels", type=int, default=200)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--phantom", default="--along 1.7e-3 --across .3e-3 --fractions .5-.6",
                        help="options (pairs) of every phantom; the default makes the peers score as others have "
                             "measured them")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("-o", help="write the table here too")
    options = parser.parse_args()
    bench, results, back = Bench(options), {}, os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for number, (name, data, _) in enumerate(CASES):
            if options.only in name:
                results[name] = bench.case(name, data, number)
        os.chdir(back)
    tissue.write_page(options.o, table(results))


if __name__ == "__main__":
    main()
