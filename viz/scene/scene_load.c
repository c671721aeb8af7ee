/* Scenes from files and from fields in memory. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/common/report.h"
#include "scene.h"
#include "vtp.h"

/* Contents of the given paths. */
struct inputs {
    hot_tensor_field *tensors;
    hot_fiber_field *fibers;
    hot_mask *mask;
    const char *volume[HOT_SCENE_PATHS]; /* images, read after the grid is known */
    int colours[HOT_SCENE_PATHS];        /* 1: that image holds a colour per voxel */
    int volumes, several;
    const char *run;                     /* a directory of `hotfiber run` */
};

static int ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), part = strlen(end);
    return length >= part && strcmp(text + length - part, end) == 0;
}

static int is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static char *join(hot_context *context, const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = hot_context_alloc(context, size, 1);
    if (path)
        snprintf(path, size, "%s%s%s", folder, ends_with(folder, "/") ? "" : "/", name);
    return path;
}

static char *copy(hot_context *context, const char *text)
{
    char *made = hot_context_alloc(context, strlen(text) + 1, 1);
    return made ? strcpy(made, text) : NULL;
}

/* ---- Files ------------------------------------------------------------------------------------------------ */

static hot_status fail_second(hot_context *context, const char *path, const char *what)
{
    return hot_context_fail(context, HOT_ERROR_ARGUMENT, "'%s' is a second file of %s; only one can be shown", path,
                            what);
}

/* Each kind of field may be given once. */
static hot_status set_fibers(hot_context *context, struct inputs *inputs, const char *path, hot_fiber_field *fibers)
{
    if (inputs->fibers) {
        hot_fiber_field_destroy(&fibers);
        return fail_second(context, path, "directions");
    }
    inputs->fibers = fibers;
    return HOT_OK;
}

static hot_status set_tensors(hot_context *context, struct inputs *inputs, const char *path, hot_tensor_field *tensors)
{
    if (inputs->tensors) {
        hot_tensor_field_destroy(&tensors);
        return fail_second(context, path, "tensors");
    }
    inputs->tensors = tensors;
    return HOT_OK;
}

/* Reads tensors or directions; an image is only noted for later. content: the --as option, or NULL. */
static hot_status read_file(hot_context *context, struct inputs *inputs, const char *path, const char *content)
{
    hot_fiber_field *fibers = NULL;
    hot_tensor_field *tensors = NULL;
    const char *held = NULL;
    struct stat info;
    if (stat(path, &info) != 0)
        return hot_context_fail(context, HOT_ERROR_FILE, "cannot read '%s': %s", path, strerror(errno));
    /* the start is read to detect the content, and the file is read again when it changes */
    if (!S_ISREG(info.st_mode))
        return hot_context_fail(context, HOT_ERROR_FILE,
                                "'%s' is a pipe or a device, and the viewer reads a file more than once: save it to a "
                                "file first", path);
    if (ends_with(path, ".vtp")) {
        hot_status status = hot_vtp_load(context, path, &fibers);
        return status == HOT_OK ? set_fibers(context, inputs, path, fibers) : status;
    }
    hot_status status = HOT_OK;
    if (!content || inputs->several) {
        status = hot_file_content(context, path, &held);
        if (status == HOT_ERROR_FORMAT && content)
            status = HOT_OK, held = content;
        else if (status == HOT_OK)
            content = NULL;
    } else
        held = content;
    if (status != HOT_OK)
        return status;
    if (strncmp(held, "tensor", 6) == 0) {
        status = hot_tensor_field_load_as(context, path, content, &tensors);
        return status == HOT_OK ? set_tensors(context, inputs, path, tensors) : status;
    }
    if (strcmp(held, "rgb") != 0 && strcmp(held, "dwi") != 0 && strcmp(held, "map") != 0) {
        /* directions; this also rejects spherical harmonics with a message */
        status = hot_fiber_field_load_as(context, path, content, &fibers);
        return status == HOT_OK ? set_fibers(context, inputs, path, fibers) : status;
    }
    inputs->colours[inputs->volumes] = strcmp(held, "rgb") == 0;
    inputs->volume[inputs->volumes++] = path;
    return HOT_OK;
}

static hot_status read_run(hot_context *context, struct inputs *inputs, const char *folder)
{
    static const char *const names[2] = {"tensors.nrrd", "peaks.nrrd"};
    struct stat info;
    hot_status status = HOT_OK;
    int had = 0;
    for (int n = 0; n < 2 && status == HOT_OK; n++) {
        char *path = join(context, folder, names[n]);
        if (!path)
            return HOT_ERROR_MEMORY;
        if (stat(path, &info) == 0) {
            const int volumes = inputs->volumes;
            hot_fiber_field *fibers = NULL;
            status = n ? hot_fiber_field_load(context, folder, &fibers) : read_file(context, inputs, path, NULL);
            if (fibers)
                status = set_fibers(context, inputs, path, fibers);
            had++;
            if (status == HOT_OK && inputs->volumes != volumes)
                status = hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' holds neither tensors nor directions", path);
        }
        hot_context_free(context, path);
    }
    if (status == HOT_OK && !had)
        status = hot_context_fail(
            context, HOT_ERROR_FILE,
            "'%s' is not a directory of `hotfiber run`: it has neither tensors.nrrd nor peaks.nrrd", folder);
    inputs->run = folder;
    return status;
}

/* ---- Grids ------------------------------------------------------------------------------------------------ */

/* Largest distance between corresponding corners of two grids of the same size, RAS mm, and half a voxel of the first.
 * 0 if a space is unknown. */
static double grids_apart(const hot_grid *a, const hot_grid *b, double *half)
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

/* Errors: HOT_ERROR_DATA if tensors and directions have different grids. */
static hot_status compare_grids(hot_context *context, const hot_grid *a, const hot_grid *b)
{
    double half;
    for (int d = 0; d < 3; d++)
        if (a->size[d] != b->size[d])
            return hot_context_fail(context, HOT_ERROR_DATA,
                                    "tensors have %zu x %zu x %zu voxels and directions %zu x %zu x %zu: they do not "
                                    "belong together",
                                    a->size[0], a->size[1], a->size[2], b->size[0], b->size[1], b->size[2]);
    const double max_distance = grids_apart(a, b, &half);
    if (max_distance > half)
        return hot_context_fail(context, HOT_ERROR_DATA,
                                "tensors and directions are up to %.3g mm apart: they do not belong together",
                                max_distance);
    return HOT_OK;
}

/* Converts directions to the tensors' space: a scene has one space. */
static hot_status reorient_fibers(hot_context *context, const hot_grid *grid, hot_fiber_field **fibers)
{
    const int max_fibers = hot_fiber_field_max(*fibers);
    const size_t values = grid->size[0] * grid->size[1] * grid->size[2] * 3 * (size_t)max_fibers;
    double from[3], to[3];
    hot_space_ras_sign(hot_fiber_field_grid(*fibers)->space, from);
    hot_space_ras_sign(grid->space, to);
    if (from[0] == to[0] && from[1] == to[1] && from[2] == to[2])
        return HOT_OK;
    hot_fiber_field *moved = NULL;
    float *turned = hot_context_alloc(context, values, sizeof *turned);
    if (!turned)
        return HOT_ERROR_MEMORY;
    for (size_t v = 0; v < values; v++)
        turned[v] = (float)(from[v % 3] * to[v % 3]) * hot_fiber_field_peaks(*fibers)[v];
    hot_status status = hot_fiber_field_create(context, grid, max_fibers, turned, &moved);
    hot_context_free(context, turned);
    if (status == HOT_OK) { /* the order within a voxel stays */
        status = hot_fiber_field_set_certainty(context, moved, hot_fiber_field_certainty(*fibers));
        hot_fiber_field_destroy(fibers);
        *fibers = moved;
    }
    return status;
}

static hot_status make_scene(hot_context *context, const hot_tensor_field *tensors,
                             const hot_view_device_tensors *device, const hot_fiber_field *fibers, const hot_mask *mask,
                             const hot_grid *images, hot_scene **scene)
{
    const hot_grid *grid = tensors ? hot_tensor_field_grid(tensors)
                           : device ? device->grid
                           : fibers ? hot_fiber_field_grid(fibers) : images;
    const hot_scene_parts parts = {
        .grid = grid ? *grid : (hot_grid){{0}, {{0}}, 0},
        .order = tensors ? hot_tensor_field_order(tensors) : device ? device->order : 0,
        .tensors = tensors ? hot_tensor_field_values(tensors) : NULL,
        .device_tensors = device ? device->values : NULL,
        .max_fibers = fibers ? hot_fiber_field_max(fibers) : 0,
        .peaks = fibers ? hot_fiber_field_peaks(fibers) : NULL,
        .counts = fibers ? hot_fiber_field_counts(fibers) : NULL, .certainty = hot_fiber_field_certainty(fibers),
        .mask = mask ? hot_mask_bytes(mask) : NULL,
        .images = images != NULL,
    };
    return hot_scene_create(context, &parts, scene);
}

/* ---- Volumes ---------------------------------------------------------------------------------------------- */

/* The base name of a file without suffixes. */
static void base_name(const char *path, char name[HOT_VIEW_NAME])
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    snprintf(name, HOT_VIEW_NAME, "%.*s", (int)strcspn(base, "."), base);
}

/* The first b=0 volume of diffusion data, or the first volume if there is no b=0. */
static hot_status first_volume(hot_context *context, const hot_dwi *dwi, hot_grid *grid, float **values)
{
    enum { CHUNK = 2048 };
    *grid = *hot_dwi_grid(dwi);
    const size_t voxels = grid->size[0] * grid->size[1] * grid->size[2], volumes = hot_dwi_volumes(dwi);
    const int *shell_of;
    size_t volume = 0;
    hot_dwi_shells(dwi, NULL, &shell_of);
    while (hot_dwi_has_b0(dwi) && shell_of[volume] != 0)
        volume++;
    hot_context_log(context, HOT_LOG_NOTE, "'%s' has %zu volumes; showing %s (number %zu, counted from 0)",
                    hot_dwi_source(dwi), volumes, hot_dwi_has_b0(dwi) ? "the first with b=0" : "the first", volume);
    *values = hot_context_alloc(context, voxels, sizeof **values);
    float *signals = hot_context_alloc(context, CHUNK * volumes, sizeof *signals);
    hot_status status = *values && signals ? HOT_OK : HOT_ERROR_MEMORY;
    for (size_t first = 0; first < voxels && status == HOT_OK; first += CHUNK) {
        const size_t count = voxels - first < CHUNK ? voxels - first : CHUNK;
        status = hot_dwi_read(context, dwi, first, count, signals);
        for (size_t v = 0; v < count && status == HOT_OK; v++)
            (*values)[first + v] = signals[v * volumes + volume];
    }
    hot_context_free(context, signals);
    if (status != HOT_OK) {
        hot_context_free(context, *values);
        *values = NULL;
    }
    return status;
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

/* Loads an image with one value per voxel, or one volume of diffusion data. components: 3 = an image of colours. */
static hot_status load_image(hot_context *context, const char *path, int components, hot_grid *grid, float **values)
{
    hot_dwi *dwi = NULL;
    *values = NULL;
    if (components == 3)
        return load_colours(context, path, grid, values);
    hot_status status = hot_dwi_load(context, path, NULL, NULL, &dwi);
    if (status == HOT_OK) {
        status = first_volume(context, dwi, grid, values);
        hot_dwi_destroy(&dwi);
        return status;
    }
    status = hot_image_load(context, path, grid, values);
    return status == HOT_OK ? HOT_OK
                            : hot_context_add(context, status,
                                              "so '%s' is neither tensors, nor directions, nor an image", path);
}

/* Adds an image on the scene's grid or its own. loaded: its values if they are in memory already (on the scene's grid),
 * else NULL. */
static hot_status add_file(hot_context *context, hot_scene *scene, const char *path, int components, float *loaded)
{
    float *values = NULL;
    hot_grid grid;
    char name[HOT_VIEW_NAME];
    double half;
    base_name(path, name);
    if (loaded)
        return hot_scene_add_volume(scene, name, components, loaded, 1);
    hot_status status = load_image(context, path, components, &grid, &values);
    if (status != HOT_OK)
        return status;
    const int same_size = memcmp(grid.size, scene->grid.size, sizeof grid.size) == 0;
    if (same_size && grids_apart(&scene->grid, &grid, &half) <= half)
        return hot_scene_add_volume(scene, name, components, values, 1);
    if (grid.space == HOT_SPACE_UNKNOWN || scene->grid.space == HOT_SPACE_UNKNOWN) {
        hot_context_free(context, values);
        return hot_context_fail(context, HOT_ERROR_DATA,
                                "'%s' has %zu x %zu x %zu voxels and the glyphs %zu x %zu x %zu; both need a known "
                                "space, or the same voxels",
                                path, grid.size[0], grid.size[1], grid.size[2], scene->grid.size[0],
                                scene->grid.size[1], scene->grid.size[2]);
    }
    status = hot_scene_add_image(scene, name, components, &grid, values);
    return status == HOT_OK ? HOT_OK : hot_context_add(context, status, "in '%s'", path);
}

/* The field input.file of the run's report.json, or NULL. */
static char *input_of_run(hot_context *context, const char *folder)
{
    char *inputs = NULL, *path = join(context, folder, "report.json");
    cJSON *report = NULL;
    if (path && access(path, F_OK) == 0 && hot_report_load(context, path, &report) == HOT_OK) {
        const cJSON *input = cJSON_GetObjectItem(cJSON_GetObjectItem(report, "input"), "file");
        if (cJSON_IsString(input))
            inputs = copy(context, input->valuestring);
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
    hot_context_free(context, values);
    hot_context_free(context, path);
    hot_dwi_destroy(&dwi);
    return status;
}

/* Tissue fractions of a run with msmt, if any: white matter blue, grey matter green, CSF red. MRtrix's order is CSF,
 * grey matter, white matter. */
static hot_status add_tissues(hot_scene *scene)
{
    enum { TISSUES = 3 };
    hot_context *context = scene->context;
    hot_grid grid;
    struct stat info;
    float *amounts = NULL, *colors = NULL;
    size_t count = 0;
    double half;
    char *path = join(context, scene->run, "tissues.nii.gz");
    if (!path)
        return HOT_ERROR_MEMORY;
    hot_status status = stat(path, &info) == 0 ? hot_image_load_values(context, path, &grid, &amounts, &count)
                                                : HOT_OK;
    if (status == HOT_OK && amounts &&
        (memcmp(grid.size, scene->grid.size, sizeof grid.size) != 0 ||
         grids_apart(&scene->grid, &grid, &half) > half))
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
    hot_context_free(context, amounts);
    hot_context_free(context, path);
    return status;
}

/* ---- Scenes ----------------------------------------------------------------------------------------------- */

/* Newest modification time of the scene's files; -1 if one is missing. */
static double newest_change(const hot_scene *scene)
{
    static const char *const names[2] = {"tensors.nrrd", "peaks.nrrd"};
    double newest = 0;
    struct stat info;
    for (int p = 0; p < scene->paths; p++) {
        if (stat(scene->path[p], &info) != 0)
            return -1;
        const int folder = S_ISDIR(info.st_mode);
        for (int n = 0; n < (folder ? 2 : 1); n++) {
            char inside[4096];
            snprintf(inside, sizeof inside, "%s/%s", scene->path[p], names[n]);
            if (folder && stat(inside, &info) != 0)
                continue;
            newest = fmax(newest, (double)info.st_mtim.tv_sec + 1e-9 * (double)info.st_mtim.tv_nsec);
        }
    }
    return newest;
}

int hot_scene_changed(const hot_scene *scene) { return newest_change(scene) != scene->file_stamp; }

static void release_fields(hot_scene *scene)
{
    hot_tensor_field_destroy(&scene->tensor_field);
    hot_fiber_field_destroy(&scene->fiber_field);
    hot_mask_destroy(&scene->mask_field);
}

static hot_status store_paths(hot_context *context, hot_scene *scene, const char *const *paths, int count)
{
    size_t used = 0;
    for (int p = 0; p < count; p++) {
        const char *slash = strrchr(paths[p], '/'), *base = slash && slash[1] ? slash + 1 : paths[p];
        scene->path[p] = copy(context, paths[p]);
        if (!scene->path[p])
            return HOT_ERROR_MEMORY;
        scene->paths++;
        used += (size_t)snprintf(scene->title + used, sizeof scene->title - used, "%s%s", p ? ", " : "", base);
        if (used >= sizeof scene->title)
            used = sizeof scene->title - 1;
        if (is_folder(paths[p]))
            scene->run = scene->path[p];
    }
    scene->file_stamp = newest_change(scene);
    return HOT_OK;
}

hot_status hot_scene_load(hot_context *context, const char *const *paths, int count, const char *mask,
                          hot_scene **scene)
{
    return hot_scene_load_as(context, paths, count, mask, NULL, scene);
}

/* Reads the inputs' files and puts tensors and directions on one grid. Without any of these *image is the first image,
 * else NULL. *grid: the scene's. */
static hot_status read_inputs(hot_context *context, struct inputs *inputs, const char *const *paths, int count,
                              const char *content, hot_grid *image_grid, float **image, const hot_grid **grid)
{
    hot_status status = HOT_OK;
    for (int p = 0; p < count && status == HOT_OK; p++)
        status = is_folder(paths[p]) ? read_run(context, inputs, paths[p])
                                     : read_file(context, inputs, paths[p], content);
    if (status == HOT_OK && !inputs->tensors && !inputs->fibers)
        status = load_image(context, inputs->volume[0], inputs->colours[0] ? 3 : 1, image_grid, image);
    if (status != HOT_OK)
        return status;
    *grid = inputs->tensors  ? hot_tensor_field_grid(inputs->tensors)
            : inputs->fibers ? hot_fiber_field_grid(inputs->fibers)
                             : image_grid;
    if (inputs->tensors && inputs->fibers) {
        status = compare_grids(context, *grid, hot_fiber_field_grid(inputs->fibers));
        if (status == HOT_OK)
            status = reorient_fibers(context, *grid, &inputs->fibers);
    }
    return status;
}

/* Adds the image volumes: the given files (the first of them may be loaded as `image`), and those of a run. */
static hot_status add_volumes(hot_context *context, hot_scene *scene, const struct inputs *inputs, float *image)
{
    enum { SMALL = 32 << 20 }; /* bytes: smaller diffusion data are read for their b=0 image without a request */
    hot_status status = HOT_OK;
    for (int v = 0; v < inputs->volumes && status == HOT_OK; v++) /* frees the image */
        status = add_file(context, scene, inputs->volume[v], inputs->colours[v] ? 3 : 1, v == 0 ? image : NULL);
    if (status == HOT_OK && scene->run)
        status = add_tissues(scene);
    /* a run without its diffusion data has the amplitude as background */
    if (status == HOT_OK && scene->run && hot_scene_load_b0(scene, SMALL) == HOT_ERROR_MEMORY)
        status = HOT_ERROR_MEMORY;
    return status;
}

hot_status hot_scene_load_as(hot_context *context, const char *const *paths, int count, const char *mask,
                             const char *content, hot_scene **scene)
{
    struct inputs inputs = {.several = count > 1};
    hot_scene *made = NULL;
    hot_grid image_grid;
    const hot_grid *grid = NULL;
    float *image = NULL;
    *scene = NULL;
    if (count < 1 || count > HOT_SCENE_PATHS)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                count < 1 ? "no file was given" : "more than %d files were given", HOT_SCENE_PATHS);
    hot_status status = read_inputs(context, &inputs, paths, count, content, &image_grid, &image, &grid);
    if (status == HOT_OK && mask)
        status = hot_mask_load(context, mask, grid, &inputs.mask);
    if (status == HOT_OK)
        status = make_scene(context, inputs.tensors, NULL, inputs.fibers, inputs.mask, image ? grid : NULL, &made);
    if (status != HOT_OK) {
        hot_context_free(context, image);
        hot_tensor_field_destroy(&inputs.tensors);
        hot_fiber_field_destroy(&inputs.fibers);
        hot_mask_destroy(&inputs.mask);
        return status;
    }
    made->tensor_field = inputs.tensors;
    made->fiber_field = inputs.fibers;
    made->mask_field = inputs.mask;
    made->release = release_fields;
    snprintf(made->content, sizeof made->content, "%s", content ? content : "");
    status = store_paths(context, made, paths, count);
    if (status == HOT_OK)
        status = add_volumes(context, made, &inputs, image);
    else
        hot_context_free(context, image);
    if (status != HOT_OK)
        hot_scene_destroy(&made);
    *scene = made;
    return status;
}

hot_status hot_scene_from_fields(hot_context *context, const hot_view_fields *fields, hot_scene **scene)
{
    *scene = NULL;
    const hot_view_device_tensors *device = fields->device_tensors;
    const hot_grid *tensors = fields->tensors ? hot_tensor_field_grid(fields->tensors) : device ? device->grid : NULL;
    const hot_grid *fibers = fields->fibers ? hot_fiber_field_grid(fields->fibers) : NULL;
    hot_status status = HOT_OK;
    if (fields->tensors && device)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "tensors and device_tensors are both set; only one can "
                                                            "be shown");
    if (device && (!device->grid || !device->values))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "device_tensors: %s is NULL",
                                device->grid ? "values" : "grid");
    if (tensors && fibers) {
        status = compare_grids(context, tensors, fibers);
        if (status == HOT_OK && tensors->space != fibers->space)
            status = hot_context_fail(context, HOT_ERROR_ARGUMENT, "tensors and directions are in different spaces");
    }
    if (status == HOT_OK)
        status = make_scene(context, fields->tensors, device, fields->fibers, fields->mask, NULL, scene);
    if (status == HOT_OK && fields->background) {
        status = hot_scene_add_volume(*scene, "background", 1, fields->background, 0);
        if (status != HOT_OK)
            hot_scene_destroy(scene);
    }
    return status;
}
