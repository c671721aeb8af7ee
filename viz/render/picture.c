#include "picture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#include <epoxy/gl.h>
#include <png.h>

#include "headless.h"
#include "overlay/overlay.h"

struct hot_pictures {
    hot_context *context;
    int width, height;
    hot_headless *headless;
    hot_renderer *renderer;
    hot_overlay *overlay;
    uint8_t *rgb;
};

hot_status hot_pictures_create(hot_context *context, int width, int height, int samples, hot_pictures **pictures)
{
    *pictures = NULL;
    hot_pictures *made = hot_context_calloc(context, 1, sizeof *made);
    if (!made)
        return HOT_ERROR_MEMORY;
    *made = (hot_pictures){.context = context, .width = width, .height = height};
    hot_status status = hot_headless_create(context, &made->headless);
    if (status == HOT_OK)
        status = hot_renderer_create(context, &made->renderer);
    if (status == HOT_OK)
        status = hot_headless_resize(made->headless, width, height, samples);
    if (status == HOT_OK)
        status = hot_overlay_create(context, &made->overlay);
    if (status == HOT_OK) {
        made->rgb = hot_context_alloc(context, (size_t)width * (size_t)height, 3);
        status = made->rgb ? HOT_OK : HOT_ERROR_MEMORY;
    }
    if (status != HOT_OK)
        hot_pictures_destroy(&made);
    *pictures = made;
    return status;
}

void hot_pictures_destroy(hot_pictures **pictures)
{
    hot_pictures *gone = pictures ? *pictures : NULL;
    if (!gone)
        return;
    hot_overlay_destroy(&gone->overlay);
    hot_renderer_destroy(&gone->renderer);
    hot_headless_destroy(&gone->headless);
    hot_context_free(gone->context, gone->rgb);
    hot_context_free(gone->context, gone);
    *pictures = NULL;
}

hot_renderer *hot_pictures_renderer(hot_pictures *pictures) { return pictures->renderer; }

hot_status hot_pictures_draw(hot_pictures *pictures, const hot_scene *scene, const hot_view_state *state,
                             const uint8_t **rgb)
{
    const hot_overlay_mesh *mesh = NULL;
    hot_status status = hot_overlay_build(pictures->overlay, scene, state, pictures->width, pictures->height, &mesh);
    if (status == HOT_OK && hot_renderer_needs_depth(pictures->renderer, scene, state))
        status = hot_headless_add_depth(pictures->headless);
    if (status == HOT_OK)
        status = hot_renderer_draw(pictures->renderer, scene, state, pictures->width, pictures->height, mesh);
    if (status == HOT_OK)
        hot_headless_resolve(pictures->headless);
    if (status == HOT_OK && !rgb)
        glFinish();
    if (status == HOT_OK && rgb) {
        status = hot_renderer_read(pictures->renderer, pictures->width, pictures->height, pictures->rgb);
        *rgb = pictures->rgb;
    }
    return status;
}

/* ---- PNG -------------------------------------------------------------------------------------------------- */

static hot_status write_png(hot_context *context, FILE *file, const char *path, int width, int height,
                            const uint8_t *rgb)
{
    png_image image;
    memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    image.width = (png_uint_32)width;
    image.height = (png_uint_32)height;
    image.format = PNG_FORMAT_RGB;
    errno = 0;
    if (!png_image_write_to_stdio(&image, file, 0, rgb, 0, NULL) || fflush(file) != 0)
        return hot_context_fail(context, HOT_ERROR_FILE, "cannot write '%s': %s", path,
                                errno ? strerror(errno) : image.message);
    return HOT_OK;
}

hot_status hot_pictures_save(hot_pictures *pictures, const hot_scene *scene, const hot_view_state *state,
                             const char *path)
{
    hot_context *context = pictures->context;
    const uint8_t *rgb = NULL;
    hot_status status = hot_pictures_draw(pictures, scene, state, &rgb);
    if (status != HOT_OK)
        return status;
    if (strcmp(path, "-") == 0)
        return write_png(context, stdout, "standard output", pictures->width, pictures->height, rgb);
    /* First beside where it belongs (a link is followed, and stays), under a name that nobody can guess or has planted:
     * so a full disk leaves no half picture, and what stands there is not written through. */
    char *target = realpath(path, NULL);
    const char *place = target ? target : path, *slash = strrchr(place, '/');
    const int folder = slash ? (int)(slash - place) + 1 : 0;
    const size_t size = strlen(place) + 48;
    unsigned int number = 0;
    char *part = hot_context_alloc(context, size, 1);
    if (!part) {
        free(target);
        return HOT_ERROR_MEMORY;
    }
    (void)!getrandom(&number, sizeof number, GRND_NONBLOCK);
    snprintf(part, size, "%.*s.part-%ld-%u-%s", folder, place, (long)getpid(), number, place + folder);
    const int handle = open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    FILE *file = handle >= 0 ? fdopen(handle, "wb") : NULL;
    int bad = !file;
    if (file) {
        (void)flock(handle, LOCK_EX | LOCK_NB); /* others see that it is not abandoned */
        status = write_png(context, file, path, pictures->width, pictures->height, rgb);
        errno = 0;
        bad = status == HOT_OK && fsync(handle) != 0 && errno != EINVAL && errno != EROFS;
        bad |= fclose(file) != 0;
        bad = bad || (status == HOT_OK && rename(part, place) != 0);
    }
    if (bad && status == HOT_OK)
        status = hot_context_fail(context, HOT_ERROR_FILE, "cannot write '%s': %s", path, strerror(errno));
    if (status != HOT_OK && handle >= 0)
        remove(part);
    if (!file && handle >= 0)
        close(handle);
    free(target);
    hot_context_free(context, part);
    return status;
}
