/* Which degrees of the signals' shape are put back after denoising, by the number of directions: those whose terms are
 * at most two thirds of them. 4 takes 23 directions, 6 takes 42. */
#include <string.h>

#include <hotfiber/hotfiber.h>

#include "dwi/denoise_shape.h"
#include "promises/threads.h"

enum { NX = 9, NY = 8, NZ = 8, ALL = NX * NY * NZ, B0 = 2, MOST = B0 + 75 };
static const hot_grid grid = {.size = {NX, NY, NZ}, .to_world = {{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}}};

static double legendre(int degree, double x)
{
    return degree == 4 ? (35 * pow(x, 4) - 30 * x * x + 3) / 8
                       : (231 * pow(x, 6) - 315 * pow(x, 4) + 105 * x * x - 5) / 16;
}

/* Fibres that point anywhere, without what they have of `degree`; the share of the voxels in which that is put back. */
static double restored(hot_context *context, int directions, int degree)
{
    static float noisy[MOST * ALL], clean[ALL * MOST];
    double b[MOST], g[3 * MOST] = {0}, share = NAN;
    hot_dwi *before = NULL, *after = NULL;
    uint64_t state = 11;
    const int volumes = B0 + directions;
    for (int v = 0; v < volumes; v++)
        b[v] = v < B0 ? 0 : 2000;
    CHECK(hot_scheme_directions(context, (size_t)directions, 0, g + 3 * B0) == HOT_OK, "directions");
    for (int n = 0; n < ALL; n++) {
        double axis[3];
        check_random_unit(&state, axis);
        for (int v = 0; v < volumes; v++) {
            const double x = g[3 * v] * axis[0] + g[3 * v + 1] * axis[1] + g[3 * v + 2] * axis[2];
            const double value = v < B0 ? 100 : 40 - 10 * (3 * x * x - 1) / 2, own = v < B0 ? 0 : legendre(degree, x);
            clean[n * volumes + v] = (float)value;
            noisy[v * ALL + n] = (float)(value + 2.5 * own + check_random_normal(&state));
        }
    }
    CHECK(hot_dwi_create(context, &grid, (size_t)volumes, b, g, noisy, &before) == HOT_OK &&
              hot_dwi_denoise(context, before, NULL, NULL, &after, NULL) == HOT_OK, "%s", hot_context_message(context));
    memcpy(after->data, clean, (size_t)(ALL * volumes) * sizeof(float));
    CHECK(hot_dwi_restore_shape(context, before, after, &share) == HOT_OK, "%s", hot_context_message(context));
    hot_dwi_destroy(&before);
    hot_dwi_destroy(&after);
    return share;
}

int main(void)
{
    static const struct {
        int directions, degree, back;
    } cases[] = {{18, 4, 0}, {22, 4, 0}, {23, 4, 1}, {32, 4, 1}, {45, 4, 1}, {70, 4, 1},
                 {32, 6, 0}, {41, 6, 0}, {42, 6, 1}, {60, 6, 1}, {75, 6, 1}};
    hot_context *context = context_of(2);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const double share = restored(context, cases[c].directions, cases[c].degree);
        CHECK(cases[c].back ? share > .99 : share < .05, "degree %d with %d directions is put back in %g of the voxels",
              cases[c].degree, cases[c].directions, share);
    }
    hot_context_destroy(&context);
    COUNTED_TEST_END();
}
