#include "fingerprint.h"

#include "common/entry.h"
#include "core/fingerprint.h"
#include "gather.h"
#include "paged.h"

/* As in summary.c: voxels of a row, and voxels between two reports of progress. */
enum { BLOCK = 1024, CHUNK = 4096 * BLOCK };

/* Samples are weighted by numbers of their voxel and volume and added: a sum that does not depend on the order in which
 * they come (multilinear hashing, Carter and Wegman 1979). */
static uint64_t add_samples(const hot_dwi_mapped *held, size_t first, size_t count)
{
    const hot_dwi *dwi = &held->view;
    uint64_t weight[BLOCK], sum = 0;
    float samples[BLOCK];
    uint32_t bits[BLOCK];
    for (size_t n = 0; n < count; n++)
        weight[n] = hot_fingerprint_mix(first + n) | 1;
    for (size_t v = 0; v < dwi->volumes; v++) {
        uint64_t row = 0;
        hot_dwi_read_row(dwi, v, first - held->origin, count, samples);
        memcpy(bits, samples, count * sizeof *bits);
        for (size_t n = 0; n < count; n++)
            row += weight[n] * bits[n];
        sum += (hot_fingerprint_mix(~(uint64_t)v) | 1) * row;
    }
    return sum;
}

hot_status hot_dwi_fingerprint(hot_context *context, const hot_dwi *dwi, uint64_t *sum)
{
    const size_t voxels = hot_grid_voxels(&dwi->grid);
    uint64_t samples = 0;
    for (size_t first = 0, end; first < voxels; first = end) {
        hot_dwi_mapped held;
        hot_status status = hot_dwi_map(context, dwi, first, &held);
        if (status != HOT_OK)
            return status;
        end = first + (held.count < CHUNK ? held.count : CHUNK);
#pragma omp parallel for schedule(dynamic, 4) num_threads(hot_team(hot_context_threads(context))) reduction(+ : samples)
        for (size_t at = first; at < end; at += BLOCK)
            if (!hot_context_cancelled(context))
                samples += add_samples(&held, at, end - at < BLOCK ? end - at : BLOCK);
        status = hot_context_check(context, "comparing the data");
        if (status != HOT_OK)
            return status;
    }
    const uint64_t sizes[] = {dwi->grid.size[0], dwi->grid.size[1], dwi->grid.size[2], dwi->volumes, samples,
                              (uint64_t)dwi->grid.space};
    *sum = hot_fingerprint_bytes(0, sizes, sizeof sizes);
    *sum = hot_fingerprint_bytes(*sum, dwi->grid.to_world, sizeof dwi->grid.to_world);
    *sum = hot_fingerprint_bytes(*sum, dwi->b, dwi->volumes * sizeof *dwi->b);
    *sum = hot_fingerprint_bytes(*sum, dwi->gradients, 3 * dwi->volumes * sizeof *dwi->gradients);
    return HOT_OK;
}
