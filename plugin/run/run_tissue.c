/* The kind of a voxel by the data alone, for the report: fibres where there should be few are counted. Judged on a
 * sample of the mask before the signals are freed, by a diffusion tensor of the shells in which water still has signal:
 * a mean diffusivity above 2e-3 mm^2/s is like CSF (3e-3 at body temperature, tissue .7e-3 to 1.1e-3), an anisotropy
 * below .15 without that like grey matter. */
#include "run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/likeness.h"
#include "dwi/gather.h"

enum { MAX_SAMPLE = 10000 };
static const double csf_md = 2e-3, grey_fa = .15;
/* Above it free water is lost in the noise; a shell of b=1545 is one of 1500. */
static const double b_max = 1575;

/* The sampled voxels in a row as data of their own: the volumes of b=0 and of the shells up to b_max, if there are
 * some. */
static hot_status take_sample(hot_run_state *run, hot_dwi **sample)
{
    hot_context *context = run->context;
    const hot_dwi *dwi = run->inputs.dwi;
    hot_run_tissues *tissues = &run->results.tissues;
    const hot_grid row = {.size = {tissues->voxels, 1, 1}, .to_world = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
    const size_t volumes = dwi->volumes;
    double *b = hot_context_alloc(context, volumes, 4 * sizeof *b), *gradients = b + volumes;
    size_t *volume = hot_context_alloc(context, volumes, sizeof *volume), count = 0;
    float *signals = hot_context_alloc(context, 2 * tissues->voxels, volumes * sizeof *signals);
    float *by_volume = signals + tissues->voxels * volumes;
    hot_status status = b && volume && signals ? HOT_OK : HOT_ERROR_MEMORY;
    for (size_t v = 0; v < volumes && status == HOT_OK; v++) {
        const double shell = dwi->shell_b[dwi->shell_of[v]];
        if (shell > b_max)
            continue;
        tissues->b = shell > 50 ? fmax(tissues->b, shell) : tissues->b;
        memcpy(gradients + 3 * count, dwi->gradients + 3 * v, 3 * sizeof *gradients);
        b[count] = dwi->b[v];
        volume[count++] = v;
    }
    if (status == HOT_OK && tissues->b > 0)
        status = hot_dwi_read_list(context, dwi, tissues->voxel, tissues->voxels, signals);
    for (size_t i = 0; i < count && status == HOT_OK; i++)
        for (size_t n = 0; n < tissues->voxels; n++)
            by_volume[i * tissues->voxels + n] = signals[n * volumes + volume[i]];
    if (status == HOT_OK && tissues->b > 0)
        status = hot_dwi_create(context, &row, count, b, gradients, by_volume, sample);
    HOT_FREE(context, signals, volume, b);
    return status;
}

static hot_status judge(hot_run_state *run, const hot_dwi *sample)
{
    hot_run_tissues *tissues = &run->results.tissues;
    hot_tensor_field *tensors = NULL;
    float *fa = hot_context_alloc(run->context, tissues->voxels, 2 * sizeof *fa), *md = fa + tissues->voxels;
    hot_status status = fa ? hot_diffusion_tensor_fit(run->context, sample, NULL, b_max, &tensors) : HOT_ERROR_MEMORY;
    if (status == HOT_OK)
        status = hot_tensor_field_map(run->context, tensors, "fa", fa);
    if (status == HOT_OK)
        status = hot_tensor_field_map(run->context, tensors, "md", md);
    for (size_t n = 0; n < tissues->voxels && status == HOT_OK; n++)
        tissues->kind[n] = (double)md[n] > csf_md ? HOT_LIKE_CSF
                           : md[n] > 0 && (double)fa[n] < grey_fa ? HOT_LIKE_GREY : HOT_LIKE_OTHER;
    hot_tensor_field_destroy(&tensors);
    hot_context_free(run->context, fa);
    return status;
}

hot_status hot_run_judge_tissues(hot_run_state *run)
{
    hot_run_tissues *tissues = &run->results.tissues;
    hot_dwi *sample = NULL;
    tissues->voxel = hot_context_alloc(run->context, MAX_SAMPLE, sizeof *tissues->voxel);
    tissues->kind = hot_context_calloc(run->context, MAX_SAMPLE, 1);
    if (!tissues->voxel || !tissues->kind)
        return HOT_ERROR_MEMORY;
    tissues->voxels = hot_mask_sample(run->learned.mask, MAX_SAMPLE, tissues->voxel);
    hot_status status = tissues->voxels && run->inputs.dwi->has_b0 ? take_sample(run, &sample) : HOT_OK;
    if (status == HOT_OK && sample)
        status = judge(run, sample);
    if (status != HOT_OK || !sample)
        tissues->b = 0;
    hot_dwi_destroy(&sample);
    /* a run does not fail because its tissues are unknown (too few directions) */
    return status == HOT_ERROR_MEMORY || status == HOT_ERROR_CANCELLED ? status : HOT_OK;
}

void hot_run_count_tissues(const hot_run_state *run, size_t like[3], size_t some[3])
{
    const hot_run_tissues *tissues = &run->results.tissues;
    const uint8_t *found = hot_fiber_field_counts(run->results.fibers);
    memset(like, 0, 3 * sizeof *like);
    memset(some, 0, 3 * sizeof *some);
    for (size_t n = 0; n < tissues->voxels; n++) {
        const int kind = tissues->kind[n];
        like[kind]++;
        some[kind] += found[tissues->voxel[n]] > (kind == HOT_LIKE_GREY);
    }
}

void hot_run_log_tissues(const hot_run_state *run)
{
    size_t like[3], some[3];
    char text[160] = "";
    int odd = 0;
    if (!(run->results.tissues.b > 0))
        return;
    hot_run_count_tissues(run, like, some);
    const struct { int kind; const char *name, *fibers; double max; } kinds[] = {
        {HOT_LIKE_CSF, "CSF", "a fibre", HOT_MAX_IN_CSF}, {HOT_LIKE_GREY, "grey matter", "two", HOT_MAX_TWO_IN_GREY}};
    for (size_t i = 0; i < 2; i++) {
        const size_t all = like[kinds[i].kind];
        const double share = all ? (double)some[kinds[i].kind] / (double)all : 0;
        if (all < HOT_MIN_LIKE)
            continue;
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%.0f %% of %zu voxels like %s have %s",
                 text[0] ? ", " : "", 100 * share, all, kinds[i].name, kinds[i].fibers);
        odd = odd || share > kinds[i].max;
    }
    if (text[0])
        hot_context_log(run->context, odd ? HOT_LOG_WARNING : HOT_LOG_NOTE,
                        "%s: no tracts as a rule; use a mask of white matter for tracts and statistics%s", text,
                        odd ? ". That is more than in good scans: were the data denoised, interpolated or smoothed?"
                            : "");
}

void hot_run_tissues_free(hot_context *context, hot_run_tissues *tissues)
{
    HOT_FREE(context, tissues->voxel, tissues->kind);
    *tissues = (hot_run_tissues){0};
}
