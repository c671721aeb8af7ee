/* See lapack.h. OpenBLAS's own functions are weak here: another LAPACK lacks them. */
#include "lapack.h"

#if defined(HOT_HAVE_LAPACK) && HOT_HAVE_LAPACK

#include <pthread.h>

__attribute__((weak)) int openblas_get_parallel(void); /* 0: built without threads */
__attribute__((weak)) int openblas_get_num_threads(void);
__attribute__((weak)) void openblas_set_num_threads(int threads);

/* Calls that run at once share one setting: the first makes it, the last takes it back. Otherwise one that ended would
 * give threads to products of the others, and their last bits would change. */
static pthread_mutex_t single_lock = PTHREAD_MUTEX_INITIALIZER;
static int single_calls, single_before;

void hot_lapack_single_begin(void)
{
    if (!openblas_get_num_threads || !openblas_set_num_threads)
        return;
    pthread_mutex_lock(&single_lock);
    if (single_calls++ == 0) {
        single_before = openblas_get_num_threads();
        if (single_before > 1)
            openblas_set_num_threads(1);
    }
    pthread_mutex_unlock(&single_lock);
}

void hot_lapack_single_end(void)
{
    if (!openblas_get_num_threads || !openblas_set_num_threads)
        return;
    pthread_mutex_lock(&single_lock);
    if (--single_calls == 0 && single_before > 1)
        openblas_set_num_threads(single_before);
    pthread_mutex_unlock(&single_lock);
}

/* One for the process, as the library's buffers are. */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static int unsafe(void) { return openblas_get_parallel && openblas_get_parallel() == 0; }

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

#else
typedef int hot_no_lapack_here; /* a file of C is not empty */
#endif
