/* The highest order that a set of gradient directions determines. gradients: count x 3, unit or zero. */
#pragma once

#include "core/fields.h"

/* How many directions differ by more than half a degree, up to sign. */
size_t hot_scheme_distinct(size_t count, const double *gradients);
/* Whether they are all within about half a degree of one plane, and its normal. */
int hot_scheme_planar(size_t count, const double *gradients, double normal[3]);
/* Whether these directions determine a tensor of this order, well enough to be of use. Errors: HOT_ERROR_MEMORY. */
hot_status hot_scheme_supports(hot_context *context, size_t count, const double *gradients, int order, int *supports);
/* The diffusion-weighted ones of these volumes (use: NULL = of all), shells together: how many distinct directions they
 * have, and whether these determine this order. Errors: HOT_ERROR_MEMORY. */
hot_status hot_scheme_of_volumes(hot_context *context, const hot_dwi *dwi, size_t count, const size_t *use, int order,
                                 size_t *distinct, int *supports);
/* The largest b-value of all volumes, s/mm^2. */
double hot_dwi_largest_b(const hot_dwi *dwi);

/* Fails with the fault and the highest possible order. `what` names the directions ("b=3000", "all shells"). */
hot_status hot_scheme_refuse(hot_context *context, const hot_dwi *dwi, size_t count, const double *gradients, int order,
                             const char *what);

/* One shell: the highest order it determines (0 2 4 6 8), the number of its distinct directions, whether these are in
 * one plane. */
hot_status hot_dwi_shell_scheme(hot_context *context, const hot_dwi *dwi, int shell, int *order, size_t *distinct,
                                int *planar);

/* How many volumes the shell of the highest b-value has. */
size_t hot_dwi_outer_volumes(const hot_dwi *dwi);
