/* A batch whose arrays are on the GPU already (hotfiber/device.h): part of the batch pipeline. */
#pragma once

#include "batch_pipeline.h"

HOT_C_BEGIN

/* Queues the batch on the context's stream: begin, a launch for every chunk, end. */
hot_status hot_batch_queue(hot_context *context, const hot_batch *batch);
/* HOT_ERROR_ARGUMENT when an array of the batch lies elsewhere than the context says. */
hot_status hot_batch_check_arrays(hot_context *context, const hot_batch *batch);

HOT_C_END
