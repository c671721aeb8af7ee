/* When samples at and below zero make the noise Gaussian: when they are as many as noise about zero has, not when they
 * are few, or all of what is small, or zeros beside which nothing is small. */
#include <hotfiber/hotfiber.h>

#include "check.h"

enum { VOXELS = 1000, VOLUMES = 22 };

/* `below` of a thousand weighted samples lie below zero by up to 5, or are zeros; `above` above it by up to 5; the rest
 * about 60. The b=0 volumes' deviation is `sigma`; 0: all the same. */
static hot_noise_model judge(hot_context *context, int below, int above, int zeros, double sigma, double *share)
{
    const hot_grid grid = {.size = {10, 10, 10}, .to_world = {{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}},
                           .space = HOT_SPACE_RAS};
    double b[VOLUMES], g[3 * VOLUMES] = {0};
    float *signals = malloc(VOXELS * VOLUMES * sizeof *signals);
    uint64_t state = 5;
    hot_dwi *dwi = NULL;
    hot_mask *mask = NULL;
    hot_noise_model model = HOT_NOISE_AUTO;
    for (size_t v = 0; v < VOLUMES; v++) {
        b[v] = v < 2 ? 0 : 1000;
        if (v >= 2)
            check_random_unit(&state, g + 3 * v);
        for (size_t i = 0; i < VOXELS; i++) {
            const size_t n = (i * 7 + v * 13) % 1000;
            const double small = .1 + 4.9 * check_random(&state);
            const double bright = 100 + sigma * check_random_normal(&state);
            signals[v * VOXELS + i] = (float)(v < 2                             ? bright
                                              : n < (size_t)below               ? (zeros ? 0 : -small)
                                              : n < (size_t)(below + above) ? small
                                                                                : 60 + 10 * check_random(&state));
        }
    }
    CHECK(hot_dwi_create(context, &grid, VOLUMES, b, g, signals, &dwi) == HOT_OK &&
              hot_mask_full(context, &grid, &mask) == HOT_OK &&
              hot_dwi_noise_model(context, dwi, mask, &model, share) == HOT_OK,
          "%s", hot_context_message(context));
    hot_mask_destroy(&mask);
    hot_dwi_destroy(&dwi);
    free(signals);
    return model;
}

int main(void)
{
    static const struct { int below, above; hot_noise_model model; int zeros; double sigma; } cases[] = {
        {0, 100, HOT_NOISE_RICIAN, 0, 0},       {2, 2, HOT_NOISE_RICIAN, 0, 0},
        {10, 10, HOT_NOISE_GAUSSIAN, 0, 0},     {100, 100, HOT_NOISE_GAUSSIAN, 0, 0},
        {300, 300, HOT_NOISE_GAUSSIAN, 0, 0},   {10, 300, HOT_NOISE_RICIAN, 0, 0},
        {10, 10, HOT_NOISE_RICIAN, 1, 5},       {100, 100, HOT_NOISE_GAUSSIAN, 1, 5},
        {100, 0, HOT_NOISE_RICIAN, 1, 5},       {100, 20, HOT_NOISE_RICIAN, 1, 5},
        {100, 0, HOT_NOISE_GAUSSIAN, 1, 0},
    };
    hot_context *context = NULL;
    CHECK(hot_context_create(NULL, &context) == HOT_OK, "context");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double share = -1;
        const hot_noise_model model = judge(context, cases[i].below, cases[i].above, cases[i].zeros,
                                            cases[i].sigma, &share);
        CHECK(model == cases[i].model, "%d below, %d above: %d", cases[i].below, cases[i].above, (int)model);
        CHECK_NEAR(share, cases[i].below / 1000., 1e-3, "%d below: a share of %g", cases[i].below, share);
    }
    hot_context_destroy(&context);
    HOT_TEST_END();
}
