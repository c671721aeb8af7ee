"""Writes the Python module _declarations.py from the library's public headers: constants, structs, functions.

    python declarations.py OUTPUT HEADER...

The headers are the only place where the interface is written down; what ctypes knows of it is made from them. They
hold nothing but comments, enums, structs and prototypes, which these few patterns read; anything else is an error."""
import re
import sys

# C types in ctypes. All pointers are addresses.
SCALARS = {"int": "c_int", "double": "c_double", "float": "c_float", "size_t": "c_size_t", "uint64_t": "c_uint64",
           "int64_t": "c_int64", "uint32_t": "c_uint32", "int32_t": "c_int32", "uint8_t": "c_uint8", "char": "c_char",
           "void": "None", "unsigned": "c_uint"}
constants, structs, functions, enums = {}, {}, {}, set()


def fail(text):
    sys.exit("declarations.py: cannot read: " + " ".join(text.split())[:200])


def scalar(name, text):
    if name in SCALARS:
        return SCALARS[name]
    if name in enums:
        return "c_int"
    if name in structs:
        return name
    return fail(text)


def read_enum(body):
    value = -1
    for item in filter(None, (part.strip() for part in body.split(","))):
        name, _, given = (part.strip() for part in item.partition("="))
        value = int(given, 0) if given else value + 1
        constants[name] = value


def length(text):
    return str(constants.get(text, text))


def read_struct(name, body):
    fields = []
    structs[name] = fields
    for statement in filter(None, (part.strip() for part in body.split(";"))):
        function = re.fullmatch(r"[\w\s*]+\(\*(\w+)\)\([^()]*\)", statement)
        if function:
            fields.append((function.group(1), "c_void_p"))
            continue
        declared = re.fullmatch(r"(?:const\s+)?(?:struct\s+)?(\w+)\s*(.+)", statement, re.DOTALL)
        if not declared:
            fail(statement)
        for item in declared.group(2).split(","):
            member = re.fullmatch(r"\s*(\*|\*const\s+\*)?\s*(\w+)((?:\[\w+\])*)\s*", item)
            if not member:
                fail(statement)
            kind = "c_char_p" if member.group(1) == "*" and declared.group(1) == "char" else \
                "c_void_p" if member.group(1) else scalar(declared.group(1), statement)
            for size in reversed(re.findall(r"\[(\w+)\]", member.group(3))):
                kind = f"{kind} * {length(size)}"
                kind = f"({kind})"
            fields.append((member.group(2), kind))


def kind_of(text, returned=False):
    """The ctypes type of a parameter or result."""
    text = text.strip()
    if text == "void":
        return "None"
    if "*" in text or text.endswith("]"):
        is_text = re.match(r"(const\s+)?char\s*\*\s*\w*$", text) and not text.endswith("]")
        return "c_char_p" if is_text and (not returned or text.startswith("const")) else "c_void_p"
    words = [word for word in text.split() if word != "const"]
    return scalar(words[0], text)


def read_function(statement):
    parts = re.fullmatch(r"HOT_API\s+(.+?[\s*])(\w+)\s*\((.*)\)\s*", statement, re.DOTALL)
    if not parts:
        fail(statement)
    result, name, arguments = parts.groups()
    if "..." in arguments:  # for C alone
        return
    kinds = [kind_of(argument) for argument in arguments.split(",")]
    functions[name] = (kind_of(result, True), [] if kinds == ["None"] else kinds)


def read(text):
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)
    # __cplusplus and attributes of compilers
    text = re.sub(r"^\s*#\s*(if|ifdef)\b.*?^\s*#\s*endif", lambda found: "" if "extern" in found.group() or
                  "define HOT_API" in found.group() else found.group(), text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"HOT_PRINTF\([^)]*\)|^HOT_C_(BEGIN|END)$", "", text, flags=re.MULTILINE)
    at = 0
    pattern = re.compile(r"\s*(?:typedef\s+enum\s+(\w+)\s*\{([^}]*)\}\s*\w+\s*;|enum\s*\{([^}]*)\}\s*;|"
                         r"typedef\s+struct\s+(\w+)\s*\{(.*?)\}\s*\w+\s*;|typedef\s+struct\s+\w+\s+\w+\s*;|"
                         r"(HOT_API\s[^;]*);|$)", re.DOTALL)
    while at < len(text):
        found = pattern.match(text, at)
        if not found or found.end() == at:
            fail(text[at:])
        enum, values, unnamed, struct, body, function = found.groups()
        if enum:
            enums.add(enum)
            read_enum(values)
        elif unnamed:
            read_enum(unnamed)
        elif struct:
            read_struct(struct, body)
        elif function:
            read_function(function)
        at = found.end()


output, *headers = sys.argv[1:]
for header in headers:
    with open(header, encoding="utf-8") as file:
        read(file.read())
with open(output, "w", encoding="utf-8") as file:
    file.write('"""The C library\'s interface for ctypes, made from its headers by declarations.py."""\n'
               "from ctypes import (Structure, c_char, c_char_p, c_double, c_float, c_int, c_int32, c_int64,\n"
               "                    c_size_t, c_uint, c_uint8, c_uint32, c_uint64, c_void_p)\n\n")
    file.writelines(f"{name} = {value}\n" for name, value in constants.items())
    for name, fields in structs.items():
        file.write(f"\n\nclass {name}(Structure):\n    _fields_ = [\n")
        file.writelines(f'        ("{field}", {kind}),\n' for field, kind in fields)
        file.write("    ]\n")
    file.write("\n\n# name: (result, parameters)\nFUNCTIONS = {\n")
    file.writelines(f'    "{name}": ({result}, [{", ".join(kinds)}]),\n'
                    for name, (result, kinds) in functions.items())
    file.write("}\n")
