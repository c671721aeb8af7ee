/* The fibres of a field one after the other, as line segments about the voxels' centres: what .vtp and .tck share. */
#pragma once

#include "core/fields.h"

typedef struct hot_segments {
    const hot_fiber_field *fibers;
    size_t count;     /* of all segments */
    size_t number;    /* of the segment where the walk stands: 0, 1, ... */
    size_t voxel;
    int fiber;        /* 0 = the longest of the voxel */
    double sign[3];   /* from the field's world to the output space */
    double scale;     /* mm per amplitude: the largest amplitude spans the smallest side of a voxel */
} hot_segments;

/* Counts and measures. Coordinates will be those of `space`. */
void hot_segments_begin(const hot_fiber_field *fibers, hot_space space, hot_segments *segments);
/* for (int more = hot_segments_first(&s); more; more = hot_segments_next(&s)) */
int hot_segments_first(hot_segments *segments);
int hot_segments_next(hot_segments *segments);
/* Both ends, mm. */
void hot_segment_ends(const hot_segments *segments, float ends[6]);
/* The unit direction; returns the amplitude. */
float hot_segment_direction(const hot_segments *segments, float direction[3]);
