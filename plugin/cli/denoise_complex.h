/* Complex data for hotfiber denoise: an array, without gradients. */
#pragma once

#include <hotfiber/denoise.h>

/* Reads an NRRD of complex numbers, denoises it, writes it in the same order of axes with everything that its header
 * said.
 * noise: where the map goes, or NULL. */
hot_status cli_denoise_complex(hot_context *context, const char *input, const char *output, const char *noise,
                               const hot_denoise_options *options);
