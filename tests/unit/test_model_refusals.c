/* The models without enough directions or memory: refusals name what would be enough. */
#include "model_cases.h"
#include "starve.h"

static void refused(hot_context *context, const scheme *s, hot_fit_options options, hot_status want, const char *words)
{
    hot_dwi *dwi = make_dwi(context, s, NULL);
    hot_mask *mask = NULL;
    hot_tensor_field *field = NULL;
    options.size = sizeof options;
    hot_mask_full(context, &grid, &mask);
    hot_status status = hot_tensor_field_fit(context, dwi, mask, &options, &field);
    CHECK(status == want, "status %d, not %d: %s", status, want, hot_context_message(context));
    CHECK(strstr(hot_context_message(context), words) != NULL, "'%s' does not say '%s'", hot_context_message(context),
          words);
    CHECK(field == NULL, "a field came out");
    hot_mask_destroy(&mask);
    hot_dwi_destroy(&dwi);
    hot_tensor_field_destroy(&field);
}

static void test_refusals(hot_context *context)
{
    static const double b[] = {1000};
    const scheme few = make_scheme(1, 15, 1, b), no_b0 = make_scheme(0, 30, 1, b);
    scheme plane = make_scheme(1, 30, 1, b), twins = make_scheme(1, 30, 1, b);
    for (size_t i = 1; i < plane.volumes; i++) {
        plane.g[3 * i] = cos((double)i * .1), plane.g[3 * i + 1] = sin((double)i * .1), plane.g[3 * i + 2] = 0;
        memcpy(twins.g + 3 * i, few.g + 3 * (1 + i % 9), 3 * sizeof(double));
    }
    refused(context, &few, (hot_fit_options){.model = "adc", .order = 6}, HOT_ERROR_DATA,
            "order 6 needs 28 different gradient directions, 'the data set' has 15 (b=1000); order 4 would do");
    refused(context, &no_b0, (hot_fit_options){.model = "adc"}, HOT_ERROR_DATA, "no b=0 volume");
    refused(context, &plane, (hot_fit_options){.model = "odf"}, HOT_ERROR_DATA, "are in one plane (normal ");
    refused(context, &twins, (hot_fit_options){.model = "adc", .order = 4}, HOT_ERROR_DATA, "has 9 (b=1000); order 2");
    refused(context, &few, (hot_fit_options){.model = "xyz"}, HOT_ERROR_ARGUMENT, "no model 'xyz'");
    refused(context, &few, (hot_fit_options){.model = "adc", .order = 5}, HOT_ERROR_ARGUMENT, "order 5");
}

/* Order 0: 6, or 4 with fewer than 28 directions, or 2 with fewer than 15. */
static void test_default_order(hot_context *context)
{
    static const double b[] = {1000};
    static const struct { size_t directions; int order; } cases[] = {{6, 2}, {14, 2}, {20, 4}, {27, 4}, {32, 6},
                                                                     {90, 6}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        const scheme s = make_scheme(1, cases[c].directions, 1, b);
        hot_dwi *dwi = make_dwi(context, &s, NULL);
        hot_tensor_field *field = fit(context, dwi, (hot_fit_options){.model = "odf"});
        CHECK(field && hot_tensor_field_order(field) == cases[c].order, "%zu directions: order %d", cases[c].directions,
              field ? hot_tensor_field_order(field) : -1);
        hot_tensor_field_destroy(&field);
        hot_dwi_destroy(&dwi);
    }
}

/* Whichever allocation fails: that is what the call says, and nothing is lost. The response is estimated too. */
static void test_starved(hot_context *context)
{
    static const double b[] = {2000};
    const scheme s = make_scheme(2, 30, 1, b);
    float *signals = malloc(VOXELS * s.volumes * sizeof *signals);
    uint64_t state = 31;
    for (size_t v = 0; v < VOXELS; v++) {
        double x[3];
        check_random_unit(&state, x);
        for (size_t i = 0; i < s.volumes; i++) {
            const double *g = s.g + 3 * i, c = g[0] * x[0] + g[1] * x[1] + g[2] * x[2];
            signals[v * s.volumes + i] = (float)(100 * exp(-s.b[i] * (.3e-3 + 1.4e-3 * c * c)));
        }
    }
    hot_dwi *dwi = make_dwi(context, &s, signals);
    for (const hot_model *const *model = hot_model_list(); *model; model++) {
        int done = 0;
        for (long k = 1; k < 400 && !done; k++) { /* call 0 is the context's own */
            starved hunger = {.fail_at = k};
            hot_context_options settings = {.size = sizeof settings, .threads = 1, .allocate = starved_take,
                                            .release = starved_give, .allocator_user = &hunger};
            hot_context *poor = NULL;
            hot_mask *mask = NULL;
            hot_tensor_field *field = NULL;
            const hot_fit_options options = {.size = sizeof options, .model = (*model)->name, .positive = 1};
            CHECK(hot_context_create(&settings, &poor) == HOT_OK, "context");
            hot_status status = hot_mask_full(poor, &grid, &mask);
            if (status == HOT_OK)
                status = hot_tensor_field_fit(poor, dwi, mask, &options, &field);
            CHECK(status == HOT_OK || (status == HOT_ERROR_MEMORY && !field), "%s, allocation %ld: status %d, %s",
                  (*model)->name, k, status, hot_context_message(poor));
            done = status == HOT_OK;
            CHECK(!done || hot_tensor_field_order(field) == 6, "order %d", hot_tensor_field_order(field));
            hot_tensor_field_destroy(&field);
            hot_mask_destroy(&mask);
            hot_context_destroy(&poor);
            CHECK(hunger.live == 0, "%s, allocation %ld: %ld blocks lost", (*model)->name, k, hunger.live);
        }
        CHECK(done, "%s never got enough memory", (*model)->name);
    }
    hot_dwi_destroy(&dwi);
    free(signals);
}

int main(void)
{
    hot_context *context;
    hot_context_create(&(hot_context_options){.size = sizeof(hot_context_options), .threads = 2}, &context);
    test_refusals(context);
    test_default_order(context);
    test_starved(context);
    hot_context_destroy(&context);
    HOT_TEST_END();
}
