#include "share.h"

#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 256 };

struct share {
    void (*work)(void *job, int part, int thread);
    void *job;
    int parts;
    atomic_int next;
};

struct worker {
    struct share *share;
    int number;
};

static void *take_parts(void *given)
{
    const struct worker *worker = given;
    struct share *share = worker->share;
    for (int part; (part = atomic_fetch_add(&share->next, 1)) < share->parts;)
        share->work(share->job, part, worker->number);
    return NULL;
}

void hot_share_parts(hot_context *context, int parts, void (*work)(void *job, int part, int thread), void *job)
{
    pthread_t thread[THREADS];
    struct worker worker[THREADS];
    struct share share = {.work = work, .job = job, .parts = parts};
    const int threads = hot_context_threads(context);
    int started = 1;
    worker[0] = (struct worker){&share, 0};
    for (; started < threads && started < THREADS && started < parts; started++) {
        worker[started] = (struct worker){&share, started};
        if (pthread_create(&thread[started], NULL, take_parts, &worker[started]) != 0)
            break;
    }
    take_parts(&worker[0]);
    for (int t = 1; t < started; t++)
        pthread_join(thread[t], NULL);
}
