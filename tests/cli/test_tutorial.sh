# The commands of docs/tutorial, in their order and unchanged, on the real scan that they name; and the printed lines.
set -eu
command -v tckgen >/dev/null || { echo "skipped: no MRtrix"; [ -z "${HOT_ALL_READERS:-}" ]; exit 77; }
[ -f /usr/lib/python3/dist-packages/dipy/data/files/small_64D.nii ] ||
    { echo "skipped: no python3-dipy (Debian's package)"; [ -z "${HOT_ALL_READERS:-}" ]; exit 77; }
failed=0
rm -rf work && mkdir work && cd work
page=$HOT_SOURCE/docs/tutorial/README.md
sed -n 's/^    //p' "$page" >commands.txt
[ "$(wc -l <commands.txt)" -ge 15 ] || { echo "not so: few commands"; failed=1; }
: >all.txt
while IFS= read -r line; do
    if ! bash -ec "$line" >out.txt 2>&1 </dev/null; then
        echo "not so: $line"
        tail -c 300 out.txt
        failed=1
    fi
    cat out.txt >>all.txt
done <commands.txt
# Lines of the page's output, up to "...", were printed.
sed -n '/^```text$/,/^```$/p' "$page" | grep -v '^```' | sed 's/ *\.\.\.$//' >printed.txt
[ "$(wc -l <printed.txt)" -ge 8 ] || { echo "not so: few lines of output"; failed=1; }
while IFS= read -r line; do
    grep -qF -- "$line" all.txt || { echo "not so: printed: $line"; failed=1; }
done <printed.txt
[ "$(tckinfo -quiet -count tracks.tck | sed -n 's/.*actual count in file: *//p')" = 300 ] ||
    { echo "not so: 300 tracks"; failed=1; }
exit $failed
