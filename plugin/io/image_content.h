/* What an image holds: directions, harmonics, tensors, colours, signals or a map. The header says it (kinds, intent
 * codes, MRtrix's history, our own words), else the values show it, else the user is asked: never the mere number of
 * values. */
#ifndef HOT_PLUGIN_IMAGE_CONTENT_H
#define HOT_PLUGIN_IMAGE_CONTENT_H

#include "core/image.h"

/* Contents as bits, for what a caller can take. */
enum { HOT_TAKE_PEAKS = 1, HOT_TAKE_TENSOR = 2, HOT_TAKE_SH = 4, HOT_TAKE_ANY = 15 };

/* Sets image->content, never unknown, and the layout of tensors. as: the user's word, "peaks", "sh", "tensor" (with
 * "_fsl", "_mrtrix", "_dipy" or "_itk" behind it for their order and axes), "rgb", "dwi", which decides; NULL = find
 * out, for which the samples are read. wanted: the bits of what the caller takes. Errors: HOT_ERROR_ARGUMENT (parameter
 * "content"), and HOT_ERROR_FORMAT with a line that says what it holds, or may hold, and what to do. */
hot_status hot_image_find_content(hot_image *image, const char *as, int wanted);

/* "directions", "tensors" or "tensors or harmonics", for messages. */
const char *hot_wanted_name(int wanted);

/* The axes of a layout as columns in the space of the grid; 0 when they are the world's. */
int hot_tensor_layout_frame(hot_tensor_layout layout, const hot_grid *grid, double frame[3][3]);
/* "xx xy xz yy yz zz in the axes of the bvecs (FSL)", for messages. */
const char *hot_tensor_layout_words(hot_tensor_layout layout);
/* Where xx, xy, xz, yy, yz, zz stand among the 6 values of a layout. */
const unsigned char *hot_tensor_layout_places(hot_tensor_layout layout);

#endif
