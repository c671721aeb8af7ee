/* Points on the half sphere z >= 0, and which of v and -v is on it. */
#pragma once

#include <hotfiber/status.h>
#include <stddef.h>

#include "common/portable.h"

HOT_C_BEGIN

/* A spherical Fibonacci lattice: points (count x 3, unit) with equal steps in z, which make equal areas, from 0 up to
 * 1, each turned about z by the golden angle against the one before. (hot_starts_even goes from 1 down to 0.) */
HOT_API void hot_sphere_lattice(size_t count, double *points);

HOT_C_END

/* Whether (x, y, z), not zero, is on the half sphere that represents the whole: z > 0, then y > 0, then x > 0. */
HOT_FN int hot_sphere_upper(float x, float y, float z) { return z > 0 || (z == 0 && (y > 0 || (y == 0 && x > 0))); }
