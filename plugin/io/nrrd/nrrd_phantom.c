/* A phantom's data and truth as files, with how it was made in the keys. */
#include <math.h>
#include <stdio.h>

#include "common/arguments.h"
#include "common/options.h"
#include "common/entry.h"
#include "dwi/gather.h"
#include "dwi/phantom.h"
#include "io/common/paths.h"
#include "nrrd_wrap_dwi.h"
#include "nrrd_image.h"

enum { TEXT = 512 };

/* "30" or "0-15". */
static int range_text(char *text, size_t capacity, const double range[2])
{
    return range[0] == range[1] ? snprintf(text, capacity, "%g", range[0])
                                : snprintf(text, capacity, "%g-%g", range[0], range[1]);
}

static void list_text(char *text, size_t capacity, const double *values, size_t count)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < count && used < capacity; i++)
        used += (size_t)snprintf(text + used, capacity - used, i ? ",%g" : "%g", values[i]);
}

static void conditions_text(char *text, size_t capacity, const hot_phantom_options *o)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < o->condition_count && used < capacity - 1; i++) {
        const hot_phantom_condition *c = &o->conditions[i];
        char angle[48] = "", fraction[48] = "";
        range_text(angle, sizeof angle, c->angle);
        range_text(fraction, sizeof fraction, c->fraction);
        const char *comma = i ? ", " : "";
        if (c->fibers == 0)
            used += (size_t)snprintf(text + used, capacity - used, "%sisotropic %g %g", comma, c->isotropic[0],
                                     c->isotropic[1]);
        else if (c->fibers == 1)
            used += (size_t)snprintf(text + used, capacity - used, "%ssingle", comma);
        else
            used += (size_t)snprintf(text + used, capacity - used, "%s%d fibres %s degrees first fraction %s", comma,
                                     c->fibers, angle, fraction);
    }
}

/* How it was made, so that a file found years later can be made again. */
static hot_status set_keys(hot_context *context, Nrrd *nrrd, const hot_phantom *phantom)
{
    const hot_phantom_options *o = &phantom->options;
    char text[TEXT];
    hot_status status = hot_nrrd_set_key(context, nrrd, "hotfiber_version", hot_version());
#define KEY(name, ...)                                                                    \
    do {                                                                                  \
        if (status == HOT_OK) {                                                           \
            __VA_ARGS__;                                                                  \
            status = hot_nrrd_set_key(context, nrrd, "hotfiber_phantom_" name, text);     \
        }                                                                                 \
    } while (0)
    static const char *const layouts[] = {"conditions", "bundles", "mixture"};
    static const char *const tissues[] = {"zeppelin", "ball-stick", "stick-zeppelin", "noddi"};
    KEY("layout", snprintf(text, TEXT, "%s", layouts[o->layout]));
    KEY("seed", snprintf(text, TEXT, "%llu", (unsigned long long)phantom->seed));
    KEY("snr", list_text(text, TEXT, o->snr, o->snr_count));
    if (o->gaussian)
        KEY("noise", snprintf(text, TEXT, "gaussian"));
    if (o->layout != HOT_PHANTOM_BUNDLES)
        KEY("rows", conditions_text(text, TEXT, o));
    if (o->scheme_volumes)
        KEY("scheme", snprintf(text, TEXT, "given, %zu volumes", o->scheme_volumes));
    else {
        KEY("shells", list_text(text, TEXT, o->shell_b, o->shells));
        KEY("directions", snprintf(text, TEXT, "%zu", o->directions));
        KEY("b0", snprintf(text, TEXT, "%zu", o->b0));
    }
    KEY("s0", snprintf(text, TEXT, "%g", o->s0));
    KEY("diffusivities",
        snprintf(text, TEXT, "along %g across %g, relative deviation %g", o->axial, o->radial, o->vary));
    KEY("csf", range_text(text, TEXT, o->csf));
    KEY("dispersion", range_text(text, TEXT, o->dispersion));
    if (o->share)
        KEY("shares", list_text(text, TEXT, o->share, o->condition_count));
    if (o->tissue != HOT_TISSUE_ZEPPELIN) {
        KEY("tissue", snprintf(text, TEXT, "%s", tissues[o->tissue]));
        KEY("intra", range_text(text, TEXT, o->intra));
    }
    if (o->grey[1] > 0)
        KEY("grey", range_text(text, TEXT, o->grey));
    if (o->weight[1] > 0)
        KEY("weights", range_text(text, TEXT, o->weight));
    if (o->noise_slope > 0)
        KEY("noise_slope", snprintf(text, TEXT, "%g", o->noise_slope));
#undef KEY
    return status;
}

/* A rotation far from the identity and from every axis: about (2, -1, 3) by 50 degrees. Its columns are the frame's
 * vectors. */
static void turned_frame(double frame[3][3])
{
    double axis[3] = {2, -1, 3}, angle = 50 * 0.017453292519943295, norm = sqrt(14);
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 3; column++) {
            double a = axis[row] / norm, b = axis[column] / norm;
            double cross = row == column ? 0 : ((column - row + 3) % 3 == 1 ? -1 : 1) * axis[3 - row - column] / norm;
            frame[row][column] = (1 - cos(angle)) * a * b + (row == column) * cos(angle) + sin(angle) * cross;
        }
}

hot_status hot_phantom_save(hot_context *context, const hot_phantom *phantom, const hot_phantom_save_options *options,
                            const char *path)
{
    HOT_ENTRY(context);
    HOT_NEED(context, phantom, path);
    hot_phantom_save_options o = {.size = sizeof o};
    HOT_TRY(hot_options_read(context, "hot_phantom_save_options", options, &o));
    HOT_TRY(hot_path_check_image(context, path));
    const hot_dwi *dwi = phantom->dwi;
    if (hot_path_has_volumes(path))
        return hot_dwi_save(context, dwi, path);
    const size_t count = hot_dwi_volumes(dwi) * hot_grid_voxels(hot_dwi_grid(dwi));
    double frame[3][3];
    Nrrd *nrrd = NULL;
    uint16_t *whole = NULL;
    hot_status status = HOT_ERROR_MEMORY;
    float *samples = hot_context_alloc(context, count, sizeof *samples);
    if (!samples)
        goto cleanup;
    turned_frame(frame);
    if ((status = hot_dwi_read_volumes(context, dwi, samples)) != HOT_OK)
        goto cleanup;
    if (o.integers) {
        whole = hot_context_alloc(context, count, sizeof *whole);
        status = whole ? HOT_OK : HOT_ERROR_MEMORY;
        for (size_t i = 0; i < count && whole; i++)
            whole[i] = (uint16_t)fminf(fmaxf(rintf(samples[i]), 0), 65535);
    }
    if (status == HOT_OK)
        status = hot_dwi_wrap_nrrd(context, dwi, o.integers ? nrrdTypeUShort : nrrdTypeFloat,
                                   o.integers ? (const void *)whole : samples,
                                   o.turned_frame ? (const double(*)[3])frame : NULL, &nrrd);
    if (status == HOT_OK)
        status = set_keys(context, nrrd, phantom);
    if (status == HOT_OK)
        status = hot_nrrd_save(context, nrrd, path, o.compress);
cleanup:
    nrrdNix(nrrd);
    HOT_FREE(context, whole, samples);
    return status;
}

hot_status hot_phantom_save_truth(hot_context *context, const hot_phantom *phantom, const char *path)
{
    HOT_ENTRY(context);
    HOT_NEED(context, phantom, path);
    HOT_TRY(hot_path_check_image(context, path));
    if (hot_path_has_volumes(path))
        return hot_fiber_field_save(context, phantom->truth, path);
    const hot_nrrd_values values = {.grid = hot_fiber_field_grid(phantom->truth),
                                    .data = hot_fiber_field_peaks(phantom->truth), .per = {3 * HOT_PHANTOM_FIBERS},
                                    .in_world = 1, .content = HOT_CONTENT_PEAKS};
    Nrrd *nrrd = NULL;
    hot_status status = hot_nrrd_wrap_values(context, &values, &nrrd);
    if (status == HOT_OK)
        status = set_keys(context, nrrd, phantom);
    if (status == HOT_OK)
        status = hot_nrrd_save(context, nrrd, path, 1);
    nrrdNix(nrrd);
    return status;
}
