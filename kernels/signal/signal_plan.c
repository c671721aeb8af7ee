/* The plan of a data set: see signal_plan.h. */
#include "signal_plan.h"

#include <math.h>
#include <string.h>

#include "common/free.h"
#include "signal_response.h"
#include "symtensor/sphere.h"

enum { B0_LIMIT = 50 };

/* Legendre polynomials of even degree: coefficients of u^0, u^2, ... */
static const double legendre_even[SIGNAL_TERMS][SIGNAL_TERMS] = {
    {1},
    {-1 / 2.0, 3 / 2.0},
    {3 / 8.0, -30 / 8.0, 35 / 8.0},
    {-5 / 16.0, 105 / 16.0, -315 / 16.0, 231 / 16.0},
    {35 / 128.0, -1260 / 128.0, 6930 / 128.0, -12012 / 128.0, 6435 / 128.0},
};

/* The pairs' classes: separations from, to (degrees). Nearer pairs than the first are not searched. */
static const double class_limits[SEPARATION_BINS + 1] = {22, 40, 62, 90.001};
/* The width given to the response in the start search, rad^2: a little blur makes the search forgiving. */
static const double search_tau = 0.005;

/* The response's value at u = cos(angle to the fibre), its parts of each degree times `left`. */
static double response_value(const signal_scheme *s, int shell, const double left[SIGNAL_TERMS], double u)
{
    double value = 0;
    for (int l = 0; l < SIGNAL_TERMS; l++) {
        double part = 0;
        for (int p = SIGNAL_TERMS - 1; p >= 0; p--)
            part = part * u * u + s->zonal[shell][l][p];
        value += left[l] * part;
    }
    return value;
}

/* Which shell of the response a volume belongs to, or -1. */
static int find_shell(const hot_signal_scheme *scheme, double b)
{
    int best = -1;
    double off = INFINITY;
    for (size_t s = 0; s < scheme->shells; s++)
        if (fabs(scheme->shell_b[s] - b) < off) {
            off = fabs(scheme->shell_b[s] - b);
            best = (int)s;
        }
    return off <= fmax(100, 0.15 * b) ? best : -1;
}

static void fill_response(const hot_signal_options *options, const hot_signal_scheme *scheme, signal_scheme *s)
{
    for (int shell = 0; shell < s->shells; shell++) {
        double amplitude[SIGNAL_TERMS] = {0};
        hot_signal_clean_response(options, scheme, (size_t)shell, options->order, amplitude);
        s->b[shell] = (float)(scheme->shell_b[shell] * 1e-3);
        for (int l = 0; l < SIGNAL_TERMS; l++)
            for (int p = 0; p < SIGNAL_TERMS; p++)
                s->zonal[shell][l][p] = (float)(amplitude[l] * legendre_even[l][p]);
    }
}

void hot_signal_fill_directions(float *v)
{
    double points[3 * SIGNAL_GRID];
    hot_sphere_lattice(SIGNAL_GRID, points);
    for (int i = 0; i < 3 * SIGNAL_GRID; i++)
        v[i] = (float)points[i];
}

void hot_signal_fill_pairs(signal_grid *grid)
{
    const float *v = grid->v, *gram = grid->gram;
    memset(grid->pairs, 0, sizeof grid->pairs);
    for (int d = 0; d < SIGNAL_GRID; d++)
        for (int e = 0; e < d; e++) {
            double dot = fabs((double)v[3 * d] * v[3 * e] + (double)v[3 * d + 1] * v[3 * e + 1] +
                              (double)v[3 * d + 2] * v[3 * e + 2]);
            double angle = acos(fmin(dot, 1)) * 57.29577951308232;
            int c = 0;
            while (c < SEPARATION_BINS && !(angle >= class_limits[c] && angle < class_limits[c + 1]))
                c++;
            if (c == SEPARATION_BINS)
                continue;
            double a = gram[d * SIGNAL_GRID + d] + SIGNAL_RIDGE / 2, b = gram[e * SIGNAL_GRID + e] + SIGNAL_RIDGE / 2;
            double o = gram[d * SIGNAL_GRID + e] - SIGNAL_RIDGE / 2, det = a * b - o * o;
            const int n = grid->pairs[c]++;
            int *at = (int *)grid->pair_at[c] + 2 * n;
            float *inverse = (float *)grid->pair_inverse[c] + 3 * n;
            at[0] = d;
            at[1] = e;
            inverse[0] = (float)(b / det);
            inverse[1] = (float)(a / det);
            inverse[2] = (float)(-o / det);
        }
}

/* The grid, filters, Gram matrix, pairs. Something isotropic is part of every fit, so the search looks only at what
 * changes with direction: the filters are without their mean on each shell. */
static void fill_grid(signal_plan *plan)
{
    const signal_scheme *s = &plan->scheme;
    signal_grid *grid = &plan->grid;
    float *v = (float *)grid->v, *gram = (float *)grid->gram, *filter = (float *)grid->filter;
    double left[SIGNAL_TERMS];
    for (int l = 0; l < SIGNAL_TERMS; l++)
        left[l] = exp(-l * (2 * l + 1) * search_tau);
    hot_signal_fill_directions(v);
    for (int d = 0; d < SIGNAL_GRID; d++) {
        for (int shell = 0; shell < s->shells; shell++)
            for (int j = s->first[shell]; j < s->first[shell + 1]; j++) {
                const float *g = s->g + 3 * j;
                double u = (double)v[3 * d] * g[0] + (double)v[3 * d + 1] * g[1] + (double)v[3 * d + 2] * g[2];
                filter[(size_t)d * (size_t)s->volumes + (size_t)j] = (float)response_value(s, shell, left, u);
            }
        for (int shell = 0; shell < s->shells; shell++) {
            float *row = filter + (size_t)d * (size_t)s->volumes;
            double mean = 0;
            for (int j = s->first[shell]; j < s->first[shell + 1]; j++)
                mean += (double)row[j] / (s->first[shell + 1] - s->first[shell]);
            for (int j = s->first[shell]; j < s->first[shell + 1]; j++)
                row[j] -= (float)mean;
        }
    }
    enum { TILE = 4 }; /* sums that do not wait for each other */
    _Static_assert(SIGNAL_GRID % TILE == 0, "whole tiles");
    for (int d = 0; d < SIGNAL_GRID; d++)
        for (int e = 0; e <= d; e += TILE) {
            const float *fd = filter + (size_t)d * (size_t)s->volumes, *fe = filter + (size_t)e * (size_t)s->volumes;
            double sum[TILE] = {0};
            for (int j = 0; j < s->volumes; j++)
                for (int i = 0; i < TILE; i++)
                    sum[i] += (double)fd[j] * fe[(size_t)i * (size_t)s->volumes + (size_t)j];
            for (int i = 0; i < TILE; i++)
                gram[d * SIGNAL_GRID + e + i] = gram[(e + i) * SIGNAL_GRID + d] = (float)sum[i];
        }
    hot_signal_fill_pairs(grid);
}

/* Sorts the volumes: the diffusion-weighted ones by shell, then b=0. Leaves out shells without volumes. */
static hot_status sort_volumes(hot_context *context, const hot_signal_scheme *scheme, int has_s0, signal_plan *plan,
                               hot_signal_scheme *used, double *shell_b, double *response)
{
    const size_t row = (size_t)scheme->lmax / 2 + 1;
    size_t n = 0;
    *used = *scheme;
    used->shell_b = shell_b;
    used->response = response;
    used->shells = 0;
    for (size_t shell = 0; shell < scheme->shells; shell++) {
        size_t before = n;
        for (size_t v = 0; v < scheme->volumes; v++)
            if (scheme->b[v] > B0_LIMIT && find_shell(scheme, scheme->b[v]) == (int)shell)
                plan->order[n++] = v;
        if (n == before)
            continue;
        shell_b[used->shells] = scheme->shell_b[shell];
        memcpy(response + used->shells * row, scheme->response + shell * row, row * sizeof *response);
        plan->scheme.first[used->shells] = (int)before;
        used->shells++;
    }
    plan->scheme.first[used->shells] = (int)n;
    plan->scheme.shells = (int)used->shells;
    plan->scheme.volumes = (int)n;
    plan->all_volumes = scheme->volumes;
    for (size_t v = 0; v < scheme->volumes; v++)
        if (scheme->b[v] <= B0_LIMIT)
            plan->order[n++] = v;
    plan->b0_volumes = n - (size_t)plan->scheme.volumes;
    if (n != scheme->volumes)
        for (size_t v = 0; v < scheme->volumes; v++)
            if (scheme->b[v] > B0_LIMIT && find_shell(scheme, scheme->b[v]) < 0)
                return hot_context_fail(context, HOT_ERROR_DATA,
                                        "the response has no shell for volume %zu with b = %g s/mm^2", v, scheme->b[v]);
    if (plan->scheme.volumes < 6)
        return hot_context_fail(context, HOT_ERROR_DATA,
                                "fibres need at least 6 diffusion-weighted volumes, the data have %d",
                                plan->scheme.volumes);
    if (plan->b0_volumes == 0 && !has_s0)
        return hot_context_fail(context, HOT_ERROR_DATA,
                                "the data have no b=0 volume and no b=0 signal was given: volume fractions need one");
    return HOT_OK;
}

hot_status hot_signal_plan_make(hot_context *context, const hot_signal_options *options,
                                const hot_signal_scheme *scheme, int has_s0, signal_plan *plan)
{
    const size_t pairs_max = (size_t)SIGNAL_GRID * (SIGNAL_GRID - 1) / 2;
    double shell_b[SIGNAL_MAX_SHELLS], response[SIGNAL_MAX_SHELLS * 9];
    hot_signal_scheme used;
    hot_status status = HOT_OK;
    memset(plan, 0, sizeof *plan);
    plan->max_fibers = options->max_fibers;
    plan->ceiling = options->ceiling > 0 ? (float)options->ceiling : INFINITY;
    plan->order = hot_context_alloc(context, scheme->volumes, sizeof *plan->order);
    /* g, v, gram, filter, misfit; then for each pair two indices and three numbers */
    size_t fixed =
        (3 + SIGNAL_MISFIT) * scheme->volumes + 3 * SIGNAL_GRID + (size_t)SIGNAL_GRID * SIGNAL_GRID +
        SIGNAL_GRID * scheme->volumes;
    plan->block_size = fixed + 5 * pairs_max * SEPARATION_BINS;
    plan->block = hot_context_calloc(context, plan->block_size, sizeof *plan->block);
    if (!plan->order || !plan->block) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    status = sort_volumes(context, scheme, has_s0, plan, &used, shell_b, response);
    if (status != HOT_OK)
        goto cleanup;

    float *next = plan->block;
    float *g = next;
    plan->scheme.g = next, next += 3 * scheme->volumes;
    plan->grid.v = next, next += 3 * SIGNAL_GRID;
    plan->grid.gram = next, next += SIGNAL_GRID * SIGNAL_GRID;
    plan->grid.filter = next, next += SIGNAL_GRID * scheme->volumes;
    float *misfit = next;
    next += SIGNAL_MISFIT * scheme->volumes;
    for (int c = 0; c < SEPARATION_BINS; c++) {
        plan->grid.pair_at[c] = (const int *)next, next += 2 * pairs_max;
        plan->grid.pair_inverse[c] = next, next += 3 * pairs_max;
    }
    for (int j = 0; j < plan->scheme.volumes; j++) {
        const double *from = scheme->gradients + 3 * plan->order[j];
        double length = sqrt(from[0] * from[0] + from[1] * from[1] + from[2] * from[2]);
        if (!(length > 0.5 && length < 2)) {
            status = hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                      "the gradient of volume %zu has length %g and should be a unit vector",
                                      plan->order[j], length);
            goto cleanup;
        }
        for (int d = 0; d < 3; d++)
            g[3 * j + d] = (float)(from[d] / length);
    }
    fill_response(options, &used, &plan->scheme);
    plan->scheme.pedestal = options->noise_model == HOT_NOISE_GAUSSIAN ? SIGNAL_PEDESTAL : 0;
    hot_signal_fill_learned(options->population, plan->b0_volumes, &plan->learned);
    hot_signal_fill_misfit(&plan->scheme, misfit, &plan->learned);
    fill_grid(plan);

cleanup:
    if (status != HOT_OK)
        hot_signal_plan_free(context, plan);
    return status;
}

hot_status hot_signal_progress(hot_context *context, const hot_signal_args *args, double done)
{
    const double *range = args->options->progress;
    return hot_context_progress(context, "finding fibres", range[0] + (range[1] - range[0]) * done);
}

void hot_signal_plan_free(hot_context *context, signal_plan *plan)
{
    HOT_FREE(context, plan->order, plan->block);
    plan->order = NULL;
    plan->block = NULL;
}
