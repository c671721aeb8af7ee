/* Replacing a scene by reloading or dropping files: which settings are kept, and that failures change nothing. */
#include "check.h"
#include "scene/scene_open.h"
#include "scenes.h"

#include <unistd.h>

enum { N = 5, VOXELS = N * N * N, ROW = 7 };

/* Order-2 tensors on a grid of N^3 voxels of `mm`, or of fewer along the last axis. */
static void save_tensors(hot_context *context, const char *path, double mm, size_t last)
{
    static float values[VOXELS * ROW];
    hot_tensor_field *field = NULL;
    hot_grid grid = scene_grid(N, N, last);
    for (int d = 0; d < 3; d++)
        grid.to_world[d][d] = mm;
    for (int v = 0; v < VOXELS; v++)
        values[v * ROW] = values[v * ROW + 1] = 1;
    CHECK(hot_tensor_field_create(context, &grid, 2, "adc", values, &field) == HOT_OK &&
              hot_tensor_field_save(context, field, path) == HOT_OK, "%s: %s", path, hot_context_message(context));
    hot_tensor_field_destroy(&field);
}

/* An image of N x N x last voxels, the first at RAS (x, -2, -2) mm. space "": unknown. */
static void save_image(const char *path, int last, const char *x)
{
    FILE *file = fopen(path, "w");
    fprintf(file, "NRRD0005\ntype: unsigned char\ndimension: 3\nsizes: %d %d %d\nencoding: raw\n", N, N, last);
    if (*x)
        fprintf(file, "space: right-anterior-superior\nspace directions: (1,0,0) (0,1,0) (0,0,1)\n"
                "space origin: (%s,-2,-2)\n", x);
    fputc('\n', file);
    for (int v = 0; v < N * N * last; v++)
        fputc(1 + v % 9, file);
    fclose(file);
}

int main(void)
{
    char folder[] = "/tmp/hot_open_XXXXXX";
    hot_context *context;
    hot_scene *scene = NULL, *next = NULL;
    hot_view_state state, before;
    if (hot_context_create(NULL, &context) != HOT_OK || !mkdtemp(folder) || chdir(folder) != 0)
        return 1;
    save_tensors(context, "a.nrrd", 1, N);
    save_tensors(context, "other.nrrd", 2, N - 1);
    save_image("t1.nrrd", N, "-2");
    save_image("larger.nrrd", N + 2, "-2.25");
    save_image("beside.nrrd", N + 2, "4.75");
    save_image("nowhere.nrrd", N + 2, "");
    FILE *broken = fopen("broken.nrrd", "w");
    fputs("NRRD0005\ntype: fl", broken);
    fclose(broken);

    const char *const first[] = {"a.nrrd"}, *const image[] = {"t1.nrrd"}, *const other[] = {"other.nrrd"};
    const char *const bad[] = {"broken.nrrd"}, *const none[] = {"nothing.nrrd"};
    const char *const beside[] = {"beside.nrrd"}, *const with_beside[] = {"a.nrrd", "beside.nrrd"};
    const char *const with_nowhere[] = {"a.nrrd", "nowhere.nrrd"}, *const with_larger[] = {"a.nrrd", "larger.nrrd"};
    CHECK(hot_scene_load(context, first, 1, NULL, &scene) == HOT_OK, "%s", hot_context_message(context));
    hot_view_state_default(&state);
    CHECK(hot_view_state_resolve(context, scene, &state) == HOT_OK, "%s", hot_context_message(context));
    state.voxel[0] = 1;
    state.zoom = 3;
    state.glyph = HOT_GLYPH_SURFACE;
    state.show_image = 0;

    /* failures leave everything unchanged and name the cause */
    before = state;
    CHECK(hot_scene_open_dropped(context, scene, NULL, bad, 1, &state, &next) != HOT_OK && !next &&
              strstr(hot_context_message(context), "broken.nrrd"), "broken: %s", hot_context_message(context));
    CHECK(hot_scene_open_dropped(context, scene, NULL, none, 1, &state, &next) != HOT_OK && !next &&
              strstr(hot_context_message(context), "nothing.nrrd"), "missing: %s", hot_context_message(context));
    CHECK(hot_scene_open_dropped(context, scene, NULL, beside, 1, &state, &next) != HOT_OK && !next,
          "an image outside");
    CHECK(hot_scene_load(context, with_beside, 2, NULL, &next) == HOT_ERROR_DATA && !next &&
              strstr(hot_context_message(context), "centre is at RAS 6.8 0.0 1.0 mm") &&
              strstr(hot_context_message(context), "beside.nrrd"), "%s", hot_context_message(context));
    CHECK(hot_scene_load(context, with_nowhere, 2, NULL, &next) == HOT_ERROR_DATA && !next &&
              strstr(hot_context_message(context), "nowhere.nrrd") &&
              strstr(hot_context_message(context), "5 x 5 x 7"), "%s", hot_context_message(context));
    CHECK(hot_scene_open_dropped(context, scene, NULL, none, 0, &state, &next) == HOT_ERROR_ARGUMENT && !next,
          "no file");
    CHECK(hot_scene_open_dropped(context, scene, NULL, none, 17, &state, &next) == HOT_ERROR_ARGUMENT && !next,
          "17 files");
    CHECK(memcmp(&before, &state, sizeof state) == 0, "the view is unchanged");

    /* an image on another grid has values at its position, and NaN beyond its edge (4 - 2.25 + 0.5 mm) */
    CHECK(hot_scene_load(context, with_larger, 2, NULL, &next) == HOT_OK, "%s", hot_context_message(context));
    const hot_view_volume *larger = next ? hot_scene_volume(next, "larger") : NULL;
    CHECK(larger && larger->own_grid && larger->size[2] == N + 2, "an image on another grid");
    for (size_t v = 0; v < VOXELS && larger; v++) {
        float value;
        hot_scene_value(next, larger, v, &value);
        CHECK_NEAR(value, 1 + v % 9, 0, "voxel %zu", v); /* a quarter of a voxel off: the same nearest voxel */
    }
    hot_scene_destroy(&next);

    /* tensors and directions go together: where nothing says where they lie, and where they lie the same; not half a
     * voxel apart. */
    static const double mm = 2;
    static const struct { hot_space space; double moved; int together; } pairs[] = {
        {HOT_SPACE_UNKNOWN, 0, 1}, {HOT_SPACE_RAS, 0, 1}, {HOT_SPACE_RAS, 0.49 * 2, 1}, {HOT_SPACE_RAS, 0.51 * 2, 0}};
    for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++) {
        static float values[VOXELS * ROW], peaks[VOXELS * 3];
        static const char *const both[] = {"pair.nrrd", "pair_peaks.nrrd"};
        hot_tensor_field *tensors = NULL;
        hot_fiber_field *fibers = NULL;
        hot_grid grid = scene_grid(N, N, N);
        for (int d = 0; d < 3; d++)
            grid.to_world[d][d] = mm;
        grid.space = pairs[p].space;
        for (int v = 0; v < VOXELS; v++)
            values[v * ROW] = values[v * ROW + 1] = peaks[3 * v] = 1;
        CHECK(hot_tensor_field_create(context, &grid, 2, "adc", values, &tensors) == HOT_OK &&
                  hot_tensor_field_save(context, tensors, both[0]) == HOT_OK, "%s", hot_context_message(context));
        grid.to_world[1][3] += pairs[p].moved;
        CHECK(hot_fiber_field_create(context, &grid, 1, peaks, &fibers) == HOT_OK &&
                  hot_fiber_field_save(context, fibers, both[1]) == HOT_OK, "%s", hot_context_message(context));
        CHECK((hot_scene_load(context, both, 2, NULL, &next) == HOT_OK) == pairs[p].together &&
                  (next != NULL) == pairs[p].together, "pair %zu: %s", p, hot_context_message(context));
        CHECK(pairs[p].together || strstr(hot_context_message(context), "are up to 1.02 mm apart"), "%s",
              hot_context_message(context));
        hot_scene_destroy(&next);
        hot_tensor_field_destroy(&tensors);
        hot_fiber_field_destroy(&fibers);
        remove(both[0]);
        remove(both[1]);
    }

    /* of diffusion data the first volume with b=0, whole: more voxels than are read at a time, of unequal sides */
    enum { DX = 19, DY = 13, DZ = 11, ALL = DX * DY * DZ, VOLUMES = 5 };
    static float signals[VOLUMES * ALL];
    static const double b[VOLUMES] = {1000, 1000, 0, 0, 1000};
    static const double gradients[3 * VOLUMES] = {1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    static const char *const data[] = {"data.nrrd"};
    const hot_grid whole = scene_grid(DX, DY, DZ);
    hot_dwi *dwi = NULL;
    for (int i = 0; i < VOLUMES * ALL; i++)
        signals[i] = (float)(1 + i % 4999);
    CHECK(hot_dwi_create(context, &whole, VOLUMES, b, gradients, signals, &dwi) == HOT_OK &&
              hot_dwi_save(context, dwi, data[0]) == HOT_OK && hot_scene_load(context, data, 1, NULL, &next) == HOT_OK,
          "%s", hot_context_message(context));
    const hot_view_volume *shown = next ? hot_scene_volume(next, "data") : NULL;
    CHECK(shown && shown->values, "an image of the data");
    for (int v = 0; v < ALL && shown && shown->values; v++)
        CHECK_NEAR(shown->values[v], signals[2 * ALL + v], 0, "voxel %d of the data", v);
    /* and every other one, with its row of the table */
    static const char *const rows[VOLUMES] = {
        "volume 1 of 5, b = 1000, direction 1.000 0.000 0.000", "volume 2 of 5, b = 1000, direction 0.000 1.000 0.000",
        "volume 3 of 5, b = 0", "volume 4 of 5, b = 0", "volume 5 of 5, b = 1000, direction 0.000 0.000 1.000"};
    hot_view_state stepped;
    hot_view_state_default(&stepped);
    for (int frame = -1; frame < VOLUMES && shown && shown->values; frame++) {
        const int there = frame < 0 ? 2 : frame;
        char row[128];
        stepped.frame = frame;
        CHECK(hot_scene_show_frame(next, &stepped) == HOT_OK, "%s", hot_context_message(context));
        for (int v = 0; v < ALL; v++)
            CHECK_NEAR(shown->values[v], signals[there * ALL + v], 0, "voxel %d of volume %d", v, frame);
        CHECK(hot_volume_describe_frame(shown, row, sizeof row) && strcmp(row, rows[there]) == 0, "%s", row);
    }
    stepped.frame = VOLUMES;
    CHECK(hot_volume_frames(shown) == VOLUMES && hot_scene_show_frame(next, &stepped) == HOT_ERROR_ARGUMENT &&
              strstr(hot_context_message(context), "has 5 volumes") != NULL, "%s", hot_context_message(context));
    hot_scene_destroy(&next);
    hot_dwi_destroy(&dwi);
    remove(data[0]);

    /* an image is added as the background and shown */
    CHECK(hot_scene_open_dropped(context, scene, NULL, image, 1, &state, &next) == HOT_OK, "%s",
          hot_context_message(context));
    CHECK(next && next->paths == 2 && strcmp(state.background, "t1") == 0 && state.show_image, "background %s",
          state.background);
    CHECK(state.voxel[0] == 1 && state.zoom == 3, "the same view");
    hot_scene_destroy(&scene);
    scene = next;

    /* tensors on another grid replace the scene: the view is reset, glyph settings are kept, the image is removed */
    CHECK(hot_scene_open_dropped(context, scene, "t1.nrrd", other, 1, &state, &next) == HOT_OK, "%s",
          hot_context_message(context));
    CHECK(next && next->paths == 1 && next->grid.size[2] == N - 1, "the other grid");
    CHECK(state.zoom == 1 && state.voxel[0] == N / 2 && state.glyph == HOT_GLYPH_SURFACE, "zoom %g", state.zoom);
    CHECK(strcmp(state.background, "auto") == 0, "background %s", state.background);
    hot_scene_destroy(&next);

    /* reloading keeps the view on the same grid and resets it on another; a missing file is harmless */
    state.zoom = 5;
    CHECK(hot_scene_reload(context, scene, NULL, &state, &next) == HOT_OK && next->paths == 2 && state.zoom == 5,
          "again: %s", hot_context_message(context));
    hot_scene_destroy(&next);
    strcpy(state.background, "t1");
    before = state;
    remove("t1.nrrd");
    CHECK(hot_scene_changed(scene), "a lost file is a change");
    CHECK(hot_scene_reload(context, scene, NULL, &state, &next) != HOT_OK && !next, "lost");
    CHECK(memcmp(&before, &state, sizeof state) == 0, "the view is unchanged");
    hot_scene_destroy(&scene);
    CHECK(hot_scene_load(context, first, 1, NULL, &scene) == HOT_OK, "%s", hot_context_message(context));
    save_tensors(context, "a.nrrd", 2, N);
    strcpy(state.background, "none");
    CHECK(hot_scene_reload(context, scene, NULL, &state, &next) == HOT_OK && state.zoom == 1,
          "a coarser grid: zoom %g", state.zoom);
    CHECK(strcmp(state.background, "none") == 0, "no image stays no image");
    hot_scene_destroy(&next);
    hot_scene_destroy(&scene);

    /* streamlines join an image; on other data elsewhere the layers of the old ones go */
    static const char *const tracks[] = {"a.tck"}, *const elsewhere[] = {"far.nrrd"}, *const near[] = {"larger.nrrd"};
    const float points[4][3] = {{0, 0, 0}, {1, 0, 0}, {NAN, NAN, NAN}, {INFINITY, INFINITY, INFINITY}};
    FILE *tck = fopen(tracks[0], "w");
    const uint16_t one = 1;
    fprintf(tck, "mrtrix tracks\ndatatype: Float32%s\nfile: . 64\nEND\n", *(const uint8_t *)&one ? "LE" : "BE");
    for (long at = ftell(tck); at < 64; at++)
        fputc(0, tck);
    fwrite(points, sizeof points, 1, tck);
    fclose(tck);
    save_image("far.nrrd", N, "900");
    hot_view_state_default(&state);
    CHECK(hot_scene_load(context, near, 1, NULL, &scene) == HOT_OK &&
              hot_scene_open_dropped(context, scene, NULL, tracks, 1, &state, &next) == HOT_OK, "%s",
          hot_context_message(context));
    CHECK(next && next->paths == 2 && state.layers == 1 && strcmp(state.layer[0].source, "a.tck") == 0 &&
              hot_scene_layer_lines(next, &state.layer[0]), "%d paths, %d layers", next ? next->paths : 0,
          state.layers);
    hot_scene_destroy(&scene);
    scene = next;
    CHECK(hot_view_state_add_layer(context, "larger.nrrd", &state) == HOT_OK &&
              hot_scene_open_layers(scene, &state) == HOT_OK && hot_scene_layer_volume(scene, &state.layer[1]), "%s",
          hot_context_message(context));
    CHECK(hot_scene_reload(context, scene, NULL, &state, &next) == HOT_OK && state.layers == 2,
          "they are read again: %s", hot_context_message(context));
    hot_scene_destroy(&next);
    CHECK(hot_scene_open_dropped(context, scene, NULL, elsewhere, 1, &state, &next) == HOT_OK && state.layers == 0,
          "%d layers: %s", state.layers, hot_context_message(context));
    hot_scene_destroy(&next);
    hot_scene_destroy(&scene);

    static float tensor[ROW] = {1, 1, 0, 0, 1, 0, 1};
    const hot_scene_parts parts = {.grid = scene_grid(1, 1, 1), .order = 2, .tensors = tensor};
    CHECK(hot_scene_create(context, &parts, &scene) == HOT_OK, "%s", hot_context_message(context));
    CHECK(hot_scene_reload(context, scene, NULL, &state, &next) == HOT_ERROR_ARGUMENT && !next, "from memory");
    hot_scene_destroy(&scene);
    static const char *const made[] = {"a.nrrd",      "other.nrrd",   "larger.nrrd",
                                       "beside.nrrd", "nowhere.nrrd", "broken.nrrd", "a.tck", "far.nrrd"};
    for (size_t f = 0; f < sizeof made / sizeof made[0]; f++)
        remove(made[f]);
    CHECK(chdir("/") == 0 && rmdir(folder) == 0, "no scene");
    hot_context_destroy(&context);
    HOT_TEST_END();
}
