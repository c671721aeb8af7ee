"""A reader of attached NRRD files that shares nothing with the program: header as a dict, samples as numpy."""
import gzip
import re

import numpy as np

TYPES = {"float": "f4", "double": "f8", "unsigned short": "u2", "ushort": "u2", "uint16": "u2", "short": "i2",
         "unsigned char": "u1", "uchar": "u1", "uint8": "u1", "int": "i4", "unsigned int": "u4"}


def vectors(text):
    """"(1,0,0) none (0,1,0)" -> list of arrays and None."""
    return [None if part == "none" else np.array([float(x) for x in part.strip("()").split(",")])
            for part in re.findall(r"none|\([^)]*\)", text)]


def read(path):
    """(header, keys, samples): samples[axis 0][axis 1]... in the file's axis order."""
    with open(path, "rb") as file:
        raw = file.read()
    end = raw.index(b"\n\n")
    header, keys = {}, {}
    for line in raw[:end].decode().splitlines()[1:]:
        if line.startswith("#"):
            continue
        if ":=" in line:
            name, value = line.split(":=", 1)
            keys[name] = value
        else:
            name, value = line.split(": ", 1)
            header[name] = value
    data = raw[end + 2:]
    if header["encoding"] == "gzip":
        data = gzip.decompress(data)
    kind = np.dtype(TYPES[header["type"]]).newbyteorder("<" if header.get("endian", "little") == "little" else ">")
    sizes = [int(n) for n in header["sizes"].split()]
    return header, keys, np.frombuffer(data, kind, int(np.prod(sizes))).reshape(sizes, order="F")


def scheme(header, keys, volumes):
    """b-values and world gradients: lengths code b, the measurement frame's vectors are columns."""
    frame = np.stack(vectors(header.get("measurement frame", "(1,0,0) (0,1,0) (0,0,1)")), axis=1)
    g = np.array([[float(x) for x in keys["DWMRI_gradient_%04d" % v].split()] for v in range(volumes)]) @ frame.T
    length = np.linalg.norm(g, axis=1)
    b = float(keys["DWMRI_b-value"]) * (length / length.max()) ** 2
    return b, np.divide(g, length[:, None], out=np.zeros_like(g), where=length[:, None] > 0)
