/* hot_fiber_field_create puts any tool's vectors into our order. */
#include "check.h"

#include <hotfiber/hotfiber.h>

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
    hot_context_destroy(&context);
    HOT_TEST_END();
}
