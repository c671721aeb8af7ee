/* Files under a hidden name of their own, and the way from there to the name asked for. */
#ifndef HOT_PLUGIN_TEMPORARY_H
#define HOT_PLUGIN_TEMPORARY_H

#include <hotfiber/context.h>

/* Where links lead from `path`, also to what is not there yet; `path` itself when it is no link. In the context's
 * memory. Errors: NULL, with errno ELOOP after 40 links, EACCES where the system does not let us follow one, ENOMEM. */
char *hot_links_follow(hot_context *context, const char *path);

/* Makes ".part-<process>-<number>-<name>" beside `path`, empty, by a number that nobody can guess; a file or link that
 * stands there already is never opened. *name is in the context's memory. Returns a handle, open for writing and locked
 * as long as it is open, so that others see that the file is not abandoned; -1 with errno. */
int hot_temporary_make(hot_context *context, const char *path, char **name);

/* Removes files of this kind beside `path`, made for the same name, whose process is gone: those that nobody locks. */
void hot_temporary_sweep(const char *path);

/* Whether `path` lies in a folder that is temporary itself, or in one of its folders. What is written there reaches the
 * disk with the whole folder, before that gets its name. */
int hot_temporary_holds(const char *path);

/* Lets the system begin to bring a file to the disk, and does not wait. */
void hot_sync_begin(int handle);

/* Waits until a file, or the folder that `path` lies in, is on the disk. Errors: -1 with errno; file systems that
 * cannot do that are no error. */
int hot_sync_file(int handle);
int hot_sync_folder_of(const char *path);

#endif
