#include "io/common/formats.h"
#include "common/entry.h"

#include <ctype.h>
#include <string.h>

/* The formats of hot_image_save. */
#define VOLUMES ".nii.gz|.nii|.mif|.mif.gz|.mih"
#define IMAGE VOLUMES "|.nrrd|.nhdr"
#define FORMAT(...) &(const hot_export_format){__VA_ARGS__}

/* Of formats that share a suffix, the one that a file name alone means comes first. */
static const hot_export_format *const formats[] = {
    FORMAT(.name = "peaks", .suffix = IMAGE, .write = hot_fiber_field_save,
           .help = "directions, 3 values per fibre: NIfTI or MIF in scanner axes (MRtrix, DSI Studio, TractSeg, "
                   "COMMIT), or NRRD"),
    FORMAT(.name = "nfibers", .suffix = IMAGE, .write = hot_write_nfibers,
           .help = "how many fibres each voxel has (NIfTI, MIF or NRRD, one byte)"),
    FORMAT(.name = "amplitude", .suffix = IMAGE, .write = hot_write_amplitude,
           .help = "the amplitude of each fibre, a volume per fibre"),
    FORMAT(.name = "fa", .suffix = IMAGE, .write_tensors = hot_write_fa,
           .help = "fractional anisotropy of diffusion tensors (fit --model adc --order 2)"),
    FORMAT(.name = "md", .suffix = IMAGE, .write_tensors = hot_write_md,
           .help = "mean diffusivity of diffusion tensors, mm^2/s (fit --model adc --order 2)"),
    FORMAT(.name = "afd_total", .suffix = IMAGE, .write_tensors = hot_write_afd_total,
           .help = "apparent fibre density: the fODF's coefficient of degree 0, as `--format sh` writes it"),
    FORMAT(.name = "afd_max", .suffix = IMAGE, .write_tensors = hot_write_afd_max,
           .help = "the largest amplitude of the fODF"),
    FORMAT(.name = "afd_sum", .suffix = IMAGE, .write_tensors = hot_write_afd_sum,
           .help = "the fODF's norm: the square root of the sum of its squared coefficients (scilpy's afd_sum)"),
    FORMAT(.name = "nufo", .suffix = IMAGE, .write_tensors = hot_write_nufo,
           .help = "the number of maxima of the fODF of at least a tenth of the largest, 25 degrees apart, up to 5 "
                   "(scilpy's NuFO)"),
    FORMAT(.name = "fiber", .suffix = ".nrrd|.nhdr", .write = hot_write_fiber,
           .help = "one 3-vector NRRD per fibre, NAME_1.nrrd NAME_2.nrrd ... (SCIRun's ConvertNrrdToField, Slicer, "
                   "unu)"),
    FORMAT(.name = "png", .suffix = ".png", .write = hot_write_png,
           .help = "a picture of the three middle slices with the fibres drawn as sticks"),
    FORMAT(.name = "dec", .suffix = VOLUMES "|.nrrd|.nhdr|.png", .write = hot_write_dec,
           .help = "colour map of directions: |x| |y| |z| x amplitude in scanner axes, 3 float volumes (mrview, "
                   "FSLeyes; NRRD: Slicer), or a picture"),
    FORMAT(.name = "vtp", .suffix = ".vtp", .write = hot_write_vtp,
           .help = "line segments in LPS mm with direction, amplitude, fibre number and colour (ParaView, Slicer, "
                   "VTK)"),
    FORMAT(.name = "fixels", .suffix = "", .write = hot_write_fixels,
           .help = "MRtrix fixel directory: index, directions, amplitude (mrview, fixel2voxel, fixelcfestats)"),
    FORMAT(.name = "sh", .suffix = VOLUMES, .write = hot_write_fiber_sh,
           .write_tensors = hot_write_sh,
           .help = "spherical harmonics in MRtrix's basis (mrview draws them, sh2peaks, sh2amp, tckgen): tensors, or "
                   "directions as lobes of lmax 12 with their maxima at the fibres"),
    FORMAT(.name = "fz", .suffix = ".fz|.fib.gz", .write = hot_write_fz,
           .help = "DSI Studio's fibre file: directions and amplitudes, voxels in LPS order (DSI Studio, odx)"),
    FORMAT(.name = "odx", .suffix = ".odx", .write = hot_write_odx,
           .help = "ODX archive: directions in scanner axes and amplitudes (odx, TRXViz; from there MRtrix, DIPY)"),
    FORMAT(.name = "tck", .suffix = ".tck", .write = hot_write_tck,
           .help = "each fibre as a short track in scanner mm (mrview, tckinfo, tckmap)"),
    FORMAT(.name = "dyads", .suffix = ".nii.gz|.nii", .write = hot_write_dyads,
           .help = "FSL's dyads1.nii.gz ... and mean_f1samples.nii.gz ..., in image axes (FSLeyes; not enough for "
                   "probtrackx, which needs merged samples)"),
    FORMAT(.name = "vti", .suffix = ".vti", .write = hot_write_vti,
           .help = "a vector per fibre on the grid, LPS mm, with its direction matrix (ParaView, VTK 9)"),
    FORMAT(.name = "bonndit", .suffix = ".nrrd|.nhdr", .write = hot_write_bonndit,
           .help = "5-D NRRD of amplitude and unit vector per fibre (bonndit's tractography)"),
    FORMAT(.name = "ply", .suffix = ".ply", .write_tensors = hot_write_ply,
           .help = "tensor glyphs as a coloured triangle mesh, LPS mm (Slicer, ParaView, MeshLab, Blender)"),
    FORMAT(.name = "glyphs", .suffix = ".vtp", .write_tensors = hot_write_glyphs,
           .help = "tensor glyphs as a coloured triangle mesh, LPS mm (ParaView, Slicer, VTK)"),
#ifdef HOT_HAVE_HDF5
    FORMAT(.name = "pam5", .suffix = ".pam5", .write = hot_write_pam5,
           .help = "DIPY's peaks file (HDF5), in image axes, with harmonics of the fibres in descoteaux07_legacy "
                   "(load_peaks, its trackers, getters of directions and slicers)"),
#endif
};
enum { FORMATS = sizeof formats / sizeof formats[0] };

const hot_export_format *const *hot_export_formats(size_t *count)
{
    if (count)
        *count = FORMATS;
    return formats;
}

/* Whether `name` ends in one of the suffixes, "a|b|c". A folder (suffix "") is a name without a dot. */
static int has_suffix(const char *name, const char *suffixes)
{
    size_t length = strlen(name);
    if (!*suffixes)
        return strchr(name, '.') == NULL;
    while (*suffixes) {
        size_t part = strcspn(suffixes, "|");
        if (length > part && strncmp(name + length - part, suffixes, part) == 0)
            return 1;
        suffixes += part + (suffixes[part] == '|');
    }
    return 0;
}

const hot_export_format *hot_export_format_find(const char *name, const char *path)
{
    HOT_ENTRY(NULL);
    if (name) {
        for (int i = 0; i < FORMATS; i++)
            if (strcmp(formats[i]->name, name) == 0)
                return formats[i];
        return NULL;
    }
    if (!path)
        return NULL;
    const char *slash = strrchr(path, '/');
    const char *base = slash && slash[1] ? slash + 1 : path;
    for (int i = 0; i < FORMATS; i++) {
        const size_t length = strlen(formats[i]->name);
        const int whole = length > 2 || !isalpha((unsigned char)base[length]); /* fast.nii.gz is not fa */
        if (strncmp(base, formats[i]->name, length) == 0 && whole && has_suffix(base, formats[i]->suffix))
            return formats[i];
    }
    for (int i = 0; i < FORMATS; i++)
        if (has_suffix(base, formats[i]->suffix))
            return formats[i];
    return NULL;
}
