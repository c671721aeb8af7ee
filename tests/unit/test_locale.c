/* A host with another locale (decimal comma, its own digits and letters): every written file is that of the C locale
 * byte for byte, every file is read the same, messages are the same, and the host's locale does not change. */
#define _GNU_SOURCE
#include "check.h"
#include "folders.h"

#include <locale.h>
#include <strings.h>

#include <hotfiber/hotfiber.h>

#include "io/common/temporary.h"

static char root[] = "/tmp/hotfiber-locale-XXXXXX";
static char lines[20000]; /* of the log, and messages of calls that fail */

static void note(const char *line)
{
    const size_t used = strlen(lines);
    snprintf(lines + used, sizeof lines - used, "%s\n", line);
}

static void log_line(void *user, hot_log_level level, const char *line)
{
    char host[32];
    (void)level;
    note(line);
    snprintf(host, sizeof host, "%g", .5);
    CHECK(strcmp(host, user) == 0, "the log's callback writes %s, not %s", host, (const char *)user);
}

static const char *in(const char *folder, const char *name)
{
    static char paths[8][400];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s/%s", root, folder, name);
    return path;
}

#define DO(call) CHECK((call) == HOT_OK, "%s: %s", #call, hot_context_message(context))
#define REFUSED(call)                                               \
    do {                                                            \
        CHECK((call) != HOT_OK, "%s succeeds", #call);              \
        note(hot_context_message(context));                         \
    } while (0)

/* Everything that writes, into a folder, and what it writes read again. from: the folder of the C locale, whose files
 * are read as well. */
static void all_files(const char *to, const char *from, const char *host_half)
{
    hot_context *context = NULL;
    hot_phantom *phantom = NULL;
    hot_run_fields fields = {0}, diffusion = {0};
    const hot_context_options settings = {.size = sizeof settings, .device = HOT_DEVICE_CPU, .threads = 2, .seed = 3,
                                          .log = log_line, .log_user = (void *)(uintptr_t)host_half};
    const hot_phantom_options shape = {.size = sizeof shape, .layout = HOT_PHANTOM_BUNDLES, .volume = {10, 10, 4},
                                       .directions = 32, .b0 = 3};
    lines[0] = '\0';
    mkdir(in(to, ""), 0700);
    DO(hot_context_create(&settings, &context));
    DO(hot_phantom_create(context, &shape, &phantom));
    const hot_dwi *dwi = hot_phantom_dwi(phantom);
    const size_t voxels = 10 * 10 * 4;
    float *map = calloc(voxels * hot_dwi_volumes(dwi), sizeof *map), *again = calloc(voxels * 64, sizeof *again);
    static const char *const data[] = {"dwi.nrrd", "dwi.nhdr", "dwi.nii", "dwi.nii.gz", "dwi.mif", "dwi.mih"};
    DO(hot_dwi_read(context, dwi, 0, voxels, map));
    for (size_t i = 0; i < sizeof data / sizeof *data; i++) {
        hot_dwi *loaded = NULL;
        DO(hot_dwi_save(context, dwi, in(to, data[i])));
        DO(hot_dwi_load(context, in(from, data[i]), NULL, NULL, &loaded));
        for (int r = 0; loaded && r < 12; r++)
            CHECK_NEAR(hot_dwi_grid(loaded)->to_world[r / 4][r % 4], hot_dwi_grid(dwi)->to_world[r / 4][r % 4], 1e-5,
                       "%s: place", data[i]);
        for (size_t v = 0; loaded && v < hot_dwi_volumes(dwi); v++)
            CHECK_NEAR(hot_dwi_b(loaded)[v], hot_dwi_b(dwi)[v], .01, "%s: b", data[i]);
        hot_dwi_destroy(&loaded);
    }
    DO(hot_phantom_save_truth(context, phantom, in(to, "truth.nrrd")));
    DO(hot_dwi_save_noise(context, dwi, map, in(to, "noise.mif")));

    /* runs: a whole one with its page, one in parts */
    hot_run_options run = {.size = sizeof run, .input = in(from, "dwi.nii.gz"), .output = in(to, "run"),
                           .outputs = "all"};
    const hot_fit_options fourth = {.size = sizeof fourth, .order = 4, .regularise = .0625};
    run.fit = &fourth;
    DO(hot_run(context, &run, NULL));
    DO(hot_run_report(context, in(to, "run"), NULL, in(to, "report.html")));
    run.outputs = NULL;
    run.learn = in(to, "model.json");
    run.output = NULL;
    DO(hot_run(context, &run, NULL));
    run.learn = NULL;
    run.learned = in(from, "model.json");
    run.output = in(to, "with_model");
    DO(hot_run(context, &run, NULL));
    run.learned = NULL;

    /* every format */
    hot_run_options compute = {.size = sizeof compute, .axial_diffusivity = 1.7e-3, .radial_diffusivity = .2e-3};
    const hot_peaks_options maxima = {.size = sizeof maxima, .method = "maxima"};
    compute.peaks = &maxima;
    DO(hot_run_compute(context, dwi, &compute, &fields, NULL));
    compute.axial_diffusivity = compute.radial_diffusivity = 0;
    const hot_fit_options second = {.size = sizeof second, .model = "adc", .order = 2};
    compute.fit = &second;
    DO(hot_run_compute(context, dwi, &compute, &diffusion, NULL));
    if (!fields.tensors || !diffusion.tensors)
        return;
    size_t count;
    const hot_export_format *const *formats = hot_export_formats(&count);
    for (size_t i = 0; i < count; i++) {
        const char *name = formats[i]->name;
        for (const char *suffix = formats[i]->suffix; suffix; suffix = strchr(suffix, '|')) {
            char file[100];
            suffix += *suffix == '|';
            snprintf(file, sizeof file, "as_%s%.*s", name, (int)strcspn(suffix, "|"), suffix);
            const int scalar = strcmp(name, "fa") == 0 || strcmp(name, "md") == 0;
            if (formats[i]->write)
                DO(formats[i]->write(context, fields.fibers, in(to, file)));
            else
                DO(formats[i]->write_tensors(context, scalar ? diffusion.tensors : fields.tensors, in(to, file)));
        }
    }
    static const char *const spelt[] = {"X.VTI", "X.NII.GZ", "i.mif", "I.MIF", "x.TCK"};
    for (size_t i = 0; i < sizeof spelt / sizeof *spelt; i++) {
        const hot_export_format *format = hot_export_format_find(NULL, spelt[i]);
        note(format ? format->name : "none");
    }
    static const char *const saved[] = {"peaks.nrrd", "peaks.nhdr", "peaks.nii", "peaks.nii.gz", "peaks.mif"};
    for (size_t i = 0; i < sizeof saved / sizeof *saved; i++) {
        hot_fiber_field *loaded = NULL;
        DO(hot_fiber_field_save(context, fields.fibers, in(to, saved[i])));
        DO(hot_fiber_field_load(context, in(from, saved[i]), &loaded));
        for (size_t n = 0; loaded && n < voxels * 3; n++)
            CHECK_NEAR(hot_fiber_field_peaks(loaded)[n], hot_fiber_field_peaks(fields.fibers)[n], 1e-4, "%s",
                       saved[i]);
        hot_fiber_field_destroy(&loaded);
    }
    static const char *const masks[] = {"mask.nrrd", "mask.nii.gz", "mask.mif", "mask.mih"};
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        hot_mask *loaded = NULL;
        DO(hot_mask_save(context, fields.mask, in(to, masks[i])));
        DO(hot_mask_load(context, in(from, masks[i]), hot_dwi_grid(dwi), &loaded));
        CHECK(loaded && hot_mask_count(loaded) == hot_mask_count(fields.mask), "%s", masks[i]);
        hot_mask_destroy(&loaded);
    }
    hot_tensor_field *tensors = NULL, *harmonics = NULL;
    hot_response *response = NULL;
    double *directions = NULL;
    DO(hot_tensor_field_save(context, fields.tensors, in(to, "tensors.nrrd")));
    DO(hot_tensor_field_load(context, in(from, "tensors.nrrd"), &tensors));
    DO(hot_tensor_field_load_sh(context, in(from, "as_sh.mif"), NULL, &harmonics));
    CHECK(tensors && memcmp(hot_tensor_field_values(tensors), hot_tensor_field_values(fields.tensors),
                            voxels * sizeof(float)) == 0, "tensors");
    DO(hot_response_save(context, fields.response, in(to, "response.txt")));
    DO(hot_response_load(context, in(from, "response.txt"), &response));
    for (int l = 0; response && l <= hot_response_lmax(response) / 2; l++) {
        char value[40];
        snprintf(value, sizeof value, "%ld", (long)(1e6 * hot_response_row(response, 0, NULL)[l]));
        note(value);
    }
    check_write(in(to, "directions.txt"), "0.6 0.8 0.0\n0 0.6 0.8\n1.5e-1 0.5 1\n");
    DO(hot_directions_table_load(context, in(from, "directions.txt"), &directions, &count));
    CHECK(directions && count == 3, "%zu directions", count);

    /* messages with numbers, names in other cases and the system's words */
    check_write(in(to, "bad.txt"), "1.5 0,25 x\n");
    hot_response *none = NULL;
    hot_dwi *no_data = NULL;
    REFUSED(hot_response_load(context, in(from, "bad.txt"), &none));
    REFUSED(hot_dwi_load(context, in(from, "missing.nrrd"), NULL, NULL, &no_data));
    REFUSED(hot_response_tensor(context, dwi, -1.5e-3, .25, 1, 8, &none));
    REFUSED(hot_dwi_load(context, in(from, "bad.txt"), NULL, NULL, &no_data));
    hot_context_fail(context, HOT_ERROR_DATA, "%.3f and %g", 1234567.25, 1e-3);
    note(hot_context_message(context));
    check_write(in(to, "messages.txt"), lines);
    hot_context_free(context, directions);
    hot_response_destroy(&response);
    hot_tensor_field_destroy(&tensors);
    hot_tensor_field_destroy(&harmonics);
    hot_run_fields_free(&fields);
    hot_run_fields_free(&diffusion);
    hot_phantom_destroy(&phantom);
    hot_context_destroy(&context);
    FREE(map, again);
}

static char *content(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    *size = 0;
    if (file && fseek(file, 0, SEEK_END) == 0) {
        *size = (size_t)ftell(file);
        rewind(file);
        bytes = calloc(*size + 1, 1);
        *size = fread(bytes, 1, *size, file);
    }
    if (file)
        fclose(file);
    return bytes;
}

/* Numbers of a text become #, so that times do not matter; 0,5 would become #,# where 0.5 is #. */
static size_t without_numbers(char *text)
{
    size_t to = 0;
    for (char *at = text; *at;) {
        char *end = at;
        if (*at >= '0' && *at <= '9') {
            while ((*end >= '0' && *end <= '9') || (*end == '.' && end[1] >= '0' && end[1] <= '9'))
                end++;
            if (*end == 'e' && (end[1] == '-' || end[1] == '+'))
                for (end += 2; *end >= '0' && *end <= '9';)
                    end++;
        }
        text[to++] = end > at ? '#' : *at;
        at = end > at ? end : at + 1;
    }
    text[to] = '\0';
    return to;
}

/* Whether every file of the one folder is in the other, with the same bytes; how many. */
static int compare(const char *name, const char *locale)
{
    char one[600], other[600];
    int files = 0;
    snprintf(one, sizeof one, "%s/C%s", root, name);
    snprintf(other, sizeof other, "%s/%s%s", root, locale, name);
    DIR *open = opendir(one);
    for (struct dirent *entry; open && (entry = readdir(open));) {
        char next[300], paths[2][1000];
        struct stat about;
        if (entry->d_name[0] == '.')
            continue;
        snprintf(next, sizeof next, "%.80s/%.200s", name, entry->d_name);
        snprintf(paths[0], sizeof paths[0], "%s/%s", one, entry->d_name);
        snprintf(paths[1], sizeof paths[1], "%s/%s", other, entry->d_name);
        if (stat(paths[0], &about) == 0 && S_ISDIR(about.st_mode)) {
            files += compare(next, locale);
            continue;
        }
        size_t size[2];
        char *bytes[2] = {content(paths[0], &size[0]), content(paths[1], &size[1])};
        CHECK(bytes[0] && bytes[1], "%s: %s is not there", locale, next);
        if (bytes[0] && bytes[1] && (strstr(next, "report.") || strstr(next, "model.json"))) /* with times */
            for (int i = 0; i < 2; i++)
                size[i] = without_numbers(bytes[i]);
        if (strstr(next, ".pam5")) /* HDF5 writes the time into it */
            size[0] = size[1] = 0;
        CHECK(size[0] == size[1] && bytes[0] && bytes[1] && memcmp(bytes[0], bytes[1], size[0]) == 0,
              "%s: %s differs: %zu and %zu bytes", locale, next, size[0], size[1]);
        files++;
        FREE(bytes[0], bytes[1]);
    }
    if (open)
        closedir(open);
    return files;
}

int main(void)
{
    /* Decimal comma and grouping; letters whose cases are not those of ASCII, in one byte; a decimal point of two bytes
     * and another way of grouping. Of our own making, where the machine has the sources. */
    static const char *const locales[][3] = {{"de_DE.UTF-8", "de_DE", "UTF-8"},
                                             {"tr_TR.ISO-8859-9", "tr_TR", "ISO-8859-9"},
                                             {"ps_AF.UTF-8", "ps_AF", "UTF-8"}};
    char host_half[32];
    CHECK(mkdtemp(root) != NULL, "%s", root);
    setenv("LOCPATH", root, 1);
    all_files("C", "C", "0.5");
    int tried = 0;
    for (size_t i = 0; i < sizeof locales / sizeof *locales; i++) {
        char command[400];
        snprintf(command, sizeof command, "localedef -c -i %s -f %s %s/%s > %s/log 2>&1", locales[i][1], locales[i][2],
                 root, locales[i][0], root);
        if (system(command) != 0 && access(in(locales[i][0], ""), F_OK) != 0)
            continue;
        char folder[40];
        if (!setlocale(LC_ALL, locales[i][0]))
            continue;
        snprintf(host_half, sizeof host_half, "%g", .5);
        CHECK(i == 1 || strcmp(host_half, "0.5") != 0, "%s writes %s", locales[i][0], host_half);
        snprintf(folder, sizeof folder, "files_%s", locales[i][0]);
        all_files(folder, "C", host_half);
        char after[32];
        snprintf(after, sizeof after, "%g", .5);
        CHECK(strcmp(after, host_half) == 0, "the host now has %s, not %s", after, host_half);
        CHECK(strcmp(setlocale(LC_ALL, NULL), locales[i][0]) == 0, "the host's locale is %s", setlocale(LC_ALL, NULL));
        setlocale(LC_ALL, "C");
        const int files = compare("", folder);
        CHECK(files > 60, "%s: %d files", locales[i][0], files);
        tried++;
    }
    hot_temporary_folder_remove(root);
    if (!tried) {
        printf("skipped: no other locale can be made here\n");
        return 77;
    }
    HOT_TEST_END();
}
