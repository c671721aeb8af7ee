/* Settings: parsing, printing, invalid values; fitting a state to a scene. */
#include "check.h"
#include "scene/camera.h"
#include "scenes.h"

/* A valid text other than the default, for every kind. */
static const char *good(const hot_view_setting *setting, const hot_view_state *now, char *room)
{
    int at = 0;
    memcpy(&at, (const char *)now + setting->offset, sizeof at);
    switch (setting->kind) {
    case HOT_SETTING_SWITCH: return at ? "off" : "on";
    case HOT_SETTING_CHOICE:
        snprintf(room, 32, "%.*s", (int)strcspn(setting->value, "|"), setting->value);
        return at ? room : strrchr(setting->value, '|') + 1;
    case HOT_SETTING_INT: return strcmp(setting->name, "detail") == 0 ? "320" : "3";
    case HOT_SETTING_NUMBER:
        snprintf(room, 32, "%g", setting->low + 0.25 * fmin(2, setting->high - setting->low));
        return room;
    case HOT_SETTING_NAME: return "nfibers";
    case HOT_SETTING_PAIR: return "-1.5,2";
    case HOT_SETTING_VOXEL: return "1,2,3";
    case HOT_SETTING_POINT: return "1,-2,3.5";
    case HOT_SETTING_RGB: return "0.25,0.5,1";
    case HOT_SETTING_ANGLES: return "-40,30,10";
    }
    return NULL;
}

static void test_table(hot_context *context)
{
    size_t count;
    const hot_view_setting *settings = hot_view_settings(&count);
    CHECK(count > 30, "%zu settings", count);
    for (size_t i = 0; i < count; i++) {
        const hot_view_setting *setting = &settings[i];
        hot_view_state state, before;
        char room[32], text[128], again[128];
        hot_view_state_default(&state);
        before = state;
        CHECK(hot_view_setting_find(setting->name) == setting, "%s is found", setting->name);
        const char *value = good(setting, &state, room);
        CHECK(hot_view_setting_parse(context, setting, value, &state) == HOT_OK, "%s %s: %s", setting->name, value,
              hot_context_message(context));
        hot_view_setting_print(setting, &state, text, sizeof text);
        if (setting->kind == HOT_SETTING_ANGLES) { /* converted to a quaternion and back */
            double a[3] = {0};
            CHECK(sscanf(text, "%lf,%lf,%lf", &a[0], &a[1], &a[2]) == 3 && fabs(a[0] + 40) < 1e-5 &&
                      fabs(a[1] - 30) < 1e-5 && fabs(a[2] - 10) < 1e-5,
                  "%s prints %s", setting->name, text);
        } else {
            CHECK(strcmp(text, value) == 0, "%s %s prints %s", setting->name, value, text);
        }
        CHECK(memcmp(&state, &before, sizeof state) != 0, "%s changes the state", setting->name);
        /* only its own field changes */
        hot_view_setting_print(setting, &before, again, sizeof again);
        CHECK(strcmp(text, again) != 0, "%s is at its default", setting->name);
        const char *bad[] = {
            "", "x", "1,2,3,4", "nan", "1e99", "-1e99", setting->kind == HOT_SETTING_NAME ? "" : "1 2"};
        for (size_t b = 0; b < sizeof bad / sizeof bad[0]; b++) {
            if (setting->kind == HOT_SETTING_NAME && bad[b][0])
                continue;
            hot_view_state kept = state;
            CHECK(hot_view_setting_parse(context, setting, bad[b], &state) == HOT_ERROR_ARGUMENT, "%s takes '%s'",
                  setting->name, bad[b]);
            CHECK(strstr(hot_context_message(context), setting->name) != NULL, "'%s'", hot_context_message(context));
            CHECK(memcmp(&kept, &state, sizeof state) == 0, "%s: '%s' changed something", setting->name, bad[b]);
        }
        if (setting->automatic) {
            CHECK(hot_view_setting_parse(context, setting, "auto", &state) == HOT_OK, "%s auto", setting->name);
            hot_view_setting_print(setting, &state, text, sizeof text);
            CHECK(strcmp(text, "auto") == 0, "%s auto prints %s", setting->name, text);
        }
    }
    CHECK(hot_view_setting_find("lock-axes") == hot_view_setting_find("lock_axes"), "- and _ are the same");
    CHECK(hot_view_setting_find("nothing") == NULL, "unknown name");
}

/* Positions on the screen for grids of every orientation: nothing is mirrored. */
static void test_orientation(hot_context *context)
{
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const hot_space spaces[3] = {HOT_SPACE_RAS, HOT_SPACE_LAS, HOT_SPACE_LPS};
    float peaks[3 * 4 * 5 * 6] = {0};
    for (int test = 0; test < 6 * 8 * 3; test++) {
        const int *order = orders[test % 6], flips = test / 6 % 8;
        hot_grid grid = {{4, 5, 6}, {{0}}, spaces[test / 48]};
        const double turn[3] = {0.5, -0.3, 0.8124038405}; /* axis of an oblique rotation by 20 degrees */
        double q[4];
        hot_quaternion_axis(turn, 0.35, q);
        for (int a = 0; a < 3; a++) {
            double along[3] = {0, 0, 0}, turned[3];
            along[order[a]] = flips >> a & 1 ? -2 : 2;
            hot_quaternion_rotate(q, along, turned);
            for (int d = 0; d < 3; d++)
                grid.to_world[d][a] = turned[d];
        }
        hot_scene_parts parts = {.grid = grid, .max_fibers = 1, .peaks = peaks};
        hot_scene *scene = scene_make(context, &parts);
        if (!scene)
            return;
        for (int lock = 0; lock < 2; lock++) {
            hot_view_state state;
            hot_view_layout layout;
            hot_view_state_default(&state);
            state.mode = HOT_VIEW_PLANES;
            state.lock_axes = lock;
            CHECK(hot_view_state_resolve(context, scene, &state) == HOT_OK, "resolve");
            hot_view_lay_out(scene, &state, 400, 400, &layout);
            CHECK(layout.count == 4, "%d viewports", layout.count);
            for (int v = 0; v < 3; v++) {
                const hot_viewport *viewport = &layout.viewport[v];
                /* patient's right on the left, anterior and head up, sagittal views face left */
                const int across = viewport->plane == HOT_PLANE_SAGITTAL ? 1 : 0,
                          up = viewport->plane == HOT_PLANE_AXIAL ? 1 : 2;
                const double least = lock ? 0.85 : 0.999;
                CHECK(-viewport->right[across] > least && viewport->up[up] > least,
                      "test %d, plane %d: right %g, up %g", test, v, viewport->right[across], viewport->up[up]);
                /* projection and its inverse */
                double ras[3], pixel[2], back[3];
                hot_scene_to_ras(scene, (const double[3]){state.voxel[0], state.voxel[1], state.voxel[2]}, ras);
                hot_viewport_project(viewport, ras, pixel);
                CHECK(hot_layout_at(&layout, pixel[0], pixel[1]) == viewport, "test %d: crosshair in its viewport",
                      test);
                CHECK(hot_viewport_unproject(viewport, pixel[0], pixel[1], back), "seen from the front");
                for (int d = 0; d < 3; d++)
                    CHECK_NEAR(back[d], ras[d], 1e-9, "test %d: and back", test);
                /* the matrix agrees */
                double clip[3];
                for (int r = 0; r < 3; r++)
                    clip[r] = viewport->matrix[r] * ras[0] + viewport->matrix[4 + r] * ras[1] +
                              viewport->matrix[8 + r] * ras[2] + viewport->matrix[12 + r];
                CHECK_NEAR(viewport->x + (clip[0] + 1) / 2 * viewport->width, pixel[0], 1e-6, "matrix x");
                CHECK_NEAR(viewport->y + (1 - clip[1]) / 2 * viewport->height, pixel[1], 1e-6, "matrix y");
                CHECK(fabs(clip[2]) < 1, "within the depth range");
            }
        }
        hot_scene_destroy(&scene);
    }
}

static void test_resolve(hot_context *context)
{
    float peaks[3 * 24] = {0};
    hot_scene_parts parts = {.grid = scene_grid(2, 3, 4), .max_fibers = 1, .peaks = peaks};
    hot_scene *scene = NULL;
    hot_view_state state;
    CHECK(hot_scene_create(context, &parts, &scene) == HOT_OK, "%s", hot_context_message(context));
    hot_view_state_default(&state);
    state.plane = HOT_PLANE_CORONAL;
    state.slice = 2;
    CHECK(hot_view_state_resolve(context, scene, &state) == HOT_OK && state.voxel[0] == 1 && state.voxel[1] == 2 &&
              state.voxel[2] == 2, "voxel %d %d %d", state.voxel[0], state.voxel[1], state.voxel[2]);
    CHECK(state.slice == -1, "the slice is taken once, not %d", state.slice);
    hot_scene_destroy(&scene);
    parts.peaks = NULL;
    CHECK(hot_scene_create(context, &parts, &scene) == HOT_ERROR_ARGUMENT && !scene, "nothing to show");
    parts.tensors = peaks;
    parts.order = 10;
    CHECK(hot_scene_create(context, &parts, &scene) == HOT_ERROR_ARGUMENT && !scene &&
              strstr(hot_context_message(context), "order 10"), "order 10: %s", hot_context_message(context));
    parts.tensors = NULL;
    parts.peaks = peaks;
    parts.grid.size[1] = 0;
    CHECK(hot_scene_create(context, &parts, &scene) == HOT_ERROR_ARGUMENT && !scene, "no voxel");
    parts.grid = scene_grid(2, 3, 4);
    parts.grid.to_world[2][2] = 0;
    CHECK(hot_scene_create(context, &parts, &scene) == HOT_ERROR_ARGUMENT && !scene, "flat grid");
}

/* Refusals word for word: numbers and names are in their places. */
static void test_refused(hot_context *context)
{
    float values[3 * 3 * 5 * 7] = {0};
    static const struct refusal { int voxel[3], plane, slice; const char *background, *color_by, *text; } cases[] = {
        {{2, 4, 6}, 0, -1, "t1", "mask", NULL}, /* the last voxel */
        {{0, 0, 0}, 0, -1, "none", "auto", NULL},
        {{3, 4, 6}, 0, -1, "auto", "auto", "voxel 3,4,6 is outside the grid of 3 x 5 x 7 voxels (counted from 0)"},
        {{2, 5, 6}, 0, -1, "auto", "auto", "voxel 2,5,6 is outside the grid of 3 x 5 x 7 voxels (counted from 0)"},
        {{2, 4, 7}, 0, -1, "auto", "auto", "voxel 2,4,7 is outside the grid of 3 x 5 x 7 voxels (counted from 0)"},
        {{2, 4, 6}, HOT_PLANE_SAGITTAL, 3, "auto", "auto",
         "voxel 3,4,6 is outside the grid of 3 x 5 x 7 voxels (counted from 0)"},
        {{2, 4, 6}, HOT_PLANE_CORONAL, 5, "auto", "auto",
         "voxel 2,5,6 is outside the grid of 3 x 5 x 7 voxels (counted from 0)"},
        {{0, 0, 0}, 0, -1, "b0", "auto",
         "--background: no volume 'b0'; available: amplitude, dec, nfibers, t1, mask"},
        {{0, 0, 0}, 0, -1, "auto", "b0",
         "--color_by: no volume 'b0'; available: amplitude, dec, nfibers, t1, mask"}};
    const hot_scene_parts parts = {.grid = scene_grid(3, 5, 7), .max_fibers = 1, .peaks = values};
    hot_scene *scene = scene_make(context, &parts);
    if (!scene)
        return;
    CHECK(hot_scene_add_volume(scene, "t1", 1, values, 0) == HOT_OK &&
              hot_scene_add_volume(scene, "mask", 1, values, 0) == HOT_OK, "%s", hot_context_message(context));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hot_view_state state;
        hot_view_state_default(&state);
        memcpy(state.voxel, cases[i].voxel, sizeof state.voxel);
        state.plane = cases[i].plane, state.slice = cases[i].slice;
        strcpy(state.background, cases[i].background);
        strcpy(state.color_by, cases[i].color_by);
        const hot_status status = hot_view_state_resolve(context, scene, &state);
        if (cases[i].text)
            CHECK(status == HOT_ERROR_ARGUMENT && strcmp(hot_context_message(context), cases[i].text) == 0,
                  "case %zu: status %d, '%s'", i, (int)status, hot_context_message(context));
        else
            CHECK(status == HOT_OK && memcmp(state.voxel, cases[i].voxel, sizeof state.voxel) == 0,
                  "case %zu: %d %d %d, %s", i, state.voxel[0], state.voxel[1], state.voxel[2],
                  hot_context_message(context));
    }
    /* as many names as a scene has room for, and long ones */
    char name[HOT_VIEW_NAME + 1];
    memset(name, 'x', sizeof name), name[HOT_VIEW_NAME - 1] = '\0';
    for (hot_status status = HOT_OK; scene->volumes < HOT_SCENE_VOLUMES && status == HOT_OK;) {
        name[0] = (char)('a' + scene->volumes);
        status = hot_scene_add_volume(scene, name, 1, values, 0);
    }
    hot_view_state state;
    hot_view_state_default(&state);
    strcpy(state.background, "b0");
    CHECK(scene->volumes == HOT_SCENE_VOLUMES && hot_view_state_resolve(context, scene, &state) == HOT_ERROR_ARGUMENT &&
              strstr(hot_context_message(context), "amplitude, dec, nfibers, t1, mask, f"), "%d volumes: '%s'",
          scene->volumes, hot_context_message(context));
    hot_scene_destroy(&scene);
}

/* A scene without what the glyphs are made of. */
static void test_glyphs(hot_context *context)
{
    float values[3 * 6 * 8] = {0};
    static const struct { int glyph, tensors; const char *word; } cases[] = {
        {HOT_GLYPH_SURFACE, 1, NULL}, {HOT_GLYPH_SURFACE, 0, "--glyph surface needs tensors"},
        {HOT_GLYPH_STICKS, 0, NULL}, {HOT_GLYPH_STICKS, 1, "--glyph sticks needs directions"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hot_scene_parts parts = {.grid = scene_grid(2, 2, 2)};
        if (cases[i].tensors)
            parts.tensors = values, parts.order = 2;
        else
            parts.peaks = values, parts.max_fibers = 1;
        hot_scene *scene = scene_make(context, &parts);
        hot_view_state state;
        hot_view_state_default(&state);
        state.glyph = cases[i].glyph;
        const hot_status status = scene ? hot_view_state_check(context, scene, &state) : HOT_ERROR_MEMORY;
        CHECK(status == (cases[i].word ? HOT_ERROR_ARGUMENT : HOT_OK) &&
                  (!cases[i].word || strncmp(hot_context_message(context), cases[i].word, strlen(cases[i].word)) == 0),
              "case %zu: status %d, '%s'", i, (int)status, hot_context_message(context));
        hot_scene_destroy(&scene);
    }
}

/* The first crosshair is the middle, or where most fibres are; 3-D views fit the box around the fibres. */
static void test_start(hot_context *context)
{
    enum { SIDE = 9 };
    static float peaks[3 * SIDE * SIDE * SIDE];
    hot_view_state state;
    for (int part = 0; part < 2; part++) {
        const hot_grid grid = scene_grid(SIDE, SIDE, SIDE);
        const hot_scene_parts parts = {.grid = grid, .max_fibers = 1, .peaks = peaks};
        memset(peaks, 0, sizeof peaks);
        for (int k = 0; k < (part ? 3 : SIDE); k++) /* part: only in i = 4, j = 2 to 6, k = 0 to 2 */
            for (int j = part ? 2 : 0; j < (part ? 7 : SIDE); j++)
                for (int i = part ? 4 : 0; i < (part ? 5 : SIDE); i++)
                    peaks[3 * (i + SIDE * (j + SIDE * k))] = 1;
        hot_scene *scene = scene_make(context, &parts);
        hot_view_state_default(&state);
        CHECK(scene && hot_view_state_resolve(context, scene, &state) == HOT_OK, "resolve");
        if (!scene)
            return;
        CHECK(state.voxel[0] == 4 && state.voxel[1] == 4 && state.voxel[2] == (part ? 2 : 4), "part %d: %d %d %d", part,
              state.voxel[0], state.voxel[1], state.voxel[2]);
        CHECK(scene->low[1] == (part ? 2 : 0) && scene->high[1] == (part ? 6 : 8) && scene->low[2] == 0 &&
                  scene->high[2] == (part ? 2 : 8), "the box: j %d to %d, k %d to %d", scene->low[1], scene->high[1],
              scene->low[2], scene->high[2]);
        hot_scene_destroy(&scene);
    }
}

/* The 3-D camera stands upright on oblique grids, and every corner of the content is in the picture from every side. */
static void test_space(hot_context *context)
{
    enum { SIDE = 6 };
    static float peaks[3 * SIDE * SIDE * SIDE];
    uint64_t seed = 5;
    for (int v = 0; v < SIDE * SIDE * SIDE; v++)
        peaks[3 * v] = 1;
    for (int turn = 0; turn < 8; turn++) {
        const hot_grid grid = scene_turned_grid(SIDE, SIDE, SIDE, turn, &seed);
        const hot_scene_parts parts = {.grid = grid, .max_fibers = 1, .peaks = peaks};
        hot_scene *scene = scene_make(context, &parts);
        hot_view_state state;
        hot_view_layout layout;
        double low = 1e9, high = -1e9;
        hot_view_state_default(&state);
        state.mode = HOT_VIEW_SPACE;
        CHECK(scene && hot_view_state_resolve(context, scene, &state) == HOT_OK, "resolve");
        for (int side = 0; scene && side < 24; side++) {
            hot_quaternion_from_angles((const double[3]){15 * side, 25, 0}, state.rotation);
            hot_view_lay_out(scene, &state, 400, 300, &layout);
            for (int corner = 0; corner < 8; corner++) {
                double voxel[3], ras[3], pixel[2];
                for (int d = 0; d < 3; d++)
                    voxel[d] = corner >> d & 1 ? SIDE - 0.5 : -0.5;
                hot_scene_to_ras(scene, voxel, ras);
                hot_viewport_project(&layout.viewport[0], ras, pixel);
                CHECK(pixel[0] >= 0 && pixel[0] <= 400 && pixel[1] >= 0 && pixel[1] <= 300, "turn %d side %d: %g %g",
                      turn, side, pixel[0], pixel[1]);
                low = fmin(low, pixel[1]);
                high = fmax(high, pixel[1]);
            }
        }
        CHECK(high - low > 270, "turn %d: the content fills %g of 300 pixels", turn, high - low);
        hot_scene_destroy(&scene);
    }
}

/* Dragging turns the camera so that points in front follow the pointer. */
static void test_turn(hot_context *context)
{
    float peaks[3] = {0};
    hot_scene_parts parts = {.grid = scene_grid(1, 1, 1), .max_fibers = 1, .peaks = peaks};
    hot_scene *scene = NULL;
    hot_view_state state;
    hot_view_layout layout;
    double pixel[2], after[2], front[3];
    CHECK(hot_scene_create(context, &parts, &scene) == HOT_OK, "%s", hot_context_message(context));
    hot_view_state_default(&state);
    state.mode = HOT_VIEW_SPACE;
    CHECK(hot_view_state_resolve(context, scene, &state) == HOT_OK, "resolve");
    hot_view_lay_out(scene, &state, 200, 100, &layout);
    for (int d = 0; d < 3; d++)
        front[d] = 0.4 * layout.viewport[0].toward[d];
    hot_viewport_project(&layout.viewport[0], front, pixel);
    hot_view_state_turn(&state, &layout.viewport[0], 5, 3);
    hot_view_lay_out(scene, &state, 200, 100, &layout);
    hot_viewport_project(&layout.viewport[0], front, after);
    CHECK(after[0] > pixel[0] + 1 && after[1] > pixel[1] + 0.5, "moved by %g %g", after[0] - pixel[0],
          after[1] - pixel[1]);
    hot_scene_destroy(&scene);
}

int main(void)
{
    static void (*const tests[])(hot_context *) = {test_table, test_orientation, test_resolve, test_refused,
                                                   test_glyphs, test_start, test_space, test_turn, NULL};
    return scene_run_tests(tests);
}
