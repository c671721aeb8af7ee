# Other programs read hotfiber-bids' output: the BIDS validator finds no error, and pybids the maps with their metadata.
# Both are from PyPI; without it the test is skipped. As installing them takes most of its time, only the long form
# (HOT_TEST_LONG=1) does so; cli_bids checks names and sidecars, too.
set -eu
tools=$HOT_BUILD/bids-python
[ -x "$tools/bin/bids-validator-deno" ] && "$tools/bin/python" -c 'import bids' 2>/dev/null || {
    [ -n "${HOT_TEST_LONG:-}" ] || { echo "skipped: the long form installs bids-validator-deno and pybids"; exit 77; }
    rm -rf "$tools"
    { /usr/bin/python3 -m venv --system-site-packages "$tools" &&
        "$tools/bin/pip" install --quiet --no-compile bids-validator-deno pybids; } >tools.log 2>&1 || {
        echo "skipped: pip cannot install bids-validator-deno and pybids: $(tail -n 1 tools.log)"
        rm -rf "$tools"
        exit 77
    }
}
phantom() {
    mkdir -p "$(dirname "$1")"
    "$HOTFIBER" phantom --layout bundles --size 9,9,3 -b 1000,3000 --directions 30 --seed "$2" -o "$1" --quiet
}
mkdir -p raw
echo '{"Name": "phantoms", "BIDSVersion": "1.10.0", "DatasetType": "raw"}' >raw/dataset_description.json
phantom raw/sub-01/ses-1/dwi/sub-01_ses-1_dir-AP_run-1_dwi.nii.gz 1
phantom raw/sub-02/dwi/sub-02_dwi.nii.gz 2
rm raw/sub-02/dwi/sub-02_dwi.bvec
phantom raw/sub-03/dwi/sub-03_dwi.nii.gz 3
bids=$(dirname "$HOTFIBER")/hotfiber-bids
status=0
# Here it looks for the validator, and says what that finds in raw data that lack a table.
PATH=$tools/bin:$PATH "$bids" raw raw/derivatives/hotfiber participant >out.txt 2>errors.txt || status=$?
[ $status = 1 ] && grep -q 'bids-validator-deno: .*is not valid BIDS (.*DWI_MISSING_BVEC' errors.txt ||
    { echo "not so: $status, the raw data are validated"; cat errors.txt; exit 1; }
"$bids" raw raw/derivatives/hotfiber participant --participant-label 01 --skip-bids-validation --force \
    --hotfiber-options="--outputs all,maps,cone,cone_axes,fraction_sd,isotropic,free_water,noise_sd,peaks_fod \
    --samples 5 --denoise" >all.txt
"$bids" raw raw/derivatives/hotfiber group >group.txt 2>&1 || true
cd raw/derivatives
"$tools/bin/bids-validator-deno" hotfiber >../../validator.txt 2>&1 && ! grep -q 'ERROR\]' ../../validator.txt || {
    cat ../../validator.txt
    exit 1
}
! grep 'WARNING\]' ../../validator.txt | grep -v TOO_FEW_AUTHORS || { echo "not so: the validator warns"; exit 1; }
# It reads them: a sidecar without its image is an error.
cp -r hotfiber worse
mv worse/sub-03/dwi/sub-03_S0map.nii.gz worse/sub-03/dwi/sub-03_odd.nii.gz
! "$tools/bin/bids-validator-deno" worse >/dev/null 2>&1 || { echo "not so: it sees a wrong name"; exit 1; }
rm -r worse
"$tools/bin/python" - <<'PROGRAM'
import json

from bids import BIDSLayout

# pybids does not know this entity of BEP016 yet, and without it takes all sidecars of a scan for those of each map.
entities = [{"name": name, "pattern": rf"_{name}-([a-zA-Z0-9]+)"} for name in ("param",)]
json.dump({"name": "bep016", "entities": entities}, open("bep016.json", "w"))
layout = BIDSLayout("hotfiber", validate=False, config=["bids", "derivatives", "bep016.json"], is_derivative=True)
assert layout.get_subjects() == ["01", "03"] or layout.get_subjects() == ["01", "02", "03"], layout.get_subjects()
maps = layout.get(suffix="dwimap", extension=".nii.gz", subject="01", session="1")
assert len(maps) > 12, maps
direction, = layout.get(suffix="dwimap", extension=".nii.gz", subject="01", param="direction")
about = direction.get_metadata()
assert about["OrientationEncoding"]["Type"] == "3vector" and about["Model"]["Parameters"]["method"] == "signal", about
# By inheritance what is true of the whole model is true of each map.
assert about["ResponseFunction"]["Type"] == "zsh" and "counts" in about["HotfiberReport"], about
assert direction.get_entities()["run"] == 1 and direction.get_entities()["direction"] == "AP", direction.get_entities()
mask, = layout.get(suffix="mask", extension=".nii.gz", subject="03")
assert mask.get_metadata()["Type"] == "Brain" and mask.entities["desc"] == "brain", mask.get_metadata()
print(len(maps), "maps")
PROGRAM
echo "1 passed, 0 failed"
