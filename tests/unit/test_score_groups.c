/* Scores at the edges of their groups: crossings whose angles lie just within and just outside, percentiles of errors
 * that are known, the pairing that is the best of all, limits by number, length, mask and slice. */
#include <hotfiber/hotfiber.h>

#include "promises/threads.h"

enum { MOST = 32, SLOTS = 4 };

static const double degree = 57.295779513082321;

/* Fields of a row of voxels: v[voxel][fibre][3]. */
static hot_fiber_field *field(hot_context *context, size_t voxels, float v[MOST][SLOTS][3])
{
    const hot_grid grid = {.size = {voxels, 1, 1}, .to_world = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}},
                           .space = HOT_SPACE_RAS};
    hot_fiber_field *made = NULL;
    CHECK(hot_fiber_field_create(context, &grid, SLOTS, v[0][0], &made) == HOT_OK, "%s", hot_context_message(context));
    return made;
}

static void put(float v[3], double degrees, double length)
{
    v[0] = (float)(length * cos(degrees / degree)), v[1] = (float)(length * sin(degrees / degree)), v[2] = 0;
}

static const hot_score_group *find(const hot_score *score, const char *table, const char *name)
{
    size_t count;
    const hot_score_group *groups = hot_score_groups(score, &count);
    for (size_t g = 0; g < count; g++)
        if (strcmp(groups[g].table, table) == 0 && strcmp(groups[g].name, name) == 0)
            return &groups[g];
    return NULL;
}

static size_t voxels_of(const hot_score *score, const char *table, const char *name)
{
    const hot_score_group *group = find(score, table, name);
    return group ? group->voxels : 0;
}

/* One crossing of two at a time: in which group it is. "A boundary counts with .05 degrees of tolerance." */
static void test_edges(hot_context *context)
{
    static const struct {
        double angle;
        const char *condition, *tens;
    } cases[] = {
        {10, "other", "10"},      {29.9, "other", "30"},    {29.96, "30-40", "30"},  {30, "30-40", "30"},
        {34.9, "30-40", "30"},    {35.1, "30-40", "40"},    {40, "30-40", "40"},     {40.04, "30-40", "40"},
        {40.1, "other", "40"},    {44.9, "other", "40"},    {44.96, "45-55", "40"},  {50, "45-55", "50"},
        {55.04, "45-55", "60"},   {55.1, "other", "60"},    {57, "other", "60"},     {59.9, "other", "60"},
        {59.96, "60-90", "60"},   {60, "60-90", "60"},      {61, "60-90", "60"},     {65.1, "60-90", "70"},
        {90, "60-90", "90"},      {119, "60-90", "60"},     {120.1, "other", "60"},  {150, "30-40", "30"}};
    static const char *const all[] = {"single", "30-40", "45-55", "60-90", "three", "isotropic", "other"};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        static float v[MOST][SLOTS][3];
        hot_score *score = NULL;
        memset(v, 0, sizeof v);
        put(v[0][0], 17, .7);
        put(v[0][1], 17 + cases[c].angle, .3);
        hot_fiber_field *one = field(context, 1, v);
        CHECK(hot_score_create(context, one, one, NULL, &score) == HOT_OK, "%s", hot_context_message(context));
        for (size_t a = 0; a < sizeof all / sizeof *all; a++)
            CHECK((voxels_of(score, "condition", all[a]) == 1) == (strcmp(all[a], cases[c].condition) == 0),
                  "a crossing of %g degrees: %s", cases[c].angle, all[a]);
        CHECK(voxels_of(score, "angle", cases[c].tens) == 1, "a crossing of %g degrees is not near %s", cases[c].angle,
              cases[c].tens);
        char name[40];
        snprintf(name, sizeof name, "%s .7", cases[c].condition);
        CHECK(voxels_of(score, "fraction", name) == 1, "%g degrees, fraction .7", cases[c].angle);
        snprintf(name, sizeof name, "%s .7", cases[c].tens);
        CHECK(voxels_of(score, "angle and fraction", name) == 1, "%g degrees and fraction .7", cases[c].angle);
        CHECK(voxels_of(score, "all", "all voxels") == 1 && voxels_of(score, "fibres", "2") == 1, "all, two fibres");
        int present;
        const double mean = hot_score_mean(score, &present);
        const int counts = strcmp(cases[c].condition, "other") != 0;
        CHECK(present == counts && (counts ? mean == 1 : isnan(mean)), "mean %g of %d", mean, present);
        hot_score_destroy(&score);
        hot_fiber_field_destroy(&one);
    }
}

/* Single fibres that are found .9, 1.9, ... 20.9 degrees off: mean, median and 95th percentile by hand. */
static void test_errors(hot_context *context)
{
    static float is[MOST][SLOTS][3], says[MOST][SLOTS][3];
    enum { N = 21 };
    for (int n = 0; n < N; n++) {
        put(is[n][0], 0, 1);
        put(says[n][0], n % 2 ? n + .9 : 180 - (n + .9), 1); /* up to sign */
        if (n < 6)
            put(says[n][1], 90, .5 - .01 * n), put(says[n][2], 45, .3); /* two too many */
    }
    hot_fiber_field *truth = field(context, N, is), *found = field(context, N, says);
    hot_score *score = NULL;
    CHECK(hot_score_create(context, found, truth, NULL, &score) == HOT_OK, "%s", hot_context_message(context));
    const hot_score_group *g = find(score, "condition", "single");
    CHECK(g && g->voxels == N && g->matched == N && g->right_count == N - 6 && g->over == 6 && g->under == 0,
          "%zu voxels, %zu right, %zu over, %zu under", g->voxels, g->right_count, g->over, g->under);
    CHECK(g->solved == 9, "%zu of voxels 6 to 14 are within 15 degrees", g->solved);
    CHECK_NEAR(g->plus, 12. / N, 1e-12, "n+ %g", g->plus);
    CHECK_NEAR(g->minus, 0, 0, "n- %g", g->minus);
    CHECK_NEAR(g->error_mean, 10.9, 1e-4, "mean %g", g->error_mean);
    CHECK_NEAR(g->error_median, 10.9, 1e-4, "median %g", g->error_median);
    CHECK_NEAR(g->error_95, 19.9, 1e-4, "95 %% %g", g->error_95);
    CHECK_NEAR(hot_score_mean(score, NULL), 9. / N, 1e-12, "mean %g", hot_score_mean(score, NULL));
    hot_score_destroy(&score);

    /* the other way round two are missing each time; a limit of one, or a threshold, makes it right */
    CHECK(hot_score_create(context, truth, found, NULL, &score) == HOT_OK, "%s", hot_context_message(context));
    g = find(score, "condition", "three");
    CHECK(g && g->voxels == 6 && g->under == 6 && g->over == 0 && g->minus == 2 && g->plus == 0 && g->matched == 6,
          "three fibres of which one is found");
    hot_score_destroy(&score);
    for (int limit = 1; limit <= 3; limit++) {
        const hot_score_options by_number = {.size = sizeof by_number, .max_fibers = limit};
        CHECK(hot_score_create(context, found, truth, &by_number, &score) == HOT_OK, "limit");
        g = find(score, "all", "all voxels");
        CHECK(g->over == (limit > 1 ? 6 : 0) && g->plus * N == 6 * (limit - 1), "at most %d: %zu, %g", limit, g->over,
              g->plus);
        hot_score_destroy(&score);
    }
    const struct {
        double threshold;
        size_t over;
    } lengths[] = {{.2, 6}, {.31, 6}, {.455, 5}, {.475, 3}, {.51, 0}};
    for (int i = 0; i < 5; i++) {
        const hot_score_options by_length = {.size = sizeof by_length, .threshold = lengths[i].threshold};
        CHECK(hot_score_create(context, found, truth, &by_length, &score) == HOT_OK, "threshold");
        CHECK(find(score, "all", "all voxels")->over == lengths[i].over, "threshold %g: %zu", lengths[i].threshold,
              find(score, "all", "all voxels")->over);
        hot_score_destroy(&score);
    }
    const double tolerances[] = {6.8, 7.01, 12.01, 20.8, 89};
    const size_t solved[] = {0, 1, 6, 14, 15};
    for (int i = 0; i < 5; i++) {
        const hot_score_options by_angle = {.size = sizeof by_angle, .tolerance = tolerances[i]};
        CHECK(hot_score_create(context, found, truth, &by_angle, &score) == HOT_OK, "tolerance");
        CHECK(find(score, "all", "all voxels")->solved == solved[i], "within %g: %zu", tolerances[i],
              find(score, "all", "all voxels")->solved);
        hot_score_destroy(&score);
    }
    uint8_t mask[N] = {0};
    mask[0] = mask[20] = 1;
    const hot_score_options masked = {.size = sizeof masked, .mask = mask};
    CHECK(hot_score_create(context, found, truth, &masked, &score) == HOT_OK, "mask");
    g = find(score, "all", "all voxels");
    CHECK(g->voxels == 2 && g->over == 1, "%zu voxels in the mask", g->voxels);
    CHECK_NEAR(g->error_mean, 10.9, 1e-4, "mean %g", g->error_mean);
    CHECK_NEAR(g->error_95, .9 + .95 * 20, 1e-4, "95 %% of two: %g", g->error_95);
    hot_score_destroy(&score);
    hot_fiber_field_destroy(&truth);
    hot_fiber_field_destroy(&found);
}

/* The pairing has the least sum, which taking the nearest first does not find: truth at 0 and 20, found at 19 and 41.
 * Nearest first: 19-20 (1) and 41-0 (41); the best: 19 + 21 = 40. */
static void test_pairing(hot_context *context)
{
    static float is[MOST][SLOTS][3], says[MOST][SLOTS][3];
    hot_score *score = NULL;
    put(is[0][0], 0, .6), put(is[0][1], 20, .4);
    put(says[0][0], 19, .4), put(says[0][1], 41, .6);
    hot_fiber_field *truth = field(context, 1, is), *found = field(context, 1, says);
    CHECK(hot_score_create(context, found, truth, NULL, &score) == HOT_OK, "%s", hot_context_message(context));
    const hot_score_group *g = find(score, "all", "all voxels");
    CHECK_NEAR(g->error_mean, 20, 1e-4, "mean %g", g->error_mean);
    CHECK_NEAR(g->error_median, 20, 1e-4, "median %g", g->error_median);
    CHECK_NEAR(g->error_95, 19 + .95 * 2, 1e-4, "95 %% %g", g->error_95);
    hot_score_destroy(&score);
    hot_fiber_field_destroy(&truth);
    hot_fiber_field_destroy(&found);
}

/* Slices are numbered from 1 here; one that is not there is refused. */
static void test_slices(hot_context *context)
{
    const hot_grid grid = {.size = {1, 1, 3}, .to_world = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
    float v[3][3] = {{1, 0, 0}, {0, 0, 0}, {0, 0, 1}};
    hot_fiber_field *one = NULL;
    hot_score *score = NULL;
    CHECK(hot_fiber_field_create(context, &grid, 1, v[0], &one) == HOT_OK, "a field");
    for (int slice = 0; slice <= 4; slice++) {
        const hot_score_options o = {.size = sizeof o, .slice = slice};
        const hot_status status = hot_score_create(context, one, one, &o, &score);
        CHECK(status == (slice == 4 ? HOT_ERROR_ARGUMENT : HOT_OK), "slice %d: %d", slice, status);
        if (status == HOT_OK)
            CHECK(voxels_of(score, "condition", "isotropic") == (slice == 0 || slice == 2) &&
                      voxels_of(score, "condition", "single") == (slice == 0 ? 2 : slice != 2), "slice %d", slice);
        hot_score_destroy(&score);
    }
    hot_fiber_field_destroy(&one);
}

/* Voxels are matched by place if both files say where they are, else in the order in which they are stored. */
static void test_places(hot_context *context)
{
    float v[3][3] = {{1, 0, 0}, {0, 0, 0}, {0, .6f, .8f}}, reversed[3][3];
    for (int i = 0; i < 3; i++)
        memcpy(reversed[i], v[2 - i], sizeof v[i]);
    const hot_grid plain = {.size = {3, 1, 1}, .to_world = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
    hot_grid placed = plain, turned = plain;
    placed.space = turned.space = HOT_SPACE_RAS;
    turned.to_world[0][0] = -1, turned.to_world[0][3] = 2;
    const struct {
        const hot_grid *grids[2];
        float (*truth)[3];
    } cases[] = {{{&placed, &turned}, reversed}, {{&plain, &turned}, v}, {{&turned, &plain}, v}, {{&plain, &plain}, v}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        hot_fiber_field *found = NULL, *truth = NULL;
        hot_score *score = NULL;
        CHECK(hot_fiber_field_create(context, cases[c].grids[0], 1, v[0], &found) == HOT_OK &&
                  hot_fiber_field_create(context, cases[c].grids[1], 1, cases[c].truth[0], &truth) == HOT_OK &&
                  hot_score_create(context, found, truth, NULL, &score) == HOT_OK, "%s", hot_context_message(context));
        const hot_score_group *all = find(score, "all", "all voxels");
        CHECK(all && all->voxels == 3 && all->solved == 3 && all->error_95 < .1, "grids %zu: %zu of 3 solved", c,
              all ? all->solved : 0);
        hot_score_destroy(&score);
        hot_fiber_field_destroy(&found);
        hot_fiber_field_destroy(&truth);
    }
}

int main(void)
{
    hot_context *context = context_of(2);
    test_edges(context);
    test_errors(context);
    test_pairing(context);
    test_slices(context);
    test_places(context);
    hot_context_destroy(&context);
    COUNTED_TEST_END();
}
