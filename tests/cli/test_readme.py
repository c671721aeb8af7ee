"""README's first screen, on the scan of its picture: the commands end well and print what it shows, times aside;
and it keeps its size."""
import re
import shlex
import shutil

from cli import *

NUMBER = r"\d+(?:\.\d+)?"


def is_same(line, other):
    """But for what processors round differently: single voxels get another number of fibres."""
    if re.sub(r" +" + NUMBER, "#", line) != re.sub(r" +" + NUMBER, "#", other):
        return False
    return all(abs(float(a) - float(b)) <= max(10, .01 * float(b)) if "." not in a else abs(float(a) - float(b)) < .15
               for a, b in zip(re.findall(NUMBER, line), re.findall(NUMBER, other)))


text = open(os.path.join(os.environ["HOT_SOURCE"], "README.md"), encoding="utf-8").read()
check(text.count("\n") <= 160, f"at most 160 lines, not {text.count(chr(10))}")
for name in re.findall(r"\]\(([\w./-]+)\)", text):
    check(os.path.exists(os.path.join(os.environ["HOT_SOURCE"], name)), f"{name} exists")
scan = os.path.join(DATA, "pnl_wip_dti", "orig", "WIP_dti_ax_601")
if not os.path.exists(scan + ".nii.gz"):
    print("left out: no pnl_wip_dti in HOT_DATA")
    end()
for ending in ("nii.gz", "bval", "bvec"):
    shutil.copy(f"{scan}.{ending}", f"dwi.{ending}")
calls = re.findall(r"^    \$ hotfiber ([^\n#]*)[^\n]*\n((?:    [^$\n][^\n]*\n)*)", text, re.M)
check(len(calls) == 4, f"four commands: {calls}")
for words, shown in calls:
    if words.strip() == "view out":  # a window: tests/viz
        continue
    done = works(*shlex.split(words), "--device", "cpu")
    said = done.stdout.decode().splitlines()
    for line in shown.splitlines():
        line = line[4:]
        if " time " in line:
            continue
        check(any(is_same(line, other) for other in said), f"hotfiber {words}: prints '{line}', not {said}")
check(os.path.getsize("coronal.png") > 5000, "a picture")
end()
