"""Frames per second of hotfiber-view compared with Debian's mrview (mrtrix3), software rendering, 800 x 800, on the
same order-8 field.

    python3 bench/programs/view_mrview.py BUILD [--glyphs 1600,10000] [--rounds 3]

A field of N voxels in one slice with 1 to 3 fibres each, as tensors for us and, through `hotfiber export --format sh`,
as spherical harmonics for mrview (whose glyphs have 1,280 triangles). Runs alternate. mrview does not report frame
times: it is started under Xvfb with G1 and with G2 `-capture.grab`s of the same view, each of which draws the picture
again, sometimes more than once: count_draws.c counts its draw calls, two for a glyph. The difference of the two times,
less the cost of the same grabs without glyphs (drawing the image, reading the picture back, writing the PNG), is that
of the additional pictures. hotfiber-view --bench draws its frames one by one, without the image, and waits for each;
the camera turns between two, and every triangle is computed from the tensor again. CPU seconds per frame (user and
system, all threads) are printed as well as the wall clock, for machines that do other work."""
import argparse
import os
import resource
import subprocess
import tempfile
import time

import numpy as np


def exponents(order):
    return [(order - s, s - t, t) for s in range(order + 1) for t in range(s + 1)]


def write_field(path, voxels, order=8):
    side = int(round(voxels ** 0.5))
    rng = np.random.default_rng(1)
    powers = np.array(exponents(order))
    values = np.zeros((side * side, 1 + len(powers)), "<f4")
    values[:, 0] = 1
    for row in values:
        for _ in range(rng.integers(1, 4)):
            v = rng.normal(size=3)
            row[1:] += rng.uniform(0.5, 1) * np.prod((v / np.linalg.norm(v)) ** powers, axis=1)
    with open(path, "wb") as file:
        file.write((f"NRRD0005\ntype: float\ndimension: 4\nsizes: {values.shape[1]} {side} {side} 1\n"
                    "space: right-anterior-superior\nspace directions: none (2,0,0) (0,2,0) (0,0,2)\n"
                    "space origin: (0,0,0)\nkinds: list space space space\n"
                    "endian: little\nencoding: raw\nlabels: \"tijk_mask_8o3d_sym\" \"i\" \"j\" \"k\"\n\n").encode())
        file.write(values.tobytes())
    return side * side


def timed(command, **more):
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, check=True, capture_output=True, text=True, **more)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic() - start, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def mrview(folder, arguments, grabs):
    """Seconds, wall and CPU, and how many draw calls there were."""
    counted = f"{folder}/draws"
    if os.path.exists(counted):
        os.remove(counted)
    command = ["xvfb-run", "-a", "-s", "-screen 0 1000x1000x24", "env", f"LD_PRELOAD={folder}/count_draws.so",
               "mrview", "sh.nii", "-size", "800,800", "-noannotations", "-capture.folder", "grabs",
               *arguments, *["-capture.grab"] * grabs, "-exit"]
    wall, cpu, _ = timed(command, cwd=folder, env={**os.environ, "LIBGL_ALWAYS_SOFTWARE": "1", "QT_QPA_PLATFORM": "xcb",
                                                   "COUNT_DRAWS": counted})
    return np.array([wall, cpu, float(open(counted).read()) if os.path.exists(counted) else 0])


def mrview_frame(folder, few, many, glyphs):
    """Seconds a frame, wall and CPU: of the glyphs alone."""
    odf = ["-odf.load_sh", "sh.nii"]
    glyphs_took = mrview(folder, odf, many) - mrview(folder, odf, few)
    bare_took = mrview(folder, [], many) - mrview(folder, [], few)
    frames = (glyphs_took[2] - bare_took[2]) / (2 * glyphs)
    assert frames >= 1, f"draw calls were not counted: {glyphs_took[2]}"
    return (glyphs_took[:2] - bare_took[:2]) / frames


def ours(build, folder, frames, detail):
    command = [f"{build}/bin/hotfiber-view", f"{folder}/field.nrrd", "--bench", "--size", "800x800",
               "--samples", "1", "--image", "off", *detail]
    few, many = timed(command + ["--frames", "1"]), timed(command + ["--frames", str(frames + 1)])
    fps = float(many[2].split(" frames/s")[0].split()[-1])
    return 1 / fps, (many[1] - few[1]) / frames, many[2].strip()


parser = argparse.ArgumentParser()
parser.add_argument("build")
parser.add_argument("--glyphs", default="1600,10000")
parser.add_argument("--rounds", type=int, default=3)
options = parser.parse_args()
build = os.path.abspath(options.build)
for glyphs in map(int, options.glyphs.split(",")):
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(f"{folder}/grabs")
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", f"{folder}/count_draws.so",
                        os.path.join(os.path.dirname(os.path.abspath(__file__)), "count_draws.c"), "-ldl"], check=True)
        count = write_field(f"{folder}/field.nrrd", glyphs)
        subprocess.run([f"{build}/bin/hotfiber", "export", "-i", f"{folder}/field.nrrd", "-o", f"{folder}/sh.nii",
                        "--format", "sh", "--quiet"], check=True)
        grabs = (2, 8) if count < 5000 else (1, 4)
        rows = {"mrview": [], "equal triangles": [], "level of detail": []}
        for _ in range(options.rounds):
            rows["mrview"].append(mrview_frame(folder, *grabs, count))
            rows["equal triangles"].append(ours(build, folder, 20 if count < 5000 else 6, ["--detail", "1280"])[:2])
            rows["level of detail"].append(ours(build, folder, 60 if count < 5000 else 30, [])[:2])
        middle = {name: np.median(np.array(values), axis=0) for name, values in rows.items()}
        print(f"{count} glyphs, order 8, 800x800, median of {options.rounds} alternating runs:")
        for name, (wall, cpu) in middle.items():
            print(f"  {name:16} {1 / wall:7.2f} frames/s ({middle['mrview'][0] / wall:5.1f} x mrview)   "
                  f"{1000 * cpu:7.1f} ms CPU a frame ({middle['mrview'][1] / cpu:5.1f} x less than mrview)", flush=True)
