/* How certain a fibre is, 0 to 1. */
#pragma once

#include "core/fields.h"

/* P(more than `fiber` fibres), from P(0) to P(3). */
double hot_fiber_probability(const float probability[4], int fiber);

/* The same times the probability of a direction within 15 degrees of the fibre's, if errors are normal. cone: half
 * angle of its 95 % cone, degrees; 0 = not known, and left out. */
double hot_fiber_certainty(const float probability[4], int fiber, double cone);

/* Sets the certainty of all fibres. maps: with probabilities; cone may be NULL. Errors: HOT_ERROR_MEMORY. */
hot_status hot_fiber_field_judge(hot_context *context, hot_fiber_field *fibers, const hot_signal_maps *maps);

/* Keeps the probability and the cone of each fibre in the field, as far as maps have them, for formats with values of
 * fibres. Errors: HOT_ERROR_MEMORY. */
hot_status hot_fiber_field_keep_doubt(hot_fiber_field *fibers, const hot_signal_maps *maps);

/* Leaves out fibres of which so many or more have a probability below min_probability, or whose cone is wider than
 * max_cone, degrees (0 = any), from the field and from what maps have of each fibre; a note says how many. maps: with
 * probabilities or cones where a bound needs them; all other arrays may be NULL. */
void hot_fiber_field_filter(hot_context *context, hot_fiber_field *fibers, const hot_signal_maps *maps,
                            double min_probability, double max_cone);
