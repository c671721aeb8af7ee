/* The NA-MIC keys of an NRRD header, apart from the file, so that they can be fuzzed. */
#pragma once

#include <teem/nrrd.h>

#include <hotfiber/hotfiber.h>

/* Which of the four axes the volumes lie along. `name` is the file's, for messages. */
hot_status hot_nrrd_dwi_axis(hot_context *context, const Nrrd *nrrd, const char *name, unsigned int *list);

/* b[volumes] and gradients[volumes * 3] (the file's own frame, longest = 1) from DWMRI_b-value, DWMRI_gradient_NNNN or
 * DWMRI_B-matrix_NNNN, DWMRI_NEX_NNNN and DWMRI_skip_NNNN (skipped[v] = 1; also where a gradient is "n/a"). The meaning
 * of the keys is Teem's. skipped comes zeroed. */
hot_status hot_nrrd_gradients(hot_context *context, const Nrrd *nrrd, const char *name, size_t volumes, double *b,
                              double *gradients, unsigned char *skipped);
