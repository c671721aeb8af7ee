/* Lets the same arithmetic compile as C11 and by nvcc. */
#pragma once

/* HOT_FN: an inline function of plain arithmetic, on the host and on the device alike. */
#ifdef __CUDACC__
#define HOT_FN static __host__ __device__ __forceinline__
#else
#define HOT_FN static inline __attribute__((always_inline, unused))
#endif

/* HOT_UNROLL before a loop whose bounds are constants once the loops around it are unrolled. */
#if defined(__CUDA_ARCH__)
#define HOT_UNROLL _Pragma("unroll")
#elif defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define HOT_UNROLL _Pragma("GCC unroll 64")
#else
#define HOT_UNROLL
#endif

/* HOT_JOIN(a, b): one name of two, macros expanded; for templates by inclusion. */
#define HOT_JOIN_(a, b) a##b
#define HOT_JOIN(a, b) HOT_JOIN_(a, b)
