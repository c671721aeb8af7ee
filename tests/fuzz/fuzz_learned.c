/* Fuzz target: what hotfiber learn has written, as a run takes it, on a small phantom. HOT_FUZZ_DATA=FILE.nrrd keeps
 * that, for `hotfiber learn` to make more of the corpus; HOT_FUZZ_TELL prints what becomes of each input. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <hotfiber/hotfiber.h>

#include "fuzz.h"

/* The data that the corpus was learned from; made once. */
static hot_dwi *make_data(void)
{
    const hot_context_options settings = {.size = sizeof settings, .threads = 1};
    const hot_phantom_options shape = {.size = sizeof shape, .layout = HOT_PHANTOM_MIXTURE, .volume = {5, 4, 3},
                                       .directions = 20, .b0 = 2};
    static hot_context *context; /* lives as long as the data */
    hot_phantom *phantom = NULL;
    hot_dwi *dwi = NULL;
    const char *keep = getenv("HOT_FUZZ_DATA");
    char name[] = "/tmp/fuzz_learned_XXXXXX.nrrd";
    const int file = mkstemps(name, 5);
    if (file < 0)
        return NULL;
    close(file);
    if (hot_context_create(&settings, &context) == HOT_OK && hot_phantom_create(context, &shape, &phantom) == HOT_OK &&
        hot_phantom_save(context, phantom, NULL, name) == HOT_OK &&
        (!keep || hot_phantom_save(context, phantom, NULL, keep) == HOT_OK))
        (void)!hot_dwi_load(context, name, NULL, NULL, &dwi);
    hot_phantom_destroy(&phantom);
    unlink(name);
    return dwi;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static hot_dwi *dwi;
    static int descriptor = -1;
    static char path[64];
    if (descriptor < 0) {
        dwi = make_data();
        descriptor = memfd_create("fuzz_learned", 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    }
    if (!dwi || ftruncate(descriptor, 0) != 0 || pwrite(descriptor, data, size, 0) != (ssize_t)size)
        abort();
    const hot_run_options options = {.size = sizeof options, .learned = path};
    hot_context *context = fuzz_context(NULL);
    hot_run_fields fields = {0};
    if (!context)
        return 0;
    const hot_status status = hot_run_compute(context, dwi, &options, &fields, NULL);
    if (getenv("HOT_FUZZ_TELL"))
        printf("%d %s\n", (int)status, status == HOT_OK ? "" : hot_context_message(context));
    hot_run_fields_free(&fields);
    fuzz_context_end(&context);
    return 0;
}
