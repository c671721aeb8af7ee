"""The documentation site: it builds without a warning, its notebook runs and prints what is stored in it, every link
resolves, and it documents every function of both interfaces."""
import glob
import html.parser
import importlib.util
import os
import re
import subprocess
import sys
from urllib.parse import unquote, urlsplit

import hotfiber

from cli import check, end

needed = "sphinx", "myst_parser", "nbsphinx", "ipykernel"
missing = [name for name in needed if importlib.util.find_spec(name) is None]
if missing:
    print(f"skipped: Python has no {', '.join(missing)}")
    sys.exit(77 if not os.environ.get("HOT_ALL_READERS") else 1)
source = os.environ["HOT_SOURCE"]
made = subprocess.run([sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", source + "/docs",
                       "-b", "html", "-d", os.path.abspath("trees"), source, os.path.abspath("site")],
                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                      env=dict(os.environ, PYDEVD_DISABLE_FILE_VALIDATION="1"))
check(made.returncode == 0, f"sphinx ends with {made.returncode}: {made.stdout[-3000:]}")


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.places, self.text = [], {""}, []
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.places |= {given.get("id"), given.get("name")} - {None}
        self.links += [given[one] for one in ("href", "src") if given.get(one)]

    def handle_data(self, data):
        self.text.append(data)


pages = {os.path.abspath(path): Page(path) for path in glob.glob("site/**/*.html", recursive=True)}
check(len(pages) >= 25, f"{len(pages)} pages")
links = 0
for path, page in pages.items():
    for link in page.links:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:  # of the world outside; data: is a picture
            continue
        links += 1
        target = os.path.normpath(os.path.join(os.path.dirname(path), unquote(parts.path))) if parts.path else path
        check(os.path.exists(target), f"{os.path.relpath(path)}: {link} is not there")
        if target in pages and parts.fragment:
            check(unquote(parts.fragment) in pages[target].places, f"{os.path.relpath(path)}: no place {link}")
check(links > 500, f"{links} links")

python = pages[os.path.abspath("site/docs/python_api.html")].places
check(not [name for name in hotfiber.__all__ if f"hotfiber.{name}" not in python and name != "einsum"],
      "every name of the package has its place")
c, headers = "".join(pages[os.path.abspath("site/docs/c_api.html")].text), glob.glob(source + "/*/include/hotfiber/*.h")
for header in headers:
    with open(header, encoding="utf-8") as file:
        functions = re.findall(r"^HOT_API[^;(]*?\b(hot_\w+)\(", file.read(), re.MULTILINE)
    check(not [name for name in functions if name not in c], f"every function of {header}")
check(len(headers) > 20, f"{len(headers)} headers")
# The notebook prints what is stored: all text, and a picture wherever it has one.
import nbformat  # noqa: E402
from nbconvert.preprocessors import ExecutePreprocessor  # noqa: E402

os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
stored = nbformat.read(source + "/docs/quick_start.ipynb", 4)
new = nbformat.from_dict(stored)
ExecutePreprocessor(timeout=600).preprocess(new, {"metadata": {"path": source + "/docs"}})


NUMBER = r"-?\d+\.?\d*"


def outputs(cell):
    """Text, warnings with it but for the name that the kernel gives to a cell, and whether there is a picture."""
    return [(re.sub(r"\S*ipykernel\S*: ", "", one.get("text") or one["data"]["text/plain"]),
             "image/png" in one.get("data", {})) for one in cell.get("outputs", [])]


def is_same(one, other):
    """But for what processors round differently: last digits, and the number of fibres of single voxels."""
    numbers = [re.findall(NUMBER, text) for text, _ in (one, other)]
    words = [re.sub(r"\s+", " ", re.sub(NUMBER, "#", text)) for text, _ in (one, other)]
    return one[1] == other[1] and words[0] == words[1] and all(
        abs(float(a) - float(b)) <= (.1 if "." in a else 2 + .002 * float(a) if len(a) > 1 else 0)
        for a, b in zip(*numbers))


for number, (cell, fresh) in enumerate(zip(stored.cells, new.cells)):
    check(len(outputs(cell)) == len(outputs(fresh)) and all(map(is_same, outputs(cell), outputs(fresh))),
          f"cell {number}: stored is {outputs(cell)}, printed {outputs(fresh)}")
check(sum(picture for cell in stored.cells for _, picture in outputs(cell)) == 2, "two stored pictures")
start = pages[os.path.abspath("site/docs/quick_start.html")]
check(sum(link.startswith("data:image/png") or link.endswith(".png") for link in start.links) >= 2,
      "the notebook has a picture of the result and a plot")
end()
