/* Directions against the brute-force reference: crossings with and without noise, and the tensors that break a careless
 * search (isotropic, zero, rank 1 aimed anywhere, denormal, huge, NaN). */
#include "checker.h"

#include <common/backend.h>
#include "forms3.h"

#include <common/context_internal.h>
#include <hotfiber/directions.h>

#include <directions/directions_ref.h>

enum { KEEP = 16 };

/* All maxima worth a comparison. */
static const hot_directions_options every = {.size = sizeof every, .max_directions = KEEP, .threshold = 0.2,
                                             .min_angle = 1, .min_relief = -1};
static const hot_directions_options usual = {.size = sizeof usual, .threshold = -1, .min_angle = -1, .min_relief = -1};

/* Whether each of b's directions above `above` of b's largest is within `degrees` of one of a's. */
static int covers(const float *a, int count_a, const float *b, int count_b, double above, double degrees)
{
    for (int j = 0; j < count_b; j++) {
        int near = form_length(b + 3 * j) < above * form_length(b);
        for (int i = 0; i < count_a && !near; i++)
            near = form_angle(a + 3 * i, b + 3 * j) <= degrees;
        if (!near)
            return 0;
    }
    return 1;
}

/* Lengths fall, absent ones are 0, one half sphere, no -0. */
static int well_formed(const float *out, int keep, int found)
{
    for (int i = 0; i < keep; i++) {
        const float *v = out + 3 * i;
        if (i >= found) {
            if (v[0] != 0 || v[1] != 0 || v[2] != 0)
                return 0;
            continue;
        }
        if (!(v[2] > 0 || (v[2] == 0 && (v[1] > 0 || (v[1] == 0 && v[0] > 0)))))
            return 0;
        if (i > 0 && !(form_length(v) <= form_length(v - 3) * (1 + 1e-5)))
            return 0;
        if (signbit(v[0]) && v[0] == 0)
            return 0;
    }
    return 1;
}

/* Crossings: at most one tensor in a thousand may differ from brute force (HOT_TEST_FULL=1 tries 20,000). The reference
 * is computed once for all backends. */
static void check_crossings(check_run *run, int order, double sigma, size_t size)
{
    static struct { int order; double sigma; size_t size; uint64_t seed; float *directions; uint8_t *found; } known[16];
    char name[64];
    snprintf(name, sizeof name, "crossings, order %d, noise %g", order, sigma);
    if (!check_wanted(run, name))
        return;
    check_case_begin(run, name, size);
    const form_basis basis = form_basis_make(order);
    const size_t stride = basis.terms + 1;
    float *rows = malloc(size * stride * sizeof *rows);
    for (size_t i = 0; i < size; i++) {
        double tensor[FORM_TERMS];
        form_crossing(&basis, i, sigma, &run->seed, tensor);
        for (size_t k = 0; k < basis.terms; k++)
            rows[i * stride + k] = (float)tensor[k];
        rows[i * stride + basis.terms] = NAN; /* beyond the tensor: must not matter */
    }
    const float *tensors = check_input(run, rows, size * stride * sizeof *rows);
    float *directions = check_output(run, size * 3 * KEEP * sizeof *directions);
    uint8_t *found = check_output(run, size);
    int slot = 0;
    while (known[slot].directions && !(known[slot].order == order && known[slot].sigma == sigma &&
                                       known[slot].size == size && known[slot].seed == run->first_seed))
        slot = (slot + 1) % 15;
    if (!known[slot].directions) {
        known[slot].order = order, known[slot].sigma = sigma, known[slot].size = size;
        known[slot].seed = run->first_seed;
        known[slot].directions = malloc(size * 3 * KEEP * sizeof(float));
        known[slot].found = malloc(size);
        if (hot_directions_f32(run->reference, &every, order, size, tensors, stride, NULL, known[slot].directions,
                               known[slot].found) != HOT_OK)
            check_fail(run, 0, "the reference failed: %s", hot_context_message(run->reference));
    }
    if (check_call(run,
                   hot_directions_f32(run->context, &every, order, size, tensors, stride, NULL, directions, found))) {
        size_t bad = 0, first = 0;
        for (size_t i = 0; i < size; i++) {
            const float *ours = directions + i * 3 * KEEP, *brute = known[slot].directions + i * 3 * KEEP;
            CHECK_ITEM(run, i, found[i] <= KEEP && well_formed(ours, KEEP, found[i]), "not in order, or not written");
            if (!covers(ours, found[i], brute, known[slot].found[i], 0.3, 1) ||
                !covers(brute, known[slot].found[i], ours, found[i], 0.25, 1)) {
                if (!bad++)
                    first = i;
            }
        }
        const size_t allowed = size / 1000 + (size < 20000 ? 2 : 0); /* a small sample spreads more */
        CHECK_ITEM(run, first, bad <= allowed, "%zu tensors of %zu differ from brute force, the first is this", bad,
                   size);
    }
    free(rows);
    check_case_end(run);
}

/* One fibre, aimed anywhere: exactly one direction, the right one. */
static void check_lines(check_run *run, int order)
{
    enum { AIMS = 26 + 300 };
    char name[64];
    snprintf(name, sizeof name, "rank 1, order %d", order);
    if (!check_wanted(run, name))
        return;
    check_case_begin(run, name, AIMS);
    const form_basis basis = form_basis_make(order);
    double aim[AIMS][3];
    float rows[AIMS * FORM_TERMS];
    size_t n = 0;
    for (int x = -1; x <= 1; x++) /* axes, edges and corners of the cube */
        for (int y = -1; y <= 1; y++)
            for (int z = -1; z <= 1; z++)
                if (x || y || z) {
                    const double length = sqrt((double)(x * x + y * y + z * z));
                    aim[n][0] = x / length, aim[n][1] = y / length, aim[n++][2] = z / length;
                }
    for (; n < AIMS; n++) { /* a third anywhere, a third near an edge, a third halfway between points of the scan */
        check_random_unit(&run->seed, aim[n]);
        if (n % 3 == 1) {
            double *v = aim[n];
            v[(n / 3) % 3] = v[(n / 3 + 1) % 3] * (1 + 1e-4 * check_random_normal(&run->seed));
        } else if (n % 3 == 2) {
            const double step = 1.57079632679489662 / (order + 2) / 2;
            const double u = tan(step * (double)(int)(n % 17 - 8.0)), v = tan(step * (double)(int)(n % 13 - 6.0));
            aim[n][n % 3] = 1, aim[n][(n + 1) % 3] = u, aim[n][(n + 2) % 3] = v;
        }
        const double length = sqrt(aim[n][0] * aim[n][0] + aim[n][1] * aim[n][1] + aim[n][2] * aim[n][2]);
        for (int d = 0; d < 3; d++)
            aim[n][d] /= length;
    }
    for (size_t i = 0; i < AIMS; i++) {
        double tensor[FORM_TERMS] = {0};
        form_add_line(&basis, aim[i], 0.7, tensor);
        for (size_t k = 0; k < basis.terms; k++)
            rows[i * basis.terms + k] = (float)tensor[k];
    }
    const float *tensors = check_input(run, rows, AIMS * basis.terms * sizeof *rows);
    float *directions = check_output(run, (size_t)AIMS * 9 * sizeof *directions);
    uint8_t *found = check_output(run, AIMS);
    if (check_call(run, hot_directions_f32(run->context, &usual, order, AIMS, tensors, basis.terms, NULL, directions,
                                           found)))
        for (size_t i = 0; i < AIMS; i++) {
            const float *v = directions + 9 * i, line[3] = {(float)aim[i][0], (float)aim[i][1], (float)aim[i][2]};
            CHECK_ITEM(run, i, found[i] == 1 && well_formed(v, 3, 1), "aimed at %g %g %g: %d directions", aim[i][0],
                       aim[i][1], aim[i][2], found[i]);
            CHECK_ITEM(run, i, form_angle(v, line) <= 0.002, "%g degrees off", form_angle(v, line));
            CHECK_ITEM(run, i, fabs(form_length(v) - 0.7) <= 1e-5, "length %.7g, not 0.7", form_length(v));
        }
    check_case_end(run);
}

/* Odd tensors among good ones, at every size: they are recognised, and the good ones come out as if alone. */
static void check_odd_ones(check_run *run, int order, size_t size)
{
    char name[64];
    snprintf(name, sizeof name, "odd tensors among good ones, order %d", order);
    if (!check_wanted(run, name))
        return;
    check_case_begin(run, name, size);
    const form_basis basis = form_basis_make(order);
    const size_t stride = basis.terms + 2;
    float *rows = calloc(size * stride + 1, sizeof *rows);
    uint8_t *chosen = malloc(size + 1);
    for (size_t i = 0; i < size; i++) {
        double tensor[FORM_TERMS], v[3], scale = 1;
        const int kind = (int)(i % 10);
        check_random_unit(&run->seed, v);
        for (size_t k = 0; k < basis.terms; k++)
            tensor[k] = 0;
        if (kind == 1)
            form_add_sphere(&basis, 0.3 + check_random(&run->seed), tensor);
        else if (kind == 2)
            form_add_line(&basis, v, -1, tensor); /* nowhere above 0 */
        else if (kind != 3)
            form_add_line(&basis, v, 1, tensor);
        scale = kind == 4 ? 1e30 : kind == 5 ? 1e-30 : kind == 6 ? 1e-41 : 1;
        for (size_t k = 0; k < basis.terms; k++)
            rows[i * stride + k] = (float)(scale * tensor[k]);
        if (kind == 7)
            rows[i * stride + check_random_bits(&run->seed) % basis.terms] = NAN;
        if (kind == 8)
            rows[i * stride + check_random_bits(&run->seed) % basis.terms] = i % 20 < 10 ? INFINITY : -INFINITY;
        chosen[i] = kind != 9;
    }
    const float *tensors = check_input(run, rows, size * stride * sizeof *rows);
    const uint8_t *skip = check_input(run, chosen, size);
    float *directions = check_output(run, size * 3 * 3 * sizeof *directions);
    uint8_t *found = check_output(run, size);
    if (check_call(run,
                   hot_directions_f32(run->context, &usual, order, size, tensors, stride, skip, directions, found)))
        for (size_t i = 0; i < size; i++) {
            const int kind = (int)(i % 10);
            const float *v = directions + 9 * i;
            const int invalid = kind == 7 || kind == 8, none = kind == 1 || kind == 2 || kind == 3 || kind == 9;
            const int expected = invalid ? 255 : none ? 0 : 1;
            CHECK_ITEM(run, i, found[i] == expected, "kind %d: %d directions, not %d", kind, found[i], expected);
            CHECK_ITEM(run, i, well_formed(v, 3, expected == 1), "kind %d: not in order, or not written", kind);
            if (expected == 1 && kind != 6) {
                float alone[9];
                uint8_t count;
                hot_directions_f32(run->context, &usual, order, 1, tensors + i * stride, stride, NULL, alone, &count);
                if (size <= 257 || i % 41 == 0)
                    CHECK_ITEM(run, i, memcmp(alone, v, sizeof alone) == 0, "kind %d: differs from what it is alone",
                               kind);
            }
        }
    free(rows);
    free(chosen);
    check_case_end(run);
}

/* Pure noise with small thresholds: many maxima, and few kept of many; the same for one thread and for five. */
static void check_threads(check_run *run, int order, size_t size)
{
    if (!check_wanted(run, "noise, one thread and five"))
        return;
    check_case_begin(run, "noise, one thread and five", size);
    const form_basis basis = form_basis_make(order);
    float *rows = malloc(size * basis.terms * sizeof *rows);
    for (size_t i = 0; i < size; i++) {
        double tensor[FORM_TERMS] = {0};
        form_add_noise(&basis, 1, &run->seed, tensor);
        for (size_t k = 0; k < basis.terms; k++)
            rows[i * basis.terms + k] = (float)tensor[k];
    }
    const float *tensors = check_input(run, rows, size * basis.terms * sizeof *rows);
    const hot_directions_options two = {.size = sizeof two, .max_directions = 2, .threshold = 0, .min_angle = 0};
    for (int keep = 0; keep < 2; keep++) {
        const hot_directions_options *options = keep ? &two : &every;
        const size_t row = 3 * (size_t)options->max_directions;
        float *out[2];
        uint8_t *found[2];
        for (int t = 0; t < 2; t++) {
            hot_context_options settings = {.size = sizeof settings, .threads = t ? 5 : 1,
                                            .device = hot_context_device(run->context)};
            hot_context *context = NULL;
            hot_context_create(&settings, &context);
            hot_context_set_cpu_limit(context, hot_context_cpu_limit(run->context));
            out[t] = check_output(run, size * row * sizeof(float));
            found[t] = check_output(run, size);
            if (hot_directions_f32(context, options, order, size, tensors, basis.terms, NULL, out[t], found[t]) !=
                HOT_OK)
                check_fail(run, 0, "the call failed: %s", hot_context_message(context));
            hot_context_destroy(&context);
        }
        for (size_t i = 0; i < size; i++) {
            CHECK_ITEM(run, i, found[0][i] == found[1][i] &&
                                   memcmp(out[0] + i * row, out[1] + i * row, row * sizeof(float)) == 0,
                       "five threads give another answer");
            CHECK_ITEM(run, i, well_formed(out[0] + i * row, options->max_directions, found[0][i]), "not in order");
        }
    }
    free(rows);
    check_case_end(run);
}

/* The reference itself: four times as many points find nothing else. Once, not per backend. */
static void check_reference(check_run *run, int order)
{
    static int done[9];
    if (done[order]++)
        return;
    enum { SIZE = 150 };
    if (!check_wanted(run, "the reference against a finer one"))
        return;
    check_case_begin(run, "the reference against a finer one", SIZE);
    const form_basis basis = form_basis_make(order);
    float *rows = malloc(SIZE * basis.terms * sizeof *rows);
    for (size_t i = 0; i < SIZE; i++) {
        double tensor[FORM_TERMS];
        form_crossing(&basis, i, 0.1, &run->seed, tensor);
        for (size_t k = 0; k < basis.terms; k++)
            rows[i * basis.terms + k] = (float)tensor[k];
    }
    float *out[2];
    uint8_t *found[2];
    for (int t = 0; t < 2; t++) {
        hot_directions_plan plan;
        out[t] = check_output(run, SIZE * 3 * KEEP * sizeof(float));
        found[t] = check_output(run, SIZE);
        check_call(run, hot_directions_resolve(run->context, &every, order, SIZE, rows, basis.terms, NULL, out[t],
                                               found[t], &plan));
        check_call(run, hot_directions_ref_dense(run->context, &plan, t ? 8000 : 2000));
    }
    for (size_t i = 0; i < SIZE; i++) {
        const float *a = out[0] + i * 3 * KEEP, *b = out[1] + i * 3 * KEEP;
        CHECK_ITEM(run, i, found[0][i] == found[1][i] && covers(a, found[0][i], b, found[1][i], 0, 0.001),
                   "%d maxima, %d on the finer sphere", found[0][i], found[1][i]);
    }
    free(rows);
    check_case_end(run);
}

/* CPU and GPU: the same directions within .01 degree in 99.99 % of tensors. */
static void check_same_as_cpu(check_run *run, int order, double sigma)
{
    enum { SIZE = 40000 };
    char name[64];
    snprintf(name, sizeof name, "the same as on the CPU, order %d, noise %g", order, sigma);
    if (!check_wanted(run, name))
        return;
    check_case_begin(run, name, SIZE);
    const form_basis basis = form_basis_make(order);
    float *rows = malloc(SIZE * basis.terms * sizeof *rows);
    for (size_t i = 0; i < SIZE; i++) {
        double tensor[FORM_TERMS];
        form_crossing(&basis, i, sigma, &run->seed, tensor);
        for (size_t k = 0; k < basis.terms; k++)
            rows[i * basis.terms + k] = (float)tensor[k];
    }
    const float *tensors = check_input(run, rows, SIZE * basis.terms * sizeof *rows);
    float *out[2];
    uint8_t *found[2];
    hot_context_options settings = {.size = sizeof settings, .device = HOT_DEVICE_CPU};
    hot_context *cpu = NULL;
    hot_context_create(&settings, &cpu);
    for (int t = 0; t < 2; t++) {
        out[t] = check_output(run, SIZE * 9 * sizeof(float));
        found[t] = check_output(run, SIZE);
        check_call(run, hot_directions_f32(t ? cpu : run->context, &usual, order, SIZE, tensors, basis.terms, NULL,
                                           out[t], found[t]));
    }
    hot_context_destroy(&cpu);
    size_t bad = 0, first = 0;
    for (size_t i = 0; i < SIZE; i++)
        if (found[0][i] != found[1][i] || !covers(out[0] + 9 * i, found[0][i], out[1] + 9 * i, found[1][i], 0, 0.01) ||
            !covers(out[1] + 9 * i, found[1][i], out[0] + 9 * i, found[0][i], 0, 0.01))
            if (!bad++)
                first = i;
    printf("  %s: %zu of %d tensors differ\n", name, bad, (int)SIZE);
    CHECK_ITEM(run, first, bad <= SIZE / 10000, "%zu tensors differ from the CPU, the first is this", bad);
    free(rows);
    check_case_end(run);
}

/* ---- Many starts ------------------------------------------------------------------------------------------------ */

typedef enum start_kind { CROSSING, SPHERE, BELOW, ZERO, HUGE_ONE, SMALL_ONE, TINY_ONE, WITH_NAN, WITH_INF, LEFT_OUT,
                          START_KINDS } start_kind;

/* Tensors of every kind, item i of kind i % START_KINDS; values beyond each tensor are NaN. */
static void make_kinds(check_run *run, int order, size_t size, size_t stride, float *rows, uint8_t *chosen)
{
    const form_basis basis = form_basis_make(order);
    for (size_t i = 0; i < size; i++) {
        const start_kind kind = (start_kind)(i % START_KINDS);
        const double scale = kind == HUGE_ONE ? 1e30 : kind == SMALL_ONE ? 1e-30 : kind == TINY_ONE ? 1e-41 : 1;
        double tensor[FORM_TERMS] = {0}, v[3];
        check_random_unit(&run->seed, v);
        if (kind == SPHERE)
            form_add_sphere(&basis, 0.3 + check_random(&run->seed), tensor);
        else if (kind == BELOW || kind == TINY_ONE)
            form_add_line(&basis, v, kind == BELOW ? -1 : 1, tensor);
        else if (kind != ZERO)
            form_crossing(&basis, i / START_KINDS, 0.03, &run->seed, tensor);
        for (size_t k = 0; k < stride; k++)
            rows[i * stride + k] = k < basis.terms ? (float)(scale * tensor[k]) : NAN;
        if (kind == WITH_NAN)
            rows[i * stride + check_random_bits(&run->seed) % basis.terms] = NAN;
        if (kind == WITH_INF)
            rows[i * stride + check_random_bits(&run->seed) % basis.terms] = i % 20 < 10 ? INFINITY : -INFINITY;
        chosen[i] = kind != LEFT_OUT;
    }
}

/* The same directions, each within `degrees` and as long. */
static int same_directions(const float *a, int count_a, const float *b, int count_b, double degrees)
{
    if (count_a != count_b || !covers(a, count_a, b, count_b, 0, degrees) ||
        !covers(b, count_b, a, count_a, 0, degrees))
        return 0;
    for (int i = 0; i < count_a; i++)
        if (!(fabs(form_length(a + 3 * i) - form_length(b + 3 * i)) <= 1e-5 * form_length(b)))
            return 0;
    return 1;
}

/* How many there are, of a row where found[] was not asked for. */
static int present(const float *row, int keep)
{
    int count = 0;
    while (count < keep && form_length(row + 3 * count) > 0)
        count++;
    return count;
}

/* By many starts: what kind each tensor is, the same as the CPU finds (the CPU: as SS-HOPM's reference leads to), and
 * none that brute force does not know. */
static void check_starts(check_run *run, int order, size_t starts, hot_shift shift, size_t size)
{
    static const char *const shifts[] = {"adaptive", "fixed", "none"};
    char name[64];
    snprintf(name, sizeof name, "order %d, %zu starts, shift %s", order, starts, shifts[shift]);
    if (!check_wanted(run, name))
        return;
    check_case_begin(run, name, size);
    const size_t terms = hot_symtensor_count(order, 3), stride = terms + size % 4;
    const hot_directions_options options = {.size = sizeof options, .threshold = -1, .min_angle = -1, .min_relief = -1,
                                            .starts = starts, .shift = shift, .alpha = 0.5};
    const int counts = size != 33; /* whether found[] is asked for */
    float *rows = malloc((size * stride + 1) * sizeof *rows);
    uint8_t *chosen = malloc(size + 1);
    make_kinds(run, order, size, stride, rows, chosen);
    const float *tensors = check_input(run, rows, size * stride * sizeof *rows);
    const uint8_t *skip = check_input(run, chosen, size);
    float *out[3];
    uint8_t *found[3];
    hot_context_options settings = {.size = sizeof settings, .device = HOT_DEVICE_CPU};
    hot_context *cpu = NULL;
    hot_context_create(&settings, &cpu);
    hot_context *const by[3] = {run->context, run->cuda ? cpu : run->reference, run->reference};
    /* brute force is for a part of the large jobs */
    const size_t known = starts < 31 ? 0 : size < 300 ? size : 300;
    int good = 1;
    for (int t = 0; t < 3; t++) {
        out[t] = check_output(run, size * (t == 2 ? 3 * KEEP : 9) * sizeof(float));
        found[t] = check_output(run, size);
        good &= check_call(run, hot_directions_f32(by[t], t == 2 ? &every : &options, order, t == 2 ? known : size,
                                                   tensors, stride, skip, out[t],
                                                   t == 0 && !counts ? NULL : found[t]));
    }
    size_t bad = 0, first = 0, fibers = 0;
    for (size_t i = 0; i < size && good; i++) {
        const start_kind kind = (start_kind)(i % START_KINDS);
        const float *ours = out[0] + 9 * i;
        const int count = counts ? found[0][i] : present(ours, 3), expected = found[1][i];
        const int directed = kind == CROSSING || kind == HUGE_ONE || kind == SMALL_ONE || kind == TINY_ONE;
        if (kind == SPHERE && starts < 6)
            continue; /* rounding has maxima too */
        fibers += directed;
        CHECK_ITEM(run, i, counts || memcmp(&found[0][i], "\xfb", 1) == 0, "found was written");
        CHECK_ITEM(run, i, well_formed(ours, 3, count == 255 ? 0 : count), "kind %d: not in order, or not written",
                   (int)kind);
        if (!directed) {
            const int invalid = counts && (kind == WITH_NAN || kind == WITH_INF);
            CHECK_ITEM(run, i, count == (invalid ? 255 : 0), "kind %d: %d directions", (int)kind, count);
            continue;
        }
        if (kind == TINY_ONE ? count != expected : !same_directions(ours, count, out[1] + 9 * i, expected, 0.01)) {
            if (!bad++)
                first = i;
        }
        if (i < known && kind != TINY_ONE)
            CHECK_ITEM(run, i, covers(out[2] + 3 * KEEP * i, found[2][i], ours, count, 0.25, 0.01),
                       "kind %d: one of %d directions is not a maximum", (int)kind, count);
    }
    /* Without a shift the GPU takes shorter ways, that rarely end elsewhere; few starts may then miss a maximum. */
    const size_t allowed = (starts < 100 && shift == HOT_SHIFT_NONE ? fibers / 200 : fibers / 10000) +
        (run->cuda ? size > 1000 : size > 10);
    if (size > 1000)
        printf("  %s: %zu of %zu tensors differ\n", name, bad, fibers);
    CHECK_ITEM(run, first, bad <= allowed, "%zu tensors of %zu differ, the first is this", bad, fibers);
    hot_context_destroy(&cpu);
    free(rows);
    free(chosen);
    check_case_end(run);
}

/* A ring of maxima, modulated so little that SS-HOPM stops far from the maxima: starts end in more places than the GPU
 * has room for, and are refined to order / 2 directions, evenly spread over the ring. */
static void check_ring(check_run *run, int order, hot_shift shift)
{
    enum { SIZE = 12 };
    if (!check_wanted(run, "rings"))
        return;
    check_case_begin(run, "rings", SIZE);
    const form_basis basis = form_basis_make(order);
    const hot_directions_options options = {.size = sizeof options, .max_directions = KEEP, .threshold = 0.5,
                                            .min_angle = 5, .min_relief = -1, .starts = 2000, .shift = shift};
    float *rows = malloc(SIZE * basis.terms * sizeof *rows);
    for (size_t i = 0; i < SIZE; i++) {
        /* (p^2 + q^2)^(m/2) + a little of the real part of (p + iq)^m, p and q two of the axes */
        double tensor[FORM_TERMS];
        const size_t p = i % 3, q = (p + 1) % 3;
        for (size_t k = 0; k < basis.terms; k++) {
            const int *e = basis.exponents + 3 * k, in_ring = e[p] + e[q] == order && e[q] % 2 == 0;
            double ring = 1;
            for (int j = 1; j <= e[q] / 2; j++)
                ring = ring * (order / 2 - e[q] / 2 + j) / j;
            tensor[k] = in_ring ? ring / basis.multiplicity[k] + (e[q] % 4 ? -1.2e-5 : 1.2e-5) : 0;
            rows[i * basis.terms + k] = (float)tensor[k];
        }
    }
    const float *tensors = check_input(run, rows, SIZE * basis.terms * sizeof *rows);
    float *directions = check_output(run, SIZE * 3 * KEEP * sizeof *directions);
    uint8_t *found = check_output(run, SIZE);
    if (check_call(run, hot_directions_f32(run->context, &options, order, SIZE, tensors, basis.terms, NULL, directions,
                                           found)))
        for (size_t i = 0; i < SIZE; i++) {
            const float *ours = directions + i * 3 * KEEP;
            CHECK_ITEM(run, i, found[i] == order / 2 && well_formed(ours, KEEP, found[i]), "%d directions", found[i]);
            for (int j = 0; j < found[i] && j < KEEP; j++) {
                float axis[3] = {0, 0, 0};
                axis[i % 3] = 1;
                const double turns = form_angle(ours + 3 * j, axis) / (360.0 / order);
                CHECK_ITEM(run, i, fabs(turns - round(turns)) <= 0.05 && fabsf(ours[3 * j + (i + 2) % 3]) <= 1e-4f,
                           "direction %d is %g steps along the ring, %g beside it", j, turns,
                           (double)ours[3 * j + (i + 2) % 3]);
            }
        }
    free(rows);
    check_case_end(run);
}

static void check_all_starts(check_run *run, int order)
{
    static const size_t starts[] = {1, 5, 6, 31, 32, 33, 100, 128, 200}, sizes[] = {0, 1, 2, 31, 32, 33, 257, 4099};
    for (size_t s = 0; s < sizeof starts / sizeof starts[0]; s++)
        for (int shift = HOT_SHIFT_ADAPTIVE; shift <= HOT_SHIFT_NONE; shift++) {
            /* the reference of SS-HOPM is slow */
            if (!run->cuda && (starts[s] > 33 || (s + (size_t)shift) % 3 != 0))
                continue;
            const size_t some = run->cuda ? (s + (size_t)shift) % 8 : s % 6;
            check_starts(run, order, starts[s], (hot_shift)shift, sizes[some]);
            if (run->cuda && (starts[s] == 128 || starts[s] == 5) && some != 7)
                check_starts(run, order, starts[s], (hot_shift)shift, 4099);
        }
    for (size_t i = 0; i < 7; i++)
        check_starts(run, order, 33, HOT_SHIFT_NONE, sizes[i] < 257 || run->cuda ? sizes[i] : 41);
    check_ring(run, order, HOT_SHIFT_NONE);
    check_ring(run, order, HOT_SHIFT_ADAPTIVE);
    if (run->cuda) { /* more than one chunk */
        check_starts(run, order, 128, HOT_SHIFT_NONE, 70001);
        check_starts(run, order, 7, HOT_SHIFT_NONE, 40002);
    }
}

/* A little of everything, for tools under which a GPU is slow. */
static void check_briefly(check_run *run)
{
    for (int order = 4; order <= 8; order += 2) {
        check_odd_ones(run, order, 33);
        check_threads(run, order, 150);
        check_starts(run, order, 128, HOT_SHIFT_NONE, 41);
        check_starts(run, order, 33, HOT_SHIFT_NONE, 33);
        check_starts(run, order, 5, HOT_SHIFT_ADAPTIVE, 41);
        check_starts(run, order, 200, HOT_SHIFT_NONE, 9);
        check_ring(run, order, HOT_SHIFT_NONE);
    }
}

static void check(check_run *run)
{
    const char *full = getenv("HOT_TEST_FULL"), *brief = getenv("HOT_TEST_BRIEF");
    if (brief && brief[0] == '1') {
        check_briefly(run);
        return;
    }
    const size_t size = full && full[0] == '1' ? 20000 : 1000;
    const double noise[3] = {0, 0.03, 0.1};
    for (int order = 2; order <= 8; order += 2) {
        check_lines(run, order);
        for (size_t i = 0; i < CHECK_SIZES; i++)
            check_odd_ones(run, order, check_sizes[i]);
        check_threads(run, order, 1500);
        if (order == 2)
            continue;
        check_all_starts(run, order);
        for (int n = 0; n < 3; n++)
            check_crossings(run, order, noise[n], size);
        for (int n = 0; n < 3 && run->cuda; n++)
            check_same_as_cpu(run, order, noise[n]);
        check_reference(run, order);
    }
}

/* The kernels alone, data on the GPU. */
static void time_device(check_run *run, const hot_directions_options *options, int order, size_t count,
                        const float *tensors, size_t stride, float *directions, uint8_t *found, const char *kind)
{
    hot_directions_plan plan;
    double milliseconds;
    char what[80];
    if (!check_call(run, hot_directions_resolve(run->context, options, order, count, tensors, stride, NULL, directions,
                                                found, &plan)) ||
        !check_call(run, hot_directions_cuda_time(run->context, &plan, 21, &milliseconds)))
        return;
    snprintf(what, sizeof what, "order %d, %s, on the device", order, kind);
    check_report(run, what, 1e-3 * milliseconds, (double)count, "");
}

static double time_call(check_run *run, const hot_directions_options *options, int order, size_t count,
                        const float *tensors, size_t stride, float *directions, uint8_t *found)
{
    double best = INFINITY;
    const double begin = check_now();
    do {
        const double start = check_now();
        if (!check_call(run, hot_directions_f32(run->context, options, order, count, tensors, stride, NULL, directions,
                                                found)))
            break;
        best = fmin(best, check_now() - start);
    } while (check_now() - begin < run->seconds);
    return best;
}

static const hot_directions_options unshifted = {.size = sizeof unshifted, .threshold = -1, .min_angle = -1,
                                                 .min_relief = -1, .starts = 128, .shift = HOT_SHIFT_NONE};
static const hot_directions_options adaptive = {.size = sizeof adaptive, .threshold = -1, .min_angle = -1,
                                                .min_relief = -1, .starts = 128, .shift = HOT_SHIFT_ADAPTIVE};

enum { MILLIONS = 1 << 24 };

/* Each of `gpus` takes its share, already there: the longest time of any, all at work at once. */
static double time_shares(check_run *run, const hot_directions_options *options, int gpus, int order,
                          const float *tensors, size_t stride, float *directions, uint8_t *found)
{
    const size_t share = MILLIONS / (size_t)gpus;
    double longest = 0;
#pragma omp parallel for num_threads(gpus) schedule(static, 1) reduction(max : longest)
    for (int g = 0; g < gpus; g++) {
        const size_t from = share * (size_t)g;
        const hot_context_options settings = {.size = sizeof settings, .device = HOT_DEVICE_CUDA, .device_number = g};
        hot_context *context = NULL;
        hot_directions_plan plan;
        double milliseconds = INFINITY;
        if (hot_context_create(&settings, &context) == HOT_OK && hot_cuda_select(context, g) == HOT_OK &&
            hot_directions_resolve(context, options, order, share, tensors + from * stride, stride, NULL,
                                   directions + from * 9, found + from, &plan) == HOT_OK)
            hot_directions_cuda_time(context, &plan, 5, &milliseconds);
        hot_context_destroy(&context);
        longest = fmax(longest, 1e-3 * milliseconds);
    }
    if (!isfinite(longest))
        check_fail(run, 0, "order %d: %d GPUs could not be timed", order, gpus);
    return longest;
}

/* 16 million tensors on one GPU and on more of them, from host memory and back, and with each GPU's share already
 * there: how they divide the work. Results must be the same to the last bit. */
static void bench_gpus(check_run *run, int order, const hot_directions_options *options, const char *name,
                       const float *tensors, float *const out[2], uint8_t *const found[2])
{
    const size_t stride = hot_symtensor_count(order, 3), row = 9;
    const int most = hot_cuda_count();
    double one = 0, one_there = 0;
    for (int gpus = 1; gpus <= most; gpus *= 2) {
        const hot_context_options settings = {.size = sizeof settings, .device = HOT_DEVICE_CUDA, .device_number = -1};
        const int which = gpus > 1;
        check_run own = *run;
        char what[96], note[64];
        if (hot_context_create(&settings, &own.context) != HOT_OK)
            return;
        hot_context_pretend_gpus(own.context, gpus);
#pragma omp parallel for
        for (size_t i = 0; i < MILLIONS; i++)
            memset(out[which] + i * row, 0x55, row * sizeof(float));
        own.seconds = 0;
        const double first = time_call(&own, options, order, MILLIONS, tensors, stride, out[which], found[which]);
        own.seconds = run->seconds;
        const double best = time_call(&own, options, order, MILLIONS, tensors, stride, out[which], found[which]);
        size_t differ = 0;
#pragma omp parallel for reduction(+ : differ)
        for (size_t i = 0; i < MILLIONS; i++)
            differ += memcmp(out[0] + i * row, out[which] + i * row, row * sizeof(float)) != 0 ||
                      found[0][i] != found[which][i];
        if (differ)
            check_fail(run, 0, "order %d, %s: %zu tensors differ on %d GPUs", order, name, differ, gpus);
        const double there = time_shares(run, options, gpus, order, tensors, stride, out[1], found[1]);
        one = gpus == 1 ? best : one;
        one_there = gpus == 1 ? there : one_there;
        snprintf(what, sizeof what, "order %d, %s, %d GPUs, from the host", order, name, gpus);
        snprintf(note, sizeof note, "%.2f x; first call %.1f ms", one / best, 1e3 * first);
        check_report(run, what, best, MILLIONS, note);
        snprintf(what, sizeof what, "order %d, %s, %d GPUs, data there", order, name, gpus);
        snprintf(note, sizeof note, "%.2f x", one_there / there);
        check_report(run, what, there, MILLIONS, note);
        hot_context_destroy(&own.context);
    }
}

/* The tensors are a few, repeated: what a tensor costs does not depend on that. */
static void bench_all_gpus(check_run *run)
{
    enum { MADE = 1 << 16, MOST = 45 };
    float *tensors = malloc((size_t)MILLIONS * MOST * sizeof *tensors);
    float *out[2] = {malloc((size_t)MILLIONS * 9 * sizeof **out), malloc((size_t)MILLIONS * 9 * sizeof **out)};
    uint8_t *found[2] = {malloc(MILLIONS), malloc(MILLIONS)};
    for (int order = 4; order <= 8; order += 2) {
        const form_basis basis = form_basis_make(order);
        float *some = malloc(MADE * basis.terms * sizeof *some);
        for (size_t i = 0; i < MADE; i++) {
            double tensor[FORM_TERMS] = {0};
            form_crossing(&basis, i, 0.03, &run->seed, tensor);
            for (size_t k = 0; k < basis.terms; k++)
                some[i * basis.terms + k] = (float)tensor[k];
        }
#pragma omp parallel for
        for (size_t i = 0; i < MILLIONS; i++)
            memcpy(tensors + i * basis.terms, some + i % MADE * basis.terms, basis.terms * sizeof *some);
        free(some);
        bench_gpus(run, order, &usual, "scan", tensors, out, found);
        bench_gpus(run, order, &unshifted, "128 starts", tensors, out, found);
    }
    free(tensors);
    for (int k = 0; k < 2; k++) {
        free(out[k]);
        free(found[k]);
    }
}

static void bench(check_run *run)
{
    if (run->cuda && check_wanted(run, "GPUs") && (run->only || hot_cuda_count() > 1))
        bench_all_gpus(run);
    if (!check_wanted(run, "one GPU"))
        return;
    const size_t count = run->cuda ? 1 << 20 : 1 << 15;
    static const struct {
        const hot_directions_options *options;
        const char *name;
        int kind;
        size_t cpu_part; /* of the tensors, on the CPU */
    } jobs[] = {{&usual, "crossings, 3 % noise", 0, 1},          {&usual, "pure noise", 1, 1},
                {&usual, "isotropic", 2, 1},                     {&unshifted, "128 starts, crossings", 0, 16},
                {&unshifted, "128 starts, pure noise", 1, 16},   {&adaptive, "128 starts, adaptive", 0, 16},
                {&adaptive, "128 starts, adaptive, noise", 1, 16}};
    for (int order = 4; order <= 8; order += 2) {
        const form_basis basis = form_basis_make(order);
        float *rows = malloc(count * basis.terms * sizeof *rows), *out = malloc(count * 9 * sizeof *out);
        uint8_t *found = malloc(count);
        for (size_t j = 0; j < sizeof jobs / sizeof jobs[0]; j++) {
            const size_t items = run->cuda ? count : count / jobs[j].cpu_part;
#pragma omp parallel for
            for (size_t i = 0; i < items; i++) {
                double tensor[FORM_TERMS] = {0};
                uint64_t seed = run->first_seed + i;
                if (jobs[j].kind == 0)
                    form_crossing(&basis, i, 0.03, &seed, tensor);
                else if (jobs[j].kind == 1)
                    form_add_noise(&basis, 1, &seed, tensor);
                else
                    form_add_sphere(&basis, 1, tensor);
                for (size_t k = 0; k < basis.terms; k++)
                    rows[i * basis.terms + k] = (float)tensor[k];
            }
            if (run->cuda)
                time_device(run, jobs[j].options, order, items, rows, basis.terms, out, found, jobs[j].name);
            char what[80];
            snprintf(what, sizeof what, "order %d, %s, %d threads", order, jobs[j].name,
                     hot_context_threads(run->context));
            check_report(run, what, time_call(run, jobs[j].options, order, items, rows, basis.terms, out, found),
                         (double)items, "");
        }
        free(rows);
        free(out);
        free(found);
    }
}

const check_family family_directions = {"directions", 0, check, bench};
