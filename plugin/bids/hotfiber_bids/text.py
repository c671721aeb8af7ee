"""Texts and JSON of others: read within bounds, and shown so that they can do nothing to a terminal."""
import json

from . import images

# Bytes of a .json, and characters of a line that is shown.
LARGEST, LONGEST = 16 << 20, 1000


def shown(value):
    """In one line, with unprintable characters escaped."""
    text = "".join(c if c.isprintable() else f"\\x{ord(c) & 0xff:02x}" if 0xdc80 <= ord(c) < 0xdd00 or ord(c) < 256
                   else f"\\u{ord(c):04x}" for c in str(value))
    return text if len(text) <= LONGEST else text[:LONGEST] + f" ... ({len(text)} characters)"


def read_json(path):
    """The content of a file. Raises OSError and ValueError."""
    with images.open_regular(path) as file:
        text = file.read(LARGEST + 1)
    if len(text) > LARGEST:
        raise ValueError("larger than 16 MiB")
    try:
        return json.loads(text.decode("utf-8-sig"))
    except RecursionError:
        raise ValueError("nested too deeply")
