/* Any order and dimension: part of sshopm_lanes.h when HOT_DIM is 0. For tensors whose unfolded matrix would be too
 * large (sshopm_unfold.h): the index classes are walked in order (figures 2 and 3 of the Ballard paper), all lanes
 * together. */

HOT_FN void HOT_RUN(powers)(const hot_sshopm_args *args, const HOT_REAL *x, HOT_REAL power[][HOT_ORDER_MAX + 1])
{
    for (int d = 0; d < args->dim; d++) {
        power[d][0] = (HOT_REAL){0} + 1;
        for (int k = 1; k <= args->order; k++)
            power[d][k] = power[d][k - 1] * x[d];
    }
}

HOT_FN void HOT_RUN(general_gradient)(const hot_sshopm_args *args, hot_poll *poll, const HOT_SCALAR *a,
                                      const HOT_REAL *x, HOT_REAL *g)
{
    HOT_REAL power[HOT_DIM_MAX][HOT_ORDER_MAX + 1];
    HOT_RUN(powers)(args, x, power);
    for (int d = 0; d < args->dim; d++)
        g[d] = (HOT_REAL){0};
    hot_class class;
    hot_class_first(&class, args->order, args->dim);
    do {
        double weighted = hot_class_multiplicity(&class) * (double)*a++ / args->order;
        for (int r = 0; r < class.runs; r++) {
            HOT_REAL term = (HOT_REAL){0} + (HOT_SCALAR)(weighted * class.run_length[r]);
            for (int q = 0; q < class.runs; q++)
                term *= power[class.run_index[q]][class.run_length[q] - (q == r)];
            g[class.run_index[r]] += term;
        }
    } while (!hot_poll_after(poll, 1) && hot_class_next(&class));
}

/* A x^(m-1) = (A x^(m-2)) x, from the upper triangle row by row. */
HOT_FN void HOT_RUN(general_apply)(int n, const HOT_REAL *h, const HOT_REAL *x, HOT_REAL *g)
{
    for (int i = 0; i < n; i++) {
        g[i] = (HOT_REAL){0};
        for (int j = 0; j < n; j++) {
            int p = i < j ? i : j, q = i < j ? j : i;
            g[i] += h[p * n - p * (p - 1) / 2 + q - p] * x[j];
        }
    }
}

/* The Hessian's upper triangle row by row, and the gradient from it. */
HOT_FN void HOT_RUN(general_derivatives)(const hot_sshopm_args *args, hot_poll *poll, const HOT_SCALAR *a,
                                         const HOT_REAL *x, HOT_REAL *g, HOT_REAL *h)
{
    const int n = args->dim, order = args->order;
    HOT_REAL power[HOT_DIM_MAX][HOT_ORDER_MAX + 1];
    HOT_RUN(powers)(args, x, power);
    for (int k = 0; k < n * (n + 1) / 2; k++)
        h[k] = (HOT_REAL){0};
    hot_class class;
    hot_class_first(&class, order, n);
    do {
        double weighted = hot_class_multiplicity(&class) * (double)*a++ / ((double)order * (order - 1));
        for (int r = 0; r < class.runs; r++)
            for (int q = r; q < class.runs; q++) {
                double pairs = (double)class.run_length[r] * (class.run_length[q] - (q == r));
                if (pairs == 0)
                    continue;
                HOT_REAL term = (HOT_REAL){0} + (HOT_SCALAR)(weighted * pairs);
                for (int s = 0; s < class.runs; s++)
                    term *= power[class.run_index[s]][class.run_length[s] - (s == r) - (s == q)];
                int i = class.run_index[r], j = class.run_index[q];
                h[i * n - i * (i - 1) / 2 + j - i] += term;
            }
    } while (!hot_poll_after(poll, 1) && hot_class_next(&class));
    HOT_RUN(general_apply)(n, h, x, g);
}

/* The adaptive shift, from Samuelson's bound of the smallest eigenvalue (exact for n = 2). */
HOT_FN HOT_REAL HOT_RUN(general_shift)(const hot_sshopm_args *args, const HOT_REAL *h, HOT_SCALAR margin)
{
    const int n = args->dim;
    HOT_REAL sum = (HOT_REAL){0}, squares = (HOT_REAL){0};
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++, h++) {
            squares += *h * *h * (HOT_SCALAR)(i == j ? 1 : 2);
            if (i == j)
                sum += *h;
        }
    HOT_REAL mean = sum / (HOT_SCALAR)n;
    HOT_REAL variance = HOT_MAX(squares / (HOT_SCALAR)n - mean * mean, (HOT_REAL){0});
    HOT_REAL least = mean - HOT_SQRT(variance * (HOT_SCALAR)(n - 1));
    return HOT_MAX(margin - least * (HOT_SCALAR)(args->order - 1), (HOT_REAL){0});
}
