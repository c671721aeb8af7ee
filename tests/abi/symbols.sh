# The symbols of the shared libraries, with their versions, are those of the release that is kept here (NAME.symbols):
# none has gone, and one that is new is named here with it. Those that no public header declares are our libraries' own.
# Sonames, symbol versions and texts follow from the project's version (docs/releases.md).
# `symbols.sh --update BUILD` accepts the symbols of a build. compare.sh compares the types.
set -eu
source=${HOT_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
here=$source/tests/abi
[ -z "${HOT_SANITIZED:-}" ] || { echo "skipped: sanitizers add symbols"; exit 77; }
update=
if [ "${1:-}" = --update ]; then
    update=1
    HOT_BUILD=$(cd "$2" && pwd)
    cd "$(mktemp -d)"
fi
failed=0
version=$(sed -n 's/^project(hotfiber VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
case $version in
0.*) soversion=${version%.*} ;; # until 1.0 each MINOR has a soname
*) soversion=${version%%.*} ;;
esac
cat "$source"/*/include/hotfiber/*.h | grep -oE 'hot_[a-zA-Z0-9_]+' | LC_ALL=C sort -u >public
for name in hotkernels hotarrays hotfiber hotview hotvtk; do
    library=$HOT_BUILD/lib/lib$name.so
    [ -f "$library" ] || { echo "not built: lib$name.so"; continue; }
    soname=$(objdump -p "$library" | sed -n 's/^ *SONAME *//p')
    [ "$soname" = "lib$name.so.$soversion" ] || { echo "version $version, but soname $soname"; failed=1; }
    [ $name != hotvtk ] || continue # its symbols have no versions: it is loaded by its name
    nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' | sed 's/@@/@/' |
        awk -F @ 'FNR == NR { public[$1]; next } $1 in public' public - | LC_ALL=C sort >"found.$name"
    [ -s "found.$name" ] || { echo "no symbols in $library"; failed=1; }
    if grep -vE "@HOTFIBER_$soversion(\.[0-9]+)?\$" "found.$name"; then
        echo "of $soname, with symbol versions of another soname (cmake/symbols.map)"
        failed=1
    fi
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
# Headers and examples name the library that is loaded, and no older one.
named=$(grep -rhoE 'libhot[a-z]+\.so\.[0-9]+(\.[0-9]+)*' "$source/plugin" "$source/viz" "$source/docs/guides" |
    sort -u | grep -v "\.so\.$soversion\$" || true)
[ -z "$named" ] || { echo "named in plugin, viz or docs/guides:" $named; failed=1; }
exit $failed
