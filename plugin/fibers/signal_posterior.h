/* The posterior of a voxel's fits (Laplace's approximation), and its exports: cones, standard deviations and
 * samples. */
#pragma once

#include "core/fields.h"
#include "core/random.h"
#include "core/samples.h"
typedef struct hot_posterior {
    const hot_signal_fit *fit;
    int k;
    double root[HOT_SIGNAL_PRECISION]; /* R, lower and packed: the covariance is R^T R */
    double wider[3][2]; /* by how much turns along a cone's axes, the larger first, deviate more than that says */
    double widen[3][3]; /* the same of turns a and b: a symmetric matrix, aa, ab, bb */
    double typical;  /* the weight of the average single fibre, whose fraction is 1 */
    /* No signal tells this: .9 of a sharp fibre beside .1 of isotropic tissue is a whole fibre that is less sharp. All
     * fibres together may be more or less by how much voxels differ in their isotropic part: a deviation of
     * fractions. */
    double unit;
} hot_posterior;

/* The cone about a fibre that holds its direction with 95 %: an ellipse of semi-axes `angle` (radians, the larger one
 * first) along the unit vectors `axis`; and the half angle of the circular cone that does. */
typedef struct hot_cone {
    double axis[2][3], angle[2], half_angle;
} hot_cone;

/* Of a fit of k fibres; it must stay. population: its cone_variance and cone_growth; NULL = 1. typical:
 * hot_posterior's. */
void hot_posterior_make(const hot_signal_fit *fit, int k, const hot_signal_priors *population, double typical,
                        hot_posterior *posterior);

/* Whether a cone is wider by the curvature alone than any in which its growth was measured (cone_growth). */
int hot_posterior_is_wide(const hot_posterior *posterior, int fiber);

/* The squared distance of a direction, or its opposite, from the axis of a fibre's circular cone, relative to the
 * cone's edge. */
double hot_posterior_place(const hot_posterior *posterior, int fiber, const hot_cone *cone, const float v[3]);

/* freedom: degrees of freedom that the noise was estimated with; INFINITY: it is known. */
void hot_posterior_cone(const hot_posterior *posterior, int fiber, double freedom, hot_cone *cone);

/* Standard deviation of a fibre's fraction. */
double hot_posterior_fraction_sd(const hot_posterior *posterior, int fiber);

/* Directions and fractions drawn at random; together the fractions are at most 1. */
void hot_posterior_draw(const hot_posterior *posterior, hot_random *random, double v[3][3], double fraction[3]);

/* P(k) of a voxel's four fits. Returns 0 where it has none. */
int hot_posterior_weigh(const hot_signal_fit fits[4], double p[4]);

/* P(k), calibrated by priors->certainty; k: the most probable number. */
void hot_posterior_temper(double p[4], int k, const hot_signal_priors *population);

/* ---- Maps ---- */

/* Checks the number of requested samples. HOT_ERROR_ARGUMENT. */
hot_status hot_signal_find_check(hot_context *context, const hot_signal_find_options *options);

/* The memory of *maps for what is known beside directions, or for probabilities alone. */
hot_status hot_signal_maps_make(hot_context *context, size_t voxels, int only_probability, hot_signal_maps *maps);
/* Allocate and free the posterior's maps in *maps. */
hot_status hot_signal_posterior_make(hot_context *context, const hot_mask *mask,
                                     const hot_signal_find_options *options, int max_fibers, hot_signal_maps *maps);
void hot_signal_posterior_free(hot_context *context, hot_signal_maps *maps);

/* hot_signal_fibers_f32 for voxels first ... first + count - 1 of the mask's grid, and what the fits say of the
 * posterior into *maps. typical: the weight of the average single fibre, whose fraction is 1. The arrays of `result`
 * begin at `first`, all may be NULL but directions, which are not divided by `typical`, and flags. */
hot_status hot_signal_find_posterior(hot_context *context, const hot_signal_options *how,
                                     const hot_signal_scheme *scheme, const hot_mask *mask, size_t first, size_t count,
                                     const float *signals, const float *sigma, double typical,
                                     const hot_signal_result *result, hot_signal_maps *maps);

/* Probabilities and margins, as the fits tell them, by the population's certainty. */
void hot_signal_maps_temper(hot_context *context, const hot_mask *mask, const hot_signal_priors *population,
                            hot_signal_maps *maps);
