/* The overlay: orientation letters for any grid and view, round lengths, panels with nothing outside the picture, and
 * words kept. What is drawn where is recorded: test_overlay_list.c. */
#include "check.h"
#include "input/input.h"
#include "overlay/overlay.h"
#include "overlay/overlay_parts.h"
#include "scene/pick.h"
#include "scenes.h"

enum { NX = 9, NY = 8, NZ = 7, VOXELS = NX * NY * NZ, MOST = 3 };

typedef struct stage {
    hot_context *context;
    hot_text *text;
    hot_scene *scene;
    hot_view_state state;
    hot_view_layout layout;
    hot_draw_list list;
    hot_overlay_page page;
    float tensors[VOXELS * 16], peaks[VOXELS * 3 * MOST], image[VOXELS];
} stage;

/* A turned grid in any space. */
static hot_grid any_grid(int turn, uint64_t *seed)
{
    static const hot_space spaces[] = {HOT_SPACE_RAS, HOT_SPACE_LPS, HOT_SPACE_LAS};
    hot_grid grid = scene_turned_grid(NX, NY, NZ, turn, seed);
    grid.space = spaces[turn % 3];
    return grid;
}

static void set_stage(hot_context *context, const hot_grid *grid, stage *on)
{
    hot_text *text = on->text;
    memset(on, 0, sizeof *on);
    on->context = context;
    on->text = text;
    if (!text)
        CHECK(hot_text_create(context, 1, &on->text) == HOT_OK, "%s", hot_context_message(context));
    for (int v = 0; v < VOXELS; v++) {
        on->tensors[16 * v] = 1;
        scene_add_fiber(4, (const double[3]){1, 0, 0}, 1, on->tensors + 16 * v + 1);
        on->peaks[3 * MOST * v] = 1;
        on->image[v] = (float)(v + 0.25);
    }
    const hot_scene_parts parts = {
        .grid = *grid, .order = 4, .tensors = on->tensors, .max_fibers = MOST, .peaks = on->peaks};
    CHECK(hot_scene_create(context, &parts, &on->scene) == HOT_OK, "%s", hot_context_message(context));
    CHECK(hot_scene_add_volume(on->scene, "t1", 1, on->image, 0) == HOT_OK, "%s", hot_context_message(context));
    hot_view_state_default(&on->state);
    strcpy(on->state.background, "t1");
    CHECK(hot_view_state_resolve(context, on->scene, &on->state) == HOT_OK, "%s", hot_context_message(context));
    hot_draw_list_begin(context, on->text, &on->list);
}

static void set_turned_stage(hot_context *context, int turn, uint64_t *seed, stage *on)
{
    const hot_grid grid = any_grid(turn, seed);
    set_stage(context, &grid, on);
}

static void lay_out(stage *on, int width, int height)
{
    hot_view_lay_out(on->scene, &on->state, width, height, &on->layout);
    on->page = (hot_overlay_page){on->scene, &on->state, &on->layout, &on->list, on->state.pixel_ratio};
    hot_draw_list_clear(&on->list);
}

static void clear_stage(stage *on)
{
    hot_draw_list_free(&on->list);
    hot_scene_destroy(&on->scene);
}

static const hot_draw_item *find_text(const hot_draw_list *list, const char *text)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].kind == HOT_DRAW_TEXT && strcmp(hot_draw_item_text(list, &list->items[i]), text) == 0)
            return &list->items[i];
    return NULL;
}

/* The text item whose centre is nearest to a point. */
static const char *text_near(const hot_draw_list *list, double x, double y)
{
    const char *best = "";
    double least = INFINITY;
    for (size_t i = 0; i < list->count; i++) {
        const hot_draw_item *item = &list->items[i];
        if (item->kind != HOT_DRAW_TEXT)
            continue;
        const double away = hypot((double)(item->x + item->x2) / 2 - x, (double)item->y - 6 - y);
        if (away < least) {
            least = away;
            best = hot_draw_item_text(list, item);
        }
    }
    return best;
}

/* ---- Orientation ----------------------------------------------------------------------------------------- */

/* Letters expected for a step between two pixels: its main axis, and a second axis above 15 degrees. */
static void expected_letters(const hot_viewport *view, double dx, double dy, char letters[3])
{
    const double x = view->x + view->width / 2, y = view->y + view->height / 2;
    double from[3], to[3], step[3];
    int order[3] = {0, 1, 2};
    hot_viewport_unproject(view, x, y, from);
    hot_viewport_unproject(view, x + dx, y + dy, to);
    for (int d = 0; d < 3; d++)
        step[d] = to[d] - from[d];
    for (int a = 0; a < 2; a++)
        for (int b = a + 1; b < 3; b++)
            if (fabs(step[order[b]]) > fabs(step[order[a]])) {
                int swap = order[a];
                order[a] = order[b];
                order[b] = swap;
            }
    memset(letters, 0, 3);
    letters[0] = "RASLPI"[order[0] + (step[order[0]] < 0 ? 3 : 0)];
    if (atan2(fabs(step[order[1]]), fabs(step[order[0]])) > 15 * 0.017453292519943295)
        letters[1] = "RASLPI"[order[1] + (step[order[1]] < 0 ? 3 : 0)];
}

static void test_orientation(hot_context *context)
{
    static stage on;
    uint64_t seed = 21;
    for (int turn = 0; turn < 20; turn++) {
        set_turned_stage(context, turn, &seed, &on);
        on.state.mode = turn % 2 ? HOT_VIEW_PLANES : HOT_VIEW_SINGLE;
        on.state.lock_axes = turn % 5 != 4;
        for (int plane = 0; plane < 3; plane++) {
            on.state.plane = plane;
            lay_out(&on, 900, 700);
            const hot_viewport *view = &on.layout.viewport[turn % 2 ? plane : 0];
            hot_overlay_add_orientation(&on.page, view);
            CHECK(on.list.count == 4, "four letters: %zu", on.list.count);
            static const double edges[4][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
            for (int e = 0; e < 4; e++) {
                char letters[3];
                expected_letters(view, 40 * edges[e][0], 40 * edges[e][1], letters);
                const char *shown = text_near(&on.list, view->x + view->width / 2 * (1 + edges[e][0]),
                                              view->y + view->height / 2 * (1 + edges[e][1]));
                CHECK(strcmp(shown, letters) == 0, "turn %d plane %d edge %d: %s, not %s", turn, plane, e, shown,
                      letters);
            }
        }
        /* 3-D: each letter is in its direction */
        on.state.mode = HOT_VIEW_SPACE;
        double axis[3];
        check_random_unit(&seed, axis);
        hot_quaternion_axis(axis, 6 * check_random(&seed), on.state.rotation);
        lay_out(&on, 900, 700);
        const hot_viewport *view = &on.layout.viewport[0];
        hot_overlay_add_orientation(&on.page, view);
        const hot_draw_item *ball = NULL;
        for (size_t i = 0; i < on.list.count; i++)
            ball = on.list.items[i].kind == HOT_DRAW_BALL ? &on.list.items[i] : ball;
        CHECK(ball != NULL, "a ball of colours");
        for (int l = 0; l < 6 && ball; l++) {
            const char letter[2] = {"RASLPI"[l], 0};
            const hot_draw_item *item = find_text(&on.list, letter);
            double ras[3], pixel[2];
            for (int d = 0; d < 3; d++)
                ras[d] = view->center[d] + (d == l % 3 ? (l < 3 ? 10 : -10) : 0);
            const double toward = hot_viewport_project(view, ras, pixel);
            const double scale = 35 * view->mm_per_pixel / 10;
            CHECK(item != NULL, "letter %s", letter);
            if (!item)
                continue;
            CHECK_NEAR((item->x + item->x2) / 2, (double)ball->x + scale * (pixel[0] - 450), 1.01, "turn %d %s", turn,
                       letter);
            CHECK_NEAR(item->y - 4.5, (double)ball->y + scale * (pixel[1] - 350), 2.01, "turn %d %s", turn, letter);
            if (fabs(toward) > 0.1) /* letters behind the ball are drawn before it */
                CHECK((item < ball) == (toward < 0), "turn %d %s in front or behind", turn, letter);
        }
        clear_stage(&on);
    }
    /* a grid in an unknown space has no R and L */
    hot_grid grid = any_grid(0, &seed);
    grid.space = HOT_SPACE_UNKNOWN;
    set_stage(context, &grid, &on);
    lay_out(&on, 900, 700);
    hot_overlay_add_orientation(&on.page, &on.layout.viewport[0]);
    CHECK(find_text(&on.list, "-x") && find_text(&on.list, "+x") && find_text(&on.list, "+y") &&
              find_text(&on.list, "-y"),
          "x y");
    clear_stage(&on);
    char letters[3];
    hot_overlay_letters((const double[3]){0.97, -0.24, 0}, 1, letters);
    CHECK(strcmp(letters, "R") == 0, "13.9 degrees off is straight: %s", letters);
    hot_overlay_letters((const double[3]){0.9, -0.26, 0}, 1, letters);
    CHECK(strcmp(letters, "RP") == 0, "16.1 degrees off leans: %s", letters);
}

/* ---- Scale ------------------------------------------------------------------------------------------------- */

static void test_scale(hot_context *context)
{
    (void)context;
    static const double exact[][2] = {{1, 1},    {1.99, 1}, {2, 2},        {4.9, 2},    {5, 5},
                                      {9.99, 5}, {10, 10},  {0.049, 0.02}, {7300, 5000}};
    for (size_t i = 0; i < sizeof exact / sizeof exact[0]; i++)
        CHECK_NEAR(hot_overlay_round_length(exact[i][0]), exact[i][1], 1e-9 * exact[i][1], "round %g", exact[i][0]);
}

/* ---- Panels ---------------------------------------------------------------------------------------------- */

/* Every text is inside the picture, from its ascent to its descent. */
static void check_inside(const stage *on, int width, int height, const char *what)
{
    for (size_t i = 0; i < on->list.count; i++) {
        const hot_draw_item *item = &on->list.items[i];
        if (item->kind == HOT_DRAW_TEXT)
            CHECK(item->x >= 0 && item->x2 <= (float)width && item->y - 8 >= 0 && item->y + 3 <= (float)height,
                  "%s, %d x %d: '%s' at %g %g", what, width, height, hot_draw_item_text(&on->list, item),
                  (double)item->x, (double)item->y);
    }
}

static void test_panels(hot_context *context)
{
    static stage on;
    uint64_t seed = 4;
    const hot_grid grid = any_grid(3, &seed);
    size_t count;
    const hot_binding *table = hot_bindings(&count);
    static const int sizes[][2] = {{1600, 1200}, {1024, 768}, {900, 600}, {700, 480}};
    set_stage(context, &grid, &on);
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        lay_out(&on, sizes[s][0], sizes[s][1]);
        hot_overlay_add_help(&on.page);
        check_inside(&on, sizes[s][0], sizes[s][1], "help");
        for (size_t i = 0; i < count; i++)
            if (table[i].label)
                CHECK(find_text(&on.list, table[i].label) && find_text(&on.list, table[i].help),
                      "%d x %d: '%s' is shown", sizes[s][0], sizes[s][1], table[i].help);
    }
    char *text = NULL;
    CHECK(hot_pick_describe(on.scene, &on.state, on.state.voxel, &text) == HOT_OK, "%s", hot_context_message(context));
    static const int heights[] = {900, 420, 300};
    for (int h = 0; h < 3; h++) {
        size_t lines = 0, shown = 0;
        int more = 0;
        lay_out(&on, h == 2 ? 520 : 1000, heights[h]);
        hot_overlay_add_values(&on.page, text);
        check_inside(&on, h == 2 ? 520 : 1000, heights[h], "values");
        for (const char *at = text; *at; at += strcspn(at, "\n") + 1) {
            char line[256];
            snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
            lines++;
            shown += find_text(&on.list, line) != NULL;
        }
        for (size_t i = 0; i < on.list.count; i++) {
            const char *said = hot_draw_item_text(&on.list, &on.list.items[i]);
            if (strstr(said, "more lines"))
                more = atoi(said + strlen("… "));
        }
        if (h < 2)
            CHECK(shown == lines && !more, "%d high: all %zu lines, not %zu", heights[h], lines, shown);
        else
            CHECK(more > 0, "missing lines are counted: %zu of %zu shown", shown, lines);
    }
    hot_context_free(context, text);
    lay_out(&on, 400, 300);
    hot_overlay_add_message(
        &on.page, "'/a/very/long/name/of/a/file/that/nobody/can/read/without/its/being/broken.nrrd' is not what it "
                  "should be, and this line has no end at all");
    CHECK(on.list.count > 3, "broken into lines: %zu", on.list.count);
    check_inside(&on, 400, 300, "message");
    clear_stage(&on);
}

/* ---- The whole ------------------------------------------------------------------------------------------- */

static void test_whole(hot_context *context)
{
    static stage on;
    uint64_t seed = 4;
    const hot_grid grid = any_grid(3, &seed);
    hot_overlay *overlay = NULL;
    const hot_overlay_mesh *mesh = NULL;
    set_stage(context, &grid, &on);
    CHECK(hot_overlay_create(context, &overlay) == HOT_OK, "create");
    on.state.show_annotations = 0;
    CHECK(hot_overlay_build(overlay, on.scene, &on.state, 640, 480, &mesh) == HOT_OK && mesh && mesh->count == 0,
          "nothing");
    hot_overlay_set_message(overlay, "trouble");
    CHECK(hot_overlay_build(overlay, on.scene, &on.state, 640, 480, &mesh) == HOT_OK && mesh->count > 0,
          "but a message");
    CHECK(hot_overlay_set_message(overlay, NULL) == 1 && hot_overlay_set_message(overlay, NULL) == 0, "removed once");
    on.state.show_annotations = on.state.show_values = on.state.show_help = 1;
    size_t before = 0;
    unsigned version = 0;
    for (int mode = 0; mode < 3; mode++)
        for (int again = 0; again < 2; again++) {
            on.state.mode = mode;
            CHECK(hot_overlay_build(overlay, on.scene, &on.state, 640, 480, &mesh) == HOT_OK, "%s",
                  hot_context_message(context));
            CHECK(mesh->count > 1000 && mesh->count % 3 == 0 && mesh->atlas, "triangles: %zu", mesh->count);
            CHECK(!again || mesh->count == before, "the same again");
            CHECK(!version || mesh->atlas_version == version, "the same font");
            before = mesh->count;
            version = mesh->atlas_version;
            for (size_t v = 0; v < mesh->count; v++)
                CHECK(isfinite(mesh->vertices[v].x) && isfinite(mesh->vertices[v].y) && mesh->vertices[v].u <= 1 &&
                          mesh->vertices[v].v <= 1,
                      "vertex %zu", v);
        }
    on.state.pixel_ratio = 2;
    CHECK(hot_overlay_build(overlay, on.scene, &on.state, 1280, 960, &mesh) == HOT_OK && mesh->atlas_version != version,
          "a finer screen, another font");
    /* sizes without room for text are harmless */
    static const int tiny[][2] = {{1, 1}, {3, 200}, {200, 3}, {64, 64}};
    for (size_t s = 0; s < sizeof tiny / sizeof tiny[0]; s++)
        for (int mode = 0; mode < 3; mode++) {
            on.state.mode = mode;
            CHECK(hot_overlay_build(overlay, on.scene, &on.state, tiny[s][0], tiny[s][1], &mesh) == HOT_OK,
                  "%d x %d: %s", tiny[s][0], tiny[s][1], hot_context_message(context));
        }
    /* one voxel without a finite number */
    static float tensor[16];
    hot_scene *lone = NULL;
    for (int i = 0; i < 16; i++)
        tensor[i] = i ? NAN : 1;
    const hot_scene_parts parts = {.grid = scene_grid(1, 1, 1), .order = 4, .tensors = tensor};
    CHECK(hot_scene_create(context, &parts, &lone) == HOT_OK, "%s", hot_context_message(context));
    hot_view_state_default(&on.state);
    on.state.show_values = 1;
    on.state.color = HOT_COLOR_VALUE;
    CHECK(hot_view_state_resolve(context, lone, &on.state) == HOT_OK, "%s", hot_context_message(context));
    for (int mode = 0; mode < 3; mode++) {
        on.state.mode = mode;
        CHECK(hot_overlay_build(overlay, lone, &on.state, 640, 480, &mesh) == HOT_OK && mesh->count > 0,
              "one voxel: %s", hot_context_message(context));
        for (size_t v = 0; v < mesh->count; v++)
            CHECK(isfinite(mesh->vertices[v].x) && isfinite(mesh->vertices[v].y), "vertex %zu", v);
    }
    hot_scene_destroy(&lone);
    hot_overlay_destroy(&overlay);
    CHECK(!overlay, "destroyed");
    clear_stage(&on);
    hot_text_destroy(context, &on.text);
}

/* How much ink a triangle has in the picture of letters, whose places there differ from one font to the next. */
static double ink_of(const hot_overlay_mesh *mesh, const hot_overlay_vertex *corner)
{
    const double u0 = fmin(corner[0].u, fmin(corner[1].u, corner[2].u)) * mesh->atlas_width;
    const double u1 = fmax(corner[0].u, fmax(corner[1].u, corner[2].u)) * mesh->atlas_width;
    const double v0 = fmin(corner[0].v, fmin(corner[1].v, corner[2].v)) * mesh->atlas_height;
    const double v1 = fmax(corner[0].v, fmax(corner[1].v, corner[2].v)) * mesh->atlas_height;
    double sum = 0;
    for (int y = (int)round(v0); u0 >= 0 && y < (int)round(v1); y++)
        for (int x = (int)round(u0); x < (int)round(u1); x++)
            sum += (1 + x - round(u0)) * mesh->atlas[y * mesh->atlas_width + x];
    return sum;
}

static int draw_the_same(const hot_overlay_mesh *a, const hot_overlay_mesh *b)
{
    int same = a->count == b->count;
    for (size_t v = 0; v < a->count && same; v++)
        same = a->vertices[v].x == b->vertices[v].x && a->vertices[v].y == b->vertices[v].y &&
               memcmp(a->vertices[v].rgba, b->vertices[v].rgba, 4) == 0 &&
               (v % 3 || ink_of(a, &a->vertices[v]) == ink_of(b, &b->vertices[v]));
    return same;
}

/* Words about a voxel are kept while it is looked at: another voxel, data or scene has its own, as in an overlay that
 * has drawn nothing before. */
static void test_kept_words(hot_context *context)
{
    static stage on, other;
    uint64_t seed = 4;
    const hot_grid grid = any_grid(1, &seed);
    hot_overlay *kept = NULL;
    set_stage(context, &grid, &on);
    set_stage(context, &grid, &other);
    for (int v = 0; v < VOXELS; v++) {
        on.tensors[16 * v + 1] = (float)(1 + v % 13);
        other.peaks[3 * MOST * v + 3] = 0.5f;
    }
    on.state.show_annotations = on.state.show_values = 1;
    CHECK(hot_overlay_create(context, &kept) == HOT_OK, "create");
    for (int step = 0; step < 7; step++) {
        const hot_scene *scene = step == 4 ? other.scene : on.scene;
        const hot_overlay_mesh *mesh = NULL, *wanted = NULL;
        hot_overlay *fresh = NULL;
        if (step >= 1 && step <= 3)
            on.state.voxel[step - 1]++;
        if (step == 6) { /* the file was read again, in the same place */
            for (int v = 0; v < VOXELS; v++)
                on.tensors[16 * v + 1] = 77;
            on.scene->file_stamp++;
        }
        CHECK(hot_overlay_create(context, &fresh) == HOT_OK &&
                  hot_overlay_build(kept, scene, &on.state, 900, 700, &mesh) == HOT_OK &&
                  hot_overlay_build(fresh, scene, &on.state, 900, 700, &wanted) == HOT_OK,
              "%s", hot_context_message(context));
        CHECK(mesh->count > 1000 && draw_the_same(mesh, wanted), "step %d: old words", step);
        hot_overlay_destroy(&fresh);
    }
    hot_overlay_destroy(&kept);
    clear_stage(&on);
    clear_stage(&other);
    hot_text_destroy(context, &on.text);
    hot_text_destroy(context, &other.text);
}

int main(void)
{
    static void (*const tests[])(hot_context *) = {test_orientation, test_scale,      test_panels,
                                                   test_whole,       test_kept_words, NULL};
    return scene_run_tests(tests);
}
