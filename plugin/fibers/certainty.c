/* How certain a fibre is: the one figure by which pictures, colours, pages and the viewer fade it. */
#include "certainty.h"

#include <math.h>
#include <string.h>

#include "common/arguments.h"
#include "common/entry.h"

/* Directions count as right within this angle, degrees: `hotfiber score` and bench/accuracy use it too. */
static const double near_enough = 15;

double hot_fiber_probability(const float probability[4], int fiber)
{
    double sum = 0;
    for (int k = fiber + 1; k <= 3; k++)
        sum += (double)probability[k];
    return sum;
}

double hot_fiber_certainty(const float probability[4], int fiber, double cone)
{
    /* normal in two dimensions: exp(-s angle^2) lies beyond an angle, and 1/20 beyond the cone */
    const double within = cone > 0 ? 1 - pow(20, -(near_enough / cone) * (near_enough / cone)) : 1;
    return fmin(hot_fiber_probability(probability, fiber), 1) * within;
}

const float *hot_fiber_field_certainty(const hot_fiber_field *fibers) { return fibers ? fibers->certainty : NULL; }

hot_status hot_fiber_field_set_certainty(hot_context *context, hot_fiber_field *fibers, const float *certainty)
{
    HOT_ENTRY(context);
    HOT_NEED(context, fibers);
    const size_t items = hot_grid_voxels(&fibers->grid) * (size_t)fibers->max_fibers;
    float *made = certainty ? hot_context_alloc(fibers->context, items, sizeof *made) : NULL;
    if (certainty && !made)
        return HOT_ERROR_MEMORY;
    for (size_t i = 0; made && i < items; i++)
        made[i] = certainty[i] > 0 ? fminf(certainty[i], 1) : 0; /* NaN is 0 */
    hot_context_free(fibers->context, fibers->certainty);
    fibers->certainty = made;
    return HOT_OK;
}

hot_status hot_fiber_field_judge(hot_context *context, hot_fiber_field *fibers, const hot_signal_maps *maps)
{
    const size_t voxels = hot_grid_voxels(&fibers->grid), row = (size_t)fibers->max_fibers;
    float *made = hot_context_calloc(fibers->context, voxels, row * sizeof *made);
    if (!made)
        return HOT_ERROR_MEMORY;
#pragma omp parallel for schedule(static) num_threads(hot_team(hot_context_threads(context)))
    for (size_t voxel = 0; voxel < voxels; voxel++)
        for (size_t fiber = 0; fiber < fibers->counts[voxel]; fiber++) {
            const double cone = maps->cone ? (double)maps->cone[voxel * row + fiber] : 0;
            made[voxel * row + fiber] =
                (float)hot_fiber_certainty(maps->probability + 4 * voxel, (int)fiber, cone);
        }
    hot_context_free(fibers->context, fibers->certainty);
    fibers->certainty = made;
    return HOT_OK;
}

hot_status hot_fiber_field_keep_doubt(hot_fiber_field *fibers, const hot_signal_maps *maps)
{
    const size_t voxels = hot_grid_voxels(&fibers->grid), row = (size_t)fibers->max_fibers;
    if (maps->probability && !(fibers->probability = hot_context_alloc(fibers->context, voxels, row * sizeof(float))))
        return HOT_ERROR_MEMORY;
    if (maps->cone && !(fibers->cone = hot_context_alloc(fibers->context, voxels, row * sizeof(float))))
        return HOT_ERROR_MEMORY;
    for (size_t i = 0; fibers->probability && i < voxels * row; i++)
        fibers->probability[i] = (float)hot_fiber_probability(maps->probability + 4 * (i / row), (int)(i % row));
    if (fibers->cone)
        memcpy(fibers->cone, maps->cone, voxels * row * sizeof *fibers->cone);
    return HOT_OK;
}
