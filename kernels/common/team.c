/* How many threads a team can have: see entry.h. libgomp keeps a team's threads for the next one of the same calling
 * thread, ends those that a smaller team does not need, and ends the process when one cannot be made. */
#define _GNU_SOURCE /* SYS_gettid */
#include "team.h"

#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/syscall.h>
#endif
#if defined(__has_include) && defined(__GLIBC__)
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define HAVE_SINGLE_THREADED
#endif
#endif

#include "context_internal.h"
#include "entry.h"

static _Thread_local int team_now; /* threads of the last team of this thread; they are there still */
static _Thread_local int ended;    /* whether they were ended since */
static _Thread_local int lost;     /* whether a process that this thread forks cannot have teams */
static atomic_int forks, broken;   /* broken: this process is such a child */

int hot_team_end(void)
{
    team_now = 0;
    ended = omp_pause_resource_all(omp_pause_soft) == 0; /* not from inside a region */
    return ended;
}

static int has_other_threads(void)
{
#ifdef HAVE_SINGLE_THREADED
    return !__libc_single_threaded;
#else
    return 1;
#endif
}

/* A team's threads do not come along into a forked process, whose next team would wait for them for ever: so they end
 * before. Where no team of ours is known, one of the host's may be. */
static void before_fork(void) { lost = team_now > 1 ? !hot_team_end() : !ended && has_other_threads(); }

static void after_fork_in_child(void)
{
    if (lost)
        atomic_store(&broken, 1);
    atomic_fetch_add(&forks, 1);
}

/* When the library is loaded: the host may fork before its first call. */
__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(before_fork, NULL, after_fork_in_child); }

int hot_entry_forks(void) { return atomic_load(&forks); }

typedef struct trial {
    pthread_t thread;
    pthread_mutex_t *lock;
    long id; /* of the system's */
} trial;

static void *wait_for_the_end(void *given)
{
    trial *mine = given;
#ifdef __linux__
    mine->id = syscall(SYS_gettid);
#endif
    pthread_mutex_lock(mine->lock);
    pthread_mutex_unlock(mine->lock);
    return NULL;
}

/* A thread that was joined may still count for a moment. */
static void wait_until_gone(const trial *gone)
{
#ifdef __linux__
    for (int n = 0; n < 10000 && syscall(SYS_tgkill, getpid(), gone->id, 0) == 0; n++)
        sched_yield();
#else
    (void)gone;
#endif
}

/* How many of `wanted` threads can be created, by creating them: the limits of processes, groups and memory are too
 * many to query. */
static int try_threads(int wanted)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    sigset_t all, before;
    int made = 0;
    trial *trials = calloc((size_t)wanted, sizeof *trials);
    if (!trials)
        return 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the threads of the user */
    pthread_mutex_lock(&lock);
    for (; made < wanted; made++) {
        trials[made].lock = &lock;
        if (pthread_create(&trials[made].thread, NULL, wait_for_the_end, &trials[made]) != 0)
            break;
    }
    pthread_mutex_unlock(&lock);
    for (int t = 0; t < made; t++)
        pthread_join(trials[t].thread, NULL);
    for (int t = 0; t < made; t++)
        wait_until_gone(&trials[t]);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    free(trials);
    /* Where addresses are limited, threads must not take the last: libgomp ends the process when its own allocations
     * fail, and each thread that allocates takes 64 MiB of addresses in addition to the 8 of its stack. */
    struct rlimit addresses;
    if (made < wanted && getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY)
        made /= 1 + 64 / 8;
    return made;
}

int hot_team_size(hot_context *context, int threads)
{
#ifndef _OPENMP
    return 1;
#endif
    const int nested = omp_in_parallel();
    const int there = nested || team_now < 1 ? 1 : team_now;
    int team = threads;
    if (threads <= 1 || atomic_load(&broken) || (nested && omp_get_level() >= omp_get_max_active_levels()))
        return 1; /* a team of one does not change the threads of the last team */
    if (threads > there)
        team = there + try_threads(threads - there);
    if (team < threads && context && !nested && hot_context_once(context, HOT_ONCE_FEW_THREADS))
        hot_context_log(context, HOT_LOG_NOTE, "%d of %d threads can be started: computing with %d", team - 1,
                        threads - 1, team);
    if (!nested)
        team_now = team, ended = 0;
    return team;
}

static _Thread_local struct {
    int kept;
    fenv_t environment;
} worker;

void hot_team_take(int threads)
{
#pragma omp parallel num_threads(threads)
    {
        if (omp_get_thread_num() > 0) {
            if (!worker.kept)
                fegetenv(&worker.environment);
            worker.kept = 1;
            fesetenv(FE_DFL_ENV);
        }
    }
}

void hot_team_give_back(int threads, const fenv_t *environment)
{
    const int there = team_now < threads ? team_now : threads;
#pragma omp parallel num_threads(there) if (there > 1)
    {
        if (omp_get_thread_num() > 0) {
            fesetenv(worker.kept ? &worker.environment : environment);
            worker.kept = 0;
        }
    }
}
