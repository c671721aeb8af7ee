/* Are the volumes what the rows of the gradient table say? The verdict, and how it is put. */
#include "check_rows.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/arguments.h"
#include "common/compare.h"
#include "common/entry.h"
#include "common/options.h"
#include "core/random.h"

enum { VOXELS = 2000, VOXELS_MIN = 40, VOLUMES_MIN = 4, SURE_STEPS = 4, SURE_SWAPS = 8 };
static const double z_min = 8, z_gain = 0.2; /* by which rows explain the volumes: deviations, and per voxel */
static const double foreign = 0.1, foreign_z = 15; /* directions of others: of what right ones gain; deviations */
static const double foreign_mended = 0.2; /* the same after rows that seemed exchanged were put in order */
static const double dark_slices = 0.03; /* with more of them directions may explain little for that */
static const double main_step = 0.7; /* the share of the first step in the gain of several, to be the explanation */
static const double odd_level = 2.5, odd_cosine = 0.75; /* of a volume against what the others predict */
static const double odd_square = 12; /* its squared error over that of the others, both over what the model expects */
static const double odd_share = 0.1; /* and over the squared signals of its shell */

/* A text that grows, up to its room. */
typedef struct words { char *text; size_t room, length; } words;

static void say(words *to, const char *format, ...) HOT_PRINTF(2, 3);
static void say(words *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(to->text + to->length, to->room - to->length, format, arguments);
    va_end(arguments);
    if (length > 0)
        to->length += (size_t)length < to->room - to->length ? (size_t)length : to->room - to->length - 1;
}

/* Sets of rows of nearly one b-value: shells, joined where they have few directions (a grid of q-space). */
static void make_groups(hot_rows *rows, hot_numbered *list)
{
    enum { FEW = 4 };
    static const double wide = 1.3;
    size_t count = 0, in_group = 0;
    double first = 0;
    for (size_t i = 0; i < rows->volumes; i++)
        if (rows->group[i] >= 0)
            list[count++] = (hot_numbered){rows->b[i], i};
    qsort(list, count, sizeof *list, hot_ascending_numbered);
    rows->groups = 0;
    for (size_t n = 0; n < count; n++) {
        const size_t i = list[n].at;
        const int same_shell = n > 0 && rows->shell[i] == rows->shell[list[n - 1].at];
        if (n == 0 || (!same_shell && (in_group >= FEW || list[n].value > wide * first))) {
            rows->groups++;
            first = list[n].value;
            in_group = 0;
        }
        rows->group[i] = rows->groups - 1;
        in_group++;
    }
}

static hot_status take_rows(hot_context *context, const hot_dwi *dwi, hot_rows *rows)
{
    const size_t n = rows->volumes;
    hot_numbered *list = hot_context_alloc(context, n + 1, sizeof *list);
    rows->b = hot_context_alloc(context, n + 1, sizeof *rows->b);
    rows->gradients = hot_context_alloc(context, n + 1, 3 * sizeof *rows->gradients);
    rows->shell = hot_context_alloc(context, n + 1, sizeof *rows->shell);
    rows->group = hot_context_alloc(context, n + 1, sizeof *rows->group);
    const int memory = list && rows->b && rows->gradients && rows->shell && rows->group;
    for (size_t i = 0; i < n && memory; i++) {
        const size_t v = rows->number[i];
        const int weighted = !(dwi->has_b0 && dwi->shell_of[v] == 0);
        rows->b[i] = dwi->b[v];
        rows->shell[i] = dwi->shell_of[v];
        rows->group[i] = weighted - 1;
        memcpy(rows->gradients + 3 * i, dwi->gradients + 3 * v, 3 * sizeof(double));
        if (!weighted)
            memset(rows->gradients + 3 * i, 0, 3 * sizeof(double));
    }
    if (memory)
        make_groups(rows, list);
    hot_context_free(context, list);
    return memory ? HOT_OK : HOT_ERROR_MEMORY;
}

static hot_status take_products(hot_context *context, hot_rows *rows)
{
    const size_t n = rows->volumes;
    rows->gram = hot_context_calloc(context, n * n + 1, sizeof *rows->gram);
    if (!rows->gram)
        return HOT_ERROR_MEMORY;
#pragma omp parallel for schedule(dynamic, 4) num_threads(hot_team(hot_context_threads(context)))
    for (size_t i = 0; i < n; i++) {
        double *row = rows->gram + i * n;
        for (size_t x = 0; x < rows->voxels; x++) {
            const float *y = rows->signals + x * n;
            const double value = (double)y[i] / (double)rows->voxels;
            for (size_t j = 0; j <= i; j++)
                row[j] += value * (double)y[j];
        }
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            rows->gram[i * n + j] = rows->gram[j * n + i];
    return HOT_OK;
}

/* Leaves row and volume `gone` out. */
static void leave_out(hot_rows *rows, size_t gone)
{
    const size_t n = rows->volumes;
    float *to = rows->signals;
    for (size_t x = 0; x < rows->voxels; x++)
        for (size_t i = 0; i < n; i++)
            if (i != gone)
                *to++ = rows->signals[x * n + i];
    for (size_t i = gone; i + 1 < n; i++)
        rows->number[i] = rows->number[i + 1];
    rows->volumes--;
}

static void free_rows(hot_rows *rows)
{
    hot_context *context = rows->context;
    HOT_FREE(context, rows->b, rows->gradients, rows->shell, rows->group, rows->gram);
    rows->b = rows->gradients = rows->gram = NULL;
    rows->shell = rows->group = NULL;
}

/* The name of the entries of a table in its file's format. */
static const char *entries(const hot_dwi *dwi, int many)
{
    switch (dwi->gradients_in) {
    case HOT_GRADIENTS_IN_SCHEME: return many ? "lines" : "line";
    case HOT_GRADIENTS_IN_NRRD: return many ? "DWMRI_gradient keys" : "DWMRI_gradient key";
    default: return many ? "entries of bval and bvec" : "entry of bval and bvec";
    }
}

/* "volume 51 is called b=0 and is as dark as b=2000": volume i, which belongs to row r. */
static void say_level(words *text, const hot_rows *rows, size_t i, size_t r)
{
    say(text, "volume %zu is called b=%.0f and is as %s as b=%.0f", rows->number[i], rows->b[i],
        rows->b[r] > rows->b[i] ? "dark" : "bright", rows->b[r]);
}

/* "move the last entry of bval and bvec to the front" */
static void say_moves(words *remedy, const hot_dwi *dwi, int last, int count)
{
    say(remedy, "move the %s ", last ? "last" : "first");
    if (count > 1)
        say(remedy, "%d ", count);
    say(remedy, "%s to the %s", entries(dwi, count > 1), last ? "front" : "end");
}

/* How rows are shifted, by one step of the search; row and volume numbers are those of the data. */
static void say_shift(words *text, words *remedy, const hot_dwi *dwi, const hot_rows *rows, const hot_rows_step *step)
{
    const size_t n = rows->volumes, a = (size_t)step->first, b = (size_t)step->second;
    const size_t *number = rows->number;
    const int by = abs(step->first);
    switch (step->kind) {
    case HOT_ROWS_SWAP:
        say(text, "rows %zu and %zu have changed places", number[a], number[b]);
        say(remedy, "exchange the %s %zu and %zu", entries(dwi, 1), number[a], number[b]);
        return;
    case HOT_ROWS_ROTATE:
        say(text, "rows are shifted by one from %zu ", number[a < b ? a : b]);
        if ((a > b ? a : b) + 1 == n)
            say(text, "on");
        else
            say(text, "to %zu", number[a > b ? a : b]);
        say(text, " (row %zu belongs to volume %zu)", number[b], number[a]);
        say(remedy, "move the %s %zu to place %zu", entries(dwi, 1), number[b], number[a]);
        return;
    case HOT_ROWS_REVERSE:
        say(text, "the table is in reverse order: row %zu belongs to volume %zu", number[0], number[n - 1]);
        say(remedy, "reverse the order of the %s", entries(dwi, 1));
        return;
    case HOT_ROWS_REVERSE_WEIGHTED:
        say(text, "the rows with b > 0 are in reverse order");
        say(remedy, "reverse the order of the %s with b > 0 among themselves", entries(dwi, 1));
        return;
    case HOT_ROWS_REVERSE_SHELLS:
        say(text, "the rows of each shell are in reverse order");
        say(remedy, "reverse the order of the %s within each shell", entries(dwi, 1));
        return;
    case HOT_ROWS_SHIFT:
        say(text, "all rows are shifted by %d: row %zu belongs to volume %zu", by,
            number[step->first > 0 ? 0 : by], number[step->first > 0 ? by : 0]);
        break;
    case HOT_ROWS_SHIFT_WEIGHTED:
        say(text, "the rows with b > 0 are shifted by %d among themselves", by);
        say(remedy, "among those with b > 0 ");
        say_moves(remedy, dwi, step->first > 0, by);
        return;
    case HOT_ROWS_BRIGHTNESS:
        return;
    case HOT_ROWS_UNWEIGHTED:
        say(text, "every b=0 row of a dark volume is one place %s", step->first > 0 ? "early" : "late");
        say(remedy, "move the %s of every b=0 row whose volume is dark one place %s", entries(dwi, 0),
            step->first > 0 ? "back" : "to the front");
        return;
    case HOT_ROWS_EXCHANGE:
        say(text, "two series have changed places: rows %zu to %zu belong to volumes %zu to %zu", number[0],
            number[n - 1 - a], number[a], number[n - 1]);
        break;
    }
    say_moves(remedy, dwi, step->first > 0, by);
}

/* The volumes whose b-value another one has: in order[], which row each belongs to. Returns how many. */
static size_t contradictions(const hot_rows *rows, const size_t *order, size_t *list)
{
    size_t count = 0;
    for (size_t r = 0; r < rows->volumes; r++)
        if (rows->shell[r] != rows->shell[order[r]] &&
            fabs(rows->b[r] - rows->b[order[r]]) > 0.2 * fmax(rows->b[r], rows->b[order[r]]))
            list[count++] = r;
    return count;
}

/* The levels that contradict, two of them, and how many others. */
static void say_levels(words *text, const hot_rows *rows, const size_t *order, const size_t *list, size_t count)
{
    for (size_t c = 0; c < count && c < 2; c++) {
        if (c)
            say(text, "; ");
        if (c && order[list[1]] == list[0] && order[list[0]] == list[1])
            say(text, "%zu the other way round", rows->number[order[list[1]]]);
        else
            say_level(text, rows, order[list[c]], list[c]);
    }
    if (count > 2)
        say(text, " (%zu volumes in all)", count);
}

static int table_is_sorted(const hot_rows *rows)
{
    for (size_t i = 1; i < rows->volumes; i++)
        if (rows->shell[i] < rows->shell[i - 1])
            return 0;
    return rows->volumes > 1 && rows->shell[0] != rows->shell[rows->volumes - 1];
}

/* Whether the steps are an explanation: few, and either exchanges of b-values, or in a table that explains its volumes
 * already, or with most of the gain from the first. */
static int is_certain(const hot_rows *rows, const hot_rows_step *step, size_t steps, int ended, int explained)
{
    int swaps = 1, within = 0;
    double gain = 0;
    for (size_t s = 0; s < steps; s++) {
        const int swap = step[s].kind == HOT_ROWS_SWAP;
        const int other = swap && rows->shell[step[s].first] != rows->shell[step[s].second];
        swaps = swaps && other;
        within += swap && !other;
        gain += step[s].gain;
    }
    return ended && (steps <= SURE_STEPS || (swaps && steps <= SURE_SWAPS)) &&
           (explained || swaps || step[0].gain > main_step * gain) && (explained || within < 2);
}

/* Whether a volume is not what the others predict: an error far above those of the others, large against the signals of
 * its shell, and of another level or pattern. A single b=0 volume is beyond what others can predict. */
static int is_odd(const hot_rows *rows, const hot_rows_prediction *of, size_t i, double *level)
{
    const size_t n = rows->volumes;
    double others = 0, shell = 0, mates = 0;
    for (size_t j = 0; j < n; j++) {
        const int mate = j != i && rows->group[j] == rows->group[i];
        others += j == i ? 0 : of[j].standardised / (double)(n - 1);
        shell += mate ? of[j].own : 0;
        mates += mate;
    }
    *level = of[i].square > 0 ? of[i].with / of[i].square : 0;
    return mates > 0 && of[i].standardised > odd_square * others && of[i].error > odd_share * shell / mates &&
           (!(*level < odd_level && *level > 1 / odd_level) ||
            of[i].with < odd_cosine * sqrt(of[i].square * of[i].own));
}

static hot_status say_odd(words *text, words *remedy, const hot_dwi *dwi, const hot_rows *rows,
                          const hot_rows_model *model, const size_t *order, hot_check_rows *result)
{
    size_t odd = 0;
    double level;
    hot_rows_prediction *of = hot_context_alloc(rows->context, rows->volumes, sizeof *of);
    hot_status status = of ? hot_rows_predict(rows, model, order, of) : HOT_ERROR_MEMORY;
    for (size_t i = 0; i < rows->volumes && status == HOT_OK; i++) {
        if (!is_odd(rows, of, i, &level))
            continue;
        if (odd < 3)
            say(text, "%svolume %zu is not what b=%.0f and its direction predict: %.2g times the level",
                text->length ? "; " : "", rows->number[order[i]], rows->b[i], level);
        if (result->row)
            result->row[rows->number[order[i]]] = -1;
        odd++;
    }
    hot_context_free(rows->context, of);
    if (!odd)
        return status;
    say(remedy, "%sfind out what %s, or leave %s out with the %s", remedy->length ? "; " : "",
        odd == 1 ? "it is" : "they are", odd == 1 ? "it" : "them", entries(dwi, odd > 1));
    result->verdict = HOT_CHECK_ROWS_VOLUMES;
    return status;
}

/* The certain steps as an explanation. levels: of the list, volumes with the signal of another b-value. */
static void say_steps(const hot_dwi *dwi, const hot_rows *rows, const size_t *order, const size_t *list, size_t levels,
                      const hot_rows_step *step, size_t steps, words *text, words *remedy, hot_check_rows *result)
{
    char separator[3] = "";
    if (levels)
        say_levels(text, rows, order, list, levels), strcpy(separator, ": ");
    for (size_t s = 0; s < steps; s++, strcpy(separator, "; ")) {
        say(text, "%s", separator);
        say(remedy, "%s", s ? "; then " : remedy->length ? "; " : "");
        say_shift(text, remedy, dwi, rows, step + s);
        if (result->verdict != HOT_CHECK_ROWS_ORDER) /* two directions may be the volumes' own fault */
            result->verdict = step[s].kind == HOT_ROWS_SWAP && !levels ? HOT_CHECK_ROWS_VOLUMES : HOT_CHECK_ROWS_ORDER;
    }
}

/* Volumes that look like another row's direction. explained: the table explains the others. */
static void say_moved(const hot_rows *rows, const size_t *order, int explained, words *text, words *remedy,
                      hot_check_rows *result)
{
    size_t moved = 0;
    say(text, "volumes that look like another row's direction: ");
    for (size_t r = 0; r < rows->volumes; r++)
        if (order[r] != r && moved++ < 8)
            say(text, "%s%zu", moved > 1 ? ", " : "", rows->number[r]);
    say(text, " (%zu in all): their rows are in another order, or those of other volumes", moved);
    say(remedy, "%suse the table that belongs to these volumes", remedy->length ? "; " : "");
    result->verdict = explained ? HOT_CHECK_ROWS_VOLUMES : HOT_CHECK_ROWS_ORDER;
}

/* Whether directions that gain this much, z standard deviations above permuted ones, are those of other volumes: right
 * ones would gain far more than this share of it. *dark: share of slices that lost signal, with many of which nothing
 * can be told; NULL where b-values are in doubt, which make slices dark, too. */
static hot_status are_foreign(const hot_rows *rows, const size_t *order, double gain, double z, double share, int *are,
                              double *dark)
{
    double sensitivity, limit;
    hot_status status = hot_rows_sensitivity(rows, &sensitivity, &limit);
    if (status == HOT_OK && dark)
        status = hot_rows_dark_slices(rows, order, dark);
    *are = status == HOT_OK && sensitivity > limit && (!dark || *dark < dark_slices) &&
           gain < share * sensitivity && z < foreign_z;
    return status;
}

/* Whether the directions belong to the volumes, if they explain the signals hardly better than permuted ones. */
static hot_status judge_directions(const hot_rows *rows, const size_t *order, int explained, words *text,
                                   words *remedy, hot_check_rows *result)
{
    double dark = 0;
    int are;
    hot_status status = are_foreign(rows, order, result->gain, result->z, foreign, &are, &dark);
    if (are) {
        say(text, "these directions do not belong to these volumes: permuted at random they explain the signals as "
            "well");
        say(remedy, "%suse the table that belongs to these volumes", remedy->length ? "; " : "");
        result->verdict = HOT_CHECK_ROWS_FOREIGN;
    } else if (explained && result->verdict == HOT_CHECK_ROWS_UNSURE) {
        result->verdict = HOT_CHECK_ROWS_AGREE;
    } else if (result->verdict == HOT_CHECK_ROWS_UNSURE) {
        snprintf(result->text, sizeof result->text, "whether the directions belong to the volumes cannot be told "
                 "from %zu voxels: %s", rows->voxels, dark < dark_slices ?
                 "too few directions, too little anisotropy or too much noise" : "too many slices lost signal");
    }
    return status;
}

/* The verdict of the search. */
static hot_status judge(const hot_dwi *dwi, const hot_rows *rows, hot_rows_model *models, size_t *order,
                        const hot_rows_step *step, size_t steps, int ended, words *text, words *remedy,
                        hot_check_rows *result)
{
    const size_t n = rows->volumes;
    size_t *list = hot_context_alloc(rows->context, n, sizeof *list);
    double mean, deviation;
    hot_status status = list ? HOT_OK : HOT_ERROR_MEMORY;
    if (status != HOT_OK)
        return status;
    const size_t levels = contradictions(rows, order, list);
    hot_rows_permuted(rows, models, order, &mean, &deviation);
    const double after = hot_rows_best(rows, models, order) - mean;
    const int explained = result->z > z_min && result->gain > z_gain;
    const int explains = after > z_gain && after > z_min * deviation;
    const size_t before = text->length;
    int certain = steps > 0 && is_certain(rows, step, steps, ended, explained), are_others = 0;
    double dark = 0;
    if (certain && !explained) /* mended, and are the directions those of the volumes then? */
        status = are_foreign(rows, order, after, after / deviation, foreign_mended, &are_others, NULL);
    else if (steps > SURE_STEPS && !explained)
        status = hot_rows_dark_slices(rows, order, &dark);
    certain = certain && !are_others;
    const int moved = steps > 0 && (explained || (steps > SURE_STEPS && explains && dark < dark_slices));
    if (certain && (explains || levels > 0)) {
        say_steps(dwi, rows, order, list, levels, step, steps, text, remedy, result);
    } else if (levels > 0) {
        say_levels(text, rows, order, list, levels);
        say(text, table_is_sorted(rows) ? ": the table is sorted by b-value, the volumes are not"
                                        : ": the rows are in another order than the volumes");
        say(remedy, "%suse the table in the order of the volumes in the file", remedy->length ? "; " : "");
        result->verdict = HOT_CHECK_ROWS_ORDER;
        result->series = 0; /* volumes in the wrong shells look brighter, too */
        result->brightness = 0;
    } else if (moved) {
        say_moved(rows, order, explained, text, remedy, result);
    } else if (!explained || result->z < foreign_z) {
        status = judge_directions(rows, order, explained, text, remedy, result);
    } else if (result->verdict == HOT_CHECK_ROWS_UNSURE) {
        result->verdict = HOT_CHECK_ROWS_AGREE;
    }
    for (size_t r = 0; r < n && result->row && result->verdict != HOT_CHECK_ROWS_FOREIGN && text->length > before; r++)
        result->row[rows->number[order[r]]] = (int)rows->number[r];
    hot_context_free(rows->context, list);
    return status;
}

/* Series of other brightness are no fault of the table: they are put into the result, and leave the steps. */
static hot_status take_series(const hot_rows *rows, const hot_rows_model *models, const size_t *order,
                              hot_rows_step *step, size_t *steps, hot_check_rows *result)
{
    size_t left = 0;
    double mean, deviation, largest = 0;
    for (size_t s = 0; s < *steps; s++) {
        if (step[s].kind != HOT_ROWS_BRIGHTNESS) {
            step[left++] = step[s];
        } else if (fabs(log(step[s].brightness)) > largest) {
            largest = fabs(log(step[s].brightness));
            result->series = rows->number[step[s].first];
            result->brightness = step[s].brightness;
        }
    }
    if (left < *steps && left == 0) { /* with series alike the rows may explain more */
        hot_rows_permuted(rows, models, order, &mean, &deviation);
        result->gain = hot_rows_best(rows, models, order) - mean;
        result->z = result->gain / deviation;
    }
    *steps = left;
    return HOT_OK;
}

static hot_status compare(hot_context *context, const hot_dwi *dwi, hot_rows *rows, words *text, words *remedy,
                          hot_check_rows *result)
{
    const size_t n = rows->volumes;
    hot_rows_model models[HOT_ROWS_MODELS] = {{.place = {2, 1, 3}}, {.place = {2, 1, 3}}, {.place = {2, 1, 3}}};
    hot_rows_step step[HOT_ROWS_STEPS];
    double *space = hot_context_alloc(context, (HOT_ROWS_MODELS + 1) * n + 64, n * sizeof *space);
    size_t *order = hot_context_alloc(context, n, sizeof *order), steps = 0;
    int ended = 0;
    double mean, deviation;
    hot_status status = space && order ? HOT_OK : HOT_ERROR_MEMORY;
    if (status == HOT_OK) {
        for (size_t i = 0; i < n; i++)
            order[i] = i;
        for (int m = 0; m < HOT_ROWS_MODELS; m++)
            models[m].inverse = space + (size_t)m * n * n;
        hot_rows_make(rows, models + 2, space + HOT_ROWS_MODELS * n * n);
        status = hot_rows_choose(rows, order, models);
    }
    if (status == HOT_OK) { /* the second: for the table with directions permuted, which is mostly noise */
        models[1].place[1] = 0;
        models[1].place[2] = models[0].place[2] + 1 < 6 ? models[0].place[2] + 2 : 6;
        hot_rows_make(rows, models + 1, space + HOT_ROWS_MODELS * n * n);
        hot_rows_permuted(rows, models, order, &mean, &deviation);
        result->gain = hot_rows_best(rows, models, order) - mean;
        result->z = result->gain / deviation;
        status = hot_rows_search(rows, models, order, step, &steps, &ended);
    }
    if (status == HOT_OK)
        status = take_series(rows, models, order, step, &steps, result);
    if (status == HOT_OK)
        status = judge(dwi, rows, models, order, step, steps, ended, text, remedy, result);
    if (status == HOT_OK && result->verdict <= HOT_CHECK_ROWS_AGREE)
        status = say_odd(text, remedy, dwi, rows, models, order, result);
    HOT_FREE(context, order, space);
    return status;
}

/* Leaves out volumes that were computed from others, and names them. Returns their number. */
static size_t leave_out_computed(const hot_dwi *dwi, hot_rows *rows, const char *const *kind, words *text,
                                 words *remedy, hot_check_rows *result)
{
    size_t computed = 0;
    for (size_t i = rows->volumes; i-- > 0;) {
        if (!kind[i])
            continue;
        say(text, "%svolume %zu is %s, no measurement, and its row says b=%.0f", computed++ ? "; " : "",
            rows->number[i], kind[i], rows->b[i]);
        say(remedy, computed > 1 ? "; and volume %zu" : "leave out volume %zu with the %s", rows->number[i],
            entries(dwi, 0));
        if (result->row)
            result->row[rows->number[i]] = -1;
        leave_out(rows, i);
        result->verdict = HOT_CHECK_ROWS_VOLUMES;
    }
    return computed;
}

hot_status hot_check_volume_rows(hot_context *context, const hot_dwi *dwi, const hot_mask *mask, size_t most,
                                 hot_check_rows *result)
{
    HOT_ENTRY(context);
    HOT_NEED(context, dwi, result);
    hot_check_rows nothing = HOT_CHECK_ROWS_INIT;
    HOT_TRY(hot_options_read(context, "hot_check_rows", result, &nothing));
    hot_mask *whole = NULL;
    hot_rows rows = {.context = context};
    const char **kind = NULL;
    *result = (hot_check_rows){.size = sizeof *result, .row = result->row};
    for (size_t v = 0; v < dwi->volumes && result->row; v++)
        result->row[v] = (int)v;
    words text = {result->text, sizeof result->text, 0}, remedy = {result->remedy, sizeof result->remedy, 0};
    hot_status status = hot_mask_take(context, &mask, &dwi->grid, &whole);
    if (status == HOT_OK)
        status = hot_rows_read(context, dwi, mask, most ? most : VOXELS, &rows);
    if (status == HOT_OK)
        status = take_rows(context, dwi, &rows);
    if (status == HOT_OK)
        status = take_products(context, &rows);
    kind = status == HOT_OK ? hot_context_calloc(context, rows.volumes + 1, sizeof *kind) : NULL;
    if (status == HOT_OK)
        status = kind ? hot_rows_computed(&rows, kind) : HOT_ERROR_MEMORY;
    const size_t computed = status == HOT_OK ? leave_out_computed(dwi, &rows, kind, &text, &remedy, result) : 0;
    if (computed) {
        free_rows(&rows);
        status = take_rows(context, dwi, &rows);
        if (status == HOT_OK)
            status = take_products(context, &rows);
    }
    result->voxels = rows.voxels;
    result->volumes = rows.volumes;
    if (status == HOT_OK && (rows.voxels < VOXELS_MIN || rows.volumes < VOLUMES_MIN || rows.groups < 1)) {
        if (!computed)
            say(&text, "%zu voxels and %zu volumes are too few to compare volumes with rows", rows.voxels,
                rows.volumes);
    } else if (status == HOT_OK) {
        status = compare(context, dwi, &rows, &text, &remedy, result);
    }
    free_rows(&rows);
    HOT_FREE(context, kind, rows.number, rows.signals, rows.level, rows.slice);
    hot_mask_destroy(&whole);
    return status;
}
