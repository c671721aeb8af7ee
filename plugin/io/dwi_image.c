/* DWI data from an image and a gradient table: NIfTI with FSL's bval and bvec, MIF with its dw_scheme. */
#include "dwi_image.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "core/image.h"
#include "dwi/dwi_private.h"
#include "dwi/frames.h"
#include "io/common/gradient_files.h"
#include "io/common/paths.h"

/* The text of a gradient file: of the one named, or of the one beside the image. *name is what was read, for messages;
 * free it. */
static hot_status table_text(hot_context *context, const char *path, const char *given, const char *suffix, char **name,
                             char **text)
{
    *name = given ? hot_string_copy(context, given) : hot_path_beside(context, path, suffix);
    if (!*name)
        return HOT_ERROR_MEMORY;
    hot_status status = hot_text_load(context, *name, text);
    if (status == HOT_ERROR_FILE && !given)
        status = hot_context_add(context, status, "the %s file of '%s' must lie beside it, or be given with --%s",
                                 suffix + 1, path, suffix + 1);
    return status;
}

/* b-values go with the square of the vector's length when the vectors are clearly not unit: this is how scanners code
 * several shells under one nominal b, and what MRtrix does (its limit too: one percent in the squared length). */
static void scale_by_length(hot_context *context, hot_dwi *dwi, const char *name)
{
    int scaled = 0;
    for (size_t v = 0; v < dwi->volumes; v++) {
        const double *g = dwi->gradients + 3 * v;
        double squared = g[0] * g[0] + g[1] * g[1] + g[2] * g[2];
        scaled |= dwi->b[v] > 0 && squared > 0 && isfinite(squared) && fabs(log(squared)) > 0.01;
    }
    if (!scaled)
        return;
    for (size_t v = 0; v < dwi->volumes; v++) {
        const double *g = dwi->gradients + 3 * v;
        double squared = g[0] * g[0] + g[1] * g[1] + g[2] * g[2];
        if (squared > 0)
            dwi->b[v] *= squared;
    }
    hot_context_log(context, HOT_LOG_NOTE,
                    "'%s': vectors are not of length 1, b-values are multiplied by their squared length", name);
}

static hot_status read_tables(hot_context *context, const char *path, const char *bval, const char *bvec, hot_dwi *dwi)
{
    char *b_name = NULL, *g_name = NULL, *b_text = NULL, *g_text = NULL;
    double *b = NULL, *g = NULL;
    size_t b_count = 0, g_count = 0;
    hot_status status = table_text(context, path, bval, ".bval", &b_name, &b_text);
    if (status == HOT_OK)
        status = hot_bval_parse(context, b_name, b_text, &b, &b_count);
    if (status != HOT_OK && bval) /* a table that was named is at fault */
        hot_context_blame(context, status, "bval");
    if (status == HOT_OK) {
        status = table_text(context, path, bvec, ".bvec", &g_name, &g_text);
        if (status == HOT_OK)
            status = hot_bvec_parse(context, g_name, g_text, &g, &g_count);
        if (status != HOT_OK && bvec)
            hot_context_blame(context, status, "bvec");
    }
    if (status == HOT_OK)
        status = hot_dwi_add_input(context, dwi, b_name);
    if (status == HOT_OK)
        status = hot_dwi_add_input(context, dwi, g_name);
    if (status == HOT_OK && (b_count != dwi->volumes || g_count != dwi->volumes))
        status = hot_context_fail(context, HOT_ERROR_FORMAT,
                                  "'%s' has %zu volumes, but '%s' has %zu b-values and '%s' %zu vectors", path,
                                  dwi->volumes, b_name, b_count, g_name, g_count);
    if (status == HOT_ERROR_FORMAT && (b_count == dwi->volumes ? bvec : bval))
        hot_context_blame(context, status, b_count == dwi->volumes ? "bvec" : "bval");
    if (status == HOT_OK) {
        double frame[3][3];
        hot_grid_bvec_frame(&dwi->grid, frame);
        for (size_t v = 0; v < dwi->volumes; v++) {
            dwi->b[v] = b[v];
            for (int r = 0; r < 3; r++)
                dwi->gradients[3 * v + r] = frame[r][0] * g[3 * v] + frame[r][1] * g[3 * v + 1] +
                    frame[r][2] * g[3 * v + 2];
        }
        scale_by_length(context, dwi, g_name);
        status = hot_dwi_complete(context, dwi);
        if (status != HOT_OK)
            status = hot_context_add(context, status, "in '%s' and '%s'", b_name, g_name);
    }
    hot_context_free(context, b_name);
    hot_context_free(context, g_name);
    hot_context_free(context, b_text);
    hot_context_free(context, g_text);
    hot_context_free(context, b);
    hot_context_free(context, g);
    return status;
}

/* MRtrix's table: lines of x y z b, directions in scanner axes. */
static hot_status read_scheme(hot_context *context, const char *name, const char *text, hot_dwi *dwi)
{
    double *table = NULL, sign[3];
    size_t rows, columns;
    hot_status status = hot_table_parse(context, name, text, &table, &rows, &columns);
    if (status == HOT_OK && columns < 4)
        status = hot_context_fail(context, HOT_ERROR_FORMAT,
                                  "'%s' has lines of %zu numbers; a gradient table has x y z b on each", name, columns);
    if (status == HOT_OK && rows != dwi->volumes)
        status = hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' has %zu volumes, but its gradient table %zu lines",
                                  dwi->source, dwi->volumes, rows);
    hot_space_ras_sign(dwi->grid.space, sign);
    for (size_t v = 0; v < dwi->volumes && status == HOT_OK; v++) {
        dwi->b[v] = table[v * columns + 3];
        for (int d = 0; d < 3; d++)
            dwi->gradients[3 * v + d] = sign[d] * table[v * columns + d];
    }
    if (status == HOT_OK) {
        scale_by_length(context, dwi, name);
        status = hot_dwi_complete(context, dwi);
        if (status != HOT_OK)
            status = hot_context_add(context, status, "in '%s'", name);
    }
    hot_context_free(context, table);
    return status;
}

hot_status hot_dwi_load_image(hot_context *context, hot_input *input, const char *bval, const char *bvec,
                              hot_dwi **dwi)
{
    hot_image image;
    hot_dwi *made = NULL;
    const char *path = input->path;
    *dwi = NULL;
    hot_status status = hot_image_open_input(context, input, &image);
    if (status == HOT_OK && image.values < 2)
        status = hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' is one volume; diffusion-weighted data are several",
                                  image.name);
    if (status == HOT_OK)
        status = hot_dwi_begin(context, &image.grid, image.values, 1, path, &made);
    if (status != HOT_OK)
        goto cleanup;
    made->sample = image.sample;
    made->slope = image.slope;
    made->intercept = image.intercept;
    memcpy(made->stride, image.stride, sizeof made->stride);
    memcpy(made->position, image.position, image.values * sizeof *made->position);
    for (size_t i = 0; i < image.file_count && status == HOT_OK; i++)
        status = hot_dwi_add_input(context, made, image.files[i]);
    if (status == HOT_OK)
        status = image.scheme && !bval && !bvec ? read_scheme(context, image.name, image.scheme, made)
                                                : read_tables(context, path, bval, bvec, made);
    if (status == HOT_OK)
        status = hot_image_read(&image);
    made->data = image.data;
    made->release_data = hot_dwi_free_data;
    image.data = NULL;
cleanup:
    hot_image_close(&image);
    if (status == HOT_OK)
        *dwi = made;
    else
        hot_dwi_destroy(&made);
    return status;
}
