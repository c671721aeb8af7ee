/* Fibre directions from tensor fields. Included by hotfiber.h. */
/* First of all, so that this header, too, can be included alone. */
#include <hotfiber/hotfiber.h>

#ifndef HOTFIBER_FIBERS_H
#define HOTFIBER_FIBERS_H

typedef struct hot_peaks_options {
    size_t size;         /* sizeof(hot_peaks_options) */
    const char *method;  /* one of hot_peaks_method_name; NULL = "maxima" (hot_run: the default of its model) */
    int max_fibers;      /* 0 = 3; at most 16 with maxima and sshopm, 3 with the others */
    double threshold;    /* fraction of the largest peak, 0 to 1; 0 = the method's default; HOT_ZERO = none */
    double min_angle;    /* degrees, up to 90; 0 = the method's default; HOT_ZERO = none */
    size_t starts;       /* sshopm: how many starting vectors; 0 = 128. The other methods refuse it */
    double min_amplitude; /* absolute: peaks below it are dropped; 0 = the model's default: .1 for fod and msmt, whose
                             peaks are volume fractions, so that noise and isotropic voxels give no fibre; none
                             else; HOT_ZERO = none */
    hot_shift shift;     /* sshopm: the shift; default HOT_SHIFT_ADAPTIVE */
    double alpha;        /* with HOT_SHIFT_FIXED: its value, at least 0 */
    const hot_mask *mask; /* where to compute, of the field's sizes; NULL = wherever a tensor was fitted */
} hot_peaks_options;
#define HOT_PEAKS_OPTIONS_INIT HOT_SIZED(hot_peaks_options)

/* The methods: signal (0 to 3 fibres fitted to the signals), sshopm (SS-HOPM from many starts, eigenvectors clustered:
 * Ballard, Kolda, Plantenga 2011), maxima (the same maxima by a scan of the sphere), lowrank (rank-1 terms).
 * Returns the name of method `index` (0, 1, ...), NULL after the last, and its one-line help (may be NULL). Static
 * storage. */
HOT_API const char *hot_peaks_method_name(size_t index, const char **help);

/* Fibre directions of every voxel with a fitted tensor (confidence above 0) inside the mask, by any method but signal,
 * which takes signals (hot_fiber_field_signal). A tensor with NaN or Inf, an isotropic one and one that is nowhere
 * positive have none. Owner of *fibers: the caller. Errors: HOT_ERROR_ARGUMENT (hot_context_parameter names the option
 * at fault: one that the method does not take, max_fibers, method with a model or order that it does not go with),
 * HOT_ERROR_DATA (a mask of other sizes), HOT_ERROR_MEMORY, HOT_ERROR_DEVICE, HOT_ERROR_CANCELLED. Any number of
 * threads, same result. */
HOT_API hot_status hot_fiber_field_find(hot_context *context, const hot_tensor_field *tensors,
                                        const hot_peaks_options *options, hot_fiber_field **fibers);
/* One number per voxel from a tensor field, into values (voxels, i fastest; 0 where no tensor was fitted).
 * name: "fa", "md" (mm^2/s) of order-2 tensors of the model adc; of the model fod "afd_total" (the coefficient of
 * degree 0 in orthonormal spherical harmonics), "afd_sum" (the root of the sum of all squared coefficients), "afd_max"
 * (the largest value on the sphere), "nufo" (the number of maxima at least 25 degrees apart that rise above the lowest
 * value, or above 0 if that is negative, by a tenth of what the largest does; at most 5).
 * Errors: HOT_ERROR_ARGUMENT (name), HOT_ERROR_DATA (tensors of another model or order), HOT_ERROR_MEMORY,
 * HOT_ERROR_DEVICE, HOT_ERROR_CANCELLED.
 * Source: Raffelt et al. 2012 (AFD); Dell'Acqua et al. 2013 (NuFO). */
HOT_API hot_status hot_tensor_field_map(hot_context *context, const hot_tensor_field *tensors, const char *name,
                                        float *values);

/* The same directions with the amplitudes that MRtrix's dwi2fod csd and sh2peaks give a fibre with the same response:
 * the length times the fODF's peak for a signal that is the response, of its outermost shell, and, with b0, times the
 * voxel's b=0 signal over the response's. response: NULL = the one that the directions came with. directions: how many
 * gradients that shell has, on which the peak depends a little; 0 = 60. b0: a value per voxel of the directions' grid,
 * in the unit of the response; NULL = every voxel is as bright as the response. Owner of *scaled: the caller. Errors:
 * HOT_ERROR_ARGUMENT (no response is known), HOT_ERROR_DATA (a response without a shell), HOT_ERROR_MEMORY,
 * HOT_ERROR_CANCELLED.
 * Source: Tournier, Calamante, Connelly 2007. */
HOT_API hot_status hot_fiber_field_fod_amplitude(hot_context *context, const hot_fiber_field *fibers,
                                                 const hot_response *response, size_t directions, const float *b0,
                                                 hot_fiber_field **scaled);

/* Directions from memory, for export or scores. max_fibers: 1 to 255 per voxel. peaks: voxels x 3 * max_fibers floats,
 * i fastest, vectors in world axes of grid->space whose length is the fibre's strength; copied, and put in order:
 * longest first, one half sphere, absent ones (zero, NaN, Inf) last and 0. counts are those of the vectors kept.
 * Owner: the caller, until hot_fiber_field_destroy. Errors: HOT_ERROR_ARGUMENT, HOT_ERROR_MEMORY,
 * HOT_ERROR_CANCELLED. */
HOT_API hot_status hot_fiber_field_create(hot_context *context, const hot_grid *grid, int max_fibers,
                                          const float *peaks, hot_fiber_field **fibers);
HOT_API void hot_fiber_field_destroy(hot_fiber_field **fibers);
HOT_API const hot_grid *hot_fiber_field_grid(const hot_fiber_field *fibers);
HOT_API int hot_fiber_field_max(const hot_fiber_field *fibers);
/* voxels x 3 * max: world vectors of length amplitude, longest first, absent = 0, one hemisphere.
 * Owned by the field. */
HOT_API const float *hot_fiber_field_peaks(const hot_fiber_field *fibers);
/* How many fibres each voxel has. Owned by the field. */
HOT_API const uint8_t *hot_fiber_field_counts(const hot_fiber_field *fibers);
/* How certain each fibre is, voxels x max, 0 to 1: the probability of at least so many fibres (hot_signal_maps), times
 * that of a direction within 15 degrees of the true one, if errors are normal with 95 % of them in its cone. hot_run
 * and hot_run_compute set it with the method signal. In masks of more than 400,000 voxels it is the first of the two
 * probabilities alone, unless keep_cones is set. NULL = not known. Owned by the field. */
HOT_API const float *hot_fiber_field_certainty(const hot_fiber_field *fibers);
/* Sets it, for pictures and colours (hot_export_picture, the formats png and dec), which fade fibres by it. certainty:
 * voxels x max, copied; values beyond 0 to 1 are clamped, NaN counts as 0; NULL = none is known. Errors:
 * HOT_ERROR_ARGUMENT (no fibers), HOT_ERROR_MEMORY. */
HOT_API hot_status hot_fiber_field_set_certainty(hot_context *context, hot_fiber_field *fibers,
                                                 const float *certainty);

#endif
