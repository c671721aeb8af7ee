"""Looking at results: a slice with sticks by matplotlib, and what a notebook shows."""
from __future__ import annotations

import base64
import html
import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ._arrays import choice
from ._library import Error, command, use_fonts
from ._types import Axis

if TYPE_CHECKING:
    from ._fields import Fibers

# The two in-plane axes of a slice across the third.
_PLANES = {0: (1, 2), 1: (0, 2), 2: (0, 1), "i": (1, 2), "j": (0, 2), "k": (0, 1)}


def plot(result: Fibers, background: ArrayLike | None = None, *, axis: Axis = "k", index: int | None = None,
         scale: float = 1.0, ax: Any = None) -> Any:
    """Draws one slice of fibre directions with matplotlib, as the viewer does: the patient's right on the left, a
    stick for each fibre in proportion to its fraction, in the colour of its direction (red left-right, green
    front-back, blue up-down), fainter the less certain it is (`Fibers.certainty`, where there is one). Without an
    affine nothing is known of the patient: then the axes are those of the voxels, i, j and k, without letters.

    result: Fibers on a grid of three axes.
    background: (x, y, z) an image to draw on; None = the sum of the fractions. Its grey values span percentiles of the
        slice's voxels in the mask.
    axis: the axis of the voxels that the slice lies across: "i", "j", "k" or 0, 1, 2. index: which slice; None = the
        middle one.
    scale: 1 = a typical fibre, at the upper quartile of the longest of each voxel, is as long as a voxel's smallest
        side, and none is longer than 1.5 times that.
    ax: matplotlib's axes; None = new ones.
    Returns the axes.
    """
    from matplotlib import pyplot
    from matplotlib.collections import LineCollection

    across, up = choice("axis", axis, _PLANES)
    normal = 3 - across - up
    vectors = getattr(result, "vectors", None)
    if vectors is None:
        raise TypeError(f"result: Fibers are needed, not a {type(result).__name__}; hotfiber.peaks makes them")
    if vectors.ndim != 5:
        raise ValueError(f"result: a grid of three axes is needed, not of {vectors.ndim - 2}")
    index = vectors.shape[normal] // 2 if index is None else int(index)
    vectors = np.take(vectors, index, axis=normal).astype(float)
    image = result.fractions.sum(-1) if background is None else np.asarray(background)
    if image.shape != result.nfibers.shape:
        raise ValueError(f"background: its shape is {image.shape}, that of the voxels {result.nfibers.shape}")
    image = np.take(image, index, axis=normal)
    low, high = _window(image, np.take(result.nfibers if result.mask is None else result.mask, index, axis=normal) > 0)
    longest = np.linalg.norm(result.vectors, axis=-1).max(-1)
    typical = np.percentile(longest[longest > 0], 75, method="lower") if (longest > 0).any() else 1
    full = np.maximum(typical, np.take(longest, index, axis=normal) / 1.5)[..., None, None]

    # Sticks in units of voxels, so that they lie right in oblique grids and in those of unequal spacing.
    spacing = np.linalg.norm(result.affine[:3, :3], axis=0)
    voxels = vectors / full @ np.linalg.inv(result.affine[:3, :3]).T * spacing.min()
    present = (vectors != 0).any(-1)
    place = np.stack(np.meshgrid(*map(np.arange, image.shape), indexing="ij"), axis=-1)
    place = np.broadcast_to(place[:, :, None], present.shape + (2,))[present]
    across, up = _upright(result.affine, normal)
    if across > up:
        image, place = image.T, place[:, ::-1]
    half = voxels[present][:, [across, up]] * scale / 2
    lengths = np.linalg.norm(vectors[present], axis=-1, keepdims=True)
    if ax is None:
        ax = pyplot.subplots()[1]
    ax.imshow(image.T, cmap="gray", origin="lower", vmin=low, vmax=low + 1.5 * max(high - low, 1e-12),
              interpolation="nearest")
    certainty = getattr(result, "certainty", None)
    shown = np.ones(present.shape) if certainty is None else np.take(certainty, index, axis=normal)
    ax.add_collection(LineCollection(np.stack([place - half, place + half], axis=1), colors=np.concatenate(
        [np.abs(vectors[present]) / np.where(lengths > 0, lengths, 1), shown[present][:, None]], axis=1)))
    ax.set_aspect(spacing[up] / spacing[across])
    title = f"{'ijk'[normal]} = {index}"
    if result._grid.space:
        title = _turn_upright(ax, result.affine, across, up, normal) + title
    else:
        ax.set_xlabel(f"{'ijk'[across]}  →")
        ax.set_ylabel(f"{'ijk'[up]}  →")
    ax.set_title(title)
    meaning = "length: fraction; faint: doubtful number or direction" if certainty is not None else "length: fraction"
    ax.text(1.01, .5, meaning, transform=ax.transAxes, ha="left", va="center", rotation=90, fontsize="x-small")
    return ax


def _window(image, inside):
    """The grey values of black and white: percentiles of the voxels inside, so that eyes, fat or a ventricle do not
    darken the tissue."""
    finite = np.isfinite(image)
    chosen = image[finite & inside] if (finite & inside).any() else image[finite]
    return np.percentile(chosen, (2, 85)) if chosen.size else (0, 1)


def _turn_upright(ax, affine, across, up, normal):
    """RAS letters at the edges: the patient's right is on the left, anterior or superior is up. Returns how the title
    begins: the plane's name."""
    left, bottom = _letters(affine, across), _letters(affine, up)
    if left[0] not in "RA":
        left = left[::-1]
        ax.invert_xaxis()
    if bottom[0] in "AS":
        bottom = bottom[::-1]
        ax.invert_yaxis()
    ax.set_xlabel(f"{left[0]}  ←  {'ijk'[across]}  →  {left[1]}")
    ax.set_ylabel(f"{bottom[0]}  ←  {'ijk'[up]}  →  {bottom[1]}")
    return f"{_PLANE_NAMES[_world(affine)[normal]]}, "


_PLANE_NAMES = ("sagittal", "coronal", "axial")  # by the world's axis that the slice lies across


def _world(affine):
    """For each axis of the voxels the axis of the world (x, y, z) that it runs along: all different, and as close as
    can be."""
    import itertools

    cosines = np.abs(affine[:3, :3]) / np.linalg.norm(affine[:3, :3], axis=0)
    return max(itertools.permutations(range(3)), key=lambda world: sum(cosines[w, a] for a, w in enumerate(world)))


def _upright(affine, normal):
    """The axes of the voxels to the right and up, in the slice across `normal`."""
    world = _world(affine)
    return sorted((axis for axis in range(3) if axis != normal), key=lambda axis: world[axis])


def _letters(affine, axis):
    """What lies at the low and the high end of an axis: "LR"."""
    world = _world(affine)[axis]
    ends = ("LR", "PA", "IS")[world]
    return ends if affine[world, axis] > 0 else ends[::-1]


def view(*results: Any, wait: bool = True, block: bool = True, **options: Any) -> Any:
    """Opens the viewer (`hotfiber view`) on results, or draws a picture with it.

    results: Fibers, TensorFields, and paths of further files.
    wait: until its window is closed. Else the files it reads are left to the folder of temporary files.
    block: False = returns a LiveView at once, whose update(...) shows new slices while they are computed: results are
        Fibers or a TensorField, also of zeros, and images (x, y, z) on its grid.
    options: those of `hotfiber view --help`: view(result, screenshot="a.png", size="640x480", plane="coronal"). For
        the content of an ambiguous file: as_="peaks".
    Returns the process, or a LiveView. Pictures need EGL; windows need X or XWayland, and OpenGL 3.3. Raises Error that
    says what is missing.
    """
    import shutil
    import subprocess
    import tempfile

    from ._fields import TensorField
    from ._pipeline import export

    if not block:
        from ._live import LiveView

        return LiveView(results, options)
    use_fonts()
    folder = tempfile.mkdtemp(prefix="hotfiber-view-")
    try:
        files = []
        for number, result in enumerate(results):
            if isinstance(result, (str, os.PathLike)):
                files.append(os.fspath(result))
                continue
            kind = "tensors" if isinstance(result, TensorField) else "peaks"
            files.append(os.path.join(folder, f"{kind}_{number}.nrrd"))
            export(result, files[-1], None if kind == "tensors" else kind)
        arguments = [command(), "view"] + files
        for name, value in options.items():
            arguments += [f"--{name.rstrip('_')}"] + ([] if value is True else [str(value)])
        process = subprocess.Popen(arguments, stderr=subprocess.PIPE if wait else None, text=True)
        if wait:
            errors = process.communicate()[1]
            if process.returncode != 0:
                raise Error(errors.strip() or f"the viewer ended with status {process.returncode}")
        return process
    finally:
        if wait:
            shutil.rmtree(folder, ignore_errors=True)


def picture(fibers):
    """The bytes of a PNG: the three middle slices, as `hotfiber run` draws them."""
    import tempfile

    from ._pipeline import export

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "fibers.png")
        export(fibers, path, "png")
        with open(path, "rb") as file:
            return file.read()


def table(title, rows):
    """A small table in HTML."""
    lines = "".join(f"<tr><th style='text-align:left'>{html.escape(name)}</th><td>{html.escape(str(value))}</td></tr>"
                    for name, value in rows)
    return f"<b>{html.escape(title)}</b><table>{lines}</table>"


def image_tag(png):
    return f'<img style="max-width:100%" src="data:image/png;base64,{base64.b64encode(png).decode()}">'
