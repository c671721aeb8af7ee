/* Out-of-core arrays. When a context's memory budget is exhausted, its arrays are mappings of unlinked temporary files,
 * of which only the part in use is in memory. Callers see ordinary arrays. */
#pragma once

#include <hotfiber/context.h>

/* From now on the context's arrays take at most about `bytes` of memory; further arrays are unlinked files in `folder`.
 * Has no effect if the user's own functions allocate. */
HOT_API void hot_context_bound(hot_context *context, size_t bytes, const char *folder);
HOT_API int hot_context_bounded(const hot_context *context);

/* A file without a name in a folder, open for reading and writing: gone with the process, however that ends. Negative
 * after a failure, with errno set. */
HOT_API int hot_unnamed_file(const char *folder);

/* ---- For the context --------------------------------------------------------------------------------------- */

typedef struct hot_spill hot_spill;

/* Arrays may take `bytes` in all; folder: where the files are made (copied). NULL without memory. */
hot_spill *hot_spill_create(size_t bytes, const char *folder);
/* Another bound and folder for later allocations. Returns 0 if memory runs out. */
int hot_spill_bound(hot_spill *spill, size_t bytes, const char *folder);
/* Arrays that have not been freed stay valid. */
void hot_spill_destroy(hot_spill *spill);

/* *memory: a zeroed array in a file if the budget has no room; NULL if it has. Returns 0, or the errno if no file could
 * be made. */
int hot_spill_alloc(hot_spill *spill, size_t bytes, void **memory);
/* An array that was allocated elsewhere counts, too. Returns 0 without memory. */
int hot_spill_account(hot_spill *spill, void *memory, size_t bytes);
/* Unmaps an array of hot_spill_alloc and returns 1; 0: it is none of these, and no longer counts. */
int hot_spill_free(hot_spill *spill, void *memory);

/* Sees to it that no more of the files is in memory than may be. For any thread, at any time; cheap. */
void hot_spill_evict(hot_spill *spill);

const char *hot_spill_folder(const hot_spill *spill);
