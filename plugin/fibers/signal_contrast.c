/* How much do the single fibres of a data set differ from its response? In a sample of voxels the fits with an
 * isotropic part say which hold one fibre; one fibre alone, of a width that is hardly held, is fitted to those. Less
 * contrast than the response has, whatever lowers it, makes that fit wide. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/fields.h"
#include "model/model.h"
#include "signal_contrast.h"

/* The width (rad^2) that four in ten of the single fibres do not reach; narrow crossings pass for wide single fibres,
 * so not the middle one. In simulations: -.003 to .004 where all are alike, .012 to .017 with dispersion of 0 to 15
 * degrees; .05 to .07 in a phantom of fibres in water, .17 and more in people. */
static const double width_share = 0.4, width_dispersed = 0.007, width_varied = 0.032;
/* Dispersed fibres: the widths of half of the single fibres are spread by more than this many times what the noise
 * spreads one. Where all are alike this is 1.6 to 2.6, with up to 30 % free water 2.2 to 3.4, with dispersion of 0 to
 * 15 degrees 3.2 to 4.9, whether the response is an undispersed fibre's or was averaged from these very voxels. */
static const double spread_dispersed = 3.1;
/* The narrowest of dispersed fibres are not dispersed: the narrowest twentieth is below them by this many times the
 * noise. What is missing to that is the response's own width: at least `wide`, or this many times the noise, where it
 * was averaged from dispersed fibres. Where even the narrowest are wide, what looks single is crossings. */
static const double narrowest = 1.1, wide = 0.012, wide_noise = 1.5, crossings = 0.008, most_narrowing = 0.03;
/* Where all are alike, the response is wider than they are by as much as the most frequent width is below 0, when that
 * is more than this: it was averaged from crossings too. (In simulations to .002 of it; that of undispersed fibres
 * -.001 to .002.) */
static const double least_narrowing = 0.003;
/* The prior standard deviation of that width: hardly any. */
static const double free_width = 0.1;
/* With fewer single fibres than this, and than this share of the voxels with fibres, nothing is concluded: what looks
 * like few single fibres may be crossings. */
enum { LEAST_SINGLES = 20 };
static const double least_share = 0.15;

static int by_size(const void *left, const void *right)
{
    float l = *(const float *)left, r = *(const float *)right;
    return (l > r) - (l < r);
}

/* Mean of S0 / sigma over the sample. */
static double mean_snr(const hot_signal_options *how, const hot_signal_scheme *scheme, size_t count,
                       const float *signals, const float *sigma)
{
    double sum = 0;
    size_t n = 0, volumes = 0;
    for (size_t i = 0; i < count; i++) {
        const double unit = sigma ? (double)sigma[i] : how->sigma;
        double s0 = 0;
        volumes = 0;
        for (size_t v = 0; v < scheme->volumes; v++)
            if (scheme->b[v] <= 50) {
                s0 += (double)signals[i * scheme->volumes + v];
                volumes++;
            }
        if (volumes > 0 && s0 > 0 && unit > 0) {
            sum += s0 / (double)volumes / unit;
            n++;
        }
    }
    return n ? sum / (double)n : 0;
}

/* What the noise spreads a single fibre's width by, rad^2: from the Fisher matrix of weight and width (the directions
 * do not matter to these), with gradients all over the sphere. */
static double width_noise(const hot_signal_scheme *scheme, double snr, int gaussian)
{
    enum { ANGLES = 200 };
    const double pi = 3.14159265358979323846;
    double ww = 0, wt = 0, tt = 1 / (free_width * free_width);
    for (size_t s = 0; s < scheme->shells; s++) {
        const double *row = scheme->response + s * (size_t)(scheme->lmax / 2 + 1);
        size_t volumes = 0;
        for (size_t v = 0; v < scheme->volumes; v++) {
            size_t nearest = 0;
            for (size_t k = 1; k < scheme->shells; k++)
                if (fabs(scheme->shell_b[k] - scheme->b[v]) < fabs(scheme->shell_b[nearest] - scheme->b[v]))
                    nearest = k;
            volumes += scheme->b[v] > 50 && nearest == s;
        }
        for (int i = 0; i < ANGLES; i++) {
            const double u = (i + 0.5) / ANGLES;
            double value = 0, slope = 0;
            for (int l = 0; l <= scheme->lmax && l <= 8; l += 2) {
                const double part = row[l / 2] * sqrt((2 * l + 1) / (4 * pi)) * hot_model_legendre(l, u);
                value += part;
                slope -= 0.5 * l * (l + 1) * part;
            }
            const double t = fmax(value, 0) * snr;
            double weight = (double)volumes / ANGLES * snr * snr;
            if (!gaussian) /* a magnitude near the noise has less information */
                weight = weight * t * t / (t * t + 1);
            ww += weight * value * value, wt += weight * value * slope, tt += weight * slope * slope;
        }
    }
    return ww > 0 ? 1 / sqrt(tt - wt * wt / ww) : free_width;
}

/* The most frequent of sorted widths: the highest point of their density, smoothed by the noise. */
static double mode_of(const float *width, size_t count, double noise)
{
    enum { POINTS = 121 };
    double best = 0, most = 0;
    for (int i = 0; i < POINTS; i++) {
        const double at = -0.03 + 0.0005 * i;
        double sum = 0;
        for (size_t k = 0; k < count && (double)width[k] < at + 4 * noise; k++)
            sum += exp(-0.5 * pow(((double)width[k] - at) / noise, 2));
        if (sum > most)
            most = sum, best = at;
    }
    return best;
}

hot_status hot_signal_contrast(hot_context *context, const hot_signal_options *how, const hot_signal_scheme *scheme,
                               size_t count, const float *signals, const float *sigma, hot_contrast *contrast,
                               double *typical, double *narrowing)
{
    hot_status status = HOT_OK;
    size_t fibers = 0, singles = 0;
    hot_signal_options options = *how;
    float *width = hot_context_alloc(context, count, sizeof *width);
    float *directions = hot_context_alloc(context, count, 9 * sizeof *directions);
    uint8_t *found = hot_context_alloc(context, count, 1), *alone = hot_context_alloc(context, count, 1);
    *contrast = HOT_CONTRAST_ALIKE;
    *typical = NAN;
    *narrowing = 0;
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
    if (status == HOT_OK && (singles < LEAST_SINGLES || (double)singles < least_share * (double)fibers))
        *contrast = HOT_CONTRAST_VARIED; /* they do not tell: it loses least where it is wrong */
    else if (status == HOT_OK) {
        qsort(width, singles, sizeof *width, by_size);
        *typical = (double)width[(size_t)(width_share * (double)singles)];
        const double low = (double)width[singles / 20], middle = (double)width[singles / 2];
        const double noise = width_noise(scheme, mean_snr(how, scheme, count, signals, sigma),
                                         how->noise_model == HOT_NOISE_GAUSSIAN);
        const double edge = low + narrowest * noise, averaged = fmin(wide, wide_noise * noise);
        const int dispersed = middle - low > spread_dispersed * noise && edge < crossings &&
                              (*typical > width_dispersed || edge < -averaged);
        *contrast =
            *typical > width_varied ? HOT_CONTRAST_VARIED : dispersed ? HOT_CONTRAST_DISPERSED : HOT_CONTRAST_ALIKE;
        /* where the singles that are none lie, above, does not move these */
        const double centre = *contrast == HOT_CONTRAST_DISPERSED ? edge : mode_of(width, singles, noise);
        const double missing = *contrast == HOT_CONTRAST_DISPERSED ? averaged : least_narrowing;
        if (*contrast != HOT_CONTRAST_VARIED && centre < -missing)
            *narrowing = fmin(-centre, most_narrowing);
    }
cleanup:
    hot_context_free(context, alone);
    hot_context_free(context, found);
    hot_context_free(context, directions);
    hot_context_free(context, width);
    return status;
}
