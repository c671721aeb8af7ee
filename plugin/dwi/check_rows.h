/* Inside the comparison of volumes with the rows of their gradient table. */
#pragma once

#include "core/fields.h"

/* The volumes of some voxels, and the rows of the table in the same order. */
typedef struct hot_rows {
    hot_context *context;
    size_t volumes, voxels;
    double *b, *gradients; /* volumes, volumes x 3: the rows; 0 0 0 for b=0 */
    int *shell, *group;    /* volumes: shells; sets in which directions may be permuted, -1 = b=0 */
    size_t *number;        /* volumes: their numbers in the data set */
    int groups;
    float *level;          /* voxels: their means */
    size_t *slice;         /* voxels: their slices */
    float *signals;        /* voxels x volumes, each voxel over its mean over the volumes */
    double *gram;          /* volumes x volumes: mean over the voxels of products of two volumes' signals */
} hot_rows;

/* A Gaussian process over (b, direction), whose covariance is that of randomly oriented tissues (Andersson and
 * Sotiropoulos 2015 fit one to a shell). It does not depend on rotations, flips or permutations of all directions. */
typedef struct hot_rows_model {
    int place[3];           /* of diffusivity, share of anisotropic tissue and noise in their lists */
    double *inverse;        /* volumes x volumes: of the covariance */
    double log_determinant;
} hot_rows_model;

enum { HOT_ROWS_MODELS = 3, HOT_ROWS_STEPS = 12 };

/* The model of these rows that the volumes, in this order (row i belongs to volume order[i]), make likeliest: a search
 * from where `model` is. model->inverse: volumes x volumes, the caller's. */
hot_status hot_rows_choose(const hot_rows *rows, const size_t *order, hot_rows_model *model);
/* Only the inverse, of the place that is in the model. work: volumes x volumes + 16 * volumes. */
void hot_rows_make(const hot_rows *rows, hot_rows_model *model, double *work);
/* The covariance itself; covariance: volumes x volumes. */
void hot_rows_covariance(const hot_rows *rows, const int place[3], double *covariance, double *work);
/* Mean log-likelihood of a voxel, with the best amplitude; that of the best model. */
double hot_rows_likelihood(const hot_rows *rows, const hot_rows_model *model, const size_t *order);
double hot_rows_best(const hot_rows *rows, const hot_rows_model *models, const size_t *order);
/* Mean and standard deviation of the latter with directions permuted within groups. */
void hot_rows_permuted(const hot_rows *rows, const hot_rows_model *models, const size_t *order, double *mean,
                       double *deviation);
/* How far the likelihood would fall if directions that belong to such volumes were permuted: with noise and anisotropy
 * as the spectrum of the volumes has them, whatever the rows say. *noise: noise alone gives less than this. */
hot_status hot_rows_sensitivity(const hot_rows *rows, double *sensitivity, double *noise);

/* Of a volume, as the others predict it: means over the voxels. */
typedef struct hot_rows_prediction {
    double error;          /* squared difference */
    double with, square;   /* volume times prediction; squared prediction */
    double own;            /* squared volume */
    double standardised;   /* error over the variance that the model expects, up to a common factor */
} hot_rows_prediction;

/* made[i]: of volume order[i], the assumed volume of row i. */
hot_status hot_rows_predict(const hot_rows *rows, const hot_rows_model *model, const size_t *order,
                            hot_rows_prediction *made);
/* The effect of directions on the signals: variance between the volumes of a group, in a voxel, and the number of
 * patterns (participation ratio), which is small if fibres have few directions and there is no noise. */
hot_status hot_rows_contrast(const hot_rows *rows, const size_t *order, double *variance, double *patterns);
/* Squared error of volume i as the others predict it, those with an entry in without[] left out. */
hot_status hot_rows_error(const hot_rows *rows, size_t i, const char *const *without, double *error);

/* Share of slices, of all volumes, that are dark against those of the other volumes of their group. */
hot_status hot_rows_dark_slices(const hot_rows *rows, const size_t *order, double *share);

/* A change that increases the likelihood. */
typedef enum hot_rows_kind {
    HOT_ROWS_SWAP,         /* rows first and second */
    HOT_ROWS_ROTATE,       /* row `second` belongs to volume `first`, and those between are shifted by one */
    HOT_ROWS_REVERSE, HOT_ROWS_REVERSE_WEIGHTED, /* all rows; those with b > 0 among themselves */
    HOT_ROWS_SHIFT, HOT_ROWS_SHIFT_WEIGHTED,     /* by `first`, cyclically: row i belongs to volume i + first */
    HOT_ROWS_UNWEIGHTED, /* b=0 rows of dark volumes belong one place later (first: 1) or earlier (-1) */
    HOT_ROWS_REVERSE_SHELLS, HOT_ROWS_EXCHANGE,  /* within each shell; the first `first` rows behind the others */
    HOT_ROWS_BRIGHTNESS /* of the volumes from `first` on, against those before: no fault of the table */
} hot_rows_kind;
typedef struct hot_rows_step {
    hot_rows_kind kind;
    int first, second;
    double gain;       /* of the likelihood */
    double brightness; /* of BRIGHTNESS: a factor */
} hot_rows_step;

/* Puts the volumes into an order that the rows explain better, step by step, until nothing gains much: order[] (at
 * first 0, 1, ...), *steps of step[]. The signals of series that were joined are divided by their brightness.
 * *ended: 0 = there was more to gain after the last step that is allowed. */
hot_status hot_rows_search(hot_rows *rows, hot_rows_model *models, size_t *order,
                           hot_rows_step step[HOT_ROWS_STEPS], size_t *steps, int *ended);

/* Reads the brighter voxels of a sample of `most` voxels of the mask, divided by their mean over the volumes, without
 * volumes that have no signal. The caller frees number, signals, level and slice of rows, also after an error. */
hot_status hot_rows_read(hot_context *context, const hot_dwi *dwi, const hot_mask *mask, size_t most, hot_rows *rows);

/* Volumes that are computed ones (mean, trace, ADC): kind[v] names what each is, NULL = it is none. Takes gram. */
hot_status hot_rows_computed(const hot_rows *rows, const char **kind);
