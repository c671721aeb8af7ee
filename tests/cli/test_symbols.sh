# Every global symbol of the libraries bears the prefix: nothing of ours meets anything of a host's.
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
            grep -c -v '@@HOTFIBER_[0-9]' || true)
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
exit $failed
