#include "outputs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dwi/scheme.h"
#include "fibers/signal_posterior.h"
#include "io/map_save.h"

/* The largest b-value, s/mm^2, whose signals FA and MD are fitted to. */
static const double tensor_b_max = 1500;

enum { DEFAULT = 1, ALL = 2, MAPS = 4 }; /* ALL: what only the set "all" has */
static const struct { const char *name; int set; } sets[] = {
    {"default", DEFAULT}, {"all", DEFAULT | ALL | MAPS}, {"maps", MAPS}};

/* The source of a file: an exporter of directions, tensors or the tensors of FA and MD, or a function; or the map of
 * the method signal with the same name. */
typedef enum source { DIRECTIONS, TENSORS, DIFFUSION_TENSORS, SIGNAL_MAP, OWN } source;
/* The requirements of a file. */
typedef enum needs { NOTHING, RESPONSE, FOD, SIGNAL_METHOD, CONES, SAMPLES, DENOISING, TISSUES } needs;

typedef hot_status writer(hot_run_state *run, const char *path);
static writer write_b0, write_mask, write_noise, write_peaks_fod, write_picture, write_residual, write_response,
    write_certainty, write_samples, write_tensors, write_tissue_sh, write_tissues;

typedef struct output {
    const char *name, *file;
    int sets;
    needs needs;
    source source;
    const char *format; /* the exporter's name */
    writer *write;      /* OWN */
    const char *help;
} output;

static const output outputs[] = {
    {"peaks", "peaks.nii.gz", DEFAULT, NOTHING, DIRECTIONS, "peaks", NULL,
     "directions, 3 volumes per fibre, in scanner axes"},
    {"peaks_nrrd", "peaks.nrrd", DEFAULT, NOTHING, DIRECTIONS, "peaks", NULL,
     "the same in the space of the data; what `hotfiber view` opens"},
    {"nfibers", "nfibers.nii.gz", DEFAULT, NOTHING, DIRECTIONS, "nfibers", NULL, "how many fibres were found"},
    {"mask", "mask.nii.gz", DEFAULT | MAPS, NOTHING, OWN, NULL, write_mask, "where it was computed"},
    {"response", "response.txt", DEFAULT | MAPS, RESPONSE, OWN, NULL, write_response,
     "the single-fibre response, MRtrix's format (model msmt: white matter's; those of the other tissues are "
     "response_gm.txt and response_csf.txt)"},
    {"tissues", "tissues.nii.gz", DEFAULT | MAPS, TISSUES, OWN, NULL, write_tissues,
     "model msmt: the amounts of white matter and the other tissues, a volume each"},
    {"tissues_sh", "wmfod.nii.gz", 0, TISSUES, OWN, NULL, write_tissue_sh,
     "model msmt: harmonics of each tissue, like MRtrix's dwi2fod; with gm.nii.gz and csf.nii.gz"},
    {"residual", "residual.nii.gz", MAPS, TISSUES, OWN, NULL, write_residual,
     "model msmt: what the conditions of the constrained minimum leave"},
    {"dec", "dec.nii.gz", DEFAULT, NOTHING, DIRECTIONS, "dec", NULL, "direction-encoded colours"},
    {"png", "fibers.png", DEFAULT, NOTHING, OWN, NULL, write_picture, "the middle slices with the fibres"},
    {"certainty", "certainty.nii.gz", DEFAULT, SIGNAL_METHOD, OWN, NULL, write_certainty,
     "method signal: how certain each fibre is, 0 to 1, a volume per fibre: pictures and colours fade it by that"},
    {"probability", "probability.nii.gz", ALL, SIGNAL_METHOD, SIGNAL_MAP, NULL, NULL,
     "method signal: the probability of 0, 1, 2, 3 fibres"},
    {"cone", "cone.nii.gz", 0, CONES, SIGNAL_MAP, NULL, NULL,
     "half angle (degrees) of the cone that holds a fibre's direction with 95 %, a volume per fibre; NaN: no fibre"},
    {"cone_axes", "cone_axes.nii.gz", 0, CONES, SIGNAL_MAP, NULL, NULL,
     "the semi-axes of such a cone that is an ellipse, 6 volumes per fibre"},
    {"fraction_sd", "fraction_sd.nii.gz", 0, CONES, SIGNAL_MAP, NULL, NULL,
     "standard deviation of the volume fractions, a volume per fibre; NaN: no fibre"},
    {"isotropic", "isotropic.nii.gz", 0, CONES, SIGNAL_MAP, NULL, NULL,
     "volume fraction of the isotropic compartment, without free water"},
    {"free_water", "free_water.nii.gz", 0, CONES, SIGNAL_MAP, NULL, NULL,
     "volume fraction of free water; with the isotropic one and the fibres' it adds to 1"},
    {"noise_sd", "noise_sd.nii.gz", 0, CONES, SIGNAL_MAP, NULL, NULL,
     "each voxel's own standard deviation of the noise"},
    {"samples", "bedpostx", DEFAULT | MAPS, SAMPLES, OWN, NULL, write_samples,
     "with --samples: the posterior in FSL's files, for probtrackx"},
    {"tensors", "tensors.nrrd", ALL, NOTHING, OWN, NULL, write_tensors, "the fitted tensors"},
    {"fixels", "fixels", ALL, NOTHING, DIRECTIONS, "fixels", NULL,
     "MRtrix fixel directory: directions, amplitude and, of the method signal, certainty, probability and cone"},
    {"vtp", "fibers.vtp", ALL, NOTHING, DIRECTIONS, "vtp", NULL, "line segments for ParaView and Slicer"},
    {"fiber", "fiber.nrrd", ALL, NOTHING, DIRECTIONS, "fiber", NULL,
     "fiber_1.nrrd ...: a 3-vector field per fibre, for SCIRun and Slicer"},
    {"peaks_fod", "peaks_fod.nii.gz", 0, FOD, OWN, NULL, write_peaks_fod,
     "directions with amplitudes as of MRtrix's fODF (dwi2fod csd, sh2peaks), for tckgen"},
    {"amplitude", "amplitude.nii.gz", MAPS, NOTHING, DIRECTIONS, "amplitude", NULL,
     "the amplitude of each fibre, a volume per fibre"},
    {"fa", "fa.nii.gz", MAPS, NOTHING, DIFFUSION_TENSORS, "fa", NULL,
     "fractional anisotropy: order 2, weighted least squares, b up to 1500"},
    {"md", "md.nii.gz", MAPS, NOTHING, DIFFUSION_TENSORS, "md", NULL, "mean diffusivity, mm^2/s, of the same fit"},
    {"afd_total", "afd_total.nii.gz", MAPS, FOD, TENSORS, "afd_total", NULL,
     "apparent fibre density: the fODF's coefficient of degree 0"},
    {"afd_max", "afd_max.nii.gz", MAPS, FOD, TENSORS, "afd_max", NULL, "the largest amplitude of the fODF"},
    {"afd_sum", "afd_sum.nii.gz", MAPS, FOD, TENSORS, "afd_sum", NULL, "the norm of the fODF's coefficients"},
    {"nufo", "nufo.nii.gz", MAPS, FOD, TENSORS, "nufo", NULL, "the number of maxima of the fODF"},
    {"b0", "b0.nii.gz", MAPS, NOTHING, OWN, NULL, write_b0,
     "the mean b=0 image, if there are b=0 volumes; with --report in any case"},
    {"noise", "noise.nii.gz", DEFAULT, DENOISING, OWN, NULL, write_noise,
     "with --denoise: the noise's standard deviation"},
};
enum { OUTPUTS = sizeof outputs / sizeof *outputs, SETS = sizeof sets / sizeof *sets };

const char *hot_run_output_name(size_t index, const char **file, const char **help)
{
    if (index >= OUTPUTS)
        return NULL;
    if (file)
        *file = outputs[index].file;
    if (help)
        *help = outputs[index].help;
    return outputs[index].name;
}

int hot_run_output_known(const char *file)
{
    /* beside those of the table: other tissues' responses and harmonics, a file per fibre, the page */
    static const char *const more[] = {"response_", "tissue_", "gm.nii.gz", "csf.nii.gz", "fiber_", "report.html"};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (strncmp(file, more[i], strlen(more[i])) == 0 && !strchr(file, '/'))
            return 1;
    for (int i = 0; i < OUTPUTS; i++) {
        const size_t length = strlen(outputs[i].file);
        const int folder = !strchr(outputs[i].file, '.');
        if (strncmp(file, outputs[i].file, length) == 0 && file[length] == (folder ? '/' : '\0'))
            return 1;
    }
    return 0;
}

/* ---- Which ------------------------------------------------------------------------------------------------- */

/* The missing requirement, as words of a message; NULL: none. */
static const char *missing(const output *o, const hot_run_options *options, const hot_peaks_method *method)
{
    const char *model = options->fit->model ? options->fit->model : "fod";
    if (o->needs == RESPONSE && strcmp(model, "fod") != 0 && strcmp(model, "msmt") != 0)
        return "goes with the models fod and msmt";
    if (o->needs == FOD && strcmp(model, "fod") != 0)
        return "goes with the model fod";
    if (o->needs == TISSUES && strcmp(model, "msmt") != 0)
        return "goes with the model msmt";
    if ((o->needs == SIGNAL_METHOD || o->needs == CONES) && !method->find_in_signals)
        return "goes with the method signal";
    if (o->needs == SAMPLES && options->signal->samples <= 0)
        return "goes with --samples";
    if (o->needs == DENOISING && !options->denoise)
        return "goes with --denoise";
    return NULL;
}

/* "peaks, nfibers ...", for messages. */
static void list_names(char *text, size_t size)
{
    size_t at = 0;
    for (int i = 0; i < SETS + OUTPUTS && at < size; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%s", i ? ", " : "",
                               i < SETS ? sets[i].name : outputs[i - SETS].name);
}

/* One word of the list. */
static hot_status add(hot_context *context, const char *word, size_t length, const hot_run_options *options,
                      const hot_peaks_method *method, hot_run_outputs *set)
{
    char names[512];
    for (int s = 0; s < SETS; s++)
        if (strlen(sets[s].name) == length && strncmp(word, sets[s].name, length) == 0) {
            for (int i = 0; i < OUTPUTS; i++)
                if ((outputs[i].sets & sets[s].set) && !missing(&outputs[i], options, method))
                    *set |= (hot_run_outputs)1 << i;
            return HOT_OK;
        }
    for (int i = 0; i < OUTPUTS; i++) {
        const int named = strlen(outputs[i].name) == length && strncmp(word, outputs[i].name, length) == 0;
        if (!named && !(strlen(outputs[i].file) == length && strncmp(word, outputs[i].file, length) == 0))
            continue;
        const char *without = missing(&outputs[i], options, method);
        if (without)
            return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "outputs", "%s %s", outputs[i].name,
                                              without);
        *set |= (hot_run_outputs)1 << i;
        return HOT_OK;
    }
    list_names(names, sizeof names);
    return hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "outputs",
                                      "there is no output '%.*s'; a list of these, separated by commas: %s",
                                      (int)length, word, names);
}

hot_status hot_run_outputs_choose(hot_context *context, const hot_run_options *options, const hot_peaks_method *method,
                                  hot_run_outputs *set)
{
    const char *word = options->outputs ? options->outputs : "default";
    hot_status status = HOT_OK;
    *set = 0;
    while (status == HOT_OK) {
        const size_t length = strcspn(word, ",");
        status = add(context, word, length, options, method, set);
        if (!word[length])
            break;
        word += length + 1;
    }
    for (int i = 0; i < OUTPUTS; i++) /* drawn to be written; drawn on */
        if ((outputs[i].needs == SAMPLES && !missing(&outputs[i], options, method)) ||
            ((outputs[i].write == write_b0 || outputs[i].write == write_certainty) && options->report &&
             !missing(&outputs[i], options, method)))
            *set |= (hot_run_outputs)1 << i;
    return status;
}

unsigned hot_run_outputs_use(hot_run_outputs set)
{
    unsigned used = 0;
    for (int i = 0; i < OUTPUTS; i++) {
        const output *o = &outputs[i];
        if (!(set >> i & 1))
            continue;
        if (o->source == TENSORS || o->write == write_tensors || o->write == write_tissue_sh)
            used |= HOT_USES_TENSORS;
        if (o->source == DIFFUSION_TENSORS)
            used |= HOT_USES_SIGNALS;
        if (o->source == SIGNAL_MAP)
            used |= o->needs == CONES ? HOT_USES_CONES : HOT_USES_MAPS;
        if (o->write == write_certainty || o->write == write_picture || (o->format && strcmp(o->format, "dec") == 0))
            used |= HOT_USES_MAPS; /* faded by the probabilities */
        if (o->format && strcmp(o->format, "fixels") == 0)
            used |= HOT_USES_MAPS | HOT_USES_DOUBT;
    }
    return used;
}

/* ---- Making them ------------------------------------------------------------------------------------------- */

static int wanted(const hot_run_state *run, writer *write)
{
    for (int i = 0; i < OUTPUTS; i++)
        if (outputs[i].write == write)
            return run->inputs.outputs >> i & 1;
    return 0;
}

/* The mean b=0 image: what the picture is drawn on, and what amplitudes of an fODF are relative to. */
static hot_status make_background(hot_run_state *run)
{
    hot_run_inputs *in = &run->inputs;
    hot_run_results *results = &run->results;
    const size_t voxels = hot_grid_voxels(hot_dwi_grid(in->dwi));
    if (!hot_dwi_has_b0(in->dwi))
        return HOT_OK; /* drawn on the fibres' amplitude then */
    results->background = hot_context_alloc(run->context, voxels, sizeof *results->background);
    hot_status status = results->background ? hot_export_background(run->context, in->dwi, results->background)
                                        : HOT_ERROR_MEMORY;
    for (size_t voxel = 0; voxel < voxels && status == HOT_OK; voxel++)
        if (!isfinite(results->background[voxel]))
            results->background[voxel] = 0;
    return status;
}

hot_status hot_run_outputs_prepare(hot_run_state *run)
{
    hot_run_inputs *in = &run->inputs;
    hot_run_results *results = &run->results;
    hot_status status = HOT_OK;
    if (hot_run_outputs_use(in->outputs) & HOT_USES_SIGNALS)
        status = hot_diffusion_tensor_fit(run->context, in->denoised ? in->denoised : in->dwi, run->learned.mask,
                                          tensor_b_max, &results->diffusion_tensors);
    if (status == HOT_OK && (wanted(run, write_picture) || wanted(run, write_peaks_fod) || wanted(run, write_b0)))
        status = make_background(run);
    if (status == HOT_OK && wanted(run, write_peaks_fod))
        status = hot_fiber_field_fod_amplitude(run->context, results->fibers, run->learned.response,
                                               hot_dwi_outer_volumes(in->dwi), results->background,
                                               &results->peaks_fod);
    return status;
}

static hot_status write_b0(hot_run_state *run, const char *path)
{
    hot_run_results *results = &run->results;
    const hot_grid *grid = hot_fiber_field_grid(results->fibers);
    return results->background ? hot_map_save(run->context, grid, results->background, 1, NULL, path) : HOT_OK;
}

static hot_status write_certainty(hot_run_state *run, const char *path)
{
    const hot_fiber_field *fibers = run->results.fibers;
    return fibers->certainty ? hot_map_save(run->context, &fibers->grid, fibers->certainty,
                                            (size_t)fibers->max_fibers, "certainty", path)
                             : HOT_OK;
}

static hot_status write_samples(hot_run_state *run, const char *path)
{
    return hot_signal_samples_save(run->context, &run->results.maps, run->learned.mask, path);
}

static hot_status write_mask(hot_run_state *run, const char *path)
{
    return hot_mask_save(run->context, run->learned.mask, path);
}

static hot_status write_noise(hot_run_state *run, const char *path)
{
    return hot_map_save(run->context, hot_fiber_field_grid(run->results.fibers), run->learned.noise, 1, NULL, path);
}

static hot_status write_peaks_fod(hot_run_state *run, const char *path)
{
    return hot_fiber_field_save(run->context, run->results.peaks_fod, path);
}

static hot_status write_picture(hot_run_state *run, const char *path)
{
    return hot_export_picture(run->context, run->results.fibers, run->results.background, path);
}

/* A file of the folder for each tissue but white matter: BEFOREgmBEHIND, BEFOREcsfBEHIND. With two tissues the second
 * counts as CSF. */
static hot_status write_others(hot_run_state *run, size_t others, const char *before, const char *behind,
                               hot_status write(hot_run_state *, size_t tissue, const char *path))
{
    hot_status status = HOT_OK;
    for (size_t t = 1; t <= others && status == HOT_OK; t++) {
        char name[64];
        if (others <= 2)
            snprintf(name, sizeof name, "%s%s%s", before, t == others ? "csf" : "gm", behind);
        else
            snprintf(name, sizeof name, "%stissue_%zu%s", before, t + 1, behind);
        char *path = hot_folder_file(run->context, &run->folder, name);
        status = path ? write(run, t, path) : HOT_ERROR_MEMORY;
        hot_context_free(run->context, path);
    }
    return status;
}

static hot_status write_other_response(hot_run_state *run, size_t tissue, const char *path)
{
    return hot_response_save(run->context, run->learned.tissues[tissue - 1], path);
}

static hot_status write_response(hot_run_state *run, const char *path)
{
    hot_status status = hot_response_save(run->context, run->learned.response, path);
    return status == HOT_OK ? write_others(run, run->learned.tissue_count, "response_", ".txt", write_other_response)
                            : status;
}

static hot_status write_other_sh(hot_run_state *run, size_t tissue, const char *path)
{
    return hot_tensor_field_save_tissue_sh(run->context, run->results.tensors, tissue, path);
}

static hot_status write_tissue_sh(hot_run_state *run, const char *path)
{
    hot_status status = hot_tensor_field_save_tissue_sh(run->context, run->results.tensors, 0, path);
    const size_t others = hot_tensor_field_tissues(run->results.tensors) - 1;
    return status == HOT_OK ? write_others(run, others, "", ".nii.gz", write_other_sh) : status;
}

static hot_status write_residual(hot_run_state *run, const char *path)
{
    return hot_tensor_field_save_residual(run->context, run->results.tensors, path);
}

static hot_status write_tissues(hot_run_state *run, const char *path)
{
    return hot_tensor_field_save_tissues(run->context, run->results.tensors, path);
}

static hot_status write_tensors(hot_run_state *run, const char *path)
{
    return hot_tensor_field_save(run->context, run->results.tensors, path);
}

static hot_status write_one(hot_run_state *run, const output *o, const char *path)
{
    hot_run_results *results = &run->results;
    if (o->source == OWN)
        return o->write(run, path);
    if (o->source == SIGNAL_MAP)
        return hot_signal_map_save(run->context, &run->results.maps, o->name, path);
    const hot_export_format *exporter = hot_export_format_find(o->format, NULL);
    if (!exporter)
        return hot_context_fail(run->context, HOT_ERROR_ARGUMENT, "this build has no exporter '%s'", o->format);
    if (o->source == DIRECTIONS)
        return exporter->write(run->context, results->fibers, path);
    return exporter->write_tensors(run->context, o->source == TENSORS ? results->tensors : results->diffusion_tensors,
                                   path);
}

hot_status hot_run_outputs_write(hot_run_state *run)
{
    hot_status status = HOT_OK;
    for (int i = 0; i < OUTPUTS && status == HOT_OK; i++) {
        if (!(run->inputs.outputs >> i & 1))
            continue;
        status = hot_context_progress(run->context, "writing", (double)i / OUTPUTS);
        char *path = status == HOT_OK ? hot_folder_file(run->context, &run->folder, outputs[i].file) : NULL;
        if (status == HOT_OK)
            status = path ? write_one(run, &outputs[i], path) : HOT_ERROR_MEMORY;
        hot_context_free(run->context, path);
    }
    return status == HOT_OK ? hot_context_progress(run->context, "writing", 1) : status;
}
