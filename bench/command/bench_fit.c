/* hotfiber bench fit: from signals to tensors, in memory; the models adc, odf and fod at orders 4, 6 and 8. */
#include "bench.h"

#include <stdio.h>

#include "common/flow.h"

typedef struct fit_job {
    const hot_dwi *dwi;
    const hot_mask *mask;
    hot_fit_options options;
} fit_job;

static hot_status fit_once(hot_context *context, void *user)
{
    const fit_job *job = user;
    hot_tensor_field *field;
    hot_status status = hot_tensor_field_fit(context, job->dwi, job->mask, &job->options, &field);
    if (status == HOT_OK)
        hot_tensor_field_destroy(&field);
    return status;
}

static hot_status run_fit(hot_context *context, const bench_options *options, bench_report *report)
{
    static const char *const models[] = {"adc", "odf", "fod"};
    size_t rows;
    hot_phantom_default_conditions(&rows);
    hot_phantom_options phantom_options = {.size = sizeof phantom_options,
                                           .voxels = (options->count ? options->count : 24000) / rows + 1};
    hot_phantom *phantom = NULL;
    hot_mask *mask = NULL;
    hot_response *response = NULL;
    HOT_TRY(hot_phantom_create(context, &phantom_options, &phantom));
    const hot_dwi *dwi = hot_phantom_dwi(phantom);
    hot_status status = hot_mask_full(context, hot_dwi_grid(dwi), &mask);
    if (status == HOT_OK)
        status = hot_response_tensor(context, dwi, 1.7e-3, .2e-3, 1000, 8, &response);
    for (int m = 0; m < 3 && status == HOT_OK; m++)
        for (int order = 4; order <= 8 && status == HOT_OK; order += 2) {
            if (options->order && options->order != order)
                continue;
            char name[64];
            snprintf(name, sizeof name, "%s, order %d, %zu volumes", models[m], order, hot_dwi_volumes(dwi));
            fit_job job = {dwi, mask, {.size = sizeof job.options, .model = models[m], .order = order,
                                       .response = m == 2 ? response : NULL}};
            status = bench_measure_row(context, options, report, name, "cpu", (double)hot_mask_count(mask), "voxels",
                                       fit_once, &job, NULL);
        }
    hot_response_destroy(&response);
    hot_mask_destroy(&mask);
    hot_phantom_destroy(&phantom);
    return status;
}

const bench_entry bench_fit = {"fit", "signals to tensors: 64 directions and 8 b=0, in memory", run_fit};
