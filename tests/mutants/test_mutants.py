"""mutants.py on a project of three functions whose tests detect, miss, and do not execute a change: verdicts are right,
an interrupted run resumes, and the same seed draws the same mutants."""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading

from counted import check, end

HERE = pathlib.Path(os.environ["HOT_SOURCE"]) / "tests/mutants"
sys.path.insert(0, str(HERE))
import asleep  # noqa: E402
import mutate  # noqa: E402

if not shutil.which("ninja"):
    print("skipped: ninja is not installed")
    sys.exit(77)


def run(count, *options):
    done = subprocess.run([sys.executable, HERE / "mutants.py", "--source", HERE / "example", "--products", "src/",
                           "--folder", "mutants", "--configure", "", "--unconfined", "--seed", "5", "--nice", "0",
                           "--count", str(count), *options], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    check(done.returncode in (0, 1) and "mutants: " in done.stdout, done.stdout)
    return done.stdout


path = HERE / "example/src/product.c"
texts = {"src/product.c": path.read_text()}
first = list(mutate.draw(1, texts))
check(first == list(mutate.draw(1, texts)), "the same seed draws other mutants")
check(first != list(mutate.draw(2, texts)), "another seed draws the same mutants")
check(len({(m["at"], m["before"], m["after"]) for m in first}) == len(first), "a mutant comes twice")
for before, after in ((">", ">="), (">", "<"), ("<", "<="), ("+", "-"), ("3", "6"), ("++", "--"),
                      ("(values[i] > best)", "(!(values[i] > best))"), ("best = values[i];", ";")):
    check(any(m["before"] == before and m["after"] == after for m in first), "%s never becomes %s" % (before, after))
for m in first:
    changed = mutate.place(texts[m["file"]], m["at"], m["before"], m["after"])
    check(changed != texts[m["file"]] and changed.count("\n") == texts[m["file"]].count("\n"), "lines move: %s" % m)

run(3)
results = pathlib.Path("mutants/results-5.jsonl")
some = results.read_text().splitlines() if results.exists() else []
output = run(12)
rows = [json.loads(line) for line in results.read_text().splitlines()]
check(results.read_text().splitlines()[:len(some)] == some and len(rows) > len(some), "a run does not resume")
lines = {name: range(*where) for name, where in (("largest", (6, 14)), ("unseen", (15, 20)), ("uncalled", (21, 25)))}
verdicts, excuses = collections.defaultdict(collections.Counter), 0
for row in rows:
    number = int(row["what"].split(":")[1])
    for name, where in lines.items():
        if number in where:
            verdicts[name][row["verdict"]] += 1
            if row["verdict"] == "survived":
                check(row["what"] in output, "a survivor is not named")
                same = ">= best" in row["what"]  # which of two equal ones is taken changes nothing
                excused = "int i = 0" in row["what"]
                excuses += excused
                check(name == "unseen" or same or excused, "survived: %s" % row["what"])
            check((row["verdict"] == "uncovered") == (name == "uncalled"), "%s in %s" % (row["verdict"], name))
            if "a = a / 1;" in row["what"]:
                check(row["verdict"] == "equivalent", "a / 1 is %s" % row["verdict"])
check(verdicts["largest"]["killed"] >= 4 and verdicts["unseen"]["survived"] >= 1, "verdicts: %s" % dict(verdicts))
check(excuses == 1 and " 1 excused" in output, "%d excused: %s" % (excuses, output.strip().splitlines()[-1]))
survived = {row["what"] for row in rows if row["verdict"] == "survived"}
again = run(12, "--again")
check(len(re.findall(r"^survived +\d", again, re.M)) == len(survived) > 0, "judged again: %s" % again)
check({json.loads(line)["what"] for line in results.read_text().splitlines()} == {row["what"] for row in rows},
      "judged again, other mutants are there")

# Programs that sleep forever are ended; those that work, or wait for a processor, are not.
asleep.SAMPLES, asleep.EVERY = 20, .05
for command, wanted in ((["sleep", "100000"], ["hung"]),
                        ([sys.executable, "-c", "print(flush=True)\nwhile True:\n    pass"], [])):
    process = subprocess.Popen(command, start_new_session=True, stdout=subprocess.PIPE)
    if not wanted:
        process.stdout.readline()
    ended, verdict = threading.Event(), []
    watch = threading.Thread(target=asleep.watch, args=(process.pid, ended, verdict))
    watch.start()
    if wanted:
        watch.join()
    else:
        watch.join(3)
        ended.set()
        watch.join()
        process.kill()
    process.wait()
    check(verdict == wanted, "%s: %s" % (command[0], verdict))

print(output.strip().splitlines()[-1])
end()
