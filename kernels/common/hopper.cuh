/* Hopper's asynchronous copies between global and shared memory, and the barriers in shared memory on which they count
 * what has arrived: thin wrappers of PTX (sections "mbarrier" and "cp.async.bulk" of its manual). Addresses in shared
 * memory are 32-bit, as shared_address gives them. Sizes and addresses of copies are multiples of 16 bytes. A kernel
 * that calls one of these must be compiled for compute capability 9.0 or later. */
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

namespace {

__device__ __forceinline__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

/* ---- Barriers ---------------------------------------------------------------------------------------------------- */

/* A phase of the barrier ends when `count` threads have arrived and all bytes that they announced have been copied. */
__device__ __forceinline__ void barrier_init(unsigned barrier, int count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

/* Makes initialised barriers visible to the copy engine; by the thread that initialised them. */
__device__ __forceinline__ void barrier_init_fence()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/* Arrives, and announces bytes that copies will bring. */
__device__ __forceinline__ void barrier_expect(unsigned barrier, unsigned bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

__device__ __forceinline__ void barrier_arrive(unsigned barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/* Waits for the end of the phase of this parity: 0, 1, 0 ... from the first on. */
__device__ __forceinline__ void barrier_wait(unsigned barrier, unsigned parity)
{
    unsigned done;
    do
        asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                     : "=r"(done)
                     : "r"(barrier), "r"(parity)
                     : "memory");
    while (!done);
}

/* The same with the loop inside the assembly, where the compiler does not see it. The two give other machine code
 * around them; each kernel has the one that it is faster with. */
__device__ __forceinline__ void barrier_spin(unsigned barrier, unsigned parity)
{
    asm volatile("{\n .reg .pred done;\n again:\n mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n @!done "
                 "bra again;\n}" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
}

/* ---- Copies ------------------------------------------------------------------------------------------------------ */

/* Global to shared memory, by one thread; counted on the barrier. */
__device__ __forceinline__ void bulk_load(unsigned to, const void *from, unsigned bytes, unsigned barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(barrier)
                 : "memory");
}

/* The same for a box of a third-order tensor that the map describes, first value at (i, j, k). */
__device__ __forceinline__ void bulk_load_box(unsigned to, const CUtensorMap *map, int i, int j, int k,
                                              unsigned barrier)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, "
                 "%5}], [%2];" ::"r"(to),
                 "l"(map), "r"(barrier), "r"(i), "r"(j), "r"(k)
                 : "memory");
}

/* Makes this thread's writes to shared memory visible to bulk copies that are started afterwards. */
__device__ __forceinline__ void bulk_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

/* Shared to global memory, by one thread, as part of a group of copies that bulk_commit ends. */
__device__ __forceinline__ void bulk_store(void *to, unsigned from, unsigned bytes)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from), "r"(bytes)
                 : "memory");
}
__device__ __forceinline__ void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

/* All groups of this thread have been read from shared memory, which may be overwritten; or have arrived. */
__device__ __forceinline__ void bulk_wait_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
__device__ __forceinline__ void bulk_wait() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }

} // namespace
