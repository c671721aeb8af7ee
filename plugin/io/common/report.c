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

hot_status hot_report_save(hot_context *context, const cJSON *root, const char *path)
{
    char *text = root ? cJSON_Print(root) : NULL;
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
