/* How much single fibres differ: what the data say about it, and that single fibres stay single where
 * they differ much. */
#include "check.h"

#include <hotfiber/hotfiber.h>

enum { VOLUMES = 70, B0 = 6, VOXELS = 400 };

/* Volumes of b=0 and 1500 with directions on a spiral; VOXELS single fibres (crossing: two at 90 degrees), of which
 * `share` at most is isotropic with a diffusivity of .9e-3, in noise of S0 / 30. */
static hot_dwi *make(hot_context *context, uint64_t seed, double share, double dispersion, int crossing)
{
    double b[VOLUMES], g[3 * VOLUMES] = {0};
    float *signals = malloc(VOXELS * VOLUMES * sizeof *signals);
    hot_dwi *dwi = NULL;
    hot_grid grid = {.size = {VOXELS, 1, 1}, .to_world = {{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}}};
    for (int v = 0; v < VOLUMES; v++) {
        const double z = (v - B0 + 0.5) / (VOLUMES - B0), r = sqrt(1 - z * z), turn = 2.399963229728653 * v;
        b[v] = v < B0 ? 0 : 1500;
        if (v >= B0)
            g[3 * v] = r * cos(turn), g[3 * v + 1] = r * sin(turn), g[3 * v + 2] = z;
    }
    for (size_t i = 0; i < VOXELS; i++) {
        double axis[3], other[3] = {0};
        check_random_unit(&seed, axis);
        if (crossing) {
            double along = 0, length = 0;
            check_random_unit(&seed, other);
            for (int d = 0; d < 3; d++)
                along += axis[d] * other[d];
            for (int d = 0; d < 3; d++)
                other[d] -= along * axis[d], length += other[d] * other[d];
            for (int d = 0; d < 3; d++)
                other[d] /= sqrt(length);
        }
        const double isotropic = share * check_random(&seed), spread = dispersion * check_random(&seed);
        double stick[50][3];
        for (int s = 0; s < 50; s++) {
            double length = 0;
            for (int d = 0; d < 3; d++)
                stick[s][d] = (crossing && s % 2 ? other : axis)[d] + spread * check_random_normal(&seed),
                length += stick[s][d] * stick[s][d];
            for (int d = 0; d < 3; d++)
                stick[s][d] /= sqrt(length);
        }
        for (int v = 0; v < VOLUMES; v++) {
            double clean = isotropic * exp(-b[v] * 0.9e-3);
            for (int s = 0; s < 50; s++) {
                const double u = g[3 * v] * stick[s][0] + g[3 * v + 1] * stick[s][1] + g[3 * v + 2] * stick[s][2];
                clean += (1 - isotropic) / 50 * exp(-b[v] * (0.3e-3 + 1.4e-3 * u * u));
            }
            const double re = clean + check_random_normal(&seed) / 30, im = check_random_normal(&seed) / 30;
            signals[(size_t)v * VOXELS + i] = (float)(1000 * sqrt(re * re + im * im));
        }
    }
    CHECK(hot_dwi_create(context, &grid, VOLUMES, b, g, signals, &dwi) == HOT_OK, "%s", hot_context_message(context));
    free(signals);
    return dwi;
}

/* The share of voxels with one fibre; *judged: the contrast used; *width: maps.typical_width. */
static double single(hot_context *context, const hot_dwi *dwi, const hot_response *response, hot_contrast asked,
                     hot_contrast *judged, double *width)
{
    hot_signal_find_options options = {.size = sizeof options, .contrast = asked};
    hot_signal_maps maps;
    hot_mask *mask = NULL;
    hot_fiber_field *fibers = NULL;
    size_t one = 0;
    CHECK(hot_mask_full(context, hot_dwi_grid(dwi), &mask) == HOT_OK, "%s", hot_context_message(context));
    CHECK(hot_fiber_field_signal(context, dwi, mask, response, &options, &maps, &fibers) == HOT_OK, "%s",
          hot_context_message(context));
    CHECK(maps.probability == NULL, "maps that were not asked for");
    *judged = maps.contrast;
    *width = maps.typical_width;
    for (size_t i = 0; fibers && i < VOXELS; i++)
        one += hot_fiber_field_counts(fibers)[i] == 1;
    hot_signal_maps_free(context, &maps);
    hot_fiber_field_destroy(&fibers);
    hot_mask_destroy(&mask);
    return (double)one / VOXELS;
}

int main(void)
{
    hot_context_options options = {.size = sizeof options, .device = HOT_DEVICE_CPU, .threads = 1, .seed = 5};
    hot_context *context = NULL;
    hot_response *response = NULL;
    hot_contrast judged;
    CHECK(hot_context_create(&options, &context) == HOT_OK, "no context");
    hot_dwi *alike = make(context, 1, 0, 0, 0), *dispersed = make(context, 2, 0, 0.26, 0);
    hot_dwi *varied = make(context, 3, 0.5, 0, 0), *crossing = make(context, 4, 0, 0, 1);
    double width;
    CHECK(hot_response_tensor(context, alike, 1.7e-3, 0.3e-3, 1000, 8, &response) == HOT_OK, "%s",
          hot_context_message(context));

    double share = single(context, alike, response, HOT_CONTRAST_AUTO, &judged, &width);
    CHECK(judged == HOT_CONTRAST_ALIKE && !isnan(width), "equal fibres are judged %d, width %g", (int)judged, width);
    CHECK(share >= 0.97, "%g of equal fibres are single", share);
    share = single(context, dispersed, response, HOT_CONTRAST_AUTO, &judged, &width);
    CHECK(judged == HOT_CONTRAST_DISPERSED, "dispersed fibres are judged %d", (int)judged);
    CHECK(share >= 0.9, "%g of dispersed fibres are single", share);
    share = single(context, dispersed, NULL, HOT_CONTRAST_AUTO, &judged, &width); /* a response as wide as they are */
    CHECK(judged == HOT_CONTRAST_DISPERSED, "dispersed fibres with a response of their own are judged %d", (int)judged);
    CHECK(share >= 0.9, "%g of dispersed fibres with a response of their own are single", share);
    share = single(context, varied, response, HOT_CONTRAST_AUTO, &judged, &width);
    CHECK(judged == HOT_CONTRAST_VARIED, "fibres of varied contrast are judged %d", (int)judged);
    CHECK(share >= 0.97, "%g of the fibres of varied contrast are single", share);
    /* what it is for: without it they are not */
    share = single(context, varied, response, HOT_CONTRAST_ALIKE, &judged, &width);
    CHECK(judged == HOT_CONTRAST_ALIKE && share < 0.85, "contrast alike: %g of them are single", share);

    CHECK(isnan(width), "a width of %g that was not judged", width);
    /* where hardly any voxel is single the data do not tell: the choice that loses least */
    share = single(context, crossing, response, HOT_CONTRAST_AUTO, &judged, &width);
    CHECK(judged == HOT_CONTRAST_VARIED && isnan(width), "crossings alone are judged %d, width %g", (int)judged, width);
    CHECK(share < 0.05, "%g of the crossings are single", share);

    hot_response_destroy(&response);
    hot_dwi_destroy(&crossing);
    hot_dwi_destroy(&varied);
    hot_dwi_destroy(&dispersed);
    hot_dwi_destroy(&alike);
    hot_context_destroy(&context);
    HOT_TEST_END();
}
