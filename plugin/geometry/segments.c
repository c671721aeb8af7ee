#include "segments.h"
#include "common/entry.h"

#include <math.h>

static const float *vector_at(const hot_segments *segments)
{
    return segments->fibers->peaks +
           3 * (segments->voxel * (size_t)segments->fibers->max_fibers + (size_t)segments->fiber);
}

static double length_of(const float v[3])
{
    return sqrt((double)v[0] * v[0] + (double)v[1] * v[1] + (double)v[2] * v[2]);
}

void hot_segments_begin(const hot_fiber_field *fibers, hot_space space, hot_segments *segments)
{
    const hot_grid *grid = &fibers->grid;
    size_t voxels = hot_grid_voxels(grid);
    double to[3], side = HUGE_VAL, largest = 0;
    *segments = (hot_segments){.fibers = fibers};
    hot_space_ras_sign(grid->space, segments->sign);
    hot_space_ras_sign(space, to);
    for (int d = 0; d < 3; d++)
        segments->sign[d] *= to[d];
    for (int axis = 0; axis < 3; axis++)
        side = fmin(side, sqrt(grid->to_world[0][axis] * grid->to_world[0][axis] +
                               grid->to_world[1][axis] * grid->to_world[1][axis] +
                               grid->to_world[2][axis] * grid->to_world[2][axis]));
    for (size_t voxel = 0; voxel < voxels; voxel++) {
        segments->count += fibers->counts[voxel];
        largest = fmax(largest, length_of(fibers->peaks + 3 * voxel * (size_t)fibers->max_fibers));
    }
    segments->scale = largest > 0 ? side / largest : 0;
}

/* Skips voxels without fibres; 0 at the end. */
static int settle(hot_segments *segments)
{
    size_t voxels = hot_grid_voxels(&segments->fibers->grid);
    while (segments->voxel < voxels && segments->fiber >= segments->fibers->counts[segments->voxel]) {
        segments->voxel++;
        segments->fiber = 0;
    }
    return segments->voxel < voxels;
}

int hot_segments_first(hot_segments *segments)
{
    segments->number = segments->voxel = 0;
    segments->fiber = 0;
    return settle(segments);
}

int hot_segments_next(hot_segments *segments)
{
    segments->number++;
    segments->fiber++;
    return settle(segments);
}

void hot_segment_ends(const hot_segments *segments, float ends[6])
{
    const hot_grid *grid = &segments->fibers->grid;
    const float *v = vector_at(segments);
    const size_t *size = grid->size, voxel = segments->voxel;
    const double i = (double)(voxel % size[0]), j = (double)(voxel / size[0] % size[1]);
    const double k = (double)(voxel / size[0] / size[1]);
    for (int d = 0; d < 3; d++) {
        const double *m = grid->to_world[d];
        double center = m[0] * i + m[1] * j + m[2] * k + m[3], half = 0.5 * segments->scale * v[d];
        ends[d] = (float)(segments->sign[d] * (center - half));
        ends[3 + d] = (float)(segments->sign[d] * (center + half));
    }
}

float hot_segment_direction(const hot_segments *segments, float direction[3])
{
    const float *v = vector_at(segments);
    double length = length_of(v);
    for (int d = 0; d < 3; d++)
        direction[d] = (float)(segments->sign[d] * v[d] / length);
    return (float)length;
}

size_t hot_fiber_field_segments(const hot_fiber_field *fibers, hot_space space, float *points, float *directions,
                                float *amplitudes, uint8_t *numbers)
{
    HOT_ENTRY(NULL);
    hot_segments segments;
    if (!fibers)
        return 0;
    hot_segments_begin(fibers, space, &segments);
    if (!points && !directions && !amplitudes && !numbers)
        return segments.count;
    for (int more = hot_segments_first(&segments); more; more = hot_segments_next(&segments)) {
        float vector[3], amplitude = hot_segment_direction(&segments, vector);
        if (points)
            hot_segment_ends(&segments, points + 6 * segments.number);
        for (size_t d = 0; directions && d < 3; d++)
            directions[3 * segments.number + d] = vector[d];
        if (amplitudes)
            amplitudes[segments.number] = amplitude;
        if (numbers)
            numbers[segments.number] = (uint8_t)(segments.fiber + 1);
    }
    return segments.count;
}
