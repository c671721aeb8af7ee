/* One number per voxel from its tensor: what other tools call FA, MD, AFD and NuFO. */
#include <math.h>
#include <string.h>

#include "common/arguments.h"
#include "core/fields.h"
#include "common/entry.h"
#include "geometry/sphere.h"
#include "model/model.h"

/* NuFO's definition (Dell'Acqua et al. 2013; scilpy's fodf metrics): maxima at least 25 degrees apart, five at most,
 * whose height above the lowest amplitude (or 0, where that is negative) is at least a tenth of the largest's. */
static const double nufo_angle = 25, nufo_height = 0.1;
enum { MAX_NUFO = 5, LEVEL = 3, VERTICES = 642 };

typedef struct measure {
    const hot_tensor_field *tensors;
    size_t terms;
    double to_sh[HOT_MODEL_TERMS_MAX * HOT_MODEL_TERMS_MAX];
    const hot_fiber_field *maxima;   /* NULL unless requested */
    double (*sphere)[3];             /* likewise: half of it holds all values of the form */
    size_t vertices;
} measure;

/* ---- Order 2 ----------------------------------------------------------------------------------------------- */

static double md(const measure *m, size_t voxel, const float *t)
{
    (void)m, (void)voxel;
    return ((double)t[0] + t[3] + t[5]) / 3;
}

/* sqrt(3/2) |D - MD 1| / |D|, at most 1: noise can make an eigenvalue negative. */
static double fa(const measure *m, size_t voxel, const float *t)
{
    const double mean = md(m, voxel, t), x = t[0] - mean, y = t[3] - mean, z = t[5] - mean;
    const double off = 2 * ((double)t[1] * t[1] + (double)t[2] * t[2] + (double)t[4] * t[4]);
    const double norm = (double)t[0] * t[0] + (double)t[3] * t[3] + (double)t[5] * t[5] + off;
    return norm > 0 ? fmin(1, sqrt(1.5 * (x * x + y * y + z * z + off) / norm)) : 0;
}

/* ---- fODF -------------------------------------------------------------------------------------------------- */

static double harmonic(const measure *m, size_t i, const float *t)
{
    double sum = 0;
    for (size_t j = 0; j < m->terms; j++)
        sum += m->to_sh[i * m->terms + j] * (double)t[j];
    return sum;
}

static double afd_total(const measure *m, size_t voxel, const float *t)
{
    (void)voxel;
    return harmonic(m, 0, t);
}

static double afd_sum(const measure *m, size_t voxel, const float *t)
{
    double sum = 0;
    (void)voxel;
    for (size_t i = 0; i < m->terms; i++) {
        const double c = harmonic(m, i, t);
        sum += c * c;
    }
    return sqrt(sum);
}

static double height(const measure *m, size_t voxel, size_t number)
{
    const float *v = m->maxima->peaks + 3 * (voxel * (size_t)m->maxima->max_fibers + number);
    return sqrt((double)v[0] * v[0] + (double)v[1] * v[1] + (double)v[2] * v[2]);
}

static double afd_max(const measure *m, size_t voxel, const float *t)
{
    (void)t;
    return height(m, voxel, 0);
}

static double nufo(const measure *m, size_t voxel, const float *t)
{
    const double highest = height(m, voxel, 0);
    double tensor[HOT_MODEL_TERMS_MAX], values[VERTICES], lowest = INFINITY;
    int count = 0;
    if (!(highest > 0))
        return 0;
    for (size_t i = 0; i < m->terms; i++)
        tensor[i] = t[i];
    hot_symtensor_values_f64(m->tensors->order, 3, tensor, m->vertices, m->sphere[0], values);
    for (size_t i = 0; i < m->vertices; i++)
        lowest = fmin(lowest, values[i]);
    lowest = fmax(lowest, 0);
    for (size_t f = 0; f < MAX_NUFO; f++)
        count += height(m, voxel, f) > 0 && height(m, voxel, f) >= lowest + nufo_height * (highest - lowest);
    return count;
}

/* ---- All of them ------------------------------------------------------------------------------------------- */

static const struct map {
    const char *name, *model;
    int order; /* 0 = any */
    int of_maxima;
    double (*value)(const measure *m, size_t voxel, const float *tensor);
} maps[] = {
    {"fa", "adc", 2, 0, fa},
    {"md", "adc", 2, 0, md},
    {"afd_total", "fod", 0, 0, afd_total},
    {"afd_sum", "fod", 0, 0, afd_sum},
    {"afd_max", "fod", 0, 1, afd_max},
    {"nufo", "fod", 0, 1, nufo},
};
enum { MAPS = sizeof maps / sizeof *maps };

static hot_status find_map(hot_context *context, const hot_tensor_field *tensors, const char *name,
                           const struct map **map)
{
    for (int i = 0; i < MAPS; i++)
        if (strcmp(maps[i].name, name) == 0)
            *map = &maps[i];
    if (!*map)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "there is no map '%s' of tensors", name);
    if (strcmp(tensors->model, (*map)->model) != 0)
        return hot_context_fail(context, HOT_ERROR_DATA, "%s is a map of the model %s; these tensors are of the model "
                                "%s", name, (*map)->model, tensors->model);
    if ((*map)->order && tensors->order != (*map)->order)
        return hot_context_fail(context, HOT_ERROR_DATA, "%s is a map of tensors of order %d, not %d (`hotfiber fit "
                                "--model %s --order %d`)", name, (*map)->order, tensors->order, (*map)->model,
                                (*map)->order);
    return HOT_OK;
}

hot_status hot_tensor_field_map(hot_context *context, const hot_tensor_field *tensors, const char *name, float *values)
{
    HOT_ENTRY(context);
    HOT_NEED(context, tensors, name, values);
    const struct map *map = NULL;
    hot_fiber_field *maxima = NULL;
    const size_t voxels = hot_grid_voxels(&tensors->grid);
    measure m = {.tensors = tensors, .terms = hot_symtensor_count(tensors->order, 3),
                 .vertices = hot_sphere_vertices(LEVEL)};
    hot_status status = find_map(context, tensors, name, &map);
    if (status == HOT_OK)
        status = hot_symtensor_to_sh(context, tensors->order, m.to_sh);
    if (status == HOT_OK && map->of_maxima) {
        const hot_peaks_options options = {.size = sizeof options, .method = "maxima", .max_fibers = MAX_NUFO,
                                           .threshold = HOT_ZERO, .min_angle = nufo_angle,
                                           .min_amplitude = HOT_ZERO};
        m.sphere = hot_context_alloc(context, m.vertices, sizeof *m.sphere);
        status = m.sphere ? hot_sphere_make(context, LEVEL, m.sphere, NULL) : HOT_ERROR_MEMORY;
        if (status == HOT_OK)
            status = hot_fiber_field_find(context, tensors, &options, &maxima);
        m.maxima = maxima;
    }
    const int threads = hot_context_threads(context);
#pragma omp parallel for num_threads(hot_team(status == HOT_OK ? threads : 1)) schedule(static)
    for (size_t voxel = 0; voxel < voxels; voxel++) {
        const float *row = tensors->values + voxel * (m.terms + 1);
        if (status == HOT_OK && !hot_context_cancelled(context))
            values[voxel] = row[0] > 0 ? (float)map->value(&m, voxel, row + 1) : 0;
    }
    if (status == HOT_OK)
        status = hot_context_check(context, name);
    hot_fiber_field_destroy(&maxima);
    hot_context_free(context, m.sphere);
    return status;
}
