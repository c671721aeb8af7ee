#define _GNU_SOURCE /* O_TMPFILE, MADV_DONTNEED */
#include "spill.h"
#include "entry.h"
#include "thread_start.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* LEAST, MOST: bounds of the array size from which spilling is considered; SHARE: the files' pages may take 1 / SHARE
 * of all memory; PAUSE: between two checks of how much they take, ns. */
enum { LEAST = 1 << 16, MOST = 1 << 20, SHARE = 8, PAUSE = 8000000 };

typedef struct block {
    void *memory;
    size_t bytes;
    int mapped;
} block;

struct hot_spill {
    pthread_mutex_t lock; /* of what follows */
    block *block;
    size_t count, capacity;
    size_t ordinary;      /* bytes of blocks that are not mapped */
    size_t least, room, resident, base;
    pthread_t watcher;
    pthread_cond_t wake;  /* it, early */
    int watched, ended;
    int forks;            /* hot_entry_forks of the process whose lock and watcher these are */
    atomic_size_t mapped; /* bytes */
    _Atomic int64_t looked; /* when */
    char *folder;
};

int hot_unnamed_file(const char *folder)
{
    char name[PATH_MAX];
    int handle = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (handle >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) ||
        snprintf(name, sizeof name, "%s/.part-XXXXXX", folder) >= (int)sizeof name)
        return handle;
    handle = mkostemp(name, O_CLOEXEC); /* a file system that has none such */
    if (handle >= 0)
        unlink(name);
    return handle;
}

/* Bytes of files that are mapped and in memory, the program's own among them. */
static size_t files_in_memory(void)
{
    uintmax_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%*s %*s %ju", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void make_lock(hot_spill *spill)
{
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&spill->wake, &clock);
    pthread_condattr_destroy(&clock);
    pthread_mutex_init(&spill->lock, NULL);
    spill->forks = hot_entry_forks();
}

/* In a forked process the watcher is not there, and may have had the lock. */
static void take_lock(hot_spill *spill)
{
    if (spill->forks != hot_entry_forks()) {
        spill->watched = 0;
        make_lock(spill);
    }
    pthread_mutex_lock(&spill->lock);
}

int hot_spill_bound(hot_spill *spill, size_t bytes, const char *folder)
{
    enum { OURS = 160 << 20, RESIDENT = 32 << 20 }; /* of the program and its small tables; of files at least */
    char *copy = strdup(folder);
    if (!copy)
        return 0;
    take_lock(spill);
    free(spill->folder);
    spill->folder = copy;
    spill->least = bytes / 64 < LEAST ? LEAST : bytes / 64 > MOST ? MOST : bytes / 64;
    spill->room = bytes > OURS ? (bytes - OURS) / 4 * 3 : 0;
    spill->resident = bytes / SHARE > RESIDENT ? bytes / SHARE : RESIDENT;
    pthread_mutex_unlock(&spill->lock);
    return 1;
}

hot_spill *hot_spill_create(size_t bytes, const char *folder)
{
    hot_spill *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    make_lock(made);
    made->base = files_in_memory();
    if (hot_spill_bound(made, bytes, folder))
        return made;
    hot_spill_destroy(made);
    return NULL;
}

void hot_spill_destroy(hot_spill *spill)
{
    if (!spill)
        return;
    take_lock(spill);
    spill->ended = 1;
    pthread_cond_signal(&spill->wake);
    pthread_mutex_unlock(&spill->lock);
    if (spill->watched)
        pthread_join(spill->watcher, NULL);
    pthread_cond_destroy(&spill->wake);
    pthread_mutex_destroy(&spill->lock);
    free(spill->folder);
    free(spill->block);
    free(spill);
}

const char *hot_spill_folder(const hot_spill *spill) { return spill->folder; }

/* A place in the list, under the lock; NULL without memory. */
static block *add(hot_spill *spill)
{
    if (spill->count == spill->capacity) {
        const size_t capacity = spill->capacity ? 2 * spill->capacity : 64;
        block *grown = realloc(spill->block, capacity * sizeof *grown);
        if (!grown)
            return NULL;
        spill->block = grown;
        spill->capacity = capacity;
    }
    return &spill->block[spill->count++];
}

/* Pages that are let go stay in the system's cache, or go to the disk if it has a better use for the memory; the next
 * touch brings them back. Under the lock. */
static void let_go(hot_spill *spill)
{
    if (files_in_memory() <= spill->base + spill->resident)
        return;
    for (size_t i = 0; i < spill->count; i++)
        if (spill->block[i].mapped)
            madvise(spill->block[i].memory, spill->block[i].bytes, MADV_DONTNEED);
}

/* A thread that checks regularly, for code that walks an array without checking. */
static void *watch(void *user)
{
    hot_spill *spill = user;
    pthread_mutex_lock(&spill->lock);
    while (!spill->ended) {
        if (atomic_load(&spill->mapped) > spill->resident) {
            struct timespec until;
            let_go(spill);
            clock_gettime(CLOCK_MONOTONIC, &until);
            until.tv_nsec += PAUSE / 2;
            until.tv_sec += until.tv_nsec / 1000000000;
            until.tv_nsec %= 1000000000;
            pthread_cond_timedwait(&spill->wake, &spill->lock, &until);
        } else {
            pthread_cond_wait(&spill->wake, &spill->lock);
        }
    }
    pthread_mutex_unlock(&spill->lock);
    return NULL;
}

/* Without the thread others look. Under the lock. */
static void start_watching(hot_spill *spill)
{
    spill->watched = spill->watched || hot_thread_start(&spill->watcher, watch, spill);
    pthread_cond_signal(&spill->wake);
}

/* The whole file is allocated on the disk before it is mapped: afterwards a full disk would raise a signal. */
static int map(const char *folder, size_t bytes, void **memory)
{
    const int handle = hot_unnamed_file(folder);
    if (handle < 0)
        return errno;
    int error = posix_fallocate(handle, 0, (off_t)bytes);
    if (error == 0) {
        void *made = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, handle, 0);
        error = made == MAP_FAILED ? errno : 0;
        *memory = error ? NULL : made;
    }
    close(handle);
    return error;
}

int hot_spill_alloc(hot_spill *spill, size_t bytes, void **memory)
{
    int error = 0;
    *memory = NULL;
    if (bytes < spill->least)
        return 0;
    take_lock(spill);
    if (spill->ordinary + bytes > spill->room) {
        error = map(spill->folder, bytes, memory);
        block *there = *memory ? add(spill) : NULL;
        if (there) {
            *there = (block){*memory, bytes, 1};
            atomic_fetch_add(&spill->mapped, bytes);
            start_watching(spill);
        } else if (*memory) {
            munmap(*memory, bytes);
            *memory = NULL;
            error = ENOMEM;
        }
    }
    pthread_mutex_unlock(&spill->lock);
    return error;
}

int hot_spill_account(hot_spill *spill, void *memory, size_t bytes)
{
    if (bytes < spill->least)
        return 1;
    take_lock(spill);
    block *there = add(spill);
    if (there) {
        *there = (block){memory, bytes, 0};
        spill->ordinary += bytes;
    }
    pthread_mutex_unlock(&spill->lock);
    return there != NULL;
}

int hot_spill_free(hot_spill *spill, void *memory)
{
    int mapped = 0;
    take_lock(spill);
    for (size_t i = spill->count; i-- > 0;) {
        const block gone = spill->block[i];
        if (gone.memory != memory)
            continue;
        spill->block[i] = spill->block[--spill->count];
        mapped = gone.mapped;
        if (mapped) {
            munmap(memory, gone.bytes);
            atomic_fetch_sub(&spill->mapped, gone.bytes);
        } else {
            spill->ordinary -= gone.bytes;
        }
        break;
    }
    pthread_mutex_unlock(&spill->lock);
    return mapped;
}

void hot_spill_evict(hot_spill *spill)
{
    if (atomic_load_explicit(&spill->mapped, memory_order_relaxed) <= spill->resident)
        return;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    const int64_t at = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    int64_t last = atomic_load_explicit(&spill->looked, memory_order_relaxed);
    if (at - last < PAUSE || !atomic_compare_exchange_strong(&spill->looked, &last, at))
        return;
    take_lock(spill); /* a watcher that waits for a processor may have it: going on would take more */
    let_go(spill);
    pthread_mutex_unlock(&spill->lock);
}
