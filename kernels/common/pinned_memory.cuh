/* Pinned memory. Pinning 128 MB of small pages takes a tenth of a second, longer than many calls; large pages take a
 * fifth of that (docs/decisions/017-batch-pipeline.md). */
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>
#include <sys/mman.h>

enum { PINNED_PAGE = 2 << 20 };

static inline size_t pinned_pages(size_t bytes) { return (bytes + PINNED_PAGE - 1) / PINNED_PAGE * PINNED_PAGE; }

/* Whole large pages at an address that is a multiple of theirs; NULL if the system has none. A child process does not
 * get them: after a fork a page that is written to would be another than the GPU's. */
static inline void *map_large_pages(size_t bytes)
{
#ifdef MADV_HUGEPAGE
    const size_t whole = pinned_pages(bytes);
    char *mapped = (char *)mmap(NULL, whole + PINNED_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == (char *)MAP_FAILED)
        return NULL;
    char *const memory = mapped + (PINNED_PAGE - (uintptr_t)mapped % PINNED_PAGE) % PINNED_PAGE;
    if (memory > mapped)
        munmap(mapped, (size_t)(memory - mapped));
    if (mapped + PINNED_PAGE > memory)
        munmap(memory + whole, (size_t)(mapped + PINNED_PAGE - memory));
    madvise(memory, whole, MADV_HUGEPAGE);
    madvise(memory, whole, MADV_DONTFORK);
    return memory;
#else
    (void)bytes;
    return NULL;
#endif
}

/* Memory that all GPUs copy from and to directly. Freed by free_pinned with the same number of bytes. */
static inline cudaError_t allocate_pinned(void **memory, size_t bytes)
{
    void *pages = bytes >= PINNED_PAGE ? map_large_pages(bytes) : NULL;
    *memory = pages;
    if (pages && cudaHostRegister(pages, pinned_pages(bytes), cudaHostRegisterPortable) == cudaSuccess)
        return cudaSuccess;
    if (pages) {
        cudaGetLastError();
        munmap(pages, pinned_pages(bytes));
    }
    *memory = NULL;
    return cudaHostAlloc(memory, bytes, cudaHostAllocPortable);
}

static inline void free_pinned(void *memory, size_t bytes)
{
    if (memory && bytes >= PINNED_PAGE && cudaHostUnregister(memory) == cudaSuccess) {
        munmap(memory, pinned_pages(bytes));
        return;
    }
    cudaGetLastError(); /* it came from cudaHostAlloc */
    cudaFreeHost(memory);
}
