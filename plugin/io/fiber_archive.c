#include "io/common/fiber_archive.h"

#include "io/common/paths.h"

int hot_fiber_archive_named(const char *path)
{
    return hot_path_has_suffix(path, ".fz") || hot_path_has_suffix(path, ".fib.gz") ||
           hot_path_has_suffix(path, ".odx");
}

hot_status hot_fiber_archive_load(hot_context *context, const char *path, hot_fiber_field **fibers)
{
    return hot_path_has_suffix(path, ".odx") ? hot_odx_load(context, path, fibers) : hot_fz_load(context, path, fibers);
}
