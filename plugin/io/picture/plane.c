#include "plane.h"

#include <png.h>
#include <setjmp.h>
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

/* ---- Row by row ------------------------------------------------------------------------------------------ */

struct hot_png_stream {
    hot_context *context;
    png_structp png;
    png_infop info;
    size_t row; /* bytes */
    char said[128];
};

/* libpng returns by longjmp. A full disk shows when the file is finished, with its reason. */
static void on_png_error(png_structp png, png_const_charp message)
{
    hot_png_stream *stream = png_get_error_ptr(png);
    snprintf(stream->said, sizeof stream->said, "%s", message);
    longjmp(png_jmpbuf(png), 1);
}

static void on_png_warning(png_structp png, png_const_charp message) { (void)png, (void)message; }

static hot_status fail_png(hot_png_stream *stream)
{
    return hot_context_fail(stream->context, HOT_ERROR_MEMORY, "cannot write a picture: %s",
                            stream->said[0] ? stream->said : "out of memory");
}

hot_status hot_png_stream_begin(hot_context *context, FILE *file, int width, int height, int channels, double dpi,
                                hot_png_stream **stream)
{
    static const double INCH = 0.0254;
    hot_png_stream *made = *stream = hot_context_calloc(context, 1, sizeof *made);
    if (!made)
        return HOT_ERROR_MEMORY;
    made->context = context;
    made->row = (size_t)width * (size_t)channels;
    made->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, made, on_png_error, on_png_warning);
    made->info = made->png ? png_create_info_struct(made->png) : NULL;
    if (!made->info || setjmp(png_jmpbuf(made->png)))
        return fail_png(made);
    png_init_io(made->png, file);
    png_set_IHDR(made->png, made->info, (png_uint_32)width, (png_uint_32)height, 8,
                 channels == 4 ? PNG_COLOR_TYPE_RGBA : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (dpi > 0)
        png_set_pHYs(made->png, made->info, (png_uint_32)(dpi / INCH + 0.5), (png_uint_32)(dpi / INCH + 0.5),
                     PNG_RESOLUTION_METER);
    png_write_info(made->png, made->info);
    return HOT_OK;
}

hot_status hot_png_stream_rows(hot_png_stream *stream, const unsigned char *pixels, int rows)
{
    if (setjmp(png_jmpbuf(stream->png)))
        return fail_png(stream);
    for (int r = 0; r < rows; r++)
        png_write_row(stream->png, pixels + (size_t)r * stream->row);
    return HOT_OK;
}

/* Apart from the caller: longjmp would lose what it holds in registers. */
static hot_status finish_png(hot_png_stream *stream)
{
    if (setjmp(png_jmpbuf(stream->png)))
        return fail_png(stream);
    png_write_end(stream->png, stream->info);
    return HOT_OK;
}

hot_status hot_png_stream_end(hot_png_stream **stream, hot_status status)
{
    hot_png_stream *gone = *stream;
    if (!gone)
        return status;
    if (status == HOT_OK)
        status = finish_png(gone);
    png_destroy_write_struct(&gone->png, &gone->info);
    hot_context_free(gone->context, gone);
    *stream = NULL;
    return status;
}

/* ---- In memory ------------------------------------------------------------------------------------------- */

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
