/* SS-HOPM on the GPU with everything already there: algorithms by name, whole batches in one launch. */
#include "sshopm_cases.h"

/* A large batch on the GPU: of the starts that converge in double precision nearly all end at the same limit. */
void check_sshopm_large(check_run *run, int order)
{
    if (!check_begin(run, 40000, "limits of double precision, order %d, 40000 x 128", order))
        return;
    /* of the tensor's scale, which grows with the order; the bound below is of the residual itself */
    const double tolerance = order == 4 ? 5e-6 : 1e-6;
    hot_sshopm_bench *bench = NULL;
    hot_sshopm_figure figure;
    if (check_call(run, hot_sshopm_bench_create(run->context, order, 40000, 128, &bench)) &&
        check_call(run, hot_sshopm_bench_run(run->context, bench, HOT_ALGORITHM_GNOMONIC, 0, tolerance, 0, 0,
                                             &figure))) {
        CHECK_ITEM(run, 0, figure.limited_agreement >= (order == 4 ? 0.9995 : order == 6 ? 0.999 : 0.998),
                   "only %.5f end where double does", figure.limited_agreement);
        CHECK_ITEM(run, 0, figure.limited_settled >= (order == 4 ? 0.9995 : order == 6 ? 0.999 : 0.998),
                   "only %.5f have a residual of 1e-5", figure.limited_settled);
    }
    hot_sshopm_bench_destroy(run->context, &bench);
    check_case_end(run);
}

/* One launch of `algorithm` on the whole problem. */
static hot_status on_device(check_run *run, const problem *p, hot_sshopm_algorithm algorithm, hot_shift shift)
{
    const hot_sshopm_args plan = {.shift = shift, .sign = 1, .tolerance = 5e-6, .max_iterations = 1000,
                                  .order = p->order, .dim = p->dim, .unique = p->unique, .count = p->count,
                                  .stride = p->stride, .starts = p->starts, .f64 = p->f64, .tensors = p->tensors,
                                  .start = p->start, .lambda = p->lambda, .x = p->x, .residual = p->residual,
                                  .iterations = p->iterations};
    return hot_sshopm_run_whole(run->context, &plan, algorithm);
}

static size_t common_divisor(size_t a, size_t b) { return b == 0 ? a : common_divisor(b, a % b); }

/* One launch of `algorithm` on a whole batch: the limits of a tensor's starts are the same to the last bit at any place
 * in the batch, and with any neighbours. */
void check_sshopm_neighbours(check_run *run, int order, size_t count, size_t starts, hot_sshopm_algorithm algorithm,
                             hot_shift shift)
{
    if (!check_begin(run, count, "neighbours, order %d, algorithm %d, shift %d, %zu x %zu", order, (int)algorithm,
                     (int)shift, count, starts))
        return;
    const problem p = make_problem(run, order, 3, 0, count, starts);
    problem q = p;
    /* Dealt out anew; every ninth tensor gives way to noise, to zeros or to NaN. */
    size_t step = count / 3 * 2 + 1;
    while (common_divisor(step, count) > 1)
        step++;
    const size_t bytes = count * p.stride * sizeof(float), results = count * starts;
    float *moved = malloc(bytes + 1);
    for (size_t t = 0; t < count; t++) {
        float *to = moved + t * step % count * p.stride;
        memcpy(to, (const float *)p.tensors + t * p.stride, p.stride * sizeof *to);
        for (size_t i = 0; t % 9 == 5 && i < p.unique; i++)
            to[i] = t % 27 == 5 ? (float)check_random_normal(&run->seed) : t % 27 == 14 ? 0 : NAN;
    }
    q.tensors = check_input(run, moved, bytes);
    free(moved);
    q.lambda = check_output(run, results * sizeof(float));
    q.x = check_output(run, results * 3 * sizeof(float));
    q.residual = check_output(run, results * sizeof(float));
    q.iterations = check_output(run, results * sizeof(int32_t));
    if (check_call(run, on_device(run, &p, algorithm, shift)) &&
        check_call(run, on_device(run, &q, algorithm, shift))) {
        check_written(run, &p);
        check_written(run, &q);
        size_t apart = 0, which = 0;
        for (size_t t = 0; t < count; t++) {
            const size_t a = t * starts, b = t * step % count * starts;
            if (t % 9 == 5)
                continue;
            if (memcmp((float *)p.lambda + a, (float *)q.lambda + b, starts * sizeof(float)) != 0 ||
                memcmp((float *)p.x + 3 * a, (float *)q.x + 3 * b, 3 * starts * sizeof(float)) != 0 ||
                memcmp((float *)p.residual + a, (float *)q.residual + b, starts * sizeof(float)) != 0 ||
                memcmp(p.iterations + a, q.iterations + b, starts * sizeof(int32_t)) != 0)
                which = t, apart++;
        }
        CHECK_ITEM(run, which, apart == 0, "%zu tensors have other results elsewhere in the batch", apart);
    }
    check_case_end(run);
}

/* Steps of the algorithm by blocks, as the CPU's: on tensors that no shared memory holds unfolded, on some that fit,
 * and on shapes that are unrolled elsewhere. */
static void check_wide(check_run *run, int order, int dim, int f64, size_t count, size_t starts)
{
    if (!check_begin(run, count, "by blocks, order %d dim %d f%d, %zu x %zu", order, dim, f64 ? 64 : 32, count, starts))
        return;
    const problem p = make_problem(run, order, dim, f64, count, starts);
    const hot_sshopm_args plan = {.shift = HOT_SHIFT_ADAPTIVE, .sign = 1, .exact = 1, .max_iterations = 3,
                                  .order = order, .dim = dim, .unique = p.unique, .count = count, .stride = p.stride,
                                  .starts = starts, .f64 = f64, .tensors = p.tensors, .start = p.start,
                                  .lambda = p.lambda, .x = p.x, .residual = p.residual, .iterations = p.iterations};
    const hot_context_options settings = {.size = sizeof settings, .device = HOT_DEVICE_CPU};
    const hot_sshopm_options options = {.size = sizeof options, .tolerance = HOT_ZERO, .max_iterations = 3};
    const size_t values = count * starts * (size_t)dim, size = f64 ? sizeof(double) : sizeof(float);
    hot_context *cpu = NULL;
    problem q = p;
    q.lambda = check_output(run, count * starts * size), q.x = check_output(run, values * size);
    q.residual = q.iterations = NULL;
    if (check_call(run, hot_context_create(&settings, &cpu)) && check_call(run, call(cpu, &options, &q)) &&
        check_call(run, hot_sshopm_run_whole(run->context, &plan, HOT_ALGORITHM_BLOCKS))) {
        check_written(run, &p);
        /* a step multiplies what rounding has left by no more than the shift lets it */
        const double slack = 500 * order * dim * (f64 ? 2.2e-16 : 1.2e-7);
        for (size_t i = 0; i < values; i++)
            CHECK_ITEM(run, i / (size_t)dim, fabs(at(&p, p.x, i) - at(&q, q.x, i)) <= slack, "x is %g, the CPU's %g",
                       at(&p, p.x, i), at(&q, q.x, i));
        for (size_t i = 0; i < count * starts; i++)
            CHECK_ITEM(run, i,
                       fabs(at(&p, p.lambda, i) - at(&q, q.lambda, i)) <= slack * (1 + fabs(at(&q, q.lambda, i))),
                       "lambda is %g, the CPU's %g", at(&p, p.lambda, i), at(&q, q.lambda, i));
    }
    hot_context_destroy(&cpu);
    check_case_end(run);
}

void check_sshopm_wide(check_run *run)
{
    static const int wide[][2] = {{5, 15}, {6, 11}, {8, 8}, {7, 10}, {4, 16}, {3, 5}, {4, 6}, {3, 4}};
    for (size_t s = 0; s < sizeof wide / sizeof wide[0]; s++)
        for (int f64 = 0; f64 < 2; f64++) {
            check_wide(run, wide[s][0], wide[s][1], f64, 5, 33);
            check_wide(run, wide[s][0], wide[s][1], f64, 2, 131);
            check_wide(run, wide[s][0], wide[s][1], f64, 1, 1);
        }
}

/* The default shift selects the fast kernel. */
void check_sshopm_default(check_run *run, int order, size_t count, size_t starts)
{
    if (!check_begin(run, count, "default algorithm, order %d, %zu x %zu", order, count, starts))
        return;
    const problem p = make_problem(run, order, 3, 0, count, starts);
    problem q = p;
    q.x = check_output(run, count * starts * 3 * sizeof(float));
    if (check_call(run, on_device(run, &p, HOT_ALGORITHM_AUTO, HOT_SHIFT_ADAPTIVE)) &&
        check_call(run, on_device(run, &q, HOT_ALGORITHM_GNOMONIC, HOT_SHIFT_ADAPTIVE)))
        CHECK_ITEM(run, 0, memcmp(p.x, q.x, count * starts * 3 * sizeof(float)) == 0, "another algorithm");
    check_case_end(run);
}

