/* Out-of-core arrays are in unlinked files: reads return what was written, little of it is in memory at a time, nothing
 * is left in the folder; failures are reported. */
#include "check.h"
#include "entries.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <hotfiber/hotfiber.h>

#include "common/spill.h"

/* The thread sanitizer keeps a record of every word that was written, which is in memory whatever the library does. */
#if defined(__SANITIZE_THREAD__)
enum { MEMORY_IS_OURS = 0 };
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
enum { MEMORY_IS_OURS = 0 };
#else
enum { MEMORY_IS_OURS = 1 };
#endif
#else
enum { MEMORY_IS_OURS = 1 };
#endif

static char root[] = "/var/tmp/hotfiber-spill-XXXXXX";
static char heard[512];
static int said;
static size_t live;

static void hear(void *user, hot_log_level level, const char *line)
{
    (void)user;
    said += level == HOT_LOG_WARNING;
    snprintf(heard, sizeof heard, "%s", line);
}

static void *count_up(void *user, size_t bytes)
{
    (void)user;
    live++;
    return malloc(bytes);
}

static void count_down(void *user, void *memory)
{
    (void)user;
    live -= memory != NULL;
    free(memory);
}

static hot_context *context_of(int own)
{
    hot_context *context = NULL;
    hot_context_options options = {.size = sizeof options, .device = HOT_DEVICE_CPU, .threads = 2, .log = hear};
    if (own) {
        options.allocate = count_up;
        options.release = count_down;
    }
    CHECK(hot_context_create(&options, &context) == HOT_OK, "context");
    return context;
}

/* Bytes of an array that are mapped from a file: the name of its mapping ends so. */
static int in_file(const void *memory)
{
    char line[512];
    FILE *file = fopen("/proc/self/maps", "r");
    int found = 0;
    while (file && fgets(line, sizeof line, file)) {
        uintmax_t from, to;
        if (sscanf(line, "%jx-%jx", &from, &to) == 2 && from <= (uintptr_t)memory && (uintptr_t)memory < to)
            found = strstr(line, root) != NULL;
    }
    if (file)
        fclose(file);
    return found;
}

static size_t resident(void)
{
    uintmax_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%*s %ju", &pages) == 1, "statm");
    if (file)
        fclose(file);
    return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Half a gigabyte with a bound of 64 MiB. */
static void test_large(void)
{
    enum { WORDS = 1 << 26, STEP = 1 << 16 };
    hot_context *context = context_of(0);
    size_t most = 0;
    hot_context_bound(context, 64 << 20, root);
    CHECK(hot_context_bounded(context), "bounded");
    const size_t before = resident();
    uint64_t *words = hot_context_alloc(context, WORDS, sizeof *words);
    CHECK(words && in_file(words) && entries_in(root) == 0, "in a file without a name: %s",
          hot_context_message(context));
    for (size_t i = 0; words && i < WORDS; i++) {
        words[i] = i * 0x9e3779b97f4a7c15u;
        if (i % STEP == 0) {
            hot_context_cancelled(context); /* as all loops do */
            const size_t now = resident();
            most = now > most ? now : most;
        }
    }
    size_t wrong = 0;
    for (size_t i = 0; words && i < WORDS; i++) {
        wrong += words[i] != i * 0x9e3779b97f4a7c15u;
        if (i % STEP == 0)
            hot_context_cancelled(context);
    }
    CHECK(wrong == 0, "%zu words differ", wrong);
    CHECK(!MEMORY_IS_OURS || most < before + ((size_t)WORDS * sizeof *words) / 2, "%zu MB in memory",
          (most - before) >> 20);
    hot_context_free(context, words);
    CHECK(!in_file(words), "unmapped");
    hot_context_destroy(&context);
}

static void test_rules(void)
{
    hot_context *context = context_of(0);
    char *before = hot_context_alloc(context, 1 << 22, 1);
    hot_context_bound(context, (size_t)400 << 20, root); /* 180 MiB for arrays */
    char *fits = hot_context_alloc(context, 100 << 20, 1), *not = hot_context_calloc(context, 100 << 20, 1);
    char *little = hot_context_alloc(context, 1000, 1), *after = NULL;
    CHECK(fits && !in_file(fits) && not && in_file(not) && little && !in_file(little), "as long as there is room");
    size_t sum = 0;
    for (size_t i = 0; not && i < 100 << 20; i += 4096)
        sum += (size_t)not[i];
    CHECK(sum == 0, "zeroed");
    hot_context_free(context, fits);
    hot_context_free(context, before); /* was never counted */
    after = hot_context_alloc(context, 100 << 20, 1);
    CHECK(after && !in_file(after), "freed memory");
    hot_context_free(context, after);
    hot_context_free(context, not);
    hot_context_free(context, little);

    /* A folder that is not there: in memory, and said once. */
    hot_context_bound(context, 1, "/no/such/folder");
    char *first = hot_context_alloc(context, 1 << 20, 1), *second = hot_context_alloc(context, 1 << 20, 1);
    CHECK(first && second && said == 1 && strstr(heard, "'/no/such/folder'"), "%d: %s", said, heard);
    hot_context_free(context, first);
    hot_context_free(context, second);

    /* No place on the disk; the limit of a file's size is the one that a test can set. */
    struct rlimit whole, some;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &whole);
    some = whole;
    some.rlim_cur = 1 << 20;
    CHECK(setrlimit(RLIMIT_FSIZE, &some) == 0, "limit");
    hot_context_bound(context, 1, root);
    CHECK(!hot_context_alloc(context, 1 << 22, 1), "refused");
    CHECK(strstr(hot_context_message(context), root) && strstr(hot_context_message(context), "0.00419 GB"), "%s",
          hot_context_message(context));
    setrlimit(RLIMIT_FSIZE, &whole);
    hot_context_destroy(&context);

    /* A caller's own allocation functions stay in use. */
    context = context_of(1);
    hot_context_bound(context, 1, root);
    char *own = hot_context_alloc(context, 1 << 22, 1);
    CHECK(own && !in_file(own) && live == 2 && !hot_context_bounded(context), "%zu blocks", live);
    hot_context_free(context, own);
    hot_context_destroy(&context);
    CHECK(live == 0, "%zu blocks left", live);
}

int main(void)
{
    CHECK(mkdtemp(root) != NULL, "a folder");
    test_large();
    test_rules();
    CHECK(entries_in(root) == 0, "nothing is left");
    rmdir(root);
    HOT_TEST_END();
}
