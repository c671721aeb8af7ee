"""Where programs are run: small disks, small stacks, many threads, no folder for temporary files, folders that cannot
be written to, names that are no text, pipes as input and output, files of the future and of 1970, two runs into one
folder, and kill -9 at any moment. HOT_TEST_LONG=1: 200 moments instead of 4."""
import os
import random
import shutil
import signal
import subprocess
import threading
import time

from _dwi import HOT, check, end

KILLS = 200 if os.environ.get("HOT_TEST_LONG") else 4
SANITIZED = os.environ.get("HOT_SANITIZED", "") not in ("", "OFF")


def call(*words, before=None, **more):
    return subprocess.run([HOT, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=300, preexec_fn=before, **more)


def works(what, *words, **more):
    done = call(*words, "--quiet", **more)
    check(done.returncode == 0 and not done.stderr, "%s: %d %s" % (what, done.returncode, done.stderr))


def fails(what, word, *words, **more):
    """Status 1, one line with this word."""
    done = call(*words, "--quiet", **more)
    text = done.stderr.decode(errors="replace")
    check(done.returncode == 1 and text.count("\n") == 1 and word in text, "%s: %d %s" % (what, done.returncode, text))


def content(folder):
    """Every file; report.json has times in it."""
    return {os.path.relpath(os.path.join(path, name), folder): open(os.path.join(path, name), "rb").read()
            for path, _, names in os.walk(folder) for name in names if os.fsencode(name) != b"report.json"}


works("phantom", "phantom", "--layout", "mixture", "--size", "8,8,6", "--seed", "3", "-o", "dwi.nii.gz")
learns = ["run", "--no_report", "--device", "cpu", "-i", os.path.abspath("dwi.nii.gz"), "-o"]
works("run", *learns, "whole")
whole = content("whole")
# Learning takes most of a run. Threads and memory are tested with it below; the rest uses learned priors.
works("learn", "learn", "-i", "dwi.nii.gz", "-o", "model.json")
run = ["run", "--learned", os.path.abspath("model.json"), *learns[1:]]
check(len(whole) > 5, "a run leaves files: %s" % sorted(whole))

# ---- Threads and stacks
import resource
for threads in ("1", "3", "777"):
    works("%s threads" % threads, *learns, "t" + threads, "--threads", threads)
    check(content("t" + threads) == whole, "%s threads: the same bytes" % threads)
fails_of_threads = call("run", "-i", "dwi.nii.gz", "-o", "x", "--threads", "100000")
check(fails_of_threads.returncode == 2 and b"--threads" in fails_of_threads.stderr, "too many threads are refused")
if not SANITIZED:
    small = 256 << 10
    works("a stack of 256 KB", *learns, "stack", "--threads", "2",
          before=lambda: resource.setrlimit(resource.RLIMIT_STACK, (small, small)),
          env={**os.environ, "OMP_STACKSIZE": "256k"})
    check(content("stack") == whole, "a stack of 256 KB: the same bytes")
    # address space: out of memory gives one line. OpenBLAS's own threads retry forever without memory.
    for limit in (64, 128, 256, 512):
        done = call(*learns, "m%d" % limit, "--quiet", "--threads", "1",
                    env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
                    before=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit << 20, limit << 20)))
        text = done.stderr.decode(errors="replace")
        if done.returncode == 127 or "error while loading" in text:
            continue  # not even the libraries had room
        check((done.returncode == 0 and content("m%d" % limit) == whole) or
              (done.returncode == 1 and text.count("\n") == 1 and not os.path.exists("m%d" % limit)),
              "%d MB: %d %s" % (limit, done.returncode, text))
    works("few open files", *run, "files", before=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (24, 24)))
    done = call(*run, "nofile", "--quiet", before=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (5, 5)))
    check(done.returncode in (0, 1, 127) and not (done.returncode and os.path.exists("nofile")),
          "5 open files: %d %s" % (done.returncode, done.stderr))
    # the largest file that may be written, which is a signal otherwise
    limit = 3000
    for at in (100, limit, 20000):
        done = call(*run, "size", "--quiet", before=lambda: (signal.signal(signal.SIGXFSZ, signal.SIG_IGN),
                                                             resource.setrlimit(resource.RLIMIT_FSIZE, (at, at))))
        text = done.stderr.decode(errors="replace")
        check(done.returncode == 1 and text.count("\n") == 1 and not os.path.exists("size"),
              "files of %d bytes at most: %d %s" % (at, done.returncode, text))

# ---- Folders and names
nowhere = {**os.environ, "TMPDIR": "/there/is/none", "HOME": "/there/is/none", "XDG_CACHE_HOME": "/there/is/none"}
works("no temporary folder, no home", *run, "notmp", env=nowhere)
check(content("notmp") == whole, "no temporary folder: the same bytes")
name = b"sm\xf6rg\xe5s \n\xff\xed\xa0\x80\xf4\x90\x80\x80"  # half a pair, and beyond Unicode
shutil.copy("dwi.nii.gz", name + b".nii.gz")
for ending in ("bval", "bvec"):
    if os.path.exists("dwi." + ending):
        shutil.copy("dwi." + ending, name + b"." + ending.encode())
done = subprocess.run([HOT.encode(), b"run", b"--no_report", b"-i", name + b".nii.gz", b"-o", name, b"--quiet",
                       b"--device", b"cpu"],
                      stdout=subprocess.PIPE, stderr=subprocess.PIPE)
check(done.returncode == 0, "names that are no UTF-8: %s" % done.stderr)
check(content(name) == {key.encode(): value for key, value in whole.items()}, "names that are no UTF-8: the same bytes")
open(name + b"/report.json", encoding="utf-8").read()  # valid UTF-8

os.mkdir("fixed")
os.mkdir("free")
os.chmod("fixed", 0o555)
os.chmod("free", 0o777)
plain = None if os.geteuid() else lambda: os.setuid(65534)  # root may write everywhere
try:
    reached = call("info", "-i", os.path.abspath("dwi.nii.gz"), before=plain).returncode == 0
except PermissionError:  # the command itself cannot be reached
    reached = False
if reached:  # where the checkout is in a folder of root's alone it is not
    fails("a folder that cannot be written to", "fixed/out", *run, "fixed/out", before=plain)
    works("a working folder that cannot be written to", *run, os.path.abspath("free/out"), cwd="fixed", before=plain)
    check(content("free/out") == whole, "a working folder that cannot be written to: the same bytes")

# ---- Pipes
os.mkfifo("pipe.nrrd")
works("as NIfTI", "convert", "-i", "dwi.nii.gz", "-o", "plain.nrrd")


def feed():
    with open("pipe.nrrd", "wb") as pipe, open("plain.nrrd", "rb") as file:
        shutil.copyfileobj(file, pipe)


feeder = threading.Thread(target=feed)
feeder.start()
works("a pipe as input", "run", "--no_report", "--device", "cpu", "-i", "pipe.nrrd", "-o", "piped")
feeder.join()
works("from the same as a file", "run", "--no_report", "--device", "cpu", "-i", "plain.nrrd", "-o", "unpiped")
check(content("piped") == content("unpiped"), "a pipe as input: the same bytes")
fit = ["fit", "-i", "plain.nrrd", "-o", "out.nrrd", "--quiet", "--diffusivities", "1.7e-3,.3e-3"]
os.mkfifo("out.nrrd")
read = []
reader = threading.Thread(target=lambda: read.append(open("out.nrrd", "rb").read()))
reader.start()
works("a pipe as output", *fit[:-3], *fit[-2:])
reader.join()
os.remove("out.nrrd")
works("the same to a file", *fit[:-3], *fit[-2:])
check(read == [open("out.nrrd", "rb").read()], "a pipe as output: the same bytes")

# ---- A clock that jumped: files of the future and of 1970 as input
for when in (0, 2 ** 33):
    os.utime("dwi.nii.gz", (when, when))

    works("a clock that says %d" % when, *run, "clock%d" % (when > 0))
    check(content("clock%d" % (when > 0)) == whole, "a clock that says %d: the same bytes" % when)

# ---- Two runs into the same folder: the result of one is complete, the other fails with a message
two = [subprocess.Popen([HOT, *run, "both", "--quiet", "--force"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
       for _ in range(2)]
ends = [(process.communicate()[1].decode(), process.returncode) for process in two]
check(any(status == 0 for _, status in ends), "two runs into one folder: one ends well: %s" % ends)
check(all(status == 0 or (status == 1 and text.count("\n") == 1) for text, status in ends), "two runs: %s" % ends)
check(content("both") == whole, "two runs into one folder: it holds one of them")
check(not [entry for entry in os.listdir(".") if entry.startswith(".part-")], "two runs: %s" % os.listdir("."))

# ---- A full disk: a file system of so many KB
os.mkdir("disk")
if os.geteuid() == 0 and subprocess.run(["unshare", "-m", "true"], stderr=subprocess.DEVNULL).returncode == 0:
    script = ('mount -t tmpfs -o size="$1"k none disk || exit 99; shift; "$@"; status=$?; find disk -mindepth 1 >left; '
              'exit $status')
    for size in (4, 8, 16, 24, 40):
        for words in (["-o", "disk/out"], ["-o", "disk/deep/out", "--outputs", "all"]):
            done = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", str(size), HOT, *run[:-1], *words,
                                   "--quiet"], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE)
            text, left = done.stderr.decode(), open("left").read().split()
            if done.returncode == 99:
                print("no file system could be made")
                break
            check(done.returncode == 1 and text.count("\n") == 1 and ("space" in text or "full" in text),
                  "a disk of %d KB: %d %s" % (size, done.returncode, text))
            check(all(path == "disk/deep" for path in left), "a disk of %d KB: left %s" % (size, left))
else:
    print("not tried without root: a disk that is full")

# ---- kill -9 at random moments: files are complete, and the next run removes the killed one's leftovers
moments = random.Random(20261125)
begin = time.monotonic()
works("how long a run takes", *learns, "timed")
takes = time.monotonic() - begin
killed = 0
for number in range(KILLS):
    shutil.rmtree("killed", ignore_errors=True)
    before = moments.random() < .5
    if before:
        shutil.copytree("whole", "killed")
    process = subprocess.Popen([HOT, *learns, "killed", "--quiet", "--force"], stderr=subprocess.DEVNULL)
    time.sleep(moments.random() * takes)
    process.kill()
    killed += process.wait() == -signal.SIGKILL
    check(content("killed") == whole if os.path.exists("killed") else not before,
          "killed at moment %d: %s" % (number, sorted(os.listdir("killed")) if os.path.exists("killed") else "gone"))
works("after all these", *run, "killed", "--force")
check(content("killed") == whole, "after all these: the same bytes")
left = [entry for entry in os.listdir(".") if entry.startswith(".part-")]
check(not left, "the next run clears up: %s" % left)
check(killed > 0, "no run was killed")
print("%d of %d runs were killed" % (killed, KILLS))
end()
