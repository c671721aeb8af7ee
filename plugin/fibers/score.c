/* Found directions against true ones. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/arguments.h"
#include "common/compare.h"
#include "common/options.h"
#include "common/entry.h"
#include "core/fields.h"
#include "core/grid_match.h"

enum { COUNTED = 8, TENTHS = 11, CONDITIONS = 7, FIVE = 5 };
enum { SINGLE, NARROW, MIDDLE, WIDE, THREE, ISOTROPIC, OTHER };
static const char *const condition_names[CONDITIONS] = {"single", "30-40",     "45-55", "60-90",
                                                        "three",  "isotropic", "other"};
static const double degree = 57.295779513082321;

/* Where a group's numbers begin in the list of all possible groups. */
enum {
    FIRST_CONDITION = 0,
    FIRST_FIBERS = FIRST_CONDITION + CONDITIONS,
    FIRST_ANGLE = FIRST_FIBERS + COUNTED + 1,
    FIRST_FRACTION = FIRST_ANGLE + 10,
    FIRST_CELL = FIRST_FRACTION + CONDITIONS * TENTHS,
    FIRST_ALL = FIRST_CELL + 10 * TENTHS,
    GROUPS = FIRST_ALL + 1,
    GROUPS_OF_VOXEL = 6
};

/* One voxel's outcome; error[] of the pairs. */
typedef struct outcome {
    uint8_t scored, true_count, found_count, pairs, solved;
    int16_t groups[GROUPS_OF_VOXEL]; /* -1 = none further */
    float error[COUNTED];
} outcome;

struct hot_score {
    hot_context *context;
    size_t count;
    hot_score_group groups[GROUPS];
    double mean;
    int present;
};

static double length_of(const double v[3]) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

/* Angle up to sign, degrees: by the half-angle form, exact near 0 where the arc cosine is not. */
static double angle_between(const double a[3], const double b[3])
{
    double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2], cross[3];
    for (int d = 0; d < 3; d++)
        cross[d] = a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
    return degree * atan2(length_of(cross), fabs(dot));
}

/* The assignment of each of `rows` to one of `columns` (rows <= columns) with the least sum of angles. */
static double pair_up(double angle[COUNTED][COUNTED], int rows, int columns, int row, unsigned used, double so_far,
                      double best, int choice[COUNTED], int best_choice[COUNTED])
{
    if (so_far >= best)
        return best;
    if (row == rows) {
        memcpy(best_choice, choice, COUNTED * sizeof *choice);
        return so_far;
    }
    for (int column = 0; column < columns; column++)
        if (!(used & 1u << column)) {
            choice[row] = column;
            best = pair_up(angle, rows, columns, row + 1, used | 1u << column, so_far + angle[row][column], best,
                           choice, best_choice);
        }
    return best;
}

/* A voxel's vectors that count, in RAS; returns how many. They come longest first. */
static int gather(const hot_fiber_field *field, size_t voxel, const double sign[3], int limit, double threshold,
                  double vectors[COUNTED][3])
{
    const float *from = field->peaks + voxel * 3 * (size_t)field->max_fibers;
    int count = 0, most = field->counts[voxel] < limit ? field->counts[voxel] : limit;
    for (int f = 0; f < most; f++) {
        for (int d = 0; d < 3; d++)
            vectors[count][d] = sign[d] * from[3 * f + d];
        if (length_of(vectors[count]) >= threshold * length_of(vectors[0]))
            count++;
    }
    return count;
}

/* Which groups a voxel belongs to, from its truth. */
static void classify(int fibers, double truth[COUNTED][3], int16_t groups[GROUPS_OF_VOXEL])
{
    int condition = fibers == 0 ? ISOTROPIC : fibers == 1 ? SINGLE : fibers == 3 ? THREE : OTHER, next = 0;
    for (int i = 0; i < GROUPS_OF_VOXEL; i++)
        groups[i] = -1;
    if (fibers == 2) {
        const double slack = 0.05;
        double angle = angle_between(truth[0], truth[1]);
        double first = length_of(truth[0]), share = first / (first + length_of(truth[1]));
        if (angle >= 30 - slack && angle <= 40 + slack)
            condition = NARROW;
        else if (angle >= 45 - slack && angle <= 55 + slack)
            condition = MIDDLE;
        else if (angle >= 60 - slack)
            condition = WIDE;
        int tens = (int)floor(angle / 10 + 0.5), tenths = (int)floor(10 * share + 0.5);
        groups[next++] = (int16_t)(FIRST_ANGLE + tens);
        groups[next++] = (int16_t)(FIRST_FRACTION + condition * TENTHS + tenths);
        groups[next++] = (int16_t)(FIRST_CELL + tens * TENTHS + tenths);
    }
    groups[next++] = (int16_t)(FIRST_CONDITION + condition);
    groups[next++] = (int16_t)(FIRST_FIBERS + fibers);
    groups[next++] = FIRST_ALL;
}

/* at: where `found` keeps the voxel. */
static void judge(const hot_fiber_field *found, size_t at, const hot_fiber_field *truth, const double signs[2][3],
                  size_t voxel, const hot_score_options *o, outcome *result)
{
    double real[COUNTED][3], proposed[COUNTED][3], angle[COUNTED][COUNTED];
    int choice[COUNTED] = {0}, best[COUNTED] = {0};
    int n_true = gather(truth, voxel, signs[1], COUNTED, 0, real);
    int n_found = gather(found, at, signs[0], o->max_fibers, o->threshold, proposed);
    int pairs = n_true < n_found ? n_true : n_found;
    for (int t = 0; t < n_true; t++)
        for (int f = 0; f < n_found; f++) {
            double between = angle_between(real[t], proposed[f]);
            if (n_true <= n_found)
                angle[t][f] = between;
            else
                angle[f][t] = between;
        }
    pair_up(angle, pairs, n_true > n_found ? n_true : n_found, 0, 0, 0, INFINITY, choice, best);
    result->scored = 1;
    result->true_count = (uint8_t)n_true;
    result->found_count = (uint8_t)n_found;
    result->pairs = (uint8_t)pairs;
    result->solved = n_true == n_found;
    for (int p = 0; p < pairs; p++) {
        result->error[p] = (float)angle[p][best[p]];
        result->solved = result->solved && angle[p][best[p]] <= o->tolerance;
    }
    classify(n_true, real, result->groups);
}

/* ---- groups ---------------------------------------------------------------------------------------------- */

static void name_group(int index, hot_score_group *group)
{
    if (index >= FIRST_ALL) {
        group->table = "all";
        snprintf(group->name, sizeof group->name, "all voxels");
    } else if (index >= FIRST_CELL) {
        group->table = "angle and fraction";
        snprintf(group->name, sizeof group->name, "%d .%d", (index - FIRST_CELL) / TENTHS * 10,
                 (index - FIRST_CELL) % TENTHS);
    } else if (index >= FIRST_FRACTION) {
        group->table = "fraction";
        snprintf(group->name, sizeof group->name, "%s .%d", condition_names[(index - FIRST_FRACTION) / TENTHS],
                 (index - FIRST_FRACTION) % TENTHS);
    } else if (index >= FIRST_ANGLE) {
        group->table = "angle";
        snprintf(group->name, sizeof group->name, "%d", (index - FIRST_ANGLE) * 10);
    } else if (index >= FIRST_FIBERS) {
        group->table = "fibres";
        snprintf(group->name, sizeof group->name, "%d", index - FIRST_FIBERS);
    } else {
        group->table = "condition";
        snprintf(group->name, sizeof group->name, "%s", condition_names[index]);
    }
}

/* The value below which a part of sorted values lies, interpolated between neighbours. */
static double percentile(const float *sorted, size_t count, double part)
{
    double at = part * (double)(count - 1);
    size_t low = (size_t)at, high = low + 1 < count ? low + 1 : low;
    return sorted[low] + (at - (double)low) * (sorted[high] - sorted[low]);
}

static void fill_group(const outcome *outcomes, size_t voxels, int index, float *errors, hot_score_group *group)
{
    double sum = 0;
    size_t too_many = 0, too_few = 0;
    memset(group, 0, sizeof *group);
    name_group(index, group);
    for (size_t voxel = 0; voxel < voxels; voxel++) {
        const outcome *o = &outcomes[voxel];
        int member = 0;
        for (int g = 0; o->scored && g < GROUPS_OF_VOXEL; g++)
            member |= o->groups[g] == index;
        if (!member)
            continue;
        group->voxels++;
        group->right_count += o->found_count == o->true_count;
        group->over += o->found_count > o->true_count;
        group->under += o->found_count < o->true_count;
        too_many += o->found_count > o->true_count ? (size_t)(o->found_count - o->true_count) : 0;
        too_few += o->found_count < o->true_count ? (size_t)(o->true_count - o->found_count) : 0;
        group->solved += o->solved;
        for (int p = 0; p < o->pairs; p++) {
            errors[group->matched++] = o->error[p];
            sum += o->error[p];
        }
    }
    group->error_mean = group->error_median = group->error_95 = NAN;
    if (group->voxels) {
        group->plus = (double)too_many / (double)group->voxels;
        group->minus = (double)too_few / (double)group->voxels;
    }
    if (group->matched) {
        qsort(errors, group->matched, sizeof *errors, hot_ascending_f32);
        group->error_mean = sum / (double)group->matched;
        group->error_median = percentile(errors, group->matched, 0.5);
        group->error_95 = percentile(errors, group->matched, 0.95);
    }
}

/* Where the directions' file keeps the truth's voxels; *index NULL = in the same order. A warning when the two are not
 * the same grid in any order: the index decides then, but the user may have mixed files up. */
static hot_status match_voxels(hot_context *context, const hot_grid *a, const hot_grid *b, size_t **index)
{
    double first[3][4], second[3][4], largest = 0, apart = 0;
    int same;
    hot_status status = hot_grid_reorder(context, a, b, &same, index);
    if (status != HOT_OK || same)
        return status;
    if (memcmp(a->size, b->size, sizeof a->size) != 0)
        return hot_context_fail(context, HOT_ERROR_DATA,
                                "the directions have %zu x %zu x %zu voxels, the truth %zu x %zu x %zu", a->size[0],
                                a->size[1], a->size[2], b->size[0], b->size[1], b->size[2]);
    hot_grid_to_ras(a, first);
    hot_grid_to_ras(b, second);
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 3; column++) {
            largest = fmax(largest, fabs(first[row][column]));
            apart = fmax(apart, fabs(first[row][column] - second[row][column]));
        }
    if (a->space != HOT_SPACE_UNKNOWN && b->space != HOT_SPACE_UNKNOWN && apart > 1e-3 * largest)
        hot_context_log(context, HOT_LOG_WARNING,
                        "the directions' grid and the truth's are not oriented alike; voxels are matched by index and "
                        "vectors compared in scanner axes");
    return HOT_OK;
}

/* Groups with voxels, and the mean over the conditions. errors: scratch. */
static hot_status fill_groups(hot_context *context, const outcome *outcomes, size_t voxels, float *errors,
                              hot_score *made)
{
    for (int index = 0; index < GROUPS; index++) {
        hot_score_group *group = &made->groups[made->count];
        HOT_TRY(hot_context_check(context, "comparing directions"));
        fill_group(outcomes, voxels, index, errors, group);
        if (!group->voxels)
            continue;
        if (index < FIRST_CONDITION + FIVE) {
            made->mean += (double)group->solved / (double)group->voxels;
            made->present++;
        }
        made->count++;
    }
    made->mean = made->present ? made->mean / made->present : NAN;
    return HOT_OK;
}

static hot_status read_options(hot_context *context, const hot_score_options *given, size_t slices,
                               hot_score_options *o)
{
    hot_status status = hot_options_read(context, "hot_score_options", given, o);
    if (status == HOT_OK)
        status = hot_option_number(context, "threshold", 0, 1, &o->threshold);
    if (status == HOT_OK)
        status = hot_option_number(context, "tolerance", 15, 90, &o->tolerance);
    if (status == HOT_OK && o->max_fibers < 0)
        status = hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "max_fibers", "at least 1 (0: all), not %d",
                                            o->max_fibers);
    o->max_fibers = o->max_fibers > 0 && o->max_fibers < COUNTED ? o->max_fibers : COUNTED;
    if (status == HOT_OK && (o->slice < 0 || (size_t)o->slice > slices))
        status = hot_context_fail(context, HOT_ERROR_ARGUMENT, "there is no slice %d: the data have %zu", o->slice - 1,
                                  slices);
    return status;
}

hot_status hot_score_create(hot_context *context, const hot_fiber_field *found, const hot_fiber_field *truth,
                            const hot_score_options *options, hot_score **score)
{
    HOT_ENTRY(context);
    HOT_CLEAR(score);
    HOT_NEED(context, found, truth, score);
    hot_score_options o = {.size = sizeof o};
    const size_t *sizes = truth->grid.size;
    size_t *where = NULL;
    hot_status status = read_options(context, options, sizes[2], &o);
    if (status == HOT_OK)
        status = match_voxels(context, &found->grid, &truth->grid, &where);
    if (status != HOT_OK) {
        hot_context_free(context, where);
        return status;
    }
    size_t voxels = hot_grid_voxels(&truth->grid), slice = sizes[0] * sizes[1];
    double signs[2][3];
    hot_space_ras_sign(found->grid.space, signs[0]);
    hot_space_ras_sign(truth->grid.space, signs[1]);
    status = HOT_ERROR_MEMORY;
    float *errors = NULL;
    outcome *outcomes = NULL;
    size_t pairs = 0;
    hot_score *made = hot_context_calloc(context, 1, sizeof *made);
    if (!made)
        goto cleanup;
    made->context = context;
    outcomes = hot_context_calloc(context, voxels, sizeof *outcomes);
    if (!outcomes)
        goto cleanup;
    int threads = hot_context_threads(context);
#pragma omp parallel for num_threads(hot_team(threads)) schedule(static)
    for (size_t voxel = 0; voxel < voxels; voxel++)
        if (!hot_context_cancelled(context) && (!o.mask || o.mask[voxel]) &&
            (o.slice == 0 || voxel / slice + 1 == (size_t)o.slice))
            judge(found, where ? where[voxel] : voxel, truth, (const double(*)[3])signs, voxel, &o, &outcomes[voxel]);
    status = hot_context_check(context, "comparing directions");
    if (status != HOT_OK)
        goto cleanup;
    status = HOT_ERROR_MEMORY;
    for (size_t voxel = 0; voxel < voxels; voxel++)
        pairs += outcomes[voxel].pairs;
    errors = hot_context_alloc(context, pairs, sizeof *errors);
    if (!errors)
        goto cleanup;
    status = fill_groups(context, outcomes, voxels, errors, made);
    if (status != HOT_OK)
        goto cleanup;
    *score = made;
    made = NULL;
    status = HOT_OK;
cleanup:
    HOT_FREE(context, where, errors, outcomes);
    hot_score_destroy(&made);
    return status;
}

void hot_score_destroy(hot_score **score)
{
    HOT_DESTROY_BEGIN(hot_score, score);
    hot_context_free(gone->context, gone);
}

const hot_score_group *hot_score_groups(const hot_score *score, size_t *count)
{
    if (count)
        *count = score ? score->count : 0;
    return score ? score->groups : NULL;
}

double hot_score_mean(const hot_score *score, int *groups)
{
    HOT_ENTRY(NULL);
    if (groups)
        *groups = score ? score->present : 0;
    return score ? score->mean : NAN;
}
