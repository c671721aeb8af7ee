/* Data with known fibres: options, voxels, signals, noise. */
#include "phantom.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "common/arguments.h"
#include "common/entry.h"
#include "common/options.h"
#include "frames.h"

enum { CHUNK = 4096 };
enum { STREAM_VOXEL = 1, STREAM_NOISE = 2 };
static const double radian = 0.017453292519943295;

static const hot_phantom_condition default_conditions[] = {
    {.fibers = 1},
    {.fibers = 2, .angle = {30, 40}, .fraction = {0.5, 0.7}},
    {.fibers = 2, .angle = {45, 55}, .fraction = {0.5, 0.7}},
    {.fibers = 2, .angle = {60, 90}, .fraction = {0.5, 0.7}},
    {.fibers = 3, .angle = {60, 90}, .fraction = {1.0 / 3, 0.45}},
    {.fibers = 0, .isotropic = {HOT_GREY_DIFFUSIVITY, HOT_CSF_DIFFUSIVITY}},
};

const hot_phantom_condition *hot_phantom_default_conditions(size_t *count)
{
    if (count)
        *count = sizeof default_conditions / sizeof default_conditions[0];
    return default_conditions;
}

/* ---- options --------------------------------------------------------------------------------------------- */

static int bad_range(const double range[2], double low, double high)
{
    return !(range[0] >= low && range[1] <= high && range[0] <= range[1]);
}

static hot_status check_tissue(hot_context *context, const hot_phantom_options *o)
{
    if (o->tissue < HOT_TISSUE_ZEPPELIN || o->tissue > HOT_TISSUE_NODDI)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "there is no tissue of number %d", (int)o->tissue);
    if (o->tissue != HOT_TISSUE_ZEPPELIN && bad_range(o->intra, 0.01, 1))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "intra-axonal fractions lie from .01 to 1, ascending, not %g-%g", o->intra[0],
                                o->intra[1]);
    if (o->tissue == HOT_TISSUE_ZEPPELIN && o->intra[1] != 0)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "a zeppelin has no intra-axonal fraction (%g-%g)",
                                o->intra[0], o->intra[1]);
    if (o->weight[1] != 0 && (bad_range(o->weight, 0, 1e6) || o->weight[0] <= 0))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "weights of fibres must be above 0, at most 1e6 and ascending, not %g-%g", o->weight[0],
                                o->weight[1]);
    if (!(o->noise_slope >= 0 && o->noise_slope <= 0.9))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "the noise's slope lies from 0 to .9, not %g",
                                o->noise_slope);
    double sum = 0;
    for (size_t i = 0; o->share && i < o->condition_count; i++) {
        if (!(o->share[i] >= 0 && o->share[i] <= 1e6))
            return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                    "how often a condition occurs is a number from 0 to 1e6, not %g", o->share[i]);
        sum += o->share[i];
    }
    if (o->share && !(sum > 0))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "one condition at least must occur, but all shares are 0");
    return HOT_OK;
}

static hot_status check_conditions(hot_context *context, const hot_phantom_options *o)
{
    for (size_t i = 0; i < o->condition_count; i++) {
        const hot_phantom_condition *c = &o->conditions[i];
        if (c->fibers < 0 || c->fibers > HOT_PHANTOM_FIBERS)
            return hot_context_fail(context, HOT_ERROR_ARGUMENT, "a phantom's voxel has 0 to 3 fibres, not %d",
                                    c->fibers);
        if (c->fibers > 1 && (bad_range(c->angle, 0, 90) || c->angle[1] <= 0))
            return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                    "crossing angles must be above 0, at most 90 degrees and ascending, not %g-%g",
                                    c->angle[0], c->angle[1]);
        /* three vectors can be equally far apart by any angle up to 90; a range is drawn until its three angles fit */
        if (c->fibers > 1 && (bad_range(c->fraction, 0, 1) || c->fraction[0] <= 0 || c->fraction[1] >= 1))
            return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                    "fractions must be between 0 and 1 and ascending, not %g-%g", c->fraction[0],
                                    c->fraction[1]);
        if (c->fibers == 0 && !(c->isotropic[0] >= 0 && c->isotropic[1] >= 0))
            return hot_context_fail(context, HOT_ERROR_ARGUMENT, "diffusivities must not be negative, not %g and %g",
                                    c->isotropic[0], c->isotropic[1]);
    }
    return HOT_OK;
}

static hot_status check_acquisition(hot_context *context, const hot_phantom_options *o)
{
    for (size_t i = 0; i < o->shells; i++)
        if (!(o->shell_b[i] > 0 && o->shell_b[i] <= 1e6))
            return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                    "b-values of shells must be above 0 and at most 1e6 s/mm^2, not %g", o->shell_b[i]);
    for (size_t i = 0; i < o->snr_count; i++)
        if (!(o->snr[i] >= 0))
            return hot_context_fail(context, HOT_ERROR_ARGUMENT, "an SNR must not be negative, not %g", o->snr[i]);
    for (size_t i = 0; i < o->scheme_volumes; i++) {
        const double *g = o->scheme_gradients + 3 * i;
        double square = g[0] * g[0] + g[1] * g[1] + g[2] * g[2];
        if (!(o->scheme_b[i] >= 0 && o->scheme_b[i] <= 1e6))
            return hot_context_fail(context, HOT_ERROR_ARGUMENT, "volume %zu of the scheme has no usable b-value: %g",
                                    i, o->scheme_b[i]);
        if (o->scheme_b[i] > 0 && !(square > 0 && isfinite(square)))
            return hot_context_fail(context, HOT_ERROR_ARGUMENT, "volume %zu of the scheme has b = %g but no direction",
                                    i, o->scheme_b[i]);
    }
    return HOT_OK;
}

static hot_status check_options(hot_context *context, const hot_phantom_options *o)
{
    HOT_TRY(check_conditions(context, o));
    HOT_TRY(check_acquisition(context, o));
    HOT_TRY(hot_option_choice(context, "layout", (int)o->layout, HOT_PHANTOM_MIXTURE + 1));
    HOT_TRY(hot_option_choice(context, "tissue", (int)o->tissue, HOT_TISSUE_NODDI + 1));
    if (!(o->s0 > 0 && o->s0 < DBL_MAX) || !(o->axial > 0 && o->axial < DBL_MAX) || !(o->radial >= 0) ||
        !(o->vary >= 0 && o->vary <= 0.3))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "the phantom's S0 (%g) and diffusivities (%g axial, %g radial) must be positive and "
                                "their variation (%g) at most .3", o->s0, o->axial, o->radial, o->vary);
    if (bad_range(o->csf, 0, 0.95))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "CSF fractions lie from 0 to .95, ascending, not %g-%g",
                                o->csf[0], o->csf[1]);
    if (bad_range(o->grey, 0, 0.95) || o->grey[1] + o->csf[1] > 0.95)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "grey matter's fractions lie from 0 to .95, ascending and with CSF's (up to %g) not "
                                "above .95, not %g-%g", o->csf[1], o->grey[0], o->grey[1]);
    if (bad_range(o->dispersion, 0, 45))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "dispersions lie from 0 to 45 degrees, ascending, not %g-%g", o->dispersion[0],
                                o->dispersion[1]);
    return check_tissue(context, o);
}

/* Defaults for what is zero. */
static void fill_options(hot_phantom_options *o)
{
    static const double default_snr = 30, default_b = 3000;
    static const size_t default_volume[3] = {40, 40, 12};
    if (!o->conditions || !o->condition_count)
        o->conditions = hot_phantom_default_conditions(&o->condition_count);
    o->voxels = o->voxels ? o->voxels : 200;
    for (int d = 0; d < 3; d++)
        o->volume[d] = o->volume[d] ? o->volume[d] : default_volume[d];
    if (!o->snr || !o->snr_count)
        o->snr = &default_snr, o->snr_count = 1;
    if (!o->shell_b || !o->shells)
        o->shell_b = &default_b, o->shells = 1;
    o->directions = o->directions ? o->directions : 64;
    o->b0 = o->b0 ? o->b0 : 8;
    o->s0 = o->s0 != 0 ? o->s0 : 1000;
    o->axial = o->axial != 0 ? o->axial : 1.7e-3;
    if (o->tissue == HOT_TISSUE_ZEPPELIN)
        o->radial = o->radial != 0 ? o->radial : 0.2e-3;
    else if (o->intra[0] == 0 && o->intra[1] == 0)
        o->intra[0] = 0.4, o->intra[1] = 0.7;
}

static void *copied(hot_context *context, const void *from, size_t count, size_t size)
{
    void *copy = hot_context_alloc(context, count, size);
    if (copy)
        memcpy(copy, from, count * size);
    return copy;
}

/* ---- geometry -------------------------------------------------------------------------------------------- */

static hot_status make_grid(hot_context *context, const hot_phantom_options *o, hot_grid *grid)
{
    double spacing[3] = {2, 2, 2}, turn[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    memset(grid, 0, sizeof *grid);
    grid->space = HOT_SPACE_RAS;
    if (o->oblique) {
        /* about z by 25, then x by -20, then y by 15 degrees */
        double c1 = cos(25 * radian), s1 = sin(25 * radian), c2 = cos(-20 * radian), s2 = sin(-20 * radian);
        double c3 = cos(15 * radian), s3 = sin(15 * radian);
        double first[3][3] = {{c1, -s1, 0}, {s1, c1, 0}, {0, 0, 1}};
        double second[3][3] = {{1, 0, 0}, {0, c2, -s2}, {0, s2, c2}};
        double third[3][3] = {{c3, 0, s3}, {0, 1, 0}, {-s3, 0, c3}};
        double both[3][3];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                both[i][j] = second[i][0] * first[0][j] + second[i][1] * first[1][j] + second[i][2] * first[2][j];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                turn[i][j] = third[i][0] * both[0][j] + third[i][1] * both[1][j] + third[i][2] * both[2][j];
        spacing[0] = 2, spacing[1] = 2.1, spacing[2] = 2.5;
        grid->space = HOT_SPACE_LPS;
    }
    if (o->layout != HOT_PHANTOM_CONDITIONS) {
        memcpy(grid->size, o->volume, sizeof grid->size);
    } else {
        grid->size[0] = o->voxels, grid->size[1] = o->condition_count, grid->size[2] = o->snr_count;
    }
    for (int row = 0; row < 3; row++)
        for (int axis = 0; axis < 3; axis++) {
            grid->to_world[row][axis] = turn[row][axis] * spacing[axis];
            /* the middle of the volume at the origin of the world */
            grid->to_world[row][3] -= 0.5 * (double)(grid->size[axis] - 1) * grid->to_world[row][axis];
        }
    if (hot_grid_voxels(grid) == 0)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "a phantom of %zu x %zu x %zu voxels is beyond any memory",
                                grid->size[0], grid->size[1], grid->size[2]);
    return HOT_OK;
}

/* Fills b (volumes) and gradients (volumes x 3). */
static hot_status make_scheme(hot_context *context, const hot_phantom_options *o, const hot_grid *grid, double *b,
                              double *gradients)
{
    if (o->scheme_volumes) {
        double frame[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
        if (o->scheme_image_axes)
            hot_grid_bvec_frame(grid, frame);
        memcpy(b, o->scheme_b, o->scheme_volumes * sizeof *b);
        for (size_t i = 0; i < o->scheme_volumes; i++)
            for (int d = 0; d < 3; d++) {
                const double *g = o->scheme_gradients + 3 * i;
                gradients[3 * i + d] = frame[d][0] * g[0] + frame[d][1] * g[1] + frame[d][2] * g[2];
            }
        return HOT_OK;
    }
    memset(b, 0, o->b0 * sizeof *b);
    memset(gradients, 0, 3 * o->b0 * sizeof *b);
    for (size_t shell = 0; shell < o->shells; shell++) {
        size_t first = o->b0 + shell * o->directions;
        HOT_TRY(hot_scheme_directions(context, o->directions, (unsigned)shell, gradients + 3 * first));
        for (size_t i = 0; i < o->directions; i++)
            b[first + i] = o->shell_b[shell];
    }
    return HOT_OK;
}

/* ---- all voxels ------------------------------------------------------------------------------------------ */

typedef struct making {
    const hot_phantom *phantom;
    const hot_grid *grid;
    size_t voxels, volumes;
    const double *b, *gradients;
    float *signals, *truth, *map;
} making;

static double length_squared(const float v[3])
{
    return (double)v[0] * v[0] + (double)v[1] * v[1] + (double)v[2] * v[2];
}

/* The truth about a voxel other than its directions; its fibres in the order of hot_fiber_field_create, longest
 * first. */
static void make_map(const phantom_voxel *voxel, hot_phantom_tissue tissue, double sigma, const float *truth,
                     float *map)
{
    int order[HOT_PHANTOM_FIBERS] = {0};
    for (int i = 1; i < voxel->fibers; i++) {
        int at = i;
        for (; at > 0 && length_squared(truth + 3 * order[at - 1]) < length_squared(truth + 3 * i); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    memset(map, 0, HOT_PHANTOM_MAP * sizeof *map);
    for (int i = 0; i < voxel->fibers; i++) {
        map[i] = (float)hot_phantom_true_fraction(voxel, tissue, order[i]);
        map[HOT_PHANTOM_FIBERS + i] = (float)(voxel->dispersion[order[i]] / radian);
        map[2 * HOT_PHANTOM_FIBERS + i] = (float)voxel->intra[order[i]];
    }
    const int is_grey = voxel->water_diffusivity == HOT_GREY_DIFFUSIVITY;
    map[9] = (float)(voxel->grey + (is_grey ? voxel->water : 0));
    map[10] = (float)(is_grey ? 0 : voxel->water);
    map[11] = (float)sigma;
}

static void make_voxel(const making *m, size_t index, double *clean)
{
    const hot_phantom_options *o = &m->phantom->options;
    const size_t *size = m->grid->size;
    size_t i = index % size[0], j = index / size[0] % size[1], k = index / size[0] / size[1];
    hot_random random = hot_random_start(m->phantom->seed, STREAM_VOXEL, index);
    phantom_voxel voxel;
    if (o->layout == HOT_PHANTOM_BUNDLES) {
        size_t place[3] = {i, j, k};
        double point[3], spacing[3];
        for (int axis = 0; axis < 3; axis++) {
            double square = 0;
            for (int row = 0; row < 3; row++)
                square += m->grid->to_world[row][axis] * m->grid->to_world[row][axis];
            spacing[axis] = sqrt(square);
            point[axis] = ((double)place[axis] - 0.5 * (double)(size[axis] - 1)) * spacing[axis];
        }
        hot_phantom_bundles(point, 0.5 * (double)size[0] * spacing[0], &voxel);
        for (int f = 0; f < voxel.fibers; f++) {
            double turned[3];
            for (int row = 0; row < 3; row++) {
                turned[row] = 0;
                for (int axis = 0; axis < 3; axis++)
                    turned[row] += m->grid->to_world[row][axis] / spacing[axis] * voxel.direction[f][axis];
            }
            memcpy(voxel.direction[f], turned, sizeof turned);
        }
    } else if (o->layout == HOT_PHANTOM_MIXTURE) {
        hot_phantom_draw_mixture(&random, o, &voxel);
    } else {
        hot_phantom_draw_condition(&random, &o->conditions[j], i, &voxel);
    }
    hot_phantom_draw_tissue(&random, o, &voxel);
    float *truth = m->truth + 3 * HOT_PHANTOM_FIBERS * index;
    memset(truth, 0, 3 * HOT_PHANTOM_FIBERS * sizeof *truth);
    for (int f = 0; f < voxel.fibers; f++)
        for (int d = 0; d < 3; d++)
            truth[3 * f + d] = (float)(voxel.direction[f][d] * hot_phantom_true_fraction(&voxel, o->tissue, f));
    hot_phantom_signals(&voxel, o->tissue, m->volumes, m->b, m->gradients, clean);
    double sigma = hot_phantom_sigma(m->phantom, k) / o->s0;
    if (o->noise_slope > 0 && size[0] > 1)
        sigma *= 1 + o->noise_slope * (2 * (double)i / (double)(size[0] - 1) - 1);
    make_map(&voxel, o->tissue, sigma * o->s0, truth, m->map + HOT_PHANTOM_MAP * index);
    hot_random noise = hot_random_start(m->phantom->seed, STREAM_NOISE, index);
    for (size_t v = 0; v < m->volumes; v++) {
        double n1, n2;
        hot_random_normals(&noise, &n1, &n2);
        double real = clean[v] + sigma * n1, imaginary = sigma * n2, value = real;
        if (sigma > 0 && !o->gaussian)
            value = sqrt(real * real + imaginary * imaginary);
        m->signals[v * m->voxels + index] = (float)(o->s0 * value);
    }
}

static hot_status make_all(hot_context *context, const making *m)
{
    int threads = hot_context_threads(context);
    double *clean = hot_context_alloc(context, (size_t)threads * m->volumes, sizeof *clean);
    if (!clean)
        return HOT_ERROR_MEMORY;
    hot_status status = HOT_OK;
    /* Parts of a fixed number of voxels, each thread its own scratch: the numbers depend on the voxel alone. */
    for (size_t first = 0; first < m->voxels && status == HOT_OK; first += CHUNK) {
        size_t last = m->voxels - first < CHUNK ? m->voxels : first + CHUNK;
#pragma omp parallel for num_threads(hot_team(threads)) schedule(static, 1)
        for (int t = 0; t < threads; t++)
            for (size_t index = first + (size_t)t; index < last; index += (size_t)threads)
                make_voxel(m, index, clean + (size_t)t * m->volumes);
        status = hot_context_progress(context, "making the phantom", (double)last / (double)m->voxels);
    }
    hot_context_free(context, clean);
    return status;
}

/* Copies the options, whose arrays are the caller's. */
static hot_status copy_options(hot_context *context, const hot_phantom_options *o, hot_phantom *made)
{
    made->options = *o;
    made->conditions = copied(context, o->conditions, o->condition_count, sizeof *o->conditions);
    made->snr = copied(context, o->snr, o->snr_count, sizeof *o->snr);
    made->shell_b = copied(context, o->shell_b, o->shells, sizeof *o->shell_b);
    if (o->share)
        made->share = copied(context, o->share, o->condition_count, sizeof *o->share);
    made->options.share = made->share;
    made->options.conditions = made->conditions;
    made->options.snr = made->snr;
    made->options.shell_b = made->shell_b;
    return made->conditions && made->snr && made->shell_b && (!o->share || made->share) ? HOT_OK : HOT_ERROR_MEMORY;
}

/* The number of volumes, if all signals fit into memory's addresses. */
static hot_status count_volumes(hot_context *context, const hot_phantom_options *o, size_t voxels, size_t *volumes)
{
    if (!o->scheme_volumes && o->directions > (SIZE_MAX / 2 - o->b0) / o->shells)
        return hot_context_fail(context, HOT_ERROR_MEMORY, "%zu shells of %zu directions are beyond any memory",
                                o->shells, o->directions);
    *volumes = o->scheme_volumes ? o->scheme_volumes : o->b0 + o->shells * o->directions;
    if (*volumes > SIZE_MAX / sizeof(float) / voxels)
        return hot_context_fail(context, HOT_ERROR_MEMORY,
                                "a phantom of %zu voxels and %zu volumes is beyond any memory", voxels, *volumes);
    return HOT_OK;
}

/* Unit vectors; 0 for b=0. */
static void normalise(size_t volumes, const double *b, double *gradients)
{
    for (size_t v = 0; v < volumes; v++) {
        double *g = gradients + 3 * v, norm = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
        for (int d = 0; d < 3; d++)
            g[d] = norm > 0 && b[v] > 0 ? g[d] / norm : 0;
    }
}

hot_status hot_phantom_create(hot_context *context, const hot_phantom_options *options, hot_phantom **phantom)
{
    HOT_ENTRY(context);
    HOT_CLEAR(phantom);
    HOT_NEED(context, phantom);
    hot_phantom_options o = {.size = sizeof o};
    HOT_TRY(hot_options_read(context, "hot_phantom_options", options, &o));
    fill_options(&o);
    hot_status status = check_options(context, &o);
    if (status != HOT_OK)
        return status;
    hot_grid grid;
    making m = {0};
    double *b = NULL, *gradients = NULL;
    hot_phantom *made = hot_context_calloc(context, 1, sizeof *made);
    if (!made)
        return HOT_ERROR_MEMORY;
    made->context = context;
    made->seed = hot_context_seed(context);
    if ((status = copy_options(context, &o, made)) != HOT_OK || (status = make_grid(context, &o, &grid)) != HOT_OK)
        goto cleanup;
    m.phantom = made;
    m.grid = &grid;
    m.voxels = hot_grid_voxels(&grid);
    if ((status = count_volumes(context, &o, m.voxels, &m.volumes)) != HOT_OK)
        goto cleanup;
    status = HOT_ERROR_MEMORY;
    m.truth = hot_context_alloc(context, m.voxels, 3 * HOT_PHANTOM_FIBERS * sizeof *m.truth);
    m.map = made->tissue_map = hot_context_alloc(context, m.voxels, HOT_PHANTOM_MAP * sizeof *m.map);
    b = hot_context_alloc(context, m.volumes, sizeof *b);
    gradients = hot_context_alloc(context, m.volumes, 3 * sizeof *gradients);
    m.signals = hot_context_alloc(context, m.voxels * m.volumes, sizeof *m.signals);
    if (!m.truth || !m.map || !b || !gradients || !m.signals)
        goto cleanup;
    if ((status = make_scheme(context, &o, &grid, b, gradients)) != HOT_OK)
        goto cleanup;
    normalise(m.volumes, b, gradients);
    m.b = b;
    m.gradients = gradients;
    if ((status = make_all(context, &m)) != HOT_OK)
        goto cleanup;
    if ((status = hot_fiber_field_create(context, &grid, HOT_PHANTOM_FIBERS, m.truth, &made->truth)) != HOT_OK)
        goto cleanup;
    status = hot_dwi_create(context, &grid, m.volumes, b, gradients, m.signals, &made->dwi);
    /* the caller's scheme need not outlive the call: hot_phantom_dwi has it */
    made->options.scheme_b = made->options.scheme_gradients = NULL;
cleanup:
    HOT_FREE(context, b, gradients, m.signals, m.truth);
    if (status != HOT_OK)
        hot_phantom_destroy(&made);
    *phantom = made;
    return status;
}

void hot_phantom_destroy(hot_phantom **phantom)
{
    HOT_DESTROY_BEGIN(hot_phantom, phantom);
    hot_context *context = gone->context;
    hot_dwi_destroy(&gone->dwi);
    HOT_FREE(context, gone->conditions, gone->snr, gone->shell_b, gone->share, gone->tissue_map);
    hot_fiber_field_destroy(&gone->truth);
    hot_context_free(context, gone);
}

const hot_dwi *hot_phantom_dwi(const hot_phantom *phantom) { return phantom ? phantom->dwi : NULL; }
const hot_fiber_field *hot_phantom_truth(const hot_phantom *phantom) { return phantom ? phantom->truth : NULL; }
const float *hot_phantom_tissue_map(const hot_phantom *phantom) { return phantom ? phantom->tissue_map : NULL; }

double hot_phantom_sigma(const hot_phantom *phantom, size_t slice)
{
    if (!phantom)
        return 0;
    const hot_phantom_options *o = &phantom->options;
    double snr = o->snr[o->layout != HOT_PHANTOM_CONDITIONS || slice >= o->snr_count ? 0 : slice];
    return snr > 0 && isfinite(snr) ? o->s0 / snr : 0;
}
