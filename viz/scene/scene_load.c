/* Scenes from files and from fields in memory. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/flow.h"
#include "io/common/fiber_archive.h"
#include "io/common/paths.h"
#include "io/common/tracks.h"
#include "fixels.h"
#include "glyph_size.h"
#include "scene_images.h"
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
    const char *tracks;                  /* streamlines; NULL = none */
    const hot_scene_reading *reading;
    int harmonics;                       /* 1: a file holds spherical harmonics */
    int image_order;                     /* 1: of .mif files: voxels as MRtrix counts them */
};

static int is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
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
    enum { MAX_ORDER = 8 };
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
    if (hot_tracks_named(path)) {
        inputs->tracks = path;
        return HOT_OK;
    }
    if (hot_path_has_suffix(path, ".vtp") || hot_fiber_archive_named(path)) {
        hot_status status = (hot_path_has_suffix(path, ".vtp") ? hot_vtp_load
                                                               : hot_fiber_archive_load)(context, path, &fibers);
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
    if (strncmp(held, "tensor", 6) == 0 || strcmp(held, "sh") == 0) {
        const hot_sh_options harmonics = {.size = sizeof harmonics, .basis = inputs->reading->basis,
                                          .frame = inputs->reading->frame, .content = "sh"};
        inputs->harmonics |= held[0] == 's';
        status = held[0] == 's' ? hot_tensor_field_load_sh(context, path, &harmonics, &tensors)
                                : hot_tensor_field_load_as(context, path, content, &tensors);
        if (status == HOT_OK && hot_tensor_field_order(tensors) > MAX_ORDER) {
            status = hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' has harmonics of lmax %d; surfaces are drawn up "
                                      "to lmax %d (its first 45 volumes)", path, hot_tensor_field_order(tensors),
                                      MAX_ORDER);
            hot_tensor_field_destroy(&tensors);
        }
        return status == HOT_OK ? set_tensors(context, inputs, path, tensors) : status;
    }
    if (strcmp(held, "rgb") != 0 && strcmp(held, "dwi") != 0 && strcmp(held, "map") != 0) {
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
        char *path = hot_path_join(context, folder, names[n]);
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
    const double max_distance = hot_grids_apart(a, b, &half);
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
        .diffusion = tensors ? hot_model_is_diffusion(hot_tensor_field_model(tensors)) : 1, /* device: not known */
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
    hot_scene_close_series(scene);
    hot_tensor_field_destroy(&scene->tensor_field);
    hot_fiber_field_destroy(&scene->fiber_field);
    hot_mask_destroy(&scene->mask_field);
}

void hot_scene_own_fields(hot_scene *scene, hot_tensor_field *tensors, hot_fiber_field *fibers, hot_mask *mask)
{
    scene->tensor_field = tensors;
    scene->fiber_field = fibers;
    scene->mask_field = mask;
    scene->release = release_fields;
}

static hot_status store_paths(hot_context *context, hot_scene *scene, const char *const *paths, int count)
{
    size_t used = 0;
    for (int p = 0; p < count; p++) {
        const char *slash = strrchr(paths[p], '/'), *base = slash && slash[1] ? slash + 1 : paths[p];
        scene->path[p] = hot_text_copy(context, paths[p]);
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

/* ---- MRtrix's order of voxels ------------------------------------------------------------------------------ */

/* Whether all files with glyphs, or of images alone the first, are MRtrix's: others count as their own tools do, and
 * files that belong together must be on one grid. */
static int is_image_order(const struct inputs *inputs, const char *const *paths, int count)
{
    int glyphs = 0, theirs = 0;
    for (int p = 0; p < count; p++) {
        int image = hot_tracks_named(paths[p]);
        for (int v = 0; v < inputs->volumes; v++)
            image |= inputs->volume[v] == paths[p];
        const char *end = hot_fixels_named(paths[p]) ? hot_fixels_index(paths[p]) : paths[p];
        glyphs += !image;
        theirs += !image && hot_path_is_mif(end);
    }
    return glyphs ? theirs == glyphs : inputs->volumes && hot_path_is_mif(inputs->volume[0]);
}

static hot_status reorder_fields(hot_context *context, struct inputs *inputs)
{
    hot_fiber_field *fibers = NULL;
    hot_tensor_field *tensors = NULL;
    float *values = NULL;
    hot_image_order order;
    hot_status status = HOT_OK;
    if (inputs->fibers) {
        const size_t row = 3 * (size_t)hot_fiber_field_max(inputs->fibers);
        hot_image_order_find(hot_fiber_field_grid(inputs->fibers), &order);
        values = hot_context_alloc(context, order.grid.size[0] * order.grid.size[1] * order.grid.size[2],
                                   row * sizeof *values);
        if (!values)
            return HOT_ERROR_MEMORY;
        hot_image_order_apply(&order, row, hot_fiber_field_peaks(inputs->fibers), values);
        status = hot_fiber_field_create(context, &order.grid, (int)(row / 3), values, &fibers);
        hot_context_free(context, values);
        if (status != HOT_OK)
            return status;
        hot_fiber_field_destroy(&inputs->fibers);
        inputs->fibers = fibers;
    }
    if (!inputs->tensors)
        return HOT_OK;
    const int of = hot_tensor_field_order(inputs->tensors);
    const size_t row = 1 + hot_symtensor_count(of, 3);
    hot_image_order_find(hot_tensor_field_grid(inputs->tensors), &order);
    values = hot_context_alloc(context, order.grid.size[0] * order.grid.size[1] * order.grid.size[2],
                               row * sizeof *values);
    if (!values)
        return HOT_ERROR_MEMORY;
    hot_image_order_apply(&order, row, hot_tensor_field_values(inputs->tensors), values);
    const int diffusion = hot_model_is_diffusion(hot_tensor_field_model(inputs->tensors)); /* all that is shown of it */
    status = hot_tensor_field_create(context, &order.grid, of, diffusion ? "adc" : "odf", values, &tensors);
    hot_context_free(context, values);
    if (status == HOT_OK) {
        hot_tensor_field_destroy(&inputs->tensors);
        inputs->tensors = tensors;
    }
    return status;
}

static hot_status read_fixels(hot_context *context, struct inputs *inputs, const char *path)
{
    hot_fiber_field *fibers = NULL;
    hot_status status = hot_fixels_load(context, path, &fibers);
    return status == HOT_OK ? set_fibers(context, inputs, path, fibers) : status;
}

/* Streamlines alone: a grid around them, of 1 mm or more. It is `image`'s, which has no values. */
static hot_status make_track_grid(hot_context *context, const char *path, const hot_grid **grid,
                                  hot_loaded_image *image)
{
    enum { MAX_SIDE = 256 };
    hot_tracks tracks;
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, mm = 1;
    HOT_TRY(hot_tracks_load(context, path, &tracks));
    for (size_t p = 0; p < 3 * tracks.points; p++) {
        low[p % 3] = fmin(low[p % 3], (double)tracks.point[p / 3][p % 3]);
        high[p % 3] = fmax(high[p % 3], (double)tracks.point[p / 3][p % 3]);
    }
    const size_t points = tracks.points;
    hot_tracks_free(context, &tracks);
    for (int d = 0; d < 3; d++)
        mm = fmax(mm, (high[d] - low[d]) / MAX_SIDE);
    if (points == 0 || !(mm < 1e6))
        return hot_context_fail(context, HOT_ERROR_DATA, points ? "the streamlines of '%s' reach too far"
                                                                : "'%s' has no streamlines", path);
    image->grid = (hot_grid){{0}, {{0}}, HOT_SPACE_RAS};
    for (int d = 0; d < 3; d++) {
        image->grid.size[d] = (size_t)((high[d] - low[d]) / mm) + 2;
        image->grid.to_world[d][d] = mm;
        image->grid.to_world[d][3] = floor(low[d] / mm) * mm;
    }
    *grid = &image->grid;
    return HOT_OK;
}

/* Reads the inputs' files and puts tensors and directions on one grid. Without any of these *image is the first image.
 * *grid: the scene's. */
static hot_status read_inputs(hot_context *context, struct inputs *inputs, const char *const *paths, int count,
                              const char *content, hot_loaded_image *image, const hot_grid **grid)
{
    hot_status status = HOT_OK;
    for (int p = 0; p < count && status == HOT_OK; p++)
        status = hot_fixels_named(paths[p]) ? read_fixels(context, inputs, paths[p])
                 : is_folder(paths[p])      ? read_run(context, inputs, paths[p])
                                            : read_file(context, inputs, paths[p], content);
    const hot_scene_reading *reading = inputs->reading;
    if (status == HOT_OK && !inputs->harmonics && (reading->basis || reading->frame))
        status = hot_context_fail(context, HOT_ERROR_ARGUMENT, "--%s: no file holds spherical harmonics",
                                  reading->basis ? "basis" : "frame");
    inputs->image_order = status == HOT_OK && is_image_order(inputs, paths, count);
    if (inputs->image_order)
        status = reorder_fields(context, inputs);
    if (status == HOT_OK && !inputs->tensors && !inputs->fibers && !inputs->volumes)
        return make_track_grid(context, inputs->tracks, grid, image);
    if (status == HOT_OK && !inputs->tensors && !inputs->fibers)
        status = hot_loaded_image_read(context, inputs->volume[0], inputs->colours[0] ? 3 : 1, inputs->image_order,
                                       image);
    if (status != HOT_OK)
        return status;
    *grid = inputs->tensors  ? hot_tensor_field_grid(inputs->tensors)
            : inputs->fibers ? hot_fiber_field_grid(inputs->fibers)
                             : &image->grid;
    if (inputs->tensors && inputs->fibers) {
        status = compare_grids(context, *grid, hot_fiber_field_grid(inputs->fibers));
        if (status == HOT_OK)
            status = reorient_fibers(context, *grid, &inputs->fibers);
    }
    return status;
}

/* Adds the image volumes: the given files (the first of them may be loaded as `image`), and those of a run. */
static hot_status add_volumes(hot_context *context, hot_scene *scene, const struct inputs *inputs,
                              hot_loaded_image *image)
{
    enum { SMALL = 32 << 20 }; /* bytes: smaller diffusion data are read for their b=0 image without a request */
    hot_status status = HOT_OK;
    for (int v = 0; v < inputs->volumes && status == HOT_OK; v++) {
        if (v > 0 || !image->values)
            status = hot_loaded_image_read(context, inputs->volume[v], inputs->colours[v] ? 3 : 1, inputs->image_order,
                                           image);
        if (status == HOT_OK)
            status = hot_scene_add_loaded(scene, inputs->volume[v], image);
    }
    if (status == HOT_OK && scene->run)
        status = hot_scene_add_tissues(scene);
    /* a run without its diffusion data has the amplitude as background */
    if (status == HOT_OK && scene->run && hot_scene_load_b0(scene, SMALL) == HOT_ERROR_MEMORY)
        status = HOT_ERROR_MEMORY;
    return status;
}

hot_status hot_scene_load_as(hot_context *context, const char *const *paths, int count, const char *mask,
                             const char *content, hot_scene **scene)
{
    return hot_scene_load_with(context, paths, count, &(const hot_scene_reading){.mask = mask, .content = content},
                               scene);
}

hot_status hot_scene_load_with(hot_context *context, const char *const *paths, int count,
                               const hot_scene_reading *reading, hot_scene **scene)
{
    const char *mask = reading->mask, *content = reading->content;
    struct inputs inputs = {.several = count > 1, .reading = reading};
    hot_scene *made = NULL;
    const hot_grid *grid = NULL;
    hot_loaded_image image = {.values = NULL};
    *scene = NULL;
    if (count < 1 || count > HOT_SCENE_PATHS)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                count < 1 ? "no file was given" : "more than %d files were given", HOT_SCENE_PATHS);
    hot_status status = read_inputs(context, &inputs, paths, count, content, &image, &grid);
    if (status == HOT_OK && mask)
        status = hot_mask_load(context, mask, grid, &inputs.mask);
    if (status == HOT_OK)
        status = make_scene(context, inputs.tensors, NULL, inputs.fibers, inputs.mask,
                            inputs.tensors || inputs.fibers ? NULL : grid, &made);
    if (status != HOT_OK) {
        hot_loaded_image_free(context, &image);
        hot_tensor_field_destroy(&inputs.tensors);
        hot_fiber_field_destroy(&inputs.fibers);
        hot_mask_destroy(&inputs.mask);
        return status;
    }
    hot_scene_own_fields(made, inputs.tensors, inputs.fibers, inputs.mask);
    made->image_order = inputs.image_order;
    snprintf(made->content, sizeof made->content, "%s", content ? content : "");
    snprintf(made->basis, sizeof made->basis, "%s", reading->basis ? reading->basis : "");
    snprintf(made->frame, sizeof made->frame, "%s", reading->frame ? reading->frame : "");
    status = store_paths(context, made, paths, count);
    if (status == HOT_OK)
        status = add_volumes(context, made, &inputs, &image);
    else
        hot_loaded_image_free(context, &image);
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
