"""hotfiber run --resume: after a kill at any moment the same command continues from the finished part and writes byte
by byte the files of an uninterrupted run. HOT_TEST_LONG=1 kills it at 50 moments of every kind of run."""
import fcntl
import random
import shutil
import signal
import time

from _folders import same
from cli import *

KILLS = 50 if os.environ.get("HOT_TEST_LONG") else 2
SIZE = "36,34,12" if KILLS > 2 else "24,22,8"
works("phantom", "--layout", "bundles", "--size", SIZE, "--snr", 25, "-b", "1000,2500", "--directions", 32,
      "-o", "dwi.nrrd", "--seed", 5, "--quiet")
USED = "slabs were there already"


def size(name):
    return os.path.getsize(name) if os.path.exists(name) else 0


def kill(folder, call, moment):
    """Runs it, and kills it once it has kept another `moment` kB, or learned (0), or so many ms after (negative).
    Returns whether it went on from what an earlier one had kept."""
    found, before = f"{folder}.resume/found", size(f"{folder}.resume/found")
    process = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while process.poll() is None and moment >= 0 and (not os.path.exists(found) or
                                                       size(found) < before + 1000 * moment):
        time.sleep(.001)
    if moment < 0:
        time.sleep(-.001 * moment)
    process.send_signal(signal.SIGKILL)
    return USED in process.communicate()[1].decode()


reused = 0
for name, options in (("signal", ["--outputs", "all,maps"]), ("samples", ["--samples", 3, "--max_fibers", 2]),
                      ("denoise", ["--denoise", "--sigma", 40]), ("maxima", ["--method", "maxima"]),
                      ("msmt", ["--model", "msmt"])):
    works("run", "-i", "dwi.nrrd", "-o", f"{name}_whole", "--quiet", *options)
    call = [HOTFIBER, "run", "-i", "dwi.nrrd", "-o", name, "--resume", "--threads", "2", *map(str, options)]
    moments = random.Random(name)
    total = size(f"{name}_whole/peaks.nrrd") // 1000 + 50
    for _ in range(KILLS if name == "signal" or KILLS > 2 else 1):
        reused += kill(name, call, moments.choice([0, moments.randrange(total // 3), moments.randrange(total // 20),
                                                  -moments.randrange(1500)]))
        if os.path.exists(name): # it had ended: the next one begins anew
            check(os.path.exists(f"{name}/report.json"), f"{name}: half a folder")
            same(f"{name}_whole", name, name)
            shutil.rmtree(name)
    done = works(*call[1:])
    reused += USED in done.stderr
    check(not os.path.exists(f"{name}.resume"), f"{name}: its folder goes")
    check([entry for entry in os.listdir(".") if entry.startswith(".part-")] == [], f"{name}: {os.listdir('.')}")
    same(f"{name}_whole", name, name)

check(reused > 0, "nothing that was kept was ever used")

# The kept results are used, and checked: a damaged record and all after it are ignored. The damage is longer than a
# voxel's row, so that it would show in the files.
call = ["run", "-i", "dwi.nrrd", "-o", "out", "--resume", "--quiet"]
kill("out", [HOTFIBER, *call], 300)
check(os.path.exists("out.resume/model.json"), "the model exists")
kept = open("out.resume/found", "rb").read()
for number, position in enumerate((len(kept) // 2, len(kept) - 5, 30)):
    shutil.copytree("out.resume", f"kept_{number}.resume")
    damaged = bytes(byte ^ 0x15 for byte in kept[position:position + (4 if position == 30 else 600)])
    open(f"kept_{number}.resume/found", "wb").write(kept[:position] + damaged + kept[position + len(damaged):])
    done = hotfiber(*call[:4], f"kept_{number}", *call[5:])
    if position == 30: # in the header
        check(done.returncode == 1 and "it is damaged" in done.stderr, f"a damaged header: {done.stderr}")
    else:
        check(done.returncode == 0 and open(f"kept_{number}/peaks.nrrd", "rb").read() ==
              open("signal_whole/peaks.nrrd", "rb").read(), f"damaged at {position}: {done.stderr}")
for arguments, word in ((["--order", 4], "order is 4"), (["--noise_model", "gaussian"], "noise_model is"),
                        (["--outputs", "cone"], "other options"), (["--seed", 5], "other options")):
    before = tree("out.resume")
    done = hotfiber(*call, *arguments)
    check(done.returncode == 1 and word in done.stderr and done.stderr.count("\n") == 1 and
          tree("out.resume") == before and not os.path.exists("out"),
          f"{arguments}: {done.returncode} {done.stderr}")
holder = os.open("out.resume", os.O_RDONLY)
fcntl.flock(holder, fcntl.LOCK_EX)
done = hotfiber(*call)
check(done.returncode == 1 and "at work" in done.stderr, f"two at once: {done.stderr}")
os.close(holder)
works(*call)
check(open("out/peaks.nrrd", "rb").read() == open("signal_whole/peaks.nrrd", "rb").read(), "the same in the end")

# A model that was given is not kept a second time.
works("learn", "-i", "dwi.nrrd", "-o", "model.json", "--quiet")
call = [*call[:4], "known", *call[5:], "--learned", "model.json"]
kill("known", [HOTFIBER, *call], 100)
check(os.listdir("known.resume") == ["found"], f"with a model: {os.listdir('known.resume')}")
works(*call)
check(open("known/peaks.nrrd", "rb").read() == open("signal_whole/peaks.nrrd", "rb").read(), "the same with the model")
check(not os.path.exists("known.resume"), "its folder goes")

for arguments, word in ((["--part", "1/2"], "--resume"), (["--merge", "parts"], "--"), (["-i", "-"], "--resume")):
    before = tree()
    done = hotfiber("run", "-i", "dwi.nrrd", "-o", "p", "--resume", *arguments)
    check(done.returncode == 1 and word in done.stderr and done.stderr.count("\n") == 1 and tree() == before,
          f"{arguments}: {done.returncode} {done.stderr}")
end()
