"""The kernels on arrays: results against NumPy, and every type, order, stride, shape and mistake."""
import doctest
import importlib
import importlib.util
import itertools

import hotfiber
import numpy as np

from counted import check, end, raises

random = np.random.default_rng(1)


def packed(order, count):
    """Sums of rank-1 tensors along known unit vectors, by the definition of packing."""
    vectors = random.normal(size=(count, 3))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    indices = list(itertools.combinations_with_replacement(range(3), order))
    return np.stack([np.prod(vectors[:, list(index)], axis=1) for index in indices], axis=1), vectors


def aligned(a, b):
    return np.abs((a * b).sum(-1))


for name in ("_tensors", "_matrices", "_contract", "_fields", "_pipeline", "_deconvolution", "linalg", "fem"):
    done = doctest.testmod(importlib.import_module(f"hotfiber.{name}"))
    check(done.attempted > 1 and not done.failed, f"the examples of {name}: {done}")

# Directions of rank-1 tensors are their vectors.
for order in (4, 6, 8):
    tensors, vectors = packed(order, 12)
    for function in (hotfiber.directions, hotfiber.lowrank):
        found = function(tensors.reshape(3, 4, -1))
        check(found.directions.shape == (3, 4, 3, 3) and found.found.shape == (3, 4), f"shapes of order {order}")
        check((found.found == 1).all(), f"one direction: {found.found}")
        check(aligned(found.directions[..., 0, :].reshape(-1, 3), vectors).min() > .9999, f"{function.__name__}")
    best = hotfiber.sshopm(tensors, 64)
    check(best.values.shape == (12, 64) and best.values.dtype == np.float64, "shape and type of sshopm")
    check(np.abs(best.values.max(1) - 1).max() < 1e-9, f"largest eigenvalue, order {order}")
    pairs = hotfiber.eigenpairs(tensors, kind="max")
    check(np.abs(pairs.values[:, 0] - 1).max() < 1e-9, f"eigenpairs, order {order}")
    check(aligned(pairs.vectors[:, 0], vectors).min() > 1 - 1e-9, f"eigenvectors, order {order}")
    check(np.allclose(hotfiber.values(tensors, vectors), (vectors @ vectors.T) ** order), f"values, order {order}")
    # sums of powers have closed forms: A x^p is (v.x)^p v^(order - p)
    for times in range(order + 1):
        reached = hotfiber.forms(tensors.reshape(3, 4, -1), vectors[:5], times).reshape(12, 5, -1)
        indices = list(itertools.combinations_with_replacement(range(3), order - times))
        rest = np.stack([np.prod(vectors[:, list(index)], axis=1) for index in indices], axis=1)
        check(np.allclose(reached, (vectors @ vectors[:5].T)[..., None] ** times * rest[:, None], atol=1e-12),
              f"forms, order {order}, p = {times}")
check(hotfiber.forms(np.float32(packed(4, 2)[0]), np.eye(3), 2).dtype == np.float32, "forms in single precision")
raises(ValueError, "times", hotfiber.forms, packed(4, 2)[0], np.eye(3), 5)
raises(ValueError, "points", hotfiber.forms, packed(4, 2)[0], np.eye(4), 1)
tensors = packed(4, 12)[0]

# Every type and memory order gives what the plain one does.
wanted = hotfiber.directions(tensors.astype(np.float32))
exact = np.round(tensors * 64)
reference = hotfiber.directions(exact)
for kind in (np.int8, np.int16, np.int32, np.int64, np.float16, np.float32, np.float64, np.longdouble, ">f4", ">i2"):
    check(np.array_equal(hotfiber.directions(exact.astype(kind)).directions, reference.directions), f"type {kind}")
padded = np.zeros((24, 40), np.float32)
padded[::2, 5:35:2] = tensors
for what, array in (("Fortran", np.asfortranarray(tensors, np.float32)), ("strided", padded[::2, 5:35:2]),
                    ("list", tensors.astype(np.float32).tolist()), ("negative", np.ascontiguousarray(
                        tensors.astype(np.float32)[::-1, ::-1])[::-1, ::-1])):
    check(np.array_equal(hotfiber.directions(array).directions, wanted.directions), what)
read_only = tensors.astype(np.float32)
read_only.flags.writeable = False
check(np.array_equal(hotfiber.directions(read_only).directions, wanted.directions), "read-only")
unaligned = np.zeros(tensors.size * 4 + 1, np.uint8)[1:].view(np.float32).reshape(tensors.shape)
unaligned[...] = tensors
check(np.array_equal(hotfiber.directions(unaligned).directions, wanted.directions), "unaligned")
single = hotfiber.directions(tensors[3])
check(single.directions.shape == (3, 3) and np.array_equal(single.directions, wanted.directions[3]), "no batch")
empty = hotfiber.directions(np.zeros((0, 5, 15)))
check(empty.directions.shape == (0, 5, 3, 3) and empty.found.shape == (0, 5), "empty")
bad = tensors.copy()
bad[2, 3] = np.nan
found = hotfiber.directions(bad)
check(found.found[2] == 255 and not found.directions[2].any(), "NaN is flagged")
check(np.array_equal(np.delete(found.directions, 2, 0), np.delete(wanted.directions, 2, 0)), "others are not affected")
mask = random.random(12) > .5
inside = hotfiber.directions(tensors, mask=mask)
check(not inside.found[~mask].any() and np.array_equal(inside.directions[mask], wanted.directions[mask]), "mask")
weights = np.where(mask, .5, np.nan)
check(np.array_equal(hotfiber.directions(tensors, mask=weights).found, inside.found), "NaN is outside of a mask")
check(hotfiber.sshopm(tensors.astype(np.float32), 8).values.dtype == np.float32, "float32 stays float32")
masked = np.ma.masked_array(tensors, np.zeros(tensors.shape, bool))
check(np.array_equal(hotfiber.directions(masked).found, wanted.found), "a masked array without masked values")
masked[2, 3] = np.ma.masked
check(np.array_equal(hotfiber.directions(masked).found, found.found), "masked values are NaN")
inside = np.ma.masked_array(np.ones(12), np.arange(12) == 5)
check(np.flatnonzero(hotfiber.directions(tensors, mask=inside).found == 0).tolist() == [5], "and outside of a mask")

# out: filled in place, also with a layout that needs a copy, also if it is the input.
for make in (lambda: np.full((12, 3, 3), 7, np.float32), lambda: np.full((12, 3, 3), 7, np.float64),
             lambda: np.full((3, 3, 24), 7, np.float32).T[::2]):
    out, counts = make(), np.full(12, 9, np.uint8)
    found = hotfiber.directions(tensors, out=(out, counts))
    check(found.directions is out and found.found is counts, "out is returned")
    check(np.array_equal(out, wanted.directions) and np.array_equal(counts, wanted.found), "out is filled")
room = np.zeros(12 * 15, np.float32)
room.reshape(12, 15)[...] = tensors
found = hotfiber.directions(room.reshape(12, 15), out=room[:108].reshape(12, 3, 3))
check(np.array_equal(found.directions, wanted.directions), "out within the input")
raises(ValueError, "shape", hotfiber.directions, tensors, out=np.zeros((12, 3), np.float32))
raises(TypeError, "does not go", hotfiber.directions, tensors, out=np.zeros((12, 3, 3), int))
raises(ValueError, "read-only", hotfiber.directions, tensors,
       out=np.broadcast_to(np.float32(0), (12, 3, 3)))

# Eigenvalues.
for kind, digits in ((np.float32, 3), (np.float64, 9), (np.complex64, 3), (np.complex128, 9)):
    real = random.normal(size=(2, 5, 7, 7))
    matrices = (real + 1j * random.normal(size=real.shape)).astype(kind) if np.dtype(kind).kind == "c" \
        else real.astype(kind)
    matrices = matrices + matrices.conj().swapaxes(-1, -2)
    found = hotfiber.heev(matrices)
    values, vectors = np.linalg.eigh(matrices)
    check(np.abs(found.values - values).max() < 10.0 ** -digits, f"eigenvalues of {np.dtype(kind)}")
    check(found.vectors.dtype == kind and found.values.dtype == values.dtype, f"types for {np.dtype(kind)}")
    check(np.abs(matrices @ found.vectors - found.vectors * found.values[..., None, :]).max() < 10.0 ** -digits,
          f"eigenvectors of {np.dtype(kind)}")
    columns = np.ascontiguousarray(matrices.swapaxes(-1, -2)).swapaxes(-1, -2)  # the same, column by column
    again = hotfiber.heev(columns)
    check(np.abs(again.values - values).max() < 10.0 ** -digits, "column by column")
    check(np.abs(matrices @ again.vectors - again.vectors * again.values[..., None, :]).max() < 10.0 ** -digits,
          f"eigenvectors column by column, {np.dtype(kind)}")
    largest = hotfiber.heev(np.asfortranarray(matrices), largest=2)
    check(np.abs(largest.values - values[..., -2:]).max() < 10.0 ** -digits, "the largest two")
    check(largest.vectors.shape == (2, 5, 7, 2), "their vectors")
check(hotfiber.heev(np.zeros((3, 0, 0))).values.shape == (3, 0), "matrices of size 0")

# One triangle is read, as NumPy does, in whatever order the numbers lie.
def layouts(array):
    yield "rows", np.ascontiguousarray(array)
    yield "columns", np.asfortranarray(array)
    yield "columns of each", np.ascontiguousarray(array.swapaxes(-1, -2)).swapaxes(-1, -2)
    yield "matrices last", np.moveaxis(np.ascontiguousarray(np.moveaxis(array, 0, -1)), -1, 0)
    yield "every second", np.repeat(np.repeat(array, 2, axis=-1), 2, axis=-2)[..., ::2, ::2]
    yield "backwards", array[..., ::-1, ::-1].copy()[..., ::-1, ::-1]
    yield "rows backwards", array[..., ::-1, :].copy()[..., ::-1, :]
    yield "read-only", np.broadcast_to(array, (1,) + array.shape)[0]
    yield "other byte order", array.astype(array.dtype.newbyteorder())


for kind, digits in ((np.float32, 3), (np.float64, 9), (np.complex64, 3), (np.complex128, 9)):
    matrices = random.normal(size=(3, 6, 6)).astype(kind)  # neither symmetric nor with a real diagonal
    if np.dtype(kind).kind == "c":
        matrices += (1j * random.normal(size=matrices.shape)).astype(kind)
    for uplo in "LUlu":
        values = np.linalg.eigvalsh(matrices, UPLO=uplo.upper())
        half = np.tril(matrices, -1) if uplo in "Ll" else np.triu(matrices, 1)
        whole = half + half.conj().swapaxes(-1, -2) + np.stack([np.diag(np.diag(m).real) for m in matrices])
        first = hotfiber.heev(matrices, UPLO=uplo)
        for name, given in layouts(matrices):
            found = hotfiber.heev(given, UPLO=uplo)
            check(np.array_equal(found.values, first.values) and np.array_equal(found.vectors, first.vectors),
                  f"{np.dtype(kind)}, {uplo}, {name}: other than by rows")
            check(np.abs(found.values - values).max() < 10.0 ** -digits, f"{np.dtype(kind)}, {uplo}, {name}: values")
            check(np.abs(whole @ found.vectors - found.vectors * found.values[..., None, :]).max() < 10.0 ** -digits,
                  f"{np.dtype(kind)}, {uplo}, {name}: vectors")
            check(np.abs(hotfiber.heev(given, UPLO=uplo, largest=2, vectors=False).values - values[:, -2:]).max()
                  < 10.0 ** -digits, f"{np.dtype(kind)}, {uplo}, {name}: the largest")
    check(np.abs(hotfiber.heev(matrices).values - np.linalg.eigvalsh(matrices)).max() < 10.0 ** -digits, "L is usual")
check(np.allclose(hotfiber.heev([[1, 0], [5, 1]]).values, [-4, 6]), "lower")
check(np.allclose(hotfiber.heev([[1, 5], [0, 1]], UPLO="U").values, [-4, 6]), "upper")
raises(ValueError, "UPLO", hotfiber.heev, np.eye(3), UPLO="X")
diagonal, off = random.normal(size=(4, 9)), random.normal(size=(4, 8))
dense = np.stack([np.diag(d) + np.diag(o, 1) + np.diag(o, -1) for d, o in zip(diagonal, off)])
values = np.linalg.eigvalsh(dense)
check(np.abs(hotfiber.tridiag(diagonal, off) - values).max() < 1e-12, "tridiagonal")
check(np.abs(hotfiber.tridiag(diagonal, off, index=(2, 4)) - values[:, 2:5]).max() < 1e-12, "by index")
within = hotfiber.tridiag(diagonal, off, interval=(0, 10))
for row, all_values in zip(within, values):
    positive = all_values[(all_values >= 0) & (all_values < 10)]
    check(np.allclose(row[:len(positive)], positive) and np.isnan(row[len(positive):]).all(), "by interval")
check(hotfiber.tridiag(np.float32(diagonal), np.float32(off)).dtype == np.float32, "tridiagonal float32")

# Contractions are einsum's.
a, b = random.normal(size=(6, 3, 4)), random.normal(size=(6, 4, 5))
for spec, left, right in (("ik,kj->ij", a, b), ("...ik,...kj->...ij", a, b), ("ik,kj->ij", a, b[0]),
                          ("ik,kj->ji", a[0], b), ("ij,ij->ij", a, a[::-1]), ("ij,ij->i", a, a),
                          ("ik,kj->ij", a.transpose(0, 2, 1)[:, :3, ::-1][:, :, :3], b[:, :3]),
                          ("ik,kj->ij", a[None], b[:, None][:, :, :, ::2])):
    terms = spec.replace("...", "")
    numpy_spec = "...{},...{}->...{}".format(*terms.replace("->", ",").split(","))
    check(np.allclose(hotfiber.contract(spec, left, right), np.einsum(numpy_spec, left, right)), f"contract {spec}")
total = np.ones((6, 3, 5))
hotfiber.einsum("ik,kj->ij", a, b, out=total, alpha=2, beta=3)
check(np.allclose(total, 2 * a @ b + 3), "alpha and beta")
check(hotfiber.contract("ik,kj->ij", np.float32(a), np.float32(b)).dtype == np.float32, "contract float32")
turned = a * (.5 - 1j), b + 1j * b[::-1]
for left, right in (turned, (turned[0], b), (a, turned[1].conj())):
    check(np.allclose(hotfiber.contract("ik,kj->ij", left, right), left @ right), "contract, complex")
    narrow = [one.astype("c8" if one.dtype.kind == "c" else "f4") for one in (left, right)]
    check(hotfiber.contract("ik,kj->ij", *narrow).dtype == np.complex64, "contract, single complex")
place = np.full((len(a), 3, 5), 2 - 1j)
hotfiber.contract("ik,kj->ij", *turned, out=place, alpha=1j, beta=.5 + .5j)
check(np.allclose(place, 1j * (turned[0] @ turned[1]) + (.5 + .5j) * (2 - 1j)), "contract, complex factors")
check(np.allclose(hotfiber.contract("ik,kj,jl->il", *turned, b.transpose(0, 2, 1)[:, :, :2]),
                  turned[0] @ turned[1] @ b.transpose(0, 2, 1)[:, :, :2]), "contract of three, complex")
raises(TypeError, "alpha: 1j is complex", hotfiber.contract, "ik,kj->ij", a, b, alpha=1j)
raises(TypeError, "out", hotfiber.contract, "ik,kj->ij", *turned, out=np.zeros((len(a), 3, 5)))
check(hotfiber.contract("ik,kj->ij", a[:0], b[:0]).shape == (0, 3, 5), "contract, empty batch")

# CP decomposition and its product.
factors = [random.normal(size=(length, 3)) for length in (7, 6, 5)]
x = np.einsum("ir,jr,kr->ijk", *factors)
for kind, limit in ((np.float64, 1e-4), (np.float32, 1e-2)):
    result = hotfiber.cpd(x.astype(kind), 3, start="hosvd", iterations=2000)
    again = np.einsum("r,ir,jr,kr->ijk", result.weights, *result.factors)
    check(np.abs(again - x).max() < limit * np.abs(x).max(), f"cpd of {np.dtype(kind)}: {np.abs(again - x).max()}")
    check(result.weights.dtype == kind and result.factors[1].shape == (6, 3), "shapes of cpd")
check(np.array_equal(hotfiber.cpd(x, 2, seed=3).factors[0], hotfiber.cpd(x, 2, seed=3).factors[0]), "same seed")
for mode, spec in enumerate(("ijk,jr,kr->ir", "ijk,ir,kr->jr", "ijk,ir,jr->kr")):
    others = [factor for m, factor in enumerate(factors) if m != mode]
    given = [None if m == mode else factor for m, factor in enumerate(factors)]
    check(np.allclose(hotfiber.mttkrp(x, given, mode), np.einsum(spec, x, *others)), f"mttkrp {mode}")

# A tensor kept for many products: the same bits; x may change; closed and refused.
for kind in (np.float64, np.float32):
    own = x.astype(kind)
    kept = hotfiber.MttkrpTensor(own)
    wanted = [hotfiber.mttkrp(own, factors, mode) for mode in range(3)]
    own[:] = 7
    for mode in (2, 0, 1, 2):
        check(np.array_equal(kept.product(factors, mode), wanted[mode]), f"a kept tensor, {np.dtype(kind)}, {mode}")
    place = np.empty(wanted[1].shape, kind)
    check(kept.product(factors, 1, out=place) is place and np.array_equal(place, wanted[1]), "a kept tensor, out")
    check(kept.shape == x.shape and kept.dtype == kind, "a kept tensor's shape")
    kept.close()
    kept.close()
    raises(ValueError, "closed", kept.product, factors, 0)
raises(hotfiber.DataError, "", hotfiber.MttkrpTensor, np.full((2, 2, 2), np.nan))
raises(ValueError, "mode", hotfiber.MttkrpTensor(x).product, factors, 3)
raises(ValueError, "factors", hotfiber.MttkrpTensor(x).product, [None, np.ones((6, 2)), np.ones((4, 2))], 0)

# A start with weights: a decomposition continues where it was.
some = hotfiber.cpd(x, 3, iterations=5)
further = hotfiber.cpd(x, 3, iterations=1, start=some)
scaled = [some.factors.a * some.weights, some.factors.b, some.factors.c]
check(np.array_equal(further.factors.b, hotfiber.cpd(x, 3, iterations=1, start=scaled).factors.b), "a Cpd as the start")
check(further.fit >= some.fit - 1e-12, "a Cpd as the start: no worse")
if importlib.util.find_spec("tensorly"):
    import tensorly
    parts = hotfiber.cpd(x, 3, start="hosvd", iterations=2000).to_tensorly()
    check(np.allclose(tensorly.cp_to_tensor(parts), x, atol=1e-4 * np.abs(x).max()), "TensorLy's CPTensor")
    check(np.allclose(hotfiber.cpd(x, 3, iterations=1, start=parts).fit, 1, atol=1e-4), "TensorLy's start")
else:
    print("no TensorLy: its CPTensor is not tested")

# Three and more operands against numpy.einsum; batches, a result that is added to; an order that NumPy's optimum has.
p, q, r = random.normal(size=(2, 9)), random.normal(size=(9, 8)), random.normal(size=(8, 3))
for spec, arrays in (("ij,jk,kl->il", (p, q, r)), ("il,ij,jk->kl", (random.normal(size=(2, 5)), p, q)),
                     ("i,j,k->ijk", (p[0], p[1], r[0])), ("ij,jk,k,ik->ij", (p, q, q[0], random.normal(size=(2, 8)))),
                     ("ir,jr,kr->ijk", factors)):
    check(np.allclose(hotfiber.contract(spec, *arrays), np.einsum(spec, *arrays)), f"contract {spec}")
    single = [array.astype(np.float32) for array in arrays]
    check(hotfiber.contract(spec, *single).dtype == np.float32 and
          hotfiber.contract(spec, *single[:-1], arrays[-1]).dtype == np.float64, f"types of {spec}")
many = random.normal(size=(4, 1, 9, 8)), random.normal(size=(5, 8, 3))
place = np.ones((4, 5, 2, 3))
hotfiber.contract("ij,jk,kl->il", p, *many, out=place, alpha=2, beta=3)
check(np.allclose(place, 2 * np.einsum("ij,xyjk,ykl->xyil", p, many[0][:, [0] * 5], many[1]) + 3), "three, in batches")
order = importlib.import_module("hotfiber._contract")._order
check(order(("ij", "jk", "kl"), ((),) * 3, "il", tuple({"i": 100, "j": 2, "k": 50, "l": 3}.items())) ==
      (2 * 50 * 3 + 100 * 2 * 3, ((1, 2, "jl"),)), "the cheapest order")
raises(ValueError, "3 operands", hotfiber.contract, "ij,jk->ik", p, q, r)
raises(ValueError, "do not go together", hotfiber.contract, "ij,jk,kl->il", np.ones((2, 2, 9)), q, np.ones((3, 8, 3)))

# Denoising keeps what is constant, and out and slices of arrays work.
data = np.broadcast_to(np.arange(1., 9), (6, 6, 6, 8)) + random.normal(size=(6, 6, 6, 8)) * .1
found = hotfiber.denoise(data)
check(found.data.shape == data.shape and found.noise.shape == (6, 6, 6), "shapes of denoise")
check(np.abs(found.data - np.arange(1., 9)).mean() < .5 * np.abs(data - np.arange(1., 9)).mean(), "less noise")
check(np.array_equal(hotfiber.denoise(np.asfortranarray(data)).data, found.data), "denoise, Fortran order")
out = np.zeros_like(found.data)
check(hotfiber.denoise(data, out=out).data is out and np.array_equal(out, found.data), "denoise, out")
check(hotfiber.denoise(data * (1 + 1j)).data.dtype == np.complex64, "denoise, complex")
mask = np.zeros((6, 6, 6))
mask[:3] = 1
check(np.array_equal(hotfiber.denoise(data, mask).data[3:], data[3:].astype(np.float32)), "denoise, mask")

# Mistakes: the kind of the exception and what it says.
raises(ValueError, "no packed tensor", hotfiber.directions, np.zeros((4, 16)))
raises(TypeError, "real numbers", hotfiber.directions, np.zeros((4, 15), complex))
raises(TypeError, "real numbers", hotfiber.directions, np.array([["a"] * 15]))
raises(ValueError, "max_directions", hotfiber.directions, tensors, max_directions=17)
raises(ValueError, "mask", hotfiber.directions, tensors, mask=np.ones(3))
raises(hotfiber.ArgumentError, "threshold", hotfiber.directions, tensors, threshold=2)
raises(hotfiber.Error, "threshold", hotfiber.directions, tensors, threshold=2)
raises(ValueError, "order", hotfiber.lowrank, np.zeros(6))
raises(ValueError, "device", hotfiber.directions, tensors, device="gpu")
raises(ValueError, "thread", hotfiber.directions, tensors, threads=-1)
raises(TypeError, "progress", hotfiber.directions, tensors, progress=3)
raises(ValueError, "starts", hotfiber.sshopm, tensors, 0)
raises(ValueError, "threads", hotfiber.directions, tensors, threads=1.5)
raises(ValueError, "threads", hotfiber.directions, tensors, threads=[1])
raises(ValueError, "seed", hotfiber.directions, tensors, seed=-1)
raises(ValueError, "device", hotfiber.directions, tensors, device=["cpu"])
raises(TypeError, "threshold", hotfiber.directions, tensors, threshold="high")
raises(TypeError, "threshold", hotfiber.directions, tensors, threshold=[.5])
raises(ValueError, "max_directions", hotfiber.directions, tensors, max_directions="3")
raises(ValueError, "max_iterations", hotfiber.sshopm, tensors, max_iterations=2**40)
raises(ValueError, "dim", hotfiber.sshopm, tensors, dim="3")
raises(TypeError, "mask", hotfiber.directions, tensors, mask="mask.nii.gz")
raises(ValueError, "largest", hotfiber.heev, np.eye(3), largest=1.5)
raises(TypeError, "index", hotfiber.tridiag, np.ones(3), np.ones(2), index=2)
raises(TypeError, "spec", hotfiber.contract, None, a, b)
raises(ValueError, "batches of shape (6,) and (5,)", hotfiber.contract, "ik,kj->ij", a, b[:5])
raises(ValueError, "starts", hotfiber.sshopm, tensors, np.ones((4, 2)))
raises(ValueError, "seek", hotfiber.sshopm, tensors, seek="all")
raises(ValueError, "shift", hotfiber.sshopm, tensors, shift="some")
raises(ValueError, "(..., n, n)", hotfiber.heev, np.zeros((3, 4)))
raises(ValueError, "off", hotfiber.tridiag, np.zeros(4), np.zeros(4))
raises(ValueError, "spec", hotfiber.contract, "ij", a, b)
raises(ValueError, "", hotfiber.contract, "ii,ij->j", a, b)
raises(ValueError, "three or four axes", hotfiber.cpd, np.zeros((3, 3)), 2)
raises(ValueError, "three axes", hotfiber.mttkrp, np.zeros((3, 3)), [None] * 3, 0)
raises(ValueError, "rank", hotfiber.cpd, x, 0)
raises(hotfiber.DataError, "", hotfiber.cpd, np.full((2, 2, 2), np.nan), 1)
raises(ValueError, "mode", hotfiber.mttkrp, x, factors, 3)
raises(ValueError, "rank", hotfiber.cpd, x, 2.5)
for window in (0, 2.5, (3, 3), "3"):
    raises(ValueError, "window", hotfiber.denoise, data, window=window)
end()
