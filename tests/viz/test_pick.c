/* Picking: the voxel under a pixel in planes and 3-D, on grids of any orientation, and its description. */
#include "check.h"
#include "scene/camera.h"
#include "scene/glyph_size.h"
#include "scene/pick.h"
#include "scenes.h"

enum { ORDER = 4, UNIQUE = 15, ROW = UNIQUE + 1, SIDE = 9, VOXELS = SIDE * (SIDE - 1) * (SIDE - 2), MOST = 3 };

typedef struct field {
    float tensors[VOXELS * ROW], peaks[VOXELS * 3 * MOST];
    uint8_t mask[VOXELS];
    hot_scene *scene;
} field;

/* A turned grid in any space. */
static hot_grid any_grid(int turn, uint64_t *seed)
{
    static const hot_space spaces[] = {HOT_SPACE_RAS, HOT_SPACE_LPS, HOT_SPACE_LAS, HOT_SPACE_UNKNOWN};
    hot_grid grid = scene_turned_grid(SIDE, SIDE - 1, SIDE - 2, turn, seed);
    grid.space = spaces[turn % 4];
    return grid;
}

/* One fibre along RAS direction v in some of the voxels, as tensors and as peaks. */
static void make_field(hot_context *context, const hot_grid *grid, const double ras[3], int every, field *made)
{
    double sign[3], world[3];
    memset(made, 0, sizeof *made);
    hot_space_ras_sign(grid->space, sign);
    for (int d = 0; d < 3; d++)
        world[d] = sign[d] * ras[d];
    for (int v = 0; v < VOXELS; v += every) {
        made->tensors[v * ROW] = 1;
        scene_add_fiber(ORDER, world, 0.5, made->tensors + v * ROW + 1);
        for (int d = 0; d < 3; d++)
            made->peaks[v * 3 * MOST + d] = (float)(0.5 * world[d]);
    }
    const hot_scene_parts parts = {.grid = *grid, .order = ORDER, .tensors = made->tensors, .max_fibers = MOST,
                                   .peaks = made->peaks, .mask = made->mask};
    memset(made->mask, 1, sizeof made->mask);
    CHECK(hot_scene_create(context, &parts, &made->scene) == HOT_OK, "scene: %s", hot_context_message(context));
}

static hot_view_state state_for(hot_context *context, const hot_scene *scene)
{
    hot_view_state state;
    hot_view_state_default(&state);
    CHECK(hot_view_state_resolve(context, scene, &state) == HOT_OK, "state");
    return state;
}

/* In 3-D only what is seen is picked: a black or masked part of a slice is no hit, its bright part is. */
static void test_unseen(hot_context *context)
{
    static field made;
    static float image[VOXELS];
    const hot_grid grid = scene_grid(SIDE, SIDE - 1, SIDE - 2);
    make_field(context, &grid, (const double[3]){1, 0, 0}, 1, &made);
    for (int v = 0; v < VOXELS; v++)
        image[v] = v % SIDE < SIDE / 2 ? 0 : 100; /* black at low i */
    CHECK(hot_scene_add_volume(made.scene, "t1", 1, image, 0) == HOT_OK, "an image");
    hot_view_state state = state_for(context, made.scene);
    hot_view_layout layout;
    state.mode = HOT_VIEW_SPACE;
    state.glyph = HOT_GLYPH_NONE;
    strcpy(state.background, "t1");
    hot_view_lay_out(made.scene, &state, 800, 800, &layout);
    for (int masked = 0; masked < 2; masked++)
        for (int i = 0; i < SIDE; i++) {
            double ras[3], pixel[2];
            int found[3] = {-7, -7, -7};
            const int at[3] = {i, 6, state.voxel[2]}; /* of the slice of constant k, in front of the crosshair */
            if (masked && i == SIDE - 1)
                made.mask[hot_scene_index(made.scene, at)] = 0;
            hot_scene_to_ras(made.scene, (const double[3]){at[0], at[1], at[2]}, ras);
            hot_viewport_project(&layout.viewport[0], ras, pixel);
            const int hit = hot_pick_voxel(made.scene, &state, &layout.viewport[0], pixel[0], pixel[1], found);
            const size_t index = hit ? hot_scene_index(made.scene, found) : 0;
            CHECK(!hit || (image[index] > 0 && made.mask[index]), "i = %d, masked %d: %d %d %d is not seen", i, masked,
                  found[0], found[1], found[2]); /* where a slice is black, one behind it may be hit */
            CHECK(hit || i < SIDE / 2 || (masked && i == SIDE - 1), "i = %d, masked %d: nothing", i, masked);
        }
    state.show_image = 0; /* nothing is drawn at all */
    int found[3];
    CHECK(!hot_pick_voxel(made.scene, &state, &layout.viewport[0], 400, 400, found), "nothing to hit");
    hot_scene_destroy(&made.scene);
}

static int same_voxel(const int a[3], const int b[3]) { return a[0] == b[0] && a[1] == b[1] && a[2] == b[2]; }

static void test_planes(hot_context *context)
{
    uint64_t seed = 7;
    for (int turn = 0; turn < 12; turn++) {
        static field made;
        const hot_grid grid = any_grid(turn, &seed);
        make_field(context, &grid, (const double[3]){1, 0, 0}, 1, &made);
        hot_view_state state = state_for(context, made.scene);
        hot_view_layout layout;
        state.mode = turn % 3 == 2 ? HOT_VIEW_PLANES : HOT_VIEW_SINGLE;
        if (turn % 4 == 3) /* tilted planes */
            hot_quaternion_axis((const double[3]){0.6, 0, 0.8}, 0.5, state.tilt);
        for (int plane = 0; plane < 3; plane++) {
            state.plane = plane;
            for (int d = 0; d < 3; d++)
                state.voxel[d] = (int)(check_random(&seed) * (double)grid.size[d]);
            hot_view_lay_out(made.scene, &state, 700, 500, &layout);
            const hot_viewport *view = &layout.viewport[state.mode == HOT_VIEW_PLANES ? plane : 0];
            for (int trial = 0; trial < 30; trial++) {
                int voxel[3], found[3] = {-7, -7, -7};
                double at[3], ras[3], pixel[2];
                for (int d = 0; d < 3; d++) {
                    voxel[d] = d == view->axis ? state.voxel[d] : (int)(check_random(&seed) * (double)grid.size[d]);
                    at[d] = voxel[d] + (d == view->axis ? 0 : 0.9 * (check_random(&seed) - 0.5));
                }
                hot_scene_to_ras(made.scene, at, ras);
                hot_viewport_project(view, ras, pixel);
                CHECK(hot_pick_voxel(made.scene, &state, view, pixel[0], pixel[1], found) && same_voxel(voxel, found),
                      "turn %d plane %d: %d %d %d for %d %d %d", turn, plane, found[0], found[1], found[2], voxel[0],
                      voxel[1], voxel[2]);
                /* outside the grid nothing is picked or changed */
                at[(view->axis + 1) % 3] = -0.6;
                hot_scene_to_ras(made.scene, at, ras);
                hot_viewport_project(view, ras, pixel);
                found[0] = -7;
                CHECK(!hot_pick_voxel(made.scene, &state, view, pixel[0], pixel[1], found) && found[0] == -7,
                      "outside");
            }
        }
        hot_scene_destroy(&made.scene);
    }
}

/* The pixel of a point `along` mm in RAS direction v from a voxel's centre. */
static void pixel_from(const hot_scene *scene, const hot_viewport *view, const int voxel[3], const double v[3],
                       double along, double pixel[2])
{
    double ras[3];
    hot_scene_to_ras(scene, (const double[3]){voxel[0], voxel[1], voxel[2]}, ras);
    for (int d = 0; d < 3; d++)
        ras[d] += along * v[d];
    hot_viewport_project(view, ras, pixel);
}

/* A single glyph in 3-D is hit on its lobes and missed next to its waist. */
static void test_lone_glyph(hot_context *context)
{
    uint64_t seed = 11;
    for (int turn = 0; turn < 16; turn++) {
        static field made;
        const hot_grid grid = any_grid(turn, &seed);
        double v[3], across[3], pixel[2];
        hot_view_layout layout;
        check_random_unit(&seed, v);
        make_field(context, &grid, v, VOXELS, &made); /* only voxel 0 0 0 */
        hot_view_state state = state_for(context, made.scene);
        state.mode = HOT_VIEW_SPACE;
        state.extent = HOT_EXTENT_VOLUME;
        state.scale = 1.5;
        state.glyph = turn % 2 ? HOT_GLYPH_SURFACE : HOT_GLYPH_STICKS;
        strcpy(state.background, "none");
        check_random_unit(&seed, across);
        hot_quaternion_axis(across, 3 * check_random(&seed), state.rotation);
        hot_view_lay_out(made.scene, &state, 900, 900, &layout);
        const hot_viewport *view = &layout.viewport[0];
        const double mm = 0.5 * (turn % 2 ? hot_scene_surface_mm(made.scene, &state, 0)
                                          : hot_scene_stick_mm(made.scene, &state, 0));
        const double thick = 2 * view->mm_per_pixel + hot_scene_stick_radius(made.scene, &state);
        double flat = 0;
        for (int d = 0; d < 3; d++)
            flat += v[d] * view->toward[d];
        flat = sqrt(1 - flat * flat); /* projected length of the fibre */
        for (int side = -1; side <= 1; side += 2) {
            int found[3] = {-7, -7, -7};
            pixel_from(made.scene, view, (const int[3]){0, 0, 0}, v, side * 0.9 * mm, pixel);
            CHECK(hot_pick_voxel(made.scene, &state, view, pixel[0], pixel[1], found) &&
                      same_voxel(found, (const int[3]){0, 0, 0}),
                  "turn %d: a lobe is hit: %d %d %d", turn, found[0], found[1], found[2]);
        }
        /* Off-centre, perpendicular to the fibre and to the view. The order-4 surface is nearly 0 there. */
        for (int d = 0; d < 3; d++)
            across[d] = v[(d + 1) % 3] * view->toward[(d + 2) % 3] - v[(d + 2) % 3] * view->toward[(d + 1) % 3];
        int found[3] = {-7, -7, -7};
        pixel_from(made.scene, view, (const int[3]){0, 0, 0}, across, (0.45 * mm + thick) / flat, pixel);
        if (hot_pick_voxel(made.scene, &state, view, pixel[0], pixel[1],
                           found)) { /* the slice behind is picked, not the glyph */
            int on_slice = 0;
            for (int d = 0; d < 3; d++)
                on_slice |= found[d] == state.voxel[d];
            CHECK(on_slice, "turn %d: next to the glyph, the slice: %d %d %d", turn, found[0], found[1], found[2]);
        }
        /* hidden glyphs cannot be picked */
        state.threshold = 0.6;
        pixel_from(made.scene, view, (const int[3]){0, 0, 0}, v, 0.5 * mm, pixel);
        found[0] = -7;
        int hit = hot_pick_voxel(made.scene, &state, view, pixel[0], pixel[1], found);
        CHECK(!hit || found[0] == state.voxel[0] || found[1] == state.voxel[1] || found[2] == state.voxel[2],
              "below threshold");
        state.threshold = 0;
        made.mask[0] = 0;
        hit = hot_pick_voxel(made.scene, &state, view, pixel[0], pixel[1], found);
        CHECK(!hit || found[0] == state.voxel[0] || found[1] == state.voxel[1] || found[2] == state.voxel[2],
              "outside the mask");
        hot_scene_destroy(&made.scene);
    }
}

/* The nearest glyph on the ray is picked: along the voxel axes, the outermost. */
static void test_nearest(hot_context *context)
{
    static field made;
    uint64_t seed = 3;
    const hot_grid grid = any_grid(0, &seed);
    make_field(context, &grid, (const double[3]){0.6, 0.64, 0.48}, 1, &made);
    hot_view_state state = state_for(context, made.scene);
    hot_view_layout layout;
    state.mode = HOT_VIEW_SPACE;
    state.extent = HOT_EXTENT_VOLUME;
    /* from the front, y points to the viewer; then from above */
    for (int view = 0; view < 2; view++) {
        const int depth = view ? 2 : 1;
        hot_quaternion_from_angles((const double[3]){0, view ? 90 : 0, 0}, state.rotation);
        hot_view_lay_out(made.scene, &state, 800, 800, &layout);
        for (int trial = 0; trial < 20; trial++) {
            int voxel[3], found[3] = {-7, -7, -7};
            double pixel[2];
            for (int d = 0; d < 3; d++)
                voxel[d] = d == depth ? (int)grid.size[d] - 1 : (int)(check_random(&seed) * (double)grid.size[d]);
            pixel_from(made.scene, &layout.viewport[0], voxel, (const double[3]){0}, 0, pixel);
            CHECK(hot_pick_voxel(made.scene, &state, &layout.viewport[0], pixel[0], pixel[1], found) &&
                      same_voxel(voxel, found),
                  "view %d: %d %d %d for %d %d %d", view, found[0], found[1], found[2], voxel[0], voxel[1], voxel[2]);
        }
    }
    /* with slices only: the slice through the crosshair */
    state.extent = HOT_EXTENT_SLICES;
    state.voxel[2] = 1;
    int voxel[3] = {2, 3, 1}, found[3] = {-7, -7, -7};
    double pixel[2];
    state.voxel[0] = 7;
    state.voxel[1] = 6;
    pixel_from(made.scene, &layout.viewport[0], voxel, (const double[3]){0}, 0, pixel);
    CHECK(hot_pick_voxel(made.scene, &state, &layout.viewport[0], pixel[0], pixel[1], found) &&
              same_voxel(voxel, found),
          "slices: %d %d %d", found[0], found[1], found[2]);
    hot_scene_destroy(&made.scene);
}

/* ---- Words ----------------------------------------------------------------------------------------------- */

/* Parses the numbers after `start` on the first line that begins with it; returns their number. */
static int numbers_after(const char *text, const char *start, double numbers[8])
{
    int count = 0;
    const char *line = text;
    while (*line && strncmp(line, start, strlen(start)) != 0)
        line += strcspn(line, "\n") + (line[strcspn(line, "\n")] == '\n');
    if (!*line)
        return -1;
    line += strlen(start);
    for (char *end; count < 8; line = end, count++) {
        while (*line == ' ' || *line == ',')
            line++;
        if (*line == '\n')
            break;
        numbers[count] = strtod(line, &end);
        if (end == line)
            break;
    }
    return count;
}

static void test_words(hot_context *context)
{
    for (int turn = 0; turn < 4; turn++) {
        static field made;
        uint64_t seed = 5;
        const hot_grid grid = any_grid(turn, &seed);
        /* two fibres at 85 degrees, .5 and .3, in RAS; tensors and peaks in the grid's world */
        const double a[3] = {0.6, 0, 0.8},
                     b[3] = {0.6 * cos(1.4835298641951802), sin(1.4835298641951802), 0.8 * cos(1.4835298641951802)};
        double sign[3], world[3], n[8];
        char *text = NULL;
        make_field(context, &grid, a, 1, &made);
        hot_scene_destroy(&made.scene);
        hot_space_ras_sign(grid.space, sign);
        for (int d = 0; d < 3; d++) {
            world[d] = sign[d] * b[d];
            for (int v = 0; v < VOXELS; v++)
                made.peaks[v * 3 * MOST + 3 + d] = (float)(0.3 * world[d]);
        }
        for (int v = 0; v < VOXELS; v++)
            scene_add_fiber(ORDER, world, 0.3, made.tensors + v * ROW + 1);
        made.tensors[1 * ROW + 4] = NAN;
        memset(made.tensors + 2 * ROW + 1, 0, UNIQUE * sizeof(float));
        made.tensors[3 * ROW] = 0;
        memset(made.peaks + 4 * 3 * MOST, 0, 3 * MOST * sizeof(float));
        made.mask[5] = 0;
        const hot_scene_parts parts = {.grid = grid, .order = ORDER, .tensors = made.tensors, .max_fibers = MOST,
                                       .peaks = made.peaks, .mask = made.mask};
        hot_view_state state;
        hot_view_state_default(&state);
        CHECK(hot_scene_create(context, &parts, &made.scene) == HOT_OK, "%s", hot_context_message(context));
        CHECK(hot_pick_describe(made.scene, &state, (const int[3]){8, 7, 6}, &text) == HOT_OK, "%s",
              hot_context_message(context));
        CHECK(numbers_after(text, "voxel ", n) == 3 && n[0] == 8 && n[1] == 7 && n[2] == 6, "index:\n%s", text);
        char index[32];
        snprintf(index, sizeof index, "index %d\n", VOXELS - 1);
        CHECK(strstr(text, index) != NULL, "running index");
        double ras[3];
        hot_scene_to_ras(made.scene, (const double[3]){8, 7, 6}, ras);
        const char *axes = grid.space == HOT_SPACE_UNKNOWN ? "  xyz      " : "  RAS      ";
        CHECK(numbers_after(text, axes, n) == 3 && fabs(n[0] - ras[0]) < 0.0051 && fabs(n[1] - ras[1]) < 0.0051 &&
                  fabs(n[2] - ras[2]) < 0.0051, "mm:\n%s", text);
        CHECK(numbers_after(text, "  nfibers  ", n) == 1 && n[0] == 2, "volumes:\n%s", text);
        CHECK(strstr(text, "\n2 fibres: length, direction in RAS\n") != NULL, "heading:\n%s", text);
        CHECK(numbers_after(text, "  1 ", n) == 4 && fabs(n[0] - 0.5) < 1e-4 && fabs(n[1] - a[0]) < 1e-4 &&
                  fabs(n[2] - a[1]) < 1e-4 && fabs(n[3] - a[2]) < 1e-4, "first fibre:\n%s", text);
        CHECK(numbers_after(text, "  2 ", n) == 4 && fabs(n[0] - 0.3) < 1e-4 && fabs(n[1] - b[0]) < 1e-4 &&
                  fabs(n[2] - b[1]) < 1e-4 && fabs(n[3] - b[2]) < 1e-4, "second fibre:\n%s", text);
        CHECK(numbers_after(text, "  1 to 2 ", n) == 1 && fabs(n[0] - 85) < 0.051, "angle:\n%s", text);
        /* every eigenpair satisfies A x^3 = lambda x */
        double tensor[UNIQUE], largest = 0;
        int pairs = 0, most = 0;
        for (int i = 0; i < UNIQUE; i++)
            tensor[i] = made.tensors[(VOXELS - 1) * ROW + 1 + i];
        for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
            double lambda, x[3], gradient[3];
            char kind[16];
            if (sscanf(line, "  %15[a-z] %lf %lf %lf %lf", kind, &lambda, &x[0], &x[1], &x[2]) != 5)
                continue;
            for (int d = 0; d < 3; d++)
                x[d] *= sign[d];
            double value = hot_symtensor_gradient_f64(ORDER, 3, tensor, x, gradient);
            CHECK(fabs(value - lambda) < 2e-3 * 0.5 && fabs(gradient[0] - lambda * x[0]) < 1e-3 &&
                      fabs(gradient[1] - lambda * x[1]) < 1e-3 && fabs(gradient[2] - lambda * x[2]) < 1e-3,
                  "pair %s", kind);
            pairs++;
            most += strcmp(kind, "max") == 0;
            largest = fmax(largest, lambda);
        }
        CHECK(pairs >= 4 && most == 2, "%d pairs, %d maxima:\n%s", pairs, most, text);
        CHECK(largest > 0.4999 && largest < 0.51, "the largest is near the first fibre's .5: %g", largest);
        /* coefficients as in the file */
        char line[64];
        snprintf(line, sizeof line, "xxxx %-10.4g xxxy %-10.4g xxxz %-10.4g", tensor[0], tensor[1], tensor[2]);
        CHECK(strstr(text, line) != NULL, "'%s' in\n%s", line, text);
        snprintf(line, sizeof line, "yzzz %-10.4g zzzz %-10.4g", tensor[13], tensor[14]);
        CHECK(strstr(text, line) != NULL, "'%s' in\n%s", line, text);
        hot_context_free(context, text);

        static const char *const expected[6] = {NULL,
                                                "\nthe tensor holds NaN or Inf\n",
                                                "\nno tensor: all values are 0\n",
                                                "\nno tensor: it was not fitted (confidence 0)\n",
                                                "\nno fibre\n",
                                                "\n  outside the mask\n"};
        for (int v = 1; v < 6; v++) {
            CHECK(hot_pick_describe(made.scene, &state, (const int[3]){v, 0, 0}, &text) == HOT_OK, "%s",
                  hot_context_message(context));
            CHECK(strstr(text, expected[v]) != NULL, "voxel %d says '%s':\n%s", v, expected[v], text);
            hot_context_free(context, text);
        }
        hot_scene_destroy(&made.scene);
    }
}

int main(void)
{
    static void (*const tests[])(hot_context *) = {test_planes, test_lone_glyph, test_nearest, test_unseen, test_words,
                                                   NULL};
    return scene_run_tests(tests);
}
