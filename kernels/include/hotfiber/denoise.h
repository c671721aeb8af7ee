/* Denoising of diffusion-weighted data: principal component analysis in sliding windows, with the number of signal
 * components from the Marchenko-Pastur distribution (MP-PCA). */
#ifndef HOTFIBER_DENOISE_H
#define HOTFIBER_DENOISE_H

#include <hotfiber/context.h>

HOT_C_BEGIN

/* Upper limit of min(volumes, voxels of a window), the size of the matrices to diagonalise. */
enum { HOT_DENOISE_MAX = 1024 };

typedef enum hot_denoise_estimator {
    HOT_DENOISE_EXP2 = 0, /* Cordero-Grande et al. 2019: corrects for the noise that the signal components contain */
    HOT_DENOISE_EXP1      /* Veraart et al. 2016 */
} hot_denoise_estimator;

typedef struct hot_denoise_options {
    size_t size;          /* sizeof(hot_denoise_options) */
    size_t window[3];     /* voxels along i, j, k; 0 0 0 = the smallest cube of odd side with at least as many voxels as
                             there are volumes. Along an axis shorter than the window it covers the whole axis */
    size_t step[3];       /* voxels from one window to the next, 1 to window; 0 0 0 = 2 (1 for a window of 1 or 2). The
                             result in a voxel is the mean over all windows that contain it */
    hot_denoise_estimator estimator;
    int is_complex;       /* 1: signals are (re, im) pairs */
    /* A slab of a larger volume: of its `slices` slices, signals and mask hold slices first ... first + size[2] - 1,
     * and slices begin ... end - 1 are written (all counted in the whole volume). Windows have the same positions as
      * in the whole volume, so that slabs give exactly the result of one call, if the input has window[2] - 1
       * further slices on each side of those written, as far as the volume extends. slices = 0: signals hold the
        * whole volume. */
    size_t slices, first, begin, end;
    double progress[2];   /* the fractions, 0 to 1, that are reported when this call starts and when it is done, if it
                             is one part of a longer computation; 0 0 = 0 and 1 */
} hot_denoise_options;
#define HOT_DENOISE_OPTIONS_INIT HOT_SIZED(hot_denoise_options)

/* Denoises a volume, or a slab of one.
 *
 * options    NULL = defaults.
 * size       of signals and mask in voxels along i, j, k.
 * volumes    per voxel, at least 2.
 * signals    size[0] x size[1] x size[2] voxels, i fastest; the volumes of a voxel are contiguous, as floats or, with
 *            is_complex, as pairs (re, im).
 * mask       one byte per voxel; voxels with 0 are copied unchanged, but contribute to the windows of other voxels.
 *            NULL = all are denoised.
 * denoised   out: like signals (for a slab: slices begin ... end - 1 only).
 * noise      out: one float per voxel (the same slices), the standard deviation of the noise in the unit of the signals
 *            (of complex data: of the real and of the imaginary part), 0 outside the mask, NaN where no window could
 *            separate signal and noise; or NULL. On a GPU its square is a float: noise below 1e-19 or above 1e19 is
 *            given as 0 or Inf there: scale such signals first.
 *
 * A voxel with NaN or Inf in any volume is copied unchanged and counts as 0 in the windows of its neighbours. The
 * caller owns all arrays. Results do not depend on the number of threads; those of GPU and CPU differ by less than 1e-5
 * of the largest signal, because sums are taken in another order.
 * signals, mask, denoised and noise may be in a GPU's memory (hotfiber/device.h), with the same results; complex
 * signals begin at multiples of 8 bytes there.
 * Errors: HOT_ERROR_ARGUMENT, HOT_ERROR_DATA (fewer than 2 volumes), HOT_ERROR_MEMORY, HOT_ERROR_DEVICE,
 * HOT_ERROR_CANCELLED.
 * Method: each window gives a matrix (volumes x voxels). The smallest eigenvalues of its smaller Gram matrix that fit a
 * Marchenko-Pastur distribution are noise; the signals are projected onto the eigenvectors of the others. Veraart et
 * al., NeuroImage 142 (2016) 394; Cordero-Grande et al., NeuroImage 200 (2019) 391. */
HOT_API hot_status hot_denoise_f32(hot_context *context, const hot_denoise_options *options, const size_t size[3],
                                   size_t volumes, const float *signals, const uint8_t *mask, float *denoised,
                                   float *noise);

/* The window and the step, with defaults filled in, for a volume of `size` voxels. Callers that process slabs need them
 * to choose the slabs. options: NULL = defaults. */
HOT_API void hot_denoise_window(const hot_denoise_options *options, const size_t size[3], size_t volumes,
                                size_t window[3], size_t step[3]);

HOT_C_END
#endif
