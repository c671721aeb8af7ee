#include "window_dump.h"

#include <stdio.h>

#include "scene/state_file.h"

hot_status hot_window_dump_write(hot_context *context, const char *path, const hot_window_dump *dump,
                                 const hot_scene *scene, const hot_view_state *state, const hot_input *input,
                                 const hot_controls *controls)
{
    char temporary[4096];
    const hot_controls_place *places = NULL;
    snprintf(temporary, sizeof temporary, "%s.new", path);
    FILE *file = fopen(temporary, "w");
    if (!file)
        return hot_context_fail(context, HOT_ERROR_FILE, "cannot write '%s'", temporary);
    fprintf(file, "pictures %lu\nevents %lu\npicks %lu\nwidth %d\nheight %d\npointer %.2f,%.2f\ntitle %s\nvoxels %zu\n",
            dump->pictures, dump->events, dump->picks, input->width, input->height, input->x, input->y, scene->title,
            scene->voxels);
    hot_view_state_put(file, state);
    const int controls_count = controls ? hot_controls_places(controls, &places) : 0;
    for (int i = 0; i < controls_count; i++)
        fprintf(file, "at_%s %.0f,%.0f\n", places[i].name, places[i].x + places[i].width / 2,
                places[i].y + places[i].height / 2);
    const int failed = ferror(file);
    if (fclose(file) != 0 || failed || rename(temporary, path) != 0)
        return hot_context_fail(context, HOT_ERROR_FILE, "cannot write '%s'", path);
    return HOT_OK;
}
