/* Which order of the volumes a gradient table explains best: swaps of two rows, shifts of several, reversals. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check_rows.h"

/* The least gain of a step, per voxel, and as a share of the gain of all directions. Below the large share the gain
 * must also be consistent over the parts of the sample: Student's t of PARTS of them. */
static const double gain_min = 0.15, share_min = 0.01, t_min = 6;
static const double share_large = 0.2, t_large = 3, gain_huge = 3, t_huge = 1.5; /* huge: of large ones */
static const double apart = 0.9; /* cosine: exchanging closer directions changes as little as motion */
static const double material_min = 1.5; /* by which the error of prediction must fall: of the variance in a shell */
static const double differ_min = 1e-3; /* of the squared signal */
static const double level_apart = 0.2; /* b-values that signals tell apart without directions */
static const double few_patterns = 2.5, few_gain = 6; /* so few patterns count once each */
static const double brightness_min = 0.04, level_off = 0.15; /* ln; right rows: less than 0.04 in seven real sets */
enum { PARTS = 24, SHIFT_MAX = 3, SERIES_MIN = 3 };

typedef struct candidate {
    hot_rows_step step;
    double value; /* its likelihood; -INFINITY = none */
} candidate;

static void rotate(size_t *order, size_t from, size_t to)
{
    const size_t moved = order[from];
    if (from < to)
        memmove(order + from, order + from + 1, (to - from) * sizeof *order);
    else
        memmove(order + to + 1, order + to, (from - to) * sizeof *order);
    order[to] = moved;
}

/* Reverses, or shifts by `by` places, the entries listed in at[]. */
static void rearrange(const size_t *at, size_t count, int reverse, int by, const size_t *order, size_t *changed)
{
    for (size_t i = 0; i < count; i++) {
        const size_t shifted = (size_t)(((long)i + by) % (long)count + (long)count) % count;
        changed[at[i]] = order[at[reverse ? count - 1 - i : shifted]];
    }
}

/* order after a step, into changed; at: room for `volumes`. */
static void apply(const hot_rows *rows, const hot_rows_step *step, const size_t *order, size_t *at, size_t *changed)
{
    const size_t n = rows->volumes;
    size_t weighted = 0;
    memcpy(changed, order, n * sizeof *order);
    switch (step->kind) {
    case HOT_ROWS_SWAP:
        changed[step->first] = order[step->second];
        changed[step->second] = order[step->first];
        return;
    case HOT_ROWS_ROTATE:
        rotate(changed, (size_t)step->first, (size_t)step->second);
        return;
    case HOT_ROWS_REVERSE:
    case HOT_ROWS_SHIFT:
    case HOT_ROWS_EXCHANGE:
        for (size_t v = 0; v < n; v++)
            at[v] = v;
        rearrange(at, n, step->kind == HOT_ROWS_REVERSE, step->first, order, changed);
        return;
    case HOT_ROWS_REVERSE_SHELLS:
        for (int group = 0; group < rows->groups; group++) {
            size_t count = 0;
            for (size_t v = 0; v < n; v++)
                if (rows->group[v] == group)
                    at[count++] = v;
            rearrange(at, count, 1, 0, order, changed);
        }
        return;
    case HOT_ROWS_BRIGHTNESS:
        return;
    case HOT_ROWS_UNWEIGHTED:
        for (size_t i = 0; i + 1 < n; i++) {
            const size_t first = step->first > 0 ? n - 2 - i : i, none = step->first > 0 ? first : first + 1;
            const size_t other = 2 * first + 1 - none, own = changed[none], beside = changed[other];
            const size_t kept = changed[first];
            if (rows->group[none] >= 0 || rows->group[other] < 0 ||
                !(rows->gram[own * n + own] < rows->gram[beside * n + beside]))
                continue;
            changed[first] = changed[first + 1];
            changed[first + 1] = kept;
        }
        return;
    case HOT_ROWS_REVERSE_WEIGHTED:
    case HOT_ROWS_SHIFT_WEIGHTED:
        for (size_t v = 0; v < n; v++)
            if (rows->group[v] >= 0)
                at[weighted++] = v;
        if (weighted)
            rearrange(at, weighted, step->kind == HOT_ROWS_REVERSE_WEIGHTED, step->first, order, changed);
        return;
    }
}

/* a' = trace(A G) with volumes i and j (at rows i and j) exchanged, less trace(A G). */
static double exchanged(const double *a, const double *g, size_t n, const size_t *order, size_t i, size_t j)
{
    const double *ai = a + i * n, *aj = a + j * n, *gi = g + order[i] * n, *gj = g + order[j] * n;
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += (ai[k] - aj[k]) * (gj[order[k]] - gi[order[k]]);
    /* without the terms of rows i and j themselves */
    sum -= (ai[i] - aj[i]) * (gj[order[i]] - gi[order[i]]) + (ai[j] - aj[j]) * (gj[order[j]] - gi[order[j]]);
    return 2 * sum + (ai[i] - aj[j]) * (gj[order[j]] - gi[order[i]]);
}

static void take_if_better(const hot_rows *rows, const hot_rows_model *models, const size_t *order, hot_rows_step step,
                           size_t *space, candidate *best)
{
    apply(rows, &step, order, space, space + rows->volumes);
    const double value = hot_rows_best(rows, models, space + rows->volumes);
    if (value > best->value)
        *best = (candidate){step, value};
}

/* The best swap of two rows, and the best shift of consecutive rows by one, under one model. */
static void try_pairs(const hot_rows *rows, const hot_rows_model *models, const hot_rows_model *model,
                      const size_t *order, size_t *space, candidate *swap, candidate *shift)
{
    const size_t n = rows->volumes;
    const double *a = model->inverse, *g = rows->gram;
    hot_rows_step swapped = {HOT_ROWS_SWAP, -1, -1, 0, 1}, shifted = {HOT_ROWS_ROTATE, -1, -1, 0, 1};
    double least = 0, min_shift = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            const double *d = rows->gradients + 3 * i, *e = rows->gradients + 3 * j;
            if (rows->shell[i] == rows->shell[j] &&
                (rows->group[i] < 0 || fabs(d[0] * e[0] + d[1] * e[1] + d[2] * e[2]) > apart))
                continue;
            const double change = exchanged(a, g, n, order, i, j);
            if (change < least) {
                least = change;
                swapped.first = (int)i, swapped.second = (int)j;
            }
        }
    for (size_t i = 0; i < n; i++)
        for (int way = -1; way <= 1; way += 2) { /* volume i wanders to either end, row by row */
            size_t *wandering = space + n;
            double sum = 0;
            memcpy(wandering, order, n * sizeof *order);
            for (size_t at = i; way > 0 ? at + 1 < n : at > 0; at = way > 0 ? at + 1 : at - 1) {
                const size_t next = way > 0 ? at + 1 : at - 1, kept = wandering[at];
                sum += exchanged(a, g, n, wandering, at, next);
                wandering[at] = wandering[next];
                wandering[next] = kept;
                if (sum < min_shift && next + 1 != i && next != i + 1) { /* those are swaps */
                    min_shift = sum;
                    shifted.first = (int)i, shifted.second = (int)next;
                }
            }
        }
    if (swapped.first >= 0)
        take_if_better(rows, models, order, swapped, space, swap);
    if (shifted.first >= 0)
        take_if_better(rows, models, order, shifted, space, shift);
}

static void try_rearrangements(const hot_rows *rows, const hot_rows_model *models, const size_t *order, size_t *space,
                               candidate *best)
{
    const int half = (int)(rows->volumes / 2), rest = (int)rows->volumes - half;
    const hot_rows_step once[] = {{HOT_ROWS_REVERSE, 0, 0, 0, 1}, {HOT_ROWS_REVERSE_WEIGHTED, 0, 0, 0, 1},
                                  {HOT_ROWS_REVERSE_SHELLS, 0, 0, 0, 1}, {HOT_ROWS_EXCHANGE, half, 0, 0, 1},
                                  {HOT_ROWS_EXCHANGE, rest, 0, 0, 1}};
    for (size_t i = 0; i < sizeof once / sizeof *once; i++)
        take_if_better(rows, models, order, once[i], space, best);
    for (int way = 1; way >= -1; way -= 2) {
        const hot_rows_step unweighted = {HOT_ROWS_UNWEIGHTED, way, 0, 0, 1};
        size_t moved = 0;
        apply(rows, &unweighted, order, space, space + rows->volumes);
        for (size_t i = 0; i < rows->volumes; i++)
            moved += space[rows->volumes + i] != order[i];
        if (moved > 2) /* else it is a swap */
            take_if_better(rows, models, order, unweighted, space, best);
    }
    for (int by = 1; by <= SHIFT_MAX; by++)
        for (int way = 1; way >= -1; way -= 2) {
            const hot_rows_step all = {HOT_ROWS_SHIFT, way * by, 0, 0, 1};
            const hot_rows_step weighted = {HOT_ROWS_SHIFT_WEIGHTED, way * by, 0, 0, 1};
            take_if_better(rows, models, order, all, space, best);
            take_if_better(rows, models, order, weighted, space, best);
        }
}

/* The volume from which on volumes are brighter or darker than all before: joined series. Dividing the signals from
 * step.first on by the step's brightness increases the likelihood. Both series must have volumes of one shell. */
static void try_brightness(const hot_rows *rows, const hot_rows_model *model, const size_t *order, size_t *place,
                           candidate *best)
{
    const size_t n = rows->volumes;
    double before = 0, across = 0, behind = 0; /* sums of trace terms by how many of both volumes are from `first` on */
    for (size_t i = 0; i < n; i++) {
        place[order[i]] = i;
        for (size_t j = 0; j < n; j++)
            behind += model->inverse[i * n + j] * rows->gram[order[i] * n + order[j]];
    }
    for (size_t first = 1; first + SERIES_MIN <= n; first++) {
        const double *inverse = model->inverse + place[first - 1] * n, *gram = rows->gram + (first - 1) * n;
        size_t common = 0;
        for (size_t v = 0; v < n; v++) { /* volume first - 1 is no longer behind */
            const double value = (v + 1 == first ? 1 : 2) * inverse[place[v]] * gram[v];
            *(v < first ? &before : &across) += value;
            *(v + 1 < first ? &across : &behind) -= value;
        }
        for (size_t v = 0; v < n && common < SERIES_MIN && first >= SERIES_MIN; v++) {
            size_t left = 0, right = 0;
            for (size_t u = 0; u < n; u++)
                if (rows->shell[u] == rows->shell[v])
                    left += u < first, right += u >= first;
            common = left < right ? left : right;
        }
        if (common < SERIES_MIN)
            continue;
        /* The likelihood of before + x across + x^2 behind, and x to the volumes behind for the change of scale, is
         * stationary where this quadratic equation in x holds. */
        const double m = (double)(n - first), all = (double)n;
        const double a = (m - all) * behind, b = (m - all / 2) * across, c = m * before;
        const double root = b * b - 4 * a * c, x = root >= 0 ? (-b - sqrt(root)) / (2 * a) : 1;
        if (!(x > 0) || fabs(log(x)) < brightness_min)
            continue;
        const double trace = before + x * across + x * x * behind;
        const double value = -0.5 * (all * log(trace / all) + model->log_determinant) + m * log(x);
        if (value > best->value)
            *best = (candidate){{HOT_ROWS_BRIGHTNESS, (int)first, 0, 0, 1 / x}, value};
    }
}

/* Divides the volumes from a step on by its brightness; and the likelihoods that were, too. */
static void dim(hot_rows *rows, const hot_rows_step *step)
{
    const size_t n = rows->volumes;
    for (size_t v = (size_t)step->first; v < n; v++) {
        for (size_t u = 0; u < n; u++) {
            rows->gram[v * n + u] /= step->brightness;
            rows->gram[u * n + v] /= step->brightness;
        }
        for (size_t x = 0; x < rows->voxels; x++)
            rows->signals[x * n + v] /= (float)step->brightness;
    }
}

/* Student's t of a step's gain, from the gains in PARTS of the voxels. changed: the order after it. moved: room. */
static hot_status significance(const hot_rows *rows, const hot_rows_model *model, const size_t *order,
                               const size_t *changed, size_t *moved, double *t)
{
    const size_t n = rows->volumes;
    double *difference = hot_context_calloc(rows->context, n * n, sizeof *difference), sum = 0, square = 0;
    size_t count = 0;
    if (!difference)
        return HOT_ERROR_MEMORY;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            difference[order[i] * n + order[j]] += model->inverse[i * n + j];
            difference[changed[i] * n + changed[j]] -= model->inverse[i * n + j];
        }
    for (size_t i = 0; i < n; i++) /* the difference is 0 between volumes that stay, so that a few rows suffice */
        if (order[i] != changed[i])
            moved[count++] = order[i];
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < n; j++)
            if (order[j] == changed[j])
                difference[moved[i] * n + order[j]] *= 2;
    for (size_t part = 0; part < PARTS; part++) {
        const size_t first = rows->voxels * part / PARTS, end = rows->voxels * (part + 1) / PARTS;
        double gain = 0;
        for (size_t x = first; x < end; x++) {
            const float *y = rows->signals + x * n;
            for (size_t i = 0; i < count; i++) {
                const double *row = difference + moved[i] * n;
                double value = 0;
                for (size_t j = 0; j < n; j++)
                    value += row[j] * (double)y[j];
                gain += value * (double)y[moved[i]];
            }
        }
        gain /= (double)(end > first ? end - first : 1);
        sum += gain;
        square += gain * gain;
    }
    const double mean = sum / PARTS, variance = fmax(square / PARTS - mean * mean, 1e-12) / (PARTS - 1);
    *t = mean / sqrt(variance);
    hot_context_free(rows->context, difference);
    return HOT_OK;
}

/* Whether a step gives any volume another b-value. */
static int changes_levels(const hot_rows *rows, const size_t *order, const size_t *changed)
{
    for (size_t r = 0; r < rows->volumes; r++)
        for (size_t from = 0; from < rows->volumes && changed[r] != order[r]; from++)
            if (order[from] == changed[r] && rows->shell[from] != rows->shell[r] &&
                fabs(rows->b[from] - rows->b[r]) > level_apart * fmax(rows->b[from], rows->b[r]))
                return 1;
    return 0;
}

/* Whether voxels differ at all; not if all fibres are parallel, without noise. */
static int differ(const hot_rows *rows)
{
    double all = 0, of_mean = 0;
    for (size_t i = 0; i < rows->volumes; i++) {
        double mean = 0;
        for (size_t x = 0; x < rows->voxels; x++)
            mean += (double)rows->signals[x * rows->volumes + i] / (double)rows->voxels;
        of_mean += mean * mean;
        all += rows->gram[i * rows->volumes + i];
    }
    return all - of_mean > differ_min * all;
}

/* Whether a volume of two that are exchanged has another level than its new row predicts: then it has lost signal, by
 * motion, rather than its row. A single b=0 volume cannot be predicted. */
static int misfits(const hot_rows *rows, const hot_rows_step *step, const hot_rows_prediction *is)
{
    int off = 0;
    for (int end = 0; end < 2 && step->kind == HOT_ROWS_SWAP; end++) {
        const int row = end ? step->second : step->first;
        off |= rows->group[row] >= 0 && !(fabs(log(is[row].with / is[row].square)) < level_off);
    }
    return off;
}

/* Whether a step makes the volumes better predictable: a likelihood can grow by much where nothing but the model's own
 * misfit is at stake, without noise. So the error of prediction must fall by a share of what directions make of the
 * signal, or b-values change; and where all voxels have the same few patterns, the gain must be that of several. */
static hot_status is_material(const hot_rows *rows, const hot_rows_model *before, const size_t *order,
                              const hot_rows_model *after, const size_t *changed, const hot_rows_step *step,
                              double gain, int *material, int *lost)
{
    const size_t n = rows->volumes;
    hot_rows_model fitted = *after; /* to the changed order: the model before may know of no directions */
    fitted.inverse = hot_context_alloc(rows->context, n, n * sizeof *fitted.inverse);
    hot_rows_prediction *was = hot_context_alloc(rows->context, 2 * n, sizeof *was), *is = was + n;
    const int swaps_weighted = step->kind == HOT_ROWS_SWAP && rows->group[step->first] >= 0 &&
                               rows->group[step->second] >= 0;
    double contrast, patterns, fall = 0;
    hot_status status = fitted.inverse && was ? hot_rows_choose(rows, changed, &fitted) : HOT_ERROR_MEMORY;
    if (status == HOT_OK)
        status = hot_rows_predict(rows, before, order, was);
    if (status == HOT_OK)
        status = hot_rows_predict(rows, &fitted, changed, is);
    if (status == HOT_OK)
        status = hot_rows_contrast(rows, changed, &contrast, &patterns);
    for (size_t i = 0; i < n && status == HOT_OK; i++)
        fall += was[i].error - is[i].error;
    const int falls = fall > material_min * contrast;
    const int levels = changes_levels(rows, order, changed);
    const int several = levels && !(swaps_weighted && patterns <= few_patterns) ? differ(rows)
                                                                               : falls && patterns > few_patterns;
    *material = status == HOT_OK && (several || (gain > few_gain && falls));
    *lost = *material && misfits(rows, step, is);
    HOT_FREE(rows->context, was, fitted.inverse);
    return status;
}

static const hot_rows_model *likeliest(const hot_rows *rows, const hot_rows_model *models, const size_t *order)
{
    int best = 0;
    for (int m = 1; m < HOT_ROWS_MODELS; m++)
        if (hot_rows_likelihood(rows, models + m, order) > hot_rows_likelihood(rows, models + best, order))
            best = m;
    return models + best;
}

/* Among candidates that gain nearly the same the simplest one: all rows, then two, then several. */
static const candidate *choose(const candidate *found, double margin)
{
    const candidate *best = found;
    for (int c = 1; c < 3; c++)
        if (found[c].value > best->value + margin)
            best = found + c;
    return best;
}

/* Puts the volumes into the order of the file again; only joined series remain. */
static hot_status undo(const hot_rows *rows, hot_rows_model *models, size_t *order, hot_rows_step *step, size_t *steps)
{
    size_t left = 0;
    for (size_t s = 0; s < *steps; s++)
        if (step[s].kind == HOT_ROWS_BRIGHTNESS)
            step[left++] = step[s];
    *steps = left;
    for (size_t i = 0; i < rows->volumes; i++)
        order[i] = i;
    return hot_rows_choose(rows, order, models);
}

hot_status hot_rows_search(hot_rows *rows, hot_rows_model *models, size_t *order,
                           hot_rows_step step[HOT_ROWS_STEPS], size_t *steps, int *ended)
{
    const size_t n = rows->volumes;
    size_t *space = hot_context_alloc(rows->context, 2 * n, sizeof *space);
    hot_status status = space ? HOT_OK : HOT_ERROR_MEMORY;
    int helpful = 0;
    for (*steps = 0, *ended = 0; status == HOT_OK && !*ended;) {
        candidate found[3] = {{.value = -INFINITY}, {.value = -INFINITY}, {.value = -INFINITY}}, series = found[0];
        const double before = hot_rows_best(rows, models, order);
        double permuted, deviation, t = INFINITY;
        try_rearrangements(rows, models, order, space, &found[0]);
        for (int m = 0; m < HOT_ROWS_MODELS; m++)
            try_pairs(rows, models, models + m, order, space, &found[1], &found[2]);
        hot_rows_permuted(rows, models, order, &permuted, &deviation);
        for (int m = 0; m < HOT_ROWS_MODELS; m++)
            try_brightness(rows, models + m, order, space, &series);
        const candidate *best = choose(found, fmax(2 * gain_min, share_min * (before - permuted)));
        if (series.value - before > best->value - before)
            best = &series;
        const double gain = best->value - before, all = fmax(0, best->value - permuted);
        const int rescaled = best->step.kind == HOT_ROWS_BRIGHTNESS;
        apply(rows, &best->step, order, space, space + n);
        *ended = !(gain > gain_min && gain > share_min * all);
        if (!*ended && !rescaled) {
            status = significance(rows, likeliest(rows, models, space + n), order, space + n, space, &t);
            *ended = !(t > (!(gain > share_large * all) ? t_min : gain > gain_huge ? t_huge : t_large));
            if (status == HOT_OK && !*ended) {
                int material = 0, lost = 0;
                status = is_material(rows, likeliest(rows, models, order), order, likeliest(rows, models, space + n),
                                     space + n, &best->step, gain, &material, &lost);
                *ended = !material;
                helpful |= material && !lost;
            }
        }
        if (*ended || *steps == HOT_ROWS_STEPS)
            break;
        memcpy(order, space + n, n * sizeof *order);
        if (rescaled)
            dim(rows, &best->step);
        step[*steps] = best->step;
        step[(*steps)++].gain = gain;
        if (status == HOT_OK)
            status = hot_rows_choose(rows, order, models);
    }
    if (status == HOT_OK && *ended && *steps && !helpful)
        status = undo(rows, models, order, step, steps);
    hot_context_free(rows->context, space);
    return status;
}
