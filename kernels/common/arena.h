/* One block of memory divided into arrays, so that a kernel's working memory is one allocation. Used twice: with base
 * NULL the arena only counts (every array is NULL, `used` is the size of the block), then with the block as base. */
#pragma once

#include <stddef.h>

typedef struct hot_arena {
    char *base;  /* NULL: only count */
    size_t used; /* bytes so far */
} hot_arena;

/* Arrays begin at multiples of 256 bytes, as cudaMalloc's do: kernels load 16 bytes at once from any of them. */
static inline size_t hot_arena_aligned(size_t bytes) { return (bytes + 255) / 256 * 256; }

/* The next `bytes` of the block; 0 bytes take no space. */
static inline void *hot_arena_alloc(hot_arena *arena, size_t bytes)
{
    char *array = arena->base ? arena->base + arena->used : NULL;
    arena->used += hot_arena_aligned(bytes);
    return array;
}

#ifdef __cplusplus
/* The next `count` values of type T. */
template <typename T> static inline T *hot_arena_array(hot_arena *arena, size_t count)
{
    return static_cast<T *>(hot_arena_alloc(arena, count * sizeof(T)));
}
#endif
