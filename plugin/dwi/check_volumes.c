/* Volumes that are damaged, copied, clipped or darker than they should be; drift of the signal; gaps in the scheme. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <omp.h>
#include <string.h>

#include "check.h"
#include "common/arguments.h"
#include "common/compare.h"
#include "common/entry.h"
#include "empty.h"
#include "gather.h"
#include "paged.h"
#include "scheme.h"
#include "summary.h"

enum { FINDINGS_MAX = 64, SLICE_MIN = 200, LIKE_MIN = 8, LINES_MIN = 4 };
static const double dark_slice = 0.6; /* of its neighbours in time; diffusion alone does not do this to a whole slice */

struct hot_check_findings {
    hot_context *context;
    size_t count;
    hot_check_finding list[FINDINGS_MAX];
    double drift, drift_t;
};

/* Sums of one pass over the samples. Per slice: [slice][volume]. */
typedef struct sums {
    size_t slices, volumes, lines, row; /* lines of a slice, voxels of a line */
    size_t *step, *rows;          /* by slice: every so many lines are looked at; voxels in them */
    double *inside;               /* sum of the finite samples inside the mask */
    size_t *zeros, *broken;       /* samples that are 0; that are not finite */
    size_t *within;               /* voxels of the mask, by slice */
    uint64_t *print;              /* of the samples, for telling copies */
    double ceiling;               /* see ceiling.h */
    size_t *clipped;              /* samples that reach it, by slice */
} sums;

static void add(hot_check_findings *to, const char *kind, int warning, const char *format, ...) HOT_PRINTF(4, 5);
static void add(hot_check_findings *to, const char *kind, int warning, const char *format, ...)
{
    va_list arguments;
    if (to->count == FINDINGS_MAX)
        return;
    hot_check_finding *finding = to->list + to->count++;
    finding->kind = kind;
    finding->warning = warning;
    va_start(arguments, format);
    vsnprintf(finding->text, sizeof finding->text, format, arguments);
    va_end(arguments);
}

static void take_row(sums *s, size_t slice, const float *signals, int inside)
{
    double *sum = s->inside + slice * s->volumes;
    size_t *zeros = s->zeros + slice * s->volumes, *broken = s->broken + slice * s->volumes;
    uint64_t *print = s->print + slice * s->volumes;
    s->within[slice] += inside != 0;
    for (size_t v = 0; v < s->volumes; v++) {
        const float value = signals[v];
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        print[v] = (print[v] ^ bits) * 0x9e3779b97f4a7c15u;
        print[v] ^= print[v] >> 29;
        zeros[v] += value == 0;
        if (!isfinite(value)) {
            broken[v]++;
            continue;
        }
        sum[v] += inside ? (double)value : 0;
        s->clipped[slice] += (double)value >= s->ceiling;
    }
}

/* Chooses the lines of each slice: all (least: 0), or those in which about `least` voxels of the mask are. */
static void choose_lines(sums *s, const uint8_t *inside, size_t least)
{
    const size_t all = s->lines * s->row;
    for (size_t k = 0; k < s->slices; k++) {
        size_t within = 0;
        for (size_t n = k * all; n < (k + 1) * all && least; n++)
            within += inside[n] != 0;
        const size_t step = !least ? 1 : within ? within / least : s->lines / LINES_MIN;
        s->step[k] = step > 1 ? step : 1;
        s->rows[k] = (s->lines - s->step[k] / 2 + s->step[k] - 1) / s->step[k] * s->row;
    }
}

/* One slice, of data that are in memory; signals: room for CHUNK voxels. */
enum { CHUNK = 256 };
static void take_slice(sums *s, const hot_dwi_mapped *held, size_t slice, const uint8_t *inside, float *signals)
{
    const size_t step = s->step[slice], run = step > 1 ? s->row : s->lines * s->row; /* voxels side by side */
    for (size_t line = step / 2; line < s->lines; line += step > 1 ? step : s->lines)
        for (size_t first = 0; first < run; first += CHUNK) {
            const size_t count = run - first < CHUNK ? run - first : CHUNK;
            const size_t at = (slice * s->lines + line) * s->row + first;
            hot_dwi_read_range(&held->view, at - held->origin, count, signals);
            for (size_t n = 0; n < count; n++)
                take_row(s, slice, signals + n * s->volumes, inside[at + n]);
        }
}

static hot_status collect(hot_context *context, const hot_dwi *dwi, const uint8_t *inside, sums *s)
{
    const int threads = hot_context_threads(context);
    const size_t rows = s->lines * s->row;
    float *signals = hot_context_alloc(context, (size_t)threads * CHUNK * s->volumes, sizeof *signals);
    hot_status status = signals ? HOT_OK : HOT_ERROR_MEMORY;
    for (size_t slice = 0, end; slice < s->slices && status == HOT_OK; slice = end) {
        hot_dwi_mapped held;
        if ((status = hot_dwi_map(context, dwi, slice * rows, &held)) != HOT_OK)
            break;
        end = slice + held.count / rows;
#pragma omp parallel for schedule(dynamic, 1) num_threads(hot_team(threads))
        for (size_t k = slice; k < end; k++)
            if (!hot_context_cancelled(context))
                take_slice(s, &held, k, inside, signals + (size_t)omp_get_thread_num() * CHUNK * s->volumes);
        status = hot_context_progress(context, "looking at the volumes", (double)end / (double)s->slices);
    }
    for (size_t slice = 1; slice < s->slices; slice++) { /* into the first slice's: those of all */
        for (size_t v = 0; v < s->volumes; v++)
            s->print[v] = (s->print[v] ^ s->print[slice * s->volumes + v]) * 0x9e3779b97f4a7c15u;
        s->clipped[0] += s->clipped[slice];
    }
    hot_context_free(context, signals);
    return status;
}

static int same_gradient(const hot_dwi *dwi, size_t a, size_t b)
{
    const double *g = dwi->gradients + 3 * a, *h = dwi->gradients + 3 * b;
    const double dot = g[0] * h[0] + g[1] * h[1] + g[2] * h[2];
    return dwi->shell_of[a] == dwi->shell_of[b] && (fabs(dot) > 0.9999 || (dwi->has_b0 && dwi->shell_of[a] == 0));
}

/* Whole volumes: empty ones, copies, samples that are no numbers. */
static void look_at_volumes(const hot_dwi *dwi, const sums *s, size_t *number, hot_check_findings *to)
{
    char names[128];
    size_t empty = 0, copies = 0, other = 0, first[2] = {0}, broken = 0, samples = 0;
    for (size_t v = 0; v < s->volumes; v++) {
        size_t zeros = 0, bad = 0, rows = 0;
        for (size_t k = 0; k < s->slices; k++) {
            rows += s->rows[k];
            zeros += s->zeros[k * s->volumes + v];
            bad += s->broken[k * s->volumes + v];
        }
        if (zeros == rows)
            number[empty++] = v;
        broken += bad > 0;
        samples += bad;
    }
    hot_dwi_name_volumes(number, empty, names, sizeof names);
    if (empty)
        add(to, "empty_volumes", 1, "%zu volume%s of zeros (%s, counted from 0): leave out image and gradient", empty,
            empty == 1 ? "" : "s", names);
    if (samples)
        add(to, "not_finite", 1, "%zu samples in %zu volume%s are not numbers (NaN or infinite): their voxels are left "
            "empty", samples, broken, broken == 1 ? "" : "s");
    for (size_t v = 1; v < s->volumes; v++)
        for (size_t u = 0; u < v; u++) {
            int is_empty = 0;
            for (size_t n = 0; n < empty; n++)
                is_empty |= number[n] == v;
            if (s->print[u] != s->print[v] || is_empty)
                continue;
            if (!copies++)
                first[0] = u, first[1] = v;
            other += !same_gradient(dwi, u, v);
            break;
        }
    if (copies)
        add(to, "duplicate_volumes", 1, "%zu volume%s the same sample by sample as an earlier one (%zu as %zu, counted "
            "from 0)%s: leave the copies out, they are no measurements", copies, copies == 1 ? " is" : "s are",
            first[1], first[0], other ? ", and under another gradient" : "");
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, hot_ascending_f64);
    return count ? (values[(count - 1) / 2] + values[count / 2]) / 2 : 0;
}

/* Slices of volume v that are all zeros where most other volumes have signal. */
static size_t zero_slices(const sums *s, size_t v)
{
    size_t count = 0;
    for (size_t k = 0; k < s->slices; k++) {
        size_t full = 0;
        for (size_t u = 0; u < s->volumes; u++)
            full += s->zeros[k * s->volumes + u] == s->rows[k];
        count += s->zeros[k * s->volumes + v] == s->rows[k] && 2 * full < s->volumes;
    }
    return count;
}

/* Medians of every slice over the other volumes of each volume's shell, [slice][volume]; 0 if they do not tell. */
static void find_usual(const hot_dwi *dwi, const sums *s, double *values, double *usual)
{
    for (size_t k = 0; k < s->slices; k++)
        for (int shell = 0; shell < (int)dwi->shells; shell++) {
            size_t count = 0;
            for (size_t v = 0; v < s->volumes; v++)
                if (dwi->shell_of[v] == shell)
                    values[count++] = s->inside[k * s->volumes + v];
            const size_t low = count > 1 ? (count - 2) / 2 : 0, high = count > 1 ? (count - 1) / 2 : 0; /* of others */
            qsort(values, count, sizeof *values, hot_ascending_f64);
            for (size_t v = 0; v < s->volumes; v++) {
                const size_t at = k * s->volumes + v;
                if (dwi->shell_of[v] != shell)
                    continue;
                const int told = s->within[k] >= SLICE_MIN && count > LIKE_MIN && s->zeros[at] != s->rows[k];
                const double own = s->inside[at]; /* the values without it close up */
                usual[at] = told ? (values[low + (values[low] >= own)] + values[high + (values[high] >= own)]) / 2 : 0;
            }
        }
}

/* Median absolute deviation of slice k from the usual one, over the other volumes of v's shell. */
static double spread_of(const hot_dwi *dwi, const sums *s, size_t v, size_t k, double usual, double *values)
{
    size_t others = 0;
    for (size_t u = 0; u < s->volumes; u++)
        if (u != v && dwi->shell_of[u] == dwi->shell_of[v])
            values[others++] = fabs(s->inside[k * s->volumes + u] - usual);
    return median(values, others);
}

/* Slices: zeros where other volumes have signal; much darker than the same slice of the shell's other volumes, while
 * the volume's other slices are not. */
static void look_at_slices(const hot_dwi *dwi, const sums *s, size_t *number, double *values, double *usual,
                           hot_check_findings *to)
{
    size_t zero = 0, dark = 0, zero_slice = 0, dark_slices = 0, dark_at = 0, dark_in = 0;
    char names[128];
    find_usual(dwi, s, values, usual);
    for (size_t v = 0; v < s->volumes; v++) {
        double *ratio = values + s->volumes;
        const size_t of_volume = zero_slices(s, v);
        size_t ratios = 0;
        if (of_volume && of_volume < s->slices) {
            zero_slice += of_volume;
            number[zero++] = v;
        }
        for (size_t k = 0; k < s->slices; k++)
            if (usual[k * s->volumes + v] > 0)
                ratio[ratios++] = s->inside[k * s->volumes + v] / usual[k * s->volumes + v];
        const double level = median(ratio, ratios);
        for (size_t k = 0; k < s->slices; k++) {
            const double here = s->inside[k * s->volumes + v], is = usual[k * s->volumes + v];
            if (is > 0 && here / is < dark_slice * level &&
                is - here / level > 4 * spread_of(dwi, s, v, k, is, values)) {
                dark_at = k, dark_in = v;
                dark_slices++;
            }
        }
        dark += dark_in == v && dark_slices > 0;
    }
    hot_dwi_name_volumes(number, zero, names, sizeof names);
    if (zero)
        add(to, "empty_slices", 1, "%zu slice%s of zeros in volume%s %s (counted from 0), where other volumes have "
            "signal: leave these volumes out", zero_slice, zero_slice == 1 ? "" : "s", zero == 1 ? "" : "s", names);
    if (dark_slices)
        add(to, "dark_slices", 1, "%zu slice%s lost more than %.0f %% of signal against the same slice of like volumes "
            "(slice %zu of volume %zu, counted from 0, for one): motion; correct for it, or leave the volume%s out",
            dark_slices, dark_slices == 1 ? "" : "s", 100 * (1 - dark_slice), dark_at, dark_in, dark == 1 ? "" : "s");
}

/* Two-sided limit of Student's t at one per cent, by Hill's approximation good to a few per cent from 2 degrees on. */
static double drift_limit(size_t freedom)
{
    const double f = (double)freedom, z = 2.5758;
    return freedom == 1 ? 63.66 : freedom == 2 ? 9.925
        : z + (z * z * z + z) / (4 * f) + (5 * pow(z, 5) + 16 * z * z * z + 3 * z) / (96 * f * f);
}

/* A straight line through the logarithms of the mean b=0 signals. */
static void look_at_drift(const hot_dwi *dwi, const sums *s, hot_check_findings *to)
{
    double n = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0;
    to->drift = to->drift_t = NAN;
    for (size_t v = 0; v < s->volumes; v++) {
        double sum = 0;
        for (size_t k = 0; k < s->slices; k++)
            sum += s->inside[k * s->volumes + v];
        if (!dwi->has_b0 || dwi->shell_of[v] != 0 || !(sum > 0))
            continue;
        const double at = (double)v / fmax(1, (double)s->volumes - 1), value = log(sum);
        n++, x += at, y += value, xx += at * at, xy += at * value, yy += value * value;
    }
    const double spread = xx - x * x / n, slope = (xy - x * y / n) / spread;
    if (n < 3 || !(spread > 0.02) || dwi->shells < 2) /* b=0 volumes all at one end, or alone, tell nothing */
        return;
    const double rest = fmax(0, yy - y * y / n - slope * slope * spread), error = sqrt(rest / (n - 2) / spread);
    to->drift = 100 * (exp(slope) - 1);
    to->drift_t = slope / fmax(error, 1e-12);
    if (fabs(to->drift_t) > drift_limit((size_t)n - 2) && fabs(to->drift) > 1)
        add(to, "signal_drift", fabs(to->drift) > 5,
            "the b=0 signal drifts by %+.1f %% over the scan (t = %.1f, %.0f b=0 volumes): %s", to->drift, to->drift_t,
            n, fabs(to->drift) > 5 ? "correct for it before fitting" : "little enough to leave it");
}

/* The largest angle between any direction and the nearest gradient or its opposite, degrees. */
static double largest_gap(size_t count, const double *g)
{
    enum { SCAN = 2000 };
    double least = 1;
    for (int n = 0; n < SCAN; n++) { /* a spiral over the half sphere: even enough */
        const double z = (n + 0.5) / SCAN, r = sqrt(1 - z * z), turn = 2.39996322972865332 * n;
        const double x = r * cos(turn), y = r * sin(turn);
        double nearest = 0;
        for (size_t i = 0; i < count; i++)
            nearest = fmax(nearest, fabs(g[3 * i] * x + g[3 * i + 1] * y + g[3 * i + 2] * z));
        least = fmin(least, nearest);
    }
    return 57.29577951308232 * acos(fmin(1, least));
}

/* b-values and directions, shell by shell. */
static hot_status look_at_scheme(hot_context *context, const hot_dwi *dwi, double *gradients, hot_check_findings *to)
{
    const int highest = hot_dwi_highest_order(context, dwi, -1);
    if (highest < 0)
        return hot_context_cancelled(context) ? HOT_ERROR_CANCELLED : HOT_ERROR_MEMORY;
    if (dwi->shells <= (size_t)dwi->has_b0) {
        add(to, "no_weighting", 1, "no volume is diffusion-weighted: the largest b-value is %g s/mm^2, and up to 50 "
            "counts as b=0 (1000 and more is usual; is it in another unit?)", hot_dwi_largest_b(dwi));
        return HOT_OK;
    }
    if (!dwi->has_b0)
        add(to, "no_b0", 1, "there is no b=0 volume: the models adc and fod cannot be fitted");
    for (size_t shell = dwi->has_b0; shell < dwi->shells; shell++) {
        double least = INFINITY, largest = 0;
        size_t count = 0, distinct;
        int order, planar;
        for (size_t v = 0; v < dwi->volumes; v++)
            if (dwi->shell_of[v] == (int)shell) {
                least = fmin(least, dwi->b[v]);
                largest = fmax(largest, dwi->b[v]);
                memcpy(gradients + 3 * count++, dwi->gradients + 3 * v, 3 * sizeof *gradients);
            }
        const double b = dwi->shell_b[shell];
        const int wide = largest - least > 0.2 * b;
        if (largest - least > 0.5)
            add(to, "b_jitter", wide, "b = %.0f: b-values from %.6g to %.6g count as one shell%s", b, least,
                largest, wide ? "; they are hardly one: is that meant?" : "");
        HOT_TRY(hot_dwi_shell_scheme(context, dwi, (int)shell, &order, &distinct, &planar));
        const double gap = largest_gap(count, gradients);
        const double even = 57.29577951308232 * acos(1 - 1 / (double)(distinct ? distinct : 1));
        if (planar)
            add(to, "directions_in_a_plane", 1,
                "b = %.0f: all directions are in one plane; no tensor can be fitted", b);
        else if (distinct >= 6 && (gap > fmin(3 * even, 75) || order == 0))
            add(to, "clustered_directions", 1,
                "b = %.0f: the %zu directions leave a gap of %.0f degrees, evenly spread ones would leave %.0f: fibres "
                "there are seen badly; is the table right?", b, distinct, gap, 1.4 * even);
    }
    if (highest < 2)
        add(to, "few_directions", 1, "too few directions for a tensor of any order: six at least");
    else if (highest < 6)
        add(to, "few_directions", 0,
            "the directions suffice for order %d%s; order 6, the default, needs 28 in one shell", highest,
            highest == 2 ? ": one fibre in a voxel, no crossings" : "");
    return HOT_OK;
}

static void look_at_range(const hot_dwi *dwi, const sums *s, hot_check_findings *to)
{
    if (s->clipped[0] > 0)
        add(to, "clipped", 1, "%zu samples are clipped: they share the value %.6g, above which there is nothing, while "
            "values just below it are rare; convert again without clipping, or take the scanner's scaling%s",
            s->clipped[0], s->ceiling, dwi->sample == HOT_SAMPLE_F32 || dwi->sample == HOT_SAMPLE_F64
                                        ? "" : " (integer samples)");
}

hot_status hot_check_volumes(hot_context *context, const hot_dwi *dwi, const hot_mask *mask,
                             hot_check_findings **findings)
{
    HOT_ENTRY(context);
    return hot_check_volumes_sampled(context, dwi, mask, 0, findings);
}

hot_status hot_check_volumes_sampled(hot_context *context, const hot_dwi *dwi, const hot_mask *mask, size_t least,
                                     hot_check_findings **findings)
{
    HOT_CLEAR(findings);
    HOT_NEED(context, dwi, findings);
    hot_mask *whole = NULL;
    sums s = {.slices = dwi->grid.size[2], .volumes = dwi->volumes, .lines = dwi->grid.size[1],
              .row = dwi->grid.size[0]};
    size_t *number = hot_context_alloc(context, s.volumes, sizeof *number);
    double *values = hot_context_alloc(context, s.volumes + s.slices, sizeof *values);
    double *usual = hot_context_alloc(context, s.volumes, s.slices * sizeof *usual);
    double *gradients = hot_context_alloc(context, s.volumes, 3 * sizeof *gradients);
    hot_check_findings *made = hot_context_calloc(context, 1, sizeof *made);
    s.inside = hot_context_calloc(context, s.slices * s.volumes, sizeof *s.inside);
    s.zeros = hot_context_calloc(context, s.slices * s.volumes, sizeof *s.zeros);
    s.broken = hot_context_calloc(context, s.slices * s.volumes, sizeof *s.broken);
    s.within = hot_context_calloc(context, s.slices, sizeof *s.within);
    s.print = hot_context_calloc(context, s.slices * s.volumes, sizeof *s.print);
    s.clipped = hot_context_calloc(context, s.slices, sizeof *s.clipped);
    s.step = hot_context_alloc(context, s.slices, sizeof *s.step);
    s.rows = hot_context_alloc(context, s.slices, sizeof *s.rows);
    const int memory = number && values && usual && gradients && made && s.inside && s.zeros && s.broken && s.within &&
                       s.print && s.clipped && s.step && s.rows;
    hot_status status = !memory ? HOT_ERROR_MEMORY
        : hot_mask_take(context, &mask, &dwi->grid, &whole);
    if (status == HOT_OK)
        status = hot_dwi_ceiling(context, dwi, &s.ceiling);
    if (status == HOT_OK)
        choose_lines(&s, hot_mask_bytes(mask), least);
    if (status == HOT_OK)
        status = collect(context, dwi, hot_mask_bytes(mask), &s);
    if (status == HOT_OK) {
        made->context = context;
        look_at_volumes(dwi, &s, number, made);
        look_at_slices(dwi, &s, number, values, usual, made);
        look_at_range(dwi, &s, made);
        look_at_drift(dwi, &s, made);
        status = look_at_scheme(context, dwi, gradients, made);
    }
    HOT_FREE(context, s.rows, s.step, s.clipped, s.print, s.within, s.broken, s.zeros, s.inside, gradients, usual,
             values, number);
    hot_mask_destroy(&whole);
    if (status == HOT_OK)
        *findings = made;
    else
        hot_context_free(context, made);
    return status;
}

const hot_check_finding *hot_check_findings_list(const hot_check_findings *findings, size_t *count)
{
    if (count)
        *count = findings ? findings->count : 0;
    return findings ? findings->list : NULL;
}

void hot_check_findings_drift(const hot_check_findings *findings, double *percent, double *t)
{
    if (percent)
        *percent = findings ? findings->drift : NAN;
    if (t)
        *t = findings ? findings->drift_t : NAN;
}

void hot_check_findings_destroy(hot_check_findings **findings)
{
    HOT_DESTROY_BEGIN(hot_check_findings, findings);
    hot_context *context = gone->context;
    hot_context_free(context, gone);
}
