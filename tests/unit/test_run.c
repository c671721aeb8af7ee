/* hot_run on a tiny phantom: what it refuses, and every allocation failing once: an error, nothing
 * lost, nothing left. */
#include "check.h"
#include "entries.h"
#include "starve.h"

#include <unistd.h>

#include <hotfiber/hotfiber.h>

#include "io/common/temporary.h"

static char root[] = "/tmp/hotfiber-run-XXXXXX";
static char input[64], output[64];

static int entries(void) { return entries_in(root); }

/* One run with a new context. message: at least 256 letters. */
static hot_status run(starved *count, const hot_run_options *options, hot_run_result *result, char *message)
{
    hot_context *context;
    hot_context_options settings = {.size = sizeof settings, .device = HOT_DEVICE_CPU, .threads = 2,
                                    .allocate = starved_take, .release = starved_give, .allocator_user = count};
    hot_status status = hot_context_create(&settings, &context);
    if (status != HOT_OK) {
        CHECK(!context, "no context after a failure");
        snprintf(message, 256, "no context");
        return status;
    }
    status = hot_run(context, options, result);
    snprintf(message, 256, "%s", hot_context_message(context));
    hot_context_destroy(&context);
    return status;
}

static void refused(const hot_run_options *options, hot_status expected, const char *words)
{
    starved count = {.fail_at = -1};
    char message[256];
    hot_status status = run(&count, options, NULL, message);
    CHECK(status == expected, "status %d, not %d: %s", (int)status, (int)expected, message);
    CHECK(strstr(message, words), "'%s' should speak of '%s'", message, words);
    CHECK(count.live == 0, "%ld blocks lost: %s", count.live, message);
    CHECK(entries() == 1, "something is left: %d entries", entries());
}

static void test_refusals(void)
{
    hot_run_options good = {.size = sizeof good, .input = input, .output = output}, bad = good;
    bad.size = sizeof bad + 8;
    refused(&bad, HOT_ERROR_ARGUMENT, "size");
    refused(NULL, HOT_ERROR_ARGUMENT, "input");
    bad = good, bad.input = NULL;
    refused(&bad, HOT_ERROR_ARGUMENT, "input");
    bad = good, bad.output = NULL;
    refused(&bad, HOT_ERROR_ARGUMENT, "output");
    bad.part = bad.parts = 1;
    refused(&bad, HOT_ERROR_ARGUMENT, "folder");
    bad = good, bad.part = 2, bad.parts = 1;
    refused(&bad, HOT_ERROR_ARGUMENT, "part: 2/1");
    bad = good, bad.response = "r.txt", bad.axial_diffusivity = 1e-3;
    refused(&bad, HOT_ERROR_ARGUMENT, "both");
    bad = good, bad.fit = &(const hot_fit_options){.size = sizeof(hot_fit_options), .model = "adc"};
    bad.response = "r.txt";
    refused(&bad, HOT_ERROR_ARGUMENT, "adc");
    bad = good, bad.fit = &(const hot_fit_options){.size = sizeof(hot_fit_options), .model = "spline"};
    refused(&bad, HOT_ERROR_ARGUMENT, "spline");
    bad = good, bad.fit = &(const hot_fit_options){.size = sizeof(hot_fit_options), .order = 5};
    refused(&bad, HOT_ERROR_ARGUMENT, "5");
    bad = good, bad.peaks = &(const hot_peaks_options){.size = sizeof(hot_peaks_options), .method = "guess"};
    refused(&bad, HOT_ERROR_ARGUMENT, "guess");
    bad = good, bad.input = "/no/such/file.nrrd";
    refused(&bad, HOT_ERROR_FILE, "/no/such/file.nrrd");
    bad = good, bad.mask = "/no/such/mask.nrrd";
    refused(&bad, HOT_ERROR_FILE, "/no/such/mask.nrrd");
}

static void test_failing_memory(void)
{
    hot_run_options options = {.size = sizeof options, .input = input, .output = output, .axial_diffusivity = 1.7e-3,
                               .radial_diffusivity = .2e-3};
    char message[256];
    starved count = {.fail_at = -1};
    hot_run_result result;
    hot_status status = run(&count, &options, &result, message);
    CHECK(status == HOT_OK, "%s", message);
    CHECK(count.live == 0, "%ld blocks lost by a run that works", count.live);
    CHECK(result.voxels > 0 && result.fitted > 0 && result.fibers[1] > 0, "found something");
    hot_temporary_folder_remove(output);
    const size_t all = (size_t)count.calls;
    printf("%zu allocations in a run\n", all);
    size_t failed = 0;
    for (size_t k = 1; k <= all; k += all > 400 && k > 200 ? all / 200 : 1) {
        count = (starved){.fail_at = (long)k - 1};
        status = run(&count, &options, &result, message);
        CHECK(status == HOT_ERROR_MEMORY || (status == HOT_OK && count.calls < (long)k),
              "allocation %zu failed and gave %d: %s", k, (int)status, message);
        CHECK(status == HOT_OK || message[0], "allocation %zu: no message", k);
        CHECK(count.live == 0, "allocation %zu failed and %ld blocks were lost", k, count.live);
        if (status == HOT_OK)
            hot_temporary_folder_remove(output);
        CHECK(entries() == 1, "allocation %zu failed and left something: %d entries", k, entries());
        failed += status != HOT_OK;
    }
    CHECK(failed > 20, "%zu failures were seen", failed);
}

/* A part of a run and the merge of its parts: about fifteen allocations of each fail. */
static void test_parts_memory(void)
{
    char message[256], parts[80];
    snprintf(parts, sizeof parts, "%s/parts", root);
    for (int merge = 0; merge < 2; merge++) {
        size_t all = 0, failed = 0;
        for (size_t k = 0; k <= all; k += all > 15 ? all / 15 : 1) {
            starved count = {.fail_at = k ? (long)k : -1};
            const hot_run_options options = {.size = sizeof options, .input = input, .outputs = "peaks",
                                             .output = merge ? output : parts, .part = !merge, .parts = !merge,
                                             .merge = merge ? parts : NULL, .force = 1, .axial_diffusivity = 1.7e-3,
                                             .radial_diffusivity = .2e-3, .record = merge ? NULL : "[\"a\"]"};
            const hot_status status = run(&count, &options, NULL, message);
            CHECK(status == (k ? HOT_ERROR_MEMORY : HOT_OK) || (k && status == HOT_OK && count.calls <= (long)k),
                  "allocation %zu gave %d: %s", k, (int)status, message);
            CHECK(count.live == 0, "allocation %zu failed and %ld blocks were lost", k, count.live);
            CHECK(entries() == 2 + (merge && access(output, F_OK) == 0), "allocation %zu: %d entries", k, entries());
            failed += status != HOT_OK;
            if (k == 0)
                all = (size_t)count.calls - 1;
        }
        CHECK(failed > 10, "%zu failures were seen", failed);
    }
    hot_temporary_folder_remove(parts);
    hot_temporary_folder_remove(output);
}

/* The page about a run: about thirty of its allocations fail, each once. */
static void test_report_memory(void)
{
    char message[256], page[80];
    const hot_run_options options = {.size = sizeof options, .input = input, .output = output, .outputs = "peaks,fa"};
    starved count = {.fail_at = -1};
    CHECK(run(&count, &options, NULL, message) == HOT_OK, "%s", message);
    snprintf(page, sizeof page, "%s/page.html", root);
    size_t failed = 0, all = 0;
    for (size_t k = 0; k <= all; k += all > 30 ? all / 30 : 1) {
        hot_context *context;
        count = (starved){.fail_at = k ? (long)k : -1};
        hot_context_options settings = {.size = sizeof settings, .device = HOT_DEVICE_CPU, .threads = 2,
                                        .allocate = starved_take, .release = starved_give, .allocator_user = &count};
        CHECK(hot_context_create(&settings, &context) == HOT_OK, "context");
        const hot_status status = hot_run_report(context, output, NULL, page);
        const int there = access(page, F_OK) == 0;
        CHECK(k ? status == HOT_ERROR_MEMORY && !there : status == HOT_OK && there, "allocation %zu gave %d: %s", k,
              (int)status, hot_context_message(context));
        hot_context_destroy(&context);
        CHECK(count.live == 0, "allocation %zu failed and %ld blocks were lost", k, count.live);
        remove(page);
        failed += status != HOT_OK;
        if (k == 0)
            all = (size_t)count.calls - 1;
    }
    CHECK(failed > 20, "%zu failures were seen", failed);
    hot_temporary_folder_remove(output);
}

static int stop_at_fifth(void *user, const char *stage, double fraction)
{
    (void)stage, (void)fraction;
    return ++*(int *)user >= 5;
}

static void test_cancel(void)
{
    int calls = 0;
    hot_context *context;
    hot_context_options settings = {.size = sizeof settings, .device = HOT_DEVICE_CPU, .progress = stop_at_fifth,
                                    .progress_user = &calls};
    hot_run_options options = {.size = sizeof options, .input = input, .output = output};
    CHECK(hot_context_create(&settings, &context) == HOT_OK, "context");
    hot_status status = hot_run(context, &options, NULL);
    CHECK(status == HOT_ERROR_CANCELLED && calls == 5, "status %d after %d calls", (int)status, calls);
    CHECK(entries() == 1, "nothing is left");
    hot_context_destroy(&context);
}

int main(void)
{
    hot_context *context;
    if (!mkdtemp(root) || hot_context_create(NULL, &context) != HOT_OK)
        return 1;
    snprintf(input, sizeof input, "%s/dwi.nrrd", root);
    snprintf(output, sizeof output, "%s/out", root);
    hot_phantom_options options = {.size = sizeof options, .voxels = 4, .directions = 30, .b0 = 2};
    hot_phantom *phantom;
    CHECK(hot_phantom_create(context, &options, &phantom) == HOT_OK &&
              hot_phantom_save(context, phantom, NULL, input) == HOT_OK,
          "%s", hot_context_message(context));
    hot_phantom_destroy(&phantom);
    hot_context_destroy(&context);
    test_refusals();
    test_failing_memory();
    test_report_memory();
    test_parts_memory();
    test_cancel();
    hot_temporary_folder_remove(root);
    HOT_TEST_END();
}
