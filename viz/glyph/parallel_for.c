#include "parallel_for.h"

#include <pthread.h>
#include <stdatomic.h>

enum { MAX_THREADS = 256 };

struct loop {
    void (*work)(void *data, int task, int thread);
    void *data;
    int tasks;
    atomic_int next;
};

struct worker {
    struct loop *loop;
    int number;
};

static void *run_tasks(void *argument)
{
    const struct worker *worker = argument;
    struct loop *loop = worker->loop;
    for (int task; (task = atomic_fetch_add(&loop->next, 1)) < loop->tasks;)
        loop->work(loop->data, task, worker->number);
    return NULL;
}

void hot_parallel_for(hot_context *context, int tasks, void (*work)(void *data, int task, int thread), void *data)
{
    pthread_t thread[MAX_THREADS];
    struct worker worker[MAX_THREADS];
    struct loop loop = {.work = work, .data = data, .tasks = tasks};
    const int threads = hot_context_threads(context);
    int started = 1;
    worker[0] = (struct worker){&loop, 0};
    for (; started < threads && started < MAX_THREADS && started < tasks; started++) {
        worker[started] = (struct worker){&loop, started};
        if (pthread_create(&thread[started], NULL, run_tasks, &worker[started]) != 0)
            break;
    }
    run_tasks(&worker[0]);
    for (int t = 1; t < started; t++)
        pthread_join(thread[t], NULL);
}
