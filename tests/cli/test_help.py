"""Every subcommand's help is readable, and every bad value of every option is refused in one line that names it.
HOT_TEST_LONG=1: everything that can be wrong is tried on every option."""
import re

from cli import *

listing = works("--help").stdout.decode()
subcommands = re.findall(r"^  ([a-z]+) +\S", listing, re.M)
check(len(subcommands) > 0, f"subcommands are listed: {listing}")
check(hotfiber().stdout.decode() == listing, "`hotfiber` alone lists the subcommands")
order = "info convert phantom response fit peaks eig denoise score run export view bench".split()
check([s for s in order if s in subcommands] == [s for s in subcommands if s in order],
      f"pipeline's order: {subcommands}")
check(re.fullmatch(r"hotfiber \d+\.\d+\.\d+\n(\w+ +\S.*\n){4}", works("--version").stdout.decode()), "version")
check(("no .pam5" in works("--version").stdout.decode()) != ("pam5" in works("export", "--list").stdout.decode()),
      "what the build lacks is named")

# Completion of bash, made from the help: subcommands, options, words of an option, and files where there is no option.
COMPLETION = os.path.join(os.environ["HOT_BUILD"], "completions", "hotfiber")


def complete(*words):
    script = 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _hotfiber; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", script, COMPLETION, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    check(done.returncode == 0 and not done.stderr, f"completion of {words}: {done.stderr}")
    return set(done.stdout.decode().split())


check(set(subcommands) <= complete("hotfiber", ""), f"completion of subcommands: {complete('hotfiber', '')}")
check(complete("hotfiber", "exp") == {"export"}, "exp")
models = complete("hotfiber", "fit", "--model", "")
check(models == {"adc", "odf", "fod", "msmt"}, f"completion of --model: {models}")
names = complete("hotfiber", "run", "--outputs", "peaks,f")
check(names == {"peaks,fa", "peaks,fixels", "peaks,fiber", "peaks,fraction_sd", "peaks,free_water"},
      f"completion of a list: {names}")
check({"default", "all", "maps", "fa"} <= complete("hotfiber", "run", "--outputs", ""), "completion of --outputs")
check({"--order", "--mask", "--threads", "-i"} <= complete("hotfiber", "fit", "-"), "options of fit")
open("a file", "w").close()
check(complete("hotfiber", "fit", "-i", "a") == {"a", "file"}, "files")

# Values of these kinds are names of something, and any text will do until it is used.
TEXTS = {"FILE", "DIR", "DWI", "NRRD", "NAME", "PREFIX", "TENSORS", "TEXT", "DEVICE", "FORMAT", "PEAKS", "PARTS",
         "SPEC"}

LONG = bool(os.environ.get("HOT_TEST_LONG"))
COMMON = {"--device", "--threads", "--seed", "--progress", "--confine", "--quiet", "--help"}


def refused(subcommand, arguments, words):
    done = hotfiber(subcommand, *arguments)
    line = done.stderr.rstrip("\n")
    what = f"hotfiber {subcommand} {' '.join(arguments)}"
    check(done.returncode == 2, f"{what}: status {done.returncode}, not 2: {line}")
    check(line.startswith(f"hotfiber {subcommand}: ") and "\n" not in line, f"{what}: one line, not: {line}")
    check(words in line, f"{what}: should name {words}: {line}")
    check(done.stdout == b"", f"{what}: nothing on standard output")


kinds = set()
for subcommand in subcommands:
    done = works(subcommand, "--help")
    text = done.stdout.decode()
    check(works(subcommand, "-h").stdout.decode() == text, f"{subcommand}: -h is --help")
    check(f"usage: hotfiber {subcommand} " in text, f"{subcommand}: usage line")
    check(max(map(len, text.split("\n"))) <= 120,
          f"{subcommand}: no line longer than 120: {max(text.splitlines(), key=len)}")
    check(text.isascii() and "\t" not in text and not re.search(r"[^ ] +$", text, re.M),
          f"{subcommand}: plain text without blanks at line ends")
    options = re.findall(r"^  (--?[A-Za-z_0-9-]+)(?: (\S+))?(?:  |$|\n {28})", text, re.M)
    names = [name for name, _ in options]
    check(len(names) == len(set(names)), f"{subcommand}: an option is listed twice: {names}")
    check({"--device", "--threads", "--seed", "--progress", "--confine", "--quiet", "--help"} <= set(names),
          f"{subcommand}: common options: {names}")
    for name, value in options:
        if name in COMMON and subcommand != subcommands[0]:
            continue  # one piece of code for all subcommands
        # One parser reads them all: whatever can be wrong with one word of a kind is tried on the first of the command
        # and of the viewer, which is a separate program; the others show that they have that kind.
        first = LONG or (subcommand == "view", value) not in kinds
        kinds.add((subcommand == "view", value))
        if not value:
            if first:
                refused(subcommand, [name + "=1"], name)
            continue
        if first:
            refused(subcommand, [name], name)
            refused(subcommand, [name, "--quiet"], name)
        if value not in TEXTS:
            refused(subcommand, [name, "neither!nor"], name)
            if first:
                refused(subcommand, [name + "="], name)
                refused(subcommand, [name, "nan"], name)
    refused(subcommand, ["--device", "toaster"], "--device")
    refused(subcommand, ["--threads", "-1"], "--threads")
    refused(subcommand, ["--no_such_option"], "--no_such_option")
    misspelt = subcommand[:-1] + "q"
    done = hotfiber(misspelt)
    check(done.returncode == 2 and done.stderr.count("\n") == 1 and misspelt in done.stderr,
          f"{misspelt}: {done.stderr}")
    with open("/dev/full", "wb") as full:
        full_disk = subprocess.run([HOTFIBER, subcommand, "--help"], stdout=full, stderr=subprocess.PIPE)
    check(full_disk.returncode == 1 and b"No space" in full_disk.stderr, f"{subcommand}: help to a full disk")
done = hotfiber("frobnicate")
check(done.returncode == 2 and "frobnicate" in done.stderr, done.stderr)
check("did you mean bench" in hotfiber("bnech").stderr, "a guess")

# Many options are listed under headings, the common ones and the examples first.
text = works("run", "--help").stdout.decode()
places = [text.find(f"\n{heading}:\n") for heading in ("common options", "examples", "options, model and method",
                                                       "names for --outputs", "options that every subcommand has")]
check(0 < places[0] and places == sorted(places), f"headings in this order: {places}")
common = text[places[0]:places[1]]
check(all(f"\n  {option} " in common for option in ("-i", "-o", "--mask", "--outputs", "--samples")), common)

# All ways to call for help.
check(hotfiber("help").stdout.decode() == listing, "`hotfiber help` lists the subcommands")
for subcommand in subcommands:
    text = works(subcommand, "--help").stdout
    check(works("help", subcommand).stdout == text, f"`hotfiber help {subcommand}`")
check("did you mean run" in hotfiber("help", "rnu").stderr, "a guess behind help")

# What to cite: the program, and papers with their DOI; the same version as --version.
said = works("cite").stdout.decode()
version = works("--version").stdout.decode().split()[1]
check(version in said and said.count("https://doi.org/10.") >= 16 and "Tournier" in said, f"cite: {said[:300]}")
check(works("cite", "--bibtex").stdout.decode().startswith("@software{hotfiber,"), "cite --bibtex")

# - and _ are the same in every option; a misspelt one is guessed.
for subcommand, option in (("run", "max-fibers"), ("peaks", "min-angle"), ("phantom", "three_angles"),
                           ("view", "lock-axes"), ("view", "pixel-ratio")):
    refused(subcommand, ["--" + option + "="], option.replace("-", "_") if option != "three_angles" else "three-angles")
for subcommand, wrong, right in (("run", "--denose", "--denoise"), ("view", "--screnshot", "--screenshot"),
                                 ("peaks", "--min_angel", "--min_angle")):
    done = hotfiber(subcommand, wrong)
    check(done.returncode == 2 and f"did you mean {right};" in done.stderr, f"{subcommand} {wrong}: {done.stderr}")

# Bounds are written as people write numbers.
for call, words in ((["phantom", "-b", "0"], "from 1 to 1000000,"), (["peaks", "--starts", "0"], "from 1 to 1000000,"),
                    (["run", "--regularise", "-1"], "from 0 to 1000000,"), (["run", "--sigma", "0"], "above 0,"),
                    (["run", "--seed", "-1"], "of at least 0,"), (["phantom", "--s0", "-1"], "above 0,")):
    done = hotfiber(*call)
    check(done.returncode == 2 and words in done.stderr, f"{call}: {done.stderr}")
end()
