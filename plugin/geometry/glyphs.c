/* Tensors as surfaces. */
#include <math.h>
#include <stdlib.h>

#include "common/arguments.h"
#include "common/compare.h"
#include "common/options.h"
#include "core/fields.h"
#include "common/entry.h"
#include "sphere.h"

struct hot_glyphs {
    hot_context *context;
    const hot_tensor_field *tensors;
    size_t count;               /* of glyphs: voxels with a tensor */
    size_t vertices, triangles; /* of each */
    double (*directions)[3];    /* unit, in the tensors' world */
    uint32_t (*faces)[3];
    uint8_t (*colors)[3];
    double *forms;              /* vertices x unique values: what each value adds to the radius */
    double sign[3];             /* from the field's world to the output space */
    double scale;               /* mm per unit of the form */
};

enum { MAX_LEVEL = 3 }; /* 642 vertices, 1280 triangles */

/* Whether a voxel has a glyph. */
static int glyph_there(const hot_glyphs *glyphs, size_t voxel)
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

/* The 95th percentile of the glyphs' largest radii (of a sample of them) becomes .45 of the smallest
 * side of a voxel. */
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
        if (glyph_there(glyphs, voxel) && seen++ % step == 0) {
            largest[taken] = 0;
            for (size_t vertex = 0; vertex < glyphs->vertices; vertex++)
                largest[taken] = fmax(largest[taken], radius_at(glyphs, voxel, vertex));
            taken++;
        }
    qsort(largest, taken, sizeof *largest, hot_ascending_f64);
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
                    product *= glyphs->directions[vertex][d];
            glyphs->forms[vertex * terms + i] = product;
        }
    HOT_FREE(context, exponents, multiplicity);
    return status;
}

hot_status hot_glyphs_create(hot_context *context, const hot_tensor_field *tensors, hot_space space,
                             hot_glyphs **glyphs)
{
    HOT_ENTRY(context);
    HOT_CLEAR(glyphs);
    HOT_NEED(context, tensors, glyphs);
    HOT_TRY(hot_option_choice(context, "space", (int)space, HOT_SPACE_LPS + 1));
    const size_t voxels = hot_grid_voxels(&tensors->grid), terms = hot_symtensor_count(tensors->order, 3);
    double to[3];
    hot_status status = HOT_ERROR_MEMORY;
    hot_glyphs *made = hot_context_calloc(context, 1, sizeof *made);
    if (!made)
        goto cleanup;
    made->context = context;
    made->tensors = tensors;
    for (size_t voxel = 0; voxel < voxels; voxel++)
        made->count += (size_t)glyph_there(made, voxel);
    const int level = made->count <= 2000 ? MAX_LEVEL : made->count <= 50000 ? 2 : 1;
    made->vertices = hot_sphere_vertices(level);
    made->triangles = hot_sphere_triangles(level);
    hot_space_ras_sign(tensors->grid.space, made->sign);
    hot_space_ras_sign(space, to);
    for (int d = 0; d < 3; d++)
        made->sign[d] *= to[d];
    made->directions = hot_context_alloc(context, made->vertices, sizeof *made->directions);
    made->forms = hot_context_alloc(context, made->vertices, terms * sizeof *made->forms);
    made->faces = hot_context_alloc(context, made->triangles, sizeof *made->faces);
    made->colors = hot_context_alloc(context, made->vertices, sizeof *made->colors);
    if (!made->directions || !made->forms || !made->faces || !made->colors)
        goto cleanup;
    status = hot_sphere_make(context, level, made->directions, made->faces);
    if (status != HOT_OK)
        goto cleanup;
    /* a mirrored space turns triangles inside out */
    if (made->sign[0] * made->sign[1] * made->sign[2] < 0)
        for (size_t t = 0; t < made->triangles; t++) {
            uint32_t swapped = made->faces[t][1];
            made->faces[t][1] = made->faces[t][2];
            made->faces[t][2] = swapped;
        }
    for (size_t vertex = 0; vertex < made->vertices; vertex++)
        for (int d = 0; d < 3; d++) /* |x| |y| |z|: the same in every space */
            made->colors[vertex][d] = (uint8_t)lround(255 * fabs(made->directions[vertex][d]));
    status = fill_forms(context, made);
    if (status == HOT_OK)
        status = find_scale(context, made);
    if (status != HOT_OK)
        goto cleanup;
    *glyphs = made;
    made = NULL;
cleanup:
    hot_glyphs_destroy(&made);
    return status;
}

void hot_glyphs_destroy(hot_glyphs **glyphs)
{
    HOT_DESTROY_BEGIN(hot_glyphs, glyphs);
    HOT_FREE(gone->context, gone->directions, gone->forms, gone->faces, gone->colors, gone);
}

size_t hot_glyphs_count(const hot_glyphs *glyphs) { return glyphs ? glyphs->count : 0; }

size_t hot_glyphs_vertices(const hot_glyphs *glyphs) { return glyphs ? glyphs->vertices : 0; }

size_t hot_glyphs_triangles(const hot_glyphs *glyphs) { return glyphs ? glyphs->triangles : 0; }

const uint32_t *hot_glyphs_faces(const hot_glyphs *glyphs) { return glyphs ? glyphs->faces[0] : NULL; }

const uint8_t *hot_glyphs_colors(const hot_glyphs *glyphs) { return glyphs ? glyphs->colors[0] : NULL; }

int hot_glyphs_surface(const hot_glyphs *glyphs, size_t voxel, float *positions)
{
    HOT_ENTRY(NULL);
    if (!glyphs || !positions || voxel >= hot_grid_voxels(&glyphs->tensors->grid) || !glyph_there(glyphs, voxel))
        return 0;
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
                (float)(glyphs->sign[d] * (center[d] + radius * glyphs->directions[vertex][d]));
    }
    return 1;
}
