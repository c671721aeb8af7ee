#include "export/glyphs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "export/sphere.h"

enum { LEVEL_MOST = 3 }; /* 642 vertices, 1280 triangles */

int hot_glyph_there(const hot_glyphs *glyphs, size_t voxel)
{
    const size_t terms = hot_symtensor_count(glyphs->tensors->order, 3);
    const float *row = glyphs->tensors->values + voxel * (terms + 1);
    if (!(row[0] > 0))
        return 0;
    for (size_t i = 1; i <= terms; i++)
        if (!isfinite(row[i]))
            return 0;
    return 1;
}

/* A x^m at a vertex. */
static double radius_at(const hot_glyphs *glyphs, size_t voxel, size_t vertex)
{
    const size_t terms = hot_symtensor_count(glyphs->tensors->order, 3);
    const float *tensor = glyphs->tensors->values + voxel * (terms + 1) + 1;
    const double *form = glyphs->forms + vertex * terms;
    double sum = 0;
    for (size_t i = 0; i < terms; i++)
        sum += form[i] * tensor[i];
    return sum;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The 95th percentile of the glyphs' largest radii (of a sample of them) becomes .45 of the smallest side of a voxel. */
static hot_status find_scale(hot_context *context, hot_glyphs *glyphs)
{
    enum { MOST = 4000 };
    const hot_grid *grid = &glyphs->tensors->grid;
    const size_t voxels = hot_grid_voxels(grid), step = glyphs->count / MOST + 1;
    double side = HUGE_VAL, *largest = hot_context_alloc(context, glyphs->count / step + 1, sizeof *largest);
    if (!largest)
        return HOT_ERROR_MEMORY;
    for (int axis = 0; axis < 3; axis++)
        side = fmin(side, sqrt(grid->to_world[0][axis] * grid->to_world[0][axis] +
                               grid->to_world[1][axis] * grid->to_world[1][axis] +
                               grid->to_world[2][axis] * grid->to_world[2][axis]));
    size_t seen = 0, taken = 0;
    for (size_t voxel = 0; voxel < voxels; voxel++)
        if (hot_glyph_there(glyphs, voxel) && seen++ % step == 0) {
            largest[taken] = 0;
            for (size_t vertex = 0; vertex < glyphs->vertices; vertex++)
                largest[taken] = fmax(largest[taken], radius_at(glyphs, voxel, vertex));
            taken++;
        }
    qsort(largest, taken, sizeof *largest, ascending);
    double full = taken ? largest[(size_t)(0.95 * (double)(taken - 1))] : 1;
    glyphs->scale = full > 0 ? 0.45 * side / full : 0;
    hot_context_free(context, largest);
    return HOT_OK;
}

static hot_status fill_forms(hot_context *context, hot_glyphs *glyphs)
{
    const int order = glyphs->tensors->order;
    const size_t terms = hot_symtensor_count(order, 3);
    int *exponents = hot_context_alloc(context, terms, 3 * sizeof *exponents);
    double *multiplicity = hot_context_alloc(context, terms, sizeof *multiplicity);
    hot_status status = exponents && multiplicity ? HOT_OK : HOT_ERROR_MEMORY;
    if (status == HOT_OK)
        status = hot_symtensor_exponents(order, 3, exponents);
    if (status == HOT_OK)
        status = hot_symtensor_multiplicity(order, 3, multiplicity);
    for (size_t vertex = 0; status == HOT_OK && vertex < glyphs->vertices; vertex++)
        for (size_t i = 0; i < terms; i++) {
            double product = multiplicity[i];
            for (size_t d = 0; d < 3; d++)
                for (int e = 0; e < exponents[3 * i + d]; e++)
                    product *= glyphs->directions[3 * vertex + d];
            glyphs->forms[vertex * terms + i] = product;
        }
    hot_context_free(context, exponents);
    hot_context_free(context, multiplicity);
    return status;
}

hot_status hot_glyphs_begin(hot_context *context, const hot_tensor_field *tensors, hot_space space, hot_glyphs *glyphs)
{
    const size_t voxels = hot_grid_voxels(&tensors->grid), terms = hot_symtensor_count(tensors->order, 3);
    double to[3];
    *glyphs = (hot_glyphs){.tensors = tensors};
    for (size_t voxel = 0; voxel < voxels; voxel++)
        glyphs->count += (size_t)hot_glyph_there(glyphs, voxel);
    const int level = glyphs->count <= 2000 ? LEVEL_MOST : glyphs->count <= 50000 ? 2 : 1;
    const size_t faces = hot_sphere_triangles(level);
    glyphs->vertices = hot_sphere_vertices(level);
    glyphs->triangles = faces;
    hot_space_ras_sign(tensors->grid.space, glyphs->sign);
    hot_space_ras_sign(space, to);
    for (int d = 0; d < 3; d++)
        glyphs->sign[d] *= to[d];
    glyphs->directions = hot_context_alloc(context, glyphs->vertices, 3 * sizeof *glyphs->directions);
    glyphs->forms = hot_context_alloc(context, glyphs->vertices, terms * sizeof *glyphs->forms);
    glyphs->faces = hot_context_alloc(context, faces, sizeof *glyphs->faces);
    hot_status status = HOT_ERROR_MEMORY;
    if (glyphs->directions && glyphs->forms && glyphs->faces)
        status = hot_sphere_make(context, level, (double(*)[3])(void *)glyphs->directions, glyphs->faces);
    if (status == HOT_OK) {
        /* a mirrored space turns triangles inside out */
        if (glyphs->sign[0] * glyphs->sign[1] * glyphs->sign[2] < 0)
            for (size_t t = 0; t < faces; t++) {
                uint32_t swapped = glyphs->faces[t][1];
                glyphs->faces[t][1] = glyphs->faces[t][2];
                glyphs->faces[t][2] = swapped;
            }
        status = fill_forms(context, glyphs);
        if (status == HOT_OK)
            status = find_scale(context, glyphs);
    }
    if (status != HOT_OK)
        hot_glyphs_end(context, glyphs);
    return status;
}

void hot_glyphs_end(hot_context *context, hot_glyphs *glyphs)
{
    hot_context_free(context, glyphs->directions);
    hot_context_free(context, glyphs->forms);
    hot_context_free(context, glyphs->faces);
    memset(glyphs, 0, sizeof *glyphs);
}

void hot_glyph_surface(const hot_glyphs *glyphs, size_t voxel, float *positions)
{
    const hot_grid *grid = &glyphs->tensors->grid;
    const double i = (double)(voxel % grid->size[0]), j = (double)(voxel / grid->size[0] % grid->size[1]);
    const double k = (double)(voxel / grid->size[0] / grid->size[1]);
    double center[3];
    for (int d = 0; d < 3; d++) {
        const double *m = grid->to_world[d];
        center[d] = m[0] * i + m[1] * j + m[2] * k + m[3];
    }
    for (size_t vertex = 0; vertex < glyphs->vertices; vertex++) {
        double radius = glyphs->scale * fmax(0, radius_at(glyphs, voxel, vertex));
        for (size_t d = 0; d < 3; d++)
            positions[3 * vertex + d] =
                (float)(glyphs->sign[d] * (center[d] + radius * glyphs->directions[3 * vertex + d]));
    }
}
