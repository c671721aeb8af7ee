/* Least squares with D(u_j) >= 0 in 512 directions, for the voxels that need it.
 *
 * In coordinates z = L^T (c - c0) with the normal matrix G = L L^T the problem is: the shortest z with B z >= h. Its
 * dual has one multiplier per direction and is solved by going through the directions in turn (Hildreth 1957). */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "positive.h"
#include "common/entry.h"
#include "common/linear.h"
#include "symtensor/sphere.h"

enum { DIRECTIONS = 512, COLUMNS_MAX = HOT_MODEL_TERMS_MAX + 1, SWEEPS = 400 };

typedef struct positive_scratch {
    double gram[COLUMNS_MAX * COLUMNS_MAX]; /* its Cholesky factor, lower */
    double multiplier[DIRECTIONS], need[DIRECTIONS], length[DIRECTIONS];
    double rows[DIRECTIONS * COLUMNS_MAX]; /* B */
    double z[COLUMNS_MAX], c[COLUMNS_MAX];
} positive_scratch;

/* The lowest value of the function with coefficients c in the directions of `forms`, 0 when all are above. */
static double lowest(const double *forms, size_t terms, const double *c)
{
    double least = 0;
    for (size_t j = 0; j < DIRECTIONS; j++) {
        double value = 0;
        for (size_t a = 0; a < terms; a++)
            value += forms[j * terms + a] * c[a];
        least = fmin(least, value);
    }
    return least;
}

/* c: the unconstrained solution (columns values, harmonics of D b_max first); becomes the constrained one. */
static void constrain(const hot_plan *plan, const double *forms, positive_scratch *s)
{
    const size_t n = plan->columns, terms = plan->terms, used = plan->used_count;
    memset(s->gram, 0, n * n * sizeof(double));
    for (size_t r = 0; r < plan->rows; r++) {
        const double *d = plan->design + r * n;
        double model = 0;
        for (size_t a = 0; a < n; a++)
            model += d[a] * s->c[a];
        const double w = r < used && plan->weighted ? exp(-2 * fmin(fmax(model, -1), 20)) : 1;
        for (size_t a = 0; a < n; a++)
            for (size_t b = 0; b <= a; b++)
                s->gram[a * n + b] += w * d[a] * d[b];
    }
    if (hot_cholesky_factor(n, n, s->gram, 0) < n)
        return;
    double scale = 0;
    for (size_t j = 0; j < DIRECTIONS; j++) {
        double *row = s->rows + j * n, value = 0, length = 0;
        for (size_t a = 0; a < n; a++) {
            row[a] = a < terms ? forms[j * terms + a] : 0;
            value += row[a] * s->c[a];
        }
        hot_cholesky_forward(n, n, s->gram, row);
        for (size_t a = 0; a < n; a++)
            length += row[a] * row[a];
        s->need[j] = -value;
        s->length[j] = length;
        s->multiplier[j] = 0;
        scale = fmax(scale, fabs(value));
    }
    memset(s->z, 0, n * sizeof(double));
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double worst = 0;
        for (size_t j = 0; j < DIRECTIONS; j++) {
            const double *row = s->rows + j * n;
            double missing = s->need[j];
            for (size_t a = 0; a < n; a++)
                missing -= row[a] * s->z[a];
            const double step = fmax(missing / s->length[j], -s->multiplier[j]);
            worst = fmax(worst, missing);
            if (step == 0)
                continue;
            s->multiplier[j] += step;
            for (size_t a = 0; a < n; a++)
                s->z[a] += step * row[a];
        }
        if (worst <= 1e-9 * scale)
            break;
    }
    hot_cholesky_backward(n, n, s->gram, s->z);
    for (size_t a = 0; a < n; a++)
        s->c[a] += s->z[a];
    /* Lift remaining negative values, and those that rounding to float will make. */
    s->c[0] += (1e-6 * scale - lowest(forms, terms, s->c)) * sqrt(4 * M_PI);
}

hot_status hot_model_make_positive(const hot_plan *plan, size_t count, const float *s0, float *values)
{
    hot_context *context = plan->context;
    hot_status status = HOT_OK;
    const size_t terms = plan->terms;
    const int threads = hot_context_threads(context);
    double directions[3 * DIRECTIONS];
    double *forms = hot_context_alloc(context, DIRECTIONS, terms * sizeof *forms);
    positive_scratch *scratch = hot_context_alloc(context, (size_t)threads, sizeof *scratch);
    if (!forms || !scratch) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    hot_sphere_lattice(DIRECTIONS, directions);
    status = hot_sh_values_f64(plan->order, DIRECTIONS, directions, forms);
    if (status != HOT_OK)
        goto cleanup;
#pragma omp parallel for num_threads(hot_team(count > 64 ? threads : 1)) schedule(dynamic, 64)
    for (size_t v = 0; v < count; v++) {
        if (!(s0[v] > 0) || hot_context_cancelled(context))
            continue;
        positive_scratch *s = scratch + omp_get_thread_num();
        float *tensor = values + v * (terms + 1) + 1;
        memset(s->c, 0, sizeof s->c);
        for (size_t a = 0; a < terms; a++)
            for (size_t t = 0; t < terms; t++)
                s->c[a] += plan->to_sh[a * terms + t] * (double)tensor[t] * plan->b_max;
        if (!(lowest(forms, terms, s->c) < 0))
            continue;
        constrain(plan, forms, s);
        for (size_t t = 0; t < terms; t++) {
            double sum = 0;
            for (size_t a = 0; a < terms; a++)
                sum += plan->from_sh[t * terms + a] * s->c[a];
            tensor[t] = (float)(sum / plan->b_max);
        }
    }
    status = hot_context_check(context, "fitting");
cleanup:
    HOT_FREE(context, scratch, forms);
    return status;
}
