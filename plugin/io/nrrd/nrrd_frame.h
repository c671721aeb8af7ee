/* The measurement frame of NRRDs: the identity on what we write, applied to what we read. */
#pragma once

#include <teem/nrrd.h>

/* The frame as a matrix, whose columns are its vectors; 0 when it is absent or the identity. */
int hot_nrrd_get_frame(const Nrrd *nrrd, double frame[3][3]);
/* Says that values are in the world of the file's space. After hot_nrrd_set_grid. */
void hot_nrrd_set_identity_frame(Nrrd *nrrd);
