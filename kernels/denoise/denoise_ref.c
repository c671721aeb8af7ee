/* Reference: window by window, the matrix written out, its singular values from Jacobi's rotations on the full Gram
 * matrix, and the rule as the papers have it, from the smallest eigenvalue up. */
#include <complex.h>
#include <stdlib.h>

#include <hotfiber/heev.h>

#include "denoise.h"

/* The largest p for which the p smallest eigenvalues pass for noise (Veraart 2016, equations 10 to 12); 0: none. */
static size_t noise_components(const dn_job *job, const double *ascending, double *variance)
{
    const double M = (double)job->columns, N = (double)job->rows;
    const int exp2 = job->options.estimator == HOT_NOISE_EXP2;
    size_t noise = 0;
    double sum = 0;
    *variance = NAN;
    for (size_t p = 1; p <= job->columns; p++) {
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

static hot_status do_window(hot_context *context, const dn_job *job, const size_t corner[3], double complex *x,
                            double *gram, double *values, double *vectors)
{
    const size_t n = job->columns, parts = job->options.is_complex ? 2 : 1, by_volumes = job->volumes <= job->voxels;
    size_t at = 0;
    for (size_t k = 0; k < job->window[2]; k++)
        for (size_t j = 0; j < job->window[1]; j++)
            for (size_t i = 0; i < job->window[0]; i++, at++) {
                size_t voxel = ((corner[2] + k) * job->size[1] + corner[1] + j) * job->size[0] + corner[0] + i;
                for (size_t v = 0; v < job->volumes; v++) {
                    const float *s = job->signals + voxel * job->width + v * parts;
                    x[at * job->volumes + v] = !job->usable[voxel] ? 0 : parts == 2 ? s[0] + I * s[1] : s[0];
                }
            }
    for (size_t c = 0; c < n; c++)
        for (size_t r = 0; r < n; r++) {
            double complex sum = 0;
            for (size_t q = 0; q < job->rows; q++)
                sum += by_volumes ? x[q * job->volumes + r] * conj(x[q * job->volumes + c])
                                  : conj(x[r * job->volumes + q]) * x[c * job->volumes + q];
            gram[2 * (c * n + r)] = creal(sum);
            gram[2 * (c * n + r) + 1] = cimag(sum);
        }
    hot_status status = hot_heev_f64(context, NULL, n, 1, gram, values, vectors, NULL);
    if (status != HOT_OK)
        return status;
    double variance;
    const size_t noise = noise_components(job, values, &variance), plane = job->size[0] * job->size[1];
    const double complex *v = (const double complex *)(const void *)vectors;
    for (at = 0; at < job->voxels; at++) {
        const size_t i = at % job->window[0], j = at / job->window[0] % job->window[1],
                     k = at / job->window[0] / job->window[1];
        const size_t slice = corner[2] + k + job->options.first;
        const size_t voxel = ((corner[2] + k) * job->size[1] + corner[1] + j) * job->size[0] + corner[0] + i;
        if (slice < job->options.begin || slice >= job->options.end || !job->usable[voxel] ||
            (job->mask && !job->mask[voxel]))
            continue;
        const size_t to = voxel - (job->options.begin - job->options.first) * plane;
        for (size_t q = 0; q < job->volumes; q++) {
            double complex y = 0;
            for (size_t s = noise; s < n; s++) {
                double complex t = 0;
                for (size_t r = 0; r < n; r++)
                    t += by_volumes ? conj(v[s * n + r]) * x[at * job->volumes + r]
                                    : v[s * n + r] * x[r * job->volumes + q];
                y += by_volumes ? t * v[s * n + q] : t * conj(v[s * n + at]);
            }
            job->denoised[to * job->width + q * parts] += (float)creal(y);
            if (parts == 2)
                job->denoised[to * job->width + 2 * q + 1] += (float)cimag(y);
        }
        if (noise) {
            job->variance[to] += (float)(variance / (double)parts);
            job->variances[to] += 1;
        }
        job->windows[to] += 1;
    }
    return HOT_OK;
}

hot_status hot_denoise_ref(hot_context *context, void *argument)
{
    dn_job *job = argument;
    const size_t n = job->columns;
    hot_status status = dn_begin(context, job);
    if (status != HOT_OK)
        return dn_end(context, job, status);
    double complex *x = hot_context_alloc(context, job->voxels * job->volumes, sizeof *x);
    double *gram = hot_context_alloc(context, 4 * n * n + n, sizeof *gram);
    status = x && gram ? HOT_OK : HOT_ERROR_MEMORY;
    for (size_t k = 0; k < job->places[1]; k++)
        for (size_t j = 0; j < job->places[0]; j++)
            for (size_t i = 0; i < dn_places(job->size[0], job->window[0], job->step[0]) && status == HOT_OK; i++) {
                const size_t corner[3] = {
                    dn_place(i, job->size[0], job->window[0], job->step[0]),
                    dn_place(j, job->size[1], job->window[1], job->step[1]),
                    dn_place(job->place0 + k, job->options.slices, job->window[2], job->step[2]) - job->options.first};
                if (dn_wanted(job, corner))
                    status = do_window(context, job, corner, x, gram, gram + 2 * n * n, gram + 2 * n * n + n);
            }
    hot_context_free(context, x);
    hot_context_free(context, gram);
    return dn_end(context, job, status);
}
