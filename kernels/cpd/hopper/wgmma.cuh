/* Hopper's tensor-core products of a warpgroup (wgmma): left operand in registers or in shared memory. */
#pragma once

#include <stdint.h>

#include "common/hopper.cuh"

namespace {

/* Threads of one warpgroup, or of several. */
__device__ __forceinline__ void group_sync(int which, int threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(which), "r"(threads) : "memory");
}

/* d (64 x N, floats) = a (64 x 16, halves) times b (16 x N, halves in shared memory, 128-byte swizzle) +
 * d, or without d where keep is 0. */
template <int N> struct warpgroup_product;

#define CPD_D4(i) "+f"(d[i]), "+f"(d[(i) + 1]), "+f"(d[(i) + 2]), "+f"(d[(i) + 3])
#define CPD_D8 CPD_D4(0), CPD_D4(4)
#define CPD_D12 CPD_D8, CPD_D4(8)
#define CPD_D20 CPD_D12, CPD_D4(12), CPD_D4(16)
#define CPD_D32 CPD_D20, CPD_D4(20), CPD_D4(24), CPD_D4(28)
#define CPD_D40 CPD_D32, CPD_D4(32), CPD_D4(36)
#define CPD_D60 CPD_D40, CPD_D4(40), CPD_D4(44), CPD_D4(48), CPD_D4(52), CPD_D4(56)
#define CPD_R8 "%0,%1,%2,%3,%4,%5,%6,%7"
#define CPD_R12 CPD_R8 ",%8,%9,%10,%11"
#define CPD_R20 CPD_R12 ",%12,%13,%14,%15,%16,%17,%18,%19"
#define CPD_R32 CPD_R20 ",%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define CPD_R40 CPD_R32 ",%32,%33,%34,%35,%36,%37,%38,%39"
#define CPD_R60 CPD_R40 ",%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59"

/* The operands behind the sums: a from registers or (both) from shared memory; there it lies as b does, or
 * (ACROSS) with its rows side by side: lines of 128 bytes are then its columns. */
#define CPD_PRODUCT(N, half, a0, a1, a2, a3, from, with)                                                               \
    template <> struct warpgroup_product<N> {                                                                          \
        static __device__ __forceinline__ void run(float (&d)[half], const unsigned (&a)[4], uint64_t b, int keep)     \
        {                                                                                                              \
            asm volatile("{.reg .pred p; setp.ne.b32 p, " with ", 0; wgmma.mma_async.sync.aligned.m64n" #N             \
                         "k16.f32.f16.f16 {" CPD_R##half "}, {" a0 "," a1 "," a2 "," a3 "}, " from ", p, 1, 1, 0;}"    \
                         : CPD_D##half                                                                                 \
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(keep));                             \
        }                                                                                                              \
        template <bool ACROSS>                                                                                         \
        static __device__ __forceinline__ void both(float (&d)[half], uint64_t a, uint64_t b, int keep)                \
        {                                                                                                              \
            asm volatile("{.reg .pred p; setp.ne.b32 p, " a2 ", 0; wgmma.mma_async.sync.aligned.m64n" #N               \
                         "k16.f32.f16.f16 {" CPD_R##half "}, " a0 "," a1 ", p, 1, 1, " a3 ", 0;}"                      \
                         : CPD_D##half                                                                                 \
                         : "l"(a), "l"(b), "r"(keep), "n"(ACROSS ? 1 : 0));                                            \
        }                                                                                                              \
    }
CPD_PRODUCT(16, 8, "%8", "%9", "%10", "%11", "%12", "%13");
CPD_PRODUCT(24, 12, "%12", "%13", "%14", "%15", "%16", "%17");
CPD_PRODUCT(40, 20, "%20", "%21", "%22", "%23", "%24", "%25");
CPD_PRODUCT(64, 32, "%32", "%33", "%34", "%35", "%36", "%37");
CPD_PRODUCT(80, 40, "%40", "%41", "%42", "%43", "%44", "%45");
CPD_PRODUCT(120, 60, "%60", "%61", "%62", "%63", "%64", "%65");

/* A run of warpgroup products: registers are ready; the run ends; all is done but for the last RUNS; all is
 * done and the sums may be read. */
__device__ __forceinline__ void products_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void products_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int RUNS> __device__ __forceinline__ void products_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(RUNS) : "memory");
}
template <int COUNT> __device__ __forceinline__ void products_done(float (&d)[COUNT])
{
    products_wait<0>();
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        asm volatile("" : "+f"(d[i])::"memory");
}

/* The right operand at a place in shared memory: rows of 128 bytes, eight of them in a swizzled block. */
__device__ __forceinline__ uint64_t operand(unsigned address)
{
    return (uint64_t)((address & 0x3ffff) >> 4) | (uint64_t)1 << 16 | (uint64_t)64 << 32 | (uint64_t)1 << 62;
}

} // namespace
