/* Diffusion tensors as ellipsoids, by every way of drawing, against the equation of the ellipsoid: half axes in
 * proportion to the eigenvalues means that p^T D^-2 p is constant on it. */
#include "check.h"
#include "glyph/ellipsoid.h"
#include "render/picture.h"
#include "scene/pick.h"
#include "scenes.h"

enum { SIDE = 240 };

/* D = sum of e_i e_i^T lambda_i, and sum of e_i e_i^T lambda_i^-2. */
static void make_tensor(const double axes[3][3], const double lambda[3], float d[6], double inverse[3][3])
{
    for (int i = 0, r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            double sum = 0;
            inverse[r][c] = 0;
            for (int k = 0; k < 3; k++) {
                sum += lambda[k] * axes[k][r] * axes[k][c];
                inverse[r][c] += axes[k][r] * axes[k][c] / (lambda[k] * lambda[k]);
            }
            if (c >= r)
                d[i++] = (float)sum;
        }
}

static double form(const double m[3][3], const double a[3], const double b[3])
{
    double sum = 0;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            sum += a[r] * m[r][c] * b[c];
    return sum;
}

/* The point of the ellipsoid p^T inverse p = mm^2 that is seen in a pixel: the nearer root along the line of sight.
 * inverse is in the tensors' world. Returns 0 outside the ellipsoid. */
static int seen_point(const hot_scene *scene, const hot_viewport *viewport, const double inverse[3][3], double mm,
                      double column, double row, double p[3])
{
    double ras[3], from[3], along[3], back[3];
    const double voxel[3] = {0, 0, 0};
    hot_scene_to_ras(scene, voxel, ras);
    for (int d = 0; d < 3; d++) {
        const double right = (column - viewport->x - viewport->width / 2) * viewport->mm_per_pixel;
        const double up = -(row - viewport->y - viewport->height / 2) * viewport->mm_per_pixel;
        back[d] = viewport->center[d] + right * viewport->right[d] + up * viewport->up[d] - ras[d];
        from[d] = scene->sign[d] * back[d];
        along[d] = scene->sign[d] * viewport->toward[d];
    }
    const double a = form(inverse, along, along), b = form(inverse, along, from);
    const double c = form(inverse, from, from) - mm * mm, under = b * b - a * c;
    if (!(under > 0))
        return 0;
    const double t = (-b + sqrt(under)) / a;
    for (int d = 0; d < 3; d++)
        p[d] = back[d] + t * viewport->toward[d];
    return 1;
}

/* Grey in the light of viz/shaders/shade.glsl, at a point p: the normal is the gradient of p^T inverse p. */
static double lit_grey(const hot_scene *scene, const hot_viewport *viewport, const double inverse[3][3],
                       const double p[3])
{
    double normal[3], light[3], half[3], length = 0, size = 0, facing = 0, shine = 0;
    hot_viewport_light(viewport, light);
    for (int r = 0; r < 3; r++) {
        normal[r] = 0;
        for (int c = 0; c < 3; c++)
            normal[r] += scene->sign[r] * inverse[r][c] * scene->sign[c] * p[c];
        length += normal[r] * normal[r];
        half[r] = light[r] + viewport->toward[r];
        size += half[r] * half[r];
    }
    for (int d = 0; d < 3; d++) {
        facing += normal[d] * light[d] / sqrt(length);
        shine += normal[d] * half[d] / sqrt(length * size);
    }
    return 0.82 * (0.34 + 0.66 * fmax(0, facing)) + 0.12 * pow(fmax(0, shine), 32);
}

/* Where triangles are small, the colour of a pixel is |p| / its length, or a lit grey. Within 1.5 pixels of the outline
 * anything goes. */
static void compare(const hot_scene *scene, const hot_viewport *viewport, const double inverse[3][3], double mm,
                    const uint8_t *rgb, const hot_view_state *state, const char *what)
{
    long inside = 0, outside = 0, wrong = 0, off = 0;
    for (int row = 0; row < SIDE; row++)
        for (int column = 0; column < SIDE; column++) {
            const uint8_t *pixel = rgb + 3 * (row * SIDE + column);
            const int shown = pixel[0] || pixel[1] || pixel[2];
            double p[3], q[3];
            int near = 0;
            for (int side = 0; side < 8; side++)
                near += seen_point(scene, viewport, inverse, mm, column + 0.5 + 1.5 * cos(side * 0.785398),
                                   row + 0.5 + 1.5 * sin(side * 0.785398), q);
            if (near == 0) {
                outside++;
                wrong += shown;
            } else if (near == 8 && seen_point(scene, viewport, inverse, mm, column + 0.5, row + 0.5, p)) {
                const double length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
                inside++;
                wrong += !shown;
                for (int d = 0; d < 3; d++)
                    off += fabs(255 * (state->light ? lit_grey(scene, viewport, inverse, p) : fabs(p[d]) / length) -
                                pixel[d]) > 8;
            }
        }
    CHECK(inside > 300 && outside > SIDE * SIDE / 4, "%s: %ld pixels inside, %ld outside", what, inside, outside);
    CHECK(wrong <= inside / 400, "%s: %ld of %ld pixels are on the wrong side of the outline", what, wrong, inside);
    CHECK(!state->detail || off <= inside / 50, "%s: %ld of %ld pixels have another colour", what, off, inside);
}

static void settings(hot_view_state *state)
{
    hot_view_state_default(state);
    state->show_crosshair = state->show_annotations = state->show_image = state->show_colorbar = 0;
    state->light = 0;
}

static void test_pictures(hot_context *context)
{
    static const double lambda[5][3] = {{1.7, 0.3, 0.2}, {1.2, 1.1, 0.3}, {1, 1, 1}, {1.5, 0.9, 0.4}, {1.6, 0.6, 0.3}};
    static const hot_space spaces[3] = {HOT_SPACE_RAS, HOT_SPACE_LPS, HOT_SPACE_LAS};
    hot_pictures *pictures = NULL;
    uint64_t seed = 43;
    CHECK(hot_pictures_create(context, SIDE, SIDE, 1, &pictures) == HOT_OK, "%s", hot_context_message(context));
    for (int shape = 0; shape < 5 && pictures; shape++) {
        double axes[3][3], inverse[3][3];
        float row[7] = {1};
        hot_scene_parts parts = {
            .grid = scene_turned_grid(1, 1, 1, shape, &seed), .order = 2, .diffusion = 1, .tensors = row};
        parts.grid.space = spaces[shape % 3];
        check_random_axes(&seed, axes[0], axes[1], axes[2]);
        make_tensor((const double (*)[3])axes, lambda[shape], row + 1, inverse);
        hot_scene *scene = scene_make(context, &parts);
        for (int way = 0; way < 18 && scene; way++) {
            static const int ways[] = {HOT_RASTER_GPU, HOT_RASTER_CPU, HOT_RASTER_COMPUTE};
            const uint8_t *rgb = NULL;
            hot_view_layout layout;
            hot_view_state state;
            char what[80];
            snprintf(what, sizeof what, "tensor %d, way %d", shape, way);
            settings(&state);
            state.raster = ways[way % 3];
            state.detail = way / 6 ? 20480 : 0;
            state.light = way / 6 == 2;
            state.color = state.light ? HOT_COLOR_PLAIN : HOT_COLOR_DIRECTION;
            state.mode = way / 3 % 2 == 0 ? HOT_VIEW_SINGLE : HOT_VIEW_SPACE;
            CHECK(hot_view_state_resolve(context, scene, &state) == HOT_OK, "%s", hot_context_message(context));
            CHECK(hot_pictures_draw(pictures, scene, &state, &rgb) == HOT_OK, "%s", hot_context_message(context));
            hot_view_lay_out(scene, &state, SIDE, SIDE, &layout);
            /* the longest half axis fills half the voxel */
            const double shortest = fmin(scene->spacing[0], fmin(scene->spacing[1], scene->spacing[2]));
            compare(scene, &layout.viewport[0], (const double (*)[3])inverse, shortest / 2 / lambda[shape][0], rgb,
                    &state, what);
        }
        hot_scene_destroy(&scene);
    }
    hot_pictures_destroy(&pictures);
}

/* Number of pixels drawn. */
static long drawn(hot_context *context, hot_pictures *pictures, const hot_scene *scene, const hot_view_state *state)
{
    const uint8_t *rgb = NULL;
    long count = 0;
    CHECK(hot_pictures_draw(pictures, scene, state, &rgb) == HOT_OK, "%s", hot_context_message(context));
    for (int p = 0; p < SIDE * SIDE && rgb; p++)
        count += rgb[3 * p] || rgb[3 * p + 1] || rgb[3 * p + 2];
    return count;
}

/* Other tensors, and all with the setting peanut, are drawn as surfaces of radius v^T D v: of diag(1, a, b) seen
 * along z, the ellipse's area is pi a, and the peanut's the integral of (cos^2 + a sin^2)^2 / 2. */
static void test_peanut(hot_context *context)
{
    static const float row[7] = {1, 1, 0, 0, 0.2f, 0, 0.2f};
    const double ellipse = M_PI * 0.2, peanut = M_PI * (3 + 2 * 0.2 + 3 * 0.2 * 0.2) / 8;
    hot_pictures *pictures = NULL;
    CHECK(hot_pictures_create(context, SIDE, SIDE, 1, &pictures) == HOT_OK, "%s", hot_context_message(context));
    for (int diffusion = 0; diffusion < 2 && pictures; diffusion++)
        for (int shape = 0; shape < 2; shape++)
            for (int raster = HOT_RASTER_GPU; raster <= HOT_RASTER_CPU; raster++) {
                const hot_scene_parts parts = {
                    .grid = scene_grid(1, 1, 1), .order = 2, .diffusion = diffusion, .tensors = row};
                hot_view_state state;
                hot_scene *scene = scene_make(context, &parts);
                settings(&state);
                state.shape = shape;
                state.raster = raster;
                CHECK(hot_view_state_resolve(context, scene, &state) == HOT_OK, "%s", hot_context_message(context));
                const double radius = SIDE / 1.04 / 2; /* of a voxel that fills the picture but for its margin */
                const double area = diffusion && shape == HOT_SHAPE_ELLIPSOID ? ellipse : peanut;
                CHECK_NEAR((double)drawn(context, pictures, scene, &state) / (radius * radius * area), 1, 0.02,
                           "diffusion %d, shape %d, raster %d", diffusion, shape, raster);
                hot_scene_destroy(&scene);
            }
    hot_pictures_destroy(&pictures);
}

/* Eigenvalues of 0 and less are drawn as HOT_ELLIPSOID_THINNEST of the largest, others are kept. */
static void test_thin(hot_context *context)
{
    static const double lambda[6][3] = {{1, 0.5, 0.1}, {1, 0, 0}, {1, 0.5, -0.3}, {1, -2, -3}, {-1, -1, -1}, {0, 0, 0}};
    static const double expected[6][3] = {
        {1, 0.5, 0.1}, {1, 0.02, 0.02}, {1, 0.5, 0.02}, {1, 0.02, 0.02}, {-1, -1, -1}, {0, 0, 0}};
    const double straight[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    uint64_t seed = 5;
    (void)context;
    for (int shape = 0; shape < 6; shape++)
        for (int turn = 0; turn < 20; turn++) {
            double axes[3][3], unused[3][3];
            float d[6], to[6], wanted[6];
            check_random_axes(&seed, axes[0], axes[1], axes[2]);
            if (turn == 0)
                memcpy(axes, straight, sizeof axes);
            make_tensor((const double (*)[3])axes, lambda[shape], d, unused);
            make_tensor((const double (*)[3])axes, expected[shape], wanted, unused);
            hot_ellipsoid_tensor(d, to);
            for (int i = 0; i < 6; i++)
                CHECK_NEAR((double)to[i], (double)wanted[i], 1e-6, "tensor %d, turn %d, value %d", shape, turn, i);
        }
}

/* A click in 3-D hits the ellipsoid where it is drawn, and nothing outside it, where the peanut would be. */
static void test_pick(hot_context *context)
{
    static const float row[7] = {1, 1, 0, 0, 0.2f, 0, 0.2f};
    const hot_scene_parts parts = {.grid = scene_grid(1, 1, 1), .order = 2, .diffusion = 1, .tensors = row};
    hot_scene *scene = scene_make(context, &parts);
    hot_view_layout layout;
    hot_view_state state;
    long hits[2] = {0, 0};
    for (int shape = 0; shape < 2 && scene; shape++) {
        int voxel[3];
        settings(&state);
        state.shape = shape;
        state.mode = HOT_VIEW_SPACE;
        hot_quaternion_identity(state.rotation); /* from the front: x to the left, z up */
        CHECK(hot_view_state_resolve(context, scene, &state) == HOT_OK, "%s", hot_context_message(context));
        hot_view_lay_out(scene, &state, SIDE, SIDE, &layout);
        for (int p = 0; p < SIDE * SIDE; p++)
            hits[shape] += hot_pick_voxel(scene, &state, &layout.viewport[0], p % SIDE + 0.5, p / SIDE + 0.5, voxel);
    }
    const double mm = layout.viewport[0].mm_per_pixel, radius = 0.5 / mm;
    CHECK_NEAR((double)hits[0] / (radius * radius * M_PI * 0.2), 1, 0.03, "ellipsoid");
    CHECK_NEAR((double)hits[1] / (radius * radius * M_PI * (3 + 2 * 0.2 + 3 * 0.2 * 0.2) / 8), 1, 0.03, "peanut");
    hot_scene_destroy(&scene);
}

int main(void)
{
    static void (*const tests[])(hot_context *) = {test_pictures, test_peanut, test_thin, test_pick, NULL};
    return scene_run_tests(tests);
}
