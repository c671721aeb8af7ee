/* The single-fibre response from the data: voxels of one fibre are chosen with the help of the current response, a new
 * response is made from them, and so on until the choice stays the same. (Tournier, Calamante, Connelly 2013.)
 *
 * A voxel's merit is p1 (1 - p2 / p1)^2 with p1 and p2 the highest and second highest peak of its fod: high where one
 * fibre stands alone. Of those with high merit, the ones whose signals one fibre explains least well are left out:
 * fibres that cross at small angles have one peak, but not the signal of one fibre. The misfit is noise that has no
 * part in the response, so that choosing by it does not bend the result. The first response comes from the most
 * anisotropic diffusion tensors. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

/* A half sphere of directions about 8 degrees apart on which the fod is looked at before its peak is refined. */
/* NEAR: more than 20 degrees hold of DIRECTIONS, 18 in the mean */
enum { DIRECTIONS = 300, NEAR = 32, CANDIDATES = 1500, BEST = 300, ROUNDS = 8, TERMS_MAX = 15 };
/* Peaks closer than this to a higher one are part of it. */
static const double neighbour_cosine = .94; /* 20 degrees */
/* Voxels whose merit reaches this share of the middle one of the best are used too: more voxels, less noise. */
static const double near_best = .85;

/* How much of the variation with direction a fibre must explain: in noise alone it is a few percent (a quarter with 15
 * directions), in a scan of poor quality six tenths. */
static const double least_explained = .45;
/* Of the normal equations of the zonal coefficients; evenly spread angles give about 5. */
static const double condition_max = 1000;

typedef struct merit {
    double value;
    size_t place; /* a voxel, or the number of a candidate */
} merit;

typedef struct estimate {
    hot_context *context;
    const hot_dwi *dwi;
    const hot_mask *mask;
    size_t volumes, shells;
    const double *shell_b;
    const int *shell_of;
    int order, lmax;
    double directions[3 * DIRECTIONS];
    unsigned short near[DIRECTIONS][NEAR]; /* the directions within 20 degrees of each, the rest is its own */
    double *forms;        /* terms x DIRECTIONS: A u^m from the packed tensor */
    size_t candidates, eligible; /* eligible: voxels from which the candidates were taken */
    size_t *voxel;        /* CANDIDATES */
    float *signals;       /* CANDIDATES x volumes */
    float *tensors;       /* CANDIDATES x (1 + terms) */
    float *work;
    double *axis;         /* CANDIDATES x 3, the fibre of each candidate */
    double *misfit;       /* CANDIDATES */
    int *row;             /* shells: which row of the response */
    merit *merits, *sorted; /* CANDIDATES */
    size_t chosen;        /* the first `chosen` of merits are used */
} estimate;

/* Highest first; equal ones in the order of their places, so that the result is the same everywhere. */
static int by_merit(const void *a, const void *b)
{
    const merit *x = a, *y = b;
    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static void spread(double *directions)
{
    for (int i = 0; i < DIRECTIONS; i++) {
        const double z = (i + .5) / DIRECTIONS, r = sqrt(1 - z * z), phi = 2.399963229728653 * i;
        directions[3 * i] = r * cos(phi), directions[3 * i + 1] = r * sin(phi), directions[3 * i + 2] = z;
    }
}

/* forms[t][j] = multiplicity_t u_j^exponents_t */
static hot_status make_forms(estimate *e)
{
    const size_t terms = hot_model_terms(e->order);
    int exponents[3 * TERMS_MAX];
    double multiplicity[TERMS_MAX];
    hot_status status = hot_symtensor_exponents(e->order, 3, exponents);
    if (status == HOT_OK)
        status = hot_symtensor_multiplicity(e->order, 3, multiplicity);
    if (status != HOT_OK)
        return status;
    for (size_t j = 0; j < DIRECTIONS; j++)
        for (size_t t = 0; t < terms; t++) {
            double value = multiplicity[t];
            for (int d = 0; d < 3; d++)
                for (int k = 0; k < exponents[3 * t + (size_t)d]; k++)
                    value *= e->directions[3 * j + (size_t)d];
            e->forms[t * DIRECTIONS + j] = value;
        }
    return HOT_OK;
}

/* Lists for each direction those near it, up to sign. */
static void make_near(estimate *e)
{
    for (size_t j = 0; j < DIRECTIONS; j++) {
        const double *u = e->directions + 3 * j;
        size_t count = 0;
        for (size_t k = 0; k < DIRECTIONS && count < NEAR; k++) {
            const double *w = e->directions + 3 * k;
            if (fabs(u[0] * w[0] + u[1] * w[1] + u[2] * w[2]) >= neighbour_cosine)
                e->near[j][count++] = (unsigned short)k;
        }
        while (count < NEAR)
            e->near[j][count++] = (unsigned short)j;
    }
}

/* The merit of one fod, and where its highest peak is on the grid. */
static double merit_of(const estimate *e, const float *tensor, size_t *highest)
{
    const size_t terms = hot_model_terms(e->order);
    double value[DIRECTIONS], second = 0;
    size_t best = 0;
    /* direction innermost: independent sums, which the compiler puts into vectors */
    for (size_t j = 0; j < DIRECTIONS; j++)
        value[j] = e->forms[j] * (double)tensor[0];
    for (size_t t = 1; t < terms; t++) {
        const double *form = e->forms + t * DIRECTIONS, factor = tensor[t];
        for (size_t j = 0; j < DIRECTIONS; j++)
            value[j] += form[j] * factor;
    }
    for (size_t j = 1; j < DIRECTIONS; j++)
        if (value[j] > value[best])
            best = j;
    *highest = best;
    if (!(value[best] > 0))
        return 0;
    for (size_t j = 0; j < DIRECTIONS; j++) {
        const double *u = e->directions + 3 * j, *top = e->directions + 3 * best;
        if (value[j] <= second || fabs(u[0] * top[0] + u[1] * top[1] + u[2] * top[2]) > neighbour_cosine)
            continue;
        int peak = 1;
        for (size_t k = 0; k < NEAR && peak; k++)
            peak = value[e->near[j][k]] <= value[j];
        if (peak)
            second = value[j];
    }
    const double share = 1 - second / value[best];
    return value[best] * share * share;
}

/* Climbs from a grid direction to the top of its peak: x <- A x^(m-1) + alpha x, normalised. */
static void refine(const estimate *e, const float *tensor, double x[3])
{
    double a[TERMS_MAX], step[3], scale = 0;
    for (size_t t = 0; t < hot_model_terms(e->order); t++) {
        a[t] = (double)tensor[t];
        scale = fmax(scale, fabs(a[t]));
    }
    for (int i = 0; i < 200; i++) {
        double length = 0, moved = 0;
        const double lambda = hot_symtensor_gradient_f64(e->order, 3, a, x, step);
        for (int d = 0; d < 3; d++) {
            step[d] += (lambda + .5 * scale) * x[d];
            length += step[d] * step[d];
        }
        if (!(length > 0))
            return;
        for (int d = 0; d < 3; d++) {
            const double next = step[d] / sqrt(length);
            moved = fmax(moved, fabs(next - x[d]));
            x[d] = next;
        }
        if (moved < 1e-7)
            return;
    }
}

/* The principal axis of an order-2 tensor (xx xy xz yy yz zz) by squaring it until one direction is left; returns the
 * fractional anisotropy, or 0 when it is not positive definite. */
static double principal_axis(const float *tensor, double axis[3])
{
    const double t[6] = {tensor[0], tensor[1], tensor[2], tensor[3], tensor[4], tensor[5]};
    double m[3][3] = {{t[0], t[1], t[2]}, {t[1], t[3], t[4]}, {t[2], t[4], t[5]}};
    const double trace = t[0] + t[3] + t[5];
    const double norm2 = t[0] * t[0] + t[3] * t[3] + t[5] * t[5] + 2 * (t[1] * t[1] + t[2] * t[2] + t[4] * t[4]);
    const double minors = t[0] * t[3] - t[1] * t[1] + t[0] * t[5] - t[2] * t[2] + t[3] * t[5] - t[4] * t[4];
    const double determinant = t[0] * (t[3] * t[5] - t[4] * t[4]) - t[1] * (t[1] * t[5] - t[4] * t[2]) +
                               t[2] * (t[1] * t[4] - t[3] * t[2]);
    axis[0] = axis[1] = 0, axis[2] = 1;
    if (!(trace > 0) || !(minors > 0) || !(determinant > 0))
        return 0;
    for (int round = 0; round < 12; round++) {
        double square[3][3], largest = 0;
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) {
                square[a][b] = m[a][0] * m[0][b] + m[a][1] * m[1][b] + m[a][2] * m[2][b];
                largest = fmax(largest, fabs(square[a][b]));
            }
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                m[a][b] = square[a][b] / largest;
    }
    int row = 0;
    for (int a = 1; a < 3; a++)
        row = m[a][a] > m[row][row] ? a : row;
    const double length = sqrt(m[row][0] * m[row][0] + m[row][1] * m[row][1] + m[row][2] * m[row][2]);
    for (int d = 0; d < 3; d++)
        axis[d] = m[row][d] / length;
    return sqrt(fmax(0, 1.5 * (1 - trace * trace / (3 * norm2))));
}

/* The mean b=0 signal of a voxel. */
static double mean_b0(const estimate *e, const float *signals)
{
    double sum = 0;
    size_t count = 0;
    for (size_t v = 0; v < e->volumes; v++)
        if (e->shell_of[v] == 0) {
            sum += (double)signals[v];
            count++;
        }
    return sum / (double)count;
}

/* Brings the CANDIDATES best merits, in order, to the front: of those seen, only the best are kept and sorted now and
 * then, which takes a moment where sorting all of a large mask takes long. Returns how many stand there. */
static size_t best_first(hot_context *context, merit *merits, size_t count)
{
    enum { HELD = 4 * CANDIDATES };
    size_t held = 0;
    for (size_t i = 0; i < count; i++) {
        if (held >= CANDIDATES && by_merit(&merits[i], &merits[CANDIDATES - 1]) > 0)
            continue; /* worse than the last of the best, as known when they were last sorted */
        const merit swap = merits[held]; /* held <= i */
        merits[held++] = merits[i];
        merits[i] = swap;
        if (held == HELD || held == CANDIDATES) {
            if (hot_context_cancelled(context))
                return 0;
            qsort(merits, held, sizeof *merits, by_merit);
            held = CANDIDATES;
        }
    }
    qsort(merits, held, sizeof *merits, by_merit);
    return held < CANDIDATES ? held : CANDIDATES;
}

/* Keeps the best of `count` merits as candidates and reads their signals. */
static hot_status take_candidates(estimate *e, merit *merits, size_t count)
{
    e->candidates = e->eligible = 0;
    for (size_t i = 0; i < count; i++)
        e->eligible += merits[i].value > 0;
    count = best_first(e->context, merits, count);
    for (size_t i = 0; i < count && e->candidates < CANDIDATES && merits[i].value > 0; i++) {
        e->voxel[e->candidates] = merits[i].place;
        hot_status status = hot_dwi_read(e->context, e->dwi, merits[i].place, 1,
                                         e->signals + e->candidates * e->volumes);
        if (status != HOT_OK)
            return status;
        e->candidates++;
    }
    return hot_context_check(e->context, "estimating the response");
}

/* Least squares for the zonal coefficients of every shell over the chosen candidates, each divided by its b=0 signal;
 * the result is in units of their mean b=0 signal. */
static hot_status make_response(estimate *e, hot_response **made)
{
    enum { ZONAL_MAX = 9 };
    hot_context *context = e->context;
    const size_t n = (size_t)e->lmax / 2 + 1;
    double unit = 0;
    hot_status status = hot_response_make(context, e->shells, e->lmax, made);
    for (size_t i = 0; i < e->chosen; i++)
        unit += mean_b0(e, e->signals + e->merits[i].place * e->volumes) / (double)e->chosen;
    for (size_t s = 0; s < e->shells && status == HOT_OK; s++) {
        double gram[ZONAL_MAX * ZONAL_MAX] = {0}, right[ZONAL_MAX] = {0}, inverse[ZONAL_MAX * ZONAL_MAX];
        double *row = (*made)->rows + s * n;
        (*made)->b[s] = e->shell_b[s];
        if (s == 0) {
            row[0] = unit * sqrt(4 * M_PI);
            continue;
        }
        for (size_t i = 0; i < e->chosen; i++) {
            const size_t place = e->merits[i].place;
            const float *signals = e->signals + place * e->volumes;
            const double *axis = e->axis + 3 * place, s0 = mean_b0(e, signals);
            for (size_t v = 0; v < e->volumes; v++) {
                const double *g = hot_dwi_gradients(e->dwi) + 3 * v;
                double y[ZONAL_MAX];
                if (e->shell_of[v] != (int)s)
                    continue;
                const double cosine = g[0] * axis[0] + g[1] * axis[1] + g[2] * axis[2];
                for (size_t a = 0; a < n; a++)
                    y[a] = sqrt((4 * (double)a + 1) / (4 * M_PI)) * hot_model_legendre(2 * (int)a, cosine);
                for (size_t a = 0; a < n; a++) {
                    right[a] += y[a] * (double)signals[v] / s0;
                    for (size_t b = 0; b < n; b++)
                        gram[a * n + b] += y[a] * y[b];
                }
            }
        }
        /* Few voxels with few directions do not see every angle: then the highest harmonics stay out of this row. */
        size_t m = n;
        for (; m > 0; m--) {
            double part[ZONAL_MAX * ZONAL_MAX], condition;
            for (size_t a = 0; a < m; a++)
                memcpy(part + a * m, gram + a * n, m * sizeof *part);
            status = hot_fit_pseudo_inverse(context, m, m, part, NULL, inverse, &condition);
            if (status == HOT_ERROR_MEMORY || (status == HOT_OK && condition <= condition_max))
                break;
        }
        if (m < n && status == HOT_OK)
            hot_context_log(context, HOT_LOG_NOTE, "response at b=%.0f: %zu voxels determine it up to l=%d only",
                            e->shell_b[s], e->chosen, 2 * (int)m - 2);
        for (size_t a = 0; a < m; a++)
            for (size_t b = 0; b < m && status == HOT_OK; b++)
                row[a] += inverse[a * m + b] * right[b] * unit;
    }
    if (status != HOT_OK)
        hot_response_destroy(made);
    return status;
}

/* How many of the sorted merits are used: those that come near the middle one of the mask's best tenth (30 to 300
 * voxels). */
static size_t how_many(const estimate *e)
{
    const merit *merits = e->merits;
    const size_t count = e->candidates, tenth = e->eligible / 10;
    size_t best = tenth < 30 ? 30 : tenth > BEST ? BEST : tenth;
    best = best > count ? count : best;
    if (best == 0)
        return 0;
    const double bound = near_best * merits[best / 2].value;
    size_t used = 0;
    while (used < count && merits[used].value > 0 && merits[used].value >= bound)
        used++;
    return used;
}

/* Of the chosen, keeps those whose misfit could be noise: at most what 19 in 20 of the voxels have of which the best
 * quarter has the misfit that it has here (the mean of n squared errors is spread by sqrt(2 / n)). */
static void keep_explained(estimate *e)
{
    size_t weighted = 0, kept = 0;
    for (size_t v = 0; v < e->volumes; v++)
        weighted += e->shell_of[v] > 0 && e->row[e->shell_of[v]] >= 0;
    const double spread_of_one = sqrt(2 / (double)(weighted > 8 ? weighted : 8));
    merit *misfits = e->sorted;
    for (size_t i = 0; i < e->chosen; i++) {
        misfits[i].value = -e->misfit[e->merits[i].place]; /* by_merit: highest first */
        misfits[i].place = i;
    }
    qsort(misfits, e->chosen, sizeof *misfits, by_merit);
    const double quarter = -misfits[e->chosen / 4].value;
    const double bound = quarter * (1 + 1.65 * spread_of_one) / (1 - .67 * spread_of_one);
    for (size_t i = 0; i < e->chosen; i++)
        if (e->misfit[e->merits[i].place] <= bound) {
            const merit swap = e->merits[kept];
            e->merits[kept++] = e->merits[i];
            e->merits[i] = swap;
        }
    e->chosen = kept;
}

/* Round 0: tensors of order 2 in the whole mask; the most anisotropic voxels make the first response. */
static hot_status first_choice(estimate *e, hot_response **response)
{
    hot_context *context = e->context;
    hot_status status = HOT_OK;
    hot_plan *plan = NULL;
    float *values = NULL;
    merit *merits = NULL;
    size_t fitted, flagged, count = 0;
    const size_t voxels = hot_grid_voxels(hot_dwi_grid(e->dwi));
    const hot_fit_options options = {.size = sizeof options, .model = "adc", .order = 2, .regularise = -1};
    status = hot_plan_make(context, e->dwi, &options, NULL, 0, &plan);
    if (status != HOT_OK)
        goto cleanup;
    values = hot_context_alloc(context, voxels, 7 * sizeof *values);
    merits = hot_context_alloc(context, voxels, sizeof *merits);
    if (!values || !merits) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    status = hot_plan_fit_voxels(plan, hot_mask_bytes(e->mask), "estimating the response", values, &fitted, &flagged);
    if (status != HOT_OK)
        goto cleanup;
    for (size_t v = 0; v < voxels && !hot_context_cancelled(context); v++)
        if (values[7 * v] > 0) {
            double axis[3];
            merits[count].value = principal_axis(values + 7 * v + 1, axis);
            merits[count++].place = v;
        }
    status = hot_context_check(context, "estimating the response");
    if (status == HOT_OK && count == 0)
        status = hot_context_fail(context, HOT_ERROR_DATA,
                                  "no response can be estimated: in all %zu voxels of the mask signals are NaN, zero "
                                  "or negative", hot_mask_count(e->mask));
    if (status == HOT_OK)
        status = take_candidates(e, merits, count);
    if (status != HOT_OK)
        goto cleanup;
    /* Dark voxels are anisotropic by noise: the first response takes those as bright as half of the candidates. */
    for (size_t i = 0; i < e->candidates; i++) {
        e->merits[i].value = mean_b0(e, e->signals + i * e->volumes);
        e->merits[i].place = i;
    }
    qsort(e->merits, e->candidates, sizeof *e->merits, by_merit);
    const double bright = e->candidates ? .7 * e->merits[e->candidates / 2].value : 0;
    for (size_t i = 0; i < e->candidates; i++) {
        const float *tensor = values + 7 * e->voxel[i] + 1;
        const double anisotropy = principal_axis(tensor, e->axis + 3 * i);
        e->merits[i].value = mean_b0(e, e->signals + i * e->volumes) >= bright ? anisotropy : 0;
        e->merits[i].place = i;
    }
    qsort(e->merits, e->candidates, sizeof *e->merits, by_merit);
    e->chosen = how_many(e);
    if (e->chosen == 0) {
        status = hot_context_fail(context, HOT_ERROR_DATA,
                                  "no response can be estimated: none of the %zu voxels of the mask has a diffusion "
                                  "tensor with direction", hot_mask_count(e->mask));
        goto cleanup;
    }
    status = make_response(e, response);
cleanup:
    hot_context_free(context, merits);
    hot_context_free(context, values);
    hot_plan_free(&plan);
    return status;
}

static hot_status fod_plan(estimate *e, const hot_response *response, hot_plan **plan)
{
    const hot_fit_options options = {.size = sizeof options, .model = "fod", .order = e->order, .regularise = -1};
    return hot_plan_make(e->context, e->dwi, &options, response, 0, plan);
}

/* Round 1: fods in the whole mask, from which the candidates of the further rounds come. */
static hot_status whole_mask(estimate *e, const hot_response *response)
{
    hot_context *context = e->context;
    hot_plan *plan = NULL;
    float *values = NULL;
    merit *merits = NULL;
    size_t fitted, flagged;
    const size_t voxels = hot_grid_voxels(hot_dwi_grid(e->dwi)), width = hot_model_terms(e->order) + 1;
    hot_status status = fod_plan(e, response, &plan);
    if (status != HOT_OK)
        goto cleanup;
    values = hot_context_alloc(context, voxels, width * sizeof *values);
    merits = hot_context_alloc(context, voxels, sizeof *merits);
    if (!values || !merits) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    status = hot_plan_fit_voxels(plan, hot_mask_bytes(e->mask), "estimating the response", values, &fitted, &flagged);
    if (status != HOT_OK)
        goto cleanup;
#pragma omp parallel for num_threads(hot_context_threads(context)) schedule(dynamic, 256)
    for (size_t v = 0; v < voxels; v++) {
        size_t highest;
        if (hot_context_cancelled(context))
            continue;
        merits[v].place = v;
        merits[v].value = values[v * width] > 0 ? merit_of(e, values + v * width + 1, &highest) : 0;
    }
    status = hot_context_check(context, "estimating the response");
    if (status == HOT_OK)
        status = take_candidates(e, merits, voxels);
cleanup:
    hot_context_free(context, merits);
    hot_context_free(context, values);
    hot_plan_free(&plan);
    return status;
}

/* One round: the candidates' fods with the current response, their merits and axes, the choice. *same: whether it is
 * the choice of the round before. */
static hot_status choose(estimate *e, const hot_response *response, unsigned char *chosen_before, int *same)
{
    hot_plan *plan = NULL;
    const size_t width = hot_model_terms(e->order) + 1;
    hot_status status = fod_plan(e, response, &plan);
    if (status == HOT_OK)
        status = hot_plan_fit(plan, e->candidates, e->signals, e->work, e->tensors);
    hot_plan_free(&plan);
    if (status == HOT_OK)
        status = hot_response_match(e->context, response, e->dwi, e->row);
    if (status != HOT_OK)
        return status;
#pragma omp parallel for num_threads(hot_context_threads(e->context)) schedule(dynamic, 32)
    for (size_t i = 0; i < e->candidates; i++) {
        const float *tensor = e->tensors + i * width;
        size_t highest = 0;
        if (hot_context_cancelled(e->context))
            continue;
        e->merits[i].place = i;
        e->merits[i].value = tensor[0] > 0 ? merit_of(e, tensor + 1, &highest) : 0;
        memcpy(e->axis + 3 * i, e->directions + 3 * highest, 3 * sizeof(double));
        e->misfit[i] = INFINITY;
        if (tensor[0] > 0) {
            const float *signals = e->signals + i * e->volumes;
            double weight;
            refine(e, tensor + 1, e->axis + 3 * i);
            e->misfit[i] = hot_response_fit_axis(response, e->dwi, e->row, signals, mean_b0(e, signals),
                                                 e->axis + 3 * i, &weight);
        }
    }
    status = hot_context_check(e->context, "estimating the response");
    if (status != HOT_OK)
        return status;
    qsort(e->merits, e->candidates, sizeof *e->merits, by_merit);
    e->chosen = how_many(e);
    if (e->chosen > 0)
        keep_explained(e);
    size_t changed = 0;
    for (size_t i = 0; i < e->candidates; i++) {
        const unsigned char now = i < e->chosen;
        changed += chosen_before[e->merits[i].place] != now;
        chosen_before[e->merits[i].place] = now;
    }
    /* one voxel in fifty does not move the mean; a choice often ends by swinging between two */
    *same = 50 * changed <= e->chosen;
    return HOT_OK;
}

/* The mean squared deviation of one voxel's signals from their shells' means, in units of s0. */
static double flat_misfit(const estimate *e, const float *signals, double s0)
{
    double misfit = 0;
    size_t count = 0;
    for (size_t s = 1; s < e->shells; s++) {
        double sum = 0, squares = 0;
        size_t n = 0;
        for (size_t v = 0; v < e->volumes; v++)
            if (e->shell_of[v] == (int)s && e->row[s] >= 0) {
                const double y = (double)signals[v] / s0;
                sum += y, squares += y * y, n++;
            }
        misfit += n ? squares - sum * sum / (double)n : 0;
        count += n;
    }
    return count ? misfit / (double)count : 0;
}

/* Without fibres the best voxels are those with the luckiest noise: one fibre then explains hardly more than no
 * direction at all. */
static hot_status check_fibres(const estimate *e)
{
    double explained = 0;
    for (size_t i = 0; i < e->chosen; i++) {
        const float *signals = e->signals + e->merits[i].place * e->volumes;
        const double flat = flat_misfit(e, signals, mean_b0(e, signals));
        explained += (flat > 0 ? 1 - e->misfit[e->merits[i].place] / flat : 0) / (double)e->chosen;
    }
    if (!(explained > least_explained))
        return hot_context_fail(e->context, HOT_ERROR_DATA,
                                "no voxel looks like a single fibre: in the best %zu the fibre explains %.0f %% of how "
                                "the signal varies with direction; give a response (--response, --diffusivities) or "
                                "another mask", e->chosen, 100 * fmax(explained, 0));
    return HOT_OK;
}

hot_status hot_response_estimate(hot_context *context, const hot_dwi *dwi, const hot_mask *mask, int lmax,
                                 hot_response **response, size_t *voxels)
{
    hot_status status = HOT_OK;
    hot_response *current = NULL;
    unsigned char *before = NULL;
    estimate *e = NULL;
    if (!context)
        return HOT_ERROR_ARGUMENT;
    if (!dwi || !mask || !response || lmax < 0 || lmax > 16 || lmax % 2 != 0)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "a response needs data, a mask, and an even lmax from 2 to 16, not %d", lmax);
    *response = NULL;
    if (!hot_dwi_has_b0(dwi))
        return hot_context_fail(context, HOT_ERROR_DATA, "'%s' has no b=0 volume (b of at most 50 s/mm^2); a response "
                                "needs the signal without diffusion weighting", hot_dwi_source(dwi));
    status = hot_mask_check(context, mask, hot_dwi_grid(dwi));
    if (status != HOT_OK)
        return status;
    e = hot_context_calloc(context, 1, sizeof *e);
    if (!e)
        return HOT_ERROR_MEMORY;
    e->context = context;
    e->dwi = dwi;
    e->mask = mask;
    e->lmax = lmax == 0 ? 8 : lmax;
    e->volumes = hot_dwi_volumes(dwi);
    e->shells = hot_dwi_shells(dwi, &e->shell_b, &e->shell_of);
    /* order 4 tells crossings apart well enough and is not led by noise */
    const hot_fit_options probe = {.size = sizeof probe, .model = "adc", .order = 0, .regularise = -1};
    hot_plan *plan = NULL;
    status = hot_plan_make(context, dwi, &probe, NULL, 0, &plan);
    if (status != HOT_OK)
        goto cleanup;
    e->order = plan->order < 4 ? plan->order : 4;
    e->order = e->order > e->lmax ? e->lmax : e->order;
    hot_plan_free(&plan);
    const size_t terms = hot_model_terms(e->order);
    e->forms = hot_context_alloc(context, DIRECTIONS, terms * sizeof *e->forms);
    e->voxel = hot_context_alloc(context, CANDIDATES, sizeof *e->voxel);
    e->signals = hot_context_alloc(context, CANDIDATES, e->volumes * sizeof *e->signals);
    e->tensors = hot_context_alloc(context, CANDIDATES, (terms + 1) * sizeof *e->tensors);
    e->work = hot_context_alloc(context, CANDIDATES, (e->volumes + 1) * sizeof *e->work);
    e->axis = hot_context_alloc(context, CANDIDATES, 3 * sizeof *e->axis);
    e->merits = hot_context_alloc(context, CANDIDATES, sizeof *e->merits);
    e->sorted = hot_context_alloc(context, CANDIDATES, sizeof *e->sorted);
    e->misfit = hot_context_alloc(context, CANDIDATES, sizeof *e->misfit);
    e->row = hot_context_alloc(context, e->shells, sizeof *e->row);
    before = hot_context_calloc(context, CANDIDATES, 1);
    if (!e->forms || !e->voxel || !e->signals || !e->tensors || !e->work || !e->axis || !e->merits || !e->sorted ||
        !e->misfit || !e->row || !before) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    spread(e->directions);
    make_near(e);
    status = make_forms(e);
    if (status == HOT_OK)
        status = first_choice(e, &current);
    if (status == HOT_OK)
        status = whole_mask(e, current);
    int same = 0;
    for (int round = 0; round < ROUNDS && status == HOT_OK && !same; round++) {
        status = choose(e, current, before, &same);
        if (status == HOT_OK)
            status = check_fibres(e);
        hot_response_destroy(&current);
        if (status == HOT_OK)
            status = make_response(e, &current);
    }
    if (status == HOT_OK)
        status = hot_response_check(context, current, NULL);
    if (status != HOT_OK)
        goto cleanup;
    *response = current;
    current = NULL;
    if (voxels)
        *voxels = e->chosen;
cleanup:
    hot_response_destroy(&current);
    hot_context_free(context, before);
    hot_context_free(context, e->row);
    hot_context_free(context, e->misfit);
    hot_context_free(context, e->sorted);
    hot_context_free(context, e->merits);
    hot_context_free(context, e->axis);
    hot_context_free(context, e->work);
    hot_context_free(context, e->tensors);
    hot_context_free(context, e->signals);
    hot_context_free(context, e->voxel);
    hot_context_free(context, e->forms);
    hot_context_free(context, e);
    return status;
}
