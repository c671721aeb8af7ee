#define _GNU_SOURCE /* fopencookie */
#include "field_stream.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "field_file.h"
#include "io/common/file_open.h"
#include "io/common/input.h"
#include "io/nrrd/nrrd_values.h"

struct hot_field_stream {
    hot_context *context;
    const char *name;
    char *path;
    FILE *file;
    size_t fields; /* read so far */
};

hot_status hot_field_stream_open(hot_context *context, const char *path, hot_field_stream **stream)
{
    hot_field_stream *made = hot_context_calloc(context, 1, sizeof *made);
    *stream = made;
    if (!made)
        return HOT_ERROR_MEMORY;
    made->context = context;
    made->path = hot_string_copy(context, path);
    hot_status status = made->path ? hot_file_open(context, path, HOT_FILE_GIVEN, &made->file) : HOT_ERROR_MEMORY;
    if (status == HOT_OK)
        made->name = hot_input_name(made->path);
    else
        hot_field_stream_close(stream);
    return status;
}

void hot_field_stream_close(hot_field_stream **stream)
{
    HOT_DESTROY_BEGIN(hot_field_stream, stream);
    if (gone->file)
        fclose(gone->file);
    HOT_FREE(gone->context, gone->path, gone);
}

void hot_stream_field_free(hot_context *context, hot_stream_field *field)
{
    hot_fiber_field_destroy(&field->fibers);
    hot_tensor_field_destroy(&field->tensors);
    hot_context_free(context, field->image);
    memset(field, 0, sizeof *field);
}

/* A reader of one field closes its file; the stream stays open. Unbuffered, so that no byte of the next field is
 * taken. */
static ssize_t read_on(void *cookie, char *to, size_t bytes)
{
    FILE *from = cookie;
    const size_t got = fread(to, 1, bytes, from);
    return got == 0 && ferror(from) ? -1 : (ssize_t)got;
}

hot_status hot_field_stream_next(hot_field_stream *stream, const char *as, hot_stream_field *field, int *ended)
{
    hot_context *context = stream->context;
    memset(field, 0, sizeof *field);
    const int byte = getc(stream->file);
    *ended = byte == EOF;
    if (byte == EOF)
        return hot_context_check(context, "reading");
    ungetc(byte, stream->file);
    if (byte != 'N')
        return hot_context_fail(context, HOT_ERROR_FORMAT, stream->fields
                                    ? "'%s': what follows NRRD %zu is not an NRRD; another can follow only one with "
                                      "`encoding: raw`"
                                    : "'%s' is not a stream of NRRDs (%zu were read)", stream->name, stream->fields);
    hot_input input = {.kind = HOT_FILE_NRRD, .path = stream->path};
    input.file = fopencookie(stream->file, "rb", (cookie_io_functions_t){.read = read_on});
    if (!input.file)
        return hot_context_fail(context, HOT_ERROR_MEMORY, "out of memory for '%s'", stream->name);
    setvbuf(input.file, NULL, _IONBF, 0);
    hot_status status = hot_field_read_nrrd(context, &input, as, field);
    if (input.file)
        fclose(input.file);
    if (status == HOT_OK)
        stream->fields++;
    else
        hot_stream_field_free(context, field);
    return status;
}

/* ---- Slices of a grid -------------------------------------------------------------------------------------- */

hot_status hot_field_stream_place(hot_context *context, const hot_grid *whole, const hot_grid *slab, size_t *first)
{
    static const double tolerance = 0.01; /* of a voxel; float headers lose less */
    double along = 0, length = 0, apart = 0;
    *first = 0;
    for (int d = 0; d < 3; d++) {
        const double step = whole->to_world[d][2];
        along += step * (slab->to_world[d][3] - whole->to_world[d][3]);
        length += step * step;
    }
    const double place = length > 0 ? floor(along / length + 0.5) : 0;
    for (int d = 0; d < 3; d++) {
        double off = slab->to_world[d][3] - whole->to_world[d][3] - place * whole->to_world[d][2];
        apart = fmax(apart, fabs(off));
        for (int c = 0; c < 3; c++) {
            off = (slab->to_world[d][c] - whole->to_world[d][c]) * (double)whole->size[c];
            apart = fmax(apart, fabs(off));
        }
    }
    if (slab->size[0] != whole->size[0] || slab->size[1] != whole->size[1] || slab->space != whole->space ||
        !(apart <= tolerance * sqrt(length)) || !(place >= 0) || place + (double)slab->size[2] > (double)whole->size[2])
        return hot_context_fail(context, HOT_ERROR_DATA,
                                "a field of %zu x %zu x %zu voxels with its origin at %.6g %.6g %.6g is not slices of "
                                "the first one's grid, %zu x %zu x %zu at %.6g %.6g %.6g",
                                slab->size[0], slab->size[1], slab->size[2], slab->to_world[0][3],
                                slab->to_world[1][3], slab->to_world[2][3], whole->size[0], whole->size[1],
                                whole->size[2], whole->to_world[0][3], whole->to_world[1][3], whole->to_world[2][3]);
    *first = (size_t)place;
    return HOT_OK;
}

int hot_field_stream_header(const hot_grid *grid, size_t first, size_t count, size_t values, int is_peaks,
                            char text[HOT_FIELD_HEADER])
{
    static const char *const spaces[] = {"space dimension: 3", "space: right-anterior-superior",
                                         "space: left-anterior-superior", "space: left-posterior-superior"};
    const double (*m)[4] = grid->to_world;
    double origin[3];
    const union { uint16_t number; uint8_t bytes[2]; } order = {1};
    for (int d = 0; d < 3; d++)
        origin[d] = m[d][3] + (double)first * m[d][2];
    return snprintf(text, HOT_FIELD_HEADER,
                    "NRRD0005\ntype: float\ndimension: 4\n%s\nsizes: %zu %zu %zu %zu\nspace directions: none "
                    "(%.17g,%.17g,%.17g) (%.17g,%.17g,%.17g) (%.17g,%.17g,%.17g)\nkinds: list space space space\n"
                    "endian: %s\nencoding: raw\nspace units: \"mm\" \"mm\" \"mm\"\n"
                    "space origin: (%.17g,%.17g,%.17g)\n" HOT_NRRD_CONTENT_KEY ":=%s\n\n",
                    spaces[grid->space], values, grid->size[0], grid->size[1], count, m[0][0], m[1][0], m[2][0],
                    m[0][1], m[1][1], m[2][1], m[0][2], m[1][2], m[2][2], order.bytes[0] ? "little" : "big", origin[0],
                    origin[1], origin[2], is_peaks ? "peaks" : "map");
}
