/* The methods that find fibre directions. To add one: its file, `extern` in method.h, one line here. */
#include "method.h"

static const hot_peaks_method *const methods[] = {
    &hot_peaks_maxima,
    &hot_peaks_lowrank,
};

const hot_peaks_method *const *hot_peaks_methods(size_t *count)
{
    *count = sizeof methods / sizeof methods[0];
    return methods;
}
