"""Movies: an animated PNG is what the PNG specification says, with right checksums; its frames are the pictures of the
folder, and those are what the same view shows as a picture."""
import io
import os
import shutil
import struct
import zlib

from cli import *
from screen import write_nrrd

SIZE = (9, 8, 7)
VECTORS, ORIGIN = [(2, 0, 0), (0, 2, 0), (0, 0, 2)], (-8, -7, -6)
i, j, k = np.indices(SIZE)
peaks = np.zeros((3, *SIZE))
peaks[0], peaks[1], peaks[2] = np.cos(i), np.sin(i + j), k / 4
peaks[:, :, :, [0, 6]] = 0  # the slices 1 to 5 have content
write_nrrd("peaks.nrrd", peaks, VECTORS, ORIGIN, "directions")
write_nrrd("series.nrrd", np.stack([1. + i + 5 * n * j for n in range(4)]), VECTORS, ORIGIN, "series")
common = ["--size", "90x70", "--quiet"]


def chunks(data):
    """Type and content of each chunk; checks the signature, the lengths and the checksums."""
    found, at = [], 8
    check(data[:8] == b"\x89PNG\r\n\x1a\n", "signature")
    while at < len(data):
        size, = struct.unpack(">I", data[at:at + 4])
        kind, content = data[at + 4:at + 8], data[at + 8:at + 8 + size]
        crc, = struct.unpack(">I", data[at + 8 + size:at + 12 + size])
        check(crc == zlib.crc32(kind + content), f"checksum of {kind} at {at}")
        found.append((kind, content))
        at += 12 + size
    check(at == len(data) and found[0][0] == b"IHDR" and found[-1] == (b"IEND", b""), "first and last chunk")
    return found


def whole(pieces):
    """A PNG of these chunks."""
    return b"\x89PNG\r\n\x1a\n" + b"".join(struct.pack(">I", len(content)) + kind + content +
                                           struct.pack(">I", zlib.crc32(kind + content)) for kind, content in pieces)


def frames(path, rate):
    """The frames of an animated PNG, each as a PNG."""
    found = chunks(open(path, "rb").read())
    count, plays = struct.unpack(">II", dict(found)[b"acTL"])
    before = [piece for piece in found[:[kind for kind, _ in found].index(b"IDAT")] if piece[0] not in
              (b"acTL", b"fcTL")]
    made, sequence = [], []
    for kind, content in found:
        if kind == b"fcTL":
            number, width, height, x, y, part, of, dispose, blend = struct.unpack(">5I2H2B", content)
            check((width, height, x, y) == (*struct.unpack(">II", found[0][1][:8]), 0, 0), f"whole frames: {content}")
            check(abs(of / part - rate) < .05 * rate and (dispose, blend) == (0, 0), f"{part}/{of} s")
            sequence.append(number)
            made.append([])
        elif kind == b"fdAT":
            sequence.append(struct.unpack(">I", content[:4])[0])
            made[-1].append((b"IDAT", content[4:]))
        elif kind == b"IDAT":
            check(len(made) == 1, "the first frame is the picture of programs that know no movies")
            made[-1].append((kind, content))
    check(count == len(made) and plays == 0, f"{count} frames in acTL, {len(made)} found; endless")
    check(sequence == list(range(len(sequence))), f"numbers {sequence}")
    return [whole([*before, *data, (b"IEND", b"")]) for data in made]


def folder(path):
    return [open(os.path.join(path, name), "rb").read() for name in sorted(os.listdir(path))]


def picture(*words):
    works("view", *words, *common, "--screenshot", "x.png")
    return open("x.png", "rb").read()


def movie(*words, rate=12):
    """Both forms; returns the frames."""
    works("view", *words, *common, "--movie", "x.png")
    shutil.rmtree("frames", ignore_errors=True)
    works("view", *words, *common, "--movie", "frames")
    check(sorted(os.listdir("frames")) == [f"frame-{n:04}.png" for n in range(len(os.listdir("frames")))], "names")
    made = frames("x.png", rate)
    check(made == folder("frames"), f"{words}: the folder has the same frames")
    return made


slices = movie("peaks.nrrd")
check(len(slices) == 5 and slices == [picture("peaks.nrrd", "--slice", n) for n in range(1, 6)], "slices with content")
coronal = movie("peaks.nrrd", "--plane", "coronal", "--frames", 3, "--fps", 30, rate=30)
check(coronal == [picture("peaks.nrrd", "--plane", "coronal", "--slice", n) for n in (0, 4, 7)], "three of eight")
turn = movie("peaks.nrrd", "--mode", "3d", "--frames", 4)
works("view", "peaks.nrrd", *common, "--mode", "3d", "--turntable", 4, "--screenshot", "turn.png")
check(turn == [open(f"turn-{n:03}.png", "rb").read() for n in range(4)] and len(set(turn)) == 4, "a turn")
check(len(movie("peaks.nrrd", "--movie_of", "turn", "--size", "20x20")) == 36, "36 frames of a turn, from a plane")
volumes = movie("series.nrrd", "--movie_of", "volumes")
check(volumes == [picture("series.nrrd", "--volume", n) for n in range(4)] and len(set(volumes)) == 4, "volumes")
check(len(movie("peaks.nrrd", "--transparent", "on", "--frames", 2)) == 2, "with an alpha channel")
for said, status, words in (("4-D", 1, ["peaks.nrrd", "--movie", "bad.png", "--movie_of", "volumes"]),
                            ("--screenshot", 2, ["peaks.nrrd", "--movie", "bad.png", "--screenshot", "other.png"]),
                            ("--movie_of", 2, ["peaks.nrrd", "--movie_of", "turn"]),
                            ("fps", 2, ["peaks.nrrd", "--movie", "bad.png", "--fps", "0"]),
                            ("window", 2, ["peaks.nrrd", "--movie", "bad.png", "--detach"])):
    done = hotfiber("view", *words, *common)
    check(done.returncode == status and said in done.stderr and not os.path.exists("bad.png"),
          f"{words}: {done.returncode} {done.stderr}")
try:  # another reader
    from PIL import Image
    works("view", "peaks.nrrd", *common, "--movie", "x.png")
    image = Image.open("x.png")
    check(image.n_frames == 5, f"{image.n_frames} frames")
    for n in range(5):
        image.seek(n)
        alone = np.asarray(Image.open(io.BytesIO(slices[n])).convert("RGB"))
        check((np.asarray(image.convert("RGB")) == alone).all(), f"frame {n} by another reader")
except ImportError:
    print("not tried: another reader (no PIL)")
end()
