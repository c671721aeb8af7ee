/* hot_lowrank_f32 with exact_rank finds the best term of any tensor that has one, and recovers sums of three terms.
 * The best term is that of the form's largest maximum: a dense grid, and a climb from its highest points. */
#include "check.h"
#include "forms3.h"

#include <hotfiber/lowrank.h>
#include <hotfiber/symtensor.h>

#include "common/context_internal.h"
#include "symtensor/sphere.h"

enum { COUNT = 2000, POINTS = 2000, BEST = 8, TERMS = 45 };

/* The form's largest value on the sphere. */
static double largest(int order, const double *tensor, const double *points)
{
    double height[BEST], top = -INFINITY;
    int at[BEST], kept = 0;
    for (int p = 0; p < POINTS; p++) {
        const double value = hot_symtensor_value_f64(order, 3, tensor, points + 3 * p);
        int place = kept < BEST ? kept++ : BEST - 1;
        if (place == BEST - 1 && p >= BEST && value <= height[place])
            continue;
        for (; place > 0 && value > height[place - 1]; place--)
            height[place] = height[place - 1], at[place] = at[place - 1];
        height[place] = value, at[place] = p;
    }
    for (int i = 0; i < BEST; i++) {
        double x[3] = {points[3 * at[i]], points[3 * at[i] + 1], points[3 * at[i] + 2]}, value = height[i];
        for (double rate = 1; rate > 1e-9;) { /* uphill along the gradient, in steps that succeed */
            double g[3], next[3], length = 0;
            hot_symtensor_gradient_f64(order, 3, tensor, x, g);
            for (int d = 0; d < 3; d++)
                next[d] = x[d] + rate * (g[d] - value * x[d]), length += next[d] * next[d];
            for (int d = 0; d < 3; d++)
                next[d] /= sqrt(length);
            const double reached = hot_symtensor_value_f64(order, 3, tensor, next);
            const double gained = reached - value;
            if (gained > 0) {
                memcpy(x, next, sizeof x);
                value = reached;
            }
            if (gained <= 1e-12 * fabs(value))
                rate /= 4;
            else
                rate *= 1.5;
        }
        top = fmax(top, value);
    }
    return top;
}

/* Of random tensors, which have values below 0 as often as above: max_rank 1 gives the best term of each. */
static void check_best(hot_context *context, int order, const double *points)
{
    static float tensors[COUNT * TERMS], directions[COUNT * 3], residual[COUNT];
    static uint8_t found[COUNT];
    const size_t unique = hot_symtensor_count(order, 3);
    uint64_t seed = 39;
    for (size_t i = 0; i < COUNT * unique; i++)
        tensors[i] = (float)check_random_normal(&seed);
    const hot_lowrank_options options = {.size = sizeof options, .max_rank = 1, .exact_rank = 1};
    CHECK(hot_lowrank_f32(context, &options, order, COUNT, tensors, unique, NULL, directions, found, residual) ==
          HOT_OK, "%s", hot_context_message(context));
    int none = 0, low = 0, wrong = 0;
    for (size_t i = 0; i < COUNT; i++) {
        double tensor[TERMS], norm = 0, multiplicity[TERMS], length = 0;
        hot_symtensor_multiplicity(order, 3, multiplicity);
        for (size_t u = 0; u < unique; u++) {
            tensor[u] = (double)tensors[i * unique + u];
            norm += multiplicity[u] * tensor[u] * tensor[u];
        }
        const double best = largest(order, tensor, points);
        for (int d = 0; d < 3; d++)
            length += (double)directions[3 * i + (size_t)d] * (double)directions[3 * i + (size_t)d];
        length = sqrt(length);
        none += best > 2e-6 * sqrt(norm) && (found[i] != 1 || !(length > 0));
        low += best > 2e-6 * sqrt(norm) && !(length >= 0.999 * best);
        wrong += !(fabs((double)residual[i] - sqrt(1 - length * length / norm)) <= 1e-4);
    }
    CHECK(none == 0, "order %d: %d of %d tensors with a positive maximum have no term", order, none, COUNT);
    CHECK(low == 0, "order %d: the term of %d of %d tensors is below their maximum", order, low, COUNT);
    CHECK(wrong == 0, "order %d: %d of %d residuals are not those of the term", order, wrong, COUNT);
}

/* Sums of three terms at least `apart` degrees from each other are fitted, whichever terms those are. */
static void check_sums(hot_context *context, int order, double apart)
{
    static float tensors[COUNT * TERMS], directions[COUNT * 9], residual[COUNT];
    const form_basis basis = form_basis_make(order);
    uint64_t seed = 40;
    for (int i = 0; i < COUNT; i++) {
        double v[3][3], tensor[TERMS] = {0};
        for (int k = 0; k < 3;) {
            int near = 0;
            check_random_unit(&seed, v[k]);
            for (int j = 0; j < k; j++)
                near |= fabs(v[k][0] * v[j][0] + v[k][1] * v[j][1] + v[k][2] * v[j][2]) >
                        cos(apart * 0.017453292519943295);
            k += !near;
        }
        for (int k = 0; k < 3; k++)
            form_add_line(&basis, v[k], 0.3 + 0.7 * check_random(&seed), tensor);
        for (int u = 0; u < (int)basis.terms; u++)
            tensors[(size_t)i * basis.terms + (size_t)u] = (float)tensor[u];
    }
    const hot_lowrank_options options = {.size = sizeof options, .max_rank = 3, .exact_rank = 1};
    CHECK(hot_lowrank_f32(context, &options, order, COUNT, tensors, basis.terms, NULL, directions, NULL,
                          residual) == HOT_OK, "%s", hot_context_message(context));
    int left = 0;
    for (int i = 0; i < COUNT; i++)
        left += !(residual[i] <= 1e-4f);
    CHECK(left == 0, "order %d, %g degrees apart: %d of %d sums of three leave more than 1e-4", order, apart, left,
          COUNT);
}

/* Forms without a value above 0 have no term: also one whose largest value is 0. */
static void check_none(hot_context *context, int order)
{
    static const double up[3] = {0, 0, 1}, across[3] = {1, 0, 0};
    const form_basis basis = form_basis_make(order);
    for (int which = 0; which < 3; which++) {
        double tensor[TERMS] = {0};
        float values[TERMS], directions[9], residual;
        uint8_t found = 9;
        if (which < 2)
            form_add_line(&basis, up, -1, tensor);
        if (which == 1)
            form_add_line(&basis, across, -0.5, tensor);
        if (which == 2)
            form_add_sphere(&basis, -1, tensor);
        for (int u = 0; u < (int)basis.terms; u++)
            values[u] = (float)tensor[u];
        for (int rank = 1; rank <= 3; rank++) {
            const hot_lowrank_options options = {.size = sizeof options, .max_rank = rank, .exact_rank = 1};
            CHECK(hot_lowrank_f32(context, &options, order, 1, values, basis.terms, NULL, directions, &found,
                                  &residual) == HOT_OK, "%s", hot_context_message(context));
            CHECK(found == 0 && directions[0] == 0 && directions[1] == 0 && directions[2] == 0,
                  "order %d: %d terms of a form that is negative (%d), rank %d: %g %g %g", order, found, which, rank,
                  (double)directions[0], (double)directions[1], (double)directions[2]);
            CHECK_NEAR(residual, 1, 1e-5, "order %d: residual %g without a term", order, (double)residual);
        }
    }
}

int main(void)
{
    hot_context_options settings = HOT_CONTEXT_OPTIONS_INIT;
    settings.device = HOT_DEVICE_CPU;
    hot_context *context = NULL;
    double *points = calloc(POINTS * 3, sizeof *points);
    CHECK(hot_context_create(&settings, &context) == HOT_OK, "no context");
    if (!context || !points)
        return 2;
    hot_sphere_lattice(POINTS, points);
    for (int order = 4; order <= 8; order += 2) {
        check_best(context, order, points);
        for (int apart = 0; apart <= 40; apart += 20)
            check_sums(context, order, apart);
        check_none(context, order);
    }
    free(points);
    hot_context_destroy(&context);
    HOT_TEST_END();
}
