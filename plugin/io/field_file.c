#include "field_file.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/arguments.h"
#include "common/entry.h"
#include "common/options.h"
#include "dwi/frames.h"
#include "field_stream.h"
#include "image_content.h"
#include "io/common/directions_check.h"
#include "io/common/input.h"
#include "io/common/paths.h"
#include "io/nrrd/nrrd_directions.h"
#include "io/nrrd/nrrd_read.h"
#include "io/nrrd/nrrd_tensors.h"
#include "io/nrrd/nrrd_image.h"
#include "tensors_image.h"

/* Vectors along a last axis of 3, fibres along the one before, as NumPy's arrays of shape (..., n, 3) are saved: the
 * values of a vector side by side, which is how all else expects them. */
static void put_vectors_in_order(hot_image *image)
{
    const size_t vectors = image->values / 3, *from = image->position;
    if (image->value_axes != 2 || image->last_values != 3 || vectors == 3)
        return;
    size_t *to = hot_context_alloc(image->context, image->values, sizeof *to);
    for (size_t f = 0; to && f < vectors; f++)
        for (size_t d = 0; d < 3; d++)
            to[3 * f + d] = from[f + d * vectors];
    if (!to)
        return;
    hot_context_free(image->context, image->position);
    image->position = to;
}

/* 3 values per fibre in scanner axes, or those of the bvecs. */
static hot_status load_directions(hot_image *image, hot_fiber_field **fibers)
{
    hot_context *context = image->context;
    double frame[3][3];
    const size_t voxels = hot_grid_voxels(&image->grid), vectors = image->values / 3;
    if (image->values < 3 || image->values % 3 != 0 || vectors > 255)
        return hot_context_fail(context, HOT_ERROR_FORMAT,
                                "'%s' holds no directions: %zu volumes, where 3 per fibre were expected", image->name,
                                image->values);
    hot_image_warn_unplaced(image);
    hot_status status = hot_image_read(image);
    float *peaks = status == HOT_OK ? hot_context_alloc(context, voxels, image->values * sizeof *peaks) : NULL;
    if (status == HOT_OK)
        status = peaks ? hot_image_values(image, 0, voxels, peaks) : HOT_ERROR_MEMORY;
    if (status == HOT_OK && image->content == HOT_CONTENT_DYADS) {
        hot_grid_bvec_frame(&image->grid, frame);
        for (size_t i = 0; i < voxels * vectors; i++) {
            const float v[3] = {peaks[3 * i], peaks[3 * i + 1], peaks[3 * i + 2]};
            for (int d = 0; d < 3; d++)
                peaks[3 * i + (size_t)d] = (float)(frame[d][0] * v[0] + frame[d][1] * v[1] + frame[d][2] * v[2]);
        }
    }
    if (status == HOT_OK)
        status = hot_fiber_field_adopt(context, &image->grid, (int)vectors, &peaks, fibers);
    hot_context_free(context, peaks);
    return status;
}

/* The contents that an array with this many values can have, before anything large is read. */
static hot_status check_count(const hot_image *image, int wanted)
{
    const int directions = image->values % 3 == 0 && image->values <= 3 * 255;
    const int sh = hot_sh_lmax(image->values) > 0;
    const int tensors = hot_tensors_image_order(image->values) || image->values == 6 || image->values == 9 ||
                        (image->layout == HOT_LAYOUT_WORLD && hot_tensors_image_order(image->values + 1));
    if ((wanted & HOT_TAKE_PEAKS && directions) || (wanted & HOT_TAKE_SH && sh) ||
        (wanted & HOT_TAKE_TENSOR && tensors))
        return HOT_OK;
    if (wanted & HOT_TAKE_PEAKS && !(wanted & HOT_TAKE_SH))
        return hot_context_fail(image->context, HOT_ERROR_FORMAT,
                                "'%s' holds no directions: %zu volumes, where 3 per fibre were expected", image->name,
                                image->values);
    if (wanted & HOT_TAKE_SH)
        return hot_harmonics_refuse_count(image);
    return hot_context_fail(image->context, HOT_ERROR_FORMAT,
                            "'%s' holds no tensors: %zu volumes, where 7, 16, 29 or 46 (order 2, 4, 6, 8 with a "
                            "confidence) or 6 (order 2) were expected; `hotfiber peaks` takes spherical harmonics",
                            image->name, image->values);
}

/* The file's content; an error if the call cannot use it. */
static hot_status find_content(hot_image *image, const char *as, int wanted, const hot_fiber_field *const *fibers,
                               const hot_tensor_field *const *tensors)
{
    const hot_status status = hot_image_find_content(image, as, wanted);
    const int is_tensor = image->content == HOT_CONTENT_SH || image->content == HOT_CONTENT_TENSOR;
    if (status == HOT_OK && (is_tensor ? !tensors : !fibers))
        return hot_context_fail(image->context, HOT_ERROR_FORMAT, "'%s' holds no %s", image->name,
                                hot_wanted_name(wanted));
    return status;
}

/* Another format than NRRD. */
static hot_status load_image(hot_context *context, hot_input *input, const char *as, int wanted,
                             const hot_sh_reading *harmonics, hot_fiber_field **fibers, hot_tensor_field **tensors)
{
    const char *what = hot_wanted_name(wanted);
    hot_image image = {0};
    hot_status status = as ? HOT_OK : hot_directions_check_tables(context, input->path, what);
    if (status == HOT_OK)
        status = hot_image_open_input(context, input, &image);
    if (status == HOT_OK && !as)
        status = hot_directions_check_scheme(&image, what);
    if (status == HOT_OK && wanted & HOT_TAKE_PEAKS && !(as && strcmp(as, "peaks") != 0))
        put_vectors_in_order(&image);
    if (status == HOT_OK && !(wanted & HOT_TAKE_PEAKS) && image.values != 9)
        status = hot_image_check_one_list(&image, wanted & HOT_TAKE_SH ? "spherical harmonics" : "tensors");
    if (status == HOT_OK && !as && image.content == HOT_CONTENT_UNKNOWN)
        status = check_count(&image, wanted);
    if (status == HOT_OK)
        status = find_content(&image, as, wanted, (const hot_fiber_field *const *)fibers,
                              (const hot_tensor_field *const *)tensors);
    if (status == HOT_OK)
        status = image.content == HOT_CONTENT_SH       ? hot_harmonics_load(&image, harmonics, tensors)
                 : image.content == HOT_CONTENT_TENSOR ? hot_tensors_image_load(&image, tensors)
                                                       : load_directions(&image, fibers);
    hot_image_close(&image);
    return status;
}

/* An NRRD in memory, which may be freed, as what its image says. */
static hot_status take_nrrd(hot_image *image, const char *path, Nrrd **nrrd, const hot_sh_reading *harmonics,
                            hot_fiber_field **fibers, hot_tensor_field **tensors)
{
    const int turned = image->layout != HOT_LAYOUT_WORLD && image->layout != HOT_LAYOUT_UNKNOWN;
    if (image->content == HOT_CONTENT_SH)
        return hot_harmonics_load(image, harmonics, tensors);
    if (image->content == HOT_CONTENT_TENSOR && turned)
        return hot_tensors_image_load(image, tensors);
    if (image->content == HOT_CONTENT_TENSOR)
        return hot_nrrd_take_tensors(image->context, path, nrrd, tensors);
    return hot_nrrd_take_directions(image->context, path, nrrd, fibers);
}

static hot_status load_nrrd(hot_context *context, hot_input *input, const char *as, int wanted,
                            const hot_sh_reading *harmonics, hot_fiber_field **fibers, hot_tensor_field **tensors)
{
    Nrrd *nrrd = NULL;
    hot_image image = {0};
    hot_status status = hot_nrrd_load_from(context, input->path, hot_input_take_file(input), &nrrd);
    if (status == HOT_OK)
        status = hot_nrrd_image(context, hot_input_name(input->path), nrrd, &image);
    if (status == HOT_OK && !as && image.content == HOT_CONTENT_UNKNOWN && nrrd->dim == 4)
        status = check_count(&image, wanted);
    if (status == HOT_OK)
        status = find_content(&image, as, wanted, (const hot_fiber_field *const *)fibers,
                              (const hot_tensor_field *const *)tensors);
    if (status == HOT_OK)
        status = take_nrrd(&image, input->path, &nrrd, harmonics, fibers, tensors);
    image.data = NULL; /* the array's */
    hot_image_close(&image);
    hot_nrrd_free(context, nrrd);
    return status;
}

static hot_status take_image(hot_image *image, hot_stream_field *field)
{
    hot_context *context = image->context;
    const size_t voxels = hot_grid_voxels(&image->grid);
    if (image->content == HOT_CONTENT_SH)
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' holds spherical harmonics; `hotfiber peaks` finds "
                                                           "their directions", image->name);
    if (image->content == HOT_CONTENT_DWI || (image->values != 1 && image->values != 3))
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' has %zu values per voxel, and is neither directions, "
                                "tensors, nor an image of 1 or 3", image->name, image->values);
    field->image = hot_context_alloc(context, voxels, image->values * sizeof *field->image);
    field->values = (int)image->values;
    return field->image ? hot_image_values(image, 0, voxels, field->image) : HOT_ERROR_MEMORY;
}

hot_status hot_field_read_nrrd(hot_context *context, hot_input *input, const char *as, hot_stream_field *field)
{
    Nrrd *nrrd = NULL;
    hot_image image = {0};
    hot_status status = hot_nrrd_load_from(context, input->path, hot_input_take_file(input), &nrrd);
    if (status == HOT_OK)
        status = hot_nrrd_image(context, hot_input_name(input->path), nrrd, &image);
    if (status == HOT_OK && !as && image.content == HOT_CONTENT_UNKNOWN && check_count(&image, HOT_TAKE_ANY) != HOT_OK)
        image.content = HOT_CONTENT_MAP;
    if (status == HOT_OK)
        status = hot_image_find_content(&image, as, HOT_TAKE_ANY);
    field->grid = image.grid;
    if (status == HOT_OK && (image.content == HOT_CONTENT_PEAKS || image.content == HOT_CONTENT_TENSOR))
        status = take_nrrd(&image, input->path, &nrrd, NULL, &field->fibers, &field->tensors);
    else if (status == HOT_OK)
        status = take_image(&image, field);
    image.data = NULL; /* the array's */
    hot_image_close(&image);
    hot_nrrd_free(context, nrrd);
    if (status == HOT_OK && field->fibers)
        field->grid = field->fibers->grid;
    if (status == HOT_OK && field->tensors)
        field->grid = field->tensors->grid;
    return status;
}

hot_status hot_field_load(hot_context *context, const char *path, const char *as, const hot_sh_reading *harmonics,
                          hot_fiber_field **fibers, hot_tensor_field **tensors)
{
    const int wanted = (fibers ? HOT_TAKE_PEAKS : 0) | (tensors ? HOT_TAKE_TENSOR : 0) | (harmonics ? HOT_TAKE_SH : 0);
    hot_input input;
    hot_status status = hot_input_open(context, path, &input);
    HOT_CLEAR(fibers);
    HOT_CLEAR(tensors);
    if (status == HOT_OK)
        status = input.kind == HOT_FILE_NRRD ? load_nrrd(context, &input, as, wanted, harmonics, fibers, tensors)
                                             : load_image(context, &input, as, wanted, harmonics, fibers, tensors);
    hot_input_close(context, &input);
    return status;
}

/* Directions of a run's folder, and how certain they are. */
static hot_status load_folder(hot_context *context, const char *folder, const char *content, hot_fiber_field **fibers)
{
    static const char *const names[] = {"peaks.nrrd", "peaks.nii.gz"};
    char *path = hot_path_join(context, folder, names[0]);
    if (path && access(path, F_OK) != 0) {
        hot_context_free(context, path);
        path = hot_path_join(context, folder, names[1]);
    }
    hot_status status = path ? hot_field_load(context, path, content, NULL, fibers, NULL) : HOT_ERROR_MEMORY;
    if (status == HOT_OK && (status = hot_run_folder_certainty(context, folder, *fibers)) != HOT_OK)
        hot_fiber_field_destroy(fibers);
    hot_context_free(context, path);
    return status;
}

hot_status hot_fiber_field_load_as(hot_context *context, const char *path, const char *content,
                                   hot_fiber_field **fibers)
{
    HOT_ENTRY(context);
    HOT_CLEAR(fibers);
    HOT_NEED(context, path, fibers);
    struct stat about;
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
        return load_folder(context, path, content, fibers);
    return hot_field_load(context, path, content, NULL, fibers, NULL);
}

hot_status hot_fiber_field_load(hot_context *context, const char *path, hot_fiber_field **fibers)
{
    HOT_ENTRY(context);
    return hot_fiber_field_load_as(context, path, NULL, fibers);
}

hot_status hot_tensor_field_load_as(hot_context *context, const char *path, const char *content,
                                    hot_tensor_field **field)
{
    HOT_ENTRY(context);
    HOT_CLEAR(field);
    HOT_NEED(context, path, field);
    return hot_field_load(context, path, content, NULL, NULL, field);
}

hot_status hot_tensor_field_load(hot_context *context, const char *path, hot_tensor_field **field)
{
    HOT_ENTRY(context);
    return hot_tensor_field_load_as(context, path, NULL, field);
}

hot_status hot_tensor_field_load_sh(hot_context *context, const char *path, const hot_sh_options *options,
                                    hot_tensor_field **field)
{
    HOT_ENTRY(context);
    HOT_CLEAR(field);
    HOT_NEED(context, path, field);
    hot_sh_options given = {.size = sizeof given};
    hot_sh_basis basis = HOT_SH_TOURNIER07;
    HOT_TRY(hot_options_read(context, "hot_sh_options", options, &given));
    if (given.basis && !hot_sh_basis_find(given.basis, &basis))
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "basis",
                                          "there is no basis '%s'; there are tournier07, descoteaux07 and "
                                          "descoteaux07_legacy", given.basis);
    const char *frame = given.frame ? given.frame : basis == HOT_SH_TOURNIER07 ? "scanner" : "bvec";
    if (strcmp(frame, "scanner") != 0 && strcmp(frame, "bvec") != 0 && strcmp(frame, "image") != 0)
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "frame",
                                          "there is no frame '%s'; there are scanner, bvec and image", frame);
    /* a basis or a frame alone says as much as "sh" */
    const char *content = given.content ? given.content : given.basis || given.frame ? "sh" : NULL;
    return hot_field_load(context, path, content, &(const hot_sh_reading){basis, frame}, NULL, field);
}

hot_status hot_file_content(hot_context *context, const char *path, const char **content)
{
    HOT_ENTRY(context);
    HOT_CLEAR(content);
    HOT_NEED(context, path, content);
    hot_image image = {0};
    hot_status status = hot_image_open(context, path, &image);
    if (status == HOT_OK && (hot_directions_check_tables(context, path, "") != HOT_OK ||
                             hot_directions_check_scheme(&image, "") != HOT_OK))
        image.content = HOT_CONTENT_DWI;
    if (status == HOT_OK && image.content == HOT_CONTENT_UNKNOWN && check_count(&image, HOT_TAKE_ANY) != HOT_OK)
        image.content = HOT_CONTENT_MAP;
    if (status == HOT_OK)
        status = hot_image_find_content(&image, NULL, HOT_TAKE_ANY);
    if (status == HOT_OK)
        *content = hot_content_word(image.content);
    hot_image_close(&image);
    return status;
}
