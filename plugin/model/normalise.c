/* Intensities of several tissues made comparable from place to place and person to person: after Raffelt et al. 2017
 * and Dhollander et al. 2021. Voxels hold tissue and nothing else, so that their amounts add up to 1 but for a field
 * that varies smoothly, as coils receive. With a balance factor for each tissue (their responses have an error each)
 *
 *   ln(sum over tissues of balance x amount) = a polynomial of degree 3 in the voxel's place,
 *
 * by least squares over the voxels that are no outliers; factors, outliers and polynomial are found in turn. */
#include <math.h>
#include <string.h>

#include "dwi/summary.h"
#include "common/entry.h"
#include "common/linear.h"
#include "normalise.h"

enum { DEGREE = 3, TERMS_MAX = 20, ROUNDS = 15, BALANCE_ROUNDS = 7, BLOCK = 4096, UNKNOWNS_MAX = TERMS_MAX };

/* Outliers lie further below the lower quartile or above the upper one than this many times their distance. */
static const double first_range = 3, range = 1.5;

typedef struct normaliser {
    hot_context *context;
    size_t count, tissues, terms;
    int exponent[TERMS_MAX][3];
    double *amount;    /* count x tissues, none below 0 */
    double (*place)[3]; /* of each voxel, -1 to 1 along the image's axes */
    double *field, *value; /* count: of the logarithm, and of the summed tissues in it */
    float *sorted;         /* the values, in another order */
    uint8_t *used;     /* count: no outlier */
    double balance[HOT_TISSUES_MAX], coefficient[TERMS_MAX];
} normaliser;

/* Least squares over blocks of voxels, of which the sums are taken in order: the same for any number of threads. */
typedef struct normal_equations {
    double matrix[UNKNOWNS_MAX][UNKNOWNS_MAX], right[UNKNOWNS_MAX];
} normal_equations;

/* A voxel's row, and what it is to give. */
typedef double make_row(const normaliser *n, size_t v, double *row);

static void terms_at(const normaliser *n, const double *place, double *row)
{
    double power[3][DEGREE + 1];
    for (int d = 0; d < 3; d++) {
        power[d][0] = 1;
        for (int p = 1; p <= DEGREE; p++)
            power[d][p] = power[d][p - 1] * place[d];
    }
    for (size_t t = 0; t < n->terms; t++)
        row[t] = power[0][n->exponent[t][0]] * power[1][n->exponent[t][1]] * power[2][n->exponent[t][2]];
}

static double balanced_sum(const normaliser *n, size_t v)
{
    double sum = 0;
    for (size_t t = 0; t < n->tissues; t++)
        sum += n->balance[t] * n->amount[v * n->tissues + t];
    return sum;
}

static double row_of_tissues(const normaliser *n, size_t v, double *row)
{
    const double inverse = exp(-n->field[v]);
    for (size_t t = 0; t < n->tissues; t++)
        row[t] = n->amount[v * n->tissues + t] * inverse;
    return 1;
}

static double row_of_field(const normaliser *n, size_t v, double *row)
{
    terms_at(n, n->place[v], row);
    return log(balanced_sum(n, v));
}

/* The least-squares solution over the selected voxels; 0 if they do not determine it. */
static hot_status least_squares(const normaliser *n, size_t unknowns, make_row *make, double *x, int *solved)
{
    const size_t blocks = (n->count + BLOCK - 1) / BLOCK;
    normal_equations *parts = hot_context_calloc(n->context, blocks, sizeof *parts);
    if (!parts)
        return HOT_ERROR_MEMORY;
#pragma omp parallel for schedule(static) num_threads(hot_team(hot_context_threads(n->context)))
    for (size_t b = 0; b < blocks; b++)
        for (size_t v = b * BLOCK; v < n->count && v < (b + 1) * BLOCK; v++) {
            double row[UNKNOWNS_MAX];
            if (!n->used[v])
                continue;
            const double wanted = make(n, v, row);
            for (size_t i = 0; i < unknowns; i++) {
                parts[b].right[i] += row[i] * wanted;
                for (size_t j = 0; j <= i; j++)
                    parts[b].matrix[i][j] += row[i] * row[j];
            }
        }
    for (size_t b = 1; b < blocks; b++)
        for (size_t i = 0; i < unknowns; i++) {
            parts[0].right[i] += parts[b].right[i];
            for (size_t j = 0; j <= i; j++)
                parts[0].matrix[i][j] += parts[b].matrix[i][j];
        }
    double *matrix = parts[0].matrix[0];
    *solved = hot_cholesky_factor(unknowns, UNKNOWNS_MAX, matrix, 1e-12) == unknowns;
    if (*solved) {
        memcpy(x, parts[0].right, unknowns * sizeof *x);
        hot_cholesky_forward(unknowns, UNKNOWNS_MAX, matrix, x);
        hot_cholesky_backward(unknowns, UNKNOWNS_MAX, matrix, x);
    }
    hot_context_free(n->context, parts);
    return HOT_OK;
}

/* Marks the outliers among all voxels; returns how many marks have changed. */
static size_t find_outliers(normaliser *n, double times)
{
    size_t changed = 0;
    double quartile[2];
#pragma omp parallel for schedule(static) num_threads(hot_team(hot_context_threads(n->context)))
    for (size_t v = 0; v < n->count; v++) {
        n->value[v] = log(balanced_sum(n, v)) - n->field[v];
        n->sorted[v] = (float)n->value[v];
    }
    for (int q = 0; q < 2; q++)
        quartile[q] = (double)hot_sorted_at(n->sorted, n->count, (size_t)round((double)n->count * (q ? .75 : .25)));
    const double reach = times * (quartile[1] - quartile[0]);
    for (size_t v = 0; v < n->count; v++) {
        const uint8_t used = isfinite(n->value[v]) && n->value[v] >= quartile[0] - reach &&
                             n->value[v] <= quartile[1] + reach;
        changed += used != n->used[v];
        n->used[v] = used;
    }
    return changed;
}

/* Factors whose logarithms have the sum 0. */
static hot_status find_balance(normaliser *n)
{
    double mean = 0;
    int solved;
    hot_status status = least_squares(n, n->tissues, row_of_tissues, n->balance, &solved);
    for (size_t t = 0; t < n->tissues && status == HOT_OK; t++) {
        if (!solved || !(n->balance[t] > 0) || isinf(n->balance[t]))
            return hot_context_fail_parameter(n->context, HOT_ERROR_DATA, "normalise",
                                              "in these voxels tissue %zu of %zu is not told from the others (its "
                                              "factor is %g, and must be above 0)", t + 1, n->tissues,
                                              solved ? n->balance[t] : 0.0);
        mean += log(n->balance[t]) / (double)n->tissues;
    }
    for (size_t t = 0; t < n->tissues; t++)
        n->balance[t] /= exp(mean);
    return status;
}

static hot_status find_field(normaliser *n)
{
    int solved;
    hot_status status = least_squares(n, n->terms, row_of_field, n->coefficient, &solved);
    if (status == HOT_OK && !solved)
        return hot_context_fail_parameter(n->context, HOT_ERROR_DATA, "normalise",
                                          "%zu voxels do not determine a field of %zu coefficients", n->count,
                                          n->terms);
#pragma omp parallel for schedule(static) num_threads(hot_team(hot_context_threads(n->context)))
    for (size_t v = 0; v < n->count; v++) {
        double row[TERMS_MAX];
        terms_at(n, n->place[v], row);
        n->field[v] = 0;
        for (size_t t = 0; t < n->terms; t++)
            n->field[v] += n->coefficient[t] * row[t];
    }
    return status;
}

static void place_of(const hot_grid *grid, size_t voxel, double place[3])
{
    for (int d = 0; d < 3; d++) {
        const size_t at = voxel % grid->size[d];
        voxel /= grid->size[d];
        place[d] = grid->size[d] > 1 ? 2 * (double)at / (double)(grid->size[d] - 1) - 1 : 0;
    }
}

/* The voxels with some tissue; and the terms: along an axis a polynomial has a degree below the number of layers. */
static void gather(normaliser *n, const hot_tensor_field *field)
{
    const hot_grid *grid = &field->grid;
    const size_t voxels = hot_grid_voxels(grid);
    size_t first[3] = {SIZE_MAX, SIZE_MAX, SIZE_MAX}, last[3] = {0};
    for (size_t v = 0; v < voxels; v++) {
        const float *from = field->extra + v * field->extra_count;
        double sum = 0;
        for (size_t t = 0; t < n->tissues; t++)
            sum += n->amount[n->count * n->tissues + t] = from[t] > 0 ? (double)from[t] : 0;
        if (!(sum > 0) || isinf(sum))
            continue;
        place_of(grid, v, n->place[n->count]);
        n->count++;
        for (size_t d = 0, rest = v; d < 3; rest /= grid->size[d++]) {
            const size_t at = rest % grid->size[d];
            first[d] = at < first[d] ? at : first[d];
            last[d] = at > last[d] ? at : last[d];
        }
    }
    for (int a = 0; a <= DEGREE; a++)
        for (int b = 0; a + b <= DEGREE; b++)
            for (int c = 0; a + b + c <= DEGREE; c++) {
                const int exponent[3] = {a, b, c};
                int possible = n->count > 0;
                for (int d = 0; d < 3 && possible; d++)
                    possible = (size_t)exponent[d] <= last[d] - first[d];
                if (possible)
                    memcpy(n->exponent[n->terms++], exponent, sizeof exponent);
            }
}

static void divide(const normaliser *n, hot_tensor_field *field)
{
    const size_t voxels = hot_grid_voxels(&field->grid), width = 1 + hot_symtensor_count(field->order, 3);
    for (size_t v = 0; v < voxels; v++) {
        double place[3], row[TERMS_MAX], log_field = 0;
        place_of(&field->grid, v, place);
        terms_at(n, place, row);
        for (size_t t = 0; t < n->terms; t++)
            log_field += n->coefficient[t] * row[t];
        const float inverse = (float)exp(-log_field);
        for (size_t i = 1; i < width; i++)
            field->values[v * width + i] *= inverse;
        for (size_t t = 0; t < n->tissues; t++)
            field->extra[v * field->extra_count + t] *= inverse;
    }
}

hot_status hot_tensor_field_normalise(hot_context *context, hot_tensor_field *field)
{
    const size_t voxels = hot_grid_voxels(&field->grid), tissues = hot_tensor_field_tissues(field);
    normaliser n = {.context = context, .tissues = tissues};
    hot_status status = HOT_OK;
    if (tissues == 0)
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "normalise",
                                          "a field of the model %s has no tissues; msmt's has", field->model);
    n.amount = hot_context_alloc(context, voxels, tissues * sizeof *n.amount);
    n.place = hot_context_alloc(context, voxels, sizeof *n.place);
    n.field = hot_context_calloc(context, voxels, sizeof *n.field);
    n.value = hot_context_alloc(context, voxels, sizeof *n.value);
    n.sorted = hot_context_alloc(context, voxels, sizeof *n.sorted);
    n.used = hot_context_calloc(context, voxels, sizeof *n.used);
    if (!n.amount || !n.place || !n.field || !n.value || !n.sorted || !n.used) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    for (size_t t = 0; t < tissues; t++)
        n.balance[t] = 1;
    gather(&n, field);
    if (n.count < 2 * TERMS_MAX) {
        status = hot_context_fail_parameter(context, HOT_ERROR_DATA, "normalise",
                                            "%zu voxels have some tissue; a field of intensities takes %d or more",
                                            n.count, 2 * TERMS_MAX);
        goto cleanup;
    }
    find_outliers(&n, first_range);
    for (int round = 0; round < ROUNDS && status == HOT_OK; round++) {
        for (int inner = 0; inner < BALANCE_ROUNDS && status == HOT_OK; inner++) {
            if (tissues > 1)
                status = find_balance(&n);
            if (status != HOT_OK || find_outliers(&n, range) == 0)
                break;
        }
        if (status == HOT_OK)
            status = find_field(&n);
        if (status == HOT_OK)
            status = hot_context_progress(context, "normalising", (round + 1.0) / ROUNDS);
    }
    if (status == HOT_OK)
        divide(&n, field);
cleanup:
    HOT_FREE(context, n.amount, n.place, n.field, n.value, n.sorted, n.used);
    return status;
}
