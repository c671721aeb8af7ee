/* Lists of errors in the plugin's headers: for each function that reads, writes or computes, a missing file or one that
 * cannot be written, one with other content, every allocation failing, and cancelling. Outputs are NULL after a
 * failure, and nothing is lost or left. */
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#include <hotfiber/hotfiber.h>

#include "starve.h"
#include "threads.h"

enum { NX = 8, NY = 8, NZ = 5, VOXELS = NX * NY * NZ };

static const hot_dwi *dwi;
static hot_phantom *phantom;
static hot_mask *mask;
static hot_tensor_field *tensors, *tissues, *plain;
static hot_fiber_field *fibers;
static hot_response *response;
static hot_signal_maps maps;
static const hot_grid *grid;

/* ---- Calls: with a path that is read or written, or that does not matter. An output that is not NULL after a failure
 * is a failure. */

static const char *at; /* the function of the row */

static void check_output(hot_status status, const void *made)
{
    CHECK((status == HOT_OK) == (made != NULL), "%s: status %d, and the output is %sNULL", at, (int)status,
          made ? "not " : "");
}

static hot_status save_mask(hot_context *c, const char *path) { return hot_mask_save(c, mask, path); }
static hot_status save_tensors(hot_context *c, const char *path) { return hot_tensor_field_save(c, tensors, path); }
static hot_status save_fibers(hot_context *c, const char *path) { return hot_fiber_field_save(c, fibers, path); }
static hot_status save_data(hot_context *c, const char *path) { return hot_dwi_save(c, dwi, path); }

static hot_status load_data(hot_context *c, const char *path)
{
    hot_dwi *data = (hot_dwi *)&data;
    const hot_status status = hot_dwi_load(c, path, NULL, NULL, &data);
    check_output(status, data);
    hot_dwi_destroy(&data);
    return status;
}

static hot_status load_mask(hot_context *c, const char *path)
{
    hot_mask *loaded = (hot_mask *)&loaded;
    const hot_status status = hot_mask_load(c, path, grid, &loaded);
    check_output(status, loaded);
    hot_mask_destroy(&loaded);
    return status;
}

static hot_status estimate_mask(hot_context *c, const char *path)
{
    hot_mask *estimated = (hot_mask *)&estimated;
    double sigma, snr;
    size_t repeats;
    (void)path;
    hot_status status = hot_mask_estimate(c, dwi, &estimated);
    check_output(status, estimated);
    if (status == HOT_OK)
        status = hot_dwi_noise(c, dwi, estimated, &sigma, &snr, &repeats);
    hot_mask_destroy(&estimated);
    return status;
}

static hot_status fit_model(hot_context *c, const char *model)
{
    const hot_fit_options o = {.size = sizeof o, .model = model, .positive = strcmp(model, "adc") == 0};
    hot_tensor_field *field = (hot_tensor_field *)&field;
    const hot_status status = hot_tensor_field_fit(c, dwi, mask, &o, &field);
    check_output(status, field);
    hot_tensor_field_destroy(&field);
    return status;
}

static hot_status make_phantom(hot_context *c, const char *path)
{
    const double shells[2] = {1000, 2000};
    const hot_phantom_options o = {.size = sizeof o, .layout = HOT_PHANTOM_MIXTURE, .volume = {3, 3, 2},
                                   .shell_b = shells, .shells = 2, .directions = 8, .b0 = 2,
                                   .tissue = HOT_TISSUE_NODDI};
    hot_phantom *made = (hot_phantom *)&made;
    (void)path;
    const hot_status status = hot_phantom_create(c, &o, &made);
    check_output(status, made);
    hot_phantom_destroy(&made);
    return status;
}

static hot_status make_score(hot_context *c, const char *path)
{
    hot_score *made = (hot_score *)&made;
    (void)path;
    const hot_status status = hot_score_create(c, fibers, hot_phantom_truth(phantom), NULL, &made);
    check_output(status, made);
    hot_score_destroy(&made);
    return status;
}

static hot_status load_as(hot_context *c, const char *path, const char *content)
{
    hot_tensor_field *field = (hot_tensor_field *)&field;
    const hot_status status = hot_tensor_field_load_as(c, path, content, &field);
    check_output(status, field);
    hot_tensor_field_destroy(&field);
    return status;
}
static hot_status load_tensors(hot_context *c, const char *path) { return load_as(c, path, NULL); }
static hot_status load_tensor_content(hot_context *c, const char *path) { return load_as(c, path, "tensor"); }

static hot_status load_fibers(hot_context *c, const char *path)
{
    hot_fiber_field *field = (hot_fiber_field *)&field;
    const hot_status status = hot_fiber_field_load_as(c, path, "peaks", &field);
    check_output(status, field);
    hot_fiber_field_destroy(&field);
    return status;
}

static hot_status content(hot_context *c, const char *path)
{
    const char *word = NULL;
    const hot_status status = hot_file_content(c, path, &word);
    CHECK(status != HOT_OK || word, "no word");
    return status;
}

static hot_status load_sh(hot_context *c, const char *path)
{
    const hot_sh_options o = {.size = sizeof o, .basis = "tournier07"};
    hot_tensor_field *field = (hot_tensor_field *)&field;
    const hot_status status = hot_tensor_field_load_sh(c, path, &o, &field);
    check_output(status, field);
    hot_tensor_field_destroy(&field);
    return status;
}

static hot_status load_image(hot_context *c, const char *path)
{
    hot_grid where;
    float *values = (float *)&where;
    const hot_status status = hot_image_load(c, path, &where, &values);
    check_output(status, values);
    hot_context_free(c, status == HOT_OK ? values : NULL);
    return status;
}

static hot_status load_values(hot_context *c, const char *path)
{
    hot_grid where;
    float *values = (float *)&where;
    size_t count;
    const hot_status status = hot_image_load_values(c, path, &where, &values, &count);
    check_output(status, values);
    hot_context_free(c, status == HOT_OK ? values : NULL);
    return status;
}

static hot_status background(hot_context *c, const char *path)
{
    static float image[VOXELS];
    (void)path;
    return hot_export_background(c, dwi, image);
}

static hot_status glyphs(hot_context *c, const char *path)
{
    hot_glyphs *made = (hot_glyphs *)&made;
    (void)path;
    const hot_status status = hot_glyphs_create(c, tensors, HOT_SPACE_RAS, &made);
    check_output(status, made);
    hot_glyphs_destroy(&made);
    return status;
}

static hot_status amplitude_of(hot_context *c, const hot_fiber_field *from, const hot_response *r)
{
    hot_fiber_field *scaled = (hot_fiber_field *)&scaled;
    const hot_status status = hot_fiber_field_fod_amplitude(c, from, r, 0, NULL, &scaled);
    check_output(status, scaled);
    hot_fiber_field_destroy(&scaled);
    return status;
}
static hot_status amplitude(hot_context *c, const char *path)
{
    (void)path;
    return amplitude_of(c, fibers, response);
}

static hot_status save_tissue(hot_context *c, const char *path)
{
    return hot_tensor_field_save_tissue_sh(c, tissues, 0, path);
}

static hot_status save_samples(hot_context *c, const char *path)
{
    return hot_signal_samples_save(c, &maps, mask, path);
}

static hot_status load_noise(hot_context *c, const char *path)
{
    float *map = (float *)&map;
    const hot_status status = hot_noise_map_load(c, path, grid, &map);
    check_output(status, map);
    hot_context_free(c, status == HOT_OK ? map : NULL);
    return status;
}

static hot_status load_tissues(hot_context *c, const char *path)
{
    hot_response *many[HOT_TISSUES_MAX];
    size_t count = 77;
    const hot_status status = hot_response_load_tissues(c, path, many, &count);
    for (size_t i = 0; status == HOT_OK && i < count; i++)
        hot_response_destroy(&many[i]);
    CHECK(status == HOT_OK || count == 0, "%zu responses after a failure", count);
    return status;
}

static hot_status save_phantom(hot_context *c, const char *path) { return hot_phantom_save(c, phantom, NULL, path); }

/* ---- The table -------------------------------------------------------------------------------------------------- */

enum { READS = 1, WRITES = 2, CANCELS = 4, FORMAT = 8 };
typedef struct row {
    const char *name;
    hot_status (*call)(hot_context *context, const char *path);
    const char *good;  /* a path with which it succeeds */
    const char *other; /* a good file of something else; NULL = none is */
    int does;
} row;

static const row rows[] = {
    {"hot_dwi_load", load_data, "data.nrrd", "tensors.nrrd", READS | FORMAT},
    {"hot_dwi_load, data in parts", load_data, "parts.nhdr", NULL, READS | FORMAT},
    {"hot_dwi_load, NIfTI", load_data, "data.nii.gz", NULL, READS},
    {"hot_dwi_save", save_data, "out.nrrd", NULL, WRITES | CANCELS},
    {"hot_dwi_save, NIfTI", save_data, "out.nii.gz", NULL, WRITES | CANCELS},
    {"hot_mask_load", load_mask, "mask.nrrd", NULL, READS | FORMAT},
    {"hot_mask_load, NIfTI", load_mask, "mask.nii.gz", NULL, READS},
    {"hot_mask_estimate, hot_dwi_noise", estimate_mask, "", NULL, CANCELS},
    {"hot_tensor_field_fit, adc", fit_model, "adc", NULL, CANCELS},
    {"hot_tensor_field_fit, odf", fit_model, "odf", NULL, CANCELS},
    {"hot_tensor_field_fit, fod", fit_model, "fod", NULL, CANCELS},
    {"hot_tensor_field_fit, msmt", fit_model, "msmt", NULL, CANCELS},
    {"hot_tensor_field_save", save_tensors, "out.nrrd", NULL, WRITES},
    {"hot_tensor_field_load, NIfTI", load_tensors, "tensors.nii.gz", NULL, READS},
    {"hot_fiber_field_save", save_fibers, "out.nrrd", NULL, WRITES},
    {"hot_fiber_field_save, NIfTI", save_fibers, "out.nii.gz", NULL, WRITES},
    {"hot_phantom_create", make_phantom, "", NULL, CANCELS},
    {"hot_score_create", make_score, "", NULL, 0},
    {"hot_mask_save", save_mask, "out.nrrd", NULL, WRITES | CANCELS},
    {"hot_tensor_field_load", load_tensors, "tensors.nrrd", "fibers.nrrd", READS | FORMAT},
    {"hot_tensor_field_load_as", load_tensor_content, "tensors.nrrd", "data.nrrd", READS | FORMAT},
    {"hot_fiber_field_load_as", load_fibers, "fibers.nrrd", "tensors.nrrd", READS | FORMAT},
    {"hot_file_content", content, "tensors.nrrd", NULL, READS | FORMAT},
    {"hot_tensor_field_load_sh", load_sh, "sh.nii", "fibers.nrrd", READS | FORMAT | CANCELS},
    {"hot_image_load", load_image, "map.nrrd", NULL, READS | FORMAT},
    {"hot_image_load_values", load_values, "map.nrrd", NULL, READS | FORMAT},
    {"hot_export_background", background, "", NULL, CANCELS},
    {"hot_glyphs_create", glyphs, "", NULL, 0},
    {"hot_fiber_field_fod_amplitude", amplitude, "", NULL, CANCELS},
    {"hot_tensor_field_save_tissue_sh", save_tissue, "out.nii", NULL, WRITES},
    {"hot_signal_samples_save", save_samples, "samples", NULL, WRITES | CANCELS},
    {"hot_noise_map_load", load_noise, "map.nrrd", NULL, READS | FORMAT},
    {"hot_response_load_tissues", load_tissues, "r.txt,r.txt", NULL, READS},
    {"hot_phantom_save", save_phantom, "out.nrrd", NULL, WRITES},
};

static void remove_outputs(void)
{
    static const char *const files[] = {"merged_th1samples",
                                        "merged_ph1samples",
                                        "merged_f1samples",
                                        "mean_th1samples",
                                        "mean_ph1samples",
                                        "mean_f1samples",
                                        "dyads1",
                                        "nodif_brain_mask",
                                        "mean_fsumsamples",
                                        "mean_dsamples",
                                        "mean_d_stdsamples",
                                        "mean_S0samples",
                                        "dyads1_dispersion"};
    unlink("out.nrrd"), unlink("out.nii"), unlink("out.nii.gz"), unlink("out.bval"), unlink("out.bvec");
    for (int fibre = 0; fibre < 3; fibre++)
        for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
            char path[80];
            snprintf(path, sizeof path, "samples/%s.nii.gz", files[f]);
            for (char *digit = path; *digit; digit++)
                if (*digit == '1' && fibre)
                    *digit = (char)('1' + fibre);
            unlink(path);
        }
    rmdir("samples");
}

static int exists(const char *path) { return access(path, F_OK) == 0; }

static hot_context *hungry(starved *s, long fail_at)
{
    const hot_context_options how = {.size = sizeof how, .device = HOT_DEVICE_CPU, .threads = 2,
                                     .allocate = starved_take, .release = starved_give, .allocator_user = s};
    hot_context *context = NULL;
    *s = (starved){.fail_at = fail_at};
    CHECK(hot_context_create(&how, &context) == HOT_OK, "a context");
    return context;
}

static void check_row(const row *r, hot_context *context)
{
    at = r->name;
    CHECK(r->call(context, r->good) == HOT_OK, "%s: %s", r->name, hot_context_message(context));
    if (r->does & READS)
        CHECK(r->call(context, "none.nrrd") == HOT_ERROR_FILE && strstr(hot_context_message(context), "none.nrrd"),
              "%s: a file that is not there: %s", r->name, hot_context_message(context));
    if (r->does & FORMAT)
        CHECK(r->call(context, "noise.nrrd") == HOT_ERROR_FORMAT, "%s: a file of noise: %s", r->name,
              hot_context_message(context));
    if (r->other)
        CHECK(r->call(context, r->other) == HOT_ERROR_FORMAT, "%s: %s: %s", r->name, r->other,
              hot_context_message(context));
    if (r->does & WRITES) {
        char path[80];
        snprintf(path, sizeof path, "noise.nrrd/%s", r->good);
        CHECK(r->call(context, path) == HOT_ERROR_FILE, "%s: a folder that is a file: %s", r->name,
              hot_context_message(context));
    }
    if (r->does & CANCELS) {
        remove_outputs();
        hot_context_cancel(context);
        CHECK(r->call(context, r->good) == HOT_ERROR_CANCELLED, "%s: cancelled", r->name);
        CHECK(!(r->does & WRITES) || !exists(r->good), "%s: cancelled, and the file is there", r->name);
        hot_context_resume(context);
    }
    int failed = 0;
    for (long k = 1, done = 0; !done && k < 3000; k += 1 + k / 8) {
        starved s;
        remove_outputs();
        hot_context *poor = hungry(&s, k);
        const hot_status status = r->call(poor, r->good);
        done = s.calls <= k;
        CHECK(done ? status == HOT_OK : status == HOT_OK || status == HOT_ERROR_MEMORY, "%s: allocation %ld: %d %s",
              r->name, k, (int)status, hot_context_message(poor));
        CHECK(status == HOT_OK || hot_context_message(poor)[0], "%s: no message", r->name);
        CHECK(status == HOT_OK || !(r->does & WRITES) || !exists(r->good), "%s: allocation %ld: a file is left",
              r->name, k);
        failed += status == HOT_ERROR_MEMORY;
        hot_context_destroy(&poor);
        CHECK(s.live == 0, "%s: allocation %ld: %ld pieces lost", r->name, k, s.live);
    }
    CHECK(failed > 0, "%s needs no memory", r->name);
    remove_outputs();
}

/* Arguments and data that do not go with a function, by the words of its header. */
static void test_arguments(hot_context *context)
{
    hot_response *no_shell = NULL;
    hot_fiber_field *made = NULL;
    float amounts[2 * VOXELS];
    CHECK(load_as(context, "tensors.nrrd", "nothing") == HOT_ERROR_ARGUMENT &&
              strcmp(hot_context_parameter(context), "content") == 0,
          "'%s'", hot_context_parameter(context));
    for (int wrong = 0; wrong < 2; wrong++) {
        const hot_sh_options o = {.size = sizeof o, .basis = wrong ? NULL : "none", .frame = wrong ? "none" : NULL};
        hot_tensor_field *field = NULL;
        CHECK(hot_tensor_field_load_sh(context, "sh.nii", &o, &field) == HOT_ERROR_ARGUMENT && !field &&
                  strcmp(hot_context_parameter(context), wrong ? "frame" : "basis") == 0,
              "'%s'", hot_context_parameter(context));
    }
    CHECK(hot_fiber_field_create(context, grid, 3, hot_fiber_field_peaks(fibers), &made) == HOT_OK &&
              amplitude_of(context, made, NULL) == HOT_ERROR_ARGUMENT,
          "no response is known");
    CHECK(hot_response_create(context, 1, 0, (double[]){0}, (double[]){100}, &no_shell) == HOT_OK &&
              amplitude_of(context, made, no_shell) == HOT_ERROR_DATA,
          "a response without a shell");
    CHECK(hot_tensor_field_amounts(context, plain, amounts, NULL) == HOT_ERROR_ARGUMENT &&
              hot_tensor_field_amounts(context, tissues, amounts, NULL) == HOT_OK,
          "a field of another model");
    CHECK(hot_tensor_field_save_tissue_sh(context, tissues, hot_tensor_field_tissues(tissues), "out.nii") ==
                  HOT_ERROR_ARGUMENT &&
              hot_tensor_field_save_tissue_sh(context, plain, 0, "out.nii") == HOT_ERROR_ARGUMENT && !exists("out.nii"),
          "no such tissue");
    const hot_signal_maps none = {.context = context};
    CHECK(hot_signal_samples_save(context, &none, mask, "samples") == HOT_ERROR_ARGUMENT && !exists("samples"),
          "no samples");
    hot_response_destroy(&no_shell);
    hot_fiber_field_destroy(&made);
    /* a model and orders that are not, and one that the directions do not determine */
    hot_tensor_field *unfit = NULL;
    const hot_fit_options o[] = {{.size = sizeof *o, .model = "xyz"}, {.size = sizeof *o, .order = 5},
                                 {.size = sizeof *o, .model = "odf", .order = 8}};
    for (int i = 0; i < 3; i++)
        CHECK(hot_tensor_field_fit(context, dwi, mask, &o[i], &unfit) ==
                  (i < 2 ? HOT_ERROR_ARGUMENT : HOT_ERROR_DATA) && !unfit &&
                  strstr(hot_context_message(context), i == 0 ? "xyz" : i == 1 ? "5" : "order 6 would do"), "%d: %s", i,
              hot_context_message(context));
    /* a mask of another size */
    hot_grid half = *grid;
    half.size[0] /= 2;
    hot_mask *small = NULL;
    hot_response *of_small = NULL;
    hot_tensor_field *small_tensors = NULL;
    hot_fiber_field *small_fibers = NULL;
    hot_dwi *clean = NULL;
    hot_run_fields fields;
    double sigma, snr;
    size_t repeats;
    CHECK(hot_mask_full(context, &half, &small) == HOT_OK, "%s", hot_context_message(context));
    const hot_run_options run = {.size = sizeof run, .mask_in_memory = small};
    const hot_peaks_options looking = {.size = sizeof looking, .mask = small};
    const hot_status refused[] = {hot_run_compute(context, dwi, &run, &fields, NULL),
                                  hot_response_estimate(context, dwi, small, 8, &of_small, NULL),
                                  hot_tensor_field_fit(context, dwi, small, NULL, &small_tensors),
                                  hot_fiber_field_signal(context, dwi, small, response, NULL, NULL, &small_fibers),
                                  hot_fiber_field_find(context, tensors, &looking, &small_fibers),
                                  hot_dwi_noise(context, dwi, small, &sigma, &snr, &repeats),
                                  hot_dwi_denoise(context, dwi, small, NULL, &clean, NULL)};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        CHECK(refused[i] == HOT_ERROR_DATA, "function %zu, a mask of another size: %d", i, (int)refused[i]);
    CHECK(!of_small && !small_tensors && !small_fibers && !clean && !fields.fibers &&
              strstr(hot_context_message(context), "the mask has"), "%s", hot_context_message(context));
    hot_mask_destroy(&small);
    /* an axis that is too long for NIfTI */
    const hot_grid longer = {.size = {1, 40000, 1}, .to_world = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
    CHECK(hot_mask_full(context, &longer, &small) == HOT_OK &&
              hot_mask_save(context, small, "out.nii") == HOT_ERROR_DATA && !exists("out.nii"), "40,000 voxels: %s",
          hot_context_message(context));
    hot_mask_destroy(&small);
    /* a map of noise from elsewhere, and one without a position that has other sizes */
    float *map = NULL;
    hot_grid there = *grid;
    there.to_world[0][3] += 1000;
    CHECK(hot_noise_map_load(context, "map.nrrd", &there, &map) == HOT_ERROR_DATA && !map, "elsewhere");
    CHECK(hot_noise_map_load(context, "sizes.nrrd", grid, &map) == HOT_ERROR_DATA && !map, "other sizes: %s",
          hot_context_message(context));
}

/* Data whose header lists a compressed file for each volume. */
static void write_parts(void)
{
    enum { COUNT = 7 };
    FILE *header = fopen("parts.nhdr", "w");
    CHECK(header, "parts.nhdr");
    if (!header)
        return;
    fprintf(header, "NRRD0005\ntype: uchar\ndimension: 4\nsizes: %d %d %d %d\nencoding: gzip\nkinds: domain domain "
            "domain list\nspace: RAS\nspace directions: (2,0,0) (0,2,0) (0,0,2) none\nmodality:=DWMRI\n"
            "DWMRI_b-value:=1000\n", NX, NY, NZ, COUNT);
    for (int v = 0; v < COUNT; v++)
        fprintf(header, "DWMRI_gradient_%04d:=%g %g %g\n", v, v ? cos(v) : 0, v ? sin(v) : 0, v ? v / 4. : 0);
    fprintf(header, "data file: LIST\n");
    for (int v = 0; v < COUNT; v++) {
        char name[16];
        unsigned char samples[VOXELS];
        snprintf(name, sizeof name, "part_%d.gz", v);
        fprintf(header, "%s\n", name);
        memset(samples, 100 - 5 * v, sizeof samples);
        gzFile part = gzopen(name, "wb");
        CHECK(part && gzwrite(part, samples, sizeof samples) == (int)sizeof samples && gzclose(part) == Z_OK, "%s",
              name);
    }
    fclose(header);
}

static void set_up(hot_context *context)
{
    static const double shells[2] = {1000, 2500};
    const hot_phantom_options o = {.size = sizeof o, .layout = HOT_PHANTOM_MIXTURE, .volume = {NX, NY, NZ},
                                   .shell_b = shells, .shells = 2, .directions = 30, .b0 = 3};
    const hot_fit_options fod = {.size = sizeof fod, .order = 4},
                          msmt = {.size = sizeof msmt, .model = "msmt", .order = 4};
    static float noise[VOXELS];
    CHECK(hot_phantom_create(context, &o, &phantom) == HOT_OK, "%s", hot_context_message(context));
    dwi = hot_phantom_dwi(phantom), grid = hot_dwi_grid(dwi);
    CHECK(hot_mask_full(context, grid, &mask) == HOT_OK &&
              hot_response_tensor(context, dwi, 1.7e-3, .3e-3, 1000, 8, &response) == HOT_OK,
          "%s", hot_context_message(context));
    hot_fit_options own = fod, mixed = msmt, adc = {.size = sizeof adc, .model = "adc", .order = 4};
    own.response = mixed.response = response;
    CHECK(hot_tensor_field_fit(context, dwi, mask, &own, &tensors) == HOT_OK &&
              hot_tensor_field_fit(context, dwi, mask, &mixed, &tissues) == HOT_OK &&
              hot_tensor_field_fit(context, dwi, mask, &adc, &plain) == HOT_OK,
          "%s", hot_context_message(context));
    const hot_signal_find_options s = {.size = sizeof s, .keep_maps = 1, .samples = 3};
    CHECK(hot_fiber_field_signal(context, dwi, mask, response, &s, &maps, &fibers) == HOT_OK, "%s",
          hot_context_message(context));
    for (int n = 0; n < VOXELS; n++)
        noise[n] = 30;
    CHECK(hot_tensor_field_save(context, tensors, "tensors.nrrd") == HOT_OK &&
              hot_fiber_field_save(context, fibers, "fibers.nrrd") == HOT_OK &&
              hot_dwi_save(context, dwi, "data.nrrd") == HOT_OK &&
              hot_dwi_save(context, dwi, "data.nii.gz") == HOT_OK &&
              hot_tensor_field_save(context, tensors, "tensors.nii.gz") == HOT_OK &&
              hot_mask_save(context, mask, "mask.nrrd") == HOT_OK &&
              hot_mask_save(context, mask, "mask.nii.gz") == HOT_OK &&
              hot_dwi_save_noise(context, dwi, noise, "map.nrrd") == HOT_OK &&
              hot_tensor_field_save_tissue_sh(context, tissues, 0, "sh.nii") == HOT_OK &&
              hot_response_save(context, response, "r.txt") == HOT_OK,
          "%s", hot_context_message(context));
    write_parts();
    check_write("noise.nrrd", "This is no image.\n");
    check_write("sizes.nrrd", "NRRD0004\ntype: uchar\ndimension: 3\nsizes: 1 2 1\nencoding: raw\n\nab");
}

int main(void)
{
    hot_context *context = context_of(2);
    static const char *const files[] = {"tensors.nrrd", "fibers.nrrd", "data.nrrd",  "map.nrrd",
                                        "sh.nii",       "r.txt",       "noise.nrrd", "sizes.nrrd",
                                        "data.nii.gz",  "data.bval",   "data.bvec",  "tensors.nii.gz",
                                        "mask.nrrd",    "mask.nii.gz", "parts.nhdr", "part_0.gz",
                                        "part_1.gz",    "part_2.gz",   "part_3.gz",  "part_4.gz",
                                        "part_5.gz",    "part_6.gz"};
    char folder[] = "/tmp/hotfiber-errors-XXXXXX";
    CHECK(mkdtemp(folder) && chdir(folder) == 0, "a folder");
    set_up(context);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        check_row(&rows[r], context);
    test_arguments(context);
    for (size_t f = 0; f < sizeof files / sizeof *files; f++)
        unlink(files[f]);
    CHECK(chdir("/tmp") == 0 && rmdir(folder) == 0, "something is left in %s", folder);
    hot_signal_maps_free(&maps);
    hot_fiber_field_destroy(&fibers);
    hot_tensor_field_destroy(&tensors), hot_tensor_field_destroy(&tissues), hot_tensor_field_destroy(&plain);
    hot_response_destroy(&response);
    hot_mask_destroy(&mask);
    hot_phantom_destroy(&phantom);
    hot_context_destroy(&context);
    COUNTED_TEST_END();
}
