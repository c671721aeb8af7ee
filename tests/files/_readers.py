"""Other people's readers. Each function has hotfiber write a file, opens it with somebody else's program or library,
and returns what that found as {voxel: [vectors in scanner RAS, longest first]}; what else the file must say is checked
on the way. Voxels are recognised by where they lie, not by their order in the file."""
import glob

import nibabel
import numpy as np
from _export import PAIRS, SIGN, SIZE, check_vectors, export, run, write

try:
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkIOPLY import vtkPLYReader
    from vtkmodules.vtkIOXML import vtkXMLImageDataReader, vtkXMLPolyDataReader
except ImportError:
    vtk_to_numpy = None
try:
    from dipy.io.peaks import load_peaks
except Exception:  # old ones do not load with every numpy
    load_peaks = None

FLIP = np.array([-1, -1, 1])  # LPS <-> RAS
VOXELS = [(i, j, k) for k in range(SIZE[2]) for j in range(SIZE[1]) for i in range(SIZE[0])]  # in memory's order


def vectors_of(values):
    """3N values -> the vectors other than 0."""
    return [v for v in np.asarray(values, float).reshape(-1, 3) if np.isfinite(v).all() and v.any()]


def place(case, position):
    """The voxel whose centre is at a position in RAS mm."""
    index = (np.linalg.inv(case.affine) @ np.append(position, 1))[:3]
    voxel = tuple(int(round(x)) for x in index)
    case.check(np.abs(index - voxel).max() < 1e-3 and voxel in case.truth, f"{case.what}: unexpected fibre at {index}")
    return voxel


def of_image(case, path):
    """An image of 3N volumes, whose axes may have been turned."""
    image = nibabel.load(path)
    data = image.get_fdata()
    return {place(case, (image.affine @ np.array(v + (1,)))[:3]): vectors_of(data[v])
            for v in np.ndindex(data.shape[:3])}


def of_rows(rows):
    """One row of values per voxel, in memory's order."""
    return {voxel: vectors_of(row) for voxel, row in zip(VOXELS, rows)}


def principal(directions, radii):
    """The vector v, |v| u with r(x) = |v| (u.x)^2, of a surface whose radii are known in some directions."""
    terms = np.array([[x[a] * x[b] * (1 if a == b else 2) for a, b in PAIRS] for x in directions])
    found = np.linalg.lstsq(terms, radii, rcond=None)[0]
    matrix = np.zeros((3, 3))
    for value, (a, b) in zip(found, PAIRS):
        matrix[a, b] = matrix[b, a] = value
    values, vectors = np.linalg.eigh(matrix)
    return values[2] * vectors[:, 2]


# ---- NIfTI and MRtrix -------------------------------------------------------------------------------------------

def peaks_nibabel(case):
    for path in ("peaks.nii.gz", "peaks.nii"):
        export(case.source, path)
        image = nibabel.load(path)
        case.check(image.get_data_dtype() == np.float32 and image.shape == SIZE + (6,), f"{case.what}: {image.shape}")
        case.check(np.allclose(image.get_sform(), case.affine, atol=1e-4), f"{case.what}: sform")
        case.check(np.allclose(image.get_qform(), case.affine, atol=1e-3), f"{case.what}: qform")
        case.check(int(image.header["sform_code"]) == int(image.header["qform_code"]) == 1, f"{case.what}: codes")
    plain, packed = (nibabel.load(path).get_fdata() for path in ("peaks.nii", "peaks.nii.gz"))
    case.check(np.array_equal(plain, packed), f"{case.what}: .nii and .nii.gz")
    return of_image(case, "peaks.nii")


def peaks_mrtrix(case):
    export(case.source, "peaks.nii.gz")
    size = run("mrinfo", "-size", "peaks.nii.gz").split()  # MRtrix turns the axes
    case.check(sorted(size[:3]) == sorted(map(str, SIZE)) and size[3] == "6", f"{case.what}: mrinfo says {size}")
    run("peaks2fixel", "-quiet", "peaks.nii.gz", "p2f", "-dataname", "amplitude.mif")
    run("fixel2peaks", "-quiet", "p2f/amplitude.mif", "back.nii", "-number", "2")
    return of_image(case, "back.nii")


def fixels_mrtrix(case):
    for _ in range(2):  # ours may be replaced
        export(case.source, "fixels")
    case.check(run("mrinfo", "-property", "nfixels", "fixels/index.mif").strip() == str(case.count),
               f"{case.what}: nfixels")
    case.check(run("mrinfo", "-size", "fixels/directions.mif").split() == [str(case.count), "3", "1"],
               f"{case.what}: size")
    for operation, wanted in (("count", lambda vectors: [len(vectors)]),
                              ("sum", lambda vectors: [sum(map(np.linalg.norm, vectors))]),
                              ("max", lambda vectors: [max(map(np.linalg.norm, vectors), default=0)]),
                              ("dec_scaled",
                               lambda vectors: np.abs(np.array(vectors or np.zeros((1, 3)))).sum(axis=0))):
        run("fixel2voxel", "-quiet", "fixels/amplitude.mif", operation, operation + ".nii")
        image = nibabel.load(operation + ".nii")
        data = image.get_fdata().reshape(image.shape[:3] + (-1,))
        for v in np.ndindex(image.shape[:3]):
            voxel = place(case, (image.affine @ np.array(v + (1,)))[:3])
            want = wanted(case.truth[voxel])
            if operation == "dec_scaled":
                # MRtrix scales these by the sum over the largest part; the direction is what counts
                found = data[v] / (np.linalg.norm(data[v]) or 1)
                want = want / (np.linalg.norm(want) or 1)
            else:
                found = np.nan_to_num(data[v])
            case.check(np.abs(found - want).max() < 1e-5,
                       f"{case.what}: fixel2voxel {operation} {voxel}: {found} {want}")
    run("fixel2peaks", "-quiet", "fixels/amplitude.mif", "f2p.nii", "-number", "2")
    return of_image(case, "f2p.nii")


def tck_nibabel(case):
    export(case.source, "tracks.tck")
    tracks = nibabel.streamlines.load("tracks.tck").streamlines
    return of_tracks(case, [np.asarray(track, float) for track in tracks])


def tck_mrtrix(case):
    export(case.source, "tracks.tck")
    said = run("tckinfo", "-count", "tracks.tck")
    case.check(f"count:                {case.count}" in said, f"{case.what}: {said}")
    case.check(f"actual count in file: {case.count}" in said, f"{case.what}: {said}")
    run("tckconvert", "-quiet", "tracks.tck", "track-[].txt")
    return of_tracks(case, [np.loadtxt(path) for path in sorted(glob.glob("track-*.txt"))])


def of_tracks(case, tracks):
    """Two points each; the largest amplitude spans the smallest side of a voxel."""
    case.check(len(tracks) == case.count and all(len(t) == 2 for t in tracks), f"{case.what}: {len(tracks)} tracks")
    found = {voxel: [] for voxel in VOXELS}
    for track in tracks:
        found[place(case, track.mean(axis=0))].append((track[1] - track[0]) / case.scale)
    return found


def sh_mrtrix(case):
    """Spherical harmonics of tensors: amplitudes along some directions give the tensor, its main axis the fibre."""
    directions = np.random.default_rng(3).normal(size=(12, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    np.savetxt("directions.txt", directions)
    export(case.tensors, "sh.nii.gz", "--format", "sh")
    run("sh2amp", "-quiet", "sh.nii.gz", "directions.txt", "amplitudes.nii")
    image = nibabel.load("amplitudes.nii")
    data, found = image.get_fdata(), {}
    for v in np.ndindex(image.shape[:3]):
        voxel = place(case, (image.affine @ np.array(v + (1,)))[:3])
        found[voxel] = [principal(directions, data[v])] if data[v].any() else []
    return found


# ---- Teem -------------------------------------------------------------------------------------------------------

def rows_teem(path, values):
    """The samples of a NRRD as Teem writes them to text: rows of so many values."""
    run("teem-unu", "reshape", "-s", values, len(VOXELS), "-i", path, "-o", "flat.nrrd")
    run("teem-unu", "save", "-f", "text", "-i", "flat.nrrd", "-o", "values.txt")
    return np.loadtxt("values.txt").reshape(len(VOXELS), values)


def head_teem(case, path, *must):
    head = run("teem-unu", "head", path)
    for line in must + ("space: " + case.space, "measurement frame: (1,0,0) (0,1,0) (0,0,1)"):
        case.check(line in head, f"{case.what}: '{line}' is not in {head}")


def to_ras(case, rows):
    return (rows.reshape(len(rows), -1, 3) * np.array(SIGN[case.space])).reshape(len(rows), -1)


def peaks_teem(case):
    export(case.source, "again.nrrd", "--format", "peaks")
    head_teem(case, "again.nrrd", "sizes: 6 5 4 3")
    return of_rows(to_ras(case, rows_teem("again.nrrd", 6)))


def fiber_teem(case):
    export(case.source, "fiber.nrrd")
    parts = []
    for number in (1, 2):
        head_teem(case, f"fiber_{number}.nrrd", "kinds: 3-vector space space space", "sizes: 3 5 4 3")
        parts.append(rows_teem(f"fiber_{number}.nrrd", 3))
    return of_rows(to_ras(case, np.concatenate(parts, axis=1)))


def bonndit_teem(case):
    export(case.source, "five.nrrd", "--format", "bonndit")
    head_teem(case, "five.nrrd", "sizes: 4 2 5 4 3")
    rows = rows_teem("five.nrrd", 8).reshape(-1, 4)
    case.check(np.allclose(np.linalg.norm(rows[:, 1:], axis=1), rows[:, 0] > 0, atol=1e-6),
               f"{case.what}: unit vectors")
    return of_rows(to_ras(case, (rows[:, :1] * rows[:, 1:]).reshape(-1, 6)))


def bonndit_read(case):
    """A 5-D file as bonndit's own script leaves it (no measurement frame, axes without a direction are NaN), read by
    us."""
    stored = np.zeros(SIZE + (4, 2))
    for voxel, vectors in case.truth.items():
        for f, v in enumerate(vectors):
            stored[voxel + (slice(None), f)] = np.append(np.linalg.norm(v), SIGN[case.space] * v / np.linalg.norm(v))
    write("theirs.nrrd", case.name, stored, "kinds: list list space space space", frame=np.eye(3))
    with open("theirs.nrrd", "rb") as f:
        head, data = f.read().split(b"\n\n", 1)
    lines = [line.replace(b"none", b"(nan,nan,nan)") for line in head.split(b"\n")
             if not line.startswith(b"measurement")]
    with open("theirs.nrrd", "wb") as f:
        f.write(b"\n".join(lines) + b"\n\n" + data)
    export("theirs.nrrd", "theirs.nii", "--format", "peaks")
    return of_image(case, "theirs.nii")


# ---- FSL and DIPY -----------------------------------------------------------------------------------------------

def dyads_nibabel(case):
    """FSL's rule: unit vectors in image axes, x mirrored if the determinant is positive; and fractions."""
    export(case.source, "dyads.nii.gz")
    axes = case.affine[:3, :3] / np.linalg.norm(case.affine[:3, :3], axis=0)
    if np.linalg.det(axes) > 0:
        axes[:, 0] *= -1
    unit = [nibabel.load(f"dyads{n}.nii.gz").get_fdata() for n in (1, 2)]
    share = [nibabel.load(f"mean_f{n}samples.nii.gz").get_fdata() for n in (1, 2)]
    case.check(unit[0].shape == SIZE + (3,) and share[0].shape == SIZE,
               f"{case.what}: {unit[0].shape} {share[0].shape}")
    return {v: [axes @ u[v] * f[v] for u, f in zip(unit, share) if f[v] > 0] for v in VOXELS}


def pam5_dipy(case):
    export(case.source, "peaks.pam5")
    peaks = load_peaks("peaks.pam5")
    case.check(np.allclose(peaks.affine, case.affine), f"{case.what}: affine")
    case.check(peaks.ang_thr == 60 and peaks.total_weight == 0.5 and len(peaks.sphere.vertices) == 2562,
               f"{case.what}: sphere")
    axes = case.affine[:3, :3] / np.linalg.norm(case.affine[:3, :3], axis=0)  # image axes in the world
    return {v: [axes @ d * a for d, a in zip(peaks.peak_dirs[v], peaks.peak_values[v]) if a > 0] for v in VOXELS}


# ---- VTK --------------------------------------------------------------------------------------------------------

def load_vtk(case, reader, path):
    reader.SetFileName(path)
    reader.Update()
    case.check(reader.GetErrorCode() == 0, f"{case.what}: VTK's error {reader.GetErrorCode()}")
    return reader.GetOutput()


def says_lps(case, data):
    space = data.GetFieldData().GetAbstractArray("SPACE")
    case.check(space is not None and space.GetValue(0) == "LPS", f"{case.what}: SPACE")


def of_lines(case, lines):
    """Segments: points, cells, arrays and bounds."""
    case.check(lines.GetNumberOfLines() == lines.GetNumberOfCells() == case.count,
               f"{case.what}: {lines.GetNumberOfLines()}")
    says_lps(case, lines)
    cells = {name: vtk_to_numpy(lines.GetCellData().GetArray(name))
             for name in ("direction", "amplitude", "fiber", "color")}
    active = (lines.GetCellData().GetVectors().GetName(), lines.GetCellData().GetScalars().GetName())
    case.check(active == ("direction", "amplitude"), f"{case.what}: active arrays {active}")
    ends = np.array([np.array(lines.GetCell(i).GetPoints().GetData().GetTuple(end)) * FLIP
                     for i in range(case.count) for end in (0, 1)]).reshape(-1, 2, 3)
    found = {voxel: [] for voxel in VOXELS}
    for i, (start, end) in enumerate(ends):
        vector = cells["direction"][i] * FLIP * cells["amplitude"][i]
        check_vectors([(end - start) / case.scale], [vector], f"{case.what}: segment {i}")
        case.check(np.abs(cells["color"][i] - np.abs(cells["direction"][i]) * 255).max() <= 1,
                   f"{case.what}: colour {i}")
        voxel = place(case, (start + end) / 2)
        found[voxel].append(vector)
        case.check(cells["fiber"][i] == len(found[voxel]), f"{case.what}: fibre number {i}")
    wanted = np.array([(case.affine @ np.append(voxel, 1))[:3] + half * case.scale * v
                       for voxel, vectors in case.truth.items() for v in vectors for half in (-0.5, 0.5)]) * FLIP
    bounds = np.array(lines.GetBounds()).reshape(3, 2)
    case.check(np.abs(bounds[:, 0] - wanted.min(axis=0)).max() < 1e-4, f"{case.what}: lower bounds")
    case.check(np.abs(bounds[:, 1] - wanted.max(axis=0)).max() < 1e-4, f"{case.what}: upper bounds")
    return found


def of_grid(case, image):
    """Vectors on a grid with its direction matrix."""
    case.check(image.GetDimensions() == SIZE, f"{case.what}: {image.GetDimensions()}")
    says_lps(case, image)
    points = image.GetPointData()
    case.check((points.GetVectors().GetName(), points.GetScalars().GetName()) == ("fiber_1", "nfibers"),
               f"{case.what}: active")
    vectors = [vtk_to_numpy(points.GetArray(f"fiber_{f}")) * FLIP for f in (1, 2)]
    counts = vtk_to_numpy(points.GetArray("nfibers"))
    found = {}
    for at, voxel in enumerate(VOXELS):
        world = np.zeros(3)
        image.TransformIndexToPhysicalPoint(voxel, world)
        lies = place(case, world * FLIP)
        found[lies] = [v[at] for v in vectors if v[at].any()]
        case.check(counts[at] == len(case.truth[lies]), f"{case.what}: count at {lies}")
    return found


def of_glyphs(case, mesh, colors):
    """Surfaces r(x) = |v| (u.x)^2 about the centres of the fitted voxels."""
    fitted = [voxel for voxel in VOXELS if case.truth[voxel]]
    case.check(mesh.GetNumberOfPoints() == 642 * len(fitted) and mesh.GetNumberOfPolys() == 1280 * len(fitted),
               f"{case.what}: {mesh.GetNumberOfPoints()} points, {mesh.GetNumberOfPolys()} triangles")
    points = vtk_to_numpy(mesh.GetPoints().GetData()).reshape(-1, 642, 3) * FLIP
    colors = vtk_to_numpy(colors).reshape(points.shape)
    found, scale = {voxel: [] for voxel in VOXELS}, None
    for glyph, voxel in enumerate(fitted):
        out = points[glyph] - (case.affine @ np.append(voxel, 1))[:3]
        radii = np.linalg.norm(out, axis=1)
        there = radii > 0.05 * radii.max()  # where the single precision of positions does not hide the direction
        directions = out[there] / radii[there, None]
        case.check(np.abs(colors[glyph][there] - np.abs(directions) * 255).max() < 2,
                   f"{case.what}: colours of {voxel}")
        vector = principal(directions, radii[there])
        scale = scale or np.linalg.norm(case.truth[voxel][0]) / np.linalg.norm(vector)  # one for all glyphs
        found[voxel] = [scale * vector]
    bounds = np.array(mesh.GetBounds()).reshape(3, 2)
    every = (points * FLIP).reshape(-1, 3)
    case.check(np.allclose(bounds[:, 0], every.min(axis=0)) and np.allclose(bounds[:, 1], every.max(axis=0)),
               f"{case.what}: bounds")
    return found


def vtp_vtk(case):
    export(case.source, "lines.vtp")
    return of_lines(case, load_vtk(case, vtkXMLPolyDataReader(), "lines.vtp"))


def vti_vtk(case):
    export(case.source, "grid.vti")
    return of_grid(case, load_vtk(case, vtkXMLImageDataReader(), "grid.vti"))


def glyphs_vtk(case):
    export(case.tensors, "glyphs.vtp")
    mesh = load_vtk(case, vtkXMLPolyDataReader(), "glyphs.vtp")
    says_lps(case, mesh)
    return of_glyphs(case, mesh, mesh.GetPointData().GetArray("color"))


def ply_vtk(case):
    export(case.tensors, "glyphs.ply")
    reader = vtkPLYReader()
    mesh = load_vtk(case, reader, "glyphs.ply")
    comments = [reader.GetComments().GetValue(i) for i in range(reader.GetComments().GetNumberOfValues())]
    case.check(any("SPACE=LPS" in c for c in comments), f"{case.what}: {comments}")
    return of_glyphs(case, mesh, mesh.GetPointData().GetArray("RGB"))


# name: (function, what it needs, whether it reads tensors, whose only fibre is the first)
READERS = {
    "peaks, nibabel": (peaks_nibabel, [], False),
    "peaks, MRtrix": (peaks_mrtrix, ["mrinfo", "peaks2fixel", "fixel2peaks"], False),
    "fixels, MRtrix": (fixels_mrtrix, ["mrinfo", "fixel2voxel", "fixel2peaks"], False),
    "tck, nibabel": (tck_nibabel, [], False),
    "tck, MRtrix": (tck_mrtrix, ["tckinfo", "tckconvert"], False),
    "sh, MRtrix": (sh_mrtrix, ["sh2amp"], True),
    "peaks NRRD, Teem": (peaks_teem, ["teem-unu"], False),
    "fiber NRRDs, Teem": (fiber_teem, ["teem-unu"], False),
    "5-D NRRD, Teem": (bonndit_teem, ["teem-unu"], False),
    "5-D NRRD, hotfiber": (bonndit_read, [], False),
    "dyads, nibabel": (dyads_nibabel, [], False),
    "pam5, DIPY": (pam5_dipy, [load_peaks], False),
    "vtp, VTK": (vtp_vtk, [vtk_to_numpy], False),
    "vti, VTK": (vti_vtk, [vtk_to_numpy], False),
    "glyphs vtp, VTK": (glyphs_vtk, [vtk_to_numpy], True),
    "ply, VTK": (ply_vtk, [vtk_to_numpy], True),
}
