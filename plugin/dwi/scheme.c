/* The highest order that a set of gradient directions determines. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scheme.h"
#include "common/entry.h"

/* Coefficients of an even order on the sphere. */
static size_t terms_of(int order) { return (size_t)(order + 1) * (size_t)(order + 2) / 2; }

/* Directions closer than half a degree count once. */
static const double same_cosine = 0.99996192306417; /* cos(0.5 degrees) */
/* A design matrix in orthonormal harmonics has condition 1 for evenly spread directions; beyond this the noise of the
 * worst determined coefficient is so many times that of the best that the tensor is noise. */
static const double condition_max = 100;

size_t hot_scheme_distinct(size_t count, const double *gradients)
{
    size_t distinct = 0;
    for (size_t i = 0; i < count; i++) {
        const double *g = gradients + 3 * i;
        int seen = g[0] == 0 && g[1] == 0 && g[2] == 0;
        for (size_t j = 0; j < i && !seen; j++) {
            const double *h = gradients + 3 * j;
            seen = fabs(g[0] * h[0] + g[1] * h[1] + g[2] * h[2]) > same_cosine;
        }
        distinct += !seen;
    }
    return distinct;
}

int hot_scheme_planar(size_t count, const double *gradients, double normal[3])
{
    double m[3][3] = {{0}};
    for (size_t i = 0; i < count; i++)
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                m[a][b] += gradients[3 * i + a] * gradients[3 * i + b] / (double)count;
    /* The adjugate of a matrix with one vanishing eigenvalue is its normal's outer product; det / (sum of principal
     * minors) is that eigenvalue, the mean squared distance from the plane. */
    double adjugate[3][3], minors = 0, longest = -1;
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            const int a1 = (a + 1) % 3, a2 = (a + 2) % 3, b1 = (b + 1) % 3, b2 = (b + 2) % 3;
            adjugate[a][b] = m[a1][b1] * m[a2][b2] - m[a1][b2] * m[a2][b1];
        }
    const double determinant = m[0][0] * adjugate[0][0] + m[0][1] * adjugate[0][1] + m[0][2] * adjugate[0][2];
    memset(normal, 0, 3 * sizeof *normal);
    for (int a = 0; a < 3; a++) {
        minors += adjugate[a][a];
        const double length = sqrt(adjugate[a][0] * adjugate[a][0] + adjugate[a][1] * adjugate[a][1] +
                                   adjugate[a][2] * adjugate[a][2]);
        if (length > longest) {
            longest = length;
            for (int b = 0; b < 3; b++)
                normal[b] = length > 0 ? adjugate[a][b] / length : 0;
        }
    }
    return !(minors > 1e-4) || !(determinant / minors > 1e-4);
}

hot_status hot_scheme_supports(hot_context *context, size_t count, const double *gradients, int order, int *supports)
{
    const size_t terms = terms_of(order);
    double condition = INFINITY;
    *supports = 0;
    if (count < terms || hot_scheme_distinct(count, gradients) < terms)
        return HOT_OK;
    double *design = hot_context_alloc(context, count, terms * sizeof *design);
    double *inverse = hot_context_alloc(context, count, terms * sizeof *inverse);
    hot_status status = design && inverse ? hot_sh_values_f64(order, count, gradients, design) : HOT_ERROR_MEMORY;
    if (status == HOT_OK)
        status = hot_fit_pseudo_inverse(context, count, terms, design, NULL, inverse, &condition);
    HOT_FREE(context, inverse, design);
    if (status == HOT_ERROR_DATA) /* not of full rank: an answer, not a failure */
        return HOT_OK;
    *supports = condition <= condition_max;
    return status;
}

hot_status hot_scheme_of_volumes(hot_context *context, const hot_dwi *dwi, size_t count, const size_t *use, int order,
                                 size_t *distinct, int *supports)
{
    double *gradients = hot_context_alloc(context, count, 3 * sizeof *gradients);
    size_t weighted = 0;
    if (!gradients)
        return HOT_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++) {
        const size_t v = use ? use[i] : i;
        if (!(dwi->has_b0 && dwi->shell_of[v] == 0))
            memcpy(gradients + 3 * weighted++, dwi->gradients + 3 * v, 3 * sizeof *gradients);
    }
    *distinct = hot_scheme_distinct(weighted, gradients);
    hot_status status = hot_scheme_supports(context, weighted, gradients, order, supports);
    hot_context_free(context, gradients);
    return status;
}

double hot_dwi_largest_b(const hot_dwi *dwi)
{
    double largest = 0;
    for (size_t v = 0; v < hot_dwi_volumes(dwi); v++)
        largest = fmax(largest, hot_dwi_b(dwi)[v]);
    return largest;
}

hot_status hot_scheme_refuse(hot_context *context, const hot_dwi *dwi, size_t count, const double *gradients, int order,
                             const char *what)
{
    const char *source = hot_dwi_name(dwi);
    const size_t distinct = hot_scheme_distinct(count, gradients);
    double normal[3];
    int lower = order - 2;
    if (count == 0)
        return hot_context_fail(context, HOT_ERROR_DATA,
                                "'%s' has no diffusion-weighted volume: its largest b-value is %g s/mm^2, and up to 50 "
                                "counts as b=0 (1000 and more is usual; is it in another unit?)", source,
                                hot_dwi_largest_b(dwi));
    if (distinct > 2 && hot_scheme_planar(count, gradients, normal))
        return hot_context_fail(context, HOT_ERROR_DATA,
                                "all %zu gradient directions of '%s' (%s) are in one plane (normal %.3f %.3f %.3f): "
                                "they determine no tensor of any order", distinct, source, what, normal[0], normal[1],
                                normal[2]);
    for (int supports = 0; lower > 0 && !supports; lower -= supports ? 0 : 2) {
        HOT_TRY(hot_scheme_supports(context, count, gradients, lower, &supports));
    }
    char remedy[64] = "no order would do";
    if (lower > 0)
        snprintf(remedy, sizeof remedy, "order %d would do", lower);
    if (distinct < terms_of(order))
        return hot_context_fail(context, HOT_ERROR_DATA,
                                "order %d needs %zu different gradient directions, '%s' has %zu (%s); %s", order,
                                terms_of(order), source, distinct, what, remedy);
    return hot_context_fail(context, HOT_ERROR_DATA,
                            "the %zu gradient directions of '%s' (%s) are spread too unevenly for order %d; %s",
                            distinct, source, what, order, remedy);
}

hot_status hot_dwi_shell_scheme(hot_context *context, const hot_dwi *dwi, int shell, int *order, size_t *distinct,
                                int *planar)
{
    double normal[3], *gradients = hot_context_alloc(context, dwi->volumes, 3 * sizeof *gradients);
    size_t count = 0;
    *order = 0;
    *distinct = 0;
    *planar = 0;
    if (!gradients)
        return HOT_ERROR_MEMORY;
    for (size_t v = 0; v < dwi->volumes; v++) {
        const double *g = dwi->gradients + 3 * v;
        if (dwi->shell_of[v] == shell && (g[0] != 0 || g[1] != 0 || g[2] != 0))
            memcpy(gradients + 3 * count++, g, 3 * sizeof *g);
    }
    *distinct = hot_scheme_distinct(count, gradients);
    *planar = *distinct > 2 && hot_scheme_planar(count, gradients, normal);
    hot_status status = HOT_OK;
    for (int supports = 1; *order < 8 && supports && status == HOT_OK;) {
        status = hot_scheme_supports(context, count, gradients, *order + 2, &supports);
        *order += supports ? 2 : 0;
    }
    hot_context_free(context, gradients);
    return status;
}

int hot_dwi_highest_order(hot_context *context, const hot_dwi *dwi, int shell)
{
    HOT_ENTRY(context);
    int best = 0;
    if (!dwi || shell < HOT_ANY_SHELL || shell >= (int)dwi->shells) {
        hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, dwi ? "shell" : "dwi", "%s",
                                   dwi ? "there is no such shell" : "it is NULL");
        return -1;
    }
    if (!context)
        return -1;
    for (size_t s = dwi->has_b0 ? 1 : 0; s < dwi->shells; s++) {
        int order, planar;
        size_t distinct;
        if (shell >= 0 && (size_t)shell != s)
            continue;
        if (hot_dwi_shell_scheme(context, dwi, (int)s, &order, &distinct, &planar) != HOT_OK)
            return -1;
        best = order > best ? order : best;
    }
    return best;
}

size_t hot_dwi_outer_volumes(const hot_dwi *dwi)
{
    size_t count = 0;
    for (size_t v = 0; v < dwi->volumes; v++)
        count += dwi->shell_of[v] + 1 == (int)dwi->shells;
    return count;
}
