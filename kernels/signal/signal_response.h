/* The response of a single fibre without the noise of the data it was averaged from. */
#pragma once

#include <hotfiber/signal.h>

HOT_C_BEGIN

/* Legendre amplitudes of one shell's response, order / 2 + 1 of them, of degrees up to `order` (even, 16 at most): the
 * bias of magnitudes by options->response_sigma is subtracted. */
HOT_API void hot_signal_clean_response(const hot_signal_options *options, const hot_signal_scheme *scheme, size_t shell,
                                       int order, double *amplitude);

HOT_C_END
