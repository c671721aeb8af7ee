/* SS-HOPM by capture on the GPU: the kernels of every order, and their launch. */
#include <cuda_runtime.h>
#include <math.h>
#include <string.h>

#include "common/portable.h"
#include "directions/grid.h"
#include "basin.h" /* before the next: on the host too */
#include "directions/gpu/step_cuda.h"
#include "basin_launch.h"
#include "gnomonic_device.cuh"
#include "gnomonic_table.h"

#define HOT_CHART_RECIPROCAL(a) chart_reciprocal(a)
#define HOT_CHART_SQRT(a) approximate_root(a)
#define HOT_CHART_RSQRT(a) chart_rsqrt(a)

namespace {

enum {
    CAPTURE_TENSORS = 32, /* of a block, at most */
    CAPTURE_PAIRS = 4096, /* tensors x starts of a block, at most */
    CAPTURE_CHOOSERS = 4, /* threads that choose a tensor's maxima */
    CAPTURE_FOUND = 24,   /* refined candidates of a tensor, when there are as many tensors as can be */
    CAPTURE_STEPS = 8,    /* of refinement: what takes longer is not listed */
    CAPTURE_CARRIED = 640,
    /* Starts of a warp that it gives away when there are no others left: in small batches to a pool of the block, in
     * large ones to the second kernel. Which are given away depends on what other tensors leave over: wherever a start
     * is, it makes two steps between two looks, so that its end does not depend on its neighbours. */
    CAPTURE_FEW = 16,
    CAPTURE_LAST = CAPTURE_FEW * 256 / 32, /* of a block, at most */
    CAPTURE_LEFT_THREADS = 128,            /* of a block of the second kernel */
    CAPTURE_OWN = 255     /* no maximum; of a tensor: none is looked for */
};
enum { CAPTURE_LISTED_4 = 8, CAPTURE_LISTED_6 = 9, CAPTURE_LISTED_8 = 10 }; /* candidates of a band of rows */
enum { CAPTURE_KEPT_4 = 4, CAPTURE_KEPT_6 = 4, CAPTURE_KEPT_8 = 6 };
/* Threads of a block, and blocks per multiprocessor that registers must allow. */
enum { CAPTURE_THREADS_4 = 256, CAPTURE_THREADS_6 = 192, CAPTURE_THREADS_8 = 192 };
enum { CAPTURE_RESIDENT_4 = 4, CAPTURE_RESIDENT_6 = 3, CAPTURE_RESIDENT_8 = 2 };
enum { CAPTURE_LEFT_RESIDENT_4 = 5, CAPTURE_LEFT_RESIDENT_6 = 3, CAPTURE_LEFT_RESIDENT_8 = 2 };
enum { CAPTURE_LIVE, CAPTURE_ZERO, CAPTURE_INVALID, CAPTURE_EXTREME };
constexpr int ROWS_AT_ONCE = 1;
constexpr float CAPTURE_NOTHING = 1e-6f; /* of the largest value: below it is rounding */
constexpr float CAPTURE_SAME = 0.9997f;  /* squared cosine of one degree: two maxima so close are one */
#define HOT_DIRECTIONS_ZERO CAPTURE_NOTHING

/* A start that is left over, and all of them, in the GPU's memory. */
struct capture_start {
    float u, v;
    unsigned tensor, start; /* start: its number times 256, and the steps made */
};
struct capture_lefts {
    unsigned count, taken, done, unused; /* done: warps of the second kernel */
    capture_start start[1]; /* as many as there can be */
};

struct capture_constants {
    chart_constants chart;
    unsigned shift;       /* a block takes 2^shift tensors */
    unsigned pitch;       /* starts of a tensor, rounded up to fours */
    unsigned parts;       /* of 64 starts each */
    unsigned processors;
    capture_lefts *left;  /* NULL: starts are not left over */
    void *records;        /* count of the order's record */
    unsigned rows, bands; /* of the scan: rows of a face that a thread takes, and how many such bands a face has */
    int quads;            /* whether rows of results begin at multiples of 16 bytes */
    float distance[HOT_CAPTURE_DISTANCES];
};

size_t capture_blocks(size_t count, unsigned shift) { return (count + ((size_t)1 << shift) - 1) >> shift; }

#define HOT_STEP(name) HOT_JOIN(HOT_JOIN(capture, HOT_ORDER), _##name)
#define HOT_CHART(name) HOT_STEP(name)
#define HOT_ORDER_TEMPLATE "sshopm/gpu/basin.cuh"
#include "common/orders.h"

/* How many tensors a block takes, as a power of two: of few tensors fewer, so that every multiprocessor has some. */
unsigned capture_shift(const hot_sshopm_args &args, unsigned processors)
{
    unsigned shift = args.count >= 128 * (size_t)processors ? 5 : args.count >= 32 * (size_t)processors ? 4 : 3;
    while (((args.starts + 3) / 4 * 4) << shift > CAPTURE_PAIRS)
        shift--;
    return shift;
}

size_t record_bytes(int order)
{
    return order == 4 ? sizeof(capture4_record) : order == 6 ? sizeof(capture6_record) : sizeof(capture8_record);
}

size_t left_bytes(const hot_sshopm_args &args, unsigned shift)
{
    const size_t starts = capture_blocks(args.count, shift) * CAPTURE_LAST;
    return (sizeof(capture_lefts) + starts * sizeof(capture_start) + 255) / 256 * 256;
}

} // namespace

size_t hot_sshopm_capture_room(const hot_sshopm_args *args, int processors)
{
    const unsigned shift = capture_shift(*args, (unsigned)processors);
    if (shift < 5 || args->count >= (size_t)1 << 32) /* small ones are done sooner without */
        return 0;
    return left_bytes(*args, shift) + args->count * record_bytes(args->order);
}

hot_status hot_sshopm_capture_launch(hot_context *context, const hot_sshopm_args *args, const hot_sshopm_tables *tables,
                                     void *stream)
{
    capture_constants constants;
    memset(&constants, 0, sizeof constants);
    constants.chart.matrix = tables->chart;
    constants.chart.multiplicity = tables->multiplicity;
    constants.chart.tolerance = (float)args->tolerance;
    constants.chart.refill = 8;
    for (int k = 0; k < 3; k++)
        for (int d = 0; d < 3; d++)
            constants.chart.frame[k][d] = (float)hot_chart_frame[k][d];
    for (int k = 0; k < HOT_CAPTURE_DISTANCES; k++)
        constants.distance[k] = hot_capture_distance(k);
    constants.processors = (unsigned)tables->processors;
    constants.shift = capture_shift(*args, constants.processors);
    constants.pitch = ((unsigned)args->starts + 3) / 4 * 4;
    constants.parts = ((unsigned)args->starts + 63) / 64;
    constants.quads = args->starts % 4 == 0 && ((size_t)args->lambda | (size_t)args->x) % 16 == 0;
    const size_t room = hot_sshopm_capture_room(args, tables->processors);
    if (room > 0 && room <= tables->room_bytes) {
        constants.left = (capture_lefts *)tables->room;
        constants.records = (char *)tables->room + left_bytes(*args, constants.shift);
    }
    const cudaError_t error = args->order == 4   ? capture4_capture_launch(*args, constants, (cudaStream_t)stream)
                              : args->order == 6 ? capture6_capture_launch(*args, constants, (cudaStream_t)stream)
                                                 : capture8_capture_launch(*args, constants, (cudaStream_t)stream);
    return hot_cuda_status(context, error, "starting SS-HOPM by capture");
}
