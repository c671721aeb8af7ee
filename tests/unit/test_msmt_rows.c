/* Multi-tissue deconvolution where a response lacks a shell of the data: that shell is left out, whichever tissue's
 * response it is, and the result is that of data without it. */
#include "check.h"

#include <hotfiber/hotfiber.h>

enum { KINDS = 36, LMAX = 4, TERMS = LMAX / 2 + 1, SHELLS = 4 };

static char said[4096];

static void listen(void *user, hot_log_level level, const char *line)
{
    (void)user, (void)level;
    if (strstr(line, "left out"))
        snprintf(said, sizeof said, "%s", line);
}

static const double b_values[SHELLS] = {0, 700, 1500, 3000};

/* Rows of the shells whose bits are set: of a fibre where `fiber`, else of an isotropic tissue. */
static hot_response *make_response(hot_context *context, unsigned shells, double diffusivity, int fiber)
{
    double b[SHELLS], rows[SHELLS * TERMS] = {0};
    size_t count = 0;
    hot_response *made = NULL;
    for (int s = 0; s < SHELLS; s++) {
        if (!(shells >> s & 1))
            continue;
        const double mean = exp(-diffusivity * b_values[s]), slope = fiber ? 1 - exp(-0.0007 * b_values[s]) : 0;
        b[count] = b_values[s];
        rows[count * TERMS] = 3.5449077018110318 * mean;
        rows[count * TERMS + 1] = -1.1 * mean * slope;
        rows[count * TERMS + 2] = 0.35 * mean * slope * slope;
        count++;
    }
    CHECK(hot_response_create(context, count, LMAX, b, rows, &made) == HOT_OK, "%s", hot_context_message(context));
    return made;
}

/* Data of the shells whose bits are set, the same samples in each case. */
static hot_dwi *make_data(hot_context *context, unsigned shells)
{
    enum { EACH = 20, MOST = SHELLS * EACH };
    static float signals[MOST * KINDS];
    double b[MOST], g[3 * MOST];
    size_t volumes = 0;
    uint64_t seed = 17;
    const hot_grid grid = {.size = {KINDS, 1, 1}, .space = HOT_SPACE_RAS,
                           .to_world = {{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}}};
    hot_dwi *dwi = NULL;
    for (int s = 0; s < SHELLS; s++)
        for (int i = 0; i < (s ? EACH : 3); i++) {
            double x[3];
            check_random_unit(&seed, x);
            for (size_t v = 0; v < KINDS; v++) {
                const double noise = 2 * check_random(&seed), part = (double)v / KINDS;
                if (shells >> s & 1)
                    signals[volumes * KINDS + v] =
                        (float)(1000 * (part * exp(-b_values[s] * (0.0002 + 0.0016 * x[0] * x[0])) +
                                        (1 - part) * exp(-b_values[s] * 0.003)) + noise);
            }
            if (!(shells >> s & 1))
                continue;
            b[volumes] = b_values[s];
            for (int d = 0; d < 3; d++)
                g[3 * volumes + (size_t)d] = s ? x[d] : 0;
            volumes++;
        }
    CHECK(hot_dwi_create(context, &grid, volumes, b, g, signals, &dwi) == HOT_OK, "%s", hot_context_message(context));
    return dwi;
}

static hot_tensor_field *fit(hot_context *context, const hot_dwi *dwi, unsigned white, unsigned fluid)
{
    hot_response *fiber = make_response(context, white, 0.0007, 1), *water = make_response(context, fluid, 0.003, 0);
    const hot_response *const tissues[] = {water};
    const hot_fit_options options = {.size = sizeof options, .model = "msmt", .order = LMAX, .response = fiber,
                                     .tissues = tissues, .tissue_count = 1};
    hot_mask *mask = NULL;
    hot_tensor_field *field = NULL;
    said[0] = '\0';
    CHECK(hot_mask_full(context, hot_dwi_grid(dwi), &mask) == HOT_OK &&
              hot_tensor_field_fit(context, dwi, mask, &options, &field) == HOT_OK, "%s",
          hot_context_message(context));
    hot_mask_destroy(&mask);
    hot_response_destroy(&fiber);
    hot_response_destroy(&water);
    return field;
}

int main(void)
{
    enum { ROW = 1 + (LMAX + 1) * (LMAX + 2) / 2 };
    static const struct { unsigned white, fluid, left; const char *says; } cases[] = {
        {15, 15, 15, ""}, {15, 7, 7, "b=3000"}, {15, 13, 13, "b=700"}, {11, 15, 11, "b=1500"}, {7, 15, 7, "b=3000"}};
    const hot_context_options how = {.size = sizeof how, .device = HOT_DEVICE_CPU, .log = listen};
    hot_context *context = NULL;
    if (hot_context_create(&how, &context) != HOT_OK)
        return 1;
    hot_dwi *all = make_data(context, 15);
    float first = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hot_dwi *less = make_data(context, cases[i].left);
        hot_tensor_field *field = fit(context, all, cases[i].white, cases[i].fluid);
        CHECK(cases[i].says[0] ? strstr(said, cases[i].says) != NULL : !said[0], "case %zu: '%s'", i, said);
        hot_tensor_field *wanted = fit(context, less, 15, 15);
        const float *is = field ? hot_tensor_field_values(field) : NULL;
        const float *should = wanted ? hot_tensor_field_values(wanted) : NULL;
        double most = 0;
        for (size_t v = 0; v < KINDS * ROW && is && should; v++) {
            CHECK_NEAR(is[v], should[v], 1e-4, "case %zu: value %zu", i, v);
            most = fmax(most, fabs((double)should[v]));
        }
        CHECK(most > 0.1, "case %zu: tensors of %g", i, most);
        if (i == 0 && is)
            first = is[ROW * (KINDS - 1) + 1];
        CHECK(i == 0 || !is || fabs((double)is[ROW * (KINDS - 1) + 1] - (double)first) > 1e-3,
              "case %zu: the shell made no difference", i);
        hot_tensor_field_destroy(&field);
        hot_tensor_field_destroy(&wanted);
        hot_dwi_destroy(&less);
    }
    hot_dwi_destroy(&all);
    hot_context_destroy(&context);
    HOT_TEST_END();
}
