/* The action as in fem_planes.cuh for a basis that is symmetric about the middle of the element, b[i][k] =
 * b[N - 1 - i][N - 1 - k]: sums of opposite values go to sums and differences to differences, which is two thirds of
 * the multiplications, and these are what large elements wait for. Included by fem_cuda.cuh. */

enum { FOLDED_FIRST = 7, FOLDED_LAST = 9 }; /* what it is faster for */

template <int N> struct folded_shape {
    static constexpr int SLOTS = 2, TEAMS = 4, THREADS = 32 * TEAMS; /* see plane_shape */
    static constexpr size_t BYTES = sizeof(FEM_T) * TEAMS * SLOTS * plane_shape<N>::SLOT;
};

/* The basis on sums (even, with the middle) and on differences (odd), halved. */
template <int N> struct folded_values { FEM_T even[(N + 1) / 2][(N + 1) / 2], odd[N / 2][N / 2]; };

template <int N, bool THERE>
__device__ __forceinline__ void fold_line(const folded_values<N> &basis, const FEM_T (&in)[N], FEM_T (&out)[N])
{
    constexpr int H = N / 2, M = (N + 1) / 2;
    FEM_T sum[M], difference[H];
#pragma unroll
    for (int i = 0; i < H; i++)
        sum[i] = in[i] + in[N - 1 - i], difference[i] = in[i] - in[N - 1 - i];
    if (N % 2)
        sum[M - 1] = in[M - 1];
#pragma unroll
    for (int k = 0; k < M; k++) {
        FEM_T even = (THERE ? basis.even[0][k] : basis.even[k][0]) * sum[0];
#pragma unroll
        for (int i = 1; i < M; i++)
            even += (THERE ? basis.even[i][k] : basis.even[k][i]) * sum[i];
        if (k < H) {
            FEM_T odd = (THERE ? basis.odd[0][k < H ? k : 0] : basis.odd[k < H ? k : 0][0]) * difference[0];
#pragma unroll
            for (int i = 1; i < H; i++)
                odd += (THERE ? basis.odd[i][k < H ? k : 0] : basis.odd[k < H ? k : 0][i]) * difference[i];
            out[k] = even + odd, out[N - 1 - k] = even - odd;
        } else {
            out[k] = even;
        }
    }
}

/* A plane along its axes 1 and 2. factors: of axis 2, per pair of rows those of M sums and H differences, then the
 * middle's. */
template <int N, bool THERE>
__device__ __forceinline__ void fold_plane(const folded_values<N> &basis, const FEM_T *factors, FEM_T *plane)
{
    constexpr int H = N / 2, M = (N + 1) / 2;
    FEM_T even[M][N], odd[H][N], one[N], two[N], out[N];
#pragma unroll
    for (int x = 0; x < M * N; x++)
        even[x / N][x % N] = 0;
#pragma unroll
    for (int x = 0; x < H * N; x++)
        odd[x / N][x % N] = 0;
#pragma unroll 1
    for (int row = 0; row < H; row++) {
        read_row<N>(plane, row, one);
        read_row<N>(plane, N - 1 - row, two);
#pragma unroll
        for (int i = 0; i < N; i++) {
            const FEM_T sum = one[i] + two[i];
            two[i] = one[i] - two[i], one[i] = sum;
        }
        fold_line<N, THERE>(basis, one, out);
#pragma unroll
        for (int r = 0; r < M; r++) {
            const FEM_T factor = factors[row * N + r];
#pragma unroll
            for (int i = 0; i < N; i++)
                even[r][i] += factor * out[i];
        }
        fold_line<N, THERE>(basis, two, out);
#pragma unroll
        for (int r = 0; r < H; r++) {
            const FEM_T factor = factors[row * N + M + r];
#pragma unroll
            for (int i = 0; i < N; i++)
                odd[r][i] += factor * out[i];
        }
    }
    if (N % 2) {
        read_row<N>(plane, H, one);
        fold_line<N, THERE>(basis, one, out);
#pragma unroll
        for (int r = 0; r < M; r++) {
            const FEM_T factor = factors[H * N + r];
#pragma unroll
            for (int i = 0; i < N; i++)
                even[r][i] += factor * out[i];
        }
    }
#pragma unroll
    for (int r = 0; r < H; r++) {
#pragma unroll
        for (int i = 0; i < N; i++)
            one[i] = even[r][i] + odd[r][i], two[i] = even[r][i] - odd[r][i];
        write_part<N, 0, N>(plane, r, one);
        write_part<N, 0, N>(plane, N - 1 - r, two);
    }
    if (N % 2)
        write_part<N, 0, N>(plane, H, even[M - 1]);
}

template <int N>
__global__ void __launch_bounds__(folded_shape<N>::THREADS)
folded_kernel(const folded_values<N> basis, size_t elements, const FEM_T *__restrict__ d, const FEM_T *__restrict__ v,
              FEM_T *__restrict__ u)
{
    using shape = plane_shape<N>;
    constexpr int E = shape::E, W = shape::WIDE, CUBE = N * N * N, H = N / 2, M = (N + 1) / 2;
    constexpr int SLOTS = folded_shape<N>::SLOTS, TEAMS = folded_shape<N>::TEAMS;
    extern __shared__ __align__(128) unsigned char bytes[];
    __shared__ __align__(16) FEM_T values[2][N * M];
    const int lane = threadIdx.x % 32, team = threadIdx.x / 32;
    const int element = shape::ACROSS ? lane % E : lane / N, line = shape::ACROSS ? lane / E : lane % N;
    const size_t chunks = (elements + E - 1) / E, step = (size_t)gridDim.x * TEAMS;
    FEM_T *const slots = (FEM_T *)bytes + team * SLOTS * shape::SLOT, *const weight = slots + shape::SLOT;
#pragma unroll
    for (int x = 0; x < M * M; x++)
        if (threadIdx.x == x % 32) {
            values[0][x / M * N + x % M] = basis.even[x / M][x % M];
            values[1][x / M * N + x % M] = basis.even[x % M][x / M];
        }
#pragma unroll
    for (int x = 0; x < H * H; x++)
        if (threadIdx.x == x % 32) {
            values[0][x / H * N + M + x % H] = basis.odd[x / H][x % H];
            values[1][x / H * N + M + x % H] = basis.odd[x % H][x / H];
        }
    __syncthreads();
    const auto count_of = [&](size_t chunk) { return chunk < chunks ? (int)min((size_t)E, elements - chunk * E) : 0; };
    const auto load = [&](const FEM_T *from, size_t chunk, FEM_T *to) {
        const FEM_T *const begin = from + chunk * E * CUBE + lane * W;
        const unsigned there = (unsigned)__cvta_generic_to_shared(to);
        each_access<N, 32>(lane, count_of(chunk),
                           [&](int x, int y) { fetch_wide<W>(there + y * (int)sizeof(FEM_T), begin + x); });
        __pipeline_commit();
    };
    int turn = 0;
    size_t chunk = (size_t)blockIdx.x * TEAMS + team;
    if (SLOTS == 3 && chunk < chunks) {
        load(v, chunk, slots);
        load(d, chunk, weight);
    }
    for (; chunk < chunks; chunk += step) {
        const int count = count_of(chunk);
        const bool here = element < count && line < N;
        FEM_T *const now = slots + turn * 2 * shape::SLOT;
        if (SLOTS == 3) {
            turn ^= 1;
            load(v, chunk + step, slots + turn * 2 * shape::SLOT);
            __pipeline_wait_prior(2);
        } else {
            load(v, chunk, now);
            load(d, chunk, weight);
            __pipeline_wait_prior(1);
        }
        __syncwarp();
        FEM_T *const cube = now + element * shape::ELEMENT, *const plane = cube + line * shape::PLANE;
        if (here)
            fold_plane<N, true>(basis, values[0], plane);
        __pipeline_wait_prior(SLOTS == 3 ? 1 : 0);
        __syncwarp();
        if (here) {
            const FEM_T *const there = weight + element * shape::ELEMENT;
#pragma unroll 1
            for (int x = 0; x < N / W; x++) {
                const int at = line * N + W * pair_place<N>(line, x);
                wide_value<W> along[N], factor[N];
                FEM_T in[N], out[N];
#pragma unroll
                for (int i = 0; i < N; i++) {
                    along[i] = *(const wide_value<W> *)(cube + at + i * shape::PLANE);
                    factor[i] = *(const wide_value<W> *)(there + at + i * shape::PLANE);
                }
#pragma unroll
                for (int w = 0; w < W; w++) {
#pragma unroll
                    for (int i = 0; i < N; i++)
                        in[i] = along[i].v[w];
                    fold_line<N, true>(basis, in, out);
#pragma unroll
                    for (int k = 0; k < N; k++)
                        out[k] *= factor[k].v[w];
                    fold_line<N, false>(basis, out, in);
#pragma unroll
                    for (int i = 0; i < N; i++)
                        along[i].v[w] = in[i];
                }
#pragma unroll
                for (int i = 0; i < N; i++)
                    *(wide_value<W> *)(cube + at + i * shape::PLANE) = along[i];
            }
        }
        __syncwarp();
        if (SLOTS == 3)
            load(d, chunk + step, weight);
        if (here)
            fold_plane<N, false>(basis, values[1], plane);
        __syncwarp();
        FEM_T *const to = u + chunk * E * CUBE + lane * W;
        each_access<N, 32>(lane, count,
                           [&](int x, int y) { *(wide_value<W> *)(to + x) = *(const wide_value<W> *)(now + y); });
        __syncwarp();
    }
}
