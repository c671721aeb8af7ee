/* How many maxima hot_directions_f32 finds of random tensors when none is to be left out (thresholds HOT_ZERO): what
 * hotfiber/directions.h says of the grid and of many starts. All maxima are those of the reference, which climbs from
 * a dense grid. */
#include "check.h"
#include "forms3.h"

#include <hotfiber/directions.h>

enum { COUNT = 1000, KEPT = 16 };
static const int per_cent[3] = {1, 3, 6}; /* of tensors of order 4, 6, 8 lose one to the grid */

static hot_context *context_of(hot_device device)
{
    const hot_context_options settings = {.size = sizeof settings, .device = device};
    hot_context *context = NULL;
    if (hot_context_create(&settings, &context) != HOT_OK)
        exit(2);
    return context;
}

int main(void)
{
    static float tensors[COUNT * FORM_TERMS], directions[3][COUNT * 3 * KEPT];
    static uint8_t found[3][COUNT];
    hot_context *cpu = context_of(HOT_DEVICE_CPU), *reference = context_of(HOT_DEVICE_REFERENCE);
    for (int order = 4; order <= 8; order += 2) {
        const size_t unique = hot_symtensor_count(order, 3);
        uint64_t seed = 61;
        for (size_t i = 0; i < COUNT * unique; i++)
            tensors[i] = (float)check_random_normal(&seed);
        hot_directions_options all = {.size = sizeof all, .max_directions = KEPT, .threshold = HOT_ZERO,
                                      .min_angle = HOT_ZERO};
        CHECK(hot_directions_f32(reference, &all, order, COUNT, tensors, unique, NULL, directions[0], found[0]) ==
              HOT_OK, "%s", hot_context_message(reference));
        CHECK(hot_directions_f32(cpu, &all, order, COUNT, tensors, unique, NULL, directions[1], found[1]) == HOT_OK,
              "%s", hot_context_message(cpu));
        all.starts = 256;
        CHECK(hot_directions_f32(cpu, &all, order, COUNT, tensors, unique, NULL, directions[2], found[2]) == HOT_OK,
              "%s", hot_context_message(cpu));
        int grid = 0, starts = 0, largest = 0;
        for (int i = 0; i < COUNT; i++) {
            double length[3];
            for (int k = 0; k < 3; k++) {
                const float *v = directions[k] + (size_t)i * 3 * KEPT;
                length[k] = sqrt((double)v[0] * (double)v[0] + (double)v[1] * (double)v[1] +
                                 (double)v[2] * (double)v[2]);
            }
            grid += found[1][i] < found[0][i];
            starts += found[2][i] < found[0][i];
            largest += !(length[1] >= 0.9999 * length[0]) + !(length[2] >= 0.9999 * length[0]);
        }
        printf("order %d: of %d tensors the grid misses a maximum in %d, 256 starts in %d\n", order, COUNT, grid,
               starts);
        CHECK(grid <= COUNT * per_cent[order / 2 - 2] / 100,
              "order %d: the grid misses a maximum of %d of %d tensors", order, grid, COUNT);
        CHECK(starts == 0, "order %d: 256 starts miss a maximum of %d of %d tensors", order, starts, COUNT);
        CHECK(largest == 0, "order %d: the largest maximum of %d tensors is missed", order, largest);
    }
    /* a low and narrow maximum: x^6 + height y^6 has one along y */
    for (int k = 0; k < 2; k++) {
        float tensor[28] = {1}, lines[6];
        uint8_t count = 0;
        tensor[21] = k ? 1e-4f : 1e-2f;
        const hot_directions_options all = {.size = sizeof all, .max_directions = 2, .threshold = HOT_ZERO,
                                            .min_angle = HOT_ZERO, .starts = k ? 256 : 0};
        CHECK(hot_directions_f32(cpu, &all, 6, 1, tensor, 28, NULL, lines, &count) == HOT_OK && count == 2,
              "%d maxima of x^6 + %g y^6", count, (double)tensor[21]);
    }
    hot_context_destroy(&cpu);
    hot_context_destroy(&reference);
    HOT_TEST_END();
}
