/* The single-fibre response from the data: what the steps share. */
#pragma once

#include "model.h"
#include "single_fiber.h"

/* HOT_RESPONSE_SAMPLE: the most voxels that are searched. They are spread evenly over the mask, and hold hundreds of
 * times as many single fibres as a response takes. */
enum { HOT_CANDIDATES = 1500, HOT_RESPONSE_SAMPLE = 1 << 18, HOT_BOTH_HALVES = 3 };

/* One voxel that may hold a single fibre. */
typedef struct hot_candidate {
    size_t place; /* in the sample */
    double axis[3];
    double misfit;   /* of the current response, mean square in units of s0 */
    double off_axis; /* hot_response_off_axis */
    int halves;      /* which halves of its volumes the response is made from, bits */
    unsigned char chosen; /* in the round before */
} hot_candidate;

/* The merit of a voxel (by its place in the sample) or of a candidate (by its number). */
typedef struct hot_merit {
    double value;
    size_t place;
} hot_merit;

typedef struct hot_response_search {
    hot_context *context;
    const hot_dwi *dwi;
    const hot_mask *mask;
    size_t volumes, shells;
    const double *shell_b;
    const int *shell_of;
    int order, lmax;
    hot_peak_grid grid;
    size_t *sample, sampled; /* voxels that are searched, by their numbers */
    size_t count, eligible; /* candidates; voxels from which they were taken */
    hot_candidate candidates[HOT_CANDIDATES];
    float *signals;         /* HOT_CANDIDATES x volumes */
    hot_merit merits[HOT_CANDIDATES], sorted[HOT_CANDIDATES];
    size_t chosen;          /* the first `chosen` of merits are used */
    int *row;               /* shells: which row of the response */
} hot_response_search;

/* Highest first; equal ones in the order of their places, so that the result is the same everywhere. For qsort. */
int hot_merit_compare(const void *a, const void *b);
/* Keeps the best of the merits, one per voxel of the sample, as candidates and reads their signals. Moves the
 * merits. */
hot_status hot_response_take_candidates(hot_response_search *search, hot_merit *merits);
/* How many of the sorted merits are used: those that come near the middle one of the mask's best tenth (30 to 300
 * voxels). */
size_t hot_response_count_best(const hot_response_search *search);
/* The residual per degree of freedom of the best zonal functions about the axis (to degree 4, one for each shell of
 * search->row), relative to the sum of squares that they explain beyond the mean. It measures noise and crossings and
 * does not depend on the fibre's diffusivities or the voxel's brightness. INFINITY if they explain nothing. halves: the
 * halves of the volumes to use, as bits. *contrast: the attenuation along the axis, in the data's unit: the sum of the
 * shells' coefficients of degree 2. */
double hot_response_off_axis(const hot_response_search *search, const float *signals, const double axis[3], int halves,
                             double *contrast);
/* Makes the response from the sharpest third of the selected voxels. They are selected in one half of the volumes and
 * used in the other, so that noise is not selected. If they are no sharper than equal fibres would be, uses all. */
void hot_response_keep_sharpest(hot_response_search *search);
/* The strength of the response of all selected voxels relative to that of the sharper ones, apart from isotropic parts
 * and dispersion: at most 1. */
double hot_response_find_typical(const hot_response_search *search, const hot_response *mean,
                                 const hot_response *sharp);
/* The deviation of the noise in the chosen voxels that the response is made from, over their b=0 signals: by the median
 * of what these repeat. 0: one b=0 volume or none, or no noise. */
double hot_response_find_noise(const hot_response_search *search);
/* Of the chosen, keeps those whose off_axis could be noise. */
void hot_response_keep_explained(hot_response_search *search);

/* The mean b=0 signal of a candidate. */
double hot_response_mean_b0(const hot_response_search *search, size_t candidate);
/* Least squares for the zonal coefficients of every shell over the chosen candidates, each divided by its b=0 signal;
 * the result is in units of their mean b=0 signal. */
hot_status hot_response_from_chosen(hot_response_search *search, hot_response **made);
/* HOT_ERROR_DATA when one fibre hardly explains the signals of the chosen. last: of the last round; before it the bound
 * is lower. */
hot_status hot_response_check_chosen(const hot_response_search *search, int last);
