# The interface of the libraries, functions with the types that they take and give, against the one that is kept in
# tests/abi/interface.abi.gz, by abidiff of Debian's abigail-tools. It is that of the public headers: their functions,
# with empty bodies, are compiled to one library. (Of our libraries abidw loses the types of functions that an earlier
# source calls. symbols.sh checks which of them has a function.) Additions are listed; changes and removals with the
# same soname are a failure. With a newer soname programs are linked anew: differences are listed, nothing fails.
#   compare.sh            in an empty folder, as a test
#   compare.sh --update   this interface is kept, unless the kept one has the same soname, was released and does not fit
#   compare.sh --judge SONAME HEADERS SONAME HEADERS    the first and the second, for tests/abi/judge.sh
set -eu
source=${HOT_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
for tool in abidw abidiff cc; do
    command -v $tool >/dev/null || { echo "skipped: $tool (abigail-tools, gcc) is not installed"; exit 77; }
done

# interface NAME SONAME FOLDER: NAME.abi, the interface of FOLDER's headers, each of which compiles alone.
interface() {
    for header in "$3"/*.h; do
        printf '#include "%s"\n' "$header"
    done >"$1.c"
    # From HOT_API at the beginning of a line to the semicolon, without attributes at the end.
    cat "$3"/*.h | awk '/^HOT_API / { sub("HOT_API ", ""); text = ""; on = 1 }
        on { text = text " " $0 }
        on && /;/ { sub("( (HOT_PRINTF|__attribute__)\\(.*\\))?;.*", " { __builtin_trap(); }", text)
                    print text
                    on = 0 }' >>"$1.c"
    cc -std=gnu11 -w -g -O0 -shared -fPIC -I "$1.include" -Wl,-soname,"$2" -o "$1.so" "$1.c"
    abidw --no-corpus-path --no-comp-dir-path --no-show-locs --type-id-style hash --no-write-default-sizes \
        --no-parameter-names --no-elf-needed --out-file "$1.abi" "$1.so"
    functions=$(cat "$3"/*.h | grep -c '^HOT_API ')
    [ "$(grep -c "<function-decl .*elf-symbol-id='hot_" "$1.abi")" = "$functions" ] ||
        { echo "not all of $functions functions were understood: $1.c"; exit 1; }
}

soname() { sed -n "1s/.*soname='\([^']*\)'.*/\1/p" "$1"; }

# growing HEADERS: the structs there that begin with their own size and may grow at their end. Not those that a function
# fills: it does not know for how long a struct its caller has room. Those that lie in another struct cannot grow
# either; abidiff tells of the other one.
growing() {
    cat "$1"/*.h | awk '/^typedef struct [a-z0-9_]+ \{/ { name = $3; getline; if (/^ *size_t size;/) print name }' |
        while read -r name; do
            cat "$1"/*.h | sed "s/const $name \*//g" | grep -q "[(, ]$name \*[a-z]" || echo "$name"
        done
}

# as_long KEPT NOW NAMES: NOW with these structs as long as they were; what they have beyond that is left out.
# (abidiff's own suppressions would hide what else has changed in them. A member where there was padding is told: older
# callers leave anything there.)
as_long() {
    /usr/bin/python3 - "$@" <<'END'
import re
import sys

kept, now = (open(path).read() for path in sys.argv[1:3])
member = re.compile(r" *<data-member [^>]*layout-offset-in-bits='(\d+)'>\s*<var-decl name='(\w*)'"
                    r".*?</data-member>\n", re.S)
for name in open(sys.argv[3]).read().split():
    struct = re.compile(r"(<class-decl name='%s' [^>]*size-in-bits=')(\d+)('[^>]*>\n)(.*?)(?=^ *</class-decl>)" % name,
                        re.S | re.M)
    was = struct.search(kept)
    if was and struct.search(now):
        size = int(was[2])
        now = struct.sub(lambda found: found[1] + str(min(size, int(found[2]))) + found[3] +
                         member.sub(lambda part: "" if int(part[1]) >= size else part[0], found[4]), now)
        # libabigail 2.6 writes sizes of typedefs, and hashes of types (below), too
        now = re.sub(r"(<typedef-decl name='%s' [^>]*size-in-bits=')(\d+)" % name,
                     lambda found: found[1] + str(min(size, int(found[2]))), now)
        old, new = ([(part[2], part[1]) for part in member.finditer(struct.search(text)[4])] for text in (kept, now))
        if old != new:  # abidiff takes another name at the same place for harmless
            sys.exit("%s: members (with their places in bits) were %s, now %s" % (name, old, new))
sys.stdout.write(re.sub(r" hash='[0-9a-f]+'", "", now))
END
}

# fits KEPT NOW HEADERS: whether programs that were linked with the one run with the other.
fits() {
    old=$(soname "$1") new=$(soname "$2")
    if [ "$old" != "$new" ]; then
        if [ "$(printf '%s\n' "$old" "$new" | sort -V | tail -n 1)" != "$new" ]; then
            echo "$new: kept is $old, which is newer"
            return 1
        fi
        echo "$new: kept is $old, so that programs are linked anew. What differs:"
        abidiff "$1" "$2" || true
        return 0
    fi
    growing "$3" >growing
    as_long "$1" "$2" growing >as_long.abi || return 1
    abidiff "$1" as_long.abi | sed -n 's/^ *\[A\]/new:/p'
    abidiff --no-added-syms "$1" as_long.abi
}

if [ "${1:-}" = --judge ]; then
    [ -f kept.abi ] || interface kept "$2" "$3"
    interface now "$4" "$5"
    fits kept.abi now.abi "$5"
    exit
fi
kept=$source/tests/abi/interface.abi.gz
update=
if [ "${1:-}" = --update ]; then
    update=1
    cd "$(mktemp -d)"
fi
version=$(sed -n 's/^project(hotfiber VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
case $version in
0.*) soversion=${version%.*} ;; # until 1.0 each MINOR has a soname
*) soversion=${version%%.*} ;;
esac
mkdir -p now.include/hotfiber
cp "$source"/*/include/hotfiber/*.h now.include/hotfiber
interface now "libhotfiber.so.$soversion" "$PWD/now.include/hotfiber"
failed=0
[ ! -f "$kept" ] || gzip -dc "$kept" >kept.abi
[ -f kept.abi ] || { [ -n "$update" ] && cp now.abi kept.abi; } || { echo "nothing is kept (--update)"; exit 1; }
fits kept.abi now.abi now.include/hotfiber || failed=1
[ -n "$update" ] || exit $failed
if [ $failed = 1 ] && grep -E "^## $soversion\.[0-9.]+" "$source/NEWS.md" | grep -qv '(unreleased)'; then
    echo "not kept: NEWS.md has a release with libhotfiber.so.$soversion, which this does not fit"
    exit 1
fi
gzip -9nc now.abi >"$kept"
