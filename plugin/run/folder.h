/* The output directory of a run: written under a temporary name, renamed when complete, replaced atomically. */
#pragma once

#include <hotfiber/context.h>

typedef struct hot_folder {
    char *path;      /* the final name, links resolved as far as it exists, without a trailing slash */
    char *temporary; /* the hidden folder next to it that the files are written to */
    int lock;        /* a handle on it, locked while we live: others see that it is not abandoned; 0 = none */
    int parents;     /* how many folders above it were made for it */
    int replaces;    /* `path` exists: an empty directory, or an earlier run */
    int force;       /* what has come there by the end is replaced, too, if it is a run's */
} hot_folder;

/* Checks that `path` may be made, or replaced (force), and makes the temporary directory and the folders above it.
 * Refused (HOT_ERROR_FILE): a parent that cannot be made or written; a path that is a file; a directory that is not
 * empty without `force`; with `force` a directory that does not look like one of ours, that is: its report.json names
 * every file in it; the current directory or one above it. */
hot_status hot_folder_begin(hot_context *context, const char *path, int force, hot_folder *folder);

/* Refuses an input (NULL and "-" are fine) that lies inside the directory that would be replaced, or is it. */
hot_status hot_folder_check_input(hot_context *context, const hot_folder *folder, const char *input);

/* temporary/name in the context's memory, NULL when memory is short. */
char *hot_folder_file(hot_context *context, const hot_folder *folder, const char *name);

/* Calls visit(user, "name" or "fixels/name") for every file in the temporary directory, in the order of their names. */
hot_status hot_folder_walk(hot_context *context, const hot_folder *folder,
                           hot_status (*visit)(void *user, const char *name), void *user);

/* Moves the directory into place (an exchange in one step where the system can), removes what it replaced. Frees. */
hot_status hot_folder_commit(hot_context *context, hot_folder *folder);

/* Removes the temporary directory and what we wrote into it. Frees; safe after commit and on a zeroed struct. */
void hot_folder_discard(hot_context *context, hot_folder *folder);
