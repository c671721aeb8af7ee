/* hotfiber export: directions or tensors into one other format. */
#include "cli.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/fields.h"
#include "core/grid_match.h"
#include "dwi/scheme.h"
#include "fibers/certainty.h"
#include "io/common/parents.h"
#include "io/common/paths.h"
#include "io/dwi_load.h"
#include "io/field_file.h"

const cli_command cli_export_command = {
    "export", "write directions or tensors in another format", "[-i] FILE -o FILE [--format NAME]",
    "The format follows from the name of the output (peaks.nii.gz, nfibers.nii.gz, fibers.vtp, picture.png ...) or "
    "is given with --format; --list lists the formats and what reads them.\n\n"
    "  hotfiber export out -o fibers.vtp\n"
    "  hotfiber export out/peaks.nii.gz -o fixels --format fixels\n"
    "  hotfiber export out -o sure.tck --min_probability .9 --max_cone 15\n"
    "  hotfiber export out -o peaks_fod.nii.gz --format peaks --amplitude fod",
    0,
};

static void list_formats(void)
{
    size_t count;
    const hot_export_format *const *formats = hot_export_formats(&count);
    for (size_t i = 0; i < count; i++) {
        printf("%-9s %s%s\n%10s", formats[i]->name, formats[i]->suffix[0] ? formats[i]->suffix : "(a folder)",
               formats[i]->write && formats[i]->write_tensors ? ", from directions or tensors"
               : formats[i]->write                            ? ""
                                                              : ", from tensors",
               "");
        cli_print_text(formats[i]->help, 10);
    }
}

static hot_status find_format(hot_context *context, const char *name, const char *path,
                              const hot_export_format **format)
{
    *format = hot_export_format_find(name, path);
    if (*format)
        return HOT_OK;
    if (name ? strcmp(name, "pam5") == 0 : hot_path_has_suffix(path, ".pam5"))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "cannot write '%s': pam5 files need HDF5, which this "
                                "build of hotfiber lacks; install its headers (Debian's package libhdf5-dev) and "
                                "build again", path);
    if (name) {
        size_t count;
        const hot_export_format *const *formats = hot_export_formats(&count);
        cli_guess guess;
        cli_guess_begin(&guess, name);
        for (size_t i = 0; i < count; i++)
            cli_guess_try(&guess, formats[i]->name);
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "--format: there is no '%s'; %s%s", name,
                                guess.best ? "did you mean " : "--list names the formats",
                                guess.best ? guess.best : "");
    }
    return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                            "the format does not follow from the name '%s'; give --format (--list names them)", path);
}

/* Diffusion data that go with directions. */
typedef struct companion {
    const char *path, *output;
    size_t memory;
} companion;

/* The mean b=0 image of data on the grid of the directions; *directions: the gradients of its highest shell (may be
 * NULL). */
static hot_status load_background(hot_context *context, const hot_fiber_field *fibers, const companion *data,
                                  float **background, size_t *directions)
{
    hot_dwi *dwi = NULL;
    const hot_grid *grid = hot_fiber_field_grid(fibers);
    size_t *index = NULL;
    float *own = NULL;
    hot_status status = hot_dwi_load_within(context, data->path, NULL, NULL, data->memory, data->output, &dwi);
    if (status == HOT_OK)
        status = hot_grid_match(context, "image", data->path, hot_dwi_grid(dwi), "the directions", grid, &index);
    if (status == HOT_OK && directions) {
        *directions = hot_dwi_outer_volumes(dwi);
        if (!hot_dwi_has_b0(dwi))
            status = hot_context_fail(context, HOT_ERROR_DATA, "'%s' has no b=0 volume, which amplitudes are relative "
                                      "to; leave --dwi out", data->path);
    }
    if (status == HOT_OK) {
        own = hot_context_alloc(context, hot_grid_voxels(hot_dwi_grid(dwi)), sizeof *own);
        *background = own ? hot_context_alloc(context, hot_grid_voxels(grid), sizeof **background) : NULL;
        status = *background ? hot_export_background(context, dwi, own) : HOT_ERROR_MEMORY;
    }
    for (size_t v = 0; status == HOT_OK && v < hot_grid_voxels(grid); v++) {
        const size_t at = index ? index[v] : v;
        (*background)[v] = at == HOT_OUTSIDE ? 0 : own[at];
    }
    HOT_FREE(context, own, index);
    hot_dwi_destroy(&dwi);
    return status;
}

/* A picture over the mean b=0 image of the data. */
static hot_status write_picture(hot_context *context, const hot_fiber_field *fibers, const companion *data)
{
    float *background = NULL;
    hot_status status = load_background(context, fibers, data, &background, NULL);
    if (status == HOT_OK)
        status = hot_export_picture(context, fibers, background, data->output);
    hot_context_free(context, background);
    return status;
}

/* The directions with amplitudes as of an fODF in their place. */
static hot_status scale_amplitudes(hot_context *context, const char *response_path, const companion *data,
                                   hot_fiber_field **fibers)
{
    hot_response *response = NULL;
    hot_fiber_field *scaled = NULL;
    float *b0 = NULL;
    size_t directions = 0;
    hot_status status = response_path ? hot_response_load(context, response_path, &response) : HOT_OK;
    if (status == HOT_OK && data->path)
        status = load_background(context, *fibers, data, &b0, &directions);
    if (status == HOT_OK)
        status = hot_fiber_field_fod_amplitude(context, *fibers, response, directions, b0, &scaled);
    if (status == HOT_OK && (*fibers)->certainty) /* all fibres of a voxel get the same factor: their order stays */
        status = hot_fiber_field_set_certainty(context, scaled, (*fibers)->certainty);
    if (status == HOT_OK) {
        scaled->probability = (*fibers)->probability, scaled->cone = (*fibers)->cone;
        (*fibers)->probability = (*fibers)->cone = NULL;
        hot_fiber_field_destroy(fibers);
        *fibers = scaled;
    } else
        hot_fiber_field_destroy(&scaled);
    hot_context_free(context, b0);
    hot_response_destroy(&response);
    return status;
}

/* Options that go with some formats only. */
static hot_status check_format_options(hot_context *context, const hot_export_format *format, const char *dwi,
                                       const char *amplitude, const char *response)
{
    const int fod = amplitude && strcmp(amplitude, "fod") == 0;
    if (fod && !format->write)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "--amplitude is for formats from directions, and %s is from tensors", format->name);
    if (response && !fod)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "--response goes with --amplitude fod");
    if (dwi && !fod && strcmp(format->name, "png") != 0)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "--dwi is for pictures (png) and for --amplitude fod, not for %s", format->name);
    return HOT_OK;
}

/* For a format from directions: of tensors of order 2 these are their main axes. */
static hot_status take_main_directions(hot_context *context, const char *input, hot_tensor_field **tensors,
                                       hot_fiber_field **fibers)
{
    const hot_peaks_options one = {.size = sizeof one, .method = "maxima", .max_fibers = 1};
    if (hot_tensor_field_order(*tensors) != 2)
        return hot_context_fail(context, HOT_ERROR_FORMAT,
                                "'%s' holds tensors, not directions: `hotfiber peaks` finds these in them, and "
                                "`hotfiber export --format glyphs` (or ply, sh) reads them", input);
    if ((*tensors)->fitted == 0)
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' holds tensors, not directions, and all of them are 0",
                                input);
    hot_context_log(context, HOT_LOG_NOTE, "'%s' holds tensors of order 2: the main direction of each is written",
                    input);
    hot_status status = hot_fiber_field_find(context, *tensors, &one, fibers);
    hot_tensor_field_destroy(tensors);
    return status;
}

/* The certainty of the fibres, from the folder of a run; the doubtful ones are left out. folder: the input as
 * given; keep: 1 if the format has values of fibres. */
static hot_status take_doubt(hot_context *context, const char *folder, hot_fiber_field *fibers, double min_probability,
                             double max_cone, int keep)
{
    struct stat about;
    hot_signal_maps maps = {0};
    const struct { const char *option, *output; double bound; float **map; size_t per; } cuts[] = {
        {"min_probability", "probability", min_probability, &maps.probability, 4},
        {"max_cone", "cone", max_cone, &maps.cone, fibers ? (size_t)fibers->max_fibers : 0}};
    const int is_folder = stat(folder, &about) == 0 && S_ISDIR(about.st_mode);
    char missing[64] = "";
    const char *option = NULL;
    hot_status status = fibers && is_folder ? hot_run_folder_certainty(context, folder, fibers) : HOT_OK;
    for (size_t i = 0; i < 2 && status == HOT_OK; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s.nii.gz", cuts[i].output);
        if (cuts[i].bound > 0 && (!fibers || !is_folder))
            status = hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, cuts[i].option,
                                                "it goes with directions and the folder of their run, and '%s' is %s",
                                                folder, is_folder ? "exported from its tensors" : "a file");
        else if (fibers && is_folder && (cuts[i].bound > 0 || keep))
            status = hot_run_folder_map(context, folder, name, &fibers->grid, cuts[i].per, cuts[i].map);
        if (cuts[i].bound > 0 && !*cuts[i].map) {
            snprintf(missing + strlen(missing), sizeof missing - strlen(missing), ",%s", cuts[i].output);
            option = option ? option : cuts[i].option;
        }
    }
    if (status == HOT_OK && option)
        status = hot_context_fail_parameter(context, HOT_ERROR_FILE, option, "'%s' lacks %s; hotfiber run leaves what "
                                            "is needed with --outputs default%s", folder, missing + 1, missing);
    if (status == HOT_OK && keep && fibers)
        status = hot_fiber_field_keep_doubt(fibers, &maps);
    if (status == HOT_OK && fibers)
        hot_fiber_field_filter(context, fibers, &maps, min_probability, max_cone);
    HOT_FREE(context, maps.probability, maps.cone);
    return status;
}

int cli_export(int argc, char **argv)
{
    const char *input = "-", *output = NULL, *name = NULL, *dwi = NULL, *amplitude = NULL, *response = NULL;
    const char *memory = NULL, *as = NULL;
    size_t bytes = 0;
    double min_probability = 0, max_cone = 0;
    int list = 0;
    const cli_option options[] = {
        {"i", CLI_TEXT, &input, "FILE", "directions (NRRD, NIfTI or MIF), or the folder of a run; for formats "
                                        "from tensors: these; default: standard input (NRRD)", 0, 0},
        CLI_AS(as),
        {"o", CLI_OUTPUT_ANY, &output, "FILE", "what to write; the format follows from its name", 0, 0},
        {"format", CLI_TEXT, &name, "NAME", "the format, when it does not follow from the name", 0, 0},
        {"amplitude", CLI_CHOICE, &amplitude, "fraction|fod",
         "the length of a direction: its volume fraction (default), or the amplitude that MRtrix's fODF (dwi2fod csd, "
         "then sh2peaks) has for such a fibre, for tckgen's -cutoff", 0, 0},
        {"response", CLI_TEXT, &response, "FILE",
         "--amplitude fod: the response that the directions were found with; default: the one that their NRRD names",
         0, 0},
        cli_row("min_probability", &min_probability),
        cli_row("max_cone", &max_cone),
        {"dwi", CLI_TEXT, &dwi, "FILE",
         "png: the data (NRRD, MIF, or NIfTI with .bval and .bvec beside it), "
         "whose mean b=0 image lies under the fibres. --amplitude fod: voxels count by their b=0 signal, as MRtrix's "
         "do; default: all are as bright as the response", 0, 0},
        CLI_MEMORY_OPTION(memory),
        {"list", CLI_FLAG, &list, NULL, "list the formats", 0, 0},
        CLI_END,
    };
    CLI_PARSE(export, options);
    if ((ended = cli_memory_read(&cli_export_command, &common, memory, output, &bytes)) >= 0)
        return ended;
    const companion data = {dwi, output, bytes};
    hot_context *context = common.context;
    const hot_export_format *format;
    hot_fiber_field *fibers = NULL;
    hot_tensor_field *tensors = NULL;
    hot_status status = HOT_OK;
    if (list) {
        list_formats();
        return cli_finish(&cli_export_command, &common, HOT_OK);
    }
    if (!output) {
        fprintf(stderr, "hotfiber export: -o is needed: what to write; see `hotfiber export --help`\n");
        cli_finish(&cli_export_command, &common, HOT_OK);
        return HOT_EXIT_USAGE;
    }
    status = find_format(context, name, output, &format);
    if (status == HOT_OK && format->suffix[0]) /* a file: refused early if it cannot be one */
        status = hot_parents_check(context, output, 0);
    if (status == HOT_OK)
        status = check_format_options(context, format, dwi, amplitude, response);
    const char *folder = input;
    char place[PATH_MAX];
    snprintf(place, sizeof place, "%s",
             cli_run_file(input, status == HOT_OK && !format->write ? "tensors.nrrd"
                                                                    : "peaks.nrrd,peaks.nii.gz,tensors.nrrd"));
    input = place;
    if (status == HOT_OK)
        status = hot_field_load(context, input, as, NULL, format->write ? &fibers : NULL, &tensors);
    if (status == HOT_OK && tensors && !format->write_tensors)
        status = take_main_directions(context, input, &tensors, &fibers);
    if (status == HOT_OK)
        status = take_doubt(context, folder, fibers, min_probability, max_cone, strcmp(format->name, "fixels") == 0);
    if (status == HOT_OK && fibers) {
        if (amplitude && strcmp(amplitude, "fod") == 0)
            status = scale_amplitudes(context, response, &data, &fibers);
        if (status == HOT_OK && dwi && strcmp(format->name, "png") == 0)
            status = write_picture(context, fibers, &data);
        else if (status == HOT_OK)
            status = format->write(context, fibers, output);
    } else if (status == HOT_OK)
        status = format->write_tensors(context, tensors, output);
    hot_fiber_field_destroy(&fibers);
    hot_tensor_field_destroy(&tensors);
    return cli_finish(&cli_export_command, &common, status);
}
