/* The reference: a barrier method with the packed tensor's values themselves as unknowns, one voxel at a time, in long
 * double. Of the plan it takes sizes and nothing that was computed. t q(x) - sum ln(rows x) - ln det F(x) is minimised
 * by Newton's method for a rising t; the gap is then the number of rows and of F's rows over t. */
#include <math.h>
#include <string.h>

#include <hotfiber/symtensor.h>

#include "common/flow.h"
#include "msmt_plan.h"
#include "symtensor/sphere.h"

enum { UNKNOWNS = MSMT_UNKNOWNS, SIDE = MSMT_SIDE };

typedef struct barrier {
    size_t n, rows, side;
    int value[SIDE][SIDE]; /* F: which unknown each entry is */
    long double f[SIDE][SIDE], inverse[SIDE][SIDE], product[MSMT_TERMS][SIDE][SIDE];
    long double normal[UNKNOWNS][UNKNOWNS];
    long double (*row)[UNKNOWNS]; /* rows */
    long double start[UNKNOWNS]; /* inside of the cone: an isotropic tensor and one of each tissue */
    long double right[UNKNOWNS], x[UNKNOWNS], step[UNKNOWNS], hessian[UNKNOWNS][UNKNOWNS];
} barrier;

/* step = hessian^-1 step, by elimination with pivots on the diagonal. */
static void eliminate(barrier *b)
{
    for (size_t k = 0; k < b->n; k++)
        for (size_t i = k + 1; i < b->n; i++) {
            const long double factor = b->hessian[i][k] / b->hessian[k][k];
            for (size_t j = k; j < b->n; j++)
                b->hessian[i][j] -= factor * b->hessian[k][j];
            b->step[i] -= factor * b->step[k];
        }
    for (size_t i = b->n; i-- > 0;) {
        for (size_t j = i + 1; j < b->n; j++)
            b->step[i] -= b->hessian[i][j] * b->step[j];
        b->step[i] /= b->hessian[i][i];
    }
}

/* inverse = F(x)^-1, by Gauss and Jordan; returns det F, 0 where F is not positive definite. */
static long double invert(barrier *b, const long double *x)
{
    long double determinant = 1;
    for (size_t p = 0; p < b->side; p++)
        for (size_t q = 0; q < b->side; q++) {
            b->f[p][q] = x[b->value[p][q]];
            b->inverse[p][q] = p == q;
        }
    for (size_t k = 0; k < b->side; k++) {
        const long double pivot = b->f[k][k];
        if (!(pivot > 0))
            return 0;
        determinant *= pivot;
        for (size_t q = 0; q < b->side; q++) {
            b->f[k][q] /= pivot;
            b->inverse[k][q] /= pivot;
        }
        for (size_t p = 0; p < b->side; p++) {
            const long double factor = b->f[p][k];
            for (size_t q = 0; q < b->side && p != k; q++) {
                b->f[p][q] -= factor * b->f[k][q];
                b->inverse[p][q] -= factor * b->inverse[k][q];
            }
        }
    }
    return determinant;
}

/* The gradient and Hessian of -ln det F: tr(F^-1 F_i) and tr(F^-1 F_i F^-1 F_j). */
static void add_determinant(barrier *b)
{
    const size_t terms = b->side ? (size_t)b->value[b->side - 1][b->side - 1] + 1 : 0; /* z^m is the last */
    if (b->side)
        invert(b, b->x);
    memset(b->product, 0, sizeof b->product);
    for (size_t p = 0; p < b->side; p++)
        for (size_t q = 0; q < b->side; q++)
            for (size_t r = 0; r < b->side; r++)
                b->product[b->value[p][q]][r][q] += b->inverse[r][p];
    for (size_t i = 0; i < terms; i++) {
        for (size_t p = 0; p < b->side; p++)
            b->step[i] += b->product[i][p][p];
        for (size_t j = 0; j < terms; j++)
            for (size_t p = 0; p < b->side; p++)
                for (size_t q = 0; q < b->side; q++)
                    b->hessian[i][j] += b->product[i][p][q] * b->product[j][q][p];
    }
}

/* q(x) = x^T N x / 2 - right^T x, infinite outside of the cone. */
static long double merit(barrier *b, long double t, const long double *x)
{
    long double value = 0;
    for (size_t i = 0; i < b->n; i++) {
        value -= t * b->right[i] * x[i];
        for (size_t j = 0; j < b->n; j++)
            value += t * x[i] * b->normal[i][j] * x[j] / 2;
    }
    for (size_t r = 0; r < b->rows; r++) {
        long double s = 0;
        for (size_t i = 0; i < b->n; i++)
            s += b->row[r][i] * x[i];
        if (!(s > 0))
            return INFINITY;
        value -= logl(s);
    }
    const long double determinant = b->side ? invert(b, x) : 1;
    return determinant > 0 ? value - logl(determinant) : INFINITY;
}

/* One step of Newton's method; returns its decrement. */
static long double newton(barrier *b, long double t)
{
    for (size_t i = 0; i < b->n; i++) {
        b->step[i] = t * b->right[i];
        for (size_t j = 0; j < b->n; j++) {
            b->step[i] -= t * b->normal[i][j] * b->x[j];
            b->hessian[i][j] = t * b->normal[i][j];
        }
    }
    for (size_t r = 0; r < b->rows; r++) {
        long double s = 0;
        for (size_t i = 0; i < b->n; i++)
            s += b->row[r][i] * b->x[i];
        for (size_t i = 0; i < b->n; i++) {
            b->step[i] += b->row[r][i] / s;
            for (size_t j = 0; j < b->n; j++)
                b->hessian[i][j] += b->row[r][i] * b->row[r][j] / (s * s);
        }
    }
    add_determinant(b);
    long double gradient[UNKNOWNS], decrement = 0, length = 1, tried[UNKNOWNS];
    memcpy(gradient, b->step, sizeof gradient);
    eliminate(b);
    for (size_t i = 0; i < b->n; i++)
        decrement += gradient[i] * b->step[i];
    const long double before = merit(b, t, b->x);
    for (int halved = 0; halved < 60; halved++, length /= 2) {
        for (size_t i = 0; i < b->n; i++)
            tried[i] = b->x[i] + length * b->step[i];
        if (merit(b, t, tried) <= before - .1L * length * decrement || halved == 59)
            break;
    }
    memcpy(b->x, tried, sizeof tried);
    return decrement;
}

/* N. The ridge is that of the problem: the squared norm of harmonics and amounts. */
static void make_normal(const msmt_args *args, const double *to_sh, const double *from_sh, barrier *b)
{
    const hot_msmt_problem *problem = args->problem;
    const size_t terms = args->plan->terms, rows = problem->rows;
    double largest = 0;
    for (size_t i = 0; i < b->n; i++) {
        double sum = 0;
        for (size_t r = 0; r < rows; r++) {
            double value = i >= terms ? problem->design[r * b->n + i] : 0;
            for (size_t k = 0; k < terms && i < terms; k++)
                value += problem->design[r * b->n + k] * from_sh[k * terms + i];
            sum += value * value;
        }
        largest = fmax(largest, sum);
    }
    const double ridge = (problem->ridge > 0 ? problem->ridge : 1e-10) * largest;
    for (size_t i = 0; i < b->n; i++)
        for (size_t j = 0; j < b->n; j++) {
            b->normal[i][j] = i == j && i >= terms ? ridge : 0;
            for (size_t r = 0; r < rows; r++)
                b->normal[i][j] += (long double)problem->design[r * b->n + i] * problem->design[r * b->n + j];
            for (size_t k = 0; k < terms && i < terms && j < terms; k++)
                b->normal[i][j] += (long double)ridge * to_sh[k * terms + i] * to_sh[k * terms + j];
        }
}

/* A point inside of the cone: the isotropic tensor and equal amounts, of energy 1. */
static void make_start(size_t terms, const double *from_sh, barrier *b)
{
    long double energy = 0;
    for (size_t i = 0; i < b->n; i++)
        b->start[i] = i < terms ? from_sh[i * terms] : 1;
    for (size_t i = 0; i < b->n; i++)
        for (size_t j = 0; j < b->n; j++)
            energy += b->start[i] * b->normal[i][j] * b->start[j];
    for (size_t i = 0; i < b->n; i++)
        b->start[i] /= sqrtl(energy);
}

/* The rows: values of the form in directions, then the amounts. */
static void make_rows(const msmt_args *args, const int *exponents, barrier *b)
{
    const hot_msmt_problem *problem = args->problem;
    const size_t terms = args->plan->terms;
    double multiplicity[MSMT_TERMS], own[3 * 512];
    hot_symtensor_multiplicity(problem->order, 3, multiplicity);
    if (!problem->direction)
        hot_sphere_lattice(args->plan->directions, own);
    for (size_t r = 0; r < b->rows; r++) {
        memset(b->row[r], 0, sizeof b->row[r]);
        if (r >= args->plan->directions) {
            b->row[r][terms + r - args->plan->directions] = 1;
            continue;
        }
        const double *v = (problem->direction ? problem->direction : own) + 3 * r;
        const long double x = v[0], y = v[1], z = v[2], length = sqrtl(x * x + y * y + z * z);
        for (size_t i = 0; i < terms; i++) {
            b->row[r][i] = multiplicity[i];
            for (int d = 0; d < 3; d++)
                b->row[r][i] *= powl((long double)v[d] / length, exponents[3 * i + (size_t)d]);
        }
    }
}

static hot_status set_up(hot_context *context, const msmt_args *args, barrier *b)
{
    const hot_msmt_problem *problem = args->problem;
    const size_t terms = args->plan->terms;
    double to_sh[MSMT_TERMS * MSMT_TERMS], from_sh[MSMT_TERMS * MSMT_TERMS];
    int exponents[3 * MSMT_TERMS], half[3 * SIDE];
    HOT_TRY(hot_symtensor_to_sh(context, problem->order, to_sh));
    HOT_TRY(hot_sh_to_symtensor(context, problem->order, from_sh));
    b->n = terms + problem->tissues;
    make_normal(args, to_sh, from_sh, b);
    make_start(terms, from_sh, b);
    hot_symtensor_exponents(problem->order, 3, exponents);
    hot_symtensor_exponents(problem->order / 2, 3, half);
    for (size_t p = 0; p < b->side; p++)
        for (size_t q = 0; q < b->side; q++)
            for (size_t t = 0; t < terms; t++)
                if (half[3 * p] + half[3 * q] == exponents[3 * t] &&
                    half[3 * p + 1] + half[3 * q + 1] == exponents[3 * t + 1])
                    b->value[p][q] = (int)t;
    if (b->rows > 0)
        make_rows(args, exponents, b);
    return HOT_OK;
}

static void solve_voxel(const msmt_args *args, const float *signals, barrier *b)
{
    const hot_msmt_problem *problem = args->problem;
    long double size = 0;
    for (size_t i = 0; i < b->n; i++) {
        b->right[i] = 0;
        for (size_t r = 0; r < problem->rows; r++)
            b->right[i] += (long double)problem->design[r * b->n + i] * signals[r];
    }
    for (size_t r = 0; r < problem->rows; r++)
        size += (long double)signals[r] * signals[r];
    if (b->rows == 0 && b->side == 0) {
        memcpy(b->hessian, b->normal, sizeof b->hessian);
        memcpy(b->step, b->right, sizeof b->step);
        eliminate(b);
        memcpy(b->x, b->step, sizeof b->x);
        return;
    }
    for (size_t i = 0; i < b->n; i++) /* any point inside of the cone would do */
        b->x[i] = b->start[i] * sqrtl(size);
    for (long double t = 10 / size; t < 1e16L / size; t *= 10)
        for (int step = 0; step < 60 && newton(b, t) > 1e-9L; step++)
            ;
}

hot_status hot_msmt_ref(hot_context *context, void *arguments)
{
    const msmt_args *args = arguments;
    const msmt_plan *plan = args->plan;
    hot_status status = HOT_OK;
    barrier *b = hot_context_calloc(context, 1, sizeof *b);
    if (!b)
        return HOT_ERROR_MEMORY;
    b->side = plan->side;
    b->rows = plan->directions > 0 || plan->side > 0 ? plan->directions + plan->tissues : 0;
    b->row = hot_context_alloc(context, b->rows + 1, sizeof *b->row);
    status = b->row ? set_up(context, args, b) : HOT_ERROR_MEMORY;
    for (size_t item = 0; item < args->count && status == HOT_OK; item++) {
        const float *signals = args->signals + item * args->signal_stride;
        int finite = 1, any = 0;
        for (size_t r = 0; r < plan->rows; r++) {
            finite &= isfinite(signals[r]) != 0;
            any |= signals[r] != 0;
        }
        memset(b->x, 0, sizeof b->x);
        if (finite && any && !(args->mask && !args->mask[item]))
            solve_voxel(args, signals, b);
        for (size_t i = 0; i < plan->terms; i++)
            args->tensors[item * args->tensor_stride + i] = (float)b->x[i];
        for (size_t i = 0; i < plan->tissues; i++)
            args->amounts[item * plan->tissues + i] = (float)b->x[plan->terms + i];
        if (args->residual)
            args->residual[item] = 0;
        if (args->flags)
            args->flags[item] = (uint8_t)((!args->mask || args->mask[item]) && !finite);
        status = hot_context_check(context, "deconvolving");
    }
    if (b)
        hot_context_free(context, b->row);
    hot_context_free(context, b);
    return status;
}
