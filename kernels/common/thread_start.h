/* Threads of the library. */
#pragma once

#include <pthread.h>
#include <signal.h>

/* Whether a thread runs run(user) from now on. No signal goes to it: they are for the threads of the user. */
static inline int hot_thread_start(pthread_t *thread, void *(*run)(void *), void *user)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int started = pthread_create(thread, NULL, run, user) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}
