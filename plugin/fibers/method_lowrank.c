/* Method lowrank: the tensor as a sum of one to three rank-1 terms. */
#include <math.h>
#include <string.h>

#include "common/options.h"
#include "method.h"
#include "common/entry.h"

/* CHUNK: voxels in memory at a time. UNIQUE4: values of a tensor of order 4. */
enum { CHUNK = 1 << 18, KMAX = 3, UNIQUE4 = 15 };

/* A constrained deconvolution removes most of the noise; the residual of its terms is mainly the difference between
 * fibre and response, above all by dispersion. The number of fibres is the most probable one by the residuals of one,
 * two and three terms together: a logistic regression on phantoms (bench/accuracy/rank_rule.py). Scores of two and of
 * three fibres relative to one: a constant, and a weight of each residual. */
static const double rank_score[KMAX - 1][1 + KMAX] = {{-4.46, 33.60, -42.70, 12.90}, {-13.13, 36.68, -12.09, -1.37}};

/* Of a chunk of voxels. */
typedef struct fits {
    int order, max_fibers;
    size_t unique;
    double reduce[UNIQUE4 * 45]; /* UNIQUE4 x unique: to the part of order 4 */
    float *part;                 /* CHUNK x UNIQUE4: that part; NULL at order 4 */
    float *residual[KMAX];       /* CHUNK: of the part's best one, two, three terms */
    float *terms[KMAX];          /* CHUNK x 3 k */
} fits;

/* A rank-1 term's part of order 4 is the rank-1 term of order 4 along the same axis. Higher orders say little of the
 * number of fibres and have most of the noise. */
static hot_status fill_reduction(hot_context *context, fits *f)
{
    double from_sh[UNIQUE4 * UNIQUE4], to_sh4[UNIQUE4 * UNIQUE4];
    double *to_sh = hot_context_alloc(context, f->unique * f->unique, sizeof *to_sh);
    hot_status status = to_sh ? hot_symtensor_to_sh(context, f->order, to_sh) : HOT_ERROR_MEMORY;
    if (status == HOT_OK)
        status = hot_symtensor_to_sh(context, 4, to_sh4);
    if (status == HOT_OK)
        status = hot_sh_to_symtensor(context, 4, from_sh);
    for (size_t i = 0; i < UNIQUE4 && status == HOT_OK; i++)
        for (size_t j = 0; j < f->unique; j++) {
            double sum = 0;
            for (size_t l = 0, h = 0; l <= 4; l += 2) {
                const size_t zonal = l * (l + 1) / 2; /* the last column: harmonics of z^order */
                const double scale = to_sh4[(zonal + 1) * UNIQUE4 - 1] / to_sh[(zonal + 1) * f->unique - 1];
                for (const size_t end = h + 2 * l + 1; h < end; h++)
                    sum += from_sh[i * UNIQUE4 + h] * scale * to_sh[h * f->unique + j];
            }
            f->reduce[i * f->unique + j] = sum;
        }
    hot_context_free(context, to_sh);
    return status;
}

/* One, two and three terms of each voxel, and the residuals. */
static hot_status fit_ranks(hot_context *context, fits *f, const hot_peaks_args *args, size_t first, size_t count)
{
    const float *rows = args->rows + first * args->stride + 1;
    const uint8_t *mask = args->mask + first;
    const double begin = (double)first / (double)args->count, share = (double)count / (double)args->count;
    hot_status status = HOT_OK;
#pragma omp parallel for schedule(static) num_threads(hot_team(hot_context_threads(context)))
    for (size_t n = 0; n < count * (f->part != NULL); n++)
        for (size_t i = 0; i < UNIQUE4 && mask[n]; i++) {
            double sum = 0;
            for (size_t j = 0; j < f->unique; j++)
                sum += f->reduce[i * f->unique + j] * (double)rows[n * args->stride + j];
            f->part[n * UNIQUE4 + i] = (float)sum;
        }
    for (int step = 0; step < 2 * KMAX && status == HOT_OK; step++) { /* the part before the whole, which overwrites */
        const int k = step % KMAX + 1, whole = step >= KMAX;
        const hot_lowrank_options how = {.size = sizeof how, .max_rank = k, .exact_rank = 1,
                                         .min_weight = HOT_ZERO, .min_angle = HOT_ZERO,
                                         .progress = {begin + share * step / (2 * KMAX),
                                                      begin + share * (step + 1) / (2 * KMAX)}};
        if (!whole && f->part)
            status = hot_lowrank_f32(context, &how, 4, count, f->part, UNIQUE4, mask, f->terms[k - 1], NULL,
                                     f->residual[k - 1]);
        else if (whole && (!f->part || k <= f->max_fibers))
            status = hot_lowrank_f32(context, &how, f->order, count, rows, args->stride, mask, f->terms[k - 1], NULL,
                                     f->part ? NULL : f->residual[k - 1]);
    }
    return status;
}

/* Whether all weights are at least `least` of the largest and no two terms closer than `near`, a cosine. */
static int allowed(const float *terms, int k, double least, double near)
{
    double w[KMAX];
    for (int i = 0; i < k; i++) {
        const float *v = terms + 3 * i;
        w[i] = sqrt((double)v[0] * (double)v[0] + (double)v[1] * (double)v[1] + (double)v[2] * (double)v[2]);
        if (!(w[i] >= least * w[0]) || !(w[i] > 0)) /* by descending weight */
            return 0;
        for (int j = 0; j < i; j++) {
            const float *u = terms + 3 * j;
            if (fabs((double)v[0] * (double)u[0] + (double)v[1] * (double)u[1] + (double)v[2] * (double)u[2]) >
                near * w[i] * w[j])
                return 0;
        }
    }
    return 1;
}

static void choose(const fits *f, const hot_peaks_options *options, size_t voxel, float *peaks)
{
    const double near = cos(options->min_angle * 0.017453292519943295);
    int rank = 1;
    double best = 0;
    for (int k = 2; k <= f->max_fibers && k <= KMAX; k++) {
        double score = rank_score[k - 2][0];
        for (int i = 0; i < KMAX; i++)
            score += rank_score[k - 2][1 + i] * (double)f->residual[i][voxel];
        if (score > best && allowed(f->terms[k - 1] + voxel * 3 * (size_t)k, k, options->threshold, near)) {
            best = score;
            rank = k;
        }
    }
    memset(peaks, 0, 3 * (size_t)f->max_fibers * sizeof *peaks);
    memcpy(peaks, f->terms[rank - 1] + voxel * 3 * (size_t)rank, 3 * (size_t)rank * sizeof *peaks);
}

static hot_status find_constrained(hot_context *context, const hot_peaks_options *options, const hot_peaks_args *args)
{
    const size_t chunk = args->count < CHUNK ? args->count : CHUNK;
    fits f = {.order = args->order, .max_fibers = options->max_fibers, .unique = hot_symtensor_count(args->order, 3)};
    hot_status status = HOT_OK;
    if (f.order > 4) {
        f.part = hot_context_calloc(context, chunk, UNIQUE4 * sizeof *f.part);
        status = f.part ? fill_reduction(context, &f) : HOT_ERROR_MEMORY;
    }
    for (size_t k = 1; k <= KMAX && status == HOT_OK; k++) {
        f.residual[k - 1] = hot_context_alloc(context, chunk, sizeof(float));
        f.terms[k - 1] = hot_context_alloc(context, chunk, 3 * k * sizeof(float));
        status = f.residual[k - 1] && f.terms[k - 1] ? HOT_OK : HOT_ERROR_MEMORY;
    }
    for (size_t first = 0; first < args->count && status == HOT_OK; first += chunk) {
        const size_t count = args->count - first < chunk ? args->count - first : chunk;
        status = fit_ranks(context, &f, args, first, count);
#pragma omp parallel for schedule(static) num_threads(hot_team(hot_context_threads(context)))
        for (size_t n = 0; n < count * (status == HOT_OK); n++)
            choose(&f, options, n, args->peaks + (first + n) * 3 * (size_t)f.max_fibers);
    }
    for (int k = 0; k < KMAX; k++)
        HOT_FREE(context, f.residual[k], f.terms[k]);
    hot_context_free(context, f.part);
    return status;
}

static hot_status find(hot_context *context, const hot_peaks_options *options, const hot_peaks_args *args)
{
    const hot_lowrank_options settings = {.size = sizeof settings, .max_rank = options->max_fibers,
                                          .min_weight = hot_option_meaning(options->threshold),
                                          .min_angle = hot_option_meaning(options->min_angle)};
    if (strcmp(args->model, "msmt") == 0)
        return find_constrained(context, options, args);
    return hot_lowrank_f32(context, &settings, args->order, args->count, args->rows + 1, args->stride, args->mask,
                           args->peaks, NULL, NULL);
}

const hot_peaks_method hot_peaks_lowrank = {
    .name = "lowrank",
    .help = "the tensor as a sum of up to 3 rank-1 terms; with fod, splits crossings that the maxima merge",
    .about = "the tensor (order 4, 6 or 8) as a sum of 1 to 3 rank-1 terms; with fod these are the fibres, and "
             "crossings that the maxima merge are split. Order 4 or 6 is best, with msmt order 4.",
    .find_in_tensors = find,
    .takes = "threshold min_angle min_amplitude basis frame ",
    .max_fibers = 3,
    .weights = 1,
    .order_min = 4,
    .order_max = 8,
    .threshold = 0.2,
    .min_angle = 25,
};
