/* pam5: DIPY's peaks file, HDF5. Vectors are in the axes of the image (i, j, k), because DIPY's trackers and slicers
 * work in voxel space. EuDX tracks by each fibre's nearest vertex of the sphere in the file, DIPY's other direction
 * getters by each voxel's spherical harmonics (descoteaux07_legacy, DIPY's default). Built only with HDF5. */
#include "io/dipy/hdf5_library.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/entry.h"
#include "io/common/output.h"
#include "dwi/frames.h"
#include "io/common/formats.h"
#include "geometry/sphere.h"
#include "model/fiber_lobes.h"
#include "model/sh_basis.h"

enum { LEVEL = 4 /* 2562 vertices: a fibre is at most 2.4 degrees from one */ };

typedef struct pam {
    const hot_fiber_field *fibers;
    double axes[3][3];          /* rows: a world vector times row a is its part along image axis a */
    double (*vertices)[3];
    size_t vertex_count;
    hid_t group;
    float *values;              /* of one slab (all j and k of one i) */
    hot_lobe lobe;
    size_t place[HOT_LOBES_TERMS]; /* of the harmonics in the file's basis, with their signs */
    double sign[HOT_LOBES_TERMS];
    int32_t *indices;
} pam;

/* A whole small dataset. Returns 0 when that fails. */
static int put_array(hid_t group, const char *name, hid_t file_type, hid_t type, int rank, const hsize_t *sizes,
                     const void *data)
{
    hid_t space = H5Screate_simple(rank, sizes, NULL);
    hid_t set = H5Dcreate2(group, name, file_type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    int done = set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
    if (set >= 0)
        H5Dclose(set);
    if (space >= 0)
        H5Sclose(space);
    return done;
}

/* The attribute that says which version of the format this is: a string of the kind that h5py makes. */
static int put_version(hid_t file)
{
    const char *version = "0.0.1";
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    hid_t attribute = H5Acreate2(file, "version", type, space, H5P_DEFAULT, H5P_DEFAULT);
    int done = attribute >= 0 && H5Awrite(attribute, type, &version) >= 0;
    if (attribute >= 0)
        H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
    return done;
}

/* ---- What each voxel holds -------------------------------------------------------------------------------- */

enum field { DIRECTIONS, AMPLITUDES, INDICES, FIRST_AMPLITUDE, HARMONICS };
static const struct set {
    const char *name;
    enum field field;
    int rank; /* 3: one value per voxel; 4: one per fibre, or the coefficients; 5: a vector per fibre */
} sets[] = {
    {"peak_dirs", DIRECTIONS, 5}, {"peak_values", AMPLITUDES, 4}, {"peak_indices", INDICES, 4},
    {"qa", AMPLITUDES, 4},        {"gfa", FIRST_AMPLITUDE, 3},
    {"shm_coeff", HARMONICS, 4},
};

/* The unit vector of a fibre along the image's axes; returns its amplitude, 0 when there is none. */
static double fiber_at(const pam *p, size_t voxel, size_t fiber, double unit[3])
{
    const float *v = p->fibers->peaks + 3 * (voxel * (size_t)p->fibers->max_fibers + fiber);
    double length = sqrt((double)v[0] * v[0] + (double)v[1] * v[1] + (double)v[2] * v[2]);
    for (int a = 0; a < 3; a++)
        unit[a] = length > 0 ? (p->axes[a][0] * v[0] + p->axes[a][1] * v[1] + p->axes[a][2] * v[2]) / length : 0;
    return length;
}

/* The coefficients of a voxel's fibres along the image's axes. */
static void harmonics_at(const pam *p, size_t voxel, float *to)
{
    float ours[HOT_LOBES_TERMS];
    if (p->fibers->counts[voxel] == 0) {
        memset(to, 0, sizeof ours);
        return;
    }
    (void)hot_lobe_sum(&p->lobe, p->axes, p->fibers->peaks + 3 * voxel * (size_t)p->fibers->max_fibers,
                       p->fibers->counts[voxel], ours);
    for (size_t k = 0; k < HOT_LOBES_TERMS; k++)
        to[p->place[k]] = (float)p->sign[k] * ours[k];
}

static int32_t nearest_vertex(const pam *p, const double unit[3])
{
    size_t best = 0;
    double most = -2;
    for (size_t i = 0; i < p->vertex_count; i++) {
        double dot = p->vertices[i][0] * unit[0] + p->vertices[i][1] * unit[1] + p->vertices[i][2] * unit[2];
        if (dot > most)
            most = dot, best = i;
    }
    return (int32_t)best;
}

/* The voxels (i, 0..., 0...) of one set, k fastest: HDF5 in C order as numpy has it. */
static void fill_slab(const pam *p, enum field field, size_t i, hot_context *context)
{
    const hot_grid *grid = &p->fibers->grid;
    const size_t fibers = (size_t)p->fibers->max_fibers, slices = grid->size[2], columns = grid->size[1] * slices;
#pragma omp parallel for num_threads(hot_team(hot_context_threads(context))) schedule(static)
    for (size_t at = 0; at < columns; at++) {
        if (hot_context_cancelled(context))
            continue;
        const size_t voxel = i + grid->size[0] * (at / slices + grid->size[1] * (at % slices));
        if (field == HARMONICS)
            harmonics_at(p, voxel, p->values + at * HOT_LOBES_TERMS);
        for (size_t fiber = 0; fiber < fibers && field != HARMONICS; fiber++) {
            double unit[3], amplitude = fiber_at(p, voxel, fiber, unit);
            if (field == DIRECTIONS)
                for (size_t a = 0; a < 3; a++)
                    p->values[3 * (at * fibers + fiber) + a] = (float)unit[a];
            else if (field == AMPLITUDES)
                p->values[at * fibers + fiber] = (float)amplitude;
            else if (field == INDICES)
                p->indices[at * fibers + fiber] = amplitude > 0 ? nearest_vertex(p, unit) : -1;
            else if (fiber == 0)
                p->values[at] = (float)amplitude;
        }
    }
}

static int put_set(const pam *p, const struct set *set, hot_context *context)
{
    const size_t *size = p->fibers->grid.size;
    const hsize_t row = set->field == HARMONICS ? HOT_LOBES_TERMS : (hsize_t)p->fibers->max_fibers;
    const hsize_t sizes[5] = {size[0], size[1], size[2], row, 3};
    hsize_t start[5] = {0}, slab[5];
    memcpy(slab, sizes, sizeof slab);
    slab[0] = 1;
    const int whole = set->field == INDICES;
    hid_t type = whole ? H5T_NATIVE_INT32 : H5T_NATIVE_FLOAT;
    hid_t space = H5Screate_simple(set->rank, sizes, NULL), memory = H5Screate_simple(set->rank, slab, NULL);
    hid_t layout = H5P_DEFAULT;
    if (set->field == HARMONICS) { /* thirty times as much as the directions, and mostly 0: packed */
        layout = H5Pcreate(H5P_DATASET_CREATE);
        H5Pset_chunk(layout, set->rank, slab);
        H5Pset_deflate(layout, 1);
    }
    hid_t data = H5Dcreate2(p->group, set->name, whole ? H5T_STD_I32LE : H5T_IEEE_F32LE, space, H5P_DEFAULT, layout,
                            H5P_DEFAULT);
    if (layout != H5P_DEFAULT)
        H5Pclose(layout);
    int done = data >= 0;
    for (size_t i = 0; done && i < size[0]; i++) {
        start[0] = i;
        fill_slab(p, set->field, i, context);
        done = !hot_context_cancelled(context) &&
               H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, slab, NULL) >= 0 &&
               H5Dwrite(data, type, memory, space, H5P_DEFAULT, whole ? (void *)p->indices : p->values) >= 0;
    }
    if (data >= 0)
        H5Dclose(data);
    H5Sclose(memory);
    H5Sclose(space);
    return done;
}

/* The matrix from coefficients to values at the vertices: coefficients x vertices. */
static int put_basis(const pam *p)
{
    const hsize_t sizes[2] = {HOT_LOBES_TERMS, p->vertex_count};
    double ours[HOT_LOBES_TERMS];
    double *matrix = hot_context_alloc(p->fibers->context, p->vertex_count, HOT_LOBES_TERMS * sizeof *matrix);
    if (!matrix)
        return 0;
    for (size_t v = 0; v < p->vertex_count; v++) {
        hot_sh_values_f64(HOT_LOBES_LMAX, 1, p->vertices[v], ours);
        for (size_t k = 0; k < HOT_LOBES_TERMS; k++)
            matrix[p->place[k] * p->vertex_count + v] = p->sign[k] * ours[k];
    }
    const int done = put_array(p->group, "B", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 2, sizes, matrix);
    hot_context_free(p->fibers->context, matrix);
    return done;
}

static int put_all(pam *p, hid_t file, hot_context *context)
{
    double ras[3][4], affine[4][4] = {{0}};
    const double weight = 0.5, angle = 60; /* EuDX's defaults */
    const hsize_t four[2] = {4, 4}, one[1] = {1}, vertices[2] = {p->vertex_count, 3};
    hot_grid_to_ras(&p->fibers->grid, ras);
    memcpy(affine, ras, sizeof ras);
    affine[3][3] = 1;
    int done = put_version(file);
    p->group = done ? H5Gcreate2(file, "pam", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) : -1;
    done = p->group >= 0 && put_array(p->group, "affine", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 2, four, affine) &&
           put_array(p->group, "sphere_vertices", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 2, vertices, p->vertices) &&
           put_array(p->group, "total_weight", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 1, one, &weight) &&
           put_array(p->group, "ang_thr", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 1, one, &angle);
    if (done)
        done = put_basis(p);
    for (size_t s = 0; done && s < sizeof sets / sizeof sets[0]; s++)
        done = put_set(p, &sets[s], context);
    if (p->group >= 0)
        H5Gclose(p->group);
    return done;
}

/* The whole file in memory: HDF5's own writing to a disk that is full leaves the library in a state that
 * crashes at exit. */
static hot_status make_image(hot_context *context, pam *p, const char *path, void **image, size_t *bytes)
{
    enum { STEP = 1 << 20 };
    hot_status status = HOT_OK;
    H5E_auto2_t report;
    void *report_data;
    H5Eget_auto2(H5E_DEFAULT, &report, &report_data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* HDF5 says nothing; we do */
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(access, STEP, 0);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    ssize_t size = -1;
    if (file >= 0 && put_all(p, file, context) && H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0)
        size = H5Fget_file_image(file, NULL, 0);
    if (size > 0) {
        *bytes = (size_t)size;
        *image = hot_context_alloc(context, *bytes, 1);
        if (!*image)
            status = HOT_ERROR_MEMORY;
        else if (H5Fget_file_image(file, *image, *bytes) != size)
            size = -1;
    }
    if (status == HOT_OK && size <= 0)
        status = hot_context_check(context, "writing");
    if (status == HOT_OK && size <= 0)
        status = hot_context_fail(context, HOT_ERROR_MEMORY, "HDF5 could not put '%s' together in memory", path);
    if (file >= 0)
        H5Fclose(file);
    H5Pclose(access);
    H5Eset_auto2(H5E_DEFAULT, report, report_data);
    return status;
}

hot_status hot_write_pam5(hot_context *context, const hot_fiber_field *fibers, const char *path)
{
    HOT_ENTRY(context);
    pam p = {.fibers = fibers, .vertex_count = hot_sphere_vertices(LEVEL)};
    hot_output output = {0};
    FILE *file = NULL;
    void *image = NULL;
    size_t bytes = 0;
    double frame[3][3];
    const hot_grid *grid = &fibers->grid;
    const size_t row = grid->size[1] * grid->size[2];
    hot_status status = HOT_ERROR_MEMORY;
    hot_grid_image_axes(grid, frame);
    for (int a = 0; a < 3; a++)
        for (int d = 0; d < 3; d++)
            p.axes[a][d] = frame[d][a];
    hot_lobe_make(&p.lobe);
    hot_sh_basis_map(HOT_SH_DESCOTEAUX07_LEGACY, HOT_LOBES_LMAX, p.place, p.sign);
    p.vertices = hot_context_alloc(context, p.vertex_count, sizeof *p.vertices);
    const size_t most = 3 * (size_t)fibers->max_fibers;
    p.values = hot_context_alloc(context, row, (most > HOT_LOBES_TERMS ? most : HOT_LOBES_TERMS) * sizeof *p.values);
    p.indices = hot_context_alloc(context, row, (size_t)fibers->max_fibers * sizeof *p.indices);
    if (!p.vertices || !p.values || !p.indices)
        goto cleanup;
    status = hot_hdf5_load(context);
    if (status == HOT_OK)
        status = hot_sphere_make(context, LEVEL, p.vertices, NULL);
    if (status == HOT_OK)
        status = hot_output_begin(context, path, &output);
    if (status == HOT_OK)
        status = make_image(context, &p, path, &image, &bytes);
    if (status == HOT_OK)
        status = hot_output_file(context, &output, &file);
    errno = 0;
    if (status == HOT_OK && fwrite(image, 1, bytes, file) != bytes && !hot_context_cancelled(context))
        status = hot_context_fail(context, HOT_ERROR_FILE, "cannot write '%s': %s", path,
                                  errno ? strerror(errno) : "write error");
cleanup:
    status = hot_output_end(context, &output, status);
    HOT_FREE(context, image, p.vertices, p.values, p.indices);
    return status;
}
