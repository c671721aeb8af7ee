/* JSON files out, and those that we wrote before back in. */
#ifndef HOT_PLUGIN_REPORT_H
#define HOT_PLUGIN_REPORT_H

#include <cjson/cJSON.h>

#include <hotfiber/context.h>

/* How many bytes of a NUL-terminated text are one character of UTF-8; 0 when they are none. */
size_t hot_utf8_character(const unsigned char *at);

/* The text of JSON, to be freed with cJSON_free; NULL for a NULL root and without memory. JSON is UTF-8, names of files
 * need not be: a byte that is none becomes U+FFFD, the replacement character. */
char *hot_report_text(const cJSON *root);
/* The same in one line. */
char *hot_report_line(const cJSON *root);

/* Writes `root` (kept by the caller) as text through hot_output: whole or not at all, "-" = standard output. A NULL
 * root, or one that lost a member for want of memory, is HOT_ERROR_MEMORY. Numbers that are not finite become null. */
hot_status hot_report_save(hot_context *context, const cJSON *root, const char *path);

/* Reads a JSON file of at most 16 MiB; *root is freed by the caller with cJSON_Delete. Errors: HOT_ERROR_FILE,
 * HOT_ERROR_FORMAT, HOT_ERROR_MEMORY. */
hot_status hot_report_load(hot_context *context, const char *path, cJSON **root);

#endif
