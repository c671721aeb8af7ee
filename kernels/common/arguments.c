#include "arguments.h"

#include <stdio.h>
#include <string.h>

hot_status hot_arguments_check(const char *names, const void *const *pointers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const size_t length = strcspn(names, ",");
        if (!pointers[i]) {
            char name[32];
            snprintf(name, sizeof name, "%.*s", (int)length, names);
            hot_context *context = (hot_context *)(uintptr_t)pointers[0]; /* the caller's: it gets the message */
            return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, name, "it is NULL");
        }
        names += length + strspn(names + length, ", ");
    }
    return HOT_OK;
}
