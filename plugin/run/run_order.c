/* The order of the tensors where the user has chosen none. */
#include <math.h>
#include <string.h>

#include "dwi/scheme.h"
#include "outputs.h"
#include "run.h"

/* Directions that determine at most order 2 (6 to 14): tensors have one maximum. They determine the diffusion tensor
 * for any tissue, so its first eigenvector is the default result; a response that does not fit every voxel would bias
 * it. A method that separates fibres with so few signals stays the default, as do explicit options. */
static hot_status settle_order_2(hot_run_state *run, int *settled)
{
    hot_run_inputs *in = &run->inputs;
    hot_run_options *mine = &in->options;
    size_t distinct;
    int supports;
    hot_status status = hot_scheme_of_volumes(run->context, in->dwi, hot_dwi_volumes(in->dwi), NULL, 4, &distinct,
                                              &supports);
    *settled = status == HOT_OK && (!in->method->find_in_signals || (!supports && distinct < in->method->directions));
    if (!*settled)
        return status;
    if (in->by_default) {
        in->fit.model = "adc";
        in->method = hot_peaks_method_default(in->fit.model);
        in->peaks.method = in->method->name;
        in->peaks.starts = in->method->starts;
        status = hot_run_outputs_choose(run->context, mine, in->method, &in->outputs);
    }
    in->peaks.max_fibers = in->signal.max_fibers = 1;
    hot_context_log(run->context, HOT_LOG_NOTE,
                    "%zu gradient directions: %s of order 2, at most one direction per voxel (order 4 takes 15, order "
                    "6 takes 28)", distinct, strcmp(in->fit.model, "adc") == 0 ? "diffusion tensors" : "tensors");
    return status;
}

/* Order 6 unless the scheme has too few directions for it. */
hot_status hot_run_choose_order(hot_run_state *run)
{
    hot_run_inputs *in = &run->inputs;
    int settled = 0;
    if (in->fit.order != 0)
        return HOT_OK;
    in->order_by_default = 1;
    int highest = hot_dwi_highest_order(run->context, in->dwi, -1);
    if (highest < 0)
        return hot_context_cancelled(run->context) ? HOT_ERROR_CANCELLED : HOT_ERROR_MEMORY;
    in->fit.order = highest >= 6 || highest == 0 ? 6 : highest;
    if (highest > 0 && highest < in->method->order_min)
        return hot_context_fail_parameter(run->context, HOT_ERROR_DATA, "method",
                                          "%s needs tensors of order %d, and the directions of this scheme determine "
                                          "order %d; signal and maxima would do", in->method->name,
                                          in->method->order_min, highest);
    hot_status status = highest == 2 ? settle_order_2(run, &settled) : HOT_OK;
    if (status == HOT_OK && highest > 0 && highest < 6 && !settled)
        hot_context_log(run->context, HOT_LOG_NOTE,
                        "order %d: the directions of this scheme do not determine order 6 (28 at least)", highest);
    return status; /* a scheme that supports no order is refused by the fit, with what would do */
}

/* A degree of a response that is smaller than this, of its degree 0, is none. */
static const double flat = 1e-6;

/* A response that is flat in a degree cannot be divided by: without an order of the user's the tensors have a lower
 * one. */
void hot_run_follow_response(hot_run_state *run)
{
    hot_run_inputs *in = &run->inputs;
    const hot_response *r = run->learned.response;
    int order = 2;
    if (!in->order_by_default || !r || strcmp(in->fit.model, "fod") != 0)
        return;
    for (int has = 1; has && order < in->fit.order && order < r->lmax; order += has ? 2 : 0) {
        has = 0;
        for (size_t shell = 0; shell < r->shells; shell++) {
            const double *row = r->rows + shell * (size_t)(r->lmax / 2 + 1);
            has = has || fabs(row[order / 2 + 1]) > flat * fabs(row[0]);
        }
    }
    if (order < 4 || order < in->method->order_min || order == in->fit.order || order == r->lmax)
        return; /* the fit says what is wrong, if anything is */
    hot_context_log(run->context, HOT_LOG_NOTE, "order %d: the response of these data has no degree %d",
                    order, order + 2);
    in->order_before = in->fit.order;
    in->fit.order = order;
}
