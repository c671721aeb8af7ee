"""exp, exp2, log, log2 and pow as glibc had them before 2.29, so that a wheel starts where glibc is older.

glibc 2.29 gave these five functions a second version that reports errors by errno alone; the computation is the same.
A linker takes the newest version, and the loader of an older glibc then refuses the file, often for nothing else. Here
the requirement for GLIBC_2.29 of libm becomes one for the first version of the architecture, which every glibc has."""
import os
import shutil
import struct
import subprocess

FUNCTIONS = {"exp", "exp2", "log", "log2", "pow"}
NEW = b"GLIBC_2.29"
OLD = {62: b"GLIBC_2.2.5", 183: b"GLIBC_2.17"}  # x86-64, AArch64: the machine in the header of ELF


def elf_hash(name):
    """The hash of a version's name (System V ABI, 'Hash Table')."""
    value = 0
    for byte in name:
        value = (value << 4) + byte
        value = (value ^ (value & 0xf0000000) >> 24) & 0x0fffffff
    return value


class Elf:
    """The parts of a little-endian 64-bit ELF file that versions of symbols are in."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = bytearray(file.read())
        self.machine, = struct.unpack_from("<H", self.data, 18)
        offset, = struct.unpack_from("<Q", self.data, 40)
        size, count = struct.unpack_from("<HH", self.data, 58)
        self.sections = [struct.unpack_from("<IIQQQQIIQQ", self.data, offset + size * i) for i in range(count)]

    def section(self, kind):
        """Offset, size, string table and number of entries of the first section of this type."""
        for _, found, _, _, offset, size, link, info, _, _ in self.sections:
            if found == kind:
                return offset, size, self.sections[link][4:6] if link < len(self.sections) else None, info
        return None

    def text(self, strings, at):
        begin = strings[0] + at
        return bytes(self.data[begin:self.data.index(b"\0", begin)])

    def needs(self):
        """For each version that is needed: library, version, the index that symbols have, where its entry is."""
        found = self.section(0x6ffffffe)  # SHT_GNU_verneed
        if not found:
            return
        at, _, strings, count = found
        for _ in range(count):
            _, entries, file, first, following = struct.unpack_from("<HHIII", self.data, at)
            entry = at + first
            for _ in range(entries):
                _, _, index, name, step = struct.unpack_from("<IHHII", self.data, entry)
                yield self.text(strings, file), self.text(strings, name), index, entry
                entry += step
            at += following

    def symbols(self, wanted):
        """Names of the dynamic symbols with this index of a version."""
        offset, size, strings, _ = self.section(11)  # SHT_DYNSYM
        versions = self.section(0x6fffffff)[0]  # SHT_GNU_versym
        for i in range(size // 24):
            if struct.unpack_from("<H", self.data, versions + 2 * i)[0] & 0x7fff == wanted:
                yield self.text(strings, struct.unpack_from("<I", self.data, offset + 24 * i)[0]).decode()


def is_elf(path):
    with open(path, "rb") as file:
        start = file.read(6)
    return start == b"\x7fELF\x02\x01"


def use_old_libm(path):
    """Changes the file, and returns whether there was something to change."""
    elf = Elf(path)
    for library, version, index, entry in elf.needs():
        if not library.startswith(b"libm.so") or version != NEW:
            continue
        others = set(elf.symbols(index)) - FUNCTIONS
        if others:
            return False  # functions that are new in 2.29, or that compute otherwise
        old = OLD[elf.machine]
        start, size = elf.section(0x6ffffffe)[2]
        name = elf.data.find(b"\0" + old + b"\0", start, start + size)
        if name < 0:
            return False
        struct.pack_into("<I", elf.data, entry, elf_hash(old))
        struct.pack_into("<I", elf.data, entry + 8, name + 1 - start)
        with open(path, "r+b") as file:
            file.write(elf.data)
        return True
    return False


def needed_libraries(files):
    """The shared libraries that these files load, and those that they load in turn: name and path."""
    found = {}
    for file in files:
        told = subprocess.run(["ldd", file], stdout=subprocess.PIPE, text=True, check=True).stdout
        for line in told.splitlines():
            words = line.split()
            if len(words) > 2 and words[1] == "=>" and words[2].startswith("/"):
                found[words[0]] = words[2]
    return found


def copy_libraries(files, folder):
    """Puts copies of those libraries of these files that had to be changed into the folder."""
    os.makedirs(folder, exist_ok=True)
    for name, path in needed_libraries(files).items():
        copy = os.path.join(folder, name)
        shutil.copy(path, copy)
        if not use_old_libm(copy):
            os.remove(copy)
