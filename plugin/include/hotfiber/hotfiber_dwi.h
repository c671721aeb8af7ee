/* Diffusion-weighted data: reading, geometry, mask, phantom. Included by hotfiber.h. */
/* First of all, so that this header, too, can be included alone. */
#include <hotfiber/hotfiber.h>

#ifndef HOTFIBER_DWI_H
#define HOTFIBER_DWI_H

/* Confines the data files of headers (`data file:` of NRRD, `file:` of MIF) to the header's folder and its subfolders,
 * by their names (without `..`) and with all links resolved: a header with a data file elsewhere is refused
 * (HOT_ERROR_FILE). For data of unknown origin. confined: 0 (the default) or 1; effective from the next call with this
 * context on. */
HOT_API void hot_context_confine(hot_context *context, int confined);
HOT_API int hot_context_confined(const hot_context *context);

/* Reads a diffusion data set: NRRD with the NA-MIC keys, NIfTI or MRtrix's MIF ("-" = standard input).
 * bval, bvec: NULL for NRRD. For NIfTI and MIF, FSL's tables; or bval alone: a gradient table of MRtrix, lines of
 * x y z b in scanner axes. Both NULL: MIF's own dw_scheme, else the tables next to the image: NAME.b, NAME.bval and
 * NAME.bvec, those of BIDS' inheritance, bvals and bvecs in its folder. Volumes of NIfTI and MIF with a b-value above
 * 100 s/mm^2 and no direction (means over the directions) are left out, with a warning. The samples stay in the file's
 * type in memory; hot_dwi_read converts the requested ones.
 * Owner: the caller, until hot_dwi_destroy. Errors: HOT_ERROR_FILE, HOT_ERROR_FORMAT, HOT_ERROR_DATA,
 * HOT_ERROR_MEMORY. */
HOT_API hot_status hot_dwi_load(hot_context *context, const char *path, const char *bval, const char *bvec,
                                hot_dwi **dwi);

/* A data set from memory.
 * grid: sizes, voxel -> world matrix and the meaning of the world's axes; copied. volumes: how many. b: volumes,
 * s/mm^2.
 * gradients: volumes x 3, in world axes of grid->space, need not be unit (only their direction counts; ignored where
 * b is 0). signals: volumes x voxels floats in [volume][k][j][i] order (i fastest), in any unit; copied. NaN and values
 * that are not positive are kept, and flagged by the fits.
 * Owner: the caller, until hot_dwi_destroy. Errors: HOT_ERROR_ARGUMENT (a size of 0, or more than memory can hold; a
 * matrix that is singular or not finite; an unknown space), HOT_ERROR_DATA (a b-value that is negative, infinite or
 * NaN, a gradient of length 0 with b > 100; the message names the volume), HOT_ERROR_MEMORY. The data set is read-only:
 * several threads may use it, each with its own context. */
HOT_API hot_status hot_dwi_create(hot_context *context, const hot_grid *grid, size_t volumes, const double *b,
                                  const double *gradients, const float *signals, hot_dwi **dwi);
HOT_API void hot_dwi_destroy(hot_dwi **dwi);

HOT_API const hot_grid *hot_dwi_grid(const hot_dwi *dwi);
HOT_API size_t hot_dwi_volumes(const hot_dwi *dwi);
/* b-values in s/mm^2 and unit gradient directions (volumes x 3, world; 0 0 0 where b = 0). Owned by the dwi. */
HOT_API const double *hot_dwi_b(const hot_dwi *dwi);
HOT_API const double *hot_dwi_gradients(const hot_dwi *dwi);
/* The file it came from, "" for memory. */
HOT_API const char *hot_dwi_source(const hot_dwi *dwi);

/* Signals of voxels first ... first + count - 1 as floats, signals[voxel][volume]. Scaling of the file applied;
 * nothing else done (NaN and negative values come through). */
HOT_API hot_status hot_dwi_read(hot_context *context, const hot_dwi *dwi, size_t first, size_t count, float *signals);

/* Shells: groups of volumes of nearly equal b (b <= 50 s/mm^2 is shell 0, the b=0 volumes; if there are none, b <= 100,
 * with a note, and b[0] is 0).
 * shell_of[volumes] and b[shells] are owned by the dwi; ascending b. */
HOT_API size_t hot_dwi_shells(const hot_dwi *dwi, const double **b, const int **shell_of);
/* Whether shell 0 is b=0. */
HOT_API int hot_dwi_has_b0(const hot_dwi *dwi);
enum { HOT_ANY_SHELL = -1 };
/* The highest even order (0, 2, 4, 6, 8) whose tensor the directions of one shell determine: enough directions that
 * are distinct up to sign, and a well-conditioned design matrix. shell: its number, or HOT_ANY_SHELL: the one that
 * supports most. -1: no such shell, or memory is short (and the message set). */
HOT_API int hot_dwi_highest_order(hot_context *context, const hot_dwi *dwi, int shell);

/* Which voxels to compute. A mask file (NRRD, NIfTI or MIF, any scalar type, non-zero = inside) is put into the grid's
 * order of voxels by its position: exactly where it is the same grid up to flips and permutations of the axes, else by
 * nearest neighbour. One without a position must have the grid's sizes and is taken in its own order. Errors:
 * HOT_ERROR_FILE, HOT_ERROR_FORMAT, HOT_ERROR_DATA (elsewhere, empty, other sizes), HOT_ERROR_MEMORY. */
HOT_API hot_status hot_mask_load(hot_context *context, const char *path, const hot_grid *grid, hot_mask **mask);
/* The built-in mask, from the mean b=0 image: Otsu's threshold on its median-smoothed copy, without pieces of less than
 * a twentieth of the largest one, with holes filled: all in the volume, and those in a slice that lose signal by
 * diffusion, as deep white matter does. All voxels if there is no background: if the dark part loses
 * signal by diffusion like tissue. */
HOT_API hot_status hot_mask_estimate(hot_context *context, const hot_dwi *dwi, hot_mask **mask);
/* A mask from memory. inside: one byte per voxel of the grid, i fastest, 0 = outside; copied.
 * Owner: the caller, until hot_mask_destroy. Errors: HOT_ERROR_ARGUMENT (a grid as hot_dwi_create refuses it),
 * HOT_ERROR_MEMORY. */
HOT_API hot_status hot_mask_create(hot_context *context, const hot_grid *grid, const uint8_t *inside, hot_mask **mask);
/* All voxels inside. */
HOT_API hot_status hot_mask_full(hot_context *context, const hot_grid *grid, hot_mask **mask);
HOT_API void hot_mask_destroy(hot_mask **mask);
/* Writes a mask, a byte per voxel: NIfTI by name, else NRRD ("-" = standard output). Errors: HOT_ERROR_FILE,
 * HOT_ERROR_MEMORY, HOT_ERROR_CANCELLED. */
HOT_API hot_status hot_mask_save(hot_context *context, const hot_mask *mask, const char *path);
/* One byte per voxel, 1 = inside; owned by the mask. */
HOT_API const uint8_t *hot_mask_bytes(const hot_mask *mask);
HOT_API size_t hot_mask_count(const hot_mask *mask);

/* The noise's standard deviation and the SNR of the mean b=0 signal inside the mask: from the spread between b=0
 * volumes when there are two or more (repeats = their number), else from nothing: sigma = NaN. Voxels far brighter than
 * all others (ten times what 95 % do not exceed) are damaged and not counted.
 * Errors: HOT_ERROR_DATA (a mask of other sizes), HOT_ERROR_MEMORY, HOT_ERROR_CANCELLED. */
HOT_API hot_status hot_dwi_noise(hot_context *context, const hot_dwi *dwi, const hot_mask *mask, double *sigma,
                                 double *snr, size_t *repeats);
/* Whether the noise is Gaussian or that of magnitudes (Rician), judged by how many of the diffusion-weighted samples of
 * up to 2000 voxels of the mask are negative (or, where none is, zero, and how many are small beside these: zeros that
 * motion correction left are no noise). *share: of these samples, those of at most 0.
 * Errors: HOT_ERROR_DATA (a mask of other sizes), HOT_ERROR_MEMORY, HOT_ERROR_CANCELLED. */
HOT_API hot_status hot_dwi_noise_model(hot_context *context, const hot_dwi *dwi, const hot_mask *mask,
                                       hot_noise_model *model, double *share);

/* A denoised copy (float samples, the same volumes, grid and gradients): see hot_denoise_f32. mask: voxels outside
 * do not change. noise (voxels; may be NULL): the noise's standard deviation. The data are read slab by slab;
 * the window's fields of options (NULL: the defaults) are used, is_complex and the slab's are not.
 * Owner: the caller, until hot_dwi_destroy. Errors as hot_denoise_f32 and hot_dwi_read, and HOT_ERROR_DATA (a mask of
 * other sizes). */
HOT_API hot_status hot_dwi_denoise(hot_context *context, const hot_dwi *dwi, const hot_mask *mask,
                                   const hot_denoise_options *options, hot_dwi **denoised, float *noise);
/* Writes a noise map on the data's grid: NIfTI or MIF by name, else NRRD ("-" = standard output). */
HOT_API hot_status hot_dwi_save_noise(hot_context *context, const hot_dwi *dwi, const float *noise, const char *path);

/* HOT_ERROR_ARGUMENT when `path` is, by whatever name, one of the files the data came from (header, data files, bval,
 * bvec): an input is never overwritten. */
HOT_API hot_status hot_dwi_check_distinct(hot_context *context, const hot_dwi *dwi, const char *path);

/* Writes the DWI as NRRD (identity measurement frame, b-value coded in the gradients' lengths), for .nii and .nii.gz as
 * NIfTI with .bval and .bvec, or for .mif, .mif.gz and .mih as MIF with dw_scheme. path "-" = NRRD to standard
 * output. */
HOT_API hot_status hot_dwi_save(hot_context *context, const hot_dwi *dwi, const char *path);

/* The grid's matrix in scanner RAS: rows of to_world negated where the space says L or P. */
HOT_API void hot_grid_to_ras(const hot_grid *grid, double ras[3][4]);
/* +1 / -1 per world axis: multiply a world vector by it to get RAS. */
HOT_API void hot_space_ras_sign(hot_space space, double sign[3]);

#endif
