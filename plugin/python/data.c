#include "data.h"

#include <math.h>
#include <string.h>

#include "core/fields.h"
#include "core/samples.h"
#include "dwi/dwi_private.h"
#include "dwi/empty.h"
#include "dwi/frames.h"
#include "io/vector_lengths.h"

hot_status hot_python_dwi(hot_context *context, const hot_grid *grid, size_t volumes, const double *b,
                          const double *gradients, double limit, const void *data, int sample, const size_t stride[3],
                          size_t apart, hot_dwi **dwi)
{
    hot_dwi *made = NULL;
    *dwi = NULL;
    if (hot_grid_voxels(grid) == 0 || volumes == 0)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "data of %zu x %zu x %zu voxels and %zu volumes",
                                grid->size[0], grid->size[1], grid->size[2], volumes);
    HOT_TRY(hot_dwi_begin(context, grid, volumes, apart, "", &made));
    made->data = (void *)(uintptr_t)data; /* only read; not released, because release_data is NULL */
    made->sample = (hot_sample)sample;
    memcpy(made->stride, stride, sizeof made->stride);
    memcpy(made->b, b, volumes * sizeof *b);
    memcpy(made->gradients, gradients, 3 * volumes * sizeof *gradients);
    if (limit > 0)
        hot_vector_lengths(context, made, "gradients", limit);
    hot_status status = limit > 0 ? hot_dwi_complete(context, made) : hot_dwi_find_shells(context, made);
    if (status == HOT_OK && made->length_coded_b > 0)
        status = hot_vector_lengths_confirm(context, made, "gradients");
    if (status == HOT_OK)
        *dwi = made;
    else
        hot_dwi_destroy(&made);
    return status;
}

hot_status hot_python_drop_empty(hot_context *context, hot_dwi *dwi) { return hot_dwi_drop_empty(context, dwi); }

void hot_python_bvec_frame(const hot_grid *grid, double *frame)
{
    double rows[3][3];
    hot_grid_bvec_frame(grid, rows);
    memcpy(frame, rows, sizeof rows);
}

void hot_python_samples_size(const hot_signal_samples *samples, int size[2])
{
    size[0] = samples->samples;
    size[1] = samples->fibers;
}

void hot_python_samples(const hot_signal_samples *samples, const hot_grid *grid, size_t count, const size_t *voxels,
                        float *vectors)
{
    const double turn = 2 * 3.14159265358979323846 / 65535;
    const size_t row = (size_t)samples->samples * (size_t)samples->fibers;
    double frame[3][3];
    hot_grid_bvec_frame(grid, frame);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < row; k++, vectors += 3) {
            const hot_sampled_fiber *fiber = &samples->values[samples->place[voxels[i]] * row + k];
            const double theta = fiber->theta * turn / 2, phi = fiber->phi * turn, length = fiber->fraction / 65535.0;
            const double v[3] = {sin(theta) * cos(phi), sin(theta) * sin(phi), cos(theta)};
            for (int a = 0; a < 3; a++)
                vectors[a] = (float)(length * (frame[a][0] * v[0] + frame[a][1] * v[1] + frame[a][2] * v[2]));
        }
}
