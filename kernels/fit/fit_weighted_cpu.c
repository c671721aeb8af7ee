/* hot_fit_weighted_f32 on the CPU.
 *
 * The normal equations of all voxels share their products of design columns: entry (a, b) of D^T W D is
 * sum_r w_r (D_ra D_rb), a linear map of the weights. So the bulk of the work runs through the same core as
 * hot_fit_linear_f32, and eight voxels then go through Cholesky side by side. A voxel whose equations are
 * too badly conditioned for that (HOT_FIT_CONDITION) is solved again by QR of its weighted design. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "fit.h"
#include "common/entry.h"
#include "common/free.h"

enum { STRETCH = 1 << 14, LANES = HOT_FIT_LANES };

typedef struct weighted_plan {
    size_t rows, columns, pairs;        /* measurements, coefficients, columns (columns + 1) / 2 */
    size_t padded_pairs, padded_columns;
    const double *design;
    double *pair_matrix, *right_matrix; /* packed for the core */
    hot_fit_core *core;
    hot_fit_cholesky *cholesky;
} weighted_plan;

/* One thread's memory, cut from one allocation. */
typedef struct weighted_scratch {
    double *w, *wy;       /* rows x 4 */
    double *gram, *right; /* 8 voxels from the core, voxel after voxel */
    double *gram_lanes, *right_lanes, *z_lanes;
    double *qr, *qr_right; /* the fallback */
} weighted_scratch;

static size_t cut_scratch(const weighted_plan *plan, double *memory, weighted_scratch *scratch)
{
    size_t used = 0;
#define CUT(field, n) scratch->field = memory ? memory + used : NULL, used += (n)
    CUT(w, plan->rows * 4);
    CUT(wy, plan->rows * 4);
    CUT(gram, plan->padded_pairs * LANES);
    CUT(right, plan->padded_columns * LANES);
    CUT(gram_lanes, plan->pairs * LANES);
    CUT(right_lanes, plan->columns * LANES);
    CUT(z_lanes, plan->columns * LANES);
    CUT(qr, plan->rows * plan->columns);
    CUT(qr_right, plan->rows + 2 * plan->columns);
#undef CUT
    return used + 8;
}

/* Weighted QR of one voxel; 0 when its rank is short. */
static int solve_by_qr(const weighted_plan *plan, const weighted_scratch *scratch, const float *input,
                       const float *weight, float *x)
{
    for (size_t r = 0; r < plan->rows; r++) {
        const double root = sqrt((double)weight[r]);
        scratch->qr_right[r] = root * (double)input[r];
        for (size_t c = 0; c < plan->columns; c++)
            scratch->qr[r * plan->columns + c] = root * plan->design[r * plan->columns + c];
    }
    double *solution = scratch->qr_right + plan->rows;
    if (!hot_fit_qr_solve(plan->rows, plan->columns, scratch->qr, scratch->qr_right, 1e-10, solution,
                          solution + plan->columns))
        return 0;
    for (size_t c = 0; c < plan->columns; c++)
        if (!isfinite(solution[c]))
            return 0;
    for (size_t c = 0; c < plan->columns; c++)
        x[c] = (float)solution[c];
    return 1;
}

static void solve_group(const weighted_plan *plan, const weighted_scratch *s, size_t voxels, const float *input,
                        const float *weight, float *coefficients, size_t output_stride, uint8_t *flags)
{
    const size_t rows = plan->rows, columns = plan->columns;
    unsigned char unusable[LANES], bad[LANES];
    for (size_t half = 0; half < LANES; half += 4) {
        for (size_t v = 0; v < 4; v++) {
            const size_t lane = half + v, from = lane < voxels ? lane : voxels - 1;
            const float *y = input + from * rows, *w = weight + from * rows;
            int good = 1;
            for (size_t r = 0; r < rows; r++)
                good &= w[r] >= 0 && w[r] <= 3.4e38f && fabsf(y[r]) <= 3.4e38f;
            unusable[lane] = (unsigned char)!good;
            for (size_t r = 0; r < rows; r++) {
                s->w[4 * r + v] = good ? (double)w[r] : 0;
                s->wy[4 * r + v] = good ? (double)w[r] * (double)y[r] : 0;
            }
        }
        plan->core(plan->padded_pairs, rows, plan->pair_matrix, s->w, s->gram + half * plan->padded_pairs);
        plan->core(plan->padded_columns, rows, plan->right_matrix, s->wy, s->right + half * plan->padded_columns);
    }
    for (size_t lane = 0; lane < LANES; lane++) {
        for (size_t p = 0; p < plan->pairs; p++)
            s->gram_lanes[p * LANES + lane] = s->gram[lane * plan->padded_pairs + p];
        for (size_t c = 0; c < columns; c++)
            s->right_lanes[c * LANES + lane] = s->right[lane * plan->padded_columns + c];
    }
    plan->cholesky(columns, 1e-8, s->gram_lanes, s->right_lanes, s->z_lanes, bad);
    for (size_t v = 0; v < voxels; v++) {
        float *x = coefficients + v * output_stride;
        int good = !unusable[v];
        if (good && !bad[v])
            for (size_t c = 0; c < columns; c++)
                x[c] = (float)s->right_lanes[c * LANES + v];
        else if (good)
            good = solve_by_qr(plan, s, input + v * rows, weight + v * rows, x);
        if (!good)
            memset(x, 0, columns * sizeof *x);
        if (flags)
            flags[v] = (uint8_t)!good;
    }
}

hot_status hot_fit_weighted_f32_cpu(hot_context *context, hot_cpu_level level, size_t rows, size_t columns,
                                    const double *design, size_t count, const float *input, const float *weight,
                                    float *coefficients, size_t output_stride, uint8_t *flags)
{
    hot_status status = HOT_OK;
    const int threads = hot_context_threads(context);
    weighted_plan plan = {.rows = rows, .columns = columns, .pairs = columns * (columns + 1) / 2, .design = design,
                          .core = hot_fit_core_of(level), .cholesky = hot_fit_cholesky_of(level)};
    weighted_scratch sizes;
    plan.padded_pairs = hot_fit_packed_rows(level, plan.pairs);
    plan.padded_columns = hot_fit_packed_rows(level, columns);
    const size_t each = cut_scratch(&plan, NULL, &sizes);
    double *plain = hot_context_alloc(context, plan.pairs, rows * sizeof *plain);
    plan.pair_matrix = hot_context_alloc(context, plan.padded_pairs, rows * sizeof(double));
    plan.right_matrix = hot_context_alloc(context, plan.padded_columns, rows * sizeof(double));
    double *memory = hot_context_alloc(context, (size_t)threads, each * sizeof(double));
    if (!plain || !plan.pair_matrix || !plan.right_matrix || !memory) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    for (size_t a = 0, p = 0; a < columns; a++)
        for (size_t b = 0; b <= a; b++, p++)
            for (size_t r = 0; r < rows; r++)
                plain[p * rows + r] = design[r * columns + a] * design[r * columns + b];
    hot_fit_pack(level, plan.pairs, rows, plain, plan.pair_matrix);
    for (size_t c = 0; c < columns; c++)
        for (size_t r = 0; r < rows; r++)
            plain[c * rows + r] = design[r * columns + c];
    hot_fit_pack(level, columns, rows, plain, plan.right_matrix);

    for (size_t first = 0; first < count; first += STRETCH) {
        const size_t end = count - first < STRETCH ? count : first + STRETCH;
        const size_t groups = (end - first + LANES - 1) / LANES;
#pragma omp parallel for num_threads(hot_team(groups > 1 ? threads : 1)) schedule(static)
        for (size_t group = 0; group < groups; group++) {
            if (hot_context_cancelled(context))
                continue;
            weighted_scratch scratch;
            cut_scratch(&plan, memory + (size_t)omp_get_thread_num() * each, &scratch);
            const size_t i = first + group * LANES, voxels = end - i < LANES ? end - i : LANES;
            solve_group(&plan, &scratch, voxels, input + i * rows, weight + i * rows, coefficients + i * output_stride,
                        output_stride, flags ? flags + i : NULL);
        }
        status = hot_context_check(context, "fitting");
        if (status != HOT_OK)
            goto cleanup;
    }
cleanup:
    HOT_FREE(context, memory, plan.right_matrix, plan.pair_matrix, plain);
    return status;
}
