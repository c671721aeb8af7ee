/* Directions, slow and plain: the form on a dense half sphere, every point that no neighbour (across the equator too)
 * exceeds and every point near which Newton's method says a maximum lies, from each of them uphill in double, then
 * clustering by the definition. No faces, no seams, no ties lost; 1500 points find what 12000 find. */
#include <math.h>
#include <omp.h>

#include <hotfiber/symtensor.h>

#include "directions_ref.h"
#include "common/entry.h"
#include "symtensor/sphere.h"
#include "tangent.h"

enum { NEIGHBOURS = 24, REFERENCE_TERMS = 91 };

typedef struct dense_sphere {
    size_t points;
    double reach;   /* three spacings, in radians */
    double *x;      /* points x 3 */
    double *form;   /* points x terms: the monomials with their multiplicities */
    int *neighbour; /* points x NEIGHBOURS, -1 = none */
} dense_sphere;

static void dense_free(hot_context *context, dense_sphere *dense)
{
    hot_context_free(context, dense->x);
    hot_context_free(context, dense->form);
    hot_context_free(context, dense->neighbour);
}

static hot_status dense_make(hot_context *context, int order, size_t points, dense_sphere *dense)
{
    const size_t terms = hot_symtensor_count(order, 3);
    const double spacing = sqrt(2 * 3.14159265358979323846 / (double)points);
    *dense = (dense_sphere){.points = points, .reach = 3 * spacing};
    dense->x = hot_context_alloc(context, points, 3 * sizeof *dense->x);
    dense->form = hot_context_alloc(context, points, terms * sizeof *dense->form);
    dense->neighbour = hot_context_alloc(context, points, NEIGHBOURS * sizeof *dense->neighbour);
    if (!dense->x || !dense->form || !dense->neighbour)
        return HOT_ERROR_MEMORY;
    hot_sphere_lattice(points, dense->x);
    int exponents[3 * REFERENCE_TERMS];
    double multiplicity[REFERENCE_TERMS];
    hot_status status = hot_symtensor_exponents(order, 3, exponents);
    if (status == HOT_OK)
        status = hot_symtensor_multiplicity(order, 3, multiplicity);
    if (status != HOT_OK)
        return status;
    for (size_t p = 0; p < points; p++)
        for (size_t k = 0; k < terms; k++) {
            double value = multiplicity[k];
            for (int d = 0; d < 3; d++)
                for (int e = 0; e < exponents[3 * k + (size_t)d]; e++)
                    value *= dense->x[3 * p + (size_t)d];
            dense->form[p * terms + k] = value;
        }
    /* Neighbours: within 1.9 times the mean spacing, up to sign; about eleven. */
    const double reach = cos(1.9 * spacing);
    for (size_t p = 0; p < points; p++) {
        int n = 0;
        for (size_t q = 0; q < points && n < NEIGHBOURS; q++) {
            const double *a = dense->x + 3 * p, *b = dense->x + 3 * q;
            if (q != p && fabs(a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) >= reach)
                dense->neighbour[p * NEIGHBOURS + (size_t)n++] = (int)q;
        }
        for (; n < NEIGHBOURS; n++)
            dense->neighbour[p * NEIGHBOURS + (size_t)n] = -1;
    }
    return HOT_OK;
}

typedef struct peak {
    double value, x[3];
} peak;

/* By definition: largest first; each that is high enough and apart from all kept before it. */
static int choose(const hot_directions_args *args, peak *peaks, int count, float *out)
{
    for (int i = 1; i < count; i++)
        for (int j = i; j > 0 && peaks[j].value > peaks[j - 1].value; j--) {
            const peak swap = peaks[j];
            peaks[j] = peaks[j - 1];
            peaks[j - 1] = swap;
        }
    int kept[HOT_DIRECTIONS_MAX], found = 0;
    for (int i = 0; i < count && found < args->keep; i++) {
        const double *x = peaks[i].x;
        int keep = peaks[i].value > 0 && peaks[i].value >= (double)args->threshold * peaks[0].value;
        for (int j = 0; j < found; j++) {
            const double *y = peaks[kept[j]].x, cosine = x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
            keep = keep && cosine * cosine <= (double)args->apart;
        }
        if (!keep)
            continue;
        float *v = out + 3 * found;
        for (int d = 0; d < 3; d++)
            v[d] = (float)(peaks[i].value * x[d]);
        const int other = v[2] != 0 ? v[2] < 0 : v[1] != 0 ? v[1] < 0 : v[0] < 0;
        for (int d = 0; d < 3; d++)
            v[d] = (other ? -v[d] : v[d]) + 0.0f;
        kept[found++] = i;
    }
    return found;
}

static int one(const hot_directions_args *args, const dense_sphere *dense, const float *row, double *value, peak *peaks,
               float *out)
{
    const size_t terms = hot_symtensor_count(args->order, 3);
    double tensor[REFERENCE_TERMS], scale = 0;
    for (size_t k = 0; k < terms; k++) {
        if (!isfinite(row[k]))
            return HOT_DIRECTIONS_INVALID;
        tensor[k] = (double)row[k];
        scale = fmax(scale, fabs(tensor[k]));
    }
    if (scale == 0)
        return 0;
    double high = -INFINITY, low = INFINITY;
    for (size_t p = 0; p < dense->points; p++) {
        double sum = 0;
        for (size_t k = 0; k < terms; k++)
            sum += dense->form[p * terms + k] * tensor[k];
        value[p] = sum;
        high = fmax(high, sum);
        low = fmin(low, sum);
    }
    if (high <= (double)HOT_DIRECTIONS_ZERO * scale || high - low < (double)args->min_relative_range * fabs(high))
        return 0;
    int count = 0;
    for (size_t p = 0; p < dense->points; p++) {
        if (!(value[p] > (double)HOT_DIRECTIONS_ZERO * scale))
            continue;
        peak *at = peaks + count;
        for (int d = 0; d < 3; d++)
            at->x[d] = dense->x[3 * p + (size_t)d];
        /* A maximum must be near: the form is concave here and Newton's step is a few spacings long at most. */
        hot_tangent t;
        hot_tangent_at(args->order, tensor, at->x, &t);
        int near = 0;
        if (t.high < 0) {
            const double det = t.low * t.high;
            near = hypot(t.curve[1] * t.slope[1] - t.curve[2] * t.slope[0],
                         t.curve[1] * t.slope[0] - t.curve[0] * t.slope[1]) <= dense->reach * det;
        }
        int top = !near; /* or none of the neighbours is higher */
        for (int n = 0; n < NEIGHBOURS && top; n++) {
            const int q = dense->neighbour[p * NEIGHBOURS + (size_t)n];
            top = q < 0 || value[p] >= value[q];
        }
        if (!near && !top)
            continue;
        if (!hot_tangent_climb(args->order, tensor, scale, at->x, &t) || t.high > 1e-9 * scale)
            continue;
        at->value = t.value;
        int known = 0;
        for (int i = 0; i < count && !known; i++)
            known = fabs(peaks[i].x[0] * at->x[0] + peaks[i].x[1] * at->x[1] + peaks[i].x[2] * at->x[2]) > 1 - 1e-12;
        count += !known;
    }
    return choose(args, peaks, count, out);
}

hot_status hot_directions_ref_dense(hot_context *context, const hot_directions_args *args, size_t points)
{
    const size_t threads = (size_t)hot_context_threads(context), row = 3 * (size_t)args->keep;
    dense_sphere dense;
    double *value = NULL;
    peak *peaks = NULL;
    hot_status status = dense_make(context, args->order, points, &dense);
    if (status != HOT_OK)
        goto cleanup;
    value = hot_context_alloc(context, threads * points, sizeof *value);
    peaks = hot_context_alloc(context, threads * points, sizeof *peaks);
    if (!value || !peaks) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    for (size_t start = 0; start < args->count && status == HOT_OK; start += 1024) {
        const long size = (long)(args->count - start < 1024 ? args->count - start : 1024);
#pragma omp parallel for schedule(dynamic, 1) num_threads(hot_team((int)threads))
        for (long i = 0; i < size; i++) {
            const size_t item = start + (size_t)i, mine = (size_t)omp_get_thread_num() * points;
            float *out = args->directions + item * row;
            int found = 0;
            for (size_t k = 0; k < row; k++)
                out[k] = 0;
            if (!args->mask || args->mask[item])
                found = one(args, &dense, args->tensors + item * args->stride, value + mine, peaks + mine, out);
            if (args->found)
                args->found[item] = (uint8_t)found;
        }
        status =
            hot_context_progress(context, "finding directions", (double)(start + (size_t)size) / (double)args->count);
    }
cleanup:
    hot_context_free(context, value);
    hot_context_free(context, peaks);
    dense_free(context, &dense);
    return status;
}

hot_status hot_directions_ref(hot_context *context, void *args)
{
    return hot_directions_ref_dense(context, args, 2000);
}
