#include "window_dump.h"

#include <stdio.h>

hot_status hot_window_dump_write(hot_context *context, const char *path, const hot_window_dump *dump,
                                 const hot_scene *scene, const hot_view_state *state, const hot_input *input)
{
    char temporary[4096], text[256];
    size_t count;
    const hot_view_setting *settings = hot_view_settings(&count);
    snprintf(temporary, sizeof temporary, "%s.new", path);
    FILE *file = fopen(temporary, "w");
    if (!file)
        return hot_context_fail(context, HOT_ERROR_FILE, "cannot write '%s'", temporary);
    fprintf(file, "pictures %lu\nevents %lu\npicks %lu\nwidth %d\nheight %d\npointer %.2f,%.2f\ntitle %s\nvoxels %zu\n",
            dump->pictures, dump->events, dump->picks, input->width, input->height, input->x, input->y, scene->title,
            scene->voxels);
    for (size_t i = 0; i < count; i++) {
        hot_view_setting_print(&settings[i], state, text, sizeof text);
        fprintf(file, "%s %s\n", settings[i].name, text);
    }
    const int failed = ferror(file);
    if (fclose(file) != 0 || failed || rename(temporary, path) != 0)
        return hot_context_fail(context, HOT_ERROR_FILE, "cannot write '%s'", path);
    return HOT_OK;
}
