/* hot_signal_fibers_f32: checks, defaults, plan, backend. */
#include <math.h>

#include "common/arguments.h"
#include "common/backend.h"
#include "common/entry.h"
#include "common/options.h"
#include "signal_plan.h"

/* The fits have no reference backend: tests/kernels/family_signal.c checks them against plain formulas. */
static const hot_backends backends = {
    .family = "signal",
    .cpu = hot_signal_fibers_cpu,
    .cuda = HOT_CUDA_BACKEND(hot_signal_fibers_cuda),
    .device_arrays = 1,
};

static int all_positive(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(values[i] > 0 && isfinite(values[i])))
            return 0;
    return 1;
}

/* Deviations, shares and ratios are positive. */
static hot_status check_population(hot_context *context, const hot_signal_options *options,
                                   hot_signal_priors *population)
{
    hot_signal_priors_default(population);
    hot_status status = hot_options_read(context, "hot_signal_priors", options->population, population);
    const hot_signal_priors *p = population;
    const double positive[] = {p->width[1], p->isotropic[1], p->water[1], p->ln_diffusivity[1],
                               p->ln_diffusivity_none[1], p->spread, p->noise, p->noise_freedom,
                               p->evidence_scale, p->certainty};
    const double finite[] = {p->width[0], p->isotropic[0], p->water[0], p->ln_diffusivity[0],
                             p->ln_diffusivity_none[0]};
    int fine = all_positive(positive, sizeof positive / sizeof *positive) && all_positive(p->share, 4) &&
               all_positive(p->near[0], HOT_SEPARATIONS) && all_positive(p->near[1], HOT_SEPARATIONS) && p->fan >= 0 &&
               p->fan <= 1;
    for (size_t i = 0; i < sizeof finite / sizeof *finite; i++)
        fine = fine && isfinite(finite[i]);
    for (int k = 0; k < 4; k++)
        fine = fine && isfinite(p->evidence_shift[k]) && p->cone_growth[k] >= 0 && p->cone_growth[k] <= 1 &&
               p->told[k] >= 0 && p->told[k] <= (p->fan > 0 ? 6 : 4) * k + 3;
    if (status == HOT_OK && !fine)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "a population's means and shifts are finite, its "
                                "deviations, shares, scale, certainty, ratios and noise positive, its fan 0 to 1 "
                                "rad^2, its cones' growth 0 to 1, and the data tell 0 to 4 k + 3 unknowns of k "
                                "fibres, 6 k + 3 with fans");
    return status;
}

static hot_status check_options(hot_context *context, const hot_signal_options *given, const float *sigma,
                                hot_signal_options *options)
{
    *options = (hot_signal_options){.size = sizeof *options};
    HOT_TRY(hot_options_read(context, "hot_signal_options", given, options));
    if (options->max_fibers < 0 || options->max_fibers > 3)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "the signal method finds 1 to 3 fibres, not %d",
                                options->max_fibers);
    if (options->order != 0 && options->order != 4 && options->order != 6 && options->order != 8)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "the signal method's order is 4, 6 or 8, not %d",
                                options->order);
    if ((int)options->noise_model < HOT_NOISE_AUTO || (int)options->noise_model > HOT_NOISE_GAUSSIAN)
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "noise_model", "there is no noise model %d",
                                          (int)options->noise_model);
    if (!sigma && !(options->sigma > 0 && isfinite(options->sigma)))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "the noise's standard deviation must be positive, not %g", options->sigma);
    if (!(options->response_sigma >= 0 && options->response_sigma < 1))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "the noise in the response is a fraction of its b=0 signal, not %g",
                                options->response_sigma);
    if (!(options->ceiling >= 0))
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "ceiling", "it is positive, or 0 for none, not "
                                          "%g", options->ceiling);
    if (options->progress[0] == 0 && options->progress[1] == 0)
        options->progress[1] = 1;
    if (options->max_fibers == 0)
        options->max_fibers = 3;
    if (options->order == 0)
        options->order = 8;
    return HOT_OK;
}

static hot_status check_scheme(hot_context *context, const hot_signal_scheme *s)
{
    if (s->volumes == 0 || s->volumes > 65536 || !s->b || !s->gradients)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "a scheme has 1 to 65536 volumes with b-values and gradients, not %zu", s->volumes);
    if (s->shells == 0 || s->shells > SIGNAL_MAX_SHELLS || !s->shell_b || !s->response)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "a response has 1 to %d shells, not %zu",
                                SIGNAL_MAX_SHELLS, s->shells);
    if (s->lmax < 2 || s->lmax > 16 || s->lmax % 2)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "a response's degree is even, 2 to 16, not %d", s->lmax);
    for (size_t v = 0; v < s->volumes; v++)
        if (!(s->b[v] >= 0 && isfinite(s->b[v])))
            return hot_context_fail(context, HOT_ERROR_ARGUMENT, "volume %zu has b = %g", v, s->b[v]);
    for (size_t i = 0; i < s->shells; i++) {
        const double *row = s->response + i * (size_t)(s->lmax / 2 + 1);
        for (int l = 0; l <= s->lmax / 2; l++)
            if (!isfinite(row[l]))
                return hot_context_fail(context, HOT_ERROR_ARGUMENT, "coefficient %d of the response's shell %zu is %g",
                                        l, i, row[l]);
        if (!(row[0] > 0))
            return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                    "the response's mean on shell %zu is %g and should be positive", i, row[0]);
    }
    return HOT_OK;
}

/* Signals from one of the two. */
static hot_status find(hot_context *context, const hot_signal_options *given_options,
                       const hot_signal_scheme *given_scheme, size_t count, const float *signals,
                       const hot_signal_source *source, const float *sigma, const float *s0, const uint8_t *mask,
                       const hot_signal_result *given_result)
{
    hot_signal_options options;
    hot_signal_scheme scheme = {.size = sizeof scheme};
    hot_signal_result result = {.size = sizeof result};
    hot_signal_priors population;
    signal_plan plan;
    hot_status status = check_options(context, given_options, sigma, &options);
    if (status == HOT_OK)
        status = check_population(context, &options, &population);
    options.population = &population;
    if (status == HOT_OK)
        status = hot_options_read(context, "hot_signal_scheme", given_scheme, &scheme);
    if (status == HOT_OK)
        status = check_scheme(context, &scheme);
    if (status == HOT_OK)
        status = hot_options_read(context, "hot_signal_result", given_result, &result);
    if (status != HOT_OK)
        return status;
    if (count > 0 && ((!signals && !source) || !result.directions))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "the signal method needs signals, and a result with memory for the directions");
    HOT_TRY(hot_signal_plan_make(context, &options, &scheme, s0 != NULL, &plan));
    hot_signal_args args = {&plan, &options, &scheme, count, signals, sigma, s0, mask, &result, source, 0};
    status = count > 0 ? hot_backend_run(context, &backends, &args) : HOT_OK;
    hot_signal_plan_free(context, &plan);
    return status;
}

hot_status hot_signal_fibers_f32(hot_context *context, const hot_signal_options *options,
                                 const hot_signal_scheme *scheme, size_t count, const float *signals,
                                 const float *sigma, const float *s0, const uint8_t *mask,
                                 const hot_signal_result *result)
{
    HOT_ENTRY(context);
    HOT_NEED(context, scheme, result);
    if (count > 0)
        HOT_NEED(context, signals);
    return context ? find(context, options, scheme, count, signals, NULL, sigma, s0, mask, result)
                   : HOT_ERROR_ARGUMENT;
}

hot_status hot_signal_fibers_from(hot_context *context, const hot_signal_options *options,
                                  const hot_signal_scheme *scheme, size_t count, const hot_signal_source *source,
                                  const float *sigma, const float *s0, const uint8_t *mask,
                                  const hot_signal_result *result)
{
    const hot_status status = hot_backend_need_host(context, backends.family);
    return status == HOT_OK ? find(context, options, scheme, count, NULL, source, sigma, s0, mask, result) : status;
}
