/* Signals that are made where they are needed. For data that lie otherwise than the method wants them: no array of all
 * of them has to exist, and on a GPU making them overlaps with the fits. */
#pragma once

#include <hotfiber/signal.h>

HOT_C_BEGIN

/* The type of all signals: those that fit 16 bits go to a GPU in 16 bits. */
typedef enum hot_signal_numbers {
    HOT_SIGNAL_ANY,
    HOT_SIGNAL_I16, /* whole, -32,768 to 32,767 */
    HOT_SIGNAL_U16  /* whole, 0 to 65,535 */
} hot_signal_numbers;

/* read: writes the signals of voxels first ... first + count - 1 to rows, voxel by voxel; called by several threads at
 * once. Voxels outside the call's mask may be skipped.
 * used: all voxels before `end` are computed, and their signals are not read again. Called by one thread at a time,
 * with growing `end`; never if several GPUs share the voxels. May be NULL. */
typedef struct hot_signal_source {
    void (*read)(void *user, size_t first, size_t count, float *rows);
    void (*used)(void *user, size_t end);
    void *user;
    hot_signal_numbers numbers;
} hot_signal_source;

/* hot_signal_fibers_f32, all arrays in the host's memory, with a source in the signals' place. */
HOT_API hot_status hot_signal_fibers_from(hot_context *context, const hot_signal_options *options,
                                          const hot_signal_scheme *scheme, size_t count,
                                          const hot_signal_source *source, const float *sigma, const float *s0,
                                          const uint8_t *mask, const hot_signal_result *result);

HOT_C_END
