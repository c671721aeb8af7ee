"""hotfiber bench: peers are refused where there are none; tensors of any dimension are timed."""
import json

from cli import check, end, hotfiber

for arguments, status in ((["fit", "--peer", "x"], 2), (["heev", "--peer", "x"], 1),
                          (["sshopm", "--peer", "numpy"], 1), (["sshopm", "--dim", "5", "--peer", "x"], 1),
                          (["sshopm", "--dim", "5", "--peer", "torch", "--device", "cpu"], 1)):
    done = hotfiber("bench", *arguments, "--seconds", ".01")
    check(done.returncode == status and "peer" in done.stderr, f"{arguments}: {done.returncode}, {done.stderr}")
done = hotfiber("bench", "sshopm", "--dim", "5", "--algorithm", "blocks", "--device", "cpu")
check(done.returncode == 1 and "--algorithm blocks" in done.stderr, f"blocks on the CPU: {done.stderr}")
done = hotfiber("bench", "sshopm", "--dim", "5", "--order", "5", "--seconds", ".01", "--device", "cpu", "--json")
rows = json.loads(done.stdout)["rows"]
check([row["name"] for row in rows] == [f"order 5, dim 5, 128 starts, {shift}" for shift in
                                        ("no shift", "adaptive shift")], f"rows of --dim: {rows}")
check(all(row["ns per start and step"] > 0 for row in rows), f"figures of --dim: {rows}")
end()
