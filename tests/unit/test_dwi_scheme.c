/* The highest order of a gradient scheme. */
#include "check.h"
#include "dwi/scheme.h"

static const hot_grid small = {.size = {2, 2, 1}, .to_world = {{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}}};

/* Points spread over the half sphere (Fibonacci's lattice), turned so that none is special. */
static void lattice(int count, double *g)
{
    for (int i = 0; i < count; i++) {
        double z = 1 - (i + .5) / count, r = sqrt(1 - z * z), a = 2.399963229728653 * i;
        double x = r * cos(a), y = r * sin(a);
        g[3 * i] = .36 * x + .48 * y - .8 * z;
        g[3 * i + 1] = -.8 * x + .6 * y;
        g[3 * i + 2] = .48 * x + .64 * y + .6 * z;
    }
}

static int order_of(hot_context *context, int count, const double *g, int with_b0, hot_dwi **kept)
{
    double b[200], gradients[600];
    static float signals[4 * 200];
    for (int v = 0; v < count; v++)
        b[v] = 1000;
    memcpy(gradients, g, sizeof(double) * 3 * (size_t)count);
    if (with_b0) {
        b[count] = 0;
        memset(gradients + 3 * count, 0, sizeof(double[3]));
    }
    hot_dwi *dwi = NULL;
    CHECK(hot_dwi_create(context, &small, (size_t)(count + with_b0), b, gradients, signals, &dwi) == HOT_OK, "%s",
          hot_context_message(context));
    if (!dwi)
        return -1;
    int order = hot_dwi_highest_order(context, dwi, -1);
    if (kept)
        *kept = dwi;
    else
        hot_dwi_destroy(&dwi);
    return order;
}

static void test_orders(hot_context *context)
{
    double g[600], doubled[600];
    static const int counts[][2] = {{5, 0}, {6, 2}, {14, 2}, {16, 4}, {27, 4}, {30, 6}, {44, 6}, {48, 8}, {90, 8}};
    for (size_t n = 0; n < sizeof counts / sizeof *counts; n++) {
        int count = counts[n][0];
        lattice(count, g);
        int order = order_of(context, count, g, 1, NULL);
        CHECK(order == counts[n][1], "%d directions carry order %d", count, order);
        /* the same directions again, mirrored, add nothing */
        for (int i = 0; i < 3 * count; i++) {
            doubled[i] = g[i];
            doubled[3 * count + i] = -g[i];
        }
        order = order_of(context, 2 * count, doubled, 1, NULL);
        CHECK(order == counts[n][1], "%d directions twice carry order %d", count, order);
        CHECK(hot_scheme_distinct(2 * (size_t)count, doubled) == (size_t)count, "mirrored directions count once");
    }
    /* nearly in a plane: of full rank, but only noise is measured across it */
    static const double across[] = {.6, .03, .3, .005}; /* the last is a plane; the others are not called one */
    for (int flat = 0; flat < 4; flat++) {
        double normal[3];
        lattice(30, g);
        for (int i = 0; i < 30; i++) {
            g[3 * i + 2] *= across[flat];
            const double length = sqrt(g[3 * i] * g[3 * i] + g[3 * i + 1] * g[3 * i + 1] + g[3 * i + 2] * g[3 * i + 2]);
            for (int d = 0; d < 3; d++)
                g[3 * i + d] /= length;
        }
        const int order = order_of(context, 30, g, 1, NULL);
        CHECK(flat % 2 ? order == 0 : order >= 2, "directions %g off a plane carry order %d", across[flat], order);
        CHECK(hot_scheme_planar(30, g, normal) == (flat == 3), "directions %g off a plane", across[flat]);
    }
    /* in a plane; on a cone, where x^2 + y^2 - c z^2 vanishes */
    for (int i = 0; i < 30; i++) {
        double a = 3.1 * i / 30;
        g[3 * i] = cos(a), g[3 * i + 1] = sin(a), g[3 * i + 2] = 0;
        doubled[3 * i] = cos(2 * a), doubled[3 * i + 1] = sin(2 * a), doubled[3 * i + 2] = 1;
    }
    hot_dwi *dwi = NULL;
    CHECK(order_of(context, 30, g, 1, &dwi) == 0, "a plane carries nothing");
    CHECK(hot_scheme_refuse(context, dwi, 30, g, 2, "b=1000") == HOT_ERROR_DATA, "refused");
    CHECK(strstr(hot_context_message(context), "all 30 gradient directions") &&
              strstr(hot_context_message(context), "one plane"),
          "%s", hot_context_message(context));
    hot_dwi_destroy(&dwi);
    CHECK(order_of(context, 30, doubled, 1, NULL) == 0, "a cone carries nothing");

    lattice(16, g);
    CHECK(order_of(context, 16, g, 1, &dwi) == 4, "16 directions");
    CHECK(hot_dwi_highest_order(context, dwi, 1) == 4 && hot_dwi_highest_order(context, dwi, 7) == -1, "by shell");
    CHECK(hot_scheme_refuse(context, dwi, 16, g, 6, "b=1000") == HOT_ERROR_DATA, "too few");
    const char *said = hot_context_message(context);
    CHECK(strstr(said, "order 6 needs 28") && strstr(said, "has 16 (b=1000)") && strstr(said, "order 4 would do"), "%s",
          said);
    hot_dwi_destroy(&dwi);
    CHECK(order_of(context, 16, g, 0, NULL) == 4, "without b=0 as well");
}

int main(void)
{
    hot_context *context = NULL;
    CHECK(hot_context_create(NULL, &context) == HOT_OK, "context");
    test_orders(context);
    hot_context_destroy(&context);
    HOT_TEST_END();
}
