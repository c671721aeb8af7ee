/* LAPACK comes when it is wanted: a program that is linked with our libraries does not have it, the first call that
 * uses it does, and OpenBLAS has one thread while our own share the work. */
#define _GNU_SOURCE /* RTLD_NOLOAD */
#include "check.h"

#include <dlfcn.h>

#include "common/lapack.h"

#include <hotfiber/context.h>
#include <hotfiber/heev.h>

/* Whether a file whose name holds the word is mapped. */
static int is_loaded(const char *word)
{
    char line[512];
    int found = 0;
    FILE *file = fopen("/proc/self/maps", "r");
    while (file && fgets(line, sizeof line, file))
        found |= strstr(line, word) != NULL;
    if (file)
        fclose(file);
    return found;
}

static int threads(void *library, void *set)
{
    int (*get)(void) = NULL;
    void *const address = library ? dlsym(library, "openblas_get_num_threads") : NULL;
    memcpy(&get, &address, sizeof address);
    void (*change)(int) = NULL;
    void *const other = library ? dlsym(library, "openblas_set_num_threads") : NULL;
    memcpy(&change, &other, sizeof other);
    if (change && set)
        change(*(int *)set);
    return get ? get() : 0;
}

int main(void)
{
    hot_context *context;
    const double matrix[4] = {2, 1, 1, 2};
    double values[2];
    int four = 4;
    CHECK(!is_loaded("libopenblas") && !is_loaded("liblapack"), "LAPACK is loaded before it is wanted");
    hot_context_create(&(hot_context_options){.size = sizeof(hot_context_options), .device = HOT_DEVICE_CPU}, &context);
    hot_lapack_single_begin(); /* before it is there */
    CHECK((hot_lapack_get() != NULL) == (LAPACK_FOUND != 0), "what the build found: %d", LAPACK_FOUND);
    CHECK(hot_syev_f64(context, NULL, 2, 1, matrix, values, NULL, NULL) == HOT_OK, "%s", hot_context_message(context));
    CHECK_NEAR(values[0], 1, 1e-14, "smaller value");
    CHECK_NEAR(values[1], 3, 1e-14, "larger value");
    void *library = LAPACK_FOUND ? dlopen(LAPACK_NAME, RTLD_NOW | RTLD_NOLOAD) : NULL;
    CHECK(!LAPACK_FOUND || library, "%s is loaded", LAPACK_NAME);
    if (threads(library, NULL) > 0) {
        CHECK(threads(library, NULL) == 1, "%d threads", threads(library, NULL));
        hot_lapack_single_end();
        threads(library, &four);
        const int before = threads(library, NULL);
        hot_lapack_single_begin();
        hot_lapack_single_begin();
        CHECK(threads(library, NULL) == 1, "%d threads", threads(library, NULL));
        hot_lapack_single_end();
        CHECK(threads(library, NULL) == 1, "%d threads after the first of two ends", threads(library, NULL));
        hot_lapack_single_end();
        CHECK(threads(library, NULL) == before, "%d threads of %d", threads(library, NULL), before);
    }
    hot_context_destroy(&context);
    HOT_TEST_END();
}
