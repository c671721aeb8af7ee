/* Properties of directions that do not depend on the implementation: rotating the tensor rotates the answer, scaling it
 * scales the lengths, reversing an axis reverses it, many starts find the same as the scan. */
#include "kernels/forms3.h"

#include <hotfiber/directions.h>

enum { ITEMS = 400, KEEP = 8 };

static const hot_directions_options options = {.size = sizeof options, .max_directions = KEEP, .threshold = 0.3,
                                               .min_angle = 5};

/* Every direction of a (rotated by r) is one of b's within `degrees`, lengths within a thousandth. Peaks near the
 * threshold may be on either side of it: only those above `above` of the largest are compared. */
static int same(const float *a, int count_a, const float *b, int count_b, double r[3][3], double length, double above,
                double degrees)
{
    for (int i = 0; i < count_a; i++) {
        float turned[3];
        int near = form_length(a + 3 * i) < above * form_length(a);
        for (int d = 0; d < 3; d++)
            turned[d] = (float)(r[d][0] * (double)a[3 * i] + r[d][1] * (double)a[3 * i + 1] +
                                r[d][2] * (double)a[3 * i + 2]);
        for (int j = 0; j < count_b && !near; j++)
            near = form_angle(turned, b + 3 * j) <= degrees &&
                   fabs(form_length(b + 3 * j) / (length * form_length(turned)) - 1) <= 1e-3;
        if (!near)
            return 0;
    }
    return 1;
}

static void random_rotation(uint64_t *seed, double r[3][3])
{
    double v[3][3];
    form_fibers(seed, 90, v);
    memcpy(r, v, sizeof v);
}

/* The tensor of item i with all its vectors turned by r and scaled. */
static void make(const form_basis *basis, uint64_t seed, double r[3][3], double scale, float *row)
{
    double tensor[FORM_TERMS] = {0};
    for (int f = 0; f < 12; f++) { /* a few strong lines and many weak ones: a random smooth form */
        double v[3], w[3], weight = f < 3 ? 0.3 + 0.3 * check_random(&seed) : 0.05 * check_random_normal(&seed);
        check_random_unit(&seed, v);
        for (int d = 0; d < 3; d++)
            w[d] = r[d][0] * v[0] + r[d][1] * v[1] + r[d][2] * v[2];
        form_add_line(basis, w, scale * weight, tensor);
    }
    for (size_t k = 0; k < basis->terms; k++)
        row[k] = (float)tensor[k];
}

int main(void)
{
    hot_context_options settings = {.size = sizeof settings, .device = HOT_DEVICE_CPU};
    hot_context *context;
    if (hot_context_create(&settings, &context) != HOT_OK)
        return 1;
    static float rows[ITEMS * FORM_TERMS], turned[ITEMS * FORM_TERMS], a[ITEMS * 3 * KEEP], b[ITEMS * 3 * KEEP];
    static uint8_t count_a[ITEMS], count_b[ITEMS];
    double identity[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    uint64_t seed = 11;
    for (int order = 2; order <= 8; order += 2) {
        const form_basis basis = form_basis_make(order);
        static double rotation[ITEMS][3][3];
        for (uint64_t i = 0; i < ITEMS; i++) {
            random_rotation(&seed, rotation[i]);
            make(&basis, 1000 + i, identity, 1, rows + i * basis.terms);
            make(&basis, 1000 + i, rotation[i], 2.5, turned + i * basis.terms);
        }
        CHECK(hot_directions_f32(context, &options, order, ITEMS, rows, basis.terms, NULL, a, count_a) == HOT_OK, "%s",
              hot_context_message(context));
        CHECK(hot_directions_f32(context, &options, order, ITEMS, turned, basis.terms, NULL, b, count_b) == HOT_OK,
              "%s", hot_context_message(context));
        int bad = 0, bad_starts = 0;
        double back[3][3];
        for (size_t i = 0; i < ITEMS; i++) {
            const float *p = a + i * 3 * KEEP, *q = b + i * 3 * KEEP;
            for (int x = 0; x < 3; x++)
                for (int y = 0; y < 3; y++)
                    back[x][y] = rotation[i][y][x];
            bad += !(same(p, count_a[i], q, count_b[i], rotation[i], 2.5, 0.32, 0.1) &&
                     same(q, count_b[i], p, count_a[i], back, 0.4, 0.32, 0.1));
        }
        CHECK(bad <= 1, "order %d: %d of %d tensors turn into something else", order, bad, ITEMS);
        hot_directions_options many = options;
        many.starts = 64;
        CHECK(hot_directions_f32(context, &many, order, ITEMS, rows, basis.terms, NULL, b, count_b) == HOT_OK, "%s",
              hot_context_message(context));
        for (size_t i = 0; i < ITEMS; i++)
            bad_starts += !(same(a + i * 3 * KEEP, count_a[i], b + i * 3 * KEEP, count_b[i], identity, 1, 0.32, 0.1) &&
                            same(b + i * 3 * KEEP, count_b[i], a + i * 3 * KEEP, count_a[i], identity, 1, 0.32, 0.1));
        CHECK(bad_starts <= ITEMS / 100, "order %d: 64 starts and the scan differ in %d of %d tensors", order,
              bad_starts, ITEMS);
    }
    /* refusals and their messages */
    hot_directions_options wrong = options;
    wrong.max_directions = 17;
    CHECK(hot_directions_f32(context, &wrong, 4, 1, rows, 15, NULL, a, NULL) == HOT_ERROR_ARGUMENT &&
              strstr(hot_context_message(context), "17"), "%s", hot_context_message(context));
    CHECK(hot_directions_f32(context, &options, 5, 1, rows, 21, NULL, a, NULL) == HOT_ERROR_ARGUMENT &&
              strstr(hot_context_message(context), "5"), "%s", hot_context_message(context));
    CHECK(hot_directions_f32(context, &options, 6, 1, rows, 27, NULL, a, NULL) == HOT_ERROR_ARGUMENT &&
              strstr(hot_context_message(context), "28"), "%s", hot_context_message(context));
    CHECK(hot_directions_f32(context, &options, 6, SIZE_MAX / 4, rows, 28, NULL, a, NULL) == HOT_ERROR_ARGUMENT,
          "overflow");
    hot_context_destroy(&context);
    HOT_TEST_END();
}
