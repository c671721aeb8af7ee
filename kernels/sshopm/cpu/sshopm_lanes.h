/* The loop over the starts of one tensor on a CPU: a template, included once per precision and shape.
 *
 *   #define HOT_RUN(name)        the names made
 *   #define HOT_SCALAR float, HOT_REAL vf, HOT_MASK vi, HOT_COUNT int32_t, HOT_TYPE f32, HOT_ORDER, HOT_DIM
 *
 * HOT_DIM 0 makes the general version, any order and dimension, by products with the unfolded tensor. */
#define HOT_COEF HOT_SCALAR
#define HOT_MAX(a, b) vmax(a, b)
#define HOT_SQRT(a) vsqrt(a)
#define HOT_LANES ((int)(HOT_SIMD_BYTES / sizeof(HOT_SCALAR)))
#define HOT_FORM(name) HOT_RUN(form_##name)
#define HOT_STEP(name) HOT_RUN(step_##name)

#if HOT_DIM == 0
#define HOT_N args->dim
#define HOT_N_MAX HOT_DIM_MAX
#define HOT_PAIRS_MAX (HOT_DIM_MAX * (HOT_DIM_MAX + 1) / 2)
#define HOT_GROUP 2
#include "sshopm/sshopm_general.h"
#include "sshopm/cpu/sshopm_product.h"
#else
#define HOT_N HOT_DIM
#define HOT_N_MAX HOT_DIM
/* Several vectors in flight hide the latency of each one's chain of dependent sums; the larger dimensions have enough
 * independent sums, and are compiled once, not thrice. */
#if HOT_DIM == 3
#define HOT_GROUP 4
#define HOT_REPEAT
#else
#define HOT_GROUP 1
#endif
#if HOT_DIM == 3 && HOT_ORDER % 2 == 0
#include "symtensor/form3.h"
#else
#include "symtensor/formn.h"
#endif
#include "sshopm/sshopm_step.h"
#endif

/* x <- y / |y|; where y is so short that its square is lost, it is lengthened first; where it is zero, x stays. */
HOT_FN void HOT_RUN(normalise)(const hot_sshopm_args *args, const HOT_REAL *y, HOT_REAL *x)
{
    (void)args;
    HOT_REAL norm2 = y[0] * y[0];
    for (int d = 1; d < HOT_N; d++)
        norm2 += y[d] * y[d];
    HOT_MASK fine = norm2 > (HOT_SCALAR)HOT_TINY;
    if (__builtin_expect(vall(fine), 1)) {
        HOT_REAL inverse = vrsqrt_newton(norm2);
        for (int d = 0; d < HOT_N; d++)
            x[d] = y[d] * inverse;
        return;
    }
    HOT_REAL largest = norm2 * 0, sum = norm2 * 0, unit[HOT_N_MAX];
    for (int d = 0; d < HOT_N; d++)
        largest = HOT_MAX(largest, vabs(y[d]));
    HOT_MASK some = largest > 0;
    for (int d = 0; d < HOT_N; d++) {
        unit[d] = y[d] / vsel(some, largest, largest + 1);
        sum += unit[d] * unit[d];
    }
    HOT_REAL inverse = 1 / HOT_SQRT(sum + vsel(some, sum * 0, sum * 0 + 1));
    for (int d = 0; d < HOT_N; d++)
        x[d] = vsel(some, unit[d] * inverse, x[d]);
}

/* lambda = x . g and the square of |g - lambda x|. */
HOT_FN void HOT_RUN(measure)(const hot_sshopm_args *args, const HOT_REAL *x, const HOT_REAL *g, HOT_REAL *lambda,
                             HOT_REAL *residual2)
{
    (void)args;
    HOT_REAL sum = x[0] * g[0];
    for (int d = 1; d < HOT_N; d++)
        sum += x[d] * g[d];
    HOT_REAL off = g[0] - sum * x[0], squares = off * off;
    for (int d = 1; d < HOT_N; d++) {
        off = g[d] - sum * x[d];
        squares += off * off;
    }
    *lambda = sum;
    *residual2 = squares;
}

static void HOT_RUN(store)(const hot_sshopm_args *args, const hot_sshopm_item *item, size_t block, const HOT_REAL *x,
                           HOT_REAL lambda, HOT_REAL residual2, HOT_MASK steps)
{
    HOT_REAL residual = HOT_SQRT(residual2);
    for (int lane = 0; lane < HOT_LANES; lane++) {
        size_t start = block * HOT_LANES + (size_t)lane, at = item->at + start;
        if (start >= args->starts)
            return;
        if (args->lambda)
            ((HOT_SCALAR *)args->lambda)[at] = (HOT_SCALAR)(lambda[lane] * (HOT_SCALAR)item->unscale[0] *
                                                            (HOT_SCALAR)item->unscale[1] * (HOT_SCALAR)args->sign);
        if (args->residual)
            ((HOT_SCALAR *)args->residual)[at] = residual[lane] * (HOT_SCALAR)item->unscale[0] *
                                                 (HOT_SCALAR)item->unscale[1];
        if (args->iterations)
            args->iterations[at] = (int32_t)steps[lane];
        if (args->x)
            for (int d = 0; d < HOT_N; d++)
                ((HOT_SCALAR *)args->x)[at * (size_t)HOT_N + (size_t)d] = x[d][lane];
    }
}

#ifdef HOT_REPEAT
/* args->max_iterations steps of a group without convergence checks. */
HOT_FN void HOT_RUN(repeat)(const hot_sshopm_args *args, const hot_sshopm_item *item, HOT_REAL x[HOT_GROUP][HOT_N_MAX])
{
    const HOT_SCALAR *a = item->values;
    const HOT_SCALAR alpha = (HOT_SCALAR)item->alpha;
    for (int k = 0; k < args->max_iterations && !hot_poll_after(item->poll, HOT_GROUP); k++) {
        for (int b = 0; b < HOT_GROUP; b++) {
            HOT_REAL y[HOT_N_MAX];
            HOT_STEP(gradient)(a, x[b], y);
            if (alpha != 0)
                for (int d = 0; d < HOT_N; d++)
                    y[d] += x[b][d] * alpha;
            HOT_RUN(normalise)(args, y, x[b]);
        }
    }
}
#endif

/* Blocks [first, last) of HOT_LANES starts, from the tensor item->values. */
static void HOT_RUN(tensor)(const hot_sshopm_args *args, const hot_sshopm_item *item, size_t first, size_t last)
{
    const HOT_SCALAR alpha = (HOT_SCALAR)item->alpha, margin = (HOT_SCALAR)(1e-6 * item->scale / args->order);
    const HOT_SCALAR limit = (HOT_SCALAR)(args->tolerance * item->scale), limit2 = limit * limit;
    const HOT_SCALAR change = (HOT_SCALAR)args->change, unit = (HOT_SCALAR)item->unit;
    const int adaptive = args->shift == HOT_SHIFT_ADAPTIVE;
#if HOT_DIM != 0
    const HOT_SCALAR *a = item->values;
#endif
    for (size_t begin = first; begin < last && !hot_poll_stopped(item->poll); begin += HOT_GROUP) {
#if HOT_DIM == 0
        HOT_REAL gradient[HOT_GROUP][HOT_N_MAX], hessian[HOT_GROUP][HOT_PAIRS_MAX];
        const int group = last - begin < HOT_GROUP ? (int)(last - begin) : HOT_GROUP;
#else
        const int group = HOT_GROUP;
#endif
        HOT_REAL x[HOT_GROUP][HOT_N_MAX], lambda[HOT_GROUP], residual2[HOT_GROUP], before[HOT_GROUP];
        HOT_MASK done[HOT_GROUP], steps[HOT_GROUP];
        for (int b = 0; b < group; b++) {
            /* Beyond the last block the last one is repeated; its copies are not stored. */
            size_t block = begin + (size_t)b < last ? begin + (size_t)b : last - 1;
            const HOT_SCALAR *from = (const HOT_SCALAR *)item->starts + block * (size_t)HOT_N * HOT_LANES;
            for (int d = 0; d < HOT_N; d++)
                memcpy(&x[b][d], from + (size_t)d * HOT_LANES, sizeof x[b][d]);
            done[b] = steps[b] = (HOT_MASK){0};
            before[b] = (HOT_REAL){0} + (HOT_SCALAR)INFINITY;
        }
        int begun = 0;
#ifdef HOT_REPEAT
        if (args->exact && !adaptive) {
            HOT_RUN(repeat)(args, item, x);
            for (int b = 0; b < group; b++)
                steps[b] = (HOT_MASK){0} + (HOT_COUNT)args->max_iterations;
            begun = args->max_iterations;
        }
#endif
        for (int k = begun;; k++) {
            HOT_MASK all = (HOT_MASK){0} - 1;
#if HOT_DIM == 0
            HOT_RUN(evaluate)(args, item, group, x, gradient, hessian);
#endif
            for (int b = 0; b < group; b++) {
                HOT_REAL shift = (HOT_REAL){0} + alpha;
#if HOT_DIM == 0
                HOT_REAL *y = gradient[b];
                if (adaptive)
                    shift = HOT_RUN(general_shift)(args, hessian[b], margin);
#else
                HOT_REAL y[HOT_N_MAX];
                if (adaptive) {
                    HOT_REAL h[HOT_N_MAX * (HOT_N_MAX + 1) / 2];
                    HOT_STEP(derivatives)(a, x[b], y, h);
                    shift = HOT_STEP(adaptive_shift)(h, margin);
                } else {
                    HOT_STEP(gradient)(a, x[b], y);
                }
#endif
                HOT_RUN(measure)(args, x[b], y, &lambda[b], &residual2[b]);
                HOT_MASK small = residual2[b] <= limit2;
                if (change > 0) {
                    HOT_REAL size = HOT_MAX(vabs(lambda[b]), (HOT_REAL){0} + unit);
                    small = vabs(lambda[b] - before[b]) <= size * change;
                    before[b] = lambda[b];
                }
                if (!args->exact)
                    done[b] |= small;
                all &= done[b];
                if (k == args->max_iterations) {
                    steps[b] = (HOT_MASK)((steps[b] & (done[b] | small)) | (-steps[b] & ~(done[b] | small)));
                    continue;
                }
                HOT_REAL next[HOT_N_MAX];
                for (int d = 0; d < HOT_N; d++) {
                    y[d] += x[b][d] * shift;
                    next[d] = x[b][d];
                }
                HOT_RUN(normalise)(args, y, next);
                for (int d = 0; d < HOT_N; d++)
                    x[b][d] = vsel(done[b], x[b][d], next[d]);
                steps[b] += 1 + done[b];
            }
            if (k == args->max_iterations || vall(all) || hot_poll_after(item->poll, (size_t)group))
                break;
        }
        for (int b = 0; b < group && begin + (size_t)b < last; b++)
            HOT_RUN(store)(args, item, begin + (size_t)b, x[b], lambda[b], residual2[b], steps[b]);
    }
}

#undef HOT_COEF
#undef HOT_MAX
#undef HOT_SQRT
#undef HOT_LANES
#undef HOT_FORM
#undef HOT_STEP
#undef HOT_N
#undef HOT_N_MAX
#undef HOT_GROUP
#undef HOT_REPEAT
#undef HOT_PAIRS_MAX
