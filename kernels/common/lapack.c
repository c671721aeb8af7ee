/* See lapack.h. */
#include "lapack.h"

#include <pthread.h>

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

#ifdef HOT_LAPACK_NAME
static void load(void)
{
    void *library = hot_library_load(HOT_LAPACK_NAME, HOT_LAPACK_PATH);
    if (!library)
        return;
    int found = 1;
#define FIND(name) found &= hot_library_find(library, #name "_", &functions.name);
    HOT_LAPACK_ALL(FIND)
#undef FIND
    pthread_mutex_lock(&lock);
    hot_library_find(library, "openblas_get_parallel", &openblas.get_parallel);
    hot_library_find(library, "openblas_get_num_threads", &openblas.get_num_threads);
    hot_library_find(library, "openblas_set_num_threads", &openblas.set_num_threads);
    if (single_calls > 0)
        make_single();
    pthread_mutex_unlock(&lock);
    complete = found;
}
#else
static void load(void) {}
#endif

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
