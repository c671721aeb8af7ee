#include "directions_check.h"

#include <string.h>
#include <unistd.h>

#include "paths.h"

hot_status hot_directions_check_tables(hot_context *context, const char *path, const char *what)
{
    if (!hot_path_has_suffix(path, ".nii") && !hot_path_has_suffix(path, ".nii.gz"))
        return HOT_OK;
    hot_status status = HOT_OK;
    char *table = hot_path_beside(context, path, ".bval");
    if (!table)
        return HOT_ERROR_MEMORY;
    if (access(table, F_OK) == 0)
        status = hot_context_fail(context, HOT_ERROR_FORMAT,
                                  "'%s' holds diffusion-weighted data, not %s, as '%s' says; `hotfiber run` "
                                  "goes from one to the other", path, what, table);
    hot_context_free(context, table);
    return status;
}

hot_status hot_directions_check_scheme(const hot_image *image, const char *what)
{
    size_t lines = 0;
    for (const char *at = image->scheme; at && (at = strchr(at, '\n')); at++)
        lines++;
    if (lines == 0 || lines != image->values)
        return HOT_OK;
    return hot_context_fail(image->context, HOT_ERROR_FORMAT,
                            "'%s' holds diffusion-weighted data, not %s, as its dw_scheme says; `hotfiber run` goes "
                            "from one to the other", image->name, what);
}
