"""Types of arguments, for annotations. The words are those that the functions accept: tests/python/test_typing.py
compares them."""
from __future__ import annotations

from typing import Any, Callable, List, Literal, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike

Progress = Optional[Callable[[str, float], object]]
Out = Union[np.ndarray, Sequence[Optional[np.ndarray]], None]
Data = Any  # an array, nibabel's image, a Dwi
Gradients = Union[Tuple[ArrayLike, ArrayLike], ArrayLike, Any]  # DIPY's GradientTable
AnyResponse = Any  # a Response, a path, (axial, radial), a list of the first two

Uplo = Literal["L", "U", "l", "u"]  # the triangle of a matrix that is read, as NumPy names it
Model = Literal["fod", "msmt", "odf", "adc"]
FieldModel = Literal["fod", "msmt", "odf", "adc", "sh"]
Method = Literal["signal", "maxima", "lowrank", "sshopm"]
PeaksMethod = Literal["maxima", "lowrank", "sshopm"]  # those that need no signals
Constraint = Literal["nonnegative", "hpsd", "none"]
Kernel = Literal["rank1", "delta"]
NoiseModel = Literal["auto", "rician", "gaussian"]
Estimator = Literal["exp2", "exp1"]
Shift = Union[Literal["adaptive", "none"], float]
Seek = Literal["max", "min"]
PairKind = Literal["max", "min", "all"]
Arithmetic = Literal["full", "tf32", "split"]
Start = Union[Literal["random", "hosvd"], Tuple[ArrayLike, ArrayLike, ArrayLike], List[Any], np.ndarray]
Kind = Literal["dwi", "tensors", "directions", "image", "response", "sh", "dyads", "tensor_fsl", "tensor_mrtrix",
               "tensor_dipy", "tensor_itk"]
Basis = Literal["tournier07", "descoteaux07", "descoteaux07_legacy"]
Frame = Literal["bvec", "scanner"]  # of gradients
HarmonicsFrame = Literal["scanner", "bvec", "image"]
Axis = Literal["i", "j", "k", 0, 1, 2]
