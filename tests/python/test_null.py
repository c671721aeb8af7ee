"""Every public function with NULL for each of its pointers in turn, and for all of them: nothing crashes, and required
pointers are refused by name. The functions come from the headers; each call runs in a separate process."""
import ctypes
import os
import re
import signal
import tempfile

import numpy as np

from hotfiber import _declarations as c
from hotfiber._library import lib

from counted import check, end

source = os.environ.get("HOT_SOURCE") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

# Pointers that may be NULL, as the headers say: everywhere by this name, or in one function.
ANYWHERE = {"options", "mask", "found", "residual", "iterations", "vectors", "flags", "noise", "stream", "condition",
            "penalty", "bval", "bvec", "warnings", "voxels", "help", "file", "result", "report", "chosen",
            "best", "usual"}
MAY = {
    "hot_contract_tuning_create": {"text"}, "hot_fiber_field_set_certainty": {"certainty"},
    "hot_sshopm_f64": {"lambda", "x"}, "hot_sshopm_f32": {"lambda", "x"},
    "hot_eigenpairs_f64": {"starts"}, "hot_signal_fibers_f32": {"s0", "sigma"}, "hot_fem_basis": {"basis", "weights"},
    "hot_fiber_field_fod_amplitude": {"response", "b0"}, "hot_export_picture": {"background"},
    "hot_run_report": {"background"}, "hot_fiber_field_signal": {"response", "maps"},
    "hot_tensor_field_amounts": {"amounts"}, "hot_fiber_field_load_as": {"content"},
    "hot_tensor_field_load_as": {"content"}, "hot_msmt_f32": {"amounts"},
    "hot_denoise_f32": {"mask"}, "hot_context_set_memory": {"stream"},
    # the factor of the mode itself is not read
    "hot_mttkrp_f64": {"a"}, "hot_mttkrp_f32": {"a"}, "hot_mttkrp_tensor_product_f64": {"a"},
    "hot_mttkrp_tensor_product_f32": {"a"},
}
NEEDED = {("hot_cpd_f64", "options"), ("hot_cpd_f32", "options"), ("hot_denoise_f32", "denoised"),
          ("hot_check_gradient_table", "result"), ("hot_signal_fibers_f32", "result"),
          ("hot_dwi_save_noise", "noise"), ("hot_mask_save", "mask"), ("hot_mask_load", "mask"),
          ("hot_mask_create", "mask"), ("hot_mask_full", "mask"), ("hot_mask_estimate", "mask")}
SKIPPED = {"hot_view_show"}  # not in this library; tests/viz/test_show.c has it


def functions():
    """(name, result, [(type, parameter)]) of the public headers."""
    for folder in ("kernels/include/hotfiber", "plugin/include/hotfiber"):
        for header in sorted(os.listdir(os.path.join(source, folder))):
            with open(os.path.join(source, folder, header), encoding="utf-8") as file:
                text = re.sub(r"/\*.*?\*/", " ", file.read(), flags=re.DOTALL)
            for declared in re.finditer(r"^HOT_API\s+([^;]*?)(hot_\w+)\s*\(([^;]*)\)[^;()]*(?:\([^;]*\))?;", text,
                                        flags=re.MULTILINE):
                result, name, inner = (" ".join(part.split()) for part in declared.groups())
                if "..." in inner or name in SKIPPED:
                    continue
                parameters = []
                for one in inner.split(","):
                    found = re.fullmatch(r"\s*(.*?)(\w+)\s*((?:\[\w+\])*)\s*", one)
                    if found and found.group(1):
                        kind = found.group(1).strip() + ("*" if found.group(3) else "")
                        parameters.append((kind.replace(" *", "*"), found.group(2)))
                yield name, result, parameters


class Things:
    """Something valid for each type."""

    def __init__(self, folder):
        self.kept, self.folder = [], folder
        settings = self.keep(c.hot_context_options(size=ctypes.sizeof(c.hot_context_options), threads=1,
                                                   device=c.HOT_DEVICE_CPU))  # one: children have no others
        self.context = self.make(lambda at: lib.hot_context_create(ctypes.addressof(settings), at))
        options = self.keep(c.hot_phantom_options(size=ctypes.sizeof(c.hot_phantom_options), layout=2, directions=32))
        options.volume[:] = [3, 3, 3]
        self.phantom = self.make(lambda at: lib.hot_phantom_create(self.context, ctypes.addressof(options), at))
        self.dwi = lib.hot_phantom_dwi(self.phantom)
        self.grid = lib.hot_dwi_grid(self.dwi)
        self.mask = self.make(lambda at: lib.hot_mask_full(self.context, self.grid, at))
        self.response = self.make(lambda at: lib.hot_response_tensor(self.context, self.dwi, 1.7e-3, .2e-3, 1., 8, at))
        fit = self.keep(c.hot_fit_options(size=ctypes.sizeof(c.hot_fit_options), order=4, response=self.response))
        self.tensors = self.make(lambda at: lib.hot_tensor_field_fit(self.context, self.dwi, self.mask,
                                                                     ctypes.addressof(fit), at))
        self.fibers = lib.hot_phantom_truth(self.phantom)
        self.numbers = np.random.default_rng(1).random(1 << 16) + .1
        self.floats = self.numbers.astype(np.float32)
        for kind, values in (("f64", self.numbers), ("f32", self.floats)):
            more = (0,) if kind == "f32" else ()
            setattr(self, kind, self.make(lambda at: getattr(lib, f"hot_mttkrp_tensor_create_{kind}")(
                self.context, *more, 2, 2, 2, values.ctypes.data, at)))
        self.layout = c.hot_contract_layout(axes=2, batch=4)
        self.layout.size[:2], self.layout.stride[:2] = (2, 2), (1, 2)

    def keep(self, thing):
        self.kept.append(thing)
        return thing

    def make(self, call):
        at = self.keep(ctypes.c_void_p())
        status = call(ctypes.addressof(at))
        assert status == c.HOT_OK, (status, lib.hot_context_message(self.context) if hasattr(self, "context") else "")
        return at.value

    def pointer(self, function, kind, name):
        plain = kind.replace("const ", "").replace("*const", "*")
        objects = {"hot_context*": self.context, "hot_phantom*": self.phantom, "hot_dwi*": self.dwi,
                   "hot_grid*": self.grid, "hot_mask*": self.mask, "hot_response*": self.response,
                   "hot_tensor_field*": self.tensors, "hot_fiber_field*": self.fibers}
        if plain in objects:
            return objects[plain]
        if name == "options" and function in ("hot_cpd_f64", "hot_cpd_f32"):
            return ctypes.addressof(self.keep(c.hot_cpd_options(size=ctypes.sizeof(c.hot_cpd_options), rank=1,
                                                                iterations=2)))
        if plain == "hot_contract_layout*" and kind.startswith("const"):
            return ctypes.addressof(self.layout)
        if name in ("size", "window", "step", "sizes") and "size_t" in plain:
            return ctypes.addressof(self.keep((ctypes.c_size_t * 8)(*[2] * 8)))
        if plain.startswith("hot_") and plain.count("*") == 1 and hasattr(c, plain[:-1]):
            made = self.keep((getattr(c, plain[:-1]) * 2)())  # of arrays two, as sizes are
            if hasattr(made[0], "size") and isinstance(getattr(made[0], "size"), int):
                made[0].size = ctypes.sizeof(made[0])
            return ctypes.addressof(made)
        if plain == "hot_mttkrp_tensor*":
            return self.f32 if function.endswith("f32") else self.f64
        if name == "spec":
            return b"ij,jk,kl->il" if "three" in function else b"ij,jk->ik"
        if plain == "char*":
            return os.path.join(self.folder, f"{name}.nrrd").encode()
        if plain in ("double*", "float*") and kind.startswith("const"):
            return (self.numbers if plain == "double*" else self.floats).ctypes.data
        if plain.endswith("_stride*") or "size_t" in plain and kind.startswith("const"):
            return ctypes.addressof(self.keep((ctypes.c_size_t * 3)(1, 1, 1)))
        return self.keep(np.zeros(1 << 15)).ctypes.data

    def value(self, function, kind, name):
        if "*" in kind:
            return self.pointer(function, kind, name)
        named = {"order": 4, "dim": 3, "mode": 1, "lmax": 8, "threads": 1, "dofs": 2, "points": 2, "precision": 64,
                 "stride": 64, "signal_stride": 64, "tensor_stride": 64, "input_stride": 64, "output_stride": 64,
                 "width": 64, "rows": 8, "columns": 3, "max_pairs": 13, "axial": 1.7e-3, "radial": .2e-3, "s0": 1.,
                 "b_max": 1500., "shell": -1, "max_fibers": 1, "seconds": 1e-3, "noise": .1, "tissue": 0}
        if name in named:
            return named[name]
        return .5 if kind in ("double", "float") else 2 if kind == "size_t" else 0


def call(things, name, result, parameters, nulls):
    """In a child: the status or 0 for another result; and the parameter that the context names."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1), os.dup2(null, 2)
        signal.alarm(60)
        arguments = [None if at in nulls else things.value(name, *one) for at, one in enumerate(parameters)]
        found = getattr(lib, name)(*arguments)
        at_fault = lib.hot_context_parameter(things.context) if result == "hot_status" else b""
        os.write(writing, b"%d %s" % (found if result == "hot_status" else 0, at_fault))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        said = file.read().decode()
    _, ended = os.waitpid(child, 0)
    if ended != 0 or not said:
        return None, ""
    status, _, at_fault = said.partition(" ")
    return int(status), at_fault


def may(name, parameter):
    if (name, parameter) in NEEDED:
        return False
    return parameter in ANYWHERE or parameter in MAY.get(name, ())


everything = list(functions())
check(len(everything) > 180, f"{len(everything)} functions")
calls = 0
with tempfile.TemporaryDirectory() as folder:
    things = Things(folder)
    for name, result, parameters in everything:
        pointers = [at for at, (kind, _) in enumerate(parameters) if "*" in kind]
        for nulls in [[at] for at in pointers] + ([pointers] if len(pointers) > 1 else []):
            calls += 1
            told = ", ".join(parameters[at][1] for at in nulls)
            status, at_fault = call(things, name, result, parameters, nulls)
            check(status is not None, f"{name} with NULL for {told} crashed")
            if status is None or result != "hot_status" or name == "hot_context_set_parameter":  # returns its argument
                continue
            first = parameters[nulls[0]][1]
            if len(nulls) > 1 or first == "context":
                check(status == c.HOT_ERROR_ARGUMENT or parameters[0][1] != "context" and status == c.HOT_OK,
                      f"{name} with NULL for {told}: {status}")
            elif not may(name, first):
                named = parameters[0][1] != "context" or at_fault == first
                check(status == c.HOT_ERROR_ARGUMENT and named,
                      f"{name} with NULL for {first}: {status}, at fault '{at_fault}'")
print(f"{len(everything)} functions, {calls} calls")
end()
