/* Denoising of diffusion data by Marchenko-Pastur principal components. */
#ifndef HOTFIBER_DENOISE_H
#define HOTFIBER_DENOISE_H

#include <hotfiber/context.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HOT_DENOISE_MAX = 1024 }; /* the most volumes, or voxels of a window: the smaller of the two */

typedef enum hot_noise_estimator {
    HOT_NOISE_EXP2 = 0, /* Cordero-Grande 2019: what the signal components take of the noise is accounted for */
    HOT_NOISE_EXP1      /* Veraart 2016 */
} hot_noise_estimator;

typedef struct hot_denoise_options {
    size_t size;          /* sizeof(hot_denoise_options) */
    size_t window[3];     /* voxels along i, j, k; 0 0 0 = the smallest cube of odd side with at least as many voxels as
                             there are volumes; along an axis that is shorter, the whole axis */
    size_t step[3];       /* voxels from one window to the next, 1 to window; 0 0 0 = 2 (or less for a smaller window).
                             A voxel's answer is the mean of all windows that it lies in */
    hot_noise_estimator estimator;
    int is_complex;       /* 1: signals are (re, im) pairs */
    /* A stack of slices out of a volume: signals and mask hold slices first ... first + size[2] - 1 of `slices`, and
     * only slices begin ... end - 1 (of the whole volume) are written. The windows stand where they would stand in the
     * whole volume, so that slabs together give what one call gives, bit for bit; a slab needs window[2] - 1 slices
     * more on each side than it writes, where the volume has them. slices = 0: the whole volume is here. */
    size_t slices, first, begin, end;
    double progress[2];   /* of the caller's whole work, where this call begins and ends; 0 0 = 0 1 */
} hot_denoise_options;

/* signals: size[0] x size[1] x size[2] voxels, i fastest, each with `volumes` floats (or pairs) in a row. mask:
 * one byte per voxel, NULL = all; voxels with 0 come out as they went in, but windows of others use them.
 * Out: denoised (like signals); noise (floats, one per voxel; may be NULL): the standard deviation of the noise
 * (for complex data: of each of the two parts), 0 outside the mask, NaN where no window could tell signal from
 * noise. With slabs they hold slices begin ... end - 1 only. A voxel with NaN or Inf in a volume comes out as it
 * went in, and counts as zero in its neighbours' windows.
 * Errors: HOT_ERROR_ARGUMENT, HOT_ERROR_DATA (fewer than 2 volumes), HOT_ERROR_MEMORY, HOT_ERROR_DEVICE,
 * HOT_ERROR_CANCELLED. The same answer for any number of threads; the GPU's is the CPU's within 1e-5 of the
 * largest signal (eigenvalues in double precision, sums over windows in single precision, both in other orders).
 * Method: in each window the matrix of signals (volumes x voxels); of the eigenvalues of its smaller Gram matrix
 * the largest that fit no Marchenko-Pastur distribution are signal, the rest is noise; signals are projected onto
 * the signal's eigenvectors. Veraart et al., NeuroImage 142 (2016) 394; Cordero-Grande et al., NeuroImage 200
 * (2019) 391. */
HOT_API hot_status hot_denoise_f32(hot_context *context, const hot_denoise_options *options, const size_t size[3],
                                   size_t volumes, const float *signals, const uint8_t *mask, float *denoised,
                                   float *noise);

/* The window and step that the options mean for a volume of this size; slabs are cut by them. */
HOT_API void hot_denoise_window(const hot_denoise_options *options, const size_t size[3], size_t volumes,
                                size_t window[3], size_t step[3]);

#ifdef __cplusplus
}
#endif
#endif
