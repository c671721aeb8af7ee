"""Which functions does a test call? Puts a statement at the head of every function of a copy of C sources. It sets a
number in a table that all libraries and programs of the build map from one file: the file that the environment variable
HOT_PROBES names. It costs a store, so that tests take about their usual time, and nothing is lost when a process is
killed."""
import array
import collections
import subprocess

import mutate

VARIABLE = "HOT_PROBES"
Function = collections.namedtuple("Function", "number begin end")  # the offsets of its brackets

HEADER = """extern __attribute__((visibility("hidden"))) short hot_probe_table[];
"""
TABLE = """
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
__attribute__((visibility("hidden"), aligned(4096))) short hot_probe_table[%d];
__attribute__((constructor(101))) static void map(void)
{
    const char *name = getenv("HOT_PROBES");
    const int file = name ? open(name, O_RDWR | O_CLOEXEC) : -1;
    if (file >= 0 && mmap(hot_probe_table, sizeof hot_probe_table, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                          0) == MAP_FAILED)
        abort();
}
"""
# A compiler launcher: each unit knows the table.
LAUNCHER = """case " $* " in
*" -c "*) exec %s "$@" -include %s ;;
*) exec "$@" ;;
esac
"""


def functions(texts):
    """{file: [Function]}: the bodies in it, numbered through all files."""
    found, number = {}, 0
    for file in sorted(texts):
        found[file] = []
        words = mutate.tokens(texts[file])
        depth, begin, first, kinds = 0, None, 0, set()  # kinds: words of the declaration
        for i, (kind, at, word) in enumerate(words):
            kinds = kinds | {word} if depth == 0 and word not in ";}" else set()
            if word == "{":
                if depth == 0 and i and words[i - 1][0] == "string":  # extern "C"
                    continue
                if depth == 0 and i and words[i - 1][2] == ")" and "typedef" not in kinds:
                    begin, first = at, i
                depth += 1
            elif word == "}" and depth:
                depth -= 1
                if depth == 0 and begin is not None:
                    if any(sign == ";" for _, _, sign in words[first:i]):  # no macro that is a list of values
                        found[file].append(Function(number, begin, at))
                        number += 1
                    begin = None
    return found


def put(text, places):
    for place in reversed(places):
        text = "%s{ hot_probe_table[%d] = 1;%s" % (text[:place.begin], place.number, text[place.begin + 1:])
    return text


def size(found):
    """Of the table, in bytes: whole pages."""
    return -(-2 * sum(map(len, found.values())) // 4096) * 4096


def prepare(folder, found, ccache):
    """Writes the header, the launcher and the table, which every library and program is linked with; gives the launcher
    and the table's object."""
    header, table, launcher = folder / "probes.h", folder / "probes.c", folder / "probe.sh"
    for path, text in ((header, HEADER), (table, TABLE % (size(found) // 2)),
                       (launcher, LAUNCHER % (" ".join(ccache), header))):
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    subprocess.run(["cc", "-O2", "-fPIC", "-c", table, "-o", table.with_suffix(".o")], check=True)
    return launcher, table.with_suffix(".o")


def read(path):
    table = array.array("h", path.read_bytes())
    return {number for number, called in enumerate(table) if called}
