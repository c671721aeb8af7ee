#include "median.h"

#include "common/entry.h"
#include "common/simd.h"

/* The median by forgetting (Paeth 1990): the smallest and the largest of 15 of 27 values are neither of them the
 * median. They go, a further value comes, and so on until three are left. */
HOT_FN void order(vf *a, vf *b)
{
    const vf low = vmin(*a, *b);
    *b = vmax(*a, *b);
    *a = low;
}

/* The smallest of `count` values to the front, the largest to the end. */
HOT_FN void ends_apart(vf *value, int count)
{
    HOT_UNROLL
    for (int i = 0; i < count / 2; i++) /* the small ones in one half, the large ones in the other */
        order(&value[i], &value[count - 1 - i]);
    HOT_UNROLL
    for (int i = 1; i < (count + 1) / 2; i++)
        order(&value[0], &value[i]);
    HOT_UNROLL
    for (int i = count / 2; i < count - 1; i++)
        order(&value[i], &value[count - 1]);
}

/* Medians of a lane's worth of voxels next to each other, all within the border; at: the first of them. */
static void median_of_27(const float *at, size_t nx, size_t nxy, float *to)
{
    vf near[27];
    int count = 0;
    for (ptrdiff_t z = -1; z <= 1; z++)
        for (ptrdiff_t y = -1; y <= 1; y++)
            for (ptrdiff_t x = -1; x <= 1; x++)
                near[count++] = vload(at + x + y * (ptrdiff_t)nx + z * (ptrdiff_t)nxy);
    vf kept[15];
    memcpy(kept, near, sizeof kept);
    HOT_UNROLL
    for (int left = 15, next = 15; left > 3; left--) {
        ends_apart(kept, left);
        kept[0] = near[next++]; /* the largest is forgotten as the end moves */
    }
    ends_apart(kept, 3);
    vstore(to, kept[1]);
}

static float median_at_border(const size_t size[3], const float *from, size_t i, size_t j, size_t k)
{
    float near[27] = {0};
    int count = 0;
    for (size_t z = k ? k - 1 : 0; z <= k + 1 && z < size[2]; z++)
        for (size_t y = j ? j - 1 : 0; y <= j + 1 && y < size[1]; y++)
            for (size_t x = i ? i - 1 : 0; x <= i + 1 && x < size[0]; x++) {
                const float value = from[x + size[0] * (y + size[1] * z)];
                int at = count++; /* insertion sort */
                for (; at > 0 && near[at - 1] > value; at--)
                    near[at] = near[at - 1];
                near[at] = value;
            }
    return near[count / 2];
}

static void median_line(const size_t size[3], const float *from, size_t j, size_t k, float *to)
{
    enum { LANES = HOT_LANES_F32 };
    const size_t nx = size[0], nxy = size[0] * size[1], line = j * nx + k * nxy;
    const int within = j > 0 && j + 1 < size[1] && k > 0 && k + 1 < size[2] && nx >= LANES + 2;
    for (size_t i = 0; i < nx;) {
        if (!within || i == 0 || i + 1 == nx) {
            to[line + i] = median_at_border(size, from, i, j, k);
            i++;
        } else { /* the last ones of a line overlap those before */
            i = i + LANES < nx ? i : nx - 1 - LANES;
            median_of_27(from + line + i, nx, nxy, to + line + i);
            i += LANES;
        }
    }
}

hot_status hot_median_3x3x3(hot_context *context, const size_t size[3], const float *from, float *to)
{
#pragma omp parallel for schedule(dynamic, 64) num_threads(hot_team(hot_context_threads(context)))
    for (size_t line = 0; line < size[1] * size[2]; line++)
        if (!hot_context_cancelled(context))
            median_line(size, from, line % size[1], line / size[1], to);
    return hot_context_check(context, "estimating the mask");
}
