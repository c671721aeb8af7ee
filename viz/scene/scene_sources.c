/* Sources of the layers of a view: images and lines of the scene. Opening them is in scene_layers.c. */
#include <math.h>
#include <string.h>

#include "lines.h"

static const hot_scene_source *source_of(const hot_scene *scene, const hot_view_layer *layer)
{
    for (int n = 0; n < scene->sources; n++)
        if (strcmp(scene->source[n].name, layer->source) == 0 && strcmp(scene->source[n].as, layer->as) == 0 &&
            (scene->source[n].set != NULL) == layer->beside)
            return &scene->source[n];
    return NULL;
}

const hot_view_volume *hot_scene_layer_volume(const hot_scene *scene, const hot_view_layer *layer)
{
    const hot_scene_source *source = source_of(scene, layer);
    return source ? source->volume : NULL;
}

const hot_lines *hot_scene_layer_lines(const hot_scene *scene, const hot_view_layer *layer)
{
    const hot_scene_source *source = source_of(scene, layer);
    return source ? source->lines : NULL;
}

const hot_scene *hot_scene_layer_set(const hot_scene *scene, const hot_view_layer *layer)
{
    const hot_scene_source *source = source_of(scene, layer);
    return source ? source->set : NULL;
}

void hot_layer_window(const hot_view_volume *volume, const hot_view_layer *layer, double window[2])
{
    for (int end = 0; end < 2; end++)
        window[end] = isnan(layer->window[end]) ? volume->window[end] : layer->window[end];
    if (!(window[0] < window[1])) /* one end was chosen, beyond the other */
        window[isnan(layer->window[0]) ? 0 : 1] = isnan(layer->window[0]) ? window[1] - 1 : window[0] + 1;
}
