#include "nifti_volume.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/fields.h"
#include "io/common/stream.h"

enum { NIFTI1_LARGEST = 32767, HEADER_BYTES = 352 /* 348 and four zeros: no extensions */ };

/* The qform: quaternion, offset and handedness. Returns 0 when axes are not at right angles: then it would lie. */
static int set_qform(nifti_1_header *header, const double ras[3][4])
{
    nifti_dmat44 matrix = {{{0}}};
    double b, c, d, x, y, z, dx, dy, dz, handed;
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 4; column++)
            matrix.m[row][column] = ras[row][column];
    matrix.m[3][3] = 1;
    nifti_dmat44_to_quatern(matrix, &b, &c, &d, &x, &y, &z, &dx, &dy, &dz, &handed);
    header->pixdim[0] = (float)handed;
    header->pixdim[1] = (float)dx, header->pixdim[2] = (float)dy, header->pixdim[3] = (float)dz;
    header->quatern_b = (float)b, header->quatern_c = (float)c, header->quatern_d = (float)d;
    header->qoffset_x = (float)x, header->qoffset_y = (float)y, header->qoffset_z = (float)z;
    nifti_dmat44 back = nifti_quatern_to_dmat44(b, c, d, x, y, z, dx, dy, dz, handed);
    double size = dx + dy + dz;
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 3; column++)
            if (!(fabs(back.m[row][column] - ras[row][column]) <= 1e-4 * size))
                return 0;
    return 1;
}

static hot_status make_header(hot_context *context, const char *path, const hot_grid *grid, size_t volumes,
                              int datatype, double slope, double intercept, nifti_1_header *header, size_t *bytes)
{
    int sample_bytes, swap_bytes;
    nifti_datatype_sizes(datatype, &sample_bytes, &swap_bytes);
    for (int axis = 0; axis < 4; axis++) {
        size_t size = axis < 3 ? grid->size[axis] : volumes;
        if (size < 1 || size > NIFTI1_LARGEST)
            return hot_context_fail(context, HOT_ERROR_DATA,
                                    "cannot write '%s': axis %d has %zu samples and NIfTI-1 takes 1 to %d; write NRRD",
                                    path, axis, size, NIFTI1_LARGEST);
    }
    *bytes = hot_grid_voxels(grid) * volumes * (size_t)sample_bytes; /* < 2^63: four sizes of 15 bits and 16 bytes */

    memset(header, 0, sizeof *header);
    header->sizeof_hdr = sizeof *header;
    header->regular = 'r';
    header->dim[0] = volumes > 1 ? 4 : 3;
    for (int axis = 0; axis < 7; axis++)
        header->dim[axis + 1] = (short)(axis < 3 ? grid->size[axis] : axis == 3 ? volumes : 1);
    header->datatype = (short)datatype;
    header->bitpix = (short)(8 * sample_bytes);
    header->vox_offset = HEADER_BYTES;
    header->scl_slope = (float)slope;
    header->scl_inter = (float)intercept;
    header->xyzt_units = NIFTI_UNITS_MM | NIFTI_UNITS_SEC;
    snprintf(header->descrip, sizeof header->descrip, "hotfiber %s", hot_version());
    memcpy(header->magic, "n+1", 4);
    for (int axis = 3; axis < 7; axis++)
        header->pixdim[axis + 1] = 1;

    double ras[3][4];
    hot_grid_to_ras(grid, ras);
    header->qform_code = set_qform(header, ras) ? NIFTI_XFORM_SCANNER_ANAT : NIFTI_XFORM_UNKNOWN;
    header->sform_code = NIFTI_XFORM_SCANNER_ANAT;
    for (int column = 0; column < 4; column++) {
        header->srow_x[column] = (float)ras[0][column];
        header->srow_y[column] = (float)ras[1][column];
        header->srow_z[column] = (float)ras[2][column];
    }
    return HOT_OK;
}

static hot_status write_bytes(hot_context *context, hot_nifti_writer *writer, const void *data, size_t bytes)
{
    const char *at = data;
    if (!writer->zip) {
        FILE *file;
        hot_status status = hot_output_file(context, &writer->output, &file);
        if (status == HOT_OK && fwrite(at, 1, bytes, file) != bytes)
            status = hot_context_fail(context, HOT_ERROR_FILE, "cannot write '%s': %s", writer->output.path,
                                      strerror(errno));
        return status;
    }
    while (bytes > 0) {
        unsigned int part = bytes < (1u << 18) ? (unsigned int)bytes : 1u << 18; /* some ms of compressing */
        hot_status status = hot_context_check(context, "writing");
        if (status != HOT_OK)
            return status;
        errno = 0;
        if (gzwrite(writer->zip, at, part) != (int)part)
            return hot_context_fail(context, HOT_ERROR_FILE, "cannot write '%s': %s", writer->output.path,
                                    errno ? strerror(errno) : "compression failed");
        at += part;
        bytes -= part;
    }
    return HOT_OK;
}

hot_status hot_nifti_begin(hot_context *context, const char *path, const hot_grid *grid, size_t volumes, int datatype,
                           double slope, double intercept, hot_nifti_writer *writer)
{
    nifti_1_header header;
    char head[HEADER_BYTES] = {0};
    memset(writer, 0, sizeof *writer);
    hot_status status = make_header(context, path, grid, volumes, datatype, slope, intercept, &header,
                                    &writer->expected);
    if (status == HOT_OK)
        status = hot_output_begin(context, path, &writer->output);
    if (status != HOT_OK)
        return status;
    size_t length = strlen(path);
    if (length > 3 && strcmp(path + length - 3, ".gz") == 0) {
        errno = 0;
        /* Fast compression: on float data the slow levels take five times as long to save a few percent. */
        writer->zip = gzopen(writer->output.temporary ? writer->output.temporary : path, "wb1");
        if (!writer->zip)
            status = hot_context_fail(context, HOT_ERROR_FILE, "cannot write '%s': %s", path,
                                      errno ? strerror(errno) : "no memory to compress");
        else
            gzbuffer(writer->zip, 1 << 18);
    }
    memcpy(head, &header, sizeof header);
    if (status == HOT_OK)
        status = write_bytes(context, writer, head, sizeof head);
    if (status != HOT_OK)
        return hot_nifti_end(context, writer, status);
    return HOT_OK;
}

hot_status hot_nifti_write(hot_context *context, hot_nifti_writer *writer, const void *samples, size_t bytes)
{
    if (bytes > writer->expected - writer->written)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "more samples for '%s' than its header says",
                                writer->output.path);
    writer->written += bytes;
    return write_bytes(context, writer, samples, bytes);
}

hot_status hot_nifti_finish(hot_context *context, hot_nifti_writer *writer, hot_status status)
{
    if (status == HOT_OK && writer->written != writer->expected)
        status = hot_context_fail(context, HOT_ERROR_ARGUMENT, "%zu of %zu bytes of samples given for '%s'",
                                  writer->written, writer->expected, writer->output.path);
    if (writer->zip) {
        errno = 0;
        int closed = gzclose(writer->zip);
        writer->zip = NULL;
        if (status == HOT_OK && closed != Z_OK)
            status = hot_context_fail(context, HOT_ERROR_FILE, "cannot write '%s': %s", writer->output.path,
                                      closed == Z_ERRNO && errno ? strerror(errno) : "compression failed");
    }
    return status == HOT_OK ? hot_output_finish(context, &writer->output) : status;
}

hot_status hot_nifti_end(hot_context *context, hot_nifti_writer *writer, hot_status status)
{
    status = hot_nifti_finish(context, writer, status);
    status = hot_output_end(context, &writer->output, status);
    memset(writer, 0, sizeof *writer);
    return status;
}

/* Bytes of samples, checked against what a file of this length can hold. */
static hot_status check_sizes(hot_context *context, const char *path, const nifti_image *image)
{
    double bytes = image->nbyper;
    for (int axis = 1; axis <= image->dim[0]; axis++) {
        if (image->dim[axis] < 1)
            return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s': axis %d has %lld samples", path, axis,
                                    (long long)image->dim[axis]);
        bytes *= (double)image->dim[axis];
    }
    struct stat about;
    /* deflate shrinks at most 1032-fold */
    if (image->iname && stat(image->iname, &about) == 0 &&
        bytes > (double)about.st_size * (nifti_is_gzfile(image->iname) ? 1032.0 : 1.0))
        return hot_context_fail(context, HOT_ERROR_FORMAT,
                                "'%s' is too short: its header speaks of %.0f bytes of samples, the file has %lld",
                                path, bytes, (long long)about.st_size);
    return HOT_OK;
}

/* niftilib trusts sizes and prints what it does not like, so that the first bytes are judged before it sees the file:
 * the length of the header for its version, number of axes, their sizes, the type of the samples. */
static hot_status check_header(hot_context *context, const char *path)
{
    union {
        char bytes[sizeof(nifti_2_header)];
        nifti_1_header one;
        nifti_2_header two;
    } header;
    /* of a pair, the header is the .hdr file */
    size_t length = strlen(path);
    char *name = hot_context_alloc(context, length + 1, 1);
    if (!name)
        return HOT_ERROR_MEMORY;
    memcpy(name, path, length + 1);
    if (length > 4 && strcmp(name + length - 4, ".img") == 0)
        memcpy(name + length - 4, ".hdr", 4);
    gzFile file = gzopen(name, "rb");
    int got = file ? gzread(file, header.bytes, sizeof header.bytes) : -1;
    if (file)
        gzclose(file);
    hot_context_free(context, name);
    int version = 0, swapped = 0;
    if (got >= (int)sizeof header.one && strncmp(header.one.magic, "n+1", 4) == 0)
        version = 1;
    if (got >= (int)sizeof header.one && strncmp(header.one.magic, "ni1", 4) == 0)
        version = 1;
    if (got >= (int)sizeof header.two && memcmp(header.two.magic, "n+2", 4) == 0)
        version = 2;
    if (got >= (int)sizeof header.two && memcmp(header.two.magic, "ni2", 4) == 0)
        version = 2;
    if (version == 1 && header.one.sizeof_hdr != 348) {
        swapped = 1;
        nifti_swap_as_nifti1(&header.one);
        version = header.one.sizeof_hdr == 348;
    } else if (version == 2 && header.two.sizeof_hdr != 540) {
        swapped = 1;
        nifti_swap_as_nifti2(&header.two);
        version = header.two.sizeof_hdr == 540 ? 2 : 0;
    }
    if (!version)
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' is not a NIfTI image", path);
    long long axes = version == 1 ? header.one.dim[0] : (long long)header.two.dim[0];
    int type = version == 1 ? header.one.datatype : header.two.datatype, bytes = 0, swap = 0;
    double offset = version == 1 ? header.one.vox_offset : (double)header.two.vox_offset;
    if (axes < 1 || axes > 7)
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' has %lld axes%s; NIfTI images have 1 to 7", path, axes,
                                swapped ? " (bytes swapped)" : "");
    for (int axis = 1; axis <= axes; axis++) {
        long long size = version == 1 ? header.one.dim[axis] : (long long)header.two.dim[axis];
        if (size < 1)
            return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s': axis %d has %lld samples", path, axis, size);
    }
    nifti_datatype_sizes(type, &bytes, &swap);
    if (bytes == 0)
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' has samples of the unknown type %d", path, type);
    if (!(offset >= 0 && offset < 1e15))
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' says that its samples start at byte %g", path, offset);
    return HOT_OK;
}

hot_status hot_nifti_open(hot_context *context, const char *path, nifti_image **image)
{
    *image = NULL;
    struct stat about;
    if (stat(path, &about) != 0)
        return hot_context_fail(context, HOT_ERROR_FILE, "cannot read '%s': %s", path, strerror(errno));
    if (S_ISDIR(about.st_mode))
        return hot_context_fail(context, HOT_ERROR_FILE, "cannot read '%s': it is a folder", path);
    if (S_ISREG(about.st_mode) && about.st_size == 0)
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' is empty", path);
    FILE *probe = fopen(path, "rb");
    if (!probe)
        return hot_context_fail(context, HOT_ERROR_FILE, "cannot read '%s': %s", path, strerror(errno));
    fclose(probe);
    hot_status status = check_header(context, path);
    if (status != HOT_OK)
        return status;
    nifti_set_debug_level(0); /* niftilib says nothing; we do */
    nifti_image *read = nifti_image_read(path, 0);
    if (read && read->nifti_type == NIFTI_FTYPE_ANALYZE) {
        nifti_image_free(read);
        read = NULL;
    }
    if (!read)
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' is not a NIfTI image", path);
    status = check_sizes(context, path, read);
    if (status != HOT_OK)
        nifti_image_free(read);
    else
        *image = read;
    return status;
}

hot_status hot_nifti_samples(hot_context *context, const nifti_image *image, void *samples)
{
    const size_t count = (size_t)image->nvox, one = (size_t)image->nbyper;
    FILE *file = fopen(image->iname, "rb");
    if (!file)
        return hot_context_fail(context, HOT_ERROR_FILE, "cannot open '%s': %s", image->iname, strerror(errno));
    /* Whether it is packed is told by its first bytes, not by its name. */
    int first = getc(file), second = getc(file), packed = first == 0x1f && second == 0x8b;
    rewind(file);
    hot_status status = hot_stream_read(context, file, packed, image->iname, (long)image->iname_offset, samples,
                                        count * one);
    fclose(file);
    if (status == HOT_OK && image->swapsize > 1 && image->byteorder != nifti_short_order())
        status = hot_swap_bytes(context, samples, count * one / (size_t)image->swapsize, (size_t)image->swapsize);
    return status;
}

hot_status hot_nifti_load(hot_context *context, const char *path, nifti_image **image)
{
    hot_status status = hot_nifti_open(context, path, image);
    if (status != HOT_OK)
        return status;
    const size_t bytes = (size_t)(*image)->nvox * (size_t)(*image)->nbyper; /* a file can hold them: no overflow */
    (*image)->data = malloc(bytes ? bytes : 1); /* malloc, since nifti_image_free frees it */
    status = (*image)->data
        ? hot_nifti_samples(context, *image, (*image)->data)
        : hot_context_fail(context, HOT_ERROR_MEMORY, "out of memory: %zu bytes for '%s'", bytes, path);
    if (status != HOT_OK) {
        nifti_image_free(*image);
        *image = NULL;
    }
    return status;
}

void hot_nifti_grid(const nifti_image *image, hot_grid *grid)
{
    const nifti_dmat44 *matrix = image->sform_code > 0 ? &image->sto_xyz
                                 : image->qform_code > 0 ? &image->qto_xyz : NULL;
    memset(grid, 0, sizeof *grid);
    for (int axis = 0; axis < 3; axis++) {
        grid->size[axis] = axis < image->ndim ? (size_t)image->dim[axis + 1] : 1;
        double size = axis < image->ndim ? fabs(image->pixdim[axis + 1]) : 1;
        grid->to_world[axis][axis] = size > 0 ? size : 1;
    }
    grid->space = matrix ? HOT_SPACE_RAS : HOT_SPACE_UNKNOWN;
    for (int row = 0; matrix && row < 3; row++)
        for (int column = 0; column < 4; column++)
            grid->to_world[row][column] = matrix->m[row][column];
}

hot_status hot_nifti_floats(hot_context *context, const nifti_image *image, const char *path, size_t first,
                            size_t count, float *values)
{
    double slope = image->scl_slope, intercept = image->scl_inter;
    if (slope == 0 || !isfinite(slope) || !isfinite(intercept))
        slope = 1, intercept = 0;
    int plain = slope == 1 && intercept == 0;
#define FROM(TYPE)                                                                                  \
    do {                                                                                            \
        const TYPE *from = (const TYPE *)image->data + first;                                       \
        for (size_t i = 0; i < count; i++)                                                          \
            values[i] = plain ? (float)from[i] : (float)(slope * (double)from[i] + intercept);      \
    } while (0)
    switch (image->datatype) {
    case DT_INT8: FROM(int8_t); break;
    case DT_UINT8: FROM(uint8_t); break;
    case DT_INT16: FROM(int16_t); break;
    case DT_UINT16: FROM(uint16_t); break;
    case DT_INT32: FROM(int32_t); break;
    case DT_UINT32: FROM(uint32_t); break;
    case DT_INT64: FROM(int64_t); break;
    case DT_UINT64: FROM(uint64_t); break;
    case DT_FLOAT32: FROM(float); break;
    case DT_FLOAT64: FROM(double); break;
    default:
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' has samples of type %s; numbers were expected", path,
                                nifti_datatype_string(image->datatype));
    }
#undef FROM
    return HOT_OK;
}
