/* Fields of forms from images: tensors that another format than NRRD holds, spherical harmonics. */
#pragma once

#include "core/image.h"

/* The tensors of an image that is open and known to hold them (image->layout). Errors as hot_tensor_field_load. */
hot_status hot_tensors_image_load(hot_image *image, hot_tensor_field **field);
