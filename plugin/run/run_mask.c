/* Whether a given mask lies where the brain is. A mask of another scan, or with a wrong affine, gives plausible results
 * in the voxels that it happens to cover. */
#include "run.h"

#include <math.h>

/* A displaced mask has the brain's shape: moved by at least `far` mm it covers the brain (Dice coefficient) by `fits`,
 * and by `gain` more than where it is. Masks of a region never do. */
static const double far = 12, fits = 0.85, gain = 0.12;

/* Below this share of the brain a mask is one of a region: white matter is a third of it. */
static const double region = 0.2;

enum { SAMPLES = 40, MAX_STEPS = 200 }; /* compared voxels along an axis, at most */

typedef struct comparison {
    const hot_grid *grid;
    const uint8_t *mask, *brain;
    long stride[3]; /* voxels between compared ones; shifts are multiples */
} comparison;

/* The Dice coefficient of the mask moved by `shift` strides, of the part that both have; 0 where less than half of the
 * volume is left. */
static double overlap(const comparison *c, const long shift[3])
{
    const size_t *size = c->grid->size;
    size_t both = 0, either = 0, compared = 0, all = 0;
    for (long k = 0; k < (long)size[2]; k += c->stride[2])
        for (long j = 0; j < (long)size[1]; j += c->stride[1])
            for (long i = 0; i < (long)size[0]; i += c->stride[0]) {
                const long at[3] = {i + shift[0] * c->stride[0], j + shift[1] * c->stride[1],
                                    k + shift[2] * c->stride[2]};
                all++;
                if (at[0] < 0 || at[1] < 0 || at[2] < 0 || at[0] >= (long)size[0] || at[1] >= (long)size[1] ||
                    at[2] >= (long)size[2])
                    continue;
                const size_t from = (size_t)i + size[0] * ((size_t)j + size[1] * (size_t)k);
                const size_t to = (size_t)at[0] + size[0] * ((size_t)at[1] + size[1] * (size_t)at[2]);
                compared++;
                both += c->mask[from] && c->brain[to];
                either += (c->mask[from] != 0) + (size_t)(c->brain[to] != 0);
            }
    return 2 * compared >= all && either ? 2. * (double)both / (double)either : 0;
}

/* Climbs to the shift with the best overlap, one stride of an axis at a time. */
static double best_overlap(const comparison *c, long shift[3])
{
    double best = overlap(c, shift);
    for (int steps = 0, better = 1; better && steps < MAX_STEPS; steps++) {
        better = 0;
        for (int axis = 0; axis < 3; axis++)
            for (int way = -1; way <= 1; way += 2) {
                long moved[3] = {shift[0], shift[1], shift[2]};
                moved[axis] += way;
                const double found = overlap(c, moved);
                if (found > best) {
                    best = found;
                    shift[axis] = moved[axis];
                    better = 1;
                }
            }
    }
    return best;
}

/* Everything is learned within the mask, and a region's fibres are not a brain's. */
static void warn_of_region(const hot_run_state *run, size_t brain)
{
    const size_t inside = run->learned.mask->inside;
    if (run->learned.file || !((double)inside < region * (double)brain))
        return;
    hot_context_log(run->context, HOT_LOG_WARNING,
                    "the mask has %zu voxel%s, %.2g %% of the brain: response, noise and priors are estimated from %s "
                    "alone. To take them from the whole brain: hotfiber learn DWI -o FILE, then run --learned FILE "
                    "--mask MASK", inside, inside == 1 ? "" : "s", 100. * (double)inside / (double)brain,
                    inside == 1 ? "it" : "these");
}

hot_status hot_run_check_mask(hot_run_state *run)
{
    const hot_dwi *dwi = run->inputs.dwi;
    const hot_grid *grid = hot_dwi_grid(dwi);
    const char *name = run->inputs.options.mask ? run->inputs.options.mask : "given";
    hot_mask *brain = NULL;
    comparison c = {.grid = grid, .mask = hot_mask_bytes(run->learned.mask)};
    const hot_status status = hot_mask_estimate(run->context, dwi, &brain);
    if (status != HOT_OK) /* else there is nothing to compare with */
        return status == HOT_ERROR_MEMORY || status == HOT_ERROR_CANCELLED ? status : HOT_OK;
    c.brain = hot_mask_bytes(brain);
    for (int d = 0; d < 3; d++)
        c.stride[d] = 1 + (long)(grid->size[d] - 1) / SAMPLES;
    long shift[3] = {0};
    double mm[3] = {0}, distance = 0;
    const double here = overlap(&c, shift), there = here > 0 ? best_overlap(&c, shift) : 0;
    warn_of_region(run, brain->inside);
    hot_mask_destroy(&brain);
    for (int r = 0; r < 3; r++) {
        for (int d = 0; d < 3; d++)
            mm[r] += grid->to_world[r][d] * (double)(shift[d] * c.stride[d]);
        distance += mm[r] * mm[r];
    }
    if (sqrt(distance) < far || there < fits || there < here + gain)
        return HOT_OK;
    return hot_context_fail_parameter(run->context, HOT_ERROR_DATA, "mask",
                                      "'%s' lies beside the brain: it covers %.0f %% of it, and moved by %.0f %.0f "
                                      "%.0f mm (in the data's space) %.0f %%; is it of another scan?", name,
                                      100 * here, mm[0], mm[1], mm[2], 100 * there);
}
