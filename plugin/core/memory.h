/* How much memory there is. */
#ifndef HOT_CORE_MEMORY_H
#define HOT_CORE_MEMORY_H

#include <stddef.h>

#include <hotfiber/context.h>

/* Bytes that this process can still take without swapping: what the machine has available, or what its control groups
 * leave, if that is less. SIZE_MAX where neither is known. */
size_t hot_memory_free(void);

/* The most bytes that this process has had in memory; 0 where that is not known. Not by getrusage alone, which begins
 * with what the parent had at the time of its fork. */
size_t hot_memory_peak(void);

/* Gives back to the system what has been freed and the allocator has kept, tens of MB after a stage of many arrays.
 * Some ms; nothing where the C library has no call for it. */
void hot_memory_trim(void);

/* Gives the system back the whole pages of an array that is still to be freed; what was in them is lost: they are 0, or
 * as before. */
void hot_memory_release(void *array, size_t bytes);

enum { HOT_MEMORY_FOLDER = 4096 };

/* Bounds what the arrays of a context take (hot_context_bound): `memory` bytes, 0 = 60 % of what is free, and returns
 * how many these are. What there is no room for goes to files in the folder of `output`, a file or folder that is to be
 * made; NULL or "-", or where that folder is not there yet: to $TMPDIR, or /var/tmp. folder: which; may be NULL. */
size_t hot_memory_bound(hot_context *context, size_t memory, const char *output, char folder[HOT_MEMORY_FOLDER]);

#endif
