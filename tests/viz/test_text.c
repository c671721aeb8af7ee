/* Text and triangles: measured widths equal drawn widths, pixels equal cairo's at any scale, shapes cover their area.
 */
#include "check.h"
#include "starve.h"
#include "overlay/draw_list.h"
#include "raster.h"

#include <cairo.h>

static void test_utf8(void)
{
    const char *text = "aé−\xf0\x9f\x98\x80";
    static const uint32_t codes[] = {'a', 0xe9, 0x2212, 0x1f600, 0, 0};
    for (int i = 0; i < 6; i++) {
        uint32_t code = hot_text_next(&text);
        CHECK(code == codes[i], "code %d is %x", i, (unsigned)code);
    }
    static const char *const broken[] = {"\x80", "\xc3", "\xe2\x88", "\xc0\xaf", "\xff", "\xf8\x88\x80\x80\x80"};
    for (size_t b = 0; b < sizeof broken / sizeof broken[0]; b++) {
        const char *at = broken[b], *end = at + strlen(at);
        while (at < end) {
            const char *before = at;
            uint32_t code = hot_text_next(&at);
            CHECK(at > before && at <= end, "broken string %zu moves on, not past its end", b);
            CHECK(code == 0xfffd, "broken string %zu gives %x", b, (unsigned)code);
        }
        CHECK(hot_text_next(&at) == 0, "and then its end");
    }
}

static void test_faces(const hot_text *text)
{
    for (int s = 0; s < HOT_TEXT_STYLES; s++) {
        const hot_text_face *face = &text->faces[s];
        CHECK(face->count > 190, "style %d has %zu letters", s, face->count);
        for (size_t i = 1; i < face->count; i++)
            CHECK(face->glyphs[i].code > face->glyphs[i - 1].code, "style %d: codes ascend at %zu", s, i);
        for (const char *at = "RLAPSI0123456789°−λ…"; *at;) {
            uint32_t code = hot_text_next(&at);
            const hot_text_glyph *glyph = hot_text_find(text, (hot_text_style)s, code);
            CHECK(glyph->code == code && glyph->width > 0, "style %d has U+%04X", s, (unsigned)code);
            CHECK(glyph->advance == floorf(glyph->advance), "whole pixels from letter to letter: %g",
                  (double)glyph->advance);
        }
        CHECK(hot_text_find(text, (hot_text_style)s, 0x4e00)->code == 0xfffd,
              "a missing letter is U+FFFD");
        CHECK(hot_text_find(text, (hot_text_style)s, ' ')->width == 0, "a blank draws nothing");
    }
    /* letters do not overlap in the atlas */
    uint8_t *taken = calloc((size_t)text->width, (size_t)text->grown);
    for (int s = 0; s < HOT_TEXT_STYLES; s++)
        for (size_t i = 0; i < text->faces[s].count; i++) {
            const hot_text_glyph *glyph = &text->faces[s].glyphs[i];
            int shared = 0;
            CHECK(glyph->x + glyph->width <= text->width && glyph->y + glyph->height <= text->grown,
                  "inside the atlas");
            for (int y = 0; y < glyph->height; y++)
                for (int x = 0; x < glyph->width; x++)
                    shared += taken[(size_t)(glyph->y + y) * (size_t)text->width + (size_t)(glyph->x + x)]++;
            CHECK(shared == 0, "style %d U+%04X shares %d texels", s, (unsigned)glyph->code, shared);
        }
    free(taken);
    CHECK(hot_text_width(text, HOT_TEXT_MONO, "iiii") == hot_text_width(text, HOT_TEXT_MONO, "WWWW"), "mono is mono");
    CHECK(hot_text_width(text, HOT_TEXT_PLAIN, "ab\ncd") == hot_text_width(text, HOT_TEXT_PLAIN, "ab"),
          "a line ends there");
}

enum { WIDTH = 220, HEIGHT = 90 };

static hot_overlay_mesh mesh_of(hot_draw_list *list, hot_overlay_vertex **vertices)
{
    hot_overlay_mesh mesh = {
        .atlas = list->text->pixels, .atlas_width = list->text->width, .atlas_height = list->text->height};
    CHECK(hot_draw_list_mesh(list, vertices, &mesh.count) == HOT_OK, "mesh");
    mesh.vertices = *vertices;
    return mesh;
}

/* White text on black against cairo's drawing of the same string in the same font. */
static void test_pixels(hot_context *context, double scale)
{
    static float rgb[3 * WIDTH * HEIGHT];
    hot_text *text = NULL;
    hot_draw_list list;
    hot_overlay_vertex *vertices;
    CHECK(hot_text_create(context, scale, &text) == HOT_OK, "scale %g: %s", scale, hot_context_message(context));
    hot_draw_list_begin(context, text, &list);
    hot_draw_text(&list, 6, 60, 0, HOT_TEXT_BOLD, (hot_rgba){1, 1, 1, 1}, "Rg%d", 4);
    hot_overlay_mesh mesh = mesh_of(&list, &vertices);
    memset(rgb, 0, sizeof rgb);
    raster_draw(&mesh, WIDTH, HEIGHT, rgb);

    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_A8, WIDTH, HEIGHT);
    cairo_t *cairo = cairo_create(surface);
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_SLIGHT);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_ON);
    cairo_set_font_options(cairo, options);
    cairo_select_font_face(cairo, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_BOLD);
    cairo_set_font_size(cairo, round(13 * scale));
    cairo_move_to(cairo, 6, 60);
    cairo_show_text(cairo, "Rg4");
    cairo_surface_flush(surface);
    const uint8_t *expected = cairo_image_surface_get_data(surface);
    const size_t stride = (size_t)cairo_image_surface_get_stride(surface);
    double worst = 0, ink = 0;
    for (size_t y = 0; y < HEIGHT; y++)
        for (size_t x = 0; x < WIDTH; x++) {
            worst = fmax(worst, fabs((double)rgb[3 * (y * WIDTH + x)] - expected[y * stride + x] / 255.));
            ink += expected[y * stride + x] / 255.;
        }
    CHECK(ink > 60 * scale * scale, "something is drawn: %g", ink);
    CHECK(worst <= 1.5 / 255, "scale %g: letters differ from the font's by %g", scale, worst);
    cairo_font_options_destroy(options);
    cairo_destroy(cairo);
    cairo_surface_destroy(surface);
    hot_context_free(context, vertices);

    /* on white, the rim darkens the neighbourhood of a letter and nothing else */
    for (size_t i = 0; i < 3 * WIDTH * HEIGHT; i++)
        rgb[i] = 1;
    hot_draw_list_clear(&list);
    hot_draw_text(&list, 100, 60, 0.5, HOT_TEXT_LETTER, (hot_rgba){1, 1, 1, 1}, "I");
    mesh = mesh_of(&list, &vertices);
    raster_draw(&mesh, WIDTH, HEIGHT, rgb);
    int left = WIDTH, right = 0;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            if (rgb[3 * (y * WIDTH + x)] < 0.5f) {
                left = x < left ? x : left;
                right = x > right ? x : right;
            }
    CHECK(left < right && right - left < 16 * scale, "the rim reaches from %d to %d", left, right);
    CHECK_NEAR((left + right + 1) / 2., 100, 1 + 0.7 * scale, "centred");
    hot_context_free(context, vertices);
    hot_draw_list_free(&list);
    hot_text_destroy(context, &text);
    CHECK(text == NULL, "destroyed");
}

/* Number of pixels in the rectangle x..x2, y..y2 that are at least half white. */
static int count_white(const float *rgb, int x, int y, int x2, int y2)
{
    int count = 0;
    for (int row = y; row < y2; row++)
        for (int column = x; column < x2; column++)
            count += rgb[3 * (row * WIDTH + column)] >= 0.5f;
    return count;
}

static void test_shapes(hot_context *context, const hot_text *text)
{
    static float rgb[3 * WIDTH * HEIGHT];
    const hot_rgba white = {1, 1, 1, 1}, half = {1, 1, 1, 0.5f};
    hot_draw_list list;
    hot_overlay_vertex *vertices;
    hot_draw_list_begin(context, text, &list);
    hot_draw_rectangle(&list, 10, 10, 30, 20, white, white);
    hot_draw_round(&list, 50, 10, 90, 40, white);
    hot_draw_line(&list, 110, 10.5, 150, 10.5, 1, white);
    hot_draw_line(&list, 110, 20, 150, 60, 2, white);
    hot_draw_rectangle(&list, 160, 10, 170, 20, half, half);
    hot_overlay_mesh mesh = mesh_of(&list, &vertices);
    memset(rgb, 0, sizeof rgb);
    raster_draw(&mesh, WIDTH, HEIGHT, rgb);
    CHECK(count_white(rgb, 0, 0, 45, HEIGHT) == 20 * 10, "a rectangle: %d", count_white(rgb, 0, 0, 45, HEIGHT));
    int round_area = count_white(rgb, 45, 0, 100, HEIGHT);
    double missing = (4 - 3.14159265) * text->corner * text->corner;
    CHECK_NEAR(round_area, 40 * 30 - missing, 6, "a round rectangle lacks its corners");
    CHECK(rgb[3 * (10 * WIDTH + 50)] < 0.5f && rgb[3 * (39 * WIDTH + 89)] < 0.5f && rgb[3 * (10 * WIDTH + 89)] < 0.5f &&
              rgb[3 * (39 * WIDTH + 50)] < 0.5f, "all four of them");
    CHECK(rgb[3 * (25 * WIDTH + 50)] > 0.9f && rgb[3 * (10 * WIDTH + 70)] > 0.9f, "and has its sides");
    CHECK(count_white(rgb, 100, 0, 155, 15) == 40, "a level line of one pixel: %d", count_white(rgb, 100, 0, 155, 15));
    double ink = 0;
    for (int y = 15; y < 70; y++)
        for (int x = 100; x < 155; x++)
            ink += (double)rgb[3 * (y * WIDTH + x)];
    CHECK_NEAR(ink, 2 * 40 * sqrt(2), 6, "a slanted line has its area");
    CHECK_NEAR(rgb[3 * (15 * WIDTH + 165)], 0.5, 1e-2, "half transparent is drawn once");
    hot_context_free(context, vertices);

    /* the ball: blue at the top when S is up, red at its left rim, green at the centre seen from the front */
    const double front[3][3] = {{-1, 0, 0}, {0, 0, 1}, {0, 1, 0}};
    hot_draw_list_clear(&list);
    hot_draw_ball(&list, 100, 45, 40, front);
    mesh = mesh_of(&list, &vertices);
    memset(rgb, 0, sizeof rgb);
    raster_draw(&mesh, WIDTH, HEIGHT, rgb);
    const float *middle = rgb + 3 * (45 * WIDTH + 100), *top = rgb + 3 * (6 * WIDTH + 100),
                *side = rgb + 3 * (45 * WIDTH + 61);
    CHECK(middle[1] > 0.95f && middle[0] < 0.1f && middle[2] < 0.1f, "front: %g %g %g", (double)middle[0],
          (double)middle[1], (double)middle[2]);
    CHECK(top[2] > 0.9f && top[1] < 0.35f && top[0] < 0.1f, "top: %g %g %g", (double)top[0], (double)top[1],
          (double)top[2]);
    CHECK(side[0] > 0.9f && side[1] < 0.35f && side[2] < 0.1f, "side: %g %g %g", (double)side[0], (double)side[1],
          (double)side[2]);
    hot_context_free(context, vertices);
    hot_draw_list_free(&list);
}

/* Every allocation fails once, and all after it. */
static void test_short_memory(void)
{
    for (int allowed = 1; allowed < 40; allowed++) {
        starved memory = {.fail_at = allowed, .for_good = 1};
        hot_context_options options = {.size = sizeof options, .allocate = starved_take, .release = starved_give,
                                       .allocator_user = &memory};
        hot_context *context = NULL;
        hot_text *text = NULL;
        hot_draw_list list = {0};
        hot_overlay_vertex *vertices = NULL;
        size_t count;
        if (hot_context_create(&options, &context) != HOT_OK)
            continue;
        hot_status status = hot_text_create(context, 1, &text);
        CHECK((status == HOT_OK) == (text != NULL), "allocation %d", allowed);
        if (text) {
            hot_draw_list_begin(context, text, &list);
            for (int i = 0; i < 300; i++)
                hot_draw_text(&list, 0, 0, 0, HOT_TEXT_PLAIN, (hot_rgba){1, 1, 1, 1}, "line %d", i);
            status = hot_draw_list_mesh(&list, &vertices, &count);
            CHECK(status == HOT_OK ? vertices && count > 0 : status == HOT_ERROR_MEMORY && !vertices, "allocation %d",
                  allowed);
            hot_context_free(context, vertices);
            hot_draw_list_free(&list);
        }
        hot_text_destroy(context, &text);
        hot_context_destroy(&context);
        CHECK(memory.live == 0, "allocation %d: %ld not released", allowed, memory.live);
        if (status == HOT_OK)
            return;
    }
    CHECK(0, "never enough memory");
}

int main(void)
{
    static const double scales[] = {0.75, 1, 1.5, 2, 3};
    hot_context *context;
    hot_text *text = NULL;
    if (hot_context_create(NULL, &context) != HOT_OK)
        return 1;
    test_utf8();
    CHECK(hot_text_create(context, 1, &text) == HOT_OK, "%s", hot_context_message(context));
    test_faces(text);
    test_shapes(context, text);
    hot_text_destroy(context, &text);
    for (size_t s = 0; s < sizeof scales / sizeof scales[0]; s++)
        test_pixels(context, scales[s]);
    CHECK(hot_text_create(context, 16, &text) == HOT_OK, "the largest scale: %s", hot_context_message(context));
    hot_text_destroy(context, &text);
    CHECK(hot_text_create(context, 99, &text) == HOT_ERROR_ARGUMENT && !text, "no scale");
    CHECK(hot_text_create(context, NAN, &text) == HOT_ERROR_ARGUMENT && !text, "no scale");
    test_short_memory();
    hot_context_destroy(&context);
    HOT_TEST_END();
}
