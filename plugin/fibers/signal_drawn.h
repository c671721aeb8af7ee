/* Voxels drawn from a population, of which everything is known, and the fits to them. */
#ifndef HOT_FIBERS_SIGNAL_DRAWN_H
#define HOT_FIBERS_SIGNAL_DRAWN_H

#include <hotfiber/hotfiber.h>

enum { HOT_DRAWN_KMAX = 3 };

typedef struct hot_drawn {
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
} hot_drawn;

/* Memory for up to `room` voxels. options and scheme must stay. */
hot_status hot_drawn_make(hot_context *context, const hot_signal_options *options, const hot_signal_scheme *scheme,
                          size_t room, hot_drawn *drawn);
void hot_drawn_free(hot_drawn *drawn);

/* Draws `count` voxels from `from` and fits them with the priors of `population`. snr: of `known` voxels, S0 over the
 * noise given to the fits, taken in turn. misfit, seed: as hot_signal_draw. */
hot_status hot_drawn_fill(hot_drawn *drawn, const hot_signal_population *from,
                          const hot_signal_population *population, double misfit, uint64_t seed, size_t count,
                          const double *snr, size_t known);

#endif
