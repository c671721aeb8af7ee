/* Arrays that the memory a context may take has no room for: they lie in files without a name, mapped, and of these the
 * part that is in use is in memory. To the code that uses them they are arrays like others. */
#ifndef HOT_COMMON_SPILL_H
#define HOT_COMMON_SPILL_H

#include <hotfiber/context.h>

/* From now on the context's arrays take at most `bytes` of memory, about; what there is no room for lies in files
 * without a name in `folder`. Nothing happens where the user's own functions allocate. */
HOT_API void hot_context_bound(hot_context *context, size_t bytes, const char *folder);
HOT_API int hot_context_bounded(const hot_context *context);

/* A file without a name in a folder, open for reading and writing: gone with the process, however that ends. Negative
 * after a failure, with errno set. */
HOT_API int hot_unnamed_file(const char *folder);

/* ---- For the context --------------------------------------------------------------------------------------- */

typedef struct hot_spill hot_spill;

/* Arrays may take `bytes` in all; folder: where the files are made (copied). NULL without memory. */
hot_spill *hot_spill_create(size_t bytes, const char *folder);
/* Another bound and folder for what is taken from now on. Returns 0 without memory. */
int hot_spill_bound(hot_spill *spill, size_t bytes, const char *folder);
/* What is left stays as it is: like memory that was not freed. */
void hot_spill_destroy(hot_spill *spill);

/* *memory: an array in a file, zeroed, where there is no room for it otherwise; NULL where there is. Returns 0, or the
 * errno of why no file could be made. */
int hot_spill_take(hot_spill *spill, size_t bytes, void **memory);
/* An array that was allocated elsewhere counts, too. Returns 0 without memory. */
int hot_spill_count(hot_spill *spill, void *memory, size_t bytes);
/* Unmaps an array of hot_spill_take and returns 1; 0: it is none of these, and no longer counts. */
int hot_spill_give(hot_spill *spill, void *memory);

/* Sees to it that no more of the files is in memory than may be. For any thread, at any time; cheap. */
void hot_spill_trim(hot_spill *spill);

const char *hot_spill_folder(const hot_spill *spill);

#endif
