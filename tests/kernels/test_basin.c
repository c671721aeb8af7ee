/* The basin test (kernels/sshopm/gpu/basin.h), which the GPU uses, on the CPU: a start that is settled
 * because it has entered the cone of a maximum ends where it would have ended, on fibre-like, crossing and noisy
 * tensors. */
#include "check.h"
#include "forms3.h"

#include <hotfiber/directions.h>
#include <hotfiber/sshopm.h>
#include <hotfiber/symtensor.h>
#include "sshopm/gpu/gnomonic_table.h"

#define HOT_GNOMONIC_RECIPROCAL(a) (1.0f / (a))
#define HOT_GNOMONIC_SQRT(a) sqrtf(a)
#define HOT_GNOMONIC_RSQRT(a) (1.0f / sqrtf(a))
#define HOT_GNOMONIC(name) HOT_JOIN(gnomonic_##name##_, HOT_ORDER)
#define HOT_ORDER_TEMPLATE "sshopm/gpu/gnomonic.h"
#include "common/orders.h"
#define HOT_ORDER_TEMPLATE "sshopm/gpu/convergence.h"
#include "common/orders.h"
#define HOT_BASIN(name) HOT_JOIN(basin_##name##_, HOT_ORDER)
#define HOT_ORDER_TEMPLATE "sshopm/gpu/basin.h"
#include "common/orders.h"

enum { STARTS = 128, KEPT = 6, TERMS = 45 };
typedef enum tensor_kind { FIBRES, CROSSINGS, NOISE, KINDS } tensor_kind;
static const char *const kind_names[KINDS] = {"1 to 3 fibres, 2 % noise", "2 or 3 fibres, 5 % noise", "pure noise"};

static float stretch2(int order, const float *c, const float *m, const float *d, float t)
{
    return order == 4   ? basin_stretch2_4(c, m, d, t)
           : order == 6 ? basin_stretch2_6(c, m, d, t)
                        : basin_stretch2_8(c, m, d, t);
}

static enum hot_basin_state two_steps(int order, const float *c, float *u, float *v, int steps)
{
    const float limit2 = 1e-12f;
    return order == 4   ? basin_iterate_4(c, u, v, steps, limit2)
           : order == 6 ? basin_iterate_6(c, u, v, steps, limit2)
                        : basin_iterate_8(c, u, v, steps, limit2);
}

static void make(const form_basis *basis, tensor_kind kind, uint64_t *seed, double *tensor)
{
    memset(tensor, 0, basis->terms * sizeof *tensor);
    const int fibres = kind == NOISE    ? 0
                       : kind == FIBRES ? 1 + (int)(3 * check_random(seed))
                                        : 2 + (int)(2 * check_random(seed));
    double v[3][3];
    for (int f = 0; f < fibres; f++) {
        for (int far = 0; !far;) { /* at least 30 degrees apart */
            check_random_unit(seed, v[f]);
            far = 1;
            for (int g = 0; g < f; g++)
                far &= fabs(v[f][0] * v[g][0] + v[f][1] * v[g][1] + v[f][2] * v[g][2]) < 0.866;
        }
        form_add_line(basis, v[f], 0.3 + 0.7 * check_random(seed), tensor);
    }
    if (kind != NOISE)
        form_add_sphere(basis, 0.05 * check_random(seed), tensor);
    form_add_noise(basis, kind == NOISE ? 1 : kind == FIBRES ? 0.02 : 0.05, seed, tensor);
}

/* The cone of one maximum, m in the projection's frame: its squared cosine. */
static float cone(int order, const float *c, const float *m, float nearest)
{
    float d[HOT_BASIN_DIRECTIONS][3], sum = 0, cosines = 0, sines = 0;
    for (int k = 0; k < HOT_BASIN_DIRECTIONS; k++) {
        float cosine, sine;
        basin_tangent_direction_4(m, k, d[k], &cosine, &sine);
        const float close = stretch2(order, c, m, d[k], HOT_BASIN_CLOSE);
        sum += close;
        cosines += close * cosine;
        sines += close * sine;
        const float along = d[k][0] * m[0] + d[k][1] * m[1] + d[k][2] * m[2];
        const float length = d[k][0] * d[k][0] + d[k][1] * d[k][1] + d[k][2] * d[k][2];
        CHECK(fabsf(along) < 1e-5f && fabsf(length - 1) < 1e-5f, "direction %d around m: %g along it, length^2 %g", k,
              (double)along, (double)length);
    }
    const float rest = 1.0f - basin_rho_4(sum, cosines, sines), nearer = 1.0f - HOT_BASIN_MARGIN * rest;
    if (!(rest > 0))
        return basin_cosine2_4(0);
    int low = -1, high = 0; /* the widest distance that passed, the narrowest that did not */
    while (high < HOT_BASIN_DISTANCES && hot_basin_distance(high) < nearest)
        high++;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        int passes = 1;
        for (int way = 0; way < HOT_BASIN_DIRECTIONS; way++)
            passes &= stretch2(order, c, m, d[way], hot_basin_distance(middle)) <= nearer * nearer;
        if (passes)
            low = middle;
        else
            high = middle;
    }
    return basin_cosine2_4(low < 0 ? HOT_BASIN_NARROW * rest : HOT_BASIN_INNER * hot_basin_distance(low));
}

/* One start until a cone takes it (which; else -1) or it ends by itself. (u, v) is where it is then. */
static int follow(int order, const float *c, int number, const float m[][3], const float *cosine2, float *u, float *v,
                  int *steps)
{
    for (*steps = 2; *steps <= 1000; *steps += 2) {
        const enum hot_basin_state state = two_steps(order, c, u, v, *steps);
        const float q = *u * *u + *v * *v + 1;
        for (int k = 0; k < number; k++)
            if (basin_inside_4(*u, *v, q, m[k][0], m[k][1], m[k][2], cosine2[k]))
                return k;
        if (state != HOT_BASIN_GOES_ON)
            break;
    }
    return -1;
}

/* Whether plain SS-HOPM in double leads from x to within .1 degree of m. */
static int leads_to(int order, const double *tensor, const double *from, const double *m)
{
    double x[3] = {from[0], from[1], from[2]};
    for (int step = 0; step < 20000; step++) {
        double g[3], norm = 0, dot = 0;
        for (int d = 0; d < 3; d++)
            dot += x[d] * m[d];
        if (fabs(dot) >= cos(0.1 * M_PI / 180))
            return 1;
        hot_symtensor_gradient_f64(order, 3, tensor, x, g);
        for (int d = 0; d < 3; d++)
            norm += g[d] * g[d];
        for (int d = 0; d < 3; d++)
            x[d] = g[d] / sqrt(norm);
    }
    return 0;
}

static void to_frame(const double *x, double *p)
{
    for (int k = 0; k < 3; k++)
        p[k] = hot_gnomonic_frame[k][0] * x[0] + hot_gnomonic_frame[k][1] * x[1] + hot_gnomonic_frame[k][2] * x[2];
}

static void from_frame(const double *p, double *x)
{
    for (int d = 0; d < 3; d++)
        x[d] = hot_gnomonic_frame[0][d] * p[0] + hot_gnomonic_frame[1][d] * p[1] + hot_gnomonic_frame[2][d] * p[2];
}

static void check_kind(hot_context *context, int order, tensor_kind kind, size_t count)
{
    const form_basis basis = form_basis_make(order);
    const size_t terms = hot_gnomonic_terms(order);
    uint64_t seed = (uint64_t)(1000 * order + kind);
    double *starts = malloc(STARTS * 3 * sizeof *starts), *wide = malloc(count * basis.terms * sizeof *wide);
    double *limits = calloc(count * STARTS * 3, sizeof *limits);
    float *matrix = malloc(basis.terms * terms * sizeof *matrix),
          *tensors = malloc(count * basis.terms * sizeof *tensors);
    float *directions = malloc(count * 3 * KEPT * sizeof *directions);
    uint8_t *found = malloc(count);
    hot_gnomonic_matrix(order, matrix);
    hot_starts_random(7, 3, STARTS, starts);
    for (size_t i = 0; i < count; i++) {
        double tensor[TERMS];
        make(&basis, kind, &seed, tensor);
        for (size_t k = 0; k < basis.terms; k++)
            wide[i * basis.terms + k] = tensors[i * basis.terms + k] = (float)tensor[k];
    }
    const hot_directions_options all = {
        .size = sizeof all, .max_directions = KEPT, .threshold = HOT_ZERO, .min_angle = 1,
        .min_relative_range = HOT_ZERO};
    CHECK(hot_directions_f32(context, &all, order, count, tensors, basis.terms, NULL, directions, found) == HOT_OK,
          "directions: %s", hot_context_message(context));
    const hot_sshopm_options exact = {
        .size = sizeof exact, .shift = HOT_SHIFT_NONE, .tolerance = 1e-11, .max_iterations = 3000};
    if (kind == FIBRES)
        CHECK(hot_sshopm_f64(context, &exact, order, 3, count, wide, basis.terms, STARTS, starts, NULL, limits, NULL,
                             NULL) == HOT_OK,
              "double: %s", hot_context_message(context));
    size_t settled = 0, wrong = 0, apart = 0;
    double steps = 0;
    const double near = cos(0.1 * M_PI / 180);
    for (size_t i = 0; i < count; i++) {
        float c[108], m[KEPT][3], cosine2[KEPT], size = 0;
        for (size_t k = 0; k < basis.terms; k++)
            size = fmaxf(size, fabsf(tensors[i * basis.terms + k]));
        for (size_t j = 0; j < terms; j++) {
            double sum = 0;
            for (size_t k = 0; k < basis.terms; k++)
                sum += wide[i * basis.terms + k] * matrix[k * terms + j];
            c[j] = (float)(sum / size);
        }
        const int number = found[i] == 255 ? 0 : found[i];
        for (int k = 0; k < number; k++) {
            const float *x = directions + (i * KEPT + (size_t)k) * 3;
            const double length = sqrt((double)x[0] * x[0] + (double)x[1] * x[1] + (double)x[2] * x[2]);
            const double unit[3] = {x[0] / length, x[1] / length, x[2] / length};
            double p[3];
            to_frame(unit, p);
            for (int d = 0; d < 3; d++)
                m[k][d] = (float)p[d];
        }
        for (int k = 0; k < number; k++) {
            float nearest = 0; /* cosine */
            for (int l = 0; l < number; l++)
                if (l != k)
                    nearest = fmaxf(nearest, fabsf(m[k][0] * m[l][0] + m[k][1] * m[l][1] + m[k][2] * m[l][2]));
            cosine2[k] = cone(order, c, m[k], number > 1 ? basin_halfway_4(nearest) : 9);
        }
        for (size_t s = 0; s < STARTS; s++) {
            double p[3], x[3], top[3], dot = 0;
            to_frame(starts + 3 * s, p);
            float u = (float)(p[0] / p[2]), v = (float)(p[1] / p[2]);
            int made;
            const int which = follow(order, c, number, (const float(*)[3])m, cosine2, &u, &v, &made);
            const double length = sqrt(1 + (double)u * u + (double)v * v),
                         end[3] = {u / length, v / length, 1 / length};
            from_frame(end, x);
            if (which >= 0) {
                const double cone_top[3] = {m[which][0], m[which][1], m[which][2]};
                from_frame(cone_top, top);
                settled++;
                steps += made;
                wrong += !leads_to(order, wide + i * basis.terms, x, top);
            }
            for (int d = 0; d < 3; d++)
                dot += (which >= 0 ? top[d] : x[d]) * limits[(i * STARTS + s) * 3 + (size_t)d];
            apart += kind == FIBRES && !(fabs(dot) >= near);
        }
    }
    const double all_starts = (double)(count * STARTS);
    printf("order %d, %s: %.4f in a basin after %.2f steps, %.6f of them wrongly", order, kind_names[kind],
           (double)settled / all_starts, steps / (double)settled, (double)wrong / (double)settled);
    printf(kind == FIBRES ? "; %.5f end where double does\n" : "\n", 1 - (double)apart / all_starts);
    CHECK((double)wrong <= 1e-3 * all_starts, "order %d, %s: %zu of %zu starts assigned wrongly", order,
          kind_names[kind], wrong, settled);
    if (kind != NOISE)
        CHECK((double)settled >= 0.95 * all_starts, "order %d, %s: only %zu starts in a basin", order, kind_names[kind],
              settled);
    if (kind == FIBRES && order == 4)
        CHECK((double)apart <= 1e-3 * all_starts, "order 4: %zu of %g starts do not end where double does", apart,
              all_starts);
    free(starts);
    free(wide);
    free(limits);
    free(matrix);
    free(tensors);
    free(directions);
    free(found);
}

int main(void)
{
    const hot_context_options settings = {.size = sizeof settings, .device = HOT_DEVICE_CPU};
    hot_context *context = NULL;
    CHECK(hot_context_create(&settings, &context) == HOT_OK, "context");
    const char *full = getenv("HOT_TEST_FULL");
    const size_t size = full && full[0] == '1' ? 4000 : 800;
    for (int order = 4; order <= 8; order += 2)
        for (int kind = 0; kind < KINDS; kind++)
            check_kind(context, order, (tensor_kind)kind, size / (size_t)(order - 3));
    hot_context_destroy(&context);
    HOT_TEST_END();
}
