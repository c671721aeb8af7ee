"""hotfiber export with bad input and bad places to write to: one line, exit status 1 (2 for wrong usage), nothing
written, inputs untouched."""
import os
import resource
import subprocess

from _export import HOTFIBER, export, make
from counted import check, end


def attempt(arguments, status, must="", source=None, limit=None):
    """Runs export; the folder must be as before, stderr one line that speaks of `must`."""
    before = {name: os.lstat(name).st_mtime_ns for name in os.listdir(".")}

    def restrict():
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    done = subprocess.run([HOTFIBER, "export", *arguments], capture_output=True, text=True, preexec_fn=restrict,
                          stdin=open(source, "rb") if source else subprocess.DEVNULL)
    what = " ".join(arguments)
    check(done.returncode == status, f"{what}: exit status {done.returncode}: {done.stderr}")
    check(done.stderr.count("\n") == 1 and must in done.stderr, f"{what}: should speak of '{must}': {done.stderr!r}")
    check({name: os.lstat(name).st_mtime_ns for name in os.listdir(".")} == before, f"{what}: the folder changed")


make("lps_oblique", "in.nrrd")
export("in.nrrd", "in.nii.gz")
export("in.nrrd", "plain.nii")
with open("in.nrrd", "rb") as f:
    whole = f.read()

# an input is never the output, by any name
os.symlink("in.nrrd", "soft.nrrd")
os.link("in.nrrd", "hard.nrrd")
os.mkdir("sub")
for output in ("in.nrrd", "./in.nrrd", "sub/../in.nrrd", "soft.nrrd", "hard.nrrd"):
    attempt(["-i", "in.nrrd", "-o", output], 1, "in.nrrd")
attempt(["-i", "soft.nrrd", "-o", "in.nrrd"], 1, "in.nrrd")
with open("in.nrrd", "rb") as f:
    check(f.read() == whole, "the input is unchanged")

# inputs that are not there, or nothing, or broken
os.symlink("nowhere", "dangling.nrrd")
broken = {"empty.nrrd": b"", "empty.nii": b"", "garbage.nrrd": bytes(range(256)) * 9,
          "garbage.nii.gz": bytes(range(256)) * 9,
          "text.nrrd": b"hello\nworld\n", "short.nrrd": whole[:-1], "header.nrrd": whole[:200],
          "short.nii": open("plain.nii", "rb").read()[:-1], "head.nii": open("plain.nii", "rb").read()[:351],
          "short.nii.gz": open("in.nii.gz", "rb").read()[:-30],
          "scalar.nrrd": b"NRRD0004\ntype: float\ndimension: 3\nsizes: 2 2 2\nencoding: raw\nendian: little\n\n" +
                         bytes(32),
          "seven.nrrd": b"NRRD0004\ntype: float\ndimension: 4\nsizes: 7 1 1 1\nencoding: raw\nendian: little\n\n" +
                        bytes(28),
          "huge.nrrd": b"NRRD0004\ntype: float\ndimension: 4\nsizes: 3 2000000 2000000 2000000\nencoding: raw\n"
                       b"endian: little\n\n" + bytes(28),
          "block.nrrd": b"NRRD0004\ntype: block\nblock size: 4\ndimension: 4\nsizes: 3 1 1 1\nencoding: raw\n\n" +
                        bytes(12)}
six = b"NRRD0004\ntype: float\ndimension: 4\nsizes: 6 1 1 1\nencoding: raw\nendian: little\n%s\n\n" + bytes(24)
others = {"tensor.nrrd": six % b"kinds: 3D-symmetric-matrix ??? ??? ???",
          "label.nrrd": six % b'labels: "tijk_2o3d_sym" "" "" ""',
          "dwi.nrrd": six % b"modality:=DWMRI"}  # something else that has the size of directions
broken.update(others)
with open("six.nrrd", "wb") as f:
    f.write(six % b"content: directions")
export("six.nrrd", "six.vtp")  # without such words the same is taken
for name, data in broken.items():
    with open(name, "wb") as f:
        f.write(data)
for name in list(broken) + ["missing.nrrd", "missing.nii.gz", "dangling.nrrd", "sub"]:
    for output in ("out.vtp", "nfibers.nii.gz", "new_fixels"):
        attempt(["-i", name, "-o", output], 1, name)
attempt(["-o", "out.vtp"], 1, source="garbage.nrrd")
attempt(["-o", "out.vtp"], 1)  # standard input is empty

# wrong usage, and names that say nothing
attempt(["-i", "in.nrrd"], 2, "-o")
attempt(["-i", "in.nrrd", "-o", "out.gif"], 1, "--list")
attempt(["-i", "in.nrrd", "-o", "out.nrrd", "--format", "gif"], 1, "gif")

# places that cannot be written
for output in ("sub", "in.nrrd/out.vtp", "/proc/out.vtp", "/dev/full"):
    attempt(["-i", "in.nrrd", "-o", output, "--format", "vtp"], 1, output)
for output in ("peaks.nii.gz", "peaks.nii", "peaks.nrrd", "peaks.nhdr", "dec.nii", "out.vtp", "out.png", "fiber.nrrd",
               "new_fixels"):
    attempt(["-i", "in.nrrd", "-o", output], 1, output.split(".")[0], limit=100)
attempt(["-i", "in.nrrd", "-o", "-", "--format", "fiber"], 1)

# what a failed export would have replaced is still there
with open("keep.vtp", "w") as f:
    f.write("old")
attempt(["-i", "in.nrrd", "-o", "keep.vtp"], 1, limit=100)
check(open("keep.vtp").read() == "old", "the old file stays")

# a pipe
piped = subprocess.run([HOTFIBER, "export", "-o", "-", "--format", "peaks"], stdin=open("in.nrrd", "rb"),
                       capture_output=True)
check(piped.returncode == 0 and piped.stdout.startswith(b"NRRD"), "from standard input to standard output")
listed = subprocess.run([HOTFIBER, "export", "--list"], capture_output=True, text=True)
check(listed.returncode == 0 and all(name in listed.stdout for name in ("peaks", "vtp", "fixels", "png", "dec")),
      "--list")
end()
