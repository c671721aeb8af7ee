#!/usr/bin/python3
"""The pictures of README and of the tutorial, and the stored outputs of the notebook.

    docs/pictures.py brain SCAN      # docs/static/brain.png; SCAN: NAME.nii.gz with .bval, .bvec (dcm_qa_philips)
    docs/pictures.py tutorial        # docs/tutorial/*.png, by the commands of the page
    docs/pictures.py notebook        # the outputs of docs/quick_start.ipynb; the package on PYTHONPATH

HOTFIBER names the command. Needs MRtrix, python3-pil, fonts-dejavu-core; for the tutorial python3-dipy and chromium,
for the notebook python3-nbconvert and python3-ipykernel."""
import base64
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile

from PIL import Image, ImageDraw, ImageFont

DOCS = os.path.dirname(os.path.abspath(__file__))
HOTFIBER = os.path.abspath(os.environ.get("HOTFIBER", os.path.join(DOCS, "..", "build", "bin", "hotfiber")))
FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"


def shell(text):
    subprocess.run(["bash", "-ec", text], check=True, stdout=subprocess.DEVNULL,
                   env=dict(os.environ, PATH=os.path.dirname(HOTFIBER) + ":" + os.environ["PATH"]))


def save(picture, *place):
    picture.save(os.path.join(DOCS, *place), optimize=True)


def shrink(path, width):
    picture = Image.open(path).convert("RGB")
    return picture.resize((width, round(picture.height * width / picture.width)), Image.LANCZOS)


def beside(panels, width, gap=8, text=17):
    """Pictures in a row, each with its title above."""
    shown = [(title, shrink(path, width)) for title, path in panels]
    head, font = round(text * 1.7), ImageFont.truetype(FONT, text)
    whole = Image.new("RGB", (len(shown) * (width + gap) - gap, head + shown[0][1].height), "white")
    for n, (title, picture) in enumerate(shown):
        whole.paste(picture, (n * (width + gap), head))
        ImageDraw.Draw(whole).text((n * (width + gap) + 2, text // 4), title, "black", font)
    return whole


def draw_brain(scan):
    for end in ("nii.gz", "bval", "bvec"):
        shutil.copy(re.sub(r"\.nii\.gz$", "", scan) + "." + end, "dwi." + end)
    shell("""
        hotfiber run dwi.nii.gz -o out --quiet
        mrconvert -quiet dwi.nii.gz -fslgrad dwi.bvec dwi.bval dwi.mif
        dwi2response -quiet tournier dwi.mif response.txt -lmax 4 -mask out/mask.nii.gz
        dwi2fod -quiet csd dwi.mif response.txt fod.mif -lmax 4 -mask out/mask.nii.gz
        sh2peaks -quiet fod.mif mrtrix.nii.gz -num 3 -threshold .1
        view() {
            hotfiber view "$@" --plane coronal --slice 35 --center 1,8,36 --zoom 1.75 --size 1400x1300 --glyph sticks \\
                --annotations off --opacity .5 --stick_width .13 --quiet
        }
        view out --scale 1.5 --screenshot ours.png
        view mrtrix.nii.gz out/b0.nii.gz --normalise on --screenshot theirs.png""")
    panels = ("hotfiber run (faint: doubtful)", "ours.png"), ("MRtrix: dwi2fod csd, peaks above 0.1", "theirs.png")
    save(beside(panels, 700), "static", "brain.png")


def draw_tutorial():
    with open(os.path.join(DOCS, "tutorial", "README.md"), encoding="utf-8") as page:
        for command in re.findall(r"^    (.*)$", page.read(), re.MULTILINE):
            shell(command)
    save(shrink("out/fibers.png", 800), "tutorial", "fibers.png")
    view = "--plane axial --glyph %s --size 720x720 --annotations off --quiet --screenshot"
    shell("hotfiber view out " + view % "both" + " both.png\nhotfiber view out " + view % "sticks" + " right.png\n" +
          "hotfiber view flipped " + view % "sticks" + " flipped.png\n"
          "hotfiber view mrtrix.nii.gz out/b0.nii.gz --normalise on " + view % "sticks" + " theirs.png\n"
          "hotfiber view out/peaks.nii.gz out/b0.nii.gz --normalise on " + view % "sticks" + " ours.png")
    save(beside([("tensors and fibres", "both.png")], 440), "tutorial", "glyphs.png")
    save(beside([("the right table", "right.png"), ("x flipped", "flipped.png")], 440), "tutorial", "table.png")
    save(beside([("hotfiber run, peaks.nii.gz", "ours.png"), ("MRtrix msmt_csd, peaks above 0.1", "theirs.png")], 440),
         "tutorial", "mrtrix.png")
    shell("chromium --headless --no-sandbox --hide-scrollbars --disable-gpu --window-size=1000,1150 "
          "--screenshot=report.png out/report.html 2>chromium.log")
    save(shrink("report.png", 800), "tutorial", "report.png")


def store_notebook():
    """Pictures are stored once and small: a result shows itself as HTML with its picture, and as the picture again."""
    import nbformat
    from nbconvert.preprocessors import ExecutePreprocessor

    path = os.path.join(DOCS, "quick_start.ipynb")
    book = nbformat.read(path, 4)
    ExecutePreprocessor(record_timing=False).preprocess(book, {"metadata": {"path": DOCS}})
    for output in (one for cell in book.cells for one in cell.get("outputs", [])):
        data = output.get("data", {})
        if "image/png" in data:
            data.pop("text/html", None)
            picture = Image.open(io.BytesIO(base64.b64decode(data["image/png"]))).convert("RGB")
            made = io.BytesIO()
            picture.resize((700, round(picture.height * 700 / picture.width)), Image.LANCZOS).save(made, "PNG",
                                                                                                   optimize=True)
            data["image/png"] = base64.b64encode(made.getvalue()).decode()
    nbformat.write(book, path)


def main():
    if sys.argv[1:] == ["notebook"]:
        return store_notebook()
    if len(sys.argv) < 2 or sys.argv[1:] != ["tutorial"] and not (sys.argv[1] == "brain" and len(sys.argv) == 3):
        sys.exit(__doc__)
    scan = os.path.abspath(sys.argv[-1])
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        draw_tutorial() if sys.argv[1] == "tutorial" else draw_brain(scan)


main()
