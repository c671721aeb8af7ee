#include "options.h"

#include <string.h>

hot_status hot_options_read(hot_context *context, const char *name, const void *given, void *options)
{
    size_t size, known;
    memcpy(&known, options, sizeof known);
    if (!given)
        return HOT_OK;
    memcpy(&size, given, sizeof size);
    if (size < sizeof size || size > known) {
        if (!context)
            return HOT_ERROR_ARGUMENT;
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "%s.size is %zu; set it to sizeof(%s), %zu", name, size,
                                name, known);
    }
    memcpy((char *)options + sizeof size, (const char *)given + sizeof size, size - sizeof size);
    return HOT_OK;
}
