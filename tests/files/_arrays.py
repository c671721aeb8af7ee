"""Shared by the tests of the commands that work on arrays: NRRD made and read here byte by byte, checks counted."""
import os

import numpy as np

from _check import check, end  # noqa: F401

HOTFIBER = os.environ["HOTFIBER"]
TYPES = {"double": "<f8", "float": "<f4", "short": "<i2"}


def nrrd(array, kind="double", order="F"):
    """An array as NRRD. order F: axes as numpy has them, C: in reverse."""
    array = np.asarray(array)
    sizes = " ".join(map(str, array.shape if order == "F" else array.shape[::-1]))
    head = f"NRRD0004\ntype: {kind}\ndimension: {array.ndim}\nsizes: {sizes}\nencoding: raw\nendian: little\n\n"
    return head.encode() + array.astype(TYPES[kind]).tobytes(order=order)


def read(data, order="F"):
    """The array of an NRRD and the name of its type."""
    head, body = data.split(b"\n\n", 1)
    fields = dict(line.split(": ", 1) for line in head.decode().split("\n")
                  if ": " in line and not line.startswith("#"))
    shape = [int(s) for s in fields["sizes"].split()]
    values = np.frombuffer(body, TYPES[fields["type"]])
    return values.reshape(shape if order == "F" else shape[::-1], order=order), fields["type"]
