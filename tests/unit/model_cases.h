/* Data sets of fibres for the tests of the models. */
#pragma once

#include "check.h"
#include "model/model.h"

enum { GRID = 5, VOXELS = GRID * GRID * GRID };

/* Directions of a spiral over the half sphere, turned about so that no axis is special. */
static inline void spiral(size_t count, double *g)
{
    for (size_t i = 0; i < count; i++) {
        const double z = 1 - (2. * (double)i + 1) / (2. * (double)count), r = sqrt(1 - z * z), p = 2.399963 * (double)i;
        const double x = r * cos(p), y = r * sin(p);
        g[3 * i] = .6 * x + .8 * z, g[3 * i + 1] = y, g[3 * i + 2] = -.8 * x + .6 * z;
    }
}

static const hot_grid grid = {.size = {GRID, GRID, GRID},
                              .to_world = {{2, 0, 0, 1}, {0, 2, 0, 2}, {0, 0, 2, 3}},
                              .space = HOT_SPACE_RAS};

typedef struct scheme {
    size_t volumes;
    double b[512], g[3 * 512];
} scheme;

/* b0 volumes without weighting, then one shell after the other with the same number of directions each */
static inline scheme make_scheme(size_t b0, size_t directions, size_t shells, const double *b)
{
    scheme s = {.volumes = b0 + directions * shells};
    for (size_t k = 0; k < shells; k++) {
        spiral(directions, s.g + 3 * (b0 + k * directions));
        for (size_t i = 0; i < directions; i++) {
            double *g = s.g + 3 * (b0 + k * directions + i);
            const double x = g[0], turn = .3 * (double)k;
            g[0] = cos(turn) * x - sin(turn) * g[1], g[1] = sin(turn) * x + cos(turn) * g[1];
            s.b[b0 + k * directions + i] = b[k];
        }
    }
    return s;
}

static inline hot_dwi *make_dwi(hot_context *context, const scheme *s, const float *by_voxel)
{
    hot_dwi *dwi = NULL;
    float *signals = calloc(s->volumes * VOXELS, sizeof *signals);
    for (size_t v = 0; v < VOXELS && by_voxel; v++)
        for (size_t i = 0; i < s->volumes; i++)
            signals[i * VOXELS + v] = by_voxel[v * s->volumes + i];
    CHECK(hot_dwi_create(context, &grid, s->volumes, s->b, s->g, signals, &dwi) == HOT_OK, "%s",
          hot_context_message(context));
    free(signals);
    return dwi;
}

/* w v^(x order) added to a packed tensor */
static inline void add_fibre(int order, double w, const double *v, float *tensor)
{
    int exponents[3 * HOT_MODEL_TERMS_MAX];
    hot_symtensor_exponents(order, 3, exponents);
    for (size_t t = 0; t < hot_model_terms(order); t++)
        tensor[t] += (float)(w * pow(v[0], exponents[3 * t]) * pow(v[1], exponents[3 * t + 1]) *
                             pow(v[2], exponents[3 * t + 2]));
}

/* Signals from fibres, not from the model: what the response says of each, added up by their fractions. */
static inline void fibre_signals(const scheme *s, const hot_response *response, const hot_dwi *dwi, size_t fibres,
                          const double *w, const double *v, double s0, float *signals)
{
    const int *shell_of;
    hot_dwi_shells(dwi, NULL, &shell_of);
    for (size_t i = 0; i < s->volumes; i++) {
        double sum = 0;
        for (size_t k = 0; k < fibres; k++) {
            const double *g = s->g + 3 * i, *x = v + 3 * k;
            sum += w[k] * hot_response_value(response, (size_t)shell_of[i], g[0] * x[0] + g[1] * x[1] + g[2] * x[2]);
        }
        signals[i] = (float)(s0 * sum / hot_response_value(response, 0, 0));
        if (shell_of[i] == 0)
            signals[i] = (float)s0;
    }
}

static inline hot_tensor_field *fit(hot_context *context, const hot_dwi *dwi, hot_fit_options options)
{
    hot_mask *mask = NULL;
    hot_tensor_field *field = NULL;
    options.size = sizeof options;
    CHECK(hot_mask_full(context, &grid, &mask) == HOT_OK, "%s", hot_context_message(context));
    hot_status status = hot_tensor_field_fit(context, dwi, mask, &options, &field);
    CHECK(status == HOT_OK, "%s", hot_context_message(context));
    hot_mask_destroy(&mask);
    return field;
}
