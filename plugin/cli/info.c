/* hotfiber info: what a diffusion data set holds, for people and (--json) for programs. */
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "core/fields.h"
#include "dwi/scheme.h"
#include "io/common/report.h"
#include "io/dwi_load.h"

const cli_command cli_info_command = {
    "info", "what a diffusion data set holds: sizes, space, shells, highest order, SNR", "[-i] DWI [options]",
    "Reads NRRD (with the NA-MIC keys), NIfTI with bval and bvec, and MIF. The SNR is that of one b=0 volume, from "
    "the spread between b=0 volumes inside the estimated mask; it needs two of them. Of data larger than 64 MB the "
    "header, the gradients and a sample of slices are read, so that any size takes a moment; --full reads all.\n"
    "\n"
    "  hotfiber info dwi.nhdr\n"
    "  hotfiber info dwi.nii.gz --bval dwi.bval --bvec dwi.bvec --json",
    0,
};

/* Data of more bytes are not read as a whole, and of these so many. */
static const size_t small_data = 64 << 20, max_of_large = 32 << 20;

/* Everything that is printed. */
typedef struct facts {
    const hot_dwi *dwi;
    const hot_dwi *seen;   /* the data whose samples are read: dwi, a part of it, or (NULL) none */
    int forward;           /* that part is the beginning */
    double voxel[3], tilt; /* mm; degrees between a grid axis and the nearest world axis, at most */
    double shear;          /* degrees by which grid axes fail to be at right angles */
    double least, largest; /* samples, finite ones */
    size_t not_finite, negative;
    size_t inside;         /* voxels of the estimated mask */
    double sigma, snr;
    size_t repeats;
    int highest;
} facts;

static const char *const sample_names[] = {"int8",  "uint8", "int16",  "uint16",  "int32",
                                           "uint32", "int64", "uint64", "float32", "float64"};

static const char *space_name(hot_space space)
{
    switch (space) {
    case HOT_SPACE_RAS: return "right-anterior-superior";
    case HOT_SPACE_LAS: return "left-anterior-superior";
    case HOT_SPACE_LPS: return "left-posterior-superior";
    default: return "unknown";
    }
}

static void geometry(const hot_grid *grid, facts *about)
{
    const double degrees = 57.29577951308232;
    double unit[3][3];
    for (int c = 0; c < 3; c++) {
        double squared = 0, nearest = 0;
        for (int r = 0; r < 3; r++)
            squared += grid->to_world[r][c] * grid->to_world[r][c];
        about->voxel[c] = sqrt(squared);
        for (int r = 0; r < 3; r++) {
            unit[c][r] = grid->to_world[r][c] / about->voxel[c];
            nearest = fmax(nearest, fabs(unit[c][r]));
        }
        about->tilt = fmax(about->tilt, degrees * acos(fmin(1, nearest)));
    }
    for (int c = 0; c < 3; c++) {
        const double *a = unit[c], *b = unit[(c + 1) % 3];
        about->shear = fmax(about->shear, degrees * fabs(asin(a[0] * b[0] + a[1] * b[1] + a[2] * b[2])));
    }
}

static hot_status sample_range(hot_context *context, const hot_dwi *dwi, facts *about)
{
    enum { CHUNK = 2048 };
    const size_t voxels = hot_grid_voxels(&dwi->grid);
    float *signals = hot_context_alloc(context, CHUNK * dwi->volumes, sizeof *signals);
    hot_status status = signals ? HOT_OK : HOT_ERROR_MEMORY;
    for (size_t first = 0; first < voxels && status == HOT_OK; first += CHUNK) {
        size_t count = voxels - first < CHUNK ? voxels - first : CHUNK;
        status = hot_dwi_read(context, dwi, first, count, signals);
        for (size_t n = 0; n < count * dwi->volumes && status == HOT_OK; n++) {
            double s = signals[n];
            if (!isfinite(s)) {
                about->not_finite++;
                continue;
            }
            about->negative += s < 0;
            about->least = s < about->least ? s : about->least;
            about->largest = s > about->largest ? s : about->largest;
        }
        if (status == HOT_OK)
            status = hot_context_progress(context, "looking at the samples", (double)first / (double)voxels);
    }
    hot_context_free(context, signals);
    return status;
}

static hot_status gather(hot_context *context, const hot_dwi *dwi, const hot_dwi_sample *sample, facts *about)
{
    memset(about, 0, sizeof *about);
    about->dwi = dwi;
    about->seen = sample->partial ? sample->dwi : dwi;
    about->forward = sample->forward;
    about->sigma = about->snr = NAN;
    about->least = INFINITY;
    about->largest = -INFINITY;
    geometry(&dwi->grid, about);
    hot_status status = about->seen ? sample_range(context, about->seen, about) : HOT_OK;
    hot_mask *mask = NULL;
    if (status == HOT_OK && about->seen)
        status = hot_mask_estimate(context, about->seen, &mask);
    if (status == HOT_OK && mask) {
        /* of a part: that many voxels, if the rest is like it */
        about->inside = (size_t)round((double)mask->inside / (double)hot_grid_voxels(&about->seen->grid) *
                                      (double)hot_grid_voxels(&dwi->grid));
        status = hot_dwi_noise(context, about->seen, mask, &about->sigma, &about->snr, &about->repeats);
    }
    hot_mask_destroy(&mask);
    about->highest = hot_dwi_highest_order(context, dwi, -1);
    return status;
}

typedef struct shell_facts {
    size_t volumes, distinct;
    int order, planar;
} shell_facts;

static hot_status shell_gather(hot_context *context, const hot_dwi *dwi, size_t shell, shell_facts *about)
{
    memset(about, 0, sizeof *about);
    for (size_t v = 0; v < dwi->volumes; v++)
        about->volumes += dwi->shell_of[v] == (int)shell;
    if (shell == 0 && dwi->has_b0)
        return HOT_OK;
    return hot_dwi_shell_scheme(context, dwi, (int)shell, &about->order, &about->distinct, &about->planar);
}

static hot_status show_shells(hot_context *context, const hot_dwi *dwi)
{
    for (size_t s = 0; s < dwi->shells; s++) {
        shell_facts shell;
        HOT_TRY(shell_gather(context, dwi, s, &shell));
        if (s == 0 && dwi->has_b0) {
            printf("    b = 0        %zu\n", shell.volumes);
            if (dwi->shells == 1)
                printf("    no diffusion-weighted volume: the largest b-value is %g s/mm^2 (is it in another unit?)\n",
                       hot_dwi_largest_b(dwi));
            continue;
        }
        printf("    b = %-8.0f %zu: %zu direction%s, ", dwi->shell_b[s], shell.volumes, shell.distinct,
               shell.distinct == 1 ? "" : "s");
        if (shell.order)
            printf("enough for order %d\n", shell.order);
        else
            printf("%s\n", shell.planar ? "all in one plane" : "too few for a tensor");
    }
    if (!dwi->has_b0)
        printf("    no b = 0 volume: adc and fod cannot be fitted\n");
    return HOT_OK;
}

/* Mask and SNR, and which part of large data they come from. */
static void show_signal(const facts *about)
{
    const hot_dwi *dwi = about->dwi, *seen = about->seen;
    const hot_grid *grid = &dwi->grid;
    const int partial = seen != dwi;
    if (seen)
        printf("  mask           %s%zu of %zu voxels (estimated)\n", partial ? "about " : "", about->inside,
               hot_grid_voxels(grid));
    if (partial && isnan(about->snr))
        printf("  SNR            not known from the part that was read\n");
    else if (isnan(about->snr))
        printf("  SNR            not known: it takes two b=0 volumes, there %s %zu\n",
               about->repeats == 1 ? "is" : "are", about->repeats);
    else
        printf("  SNR            %.1f at b=0 (noise %.4g)\n", about->snr, about->sigma);
    if (partial && seen)
        printf("  looked at      %zu of %zu slices%s, %zu of %zu volumes%s; --full reads all\n", seen->grid.size[2],
               grid->size[2], seen->grid.size[0] * seen->grid.size[1] < grid->size[0] * grid->size[1] ? " in part" : "",
               seen->volumes, dwi->volumes, about->forward ? ", from the beginning" : "");
}

static hot_status show_text(hot_context *context, const facts *about)
{
    const hot_dwi *dwi = about->dwi;
    const hot_grid *grid = &dwi->grid;
    int framed = 0;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            framed |= fabs(dwi->frame[r][c] - (r == c)) > 1e-9;
    printf("%s\n", strcmp(dwi->source, "-") == 0 ? "standard input" : cli_shown(dwi->source));
    printf("  voxels         %zu x %zu x %zu of %.4g x %.4g x %.4g mm\n", grid->size[0], grid->size[1], grid->size[2],
           about->voxel[0], about->voxel[1], about->voxel[2]);
    printf("  space          %s", grid->space == HOT_SPACE_UNKNOWN ? "not given (read as right-anterior-superior)"
                                                                  : space_name(grid->space));
    if (about->tilt > 0.01)
        printf(", oblique by %.1f degrees", about->tilt);
    if (about->shear > 0.1)
        printf(", axes %.1f degrees off the right angle", about->shear);
    printf("%s\n", framed ? ", gradients in a measurement frame" : "");
    printf("  samples        %s", sample_names[dwi->sample]);
    if (about->least <= about->largest)
        printf(", %.6g to %.6g", about->least, about->largest);
    if (dwi->slope != 1 || dwi->intercept != 0)
        printf(" (stored value x %g + %g)", dwi->slope, dwi->intercept);
    if (about->not_finite)
        printf(", %zu not finite", about->not_finite);
    if (about->negative)
        printf(", %zu negative", about->negative);
    printf("\n  volumes        %zu\n", dwi->volumes);
    HOT_TRY(show_shells(context, dwi));
    printf("  highest order  %d\n", about->highest);
    show_signal(about);
    return HOT_OK;
}

/* The sampled part of large data; nothing if all was read. */
static void add_sample(cJSON *root, const facts *about)
{
    cJSON *sample = about->seen != about->dwi ? cJSON_AddObjectToObject(root, "sample") : NULL;
    if (!sample)
        return;
    const hot_dwi *seen = about->seen;
    const int sizes[3] = {seen ? (int)seen->grid.size[0] : 0, seen ? (int)seen->grid.size[1] : 0,
                          seen ? (int)seen->grid.size[2] : 0};
    cJSON_AddItemToObject(sample, "size", cJSON_CreateIntArray(sizes, 3));
    cJSON_AddNumberToObject(sample, "volumes", seen ? (double)seen->volumes : 0);
    cJSON_AddBoolToObject(sample, "from_the_beginning", about->forward);
}

/* JSON has no NaN: unknown numbers are null. */
static void add_number(cJSON *to, const char *name, double value)
{
    if (isfinite(value))
        cJSON_AddNumberToObject(to, name, value);
    else
        cJSON_AddNullToObject(to, name);
}

static hot_status show_json(hot_context *context, const facts *about)
{
    const hot_dwi *dwi = about->dwi;
    const hot_grid *grid = &dwi->grid;
    hot_status status = HOT_ERROR_MEMORY;
    char *text = NULL;
    const int sizes[4] = {(int)grid->size[0], (int)grid->size[1], (int)grid->size[2], (int)dwi->volumes};
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "file", dwi->source);
    cJSON_AddItemToObject(root, "size", cJSON_CreateIntArray(sizes, 3));
    cJSON_AddNumberToObject(root, "volumes", (double)dwi->volumes);
    cJSON_AddItemToObject(root, "voxel_size_mm", cJSON_CreateDoubleArray(about->voxel, 3));
    cJSON_AddStringToObject(root, "space", space_name(grid->space));
    cJSON *matrix = cJSON_AddArrayToObject(root, "to_world"),
          *frame = cJSON_AddArrayToObject(root, "measurement_frame");
    for (int r = 0; r < 3; r++) {
        cJSON_AddItemToArray(matrix, cJSON_CreateDoubleArray(grid->to_world[r], 4));
        cJSON_AddItemToArray(frame, cJSON_CreateDoubleArray(dwi->frame[r], 3));
    }
    cJSON_AddBoolToObject(root, "oblique", about->tilt > 0.01);
    cJSON_AddNumberToObject(root, "oblique_degrees", about->tilt);
    cJSON_AddStringToObject(root, "sample_type", sample_names[dwi->sample]);
    cJSON *range = cJSON_AddArrayToObject(root, "range");
    cJSON_AddItemToArray(range, isfinite(about->least) ? cJSON_CreateNumber(about->least) : cJSON_CreateNull());
    cJSON_AddItemToArray(range, isfinite(about->largest) ? cJSON_CreateNumber(about->largest) : cJSON_CreateNull());
    cJSON_AddNumberToObject(root, "not_finite", (double)about->not_finite);
    cJSON_AddNumberToObject(root, "negative", (double)about->negative);
    cJSON *shells = cJSON_AddArrayToObject(root, "shells");
    size_t b0 = 0;
    for (size_t s = 0; s < dwi->shells; s++) {
        shell_facts shell;
        status = shell_gather(context, dwi, s, &shell);
        if (status != HOT_OK)
            goto cleanup;
        cJSON *one = cJSON_CreateObject();
        cJSON_AddItemToArray(shells, one);
        cJSON_AddNumberToObject(one, "b", dwi->shell_b[s]);
        cJSON_AddNumberToObject(one, "volumes", (double)shell.volumes);
        cJSON_AddNumberToObject(one, "directions", (double)shell.distinct);
        cJSON_AddNumberToObject(one, "highest_order", shell.order);
        b0 += s == 0 && dwi->has_b0 ? shell.volumes : 0;
    }
    cJSON_AddNumberToObject(root, "b0_volumes", (double)b0);
    cJSON_AddNumberToObject(root, "highest_order", about->highest);
    cJSON_AddNumberToObject(root, "mask_voxels", (double)about->inside);
    add_sample(root, about);
    add_number(root, "snr", about->snr);
    add_number(root, "noise", about->sigma);
    cJSON_AddItemToObject(root, "b_values", cJSON_CreateDoubleArray(dwi->b, sizes[3]));
    cJSON *gradients = cJSON_AddArrayToObject(root, "gradients_world");
    for (size_t v = 0; v < dwi->volumes; v++)
        cJSON_AddItemToArray(gradients, cJSON_CreateDoubleArray(dwi->gradients + 3 * v, 3));
    text = hot_report_text(root);
    status = text ? HOT_OK : hot_context_fail(context, HOT_ERROR_MEMORY, "out of memory for JSON");
    if (text)
        printf("%s\n", text);
cleanup:
    cJSON_free(text);
    cJSON_Delete(root);
    return status;
}

int cli_info(int argc, char **argv)
{
    const char *input = "-", *bval = NULL, *bvec = NULL;
    int json = 0, full = 0;
    const cli_option options[] = {
        CLI_DWI_OPTION(input),
        CLI_GRADIENT_OPTIONS(bval, bvec),
        {"json", CLI_FLAG, &json, NULL, "for programs: one JSON object, with every b-value and world gradient", 0, 0},
        {"full", CLI_FLAG, &full, NULL, "read all of the data, however large they are", 0, 0},
        CLI_END};
    CLI_PARSE(info, options);
    hot_dwi *dwi = NULL;
    facts about;
    hot_dwi_sample sample = {.small = small_data, .most = max_of_large};
    hot_status status = hot_dwi_load_sample(common.context, input, bval, bvec, full ? NULL : &sample, &dwi);
    if (status == HOT_OK)
        status = gather(common.context, dwi, &sample, &about);
    if (status == HOT_OK)
        status = json ? show_json(common.context, &about) : show_text(common.context, &about);
    hot_dwi_destroy(&sample.dwi);
    hot_dwi_destroy(&dwi);
    return cli_finish(&cli_info_command, &common, status);
}
