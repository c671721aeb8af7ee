/* Pictures without a display against analytic extents and colours, an independent rasteriser, windows and clipping. */
#include "check.h"
#include "scene/glyph_size.h"
#include "render/picture.h"
#include "scenes.h"

enum { SIDE = 240 };

static int drawn_by; /* hot_view_raster: all tests run with OpenGL's pipeline and with the CPU rasteriser */

/* One picture of SIDE x SIDE pixels with glyphs only. */
struct shot {
    hot_context *context;
    hot_pictures *pictures;
    const uint8_t *rgb;
    hot_view_state state;
    hot_view_layout layout;
};

static void bare(hot_view_state *state)
{
    hot_view_state_default(state);
    state->show_crosshair = state->show_annotations = state->show_image = state->show_colorbar = 0;
    state->light = 0;
    state->detail = 20480;
    state->raster = drawn_by;
}

static int take(struct shot *shot, hot_scene *scene)
{
    hot_status status = hot_view_state_resolve(shot->context, scene, &shot->state);
    if (status == HOT_OK)
        status = hot_pictures_draw(shot->pictures, scene, &shot->state, &shot->rgb);
    CHECK(status == HOT_OK, "%s", hot_context_message(shot->context));
    if (status == HOT_OK)
        hot_view_lay_out(scene, &shot->state, SIDE, SIDE, &shot->layout);
    return status == HOT_OK;
}

static const uint8_t *pixel(const struct shot *shot, int x, int y) { return shot->rgb + 3 * (x + SIDE * y); }

static int covered(const struct shot *shot, int x, int y)
{
    const uint8_t *p = pixel(shot, x, y);
    return p[0] > 8 || p[1] > 8 || p[2] > 8;
}

/* Bounding box and number of covered pixels. */
struct extent {
    int low[2], high[2];
    long count;
    double axis; /* main axis, radians from the x axis, y up */
};

static struct extent extent_of(const struct shot *shot)
{
    struct extent e = {{SIDE, SIDE}, {-1, -1}, 0, 0};
    double sum[2] = {0}, square[3] = {0};
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            if (!covered(shot, x, y))
                continue;
            const int at[2] = {x, y};
            for (int d = 0; d < 2; d++) {
                e.low[d] = at[d] < e.low[d] ? at[d] : e.low[d];
                e.high[d] = at[d] > e.high[d] ? at[d] : e.high[d];
            }
            e.count++;
            sum[0] += x, sum[1] += -y;
            square[0] += (double)x * x, square[1] -= (double)x * y, square[2] += (double)y * y;
        }
    if (e.count) {
        const double n = (double)e.count, xx = square[0] / n - sum[0] * sum[0] / (n * n);
        const double xy = square[1] / n - sum[0] * sum[1] / (n * n), yy = square[2] / n - sum[1] * sum[1] / (n * n);
        e.axis = 0.5 * atan2(2 * xy, xx - yy);
    }
    return e;
}

static hot_scene *tensor_scene(hot_context *context, const hot_grid *grid, int order, const float *tensors)
{
    hot_scene_parts parts = {.grid = *grid, .order = order, .tensors = tensors};
    return scene_make(context, &parts);
}

/* The glyph of one fibre, r = cos^m, extends 1 along it and sqrt(m^m / (m + 1)^(m + 1)) across. The colour at the tip
 * is that of the axis. */
static void test_single(struct shot *shot)
{
    for (int order = 2; order <= 8; order += 2)
        for (int axis = 0; axis < 3; axis++) {
            float row[46] = {1};
            const double v[3] = {axis == 0, axis == 1, axis == 2};
            const hot_grid grid = scene_grid(1, 1, 1);
            scene_add_fiber(order, v, 0.7, row + 1);
            hot_scene *scene = tensor_scene(shot->context, &grid, order, row);
            if (!scene)
                return;
            CHECK_NEAR(scene->radius[0], 0.7, 0.007, "order %d: largest radius", order);
            bare(&shot->state);
            if (take(shot, scene)) {
                const struct extent e = extent_of(shot);
                const double mm = shot->layout.viewport[0].mm_per_pixel, along = 0.5 / mm * 0.7 / scene->typical_radius;
                const double across = along * sqrt(pow(order, order) / pow(order + 1, order + 1));
                const double wanted[2] = {axis == 0 ? along : across, axis == 1 ? along : across};
                for (int d = 0; d < 2; d++) {
                    CHECK_NEAR(e.high[d] + 1 - e.low[d], 2 * wanted[d], 2.5, "order %d, fibre along %d, screen axis %d",
                               order, axis, d);
                    CHECK_NEAR((e.high[d] + 1 + e.low[d]) / 2., SIDE / 2., 1.5,
                               "order %d, fibre along %d: in the middle", order, axis);
                }
                /* near the tip, or facing it */
                const int x = SIDE / 2 + (axis == 0 ? (int)(0.95 * along) : 0),
                          y = SIDE / 2 + (axis == 1 ? (int)(0.95 * along) : 0);
                for (int c = 0; c < 3; c++)
                    CHECK_NEAR(pixel(shot, x, y)[c], c == axis ? 255 : 0, 64, "order %d, fibre along %d: colour %d",
                               order, axis, c);
            }
            hot_scene_destroy(&scene);
        }
}

/* Covered pixels and their colours from a million points of the surface: in each pixel the nearest one. */
static void cpu_raster(const hot_scene *scene, const hot_viewport *viewport, double mm, double (*color)[3],
                       double *depth)
{
    enum { POINTS = 1000000 };
    const int terms = (int)hot_symtensor_count(scene->order, 3);
    double tensor[45];
    for (int t = 0; t < terms; t++)
        tensor[t] = scene->tensors[1 + t];
    for (int p = 0; p < SIDE * SIDE; p++)
        depth[p] = -HUGE_VAL;
    for (int n = 0; n < POINTS; n++) {
        /* a spiral of uniform density */
        const double z = 1 - (2. * n + 1) / POINTS, angle = 2.399963229728653 * n, across = sqrt(1 - z * z);
        const double v[3] = {across * cos(angle), across * sin(angle), z};
        const double radius = mm * hot_symtensor_value_f64(scene->order, 3, tensor, v);
        if (!(radius > 0))
            continue;
        double at[2];
        const double point[3] = {radius * v[0], radius * v[1], radius * v[2]};
        const double away = hot_viewport_project(viewport, point, at);
        const int x = (int)floor(at[0]), y = (int)floor(at[1]);
        if (x < 0 || y < 0 || x >= SIDE || y >= SIDE || away <= depth[x + SIDE * y])
            continue;
        depth[x + SIDE * y] = away;
        for (int d = 0; d < 3; d++)
            color[x + SIDE * y][d] = fabs(v[d]);
    }
}

static void test_raster(struct shot *shot)
{
    static double color[SIDE * SIDE][3], depth[SIDE * SIDE];
    const hot_grid grid = scene_grid(1, 1, 1);
    const double a[3] = {0.6, 0.64, 0.48}, b[3] = {-0.8, 0.48, 0.36};
    for (int order = 4; order <= 8; order += 2) {
        float row[46] = {1};
        scene_add_fiber(order, a, 0.6, row + 1);
        scene_add_fiber(order, b, 0.45, row + 1);
        hot_scene *scene = tensor_scene(shot->context, &grid, order, row);
        if (!scene)
            return;
        for (int plane = 0; plane < 3; plane++) {
            bare(&shot->state);
            shot->state.plane = plane;
            if (!take(shot, scene))
                continue;
            long wrong = 0, off = 0, all = 0;
            cpu_raster(scene, &shot->layout.viewport[0], hot_scene_surface_mm(scene, &shot->state, 0), color, depth);
            for (int y = 1; y < SIDE - 1; y++)
                for (int x = 1; x < SIDE - 1; x++) {
                    const int at = x + SIDE * y, here = depth[at] > -HUGE_VAL;
                    int edge = 0; /* pixels crossed by the outline may be covered or not */
                    for (int n = 0; n < 9; n++)
                        edge |= (depth[at + n % 3 - 1 + SIDE * (n / 3 - 1)] > -HUGE_VAL) != here;
                    all += here;
                    if (edge)
                        continue;
                    wrong += covered(shot, x, y) != here;
                    for (int c = 0; c < 3 && here; c++)
                        if (!(fabs(pixel(shot, x, y)[c] - 255 * color[at][c]) <= 12)) {
                            off++;
                            break;
                        }
                }
            CHECK(all > 2000, "order %d: %ld pixels", order, all);
            CHECK(wrong <= all / 1000,
                  "order %d, plane %d: %ld pixels of %ld are covered where they should not be, or not", order, plane,
                  wrong, all);
            /* colours jump where one lobe covers another, and change within a pixel where lobes meet */
            CHECK(off <= all / 40, "order %d, plane %d: %ld pixels of %ld in another colour", order, plane, off, all);
        }
        hot_scene_destroy(&scene);
    }
}

/* A fibre's angle on the screen for every orientation of the grid, as surface and stick: nothing is mirrored. */
static void test_oblique(struct shot *shot)
{
    const hot_space spaces[3] = {HOT_SPACE_RAS, HOT_SPACE_LAS, HOT_SPACE_LPS};
    const double ras[3] = {0.8, 0.5, 0.33166};
    for (int test = 0; test < 3 * 8; test++) {
        hot_grid grid = {{1, 1, 1}, {{0}}, spaces[test % 3]};
        double q[4], sign[3], world[3];
        float row[29] = {1}, peak[3];
        hot_quaternion_axis((const double[3]){0.36, 0.48, 0.8}, 0.3, q);
        hot_space_ras_sign(grid.space, sign);
        for (int axis = 0; axis < 3; axis++) {
            double along[3] = {0, 0, 0}, turned[3];
            along[(axis + test) % 3] = test / 3 >> axis & 1 ? -1.5 : 1.5;
            hot_quaternion_rotate(q, along, turned);
            for (int d = 0; d < 3; d++)
                grid.to_world[d][axis] = turned[d];
        }
        for (int d = 0; d < 3; d++)
            peak[d] = (float)(world[d] = sign[d] * ras[d]);
        scene_add_fiber(6, world, 1, row + 1);
        for (int sticks = 0; sticks < 2; sticks++) {
            hot_scene_parts parts = {.grid = grid, .order = 6, .tensors = row, .max_fibers = 1, .peaks = peak};
            hot_scene *scene = scene_make(shot->context, &parts);
            if (!scene)
                return;
            bare(&shot->state);
            shot->state.glyph = sticks ? HOT_GLYPH_STICKS : HOT_GLYPH_SURFACE;
            shot->state.lock_axes = test % 2;
            if (take(shot, scene)) {
                const hot_viewport *viewport = &shot->layout.viewport[0];
                double right = 0, up = 0;
                for (int d = 0; d < 3; d++) {
                    right += viewport->right[d] * ras[d];
                    up += viewport->up[d] * ras[d];
                }
                const struct extent e = extent_of(shot);
                double apart = fmod(fabs(e.axis - atan2(up, right)), 3.141592653589793);
                apart = fmin(apart, 3.141592653589793 - apart);
                CHECK(e.count > 100, "test %d: %ld pixels", test, e.count);
                CHECK(apart < 0.035, "test %d, %s: %g degrees off", test, sticks ? "stick" : "surface", apart * 57.3);
                const uint8_t *p = pixel(shot, SIDE / 2 + (int)(0.8 * right * 0.75 / viewport->mm_per_pixel),
                                         SIDE / 2 - (int)(0.8 * up * 0.75 / viewport->mm_per_pixel));
                for (int c = 0; c < 3 && sticks; c++)
                    CHECK_NEAR(p[c], 255 * ras[c], 4, "test %d: stick's colour %d", test, c);
            }
            hot_scene_destroy(&scene);
        }
    }
}

/* Sticks end at the lobes' tips and are inside them. */
static void test_sticks_inside(struct shot *shot)
{
    static uint8_t surface[SIDE * SIDE];
    const hot_grid grid = scene_grid(1, 1, 1);
    const double a[3] = {0.8, 0.6, 0}, b[3] = {-0.6, 0.8, 0};
    float row[46] = {1}, peaks[6];
    scene_add_fiber(8, a, 1, row + 1);
    scene_add_fiber(8, b, 0.8, row + 1);
    for (int d = 0; d < 3; d++) {
        peaks[d] = (float)a[d];
        peaks[3 + d] = (float)(0.8 * b[d]);
    }
    hot_scene_parts parts = {.grid = grid, .order = 8, .tensors = row, .max_fibers = 2, .peaks = peaks};
    hot_scene *scene = scene_make(shot->context, &parts);
    if (!scene)
        return;
    bare(&shot->state);
    shot->state.glyph = HOT_GLYPH_SURFACE;
    long outside = 0, all = 0;
    if (take(shot, scene))
        for (int p = 0; p < SIDE * SIDE; p++)
            surface[p] = (uint8_t)covered(shot, p % SIDE, p / SIDE);
    shot->state.glyph = HOT_GLYPH_STICKS;
    shot->state.stick_width = 0.02;
    if (take(shot, scene))
        for (int y = 3; y < SIDE - 3; y++)
            for (int x = 3; x < SIDE - 3; x++) {
                int near =
                    0; /* a stick has its full thickness at the centre, where the lobes meet, and at the tip */
                for (int n = 0; n < 49; n++)
                    near |= surface[x + n % 7 - 3 + SIDE * (y + n / 7 - 3)];
                all += covered(shot, x, y);
                outside += covered(shot, x, y) && !near;
            }
    CHECK(all > 300 && outside == 0, "%ld of %ld stick pixels are outside the lobes", outside, all);
    hot_scene_destroy(&scene);
}

/* Image values to greys by the window; voxels at their positions. */
static void test_window(struct shot *shot)
{
    float peaks[3 * 12] = {0}, values[12];
    for (int v = 0; v < 12; v++)
        values[v] = (float)(10 * v - 20);
    hot_scene_parts parts = {.grid = scene_grid(3, 4, 1), .max_fibers = 1, .peaks = peaks};
    hot_scene *scene = scene_make(shot->context, &parts);
    if (!scene)
        return;
    CHECK(hot_scene_add_volume(scene, "ramp", 1, values, 0) == HOT_OK, "%s", hot_context_message(shot->context));
    for (int smooth = 0; smooth < 2; smooth++) {
        bare(&shot->state);
        shot->state.show_image = 1;
        shot->state.interpolate = smooth;
        shot->state.opacity = 0.8;
        strcpy(shot->state.background, "ramp");
        shot->state.window[0] = -10;
        shot->state.window[1] = 70;
        shot->state.canvas[1] = 0.5;
        if (!take(shot, scene))
            break;
        for (int v = 0; v < 12; v++) {
            const double at[3] = {v % 3, v / 3, 0};
            double ras[3], place[2];
            hot_scene_to_ras(scene, at, ras);
            hot_viewport_project(&shot->layout.viewport[0], ras, place);
            const double grey = fmin(fmax((values[v] + 10) / 80, 0), 1);
            const uint8_t *p = pixel(shot, (int)place[0], (int)place[1]);
            CHECK_NEAR(p[0], 255 * 0.8 * grey, 2.5, "voxel %d, red", v);
            CHECK_NEAR(p[1], 255 * (0.8 * grey + 0.2 * 0.5), 2.5, "voxel %d, green over the canvas", v);
        }
        CHECK_NEAR(pixel(shot, 0, SIDE / 2)[1], 128, 1, "canvas outside the image");
    }
    hot_scene_destroy(&scene);
}

/* An image on another grid (finer, other axes, another space) is at its position. Its values are a ramp over RAS mm,
 * which linear interpolation preserves. */
static void test_other_grid(struct shot *shot)
{
    enum { NI = 30, NJ = 44, NK = 36 };
    float rows[12][16] = {{0}};
    for (int v = 0; v < 12; v++)
        rows[v][0] = rows[v][1] = 1;
    for (int turn = 0; turn < 4; turn++) {
        const hot_space space = turn % 2 ? HOT_SPACE_LPS : HOT_SPACE_LAS;
        uint64_t seed = 5;
        const hot_grid grid = scene_turned_grid(4, 3, 1, turn / 2, &seed);
        hot_grid other = {{NI, NJ, NK}, {{0}}, space};
        hot_scene *scene = tensor_scene(shot->context, &grid, 4, rows[0]);
        float *values = hot_context_alloc(shot->context, (size_t)NI * NJ * NK, sizeof *values);
        double middle[3], q[4], sign[3];
        if (!scene || !values)
            return;
        hot_scene_to_ras(scene, (const double[3]){1.5, 1, 0}, middle);
        hot_space_ras_sign(space, sign);
        hot_quaternion_axis((const double[3]){0.6, 0, 0.8}, 0.3 + turn, q);
        for (int axis = 0; axis < 3; axis++) {
            double along[3] = {0, 0, 0}, turned[3];
            along[(axis + turn) % 3] = 0.4;
            hot_quaternion_rotate(q, along, turned);
            for (int d = 0; d < 3; d++)
                other.to_world[d][axis] = sign[d] * turned[d];
        }
        for (int d = 0; d < 3; d++) {
            other.to_world[d][3] = sign[d] * middle[d];
            for (int axis = 0; axis < 3; axis++)
                other.to_world[d][3] -= other.to_world[d][axis] * ((double)other.size[axis] - 1) / 2;
        }
        for (int k = 0, v = 0; k < NK; k++)
            for (int j = 0; j < NJ; j++)
                for (int i = 0; i < NI; i++, v++) {
                    double at = 0;
                    for (int d = 0; d < 3; d++) {
                        const double *m = other.to_world[d];
                        at += (d + 1) * (sign[d] * (m[0] * i + m[1] * j + m[2] * k + m[3]) - middle[d]);
                    }
                    values[v] = (float)at;
                }
        CHECK(hot_scene_add_image(scene, "ramp", 1, &other, values) == HOT_OK, "%s",
              hot_context_message(shot->context));
        bare(&shot->state);
        shot->state.glyph = HOT_GLYPH_NONE;
        shot->state.show_image = shot->state.interpolate = 1;
        shot->state.opacity = 1;
        strcpy(shot->state.background, "ramp");
        shot->state.window[0] = -10;
        shot->state.window[1] = 10;
        for (int plane = 0; plane < 3; plane++) {
            shot->state.plane = plane;
            if (!take(shot, scene))
                break;
            long seen = 0;
            for (int y = 20; y < SIDE; y += 20)
                for (int x = 20; x < SIDE; x += 20) {
                    const hot_viewport *viewport = &shot->layout.viewport[0];
                    double ras[3], value = 0;
                    int inside = hot_viewport_unproject(viewport, x + 0.5, y + 0.5, ras);
                    for (int d = 0; d < 3; d++)
                        value += (d + 1) * (ras[d] - middle[d]);
                    for (int axis = 0; axis < 3; axis++) { /* except at the edge */
                        double along = 0;
                        for (int d = 0; d < 3; d++)
                            along += sign[d] * other.to_world[d][axis] * (ras[d] - middle[d]) / 0.16;
                        inside &= fabs(along) < ((double)other.size[axis] - 1) / 2;
                    }
                    if (!inside)
                        continue;
                    seen++;
                    CHECK_NEAR(pixel(shot, x, y)[0], 255 * fmin(fmax((value + 10) / 20, 0), 1), 2,
                               "turn %d, plane %d, pixel %d %d", turn, plane, x, y);
                }
            CHECK(seen > 10, "%ld pixels", seen);
        }
        hot_scene_destroy(&scene);
    }
}

/* Normalised, clipped, thresholded and masked glyphs. */
static void test_sizes(struct shot *shot)
{
    float rows[2][16] = {{1}, {1}};
    uint8_t mask[2] = {1, 0};
    scene_add_fiber(4, (const double[3]){1, 0, 0}, 1, rows[0] + 1);
    scene_add_fiber(4, (const double[3]){1, 0, 0}, 0.25, rows[1] + 1);
    hot_scene_parts parts = {.grid = scene_grid(2, 1, 1), .order = 4, .tensors = rows[0], .mask = mask};
    hot_scene *scene = scene_make(shot->context, &parts);
    if (!scene)
        return;
    const hot_render_counts *counts = hot_renderer_counts(hot_pictures_renderer(shot->pictures));
    bare(&shot->state);
    shot->state.use_mask = 0;
    shot->state.normalise = 1;
    shot->state.scale = 0.9;
    if (take(shot, scene)) {
        long side[2] = {0, 0};
        for (int p = 0; p < SIDE * SIDE; p++)
            side[p % SIDE >= SIDE / 2] += covered(shot, p % SIDE, p / SIDE);
        CHECK(side[0] > 500 && labs(side[0] - side[1]) < side[0] / 20, "normalised: %ld and %ld pixels", side[0],
              side[1]);
        CHECK(counts->glyphs == 2, "%zu glyphs", counts->glyphs);
    }
    shot->state.normalise = 0;
    shot->state.threshold = 0.5;
    if (take(shot, scene))
        CHECK(counts->glyphs == 1, "threshold: %zu glyphs", counts->glyphs);
    shot->state.threshold = 0;
    shot->state.use_mask = 1;
    if (take(shot, scene))
        CHECK(counts->glyphs == 1, "mask: %zu glyphs", counts->glyphs);
    /* three times too large, clipped at the walls. The first voxel, on the patient's left, is on the right. */
    shot->state.scale = 3;
    shot->state.clip = 1;
    if (take(shot, scene)) {
        const struct extent e = extent_of(shot);
        double place[2], wall[2][3];
        hot_scene_to_ras(scene, (const double[3]){-0.5, -0.5, 0}, wall[0]);
        hot_scene_to_ras(scene, (const double[3]){0.5, 0.5, 0}, wall[1]);
        for (int w = 0; w < 2; w++) {
            hot_viewport_project(&shot->layout.viewport[0], wall[w], place);
            CHECK_NEAR(w == 0 ? e.high[0] + 1 : e.low[0], place[0], 1.6, "clipped at wall %d", w);
            CHECK(w == 0 ? e.high[1] + 1 < place[1] + 1.6 : e.low[1] > place[1] - 1.6, "clipped above and below");
        }
    }
    hot_scene_destroy(&scene);
}

/* Levels of detail: few triangles give the same picture as many. */
static void test_detail(struct shot *shot)
{
    enum { N = 12 };
    static float rows[N * N][46];
    static uint8_t fine[SIDE * SIDE * 3];
    uint64_t seed = 7;
    for (int g = 0; g < N * N; g++) {
        memset(rows[g], 0, sizeof rows[g]);
        rows[g][0] = 1;
        for (int f = 0; f < 2; f++) {
            double v[3];
            check_random_unit(&seed, v);
            scene_add_fiber(8, v, 0.5 + 0.5 * check_random(&seed), rows[g] + 1);
        }
    }
    const hot_grid grid = scene_grid(N, N, 1);
    hot_scene *scene = tensor_scene(shot->context, &grid, 8, rows[0]);
    if (!scene)
        return;
    const hot_render_counts *counts = hot_renderer_counts(hot_pictures_renderer(shot->pictures));
    bare(&shot->state);
    shot->state.light = 1;
    if (take(shot, scene))
        memcpy(fine, shot->rgb, sizeof fine);
    const size_t before = counts->triangles;
    shot->state.detail = 0;
    if (take(shot, scene)) {
        long far = 0, all = 0;
        for (int y = 1; y < SIDE - 1; y++)
            for (int x = 1; x < SIDE - 1; x++) {
                /* outlines may move by a pixel: compare with the best of 3 x 3 */
                int least = 255;
                for (int n = 0; n < 9; n++) {
                    const uint8_t *p = fine + 3 * (x + n % 3 - 1 + SIDE * (y + n / 3 - 1)), *q = pixel(shot, x, y);
                    int most = 0;
                    for (int c = 0; c < 3; c++)
                        most = abs(p[c] - q[c]) > most ? abs(p[c] - q[c]) : most;
                    least = most < least ? most : least;
                }
                all += covered(shot, x, y);
                far += least > 32;
            }
        CHECK(counts->triangles * 20 < before, "%zu triangles instead of %zu", counts->triangles, before);
        CHECK(all > 5000 && far < all / 12, "%ld of %ld pixels are quite different", far, all);
    }
    /* zoomed in, glyphs outside the picture are culled */
    shot->state.zoom = 6;
    if (take(shot, scene))
        CHECK(counts->glyphs + counts->culled == N * N && counts->culled > N * N / 2, "%zu drawn, %zu culled",
              counts->glyphs, counts->culled);
    hot_scene_destroy(&scene);
}

/* Zero, NaN, Inf and negative tensors, zero confidence and NaN directions draw nothing. */
static void test_nothing(struct shot *shot)
{
    enum { N = 6 };
    float rows[N][16], peaks[N][3], image[N];
    memset(rows, 0, sizeof rows);
    for (int g = 0; g < N; g++) {
        rows[g][0] = g != 4;
        for (int t = 1; t < 16; t++)
            rows[g][t] = g == 1 ? NAN : g == 2 ? -1.f : g == 4 ? 1 : 0;
        for (int d = 0; d < 3; d++)
            peaks[g][d] = g == 1 ? NAN : g == 3 ? INFINITY : 0;
        image[g] = g == 1 ? NAN : g == 3 ? INFINITY : 0;
    }
    rows[3][5] = INFINITY;
    rows[2][1] = rows[2][11] = rows[2][15] = -3; /* negative everywhere: -3 (x^4 + y^4 + z^4) and less */
    for (int t = 1; t < 16; t++)
        if (t != 1 && t != 11 && t != 15)
            rows[2][t] = 0;
    hot_scene_parts parts = {
        .grid = scene_grid(N, 1, 1), .order = 4, .tensors = rows[0], .max_fibers = 1, .peaks = peaks[0]};
    hot_scene *scene = scene_make(shot->context, &parts);
    if (!scene)
        return;
    CHECK(hot_scene_add_volume(scene, "odd", 1, image, 0) == HOT_OK, "%s", hot_context_message(shot->context));
    for (int mode = 0; mode < 3; mode++) {
        bare(&shot->state);
        shot->state.mode = mode;
        shot->state.normalise = 1;
        shot->state.extent = HOT_EXTENT_VOLUME;
        shot->state.show_image = 1;
        if (take(shot, scene))
            /* lines separate the viewports */
            CHECK(extent_of(shot).count <= (mode == HOT_VIEW_PLANES ? 2 * SIDE : 0), "mode %d: %ld pixels", mode,
                  extent_of(shot).count);
    }
    hot_scene_destroy(&scene);
}

int main(void)
{
    struct shot shot = {.context = NULL};
    if (hot_context_create(NULL, &shot.context) != HOT_OK)
        return 1;
    if (hot_pictures_create(shot.context, SIDE, SIDE, 1, &shot.pictures) != HOT_OK) {
        printf("%s\n", hot_context_message(shot.context));
        return 1;
    }
    for (drawn_by = HOT_RASTER_GPU; drawn_by <= HOT_RASTER_CPU; drawn_by++) {
        test_single(&shot);
        test_raster(&shot);
        test_oblique(&shot);
        test_sticks_inside(&shot);
        test_window(&shot);
        test_other_grid(&shot);
        test_sizes(&shot);
        test_detail(&shot);
        test_nothing(&shot);
    }
    hot_pictures_destroy(&shot.pictures);
    hot_context_destroy(&shot.context);
    HOT_TEST_END();
}
