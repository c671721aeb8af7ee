/* Images of a scene: files behind the glyphs, volumes of 4-D images, the tissues and b=0 image of a run. */
#include "scene_images.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/free.h"
#include "io/common/paths.h"
#include "io/common/report.h"

/* Largest distance between corresponding corners of two grids of the same size, RAS mm, and half a voxel of the first.
 * 0 if a space is unknown. */
double hot_grids_apart(const hot_grid *a, const hot_grid *b, double *half)
{
    double m[3][4], n[3][4], max_distance = 0, voxel = HUGE_VAL;
    *half = 0;
    if (a->space == HOT_SPACE_UNKNOWN || b->space == HOT_SPACE_UNKNOWN)
        return 0;
    hot_grid_to_ras(a, m);
    hot_grid_to_ras(b, n);
    for (int corner = 0; corner < 8; corner++) {
        double squared = 0;
        for (int r = 0; r < 3; r++) {
            double apart = m[r][3] - n[r][3];
            for (int c = 0; c < 3; c++)
                apart += (m[r][c] - n[r][c]) * (corner >> c & 1 ? (double)a->size[c] - 1 : 0);
            squared += apart * apart;
        }
        max_distance = fmax(max_distance, sqrt(squared));
    }
    for (int c = 0; c < 3; c++)
        voxel = fmin(voxel, sqrt(m[0][c] * m[0][c] + m[1][c] * m[1][c] + m[2][c] * m[2][c]));
    *half = voxel / 2;
    return max_distance;
}

char *hot_text_copy(hot_context *context, const char *text)
{
    char *made = hot_context_alloc(context, strlen(text) + 1, 1);
    return made ? strcpy(made, text) : NULL;
}

/* ---- Volumes ---------------------------------------------------------------------------------------------- */

/* The base name of a file without suffixes. */
static void base_name(const char *path, char name[HOT_VIEW_NAME])
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    snprintf(name, HOT_VIEW_NAME, "%.*s", (int)strcspn(base, "."), base);
}

/* Loads a colour per voxel; of red, green, blue and opacity the first three. */
static hot_status load_colours(hot_context *context, const char *path, hot_grid *grid, float **values)
{
    size_t count = 0;
    hot_status status = hot_image_load_values(context, path, grid, values, &count);
    if (status == HOT_OK && count != 3 && count != 4) {
        hot_context_free(context, *values);
        *values = NULL;
        status = hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' has %zu values per voxel; colours have 3, or 4",
                                  path, count);
    }
    const size_t voxels = status == HOT_OK ? grid->size[0] * grid->size[1] * grid->size[2] : 0;
    for (size_t n = 0; n < 3 * voxels && count == 4; n++)
        (*values)[n] = (*values)[n / 3 * 4 + n % 3];
    return status;
}

/* Loads an image with one value per voxel, or the first volume of a series of them. */
static hot_status load_volumes(hot_context *context, const char *path, hot_loaded_image *image)
{
    hot_series *series = NULL;
    hot_status status = hot_series_open(context, path, &series);
    if (status != HOT_OK)
        return hot_context_add(context, status, "so '%s' is neither tensors, nor directions, nor an image", path);
    const size_t volumes = hot_series_volumes(series), start = hot_series_start(series);
    image->grid = *hot_series_grid(series);
    const size_t *size = image->grid.size;
    image->values = hot_context_alloc(context, size[0] * size[1] * size[2], sizeof *image->values);
    status = image->values ? hot_series_read(context, series, start, image->values) : HOT_ERROR_MEMORY;
    if (status != HOT_OK || volumes == 1) {
        hot_series_close(&series);
        return status;
    }
    hot_context_log(context, HOT_LOG_NOTE, "'%s' has %zu volumes; --volume N shows another than %s (number %zu, "
                    "counted from 0)", path, volumes, hot_series_has_b0(series) ? "the first with b=0" : "the first",
                    start);
    image->series = series;
    image->frame = start;
    return HOT_OK;
}

/* Puts the values into MRtrix's order of voxels. */
static hot_status reorder(hot_context *context, hot_loaded_image *image)
{
    hot_image_order order;
    hot_image_order_find(&image->grid, &order);
    if (order.same)
        return HOT_OK;
    const size_t *size = image->grid.size, components = (size_t)image->components;
    float *values = hot_context_alloc(context, size[0] * size[1] * size[2], components * sizeof *values);
    if (!values)
        return HOT_ERROR_MEMORY;
    hot_image_order_apply(&order, components, image->values, values);
    hot_context_free(context, image->values);
    image->values = values;
    image->grid = order.grid;
    image->reordered = 1;
    return HOT_OK;
}

hot_status hot_loaded_image_read(hot_context *context, const char *path, int components, int reordered,
                                 hot_loaded_image *image)
{
    *image = (hot_loaded_image){.components = components};
    hot_status status = components == 3 ? load_colours(context, path, &image->grid, &image->values)
                                        : load_volumes(context, path, image);
    if (status == HOT_OK && reordered && hot_path_is_mif(path))
        status = reorder(context, image);
    if (status != HOT_OK)
        hot_loaded_image_free(context, image);
    return status;
}

void hot_loaded_image_free(hot_context *context, hot_loaded_image *image)
{
    hot_context_free(context, image->values);
    hot_series_close(&image->series);
    image->values = NULL;
}

hot_status hot_scene_add_loaded(hot_scene *scene, const char *path, hot_loaded_image *image)
{
    hot_context *context = scene->context;
    const hot_grid *grid = &image->grid;
    float *values = image->values;
    char name[HOT_VIEW_NAME];
    double half;
    hot_status status = HOT_OK;
    base_name(path, name);
    for (int n = 2; hot_scene_volume(scene, name) && n < 100; n++) { /* fa, fa-2, fa-3 */
        char base[HOT_VIEW_NAME];
        base_name(path, base);
        snprintf(name, sizeof name, "%.*s-%d", HOT_VIEW_NAME - 5, base, n);
    }
    image->values = NULL; /* the scene's, also on failure */
    const int same_size = memcmp(grid->size, scene->grid.size, sizeof grid->size) == 0;
    if (same_size && hot_grids_apart(&scene->grid, grid, &half) <= half) {
        status = hot_scene_add_volume(scene, name, image->components, values, 1);
    } else if (grid->space == HOT_SPACE_UNKNOWN || scene->grid.space == HOT_SPACE_UNKNOWN) {
        hot_context_free(context, values);
        status = hot_context_fail(context, HOT_ERROR_DATA,
                                  "'%s' has %zu x %zu x %zu voxels and the glyphs %zu x %zu x %zu; both need a known "
                                  "space, or the same voxels",
                                  path, grid->size[0], grid->size[1], grid->size[2], scene->grid.size[0],
                                  scene->grid.size[1], scene->grid.size[2]);
    } else {
        status = hot_scene_add_image(scene, name, image->components, grid, values);
        if (status != HOT_OK)
            status = hot_context_add(context, status, "in '%s'", path);
    }
    if (status == HOT_OK) {
        hot_view_volume *added = &scene->volume[scene->volumes - 1];
        added->series = image->series;
        added->frame = image->frame;
        added->reordered = image->reordered;
        image->series = NULL;
    }
    hot_loaded_image_free(context, image);
    return status;
}

void hot_scene_close_series(hot_scene *scene)
{
    for (int v = 0; v < scene->volumes; v++)
        hot_series_close(&scene->volume[v].series);
}

/* ---- Volumes of a 4-D image ------------------------------------------------------------------------------- */

hot_status hot_scene_show_frame(hot_scene *scene, const hot_view_state *state)
{
    hot_context *context = scene->context;
    hot_view_volume *volume = (hot_view_volume *)(uintptr_t)hot_scene_volume(scene, state->background);
    if (!volume || !volume->series) {
        if (state->frame > 0)
            return hot_context_fail(context, HOT_ERROR_ARGUMENT, "--volume %d: the image %s has one volume",
                                    state->frame, volume ? volume->name : "none");
        return HOT_OK;
    }
    const size_t count = hot_series_volumes(volume->series);
    const size_t wanted = state->frame < 0 ? hot_series_start(volume->series) : (size_t)state->frame;
    if (wanted >= count)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "--volume %zu: %s has %zu volumes, counted from 0", wanted,
                                volume->name, count);
    if (wanted == volume->frame)
        return HOT_OK;
    hot_status status = HOT_OK;
    if (volume->reordered) {
        const size_t *size = hot_series_grid(volume->series)->size;
        float *values = hot_context_alloc(context, size[0] * size[1] * size[2], sizeof *values);
        hot_image_order order;
        hot_image_order_find(hot_series_grid(volume->series), &order);
        status = values ? hot_series_read(context, volume->series, wanted, values) : HOT_ERROR_MEMORY;
        if (status == HOT_OK)
            hot_image_order_apply(&order, 1, values, volume->owned);
        hot_context_free(context, values);
    } else {
        status = hot_series_read(context, volume->series, wanted, volume->owned);
    }
    volume->frame = wanted;
    scene->changes++;
    return status == HOT_OK ? hot_scene_find_window(scene, volume) : status;
}

int hot_volume_frames(const hot_view_volume *volume)
{
    return volume && volume->series ? (int)hot_series_volumes(volume->series) : 1;
}

int hot_volume_describe_frame(const hot_view_volume *volume, char *text, size_t size)
{
    double b, ras[3];
    text[0] = '\0';
    if (!volume || !volume->series)
        return 0;
    const int used = snprintf(text, size, "volume %zu of %zu", volume->frame + 1, hot_series_volumes(volume->series));
    if (used < 0 || (size_t)used >= size || !hot_series_gradient(volume->series, volume->frame, &b, ras))
        return 1;
    const int more = snprintf(text + used, size - (size_t)used, ", b = %.4g", b);
    if (more > 0 && (size_t)(used + more) < size && (ras[0] != 0 || ras[1] != 0 || ras[2] != 0))
        snprintf(text + used + more, size - (size_t)(used + more), ", direction %.3f %.3f %.3f", ras[0], ras[1],
                 ras[2]);
    return 1;
}

/* ---- A run ------------------------------------------------------------------------------------------------ */

/* The field input.file of the run's report.json, or NULL. */
static char *input_of_run(hot_context *context, const char *folder)
{
    char *inputs = NULL, *path = hot_path_join(context, folder, "report.json");
    cJSON *report = NULL;
    if (path && access(path, F_OK) == 0 && hot_report_load(context, path, &report) == HOT_OK) {
        const cJSON *input = cJSON_GetObjectItem(cJSON_GetObjectItem(report, "input"), "file");
        if (cJSON_IsString(input))
            inputs = hot_text_copy(context, input->valuestring);
    }
    cJSON_Delete(report);
    hot_context_free(context, path);
    return inputs;
}

hot_status hot_scene_load_b0(hot_scene *scene, size_t largest)
{
    hot_context *context = scene->context;
    hot_dwi *dwi = NULL;
    float *values = NULL;
    struct stat info;
    hot_status status = HOT_OK;
    char *path = scene->run ? input_of_run(context, scene->run) : NULL;
    if (!path || stat(path, &info) != 0 || !S_ISREG(info.st_mode)) {
        status = hot_context_fail(
            context, HOT_ERROR_FILE, "the b=0 image needs the run's diffusion data; %s%s%s", path ? "'" : "",
            path ? path : "no report.json names them", path ? "' is missing or not a file" : "");
        goto cleanup;
    }
    if (largest && (size_t)info.st_size > largest)
        goto cleanup;
    status = hot_dwi_load(context, path, NULL, NULL, &dwi);
    for (int d = 0; d < 3 && status == HOT_OK; d++)
        if (hot_dwi_grid(dwi)->size[d] != scene->grid.size[d])
            status = hot_context_fail(context, HOT_ERROR_DATA, "'%s' is not on the tensors' grid", path);
    if (status == HOT_OK) {
        values = hot_context_alloc(context, scene->voxels, sizeof *values);
        status = values ? hot_export_background(context, dwi, values) : HOT_ERROR_MEMORY;
    }
    if (status == HOT_OK) {
        float *given = values;
        values = NULL;
        status = hot_scene_add_volume(scene, "b0", 1, given, 1);
    }
cleanup:
    HOT_FREE(context, values, path);
    hot_dwi_destroy(&dwi);
    return status;
}

hot_status hot_scene_add_tissues(hot_scene *scene)
{
    enum { TISSUES = 3 };
    hot_context *context = scene->context;
    hot_grid grid;
    struct stat info;
    float *amounts = NULL, *colors = NULL;
    size_t count = 0;
    double half;
    char *path = hot_path_join(context, scene->run, "tissues.nii.gz");
    if (!path)
        return HOT_ERROR_MEMORY;
    hot_status status = stat(path, &info) == 0 ? hot_image_load_values(context, path, &grid, &amounts, &count)
                                                : HOT_OK;
    if (status == HOT_OK && amounts &&
        (memcmp(grid.size, scene->grid.size, sizeof grid.size) != 0 ||
         hot_grids_apart(&scene->grid, &grid, &half) > half))
        status = hot_context_fail(context, HOT_ERROR_DATA, "'%s' is not on the glyphs' grid", path);
    if (status == HOT_OK && amounts) {
        colors = hot_context_calloc(context, scene->voxels, TISSUES * sizeof *colors);
        status = colors ? HOT_OK : HOT_ERROR_MEMORY;
        for (size_t v = 0; v < scene->voxels && colors; v++)
            for (size_t t = 0; t < count && t < TISSUES; t++)
                colors[v * TISSUES + TISSUES - 1 - t] = fmaxf(0, amounts[v * count + t]);
    }
    if (colors)
        status = hot_scene_add_volume(scene, "tissues", TISSUES, colors, 1);
    if (colors && status == HOT_OK)
        scene->volume[scene->volumes - 1].reversed = 1;
    HOT_FREE(context, amounts, path);
    return status;
}
