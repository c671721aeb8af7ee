/* See denoise_shape.h. */
#include "denoise_shape.h"

#include <math.h>
#include <string.h>

#include <hotfiber/symtensor.h>

#include "common/context_internal.h"

/* MOST: terms of the highest degree that is looked at; WINDOW: voxels along each axis in which sums are taken. */
enum { LMAX = 8, MOST = (LMAX + 1) * (LMAX + 2) / 2, DEGREES = LMAX / 2 + 1, WINDOW = 7, HALF = WINDOW / 2,
       SUMS = 512 /* of a voxel; further shells are not looked at */ };
/* How many standard deviations of chance a degree must hold more than the rest. */
static const double clearly = 3;

/* The harmonics of one shell: orthonormal vectors over its volumes, in the order of the degrees, so that those of a
 * degree hold what the lower ones do not. Of b=0 there is only the mean. */
typedef struct shape_shell {
    size_t count, *volumes;
    int terms, lmax;
    int of_degree[DEGREES]; /* vectors of degree 2 d */
    int first;              /* of its sums in a voxel's: one for each degree above 0, then the rest */
    float *vectors;         /* count x terms */
} shape_shell;

typedef struct shape_plan {
    const hot_dwi *before;
    float *denoised;
    size_t shells, plane;
    const size_t *size;
    int sums; /* of a voxel */
    shape_shell *shell;
} shape_plan;

/* The highest degree whose terms leave a third of the measurements to compare with; 0: none. */
static int degree_for(size_t count)
{
    int lmax = 0;
    while (lmax < LMAX && (size_t)((lmax + 3) * (lmax + 4) / 2 * 3) <= 2 * count)
        lmax += 2;
    return lmax;
}

/* Gram and Schmidt, twice each. A direction that repeats others leaves nothing, and no vector. */
static void orthonormal(const double *values, shape_shell *shell, double *column)
{
    const size_t n = shell->count;
    const int all = (shell->lmax + 1) * (shell->lmax + 2) / 2;
    shell->terms = 0;
    for (int l = 0, term = 0; l <= shell->lmax; l += 2)
        for (int m = -l; m <= l; m++, term++) {
            double before = 0, after = 0;
            for (size_t j = 0; j < n; j++) {
                column[j] = values[j * (size_t)all + (size_t)term];
                before += column[j] * column[j];
            }
            for (int pass = 0; pass < 2; pass++)
                for (int other = 0; other < shell->terms; other++) {
                    double dot = 0;
                    for (size_t j = 0; j < n; j++)
                        dot += column[j] * (double)shell->vectors[j * (size_t)all + (size_t)other];
                    for (size_t j = 0; j < n; j++)
                        column[j] -= dot * (double)shell->vectors[j * (size_t)all + (size_t)other];
                }
            for (size_t j = 0; j < n; j++)
                after += column[j] * column[j];
            if (!(after > 1e-4 * before))
                continue;
            for (size_t j = 0; j < n; j++)
                shell->vectors[j * (size_t)all + (size_t)shell->terms] = (float)(column[j] / sqrt(after));
            shell->of_degree[l / 2]++;
            shell->terms++;
        }
    for (size_t j = 0; j < n; j++) /* close the gaps of vectors that are not there */
        for (int term = 0; term < shell->terms; term++)
            shell->vectors[j * (size_t)shell->terms + (size_t)term] = shell->vectors[j * (size_t)all + (size_t)term];
}

static hot_status make_shell(hot_context *context, const hot_dwi *dwi, int index, int first, shape_shell *shell)
{
    const int isotropic = dwi->has_b0 && index == 0;
    size_t count = 0;
    for (size_t v = 0; v < dwi->volumes; v++)
        count += dwi->shell_of[v] == index;
    *shell = (shape_shell){.first = first, .lmax = isotropic ? 0 : degree_for(count)};
    if (first + shell->lmax / 2 + 1 > SUMS)
        shell->lmax = 0;
    const size_t all = (size_t)((shell->lmax + 1) * (shell->lmax + 2) / 2);
    double *directions = hot_context_alloc(context, count, 3 * sizeof *directions);
    double *values = hot_context_alloc(context, count, all * sizeof *values);
    double *column = hot_context_alloc(context, count, sizeof *column);
    shell->volumes = hot_context_alloc(context, count, sizeof *shell->volumes);
    shell->vectors = hot_context_alloc(context, count, all * sizeof *shell->vectors);
    hot_status status = directions && values && column && shell->volumes && shell->vectors ? HOT_OK : HOT_ERROR_MEMORY;
    for (size_t v = 0; v < dwi->volumes && status == HOT_OK; v++)
        if (dwi->shell_of[v] == index) {
            memcpy(directions + 3 * shell->count, dwi->gradients + 3 * v, 3 * sizeof *directions);
            shell->volumes[shell->count++] = v;
        }
    if (status == HOT_OK && shell->lmax > 0)
        status = hot_sh_values_f64(shell->lmax, count, directions, values);
    if (status == HOT_OK) {
        for (size_t j = 0; j < count && shell->lmax == 0; j++)
            values[j] = 1;
        orthonormal(values, shell, column);
    }
    hot_context_free(context, column);
    hot_context_free(context, values);
    hot_context_free(context, directions);
    return status;
}

static void free_plan(hot_context *context, shape_plan *plan)
{
    for (size_t s = 0; plan->shell && s < plan->shells; s++) {
        hot_context_free(context, plan->shell[s].volumes);
        hot_context_free(context, plan->shell[s].vectors);
    }
    hot_context_free(context, plan->shell);
}

/* What was removed of one voxel on a shell, by its vectors. Returns the sum of its squares. */
static double project(const shape_shell *shell, const float *before, const float *after, float part[MOST])
{
    double sum = 0;
    memset(part, 0, (size_t)shell->terms * sizeof *part);
    for (size_t j = 0; j < shell->count; j++) {
        const float off = before[shell->volumes[j]] - after[shell->volumes[j]];
        const float *row = shell->vectors + j * (size_t)shell->terms;
        sum += (double)off * (double)off;
        for (int term = 0; term < shell->terms; term++)
            part[term] += off * row[term];
    }
    return sum;
}

/* The squares of what was removed in the voxels of a slice, by degree. before: the slice's signals. */
static void sum_squares(hot_context *context, const shape_plan *plan, const float *before, size_t slice, float *sums)
{
    const size_t volumes = plan->before->volumes;
#pragma omp parallel for schedule(static) num_threads(hot_context_threads(context))
    for (size_t v = 0; v < plan->plane; v++)
        for (size_t s = 0; s < plan->shells; s++) {
            const shape_shell *shell = plan->shell + s;
            float part[MOST], *to = sums + v * (size_t)plan->sums + shell->first;
            if (shell->lmax == 0)
                continue;
            double rest = project(shell, before + v * volumes,
                                  plan->denoised + (slice * plan->plane + v) * volumes, part);
            if (!isfinite(rest)) /* such voxels are copied as they are */
                rest = 0, memset(part, 0, sizeof part);
            for (int d = 0, term = 0; d <= shell->lmax / 2; d++) {
                double square = 0;
                for (int i = 0; i < shell->of_degree[d]; i++, term++)
                    square += (double)part[term] * (double)part[term];
                rest -= square;
                if (d > 0)
                    to[d - 1] = (float)square;
            }
            to[shell->lmax / 2] = (float)fmax(rest, 0);
        }
}

/* Whether, in sums over `voxels` of them, a low degree holds clearly more than the rest. */
static int removed_shape(const shape_plan *plan, const double *sums, double voxels)
{
    for (size_t s = 0; s < plan->shells; s++) {
        const shape_shell *shell = plan->shell + s;
        const double rest = sums[shell->first + shell->lmax / 2], others = (double)(shell->count - (size_t)shell->terms);
        for (int d = 1; d <= shell->lmax / 2 && rest > 0; d++) {
            const double own = shell->of_degree[d];
            const double ratio = sums[shell->first + d - 1] / own * others / rest;
            if (own > 0 && ratio > 1 + clearly * sqrt(2 / voxels * (1 / own + 1 / others)))
                return 1;
        }
    }
    return 0;
}

static void put_back(const shape_plan *plan, const float *before, float *after)
{
    for (size_t s = 0; s < plan->shells; s++) {
        const shape_shell *shell = plan->shell + s;
        float part[MOST];
        project(shell, before, after, part);
        for (size_t j = 0; j < shell->count; j++) {
            double sum = 0;
            for (int term = 0; term < shell->terms; term++)
                sum += (double)part[term] * (double)shell->vectors[j * (size_t)shell->terms + (size_t)term];
            after[shell->volumes[j]] += (float)sum;
        }
    }
}

/* Marks the voxels of a slice of which shape was removed. column: the voxels' sums over `slices` slices. Returns how
 * many. */
static size_t mark(hot_context *context, const shape_plan *plan, size_t slices, const double *column, uint8_t *marks)
{
    const size_t nx = plan->size[0], ny = plan->size[1], n = (size_t)plan->sums;
    size_t marked = 0;
#pragma omp parallel for schedule(static) num_threads(hot_context_threads(context)) reduction(+ : marked)
    for (size_t v = 0; v < plan->plane; v++) {
        const size_t x = v % nx, y = v / nx, x0 = x < HALF ? 0 : x - HALF, y0 = y < HALF ? 0 : y - HALF;
        const size_t x1 = x + HALF < nx ? x + HALF : nx - 1, y1 = y + HALF < ny ? y + HALF : ny - 1;
        double sums[SUMS] = {0};
        for (size_t j = y0; j <= y1; j++)
            for (size_t i = x0; i <= x1; i++)
                for (size_t c = 0; c < n; c++)
                    sums[c] += column[(j * nx + i) * n + c];
        marks[v] = (uint8_t)removed_shape(plan, sums, (double)((x1 - x0 + 1) * (y1 - y0 + 1) * slices));
        marked += marks[v];
    }
    return marked;
}

static hot_status restore_slices(hot_context *context, const shape_plan *plan, size_t *changed)
{
    const size_t slices = plan->size[2], volumes = plan->before->volumes, n = plan->plane * (size_t)plan->sums;
    float *before = hot_context_alloc(context, plan->plane, volumes * sizeof *before);
    float *squares = hot_context_calloc(context, n, WINDOW * sizeof *squares); /* slice k at k % WINDOW */
    double *column = hot_context_alloc(context, n, sizeof *column);
    uint8_t *marks = hot_context_alloc(context, plan->plane, 1);
    hot_status status = before && squares && column && marks ? HOT_OK : HOT_ERROR_MEMORY;
    *changed = 0;
    for (size_t next = 0; next < slices + HALF && status == HOT_OK; next++) {
        const size_t slice = next - HALF, first = slice < HALF ? 0 : slice - HALF;
        const size_t end = next < slices ? next + 1 : slices;
        if (next < slices) {
            status = hot_dwi_read(context, plan->before, next * plan->plane, plan->plane, before);
            if (status == HOT_OK)
                sum_squares(context, plan, before, next, squares + next % WINDOW * n);
        }
        if (next < HALF || status != HOT_OK)
            continue;
        memset(column, 0, n * sizeof *column);
        for (size_t k = first; k < end; k++)
            for (size_t i = 0; i < n; i++)
                column[i] += (double)squares[k % WINDOW * n + i];
        const size_t marked = mark(context, plan, end - first, column, marks);
        if (marked > 0)
            status = hot_dwi_read(context, plan->before, slice * plan->plane, plan->plane, before);
        if (marked > 0 && status == HOT_OK)
#pragma omp parallel for schedule(static) num_threads(hot_context_threads(context))
            for (size_t v = 0; v < plan->plane; v++)
                if (marks[v])
                    put_back(plan, before + v * volumes, plan->denoised + (slice * plan->plane + v) * volumes);
        *changed += marked;
        if (hot_context_cancelled(context))
            status = HOT_ERROR_CANCELLED;
    }
    hot_context_free(context, marks);
    hot_context_free(context, column);
    hot_context_free(context, squares);
    hot_context_free(context, before);
    return status;
}

hot_status hot_dwi_restore_shape(hot_context *context, const hot_dwi *before, hot_dwi *denoised, double *share)
{
    shape_plan plan = {.before = before, .denoised = denoised->data, .shells = before->shells,
                       .plane = before->grid.size[0] * before->grid.size[1], .size = before->grid.size};
    size_t changed = 0;
    plan.shell = hot_context_calloc(context, plan.shells, sizeof *plan.shell);
    hot_status status = plan.shell ? HOT_OK : HOT_ERROR_MEMORY;
    for (size_t s = 0; s < plan.shells && status == HOT_OK; s++) {
        status = make_shell(context, before, (int)s, plan.sums, plan.shell + s);
        const int degrees = plan.shell[s].lmax / 2;
        plan.sums += degrees > 0 ? degrees + 1 : 0;
    }
    if (status == HOT_OK && plan.sums > 0)
        status = restore_slices(context, &plan, &changed);
    *share = (double)changed / (double)hot_grid_voxels(&before->grid);
    free_plan(context, &plan);
    return status;
}
