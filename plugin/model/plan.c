/* The plan of a fit: order, volumes, matrices; and what every model does with a voxel. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/options.h"
#include "dwi/scheme.h"
#include "common/entry.h"
#include "model.h"

#define MODEL_ADDRESS(NAME) &hot_model_##NAME,
static const hot_model *const models[] = {MODELS(MODEL_ADDRESS) NULL};

const hot_model *const *hot_model_list(void) { return models; }

const hot_model *hot_model_find(const char *name)
{
    for (const hot_model *const *model = models; *model; model++)
        if (strcmp((*model)->name, name) == 0)
            return *model;
    return NULL;
}

void hot_model_power(int order, double *a)
{
    /* t^m = sum_l (2l+1) m! / (2^((m-l)/2) ((m-l)/2)! (m+l+1)!!) P_l(t), and P_l(x.v) = 4 pi / (2l+1) sum Y Y */
    for (int l = 0; l <= order; l += 2) {
        double value = 4 * M_PI;
        for (int i = 2; i <= order; i++)
            value *= i;
        for (int i = 1; i <= (order - l) / 2; i++)
            value /= 2. * i;
        for (int i = order + l + 1; i > 1; i -= 2)
            value /= i;
        a[l / 2] = value;
    }
}

double hot_model_legendre(int l, double x)
{
    double before = 1, now = x;
    if (l == 0)
        return 1;
    for (int k = 2; k <= l; k++) {
        const double next = ((2 * k - 1) * x * now - (k - 1) * before) / k;
        before = now, now = next;
    }
    return now;
}

void hot_plan_use_shell(hot_plan *plan, int shell)
{
    const double *shell_b;
    const int *shell_of;
    hot_dwi_shells(plan->dwi, &shell_b, &shell_of);
    const int has_b0 = hot_dwi_has_b0(plan->dwi);
    plan->used_count = 0;
    for (size_t v = 0; v < plan->volumes; v++)
        if (shell < 0 ? !(has_b0 && shell_of[v] == 0) : shell_of[v] == shell)
            plan->used[plan->used_count++] = v;
}

/* Says which volumes do not carry the order. */
static hot_status refuse(const hot_plan *plan, size_t count, int order)
{
    double low = INFINITY, high = 0;
    char what[64];
    for (size_t i = 0; i < plan->used_count; i++) {
        const double b = plan->dwi->b[plan->used[i]];
        if (!(plan->dwi->has_b0 && plan->dwi->shell_of[plan->used[i]] == 0))
            low = fmin(low, b);
        high = fmax(high, b);
    }
    if (low < .9 * high)
        snprintf(what, sizeof what, "b=%.0f to %.0f", low, high);
    else
        snprintf(what, sizeof what, "b=%.0f", high);
    return hot_scheme_refuse(plan->context, plan->dwi, count, plan->gradients, order, what);
}

/* Runs the model's choice of volumes and checks whether they determine the order. */
static hot_status try_order(hot_plan *plan, int order, int say)
{
    plan->order = order;
    plan->terms = hot_model_terms(order);
    plan->used_count = 0;
    HOT_TRY(plan->model->select(plan, say));
    const double *b = hot_dwi_b(plan->dwi), *gradients = hot_dwi_gradients(plan->dwi);
    size_t weighted = 0; /* with a gradient: adc may use b=0 volumes too */
    for (size_t i = 0; i < plan->used_count; i++)
        if (gradients[3 * plan->used[i]] != 0 || gradients[3 * plan->used[i] + 1] != 0 ||
            gradients[3 * plan->used[i] + 2] != 0) {
            memcpy(plan->gradients + 3 * weighted, gradients + 3 * plan->used[i], 3 * sizeof(double));
            weighted++;
        }
    int supports;
    HOT_TRY(hot_scheme_supports(plan->context, weighted, plan->gradients, order, &supports));
    if (!supports)
        return refuse(plan, weighted, order);
    for (size_t i = 0; i < plan->used_count; i++) {
        memcpy(plan->gradients + 3 * i, gradients + 3 * plan->used[i], 3 * sizeof(double));
        plan->b[i] = b[plan->used[i]];
    }
    return HOT_OK;
}

static hot_status choose_order(hot_plan *plan, int order, int say)
{
    if (order != 0)
        return try_order(plan, order, say);
    int highest = 6;
    if (plan->response && hot_response_lmax(plan->response) < highest)
        highest = hot_response_lmax(plan->response);
    highest = highest < 2 ? 2 : highest; /* the model's own check reports a smaller response */
    hot_status status = HOT_ERROR_DATA;
    for (order = highest; order >= 2; order -= 2) {
        status = try_order(plan, order, 0);
        if (status == HOT_OK) {
            status = try_order(plan, order, say);
            if (say && order < 6 && plan->response && hot_response_lmax(plan->response) == order)
                hot_context_log(plan->context, HOT_LOG_NOTE, "order %d: the response goes no further", order);
            else if (say && order < 6)
                hot_context_log(plan->context, HOT_LOG_NOTE,
                                "order %d: the %zu diffusion-weighted volumes do not support order 6, which needs %zu "
                                "directions", order, plan->used_count, hot_model_terms(6));
            return status;
        }
        if (status != HOT_ERROR_DATA)
            return status;
    }
    return status;
}

/* normalise.c has room for HOT_TISSUES_MAX in all. */
static hot_status check_tissues(hot_context *context, const hot_fit_options *options)
{
    if (options->tissue_count > HOT_TISSUES_MAX - 1 || (options->tissue_count > 0 && !options->tissues))
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "tissues", "%zu isotropic tissues; give up to "
                                          "%d, or 0", options->tissue_count, HOT_TISSUES_MAX - 1);
    for (size_t t = 0; t < options->tissue_count; t++)
        if (!options->tissues[t])
            return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "tissues", "tissue %zu is NULL", t);
    return HOT_OK;
}

/* *regularise: the model's default if the options do not set it. */
static hot_status check_options(hot_context *context, const hot_fit_options *options, const hot_model *model,
                                double *regularise)
{
    if (options->order != 0 &&
        (options->order < 2 || options->order > HOT_MODEL_ORDER_MAX || options->order % 2 != 0))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "order %d; orders are 2, 4, 6 and 8", options->order);
    *regularise = options->regularise;
    hot_status status = hot_option_number(context, "regularise", model->regularise, FLT_MAX, regularise);
    if (status == HOT_OK && options->weighted != HOT_ZERO)
        status = hot_option_choice(context, "weighted", options->weighted, 2);
    if (status == HOT_OK)
        status = hot_option_choice(context, "constraint", (int)options->constraint, HOT_CONSTRAINT_HPSD + 1);
    if (status == HOT_OK)
        status = hot_option_choice(context, "kernel", (int)options->kernel, HOT_KERNEL_DELTA + 1);
    if (status == HOT_OK)
        status = hot_option_choice(context, "positive", options->positive, 2);
    if (status == HOT_OK)
        status = hot_option_choice(context, "estimate_s0", options->estimate_s0, 2);
    if (status == HOT_OK)
        status = hot_option_choice(context, "normalise", options->normalise, 2);
    if (status == HOT_OK)
        status = check_tissues(context, options);
    return status;
}

/* The lists of volumes, the b=0 volumes in theirs. */
static hot_status make_volumes(hot_plan *plan)
{
    hot_context *context = plan->context;
    plan->volumes = hot_dwi_volumes(plan->dwi);
    plan->b0 = hot_context_alloc(context, plan->volumes, sizeof *plan->b0);
    plan->used = hot_context_alloc(context, plan->volumes, sizeof *plan->used);
    plan->gradients = hot_context_alloc(context, plan->volumes, 3 * sizeof *plan->gradients);
    plan->b = hot_context_alloc(context, plan->volumes, sizeof *plan->b);
    if (!plan->b0 || !plan->used || !plan->gradients || !plan->b)
        return HOT_ERROR_MEMORY;
    const int *shell_of;
    hot_dwi_shells(plan->dwi, NULL, &shell_of);
    for (size_t v = 0; v < plan->volumes; v++)
        if (shell_of[v] == 0)
            plan->b0[plan->b0_count++] = v;
    return HOT_OK;
}

/* The matrices between signals, harmonics and tensors, for the chosen order. */
static hot_status make_matrices(hot_plan *plan)
{
    hot_context *context = plan->context;
    plan->from_sh = hot_context_alloc(context, plan->terms, plan->terms * sizeof(double));
    plan->to_sh = hot_context_alloc(context, plan->terms, plan->terms * sizeof(double));
    plan->inverse = hot_context_calloc(context, plan->terms, plan->used_count * sizeof(double));
    plan->forward = hot_context_calloc(context, plan->terms, plan->used_count * sizeof(double));
    if (!plan->from_sh || !plan->to_sh || !plan->inverse || !plan->forward)
        return HOT_ERROR_MEMORY;
    hot_status status = hot_sh_to_symtensor(context, plan->order, plan->from_sh);
    return status == HOT_OK ? hot_symtensor_to_sh(context, plan->order, plan->to_sh) : status;
}

hot_status hot_plan_make(hot_context *context, const hot_dwi *dwi, const hot_fit_options *options,
                         const hot_response *response, int say, hot_plan **made)
{
    *made = NULL;
    double regularise;
    const char *name = options->model ? options->model : "fod";
    const hot_model *model = hot_model_find(name);
    if (!model)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "there is no model '%s'; models are adc, odf, fod and msmt", name);
    HOT_TRY(check_options(context, options, model, &regularise));
    if (!hot_dwi_has_b0(dwi))
        return hot_context_fail(context, HOT_ERROR_DATA,
                                "'%s' has no b=0 volume (b of at most 50 s/mm^2); every model needs the signal without "
                                "diffusion weighting", hot_dwi_name(dwi));
    hot_plan *plan = hot_context_calloc(context, 1, sizeof *plan);
    if (!plan)
        return HOT_ERROR_MEMORY;
    *plan = (hot_plan){.context = context, .model = model, .dwi = dwi, .regularise = regularise,
                       .response = model->needs_response ? response : NULL, .positive = options->positive,
                       .weighted = options->weighted != HOT_ZERO, .estimate_s0 = options->estimate_s0,
                       .ceiling = INFINITY, .tissues = options->tissues, .tissue_count = options->tissue_count,
                       .constraint = options->constraint, .kernel = options->kernel,
                       .constraint_directions = options->directions, .constraint_count = options->direction_count,
                       .relative = 1};
    hot_status status = make_volumes(plan);
    if (status == HOT_OK)
        status = choose_order(plan, options->order, say);
    if (status == HOT_OK)
        status = make_matrices(plan);
    if (status == HOT_OK)
        status = model->prepare(plan);
    if (status != HOT_OK)
        hot_plan_free(&plan);
    *made = plan;
    return status;
}

hot_status hot_plan_set_noise(hot_plan *plan, double noise)
{
    const size_t bytes = plan->terms * plan->used_count * sizeof(double);
    memset(plan->inverse, 0, bytes);
    memset(plan->forward, 0, bytes);
    plan->noise = noise;
    return plan->model->prepare(plan);
}

void hot_plan_free(hot_plan **plan)
{
    if (!plan || !*plan)
        return;
    hot_plan *gone = *plan;
    *plan = NULL;
    hot_context *context = gone->context;
    void *const parts[] = {gone->b0, gone->used, gone->gradients, gone->b, gone->from_sh, gone->to_sh, gone->inverse,
                           gone->forward, gone->design, gone->predict};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        hot_context_free(context, parts[i]);
    hot_context_free(context, gone);
}

/* The mean b=0 signal, or 0 when it is not positive or a signal is not finite or clipped: what no model can use. */
static float usable_s0(const hot_plan *plan, const float *signals)
{
    double sum = 0;
    for (size_t i = 0; i < plan->b0_count; i++) {
        const float value = signals[plan->b0[i]];
        if (!isfinite(value) || (double)value >= plan->ceiling)
            return 0;
        sum += (double)value;
    }
    for (size_t i = 0; i < plan->used_count; i++) {
        const float value = signals[plan->used[i]];
        if (!isfinite(value) || (double)value >= plan->ceiling)
            return 0;
    }
    const float mean = (float)(sum / (double)plan->b0_count);
    return isfinite(mean) && mean > 0 ? mean : 0;
}

/* Noise is about as large as the samples below zero are; without such, a sample of 0 is at most half the smallest
 * other. A stray sample far below zero does not lift the floor above a quarter of the mean. */
float hot_plan_floor(size_t count, const float *ratio)
{
    double squares = 0, sum = 0, least = INFINITY;
    size_t low = 0;
    for (size_t i = 0; i < count; i++) {
        const double r = (double)ratio[i];
        if (r <= 0) {
            squares += r * r;
            low++;
        } else {
            sum += r;
            least = fmin(least, r);
        }
    }
    if (low == 0)
        return 0;
    const double noise = sqrt(squares / (double)low), most = low < count ? .25 * sum / (double)(count - low) : 1;
    return (float)fmax(fmin(fmax(noise, low < count ? .5 * least : 0), most), 1e-6);
}

void hot_plan_ratios(const hot_plan *plan, size_t count, const float *signals, const float *s0, float *y,
                     hot_plan_transform *transform)
{
    const size_t used = plan->used_count, volumes = plan->volumes;
#pragma omp parallel for num_threads(hot_team(count > 256 ? hot_context_threads(plan->context) : 1)) schedule(static)
    for (size_t v = 0; v < count; v++) {
        const float *in = signals + v * volumes;
        float *out = y + v * used;
        if (!plan->relative) {
            for (size_t i = 0; i < used; i++)
                out[i] = s0[v] > 0 ? in[plan->used[i]] : 0;
            continue;
        }
        /* in double: 1 / s0 of a tiny signal would overflow a float */
        const double scale = s0[v] > 0 ? 1 / (double)s0[v] : 0;
        for (size_t i = 0; i < used; i++)
            out[i] = (float)((double)in[plan->used[i]] * scale);
        if (transform && s0[v] > 0) {
            const float least = hot_plan_floor(used, out);
            for (size_t i = 0; i < used; i++)
                out[i] = transform(out[i] < least ? least : out[i]);
        }
        if (!(s0[v] > 0))
            memset(out, 0, used * sizeof *out);
    }
}

hot_status hot_plan_fit_linear(const hot_plan *plan, size_t count, const float *work, float *values)
{
    return hot_fit_linear_f32(plan->context, plan->terms, plan->used_count, plan->inverse, count, work,
                              plan->used_count, values + 1, hot_plan_width(plan));
}

hot_status hot_plan_fit(const hot_plan *plan, size_t count, const float *signals, float *work, float *values)
{
    const size_t width = hot_plan_width(plan);
    float *s0 = work, *y = work + count;
#pragma omp parallel for num_threads(hot_team(count > 256 ? hot_context_threads(plan->context) : 1)) schedule(static)
    for (size_t v = 0; v < count; v++)
        s0[v] = usable_s0(plan, signals + v * plan->volumes);
    hot_status status = plan->model->fit(plan, count, signals, s0, y, values);
    for (size_t v = 0; v < count && status == HOT_OK; v++) {
        float *value = values + v * width;
        int good = s0[v] > 0;
        for (size_t t = 1; t < width; t++) {
            if (good && t <= plan->terms)
                value[t] += (float)plan->offset[t - 1];
            good &= isfinite(value[t]) != 0;
        }
        value[0] = good ? 1 : 0;
        if (!good)
            memset(value, 0, width * sizeof *value);
    }
    return status;
}
