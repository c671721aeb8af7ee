/* The content of an image: directions, harmonics, tensors, colours, signals or a map. The header decides (kinds, intent
 * codes, MRtrix's history, our own keys), else the values; if both leave it open, the user must say (--as). The number
 * of values alone never decides. */
#pragma once

#include "core/image.h"

/* Contents as bits, for what a caller can take. */
enum { HOT_TAKE_PEAKS = 1, HOT_TAKE_TENSOR = 2, HOT_TAKE_SH = 4, HOT_TAKE_ANY = 15 };

/* Sets image->content, never unknown, and the layout of tensors. as: the user's choice, "peaks", "sh", "tensor" (with
 * the suffix "_fsl", "_mrtrix", "_dipy" or "_itk" for their order and axes), "rgb", "dwi"; NULL = from header and
 * samples. wanted: the contents that the caller supports, as bits. Errors: HOT_ERROR_ARGUMENT (parameter "content"),
 * and HOT_ERROR_FORMAT with a message that names the possible contents and the remedy. */
hot_status hot_image_find_content(hot_image *image, const char *as, int wanted);

/* "directions", "tensors" or "tensors or harmonics", for messages. */
const char *hot_wanted_name(int wanted);

/* The axes of a layout as columns in the space of the grid; 0 when they are the world's. */
int hot_tensor_layout_frame(hot_tensor_layout layout, const hot_grid *grid, double frame[3][3]);
/* "xx xy xz yy yz zz in the axes of the bvecs (FSL)", for messages. */
const char *hot_tensor_layout_words(hot_tensor_layout layout);
/* Where xx, xy, xz, yy, yz, zz stand among the 6 values of a layout. */
const unsigned char *hot_tensor_layout_places(hot_tensor_layout layout);
/* The order of the tensors that `values` per voxel are, with the confidence first: 7, 16, 29, 46. No number of
 * harmonics is among these. 0 = none. */
int hot_tensors_image_order(size_t values);
