/* The scan of a form's three faces for candidates of maxima on the GPU (the grid and the test of a candidate: grid.h;
 * the polynomials: step.h). One form per thread, or some rows of one of its faces; forms are in shared memory, a column
 * per tensor.
 *
 * Functions are templates of a LAYOUT of shared memory:
 *
 *   ORDER     of the form
 *   PITCH     distance of a form's coefficients: odd, so that neighbouring terms are in different banks
 *   COLUMNS   number of lists of candidates, one per thread
 *   LISTED    capacity of a list of candidates
 *   ZERO      values of the scaled form up to here are rounding */
#pragma once

#include "directions/grid.h"
#include "step.cuh"

/* The sizes of an order. */
template <int ORDER> struct scan_grid {
    static constexpr int SIDE = ORDER == 4 ? HOT_SIDE_4 : ORDER == 6 ? HOT_SIDE_6 : HOT_SIDE_8;
    static constexpr int RING = SIDE + 2;
    static constexpr int TERMS = (ORDER + 1) * (ORDER + 2) / 2; /* coefficients of a face */
};

/* The low bits of a listed value hold its point, (face * RING + row) * RING + column: 3 * RING * RING <= 512. */
#define SCAN_POINT_BITS 511u

template <int ORDER> struct scan_table {
    float coordinate[scan_grid<ORDER>::RING];
    float weight[scan_grid<ORDER>::RING][scan_grid<ORDER>::RING / 2]; /* q^(-m/2), the same for +u and -u */
};

/* Calls take(s, k, multiplicity) for every class x^(m-s) y^(s-k) z^k of the packed tensor. */
template <int ORDER, typename TAKE> static __device__ __forceinline__ void scan_each_class(TAKE take)
{
#pragma unroll
    for (int s = 0; s <= ORDER; s++) {
        float outer = 1, inner = 1; /* C(m, s) and C(s, k) */
#pragma unroll
        for (int i = 0; i < s; i++)
            outer = outer * (float)(ORDER - i) / (float)(i + 1);
#pragma unroll
        for (int k = 0; k <= s; k++) {
            take(s, k, outer * inner);
            inner = inner * (float)(s - k) / (float)(k + 1);
        }
    }
}

/* The coefficients of one face from the form. */
template <class LAYOUT, int FACE>
static __device__ __forceinline__ void scan_face_coefficients(const float *form, float *c)
{
#pragma unroll
    for (int i = 0; i <= LAYOUT::ORDER; i++) {
#pragma unroll
        for (int j = 0; j <= LAYOUT::ORDER - i; j++) {
            c[HOT_AT(LAYOUT::ORDER, i, j)] = form[HOT_FACE(FACE, LAYOUT::ORDER, i, j) * LAYOUT::PITCH];
        }
    }
}

/* The same with the face known at run time. */
template <class LAYOUT> static __device__ __forceinline__ void scan_coefficients(const float *form, int face, float *c)
{
    if (face == 0)
        scan_face_coefficients<LAYOUT, 0>(form, c);
    else if (face == 1)
        scan_face_coefficients<LAYOUT, 1>(form, c);
    else
        scan_face_coefficients<LAYOUT, 2>(form, c);
}

/* One row of the grid: F at its RING points. */
template <int ORDER>
static __device__ __forceinline__ void scan_row(const scan_table<ORDER> &table, const float *c, int row, float *x)
{
    using grid = scan_grid<ORDER>;
    float r[ORDER + 1];
    directions_form<ORDER>::row(c, table.coordinate[row], r);
#pragma unroll
    for (int column = 0; column < grid::RING / 2; column++) {
        const float u = table.coordinate[grid::RING - 1 - column], w = table.weight[row][column];
        float plus, minus;
        directions_form<ORDER>::pair(r, u, u * u, &plus, &minus);
        x[grid::RING - 1 - column] = plus * w;
        x[column] = minus * w;
    }
}

/* Whether the form's relative range on the grid is large enough. Only nearly isotropic tensors come here. */
template <class LAYOUT>
static __device__ __noinline__ bool scan_has_relief(const scan_table<LAYOUT::ORDER> &table, const float *form,
                                                    float relief)
{
    using grid = scan_grid<LAYOUT::ORDER>;
    float high = -1e30f, low = 1e30f;
#pragma unroll 1
    for (int face = 0; face < 3; face++) {
        float c[grid::TERMS];
        scan_coefficients<LAYOUT>(form, face, c);
#pragma unroll 1
        for (int row = 0; row < grid::RING; row++) {
            float x[grid::RING];
            scan_row<LAYOUT::ORDER>(table, c, row, x);
#pragma unroll
            for (int column = 0; column < grid::RING; column++) {
                high = fmaxf(high, x[column]);
                low = fminf(low, x[column]);
            }
        }
    }
    return high - low >= relief * fabsf(high);
}

/* Lists the points of one row whose bit is set: values x with the point in their low bits, one below the other from
 * `to` (a shared address) on. By predicate and not by branch: in a warp hardly any point is nobody's candidate. */
template <class LAYOUT>
static __device__ __forceinline__ void scan_list_row(unsigned bits, const float *x, unsigned point, unsigned &to)
{
#pragma unroll
    for (int k = 0; k < scan_grid<LAYOUT::ORDER>::SIDE; k++) {
        const unsigned word = (__float_as_uint(x[k + 1]) & ~SCAN_POINT_BITS) | (point + (unsigned)k);
        asm volatile("{\n\t.reg .pred p;\n\t.reg .u32 t;\n\t"
                     "and.b32 t, %1, %2;\n\tsetp.ne.u32 p, t, 0;\n\t"
                     "@p st.shared.u32 [%0], %3;\n\t@p add.u32 %0, %0, %4;\n\t}"
                     : "+r"(to)
                     : "r"(bits), "r"(1u << k), "r"(word), "n"(4 * LAYOUT::COLUMNS)
                     : "memory");
    }
}

/* The direction of a listed point. */
template <class LAYOUT>
static __device__ __forceinline__ void scan_direction(const float *coordinate, unsigned word, float d[3])
{
    using grid = scan_grid<LAYOUT::ORDER>;
    const int point = (int)(word & SCAN_POINT_BITS), face = point / (grid::RING * grid::RING);
    const float u = coordinate[point % grid::RING], v = coordinate[point / grid::RING % grid::RING];
    const float w = rsqrtf(fmaf(u, u, fmaf(v, v, 1.0f))), p = u * w, q = v * w;
    d[0] = face == 0 ? w : face == 1 ? q : p;
    d[1] = face == 0 ? p : face == 1 ? w : q;
    d[2] = face == 0 ? q : face == 1 ? p : w;
}

/* Shortens a list of candidates to `most`: of the two that are nearest to each other, and so most likely climb to one
 * maximum, the lower is dropped. (Dropping the lowest of all, 1 of 32,400 noisy tensors lost a maximum that stands
 * out, as its higher ones were listed up to four times.) Hardly ever needed. */
template <class LAYOUT>
static __device__ __noinline__ unsigned scan_shorten(const float *coordinate, unsigned *word, unsigned count,
                                                     unsigned most)
{
    while (count > most) {
        float nearest = -1;
        unsigned drop = 0;
        for (unsigned i = 1; i < count; i++) {
            float a[3], b[3];
            scan_direction<LAYOUT>(coordinate, word[i * LAYOUT::COLUMNS], a);
            for (unsigned j = 0; j < i; j++) {
                scan_direction<LAYOUT>(coordinate, word[j * LAYOUT::COLUMNS], b);
                const float cosine = fabsf(fmaf(a[0], b[0], fmaf(a[1], b[1], a[2] * b[2])));
                if (cosine > nearest) {
                    nearest = cosine;
                    drop = word[i * LAYOUT::COLUMNS] < word[j * LAYOUT::COLUMNS] ? i : j;
                }
            }
        }
        word[drop * LAYOUT::COLUMNS] = word[--count * LAYOUT::COLUMNS];
    }
    return count;
}

/* Lists the candidates in rows first ... last of one face: the test of grid.h at every point, and of two neighbours
 * mostly the higher. Comparisons become bits of a whole row. The list begins at `start` and continues at `to` (shared
 * addresses); returns its end. */
template <class LAYOUT>
static __device__ __forceinline__ unsigned scan_face(const scan_table<LAYOUT::ORDER> &table, const float *form,
                                                     int face, int first, int last, unsigned *list, unsigned start,
                                                     unsigned to)
{
    using grid = scan_grid<LAYOUT::ORDER>;
    float c[grid::TERMS];
    scan_coefficients<LAYOUT>(form, face, c);
    float above[grid::RING], here[grid::RING], below[grid::RING];
    scan_row<LAYOUT::ORDER>(table, c, first - 1, above);
    scan_row<LAYOUT::ORDER>(table, c, first, here);
    /* of the row above: candidates; sure ones (grid.h); those whose right neighbour, whose lower neighbour is higher;
     * and where a candidate further up is higher */
    unsigned peaks = 0, sure = 0, right = 0, down = 0, over = 0;
    /* Unrolling the rows saves moves, and costs more in fetching instructions (measured: 10 to 20 %). */
#pragma unroll 1
    for (int row = first; row <= last + 1; row++) {
        unsigned new_peaks = 0, new_sure = 0, new_right = 0, new_down = 0;
        if (row <= last) {
            scan_row<LAYOUT::ORDER>(table, c, row + 1, below);
#pragma unroll
            for (int k = 0; k < grid::SIDE; k++) {
                /* differences over 2 spacings, second ones times 4 */
                const float x = here[k + 1], eight = -8.0f * x;
                const float gx = here[k + 2] - here[k], gy = below[k + 1] - above[k + 1];
                const float xx = fmaf(4.0f, here[k + 2] + here[k], eight);
                const float yy = fmaf(4.0f, below[k + 1] + above[k + 1], eight);
                const float xy = (below[k + 2] - below[k]) - (above[k + 2] - above[k]);
                const float limit = fmaf(xx, yy, -(xy * xy)) * (HOT_GRID_REACH / 2);
                const float sx = fmaf(xy, gy, -(yy * gx)), sy = fmaf(xy, gx, -(xx * gy));
                const float far = fmaxf(fabsf(sx), fabsf(sy));
                const bool good = (xx < 0) & (x > LAYOUT::ZERO) & (limit >= far);
                new_peaks |= good ? 1u << k : 0u;
                new_sure |= limit * (HOT_GRID_SURE / HOT_GRID_REACH) >= far ? 1u << k : 0u;
                new_down |= below[k + 1] > x ? 1u << k : 0u;
                if (k + 1 < grid::SIDE)
                    new_right |= here[k + 2] > x ? 1u << k : 0u;
            }
        }
        /* the row above is complete now */
        const unsigned lost = (((peaks >> 1) & right) | ((peaks & ~right) << 1) | (new_peaks & down) | over) & ~sure;
        scan_list_row<LAYOUT>(peaks & ~lost, above, (unsigned)((face * grid::RING + row - 1) * grid::RING + 1), to);
        over = peaks & ~down;
        peaks = new_peaks;
        sure = new_sure;
        right = new_right;
        down = new_down;
#pragma unroll
        for (int k = 0; k < grid::RING; k++) {
            above[k] = here[k];
            here[k] = below[k];
        }
        /* a row lists SIDE / 2 at most, none side by side */
        if (to > start + (LAYOUT::LISTED - grid::SIDE / 2) * LAYOUT::COLUMNS * 4)
            to = start + scan_shorten<LAYOUT>(table.coordinate, list, (to - start) / (LAYOUT::COLUMNS * 4),
                                              LAYOUT::LISTED - grid::SIDE / 2) * (LAYOUT::COLUMNS * 4);
    }
    return to;
}

template <int ORDER> static void scan_table_make(scan_table<ORDER> *table)
{
    using grid = scan_grid<ORDER>;
    for (int i = 0; i < grid::RING; i++)
        table->coordinate[i] = (float)hot_grid_coordinate(grid::SIDE, i);
    for (int i = 0; i < grid::RING; i++)
        for (int j = 0; j < grid::RING / 2; j++) {
            const double u = table->coordinate[i], v = table->coordinate[j], p = 1 / (1 + u * u + v * v);
            double power = p;
            for (int k = 2; k < ORDER; k += 2)
                power *= p;
            table->weight[i][j] = (float)power;
        }
}
