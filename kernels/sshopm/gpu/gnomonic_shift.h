/* One shift for all starts of a tensor, in place of the adaptive one of every step (Kolda, Mayo 2014): SS-HOPM with
 * the shift alpha on A is SS-HOPM without one on A + alpha E, E the tensor of (x.x)^(m/2), so that the gnomonic
 * projection's steps (gnomonic.h) need not know of it.
 *
 * The step is sure to climb where the form of A + alpha E is convex, which takes alpha = -(m - 1) l, l the least
 * eigenvalue of A x^(m-2) anywhere on the sphere (Kolda, Mayo 2011). Half of that makes every maximum above zero
 * attract: there the eigenvalues of the step's derivative are ((m - 1) t + alpha) / (lambda + alpha), t those of
 * A x^(m-2) across x, and l <= t <= lambda / (m - 1). Starts then converge in fewer steps, and, measured, to the same
 * maxima. l is taken from points spread over the sphere, which miss the least of all by little.
 *
 * A template: HOT_ORDER, HOT_GNOMONIC(name); HOT_FORM(name) of form3.h and HOT_STEP(name) of sshopm_step.h. Compiled as
 * C11 for tests and by nvcc, where it makes members of gnomonic<ORDER> (gnomonic_item.cuh). */
#define HOT_GNOMONIC_SHIFT_PART 0.6f /* of the shift that makes the form convex: more than half, for the points */

/* The shift that this point (a unit vector) needs; the largest over all points is the tensor's shift. */
HOT_FN float HOT_GNOMONIC(shift)(const float *tensor, float x, float y, float z)
{
    float h[6];
    HOT_FORM(hessian)(tensor, x, y, z, h);
    return -HOT_GNOMONIC_SHIFT_PART * (HOT_ORDER - 1) * HOT_STEP(least_eigenvalue)(h);
}
