#!/usr/bin/python3
"""Does denoising before the fits cost accuracy? The share of voxels solved with `run` and with `run --denoise`, on the
same phantoms.

    bench/accuracy/denoise_first.py [--hotfiber FILE] [--seed N] [--only TEXT] [--size X,Y,Z]

Phantoms of bundles, where neighbours are alike as in tissue, and mixtures as in tissue.py, where voxels are drawn
independently: the hardest case for denoising, which needs similar neighbours. Standard error of a difference: about
.005 with 2,000 voxels. Needs python3-nibabel, python3-numpy."""
import os
import tempfile

import numpy as np

import tissue

LAYOUTS = (("bundles", "--layout bundles"), ("mixture, stick-zeppelin", tissue.MIX + " --tissue stick-zeppelin"),
           ("mixture, noddi", tissue.MIX + " --tissue noddi"))
SCHEMES = (("b=1000, 32 directions, SNR 20", "-b 1000 --directions 32 --b0 4 --snr 20"),
           ("b=1000, 64 directions, SNR 10", "-b 1000 --directions 64 --snr 10"),
           ("b=2000, 64 directions, SNR 25", "-b 2000 --directions 64 --snr 25"),
           ("b=3000, 64 directions, SNR 20", "-b 3000 --directions 64 --snr 20"),
           ("b=1000 and 3000, 45 directions each, SNR 25", "-b 1000,3000 --directions 45 --snr 25"),
           ("b=1000, 2000 and 3000, 60 each, SNR 15", "-b 1000,2000,3000 --directions 60 --b0 12 --snr 15"))


def main():
    parser = tissue.command_line(__doc__)
    parser.add_argument("--seed", type=int, default=95001)
    parser.add_argument("--only", default="")
    parser.add_argument("--size", default="20,10,10")
    options = parser.parse_args()
    hot = options.hotfiber
    print("| phantom | acquisition | original | denoised | difference | its standard error |\n|" + " --- |" * 6)
    seed = options.seed
    for layout, tissue_words in LAYOUTS:
        for scheme, words in SCHEMES:
            seed += 1
            if options.only not in layout + scheme:
                continue
            with tempfile.TemporaryDirectory() as folder:
                tissue.call(hot, "phantom", "-o", "d.nii.gz", "--truth", "t.nii.gz", *tissue_words.split(),
                            *words.split(), "--size", options.size, "--seed", seed, "--quiet", folder=folder)
                good = []
                for name, more in (("plain", ()), ("denoised", ("--denoise",))):
                    tissue.call(hot, "run", "-i", "d.nii.gz", "-o", name, "--outputs", "peaks,mask", *more, "--quiet",
                                folder=folder)
                    truth = tissue.in_order(tissue.vectors(os.path.join(folder, "t.nii.gz")))
                    found = tissue.in_order(tissue.vectors(os.path.join(folder, name, "peaks.nii.gz")))
                    good.append(tissue.solved(truth, found))
                change = good[1].astype(float) - good[0]
                print("| %s | %s | %.3f | %.3f | %+.3f | %.3f |" % (
                    layout, scheme, good[0].mean(), good[1].mean(), change.mean(),
                    change.std() / np.sqrt(change.size)), flush=True)


if __name__ == "__main__":
    main()
