/* Files that have as many values as directions would, 3 per fibre, or harmonics, but hold signals. */
#pragma once

#include "core/image.h"

/* HOT_ERROR_FORMAT if a NIfTI file has a .bval file next to it. what: the expected content, "directions". */
hot_status hot_directions_check_tables(hot_context *context, const char *path, const char *what);
/* HOT_ERROR_FORMAT when a MIF has a gradient for every volume. */
hot_status hot_directions_check_scheme(const hot_image *image, const char *what);
