/* Which options go with which method: the rules of command, module and library. Each method's file lists its
 * options. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/options.h"
#include "method.h"
#include "signal_posterior.h"

/* "a", "a or b", "a, b or c": the methods that take an option, or all of them (option NULL). Returns how many. */
static size_t list_methods(const char *option, char *text, size_t capacity)
{
    const char *names[8];
    size_t all, count = 0, used = 0;
    const hot_peaks_method *const *methods = hot_peaks_methods(&all);
    for (size_t i = 0; i < all && count < sizeof names / sizeof *names; i++)
        if (!option || hot_peaks_names_hold(methods[i]->takes, option))
            names[count++] = methods[i]->name;
    text[0] = '\0';
    for (size_t i = 0; i < count && used < capacity; i++)
        used += (size_t)snprintf(text + used, capacity - used, "%s%s",
                                 i == 0 ? "" : i + 1 < count ? ", " : " or ", names[i]);
    return count;
}

hot_status hot_peaks_check_takes(hot_context *context, const hot_peaks_choice *choice, const hot_peaks_method *method,
                                 const char *name)
{
    char takers[128], preset[64] = "";
    if (hot_peaks_names_hold(method->takes, name) || list_methods(name, takers, sizeof takers) == 0)
        return HOT_OK;
    if (!choice->model && method == &hot_peaks_maxima)
        snprintf(preset, sizeof preset, " (the default)");
    else if (choice->model && method == hot_peaks_method_default(choice->model))
        snprintf(preset, sizeof preset, " (the default with the model %s)", choice->model);
    return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, name,
                                      "the method %s%s does not use it; choose the method %s, or leave it out",
                                      method->name, preset, takers);
}

static hot_status check_options(hot_context *context, const hot_peaks_choice *choice, const hot_peaks_method *method)
{
    static const hot_peaks_options no_peaks;
    static const hot_signal_find_options no_signal;
    const hot_peaks_options *peaks = choice->peaks ? choice->peaks : &no_peaks;
    const hot_signal_find_options *signal = choice->signal ? choice->signal : &no_signal;
    const struct { const char *name; int is_set; } options[] = {
        {"threshold", peaks->threshold != 0}, {"min_angle", peaks->min_angle != 0},
        {"min_amplitude", peaks->min_amplitude != 0}, {"starts", peaks->starts > 0},
        {"shift", peaks->shift != HOT_SHIFT_ADAPTIVE},
        {"sigma", signal->sigma != 0 || signal->sigma_map},
        {"noise_model", signal->noise_model != HOT_NOISE_AUTO}, {"samples", signal->samples != 0},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        const int is_given = options[i].is_set || (choice->given && choice->given(choice->user, options[i].name));
        HOT_TRY(is_given ? hot_peaks_check_takes(context, choice, method, options[i].name) : HOT_OK);
    }
    double threshold = peaks->threshold, angle = peaks->min_angle, amplitude = peaks->min_amplitude;
    HOT_TRY(hot_option_number(context, "threshold", 0, 1, &threshold));
    HOT_TRY(hot_option_number(context, "min_angle", 0, 90, &angle));
    HOT_TRY(hot_option_number(context, "min_amplitude", 0, FLT_MAX, &amplitude));
    HOT_TRY(hot_option_choice(context, "shift", (int)peaks->shift, HOT_SHIFT_NONE + 1));
    HOT_TRY(hot_signal_find_check(context, signal));
    if (peaks->shift == HOT_SHIFT_FIXED && !(peaks->alpha >= 0 && isfinite(peaks->alpha)))
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "shift",
                                          "it is adaptive, none or a number of at least 0, not %g", peaks->alpha);
    return HOT_OK;
}

hot_status hot_peaks_check(hot_context *context, const hot_peaks_choice *choice, const hot_peaks_method **found)
{
    const char *name = choice->peaks->method;
    const hot_peaks_method *method = hot_peaks_method_find(name);
    const int max_fibers = choice->peaks->max_fibers;
    char names[128];
    *found = method;
    if (!method) {
        list_methods(NULL, names, sizeof names);
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "method",
                                          "there is no method '%s'; it is %s", name, names);
    }
    if (method->model && choice->model && strcmp(method->model, choice->model) != 0)
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "method",
                                          "%s needs the model %s, not %s; the default with %s is %s", name,
                                          method->model, choice->model, choice->model,
                                          hot_peaks_method_default(choice->model)->name);
    if (max_fibers > method->max_fibers)
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "max_fibers",
                                          "the method %s finds at most %d fibres per voxel, not %d", name,
                                          method->max_fibers, max_fibers);
    if (max_fibers < 0)
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "max_fibers",
                                          "it is at least 1 (0: the default), not %d", max_fibers);
    if (choice->order > 0 && choice->order < method->order_min)
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "method",
                                          "%s needs tensors of order %d or higher, not %d", name, method->order_min,
                                          choice->order);
    if (method->order_max > 0 && choice->order > method->order_max)
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "method",
                                          "%s takes tensors of order %d or lower, not %d; maxima takes them", name,
                                          method->order_max, choice->order);
    return check_options(context, choice, method);
}

int hot_shift_parse(const char *text, hot_shift *shift, double *alpha)
{
    char *end;
    *alpha = 0;
    *shift = strcmp(text, "adaptive") == 0 ? HOT_SHIFT_ADAPTIVE
             : strcmp(text, "none") == 0   ? HOT_SHIFT_NONE
                                           : HOT_SHIFT_FIXED;
    if (*shift != HOT_SHIFT_FIXED)
        return 1;
    *alpha = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*alpha);
}
