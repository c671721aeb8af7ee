"""A stage that is stopped, or killed, leaves no half file; what stood there before is untouched."""
import shutil
import signal
import time

from cli import *

LONG = bool(os.environ.get("HOT_TEST_LONG"))
works("phantom", "--layout", "bundles", "--size", "56,56,24", "-o", "dwi.nrrd", "--type", "uint16", "--quiet")
works("fit", "-i", "dwi.nrrd", "-o", "tensors.nrrd", "--model", "adc", "--order", 8, "--quiet")
if not LONG:  # half of each call's time would pass before it begins an output
    works("learn", "-i", "dwi.nrrd", "-o", "model.json", "--quiet")
calls = {"run": ["run", "-i", "dwi.nrrd", "-o", "out", "--method", "sshopm", "--starts", 200],
         "signal": ["run", "-o", "out", *(["-i", "dwi.nrrd"] if LONG else ["--learned", "model.json"])],
         "fit": ["fit", "-i", "dwi.nrrd", "-o", "out"],
         "peaks": ["peaks", "-i", "tensors.nrrd", "-o", "out", "--method", "sshopm", "--starts", 200]}


def wait_for_work(process, seconds, output=True):
    """Until it has begun an output, and has computed for so long: its own time, whatever else the machine does."""
    ticks = os.sysconf("SC_CLK_TCK")
    while process.poll() is None:
        try:
            fields = open(f"/proc/{process.pid}/stat").read().rsplit(")", 1)[1].split()
        except OSError:
            return
        spent = (int(fields[11]) + int(fields[12])) / ticks
        if spent >= seconds and (not output or any(".part-" in place for place in os.listdir("."))):
            return
        time.sleep(.001)


stopped = tried = 0
for name, call in calls.items():
    # of every kind of work by two signals, of the usual one by all; HOT_TEST_LONG=1: all by all
    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL)
    for number in numbers if LONG or name == "signal" else numbers[::3]:
        for wait in ((0, .2) if number == signal.SIGTERM and (LONG or name == "signal") else (.1,)):
            before = tree()
            process = subprocess.Popen([HOTFIBER, *map(str, call), "--threads", "1", "--quiet"],
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            if LONG or name != "peaks":
                wait_for_work(process, wait)
            else:  # it has an output only when all is found, after 12 s
                wait_for_work(process, 1 + wait, output=False)
            process.send_signal(number)
            tried += 1
            begin = time.monotonic()
            _, errors = process.communicate(timeout=120)
            errors = errors.decode()
            took = time.monotonic() - begin
            what = f"{name} stopped by {number.name} after {wait} s"
            if process.returncode == 0:  # it was done before the signal came
                (shutil.rmtree if os.path.isdir("out") else os.remove)("out")
                check(set(tree()) == set(before), f"{what}: done, without other files")
                continue
            stopped += 1
            check(not os.path.lexists("out"), f"{what}: there is an output")
            if number == signal.SIGKILL or process.returncode < 0:
                # No program can clean up after SIGKILL or an early signal; leftovers have temporary names.
                left = {path for path in set(tree()) - set(before)}
                check(all(".part-" in path for path in left), f"{what}: left {left}")
                for path in sorted(left, reverse=True):
                    (os.rmdir if os.path.isdir(path) else os.remove)(path)
                continue
            check(process.returncode == 1, f"{what}: status {process.returncode}")
            errors = "".join(line for line in errors.splitlines(True) if not line.startswith("warning: "))
            check(errors.count("\n") == 1 and "cancelled" in errors, f"{what}: {errors}")
            check(tree() == before, f"{what}: left {set(tree()) ^ set(before)}")
            check(took < 100, f"{what}: stopped after {took:.1f} s only")  # a hang, however loaded the machine is
check(stopped >= tried - 2, f"only {stopped} runs of {tried} were still at work when the signal came")

# A run that is stopped while it replaces an earlier one leaves the earlier one.
works("phantom", "--voxels", 20, "-o", "small.nrrd", "--quiet")
works("run", "-i", "small.nrrd", "-o", "kept", "--quiet", "--model", "adc", "--order", 4)
before = tree()
process = subprocess.Popen([HOTFIBER, "run", "-i", "dwi.nrrd", "-o", "kept", "--force", "--method", "sshopm",
                            "--starts", "200", "--threads", "1"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE)
wait_for_work(process, .1)
process.terminate()
process.communicate(timeout=120)
check(process.returncode == 1 and tree() == before, "the earlier result is untouched")
end()
