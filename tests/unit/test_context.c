/* The context: defaults, messages, allocation, cancelling. */
#include "common/context_internal.h"
#include <hotfiber/context.h>

#include "check.h"

static int asked;
static int stop_at_half(void *user, const char *stage, double fraction)
{
    (void)user, (void)stage;
    asked++;
    return fraction >= 0.5;
}

static void *no_memory(void *user, size_t bytes)
{
    int *left = user;
    return (*left)-- > 0 ? malloc(bytes) : NULL;
}
static void give_back(void *user, void *memory)
{
    (void)user;
    free(memory);
}

static int released;
static void release(hot_context *context, void *kept)
{
    CHECK(hot_context_kept(context, HOT_KEPT_BATCH) == kept, "released with the kept memory");
    hot_context_free(context, kept); /* the context still works */
    released++;
}

int main(void)
{
    hot_context *context = NULL;
    CHECK(hot_context_create(NULL, &context) == HOT_OK, "defaults");
    CHECK(hot_context_threads(context) >= 1, "%d threads", hot_context_threads(context));
    CHECK(strcmp(hot_context_message(context), "") == 0, "fresh message");
    hot_status status = hot_context_fail(context, HOT_ERROR_DATA, "only %d directions", 5);
    CHECK(status == HOT_ERROR_DATA, "status comes back");
    status = hot_context_add(context, status, "reading '%s'", "x.nrrd");
    CHECK(strcmp(hot_context_message(context), "only 5 directions; reading 'x.nrrd'") == 0, "got '%s'",
          hot_context_message(context));
    CHECK(hot_context_alloc(context, SIZE_MAX / 2, 16) == NULL, "overflow is refused");
    CHECK(strstr(hot_context_message(context), "16 bytes") != NULL, "and said: '%s'", hot_context_message(context));
    void *none = hot_context_alloc(context, 0, 8);
    CHECK(none != NULL, "nothing is still a pointer");
    hot_context_free(context, none);
    hot_context_free(context, NULL);
    hot_context_cancel(context);
    CHECK(hot_context_progress(context, "fitting", 0.1) == HOT_ERROR_CANCELLED, "cancelled from outside");
    hot_context_destroy(&context);
    CHECK(context == NULL, "set to NULL");
    hot_context_destroy(&context);
    hot_context_destroy(NULL);

    CHECK(hot_context_create(NULL, &context) == HOT_OK && !hot_context_kept(context, HOT_KEPT_BATCH),
          "nothing is kept at first");
    hot_context_keep(context, HOT_KEPT_BATCH, hot_context_alloc(context, 1, 8), release);
    CHECK(hot_context_kept(context, HOT_KEPT_BATCH) != NULL && released == 0, "kept");
    hot_context_destroy(&context);
    CHECK(released == 1, "released %d times", released);

    hot_context_options options = {.size = sizeof options, .threads = 3, .progress = stop_at_half};
    CHECK(hot_context_create(&options, &context) == HOT_OK, "with options");
    CHECK(hot_context_threads(context) == 3, "threads kept");
    CHECK(hot_context_progress(context, "fitting", 0.25) == HOT_OK, "goes on");
    CHECK(hot_context_progress(context, "fitting", 0.5) == HOT_ERROR_CANCELLED, "callback stops");
    CHECK(asked == 2 && hot_context_cancelled(context), "asked twice, and it stays so");
    hot_context_resume(context);
    CHECK(!hot_context_cancelled(context) && hot_context_check(context, "going on") == HOT_OK, "usable again");
    hot_context_cancel(context); /* between two calls: the next one is refused, and no later one after that */
    CHECK(hot_context_progress(context, "fitting", 0.1) == HOT_ERROR_CANCELLED &&
              strcmp(hot_context_message(context), "cancelled while fitting") == 0, "no cancellation is lost");
    CHECK(hot_context_check(context, "more") == HOT_ERROR_CANCELLED, "until it is taken back");
    hot_context_resume(context);
    CHECK(hot_context_progress(context, "fitting", 0.1) == HOT_OK, "and again");
    hot_context_cancel(NULL), hot_context_resume(NULL);
    hot_context_destroy(&context);

    options.threads = -1;
    CHECK(hot_context_create(&options, &context) == HOT_ERROR_ARGUMENT && !context, "negative threads");
    const size_t sizes[] = {0, 3, sizeof options - 1, sizeof options + 1, SIZE_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        options = (hot_context_options){.size = sizes[i]};
        CHECK(hot_context_create(&options, &context) == HOT_ERROR_ARGUMENT && !context, "a size of %zu", sizes[i]);
    }
    const hot_context_options bad[] = {
        {.size = sizeof *bad, .device = (hot_device)77}, {.size = sizeof *bad, .device = (hot_device)-1},
        {.size = sizeof *bad, .device_number = -2}, {.size = sizeof *bad, .release = give_back}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(hot_context_create(&bad[i], &context) == HOT_ERROR_ARGUMENT && !context, "case %zu", i);
    int left = 0;
    hot_context_options starved = {
        .size = sizeof starved, .allocate = no_memory, .release = give_back, .allocator_user = &left};
    CHECK(hot_context_create(&starved, &context) == HOT_ERROR_MEMORY && !context, "no memory");
    left = 1;
    CHECK(hot_context_create(&starved, &context) == HOT_OK, "memory for the context alone");
    CHECK(hot_context_alloc(context, 1, 1) == NULL, "and then none");
    hot_context_destroy(&context);
    HOT_TEST_END();
}
