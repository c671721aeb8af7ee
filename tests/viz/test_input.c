/* Keys and mouse: every row of the table has its described effect, and docs/viewer.md contains the table. */
#include "check.h"
#include "input/input.h"
#include "scene/pick.h"
#include "scenes.h"

enum { NX = 8, NY = 7, NZ = 6, VOXELS = NX * NY * NZ, WIDTH = 640, HEIGHT = 480 };

typedef struct stage {
    hot_context *context;
    hot_scene *scene;
    hot_view_state state;
    hot_input input;
    float tensors[VOXELS * 7], peaks[VOXELS * 3], image[VOXELS];
} stage;

/* Order-2 tensors and a stick along x in every voxel; the axes i and k point against R and S. */
static void set_stage(hot_context *context, stage *on)
{
    hot_grid grid = scene_grid(NX, NY, NZ);
    memset(on, 0, sizeof *on);
    for (int d = 0; d < 3; d += 2)
        for (int c = 0; c < 4; c++)
            grid.to_world[d][c] = -grid.to_world[d][c];
    for (int v = 0; v < VOXELS; v++) {
        on->tensors[v * 7] = on->tensors[v * 7 + 1] = 1;
        on->peaks[3 * v] = 1;
        on->image[v] = (float)(v % 100);
    }
    const hot_scene_parts parts = {
        .grid = grid, .order = 2, .tensors = on->tensors, .max_fibers = 1, .peaks = on->peaks};
    on->context = context;
    CHECK(hot_scene_create(context, &parts, &on->scene) == HOT_OK, "%s", hot_context_message(context));
    CHECK(hot_scene_add_volume(on->scene, "t1", 1, on->image, 0) == HOT_OK, "%s", hot_context_message(context));
    hot_view_state_default(&on->state);
    strcpy(on->state.background, "t1");
    CHECK(hot_view_state_resolve(context, on->scene, &on->state) == HOT_OK, "%s", hot_context_message(context));
    on->input.width = WIDTH;
    on->input.height = HEIGHT;
    on->input.x = on->input.y = -1;
}

static unsigned key(stage *on, int code, int modifiers)
{
    return hot_input_key(&on->input, on->scene, &on->state, code, modifiers);
}
static unsigned move(stage *on, double x, double y) { return hot_input_move(&on->input, on->scene, &on->state, x, y); }
static unsigned button(stage *on, int which, int pressed, int modifiers)
{
    return hot_input_button(&on->input, on->scene, &on->state, which, pressed, modifiers);
}
/* Press, two moves, release. Returns all requests. */
static unsigned drag(stage *on, int which, int modifiers, double x, double y, double x2, double y2)
{
    unsigned asked = move(on, x, y);
    asked |= button(on, which, 1, modifiers);
    asked |= move(on, (x + x2) / 2, (y + y2) / 2);
    asked |= move(on, x2, y2);
    return asked | button(on, which, 0, modifiers);
}
static hot_viewport view_of(const stage *on, int index)
{
    hot_view_layout layout;
    hot_view_lay_out(on->scene, &on->state, WIDTH, HEIGHT, &layout);
    return layout.viewport[index];
}

/* ---- The table ------------------------------------------------------------------------------------------- */

static void test_table(hot_context *context)
{
    size_t count;
    const hot_binding *table = hot_bindings(&count);
    static stage on;
    char *markdown = NULL;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++)
            CHECK(table[i].trigger != table[j].trigger || table[i].key != table[j].key ||
                      table[i].modifiers != table[j].modifiers,
                  "rows %zu and %zu are the same event", j, i);
        if (i && strcmp(table[i].group, table[i - 1].group))
            for (size_t j = 0; j + 1 < i; j++)
                CHECK(strcmp(table[j].group, table[i].group), "the rows of '%s' follow each other", table[i].group);
        CHECK(table[i].label ? table[i].help && table[i].help[0] : i && !strcmp(table[i].group, table[i - 1].group),
              "row %zu has its words, or belongs to the one before", i);
        if (table[i].trigger != HOT_TRIGGER_KEY)
            continue;
        /* every key changes the view or makes a request; a second press is harmless */
        set_stage(context, &on);
        on.state.threshold = 0.5;
        on.state.window[0] = 1, on.state.window[1] = 2;
        on.state.zoom = 2;
        hot_view_state before = on.state;
        unsigned asks = key(&on, table[i].key, table[i].modifiers);
        int changed = memcmp(&before, &on.state, sizeof before) != 0;
        if (table[i].action == HOT_ACTION_AXIAL || table[i].action == HOT_ACTION_SINGLE)
            CHECK(asks == HOT_REQUEST_REDRAW && on.state.mode == HOT_VIEW_SINGLE, "row %zu", i);
        else if (table[i].action == HOT_ACTION_FRAME_NEXT || table[i].action == HOT_ACTION_FRAME_BACK)
            CHECK(!changed && !asks, "row %zu: an image of one volume (4-D ones: test_open.c, test_window.py)", i);
        else
            CHECK(changed ? asks == HOT_REQUEST_REDRAW : asks > HOT_REQUEST_REDRAW, "row %zu (%s) does something", i,
                  table[i].help ? table[i].help : "");
        key(&on, table[i].key, table[i].modifiers);
        CHECK(hot_view_state_resolve(context, on.scene, &on.state) == HOT_OK, "row %zu leaves a state that holds", i);
        hot_scene_destroy(&on.scene);
    }
    set_stage(context, &on);
    hot_view_state before = on.state;
    CHECK(key(&on, 'X', 0) == 0 && key(&on, 'A', HOT_WITH_CTRL) == 0 && key(&on, HOT_KEY_LEFT, 0) == 0 &&
              key(&on, 0x20ac, 0) == 0 && memcmp(&before, &on.state, sizeof before) == 0,
          "unbound keys have no effect");
    hot_scene_destroy(&on.scene);

    CHECK(hot_bindings_markdown(context, &markdown) == HOT_OK, "markdown");
    for (size_t i = 0; i < count; i++)
        CHECK(!table[i].label || (strstr(markdown, table[i].label) && strstr(markdown, table[i].help)),
              "row %zu is in it", i);
    FILE *readme = fopen(HOT_SOURCE "/docs/viewer.md", "r");
    static char text[200000];
    size_t length = readme ? fread(text, 1, sizeof text - 1, readme) : 0;
    text[length] = 0;
    CHECK(length && strstr(text, markdown), "docs/viewer.md has this table:\n%s", markdown);
    if (readme)
        fclose(readme);
    hot_context_free(context, markdown);
}

/* ---- Keys ------------------------------------------------------------------------------------------------ */

static void test_slices(hot_context *context)
{
    /* forward is towards S, R, A for either direction of the voxel axis, up to the last slice */
    static const struct { int key, plane, world, size; } planes[3] = {
        {'A', HOT_PLANE_AXIAL, 2, NZ}, {'S', HOT_PLANE_SAGITTAL, 0, NX}, {'C', HOT_PLANE_CORONAL, 1, NY}};
    static stage on;
    set_stage(context, &on);
    for (int p = 0; p < 3; p++) {
        double before[3], after[3];
        int steps = 0;
        key(&on, planes[p].key, 0);
        CHECK(on.state.plane == planes[p].plane && on.state.mode == HOT_VIEW_SINGLE, "plane %d", p);
        hot_viewport view = view_of(&on, 0);
        memcpy(before, view.point, sizeof before);
        CHECK(key(&on, HOT_KEY_UP, 0) == HOT_REQUEST_REDRAW, "next slice");
        view = view_of(&on, 0);
        memcpy(after, view.point, sizeof after);
        CHECK_NEAR(after[planes[p].world] - before[planes[p].world], 1, 1e-9, "plane %d: up is one slice on", p);
        CHECK(key(&on, HOT_KEY_DOWN, 0) == HOT_REQUEST_REDRAW, "back");
        view = view_of(&on, 0);
        CHECK_NEAR(view.point[planes[p].world], before[planes[p].world], 1e-9, "plane %d: and back", p);
        while (key(&on, HOT_KEY_DOWN, 0))
            steps++;
        while (key(&on, HOT_KEY_UP, 0))
            steps++;
        CHECK(steps >= planes[p].size - 1 && steps < 2 * planes[p].size, "plane %d ends after %d", p, steps);
    }
    /* with three planes, the one under the pointer moves */
    key(&on, HOT_KEY_F2, 0);
    int middle[3] = {3, 3, 3};
    memcpy(on.state.voxel, middle, sizeof middle);
    move(&on, 500, 100); /* the sagittal plane is at the upper right */
    key(&on, HOT_KEY_UP, 0);
    CHECK(on.state.voxel[0] == 2 && on.state.voxel[1] == 3 && on.state.voxel[2] == 3, "sagittal: %d %d %d",
          on.state.voxel[0], on.state.voxel[1], on.state.voxel[2]);
    hot_input_wheel(&on.input, on.scene, &on.state, -1, 0);
    CHECK(on.state.voxel[0] == 3, "the wheel turns back");
    /* fractional wheel steps add up */
    CHECK(hot_input_wheel(&on.input, on.scene, &on.state, 0.5, 0) == 0 && on.state.voxel[0] == 3, "half a step");
    CHECK(hot_input_wheel(&on.input, on.scene, &on.state, 0.5, 0) == HOT_REQUEST_REDRAW && on.state.voxel[0] == 2,
          "a whole");
    drag(&on, HOT_BUTTON_RIGHT, HOT_WITH_SHIFT, 500, 100, 500, 84);
    CHECK(on.state.voxel[0] == 0, "a drag of 16 up is two slices: %d", on.state.voxel[0]);
    hot_scene_destroy(&on.scene);
}

static void test_settings(hot_context *context)
{
    static stage on;
    set_stage(context, &on);
    hot_view_state *state = &on.state;
    key(&on, HOT_KEY_F3, 0);
    CHECK(state->mode == HOT_VIEW_SPACE, "3-D");
    key(&on, HOT_KEY_F1, 0);
    CHECK(state->mode == HOT_VIEW_SINGLE, "one plane");
    static const int glyphs[4] = {HOT_GLYPH_NONE, HOT_GLYPH_SURFACE, HOT_GLYPH_STICKS, HOT_GLYPH_BOTH};
    for (int g = 0; g < 4; g++) {
        key(&on, 'G', 0);
        CHECK(state->glyph == glyphs[g], "G %d: %d", g, state->glyph);
    }
    for (int c = 1; c <= 4; c++) {
        key(&on, 'D', 0);
        CHECK(state->color == c % 4, "D %d: %d", c, state->color);
    }
    key(&on, '+', 0);
    key(&on, '=', HOT_WITH_SHIFT); /* Shift is ignored if it is part of typing the character */
    CHECK_NEAR(state->scale, 1.21, 1e-12, "larger");
    key(&on, '-', 0);
    key(&on, '-', 0);
    CHECK_NEAR(state->scale, 1, 1e-12, "and back");
    for (int i = 0; i < 400; i++)
        key(&on, '-', 0);
    CHECK(state->scale >= hot_view_setting_find("scale")->low, "within its bounds: %g", state->scale);
    key(&on, ']', 0);
    key(&on, ']', 0);
    CHECK_NEAR(state->threshold, 0.1 * on.scene->typical_radius, 1e-9, "threshold");
    for (int i = 0; i < 3; i++)
        key(&on, '[', 0);
    CHECK(state->threshold == 0, "and back to none: %g", state->threshold);
    const struct { int key; int *field;
    } switches[] = {{'N', &state->normalise},        {'K', &state->clip},        {'T', &state->light},
                    {'W', &state->extent},           {'M', &state->show_image},  {'I', &state->interpolate},
                    {'F', &state->show_crosshair},   {'V', &state->show_values}, {'B', &state->show_colorbar},
                    {' ', &state->show_annotations}, {'H', &state->show_help},   {'?', &state->show_help}};
    for (size_t s = 0; s < sizeof switches / sizeof switches[0]; s++) {
        const int before = *switches[s].field;
        CHECK(key(&on, switches[s].key, 0) == HOT_REQUEST_REDRAW && *switches[s].field == !before, "switch %zu", s);
        key(&on, switches[s].key, 0);
        CHECK(*switches[s].field == before, "switch %zu back", s);
    }
    /* cycles through the images and "none", each with its own window */
    state->window[0] = 0, state->window[1] = 5;
    char first[HOT_VIEW_NAME];
    strcpy(first, state->background);
    for (int v = 0; v <= on.scene->volumes; v++) {
        char before[HOT_VIEW_NAME];
        strcpy(before, state->background);
        key(&on, HOT_KEY_PAGE_DOWN, 0);
        CHECK(strcmp(before, state->background) && isnan(state->window[0]), "another image");
    }
    CHECK(strcmp(first, state->background) == 0, "and round: %s", state->background);
    key(&on, HOT_KEY_PAGE_DOWN, 0);
    key(&on, HOT_KEY_PAGE_UP, 0);
    CHECK(strcmp(first, state->background) == 0, "and back: %s", state->background);
    state->window[0] = 0, state->window[1] = 5;
    state->show_help = 1;
    key(&on, HOT_KEY_ESCAPE, 0);
    CHECK(!state->show_help && state->window[1] == 5, "Esc closes the help first");
    key(&on, HOT_KEY_ESCAPE, 0);
    CHECK(isnan(state->window[0]) && isnan(state->window[1]), "Esc");
    /* camera */
    key(&on, '+', HOT_WITH_CTRL);
    CHECK_NEAR(state->zoom, 1.25, 1e-12, "zoom in");
    key(&on, '-', HOT_WITH_CTRL);
    CHECK_NEAR(state->zoom, 1, 1e-12, "zoom out");
    drag(&on, HOT_BUTTON_LEFT, HOT_WITH_CTRL, 300, 200, 350, 220);
    CHECK(fabs(state->tilt[0]) < 0.9999 && state->lock_axes == 1, "turned");
    key(&on, 'L', 0);
    CHECK(state->tilt[0] == 1 && state->lock_axes == 1, "L puts it straight");
    key(&on, 'L', 0);
    CHECK(state->lock_axes == 0, "then unlocks");
    key(&on, 'L', 0);
    CHECK(state->lock_axes == 1, "and locks");
    drag(&on, HOT_BUTTON_LEFT, HOT_WITH_CTRL, 300, 200, 350, 220);
    drag(&on, HOT_BUTTON_MIDDLE, 0, 300, 200, 350, 220);
    state->voxel[0] = state->voxel[1] = 0;
    key(&on, '+', HOT_WITH_CTRL);
    key(&on, 'R', 0);
    CHECK(state->zoom == 1 && isnan(state->center[0]) && state->tilt[0] == 1 && state->voxel[0] == NX / 2 &&
              state->voxel[1] == NY / 2 && state->voxel[2] == NZ / 2, "R");
    CHECK(key(&on, 'R', HOT_WITH_SHIFT) == HOT_REQUEST_RELOAD, "Shift+R");
    CHECK(key(&on, HOT_KEY_F11, 0) == HOT_REQUEST_FULL_SCREEN, "F11");
    CHECK(key(&on, 'Q', 0) == HOT_REQUEST_QUIT, "Q");
    hot_scene_destroy(&on.scene);

    /* unavailable glyphs are skipped */
    set_stage(context, &on);
    hot_scene_destroy(&on.scene);
    const hot_scene_parts sticks = {.grid = scene_grid(NX, NY, NZ), .max_fibers = 1, .peaks = on.peaks};
    CHECK(hot_scene_create(context, &sticks, &on.scene) == HOT_OK, "%s", hot_context_message(context));
    on.state.glyph = HOT_GLYPH_STICKS;
    key(&on, 'G', 0);
    CHECK(on.state.glyph == HOT_GLYPH_NONE, "no surfaces: %d", on.state.glyph);
    key(&on, 'G', 0);
    CHECK(on.state.glyph == HOT_GLYPH_STICKS, "sticks again: %d", on.state.glyph);
    hot_scene_destroy(&on.scene);
}

/* ---- Mouse ----------------------------------------------------------------------------------------------- */

static void test_mouse_in_plane(hot_context *context)
{
    static stage on;
    set_stage(context, &on);
    double pixel[2], ras[3], again[2];
    hot_viewport view = view_of(&on, 0);
    /* a click moves the crosshair and requests a pick; a drag moves the crosshair */
    hot_scene_to_ras(on.scene, (const double[3]){1, 2, on.state.voxel[2]}, ras);
    hot_viewport_project(&view, ras, pixel);
    move(&on, pixel[0], pixel[1]);
    CHECK(button(&on, HOT_BUTTON_LEFT, 1, 0) == HOT_REQUEST_REDRAW && on.state.voxel[0] == 1 && on.state.voxel[1] == 2,
          "press");
    hot_scene_to_ras(on.scene, (const double[3]){5, 3, on.state.voxel[2]}, ras);
    hot_viewport_project(&view, ras, pixel);
    CHECK(move(&on, pixel[0], pixel[1]) == HOT_REQUEST_REDRAW && on.state.voxel[0] == 5 && on.state.voxel[1] == 3,
          "drag");
    CHECK(button(&on, HOT_BUTTON_LEFT, 0, 0) == HOT_REQUEST_PICK, "release");
    hot_view_state before = on.state;
    CHECK(drag(&on, HOT_BUTTON_LEFT, 0, 2, 2, 2, 2) == 0 && memcmp(&before, &on.state, sizeof before) == 0,
          "outside the grid");
    CHECK(move(&on, 300, 300) == 0, "a move without a button has no effect");

    /* brightness is proportional to the drag; contrast grows upwards around the same centre */
    drag(&on, HOT_BUTTON_RIGHT, 0, 200, 200, 260, 200);
    const hot_view_volume *image = hot_scene_volume(on.scene, "t1");
    const double low = image->window[0], high = image->window[1], wide = high - low;
    CHECK_NEAR(on.state.window[0], low - 0.2 * wide, 1e-9, "brighter");
    CHECK_NEAR(on.state.window[1], high - 0.2 * wide, 1e-9, "brighter");
    drag(&on, HOT_BUTTON_RIGHT, 0, 200, 200, 200, 170);
    CHECK_NEAR(on.state.window[1] - on.state.window[0], wide * exp(-0.1), 1e-9, "more contrast");
    CHECK_NEAR((on.state.window[1] + on.state.window[0]) / 2, (low + high) / 2 - 0.2 * wide, 1e-9, "about its middle");
    drag(&on, HOT_BUTTON_RIGHT, 0, 200, 10, 200, 1e6);
    CHECK(isfinite(on.state.window[0]) && isfinite(on.state.window[1]) && on.state.window[1] > on.state.window[0],
          "any drag");

    /* panning: the point under the press is under the release */
    for (int way = 0; way < 2; way++) {
        view = view_of(&on, 0);
        hot_viewport_unproject(&view, 200, 150, ras);
        CHECK(drag(&on, way ? HOT_BUTTON_LEFT : HOT_BUTTON_MIDDLE, way ? HOT_WITH_SHIFT : 0, 200, 150, 262, 121) &
                  HOT_REQUEST_REDRAW,
              "pan");
        view = view_of(&on, 0);
        hot_viewport_project(&view, ras, again);
        CHECK_NEAR(again[0], 262, 1e-6, "pan %d", way);
        CHECK_NEAR(again[1], 121, 1e-6, "pan %d", way);
    }
    /* zooming keeps the point under the pointer */
    for (int in = 0; in < 2; in++) {
        view = view_of(&on, 0);
        const double mm = view.mm_per_pixel;
        hot_viewport_unproject(&view, 410, 90, ras);
        move(&on, 410, 90);
        CHECK(hot_input_wheel(&on.input, on.scene, &on.state, in ? 3 : -1, HOT_WITH_CTRL) == HOT_REQUEST_REDRAW,
              "zoom");
        view = view_of(&on, 0);
        hot_viewport_project(&view, ras, again);
        CHECK_NEAR(again[0], 410, 1e-6, "zoom %d", in);
        CHECK_NEAR(again[1], 90, 1e-6, "zoom %d", in);
        CHECK_NEAR(mm / view.mm_per_pixel, in ? 1.15 * 1.15 * 1.15 : 1 / 1.15, 1e-9, "magnified");
    }
    /* another button while one is held has no effect, and neither have unbound buttons */
    before = on.state;
    move(&on, 200, 200);
    button(&on, HOT_BUTTON_MIDDLE, 1, 0);
    CHECK(button(&on, HOT_BUTTON_LEFT, 1, 0) == 0 && button(&on, HOT_BUTTON_LEFT, 0, 0) == 0, "a second button");
    button(&on, HOT_BUTTON_MIDDLE, 0, 0);
    CHECK(drag(&on, HOT_BUTTON_MIDDLE, HOT_WITH_CTRL, 100, 100, 300, 300) == 0, "no meaning");
    CHECK(memcmp(&before, &on.state, sizeof before) == 0, "nothing changed");
    /* small movements are not a drag */
    CHECK(drag(&on, HOT_BUTTON_MIDDLE, 0, 200, 200, 202, 201) == 0 && memcmp(&before, &on.state, sizeof before) == 0,
          "tremble");
    hot_scene_destroy(&on.scene);
}

static void test_turning(hot_context *context)
{
    for (int space = 0; space < 2; space++) {
        static stage on;
        set_stage(context, &on);
        if (space)
            key(&on, HOT_KEY_F3, 0);
        hot_viewport view = view_of(&on, 0);
        /* a point in front follows the drag, one behind moves against it */
        double near[3], far[3], p[2], q[2];
        for (int d = 0; d < 3; d++) {
            near[d] = view.center[d] + view.toward[d];
            far[d] = view.center[d] - view.toward[d];
        }
        CHECK(drag(&on, HOT_BUTTON_LEFT, HOT_WITH_CTRL, 300, 200, 340, 170) & HOT_REQUEST_REDRAW, "turn");
        view = view_of(&on, 0);
        hot_viewport_project(&view, near, p);
        hot_viewport_project(&view, far, q);
        CHECK(p[0] > WIDTH / 2. + 0.5 && p[1] < HEIGHT / 2. - 0.5, "near follows: %g %g", p[0], p[1]);
        CHECK(q[0] < WIDTH / 2. - 0.5 && q[1] > HEIGHT / 2. + 0.5, "far goes back: %g %g", q[0], q[1]);
        /* rolling moves a point right of the centre to below it along with the pointer */
        double side[3];
        view = view_of(&on, 0);
        for (int d = 0; d < 3; d++)
            side[d] = view.center[d] + 3 * view.right[d];
        hot_viewport_project(&view, side, p);
        const double x = WIDTH / 2., y = HEIGHT / 2., r = p[0] - x;
        move(&on, x + 200, y);
        button(&on, HOT_BUTTON_RIGHT, 1, HOT_WITH_CTRL);
        for (int step = 1; step <= 9; step++)
            move(&on, x + 200 * cos(step * 10 * 0.017453292519943295), y + 200 * sin(step * 10 * 0.017453292519943295));
        button(&on, HOT_BUTTON_RIGHT, 0, HOT_WITH_CTRL);
        view = view_of(&on, 0);
        hot_viewport_project(&view, side, q);
        CHECK_NEAR(q[0], x, 1e-6, "rolled a quarter");
        CHECK_NEAR(q[1], y + r, 1e-6, "rolled a quarter");
        const double *rotation = space ? on.state.rotation : on.state.tilt;
        CHECK_NEAR(rotation[0] * rotation[0] + rotation[1] * rotation[1] + rotation[2] * rotation[2] +
                       rotation[3] * rotation[3],
                   1, 1e-12, "still a rotation");
        hot_scene_destroy(&on.scene);
    }
    /* in 3-D a plain drag turns and a click picks */
    static stage on;
    set_stage(context, &on);
    key(&on, HOT_KEY_F3, 0);
    double before[4], pixel[2], ras[3];
    memcpy(before, on.state.rotation, sizeof before);
    CHECK(!(drag(&on, HOT_BUTTON_LEFT, 0, 300, 200, 340, 170) & HOT_REQUEST_PICK), "a drag is no pick");
    CHECK(memcmp(before, on.state.rotation, sizeof before) != 0, "it turns");
    int wanted[3] = {NX - 1, NY - 1, 0}, voxel[3]; /* a corner towards the viewer is visible from there */
    on.state.extent = HOT_EXTENT_VOLUME;
    hot_viewport view = view_of(&on, 0);
    hot_scene_to_ras(on.scene, (const double[3]){wanted[0], wanted[1], wanted[2]}, ras);
    hot_viewport_project(&view, ras, pixel);
    CHECK(hot_pick_voxel(on.scene, &on.state, &view, pixel[0], pixel[1], voxel), "the pointer is on a voxel");
    CHECK(drag(&on, HOT_BUTTON_LEFT, 0, pixel[0], pixel[1], pixel[0] + 1, pixel[1]) & HOT_REQUEST_PICK,
          "a click picks");
    CHECK(memcmp(on.state.voxel, voxel, sizeof voxel) == 0, "the voxel under the pointer");
    hot_scene_destroy(&on.scene);
}

int main(void)
{
    static void (*const tests[])(hot_context *) = {test_table, test_slices, test_settings, test_mouse_in_plane,
                                                   test_turning, NULL};
    return scene_run_tests(tests);
}
