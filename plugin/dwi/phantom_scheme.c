/* Gradient directions by electrostatic repulsion. */
#include <math.h>
#include <string.h>

#include "common/arguments.h"
#include "core/fields.h"
#include "common/entry.h"
#include "core/random.h"

enum { ITERATIONS = 600, MEMORY = 6 };

/* Energy sum over pairs of 1/|x - y| + 1/|x + y|, and its gradient along the sphere. */
static double repulsion(size_t count, const double *x, double *gradient)
{
    double energy = 0;
    memset(gradient, 0, 3 * count * sizeof *gradient);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++) {
            const double *a = x + 3 * i, *b = x + 3 * j;
            double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
            /* |a -+ b|^2 = 2 -+ 2 a.b; two points that coincide repel strongly but not infinitely */
            double near = 1 / sqrt(fmax(2 - 2 * dot, 1e-12)), far = 1 / sqrt(fmax(2 + 2 * dot, 1e-12));
            energy += near + far;
            double slope = near * near * near - far * far * far; /* d energy / d (a.b) */
            for (int d = 0; d < 3; d++) {
                gradient[3 * i + d] += slope * b[d];
                gradient[3 * j + d] += slope * a[d];
            }
        }
    for (size_t i = 0; i < count; i++) {
        const double *a = x + 3 * i;
        double *g = gradient + 3 * i;
        double outward = a[0] * g[0] + a[1] * g[1] + a[2] * g[2];
        for (int d = 0; d < 3; d++)
            g[d] -= outward * a[d];
    }
    return energy;
}

static void step_along(size_t count, const double *x, const double *gradient, double step, double *moved)
{
    for (size_t i = 0; i < count; i++) {
        double norm = 0;
        for (int d = 0; d < 3; d++) {
            double value = x[3 * i + d] - step * gradient[3 * i + d];
            moved[3 * i + d] = value;
            norm += value * value;
        }
        norm = sqrt(norm);
        for (int d = 0; d < 3; d++)
            moved[3 * i + d] /= norm;
    }
}

/* Gradient descent with the step lengths of Barzilai and Borwein (1988), each accepted when the energy is below the
 * worst of the last few. x ends at the best point seen; returns its energy. work: 9 * count. */
static double relax(size_t count, double *x, double *work)
{
    double *gradient = work, *next = work + 3 * count, *next_gradient = work + 6 * count;
    double recent[MEMORY], energy = repulsion(count, x, gradient), step = 0.01 / (double)count;
    for (int i = 0; i < MEMORY; i++)
        recent[i] = energy;
    for (int iteration = 0; iteration < ITERATIONS; iteration++) {
        double worst = recent[0], largest = 0;
        for (int i = 1; i < MEMORY; i++)
            worst = fmax(worst, recent[i]);
        for (size_t i = 0; i < 3 * count; i++)
            largest = fmax(largest, fabs(gradient[i]));
        if (largest < 1e-9 * energy)
            break;
        step = fmin(step, 0.3 / largest); /* no point leaps across the sphere */
        double moved_energy = 0;
        int tries = 0;
        do {
            step_along(count, x, gradient, step, next);
            moved_energy = repulsion(count, next, next_gradient);
        } while (moved_energy > worst && ++tries < 30 && (step *= 0.25, 1));
        if (tries == 30)
            break;
        double moved2 = 0, change = 0;
        for (size_t i = 0; i < 3 * count; i++) {
            double s = next[i] - x[i];
            moved2 += s * s;
            change += s * (next_gradient[i] - gradient[i]);
        }
        memcpy(x, next, 3 * count * sizeof *x);
        memcpy(gradient, next_gradient, 3 * count * sizeof *x);
        energy = moved_energy;
        recent[iteration % MEMORY] = energy;
        step = change > 0 ? moved2 / change : 2 * step;
    }
    return energy;
}

static void turn_all(size_t count, double rotation[3][3], double *x)
{
    for (size_t i = 0; i < count; i++) {
        double turned[3];
        for (int d = 0; d < 3; d++)
            turned[d] = rotation[d][0] * x[3 * i] + rotation[d][1] * x[3 * i + 1] + rotation[d][2] * x[3 * i + 2];
        memcpy(x + 3 * i, turned, sizeof turned);
    }
}

/* A spiral from pole to equator, or (start > 0) random points. */
static void start_points(size_t count, unsigned start, double *x)
{
    hot_random random = hot_random_start(start, 77, count);
    for (size_t i = 0; i < count; i++) {
        double z = start ? hot_random_uniform(&random) : ((double)i + 0.5) / (double)count;
        double turn = start ? hot_random_uniform(&random) : fmod((double)i * 0.61803398874989485, 1);
        double cosine, sine, radius = sqrt(1 - z * z);
        hot_random_turn(turn, &cosine, &sine);
        x[3 * i] = radius * cosine, x[3 * i + 1] = radius * sine, x[3 * i + 2] = z;
    }
}

hot_status hot_scheme_directions(hot_context *context, size_t count, unsigned number, double *directions)
{
    HOT_ENTRY(context);
    HOT_NEED(context);
    if (count > 0)
        HOT_NEED(context, directions);
    double *work = hot_context_alloc(context, count, 12 * sizeof *work);
    if (!work)
        return HOT_ERROR_MEMORY;
    double *trial = work + 9 * count, lowest = INFINITY;
    /* The landscape has many valleys of almost equal depth: a few starts for usual sizes, one for large ones. */
    unsigned starts = count <= 100 ? 5 : count <= 200 ? 2 : 1;
    for (unsigned start = 0; start < starts; start++) {
        start_points(count, start, trial);
        double energy = relax(count, trial, work);
        if (energy < lowest) {
            lowest = energy;
            memcpy(directions, trial, 3 * count * sizeof *trial);
        }
    }
    /* Shells of one scheme must not share directions: each number has its own turn. */
    hot_random random = hot_random_start(number, 78, 0);
    double rotation[3][3];
    hot_random_rotation(&random, rotation);
    turn_all(count, rotation, directions);
    hot_context_free(context, work);
    return HOT_OK;
}
