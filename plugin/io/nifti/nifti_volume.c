#include "nifti_volume.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "core/fields.h"

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
