/* hot_run on a tiny phantom: what it refuses, and every allocation failing once: an error, nothing
 * lost, nothing left. */
#include "check.h"
#include "starve.h"

#include <dirent.h>
#include <unistd.h>

#include <hotfiber/hotfiber.h>

#include "run/folder.h"

static char root[] = "/tmp/hotfiber-run-XXXXXX";
static char input[64], output[64];

static int entries(void)
{
    int count = 0;
    DIR *folder = opendir(root);
    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count - 2;
}

/* One run with a context of its own. message: at least 256 letters. */
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
    refused(NULL, HOT_ERROR_ARGUMENT, "size");
    bad = good, bad.input = NULL;
    refused(&bad, HOT_ERROR_ARGUMENT, "input");
    bad = good, bad.output = NULL;
    refused(&bad, HOT_ERROR_ARGUMENT, "output");
    bad = good, bad.response = "r.txt", bad.diffusivity_along = 1e-3;
    refused(&bad, HOT_ERROR_ARGUMENT, "both");
    bad = good, bad.fit = (hot_fit_options){.size = sizeof bad.fit, .model = "adc"}, bad.response = "r.txt";
    refused(&bad, HOT_ERROR_ARGUMENT, "adc");
    bad = good, bad.fit = (hot_fit_options){.size = sizeof bad.fit, .model = "spline"};
    refused(&bad, HOT_ERROR_ARGUMENT, "spline");
    bad = good, bad.fit = (hot_fit_options){.size = sizeof bad.fit, .order = 5};
    refused(&bad, HOT_ERROR_ARGUMENT, "5");
    bad = good, bad.peaks = (hot_peaks_options){.size = sizeof bad.peaks, .method = "guess"};
    refused(&bad, HOT_ERROR_ARGUMENT, "guess");
    bad = good, bad.input = "/no/such/file.nrrd";
    refused(&bad, HOT_ERROR_FILE, "/no/such/file.nrrd");
    bad = good, bad.mask = "/no/such/mask.nrrd";
    refused(&bad, HOT_ERROR_FILE, "/no/such/mask.nrrd");
}

static void test_failing_memory(void)
{
    hot_run_options options = {.size = sizeof options, .input = input, .output = output, .diffusivity_along = 1.7e-3,
                               .diffusivity_across = .2e-3};
    char message[256];
    starved count = {.fail_at = -1};
    hot_run_result result;
    hot_status status = run(&count, &options, &result, message);
    CHECK(status == HOT_OK, "%s", message);
    CHECK(count.live == 0, "%ld blocks lost by a run that works", count.live);
    CHECK(result.voxels > 0 && result.fitted > 0 && result.fibers[1] > 0, "found something");
    hot_folder_remove_own(output);
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
            hot_folder_remove_own(output);
        CHECK(entries() == 1, "allocation %zu failed and left something: %d entries", k, entries());
        failed += status != HOT_OK;
    }
    CHECK(failed > 20, "%zu failures were seen", failed);
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
    test_cancel();
    hot_folder_remove_own(root);
    HOT_TEST_END();
}
