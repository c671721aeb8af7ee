/* Diffusion data of any format, or a part of them. */
#pragma once

#include "dwi/sample.h"

/* As hot_dwi_load, but of data that are larger than sample->small only a part is read, into sample->dwi (the caller's);
 * *dwi then has no samples, and sample->partial is set. sample: NULL = all of them. */
hot_status hot_dwi_load_sample(hot_context *context, const char *path, const char *bval, const char *bvec,
                               hot_dwi_sample *sample, hot_dwi **dwi);

/* Like hot_dwi_load, but out of core if the data and their results need more than `memory` bytes: the samples stay in
 * their file (dwi/paged.h), and the context's arrays are bounded (core/memory.h). memory: 0 = 60 % of the free memory.
 * output: the path of the result, NULL = none; compressed files are unpacked in its folder. */
hot_status hot_dwi_load_within(hot_context *context, const char *path, const char *bval, const char *bvec,
                               size_t memory, const char *output, hot_dwi **dwi);
