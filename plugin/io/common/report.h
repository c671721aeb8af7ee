/* JSON files out, and those that we wrote before back in. */
#pragma once

#include <cjson/cJSON.h>

#include <hotfiber/context.h>

/* Prints JSON; free the text with cJSON_free. NULL for a NULL root and without memory. JSON is UTF-8, file names need
 * not be: an invalid byte becomes U+FFFD, the replacement character. Control characters, DEL and changes of text
 * direction are escaped as \u...., because they must not reach a terminal. */
char *hot_report_text(const cJSON *root);
/* The same in one line. */
char *hot_report_line(const cJSON *root);

/* Writes `root` (kept by the caller) as text through hot_output: whole or not at all, "-" = standard output. A NULL
 * root, or one that lost a member for want of memory, is HOT_ERROR_MEMORY. Numbers that are not finite become null. */
hot_status hot_report_save(hot_context *context, const cJSON *root, const char *path);

/* Parses JSON of at most half a million values; NULL if it is invalid or larger. */
cJSON *hot_report_parse(const char *text, size_t length);

/* Reads a JSON file of at most 16 MiB; *root is freed by the caller with cJSON_Delete. Errors: HOT_ERROR_FILE,
 * HOT_ERROR_FORMAT, HOT_ERROR_MEMORY. */
HOT_API hot_status hot_report_load(hot_context *context, const char *path, cJSON **root);
