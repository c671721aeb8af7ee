# The worked example of a host, on a phantom.
set -eu
"$HOTFIBER" phantom --layout bundles --size 28,28,10 --directions 30 -o dwi.nrrd --quiet
example_host "$HOT_BUILD/lib/libHotFiberLib.so" dwi.nrrd out >said.txt 2>errors.txt ||
    { cat said.txt errors.txt; exit 1; }
[ "$(tail -n 1 said.txt)" = "all as it should be" ] || { cat said.txt; exit 1; }
[ ! -s errors.txt ] || { echo "something was printed in-process:"; cat errors.txt; exit 1; }
grep -q '^aborted run: status 1 .*cancelled' said.txt || { cat said.txt; exit 1; }
rm said.txt errors.txt dwi.nrrd out_first.nrrd out_third.nrrd
[ -z "$(ls -A)" ] || { echo "left:"; ls -A; exit 1; }
