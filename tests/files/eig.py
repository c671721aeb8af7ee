"""hotfiber eig: files in and out, against the table of Kofidis and Regalia's tensor."""
import os, struct, subprocess

from _arrays import HOTFIBER, check, end


def run(*arguments, data=None):
    return subprocess.run([HOTFIBER, "eig", *arguments], input=data, capture_output=True, timeout=120)


def nrrd(values, sizes, kind="double", code="d", endian="little"):
    mark = "<" if endian == "little" else ">"
    head = "NRRD0004\ntype: %s\ndimension: %d\nsizes: %s\nencoding: raw\n"
    head %= kind, len(sizes), " ".join(map(str, sizes))
    head += "endian: %s\n" % endian
    return (head + "\n").encode() + struct.pack(mark + "%d%s" % (len(values), code), *values)


def read(data):
    head, body = data.split(b"\n\n", 1)
    fields = dict(line.split(": ", 1) for line in head.decode().split("\n")
                  if ": " in line and not line.startswith("#"))
    sizes = [int(s) for s in fields["sizes"].split()]
    check(fields["type"] == "double", "the output is double: " + fields["type"])
    count = 1
    for s in sizes:
        count *= s
    check(len(body) == 8 * count, "%d bytes of data for sizes %s" % (len(body), sizes))
    order = "<" if fields.get("endian", "little") == "little" else ">"
    return sizes, struct.unpack(order + "%dd" % count, body), fields


tensor = [.2883, -.0031, .1973, -.2485, -.2939, .3847, .2972, .1862, .0919, -.3619, .1241, -.3420, .2127, .2727, -.3054]
table = [(.8893, 1), (.8169, 1), (.5105, 0), (.3633, 1), (.2682, 0), (.2628, 0), (.2433, 0), (.1735, 0), (-.0451, -1),
         (-.5629, -1), (-1.0954, -1)]

# A batch of 2 x 3 through pipes: the tensor, and multiples of it.
factors = [1, 2, -1, 0, float("nan"), 1e-3]
batch = [f * a for f in factors for a in tensor]
for kind in ("all", "max", "min"):
    done = run("--order", "4", "--dim", "3", "--kind", kind, "--quiet", data=nrrd(batch, [15, 2, 3]))
    check(done.returncode == 0, done.stderr.decode())
    if done.returncode:
        continue
    sizes, values, fields = read(done.stdout)
    wanted = [row for row in table if kind == "all" or row[1] == (1 if kind == "max" else -1)]
    check(sizes == [6, len(wanted), 2, 3], "sizes %s" % sizes)
    rows = [values[i:i + 6] for i in range(0, len(values), 6)]
    for t, factor in enumerate(factors):
        mine = rows[t * len(wanted):(t + 1) * len(wanted)]
        if factor == 0 and kind == "all":  # every vector is one: one of the continuum is given
            check(mine[0][0] == 0 and list(mine[0][4:]) == [0, 0], "the zero tensor's pair: %s" % (mine[0],))
            check(all(row[0] != row[0] for row in mine[1:]), "the zero tensor has one pair")
            continue
        if factor == 0 or factor != factor:
            check(all(row[0] != row[0] for row in mine), "tensor %d has no pairs" % t)
            continue
        if factor < 0 and kind != "all":
            expected = sorted([(factor * l, -k) for l, k in table if k == (-1 if kind == "max" else 1)], reverse=True)
        elif factor < 0:
            expected = sorted([(factor * l, -k) for l, k in table], reverse=True)
        else:
            expected = [(factor * l, k) for l, k in wanted]
        for row, (l, k) in zip(mine, expected):
            check(abs(row[0] - l) <= 5.1e-5 * abs(factor), "lambda %g, not %g" % (row[0], l))
            check(row[5] == k, "kind %g of lambda %g" % (row[5], l))
            check(row[4] <= 1e-10, "residual %g" % row[4])
            check(abs(sum(c * c for c in row[1:4]) - 1) < 1e-12, "unit vector")

# Any scalar type, either endian; a matrix of dimension 2.
for kind, code, endian in (("int16", "h", "big"), ("float", "f", "big"), ("unsigned char", "B", "little")):
    done = run("--order", "2", "--dim", "2", data=nrrd([2, 1, 2], [3], kind, code, endian))
    check(done.returncode == 0, done.stderr.decode())
    if done.returncode == 0:
        sizes, values, fields = read(done.stdout)
        check(sizes == [5, 2] and abs(values[0] - 3) < 1e-14 and abs(values[5] - 1) < 1e-14,
              "matrix %s %s" % (sizes, values))

# The seed and the number of threads do not matter; --shift and --starts are taken.
first = run("--order", "3", "--dim", "4", "--threads", "1", data=nrrd([(i * 7 % 11) - 5 for i in range(40)], [20, 2]))
second = run("--order", "3", "--dim", "4", "--threads", "5", data=nrrd([(i * 7 % 11) - 5 for i in range(40)], [20, 2]))
check(first.returncode == 0 and first.stdout == second.stdout, "threads change the output " + first.stderr.decode())
for shift in ("none", "5", "adaptive"):
    done = run("--order", "4", "--shift", shift, "--starts", "40", "--kind", "max", data=nrrd(tensor, [15]))
    check(done.returncode == 0, done.stderr.decode())
    if done.returncode == 0:
        sizes, values, fields = read(done.stdout)
        check(abs(values[0] - .8893) < 5e-5, "shift %s: %g" % (shift, values[0]))

# Errors are one line.
done = run("--order", "4", "--dim", "3", "-o", "out.nrrd", data=nrrd(tensor[:14], [14]))
text = done.stderr.decode()
check(done.returncode == 1 and text.count("\n") == 1 and "15" in text and "14" in text, "wrong axis: " + text)
check(not os.path.exists("out.nrrd"), "nothing is written")
check(run(data=nrrd(tensor, [15])).returncode == 2, "no order")
check(run("--order", "4", "--shift", "x", data=nrrd(tensor, [15])).returncode == 2, "bad shift")

end()
