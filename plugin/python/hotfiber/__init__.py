"""Fibre directions from diffusion MRI by higher-order tensors: NumPy arrays in, NumPy arrays out.

    dwi = hotfiber.load("dwi.nhdr")
    result = hotfiber.fibers(dwi)
    result.directions, result.fractions, result.nfibers

Every function releases the interpreter's lock while it computes, and Ctrl-C ends it within 200 ms. Directions and
tensors are in scanner axes (RAS), angles in degrees, lengths in mm, b-values in s/mm^2."""
from typing import TYPE_CHECKING

from . import _interpreter  # before NumPy
from ._contract import contract, einsum
from ._deconvolution import Deconvolution, deconvolve
from ._fields import Dwi, Fibers, Response, TensorField
from ._library import (ArgumentError, DataError, DeviceError, Error, FileError, FormatError, HotfiberWarning,
                       OutOfMemory, command, version)
from ._live import LiveView
from ._matrices import Cpd, CpdFactors, CpdFactors4, Heev, HeevValues, MttkrpTensor, cpd, heev, mttkrp, tridiag
from ._pipeline import Denoised, Image, denoise, export, fibers, fit, load, peaks
from ._show import plot, view
from ._tensors import Directions, Eigenpairs, Lowrank, Sshopm, directions, eigenpairs, forms, lowrank, sshopm, values

__version__ = version()
__all__ = ["ArgumentError", "Cpd", "CpdFactors", "CpdFactors4", "DataError", "Deconvolution", "Denoised",
           "DeviceError", "Directions", "Dwi", "Eigenpairs", "Error", "Fibers", "FileError", "FormatError", "Heev",
           "HeevValues", "HotfiberWarning", "Image", "LiveView", "Lowrank", "MttkrpTensor", "OutOfMemory", "Response",
           "Sshopm", "TensorField", "command", "contract", "cpd", "deconvolve", "denoise", "directions", "eigenpairs",
           "einsum", "export", "fibers", "fit", "forms", "heev", "load", "lowrank", "mttkrp", "peaks", "plot",
           "sshopm", "tridiag", "values", "version", "view"]

if TYPE_CHECKING:
    from . import dipy as dipy, fem as fem, linalg as linalg
else:
    def __getattr__(name):
        """Modules of the package on first use (PEP 562): `import hotfiber` alone imports neither DIPY nor PyTorch."""
        from importlib import import_module

        if name in ("dipy", "fem", "linalg"):
            return import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__():
        from importlib.util import find_spec

        return sorted({*globals(), "fem", "linalg", *(["dipy"] if find_spec("dipy") else [])})
