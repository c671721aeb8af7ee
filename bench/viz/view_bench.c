/* See view_bench.h. */
#include "view_bench.h"

#include <math.h>
#include <stdio.h>

#include <epoxy/gl.h>

#include "common/timing.h"

/* splitmix64: the same field everywhere */
static double uniform(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* One fibre (v . x)^order of weight w, added to a tensor. */
static void add_fiber(int terms, const int *exponents, const double v[3], double w, float *values)
{
    for (int t = 0; t < terms; t++) {
        double product = w;
        for (int d = 0; d < 3; d++)
            for (int e = 0; e < exponents[3 * t + d]; e++)
                product *= v[d];
        values[t] += (float)product;
    }
}

hot_status hot_bench_field(hot_context *context, size_t glyphs, int order, int volume, float **tensors,
                           hot_scene **scene)
{
    const int terms = (int)hot_symtensor_count(order, 3);
    const size_t side = (size_t)ceil(volume ? cbrt((double)glyphs) - 1e-9 : sqrt((double)glyphs) - 1e-9);
    hot_scene_parts parts = {.grid = {{side, side, volume ? side : 1}, {{0}}, HOT_SPACE_RAS}, .order = order};
    int exponents[3 * 45];
    uint64_t seed = 1;
    *scene = NULL;
    hot_status status = hot_symtensor_exponents(order, 3, exponents);
    *tensors = status == HOT_OK ? hot_context_calloc(context, side * side * parts.grid.size[2],
                                                     (size_t)(terms + 1) * sizeof **tensors)
                                : NULL;
    if (!*tensors)
        return status == HOT_OK ? HOT_ERROR_MEMORY : status;
    for (int d = 0; d < 3; d++)
        parts.grid.to_world[d][d] = 2;
    for (size_t g = 0; g < glyphs && g < side * side * parts.grid.size[2]; g++) {
        float *row = *tensors + g * (size_t)(terms + 1);
        row[0] = 1;
        const int fibers = 1 + (int)(3 * uniform(&seed));
        for (int f = 0; f < fibers; f++) {
            const double z = 2 * uniform(&seed) - 1, angle = 6.283185307179586 * uniform(&seed),
                         across = sqrt(1 - z * z);
            add_fiber(terms, exponents, (const double[3]){across * cos(angle), across * sin(angle), z},
                      0.5 + 0.5 * uniform(&seed), row + 1);
        }
    }
    parts.tensors = *tensors;
    return hot_scene_create(context, &parts, scene);
}

static hot_status write_ppm(hot_context *context, hot_renderer *renderer, int width, int height, const char *path)
{
    const size_t bytes = 3 * (size_t)width * (size_t)height;
    uint8_t *rgb = hot_context_alloc(context, bytes, 1);
    FILE *file = NULL;
    hot_status status = rgb ? hot_renderer_read(renderer, width, height, 3, rgb) : HOT_ERROR_MEMORY;
    if (status == HOT_OK && !(file = fopen(path, "wb")))
        status = hot_context_fail(context, HOT_ERROR_FILE, "cannot write '%s'", path);
    if (file) {
        int whole = fprintf(file, "P6 %d %d 255\n", width, height) > 0 && fwrite(rgb, 1, bytes, file) == bytes;
        if ((fclose(file) != 0) | !whole)
            status = hot_context_fail(context, HOT_ERROR_FILE, "cannot write '%s'", path);
    }
    hot_context_free(context, rgb);
    return status;
}

hot_status hot_bench_run(hot_context *context, const hot_scene *scene, const hot_view_state *state, int width,
                         int height, int samples, int frames, const char *path)
{
    hot_view_state turned = *state;
    hot_view_layout layout;
    hot_headless *headless = NULL;
    hot_renderer *renderer = NULL;
    const double begin = seconds_now();
    hot_status status = hot_headless_create(context, &headless);
    if (status == HOT_OK)
        status = hot_headless_resize(headless, width, height, samples);
    if (status == HOT_OK)
        status = hot_renderer_create(context, &renderer);
    if (status == HOT_OK && hot_renderer_needs_depth(renderer, scene, state))
        status = hot_headless_add_depth(headless);
    if (status == HOT_OK) /* uploads and compiles */
        status = hot_renderer_draw(renderer, scene, &turned, width, height, NULL);
    if (status == HOT_OK)
        hot_headless_resolve(headless);
    glFinish();
    const double start = seconds_now();
    for (int frame = 0; frame < frames && status == HOT_OK; frame++) {
        hot_view_lay_out(scene, &turned, width, height, &layout);
        hot_view_state_turn(&turned, &layout.viewport[0], frame % 40 < 20 ? 4 : -4, 0);
        status = hot_renderer_draw(renderer, scene, &turned, width, height, NULL);
        hot_headless_resolve(headless);
        glFinish(); /* as a window's swap would: no picture is skipped */
    }
    const double seconds = seconds_now() - start;
    if (status == HOT_OK) {
        const hot_render_counts *counts = hot_renderer_counts(renderer);
        printf("%s: %.1f frames/s, first after %.2f s, %zu glyphs, %zu sticks, %.0f triangles a glyph, %.3g a frame, "
               "%dx%d, %s\n",
               state->detail ? "fixed detail" : "level of detail", frames / seconds, start - begin, counts->glyphs,
               counts->sticks,
               counts->glyphs ? (double)(counts->triangles - 2 * counts->sticks) / (double)counts->glyphs : 0.,
               (double)counts->triangles, width, height, hot_renderer_device(renderer));
        if (fflush(stdout) != 0)
            status = hot_context_fail(context, HOT_ERROR_FILE, "cannot write to standard output");
    }
    if (status == HOT_OK && path)
        status = write_ppm(context, renderer, width, height, path);
    hot_renderer_destroy(&renderer);
    hot_headless_destroy(&headless);
    return status;
}
