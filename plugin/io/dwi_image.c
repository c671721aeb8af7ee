/* DWI data from an image and a gradient table: NIfTI with FSL's bval and bvec, MIF with its dw_scheme. */
#include "dwi_image.h"

#include <math.h>
#include <string.h>

#include "core/image.h"
#include "dwi/paged.h"
#include "dwi/dwi_private.h"
#include "dwi/empty.h"
#include "dwi/frames.h"
#include "io/common/gradient_files.h"
#include "io/common/paths.h"
#include "gradient_find.h"
#include "vector_lengths.h"

/* How far from 1 the squared lengths of unit vectors are: FSL's tables are rounded, MRtrix's are not. */
#define FSL_LIMIT 0.01
#define MRTRIX_LIMIT 1e-5

/* QSIPrep writes LPS+ images, and vectors along their axes, where FSL's convention reverses x. Only names tell. */
static int is_of_qsiprep(const hot_grid *grid, const char *g_name)
{
    static const double lps[3] = {-1, -1, 1};
    const char *slash = strrchr(g_name, '/');
    double axes[3][3], sign[3];
    int oriented = 1;
    hot_grid_image_axes(grid, axes);
    hot_space_ras_sign(grid->space, sign);
    for (int d = 0; d < 3; d++)
        oriented &= lps[d] * sign[d] * axes[d][d] > 0.75;
    return oriented && strstr(slash ? slash : g_name, "desc-preproc_dwi.") != NULL;
}

/* The axes that the vectors of a bvec file are in. */
static hot_gradients_in bvec_frame(const hot_grid *grid, const char *g_name, double frame[3][3])
{
    if (is_of_qsiprep(grid, g_name)) {
        hot_grid_image_axes(grid, frame);
        return HOT_GRADIENTS_IN_IMAGE;
    }
    hot_grid_bvec_frame(grid, frame);
    return HOT_GRADIENTS_IN_BVEC;
}

/* The b-values of `b` and the vectors `g` of a bvec file, into world axes. */
static hot_status set_fsl(hot_context *context, hot_dwi *dwi, const char *b_name, const double *b, const char *g_name,
                          const double *g)
{
    double frame[3][3];
    dwi->gradients_in = bvec_frame(&dwi->grid, g_name, frame);
    for (size_t v = 0; v < dwi->volumes; v++) {
        dwi->b[v] = b[v];
        for (int r = 0; r < 3; r++)
            dwi->gradients[3 * v + r] = frame[r][0] * g[3 * v] + frame[r][1] * g[3 * v + 1] +
                frame[r][2] * g[3 * v + 2];
    }
    hot_vector_lengths(context, dwi, g_name, FSL_LIMIT);
    hot_status status = hot_dwi_drop_undirected(context, dwi);
    if (status == HOT_OK)
        status = hot_dwi_complete(context, dwi);
    if (status == HOT_OK && dwi->gradients_in == HOT_GRADIENTS_IN_IMAGE)
        hot_context_log(context, HOT_LOG_WARNING,
                        "'%s' is named as QSIPrep's, of an LPS+ image: its vectors are taken along the image's axes, "
                        "with x not reversed as in FSL's files; `hotfiber check` tells whether that is right, and "
                        "--grad takes QSIPrep's .b", g_name);
    return status == HOT_OK ? HOT_OK : hot_context_add(context, status, "in '%s' and '%s'", b_name, g_name);
}

/* FSL's pair of files. given: which of the two the user named, for the blame. */
static hot_status read_tables(hot_context *context, const char *b_name, const char *g_name, const int given[2],
                              hot_dwi *dwi)
{
    char *b_text = NULL, *g_text = NULL;
    double *b = NULL, *g = NULL;
    size_t b_count = 0, g_count = 0;
    hot_status status = hot_text_load(context, b_name, &b_text);
    if (status == HOT_OK)
        status = hot_bval_parse(context, b_name, b_text, &b, &b_count);
    if (status != HOT_OK && given[0]) /* a table that was named is at fault */
        hot_context_set_parameter(context, status, "bval");
    if (status == HOT_OK) {
        status = hot_text_load(context, g_name, &g_text);
        if (status == HOT_OK)
            status = hot_bvec_parse(context, g_name, g_text, &g, &g_count);
        if (status != HOT_OK && given[1])
            hot_context_set_parameter(context, status, "bvec");
    }
    if (status == HOT_OK)
        status = hot_dwi_add_input(context, dwi, b_name);
    if (status == HOT_OK)
        status = hot_dwi_add_input(context, dwi, g_name);
    if (status == HOT_OK && (b_count != dwi->volumes || g_count != dwi->volumes)) {
        const int b_right = b_count == dwi->volumes;
        status = hot_context_fail(context, HOT_ERROR_FORMAT,
                                  "'%s' has %zu volumes, but '%s' has %zu b-values and '%s' %zu vectors", dwi->source,
                                  dwi->volumes, b_name, b_count, g_name, g_count);
        if (given[b_right])
            hot_context_set_parameter(context, status, b_right ? "bvec" : "bval");
    }
    if (status == HOT_OK)
        status = set_fsl(context, dwi, b_name, b, g_name, g);
    HOT_FREE(context, b_text, g_text, b, g);
    return status;
}

/* Whether a table has b in front, as DSI Studio writes it: what MRtrix has as x are b-values then, and the last column
 * are none. */
static int has_b_in_front(const double *table, size_t rows, size_t columns)
{
    double front = 0, others = 0, last = 0;
    for (size_t v = 0; v < rows && columns == 4; v++) {
        const double *row = table + v * columns;
        if (row[0] < 0)
            return 0;
        front = fmax(front, row[0]);
        others = fmax(others, fmax(fabs(row[1]), fabs(row[2])));
        last = fmax(last, fabs(row[3]));
    }
    return front > HOT_B0_ALONE && others < HOT_B0_ALONE && last < HOT_B0_ALONE;
}

/* MRtrix's table: lines of x y z b, directions in scanner axes. */
static hot_status read_scheme(hot_context *context, const char *name, const char *text, hot_dwi *dwi)
{
    double *table = NULL, sign[3];
    size_t rows, columns;
    hot_status status = hot_table_parse(context, name, text, &table, &rows, &columns);
    if (status == HOT_OK && columns < 4)
        status = hot_context_fail(context, HOT_ERROR_FORMAT,
                                  "'%s' has lines of %zu numbers; a gradient table has x y z b on each", name, columns);
    if (status == HOT_OK && has_b_in_front(table, rows, columns))
        status = hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' is DSI Studio's table, with b in front (b x y z), "
                                  "and does not say in which axes x y z are; give FSL's --bval and --bvec, or lines of "
                                  "x y z b in scanner axes", name);
    if (status == HOT_OK && rows != dwi->volumes)
        status = hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' has %zu volumes, but the gradient table %s%s%s%zu "
                                  "lines", dwi->source, dwi->volumes, name == dwi->source ? "in it " : "'",
                                  name == dwi->source ? "" : name, name == dwi->source ? "" : "' ", rows);
    hot_space_ras_sign(dwi->grid.space, sign);
    dwi->gradients_in = HOT_GRADIENTS_IN_SCHEME;
    for (size_t v = 0; v < dwi->volumes && status == HOT_OK; v++) {
        dwi->b[v] = table[v * columns + 3];
        for (int d = 0; d < 3; d++)
            dwi->gradients[3 * v + d] = sign[d] * table[v * columns + d];
    }
    if (status == HOT_OK) {
        hot_vector_lengths(context, dwi, name, MRTRIX_LIMIT);
        status = hot_dwi_drop_undirected(context, dwi);
        if (status == HOT_OK)
            status = hot_dwi_complete(context, dwi);
        if (status != HOT_OK)
            status = hot_context_add(context, status, "in '%s'", name);
    }
    hot_context_free(context, table);
    return status;
}

static hot_status read_scheme_file(hot_context *context, const char *name, hot_dwi *dwi)
{
    char *text = NULL;
    hot_status status = hot_text_load(context, name, &text);
    if (status == HOT_OK)
        status = read_scheme(context, name, text, dwi);
    if (status == HOT_OK)
        status = hot_dwi_add_input(context, dwi, name);
    hot_context_free(context, text);
    return status;
}

/* Whether a file that was named as b-values is a table of MRtrix: several lines of four numbers or more, or .b. */
static hot_status is_scheme(hot_context *context, const hot_dwi *dwi, const char *name, int *scheme)
{
    char *text = NULL;
    double *table = NULL;
    size_t rows, columns;
    hot_status status = hot_text_load(context, name, &text);
    if (status == HOT_OK)
        status = hot_table_parse(context, name, text, &table, &rows, &columns);
    *scheme = status == HOT_OK && ((columns >= 4 && rows > 1) || hot_path_has_suffix(name, ".b"));
    if (status == HOT_OK && rows > 1 && dwi->volumes > 3 &&
        ((rows == 3 && columns == dwi->volumes) || (rows == dwi->volumes && columns == 3)))
        status = hot_context_fail(context, HOT_ERROR_FORMAT,
                                  "'%s' holds gradient vectors, %zu lines of %zu numbers, where b-values or a table of "
                                  "x y z b were expected; --bvec takes it", name, rows, columns);
    HOT_FREE(context, table, text);
    return status;
}

/* The largest angle, in degrees, between the gradients of a data set and those of FSL's files next to it; -1 if these
 * cannot be read. */
static double angle_to_tables(hot_context *context, const hot_dwi *dwi, const char *g_name)
{
    char *text = NULL;
    double *g = NULL, frame[3][3], least = 1;
    size_t count = 0;
    hot_status status = hot_text_load(context, g_name, &text);
    if (status == HOT_OK)
        status = hot_bvec_parse(context, g_name, text, &g, &count);
    bvec_frame(&dwi->grid, g_name, frame);
    for (size_t v = 0; status == HOT_OK && count == dwi->volumes && v < count; v++) {
        double product = 0, squared = 0;
        for (int r = 0; r < 3; r++) {
            product += dwi->gradients[3 * v + r] * (frame[r][0] * g[3 * v] + frame[r][1] * g[3 * v + 1] +
                                                    frame[r][2] * g[3 * v + 2]);
            squared += g[3 * v + r] * g[3 * v + r];
        }
        if (dwi->b[v] > 50 && squared > 0)
            least = fmin(least, fabs(product) / sqrt(squared));
    }
    HOT_FREE(context, text, g);
    return status == HOT_OK && count == dwi->volumes ? acos(fmin(1, least)) * 180 / acos(-1) : -1;
}

/* Reads MRtrix's table, and warns if FSL's pair (g_name, if not NULL) differs. */
static hot_status read_mrtrix_table(hot_context *context, const char *grad, const char *g_name, hot_dwi *dwi)
{
    hot_status status = read_scheme_file(context, grad, dwi);
    const double angle = status == HOT_OK && g_name ? angle_to_tables(context, dwi, g_name) : -1;
    if (status == HOT_OK && angle > 1)
        hot_context_log(context, HOT_LOG_WARNING,
                        "gradients are read from '%s', in scanner axes; those of '%s', read as %s, differ by up to "
                        "%.0f degrees", grad, g_name, is_of_qsiprep(&dwi->grid, g_name) ? "QSIPrep's" : "FSL's", angle);
    else if (status == HOT_OK)
        hot_context_log(context, HOT_LOG_NOTE, "gradients are those of '%s', in scanner axes", grad);
    return status;
}

/* Finds the tables of an image if none was given: MRtrix's, whose axes are unambiguous, takes precedence over FSL's
 * pair. Prints a note if both exist, or if their names differ from the image's. */
static hot_status read_found(hot_context *context, const char *bval, const char *bvec, hot_dwi *dwi)
{
    const char *path = dwi->source;
    char *grad = NULL, *b_name = NULL, *g_name = NULL;
    hot_status status = bval || bvec ? HOT_OK : hot_gradients_find(context, path, HOT_TABLE_GRAD, &grad);
    if (status == HOT_OK && !bval)
        status = hot_gradients_find(context, path, HOT_TABLE_BVAL, &b_name);
    if (status == HOT_OK && !bvec)
        status = hot_gradients_find(context, path, HOT_TABLE_BVEC, &g_name);
    if (status != HOT_OK)
        goto cleanup;
    if (grad) {
        status = read_mrtrix_table(context, grad, b_name ? g_name : NULL, dwi);
    } else if ((bval || b_name) && (bvec || g_name)) {
        const int given[2] = {bval != NULL, bvec != NULL};
        status = read_tables(context, bval ? bval : b_name, bvec ? bvec : g_name, given, dwi);
        char *usual = hot_path_beside(context, path, ".bval");
        if (status == HOT_OK && b_name && usual && strcmp(b_name, usual) != 0)
            hot_context_log(context, HOT_LOG_NOTE, "gradients are those of '%s' and '%s'", b_name,
                            bvec ? bvec : g_name);
        hot_context_free(context, usual);
    } else {
        char *usual = hot_path_beside(context, path, bval || b_name ? ".bvec" : ".bval");
        status = usual ? hot_context_fail(context, HOT_ERROR_FILE,
                                          "'%s' comes without gradients: '%s': No such file; give --bval and --bvec, "
                                          "or MRtrix's table with --grad", hot_input_name(path), usual)
                       : HOT_ERROR_MEMORY;
        hot_context_free(context, usual);
    }
cleanup:
    HOT_FREE(context, grad, b_name, g_name);
    return status;
}

static hot_status read_gradients(hot_context *context, const hot_image *image, const char *bval, const char *bvec,
                                 hot_dwi *dwi)
{
    int scheme = 0;
    if (!bval && !bvec && image->scheme)
        return read_scheme(context, dwi->source, image->scheme, dwi);
    hot_status status = bval ? is_scheme(context, dwi, bval, &scheme) : HOT_OK;
    if (status != HOT_OK)
        return hot_context_set_parameter(context, status, "bval");
    if (!scheme)
        return read_found(context, bval, bvec, dwi);
    if (bvec)
        return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "bvec",
                                          "'%s' holds the directions already, x y z b on each line; '%s' is not needed",
                                          bval, bvec);
    return hot_context_set_parameter(context, read_scheme_file(context, bval, dwi), "bval");
}

static void release_image(hot_context *context, void *image)
{
    hot_image_close(image);
    hot_context_free(context, image);
}

/* Leaves them in the file, which is the data set's then. */
static hot_status page(hot_context *context, hot_image *image, const hot_dwi_sample *sample, hot_dwi *made)
{
    hot_image *kept = hot_context_alloc(context, 1, sizeof *kept);
    if (!kept)
        return HOT_ERROR_MEMORY;
    *kept = *image;
    memset(image, 0, sizeof *image);
    return hot_dwi_page(context, made, &(hot_dwi_pages){
        .span = kept->read_span, .from = kept, .release = release_image, .forward = !kept->seeks,
        .swapped = kept->swapped, .bytes = kept->samples * hot_sample_bytes(kept->sample), .window = sample->window,
        .scratch = sample->scratch});
}

/* All of the samples, or a part of them. */
static hot_status take_samples(hot_context *context, hot_image *image, int part, hot_dwi_sample *sample, hot_dwi *made)
{
    if (part && sample->window && hot_dwi_can_page(made))
        return page(context, image, sample, made);
    if (part && !sample->window)
        return hot_dwi_sample_take(context, made, !image->seeks, image->swapped, image->read_span, image, sample);
    hot_status status = hot_image_read(image);
    made->data = image->data;
    made->release_data = hot_dwi_free_data;
    image->data = NULL;
    return status;
}

hot_status hot_dwi_load_image(hot_context *context, hot_input *input, const char *bval, const char *bvec,
                              hot_dwi_sample *sample, hot_dwi **dwi)
{
    hot_image image;
    hot_dwi *made = NULL;
    const char *path = input->path;
    *dwi = NULL;
    hot_status status = hot_image_open_input(context, input, &image);
    if (status == HOT_OK && image.values < 2)
        status = hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' is one volume; diffusion-weighted data are several",
                                  image.name);
    const int part = status == HOT_OK && sample && image.read_span &&
        image.samples * hot_sample_bytes(image.sample) > sample->small;
    if (status == HOT_OK && !part) /* before the search for tables, whose messages come later */
        status = hot_image_fits(&image);
    if (status == HOT_OK)
        status = hot_dwi_begin(context, &image.grid, image.values, 1, path, &made);
    if (status != HOT_OK)
        goto cleanup;
    made->sample = image.sample;
    made->slope = image.slope;
    made->intercept = image.intercept;
    memcpy(made->stride, image.stride, sizeof made->stride);
    memcpy(made->position, image.position, image.values * sizeof *made->position);
    for (size_t i = 0; i < image.file_count && status == HOT_OK; i++)
        status = hot_dwi_add_input(context, made, image.files[i]);
    if (status == HOT_OK)
        status = read_gradients(context, &image, bval, bvec, made);
    if (status == HOT_OK)
        hot_image_warn_unplaced(&image);
    if (status == HOT_OK)
        status = take_samples(context, &image, part, sample, made);
    if (status == HOT_OK && made->length_coded_b > 0 && (made->data || made->paged))
        status = hot_vector_lengths_confirm(context, made, path);
cleanup:
    hot_image_close(&image);
    if (status == HOT_OK)
        *dwi = made;
    else
        hot_dwi_destroy(&made);
    return status;
}
