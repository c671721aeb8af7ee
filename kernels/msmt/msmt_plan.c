/* The plan: the normal matrix, and the forms and moments of the constraint's directions. */
#include <math.h>
#include <string.h>

#include <hotfiber/symtensor.h>

#include "common/arena.h"
#include "common/flow.h"
#include "msmt_plan.h"
#include "symtensor/sphere.h"

enum { DEFAULT_DIRECTIONS = 300 };

/* Of x^a y^b z^c with a + b + c = degree among all such. */
static int monomial(int degree, int a, int c) { return (degree - a) * (degree - a + 1) / 2 + c; }

/* C^T C and the ridge, which is a multiple of the squared norm of harmonics and amounts. */
static hot_status make_normal(hot_context *context, const hot_msmt_problem *problem, const double *multiplicity,
                              msmt_plan *plan)
{
    const size_t terms = plan->terms, n = plan->padded, unknowns = plan->unknowns, rows = plan->rows;
    double from_sh[MSMT_TERMS * MSMT_TERMS], to_sh[MSMT_TERMS * MSMT_TERMS], largest = 0;
    HOT_TRY(hot_sh_to_symtensor(context, plan->order, from_sh));
    HOT_TRY(hot_symtensor_to_sh(context, plan->order, to_sh));
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < unknowns; i++)
            plan->project[r * n + i] = problem->design[r * unknowns + i] * plan->scale[i];
    for (size_t i = 0; i < unknowns; i++)
        for (size_t j = 0; j < unknowns; j++)
            for (size_t r = 0; r < rows; r++)
                plan->normal[i * n + j] += plan->project[r * n + i] * plan->project[r * n + j];
    for (size_t i = 0; i < unknowns; i++) { /* the diagonal with harmonics as unknowns */
        double sum = 0;
        for (size_t r = 0; r < rows; r++) {
            double value = i < terms ? 0 : problem->design[r * unknowns + i];
            for (size_t t = 0; t < terms && i < terms; t++)
                value += problem->design[r * unknowns + t] * from_sh[t * terms + i];
            sum += value * value;
        }
        largest = fmax(largest, sum);
    }
    if (!(largest > 0) || !isfinite(largest))
        return hot_context_fail(context, HOT_ERROR_DATA,
                                "a deconvolution's design has squared columns of up to %g; it must be finite and not "
                                "0", largest);
    const double ridge = (problem->ridge > 0 ? problem->ridge : 1e-10) * largest;
    for (size_t i = 0; i < terms; i++)
        for (size_t j = 0; j < terms; j++)
            for (size_t k = 0; k < terms; k++)
                plan->normal[i * n + j] += ridge * to_sh[k * terms + i] * to_sh[k * terms + j] /
                                           sqrt(multiplicity[i] * multiplicity[j]);
    for (size_t i = terms; i < n; i++)
        plan->normal[i * n + i] += i < unknowns ? ridge : 1;
    return HOT_OK;
}

/* The inverse of the normal matrix's factor. */
static hot_status make_whiten(hot_context *context, msmt_plan *plan)
{
    const size_t n = plan->padded;
    double l[MSMT_PADDED * MSMT_PADDED];
    memcpy(l, plan->normal, n * n * sizeof *l);
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            double sum = l[i * n + j];
            for (size_t k = 0; k < j; k++)
                sum -= l[i * n + k] * l[j * n + k];
            if (i == j && !(sum > 0))
                return hot_context_fail(context, HOT_ERROR_DATA,
                                        "the signals do not tell unknown %zu of %zu of a deconvolution from the others",
                                        i + 1, plan->unknowns);
            l[i * n + j] = i == j ? sqrt(sum) : sum / l[j * n + j];
        }
    for (size_t c = 0; c < n; c++)
        for (size_t i = c; i < n; i++) {
            double sum = i == c ? 1 : 0;
            for (size_t k = c; k < i; k++)
                sum -= l[i * n + k] * plan->whiten[k * n + c];
            plan->whiten[i * n + c] = sum / l[i * n + i];
        }
    return HOT_OK;
}

/* A point inside: an isotropic tensor with the value 1 and one unit of each tissue, such that its signals have the
 * norm 1. */
static hot_status make_inside(hot_context *context, const double *multiplicity, msmt_plan *plan)
{
    double from_sh[MSMT_TERMS * MSMT_TERMS], size = 0;
    HOT_TRY(hot_sh_to_symtensor(context, plan->order, from_sh));
    for (size_t i = 0; i < plan->unknowns; i++)
        plan->inside[i] = i < plan->terms ? from_sh[i * plan->terms] * sqrt(4 * M_PI * multiplicity[i]) : 1;
    for (size_t i = 0; i < plan->unknowns; i++)
        for (size_t j = 0; j < plan->unknowns; j++)
            size += plan->inside[i] * plan->normal[i * plan->padded + j] * plan->inside[j];
    for (size_t i = 0; i < plan->unknowns && size > 0; i++)
        plan->inside[i] /= sqrt(size);
    return HOT_OK;
}

/* Whether the matrix of the tensor at `inside`, less `by` on the diagonal, is positive definite. */
static int definite_less(const msmt_plan *plan, double by)
{
    const size_t h = plan->side;
    double factor[MSMT_SIDE * MSMT_SIDE];
    for (size_t i = 0; i < h; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = plan->entry_scale[i * h + j] * plan->inside[plan->entry[i * h + j]] - (i == j ? by : 0);
            for (size_t k = 0; k < j; k++)
                sum -= factor[i * h + k] * factor[j * h + k];
            if (i == j && !(sum > 0))
                return 0;
            factor[i * h + j] = i == j ? sqrt(sum) : sum / factor[j * h + j];
        }
    return 1;
}

/* Rounding each value to float changes the matrix by at most 2^-24 of its trace, in any norm that counts; the least
 * eigenvalue of the matrix at `inside` says how much of that tensor lifts it as far. */
static void set_rounding(msmt_plan *plan)
{
    double low = 0, high = plan->inside[0];
    for (int halved = 0; halved < 60; halved++) {
        const double middle = .5 * (low + high);
        *(definite_less(plan, middle) ? &low : &high) = middle;
    }
    plan->rounding = 0x1p-24 / low;
}

/* Which unknown each entry of the tensor's matrix holds. */
static hot_status make_matrix(const int *exponents, const double *multiplicity, msmt_plan *plan)
{
    int half[3 * MSMT_SIDE], pairs = 0;
    double roots[MSMT_SIDE];
    hot_status status = hot_symtensor_exponents(plan->order / 2, 3, half);
    if (status == HOT_OK)
        status = hot_symtensor_multiplicity(plan->order / 2, 3, roots);
    for (size_t p = 0; p < plan->side; p++)
        plan->root[p] = sqrt(roots[p]);
    for (size_t t = 0; t < plan->terms; t++) {
        plan->first_pair[t] = pairs;
        for (size_t p = 0; p < plan->side; p++)
            for (size_t q = p; q < plan->side; q++) {
                if (half[3 * p] + half[3 * q] != exponents[3 * t] ||
                    half[3 * p + 2] + half[3 * q + 2] != exponents[3 * t + 2])
                    continue;
                plan->pair[pairs][0] = p;
                plan->pair[pairs++][1] = q;
                plan->entry[p * plan->side + q] = plan->entry[q * plan->side + p] = (int)t;
                plan->entry_scale[p * plan->side + q] = plan->entry_scale[q * plan->side + p] =
                    plan->root[p] * plan->root[q] / sqrt(multiplicity[t]);
            }
    }
    plan->first_pair[plan->terms] = pairs;
    return status;
}

/* Forms and monomials of each direction, made a unit vector. */
static hot_status make_directions(hot_context *context, const hot_msmt_problem *problem, const int *exponents,
                                  const double *multiplicity, double *lattice, msmt_plan *plan)
{
    const size_t terms = plan->terms, directions = plan->directions;
    const int degree = 2 * plan->order;
    const double *direction = problem->direction;
    if (!direction) {
        hot_sphere_lattice(directions, lattice);
        direction = lattice;
    }
    for (size_t j = 0; j < directions; j++) {
        double power[3][2 * 8 + 1];
        const double *v = direction + 3 * j, length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        if (!(length > 0) || !isfinite(length))
            return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                    "direction %zu of a constraint is (%g, %g, %g); it must be finite and not 0", j + 1,
                                    v[0], v[1], v[2]);
        for (int d = 0; d < 3; d++) {
            power[d][0] = 1;
            for (int p = 1; p <= degree; p++)
                power[d][p] = power[d][p - 1] * v[d] / length;
        }
        for (int a = 0; a <= degree; a++)
            for (int c = 0; a + c <= degree; c++)
                plan->power[j * plan->moments + (size_t)monomial(degree, a, c)] = power[0][a] *
                                                                                  power[1][degree - a - c] *
                                                                                  power[2][c];
        for (size_t t = 0; t < terms; t++) {
            const int *e = exponents + 3 * t;
            const double value = sqrt(multiplicity[t]) * power[0][e[0]] * power[1][e[1]] * power[2][e[2]];
            plan->form[j * terms + t] = value;
            plan->across[t * directions + j] = value;
        }
    }
    for (size_t i = 0; i < terms; i++)
        for (size_t j = 0; j < terms; j++) {
            plan->moment[i * terms + j] = monomial(degree, exponents[3 * i] + exponents[3 * j],
                                                   exponents[3 * i + 2] + exponents[3 * j + 2]);
            plan->weight[i * terms + j] = sqrt(multiplicity[i] * multiplicity[j]);
        }
    return HOT_OK;
}

static hot_status check(hot_context *context, const hot_msmt_problem *problem)
{
    const int order = problem->order;
    if (order != 2 && order != 4 && order != 6 && order != 8)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "a deconvolution of order %d; orders are 2, 4, 6 and 8",
                                order);
    if (problem->tissues > MSMT_TISSUES)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "%zu isotropic tissues; at most %d", problem->tissues,
                                MSMT_TISSUES);
    if (problem->rows == 0 || problem->rows > 65536 || !problem->design)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "a deconvolution needs a design of 1 to 65536 rows, not %zu", problem->rows);
    if (problem->constraint != HOT_CONSTRAINT_NONE && problem->constraint != HOT_CONSTRAINT_NONNEGATIVE &&
        problem->constraint != HOT_CONSTRAINT_HPSD)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "there is no constraint %d", (int)problem->constraint);
    if (problem->directions > MSMT_DIRECTIONS || (problem->directions > 0) != (problem->direction != NULL))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "%zu directions of a constraint; give up to %d, or 0 and none", problem->directions,
                                MSMT_DIRECTIONS);
    if (!(problem->ridge >= 0) || isinf(problem->ridge))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "a ridge of %g; it is 0 or more", problem->ridge);
    return HOT_OK;
}

/* The arrays in one block, zeroed. */
static void place(hot_arena *arena, msmt_plan *plan)
{
    const size_t n = plan->padded, terms = plan->terms, directions = plan->directions;
    plan->normal = hot_arena_alloc(arena, n * n * sizeof(double));
    plan->whiten = hot_arena_alloc(arena, n * n * sizeof(double));
    plan->project = hot_arena_alloc(arena, plan->rows * n * sizeof(double));
    plan->form = hot_arena_alloc(arena, directions * terms * sizeof(double));
    plan->across = hot_arena_alloc(arena, directions * terms * sizeof(double));
    plan->power = hot_arena_alloc(arena, directions * plan->moments * sizeof(double));
    plan->weight = hot_arena_alloc(arena, terms * terms * sizeof(double));
    plan->moment = hot_arena_alloc(arena, terms * terms * sizeof(int));
}

hot_status hot_msmt_plan_make(hot_context *context, const hot_msmt_problem *problem, msmt_plan *plan)
{
    int exponents[3 * MSMT_TERMS];
    double multiplicity[MSMT_TERMS];
    hot_arena arena = {0};
    memset(plan, 0, sizeof *plan);
    HOT_TRY(check(context, problem));
    const int order = problem->order;
    plan->order = order;
    plan->terms = hot_symtensor_count(order, 3);
    plan->tissues = problem->tissues;
    plan->unknowns = plan->terms + plan->tissues;
    plan->padded = (plan->unknowns + 3) / 4 * 4;
    plan->moments = (size_t)(2 * order + 1) * (size_t)(2 * order + 2) / 2;
    plan->rows = problem->rows;
    if (problem->constraint == HOT_CONSTRAINT_NONNEGATIVE)
        plan->directions = problem->direction ? problem->directions : DEFAULT_DIRECTIONS;
    if (problem->constraint == HOT_CONSTRAINT_HPSD)
        plan->side = hot_symtensor_count(order / 2, 3);
    place(&arena, plan);
    plan->block_size = arena.used;
    arena.base = hot_context_calloc(context, 1, plan->block_size);
    plan->block = (double *)arena.base;
    double *lattice = hot_context_alloc(context, plan->directions + 1, 3 * sizeof *lattice);
    if (!plan->block || !lattice) {
        hot_context_free(context, lattice);
        return HOT_ERROR_MEMORY;
    }
    arena.used = 0;
    place(&arena, plan);
    hot_status status = hot_symtensor_exponents(order, 3, exponents);
    if (status == HOT_OK)
        status = hot_symtensor_multiplicity(order, 3, multiplicity);
    for (size_t i = 0; i < plan->unknowns; i++)
        plan->scale[i] = i < plan->terms ? 1 / sqrt(multiplicity[i]) : 1;
    if (status == HOT_OK)
        status = make_normal(context, problem, multiplicity, plan);
    if (status == HOT_OK)
        status = make_whiten(context, plan);
    if (status == HOT_OK)
        status = make_inside(context, multiplicity, plan);
    if (status == HOT_OK && plan->directions > 0)
        status = make_directions(context, problem, exponents, multiplicity, lattice, plan);
    if (status == HOT_OK && plan->side > 0)
        status = make_matrix(exponents, multiplicity, plan);
    if (status == HOT_OK && plan->side > 0)
        set_rounding(plan);
    hot_context_free(context, lattice);
    return status;
}

size_t hot_msmt_scratch(const msmt_plan *plan, size_t lanes)
{
    return lanes * ((plan->padded + 3) * plan->padded + MSMT_MOMENTS + 6 * (plan->directions + plan->tissues) +
                    8 * plan->side * plan->side);
}
