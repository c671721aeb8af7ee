/* Phantom and score in C: random numbers fixed for all machines, starved memory, cancelling, a score worked by hand. */
#include "core/fields.h"
#include "core/random.h"

#include "check.h"
#include "starve.h"

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

static void test_starved(void)
{
    const double shells[2] = {1000, 2000}, shares[6] = {1, 1, 1, 1, 2, 1};
    hot_phantom_options options =
        {.size = sizeof options, .voxels = 3, .shell_b = shells, .shells = 2, .directions = 8, .b0 = 2,
         .layout = HOT_PHANTOM_MIXTURE, .volume = {3, 3, 2}, .share = shares, .tissue = HOT_TISSUE_NODDI};
    long done = -1;
    for (long k = 0; k < 200 && done < 0; k++) {
        starved s = {.fail_at = k + 1}; /* the first is the context's own */
        hot_context_options settings = {
            .size = sizeof settings, .threads = 2, .allocate = starved_take, .release = starved_give,
            .allocator_user = &s};
        hot_context *context = NULL;
        hot_phantom *phantom = NULL;
        hot_score *score = NULL;
        CHECK(hot_context_create(&settings, &context) == HOT_OK, "context");
        hot_status status = hot_phantom_create(context, &options, &phantom);
        CHECK(status == HOT_OK || (status == HOT_ERROR_MEMORY && !phantom), "status %d at allocation %ld", (int)status,
              k);
        if (status == HOT_OK)
            status = hot_score_create(context, hot_phantom_truth(phantom), hot_phantom_truth(phantom), NULL, &score);
        CHECK(status == HOT_OK || (status == HOT_ERROR_MEMORY && !score), "status %d at allocation %ld", (int)status,
              k);
        if (status == HOT_OK)
            done = k;
        hot_score_destroy(&score);
        hot_phantom_destroy(&phantom);
        hot_context_destroy(&context);
        CHECK(s.live == 0, "%ld pieces of memory lost when allocation %ld fails", s.live, k);
    }
    CHECK(done > 10, "ends well once nothing fails: %ld allocations", done);
}

static int stop(void *user, const char *stage, double fraction)
{
    (void)user, (void)stage, (void)fraction;
    return 1;
}

static void test_refusals(void)
{
    hot_context_options settings = {.size = sizeof settings, .progress = stop};
    hot_context *context = NULL;
    hot_phantom *phantom = NULL;
    CHECK(hot_context_create(&settings, &context) == HOT_OK, "context");
    CHECK(hot_phantom_create(context, NULL, &phantom) == HOT_ERROR_CANCELLED && !phantom, "cancelled");
    hot_context_destroy(&context);
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

/* Four voxels along x: a crossing at 90 degrees found with 10 degrees of error each; a single fibre split in two; three
 * fibres of which one is missing; nothing where nothing is. */
static void test_score(void)
{
    const float truth[4][9] = {{.5f, 0, 0, 0, .5f, 0}, {0, 0, 1}, {.4f, 0, 0, 0, .3f, 0, 0, 0, .3f}, {0}};
    const float c = 0.98480775f, s = 0.17364818f; /* 10 degrees */
    const float found[4][9] = {{-s, c, 0, .9f * c, .9f * s, 0}, {0, s, c, 0, -.5f * s, .5f * c}, {0, 0, 1, 0, -1, 0},
                               {0}};
    hot_grid grid = {.size = {4, 1, 1}, .to_world = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}, .space = HOT_SPACE_RAS};
    hot_context *context = NULL;
    hot_fiber_field *is = NULL, *says = NULL;
    hot_score *score = NULL;
    size_t count;
    int present;
    CHECK(hot_context_create(NULL, &context) == HOT_OK, "context");
    CHECK(hot_fiber_field_create(context, &grid, 3, truth[0], &is) == HOT_OK, "truth");
    CHECK(hot_fiber_field_create(context, &grid, 3, found[0], &says) == HOT_OK, "found");
    CHECK(hot_score_create(context, says, is, NULL, &score) == HOT_OK, "score");
    CHECK_NEAR(hot_score_mean(score, &present), 1.0 / 3, 1e-12, "60-90 solved, single and three not");
    CHECK(present == 3, "%d groups", present);
    const hot_score_group *groups = hot_score_groups(score, &count);
    for (size_t i = 0; i < count; i++) {
        const hot_score_group *g = &groups[i];
        if (strcmp(g->name, "60-90") == 0)
            CHECK(g->solved == 1 && g->matched == 2 && fabs(g->error_mean - 10) < 1e-3, "crossing: %g", g->error_mean);
        if (strcmp(g->name, "single") == 0)
            CHECK(g->over == 1 && g->plus == 1 && g->matched == 1 && g->solved == 0, "split");
        if (strcmp(g->name, "three") == 0)
            CHECK(g->under == 1 && g->minus == 1 && g->matched == 2 && fabs(g->error_mean) < 1e-3, "one missing");
        if (strcmp(g->name, "isotropic") == 0)
            CHECK(g->right_count == 1 && g->solved == 1 && isnan(g->error_mean), "nothing");
    }
    hot_score_destroy(&score);
    hot_score_options strict = {.size = sizeof strict, .tolerance = 9, .threshold = 0.6};
    CHECK(hot_score_create(context, says, is, &strict, &score) == HOT_OK, "score");
    groups = hot_score_groups(score, &count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(groups[i].name, "60-90") == 0)
            CHECK(groups[i].solved == 0 && groups[i].right_count == 1, "10 degrees are more than 9");
        if (strcmp(groups[i].name, "single") == 0)
            CHECK(groups[i].right_count == 1 && groups[i].solved == 0, "the short one does not count");
    }
    hot_score_destroy(&score);
    const uint8_t mask[4] = {0, 1, 0, 0};
    hot_score_options masked = {.size = sizeof masked, .mask = mask};
    CHECK(hot_score_create(context, says, is, &masked, &score) == HOT_OK, "score");
    groups = hot_score_groups(score, &count);
    CHECK(groups[count - 1].voxels == 1 && strcmp(groups[count - 1].table, "all") == 0, "one voxel in the mask");
    hot_score_destroy(&score);
    hot_fiber_field_destroy(&says);
    grid.size[0] = 2;
    CHECK(hot_fiber_field_create(context, &grid, 3, found[0], &says) == HOT_OK, "fewer voxels");
    CHECK(hot_score_create(context, says, is, NULL, &score) == HOT_ERROR_DATA && !score, "sizes differ");
    hot_fiber_field_destroy(&says);
    hot_fiber_field_destroy(&is);
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
    test_starved();
    test_refusals();
    test_score();
    test_sigma();
    HOT_TEST_END();
}
