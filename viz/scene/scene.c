#include "scene.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/compare.h"
#include "common/flow.h"
#include "common/free.h"
#include "glyph/glyph.h"
#include "lines.h"

/* ---- Geometry --------------------------------------------------------------------------------------------- */

static int invert_affine(const double m[3][4], double inverse[3][4])
{
    double cofactor[3][3], determinant = 0, size = 1;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            cofactor[r][c] = m[(r + 1) % 3][(c + 1) % 3] * m[(r + 2) % 3][(c + 2) % 3] -
                             m[(r + 1) % 3][(c + 2) % 3] * m[(r + 2) % 3][(c + 1) % 3];
    for (int c = 0; c < 3; c++) {
        determinant += m[0][c] * cofactor[0][c];
        size *= sqrt(m[0][c] * m[0][c] + m[1][c] * m[1][c] + m[2][c] * m[2][c]);
    }
    if (!(fabs(determinant) > 1e-9 * size) || !isfinite(determinant))
        return 0;
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++)
            inverse[r][c] = cofactor[c][r] / determinant;
        inverse[r][3] = -(inverse[r][0] * m[0][3] + inverse[r][1] * m[1][3] + inverse[r][2] * m[2][3]);
    }
    return 1;
}

/* World vector of a grid's space x sign = RAS vector. An unknown space counts as RAS. */
static void ras_sign(hot_space space, double sign[3])
{
    sign[0] = space == HOT_SPACE_LAS || space == HOT_SPACE_LPS ? -1 : 1;
    sign[1] = space == HOT_SPACE_LPS ? -1 : 1;
    sign[2] = 1;
}

static hot_status set_geometry(hot_context *context, hot_scene *scene)
{
    const hot_grid *grid = &scene->grid;
    double sign[3];
    ras_sign(grid->space, sign);
    scene->voxels = 1;
    for (int d = 0; d < 3; d++) {
        if (grid->size[d] == 0 || grid->size[d] > 1000000000 || scene->voxels > SIZE_MAX / grid->size[d])
            return hot_context_fail(context, HOT_ERROR_ARGUMENT, "cannot show %zu x %zu x %zu voxels", grid->size[0],
                                    grid->size[1], grid->size[2]);
        scene->voxels *= grid->size[d];
    }
    for (int r = 0; r < 3; r++) {
        scene->sign[r] = sign[r];
        for (int c = 0; c < 4; c++)
            scene->to_ras[r][c] = sign[r] * grid->to_world[r][c];
    }
    if (!invert_affine((const double (*)[4])scene->to_ras, scene->from_ras))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "cannot show a grid with coplanar axes");
    for (int c = 0; c < 3; c++)
        scene->spacing[c] = sqrt(scene->to_ras[0][c] * scene->to_ras[0][c] + scene->to_ras[1][c] * scene->to_ras[1][c] +
                                 scene->to_ras[2][c] * scene->to_ras[2][c]);
    return HOT_OK;
}

static void apply_affine(const double m[3][4], const double x[3], double y[3])
{
    const double from[3] = {x[0], x[1], x[2]};
    for (int r = 0; r < 3; r++)
        y[r] = m[r][0] * from[0] + m[r][1] * from[1] + m[r][2] * from[2] + m[r][3];
}

void hot_scene_to_ras(const hot_scene *scene, const double voxel[3], double ras[3])
{
    apply_affine((const double (*)[4])scene->to_ras, voxel, ras);
}

void hot_scene_from_ras(const hot_scene *scene, const double ras[3], double voxel[3])
{
    apply_affine((const double (*)[4])scene->from_ras, ras, voxel);
}

void hot_scene_index_to_ras(const hot_scene *scene, size_t index, double ras[3])
{
    const size_t *size = scene->grid.size;
    const double voxel[3] = {(double)(index % size[0]), (double)(index / size[0] % size[1]),
                             (double)(index / size[0] / size[1])};
    hot_scene_to_ras(scene, voxel, ras);
}

void hot_scene_bounds(const hot_scene *scene, double low[3], double high[3])
{
    for (int corner = 0; corner < 8; corner++) {
        double voxel[3], ras[3];
        for (int d = 0; d < 3; d++)
            voxel[d] = corner >> d & 1 ? (double)scene->grid.size[d] - 0.5 : -0.5;
        hot_scene_to_ras(scene, voxel, ras);
        for (int d = 0; d < 3; d++) {
            low[d] = corner == 0 ? ras[d] : fmin(low[d], ras[d]);
            high[d] = corner == 0 ? ras[d] : fmax(high[d], ras[d]);
        }
    }
}

int hot_scene_voxel_at(const hot_scene *scene, const double ras[3], int voxel[3])
{
    double at[3];
    int outside = 0;
    hot_scene_from_ras(scene, ras, at);
    for (int d = 0; d < 3; d++) {
        double last = (double)scene->grid.size[d] - 1, whole = floor(at[d] + 0.5);
        outside |= !(whole >= 0 && whole <= last);
        voxel[d] = (int)fmin(fmax(whole, 0), last); /* NaN becomes 0 */
    }
    return outside;
}

void hot_scene_plane_axes(const hot_scene *scene, int axis[3])
{
    /* the assignment of voxel axes to x, y, z with the largest sum of cosines */
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    double best = -1;
    for (int o = 0; o < 6; o++) {
        double agreement = 0;
        for (int d = 0; d < 3; d++)
            agreement += fabs(scene->to_ras[d][orders[o][d]]) / scene->spacing[orders[o][d]];
        if (agreement > best + 1e-9) {
            best = agreement;
            axis[HOT_PLANE_SAGITTAL] = orders[o][0];
            axis[HOT_PLANE_CORONAL] = orders[o][1];
            axis[HOT_PLANE_AXIAL] = orders[o][2];
        }
    }
}

size_t hot_scene_index(const hot_scene *scene, const int voxel[3])
{
    return (size_t)voxel[0] + scene->grid.size[0] * ((size_t)voxel[1] + scene->grid.size[1] * (size_t)voxel[2]);
}

/* ---- Volumes ---------------------------------------------------------------------------------------------- */

const hot_view_volume *hot_scene_volume(const hot_scene *scene, const char *name)
{
    if (strcmp(name, "auto") == 0)
        return scene->volumes ? &scene->volume[scene->automatic] : NULL;
    for (int v = 0; v < scene->volumes; v++)
        if (strcmp(scene->volume[v].name, name) == 0)
            return &scene->volume[v];
    return NULL;
}

void hot_volume_window(const hot_view_volume *volume, const double chosen[2], double window[2])
{
    memcpy(window, isnan(chosen[0]) ? volume->window : chosen, 2 * sizeof *window);
}

const hot_view_volume *hot_scene_color_volume(const hot_scene *scene, const hot_view_state *state, double range[2])
{
    if (scene->images)
        scene = scene->images;
    const char *name = strcmp(state->color_by, "auto") == 0 ? state->background : state->color_by;
    const hot_view_volume *volume = hot_scene_volume(scene, name);
    if (!volume)
        volume = hot_scene_volume(scene, "auto");
    if (volume)
        hot_volume_window(volume, state->color_range, range);
    else
        memcpy(range, state->color_range, 2 * sizeof *range);
    return volume;
}

/* The nearest voxel of an image with its own grid; NaN outside. */
static void image_values(const hot_view_volume *volume, const double ras[3], float *values)
{
    double at[3];
    size_t index = 0;
    int inside = 1;
    apply_affine((const double (*)[4])volume->from_ras, ras, at);
    for (int d = 2; d >= 0 && inside; d--) {
        const double nearest = floor(at[d] + 0.5);
        inside = nearest >= 0 && nearest < (double)volume->size[d];
        index = index * volume->size[d] + (inside ? (size_t)nearest : 0);
    }
    for (int c = 0; c < volume->components; c++)
        values[c] = inside ? volume->values[index * (size_t)volume->components + (size_t)c] : NAN;
}

void hot_scene_value(const hot_scene *scene, const hot_view_volume *volume, size_t voxel, float *values)
{
    const size_t row = 3 * (size_t)scene->max_fibers;
    const float *peaks = scene->peaks ? scene->peaks + voxel * row : NULL;
    double ras[3];
    switch ((hot_volume_source)volume->source) {
    case HOT_VOLUME_ARRAY:
        if (volume->own_grid) {
            hot_scene_index_to_ras(scene, voxel, ras);
            image_values(volume, ras, values);
            break;
        }
        for (int c = 0; c < volume->components; c++)
            values[c] = volume->values[voxel * (size_t)volume->components + (size_t)c];
        break;
    case HOT_VOLUME_COUNTS:
        values[0] = hot_scene_fibers(scene, voxel);
        break;
    case HOT_VOLUME_DEC: /* sum over fibres of |x| |y| |z| times amplitude and certainty, as in exported files */
        values[0] = values[1] = values[2] = 0;
        for (size_t at = 0; at < row; at++) {
            const float shown = scene->certainty ? scene->certainty[(voxel * row + at) / 3] : 1;
            values[at % 3] += isfinite(peaks[at]) ? shown * fabsf(peaks[at]) : 0;
        }
        break;
    case HOT_VOLUME_AMPLITUDE: /* the longest direction; for tensors alone, the largest radius */
        values[0] = scene->max_fibers ? 0 : scene->radius[voxel];
        for (size_t at = 0; at < row; at += 3) {
            float length = sqrtf(peaks[at] * peaks[at] + peaks[at + 1] * peaks[at + 1] + peaks[at + 2] * peaks[at + 2]);
            if (isfinite(length) && length > values[0])
                values[0] = length;
        }
        break;
    }
}

double hot_volume_floor(const double window[2])
{
    static const double DARK = 0.1; /* of the window: noise around the head is below it */
    return window[0] + DARK * (window[1] - window[0]);
}

static int is_above(const hot_view_volume *volume, const float *values, double floor)
{
    for (int c = 0; c < volume->components; c++)
        if ((double)values[c] > floor)
            return 1;
    return 0; /* NaN is not above */
}

int hot_scene_image_is_seen(const hot_scene *scene, const hot_view_state *state, const double ras[3])
{
    const hot_view_volume *volume = state->show_image ? hot_scene_volume(scene, state->background) : NULL;
    float values[3];
    double window[2];
    int voxel[3];
    const int outside = hot_scene_voxel_at(scene, ras, voxel);
    const size_t index = hot_scene_index(scene, voxel);
    if (!volume || (outside && !volume->own_grid) || (!outside && scene->mask && !scene->mask[index]))
        return 0;
    if (volume->own_grid)
        image_values(volume, ras, values);
    else
        hot_scene_value(scene, volume, index, values);
    hot_volume_window(volume, state->window, window);
    return is_above(volume, values, hot_volume_floor(window));
}

int hot_scene_fibers(const hot_scene *scene, size_t voxel)
{
    int count = 0;
    if (scene->counts)
        return scene->counts[voxel];
    for (int fiber = 0; fiber < scene->max_fibers; fiber++) {
        const float *v = scene->peaks + 3 * (voxel * (size_t)scene->max_fibers + (size_t)fiber);
        count += v[0] != 0 || v[1] != 0 || v[2] != 0;
    }
    return count;
}

int hot_scene_has_surface(const hot_scene *scene, const hot_view_state *state, size_t voxel)
{
    return scene->radius[voxel] > 0 && (double)scene->radius[voxel] >= state->threshold &&
           (state->surfaces == HOT_SURFACES_ALL || !scene->max_fibers || hot_scene_fibers(scene, voxel) > 0);
}

/* Whether a voxel counts for the typical size of glyphs: those drawn by default. */
static int is_shown(const hot_scene *scene, size_t voxel)
{
    return (!scene->mask || scene->mask[voxel]) && (!scene->max_fibers || hot_scene_fibers(scene, voxel) > 0);
}

/* Quantiles low and high (0 to 1) of a volume's finite non-zero values, from an evenly spaced subset. shown: only
 * voxels drawn by default. Both are 0 without such values. */
static hot_status percentiles(const hot_scene *scene, const hot_view_volume *volume, int shown, double low,
                              double high, double result[2])
{
    enum { MAX_SAMPLES = 100000 };
    const int own = volume->own_grid;
    const size_t voxels = own ? volume->size[0] * volume->size[1] * volume->size[2] : scene->voxels;
    const size_t step = voxels / MAX_SAMPLES + 1;
    size_t taken = 0;
    float *sample = hot_context_alloc(scene->context, voxels / step + 1, 3 * sizeof *sample), values[3];
    if (!sample)
        return HOT_ERROR_MEMORY;
    for (size_t voxel = 0; voxel < voxels; voxel += step) {
        if (shown && !is_shown(scene, voxel))
            continue;
        if (own)
            memcpy(values, volume->values + voxel * (size_t)volume->components,
                   (size_t)volume->components * sizeof *values);
        else
            hot_scene_value(scene, volume, voxel, values);
        for (int c = 0; c < volume->components; c++)
            if (isfinite(values[c]) && values[c] != 0)
                sample[taken++] = values[c];
    }
    qsort(sample, taken, sizeof *sample, hot_ascending_f32);
    result[0] = taken ? sample[(size_t)(low * (double)(taken - 1))] : 0;
    result[1] = taken ? sample[(size_t)(high * (double)(taken - 1))] : 0;
    hot_context_free(scene->context, sample);
    return HOT_OK;
}

hot_status hot_scene_find_window(hot_scene *scene, hot_view_volume *volume)
{
    double window[2];
    HOT_TRY(percentiles(scene, volume, 0, 0.02, 0.98, window));
    volume->window[0] = fmin(window[0], 0); /* zero is black */
    volume->window[1] = volume->source == HOT_VOLUME_COUNTS ? fmax(1, scene->max_fibers) : window[1];
    if (!(volume->window[0] < volume->window[1]))
        volume->window[1] = volume->window[0] + 1;
    return HOT_OK;
}

/* Adds a volume whose name, components, source and values are set. */
static hot_status add(hot_scene *scene, const hot_view_volume *volume)
{
    hot_view_volume *added = &scene->volume[scene->volumes];
    if (scene->volumes == HOT_SCENE_VOLUMES)
        return hot_context_fail(scene->context, HOT_ERROR_ARGUMENT, "more than %d volumes", HOT_SCENE_VOLUMES);
    *added = *volume;
    hot_status status = hot_scene_find_window(scene, added);
    scene->volumes += status == HOT_OK;
    return status;
}

/* ---- Where the content is --------------------------------------------------------------------------------- */

/* Whether a voxel has a glyph by default, or, in scenes without glyphs, is not black in the image. */
static int has_content(const hot_scene *scene, const hot_view_volume *image, size_t voxel)
{
    float values[3];
    if (!image)
        return is_shown(scene, voxel) && (scene->max_fibers || scene->radius[voxel] > 0);
    hot_scene_value(scene, image, voxel, values);
    return is_above(image, values, hot_volume_floor(image->window));
}

/* Sets low, high and start. image: NULL with glyphs. The middle slice is kept if it has at least half the content of
 * the fullest one: scans are expected to open at their middle. */
static hot_status find_content(hot_scene *scene, const hot_view_volume *image)
{
    const size_t *size = scene->grid.size, most = size[0] + size[1] + size[2];
    size_t *count = hot_context_calloc(scene->context, most, sizeof *count), voxel = 0;
    size_t *const along[3] = {count, count + size[0], count + size[0] + size[1]};
    if (!count)
        return HOT_ERROR_MEMORY;
    for (size_t k = 0; k < size[2]; k++)
        for (size_t j = 0; j < size[1]; j++)
            for (size_t i = 0; i < size[0]; i++, voxel++)
                if (has_content(scene, image, voxel)) {
                    along[0][i]++;
                    along[1][j]++;
                    along[2][k]++;
                }
    for (int d = 0; d < 3; d++) {
        const int middle = (int)(size[d] / 2);
        int best = middle, low = 0, high = (int)size[d] - 1;
        for (int s = 0; s < (int)size[d]; s++) {
            const int nearer = abs(s - middle) < abs(best - middle);
            if (along[d][s] > along[d][best] || (along[d][s] == along[d][best] && nearer))
                best = s;
        }
        scene->start[d] = 2 * along[d][middle] >= along[d][best] ? middle : best;
        while (low < best && !along[d][low])
            low++;
        while (high > best && !along[d][high])
            high--;
        scene->low[d] = along[d][best] ? low : 0;
        scene->high[d] = along[d][best] ? high : (int)size[d] - 1;
    }
    hot_context_free(scene->context, count);
    return HOT_OK;
}

/* Adds an array. The first given image becomes the volume "auto". */
static hot_status add_array(hot_scene *scene, const char *name, hot_view_volume *volume)
{
    strncpy(volume->name, name, sizeof volume->name - 1);
    volume->source = HOT_VOLUME_ARRAY;
    const int first = scene->volume[scene->automatic].source != HOT_VOLUME_ARRAY || scene->volumes == 0;
    hot_status status = add(scene, volume);
    if (status != HOT_OK)
        hot_context_free(scene->context, volume->owned);
    else if (first)
        scene->automatic = scene->volumes - 1;
    if (status == HOT_OK && first && !scene->order && !scene->max_fibers)
        status = find_content(scene, &scene->volume[scene->automatic]);
    return status;
}

hot_status hot_scene_add_volume(hot_scene *scene, const char *name, int components, const float *values, int owned)
{
    hot_view_volume volume = {.components = components, .values = values};
    volume.owned = owned ? (float *)(uintptr_t)values : NULL;
    return add_array(scene, name, &volume);
}

/* Whether a grid has voxel centres inside another one. Tests 32 centres along each axis, ends included. */
static int reaches_into(const double to_ras[3][4], const size_t size[3], const double from_ras[3][4],
                        const size_t other[3])
{
    enum { STEPS = 32 };
    for (int k = 0; k < STEPS; k++)
        for (int j = 0; j < STEPS; j++)
            for (int i = 0; i < STEPS; i++) {
                const int step[3] = {i, j, k};
                double at[3];
                int inside = 1;
                for (int d = 0; d < 3; d++)
                    at[d] = floor(((double)size[d] - 1) * step[d] / (STEPS - 1) + 0.5);
                apply_affine(to_ras, at, at);
                apply_affine(from_ras, at, at);
                for (int d = 0; d < 3; d++)
                    inside &= at[d] >= -0.5 && at[d] <= (double)other[d] - 0.5;
                if (inside)
                    return 1;
            }
    return 0;
}

/* RAS mm of the grid's centre. */
static void find_middle(const double to_ras[3][4], const size_t size[3], double middle[3])
{
    for (int d = 0; d < 3; d++)
        middle[d] = ((double)size[d] - 1) / 2;
    apply_affine(to_ras, middle, middle);
}

hot_status hot_scene_add_image(hot_scene *scene, const char *name, int components, const hot_grid *grid, float *values)
{
    hot_view_volume volume = {.components = components, .values = values, .owned = values, .own_grid = 1};
    double sign[3], to_ras[3][4], middle[2][3];
    hot_status status = HOT_OK;
    ras_sign(grid->space, sign);
    memcpy(volume.size, grid->size, sizeof volume.size);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++)
            to_ras[r][c] = sign[r] * grid->to_world[r][c];
    if (!invert_affine((const double (*)[4])to_ras, volume.from_ras))
        status = hot_context_fail(scene->context, HOT_ERROR_DATA, "an image grid with coplanar axes");
    else if (!reaches_into((const double (*)[4])to_ras, grid->size, (const double (*)[4])scene->from_ras,
                           scene->grid.size) &&
             !reaches_into((const double (*)[4])scene->to_ras, scene->grid.size,
                           (const double (*)[4])volume.from_ras, grid->size)) {
        find_middle((const double (*)[4])to_ras, grid->size, middle[0]);
        find_middle((const double (*)[4])scene->to_ras, scene->grid.size, middle[1]);
        status = hot_context_fail(
            scene->context, HOT_ERROR_DATA,
            "the image does not overlap the glyphs: its centre is at RAS %.1f %.1f %.1f mm, theirs at %.1f %.1f %.1f",
            middle[0][0], middle[0][1], middle[0][2], middle[1][0], middle[1][1], middle[1][2]);
    }
    if (status == HOT_OK)
        return add_array(scene, name, &volume);
    hot_context_free(scene->context, values);
    return status;
}

/* ---- Scenes ----------------------------------------------------------------------------------------------- */

static hot_status device_radii(hot_context *context, hot_scene *scene)
{
    hot_glyph_scan scan;
    HOT_TRY(hot_interop_load(context, &scene->interop));
    HOT_TRY(hot_glyph_scan_make(context, scene->order, &scan));
    const int error = scene->interop->radii(&scan, scene->voxels, scene->device_tensors, scene->radius);
    return hot_interop_status(context, scene->interop, error, "measuring tensors");
}

const float *hot_scene_row(const hot_scene *scene, size_t voxel, float buffer[1 + HOT_GLYPH_TERMS])
{
    const size_t terms = hot_symtensor_count(scene->order, 3);
    if (scene->tensors)
        return scene->tensors + voxel * (terms + 1);
    const int error = scene->interop->fetch((int)terms, scene->device_tensors, voxel, buffer);
    return hot_interop_status(scene->context, scene->interop, error, "reading a tensor") == HOT_OK ? buffer : NULL;
}

/* Computes the radii, the typical sizes and the volumes derived from the fields. The quantile must not be higher: in
 * real data a tenth of the voxels are noise with large radii, which would shrink all other glyphs to dots. */
static hot_status measure(hot_context *context, hot_scene *scene, const float *radius)
{
    static const double TYPICAL_QUANTILE = 0.75;
    double result[2];
    hot_status status = HOT_OK;
    if (scene->order) {
        scene->radius = hot_context_alloc(context, scene->voxels, sizeof *scene->radius);
        if (!scene->radius)
            return HOT_ERROR_MEMORY;
        if (radius)
            memcpy(scene->radius, radius, scene->voxels * sizeof *radius);
        else
            status = scene->device_tensors
                     ? device_radii(context, scene)
                     : hot_glyph_radii(context, scene->order, scene->voxels, scene->tensors, scene->radius);
        const hot_view_volume radii = {.components = 1, .values = scene->radius};
        if (status == HOT_OK)
            status = percentiles(scene, &radii, 1, 0, TYPICAL_QUANTILE, result);
        if (status == HOT_OK && !(result[1] > 0)) /* no voxel with fibres: --surfaces all still draws surfaces */
            status = percentiles(scene, &radii, 0, 0, TYPICAL_QUANTILE, result);
        scene->typical_radius = status == HOT_OK && result[1] > 0 ? result[1] : 1;
    }
    const hot_view_volume own[] = {
        {.name = "amplitude", .components = 1, .source = HOT_VOLUME_AMPLITUDE},
        {.name = "dec", .components = 3, .source = HOT_VOLUME_DEC},
        {.name = "nfibers", .components = 1, .source = HOT_VOLUME_COUNTS},
    };
    if (status == HOT_OK && scene->max_fibers)
        status = percentiles(scene, &own[0], 1, 0, TYPICAL_QUANTILE, result);
    if (scene->max_fibers)
        scene->typical_amplitude = status == HOT_OK && result[1] > 0 ? result[1] : 1;
    for (int v = 0; status == HOT_OK && v < (scene->max_fibers ? 3 : scene->order ? 1 : 0); v++)
        status = add(scene, &own[v]);
    if (status == HOT_OK && (scene->order || scene->max_fibers))
        status = find_content(scene, NULL);
    return status;
}

hot_status hot_scene_create(hot_context *context, const hot_scene_parts *parts, hot_scene **scene)
{
    *scene = NULL;
    if (!parts->tensors && !parts->device_tensors && !parts->peaks && !parts->images)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "nothing to show: neither tensors nor directions");
    hot_scene *made = hot_context_calloc(context, 1, sizeof *made);
    if (!made)
        return HOT_ERROR_MEMORY;
    /* identifies uploaded data even if a later scene reuses the same memory */
    static atomic_uint number;
    made->serial = 1 + atomic_fetch_add(&number, 1);
    made->context = context;
    made->grid = parts->grid;
    made->order = parts->tensors || parts->device_tensors ? parts->order : 0;
    made->diffusion = parts->diffusion && made->order == 2;
    made->tensors = parts->tensors;
    made->device_tensors = parts->tensors ? NULL : parts->device_tensors;
    made->max_fibers = parts->peaks ? parts->max_fibers : 0;
    made->peaks = parts->peaks;
    made->counts = parts->counts;
    made->certainty = parts->peaks ? parts->certainty : NULL;
    made->mask = parts->mask;
    hot_status status = set_geometry(context, made);
    for (int d = 0; d < 3 && status == HOT_OK; d++) { /* until there is content */
        made->start[d] = (int)(made->grid.size[d] / 2);
        made->high[d] = (int)made->grid.size[d] - 1;
    }
    if (status == HOT_OK)
        status = measure(context, made, parts->radius);
    if (status != HOT_OK)
        hot_scene_destroy(&made);
    *scene = made;
    return status;
}

void hot_scene_destroy(hot_scene **scene)
{
    HOT_DESTROY_BEGIN(hot_scene, scene);
    hot_context *context = gone->context;
    for (int v = 0; v < gone->volumes; v++)
        hot_context_free(context, gone->volume[v].owned);
    for (int p = 0; p < gone->paths; p++)
        hot_context_free(context, gone->path[p]);
    while (gone->sources)
        hot_scene_drop_source(gone);
    hot_context_free(context, gone->radius);
    if (gone->release)
        gone->release(gone);
    hot_context_free(context, gone);
}

void hot_scene_drop_source(hot_scene *scene)
{
    hot_scene_source *gone = &scene->source[--scene->sources];
    hot_scene_destroy(&gone->set);
    HOT_FREE(scene->context, gone->lines ? gone->lines->line : NULL, gone->lines);
}
