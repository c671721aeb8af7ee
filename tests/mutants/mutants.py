"""Do the tests see a fault? Puts random faults into a copy of the sources, one at a time, and runs the tests that
execute the changed line until one of them fails.

    python3 tests/mutants/mutants.py --seed N [--count 300] [--minutes M] [--folder DIR] [--jobs N] [--nice N]
                                     [--only WORD] [--tests REGEX] [--most SECONDS] [--configure OPTIONS] [--cuda]
                                     [--list] [--again] [--unconfined]

The folder (build-mutants) contains two copies of the sources with a build each: in `probed` each function notes that
it was called (probes.py), for the functions and the time of each test; in `source` mutants are compiled. Each of --jobs
workers has a copy of the second, mounted at the path of the original. A mutant is
    killed        by a test that fails, crashes, takes five times its usual processor time or sleeps forever
    survived      all tests that call the function pass, or those that --most admits: named with file, line, before and
                  after
    equivalent    the same object code with the same flags, or excused in equivalent.txt: not counted
    unbuildable   does not compile: not counted
    uncovered     no test calls the function: not counted, but named
    undecided     a test had not ended after an hour, though it was not asleep: not counted
No verdict depends on the machine's load. Mutants are drawn until --count of them are killed or have survived. Verdicts
are appended to results-N.jsonl in the folder; the same command continues from there, so that a run can be split
(--minutes); --again judges survivors once more, after tests were added. Status 1: fewer than 90 % were killed.

Sources are all C files of kernels, plugin and viz; --cuda adds CUDA, on a machine with a GPU. Faulty programs may
delete files, kill processes or allocate all memory: as root they run in separate mount and process namespaces and can
only write to the folder; --unconfined disables that, and workers."""
import argparse
import collections
import concurrent.futures
import fcntl
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import threading
import time

import asleep
import mutate
import probes

SOURCE = pathlib.Path(__file__).resolve().parents[2]
# They build or install another copy, or read the sources: they run no library with a fault.
APART = re.compile(r"style_|abi_|build_|mutants|promises$|fuzz_(long|coverage)|cli_(package|install|release|guides|"
                   r"bids_validator|symbols|help|cohort|slurm)|module_(scirun|symbols|example)|"
                   r"python_(docs|site|wheel|torch|gpu|declarations)")
NO_PRODUCT = re.compile(r"/example_|/make_logo")
DEVICE = re.compile(r"\.cuh?$|/gpu/.*\.h$|/hopper/|cuda.*\.h$")
SHUT_IN = """
mount --make-rprivate / && mount --rbind "$1" "$1" && mount -t tmpfs -o size=2g none /tmp &&
    mkdir -p "$1/source/build/var-tmp" && mount --bind "$1/source/build/var-tmp" /var/tmp || exit 125
while read -r device place kind rest; do
    case $place in
    "$1" | "$1"/* | /tmp | /tmp/* | /var/tmp | /proc* | /sys* | /dev*) ;;
    *) mount -o remount,ro,bind "$place" || [ ! -e "$place" ] || exit 125 ;;
    esac
done </proc/self/mounts
cd "$2" && shift 2 && exec "$@"
"""
# A worker sees its own copy of the sources and their build where the builds' files say that they are.
WORKER = 'mount --make-rprivate / && mount --bind "$1" "$2" && shift 2 && exec "$@"'

class Tree:
    """The copy of the sources, its builds, its tests."""

    def __init__(self, given):
        self.given, self.source = given, pathlib.Path(given.source).resolve()
        self.folder = pathlib.Path(given.folder).resolve()
        self.copy, self.build = self.folder / "source", self.folder / "source/build"
        self.log = self.folder / ("log%s.txt" % given.worker)
        self.probed = self.folder / "probed"
        self.tests, self.trusted, self.excuses = {}, set(), None

    def call(self, *words, limit=7200):
        with open(self.log, "w") as log:
            try:
                return subprocess.run(["nice", "-n", self.given.nice, *map(str, words)], stdout=log,
                                      stderr=subprocess.STDOUT, timeout=limit).returncode
            except subprocess.TimeoutExpired:
                return -1

    def names(self):
        """The files that git has or would add; without git, all files except build folders."""
        try:
            listed = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=self.source,
                                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout.decode()
            names = listed.split("\0")[:-1]
        except (OSError, subprocess.CalledProcessError):
            names = []
        if not names:  # no git, or a copy in a folder that git ignores
            names = [str(path.relative_to(self.source)) for path in sorted(self.source.rglob("*")) if not str(
                path.relative_to(self.source)).startswith(("build", ".", "out/", "shared/"))]
        return [name for name in names if (self.source / name).is_file()]

    def products(self, names):
        kinds = (".c", ".h", ".inc") + ((".cu", ".cuh") if self.given.cuda else ())
        return [name for name in names if name.endswith(kinds) and re.match(self.given.products, name) and
                not NO_PRODUCT.search(name) and (self.given.cuda or not DEVICE.search(name))]

    def prepare(self):
        """Copies the sources, builds the copy twice and measures the tests; a worker finds that done."""
        names = self.names()
        if not self.given.worker:
            self.copy_sources(names, self.copy, lambda name, text: text)
        self.texts = {name: (self.copy / name).read_text() for name in self.products(names)}
        self.functions = probes.functions(self.texts)
        digest = hashlib.sha256("".join(self.texts[name] for name in sorted(self.texts)).encode()).hexdigest()[:16]
        self.maps = self.folder / "maps" / digest
        self.maps.mkdir(parents=True, exist_ok=True)
        self.ccache = ["ccache"] if shutil.which("ccache") else []
        if not self.given.worker:
            self.make(self.copy, self.ccache)
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
        self.linked_from = {program: words.split() for program, words in re.findall(
            r"^build (\S+): \S*_EXECUTABLE_LINKER__\S* ([^|\n]*)", (self.build / "build.ninja").read_text(), re.M)}
        apart = re.compile(r"(^|/)(test_|fuzz_)|scirun|example|bench_|_host|vtk")
        self.product_targets = [name for name in linked if not apart.search(name)]
        self.states = {}
        self.original = {name: self.state(name) for name in self.objects}
        self.read_tests()

    def copy_sources(self, names, to_folder, change):
        for name in names:
            to, new = to_folder / name, change(name, (self.source / name).read_bytes())
            to.parent.mkdir(parents=True, exist_ok=True)
            if not to.exists() or to.read_bytes() != new:  # unchanged files keep their times: little is built again
                to.write_bytes(new)
                to.chmod((self.source / name).stat().st_mode)
        for path in list(to_folder.rglob("*")):  # what is gone
            name = str(path.relative_to(to_folder))
            if path.is_file() and not name.startswith("build") and name not in set(names):
                path.unlink()

    def make(self, copy, before, *options):
        """Builds a copy; before: words that a compiler's command begins with."""
        build = copy / "build"
        options = [*self.given.configure.split(), *options]
        if before:
            options += ["-DCMAKE_%s_COMPILER_LAUNCHER=%s" % (kind, ";".join(map(str, before))) for kind in ("C", "CXX")]
        words = ["cmake", "-G", "Ninja", "-S", copy, "-B", build, "-DCMAKE_BUILD_TYPE=Release", *options]
        done = build / "configured.txt"  # ninja configures again if necessary
        if not done.exists() or done.read_text() != str(words):
            if self.call(*words):
                sys.exit("the copy cannot be configured: see %s" % self.log)
            done.write_text(str(words))
        if self.call("ninja", "-C", build, "-j", self.given.jobs):
            sys.exit("the copy cannot be built: see %s" % self.log)

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

    def run(self, command, where, test, limit, environment=None, used=None):
        """passed, failed, hung (over the limit in processor time, or asleep for good) or undecided: one test, and
        everything that it starts ends with it. `used` is given its processor time."""
        properties = {p["name"]: p["value"] for p in (test or {}).get("properties", [])}
        if not self.given.unconfined:
            command = ["unshare", "-m", "-p", "-f", "--kill-child", "--mount-proc", "sh", "-c", SHUT_IN, "sh",
                       str(self.folder), str(where), *command]
        variables = dict(os.environ, HOT_ALL_READERS="1", OMP_WAIT_POLICY="passive", OPENBLAS_NUM_THREADS="1",
                         PYTHONDONTWRITEBYTECODE="1")
        for line in properties.get("ENVIRONMENT", []):
            variables[line.split("=", 1)[0]] = line.split("=", 1)[1] if "=" in line else ""
        variables.update(environment or {})
        (self.build / "outputs").mkdir(exist_ok=True)
        output = open(self.build / "outputs" / ((test or {"name": "none"})["name"] + ".txt"), "wb+")

        def restrained():
            for what, most in ((resource.RLIMIT_AS, 16 << 30), (resource.RLIMIT_CPU, int(limit) + 1)):
                allowed = resource.getrlimit(what)[1]
                hard = most + 1 if allowed == resource.RLIM_INFINITY else min(most + 1, allowed)
                resource.setrlimit(what, (min(most, hard), hard))
            try:
                pathlib.Path("/proc/self/oom_score_adj").write_text("1000")  # before anything else on the machine
            except OSError:  # not every container has it
                pass
        process = subprocess.Popen(["nice", "-n", self.given.nice, *command], cwd=where, env=variables, stdout=output,
                                   stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True,
                                   preexec_fn=restrained)
        ended, verdict = threading.Event(), []
        watch = threading.Thread(target=asleep.watch, args=(process.pid, ended, verdict))
        watch.start()
        _, status, usage = os.wait4(process.pid, 0)  # with all that it waited for
        ended.set()
        watch.join()
        process.returncode = status = os.waitstatus_to_exitcode(status)
        if used is not None:
            used.append(usage.ru_utime + usage.ru_stime)
        if verdict:
            return verdict[0]
        if status == 125 and not self.given.unconfined:
            raise RuntimeError("a test cannot be shut in: see %s" % output.name)
        if usage.ru_utime + usage.ru_stime > limit and status != 0:
            return "hung"
        output.seek(0)
        wanted = properties.get("PASS_REGULAR_EXPRESSION")
        if wanted:
            text = output.read().decode(errors="replace")
            return "passed" if any(re.search(w, text) for w in wanted) else "failed"
        return "passed" if (status != 0) == bool(properties.get("WILL_FAIL")) or status == properties.get(
            "SKIP_RETURN_CODE", 0) else "failed"

    def read_tests(self):
        """For each test its time and the functions that it calls; kept by the sources' checksum."""
        self.tests = self.describe_tests(self.build)
        digests = {} if self.given.worker else {name: self.digest(name) for name in self.tests}
        missing = sorted(name for name in digests if self.kept(name).get("digest") != digests[name])
        probed = {}
        if missing:
            self.copy_sources(self.names(), self.probed, lambda name, text: probes.put(
                text.decode(), self.functions[name]).encode() if name in self.functions else text)
            launcher, table = probes.prepare(self.folder, self.functions, self.ccache)
            self.make(self.probed, ["sh", launcher],
                      *("-DCMAKE_%s_LINKER_FLAGS=%s" % (kind, table) for kind in ("EXE", "SHARED", "MODULE")))
            probed = self.describe_tests(self.probed / "build")
        with concurrent.futures.ThreadPoolExecutor(int(self.given.jobs)) as pool:
            for text in pool.map(lambda name: self.measure(name, probed[name], digests[name]), missing):
                print("measured: %s" % text, flush=True)
        self.share = collections.Counter()
        self.times, self.called, self.by_file = {}, collections.defaultdict(set), collections.defaultdict(set)
        for name in list(self.tests):
            kept = self.kept(name)
            self.times[name] = kept["seconds"]
            for file, called in kept["called"].items():
                self.share[file, name] = len(called) / sum(map(len, kept["called"].values()))
                self.by_file[file].add(name)
                for number in called:
                    self.called[number].add(name)

    def kept(self, name):
        path = self.maps / (name + ".json")
        return json.loads(path.read_text()) if path.exists() else {}

    def digest(self, name):
        """Of what the test is made of, as far as it lies in tests/: with it changes which lines are executed."""
        if self.is_program(name):
            words = [self.copy / re.sub(r"CMakeFiles/[^/]*\.dir/|\.o$", "", word)
                     for word in self.linked_from.get(self.program(name), ())]
        else:
            words = self.tests[name]["command"]
        paths = {os.path.normpath(self.build / word) for word in words}
        files = {pathlib.Path(path) for path in paths if path.startswith(str(self.copy / "tests") + "/")}
        for folder in {file.parent for file in files} | {self.copy / "tests"}:
            files |= {file for pattern in ("*.h", "_*") for file in folder.glob(pattern)}
        text = b"".join(file.read_bytes() for file in sorted(files) if file.is_file())
        return hashlib.sha256(json.dumps(self.tests[name]["command"]).encode() + text).hexdigest()[:16]

    def measure(self, name, probed, digest):
        notes, used = self.folder / "notes" / name, []
        notes.parent.mkdir(exist_ok=True)
        notes.write_bytes(bytes(probes.size(self.functions)))
        outcome = self.run(probed["command"], self.where(probed), probed, 1800, {probes.VARIABLE: str(notes)}, used)
        numbers, called = probes.read(notes), {}
        for file, places in self.functions.items():
            here = [place.number for place in places if place.number in numbers]
            if here:
                called[file] = here
        notes.unlink()
        (self.maps / (name + ".json")).write_text(json.dumps({
            "outcome": outcome, "seconds": used[0], "digest": digest, "called": called}))
        return "%-32s %5.1f s, %s, %d functions" % (name, used[0], outcome, len(numbers))

    def where(self, test):
        return {p["name"]: p["value"] for p in test["properties"]}["WORKING_DIRECTORY"]

    def covering(self, mutant):
        """The tests that call the function; outside functions (tables, macros) those that call any of the file's."""
        file = mutant["file"]
        for place in self.functions[file]:
            if place.begin <= mutant["at"] < place.end:
                return self.called[place.number]
        if self.functions[file]:
            return self.by_file[file]
        folder = os.path.dirname(file) + "/"  # a header of constants
        return set().union(*(names for name, names in self.by_file.items() if name.startswith(folder)))

    def program(self, name):
        return os.path.relpath(self.tests[name]["command"][0], self.build)

    def is_program(self, name):
        return self.program(name) in self.programs

    def excused(self, what):
        """Whether equivalent.txt, beside this file, gives a reason why nothing but speed or a hint changes."""
        if self.excuses is None:
            path = self.source / "tests/mutants/equivalent.txt"
            self.excuses = set()
            for block in path.read_text().split("\n\n") if path.exists() else []:
                rows = [row for row in block.splitlines() if row and not row.startswith("#")]
                if len(rows) >= 4:  # file, before, after, reason
                    self.excuses.add(tuple(" ".join(row.split()) for row in rows[:3]))
        place, old, new = what.splitlines()
        return (place.split(":")[0], old.strip(), new.strip()) in self.excuses

    def targets(self, name):
        if self.is_program(name):
            return [self.program(name)]
        return ["bin/hotfiber"] if name.startswith("files_") else self.product_targets  # others run more

    def judge(self, mutant):
        file = mutant["file"]
        tests = sorted((name for name in self.covering(mutant) if self.times[name] is not None),
                       key=lambda name: self.times[name] / max(self.share[file, name], 1e-6) ** .5)  # cheap, specific
        if not tests:
            return "uncovered", None
        path, undecided = self.copy / file, False
        path.write_text(mutate.place(self.texts[file], mutant["at"], mutant["before"], mutant["after"]))
        try:
            if self.call("ninja", "-C", self.build, "-j", self.given.jobs, *self.objects, limit=3600) != 0:
                return "unbuildable", None
            if all(self.state(name) == self.original[name] for name in self.objects):
                return "equivalent", None
            size, spent = int(self.given.jobs), 0
            while tests and spent < self.given.most:
                now, tests, size = tests[:size], tests[size:], 2 * size
                spent += sum(self.times[name] for name in now)
                wanted = sorted({target for name in now for target in self.targets(name)})
                if self.call("ninja", "-C", self.build, "-j", self.given.jobs, *wanted, limit=3600) != 0:
                    return "unbuildable", None  # a symbol is gone
                killer, outcome = self.run_until_failure(now)
                undecided |= outcome == "undecided"
                if killer:
                    return "killed", "%s (%s)" % (killer, outcome)
            return "undecided" if undecided else "survived", "%d tests left" % len(tests) if tests else None
        finally:
            path.write_text(self.texts[file])

    def run_until_failure(self, names):
        stop, undecided = [], []

        def one(name):
            if stop:
                return
            used = []
            outcome = self.run(self.tests[name]["command"], self.where(self.tests[name]), self.tests[name],
                               20 + 5 * self.times[name], None, used)
            if outcome == "passed":
                self.trusted.add(name)
                self.times[name] = min(self.times[name], used[0])  # probes take time, too
            elif outcome == "undecided":
                undecided.append(name)
            else:
                stop.append((name, outcome))
        with concurrent.futures.ThreadPoolExecutor(int(self.given.jobs)) as pool:
            list(pool.map(one, names))
        return stop[0] if stop else (None, "undecided" if undecided else None)

    def is_sound(self, name):
        """Whether a test passes without a fault; one that does not is left out from now on."""
        if name not in self.trusted:
            if self.call("ninja", "-C", self.build, "-j", self.given.jobs, *self.targets(name)) != 0:
                sys.exit("the copy cannot be built: see %s" % self.log)
            if self.run_until_failure([name])[0]:
                print("fails without a fault, left out: %s" % name, flush=True)
                self.times[name] = None
        return name in self.trusted


class Results:
    """Verdicts in a file that several workers write."""

    def __init__(self, tree, given):
        self.path = tree.folder / ("results-%d.jsonl" % given.seed)
        self.place, self.count, self.tree = tree.folder / ("next-%d" % given.seed), given.count, tree

    def read(self):
        rows = [json.loads(line) for line in self.path.read_text().splitlines()] if self.path.exists() else []
        return {row["what"]: row for row in rows}

    def add(self, entry):
        with open(self.path, "a") as file:
            file.write(json.dumps(entry) + "\n")

    def take(self):
        """The place in the draw of the next mutant; None when enough are judged."""
        counted = (row for row in self.read().values() if row["verdict"] in ("killed", "survived"))
        if sum(not self.tree.excused(row["what"]) for row in counted) >= self.count:
            return None
        with open(self.place, "a+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            number = int(file.read() or 0)
            file.truncate(0)
            file.write(str(number + 1))
        return number


def work(tree, given, results, end):
    """Judges mutants until enough are judged or the time is up."""
    kept, wanted = results.read(), results.take()
    drawn = (mutant for mutant in mutate.draw(given.seed, tree.texts) if re.search(given.only, mutant["file"]))
    for number, mutant in enumerate(drawn):
        if wanted is None:
            return
        if number < wanted:
            continue
        what = mutate.describe(mutant, tree.texts[mutant["file"]])
        if what not in kept:
            if time.monotonic() > end:
                print("time is up; the same command continues", flush=True)
                return
            begin = time.monotonic()
            verdict, killer = tree.judge(mutant)
            while verdict == "killed" and not tree.is_sound(killer.split()[0]):
                verdict, killer = tree.judge(mutant)
            results.add({"what": what, "verdict": verdict, "killer": killer})
            if verdict in ("killed", "survived", "uncovered", "undecided"):
                print("%-9s %4.0f s  %s %s" % (verdict, time.monotonic() - begin, what, killer or ""), flush=True)
        wanted = results.take()


def start_workers(tree, given):
    """Each has a copy of sources and build, which takes the place of the first one's; times of files are kept."""
    running = []
    for number in range(1, int(given.jobs) + 1):
        place = tree.folder / ("worker-%d" % number)
        if place.exists():
            shutil.rmtree(place)
        place.mkdir()
        for path in tree.copy.iterdir():
            subprocess.run(["cp", "-a", str(path), str(place)], check=True)
        arguments = ["--jobs", "1", "--worker", "-%d" % number]
        running.append(subprocess.Popen(["unshare", "-m", "sh", "-c", WORKER, "sh", str(place), str(tree.copy),
                                         sys.executable, str(pathlib.Path(__file__).resolve()), *sys.argv[1:],
                                         *arguments]))
    try:
        return max([process.wait() for process in running])
    finally:
        for process in running:
            process.kill()


def report(tree, given, results):
    """Of those before the first pending one, because verdicts beyond it favour the fast ones."""
    kept, number, named = results.read(), collections.Counter(), collections.defaultdict(list)
    for mutant in mutate.draw(given.seed, tree.texts):
        if not re.search(given.only, mutant["file"]):
            continue
        what = mutate.describe(mutant, tree.texts[mutant["file"]])
        if what not in kept or number["killed"] + number["survived"] >= given.count:
            break
        verdict = kept[what]["verdict"]
        if verdict == "survived" and tree.excused(what):
            verdict = "excused"
        number[verdict] += 1
        named[verdict].append(what)
    asked = number["killed"] + number["survived"]
    for verdict in ("survived", "uncovered", "undecided", "excused"):
        print("\n%s:" % verdict)
        print("\n".join(sorted(named[verdict])))
    print("\nseed %d: %d mutants: %d killed (%.1f %%), %d survived; besides %d equivalent, %d excused, %d that do not "
          "compile, %d undecided, %d in functions that no test calls" % (
              given.seed, asked, number["killed"], 100 * number["killed"] / max(1, asked), number["survived"],
              number["equivalent"], number["excused"], number["unbuildable"], number["undecided"],
              number["uncovered"]))
    return number["killed"] < .9 * asked


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=300, help="killed and survived ones")
    parser.add_argument("--minutes", type=float, default=1e9, help="stop then; the next call goes on")
    parser.add_argument("--source", default=str(SOURCE))
    parser.add_argument("--products", default="(kernels|plugin|viz)/", help="where faults go: a regular expression")
    parser.add_argument("--folder", default=str(SOURCE / "build-mutants"), help="for copy and builds; not in /tmp")
    parser.add_argument("--most", type=float, default=1e9, help="tests of so many seconds for each mutant")
    parser.add_argument("--configure", default="-DHOTFIBER_CUDA=OFF -DPython3_EXECUTABLE=/usr/bin/python3")
    parser.add_argument("--nice", default="15")
    parser.add_argument("--jobs", default=str(os.cpu_count()))
    parser.add_argument("--only", default="", help="mutants of files whose name matches")
    parser.add_argument("--tests", default="", help="tests whose name matches")
    parser.add_argument("--cuda", action="store_true", help="CUDA files too (give --configure as well)")
    parser.add_argument("--again", action="store_true", help="judge again what survived")
    parser.add_argument("--worker", default="", help=argparse.SUPPRESS)
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
    results = Results(tree, given)
    if given.worker:
        work(tree, given, results, end)
        return 0
    results.place.unlink(missing_ok=True)
    if given.again:
        rows = [row for row in results.read().values() if row["verdict"] != "survived"]
        results.path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    if given.unconfined:
        work(tree, given, results, end)
    elif start_workers(tree, given) != 0:
        sys.exit("a worker failed")
    return report(tree, given, results)


if __name__ == "__main__":
    sys.exit(main())
