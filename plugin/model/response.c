/* The single-fibre response: made from diffusivities, checked, matched with a data set's shells. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/arguments.h"
#include "model.h"
#include "common/entry.h"

enum { LMAX_MAX = 16, NODES = 64 };

hot_status hot_response_make(hot_context *context, size_t shells, int lmax, hot_response **made)
{
    *made = NULL;
    if (lmax < 0 || lmax > LMAX_MAX || lmax % 2 != 0)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "a response with lmax %d; it is even, from 0 to %d", lmax,
                                LMAX_MAX);
    hot_response *response = hot_context_calloc(context, 1, sizeof *response);
    if (!response)
        return HOT_ERROR_MEMORY;
    *response = (hot_response){.context = context, .shells = shells, .lmax = lmax, .typical = 1};
    response->b = hot_context_alloc(context, shells, sizeof *response->b);
    response->rows = hot_context_calloc(context, shells, (size_t)(lmax / 2 + 1) * sizeof *response->rows);
    if (!response->b || !response->rows) {
        hot_response_destroy(&response);
        return HOT_ERROR_MEMORY;
    }
    for (size_t s = 0; s < shells; s++)
        response->b[s] = NAN;
    *made = response;
    return HOT_OK;
}

hot_status hot_response_copy(hot_context *context, const hot_response *response, hot_response **copy)
{
    HOT_TRY(hot_response_make(context, response->shells, response->lmax, copy));
    (*copy)->typical = response->typical;
    (*copy)->noise = response->noise;
    memcpy((*copy)->b, response->b, response->shells * sizeof *response->b);
    memcpy((*copy)->rows, response->rows, response->shells * (size_t)(response->lmax / 2 + 1) * sizeof *response->rows);
    return HOT_OK;
}

hot_status hot_response_create(hot_context *context, size_t shells, int lmax, const double *b, const double *rows,
                               hot_response **response)
{
    HOT_ENTRY(context);
    HOT_CLEAR(response);
    HOT_NEED(context, b, rows, response);
    if (!context || !response)
        return HOT_ERROR_ARGUMENT;
    if (shells == 0 || shells > 1000 || !b || !rows)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "a response needs shells, b-values and rows; %zu shells were given", shells);
    hot_response *made = NULL;
    hot_status status = hot_response_make(context, shells, lmax, &made);
    if (status != HOT_OK)
        return status;
    const size_t values = shells * ((size_t)lmax / 2 + 1);
    memcpy(made->b, b, shells * sizeof *b);
    memcpy(made->rows, rows, values * sizeof *rows);
    for (size_t i = 0; i < values && status == HOT_OK; i++)
        if (!isfinite(rows[i]))
            status = hot_context_fail(context, HOT_ERROR_ARGUMENT, "coefficient %zu of a response is %g", i, rows[i]);
    for (size_t s = 0; s < shells && status == HOT_OK; s++)
        if (!(b[s] >= 0) || isinf(b[s]))
            status = hot_context_fail(context, HOT_ERROR_ARGUMENT, "shell %zu of a response has the b-value %g", s,
                                      b[s]);
    if (status != HOT_OK)
        hot_response_destroy(&made);
    *response = made;
    return status;
}

double hot_response_value(const hot_response *response, size_t row, double cosine)
{
    const double *r = hot_response_row(response, row, NULL);
    double sum = 0;
    for (int l = 0; l <= response->lmax; l += 2)
        sum += r[l / 2] * sqrt((2 * l + 1) / (4 * M_PI)) * hot_model_legendre(l, cosine);
    return sum;
}

/* Nodes and weights of Gauss-Legendre quadrature on [-1, 1], by Newton's method on P_NODES. */
static void gauss_legendre(double *node, double *weight)
{
    for (int i = 0; i < NODES; i++) {
        double x = cos(M_PI * (i + .75) / (NODES + .5)), slope = 1;
        for (int step = 0; step < 20; step++) {
            const double p = hot_model_legendre(NODES, x), before = hot_model_legendre(NODES - 1, x);
            slope = NODES * (x * p - before) / (x * x - 1);
            x -= p / slope;
        }
        node[i] = x;
        weight[i] = 2 / ((1 - x * x) * slope * slope);
    }
}

hot_status hot_response_tensor(hot_context *context, const hot_dwi *dwi, double axial, double radial, double s0,
                               int lmax, hot_response **response)
{
    HOT_ENTRY(context);
    HOT_CLEAR(response);
    HOT_NEED(context, dwi, response);
    double node[NODES], weight[NODES];
    const double *shell_b;
    if (!(axial > 0) || !(radial >= 0) || !isfinite(axial) || !isfinite(radial))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "an axial diffusivity of %g and a radial one of %g; they are in mm^2/s, such as "
                                "0.0017,0.0003", axial, radial);
    if (!(radial < axial))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "a radial diffusivity (%g) that is not below the axial one (%g)", radial, axial);
    if (axial > .1)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "a diffusivity of %g mm^2/s (water at body temperature has 0.003): in mm^2/s, such as "
                                "0.0017,0.0003", axial);
    if (!(s0 > 0) || !isfinite(s0))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "a b=0 signal of %g", s0);
    const size_t shells = hot_dwi_shells(dwi, &shell_b, NULL);
    HOT_TRY(hot_response_make(context, shells, lmax == 0 ? 8 : lmax, response));
    hot_response *filled = *response;
    gauss_legendre(node, weight);
    for (size_t s = 0; s < shells; s++) {
        double *row = filled->rows + s * (size_t)(filled->lmax / 2 + 1);
        filled->b[s] = shell_b[s];
        if (shell_b[s] <= 50) {
            row[0] = s0 * sqrt(4 * M_PI);
            continue;
        }
        for (int l = 0; l <= filled->lmax; l += 2)
            for (int i = 0; i < NODES; i++)
                row[l / 2] += 2 * M_PI * weight[i] * sqrt((2 * l + 1) / (4 * M_PI)) * hot_model_legendre(l, node[i]) *
                              s0 * exp(-shell_b[s] * (radial + (axial - radial) * node[i] * node[i]));
    }
    return HOT_OK;
}

hot_status hot_response_check_order(hot_context *context, const hot_response *response, int order)
{
    if (response->lmax >= order)
        return HOT_OK;
    if (response->lmax < 2)
        return hot_context_fail(context, HOT_ERROR_DATA,
                                "the response has no coefficients above l=0, as that of an isotropic tissue; a fibre's "
                                "(of white matter, the first of several) has");
    return hot_context_fail(context, HOT_ERROR_DATA,
                            "the response has coefficients up to l=%d, order %d needs l=%d; give --order %d, or a "
                            "response estimated with --lmax %d", response->lmax, order, order, response->lmax, order);
}

/* "0, 1000, 3000" of some b-values, for messages. */
static void list_b(size_t count, const double *b, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < count && used + 24 < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%.0f", i ? ", " : "", b[i]);
}

hot_status hot_response_match(hot_context *context, const hot_response *response, const hot_dwi *dwi, int *row)
{
    const double *shell_b;
    const size_t shells = hot_dwi_shells(dwi, &shell_b, NULL), rows = response->shells;
    const size_t b0 = hot_dwi_has_b0(dwi) ? 1 : 0;
    int known = rows > 0, matched = 0;
    char have[256], want[256];
    for (size_t s = 0; s < shells; s++)
        row[s] = -1;
    for (size_t r = 0; r < rows; r++)
        known &= !isnan(response->b[r]);
    list_b(shells, shell_b, have, sizeof have);
    if (!known) {
        /* without b-values the number of rows must speak: all shells, all but b=0, or the outermost alone */
        const size_t first = rows == shells ? 0 : rows + b0 == shells ? b0 : rows == 1 ? shells - 1 : shells;
        if (first == shells)
            return hot_context_fail(context, HOT_ERROR_DATA,
                                    "the response has %zu rows and does not say for which b-values; the data have %zu "
                                    "shells (b = %s)", rows, shells, have);
        for (size_t r = 0; r < rows; r++)
            row[first + r] = (int)r;
        return HOT_OK;
    }
    for (size_t s = 0; s < shells; s++) {
        double nearest = .05 * shell_b[s] + 50;
        for (size_t r = 0; r < rows; r++) {
            const double distance = fabs(response->b[r] - shell_b[s]);
            const int both_b0 = response->b[r] <= 50 && shell_b[s] <= 50,
                      one_b0 = (response->b[r] <= 50) != (shell_b[s] <= 50);
            if (both_b0 || (!one_b0 && distance <= nearest)) {
                nearest = both_b0 ? 0 : distance;
                row[s] = (int)r;
            }
        }
        matched += s >= b0 && row[s] >= 0;
    }
    if (matched == 0) {
        list_b(rows, response->b, want, sizeof want);
        return hot_context_fail(context, HOT_ERROR_DATA, "the response is for b = %s, the data have b = %s", want,
                                have);
    }
    return HOT_OK;
}

/* The row of the next lower b-value, or -1; rows may be in any order. */
static int next_lower(const hot_response *response, size_t row)
{
    int found = -1;
    for (size_t s = 0; s < response->shells; s++) {
        const double b = response->b[s];
        if (b < response->b[row] && hot_response_row(response, s, NULL)[0] > 0 && (found < 0 || b > response->b[found]))
            found = (int)s;
    }
    return found;
}

hot_status hot_response_check(hot_context *context, const hot_response *response, size_t *warnings)
{
    HOT_ENTRY(context);
    HOT_NEED(context, response);
    size_t count = 0;
    for (size_t s = 0; s < response->shells; s++) {
        double b;
        const double *r = hot_response_row(response, s, &b);
        char name[48] = "the response";
        if (!isnan(b))
            snprintf(name, sizeof name, "the response at b=%.0f", b);
        int finite = 1, contrast = 0;
        for (int l = 0; l <= response->lmax; l += 2) {
            finite &= isfinite(r[l / 2]) != 0;
            contrast |= l > 0 && r[l / 2] != 0;
        }
        if (!finite || !(r[0] > 0)) {
            hot_context_log(context, HOT_LOG_WARNING, "%s has a mean signal of %g", name, r[0] / sqrt(4 * M_PI));
            count++;
            continue;
        }
        const int lower = next_lower(response, s);
        if (lower >= 0 && r[0] > hot_response_row(response, (size_t)lower, NULL)[0]) {
            hot_context_log(context, HOT_LOG_WARNING, "%s is brighter than at b=%.0f; signals fall with b", name,
                            response->b[lower]);
            count++;
        }
        if (!contrast || b <= 50)
            continue;
        const double along = hot_response_value(response, s, 1), across = hot_response_value(response, s, 0);
        if (!(across > along)) {
            hot_context_log(context, HOT_LOG_WARNING,
                            "%s is brighter along the fibre (%.4g) than across it (%.4g): are the gradients in the "
                            "frame of the image?", name, along, across);
            count++;
            continue;
        }
        double lowest = across, dip = 0, highest = along;
        for (int i = 0; i <= 90; i++) {
            const double value = hot_response_value(response, s, cos(i * M_PI / 180));
            lowest = fmin(lowest, value);
            highest = fmax(highest, value);
            dip = fmax(dip, highest - value); /* from along to across the signal should only rise */
        }
        if (lowest < -.05 * across) { /* less is what the harmonics above lmax leave out */
            hot_context_log(context, HOT_LOG_WARNING, "%s is negative somewhere (%.3g, across the fibre %.3g)", name,
                            lowest, across);
            count++;
        }
        if (dip > .1 * (across - along)) {
            hot_context_log(context, HOT_LOG_WARNING,
                            "%s does not rise steadily from along the fibre to across it (it falls by %.0f %% of the "
                            "range on the way)", name, 100 * dip / (across - along));
            count++;
        }
        for (int l = 2; l <= response->lmax; l += 2)
            if (r[l / 2] * (l % 4 == 0 ? 1 : -1) < -.005 * r[0]) {
                hot_context_log(context, HOT_LOG_WARNING,
                                "%s: coefficient l=%d is %.4g, but the signs should go + - + - ...", name, l, r[l / 2]);
                count++;
                break;
            }
    }
    if (warnings)
        *warnings = count;
    return HOT_OK;
}
