/* How much memory there is. */
#pragma once

#include <stddef.h>

#include <hotfiber/context.h>

/* Bytes that this process can still take without swapping: what the machine has available, or what its control groups
 * leave, if that is less. SIZE_MAX where neither is known. */
size_t hot_memory_free(void);

/* The peak resident memory of this process in bytes; 0 if unknown. getrusage alone would start from the parent's memory
 * at the fork. */
size_t hot_memory_peak(void);

/* Gives back to the system what has been freed and the allocator has kept, tens of MB after a stage of many arrays.
 * Some ms; nothing where the C library has no call for it. */
void hot_memory_trim(void);

/* Releases the whole pages of an array to the system before the array is freed; their contents are lost. */
void hot_memory_release(void *array, size_t bytes);

enum { HOT_MEMORY_FOLDER = 4096 };

/* Bounds the memory of a context's arrays (hot_context_bound) to `memory` bytes, 0 = 60 % of the free memory; returns
 * the bound. Larger arrays go to files in the folder of the future file or folder `output`; to $TMPDIR or /var/tmp if
 * it is NULL, "-", or in a folder that does not exist. folder: the chosen folder; may be NULL. */
size_t hot_memory_bound(hot_context *context, size_t memory, const char *output, char folder[HOT_MEMORY_FOLDER]);
