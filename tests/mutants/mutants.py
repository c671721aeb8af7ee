"""Do the tests see a fault? Puts random faults into a copy of the sources, one at a time, and runs the tests that
execute the changed line until one of them fails.

    python3 tests/mutants/mutants.py --seed N [--count 300] [--minutes M] [--folder DIR] [--jobs N] [--nice N]
                                     [--only WORD] [--tests REGEX] [--configure OPTIONS] [--cuda] [--list]
                                     [--unconfined]

The folder (build-mutants) holds a copy of the sources and two builds of it: `build-coverage` (gcov), which gives for
each test the lines that it executes and its time, and `build`, in which mutants are compiled. A mutant is
    killed        by a test that fails, crashes or takes ten times its usual time
    survived      all tests that execute the line pass: named with file, line, before and after
    equivalent    the same object code with the same flags: not counted
    unbuildable   does not compile: not counted
    uncovered     no test executes the line: not counted, but named
Mutants are drawn until --count of them are killed or have survived. Verdicts go to results-N.jsonl in the folder; the
same command goes on from there, so that a run can be done in slices (--minutes). Status 1: fewer than 90 % were killed.

Sources are all C files of kernels, plugin and viz; --cuda adds CUDA, on a machine with a GPU. Programs with a fault may
delete files, kill processes or ask for all memory: as root they run in a mount and process namespace of their own and
can write to the folder alone; --unconfined does without."""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

import mutate

SOURCE = pathlib.Path(__file__).resolve().parents[2]
# They build or install a copy of their own, or read the sources: no library with a fault is run by them.
APART = re.compile(r"style_|abi_|build_|mutants|promises$|fuzz_(long|coverage)|cli_(package|install|release|guides|"
                   r"bids_validator|symbols|help|cohort|slurm)|module_(scirun|symbols|example)|"
                   r"python_(docs|site|wheel|torch|gpu|declarations)")
NO_PRODUCT = re.compile(r"/example_|/make_logo")
DEVICE = re.compile(r"\.cuh?$|/gpu/.*\.h$|/hopper/|cuda.*\.h$")
SHUT_IN = """
mount --make-rprivate / && mount --bind "$1" "$1" && mount -t tmpfs -o size=2g none /tmp &&
    mkdir -p "$1/var-tmp" && mount --bind "$1/var-tmp" /var/tmp || exit 125
while read -r device place kind rest; do
    case $place in
    "$1" | /tmp | /tmp/* | /var/tmp | /proc* | /sys* | /dev*) ;;
    *) mount -o remount,ro,bind "$place" || [ ! -e "$place" ] || exit 125 ;;
    esac
done </proc/self/mounts
cd "$2" && shift 2 && exec "$@"
"""

# A launcher of the compiler for `coverage`: only what is tested is instrumented, and of the variants for several
# instruction sets, which share their sources, the one that this machine uses.
INSTRUMENT = """
for source; do :; done
source=${source#%s/}
best=avx2
! grep -qm1 "^flags.* avx512f" /proc/cpuinfo || best=avx512
case $source in
tests/* | bench/* | *.cc | *.S | *.cu) exec "$@" ;;
*_$best.c) exec "$@" -O1 --coverage ;;
*_baseline.c | *_avx2.c | *_avx512.c) exec "$@" ;;
*) exec "$@" -O1 --coverage ;;
esac
"""


class Tree:
    """The copy of the sources, its builds, its tests."""

    def __init__(self, given):
        self.given, self.source = given, pathlib.Path(given.source).resolve()
        self.folder = pathlib.Path(given.folder).resolve()
        self.copy, self.build, self.log = (self.folder / name for name in ("source", "source/build", "log.txt"))
        self.coverage = self.folder / "source/build-coverage"
        self.tests, self.trusted = {}, set()

    def call(self, *words, limit=7200):
        with open(self.log, "w") as log:
            try:
                return subprocess.run(["nice", "-n", self.given.nice, *map(str, words)], stdout=log,
                                      stderr=subprocess.STDOUT, timeout=limit).returncode
            except subprocess.TimeoutExpired:
                return -1

    def names(self):
        """What git has or would have, or, where there is no git, whatever lies here beside what was built."""
        try:
            listed = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=self.source,
                                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout.decode()
            names = listed.split("\0")[:-1]
        except (OSError, subprocess.CalledProcessError):
            names = [str(path.relative_to(self.source)) for path in sorted(self.source.rglob("*")) if not str(
                path.relative_to(self.source)).startswith(("build", ".", "out/", "shared/"))]
        return [name for name in names if (self.source / name).is_file()]

    def products(self, names):
        kinds = (".c", ".h", ".inc") + ((".cu", ".cuh") if self.given.cuda else ())
        return [name for name in names if name.endswith(kinds) and re.match(self.given.products, name) and
                not NO_PRODUCT.search(name) and (self.given.cuda or not DEVICE.search(name))]

    def prepare(self):
        names = self.names()
        for name in names:
            to, new = self.copy / name, (self.source / name).read_bytes()
            to.parent.mkdir(parents=True, exist_ok=True)
            if not to.exists() or to.read_bytes() != new:  # times of what is the same stay: little is built again
                to.write_bytes(new)
                to.chmod((self.source / name).stat().st_mode)
        for path in list(self.copy.rglob("*")):  # what is gone
            name = str(path.relative_to(self.copy))
            if path.is_file() and not name.startswith("build") and name not in set(names):
                path.unlink()
        self.texts = {name: (self.copy / name).read_text() for name in self.products(names)}
        digest = hashlib.sha256("".join(self.texts[name] for name in sorted(self.texts)).encode()).hexdigest()[:16]
        self.maps = self.folder / "maps" / digest
        self.maps.mkdir(parents=True, exist_ok=True)
        (self.folder / "instrument.sh").write_text(INSTRUMENT % self.copy)
        ccache = ["ccache"] if shutil.which("ccache") else []
        linked = ["-DCMAKE_%s_LINKER_FLAGS=--coverage" % kind for kind in ("EXE", "SHARED", "MODULE")]
        for build, launcher, options in ((self.build, ccache, []),
                                         (self.coverage, ["sh", self.folder / "instrument.sh", *ccache], linked)):
            if launcher:
                options = [*options, "-DCMAKE_C_COMPILER_LAUNCHER=" + ";".join(map(str, launcher))]
            if self.call("cmake", "-G", "Ninja", "-S", self.copy, "-B", build, "-DCMAKE_BUILD_TYPE=Release", *options,
                         *self.given.configure.split()) or self.call("ninja", "-C", build, "-j", self.given.jobs):
                sys.exit("the copy cannot be built: see %s" % self.log)
        if not self.given.unconfined and self.run(["true"], self.build, None, 60) != "passed":
            sys.exit("faulty programs are run where they can do no harm: that takes root (unshare, mount) and a "
                     "--folder that is not in /tmp; --unconfined does without")
        targets = subprocess.run(["ninja", "-C", str(self.build), "-t", "targets", "all"], stdout=subprocess.PIPE,
                                 check=True, text=True).stdout
        self.objects = [line.split(": ")[0] for line in targets.splitlines() if "_COMPILER__" in line and
                        not re.match(r"tests/|bench/", line)]
        linked = [line.split(": ")[0] for line in targets.splitlines() if re.search(r"_(EXECUTABLE|SHARED_LIBRARY|"
                  r"MODULE_LIBRARY)_LINKER__", line)]
        self.programs = set(linked)
        apart = re.compile(r"(^|/)(test_|fuzz_)|scirun|example|bench_|_host|vtk")
        self.product_targets = [name for name in linked if not apart.search(name)]
        self.states = {}
        self.original = {name: self.state(name) for name in self.objects}
        self.read_tests()

    def state(self, name):
        path = self.build / name
        when = path.stat().st_mtime_ns
        if self.states.get(name, (0, 0))[0] != when:
            self.states[name] = (when, hashlib.sha256(path.read_bytes()).digest())
        return self.states[name][1]

    def describe_tests(self, build):
        shown = json.loads(subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"], check=True,
                                          stdout=subprocess.PIPE).stdout)
        return {test["name"]: test for test in shown["tests"]
                if not APART.match(test["name"]) and re.search(self.given.tests, test["name"])}

    def run(self, command, where, test, limit, environment=None):
        """passed, failed, or hung: one test, and everything that it starts ends with it."""
        properties = {p["name"]: p["value"] for p in (test or {}).get("properties", [])}
        if not self.given.unconfined:
            command = ["unshare", "-m", "-p", "-f", "--kill-child", "--mount-proc", "sh", "-c", SHUT_IN, "sh",
                       str(self.folder), str(where), *command]
        variables = dict(os.environ, HOT_ALL_READERS="1", OMP_WAIT_POLICY="passive", OPENBLAS_NUM_THREADS="1",
                         PYTHONDONTWRITEBYTECODE="1")
        for line in properties.get("ENVIRONMENT", []):
            variables[line.split("=", 1)[0]] = line.split("=", 1)[1] if "=" in line else ""
        variables.update(environment or {})
        output = open(self.folder / ("output-%s.txt" % (test or {"name": "none"})["name"]), "wb+")
        process = subprocess.Popen(["nice", "-n", self.given.nice, *command], cwd=where, env=variables, stdout=output,
                                   stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True,
                                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30)))
        try:
            status = process.wait(limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return "hung"
        if status == 125 and not self.given.unconfined:
            raise RuntimeError("a test cannot be shut in: see %s" % output.name)
        output.seek(0)
        wanted = properties.get("PASS_REGULAR_EXPRESSION")
        if wanted:
            text = output.read().decode(errors="replace")
            return "passed" if any(re.search(w, text) for w in wanted) else "failed"
        return "passed" if (status != 0) == bool(properties.get("WILL_FAIL")) or status == properties.get(
            "SKIP_RETURN_CODE", 0) else "failed"

    def read_tests(self):
        """For each test its time and the lines that it executes; kept by the sources' checksum."""
        instrumented = self.describe_tests(self.coverage)
        self.tests = self.describe_tests(self.build)
        missing = sorted((name for name in self.tests if not (self.maps / (name + ".json")).exists()),
                         key=lambda name: ([not re.match(kind, name) for kind in (
                             "unit|promises|property|viz", "kernels_[^c]", "files", "python", "kernels")], name))
        with concurrent.futures.ThreadPoolExecutor(int(self.given.jobs)) as pool:
            for name in pool.map(lambda name: self.measure(name, instrumented[name]), missing):
                print("measured: %s" % name, flush=True)
        self.times, self.executed, self.compiled = {}, collections.defaultdict(set), collections.defaultdict(set)
        for name in list(self.tests):
            kept = json.loads((self.maps / (name + ".json")).read_text())
            self.times[name] = kept["seconds"]
            for file, (covered, all_lines) in kept["lines"].items():
                self.compiled[file].update(all_lines)
                for line in covered:
                    self.executed[file, line].add(name)
        self.by_file = collections.defaultdict(set)
        for (file, _), names in self.executed.items():
            self.by_file[file] |= names

    def measure(self, name, instrumented):
        data = self.folder / "gcda" / name
        shutil.rmtree(data, ignore_errors=True)
        begin = time.monotonic()
        outcome = self.run(instrumented["command"], self.where(instrumented), instrumented, 1800,
                           {"GCOV_PREFIX": str(data)})
        seconds = time.monotonic() - begin
        files = []
        for path in data.rglob("*.gcda"):
            notes = (pathlib.Path("/") / path.relative_to(data)).with_suffix(".gcno")
            if notes.exists():
                os.symlink(notes, path.with_suffix(".gcno"))
                files.append(str(path))
        lines = {}
        command = ["nice", "-n", self.given.nice, "gcov", "--json-format", "--stdout", *files]
        found = subprocess.run(command, cwd=data.parent, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL).stdout if files else b""
        for text in found.splitlines():
            report = json.loads(text)
            for file in report["files"]:
                path = os.path.relpath(os.path.join(report["current_working_directory"], file["file"]), self.copy)
                if path in self.texts:
                    covered, all_lines = lines.setdefault(path, (set(), set()))
                    for line in file["lines"]:
                        all_lines.add(line["line_number"])
                        if line["count"] > 0:
                            covered.add(line["line_number"])
        shutil.rmtree(data, ignore_errors=True)
        (self.maps / (name + ".json")).write_text(json.dumps({
            "outcome": outcome, "seconds": seconds,
            "lines": {file: [sorted(c), sorted(a)] for file, (c, a) in lines.items()}}))
        return "%-32s %5.1f s, %s" % (name, seconds, outcome)

    def where(self, test):
        return {p["name"]: p["value"] for p in test["properties"]}["WORKING_DIRECTORY"]

    def covering(self, mutant):
        """The tests that execute the statement; None where gcov knows nothing of it (tables, macros, sizes)."""
        file, line = mutant["file"], mutant["line"]
        rows = self.texts[file].splitlines()
        last = line + mutant["before"].count("\n")
        hit = set().union(*(self.executed[file, n] for n in range(line, last + 1)))
        while line > 1 and not hit and line not in self.compiled[file] and not re.search(
                r"[;{}]\s*(/\*.*\*/)?\s*$|^\s*(#.*)?$|\*/\s*$", rows[line - 2]):
            line -= 1  # the statement begins further up
            hit = self.executed[file, line]
        if hit or line in self.compiled[file]:
            return hit
        if self.by_file[file]:
            return self.by_file[file]
        folder = os.path.dirname(file) + "/"  # a header of constants
        return set().union(*(names for name, names in self.by_file.items() if name.startswith(folder)))

    def program(self, name):
        return os.path.relpath(self.tests[name]["command"][0], self.build)

    def is_program(self, name):
        return self.program(name) in self.programs

    def targets(self, name):
        if self.is_program(name):
            return [self.program(name)]
        return ["bin/hotfiber"] if name.startswith("files_") else self.product_targets  # others run more

    def judge(self, mutant):
        tests = sorted((name for name in self.covering(mutant) if self.times[name] is not None),
                       key=lambda name: self.times[name])
        if not tests:
            return "uncovered", None
        path = self.copy / mutant["file"]
        path.write_text(mutate.place(self.texts[mutant["file"]], mutant["at"], mutant["before"], mutant["after"]))
        try:
            if self.call("ninja", "-C", self.build, "-j", self.given.jobs, *self.objects, limit=3600) != 0:
                return "unbuildable", None
            if all(self.state(name) == self.original[name] for name in self.objects):
                return "equivalent", None
            size = int(self.given.jobs)
            while tests:
                now, tests, size = tests[:size], tests[size:], 2 * size
                wanted = sorted({target for name in now for target in self.targets(name)})
                if self.call("ninja", "-C", self.build, "-j", self.given.jobs, *wanted, limit=3600) != 0:
                    return "unbuildable", None  # a symbol is gone
                killer, outcome = self.run_until_failure(now)
                if killer:
                    return "killed", "%s (%s)" % (killer, outcome)
            return "survived", None
        finally:
            path.write_text(self.texts[mutant["file"]])

    def run_until_failure(self, names):
        stop = []

        def one(name):
            if stop:
                return
            outcome = self.run(self.tests[name]["command"], self.where(self.tests[name]), self.tests[name],
                               30 + 10 * self.times[name])
            if outcome == "passed":
                self.trusted.add(name)
            else:
                stop.append((name, outcome))
        with concurrent.futures.ThreadPoolExecutor(int(self.given.jobs)) as pool:
            list(pool.map(one, names))
        return stop[0] if stop else (None, None)

    def is_sound(self, name):
        """Whether a test passes without a fault; one that does not is left out from now on."""
        if name not in self.trusted:
            if self.call("ninja", "-C", self.build, "-j", self.given.jobs, *self.targets(name)) != 0:
                sys.exit("the copy cannot be built: see %s" % self.log)
            if self.run_until_failure([name])[0]:
                print("fails without a fault, left out: %s" % name, flush=True)
                self.times[name] = None
        return name in self.trusted


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=300, help="killed and survived ones")
    parser.add_argument("--minutes", type=float, default=1e9, help="stop then; the next call goes on")
    parser.add_argument("--source", default=str(SOURCE))
    parser.add_argument("--products", default="(kernels|plugin|viz)/", help="where faults go: a regular expression")
    parser.add_argument("--folder", default=str(SOURCE / "build-mutants"), help="for copy and builds; not in /tmp")
    parser.add_argument("--configure", default="-DHOTFIBER_CUDA=OFF -DPython3_EXECUTABLE=/usr/bin/python3")
    parser.add_argument("--nice", default="15")
    parser.add_argument("--jobs", default=str(os.cpu_count()))
    parser.add_argument("--only", default="", help="mutants of files whose name matches")
    parser.add_argument("--tests", default="", help="tests whose name matches")
    parser.add_argument("--cuda", action="store_true", help="CUDA files too (give --configure as well)")
    parser.add_argument("--list", action="store_true", help="only say what would be tried")
    parser.add_argument("--unconfined", action="store_true", help="on a machine that is thrown away")
    given = parser.parse_args()
    tree, end = Tree(given), time.monotonic() + 60 * given.minutes
    if given.list:
        names = tree.products(tree.names())
        texts = {name: (tree.source / name).read_text() for name in names}
        for mutant, _ in zip(mutate.draw(given.seed, texts), range(given.count)):
            print(mutate.describe(mutant, texts[mutant["file"]]))
        return 0
    tree.prepare()
    results, kept = tree.folder / ("results-%d.jsonl" % given.seed), {}
    if results.exists():
        for line in results.read_text().splitlines():
            entry = json.loads(line)
            kept[entry["what"]] = entry
    number = collections.Counter()
    for mutant in mutate.draw(given.seed, tree.texts):
        if number["killed"] + number["survived"] >= given.count:
            break
        if not re.search(given.only, mutant["file"]):
            continue
        what = mutate.describe(mutant, tree.texts[mutant["file"]])
        if what not in kept:
            if time.monotonic() > end:
                print("time is up; the same command goes on")
                break
            begin = time.monotonic()
            verdict, killer = tree.judge(mutant)
            while killer and not tree.is_sound(killer.split()[0]):
                verdict, killer = tree.judge(mutant)
            kept[what] = {"what": what, "verdict": verdict, "killer": killer}
            with open(results, "a") as file:
                file.write(json.dumps(kept[what]) + "\n")
            if verdict in ("killed", "survived", "uncovered"):
                print("%-9s %4.0f s  %s %s" % (verdict, time.monotonic() - begin, what, killer or ""), flush=True)
        number[kept[what]["verdict"]] += 1
    asked = number["killed"] + number["survived"]
    for verdict in ("survived", "uncovered"):
        print("\n%s:" % verdict)
        print("\n".join(sorted(entry["what"] for entry in kept.values() if entry["verdict"] == verdict)))
    print("\nseed %d: %d mutants: %d killed (%.1f %%), %d survived; besides %d equivalent, %d that do not compile, %d "
          "in lines that no test executes" % (given.seed, asked, number["killed"], 100 * number["killed"] /
                                                 max(1, asked), number["survived"], number["equivalent"],
                                                 number["unbuildable"], number["uncovered"]))
    return number["killed"] < .9 * asked


if __name__ == "__main__":
    sys.exit(main())
