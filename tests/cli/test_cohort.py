"""200 made-up subjects on two cores, with bad ones among them, and the pages in a real browser. Long form; the short
one is test_bids.py."""
import resource
import sys

from _bids import *

if not LONG:
    print("skipped: a test of the long form (HOT_TEST_LONG=1)")
    sys.exit(77)
COUNT = 200
BAD = {17: "truncated", 42: ".bvec", 99: "b-values"}
raw = dataset("raw")
templates = [phantom(f"templates/{seed}.nii.gz", seed=seed, size="7,7,3") for seed in range(24)]
far = phantom("templates/far.nii.gz", seed=9, size="7,7,3", snr=5)
for number in range(COUNT):
    start = f"{raw}/sub-{number:03d}/dwi/sub-{number:03d}_dwi"
    os.makedirs(os.path.dirname(start))
    source = far if number == 123 else templates[number % 24]
    for ending in (".nii.gz", ".bval", ".bvec"):
        shutil.copy(source.replace(".nii.gz", ending), start + ending)
truncate(f"{raw}/sub-017/dwi/sub-017_dwi.nii.gz")
os.remove(f"{raw}/sub-042/dwi/sub-042_dwi.bvec")
open(f"{raw}/sub-099/dwi/sub-099_dwi.bval", "w").write("0 1000 1000\n")
scan(raw, "six", count=6, b="1000")
# A sparse file of 12 GB: zeros, so that it is refused after its volumes were checked.
volumes, b = 820, np.r_[np.zeros(20), np.full(800, 2000.)]
np.savetxt("large.bval", b[None], "%g")
np.savetxt("large.bvec", np.r_[np.zeros((20, 3)), directions(800)].T, "%.9f")
sparse(f"{raw}/sub-large/dwi/sub-large_dwi", "large", (145, 174, 145), volumes)
total, failed = COUNT + 2, sorted([f"sub-{number:03d}" for number in BAD] + ["sub-large"])


def used():
    """CPU time of all that was called so far, seconds."""
    about = resource.getrusage(resource.RUSAGE_CHILDREN)
    return about.ru_utime + about.ru_stime


began, before = time.monotonic(), used()
done = bids(raw, "out", "participant", "--nprocs", 2, "--mem", "4G", "--skip-bids-validation", timeout=3000)
clock = time.monotonic() - began
check(done.returncode == 1 and f"{len(failed)} of {total} scans failed: {', '.join(failed)}" in done.stderr,
      f"{done.returncode} {done.stderr}")
names = [name[:-len(".json")] for name in os.listdir("out/logs")]
check(len(names) == total, f"{len(names)} records")
records = {name: status("out", name) for name in names}
check(sorted(name for name in names if records[name]["status"] == "failed") == failed, "the bad ones failed, no other")
for number, words in BAD.items():
    message = records[f"sub-{number:03d}"]["message"]
    check(words in message or "2 b-values" in message or "3 b-values" in message, f"{number}: {message}")
    check(message in Html(f"out/sub-{number:03d}.html").words, f"{number}: its page says why")
print("12 GB:", records["sub-large"]["message"], f"after {records['sub-large']['seconds']:.0f} s")
busy = sum(record["cpu_seconds"] for record in records.values())
print(f"{total} scans in {clock:.0f} s on two cores; CPU time: hotfiber {busy:.0f} s, the rest "
      f"{(used() - before - busy) / total:.2f} s per scan")

began = time.monotonic()
done = bids(raw, "out", "group")
print(f"table of {total} in {time.monotonic() - began:.1f} s, {os.path.getsize('out/group_dwi.html') >> 10} KB")
rows = table("out")
check(len(rows) == total and done.returncode == 1, "the table has all")
check("snr" in rows["sub-123"]["outliers"], f"the noisy one is marked: {rows['sub-123']}")
check(os.path.getsize("out/group_dwi.html") < 5 << 20, "at most 5 MB")
page = read_page("out/group_dwi.html")
check(all(record["message"] in page.words for record in records.values() if record["status"] == "failed"), "reasons")

shutil.rmtree(f"{raw}/sub-large") # which would be read again, as all that failed
began = time.monotonic()
done = bids(raw, "out", "participant", "--skip-bids-validation", "--mem", "4G", "--nprocs", 2)
check(done.stdout.count("done already") == total - len(failed), "nothing is done twice")
print(f"again: {time.monotonic() - began:.1f} s")

browser = shutil.which("chromium") or shutil.which("google-chrome")
if browser:
    for kind, name in (("group_dwi", "group"), ("sub-017", "failed"), ("sub-000", "subject")):
        for theme in ("light", "dark"):
            more = [f"--blink-settings=preferredColorScheme={int(theme == 'light')}"] # 0 is dark
            subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", *more,
                            f"--screenshot={os.path.abspath(name)}_{theme}.png", "--window-size=1280,1600",
                            f"file://{os.path.abspath('out')}/{kind}.html"], stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120, check=False)
            check(os.path.exists(f"{name}_{theme}.png") and os.path.getsize(f"{name}_{theme}.png") > 20000,
                  f"a picture of {kind} in Chromium")
else:
    print("no Chromium: pages were not drawn")
end()
