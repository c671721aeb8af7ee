"""Every block of docs/python.md, in its order, in one program, in a folder with the sample data."""
import importlib
import importlib.util
import inspect
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

# Every public function and method has type hints for all that it takes and returns, and a text.
hotfiber = __import__("hotfiber")
modules = [hotfiber] + ([importlib.import_module("hotfiber.dipy")] if importlib.util.find_spec("dipy") else [])
things = {f"{module.__name__}.{name}": thing for module in modules for name, thing in vars(module).items()
          if callable(thing) and thing.__module__.startswith("hotfiber") and
          (name in hotfiber.__all__ or "HigherOrder" in name)}
for name, thing in [*things.items()]:
    if inspect.isclass(thing) and not issubclass(thing, (tuple, Exception)):
        things.update({f"{name}.{key}": value.fget if isinstance(value, property) else value
                       for key, value in vars(thing).items() if (not key.startswith("_") or key == "__init__") and
                       (inspect.isfunction(value) or isinstance(value, property))})
functions = {name: thing for name, thing in things.items() if inspect.isfunction(thing)}
check(len(functions) > 25, f"{len(functions)} functions")
for name, function in functions.items():
    signature = inspect.signature(function)
    untyped = [one.name for one in signature.parameters.values() if one.annotation is one.empty and one.name != "self"]
    check(not untyped and signature.return_annotation is not signature.empty, f"{name} has no types for {untyped}")
check(not [name for name, thing in things.items() if not thing.__doc__ and "." not in name.split("hotfiber.")[-1]],
      "every one has a text")
end()
