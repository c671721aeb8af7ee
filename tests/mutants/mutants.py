"""Do the tests see a fault? Applies one-line faults to a copy of the sources, builds, and runs the tests that should
see them.

    python3 tests/mutants/mutants.py [--short] [--only WORD] [--every N] [--folder DIR] [--configure OPTIONS]
                                     [--jobs N] [--results FILE] [--share K/N] [--unchecked] [--unconfined]
    python3 tests/mutants/mutants.py --check    only whether every line that is named stands where it should

mutants.txt has them: a file with the tests to run (regular expressions of ctest), then `- what stands there` and
`+ what is put in its place`, wherever it stands. A line of `short` before marks those of --short.
--share K/N: the K-th of N shares of the list, so that several copies (--folder, --results of their own) go on side by
side. --unchecked: the tests are not run without a fault first, as another share does that. --unconfined: programs are
not shut in; for a machine that is thrown away afterwards. With --results the outcomes are added to a file, and what
stands there already is not tried again: so a long list can be worked through in pieces. Prints a line for each, and
the share that was caught; status 1 when one survived that is not marked `survives`."""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
UNCONFINED = "--unconfined" in sys.argv[1:]


def read_list():
    mutants, short, reason = [], False, None
    for number, line in enumerate((SOURCE / "tests/mutants/mutants.txt").read_text().splitlines(), 1):
        if line.startswith("- "):
            old = line[2:]
        elif line.startswith("+ ") or line == "+":
            mutants.append({"file": name, "tests": tests, "old": old, "new": line[2:], "short": short,
                            "survives": reason})
            short, reason = False, None
        elif line == "short":
            short = True
        elif line.startswith("survives: "):
            reason = line[10:]
        elif line and not line.startswith("#"):
            name, tests = line.split(": ", 1)
    return mutants


def targets_of(tests):
    """Programs that these tests run; scripts run the command."""
    wanted = set()
    for test in tests.split("|"):
        program = re.match(r"(unit|viz)_\w+|kernels_checker|kernels_\w+|property_directions", test)
        wanted.add("test_" + program.group(0) if program else "hotfiber_command")
    return sorted(wanted)


# A faulty program may delete what it should not: one whose sweeper took too much has emptied /tmp. Programs with a
# fault have a /tmp of their own, and can write nowhere but there and in the copy.
SHUT_IN = """
mount --make-rprivate / && mount --bind "$1" "$1" && mount -t tmpfs none /tmp || exit 1
while read -r device place kind rest; do
    case $place in
    "$1" | /tmp | /proc* | /sys* | /dev*) ;;
    *) mount -o remount,ro,bind "$place" || exit 1 ;;
    esac
done </proc/self/mounts
shift
exec "$@"
"""


def shut_in(folder, words):
    return words if UNCONFINED else ["unshare", "-m", "sh", "-c", SHUT_IN, "sh", str(folder), *words]


def call(words, log, limit):
    with open(log, "w") as file:
        try:
            return subprocess.run(words, stdout=file, stderr=subprocess.STDOUT, timeout=limit).returncode
        except subprocess.TimeoutExpired:
            return -1


def what_of(mutant):
    return "%s: %s -> %s" % (mutant["file"], mutant["old"].strip(), mutant["new"].strip())


def read_results(path):
    if not path or not os.path.exists(path):
        return {}
    with open(path) as file:
        return {what: result for result, what in (line.rstrip("\n").split("\t", 1) for line in file)}


def summary(outcomes):
    """Those that are expected to survive are no part of what should be caught."""
    number = {name: outcomes.count(name) for name in ("caught", "survives", "SURVIVED", "does not build")}
    asked = number["caught"] + number["SURVIVED"]
    print("%d faults: %d caught (%.1f %% of %d), %d survived, %d expected to, %d could not be built" % (
        len(outcomes), number["caught"], 100 * number["caught"] / max(1, asked), asked, number["SURVIVED"],
        number["survives"], number["does not build"]))
    return number["SURVIVED"] + number["does not build"] > 0


def names():
    """What git has, or, where there is no git, whatever lies here beside what was built."""
    try:
        files = subprocess.run(["git", "ls-files", "-z"], cwd=SOURCE, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, check=True).stdout
        return files.decode().split("\0")[:-1]
    except (OSError, subprocess.CalledProcessError):
        return [str(path.relative_to(SOURCE)) for path in sorted(SOURCE.rglob("*"))
                if path.is_file() and not path.relative_to(SOURCE).parts[0].startswith(("build", ".", "shared"))]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--folder", default=str(SOURCE / "build-mutants"), help="for the copy; not in /tmp")
    parser.add_argument("--configure", default="-DHOTFIBER_CUDA=OFF", help="options of cmake")
    parser.add_argument("--jobs", default=str(os.cpu_count()))
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--results", help="a file that keeps the outcomes")
    parser.add_argument("--every", type=int, default=1, help="a sample: every N-th")
    parser.add_argument("--share", default="1/1", help="K/N: the K-th of N shares")
    parser.add_argument("--unchecked", action="store_true", help="the tests pass without a fault: known")
    parser.add_argument("--unconfined", action="store_true", help="on a machine that is thrown away")
    given = parser.parse_args()
    if given.check:
        gone = [m for m in read_list() if m["old"] not in (SOURCE / m["file"]).read_text()]
        for m in gone:
            print("tests/mutants/mutants.txt: not in %s: %s" % (m["file"], m["old"]))
        print("%d faults, %d out of date" % (len(read_list()), len(gone)))
        return len(gone) > 0
    folder = pathlib.Path(given.folder)
    copy, build, log = folder / "source", folder / "source/build", folder / "log.txt"
    copy.mkdir(parents=True, exist_ok=True)
    if call(shut_in(folder, ["test", "-d", str(copy)]), log, 60) != 0:
        sys.exit("faulty programs are run where they can do no harm: that takes root (unshare, mount) and a --folder "
                 "that is not in /tmp")
    for name in names():
        to, new = copy / name, (SOURCE / name).read_bytes()
        to.parent.mkdir(parents=True, exist_ok=True)
        if not to.exists() or to.read_bytes() != new:  # times of what is the same stay: little is built again
            to.write_bytes(new)
            to.chmod((SOURCE / name).stat().st_mode)
    chosen = [m for m in read_list() if (m["short"] or not given.short) and given.only in m["file"] + m["old"]]
    chosen = chosen[::given.every]
    share, shares = map(int, given.share.split("/"))
    chosen = chosen[share - 1::shares]
    kept = read_results(given.results)
    earlier = [kept[what_of(m)] for m in chosen if what_of(m) in kept]
    chosen = [m for m in chosen if what_of(m) not in kept]
    if not chosen:
        return summary(earlier)
    targets = sorted({target for m in chosen for target in targets_of(m["tests"])})
    build_all = ["cmake", "--build", str(build), "-j", given.jobs, "--target"]
    if call(["cmake", "-S", str(copy), "-B", str(build), "-DCMAKE_BUILD_TYPE=Release", *given.configure.split()], log,
            600) != 0 or call(build_all + targets, log, 7200) != 0:
        sys.exit("the copy cannot be built: see %s" % log)
    every = "|".join("^(%s)$" % m for m in sorted({m["tests"] for m in chosen}))
    if not given.unchecked and call(["ctest", "--test-dir", str(build), "-R", every, "-j", given.jobs], log, 7200) != 0:
        sys.exit("tests fail without any fault: see %s" % log)
    outcomes = earlier
    for mutant in chosen:
        path = copy / mutant["file"]
        text = path.read_text()
        what = what_of(mutant)
        if mutant["old"] not in text:
            sys.exit("out of date: %s" % what)
        path.write_text(text.replace(mutant["old"], mutant["new"]))
        begin = time.monotonic()
        try:
            if call(build_all + targets_of(mutant["tests"]), log, 3600) != 0:
                result = "does not build"
            elif call(shut_in(folder, ["ctest", "--test-dir", str(build), "-R", "^(%s)$" % mutant["tests"], "-j",
                                       given.jobs, "--stop-on-failure", "--timeout", "600"]), log, 3600) != 0:
                result = "caught"
            else:
                result = "survives" if mutant["survives"] else "SURVIVED"
        finally:
            path.write_text(text)
        outcomes.append(result)
        print("%-8s %4.0f s  %s  [%s]" % (result, time.monotonic() - begin, what, mutant["tests"]), flush=True)
        if given.results:
            with open(given.results, "a") as file:
                file.write("%s\t%s\n" % (result, what))
    return summary(outcomes)


if __name__ == "__main__":
    sys.exit(main())
