# Visible: the symbols that a host looks up, and hot_*. Hidden: everything of Teem, and main.
set -eu
library=$HOT_BUILD/lib/libHotFiberLib.so
nm -D --defined-only "$library" | awk '{ print $NF }' | sed 's/@.*//' | sort >visible.txt
for name in XMLModuleDescription ModuleEntryPoint GetModuleLogo; do
    grep -qx "$name" visible.txt || { echo "not visible: $name"; exit 1; }
done
hosts='XMLModuleDescription|ModuleEntryPoint|GetModuleLogo|ModuleLogo(Image|Width|Height|PixelSize|Length)'
strangers=$(grep -v -E "^hot_|^($hosts)\$|^__(asan|ubsan|odr_asan|start|stop)|^_(init|fini)\$" visible.txt || true)
[ -z "$strangers" ] || { echo "visible as well:"; echo "$strangers"; exit 1; }
# The description is the text itself, not a pointer to it: its size is that of the XML.
size=$(nm -D -S --defined-only "$library" | awk '$NF == "XMLModuleDescription" { print $2 }')
[ "$((0x$size))" -gt 4000 ] || { echo "XMLModuleDescription has $((0x$size)) bytes: no array"; exit 1; }
readelf -d "$library" >dynamic.txt
grep -q 'FLAGS.*SYMBOLIC' dynamic.txt || { echo "not linked with -Bsymbolic"; cat dynamic.txt; exit 1; }
grep -q 'NODELETE' dynamic.txt || { echo "not linked with -z nodelete"; cat dynamic.txt; exit 1; }
if grep -q 'NEEDED.*libcuda\.' dynamic.txt; then echo "needs a GPU's driver to load"; exit 1; fi
