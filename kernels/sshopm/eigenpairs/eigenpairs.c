/* The distinct real eigenpairs of tensors: from many starts, merged, classified, and, where nobody said which starts to
 * use, searched for until nothing new turns up and the count of maxima, saddles and minima can be right. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "common/arguments.h"
#include "common/backend.h"
#include "common/entry.h"
#include "common/linear.h"
#include "common/options.h"
#include "eigen_scan.h"
#include "symtensor/classes.h"

enum {
    ROUNDS_MAX = 16,      /* of starts, when the search may add its own */
    CONTINUUM = 6,        /* so many degenerate pairs with one lambda are a continuum; one represents it */
    PAIRS_MAX = 4096      /* distinct pairs kept while searching */
};

typedef struct pair {
    double lambda, residual, x[HOT_DIM_MAX];
    int kind, degenerate, descents;
} pair;

typedef struct search {
    int order, dim;
    size_t unique;
    hot_sshopm_options options;
    size_t start_count;
    const double *starts;
    int more;              /* whether further rounds of random starts may be added */
    uint64_t seed;
    const double *multiplicity;
    double same;           /* squared distance below which two unit vectors are one */
    size_t capacity;       /* of a thread's list of pairs */
    hot_eigen_scan scan;   /* no points: not used */
} search;

typedef struct workspace {
    double *values;        /* the scaled tensor */
    pair *pairs;
    size_t count;
    double *scan_values, *scan_slopes;
    unsigned char *scan_marks;
} workspace;

static double distance2(int dim, const double *a, const double *b, int sign)
{
    double sum = 0;
    for (int d = 0; d < dim; d++)
        sum += (a[d] - sign * b[d]) * (a[d] - sign * b[d]);
    return sum;
}

/* One of x and -x: for odd orders the one with lambda >= 0; else, and where lambda is zero, by the last component that
 * is not zero (z > 0 first, as directions have it). */
static void orient(const search *self, const hot_eigen_tensor *tensor, hot_eigen_point *point)
{
    int flip = 0, odd = self->order % 2;
    if (odd && fabs(point->lambda) > 1e-10 * tensor->scale) {
        flip = point->lambda < 0;
    } else {
        int d = self->dim - 1;
        while (d > 0 && fabs(point->x[d]) < 1e-9)
            d--;
        flip = point->x[d] < 0;
    }
    if (!flip)
        return;
    for (int d = 0; d < self->dim; d++)
        point->x[d] = -point->x[d];
    hot_eigen_evaluate(tensor, point);
}

/* Adds a converged point to the list unless the list has it; 1 when it is new. */
static int add_point(const search *self, const hot_eigen_tensor *tensor, hot_eigen_point *point, workspace *work)
{
    if (hot_poll_stopped(tensor->poll))
        return 0;
    hot_eigen_polish(tensor, point);
    if (!(point->residual <= 1e-10 * tensor->scale))
        return 0;
    orient(self, tensor, point);
    int sign_free = self->order % 2 == 0 || fabs(point->lambda) <= 1e-9 * tensor->scale;
    for (size_t i = 0; i < work->count; i++) {
        pair *known = &work->pairs[i];
        if (distance2(self->dim, known->x, point->x, 1) > self->same &&
            (!sign_free || distance2(self->dim, known->x, point->x, -1) > self->same))
            continue;
        if (point->residual < known->residual) {
            known->residual = point->residual;
            known->lambda = point->lambda;
            memcpy(known->x, point->x, sizeof known->x);
        }
        return 0;
    }
    hot_eigen_classify(tensor, point);
    if (point->degenerate) {
        int alike = 0;
        for (size_t i = 0; i < work->count; i++)
            alike += work->pairs[i].degenerate && fabs(work->pairs[i].lambda - point->lambda) <= 1e-8 * tensor->scale;
        if (alike >= CONTINUUM)
            return 0;
    }
    if (work->count == self->capacity)
        return 0;
    pair *made = &work->pairs[work->count++];
    *made = (pair){.lambda = point->lambda, .residual = point->residual, .kind = point->kind,
                   .degenerate = point->degenerate, .descents = point->descents};
    memcpy(made->x, point->x, (size_t)self->dim * sizeof *made->x);
    return 1;
}

/* All searches from one start; how many new pairs they found. */
static size_t search_from(const search *self, const hot_eigen_tensor *tensor, const double *start, workspace *work)
{
    size_t found = 0;
    hot_eigen_point first, point;
    memcpy(first.x, start, (size_t)self->dim * sizeof *start);
    hot_eigen_evaluate(tensor, &first);
    hot_extremum seek = self->options.seek;
    /* Odd orders: up from x is down from -x, and the list is by lambda >= 0, so either kind needs both ways. */
    if (seek != HOT_MINIMA || self->order % 2) {
        point = first;
        hot_eigen_climb(tensor, 1, &point);
        found += (size_t)add_point(self, tensor, &point, work);
    }
    if (seek != HOT_MAXIMA || self->order % 2) {
        point = first;
        hot_eigen_climb(tensor, -1, &point);
        found += (size_t)add_point(self, tensor, &point, work);
    }
    if (seek == HOT_ALL_PAIRS) {
        point = first;
        if (hot_eigen_newton(tensor, &point))
            found += (size_t)add_point(self, tensor, &point, work);
    }
    return found;
}

/* From a point where the form is flat: Newton's correction leads to the critical point nearby; when that is a saddle,
 * the maxima (minima) it belongs to lie up (down) from it, one on either side. Small hills next to a saddle cannot be
 * found reliably otherwise. */
static void search_flat(const search *self, const hot_eigen_tensor *tensor, const hot_eigen_point *first, int sign,
                        workspace *work)
{
    hot_eigen_point flat = *first, point;
    if (!hot_eigen_newton(tensor, &flat))
        return;
    hot_eigen_classify(tensor, &flat);
    if (self->options.seek == HOT_ALL_PAIRS || flat.kind == sign) {
        point = flat;
        add_point(self, tensor, &point, work);
    }
    if (flat.kind != 0 || flat.degenerate || sign == 0)
        return;
    for (int side = -1; side <= 1; side += 2) {
        /* Downwards the way lies across the rise: in three dimensions the only other tangent direction. */
        for (int d = 0; d < 3; d++) {
            int e = (d + 1) % 3, f = (d + 2) % 3;
            double way = sign > 0 ? flat.rise[d] : flat.x[e] * flat.rise[f] - flat.x[f] * flat.rise[e];
            point.x[d] = flat.x[d] + 2e-3 * side * way;
        }
        hot_eigen_evaluate(tensor, &point);
        hot_eigen_climb(tensor, sign, &point);
        add_point(self, tensor, &point, work);
    }
}

/* Searches from every promising point of the scan. A lattice of equal values (isotropic) is promising everywhere; the
 * starts alone see to that. */
static void search_scan(const search *self, const hot_eigen_tensor *tensor, workspace *work)
{
    size_t marked = 0, points = self->scan.points;
    hot_extremum seek = self->options.seek;
    int both = self->order % 2 || seek == HOT_ALL_PAIRS, up = both || seek == HOT_MAXIMA,
        down = both || seek == HOT_MINIMA;
    unsigned wanted = (up ? HOT_SCAN_HIGH : 0) | (down ? HOT_SCAN_LOW : 0) | HOT_SCAN_FLAT;
    hot_eigen_scan_mark(&self->scan, tensor, work->scan_values, work->scan_slopes, work->scan_marks);
    if (hot_poll_stopped(tensor->poll))
        return;
    for (size_t p = 0; p < points; p++)
        marked += (work->scan_marks[p] & wanted) != 0;
    if (marked > points / 4)
        return;
    for (size_t p = 0; p < points && !hot_poll_stopped(tensor->poll); p++) {
        unsigned mark = work->scan_marks[p] & wanted;
        if (!mark)
            continue;
        hot_eigen_point first, point;
        memcpy(first.x, self->scan.x + 3 * p, 3 * sizeof *first.x);
        hot_eigen_evaluate(tensor, &first);
        for (int sign = 1; sign >= -1; sign -= 2) {
            if (!(mark & (sign > 0 ? HOT_SCAN_HIGH : HOT_SCAN_LOW)))
                continue;
            point = first;
            hot_eigen_climb(tensor, sign, &point);
            add_point(self, tensor, &point, work);
        }
        if (mark & HOT_SCAN_FLAT && up)
            search_flat(self, tensor, &first, 1, work);
        if (mark & HOT_SCAN_FLAT && down)
            search_flat(self, tensor, &first, -1, work);
    }
}

/* Whether the numbers of critical points of each index can be all of them: their alternating sum over the sphere is its
 * Euler characteristic. Returns 1 if one is degenerate, and for odd orders in even dimensions. */
static int count_is_possible(const search *self, const workspace *work)
{
    long sum = 0;
    for (size_t i = 0; i < work->count; i++) {
        if (work->pairs[i].degenerate)
            return 1;
        sum += work->pairs[i].descents % 2 ? -1 : 1;
    }
    if (self->dim % 2 == 0)
        return self->order % 2 ? 1 : sum == 0;
    return sum == 1;
}

static int compare_pairs(const void *a, const void *b)
{
    const pair *p = a, *q = b;
    if (p->lambda != q->lambda)
        return p->lambda < q->lambda ? 1 : -1;
    for (int d = 0; d < HOT_DIM_MAX; d++) /* equal ones in an order that does not depend on which was found first */
        if (p->x[d] != q->x[d])
            return p->x[d] < q->x[d] ? 1 : -1;
    return 0;
}

/* Of each continuum one pair is kept. */
static void thin_continua(const hot_eigen_tensor *tensor, workspace *work)
{
    for (size_t i = 0; i < work->count; i++) {
        if (!work->pairs[i].degenerate)
            continue;
        size_t alike = 0;
        for (size_t j = i; j < work->count; j++)
            alike += work->pairs[j].degenerate &&
                     fabs(work->pairs[j].lambda - work->pairs[i].lambda) <= 1e-8 * tensor->scale;
        if (alike < CONTINUUM)
            continue;
        size_t kept = i + 1;
        for (size_t j = i + 1; j < work->count; j++)
            if (!work->pairs[j].degenerate ||
                fabs(work->pairs[j].lambda - work->pairs[i].lambda) > 1e-8 * tensor->scale)
                work->pairs[kept++] = work->pairs[j];
        work->count = kept;
    }
}

/* A matrix: its eigenpairs are known directly. */
static void solve_matrix(const search *self, const hot_eigen_tensor *tensor, workspace *work)
{
    int n = self->dim;
    double matrix[HOT_DIM_MAX * HOT_DIM_MAX], values[HOT_DIM_MAX], vectors[HOT_DIM_MAX * HOT_DIM_MAX];
    const double *from = tensor->values;
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++)
            matrix[i * n + j] = matrix[j * n + i] = *from++;
    hot_symmetric_eigen(n, matrix, values, vectors);
    for (int i = 0; i < n; i++) {
        hot_eigen_point point;
        memcpy(point.x, vectors + i * n, (size_t)n * sizeof *vectors);
        hot_eigen_evaluate(tensor, &point);
        orient(self, tensor, &point);
        hot_eigen_classify(tensor, &point);
        work->pairs[work->count] = (pair){.lambda = point.lambda, .residual = point.residual, .kind = point.kind};
        memcpy(work->pairs[work->count++].x, point.x, (size_t)n * sizeof *point.x);
    }
}

/* All searches of one ordinary tensor of order 3 or more. */
static void search_all(const search *self, const hot_eigen_tensor *tensor, workspace *work)
{
    if (self->scan.points)
        search_scan(self, tensor, work);
    for (size_t s = 0; s < self->start_count && !tensor->poll->stopped; s++)
        search_from(self, tensor, self->starts + s * (size_t)self->dim, work);
    for (int round = 1; self->more && self->options.seek == HOT_ALL_PAIRS && round < ROUNDS_MAX; round++) {
        size_t new_ones = 0;
        for (size_t s = 0; s < self->start_count && !tensor->poll->stopped; s++) {
            double start[HOT_DIM_MAX];
            hot_starts_random(self->seed + (uint64_t)round * 0x9e3779b97f4a7c15u + s * 0xd1342543de82ef95u, self->dim,
                              1, start);
            new_ones += search_from(self, tensor, start, work);
        }
        if (tensor->poll->stopped || (new_ones == 0 && count_is_possible(self, work)))
            break;
    }
}

static void search_tensor(const search *self, const double *values, hot_poll *poll, workspace *work, size_t max_pairs,
                          double *out, int32_t *found)
{
    size_t width = (size_t)self->dim + 3, listed = 0;
    hot_sshopm_scale scale = hot_sshopm_scale_f64(values, self->unique, self->multiplicity);
    work->count = 0;
    if (scale.special == 1 && self->order > 2) { /* every vector is one: of this continuum the last axis is given */
        work->pairs[work->count] = (pair){.degenerate = 1};
        work->pairs[work->count++].x[self->dim - 1] = 1;
    } else if (scale.special != 2) {
        int half = -scale.exponent / 2;
        double first = ldexp(1, half), second = ldexp(1, -scale.exponent - half);
        for (size_t i = 0; i < self->unique; i++)
            work->values[i] = values[i] * first * second;
        hot_eigen_tensor tensor = {self->order, self->dim, work->values, scale.scale, self->options.shift,
                                   ldexp(fabs(self->options.alpha), -scale.exponent),
                                   self->options.max_iterations ? self->options.max_iterations : 1000, poll};
        if (self->order == 2)
            solve_matrix(self, &tensor, work);
        else
            search_all(self, &tensor, work);
        thin_continua(&tensor, work);
        qsort(work->pairs, work->count, sizeof *work->pairs, compare_pairs);
    }
    double up[2] = {ldexp(1, scale.exponent / 2), ldexp(1, scale.exponent - scale.exponent / 2)};
    size_t total = 0;
    for (size_t i = 0; i < work->count; i++) {
        const pair *p = &work->pairs[i];
        if ((self->options.seek == HOT_MAXIMA && p->kind != 1) || (self->options.seek == HOT_MINIMA && p->kind != -1))
            continue;
        total++;
        if (listed == max_pairs)
            continue;
        double *row = out + listed++ * width;
        row[0] = p->lambda * up[0] * up[1];
        memcpy(row + 1, p->x, (size_t)self->dim * sizeof *row);
        row[width - 2] = p->residual * up[0] * up[1];
        row[width - 1] = p->kind;
    }
    for (size_t i = listed * width; i < max_pairs * width; i++)
        out[i] = NAN;
    if (found)
        *found = scale.special == 2 ? -1 : (int32_t)total;
}

/* How many starts, where nobody says. In three dimensions the scan finds what there is, and few are needed. */
static size_t default_starts(int order, int dim)
{
    return dim == 3 ? 16 : 16 * (size_t)order * (size_t)(dim <= 2 ? 1 : 4 * (dim - 2));
}

/* A call's own arrays; those of the threads one behind the other. */
typedef struct memory {
    double *multiplicity, *values, *starts, *scan_values;
    unsigned char *scan_marks;
    pair *lists;
    size_t scan_points;
} memory;

static hot_status check_call(hot_context *context, search *self, size_t count, size_t stride, size_t max_pairs)
{
    const int order = self->order, dim = self->dim;
    const size_t width = (size_t)dim + 3;
    if (order < 2 || self->unique == 0)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "order %d and dimension %d: orders go from 2 to %d, "
                                "dimensions from 1 to %d", order, dim, HOT_ORDER_MAX, HOT_DIM_MAX);
    if (stride < self->unique)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "tensors %zu values apart: order %d and dimension %d need "
                                "%zu", stride, order, dim, self->unique);
    const hot_status status = hot_sshopm_check_options(context, &self->options);
    if (status != HOT_OK || count == 0)
        return status;
    if (max_pairs > SIZE_MAX / 2 / sizeof(double) / width / count || stride > SIZE_MAX / 2 / sizeof(double) / count)
        return hot_context_fail(context, HOT_ERROR_MEMORY,
                                "%zu tensors with %zu pairs each are more than memory can hold", count, max_pairs);
    return HOT_OK;
}

/* start_count: of the caller's vectors or, without these, 0: the default. */
static hot_status set_up(hot_context *context, search *self, size_t start_count, const double *starts)
{
    const double given = self->options.same_angle, angle = given == 0 ? 0.05 : given == HOT_ZERO ? 0 : given;
    const size_t bound = hot_eigenpairs_bound(self->order, self->dim);
    self->same = 4 * pow(sin(angle * 0.00872664625997164788), 2);
    self->more = !starts;
    self->seed = hot_context_seed(context);
    self->start_count = start_count ? start_count : default_starts(self->order, self->dim);
    self->capacity = (bound < PAIRS_MAX ? bound : PAIRS_MAX) + 64; /* and pieces of continua */
    if (starts && !start_count)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "starting vectors are given, but their number is 0");
    return HOT_OK;
}

static hot_status allocate(hot_context *context, search *self, int scans, memory *m)
{
    const size_t threads = (size_t)hot_context_threads(context);
    m->multiplicity = hot_context_alloc(context, self->unique, sizeof *m->multiplicity);
    m->values = hot_context_alloc(context, threads, self->unique * sizeof *m->values);
    m->lists = hot_context_alloc(context, threads, self->capacity * sizeof *m->lists);
    m->starts = hot_context_alloc(context, self->start_count, (size_t)self->dim * sizeof *m->starts);
    if (!m->multiplicity || !m->values || !m->lists || !m->starts)
        return HOT_ERROR_MEMORY;
    if (!scans)
        return HOT_OK;
    m->scan_points = hot_eigen_scan_points(self->order);
    const hot_status status = hot_eigen_scan_create(context, m->scan_points, &self->scan);
    m->scan_values = hot_context_alloc(context, threads, 2 * m->scan_points * sizeof *m->scan_values);
    m->scan_marks = hot_context_alloc(context, threads, m->scan_points);
    return status == HOT_OK && m->scan_values && m->scan_marks ? HOT_OK : HOT_ERROR_MEMORY;
}

static void release(hot_context *context, search *self, memory *m)
{
    hot_context_free(context, m->multiplicity);
    hot_context_free(context, m->values);
    hot_context_free(context, m->lists);
    hot_context_free(context, m->starts);
    hot_context_free(context, m->scan_values);
    hot_context_free(context, m->scan_marks);
    hot_eigen_scan_destroy(context, &self->scan);
}

/* The caller's vectors as unit vectors, or our own. */
static hot_status make_starts(hot_context *context, const search *self, const double *starts, double *made)
{
    if (starts) {
        const hot_sshopm_args given = {.dim = self->dim, .starts = self->start_count, .f64 = 1, .start = starts};
        return hot_sshopm_unit_starts(context, &given, made);
    }
    if (self->dim == 3)
        hot_starts_even(self->start_count, made);
    else
        hot_starts_random(self->seed, self->dim, self->start_count, made);
    return HOT_OK;
}

static workspace workspace_of(const search *self, const memory *m, size_t thread)
{
    workspace work = {.values = m->values + thread * self->unique, .pairs = m->lists + thread * self->capacity};
    if (m->scan_points) {
        work.scan_values = m->scan_values + thread * 2 * m->scan_points;
        work.scan_slopes = work.scan_values + m->scan_points;
        work.scan_marks = m->scan_marks + thread * m->scan_points;
    }
    return work;
}

hot_status hot_eigenpairs_f64(hot_context *context, const hot_sshopm_options *options, int order, int dim, size_t count,
                              const double *tensors, size_t stride, size_t start_count, const double *starts,
                              size_t max_pairs, double *pairs, int32_t *found)
{
    HOT_ENTRY(context);
    HOT_NEED(context);
    if (count > 0)
        HOT_NEED(context, tensors);
    if (count > 0 && max_pairs > 0)
        HOT_NEED(context, pairs);
    search self = {.order = order, .dim = dim, .options = {.size = sizeof self.options}};
    memory m = {0};
    hot_status status = hot_backend_need_host(context, "eigenpairs");
    if (status == HOT_OK)
        status = hot_options_read(context, "hot_sshopm_options", options, &self.options);
    self.unique = hot_symtensor_count(order, dim);
    if (status == HOT_OK)
        status = check_call(context, &self, count, stride, max_pairs);
    if (status != HOT_OK || count == 0)
        return status;
    status = set_up(context, &self, start_count, starts);
    if (status != HOT_OK)
        return status;
    const int threads = hot_context_threads(context);
    const size_t width = (size_t)dim + 3, chunk = 16 * (size_t)threads;
    status = allocate(context, &self, dim == 3 && order > 2 && !start_count, &m);
    if (status == HOT_OK)
        status = make_starts(context, &self, starts, m.starts);
    if (status != HOT_OK)
        goto cleanup;
    hot_class_multiplicities(&(hot_poll){.context = context}, order, dim, m.multiplicity);
    self.starts = m.starts;
    self.multiplicity = m.multiplicity;
    for (size_t begin = 0; begin < count; begin += chunk) {
        status = hot_context_progress(context, "finding eigenpairs", (double)begin / (double)count);
        if (status != HOT_OK)
            goto cleanup;
        size_t end = begin + chunk < count ? begin + chunk : count;
#pragma omp parallel for schedule(dynamic, 1) num_threads(hot_team(end - begin > 1 ? threads : 1))
        for (size_t t = begin; t < end; t++) {
            if (hot_context_cancelled(context))
                continue;
            workspace work = workspace_of(&self, &m, (size_t)omp_get_thread_num());
            search_tensor(&self, tensors + t * stride, &(hot_poll){.context = context}, &work, max_pairs,
                          pairs + t * max_pairs * width, found ? found + t : NULL);
        }
    }
    status = hot_context_progress(context, "finding eigenpairs", 1);
cleanup:
    release(context, &self, &m);
    return status;
}
