/* hot_view_show. */
#include <hotfiber/view.h>

#include "common/options.h"
#include "render/picture.h"
#include "common/arguments.h"
#include "common/entry.h"
#include "scene/scene.h"
#include "show.h"
#ifdef HOT_HAVE_GLFW
#include "window.h"
#endif

hot_status hot_view_parse_settings(hot_context *context, const char *const *settings, hot_view_state *state)
{
    for (; settings && settings[0]; settings += 2) {
        if (!settings[1])
            return hot_context_fail(context, HOT_ERROR_ARGUMENT, "the setting '%s' has no value", settings[0]);
        HOT_TRY(hot_view_state_set(context, settings[0], settings[1], state));
    }
    return HOT_OK;
}

hot_status hot_view_read_arguments(hot_context *context, const hot_view_fields *fields,
                                   const hot_view_options *options, hot_view_fields *shown, hot_view_options *own)
{
    HOT_TRY(hot_options_read(context, "hot_view_fields", fields, shown));
    HOT_TRY(hot_options_read(context, "hot_view_options", options, own));
    if (own->width < 0 || own->height < 0)
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, own->width < 0 ? "width" : "height",
                                          "%d x %d pixels; must be positive, or 0 for 1024 x 768", own->width,
                                          own->height);
    own->width = own->width ? own->width : 1024;
    own->height = own->height ? own->height : 768;
    return HOT_OK;
}

hot_status hot_view_show(hot_context *context, const hot_view_fields *fields, const hot_view_options *options)
{
    HOT_ENTRY(context);
    hot_scene *scene = NULL;
    hot_pictures *pictures = NULL;
    hot_view_state state;
    hot_view_fields shown = HOT_VIEW_FIELDS_INIT;
    hot_view_options own = HOT_VIEW_OPTIONS_INIT;
    HOT_NEED(context, fields);
    HOT_TRY(hot_view_read_arguments(context, fields, options, &shown, &own));
    const int width = own.width, height = own.height;
    hot_view_state_default(&state);
    if (own.screenshot) {
        state.show_crosshair = 0;
        state.pixel_ratio = hot_picture_pixel_ratio(width, height);
    }
    hot_status status = hot_scene_from_fields(context, &shown, &scene);
    if (status == HOT_OK)
        status = hot_view_parse_settings(context, own.settings, &state);
    if (status == HOT_OK)
        status = hot_view_state_resolve(context, scene, &state);
    if (status == HOT_OK)
        status = hot_view_state_check(context, scene, &state);
    if (status == HOT_OK)
        status = hot_scene_open_layers(scene, &state);
    if (status != HOT_OK)
        goto cleanup;
    if (own.screenshot) {
        status = hot_pictures_create(context, width, height, 4, &pictures);
        if (status == HOT_OK)
            status = hot_pictures_save(pictures, scene, &state, own.screenshot);
        goto cleanup;
    }
#ifdef HOT_HAVE_GLFW
    status = hot_window_run(context, &scene, &state, &(const hot_window_options){.width = width, .height = height});
#else
    status = hot_context_fail(context, HOT_ERROR_DEVICE, "built without GLFW: no windows, only pictures "
                                                         "(options->screenshot)");
#endif
cleanup:
    hot_pictures_destroy(&pictures);
    hot_scene_destroy(&scene);
    return status;
}
