/* Colours: axes, rising lightness of the colour map, distinct colours of fibres. */
#include "scene/color.h"
#include "scene/glyph_set.h"
#include "scenes.h"

/* Sticks fade by how certain their fibres are, in colours of direction and number, into what is behind them: the
 * paper, or the image, whose voxel is white in this window. */
static void test_fading(hot_context *context)
{
    static const float peaks[2][2][3] = {{{0, 0, 0}, {0, 0, 0}}, {{1, 0, 0}, {0, .5f, 0}}};
    static const float certainty[2][2] = {{0, 0}, {1, .25f}};
    static const uint8_t counts[2] = {0, 2};
    const uint32_t voxel = 1;
    static const float image[2] = {0, 8};
    for (int known = 0; known < 4; known++)
        for (int color = HOT_COLOR_DIRECTION; color <= HOT_COLOR_FIBER; color++) {
            hot_view_state state;
            hot_stick_item *items = NULL;
            size_t sticks = 0;
            double rgb[3] = {0, 1, 0};
            hot_scene *scene = scene_make(context, &(hot_scene_parts){
                .grid = scene_grid(2, 1, 1), .max_fibers = 2, .peaks = peaks[0][0], .counts = counts,
                .certainty = known ? certainty[0] : NULL});
            const int white = known == 2; /* 3: the image is switched off */
            hot_view_state_default(&state);
            state.color = color;
            state.show_image = known != 3;
            strcpy(state.background, known < 2 ? "none" : "b0");
            state.window[0] = 0;
            state.window[1] = 4;
            state.opacity = 1;
            CHECK(hot_scene_add_volume(scene, "b0", 1, image, 0) == HOT_OK, "an image");
            CHECK(hot_stick_list_make(context, scene, &state, &voxel, 1, &items, &sticks) == HOT_OK && sticks == 2,
                  "%zu sticks", sticks);
            if (color == HOT_COLOR_FIBER)
                hot_color_fiber(1, rgb);
            for (int d = 0; d < 3 && items; d++) {
                const double wanted = known ? .25 * rgb[d] + .75 * (white ? .85 : .15) : rgb[d];
                CHECK_NEAR(items[1].rgba[d], 255 * wanted, 1, "colour %d, channel %d, known %d", color, d, known);
                CHECK(items[1].rgba[3] == 255 && (color != HOT_COLOR_DIRECTION || items[0].rgba[0] == 255), "red");
            }
            hot_context_free(context, items);
            hot_scene_destroy(&scene);
        }
}

int main(void)
{
    hot_context *context = NULL;
    CHECK(hot_context_create(NULL, &context) == HOT_OK, "context");
    test_fading(context);
    hot_context_destroy(&context);
    static const double axes[4][3] = {{-2, 0, 0}, {0, 0.1, 0}, {0, 0, -7}, {0, 0, 0}};
    double rgb[3], other[3], before = 0;
    uint8_t bytes[256][3];
    for (int a = 0; a < 4; a++) {
        hot_color_direction(axes[a], rgb);
        for (int c = 0; c < 3; c++)
            CHECK_NEAR(rgb[c], a == c, 1e-12, "axis %d channel %d", a, c);
    }
    hot_color_direction((const double[3]){1, -1, 0}, rgb);
    CHECK_NEAR(rgb[0], sqrt(0.5), 1e-12, "a slanted direction mixes: %g", rgb[0]);
    hot_color_map_bytes(bytes);
    for (int i = 0; i < 256; i++) {
        hot_color_map(i / 255., rgb);
        double light = 0.3 * rgb[0] + 0.59 * rgb[1] + 0.11 * rgb[2];
        CHECK(light > before, "the map grows lighter at %d: %g after %g", i, light, before);
        CHECK_NEAR(bytes[i][1] / 255., rgb[1], 0.51 / 255, "byte %d", i);
        before = light;
    }
    hot_color_map(NAN, rgb);
    hot_color_map(-3, other);
    CHECK(memcmp(rgb, other, sizeof rgb) == 0, "NaN and values below are the first colour");
    hot_color_map(1, rgb);
    hot_color_map(99, other);
    CHECK(memcmp(rgb, other, sizeof rgb) == 0, "values above are the last colour");
    for (int a = 0; a < 5; a++)
        for (int b = 0; b < a; b++) {
            hot_color_fiber(a, rgb);
            hot_color_fiber(b, other);
            CHECK(fabs(rgb[0] - other[0]) + fabs(rgb[1] - other[1]) + fabs(rgb[2] - other[2]) > 0.4, "fibres %d and %d",
                  a, b);
        }
    hot_color_fiber(4, rgb);
    hot_color_fiber(99, other);
    CHECK(memcmp(rgb, other, sizeof rgb) == 0, "from the fifth on all alike");
    HOT_TEST_END();
}
