/* The responses of white matter, grey matter and CSF from the data alone (Dhollander et al. 2016, 2019): by how fast
 * the signal decays with b, by anisotropy, and white matter's by how much of a voxel is one sharp peak. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/arguments.h"
#include "common/compare.h"
#include "dwi/gather.h"
#include "common/entry.h"
#include "response_estimate.h"
#include "symtensor/sphere.h"

/* Shares of the refined tissues that make the responses, and the anisotropy that divides white matter from the rest. */
static const double share_white = .005, share_grey = .02, share_csf = .1, anisotropy_white = .2;
/* Decays above are noise over nothing. */
static const double max_decay = 10;
enum { BLOCK = 4096, LOOK = 400, MAX_PEAK_ORDER = 6 };

typedef enum tissue { NOWHERE, WHITE, GREY, CSF, OUTLIER } tissue;

typedef struct voxel {
    size_t place;         /* in the image */
    double decay, anisotropy, mean, axis[3], sharpness;
    tissue tissue;
} voxel;

typedef struct search {
    hot_context *context;
    const hot_dwi *dwi;
    size_t volumes, shells, count;
    const double *shell_b;
    const int *shell_of;
    voxel *voxels;
    double *values;       /* count, scratch */
    size_t *list;         /* likewise */
    float *signals;       /* BLOCK x volumes */
} search;

static double median(size_t n, double *values)
{
    if (n == 0)
        return 0;
    qsort(values, n, sizeof *values, hot_ascending_f64);
    return n % 2 ? values[n / 2] : .5 * (values[n / 2 - 1] + values[n / 2]);
}

/* The decays of a tissue's voxels into s->values; how many. */
static size_t decays(search *s, tissue which)
{
    size_t n = 0;
    for (size_t v = 0; v < s->count; v++)
        if (s->voxels[v].tissue == which)
            s->values[n++] = s->voxels[v].decay;
    return n;
}

/* The threshold whose two sides correlate most with the values (Ridgway et al. 2009). Sorts them. */
static double best_threshold(size_t n, double *values)
{
    double all = 0, above = 0, best = -INFINITY, threshold = n ? values[0] : 0;
    qsort(values, n, sizeof *values, hot_ascending_f64);
    for (size_t i = 0; i < n; i++)
        all += values[i];
    for (size_t i = n; i-- > 1;) {
        above += values[i];
        const double part = (double)(n - i) / (double)n;
        const double correlation = (above - part * all) / sqrt(part * (1 - part));
        if (values[i] > values[i - 1] && correlation > best) {
            best = correlation;
            threshold = .5 * (values[i] + values[i - 1]);
        }
    }
    return threshold;
}

/* Mean signals of the shells of one voxel, samples below `least` lifted to it. */
static void shell_means(const search *s, const float *signals, double least, double *mean)
{
    size_t volumes[256] = {0};
    memset(mean, 0, s->shells * sizeof *mean);
    for (size_t i = 0; i < s->volumes; i++) {
        mean[s->shell_of[i]] += fmax(least, (double)signals[i]);
        volumes[s->shell_of[i]]++;
    }
    for (size_t b = 0; b < s->shells; b++)
        mean[b] /= (double)volumes[b];
}

/* Decay and mean signal of every voxel; those without are left out. */
static hot_status measure(search *s)
{
    hot_status status = HOT_OK;
    size_t kept = 0;
    double mean[256];
    for (size_t first = 0; first < s->count && status == HOT_OK; first += BLOCK) {
        const size_t here = s->count - first < BLOCK ? s->count - first : BLOCK;
        for (size_t i = 0; i < here; i++)
            s->list[i] = s->voxels[first + i].place;
        status = hot_dwi_read_list(s->context, s->dwi, s->list, here, s->signals);
        for (size_t i = 0; i < here && status == HOT_OK; i++) {
            const float *signals = s->signals + i * s->volumes;
            voxel found = s->voxels[first + i];
            double weighted = 0, sum = 0;
            int good = 1;
            shell_means(s, signals, 0, mean);
            for (size_t v = 0; v < s->volumes; v++) {
                const double one = mean[s->shell_of[v]];
                good &= isfinite(signals[v]) && one > 0;
                sum += (double)signals[v];
                if (s->shell_of[v] > 0 && good) {
                    found.decay += log(mean[0] / one);
                    weighted++;
                }
            }
            found.decay /= weighted;
            found.mean = sum / (double)s->volumes;
            if (good && found.decay > 0) {
                found.decay = fmin(found.decay, max_decay);
                s->voxels[kept++] = found;
            }
        }
        if (status == HOT_OK)
            status = hot_context_progress(s->context, "estimating the responses",
                                          .2 * (double)first / (double)s->count);
    }
    s->count = kept;
    if (status == HOT_OK && kept < 10)
        status = hot_context_fail(s->context, HOT_ERROR_DATA,
                                  "%zu voxels of the mask have signals that fall with b; three responses need more",
                                  kept);
    return status;
}

/* The logarithms of a block's signals, and their squares as weights; samples that have none are lifted to almost 0,
 * where they weigh nothing in the first fit. */
static void take_logarithms(const search *s, size_t count, float *logarithm, float *weight)
{
    for (size_t v = 0; v < count; v++) {
        const float *signals = s->signals + v * s->volumes;
        double most = 0;
        for (size_t i = 0; i < s->volumes; i++)
            most = fmax(most, (double)signals[i]);
        for (size_t i = 0; i < s->volumes; i++) {
            const double one = fmax((double)signals[i] / most, 1e-6);
            logarithm[v * s->volumes + i] = (float)log(one);
            weight[v * s->volumes + i] = (float)(one * one);
        }
    }
}

/* Anisotropy and axis, from a diffusion tensor of all volumes: least squares weighted by the squared signals, then
 * twice by those of the fit before. */
static hot_status fit_tensors(search *s)
{
    enum { COLUMNS = 7, ROUNDS = 3 };
    hot_context *context = s->context;
    const double *b = hot_dwi_b(s->dwi), *g = hot_dwi_gradients(s->dwi), unit = s->shell_b[s->shells - 1];
    double *design = hot_context_alloc(context, s->volumes, COLUMNS * sizeof *design);
    float *logarithm = hot_context_alloc(context, BLOCK, 2 * s->volumes * sizeof *logarithm);
    float *fits = hot_context_alloc(context, BLOCK, COLUMNS * sizeof *fits);
    hot_status status = design && logarithm && fits ? HOT_OK : HOT_ERROR_MEMORY;
    for (size_t i = 0; i < s->volumes && status == HOT_OK; i++) {
        const double *v = g + 3 * i, by = -b[i] / unit;
        const double row[COLUMNS] = {by * v[0] * v[0], 2 * by * v[0] * v[1], 2 * by * v[0] * v[2], by * v[1] * v[1],
                                     2 * by * v[1] * v[2], by * v[2] * v[2], 1};
        memcpy(design + i * COLUMNS, row, sizeof row);
    }
    for (size_t first = 0; first < s->count && status == HOT_OK; first += BLOCK) {
        const size_t here = s->count - first < BLOCK ? s->count - first : BLOCK;
        float *weight = logarithm + BLOCK * s->volumes;
        for (size_t i = 0; i < here; i++)
            s->list[i] = s->voxels[first + i].place;
        status = hot_dwi_read_list(context, s->dwi, s->list, here, s->signals);
        if (status == HOT_OK)
            take_logarithms(s, here, logarithm, weight);
        for (int round = 0; round < ROUNDS && status == HOT_OK; round++) {
            for (size_t k = 0; k < here * s->volumes && round > 0; k++) {
                double fitted = 0;
                for (size_t c = 0; c < COLUMNS; c++)
                    fitted += design[k % s->volumes * COLUMNS + c] * (double)fits[k / s->volumes * COLUMNS + c];
                weight[k] = (float)exp(2 * fmin(fmax(fitted, -20), 2));
            }
            status = hot_fit_weighted_f32(context, s->volumes, COLUMNS, design, here, logarithm, weight, fits, COLUMNS,
                                          NULL);
        }
        for (size_t v = 0; v < here && status == HOT_OK; v++) {
            const float *t = fits + COLUMNS * v;
            const double trace = (double)t[0] + (double)t[3] + (double)t[5];
            double norm2 = 0;
            for (int k = 0; k < 6; k++)
                norm2 += (k == 1 || k == 2 || k == 4 ? 2 : 1) * (double)t[k] * (double)t[k];
            hot_tensor_principal_axis(t, s->voxels[first + v].axis);
            /* also of tensors that are not positive definite, as noise makes them */
            s->voxels[first + v].anisotropy = norm2 > 0 ? sqrt(fmax(0, 1.5 * (1 - trace * trace / (3 * norm2)))) : 0;
        }
    }
    HOT_FREE(context, fits, logarithm, design);
    return status;
}

static void divide(search *s, tissue from, double threshold, tissue above)
{
    for (size_t v = 0; v < s->count; v++)
        if (s->voxels[v].tissue == from && s->voxels[v].decay > threshold)
            s->voxels[v].tissue = above;
}

/* Of one side of a median, keeps the part nearer to it. */
static void keep_near(search *s, tissue of, double middle, int high)
{
    size_t n = 0;
    for (size_t v = 0; v < s->count; v++) {
        const double away = high ? s->voxels[v].decay - middle : middle - s->voxels[v].decay;
        if (s->voxels[v].tissue == of && (high ? away > 0 : away >= 0))
            s->values[n++] = away;
    }
    const double limit = best_threshold(n, s->values);
    for (size_t v = 0; v < s->count; v++) {
        const double away = high ? s->voxels[v].decay - middle : middle - s->voxels[v].decay;
        if (s->voxels[v].tissue == of && (high ? away > 0 : away >= 0) && away > limit)
            s->voxels[v].tissue = NOWHERE;
    }
}

static void segment(search *s)
{
    size_t n;
    for (size_t v = 0; v < s->count; v++)
        s->voxels[v].tissue = s->voxels[v].anisotropy > anisotropy_white ? WHITE : GREY;
    n = decays(s, GREY);
    divide(s, GREY, best_threshold(n, s->values), CSF);
    double min_csf = INFINITY;
    for (size_t v = 0; v < s->count; v++)
        if (s->voxels[v].tissue == CSF)
            min_csf = fmin(min_csf, s->voxels[v].decay);

    n = decays(s, WHITE);
    const double middle = median(n, s->values);
    for (size_t i = 0; i < n; i++)
        s->values[i] = fabs(s->values[i] - middle);
    divide(s, WHITE, middle + 2 * 1.4826 * median(n, s->values), OUTLIER);

    n = decays(s, GREY);
    const double grey = median(n, s->values);
    keep_near(s, GREY, grey, 1);
    keep_near(s, GREY, grey, 0);

    divide(s, OUTLIER, min_csf, CSF);
    n = decays(s, CSF);
    const double limit = best_threshold(n, s->values);
    for (size_t v = 0; v < s->count; v++)
        if (s->voxels[v].tissue == CSF && !(s->voxels[v].decay > limit))
            s->voxels[v].tissue = NOWHERE;
}

/* ---- The voxels that make a response ----------------------------------------------------------------------- */

typedef struct ranked {
    double value;
    size_t at;
} ranked;

static int highest_first(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    return x->value != y->value ? (x->value < y->value) - (x->value > y->value) : (x->at > y->at) - (x->at < y->at);
}

/* The `most` voxels with the highest worth of those in the list (count numbers), which it becomes. */
static hot_status take_highest(search *s, size_t *count, size_t most, double (*worth)(const voxel *, double), double by)
{
    ranked *all = hot_context_alloc(s->context, *count + 1, sizeof *all);
    if (!all)
        return HOT_ERROR_MEMORY;
    for (size_t i = 0; i < *count; i++)
        all[i] = (ranked){worth(&s->voxels[s->list[i]], by), s->list[i]};
    qsort(all, *count, sizeof *all, highest_first);
    *count = most < *count ? most : *count;
    for (size_t i = 0; i < *count; i++)
        s->list[i] = all[i].at;
    hot_context_free(s->context, all);
    return HOT_OK;
}

static double worth_decay(const voxel *v, double by) { return (void)by, v->decay; }
static double worth_near(const voxel *v, double by) { return -fabs(v->decay - by); }
static double worth_sharp(const voxel *v, double by) { return (void)by, v->sharpness; }

/* A tissue's voxels into the list; how many. */
static size_t list_tissue(search *s, tissue which)
{
    size_t n = 0;
    for (size_t v = 0; v < s->count; v++)
        if (s->voxels[v].tissue == which)
            s->list[n++] = v;
    return n;
}

static size_t share_of(size_t count, double share)
{
    const size_t part = (size_t)floor(share * (double)count + .5);
    return part > 0 ? part : 1;
}

/* The mean signal of each shell over the listed voxels, negative samples included. */
static hot_status isotropic_response(search *s, size_t count, hot_response **made)
{
    hot_status status = hot_response_make(s->context, s->shells, 0, made);
    double mean[256];
    for (size_t first = 0; first < count && status == HOT_OK; first += BLOCK) {
        const size_t here = count - first < BLOCK ? count - first : BLOCK;
        size_t place[BLOCK];
        for (size_t i = 0; i < here; i++)
            place[i] = s->voxels[s->list[first + i]].place;
        status = hot_dwi_read_list(s->context, s->dwi, place, here, s->signals);
        for (size_t i = 0; i < here && status == HOT_OK; i++) {
            shell_means(s, s->signals + i * s->volumes, -INFINITY, mean);
            for (size_t b = 0; b < s->shells; b++)
                (*made)->rows[b] += sqrt(4 * M_PI) * mean[b] / (double)count;
        }
    }
    for (size_t b = 0; b < s->shells && *made; b++)
        (*made)->b[b] = s->shell_b[b];
    if (status != HOT_OK)
        hot_response_destroy(made);
    return status;
}

/* The design of the sharpest fibre there could be, whose zonal coefficients alternate between `unit` and -unit at every
 * b, and of CSF: harmonics of a delta as a tensor's values, and CSF's harmonic of degree 0. */
static hot_status sharp_design(const search *s, int order, double unit, const hot_response *csf, double *to_sh,
                               double *design)
{
    const size_t terms = hot_model_terms(order);
    double y[HOT_MODEL_TERMS_MAX];
    hot_status status = hot_symtensor_to_sh(s->context, order, to_sh);
    for (size_t v = 0; v < s->volumes && status == HOT_OK; v++) {
        const int shell = s->shell_of[v];
        double *row = design + v * (terms + 1);
        status = hot_sh_values_f64(order, 1, hot_dwi_gradients(s->dwi) + 3 * v, y);
        y[0] = 1 / sqrt(4 * M_PI);
        memset(row, 0, terms * sizeof *row);
        for (size_t k = 0; k < (shell == 0 ? 1 : terms); k++) {
            const int l = hot_model_degree(k);
            for (size_t t = 0; t < terms; t++)
                row[t] += (l % 4 == 0 ? unit : -unit) * sqrt(4 * M_PI / (2 * l + 1)) * y[k] * to_sh[k * terms + t];
        }
        row[terms] = csf->rows[shell];
    }
    return status;
}

/* The height of a tensor's highest peak. */
static double highest(int order, const float *tensor, const double *look)
{
    double t[HOT_MODEL_TERMS_MAX], value[LOOK], x[3];
    size_t best = 0;
    for (size_t i = 0; i < hot_model_terms(order); i++)
        t[i] = (double)tensor[i];
    hot_symtensor_values_f64(order, 3, t, LOOK, look, value);
    for (size_t j = 1; j < LOOK; j++)
        best = value[j] > value[best] ? j : best;
    memcpy(x, look + 3 * best, sizeof x);
    hot_peak_climb(order, tensor, x);
    return fmax(value[best], hot_symtensor_value_f64(order, 3, t, x));
}

/* How much of each listed voxel's signal is one peak, from a deconvolution at this order. */
static hot_status measure_sharpness(search *s, size_t count, int order, double unit, const hot_response *csf)
{
    hot_context *context = s->context;
    const size_t terms = hot_model_terms(order);
    double to_sh[HOT_MODEL_TERMS_MAX * HOT_MODEL_TERMS_MAX], look[3 * LOOK];
    double *design = hot_context_alloc(context, s->volumes, (terms + 1) * sizeof *design);
    float *tensors = hot_context_alloc(context, BLOCK, (terms + 1) * sizeof *tensors), *amounts = NULL;
    hot_status status = design && tensors ? sharp_design(s, order, unit, csf, to_sh, design) : HOT_ERROR_MEMORY;
    const hot_msmt_problem problem = {.size = sizeof problem, .order = order, .tissues = 1, .rows = s->volumes,
                                      .design = design, .constraint = HOT_CONSTRAINT_NONNEGATIVE};
    hot_sphere_lattice(LOOK, look);
    for (size_t first = 0; first < count && status == HOT_OK; first += BLOCK) {
        const size_t here = count - first < BLOCK ? count - first : BLOCK;
        size_t place[BLOCK];
        amounts = tensors + BLOCK * terms;
        for (size_t i = 0; i < here; i++)
            place[i] = s->voxels[s->list[first + i]].place;
        status = hot_dwi_read_list(context, s->dwi, place, here, s->signals);
        if (status == HOT_OK)
            status = hot_msmt_f32(context, &problem, here, s->signals, s->volumes, NULL, tensors, terms, amounts, NULL,
                                  NULL);
        for (size_t i = 0; i < here && status == HOT_OK; i++) {
            const float *tensor = tensors + i * terms;
            double all = (double)amounts[i];
            for (size_t t = 0; t < terms; t++)
                all += to_sh[t] * (double)tensor[t];
            s->voxels[s->list[first + i]].sharpness = all > 0 ? highest(order, tensor, look) / all : 0;
        }
    }
    HOT_FREE(context, tensors, design);
    return status;
}

/* White matter's response, along the axes of the listed voxels. */
static hot_status fiber_response(search *s, size_t count, int lmax, hot_response **made)
{
    hot_response_search *chosen = hot_context_calloc(s->context, 1, sizeof *chosen);
    hot_status status = chosen ? HOT_OK : HOT_ERROR_MEMORY;
    size_t place[HOT_CANDIDATES];
    count = count < HOT_CANDIDATES ? count : HOT_CANDIDATES;
    if (status == HOT_OK) {
        *chosen = (hot_response_search){.context = s->context, .dwi = s->dwi, .volumes = s->volumes,
                                        .shells = s->shells, .shell_b = s->shell_b, .shell_of = s->shell_of,
                                        .lmax = lmax, .chosen = count, .count = count};
        chosen->signals = hot_context_alloc(s->context, count, s->volumes * sizeof *chosen->signals);
        status = chosen->signals ? HOT_OK : HOT_ERROR_MEMORY;
    }
    for (size_t i = 0; i < count && status == HOT_OK; i++) {
        const voxel *v = &s->voxels[s->list[i]];
        place[i] = v->place;
        chosen->merits[i].place = i;
        memcpy(chosen->candidates[i].axis, v->axis, sizeof v->axis);
        chosen->candidates[i].halves = HOT_BOTH_HALVES;
    }
    if (status == HOT_OK)
        status = hot_dwi_read_list(s->context, s->dwi, place, count, chosen->signals);
    if (status == HOT_OK)
        status = hot_response_from_chosen(chosen, made);
    if (chosen)
        hot_context_free(s->context, chosen->signals);
    hot_context_free(s->context, chosen);
    return status;
}

static hot_status estimate(search *s, int lmax, hot_response *responses[3], size_t voxels[3])
{
    size_t n[3] = {list_tissue(s, WHITE), list_tissue(s, GREY), list_tissue(s, CSF)};
    static const char *const names[3] = {"white matter", "grey matter", "CSF"};
    for (int t = 0; t < 3; t++)
        if (n[t] == 0)
            return hot_context_fail(s->context, HOT_ERROR_DATA,
                                    "no voxel of the mask looks like %s (by its decay with b and its anisotropy); give "
                                    "another mask, or responses of other data", names[t]);
    hot_status status = take_highest(s, &n[2], share_of(n[2], share_csf), worth_decay, 0);
    if (status == HOT_OK)
        status = isotropic_response(s, n[2], &responses[2]);

    const double grey = median(decays(s, GREY), s->values);
    n[1] = list_tissue(s, GREY);
    if (status == HOT_OK)
        status = take_highest(s, &n[1], share_of(n[1], share_grey), worth_near, grey);
    if (status == HOT_OK)
        status = isotropic_response(s, n[1], &responses[1]);

    n[0] = list_tissue(s, WHITE);
    for (size_t i = 0; i < n[0]; i++)
        s->values[i] = s->voxels[s->list[i]].mean;
    const double unit = median(n[0], s->values) * sqrt(4 * M_PI);
    const size_t wanted = share_of(n[0], share_white);
    for (int order = 2; order <= MAX_PEAK_ORDER && status == HOT_OK; order += MAX_PEAK_ORDER - 2) {
        status = measure_sharpness(s, n[0], order, unit, responses[2]);
        if (status == HOT_OK)
            status = take_highest(s, &n[0], order == 2 ? 2 * wanted : wanted, worth_sharp, 0);
    }
    if (status == HOT_OK)
        status = fiber_response(s, n[0], lmax, &responses[0]);
    for (int t = 0; t < 3 && voxels; t++)
        voxels[t] = n[t];
    return status;
}

/* The mask less `passes` layers of voxels; outside of the image is outside of the mask. */
static hot_status list_inside(search *s, const hot_mask *mask, int passes)
{
    const size_t *size = mask->grid.size, voxels = hot_grid_voxels(&mask->grid);
    uint8_t *inside = hot_context_alloc(s->context, voxels, 2);
    if (!inside)
        return HOT_ERROR_MEMORY;
    uint8_t *before = inside + voxels;
    memcpy(inside, mask->bytes, voxels);
    for (int pass = 0; pass < passes; pass++) {
        memcpy(before, inside, voxels);
        for (size_t v = 0; v < voxels; v++) {
            const size_t i = v % size[0], j = v / size[0] % size[1], k = v / size[0] / size[1];
            const size_t row = size[0], slice = size[0] * size[1];
            inside[v] = before[v] && i > 0 && i + 1 < size[0] && j > 0 && j + 1 < size[1] && k > 0 && k + 1 < size[2] &&
                        before[v - 1] && before[v + 1] && before[v - row] && before[v + row] && before[v - slice] &&
                        before[v + slice];
        }
    }
    s->count = 0;
    for (size_t v = 0; v < voxels; v++)
        s->count += inside[v] != 0;
    s->voxels = hot_context_calloc(s->context, s->count + 1, sizeof *s->voxels);
    for (size_t v = 0, n = 0; v < voxels && s->voxels; v++)
        if (inside[v])
            s->voxels[n++].place = v;
    hot_context_free(s->context, inside);
    return s->voxels ? HOT_OK : HOT_ERROR_MEMORY;
}

int hot_response_wants_tissues(const hot_model *model, const hot_dwi *dwi)
{
    return model == &hot_model_msmt && hot_dwi_shells(dwi, NULL, NULL) > 2;
}

/* As many layers as are usual, unless they are much of the image. */
static int typical_layers(hot_context *context, const hot_grid *grid)
{
    enum { USUAL = 3 };
    int layers = USUAL;
    for (int axis = 0; axis < 3; axis++)
        while (layers > 0 && 20 * (size_t)layers >= 3 * grid->size[axis])
            layers--;
    if (layers < USUAL)
        hot_context_log(context, HOT_LOG_NOTE, "thin volume: the mask is eroded by %d voxels, not %d, before the "
                        "responses are estimated", layers, USUAL);
    return layers;
}

hot_status hot_response_estimate_tissues(hot_context *context, const hot_dwi *dwi, const hot_mask *mask, int lmax,
                                         int erode, hot_response *responses[3], size_t voxels[3])
{
    HOT_ENTRY(context);
    HOT_NEED(context, dwi, responses);
    if (!mask)
        HOT_RETURN_WITH_ALL(context, &dwi->grid,
                            hot_response_estimate_tissues(context, dwi, all, lmax, erode, responses, voxels));
    search s = {.context = context, .dwi = dwi};
    if (lmax < 0 || lmax > 16 || lmax % 2 != 0)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "responses of tissues need an even lmax from 2 to 16, not %d",
                                lmax);
    memset(responses, 0, 3 * sizeof *responses);
    s.volumes = hot_dwi_volumes(dwi);
    s.shells = hot_dwi_shells(dwi, &s.shell_b, &s.shell_of);
    if (!hot_dwi_has_b0(dwi) || s.shells < 2 || s.shells > 256)
        return hot_context_fail(context, HOT_ERROR_DATA,
                                "'%s' has %zu shells; responses of tissues need b=0 and 1 to 255 others",
                                hot_dwi_name(dwi), s.shells);
    hot_status status = hot_mask_check(context, mask, hot_dwi_grid(dwi));
    if (status == HOT_OK)
        status = list_inside(&s, mask, erode == 0          ? typical_layers(context, hot_dwi_grid(dwi))
                                       : erode == HOT_ZERO ? 0
                                                           : erode);
    if (status != HOT_OK)
        return status;
    s.values = hot_context_alloc(context, s.count + 1, sizeof *s.values);
    s.list = hot_context_alloc(context, s.count + BLOCK, sizeof *s.list);
    s.signals = hot_context_alloc(context, BLOCK, s.volumes * sizeof *s.signals);
    status = s.values && s.list && s.signals ? measure(&s) : HOT_ERROR_MEMORY;
    if (status == HOT_OK)
        status = fit_tensors(&s);
    if (status == HOT_OK) {
        segment(&s);
        status = estimate(&s, lmax == 0 ? 8 : lmax, responses, voxels);
    }
    if (status == HOT_OK)
        status = hot_response_check(context, responses[0], NULL);
    for (int t = 0; t < 3 && status != HOT_OK; t++)
        hot_response_destroy(&responses[t]);
    HOT_FREE(context, s.signals, s.list, s.values, s.voxels);
    return status;
}
