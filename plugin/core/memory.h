/* How much memory there is. */
#ifndef HOT_CORE_MEMORY_H
#define HOT_CORE_MEMORY_H

#include <stddef.h>

/* Bytes that this process can still take without swapping: what the machine has available, or what its control groups
 * leave, if that is less. SIZE_MAX where neither is known. */
size_t hot_memory_free(void);

#endif
