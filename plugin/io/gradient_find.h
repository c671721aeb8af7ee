/* Which gradient table belongs to an image, when none was named. */
#pragma once

#include <hotfiber/hotfiber.h>

typedef enum hot_table { HOT_TABLE_BVAL, HOT_TABLE_BVEC, HOT_TABLE_GRAD } hot_table;

/* The file of a kind that goes with an image: of the same name (.bval, .bvals; .bvec, .bvecs, FSL eddy's rotated ones;
 * .b), bvals and bvecs in its folder, or by the inheritance of BIDS: sub-01_dwi.bval or dwi.bval in its folder or
 * above, whose entities are all in the image's name; the nearest folder, and there the most entities. *name: free it
 * with hot_context_free; NULL = there is none. Errors: HOT_ERROR_MEMORY. */
hot_status hot_gradients_find(hot_context *context, const char *image, hot_table table, char **name);
