"""Types of arguments, for annotations."""
from __future__ import annotations

from typing import Any, Callable, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike

Progress = Optional[Callable[[str, float], object]]
Out = Union[np.ndarray, Sequence[Optional[np.ndarray]], None]
Data = Any  # an array, nibabel's image, a Dwi
Gradients = Union[Tuple[ArrayLike, ArrayLike], ArrayLike, Any]  # DIPY's GradientTable
AnyResponse = Any  # a Response, a path, (axial, radial), a list of the first two
