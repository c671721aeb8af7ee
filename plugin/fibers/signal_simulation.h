/* Simulated voxels: drawn from the priors of a data set, so that their numbers of fibres are known, and fitted as the
 * data are. */
#pragma once

#include <hotfiber/hotfiber.h>

/* Simulates `count` voxels of 0 to max_fibers fibres, each with its own random stream under `seed`. misfit: relative
 * amplitude of the misfit (HOT_SIGNAL_MISFIT_SHARE). snr: count, S0 over the noise given to the fits; signals (out):
 * count x scheme->volumes in units of that noise; fibers (out): count numbers of fibres; directions (out): count x 9,
 * those of the fibres; scratch: threads x scheme->volumes numbers. Any number of threads simulates the same. */
void hot_signal_simulate(const hot_signal_priors *population, const hot_signal_scheme *scheme,
                     hot_noise_model noise_model, int max_fibers, double misfit, uint64_t seed, size_t count,
                     const double *snr, int threads, double *scratch, float *signals, uint8_t *fibers,
                     float *directions);

enum { HOT_SIMULATED_KMAX = 3 };

typedef struct hot_simulated_voxels {
    hot_context *context;
    const hot_signal_options *options; /* of the fits; their population is that of each call */
    const hot_signal_scheme *scheme;   /* as the fits see it */
    size_t room, count;
    hot_signal_fit *fits;              /* count x 4 */
    uint8_t *fibers, *found;           /* as drawn, and as the fits find */
    float *directions;                 /* count x 9, as drawn */
    int max_fibers;
    size_t rows;                       /* signals of a voxel, all b=0 volumes being one */
    float *peaks, *signals;
    double *scratch, *snr, *response;
} hot_simulated_voxels;

/* Memory for up to `room` voxels. options and scheme must stay. */
hot_status hot_simulated_make(hot_context *context, const hot_signal_options *options, const hot_signal_scheme *scheme,
                          size_t room, hot_simulated_voxels *drawn);
void hot_simulated_free(hot_simulated_voxels *drawn);

/* Draws `count` voxels from `from` and fits them with the priors of `population`. snr: of `known` voxels, S0 over the
 * noise given to the fits, taken in turn. misfit, seed: as hot_signal_draw. */
hot_status hot_simulate_voxels(hot_simulated_voxels *drawn, const hot_signal_priors *from,
                          const hot_signal_priors *population, double misfit, uint64_t seed, size_t count,
                          const double *snr, size_t known);
