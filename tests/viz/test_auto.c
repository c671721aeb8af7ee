/* The choice of --raster auto: which drivers count as software, and what draws. */
#include "check.h"
#include "render/picture.h"
#include "scenes.h"

enum { SIDE = 120, BYTES = 3 * SIDE * SIDE };

static void test_software_names(hot_context *context)
{
    static const struct {
        const char *device; /* GL_RENDERER */
        int software;
    } cases[] = {{"llvmpipe (LLVM 15.0.6, 256 bits)", 1},
                 {"softpipe", 1},
                 {"Software Rasterizer", 1},
                 {"zink Vulkan 1.3(llvmpipe (LLVM 17.0.6, 256 bits) (MESA_LLVMPIPE))", 1},
                 {"D3D12 (Microsoft Basic Render Driver)", 1},
                 {"Google SwiftShader", 1},
                 {"NVIDIA H100 80GB HBM3/PCIe/SSE2", 0},
                 {"NVIDIA GeForce RTX 3060/PCIe/SSE2", 0},
                 {"AMD Radeon RX 6800 (radeonsi, navi21, LLVM 15.0.7, DRM 3.54)", 0},
                 {"Mesa Intel(R) UHD Graphics 620 (KBL GT2)", 0}};
    (void)context;
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
        CHECK(hot_renderer_is_software(cases[c].device) == cases[c].software, "%s", cases[c].device);
}

/* auto draws the CPU rasteriser's picture if OpenGL is software, else one of the GPU's. */
static void test_auto(hot_context *context)
{
    static uint8_t automatic[BYTES];
    hot_pictures *pictures = NULL;
    float row[46] = {1};
    hot_scene_parts parts = {.grid = scene_grid(1, 1, 1), .order = 8, .tensors = row};
    int same[HOT_RASTER_COMPUTE + 1] = {0};
    hot_view_state state;
    scene_add_fiber(8, (const double[3]){0.6, 0.8, 0}, 0.7, row + 1);
    hot_scene *scene = scene_make(context, &parts);
    hot_view_state_default(&state);
    state.show_crosshair = state.show_annotations = 0;
    CHECK(hot_pictures_create(context, SIDE, SIDE, 1, &pictures) == HOT_OK &&
              hot_view_state_resolve(context, scene, &state) == HOT_OK, "%s", hot_context_message(context));
    if (!pictures)
        return;
    for (state.raster = HOT_RASTER_AUTO; state.raster <= HOT_RASTER_COMPUTE; state.raster++) {
        const uint8_t *rgb = NULL;
        CHECK(hot_pictures_draw(pictures, scene, &state, &rgb) == HOT_OK, "%s", hot_context_message(context));
        if (!rgb)
            break;
        if (state.raster == HOT_RASTER_AUTO)
            memcpy(automatic, rgb, BYTES);
        same[state.raster] = memcmp(automatic, rgb, BYTES) == 0;
    }
    const char *device = hot_renderer_device(hot_pictures_renderer(pictures));
    const int software = hot_renderer_is_software(device);
    CHECK(same[HOT_RASTER_CPU] == software, "%s: auto and the CPU's picture", device);
    CHECK((same[HOT_RASTER_GPU] || same[HOT_RASTER_COMPUTE]) == !software, "%s: auto and the GPU's pictures", device);
    hot_pictures_destroy(&pictures);
    hot_scene_destroy(&scene);
}

int main(void)
{
    return scene_run_tests((void (*const[])(hot_context *)){test_software_names, test_auto, NULL});
}
