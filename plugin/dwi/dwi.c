/* hot_dwi in memory: making, freeing, what it tells, and its shells. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/arguments.h"
#include "common/compare.h"
#include "core/memory.h"
#include "common/entry.h"
#include "dwi_private.h"
#include "paged.h"
#include "summary.h"

void hot_dwi_free_data(hot_context *context, void *data) { hot_context_free(context, data); }

hot_status hot_dwi_begin(hot_context *context, const hot_grid *grid, size_t volumes, size_t apart, const char *path,
                         hot_dwi **dwi)
{
    *dwi = NULL;
    hot_dwi *made = hot_context_calloc(context, 1, sizeof *made);
    if (!made)
        return HOT_ERROR_MEMORY;
    *made = (hot_dwi){.context = context, .grid = *grid, .volumes = volumes, .slope = 1};
    for (int d = 0; d < 3; d++)
        made->frame[d][d] = 1;
    made->b = hot_context_calloc(context, volumes, sizeof *made->b);
    made->gradients = made->b ? hot_context_calloc(context, volumes, 3 * sizeof *made->gradients) : NULL;
    made->position = made->gradients ? hot_context_alloc(context, volumes, sizeof *made->position) : NULL;
    made->source = made->position ? hot_string_copy(context, path) : NULL;
    if (!made->source) {
        hot_dwi_destroy(&made);
        return HOT_ERROR_MEMORY;
    }
    for (size_t v = 0; v < volumes; v++)
        made->position[v] = v * apart;
    *dwi = made;
    return HOT_OK;
}

hot_status hot_dwi_add_input(hot_context *context, hot_dwi *dwi, const char *path)
{
    if ((dwi->input_count & (dwi->input_count - 1)) == 0) { /* full at every power of two */
        char **grown = hot_context_alloc(context, dwi->input_count ? 2 * dwi->input_count : 1, sizeof *grown);
        if (!grown)
            return HOT_ERROR_MEMORY;
        if (dwi->input_count)
            memcpy(grown, dwi->inputs, dwi->input_count * sizeof *grown);
        hot_context_free(context, dwi->inputs);
        dwi->inputs = grown;
    }
    dwi->inputs[dwi->input_count] = hot_string_copy(context, path);
    if (!dwi->inputs[dwi->input_count])
        return HOT_ERROR_MEMORY;
    dwi->input_count++;
    return HOT_OK;
}

/* s/mm^2: ten times what the strongest gradients reach. 1000 s/mm^2 in s/m^2, SI's unit, are a thousand times more. */
static const double highest_b = 1e5;
/* Volumes up to the first b-value count as b=0; if there are none, those up to the second. The imaging gradients of
 * strong scanners alone are b=60 (HCP, 7 T), which attenuates the signal along a fibre by a tenth. */
static const double highest_b0 = 50, highest_b0_alone = HOT_B0_ALONE;

hot_status hot_dwi_complete(hot_context *context, hot_dwi *dwi)
{
    for (size_t v = 0; v < dwi->volumes; v++) {
        double *g = dwi->gradients + 3 * v;
        if (!(isfinite(dwi->b[v]) && dwi->b[v] >= 0))
            return hot_context_fail(context, HOT_ERROR_DATA,
                                    "volume %zu has the b-value %g; it must be a number of at least 0", v, dwi->b[v]);
        if (dwi->b[v] > highest_b)
            return hot_context_fail(context, HOT_ERROR_DATA,
                                    "volume %zu has b = %g s/mm^2, and %g is the limit (1000 to 20000 is usual; is it "
                                    "in another unit?)", v, dwi->b[v], highest_b);
        int known = isfinite(g[0]) && isfinite(g[1]) && isfinite(g[2]);
        if (!known && dwi->b[v] <= highest_b0_alone) /* some tools write NaN for volumes without a direction */
            g[0] = g[1] = g[2] = 0;
        else if (!known)
            return hot_context_fail(context, HOT_ERROR_DATA, "volume %zu has the gradient (%g, %g, %g)", v, g[0], g[1],
                                    g[2]);
        /* scaled first: neither huge nor tiny components overflow or vanish */
        double largest = fmax(fabs(g[0]), fmax(fabs(g[1]), fabs(g[2])));
        if (dwi->b[v] == 0 || largest == 0) {
            if (dwi->b[v] > highest_b0_alone)
                return hot_context_fail(context, HOT_ERROR_DATA,
                                        "volume %zu has b = %g s/mm^2 but no gradient direction", v, dwi->b[v]);
            g[0] = g[1] = g[2] = 0;
            if (dwi->b[v] > highest_b0)
                dwi->b[v] = 0; /* without a direction it is one of those all the same */
            continue;
        }
        double x = g[0] / largest, y = g[1] / largest, z = g[2] / largest, length = sqrt(x * x + y * y + z * z);
        g[0] = x / length;
        g[1] = y / length;
        g[2] = z / length;
    }
    hot_status status = hot_dwi_find_shells(context, dwi);
    double least = highest_b, largest = 0;
    size_t without = 0;
    for (size_t v = 0; v < dwi->volumes && status == HOT_OK && dwi->has_b0; v++)
        if (dwi->shell_of[v] == 0) {
            least = fmin(least, dwi->b[v]);
            largest = fmax(largest, dwi->b[v]);
            without++;
        }
    if (without > 0 && least > highest_b0)
        hot_context_log(context, HOT_LOG_NOTE,
                        "no volume has b of at most %g s/mm^2: %zu of b=%.0f to %.0f count as b=0", highest_b0,
                        without, least, largest);
    return status;
}

hot_status hot_dwi_create(hot_context *context, const hot_grid *grid, size_t volumes, const double *b,
                          const double *gradients, const float *signals, hot_dwi **dwi)
{
    HOT_ENTRY(context);
    HOT_CLEAR(dwi);
    HOT_NEED(context, grid, b, gradients, signals, dwi);
    HOT_TRY(hot_grid_check(context, grid));
    size_t voxels = hot_grid_voxels(grid);
    if (voxels == 0 || volumes == 0 || voxels > SIZE_MAX / sizeof(float) / volumes)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "a DWI of %zu x %zu x %zu voxels and %zu volumes",
                                grid->size[0], grid->size[1], grid->size[2], volumes);
    hot_dwi *made = NULL;
    hot_status status = hot_dwi_begin(context, grid, volumes, voxels, "", &made);
    if (status != HOT_OK)
        return status;
    float *data = hot_context_alloc(context, voxels * volumes, sizeof *data);
    if (!data) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    memcpy(data, signals, voxels * volumes * sizeof *data);
    made->data = data;
    made->release_data = hot_dwi_free_data;
    made->sample = HOT_SAMPLE_F32;
    made->stride[0] = 1;
    made->stride[1] = grid->size[0];
    made->stride[2] = grid->size[0] * grid->size[1];
    memcpy(made->b, b, volumes * sizeof *b);
    memcpy(made->gradients, gradients, 3 * volumes * sizeof *gradients);
    status = hot_dwi_complete(context, made);
cleanup:
    if (status == HOT_OK)
        *dwi = made;
    else
        hot_dwi_destroy(&made);
    return status;
}

void hot_dwi_release_pages(hot_dwi *dwi, size_t end)
{
    const size_t *size = dwi->grid.size, *stride = dwi->stride, bytes = hot_sample_bytes(dwi->sample);
    if (!dwi->data || !dwi->release_data || stride[1] != stride[0] * size[0] || stride[2] != stride[1] * size[1])
        return;
    if (stride[0] == 1)
        for (size_t v = 0; v < dwi->volumes; v++)
            hot_memory_release((char *)dwi->data + dwi->position[v] * bytes, end * bytes);
    else if (stride[0] == dwi->volumes)
        hot_memory_release(dwi->data, end * dwi->volumes * bytes);
}

void hot_dwi_destroy(hot_dwi **dwi)
{
    HOT_DESTROY_BEGIN(hot_dwi, dwi);
    hot_context *context = gone->context;
    if (gone->release_data && gone->data)
        gone->release_data(context, gone->data);
    hot_dwi_paged_free(context, gone);
    hot_dwi_summary_free(&gone->summary);
    HOT_FREE(context, gone->b, gone->gradients, gone->shell_b, gone->shell_of, gone->source, gone->position);
    for (size_t i = 0; i < gone->input_count; i++)
        hot_context_free(context, gone->inputs[i]);
    HOT_FREE(context, gone->inputs, gone);
}

const hot_grid *hot_dwi_grid(const hot_dwi *dwi) { return dwi ? &dwi->grid : NULL; }
size_t hot_dwi_volumes(const hot_dwi *dwi) { return dwi ? dwi->volumes : 0; }
const double *hot_dwi_b(const hot_dwi *dwi) { return dwi ? dwi->b : NULL; }
const double *hot_dwi_gradients(const hot_dwi *dwi) { return dwi ? dwi->gradients : NULL; }
const char *hot_dwi_source(const hot_dwi *dwi) { return dwi ? dwi->source : ""; }
const char *hot_dwi_name(const hot_dwi *dwi) { return dwi && dwi->source[0] ? dwi->source : "the data set"; }
int hot_dwi_has_b0(const hot_dwi *dwi) { return dwi ? dwi->has_b0 : 0; }

size_t hot_dwi_shells(const hot_dwi *dwi, const double **b, const int **shell_of)
{
    if (b)
        *b = dwi ? dwi->shell_b : NULL;
    if (shell_of)
        *shell_of = dwi ? dwi->shell_of : NULL;
    return dwi ? dwi->shells : 0;
}

/* ---- shells ---- */

/* b-values written by scanners spread by a few percent around the nominal one: a new shell starts where the next b is
 * farther from the one before than this. */
static double widest_gap(double b) { return fmax(60, 0.05 * b); }

hot_status hot_dwi_find_shells(hot_context *context, hot_dwi *dwi)
{
    hot_status status = HOT_ERROR_MEMORY;
    hot_numbered *sorted = hot_context_alloc(context, dwi->volumes, sizeof *sorted);
    double *shell_b = hot_context_calloc(context, dwi->volumes, sizeof *shell_b);
    int *shell_of = hot_context_alloc(context, dwi->volumes, sizeof *shell_of);
    if (!sorted || !shell_b || !shell_of)
        goto cleanup;
    for (size_t v = 0; v < dwi->volumes; v++)
        sorted[v] = (hot_numbered){dwi->b[v], v};
    qsort(sorted, dwi->volumes, sizeof *sorted, hot_ascending_numbered);
    size_t shells = 0, members = 0;
    const double limit = dwi->volumes && sorted[0].value > highest_b0 ? highest_b0_alone : highest_b0;
    for (size_t n = 0; n < dwi->volumes; n++) {
        double b = sorted[n].value, before = n ? sorted[n - 1].value : 0;
        int starts = n == 0 || (b > limit && (before <= limit || b - before > widest_gap(before)));
        if (starts) {
            if (shells)
                shell_b[shells - 1] /= (double)members;
            shells++;
            members = 0;
        }
        shell_of[sorted[n].at] = (int)shells - 1;
        shell_b[shells - 1] += b;
        members++;
    }
    if (shells)
        shell_b[shells - 1] /= (double)members;
    HOT_FREE(context, dwi->shell_b, dwi->shell_of);
    dwi->shell_b = shell_b;
    dwi->shell_of = shell_of;
    dwi->shells = shells;
    dwi->has_b0 = shells > 0 && sorted[0].value <= limit;
    if (dwi->has_b0 && limit > highest_b0)
        shell_b[0] = 0;
    shell_b = NULL;
    shell_of = NULL;
    status = HOT_OK;
cleanup:
    HOT_FREE(context, sorted, shell_b, shell_of);
    return status;
}
