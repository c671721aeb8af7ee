/* The folders that an output goes into: are they fit for it, and made where they lack. */
#pragma once

#include <hotfiber/context.h>

/* Whether a file or folder can be written at `path` later; creates nothing. "-", NULL and devices can. Errors:
 * HOT_ERROR_FILE if the path is a folder and `folder` is 0, if a part of it is not a folder, or if the nearest existing
 * folder is not writable. */
hot_status hot_parents_check(hot_context *context, const char *path, int folder);

/* Makes the folders above `path` that are not there; *made is how many. Errors: HOT_ERROR_FILE; then none is left. */
hot_status hot_parents_make(hot_context *context, const char *path, int *made);

/* Removes that many again, as far as nothing was put into them. */
void hot_parents_remove(const char *path, int made);
