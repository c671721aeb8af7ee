#include "paths.h"

#include <stdio.h>
#include <string.h>

/* In ASCII: tolower would ask the host's locale. */
static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

/* Case is ignored: scanners and other systems write NAME.NII.GZ. */
static int ends_in(const char *path, const char *suffix)
{
    const size_t length = strlen(path), end = strlen(suffix);
    size_t same = 0;
    while (length >= end && same < end && lower(path[length - end + same]) == lower(suffix[same]))
        same++;
    return length >= end && same == end;
}

char *hot_path_join(hot_context *context, const char *folder, const char *name)
{
    const size_t size = strlen(folder) + strlen(name) + 2;
    char *path = hot_context_alloc(context, size, 1);
    if (path)
        snprintf(path, size, "%s/%s", folder, name);
    return path;
}

int hot_path_has_suffix(const char *path, const char *suffix)
{
    return ends_in(path, suffix) && strlen(path) > strlen(suffix);
}

const char *hot_path_suffix(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    return dot && dot != name ? dot : "";
}

int hot_path_has_one_of(const char *path, const char *suffixes)
{
    char suffix[16];
    while (*suffixes) {
        const size_t part = strcspn(suffixes, ", ");
        snprintf(suffix, sizeof suffix, "%.*s", (int)part, suffixes);
        if (part && hot_path_has_suffix(path, suffix))
            return 1;
        suffixes += part + strspn(suffixes + part, ", ");
    }
    return 0;
}

hot_status hot_path_check_image(hot_context *context, const char *path)
{
    const char *suffix = hot_path_suffix(path);
    if (!suffix[0] || hot_path_has_one_of(path, HOT_IMAGE_SUFFIXES))
        return HOT_OK;
    return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                            "cannot write '%s': the format follows from the end of the name, and '%s' is none of %s",
                            path, suffix, HOT_IMAGE_SUFFIXES);
}

int hot_path_is_nifti(const char *path) { return ends_in(path, ".nii") || ends_in(path, ".nii.gz"); }

int hot_path_is_mif(const char *path)
{
    return hot_path_has_suffix(path, ".mif") || hot_path_has_suffix(path, ".mif.gz") ||
           hot_path_has_suffix(path, ".mih");
}

int hot_path_has_volumes(const char *path) { return hot_path_is_nifti(path) || hot_path_is_mif(path); }

char *hot_path_beside(hot_context *context, const char *path, const char *suffix)
{
    const size_t length = strlen(path), zip = ends_in(path, ".gz") ? 3 : 0;
    const size_t cut = zip + (ends_in(path, ".nhdr") ? 5 : 4);
    const size_t stem = length > cut ? length - cut : length;
    char *name = hot_context_alloc(context, stem + strlen(suffix) + 1, 1);
    if (name) {
        memcpy(name, path, stem);
        strcpy(name + stem, suffix);
    }
    return name;
}
