/* Models: signals to tensor fields; the single-fibre response. Included by hotfiber.h. */
/* First of all, so that this header, too, can be included alone. */
#include <hotfiber/hotfiber.h>

#ifndef HOTFIBER_MODEL_H
#define HOTFIBER_MODEL_H

/* The single-fibre response: a row of zonal SH coefficients (l = 0, 2, 4, ...) per shell, in the signal's own units
 * (MRtrix's convention: the coefficient of Y_l0, S(theta) = sum_l r_l Y_l0(theta)), with the shells' b-values. A row
 * whose b is at most 50 is the b=0 signal: what makes the fod's weights volume fractions. Responses
 * made here have one. */
HOT_API hot_status hot_response_load(hot_context *context, const char *path, hot_response **response);
/* Those of several tissues from files whose names are separated by commas: at most HOT_TISSUES_MAX, into responses[];
 * count (out): how many. After a failure there is none. */
enum { HOT_TISSUES_MAX = 8 };
HOT_API hot_status hot_response_load_tissues(hot_context *context, const char *paths,
                                             hot_response *responses[HOT_TISSUES_MAX], size_t *count);
/* A response from memory: rows of lmax / 2 + 1 zonal coefficients (l = 0, 2, ..., lmax) for `shells` shells with the
 * b-values b, s/mm^2; copied. One row should be that of b=0 (b at most 50). lmax: even, 0 to 16.
 * Owner: the caller, until hot_response_destroy. Errors: HOT_ERROR_ARGUMENT (no shell, lmax, a value that is no
 * number), HOT_ERROR_MEMORY. */
HOT_API hot_status hot_response_create(hot_context *context, size_t shells, int lmax, const double *b,
                                       const double *rows, hot_response **response);
/* A set of directions from a text file: a line of x y z each, or of azimuth and inclination in radians (as MRtrix's
 * dirgen writes them). directions (out): count x 3, the caller's, to be freed with hot_context_free. */
HOT_API hot_status hot_directions_table_load(hot_context *context, const char *path, double **directions,
                                             size_t *count);
/* From the data: voxels of one fibre are chosen iteratively (Tournier 2013), per shell. voxels (may be NULL): how
 * many were used. Errors: HOT_ERROR_DATA when no voxel looks like a single fibre, or the mask has other sizes. */
HOT_API hot_status hot_response_estimate(hot_context *context, const hot_dwi *dwi, const hot_mask *mask, int lmax,
                                         hot_response **response, size_t *voxels);
/* Of white matter, grey matter and CSF, from the data alone: CSF has the fastest decay with b, grey matter the median
 * decay of isotropic voxels, white matter the sharpest single peaks. erode: by how many voxels the mask is eroded
 * first; 0: 3, the default for a mask of the whole brain, or fewer in thin volumes (a note is printed); HOT_ZERO: none.
 * responses (out): white matter's with lmax (0 = 8), the others of lmax 0; the caller's, until hot_response_destroy;
 * all NULL after a failure. voxels (may be NULL): how many made each. Errors: HOT_ERROR_DATA (no b=0 volume, nothing
 * looks like one of the tissues), HOT_ERROR_MEMORY. Source: Dhollander et al. 2016, 2019. */
HOT_API hot_status hot_response_estimate_tissues(hot_context *context, const hot_dwi *dwi, const hot_mask *mask,
                                                 int lmax, int erode, hot_response *responses[3], size_t voxels[3]);
/* Of a cylindrical diffusion tensor: from its axial and radial diffusivity, mm^2/s, and the signal at b=0, for the
 * shells of `dwi`. */
HOT_API hot_status hot_response_tensor(hot_context *context, const hot_dwi *dwi, double axial, double radial,
                                       double s0, int lmax, hot_response **response);
/* Checks whether a response can be one of a fibre (bright across it, dark along it, rising in between, alternating
 * signs, falling with b) and logs a warning for each doubt. warnings (may be NULL): how many. */
HOT_API hot_status hot_response_check(hot_context *context, const hot_response *response, size_t *warnings);
/* MRtrix's text format: a row per shell, "# Shells: ..." in a comment, and "# Typical fibre: ..." if the response was
 * estimated: the strength of the data's typical single fibre relative to the response, which is that of the sharpest.
 * path "-" = standard output. */
HOT_API hot_status hot_response_save(hot_context *context, const hot_response *response, const char *path);
HOT_API void hot_response_destroy(hot_response **response);
HOT_API size_t hot_response_shells(const hot_response *response);
HOT_API int hot_response_lmax(const hot_response *response);
/* The row of one shell (lmax / 2 + 1 values; owned by the response) and its b-value (NaN when the file did not say). */
HOT_API const double *hot_response_row(const hot_response *response, size_t shell, double *b);
/* The noise of the voxels that it was made from: its deviation over their b=0 signal, from 0 to below 1, by which the
 * signal method takes the bias of magnitudes off the rows; 0 = not known, then the noise of the data counts. Files and
 * copies keep it. Not to be set while another thread uses the response. Errors: HOT_ERROR_ARGUMENT (no response; a
 * noise out of range). */
HOT_API double hot_response_noise(const hot_response *response);
HOT_API hot_status hot_response_set_noise(hot_response *response, double noise);

/* The model msmt's tensor of one fibre v of weight 1. */
typedef enum hot_fit_kernel {
    HOT_KERNEL_RANK1, /* the rank-1 tensor v^(x m): weights are volume fractions, as with fod */
    HOT_KERNEL_DELTA  /* the harmonics of a delta at v up to the order, as MRtrix has it: its form is MRtrix's fODF */
} hot_fit_kernel;

typedef struct hot_fit_options {
    size_t size;           /* sizeof(hot_fit_options) */
    const char *model;     /* "adc", "odf", "fod" or "msmt"; NULL = "fod" */
    int order;             /* 2, 4, 6 or 8; 0 = 6, or the highest the scheme supports when that is lower */
    const hot_response *response; /* for fod, and white matter's for msmt; NULL = estimated from the data (for msmt with
                              two shells or more beside b=0: those of all three tissues) */
    double regularise;     /* Laplace-Beltrami weight; 0 = the model's default (fod: by the noise that the data have,
                              nothing without noise; a log line says how much); HOT_ZERO = none */
    int positive;          /* adc: refit voxels whose diffusivity is negative somewhere, so that it is not */
    int weighted;          /* adc: signal-weighted least squares (0 or 1) or plain (HOT_ZERO) */
    int estimate_s0;       /* adc: 1: ln S0 is estimated together with the tensor, from all volumes; 0: S0 is the mean
                              b=0 signal */
    const hot_response *const *tissues; /* msmt: the responses of isotropic tissues (grey matter, CSF), at most
                              HOT_TISSUES_MAX - 1; NULL = one as of free water */
    size_t tissue_count;
    hot_constraint constraint;     /* msmt */
    hot_fit_kernel kernel;         /* msmt */
    const double *directions; /* msmt: x, y, z of each direction in which the form is held; NULL = 300, evenly spread */
    size_t direction_count;
    int normalise;         /* msmt: tensors and amounts are divided by a smooth field (1), after which the amounts add
                              up to about 1 (Raffelt et al. 2017, Dhollander et al. 2021) */
} hot_fit_options;
#define HOT_FIT_OPTIONS_INIT HOT_SIZED(hot_fit_options)

/* Fits the model in every voxel of the mask, slab by slab. Voxels that cannot be fitted (NaN, no b=0 signal ...) are
 * flagged: their confidence is 0 and their values 0. dwi, mask: not changed; of equal sizes. options: NULL =
 * defaults; its response is copied. Owner of *field: the caller, until hot_tensor_field_destroy; NULL after a failure.
 * Errors: HOT_ERROR_ARGUMENT (model, order), HOT_ERROR_DATA (sizes differ, no b=0 volume, too few directions, a
 * response without a shell), HOT_ERROR_MEMORY, HOT_ERROR_DEVICE, HOT_ERROR_CANCELLED. Any number of
 * threads, same result. */
HOT_API hot_status hot_tensor_field_fit(hot_context *context, const hot_dwi *dwi, const hot_mask *mask,
                                        const hot_fit_options *options, hot_tensor_field **field);
/* The diffusion tensor for FA and MD: model adc of order 2, ln S0 and tensor by weighted least squares, from the b=0
 * volumes and the shells up to b_max (s/mm^2, to 5 %; typically 1500). If these do not determine a tensor, the next
 * shells are used as well, with a note. Owner of *field: the caller. Errors as
 * hot_tensor_field_fit. */
HOT_API hot_status hot_diffusion_tensor_fit(hot_context *context, const hot_dwi *dwi, const hot_mask *mask,
                                            double b_max, hot_tensor_field **field);
HOT_API void hot_tensor_field_destroy(hot_tensor_field **field);
HOT_API const hot_grid *hot_tensor_field_grid(const hot_tensor_field *field);
HOT_API int hot_tensor_field_order(const hot_tensor_field *field);
HOT_API const char *hot_tensor_field_model(const hot_tensor_field *field);
/* voxels x (1 + unique values): confidence (1 fitted, 0 not) and the packed tensor in world axes.
 * Owned by the field. */
HOT_API const float *hot_tensor_field_values(const hot_tensor_field *field);
/* A field from memory, for directions or export. order: 2, 4 ... 12. model: "adc", "odf" or "fod" ("fod" has peaks
 * that are volume fractions). values: voxels x (1 + unique values), i fastest: confidence (0 = not fitted), then the
 * packed tensor in world axes, unique values in lexicographic order (xxxx xxxy xxxz xxyy ...), not multiplied by their
 * multiplicity; copied. Owner: the caller, until hot_tensor_field_destroy. Errors: HOT_ERROR_ARGUMENT,
 * HOT_ERROR_MEMORY. */
HOT_API hot_status hot_tensor_field_create(hot_context *context, const hot_grid *grid, int order, const char *model,
                                           const float *values, hot_tensor_field **field);
/* msmt: how many tissues a field has, white matter first (0 with other models); and their amounts (voxels x tissues: of
 * white matter the sum of the fibres' weights, of others the part of their response) and the residual of the optimality
 * conditions of each voxel's fit (voxels). amounts, residual: the caller's, either may be NULL. Errors:
 * HOT_ERROR_ARGUMENT (a field of another model). */
HOT_API size_t hot_tensor_field_tissues(const hot_tensor_field *field);
HOT_API hot_status hot_tensor_field_amounts(hot_context *context, const hot_tensor_field *field, float *amounts,
                                            float *residual);
/* Writes them to an image: a volume for each tissue, white matter first; or the residual. */
HOT_API hot_status hot_tensor_field_save_tissues(hot_context *context, const hot_tensor_field *field, const char *path);
HOT_API hot_status hot_tensor_field_save_residual(hot_context *context, const hot_tensor_field *field,
                                                  const char *path);
/* Writes harmonics of a tissue (0: white matter) as MRtrix's dwi2fod msmt_csd leaves them: in its basis and scanner
 * axes, an amount of 1 being .2821 of degree 0; of other tissues than white matter degree 0 alone. Errors:
 * HOT_ERROR_ARGUMENT (no such tissue) and those of hot_tensor_field_save. */
HOT_API hot_status hot_tensor_field_save_tissue_sh(hot_context *context, const hot_tensor_field *field, size_t tissue,
                                                   const char *path);
/* The response used (fod), or NULL; how many voxels were fitted and how many flagged. */
HOT_API const hot_response *hot_tensor_field_response(const hot_tensor_field *field);
HOT_API void hot_tensor_field_counts(const hot_tensor_field *field, size_t *fitted, size_t *flagged);

#endif
