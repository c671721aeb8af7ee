/* Common definitions of the phantom's files. */
#pragma once

#include "core/fields.h"
#include "core/random.h"

#define HOT_GREY_DIFFUSIVITY 0.8e-3
#define HOT_CSF_DIFFUSIVITY 3.0e-3

/* The tissue of one voxel. */
typedef struct phantom_voxel {
    int fibers;
    double direction[HOT_PHANTOM_FIBERS][3]; /* unit, world */
    double fraction[HOT_PHANTOM_FIBERS];     /* volume fractions */
    double axial[HOT_PHANTOM_FIBERS], radial[HOT_PHANTOM_FIBERS];
    double dispersion[HOT_PHANTOM_FIBERS];   /* radians */
    double intra[HOT_PHANTOM_FIBERS];        /* of other tissues than the zeppelin */
    double water, water_diffusivity;         /* the isotropic part */
    double grey;                             /* fraction of grey matter */
    double s0;                               /* 0 in air */
} phantom_voxel;

struct hot_phantom {
    hot_context *context;
    hot_phantom_options options; /* with every default filled in; the arrays below are copies */
    hot_phantom_condition *conditions;
    double *snr, *shell_b;
    uint64_t seed;
    double *share; /* NULL: none was given */
    hot_dwi *dwi;
    hot_fiber_field *truth;
    float *tissue_map;
};

/* The bundles layout: which bundles meet at a point and how they run there. point: mm from the middle of the volume,
 * in the grid's own (unrotated) axes; half: half the volume's width, mm. Fills fibers, direction (grid axes), fraction,
 * water, water_diffusivity and s0 (1 or 0). */
void hot_phantom_bundles(const double point[3], double half, phantom_voxel *voxel);

/* A voxel of a row of the conditions layout; column chooses between the two isotropic diffusivities. */
void hot_phantom_draw_condition(hot_random *random, const hot_phantom_condition *condition, size_t column,
                                phantom_voxel *voxel);
/* A voxel of the mixture layout, whose isotropic voxels are of several kinds. */
void hot_phantom_draw_mixture(hot_random *random, const hot_phantom_options *options, phantom_voxel *voxel);
/* Adds the parts that all layouts have: weights, free water, grey matter, dispersion, diffusivities, intra-axonal
 * fractions. */
void hot_phantom_draw_tissue(hot_random *random, const hot_phantom_options *options, phantom_voxel *voxel);
/* A fibre's share of the true volume: all of it, or the stick. */
double hot_phantom_true_fraction(const phantom_voxel *voxel, hot_phantom_tissue tissue, int fiber);
/* The signals without noise, S0 = 1 in tissue. gradients: volumes x 3, unit. */
void hot_phantom_signals(const phantom_voxel *voxel, hot_phantom_tissue tissue, size_t volumes, const double *b,
                         const double *gradients, double *signals);

/* The orientations that a dispersed fibre is averaged over: at most this many, each of unit length, with weights of sum
 * 1. Both return how many. dispersion: radians, > 0. */
enum { HOT_PHANTOM_PARTS = 24 * 32 };
int hot_phantom_normal_parts(const double direction[3], double dispersion, double parts[HOT_PHANTOM_PARTS][3],
                             double weight[HOT_PHANTOM_PARTS]);
int hot_phantom_watson_parts(const double direction[3], double dispersion, double parts[HOT_PHANTOM_PARTS][3],
                             double weight[HOT_PHANTOM_PARTS]);
