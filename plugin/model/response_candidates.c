/* Which voxels the response is made from. Of the voxels with high merit, those whose signals depend on more than the
 * angle to one axis are left out: fibres that cross at small angles have one peak, but not the signal of one fibre. */
#include "response_estimate.h"

#include <math.h>
#include <stdlib.h>

#include "common/entry.h"
#include "dwi/gather.h"
#include "dwi/summary.h"

enum { BEST = 300 };
/* Voxels whose merit reaches this share of the middle one of the best are used too: more voxels, less noise. */
static const double near_best = .85;

int hot_merit_compare(const void *a, const void *b)
{
    const hot_merit *x = a, *y = b;
    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Moves the HOT_CANDIDATES best merits, in order, to the front. Of those seen only the best are kept, and sorted now
 * and then: sorting all of a large mask takes long. Returns how many there are. */
static size_t best_first(hot_context *context, hot_merit *merits, size_t count)
{
    enum { HELD = 4 * HOT_CANDIDATES };
    size_t held = 0;
    for (size_t i = 0; i < count; i++) {
        if (held >= HOT_CANDIDATES && hot_merit_compare(&merits[i], &merits[HOT_CANDIDATES - 1]) > 0)
            continue; /* worse than the last of the best, as known when they were last sorted */
        const hot_merit swap = merits[held]; /* held <= i */
        merits[held++] = merits[i];
        merits[i] = swap;
        if (held == HELD || held == HOT_CANDIDATES) {
            if (hot_context_cancelled(context))
                return 0;
            qsort(merits, held, sizeof *merits, hot_merit_compare);
            held = HOT_CANDIDATES;
        }
    }
    qsort(merits, held, sizeof *merits, hot_merit_compare);
    return held < HOT_CANDIDATES ? held : HOT_CANDIDATES;
}

hot_status hot_response_take_candidates(hot_response_search *search, hot_merit *merits)
{
    size_t *voxel = hot_context_alloc(search->context, HOT_CANDIDATES, sizeof *voxel);
    search->count = search->eligible = 0;
    if (!voxel)
        return HOT_ERROR_MEMORY;
    for (size_t i = 0; i < search->sampled; i++)
        search->eligible += merits[i].value > 0;
    const size_t count = best_first(search->context, merits, search->sampled);
    for (; search->count < count && merits[search->count].value > 0; search->count++) {
        search->candidates[search->count].place = merits[search->count].place;
        search->candidates[search->count].chosen = 0;
        voxel[search->count] = search->sample[merits[search->count].place];
    }
    hot_status status = hot_context_check(search->context, "estimating the response");
    if (status == HOT_OK)
        status = hot_dwi_read_list(search->context, search->dwi, voxel, search->count, search->signals);
    hot_context_free(search->context, voxel);
    return status;
}

size_t hot_response_count_best(const hot_response_search *search)
{
    const hot_merit *merits = search->merits;
    const size_t count = search->count, tenth = search->eligible / 10;
    size_t best = tenth < 30 ? 30 : tenth > BEST ? BEST : tenth;
    best = best > count ? count : best;
    if (best == 0)
        return 0;
    const double bound = near_best * merits[best / 2].value;
    size_t used = 0;
    while (used < count && merits[used].value > 0 && merits[used].value >= bound)
        used++;
    return used;
}

double hot_response_find_noise(const hot_response_search *search)
{
    float variance[HOT_CANDIDATES];
    size_t count = 0, repeats = 0;
    for (size_t v = 0; v < search->volumes; v++)
        repeats += search->shell_of[v] == 0;
    for (size_t i = 0; i < search->chosen && repeats > 1; i++) {
        const size_t place = search->merits[i].place;
        const double mean = hot_response_mean_b0(search, place);
        double squares = 0;
        for (size_t v = 0; v < search->volumes; v++)
            if (search->shell_of[v] == 0)
                squares += pow((double)search->signals[place * search->volumes + v] / mean - 1, 2);
        if (search->candidates[place].halves && mean > 0)
            variance[count++] = (float)(squares / (double)(repeats - 1));
    }
    return count ? sqrt((double)hot_sorted_at(variance, count, count / 2) / hot_chi_square_median(repeats - 1)) : 0;
}

/* The contrast of each chosen voxel in half of its volumes, relative to its b=0 signal. */
static void find_contrasts(const hot_response_search *search, int half, hot_merit *contrasts)
{
#pragma omp parallel for schedule(static) num_threads(hot_team(hot_context_threads(search->context)))
    for (size_t i = 0; i < search->chosen; i++) {
        const size_t place = contrasts[i].place = search->merits[i].place;
        hot_response_off_axis(search, search->signals + place * search->volumes, search->candidates[place].axis,
                              1 << half, &contrasts[i].value);
        contrasts[i].value /= hot_response_mean_b0(search, place);
    }
}

void hot_response_keep_sharpest(hot_response_search *search)
{
    enum { SHARE = 3, LEAST = 20 };
    const size_t chosen = search->chosen, least = chosen < LEAST ? chosen : LEAST;
    const size_t kept = chosen / SHARE > least ? chosen / SHARE : least;
    double gain = 0, error = 0;
    for (size_t i = 0; i < chosen; i++)
        search->candidates[search->merits[i].place].halves = 0;
    for (int half = 0; half < 2; half++) {
        double all = 0, squares = 0, sharp = 0;
        find_contrasts(search, half, search->sorted);
        qsort(search->sorted, chosen, sizeof *search->sorted, hot_merit_compare);
        for (size_t i = 0; i < kept; i++)
            search->candidates[search->sorted[i].place].halves |= 2 >> half;
        find_contrasts(search, 1 - half, search->sorted);
        for (size_t i = 0; i < chosen; i++) {
            const double value = search->sorted[i].value;
            all += value, squares += value * value;
            sharp += search->candidates[search->sorted[i].place].halves & 2 >> half ? value : 0;
        }
        gain += sharp / (double)kept - all / (double)chosen;
        error += (squares / (double)chosen - pow(all / (double)chosen, 2)) / (double)kept;
    }
    for (size_t i = 0; i < chosen && !(gain > 2 * sqrt(error)); i++) /* they are all alike */
        search->candidates[search->merits[i].place].halves = HOT_BOTH_HALVES;
}

/* At most what 19 in 20 voxels have of which the best quarter has the misfit that it has here (the mean of n squared
 * errors is spread by sqrt(2 / n)). */
void hot_response_keep_explained(hot_response_search *search)
{
    size_t weighted = 0, kept = 0;
    for (size_t v = 0; v < search->volumes; v++)
        weighted += search->shell_of[v] > 0 && search->row[search->shell_of[v]] >= 0;
    const double spread_of_one = sqrt(2 / (double)(weighted > 8 ? weighted : 8));
    hot_merit *misfits = search->sorted;
    for (size_t i = 0; i < search->chosen; i++) {
        misfits[i].value = -search->candidates[search->merits[i].place].off_axis; /* highest first */
        misfits[i].place = i;
    }
    qsort(misfits, search->chosen, sizeof *misfits, hot_merit_compare);
    const double quarter = -misfits[search->chosen / 4].value;
    const double bound = quarter * (1 + 1.65 * spread_of_one) / (1 - .67 * spread_of_one);
    for (size_t i = 0; i < search->chosen; i++)
        if (search->candidates[search->merits[i].place].off_axis <= bound) {
            const hot_merit swap = search->merits[kept];
            search->merits[kept++] = search->merits[i];
            search->merits[i] = swap;
        }
    search->chosen = kept;
}
