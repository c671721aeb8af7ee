"""The tags of a page of HTML, which must be closed in order, and its words."""
import html.parser


class Tags(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.wrong, self.open, self.links, self.words = [], [], [], ""
        self.feed(text)
        self.close()
        self.wrong += [f"<{tag}> is not closed" for tag in self.open]
        if not text.startswith("<!DOCTYPE html>"):
            self.wrong.append("no doctype")

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> closes something else")

    def handle_data(self, data):
        if not self.open or self.open[-1] != "style":
            self.words += data
