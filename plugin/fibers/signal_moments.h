/* Statistics of fits for the priors: sums over voxels and numbers of fibres, weighted by P(k). */
#pragma once

#include <hotfiber/hotfiber.h>

/* Of an unknown that has a normal prior: how often it was seen; sums of how much of it the data tell, f, which is what
 * the posterior's variance lacks of the prior's, and f^2; and of d, f d and d^2, d being how far the fit is off the
 * prior's mean. */
typedef struct hot_moments {
    double count, told, told_twice, off, off_told, square;
} hot_moments;

void hot_moments_add(hot_moments *moments, double weight, double value, double variance, const double prior[2]);

/* The share of 2 and of 3 uniform directions at least 25 degrees apart whose smallest separation is in each bin. */
extern const double hot_separation_chance[2][HOT_SEPARATIONS];

/* The bin of the smallest separation of k directions, v being k x 3; angle: degrees, for those that are nearer than 25,
 * which are counted in the first. */
int hot_separation_bin(const float *v, int k, double *angle);

/* qsort's order of doubles. */
int hot_by_size(const void *left, const void *right);
