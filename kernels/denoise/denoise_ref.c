/* Reference: window by window, the matrix written out, its singular values from Jacobi's rotations on the full Gram
 * matrix, and the rule as the papers have it, from the smallest eigenvalue up. */
#include <complex.h>
#include <stdlib.h>

#include <hotfiber/heev.h>

#include "denoise.h"

/* The largest p for which the p smallest eigenvalues pass for noise (Veraart 2016, equations 10 to 12); 0: none. */
static size_t noise_components(const denoise_args *args, const double *ascending, double *variance)
{
    const double M = (double)args->columns, N = (double)args->rows;
    const int exp2 = args->options.estimator == HOT_NOISE_EXP2;
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

static hot_status do_window(hot_context *context, const denoise_args *args, const size_t corner[3], double complex *x,
                            double *gram, double *values, double *vectors)
{
    const size_t n = args->columns, parts = args->options.is_complex ? 2 : 1,
                 by_volumes = args->volumes <= args->voxels;
    size_t at = 0;
    for (size_t k = 0; k < args->window[2]; k++)
        for (size_t j = 0; j < args->window[1]; j++)
            for (size_t i = 0; i < args->window[0]; i++, at++) {
                size_t voxel = ((corner[2] + k) * args->size[1] + corner[1] + j) * args->size[0] + corner[0] + i;
                for (size_t v = 0; v < args->volumes; v++) {
                    const float *s = args->signals + voxel * args->width + v * parts;
                    x[at * args->volumes + v] = !args->usable[voxel] ? 0 : parts == 2 ? s[0] + I * s[1] : s[0];
                }
            }
    for (size_t c = 0; c < n; c++)
        for (size_t r = 0; r < n; r++) {
            double complex sum = 0;
            for (size_t q = 0; q < args->rows; q++)
                sum += by_volumes ? x[q * args->volumes + r] * conj(x[q * args->volumes + c])
                                  : conj(x[r * args->volumes + q]) * x[c * args->volumes + q];
            gram[2 * (c * n + r)] = creal(sum);
            gram[2 * (c * n + r) + 1] = cimag(sum);
        }
    hot_status status = hot_heev_f64(context, NULL, n, 1, gram, values, vectors, NULL);
    if (status != HOT_OK)
        return status;
    double variance;
    const size_t noise = noise_components(args, values, &variance), plane = args->size[0] * args->size[1];
    const double complex *v = (const double complex *)(const void *)vectors;
    for (at = 0; at < args->voxels; at++) {
        const size_t i = at % args->window[0], j = at / args->window[0] % args->window[1],
                     k = at / args->window[0] / args->window[1];
        const size_t slice = corner[2] + k + args->options.first;
        const size_t voxel = ((corner[2] + k) * args->size[1] + corner[1] + j) * args->size[0] + corner[0] + i;
        if (slice < args->options.begin || slice >= args->options.end || !args->usable[voxel] ||
            (args->mask && !args->mask[voxel]))
            continue;
        const size_t to = voxel - (args->options.begin - args->options.first) * plane;
        for (size_t q = 0; q < args->volumes; q++) {
            double complex y = 0;
            for (size_t s = noise; s < n; s++) {
                double complex t = 0;
                for (size_t r = 0; r < n; r++)
                    t += by_volumes ? conj(v[s * n + r]) * x[at * args->volumes + r]
                                    : v[s * n + r] * x[r * args->volumes + q];
                y += by_volumes ? t * v[s * n + q] : t * conj(v[s * n + at]);
            }
            args->denoised[to * args->width + q * parts] += (float)creal(y);
            if (parts == 2)
                args->denoised[to * args->width + 2 * q + 1] += (float)cimag(y);
        }
        if (noise) {
            args->variance[to] += (float)(variance / (double)parts);
            args->variances[to] += 1;
        }
        args->windows[to] += 1;
    }
    return HOT_OK;
}

hot_status hot_denoise_ref(hot_context *context, void *argument)
{
    denoise_args *args = argument;
    const size_t n = args->columns;
    hot_status status = hot_denoise_begin(context, args);
    if (status != HOT_OK)
        return hot_denoise_end(context, args, status);
    double complex *x = hot_context_alloc(context, args->voxels * args->volumes, sizeof *x);
    double *gram = hot_context_alloc(context, 4 * n * n + n, sizeof *gram);
    status = x && gram ? HOT_OK : HOT_ERROR_MEMORY;
    for (size_t k = 0; k < args->places[1]; k++)
        for (size_t j = 0; j < args->places[0]; j++)
            for (size_t i = 0; i < denoise_places(args->size[0], args->window[0], args->step[0]) && status == HOT_OK;
                 i++) {
                const size_t corner[3] = {
                    denoise_place(i, args->size[0], args->window[0], args->step[0]),
                    denoise_place(j, args->size[1], args->window[1], args->step[1]),
                    denoise_place(args->place0 + k, args->options.slices, args->window[2], args->step[2]) -
                        args->options.first};
                if (hot_denoise_wanted(args, corner))
                    status = do_window(context, args, corner, x, gram, gram + 2 * n * n, gram + 2 * n * n + n);
            }
    hot_context_free(context, x);
    hot_context_free(context, gram);
    return hot_denoise_end(context, args, status);
}
