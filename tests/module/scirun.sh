# The SCIRun adapter, compiled against a stub of the headers it needs, sends what `hotfiber run` writes into files.
set -eu
[ -z "${HOT_SANITIZED:-}" ] || { echo "skipped: linked without the sanitizers' runtime"; exit 77; }
fail() { echo "not so: $*"; exit 1; }
same() { # the same samples in the same place
    teem-unu 2op - "$1" "$2" | teem-unu 1op abs | teem-unu minmax - >minmax.txt
    grep -q '^max: -*0$' minmax.txt || fail "$1 and $2 differ by $(sed -n 's/^max: //p' minmax.txt)"
    for field in space: "space directions:" "space origin:" sizes: type:; do
        [ "$(teem-unu head "$1" | grep "^$field")" = "$(teem-unu head "$2" | grep "^$field")" ] ||
            fail "$field $(teem-unu head "$1" | grep "^$field") and $(teem-unu head "$2" | grep "^$field")"
    done
}
for kind in "" "--oblique"; do
    "$HOTFIBER" phantom --layout bundles --size 14,14,8 --directions 40 $kind -o dwi.nrrd --quiet
    rm -rf out
    "$HOTFIBER" run -i dwi.nrrd -o out --outputs all,mask --seed 1 --quiet
    scirun_run dwi.nrrd sent >said.txt || fail "the module: $(cat said.txt)"
    for fiber in 1 2 3; do same "sent_$fiber.nrrd" "out/fiber_$fiber.nrrd"; done
    rm -f tensors.nrrd
    "$HOTFIBER" fit -i dwi.nrrd --mask out/mask.nii.gz --model adc --order 2 -o tensors.nrrd --quiet
    same sent_4.nrrd tensors.nrrd
    teem-unu head sent_4.nrrd | grep -q '^kinds: 3D-masked-symmetric-matrix' || fail "kinds of the tensors"
done
# the volumes first, as many writers have them, and in whole numbers
teem-unu permute -i dwi.nrrd -p 3 0 1 2 -o front.nrrd
scirun_run front.nrrd sent >said.txt || fail "volumes first: $(cat said.txt)"
same sent_1.nrrd out/fiber_1.nrrd
# fewer fibres: the third field exists, and is empty
scirun_run dwi.nrrd few 2 maxima >said.txt || fail "two fibres: $(cat said.txt)"
teem-unu minmax few_3.nrrd | grep -q '^max: 0' || fail "a third fibre of two"
# the stop button: a warning and no output
scirun_run dwi.nrrd no 3 signal stop >said.txt && fail "it was not stopped"
grep -q '^warning: stopped' said.txt && ! grep -q '^error' said.txt || fail "stopped: $(cat said.txt)"
[ ! -e no_1.nrrd ] || fail "it was stopped and sent fields"
# errors about other data and impossible options
scirun_run out/tensors.nrrd no >said.txt && fail "tensors were taken"
grep -q '^error: .*DWMRI' said.txt || fail "tensors: $(cat said.txt)"
scirun_run dwi.nrrd no 9 signal >said.txt && fail "nine fibres"
grep -q '^error: .*at most 3' said.txt || fail "nine fibres: $(cat said.txt)"
# the .module file is JSON and names the header where the README puts it
python3 - "$HOT_SOURCE/plugin/module/scirun" <<'PYTHON'
import json, os, sys
folder = sys.argv[1]
about = json.load(open(os.path.join(folder, "FindFiberDirections.module")))
assert about["module"]["name"] == "FindFiberDirections" and about["module"]["namespace"] == "Teem"
assert about["module"]["header"] == "Modules/Legacy/Teem/HotFiber/FindFiberDirections.h"
text = open(os.path.join(folder, "CMakeLists.txt")).read()
assert "Modules_Legacy_Teem_HotFiber" in text and "FindFiberDirections.cc" in text
PYTHON
