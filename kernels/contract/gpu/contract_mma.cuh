/* The products of a chunk on the tensor cores for doubles: a warp per item, in tiles of 8 x 8. Included by
 * contract_bulk.cuh. */

/* sum += a b for 8 x 4 by 4 x 8 values. A lane's a is at (lane / 4, lane % 4), its b at (lane % 4, lane / 4), its two
 * sums at (lane / 4, 2 (lane % 4)) and the column after. */
__device__ __forceinline__ void multiply_tile(double (&sum)[2], double a, double b)
{
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(sum[0]), "+d"(sum[1]) : "d"(a), "d"(b));
#endif
}
/* Two of them, one below the other. */
__device__ __forceinline__ void multiply_two(double (&upper)[2], double (&lower)[2], double a, double below, double b)
{
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+d"(upper[0]), "+d"(upper[1]), "+d"(lower[0]), "+d"(lower[1]) : "d"(a), "d"(below), "d"(b));
#endif
}

/* Rows and columns behind the last repeat it and are not stored. Sums are taken in an order of s that suits the banks:
 * four that are 4 apart at a time, so that for odd N neighbouring rows and columns meet 16 banks; behind N there are
 * zeros. */
template <int N>
__device__ __forceinline__ void square_tiles(const bulk_arguments &p, const double *a, const double *b, double *c)
{
    constexpr int TILES = (N + 7) / 8;
    constexpr int APART = 4 * ((N + 3) / 16), STEPS = APART + (N > 4 * APART ? (N - 4 * APART + 3) / 4 : 0);
    const unsigned lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    for (unsigned item = threadIdx.x / 32; item < p.per_chunk; item += blockDim.x / 32) {
        const double *row[TILES], *column[TILES];
        double sum[TILES][TILES][2];
#pragma unroll
        for (int i = 0; i < TILES; i++) {
            row[i] = a + (item * N + (8 * i + g < N ? 8 * i + g : N - 1)) * N;
            column[i] = b + item * N * N + (8 * i + g < N ? 8 * i + g : N - 1);
#pragma unroll
            for (int j = 0; j < TILES; j++)
                sum[i][j][0] = sum[i][j][1] = 0;
        }
#pragma unroll
        for (int step = 0; step < STEPS; step++) {
            const unsigned s = step < APART ? step / 4 * 16 + step % 4 + 4 * t : 4 * step + t;
            const int last = step < APART ? step / 4 * 16 + step % 4 + 12 : 4 * step + 3;
            double left[TILES], right[TILES];
#pragma unroll
            for (int i = 0; i < TILES; i++) {
                left[i] = last < N || s < N ? row[i][s] : 0;
                right[i] = last < N || s < N ? column[i][s * N] : 0;
            }
#pragma unroll
            for (int j = 0; j < TILES; j++)
                if constexpr (TILES % 2 == 0) {
#pragma unroll
                    for (int i = 0; i < TILES; i += 2)
                        multiply_two(sum[i][j], sum[i + 1][j], left[i], left[i + 1], right[j]);
                } else {
#pragma unroll
                    for (int i = 0; i < TILES; i++)
                        multiply_tile(sum[i][j], left[i], right[j]);
                }
        }
#pragma unroll
        for (int i = 0; i < TILES; i++) {
            const unsigned r = 8 * i + g;
            if (r >= N)
                continue;
#pragma unroll
            for (int j = 0; j < TILES; j++)
#pragma unroll
                for (int v = 0; v < 2; v++)
                    if (8 * j + 2 * t + v < N) {
                        double *const to = c + (item * N + r) * N + 8 * j + 2 * t + v;
                        *to = p.beta == 0 ? p.alpha * sum[i][j][v] : p.alpha * sum[i][j][v] + p.beta * *to;
                    }
        }
    }
}
