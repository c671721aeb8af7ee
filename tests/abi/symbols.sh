# The symbols of the shared libraries, with their versions, are those of the release that is kept here (NAME.symbols):
# none has gone, and one that is new is named here with it. Those that no public header declares are our libraries' own.
# `symbols.sh --update BUILD` takes over what a build has. What types they take and give is compared by compare.sh.
set -eu
here=${HOT_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/abi
[ -z "${HOT_SANITIZED:-}" ] || { echo "skipped: sanitizers bring symbols of their own"; exit 77; }
update=
if [ "${1:-}" = --update ]; then
    update=1
    HOT_BUILD=$2
fi
failed=0
cat "$here"/../../*/include/hotfiber/*.h | grep -oE 'hot_[a-zA-Z0-9_]+' | LC_ALL=C sort -u >public
for name in hotkernels hotarrays hotfiber hotview; do
    library=$HOT_BUILD/lib/lib$name.so
    [ -f "$library" ] || { echo "not built: lib$name.so"; continue; }
    nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' | sed 's/@@/@/' |
        awk -F @ 'FNR == NR { public[$1]; next } $1 in public' public - | LC_ALL=C sort >"found.$name"
    [ -s "found.$name" ] || { echo "no symbols in $library"; failed=1; }
    if [ -n "$update" ]; then
        mv "found.$name" "$here/$name.symbols"
        continue
    fi
    gone=$(LC_ALL=C comm -23 "$here/$name.symbols" "found.$name")
    new=$(LC_ALL=C comm -13 "$here/$name.symbols" "found.$name")
    # Programs that were linked with the last release look for these.
    [ -z "$gone" ] || { echo "gone from lib$name.so:" $gone; failed=1; }
    [ -z "$new" ] || { echo "new in lib$name.so, not in tests/abi/$name.symbols (--update):" $new; failed=1; }
done
exit $failed
