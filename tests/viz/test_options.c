/* Every setting changes the picture where it applies. */
#include "check.h"
#include "render/picture.h"
#include "scenes.h"

enum { SIDE = 160, NX = 6, NY = 5, NZ = 4, N = NX * NY * NZ };

/* Pairs of name and value: first those applied to both pictures, so that the setting has an effect. */
static const struct {
    const char *name, *value, *where[6];
} cases[] = {
    {"mode", "planes", {0}},
    {"plane", "coronal", {0}},
    {"voxel", "1,1,1", {0}},
    {"slice", "0", {0}},
    {"extent", "volume", {"mode", "3d"}},
    {"slab", "3", {"tilt", "0,30"}},
    {"camera", "120,40,10", {"mode", "3d"}},
    {"tilt", "20,10", {0}},
    {"zoom", "2", {0}},
    {"center", "2,1,0", {0}},
    {"lock_axes", "off", {0}},
    {"background", "dec", {0}},
    {"volume", NULL, {0}}, /* of 4-D images: test_open.c, test_volumes.py */
    {"window", "0.1,0.4", {0}},
    {"interpolate", "off", {0}},
    {"opacity", "0.2", {0}},
    {"glyph", "surface", {0}},
    {"shape", NULL, {0}}, /* of order 2: test_ellipsoid.c */
    {"surfaces", "all", {0}},
    {"scale", "0.5", {0}},
    {"normalise", "on", {0}},
    {"clip", "on", {"scale", "3"}},
    {"threshold", "0.6", {0}},
    {"use_mask", "off", {0}},
    {"color", "fiber", {0}},
    {"color_by", "nfibers", {"color", "value"}},
    {"color_range", "0.2,0.5", {"color", "value"}},
    {"stick_width", "0.3", {"glyph", "sticks"}},
    {"light", "off", {0}},
    {"detail", "20", {0}},
    {"raster", "gpu", {0}}, /* gpu, or cpu: the one that auto does not choose; rounding differs */
    {"canvas", "0.2,0.4,0.9", {0}},
    {"transparent", "on", {"canvas", "0.7"}},
    {"image", "off", {0}},
    {"crosshair", "off", {0}},
    {"annotations", "off", {0}},
    {"values", "on", {0}},
    {"colorbar", "off", {"color", "value"}},
    {"panel", NULL, {0}}, /* of windows only */
    {"keys", "on", {0}},
    {"pixel_ratio", "2", {0}},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static hot_scene *make_scene(hot_context *context)
{
    static float rows[N][16], peaks[N][6];
    static uint8_t mask[N];
    hot_grid grid = {{NX, NY, NZ}, {{0}}, HOT_SPACE_LPS};
    double q[4];
    uint64_t seed = 3;
    hot_quaternion_axis((const double[3]){0.6, 0, 0.8}, 0.4, q);
    for (int axis = 0; axis < 3; axis++) {
        double along[3] = {0, 0, 0}, turned[3];
        along[axis] = 2;
        hot_quaternion_rotate(q, along, turned);
        for (int d = 0; d < 3; d++)
            grid.to_world[d][axis] = turned[d];
    }
    for (int g = 0; g < N; g++) {
        rows[g][0] = 1;
        mask[g] = g % 4 != 0;
        for (int f = 0; f < 1 + g % 2; f++) {
            double v[3];
            const double weight = 0.3 + 0.6 * check_random(&seed);
            check_random_unit(&seed, v);
            scene_add_fiber(4, v, weight, rows[g] + 1);
            for (int d = 0; d < 3 && g % 5; d++) /* includes surfaces without a fibre */
                peaks[g][3 * f + d] = (float)(weight * v[d]);
        }
    }
    hot_scene_parts parts = {
        .grid = grid, .order = 4, .tensors = rows[0], .max_fibers = 2, .peaks = peaks[0], .mask = mask};
    return scene_make(context, &parts);
}

static void set(hot_context *context, hot_view_state *state, const char *name, const char *value)
{
    CHECK(hot_view_setting_parse(context, hot_view_setting_find(name), value, state) == HOT_OK, "%s %s: %s", name,
          value, hot_context_message(context));
}

int main(void)
{
    static uint8_t before[3 * SIDE * SIDE];
    hot_context *context = NULL;
    hot_pictures *pictures = NULL;
    const uint8_t *rgb;
    size_t count;
    if (hot_context_create(NULL, &context) != HOT_OK)
        return 1;
    hot_scene *scene = make_scene(context);
    if (!scene || hot_pictures_create(context, SIDE, SIDE, 1, &pictures) != HOT_OK) {
        printf("%s\n", hot_context_message(context));
        return 1;
    }
    const hot_view_setting *settings = hot_view_settings(&count);
    CHECK(count == CASES, "%zu settings, %d cases", count, (int)CASES);
    for (size_t s = 0; s < count && s < CASES; s++) {
        hot_view_state state;
        CHECK(strcmp(settings[s].name, cases[s].name) == 0, "case %s for setting %s", cases[s].name, settings[s].name);
        if (!cases[s].value)
            continue;
        hot_view_state_default(&state);
        for (int w = 0; w < 6 && cases[s].where[w]; w += 2)
            set(context, &state, cases[s].where[w], cases[s].where[w + 1]);
        CHECK(hot_view_state_resolve(context, scene, &state) == HOT_OK, "%s", hot_context_message(context));
        CHECK(hot_pictures_draw(pictures, scene, &state, &rgb) == HOT_OK, "%s", hot_context_message(context));
        memcpy(before, rgb, sizeof before);
        /* the same settings give the same picture: no state is left over */
        CHECK(hot_pictures_draw(pictures, scene, &state, &rgb) == HOT_OK && memcmp(before, rgb, sizeof before) == 0,
              "%s: the same state twice", cases[s].name);
        const int other = strcmp(cases[s].name, "raster") == 0 && !hot_render_in_software();
        set(context, &state, cases[s].name, other ? "cpu" : cases[s].value);
        CHECK(hot_view_state_resolve(context, scene, &state) == HOT_OK, "%s", hot_context_message(context));
        CHECK(hot_pictures_draw(pictures, scene, &state, &rgb) == HOT_OK, "%s", hot_context_message(context));
        long changed = 0;
        for (int p = 0; p < SIDE * SIDE; p++)
            changed += memcmp(before + 3 * p, rgb + 3 * p, 3) != 0;
        CHECK(changed > 8, "%s %s changes %ld pixels", cases[s].name, cases[s].value, changed);
        /* undoing the setting restores the first picture */
        hot_view_state_default(&state);
        for (int w = 0; w < 6 && cases[s].where[w]; w += 2)
            set(context, &state, cases[s].where[w], cases[s].where[w + 1]);
        CHECK(hot_view_state_resolve(context, scene, &state) == HOT_OK, "%s", hot_context_message(context));
        CHECK(hot_pictures_draw(pictures, scene, &state, &rgb) == HOT_OK && memcmp(before, rgb, sizeof before) == 0,
              "%s: back again", cases[s].name);
    }
    hot_pictures_destroy(&pictures);
    hot_scene_destroy(&scene);
    hot_context_destroy(&context);
    HOT_TEST_END();
}
