/* Phantoms in C: random numbers fixed for all machines, refusals, noise. */
#include "core/fields.h"
#include "core/random.h"

#include "check.h"

static void test_random(void)
{
    /* The bits are integer arithmetic and the rest is +, *, / and sqrt: these hold on every machine. */
    hot_random r = hot_random_start(1, 2, 3);
    double a, b, mean = 0, square = 0, fourth = 0;
    uint64_t first = hot_random_bits(&r);
    hot_random again = hot_random_start(1, 2, 3), other = hot_random_start(1, 2, 4);
    CHECK(first == hot_random_bits(&again) && first != hot_random_bits(&other), "streams");
    CHECK(first == 6559416482577612247u, "the first bits of stream (1, 2, 3): %llu", (unsigned long long)first);
    for (int i = 1; i < 2000; i++) {
        double x = i / 2000.0, c, s;
        CHECK_NEAR(hot_random_log(x), log(x), 4e-16 * fmax(1, fabs(log(x))), "log %g", x);
        hot_random_turn(x, &c, &s);
        CHECK(fabs(c - cos(6.283185307179586 * x)) < 2e-15 && fabs(s - sin(6.283185307179586 * x)) < 2e-15, "turn %g",
              x);
    }
    CHECK_NEAR(hot_random_log(0x1p-53), -53 * log(2), 1e-13, "log of the smallest");
    enum { N = 200000 };
    for (int i = 0; i < N; i++) {
        hot_random_normals(&r, &a, &b);
        mean += a + b;
        square += a * a + b * b;
        fourth += a * a * a * a + b * b * b * b;
    }
    CHECK_NEAR(mean / (2 * N), 0, 0.006, "mean");
    CHECK_NEAR(square / (2 * N), 1, 0.01, "variance");
    CHECK_NEAR(fourth / (2 * N), 3, 0.08, "fourth moment");
    double q[3][3];
    hot_random_rotation(&r, q);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            CHECK_NEAR(q[0][i] * q[0][j] + q[1][i] * q[1][j] + q[2][i] * q[2][j], i == j, 1e-14, "rotation");
    double determinant = q[0][0] * (q[1][1] * q[2][2] - q[1][2] * q[2][1]) -
        q[0][1] * (q[1][0] * q[2][2] - q[1][2] * q[2][0]) + q[0][2] * (q[1][0] * q[2][1] - q[1][1] * q[2][0]);
    CHECK_NEAR(determinant, 1, 1e-14, "no mirror");
}

static void test_refusals(void)
{
    hot_context *context = NULL;
    hot_phantom *phantom = NULL;
    CHECK(hot_context_create(NULL, &context) == HOT_OK, "context");
    hot_phantom_options options = {.size = 1};
    CHECK(hot_phantom_create(context, &options, &phantom) == HOT_ERROR_ARGUMENT && !phantom, "absurd size");
    options = (hot_phantom_options){.size = sizeof options, .tissue = (hot_phantom_tissue)7};
    CHECK(hot_phantom_create(context, &options, &phantom) == HOT_ERROR_ARGUMENT && !phantom, "no such tissue");
    options = (hot_phantom_options){.size = sizeof options, .voxels = SIZE_MAX / 2};
    CHECK(hot_phantom_create(context, &options, &phantom) != HOT_OK && !phantom, "more voxels than memory");
    options = (hot_phantom_options){.size = sizeof options, .directions = SIZE_MAX / 2};
    CHECK(hot_phantom_create(context, &options, &phantom) != HOT_OK && !phantom, "more volumes than memory");
    const double b[2] = {0, 1000}, g[6] = {0, 0, 0, 0, 0, 0};
    options = (hot_phantom_options){.size = sizeof options, .scheme_b = b, .scheme_gradients = g, .scheme_volumes = 2};
    CHECK(hot_phantom_create(context, &options, &phantom) == HOT_ERROR_ARGUMENT, "b = 1000 without a direction");
    CHECK(strstr(hot_context_message(context), "volume 1") != NULL, "said which: %s", hot_context_message(context));
    hot_context_destroy(&context);
}

/* The noise of a slice is s0 over its SNR: of the conditions each has its own, elsewhere all have the first. */
static void test_sigma(void)
{
    static const double snr[] = {20, 40, INFINITY};
    hot_context *context = NULL;
    CHECK(hot_context_create(NULL, &context) == HOT_OK, "context");
    for (int layout = 0; layout < 2; layout++) {
        const hot_phantom_options options = {
            .size = sizeof options, .voxels = 5, .snr = snr, .snr_count = 3, .s0 = 500,
            .layout = layout ? HOT_PHANTOM_MIXTURE : HOT_PHANTOM_CONDITIONS};
        hot_phantom *phantom = NULL;
        CHECK(hot_phantom_create(context, &options, &phantom) == HOT_OK, "%s", hot_context_message(context));
        CHECK_NEAR(hot_phantom_sigma(phantom, 0), 25, 1e-12, "layout %d, first slice", layout);
        CHECK_NEAR(hot_phantom_sigma(phantom, 1), layout ? 25 : 12.5, 1e-12, "layout %d, second slice", layout);
        CHECK_NEAR(hot_phantom_sigma(phantom, 2), layout ? 25 : 0, 1e-12, "layout %d, without noise", layout);
        CHECK_NEAR(hot_phantom_sigma(phantom, 3), 25, 1e-12, "layout %d, beyond the last", layout);
        hot_phantom_destroy(&phantom);
    }
    CHECK(hot_phantom_sigma(NULL, 0) == 0 && !hot_phantom_dwi(NULL) && !hot_phantom_truth(NULL) &&
              !hot_phantom_tissue_map(NULL), "no phantom");
    hot_context_destroy(&context);
}

int main(void)
{
    test_random();
    test_refusals();
    test_sigma();
    HOT_TEST_END();
}
