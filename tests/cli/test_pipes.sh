# Stages pipe into each other and through Teem's tools.
set -eu
command -v teem-unu >/dev/null || { echo "skipped: teem-unu is not installed"; exit 77; }
export LC_ALL=C
fail() { echo "not so: $*"; exit 1; }
# A pipe fails when any of its parts does.
part() { "$@" || { echo "$1 $2" >>failed; return 1; }; }
rm -rf work && mkdir work && cd work
phantom() { part "$HOTFIBER" phantom --voxels 10 --quiet "$@"; }

phantom | part "$HOTFIBER" fit --order 4 --model fod --quiet | part "$HOTFIBER" peaks --quiet |
    part teem-unu head - >head.txt
[ ! -e failed ] || fail "plain pipe: $(cat failed)"
grep -q '^sizes: 9 10 6 1' head.txt || fail "sizes of the directions: $(cat head.txt)"

# The same through files, and through Teem's tools in the middle: the same bytes.
phantom -o dwi.nrrd
part "$HOTFIBER" fit -i dwi.nrrd -o tensors.nrrd --order 4 --model fod --quiet
part "$HOTFIBER" peaks -i tensors.nrrd -o peaks.nrrd --quiet
phantom | part teem-unu save -f nrrd -e gzip | part "$HOTFIBER" fit --order 4 --model fod --quiet |
    part teem-unu save -f nrrd -e raw -en big | part "$HOTFIBER" peaks --quiet |
    part teem-unu save -f nrrd -o piped.nrrd
[ ! -e failed ] || fail "pipe through unu: $(cat failed)"
part teem-unu 2op - peaks.nrrd piped.nrrd | part teem-unu 1op abs | part teem-unu minmax - >minmax.txt
grep -q '^max: -*0$' minmax.txt || fail "directions through unu differ: $(cat minmax.txt)"

# The list axis moved by Teem, the samples in another type: the same directions.
part teem-unu permute -i dwi.nrrd -p 3 0 1 2 -o front.nrrd
part "$HOTFIBER" fit -i front.nrrd --order 4 --model fod --quiet | part "$HOTFIBER" peaks --quiet -o front_peaks.nrrd
part teem-unu 2op - peaks.nrrd front_peaks.nrrd | part teem-unu 1op abs | part teem-unu minmax - >minmax.txt
grep -q '^max: -*0$' minmax.txt || fail "list axis in front: $(cat minmax.txt)"

# Order 2: Teem's own tensors go in, and its eigenvectors agree with the directions that we find in them and in the
# data.
phantom --snr 0 --single | part teem-tend estim -B kvp -knownB0 false -t 0 -soft 0 -o tend.nrrd 2>/dev/null
part teem-tend evec -c 0 -t 0.5 -i tend.nrrd -o evec.nrrd >/dev/null 2>&1 || fail "tend evec"
part "$HOTFIBER" peaks -i tend.nrrd --quiet --max_fibers 1 | part teem-unu axinfo -a 0 -k none -o theirs.nrrd
phantom --snr 0 --single | part "$HOTFIBER" fit --model adc --order 2 --quiet |
    part "$HOTFIBER" peaks --quiet --max_fibers 1 |
    part teem-unu axinfo -a 0 -k none -o ours.nrrd
[ ! -e failed ] || fail "tend: $(cat failed)"
# |cosine| between the eigenvector and our direction, made unit length, over all voxels
for name in theirs ours; do
    part teem-unu project -i $name.nrrd -a 0 -m l2 -o length.nrrd
    part teem-unu 2op x evec.nrrd $name.nrrd | part teem-unu project -a 0 -m sum | part teem-unu 1op abs |
        part teem-unu 2op / - length.nrrd | part teem-unu minmax - >minmax.txt
    lowest=$(sed -n 's/^min: //p' minmax.txt)
    awk -v x="$lowest" 'BEGIN { exit !(x > .99999 && x < 1.00001) }' ||
        fail "eigenvectors of tend and $name: |cosine| from $lowest"
done

# A pipe that closes: a message and status 1, no death by a signal. More data than a pipe holds, so that it is noticed.
{ "$HOTFIBER" phantom --voxels 2000 --quiet 2>errors.txt && echo 0 >status.txt || echo $? >status.txt; } |
    head -c 100 >/dev/null
[ "$(cat status.txt)" = 1 ] || fail "closed pipe: status $(cat status.txt): $(cat errors.txt)"
[ "$(wc -l <errors.txt)" = 1 ] || fail "closed pipe: $(cat errors.txt)"
{ "$HOTFIBER" fit -i dwi.nrrd --model adc --order 8 --quiet 2>errors.txt && echo 0 >status.txt ||
    echo $? >status.txt; } | true
case $(cat status.txt) in 0 | 1) ;; *) fail "closed pipe: status $(cat status.txt)" ;; esac
"$HOTFIBER" fit -i dwi.nrrd --model adc --order 4 --quiet >/dev/full 2>errors.txt &&
    fail "a full disk at the end of a pipe"
grep -q 'No space' errors.txt || fail "full disk: $(cat errors.txt)"
"$HOTFIBER" info -i dwi.nrrd >/dev/full 2>errors.txt && fail "info to a full disk"
"$HOTFIBER" response -i dwi.nrrd --quiet >response.txt || fail "response to a pipe"
[ -s response.txt ] || fail "response is empty"
"$HOTFIBER" fit -i dwi.nrrd --order 4 --quiet --response response.txt | part "$HOTFIBER" peaks --quiet >again.nrrd
[ -s again.nrrd ] || fail "fit with a response from a pipe"
