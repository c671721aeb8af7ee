/* A stop takes effect soon, and leaves nothing behind. The delay is the number of voxels or bytes between two polls of
 * hot_context_options.stop, which can be counted. */
#include "check.h"
#include "entries.h"

#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <hotfiber/hotfiber.h>

#include "io/common/temporary.h"

static char root[] = "/tmp/hotfiber-stop-XXXXXX";
static char input[64], zipped[64], small[64], small_zipped[64], output[64], file[64];

/* Says stop at poll number `at` (0 = never). */
typedef struct polls {
    atomic_size_t count;
    size_t at;
    size_t live; /* blocks of memory not freed; the library's allocations come from one thread */
} polls;

static int stop(void *user)
{
    polls *mine = user;
    return atomic_fetch_add(&mine->count, 1) + 1 == mine->at;
}

static void *allocate(void *user, size_t bytes)
{
    ((polls *)user)->live++;
    return malloc(bytes);
}

static void release(void *user, void *memory)
{
    ((polls *)user)->live -= memory != NULL;
    free(memory);
}

static hot_context *context_of(polls *mine)
{
    hot_context *context = NULL;
    const hot_context_options options = {.size = sizeof options, .device = HOT_DEVICE_CPU, .threads = 2, .seed = 5,
                                         .allocate = allocate, .release = release, .allocator_user = mine,
                                         .stop = stop, .stop_user = mine};
    CHECK(hot_context_create(&options, &context) == HOT_OK, "context");
    return context;
}

static int entries(void) { return entries_in(root); }

static hot_status run(polls *mine, const char *from, const char *method, size_t starts, char message[256])
{
    hot_context *context = context_of(mine);
    const hot_peaks_options peaks = {.size = sizeof peaks, .method = method, .starts = starts};
    const hot_run_options options = {.size = sizeof options, .input = from, .output = output, .peaks = &peaks};
    hot_status status = hot_run(context, &options, NULL);
    snprintf(message, 256, "%s", hot_context_message(context));
    hot_context_destroy(&context);
    return status;
}

/* The whole job stopped at every so many-th poll: it is cancelled, and leaves neither files nor memory. */
static void test_anywhere(const char *from, const char *method, size_t starts)
{
    char message[256];
    polls all = {0};
    const int before = entries();
    CHECK(run(&all, from, method, starts, message) == HOT_OK, "%s: %s", method, message);
    hot_temporary_folder_remove(output);
    const size_t total = atomic_load(&all.count);
    CHECK(total > 500, "%s: only %zu polls", method, total);
    const size_t places = getenv("HOT_TEST_LONG") ? 40 : 16;
    for (size_t at = 1; at <= total; at += at < 8 ? 1 : total / places + 1) {
        polls mine = {.at = at};
        hot_status status = run(&mine, from, method, starts, message);
        /* which thread takes which poll is chance, and the last of them may come when the folder stands already */
        if (status == HOT_OK && at + 64 > total) {
            hot_temporary_folder_remove(output);
            continue;
        }
        CHECK(status == HOT_ERROR_CANCELLED, "%s, poll %zu of %zu: status %d, %s", method, at, total, (int)status,
              message);
        CHECK(strstr(message, "cancelled while"), "%s, poll %zu: '%s'", method, at, message);
        CHECK(mine.live == 0, "%s, poll %zu: %zu blocks lost", method, at, mine.live);
        CHECK(entries() == before, "%s, poll %zu: something is left", method, at);
        /* heard at once: what follows is what the other thread was at */
        CHECK(atomic_load(&mine.count) <= at + 64, "%s: %zu polls after the one that said stop", method,
              atomic_load(&mine.count) - at);
    }
}

static polls counter;
static size_t counted(void) { return atomic_exchange(&counter.count, 0); }

/* At most so many voxels, or bytes, between two polls. */
static void test_grain(void)
{
    hot_context *context = context_of(&counter);
    hot_dwi *dwi = NULL;
    hot_mask *mask = NULL;
    hot_response *response = NULL;
    hot_tensor_field *tensors = NULL, *forms = NULL;
    hot_fiber_field *fibers = NULL;
    CHECK(hot_dwi_load(context, zipped, NULL, NULL, &dwi) == HOT_OK, "%s", hot_context_message(context));
    const size_t voxels = hot_dwi_grid(dwi)->size[0] * hot_dwi_grid(dwi)->size[1] * hot_dwi_grid(dwi)->size[2];
    const size_t bytes = voxels * hot_dwi_volumes(dwi) * sizeof(float);
#define GRAIN(what, items, grain)                                                                                     \
    do {                                                                                                              \
        const size_t seen = counted();                                                                                \
        CHECK(seen >= (items) / (grain), "%s: %zu polls for %zu items", what, seen, (size_t)(items));                 \
    } while (0)
    GRAIN("gzip in", bytes, 1 << 20);
    hot_dwi_destroy(&dwi);
    CHECK(hot_dwi_load(context, input, NULL, NULL, &dwi) == HOT_OK, "%s", hot_context_message(context));
    GRAIN("raw in", bytes, 1 << 20);
    CHECK(hot_mask_estimate(context, dwi, &mask) == HOT_OK, "%s", hot_context_message(context));
    GRAIN("mask", voxels, 256);
    const size_t inside = hot_mask_count(mask);
    CHECK(inside > 2000, "%zu voxels inside", inside);
    CHECK(hot_response_estimate(context, dwi, mask, 8, &response, NULL) == HOT_OK, "%s", hot_context_message(context));
    GRAIN("response", inside, 64);
    hot_fit_options fit = {.size = sizeof fit, .order = 4, .response = response};
    CHECK(hot_tensor_field_fit(context, dwi, mask, &fit, &tensors) == HOT_OK, "%s", hot_context_message(context));
    GRAIN("fit", inside, 256);
    fit.model = "adc", fit.response = NULL;
    CHECK(hot_tensor_field_fit(context, dwi, mask, &fit, &forms) == HOT_OK, "%s", hot_context_message(context));
    GRAIN("weighted fit", inside, 64);
    hot_tensor_field_destroy(&forms);
    fit.positive = 1;
    CHECK(hot_tensor_field_fit(context, dwi, mask, &fit, &forms) == HOT_OK, "%s", hot_context_message(context));
    GRAIN("positive fit", inside, 1);
    static const struct { const char *method; size_t starts, grain; } ways[] = {
        {"maxima", 0, 64}, {"sshopm", 200, 1}, {"lowrank", 0, 64}};
    for (size_t way = 0; way < 3; way++) {
        const hot_peaks_options options = {.size = sizeof options, .method = ways[way].method,
                                           .starts = ways[way].starts};
        hot_fiber_field_destroy(&fibers);
        CHECK(hot_fiber_field_find(context, tensors, &options, &fibers) == HOT_OK, "%s", hot_context_message(context));
        GRAIN(ways[way].method, inside, ways[way].grain);
    }
    hot_fiber_field_destroy(&fibers);
    CHECK(hot_fiber_field_signal(context, dwi, mask, response, NULL, NULL, &fibers) == HOT_OK, "%s",
          hot_context_message(context));
    GRAIN("signal", inside, 64);
    snprintf(file, sizeof file, "%s/tensors.nrrd", root);
    CHECK(hot_tensor_field_save(context, tensors, file) == HOT_OK, "%s", hot_context_message(context));
    GRAIN("NRRD out", voxels * 16 * sizeof(float), 1 << 17);
    unlink(file);
    snprintf(file, sizeof file, "%s/peaks.nii.gz", root);
    CHECK(hot_fiber_field_save(context, fibers, file) == HOT_OK, "%s", hot_context_message(context));
    GRAIN("NIfTI out", voxels * 9 * sizeof(float), 1 << 18);
    unlink(file);
    hot_fiber_field_destroy(&fibers);
    hot_tensor_field_destroy(&forms);
    hot_tensor_field_destroy(&tensors);
    hot_response_destroy(&response);
    hot_mask_destroy(&mask);
    hot_dwi_destroy(&dwi);
    hot_context_destroy(&context);
}

/* A few kilobytes that unpack to much more than the header needs: most of it stays packed, with a warning. */
static void test_tail(void)
{
    static const char zeros[1 << 20];
    const int members = 64;
    gzFile more = gzopen(zipped, "ab1");
    CHECK(more, "%s", zipped);
    for (int i = 0; i < members; i++)
        CHECK(gzwrite(more, zeros, sizeof zeros) == (int)sizeof zeros, "written");
    CHECK(gzclose(more) == Z_OK, "closed");
    hot_context *context = context_of(&counter);
    hot_dwi *dwi = NULL;
    counted();
    CHECK(hot_dwi_load(context, zipped, NULL, NULL, &dwi) == HOT_OK, "%s", hot_context_message(context));
    const size_t seen = counted();
    CHECK(seen > 0 && seen < (size_t)members / 2, "%zu polls, of %d MiB behind the data", seen, members);
    hot_dwi_destroy(&dwi);
    hot_context_destroy(&context);
}

/* On any device: a stop while it starts takes effect. */
static void test_device(void)
{
    float tensors[64 * 15], directions[64 * 9];
    for (int i = 0; i < 64 * 15; i++)
        tensors[i] = (float)(i % 7);
    polls mine = {.at = 1};
    hot_context *context = NULL;
    const hot_context_options options = {.size = sizeof options, .stop = stop, .stop_user = &mine};
    CHECK(hot_context_create(&options, &context) == HOT_OK, "context");
    hot_status status = hot_directions_f32(context, NULL, 4, 64, tensors, 15, NULL, directions, NULL);
    CHECK(status == HOT_ERROR_CANCELLED, "status %d: %s", (int)status, hot_context_message(context));
    hot_context_destroy(&context);
}

/* Every export, stopped at its first poll, in the middle and at its last. */
static void test_exports(void)
{
    polls mine = {0};
    hot_context *context = context_of(&mine);
    hot_dwi *dwi = NULL;
    hot_run_fields fields, diffusion; /* FA and MD are maps of the diffusion tensor */
    const hot_peaks_options peaks = {.size = sizeof peaks, .method = "maxima"};
    const hot_fit_options fit = {.size = sizeof fit, .model = "adc", .order = 2};
    const hot_run_options options = {.size = sizeof options, .axial_diffusivity = 1.7e-3, .radial_diffusivity = .2e-3,
                                     .peaks = &peaks};
    const hot_run_options diffusion_options = {.size = sizeof options, .peaks = &peaks, .fit = &fit};
    CHECK(hot_dwi_load(context, input, NULL, NULL, &dwi) == HOT_OK, "%s", hot_context_message(context));
    CHECK(hot_run_compute(context, dwi, &options, &fields, NULL) == HOT_OK, "%s", hot_context_message(context));
    CHECK(hot_run_compute(context, dwi, &diffusion_options, &diffusion, NULL) == HOT_OK, "%s",
          hot_context_message(context));
    size_t count;
    char place[64];
    snprintf(place, sizeof place, "%s/exports", root); /* some formats write several files */
    const hot_export_format *const *formats = hot_export_formats(&count);
    for (size_t i = 0; i <= count; i++) { /* the last one is the data themselves */
        const hot_export_format *format = i < count ? formats[i] : NULL;
        const char *suffix = format ? format->suffix : ".nii.gz", *name = format ? format->name : "data";
        char path[160];
        CHECK(mkdir(place, 0700) == 0, "%s", place);
        snprintf(path, sizeof path, "%s/%s%.*s", place, name, (int)strcspn(suffix, "|"), suffix);
        const hot_tensor_field *tensors = strcmp(name, "fa") == 0 || strcmp(name, "md") == 0 ? diffusion.tensors
                                                                                             : fields.tensors;
        size_t total = 0;
        for (int part = 0; part < 4; part++) {
            polls own = {.at = part == 0 ? 0 : part == 1 ? 1 : part == 2 ? total / 2 + 1 : total};
            hot_context *watched = context_of(&own);
            hot_status status = !format         ? hot_dwi_save(watched, dwi, path)
                                : format->write ? format->write(watched, fields.fibers, path)
                                                : format->write_tensors(watched, tensors, path);
            if (part == 0) {
                total = atomic_load(&own.count);
                CHECK(status == HOT_OK && total > 0, "%s: status %d after %zu polls: %s", name, (int)status, total,
                      hot_context_message(watched));
                CHECK(entries_in(place) > 0, "%s: it writes something", name);
                hot_temporary_folder_remove(place);
                CHECK(mkdir(place, 0700) == 0, "%s", place);
            } else {
                CHECK(status == HOT_ERROR_CANCELLED, "%s, poll %zu of %zu: status %d, %s", name, own.at, total,
                      (int)status, hot_context_message(watched));
                CHECK(entries_in(place) == 0, "%s, poll %zu of %zu: something is left", name, own.at, total);
            }
            hot_context_destroy(&watched);
            CHECK(own.live == 0, "%s: %zu blocks lost", name, own.live);
        }
        hot_temporary_folder_remove(place);
    }
    hot_run_fields_free(&fields);
    hot_run_fields_free(&diffusion);
    hot_dwi_destroy(&dwi);
    hot_context_destroy(&context);
}

/* Bundles of width x width x height voxels as NRRD and NIfTI. */
static void simulate(size_t width, size_t height, const char *nrrd, const char *nifti)
{
    polls none = {0};
    hot_context *context = context_of(&none);
    hot_phantom *phantom = NULL;
    const hot_phantom_options shape = {.size = sizeof shape, .layout = HOT_PHANTOM_BUNDLES,
                                       .volume = {width, width, height}, .directions = 32, .b0 = 3};
    CHECK(hot_phantom_create(context, &shape, &phantom) == HOT_OK, "%s", hot_context_message(context));
    CHECK(hot_phantom_save(context, phantom, NULL, nrrd) == HOT_OK, "%s", hot_context_message(context));
    CHECK(hot_phantom_save(context, phantom, NULL, nifti) == HOT_OK, "%s", hot_context_message(context));
    hot_phantom_destroy(&phantom);
    hot_context_destroy(&context);
}

int main(void)
{
    CHECK(mkdtemp(root) != NULL, "folder");
    snprintf(input, sizeof input, "%s/dwi.nrrd", root);
    snprintf(zipped, sizeof zipped, "%s/dwi.nii.gz", root);
    snprintf(output, sizeof output, "%s/out", root);
    snprintf(small, sizeof small, "%s/small.nrrd", root);
    snprintf(small_zipped, sizeof small_zipped, "%s/small.nii.gz", root);
    simulate(26, 10, input, zipped);
    simulate(18, 8, small, small_zipped); /* a run is stopped some forty times */
    test_device();
    test_grain();
    test_exports();
    test_tail();
    test_anywhere(small, "signal", 0);
    test_anywhere(small_zipped, "sshopm", 12);
    hot_temporary_folder_remove(root);
    HOT_TEST_END();
}
