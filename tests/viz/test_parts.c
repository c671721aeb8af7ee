/* Pictures that are drawn in parts because the driver cannot draw them at once. */
#include "render/picture.h"
#include "scenes.h"

enum { SIDE = 240 };

/* A picture drawn in parts is the same as in one, apart from rounding, in every mode. */
static void test_parts(hot_context *context)
{
    enum { N = 5 };
    static float rows[N * N * N][16], peaks[N * N * N][3], image[N * N * N];
    static uint8_t whole[SIDE * SIDE * 3];
    for (int v = 0; v < N * N * N; v++) {
        const double turn = 0.3 * v, direction[3] = {cos(turn), sin(turn), 0};
        rows[v][0] = 1;
        memset(rows[v] + 1, 0, 15 * sizeof **rows);
        scene_add_fiber(4, direction, 1, rows[v] + 1);
        for (int d = 0; d < 3; d++)
            peaks[v][d] = (float)direction[d];
        image[v] = (float)(1 + v % 7);
    }
    const hot_scene_parts parts = {
        .grid = scene_grid(N, N, N), .order = 4, .tensors = rows[0], .max_fibers = 1, .peaks = peaks[0]};
    hot_pictures *pictures = NULL;
    hot_view_state state;
    const uint8_t *rgb = NULL;
    hot_scene *scene = scene_make(context, &parts);
    CHECK(hot_pictures_create(context, SIDE, SIDE, 1, &pictures) == HOT_OK, "%s", hot_context_message(context));
    if (!scene || !pictures)
        return;
    CHECK(hot_scene_add_volume(scene, "t1", 1, image, 0) == HOT_OK, "%s", hot_context_message(context));
    for (int mode = 0; mode < 3; mode++) {
        long different = 0, drawn = 0;
        hot_view_state_default(&state);
        state.mode = mode;
        state.detail = 20480;
        CHECK(hot_view_state_resolve(context, scene, &state) == HOT_OK, "%s", hot_context_message(context));
        CHECK(hot_pictures_limit_part(pictures, SIDE) == HOT_OK, "one part");
        CHECK(hot_pictures_draw(pictures, scene, &state, &rgb) == HOT_OK, "%s", hot_context_message(context));
        memcpy(whole, rgb, sizeof whole);
        CHECK(hot_pictures_limit_part(pictures, SIDE / 3) == HOT_OK, "several parts");
        CHECK(hot_pictures_draw(pictures, scene, &state, &rgb) == HOT_OK, "%s", hot_context_message(context));
        for (int v = 0; v < SIDE * SIDE * 3; v++) {
            different += abs(whole[v] - rgb[v]) > 3;
            drawn += whole[v] > 8;
        }
        CHECK(drawn > SIDE * SIDE / 10 && different < drawn / 200, "mode %d: %ld of %ld values differ", mode, different,
              drawn);
    }
    hot_pictures_destroy(&pictures);
    hot_scene_destroy(&scene);
}

int main(void)
{
    static void (*const tests[])(hot_context *) = {test_parts, NULL};
    return scene_run_tests(tests);
}
