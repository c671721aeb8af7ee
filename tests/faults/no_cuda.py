"""A machine whose GPU is missing, full, lost, or has another driver version, by a fake driver: by default the CPU does
the work, with the same result; an explicit --device cuda fails with one line that tells why."""
import os
import subprocess

from _dwi import HOT, check, end

DRIVER = os.path.join(os.environ["HOT_BUILD"], "lib", "no_cuda")


def call(environment, *words):
    return subprocess.run([HOT, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=300, text=True,
                          env={**os.environ, "LD_LIBRARY_PATH": DRIVER, "HOT_NO_CUDA_SEEN": "seen", **environment})


subprocess.run([HOT, "phantom", "--layout", "mixture", "--size", "5,4,3", "-o", "dwi.nrrd", "--quiet"], check=True)
subprocess.run([HOT, "run", "-i", "dwi.nrrd", "-o", "cpu", "--device", "cpu", "--quiet"], check=True)
expected = open("cpu/peaks.nrrd", "rb").read()
for number, what in ((100, "no device"), (2, "out of memory"), (46, "busy"), (719, "lost"), (802, "not ready"),
                     (803, "another version"), (999, "unknown"), (0, "no devices though it begins")):
    for version in ("13000", "1000"):
        environment = {"HOT_NO_CUDA": str(number), "HOT_NO_CUDA_VERSION": version}
        what = "%s (%d), driver %s" % (what.split(",")[0], number, version)
        done = call(environment, "run", "-i", "dwi.nrrd", "-o", "out", "--force", "--quiet")
        check(done.returncode == 0 and open("out/peaks.nrrd", "rb").read() == expected, "%s: %d %s" % (
            what, done.returncode, done.stderr))
        check(os.path.exists("seen"), "%s: the test's driver was not loaded" % what)
        for device in ("cuda", "cuda:1"):
            done = call(environment, "run", "-i", "dwi.nrrd", "-o", "gpu", "--device", device, "--quiet")
            check(done.returncode == 1 and done.stderr.count("\n") == 1 and not os.path.exists("gpu") and
                  "no GPU that CUDA can use was found" in done.stderr, "%s, explicit: %d %s" % (
                      what, done.returncode, done.stderr))
end()
