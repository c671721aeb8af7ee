/* The launch of SS-HOPM with the basin test (basin.h) on the GPU. */
#ifndef HOT_BASIN_LAUNCH_H
#define HOT_BASIN_LAUNCH_H

#include "sshopm_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HOT_BASIN_STARTS = 1024 }; /* at most */

/* How many bytes of tables->workspace a batch can use (0: it needs none); with less it is slower. */
size_t hot_basin_workspace(const hot_sshopm_args *args, int processors);

/* As hot_sshopm_launch; dimension 3, order 4 6 8, float, no shift, a stop on the residual, at least two iterations. */
hot_status hot_basin_launch(hot_context *context, const hot_sshopm_args *args, const hot_sshopm_tables *tables,
                            void *stream);

#ifdef __cplusplus
}
#endif
#endif
