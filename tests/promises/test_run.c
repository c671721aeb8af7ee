/* The promises of hotfiber_run.h and hotfiber_signal.h about NULL, copies, files read and written,
 * default methods, and the errors of runs, parts, models and pages. */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hotfiber/hotfiber.h>

#include "folders.h"
#include "threads.h"

enum { NX = 7, NY = 6, NZ = 5, VOXELS = NX * NY * NZ };

static const double shells[2] = {1000, 2500};
static hot_phantom *phantom;
static const hot_dwi *dwi;
static int warnings;

static void listen(void *user, hot_log_level level, const char *text)
{
    (void)user, (void)text;
    warnings += level == HOT_LOG_WARNING;
}

static hot_run_fields compute(hot_context *context, const hot_dwi *data, const hot_run_options *o)
{
    hot_run_fields fields;
    CHECK(hot_run_compute(context, data, o, &fields, NULL) == HOT_OK, "%s", hot_context_message(context));
    return fields;
}

static int same_fibers(const hot_run_fields *a, const hot_run_fields *b)
{
    if (!a->fibers || !b->fibers || hot_fiber_field_max(a->fibers) != hot_fiber_field_max(b->fibers))
        return 0;
    return memcmp(hot_fiber_field_peaks(a->fibers), hot_fiber_field_peaks(b->fibers),
                  (size_t)hot_fiber_field_max(a->fibers) * 3 * VOXELS * sizeof(float)) == 0;
}

static int entries(const char *folder)
{
    int count = -2;
    DIR *list = opendir(folder);
    while (list && readdir(list))
        count++;
    if (list)
        closedir(list);
    return count;
}

/* ---- hot_run_compute --------------------------------------------------------------------------------------------- */

/* Of fod: a response, and the maps of the method signal unless it is another; of the other models neither. */
static void test_methods(hot_context *context)
{
    static const char *const models[] = {NULL, "odf", "adc", "msmt"};
    hot_response *given = NULL;
    CHECK(hot_response_tensor(context, dwi, 1.7e-3, .3e-3, 1000, 8, &given) == HOT_OK, "%s",
          hot_context_message(context));
    for (int m = 0; m < 4; m++) {
        const int is_fod = m == 0, is_msmt = m == 3;
        const hot_fit_options fit = {
            .size = sizeof fit, .model = models[m], .order = 4, .response = is_msmt ? given : NULL};
        const char *usual = is_fod ? "signal" : "maxima";
        hot_peaks_options peaks = {.size = sizeof peaks};
        hot_run_options o = {.size = sizeof o,
                             .fit = &fit,
                             .axial_diffusivity = is_fod ? 1.7e-3 : 0,
                             .radial_diffusivity = is_fod ? .3e-3 : 0};
        hot_run_fields none = compute(context, dwi, &o);
        peaks.method = usual, o.peaks = &peaks;
        hot_run_fields said = compute(context, dwi, &o);
        CHECK(same_fibers(&none, &said), "model %d: NULL is %s", m, usual);
        CHECK(strcmp(hot_tensor_field_model(none.tensors), models[m] ? models[m] : "fod") == 0, "model %d", m);
        CHECK((none.response != NULL) == (is_fod || is_msmt), "model %d: response", m);
        CHECK(is_fod ? none.maps.probability && none.maps.residual && none.maps.flags
                     : !none.maps.probability && !none.maps.margin && !none.maps.residual && !none.maps.width &&
                           !none.maps.flags && !none.maps.cone && !none.maps.samples && !none.maps.context,
              "model %d: maps", m);
        if (is_fod) { /* by the response of a tensor */
            hot_response *tensor = NULL;
            double b[2];
            CHECK(hot_response_tensor(context, dwi, 1.7e-3, .3e-3, 1, hot_response_lmax(none.response), &tensor) ==
                      HOT_OK,
                  "%s", hot_context_message(context));
            for (size_t s = 0; s < hot_response_shells(tensor); s++)
                CHECK(memcmp(hot_response_row(tensor, s, b), hot_response_row(none.response, s, b + 1),
                             (size_t)(hot_response_lmax(tensor) / 2 + 1) * sizeof(double)) == 0,
                      "shell %zu", s);
            hot_response_destroy(&tensor);
        }
        hot_run_fields_free(&none), hot_run_fields_free(&said);
        CHECK(!said.maps.probability && !said.mask && !said.response, "set to NULL");
    }
    hot_response_destroy(&given);
    const hot_peaks_options maxima = {.size = sizeof maxima, .method = "maxima"};
    for (int named = 0; named < 2; named++) { /* files are not written, but their names are checked */
        const hot_run_options o = {.size = sizeof o, .axial_diffusivity = 1.7e-3, .radial_diffusivity = .3e-3,
                                   .peaks = &maxima, .outputs = named ? "peaks,mask" : "peaks,nothing"};
        hot_run_fields fields;
        const hot_status status = hot_run_compute(context, dwi, &o, &fields, NULL);
        CHECK(named ? status == HOT_OK
                    : status == HOT_ERROR_ARGUMENT && strcmp(hot_context_parameter(context), "outputs") == 0,
              "outputs %s: %d", o.outputs, (int)status);
        hot_run_fields_free(&fields);
    }
    for (int bad = 0; bad < 3; bad++) { /* the axial one is the larger */
        const hot_run_options o = {.size = sizeof o,
                                   .axial_diffusivity = bad == 0   ? .3e-3
                                                        : bad == 1 ? 0
                                                                   : 1e-3,
                                   .radial_diffusivity = bad == 2 ? -1e-4 : 1.7e-3};
        hot_run_fields fields;
        CHECK(hot_run_compute(context, dwi, &o, &fields, NULL) == HOT_ERROR_ARGUMENT && !fields.fibers, "bad %d", bad);
    }
}

/* A mask in memory or in a file is the same; so is a response; both are copied; files and folders are not touched. */
static void test_inputs(hot_context *context)
{
    uint8_t inside[VOXELS];
    hot_mask *mask = NULL, *another = NULL;
    hot_response *response = NULL;
    for (int n = 0; n < VOXELS; n++)
        inside[n] = n % 3 == 0;
    CHECK(hot_mask_create(context, hot_dwi_grid(dwi), inside, &mask) == HOT_OK &&
              hot_mask_full(context, hot_dwi_grid(dwi), &another) == HOT_OK &&
              hot_response_tensor(context, dwi, 1.7e-3, .35e-3, 1000, 8, &response) == HOT_OK &&
              hot_mask_save(context, mask, "mask.nrrd") == HOT_OK &&
              hot_response_save(context, response, "response.txt") == HOT_OK,
          "%s", hot_context_message(context));
    hot_fit_options *fit = malloc(sizeof *fit);
    hot_peaks_options *peaks = malloc(sizeof *peaks);
    *fit = (hot_fit_options){.size = sizeof *fit, .order = 4, .response = response};
    *peaks = (hot_peaks_options){
        .size = sizeof *peaks, .method = "maxima", .mask = another}; /* peaks->mask: not used */
    hot_run_options memory = {.size = sizeof memory,
                              .fit = fit,
                              .peaks = peaks,
                              .mask_in_memory = mask,
                              .input = "no such file",
                              .bval = "none",
                              .bvec = "none",
                              .output = "no folder",
                              .force = 1};
    const hot_fit_options plain = {.size = sizeof plain, .order = 4};
    const hot_peaks_options maxima = {.size = sizeof maxima, .method = "maxima"};
    const hot_run_options files = {
        .size = sizeof files, .fit = &plain, .peaks = &maxima, .mask = "mask.nrrd", .response = "response.txt"};
    const int before = entries(".");
    hot_run_fields a = compute(context, dwi, &memory), b = compute(context, dwi, &files);
    CHECK(entries(".") == before, "%d files are written", entries(".") - before);
    memset(fit, 0x5a, sizeof *fit), memset(peaks, 0x5a, sizeof *peaks); /* read only during the call */
    free(fit), free(peaks);
    hot_mask_destroy(&mask), hot_mask_destroy(&another);
    hot_response_destroy(&response);
    CHECK(memcmp(hot_mask_bytes(a.mask), inside, VOXELS) == 0 && memcmp(hot_mask_bytes(b.mask), inside, VOXELS) == 0,
          "the mask");
    CHECK(hot_response_lmax(a.response) == 8 && hot_response_shells(a.response) == 3, "the response is a copy");
    int found = 0, apart = 0;
    for (int n = 0; n < VOXELS; n++) {
        found += hot_fiber_field_counts(a.fibers)[n] > 0;
        CHECK(inside[n] || hot_fiber_field_counts(a.fibers)[n] == 0, "voxel %d is outside", n);
        for (int i = 0; i < 9; i++)
            apart += !(fabs((double)hot_fiber_field_peaks(a.fibers)[9 * n + i] -
                            (double)hot_fiber_field_peaks(b.fibers)[9 * n + i]) < 1e-4);
    }
    CHECK(found > 20 && apart == 0, "%d voxels with fibres, %d numbers differ", found, apart);
    hot_run_fields_free(&a), hot_run_fields_free(&b);
    unlink("mask.nrrd"), unlink("response.txt");
    /* estimated, where neither is given */
    const hot_run_options o = {.size = sizeof o, .fit = &plain, .peaks = &maxima};
    hot_mask *estimated = NULL;
    hot_run_fields c = compute(context, dwi, &o);
    CHECK(hot_mask_estimate(context, dwi, &estimated) == HOT_OK &&
              memcmp(hot_mask_bytes(c.mask), hot_mask_bytes(estimated), VOXELS) == 0 && c.response,
          "estimated");
    hot_run_fields_free(&c);
    hot_mask_destroy(&estimated);
}

/* Volumes without a signal are left out with a warning, and the data are not changed. */
static hot_dwi *copy_of(hot_context *context, int dead, int no_b0, size_t volumes)
{
    const size_t all = hot_dwi_volumes(dwi);
    float *rows = malloc(VOXELS * all * sizeof *rows), *data = malloc(VOXELS * (all + 1) * sizeof *data);
    double *b = malloc((all + 1) * sizeof *b), *g = malloc(3 * (all + 1) * sizeof *g);
    hot_dwi *made = NULL;
    size_t to = 0;
    CHECK(hot_dwi_read(context, dwi, 0, VOXELS, rows) == HOT_OK, "signals");
    for (size_t v = no_b0 ? 3 : 0; v < all && to < volumes; v++, to++) {
        b[to] = hot_dwi_b(dwi)[v];
        memcpy(g + 3 * to, hot_dwi_gradients(dwi) + 3 * v, 3 * sizeof *g);
        for (size_t n = 0; n < VOXELS; n++)
            data[to * VOXELS + n] = rows[n * all + v];
    }
    if (dead) {
        b[to] = 1000, g[3 * to] = 1, g[3 * to + 1] = g[3 * to + 2] = 0;
        for (size_t n = 0; n < VOXELS; n++)
            data[to * VOXELS + n] = dead == 1 ? 0 : NAN;
        to++;
    }
    CHECK(hot_dwi_create(context, hot_dwi_grid(dwi), to, b, g, data, &made) == HOT_OK, "%s",
          hot_context_message(context));
    free(rows), free(data), free(b), free(g);
    return made;
}

static void test_data(hot_context *context)
{
    const hot_fit_options fit = {.size = sizeof fit, .order = 4};
    const hot_peaks_options peaks = {.size = sizeof peaks, .method = "maxima"};
    hot_run_options o = {
        .size = sizeof o, .fit = &fit, .peaks = &peaks, .axial_diffusivity = 1.7e-3, .radial_diffusivity = .3e-3};
    hot_run_fields whole = compute(context, dwi, &o), fields;
    for (int dead = 1; dead <= 2; dead++) {
        hot_dwi *made = copy_of(context, dead, 0, SIZE_MAX);
        const size_t volumes = hot_dwi_volumes(made);
        warnings = 0;
        fields = compute(context, made, &o);
        CHECK(warnings > 0 && hot_dwi_volumes(made) == volumes, "dead %d: %d warnings", dead, warnings);
        CHECK(same_fibers(&whole, &fields), "dead %d: without the volume", dead);
        hot_run_fields_free(&fields);
        hot_dwi_destroy(&made);
    }
    hot_run_fields_free(&whole);
    /* what cannot be computed */
    static const uint8_t outside[VOXELS];
    hot_mask *empty = NULL;
    for (int bad = 0; bad < 6; bad++) {
        hot_dwi *made = bad == 0 ? copy_of(context, 0, 1, SIZE_MAX) : bad == 1 ? copy_of(context, 0, 0, 6) : NULL;
        hot_run_options how = o;
        const char *words[] = {"b=0", "direction", "mask", "mask", "response", "mask"};
        static const hot_status right[] = {HOT_ERROR_DATA, HOT_ERROR_DATA,   HOT_ERROR_DATA,
                                           HOT_ERROR_FILE, HOT_ERROR_FORMAT, HOT_ERROR_FORMAT};
        check_write("words.nrrd", "no image\n");
        if (bad == 2 && hot_mask_create(context, hot_dwi_grid(dwi), outside, &empty) == HOT_OK)
            how.mask_in_memory = empty;
        how.mask = bad == 3 ? "no-mask.nrrd" : bad == 5 ? "words.nrrd" : NULL;
        if (bad == 4)
            how.response = "words.nrrd", how.axial_diffusivity = how.radial_diffusivity = 0;
        memset(&fields, 0x5a, sizeof fields);
        const hot_status status = hot_run_compute(context, made ? made : dwi, &how, &fields, NULL);
        CHECK(status == right[bad] &&
                  strstr(hot_context_message(context), bad == 4 || bad == 5 ? "words.nrrd" : words[bad]),
              "case %d: %d %s", bad, (int)status, hot_context_message(context));
        CHECK(!fields.mask && !fields.response && !fields.tensors && !fields.fibers && !fields.maps.probability,
              "case %d: all NULL", bad);
        hot_dwi_destroy(&made);
        hot_mask_destroy(&empty);
        unlink("words.nrrd");
    }
    hot_context_cancel(context);
    CHECK(hot_run_compute(context, dwi, &o, &fields, NULL) == HOT_ERROR_CANCELLED && !fields.fibers, "cancelled");
    hot_context_resume(context);
    /* nothing but free water: no voxel of one fibre */
    const hot_phantom_condition water = {0, {0, 0}, {0, 0}, {3e-3, 3e-3}};
    const hot_phantom_options none = {.size = sizeof none, .conditions = &water, .condition_count = 1, .voxels = 200,
                                      .shell_b = shells, .shells = 2, .directions = 30};
    hot_phantom *wet = NULL;
    CHECK(hot_phantom_create(context, &none, &wet) == HOT_OK, "%s", hot_context_message(context));
    o.axial_diffusivity = o.radial_diffusivity = 0;
    CHECK(hot_run_compute(context, hot_phantom_dwi(wet), &o, &fields, NULL) == HOT_ERROR_DATA && !fields.fibers,
          "no voxel of one fibre: %s", hot_context_message(context));
    hot_phantom_destroy(&wet);
}

/* ---- The method signal ------------------------------------------------------------------------------------------- */

static void test_signal(hot_context *context)
{
    hot_mask *mask = NULL;
    hot_response *response = NULL;
    hot_fiber_field *fibers[4] = {NULL};
    hot_signal_maps maps[4] = {{.context = NULL}};
    static const int orders[4] = {0, 8, 4, 6};
    CHECK(hot_mask_full(context, hot_dwi_grid(dwi), &mask) == HOT_OK &&
              hot_response_tensor(context, dwi, 1.7e-3, .3e-3, 1000, 8, &response) == HOT_OK,
          "%s", hot_context_message(context));
    hot_signal_maps_free(maps); /* nothing is there */
    for (int i = 0; i < 4; i++) {
        const hot_signal_find_options o = {.size = sizeof o, .order = orders[i], .keep_maps = i != 3,
                                           .keep_cones = i == 0, .sigma = i == 3 ? 40 : 0, .samples = i == 2 ? 2 : 0};
        CHECK(hot_fiber_field_signal(context, dwi, mask, response, &o, &maps[i], &fibers[i]) == HOT_OK, "%s",
              hot_context_message(context));
        CHECK((maps[i].samples != NULL) == (i == 2) && (maps[i].probability != NULL) == (i != 3) &&
                  (maps[i].cone != NULL) == (i == 0),
              "order %d: maps", orders[i]);
        CHECK_NEAR(maps[i].sigma, 40, 3, "0 = from the b=0 volumes: sigma %g", maps[i].sigma);
    }
    const size_t bytes = 9 * VOXELS * sizeof(float);
    CHECK(memcmp(hot_fiber_field_peaks(fibers[0]), hot_fiber_field_peaks(fibers[1]), bytes) == 0 &&
              memcmp(hot_fiber_field_peaks(fibers[0]), hot_fiber_field_peaks(fibers[2]), bytes) != 0,
          "0 is 8, and not 4");
    int found = 0, cones = 0;
    double noise = 0;
    for (int n = 0; n < VOXELS; n++) {
        found += hot_fiber_field_counts(fibers[0])[n] > 0;
        noise += (double)maps[0].noise_sd[n] / VOXELS;
        for (int f = 0; f < hot_fiber_field_counts(fibers[0])[n]; f++) {
            const float *v = hot_fiber_field_peaks(fibers[0]) + 9 * n + 3 * f,
                        *axes = maps[0].cone_axes + 18 * n + 6 * f;
            const double half = (double)maps[0].cone[3 * n + f];
            double length[2], across[2], dot = 0, size = hypot(hypot((double)v[0], (double)v[1]), (double)v[2]);
            for (int a = 0; a < 2; a++) {
                const float *x = axes + 3 * a;
                length[a] = hypot(hypot((double)x[0], (double)x[1]), (double)x[2]);
                across[a] = ((double)x[0] * v[0] + (double)x[1] * v[1] + (double)x[2] * v[2]) / size;
                dot = a ? dot : 0;
                CHECK(fabs(across[a]) < 1e-3 * (1 + length[a]), "voxel %d: an axis along the fibre: %g", n, across[a]);
            }
            CHECK(length[0] >= length[1] * (1 - 1e-6) && length[1] > 0, "voxel %d: axes of %g and %g", n, length[0],
                  length[1]);
            /* the circle that holds as much is as wide as the ellipse, in degrees */
            CHECK(half <= length[0] * 1.02 && half >= length[1] * .98 && half < 90, "voxel %d: %g, axes %g and %g", n,
                  half, length[0], length[1]);
            cones++;
        }
        for (int f = hot_fiber_field_counts(fibers[0])[n]; f < 3; f++)
            CHECK(isnan(maps[0].cone[3 * n + f]) && isnan(maps[0].fraction_sd[3 * n + f]), "voxel %d: no fibre", n);
    }
    CHECK(found > .7 * VOXELS && cones > found, "all of the mask: fibres in %d voxels", found);
    CHECK_NEAR(noise, 40, 6, "the voxels' noise: %g on average", noise);
    for (int i = 0; i < 4; i++) {
        hot_signal_maps_free(&maps[i]);
        CHECK(!maps[i].probability && !maps[i].cone && !maps[i].samples, "nothing is there");
        hot_signal_maps_free(&maps[i]);
        hot_fiber_field_destroy(&fibers[i]);
    }
    /* wrong orders; max_fibers is that of peaks in a run */
    for (int order = -1; order <= 10; order++) {
        const hot_signal_find_options o = {.size = sizeof o, .order = order};
        hot_fiber_field *made = NULL;
        if (order != 0 && order != 4 && order != 6 && order != 8)
            CHECK(hot_fiber_field_signal(context, dwi, mask, response, &o, NULL, &made) == HOT_ERROR_ARGUMENT && !made,
                  "order %d", order);
    }
    const hot_signal_find_options three = {.size = sizeof three, .max_fibers = 3};
    const hot_peaks_options two = {.size = sizeof two, .max_fibers = 2};
    const hot_run_options run = {
        .size = sizeof run, .peaks = &two, .signal = &three, .axial_diffusivity = 1.7e-3, .radial_diffusivity = .3e-3};
    hot_run_fields fields = compute(context, dwi, &run);
    CHECK(hot_fiber_field_max(fields.fibers) == 2 && fields.maps.max_fibers == 2, "%d per voxel",
          hot_fiber_field_max(fields.fibers));
    hot_run_fields_free(&fields);
    /* one b=0 volume: the noise from the residuals; no response: from the data */
    hot_dwi *single = NULL;
    const size_t volumes = hot_dwi_volumes(dwi);
    float *rows = malloc(VOXELS * volumes * sizeof *rows), *data = malloc(VOXELS * volumes * sizeof *data);
    CHECK(hot_dwi_read(context, dwi, 0, VOXELS, rows) == HOT_OK, "signals");
    for (size_t v = 2; v < volumes; v++)
        for (size_t n = 0; n < VOXELS; n++)
            data[(v - 2) * VOXELS + n] = rows[n * volumes + v];
    CHECK(hot_dwi_create(context, hot_dwi_grid(dwi), volumes - 2, hot_dwi_b(dwi) + 2, hot_dwi_gradients(dwi) + 6, data,
                         &single) == HOT_OK,
          "%s", hot_context_message(context));
    const hot_signal_find_options few = {.size = sizeof few, .keep_maps = 1};
    hot_response *estimated = NULL;
    CHECK(hot_fiber_field_signal(context, single, mask, response, &few, maps, fibers) == HOT_OK, "%s",
          hot_context_message(context));
    CHECK_NEAR(maps[0].sigma, 40, 8, "from the residuals: sigma %g", maps[0].sigma);
    hot_signal_maps_free(maps);
    hot_fiber_field_destroy(fibers);
    CHECK(hot_response_estimate(context, dwi, mask, 8, &estimated, NULL) == HOT_OK &&
              hot_fiber_field_signal(context, dwi, mask, NULL, NULL, NULL, fibers) == HOT_OK &&
              hot_fiber_field_signal(context, dwi, mask, estimated, NULL, NULL, fibers + 1) == HOT_OK &&
              hot_fiber_field_signal(context, dwi, mask, response, NULL, NULL, fibers + 2) == HOT_OK,
          "%s", hot_context_message(context));
    double off[2] = {0};
    for (int i = 0; i < 9 * VOXELS; i++)
        for (int which = 0; which < 2; which++)
            off[which] += fabs((double)hot_fiber_field_peaks(fibers[0])[i] -
                               (double)hot_fiber_field_peaks(fibers[1 + which])[i]);
    CHECK(off[0] < .1 * off[1] && off[1] > 0, "NULL is the estimated one: off by %g, another's by %g", off[0], off[1]);
    for (int i = 0; i < 3; i++)
        hot_fiber_field_destroy(&fibers[i]);
    hot_response_destroy(&estimated);
    free(rows), free(data);
    hot_dwi_destroy(&single);
    hot_response_destroy(&response);
    hot_mask_destroy(&mask);
}

/* ---- hot_run, its records and its page --------------------------------------------------------------------------- */

static void test_outputs(void)
{
    size_t count = 0;
    for (const char *name, *file, *help; (name = hot_run_output_name(count, &file, &help)); count++) {
        CHECK(name[0] && file[0] && help[0] && !strchr(help, '\n'), "output %zu", count);
        CHECK(hot_run_output_name(count, NULL, NULL) == name, "output %zu: file and help may be NULL", count);
    }
    CHECK(count > 5 && !hot_run_output_name(count, NULL, NULL) && !hot_run_output_name(count + 1000, NULL, NULL) &&
              !hot_run_output_name(SIZE_MAX, NULL, NULL),
          "NULL after the last of %zu", count);
}

static void test_run(hot_context *context)
{
    const hot_fit_options fit = {.size = sizeof fit, .order = 4};
    const hot_peaks_options peaks = {.size = sizeof peaks, .method = "maxima"};
    hot_run_options o = {.size = sizeof o, .input = "data.nii", .output = "run", .fit = &fit, .peaks = &peaks};
    char *record = NULL;
    hot_run_result result;
    CHECK(hot_dwi_save(context, dwi, "data.nii") == HOT_OK && hot_run(context, &o, &result) == HOT_OK,
          "tables next to it: "
          "%s",
          hot_context_message(context));
    CHECK(result.voxels > 0 && result.fitted <= result.voxels, "%zu voxels", result.voxels);
    CHECK(mkdir("tables", 0700) == 0 && rename("data.bval", "tables/x.bval") == 0 &&
              rename("data.bvec", "tables/x.bvec") == 0,
          "tables elsewhere");
    o.output = "second";
    CHECK(hot_run(context, &o, NULL) != HOT_OK && access("second", F_OK) != 0, "no tables next to it");
    o.bval = "tables/x.bval", o.bvec = "tables/x.bvec";
    CHECK(hot_run(context, &o, NULL) == HOT_OK, "%s", hot_context_message(context));
    remove_folder("second");
    o.output = "data.nii/run";
    CHECK(hot_run(context, &o, NULL) == HOT_ERROR_FILE, "a folder that cannot be made: %s",
          hot_context_message(context));
    o.output = "run";
    CHECK(hot_run(context, &o, NULL) == HOT_ERROR_FILE, "an existing folder: %s", hot_context_message(context));
    /* the page: its background is b0.nii.gz, fa.nii.gz, or the lengths of the fibres */
    CHECK(hot_run_report(context, "run", NULL, "page.html") == HOT_OK && access("page.html", R_OK) == 0, "%s",
          hot_context_message(context));
    float *image = calloc(VOXELS, sizeof *image);
    hot_grid there = *hot_dwi_grid(dwi);
    hot_mask *elsewhere = NULL;
    there.to_world[0][3] += 5000;
    unlink("page.html");
    CHECK(hot_run_report(context, "tables", NULL, "page.html") == HOT_ERROR_FILE, "no report.json");
    CHECK(hot_run_report(context, "run", "no-image.nii", "page.html") == HOT_ERROR_FILE,
          "a background that is not there");
    check_write("words.nii", "no image\n");
    CHECK(hot_run_report(context, "run", "words.nii", "page.html") == HOT_ERROR_FORMAT, "a background of words: %s",
          hot_context_message(context));
    CHECK(hot_mask_full(context, &there, &elsewhere) == HOT_OK &&
              hot_mask_save(context, elsewhere, "far.nrrd") == HOT_OK &&
              hot_run_report(context, "run", "far.nrrd", "page.html") == HOT_ERROR_DATA,
          "a background elsewhere: %s", hot_context_message(context));
    CHECK(hot_run_report(context, "run", NULL, "data.nii/page.html") == HOT_ERROR_FILE,
          "a page that cannot be written");
    hot_context_cancel(context);
    CHECK(hot_run_report(context, "run", NULL, "page.html") == HOT_ERROR_CANCELLED, "cancelled");
    hot_context_resume(context);
    CHECK(access("page.html", F_OK) != 0, "an error, and a page");
    hot_mask_destroy(&elsewhere);
    free(image);
    unlink("words.nii"), unlink("far.nrrd");
    remove_folder("run");
    /* parts: the record of the first one */
    o.output = "parts", o.parts = 2;
    for (o.part = 1; o.part <= 2; o.part++) {
        o.record = o.part == 1 ? "the first, \"quoted\"\nand more" : "the second";
        CHECK(hot_run(context, &o, NULL) == HOT_OK, "%s", hot_context_message(context));
        const hot_status status = hot_run_parts_record(context, "parts", &record);
        CHECK(status == (o.part == 1 ? HOT_ERROR_FILE : HOT_OK), "%d of 2 parts: %d", o.part, (int)status);
    }
    CHECK(record && strcmp(record, "the first, \"quoted\"\nand more") == 0, "record: %s", record ? record : "none");
    hot_context_free(context, record);
    CHECK(hot_run_parts_record(context, "nowhere", &record) == HOT_ERROR_FILE && !record, "no folder");
    check_write("parts/part-1-of-2.nrrd", "NRRD0004\ntype: uchar\n");
    CHECK(hot_run_parts_record(context, "parts", &record) == HOT_ERROR_FORMAT && !record, "a damaged part: %s",
          hot_context_message(context));
    remove_folder("parts");
    /* a learned model: its record, too */
    const hot_run_options learn = {.size = sizeof learn, .input = "data.nii", .bval = o.bval, .bvec = o.bvec,
                                   .fit = &fit, .learn = "model.json", .record = "learned \"so\"", .peaks = &peaks};
    CHECK(hot_run(context, &learn, NULL) == HOT_OK &&
              hot_run_learned_record(context, "model.json", &record) == HOT_OK && record &&
              strcmp(record, "learned \"so\"") == 0,
          "%s", hot_context_message(context));
    hot_context_free(context, record);
    CHECK(hot_run_learned_record(context, "nothing.json", &record) == HOT_ERROR_FILE && !record, "no model");
    check_write("words.json", "{\"not\": \"a model\"}");
    CHECK(hot_run_learned_record(context, "words.json", &record) == HOT_ERROR_FORMAT && !record, "another JSON: %s",
          hot_context_message(context));
    unlink("words.json"), unlink("model.json"), unlink("data.nii");
    remove_folder("tables");
}

int main(void)
{
    const hot_context_options how = {.size = sizeof how, .device = HOT_DEVICE_CPU, .threads = 2, .log = listen,
                                     .allocate = counted_allocate, .release = counted_release};
    const hot_phantom_options p = {.size = sizeof p, .layout = HOT_PHANTOM_MIXTURE, .volume = {NX, NY, NZ},
                                   .shell_b = shells, .shells = 2, .directions = 40, .b0 = 3, .radial = .3e-3,
                                   .snr = (double[]){25}, .snr_count = 1};
    char folder[] = "/tmp/hotfiber-runs-XXXXXX";
    hot_context *context = NULL;
    CHECK(hot_context_create(&how, &context) == HOT_OK && mkdtemp(folder) && chdir(folder) == 0,
          "a context and a folder");
    CHECK(hot_phantom_create(context, &p, &phantom) == HOT_OK, "%s", hot_context_message(context));
    dwi = hot_phantom_dwi(phantom);
    test_outputs();
    test_methods(context);
    test_inputs(context);
    test_data(context);
    test_signal(context);
    test_run(context);
    CHECK(chdir("/tmp") == 0 && rmdir(folder) == 0, "something is left in %s", folder);
    hot_phantom_destroy(&phantom);
    hot_context_destroy(&context);
    COUNTED_TEST_END();
}
