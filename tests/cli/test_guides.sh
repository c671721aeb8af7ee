# The commands of docs/guides/mrtrix.md and cohorts.md, in their order, and the program of c.md, as they stand.
set -eu
command -v bash >/dev/null || { echo "skipped: no bash"; exit 77; }
command -v tckgen >/dev/null || { echo "skipped: no MRtrix"; [ -z "${HOT_ALL_READERS:-}" ]; exit 77; }
failed=0
guides=$HOT_SOURCE/docs/guides
hotfiber phantom --layout bundles --size 12,10,5 --directions 48 -b 1000,3000 --snr 30 --quiet -o dwi.nii.gz
for subject in sub-01 sub-02; do
    for suffix in nii.gz bval bvec; do cp dwi.$suffix $subject.$suffix; done
done
for guide in mrtrix cohorts; do
    sed -n 's/^    //p' "$guides/$guide.md" >commands.txt
    [ "$(wc -l <commands.txt)" -ge 5 ] || { echo "not so: few commands in $guide.md"; failed=1; }
    while IFS= read -r line; do
        if ! bash -ec "$line" >out.txt 2>errors.txt </dev/null; then
            echo "not so: $line"
            tail -c 300 errors.txt
            failed=1
        fi
    done <commands.txt
done
[ "$(tckinfo -quiet -count tracks.tck | sed -n 's/.*actual count in file: *//p')" = 200 ] ||
    { echo "not so: 200 tracks"; failed=1; }
[ -f sub-02/afd_total.nii.gz ] || { echo "not so: maps of the second subject"; failed=1; }

sed -n '/^```c$/,/^```$/p' "$guides/c.md" | sed '1d;$d' >first.c
cp "$HOT_SOURCE"/sample_data/phantom.nhdr "$HOT_SOURCE"/sample_data/phantom.raw.gz .
cc -std=c11 -Wall -Wextra -Werror -I "$HOT_SOURCE/plugin/include" -I "$HOT_SOURCE/kernels/include" first.c \
    -L "$HOT_BUILD/lib" -Wl,-rpath,"$HOT_BUILD/lib" -lhotfiber -lhotkernels -o first &&
    ./first >first.txt && grep -q 'with one fibre' first.txt || { echo "not so: the program of c.md"; failed=1; }
exit $failed
