#include "options.h"

#include <string.h>

hot_status hot_options_read(hot_context *context, const char *name, const void *given, void *options)
{
    size_t size, known;
    memcpy(&known, options, sizeof known);
    if (!given)
        return HOT_OK;
    memcpy(&size, given, sizeof size);
    if (size != known)
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "size", "%s.size is %zu; set it to sizeof(%s), "
                                          "%zu", name, size, name, known);
    memcpy((char *)options + sizeof size, (const char *)given + sizeof size, size - sizeof size);
    return HOT_OK;
}

hot_status hot_option_number(hot_context *context, const char *name, double usual, double most, double *value)
{
    if (*value == 0)
        *value = usual;
    else if (*value == HOT_ZERO)
        *value = 0;
    else if (!(*value > 0))
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, name, "it is positive, 0 for the default or "
                                          "HOT_ZERO for none, not %g", *value);
    else if (!(*value <= most))
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, name, "it is at most %g, not %g", most, *value);
    return HOT_OK;
}

hot_status hot_option_choice(hot_context *context, const char *name, int value, int count)
{
    if (value >= 0 && value < count)
        return HOT_OK;
    return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, name, "it is one of %d values from 0 on, not %d",
                                      count, value);
}
