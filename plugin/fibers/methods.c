/* The methods that find fibre directions. To add one: its file, `extern` in method.h, one line here. */
#include <string.h>

#include "method.h"

static const hot_peaks_method *const methods[] = {
    &hot_peaks_signal,
    &hot_peaks_sshopm,
    &hot_peaks_maxima,
    &hot_peaks_lowrank,
};
enum { METHODS = sizeof methods / sizeof methods[0] };

const hot_peaks_method *const *hot_peaks_methods(size_t *count)
{
    *count = METHODS;
    return methods;
}

const hot_peaks_method *hot_peaks_method_find(const char *name)
{
    for (size_t i = 0; i < METHODS; i++)
        if (strcmp(methods[i]->name, name) == 0)
            return methods[i];
    return NULL;
}

int hot_peaks_names_hold(const char *names, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = names; at && *at; at += strcspn(at, " ") + 1)
        if (strncmp(at, name, length) == 0 && at[length] == ' ')
            return 1;
    return 0;
}

const hot_peaks_method *hot_peaks_method_default(const char *model)
{
    for (size_t i = 0; i < METHODS; i++)
        if (hot_peaks_names_hold(methods[i]->default_of, model))
            return methods[i];
    return &hot_peaks_maxima; /* of a name that is no model: refused elsewhere */
}

const char *hot_peaks_method_name(size_t index, const char **help)
{
    if (index >= METHODS)
        return NULL;
    if (help)
        *help = methods[index]->help;
    return methods[index]->name;
}
