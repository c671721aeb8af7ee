"""Directions of PyTorch tensors in GPU memory: the overhead of a call over its kernels, and copies between host and
GPU.

    PYTHONPATH=build/python python3 bench/programs/python_gpu.py [--count 1000000] [--order 6] [--calls 50]

Every case is calls in a row on PyTorch's current stream. Milliseconds a call: by CUDA's events around all of them
(call), of its kernels alone as PyTorch's profiler traces them (kernels), and of the C function called with the same
arguments (C). Host: microseconds until a call returns. Copies: those between host and GPU in the trace. Ends with
status 1 if more than a call's tables is copied, if the host waits for the GPU, or if results differ from those of host
arrays."""
import argparse
import json
import os
import tempfile
import time

import hotfiber
import numpy as np
import torch
from python_call import c_calls


TABLES = 1 << 20  # bytes of a call's tables for all tensors; lowrank has .5 MB


def elapsed(call, calls):
    """Milliseconds of a call on the GPU."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda.synchronize()
    begin.record()
    for _ in range(calls):
        call()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / calls


def trace(call, calls):
    """PyTorch's profile: GPU events and CUDA calls."""
    kinds = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    torch.cuda.synchronize()
    with torch.profiler.profile(activities=kinds) as profile:
        for _ in range(calls):
            call()
        torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        profile.export_chrome_trace(path)
        with open(path, encoding="utf-8") as file:
            return json.load(file)["traceEvents"]


def report(name, call, calls):
    """A line about one case; whether it neither copies nor waits."""
    for _ in range(5):
        call()
    inside, kept = c_calls(call)
    times = sorted((elapsed(call, calls), elapsed(lambda: [one(*given) for one, given in inside], calls))
                   for _ in range(7))
    whole, alone = np.median([one for one, _ in times]), np.median([one for _, one in times])
    begin = time.perf_counter()
    for _ in range(calls):
        call()
    host = (time.perf_counter() - begin) / calls * 1e6
    events = trace(call, calls)
    kernels = [one["dur"] for one in events if one.get("cat") == "kernel"]
    copies = [one for one in events if one.get("cat") == "gpu_memcpy"]
    between = [one for one in copies if "DtoD" not in one["name"]]
    copied = sum(one["args"].get("bytes", 0) for one in between)
    of_cuda = [one for one in events if one.get("cat") in ("cuda_runtime", "cuda_driver")]
    last = max((one["ts"] for one in of_cuda if "Launch" in one["name"]), default=0)  # behind it the program waits
    waits = sum("ynchronize" in one["name"] and one["ts"] < last for one in of_cuda)
    kernel = sum(kernels) / calls / 1000
    print(f"{name:28} call {whole:.4f} ms, kernels {kernel:.4f} ({len(kernels) / calls:g} launches), C {alone:.4f}; "
          f"host {host:.0f} us; call / kernels {whole / max(kernel, 1e-9):.3f}; copies {len(between)} "
          f"({copied} bytes), on the GPU {len(copies) - len(between)}; "
          f"waits {waits}", flush=True)
    del kept
    return copied <= TABLES * calls and waits == 0 and bool(kernels)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=1000000)
    parser.add_argument("--order", type=int, default=6)
    parser.add_argument("--calls", type=int, default=50)
    given = parser.parse_args()
    terms = (given.order + 1) * (given.order + 2) // 2
    print(torch.cuda.get_device_name(), "PyTorch", torch.__version__, f"{given.count} tensors of order {given.order}")
    torch.manual_seed(1)
    tensors = torch.randn(given.count, terms, device="cuda")
    out = torch.empty(given.count, 3, 3, device="cuda"), torch.empty(given.count, dtype=torch.uint8, device="cuda")
    fine = [report("directions", lambda: hotfiber.directions(tensors), given.calls),
            report("directions, out=", lambda: hotfiber.directions(tensors, out=out), given.calls)]
    with torch.cuda.stream(torch.cuda.Stream()):
        fine.append(report("directions, own stream", lambda: hotfiber.directions(tensors, out=out), given.calls))
    few = tensors[:1000]
    fine.append(report("directions of 1,000", lambda: hotfiber.directions(few), given.calls))
    few = tensors[:100000]
    fine.append(report("lowrank of 100,000", lambda: hotfiber.lowrank(few), max(given.calls // 5, 1)))
    wanted, found = hotfiber.directions(few.cpu().numpy(), device="cuda"), hotfiber.directions(few)
    same = np.array_equal(found.directions.cpu().numpy(), wanted.directions) and \
        np.array_equal(found.found.cpu().numpy(), wanted.found)
    print("results are those of the host's arrays" if same else "not so: results are those of the host's arrays")
    raise SystemExit(not (all(fine) and same))


if __name__ == "__main__":
    main()
