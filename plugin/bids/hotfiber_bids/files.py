"""Crash-safe files, and the removal of the temporary files of killed calls."""
import contextlib
import fcntl
import json
import os
import random
import re
import shutil

from . import text

# As hotfiber names its own: locked while somebody writes it.
TEMPORARY = re.compile(r"\.part-\d+-\d+-(.+)", re.DOTALL)


def temporary(path):
    """A hidden name in the folder of a path."""
    folder, name = os.path.split(path)
    return os.path.join(folder, f".part-{os.getpid()}-{random.SystemRandom().randrange(1 << 32)}-{name}")


def sweep(folder, matches):
    """Removes temporary files of a folder whose final name `matches` and that no process uses. Without locks that is
    unknown, and nothing is removed."""
    for name in os.listdir(folder) if os.path.isdir(folder) else []:
        found, path = TEMPORARY.fullmatch(name), os.path.join(folder, name)
        if not found or not matches(found.group(1)) or os.path.islink(path):
            continue
        with contextlib.suppress(OSError):
            handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
            finally:
                os.close(handle)


def write_text(path, content):
    """The file appears whole or not at all."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    name = temporary(path)
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            with contextlib.suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            file.write(content)
            file.flush()
            os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def write_json(path, about):
    write_text(path, json.dumps(about, indent=2, ensure_ascii=False) + "\n")


def read_json(path):
    """The content of the file; None if it is missing or damaged."""
    try:
        return text.read_json(path)
    except (OSError, ValueError):
        return None


def move(source, target):
    """Across file systems as well; the target appears whole."""
    os.makedirs(os.path.dirname(target), exist_ok=True)
    beside = temporary(target)
    try:
        shutil.move(source, beside)
        if os.path.isdir(beside):
            shutil.rmtree(target, ignore_errors=True)
        os.replace(beside, target)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise
