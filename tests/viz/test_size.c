/* Sizes of glyphs: determined by the voxels with fibres, not by noise; and which surfaces are drawn. */
#include "scenes.h"

#include "scene/glyph_set.h"
#include "scene/glyph_size.h"

enum { SIDE = 10, VOXELS = SIDE * SIDE, ORDER = 4, ROW = 16 };

static float rows[VOXELS][ROW], peaks[VOXELS][6];

/* Fibres of amplitudes .5 to 1 in 80 voxels, 5 of them with ten times as much noise; the other 20 have no fibre and a
 * surface of noise thirty times as large. */
static hot_scene *make(hot_context *context, int with_peaks, const uint8_t *mask)
{
    memset(rows, 0, sizeof rows);
    memset(peaks, 0, sizeof peaks);
    for (int v = 0; v < VOXELS; v++) {
        const double weight = v < 75 ? 0.5 + 0.5 * v / 74. : v < 80 ? 10 : 30, along[3] = {0.6, 0.8, 0};
        rows[v][0] = 1;
        scene_add_fiber(ORDER, along, weight, rows[v] + 1);
        for (int d = 0; d < 3 && v < 80; d++)
            peaks[v][d] = (float)(weight * along[d]);
    }
    const hot_scene_parts parts = {.grid = scene_grid(SIDE, SIDE, 1), .order = ORDER, .tensors = rows[0], .mask = mask,
                                   .max_fibers = with_peaks ? 2 : 0, .peaks = with_peaks ? peaks[0] : NULL};
    return scene_make(context, &parts);
}

/* Number of surfaces gathered from all voxels. */
static size_t gathered(hot_context *context, const hot_scene *scene, const hot_view_state *state)
{
    hot_surface_set set;
    uint32_t *voxels = hot_context_alloc(context, VOXELS, sizeof *voxels);
    for (uint32_t v = 0; voxels && v < VOXELS; v++)
        voxels[v] = v;
    CHECK(voxels && hot_surface_gather(context, scene, state, voxels, VOXELS, &set) == HOT_OK, "%s",
          hot_context_message(context));
    const size_t count = set.count;
    hot_surface_free(context, &set);
    return count;
}

static void test_sizes(hot_context *context)
{
    static uint8_t quiet[VOXELS];
    hot_view_state state;
    hot_view_state_default(&state);
    hot_scene *scene = make(context, 1, NULL);
    if (!scene)
        return;
    /* the upper quartile of 80: 59 are smaller */
    const double usual = 0.5 + 0.5 * 59 / 74.;
    CHECK_NEAR(scene->typical_radius, usual, 0.02, "surfaces");
    CHECK_NEAR(scene->typical_amplitude, usual, 0.01, "sticks");
    CHECK_NEAR(hot_scene_surface_mm(scene, &state, 30) * usual, 0.5, 0.02, "the usual one reaches its voxel's side");
    CHECK_NEAR(hot_scene_stick_mm(scene, &state, 30) * usual, 0.5, 0.01, "the usual stick too");
    for (size_t v = 0; v < VOXELS; v++) {
        CHECK(hot_scene_surface_mm(scene, &state, v) * (double)scene->radius[v] < 0.76, "surface %zu is too large", v);
        CHECK(hot_scene_surface_mm(scene, &state, v) * (double)scene->radius[v] <= hot_scene_largest_mm(scene, &state),
              "surface %zu reaches beyond the largest", v);
        CHECK(v >= 80 || hot_scene_stick_mm(scene, &state, v) * (v < 75 ? 1 : 10) < 0.76, "stick %zu is too long", v);
    }
    CHECK_NEAR(hot_scene_surface_mm(scene, &state, 77) * (double)scene->radius[77], 0.75, 1e-6, "noise is held back");
    state.normalise = 1;
    CHECK_NEAR(hot_scene_surface_mm(scene, &state, 77) * (double)scene->radius[77], 0.5, 1e-6, "all equally large");
    state.normalise = 0;
    CHECK(gathered(context, scene, &state) == 80, "surfaces belong to fibres");
    state.surfaces = HOT_SURFACES_ALL;
    CHECK(gathered(context, scene, &state) == VOXELS, "or all are shown");
    state.threshold = 5;
    CHECK(gathered(context, scene, &state) == 25, "those above the threshold");
    hot_scene_destroy(&scene);

    hot_view_state_default(&state);
    memset(quiet, 1, 40); /* the smaller half of the fibres */
    scene = make(context, 1, quiet);
    CHECK(scene && scene->typical_radius < 0.75, "voxels outside the mask do not count");
    hot_scene_destroy(&scene);
    scene = make(context, 0, NULL);
    CHECK(scene && gathered(context, scene, &state) == VOXELS, "of tensors alone all surfaces are drawn");
    hot_scene_destroy(&scene);
}

static void test_images(hot_context *context)
{
    static const float values[VOXELS];
    hot_scene *scene = NULL;
    const hot_scene_parts nothing = {.grid = scene_grid(SIDE, SIDE, 1)};
    hot_scene_parts image = nothing;
    image.images = 1;
    CHECK(hot_scene_create(context, &nothing, &scene) == HOT_ERROR_ARGUMENT && !scene, "nothing to show");
    scene = scene_make(context, &image);
    CHECK(scene && scene->volumes == 0 && hot_scene_add_volume(scene, "t1", 1, values, 0) == HOT_OK &&
              strcmp(hot_scene_volume(scene, "auto")->name, "t1") == 0, "an image alone");
    hot_scene_destroy(&scene);
}

int main(void)
{
    return scene_run_tests((void (*const[])(hot_context *)){test_sizes, test_images, NULL});
}
