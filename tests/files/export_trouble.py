"""hotfiber export with bad input: one line, exit status 1, nothing written (bad places: cli_bad_input and
unit_export_formats)."""
import os
import subprocess

from _export import HOTFIBER, export, make
from counted import check, end


def attempt(arguments, status, must="", source=None):
    """Runs export; the folder must be as before, stderr one line that speaks of `must`."""
    before = {name: os.lstat(name).st_mtime_ns for name in os.listdir(".")}

    done = subprocess.run([HOTFIBER, "export", *arguments], capture_output=True, text=True,
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

# a pipe
piped = subprocess.run([HOTFIBER, "export", "-o", "-", "--format", "peaks"], stdin=open("in.nrrd", "rb"),
                       capture_output=True)
check(piped.returncode == 0 and piped.stdout.startswith(b"NRRD"), "from standard input to standard output")
listed = subprocess.run([HOTFIBER, "export", "--list"], capture_output=True, text=True)
check(listed.returncode == 0 and all(name in listed.stdout for name in ("peaks", "vtp", "fixels", "png", "dec")),
      "--list")
end()
