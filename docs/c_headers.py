"""The directive `c-header`: a public header as a section of a page. The comment before a declaration is its text. The
headers hold comments, prototypes, structs and enums and nothing else, so that no C parser is needed."""
import os
import re

from docutils import nodes
from docutils.parsers.rst import Directive

NAMES = re.compile(r"`([^`]+)`|\b((?:hot|HOT)_\w+)\b")


def paragraphs(comment):
    """The nodes of a comment's text. Columns and indented lines stay literal."""
    lines = re.sub(r"^/\*+|\*+/$", "", comment.strip()).split("\n")
    text = "\n".join(re.sub(r"^\s\*(?: |$)", "", line).rstrip() for line in lines).strip("\n")
    for block in filter(str.strip, re.split(r"\n\s*\n", text)):
        if re.search(r"\S {2,}\S|^ {2,}\S", block.replace(".  ", ". "), re.MULTILINE):
            yield nodes.literal_block(block, block, language="none")
            continue
        paragraph, at = nodes.paragraph(), 0
        block = " ".join(block.split())
        for name in NAMES.finditer(block):
            word = name.group(1) or name.group(2)
            paragraph += [nodes.Text(block[at:name.start()]), nodes.literal(word, word)]
            at = name.end()
        paragraph += nodes.Text(block[at:])
        yield paragraph


def declarations(text):
    """(comment, code) for each piece of a header between comments that begin a line."""
    text = re.sub(r"^#.*\n|^HOT_C_(?:BEGIN|END)\n|^\}\n|^.*-{20,}.*\n", "", text, flags=re.MULTILINE)
    parts = re.split(r"^(/\*.*?\*/)[ \t]*\n", text, flags=re.DOTALL | re.MULTILINE)
    yield "", parts[0]
    yield from zip(parts[1::2], parts[2::2])


class Header(Directive):
    required_arguments = 1

    def run(self):
        environment = self.state.document.settings.env
        path = os.path.join(environment.srcdir, self.arguments[0])
        environment.note_dependency(path)
        name = re.sub(r".*/include/", "", self.arguments[0])
        section = nodes.section(ids=[nodes.make_id(name)], names=[name])
        section += nodes.title(name, name)
        with open(path, encoding="utf-8") as file:
            for comment, code in declarations(file.read()):
                code = code.strip("\n")
                found = re.findall(r"\b(hot_\w+)\(|^\} (hot_\w+);|typedef struct (hot_\w+) hot_\w+;", code, re.MULTILINE)
                place = section
                if found:
                    title = next(filter(None, found[0]))
                    place = nodes.section(ids=[title], names=[title])
                    place += nodes.title(title, title)
                    section += place
                place += list(paragraphs(comment)) if comment else []
                if code.strip():
                    place += nodes.literal_block(code, code, language="c", force=True)
        return [section]


def setup(app):
    app.add_directive("c-header", Header)
    return {"parallel_read_safe": True}
