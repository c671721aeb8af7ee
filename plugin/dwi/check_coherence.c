/* How well gradient tables go with the image: fibres run on from voxel to voxel. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "check.h"
#include "common/entry.h"
#include "summary.h"

/* Kinds of evidence: edges of b=0 signal, anisotropy and shape, and what the tensor gains where anisotropy rises. */
enum { EDGES = 3, GAIN = EDGES };
_Static_assert((int)GAIN + 1 == (int)HOT_CHECK_KINDS, "kinds of evidence");

/* Chosen on phantoms, the physical phantom and human data; see docs/decisions/025-gradient-check.md. */
enum { BLOCK = 2, STEPS = 13, AXES_MAX = 72 };
static const double counted_from = 0.5;   /* voxels count whose anisotropy is above this quantile */
static const double square_floor = 0.3;   /* of a squared difference, in units of its squared mean size */
static const double shape_floor = 0.15;   /* added to a tensor's size, so that noise has no shape */
static const double min_coherence = 0.25; /* of neighbours by one step, as a share of the most coherent step's */

void hot_check_table_matrix(int number, int matrix[3][3])
{
    static const int places[6][3] = {{0, 1, 2}, {1, 0, 2}, {2, 1, 0}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1}};
    const int *place = places[number / 4], flipped = number % 4 - 1;
    memset(matrix, 0, 9 * sizeof(int));
    for (int r = 0; r < 3; r++)
        matrix[r][place[r]] = flipped == r ? -1 : 1;
}

/* Sums over pairs of neighbours, computed before the evidence. */
typedef struct step_sums {
    double pairs, size[EDGES + 1];            /* number, and sums of differences: scalars', tensors' */
    double weight, edge[EDGES], gain[6];      /* sums of weights, and of weighted edges and gains */
    double both, coherence;                   /* pairs of which both count, and the sum of their squared cosines */
} step_sums;

typedef struct work {
    hot_context *context;
    const hot_grid *grid;
    const hot_check_voxel *about;
    int *number;                              /* of each voxel of the grid in `about`, and 1; 0 = not looked at */
    float counted;                            /* the least anisotropy of a voxel that counts */
    size_t tiles[3], blocks, *block;          /* blocks of the whole grid; those with voxels, and their numbers */
    int step[STEPS][3];
    double reach[STEPS];                      /* the nearest neighbour's distance over the step's */
    double axis[AXES_MAX][3];                 /* the steps as all tables turn them, each once */
    float form[AXES_MAX][6];                  /* what makes of a tensor its value along the axis */
    int axes, axis_of[STEPS][HOT_CHECK_TABLES];
    float (*shape)[6];                        /* of each voxel: its tensor over its size */
    float *along;                             /* voxels x axes: the shape of the voxel's tensor along the axis */
    float (*own)[EDGES];                      /* of each voxel: mean edge over its steps, minus the steps' means */
    double scale[EDGES + 1];                  /* mean size of a difference between neighbours */
    double mean[STEPS][EDGES], used[STEPS];   /* mean edge by step; its weight, 0 for steps that lead nowhere */
    double gain[6];                           /* mean gain over the steps used */
} work;

static int add_axis(work *w, const double axis[3])
{
    int found = 0;
    for (; found < w->axes; found++) {
        const double *a = w->axis[found];
        if (fabs(a[0] * axis[0] + a[1] * axis[1] + a[2] * axis[2]) > 1 - 1e-6)
            return found;
    }
    memcpy(w->axis[w->axes++], axis, sizeof w->axis[0]);
    for (int i = 0; i < 3; i++) {
        const int r = i == 2, c = i == 0 ? 1 : 2; /* xy xz yz */
        w->form[found][i] = (float)(axis[i] * axis[i]);
        w->form[found][3 + i] = (float)(sqrt(2) * axis[r] * axis[c]);
    }
    return found;
}

/* The 13 steps to neighbours (the other 13 are their opposites), and what each table makes of their directions. */
static void make_steps(work *w)
{
    double spacing[3], least = INFINITY;
    for (int c = 0; c < 3; c++) {
        const double x = w->grid->to_world[0][c], y = w->grid->to_world[1][c], z = w->grid->to_world[2][c];
        spacing[c] = sqrt(x * x + y * y + z * z);
        least = fmin(least, spacing[c]);
    }
    for (int s = 0; s < STEPS; s++) {
        const int n = s + 14;
        double unit[3], length = 0;
        w->step[s][0] = n % 3 - 1, w->step[s][1] = n / 3 % 3 - 1, w->step[s][2] = n / 9 - 1;
        for (int c = 0; c < 3; c++) {
            unit[c] = w->step[s][c] * spacing[c];
            length += unit[c] * unit[c];
        }
        w->reach[s] = least / sqrt(length);
        for (int t = 0; t < HOT_CHECK_TABLES; t++) {
            int matrix[3][3];
            double turned[3] = {0};
            hot_check_table_matrix(t, matrix);
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++) /* the transpose: the step is turned back instead of the direction */
                    turned[c] += matrix[r][c] * unit[r] / sqrt(length);
            w->axis_of[s][t] = add_axis(w, turned);
        }
    }
}

/* The neighbour by a step, or -1. */
static int neighbour(const work *w, const size_t at[3], const int step[3])
{
    size_t to[3];
    for (int c = 0; c < 3; c++) {
        to[c] = at[c] + (size_t)step[c]; /* below 0 it wraps around, and is then too large */
        if (to[c] >= w->grid->size[c])
            return -1;
    }
    return w->number[to[0] + w->grid->size[0] * (to[1] + w->grid->size[1] * to[2])] - 1;
}

static double weight_of(const work *w, const hot_check_voxel *v) { return v->anisotropy > w->counted; }

static double distance(const float a[6], const float b[6])
{
    double square = 0;
    for (int i = 0; i < 6; i++)
        square += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(square);
}

/* How much two voxels differ in b=0 signal, anisotropy, shape and tensor. */
static void differences(const work *w, int a, int b, double size[EDGES + 1])
{
    const hot_check_voxel *p = w->about + a, *q = w->about + b;
    size[0] = fabsf(p->log_s0 - q->log_s0);
    size[1] = fabsf(p->anisotropy - q->anisotropy);
    size[2] = distance(w->shape[a], w->shape[b]);
    size[EDGES] = distance(p->tensor, q->tensor);
}

/* Large where they are alike; the logarithm keeps a few strong edges from outweighing all others. */
static void edges(const work *w, int a, int b, double edge[EDGES])
{
    double size[EDGES + 1];
    differences(w, a, b, size);
    for (int e = 0; e < EDGES; e++)
        edge[e] = -log(square_floor + size[e] * size[e] / (w->scale[e] * w->scale[e]));
}

/* The change of the tensor from a to b, signed by the change of anisotropy: at the edge of a bundle this is the fibre's
 * own tensor, which is negative across the fibre. Between -1 and 1. */
static void gains(const work *w, const hot_check_voxel *a, const hot_check_voxel *b, double gain[6])
{
    const double rise = b->anisotropy - a->anisotropy;
    double square = square_floor * w->scale[EDGES] * w->scale[EDGES];
    for (int i = 0; i < 6; i++) {
        gain[i] = b->tensor[i] - a->tensor[i];
        square += gain[i] * gain[i];
    }
    for (int i = 0; i < 6; i++)
        gain[i] *= rise / sqrt((rise * rise + w->scale[1] * w->scale[1]) * square);
}

static double squared_cosine(const float a[3], const float b[3])
{
    const double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    return dot * dot;
}

/* Calls visit for every pair of neighbours of which the first is in this block, of those with voxels. */
typedef void pair_visit(const work *w, int step, int a, int b, void *into);
static void visit_pairs(const work *w, size_t which, pair_visit *visit, void *into)
{
    const size_t *size = w->grid->size, block = w->block[which];
    const size_t first[3] = {block % w->tiles[0] * BLOCK, block / w->tiles[0] % w->tiles[1] * BLOCK,
                             block / w->tiles[0] / w->tiles[1] * BLOCK};
    for (size_t z = first[2]; z < first[2] + BLOCK && z < size[2]; z++)
        for (size_t y = first[1]; y < first[1] + BLOCK && y < size[1]; y++)
            for (size_t x = first[0]; x < first[0] + BLOCK && x < size[0]; x++) {
                const size_t at[3] = {x, y, z};
                const int a = w->number[x + size[0] * (y + size[1] * z)] - 1;
                for (int s = 0; s < STEPS && a >= 0; s++) {
                    const int b = neighbour(w, at, w->step[s]);
                    if (b >= 0)
                        visit(w, s, a, b, into);
                }
            }
}

static void count_sizes(const work *w, int s, int a, int b, void *into)
{
    step_sums *sums = (step_sums *)into + s;
    double size[EDGES + 1];
    differences(w, a, b, size);
    sums->pairs++;
    for (int e = 0; e <= EDGES; e++)
        sums->size[e] += size[e];
}

static void count_edges(const work *w, int s, int a, int b, void *into)
{
    const hot_check_voxel *p = w->about + a, *q = w->about + b;
    const double weight = weight_of(w, p) + weight_of(w, q);
    step_sums *sums = (step_sums *)into + s;
    double edge[EDGES], gain[6];
    if (weight == 0)
        return;
    edges(w, a, b, edge);
    gains(w, p, q, gain);
    for (int i = 0; i < 6; i++)
        sums->gain[i] += weight * gain[i];
    sums->weight += weight;
    for (int e = 0; e < EDGES; e++)
        sums->edge[e] += weight * edge[e];
    sums->both += weight == 2;
    sums->coherence += weight == 2 ? squared_cosine(p->axis, q->axis) : 0;
}

/* Sums of edges and of weights by voxel. */
typedef struct own_sums {
    double edge[EDGES], weight;
} own_sums;

static void count_own(const work *w, int s, int a, int b, void *into)
{
    own_sums *sums = into;
    double edge[EDGES];
    if (w->used[s] == 0)
        return;
    edges(w, a, b, edge);
    for (int end = 0; end < 2; end++) {
        own_sums *of = sums + (end ? b : a);
        of->weight += w->used[s];
        for (int e = 0; e < EDGES; e++)
            of->edge[e] += w->used[s] * (edge[e] - w->mean[s][e]);
    }
}

static void count_evidence(const work *w, int s, int a, int b, void *into)
{
    const hot_check_voxel *p = w->about + a, *q = w->about + b;
    const double wa = weight_of(w, p), wb = weight_of(w, q), used = w->used[s];
    const float *ca = w->along + (size_t)a * (size_t)w->axes, *cb = w->along + (size_t)b * (size_t)w->axes;
    double(*out)[HOT_CHECK_TABLES] = into, edge[EDGES], gain[6], of_a[EDGES], of_b[EDGES];
    if (used == 0 || wa + wb == 0)
        return;
    edges(w, a, b, edge);
    gains(w, p, q, gain);
    for (int e = 0; e < EDGES; e++) {
        of_a[e] = used * wa * (edge[e] - w->mean[s][e] - w->own[a][e]);
        of_b[e] = used * wb * (edge[e] - w->mean[s][e] - w->own[b][e]);
    }
    for (int i = 0; i < 6; i++)
        gain[i] = used * (wa + wb) * (gain[i] - w->gain[i]);
    for (int t = 0; t < HOT_CHECK_TABLES; t++) {
        const int axis = w->axis_of[s][t];
        for (int e = 0; e < EDGES; e++)
            out[e][t] += of_a[e] * ca[axis] + of_b[e] * cb[axis];
        for (int i = 0; i < 6; i++)
            out[GAIN][t] -= gain[i] * w->form[axis][i];
    }
}

/* Mean squared cosine of the directions of two voxels that have nothing to do with each other. */
static double chance(const work *w, size_t count)
{
    double moment[3][3] = {{0}}, total = 0, sum = 0;
    for (size_t n = 0; n < count; n++) {
        const double weight = weight_of(w, w->about + n);
        total += weight;
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++)
                moment[r][c] += weight * w->about[n].axis[r] * w->about[n].axis[c];
    }
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            sum += total > 0 ? moment[r][c] * moment[r][c] / (total * total) : 0;
    return sum;
}

/* Subtracts what is common to all steps, which is no evidence: the voxel's mean edge, and the joint increase of
 * anisotropy and tensor by noise. Otherwise fibres across a single plane would be attributed to their surrounding
 * tissue. */
static hot_status learn_means(work *w, size_t count, const step_sums sums[STEPS])
{
    double weight = 0;
    own_sums *own = hot_context_calloc(w->context, count, sizeof *own);
    if (!own)
        return HOT_ERROR_MEMORY;
    for (int s = 0; s < STEPS; s++) {
        weight += w->used[s] > 0 ? sums[s].weight : 0;
        for (int i = 0; i < 6; i++)
            w->gain[i] += w->used[s] > 0 ? sums[s].gain[i] : 0;
    }
    for (int i = 0; i < 6 && weight > 0; i++)
        w->gain[i] /= weight;
    for (size_t block = 0; block < w->blocks && !hot_context_cancelled(w->context); block++)
        visit_pairs(w, block, count_own, own);
    for (size_t n = 0; n < count; n++)
        for (int e = 0; e < EDGES; e++)
            w->own[n][e] = own[n].weight > 0 ? (float)(own[n].edge[e] / own[n].weight) : 0;
    hot_context_free(w->context, own);
    return HOT_OK;
}

/* Mean edges by step, to remove effects of unequal spacing and of noise that differs between the image's axes. Steps
 * along which directions agree only by chance are not used, for example between distant slices. */
static hot_status learn_steps(work *w, size_t count)
{
    step_sums sums[STEPS] = {{0}};
    double pairs = 0, expected, coherence[STEPS], most = 0;
    for (size_t block = 0; block < w->blocks && !hot_context_cancelled(w->context); block++)
        visit_pairs(w, block, count_sizes, sums);
    for (int s = 0; s < STEPS; s++)
        pairs += sums[s].pairs;
    for (int e = 0; e <= EDGES; e++) {
        double size = 0;
        for (int s = 0; s < STEPS; s++)
            size += sums[s].size[e];
        w->scale[e] = size > 0 ? size / pairs : 1;
    }
    for (size_t block = 0; block < w->blocks && !hot_context_cancelled(w->context); block++)
        visit_pairs(w, block, count_edges, sums);
    expected = chance(w, count);
    for (int s = 0; s < STEPS; s++) {
        coherence[s] = sums[s].both > 0 ? fmax(0, sums[s].coherence / sums[s].both - expected) : 0;
        most = fmax(most, coherence[s]);
        for (int e = 0; e < EDGES; e++)
            w->mean[s][e] = sums[s].weight > 0 ? sums[s].edge[e] / sums[s].weight : 0;
    }
    for (int s = 0; s < STEPS; s++)
        w->used[s] = coherence[s] > min_coherence * most ? w->reach[s] : 0;
    return learn_means(w, count, sums);
}

/* The blocks that have voxels: a few thousand voxels of a large volume are in few of all. */
static hot_status find_blocks(work *w, const size_t *voxel, size_t count)
{
    const size_t *size = w->grid->size;
    uint8_t *used = hot_context_calloc(w->context, w->tiles[0] * w->tiles[1] * w->tiles[2], 1);
    w->block = hot_context_alloc(w->context, count, sizeof *w->block);
    const hot_status status = used && w->block ? HOT_OK : HOT_ERROR_MEMORY;
    w->blocks = 0;
    for (size_t n = 0; n < count && status == HOT_OK; n++) {
        const size_t x = voxel[n] % size[0], y = voxel[n] / size[0] % size[1], z = voxel[n] / size[0] / size[1];
        uint8_t *seen = &used[x / BLOCK + w->tiles[0] * (y / BLOCK + w->tiles[1] * (z / BLOCK))];
        w->blocks += !*seen;
        *seen = 1;
    }
    for (size_t block = 0, n = 0; n < w->blocks; block++)
        if (used[block])
            w->block[n++] = block;
    hot_context_free(w->context, used);
    return status;
}

static hot_status find_counted(work *w, size_t count)
{
    float *values = hot_context_alloc(w->context, count, sizeof *values);
    if (!values)
        return HOT_ERROR_MEMORY;
    for (size_t n = 0; n < count; n++)
        values[n] = w->about[n].anisotropy;
    w->counted = count ? hot_sorted_at(values, count, (size_t)(counted_from * (double)(count - 1))) : 0;
    hot_context_free(w->context, values);
    return HOT_OK;
}

hot_status hot_check_coherence(hot_context *context, const hot_grid *grid, const size_t *voxel, size_t count,
                               const hot_check_voxel *about, hot_check_evidence **evidence, size_t *blocks)
{
    work made = {.context = context, .grid = grid, .about = about}, *w = &made;
    const size_t voxels = hot_grid_voxels(grid);
    make_steps(w);
    for (int c = 0; c < 3; c++)
        w->tiles[c] = (grid->size[c] + BLOCK - 1) / BLOCK;
    w->number = hot_context_calloc(context, voxels, sizeof *w->number);
    w->shape = hot_context_alloc(context, count, sizeof *w->shape);
    w->along = hot_context_alloc(context, count, (size_t)w->axes * sizeof *w->along);
    w->own = hot_context_alloc(context, count, sizeof *w->own);
    hot_status status = w->number && w->shape && w->along && w->own ? find_blocks(w, voxel, count) : HOT_ERROR_MEMORY;
    *evidence = status == HOT_OK ? hot_context_calloc(context, w->blocks, sizeof **evidence) : NULL;
    *blocks = w->blocks;
    if (status == HOT_OK)
        status = *evidence ? find_counted(w, count) : HOT_ERROR_MEMORY;
    if (status != HOT_OK)
        goto cleanup;
    for (size_t n = 0; n < count; n++)
        w->number[voxel[n]] = (int)n + 1;
#pragma omp parallel for schedule(static) num_threads(hot_team(hot_context_threads(context)))
    for (size_t n = 0; n < count; n++) {
        const float *t = about[n].tensor;
        double square = 0;
        for (int i = 0; i < 6; i++)
            square += (double)t[i] * t[i];
        for (int i = 0; i < 6; i++)
            w->shape[n][i] = (float)(t[i] / (sqrt(square) + shape_floor));
        for (int m = 0; m < w->axes; m++) {
            double value = 0;
            for (int i = 0; i < 6; i++)
                value += (double)w->form[m][i] * (double)w->shape[n][i];
            w->along[n * (size_t)w->axes + (size_t)m] = (float)value;
        }
    }
    status = learn_steps(w, count);
    if (status != HOT_OK)
        goto cleanup;
#pragma omp parallel for schedule(dynamic, 64) num_threads(hot_team(hot_context_threads(context)))
    for (size_t block = 0; block < w->blocks; block++)
        if (!hot_context_cancelled(context))
            visit_pairs(w, block, count_evidence, (*evidence)[block]);
    status = hot_context_check(context, "checking the gradient table");
cleanup:
    HOT_FREE(context, w->own, w->along, w->shape, w->number, w->block);
    if (status != HOT_OK) {
        hot_context_free(context, *evidence);
        *evidence = NULL;
    }
    return status;
}
