"""Data that hardly tell one fibre from two are a warning in Python, by every method: arrays do not show it, and notes
go unseen."""
import warnings

from cli import *
import hotfiber  # after cli, whose function of this name runs the command


def told(data, **options):
    """Warnings about the number of fibres."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        hotfiber.fibers(data, **options)
    found = [w for w in caught if "hardly" in str(w.message)]
    check(all(w.category is hotfiber.HotfiberWarning for w in found), f"{options}: {found}")
    return [str(w.message) for w in found]


for name, directions, b in (("few", 15, 700), ("plenty", 64, 2000)):
    works("phantom", "--voxels", 120, "--snr", 12 if name == "few" else 25, "-b", b, "--directions", directions,
          "--b0", 2, "--seed", 3, "-o", f"{name}.nii.gz", "--truth", "truth.nrrd", "--quiet")
    for options in ({}, {"method": "maxima"}, {"model": "odf"}, {"model": "adc", "method": "sshopm"}):
        lines = told(f"{name}.nii.gz", **options)
        print(f"{name} {options}: {lines}")
        if options.get("model") is None or name == "few":  # odf and adc of order 6 may be doubtful with 64, too
            check(bool(lines) == (name == "few"), f"{name} {options}: {lines}")
        if name == "few" and not options:
            check(any("number of fibres" in line for line in lines), f"{name}: of the method signal itself: {lines}")
end()
