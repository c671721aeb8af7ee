/* The promises of hotfiber_dwi.h about data in memory: shells, b-values at their limits, gradients, orders, masks,
 * noise, frames, files written and read again. */
#include <unistd.h>

#include <hotfiber/hotfiber.h>

#include "threads.h"

enum { NX = 4, NY = 3, NZ = 2, VOXELS = NX * NY * NZ, MOST = 70 };

static const hot_grid grid = {.size = {NX, NY, NZ}, .to_world = {{2, 0, 0, -3}, {0, 2.5, 0, 4}, {0, 0, 3, 5}},
                              .space = HOT_SPACE_LPS};
static float signals[MOST * VOXELS];
static double b[MOST], g[3 * MOST];

static void fill(size_t volumes)
{
    uint64_t state = 3;
    for (size_t v = 0; v < volumes; v++) {
        check_random_unit(&state, g + 3 * v);
        for (int n = 0; n < VOXELS; n++)
            signals[v * VOXELS + (size_t)n] = (float)(100 * check_random(&state) - 10);
    }
}

static hot_dwi *make(hot_context *context, size_t volumes)
{
    hot_dwi *dwi = NULL;
    CHECK(hot_dwi_create(context, &grid, volumes, b, g, signals, &dwi) == HOT_OK, "%s", hot_context_message(context));
    return dwi;
}

/* One b-value among b=0 and 1000: taken or refused, and the message says which volume. */
static void test_b(hot_context *context)
{
    static const struct {
        double b;
        int good;
    } cases[] = {{0, 1}, {49, 1}, {50, 1}, {51, 1}, {2e4, 1}, {1e5, 1}, {1.001e5, 0}, {1e6, 0}, {1e9, 0}, {-1, 0},
                 {-1e-9, 0}, {NAN, 0}, {INFINITY, 0}};
    fill(8);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        hot_dwi *dwi = NULL;
        for (int v = 0; v < 8; v++)
            b[v] = v == 0 ? 0 : v == 5 ? cases[c].b : 1000;
        const hot_status status = hot_dwi_create(context, &grid, 8, b, g, signals, &dwi);
        CHECK(status == (cases[c].good ? HOT_OK : HOT_ERROR_DATA), "b = %g: %d %s", cases[c].b, status,
              hot_context_message(context));
        CHECK((dwi != NULL) == cases[c].good, "b = %g", cases[c].b);
        CHECK(cases[c].good || strstr(hot_context_message(context), "volume 5"), "which volume: %s",
              hot_context_message(context));
        if (dwi)
            CHECK(hot_dwi_b(dwi)[5] == cases[c].b, "b = %g is kept as %g", cases[c].b, hot_dwi_b(dwi)[5]);
        hot_dwi_destroy(&dwi);
        CHECK(!dwi, "set to NULL");
    }
    /* no direction: refused above 100 */
    for (int high = 0; high < 2; high++) {
        hot_dwi *dwi = NULL;
        b[5] = high ? 101 : 100;
        g[15] = g[16] = g[17] = 0;
        const hot_status status = hot_dwi_create(context, &grid, 8, b, g, signals, &dwi);
        CHECK(status == (high ? HOT_ERROR_DATA : HOT_OK), "no direction with b = %g: %d", b[5], status);
        hot_dwi_destroy(&dwi);
    }
}

/* Only the gradients' direction counts; b=0 has none. */
static void test_gradients(hot_context *context)
{
    double unit[24];
    fill(8);
    memcpy(unit, g, sizeof unit);
    for (int v = 0; v < 8; v++) {
        b[v] = v < 2 ? 0 : 1000;
        for (int d = 0; d < 3; d++)
            g[3 * v + d] *= v == 1 ? NAN : pow(10, v - 4);
    }
    hot_dwi *dwi = make(context, 8);
    for (int v = 0; v < 8; v++)
        for (int d = 0; d < 3; d++)
            CHECK_NEAR(hot_dwi_gradients(dwi)[3 * v + d], v < 2 ? 0 : unit[3 * v + d], 1e-14, "volume %d", v);
    CHECK(strcmp(hot_dwi_source(dwi), "") == 0 && hot_dwi_volumes(dwi) == 8, "from memory");
    CHECK(memcmp(hot_dwi_grid(dwi), &grid, sizeof grid) == 0, "the grid is copied");
    float row[3 * 8];
    memset(row, 0, sizeof row);
    CHECK(hot_dwi_read(context, dwi, VOXELS - 3, 3, row) == HOT_OK, "the last voxels");
    for (int n = 0; n < 3; n++)
        for (int v = 0; v < 8; v++)
            CHECK(row[n * 8 + v] == signals[v * VOXELS + VOXELS - 3 + n], "voxel %d, volume %d", n, v);
    CHECK(hot_dwi_read(context, dwi, VOXELS - 3, 4, row) != HOT_OK, "one more than there are");
    hot_dwi_destroy(&dwi);
}

/* Shells: what b=0 is, at 50 and 100; what is nearly equal. */
static void test_shells(hot_context *context)
{
    static const struct {
        double b[6];
        size_t shells;
        int has_b0;
        double first;
    } cases[] = {{{0, 5, 50, 1000, 1000, 1000}, 2, 1, -1}, {{0, 51, 1000, 1000, 1000, 1000}, 3, 1, 0},
                 {{55, 65, 100, 1000, 1000, 1000}, 2, 1, 0}, {{101, 1000, 1000, 1000, 1000, 1000}, 2, 0, 101},
                 {{0, 1000, 1040, 960, 1000, 1000}, 2, 1, 0}, {{0, 1000, 1000, 2000, 2050, 3000}, 4, 1, 0},
                 {{0, 700, 1000, 1300, 2800, 3000}, 6, 1, 0}};
    fill(6);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const double *shell_b;
        const int *shell_of;
        memcpy(b, cases[c].b, sizeof cases[c].b);
        hot_dwi *dwi = make(context, 6);
        const size_t shells = hot_dwi_shells(dwi, &shell_b, &shell_of);
        CHECK(shells == cases[c].shells, "case %zu: %zu shells", c, shells);
        CHECK(hot_dwi_has_b0(dwi) == cases[c].has_b0, "case %zu: b=0 %d", c, hot_dwi_has_b0(dwi));
        if (cases[c].first >= 0)
            CHECK(shell_b[0] == cases[c].first, "case %zu: the lowest is %g", c, shell_b[0]);
        for (size_t s = 1; s < shells; s++)
            CHECK(shell_b[s] > shell_b[s - 1], "ascending");
        for (int v = 0; v < 6; v++) {
            CHECK(shell_of[v] >= 0 && (size_t)shell_of[v] < shells, "volume %d", v);
            CHECK(shell_of[v] == 0 || fabs(shell_b[shell_of[v]] - b[v]) <= 60, "volume %d is in %g", v,
                  shell_b[shell_of[v]]);
        }
        hot_dwi_destroy(&dwi);
    }
}

/* The highest order: as many directions as values, one less, and directions that are each other's mirror images. */
static void test_masks(hot_context *context)
{
    uint8_t inside[VOXELS] = {0};
    hot_mask *mask = NULL, *again = NULL;
    inside[1] = 1, inside[7] = 255, inside[23] = 2;
    CHECK(hot_mask_create(context, &grid, inside, &mask) == HOT_OK && hot_mask_count(mask) == 3, "three voxels");
    inside[0] = 1; /* a copy was taken */
    for (int n = 0; n < VOXELS; n++)
        CHECK(hot_mask_bytes(mask)[n] == (n == 1 || n == 7 || n == 23), "voxel %d: %d", n, hot_mask_bytes(mask)[n]);
    for (int format = 0; format < 2; format++) {
        const char *name = format ? "promised.nii.gz" : "promised.nrrd";
        CHECK(hot_mask_save(context, mask, name) == HOT_OK && hot_mask_load(context, name, &grid, &again) == HOT_OK,
              "%s: %s", name, hot_context_message(context));
        CHECK(again && memcmp(hot_mask_bytes(again), hot_mask_bytes(mask), VOXELS) == 0, "%s again", name);
        hot_mask_destroy(&again);
        hot_grid other = grid;
        other.size[0]--;
        other.to_world[0][3] += 100;
        CHECK(hot_mask_load(context, name, &other, &again) == HOT_ERROR_DATA && !again, "elsewhere");
        unlink(name);
    }
    hot_mask_destroy(&mask);
    CHECK(hot_mask_full(context, &grid, &mask) == HOT_OK && hot_mask_count(mask) == VOXELS, "full");
    hot_mask_destroy(&mask);
    hot_grid none = grid;
    none.size[1] = 0;
    CHECK(hot_mask_full(context, &none, &mask) == HOT_ERROR_ARGUMENT && !mask, "a size of 0");
}

/* The noise is known: the spread between b=0 volumes about each voxel's own mean; damaged voxels do not count. */
static void test_noise(hot_context *context)
{
    enum { SIDE = 24, N = SIDE * SIDE * SIDE, REPEATS = 5 };
    const hot_grid cube = {.size = {SIDE, SIDE, SIDE}, .to_world = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
    static float data[(REPEATS + 1) * N];
    static const double table[REPEATS + 1] = {[REPEATS] = 1000}, along[3 * (REPEATS + 1)] = {[3 * REPEATS] = 1};
    uint64_t state = 8;
    for (int n = 0; n < N; n++) {
        const double level = 400 + 400 * check_random(&state);
        for (int v = 0; v <= REPEATS; v++)
            data[v * N + n] = (float)((v == REPEATS ? .4 : 1) * level + 20 * check_random_normal(&state));
    }
    hot_dwi *dwi = NULL;
    hot_mask *mask = NULL;
    double sigma, snr;
    size_t repeats;
    for (int damaged = 0; damaged < 2; damaged++) {
        for (int n = 0; n < 40 * damaged; n++)
            data[(n % REPEATS) * N + 300 * n] = 1e6f;
        CHECK(hot_dwi_create(context, &cube, REPEATS + 1, table, along, data, &dwi) == HOT_OK &&
                  hot_mask_full(context, &cube, &mask) == HOT_OK &&
                  hot_dwi_noise(context, dwi, mask, &sigma, &snr, &repeats) == HOT_OK, "noise");
        CHECK(repeats == REPEATS, "%zu repeats", repeats);
        CHECK_NEAR(sigma, 20, .5, "sigma %g", sigma);
        CHECK_NEAR(snr, 600 / 20., 1.5, "SNR %g", snr);
        hot_mask_destroy(&mask);
        hot_dwi_destroy(&dwi);
    }
    hot_noise_model model;
    double share;
    for (int gaussian = 0; gaussian < 2; gaussian++) {
        for (int n = 0; n < N; n++) { /* a signal of 10 with noise of 20: its magnitude, or itself */
            const double real = 10 + 20 * check_random_normal(&state), imaginary = 20 * check_random_normal(&state);
            data[REPEATS * N + n] = (float)(gaussian ? real : hypot(real, imaginary));
        }
        CHECK(hot_dwi_create(context, &cube, REPEATS + 1, table, along, data, &dwi) == HOT_OK &&
                  hot_mask_full(context, &cube, &mask) == HOT_OK &&
                  hot_dwi_noise_model(context, dwi, mask, &model, &share) == HOT_OK, "model");
        CHECK(model == (gaussian ? HOT_NOISE_GAUSSIAN : HOT_NOISE_RICIAN), "model %d", model);
        CHECK_NEAR(share, gaussian ? .3085 : 0, .04, "share %g", share);
        hot_mask_destroy(&mask);
        hot_dwi_destroy(&dwi);
    }
    /* one b=0 volume: nothing is known */
    CHECK(hot_dwi_create(context, &cube, 2, (double[]){0, 1000}, (double[]){0, 0, 0, 1, 0, 0}, data, &dwi) == HOT_OK &&
              hot_mask_full(context, &cube, &mask) == HOT_OK &&
              hot_dwi_noise(context, dwi, mask, &sigma, &snr, &repeats) == HOT_OK, "%s", hot_context_message(context));
    CHECK(isnan(sigma) && repeats == 1, "one b=0 volume: %g from %zu", sigma, repeats);
    hot_mask_destroy(&mask);
    hot_dwi_destroy(&dwi);
}

/* Written and read again: NRRD, NIfTI, MIF hold the same b, world directions, places and numbers. */
static void test_files(hot_context *context)
{
    static const char *const names[] = {"promised.nrrd", "promised.nii.gz", "promised.mif", "promised.mih"};
    fill(8);
    for (int v = 0; v < 8; v++)
        b[v] = v == 3 ? 0 : 500 * (1 + v % 3);
    for (int space = HOT_SPACE_RAS; space <= HOT_SPACE_LPS; space++) {
        hot_grid turned = grid;
        turned.space = (hot_space)space;
        turned.to_world[0][0] = -1.6, turned.to_world[1][0] = 1.2;
        turned.to_world[0][1] = 1.5, turned.to_world[1][1] = 2;
        hot_dwi *dwi = NULL, *again = NULL;
        CHECK(hot_dwi_create(context, &turned, 8, b, g, signals, &dwi) == HOT_OK, "%s", hot_context_message(context));
        for (int f = 0; f < 4; f++) {
            double first[3][4], second[3][4], sign[2][3], apart = 0, turn = 0;
            float row[2][VOXELS * 8];
            CHECK(hot_dwi_save(context, dwi, names[f]) == HOT_OK &&
                      hot_dwi_load(context, names[f], NULL, NULL, &again) == HOT_OK, "%s: %s", names[f],
                  hot_context_message(context));
            if (!again)
                continue;
            hot_grid_to_ras(hot_dwi_grid(dwi), first);
            hot_grid_to_ras(hot_dwi_grid(again), second);
            hot_space_ras_sign(hot_dwi_grid(dwi)->space, sign[0]);
            hot_space_ras_sign(hot_dwi_grid(again)->space, sign[1]);
            for (int i = 0; i < 12; i++)
                apart = fmax(apart, fabs(first[i / 4][i % 4] - second[i / 4][i % 4]));
            CHECK(apart < 1e-5, "%s from space %d: the grid is off by %g mm", names[f], space, apart);
            for (int i = 0; i < 24; i++)
                turn = fmax(turn, fabs(sign[0][i % 3] * hot_dwi_gradients(dwi)[i] -
                                       sign[1][i % 3] * hot_dwi_gradients(again)[i]));
            CHECK(turn < 1e-6, "%s from space %d: gradients are off by %g", names[f], space, turn);
            for (int v = 0; v < 8; v++)
                CHECK_NEAR(hot_dwi_b(again)[v], b[v], 1e-4 * b[v], "%s: b of volume %d", names[f], v);
            CHECK(hot_dwi_read(context, dwi, 0, VOXELS, row[0]) == HOT_OK &&
                      hot_dwi_read(context, again, 0, VOXELS, row[1]) == HOT_OK &&
                      memcmp(row[0], row[1], sizeof row[0]) == 0, "%s: signals", names[f]);
            CHECK(hot_dwi_check_distinct(context, again, names[f]) == HOT_ERROR_ARGUMENT, "%s is an input", names[f]);
            CHECK(hot_dwi_check_distinct(context, again, "another.nrrd") == HOT_OK, "another file");
            hot_dwi_destroy(&again);
            unlink(names[f]);
        }
        hot_dwi_destroy(&dwi);
        unlink("promised.bval"), unlink("promised.bvec"), unlink("promised.dat");
    }
    static const double signs[][3] = {{1, 1, 1}, {1, 1, 1}, {-1, 1, 1}, {-1, -1, 1}}; /* unknown, RAS, LAS, LPS */
    for (int space = 0; space <= HOT_SPACE_LPS; space++) {
        double sign[3];
        hot_space_ras_sign((hot_space)space, sign);
        CHECK(memcmp(sign, signs[space], sizeof sign) == 0, "space %d", space);
    }
}

int main(void)
{
    hot_context *context = context_of(2);
    test_b(context);
    test_gradients(context);
    test_shells(context);
    test_masks(context);
    test_noise(context);
    test_files(context);
    hot_context_destroy(&context);
    COUNTED_TEST_END();
}
