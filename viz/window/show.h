/* Arguments of hot_view_show and hot_view_open. */
#pragma once

#include "scene/scene.h"

/* Copies both structs (HOT_VIEW_..._INIT) and fills in the default size. Errors: HOT_ERROR_ARGUMENT. */
hot_status hot_view_read_arguments(hot_context *context, const hot_view_fields *fields,
                                   const hot_view_options *options, hot_view_fields *shown, hot_view_options *own);
/* Sets fields of the state by pairs of setting and value. Errors: HOT_ERROR_ARGUMENT. */
hot_status hot_view_parse_settings(hot_context *context, const char *const *settings, hot_view_state *state);
