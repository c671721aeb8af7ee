# hotfiber-view without a display: inputs, pictures and series, errors, a missing viewer.
set -eu
unset DISPLAY WAYLAND_DISPLAY 2>/dev/null || true
fail() { echo "not so: $*"; exit 1; }
rm -rf work && mkdir work && cd work
view() { "$HOTFIBER" view "$@" --quiet; }
# refused STATUS WORDS ARGUMENTS...: fails with this status and one line that contains WORDS
refused() {
    wanted=$1 words=$2
    shift 2
    status=0
    view "$@" >out.txt 2>err.txt || status=$?
    [ $status = "$wanted" ] || fail "$*: status $status, not $wanted: $(cat err.txt)"
    [ "$(wc -l <err.txt)" = 1 ] || fail "$*: not one line: $(cat err.txt)"
    grep -q -e "$words" err.txt || fail "$*: should say '$words': $(cat err.txt)"
    [ ! -s out.txt ] || fail "$*: standard output"
}
png() { [ "$(head -c 4 "$1" | tail -c 3)" = PNG ] || fail "$1 is no PNG"; }
# Equal pictures have equal PNG bytes.
other() { ! cmp -s "$1" "$2" || fail "$1 and $2 are the same picture"; }

"$HOTFIBER" phantom --voxels 8 --seed 3 --quiet -o dwi.nrrd
"$HOTFIBER" run -i dwi.nrrd -o run --outputs default,tensors,vtp --quiet >/dev/null 2>&1
# every kind of input
view run --screenshot run.png --size 200x150
view run/tensors.nrrd --screenshot tensors.png --size 200x150
view run/peaks.nrrd --screenshot peaks.png --size 200x150
view run/peaks.nii.gz --screenshot nifti.png --size 200x150
view run/fibers.vtp --screenshot vtp.png --size 200x150
view run/tensors.nrrd run/peaks.nii.gz run/nfibers.nii.gz --background nfibers --screenshot files.png --size 200x150
for name in run tensors peaks nifti vtp files; do png $name.png; done
other run.png tensors.png
other tensors.png peaks.png
other peaks.png vtp.png
# the same directions through NRRD (its own space) and NIfTI (RAS) are the same picture
cmp peaks.png nifti.png || fail "directions of NRRD and NIfTI differ on the screen"
# links are followed and kept; no temporary file remains
ln -s run.png linked.png
cp run.png before.png
view run/peaks.nrrd --screenshot linked.png --size 200x150
[ -L linked.png ] && cmp run.png peaks.png || fail "a picture through a link"
view run --screenshot run.png --size 200x150
cmp run.png before.png || fail "the same picture again"
[ -z "$(ls -A | grep part-)" ] || fail "left: $(ls -A | grep part-)"
# standard output and series
view run --screenshot - --size 200x150 >piped.png
cmp run.png piped.png || fail "a picture to standard output"
view run --turntable 3 --screenshot turn.png --size 100x100
for n in 000 001 002; do png turn-$n.png; done
other turn-000.png turn-001.png
[ ! -e turn.png ] || fail "turn.png in addition to the series"

# larger than a texture, with its resolution; letters grow with the picture
view run --screenshot large.png --size 9000x40 --dpi 300
png large.png
grep -a -q pHYs large.png || fail "--dpi"
grep -a -q pHYs run.png && fail "a resolution that nobody asked for"

# missing folders are created
view run --screenshot made/for/it.png --size 20x20
png made/for/it.png

# errors
refused 2 'directory of' --screenshot x.png
refused 1 'No such file' nothing.nrrd --screenshot x.png
mkfifo pipe.nii
refused 1 'pipe or a device' pipe.nii --screenshot x.png
refused 2 'WIDTHxHEIGHT' run --screenshot x.png --size 10
refused 2 'WIDTHxHEIGHT' run --screenshot x.png --size 0x10
refused 2 'each 1 to 65536' run --screenshot x.png --size 65537x10
refused 2 'axial, sagittal or coronal' run --screenshot x.png --plane front
refused 1 'outside' run --screenshot x.png --slice 4000
refused 1 'amplitude' run --screenshot x.png --background t9
refused 2 'turntable' run --turntable 3
refused 1 'Not a directory' run --screenshot run/report.json/x.png --size 20x20
refused 2 'PNG' run --screenshot x.jpg
refused 1 'not an NRRD file' run/report.json --screenshot x.png
for name in vtp_beyond_lattice:lattice vtp_sparse:'would be needed'; do # fuzz inputs, after their first letter
    tail -c +2 "$HOT_SOURCE/tests/fuzz/corpus/view/${name%%:*}" >bad.vtp
    refused 1 "${name#*:}" bad.vtp --screenshot x.png
done
refused 1 'outputs default,tensors' run/peaks.nrrd --glyph surface --screenshot x.png
refused 1 'hotfiber peaks' run/tensors.nrrd --glyph sticks --screenshot x.png
"$HOTFIBER" export run/tensors.nrrd -o surfaces.vtp --format glyphs --quiet
refused 1 'holds surfaces: view the tensors' surfaces.vtp --screenshot x.png
mkdir empty
refused 1 'tensors.nrrd' empty --screenshot x.png
head -c 3000 run/tensors.nrrd >cut.nrrd
refused 1 'cut.nrrd' cut.nrrd --screenshot x.png
head -c 1500 run/fibers.vtp >cut.vtp
refused 1 'truncated' cut.vtp --screenshot x.png
head -c 200 run/peaks.nii.gz >cut.nii.gz
refused 1 'cut.nii.gz' cut.nii.gz --screenshot x.png
"$HOTFIBER" phantom --voxels 4 --seed 3 --quiet | "$HOTFIBER" fit --order 4 --quiet |
    "$HOTFIBER" peaks --quiet -o small.nrrd
refused 1 'belong together' run/tensors.nrrd small.nrrd --screenshot x.png
[ ! -e x.png ] || fail "a picture after an error"
! ls .x.png* x.png.part* >/dev/null 2>&1 || fail "a part of a picture is left"
# a window without a display; a picture without a driver
refused 1 'display\|DISPLAY\|GLFW' run
status=0
__EGL_VENDOR_LIBRARY_FILENAMES=/nonexistent.json "$HOTFIBER" view run --screenshot x.png --quiet 2>err.txt || status=$?
[ $status = 1 ] && grep -q 'EGL' err.txt || fail "without EGL: status $status: $(cat err.txt)"

# `hotfiber view` without an installed viewer
mkdir alone
cp "$HOTFIBER" alone/
status=0
PATH=/usr/bin:/bin alone/hotfiber view run 2>err.txt || status=$?
[ $status = 1 ] && grep -q 'libepoxy' err.txt || fail "without hotfiber-view: status $status: $(cat err.txt)"
