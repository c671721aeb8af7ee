"""What we export, read by others: nibabel, MRtrix, Teem and (where it is installed) VTK. For an oblique LPS file, a RAS
file, permuted and flipped axes, LAS, and measurement frames that are not the identity, all give the same world directions."""
import shutil
import sys

import nibabel
import numpy as np

sys.path.insert(0, __file__.rsplit("/", 1)[0])
from _export import GEOMETRIES, SIGN, Checks, export, make, run

missing = [tool for tool in ("mrinfo", "peaks2fixel", "fixel2peaks", "fixel2voxel", "mrstats", "tckinfo", "teem-unu")
           if not shutil.which(tool)]
if missing:
    print("skipped: not installed:", *missing)
    raise SystemExit(77)
check = Checks()


def vectors_of(values):
    vectors = np.asarray(values, float).reshape(-1, 3)
    return [v for v in vectors if np.isfinite(v).all() and v.any()]


def compare_image(image, affine, truth, where):
    """An image of 3N volumes whose voxels may be in another order (MRtrix turns axes): matched by position."""
    data = image.get_fdata()
    to_ours = np.linalg.inv(affine) @ image.affine
    seen = 0
    for voxel in np.ndindex(data.shape[:3]):
        ours = to_ours @ np.array(voxel + (1,))
        key = tuple(int(round(x)) for x in ours[:3])
        check(np.abs(ours[:3] - key).max() < 1e-3 and key in truth, f"{where}: voxel {voxel} lies at {ours[:3]}")
        if key in truth:
            seen += 1
            check.vectors(vectors_of(data[voxel]), truth[key], f"{where} {key}")
    check(seen == len(truth), f"{where}: {seen} of {len(truth)} voxels")


def nrrd_vectors(path, space):
    """A NRRD of directions by Teem: header fields and vectors turned into RAS."""
    run("teem-unu", "save", "-f", "text", "-i", path, "-o", "values.txt")
    values = np.loadtxt("values.txt")
    return values.reshape(values.shape[0], -1, 3) * np.array(SIGN[space])


for name in GEOMETRIES:
    space = GEOMETRIES[name][0]
    source = name + ".nrrd"
    affine, truth = make(name, source)
    order = [(i, j, k) for k in range(3) for j in range(4) for i in range(5)]  # as they lie in memory
    fixels = sum(len(v) for v in truth.values())

    # peaks as NIfTI: nibabel, and MRtrix there and back
    for peaks in (name + "_peaks.nii.gz", name + "_peaks.nii"):
        export(source, peaks)
        image = nibabel.load(peaks)
        check(image.get_data_dtype() == np.float32 and image.shape == (5, 4, 3, 6), f"{name}: {image.shape}")
        check(np.allclose(image.get_sform(), affine, atol=1e-4), f"{name}: sform")
        check(np.allclose(image.get_qform(), affine, atol=1e-3), f"{name}: qform")
        check(int(image.header["sform_code"]) == 1 and int(image.header["qform_code"]) == 1, f"{name}: codes")
        compare_image(image, affine, truth, f"{name} peaks, nibabel")
    size = run("mrinfo", "-size", peaks).split()  # MRtrix turns the axes
    check(sorted(size[:3]) == ["3", "4", "5"] and size[3] == "6", f"{name}: mrinfo says {size}")
    run("peaks2fixel", "-quiet", peaks, name + "_p2f", "-dataname", "amplitude.mif")
    run("fixel2peaks", "-quiet", name + "_p2f/amplitude.mif", name + "_back.nii", "-number", "2")
    compare_image(nibabel.load(name + "_back.nii"), affine, truth, f"{name} peaks, MRtrix")

    # our fixel directory, read by MRtrix
    folder = name + "_fixels"
    export(source, folder, "--format", "fixels")
    check(run("mrinfo", "-property", "nfixels", folder + "/index.mif").strip() == str(fixels), f"{name}: nfixels")
    check(run("mrinfo", "-size", folder + "/directions.mif").split() == [str(fixels), "3", "1"], f"{name}: directions")
    run("fixel2peaks", "-quiet", folder + "/amplitude.mif", name + "_f2p.nii", "-number", "2")
    compare_image(nibabel.load(name + "_f2p.nii"), affine, truth, f"{name} fixels, MRtrix")
    run("fixel2voxel", "-quiet", folder + "/amplitude.mif", "sum", name + "_sum.nii")
    total = sum(np.linalg.norm(v) for vectors in truth.values() for v in vectors)
    check(abs(nibabel.load(name + "_sum.nii").get_fdata().sum() - total) < 1e-3, f"{name}: fixel2voxel")
    export(source, folder, "--format", "fixels")  # ours may be replaced
    check(run("mrinfo", "-property", "nfixels", folder + "/index.mif").strip() == str(fixels), f"{name}: replaced")

    # counts and colours
    export(source, name + "_nfibers.nii.gz", "--format", "nfibers")
    counts = nibabel.load(name + "_nfibers.nii.gz")
    check(counts.get_data_dtype() == np.uint8 and counts.shape == (5, 4, 3), f"{name}: nfibers")
    check(all(counts.dataobj[v] == len(truth[v]) for v in truth), f"{name}: counts")
    export(source, name + "_nfibers.nrrd", "--format", "nfibers")
    export(source, name + "_dec.nii.gz", "--format", "dec")
    dec = nibabel.load(name + "_dec.nii.gz").get_fdata()
    for v in truth:
        want = np.abs(np.array(truth[v])).sum(axis=0) if truth[v] else np.zeros(3)
        check(np.abs(dec[v] - want).max() <= 1e-5, f"{name}: dec {v}")
    mean = float(run("mrstats", "-quiet", "-output", "mean", "-allvolumes", name + "_dec.nii.gz"))
    check(abs(mean - dec.mean()) < 1e-4, f"{name}: mrstats says {mean}")

    # NRRDs by Teem: all directions, and one field per fibre
    export(source, name + "_again.nrrd", "--format", "peaks")
    run("teem-unu", "reshape", "-s", 6, 60, "-i", name + "_again.nrrd", "-o", "flat.nrrd")
    found = nrrd_vectors("flat.nrrd", space)
    for row, voxel in zip(found, order):
        check.vectors([v for v in row if v.any()], truth[voxel], f"{name} NRRD {voxel}")
    export(source, name + "_fiber.nrrd", "--format", "fiber")
    for fiber in range(2):
        one = f"{name}_fiber_{fiber + 1}.nrrd"
        head = run("teem-unu", "head", one)
        check("kinds: 3-vector space space space" in head, f"{one}: kinds in {head}")
        check("measurement frame: (1,0,0) (0,1,0) (0,0,1)" in head and "space: " + space in head, f"{one}: frame")
        run("teem-unu", "reshape", "-s", 3, 60, "-i", one, "-o", "flat.nrrd")
        for row, voxel in zip(nrrd_vectors("flat.nrrd", space), order):
            check.vectors([v for v in row if v.any()], truth[voxel][fiber:fiber + 1], f"{one} {voxel}")

    # FSL: unit vectors in image axes, x mirrored when the determinant is positive
    export(source, "dyads.nii.gz")
    axes = affine[:3, :3] / np.linalg.norm(affine[:3, :3], axis=0)
    if np.linalg.det(affine[:3, :3]) > 0:
        axes[:, 0] *= -1
    for fiber in range(2):
        unit = nibabel.load(f"dyads{fiber + 1}.nii.gz").get_fdata()
        share = nibabel.load(f"mean_f{fiber + 1}samples.nii.gz").get_fdata()
        for v in truth:
            found = vectors_of(axes @ unit[v] * share[v])
            check.vectors(found, truth[v][fiber:fiber + 1], f"{name} dyads{fiber + 1} {v}")

    # tracks, by MRtrix and by nibabel
    export(source, name + ".tck")
    check(f"count:                {fixels}" in run("tckinfo", name + ".tck"), f"{name}: {run('tckinfo', name + '.tck')}")
    check("actual count in file: %d" % fixels in run("tckinfo", "-count", "-quiet", name + ".tck"), f"{name}: tckinfo -count")
    tracks = list(nibabel.streamlines.load(name + ".tck").streamlines)
    check(len(tracks) == fixels and all(len(t) == 2 for t in tracks), f"{name}: {len(tracks)} tracks")
    wanted = [v for key in order for v in truth[key]]
    centres = [key for key in order for _ in truth[key]]
    for track, vector, voxel in zip(tracks, wanted, centres):
        check.vectors([track[1] - track[0]], [vector], f"{name} tck {voxel}", amplitude=np.inf)
        check(np.abs(track.mean(axis=0) - (affine @ np.append(voxel, 1))[:3]).max() < 1e-3, f"{name} tck at {voxel}")

    # the 5-D NRRD: amplitude, unit vector
    export(source, name + "_5.nrrd", "--format", "bonndit")
    check("sizes: 4 2 5 4 3" in run("teem-unu", "head", name + "_5.nrrd"), f"{name}: 5-D")
    run("teem-unu", "reshape", "-s", 8, 60, "-i", name + "_5.nrrd", "-o", "flat.nrrd")
    run("teem-unu", "save", "-f", "text", "-i", "flat.nrrd", "-o", "values.txt")
    for row, voxel in zip(np.loadtxt("values.txt").reshape(-1, 2, 4), order):
        found = [r[0] * r[1:] * np.array(SIGN[space]) for r in row if r[0] > 0]
        check.vectors(found, truth[voxel], f"{name} 5-D {voxel}")
    export(name + "_5.nrrd", name + "_5back.nii.gz", "--format", "peaks")  # and we read it
    compare_image(nibabel.load(name + "_5back.nii.gz"), affine, truth, f"{name} 5-D read")

    # line segments by VTK
    export(source, name + ".vtp")
    try:
        from vtkmodules.util.numpy_support import vtk_to_numpy
        from vtkmodules.vtkIOXML import vtkXMLImageDataReader, vtkXMLPolyDataReader
    except ImportError:
        print("python3-vtk9 is not installed: .vtp not read back")
        continue
    reader = vtkXMLPolyDataReader()
    reader.SetFileName(name + ".vtp")
    reader.Update()
    lines = reader.GetOutput()
    check(reader.GetErrorCode() == 0 and lines.GetNumberOfLines() == fixels, f"{name} vtp: {lines.GetNumberOfLines()}")
    array = lines.GetFieldData().GetAbstractArray("SPACE")
    check(array is not None and array.GetValue(0) == "LPS", f"{name} vtp: SPACE")
    points = vtk_to_numpy(lines.GetPoints().GetData()).reshape(-1, 2, 3) * (-1, -1, 1)
    cells = {key: vtk_to_numpy(lines.GetCellData().GetArray(key)) for key in ("direction", "amplitude", "fiber", "color")}
    found = {v: [] for v in truth}
    for i in range(fixels):
        ends = lines.GetCell(i).GetPointIds()
        check((ends.GetId(0), ends.GetId(1)) == (2 * i, 2 * i + 1), f"{name} vtp: ends of {i}")
        centre = np.linalg.inv(affine) @ np.append(points[i].mean(axis=0), 1)
        voxel = tuple(int(round(x)) for x in centre[:3])
        check(np.abs(centre[:3] - voxel).max() < 1e-3 and voxel in truth, f"{name} vtp: centre {centre}")
        direction = cells["direction"][i] * (-1, -1, 1) * cells["amplitude"][i]
        check.vectors([points[i][1] - points[i][0]], [direction], f"{name} vtp segment {i}", amplitude=np.inf)
        check(cells["fiber"][i] == len(found[voxel]) + 1, f"{name} vtp: fibre number {i}")
        color = np.abs(cells["direction"][i]) * 255
        check(np.abs(cells["color"][i] - color).max() <= 1, f"{name} vtp: colour")
        found[voxel].append(direction)
    for v in truth:
        check.vectors(found[v], truth[v], f"{name} vtp {v}")

    # vectors on the grid by VTK
    export(source, name + ".vti")
    reader = vtkXMLImageDataReader()
    reader.SetFileName(name + ".vti")
    reader.Update()
    image = reader.GetOutput()
    check(reader.GetErrorCode() == 0 and image.GetDimensions() == (5, 4, 3), f"{name} vti: {image.GetDimensions()}")
    check(image.GetFieldData().GetAbstractArray("SPACE").GetValue(0) == "LPS", f"{name} vti: SPACE")
    vectors = [vtk_to_numpy(image.GetPointData().GetArray(f"fiber_{f + 1}")) * (-1, -1, 1) for f in range(2)]
    counts = vtk_to_numpy(image.GetPointData().GetArray("nfibers"))
    for at, voxel in enumerate(order):
        world = np.zeros(3)
        image.TransformIndexToPhysicalPoint(voxel, world)
        check(np.abs(world * (-1, -1, 1) - (affine @ np.append(voxel, 1))[:3]).max() < 1e-4, f"{name} vti: {voxel}")
        check.vectors([f[at] for f in vectors if f[at].any()], truth[voxel], f"{name} vti {voxel}")
        check(counts[at] == len(truth[voxel]), f"{name} vti: count at {voxel}")

    # a picture
    export(source, name + ".png")
    with open(name + ".png", "rb") as f:
        check(f.read(8) == b"\x89PNG\r\n\x1a\n", f"{name}: png")
check.end()
