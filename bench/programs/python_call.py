"""The overhead of a call from Python over the C functions that it calls: one item, one thread.

    PYTHONPATH=build/python python3 bench/programs/python_call.py [--rounds 500]

Prints microseconds of the whole call, and of its C functions called through ctypes with the same arguments; each the
best of many short rounds, because other work on the machine only adds. Run it on an idle machine if possible."""
import argparse
import time

import hotfiber
import numpy as np
from hotfiber._library import lib

SHORT = 20  # calls in a round, which then fits between two switches of the scheduler


def best(call, rounds):
    least = np.inf
    for _ in range(rounds):
        begin = time.perf_counter()
        for _ in range(SHORT):
            call()
        least = min(least, (time.perf_counter() - begin) / SHORT)
    return least * 1e6


def c_calls(call):
    """The C functions that compute, with their arguments: not those of contexts and of sizes."""
    call()  # all of the library's functions that it uses are looked up
    functions = {name: value for name, value in vars(lib).items() if name.startswith("hot_")}
    calls = []

    def noted(name, function):
        def run(*arguments):
            if not name.startswith(("hot_context", "hot_python", "hot_symtensor")):
                calls.append((function, arguments))
            return function(*arguments)
        return run

    for name, function in functions.items():
        setattr(lib, name, noted(name, function))
    try:
        kept = call()  # what it returns holds the memory that the arguments point to
    finally:
        for name, function in functions.items():
            setattr(lib, name, function)
    return calls, kept


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=500)
    rounds = parser.parse_args().rounds
    diagonal, beside, matrix = np.array([[1., 2, 3]]), np.array([[.5, .5]]), np.eye(3)[None] + .1
    tensor = np.zeros((1, 15), np.float32)
    tensor[0, 0] = 1
    here = {"threads": 1, "device": "cpu"}
    for name, call in {"tridiag": lambda: hotfiber.tridiag(diagonal, beside, **here),
                       "heev": lambda: hotfiber.heev(matrix, **here),
                       "directions": lambda: hotfiber.directions(tensor, **here),
                       "sshopm": lambda: hotfiber.sshopm(tensor, 8, **here)}.items():
        calls, kept = c_calls(call)
        whole, inside = best(call, rounds), sum(best(lambda: one(*given), rounds) for one, given in calls)
        print(f"{name:10} {whole:6.1f} us, of these {inside:6.1f} in C, {whole - inside:6.1f} around it", flush=True)
        del kept


if __name__ == "__main__":
    main()
