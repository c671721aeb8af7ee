/* From the maxima of one form to its directions: compiled as C11 and by nvcc. */
#pragma once

#include "common/portable.h"
#include "directions_args.h"

/* The half sphere of directions: z > 0, then y > 0, then x > 0. */
HOT_FN int hot_in_other_half(const float v[3])
{
    if (v[2] != 0)
        return v[2] < 0;
    if (v[1] != 0)
        return v[1] < 0;
    return v[0] < 0;
}

/* Greedy clustering (hot_directions_cluster is this): of `count` maxima the largest is kept; then, by size,
 * each that is at least `threshold` times it and whose squared cosine with all kept ones is at most `apart`. */
HOT_FN int hot_cluster(int keep, float threshold, float apart, hot_maximum *maxima, int count, float *directions)
{
    int found = 0;
    /* Selection: the kept ones are few, and gather at the front of the array. */
    for (int from = 0; from < count && found < keep; from++) {
        int best = from;
        for (int i = from + 1; i < count; i++)
            if (maxima[i].value > maxima[best].value)
                best = i;
        const hot_maximum m = maxima[best];
        maxima[best] = maxima[from];
        if (!(m.value > 0) || (found > 0 && m.value < threshold * maxima[0].value))
            break;
        int alone = 1;
        for (int i = 0; i < found && alone; i++) {
            const float cosine = m.x * maxima[i].x + m.y * maxima[i].y + m.z * maxima[i].z;
            alone = cosine * cosine <= apart;
        }
        maxima[from] = maxima[found]; /* a dropped one, or itself */
        if (alone)
            maxima[found++] = m;
    }
    for (int i = 0; i < found; i++) {
        const hot_maximum *m = maxima + i;
        const float v[3] = {m->x * m->value, m->y * m->value, m->z * m->value};
        /* of the product, which may have vanished where the factor had not */
        const float sign = hot_in_other_half(v) ? -1.0f : 1.0f;
        for (int d = 0; d < 3; d++)
            directions[3 * i + d] = sign * v[d] + 0.0f; /* + 0: no -0 */
    }
    for (int i = 3 * found; i < 3 * keep; i++)
        directions[i] = 0;
    return found;
}
