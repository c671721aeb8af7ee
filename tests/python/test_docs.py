"""Every block of docs/python.md, in its order, in one program, in a folder with the sample data."""
import importlib.util
import re
import shutil

from cli import *

source = os.environ["HOT_SOURCE"]
for name in ("phantom.nhdr", "phantom.raw.gz"):
    shutil.copy(os.path.join(source, "sample_data", name), name)
with open(os.path.join(source, "docs", "python.md"), encoding="utf-8") as file:
    text = file.read()
names, blocks = {}, re.findall(r"```python ?(\w*)\n(.*?)```", text, re.DOTALL)
check(len(blocks) >= 7, f"{len(blocks)} blocks")
for needs, block in blocks:
    if needs and importlib.util.find_spec(needs) is None:
        print(f"not run: a block that needs {needs}")
        continue
    line = text[:text.index(block)].count("\n")
    try:
        exec(compile("\n" * line + block, "docs/python.md", "exec"), names)
    except Exception as error:
        check(False, f"docs/python.md, the block at line {line}: {error!r}")
    else:
        check(True, "")
check(os.path.exists("peaks.nii.gz") and os.path.exists("fixels/index.mif"), "files were written")
missing = [name for name in __import__("hotfiber").__all__ if name[0].islower() and name not in text
           and name not in ("command", "version")]
check(not missing, f"docs/python.md does not speak of {missing}")
end()
