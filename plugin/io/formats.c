#include "io/common/formats.h"

#include <string.h>

/* Of formats that share a suffix, the one that a file name alone means comes first. */
static const hot_export_format *const formats[] = {
    &hot_format_peaks, &hot_format_nfibers, &hot_format_fiber,  &hot_format_png,
    &hot_format_dec,   &hot_format_vtp,     &hot_format_fixels, &hot_format_sh,
    &hot_format_tck,   &hot_format_dyads,   &hot_format_vti,    &hot_format_bonndit,
    &hot_format_ply,   &hot_format_glyphs,
#ifdef HOT_HAVE_HDF5
    &hot_format_pam5,
#endif
};
enum { FORMATS = sizeof formats / sizeof formats[0] };

const hot_export_format *const *hot_export_formats(size_t *count)
{
    *count = FORMATS;
    return formats;
}

/* Whether `name` ends in one of the suffixes, "a|b|c". A folder (suffix "") is a name without a dot. */
static int has_suffix(const char *name, const char *suffixes)
{
    size_t length = strlen(name);
    if (!*suffixes)
        return strchr(name, '.') == NULL;
    while (*suffixes) {
        size_t part = strcspn(suffixes, "|");
        if (length > part && strncmp(name + length - part, suffixes, part) == 0)
            return 1;
        suffixes += part + (suffixes[part] == '|');
    }
    return 0;
}

const hot_export_format *hot_export_format_find(const char *name, const char *path)
{
    if (name) {
        for (int i = 0; i < FORMATS; i++)
            if (strcmp(formats[i]->name, name) == 0)
                return formats[i];
        return NULL;
    }
    const char *slash = strrchr(path, '/');
    const char *base = slash && slash[1] ? slash + 1 : path;
    for (int i = 0; i < FORMATS; i++)
        if (strncmp(base, formats[i]->name, strlen(formats[i]->name)) == 0 && has_suffix(base, formats[i]->suffix))
            return formats[i];
    for (int i = 0; i < FORMATS; i++)
        if (has_suffix(base, formats[i]->suffix))
            return formats[i];
    return NULL;
}
