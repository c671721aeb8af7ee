"""Data sets, tensor fields and fibre directions on a grid of voxels, and how they go to the C library and back.

All that users see is in scanner axes (RAS, mm, as nibabel's affines). Inside, a data set from a file keeps the axes of
that file's space, so that results are the command's bit by bit."""
# Arguments become arrays under the same name, but mypy uses their declared types:
# mypy: disable-error-code="union-attr"
from __future__ import annotations

import ctypes
import functools
import math
import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _declarations as c
from ._arrays import address, mask_bytes, real, unmasked
from ._gradients import numbers, tables, tell_lengths
from ._library import Context, lib
from ._show import image_tag, picture, table
from ._types import Data, FieldModel, Frame, Gradients

_SAMPLES = {np.dtype(name): number for number, name in enumerate((
    "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"))}
_IDENTITY = np.eye(4)[:3]
_SIGNS = {c.HOT_SPACE_LAS: np.array([-1., 1, 1]), c.HOT_SPACE_LPS: np.array([-1., -1, 1])}
_SAME = np.ones(3)
_SPACES = {c.HOT_SPACE_UNKNOWN: "", c.HOT_SPACE_RAS: "RAS", c.HOT_SPACE_LAS: "LAS", c.HOT_SPACE_LPS: "LPS"}


class Grid:
    """The shape of the voxels, their place in the world, and the axes of that world."""

    def __init__(self, shape, affine=None, space=None, to_world=None):
        self.shape = tuple(map(int, shape))  # as the user has it: any number of axes
        if len(self.shape) <= 3:
            self.size = self.shape + (1,) * (3 - len(self.shape))
        else:
            self.size = (int(np.prod(self.shape)), 1, 1)
        self.space = (c.HOT_SPACE_UNKNOWN if affine is None else c.HOT_SPACE_RAS) if space is None else space
        if to_world is None:
            to_world = _IDENTITY if affine is None else self._checked(affine) * self.sign[:, None]
        self.to_world = np.array(to_world, float)

    @staticmethod
    def _checked(affine):
        affine = numbers("affine", affine)
        if affine.shape not in ((4, 4), (3, 4)) or not np.isfinite(affine).all():
            raise ValueError("affine: a matrix of 4 x 4 finite numbers is needed, voxel indices to mm")
        if abs(np.linalg.det(affine[:3, :3])) == 0:
            raise ValueError("affine: it is singular")
        return affine[:3]

    @property
    def sign(self):
        """+1 or -1 for each world axis: what a world vector is multiplied by to be RAS."""
        return _SIGNS.get(self.space, _SAME)

    def signs(self, vectors):
        """+1 or -1 for each component of so many vectors: what they are multiplied by to be RAS."""
        return np.tile(self.sign, vectors).astype(np.float32) if self.space in _SIGNS else np.float32(1)

    @property
    def affine(self):
        return np.vstack([self.to_world * self.sign[:, None], [0, 0, 0, 1]])

    @functools.cached_property
    def struct(self):
        """The library's, which only reads it."""
        made = c.hot_grid(space=self.space)
        made.size[:] = self.size
        for row, values in zip(made.to_world, self.to_world):
            row[:] = values.tolist()
        return made

    @classmethod
    def read(cls, pointer):
        given = c.hot_grid.from_address(pointer)
        return cls(tuple(given.size), space=given.space, to_world=[list(row) for row in given.to_world])

    def like(self, other):
        """Whether both have the same voxels."""
        return self.size == other.size and self.space == other.space and np.array_equal(self.to_world, other.to_world)

    def to_library(self, array, items):
        """An array of the grid's shape, with `items` as its last axis, in the library's order: i fastest, the values
        of a voxel together."""
        return np.ascontiguousarray(array.reshape(self.size + (items,)).transpose(2, 1, 0, 3))

    def scalars(self, array):
        """The same for one value per voxel."""
        return np.ascontiguousarray(array.reshape(self.size).transpose(2, 1, 0))

    def read_array(self, pointer, dtype, items=None):
        """A copy of the library's values at an address, in the grid's shape; with `items` per voxel as last axis."""
        if not pointer:
            return None
        size = math.prod(self.size) * (items or 1) * np.dtype(dtype).itemsize
        flat = np.frombuffer((ctypes.c_char * size).from_address(pointer), dtype).copy()
        axes = flat.reshape(self.size[::-1] + ((items,) if items else ()))
        order = (2, 1, 0, 3) if items else (2, 1, 0)
        return axes.transpose(order).reshape(self.shape + ((items,) if items else ()))

    def mask_struct(self, context, mask):
        """A hot_mask of an array of the grid's shape."""
        mask = image_array(mask)
        inside = self.scalars(mask_bytes(mask, self.shape))
        if not inside.any() and np.asarray(mask).dtype.kind in "fc":
            none = int(np.isnan(np.asarray(mask)).sum())
            if none:
                raise ValueError(f"mask: no voxel is inside: {none} of {inside.size} values are NaN, the others 0")
        made = ctypes.c_void_p()
        context.check(lib.hot_mask_create(context.handle, ctypes.byref(self.struct), address(inside),
                                          ctypes.byref(made)))
        return made

    def read_mask(self, mask):
        """The mask in a file as an array of the grid's shape, resampled if it is on another grid; arrays unchanged."""
        if not isinstance(mask, (str, os.PathLike)):
            return image_array(mask)
        made = ctypes.c_void_p()
        with Context("cpu") as context:
            context.check(lib.hot_mask_load(context.handle, os.fsencode(mask), ctypes.byref(self.struct),
                                            ctypes.byref(made)))
            try:
                return self.read_array(lib.hot_mask_bytes(made), bool)
            finally:
                lib.hot_mask_destroy(ctypes.byref(made))


def _nifti(grid, array):
    """An array of the grid's shape as nibabel's image; vectors become volumes."""
    import nibabel

    if array.dtype == bool:
        array = array.view(np.uint8)
    image = nibabel.Nifti1Image(array.reshape(grid.size + ((-1,) if array.ndim > len(grid.shape) else ())), grid.affine)
    image.header.set_xyzt_units("mm")
    return image


def _shape(shape):
    return " x ".join(map(str, shape))


def _voxels(shape):
    return f"{_shape(shape)} voxels" if shape else "one voxel"


def image_array(data):
    """The samples of a nibabel image; other objects unchanged."""
    return np.asanyarray(data.dataobj) if hasattr(data, "dataobj") else data


class Dwi:
    """Diffusion-weighted data with their gradient table and position.

    data: (..., volumes), any real type and memory order; up to three axes before the last are the grid.
    gradients: (bvals, bvecs) with b in s/mm^2, as arrays or the paths of FSL's files; DIPY's GradientTable; or lines
        x y z b, as an array or the path of MRtrix's file.
        Vectors are of length 1, or 0 at b=0. Others are read as the command reads those of a file, with a warning: if
        all b-values are alike and no vector is longer than 1, the squared lengths are shares of b; else only
        directions count.
    affine: (4, 4), voxel indices to scanner mm (RAS), as in nibabel. None: directions are in the axes of the gradients.
    frame: the axes of the gradients: "bvec" (those of FSL's files; the default for bvals and bvecs), "scanner" (the
        default for lines x y z b). Without an affine they are not converted.

    >>> import hotfiber, numpy as np
    >>> dwi = hotfiber.Dwi(np.ones((4, 5, 6, 2)), ([0, 1000], [[0, 0, 0], [1, 0, 0]]), np.diag([2, 2, 2, 1]))
    >>> dwi.gradients.tolist()
    [[0.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]
    """

    def __init__(self, data: Data, gradients: Gradients, affine: ArrayLike | None = None, *,
                 frame: Frame | None = None) -> None:
        if affine is None and hasattr(data, "dataobj"):
            affine = data.affine
        data = np.asanyarray(unmasked(image_array(data)))
        b, vectors, usual = tables(gradients)
        if data.ndim < 1 or data.shape[-1] != len(b):
            raise ValueError(f"gradients: there are {len(b)}, but {data.shape[-1] if data.ndim else 0} volumes along "
                             "the last axis of the data" +
                             (f", which have 3 axes, {_shape(data.shape)}: x, y, z and the volumes are needed"
                              if data.ndim == 3 else ""))
        self._grid = Grid(data.shape[:-1], affine)
        frame = usual if frame is None else frame
        if frame not in ("bvec", "scanner"):
            raise ValueError(f"frame: it is 'bvec' or 'scanner', not {frame!r}")
        if affine is not None and frame == "bvec":
            matrix = np.empty((3, 3))
            lib.hot_python_bvec_frame(ctypes.byref(self._grid.struct), address(matrix))
            x, y, z = vectors.T
            vectors = np.stack([row[0] * x + row[1] * y + row[2] * z for row in matrix], axis=1)
        self.data = data
        self.bvals, self._vectors = np.array(b, float), np.ascontiguousarray(vectors, float)
        self._limit = .01 if frame == "bvec" else 1e-5  # as the command for files of these
        self.source = ""
        with Context("cpu") as context:  # the library normalises, and refuses what cannot be
            handle = self._open(context)[0]
            self._take_gradients(handle)
            lib.hot_dwi_destroy(ctypes.byref(handle))
        tell_lengths((vectors * vectors) @ np.ones(3), b, self.bvals)

    @classmethod
    def _load(cls, path, bval, bvec):
        made, handle = cls.__new__(cls), ctypes.c_void_p()
        with Context("cpu") as context:
            context.check(lib.hot_dwi_load(context.handle, path, bval, bvec, ctypes.byref(handle)))
            try:
                made._grid = Grid.read(lib.hot_dwi_grid(handle))
                volumes = lib.hot_dwi_volumes(handle)
                size = made._grid.size
                samples = np.empty(size[::-1] + (volumes,), np.float32)
                context.check(lib.hot_dwi_read(context.handle, handle, 0, int(np.prod(size)), address(samples)))
                made.data = samples.transpose(2, 1, 0, 3)
                made._take_gradients(handle)
                made.source = lib.hot_dwi_source(handle).decode()
            finally:
                lib.hot_dwi_destroy(ctypes.byref(handle))
        return made

    def _take_gradients(self, handle):
        volumes = lib.hot_dwi_volumes(handle)
        values = np.frombuffer((ctypes.c_double * (3 * volumes)).from_address(lib.hot_dwi_gradients(handle))).copy()
        self.bvals = np.frombuffer((ctypes.c_double * volumes).from_address(lib.hot_dwi_b(handle))).copy()
        self._vectors, self._limit = values.reshape(-1, 3), 0.

    def _open(self, context):
        """A hot_dwi over the data, and what must stay alive as long."""
        data = self.data
        if data.dtype.kind not in "fiub":
            raise TypeError(f"data: an array of real numbers is needed, not of {data.dtype}")
        if data.dtype not in _SAMPLES:
            native = data.dtype.newbyteorder("=")
            data = data.astype(native if native in _SAMPLES else np.uint8 if data.dtype == bool else
                               np.float32 if data.dtype.itemsize < 4 else np.float64)
        data = data.reshape(self._grid.size + data.shape[-1:])
        if not data.flags.aligned or any(stride < 0 or stride % data.itemsize for stride in data.strides):
            data = data.copy()
        *stride, apart = (one // data.itemsize for one in data.strides)
        handle = ctypes.c_void_p()
        context.check(lib.hot_python_dwi(context.handle, ctypes.byref(self._grid.struct), data.shape[-1],
                                         address(self.bvals), address(self._vectors), self._limit, address(data),
                                         _SAMPLES[data.dtype], (ctypes.c_size_t * 3)(*stride), apart,
                                         ctypes.byref(handle)))
        return handle, data

    @property
    def gradients(self) -> np.ndarray:
        """(volumes, 3) unit vectors in scanner axes (RAS), 0 where b = 0."""
        return self._vectors * self._grid.sign + 0.0

    @property
    def affine(self) -> np.ndarray:
        """(4, 4) voxel indices to scanner mm (RAS)."""
        return self._grid.affine

    @property
    def space(self) -> str:
        """The axes of the file's own world, "RAS", "LAS" or "LPS"; "" where none is known."""
        return _SPACES[self._grid.space]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.data.shape

    def __repr__(self) -> str:
        return f"<hotfiber.Dwi {_shape(self.shape)}, b up to {self.bvals.max(initial=0):g} s/mm^2>"

    def _repr_html_(self) -> str:
        shells, counts = np.unique(np.round(self.bvals, -2), return_counts=True)
        return table("hotfiber.Dwi", (
            ("voxels", _shape(self.shape[:-1])), ("volumes", self.shape[-1]), ("type", self.data.dtype),
            ("shells", ", ".join(f"{count} x b={b:g}" for b, count in zip(shells, counts))),
            ("voxel size", " x ".join(f"{size:.4g}" for size in np.linalg.norm(self.affine[:3, :3], axis=0)) + " mm"),
            ("space", self.space or "not known"), ("from", self.source or "memory")))


class Response:
    """The signal of a single fibre: rows of zonal harmonics (l = 0, 2, ...), one for each b-value; MRtrix's
    convention.

    b: (shells,) s/mm^2; a row for b=0 makes amplitudes volume fractions. coefficients: (shells, lmax / 2 + 1).
    noise: of the voxels that it was made from, over their b=0 signal, below 1; 0 = not
    known."""

    def __init__(self, b: ArrayLike, coefficients: ArrayLike, noise: float = 0) -> None:
        self.noise = float(noise)
        self.b, self.coefficients = np.asarray(b, float), np.atleast_2d(np.asarray(coefficients, float))
        if self.b.shape != (len(self.coefficients),):
            raise ValueError(f"b: {len(self.coefficients)} rows need as many b-values, not {self.b.shape}")

    @classmethod
    def _read(cls, handle):
        if not handle:
            return None
        b, rows, one = [], [], ctypes.c_double()
        terms = lib.hot_response_lmax(handle) // 2 + 1
        for shell in range(lib.hot_response_shells(handle)):
            row = lib.hot_response_row(handle, shell, ctypes.byref(one))
            rows.append(list((ctypes.c_double * terms).from_address(row)))
            b.append(one.value)
        return cls(b, rows, lib.hot_response_noise(handle))

    def _open(self, context):
        rows, b, made = np.ascontiguousarray(self.coefficients), np.ascontiguousarray(self.b), ctypes.c_void_p()
        context.check(lib.hot_response_create(context.handle, len(b), 2 * rows.shape[1] - 2, address(b), address(rows),
                                              ctypes.byref(made)))
        try:
            context.check(lib.hot_response_set_noise(made, ctypes.c_double(self.noise)))
        except Exception:
            lib.hot_response_destroy(ctypes.byref(made))
            raise
        return made

    def __repr__(self) -> str:
        return f"<hotfiber.Response for b = {', '.join(f'{b:g}' for b in self.b)} s/mm^2>"


@functools.lru_cache(None)
def _parity(order, space):
    """+1 or -1 for each unique value of a packed tensor in the axes of a space when they become RAS."""
    exponents = np.empty((lib.hot_symtensor_count(order, 3), 3), np.int32)
    lib.hot_symtensor_exponents(order, 3, address(exponents))
    return np.prod(_SIGNS.get(space, _SAME) ** exponents, axis=1).astype(np.float32)


_ORDERS = {(m + 1) * (m + 2) // 2: m for m in range(2, 13, 2)}  # by the number of unique values


class TensorField:
    """A symmetric tensor in every voxel.

    values: (..., 6 | 15 | 28 | 45) float32 packed tensors in scanner axes (RAS): unique values in lexicographic order
        (xxxx xxxy ...), not multiplied by their multiplicity; 0 where none was fitted.
    confidence: (...) bool, where a tensor was fitted. None: everywhere.
    model: "adc", "odf", "fod", "msmt" or "sh". affine: (4, 4) or None. response: of a fod.
    amounts: (..., tissues) float32 of white matter and the other tissues, residual: (...) float32 what the conditions
        of the constrained minimum leave. Of the model msmt, else None."""

    amounts: np.ndarray | None = None
    residual: np.ndarray | None = None

    def __init__(self, values: ArrayLike, *, confidence: ArrayLike | None = None, model: FieldModel = "fod",
                 affine: ArrayLike | None = None, response: Response | None = None) -> None:
        self.values = real("values", values, np.float32)
        self._set(Grid(self.values.shape[:-1], affine), model, response)
        self.confidence = np.ones(self._grid.shape, bool) if confidence is None else \
            mask_bytes(confidence, self._grid.shape).view(bool)

    def _set(self, grid, model, response):
        self._grid, self.model, self.response = grid, model, response
        unique = self.values.shape[-1] if self.values.ndim else 0
        self.order = _ORDERS.get(unique, 0)
        if not self.order:
            raise ValueError(f"values: {unique} values along the last axis are no tensor of even order (6, 15, 28, 45)")

    @classmethod
    def _read(cls, handle, grid=None):
        """grid: the field's, where it is known; it may have another number of axes."""
        made, grid = cls.__new__(cls), grid or Grid.read(lib.hot_tensor_field_grid(handle))
        order = lib.hot_tensor_field_order(handle)
        rows = grid.read_array(lib.hot_tensor_field_values(handle), np.float32,
                               1 + lib.hot_symtensor_count(order, 3))
        made.values, made.confidence = rows[..., 1:] * _parity(order, grid.space) + np.float32(0), rows[..., 0] > 0
        made._set(grid, lib.hot_tensor_field_model(handle).decode(),
                  Response._read(lib.hot_tensor_field_response(handle)))
        tissues = lib.hot_tensor_field_tissues(handle)
        if tissues:
            amounts = np.empty(int(np.prod(grid.size)) * tissues, np.float32)
            residual = np.empty(int(np.prod(grid.size)), np.float32)
            with Context("cpu") as context:
                context.check(lib.hot_tensor_field_amounts(context.handle, handle, address(amounts),
                                                           address(residual)))
            made.amounts = grid.read_array(address(amounts), np.float32, tissues)
            made.residual = grid.read_array(address(residual), np.float32)
        return made

    def _open(self, context):
        rows = np.empty(self._grid.shape + (1 + self.values.shape[-1],), np.float32)
        rows[..., 0], rows[..., 1:] = self.confidence, self.values * _parity(self.order, self._grid.space)
        rows, made = self._grid.to_library(rows, rows.shape[-1]), ctypes.c_void_p()
        context.check(lib.hot_tensor_field_create(context.handle, ctypes.byref(self._grid.struct), self.order,
                                                  self.model.encode(), address(rows), ctypes.byref(made)))
        return made

    @property
    def affine(self) -> np.ndarray:
        return self._grid.affine

    def __repr__(self) -> str:
        return f"<hotfiber.TensorField {self.model}, order {self.order}, {_voxels(self._grid.shape)}>"

    def _repr_html_(self) -> str:
        return table("hotfiber.TensorField", (
            ("model", self.model), ("order", self.order), ("voxels", _shape(self._grid.shape)),
            ("fitted", int(np.count_nonzero(self.confidence)))))

    def nifti(self) -> Any:
        """The tensors as nibabel's image, one volume per unique value."""
        return _nifti(self._grid, self.values)


class Fibers:
    """Fibre directions in every voxel.

    peaks: (..., 3 n) float32, x y z of each fibre in scanner axes (RAS), longest first, absent ones 0; the length is
        the volume fraction, or the height of the maximum for methods that give no fractions.
    nfibers: (...) uint8, their number: with min_probability or max_cone, of the fibres that were kept.
    mask: (...) bool, the computed voxels; tensors: the TensorField; response: of a single fibre. None if unknown.
    probability: (..., 4) float32 of 0 to 3 fibres; margin (log10 of the odds against the next number), residual (in
        units of the noise), width (rad^2): (...) float32. Of the method signal, else None.
    flags: (...) uint8, why a voxel of the mask could not be computed: 1 NaN or infinite; 2 b=0 signal not above 0; 8
        clipped, constant, or 0 in all weighted volumes; 16 nothing but noise (b=0 signal below 3 times it); 0 it was
        computed. Its probabilities are then all 0, and so are they outside of the mask. Of the method signal, else
        None.
    sigma: the noise's standard deviation; None if it was not estimated.
    cone: (..., n) float32 half angle, degrees, of the cone that contains each fibre's direction with 95 % probability;
        cone_axes: (..., n, 2, 3) the same as an ellipse: its semi-axes, the larger first, vectors across the fibre
        whose lengths are degrees; fraction_sd: (..., n) standard deviation of the fractions. cone and fraction_sd
        are NaN where there is no fibre. With cones=True, else None.
    certainty: (..., n) float32, 0 to 1: the probability of at least so many fibres times that of a direction within 15
        degrees of the true one, by its cone (masks above 400,000 voxels without cones=True: the first alone). Pictures
        and `plot` fade a fibre by it. Of the method signal and folders of its runs, else None.
    isotropic, free_water: (...) float32 volume fractions of the isotropic compartment other than free water, and of
        free water; with the fibres' they add to 1. One shell does not separate the two. noise_sd:
        (...) float32 the voxel's own standard deviation of the noise, in the unit of the signals. With cones=True, else
        None.
    samples: (voxels, samples, n, 3) float32 draws from the posterior in the voxels of the mask, samples[i] of voxel
        np.argwhere(mask)[i]: vectors like those of peaks. With samples=N, else None."""

    mask: np.ndarray | None = None
    tensors: TensorField | None = None
    response: Response | None = None
    probability: np.ndarray | None = None
    margin: np.ndarray | None = None
    residual: np.ndarray | None = None
    width: np.ndarray | None = None
    flags: np.ndarray | None = None
    sigma: float | None = None
    cone: np.ndarray | None = None
    cone_axes: np.ndarray | None = None
    fraction_sd: np.ndarray | None = None
    certainty: np.ndarray | None = None
    isotropic: np.ndarray | None = None
    free_water: np.ndarray | None = None
    noise_sd: np.ndarray | None = None
    samples: np.ndarray | None = None

    def __init__(self, peaks: ArrayLike, *, affine: ArrayLike | None = None) -> None:
        peaks = real("peaks", peaks, np.float32)
        if peaks.ndim < 1 or peaks.shape[-1] % 3 or not peaks.shape[-1]:
            raise ValueError(f"peaks: 3 values per fibre are needed along the last axis, the shape is {peaks.shape}")
        self.peaks, self._grid = peaks, Grid(peaks.shape[:-1], affine)
        self.nfibers = (self.directions != 0).any(-1).sum(-1).astype(np.uint8)

    @classmethod
    def _read(cls, handle, grid=None):
        """grid: the field's, where it is known; it may have another number of axes."""
        made, grid = cls.__new__(cls), grid or Grid.read(lib.hot_fiber_field_grid(handle))
        most = lib.hot_fiber_field_max(handle)
        rows = grid.read_array(lib.hot_fiber_field_peaks(handle), np.float32, 3 * most)
        made.peaks = rows * grid.signs(most) + np.float32(0)
        made.nfibers, made._grid = grid.read_array(lib.hot_fiber_field_counts(handle), np.uint8), grid
        certainty = lib.hot_fiber_field_certainty(handle)
        if certainty:
            made.certainty = grid.read_array(certainty, np.float32, most)
        return made

    def _open(self, context):
        most = self.peaks.shape[-1] // 3
        rows = self._grid.to_library(self.peaks * self._grid.signs(most), 3 * most)
        made = ctypes.c_void_p()
        context.check(lib.hot_fiber_field_create(context.handle, ctypes.byref(self._grid.struct), most, address(rows),
                                                 ctypes.byref(made)))
        if self.certainty is not None:
            certainty = self._grid.to_library(self.certainty, most)
            context.check(lib.hot_fiber_field_set_certainty(context.handle, made, address(certainty)))
        return made

    def _certain(self, min_probability, max_cone):
        """Without the fibres of which so many or more are less probable, or whose cone is wider; 0 = any."""
        keep = self.fractions > 0
        for name, bound, high, needs in (("min_probability", min_probability, 1, "probability"),
                                         ("max_cone", max_cone, 90, "cone")):
            if not 0 <= bound <= high:
                raise ValueError(f"{name}: it is between 0 and {high}, not {bound}")
            values = getattr(self, needs)
            if bound and values is None:
                raise ValueError(f"{name}: these directions have no {needs}; hotfiber.fibers(..., cones=True) gives "
                                 f"it, and so does a run's folder with {needs}.nii.gz")
            if bound and needs == "cone":
                keep &= values <= bound
            elif bound:
                least = np.cumsum(values[..., :0:-1], axis=-1, dtype=float)[..., ::-1]  # of k fibres or more
                keep &= least[..., :keep.shape[-1]] >= bound
        if keep.sum() == self.nfibers.sum():
            return self
        order = np.argsort(~keep, axis=-1, kind="stable")
        made = Fibers(np.take_along_axis(np.where(keep[..., None], self.vectors, 0), order[..., None], -2)
                      .reshape(self.peaks.shape))
        made._grid = self._grid
        if self.certainty is not None:
            made.certainty = np.take_along_axis(np.where(keep, self.certainty, 0), order, -1)
        return made

    def _read_posterior(self, maps):
        """Adds the probabilities and uncertainties of a run; the mask must be set."""
        grid, most = self._grid, maps.max_fibers
        if maps.fraction_sd:
            self.cone, self.fraction_sd = (grid.read_array(one, np.float32, most) for one in
                                           (maps.cone, maps.fraction_sd))
            self.isotropic, self.free_water, self.noise_sd = (
                grid.read_array(one, np.float32) for one in (maps.isotropic, maps.free_water, maps.noise_sd))
            axes = grid.read_array(maps.cone_axes, np.float32, 6 * most)
            self.cone_axes = axes.reshape(grid.shape + (most, 2, 3)) * grid.sign.astype(np.float32) + np.float32(0)
        if maps.samples:
            size = (ctypes.c_int * 2)()
            lib.hot_python_samples_size(maps.samples, size)
            inside = np.nonzero(self.mask.reshape(grid.size))
            voxels = np.ravel_multi_index(inside, grid.size, order="F").astype(np.uintp)
            drawn = np.empty((len(voxels), *size, 3), np.float32)
            lib.hot_python_samples(maps.samples, ctypes.byref(grid.struct), len(voxels), address(voxels),
                                   address(drawn))
            self.samples = drawn * grid.sign.astype(np.float32) + np.float32(0)

    @property
    def vectors(self) -> np.ndarray:
        """(..., n, 3) the same as peaks: a vector per fibre."""
        return self.peaks.reshape(self.peaks.shape[:-1] + (self.peaks.shape[-1] // 3, 3))

    @property
    def fractions(self) -> np.ndarray:
        """(..., n) the lengths: volume fractions, with the methods signal and lowrank."""
        return np.linalg.norm(self.vectors, axis=-1)

    @property
    def directions(self) -> np.ndarray:
        """(..., n, 3) unit vectors; 0 for absent fibres."""
        length = self.fractions[..., None]
        return np.divide(self.vectors, length, out=np.zeros_like(self.vectors), where=length > 0)

    @property
    def affine(self) -> np.ndarray:
        return self._grid.affine

    def __repr__(self) -> str:
        with_fibers = int(np.count_nonzero(self.nfibers))
        return f"<hotfiber.Fibers {_voxels(self._grid.shape)}, {with_fibers} of them with fibres>"

    def _repr_html_(self) -> str:
        counts = np.bincount(self.nfibers.ravel(), minlength=4)
        text = table("hotfiber.Fibers", (
            ("voxels", _shape(self._grid.shape)),
            ("with 1, 2, 3 fibres", ", ".join(map(str, counts[1:4])))))
        return text + image_tag(self._repr_png_()) if self.nfibers.size else text

    def _repr_png_(self) -> bytes | None:
        return picture(self) if self.nfibers.size else None

    def nifti(self, name: str = "peaks") -> Any:
        """One of the arrays as nibabel's image: "peaks", "nfibers", "fractions", "mask", "probability" ..."""
        array = getattr(self, name, None)
        if not isinstance(array, np.ndarray):
            raise ValueError(f"name: these directions have no {name!r}")
        return _nifti(self._grid, array)
