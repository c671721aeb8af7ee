"""A window that shows results while they are computed."""
from __future__ import annotations

import copy
import os
import subprocess
import tempfile
from typing import Any, Union

import numpy as np
from numpy.typing import ArrayLike

from ._fields import Fibers, Grid, TensorField
from ._library import Error, command, use_fonts

Shown = Union[Fibers, TensorField, ArrayLike]


class LiveView:
    """The window of `view(..., block=False)`. It is a separate process: closing it changes nothing here, and it stays
    when Python ends. In a `with` statement it is closed at the end."""

    def __init__(self, results: tuple, options: dict) -> None:
        fields = [result for result in results if isinstance(result, (Fibers, TensorField))]
        if not fields:
            raise TypeError("results: with block=False Fibers or a TensorField is needed, and images on its grid, no "
                            "files")
        if "screenshot" in options:
            raise TypeError("screenshot: with block=True")
        self.shape: tuple[int, ...] = fields[0]._grid.shape
        self._affine = fields[0].affine
        if len(self.shape) != 3:
            raise ValueError(f"results: a grid of three axes is needed, not of {len(self.shape)}")
        use_fonts()
        arguments = [command(), "view", "-"]
        for name, value in options.items():
            arguments += [f"--{name.rstrip('_')}"] + ([] if value is True else [str(value)])
        self._errors = tempfile.TemporaryFile()
        self._process: Any = subprocess.Popen(arguments, stdin=subprocess.PIPE,
                                              stdout=subprocess.DEVNULL, stderr=self._errors)
        try:
            for result in results:
                self.update(result)
        except BaseException:
            self.close()
            raise

    def update(self, result: Shown, first: int = 0) -> None:
        """Shows new values of some slices.

        result: Fibers or a TensorField like those that the view was opened with, or an image (x, y, slices), of all
            slices or of some; its affine does not count.
        first: the number of its first slice along the third axis.
        Returns when they are handed over, at once unless the viewer is stopped. After the window was closed it does
        nothing. Raises Error if the viewer could not open a window.
        """
        is_field = isinstance(result, (Fibers, TensorField))
        image = None if is_field else np.asarray(result, np.float32)
        shape = result._grid.shape if is_field else image.shape  # type: ignore[union-attr]
        if len(shape) != 3 or shape[:2] != self.shape[:2] or not 0 <= first <= self.shape[2] - shape[2]:
            raise ValueError(f"result: {shape} voxels from slice {first} on are not slices of a grid of {self.shape}")
        affine = self._affine.copy()
        affine[:3, 3] += first * affine[:3, 2]
        self._send(_field(result, Grid(shape, affine)) if is_field else _image(image, affine))

    @property
    def is_open(self) -> bool:
        """Whether the window is open, or about to be."""
        return self._process.poll() is None

    def close(self) -> None:
        """Closes the window unless the user has."""
        try:
            self._process.stdin.close()
        except BrokenPipeError:
            pass
        if self._process.poll() is None:
            self._process.terminate()
        self._process.wait()

    def __enter__(self) -> LiveView:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def _send(self, data):
        if self._process.stdin.closed:  # by close()
            return
        try:
            self._process.stdin.write(data)
            self._process.stdin.flush()
        except BrokenPipeError:
            if self._process.wait() != 0:
                self._errors.seek(0)
                lines = self._errors.read().decode(errors="replace").strip()
                raise Error(lines or f"the viewer ended with status {self._process.returncode}") from None


def _field(result, grid):
    """The bytes of an NRRD."""
    from ._pipeline import export

    placed = copy.copy(result)
    placed._grid = grid
    with tempfile.TemporaryDirectory(prefix="hotfiber-view-") as folder:
        path = os.path.join(folder, "field.nrrd")
        export(placed, path, None if isinstance(result, TensorField) else "peaks")
        with open(path, "rb") as file:
            return file.read()


def _image(values, affine):
    vector = lambda v: "(" + ",".join(repr(float(x)) for x in v) + ")"  # noqa: E731
    header = ["NRRD0005", "type: float", "dimension: 3", "space: right-anterior-superior",
              "sizes: " + " ".join(map(str, values.shape)),
              "space directions: " + " ".join(vector(affine[:3, axis]) for axis in range(3)),
              "kinds: space space space", "endian: little", "encoding: raw", 'space units: "mm" "mm" "mm"',
              "space origin: " + vector(affine[:3, 3]), "hotfiber_content:=map"]
    return ("\n".join(header) + "\n\n").encode() + values.astype("<f4").tobytes(order="F")
