/* hot_view_show: the viewer in a program. */
#include <hotfiber/view.h>

#include <stddef.h>
#include <string.h>

#include "render/picture.h"
#include "common/entry.h"
#include "scene/scene.h"
#ifdef HOT_HAVE_GLFW
#include "window.h"
#endif

static hot_status take_settings(hot_context *context, const char *const *settings, hot_view_state *state)
{
    for (; settings && settings[0]; settings += 2) {
        const hot_view_setting *setting = hot_view_setting_find(settings[0]);
        if (!setting || !settings[1])
            return hot_context_fail(context, HOT_ERROR_ARGUMENT, setting ? "the setting '%s' has no value"
                                                                         : "there is no setting '%s'", settings[0]);
        hot_status status = hot_view_setting_parse(context, setting, settings[1], state);
        if (status != HOT_OK)
            return status;
    }
    return HOT_OK;
}

hot_status hot_view_show(hot_context *context, const hot_view_fields *fields, const hot_view_options *options)
{
    HOT_ENTRY(context);
    hot_scene *scene = NULL;
    hot_pictures *pictures = NULL;
    hot_view_state state;
    if (fields->size < offsetof(hot_view_fields, device_tensors) || (options && options->size < sizeof *options))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "the size of hot_view_fields or hot_view_options is not set");
    const int width = options && options->width ? options->width : 1024;
    const int height = options && options->height ? options->height : 768;
    hot_view_fields shown = {.size = sizeof shown}; /* programs made before there was the last field have not set it */
    memcpy(&shown, fields, fields->size < sizeof shown ? fields->size : sizeof shown);
    hot_view_state_default(&state);
    if (options && options->screenshot)
        state.show_crosshair = 0;
    hot_status status = hot_scene_from_fields(context, &shown, &scene);
    if (status == HOT_OK)
        status = take_settings(context, options ? options->settings : NULL, &state);
    if (status == HOT_OK)
        status = hot_view_state_resolve(context, scene, &state);
    if (status == HOT_OK)
        status = hot_view_state_check(context, scene, &state);
    if (status != HOT_OK)
        goto cleanup;
    if (options && options->screenshot) {
        status = hot_pictures_create(context, width, height, 4, &pictures);
        if (status == HOT_OK)
            status = hot_pictures_save(pictures, scene, &state, options->screenshot);
        goto cleanup;
    }
#ifdef HOT_HAVE_GLFW
    status = hot_window_run(context, &scene, &state, &(const hot_window_options){.width = width, .height = height});
#else
    status = hot_context_fail(context, HOT_ERROR_DEVICE, "built without GLFW: pictures can be made, no window");
#endif
cleanup:
    hot_pictures_destroy(&pictures);
    hot_scene_destroy(&scene);
    return status;
}
