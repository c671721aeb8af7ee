# The module in the process of a host that is not kind to it.
set -eu
"$HOTFIBER" phantom --layout bundles --size 12,12,5 --directions 30 -o dwi.nrrd --quiet
test_module_other_teem "$HOT_BUILD/lib/libHotFiberLib.so" dwi.nrrd
test_module_host "$HOT_BUILD/lib/libHotFiberLib.so" dwi.nrrd
rm -f dwi.nrrd zero.nrrd small.nrrd broken.nrrd printed.txt
[ -z "$(ls -A)" ] || { echo "left:"; ls -A; exit 1; }
