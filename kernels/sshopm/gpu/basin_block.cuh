/* SS-HOPM with the basin test (basin.h) on the GPU. A block takes up to 32 tensors from the first value to the last
 * result:
 *
 *   scan         thread = rows of a face of a tensor: candidates for maxima (directions/gpu/scan.cuh)
 *   refine       thread = candidate, Newton's method (directions/step.h)
 *   choose       four threads = a tensor: the highest maxima, each once
 *   measure      eight threads = a maximum: its cone (basin.h)
 *   first steps  two starts a thread: two steps, and which cone they are in; the others are listed
 *   remaining    thread = start from that list, lanes refilled as starts enter a cone or converge by themselves
 *   store        four starts a thread: the results of their maxima
 *
 * Up to the cones: basin_maxima.cuh; from the first steps on: basin_starts.cuh. The list holds a start's number, and of
 * the first few hundred where they are; the others begin anew. Of the last starts the warps give away what they hold,
 * so that a block does not wait for the slowest: in large batches to a second kernel (basin_leftover_kernel), which
 * takes those of all blocks, in small ones to as few warps of the block as will do. */
#ifndef HOT_SSHOPM_BASIN_BLOCK_CUH
#define HOT_SSHOPM_BASIN_BLOCK_CUH

#include "directions/gpu/scan.cuh"
#include "gnomonic_item.cuh"
#include "basin.h" /* what all orders share */

namespace {

enum {
    BASIN_TENSORS = 32,  /* of a block, at most */
    BASIN_PAIRS = 4096,  /* tensors x starts of a block, at most */
    BASIN_CHOOSERS = 4,  /* threads that choose a tensor's maxima */
    BASIN_FOUND = 24,    /* refined candidates of a tensor, when there are as many tensors as can be */
    BASIN_STEPS = 8,     /* of refinement: what takes longer is not listed */
    BASIN_CARRIED = 640, /* starts whose place after the first steps is kept; others begin anew */
    /* Starts of a warp that it gives away when there are no others left: in small batches to a pool of the block, in
     * large ones to the second kernel. Which are given away depends on what other tensors leave over: wherever a start
     * is, it makes two steps between two checks, so that its limit does not depend on its neighbours. */
    BASIN_FEW = 16,
    BASIN_LAST = BASIN_FEW * 256 / 32, /* of a block, at most */
    BASIN_LEFTOVER_THREADS = 128,      /* of a block of the second kernel */
    BASIN_NONE = 255                   /* no maximum; of a tensor: none is looked for */
};
/* The kind of a tensor; EXTREME: at the ends of float's range. */
enum { BASIN_LIVE, BASIN_ZERO, BASIN_INVALID, BASIN_EXTREME };
constexpr float BASIN_NOTHING = 1e-6f; /* of the largest value: below it is rounding */
constexpr float BASIN_SAME = 0.9997f;  /* squared cosine of one degree: two maxima so close are one */

/* Threads of a block, maxima that are kept, candidates of a band of rows, and blocks per multiprocessor that registers
 * must allow, of both kernels. */
template <int ORDER> struct basin_tuning;
template <> struct basin_tuning<4> {
    enum { THREADS = 256, KEPT = 4, LISTED = 8, RESIDENT = 4, LEFTOVER_RESIDENT = 5 };
};
template <> struct basin_tuning<6> {
    enum { THREADS = 192, KEPT = 4, LISTED = 9, RESIDENT = 3, LEFTOVER_RESIDENT = 3 };
};
template <> struct basin_tuning<8> {
    enum { THREADS = 192, KEPT = 6, LISTED = 10, RESIDENT = 2, LEFTOVER_RESIDENT = 2 };
};

/* Shared memory as scan.cuh sees it. */
template <int N> struct basin_layout {
    static constexpr int ORDER = N;
    static constexpr int COLUMNS = basin_tuning<N>::THREADS;
    static constexpr int PITCH = BASIN_TENSORS + 1;
    static constexpr int LISTED = basin_tuning<N>::LISTED;
    static constexpr float ZERO = BASIN_NOTHING;
    static constexpr int ROW = (scan_grid<N>::TERMS + 3) / 4 * 4; /* of a scaled tensor */
};

/* The rules of basin.h: basin<ORDER>::inside and so on. */
template <int ORDER> struct basin {
#define HOT_ORDER ORDER
#define HOT_BASIN(name) name
#define HOT_GNOMONIC(name) gnomonic<ORDER>::name
#include "basin.h"
#undef HOT_ORDER
#undef HOT_BASIN
#undef HOT_GNOMONIC
};

/* A start that is left over, and all of them, in the GPU's memory. */
struct basin_start {
    float u, v;
    unsigned tensor, start; /* start: its number times 256, and the steps made */
};
struct basin_leftovers {
    unsigned count, taken, done, unused; /* done: warps of the second kernel */
    basin_start start[1];                /* as many as there can be */
};

struct basin_constants {
    gnomonic_constants gnomonic;
    unsigned shift; /* a block takes 2^shift tensors */
    unsigned pitch; /* starts of a tensor, rounded up to fours */
    unsigned parts; /* of 64 starts each */
    unsigned processors;
    basin_leftovers *left; /* NULL: starts are not left over */
    void *records;         /* count x basin_record */
    unsigned rows, bands;  /* of the scan: rows of a face that a thread takes, and how many such bands a face has */
    int quads;             /* whether rows of results begin at multiples of 16 bytes */
    float distance[HOT_BASIN_DISTANCES];
};

/* Shared memory of a block. What is needed at different times lies in the same place. */
template <int ORDER> struct basin_block {
    enum { THREADS = basin_tuning<ORDER>::THREADS, KEPT = basin_tuning<ORDER>::KEPT };
    float4 coefficient[BASIN_TENSORS][gnomonic<ORDER>::QUADS];
    float4 cone[BASIN_TENSORS * KEPT];  /* a maximum in the projection's frame, and its cone's squared cosine */
    float4 limit[BASIN_TENSORS * KEPT]; /* the same in the caller's frame, and lambda */
    float residual[BASIN_TENSORS * KEPT];
    union {
        float4 found[BASIN_TENSORS * (BASIN_FOUND + 1)]; /* refined: direction and value; odd rows, as above */
        float4 stage[THREADS / 32][96];
    };
    union {
        unsigned word[basin_tuning<ORDER>::LISTED][THREADS];
        unsigned short remaining_list[BASIN_PAIRS]; /* tensor x starts + start */
    };
    union {
        unsigned short candidate[BASIN_PAIRS / 2]; /* tensor and point */
        unsigned char limit_of[BASIN_PAIRS];       /* which maximum, or BASIN_NONE */
    };
    float form[scan_grid<ORDER>::TERMS *
               basin_layout<ORDER>::PITCH]; /* scaled, times multiplicity: a column per tensor */
    union {
        float row[BASIN_TENSORS * basin_layout<ORDER>::ROW]; /* scaled tensors, for the polynomials */
        float2 carried[BASIN_CARRIED];                       /* where the first that are listed are, after two steps */
    };
    float2 last[BASIN_LAST]; /* of the last: where they are, their steps, which they are */
    unsigned short last_steps[BASIN_LAST], last_rest[BASIN_LAST];
    float factor[BASIN_TENSORS], limit2[BASIN_TENSORS];
    unsigned short maximum[BASIN_TENSORS * KEPT]; /* all there are */
    unsigned found_count[BASIN_TENSORS];
    unsigned char state[BASIN_TENSORS], number[BASIN_TENSORS];
    unsigned candidates, maxima, remaining, lasts, taken[2],
        slow; /* slow: bits of the tensors that leave starts over */
    float coordinate[scan_grid<ORDER>::RING], distance[HOT_BASIN_DISTANCES];
    float2 projected[1]; /* (u, v) of the starts: as many as there are */
};

/* What the starts that are left over need of their tensor, in the GPU's memory. */
template <int ORDER> struct basin_record {
    enum { KEPT = basin_tuning<ORDER>::KEPT };
    float4 coefficient[gnomonic<ORDER>::PADDED / 4], cone[KEPT], limit[KEPT];
    float residual[KEPT], factor, limit2;
};

} // namespace

#endif
