"""hotfiber contract: NRRD arrays in and out against numpy, finite elements, the file of choices, and refusals."""
import os, subprocess

import numpy as np

from _arrays import HOTFIBER, check, end, nrrd, read

os.environ["XDG_CACHE_HOME"] = os.path.join(os.getcwd(), "cache")


def write(name, array, kind="double"):
    with open(name, "wb") as file:
        file.write(nrrd(array, kind))


def run(*arguments):
    return subprocess.run([HOTFIBER, "contract", *arguments], capture_output=True, timeout=300)


def result(*arguments):
    done = run(*arguments)
    check(done.returncode == 0, "%s: %s" % (" ".join(arguments), done.stderr.decode()))
    return read(done.stdout)[0] if done.returncode == 0 else np.zeros(1)


rng = np.random.default_rng(7)
a, b, c = rng.normal(size=(3, 5, 70)), rng.normal(size=(5, 4, 70)), rng.normal(size=(3, 4, 70))
write("a.nrrd", a), write("b.nrrd", b), write("c.nrrd", c), write("one.nrrd", b[:, :, 0])
expected = np.einsum("ikt,kjt->ijt", a, b)
for device in ("cpu", "auto"):
    got = result("--a", "a.nrrd", "--b", "b.nrrd", "--spec", "ik,kj->ij", "--device", device)
    check(got.shape == (3, 4, 70) and np.abs(got - expected).max() < 1e-13, "batched product on " + device)
got = result("--a", "a.nrrd", "--b", "b.nrrd", "--c", "c.nrrd", "--spec", "ik,kj->ij", "--alpha", "-2", "--beta", ".5")
check(np.abs(got - (-2 * expected + .5 * c)).max() < 1e-13, "alpha and beta")
got = result("--a", "a.nrrd", "--b", "b.nrrd", "--c", "c.nrrd", "--spec", "ik,kj->ij")
check(np.abs(got - (expected + c)).max() < 1e-13, "--c without --beta is added")
got = result("--a", "a.nrrd", "--b", "one.nrrd", "--spec", "ik,kj->ji")
check(np.abs(got - np.einsum("ikt,kj->jit", a, b[:, :, 0])).max() < 1e-13, "an operand without a batch")
check(result("--a", "one.nrrd", "--b", "one.nrrd", "--spec", "ij,ij->").shape == (1,), "a number")

x, y = rng.normal(size=(3, 6, 4, 9)), rng.normal(size=(2, 6, 5, 9))
write("x.nrrd", x, "float"), write("y.nrrd", y)
x = x.astype("f4").astype("f8")
got = result("--a", "x.nrrd", "--b", "y.nrrd", "--spec", "isj,ksl->ijkl")
check(np.abs(got - np.einsum("isjt,kslt->ijklt", x, y)).max() < 1e-12, "the paper's contraction")
done = run("--a", "x.nrrd", "--b", "y.nrrd", "--spec", "isj,ksl->ijkl", "--precision", "single", "-o", "out.nrrd")
got, kind = read(open("out.nrrd", "rb").read())
check(kind == "float" and np.abs(got - np.einsum("isjt,kslt->ijklt", x, y)).max() < 1e-4, "single precision")
write("s.nrrd", np.arange(24).reshape(2, 3, 4), "short")
check(np.array_equal(result("--a", "s.nrrd", "--b", "s.nrrd", "--spec", "ij,ij->j"),
                     (np.arange(24.).reshape(2, 3, 4) ** 2).sum(0)), "short integers, a paired axis")


def lagrange(dofs, points):
    """The Lagrange basis of the Gauss-Lobatto nodes at the Gauss-Legendre points of [0, 1], by numpy's own
    polynomials."""
    legendre = np.polynomial.legendre.Legendre.basis(dofs - 1)
    nodes = .5 * (1 + np.concatenate([[-1], np.sort(legendre.deriv().roots().real), [1]]))
    at = .5 * (1 + np.polynomial.legendre.leggauss(points)[0])
    basis = np.ones((points, dofs))
    for i in range(dofs):
        for j in range(dofs):
            if i != j:
                basis[:, i] *= (at - nodes[j]) / (nodes[i] - nodes[j])
    return basis


for dim in (2, 3):
    dofs, points, elements = 4, 5, 6
    basis = lagrange(dofs, points)
    d, v = rng.random(size=[points] * dim + [elements]), rng.normal(size=[dofs] * dim + [elements])
    write("d.nrrd", d), write("v.nrrd", v), write("basis.nrrd", rng.normal(size=(points, dofs)))
    letters = ("ka,lb,klt,kc,ld,cdt->abt", "kc,ld,klt->cdt") if dim == 2 else ("ka,lb,mc,klmt,kd,le,mf,deft->abct",)
    factors = [basis] * dim + [d] + [basis] * dim + [v]
    got = result("--op", "mass%dd" % dim, "--a", "d.nrrd", "--b", "v.nrrd")
    check(np.abs(got - np.einsum(letters[0], *factors, optimize=True)).max() < 1e-12, "mass%dd" % dim)
    m = result("--op", "assemble%dd" % dim, "--a", "d.nrrd", "--dofs", str(dofs))
    flat = np.einsum("ijt,jt->it", m, v.reshape(dofs ** dim, elements, order="F"))
    check(np.abs(flat - got.reshape(dofs ** dim, elements, order="F")).max() < 1e-12,
          "assembled times V is the action, %d-D" % dim)
    own = result("--op", "mass%dd" % dim, "--a", "d.nrrd", "--b", "v.nrrd", "--basis", "basis.nrrd")
    other, _ = read(open("basis.nrrd", "rb").read())
    factors = [other] * dim + [d] + [other] * dim + [v]
    wanted = np.einsum(letters[0], *factors, optimize=True)
    check(np.abs(own - wanted).max() < 1e-13 * np.abs(wanted).max(), "a basis of one's own, %d-D" % dim)

# The choices: kept where the cache is, used again, ignored when broken, never written without --tune.
check(not os.path.exists("cache"), "nothing is kept without --tune")
done = run("--a", "a.nrrd", "--b", "b.nrrd", "--spec", "ik,kj->ij", "--tune", "-o", "tuned.nrrd")
text = done.stderr.decode()
check(done.returncode == 0 and "4 x 3 x 5" in text.replace("3 x 4 x 5", "4 x 3 x 5") and "usual" in text,
      "--tune says what it chose: " + text)
path = "cache/hotfiber/contract.txt"
check(os.path.exists(path) and open(path).read().startswith("hotfiber contract tuning 1\n"), "the file of choices")
check(np.abs(read(open("tuned.nrrd", "rb").read())[0] - expected).max() < 1e-13, "the tuned result")
got = result("--a", "a.nrrd", "--b", "b.nrrd", "--spec", "ik,kj->ij")
check(np.abs(got - expected).max() < 1e-13, "the result with the choices")
open(path, "w").write("something else\n")
done = run("--a", "a.nrrd", "--b", "b.nrrd", "--spec", "ik,kj->ij")
check(done.returncode == 0 and done.stderr.decode().count("is not used") == 1,
      "a broken file is not used: " + done.stderr.decode())
os.remove(path)

for arguments, status, word in (
        (["--a", "a.nrrd", "--b", "b.nrrd"], 2, "--spec"),
        (["--a", "a.nrrd", "--spec", "ik,kj->ij"], 2, "-b is needed"),
        (["--a", "a.nrrd", "--b", "b.nrrd", "--spec", "ik,kj->ij", "--op", "mass2d"], 2, "exclude"),
        (["--a", "a.nrrd", "--b", "b.nrrd", "--spec", "ik,kj->ij", "--beta", "2"], 2, "needs -c"),
        (["--a", "a.nrrd", "--b", "b.nrrd", "--spec", "ik,kj->iz"], 1, "'z'"),
        (["--a", "a.nrrd", "--b", "b.nrrd", "--spec", "ik,jk->ij"], 1, "'k' has size 5 in A and 4 in B"),
        (["--a", "a.nrrd", "--b", "b.nrrd", "--spec", "i,kj->ij"], 1, "axes"),
        (["--a", "a.nrrd", "--b", "x.nrrd", "--spec", "ik,iks->s"], 1, "items"),
        (["--a", "a.nrrd", "--b", "b.nrrd", "--spec", "ik,kj->ij", "-o", "a.nrrd"], 1, "a.nrrd"),
        (["--op", "mass3d", "--a", "a.nrrd", "--b", "b.nrrd"], 1, "cubes"),
        (["--a", "nowhere.nrrd", "--b", "b.nrrd", "--spec", "ik,kj->ij"], 1, "nowhere.nrrd")):
    done = run(*arguments)
    text = done.stderr.decode()
    check(done.returncode == status and text.count("\n") == 1 and word in text,
          "%s: %d %s" % (" ".join(arguments), done.returncode, text))

end()
