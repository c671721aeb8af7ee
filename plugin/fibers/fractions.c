#include "fractions.h"
#include "common/entry.h"

#include <math.h>

int hot_fractions_hold(const hot_response *response)
{
    int holds = response == NULL;
    for (size_t shell = 0; response && shell < response->shells; shell++)
        holds |= response->b[shell] <= 50;
    return holds;
}

void hot_fractions_of_typical(hot_context *context, size_t voxels, int max_fibers, double typical, float *peaks)
{
    const size_t values = typical == 1 ? 0 : voxels * 3 * (size_t)max_fibers;
#pragma omp parallel for schedule(static) num_threads(hot_team(hot_context_threads(context)))
    for (size_t i = 0; i < values; i++)
        peaks[i] = (float)(peaks[i] / typical);
}

void hot_fractions_bound(hot_context *context, size_t voxels, int max_fibers, float *peaks)
{
    const double most = 1 - 1e-6; /* single precision must not bring the sum above 1 again */
#pragma omp parallel for schedule(static) num_threads(hot_team(hot_context_threads(context)))
    for (size_t voxel = 0; voxel < voxels; voxel++) {
        float *row = peaks + voxel * 3 * (size_t)max_fibers;
        double sum = 0;
        for (int f = 0; f < max_fibers; f++) {
            const float *v = row + 3 * f;
            const double length = sqrt((double)v[0] * v[0] + (double)v[1] * v[1] + (double)v[2] * v[2]);
            sum += length > 0 && isfinite(length) ? length : 0;
        }
        for (int i = 0; sum > 1 && i < 3 * max_fibers; i++)
            row[i] = (float)(row[i] * (most / sum));
    }
}
