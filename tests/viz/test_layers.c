/* Layers: their text, the colours of images over the background by formula, outlines, other grids, a second set of
 * directions. */
#include "check.h"
#include "render/picture.h"
#include "scene/lines.h"
#include "scene/state_file.h"
#include "scenes.h"

#include <unistd.h>

enum { NX = 8, NY = 6, NZ = 3, ALL = NX * NY * NZ, SIDE = 240 };

/* ---- Text -------------------------------------------------------------------------------------------------- */

static void test_text(hot_context *context)
{
    static const char *const kept[] = {
        "fa", "a,b.nii.gz", "t1.nii.gz,opacity=0.25,colormap=cubehelix,min=-1,max=2.5,threshold=0.5",
        "/x/mask.nii.gz,outline=on", "l.nii,colormap=labels,blend=add,visible=off", "p.nii.gz,as=peaks,color=sky",
        "p.nii.gz,color=010aff", "t.nii.gz,as=tensor_mrtrix,threshold=0.5,beside=on", "p.nii.gz,color=direction",
        "an=odd,name.nii,opacity=0"};
    static const struct { const char *text, *said; } bad[] = {
        {"", "begins with"}, {",opacity=1", "begins with"}, {"a,opacity=2", "from 0 to 1"}, {"a,opacity=", "opacity"},
        {"a,colormap=jet", "cubehelix"}, {"a,size=3", "there is no 'size'"}, {"a,min=3,max=3", "not below"},
        {"a,min=nan", "a number"}, {"a,color=12345", "RRGGBB"}, {"a,color=1234567", "RRGGBB"}, {"a,blend=2", "add"},
        {"a,as=volume", "dyads"}, {"a,beside=2", "on|off"},
        {"a,opacity=1,", "there is no ''"}, {"a,opacity=1,x", "there is no 'x'"}, {"a,outline=yes", "on|off"}};
    hot_view_layer layer, again;
    char text[HOT_LAYER_TEXT], longer[HOT_VIEW_SOURCE + 1];
    for (size_t n = 0; n < sizeof kept / sizeof kept[0]; n++) {
        CHECK(hot_layer_parse(context, kept[n], &layer) == HOT_OK, "%s", hot_context_message(context));
        hot_layer_print(&layer, text, sizeof text);
        CHECK(strcmp(text, kept[n]) == 0, "%s prints %s", kept[n], text);
    }
    again = layer;
    for (size_t n = 0; n < sizeof bad / sizeof bad[0]; n++) {
        CHECK(hot_layer_parse(context, bad[n].text, &layer) == HOT_ERROR_ARGUMENT &&
                  strstr(hot_context_message(context), bad[n].said), "'%s': %s", bad[n].text,
              hot_context_message(context));
        CHECK(memcmp(&layer, &again, sizeof layer) == 0, "'%s' changes nothing", bad[n].text);
    }
    memset(longer, 'a', HOT_VIEW_SOURCE);
    longer[HOT_VIEW_SOURCE] = '\0';
    CHECK(hot_layer_parse(context, longer, &layer) == HOT_ERROR_ARGUMENT, "a name that does not fit");
    longer[HOT_VIEW_SOURCE - 1] = '\0';
    CHECK(hot_layer_parse(context, longer, &layer) == HOT_OK, "one that just fits");
}

/* ---- Images ------------------------------------------------------------------------------------------------ */

struct stage {
    hot_context *context;
    hot_scene *scene;
    hot_pictures *pictures;
    hot_view_state state;
    const uint8_t *rgb;
};

static int draw(struct stage *on)
{
    const hot_status status = hot_view_state_resolve(on->context, on->scene, &on->state) == HOT_OK &&
                                      hot_scene_open_layers(on->scene, &on->state) == HOT_OK
                                  ? hot_pictures_draw(on->pictures, on->scene, &on->state, &on->rgb)
                                  : HOT_ERROR_ARGUMENT;
    CHECK(status == HOT_OK, "%s", hot_context_message(on->context));
    return status == HOT_OK;
}

/* The pixel at a voxel's place, off its centre by a part of a voxel. */
static const uint8_t *pixel_at(const struct stage *on, double i, double j)
{
    hot_view_layout layout;
    double ras[3], at[2];
    hot_view_lay_out(on->scene, &on->state, SIDE, SIDE, &layout);
    hot_scene_to_ras(on->scene, (const double[3]){i, j, on->state.voxel[2]}, ras);
    hot_viewport_project(&layout.viewport[0], ras, at);
    return on->rgb + 3 * ((int)at[0] + SIDE * (int)at[1]);
}

static void begin(struct stage *on, const char *layer)
{
    hot_view_state_default(&on->state);
    on->state.show_crosshair = on->state.show_annotations = 0;
    on->state.interpolate = 0;
    on->state.opacity = 1;
    strcpy(on->state.background, "base");
    CHECK(hot_view_state_add_layer(on->context, layer, &on->state) == HOT_OK, "%s", hot_context_message(on->context));
}

static double clamp(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

/* The colour maps, written down again; cubehelix after Green (2011), start 0.38, -0.68 rotations, hue 1.8. */
static void expected(int map, double value, double x, double rgb[3])
{
    for (int c = 0; c < 3; c++)
        rgb[c] = map == HOT_COLORMAP_HOT ? clamp(3 * x - c) : map == HOT_COLORMAP_GREY ? x : 0;
    if (map >= HOT_COLORMAP_RED && map <= HOT_COLORMAP_BLUE)
        rgb[map - HOT_COLORMAP_RED] = x;
    if (map == HOT_COLORMAP_CUBEHELIX) {
        const double f = 0.25 + (0.86 - 0.25) * x, phi = 2 * acos(-1) * (0.38 / 3 - 0.68 * x);
        const double a = 1.8 * f * (1 - f) / 2, u = cos(phi), v = sin(phi);
        rgb[0] = clamp(f + a * (-0.14861 * u + 1.78277 * v));
        rgb[1] = clamp(f + a * (-0.29227 * u - 0.90649 * v));
        rgb[2] = clamp(f + a * 1.97294 * u);
    }
    if (map == HOT_COLORMAP_LABELS) {
        static const double offset[3] = {0, 4, 2};
        const double hue = 6 * fmod(0.618034 * value, 1);
        for (int c = 0; c < 3; c++)
            rgb[c] = (1 - 0.2 * fmod(value, 3)) * fmax(0.15, clamp(fabs(fmod(hue + offset[c], 6) - 3) - 1));
    }
}

static void test_maps(struct stage *on, const float *ramp)
{
    static const char *const names[] = {"grey", "hot", "cubehelix", "red", "green", "blue", "labels"};
    for (int m = HOT_COLORMAP_GREY; m <= HOT_COLORMAP_LABELS; m++)
        for (int half = 0; half < 2; half++) {
            char text[128];
            snprintf(text, sizeof text, "ramp,min=4,max=40,colormap=%s,opacity=%s", names[m - 1], half ? "0.5" : "1");
            begin(on, text);
            if (!draw(on))
                return;
            for (int v = 0; v < NX * NY; v++) {
                const double value = (double)ramp[v + NX * NY * on->state.voxel[2]];
                const uint8_t *seen = pixel_at(on, v % NX, v / NX);
                double rgb[3];
                expected(m, value, clamp((value - 4) / 36), rgb);
                const double behind = 0.25; /* of the background */
                for (int c = 0; c < 3; c++)
                    CHECK_NEAR(seen[c], 255 * (value == 0 ? behind : half ? 0.5 * rgb[c] + 0.5 * behind : rgb[c]), 1.6,
                               "%s: voxel %d, value %g, channel %d", text, v, value, c);
            }
        }
}

static void test_rules(struct stage *on)
{
    begin(on, "ramp,colormap=grey,min=0,max=47,threshold=20");
    if (draw(on))
        for (int v = 0; v < NX * NY; v++)
            CHECK_NEAR(pixel_at(on, v % NX, v / NX)[0], v >= 20 ? 255 * v / 47. : 64, 1.6, "above 20: voxel %d", v);
    begin(on, "ramp,colormap=labels,threshold=20"); /* of the labels themselves */
    if (draw(on))
        for (int v = 1; v < 20; v++)
            CHECK(pixel_at(on, v % NX, v / NX)[0] == 64 && pixel_at(on, v % NX, v / NX)[2] == 64, "label %d", v);
    begin(on, "ramp,colormap=grey,min=0,max=94,blend=add");
    if (draw(on))
        for (int v = 0; v < NX * NY; v++)
            CHECK_NEAR(pixel_at(on, v % NX, v / NX)[1], 255 * (0.25 + v / 94.), 2, "added: voxel %d", v);
    /* the edge of the block i >= 3, j < 4: a line inside it, which is as wide however large voxels are */
    begin(on, "block,colormap=red,min=0,max=1,outline=on");
    if (draw(on)) {
        static const double inside[][2] = {{5, 1}, {4, 2}, {3, 1}, {5, 3}}, edge[][2] = {{2.53, 1}, {5, 3.47}};
        for (size_t n = 0; n < sizeof inside / sizeof inside[0]; n++)
            CHECK(pixel_at(on, inside[n][0], inside[n][1])[0] == 64, "inside %g %g: %d", inside[n][0], inside[n][1],
                  pixel_at(on, inside[n][0], inside[n][1])[0]);
        for (size_t n = 0; n < sizeof edge / sizeof edge[0]; n++)
            CHECK(pixel_at(on, edge[n][0], edge[n][1])[0] == 255, "edge %g %g: %d", edge[n][0], edge[n][1],
                  pixel_at(on, edge[n][0], edge[n][1])[0]);
    }
    /* hidden, and in another order */
    begin(on, "block,colormap=red,min=0,max=1,visible=off");
    if (draw(on))
        CHECK(pixel_at(on, 5, 1)[0] == 64, "a hidden layer");
    begin(on, "block,colormap=red,min=0,max=1");
    CHECK(hot_view_state_add_layer(on->context, "block,colormap=blue,min=0,max=1", &on->state) == HOT_OK, "two");
    if (draw(on))
        CHECK(pixel_at(on, 5, 1)[2] == 255 && pixel_at(on, 5, 1)[0] == 0, "the later layer is on top");
    /* on a grid twice as fine along i, turned by its signs: placed by world coordinates */
    begin(on, "fine,colormap=grey,min=0,max=16");
    if (draw(on))
        for (int i = 0; i < 2 * NX; i++)
            CHECK_NEAR(pixel_at(on, (i - 0.5) / 2, 2)[0], 255 * (2 * NX - i) / 16., 1.6, "fine grid: %d", i);
    begin(on, "base");
    for (int n = 1; n < HOT_VIEW_LAYERS; n++)
        CHECK(hot_view_state_add_layer(on->context, "ramp", &on->state) == HOT_OK, "layer %d", n);
    CHECK(hot_view_state_add_layer(on->context, "ramp", &on->state) == HOT_ERROR_ARGUMENT, "too many");
    begin(on, "nowhere");
    CHECK(hot_scene_open_layers(on->scene, &on->state) == HOT_ERROR_FILE &&
              strstr(hot_context_message(on->context), "nowhere"), "%s", hot_context_message(on->context));
}

static void test_images(hot_context *context)
{
    static float base[ALL], ramp[ALL], block[ALL];
    struct stage on = {.context = context};
    const hot_scene_parts parts = {.grid = scene_grid(NX, NY, NZ), .images = 1};
    hot_grid fine = scene_grid(2 * NX, NY, NZ);
    float *values = hot_context_alloc(context, 2 * ALL, sizeof *values);
    for (int v = 0; v < ALL; v++) {
        base[v] = 64; /* 0.25 of the window */
        ramp[v] = (float)(v % (NX * NY));
        block[v] = v % NX >= 3 && v / NX % NY < 4;
    }
    for (int v = 0; v < 2 * ALL && values; v++) /* counted from the left: its first axis points the other way */
        values[v] = (float)(1 + v % (2 * NX));
    fine.to_world[0][0] = -0.5;
    fine.to_world[0][3] = NX / 2. - 0.25;
    on.scene = scene_make(context, &parts);
    CHECK(values && hot_pictures_create(context, SIDE, SIDE, 1, &on.pictures) == HOT_OK, "%s",
          hot_context_message(context));
    if (!on.scene || !on.pictures)
        return;
    CHECK(hot_scene_add_volume(on.scene, "base", 1, base, 0) == HOT_OK &&
              hot_scene_add_volume(on.scene, "ramp", 1, ramp, 0) == HOT_OK &&
              hot_scene_add_volume(on.scene, "block", 1, block, 0) == HOT_OK &&
              hot_scene_add_image(on.scene, "fine", 1, &fine, values) == HOT_OK, "%s", hot_context_message(context));
    on.scene->volume[0].window[1] = 256;
    test_maps(&on, ramp);
    test_rules(&on);
    hot_pictures_destroy(&on.pictures);
    hot_scene_destroy(&on.scene);
}

/* ---- Directions -------------------------------------------------------------------------------------------- */

/* A second set of directions, saved and opened: sticks of one colour in the slice, of lengths as the first set's. */
static void test_directions(hot_context *context)
{
    static float first[3 * ALL], second[6 * ALL];
    static const char path[] = "second.nrrd";
    struct stage on = {.context = context};
    hot_fiber_field *fibers = NULL;
    hot_view_layout layout;
    hot_stick_item *items = NULL;
    size_t count = 0, in_slice = 0, short_ones = 0;
    const hot_grid grid = scene_grid(NX, NY, NZ);
    const hot_scene_parts parts = {.grid = grid, .max_fibers = 1, .peaks = first};
    for (int v = 0; v < ALL; v++) {
        first[3 * v] = 1;
        second[6 * v + 1] = v % 5 ? 0.8f : 0; /* a fifth of the voxels have none */
        second[6 * v + 5] = v % 5 == 1 ? 0.2f : 0;
        short_ones += v / (NX * NY) == NZ / 2 && v % 5 == 1;
        in_slice += v / (NX * NY) == NZ / 2 ? (v % 5 > 0) + (v % 5 == 1) : 0;
    }
    on.scene = scene_make(context, &parts);
    CHECK(hot_fiber_field_create(context, &grid, 2, second, &fibers) == HOT_OK &&
              hot_fiber_field_save(context, fibers, path) == HOT_OK, "%s", hot_context_message(context));
    hot_fiber_field_destroy(&fibers);
    hot_view_state_default(&on.state);
    CHECK(hot_view_state_add_layer(context, "second.nrrd,color=ff0080", &on.state) == HOT_OK &&
              hot_view_state_resolve(context, on.scene, &on.state) == HOT_OK &&
              hot_scene_open_layers(on.scene, &on.state) == HOT_OK, "%s", hot_context_message(context));
    CHECK(hot_has_lines(on.scene, &on.state), "lines");
    hot_view_lay_out(on.scene, &on.state, SIDE, SIDE, &layout);
    for (int shorter = 0; shorter < 2; shorter++) { /* then without those of 0.2 */
        on.state.layer[0].threshold = shorter ? 0.5 : NAN;
        CHECK(hot_line_list_make(context, on.scene, &on.state, &layout.viewport[0], &items, &count) == HOT_OK, "%s",
              hot_context_message(context));
        size_t small = 0;
        for (size_t n = 0; n < count; n++) {
            const int along = items[n].half[2] != 0;
            CHECK(items[n].rgba[0] == 255 && items[n].rgba[1] == 0 && items[n].rgba[2] == 128, "colour of %zu", n);
            CHECK_NEAR(items[n].center[2], 0, 1e-6, "stick %zu is in the slice", n);
            /* the longest of a typical voxel fills it: half a voxel of 1 mm to each side */
            CHECK_NEAR(fabsf(items[n].half[along ? 2 : 1]), along ? 0.125 : 0.5, 1e-5, "length of %zu", n);
            small += along != 0;
        }
        CHECK(count == in_slice - (shorter ? short_ones : 0) && small == (shorter ? 0 : short_ones), "%zu, %zu sticks",
              count, small);
        hot_context_free(context, items);
    }
    /* slabs of 1 and 3 slices; of the whole volume in 3-D */
    on.state.layer[0].threshold = NAN;
    const size_t one = in_slice;
    on.state.slab = 3;
    CHECK(hot_line_list_make(context, on.scene, &on.state, &layout.viewport[0], &items, &count) == HOT_OK, "three");
    CHECK(count > 2 * one && count < 4 * one, "%zu sticks of three slices, %zu of one", count, one);
    hot_context_free(context, items);
    hot_scene_destroy(&on.scene);
    remove(path);
}

/* Doubtful sticks fade into the image, also when its window, its opacity or the paper change later. */
static void test_fading(hot_context *context)
{
    static float peaks[3 * ALL], certainty[ALL], base[ALL];
    struct stage on = {.context = context};
    const hot_scene_parts parts = {.grid = scene_grid(NX, NY, NZ), .max_fibers = 1, .peaks = peaks,
                                   .certainty = certainty};
    for (int v = 0; v < ALL; v++) {
        peaks[3 * v] = 1;
        base[v] = 64;
    }
    on.scene = scene_make(context, &parts);
    CHECK(hot_pictures_create(context, SIDE, SIDE, 1, &on.pictures) == HOT_OK &&
              hot_scene_add_volume(on.scene, "base", 1, base, 0) == HOT_OK, "%s", hot_context_message(context));
    begin(&on, "base,visible=off");
    on.state.light = 0;
    on.state.window[0] = 0;
    for (int step = 0; step < 5 && on.pictures; step++) {
        static const struct { double white, opacity, paper, behind; int shown; } steps[] = {
            {128, 1, 0, .5, 1}, {64, 1, 0, 1, 1}, {64, .5, 0, .5, 1}, {64, .5, 1, 1, 1}, {128, 1, 0, 0, 0}};
        on.state.window[1] = steps[step].white;
        on.state.opacity = steps[step].opacity;
        on.state.show_image = steps[step].shown;
        for (int d = 0; d < 3; d++)
            on.state.canvas[d] = steps[step].paper;
        if (!draw(&on))
            break;
        for (int c = 0; c < 3; c++) { /* a stick is in the middle of its voxel; beside it, the image */
            CHECK_NEAR(pixel_at(&on, 4, 3)[c], 255 * (.15 + .7 * steps[step].behind), 2, "step %d, a stick", step);
            CHECK_NEAR(pixel_at(&on, 4, 3.4)[c], 255 * steps[step].behind, 2, "step %d, the image", step);
        }
    }
    hot_pictures_destroy(&on.pictures);
    hot_scene_destroy(&on.scene);
}

/* ---- Files of settings ------------------------------------------------------------------------------------- */

static void test_states(hot_context *context)
{
    static const char *const texts[] = {"a b.nii,opacity=0.5", "c.nii.gz,outline=on"};
    static float peaks[3] = {1};
    const hot_scene_parts parts = {.grid = scene_grid(1, 1, 1), .max_fibers = 1, .peaks = peaks};
    hot_scene *scene = scene_make(context, &parts);
    hot_view_state state, read;
    char *command = NULL, text[HOT_LAYER_TEXT];
    hot_view_state_default(&state);
    hot_view_state_default(&read);
    for (int n = 0; n < 2; n++)
        CHECK(hot_view_state_add_layer(context, texts[n], &state) == HOT_OK, "%s", texts[n]);
    CHECK(hot_view_state_add_layer(context, "before", &read) == HOT_OK, "a layer that the file replaces");
    CHECK(hot_view_state_save(context, "state.txt", &state) == HOT_OK &&
              hot_view_state_load(context, "state.txt", &read) == HOT_OK, "%s", hot_context_message(context));
    CHECK(read.layers == 2, "%d layers", read.layers);
    for (int n = 0; n < 2; n++) {
        hot_layer_print(&read.layer[n], text, sizeof text);
        CHECK(strcmp(text, texts[n]) == 0, "%s", text);
    }
    CHECK(scene && hot_view_command_line(scene, &state, NULL, &command) == HOT_OK &&
              strstr(command, " --overlay 'a b.nii,opacity=0.5' --overlay c.nii.gz,outline=on"), "%s", command);
    hot_context_free(context, command);
    hot_scene_destroy(&scene);
    remove("state.txt");
}

int main(void)
{
    static void (*const tests[])(hot_context *) = {test_text, test_images, test_directions, test_fading, test_states,
                                                   NULL};
    char folder[] = "/tmp/hot_layers_XXXXXX";
    if (!mkdtemp(folder) || chdir(folder) != 0)
        return 1;
    const int failed = scene_run_tests(tests);
    return chdir("/") == 0 && rmdir(folder) == 0 ? failed : 1;
}
