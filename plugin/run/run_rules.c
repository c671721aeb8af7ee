/* Which options of a run go together: the rules that command, library and module share. Those of the methods are in
 * fibers/method_rules.c. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "common/options.h"
#include "outputs.h"

hot_status hot_run_check_model(hot_context *context, const hot_run_options *options, hot_option_given *given,
                               const void *user)
{
    const char *model = options->fit->model ? options->fit->model : "fod";
    const double axial = options->axial_diffusivity, radial = options->radial_diffusivity;
    const int has_response = options->response || options->fit->response, has_diffusivities = axial > 0 || radial > 0;
    const struct { const char *name, *models; int is_set; } parameters[] = {
        {"response", "fod msmt ", has_response},
        {"diffusivities", "fod ", has_diffusivities},
        {"regularise", "adc odf fod ", options->fit->regularise != 0},
        {"known_b0", "adc ", options->fit->estimate_s0 != 0},
        {"weights", "adc ", 0},
        {"positive", "adc ", options->fit->positive != 0},
        {"constraint", "msmt ", options->fit->constraint != HOT_CONSTRAINT_NONNEGATIVE},
        {"kernel", "msmt ", options->fit->kernel != HOT_KERNEL_RANK1},
        {"normalise", "msmt ", options->fit->normalise != 0},
        {"directions", "msmt ", options->fit->directions != NULL},
        {"tissues", "msmt ", options->fit->tissue_count > 0},
        {"residual", "msmt ", 0},
    };
    for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++)
        if ((parameters[i].is_set || (given && given(user, parameters[i].name))) &&
            !hot_peaks_names_hold(parameters[i].models, model))
            return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, parameters[i].name,
                                              "the model %s%s does not use it; choose the model %.*s, or leave it out",
                                              model, strcmp(model, "fod") == 0 ? " (the default)" : "",
                                              (int)strcspn(parameters[i].models, " "), parameters[i].models);
    if (!(axial >= radial && radial >= 0 && axial <= FLT_MAX))
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "diffusivities",
                                          "the axial one comes first and is the larger of the two, not %g,%g", axial,
                                          radial);
    if (has_response && has_diffusivities)
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "response",
                                          "diffusivities are given as well, and both say what the response is; give "
                                          "one of them");
    return HOT_OK;
}

/* Filters of fibres by how sure they are. */
static hot_status check_filters(hot_context *context, const hot_run_options *options, const hot_peaks_method *method)
{
    const struct { const char *name; double value, high; } filters[] = {
        {"min_probability", options->min_probability, 1}, {"max_cone", options->max_cone, 90}};
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        const double value = filters[i].value;
        if (value != HOT_ZERO && !(value >= 0 && value <= filters[i].high))
            return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, filters[i].name,
                                              "must be 0 to %g, not %g", filters[i].high, value);
        if (value > 0 && !method->find_in_signals)
            return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, filters[i].name,
                                              "goes with the method signal, not %s", method->name);
    }
    return HOT_OK;
}

hot_status hot_run_check_options(hot_context *context, const hot_run_options *options, hot_option_given *given,
                                 const void *user, const hot_peaks_method **method)
{
    const char *model = options->fit->model ? options->fit->model : "fod";
    hot_peaks_options peaks = *options->peaks;
    if (!peaks.method)
        peaks.method = hot_peaks_method_default(model)->name;
    const hot_peaks_choice choice = {.peaks = &peaks, .signal = options->signal, .model = model,
                                     .order = options->fit->order, .given = given, .user = user};
    hot_status status = hot_peaks_check(context, &choice, method);
    if (status == HOT_OK)
        status = check_filters(context, options, *method);
    if (status == HOT_OK)
        status = hot_run_check_model(context, options, given, user);
    hot_run_outputs set;
    return status == HOT_OK ? hot_run_outputs_choose(context, options, *method, &set) : status;
}

hot_status hot_run_take_options(hot_run_state *run, const hot_run_options *options)
{
    hot_run_inputs *in = &run->inputs;
    hot_context *context = run->context;
    hot_run_options *mine = &in->options;
    run->began = run->stage_began = hot_run_now();
    run->learned.sigma = run->learned.snr = NAN;
    mine->size = sizeof *mine;
    HOT_TRY(hot_options_read(context, "hot_run_options", options, mine));
    in->fit.size = sizeof in->fit, in->peaks.size = sizeof in->peaks, in->signal.size = sizeof in->signal;
    hot_status status = hot_options_read(context, "hot_fit_options", mine->fit, &in->fit);
    if (status == HOT_OK)
        status = hot_options_read(context, "hot_peaks_options", mine->peaks, &in->peaks);
    if (status == HOT_OK)
        status = hot_options_read(context, "hot_signal_find_options", mine->signal, &in->signal);
    if (status != HOT_OK)
        return status;
    const struct { const char *name; int value; } flags[] = {{"force", mine->force}, {"denoise", mine->denoise},
                                                             {"report", mine->report}, {"resume", mine->resume},
                                                             {"force_table", mine->force_table}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if ((status = hot_option_choice(context, flags[i].name, flags[i].value, 2)) != HOT_OK)
            return status;
    mine->fit = &in->fit, mine->peaks = &in->peaks, mine->signal = &in->signal;
    status = hot_run_check_options(context, mine, NULL, NULL, &in->method);
    if (status != HOT_OK)
        return status;
    in->by_default = !in->fit.model && !in->peaks.method && !mine->response && !in->fit.response &&
                      !(mine->axial_diffusivity > 0) && !(in->signal.sigma > 0) && !in->signal.sigma_map &&
                      in->signal.noise_model == HOT_NOISE_AUTO && in->signal.samples == 0;
    if (!in->fit.model)
        in->fit.model = "fod";
    in->peaks.method = in->method->name;
    if (in->peaks.max_fibers == 0)
        in->peaks.max_fibers = 3;
    if (in->peaks.starts == 0)
        in->peaks.starts = in->method->starts;
    in->peaks.mask = NULL;
    in->signal.max_fibers = in->peaks.max_fibers;
    in->signal.keep_cones |= mine->max_cone > 0;
    in->signal.clean_response = in->signal.clean_response || mine->axial_diffusivity > 0;
    return HOT_OK;
}
