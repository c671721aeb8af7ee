/* Directions by many starts: tensors of every kind, numbers of starts, and rings, where every start ends elsewhere. */
#include "directions_cases.h"

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

/* Whether each of a's directions above a quarter of its largest is one of b's, and as long: brute force shares nothing
 * with what follows SS-HOPM, which its reference does. */
static int are_maxima(const float *a, int count_a, const float *b, int count_b)
{
    for (int i = 0; i < count_a; i++) {
        int is_one = form_length(a + 3 * i) < 0.25 * form_length(a);
        for (int j = 0; j < count_b && !is_one; j++)
            is_one = form_angle(a + 3 * i, b + 3 * j) <= 0.01 &&
                     fabs(form_length(a + 3 * i) - form_length(b + 3 * j)) <= 2e-5 * form_length(b + 3 * j);
        if (!is_one)
            return 0;
    }
    return 1;
}

/* The number of directions in a row, without found[]. */
static int present(const float *row, int keep)
{
    int count = 0;
    while (count < keep && form_length(row + 3 * count) > 0)
        count++;
    return count;
}

/* By many starts: what kind each tensor is, the same as the CPU finds (the CPU: as SS-HOPM's reference leads to), and
 * none that brute force does not know. */
void check_directions_starts(check_run *run, int order, size_t starts, hot_shift shift, size_t size)
{
    static const char *const shifts[] = {"adaptive", "fixed", "none"};
    char name[64];
    snprintf(name, sizeof name, "order %d, %zu starts, shift %s", order, starts, shifts[shift]);
    if (!check_wanted(run, name))
        return;
    check_case_begin(run, name, size);
    const size_t terms = hot_symtensor_count(order, 3), stride = terms + size % 4;
    const hot_directions_options options = {.size = sizeof options, .starts = starts, .shift = shift, .alpha = 0.5};
    const int counts = size != 33; /* whether found[] is requested */
    float *rows = malloc((size * stride + 1) * sizeof *rows);
    uint8_t *chosen = malloc(size + 1);
    make_kinds(run, order, size, stride, rows, chosen);
    const float *tensors = check_input(run, rows, size * stride * sizeof *rows);
    const uint8_t *mask = check_input(run, chosen, size);
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
        const size_t each = t == 2 ? 3 * KEEP : 9;
        int is_known = 0;
        if (t > 0 && by[t] == run->reference) {
            char what[32];
            snprintf(what, sizeof what, "%d", t);
            out[t] = check_remembered(run, what, size * (each * sizeof(float) + 1), &is_known);
            found[t] = (uint8_t *)(out[t] + size * each);
        } else {
            out[t] = check_output(run, size * each * sizeof(float));
            found[t] = check_output(run, size);
        }
        good &= is_known ||
                check_call(run, hot_directions_f32(by[t], t == 2 ? &every : &options, order, t == 2 ? known : size,
                                                   tensors, stride, mask, out[t],
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
            CHECK_ITEM(run, i, are_maxima(ours, count, out[2] + 3 * KEEP * i, found[2][i]),
                       "kind %d: one of %d directions is not a maximum, or not as long", (int)kind, count);
    }
    /* Without a shift the GPU takes shorter ways, that rarely end elsewhere; few starts may then miss a maximum. */
    const size_t allowed = (starts < 100 && shift == HOT_SHIFT_NONE ? fibers / 200 : fibers / 10000) +
        (run->cuda ? size > 1000 : size > 10);
    if (size > 1000)
        printf("  %s: %zu of %zu tensors differ\n", name, bad, fibers);
    CHECK_ITEM(run, first, bad <= allowed, "%zu tensors of %zu differ, the first is this", bad, fibers);
    hot_context_destroy(&cpu);
    FREE(rows, chosen);
    check_case_end(run);
}

/* A ring of maxima, modulated so little (`height`) that SS-HOPM stops far from the maxima: starts end in more places
 * than the GPU has room for, and are refined to order / 2 directions, evenly spread over the ring. */
void check_directions_ring(check_run *run, int order, hot_shift shift, double height)
{
    enum { SIZE = 12 };
    if (!check_begin(run, SIZE, "rings"))
        return;
    const form_basis basis = form_basis_make(order);
    const hot_directions_options options = {.size = sizeof options, .max_directions = KEEP, .threshold = 0.5,
                                            .min_angle = 5, .starts = 2000, .shift = shift};
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
            tensor[k] = in_ring ? ring / basis.multiplicity[k] + (e[q] % 4 ? -height : height) : 0;
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
                           "direction %d is %g steps along the ring, %g off it", j, turns,
                           (double)ours[3 * j + (i + 2) % 3]);
            }
        }
    free(rows);
    check_case_end(run);
}

/* Every start counts: with a shift so large that nothing moves only the start that is a tensor's maximum converges. */
static void check_each_start(check_run *run, int order)
{
    enum { STARTS = 128 };
    if (!check_begin(run, STARTS, "each start"))
        return;
    const form_basis basis = form_basis_make(order);
    const hot_directions_options options = {.size = sizeof options, .starts = STARTS, .shift = HOT_SHIFT_FIXED,
                                            .alpha = 1e6};
    double starts[STARTS][3];
    float *rows = malloc(STARTS * basis.terms * sizeof *rows);
    hot_starts_even(STARTS, starts[0]);
    make_lines(&basis, STARTS, starts, 1, rows);
    const float *tensors = check_input(run, rows, STARTS * basis.terms * sizeof *rows);
    float *directions = check_output(run, STARTS * 9 * sizeof *directions);
    uint8_t *found = check_output(run, STARTS);
    if (check_call(run, hot_directions_f32(run->context, &options, order, STARTS, tensors, basis.terms, NULL,
                                           directions, found)))
        for (size_t i = 0; i < STARTS; i++) {
            const float start[3] = {(float)starts[i][0], (float)starts[i][1], (float)starts[i][2]};
            CHECK_ITEM(run, i, found[i] == 1 && form_angle(directions + 9 * i, start) <= 0.01,
                       "%d directions from the start that is the maximum", found[i]);
        }
    free(rows);
    check_case_end(run);
}

void check_directions_all_starts(check_run *run, int order)
{
    static const size_t starts[] = {1, 5, 6, 31, 32, 33, 100, 128, 200}, sizes[] = {0, 1, 2, 31, 32, 33, 257, 4099};
    for (size_t s = 0; s < sizeof starts / sizeof starts[0]; s++)
        for (int shift = HOT_SHIFT_ADAPTIVE; shift <= HOT_SHIFT_NONE; shift++) {
            /* the reference of SS-HOPM is slow */
            if (!run->cuda && (starts[s] > 33 || (s + (size_t)shift) % 3 != 0))
                continue;
            /* few starts are quick: enough tensors that each start matters */
            const size_t some = run->cuda ? (s + (size_t)shift) % 8 : s < 3 ? 3 + s % 2 : s % 6;
            check_directions_starts(run, order, starts[s], (hot_shift)shift, sizes[some]);
            if (run->cuda && (starts[s] == 128 || starts[s] == 5) && some != 7)
                check_directions_starts(run, order, starts[s], (hot_shift)shift, 4099);
        }
    for (size_t i = 0; i < 7; i++)
        check_directions_starts(run, order, 33, HOT_SHIFT_NONE, sizes[i] < 257 || run->cuda ? sizes[i] : 41);
    for (int shift = HOT_SHIFT_ADAPTIVE; shift <= HOT_SHIFT_NONE; shift += HOT_SHIFT_NONE - HOT_SHIFT_ADAPTIVE) {
        check_directions_ring(run, order, (hot_shift)shift, 1.2e-5);
        check_directions_ring(run, order, (hot_shift)shift, 2.5e-6); /* nearly all ends on the ring are settled ones */
    }
    check_each_start(run, order);
    if (run->cuda) { /* more than one chunk */
        check_directions_starts(run, order, 128, HOT_SHIFT_NONE, 70001);
        check_directions_starts(run, order, 128, HOT_SHIFT_ADAPTIVE, 40002);
        check_directions_starts(run, order, 7, HOT_SHIFT_NONE, 40002);
    }
}
