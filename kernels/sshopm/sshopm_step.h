/* The arithmetic of one step: a template, compiled as C11 (with vectors, a start per lane) and by nvcc (a start per
 * thread). Included after form3.h or formn.h of the same order and dimension, with their macros, and with
 *
 *   #define HOT_STEP(name)         the names made
 *   #define HOT_MAX(a, b)          larger of two HOT_REAL
 *   #define HOT_SQRT(a)            square root of a HOT_REAL
 *   #define HOT_DIVIDE(a, b)       a / b where that need not be exact; as it stands unless defined
 *
 * Not for tensors as they come: the values are scaled (hot_sshopm_scale) and have the sign of the search in them, so
 * that every search climbs. */

#ifndef HOT_DIVIDE
#define HOT_DIVIDE(a, b) ((a) / (b))
#endif

/* A x^(m-1) into g. */
HOT_FN void HOT_STEP(gradient)(const HOT_COEF *a, const HOT_REAL *x, HOT_REAL *g)
{
#if HOT_DIM == 3 && HOT_ORDER % 2 == 0
    HOT_FORM(gradient)(a, x[0], x[1], x[2], g);
#else
    HOT_REAL h[HOT_DIM * (HOT_DIM + 1) / 2];
    HOT_FORM(hessian)(a, x, h);
    HOT_FORM(apply)(h, x, g);
#endif
}

/* A x^(m-2) into h (upper triangle) and A x^(m-1) into g. */
HOT_FN void HOT_STEP(derivatives)(const HOT_COEF *a, const HOT_REAL *x, HOT_REAL *g, HOT_REAL *h)
{
#if HOT_DIM == 3 && HOT_ORDER % 2 == 0
    HOT_FORM(derivatives)(a, x[0], x[1], x[2], g, h);
#else
    HOT_FORM(hessian)(a, x, h);
    HOT_FORM(apply)(h, x, g);
#endif
}

/* A bound from below of the smallest eigenvalue of the symmetric matrix h (upper triangle), close to it for n <= 3. */
HOT_FN HOT_REAL HOT_STEP(min_eigenvalue)(const HOT_REAL *h)
{
#if HOT_DIM == 3
    /* h = q + p B with det B = r in [-2, 2]; the smallest root t in [-2, -1] of t^3 - 3 t = r. Newton's iterates from
     * the tangent at r = -2 stay on its left, so the bound holds after any number of them; three leave 0.08 p at
     * worst (two equal small eigenvalues) and nothing to speak of elsewhere. */
    HOT_REAL q = (h[0] + h[3] + h[5]) * (HOT_SCALAR)(1.0 / 3);
    HOT_REAL b0 = h[0] - q, b3 = h[3] - q, b5 = h[5] - q;
    HOT_REAL p2 = (b0 * b0 + b3 * b3 + b5 * b5 + 2 * (h[1] * h[1] + h[2] * h[2] + h[4] * h[4])) * (HOT_SCALAR)(1.0 / 6);
    HOT_REAL det = b0 * (b3 * b5 - h[4] * h[4]) - h[1] * (h[1] * b5 - h[4] * h[2]) + h[2] * (h[1] * h[4] - b3 * h[2]);
    HOT_REAL p = HOT_SQRT(p2);
    HOT_REAL r = HOT_DIVIDE(det, p * p2 + (HOT_SCALAR)1e-30);
    HOT_REAL t = (r + 2) * (HOT_SCALAR)(1.0 / 9) - 2;
    HOT_UNROLL
    for (int k = 0; k < 3; k++) {
        HOT_REAL t2 = t * t;
        t = HOT_DIVIDE(2 * t * t2 + r, 3 * t2 - 3);
    }
    return q + p * t;
#elif HOT_DIM == 2
    HOT_REAL middle = (h[0] + h[2]) * (HOT_SCALAR)0.5, half = (h[0] - h[2]) * (HOT_SCALAR)0.5;
    return middle - HOT_SQRT(half * half + h[1] * h[1]);
#else
    /* Mean and variance of the eigenvalues bound them (Samuelson's inequality). */
    HOT_REAL sum = h[0] * 0, squares = h[0] * 0;
    HOT_UNROLL
    for (int i = 0; i < HOT_DIM; i++) {
        HOT_UNROLL
        for (int j = 0; j < HOT_DIM; j++) {
            if (j < i)
                continue;
            HOT_REAL value = h[i * HOT_DIM - i * (i - 1) / 2 + j - i];
            squares += value * value * (HOT_SCALAR)(i == j ? 1 : 2);
            if (i == j)
                sum += value;
        }
    }
    HOT_REAL mean = sum * (HOT_SCALAR)(1.0 / HOT_DIM);
    HOT_REAL variance = HOT_MAX(squares * (HOT_SCALAR)(1.0 / HOT_DIM) - mean * mean, mean * 0);
    return mean - HOT_SQRT(variance * (HOT_SCALAR)(HOT_DIM - 1));
#endif
}

/* The adaptive shift (Kolda, Mayo 2014, algorithm GEAP): just enough to make the Hessian of A x^m + alpha (x.x)^(m/2)
 * positive definite by `margin`. */
HOT_FN HOT_REAL HOT_STEP(adaptive_shift)(const HOT_REAL *h, HOT_SCALAR margin)
{
    HOT_REAL least = HOT_STEP(min_eigenvalue)(h);
    return HOT_MAX(margin - least * (HOT_SCALAR)(HOT_ORDER - 1), least * 0);
}
