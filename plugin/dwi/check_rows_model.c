/* How likely the signals of volumes are under rows of a gradient table: a Gaussian process. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "check_rows.h"
#include "common/linear.h"
#include "core/random.h"

/* Tissues: axial and radial diffusivities, um^2/ms; isotropic ones. DEGREES: of harmonics, 0 2 4 6. */
enum { TISSUES = 5, ISOTROPIC = 6, DEGREES = 4, NODES = 32, PERMUTATIONS = 20 };
static const double tissue[TISSUES][2] = {{1.7, 0.2}, {1.7, 0.4}, {1.2, 0.3}, {2.2, 0.6}, {1.0, 0.6}};
static const double isotropic[ISOTROPIC] = {0, 0.3, 0.7, 1.1, 1.8, 3};
/* Factors of all diffusivities; variance of the anisotropic part, and of the noise. */
static const double scales[] = {0.25, 0.5, 1, 2}, shares[] = {0.1, 0.4, 1.6, 0};
static const double noises[] = {0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1};
static const int places[3] = {4, 3, 7}; /* the last share only if signals may not depend on directions at all */

static void legendre(double x, double value[DEGREES])
{
    const double s = x * x;
    value[0] = 1;
    value[1] = (3 * s - 1) / 2;
    value[2] = ((35 * s - 30) * s + 3) / 8;
    value[3] = (((231 * s - 315) * s + 105) * s - 5) / 16;
}

/* Rotational harmonics of one tissue's signal at b (ms/um^2): the mean of signal times Legendre polynomial. Simpson's
 * rule on [0, 1]. */
static void decay(double b, const double *d, double value[DEGREES])
{
    memset(value, 0, DEGREES * sizeof *value);
    for (int n = 0; n <= NODES; n++) {
        const double x = (double)n / NODES, weight = (n == 0 || n == NODES ? 1. : n % 2 ? 4. : 2.) / (3. * NODES);
        const double signal = weight * exp(-b * (d[1] + (d[0] - d[1]) * x * x));
        double p[DEGREES];
        legendre(x, p);
        for (int l = 0; l < DEGREES; l++)
            value[l] += signal * p[l];
    }
}

void hot_rows_covariance(const hot_rows *rows, const int place[3], double *k, double *work)
{
    enum { EACH = TISSUES * DEGREES + ISOTROPIC };
    const size_t volumes = rows->volumes;
    const double scale = scales[place[0]], share = shares[place[1]], noise = noises[place[2]];
    double *of = work; /* volumes x EACH */
    for (size_t v = 0; v < volumes; v++) {
        const double b = scale * rows->b[v] / 1000;
        for (int t = 0; t < TISSUES; t++)
            decay(b, tissue[t], of + v * EACH + t * DEGREES);
        for (int d = 0; d < ISOTROPIC; d++)
            of[v * EACH + TISSUES * DEGREES + d] = exp(-b * isotropic[d]);
    }
    for (size_t u = 0; u < volumes; u++)
        for (size_t v = 0; v <= u; v++) {
            const double *g = rows->gradients + 3 * u, *h = rows->gradients + 3 * v;
            const double *a = of + u * EACH, *c = of + v * EACH;
            double p[DEGREES], sum[DEGREES] = {0}, decays = 0;
            legendre(g[0] * h[0] + g[1] * h[1] + g[2] * h[2], p);
            for (int t = 0; t < TISSUES; t++)
                for (int l = 0; l < DEGREES; l++)
                    sum[l] += a[t * DEGREES + l] * c[t * DEGREES + l];
            for (int d = TISSUES * DEGREES; d < EACH; d++)
                decays += a[d] * c[d];
            double value = (decays + sum[0]) / ISOTROPIC + (u == v ? noise : 0);
            for (int l = 1; l < DEGREES; l++)
                value += share / TISSUES * (4 * l + 1) * sum[l] * p[l];
            k[u * volumes + v] = k[v * volumes + u] = value;
        }
}

void hot_rows_make(const hot_rows *rows, hot_rows_model *model, double *work)
{
    const size_t n = rows->volumes;
    double *a = model->inverse, *pivots = work;
    hot_rows_covariance(rows, model->place, a, work);
    model->log_determinant = 0;
    for (size_t k = 0; k < n; k++) { /* sweeps every pivot of the lower triangle: minus the inverse remains */
        for (size_t j = 0; j < n; j++)
            pivots[j] = j < k ? a[k * n + j] : a[j * n + k];
        const double pivot = pivots[k];
        model->log_determinant += log(pivot);
        for (size_t i = 0; i < n; i++) {
            double *row = a + i * n;
            const double factor = pivots[i] / pivot;
            if (i == k)
                continue;
            for (size_t j = 0; j <= i; j++)
                row[j] -= factor * pivots[j];
            if (k < i)
                row[k] = factor;
        }
        for (size_t j = 0; j < k; j++)
            a[k * n + j] = pivots[j] / pivot;
        a[k * n + k] = -1 / pivot;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            a[i * n + j] = a[j * n + i] = -a[i * n + j];
}

static double likelihood_of(double trace, double log_determinant, size_t volumes)
{
    return -0.5 * ((double)volumes * log(fmax(trace, 1e-300) / (double)volumes) + log_determinant);
}

double hot_rows_likelihood(const hot_rows *rows, const hot_rows_model *model, const size_t *order)
{
    const size_t n = rows->volumes;
    double trace = 0;
    for (size_t i = 0; i < n; i++) {
        const double *a = model->inverse + i * n, *g = rows->gram + order[i] * n;
        double sum = 0;
        for (size_t j = 0; j < i; j++)
            sum += a[j] * g[order[j]];
        trace += 2 * sum + a[i] * g[order[i]];
    }
    return likelihood_of(trace, model->log_determinant, n);
}

double hot_rows_best(const hot_rows *rows, const hot_rows_model *models, const size_t *order)
{
    double best = -INFINITY;
    for (int m = 0; m < HOT_ROWS_MODELS; m++)
        best = fmax(best, hot_rows_likelihood(rows, models + m, order));
    return best;
}

hot_status hot_rows_choose(const hot_rows *rows, const size_t *order, hot_rows_model *model)
{
    const size_t n = rows->volumes;
    double *space = hot_context_alloc(rows->context, 2 * n * n + 64 * n, sizeof *space);
    if (!space)
        return HOT_ERROR_MEMORY;
    hot_rows_model tried = {.inverse = space};
    double *work = space + n * n, best;
    int moved = 1;
    hot_rows_make(rows, model, work);
    best = hot_rows_likelihood(rows, model, order);
    while (moved && !hot_context_cancelled(rows->context)) {
        moved = 0;
        for (int c = 2; c >= 0; c--)
            for (int way = -1; way <= 1; way += 2)
                for (;;) {
                    memcpy(tried.place, model->place, sizeof tried.place);
                    tried.place[c] += way;
                    if (tried.place[c] < 0 || tried.place[c] >= places[c])
                        break;
                    hot_rows_make(rows, &tried, work);
                    const double value = hot_rows_likelihood(rows, &tried, order);
                    if (!(value > best + 1e-9))
                        break;
                    best = value;
                    moved = 1;
                    memcpy(model->place, tried.place, sizeof tried.place);
                    model->log_determinant = tried.log_determinant;
                    memcpy(model->inverse, tried.inverse, n * n * sizeof *space);
                }
    }
    hot_context_free(rows->context, space);
    return hot_context_check(rows->context, "comparing volumes with the gradient table");
}

/* order, with its volumes permuted within groups; drawn anew for every `number`. */
static void permute(const hot_rows *rows, const size_t *order, uint64_t number, size_t *permuted)
{
    hot_random random = hot_random_start(number, rows->volumes, 40);
    memcpy(permuted, order, rows->volumes * sizeof *permuted);
    for (int group = 0; group < rows->groups; group++) {
        size_t before = 0;
        for (size_t v = 0; v < rows->volumes; v++) {
            if (rows->group[v] != group)
                continue;
            size_t take = (size_t)(hot_random_uniform(&random) * (double)++before), u = 0;
            while (rows->group[u] != group || take-- > 0)
                u++;
            const size_t other = permuted[u];
            permuted[u] = permuted[v];
            permuted[v] = other;
        }
    }
}

void hot_rows_permuted(const hot_rows *rows, const hot_rows_model *models, const size_t *order, double *mean,
                       double *deviation)
{
    double sum = 0, square = 0;
    size_t *permuted = hot_context_alloc(rows->context, rows->volumes, sizeof *permuted);
    *mean = *deviation = NAN;
    if (!permuted)
        return;
    for (int p = 0; p < PERMUTATIONS; p++) {
        permute(rows, order, (uint64_t)p, permuted);
        const double value = hot_rows_best(rows, models, permuted);
        sum += value;
        square += value * value;
    }
    *mean = sum / PERMUTATIONS;
    *deviation = sqrt(fmax(0, square / PERMUTATIONS - *mean * *mean) + 1e-8);
    hot_context_free(rows->context, permuted);
}

/* Rows of every so many volumes: eigenvalues of many cost too much. */
static hot_status thin(const hot_rows *rows, size_t most, hot_rows *few, double **space)
{
    const size_t step = (rows->volumes + most - 1) / most;
    size_t n = 0;
    *few = *rows;
    *space = hot_context_alloc(rows->context, most, (most + 4) * sizeof **space + sizeof(int));
    if (!*space)
        return HOT_ERROR_MEMORY;
    few->volumes = (rows->volumes + step - 1) / step;
    few->gram = *space;
    few->b = few->gram + few->volumes * few->volumes;
    few->gradients = few->b + few->volumes;
    few->group = (int *)(few->gradients + 3 * few->volumes);
    for (size_t v = 0; v < rows->volumes; v += step, n++) {
        few->b[n] = rows->b[v];
        few->group[n] = rows->group[v];
        memcpy(few->gradients + 3 * n, rows->gradients + 3 * v, 3 * sizeof(double));
        for (size_t u = 0, m = 0; u < rows->volumes; u += step, m++)
            few->gram[n * few->volumes + m] = rows->gram[v * rows->volumes + u];
    }
    return HOT_OK;
}

hot_status hot_rows_sensitivity(const hot_rows *all, double *sensitivity, double *noise_alone)
{
    enum { MOST = 64, TRIED = 8 };
    hot_rows few;
    double *thinned, best = -INFINITY;
    HOT_TRY(thin(all, MOST, &few, &thinned));
    const size_t n = few.volumes;
    *noise_alone = 0.5 + 0.16 * (double)(n * n) / (double)all->voxels; /* measured */
    double *space = hot_context_alloc(all->context, 4 * n * n + 64 * n, sizeof *space);
    size_t *order = hot_context_alloc(all->context, 2 * n, sizeof *order), *permuted = order + n;
    *sensitivity = 0;
    hot_status status = space && order ? HOT_OK : HOT_ERROR_MEMORY;
    if (status == HOT_OK) {
        double *k = space + n * n, *spectrum = k + n * n, *values = spectrum + n, *work = values + n;
        hot_rows_model model = {.inverse = space};
        memcpy(k, few.gram, n * n * sizeof *k);
        hot_symmetric_eigen((int)n, k, spectrum, NULL);
        for (int s = 0; s < places[0]; s++)
            for (int a = 0; a <= places[1]; a++) { /* noise adds to all eigenvalues */
                const int quiet[3] = {s, a, 0};
                hot_rows_covariance(&few, quiet, k, work);
                hot_symmetric_eigen((int)n, k, values, NULL);
                for (int noise = 0; noise < places[2]; noise++) {
                    double trace = 0, determinant = 0;
                    for (size_t i = 0; i < n; i++) { /* the least trace of a product (von Neumann) */
                        const double value = fmax(values[i], 0) + noises[noise] - noises[0] * (values[i] > 0);
                        trace += spectrum[i] / value;
                        determinant += log(value);
                    }
                    const double value = likelihood_of(trace, determinant, n);
                    if (value > best) {
                        best = value;
                        memcpy(model.place, (int[3]){s, a, noise}, sizeof model.place);
                    }
                }
            }
        hot_rows_make(&few, &model, work);
        hot_rows_covariance(&few, model.place, k, work);
        for (size_t i = 0; i < n; i++)
            order[i] = i;
        few.gram = k; /* as if the rows were right */
        for (int p = 0; p < TRIED; p++) {
            permute(&few, order, (uint64_t)p, permuted);
            *sensitivity += (hot_rows_likelihood(&few, &model, order) - hot_rows_likelihood(&few, &model, permuted)) /
                            TRIED;
        }
    }
    HOT_FREE(all->context, order, space, thinned);
    return status;
}
