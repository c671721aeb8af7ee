"""Every sentence of a public header that promises something has a test. promises.txt has a row for each: a checksum of
the sentence, its tests, its first words. A new or changed sentence fails here, so that its test is reviewed; then

    python3 tests/promises/promises.py --update

adds it to the list with the tests of the row that it replaces, or `none`. The check fails for a test that does not
exist, and prints the number of sentences without one."""
import hashlib
import os
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
LIST = SOURCE / "tests/promises/promises.txt"
HEADERS = ["kernels/include/hotfiber", "plugin/include/hotfiber", "viz/include/hotfiber"]
PROMISE = re.compile(
    r"\b(always|never|within|at most|at least|bit for bit|exactly|NULL|0 =|negative =|no more|up to|only|same|"
    r"not depend|not affected|NaN|accepted|valid until|[Oo]wne[dr]|copied|ascending|descending|units?|s/mm\^2|mm|"
    r"degrees|largest|below|above|refused|HOT_ERROR_\w+|reads? only|any number of threads)\b", re.I)


def sentences(text):
    """Of the comments of a header, in order."""
    for comment in re.findall(r"/\*(.*?)\*/", text, re.S):
        words = " ".join(re.sub(r"\n\s*\*? ?", " ", comment).split())
        for sentence in re.split(r"(?<=[.;:])\s+(?=[A-Z(])", words):
            if PROMISE.search(sentence) and len(sentence) > 12:
                yield sentence


def promised():
    """{header: {checksum: sentence}}"""
    found = {}
    for folder in HEADERS:
        for path in sorted((SOURCE / folder).glob("*.h")):
            found[str(path.relative_to(SOURCE))] = {
                hashlib.sha256(s.encode()).hexdigest()[:8]: s for s in sentences(path.read_text())}
    return found


def read():
    """{header: {checksum: [tests, first words]}}"""
    kept, header = {}, None
    for line in LIST.read_text().splitlines() if LIST.exists() else []:
        if line.endswith(".h"):
            header = kept.setdefault(line, {})
        elif line and not line.startswith("#"):
            checksum, tests, words = line.strip().split(" ", 2)
            header[checksum] = [tests, words]
    return kept


def first_words(sentence):
    return sentence if len(sentence) <= 60 else sentence[:60].rsplit(" ", 1)[0] + " ..."


def update(found, kept):
    lines = ["# Made by promises.py --update; the tests are filled in by hand.",
             "# checksum, tests (`none`: a gap; `by-types`: the compiler sees it;",
             "# `caller`: what the caller must do, or the result is undefined;",
             "# `gpu`: on GPU machines), first words of the sentence"]
    for header, rows in found.items():
        old = kept.get(header, {})
        by_words = {words: tests for tests, words in old.values()}
        lines += ["", header]
        for checksum, sentence in rows.items():
            words = first_words(sentence)
            tests = old[checksum][0] if checksum in old else by_words.get(words, "none")
            lines.append("    %s %s %s" % (checksum, tests, words))
    LIST.write_text("\n".join(lines) + "\n")


def main():
    found, kept = promised(), read()
    if "--update" in sys.argv:
        update(found, kept)
        return 0
    failures = 0
    for header in sorted(set(found) | set(kept)):
        new, old = found.get(header, {}), kept.get(header, {})
        for checksum in new.keys() - old.keys():
            failures += 1
            print("%s: no test is named in tests/promises/promises.txt: %s" % (header, new[checksum]))
        for checksum in old.keys() - new.keys():
            failures += 1
            print("%s: is not said any more: %s %s" % (header, checksum, old[checksum][1]))
    known, build = {"none", "by-types", "caller", "gpu"}, os.environ.get("HOT_BUILD")
    if build:
        shown = subprocess.run(["ctest", "--test-dir", build, "-N"], capture_output=True, text=True).stdout
        known |= set(re.findall(r"Test +#\d+: (\S+)", shown))
    rows = [tests for header in kept.values() for tests, _ in header.values()]
    for name in sorted({name for tests in rows for name in tests.split(",")} - known) if build else []:
        failures += 1
        print("tests/promises/promises.txt: there is no test %s" % name)
    print("%d sentences promise something, %d have no test; of the others %d are about a GPU, %d the caller's duties" %
          (len(rows), rows.count("none"), rows.count("gpu"), rows.count("caller")))
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
