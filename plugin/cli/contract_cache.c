/* See contract_cache.h. */
#include "contract_cache.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/free.h"
#include "io/common/file_open.h"
#include "io/common/output.h"

enum { LARGEST = 1 << 22 }; /* bytes of a file of choices that is read */

char *cli_contract_cache_path(hot_context *context, const char *given)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const char *folder = given ? "" : cache && cache[0] == '/' ? cache : home && home[0] == '/' ? home : NULL;
    if (!folder)
        return NULL;
    const char *rest = given ? given : folder == home ? "/.cache/hotfiber/contract.txt" : "/hotfiber/contract.txt";
    const size_t length = strlen(folder) + strlen(rest) + 1;
    char *path = hot_context_alloc(context, length, 1);
    if (path)
        snprintf(path, length, "%s%s", folder, rest);
    return path;
}

hot_status cli_contract_cache_load(hot_context *context, const char *path, hot_contract_tuning **tuning)
{
    char *text = NULL;
    size_t length = 0;
    hot_status status = path && access(path, F_OK) == 0
        ? hot_file_load(context, path, HOT_FILE_FOUND, "choices of contractions", LARGEST, &text, &length) : HOT_OK;
    if (status == HOT_ERROR_MEMORY || status == HOT_ERROR_CANCELLED)
        return status;
    if (status != HOT_OK) /* a cache: what cannot be read is measured again */
        hot_context_log(context, HOT_LOG_WARNING, "%s", hot_context_message(context));
    status = hot_contract_tuning_create(context, length ? text : NULL, tuning);
    if (status == HOT_ERROR_FORMAT) {
        hot_context_log(context, HOT_LOG_WARNING, "'%s' is not used: %s", path, hot_context_message(context));
        status = hot_contract_tuning_create(context, NULL, tuning);
    }
    hot_context_free(context, text);
    return status;
}

/* The folders above a file, as `mkdir -p` makes them. */
static void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0777); /* one that cannot be made shows when the file is opened */
        *slash = '/';
    }
}

hot_status cli_contract_cache_save(hot_context *context, const char *path, const hot_contract_tuning *tuning)
{
    hot_output output = {0};
    FILE *file = NULL;
    char *text = hot_contract_tuning_text(context, tuning), *copy = NULL;
    hot_status status = HOT_ERROR_MEMORY;
    if (!text)
        return status;
    copy = hot_context_alloc(context, strlen(path) + 1, 1);
    if (copy) {
        strcpy(copy, path);
        make_folders(copy);
        status = hot_output_begin(context, path, &output);
    }
    if (status == HOT_OK)
        status = hot_output_file(context, &output, &file);
    if (status == HOT_OK && fputs(text, file) < 0)
        status = hot_context_fail(context, HOT_ERROR_FILE, "'%s' cannot be written: %s", path, strerror(errno));
    status = copy ? hot_output_end(context, &output, status) : status;
    HOT_FREE(context, copy, text);
    return status;
}
