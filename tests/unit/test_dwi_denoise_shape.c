/* The part of the signals' shape that denoising removed is restored, and nothing else: fibres with a known removed
 * part. */
#include <hotfiber/hotfiber.h>
#include <hotfiber/symtensor.h>

#include "check.h"
#include "dwi/denoise_shape.h"

enum { NX = 16, NY = 9, NZ = 8, ALL = NX * NY * NZ, B0 = 3, EACH = 32, SHELLS = 2, VOLUMES = B0 + SHELLS * EACH,
       LMAX = 4, TERMS = 15 };
static const hot_grid grid = {.size = {NX, NY, NZ}, .to_world = {{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}}};

typedef struct world {
    hot_context *context;
    hot_dwi *before, *after; /* noisy, and denoised */
    float noisy[ALL * VOLUMES], clean[ALL * VOLUMES]; /* voxel after voxel; clean: what denoising should make of it */
    double g[3 * VOLUMES], harmonics[VOLUMES * TERMS];
} world;

static world w;

/* Whether denoising removed the shape of a voxel: i < edge, or the last layer along axis -1 - edge. */
static int was_removed(int n, int edge)
{
    const int at[3] = {n % NX, n / NX % NY, n / (NX * NY)}, last[3] = {NX - 1, NY - 1, NZ - 1};
    return edge < 0 ? at[-1 - edge] == last[-1 - edge] : at[0] < edge;
}

/* Noise of deviation 1 about randomly oriented fibres, of degrees 2 and 4; denoising removed `shape` of the latter
 * where was_removed is 1. */
static void make(double shape, int edge, int directions)
{
    static float signals[VOLUMES * ALL];
    double b[VOLUMES];
    uint64_t state = 11;
    const int volumes = B0 + SHELLS * directions;
    for (int v = 0; v < volumes; v++) {
        double *g = w.g + 3 * v;
        b[v] = v < B0 ? 0 : v < B0 + directions ? 1000 : 2000;
        memset(g, 0, 3 * sizeof *g);
        if (v >= B0)
            check_random_unit(&state, g);
    }
    CHECK(hot_sh_values_f64(LMAX, (size_t)(volumes - B0), w.g + 3 * B0, w.harmonics + B0 * TERMS) == HOT_OK,
          "harmonics");
    for (int n = 0; n < ALL; n++) {
        double axis[3];
        check_random_unit(&state, axis);
        for (int v = 0; v < volumes; v++) {
            const double *g = w.g + 3 * v, x = g[0] * axis[0] + g[1] * axis[1] + g[2] * axis[2];
            const double fourth = (35 * x * x * x * x - 30 * x * x + 3) / 8;
            double value = v < B0 ? 100 : 40 - 10 * (3 * x * x - 1) / 2 + (was_removed(n, edge) ? 0 : shape * fourth);
            w.clean[n * volumes + v] = (float)value;
            if (v >= B0 && was_removed(n, edge))
                value += shape * fourth;
            w.noisy[n * volumes + v] = (float)(value + check_random_normal(&state));
            signals[v * ALL + n] = w.noisy[n * volumes + v];
        }
    }
    CHECK(hot_dwi_create(w.context, &grid, (size_t)volumes, b, w.g, signals, &w.before) == HOT_OK &&
              hot_dwi_denoise(w.context, w.before, NULL, NULL, &w.after, NULL) == HOT_OK,
          "%s", hot_context_message(w.context));
    memcpy(w.after->data, w.clean, (size_t)(ALL * volumes) * sizeof(float));
}

static double restore(void)
{
    double share = NAN;
    CHECK(hot_dwi_restore_shape(w.context, w.before, w.after, &share) == HOT_OK, "%s", hot_context_message(w.context));
    return share;
}

static void end(void)
{
    hot_dwi_destroy(&w.before);
    hot_dwi_destroy(&w.after);
}

/* Of what is off between two arrays the largest product with a harmonic of degree `low` to `high` of any shell, of the
 * root of the volumes' number, and the root mean square. */
static double largest(const float *a, const float *c, int voxel, int low, int high, double *rms)
{
    double most = 0;
    *rms = 0;
    for (int v = 0; v < VOLUMES; v++)
        *rms += pow((double)(a[voxel * VOLUMES + v] - c[voxel * VOLUMES + v]), 2) / VOLUMES;
    *rms = sqrt(*rms);
    for (int shell = 0; shell < SHELLS; shell++)
        for (int t = low == 0 ? 0 : low == 2 ? 1 : 6; t < (high + 1) * (high + 2) / 2; t++) {
            double sum = 0;
            for (int v = B0 + shell * EACH; v < B0 + (shell + 1) * EACH; v++)
                sum += (double)(a[voxel * VOLUMES + v] - c[voxel * VOLUMES + v]) * w.harmonics[v * TERMS + t];
            most = fmax(most, fabs(sum) / EACH);
        }
    return most;
}

static void test_noise_alone(void)
{
    make(0, 0, EACH);
    const double share = restore();
    CHECK(share <= 0.01, "noise: %g of the voxels changed", share);
    double changed = 0;
    for (int i = 0; i < ALL * VOLUMES; i++)
        changed += ((const float *)w.after->data)[i] != w.clean[i];
    CHECK(changed <= 0.01 * ALL * VOLUMES, "%g samples changed", changed);
    end();
}

static void test_shape(void)
{
    make(1.5, NX, EACH);
    const double share = restore();
    CHECK(share == 1, "shape everywhere: %g of the voxels changed", share);
    double left = 0, mean = 0, rms, off;
    for (int n = 0; n < ALL; n++) {
        left = fmax(left, largest(w.noisy, w.after->data, n, 0, 4, &rms));
        mean += rms / ALL;
    }
    CHECK(left < 1e-4, "of the low harmonics %g is missing", left);
    /* 3 means and 2 x 15 harmonics of 67 numbers are back, noise and all */
    CHECK(fabs(mean - sqrt(36.0 / VOLUMES)) < 0.02, "what stays removed is %g of the noise", mean);
    off = largest(w.noisy, w.clean, 5, 4, 4, &rms);
    CHECK(off > 0.05, "the test itself: only %g had been removed", off);
    end();
}

static void test_where_it_was(void)
{
    size_t inside = 0, outside = 0;
    make(1.5, NX / 2, EACH);
    const double share = restore();
    for (int n = 0; n < ALL; n++) {
        const int changed = memcmp((const float *)w.after->data + n * VOLUMES, w.clean + n * VOLUMES,
                                   VOLUMES * sizeof(float)) != 0;
        inside += n % NX < NX / 2 && changed;
        outside += n % NX >= NX / 2 + 3 && changed; /* half a window farther */
    }
    CHECK(inside == ALL / 2, "of %d voxels with shape %zu are whole again", ALL / 2, inside);
    CHECK(outside <= ALL / 100, "%zu voxels without were changed", outside);
    CHECK(share > 0.5 && share < 0.75, "the share told is %g", share);
    end();
}

/* In the last layer along each axis alone: found there, and not beyond the window. */
static void test_last_layers(void)
{
    for (int axis = 0; axis < 3; axis++) {
        static const int step[3] = {1, NX, NX * NY}, size[3] = {NX, NY, NZ};
        size_t inside = 0, outside = 0;
        make(3, -1 - axis, EACH);
        restore();
        for (int n = 0; n < ALL; n++) {
            const int changed = memcmp((const float *)w.after->data + n * VOLUMES, w.clean + n * VOLUMES,
                                       VOLUMES * sizeof(float)) != 0;
            inside += was_removed(n, -1 - axis) && changed;
            outside += n / step[axis] % size[axis] < size[axis] - 4 && changed;
        }
        /* not all: in a corner only 16 of the window's 64 voxels have it, and 4 standard deviations are needed */
        CHECK((double)inside >= .9 * ALL / size[axis], "axis %d: of %d voxels with shape %zu are whole again", axis,
              ALL / size[axis], inside);
        CHECK(outside <= ALL / 100, "axis %d: %zu voxels without were changed", axis, outside);
        end();
    }
}

/* Too few directions to tell noise from shape; a voxel that is no number; one thread or several. */
static void test_odd(void)
{
    static float one[ALL * VOLUMES];
    make(1.5, NX, 6);
    CHECK(restore() == 0, "six directions were used");
    end();
    make(1.5, NX, EACH);
    hot_dwi_destroy(&w.before);
    double b[VOLUMES];
    for (int v = 0; v < VOLUMES; v++)
        b[v] = v < B0 ? 0 : v < B0 + EACH ? 1000 : 2000;
    static float signals[VOLUMES * ALL];
    for (int n = 0; n < ALL; n++)
        for (int v = 0; v < VOLUMES; v++)
            signals[v * ALL + n] = n == 100 ? NAN : w.noisy[n * VOLUMES + v];
    for (int v = 0; v < VOLUMES; v++)
        ((float *)w.after->data)[100 * VOLUMES + v] = NAN;
    CHECK(hot_dwi_create(w.context, &grid, VOLUMES, b, w.g, signals, &w.before) == HOT_OK, "%s",
          hot_context_message(w.context));
    restore();
    double rms, left = 0;
    for (int n = 0; n < ALL; n++)
        left = n == 100 ? left : fmax(left, largest(w.noisy, w.after->data, n, 0, 4, &rms));
    CHECK(left < 1e-4, "next to a voxel of NaN %g is missing", left);
    memcpy(one, w.after->data, sizeof one);
    memcpy(w.after->data, w.clean, sizeof w.clean);
    for (int v = 0; v < VOLUMES; v++)
        ((float *)w.after->data)[100 * VOLUMES + v] = NAN;
    hot_context *single = NULL, *several = w.context;
    CHECK(hot_context_create(&(hot_context_options){.size = sizeof(hot_context_options), .threads = 1}, &single) ==
              HOT_OK, "a context");
    w.context = single;
    restore();
    w.context = several;
    hot_context_destroy(&single);
    CHECK(memcmp(one, w.after->data, sizeof one) == 0, "one thread finds something else");
    end();
}

/* Cancels at the poll whose number has come down to 0, and from then on. */
static int cancel(void *polls) { return --*(int *)polls < 0; }

/* Cancelled at any moment it returns HOT_ERROR_CANCELLED. */
static void test_cancelled(void)
{
    int cancelled = 0, polls;
    hot_status status = HOT_ERROR_CANCELLED;
    double share;
    make(1.5, NX, EACH);
    for (; status == HOT_ERROR_CANCELLED && cancelled < 1000; cancelled++) {
        hot_context *context = NULL;
        polls = cancelled;
        CHECK(hot_context_create(&(hot_context_options){.size = sizeof(hot_context_options), .threads = 1,
                                                        .stop = cancel, .stop_user = &polls}, &context) == HOT_OK,
              "a context");
        status = hot_dwi_restore_shape(context, w.before, w.after, &share);
        CHECK(status == HOT_OK || strncmp(hot_context_message(context), "cancelled while", 15) == 0,
              "cancelled at poll %d: '%s'", cancelled, hot_context_message(context));
        hot_context_destroy(&context);
    }
    CHECK(status == HOT_OK && cancelled > NZ, "status %d after %d polls", (int)status, cancelled);
    end();
}

int main(void)
{
    CHECK(hot_context_create(NULL, &w.context) == HOT_OK, "a context");
    test_noise_alone();
    test_shape();
    test_where_it_was();
    test_last_layers();
    test_odd();
    test_cancelled();
    hot_context_destroy(&w.context);
    HOT_TEST_END();
}
