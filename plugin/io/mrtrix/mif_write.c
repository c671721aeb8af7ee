#include "mif_write.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "io/common/paths.h"

static const char *const types[] = {
    [HOT_SAMPLE_I8] = "Int8",    [HOT_SAMPLE_U8] = "UInt8",   [HOT_SAMPLE_I16] = "Int16", [HOT_SAMPLE_U16] = "UInt16",
    [HOT_SAMPLE_I32] = "Int32",  [HOT_SAMPLE_U32] = "UInt32", [HOT_SAMPLE_I64] = "Int64", [HOT_SAMPLE_U64] = "UInt64",
    [HOT_SAMPLE_F32] = "Float32", [HOT_SAMPLE_F64] = "Float64",
};

typedef struct text {
    char *at;
    size_t left;
} text;

static void put(text *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(to->at, to->left, format, arguments);
    va_end(arguments);
    const size_t used = length < 0 ? 0 : (size_t)length < to->left ? (size_t)length : to->left;
    to->at += used;
    to->left -= used;
}

/* The header without its last lines. Axes are written in their own order. */
static void put_header(text *to, const hot_grid *grid, size_t volumes, hot_sample sample, const char *lines)
{
    const uint16_t one = 1;
    const char *order = hot_sample_bytes(sample) == 1 ? "" : *(const uint8_t *)&one ? "LE" : "BE";
    double ras[3][4], spacing[3];
    hot_grid_to_ras(grid, ras);
    for (int c = 0; c < 3; c++)
        spacing[c] = sqrt(ras[0][c] * ras[0][c] + ras[1][c] * ras[1][c] + ras[2][c] * ras[2][c]);
    put(to, "mrtrix image\ndim: %zu,%zu,%zu", grid->size[0], grid->size[1], grid->size[2]);
    put(to, volumes > 1 ? ",%zu\n" : "\n", volumes);
    put(to, "vox: %.15g,%.15g,%.15g%s\n", spacing[0], spacing[1], spacing[2], volumes > 1 ? ",1" : "");
    put(to, "layout: +0,+1,+2%s\ndatatype: %s%s\n", volumes > 1 ? ",+3" : "", types[sample], order);
    for (int r = 0; r < 3; r++)
        put(to, "transform: %.15g,%.15g,%.15g,%.15g\n", ras[r][0] / spacing[0], ras[r][1] / spacing[1],
            ras[r][2] / spacing[2], ras[r][3]);
    put(to, "comments: written by hotfiber %s\n%s", hot_version(), lines ? lines : "");
}

/* "file: . N" with N behind it, at a multiple of 16. */
static size_t put_own_file(text *to, char *start)
{
    enum { LONGEST = 40 };
    const size_t before = (size_t)(to->at - start), offset = (before + LONGEST + 15) / 16 * 16;
    put(to, "file: . %zu\nEND\n", offset);
    memset(to->at, 0, offset - (size_t)(to->at - start));
    return offset;
}

hot_status hot_mif_begin(hot_context *context, const char *path, const hot_grid *grid, size_t volumes,
                         hot_sample sample, const char *lines, hot_volume_writer *writer)
{
    const size_t capacity = 2048 + (lines ? strlen(lines) : 0);
    const size_t bytes = hot_grid_voxels(grid) * volumes * hot_sample_bytes(sample);
    char *head = hot_context_alloc(context, capacity, 1), *data = NULL;
    hot_output header = {0};
    FILE *file;
    memset(writer, 0, sizeof *writer);
    if (!head)
        return HOT_ERROR_MEMORY;
    text to = {head, capacity};
    hot_status status = HOT_OK;
    put_header(&to, grid, volumes, sample, lines);
    if (!hot_path_has_suffix(path, ".mih")) {
        const size_t head_bytes = put_own_file(&to, head);
        status = hot_volume_begin(context, path, head, head_bytes, bytes, writer);
        goto cleanup;
    }
    data = hot_path_beside(context, path, ".dat");
    status = data ? hot_output_begin(context, path, &header) : HOT_ERROR_MEMORY;
    if (status == HOT_OK)
        status = hot_output_file(context, &header, &file);
    if (status == HOT_OK) {
        const char *slash = strrchr(data, '/');
        fprintf(file, "%sfile: %s 0\n", head, slash ? slash + 1 : data);
        status = hot_volume_begin(context, data, NULL, 0, bytes, writer);
    }
    if (status == HOT_OK)
        writer->header = header;
    else
        hot_output_discard(context, &header);
cleanup:
    HOT_FREE(context, data, head);
    return status;
}

hot_status hot_dwi_save_mif(hot_context *context, const hot_dwi *dwi, const char *path, hot_sample sample,
                            const void *samples)
{
    enum { LINE = 120 };
    hot_volume_writer writer;
    double sign[3];
    const size_t volume_bytes = hot_grid_voxels(&dwi->grid) * hot_sample_bytes(sample);
    char *lines = hot_context_alloc(context, dwi->volumes + 1, LINE);
    if (!lines)
        return HOT_ERROR_MEMORY;
    text to = {lines, (dwi->volumes + 1) * LINE};
    hot_space_ras_sign(dwi->grid.space, sign);
    for (size_t v = 0; v < dwi->volumes; v++) {
        const double *g = dwi->gradients + 3 * v;
        put(&to, "dw_scheme: %.15g,%.15g,%.15g,%.15g\n", sign[0] * g[0] + 0.0, sign[1] * g[1] + 0.0, g[2] + 0.0,
            dwi->b[v]); /* + 0: no "-0" */
    }
    hot_status status = hot_mif_begin(context, path, &dwi->grid, dwi->volumes, sample, lines, &writer);
    hot_context_free(context, lines);
    if (status != HOT_OK)
        return status;
    for (size_t v = 0; v < dwi->volumes && status == HOT_OK; v++) {
        status = hot_volume_write(context, &writer, (const char *)samples + v * volume_bytes, volume_bytes);
        if (status == HOT_OK)
            status = hot_context_progress(context, "writing", (double)(v + 1) / (double)dwi->volumes);
    }
    return hot_volume_end(context, &writer, status);
}
