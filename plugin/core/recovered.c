/* The warning about tensors that hardly tell one fibre from two. */
#include "fields.h"

/* Below it a number of maxima is hardly better than a guess; the bound of the method signal. */
static const double min_recovered = .8;

int hot_recovered_warn(hot_context *context, const char *method, int order, const double recovered[2])
{
    if (!(recovered[0] + recovered[1] < 2 * min_recovered))
        return 0;
    hot_context_log(context, HOT_LOG_WARNING,
                    "tensors of order %d hardly tell one fibre from two in these data (%s is right in %.0f %% of "
                    "simulated single fibres and %.0f %% of crossings at 60 to 90 degrees): do not count their "
                    "directions. The method signal needs no tensors; order 2 gives one direction", order, method,
                    100 * recovered[0], 100 * recovered[1]);
    return 1;
}

void hot_tensor_field_warn(hot_context *context, hot_tensor_field *field)
{
    if (field->judged && !field->warned)
        field->warned = hot_recovered_warn(context, "maxima", field->order, field->recovered);
}
