/* Models of the signal, and the plan of a fit. To add a model: one file with a const struct, one line in MODELS. */
#pragma once

#include "core/fields.h"

/* In the order in which help lists them. */
#define MODELS(X) X(adc) X(odf) X(fod) X(msmt)

enum { HOT_MODEL_ORDER_MAX = 8, HOT_MODEL_TERMS_MAX = 45 };

typedef struct hot_model hot_model;

/* Everything about a fit that does not depend on the voxel. Made once, read by all threads. */
typedef struct hot_plan {
    hot_context *context;
    const hot_model *model;
    const hot_dwi *dwi;
    const hot_response *response; /* borrowed; NULL unless the model needs one */
    int order;
    size_t terms;                 /* unique values of the tensor */
    double regularise;            /* Laplace-Beltrami weight, >= 0 */
    int positive, weighted, estimate_s0;
    double ceiling;               /* samples that reach it are clipped, and their voxel stays empty; infinite: none */

    size_t volumes;               /* of the data set */
    size_t b0_count, *b0;         /* its b=0 volumes */
    size_t used_count, *used;     /* the volumes that enter the fit ... */
    double *gradients, *b;        /* ... and their directions (used x 3) and b-values, in the same order */

    double *from_sh, *to_sh;      /* terms x terms, between the tensor and its harmonics */
    double *inverse;              /* terms x used: tensor = inverse y + offset, with the model's y of the signals */
    double *forward;              /* used x terms: the same y from a tensor; fod and msmt */
    double offset[HOT_MODEL_TERMS_MAX];
    double b_max;                 /* adc: b-values are counted in units of it */
    size_t columns, rows;         /* adc: of its design matrix, with the column of ln S0 and the rows of the penalty */
    double *design, *predict;     /* adc, weighted: rows x columns, and used x used (y as the plain fit has it) */
    int relative;                 /* fod: signals are divided by the voxel's b=0 signal */
    const hot_response *const *tissues; /* msmt: the isotropic tissues' responses, borrowed */
    size_t tissue_count, extra;   /* extra: values of a voxel after its tensor (msmt: amounts, then the residual) */
    hot_constraint constraint; /* msmt, as the three below */
    hot_fit_kernel kernel;
    const double *constraint_directions; /* borrowed; NULL = the kernel's own */
    size_t constraint_count;
    double density;               /* amount of white matter per coefficient of degree 0 */
    double noise;                 /* fod: standard deviation of the signals as the fit sees them; 0 = not known */
} hot_plan;

struct hot_model {
    const char *name;
    const char *help;        /* what it is, in a sentence or two */
    double regularise;       /* default Laplace-Beltrami weight */
    int needs_response;
    int weighs_noise;        /* with the default regularisation, prepare makes use of plan->noise */
    /* Which volumes enter the fit at plan->order: fills used, used_count (gradients and b follow). say != 0: logs what
     * a user would wonder about. Errors: HOT_ERROR_DATA when no choice supports the order. */
    hot_status (*select)(hot_plan *plan, int say);
    /* The matrices, from the used volumes. */
    hot_status (*prepare)(hot_plan *plan);
    /* signals: count x volumes; s0: the mean b=0 signal, 0 marks a voxel that must stay empty. work: count x used
     * floats of scratch. values: count x hot_plan_width: the tensor goes to values[1 ...] of each row, then what is
     * extra; a voxel that turns out not to be solvable gets s0 = 0. */
    hot_status (*fit)(const hot_plan *plan, size_t count, const float *signals, float *s0, float *work, float *values);
};

#define MODEL_DECLARE(NAME) extern const hot_model hot_model_##NAME;
MODELS(MODEL_DECLARE)
#undef MODEL_DECLARE

/* The model of a name, or NULL; and the list, ended by NULL, static storage. */
const hot_model *hot_model_find(const char *name);
const hot_model *const *hot_model_list(void);

/* A plan for `order` (0 = 6, or the highest below it that the gradients support). Free with hot_plan_free. */
hot_status hot_plan_make(hot_context *context, const hot_dwi *dwi, const hot_fit_options *options,
                         const hot_response *response, int say, hot_plan **plan);
void hot_plan_free(hot_plan **plan);

/* Values of a fitted voxel: the confidence, the tensor, and what else the model finds. */
static inline size_t hot_plan_width(const hot_plan *plan) { return 1 + plan->terms + plan->extra; }

/* Makes the matrices again for signals with this noise (models that weigh noise). */
hot_status hot_plan_set_noise(hot_plan *plan, double noise);

/* The noise of the signals over the b=0 signal by what diffusion tensors leave of them, the median of up to 1000
 * voxels; 0 = no directions are left over. For data in which nothing else tells it. */
hot_status hot_plan_tensor_residual(const hot_plan *plan, const hot_mask *mask, double *noise);
/* Simulates voxels of one and two fibres, fits them, and counts those whose maxima are as many (recovered.c): sets the
 * field's `simulated` and `recovered` if the order is 4 or higher and the noise is known. */
hot_status hot_plan_recover(const hot_plan *plan, const hot_mask *mask, hot_tensor_field *field);

/* Fits `count` voxels: signals count x volumes, values count x hot_plan_width with the confidence first. work: count x
 * (used + 1) floats. */
hot_status hot_plan_fit(const hot_plan *plan, size_t count, const float *signals, float *work, float *values);

/* Fits `count` voxels given by their numbers, block by block: values count x hot_plan_width. */
hot_status hot_plan_fit_listed(const hot_plan *plan, const size_t *voxel, size_t count, const char *stage,
                               float *values);

/* Fits the voxels where inside[voxel] != 0, block by block: values voxels x (1 + terms), 0 elsewhere; extra: voxels x
 * plan->extra, likewise, or NULL. */
hot_status hot_plan_fit_voxels(const hot_plan *plan, const uint8_t *inside, const char *stage, float *values,
                               float *extra, size_t *fitted, size_t *flagged);

/* For select: all volumes of one shell (shell < 0: of all but b=0) become the used ones. */
void hot_plan_use_shell(hot_plan *plan, int shell);

/* The floor of a voxel's signals, relative to S0, before their logarithm; 0 if all signals are positive. */
float hot_plan_floor(size_t count, const float *ratio);
/* y[v][i] = the signal of used volume i divided by s0[v]; before a transform those below hot_plan_floor are lifted to
 * it. For models: the loop over voxels, threaded. */
typedef float hot_plan_transform(float ratio);
void hot_plan_ratios(const hot_plan *plan, size_t count, const float *signals, const float *s0, float *y,
                     hot_plan_transform *transform);
/* Plain least squares: y in work, and the tensors inverse y into values[1 ...]. */
hot_status hot_plan_fit_linear(const hot_plan *plan, size_t count, const float *work, float *values);

/* terms_of_order(4) = 15 */
static inline size_t hot_model_terms(int order) { return (size_t)(order + 1) * (size_t)(order + 2) / 2; }
/* l of each harmonic in order: 0 2 2 2 2 2 4 ... */
static inline int hot_model_degree(size_t term)
{
    int l = 0;
    while (hot_model_terms(l) <= term)
        l += 2;
    return l;
}

/* (x . v)^order = sum_l a_l sum_m Y_lm(v) Y_lm(x): a_l for l = 0, 2, ..., order into a[l / 2]. */
void hot_model_power(int order, double *a);
/* The Legendre polynomial P_l(x). */
double hot_model_legendre(int l, double x);

/* ---- Response ---------------------------------------------------------------------------------------------- */

/* An empty response of so many rows. */
hot_status hot_response_make(hot_context *context, size_t shells, int lmax, hot_response **response);
hot_status hot_response_copy(hot_context *context, const hot_response *response, hot_response **copy);
/* S(theta) of one row, cosine = cos(theta). */
double hot_response_value(const hot_response *response, size_t row, double cosine);
/* HOT_ERROR_DATA when the response's harmonics do not reach the order of a tensor. */
hot_status hot_response_check_order(hot_context *context, const hot_response *response, int order);
/* Whether to estimate responses of three tissues instead of a fibre's: the model is multi-tissue and the data have at
 * least two shells in addition to b=0. */
int hot_response_wants_tissues(const hot_model *model, const hot_dwi *dwi);
/* Which row belongs to each shell of the data (row[shells], -1 = none). */
hot_status hot_response_match(hot_context *context, const hot_response *response, const hot_dwi *dwi, int *row);
/* Fits one fibre to the signals of one voxel: rotates `axis` (unit, a good start) and sets *weight, in least squares
 * over the shells that have a row (row[shells], of hot_response_match). s0: the voxel's b=0 signal. Returns the mean
 * squared misfit in units of s0. */
double hot_response_fit_axis(const hot_response *response, const hot_dwi *dwi, const int *row, const float *signals,
                             double s0, double axis[3], double *weight);
