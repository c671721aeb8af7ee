/* The response of the chosen voxels, and whether one fibre explains them. */
#include "response_estimate.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "common/linear.h"

/* How much of the variation with direction a fibre must explain: in noise alone it is a few percent (a quarter with 15
 * directions), in a scan of poor quality six tenths. */
static const double min_explained = .45;
/* In noise alone the first choice explains at most 9 over the number of volumes (64 directions: .10, 30: .29).
 * Where contrast is low the first response is mostly noise as well, and only later ones explain the fibres (FiberCup at
 * b=650: .31, then .7). So the earlier rounds must explain this over the number of volumes. */
static const double min_explained_early = 12;
/* Of the normal equations of the zonal coefficients; evenly spread angles give about 5. */
static const double condition_max = 1000;
enum { ZONAL_MAX = 9 }; /* l = 0, 2, ..., 16 */

double hot_response_mean_b0(const hot_response_search *search, size_t candidate)
{
    const float *signals = search->signals + candidate * search->volumes;
    double sum = 0;
    size_t count = 0;
    for (size_t v = 0; v < search->volumes; v++)
        if (search->shell_of[v] == 0) {
            sum += (double)signals[v];
            count++;
        }
    return sum / (double)count;
}

/* Whether the volume is in one of the halves: bits. By a hash: tables often repeat themselves. */
static int in_half(size_t volume, int halves) { return halves >> ((uint32_t)volume * 2654435761u >> 29 & 1) & 1; }

/* The normal equations of one shell's zonal coefficients, n of them. */
static void add_equations(const hot_response_search *search, size_t shell, size_t n, double *gram, double *right)
{
    for (size_t i = 0; i < search->chosen; i++) {
        const size_t place = search->merits[i].place;
        const int halves = search->candidates[place].halves;
        const float *signals = search->signals + place * search->volumes;
        const double *axis = search->candidates[place].axis, s0 = hot_response_mean_b0(search, place);
        for (size_t v = 0; v < search->volumes; v++) {
            const double *g = hot_dwi_gradients(search->dwi) + 3 * v;
            double y[ZONAL_MAX];
            if (search->shell_of[v] != (int)shell || !in_half(v, halves))
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
}

hot_status hot_response_from_chosen(hot_response_search *search, hot_response **made)
{
    hot_context *context = search->context;
    const size_t n = (size_t)search->lmax / 2 + 1;
    double unit = 0;
    hot_status status = hot_response_make(context, search->shells, search->lmax, made);
    for (size_t i = 0; i < search->chosen; i++)
        unit += hot_response_mean_b0(search, search->merits[i].place) / (double)search->chosen;
    for (size_t s = 0; s < search->shells && status == HOT_OK; s++) {
        double gram[ZONAL_MAX * ZONAL_MAX] = {0}, right[ZONAL_MAX] = {0}, inverse[ZONAL_MAX * ZONAL_MAX];
        double *row = (*made)->rows + s * n;
        (*made)->b[s] = search->shell_b[s];
        if (s == 0) {
            row[0] = unit * sqrt(4 * M_PI);
            continue;
        }
        add_equations(search, s, n, gram, right);
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
                            search->shell_b[s], search->chosen, 2 * (int)m - 2);
        for (size_t a = 0; a < m; a++)
            for (size_t b = 0; b < m && status == HOT_OK; b++)
                row[a] += inverse[a * m + b] * right[b] * unit;
        /* from degree 6 on a sign that no fibre has is noise, and so are the degrees above it */
        for (size_t a = 3; a < m; a++)
            if ((a % 2 ? -row[a] : row[a]) < 0 || row[a - 1] == 0)
                row[a] = 0;
    }
    if (status != HOT_OK)
        hot_response_destroy(made);
    return status;
}

double hot_response_off_axis(const hot_response_search *search, const float *signals, const double axis[3], int halves,
                             double *contrast)
{
    double misfit = 0, freedom = 0, zonal = 0;
    *contrast = 0;
    for (size_t s = 1; s < search->shells; s++) {
        double gram[3][ZONAL_MAX] = {{0}}, right[3] = {0}, sums[3], squares = 0;
        size_t count = 0;
        for (size_t v = 0; v < search->volumes; v++)
            count += search->shell_of[v] == (int)s && search->row[s] >= 0 && in_half(v, halves);
        const size_t n = count >= 15 ? 3 : count >= 6 ? 2 : 1;
        if (count <= n)
            continue;
        for (size_t v = 0; v < search->volumes; v++) {
            const double *g = hot_dwi_gradients(search->dwi) + 3 * v, signal = (double)signals[v];
            if (search->shell_of[v] != (int)s || !in_half(v, halves))
                continue;
            const double cosine = g[0] * axis[0] + g[1] * axis[1] + g[2] * axis[2];
            const double y[3] = {1, hot_model_legendre(2, cosine), hot_model_legendre(4, cosine)};
            squares += signal * signal;
            for (size_t a = 0; a < n; a++) {
                right[a] += y[a] * signal;
                for (size_t b = 0; b < n; b++)
                    gram[a][b] += y[a] * y[b];
            }
        }
        memcpy(sums, right, sizeof sums);
        /* Degrees that the angles do not determine, always the last ones, are 0. */
        const size_t determined = hot_cholesky_factor(n, ZONAL_MAX, gram[0], 1e-9);
        hot_cholesky_forward(determined, ZONAL_MAX, gram[0], right);
        hot_cholesky_backward(determined, ZONAL_MAX, gram[0], right);
        for (size_t a = determined; a < n; a++)
            right[a] = 0;
        for (size_t a = 0; a < n; a++)
            squares -= right[a] * sums[a];
        *contrast -= right[1]; /* of P_2 */
        misfit += fmax(squares, 0);
        freedom += (double)(count - n);
        zonal += (double)count * (right[1] * right[1] / 5 + right[2] * right[2] / 9); /* P_l's mean square: 1/(2l+1) */
    }
    return zonal > 0 ? misfit / freedom / zonal : INFINITY;
}

/* The mean squared deviation of one voxel's signals from their shells' means, in units of s0. */
static double flat_misfit(const hot_response_search *search, const float *signals, double s0)
{
    double misfit = 0;
    size_t count = 0;
    for (size_t s = 1; s < search->shells; s++) {
        double sum = 0, squares = 0;
        size_t n = 0;
        for (size_t v = 0; v < search->volumes; v++)
            if (search->shell_of[v] == (int)s && search->row[s] >= 0) {
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
hot_status hot_response_check_chosen(const hot_response_search *search, int last)
{
    double explained = 0;
    size_t weighted = 0;
    for (size_t v = 0; v < search->volumes; v++)
        weighted += search->shell_of[v] > 0 && search->row[search->shell_of[v]] >= 0;
    const double least = last ? min_explained : fmin(min_explained, min_explained_early / (double)weighted);
    for (size_t i = 0; i < search->chosen; i++) {
        const size_t place = search->merits[i].place;
        const float *signals = search->signals + place * search->volumes;
        const double flat = flat_misfit(search, signals, hot_response_mean_b0(search, place));
        explained += (flat > 0 ? 1 - search->candidates[place].misfit / flat : 0) / (double)search->chosen;
    }
    if (!(explained > least))
        return hot_context_fail(search->context, HOT_ERROR_DATA,
                                "no voxel looks like a single fibre: in the best %zu the fibre explains %.0f %% of how "
                                "the signal varies with direction; give a response (--response, --diffusivities) or "
                                "another mask", search->chosen, 100 * fmax(explained, 0));
    return HOT_OK;
}
