/* hot_tensor_field_map against closed forms: FA and MD of tensors with given eigenvalues, turned at random; AFD and
 * NuFO of sums of powers (v.x)^8 along the axes with an isotropic part, whose maxima and lowest value are known. */
#include <hotfiber/hotfiber.h>

#include "promises/threads.h"

enum { ORDER = 8, TERMS = 45, MOST = 64 };

static const hot_grid row = {.size = {MOST, 1, 1}, .to_world = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};

static void map(hot_context *context, int order, const char *model, const float *values, const char *name, float *out)
{
    hot_tensor_field *field = NULL;
    CHECK(hot_tensor_field_create(context, &row, order, model, values, &field) == HOT_OK &&
              hot_tensor_field_map(context, field, name, out) == HOT_OK,
          "%s: %s", name, hot_context_message(context));
    hot_tensor_field_destroy(&field);
}

/* Eigenvalues in 1e-3 mm^2/s; FA by its definition. */
static void test_order_2(hot_context *context)
{
    static float values[MOST][7], fa[MOST], md[MOST];
    static double right_fa[MOST], right_md[MOST];
    uint64_t state = 3;
    for (int n = 0; n < MOST; n++) {
        double axes[3][3], l[3], norm = 0, apart = 0;
        check_random_axes(&state, axes[0], axes[1], axes[2]);
        for (int i = 0; i < 3; i++)
            l[i] = 1e-3 * (n == 0 ? 1 : n == 1 ? i == 0 : n == 2 ? (i < 2 ? 1. : -.5) : .1 + 2 * check_random(&state));
        right_md[n] = (l[0] + l[1] + l[2]) / 3;
        for (int i = 0; i < 3; i++)
            norm += l[i] * l[i], apart += (l[i] - right_md[n]) * (l[i] - right_md[n]);
        right_fa[n] = fmin(1, sqrt(1.5 * apart / norm));
        values[n][0] = n != 5;
        for (int a = 0, t = 1; a < 3; a++)
            for (int b = a; b < 3; b++, t++)
                values[n][t] = (float)(l[0] * axes[0][a] * axes[0][b] + l[1] * axes[1][a] * axes[1][b] +
                                       l[2] * axes[2][a] * axes[2][b]);
        if (n == 5)
            right_fa[n] = right_md[n] = 0; /* not fitted */
    }
    map(context, 2, "adc", values[0], "fa", fa);
    map(context, 2, "adc", values[0], "md", md);
    for (int n = 0; n < MOST; n++) {
        CHECK_NEAR(fa[n], right_fa[n], n == 0 ? 1e-3 : 1e-6, "voxel %d: FA %.7g, not %.7g", n, fa[n], right_fa[n]);
        CHECK_NEAR(md[n], right_md[n], 1e-10, "voxel %d: MD %.7g, not %.7g", n, md[n], right_md[n]);
    }
}

/* c (x^2 + y^2 + z^2)^4 + sum_d w_d x_d^8. Between axes the powers are small: the maxima are the axes with w > 0, of
 * height c + w; the lowest value is c + (the smaller of 0 and the negative w's), where an axis has w = 0. */
static void axes_tensor(double c, const double w[3], float *to)
{
    static const double factorial[] = {1, 1, 2, 6, 24, 120, 720, 5040, 40320};
    int exponents[3 * TERMS];
    hot_symtensor_exponents(ORDER, 3, exponents);
    *to++ = 1;
    for (int t = 0; t < TERMS; t++) {
        const int *e = exponents + 3 * t;
        double value = 0;
        if (e[0] % 2 == 0 && e[1] % 2 == 0 && e[2] % 2 == 0) { /* the polynomial's coefficient over the multiplicity */
            value = c * factorial[4] / (factorial[e[0] / 2] * factorial[e[1] / 2] * factorial[e[2] / 2]);
            value /= factorial[8] / (factorial[e[0]] * factorial[e[1]] * factorial[e[2]]);
        }
        for (int d = 0; d < 3; d++)
            value += e[d] == 8 ? w[d] : 0;
        to[t] = (float)value;
    }
}

static const struct {
    double c, w[3];
    int nufo;
} forms[] = {
    {0, {1, 0, 0}, 1},       {0, {1, .5, 0}, 2},       {0, {.5, 1, .3}, 3},   {0, {1, .11, 0}, 2},
    {0, {1, .09, 0}, 1},     {0, {.09, 0, 1}, 1},      {0, {.11, .12, 1}, 3}, /* a tenth of the largest */
    {.5, {.5, .06, 0}, 2},   {.5, {.5, .045, 0}, 1},   {2, {.5, .06, .04}, 2}, /* above the lowest, that is c */
    {2, {.5, .045, .04}, 1}, {5, {1, .9, 0}, 2},
    {-.2, {1, .29, 0}, 2},   {-.2, {1, .27, 0}, 1},    {-.05, {1.05, .16, .13}, 2}, /* above 0 */
    {0, {1, .5, -.4}, 2},    {.3, {.7, .2, -.2}, 2},   {.3, {.7, .05, -.2}, 2},
};
enum { FORMS = sizeof forms / sizeof *forms };

static void test_fod(hot_context *context)
{
    static float values[MOST][TERMS + 1], nufo[MOST], largest[MOST], total[MOST], sum[MOST];
    enum { RINGS = 1600, SPOKES = 40 };
    memset(values, 0, sizeof values);
    for (int f = 0; f < FORMS; f++)
        axes_tensor(forms[f].c, forms[f].w, values[f]);
    map(context, ORDER, "fod", values[0], "nufo", nufo);
    map(context, ORDER, "fod", values[0], "afd_max", largest);
    map(context, ORDER, "fod", values[0], "afd_total", total);
    map(context, ORDER, "fod", values[0], "afd_sum", sum);
    for (int f = 0; f < FORMS; f++) {
        const double c = forms[f].c, *w = forms[f].w, top = c + fmax(w[0], fmax(w[1], w[2]));
        double square = 0; /* integral of the squared form: by quadrature; of the form: 4 pi (c + sum w / 9) */
        for (int i = 0; i < RINGS; i++)
            for (int j = 0; j < SPOKES; j++) {
                const double z = 2 * (i + .5) / RINGS - 1, r = sqrt(1 - z * z), turn = 2 * M_PI * (j + .5) / SPOKES;
                const double value = c + w[0] * pow(r * cos(turn), 8) + w[1] * pow(r * sin(turn), 8) + w[2] * pow(z, 8);
                square += value * value * 4 * M_PI / (RINGS * SPOKES);
            }
        CHECK(nufo[f] == (float)forms[f].nufo, "form %d: NuFO %g, not %d", f, nufo[f], forms[f].nufo);
        CHECK_NEAR(largest[f], top, 2e-6 * fabs(top) + 1e-7, "form %d: largest %.7g, not %.7g", f, largest[f], top);
        CHECK_NEAR(total[f], sqrt(4 * M_PI) * (c + (w[0] + w[1] + w[2]) / 9), 1e-5 * (1 + fabs(c)), "form %d: %.7g", f,
                   total[f]);
        CHECK_NEAR(sum[f], sqrt(square), 1e-4 * sqrt(square), "form %d: %.7g, not %.7g", f, sum[f], sqrt(square));
    }
    for (int n = FORMS; n < MOST; n++)
        CHECK(nufo[n] == 0 && largest[n] == 0 && total[n] == 0 && sum[n] == 0, "voxel %d was not fitted", n);
}

static void test_refusals(hot_context *context)
{
    static float values[MOST][7], out[MOST];
    static const char *const wrong[][2] = {{"adc", "nufo"}, {"adc", "afd_max"}, {"fod", "fa"}, {"fod", "md"},
                                           {"adc", "mean"}};
    for (int i = 0; i < 5; i++) {
        hot_tensor_field *field = NULL;
        CHECK(hot_tensor_field_create(context, &row, 2, wrong[i][0], values[0], &field) == HOT_OK, "a field");
        const hot_status status = hot_tensor_field_map(context, field, wrong[i][1], out);
        CHECK(status == (i == 4 ? HOT_ERROR_ARGUMENT : HOT_ERROR_DATA), "%s of %s: %d", wrong[i][1],
              wrong[i][0], status);
        hot_tensor_field_destroy(&field);
    }
}

int main(void)
{
    hot_context *context = context_of(2);
    test_order_2(context);
    test_fod(context);
    test_refusals(context);
    hot_context_destroy(&context);
    COUNTED_TEST_END();
}
