# Every command of docs/pipes.md, in its order, in a folder like sample_data/: each must work unchanged.
set -eu
command -v bash >/dev/null || { echo "skipped: no bash for pipefail"; exit 77; }
failed=0
cp "$HOT_SOURCE"/sample_data/phantom.nhdr "$HOT_SOURCE"/sample_data/phantom.raw.gz .
# A line that ends in a bar continues in the next one.
sed -n 's/^    //p' "$HOT_SOURCE/docs/pipes.md" | sed ':a;/|$/{N;s/\n */ /;ba;}' >commands.txt
[ "$(wc -l <commands.txt)" -ge 18 ] || { echo "only $(wc -l <commands.txt) commands in docs/pipes.md"; exit 1; }
while IFS= read -r line; do
    if ! bash -c "set -o pipefail; $line" >out.txt 2>errors.txt </dev/null; then
        echo "not so: $line"
        tail -c 300 errors.txt
        failed=1
    fi
done <commands.txt
[ $failed = 0 ] || exit 1

# Each stage took part, in both directions.
for stage in info convert phantom denoise response fit peaks eig score run export; do
    grep -q "hotfiber $stage" commands.txt || { echo "not so: no example with $stage"; failed=1; }
done
grep -q '| hotfiber' commands.txt && grep -q 'hotfiber.*| teem-unu' commands.txt &&
    grep -q 'hotfiber.*| teem-tend' commands.txt &&
    grep -q 'teem-tend.*| hotfiber' commands.txt || { echo "not so: a direction is missing"; failed=1; }

# And what came out is sense.
strength=$(teem-unu minmax strength.png | sed -n 's/^max: //p')
[ "${strength%%.*}" -ge 100 ] || { echo "not so: the strongest fibre of the picture has $strength of 255"; failed=1; }
highest=$(teem-unu minmax fa.nrrd | sed -n 's/^max: //p')
awk -v x="$highest" 'BEGIN { exit !(x > .5 && x < 1.5) }' || { echo "not so: highest anisotropy $highest"; failed=1; }
exit $failed
