/* Fixel directories of MRtrix as directions. */
#pragma once

#include <hotfiber/hotfiber.h>

/* Whether a path is a folder with an index image. */
int hot_fixels_named(const char *path);
/* The name of its index image; static storage of the thread. "" if there is none. */
const char *hot_fixels_index(const char *path);
/* Loads index and directions (.mif, .nii, .nii.gz), with amplitude, afd or fd as lengths if one exists, else 1.
 * Errors: those of the readers; HOT_ERROR_FORMAT if the files do not fit together. */
hot_status hot_fixels_load(hot_context *context, const char *path, hot_fiber_field **fibers);
