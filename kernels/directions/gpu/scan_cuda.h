/* The scan of a form's three faces on the GPU: a template per order, after step.h of the same order and type.
 *
 *   #define SCAN_COLUMNS   lists of candidates side by side in shared memory, one per thread
 *   #define PITCH          distance of a form's coefficients in shared memory: odd, a column per tensor
 *   #define LISTED         how many candidates a list holds; of what does not fit, the highest are taken
 *   ROWS_AT_ONCE           a constant: how many rows the scan's loop unrolls */

#define SIDE HOT_JOIN(HOT_SIDE_, HOT_ORDER)
#define RING (SIDE + 2)
#define TERMS ((HOT_ORDER + 1) * (HOT_ORDER + 2) / 2)
#define POINT_BITS 511u /* 3 * RING * RING <= 512 */

typedef struct HOT_STEP(table) {
    float coordinate[RING];
    float weight[RING][RING / 2]; /* q^(-m/2), the same for +u and -u */
} HOT_STEP(table);

template <int FACE>
__device__ __forceinline__ void HOT_STEP(chart)(const float *form, float *c)
{
#pragma unroll
    for (int i = 0; i <= HOT_ORDER; i++) {
#pragma unroll
        for (int j = 0; j <= HOT_ORDER - i; j++) {
            const int from = FACE == 0   ? HOT_FACE_0(HOT_ORDER, i, j)
                             : FACE == 1 ? HOT_FACE_1(HOT_ORDER, i, j)
                                         : HOT_FACE_2(HOT_ORDER, i, j);
            c[HOT_AT(HOT_ORDER, i, j)] = form[from * PITCH];
        }
    }
}

__device__ __forceinline__ void HOT_STEP(chart_of)(const float *form, int face, float *c)
{
    if (face == 0)
        HOT_STEP(chart)<0>(form, c);
    else if (face == 1)
        HOT_STEP(chart)<1>(form, c);
    else
        HOT_STEP(chart)<2>(form, c);
}

/* One row of the grid: F at its RING points. */
__device__ __forceinline__ void HOT_STEP(grid_row)(const HOT_STEP(table) &table, const float *c, int row, float *x)
{
    float r[HOT_ORDER + 1];
    HOT_STEP(row)(c, table.coordinate[row], r);
#pragma unroll
    for (int column = 0; column < RING / 2; column++) {
        const float u = table.coordinate[RING - 1 - column], w = table.weight[row][column];
        float plus, minus;
        HOT_STEP(pair)(r, u, u * u, &plus, &minus);
        x[RING - 1 - column] = plus * w;
        x[column] = minus * w;
    }
}

/* Whether the form's relief on the grid is enough. Only nearly isotropic tensors come here. */
__device__ __noinline__ bool HOT_STEP(has_relief)(const HOT_STEP(table) &table, const float *form, float relief)
{
    float high = -1e30f, low = 1e30f;
#pragma unroll 1
    for (int face = 0; face < 3; face++) {
        float c[TERMS];
        HOT_STEP(chart_of)(form, face, c);
#pragma unroll 1
        for (int row = 0; row < RING; row++) {
            float x[RING];
            HOT_STEP(grid_row)(table, c, row, x);
#pragma unroll
            for (int column = 0; column < RING; column++) {
                high = fmaxf(high, x[column]);
                low = fminf(low, x[column]);
            }
        }
    }
    return high - low >= relief * fabsf(high);
}

/* Lists the points of one row whose bit is set: values x with the point in their low bits, one below the other from
 * `to` (a shared address) on. By predicate and not by branch: in a warp hardly any point is nobody's candidate. */
__device__ __forceinline__ void HOT_STEP(list_row)(unsigned bits, const float *x, unsigned point, unsigned &to)
{
#pragma unroll
    for (int k = 0; k < SIDE; k++) {
        const unsigned word = (__float_as_uint(x[k + 1]) & ~POINT_BITS) | (point + (unsigned)k);
        asm volatile("{\n\t.reg .pred p;\n\t.reg .u32 t;\n\t"
                     "and.b32 t, %1, %2;\n\tsetp.ne.u32 p, t, 0;\n\t"
                     "@p st.shared.u32 [%0], %3;\n\t@p add.u32 %0, %0, %4;\n\t}"
                     : "+r"(to)
                     : "r"(bits), "r"(1u << k), "r"(word), "n"(4 * SCAN_COLUMNS)
                     : "memory");
    }
}

/* Makes room in a list that the next row could overfill: without its lowest. Hardly ever needed. */
__device__ __noinline__ unsigned HOT_STEP(shorten)(unsigned *word, unsigned count)
{
    while (count > LISTED - SIDE / 2) {
        unsigned least = 0;
        for (unsigned i = 1; i < count; i++)
            if (word[i * SCAN_COLUMNS] < word[least * SCAN_COLUMNS])
                least = i;
        word[least * SCAN_COLUMNS] = word[--count * SCAN_COLUMNS];
    }
    return count;
}

/* Lists the candidates in rows first ... last of one face: the test of grid.h at every point, and of two side by side
 * mostly the higher. Comparisons become bits of a row at once. The list begins at `start` and goes on at `to` (shared
 * addresses); returns where it ends. */
__device__ __forceinline__ unsigned HOT_STEP(scan_face)(const HOT_STEP(table) &table, const float *form, int face,
                                                        int first, int last, unsigned *list, unsigned start,
                                                        unsigned to)
{
    float c[TERMS];
    HOT_STEP(chart_of)(form, face, c);
    float above[RING], here[RING], below[RING];
    HOT_STEP(grid_row)(table, c, first - 1, above);
    HOT_STEP(grid_row)(table, c, first, here);
    /* of the row above: candidates; sure ones (grid.h); those whose right neighbour, whose lower neighbour is higher;
     * and where a candidate further up is higher */
    unsigned peaks = 0, sure = 0, right = 0, down = 0, over = 0;
#pragma unroll ROWS_AT_ONCE
    for (int row = first; row <= last + 1; row++) {
        unsigned new_peaks = 0, new_sure = 0, new_right = 0, new_down = 0;
        if (row <= last) {
            HOT_STEP(grid_row)(table, c, row + 1, below);
#pragma unroll
            for (int k = 0; k < SIDE; k++) {
                /* differences over 2 spacings, second ones times 4 */
                const float x = here[k + 1], eight = -8.0f * x;
                const float gx = here[k + 2] - here[k], gy = below[k + 1] - above[k + 1];
                const float xx = fmaf(4.0f, here[k + 2] + here[k], eight);
                const float yy = fmaf(4.0f, below[k + 1] + above[k + 1], eight);
                const float xy = (below[k + 2] - below[k]) - (above[k + 2] - above[k]);
                const float limit = fmaf(xx, yy, -(xy * xy)) * (HOT_GRID_REACH / 2);
                const float sx = fmaf(xy, gy, -(yy * gx)), sy = fmaf(xy, gx, -(xx * gy));
                const float far = fmaxf(fabsf(sx), fabsf(sy));
                const bool good = (xx < 0) & (x > HOT_DIRECTIONS_ZERO) & (limit >= far);
                new_peaks |= good ? 1u << k : 0u;
                new_sure |= limit * (HOT_GRID_SURE / HOT_GRID_REACH) >= far ? 1u << k : 0u;
                new_down |= below[k + 1] > x ? 1u << k : 0u;
                if (k + 1 < SIDE)
                    new_right |= here[k + 2] > x ? 1u << k : 0u;
            }
        }
        /* the row above is complete now */
        const unsigned lost = (((peaks >> 1) & right) | ((peaks & ~right) << 1) | (new_peaks & down) | over) & ~sure;
        HOT_STEP(list_row)(peaks & ~lost, above, (unsigned)((face * RING + row - 1) * RING + 1), to);
        over = peaks & ~down;
        peaks = new_peaks;
        sure = new_sure;
        right = new_right;
        down = new_down;
#pragma unroll
        for (int k = 0; k < RING; k++) {
            above[k] = here[k];
            here[k] = below[k];
        }
        if (to > start + (LISTED - SIDE / 2) * SCAN_COLUMNS * 4) /* a row lists SIDE / 2 at most, none side by side */
            to = start + HOT_STEP(shorten)(list, (to - start) / (SCAN_COLUMNS * 4)) * (SCAN_COLUMNS * 4);
    }
    return to;
}

static void HOT_STEP(table_make)(HOT_STEP(table) *table)
{
    for (int i = 0; i < RING; i++)
        table->coordinate[i] = (float)hot_grid_coordinate(SIDE, i);
    for (int i = 0; i < RING; i++)
        for (int j = 0; j < RING / 2; j++) {
            const double u = table->coordinate[i], v = table->coordinate[j], p = 1 / (1 + u * u + v * v);
            double power = p;
            for (int k = 2; k < HOT_ORDER; k += 2)
                power *= p;
            table->weight[i][j] = (float)power;
        }
}
