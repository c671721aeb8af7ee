/* Shared by the checks of directions: by scan (family_directions.c) and by many starts (directions_starts.c). */
#pragma once

#include "checker.h"
#include "forms3.h"

#include <hotfiber/directions.h>

enum { KEEP = 16 };

/* All maxima worth a comparison. */
static const hot_directions_options every = {.size = sizeof every, .max_directions = KEEP, .threshold = 0.2,
                                             .min_angle = 1};
static const hot_directions_options usual = {.size = sizeof usual};

/* Tensors of one line each, `weight` along it. */
static inline void make_lines(const form_basis *basis, size_t count, double (*line)[3], double weight, float *rows)
{
    for (size_t i = 0; i < count; i++) {
        double tensor[FORM_TERMS] = {0};
        form_add_line(basis, line[i], weight, tensor);
        for (size_t k = 0; k < basis->terms; k++)
            rows[i * basis->terms + k] = (float)tensor[k];
    }
}

/* Whether each of b's directions above `above` of b's largest is within `degrees` of one of a's. */
static inline int covers(const float *a, int count_a, const float *b, int count_b, double above, double degrees)
{
    for (int j = 0; j < count_b; j++) {
        int near = form_length(b + 3 * j) < above * form_length(b);
        for (int i = 0; i < count_a && !near; i++)
            near = form_angle(a + 3 * i, b + 3 * j) <= degrees;
        if (!near)
            return 0;
    }
    return 1;
}

/* Lengths fall, absent ones are 0, one half sphere, no -0. */
static inline int well_formed(const float *out, int keep, int found)
{
    for (int i = 0; i < keep; i++) {
        const float *v = out + 3 * i;
        if (i >= found) {
            if (v[0] != 0 || v[1] != 0 || v[2] != 0)
                return 0;
            continue;
        }
        if (!(v[2] > 0 || (v[2] == 0 && (v[1] > 0 || (v[1] == 0 && v[0] > 0)))))
            return 0;
        if (i > 0 && !(form_length(v) <= form_length(v - 3) * (1 + 1e-5)))
            return 0;
        if (signbit(v[0]) && v[0] == 0)
            return 0;
    }
    return 1;
}

/* By many starts, one case: directions_starts.c. */
void check_directions_starts(check_run *run, int order, size_t starts, hot_shift shift, size_t size);
void check_directions_ring(check_run *run, int order, hot_shift shift, double height);
/* All cases of an order. */
void check_directions_all_starts(check_run *run, int order);
