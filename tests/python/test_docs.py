"""Every block of docs/python.md and of each recipe, in its order, each page in one program, in a folder with the sample
data: seven slices of them, with HOT_TEST_LONG=1 all."""
import gzip
import importlib
import importlib.util
import inspect
import re
import os
import shutil
import sys

os.environ.setdefault("MPLBACKEND", "agg")

from cli import *

source = os.environ["HOT_SOURCE"]


def read(page):
    with open(os.path.join(source, "docs", page), encoding="utf-8") as file:
        return file.read()


def missing(needed):
    """The requirements of a block: a module, or MRtrix's commands."""
    return not shutil.which("tckgen") if needed == "mrtrix" else needed and importlib.util.find_spec(needed) is None


def run_page(page, least):
    """Every block in its order, in one program; `least`: so many blocks there are."""
    text, names = read(page), {}
    blocks = re.findall(r"```python ?(\w*)\n(.*?)```", text, re.DOTALL)
    check(len(blocks) >= least, f"{page}: {len(blocks)} blocks")
    for needs, block in blocks:
        if missing(needs):
            print(f"not run: a block of {page} that needs {needs}")
            continue
        line = text[:text.index(block)].count("\n")
        try:
            exec(compile("\n" * line + block, f"docs/{page}", "exec"), names)
        except Exception as error:
            check(False, f"docs/{page}, the block at line {line}: {error!r}")
            return
        check(True, "")


def copy_sample(folder):
    """The sample data, or seven slices of them under the same names: the pages look into slice 6."""
    names = [os.path.join(source, "sample_data", name) for name in ("phantom.nhdr", "phantom.raw.gz")]
    for name in names:
        shutil.copy(name, folder)
    if os.environ.get("HOT_TEST_LONG"):
        return
    header, samples = open(names[0]).read(), gzip.open(names[1]).read()
    sizes = [int(n) for n in re.search("^sizes: (.*)$", header, re.MULTILINE)[1].split()]
    samples = np.frombuffer(samples, "<u2").reshape(sizes, order="F")[:, :, 3:10]
    with open(os.path.join(folder, "phantom.nhdr"), "w") as file:
        file.write(re.sub("^sizes: .*$", "sizes: " + " ".join(map(str, samples.shape)), header, flags=re.MULTILINE))
    with gzip.open(os.path.join(folder, "phantom.raw.gz"), "wb", 1) as file:
        file.write(samples.tobytes(order="F"))


if len(sys.argv) > 1:  # pages instead of all (test_torch.sh)
    pages = {page: 1 for page in sys.argv[1:]}
else:
    pages = {"python.md": 6, **{os.path.join("recipes", name): 2
                                for name in sorted(os.listdir(os.path.join(source, "docs", "recipes")))}}
    check(len(pages) >= 6, f"five recipes, not {len(pages) - 1}")
def copy_nifti():
    """The sample as NIfTI with FSL's tables, whose x is reversed where the affine's determinant is positive."""
    import hotfiber
    import nibabel

    dwi = hotfiber.load("phantom.nhdr")
    axes = dwi.affine[:3, :3] / np.linalg.norm(dwi.affine[:3, :3], axis=0)
    nibabel.save(nibabel.Nifti1Image(dwi.data, dwi.affine), "dwi.nii.gz")
    np.savetxt("dwi.bval", dwi.bvals[None])
    np.savetxt("dwi.bvec", (dwi.gradients @ axes * (-np.sign(np.linalg.det(axes)), 1, 1)).T)


for page, least in pages.items():
    folder = os.path.splitext(os.path.basename(page))[0]
    os.makedirs(folder, exist_ok=True)
    copy_sample(folder)
    os.chdir(folder)
    if page == "python.md" and not missing("nibabel"):
        copy_nifti()
    run_page(page, least)
    os.chdir("..")
if len(sys.argv) > 1:
    end()
text = read("python.md")
check(os.path.exists("python/peaks.nii.gz") and os.path.exists("python/fixels/index.mif"), "files were written")
unnamed = [name for name in __import__("hotfiber").__all__ if name[0].islower() and name not in text
           and name not in ("command", "version")]
check(not unnamed, f"docs/python.md does not speak of {unnamed}")

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
      "each has a text")
end()
