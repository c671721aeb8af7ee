/* sh: tensors, or fibres, as spherical harmonics in MRtrix's basis and scanner axes, one volume per coefficient, so
 * that mrview draws them as surfaces and sh2peaks, sh2amp, fod2fixel and tckgen take them. */
#include <string.h>

#include "common/arguments.h"
#include "io/common/formats.h"
#include "common/entry.h"
#include "io/common/image_save.h"
#include "model/fiber_lobes.h"

/* 1 / sqrt(4 pi): degree 0 of a function on the sphere whose integral is 1. */
static const double unit_degree0 = 0.28209479177387814;

/* sh_i = sum_j matrix_ij tensor_j for a tensor in the grid's space: a mirrored axis changes the sign of the values that
 * name it an odd number of times. */
static hot_status make_matrix(hot_context *context, const hot_tensor_field *tensors, size_t terms, double *matrix,
                              int *exponents)
{
    double sign[3];
    HOT_TRY(hot_symtensor_to_sh(context, tensors->order, matrix));
    HOT_TRY(hot_symtensor_exponents(tensors->order, 3, exponents));
    hot_space_ras_sign(tensors->grid.space, sign);
    for (size_t j = 0; j < terms; j++) {
        double flip = 1;
        for (size_t d = 0; d < 3; d++)
            if (exponents[3 * j + d] % 2 != 0)
                flip *= sign[d];
        for (size_t i = 0; i < terms; i++)
            matrix[i * terms + j] *= flip;
    }
    return HOT_OK;
}

typedef struct harmonics {
    const hot_tensor_field *tensors;
    size_t terms;
    const double *matrix;
    size_t tissue;
} harmonics;

/* Coefficient `number` of every voxel. */
static void fill(hot_context *context, const void *from, size_t number, size_t first, size_t count, float *samples)
{
    const harmonics *h = from;
    const size_t terms = h->terms;
    const double *row = h->matrix + number * terms;
    const int threads = hot_context_threads(context);
#pragma omp parallel for num_threads(hot_team(threads)) schedule(static)
    for (size_t voxel = first; voxel < first + count; voxel++) {
        const float *tensor = h->tensors->values + voxel * (terms + 1);
        double sum = 0;
        if (tensor[0] > 0)
            for (size_t j = 0; j < terms; j++)
                sum += row[j] * tensor[1 + j];
        samples[voxel - first] = (float)sum;
    }
}

hot_status hot_write_sh(hot_context *context, const hot_tensor_field *tensors, const char *path)
{
    HOT_ENTRY(context);
    const size_t terms = hot_symtensor_count(tensors->order, 3);
    double matrix[HOT_FIELD_TERMS_MAX * HOT_FIELD_TERMS_MAX];
    int exponents[3 * HOT_FIELD_TERMS_MAX];
    hot_status status = make_matrix(context, tensors, terms, matrix, exponents);
    return status == HOT_OK ? hot_image_save(context, path, &tensors->grid, HOT_CONTENT_SH, terms, fill,
                                             &(harmonics){tensors, terms, matrix, 0}) : status;
}

/* Coefficient `number` of every voxel, with the amount of white matter that degree 0 has in MRtrix's files. */
static void fill_white_matter(hot_context *context, const void *from, size_t number, size_t first, size_t count,
                              float *samples)
{
    const harmonics *h = from;
    const hot_tensor_field *field = h->tensors;
    const size_t terms = h->terms;
    fill(context, from, number, first, count, samples);
    for (size_t voxel = first; voxel < first + count; voxel++) {
        const float *tensor = field->values + voxel * (terms + 1);
        double degree0 = 0;
        for (size_t j = 0; j < terms; j++)
            degree0 += h->matrix[j] * tensor[1 + j];
        const double amount = field->extra[voxel * field->extra_count];
        samples[voxel - first] = degree0 > 0 ? (float)(samples[voxel - first] * unit_degree0 * amount / degree0) : 0;
    }
}

static void fill_isotropic(hot_context *context, const void *from, size_t number, size_t first, size_t count,
                           float *samples)
{
    const hot_tensor_field *field = ((const harmonics *)from)->tensors;
    const size_t tissue = ((const harmonics *)from)->tissue;
    (void)context;
    (void)number;
    for (size_t voxel = first; voxel < first + count; voxel++)
        samples[voxel - first] = (float)(unit_degree0 * field->extra[voxel * field->extra_count + tissue]);
}

hot_status hot_tensor_field_save_tissue_sh(hot_context *context, const hot_tensor_field *field, size_t tissue,
                                           const char *path)
{
    HOT_ENTRY(context);
    HOT_NEED(context, field, path);
    const size_t tissues = hot_tensor_field_tissues(field), terms = hot_symtensor_count(field->order, 3);
    double matrix[HOT_FIELD_TERMS_MAX * HOT_FIELD_TERMS_MAX];
    int exponents[3 * HOT_FIELD_TERMS_MAX];
    const harmonics all = {field, terms, matrix, tissue};
    if (tissue >= tissues)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "tissue %zu of a field that has %zu", tissue, tissues);
    if (tissue > 0)
        return hot_image_save(context, path, &field->grid, HOT_CONTENT_MAP, 1, fill_isotropic, &all);
    HOT_TRY(make_matrix(context, field, terms, matrix, exponents));
    return hot_image_save(context, path, &field->grid, HOT_CONTENT_SH, terms, fill_white_matter, &all);
}

/* The coefficients of the voxels that have fibres, one row after the other. */
typedef struct lobes {
    const hot_fiber_field *fibers;
    float *rows;
    size_t *next; /* the row at which the voxels continue */
} lobes;

static void fill_lobes(hot_context *context, const void *from, size_t number, size_t first, size_t count,
                       float *samples)
{
    const lobes *all = from;
    size_t next = first > 0 ? *all->next : 0;
    (void)context;
    for (size_t voxel = first; voxel < first + count; voxel++) {
        samples[voxel - first] = all->fibers->counts[voxel] ? all->rows[next * HOT_LOBES_TERMS + number] : 0;
        next += all->fibers->counts[voxel] > 0;
    }
    *all->next = next;
}

hot_status hot_write_fiber_sh(hot_context *context, const hot_fiber_field *fibers, const char *path)
{
    HOT_ENTRY(context);
    enum { CHUNK = 1 << 12 };
    const size_t voxels = hot_grid_voxels(&fibers->grid), row = 3 * (size_t)fibers->max_fibers;
    size_t some = 0, at = 0, close = 0, next = 0;
    hot_lobe lobe;
    double axes[3][3] = {{0}}, sign[3];
    lobes all = {fibers, NULL, &next};
    hot_status status = HOT_OK;
    for (size_t voxel = 0; voxel < voxels; voxel++)
        some += fibers->counts[voxel] > 0;
    size_t *live = hot_context_alloc(context, some + 1, sizeof *live);
    all.rows = hot_context_alloc(context, some + 1, HOT_LOBES_TERMS * sizeof *all.rows);
    if (!live || !all.rows)
        status = HOT_ERROR_MEMORY;
    for (size_t voxel = 0; status == HOT_OK && voxel < voxels; voxel++)
        if (fibers->counts[voxel])
            live[at++] = voxel;
    hot_space_ras_sign(fibers->grid.space, sign);
    for (int d = 0; d < 3; d++)
        axes[d][d] = sign[d];
    hot_lobe_make(&lobe);
    for (size_t first = 0; status == HOT_OK && first < some; first += CHUNK) {
        const size_t end = some - first < CHUNK ? some : first + CHUNK;
#pragma omp parallel for num_threads(hot_team(hot_context_threads(context))) schedule(static) reduction(+ : close)
        for (size_t i = first; i < end; i++)
            close += !hot_lobe_sum(&lobe, (const double (*)[3])axes, fibers->peaks + live[i] * row,
                                   fibers->counts[live[i]], all.rows + i * HOT_LOBES_TERMS);
        status = hot_context_progress(context, "sh", (double)end / (double)some);
    }
    if (status == HOT_OK && close > 0)
        hot_context_log(context, HOT_LOG_NOTE,
                        "%zu of %zu voxels have fibres closer than lmax %d separates: their maxima are not the fibres",
                        close, some, HOT_LOBES_LMAX);
    if (status == HOT_OK)
        status = hot_image_save(context, path, &fibers->grid, HOT_CONTENT_SH, HOT_LOBES_TERMS, fill_lobes, &all);
    HOT_FREE(context, live, all.rows);
    return status;
}
