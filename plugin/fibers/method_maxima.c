/* Directions as the local maxima of the tensor's form A x^m on the sphere, found in two ways: maxima scans and refines,
 * sshopm iterates SS-HOPM from many starts and clusters the eigenvectors that it ends in. */
#include "common/options.h"
#include "method.h"

static hot_status find(hot_context *context, const hot_peaks_options *options, const hot_peaks_args *args)
{
    const hot_directions_options settings = {.size = sizeof settings,
                                             .max_directions = options->max_fibers,
                                             .threshold = hot_option_meaning(options->threshold),
                                             .min_angle = hot_option_meaning(options->min_angle),
                                             .starts = options->starts, /* 0: scan and refine */
                                             .shift = options->shift,
                                             .alpha = options->alpha};
    return hot_directions_f32(context, &settings, args->order, args->count, args->rows + 1, args->stride, args->mask,
                              args->peaks, NULL);
}

const hot_peaks_method hot_peaks_maxima = {
    .name = "maxima",
    .help = "local maxima of the tensor's form, by a scan of the sphere; for adc at crossings these are between the "
            "fibres",
    .about = "local maxima of the tensor's form A x^m: half of the sphere is scanned on a grid, and what stands out is "
             "refined. Finds what sshopm finds, faster. The maxima of adc are not the crossing fibres: use fod.",
    .takes = "threshold min_angle min_amplitude basis frame ",
    .default_of = "adc odf msmt ",
    .max_fibers = 16,
    .threshold = 0.25,
    .min_angle = 15,
    .find_in_tensors = find,
};

const hot_peaks_method hot_peaks_sshopm = {
    .name = "sshopm",
    .help = "eigenvectors of the tensor by SS-HOPM from many starts, clustered into directions",
    .about = "the paper's pipeline (Ballard, Kolda, Plantenga 2011): SS-HOPM from many starts per voxel, on the GPU "
             "where there is one; the eigenvectors that it converges to are counted once, refined, and clustered into "
             "directions. With adc these do not lie on crossing fibres.",
    .takes = "threshold min_angle min_amplitude starts shift basis frame ",
    .max_fibers = 16,
    .order_max = 8,
    .threshold = 0.25,
    .min_angle = 15,
    .starts = 128,
    .find_in_tensors = find,
};
