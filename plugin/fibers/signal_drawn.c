/* See signal_drawn.h. */
#include "signal_drawn.h"

#include <math.h>
#include <string.h>

#include "signal/signal_response.h"
#include "signal_draw.h"

/* The response that the fits see, without the bias of its own noise: drawn signals get noise, and its bias. rows:
 * shells x (lmax / 2 + 1). */
static void clean_response(const hot_signal_options *options, const hot_signal_scheme *scheme, double *rows)
{
    const double pi = 3.14159265358979323846;
    const int terms = scheme->lmax / 2 + 1;
    for (size_t shell = 0; shell < scheme->shells; shell++) {
        double *row = rows + shell * (size_t)terms;
        hot_signal_clean_response(options, scheme, shell, scheme->lmax, row);
        for (int l = 0; l < terms; l++)
            row[l] /= sqrt((4 * l + 1) / (4 * pi));
    }
}

hot_status hot_drawn_make(hot_context *context, const hot_signal_options *options, const hot_signal_scheme *scheme,
                          size_t room, hot_drawn *drawn)
{
    const size_t terms = (size_t)(scheme->lmax / 2 + 1), threads = (size_t)hot_context_threads(context);
    *drawn = (hot_drawn){.context = context, .options = options, .scheme = scheme, .room = room, .rows = 1,
                         .max_fibers = options->max_fibers ? options->max_fibers : HOT_DRAWN_KMAX};
    for (size_t v = 0; v < scheme->volumes; v++)
        drawn->rows += scheme->b[v] > 50;
    drawn->fits = hot_context_calloc(context, room, 4 * sizeof *drawn->fits);
    drawn->fibers = hot_context_alloc(context, room, 1);
    drawn->found = hot_context_alloc(context, room, 1);
    drawn->directions = hot_context_alloc(context, room, 3 * HOT_DRAWN_KMAX * sizeof *drawn->directions);
    drawn->peaks = hot_context_alloc(context, room, 3 * HOT_DRAWN_KMAX * sizeof *drawn->peaks);
    drawn->signals = hot_context_alloc(context, room, scheme->volumes * sizeof *drawn->signals);
    drawn->scratch = hot_context_alloc(context, threads * scheme->volumes, sizeof *drawn->scratch);
    drawn->snr = hot_context_alloc(context, room, sizeof *drawn->snr);
    drawn->response = hot_context_alloc(context, scheme->shells * terms, sizeof *drawn->response);
    return drawn->fits && drawn->fibers && drawn->found && drawn->directions && drawn->peaks && drawn->signals &&
                   drawn->scratch && drawn->snr && drawn->response ? HOT_OK : HOT_ERROR_MEMORY;
}

void hot_drawn_free(hot_drawn *drawn)
{
    hot_context *context = drawn->context;
    hot_context_free(context, drawn->response);
    hot_context_free(context, drawn->snr);
    hot_context_free(context, drawn->scratch);
    hot_context_free(context, drawn->signals);
    hot_context_free(context, drawn->peaks);
    hot_context_free(context, drawn->directions);
    hot_context_free(context, drawn->found);
    hot_context_free(context, drawn->fibers);
    hot_context_free(context, drawn->fits);
}

hot_status hot_drawn_fill(hot_drawn *drawn, const hot_signal_population *from,
                          const hot_signal_population *population, double misfit, uint64_t seed, size_t count,
                          const double *snr, size_t known)
{
    hot_signal_options options = *drawn->options;
    hot_signal_scheme clean = *drawn->scheme;
    const hot_signal_result result = {.size = sizeof result, .directions = drawn->peaks, .found = drawn->found,
                                      .fits = drawn->fits};
    drawn->count = count < drawn->room ? count : drawn->room;
    options.population = population;
    options.sigma = 1;
    clean.response = drawn->response;
    clean_response(&options, drawn->scheme, drawn->response);
    for (size_t i = 0; i < drawn->count; i++)
        drawn->snr[i] = snr[i % known];
    hot_signal_draw(from, &clean, options.noise_model, drawn->max_fibers, misfit, seed, drawn->count, drawn->snr,
                    hot_context_threads(drawn->context), drawn->scratch, drawn->signals, drawn->fibers,
                    drawn->directions);
    return hot_signal_fibers_f32(drawn->context, &options, drawn->scheme, drawn->count, drawn->signals, NULL, NULL,
                                 NULL, &result);
}
