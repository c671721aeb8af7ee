/* peaks: the directions themselves. */
#include "formats.h"

const hot_export_format hot_format_peaks = {
    .name = "peaks",
    .suffix = ".nii.gz|.nii|.nrrd|.nhdr",
    .help = "directions, 3 values per fibre: NIfTI in scanner axes (MRtrix, DSI Studio, TractSeg, COMMIT) or NRRD",
    .write = hot_fiber_field_save,
};
