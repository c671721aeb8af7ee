/* What the signal method says of a voxel does not depend on where the voxel lies: in a grid whose fits are not all
 * kept at a time, with a noise level for each voxel. */
#include "check.h"

#include <hotfiber/hotfiber.h>

/* FAR: further than the number of voxels whose fits are kept at a time (signal_samples.c) */
enum { KINDS = 240, FAR = 3 << 15, FIRST = 1000, VOXELS = FAR + 2 * FIRST + KINDS };

int main(void)
{
    const hot_context_options how = {.size = sizeof how, .device = HOT_DEVICE_CPU, .seed = 3};
    hot_context *context = NULL;
    if (hot_context_create(&how, &context) != HOT_OK)
        return 1;
    const double snr = 25;
    const hot_phantom_options made = {.size = sizeof made, .voxels = KINDS / 6, .snr = &snr, .snr_count = 1, .b0 = 2};
    hot_phantom *phantom = NULL;
    CHECK(hot_phantom_create(context, &made, &phantom) == HOT_OK, "%s", hot_context_message(context));
    const hot_dwi *small = hot_phantom_dwi(phantom);
    const size_t volumes = hot_dwi_volumes(small);
    const hot_grid grid = {.size = {VOXELS, 1, 1}, .space = HOT_SPACE_RAS,
                           .to_world = {{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}}};
    float *kinds = malloc(KINDS * volumes * sizeof *kinds), *signals = calloc(VOXELS * volumes, sizeof *signals);
    float *noise = malloc(VOXELS * sizeof *noise);
    uint8_t *inside = calloc(VOXELS, 1);
    CHECK(hot_dwi_read(context, small, 0, KINDS, kinds) == HOT_OK, "%s", hot_context_message(context));
    for (size_t v = 0; v < VOXELS; v++)
        noise[v] = 0.5f * (float)hot_phantom_sigma(phantom, 0); /* of voxels outside the mask */
    for (size_t k = 0; k < KINDS; k++)
        for (size_t v = FIRST + k; v < VOXELS; v += FAR) {
            inside[v] = 1;
            noise[v] = (float)(hot_phantom_sigma(phantom, 0) * (0.8 + 0.1 * (double)(k % 5)));
            for (size_t i = 0; i < volumes; i++)
                signals[i * VOXELS + v] = kinds[k * volumes + i];
        }
    hot_dwi *dwi = NULL;
    hot_mask *mask = NULL;
    hot_response *response = NULL;
    hot_fiber_field *fibers = NULL;
    hot_signal_maps maps;
    CHECK(hot_dwi_create(context, &grid, volumes, hot_dwi_b(small), hot_dwi_gradients(small), signals, &dwi) ==
              HOT_OK && hot_mask_create(context, &grid, inside, &mask) == HOT_OK &&
              hot_response_tensor(context, dwi, 1.7e-3, 0.2e-3, 1000, 8, &response) == HOT_OK, "%s",
          hot_context_message(context));
    const hot_signal_find_options options = {.size = sizeof options, .sigma_map = noise, .keep_maps = 1,
                                             .keep_cones = 1, .clean_response = 1};
    CHECK(hot_fiber_field_signal(context, dwi, mask, response, &options, &maps, &fibers) == HOT_OK, "%s",
          hot_context_message(context));
    size_t having = 0;
    double least = INFINITY, most = 0;
    for (size_t near = FIRST; fibers && near < FIRST + KINDS; near++) {
        const size_t far = near + FAR;
        const struct { const char *name; const float *values; size_t row; } map[] = {
            {"peaks", hot_fiber_field_peaks(fibers), 9}, {"probability", maps.probability, 4},
            {"margin", maps.margin, 1}, {"residual", maps.residual, 1}, {"width", maps.width, 1},
            {"cone", maps.cone, 3}, {"cone_axes", maps.cone_axes, 18}, {"fraction_sd", maps.fraction_sd, 3},
            {"isotropic", maps.isotropic, 1}, {"free_water", maps.free_water, 1}, {"noise_sd", maps.noise_sd, 1}};
        for (size_t m = 0; m < sizeof map / sizeof *map; m++)
            for (size_t i = 0; i < map[m].row; i++)
                if (!isnan(map[m].values[far * map[m].row + i]) || !isnan(map[m].values[near * map[m].row + i]))
                    CHECK_NEAR(map[m].values[far * map[m].row + i], map[m].values[near * map[m].row + i], 1e-5,
                               "%s of voxel %zu and of voxel %zu", map[m].name, near, far);
        const double own = (double)(maps.noise_sd[near] / noise[near]);
        least = fmin(least, own), most = fmax(most, own);
        having += maps.cone[3 * near] > 0;
        CHECK(maps.flags[near] == maps.flags[far], "flags of voxel %zu", near);
    }
    /* A noise level that is 20 % off is mended by half at least: else the check above compares a constant. */
    CHECK(having > KINDS / 2 && least > 0.5 && most < 2 && most / least > 1.05, "%zu with cones, noise by %g to %g",
          having, least, most);
    CHECK(maps.noise_sd[0] == 0 && isnan(maps.cone[0]) && maps.noise_sd[FIRST + KINDS] == 0, "outside the mask");
    printf("%zu voxels with cones; noise is %.2f to %.2f of what is given\n", having, least, most);
    hot_signal_maps_free(&maps);
    hot_fiber_field_destroy(&fibers);
    hot_response_destroy(&response);
    hot_mask_destroy(&mask);
    hot_dwi_destroy(&dwi);
    hot_phantom_destroy(&phantom);
    free(kinds), free(signals), free(noise), free(inside);
    hot_context_destroy(&context);
    HOT_TEST_END();
}
