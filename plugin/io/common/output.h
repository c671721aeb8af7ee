/* Crash-safe output files: written under a temporary name in the same folder, then synced and renamed. */
#pragma once

#include <stdio.h>

#include <hotfiber/context.h>

typedef struct hot_output {
    char *path;      /* the final name; "-" is standard output */
    char *target;    /* where links lead from there: the file that is replaced; links themselves stay */
    char *temporary; /* where it is written meanwhile: beside target, same suffix; NULL for standard output, devices */
    int handle;      /* of the temporary file, locked while it is open; 0 = none */
    int synced;      /* the content is on the disk */
    int placed;      /* 1: it has its name; 2: and what had it before is under the temporary one */
    FILE *file;      /* NULL until hot_output_file */
    struct hot_output_stream *stream; /* what is behind that */
    int parents;     /* how many folders above it were made for it: they go with it when it is discarded */
} hot_output;

/* HOT_ERROR_ARGUMENT when `output` is the file `input`, also by another name or through links: an input is never
 * overwritten. "-", NULL and files that are not there are no conflict. Call it before the input is read. */
hot_status hot_output_check_distinct(hot_context *context, const char *input, const char *output);

/* HOT_ERROR_FILE, "cannot WRITE 'PATH'" and the text of errno, or HOT_ERROR_MEMORY if that is errno's reason. */
hot_status hot_output_cannot(hot_context *context, const char *write, const char *path);

/* HOT_ERROR_FILE if `path` is a link to a file that must not change: an object of git-annex, or a read-only file.
 * target: its hot_links_follow. */
hot_status hot_output_check_link(hot_context *context, const char *path, const char *target);

/* Prepares an output and makes missing parent folders. Links are followed. Errors: HOT_ERROR_FILE if it cannot be
 * written there; those of hot_output_check_link. */
hot_status hot_output_begin(hot_context *context, const char *path, hot_output *output);
/* The stream to write to (opened on the first call). A library that writes by name uses output->temporary instead. */
hot_status hot_output_file(hot_context *context, hot_output *output, FILE **file);
/* Closes the temporary file and waits until it is on the disk, without renaming it. If several files belong together,
 * finish all of them before you commit the first. Errors: HOT_ERROR_FILE (a full disk). */
hot_status hot_output_finish(hot_context *context, hot_output *output);
/* Makes it appear: flushes, closes, renames. A full disk shows up here as HOT_ERROR_FILE, and
 * nothing is left. Frees. */
hot_status hot_output_commit(hot_context *context, hot_output *output);
/* The name of an output in messages: its path, or "standard output". */
const char *hot_output_name(const char *path);
/* Removes the temporary file and frees the output; safe after commit and on a zeroed struct. */
void hot_output_discard(hot_context *context, hot_output *output);
/* The same for outputs that belong together (zeroed ones count for nothing): all of them appear, or what stood there
 * before stays. */
hot_status hot_output_end_all(hot_context *context, hot_output *const outputs[], size_t count, hot_status status);
/* Write to the stream of an output. Committing the output reports any failure. */
typedef hot_status hot_output_put(hot_context *context, FILE *file, const void *what);
/* A whole output: begins it, has `put` write `what`, and commits it; discards it after a failure. */
HOT_API hot_status hot_output_write(hot_context *context, const char *path, hot_output_put *put, const void *what);
/* commit when status is HOT_OK, else discard; returns the first failure. */
hot_status hot_output_end(hot_context *context, hot_output *output, hot_status status);
