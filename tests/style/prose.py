"""Counts turns of phrase that read as translated, per 1,000 words of prose: comments, docstrings, messages and pages.

    prose.py            fails where a folder has more than LIMIT per 1,000 words
    prose.py --list     every turn with its file and line
    prose.py --files    the rate of every file, worst first
    prose.py PATH...    only these files or folders (any source tree)
"""
import os
import re
import sys

LIMIT = 1.0
# Not there yet: these may only come down.
LIMITS = {"tests": 1.7}
FOLDERS = ("bench", "cmake", "docs", "kernels", "plugin", "sample_data", "tests", "viz")
SKIP = ("tests/style/prose.py", "tests/style/terms.py", "tests/fuzz/corpus", "docs/releases/")
C_LIKE = (".c", ".h", ".inc", ".cc", ".cpp", ".cu", ".cuh", ".S", ".glsl", ".vert", ".frag", ".comp")
HASHED = (".sh", ".cmake", ".smk", "CMakeLists.txt", "Snakefile", ".toml", ".yml", ".yaml")
BE = r"(?:is|are|was|were|be|been|being)"
# What is counted, and the plain form. Each is a regular expression over text whose white space is single blanks.
TURNS = [
    (rf"\b{BE} to (?:be|go|have|stay|come)\b", "'must be', 'should be', or the imperative"),
    (r"\b(?:an?|the|each|every) (?:\w+ )?\w+ of (?:its|their|his|our|your) own\b", "'its own X'"),
    (r"\bof (?:its|their|his|our|your) own\b", "'its own X'"),
    (r"(?:^|[.;:!?] )What (?!(?:is|are|does|do|did|to|if|can|should|happens)\b[^.]*\?)\w+", "the noun as the subject"),
    (r"(?:^|[.;:!?] )(?:Whoever|Whatever|Who) (?![^.]*\?)\w+", "'users who', 'anyone who'"),
    (r"\bwhat (?:was|is|were|are) (?!(?:new|there)\?)(?:\w+ed|\w+en|left|found|told|said|read|drawn|there|not|in|of)\b",
     "the noun: 'the parsed text', 'the rest'"),
    (r"\bwhich (?:one|a|the) (?:line|note|message|page) (?:says|tells)\b", "'a note is printed'"),
    (r"\b(?:says?|said|saying|tells?|told) so\b", "'prints a note', 'documents it'"),
    (rf"\b{BE} (?:said|told|asked(?: for)?|looked at|spoken of|looked for)\b", "'print', 'report', 'check', 'request'"),
    (r"\bone line (?:says|tells|for|names)\b", "'prints a note'"),
    (r"\bit is (?:only |just |not )?(?:the|an?) [^.;:,]{1,40} (?:that|which|who) (?!it\b)", "subject first"),
    (r"\bwhere (?:there|that|it|they|this|these|one) (?:is|are|was|were) (?:none|no|one|some|not|so|there|missing)\b",
     "'if there is no X', 'without X'"),
    (r"\bwhere there (?:is|are)\b", "'if there is', 'with'"),
    (r"\b(?:is|are|was|were) there(?: at all)?(?=[.,;:)])", "'exists', 'is installed', 'is present'"),
    (r"\bthat (?:is|are|was|were) there\b", "'existing', 'installed'"),
    (r"\bwithout (?:a )?doubt\b", "'unambiguous'"),
    (r"\bbeyond (?:a )?doubt\b", "'unambiguous'"),
    (r"\beach for itself\b", "'separately'"),
    (r"\b(?:for|by) (?:itself|themselves|oneself)\b", "'alone', 'separately', 'automatically'"),
    (r"\balone (?:has|have|can|is|are|does|takes|makes)\b", "'only X has'"),
    (r"\b(?:keeps?|kept) away\b", "'disables', 'avoids'"),
    (r"\b(?:as|so) (?:one|they|it|that) (?:is|are|was|were|does|do|did)\b", "drop it"),
    (r"\bstands? (?:in|on|at|for|beside|behind|before|there|here|alone)\b", "'is', 'appears'"),
    (r"\blies? (?:in|on|at|beside|behind|between|there|here|above|below|within)\b", "'is'"),
    (r"\bnothing (?:of|else (?:is|has|does))\b", "'no X'"),
    (r"\b(?:of|by|in|from|than|to|with) (?:what|whatever) (?:is|are|was|were|it|they|one|a|the)\b", "the noun"),
    (r"\bin people\b", "'in vivo'"),
    (r"\bbeside (?:each|another|one|the|it|this|that|them|a|its|ours|MRtrix|DIPY|others)\b",
     "'compared with', 'next to', 'along with'"),
    (r"\b(?:a|the) (?:second|third|other|same|former|latter) one\b", "repeat the noun"),
    (r"\b(?:such|like) (?:a|an) (?:one|thing)\b", "repeat the noun"),
    (r"\b(?:gives?|gave|given) (?:back|away)\b", "'returns', 'frees'"),
    (r"\b(?:takes?|taken|took) (?:for|as|along|off|over by)\b", "'is treated as', 'removes'"),
    (r"\b(?:comes?|came) (?:out|to|from|of) (?:as|it|that|what)\b", "'is'"),
    (r"\bgo(?:es)? (?:on|by|along|without)\b", "'continues', 'uses'"),
    (r"\b(?:at hand|by hand and|in hand)\b", "'available'"),
    (r"\bone(?:self)? (?:has|wants|gets|sees|knows|needs|asks|reads|says|tells) (?:to|it|that|what|a|the)\b",
     "name the subject"),
    (r"\b(?:asks?|asked|asking) (?:for|of|about|whether)\b", "'requests', 'needs', 'checks'"),
    (r"\bwould (?:have|be) (?:to be )?\w+ed (?:otherwise|else)\b", "'otherwise X would'"),
    (r"\b(?:so|as) many (?:as|that|are|were)\b", "'up to', 'the same number of'"),
    (r"\bonly (?:then|where|what|who|there)\b", "'only if'"),
    (r"\bthe (?:likeliest|surest|plainest|dearest|cheapest of all)\b", "the usual adjective"),
    (r"\b(?:dearer|dearest|dear)\b", "'slower', 'expensive'"),
    (r"\b(?:likelier|surer|thereby|therein|thereof|wherein)\b", "the usual word"),
    (r"\b(?:usual|known|common|left|new|wanted|special) (?:of|about|from) (?:these|those|them|it|both)\b", "the noun"),
    (r"\bthe (?:like|rest of it|whole of)\b", "the noun"),
    (r"\b(?:makes?|made|making) (?:no|a) (?:difference|way|word)\b", "'does not matter'"),
    (r"\b(?:is|are) (?:of|by|at) (?:no|little|some) (?:use|worth|value)\b", "'useless'"),
]
COMPILED = [(re.compile(pattern), plain) for pattern, plain in TURNS]


def pieces_c(text):
    """(line, text) of comments and of string literals with three words or more."""
    token = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
    end, run = 0, None
    for found in token.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        part = found.group()
        if part.startswith("/*"):
            yield line, re.sub(r"(?m)^\s*/?\*+/?|\*/$", " ", part)
        elif part.startswith("//"):
            if run and not text[end:found.start()].strip() and text[end:found.start()].count("\n") == 1:
                run = (run[0], run[1] + " " + part[2:])
            else:
                if run:
                    yield run
                run = (line, part[2:])
            end = found.end()
            continue
        elif part.startswith('"') and part.count(" ") >= 2:
            yield line, part[1:-1].replace("\\n", " ")
    if run:
        yield run


def pieces_python(text):
    for found in re.finditer(r'("""|\'\'\')(.*?)\1|"((?:\\.|[^"\\\n])*)"|(?m:#([^\n]*))', text, re.S):
        part = found.group(2) or found.group(4) or (found.group(3) or "")
        if part.count(" ") >= 2:
            yield text.count("\n", 0, found.start()) + 1, part


def pieces_hash(text):
    for number, line in enumerate(text.split("\n"), 1):
        found = re.search(r"(?:^|\s)#(?!!)(.*)", line)
        if found:
            yield number, found.group(1)
        for string in re.findall(r'"([^"\n]*)"', line):
            if string.count(" ") >= 2:
                yield number, string


def pieces_markdown(text):
    text = re.sub(r"```.*?```", lambda found: "\n" * found.group().count("\n"), text, flags=re.S)
    number = 1
    for paragraph in re.split(r"(\n\s*\n)", text):
        if paragraph.strip():
            yield number, re.sub(r"`[^`]*`", "X", paragraph)
        number += paragraph.count("\n")


def pieces(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    if path.endswith(C_LIKE):
        return pieces_c(text)
    if path.endswith(".py"):
        return pieces_python(text)
    if path.endswith((".md", ".rst")):
        return pieces_markdown(text)
    return pieces_hash(text)


def measure(path):
    words, turns = 0, []
    for line, text in pieces(path):
        text = re.sub(r"\s+", " ", text).strip()
        words += len(re.findall(r"[A-Za-z][A-Za-z'-]+", text))
        taken = []
        for pattern, plain in COMPILED:
            for found in pattern.finditer(text):
                if not any(a < found.end() and found.start() < b for a, b in taken):
                    taken.append(found.span())
                    turns.append((line, found.group().strip(" .;:"), plain))
    return words, turns


def main():
    options = [a for a in sys.argv[1:] if a.startswith("--")]
    given = [a for a in sys.argv[1:] if not a.startswith("--")]
    source = os.environ.get("HOT_SOURCE", ".")
    roots = given or [os.path.join(source, f) for f in FOLDERS] + \
        [os.path.join(source, f) for f in sorted(os.listdir(source)) if f.endswith(".md")]
    rates, files = {}, []
    for root in roots:
        names = [root] if os.path.isfile(root) else \
            [os.path.join(where, name) for where, _, names in os.walk(root) for name in sorted(names)]
        for path in names:
            name = os.path.relpath(path, source) if not given else path
            if not path.endswith(C_LIKE + HASHED + (".py", ".md", ".rst")) or name.startswith(SKIP):
                continue
            words, turns = measure(path)
            files.append((name, words, turns))
            total = rates.setdefault(name if os.path.isfile(root) else os.path.relpath(root, source), [0, 0])
            total[0] += words
            total[1] += len(turns)
    if "--list" in options:
        for name, _, turns in files:
            for line, turn, plain in turns:
                print(f"{name}:{line}: '{turn}': {plain}")
    if "--files" in options:
        for name, words, turns in sorted(files, key=lambda f: -len(f[2])):
            if turns:
                print(f"{len(turns):4} {1000 * len(turns) / max(words, 1):6.1f} {name}")
    wrong = 0
    for name, (words, turns) in rates.items():
        rate = 1000 * turns / max(words, 1)
        # A page of 500 words may have one.
        bad = turns > max(1, LIMITS.get(name, LIMIT) * words / 1000)
        wrong += bad
        print(f"{name}: {turns} turns in {words} words, {rate:.1f} per 1,000{' (too many)' if bad else ''}")
    if not given and len(files) < 100:
        print(f"only {len(files)} files were found in {source}")
        wrong += 1
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
