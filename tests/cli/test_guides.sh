# The commands of the guides, in their order, and the program of c.md, unchanged. A command of a program that is not
# installed (FSL, TractSeg, scilpy) is named and left out.
set -eu
command -v bash >/dev/null || { echo "skipped: no bash"; exit 77; }
command -v tckgen >/dev/null || { echo "skipped: no MRtrix"; [ -z "${HOT_ALL_READERS:-}" ]; exit 77; }
failed=0
guides=$HOT_SOURCE/docs/guides
hotfiber phantom --layout bundles --size 12,10,5 --directions 48 -b 1000,3000 --snr 30 --quiet -o dwi.nii.gz
for subject in sub-01 sub-02; do
    for suffix in nii.gz bval bvec; do cp dwi.$suffix $subject.$suffix; done
done
for end in nii.gz bval bvec; do cp dwi.$end sub-01_space-T1w_desc-preproc_dwi.$end; done
mrinfo -quiet dwi.nii.gz -fslgrad dwi.bvec dwi.bval -export_grad_mrtrix sub-01_space-T1w_desc-preproc_dwi.b
hotfiber run dwi.nii.gz -o masked --outputs mask --model adc --no_report --quiet
cp masked/mask.nii.gz sub-01_space-T1w_desc-brain_mask.nii.gz
cp masked/mask.nii.gz roi.nii.gz
hotfiber phantom --layout bundles --size 12,10,5 --directions 48 -b 1000,3000 --snr 30 --quiet -o dwi.nhdr
for guide in mrtrix cohorts after fsl tractseg scilpy qsiprep slicer paraview; do
    sed -n 's/^    //p' "$guides/$guide.md" >commands.txt
    [ "$(wc -l <commands.txt)" -ge 2 ] || { echo "not so: few commands in $guide.md"; failed=1; }
    case $guide in mrtrix|cohorts) ;; *) rm -rf out multi sub-01 *.tck ;; esac
    while IFS= read -r line; do
        case $line in
        "hotfiber-bids STUDY"*) continue ;; # test_bids.py
        probtrackx2*|TractSeg*|Tracking*|scil_*)
            command -v "${line%% *}" >/dev/null || { echo "not run, ${line%% *} is not installed: $line"; continue; } ;;
        esac
        if ! bash -ec "$line" >out.txt 2>errors.txt </dev/null; then
            if grep -q "No module named" errors.txt && grep -qi "mrtrix" errors.txt; then # shipped broken by Debian 13
                echo "not run, this MRtrix's ${line%% *} does not start ($(tail -n 1 errors.txt)): $line"
                [ "${line%% *}" != responsemean ] || cp sub-01.response.txt group.txt
                continue
            fi
            echo "not so: $guide.md: $line"
            tail -c 300 errors.txt
            failed=1
        fi
    done <commands.txt
    case $guide in
    mrtrix) [ "$(tckinfo -quiet -count tracks.tck | sed -n 's/.*actual count in file: *//p')" = 200 ] ||
                { echo "not so: 200 tracks"; failed=1; } ;;
    cohorts) [ -f sub-02/afd_total.nii.gz ] || { echo "not so: maps of the second subject"; failed=1; } ;;
    after) [ "$(grep -c . connectome.csv)" = 2 ] && ! grep -q '^0,0$' connectome.csv ||
               { echo "not so: a connectome of two regions: $(cat connectome.csv)"; failed=1; }
           mrcalc -quiet peaks_fod.nii.gz out/peaks_fod.nii.gz -sub -abs difference.mif
           mrstats -quiet difference.mif -output max | awk '!($1 < 1e-4) { bad = 1 } END { exit bad }' ||
               { echo "not so: peaks_fod made later is the same"; failed=1; } ;;
    fsl) for name in merged_th1samples merged_ph1samples merged_f1samples nodif_brain_mask; do
             [ -f out/bedpostx/$name.nii.gz ] || { echo "not so: no bedpostx/$name.nii.gz"; failed=1; }
         done ;;
    tractseg) [ "$(mrinfo -quiet -size out/peaks_fod.nii.gz | awk '{print $4}')" = 9 ] ||
                  { echo "not so: nine volumes for TractSeg"; failed=1; } ;;
    slicer) grep -q PolyData out/fibers.vtp && grep -q PolyData glyphs.vtp ||
                { echo "not so: models for Slicer"; failed=1; } ;;
    paraview)
        if /usr/bin/python3 -c "import vtkmodules" 2>/dev/null; then
            sed -n '/^```python vtk$/,/^```$/p' "$guides/paraview.md" | sed '1d;$d' >sticks.py
            /usr/bin/python3 sticks.py && grep -q PolyData sticks.vtp || { echo "not so: sticks by VTK"; failed=1; }
        else
            echo "not run, VTK is not installed: the program of paraview.md"
        fi ;;
    esac
done
sed -n '/^```c$/,/^```$/p' "$guides/c.md" | sed '1d;$d' >first.c
cp "$HOT_SOURCE"/sample_data/phantom.nhdr "$HOT_SOURCE"/sample_data/phantom.raw.gz .
cc -std=c11 -Wall -Wextra -Werror -I "$HOT_SOURCE/plugin/include" -I "$HOT_SOURCE/kernels/include" first.c \
    -L "$HOT_BUILD/lib" -Wl,-rpath,"$HOT_BUILD/lib" -lhotfiber -lhotkernels -o first &&
    ./first >first.txt && grep -q 'with one fibre' first.txt || { echo "not so: the program of c.md"; failed=1; }
exit $failed
