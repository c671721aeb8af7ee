#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "output.h"

static hot_status put_text(hot_context *context, FILE *file, const void *text)
{
    (void)context;
    fprintf(file, "%s\n", (const char *)text);
    return HOT_OK;
}

/* Unicode 15, table 3-7. */
size_t hot_utf8_character(const unsigned char *at)
{
    if (at[0] < 0x80)
        return 1;
    const size_t bytes = at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : at[0] < 0xf5 ? 4 : 0;
    for (size_t i = 1; i < bytes; i++) /* the zero at the end is no continuation */
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    const int shorter_does = (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xf0 && at[1] < 0x90);
    const int surrogate = at[0] == 0xed && at[1] > 0x9f, beyond = at[0] == 0xf4 && at[1] > 0x8f;
    return bytes == 0 || shorter_does || surrogate || beyond ? 0 : bytes;
}

/* The text (NULL: none), or a copy that is UTF-8. */
static char *make_valid(char *text)
{
    static const char unknown[] = "\xef\xbf\xbd"; /* U+FFFD */
    size_t bad = 0;
    for (const char *at = text; at && *at;) {
        const size_t bytes = hot_utf8_character((const unsigned char *)at);
        bad += bytes == 0;
        at += bytes ? bytes : 1;
    }
    if (bad == 0)
        return text;
    char *valid = cJSON_malloc(strlen(text) + bad * (sizeof unknown - 2) + 1), *to = valid;
    for (const char *at = text; valid && *at;) {
        const size_t bytes = hot_utf8_character((const unsigned char *)at);
        memcpy(to, bytes ? at : unknown, bytes ? bytes : sizeof unknown - 1);
        to += bytes ? bytes : sizeof unknown - 1;
        at += bytes ? bytes : 1;
    }
    if (valid)
        *to = '\0';
    cJSON_free(text);
    return valid;
}

char *hot_report_text(const cJSON *root) { return make_valid(root ? cJSON_Print(root) : NULL); }

char *hot_report_line(const cJSON *root) { return make_valid(root ? cJSON_PrintUnformatted(root) : NULL); }

hot_status hot_report_save(hot_context *context, const cJSON *root, const char *path)
{
    char *text = hot_report_text(root);
    if (!text)
        return hot_context_fail(context, HOT_ERROR_MEMORY, "out of memory for the report '%s'", path);
    hot_status status = hot_output_write(context, path, put_text, text);
    cJSON_free(text);
    return status;
}

hot_status hot_report_load(hot_context *context, const char *path, cJSON **root)
{
    enum { LARGEST = 16 << 20 };
    *root = NULL;
    char *text = NULL;
    hot_status status = HOT_OK;
    FILE *file = fopen(path, "rb");
    if (!file)
        return hot_context_fail(context, HOT_ERROR_FILE, "cannot read '%s': %s", path, strerror(errno));
    struct stat about;
    if (fstat(fileno(file), &about) != 0 || !S_ISREG(about.st_mode) || about.st_size > LARGEST) {
        status = hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' is no JSON file of reasonable size", path);
        goto cleanup;
    }
    size_t bytes = (size_t)about.st_size;
    text = hot_context_alloc(context, bytes + 1, 1);
    if (!text) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    if (fread(text, 1, bytes, file) != bytes) {
        status = hot_context_fail(context, HOT_ERROR_FILE, "cannot read '%s': %s", path,
                                  errno ? strerror(errno) : "it is shorter than it was");
        goto cleanup;
    }
    text[bytes] = '\0';
    *root = cJSON_ParseWithLength(text, bytes + 1);
    if (!*root)
        status = hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' is not JSON", path);
cleanup:
    hot_context_free(context, text);
    fclose(file);
    return status;
}
