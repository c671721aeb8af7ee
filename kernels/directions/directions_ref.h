/* The reference with a choice of how dense: tests compare it with a finer one. */
#pragma once

#include "directions_args.h"

/* `points`: on the half sphere. */
hot_status hot_directions_ref_dense(hot_context *context, const hot_directions_args *args, size_t points);
