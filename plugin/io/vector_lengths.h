/* What the lengths of a gradient table's vectors say about its b-values. */
#ifndef HOT_PLUGIN_IO_VECTOR_LENGTHS_H
#define HOT_PLUGIN_IO_VECTOR_LENGTHS_H

#include "core/fields.h"

/* Reads the lengths of dwi->gradients, which are still those of the table `name`. limit: how far from 1 the squared
 * lengths of unit vectors may be. Where all b-values are alike and no vector is longer than 1, b is multiplied by the
 * squared lengths, and dwi->length_coded_b is what they were: scanners code several shells like that. Otherwise the
 * b-values are right as they are. */
void hot_vector_lengths(hot_context *context, hot_dwi *dwi, const char *name, double limit);

/* Once the samples are there: whether signals fall with the b-values that hot_vector_lengths made. If they rather go
 * with equal b-values, these are put back; if they do not tell, a warning says what was assumed. name: the image's. */
hot_status hot_vector_lengths_confirm(hot_context *context, hot_dwi *dwi, const char *name);

#endif
