/* The data of the heev family's kernels: `count` matrices of size n on the device. Everything is of the matrices scaled
 * by 2^-exponent, with rows and columns counted from the end. Triangles: row j holds A(k, j), k = 0 ... j, a column of
 * the upper triangle. */
#pragma once

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

struct heev_plan {
    int n, kept, count;
    int ld;             /* n up to a multiple of 32 */
    int panel;          /* reflectors per panel of the reduction: 8 or 16 */
    int lanes;          /* threads per eigenvalue, a power of two to 16 */
    bool clusters;      /* whether clusters of blocks reduce what has up to HEEV_CLUSTERED rows, not panels */
    bool f64, vectors;  /* the caller's numbers; whether vectors are wanted */
    void *reflectors;   /* count x ld x ld numbers: row i, 0 ... i - 1, is the i-th reflector, and zero from there on */
    void *second;       /* count x ld x ld: row i is w, where A -= v w^H + w v^H, of the i-th reflector; for panels */
    void *factors;      /* count x ld x 16: T of 16 reflectors at a time, by rows */
    void *tau;          /* count x ld numbers */
    double *d, *e;      /* count x n; e[i] couples i - 1 and i */
    double *lambda;     /* count x n, ascending */
    double *z[2];       /* count x ld x ld: row i, vector k; the second holds `up` before */
    double *gram;       /* count x ld x ld; holds `down` before */
    unsigned long long *apart; /* count: the bits of max |Z^T Z - 1| */
    int *exponent;      /* count */
    int *state;         /* count: HEEV_ ... */
};

/* Matrices up to HEEV_TINY are solved by a few threads each. Others are reduced: up to HEEV_SMALL in a block's
 * registers, up to HEEV_CLUSTERED by clusters of blocks where the GPU has them, larger ones by panels of at most
 * HEEV_PANEL reflectors; HEEV_WY are applied at a time. */
enum { HEEV_TINY = 16, HEEV_SMALL = 64, HEEV_CLUSTERED = 512, HEEV_PANEL = 16, HEEV_WY = 16 };

enum { HEEV_FINE = 0, HEEV_BAD = 1, HEEV_BY_QL = 2 };

/* How far from orthogonal one step of Newton and Schulz corrects to the last place, and two. */
#define HEEV_ONE_STEP 2e-8
#define HEEV_TWO_STEPS 1e-4

static inline bool heev_needs_panels(const heev_plan *plan)
{
    return plan->n > (plan->clusters ? HEEV_CLUSTERED : HEEV_SMALL);
}

__device__ __forceinline__ size_t packed(int n) { return (size_t)n * (size_t)(n + 1) / 2; }
__device__ __forceinline__ int which_z(const heev_plan &plan, int matrix)
{
    return plan.state[matrix] == HEEV_BY_QL || __longlong_as_double((long long)plan.apart[matrix]) > HEEV_ONE_STEP ? 0
                                                                                                                   : 1;
}
