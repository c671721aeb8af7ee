/* Images from NIfTI: header and samples in one go, so that pipes will do. niftilib gives the structs and the
 * quaternions. It does not see the file: it trusts sizes, prints what it does not like, turns NaN and Inf into 0 and
 * cannot be stopped. */
#include "nifti_read.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <nifti2_io.h>

#include "core/grid_match.h"
#include "io/common/paths.h"
#include "nifti_volume.h"

static const int types[] = {
    [HOT_SAMPLE_I8] = DT_INT8,    [HOT_SAMPLE_U8] = DT_UINT8,   [HOT_SAMPLE_I16] = DT_INT16,
    [HOT_SAMPLE_U16] = DT_UINT16, [HOT_SAMPLE_I32] = DT_INT32,  [HOT_SAMPLE_U32] = DT_UINT32,
    [HOT_SAMPLE_I64] = DT_INT64,  [HOT_SAMPLE_U64] = DT_UINT64, [HOT_SAMPLE_F32] = DT_FLOAT32,
    [HOT_SAMPLE_F64] = DT_FLOAT64,
};

/* Where the samples are. */
typedef struct reader {
    hot_stream *stream;
    size_t at;
    int swapped;
} reader;

typedef union header_bytes {
    char bytes[sizeof(nifti_2_header)];
    nifti_1_header one;
    nifti_2_header two;
} header_bytes;

/* The fields of both versions, in the machine's byte order. */
typedef struct about {
    size_t bytes; /* of the header */
    int swapped, pair, type;
    long long axes, size[8];
    double offset, slope, intercept, spacing[8];
    double quaternion[3], origin[3];
    double sform[3][4], qform[3][4];
    int has_sform, has_qform, units;
    int intent;
    double intent_p1;
    char intent_name[17], descrip[81];
} about;

/* The matrix of the quaternion; what is no number counts as 0, and voxels of no size as 1 mm. */
static void set_qform(about *to)
{
    const double *q = to->quaternion, *origin = to->origin;
    double part[6];
    for (int d = 0; d < 3; d++) {
        part[d] = isfinite(q[d]) ? q[d] : 0;
        part[3 + d] = isfinite(origin[d]) ? origin[d] : 0;
    }
    nifti_dmat44 m = nifti_quatern_to_dmat44(part[0], part[1], part[2], part[3], part[4], part[5], to->spacing[1],
                                             to->spacing[2], to->spacing[3], to->spacing[0] < 0 ? -1 : 1);
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 4; column++)
            to->qform[row][column] = m.m[row][column];
}

#define TAKE(HEADER)                                                                                                   \
    do {                                                                                                               \
        to->axes = HEADER.dim[0];                                                                                      \
        for (int axis = 0; axis < 8; axis++) {                                                                         \
            to->size[axis] = HEADER.dim[axis];                                                                         \
            to->spacing[axis] = HEADER.pixdim[axis];                                                                   \
        }                                                                                                              \
        to->type = HEADER.datatype;                                                                                    \
        to->offset = (double)HEADER.vox_offset;                                                                        \
        to->slope = HEADER.scl_slope;                                                                                  \
        to->intercept = HEADER.scl_inter;                                                                              \
        to->intent = HEADER.intent_code;                                                                               \
        to->intent_p1 = HEADER.intent_p1;                                                                              \
        memcpy(to->intent_name, HEADER.intent_name, 16);                                                               \
        memcpy(to->descrip, HEADER.descrip, 80);                                                                       \
        to->has_sform = HEADER.sform_code > 0;                                                                         \
        to->units = HEADER.xyzt_units & 7;                                                                            \
        to->has_qform = HEADER.qform_code > 0;                                                                         \
        for (int column = 0; column < 4; column++) {                                                                   \
            to->sform[0][column] = HEADER.srow_x[column];                                                              \
            to->sform[1][column] = HEADER.srow_y[column];                                                              \
            to->sform[2][column] = HEADER.srow_z[column];                                                              \
        }                                                                                                              \
        memcpy(to->quaternion, (double[]){HEADER.quatern_b, HEADER.quatern_c, HEADER.quatern_d}, sizeof(double[3]));   \
        memcpy(to->origin, (double[]){HEADER.qoffset_x, HEADER.qoffset_y, HEADER.qoffset_z}, sizeof(double[3]));       \
    } while (0)

/* The header of either version, in either byte order. */
static hot_status read_header(hot_context *context, hot_stream *stream, const char *name, about *to)
{
    header_bytes header;
    int version = 0;
    memset(to, 0, sizeof *to);
    size_t got = hot_stream_take(stream, header.bytes, sizeof header.one);
    if (got == sizeof header.one) {
        const int first = header.one.sizeof_hdr;
        version = memcmp(header.one.magic, "n+1", 4) == 0 || memcmp(header.one.magic, "ni1", 4) == 0;
        if (!version && (memcmp(header.two.magic, "n+2", 4) == 0 || memcmp(header.two.magic, "ni2", 4) == 0) &&
            hot_stream_take(stream, header.bytes + got, sizeof header.two - got) == sizeof header.two - got)
            version = 2;
        to->pair = version == 1 ? header.one.magic[1] == 'i' : header.two.magic[1] == 'i';
        to->swapped = first != (version == 1 ? 348 : 540);
        if (version == 1 && to->swapped)
            nifti_swap_as_nifti1(&header.one);
        else if (version == 2 && to->swapped)
            nifti_swap_as_nifti2(&header.two);
        if (version && header.one.sizeof_hdr != (version == 1 ? 348 : 540))
            version = 0;
    }
    if (!version)
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' is not a NIfTI image", name);
    to->bytes = version == 1 ? sizeof header.one : sizeof header.two;
    if (version == 1)
        TAKE(header.one);
    else
        TAKE(header.two);
    for (int axis = 1; axis < 8; axis++)
        if (!isfinite(to->spacing[axis]) || to->spacing[axis] == 0)
            to->spacing[axis] = 1;
    set_qform(to);
    return HOT_OK;
}

/* Lengths in mm, by the header's unit. Writers that set a unit without converting leave voxels that no scanner has. */
static void convert_units(hot_context *context, const char *name, about *to)
{
    static const double min_voxel = 1e-3, largest_voxel = 100;
    const double mm = to->units == NIFTI_UNITS_METER ? 1e3 : to->units == NIFTI_UNITS_MICRON ? 1e-3 : 1;
    if (mm == 1)
        return;
    const char *unit = mm > 1 ? "metre" : "micron";
    const double voxel = mm * fabs(to->spacing[1]);
    if (voxel < min_voxel || voxel > largest_voxel) {
        hot_context_log(context, HOT_LOG_WARNING, "'%s': its unit is the %s, but its voxels of %g are more likely in "
                        "mm, and are taken so", name, unit, fabs(to->spacing[1]));
        return;
    }
    for (int axis = 0; axis < 4; axis++) {
        to->spacing[axis] *= axis > 0 ? mm : 1;
        for (int row = 0; row < 3; row++) {
            to->sform[row][axis] *= mm;
            to->qform[row][axis] *= mm;
        }
    }
}

/* sform and qform, both set, of another orientation or place: tools differ in which of them they take. */
static void compare_forms(hot_context *context, const char *name, const about *header)
{
    double angle = 0, shift = 0;
    if (!header->has_sform || !header->has_qform)
        return;
    for (int axis = 0; axis < 3; axis++) {
        double product = 0, s = 0, q = 0;
        for (int row = 0; row < 3; row++) {
            product += header->sform[row][axis] * header->qform[row][axis];
            s += header->sform[row][axis] * header->sform[row][axis];
            q += header->qform[row][axis] * header->qform[row][axis];
        }
        if (!(s > 0 && q > 0))
            return;
        angle = fmax(angle, acos(fmax(-1, fmin(1, product / sqrt(s * q)))) * 180 / acos(-1));
    }
    for (int corner = 0; corner < 8; corner++) {
        double apart = 0;
        for (int row = 0; row < 3; row++) {
            double d = header->sform[row][3] - header->qform[row][3];
            for (int axis = 0; axis < 3; axis++)
                d += (corner >> axis & 1 ? (double)(header->axes > axis ? header->size[axis + 1] - 1 : 0) : 0) *
                     (header->sform[row][axis] - header->qform[row][axis]);
            apart += d * d;
        }
        shift = fmax(shift, sqrt(apart));
    }
    const double voxel = fmin(fabs(header->spacing[1]), fmin(fabs(header->spacing[2]), fabs(header->spacing[3])));
    if (angle > 1)
        hot_context_log(context, HOT_LOG_WARNING, "'%s': its sform, which is used, and its qform differ by %.3g "
                        "degrees; directions in scanner axes do, too", name, angle);
    else if (shift > voxel)
        hot_context_log(context, HOT_LOG_WARNING, "'%s': its sform, which is used, and its qform differ by %.3g mm",
                        name, shift);
}

static hot_status check_header(hot_context *context, const char *name, const about *header, hot_image *image)
{
    if (header->axes < 1 || header->axes > 7)
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' has %lld axes%s; NIfTI images have 1 to 7", name,
                                header->axes, header->swapped ? " (bytes swapped)" : "");
    for (int axis = 1; axis <= header->axes; axis++)
        if (header->size[axis] < 1)
            return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s': axis %d has %lld samples", name, axis,
                                    header->size[axis]);
    int bytes = 0, swap = 0;
    nifti_datatype_sizes(header->type, &bytes, &swap);
    if (bytes == 0)
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' has samples of the unknown type %d", name,
                                header->type);
    if (!(header->offset >= 0 && header->offset < 1e15))
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' says that its samples start at byte %g", name,
                                header->offset);
    if (!hot_sample_find(types, header->type, &image->sample))
        return hot_context_fail(context, HOT_ERROR_FORMAT,
                                "'%s' has samples of type %s; real numbers of up to 64 bits are read", name,
                                nifti_datatype_string(header->type));
    return HOT_OK;
}

/* The grid: sform, else qform; without either, or where these span no space, the voxel sizes alone. */
static void set_grid(const about *header, hot_grid *grid)
{
    const double (*const forms[])[4] = {header->has_sform ? header->sform : NULL,
                                        header->has_qform ? header->qform : NULL};
    for (int axis = 0; axis < 3; axis++)
        grid->size[axis] = axis < header->axes ? (size_t)header->size[axis + 1] : 1;
    for (int form = 0; form < 2; form++) {
        if (!forms[form])
            continue;
        memcpy(grid->to_world, forms[form], sizeof grid->to_world);
        grid->space = HOT_SPACE_RAS;
        if (hot_grid_placed(grid))
            return;
    }
    memset(grid->to_world, 0, sizeof grid->to_world);
    grid->space = HOT_SPACE_UNKNOWN;
    for (int axis = 0; axis < 3; axis++)
        grid->to_world[axis][axis] = axis < header->axes ? fabs(header->spacing[axis + 1]) : 1;
}

/* The content by the intent: our own name, or NIfTI's code. For a symmetric matrix, DIPY and the standard give the
 * size, ITK does not. */
static void set_content(const about *header, hot_image *image)
{
    static const char own[] = "hotfiber ";
    enum { MATRIX_SIZE = 3, LAST_OF_STATISTICS = 24 };
    if (strncmp(header->intent_name, own, sizeof own - 1) == 0)
        image->content = hot_content_find(header->intent_name + sizeof own - 1);
    if (image->content != HOT_CONTENT_UNKNOWN) {
        image->content_said = "its intent_name";
        image->layout = HOT_LAYOUT_WORLD;
        const char *tensors = strstr(header->descrip, HOT_NIFTI_TENSORS);
        if (tensors && strncmp(header->descrip, own, sizeof own - 1) == 0)
            snprintf(image->tensors, sizeof image->tensors, "%s", tensors + sizeof HOT_NIFTI_TENSORS - 1);
        return;
    }
    switch (header->intent) {
    case NIFTI_INTENT_SYMMATRIX:
        image->content = HOT_CONTENT_TENSOR;
        image->content_said = "its intent code (1005, symmetric matrix)";
        image->layout = header->intent_p1 == MATRIX_SIZE ? HOT_LAYOUT_DIPY : HOT_LAYOUT_ITK;
        break;
    case NIFTI_INTENT_GENMATRIX:
        image->content = HOT_CONTENT_TENSOR;
        image->content_said = "its intent code (1004, matrix)";
        break;
    case NIFTI_INTENT_DISPVECT:
        image->content = HOT_CONTENT_MAP;
        image->content_said = "its intent code (1006, displacements)";
        break;
    case NIFTI_INTENT_RGB_VECTOR:
    case NIFTI_INTENT_RGBA_VECTOR:
        image->content = HOT_CONTENT_RGB;
        image->content_said = "its intent code (colours)";
        break;
    default:
        if (header->intent >= NIFTI_INTENT_CORREL && header->intent <= LAST_OF_STATISTICS) {
            image->content = HOT_CONTENT_MAP;
            image->content_said = "its intent code (a statistic)";
        }
    }
}

/* A pair's .hdr or .img, packed or not. */
static hot_status open_half(hot_context *context, const char *path, const char *suffix, const char *packed_suffix,
                            hot_stream **stream)
{
    struct stat there;
    hot_status status = HOT_ERROR_MEMORY;
    char *name = hot_path_beside(context, path, suffix), *packed = hot_path_beside(context, path, packed_suffix);
    if (name && packed)
        status = hot_stream_open(context, stat(name, &there) != 0 && stat(packed, &there) == 0 ? packed : name,
                                 HOT_FILE_GIVEN, stream);
    HOT_FREE(context, name, packed);
    return status;
}

static hot_status read_samples(hot_image *image, void *data)
{
    const reader *from = image->reader;
    const size_t one = hot_sample_bytes(image->sample);
    hot_status status = hot_stream_samples(image->context, from->stream, from->at, data, image->samples * one);
    return status == HOT_OK && from->swapped ? hot_swap_bytes(image->context, data, image->samples, one) : status;
}

static hot_status read_span(void *of, size_t at, void *to, size_t bytes)
{
    const hot_image *image = of;
    const reader *from = image->reader;
    return hot_stream_span(image->context, from->stream, from->at + at, to, bytes);
}

static void close_reader(hot_image *image)
{
    reader *from = image->reader;
    hot_stream_close(image->context, &from->stream);
    hot_context_free(image->context, from);
}

/* Of a pair, the header is the .hdr file. */
static hot_status open_header(hot_context *context, hot_input *input, hot_stream **stream)
{
    if (!hot_path_has_suffix(input->path, ".img") && !hot_path_has_suffix(input->path, ".img.gz"))
        return hot_input_take_stream(context, input, stream);
    return open_half(context, input->path, ".hdr", ".hdr.gz", stream);
}

hot_status hot_nifti_open(hot_context *context, hot_input *input, hot_image *image)
{
    about header;
    hot_stream *stream = NULL;
    HOT_TRY(open_header(context, input, &stream));
    reader *made = hot_context_calloc(context, 1, sizeof *made);
    if (!made) {
        hot_stream_close(context, &stream);
        return HOT_ERROR_MEMORY;
    }
    made->stream = stream;
    image->reader = made;
    image->read = read_samples;
    image->close = close_reader;
    hot_status status = read_header(context, stream, image->name, &header);
    if (status == HOT_OK)
        status = check_header(context, image->name, &header, image);
    if (status == HOT_OK)
        status = hot_image_add_file(image, hot_stream_name(stream));
    if (status != HOT_OK)
        return status;
    made->swapped = header.swapped;
    made->at = (size_t)header.offset;
    if (!header.pair && made->at < header.bytes) /* some writers leave it out: right behind the header */
        made->at = header.bytes;
    convert_units(context, image->name, &header);
    compare_forms(context, image->name, &header);
    set_grid(&header, &image->grid);
    set_content(&header, image);
    image->values = image->last_values = 1;
    double bytes = (double)hot_sample_bytes(image->sample);
    for (int axis = 1; axis <= header.axes; axis++) {
        bytes *= (double)header.size[axis];
        if (axis > 3 && bytes < 9e18)
            image->values *= (size_t)header.size[axis];
        image->value_axes += axis > 3 && header.size[axis] > 1;
        if (axis > 3 && header.size[axis] > 1)
            image->last_values = (size_t)header.size[axis];
    }
    if (isfinite(header.slope) && isfinite(header.intercept) && header.slope != 0) {
        image->slope = header.slope;
        image->intercept = header.intercept;
    }
    if (header.pair) {
        hot_stream_close(context, &made->stream);
        status = open_half(context, input->path, ".img", ".img.gz", &made->stream);
        if (status == HOT_OK)
            status = hot_image_add_file(image, hot_stream_name(made->stream));
    }
    if (status == HOT_OK && (bytes >= 9e18 || bytes > (double)hot_stream_at_most(made->stream)))
        status = hot_context_fail(context, HOT_ERROR_FORMAT,
                                  "'%s' is too short: its header speaks of %.0f bytes of samples", image->name, bytes);
    if (status == HOT_OK) {
        image->read_span = read_span;
        image->seeks = hot_stream_seeks(made->stream);
        image->swapped = header.swapped;
    }
    return status == HOT_OK ? hot_image_is_contiguous(image) : status;
}
