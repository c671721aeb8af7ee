#include "gradient_find.h"

#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "core/fields.h"
#include "io/common/paths.h"

enum { LEVELS = 8, ENTITIES = 32 };

static const struct { const char *suffixes[4], *bare[3]; } names[] = {
    [HOT_TABLE_BVAL] = {{".bval", ".bvals"}, {"bvals", "bval"}},
    [HOT_TABLE_BVEC] = {{".eddy_rotated_bvecs", ".bvec", ".bvecs"}, {"bvecs", "bvec"}},
    [HOT_TABLE_GRAD] = {{".b"}, {NULL}},
};

/* `folder` (of that length, with its slash) and a name in it, when there is such a file. */
static hot_status try_name(hot_context *context, const char *folder, size_t length, const char *name, char **found)
{
    char *path = hot_context_alloc(context, length + strlen(name) + 1, 1);
    if (!path)
        return HOT_ERROR_MEMORY;
    memcpy(path, folder, length);
    strcpy(path + length, name);
    if (access(path, F_OK) == 0)
        *found = path;
    else
        hot_context_free(context, path);
    return HOT_OK;
}

/* The parts of a BIDS name between underscores, without folder and suffixes; the last is "dwi". */
typedef struct entities {
    size_t count, length[ENTITIES];
    const char *part[ENTITIES];
} entities;

static entities split(const char *base)
{
    entities found = {0};
    const size_t end = strcspn(base, ".");
    for (size_t at = 0; at < end && found.count < ENTITIES;) {
        size_t length = strcspn(base + at, "_");
        length = at + length > end ? end - at : length;
        found.part[found.count] = base + at;
        found.length[found.count++] = length;
        at += length + 1;
    }
    return found;
}

/* How many parts a table's name shares with the image's, all of them in it; 0 = it is another image's. */
static size_t matches(const entities *image, const char *table)
{
    const entities own = split(table);
    size_t shared = 0;
    for (size_t p = 0; p < own.count; p++)
        for (size_t q = 0; q < image->count; q++)
            if (own.length[p] == image->length[q] && memcmp(own.part[p], image->part[q], own.length[p]) == 0) {
                shared++;
                break;
            }
    const size_t last = own.count ? own.count - 1 : 0;
    return shared == own.count && own.count && own.length[last] == 3 && memcmp(own.part[last], "dwi", 3) == 0 ? shared
                                                                                                            : 0;
}

/* The table with the most entities in a folder. */
static hot_status search_folder(hot_context *context, const char *folder, const entities *image, const char *suffix,
                                char **found)
{
    char best[256] = "";
    size_t most = 0;
    DIR *open = opendir(folder[0] ? folder : ".");
    for (struct dirent *entry; open && (entry = readdir(open));) {
        const size_t length = strlen(entry->d_name);
        if (length >= sizeof best || !hot_path_has_suffix(entry->d_name, suffix))
            continue;
        const size_t shared = matches(image, entry->d_name);
        if (shared > most || (shared == most && shared && strcmp(entry->d_name, best) < 0)) {
            most = shared;
            memcpy(best, entry->d_name, length + 1);
        }
    }
    if (open)
        closedir(open);
    return most ? try_name(context, folder, strlen(folder), best, found) : HOT_OK;
}

/* BIDS: the image's folder and those above it, up to the one of the data set. */
static hot_status inherit(hot_context *context, const char *image, size_t folder, const char *suffix, char **found)
{
    const entities parts = split(image + folder);
    hot_status status = HOT_OK;
    if (parts.count < 2 || strncmp(image + folder, "sub-", 4) != 0)
        return HOT_OK;
    char *path = hot_context_calloc(context, folder + 3 * LEVELS + 32, 1);
    if (!path)
        return HOT_ERROR_MEMORY;
    memcpy(path, image, folder);
    for (int level = 0; level < LEVELS && status == HOT_OK && !*found; level++) {
        status = search_folder(context, path, &parts, suffix, found);
        const size_t length = strlen(path);
        strcpy(path + length, "dataset_description.json");
        const int top = access(path, F_OK) == 0;
        strcpy(path + length, "../");
        if (top)
            break;
    }
    hot_context_free(context, path);
    return status;
}

hot_status hot_gradients_find(hot_context *context, const char *image, hot_table table, char **name)
{
    const char *slash = strrchr(image, '/');
    const size_t folder = slash ? (size_t)(slash - image) + 1 : 0;
    hot_status status = HOT_OK;
    *name = NULL;
    if (!strchr(image + folder, '.')) /* a pipe */
        return HOT_OK;
    for (int s = 0; names[table].suffixes[s] && status == HOT_OK && !*name; s++)
        for (int upper = 0; upper < 2 && status == HOT_OK && !*name; upper++) {
            char *beside = hot_path_beside(context, image, names[table].suffixes[s]);
            for (char *c = beside ? beside + strlen(beside) : NULL; upper && c && *c != '.'; c--)
                *c = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
            status = beside ? try_name(context, "", 0, beside, name) : HOT_ERROR_MEMORY;
            hot_context_free(context, beside);
        }
    if (status == HOT_OK && !*name && table != HOT_TABLE_GRAD)
        status = inherit(context, image, folder, names[table].suffixes[table == HOT_TABLE_BVEC], name);
    for (int b = 0; names[table].bare[b] && status == HOT_OK && !*name; b++)
        status = try_name(context, image, folder, names[table].bare[b], name);
    return status;
}
