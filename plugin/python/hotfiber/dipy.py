"""hotfiber as a model of DIPY: GradientTable and arrays in, the inputs of DIPY's trackers and viewers out.

    from hotfiber.dipy import HigherOrderTensorModel
    fit = HigherOrderTensorModel(gtab).fit(data, mask)
    peaks = fit.peaks()                     # PeaksAndMetrics, for LocalTracking
    fit.directions, fit.fractions           # exact directions, not those of a sphere's vertices

Directions are in the axes of the gradient table, which DIPY assumes to be those of the image; with affine= `fit.fibers`
is in scanner axes, for `hotfiber.plot` and `hotfiber.export`. Works with DIPY 1.6 and
later."""
# Tensors are None in Fibers from a file alone, not in those made here:
# mypy: disable-error-code="union-attr"
from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
from dipy.data import default_sphere
from dipy.direction.peaks import PeaksAndMetrics
from dipy.reconst.base import ReconstFit, ReconstModel
from dipy.reconst import shm
from numpy.typing import ArrayLike

from . import _declarations as c
from ._arrays import address
from ._fields import Fibers, Grid, image_array
from ._library import Context, lib
from ._pipeline import fibers
from ._tensors import values
from ._types import AnyResponse, Data


def _harmonics(order, directions):
    """Harmonics of even degree up to the order at unit vectors: (count, terms), MRtrix's."""
    directions = np.ascontiguousarray(directions, float)
    made = np.empty((len(directions), lib.hot_symtensor_count(order, 3)))
    with Context("cpu") as context:
        context.check(lib.hot_sh_values_f64(order, len(directions), address(directions), address(made)))
    return made


def _to_harmonics(order):
    """The matrix from packed tensors to their harmonics."""
    terms = lib.hot_symtensor_count(order, 3)
    made = np.empty((terms, terms))
    with Context("cpu") as context:
        context.check(lib.hot_symtensor_to_sh(context.handle, order, address(made)))
    return made


def _dipy_basis(sphere, order):
    """DIPY's harmonics at a sphere's vertices, descoteaux07_legacy."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the basis will not be the default for ever
        return shm.real_sh_descoteaux(order, sphere.theta, sphere.phi, legacy=True)[0]


_OPTIONS = inspect.signature(fibers).parameters.keys() - {"data", "gradients", "affine", "mask", "frame", "view"}
_MEANT = {"sh_order": "order", "sh_order_max": "order", "sphere": "", "reg_sphere": "", "relative_peak_threshold":
          "threshold", "min_separation_angle": "min_angle", "npeaks": "max_fibers", "num_processes": "threads"}


def _check_options(options):
    """Refuses what hotfiber.fibers does not take, with its own name of what DIPY calls otherwise."""
    for name, value in options.items():
        if name not in _OPTIONS:
            meant = _MEANT.get(name)
            raise TypeError(f"{name}: there is no such option" + (f"; {meant}={value!r} is meant" if meant else
                            f" of hotfiber.fibers; these are {', '.join(sorted(_OPTIONS))}"))


def _response(given):
    """DIPY's responses, (evals, S0) or evals, as the axial and radial diffusivity; others unchanged."""
    evals = given[0] if isinstance(given, tuple) and len(given) == 2 else given
    if not isinstance(evals, (tuple, list, np.ndarray)) or np.shape(evals) != (3,):
        return given
    if not all(np.isscalar(one) and not isinstance(one, str) for one in evals):
        return given
    axial, middle, radial = sorted(map(float, evals), reverse=True)
    if not 0 < radial <= axial < .1:
        raise ValueError(f"response: diffusivities in mm^2/s are needed, such as 1.7e-3, .3e-3, .3e-3, not {evals!r}")
    return axial, (middle + radial) / 2


class HigherOrderTensorModel(ReconstModel):
    """Fits higher-order tensors and finds fibre directions.

    gtab: DIPY's GradientTable, in the axes of the image.
    response: as in `hotfiber.fit`, or DIPY's: (evals, S0), the first that auto_response_ssst returns, or the three
        evals. None = estimated from the data.
    affine: (4, 4) voxel indices to scanner mm. With it `fit.fibers` is in scanner axes; all else of the fit stays in
        those of gtab, as DIPY's trackers need it.
    options: those of `hotfiber.fibers`: model ("fod", "odf", "adc"), method ("signal", "maxima", "lowrank", "sshopm"),
        order, max_fibers, sigma, device, threads, progress ...
    """

    def __init__(self, gtab: Any, response: AnyResponse = None, *, affine: ArrayLike | None = None,
                 **options: Any) -> None:
        if not (hasattr(gtab, "bvals") and hasattr(gtab, "bvecs")):
            raise TypeError(f"gtab: DIPY's GradientTable is needed, not a {type(gtab).__name__}; "
                            "dipy.core.gradients.gradient_table(bvals, bvecs=bvecs) makes one")
        _check_options(options)
        ReconstModel.__init__(self, gtab)
        self.affine = None if affine is None else np.asarray(affine, float)
        self.options = {"response": _response(response), **options}
        self._turn = np.eye(3)  # from the axes of the gradients to those of fit.fibers
        if self.affine is not None:
            axes = Grid((), self.affine).affine[:3, :3]
            left, _, right = np.linalg.svd(axes / np.linalg.norm(axes, axis=0))
            self._turn = left @ right

    def fit(self, data: Data, mask: ArrayLike | None = None, **kwargs: Any) -> HigherOrderTensorFit:
        """Fits all voxels at once.

        data: (..., volumes), an array or a nibabel image. mask: (...), or the path of an image; None = estimated from
        the b=0 images, for data of four axes; else all voxels.
        """
        data = np.asanyarray(image_array(data))
        if mask is None and data.ndim != 4:
            mask = np.ones(data.shape[:-1], bool)
        _check_options(kwargs)
        options = {**self.options, **kwargs}
        table = np.asarray(self.gtab.bvals, float), np.asarray(self.gtab.bvecs, float) @ self._turn.T
        found = fibers(data, table, self.affine, mask, frame="scanner", **options)
        return HigherOrderTensorFit(self, data, found)


class HigherOrderTensorFit(ReconstFit):
    """The result of HigherOrderTensorModel.fit.

    fibers: the `hotfiber.Fibers`, and tensors its: in scanner axes where the model has an affine, else in those of the
        gradient table. fractions (..., n) and nfibers (...) are its, too; directions (..., n, 3) are in the axes of
        the gradient table.
    S0: (...) the mean b=0 signal. sh_basis: the basis of shm_coeff, in DIPY's words."""

    sh_basis = "descoteaux07"
    legacy = True

    def __init__(self, model: HigherOrderTensorModel, data: np.ndarray, found: Fibers) -> None:
        ReconstFit.__init__(self, model, data)
        self.fibers, self.tensors = found, found.tensors
        self._turn = model._turn
        self.directions = found.directions if model.affine is None else \
            (found.directions @ self._turn).astype(np.float32)
        self.fractions, self.nfibers = found.fractions, found.nfibers
        b0 = data[..., model.gtab.b0s_mask]
        self.S0 = b0.mean(-1) if b0.shape[-1] else np.ones(data.shape[:-1])

    @property
    def sh_order(self) -> int:
        """The largest degree of shm_coeff."""
        return self.tensors.order

    @property
    def shm_coeff(self) -> np.ndarray:
        """(..., terms) harmonics of the fitted tensors, in the basis descoteaux07 with legacy=True, DIPY's default."""
        dipy = _dipy_basis(default_sphere, self.sh_order)
        change = np.linalg.pinv(dipy) @ _harmonics(self.sh_order, default_sphere.vertices @ self._turn.T) @ \
            _to_harmonics(self.sh_order)
        return self.tensors.values.astype(float) @ change.T

    def odf(self, sphere: Any) -> np.ndarray:
        """(..., vertices): the fitted tensors' form A x^m at a sphere's vertices."""
        return values(self.tensors.values, sphere.vertices @ self._turn.T)

    def predict(self, gtab: Any = None, S0: ArrayLike | None = None) -> np.ndarray:
        """The signals predicted by the fitted tensors: (..., volumes).

        gtab: for which gradients; None = those of the data. For the model fod its b-values are those of the response
        (to a tenth). S0: (...) or a number; None = the mean b=0 signal of the data. With the models fod and adc."""
        gtab = self.model.gtab if gtab is None else gtab
        b, order, weighted = np.asarray(gtab.bvals, float), self.tensors.order, ~gtab.b0s_mask
        bvecs = gtab.bvecs @ self._turn.T
        relative = np.ones(self.tensors.values.shape[:-1] + b.shape)
        if self.tensors.model == "adc":
            relative[..., weighted] = np.exp(-b[weighted] * values(self.tensors.values, bvecs[weighted]))
        elif self.tensors.model == "fod":
            relative[..., weighted] = self._convolve(b[weighted], bvecs[weighted], order)
        else:
            raise NotImplementedError(f"the model {self.tensors.model} says nothing about signals")
        relative[~self.tensors.confidence] = 0
        return relative * np.asarray(self.S0 if S0 is None else S0)[..., None]

    def _convolve(self, b, directions, order):
        """Signals relative to b=0: the harmonics of the response times those of the tensors, degree by degree. A fibre
        of weight 1 is the tensor v^m, whose harmonics are those of t^m times the fibre's."""
        response = self.fibers.response
        zero = response.b <= 50
        unit = response.coefficients[zero][0, 0] / np.sqrt(4 * np.pi) if zero.any() else 1.0
        legendre = np.polynomial.legendre.poly2leg([0.0] * order + [1.0])
        harmonics = self.tensors.values.astype(float) @ _to_harmonics(order).T
        degree = np.concatenate([np.full(2 * l + 1, l) for l in range(0, order + 1, 2)])
        signals = np.empty(harmonics.shape[:-1] + b.shape)
        for shell in np.unique(b):
            row = int(np.abs(response.b - shell).argmin())
            if not abs(response.b[row] - shell) <= max(100.0, .1 * shell):
                raise ValueError(f"gtab: the response has no shell for b={shell:g}")
            zonal = np.zeros(order // 2 + 1)
            given = response.coefficients[row][:order // 2 + 1]
            zonal[:len(given)] = given
            scale = zonal[degree // 2] * np.sqrt((2 * degree + 1) / (4 * np.pi)) / legendre[degree] / unit
            volumes = b == shell
            signals[..., volumes] = (harmonics * scale) @ _harmonics(order, directions[volumes]).T
        return signals

    def peaks(self, sphere: Any = None, *, with_odf: bool = False) -> PeaksAndMetrics:
        """DIPY's PeaksAndMetrics. peak_dirs are exact; peak_indices, by which EuDX tracks, are the nearest of the
        sphere's vertices (default_sphere where it is None). peak_values and qa are the fractions."""
        sphere = default_sphere if sphere is None else sphere
        made = PeaksAndMetrics()
        made.sphere = sphere
        made.peak_dirs = self.directions.astype(float)
        made.peak_values = self.fractions.astype(float)
        made.peak_indices = np.full(self.fractions.shape, -1, np.int32)
        present = self.fractions > 0
        vertices = np.asarray(sphere.vertices)
        chosen = made.peak_dirs[present]
        nearest = np.empty(len(chosen), np.int32)
        for first in range(0, len(chosen), 4096):  # so that the products stay small
            nearest[first:first + 4096] = np.abs(chosen[first:first + 4096] @ vertices.T).argmax(1)
        made.peak_indices[present] = nearest
        made.qa = made.peak_values.copy()
        made.shm_coeff = self.shm_coeff
        made.B = _dipy_basis(sphere, self.sh_order).T
        # The generalised fractional anisotropy of the fitted form (Tuch 2004), from its harmonics.
        power = (made.shm_coeff ** 2).sum(-1)
        flat = np.where(power > 0, made.shm_coeff[..., 0] ** 2 / np.where(power > 0, power, 1), 1)
        made.gfa = np.sqrt(np.clip(1 - flat, 0, 1))
        made.odf = self.odf(sphere) if with_odf else None
        made.total_weight, made.ang_thr = .5, 60
        made.affine = np.eye(4)
        return made
