/* The promises of context.h and status.h: messages and parameters, memory, callbacks and their threads. */
#include <pthread.h>
#include <string.h>

#include <hotfiber/context.h>
#include <hotfiber/directions.h>

#include "threads.h"

static pthread_t caller;
static int in_other_thread, reports, allocations, releases;
static double last_fraction;

static int report(void *user, const char *stage, double fraction)
{
    in_other_thread += !pthread_equal(caller, pthread_self());
    CHECK(user == &reports && stage && stage[0] && fraction >= 0 && fraction <= 1, "'%s' %g", stage, fraction);
    last_fraction = fraction;
    reports++;
    return 0;
}

static void *take(void *user, size_t bytes)
{
    in_other_thread += !pthread_equal(caller, pthread_self()) || user != &allocations;
    void *memory = malloc(bytes);
    if (memory)
        memset(memory, 0xa5, bytes); /* need not be zeroed */
    __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);
    return memory;
}

static void give_back(void *user, void *memory)
{
    in_other_thread += !pthread_equal(caller, pthread_self()) || user != &allocations;
    __atomic_add_fetch(&releases, memory != NULL, __ATOMIC_RELAXED);
    free(memory);
}

static void test_callbacks(void)
{
    enum { COUNT = 3000 };
    static float tensors[COUNT][15], directions[2][COUNT][9];
    uint64_t state = 1;
    const hot_context_options o = {.size = sizeof o, .device = HOT_DEVICE_CPU, .threads = 4, .allocate = take,
                                   .release = give_back, .allocator_user = &allocations, .progress = report,
                                   .progress_user = &reports};
    hot_context *context = NULL, *plain = context_of(4);
    caller = pthread_self();
    CHECK(hot_context_create(&o, &context) == HOT_OK, "a context");
    for (int n = 0; n < COUNT; n++)
        for (int t = 0; t < 15; t++)
            tensors[n][t] = (float)check_random_normal(&state);
    CHECK(hot_directions_f32(context, NULL, 4, COUNT, tensors[0], 15, NULL, directions[0][0], NULL) == HOT_OK &&
              hot_directions_f32(plain, NULL, 4, COUNT, tensors[0], 15, NULL, directions[1][0], NULL) == HOT_OK, "a");
    CHECK(memcmp(directions[0], directions[1], sizeof directions[0]) == 0, "memory that is not zeroed changes results");
    CHECK(reports > 0 && last_fraction == 1, "%d reports, the last of %g", reports, last_fraction);
    int *zeros = hot_context_calloc(context, 1000, sizeof *zeros);
    for (int i = 0; i < 1000; i++)
        CHECK(zeros[i] == 0, "number %d: %d", i, zeros[i]);
    void *nothing = hot_context_alloc(context, 0, 8);
    CHECK(nothing, "none are a valid pointer");
    hot_context_free(context, nothing);
    hot_context_free(context, zeros);
    hot_context_free(context, NULL);
    hot_context_destroy(&context);
    hot_context_destroy(&plain);
    CHECK(in_other_thread == 0, "%d calls back from another thread", in_other_thread);
    CHECK(allocations > 0 && releases == allocations, "%d allocated, %d freed", allocations, releases);
}

static void test_messages(hot_context *context)
{
    CHECK(strcmp(hot_context_message(context), "") == 0 && strcmp(hot_context_parameter(context), "") == 0, "none yet");
    CHECK(hot_context_fail(context, HOT_ERROR_FILE, "no %s", "file") == HOT_ERROR_FILE &&
              strcmp(hot_context_message(context), "no file") == 0, "%s", hot_context_message(context));
    CHECK(hot_context_add(context, HOT_ERROR_FILE, "in %d", 7) == HOT_ERROR_FILE &&
              strcmp(hot_context_message(context), "no file; in 7") == 0, "%s", hot_context_message(context));
    CHECK(hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, "starts", "not %d", 3) == HOT_ERROR_ARGUMENT &&
              strcmp(hot_context_message(context), "starts: not 3") == 0 &&
              strcmp(hot_context_parameter(context), "starts") == 0, "%s", hot_context_message(context));
    CHECK(hot_context_set_parameter(context, HOT_ERROR_ARGUMENT, "other") == HOT_ERROR_ARGUMENT &&
              strcmp(hot_context_parameter(context), "starts") == 0, "one is named already");
    CHECK(hot_context_fail(context, HOT_ERROR_ARGUMENT, "bad") && !hot_context_parameter(context)[0], "none any more");
    CHECK(hot_context_set_parameter(context, HOT_OK, "x") == HOT_OK && !hot_context_parameter(context)[0] &&
              hot_context_set_parameter(context, HOT_ERROR_CANCELLED, "x") == HOT_ERROR_CANCELLED &&
              !hot_context_parameter(context)[0], "nothing after HOT_OK and after cancelling");
    CHECK(hot_context_set_parameter(context, HOT_ERROR_ARGUMENT, "order") == HOT_ERROR_ARGUMENT &&
              strcmp(hot_context_parameter(context), "order") == 0 &&
              strcmp(hot_context_message(context), "order: bad") == 0, "%s", hot_context_message(context));
    char name[40];
    memset(name, 'a', 31), name[31] = '\0';
    CHECK(hot_context_fail_parameter(context, HOT_ERROR_ARGUMENT, name, "x") && strcmp(hot_context_parameter(context),
              name) == 0, "31 letters");
    /* a message that is far too long is cut, and nothing else happens */
    static char many[100000];
    memset(many, 'm', sizeof many - 1);
    hot_context_fail(context, HOT_ERROR_DATA, "%s", many);
    for (int i = 0; i < 50; i++)
        hot_context_add(context, HOT_ERROR_DATA, "%s", many);
    CHECK(strlen(hot_context_message(context)) > 100, "a long message");
    for (int status = -1; status < 12; status++)
        CHECK(hot_status_text((hot_status)status) && hot_status_text((hot_status)status)[0], "status %d", status);
    CHECK(strcmp(hot_status_text(HOT_ERROR_MEMORY), "out of memory") == 0, "%s", hot_status_text(HOT_ERROR_MEMORY));
}

int main(void)
{
    const hot_context_options o = {.size = sizeof o, .device = HOT_DEVICE_CPU, .device_number = 0, .seed = 77};
    hot_context *context = NULL;
    test_callbacks();
    CHECK(hot_context_create(&o, &context) == HOT_OK, "a context");
    CHECK(hot_context_threads(context) >= 1 && hot_context_device(context) == HOT_DEVICE_CPU &&
              hot_context_device_number(context) == 0 && hot_context_seed(context) == 77 &&
              hot_context_device_used(context) == HOT_DEVICE_CPU, "what the options say");
    test_messages(context);
    hot_context_cancel(context);
    CHECK(hot_context_check(context, "doing that") == HOT_ERROR_CANCELLED &&
              strcmp(hot_context_message(context), "cancelled while doing that") == 0, "the message");
    hot_context_destroy(&context);
    CHECK(!context, "set to NULL");
    hot_context_destroy(&context);
    hot_context_destroy(NULL);
    COUNTED_TEST_END();
}
