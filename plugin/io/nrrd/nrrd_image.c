#include "nrrd_image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/common/gzip_writer.h"
#include "io/common/output.h"
#include "io/common/paths.h"
#include "io/common/units.h"
#include "nrrd_file.h"

hot_status hot_nrrd_load(hot_context *context, const char *path, Nrrd **nrrd)
{
    return hot_nrrd_load_from(context, path, NULL, nrrd);
}

hot_status hot_nrrd_load_from(hot_context *context, const char *path, FILE *from, Nrrd **nrrd)
{
    hot_nrrd_file file;
    *nrrd = NULL;
    hot_status status = hot_nrrd_open_from(context, path, from, &file);
    if (status == HOT_OK)
        status = hot_nrrd_fits(context, &file);
    if (status != HOT_OK) {
        hot_nrrd_close(context, &file);
        return status;
    }
    void *data = hot_context_alloc(context, file.bytes, 1);
    status = data ? hot_nrrd_read(context, &file, data) : HOT_ERROR_MEMORY;
    if (status == HOT_OK) {
        *nrrd = file.nrrd;
        (*nrrd)->data = data;
        file.nrrd = NULL;
    } else {
        hot_context_free(context, data);
    }
    hot_nrrd_close(context, &file);
    return status;
}

void hot_nrrd_free(hot_context *context, Nrrd *nrrd)
{
    if (!nrrd)
        return;
    hot_context_free(context, nrrd->data);
    nrrdNix(nrrd);
}

/* ---- out ---- */

/* Teem writes the header into the stream. Only memory can fail here; hot_output_finish detects a full disk. */
static hot_status put_header(hot_context *context, const Nrrd *nrrd, const char *path, NrrdIoState *nio, FILE *to)
{
    char *text = NULL, reason[512];
    hot_nrrd_lock();
    int bad = nrrdStringWrite(&text, nrrd, nio) || !text;
    if (bad)
        hot_nrrd_reason(reason, sizeof reason);
    hot_nrrd_unlock();
    if (bad)
        return hot_context_fail(context, HOT_ERROR_FILE, "cannot write '%s': %s", hot_output_name(path), reason);
    /* Teem puts "./" before a data file in the header's folder; some readers only know the plain name. */
    static const char field[] = "\ndata file: ", dot[] = "./";
    char *name = strstr(text, field);
    name = name ? name + strlen(field) : NULL;
    if (name && strncmp(name, dot, strlen(dot)) == 0)
        memmove(name, name + strlen(dot), strlen(name + strlen(dot)) + 1);
    fputs(text, to);
    airFree(text);
    return HOT_OK;
}

/* Writes the samples, plain or compressed. Teem would hold its lock meanwhile, so that two runs could not write at the
 * same time. */
static hot_status put_samples(hot_context *context, const Nrrd *nrrd, const char *path, int compress, FILE *to)
{
    const size_t bytes = nrrdElementNumber(nrrd) * nrrdElementSize(nrrd);
    hot_gzip_writer *zip;
    if (!compress) {
        fwrite(nrrd->data, 1, bytes, to);
        return HOT_OK;
    }
    hot_status status = hot_gzip_begin(context, to, hot_output_name(path), &zip);
    if (status == HOT_OK)
        status = hot_gzip_write(zip, nrrd->data, bytes);
    return hot_gzip_end(&zip, status);
}

/* name.nhdr and its data file name.raw or name.raw.gz; the data appear first. */
static hot_status save_detached(hot_context *context, const Nrrd *nrrd, const char *path, NrrdIoState *nio,
                                int compress)
{
    hot_output header = {0}, data = {0};
    hot_status status = HOT_ERROR_MEMORY;
    char *name = hot_path_beside(context, path, compress ? ".raw.gz" : ".raw");
    if (!name)
        return HOT_ERROR_MEMORY;
    status = hot_output_begin(context, path, &header);
    if (status == HOT_OK)
        status = hot_output_begin(context, name, &data);
    FILE *to = NULL;
    if (status == HOT_OK)
        status = hot_output_file(context, &data, &to);
    if (status == HOT_OK)
        status = put_samples(context, nrrd, name, compress, to);
    if (status == HOT_OK)
        status = hot_output_file(context, &header, &to);
    if (status == HOT_OK) {
        const char *slash = strrchr(name, '/');
        unsigned int at = airArrayLenIncr(nio->dataFNArr, 1);
        nio->dataFN[at] = airStrdup(slash ? slash + 1 : name);
        nio->detachedHeader = 1;
        status = put_header(context, nrrd, path, nio, to);
    }
    status = hot_output_end_all(context, (hot_output *const[]){&data, &header}, 2, status);
    hot_context_free(context, name);
    return status;
}

typedef struct attached {
    const Nrrd *nrrd;
    const char *path;
    NrrdIoState *nio;
    int compress;
} attached;

static hot_status put_attached(hot_context *context, FILE *to, const void *what)
{
    const attached *file = what;
    hot_status status = put_header(context, file->nrrd, file->path, file->nio, to);
    if (status == HOT_OK) {
        fputc('\n', to);
        status = put_samples(context, file->nrrd, file->path, file->compress, to);
    }
    return status;
}

hot_status hot_nrrd_save(hot_context *context, const Nrrd *nrrd, const char *path, int compress)
{
    NrrdIoState *nio = nrrdIoStateNew();
    if (!nio)
        return hot_context_fail(context, HOT_ERROR_MEMORY, "out of memory for writing '%s'", path);
    nio->encoding = compress ? nrrdEncodingGzip : nrrdEncodingRaw;
    nio->format = nrrdFormatNRRD;
    nio->endian = airMyEndian();
    hot_status status;
    if (strcmp(path, "-") == 0 && isatty(STDOUT_FILENO)) {
        status = hot_context_fail(
            context, HOT_ERROR_FILE,
            "an NRRD on the terminal is of use to nobody: name a file, or pipe it into the next program");
    } else if (hot_path_has_suffix(path, ".nhdr")) {
        status = save_detached(context, nrrd, path, nio, compress);
    } else {
        status = hot_output_write(context, path, put_attached, &(attached){nrrd, path, nio, compress});
    }
    nrrdIoStateNix(nio);
    return status;
}

hot_status hot_nrrd_wrap(hot_context *context, const void *data, int type, unsigned int dim, const size_t *sizes,
                         Nrrd **nrrd)
{
    *nrrd = nrrdNew();
    if (!*nrrd)
        return hot_context_fail(context, HOT_ERROR_MEMORY, "out of memory for an NRRD header");
    char reason[512];
    hot_nrrd_lock();
    int bad = nrrdWrap_nva(*nrrd, (void *)(uintptr_t)data, type, dim, sizes);
    if (bad)
        hot_nrrd_reason(reason, sizeof reason);
    hot_nrrd_unlock();
    if (!bad)
        return HOT_OK;
    nrrdNix(*nrrd);
    *nrrd = NULL;
    return hot_context_fail(context, HOT_ERROR_ARGUMENT, "cannot describe the array as NRRD: %s", reason);
}

static const int types[] = {
    [HOT_SAMPLE_I8] = nrrdTypeChar,    [HOT_SAMPLE_U8] = nrrdTypeUChar,   [HOT_SAMPLE_I16] = nrrdTypeShort,
    [HOT_SAMPLE_U16] = nrrdTypeUShort, [HOT_SAMPLE_I32] = nrrdTypeInt,    [HOT_SAMPLE_U32] = nrrdTypeUInt,
    [HOT_SAMPLE_I64] = nrrdTypeLLong,  [HOT_SAMPLE_U64] = nrrdTypeULLong, [HOT_SAMPLE_F32] = nrrdTypeFloat,
    [HOT_SAMPLE_F64] = nrrdTypeDouble,
};

int hot_nrrd_type(hot_sample sample) { return types[sample]; }

int hot_nrrd_to_sample(int type, hot_sample *sample) { return hot_sample_find(types, type, sample); }

const char *hot_nrrd_teem_version(void) { return airTeemVersion; }

/* ---- geometry ---- */

hot_status hot_nrrd_set_grid(hot_context *context, Nrrd *nrrd, unsigned int first_axis, const hot_grid *grid)
{
    static const int spaces[] = {
        [HOT_SPACE_UNKNOWN] = nrrdSpaceUnknown,
        [HOT_SPACE_RAS] = nrrdSpaceRightAnteriorSuperior,
        [HOT_SPACE_LAS] = nrrdSpaceLeftAnteriorSuperior,
        [HOT_SPACE_LPS] = nrrdSpaceLeftPosteriorSuperior,
    };
    char reason[512];
    if (first_axis + 3 > nrrd->dim)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "axes %u to %u of an array with %u axes", first_axis,
                                first_axis + 2, nrrd->dim);
    hot_nrrd_lock();
    int bad = grid->space == HOT_SPACE_UNKNOWN ? nrrdSpaceDimensionSet(nrrd, 3)
                                               : nrrdSpaceSet(nrrd, spaces[grid->space]);
    if (bad)
        hot_nrrd_reason(reason, sizeof reason);
    hot_nrrd_unlock();
    if (bad)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "cannot set the space of an NRRD: %s", reason);
    for (unsigned int axis = 0; axis < nrrd->dim; axis++) {
        int spatial = axis >= first_axis && axis < first_axis + 3;
        for (unsigned int d = 0; d < NRRD_SPACE_DIM_MAX; d++)
            nrrd->axis[axis].spaceDirection[d] =
                spatial && d < 3 ? grid->to_world[d][axis - first_axis] : (double)AIR_NAN;
        if (spatial) {
            nrrd->axis[axis].kind = nrrdKindSpace;
            nrrd->axis[axis].center = nrrdCenterCell;
        }
    }
    for (unsigned int d = 0; d < NRRD_SPACE_DIM_MAX; d++)
        nrrd->spaceOrigin[d] = d < 3 ? grid->to_world[d][3] : (double)AIR_NAN;
    for (unsigned int d = 0; d < 3; d++) {
        airFree(nrrd->spaceUnits[d]);
        nrrd->spaceUnits[d] = airStrdup("mm");
    }
    return HOT_OK;
}

/* Millimetres in a unit; an unknown unit counts as mm, with a warning. */
static double unit_scale(hot_context *context, const char *unit)
{
    if (!unit || !*unit)
        return 1;
    const double mm = hot_unit_in_mm(unit);
    if (mm == 0)
        hot_context_log(context, HOT_LOG_WARNING, "'%.40s' is not a known unit of length: lengths are read as mm",
                        unit);
    return mm > 0 ? mm : 1;
}

hot_status hot_nrrd_get_grid(hot_context *context, const Nrrd *nrrd, const unsigned int axes[3], hot_grid *grid)
{
    memset(grid, 0, sizeof *grid);
    switch (nrrd->space) {
    case nrrdSpaceRightAnteriorSuperior:
    case nrrdSpaceRightAnteriorSuperiorTime: grid->space = HOT_SPACE_RAS; break;
    case nrrdSpaceLeftAnteriorSuperior:
    case nrrdSpaceLeftAnteriorSuperiorTime: grid->space = HOT_SPACE_LAS; break;
    case nrrdSpaceLeftPosteriorSuperior:
    case nrrdSpaceLeftPosteriorSuperiorTime: grid->space = HOT_SPACE_LPS; break;
    default: grid->space = HOT_SPACE_UNKNOWN; break;
    }
    int directed = 0;
    for (int a = 0; a < 3; a++) {
        if (axes[a] >= nrrd->dim)
            return hot_context_fail(context, HOT_ERROR_ARGUMENT, "axis %u of an array with %u axes", axes[a],
                                    nrrd->dim);
        grid->size[a] = nrrd->axis[axes[a]].size;
        directed += nrrd->spaceDim >= 3 && isfinite(nrrd->axis[axes[a]].spaceDirection[0]);
    }
    if (directed == 3) {
        for (int row = 0; row < 3; row++) {
            double scale = unit_scale(context, nrrd->spaceUnits[row]);
            for (int a = 0; a < 3; a++)
                grid->to_world[row][a] = scale * nrrd->axis[axes[a]].spaceDirection[row];
            grid->to_world[row][3] = isfinite(nrrd->spaceOrigin[row]) ? scale * nrrd->spaceOrigin[row] : 0;
        }
    } else if (directed == 0) {
        /* No orientation is known, whatever the `space` field claims. */
        grid->space = HOT_SPACE_UNKNOWN;
        for (int a = 0; a < 3; a++) {
            double spacing = nrrd->axis[axes[a]].spacing, min = nrrd->axis[axes[a]].min;
            const double scale = unit_scale(context, nrrd->axis[axes[a]].units);
            grid->to_world[a][a] = isfinite(spacing) && spacing != 0 ? scale * spacing : 1;
            grid->to_world[a][3] = isfinite(min) ? scale * min : 0;
        }
    } else {
        return hot_context_fail(context, HOT_ERROR_FORMAT,
                                "only %d of the 3 spatial axes have a space direction; all or none must have one",
                                directed);
    }
    const double (*m)[4] = (const double (*)[4])grid->to_world;
    double determinant = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
                         m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
                         m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
    double lengths = 1;
    for (int a = 0; a < 3; a++)
        lengths *= sqrt(m[0][a] * m[0][a] + m[1][a] * m[1][a] + m[2][a] * m[2][a]);
    if (!(fabs(determinant) > 1e-6 * lengths))
        return hot_context_fail(context, HOT_ERROR_FORMAT,
                                "the three space directions do not span space (determinant %g)", determinant);
    return HOT_OK;
}

/* ---- key/values ---- */

hot_status hot_nrrd_set_key(hot_context *context, Nrrd *nrrd, const char *key, const char *value)
{
    char reason[512];
    hot_nrrd_lock();
    int bad = nrrdKeyValueAdd(nrrd, key, value);
    if (bad)
        hot_nrrd_reason(reason, sizeof reason);
    hot_nrrd_unlock();
    return bad ? hot_context_fail(context, HOT_ERROR_MEMORY, "cannot add the key '%s' to an NRRD: %s", key, reason)
               : HOT_OK;
}

char *hot_nrrd_get_key(hot_context *context, const Nrrd *nrrd, const char *key)
{
    char *value = nrrdKeyValueGet(nrrd, key);
    if (!value)
        return NULL;
    char *copy = hot_string_copy(context, value);
    airFree(value);
    return copy;
}
