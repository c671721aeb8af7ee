/* The launch of SS-HOPM in the gnomonic projection (gnomonic.h) on the GPU. */
#ifndef HOT_GNOMONIC_LAUNCH_H
#define HOT_GNOMONIC_LAUNCH_H

#include "sshopm_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As hot_sshopm_launch; dimension 3, order 4 6 8, float, no shift (or the adaptive one, for maxima, with a stop on the
 * residual), fewer than 2^28 starts. */
hot_status hot_gnomonic_launch(hot_context *context, const hot_sshopm_args *args, const hot_sshopm_tables *tables,
                               void *stream);

#ifdef __cplusplus
}
#endif
#endif
