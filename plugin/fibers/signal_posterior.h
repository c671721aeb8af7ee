/* How sure the fits to the signals are: the posterior of a fit (Laplace: a normal distribution of what is
 * unknown) as cones, deviations and samples. */
#ifndef HOT_FIBERS_SIGNAL_POSTERIOR_H
#define HOT_FIBERS_SIGNAL_POSTERIOR_H

#include "core/fields.h"
#include "core/random.h"

typedef struct hot_posterior {
    const hot_signal_fit *fit;
    int k;
    double root[HOT_SIGNAL_PRECISION]; /* R, lower and packed: the covariance is R^T R */
    double wider[3][2]; /* by how much turns along a cone's axes, the larger first, deviate more than that says */
    double widen[3][3]; /* the same of turns a and b: a symmetric matrix, aa, ab, bb */
    double typical;  /* the weight of the average single fibre, whose fraction is 1 */
} hot_posterior;

/* The cone about a fibre that holds its direction with 95 %: an ellipse of semi-axes `angle` (radians, the larger one
 * first) along the unit vectors `axis`; and the half angle of the circular cone that does. */
typedef struct hot_cone {
    double axis[2][3], angle[2], half_angle;
} hot_cone;

/* Of a fit of k fibres; it must stay. population: its cone_variance and cone_growth; NULL = 1. typical:
 * hot_posterior's. */
void hot_posterior_make(const hot_signal_fit *fit, int k, const hot_signal_population *population, double typical,
                        hot_posterior *posterior);

/* Whether a cone is wider by the curvature alone than any in which its growth was measured (cone_growth). */
int hot_posterior_is_wide(const hot_posterior *posterior, int fiber);

/* Where a direction, or its opposite, is beside a fibre's circular cone: 1 is its edge; the square of the distance. */
double hot_posterior_place(const hot_posterior *posterior, int fiber, const hot_cone *cone, const float v[3]);

/* freedom: degrees of freedom that the noise was estimated with; INFINITY: it is known. */
void hot_posterior_cone(const hot_posterior *posterior, int fiber, double freedom, hot_cone *cone);

/* Standard deviation of a fibre's fraction. */
double hot_posterior_fraction_sd(const hot_posterior *posterior, int fiber);

/* Directions and fractions drawn at random; together the fractions are at most 1. */
void hot_posterior_draw(const hot_posterior *posterior, hot_random *random, double v[3][3], double fraction[3]);

/* P(k) of a voxel's four fits. Returns 0 where it has none. */
int hot_posterior_weigh(const hot_signal_fit fits[4], double p[4]);

/* P(k) by the population's certainty; k: the likeliest number. */
void hot_posterior_temper(double p[4], int k, const hot_signal_population *population);

#endif
