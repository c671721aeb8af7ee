/* Small scenes with known content. */
#pragma once


#include "check.h"
#include "scene/scene.h"

/* The scene of these parts; NULL and a failed check on errors. */
static inline hot_scene *scene_make(hot_context *context, const hot_scene_parts *parts)
{
    hot_scene *scene = NULL;
    CHECK(hot_scene_create(context, parts, &scene) == HOT_OK, "%s", hot_context_message(context));
    return scene;
}

/* main() of a test: runs a NULL-terminated list of functions with one context; returns the exit status. */
static inline int scene_run_tests(void (*const *test)(hot_context *))
{
    hot_context *context;
    if (hot_context_create(NULL, &context) != HOT_OK)
        return 1;
    for (; *test; test++)
        (*test)(context);
    hot_context_destroy(&context);
    HOT_TEST_END();
}

/* Adds weight * (x . v)^order, the tensor of one straight fibre, to packed unique values. */
static inline void scene_add_fiber(int order, const double v[3], double weight, float *values)
{
    const size_t terms = hot_symtensor_count(order, 3);
    int *exponents = malloc(3 * terms * sizeof *exponents);
    if (!exponents || hot_symtensor_exponents(order, 3, exponents) != HOT_OK)
        abort();
    for (size_t t = 0; t < terms; t++)
        values[t] += (float)(weight * pow(v[0], exponents[3 * t]) * pow(v[1], exponents[3 * t + 1]) *
                             pow(v[2], exponents[3 * t + 2]));
    free(exponents);
}

/* A grid of nx x ny x nz voxels of 1 mm in RAS, centred at the origin. */
static inline hot_grid scene_grid(size_t nx, size_t ny, size_t nz)
{
    hot_grid grid = {{nx, ny, nz}, {{0}}, HOT_SPACE_RAS};
    for (int d = 0; d < 3; d++) {
        grid.to_world[d][d] = 1;
        grid.to_world[d][3] = -((double)grid.size[d] - 1) / 2;
    }
    return grid;
}

/* The same, rotated at random, with unequal spacings and either handedness; turn 0 is not rotated. */
static inline hot_grid scene_turned_grid(size_t nx, size_t ny, size_t nz, int turn, uint64_t *seed)
{
    hot_grid grid = scene_grid(nx, ny, nz);
    double x[3], y[3], z[3];
    if (turn == 0)
        return grid;
    check_random_axes(seed, x, y, z);
    const double hand = turn % 2 ? -1 : 1;
    for (int d = 0; d < 3; d++) {
        grid.to_world[d][0] = 1.5 * x[d];
        grid.to_world[d][1] = 2 * y[d];
        grid.to_world[d][2] = 2.5 * hand * z[d];
        grid.to_world[d][3] = 10 * check_random_normal(seed);
    }
    return grid;
}
