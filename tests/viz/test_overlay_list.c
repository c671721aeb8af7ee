/* What the overlay draws, item by item: every place, colour and word of five pictures is compared with
 * overlay_list.txt, which was read and found right. The font is made here, so that the system's does not matter.
 * `test_viz_overlay_list --write` writes that file anew, for what is changed on purpose. */
#include "same_lines.h"
#include "overlay/overlay_parts.h"
#include "scene/pick.h"
#include "scenes.h"

enum { NX = 9, NY = 8, NZ = 7, VOXELS = NX * NY * NZ, MOST = 3 };

typedef struct stage {
    hot_context *context;
    hot_text text;
    hot_scene *scene;
    hot_view_state state;
    hot_draw_list list;
    float tensors[VOXELS * 16], peaks[VOXELS * 3 * MOST], image[VOXELS];
} stage;

/* Each letter takes 7 pixels and a quarter, or as many as its face is larger; those above "n" a pixel more. */
static void make_font(hot_text *text)
{
    enum { FIRST = ' ', LAST = '~', COUNT = LAST - FIRST + 2 };
    static hot_text_glyph glyphs[HOT_TEXT_STYLES][COUNT];
    static const double sizes[HOT_TEXT_STYLES] = {1, 1.1, 1.9, 0.95};
    *text = (hot_text){.scale = 1, .width = 256, .height = 128, .grown = 60, .corner = 4};
    for (int s = 0; s < HOT_TEXT_STYLES; s++) {
        for (int i = 0; i < COUNT; i++)
            glyphs[s][i] = (hot_text_glyph){
                .code = i == COUNT - 1 ? 0xfffd : (uint32_t)(FIRST + i), .x = (uint16_t)(2 * i), .y = (uint16_t)s,
                .width = (uint16_t)(i ? 6 + s : 0), .height = (uint16_t)(9 + s), .left = -1, .top = (int16_t)(-8 - s),
                .advance = (float)((7.25 + (i > 'n' - FIRST)) * sizes[s])};
        text->faces[s] = (hot_text_face){.ascent = (float)(11 * sizes[s]), .descent = (float)(3 * sizes[s]),
                                         .line = (float)(16 * sizes[s]), .count = COUNT, .glyphs = glyphs[s]};
    }
}

static void set_stage(hot_context *context, hot_space space, stage *on)
{
    static const double axes[3][4] = {{1.2, -0.9, 0.1, -11}, {0.9, 1.6, -0.4, 4}, {0.15, 0.8, 2.4, 7.5}};
    hot_grid grid = scene_grid(NX, NY, NZ);
    memset(on, 0, sizeof *on);
    on->context = context;
    make_font(&on->text);
    memcpy(grid.to_world, axes, sizeof axes);
    grid.space = space;
    for (int v = 0; v < VOXELS; v++) {
        on->tensors[16 * v] = 1;
        scene_add_fiber(4, (const double[3]){0.6, 0.8, 0}, 0.5 + v % 7, on->tensors + 16 * v + 1);
        for (int n = 0; n < v % (MOST + 1); n++)
            on->peaks[3 * (MOST * v + n) + n] = 0.75f - 0.125f * (float)n;
        on->image[v] = (float)(v % 11 + 0.25);
    }
    const hot_scene_parts parts = {
        .grid = grid, .order = 4, .tensors = on->tensors, .max_fibers = MOST, .peaks = on->peaks};
    CHECK(hot_scene_create(context, &parts, &on->scene) == HOT_OK, "%s", hot_context_message(context));
    CHECK(hot_scene_add_volume(on->scene, "t1", 1, on->image, 0) == HOT_OK, "%s", hot_context_message(context));
    hot_view_state_default(&on->state);
    strcpy(on->state.background, "t1");
    CHECK(hot_view_state_resolve(context, on->scene, &on->state) == HOT_OK, "%s", hot_context_message(context));
    hot_draw_list_begin(context, &on->text, &on->list);
}

static void put_color(FILE *file, hot_rgba color)
{
    fprintf(file, " %.3f,%.3f,%.3f,%.3f", (double)color.r, (double)color.g, (double)color.b, (double)color.a);
}

static void put_items(FILE *file, const stage *on)
{
    static const char *const kinds[] = {"rectangle", "round", "line", "text", "ball"};
    for (size_t i = 0; i < on->list.count; i++) {
        const hot_draw_item *item = &on->list.items[i];
        fprintf(file, "%s %.2f %.2f %.2f %.2f %.2f", kinds[item->kind], (double)item->x, (double)item->y,
                (double)item->x2, (double)item->y2, (double)item->size);
        put_color(file, item->color);
        put_color(file, item->color2);
        for (int d = 0; d < 9 && item->kind == HOT_DRAW_BALL; d++)
            fprintf(file, " %.3f", (double)item->frame[d / 3][d % 3]);
        fprintf(file, " %d '%s'\n", (int)item->style, hot_draw_item_text(&on->list, item));
    }
    hot_overlay_vertex *vertices = NULL;
    size_t count = 0;
    double sum[4] = {0};
    CHECK(hot_draw_list_mesh(&on->list, &vertices, &count) == HOT_OK, "%s", hot_context_message(on->context));
    for (size_t v = 0; v < count; v++) { /* weighted, so that none may take another one's place */
        const double weight = 1 + (double)(v % 89) / 64;
        const double part[4] = {(double)vertices[v].x, (double)vertices[v].y, (double)vertices[v].u,
                                (double)vertices[v].v};
        for (int d = 0; d < 4; d++)
            sum[d] += weight * part[d] / (double)count;
    }
    fprintf(file, "%zu vertices %.2f %.2f %.4f %.4f\n", count, sum[0], sum[1], sum[2], sum[3]);
    hot_context_free(on->context, vertices);
}

static void put_picture(FILE *file, stage *on, const char *name, int width, int height, const char *message)
{
    hot_view_layout layout;
    const hot_overlay_page page = {on->scene, &on->state, &layout, &on->list, on->state.pixel_ratio};
    char *values = NULL;
    hot_view_lay_out(on->scene, &on->state, width, height, &layout);
    hot_draw_list_clear(&on->list);
    fprintf(file, "==== %s\n", name);
    for (int v = 0; v < layout.count; v++) {
        hot_overlay_add_crosshair(&page, &layout.viewport[v]);
        hot_overlay_add_orientation(&page, &layout.viewport[v]);
        hot_overlay_add_caption(&page, &layout.viewport[v]);
        hot_overlay_add_scale_bar(&page, &layout.viewport[v]);
    }
    hot_overlay_add_status(&page);
    hot_overlay_add_legend(&page);
    CHECK(hot_pick_describe(on->scene, &on->state, on->state.voxel, &values) == HOT_OK, "%s",
          hot_context_message(on->context));
    if (on->state.show_values)
        hot_overlay_add_values(&page, values);
    if (on->state.show_help)
        hot_overlay_add_help(&page);
    if (message)
        hot_overlay_add_message(&page, message);
    hot_context_free(on->context, values);
    put_items(file, on);
}

static void put_all(void *context, FILE *file)
{
    static stage on;
    set_stage(context, HOT_SPACE_LPS, &on);
    on.state.voxel[0] = 3, on.state.voxel[1] = 2, on.state.voxel[2] = 5;
    on.state.mode = HOT_VIEW_PLANES, on.state.show_values = 1;
    on.state.color = HOT_COLOR_VALUE;
    strcpy(on.state.color_by, "t1");
    on.state.color_range[0] = -0.02, on.state.color_range[1] = 0.13;
    put_picture(file, &on, "planes", 900, 700, NULL);
    on.state.mode = HOT_VIEW_SPACE, on.state.pixel_ratio = 1.5, on.state.color = HOT_COLOR_FIBER;
    on.state.rotation[0] = 0.8, on.state.rotation[1] = 0.36, on.state.rotation[2] = 0.48, on.state.rotation[3] = 0;
    put_picture(file, &on, "space", 1000, 620, "a message that is longer than one line of these letters can be");
    on.state.mode = HOT_VIEW_SINGLE, on.state.plane = HOT_PLANE_CORONAL, on.state.lock_axes = 0, on.state.zoom = 2.3;
    on.state.color = HOT_COLOR_DIRECTION, on.state.pixel_ratio = 1, on.state.show_values = 0;
    on.state.window[0] = 1.5, on.state.window[1] = 9;
    put_picture(file, &on, "coronal", 520, 430,
                "'/a/name/without/blanks/that/is/not/broken/anywhere/before.nrrd' ends");
    hot_draw_list_free(&on.list);
    hot_scene_destroy(&on.scene);

    set_stage(context, HOT_SPACE_UNKNOWN, &on);
    on.state.mode = HOT_VIEW_SPACE, on.state.show_help = 1;
    put_picture(file, &on, "unknown space, help", 1500, 1100, NULL);
    on.state.mode = HOT_VIEW_SINGLE, on.state.pixel_ratio = 2, on.state.show_colorbar = 0;
    put_picture(file, &on, "help cut off", 640, 240, NULL);
    hot_draw_list_free(&on.list);
    hot_scene_destroy(&on.scene);
}

int main(int count, char **arguments)
{
    hot_context *context;
    if (hot_context_create(NULL, &context) != HOT_OK)
        return 1;
    check_lines(HOT_SOURCE "/tests/viz/overlay_list.txt", count, arguments, put_all, context);
    hot_context_destroy(&context);
    HOT_TEST_END();
}
