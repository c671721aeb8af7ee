/* Directions against the brute-force reference: crossings with and without noise, and the tensors that break a careless
 * search (isotropic, zero, rank 1 aimed anywhere, denormal, huge, NaN). */
#include "directions_cases.h"

#include "common/context_internal.h"
#include "common/cpu.h"
#include "directions/directions_ref.h"
#include "symtensor/sphere.h"

#include <hotfiber/symtensor.h>

/* Whether the maximum at v (as long as its value) is separated from higher points, and from directions that were found
 * instead and are lower by at most 2 % of the largest value, by a valley deeper than 2 % of it: whether all points of a
 * half sphere that are reached from it through points not lower by more are no higher than it, and none of them is near
 * such a direction. Others are hardly ever missed (docs/known-issues.md). */
static int stands_out(int order, const float *tensor, const float *v, double largest, const float *found,
                      int count_found)
{
    enum { POINTS = 4000 };
    static double x[POINTS][3];
    const size_t terms = hot_symtensor_count(order, 3);
    const double value = form_length(v), reach = cos(1.9 * sqrt(2 * M_PI / POINTS));
    double wide[FORM_TERMS], g[3];
    static int todo[POINTS];
    static char seen[POINTS];
    int count = 0, out = 1;
    if (x[0][2] == 0)
        hot_sphere_lattice(POINTS, x[0]);
    for (size_t k = 0; k < terms; k++)
        wide[k] = (double)tensor[k];
    memset(seen, 0, sizeof seen);
    for (int next = -1; next < count && out; next++) {
        double from[3];
        for (int d = 0; d < 3; d++)
            from[d] = next < 0 ? (double)v[d] / value : x[todo[next]][d];
        for (int p = 0; p < POINTS && out; p++) {
            if (seen[p] || fabs(from[0] * x[p][0] + from[1] * x[p][1] + from[2] * x[p][2]) < reach)
                continue;
            seen[p] = 1;
            const double there = hot_symtensor_gradient_f64(order, 3, wide, x[p], g);
            if (there < value - 0.02 * largest)
                continue;
            out = there <= value * (1 + 1e-6);
            for (int f = 0; f < count_found && out; f++) {
                const float *a = found + 3 * f;
                const double along = (double)a[0] * x[p][0] + (double)a[1] * x[p][1] + (double)a[2] * x[p][2];
                out = form_length(a) < value - 0.02 * largest || fabs(along) < reach * form_length(a);
            }
            todo[count++] = p;
        }
    }
    return out;
}

/* Whether the form is level at v, but for what floats lose in it: m sums of |coefficients| times 2^-24, 8 times. */
static int is_level(int order, const float *tensor, const float *v)
{
    const size_t terms = hot_symtensor_count(order, 3);
    const double length = form_length(v);
    double wide[FORM_TERMS], times[FORM_TERMS], x[3], g[3], sum = 0, slope = 0;
    hot_symtensor_multiplicity(order, 3, times);
    for (size_t k = 0; k < terms; k++)
        wide[k] = (double)tensor[k], sum += times[k] * fabs(wide[k]);
    for (int d = 0; d < 3; d++)
        x[d] = (double)v[d] / length;
    const double value = hot_symtensor_gradient_f64(order, 3, wide, x, g);
    for (int d = 0; d < 3; d++)
        slope += (g[d] - value * x[d]) * (g[d] - value * x[d]);
    return sqrt(slope) <= 8 * order * 0x1p-24 * sum;
}

/* Crossings, by scan or by many starts: at most one tensor in a thousand differs from brute force, as grid.h says
 * (HOT_TEST_FULL=1 tries 20,000), in maxima that hardly stand out, and in places that are level to rounding. The
 * reference is computed once for all backends and both ways, which have the same crossings. */
static void check_crossings(check_run *run, int order, double sigma, size_t size, size_t starts)
{
    enum { KNOWN = 32 };
    static struct {
        int order;
        double sigma;
        size_t size;
        uint64_t seed;
        float *directions;
        uint8_t *found;
    } known[KNOWN];
    char name[64];
    hot_directions_options options = every;
    options.starts = starts;
    snprintf(name, sizeof name, "crossings, order %d, noise %g, %zu starts", order, sigma, starts);
    if (!check_wanted(run, name))
        return;
    check_case_begin(run, name, size);
    const form_basis basis = form_basis_make(order);
    const size_t stride = basis.terms + 1;
    float *rows = malloc(size * stride * sizeof *rows);
    char drawn[sizeof name];
    snprintf(drawn, sizeof drawn, "crossings, order %d, noise %g, 0 starts", order, sigma);
    uint64_t seed = check_case_seed(run, drawn, size);
    for (size_t i = 0; i < size; i++) {
        double tensor[FORM_TERMS];
        form_crossing(&basis, i, sigma, &seed, tensor);
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
        slot = (slot + 1) % KNOWN;
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
                   hot_directions_f32(run->context, &options, order, size, tensors, stride, NULL, directions, found))) {
        size_t bad = 0, first = 0, missed = 0;
        for (size_t i = 0; i < size; i++) {
            const float *ours = directions + i * 3 * KEEP, *brute = known[slot].directions + i * 3 * KEEP;
            CHECK_ITEM(run, i, found[i] <= KEEP && well_formed(ours, KEEP, found[i]), "not in order, or not written");
            const int misses = !covers(ours, found[i], brute, known[slot].found[i], 0.3, 1);
            missed += (size_t)misses;
            if (misses || !covers(brute, known[slot].found[i], ours, found[i], 0.25, 1)) {
                if (!bad++)
                    first = i;
            }
            for (int j = 0; j < known[slot].found[i]; j++)
                if (!covers(ours, found[i], brute + 3 * j, 1, 0, 1) &&
                    form_length(brute + 3 * j) >= 0.3 * form_length(brute))
                    CHECK_ITEM(run, i, !stands_out(order, tensors + i * stride, brute + 3 * j, form_length(brute), ours,
                                            found[i]),
                               "misses a maximum of %g among %g", form_length(brute + 3 * j), form_length(brute));
            for (int j = 0; j < found[i] && found[i] <= KEEP; j++)
                if (!covers(brute, known[slot].found[i], ours + 3 * j, 1, 0, 1) &&
                    form_length(ours + 3 * j) >= 0.25 * form_length(ours))
                    CHECK_ITEM(run, i, is_level(order, tensors + i * stride, ours + 3 * j),
                               "a direction of %g among %g is no maximum", form_length(ours + 3 * j),
                               form_length(ours));
        }
        const double most = (double)size / 1000; /* a small sample spreads more: 40 seeds had up to 3 of 600 */
        const size_t allowed = (size_t)(size < 20000 ? most + 3 * sqrt(most) + .5 : most);
        if (size >= 20000)
            printf("  %s: %zu of %zu tensors differ, %zu miss a maximum\n", name, bad, size, missed);
        CHECK_ITEM(run, first, bad <= allowed, "%zu tensors of %zu differ from brute force, the first is this", bad,
                   size);
    }
    free(rows);
    check_case_end(run);
}

/* A noisy tensor of order 6 for which the scan lists 14 candidates, 11 of them for its three highest maxima, and that
 * with its axes exchanged and mirrored, as the scan goes through it in another order: all four maxima are found. */
static void check_many_candidates(check_run *run)
{
    static const float tensor[28] = {
        0.15506056f,    0.0319089331f,  0.0325049646f,   0.0753860399f,  0.0220548473f,    0.0530508235f,
        -0.00627266569f, 0.00684980117f, -0.00277007744f, 0.0336755216f,  0.0156530477f,    0.000669175177f,
        0.0375107303f,  5.91797725e-05f, -0.0110485097f, 0.09760499f,    -0.0207609832f,   0.0256690476f,
        0.00911419f,    0.0267318301f,  0.02302441f,     0.128298342f,   0.120331325f,     0.0777858049f,
        0.00708182529f, 0.0106966039f,  -0.0435441211f,  0.268164575f};
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    enum { WAYS = 24, TERMS = 28 };
    if (!check_begin(run, WAYS, "many candidates"))
        return;
    float rows[WAYS * TERMS];
    for (int way = 0; way < WAYS; way++)
        for (int s = 0, k = 0; s <= 6; s++)
            for (int t = 0; t <= s; t++, k++) { /* x^(6-s) y^(s-t) z^t; z is never mirrored, as x and -x are one */
                const int *to = orders[way / 4], power[3] = {6 - s, s - t, t};
                const int odd = (way & 1 && power[0] % 2) != (way & 2 && power[1] % 2);
                int at[3];
                for (int d = 0; d < 3; d++)
                    at[to[d]] = power[d];
                const int sum = at[1] + at[2];
                rows[way * TERMS + sum * (sum + 1) / 2 + at[2]] = odd ? -tensor[k] : tensor[k];
            }
    const float *tensors = check_input(run, rows, sizeof rows);
    float *directions = check_output(run, (size_t)WAYS * 3 * KEEP * sizeof *directions);
    uint8_t *found = check_output(run, WAYS);
    if (check_call(run, hot_directions_f32(run->context, &every, 6, WAYS, tensors, TERMS, NULL, directions, found)))
        for (size_t i = 0; i < WAYS; i++) {
            CHECK_ITEM(run, i, found[i] == 4, "%d of 4 maxima", found[i]);
            CHECK_ITEM(run, i, fabs(form_length(directions + i * 3 * KEEP + 9) - 0.2296) < 1e-3, "the last is %g",
                       form_length(directions + i * 3 * KEEP + 9));
        }
    check_case_end(run);
}

/* One fibre, aimed anywhere: exactly one direction, the right one. */
static void check_lines(check_run *run, int order)
{
    enum { AIMS = 26 + 300 };
    if (!check_begin(run, AIMS, "rank 1, order %d", order))
        return;
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
    make_lines(&basis, AIMS, aim, 0.7, rows);
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

/* Odd tensors among good ones, at every size: they are recognised, and the results of the good ones are those without
 * them. */
static void check_odd_ones(check_run *run, int order, size_t size)
{
    if (!check_begin(run, size, "odd tensors among good ones, order %d", order))
        return;
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
    const uint8_t *mask = check_input(run, chosen, size);
    float *directions = check_output(run, size * 3 * 3 * sizeof *directions);
    uint8_t *found = check_output(run, size);
    if (check_call(run,
                   hot_directions_f32(run->context, &usual, order, size, tensors, stride, mask, directions, found)))
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
                    CHECK_ITEM(run, i, memcmp(alone, v, sizeof alone) == 0, "kind %d: not the result that it has alone",
                               kind);
            }
        }
    FREE(rows, chosen);
    check_case_end(run);
}

/* Invalid calls are refused with a message: unknown orders, orders without many starts, options out of their bounds,
 * NULL tensors or results. */
static void check_refused(check_run *run)
{
    if (!check_begin(run, 1, "refused"))
        return;
    const hot_directions_options starts = {.size = sizeof starts, .starts = 30};
    hot_directions_options many = usual, above = usual, wide = usual, range = usual, shift = usual;
    many.max_directions = 17, above.threshold = 1.01, wide.min_angle = 91, range.min_relative_range = 1;
    shift.shift = HOT_SHIFT_FIXED, shift.alpha = -1;
    float *rows = calloc(FORM_TERMS, sizeof *rows);
    const float *tensor = check_input(run, rows, FORM_TERMS * sizeof *rows);
    float *directions = check_output(run, 3 * KEEP * sizeof *directions);
    const struct {
        const hot_directions_options *options;
        int order;
        size_t stride;
        const float *tensor;
        float *directions;
        const char *word;
    } refused[] = {
        {&usual, 3, 91, tensor, directions, "order"}, {&usual, 0, 91, tensor, directions, "order"},
        {&usual, 14, 120, tensor, directions, "order"}, {&starts, 10, 66, tensor, directions, "starts"},
        {&starts, 12, 91, tensor, directions, "starts"}, {&usual, 10, 65, tensor, directions, "stride"},
        {&usual, 12, 90, tensor, directions, "stride"}, {&many, 10, 66, tensor, directions, "directions"},
        {&above, 4, 15, tensor, directions, "threshold"}, {&wide, 4, 15, tensor, directions, "angle"},
        {&range, 4, 15, tensor, directions, "range"}, {&shift, 4, 15, tensor, directions, "shift"},
        {&usual, 4, 15, NULL, directions, "tensors"}, {&usual, 4, 15, tensor, NULL, "directions"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const hot_status status = hot_directions_f32(run->context, refused[i].options, refused[i].order, 1,
                                                     refused[i].tensor, refused[i].stride, NULL,
                                                     refused[i].directions, NULL);
        const char *message = hot_context_message(run->context);
        CHECK_ITEM(run, i, status == HOT_ERROR_ARGUMENT && strstr(message, refused[i].word),
                   "status %d, '%s' without '%s'", (int)status, message, refused[i].word);
    }
    free(rows);
    check_case_end(run);
}

/* Pure noise with small thresholds: many maxima, and few kept of many; the same for one thread and for five. */
static void check_threads(check_run *run, int order, size_t size)
{
    if (!check_begin(run, size, "noise, one thread and five"))
        return;
    const form_basis basis = form_basis_make(order);
    float *rows = malloc(size * basis.terms * sizeof *rows);
    for (size_t i = 0; i < size; i++) {
        double tensor[FORM_TERMS] = {0};
        form_add_noise(&basis, 1, &run->seed, tensor);
        for (size_t k = 0; k < basis.terms; k++)
            rows[i * basis.terms + k] = (float)tensor[k];
    }
    const float *tensors = check_input(run, rows, size * basis.terms * sizeof *rows);
    const hot_directions_options two = {.size = sizeof two, .max_directions = 2, .threshold = HOT_ZERO,
                                        .min_angle = HOT_ZERO, .min_relative_range = HOT_ZERO};
    const hot_directions_options some = {.size = sizeof some, .max_directions = 4, .threshold = 0.1, .starts = 30,
                                         .shift = HOT_SHIFT_NONE};
    const hot_directions_options *const ways[] = {&every, &two, &some};
    for (int way = 0; way < 3; way++) {
        const hot_directions_options *options = ways[way];
        if (options->starts > 0 && order > 8)
            continue;
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
    static int done[13];
    if (done[order]++)
        return;
    const size_t size = order > 8 ? 12 : 100; /* slow: by the number of terms, and by that of the maxima */
    if (!check_begin(run, size, "the reference against a finer one"))
        return;
    const form_basis basis = form_basis_make(order);
    float *rows = malloc(size * basis.terms * sizeof *rows);
    for (size_t i = 0; i < size; i++) {
        double tensor[FORM_TERMS];
        form_crossing(&basis, i, 0.1, &run->seed, tensor);
        for (size_t k = 0; k < basis.terms; k++)
            rows[i * basis.terms + k] = (float)tensor[k];
    }
    float *out[2];
    uint8_t *found[2];
    for (int t = 0; t < 2; t++) {
        hot_directions_args plan;
        out[t] = check_output(run, size * 3 * KEEP * sizeof(float));
        found[t] = check_output(run, size);
        check_call(run, hot_directions_resolve(run->context, &every, order, size, rows, basis.terms, NULL, out[t],
                                               found[t], &plan));
        check_call(run, hot_directions_ref_dense(run->context, &plan, t ? 8000 : 2000));
    }
    for (size_t i = 0; i < size; i++) {
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

/* A little of everything, for tools under which a GPU is slow. */
static void check_briefly(check_run *run)
{
    for (int order = 4; order <= 8; order += 2) {
        check_odd_ones(run, order, 33);
        check_threads(run, order, 150);
        check_directions_starts(run, order, 128, HOT_SHIFT_NONE, 41);
        check_directions_starts(run, order, 33, HOT_SHIFT_NONE, 33);
        check_directions_starts(run, order, 5, HOT_SHIFT_ADAPTIVE, 41);
        check_directions_starts(run, order, 200, HOT_SHIFT_NONE, 9);
        check_directions_ring(run, order, HOT_SHIFT_NONE, 1.2e-5);
    }
}

static void check(check_run *run)
{
    const char *full = getenv("HOT_TEST_FULL"), *brief = getenv("HOT_TEST_BRIEF");
    if (brief && brief[0] == '1') {
        check_briefly(run);
        return;
    }
    const size_t size = full && full[0] == '1' ? 20000 : 600;
    const double noise[3] = {0, 0.03, 0.1};
    /* Brute force takes most of the time: all noises with the instructions that are used here, one with others. */
    const int all = size > 1000 || run->cuda || strcmp(run->backend + 4, hot_cpu_level_name(hot_cpu_best())) == 0;
    check_refused(run);
    check_many_candidates(run);
    for (int order = 2; order <= 8; order += 2) {
        check_lines(run, order);
        for (size_t i = 0; i < check_size_count(run); i++)
            check_odd_ones(run, order, check_sizes[i]);
        check_threads(run, order, 1500);
        if (order == 2) { /* has but one maximum, whichever way it is found */
            check_directions_starts(run, order, 40, HOT_SHIFT_ADAPTIVE, 257);
            continue;
        }
        check_directions_all_starts(run, order);
        for (int n = 0; n < 3; n++) {
            if (!all && n != order / 2 % 3)
                continue;
            check_crossings(run, order, noise[n], size, 0);
            check_crossings(run, order, noise[n], size, 128);
        }
        for (int n = 0; n < 3 && run->cuda; n++)
            check_same_as_cpu(run, order, noise[n]);
        check_reference(run, order);
    }
    /* Orders without many starts and without a GPU kernel. Fewer crossings: their reference takes ten times as long as
     * that of order 8, and of order 12 twice that. */
    for (int order = 10; order <= 12; order += 2) {
        check_lines(run, order);
        check_odd_ones(run, order, 257);
        check_threads(run, order, 300);
        for (int n = all ? 0 : 2; n < 3; n++)
            check_crossings(run, order, noise[n], size > 1000 ? size / 5 : order == 10 ? 80 : 40, 0);
        check_reference(run, order);
    }
}

const check_family family_directions = {"directions", 0, 1, check, NULL};
