/* The odf model: which shell is used, and signals near and beyond 0 and 1 (where the ODF is known: test_model.c). */
#include <hotfiber/hotfiber.h>

#include "promises/threads.h"

enum { DIRECTIONS = 90, VOLUMES = DIRECTIONS + 2, VOXELS = 12, MAX_TERM_COUNT = 45 };

static const hot_grid row = {.size = {VOXELS, 1, 1}, .to_world = {{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}}};

/* Signals[volume][voxel], two volumes of b=0 of mean 500. */
static void fit(hot_context *context, int order, const double *g, const double e[VOXELS][DIRECTIONS],
                hot_tensor_field **field)
{
    static float signals[VOLUMES][VOXELS];
    double b[VOLUMES] = {0};
    hot_dwi *dwi = NULL;
    hot_mask *mask = NULL;
    for (int n = 0; n < VOXELS; n++) {
        signals[0][n] = 450, signals[1][n] = 550;
        for (int v = 0; v < DIRECTIONS; v++)
            b[v + 2] = 3000, signals[v + 2][n] = (float)(500 * e[n][v]);
    }
    const hot_fit_options options = {.size = sizeof options, .model = "odf", .order = order, .regularise = 1e-12};
    CHECK(hot_dwi_create(context, &row, VOLUMES, b, g, signals[0], &dwi) == HOT_OK &&
              hot_mask_full(context, &row, &mask) == HOT_OK &&
              hot_tensor_field_fit(context, dwi, mask, &options, field) == HOT_OK,
          "%s", hot_context_message(context));
    hot_mask_destroy(&mask);
    hot_dwi_destroy(&dwi);
}

static double form(const hot_tensor_field *field, int voxel, const double x[3])
{
    const int order = hot_tensor_field_order(field);
    const size_t terms = hot_symtensor_count(order, 3);
    double tensor[MAX_TERM_COUNT];
    for (size_t t = 0; t < terms; t++)
        tensor[t] = (double)hot_tensor_field_values(field)[(size_t)voxel * (terms + 1) + 1 + t];
    return hot_symtensor_value_f64(order, 3, tensor, x);
}

static char noted[400];

static void note(void *user, hot_log_level level, const char *line)
{
    (void)user, (void)level;
    snprintf(noted, sizeof noted, "%s", line);
}

/* Of shells of 30, 20 and 8 directions the highest that has enough of them is used, and a note says which. */
static void test_shell(void)
{
    enum { ALL = 1 + 30 + 20 + 8 };
    static const size_t counts[3] = {30, 20, 8};
    static const struct { int order; const char *text; } cases[] = {
        {6, "odf: uses the shell b=1000 (30 volumes) of 3, the highest that supports order 6"},
        {4, "odf: uses the shell b=2000 (20 volumes) of 3, the highest that supports order 4"},
        {2, "odf: uses the shell b=3000 (8 volumes) of 3, the highest that supports order 2"}};
    static float signals[ALL][VOXELS];
    double b[ALL] = {0}, g[3 * ALL] = {0};
    const hot_context_options settings = {.size = sizeof settings, .log = note};
    hot_context *context = NULL;
    hot_dwi *dwi = NULL;
    hot_mask *mask = NULL;
    CHECK(hot_context_create(&settings, &context) == HOT_OK, "a context");
    for (size_t shell = 0, at = 1; shell < 3; at += counts[shell++]) {
        CHECK(hot_scheme_directions(context, counts[shell], 0, g + 3 * at) == HOT_OK, "a scheme");
        for (size_t v = at; v < at + counts[shell]; v++)
            b[v] = 1000 * ((double)shell + 1);
    }
    for (int v = 0; v < ALL; v++)
        for (int n = 0; n < VOXELS; n++)
            signals[v][n] = (float)(500 * exp(-b[v] / 2000));
    CHECK(hot_dwi_create(context, &row, ALL, b, g, signals[0], &dwi) == HOT_OK &&
              hot_mask_full(context, &row, &mask) == HOT_OK, "%s", hot_context_message(context));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const hot_fit_options options = {.size = sizeof options, .model = "odf", .order = cases[i].order};
        hot_tensor_field *field = NULL;
        noted[0] = 0;
        CHECK(hot_tensor_field_fit(context, dwi, mask, &options, &field) == HOT_OK, "%s", hot_context_message(context));
        CHECK(strcmp(noted, cases[i].text) == 0, "'%s', not '%s'", noted, cases[i].text);
        hot_tensor_field_destroy(&field);
    }
    hot_mask_destroy(&mask);
    hot_dwi_destroy(&dwi);
    hot_context_destroy(&context);
}

int main(void)
{
    hot_context *context = context_of(2);
    static double g[3 * VOLUMES], e[VOXELS][DIRECTIONS];
    uint64_t state = 8;
    CHECK(hot_scheme_directions(context, DIRECTIONS, 0, g + 6) == HOT_OK, "a scheme");
    /* Near and beyond 0 and 1 equation 14 there replaces the signal, with delta = .001. Signals that are not above 0
     * are noise: they are lifted to their root mean square, or half of the smallest signal above 0 (.05 here) if that
     * is larger. The ODF is linear in ln(-ln E): two known ones give the coefficients. */
    static const double odd[VOXELS][2] = {{.2, .2},          {.7, .7},      {.0004, .00058}, {.0008, .00082},
                                          {.9996, .99942},   {1, .9995},    {1.3, .9995},    {.001, .001},
                                          {-.04, .04},       {-.01, .025},  {0, .025},       {-.045, .045}};
    hot_tensor_field *field = NULL;
    for (int n = 0; n < VOXELS; n++)
        for (int d = 0; d < DIRECTIONS; d++)
            e[n][d] = d % 3 == 0 ? odd[n][0] : d % 3 == 1 ? .05 : .6;
    fit(context, 4, g, (const double(*)[DIRECTIONS])e, &field);
    for (int i = 0; i < 20; i++) {
        double x[3];
        check_random_unit(&state, x);
        const double low = log(-log(.2)), high = log(-log(.7)), first = form(field, 0, x), second = form(field, 1, x);
        for (int n = 2; n < VOXELS; n++) {
            const double at = (log(-log(odd[n][1])) - low) / (high - low), right = first + at * (second - first);
            CHECK_NEAR(form(field, n, x), right, 1e-4, "E = %g: %g, not %g", odd[n][0], form(field, n, x), right);
        }
    }
    hot_tensor_field_destroy(&field);
    hot_context_destroy(&context);
    test_shell();
    COUNTED_TEST_END();
}
