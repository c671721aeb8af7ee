/* The calls that draw a picture of directions: places, colours, widths and words are compared with picture_calls.txt,
 * which was read and found right. The calls of cairo are noted here on their way, a line for each shape with what
 * was set for it; letters have the same size everywhere. `test_unit_picture_calls --write` writes that file anew, after
 * a change on purpose. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "same_lines.h"

#include <cairo.h>
#include <dlfcn.h>
#include <unistd.h>

#include <hotfiber/hotfiber.h>

static FILE *notes;

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define NOTED(name, parameters, arguments, ...)          \
    void name parameters                                 \
    {                                                    \
        if (notes)                                       \
            fprintf(notes, __VA_ARGS__);                 \
        NEXT(name) arguments;                            \
    }

NOTED(cairo_move_to, (cairo_t *c, double x, double y), (c, x, y), "move_to %.2f %.2f ", x, y)
NOTED(cairo_line_to, (cairo_t *c, double x, double y), (c, x, y), "line_to %.2f %.2f ", x, y)
NOTED(cairo_rel_line_to, (cairo_t *c, double x, double y), (c, x, y), "rel_line_to %.2f %.2f ", x, y)
NOTED(cairo_rectangle, (cairo_t *c, double x, double y, double w, double h), (c, x, y, w, h),
      "rectangle %.2f %.2f %.2f %.2f ", x, y, w, h)
NOTED(cairo_arc, (cairo_t *c, double x, double y, double r, double a, double b), (c, x, y, r, a, b),
      "arc %.2f %.2f %.2f %.3f %.3f ", x, y, r, a, b)
NOTED(cairo_set_source_rgb, (cairo_t *c, double r, double g, double b), (c, r, g, b),
      "set_source_rgb %.3f %.3f %.3f ", r, g, b)
NOTED(cairo_set_source_rgba, (cairo_t *c, double r, double g, double b, double a), (c, r, g, b, a),
      "set_source_rgba %.3f %.3f %.3f %.3f ", r, g, b, a)
NOTED(cairo_set_line_width, (cairo_t *c, double w), (c, w), "set_line_width %.3f ", w)
NOTED(cairo_set_line_cap, (cairo_t *c, cairo_line_cap_t cap), (c, cap), "set_line_cap %d ", (int)cap)
NOTED(cairo_set_font_size, (cairo_t *c, double s), (c, s), "set_font_size %.3f ", s)
NOTED(cairo_scale, (cairo_t *c, double x, double y), (c, x, y), "scale %.3f %.3f ", x, y)
NOTED(cairo_translate, (cairo_t *c, double x, double y), (c, x, y), "translate %.2f %.2f ", x, y)
NOTED(cairo_stroke, (cairo_t *c), (c), "stroke\n")
NOTED(cairo_fill, (cairo_t *c), (c), "fill\n")
NOTED(cairo_paint, (cairo_t *c), (c), "paint\n")
NOTED(cairo_clip, (cairo_t *c), (c), "clip\n")
NOTED(cairo_save, (cairo_t *c), (c), "save\n")
NOTED(cairo_restore, (cairo_t *c), (c), "restore\n")

void cairo_text_extents(cairo_t *c, const char *text, cairo_text_extents_t *extents)
{
    (void)c;
    *extents = (cairo_text_extents_t){.width = 9 * (double)strlen(text), .height = 11, .x_bearing = 1, .y_bearing = -10,
                                      .x_advance = 9 * (double)strlen(text) + 2};
}

void cairo_font_extents(cairo_t *c, cairo_font_extents_t *extents)
{
    (void)c;
    *extents = (cairo_font_extents_t){.ascent = 13, .descent = 4, .height = 18, .max_x_advance = 20};
}

void cairo_show_text(cairo_t *c, const char *text)
{
    const char *version = strstr(text, "hotfiber ");
    if (notes)
        fprintf(notes, "show_text '%.*s'\n", (int)(version ? version - text : (long)strlen(text)), text);
    NEXT(cairo_show_text)(c, text);
}

/* The image behind: its size, and means of its pixels weighted so that none takes another's place. */
void cairo_set_source_surface(cairo_t *c, cairo_surface_t *surface, double x, double y)
{
    const int width = cairo_image_surface_get_width(surface), height = cairo_image_surface_get_height(surface);
    const unsigned char *data = cairo_image_surface_get_data(surface);
    double sum[3] = {0};
    for (int i = 0; i < width * height; i++) {
        uint32_t pixel;
        memcpy(&pixel, data + i / width * cairo_image_surface_get_stride(surface) + 4 * (i % width), sizeof pixel);
        for (int d = 0; d < 3; d++)
            sum[d] += (1 + i % 61 / 64.) / (width * height) * (pixel >> 8 * d & 255);
    }
    if (notes)
        fprintf(notes, "set_source_surface %.2f %.2f of %d %d: %.1f %.1f %.1f ", x, y, width, height, sum[0], sum[1],
                sum[2]);
    NEXT(cairo_set_source_surface)(c, surface, x, y);
}

static void draw(hot_context *context, const char *name, const size_t size[3], hot_space space, int most, int behind,
                 const char *format)
{
    static const double axes[3][4] = {{1.2, -0.9, 0.1, -11}, {0.9, 1.6, -0.4, 4}, {0.15, 0.8, 2.4, 7.5}};
    const size_t voxels = size[0] * size[1] * size[2];
    float *peaks = calloc(voxels, 3 * (size_t)most * sizeof *peaks), *background = malloc(voxels * sizeof *background);
    hot_grid grid = {.size = {size[0], size[1], size[2]}, .space = space};
    hot_fiber_field *fibers = NULL;
    uint64_t seed = 9;
    memcpy(grid.to_world, axes, sizeof axes);
    for (size_t v = 0; v < voxels; v++) {
        background[v] = (float)(v % 37);
        for (size_t n = 0; n < v * 7 % ((size_t)most + 1); n++) {
            double x[3];
            check_random_unit(&seed, x);
            for (size_t d = 0; d < 3; d++)
                peaks[3 * ((size_t)most * v + n) + d] = (float)((0.9 - 0.2 * (double)n) * x[d]);
        }
    }
    fprintf(notes, "==== %s\n", name);
    const hot_export_format *as = format ? hot_export_format_find(format, "picture.png") : NULL;
    float *certainty = malloc(voxels * (size_t)most * sizeof *certainty);
    for (size_t i = 0; i < voxels * (size_t)most; i++)
        certainty[i] = (float)(i % 5) / 4;
    CHECK(hot_fiber_field_create(context, &grid, most, peaks, &fibers) == HOT_OK &&
              hot_fiber_field_set_certainty(context, fibers, behind ? certainty : NULL) == HOT_OK &&
              (as ? as->write(context, fibers, "picture.png")
                  : hot_export_picture(context, fibers, behind ? background : NULL, "picture.png")) == HOT_OK,
          "%s: %s", name, hot_context_message(context));
    CHECK(remove("picture.png") == 0, "%s: a picture", name);
    hot_fiber_field_destroy(&fibers);
    FREE(certainty, background, peaks);
}

static void draw_all(void *context, FILE *file)
{
    notes = file;
    draw(context, "over an image, more and less certain", (const size_t[]){5, 4, 4}, HOT_SPACE_LPS, 3, 1, NULL);
    draw(context, "in no space, over amplitudes", (const size_t[]){4, 5, 3}, HOT_SPACE_UNKNOWN, 4, 0, NULL);
    draw(context, "one slice", (const size_t[]){6, 5, 1}, HOT_SPACE_RAS, 1, 0, NULL);
    draw(context, "colours", (const size_t[]){5, 4, 6}, HOT_SPACE_RAS, 2, 0, "dec");
    notes = NULL;
}

int main(int count, char **arguments)
{
    char folder[] = "/tmp/hot_calls_XXXXXX";
    hot_context_options how = {.size = sizeof how, .device = HOT_DEVICE_CPU, .threads = 1};
    hot_context *context;
    if (hot_context_create(&how, &context) != HOT_OK || !mkdtemp(folder) || chdir(folder) != 0)
        return 1;
    check_lines(HOT_SOURCE "/tests/unit/picture_calls.txt", count, arguments, draw_all, context);
    CHECK(chdir("/") == 0 && rmdir(folder) == 0, "nothing is left");
    hot_context_destroy(&context);
    HOT_TEST_END();
}
