/* Lengths of gradient vectors that encode b-values. */
#pragma once

#include "core/fields.h"

/* Reads the lengths of dwi->gradients before they are normalised; `name` is the table's. limit: how far from 1 the
 * squared lengths of unit vectors may be. If all b-values are equal and no vector is longer than 1, b is multiplied by
 * the squared lengths, as scanners encode several shells so, and dwi->length_coded_b keeps the original b. Otherwise
 * the b-values stay. */
void hot_vector_lengths(hot_context *context, hot_dwi *dwi, const char *name, double limit);

/* Checks, once the samples are read, that the signals decay with the b-values of hot_vector_lengths. If equal b-values
 * explain them better, these are restored; if the signals do not decide, a warning names the assumption. name: the
 * image's. */
hot_status hot_vector_lengths_confirm(hot_context *context, hot_dwi *dwi, const char *name);
