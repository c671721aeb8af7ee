"""One scan from data to derivatives: in one run, or in the stages learn, part, merge and report of the workflow."""
import contextlib
import fcntl
import html
import os
import re
import shutil
import time

from . import derivatives, files, page, process
from .text import shown

# How much of hotfiber's messages is recorded.
LOG_LARGEST = 200 << 10
# Options of hotfiber run whose value is a file, or several with commas between them.
FILES = ("--mask", "--response", "--bval", "--bvec", "--grad")


class Settings:
    """The common settings of a call's scans."""

    def __init__(self, out, work, root, options=(), threads=1, memory=None, parts=1, force=False):
        self.out, self.work, self.root = out, work, root
        self.options, self.threads, self.memory = list(options), threads, memory
        self.parts, self.force = parts, force
        self.version = process.version()
        # --outputs belongs to a run and a merge, --device to every call, the other options to `learn`.
        self.outputs = self._take("--outputs") or ["--outputs", "default,maps"]
        self.device = self._take("--device")
        self.samples = self._take("--samples")
        self.option_files = self._find_files()

    def _take(self, name):
        """An option with its value, out of the others."""
        for at, word in enumerate(self.options):
            if word == name and at + 1 < len(self.options):
                taken, self.options[at:at + 2] = self.options[at:at + 2], []
                return taken
            if word.startswith(name + "="):
                return self.options.pop(at).split("=", 1)
        return []

    def _find_files(self):
        """The files that options name. Their names become absolute: hotfiber is called in the data set's folder."""
        found = []
        for at, word in enumerate(self.options):
            name, equals, value = word.partition("=")
            before = self.options[at - 1] if at else ""
            if not (equals and name in FILES) and before not in FILES:
                continue
            paths = [os.path.abspath(path) for path in (value if equals and name in FILES else word).split(",")]
            found += paths
            self.options[at] = (name + equals if equals and name in FILES else "") + ",".join(paths)
        return found

    def stamps(self):
        """Names, sizes and times of these files."""
        return [stamp(path) for path in self.option_files]


def stamp(path):
    """Name, size and time of a file, to see whether it changed."""
    about = os.stat(path) if os.path.exists(path) else None
    return [os.path.basename(path), *([about.st_size, about.st_mtime_ns] if about else [])]


def _hider(folders):
    """A function that takes these folders off the beginning of paths in a text, also in a text of HTML."""
    ways = {way for folder in folders for way in (folder, os.path.realpath(folder)) if len(way) > 1}
    ways |= {html.escape(way) for way in ways} | {shown(way) for way in ways}
    if not ways:
        return lambda text: text
    pattern = re.compile("(?<![\\w./-])(?:" + "|".join(re.escape(way) for way in sorted(ways, key=len, reverse=True)) +
                         ")(?:/|(?![\\w.-]))")
    return lambda text: pattern.sub("", text)


class Job:
    """A scan with its settings; the methods are the stages. Nothing is printed here."""

    def __init__(self, scan, settings):
        self.scan, self.settings = scan, settings
        self.work = os.path.join(settings.work, scan.name)
        self.model = os.path.join(self.work, "model.json")
        self.parts = os.path.join(self.work, "parts")
        self.run_folder = os.path.join(self.work, "run")
        self.log = os.path.join(self.work, "log.txt")
        self.failure = os.path.join(self.work, "failed.json")
        self.used = os.path.join(self.work, "used")
        self.status_path = os.path.join(settings.out, "logs", scan.name + ".json")
        self.hide = _hider([scan.root, self.work, settings.work, settings.out,
                            *map(os.path.dirname, settings.option_files)])

    # ---- What hotfiber is called with

    def _data(self):
        """Paths relative to the data set's folder, where hotfiber is called."""
        scan, given = self.scan, []
        for option, path in (("--bval", scan.bval), ("--bvec", scan.bvec), ("--grad", scan.grad)):
            given += [option, scan.within(path)] if path else []
        return ["-i", scan.relative, *given]

    def _input(self):
        has_mask = self.scan.mask and not any(word.split("=")[0] == "--mask" for word in self.settings.options)
        return self._data() + (["--mask", self.scan.within(self.scan.mask)] if has_mask else [])

    def _common(self):
        settings = self.settings
        return ["--threads", str(settings.threads), "--progress", "none", *settings.device,
                *(["--memory", settings.memory] if settings.memory else [])]

    def made_of(self):
        """The settings that decide the result; if they change, the scan is processed again."""
        settings = self.settings
        return [settings.version, [stamp(path) for path in self.scan.files()],
                [self.hide(word) for word in settings.options], settings.outputs, settings.samples, settings.stamps()]

    # ---- Stages

    def start(self):
        """Removes what another version, other data or other options left unfinished."""
        note = os.path.join(self.work, "made_of.json")
        if derivatives.read_json(note) != self._plain(self.made_of() + [self.settings.parts]):
            shutil.rmtree(self.work, ignore_errors=True)
        self.forget_failure()
        derivatives.write_json(note, self.made_of() + [self.settings.parts])

    def learn(self):
        """As all stages: False where it failed; why is on record then."""
        self.start()
        for path in (self.parts, self.run_folder):
            shutil.rmtree(path, ignore_errors=True)
        if self.scan.problem:
            return self._failed("reading", 1, self.scan.problem)
        return self._call("learn", ["learn", *self._input(), "-o", self.model, *self.settings.options, *self._common()])

    def part(self, number):
        path = self.part_path(number)
        if os.path.exists(path) and os.path.getsize(path):
            return True
        return self._call(f"part {number} of {self.settings.parts}",
                          ["run", "--learned", self.model, *self._data(), "--part",
                           f"{number}/{self.settings.parts}", "-o", self.parts, *self.settings.samples, "--force",
                           *self._common()])

    def part_path(self, number):
        return os.path.join(self.parts, f"part-{number}-of-{self.settings.parts}.nrrd")

    def merge(self):
        return self._call("merge", ["run", "--learned", self.model, *self._data(), "--merge", self.parts, "-o",
                                    self.run_folder, *self.settings.samples, *self.settings.outputs, "--report",
                                    "--force", *self._common()])

    def report(self):
        """The run's files to their places, the page, and the record of how it went."""
        failure = derivatives.read_json(self.failure)
        if failure is None:
            self._move()
        status = self._record(failure)
        if failure is None:
            shutil.rmtree(self.work, ignore_errors=True)
        return status

    @contextlib.contextmanager
    def _alone(self):
        """Whether nobody else does this scan into the same folder just now; nobody will until the end. Where the file
        system has no locks that is not known."""
        path, handle = os.path.join(self.settings.work, f".{self.scan.name}.lock"), None
        os.makedirs(self.settings.work, exist_ok=True)
        try:
            while handle is None:
                handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o666)
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    yield False
                    return
                except OSError:
                    break
                if not os.path.exists(path) or not os.path.samestat(os.fstat(handle), os.stat(path)):
                    os.close(handle) # whoever had it has just removed it
                    handle = None
            try:
                yield True
            finally:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(path)
        finally:
            if handle is not None:
                os.close(handle)

    def whole(self):
        """Runs the scan in one process, or its stages if it is split into parts. Any failure is recorded and does not
        stop the other scans."""
        try:
            with self._alone() as alone:
                if alone:
                    return self.done() or self._whole()
            return {"status": "busy", "message": "another hotfiber-bids is at work on it"}
        except Exception as error: # pylint: disable=broad-except
            message = shown(error) or type(error).__name__
            with contextlib.suppress(Exception): # a full disk, most likely
                self._failed("hotfiber-bids", 1, message)
                return self.report()
            return {"status": "failed", "message": self.hide(message)}

    def tidy(self):
        """Removes what a call that was killed has left of a scan that is done."""
        with self._alone() as alone:
            if alone and self.done():
                shutil.rmtree(self.work, ignore_errors=True)
                derivatives.sweep(self.scan, self.settings.out)

    def _whole(self):
        self.start()
        if self.scan.problem:
            self._failed("reading", 1, self.scan.problem)
        elif self.settings.parts > 1:
            self.learn() if not os.path.exists(self.model) else None
            for number in range(1, self.settings.parts + 1):
                if not os.path.exists(self.failure):
                    self.part(number)
            if not os.path.exists(self.failure):
                self.merge()
        else:
            self._call("run", ["run", *self._input(), "-o", self.run_folder, *self.settings.outputs,
                               *self.settings.options, *self.settings.samples, *self._common(), "--report", "--resume",
                               "--force"])
        return self.report()

    # ---- Helpers

    @staticmethod
    def _plain(value):
        """As it is after JSON."""
        if isinstance(value, (list, tuple)):
            return [Job._plain(item) for item in value]
        return value

    def done(self):
        """The record of an earlier call whose result stands, or None."""
        status = derivatives.read_json(self.status_path)
        if (not self.settings.force and isinstance(status, dict) and status.get("status") == "done" and
                status.get("made_of") == self._plain(self.made_of()) and
                os.path.exists(os.path.join(self.settings.out, self.scan.name + ".html"))):
            return status
        return None

    def _call(self, stage, arguments):
        ended = process.run(arguments, self.log, self.scan.root)
        with open(self.used, "a", encoding="utf-8") as file: # parts may run at the same time
            file.write(f"{stage}\t{ended.seconds:.3f}\t{ended.cpu_seconds:.3f}\n")
        if ended.status:
            self._failed(stage, ended.status, ended.message)
        return ended.status == 0

    def _failed(self, stage, status, message):
        message = self.hide(shown(message))
        derivatives.write_json(self.failure, {"stage": stage, "exit": status, "message": message})
        return False

    def failed_for_good(self):
        """Whether a failure is on record that another try would not change."""
        failure = derivatives.read_json(self.failure)
        return bool(failure) and failure.get("exit") in (1, 2)

    def forget_failure(self):
        if os.path.exists(self.failure):
            os.unlink(self.failure)

    def why(self):
        return (derivatives.read_json(self.failure) or {}).get("message", "it failed")

    def _move(self):
        derivatives.publish(self.run_folder, self.scan, self.settings.out, self.hide)

    def _log_text(self):
        try:
            with open(self.log, "rb") as file:
                file.seek(max(0, os.path.getsize(self.log) - LOG_LARGEST))
                return file.read(LOG_LARGEST).decode(errors="replace")
        except OSError:
            return ""

    def _seconds(self):
        try:
            with open(self.used, encoding="utf-8") as file:
                lines = [line.split("\t") for line in file.read().splitlines()]
        except OSError:
            return 0., 0.
        return sum(float(line[1]) for line in lines), sum(float(line[2]) for line in lines)

    def describe(self, failure):
        """How it went: failure has stage, exit and message, or is None."""
        scan = self.scan
        seconds, cpu_seconds = self._seconds()
        return {
            "scan": scan.name, "subject": scan.subject, "session": scan.session, "image": scan.relative,
            "status": "failed" if failure else "done",
            **({"stage": failure["stage"], "exit": failure["exit"], "message": failure["message"]} if failure else {}),
            "remarks": scan.remarks,
            "gradients": [scan.within(path) for path in (scan.bval, scan.bvec, scan.grad) if path],
            "mask": scan.within(scan.mask) if scan.mask else None, "scanner": scan.metadata,
            "seconds": round(seconds, 3), "cpu_seconds": round(cpu_seconds, 3),
            "ended": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "made_of": self.made_of(), "log": [self.hide(shown(line)) for line in self._log_text().splitlines()[-200:]],
        }

    def _record(self, failure):
        scan, settings, status = self.scan, self.settings, self.describe(failure)
        if failure:
            derivatives.remove(scan, settings.out)
            page.write_failed(os.path.join(settings.out, scan.name + ".html"), status, settings.version)
        derivatives.write_json(self.status_path, status)
        return status
