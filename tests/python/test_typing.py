"""Types for checkers: a user's program passes `mypy --strict`, wrong ones do not, and the package itself passes. The
words in the annotations are those that the functions accept."""
import glob
import inspect
import os
import re
import shutil
import subprocess
import typing

import hotfiber
from cli import check, end
from hotfiber import _deconvolution, _library, _matrices, _pipeline, _show, _tensors, _types

GOOD = '''
from pathlib import Path
from typing import List, Optional, Tuple, Union

import hotfiber
import numpy as np
from hotfiber import Cpd, CpdFactors, Dwi, Fibers, Heev, HeevValues, Image, Response, TensorField
from typing_extensions import assert_type


def report(stage: str, fraction: float) -> None:
    print(stage, fraction)


def pipeline(path: Path) -> Fibers:
    dwi = hotfiber.load(path, "a.bval", "a.bvec")
    assert_type(dwi, Dwi)
    assert_type(hotfiber.load(path, kind="dwi"), Dwi)
    assert_type(hotfiber.load("t.nrrd", kind="tensors"), TensorField)
    assert_type(hotfiber.load("sh.mif", kind="sh", basis="descoteaux07", frame="image"), TensorField)
    assert_type(hotfiber.load("out", kind="directions"), Fibers)
    assert_type(hotfiber.load("fa.nii.gz", kind="image"), Image)
    assert_type(hotfiber.load("wm.txt", kind="response"), Response)
    any_file: Union[Dwi, TensorField, Fibers, Image, Response] = hotfiber.load(path)
    print(any_file)
    tensors = hotfiber.fit(dwi, model="msmt", constraint="hpsd", kernel="delta", order=8, progress=report)
    found = hotfiber.peaks(tensors, method="sshopm", shift="none", starts=64)
    found = hotfiber.peaks(np.zeros(15), method="lowrank", shift=1.5, model="sh")
    hotfiber.export(found, path / "peaks.nii.gz", force=True)
    clean = hotfiber.denoise(dwi.data, estimator="exp1", window=(5, 5, 3))
    again = hotfiber.Dwi(clean.data, (dwi.bvals, dwi.gradients), dwi.affine, frame="scanner")
    result = hotfiber.fibers(again, method="signal", noise_model="rician", samples=10, device="cuda:0", threads=2)
    if result.tensors is not None:
        print(result.tensors.values.shape)
    fractions: np.ndarray[Tuple[int, ...], np.dtype[np.float32]] = result.fractions
    counts: List[int] = result.nfibers.ravel().tolist()
    print(fractions.sum(), counts, result.directions.shape)
    hotfiber.plot(result, axis="k")
    hotfiber.plot(result, axis=2)
    return result


def kernels(matrices: np.ndarray[Tuple[int, ...], np.dtype[np.complex128]], some: bool) -> float:
    pairs = hotfiber.heev(matrices)
    assert_type(pairs, Heev)
    print(pairs.vectors.shape, (pairs.vectors @ pairs.vectors.swapaxes(-1, -2)).sum())
    values, vectors = hotfiber.heev(matrices, largest=2, vectors=True)
    print(values.sum(), vectors.shape)
    only = hotfiber.heev(matrices, vectors=False)
    assert_type(only, HeevValues)
    assert_type(only.vectors, None)
    assert_type(hotfiber.heev(matrices, vectors=some), Union[Heev, HeevValues])
    parts = hotfiber.cpd(np.zeros((3, 4, 5)), 2, start="hosvd", arithmetic="tf32")
    assert_type(parts, Cpd)
    assert_type(parts.factors, CpdFactors)
    a, b, c = parts.factors
    more = hotfiber.cpd(np.zeros((3, 4, 5)), 2, start=parts.factors)
    back = np.einsum("r,ir,jr,kr->ijk", parts.weights, a, parts.factors.b, parts.factors.c)
    print(hotfiber.mttkrp(back, [None, b, c], 0).shape, more.fit)
    found = hotfiber.sshopm([3., 0, 0, 2, 0, 1], seek="min", shift=-2.0)
    every = hotfiber.eigenpairs([3., 0, 0, 2, 0, 1], kind="all")
    where = hotfiber.directions([3., 0, 0, 2, 0, 1], max_directions=1)
    terms = hotfiber.lowrank(np.zeros(15), exact_rank=True)
    tissues = hotfiber.deconvolve(np.zeros(8), np.ones((8, 7)), 2, constraint="none")
    eigenvalues = hotfiber.tridiag(np.ones(5), np.zeros(4), index=(0, 1))
    product = hotfiber.contract("ik,kj->ij", np.eye(3), np.eye(3), alpha=2.0)
    try:
        hotfiber.tridiag([1.], [], interval=(0.0, 1.0))
    except hotfiber.ArgumentError as error:
        name: str = error.parameter
        print(name)
    print(found.values, every.kinds, where.found, terms.residual, tissues.amounts, eigenvalues, product)
    longest: Optional[float] = max(parts.weights.tolist(), default=None)
    return parts.fit if longest is None else longest


print(pipeline(Path("a.nii.gz")), kernels(np.eye(2, dtype=np.complex128), True), hotfiber.version(), hotfiber.command())
'''
BAD = '''hotfiber.fibers(dwi, method="magic")
hotfiber.fibers(dwi, model="sh")
hotfiber.fibers(dwi, noise_model="gausian")
hotfiber.fibers(dwi, frame="image")
hotfiber.fit(dwi, constraint="positive")
hotfiber.fit(dwi, kernel="rank-1")
hotfiber.peaks(np.zeros(15), method="signal")
hotfiber.peaks(np.zeros(15), shift="fixed")
hotfiber.peaks(np.zeros(15), model="dti")
hotfiber.load("a.nrrd", kind="tensor")
hotfiber.load("a.nrrd", kind="sh", basis="tournier")
hotfiber.load("a.nrrd", kind="tensors").bvals
hotfiber.load("a.nrrd", kind="dwi").values
hotfiber.heev(np.eye(2), vectors=False).vectors.shape
hotfiber.heev(np.eye(2), vectors="no")
hotfiber.heev(np.eye(2)).eigenvalues
hotfiber.cpd(np.zeros((2, 2, 2)), 1).factors.d
hotfiber.cpd(np.zeros((2, 2, 2)), 1, start="svd")
hotfiber.cpd(np.zeros((2, 2, 2)), 1, arithmetic="half")
hotfiber.mttkrp(np.zeros((2, 2, 2)), [None] * 3, 0, arithmetic="double")
hotfiber.sshopm(np.zeros(15), seek="all")
hotfiber.eigenpairs(np.zeros(15), kind="saddle")
hotfiber.denoise(np.zeros((2, 2)), estimator="exp3")
hotfiber.deconvolve(np.zeros(8), np.ones((8, 7)), constraint="positive")
hotfiber.plot(hotfiber.fibers(dwi), axis="x")
hotfiber.fibers(dwi, progress=lambda stage: None)
hotfiber.Dwi(np.zeros((2, 2)), None, frame="world")
hotfiber.TensorField(np.zeros(15), model="q-ball")
'''.splitlines()


def words(kind):
    """Those of a Literal, or of the Literal in a Union."""
    if typing.get_origin(kind) is typing.Literal:
        return set(typing.get_args(kind))
    return {word for one in typing.get_args(kind) for word in words(one)}


# The words are those that the functions look up.
for kind, accepted in ((_types.Constraint, _pipeline._CONSTRAINT), (_types.Constraint, _deconvolution._CONSTRAINT),
                       (_types.Kernel, _pipeline._KERNEL), (_types.NoiseModel, _pipeline._NOISE),
                       (_types.PairKind, _tensors._SEEK), (_types.Arithmetic, _matrices._ARITHMETIC),
                       (_types.Axis, _show._PLANES), (_types.Kind, {"dwi", "sh", *_pipeline._LOADERS})):
    check(words(kind) == set(accepted), f"{words(kind)} for {set(accepted)}")


def names(function):
    """Those that the C library lists."""
    found = []
    while (name := function(len(found), None)) is not None:
        found.append(name.decode())
    return set(found)


check(words(_types.Method) == names(_library.lib.hot_peaks_method_name), "methods")
check(words(_types.PeaksMethod) == words(_types.Method) - {"signal"}, "methods of peaks")
with open(os.environ["HOT_SOURCE"] + "/plugin/model/model.h", encoding="utf-8") as file:
    models = set(re.findall(r" X\((\w+)\)", file.read()))
check(words(_types.Model) == models, f"models: {models}")
check(words(_types.FieldModel) == words(_types.Model) | {"sh"}, "models of tensor fields")
for name, refused in (("shift", lambda word: hotfiber.sshopm([3., 0, 0, 2, 0, 1], 1, shift=word)),
                      ("seek", lambda word: hotfiber.sshopm([3., 0, 0, 2, 0, 1], 1, seek=word)),
                      ("start", lambda word: hotfiber.cpd([[[1.]]], 1, start=word)),
                      ("estimator", lambda word: hotfiber.denoise([[1.] * 6] * 8, window=1, estimator=word))):
    try:
        refused("x")
        check(False, f"{name}='x' is taken")
    except ValueError as error:
        kind = getattr(_types, name.capitalize())
        check(words(kind) == set(re.findall(r"'(\w+)'", str(error).split("not")[0])), f"{words(kind)}: {error}")

# All public names have types, and the package is marked as typed.
package = os.path.dirname(hotfiber.__file__)
check(os.path.isfile(os.path.join(package, "py.typed")), "py.typed")
for name in hotfiber.__all__:
    thing = getattr(hotfiber, name)
    if inspect.isfunction(thing):
        bare = [one.name for one in inspect.signature(thing).parameters.values() if one.annotation is one.empty]
        check(not bare and "return" in thing.__annotations__, f"{name}: no types of {bare}")

if not shutil.which("mypy"):
    print("mypy is not installed (Debian: mypy): no program is checked")
    end()
os.mkdir("user")
with open("user/good.py", "w", encoding="utf-8") as file:
    file.write(GOOD)
with open("user/bad.py", "w", encoding="utf-8") as file:
    file.write("import hotfiber\nimport numpy as np\n\ndwi = hotfiber.Dwi(np.zeros((2, 2)), None)\n")
    file.writelines(line + "\n" for line in BAD)
with open("mypy.ini", "w", encoding="utf-8") as file:  # the package itself: not as strictly
    file.write("[mypy]\nstrict = True\nwarn_unused_ignores = False\n\n[mypy-hotfiber.*]\n" + "".join(
        f"{name} = False\n" for name in ("disallow_untyped_calls", "disallow_untyped_defs", "disallow_incomplete_defs",
                                         "disallow_any_generics", "warn_return_any", "disallow_subclassing_any",
                                         "disallow_untyped_decorators", "check_untyped_defs", "strict_equality")) +
               "implicit_reexport = True\n\n" +
               "".join(f"[mypy-{name}.*]\nignore_missing_imports = True\n"
                       for name in ("dipy", "jax", "matplotlib", "nibabel", "tensorly", "torch")))
cache = os.path.join(os.environ["HOT_BUILD"], "tests-mypy")  # NumPy's types need not be read again: 5 of 6 s
done = subprocess.run(["mypy", "--config-file", "mypy.ini", "--cache-dir", cache, "user/good.py", "user/bad.py",
                       *glob.glob(os.path.join(package, "*.py"))], stdout=subprocess.PIPE, text=True, check=False,
                      env={**os.environ, "MYPYPATH": os.path.dirname(package)})
errors = [line for line in done.stdout.splitlines() if ": error:" in line]
check(done.returncode in (0, 1), done.stdout)
for line in errors:
    check("user/bad.py:" in line, line)
wrong = {int(number) for number in re.findall(r"^user/bad\.py:(\d+): error", done.stdout, re.M)}
for number, line in enumerate(BAD, 5):
    check(number in wrong, f"taken: {line}")
end()
