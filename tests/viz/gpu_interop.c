/* Tensors passed from CUDA to OpenGL against the same tensors in host memory: equal radii, rows and pictures. Skipped
 * (77) without a card for both.
 *
 *   test_viz_interop [GLYPHS]     with a number: also prints the time to the first picture of this number of glyphs */
#include <cuda_runtime_api.h>

#include "common/timing.h"
#include "check.h"
#include "bench/viz/view_bench.h"

enum { SIDE = 500 };

/* The same scene with its tensors on the card; the caller frees *there. */
static hot_scene *device_scene(hot_context *context, const hot_scene *from, float **there)
{
    const size_t bytes = from->voxels * (1 + hot_symtensor_count(from->order, 3)) * sizeof(float);
    hot_scene_parts parts = {.grid = from->grid, .order = from->order, .diffusion = from->diffusion};
    hot_scene *scene = NULL;
    *there = NULL;
    if (cudaMalloc((void **)there, bytes) != cudaSuccess ||
        cudaMemcpy(*there, from->tensors, bytes, cudaMemcpyHostToDevice) != cudaSuccess) {
        CHECK(0, "%zu bytes on the card: %s", bytes, cudaGetErrorString(cudaGetLastError()));
        return NULL;
    }
    parts.device_tensors = *there;
    CHECK(hot_scene_create(context, &parts, &scene) == HOT_OK, "%s", hot_context_message(context));
    return scene;
}

static void compare_values(const hot_scene *host, const hot_scene *device)
{
    const size_t row = 1 + hot_symtensor_count(host->order, 3);
    size_t other = 0;
    for (size_t v = 0; v < host->voxels; v++)
        other += !(fabsf(host->radius[v] - device->radius[v]) <= 1e-6f * host->radius[v]);
    CHECK(other == 0, "order %d: %zu of %zu radii differ", host->order, other, host->voxels);
    for (size_t v = 0; v < host->voxels; v += host->voxels / 7) {
        float room[1 + HOT_GLYPH_TERMS];
        const float *a = host->tensors + v * row, *b = hot_scene_row(device, v, room);
        CHECK(b && memcmp(a, b, row * sizeof *a) == 0, "order %d: row %zu", host->order, v);
    }
}

static hot_status draw(hot_renderer *renderer, hot_headless *headless, const hot_scene *scene,
                       const hot_view_state *state, uint8_t *rgb)
{
    hot_status status = hot_renderer_draw(renderer, scene, state, SIDE, SIDE, NULL);
    hot_headless_resolve(headless);
    return status == HOT_OK ? hot_renderer_read(renderer, SIDE, SIDE, 3, rgb) : status;
}

static void compare_pictures(hot_context *context, hot_renderer *renderer, hot_headless *headless, int order, int cube)
{
    static uint8_t rgb[2][3 * SIDE * SIDE];
    float *tensors = NULL, *there = NULL;
    hot_scene *host = NULL;
    CHECK(hot_bench_field(context, cube ? 1000 : 900, order, cube, &tensors, &host) == HOT_OK, "%s",
          hot_context_message(context));
    if (!host)
        return;
    const size_t row = 1 + hot_symtensor_count(order, 3);
    tensors[5 * row] = 0;           /* confidence 0 */
    tensors[6 * row + 2] = NAN;
    for (size_t t = 1; t < row; t++)
        tensors[7 * row + t] = 0;
    hot_scene_parts parts = {.grid = host->grid, .order = order, .diffusion = 1, .tensors = tensors};
    hot_scene_destroy(&host);
    CHECK(hot_scene_create(context, &parts, &host) == HOT_OK, "%s", hot_context_message(context));
    hot_scene *device = device_scene(context, host, &there);
    if (device)
        compare_values(host, device);
    for (int variant = 0; variant < 4 && device; variant++) {
        hot_view_state state;
        size_t seen = 0, other = 0;
        hot_view_state_default(&state);
        state.raster = HOT_RASTER_GPU;
        state.show_image = variant == 3;
        state.mode = cube ? HOT_VIEW_SPACE : HOT_VIEW_SINGLE;
        state.extent = HOT_EXTENT_VOLUME;
        state.normalise = variant == 1;
        state.threshold = variant == 2 ? 0.8 : 0;
        CHECK(hot_view_state_resolve(context, host, &state) == HOT_OK, "%s", hot_context_message(context));
        CHECK(draw(renderer, headless, host, &state, rgb[0]) == HOT_OK, "%s", hot_context_message(context));
        CHECK(draw(renderer, headless, device, &state, rgb[1]) == HOT_OK, "%s", hot_context_message(context));
        for (size_t p = 0; p < 3 * SIDE * SIDE; p++) {
            seen += rgb[0][p] != 0;
            other += rgb[0][p] != rgb[1][p];
        }
        CHECK(seen > SIDE * SIDE / 10, "order %d, variant %d: %zu bytes are not black", order, variant, seen);
        CHECK(other == 0, "order %d, %s, variant %d: %zu of %d bytes differ", order, cube ? "cube" : "slice", variant,
              other, 3 * SIDE * SIDE);
    }
    hot_scene_destroy(&host);
    hot_scene_destroy(&device);
    hot_context_free(context, tensors);
    cudaFree(there);
}

/* Prints the seconds until the first picture, from host memory and from the card. */
static void time_first(hot_context *context, hot_renderer *renderer, size_t glyphs)
{
    float *tensors = NULL, *there = NULL;
    hot_scene *host = NULL, *device = NULL;
    hot_view_state state;
    if (hot_bench_field(context, glyphs, 6, 0, &tensors, &host) != HOT_OK)
        return;
    hot_view_state_default(&state);
    state.show_image = 0;
    state.raster = HOT_RASTER_GPU;
    hot_view_state_resolve(context, host, &state);
    device = device_scene(context, host, &there);
    hot_scene_destroy(&device);
    for (int round = 0; round < 3; round++)
        for (int on_card = 0; on_card < 2; on_card++) {
            hot_scene *scene = NULL;
            hot_scene_parts parts = {.grid = host->grid, .order = 6};
            *(on_card ? &parts.device_tensors : &parts.tensors) = on_card ? there : tensors;
            const double start = seconds_now();
            hot_status status = hot_scene_create(context, &parts, &scene);
            const double measured = seconds_now();
            if (status == HOT_OK)
                status = hot_renderer_draw(renderer, scene, &state, SIDE, SIDE, NULL);
            cudaDeviceSynchronize();
            if (round)
                printf("%zu glyphs of order 6, tensors %s: measured %.1f ms, first picture %.1f ms later%s\n", glyphs,
                       on_card ? "on the card" : "in host memory", 1000 * (measured - start),
                       1000 * (seconds_now() - measured), status == HOT_OK ? "" : " FAILED");
            hot_scene_destroy(&scene);
        }
    hot_scene_destroy(&host);
    hot_context_free(context, tensors);
    cudaFree(there);
}

int main(int argc, char **argv)
{
    hot_context *context = NULL;
    hot_headless *headless = NULL;
    hot_renderer *renderer = NULL;
    int cards = 0;
    if (hot_context_create(NULL, &context) != HOT_OK)
        return 1;
    if (cudaGetDeviceCount(&cards) != cudaSuccess || cards == 0 || hot_headless_create(context, &headless) != HOT_OK ||
        hot_render_in_software()) {
        printf("skipped: no card that CUDA and OpenGL both use\n");
        hot_headless_destroy(&headless);
        hot_context_destroy(&context);
        return 77;
    }
    CHECK(hot_headless_resize(headless, SIDE, SIDE, 1) == HOT_OK && hot_headless_add_depth(headless) == HOT_OK &&
              hot_renderer_create(context, &renderer) == HOT_OK, "%s", hot_context_message(context));
    for (int order = 2; order <= 8 && renderer; order += 2)
        for (int cube = 0; cube < 2; cube++)
            compare_pictures(context, renderer, headless, order, cube);
    if (argc > 1 && renderer)
        time_first(context, renderer, (size_t)strtoull(argv[1], NULL, 10));
    /* a host pointer is an error, not a crash */
    float row[7] = {1, 1, 0, 0, 1, 0, 1};
    hot_scene *scene = NULL;
    const hot_scene_parts parts = {.grid = {{1, 1, 1}, {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}, HOT_SPACE_RAS},
                                   .order = 2, .device_tensors = row};
    CHECK(hot_scene_create(context, &parts, &scene) == HOT_ERROR_DEVICE && !scene, "%s", hot_context_message(context));
    hot_renderer_destroy(&renderer);
    hot_headless_destroy(&headless);
    hot_context_destroy(&context);
    HOT_TEST_END();
}
