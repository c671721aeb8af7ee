#include "plane.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>


void hot_png_free(hot_png *png)
{
    free(png->bytes); /* open_memstream's */
    memset(png, 0, sizeof *png);
}

hot_status hot_png_put(hot_context *context, const unsigned char *rgb, int width, int height, int fast, FILE *file)
{
    png_image image = {.version = PNG_IMAGE_VERSION, .width = (png_uint_32)width, .height = (png_uint_32)height,
                       .format = PNG_FORMAT_RGB, .flags = fast ? PNG_IMAGE_FLAG_FAST : 0};
    /* a full disk shows when the file is finished, with its reason */
    if (png_image_write_to_stdio(&image, file, 0, rgb, 0, NULL) || ferror(file))
        return HOT_OK;
    return hot_context_fail(context, HOT_ERROR_MEMORY, "cannot draw a picture: %s", image.message);
}

FILE *hot_png_begin(hot_context *context, hot_png *png)
{
    memset(png, 0, sizeof *png);
    FILE *file = open_memstream(&png->bytes, &png->size);
    if (!file)
        hot_context_fail(context, HOT_ERROR_MEMORY, "out of memory for a picture");
    return file;
}

hot_status hot_png_end(hot_context *context, hot_png *png, FILE *file, hot_status status)
{
    int failed = file && ferror(file); /* before fclose: a closed file must not be used */
    if (file && (fclose(file) != 0 || !png->bytes)) /* without memory glibc's closes well, and there are no bytes */
        failed = 1;
    if (status == HOT_OK && failed)
        status = hot_context_fail(context, HOT_ERROR_MEMORY, "out of memory for a picture");
    if (status != HOT_OK)
        hot_png_free(png);
    return status;
}

hot_status hot_plane_map(hot_context *context, const hot_grid *grid, const hot_picture_layout *layout, int plane,
                         hot_plane_color *color, const void *user, hot_png *png)
{
    const hot_panel *panel = &layout->panels[plane];
    size_t columns, rows;
    hot_panel_size(layout, panel, &columns, &rows);
    memset(png, 0, sizeof *png);
    unsigned char *rgb = hot_context_alloc(context, columns * rows, 3), *to = rgb;
    if (!rgb)
        return HOT_ERROR_MEMORY;
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++) {
            size_t at[3];
            hot_panel_voxel(layout, panel, c, r, at);
            const uint32_t pixel = color(user, at[0] + grid->size[0] * (at[1] + grid->size[1] * at[2]));
            for (int shift = 16; shift >= 0; shift -= 8)
                *to++ = (unsigned char)(pixel >> shift);
        }
    FILE *file = hot_png_begin(context, png);
    hot_status status = file ? hot_png_put(context, rgb, (int)columns, (int)rows, 0, file) : HOT_ERROR_MEMORY;
    hot_context_free(context, rgb);
    return hot_png_end(context, png, file, status);
}
