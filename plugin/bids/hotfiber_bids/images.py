"""The little that is read of images and b-values before hotfiber reads them: how many volumes, whether all are b=0."""
import gzip
import os
import stat
import struct
import zlib

# b-values are a line of text; a file that is larger is none of them.
LARGEST = 1 << 20


def open_regular(path):
    """A file for reading; a device or a pipe, which would block or never end, is a ValueError."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise ValueError("no regular file")
    return os.fdopen(handle, "rb")


def volumes(path):
    """The number of volumes of a NIfTI-1 or NIfTI-2 file, compressed or not. Raises ValueError for other files."""
    try:
        with open_regular(path) as file:
            head = (gzip.GzipFile(fileobj=file) if path.endswith(".gz") else file).read(540)
    except (EOFError, zlib.error):
        raise ValueError("truncated")
    for order in "<>":
        size = struct.unpack_from(order + "i", head)[0] if len(head) >= 348 else 0
        dim = None
        if size == 348:
            dim = struct.unpack_from(order + "8h", head, 40)
        elif size == 540 and len(head) >= 540:
            dim = struct.unpack_from(order + "8q", head, 16)
        if dim and 1 <= dim[0] <= 7:
            count = 1
            for axis in range(4, dim[0] + 1):
                count *= max(dim[axis], 1)
            return count
    raise ValueError("no NIfTI")


def b_values(path, column=None):
    """The numbers of a .bval, or of one column of MRtrix's table. Raises ValueError for other text."""
    with open_regular(path) as file:
        text = file.read(LARGEST + 1)
    if len(text) > LARGEST:
        raise ValueError("too large")
    lines = [line for line in (line.split(b"#")[0].split() for line in text.splitlines()) if line]
    if column is not None and any(len(line) <= column for line in lines):
        raise ValueError("too few columns")
    return [float(word) for line in lines for word in (line if column is None else [line[column]])]
