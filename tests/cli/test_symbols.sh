# Every global symbol of the libraries has the prefix, so that it cannot clash with a host's.
set -eu
failed=0
# libhotview, libhotvtk and the Python package are there where what they need is.
for library in "$HOT_BUILD"/lib/libhotkernels.so "$HOT_BUILD"/lib/libhotfiber.so \
    $(ls "$HOT_BUILD"/lib/libhotv*.so "$HOT_BUILD"/python/hotfiber/*.so 2>/dev/null); do
    [ -f "$library" ] || { echo "not there: $library"; exit 1; }
    symbols=$(nm -D --defined-only "$library" | awk '$2 != "A" { print $NF }' | sed 's/@.*//')
    case $library in # libraries to be linked with say of which version a symbol is; the module's host looks up names
    */libhotkernels.so | */libhotfiber.so | */libhotview.so)
        without=$(nm -D --defined-only "$library" | awk '$2 != "A" { print $NF }' |
            grep -c -v '@@HOTFIBER_[0-9P]' || true)
        [ "$without" = 0 ] || { echo "$without symbols of $library have no version"; failed=1; } ;;
    esac
    [ -n "$symbols" ] || { echo "no symbols in $library"; exit 1; }
    # The sanitizers' build exports a few of the compiler's own.
    strangers=$(printf '%s\n' "$symbols" |
        grep -v -E '^hot_|^__(asan|ubsan|odr_asan|start|stop)|^_(init|fini)$' || true)
    if [ -n "$strangers" ]; then
        echo "symbols of $library without the prefix hot_:"
        printf '%s\n' "$strangers" | head -n 20
        failed=1
    fi
done

# In the public node is what the public headers declare, neither less nor more; in the private one is the rest. (The
# sanitizers' build exports a few of the compiler's own.)
cc=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$HOT_BUILD/CMakeCache.txt")
folders="kernels plugin"
[ ! -f "$HOT_BUILD/lib/libhotview.so" ] || folders="$folders viz"
for folder in $folders; do
    (cd "$HOT_SOURCE/$folder/include" && ls hotfiber/*.h | sed 's/.*/#include <&>/')
done >headers.c
"$cc" -E -P -I "$HOT_SOURCE/kernels/include" -I "$HOT_SOURCE/plugin/include" -I "$HOT_SOURCE/viz/include" headers.c |
    tr '\n' ' ' | sed 's/[;{}]/\n/g' | sed -n 's/.*visibility("default")))[^(]*[ *]\(hot_[a-z0-9_]*\) *(.*/\1/p' |
    LC_ALL=C sort >declared
[ "$(wc -l <declared)" -gt 150 ] || { echo "only $(wc -l <declared) functions in the headers"; failed=1; }
for library in hotkernels hotarrays hotfiber $(ls "$HOT_BUILD/lib/libhotview.so" 2>/dev/null | sed 's/.*/hotview/'); do
    nm -D --defined-only "$HOT_BUILD/lib/lib$library.so" | awk '$2 != "A" { print $NF }'
done >symbols
sed -n 's/@@HOTFIBER_[0-9.]*$//p' symbols | LC_ALL=C sort >public
diff declared public || { echo "(left: declared in a header, right: in the public node)"; failed=1; }
grep -q '^hot_.*@@HOTFIBER_PRIVATE_' symbols || { echo "no symbol is private"; failed=1; }
module=$HOT_BUILD/lib/libHotFiberLib.so # a host sees the interface alone, too
if [ -f "$module" ]; then
    nm -D --defined-only "$module" | awk '$2 != "A" { print $NF }' | grep '^hot_' | LC_ALL=C sort >shown || true
    strangers=$(LC_ALL=C comm -13 declared shown)
    [ -z "$strangers" ] || { echo "shown by $module, but in no header:" $strangers; failed=1; }
fi
exit $failed
