/* hot_fiber_field_create puts any tool's vectors into our order; how certain fibres are, in closed form. */
#include "check.h"

#include <hotfiber/hotfiber.h>

#include "fibers/certainty.h"

/* The chance of so many fibres times that of a normal error, in two dimensions, below 15 degrees: beyond s cones lie
 * 20^(-s^2). */
static void test_certainty(hot_context *context)
{
    enum { MOST = 2, VOXELS = 3 };
    static const float probability[VOXELS][4] = {{.1f, .2f, .3f, .4f}, {0, 1, .125f, 0}, {1, 0, 0, 0}};
    static const double more[VOXELS][3] = {{.9, .7, .4}, {1.125, .125, 0}, {0, 0, 0}};
    static const struct { double cone, within; } cones[] = {
        {0, 1}, {NAN, 1}, {15, .95}, {30, .5271292}, {60, .1707497}, {7.5, .99999375}, {1e-3, 1}, {1e9, 0}};
    float cone[VOXELS][MOST] = {{15, 30}, {60, NAN}, {NAN, NAN}};
    for (int voxel = 0; voxel < VOXELS; voxel++)
        for (int fiber = 0; fiber < 3; fiber++) {
            CHECK_NEAR(hot_fiber_probability(probability[voxel], fiber), more[voxel][fiber], 1e-7, "voxel %d fibre %d",
                       voxel, fiber);
            for (size_t i = 0; i < sizeof cones / sizeof *cones; i++)
                CHECK_NEAR(hot_fiber_certainty(probability[voxel], fiber, cones[i].cone),
                           fmin(more[voxel][fiber], 1) * cones[i].within, 2e-7, "voxel %d fibre %d, a cone of %g",
                           voxel, fiber, cones[i].cone);
        }
    const hot_grid grid = {.size = {VOXELS, 1, 1}, .to_world = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
    const float peaks[VOXELS][3 * MOST] = {{0, 0, 2, 0, 0, 1}, {0, 0, 1}};
    for (int known = 0; known < 2; known++) { /* without cones, and with */
        float probabilities[VOXELS][4];
        memcpy(probabilities, probability, sizeof probabilities);
        const hot_signal_maps maps = {.probability = probabilities[0], .cone = known ? cone[0] : NULL};
        const double want[VOXELS][MOST] = {{known ? .9 * .95 : .9, known ? .7 * .5271292 : .7},
                                           {known ? .1707497 : 1, 0}};
        hot_fiber_field *fibers = NULL;
        CHECK(hot_fiber_field_create(context, &grid, MOST, peaks[0], &fibers) == HOT_OK &&
                  hot_fiber_field_judge(context, fibers, &maps) == HOT_OK &&
                  hot_fiber_field_keep_doubt(fibers, &maps) == HOT_OK, "%s", hot_context_message(context));
        for (int i = 0; fibers && fibers->certainty && i < VOXELS * MOST; i++) {
            CHECK_NEAR(fibers->certainty[i], want[i / MOST][i % MOST], 2e-7, "known %d, fibre %d", known, i);
            CHECK_NEAR(fibers->probability[i], more[i / MOST][i % MOST], 2e-7, "its chance, %d", i);
        }
        CHECK(fibers && !fibers->cone == !known && (!known || memcmp(fibers->cone, cone, sizeof cone) == 0), "cones");
        hot_fiber_field_destroy(&fibers);
    }
}

int main(void)
{
    hot_context *context = NULL;
    hot_fiber_field *fibers = NULL;
    hot_grid grid = {.size = {2, 1, 2}, .to_world = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
    CHECK(hot_context_create(NULL, &context) == HOT_OK, "context");
    const float in[4][9] = {
        {0, 0, 1, 0, -2, 0, -3, 0, 0},            /* order, and both edges of the half sphere */
        {NAN, NAN, NAN, 0, 0, -.5f, 0, 0, 0},     /* an absent one before a present one */
        {0, 0, 0, 0, 0, 0, 0, 0, 0},              /* none */
        {1, 0, -1, -1, 0, -1, INFINITY, 0, 0},    /* equal lengths keep their order */
    };
    const float want[4][9] = {
        {3, 0, 0, 0, 2, 0, 0, 0, 1},
        {0, 0, .5f, 0, 0, 0, 0, 0, 0},
        {0, 0, 0, 0, 0, 0, 0, 0, 0},
        {-1, 0, 1, 1, 0, 1, 0, 0, 0},
    };
    const uint8_t counts[4] = {3, 1, 0, 2};
    CHECK(hot_fiber_field_create(context, &grid, 3, in[0], &fibers) == HOT_OK, "%s", hot_context_message(context));
    CHECK(hot_fiber_field_max(fibers) == 3 && hot_fiber_field_grid(fibers)->size[2] == 2, "the given fibres");
    CHECK(memcmp(hot_fiber_field_counts(fibers), counts, 4) == 0, "counts");
    for (int v = 0; v < 4; v++)
        for (int i = 0; i < 9; i++)
            CHECK(hot_fiber_field_peaks(fibers)[9 * v + i] == want[v][i], "voxel %d value %d: %g", v, i,
                  hot_fiber_field_peaks(fibers)[9 * v + i]);
    hot_fiber_field_destroy(&fibers);
    CHECK(fibers == NULL, "set to NULL");
    hot_fiber_field_destroy(&fibers);

    CHECK(hot_fiber_field_create(context, &grid, 0, in[0], &fibers) == HOT_ERROR_ARGUMENT && !fibers, "no fibre");
    CHECK(hot_fiber_field_create(context, &grid, 256, in[0], &fibers) == HOT_ERROR_ARGUMENT && !fibers, "too many");
    grid.size[0] = SIZE_MAX / 2;
    CHECK(hot_fiber_field_create(context, &grid, 3, in[0], &fibers) != HOT_OK && !fibers, "too large");
    CHECK(hot_context_message(context)[0], "a message");
    test_certainty(context);
    hot_context_destroy(&context);
    HOT_TEST_END();
}
