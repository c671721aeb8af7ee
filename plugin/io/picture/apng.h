/* Animated PNG: pictures of one size, each encoded as a PNG, are put into one file.
 *
 * PNG specification (third edition), 11.3.6: acTL, fcTL, fdAT. */
#pragma once

#include <stdint.h>

#include "plane.h"

typedef struct hot_apng {
    FILE *file;
    int frames, done;  /* all of them, and those that were added */
    int milliseconds;  /* of a frame, 1 to 65535 */
    uint32_t sequence; /* number of the next fcTL or fdAT */
} hot_apng;

/* Adds the next picture to `file`; the first and the last one also write the file's beginning and end. Errors:
 * HOT_ERROR_DATA if `png` is not what libpng writes. Failures of the file show when it is closed. */
HOT_API hot_status hot_apng_add(hot_context *context, hot_apng *movie, const hot_png *png);
