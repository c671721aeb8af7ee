/* `hotfiber view -`: the fields of a stream, drawn as they arrive. */
#pragma once

#include "scene/live.h"

typedef struct hot_stream_view hot_stream_view;

/* Starts a thread that reads standard input, and waits for the first field. The thread has its own context, with these
 * settings. as: content of the fields, NULL = by their headers. Errors: those of hot_field_stream_open and
 * hot_field_stream_next. */
hot_status hot_stream_view_open(hot_context *context, const hot_context_options *settings, const char *as,
                                hot_stream_view **view);
hot_live *hot_stream_view_live(hot_stream_view *view);
/* Waits until all is read. Errors: those of reading. */
hot_status hot_stream_view_finish(hot_context *context, hot_stream_view *view);
/* Ends the thread, and frees. */
void hot_stream_view_close(hot_stream_view **view);
