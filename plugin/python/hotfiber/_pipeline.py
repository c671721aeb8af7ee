"""The pipeline on arrays: denoising, tensors, fibre directions; and files."""
from __future__ import annotations

import ctypes
import os
import warnings
from contextlib import ExitStack
from typing import Literal, NamedTuple, Sequence, Union, overload

import numpy as np
from numpy.typing import ArrayLike

from . import _declarations as c
from ._arrays import address, choice, fill, mask_bytes, number, outputs, struct, unmasked
from ._fields import Dwi, Fibers, Grid, Response, TensorField, image_array
from ._gpu import There, is_there
from ._library import Context, DataError, Error, HotfiberWarning, lib, use_fonts
from ._tensors import _shift
from ._types import (AnyResponse, Basis, Constraint, Data, Estimator, FieldModel, Frame, Gradients, HarmonicsFrame,
                     Kernel, Kind, Method, Model, NoiseModel, Out, PeaksMethod, Progress, Shift)

_CONSTRAINT = {"nonnegative": c.HOT_CONSTRAINT_NONNEGATIVE, "hpsd": c.HOT_CONSTRAINT_HPSD,
               "none": c.HOT_CONSTRAINT_NONE}
_KERNEL = {"rank1": c.HOT_KERNEL_RANK1, "delta": c.HOT_KERNEL_DELTA}
_NOISE = {"auto": c.HOT_NOISE_AUTO, "rician": c.HOT_NOISE_RICIAN, "gaussian": c.HOT_NOISE_GAUSSIAN}


def _text(word, name="path"):
    try:
        return None if word is None else os.fsencode(word)
    except TypeError:
        raise TypeError(f"{name}: text is needed, not {word!r}") from None


class _Objects:
    """Objects of the library, destroyed at the end in the reverse order."""

    def __init__(self, context):
        self._context, self._stack = context, ExitStack()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._stack.close()

    def add(self, kind, handle):
        self._stack.callback(getattr(lib, f"hot_{kind}_destroy"), ctypes.byref(handle))
        return handle

    def dwi(self, dwi):
        handle, kept = dwi._open(self._context)
        self._stack.callback(lambda samples: None, kept)
        self.add("dwi", handle)
        self._context.check(lib.hot_python_drop_empty(self._context.handle, handle))
        return handle

    def mask(self, grid, mask):
        return self.add("mask", grid.mask_struct(self._context, grid.read_mask(mask)))

    def response(self, response):
        """From a Response, or the file of one."""
        if isinstance(response, Response):
            return self.add("response", response._open(self._context))
        if not isinstance(response, (str, os.PathLike)):
            raise TypeError("response: a Response, the path of one, or the axial and radial diffusivity are needed, "
                            f"not {response!r:.60}")
        handle = ctypes.c_void_p()
        self._context.check(lib.hot_response_load(self._context.handle, _text(response), ctypes.byref(handle)))
        return self.add("response", handle)


def _load_data(path, gradients, affine, frame):
    """The data of a file; gradients: paths of its tables, None = those next to it."""
    if isinstance(affine, (str, os.PathLike)):
        raise TypeError("gradients: put parentheses around the two paths: (bval, bvec)")
    if affine is not None or frame is not None:
        raise TypeError("affine, frame: the file has its own; do not pass others with a path")
    tables = gradients if isinstance(gradients, (tuple, list)) else [gradients]
    if len(tables) > 2 or not all(one is None or isinstance(one, (str, os.PathLike)) for one in tables):
        raise TypeError("gradients: with the path of an image, the paths of its tables are needed; or load the image "
                        "with nibabel and pass it with arrays")
    return load(path, *tables, kind="dwi")


def _data(data, gradients, affine, frame):
    if isinstance(data, Dwi):
        if gradients is not None or affine is not None or frame is not None:
            raise TypeError("data: a Dwi has gradients and an affine; do not pass others")
        return data
    if isinstance(data, (str, os.PathLike)):
        return _load_data(data, gradients, affine, frame)
    if gradients is None:
        raise TypeError("gradients: (bvals, bvecs), lines x y z b or a GradientTable are needed with an array")
    return Dwi(data, gradients, affine, frame=frame)


def _fit_options(model, order, regularise, positive, weighted, estimate_s0, constraint, kernel,
                 normalise=False):
    return struct(c.hot_fit_options, normalise=bool(normalise), model=_text(model, "model"), order=order,
                  constraint=choice("constraint", constraint, _CONSTRAINT), kernel=choice("kernel", kernel, _KERNEL),
                  regularise=number(regularise), positive=bool(positive),
                  weighted=1 if weighted else c.HOT_ZERO, estimate_s0=bool(estimate_s0))


def _diffusivities(response):
    """The two numbers of a response that is given by them."""
    if isinstance(response, (tuple, list, np.ndarray)) and len(response) == 2 and \
            all(np.isscalar(one) and not isinstance(one, str) for one in response):
        return float(response[0]), float(response[1])
    return None


def _set_response(objects, response, options):
    """The response, or those of several tissues, white matter first."""
    several = list(response) if isinstance(response, (tuple, list)) else [response]
    opened = [objects.response(one).value for one in several]
    options.response = opened[0]
    if len(opened) > 1:
        array = (ctypes.c_void_p * (len(opened) - 1))(*opened[1:])
        options.tissues, options.tissue_count = ctypes.addressof(array), len(opened) - 1
        return array  # to be kept as long as the options
    return None


def fit(data: Data, gradients: Gradients = None, affine: ArrayLike | None = None, mask: Data = None, *,
        model: Model = "fod", order: int = 0, response: AnyResponse = None, regularise: float | None = None,
        positive: bool = False, weighted: bool = True, estimate_s0: bool = False,
        constraint: Constraint = "nonnegative", kernel: Kernel = "rank1", normalise: bool = False,
        frame: Frame | None = None, device: str = "auto", threads: int = 0, seed: int = 0,
        progress: Progress = None) -> TensorField:
    """Fits a symmetric tensor to the signals of every voxel.

    data, gradients, affine, frame: see `fibers`.
    mask: (...) where to fit, or the path of an image; None = estimated from the b=0 images.
    model: "fod" (fibre orientations, by deconvolution), "msmt" (the same beside amounts of further tissues), "odf"
        (diffusion orientations, q-ball) or "adc" (apparent diffusivity, mm^2/s).
    order: 2, 4, 6, 8; 0 = 6, or the highest that the directions determine.
    response: of the fod: a Response, the path of a file of MRtrix's, or the axial and radial diffusivity in mm^2/s;
        None = estimated. Of msmt: a list of Responses or paths, white matter first.
    regularise: Laplace-Beltrami weight; None = the model's.
    positive, weighted, estimate_s0: of adc: nowhere negative; weighted least squares; S0 from all volumes.
    constraint, kernel: of msmt: "nonnegative" (in 300 directions), "hpsd" (nowhere negative) or "none"; "rank1" or
        "delta" (as MRtrix's fODF).
    normalise: of msmt: whether to divide by a smooth field, so that the tissues add up to about 1 everywhere.
    device, threads, seed, progress: see `sshopm`.
    Returns a TensorField.
    """
    dwi = _data(data, gradients, affine, frame)
    field = ctypes.c_void_p()
    options = _fit_options(model, order, regularise, positive, weighted, estimate_s0, constraint, kernel, normalise)
    with Context(device, threads, seed, progress) as context, _Objects(context) as objects:
        handle = objects.dwi(dwi)
        if mask is None:
            inside = ctypes.c_void_p()
            context.check(lib.hot_mask_estimate(context.handle, handle, ctypes.byref(inside)))
            objects.add("mask", inside)
        else:
            inside = objects.mask(dwi._grid, mask)
        given = _diffusivities(response)
        if given:
            made = ctypes.c_void_p()
            context.check(lib.hot_response_tensor(context.handle, handle, *given, 1, 0, ctypes.byref(made)))
            options.response = objects.add("response", made).value
        elif response is not None:
            kept = _set_response(objects, response, options)  # noqa: F841
        context.check(lib.hot_tensor_field_fit(context.handle, handle, inside, ctypes.byref(options),
                                               ctypes.byref(field)))
        objects.add("tensor_field", field)
        return TensorField._read(field, dwi._grid)


def _peaks_options(method, max_fibers, threshold, min_angle, min_amplitude, starts, shift):
    how, alpha = _shift(shift)
    return struct(c.hot_peaks_options, method=_text(method, "method"), max_fibers=max_fibers,
                  threshold=number(threshold), min_angle=number(min_angle),
                  starts=starts, shift=how, alpha=alpha, min_amplitude=number(min_amplitude))


def _find(tensors, options, mask, here):
    found = ctypes.c_void_p()
    with here as context, _Objects(context) as objects:
        handle = objects.add("tensor_field", tensors._open(context))
        if mask is not None:
            options.mask = objects.mask(tensors._grid, mask).value
        context.check(lib.hot_fiber_field_find(context.handle, handle, ctypes.byref(options), ctypes.byref(found)))
        objects.add("fiber_field", found)
        return Fibers._read(found, tensors._grid)


def peaks(tensors: TensorField | ArrayLike, affine: ArrayLike | None = None, mask: Data = None, *,
          method: PeaksMethod = "maxima", max_fibers: int = 0, threshold: float | None = None,
          min_angle: float | None = None, min_amplitude: float | None = None, starts: int = 0,
          shift: Shift = "adaptive", model: FieldModel = "fod",
          device: str = "auto", threads: int = 0, seed: int = 0, progress: Progress = None) -> Fibers:
    """Finds fibre directions from tensors.

    tensors: a TensorField, or an array (..., 6 | 15 | 28 | 45) of packed tensors of `model`.
    affine: with an array: (4, 4) or None.
    mask: (...) where to look, or the path of an image; None = wherever there is a tensor.
    method: "maxima", "lowrank" or "sshopm"; the method "signal" works on signals (`fibers`).
    max_fibers: 0 = 3. threshold (fraction of the largest peak), min_angle (degrees), min_amplitude: None = the
        method's.
    starts, shift: of sshopm.
    device, threads, seed, progress: see `sshopm`.
    Returns Fibers.

    >>> import hotfiber, numpy as np
    >>> tensor = np.zeros(15); tensor[0] = 1
    >>> hotfiber.peaks(tensor).directions[0].round(4).tolist()
    [1.0, 0.0, 0.0]
    """
    if not isinstance(tensors, TensorField):
        tensors = TensorField(tensors, model=model, affine=affine)
    elif affine is not None:
        raise TypeError("affine: a TensorField has its own")
    if method == "signal":
        raise ValueError("method: 'signal' works on signals; hotfiber.fibers takes them")
    mask = tensors._grid.read_mask(mask)
    options = _peaks_options(method, max_fibers, threshold, min_angle, min_amplitude, starts, shift)
    if tensors.values.size == 0:  # the library has no such fields
        made = Fibers(np.zeros(tensors.confidence.shape + (3 * (max_fibers or 3),), np.float32))
    else:
        made = _find(tensors, options, mask, Context(device, threads, seed, progress))
    made.tensors, made.response = tensors, tensors.response
    made.mask = tensors.confidence if mask is None else \
        mask_bytes(mask, tensors._grid.shape).view(bool) & tensors.confidence
    return made


def fibers(data: Data, gradients: Gradients = None, affine: ArrayLike | None = None, mask: Data = None, *,
           model: Model | None = None, method: Method | None = None, order: int = 0, response: AnyResponse = None,
           max_fibers: int = 0, threshold: float | None = None, min_angle: float | None = None,
           min_amplitude: float | None = None, starts: int = 0, shift: Shift = "adaptive",
           sigma: float | ArrayLike | None = None, noise_model: NoiseModel = "auto", denoise: bool = False,
           regularise: float | None = None, positive: bool = False,
           weighted: bool = True, estimate_s0: bool = False, constraint: Constraint = "nonnegative",
           kernel: Kernel = "rank1", normalise: bool = False, cones: bool = False, samples: int = 0,
           min_probability: float = 0, max_cone: float = 0, force_table: bool = False,
           view: bool = False, frame: Frame | None = None, device: str = "auto", threads: int = 0, seed: int = 0,
           progress: Progress = None) -> Fibers:
    """The whole job: mask, response, tensors and fibre directions, as `hotfiber run` does it.

    data: the path of an image (NRRD, NIfTI or MIF), whose gradient tables are found as the command finds them; a Dwi
        (`load` reads one); an array (..., volumes) of any real type and memory order; or a nibabel image.
    gradients: with an array: (bvals, bvecs), b in s/mm^2; lines x y z b; or DIPY's GradientTable. Paths, too: see
        `Dwi`. With a path: None, or the paths of the tables.
    affine: with an array: (4, 4), voxel indices to scanner mm; None = directions in the axes of the gradients.
    mask: (...) where to compute, or the path of an image; None = estimated from the b=0 images.
    model, order, response, regularise, positive, weighted, estimate_s0, constraint, kernel, normalise: see `fit`;
        model None = "fod".
    method: "signal" (fits 0 to 3 fibres to the signals), "maxima", "lowrank" or "sshopm"; None = "signal" with the
        model fod, else "maxima".
    max_fibers: 0 = 3. threshold, min_angle, min_amplitude, starts, shift: see `peaks`.
    sigma: of signal: the noise's standard deviation in the data's unit, a number or a map (...); None = estimated.
    noise_model: of signal: "auto", "rician" or "gaussian".
    cones, samples: of signal: whether to tell how sure directions and fractions are (`Fibers.cone` and
        more), and how many samples of the posterior to draw (0 to 1000, `Fibers.samples`).
    denoise: whether to denoise the data first; signal takes only the directions from denoised data.
    min_probability, max_cone: of signal: leave a fibre out where the probability of so many fibres or more is below the
        first, or where its 95 % cone is wider than the second (degrees, 0 = any). The voxel stays, with fewer fibres:
        to leave uncertain voxels out of a count, use `probability.max(-1) > .9`.
    force_table: whether to use gradients in another order than the volumes, or of other volumes; else DataError.
    view: whether to open a window that shows each slice once it is found; it stays after the call.
    frame: the axes of the gradients, see `Dwi`.
    device, threads, seed, progress: see `sshopm`.
    Returns Fibers.
    """
    if view:
        use_fonts()
    dwi = _data(data, gradients, affine, frame)
    fitting = _fit_options(model, order, regularise, positive, weighted, estimate_s0, constraint, kernel, normalise)
    looking = _peaks_options(method, max_fibers, threshold, min_angle, min_amplitude, starts, shift)
    signal = struct(c.hot_signal_find_options, samples=samples, keep_cones=bool(cones),
                    noise_model=choice("noise_model", noise_model, _NOISE))
    options = struct(c.hot_run_options, denoise=bool(denoise), force_table=bool(force_table), view=bool(view),
                     min_probability=float(min_probability), max_cone=float(max_cone),
                     fit=ctypes.addressof(fitting),
                     peaks=ctypes.addressof(looking), signal=ctypes.addressof(signal))
    if sigma is not None and np.ndim(sigma):
        noise = np.asarray(sigma, np.float32)
        if noise.shape != dwi._grid.shape:
            raise ValueError(f"sigma: its shape is {noise.shape}, that of the voxels {dwi._grid.shape}")
        noise = dwi._grid.scalars(noise)
        signal.sigma_map = address(noise)
    elif sigma is not None:
        fill(signal, sigma=sigma)
    fields = c.hot_run_fields()
    with Context(device, threads, seed, progress) as context, _Objects(context) as objects:
        if _diffusivities(response):
            options.axial_diffusivity, options.radial_diffusivity = _diffusivities(response)
        elif response is not None:
            kept = _set_response(objects, response, fitting)  # noqa: F841
        if mask is not None:
            options.mask_in_memory = objects.mask(dwi._grid, mask).value
        handle = objects.dwi(dwi)
        context.check(lib.hot_run_compute(context.handle, handle, ctypes.byref(options), ctypes.byref(fields), None))
        try:
            made = _take_fields(fields, dwi._grid)
        finally:
            lib.hot_run_fields_free(ctypes.byref(fields))
    _tell_voxels(made, mask is None)
    return made


_FEW = 1000  # voxels, below which estimates differ from those of the whole scan


def _tell_voxels(made, estimated):
    """Warns of voxels of noise, which the command notes on the screen, and of priors from few voxels."""
    if made.flags is None:
        return
    inside, noise = int(made.mask.sum()), int((made.flags == c.HOT_VOXEL_NOISE).sum())
    if 0 < 2 * noise <= inside:  # the library warns of more than half
        warnings.warn(f"{noise} of {inside} voxels are nothing but noise (b=0 signal below 3 times it): they have no "
                      f"fibre, the probabilities 0 and the flag {c.HOT_VOXEL_NOISE}", HotfiberWarning, stacklevel=3)
    # The library warns of a mask below a fifth of the brain, which is at most the image.
    if inside < _FEW and (estimated or 5 * inside >= made.mask.size):
        warnings.warn(f"the mask has {inside} voxels; below about {_FEW} the priors, which are estimated from them, "
                      "are rough, and numbers of fibres differ from those of the whole scan", HotfiberWarning,
                      stacklevel=3)


def _take_fields(fields, grid):
    """The results of a run, as arrays."""
    made, maps = Fibers._read(fields.fibers, grid), fields.maps
    made.mask = grid.read_array(lib.hot_mask_bytes(fields.mask), bool)
    if maps.flags:
        made.probability = grid.read_array(maps.probability, np.float32, 4)
        for name in ("margin", "residual", "width"):
            setattr(made, name, grid.read_array(getattr(maps, name), np.float32))
        made.flags = grid.read_array(maps.flags, np.uint8)
        made._read_posterior(maps)
        made.sigma = maps.sigma
    made.tensors = TensorField._read(fields.tensors, grid)
    made.response = Response._read(fields.response)
    return made


class Denoised(NamedTuple):
    """Denoised data, and the noise that was in them."""
    data: np.ndarray  #: like the data, float32 or complex64
    noise: np.ndarray  #: (...) float32 standard deviation, in the data's unit; NaN where it is unknown


def denoise(data: Data, mask: Data = None, *, window: int | Sequence[int] | None = None,
            step: int | Sequence[int] | None = None, estimator: Estimator = "exp2", out: Out = None,
            device: str = "auto", threads: int = 0, seed: int = 0, progress: Progress = None) -> Denoised:
    """Denoises by principal component analysis in sliding windows (MP-PCA).

    data: (x, y, z, volumes) or fewer axes, any real or complex type; computed in float32.
    mask: (x, y, z) where to denoise, or the path of an image; other voxels are copied.
    window, step: voxels along each axis, or one number for all; None = the smallest odd cube with as many voxels as
        there are volumes, and 2.
    estimator: "exp2" (Cordero-Grande et al. 2019) or "exp1" (Veraart et al. 2016).
    out: up to two arrays for the results, in their order.
    device, threads, seed, progress: see `sshopm`, also for arrays in a GPU's memory (float32 or complex64).
    """
    there = is_there(data)
    data = There("data", data, [np.float32, np.complex64]) if there else np.asarray(unmasked(image_array(data)))
    kind_of = np.dtype(data.dtype).kind
    if kind_of not in "fiubc":
        raise TypeError(f"data: an array of numbers is needed, not of {data.dtype}")
    if not 1 <= data.ndim <= 4:
        raise ValueError(f"data: up to three axes and the volumes are needed, not {data.ndim} axes")
    shape, volumes, kind = data.shape[:-1], data.shape[-1], np.complex64 if kind_of == "c" else np.float32
    size = shape + (1,) * (3 - len(shape))
    if isinstance(mask, (str, os.PathLike)):
        mask = load(mask, kind="image").data
    inside = mask_bytes(image_array(mask), shape, data)
    results, noises = outputs(out, (data.shape, kind), (shape, np.float32), like=data)
    chosen = struct(c.hot_denoise_options, is_complex=kind_of == "c",
                    estimator=choice("estimator", estimator, {"exp2": c.HOT_DENOISE_EXP2, "exp1": c.HOT_DENOISE_EXP1}))
    turned = -1 if there else 1  # where they are, the last axis of the voxels is what is the library's first
    for name, given in (("window", window), ("step", step)):
        if given is not None:
            values = np.asarray(given)
            if values.shape not in ((), (3,)) or values.dtype.kind not in "iu" or values.min() < 1:
                raise ValueError(f"{name}: a whole number of voxels, or three, from 1 on are needed, not {given!r}")
            getattr(chosen, name)[:] = np.broadcast_to(values, 3).tolist()[::turned]
    if there:
        samples, denoised, noise = data, results.array, noises.array
    else:
        grid = Grid(shape)
        samples = grid.to_library(data, volumes).astype(kind, copy=False)
        denoised, noise = np.empty_like(samples), np.empty(size[::-1], np.float32)
        inside = None if mask is None else grid.scalars(inside)
    with Context(device, threads, seed, progress, data) as context:
        context.check(lib.hot_denoise_f32(context.handle, ctypes.byref(chosen), (ctypes.c_size_t * 3)(*size[::turned]),
                                          volumes, address(samples), address(inside), address(denoised),
                                          address(noise)))
    if not there:
        results.array[...] = denoised.transpose(2, 1, 0, 3).reshape(data.shape)
        noises.array[...] = noise.transpose(2, 1, 0).reshape(shape)
    return Denoised(results.done(), noises.done())


class Image(NamedTuple):
    """A scalar image."""
    data: np.ndarray  #: (x, y, z) float32
    affine: np.ndarray  #: (4, 4) voxel indices to scanner mm (RAS)


def _loader(kind, read):
    """A function that reads a file of one kind of the library's objects; content: what the file holds."""
    def load_one(context, path, *options, content=None):
        handle = ctypes.c_void_p()
        suffix, more = ("_sh", options) if options else ("_as", (_text(content),)) if content else ("", ())
        context.check(getattr(lib, f"hot_{kind}_load{suffix}")(context.handle, path, *more, ctypes.byref(handle)))
        try:
            return read(handle)
        finally:
            getattr(lib, f"hot_{kind}_destroy")(ctypes.byref(handle))
    return load_one


def _load_image(context, path):
    grid, values = c.hot_grid(), ctypes.c_void_p()
    context.check(lib.hot_image_load(context.handle, path, ctypes.byref(grid), ctypes.byref(values)))
    made = Grid.read(ctypes.addressof(grid))
    data = made.read_array(values.value, np.float32)
    lib.hot_context_free(context.handle, values)
    return Image(data, made.affine)


def _load_run(folder):
    """Directions of a run's folder, and what it has on how certain they are."""
    with Context("cpu") as context:
        made = _load_directions(context, _text(folder))
        for name in ("probability", "cone"):
            path = os.path.join(folder, f"{name}.nii.gz")
            if os.path.exists(path):
                setattr(made, name, _load_values(context, _text(path)))
                if getattr(made, name).shape[:-1] != made.nfibers.shape:
                    raise DataError(f"'{path}' is not of the same voxels as the directions")
    return made


def _load_values(context, path):
    grid, values, count = c.hot_grid(), ctypes.c_void_p(), ctypes.c_size_t()
    context.check(lib.hot_image_load_values(context.handle, path, ctypes.byref(grid), ctypes.byref(values),
                                            ctypes.byref(count)))
    try:
        return Grid.read(ctypes.addressof(grid)).read_array(values.value, np.float32, count.value)
    finally:
        lib.hot_context_free(context.handle, values)


_load_tensors = _loader("tensor_field", TensorField._read)
_load_directions = _loader("fiber_field", Fibers._read)
_LOADERS = {"tensors": (_load_tensors, "tensor"), "directions": (_load_directions, "peaks"),
            "dyads": (_load_directions, "dyads"), "image": (_load_image,),
            "response": (_loader("response", Response._read),),
            **{kind: (_load_tensors, kind) for kind in ("tensor_fsl", "tensor_mrtrix", "tensor_dipy", "tensor_itk")}}


Path = Union[str, "os.PathLike[str]"]


@overload
def load(path: Path, bval: Path | None = None, bvec: Path | None = None, *, kind: Literal["dwi"]) -> Dwi: ...


@overload
def load(path: Path, bval: Path, bvec: Path | None = None, *, kind: None = None) -> Dwi: ...


@overload
def load(path: Path, *, kind: Literal["tensors"]) -> TensorField: ...


@overload
def load(path: Path, *, kind: Literal["sh"], basis: Basis | None = None,
         frame: HarmonicsFrame | None = None) -> TensorField: ...


@overload
def load(path: Path, *, kind: Literal["directions"]) -> Fibers: ...


@overload
def load(path: Path, *, kind: Literal["image"]) -> Image: ...


@overload
def load(path: Path, *, kind: Literal["response"]) -> Response: ...


@overload
def load(path: Path, bval: Path | None = None, bvec: Path | None = None, *, kind: Kind | None = None,
         basis: Basis | None = None,
         frame: HarmonicsFrame | None = None) -> Dwi | TensorField | Fibers | Image | Response: ...


def load(path: Path, bval: Path | None = None, bvec: Path | None = None, *,
         kind: Kind | None = None, basis: Basis | None = None, frame: HarmonicsFrame | None = None,
         ) -> Dwi | TensorField | Fibers | Image | Response:
    """Reads a file: NRRD, NIfTI or MIF, or MRtrix's text of a response.

    path: the file, or the directory of a run (its directions are read).
    bval, bvec: FSL's tables of NIfTI or MIF; bval alone: MRtrix's table, lines x y z b. None = those next to the image.
    kind: "dwi", "tensors", "directions", "image", "response" or "sh" (spherical harmonics); None = from the file's
        header or its values; an ambiguous file is refused. Other programs' tensors of order 2 are "tensor_fsl",
        "tensor_mrtrix", "tensor_dipy" or "tensor_itk", which name the order and the axes of their values; "dyads" are
        directions in the axes of FSL's bvecs.
    basis, frame: of "sh", harmonics of any tool's fibre orientations: "tournier07" (MRtrix's; the default),
        "descoteaux07" or "descoteaux07_legacy" (DIPY's); "scanner", "bvec" or "image". They become tensors.
    Returns a Dwi, TensorField, Fibers, Image or Response; all in scanner axes.
    """
    path = os.fspath(path)
    if kind == "sh":
        options = c.hot_sh_options(ctypes.sizeof(c.hot_sh_options), _text(basis or "tournier07"), _text(frame))
        with Context("cpu") as context:
            return _load_tensors(context, _text(path), ctypes.byref(options))
    if basis is not None or frame is not None:
        raise TypeError("basis, frame: of kind='sh' alone")
    if kind is None and os.path.isdir(path):
        return _load_run(path)
    if kind is not None and kind != "dwi":
        loader, *content = choice("kind", kind, {"dwi": (), "sh": (), **_LOADERS})
        with Context("cpu") as context:
            return loader(context, _text(path), **({"content": content[0]} if content else {}))
    if kind == "dwi" or bval is not None or bvec is not None:
        return Dwi._load(_text(path), _text(bval), _text(bvec))
    with open(path, "rb"):  # one message for a missing file
        pass
    if path.endswith(".txt"):
        return load(path, kind="response")
    word = ctypes.c_char_p()
    with Context("cpu") as context:
        try:
            context.check(lib.hot_file_content(context.handle, _text(path), ctypes.byref(word)))
        except Error as error:
            said = str(error)
            raise type(error)(f"{said} (here: kind='directions', 'sh', 'tensors' or 'image')" if "--as" in said
                              else said) from None
        held = (word.value or b"").decode()
        if held in ("peaks", "dyads", "tensor"):
            return (_load_tensors if held == "tensor" else _load_directions)(context, _text(path))
    if held == "sh":
        return load(path, kind="sh")
    try:
        return load(path, kind="dwi")
    except Error:
        return load(path, kind="image")


def export(result: Fibers | TensorField, path: Path, format: str | None = None, *,
           min_probability: float = 0, max_cone: float = 0, force: bool = False) -> None:
    """Writes directions or tensors for another program.

    result: Fibers or a TensorField.
    path: the file; its name tells the format if `format` is None ("peaks.nii.gz", "fibers.vtp", "tensors.nrrd").
    format: a name of `hotfiber export --list`: "peaks", "fixels", "vtp", "tck", "dyads", "sh", "dec" ...
    min_probability, max_cone: leave a fibre out where the probability of so many fibres or more is below the first, or
        where its 95 % cone is wider than the second (degrees, 0 = any); see `fibers`.
    force: whether to replace an existing file.

    Without a known affine the axes are those of the gradients; a warning is given if the format cannot record this.
    """
    path = os.fspath(path)
    if os.path.exists(path) and not force:
        raise FileExistsError(f"'{path}' is there already; force=True replaces it")
    is_tensors = isinstance(result, TensorField)
    if not is_tensors and not isinstance(result, Fibers):
        raise TypeError(f"result: Fibers or a TensorField is needed, not a {type(result).__name__}")
    if min_probability or max_cone:
        if isinstance(result, TensorField):
            raise TypeError("min_probability, max_cone: they go with Fibers")
        result = result._certain(min_probability, max_cone)
    found = lib.hot_export_format_find(_text(format), _text(path))
    chosen = c.hot_export_format.from_address(found) if found else None
    with Context("cpu") as context, _Objects(context) as objects:
        handle = objects.add("tensor_field" if is_tensors else "fiber_field", result._open(context))
        if is_tensors and format is None and (not chosen or not chosen.write_tensors or chosen.name == b"peaks"):
            context.check(lib.hot_tensor_field_save(context.handle, handle, _text(path)))
            return
        writer = chosen and (chosen.write_tensors if is_tensors else chosen.write)
        if not writer:
            raise ValueError(f"format: {format or path!r} is no format of {'tensors' if is_tensors else 'directions'}; "
                             "`hotfiber export --list` has them")
        if chosen and not result._grid.space and chosen.name != b"png" and not path.endswith((".nrrd", ".nhdr")):
            warnings.warn("these results have no affine: the file has the axes of the gradients, and other programs "
                          "will take them for anatomical ones; pass affine= to hotfiber.fibers", HotfiberWarning,
                          stacklevel=2)
        use_fonts()
        write = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(writer)
        context.check(write(context.handle, handle, _text(path)))
