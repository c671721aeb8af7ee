#include "nifti_volume.h"

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
                              int datatype, double slope, double intercept, hot_content content,
                              nifti_1_header *header, size_t *bytes)
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
    if (content != HOT_CONTENT_UNKNOWN)
        snprintf(header->intent_name, sizeof header->intent_name, "hotfiber %s", hot_content_word(content));
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

hot_status hot_nifti_begin(hot_context *context, const char *path, const hot_grid *grid, size_t volumes, int datatype,
                           double slope, double intercept, hot_content content, const char *tensors,
                           hot_volume_writer *writer)
{
    nifti_1_header header;
    char head[HEADER_BYTES] = {0};
    size_t bytes = 0;
    memset(writer, 0, sizeof *writer);
    HOT_TRY(make_header(context, path, grid, volumes, datatype, slope, intercept, content, &header, &bytes));
    if (tensors)
        snprintf(header.descrip, sizeof header.descrip, "hotfiber %s%s%s", hot_version(), HOT_NIFTI_TENSORS, tensors);
    memcpy(head, &header, sizeof header);
    return hot_volume_begin(context, path, head, sizeof head, bytes, writer);
}
