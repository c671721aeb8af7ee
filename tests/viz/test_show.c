/* hot_view_show: its pictures and errors. test_show_window.py tests its window. */
#include <hotfiber/view.h>
#include <stddef.h>
#include <unistd.h>

#include <png.h>

#include "check.h"
#include "scenes.h"

enum { NX = 4, NY = 3, N = NX * NY, WIDTH = 160, HEIGHT = 120 };

static const char *const PICTURE = "show.png";

/* Reads the written picture; returns 0 if it is missing. */
static int read_picture(uint8_t *rgb)
{
    png_image image;
    memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    if (!png_image_begin_read_from_file(&image, PICTURE))
        return 0;
    image.format = PNG_FORMAT_RGB;
    const int right = image.width == WIDTH && image.height == HEIGHT;
    if (right)
        png_image_finish_read(&image, NULL, rgb, 0, NULL);
    png_image_free(&image);
    return right;
}

/* Mean of each colour, 0 to 255. */
static void mean_color(const uint8_t *rgb, double mean[3])
{
    for (int c = 0; c < 3; c++) {
        mean[c] = 0;
        for (int p = 0; p < WIDTH * HEIGHT; p++)
            mean[c] += rgb[3 * p + c] / (double)(WIDTH * HEIGHT);
    }
}

static hot_status show(hot_context *context, const hot_view_fields *fields, const char *const *settings, double mean[3])
{
    static uint8_t rgb[3 * WIDTH * HEIGHT];
    const hot_view_options options = {.size = sizeof options, .width = WIDTH, .height = HEIGHT, .screenshot = PICTURE,
                                      .settings = settings};
    unlink(PICTURE);
    const hot_status status = hot_view_show(context, fields, &options);
    const int there = read_picture(rgb);
    CHECK(there == (status == HOT_OK), "a picture is written unless there is an error: %s",
          hot_context_message(context));
    if (there)
        mean_color(rgb, mean);
    return status;
}

#define REFUSED(wanted, fields, settings, words)                                                            \
    do {                                                                                                    \
        const hot_status got = show(context, fields, settings, mean);                                       \
        CHECK(got == wanted && strstr(hot_context_message(context), words), "status %d: %s", (int)got,      \
              hot_context_message(context));                                                                \
    } while (0)

int main(void)
{
    static float rows[N][16], peaks[N][3], image[N];
    static uint8_t bytes[N];
    hot_context *context = NULL;
    hot_tensor_field *tensors = NULL;
    hot_fiber_field *fibers = NULL, *others = NULL;
    hot_mask *mask = NULL;
    double mean[3], all[3];
    if (hot_context_create(NULL, &context) != HOT_OK)
        return 1;
    for (int g = 0; g < N; g++) { /* surfaces along x, sticks along z */
        rows[g][0] = 1;
        scene_add_fiber(4, (const double[3]){1, 0, 0}, 1, rows[g] + 1);
        peaks[g][2] = 1;
        image[g] = 1;
        bytes[g] = g == 0;
    }
    const hot_grid grid = scene_grid(NX, NY, 1), other = scene_grid(NX, NY, 2);
    CHECK(hot_tensor_field_create(context, &grid, 4, "test", rows[0], &tensors) == HOT_OK &&
              hot_fiber_field_create(context, &grid, 1, peaks[0], &fibers) == HOT_OK &&
              hot_mask_create(context, &grid, bytes, &mask) == HOT_OK, "%s", hot_context_message(context));
    static float twice[2 * N][3];
    CHECK(hot_fiber_field_create(context, &other, 1, twice[0], &others) == HOT_OK, "%s", hot_context_message(context));
    static const char *const surface[] = {"glyph", "surface", "annotations", "off", "image", "off", NULL};
    static const char *const sticks[] = {"glyph", "sticks", "annotations", "off", "image",
                                         "off",   "plane",  "coronal",     NULL};
    static const char *const only_image[] = {"glyph", "none", "annotations", "off", "opacity", "1", NULL};
    hot_view_fields fields = {.size = sizeof fields, .tensors = tensors, .fibers = fibers, .background = image};
    CHECK(show(context, &fields, surface, all) == HOT_OK && all[0] > 5 && all[0] > 1.8 * all[1] &&
              all[0] > 1.8 * all[2],
          "surfaces are red: %g %g %g", all[0], all[1], all[2]);
    CHECK(show(context, &fields, sticks, mean) == HOT_OK && mean[2] > 1 && mean[2] > 2.5 * mean[0] &&
              mean[2] > 2.5 * mean[1],
          "sticks are blue: %g %g %g", mean[0], mean[1], mean[2]);
    CHECK(show(context, &fields, only_image, mean) == HOT_OK && mean[0] > 100 && fabs(mean[0] - mean[2]) < 1,
          "the image is white: %g %g %g", mean[0], mean[1], mean[2]);
    fields.mask = mask;
    CHECK(show(context, &fields, surface, mean) == HOT_OK && fabs(mean[0] / all[0] * N - 1) < 0.3,
          "one of %d: %g of %g", N, mean[0], all[0]);
    CHECK(show(context, &fields, NULL, mean) == HOT_OK && mean[0] > 1, "all defaults: %g", mean[0]);
    const hot_view_fields older = {.size = offsetof(hot_view_fields, device_tensors), .tensors = tensors};
    REFUSED(HOT_ERROR_ARGUMENT, &older, NULL, "size");

    static const char *const unknown[] = {"glpyh", "surface", NULL}, *const wrong[] = {"scale", "large", NULL};
    static const char *const half[] = {"glyph", NULL};
    REFUSED(HOT_ERROR_ARGUMENT, &fields, unknown, "no setting 'glpyh'");
    REFUSED(HOT_ERROR_ARGUMENT, &fields, wrong, "scale");
    REFUSED(HOT_ERROR_ARGUMENT, &fields, half, "has no value");
    const hot_view_fields none = {.size = sizeof none}, unset = {.tensors = tensors};
    const hot_view_fields apart = {.size = sizeof apart, .tensors = tensors, .fibers = others};
    REFUSED(HOT_ERROR_ARGUMENT, &none, NULL, "nothing to show");
    REFUSED(HOT_ERROR_ARGUMENT, &unset, NULL, "size");
    REFUSED(HOT_ERROR_DATA, &apart, NULL, "do not belong together");
    /* tensors claimed to be on a GPU */
    const hot_view_device_tensors nowhere = {.grid = &grid, .order = 4}, here = {&grid, 4, rows[0]};
    const hot_view_fields both = {.size = sizeof both, .tensors = tensors, .device_tensors = &here};
    const hot_view_fields empty = {.size = sizeof empty, .device_tensors = &nowhere};
    const hot_view_fields host = {.size = sizeof host, .device_tensors = &here};
    REFUSED(HOT_ERROR_ARGUMENT, &both, NULL, "device_tensors");
    REFUSED(HOT_ERROR_ARGUMENT, &empty, NULL, "device_tensors: values");
    REFUSED(HOT_ERROR_DEVICE, &host, NULL, "GPU"); /* host memory, or no CUDA */
    const hot_view_options nothere = {.size = sizeof nothere, .screenshot = "/dev/null/all.png"};
    CHECK(hot_view_show(context, &fields, &nothere) == HOT_ERROR_FILE &&
              strstr(hot_context_message(context), "/dev/null"),
          "%s", hot_context_message(context));
    unlink(PICTURE);
    hot_tensor_field_destroy(&tensors);
    hot_fiber_field_destroy(&fibers);
    hot_fiber_field_destroy(&others);
    hot_mask_destroy(&mask);
    hot_context_destroy(&context);
    HOT_TEST_END();
}
