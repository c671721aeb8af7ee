"""Calls and Python: threads, forks, Ctrl-C, progress, exceptions from callbacks, memory."""
import gc
import logging
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import threading
import time
import warnings

import hotfiber
import numpy as np
from hotfiber import _library
from hotfiber._declarations import HOT_DEVICE_AUTO, HOT_DEVICE_CPU, HOT_DEVICE_CUDA

from cli import check, end

random = np.random.default_rng(2)
tensors = random.normal(size=(4000, 15)).astype(np.float32)
wanted = hotfiber.directions(tensors, device="cpu")
big = random.normal(size=(4000, 28)).astype(np.float32)


def in_child(seed):
    """In a process of a pool: what the parent got."""
    return all(np.array_equal(hotfiber.directions(tensors, device="cpu", threads=threads).directions,
                              wanted.directions) for threads in (0, 2))


def long_call(**options):
    """Minutes of work, unless something ends it."""
    return hotfiber.sshopm(big, 500, device="cpu", max_iterations=2000, tolerance=-1.0, **options)


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


class Stop(Exception):
    pass


CALL = """
try:
    import hotfiber, numpy
    try:
        hotfiber.sshopm(numpy.eye(15)[:1], 10000, device='cpu', progress=lambda *_: 1 / 0)
    except ZeroDivisionError:
        print('right', hotfiber.directions(numpy.eye(15)[:1], device='cpu').found.tolist(), flush=True)
except ImportError:
    print('refused', flush=True)
"""
INTERPRETERS = """
try:
    import _interpreters as interpreters
    run = interpreters.exec
except ImportError:
    import _xxsubinterpreters as interpreters
    run = interpreters.run_string
"""


def check_subinterpreters():
    """They get results or, if NumPy cannot be imported, an ImportError; the main interpreter is unaffected."""
    inside = "run(interpreters.create(), call)\n"
    for before in (False, True):
        code = f"call = {CALL!r}{INTERPRETERS}" + (f"exec(call)\n{inside}exec(call)\n" if before else inside)
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=300)
        said = done.stdout.split("\n")[:-1]
        check(done.returncode == 0 and len(said) == 1 + 2 * before and set(said) <= {"right [1]", "refused"},
              f"subinterpreters: {done.returncode} {said} {done.stderr[-500:]}")
        check(not before or said[0] == said[-1] == "right [1]", f"the main interpreter: {said}")


def main():
    # Several Python threads at once get what one gets, and they do compute at the same time: each waits for the others
    # in the middle of its call.
    barrier, results = threading.Barrier(4), [None] * 4

    def work(number):
        met = []

        def wait(stage, fraction):
            if not met:
                met.append(barrier.wait(60))
        results[number] = [hotfiber.directions(tensors, device="cpu", threads=1, progress=wait)] + \
            [hotfiber.directions(tensors, device="cpu") for _ in range(20)]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check(all(one and all(np.array_equal(r.directions, wanted.directions) for r in one) for one in results), "threads")

    # The lock is released: another Python thread runs while a call computes.
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(.001)

    ticker = threading.Thread(target=tick)
    ticker.start()
    begin = time.monotonic()
    hotfiber.sshopm(tensors, 256, device="cpu")
    finish = time.monotonic()
    done.set()
    ticker.join()
    check(sum(begin < t < finish for t in ticks) > 2, "another thread runs while a call computes")

    # Processes: forked with OpenMP's threads alive in the parent, and spawned.
    for how in ("fork", "spawn"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # forking beside threads
            with multiprocessing.get_context(how).Pool(2) as pool:
                check(pool.map_async(in_child, range(4)).get(120) == [True] * 4, f"a pool by {how}")
    check(np.array_equal(hotfiber.directions(tensors, device="cpu").directions, wanted.directions), "the parent")
    # A child of a process that has used the GPU takes the CPU for "auto".
    used = _library.lib.hot_context_device_used
    _library.lib.hot_context_device_used = lambda context: HOT_DEVICE_CUDA
    child = os.fork()
    if child == 0:
        os._exit(_library._device("auto")[0] != HOT_DEVICE_CPU)
    check(os.waitpid(child, 0)[1] == 0, "the device of the child")
    _library.lib.hot_context_device_used = used
    check(_library._device("auto")[0] == HOT_DEVICE_AUTO, "the device of the parent")

    # Ctrl-C, within a call of the main thread.
    begin = []

    def interrupt():
        begin.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    volume = random.normal(size=(60, 60, 40, 40)).astype(np.float32) ** 2
    sphere = random.normal(size=(40, 3))
    sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
    table = np.r_["1,2", sphere, np.r_[0, 0, np.full(38, 3000.)][:, None]]
    whole, cube = np.ones(volume.shape[:3]), random.normal(size=(120, 120, 120))
    matrices = np.broadcast_to(random.normal(size=(200, 200)), (1000, 200, 200)).copy()
    slow = {"device": "cpu", "threads": 1}  # so that they take seconds on any machine
    for what, call in (
            ("sshopm", long_call), ("sshopm with progress", lambda: long_call(progress=lambda *_: None)),
            ("fibers", lambda: hotfiber.fibers(volume, table, mask=whole, response=(1.7e-3, .3e-3), **slow)),
            ("denoise", lambda: hotfiber.denoise(volume, step=1, **slow)),
            ("one tensor's eigenpairs", lambda: hotfiber.eigenpairs(random.normal(size=1287), dim=6, **slow)),
            ("heev", lambda: hotfiber.heev(matrices, **slow)),
            ("cpd", lambda: hotfiber.cpd(cube, 60, tolerance=-1.0, iterations=10000, **slow))):
        timer = threading.Timer(.3, interrupt)
        timer.start()
        try:
            call()
        except KeyboardInterrupt:
            print(f"{what}: {1000 * (time.monotonic() - begin[-1]):.0f} ms after Ctrl-C")
        else:
            check(False, f"{what} was not interrupted")
        timer.join()
    check(np.array_equal(hotfiber.directions(tensors, device="cpu").directions, wanted.directions), "the next call")
    # A user's handler that does not raise: the call continues.
    caught = []
    before = signal.signal(signal.SIGUSR1, lambda *_: caught.append(1))
    timer = threading.Timer(.05, os.kill, (os.getpid(), signal.SIGUSR1))
    timer.start()
    hotfiber.sshopm(tensors[:500], 2000, device="cpu", max_iterations=200, tolerance=-1.0)
    timer.join()
    check(caught == [1], "a handler runs")
    signal.signal(signal.SIGUSR1, before)

    # Progress rises to the end; what it raises ends the call and is what the caller gets.
    seen = []
    hotfiber.directions(tensors, progress=lambda stage, fraction: seen.append((stage, fraction)))
    check(seen and all(isinstance(stage, str) and 0 <= f <= 1 for stage, f in seen), f"progress: {seen[:3]}")

    def refuse(stage, fraction):
        raise Stop(stage)

    for number in range(3):
        try:
            long_call(progress=refuse)
        except Stop as stop:
            check(stop.__traceback__ is not None, "the callback's own exception")
        else:
            check(False, "what progress raises ends the call")
    # Threads that are not the main one leave Ctrl-C to it, and can be ended by their own progress.
    ended = []

    def other():
        try:
            long_call(progress=refuse)
        except Stop:
            ended.append(1)
    thread = threading.Thread(target=other)
    thread.start()
    thread.join(120)
    check(ended == [1], "a call of another thread is ended")

    # Notes go to logging, warnings to warnings; a warning that is an error ends the call.
    data = random.normal(size=(6, 6, 6, 20)) + 100
    data[0, 0, 0] = np.nan
    b = np.r_[0, 0, np.full(18, 1000.)]
    vectors = random.normal(size=(20, 3))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    records = []
    handler = logging.Handler()
    handler.emit = records.append
    logging.getLogger("hotfiber").addHandler(handler)
    logging.getLogger("hotfiber").setLevel(logging.INFO)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        hotfiber.fibers(data, (b, vectors), mask=np.ones((6, 6, 6)), response=(1.7e-3, .3e-3))
    check(records and all("\n" not in r.getMessage() for r in records), "notes go to logging")
    check(all(issubclass(w.category, hotfiber.HotfiberWarning) for w in caught), "warnings are ours")
    check(all(w.filename == __file__ for w in caught), f"and are of the caller's line: {[w.filename for w in caught]}")

    logging.getLogger("hotfiber").removeHandler(handler)

    # Nothing is left behind by calls, whether they succeed or fail. (`--long`: ten thousand of them.)
    small, few = tensors[:20], int(10000 if os.environ.get("HOT_TEST_LONG") else 300)

    def once():
        hotfiber.directions(small)
        hotfiber.sshopm(small, 4, threads=1)
        hotfiber.heev(np.eye(3), threads=1)
        hotfiber.peaks(small)
        for call in (lambda: hotfiber.directions(small, threshold=2), lambda: hotfiber.directions(
                small, progress=refuse), lambda: hotfiber.directions(small, seed=seeds.pop())):
            try:
                call()
            except (ValueError, Stop):
                pass

    seeds = list(range(few + 200))
    for _ in range(200):
        once()
    gc.collect()
    before, objects = peak(), len(gc.get_objects())
    for _ in range(few):
        once()
    gc.collect()
    check(peak() - before < 4096, f"{few} rounds of calls took {peak() - before} KiB")
    check(len(gc.get_objects()) - objects < 100, f"they left {len(gc.get_objects()) - objects} objects")

    check_subinterpreters()

    # Figures for docs/decisions/024-python.md; no check depends on them.
    one = small[:1].copy()
    out = np.empty((1, 3, 3), np.float32), np.empty(1, np.uint8)
    begin = time.perf_counter()
    for _ in range(2000):
        hotfiber.directions(one, out=out, device="cpu", threads=1)
    print(f"a call on one tensor: {(time.perf_counter() - begin) / 2000 * 1e6:.1f} us")
    code = "import time, numpy; t = time.perf_counter(); import hotfiber; print(time.perf_counter() - t)"
    taken = min(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(5))
    print(f"import, beyond NumPy's: {1000 * taken:.0f} ms")
    end()


if __name__ == "__main__":  # spawned processes read this file again
    main()
