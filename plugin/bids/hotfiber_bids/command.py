"""The command hotfiber-bids: arguments as of a BIDS App."""
import argparse
import concurrent.futures
import contextlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

from . import derivatives, group, process, scans
from .job import Job, Settings
from .text import shown

STAGES = ("learn", "part", "merge", "report")
ABOUT = """\
Fibre directions, maps and a page for every diffusion scan of a BIDS data set, raw or preprocessed by QSIPrep.
`participant` processes the scans, `group` makes a table of all processed scans. Unusable scans are listed with the
reason and the others continue; the exit status is then 1. Images that are not a diffusion series (only b=0, or one
volume) and files without a BIDS name are listed and skipped. Finished scans are not processed again."""
EXAMPLES = """\
  hotfiber-bids /data/study /data/study/derivatives/hotfiber participant --nprocs 8
  hotfiber-bids /data/study out participant --derivatives /data/qsiprep --participant-label 01 02
  hotfiber-bids /data/study out group
"""


def say(*words):
    print("hotfiber-bids:", shown(" ".join(map(str, words))), file=sys.stderr, flush=True)


def size(text):
    if not re.fullmatch(r"[0-9.]+[kKmMgGtT]?[bB]?", text):
        raise argparse.ArgumentTypeError(f"'{text}' is no size; 4G, 500M")
    return text


def count(text):
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of at least 1")
    return int(text)


class Version(argparse.Action):
    def __call__(self, *_):
        print(f"hotfiber-bids {process.version()}")
        sys.exit(0)


class Workflow(argparse.Action):
    """An installed package contains the workflow; in the sources and below share/ it is next to the package."""

    def __call__(self, *_):
        here = os.path.dirname(os.path.abspath(__file__))
        for folder in (here, os.path.dirname(here)):
            if os.path.exists(os.path.join(folder, "Snakefile")):
                print(folder)
                sys.exit(0)
        sys.exit("hotfiber-bids: the workflow was not installed")


def parser():
    reader = argparse.ArgumentParser(prog="hotfiber-bids", description=ABOUT, epilog="examples:\n" + EXAMPLES,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = reader.add_argument
    add("bids_dir", metavar="BIDS_DIR", help="the data set: the folder with sub-...")
    add("output_dir", metavar="OUT", help="the derivatives data set to make or add to")
    add("analysis_level", metavar="participant|group", choices=("participant", "group"))
    add("--participant-label", "--participant_label", nargs="+", metavar="LABEL", help="only these subjects")
    add("--session-label", "--session_label", "--session-id", nargs="+", metavar="LABEL", help="only these sessions")
    add("--derivatives", "--qsiprep", metavar="DIR", help="take the images from this data set (QSIPrep's output) "
        "instead; the subjects are those of BIDS_DIR")
    add("-w", "--work-dir", "--work_dir", metavar="WORK", help="where unfinished results are kept; default OUT/.work")
    add("--nprocs", "--n_cpus", "--n-cpus", "--nthreads", type=count, metavar="N", help="CPUs to use; default: all "
        "that this process may")
    add("--mem", "--mem-size", "--memory", type=size, metavar="SIZE", help="memory to use by all scans together (8G); "
        "default: 60 %% of the free memory")
    add("--parts", type=count, default=1, metavar="N", help="each scan in N parts, which are done again alone where "
        "they were interrupted; default 1")
    add("--hotfiber-options", "--hotfiber_options", type=shlex.split, default=[], metavar="OPTIONS",
        help="options of `hotfiber run`, in one word: --hotfiber-options=\"--model msmt --device cpu\"")
    add("--force", action="store_true", help="do again what is done already")
    add("--skip-bids-validation", "--skip_bids_validator", action="store_true", help="do not call the BIDS validator; "
        "without this option its errors are printed, if it is installed (bids-validator-deno, bids-validator)")
    add("--scan", metavar="NAME", help="only the scan of this name (as in logs/), for workflows")
    add("--stage", choices=STAGES, help="only this stage of that scan, for workflows; --part K says which part")
    add("--list", action="store_true", help="print the scans and the files of each, separated by tabs, and stop")
    add("--list-json", action="store_true", help="the same as a JSON object, whatever the names hold, for workflows")
    add("--workflow", nargs=0, action=Workflow, help="print the folder of the Snakemake workflow (Snakefile, profiles)")
    add("--part", type=count, metavar="K", help=argparse.SUPPRESS)
    add("--version", nargs=0, action=Version, help="the version")
    return reader


def validate(root):
    """The BIDS validator's errors, as a warning: what is wrong with one scan is no reason not to do the others."""
    for name in ("bids-validator-deno", "bids-validator"):
        if shutil.which(name):
            done = subprocess.run([name, os.path.abspath(root)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
            found = re.findall(r"\[ERROR\] (\S+)", re.sub(r"\x1b\[[0-9;]*m", "", done.stdout))
            if done.returncode:
                errors = ", ".join(sorted(set(found))) or "see its own output"
                say(f"{name}: '{root}' is not valid BIDS ({errors}); what can be used is used")
            return


def jobs_of(asked):
    """Jobs, subjects without images, skipped files, settings; impossible combinations raise scans.Unusable."""
    root = os.path.abspath(asked.derivatives or asked.bids_dir)
    for folder in (asked.bids_dir, root):
        if not os.path.isdir(folder):
            raise scans.Unusable(f"there is no folder '{folder}'")
    out = os.path.abspath(asked.output_dir)
    if os.path.realpath(out) in (os.path.realpath(root), os.path.realpath(asked.bids_dir)):
        raise scans.Unusable("OUT is the data set itself; give another folder, for example BIDS_DIR/derivatives/"
                             "hotfiber")
    found, without, left_out = scans.find(root, asked.participant_label, asked.session_label, listed_in=asked.bids_dir)
    if asked.scan:
        names = [scan.name for scan in found]
        if asked.scan not in names:
            why = [f"{lacks.path}: {lacks.why}" for lacks in left_out
                   if os.path.basename(lacks.path).startswith(asked.scan + "_")]
            raise scans.Unusable(why[0] if why else f"there is no scan '{asked.scan}' in '{root}'; there are "
                                 f"{', '.join(names[:6]) or 'none'}")
        found = [scan for scan in found if scan.name == asked.scan]
    work = os.path.abspath(asked.work_dir or os.path.join(out, ".work"))
    settings = Settings(out, work, root, asked.hotfiber_options, parts=asked.parts, force=asked.force)
    return [Job(scan, settings) for scan in found], without, left_out, settings


def cpus(asked):
    return asked.nprocs or len(os.sched_getaffinity(0))


def share(memory, workers):
    """The share of `8G` for each worker, in MB; without a size 60 % of the free memory."""
    if not memory:
        free = process.free_memory()
        return f"{max(1, int(.6 * free / workers))}M" if free else None
    value, unit = re.fullmatch(r"([0-9.]+)([a-zA-Z]?).*", memory).groups()
    scale = {"": 1 / 1048576, "k": 1 / 1024, "m": 1., "g": 1024., "t": 1048576.}.get(unit.lower(), 1.)
    return f"{max(1, int(float(value) * scale / workers))}M"


def tell_left_out(left_out):
    """Prints the skipped files, a line each. Returns the names of the faulty ones."""
    for lacks in left_out:
        say(f"{lacks.path}: {'' if lacks.failed else 'left out: '}{lacks.why}")
    return [shown(lacks.path) for lacks in left_out if lacks.failed]


def participant(asked, jobs, without, left_out, settings):
    """Does the scans, several at a time, each with its share of CPUs and memory. Returns the exit status."""
    derivatives.write_description(settings.out, settings.root, settings.version)
    waiting, failed, busy = [], tell_left_out(left_out), False
    total = len(jobs) + len(failed)
    for job in jobs:
        if job.done():
            job.tidy()
            print(f"{job.scan.name}: done already", flush=True)
        else:
            waiting.append(job)
    workers = max(1, min(cpus(asked), len(waiting)))
    settings.threads, settings.memory = max(1, cpus(asked) // workers), share(asked.mem, workers)
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        running = {pool.submit(job.whole): job for job in waiting}
        for ended in concurrent.futures.as_completed(running):
            name, status = running[ended].scan.name, ended.result()
            if status["status"] == "done":
                print(f"{name}: done in {status['seconds']:.0f} s", flush=True)
            else:
                failed.append(name)
                busy |= status["status"] == "busy"
                say(f"{name}: {status['message']}")
    for subject in without:
        expected = asked.participant_label or asked.derivatives
        say(f"sub-{subject}: no diffusion images" + ("" if expected else ": nothing to do"))
        failed += [f"sub-{subject}"] if expected else []
        total += 1 if expected else 0
    if not asked.work_dir:
        with contextlib.suppress(OSError): # unless something is kept there
            os.rmdir(settings.work)
    if failed:
        say(f"{len(failed)} of {total} scans failed: {', '.join(sorted(failed))}" +
            ("" if busy else "; their pages say why"))
    return 1 if failed else 0


def stage(asked, job):
    """One stage of one scan. Status 0 as well where the data are at fault, which the stage `report` puts on record:
    another try would end alike. Other failures, such as a kill, have status 1."""
    if asked.stage == "learn":
        derivatives.write_description(job.settings.out, job.settings.root, job.settings.version)
        target, work = job.model, job.learn
    elif asked.stage == "part":
        if not asked.part or asked.part > asked.parts:
            raise scans.Unusable("--stage part needs --part K with K from 1 to the number of --parts")
        target, work = job.part_path(asked.part), lambda: job.part(asked.part)
    elif asked.stage == "merge":
        target, work = os.path.join(job.work, "merged"), job.merge
    else:
        status = job.report()
        if status["status"] != "done":
            say(f"{job.scan.name}: {status['message']}")
        return 0
    if asked.stage != "learn":
        if job.failed_for_good():
            derivatives.write_text(target, "")
            return 0
        job.forget_failure()
    if work():
        return 0
    say(f"{job.scan.name}: {job.why()}")
    if job.failed_for_good():
        derivatives.write_text(target, "")
        return 0
    return 1


def main():
    process.stop_on_signals()
    asked = parser().parse_args()
    try:
        if asked.stage and not asked.scan:
            raise scans.Unusable("--stage needs --scan")
        jobs, without, left_out, settings = jobs_of(asked)
        if asked.list_json:
            tell_left_out(left_out)
            print(json.dumps({job.scan.name: job.scan.files() for job in jobs}))
            return 0
        if asked.list:
            for job in jobs:
                print("\t".join([job.scan.name, *map(shown, job.scan.files())]))
            return 0
        if asked.analysis_level == "group":
            derivatives.write_description(settings.out, settings.root, settings.version)
            rows = group.make(jobs, without, left_out, settings.out, settings.version)
            failed = [row["scan"] for row in rows if row["status"] != "done"]
            print(f"{len(rows) - len(failed)} of {len(rows)} scans: "
                  f"{shown(os.path.join(asked.output_dir, 'group_dwi.html'))}")
            if failed:
                say(f"{len(failed)} of {len(rows)} scans failed or were not done: {', '.join(failed)}")
            return 1 if failed else 0
        if asked.stage:
            settings.threads, settings.memory = cpus(asked), share(asked.mem, 1) if asked.mem else None
            return stage(asked, jobs[0])
        if not asked.skip_bids_validation:
            validate(asked.bids_dir)
        return participant(asked, jobs, without, left_out, settings)
    except (scans.Unusable, OSError, ValueError) as error:
        say(error)
        return 1
