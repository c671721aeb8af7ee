"""One scan from data to derivatives: in one run, or in the stages learn, part, merge and report of the workflow."""
import contextlib
import fcntl
import os
import shutil
import time

from . import derivatives, page, process


class Settings:
    """What all scans of a call share."""

    def __init__(self, out, work, root, options=(), threads=1, memory=None, parts=1, force=False):
        self.out, self.work, self.root = out, work, root
        self.options, self.threads, self.memory = list(options), threads, memory
        self.parts, self.force = parts, force
        self.version = process.version()
        # --outputs belongs to a run and a merge, --device to every call, the other options to what is learned.
        self.outputs = self._take("--outputs") or ["--outputs", "default,maps"]
        self.device = self._take("--device")

    def _take(self, name):
        """An option with its value, out of the others."""
        if name in self.options[:-1]:
            at = self.options.index(name)
            taken, self.options[at:at + 2] = self.options[at:at + 2], []
            return taken
        return []


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

    # ---- What hotfiber is called with

    def _input(self):
        scan, given = self.scan, []
        for option, path in (("--bval", scan.bval), ("--bvec", scan.bvec), ("--grad", scan.grad),
                             ("--mask", None if "--mask" in self.settings.options else scan.mask)):
            given += [option, path] if path else []
        return ["-i", scan.path, *given]

    def _common(self):
        settings = self.settings
        return ["--threads", str(settings.threads), "--progress", "none", *settings.device,
                *(["--memory", settings.memory] if settings.memory else [])]

    def made_of(self):
        """What decides the result: another one means that the scan is done again."""
        return [self.settings.version, self.scan.stamp(), self.settings.options, self.settings.outputs]

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
                          ["run", "--learned", self.model, "--part", f"{number}/{self.settings.parts}", "-o",
                           self.parts, "--force", *self._common()])

    def part_path(self, number):
        return os.path.join(self.parts, f"part-{number}-of-{self.settings.parts}.nrrd")

    def merge(self):
        threads = ["--threads", str(self.settings.threads), "--progress", "none"]
        return self._call("merge", ["merge", self.parts, "-o", self.run_folder, *self.settings.outputs, "--report",
                                    "--force", *threads])

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
        """All of it in one process; the stages where it is to be in parts."""
        with self._alone() as alone:
            if alone:
                return self.done() or self._whole()
        return {"status": "busy", "message": "another hotfiber-bids is at work on it"}

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
                               *self.settings.options, *self._common(), "--report", "--resume", "--force"])
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
        ended = process.run(arguments, self.log)
        with open(self.used, "a", encoding="utf-8") as file: # parts may run at the same time
            file.write(f"{stage}\t{ended.seconds:.3f}\t{ended.cpu_seconds:.3f}\n")
        if ended.status:
            self._failed(stage, ended.status, ended.message)
        return ended.status == 0

    def _failed(self, stage, status, message):
        message = message.replace(os.path.join(self.scan.root, ""), "") # paths as they are in the data set
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
        derivatives.publish(self.run_folder, self.scan, self.settings.out)

    def _log_text(self):
        try:
            with open(self.log, encoding="utf-8", errors="replace") as file:
                return file.read()
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
            "remarks": scan.remarks, "gradients": [os.path.relpath(path, scan.root).replace(os.sep, "/")
                                                   for path in (scan.bval, scan.bvec, scan.grad) if path],
            "mask": os.path.relpath(scan.mask, scan.root).replace(os.sep, "/") if scan.mask else None,
            "scanner": {key: scan.metadata[key] for key in ("Manufacturer", "ManufacturersModelName",
                                                            "MagneticFieldStrength") if key in scan.metadata},
            "seconds": round(seconds, 3), "cpu_seconds": round(cpu_seconds, 3),
            "ended": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "made_of": self.made_of(), "log": self._log_text().splitlines()[-200:],
        }

    def _record(self, failure):
        scan, settings, status = self.scan, self.settings, self.describe(failure)
        if failure:
            derivatives.remove(scan, settings.out)
            page.write_failed(os.path.join(settings.out, scan.name + ".html"), status, settings.version)
        derivatives.write_json(self.status_path, status)
        return status
