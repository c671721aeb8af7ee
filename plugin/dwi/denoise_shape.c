/* See denoise_shape.h. */
#include "denoise_shape.h"

#include <math.h>
#include <string.h>

#include <hotfiber/symtensor.h>

#include "common/context_internal.h"
#include "common/entry.h"

/* MOST: terms of the highest degree that is put back; WINDOW: voxels along each axis in which sums are taken; SUMS: of
 * a voxel, further shells are not looked at; SHAPES: of a shell, degrees 4 and 6. */
enum { LMAX = 8, MOST = (LMAX + 1) * (LMAX + 2) / 2, DEGREES = LMAX / 2 + 1, WINDOW = 7, HALF = WINDOW / 2, SUMS = 256,
       SHAPES = 2 };
/* The removed part must correlate with the shape by this many standard deviations of chance, and be at least this part
 * of the shape. The median of the first is 1 in bundles and in vivo, and 4 to 9 if neighbours have nothing in
 * common. */
static const double clearly = 4, min_part = 0.1;

/* The harmonics of one shell: orthonormal vectors over its volumes, in the order of the degrees, so that those of a
 * degree hold what the lower ones do not. Of b=0 there is only the mean. */
typedef struct shape_shell {
    size_t count, *volumes;
    int terms, lmax;
    int of_degree[DEGREES]; /* vectors of degree 2 d */
    int shapes, first;      /* the number of shapes; the position of their sums in a voxel's */
    float *vectors;         /* count x terms */
} shape_shell;

/* Sums of a degree's products with the shape: of the removed part, its square, the original. */
typedef struct shape_sums {
    float removed, square, whole;
} shape_sums;

typedef struct shape_plan {
    const hot_dwi *before;
    float *denoised;
    size_t shells, plane;
    const size_t *size;
    int sums; /* of a voxel */
    shape_shell *shell;
} shape_plan;

/* The highest degree whose terms are at most two thirds of the measurements: more are not told from noise. */
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
    shell->shapes = shell->lmax < 4 ? 0 : shell->lmax < 6 ? 1 : SHAPES;
    if (first + shell->shapes > SUMS)
        shell->shapes = 0;
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
    HOT_FREE(context, column, values, directions);
    return status;
}

static void free_plan(hot_context *context, shape_plan *plan)
{
    for (size_t s = 0; plan->shell && s < plan->shells; s++)
        HOT_FREE(context, plan->shell[s].volumes, plan->shell[s].vectors);
    hot_context_free(context, plan->shell);
}

/* A voxel's samples on a shell, by its vectors. */
static void project(const shape_shell *shell, const float *samples, float part[MOST])
{
    memset(part, 0, (size_t)shell->terms * sizeof *part);
    for (size_t j = 0; j < shell->count; j++) {
        const float value = samples[shell->volumes[j]], *row = shell->vectors + j * (size_t)shell->terms;
        for (int term = 0; term < shell->terms; term++)
            part[term] += value * row[term];
    }
}

/* The sums of a voxel on a shell. */
static void compare(const shape_shell *shell, const float *before, const float *after, shape_sums *to)
{
    float was[MOST], is[MOST], shape[SHAPES][MOST] = {{0}};
    const int second = shell->of_degree[0], fourth = second + shell->of_degree[1];
    project(shell, before, was);
    project(shell, after, is);
    for (size_t j = 0; j < shell->count; j++) {
        const float *row = shell->vectors + j * (size_t)shell->terms;
        float f = 0;
        for (int term = second; term < fourth; term++)
            f += is[term] * row[term];
        for (int term = fourth; term < shell->terms; term++) {
            shape[0][term] += f * f * row[term];
            shape[1][term] += f * f * f * row[term];
        }
    }
    for (int i = 0, from = fourth; i < shell->shapes; from += shell->of_degree[2 + i++]) {
        double length = 0, removed = 0, whole = 0;
        for (int term = from; term < from + shell->of_degree[2 + i]; term++) {
            length += (double)shape[i][term] * (double)shape[i][term];
            removed += (double)(was[term] - is[term]) * (double)shape[i][term];
            whole += (double)was[term] * (double)shape[i][term];
        }
        length = sqrt(length);
        if (length > 0 && isfinite(removed / length)) /* voxels with NaN or infinity are copied */
            to[i] = (shape_sums){(float)(removed / length), (float)(removed / length * (removed / length)),
                                 (float)(whole / length)};
        else
            to[i] = (shape_sums){0, 0, 0};
    }
}

/* The sums of the voxels of a slice. before: the slice's signals. */
static void sum_slice(hot_context *context, const shape_plan *plan, const float *before, size_t slice, shape_sums *sums)
{
    const size_t volumes = plan->before->volumes;
#pragma omp parallel for schedule(static) num_threads(hot_team(hot_context_threads(context)))
    for (size_t v = 0; v < plan->plane; v++)
        for (size_t s = 0; s < plan->shells; s++)
            if (plan->shell[s].shapes > 0)
                compare(plan->shell + s, before + v * volumes, plan->denoised + (slice * plan->plane + v) * volumes,
                        sums + v * (size_t)plan->sums + plan->shell[s].first);
}

/* Whether a window's sums say that shape was removed: removed, squares, wholes of each degree of each shell. */
static int removed_shape(const shape_plan *plan, const double (*sums)[3])
{
    for (int i = 0; i < plan->sums; i++) {
        const double removed = sums[i][0], part = removed / sums[i][2];
        if (fabs(removed) > clearly * sqrt(sums[i][1]) && part > min_part)
            return 1;
    }
    return 0;
}

static void put_back(const shape_plan *plan, const float *before, float *after)
{
    for (size_t s = 0; s < plan->shells; s++) {
        const shape_shell *shell = plan->shell + s;
        float was[MOST], is[MOST];
        project(shell, before, was);
        project(shell, after, is);
        for (size_t j = 0; j < shell->count; j++) {
            double sum = 0;
            for (int term = 0; term < shell->terms; term++)
                sum += (double)(was[term] - is[term]) *
                       (double)shell->vectors[j * (size_t)shell->terms + (size_t)term];
            after[shell->volumes[j]] += (float)sum;
        }
    }
}

/* Marks the voxels of a slice of which shape was removed. column: the voxels' sums over slices. Returns how many. */
static size_t mark(hot_context *context, const shape_plan *plan, const double (*column)[3], uint8_t *marks)
{
    const size_t nx = plan->size[0], ny = plan->size[1], n = (size_t)plan->sums;
    size_t marked = 0;
#pragma omp parallel for schedule(static) num_threads(hot_team(hot_context_threads(context))) reduction(+ : marked)
    for (size_t v = 0; v < plan->plane; v++) {
        const size_t x = v % nx, y = v / nx, x0 = x < HALF ? 0 : x - HALF, y0 = y < HALF ? 0 : y - HALF;
        const size_t x1 = x + HALF < nx ? x + HALF : nx - 1, y1 = y + HALF < ny ? y + HALF : ny - 1;
        double sums[SUMS][3];
        memset(sums, 0, n * sizeof *sums);
        for (size_t j = y0; j <= y1; j++)
            for (size_t i = x0; i <= x1; i++)
                for (size_t c = 0; c < n; c++)
                    for (int kind = 0; kind < 3; kind++)
                        sums[c][kind] += column[(j * nx + i) * n + c][kind];
        marks[v] = (uint8_t)removed_shape(plan, (const double (*)[3])sums);
        marked += marks[v];
    }
    return marked;
}

static hot_status restore_slices(hot_context *context, const shape_plan *plan, size_t *changed)
{
    const size_t slices = plan->size[2], volumes = plan->before->volumes, n = plan->plane * (size_t)plan->sums;
    float *before = hot_context_alloc(context, plan->plane, volumes * sizeof *before);
    shape_sums *sums = hot_context_calloc(context, n, WINDOW * sizeof *sums); /* slice k at k % WINDOW */
    double (*column)[3] = hot_context_alloc(context, n, sizeof *column);
    uint8_t *marks = hot_context_alloc(context, plan->plane, 1);
    hot_status status = before && sums && column && marks ? HOT_OK : HOT_ERROR_MEMORY;
    *changed = 0;
    for (size_t next = 0; next < slices + HALF && status == HOT_OK; next++) {
        const size_t slice = next - HALF, first = slice < HALF ? 0 : slice - HALF;
        const size_t end = next < slices ? next + 1 : slices;
        if (next < slices) {
            status = hot_dwi_read(context, plan->before, next * plan->plane, plan->plane, before);
            if (status == HOT_OK)
                sum_slice(context, plan, before, next, sums + next % WINDOW * n);
        }
        if (next < HALF || status != HOT_OK)
            continue;
        memset(column, 0, n * sizeof *column);
        for (size_t k = first; k < end; k++)
            for (size_t i = 0; i < n; i++) {
                const shape_sums *own = sums + k % WINDOW * n + i;
                column[i][0] += (double)own->removed;
                column[i][1] += (double)own->square;
                column[i][2] += (double)own->whole;
            }
        const size_t marked = mark(context, plan, (const double (*)[3])column, marks);
        if (marked > 0)
            status = hot_dwi_read(context, plan->before, slice * plan->plane, plan->plane, before);
        if (marked > 0 && status == HOT_OK)
#pragma omp parallel for schedule(static) num_threads(hot_team(hot_context_threads(context)))
            for (size_t v = 0; v < plan->plane; v++)
                if (marks[v])
                    put_back(plan, before + v * volumes, plan->denoised + (slice * plan->plane + v) * volumes);
        *changed += marked;
        if (status == HOT_OK)
            status = hot_context_check(context, "denoising");
    }
    HOT_FREE(context, marks, column, sums, before);
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
        plan.sums += plan.shell[s].shapes;
    }
    if (status == HOT_OK && plan.sums > 0)
        status = restore_slices(context, &plan, &changed);
    *share = (double)changed / (double)hot_grid_voxels(&before->grid);
    free_plan(context, &plan);
    return status;
}
