"""Data of unknown origin: small files that claim large sizes, names that lead elsewhere, text that controls a terminal,
records with unexpected options. Their cost is bounded in memory (the peak resident set), disk (the largest file) and
CPU time, none of which depends on the machine's other work."""
import gzip
import json
import resource
import shutil
import signal
import struct
import time

from cli import *

shutil.rmtree("untrusted", ignore_errors=True)
os.mkdir("untrusted")
os.chdir("untrusted")
MEMORY, DISK, SECONDS = (300 if not SANITIZED else 2000) << 20, 64 << 20, 4 if not SANITIZED else 60
SHORT = 2 if not SANITIZED else SECONDS  # what unpacks half a gigabyte does not end in it
AGAIN = os.environ.get("HOT_TEST_ONLY", "")  # a part of the cases' names


def bounded(*arguments, stdin=subprocess.DEVNULL, seconds=SECONDS, **more):
    """Status, errors, output and largest memory of a call that may take so much time and write so large files."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_FSIZE, (DISK, DISK))

    with open("stdout", "wb") as out, open("stderr", "wb") as errors:
        process = subprocess.Popen([HOTFIBER, *map(str, arguments), "--threads", "1"], stdin=stdin, stdout=out,
                                   stderr=errors, preexec_fn=limit, **more)
        begin = time.monotonic()
        while True:  # what hangs is a finding, not a hanging test
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() - begin > 120:
                process.kill()
            time.sleep(.005)
        process.returncode = os.waitstatus_to_exitcode(status)
    return (process.returncode, open("stderr", errors="surrogateescape").read(),
            open("stdout", "rb").read(), usage.ru_maxrss * 1024)


def cheap(what, arguments, expected=1, says="", **more):
    """The call ends with this status and message, and within the bounds."""
    if AGAIN not in what:
        return
    status, errors, _, memory = bounded(*arguments, **more)
    check(status == expected, f"{what}: status {status}: {errors[:300]}")
    check(memory < MEMORY, f"{what}: {memory >> 20} MB of memory")
    check(says in errors, f"{what}: '{says}' in '{errors[:300]}'")
    check(len(errors) < 3000 and (expected == 0 or errors.count("\n") == 1), f"{what}: one line, '{errors[:300]}'")


def put(name, content):
    with open(name, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())
    return name


def nrrd(fields, sizes="2 2 2 3", kind="uint8", data=b""):
    dimension = len(sizes.split())
    head = f"NRRD0005\ntype: {kind}\ndimension: {dimension}\nsizes: {sizes}\nencoding: raw\nendian: little\n{fields}"
    return (head if head.endswith("\n") else head + "\n").encode() + data


KEYS = ("kinds: space space space list\nmodality:=DWMRI\nDWMRI_b-value:=1000\nDWMRI_gradient_0000:=0 0 0\n"
        "DWMRI_gradient_0001:=1 0 0\nDWMRI_gradient_0002:=0 1 0\n")


def mif(lines, sizes="2,2,2,3", layout="+0,+1,+2,+3", kind="UInt8", end="END\n"):
    return (f"mrtrix image\ndim: {sizes}\nvox: 1,1,1,1\nlayout: {layout}\ndatatype: {kind}\n{lines}{end}").encode()


def nifti(sizes, offset=352, code=2, magic=b"n+1\0"):
    head = bytearray(348)
    struct.pack_into("<i", head, 0, 348)
    struct.pack_into("<8h", head, 40, len(sizes), *sizes, *[1] * (7 - len(sizes)))
    struct.pack_into("<hh", head, 70, code, {2: 8, 16: 32, 64: 64}[code])
    struct.pack_into("<8f", head, 76, 1, *[1] * 7)
    struct.pack_into("<f", head, 108, offset)
    struct.pack_into("<hh", head, 252, 0, 1)
    struct.pack_into("<12f", head, 280, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0)
    head[344:348] = magic
    return bytes(head) + bytes(4)


def info(name):
    return ["info", "-i", name]


# ---- Headers that claim large sizes ---------------------------------------------------------------------------------

for n in range(1, 4):
    put(f"f{n}.raw", bytes(8))
put("zeros.raw", bytes(24))
put("pattern.nhdr", nrrd("data file: f%d.raw 1 1000000 1", "1 1 1 1000000"))
cheap("a pattern of a million names", info("pattern.nhdr"))
put("pattern.nhdr", nrrd("data file: f%d.raw 1 99999 1", "1 1 1 99999"))
cheap("a pattern of names, the fourth of which is not there", info("pattern.nhdr"), says="f4.raw")
long = "./" * 1990
put("pattern.nhdr", nrrd(f"data file: {long}f%d.raw 1 99999 1", "1 1 1 99999"))
cheap("a pattern of long names", info("pattern.nhdr"), says="cannot open data file")
put("pattern.nhdr", nrrd("data file: zeros%020d.raw -999999999 999999999 2", "1 1 1 99999"))
cheap("a pattern of two thousand million names", info("pattern.nhdr"))
put("pattern.nhdr", nrrd(KEYS + "data file: f%d.raw 1 3 1", "2 2 2 3"))
cheap("a pattern that is right", info("pattern.nhdr"), 0)
for count in 99_999, 500_000:
    put("list.nhdr", nrrd("data file: LIST\n" + "zeros.raw\n" * count, f"2 2 6 {count}"))
    cheap(f"a list of {count} times the same name", info("list.nhdr"))
put("list.nhdr", nrrd("data file: SKIPLIST\n" + "0 zeros.raw\n" * 90_000, "2 2 6 90000"))
cheap("a list with skips of the same name", info("list.nhdr"), says="too short")
put("list.nhdr", nrrd("data file: LIST\n" + "zeros.raw\nf1.raw\n" * 40_000, "2 2 2 80000"))
cheap("a list of two names by turns", info("list.nhdr"), says="too short")
put("list.nhdr", nrrd(KEYS + "data file: SKIPLIST\n0 zeros.raw\n8 zeros.raw\n16 zeros.raw\n"))
cheap("a file that is three parts", info("list.nhdr"), 0)
put("large.mih", mif("file: zeros.raw 0\n", "1000,1000,1000,5", end=""))
cheap("a .mih of 5 GB", info("large.mih"), says="too short")
cheap("the same within a memory", ["run", "-i", "large.mih", "-o", "out", "--memory", "1G"], says="too short")
put("large.mih", mif("file: zeros.raw 0\n" * 99_999, "2,2,6,99999", end=""))
cheap("a .mih of one file again and again", info("large.mih"), says="too short")
put("large.mih", mif("file: zeros.raw 0\nfile: f1.raw 0\n" * 40_000, "2,2,2,80000", end=""))
cheap("a .mih of two files by turns", info("large.mih"), says="too short")
put("large.mih", mif("file: zeros.raw 0\n" * 200_000, "2,2,6,200000", end=""))
cheap("a .mih of 200,000 lines", info("large.mih"), says="file:")
put("large.mif", mif("file: . 200\n" * 50_000, "20,20,20,50000") + bytes(300))
cheap("a .mif of its own samples again and again", info("large.mif"), says="too short")
put("packed.gz", gzip.compress(bytes(24)))
put("large.mih", mif("file: packed.gz\n", "1000,1000,1000,5", end=""))
cheap("a .mih of 5 GB in a small packed file", info("large.mih"), says="too short")
put("values.mif", mif("file: . 200\n", "1,1,1,16777216", kind="Bit") + bytes(2_100_000))
cheap("a .mif of one voxel and 16 million values", info("values.mif"), says="values per voxel")
put("sizes.mih", mif("file: zeros.raw 0\n", "4294967296,4294967296,4294967296,4294967296", end=""))
cheap("a .mih whose sizes overflow", info("sizes.mih"), says="more than memory can address")
put("sizes.nhdr", nrrd("data file: zeros.raw", "4294967296 4294967296 4294967296 16"))
cheap("an .nhdr whose sizes overflow", info("sizes.nhdr"), says="too large")
put("sizes.nii", nifti([32767] * 7))
cheap("a NIfTI whose sizes overflow", info("sizes.nii"), says="too short")
put("values.nii.gz", gzip.compress(nifti([1, 1, 1, 32767, 2000]) + bytes(100_000_000), 1))
cheap("a NIfTI of one voxel and 65 million values", info("values.nii.gz"), says="values per voxel")
keys = "".join(f"DWMRI_gradient_{n:04d}:=1 0 0\n" for n in range(80_000))
put("keys.nhdr", nrrd("DWMRI_b-value:=1000\n" + keys + "data file: zeros.raw\n"))
cheap("80,000 gradient keys", info("keys.nhdr"), says="keys")
keys = "".join(f"DWMRI_gradient_{n:04d}:=1 0 0\n" for n in range(9_000))
put("keys.nhdr", nrrd("DWMRI_b-value:=1000\n" + keys + "data file: nine.raw\n", "2 2 2 9000"))
put("nine.raw", bytes(8 * 9000))
cheap("9,000 gradient keys", ["convert", "-i", "keys.nhdr", "-o", "x.nrrd"], 1)
put("comments.nrrd", nrrd("# \n" * 3_000_000 + "\n", data=bytes(24)))
cheap("three million comments", info("comments.nrrd"), 1)
put("content.nrrd", nrrd("content: " + "x" * 30_000_000 + "\n\n", data=bytes(24)))
cheap("a field of 30 MB", info("content.nrrd"), 1)
put("scheme.mif", mif("dw_scheme: 1,0,0,1000\n" * 400_000 + "file: . 9000000\n") + bytes(24))
cheap("a dw_scheme of 400,000 lines", info("scheme.mif"), 1)

# ---- Packed files that grow -----------------------------------------------------------------------------------------

table = "1 0 0 0\n1 0 0 1000\n0 1 0 1000\n"
put("grad.b", table)
bomb = 600_000_000
small = {"bomb.nii.gz": nifti([2, 2, 2, 3]), "bomb.mif.gz": mif("file: . 200\n").ljust(200, b" ")}
for name, head in small.items():
    with gzip.open(name, "wb", 1) as file:
        file.write(head + bytes(24))
        for _ in range(bomb // 1_000_000):
            file.write(bytes(1_000_000))
    cheap(f"{name}: more than its header needs", ["info", "-i", name, "--grad", "grad.b"], 0, "twice", seconds=SHORT)
with open("bomb.nrrd", "wb") as file:
    file.write(nrrd(KEYS).replace(b"encoding: raw", b"encoding: gzip") + b"\n" + open("bomb.nii.gz", "rb").read())
cheap("bomb.nrrd: more than its header needs", info("bomb.nrrd"), 0, "twice", seconds=SHORT)
os.remove("bomb.mif.gz")
with gzip.open("skip.nii.gz", "wb", 1) as file:
    file.write(nifti([2, 2, 2, 3], 550_000_000))
    for _ in range(bomb // 1_000_000):
        file.write(bytes(1_000_000))
cheap("half a gigabyte before the samples", [*info("skip.nii.gz"), "--grad", "grad.b"],
      says="the limit is", seconds=SHORT)
with gzip.open("skip.mif.gz", "wb", 1) as file:
    file.write(mif("file: . 550000000\n"))
    for _ in range(bomb // 1_000_000):
        file.write(bytes(1_000_000))
cheap("half a gigabyte before the samples of a .mif.gz", [*info("skip.mif.gz"), "--grad", "grad.b"],
      says="the limit is", seconds=SHORT)
put("header.mif.gz", gzip.compress(b"mrtrix image\n" + b"x" * 100_000_000, 1))
cheap("a header of 100 MB in 100 kB", info("header.mif.gz"), says="header of more than")
for name in "bomb.nii.gz", "bomb.nrrd", "skip.nii.gz", "skip.mif.gz":
    os.remove(name)
with open("sparse.raw", "wb") as file:
    file.truncate(1 << 40)
put("sparse.nhdr", nrrd(KEYS + "byte skip: 1000000000000\ndata file: sparse.raw"))
cheap("a terabyte before the samples", info("sparse.nhdr"), 0)
with open("sparse.nii", "wb") as file:
    file.write(nifti([2, 2, 2, 3], 1e12))
    file.truncate((1 << 40) + 100)
cheap("a terabyte before the samples of a NIfTI", ["info", "-i", "sparse.nii", "--grad", "grad.b"], 0)

# ---- Devices, pipes and folders in place of files -------------------------------------------------------------------

good = put("good.nii", nifti([2, 2, 2, 3]) + bytes(range(1, 25)))
os.mkfifo("fifo")
for place in "/dev/zero", "/dev/full", "fifo", "/", "/dev/null", "/proc/self/mem":
    name = os.path.join(os.getcwd(), place)
    put("device.mih", mif(f"file: {name} 0\n", end=""))
    cheap(f"{place} as data of a .mih", info("device.mih"))
    put("device.nhdr", nrrd(f"data file: {name}"))
    cheap(f"{place} as data of an .nhdr", info("device.nhdr"))
    put("device.nhdr", nrrd(f"data file: LIST\nf1.raw\n{name}\nf1.raw\n"))
    cheap(f"{place} in a list", info("device.nhdr"))
    os.makedirs("parts", exist_ok=True)
    part = "parts/part-1-of-1.nrrd"
    os.symlink(name, part)
    cheap(f"{place} as a part", ["merge", "parts", "-o", "out"])
    os.remove(part)
    cheap(f"{place} as a model", ["run", "-i", good, "--learned", name, "-o", "out"])
    if place != "fifo":  # that one waits for a writer, see below
        for option in "-i", "--mask", "--bval", "--grad", "--response":
            rest = [] if option == "-i" else ["-i", good]
            cheap(f"{place} as {option}", ["run", *rest, option, name, "-o", "out"])
    os.makedirs("done", exist_ok=True)
    os.symlink(name, "done/report.json")
    cheap(f"{place} as report.json", ["report", "done"])
    cheap(f"{place} as report.json of the replaced run", ["run", "-i", good, "--grad", "grad.b", "-o", "done",
                                                          "--force"])
    os.remove("done/report.json")
with open("long.nrrd", "wb") as file:  # a part that is one endless line
    file.write(b"NRRD0004\ntype: float\n")
    file.truncate(3 << 30)
os.makedirs("parts", exist_ok=True)
os.symlink("../long.nrrd", "parts/part-1-of-1.nrrd")
cheap("a part of 3 GB that is one line", ["merge", "parts", "-o", "out"], says="not a part")
os.remove("parts/part-1-of-1.nrrd")
for option in "--bval", "--bvec", "--grad", "--response", "--learned", "--mask":
    cheap(f"3 GB as {option}", ["run", "-i", good, option, "long.nrrd", "-o", "out"])
shutil.rmtree("done")
os.mkdir("done")
for text in ("[" * 5_000_000, '{"a":' * 2_000_000, "[" + "0," * 7_000_000 + "0]",
             '{"hotfiber":"' + "x" * 16_000_000 + '"}'):
    put("done/report.json", text)
    cheap(f"report.json of {text[:5]}...", ["report", "done"], 1 if not text.startswith('{"h') else 0)
    put("model.json", text)
    cheap(f"a model of {text[:5]}...", ["run", "-i", good, "--learned", "model.json", "-o", "out"])
put("numbers.bval", "1 " * 30_000_000)
cheap("a .bval of 60 MB", ["info", "-i", good, "--bval", "numbers.bval", "--bvec", "numbers.bval"])
put("numbers.bval", "1 " * 7_000_000)
cheap("a .bval of 14 MB", ["info", "-i", good, "--bval", "numbers.bval", "--bvec", "numbers.bval"])
put("numbers.bval", "1,5 " * 3_000_000)
cheap("a .bval of 12 MB with commas", ["info", "-i", good, "--bval", "numbers.bval", "--bvec", "numbers.bval"])

# A pipe that a shell makes (`<(...)`) is read as before
ends = os.pipe()
os.write(ends[1], open(good, "rb").read())
os.close(ends[1])
status, errors, _, _ = bounded("info", "-i", f"/dev/fd/{ends[0]}", "--grad", "grad.b", pass_fds=[ends[0]])
check(status == 0, f"a pipe with a name: {errors}")
os.close(ends[0])

# ---- Stopped while it waits, or reads -------------------------------------------------------------------------------

with open("keep.raw", "wb") as file:
    file.truncate(3 << 30)
put("keep.nhdr", nrrd(KEYS + "line skip: 1\ndata file: keep.raw"))  # a line of 3 GB
waits = [["info", "-i", "fifo"], ["info", "-i", "-"], ["run", "-i", "fifo", "-o", "out"], ["info", "-i", "keep.nhdr"],
         ["info", "-i", good, "--grad", "fifo"], ["info", "-i", good, "--bval", "fifo", "--bvec", "fifo"],
         ["run", "-i", good, "--grad", "grad.b", "--mask", "fifo", "-o", "out"],
         ["fit", "-i", good, "--grad", "grad.b", "--model", "fod", "--response", "fifo", "-o", "out.nrrd"]]
for call in waits:
    if AGAIN not in "stopped":
        continue
    writer = os.open("fifo", os.O_RDWR | os.O_NONBLOCK)  # there, and silent
    ends = os.pipe()
    process = subprocess.Popen([HOTFIBER, *call, "--threads", "1"], stdin=ends[0], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE)
    until = time.monotonic() + 60
    while time.monotonic() < until and process.poll() is None:  # until it waits for its input, or is at work on it
        opened = {os.path.basename(os.readlink(f"/proc/{process.pid}/fd/{n}"))
                  for n in os.listdir(f"/proc/{process.pid}/fd") if n != "0"} if process.poll() is None else set()
        if "fifo" in opened or "keep.raw" in opened or (call[-1] == "-" and "SigCgt:\t000" in
                                                        open(f"/proc/{process.pid}/status").read()):
            break
        time.sleep(.01)
    time.sleep(.05)
    process.send_signal(signal.SIGTERM)
    begin = time.monotonic()
    _, errors = process.communicate(timeout=120)
    check(process.returncode == 1 and b"cancelled" in errors, f"{call} stopped: {process.returncode}, {errors}")
    if not SANITIZED and os.getloadavg()[0] < 1:
        check(time.monotonic() - begin < 1, f"{call}: {time.monotonic() - begin:.2f} s until it had stopped")
    os.close(writer)
    os.close(ends[0])
    os.close(ends[1])

# ---- A name that is followed ----------------------------------------------------------------------------------------

image = mif("dw_scheme: 0,0,0,0\ndw_scheme: 1,0,0,1000\ndw_scheme: 0,1,0,1000\nfile: . 300\n").ljust(300, b" ")
image += bytes(range(1, 25))
names = ["mrtrix-tmp-precious.mif", "mrtrix-tmp-aB3xY9.mif", "mrtrix-tmp-a.mif", "mrtrix-tmp-aB3xY9.mif.gz",
         "mrtrix-tmp-.....6.mif", "mrtrix-tmp-abcdef.mih", "tmp-abcdef.mif"]
for name in names:
    for way in "file", "standard input", "link", "fifo", "pipe":
        put(name, image)
        put("evil.dat", os.path.abspath(name))
        given, stdin, feed = "evil.dat", subprocess.DEVNULL, None
        if way == "standard input":
            given, stdin = "-", open("evil.dat", "rb")
        elif way == "link":
            given = "evil.link"
            if not os.path.islink(given):
                os.symlink("evil.dat", given)
        elif way in ("fifo", "pipe"):
            ends = os.pipe()
            os.write(ends[1], os.path.abspath(name).encode() + b"\n")
            os.close(ends[1])
            given, stdin = ("-", ends[0]) if way == "pipe" else (f"/dev/fd/{ends[0]}", subprocess.DEVNULL)
            feed = ends[0]
        subprocess.run([HOTFIBER, "info", "-i", given], stdin=stdin, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, pass_fds=[feed] if feed else [])
        if feed:
            os.close(feed)
        goes = way == "pipe" and name == "mrtrix-tmp-aB3xY9.mif"
        check(os.path.exists(name) != goes, f"{name} by {way}: {'there' if goes else 'gone'}")
target = put("precious.mif", image)
os.symlink("precious.mif", "mrtrix-tmp-linked.mif")
subprocess.run([HOTFIBER, "info", "-i", "-"], input=b"mrtrix-tmp-linked.mif\n", stdout=subprocess.DEVNULL,
               stderr=subprocess.DEVNULL)
check(os.path.lexists("mrtrix-tmp-linked.mif") and os.path.exists(target), "a link is no file of MRtrix's")

# ---- Data files elsewhere -------------------------------------------------------------------------------------------

os.makedirs("set/below", exist_ok=True)
here = os.getcwd()
put("secret.raw", bytes(range(1, 25)))
put("set/own.raw", bytes(range(1, 25)))
put("set/below/own.raw", bytes(range(1, 25)))
put("set-beside.raw", bytes(range(1, 25)))
for name, to in (("link.raw", "../secret.raw"), ("inner.raw", "below/own.raw"), ("away", "..")):
    os.symlink(to, f"set/{name}")
cases = {"own.raw": 0, "./own.raw": 0, "below/own.raw": 0, "inner.raw": 0, "..own.raw": 1, "../secret.raw": 1,
         f"{here}/secret.raw": 1, "below/../../secret.raw": 1, "link.raw": 1, "away/secret.raw": 1,
         "../set-beside.raw": 1, "../set/own.raw": 1, f"{here}/set/own.raw": 1}
for name, refused in cases.items():
    put("set/data.nhdr", nrrd(f"{KEYS}data file: {name}"))
    put("set/list.nhdr", nrrd(f"{KEYS}data file: LIST\n{name}\n"))
    put("set/data.mih", mif(f"file: {name} 0\n", end=""))
    for header in "data.nhdr", "list.nhdr", "data.mih":
        for folder in here, os.path.join(here, "set"):
            path = os.path.join("set", header) if folder == here else header
            call = [HOTFIBER, "info", "-i", path, *(["--grad", f"{here}/grad.b"] if "mih" in header else [])]
            done = subprocess.run(call, capture_output=True, cwd=folder)
            check(done.returncode == (name == "..own.raw"), f"{header} of {name}: {done.stderr}")
            done = subprocess.run([*call, "--confine"], capture_output=True, cwd=folder)
            check(done.returncode == refused, f"{header} of {name}, confined: {done.returncode} {done.stderr}")
            check(refused == 0 or b"confined" in done.stderr or name == "..own.raw", f"{name}: {done.stderr}")

# ---- Text for the terminal ------------------------------------------------------------------------------------------

EVIL = "\x1b]0;owned\x07\x1b[2Jx\ndone, all fine\r\x7f\t\x9b31m\u202ecod\u2066\u2028end"
FORBIDDEN = [chr(n) for n in (*range(32), *range(127, 160)) if n not in (9, 10)] + list("\u202e\u2066\u2028\u061c")


def clean(what, text, lines=None):
    """Nothing that a terminal obeys, and no line of the foreign text's own."""
    text = text.decode(errors="surrogateescape") if isinstance(text, bytes) else text
    bad = sorted({hex(ord(c)) for c in text if c in FORBIDDEN or 0xdc80 <= ord(c) <= 0xdcff})
    check(not bad, f"{what}: {bad} in {text[:200]!r}")
    check(not any(line.startswith("done, all fine") for line in text.split("\n")), f"{what}: a forged line in {text!r}")
    if lines is not None:
        check(text.count("\n") == lines, f"{what}: {text.count(chr(10))} lines: {text[:300]!r}")


raw = EVIL.encode()
broken = raw + b"\xff\xc3"
os.makedirs("evil", exist_ok=True)
for name in EVIL, os.fsdecode(b"e\xff" + raw):
    folder = os.path.join("evil", name)
    os.makedirs(folder, exist_ok=True)
    image = os.path.join(folder, "x.nii")
    put(image, nifti([2, 2, 2, 3]) + bytes(range(1, 25)))
    for call in (info(image), [*info(image), "--grad", "grad.b"], [*info(image), "--grad", "grad.b", "--json"],
                 [*info("nothing" + name)], ["info", "-i", good, "--grad", image], ["info", "-i", good, name],
                 ["info", "-i", good, "--" + name], ["info", "-i", good, "--device", name], [name],
                 ["info", "-i", good, "--threads", name], ["report", folder],
                 ["check", "-i", image, "--grad", "grad.b"], ["fit", "-i", good, "--model", name],
                 ["fit", "-i", good, "--grad", "grad.b", "-o", name], ["merge", folder, "-o", "out"],
                 ["run", "-i", image, "--grad", "grad.b", "-o", "out", "--method", name],
                 ["run", "-i", image, "--grad", "grad.b", "--response", image, "-o", "out", "--progress", "json"],
                 ["run", "-i", image, "--mask", image, "--grad", "grad.b", "-o", "out", "--progress", "lines"]):
        done = subprocess.run([HOTFIBER, *call], capture_output=True)
        clean(f"{call}: output", done.stdout)
        clean(f"{call}: errors", done.stderr)
        for text in (done.stdout if "--json" in call else b"",):
            if text.strip():
                read = json.loads(text)
                check("x.nii" in json.dumps(read), f"JSON of {call}")
texts = {
    "x.bval": (broken, ["--bval", "x.bval", "--bvec", "x.bval"]), "x.b": (broken, ["--grad", "x.b"]),
    "y.bval": (b"0 1,5\x1b[2J 7\n", ["--bval", "y.bval", "--bvec", "y.bval"])}
for name, (content, options) in texts.items():
    put(name, content)
    clean(name, hotfiber("info", "-i", good, *options).stderr, 1)
headers = {}
for number, line in enumerate((b"dim: 2," + raw, b"layout: " + raw, b"datatype: " + raw, b"file: " + raw,
                               b"transform: " + raw, b"scaling: " + raw, b"dw_scheme: " + raw, b"vox: " + raw)):
    headers[f"h{number}.mif"] = mif("file: . 400\n", end="") + line.replace(b"\n", b"") + b"\nEND\n"
for number, line in enumerate((b"type: " + raw, b"kinds: " + raw, b"data file: " + raw, b"space: " + raw,
                               b"byte skip: " + raw, b"DWMRI_b-value:=" + raw, b"modality:=" + raw,
                               b"encoding: " + raw, b"sizes: " + raw, raw, b"measurement frame: " + raw,
                               b"DWMRI_b-value:=1000\nDWMRI_gradient_0000:=" + raw)):
    headers[f"h{number}.nrrd"] = nrrd("").rstrip(b"\n") + b"\n" + line.replace(b"\n", b"") + b"\n\n" + bytes(24)
for name, content in headers.items():
    put(name, content.ljust(500, b"\0") if name.endswith("mif") else content)
    done = hotfiber("info", "-i", name)
    clean(name, done.stderr, 1 if done.returncode else None)
    clean(name, done.stdout)
shutil.rmtree("done", ignore_errors=True)
os.mkdir("done")
page = EVIL + "<script>alert(1)</script>\"'><img src=x onerror=y>"
report = {"hotfiber": page, "input": {"file": page, "size": [2, 2, 2]}, "files": [page], "model": page,
          "method": {"name": page}, "log": [{"level": "warning", "text": page}, {"level": page, "text": page}],
          "response": {"from": page}, "mask": {"from": page}, "gradients": {"text": page}}
put("done/report.json", json.dumps(report))
done = hotfiber("report", "done")
clean("report", done.stderr)
clean("report", done.stdout)
html = open("done/report.html", encoding="utf-8").read() if os.path.exists("done/report.html") else ""
check("<script>" not in html and "<img src=x" not in html, "a script in report.html")
clean("report.html", html.replace("\ndone, all fine", ""))

# ---- What a record may hold -----------------------------------------------------------------------------------------

shutil.rmtree("parts")
works("phantom", "--layout", "mixture", "--size", "5,4,3", "--directions", 20, "--b0", 2, "-o", "dwi.nrrd", "--quiet")
run = ["run", "-i", "dwi.nrrd", "--method", "maxima", "--quiet"]
works(*run, "--part", "1/1", "-o", "parts")
works("learn", "-i", "dwi.nrrd", "--method", "maxima", "-o", "true.json", "--quiet")
part = open("parts/part-1-of-1.nrrd", "rb").read()
head, rest = part.split(b"hotfiber_part:=", 1)
about, rest = rest.split(b"\n", 1)
about = json.loads(about.decode().replace("\\\\", "\\"))
record, model = json.loads(about["record"]), json.load(open("true.json"))
works("merge", "parts", "-o", "merged", "--quiet")
works("run", "--learned", "true.json", "-o", "learned", "--quiet")
before = tree()
bad = [["--force"], ["--help"], ["-h"], ["-o", "elsewhere"], ["--merge", "parts"], ["--resume"], ["--quiet"],
       ["--part", "1/1"], ["--progress", "none"], ["--device", "cpu"], ["--threads", "4"], ["--confine"], ["--"],
       ["elsewhere"], ["--force=1"], ["--outputs"], ["--mask", "--help"], ["-i", "--force"], ["--outputs=all"],
       ["--help="], ["--min-angle", "3"], ["--learn", "x"], [""], [7], [None], [["--force"]], {"a": "--force"},
       ["--mask", "--"], ["--background", "x"]]
for words in bad:
    for at in "before", "behind":
        words_all = words if isinstance(words, dict) else [*words, *record] if at == "before" else [*record, *words]
        text = json.dumps({**about, "record": json.dumps(words_all)}, separators=(",", ":")).replace("\\", "\\\\")
        put("parts/part-1-of-1.nrrd", head + b"hotfiber_part:=" + text.encode() + b"\n" + rest)
        done = hotfiber("merge", "parts", "-o", "merged")
        if words in (["--outputs"], ["--mask", "--"]) and at == "before":
            check(done.returncode == 1, f"merge with {words} before: {done.returncode} {done.stderr}")
        else:
            check(done.returncode == 1 and done.stderr.count("\n") == 1 and not done.stdout,
                  f"merge with {words} {at}: {done.returncode} {done.stderr}")
        if isinstance(words_all, list):
            put("false.json", json.dumps({**model, "record": json.dumps(words_all)}))
            done = hotfiber("run", "--learned", "false.json", "-o", "learned")
            check(done.returncode == 1 and done.stderr.count("\n") == 1 and not done.stdout,
                  f"run --learned with {words} {at}: {done.returncode} {done.stderr}")
put("parts/part-1-of-1.nrrd", part)
os.remove("learned/report.json")
put("learned/precious.txt", "precious")
os.mkdir("learned/notes")
put("learned/notes/precious.txt", "precious")
names = ["precious.txt", "notes/precious.txt", *os.listdir("learned")]
put("learned/report.json", json.dumps({"hotfiber": "0.2.0", "files": names}))
done = hotfiber(*run, "-o", "learned", "--force")
check(done.returncode == 1 and "precious.txt" in done.stderr, f"a false report.json: {done.returncode} {done.stderr}")
check(os.path.exists("learned/precious.txt") and os.path.exists("learned/notes/precious.txt"), "files of the user's")
os.remove("learned/report.json"), os.remove("learned/precious.txt"), shutil.rmtree("learned/notes")
before.pop("./learned/report.json")
after = tree()
for name in ("./stdout", "./stderr", "./parts/part-1-of-1.nrrd", "./false.json"):
    before.pop(name, None), after.pop(name, None)
check({n: a for n, a in before.items() if os.path.isfile(n)} == {n: a for n, a in after.items() if os.path.isfile(n)},
      "a record changed files")
os.remove("keep.raw"), os.remove("sparse.raw"), os.remove("long.nrrd"), os.remove("sparse.nii")
end()
