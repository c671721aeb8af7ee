/* Images of spherical harmonics, as MRtrix, DIPY and others write fibre orientation distributions, as a field of
 * tensors: the two are bases of the same functions on the sphere. */
#include <string.h>

#include "common/entry.h"
#include "dwi/frames.h"
#include "field_file.h"
#include "io/nrrd/tensor_frame.h"
#include "model/sh_basis.h"

/* Degrees that bad files have: odd degrees too, or more degrees than forms are made for. */
hot_status hot_harmonics_refuse_count(const hot_image *image)
{
    const size_t count = image->values;
    for (size_t l = 1; l < 17; l++)
        if (count == (l + 1) * (l + 1))
            return hot_context_fail(image->context, HOT_ERROR_FORMAT,
                                    "'%s' has %zu volumes, which is lmax %zu with odd degrees; only even ones are "
                                    "read: 6, 15, 28, 45, 66 or 91 volumes", image->name, count, l);
    for (size_t axis = 0; axis < 3; axis++)
        if (hot_sh_lmax(image->grid.size[axis]))
            return hot_context_fail(image->context, HOT_ERROR_FORMAT,
                                    "'%s' has %zu volumes; the coefficients must be the fourth axis, and axis %zu has "
                                    "the %zu samples of lmax %d", image->name, count, axis + 1, image->grid.size[axis],
                                    hot_sh_lmax(image->grid.size[axis]));
    return hot_context_fail(image->context, HOT_ERROR_FORMAT,
                            "'%s' has %zu volume%s, which is no number of spherical harmonics: 6, 15, 28, 45, 66 or 91 "
                            "(lmax 2, 4, 6, 8, 10, 12)", image->name, count, count == 1 ? "" : "s");
}

/* From coefficients as the file has them to tensors in the grid's world axes. frame: its columns are the axes that the
 * harmonics are in; NULL = the world's. */
static hot_status make_matrix(hot_context *context, hot_sh_basis basis, int lmax, const double (*frame)[3],
                              double *matrix)
{
    const size_t terms = hot_symtensor_count(lmax, 3);
    size_t place[HOT_FIELD_TERMS_MAX];
    double sign[HOT_FIELD_TERMS_MAX];
    hot_status status = HOT_ERROR_MEMORY;
    double *ours = hot_context_alloc(context, terms, terms * sizeof *ours);
    double *turn = hot_context_alloc(context, terms, terms * sizeof *turn);
    if (ours && turn)
        status = hot_sh_to_symtensor(context, lmax, ours);
    if (status == HOT_OK && frame)
        status = hot_tensor_frame_matrix(context, lmax, frame, turn);
    if (status == HOT_OK) {
        hot_sh_basis_map(basis, lmax, place, sign);
        for (size_t i = 0; i < terms; i++)
            for (size_t j = 0; j < terms; j++) {
                double sum = frame ? 0 : ours[i * terms + j];
                for (size_t k = 0; frame && k < terms; k++)
                    sum += turn[i * terms + k] * ours[k * terms + j];
                matrix[i * terms + place[j]] = sign[j] * sum;
            }
    }
    HOT_FREE(context, ours, turn);
    return status;
}

/* Whether there is anything in a row: numbers, and not all of them 0. */
static int is_live(const float *row, size_t terms)
{
    float any = 0, odd = 0;
    for (size_t k = 0; k < terms; k++) {
        any += row[k] != 0;
        odd += row[k] * 0.0f; /* NaN for NaN and Inf */
    }
    return any > 0 && odd == 0;
}

/* Fills a field whose values are all there but for the numbers. Empty voxels, most of a brain's volume, cost little. */
static hot_status convert(const hot_image *image, const double *matrix, hot_tensor_field *field)
{
    enum { CHUNK = 1 << 13 };
    hot_context *context = image->context;
    const size_t terms = image->values, row = 1 + terms, voxels = hot_grid_voxels(&image->grid);
    hot_status status = HOT_OK;
    float *from = hot_context_alloc(context, CHUNK, terms * sizeof *from);
    float *to = hot_context_alloc(context, CHUNK, terms * sizeof *to);
    if (!from || !to)
        status = HOT_ERROR_MEMORY;
    for (size_t first = 0; first < voxels && status == HOT_OK; first += CHUNK) {
        const size_t count = voxels - first < CHUNK ? voxels - first : CHUNK;
        float *values = field->values + first * row;
        size_t live = 0;
        status = hot_image_values(image, first, count, from);
        for (size_t i = 0; i < count; i++) {
            values[i * row] = is_live(from + i * terms, terms) ? 1.0f : 0.0f;
            if (values[i * row] > 0)
                memmove(from + live++ * terms, from + i * terms, terms * sizeof *from);
        }
        if (status == HOT_OK)
            status = hot_fit_linear_f32(context, terms, terms, matrix, live, from, terms, to, terms);
        field->fitted += live;
        for (size_t i = 0, at = 0; i < count; i++) {
            if (values[i * row] > 0)
                memcpy(values + i * row + 1, to + at++ * terms, terms * sizeof *to);
            else
                memset(values + i * row + 1, 0, terms * sizeof *to);
        }
    }
    HOT_FREE(context, from, to);
    return status;
}

/* The axes of the harmonics as columns in the grid's space. Returns 0 when they are the world's. */
static int find_frame(const hot_grid *grid, const char *name, double frame[3][3])
{
    if (strcmp(name, "image") == 0)
        hot_grid_image_axes(grid, frame);
    else if (strcmp(name, "bvec") == 0)
        hot_grid_bvec_frame(grid, frame);
    else { /* scanner RAS, in a file whose own space may be another one */
        double sign[3];
        hot_space_ras_sign(grid->space, sign);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++)
                frame[r][c] = r == c ? sign[r] : 0;
        return sign[0] < 0 || sign[1] < 0 || sign[2] < 0;
    }
    return 1;
}

hot_status hot_harmonics_load(hot_image *image, const hot_sh_reading *how, hot_tensor_field **field)
{
    hot_context *context = image->context;
    const hot_sh_basis basis = how->basis;
    const char *frame_name = how->frame;
    const int lmax = hot_sh_lmax(image->values);
    double frame[3][3];
    HOT_TRY(hot_image_check_one_list(image, "spherical harmonics"));
    if (!lmax)
        return hot_harmonics_refuse_count(image);
    hot_context_log(context, HOT_LOG_NOTE,
                    "'%s' is taken as spherical harmonics of lmax %d, basis %s, in %s axes (--basis, --frame)",
                    image->name, lmax, hot_sh_basis_name(basis), frame_name);
    double *matrix = hot_context_alloc(context, image->values, image->values * sizeof *matrix);
    hot_status status = matrix ? hot_image_read(image) : HOT_ERROR_MEMORY;
    const int turned = find_frame(&image->grid, frame_name, frame);
    if (status == HOT_OK)
        status = make_matrix(context, basis, lmax, turned ? (const double (*)[3])frame : NULL, matrix);
    if (status == HOT_OK)
        status = hot_tensor_field_make(context, &image->grid, lmax, "sh", field);
    if (status == HOT_OK)
        status = convert(image, matrix, *field);
    if (status != HOT_OK)
        hot_tensor_field_destroy(field);
    hot_context_free(context, matrix);
    return status;
}
