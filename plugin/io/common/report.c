#include "report.h"

#include <stdio.h>
#include <string.h>

#include "common/flow.h"
#include "common/foreign_text.h"
#include "file_open.h"
#include "output.h"

static hot_status put_text(hot_context *context, FILE *file, const void *text)
{
    (void)context;
    fprintf(file, "%s\n", (const char *)text);
    return HOT_OK;
}

/* Escapes the character at `at` of printed JSON: unchanged, U+FFFD for a byte that is not UTF-8, or \u.... for
 * characters that must not reach a terminal (cJSON escapes those below 0x20). Returns the length of the escape; *bytes:
 * that of the character. */
static size_t spell(const char *at, size_t *bytes, char spelled[16])
{
    const size_t length = hot_utf8_character((const unsigned char *)at);
    const unsigned code = length ? hot_utf8_control((const unsigned char *)at, length) : 0;
    *bytes = length ? length : 1;
    if (length == 0)
        return (size_t)snprintf(spelled, 16, "\xef\xbf\xbd");
    if (code > 0xffff) /* a surrogate pair */
        return (size_t)snprintf(spelled, 16, "\\u%04x\\u%04x", 0xd800 + ((code - 0x10000) >> 10),
                                0xdc00 + (code & 0x3ff));
    if (code >= 0x7f)
        return (size_t)snprintf(spelled, 16, "\\u%04x", code);
    memcpy(spelled, at, length);
    return length;
}

/* The text (NULL: none), or a copy that is UTF-8 and fit for a terminal. */
static char *make_valid(char *text)
{
    char spelled[16];
    size_t before = 0, after = 0, bytes;
    for (const char *at = text; at && *at; at += bytes) {
        after += spell(at, &bytes, spelled);
        before += bytes;
    }
    if (after == before) /* every replacement is longer */
        return text;
    char *valid = cJSON_malloc(after + 1), *to = valid;
    for (const char *at = text; valid && *at; at += bytes) {
        const size_t length = spell(at, &bytes, spelled);
        memcpy(to, spelled, length);
        to += length;
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

cJSON *hot_report_parse(const char *text, size_t length)
{
    enum { VALUES_MAX = 500000 }; /* each takes 64 bytes and more of memory, and as few as two of text */
    size_t values = 0;
    int within = 0; /* a string */
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"')
            within = !within;
        else if (within && text[i] == '\\')
            i++;
        else if (!within)
            values += text[i] == ',' || text[i] == '[' || text[i] == '{';
    }
    return values <= VALUES_MAX ? cJSON_ParseWithLength(text, length) : NULL;
}

hot_status hot_report_load(hot_context *context, const char *path, cJSON **root)
{
    enum { LARGEST = 16 << 20 };
    char *text = NULL;
    size_t length;
    *root = NULL;
    HOT_TRY(hot_file_load(context, path, HOT_FILE_FOUND, "a JSON file", LARGEST, &text, &length));
    *root = hot_report_parse(text, length);
    hot_context_free(context, text);
    return *root ? HOT_OK : hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' is not JSON of reasonable size", path);
}
