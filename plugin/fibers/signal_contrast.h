/* The single fibres of a data set, judged before the signal method runs. */
#ifndef HOT_FIBERS_SIGNAL_CONTRAST_H
#define HOT_FIBERS_SIGNAL_CONTRAST_H

#include <hotfiber/hotfiber.h>

/* Judges from a sample of voxels how much single fibres differ from the response. signals: count x scheme->volumes
 * floats; sigma: count floats, > 0, or NULL for how->sigma. *contrast: HOT_CONTRAST_ALIKE, DISPERSED or VARIED;
 * *typical: the width beyond the response's, rad^2, that four in ten of the sample's single fibres do not reach,
 * infinite where they cannot be fitted at all, NaN where there are too few; *narrowing:
 * hot_signal_options.response_tau, where the response was averaged from dispersed fibres or from crossings. Errors:
 * those of hot_signal_fibers_f32. */
hot_status hot_signal_contrast(hot_context *context, const hot_signal_options *how, const hot_signal_scheme *scheme,
                               size_t count, const float *signals, const float *sigma, hot_contrast *contrast,
                               double *typical, double *narrowing);

#endif
