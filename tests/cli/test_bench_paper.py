"""hotfiber bench paper: one paper's rows with its times; peers; docs/papers.md is what the stored measurements give."""
import json
import os
import re
import subprocess
import sys

from cli import check, end, hotfiber

SOURCE = os.environ["HOT_SOURCE"]
TABLES = os.path.join(SOURCE, "bench", "paper_tables.py")


def paper(*arguments):
    done = hotfiber("bench", "paper", "--device", "cpu", "--threads", "1", "--seconds", ".01", "--json", *arguments)
    check(done.returncode == 0, f"{arguments}: {done.returncode}, {done.stderr}")
    return json.loads(done.stdout)


for arguments, name in ((("--peer", "x"), "--peer x"), (("--algorithm", "Turing"), "--algorithm Turing")):
    done = hotfiber("bench", "paper", "--seconds", ".01", *arguments)
    check(done.returncode == 1 and name in done.stderr, f"{arguments}: {done.returncode}, {done.stderr}")

measured = paper("--algorithm", "Ballard", "--peer", "none")
rows = {row["name"]: row for row in measured["rows"]}
stop = rows["Ballard, table III: 1,024 tensors, to the stop"]
check(stop["paper_seconds"] == .289 and "Nehalem" in stop["paper_card"], f"table III (b), one core: {stop}")
check(all(row["name"].startswith("Ballard, ") for row in measured["rows"][1:]), f"of one paper: {list(rows)}")
check(not any("numpy" in row["backend"] for row in measured["rows"]), "--peer none has no peers")
steps = rows["Ballard, table III: 1,024 tensors, 50 steps"]
# 128 starts, 27 multiply-adds, a reciprocal and two products a step, at the peak that the same run measured
peak = rows["this machine"]["FP32, TFLOP/s"] * 1e12
check(abs(steps["floor_seconds"] * peak / (1024 * 128 * 50 * 60) - 1) < 1e-3, f"floor: {steps}, {peak}")
check(measured["machine"]["threads"] == 1 and re.fullmatch(r"\d{4}-\d\d-\d\d", measured["date"]), str(measured))

measured = paper("--algorithm", "Lessig", "--peer", "scipy")
peers = [row for row in measured["rows"] if row["backend"].startswith("scipy")]
names = {row["name"] for row in measured["rows"] if row["backend"].startswith("cpu,")}
check(peers and all(row["name"] in names and row["seconds"] > 0 or row.get("missing") for row in peers),
      f"SciPy's rows, or why there are none: {peers}")
order = [row["name"] for row in measured["rows"]]
check(all(order.index(name) + order.count(name) - 1 == len(order) - 1 - order[::-1].index(name) for name in order),
      f"rows of one case stand together: {order}")

# A package that python3 does not find is named, with its reason.
measured = json.loads(hotfiber("bench", "paper", "--device", "cpu", "--threads", "1", "--seconds", ".01", "--json",
                               "--algorithm", "Lessig", "--peer", "tensorly").stdout)
absent = [row for row in measured["rows"] if row["backend"] == "tensorly"]
check(all("tensorly" in row["missing"] for row in absent), f"why there is no TensorLy: {absent}")

done = subprocess.run([sys.executable, TABLES, "--check"], capture_output=True, text=True)
check(done.returncode == 0, f"docs/papers.md and its plots: {done.stdout}{done.stderr}")

# Parts become one measurement; a broken one is named and costs its own rows.
parts = [paper("--algorithm", name, "--peer", peer) for name, peer in (("Ballard", "compiled"), ("Lessig", "python"))]
check(all("cpu" not in row["backend"] or row["name"] == "this machine" for row in parts[1]["rows"]),
      "--peer python alone has no rows of ours")
check(any(row["backend"].startswith("scipy") for row in parts[1]["rows"]), f"but those of Python: {parts[1]}")
for name, text in (("Lessig", json.dumps(parts[1])), ("Ballard", json.dumps(parts[0])), ("Liu", '{"rows": [')):
    with open(name + ".json", "w", encoding="utf-8") as file:
        file.write(text)
done = subprocess.run([sys.executable, TABLES, "--merge", "all.json", "Lessig.json", "Liu.json", "Ballard.json"],
                      capture_output=True, text=True)
check(done.returncode == 1 and "Liu.json" in done.stderr, f"a broken part: {done.returncode}, {done.stderr}")
with open("all.json", encoding="utf-8") as file:
    merged = json.load(file)
check(merged["rows"] == parts[0]["rows"] + parts[1]["rows"] and merged["machine"] == parts[0]["machine"],
      "the parts in the papers' order")

# The arithmetic of a table, with figures that can be checked by hand.
made = {"machine": {"processor": "x", "gpu": "G", "cores": 1, "threads": 1}, "date": "2026-11-28", "version": "0",
        "rows": [{"name": "this machine", "backend": "cuda", "FP64, TFLOP/s": 51.5},
                 {"name": "Cosnuau, table 2: 64 x 180", "backend": "cuda", "seconds": 1e-3, "paper_seconds": 45.1e-3,
                  "paper_card": "Fermi M2070", "floor_seconds": 5e-4},
                 {"name": "Cosnuau, table 2: 64 x 180", "backend": "cusolver", "seconds": 4e-3},
                 {"name": "Cosnuau, table 2: 64 x 180", "backend": "cupy", "missing": "none"},
                 {"name": "Liu, figure 3: side 100, mode 1", "backend": "cuda, TF32", "seconds": 1e-3},
                 {"name": "Liu, figure 3: side 100, mode 1", "backend": "cuda, FP32", "seconds": 2e-3},
                 {"name": "Liu, figure 3: side 100, mode 1", "backend": "torch, unfolded, FP32", "seconds": 6e-3}]}
with open("made.json", "w", encoding="utf-8") as file:
    json.dump(made, file)
printed = subprocess.run([sys.executable, TABLES, "--print", "made.json"], capture_output=True, text=True).stdout
for line in ("| table 2: 64 x 180 | 1 ms | 45.1 ms (Fermi M2070) | 45.1 | 100 | 500 us | cusolver 4 ms (4); cupy: "
             "none |",
             "| figure 3: side 100, mode 1 (TF32) | 1 ms | - | - | - | - | - |",
             "| figure 3: side 100, mode 1 (FP32) | 2 ms | - | - | - | - | torch, unfolded, FP32 6 ms (3) |"):
    check(line in printed, f"'{line}' in\n{printed}")
end()
