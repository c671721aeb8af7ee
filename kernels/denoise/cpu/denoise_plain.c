/* One window at a time, real or complex, in double precision with the eigensolver of the heev family. */
#include <string.h>

#include "denoise/denoise.h"
#include "heev/heev.h"

/* A window's memory and the solver's workspace; complex numbers are pairs, real ones have no second part. */
typedef struct plain_workspace {
    double *samples;   /* voxels x volumes */
    double *gram;      /* columns x columns; its eigenvectors */
    double *values;    /* columns */
    double *projected; /* columns x volumes: the samples times the signal's eigenvectors, when these are over voxels */
    void *solver;
} plain_workspace;

size_t hot_denoise_scratch_plain(const denoise_args *args)
{
    const size_t n = args->columns;
    return (args->voxels * args->width + 2 * n * n + n + (n + 1) * args->width) * sizeof(double) +
           hot_heev_workspace(n) + 64;
}

static void lay_out(const denoise_args *args, void *scratch, plain_workspace *work)
{
    const size_t n = args->columns;
    work->samples = (double *)(((uintptr_t)scratch + 7) / 8 * 8);
    work->gram = work->samples + args->voxels * args->width;
    work->values = work->gram + 2 * n * n;
    work->projected = work->values + n;
    work->solver = work->projected + n * args->width;
}

static size_t voxel_of(const denoise_args *args, const size_t corner[3], size_t at)
{
    const size_t i = at % args->window[0], j = at / args->window[0] % args->window[1],
                 k = at / args->window[0] / args->window[1];
    return ((corner[2] + k) * args->size[1] + corner[1] + j) * args->size[0] + corner[0] + i;
}

/* sum += a conj(b); real numbers have parts = 1 */
static inline void add_product(size_t parts, const double *a, const double *b, double *sum)
{
    if (parts == 1) {
        sum[0] += a[0] * b[0];
    } else {
        sum[0] += a[0] * b[0] + a[1] * b[1];
        sum[1] += a[1] * b[0] - a[0] * b[1];
    }
}

/* The lower triangle, column-major: over volumes sum x_r conj(x_c) of all voxels, over voxels the products of two
 * voxels' volumes. Returns the trace. */
static double make_gram(const denoise_args *args, size_t parts, const plain_workspace *work)
{
    const size_t n = args->columns, over_volumes = args->volumes <= args->voxels;
    double trace = 0;
    for (size_t c = 0; c < n; c++)
        for (size_t r = c; r < n; r++) {
            double sum[2] = {0, 0};
            if (over_volumes)
                for (size_t v = 0; v < args->voxels; v++)
                    add_product(parts, work->samples + v * args->width + r * parts,
                                work->samples + v * args->width + c * parts, sum);
            else
                for (size_t v = 0; v < args->volumes; v++) /* x_r^H x_c */
                    add_product(parts, work->samples + c * args->width + v * parts,
                                work->samples + r * args->width + v * parts, sum);
            memcpy(work->gram + (c * n + r) * parts, sum, parts * sizeof *sum);
            trace += r == c ? sum[0] : 0;
        }
    return trace;
}

/* How many of the largest eigenvalues are signal; columns if the noise could not be determined. */
static size_t count_signal(const denoise_args *args, const double *values, double trace, double *variance)
{
    const size_t n = args->columns;
    double rest = trace;
    for (size_t signal = 0; signal < n; signal++) {
        const double next = fmax(values[n - 1 - signal], 0);
        if (denoise_is_noise((int)args->columns, (int)args->rows, args->options.estimator == HOT_DENOISE_EXP1,
                             (int)signal, fmax(rest, 0), next, fmax(values[0], 0), variance))
            return signal;
        rest -= next;
    }
    *variance = NAN;
    return n;
}

/* y (volumes) = the projection of the window's voxel `at`. */
static void project(const denoise_args *args, size_t parts, const plain_workspace *work, size_t at, size_t signal,
                    double *y)
{
    const size_t n = args->columns;
    const double *x = work->samples + at * args->width;
    memset(y, 0, args->width * sizeof *y);
    for (size_t s = 0; s < signal; s++) {
        const double *v = work->gram + (n - 1 - s) * n * parts;
        double t[2] = {0, 0};
        const double *row = v;
        if (args->volumes <= args->voxels) { /* v (v^H x) */
            for (size_t k = 0; k < n; k++)
                add_product(parts, x + k * parts, v + k * parts, t);
        } else { /* (X v) conj(v_at) */
            t[0] = v[at * parts];
            t[1] = parts == 2 ? -v[at * parts + 1] : 0;
            row = work->projected + s * args->width;
        }
        for (size_t k = 0; k < args->volumes; k++) {
            y[k * parts] += t[0] * row[k * parts];
            if (parts == 2) {
                y[2 * k] -= t[1] * row[2 * k + 1];
                y[2 * k + 1] += t[0] * row[2 * k + 1] + t[1] * row[2 * k];
            }
        }
    }
}

void hot_denoise_window_plain(const denoise_args *args, const size_t corner[3], void *scratch)
{
    const size_t n = args->columns, parts = args->options.is_complex ? 2 : 1, plane = args->size[0] * args->size[1];
    const size_t above = args->options.begin - args->options.first, below = args->options.end - args->options.first;
    plain_workspace work;
    double variance = NAN;
    lay_out(args, scratch, &work);
    for (size_t at = 0; at < args->voxels; at++) {
        const size_t voxel = voxel_of(args, corner, at);
        for (size_t k = 0; k < args->width; k++)
            work.samples[at * args->width + k] =
                args->usable[voxel] ? (double)args->signals[voxel * args->width + k] : 0;
    }
    const double trace = make_gram(args, parts, &work);
    size_t signal = n;
    if (hot_heev_one(args->options.is_complex, n, 1, work.gram, work.values, work.solver))
        signal = count_signal(args, work.values, trace, &variance);
    const int whole = !(variance >= 0);
    if (!whole && args->volumes > args->voxels) {
        memset(work.projected, 0, signal * args->width * sizeof *work.projected);
        for (size_t s = 0; s < signal; s++)
            for (size_t at = 0; at < args->voxels; at++) {
                const double *f = work.gram + ((n - 1 - s) * n + at) * parts, *x = work.samples + at * args->width;
                double *to = work.projected + s * args->width;
                for (size_t k = 0; k < args->volumes; k++) {
                    to[k * parts] += f[0] * x[k * parts] - (parts == 2 ? f[1] * x[2 * k + 1] : 0);
                    if (parts == 2)
                        to[2 * k + 1] += f[0] * x[2 * k + 1] + f[1] * x[2 * k];
                }
            }
    }
    double *y = work.solver; /* the solver is done */
    for (size_t at = 0; at < args->voxels; at++) {
        const size_t voxel = voxel_of(args, corner, at), slice = voxel / plane;
        if (slice < above || slice >= below || !args->usable[voxel] || (args->mask && !args->mask[voxel]))
            continue;
        const size_t to = voxel - above * plane;
        const double *result = work.samples + at * args->width;
        if (!whole) {
            project(args, parts, &work, at, signal, y);
            result = y;
            args->variance[to] += variance / (double)parts;
            args->variances[to] += 1;
        }
        for (size_t k = 0; k < args->width; k++)
            args->denoised[to * args->width + k] += (float)result[k];
        args->windows[to] += 1;
    }
}
