"""libhotvtk: what its objects hold, handed over as pointers to VTK's own Python classes in this process, and written by
the example program in C, which loads the library itself. Same checks as for the files that need no VTK."""
import ctypes
import os
import resource
import signal
import subprocess

import numpy as np

from _export import GEOMETRIES, SIZE, check_vectors, export, make, make_tensors, write
from counted import check, end
from _readers import (VOXELS, load_vtk, of_glyphs, of_grid, of_lines, says_lps, vtk_to_numpy, vtkXMLImageDataReader,
                      vtkXMLPolyDataReader)

BUILD = os.environ["HOT_BUILD"]
LIBRARY, EXAMPLE = BUILD + "/lib/libhotvtk.so", BUILD + "/bin/example_vtk"
if not os.path.exists(LIBRARY) or vtk_to_numpy is None:
    print("skipped: built without VTK, or python3-vtk9 is not installed")
    raise SystemExit(77)
if os.environ.get("HOT_SANITIZED"):
    print("skipped: Python would have to be sanitized too")
    raise SystemExit(77)
from vtkmodules.vtkCommonDataModel import vtkImageData, vtkPolyData

core, layer = ctypes.CDLL(BUILD + "/lib/libhotfiber.so"), ctypes.CDLL(LIBRARY)
core.hot_context_message.restype = layer.hot_vtk_version.restype = ctypes.c_char_p
context = ctypes.c_void_p()
check(core.hot_context_create(None, ctypes.byref(context)) == 0, "context")
OK, ARGUMENT, FILE, CANCELLED = 0, 2, 3, 7


def load(function, path):
    field = ctypes.c_void_p()
    check(getattr(core, function)(context, path.encode(), ctypes.byref(field)) == OK, f"{function} {path}")
    return field


def make_object(function, field):
    made = ctypes.c_void_p()
    status = getattr(layer, function)(context, field, ctypes.byref(made))
    check(status == OK and made.value, f"{function}: {core.hot_context_message(context)}")
    return made


def take(kind, pointer):
    """VTK's Python object of a pointer; it has a new reference, so the caller's is released."""
    address = pointer.value
    taken = kind("_%016x_p_%s" % (address, kind.__name__))
    check(taken.GetReferenceCount() == 2, f"{kind.__name__}: {taken.GetReferenceCount()} references")
    layer.hot_vtk_release(ctypes.byref(pointer))
    check(pointer.value is None and taken.GetReferenceCount() == 1, f"{kind.__name__}: released")
    return taken


class Case:
    def __init__(self, name):
        self.check, self.name = check, name
        self.affine, self.truth = make(name, "directions.nrrd")
        make_tensors(name, "tensors.nrrd", self.truth)
        self.count = sum(map(len, self.truth.values()))
        longest = max(sum(x * x for x in v) ** 0.5 for vectors in self.truth.values() for v in vectors)
        self.scale = min(sum(x * x for x in column) ** 0.5 for column in GEOMETRIES[name][1].T) / longest

    def compare(self, what, reader, data, first_only=False):
        self.what = f"{self.name}, {what}"
        if first_only:
            says_lps(self, data)
            found = reader(self, data, data.GetPointData().GetScalars())
        else:
            found = reader(self, data)
        check(set(found) == set(VOXELS), f"{self.what}: {len(found)} voxels")
        for voxel, vectors in found.items():
            check_vectors(vectors, self.truth[voxel][:1] if first_only else self.truth[voxel], f"{self.what} {voxel}",
                          amplitude=1e-4)


def by_example(what, source, target):
    done = subprocess.run([EXAMPLE, LIBRARY, what, source, target], capture_output=True, text=True)
    check(done.returncode == 0 and done.stderr == "" and f"VTK {layer.hot_vtk_version().decode()}" in done.stdout,
          f"{what}: {done.stdout}{done.stderr}")
    return target


def same_arrays(what, one, other):
    """Two data sets with the same attributes to the last bit."""
    for name, a, b in (("points", one.GetPointData(), other.GetPointData()),
                       ("cells", one.GetCellData(), other.GetCellData())):
        names = sorted(a.GetArrayName(i) for i in range(a.GetNumberOfArrays()))
        check(names == sorted(b.GetArrayName(i) for i in range(b.GetNumberOfArrays())), f"{what}: {name} {names}")
        for array in names:
            check((vtk_to_numpy(a.GetArray(array)) == vtk_to_numpy(b.GetArray(array))).all(), f"{what}: {array}")


for geometry in GEOMETRIES:
    case = Case(geometry)
    fibers, tensors = load("hot_fiber_field_load", "directions.nrrd"), load("hot_tensor_field_load", "tensors.nrrd")
    lines, image = make_object("hot_vtk_lines", fibers), make_object("hot_vtk_image", fibers)
    glyphs = make_object("hot_vtk_glyphs", tensors)
    core.hot_fiber_field_destroy(ctypes.byref(fibers))
    core.hot_tensor_field_destroy(ctypes.byref(tensors))
    lines, image, glyphs = take(vtkPolyData, lines), take(vtkImageData, image), take(vtkPolyData, glyphs)
    case.compare("lines by pointer", of_lines, lines)
    case.compare("image by pointer", of_grid, image)
    case.compare("glyphs by pointer", of_glyphs, glyphs, first_only=True)

    read = lambda reader, path: load_vtk(case, reader, path)
    case.what = f"{geometry}, example"
    written = read(vtkXMLPolyDataReader(), by_example("lines", "directions.nrrd", "lines.vtp"))
    case.compare("lines written", of_lines, written)
    same_arrays("lines", written, lines)
    written = read(vtkXMLImageDataReader(), by_example("image", "directions.nrrd", "grid.vti"))
    case.compare("image written", of_grid, written)
    same_arrays("image", written, image)
    written = read(vtkXMLPolyDataReader(), by_example("glyphs", "tensors.nrrd", "glyphs.vtp"))
    case.compare("glyphs written", of_glyphs, written, first_only=True)

    # what the core writes without VTK holds the same
    export("directions.nrrd", "core.vtp")
    same_arrays("core .vtp", read(vtkXMLPolyDataReader(), "core.vtp"), lines)
    export("directions.nrrd", "core.vti")
    same_arrays("core .vti", read(vtkXMLImageDataReader(), "core.vti"), image)
    export("tensors.nrrd", "glyphs_core.vtp", "--format", "glyphs")
    same_arrays("core glyphs", read(vtkXMLPolyDataReader(), "glyphs_core.vtp"), glyphs)

# Nothing to show: empty objects and good files, as the core's own
write("nothing.nrrd", "ras", np.zeros(SIZE + (6,)), "kinds: list space space space")
write("unfitted.nrrd", "ras", np.zeros(SIZE + (7,)), "kinds: 3D-masked-symmetric-matrix space space space")
for what, source, own in (("lines", "nothing.nrrd", "empty.vtp"), ("glyphs", "unfitted.nrrd", "glyphs_empty.vtp")):
    export(source, own)
    for path in (own, by_example(what, source, "empty_vtk.vtp")):
        case.what = f"empty {path}"
        found = read(vtkXMLPolyDataReader(), path)
        check(found.GetNumberOfCells() == 0 and found.GetNumberOfPoints() == 0,
              f"{path}: {found.GetNumberOfCells()} cells")
        says_lps(case, found)
found = read(vtkXMLImageDataReader(), by_example("image", "nothing.nrrd", "empty.vti"))
check(not vtk_to_numpy(found.GetPointData().GetArray("nfibers")).any(), "empty image")

# Trouble: a message, nothing on stderr, nothing left behind; the object is still good
case.what = "trouble"
fibers = load("hot_fiber_field_load", "directions.nrrd")
lines = make_object("hot_vtk_lines", fibers)
before = sorted(os.listdir("."))
for path, status, must in (("x.vti", ARGUMENT, b".vtp"), ("x", ARGUMENT, b"vtkPolyData"),
                           ("none/x.vtp", FILE, b"none/x.vtp"), ("/proc/x.vtp", FILE, b"/proc/x.vtp")):
    check(layer.hot_vtk_write(context, lines, path.encode()) == status, f"{path}: status")
    check(must in core.hot_context_message(context), f"{path}: {core.hot_context_message(context)}")
os.mkdir("folder.vtp")
check(layer.hot_vtk_write(context, lines, b"folder.vtp") == FILE, "a folder is not replaced")
os.rmdir("folder.vtp")


def little_room():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))


full = subprocess.run([EXAMPLE, LIBRARY, "lines", "directions.nrrd", "full.vtp"], capture_output=True, text=True,
                      preexec_fn=little_room)
check(full.returncode == 1 and full.stderr.count("\n") == 1 and "full.vtp" in full.stderr,
      f"a full disk: {full.stderr}")
check(sorted(os.listdir(".")) == before, f"left behind: {os.listdir('.')}")
check(layer.hot_vtk_write(context, lines, b"good.vtp") == OK and os.path.exists("good.vtp"), "still good")
core.hot_context_cancel(context)
made = ctypes.c_void_p(1)
check(layer.hot_vtk_image(context, fibers, ctypes.byref(made)) == CANCELLED and made.value is None, "cancelled")
layer.hot_vtk_release(ctypes.byref(lines))
layer.hot_vtk_release(ctypes.byref(lines))
layer.hot_vtk_release(None)
core.hot_fiber_field_destroy(ctypes.byref(fibers))
core.hot_context_destroy(ctypes.byref(context))
done = subprocess.run([EXAMPLE, "./libnothing.so", "lines", "directions.nrrd", "x.vtp"], capture_output=True, text=True)
check(done.returncode == 1 and "libnothing" in done.stderr, f"no library: {done.stderr}")
linked = subprocess.run(["ldd", EXAMPLE], capture_output=True, text=True).stdout
check("libvtk" not in linked and "libhotfiber" in linked, f"the example is linked to {linked}")
end()
