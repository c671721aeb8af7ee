/* See lapack.h. */
#include "lapack.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "loaded_library.h"

/* OpenBLAS's own functions, which another LAPACK lacks. */
static struct {
    int (*get_parallel)(void); /* 0: built without threads */
    int (*get_num_threads)(void);
    void (*set_num_threads)(int threads);
} openblas;

/* Calls that run at once share one setting: the first makes it, the last takes it back. Otherwise one that ended would
 * give threads to products of the others, and their last bits would change. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int single_calls, single_before;

/* With the lock held. */
static void make_single(void)
{
    if (!openblas.get_num_threads || !openblas.set_num_threads)
        return;
    single_before = openblas.get_num_threads();
    if (single_before > 1)
        openblas.set_num_threads(1);
}

void hot_lapack_single_begin(void)
{
    pthread_mutex_lock(&lock);
    if (single_calls++ == 0)
        make_single();
    pthread_mutex_unlock(&lock);
}

void hot_lapack_single_end(void)
{
    pthread_mutex_lock(&lock);
    if (--single_calls == 0 && single_before > 1)
        openblas.set_num_threads(single_before);
    pthread_mutex_unlock(&lock);
}

static hot_lapack functions;
static int complete;
static char *offered; /* with the lock */

/* The functions of a library whose names begin and end so. 0: one is missing. */
static int find(void *library, const char *prefix, const char *end)
{
    char name[64];
    int found = 1;
#define FIND(member)                                            \
    snprintf(name, sizeof name, "%s%s_%s", prefix, #member, end); \
    found &= hot_library_find(library, name, &functions.member);
    HOT_LAPACK_ALL(FIND)
#undef FIND
    if (!found)
        return 0;
    pthread_mutex_lock(&lock);
    const struct { const char *name; void *pointer; } own[] = {
        {"get_parallel", &openblas.get_parallel}, {"get_num_threads", &openblas.get_num_threads},
        {"set_num_threads", &openblas.set_num_threads}};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        snprintf(name, sizeof name, "%sopenblas_%s%s", prefix, own[i].name, end[0] ? "64_" : "");
        hot_library_find(library, name, own[i].pointer);
    }
    if (single_calls > 0)
        make_single();
    pthread_mutex_unlock(&lock);
    return 1;
}

/* NumPy's OpenBLAS: the names of its functions begin with scipy_, and end with 64_ as its integers do. */
static int load_offered(void)
{
    pthread_mutex_lock(&lock);
    const int can_be = offered && sizeof(hot_lapack_int) == sizeof(int64_t);
    void *library = can_be ? dlopen(offered, RTLD_NOW | RTLD_LOCAL) : NULL;
    pthread_mutex_unlock(&lock);
    return library && (functions.is_wide = find(library, "scipy_", "64_"));
}

static void load(void)
{
    complete = load_offered();
#ifdef HOT_LAPACK_NAME
    void *library = complete ? NULL : hot_library_load(HOT_LAPACK_NAME, HOT_LAPACK_PATH);
    complete |= library && find(library, "", "");
#endif
}

void hot_lapack_offer(const char *path)
{
    pthread_mutex_lock(&lock);
    if (!offered && path[0] == '/')
        offered = strdup(path);
    pthread_mutex_unlock(&lock);
}

const hot_lapack *hot_lapack_get(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return complete ? &functions : NULL;
}

/* One for the process, as the library's buffers are. */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static int unsafe(void) { return openblas.get_parallel && openblas.get_parallel() == 0; }

void hot_lapack_enter(void)
{
    if (unsafe())
        pthread_mutex_lock(&one_at_a_time);
}

void hot_lapack_leave(void)
{
    if (unsafe())
        pthread_mutex_unlock(&one_at_a_time);
}
