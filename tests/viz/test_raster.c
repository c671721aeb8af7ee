/* The CPU rasteriser and compute shaders against OpenGL's pipeline, pixel by pixel; no gaps; the same result for any
 * number of threads. */
#include "check.h"
#include "starve.h"
#include "render/picture.h"
#include "raster/raster_parts.h"
#include "scenes.h"

enum { SIDE = 200, NX = 5, NY = 4, NZ = 3, VOXELS = NX * NY * NZ };

/* A field of 1 to 3 fibres per voxel in random directions. */
static hot_scene *make_scene(hot_context *context, int order, int turn, float *rows)
{
    const size_t row = 1 + hot_symtensor_count(order, 3);
    uint64_t seed = (uint64_t)(100 * order + turn);
    hot_scene_parts parts = {.grid = scene_turned_grid(NX, NY, NZ, turn, &seed), .order = order, .tensors = rows};
    hot_scene *scene = NULL;
    parts.diffusion = turn != 2; /* order 2: ellipsoids */
    parts.grid.space = turn == 0 ? HOT_SPACE_RAS : turn == 1 ? HOT_SPACE_LPS : HOT_SPACE_LAS;
    memset(rows, 0, VOXELS * row * sizeof *rows);
    for (size_t g = 0; g < VOXELS; g++) {
        rows[g * row] = 1;
        for (size_t f = 0; f <= g % 3; f++) {
            double v[3];
            check_random_unit(&seed, v);
            scene_add_fiber(order, v, 0.3 + 0.7 * check_random(&seed), rows + g * row + 1);
        }
    }
    CHECK(hot_scene_create(context, &parts, &scene) == HOT_OK, "%s", hot_context_message(context));
    return scene;
}

static void settings(hot_view_state *state)
{
    hot_view_state_default(state);
    state->show_crosshair = state->show_annotations = state->show_image = state->show_colorbar = 0;
}

/* ---- Against OpenGL --------------------------------------------------------------------------------------- */

/* Compares a picture with that of OpenGL's pipeline: number of pixels that differ by more than rounding, relative to
 * the covered ones. Outlines may differ by one sample, because positions are rounded differently. With several samples
 * per pixel OpenGL computes one colour per triangle and pixel, at the pixel's centre, even outside the triangle, so
 * that only uniform colours can be compared closely. */
static void compare_pictures(const uint8_t *first, const uint8_t *rgb, int share, const char *what, const char *way)
{
    long far = 0, seen = 0;
    double mean[2] = {0, 0};
    for (size_t p = 0; p < SIDE * SIDE; p++) {
        int most = 0, any = 0;
        for (size_t c = 0; c < 3; c++) {
            const int a = first[3 * p + c], b = rgb[3 * p + c];
            most = abs(a - b) > most ? abs(a - b) : most;
            any |= a | b;
            mean[0] += a;
            mean[1] += b;
        }
        seen += any != 0;
        far += most > (share > 10 ? 6 : 32);
    }
    CHECK(seen > SIDE * SIDE / 100, "%s, %s: %ld pixels show something", what, way, seen);
    CHECK(far <= 5 + seen / share, "%s, %s: %ld of %ld pixels differ", what, way, far, seen);
    CHECK_NEAR(mean[0] / mean[1], 1, share > 10 ? 0.005 : 0.03, "%s, %s: mean colour", what, way);
}

/* One view by OpenGL's pipeline, the CPU and compute shaders (by the pipeline again below OpenGL 4.3). */
static void compare(hot_context *context, hot_pictures *pictures, const hot_scene *scene, hot_view_state *state,
                    int close, const char *what)
{
    static uint8_t first[SIDE * SIDE * 3];
    static const int ways[] = {HOT_RASTER_GPU, HOT_RASTER_CPU, HOT_RASTER_COMPUTE};
    for (int w = 0; w < 3; w++) {
        const uint8_t *rgb = NULL;
        state->raster = ways[w];
        hot_status status = hot_view_state_resolve(context, scene, state);
        if (status == HOT_OK)
            status = hot_pictures_draw(pictures, scene, state, &rgb);
        CHECK(status == HOT_OK, "%s, way %d: %s", what, w, hot_context_message(context));
        if (status != HOT_OK)
            return;
        if (w == 0)
            memcpy(first, rgb, sizeof first);
        else
            compare_pictures(first, rgb,
                             !close   ? 10
                             : w == 1 ? 200
                                      : 40,
                             what, w == 1 ? "processor" : "compute shaders");
    }
}

static void test_against_gl(hot_context *context, int samples)
{
    static float rows[VOXELS * 46];
    hot_pictures *pictures = NULL;
    const int all = getenv("HOT_TEST_LONG") != NULL;
    CHECK(hot_pictures_create(context, SIDE, SIDE, samples, &pictures) == HOT_OK, "%s", hot_context_message(context));
    for (int order = 2; order <= 8 && pictures; order += 2)
        for (int turn = 0; turn < 3; turn++) {
            char what[100];
            hot_view_state state;
            hot_scene *scene = make_scene(context, order, turn, rows);
            if (!scene)
                break;
            for (int variant = 0; variant < 11; variant++) {
                if (!all && (variant + order / 2 + turn) % 3) /* every variant is combined with every order and grid */
                    continue;
                settings(&state);
                snprintf(what, sizeof what, "order %d, grid %d, variant %d, %d samples", order, turn, variant, samples);
                state.light = variant != 1 && variant != 3;
                state.clip = variant == 2 || variant == 9;
                state.scale = state.clip ? 1.7 : 1;
                state.color = variant == 3 ? HOT_COLOR_PLAIN : variant == 4 ? HOT_COLOR_VALUE : HOT_COLOR_DIRECTION;
                state.mode = variant == 5 ? HOT_VIEW_PLANES : variant >= 6 ? HOT_VIEW_SPACE : HOT_VIEW_SINGLE;
                state.extent = variant >= 7 ? HOT_EXTENT_VOLUME : HOT_EXTENT_SLICES;
                state.show_image = variant == 6 || variant == 9;
                /* glyphs across the edges; at 1.6 the compute shader culls */
                state.zoom = variant == 8 ? 3 : variant == 10 ? 1.6 : 1;
                state.detail = variant == 0 ? 20 : variant == 3 ? 60 : variant == 7 ? 320 : 0;
                compare(context, pictures, scene, &state, samples == 1 || variant == 3, what);
                if (variant == 8) { /* turning the camera brings others into view */
                    hot_quaternion_from_angles((const double[3]){70, 20, 0}, state.rotation);
                    compare(context, pictures, scene, &state, samples == 1, what);
                }
            }
            hot_scene_destroy(&scene);
        }
    hot_pictures_destroy(&pictures);
}

/* ---- By itself -------------------------------------------------------------------------------------------- */

struct drawing {
    hot_surface_set set;
    hot_surface_list list;
    hot_raster *raster;
    uint8_t (*color)[4];
    float *depth;
};

static void free_drawing(hot_context *context, struct drawing *drawing)
{
    hot_raster_destroy(&drawing->raster);
    hot_surface_free(context, &drawing->set);
    hot_surface_list_free(context, &drawing->list);
    hot_context_free(context, drawing->color);
    hot_context_free(context, drawing->depth);
}

/* Draws the 3-D view of a scene into `drawing`, whose buffers were filled with garbage. glyph: NULL = the best variant.
 */
static hot_status draw(hot_context *context, const hot_scene *scene, const hot_view_state *state, int width, int height,
                       int samples, raster_glyph *glyph, struct drawing *drawing)
{
    hot_view_layout layout;
    uint32_t *voxels = NULL;
    size_t count = 0, texels = (size_t)width * (size_t)height * (size_t)samples;
    int band = 0;
    memset(drawing, 0, sizeof *drawing);
    hot_view_lay_out(scene, state, width, height, &layout);
    hot_status status = hot_glyph_voxels(context, scene, state, &layout.viewport[0], &voxels, &count);
    if (status == HOT_OK)
        status = hot_surface_gather(context, scene, state, voxels, count, &drawing->set);
    if (status == HOT_OK)
        status = hot_surface_list_make(context, scene, state, &layout.viewport[0], 0, &drawing->set,
                                       &drawing->list);
    if (status == HOT_OK) {
        drawing->color = hot_context_alloc(context, texels, sizeof *drawing->color);
        drawing->depth = hot_context_alloc(context, texels, sizeof *drawing->depth);
        status = drawing->color && drawing->depth ? hot_raster_create(context, &drawing->raster) : HOT_ERROR_MEMORY;
    }
    if (status != HOT_OK)
        return status;
    memset(drawing->color, 0xa5, texels * sizeof *drawing->color);
    memset(drawing->depth, 0xa5, texels * sizeof *drawing->depth);
    if (glyph)
        hot_raster_set_variant(drawing->raster, glyph);
    hot_raster_job job = {.scene = scene, .state = state, .viewport = &layout.viewport[0], .set = &drawing->set,
                          .list = &drawing->list, .samples = samples};
    for (int s = 0; s < samples; s++) {
        job.sample[s][0] = ((float)s + 0.5f) / (float)samples;
        job.sample[s][1] = ((float)(s * 3 % samples) + 0.5f) / (float)samples;
    }
    status = hot_raster_begin(drawing->raster, &job, &band);
    for (int first = 0; first < height && status == HOT_OK; first += band) {
        const size_t at = (size_t)first * (size_t)width * (size_t)samples;
        status = hot_raster_draw(drawing->raster, first, drawing->color + at, drawing->depth + at);
    }
    return status;
}

static hot_context *threads_context(int threads)
{
    hot_context *context = NULL;
    const hot_context_options options = {.size = sizeof options, .threads = threads};
    CHECK(hot_context_create(&options, &context) == HOT_OK, "%d threads", threads);
    return context;
}

/* One, three and seven threads, with different tile sizes. Large pictures have several bands, joined without a seam. */
static void test_threads(void)
{
    enum { WIDTH = 700, HEIGHT = 900, SAMPLES = 2, TEXELS = WIDTH * HEIGHT * SAMPLES };
    static float rows[VOXELS * 46];
    struct drawing drawings[3] = {{.raster = NULL}};
    hot_context *contexts[3];
    hot_view_state state;
    for (int n = 0; n < 3; n++) {
        contexts[n] = threads_context(n == 0 ? 1 : n == 1 ? 3 : 7);
        hot_scene *scene = make_scene(contexts[n], 6, 1, rows);
        settings(&state);
        state.mode = HOT_VIEW_SPACE;
        state.extent = HOT_EXTENT_VOLUME;
        CHECK(hot_view_state_resolve(contexts[n], scene, &state) == HOT_OK, "state");
        CHECK(draw(contexts[n], scene, &state, WIDTH, HEIGHT, SAMPLES, NULL, &drawings[n]) == HOT_OK, "%s",
              hot_context_message(contexts[n]));
        hot_scene_destroy(&scene);
    }
    long other = 0, seen = 0;
    for (size_t t = 0; t < TEXELS; t++) {
        seen += drawings[0].depth[t] < 1;
        for (int n = 1; n < 3; n++)
            other += memcmp(drawings[0].color[t], drawings[n].color[t], 4) != 0 ||
                     !(drawings[0].depth[t] == drawings[n].depth[t]);
    }
    CHECK(seen > TEXELS / 50, "%ld", seen);
    CHECK(other == 0, "%ld samples depend on the number of threads", other);
    for (int n = 0; n < 3; n++) {
        free_drawing(contexts[n], &drawings[n]);
        hot_context_destroy(&contexts[n]);
    }
}

/* The list is the same for any number of threads, in the set's order. Without culling it is complete; with culling it
 * has all glyphs that overlap the picture. */
static void test_list(void)
{
    enum { X = 31, Y = 23, Z = 11, COUNT = X * Y * Z };
    static float rows[COUNT][7];
    hot_surface_list list[2][2] = {{{.items = NULL}}};
    hot_context *contexts[2];
    uint64_t seed = 5;
    for (size_t g = 0; g < COUNT; g++) {
        rows[g][0] = 1;
        rows[g][1] = rows[g][4] = rows[g][6] = g % 100 == 0 ? 0 : 0.02f + (float)check_random(&seed);
    }
    for (int n = 0; n < 2; n++) {
        const hot_scene_parts parts = {.grid = scene_grid(X, Y, Z), .order = 2, .tensors = rows[0]};
        contexts[n] = threads_context(n == 0 ? 1 : 7);
        hot_scene *scene = scene_make(contexts[n], &parts);
        hot_surface_set set = {0};
        uint32_t *voxels = NULL;
        size_t count = 0, missing = 0;
        hot_view_state state;
        hot_view_layout layout;
        settings(&state);
        state.mode = HOT_VIEW_SPACE;
        state.extent = HOT_EXTENT_VOLUME;
        state.zoom = 3;
        CHECK(hot_view_state_resolve(contexts[n], scene, &state) == HOT_OK, "state");
        hot_view_lay_out(scene, &state, 300, 200, &layout);
        const hot_viewport *viewport = &layout.viewport[0];
        CHECK(hot_glyph_voxels(contexts[n], scene, &state, viewport, &voxels, &count) == HOT_OK &&
                  hot_surface_gather(contexts[n], scene, &state, voxels, count, &set) == HOT_OK,
              "%s", hot_context_message(contexts[n]));
        for (int all = 0; all < 2; all++)
            CHECK(hot_surface_list_make(contexts[n], scene, &state, viewport, all, &set, &list[n][all]) == HOT_OK, "%s",
                  hot_context_message(contexts[n]));
        const size_t *inside = list[n][0].first, *all = list[n][1].first;
        CHECK(set.count > 4096 && all[HOT_SPHERES] == set.count && list[n][1].culled == 0, "%zu of %zu listed",
              all[HOT_SPHERES], set.count);
        CHECK(inside[HOT_SPHERES] + list[n][0].culled == set.count && inside[HOT_SPHERES] > 20, "%zu of %zu",
              inside[HOT_SPHERES], set.count);
        int levels = 0;
        for (int l = 0; l < HOT_SPHERES; l++) {
            size_t at = inside[l];
            float widest = 0;
            levels += all[l + 1] > all[l];
            for (size_t i = all[l]; i < all[l + 1]; i++) {
                const hot_surface_item *item = &list[n][1].items[i];
                const double ras[3] = {item->center[0], item->center[1], item->center[2]},
                             reach = (double)item->reach / viewport->mm_per_pixel;
                double pixel[2];
                hot_viewport_project(viewport, ras, pixel);
                widest = fmaxf(widest, item->reach);
                CHECK(i == all[l] || item[-1].slot < item->slot, "level %d: item %zu is out of order", l, i);
                if (at < inside[l + 1] && list[n][0].items[at].slot == item->slot)
                    CHECK(memcmp(&list[n][0].items[at++], item, sizeof *item) == 0, "item %zu differs", i);
                else /* culled: it must not overlap the picture */
                    missing +=
                        pixel[0] > -reach && pixel[0] < 300 + reach && pixel[1] > -reach && pixel[1] < 200 + reach;
            }
            CHECK(at == inside[l + 1], "level %d: %zu items more than without culling", l, inside[l + 1] - at);
            CHECK_NEAR(list[n][1].widest[l], widest, 0, "level %d: widest", l);
        }
        CHECK(missing == 0 && levels > 2, "%zu glyphs in the picture are left out; %d levels", missing, levels);
        hot_surface_free(contexts[n], &set);
        hot_scene_destroy(&scene);
    }
    for (int all = 0; all < 2; all++) {
        const hot_surface_list *one = &list[0][all], *seven = &list[1][all];
        CHECK(memcmp(one->first, seven->first, sizeof one->first) == 0 &&
                  memcmp(one->widest, seven->widest, sizeof one->widest) == 0 &&
                  memcmp(one->items, seven->items, one->first[HOT_SPHERES] * sizeof *one->items) == 0,
              "the list depends on the number of threads");
    }
    for (int n = 0; n < 2; n++) {
        for (int all = 0; all < 2; all++)
            hot_surface_list_free(contexts[n], &list[n][all]);
        hot_context_destroy(&contexts[n]);
    }
}

/* A ball is convex: each row it covers has no gap, for any rotation and level of detail. Its depth and size are known.
 */
static void test_ball(hot_context *context)
{
    static const int details[] = {20, 60, 80, 320, 2880, 20480};
    const hot_grid grid = scene_grid(1, 1, 1);
    const float row[7] = {1, 2, 0, 0, 2, 0, 2};
    const hot_scene_parts parts = {.grid = grid, .order = 2, .tensors = row};
    hot_scene *scene = scene_make(context, &parts);
    for (int turn = 0; turn < 24 && scene; turn++) {
        const int detail = details[turn % 6];
        struct drawing drawing;
        hot_view_state state;
        hot_view_layout layout;
        settings(&state);
        state.mode = HOT_VIEW_SPACE;
        state.extent = HOT_EXTENT_VOLUME;
        state.detail = detail;
        hot_quaternion_from_angles((const double[3]){37. * turn, turn < 6 ? 0 : 7. * turn, turn}, state.rotation);
        hot_view_state_resolve(context, scene, &state);
        hot_view_lay_out(scene, &state, SIDE, SIDE, &layout);
        CHECK(draw(context, scene, &state, SIDE, SIDE, 1, NULL, &drawing) == HOT_OK, "%s",
              hot_context_message(context));
        const double radius = 0.5 / layout.viewport[0].mm_per_pixel;
        long gaps = 0, area = 0;
        double nearest = 1;
        for (int y = 0; y < SIDE && drawing.raster; y++) {
            int begun = 0, ended = 0;
            for (int x = 0; x < SIDE; x++) {
                const float depth = drawing.depth[x + SIDE * y];
                const int here = drawing.color[x + SIDE * y][3] == 255;
                CHECK(here == (depth < 1), "colour without depth, or the other way round");
                gaps += here && ended;
                ended |= begun && !here;
                begun |= here;
                area += here;
                nearest = fmin(nearest, (double)depth);
            }
        }
        CHECK(gaps == 0, "%d triangles, turn %d: %ld pixels behind a gap", detail, turn, gaps);
        CHECK_NEAR((double)area / (3.141592653589793 * radius * radius), 1,
                   detail < 60     ? 0.35
                   : detail < 2000 ? 0.12
                                   : 0.02,
                   "%d triangles: area", detail);
        if (detail >= 2880)
            CHECK_NEAR((0.5 - nearest) * 2 * layout.viewport[0].depth, 0.5, 0.01, "depth of the nearest point");
        free_drawing(context, &drawing);
    }
    hot_scene_destroy(&scene);
}

/* SIMD variants differ from the plain one by rounding only. */
static void test_variants(hot_context *context)
{
#if defined(__x86_64__)
    static float rows[VOXELS * 46];
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        return;
    for (int order = 2; order <= 8; order += 2)
        for (int clip = 0; clip < 2; clip++) {
            struct drawing drawings[2];
            hot_view_state state;
            long far = 0, seen = 0;
            hot_scene *scene = make_scene(context, order, 2, rows);
            settings(&state);
            state.mode = HOT_VIEW_SPACE;
            state.extent = HOT_EXTENT_VOLUME;
            state.clip = clip;
            state.scale = 1 + clip;
            hot_view_state_resolve(context, scene, &state);
            for (int n = 0; n < 2; n++)
                CHECK(draw(context, scene, &state, SIDE, SIDE, 4, n ? hot_raster_glyph_avx2 : hot_raster_glyph_base,
                           &drawings[n]) == HOT_OK,
                      "%s", hot_context_message(context));
            for (size_t t = 0; t < 4 * SIDE * SIDE; t++) {
                const uint8_t *a = drawings[0].color[t], *b = drawings[1].color[t];
                seen += a[3] != 0;
                far += abs(a[0] - b[0]) + abs(a[1] - b[1]) + abs(a[2] - b[2]) + abs(a[3] - b[3]) > 6;
            }
            CHECK(seen > SIDE * SIDE / 10 && far <= seen / 500, "order %d: %ld of %ld samples differ", order, far,
                  seen);
            for (int n = 0; n < 2; n++)
                free_drawing(context, &drawings[n]);
            hot_scene_destroy(&scene);
        }
#else
    (void)context;
#endif
}

/* ---- Trouble ---------------------------------------------------------------------------------------------- */

/* Every allocation fails once. */
static void test_short_memory(void)
{
    static float rows[VOXELS * 46];
    int done = 0, failed = 0;
    for (int allowed = 0; allowed < 100 && !done; allowed++) {
        starved memory = {.fail_at = -1, .for_good = 1};
        hot_context_options options = {.size = sizeof options, .allocate = starved_take, .release = starved_give,
                                       .allocator_user = &memory, .threads = 2};
        hot_context *context = NULL;
        hot_view_state state;
        struct drawing drawing;
        if (hot_context_create(&options, &context) != HOT_OK)
            continue;
        hot_scene *scene = make_scene(context, 4, 0, rows);
        settings(&state);
        state.mode = HOT_VIEW_SPACE;
        state.extent = HOT_EXTENT_VOLUME;
        hot_view_state_resolve(context, scene, &state);
        memory.fail_at = memory.calls + allowed;
        hot_status status = draw(context, scene, &state, 64, 64, 1, NULL, &drawing);
        CHECK(status == HOT_OK || status == HOT_ERROR_MEMORY, "allocation %d: status %d", allowed, (int)status);
        failed += status == HOT_ERROR_MEMORY;
        done = status == HOT_OK;
        free_drawing(context, &drawing);
        hot_scene_destroy(&scene);
        hot_context_destroy(&context);
        CHECK(memory.live == 0, "allocation %d: %ld not released", allowed, memory.live);
    }
    CHECK(done && failed > 8, "%d allocations failed", failed);
}

int main(void)
{
    hot_context *context = NULL;
    if (hot_context_create(NULL, &context) != HOT_OK)
        return 1;
    test_against_gl(context, 1);
    test_against_gl(context, 4);
    test_threads();
    test_list();
    test_ball(context);
    test_variants(context);
    test_short_memory();
    hot_context_destroy(&context);
    HOT_TEST_END();
}
