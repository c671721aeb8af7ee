"""Mutants at random: one small change each to a C source. mutants.py builds and judges them.

A line is drawn among all lines of code, then a kind of change among those that the line allows, then a place.
Comments, strings and preprocessor conditions are left alone. Everything follows from the seed and the sources."""
import bisect
import random
import re

TOKEN = re.compile(r"""
    (?P<skip>/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\s+|\\\n)
  | (?P<number>(?:0[xX][0-9a-fA-F.]+(?:[pP][+-]?\d+)?|(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?)[uUlLfF]*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<sign><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
""", re.S | re.X)
OPERATORS = {
    "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["*"], "<": ["<=", ">"], "<=": ["<", ">"], ">": [">=", "<"],
    ">=": [">", "<"], "==": ["!="], "!=": ["=="], "&&": ["||"], "||": ["&&"], "++": ["--"], "--": ["++"],
    "+=": ["-=", "="], "-=": ["+=", "="], "*=": ["/=", "="], "/=": ["*=", "="], "<<": [">>"], ">>": ["<<"],
    "&": ["|"], "|": ["&"], "|=": ["&=", "="], "&=": ["|=", "="]}
EITHER = {"++", "--"}  # need nothing on their left
SYMMETRIC = re.compile(r"(str|mem)n?(case)?cmp|f?(max|min)f?|hypotf?|.*_(MAX|MIN|max|min)|\w*alloc")
PARAMETER = re.compile(r"(const |unsigned |struct )*[A-Za-z_]\w* \**(const |restrict )?\w+(\[.*\])?|void|\.\.\.", re.S)
NO_CALL = {"if", "while", "for", "switch", "return", "sizeof", "defined", "do", "else", "case"}
NO_STATEMENT = re.compile(r"\s*(static|const|extern|typedef|return|case|default|else|goto|for|while|if|do|switch|"
                          r"struct|union|enum|#|\}|\{)")
STATEMENT = re.compile(r"\s*(break|continue|\(void\)|[*(]*[A-Za-z_]\w*\s*(\(|\[|->|\.|[-+*/%&|^]?=[^=]|\+\+|--|<<=|>>=)"
                       r"|\+\+|--)")


def tokens(text):
    """(kind, offset, word) of everything but blanks, comments and strings."""
    found = []
    for match in TOKEN.finditer(text):
        if match.lastgroup != "skip":
            found.append((match.lastgroup, match.start(), match.group()))
        elif match.group()[0] in "\"'":
            found.append(("string", match.start(), match.group()))
    return found


def numbers(word):
    """The mutations of a number: doubled, halved, one more, one less, another sign, last digit, exponent."""
    if re.match(r"0[xX]", word):
        digits, suffix = re.fullmatch(r"(.*?)([uUlL]*)", word).groups()
        return [] if "." in word or "p" in word.lower() else [hex(int(digits, 16) ^ 1) + suffix]
    digits, suffix = re.fullmatch(r"(.*?)([uUlLfF]*)", word).groups()
    if re.fullmatch(r"\d+", digits):
        n = int(digits, 8 if len(digits) > 1 and digits[0] == "0" else 10)
        changed = {2 * n, n // 2, n + 1, n - 1, 10 * n, n // 10}
        return [str(m) + suffix if m >= 0 else "(%d)" % m for m in sorted(changed - {n})] + ["(-%s)" % word] * (n > 0)
    mantissa, exponent = re.fullmatch(r"([\d.]+)(?:[eE]([+-]?\d+))?", digits).groups()
    power = int(exponent or 0)
    last = max(i for i, c in enumerate(mantissa) if c.isdigit())
    digit = mantissa[:last] + str((int(mantissa[last]) + 1) % 10) + mantissa[last + 1:]
    end = "" if exponent is None else "e" + exponent
    return ["(2 * %s)" % word, "(%s / 2)" % word, "(-%s)" % word, digit + end + suffix,
            "%se%d%s" % (mantissa, power + 1, suffix), "%se%d%s" % (mantissa, power - 1, suffix)]


def matching(found, start):
    """Index of the bracket that closes the one at start."""
    depth = 0
    for i in range(start, len(found)):
        if found[i][2] in ("(", "[", "{"):
            depth += 1
        elif found[i][2] in (")", "]", "}"):
            depth -= 1
            if depth == 0:
                return i
    return None


def swaps(text, found, i):
    """Neighbouring arguments of a call swapped, or the indices of [a][b]."""
    end = matching(found, i)
    if end is None:
        return
    if found[i][2] == "[":
        if end + 1 < len(found) and found[end + 1][2] == "[":
            last = matching(found, end + 1)
            if last:
                first, second = text[found[i][1] + 1:found[end][1]], text[found[end + 1][1] + 1:found[last][1]]
                if first != second:
                    yield found[i][1], text[found[i][1]:found[last][1] + 1], "[%s][%s]" % (second, first)
        return
    cuts, depth = [found[i][1]], 0
    for kind, at, word in found[i + 1:end]:
        depth += word in ("(", "[", "{")
        depth -= word in (")", "]", "}")
        if word == "," and depth == 0:
            cuts.append(at)
    cuts.append(found[end][1])
    parts = [text[a + 1:b].strip() for a, b in zip(cuts, cuts[1:])]
    if all(PARAMETER.fullmatch(part) for part in parts):
        return  # a declaration
    for k in range(len(parts) - 1):
        if parts[k] != parts[k + 1]:
            yield cuts[k] + 1, text[cuts[k] + 1:cuts[k + 2]], "%s, %s" % (parts[k + 1], parts[k])


def sites(text):
    """{line: {kind: [(offset, before, after)]}}; a replacement has at most as many lines as the original."""
    found, lines = tokens(text), {}
    starts = [0] + [m.end() for m in re.finditer("\n", text)]

    def add(kind, at, before, after):
        number = bisect.bisect_right(starts, at)
        begin = starts[number - 1]
        line = text[begin:text.find("\n", begin)]
        if re.match(r"\s*#", line) and not re.match(r"\s*#\s*define\s+\w+\s", line):
            return
        after += "\n" * (before.count("\n") - after.count("\n"))  # lines below keep their numbers
        lines.setdefault(number, {}).setdefault(kind, []).append((at, before, after))

    depth, heads = 0, set()
    for i, (kind, at, word) in enumerate(found):
        depth += (word == "(") - (word == ")")
        before = found[i - 1] if i else ("", 0, "")
        after = found[i + 1][2] if i + 1 < len(found) else ""
        if kind == "number":
            # The size of an array that is declared: more of it changes nothing.
            size = before[2] == "[" and i > 2 and (found[i - 3][0] == "name" or found[i - 3][2] == "*")
            for new in () if size and found[i - 3][2] not in NO_CALL else numbers(word):
                add("constant", at, word, new)
        elif kind == "sign" and word in OPERATORS:
            left = before[0] in ("number", "name") or before[2] in (")", "]")
            pointer = word in "*&" and not text[at + 1].isspace()
            if word in EITHER or left and not pointer and before[2] not in NO_CALL:
                for new in OPERATORS[word]:
                    add("operator", at, word, new)
        elif word in ("if", "while") and after == "(":
            end = matching(found, i + 1)
            if end:
                inside = text[found[i + 1][1] + 1:found[end][1]]
                add("condition", found[i + 1][1], "(%s)" % inside, "(!(%s))" % inside)
        elif word == "[" or word == "(" and before[0] == "name" and not SYMMETRIC.fullmatch(before[2]) and (
                before[2] not in NO_CALL):
            for where, old, new in swaps(text, found, i):
                add("swap", where, old, new)
        if word in ("if", "while", "for") and after == "(":
            heads.add(matching(found, i + 1))
        behind = word in (";", "{", "}") and depth == 0 or word == "else" or i in heads  # a statement begins there
        if behind and i + 1 < len(found):
            begin = found[i + 1][1]
            stop = next((found[k][1] for k in range(i + 1, len(found)) if found[k][2] in (";", "{", "}")), None)
            if stop and text[stop] == ";":
                statement = text[begin:stop + 1]
                if STATEMENT.match(statement) and not NO_STATEMENT.match(statement) and statement.count("\n") < 4:
                    add("statement", begin, statement, ";")
    return lines


def place(text, at, before, after):
    return text[:at] + after + text[at + len(before):]


def draw(seed, texts):
    """An endless stream of mutants of {name: text}: dicts of file, line, kind, at, before, after. None comes twice."""
    rng, places = random.Random(seed), []
    for name in sorted(texts):
        places += [(name, number, kinds) for number, kinds in sorted(sites(texts[name]).items())]
    seen = set()
    for _ in range(20 * len(places)):
        name, number, kinds = places[rng.randrange(len(places))]
        kind = sorted(kinds)[rng.randrange(len(kinds))]
        at, before, after = kinds[kind][rng.randrange(len(kinds[kind]))]
        if (name, at, before, after) not in seen:
            seen.add((name, at, before, after))
            yield {"file": name, "line": number, "kind": kind, "at": at, "before": before, "after": after}


def describe(mutant, text):
    """file:line, and the line before and after (blanks shortened)."""
    begin, end = text.rfind("\n", 0, mutant["at"]) + 1, text.find("\n", mutant["at"] + len(mutant["before"]))
    old, offset = text[begin:end], mutant["at"] - begin
    new = place(old, offset, mutant["before"], mutant["after"])
    return "%s:%d: %s\n    - %s\n    + %s" % (mutant["file"], mutant["line"], mutant["kind"],
                                            " ".join(old.split()), " ".join(new.split()))
