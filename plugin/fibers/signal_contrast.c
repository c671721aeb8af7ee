/* How much do the single fibres of a data set differ from its response? In a sample of voxels the fits with an
 * isotropic part say which hold one fibre; one fibre alone, of a width that is hardly held, is fitted to those. Less
 * contrast than the response has, whatever lowers it, makes that fit wide. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/fields.h"
#include "signal_contrast.h"

/* The width (rad^2) that four in ten of the single fibres do not reach; narrow crossings pass for wide single fibres,
 * so not the middle one. In simulations: -.003 to .004 where all are alike, .012 to .017 with dispersion of 0 to 15
 * degrees; .05 to .07 in a phantom of fibres in water, .17 and more in people. */
static const double width_share = 0.4, width_dispersed = 0.007, width_varied = 0.032;
/* Dispersed fibres include some that are not: one single fibre in ten is narrower than this. Where none is, what looks single is
 * crossings (.001 in simulations of the one, .009 or more of the other). */
static const double narrow_share = 0.1, narrow = 0.006;
/* The prior standard deviation of that width: hardly any. */
static const double free_width = 0.1;
/* With fewer single fibres than this, and than this share of the voxels with fibres, nothing is said: what looks like
 * few single fibres may be crossings. */
enum { LEAST_SINGLES = 20 };
static const double least_share = 0.15;

static int by_size(const void *left, const void *right)
{
    float l = *(const float *)left, r = *(const float *)right;
    return (l > r) - (l < r);
}

hot_status hot_signal_contrast(hot_context *context, const hot_signal_options *how, const hot_signal_scheme *scheme,
                               size_t count, const float *signals, const float *sigma, hot_contrast *contrast,
                               double *typical)
{
    hot_status status = HOT_OK;
    size_t fibers = 0, singles = 0;
    hot_signal_options options = *how;
    float *width = hot_context_alloc(context, count, sizeof *width);
    float *directions = hot_context_alloc(context, count, 9 * sizeof *directions);
    uint8_t *found = hot_context_alloc(context, count, 1), *alone = hot_context_alloc(context, count, 1);
    *contrast = HOT_CONTRAST_ALIKE;
    *typical = NAN;
    if (!width || !directions || !found || !alone) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    options.progress[0] = 0;
    options.progress[1] = 1e-3;
    options.max_fibers = 3;
    options.contrast = HOT_CONTRAST_VARIED;
    hot_signal_result result = {.size = sizeof result, .directions = directions, .found = found};
    status = hot_signal_fibers_f32(context, &options, scheme, count, signals, sigma, NULL, NULL, &result);
    options.max_fibers = 1;
    options.contrast = HOT_CONTRAST_ALIKE;
    options.tau_sd = free_width;
    result.found = alone;
    result.width = width;
    if (status == HOT_OK)
        status = hot_signal_fibers_f32(context, &options, scheme, count, signals, sigma, NULL, NULL, &result);
    for (size_t i = 0; i < count && status == HOT_OK; i++) {
        fibers += found[i] > 0;
        /* to the left, or where it is; a fibre that is none without its isotropic part is as wide as can be */
        if (found[i] == 1)
            width[singles++] = alone[i] == 1 ? width[i] : INFINITY;
    }
    if (status == HOT_OK && singles >= LEAST_SINGLES && (double)singles >= least_share * (double)fibers) {
        qsort(width, singles, sizeof *width, by_size);
        *typical = (double)width[(size_t)(width_share * (double)singles)];
        const int some_narrow = (double)width[(size_t)(narrow_share * (double)singles)] < narrow;
        *contrast = *typical > width_varied                     ? HOT_CONTRAST_VARIED
                    : *typical > width_dispersed && some_narrow ? HOT_CONTRAST_DISPERSED
                                                                : HOT_CONTRAST_ALIKE;
    }
cleanup:
    hot_context_free(context, alone);
    hot_context_free(context, found);
    hot_context_free(context, directions);
    hot_context_free(context, width);
    return status;
}
