# The parts of a release that need no build: the source archive (reproducible, exactly git's files, NEWS with this
# version at its top) and the bill of materials. cmake/release.sh does the rest.
set -eu
failed=0
not_so() { echo "not so: $*"; failed=1; }
[ -z "${HOT_SANITIZED:-}" ] || { echo "skipped: only the ordinary build is released"; exit 77; }

python3 "$HOT_SOURCE/cmake/sbom.py" "$HOT_BUILD" >list.json || not_so "no bill of materials"
python3 "$HOT_SOURCE/cmake/sbom.py" "$HOT_BUILD" | cmp - list.json || not_so "the list is another one each time"
version=$("$HOTFIBER" --version | sed -n '1s/.* //p')
/usr/bin/python3 - "$version" "$HOTFIBER" <<'END' || failed=1
import json
import re
import subprocess
import sys

made = json.load(open("list.json"))
assert (made["bomFormat"], made["specVersion"]) == ("CycloneDX", "1.5"), made
assert made["metadata"]["component"]["version"] == sys.argv[1], made["metadata"]
names = {part["name"]: part for part in made["components"]}
loaded = subprocess.run(["readelf", "-d", sys.argv[2]], stdout=subprocess.PIPE, text=True, check=True).stdout
for name in re.findall(r"NEEDED.*\[(.*)\]", loaded):
    assert name in names or name.startswith("libhot"), (name, sorted(names))
for name in ("libteem.so.2", "libnifti2.so.2", "libc.so.6", "libcairo.so.2"):
    part = names[name]
    assert part["purl"].startswith("pkg:deb/debian/") and part["version"] and part["hashes"], part
    assert re.fullmatch("[0-9a-f]{64}", part["hashes"][0]["content"]), part
assert set(made["dependencies"][0]["dependsOn"]) == set(names), "all of them"
END

sed -n 3p "$HOT_SOURCE/NEWS.md" | grep -Eq '^## [0-9]+\.[0-9]+\.[0-9]+ \((unreleased|[0-9]{4}-[0-9]{2}-[0-9]{2})\)$' ||
    not_so "NEWS.md begins with a version"
grep -q "^version: $version$" "$HOT_SOURCE/CITATION.cff" || not_so "CITATION.cff has another version"
grep -q "^  version: $version$" "$HOT_SOURCE/cmake/recipe.yaml" || not_so "cmake/recipe.yaml has another version"

if git -C "$HOT_SOURCE" rev-parse HEAD >/dev/null 2>&1; then
    sh "$HOT_SOURCE/cmake/release.sh" --source one >/dev/null
    sh "$HOT_SOURCE/cmake/release.sh" --source two >/dev/null
    cmp "one/hotfiber-$version.tar.gz" "two/hotfiber-$version.tar.gz" || not_so "two archives of the same commit differ"
    tar -tzf "one/hotfiber-$version.tar.gz" | grep -v '/$' | sed "s|^hotfiber-$version/||" | LC_ALL=C sort >packed
    ! tar -tvzf "one/hotfiber-$version.tar.gz" | grep -E '^([^l]....w|[^l].......w)' ||
        not_so "others than the owner may write files of the archive"
    git -C "$HOT_SOURCE" ls-tree -r --name-only -z HEAD | tr '\0' '\n' | LC_ALL=C sort | diff - packed ||
        not_so "the archive has other files than git"
    (cd one && sha256sum -c --quiet SHA256SUMS) || not_so "sums"
else
    echo "not a checkout of git: no archive was made"
fi
exit $failed
