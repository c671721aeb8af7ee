/* Promises about a GPU; skipped without one. */
#include <hotfiber/denoise.h>

#include "common/backend.h"

#include "threads.h"

/* Noise whose square is beyond floats is 0 or Inf; within, it scales with the signals. */
static void test_noise(hot_context *context)
{
    enum { SIDE = 5, VOXELS = SIDE * SIDE * SIDE, VOLUMES = 20 };
    static float signals[VOXELS * VOLUMES], scaled[VOXELS * VOLUMES], denoised[VOXELS * VOLUMES], noise[4][VOXELS];
    static const int powers[4] = {0, -50, -90, 90};
    const size_t size[3] = {SIDE, SIDE, SIDE};
    uint64_t state = 5;
    for (int i = 0; i < VOXELS * VOLUMES; i++)
        signals[i] = (float)(100 * (1 + i % VOLUMES) + check_random_normal(&state));
    for (int p = 0; p < 4; p++) {
        for (int i = 0; i < VOXELS * VOLUMES; i++)
            scaled[i] = ldexpf(signals[i], powers[p]);
        CHECK(hot_denoise_f32(context, NULL, size, VOLUMES, scaled, NULL, denoised, noise[p]) == HOT_OK, "%s",
              hot_context_message(context));
        for (int n = 0; n < VOXELS; n++) {
            const double right = ldexp((double)noise[0][n], powers[p]), is = (double)noise[p][n];
            CHECK(p < 2    ? fabs(is - right) <= 1e-5 * right && right > 0
                  : p == 2 ? is == 0
                           : isinf(is),
                  "times 2^%d: noise %g, not %g", powers[p], is, right);
        }
    }
}

int main(void)
{
    const hot_context_options how = {.size = sizeof how, .device = HOT_DEVICE_CUDA};
    hot_context *context = NULL;
    if (hot_cuda_count() == 0 || hot_context_create(&how, &context) != HOT_OK) {
        printf("skipped: no GPU\n");
        return 77;
    }
    test_noise(context);
    hot_context_destroy(&context);
    HOT_TEST_END();
}
