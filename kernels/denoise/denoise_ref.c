/* Reference: window by window, the matrix written out, the eigenvalues of the full Gram matrix, and the rule as the
 * papers have it, from the smallest eigenvalue up. Where windows lie, which voxels count and how results are averaged
 * is written here anew, from what hotfiber/denoise.h promises; of the other backends it takes nothing. */
#include <complex.h>
#include <math.h>

#include <hotfiber/heev.h>

#include "common/flow.h"
#include "common/free.h"
#include "denoise.h"

/* The largest p for which the p smallest eigenvalues pass for noise (Veraart 2016, equations 10 to 12); 0: none. */
static size_t noise_components(const denoise_args *args, const double *ascending, double *variance)
{
    const double M = (double)args->columns, N = (double)args->rows;
    const int exp2 = args->options.estimator == HOT_DENOISE_EXP2;
    size_t noise = 0;
    double sum = 0;
    *variance = NAN;
    for (size_t p = 1; p <= args->columns; p++) {
        const double lambda = fmax(ascending[p - 1], 0), free = exp2 ? N - (M - (double)p) : N;
        sum += lambda;
        const double by_mean = sum / free / (double)p, gamma = (double)p / free;
        const double by_width = (lambda - fmax(ascending[0], 0)) / free / (4 * sqrt(gamma));
        if (by_width < by_mean) {
            noise = p;
            *variance = by_mean;
        }
    }
    return noise;
}

typedef struct sums {
    double *signals, *variance; /* of the voxels in memory: width each, one each */
    int *windows, *variances;   /* how many windows, and how many of them separated signal from noise */
} sums;

static int is_finite(const denoise_args *args, size_t voxel)
{
    for (size_t k = 0; k < args->width; k++)
        if (!isfinite(args->signals[voxel * args->width + k]))
            return 0;
    return 1;
}

static hot_status do_window(hot_context *context, const denoise_args *args, const size_t corner[3], double complex *x,
                            double *gram, double *values, double *vectors, const sums *sum)
{
    const size_t n = args->columns, parts = args->options.is_complex ? 2 : 1,
                 by_volumes = args->volumes <= args->voxels;
    size_t at = 0;
    for (size_t k = 0; k < args->window[2]; k++)
        for (size_t j = 0; j < args->window[1]; j++)
            for (size_t i = 0; i < args->window[0]; i++, at++) {
                size_t voxel = ((corner[2] + k) * args->size[1] + corner[1] + j) * args->size[0] + corner[0] + i;
                const int usable = is_finite(args, voxel);
                for (size_t v = 0; v < args->volumes; v++) {
                    const float *s = args->signals + voxel * args->width + v * parts;
                    x[at * args->volumes + v] = !usable ? 0 : parts == 2 ? s[0] + I * s[1] : s[0];
                }
            }
    for (size_t c = 0; c < n; c++)
        for (size_t r = 0; r < n; r++) {
            double complex product = 0;
            for (size_t q = 0; q < args->rows; q++)
                product += by_volumes ? x[q * args->volumes + r] * conj(x[q * args->volumes + c])
                                      : conj(x[r * args->volumes + q]) * x[c * args->volumes + q];
            gram[2 * (c * n + r)] = creal(product);
            gram[2 * (c * n + r) + 1] = cimag(product);
        }
    HOT_TRY(hot_heev_f64(context, NULL, n, 1, gram, values, vectors, NULL));
    double variance;
    const size_t noise = noise_components(args, values, &variance);
    const double complex *v = (const double complex *)(const void *)vectors;
    for (at = 0; at < args->voxels; at++) {
        const size_t i = at % args->window[0], j = at / args->window[0] % args->window[1],
                     k = at / args->window[0] / args->window[1];
        const size_t voxel = ((corner[2] + k) * args->size[1] + corner[1] + j) * args->size[0] + corner[0] + i;
        for (size_t q = 0; q < args->volumes; q++) {
            double complex y = 0;
            for (size_t s = noise; s < n; s++) {
                double complex t = 0;
                for (size_t r = 0; r < n; r++)
                    t += by_volumes ? conj(v[s * n + r]) * x[at * args->volumes + r]
                                    : v[s * n + r] * x[r * args->volumes + q];
                y += by_volumes ? t * v[s * n + q] : t * conj(v[s * n + at]);
            }
            sum->signals[voxel * args->width + q * parts] += creal(y);
            if (parts == 2)
                sum->signals[voxel * args->width + 2 * q + 1] += cimag(y);
        }
        if (noise) {
            sum->variance[voxel] += variance / (double)parts;
            sum->variances[voxel]++;
        }
        sum->windows[voxel]++;
    }
    return HOT_OK;
}

/* Where windows begin along an axis: at 0 and every `step` from there; the last is moved in so that it ends with the
 * axis. Returns how many. */
static size_t corners_of(size_t size, size_t window, size_t step, size_t *corners)
{
    size_t count = 0, at = 0;
    while (at + window < size) {
        corners[count++] = at;
        at += step;
    }
    corners[count++] = size - window;
    return count;
}

static void write_slice(const denoise_args *args, const sums *sum, size_t slice)
{
    const size_t plane = args->size[0] * args->size[1], from = (slice - args->options.first) * plane,
                 to = (slice - args->options.begin) * plane;
    for (size_t v = 0; v < plane; v++) {
        const int wanted = !args->mask || args->mask[from + v];
        for (size_t k = 0; k < args->width; k++) {
            const size_t at = (from + v) * args->width + k;
            args->denoised[(to + v) * args->width + k] = wanted && is_finite(args, from + v)
                ? (float)(sum->signals[at] / sum->windows[from + v]) : args->signals[at];
        }
        if (!args->noise)
            continue;
        args->noise[to + v] = !wanted                                                  ? 0
                              : is_finite(args, from + v) && sum->variances[from + v] > 0
                                  ? (float)sqrt(sum->variance[from + v] / sum->variances[from + v])
                                  : NAN;
    }
}

hot_status hot_denoise_ref(hot_context *context, void *argument)
{
    denoise_args *args = argument;
    const hot_denoise_options *o = &args->options;
    const size_t n = args->columns, voxels = args->size[0] * args->size[1] * args->size[2];
    double complex *x = hot_context_alloc(context, args->voxels * args->volumes, sizeof *x);
    double *gram = hot_context_alloc(context, 4 * n * n + n, sizeof *gram);
    size_t *corners = hot_context_alloc(context, args->size[0] + args->size[1] + o->slices, sizeof *corners);
    const sums sum = {hot_context_calloc(context, voxels * args->width, sizeof(double)),
                      hot_context_calloc(context, voxels, sizeof(double)),
                      hot_context_calloc(context, voxels, sizeof(int)),
                      hot_context_calloc(context, voxels, sizeof(int))};
    hot_status status = x && gram && corners && sum.signals && sum.variance && sum.windows && sum.variances
        ? HOT_OK : HOT_ERROR_MEMORY;
    if (status == HOT_OK) {
        size_t *ci = corners, *cj = ci + args->size[0], *ck = cj + args->size[1];
        const size_t is = corners_of(args->size[0], args->window[0], args->step[0], ci);
        const size_t js = corners_of(args->size[1], args->window[1], args->step[1], cj);
        const size_t ks = corners_of(o->slices, args->window[2], args->step[2], ck);
        for (size_t k = 0; k < ks; k++)
            for (size_t j = 0; j < js && ck[k] < o->end && ck[k] + args->window[2] > o->begin; j++)
                for (size_t i = 0; i < is && status == HOT_OK; i++)
                    status = do_window(context, args, (const size_t[3]){ci[i], cj[j], ck[k] - o->first}, x, gram,
                                       gram + 2 * n * n, gram + 2 * n * n + n, &sum);
        for (size_t slice = o->begin; slice < o->end && status == HOT_OK; slice++)
            write_slice(args, &sum, slice);
    }
    HOT_FREE(context, x, gram, corners, sum.signals, sum.variance, sum.variances, sum.windows);
    return status;
}
