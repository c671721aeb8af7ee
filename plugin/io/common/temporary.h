/* Temporary files with hidden names, and their renaming to the final name. */
#pragma once

#include <hotfiber/context.h>

/* The target of `path` with all links resolved, even if it does not exist; `path` itself if it is not a link. In the
 * context's memory. Errors: NULL, with errno ELOOP after 40 links, EACCES if a link may not be followed, ENOMEM. */
char *hot_links_follow(hot_context *context, const char *path);

/* How many characters of `path` name the folder in which it lies, with the slash; 0 when it is the current one. */
int hot_path_folder_length(const char *path);

/* Names of temporary files and folders. Writes a new one for `path`, by a number that nobody can guess, into `name`,
 * which has HOT_TEMPORARY_EXTRA bytes more than `path` has; says whether an entry of a folder is one made for `name`.
 */
enum { HOT_TEMPORARY_EXTRA = 48 };
void hot_temporary_name(const char *path, char *name, size_t capacity);
int hot_temporary_is_of(const char *entry, const char *name);

/* Creates the empty file ".part-<process>-<number>-<name>" in the folder of `path`, with an unpredictable number; never
 * opens an existing file or link. *name is in the context's memory. Returns a handle, open for writing and locked while
 * it is open, which shows that the file is in use; -1 with errno. */
int hot_temporary_make(hot_context *context, const char *path, char **name);

/* Removes files of this kind beside `path`, made for the same name, whose process is gone: those that nobody locks. */
void hot_temporary_sweep(const char *path);

/* Calls `remove` for what hot_temporary_name made beside `path` and nobody locks; `flags` for openat say what it is. */
void hot_temporary_each_left(const char *path, int flags, void (*remove)(int folder, int handle, const char *name));

/* The same for folders: makes ".part-<process>-<number>-<name>" beside `path`. *lock is a handle on it that keeps it
 * locked while it is open, or 0 on a file system without locks, where nobody sweeps either. Returns 0, or -1 with
 * errno. */
int hot_temporary_folder_make(hot_context *context, const char *path, char **name, int *lock);

/* Removes folders of this kind beside `path`, made for the same name, that nobody locks. */
void hot_temporary_folder_sweep(const char *path);

/* Removes a folder and all in it: only for folders that the caller made. Links are removed, not followed. */
void hot_temporary_folder_remove(const char *path);

/* Waits until such a folder and all in it are on the disk. Errors: -1 with errno. */
int hot_temporary_folder_sync(const char *path);

/* Whether `path` is inside a temporary folder. Files there are synced with the whole folder, before it is renamed. */
int hot_temporary_holds(const char *path);

/* Lets the system begin to bring a file to the disk, and does not wait. */
void hot_sync_begin(int handle);

/* Syncs a file, or the folder of `path`, to the disk. Errors: -1 with errno; a file system without this operation is
 * not an error. */
int hot_sync_file(int handle);
int hot_sync_folder_of(const char *path);
