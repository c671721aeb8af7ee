/* The action in 3-D with as many points as functions for a basis that is symmetric about the middle of the element,
 * b[i][k] = b[N - 1 - i][N - 1 - k]: sums of opposite values go to sums and differences to differences, which is two
 * thirds of the multiplications. As in fem_planes.cuh a thread takes planes of an element, here with a partner in
 * another warp: both read all of the plane, and each has some columns of the result, or it would be too many registers
 * for more than a warp on each quarter of a multiprocessor. Each team of two warps works on whole elements, which the
 * bulk copy engine loads and stores. Included by fem_cuda.cuh. */

enum { FOLDED_FIRST = 7, FOLDED_LAST = 9 }; /* what it is faster for */

template <int N> struct folded_shape {
    static constexpr int E = 32 / N, UNIT = 16 / (int)sizeof(FEM_T); /* elements of a team; values of a copy's unit */
    /* Odd planes have the same layout in shared memory as in device memory, in different banks; even ones are
     * padded. */
    static constexpr int WIDE = N % 2 ? 1 : 2, PLANE = N * N + (N % 2 ? 0 : UNIT), ELEMENT = N * PLANE;
    static constexpr int LINE = 128 / (int)sizeof(FEM_T), SLOT = (E * ELEMENT + 2 * LINE - 1) / LINE * LINE;
    static constexpr int TEAMS = 4, THREADS = 64 * TEAMS, SLOTS = 3; /* v, the next v, and d */
    static constexpr int BARRIERS = 128;                             /* bytes */
    static constexpr size_t BYTES = BARRIERS + sizeof(FEM_T) * TEAMS * SLOTS * SLOT;
};

/* The basis on sums (even, with the middle) and on differences (odd), halved. */
template <int N> struct folded_values { FEM_T even[(N + 1) / 2][(N + 1) / 2], odd[N / 2][N / 2]; };

/* The values of a line that a partner has: some pairs of opposite ones, and the first the middle. PART 2: all. */
template <int N, int PART> struct folded_share {
    static constexpr int H = N / 2, FIRSTS = N % 2 ? H / 2 : (H + 1) / 2; /* pairs of the first partner */
    static constexpr int BEGIN = PART == 1 ? FIRSTS : 0, PAIRS = PART == 2 ? H : PART == 1 ? H - FIRSTS : FIRSTS;
    static constexpr bool MIDDLE = PART != 1 && N % 2;
    static constexpr int COUNT = 2 * PAIRS + MIDDLE;
    static __host__ __device__ constexpr int place(int c)
    {
        return c < PAIRS ? BEGIN + c : c < 2 * PAIRS ? N - 1 - BEGIN - (c - PAIRS) : H;
    }
};

/* A line to the points (THERE) or back: the values of a share, pairs' first values, second ones, the middle. */
template <int N, bool THERE, typename SHARE> __device__ __forceinline__ void
fold_line(const folded_values<N> &basis, const FEM_T (&in)[N], FEM_T (&out)[SHARE::COUNT])
{
    constexpr int H = N / 2, M = (N + 1) / 2;
    FEM_T sum[M], difference[H];
#pragma unroll
    for (int i = 0; i < H; i++)
        sum[i] = in[i] + in[N - 1 - i], difference[i] = in[i] - in[N - 1 - i];
    if (N % 2)
        sum[M - 1] = in[M - 1];
#pragma unroll
    for (int c = 0; c < SHARE::PAIRS + SHARE::MIDDLE; c++) {
        const int k = c < SHARE::PAIRS ? SHARE::BEGIN + c : H, pair = k < H ? k : 0;
        FEM_T even = (THERE ? basis.even[0][k] : basis.even[k][0]) * sum[0];
#pragma unroll
        for (int i = 1; i < M; i++)
            even += (THERE ? basis.even[i][k] : basis.even[k][i]) * sum[i];
        if (c < SHARE::PAIRS) {
            FEM_T odd = (THERE ? basis.odd[0][pair] : basis.odd[pair][0]) * difference[0];
#pragma unroll
            for (int i = 1; i < H; i++)
                odd += (THERE ? basis.odd[i][pair] : basis.odd[pair][i]) * difference[i];
            out[c] = even + odd, out[SHARE::PAIRS + c] = even - odd;
        } else {
            out[2 * SHARE::PAIRS] = even;
        }
    }
}

/* out[r] += factors[r] * row */
template <int R, int MOST, int COUNT>
__device__ __forceinline__ void add_rows(FEM_T (&out)[R][MOST], const FEM_T *factors, const FEM_T (&row)[COUNT])
{
#pragma unroll
    for (int r = 0; r < R; r++) {
        const FEM_T factor = factors[r];
#pragma unroll
        for (int c = 0; c < COUNT; c++)
            out[r][c] += factor * row[c];
    }
}

/* The partners of a team wait for one another. */
__device__ __forceinline__ void partners_meet(int team)
{
    __syncwarp(); /* the barrier is for whole warps */
    asm volatile("bar.sync %0, 64;" ::"r"(team + 1) : "memory");
}

template <int N> __device__ __forceinline__ void folded_row(const FEM_T *plane, int row, FEM_T (&out)[N])
{
    constexpr int W = folded_shape<N>::WIDE;
#pragma unroll
    for (int x = 0; x < N / W; x++) {
        const wide_value<W> values = *(const wide_value<W> *)(plane + row * N + W * x);
#pragma unroll
        for (int w = 0; w < W; w++)
            out[W * x + w] = values.v[w];
    }
}

/* Results of a plane until both partners have read them: sums and differences of opposite rows. */
template <int N> struct folded_sums {
    static constexpr int MOST = folded_share<N, 0>::COUNT > folded_share<N, 1>::COUNT ? folded_share<N, 0>::COUNT
                                                                                      : folded_share<N, 1>::COUNT;
    FEM_T even[(N + 1) / 2][MOST], odd[N / 2][MOST];
};

/* A plane along its axes 1 and 2, one partner's columns. factors: of axis 2, per pair of rows those of M sums and H
 * differences, then the middle's. */
template <int N, bool THERE, int PART> __device__ __forceinline__ void
fold_part(const folded_values<N> &basis, const FEM_T *factors, const FEM_T *plane, folded_sums<N> &sums)
{
    using share = folded_share<N, PART>;
    constexpr int H = N / 2, M = (N + 1) / 2, COUNT = share::COUNT;
#pragma unroll
    for (int x = 0; x < N * COUNT; x++)
        (x / COUNT < M ? sums.even[x / COUNT] : sums.odd[x / COUNT - M])[x % COUNT] = 0;
#pragma unroll 1
    for (int row = 0; row < H; row++) {
        FEM_T one[N], two[N], out[COUNT];
        folded_row<N>(plane, row, one);
        folded_row<N>(plane, N - 1 - row, two);
#pragma unroll
        for (int i = 0; i < N; i++) {
            const FEM_T sum = one[i] + two[i];
            two[i] = one[i] - two[i], one[i] = sum;
        }
        fold_line<N, THERE, share>(basis, one, out);
        add_rows(sums.even, factors + row * N, out);
        fold_line<N, THERE, share>(basis, two, out);
        add_rows(sums.odd, factors + row * N + M, out);
    }
    if (N % 2) {
        FEM_T one[N], out[COUNT];
        folded_row<N>(plane, H, one);
        fold_line<N, THERE, share>(basis, one, out);
        add_rows(sums.even, factors + H * N, out);
    }
}

template <int N, int PART> __device__ __forceinline__ void fold_back(const folded_sums<N> &sums, FEM_T *plane)
{
    using share = folded_share<N, PART>;
    constexpr int H = N / 2;
#pragma unroll
    for (int c = 0; c < share::COUNT; c++) {
        FEM_T *const column = plane + share::place(c);
#pragma unroll
        for (int r = 0; r < H; r++) {
            column[r * N] = sums.even[r][c] + sums.odd[r][c];
            column[(N - 1 - r) * N] = sums.even[r][c] - sums.odd[r][c];
        }
        if (N % 2)
            column[H * N] = sums.even[H][c];
    }
}

template <int N, bool THERE> __device__ __forceinline__ void
fold_plane(const folded_values<N> &basis, const FEM_T *factors, FEM_T *plane, int team, int part, bool here)
{
    folded_sums<N> sums;
    if (part == 0 && here)
        fold_part<N, THERE, 0>(basis, factors, plane, sums);
    else if (here)
        fold_part<N, THERE, 1>(basis, factors, plane, sums);
    partners_meet(team);
    if (part == 0 && here)
        fold_back<N, 0>(sums, plane);
    else if (here)
        fold_back<N, 1>(sums, plane);
}

/* The offset of the first value in a slot: the same relative to lines as in device memory, which is faster to copy. */
__device__ __forceinline__ int line_shift(const FEM_T *p) { return (int)((size_t)p % 128 / sizeof(FEM_T)); }

#if __CUDA_ARCH__ >= 900
/* `count` values to line_shift(from) in a slot, by one thread: whole units, with what lies around them, but not from
 * before the array (first) or behind it (last). */
__device__ __forceinline__ void load_around(FEM_T *slot, const FEM_T *from, int count, bool first, bool last,
                                            unsigned barrier)
{
    constexpr int UNIT = 16 / (int)sizeof(FEM_T);
    const int shift = line_shift(from), end = shift + count;
    int low = shift / UNIT * UNIT, high = (end + UNIT - 1) / UNIT * UNIT;
    if (first && low < shift) {
        low += UNIT;
        for (int i = shift; i < low; i++)
            slot[i] = from[i - shift];
    }
    if (last && high > end) {
        high -= UNIT;
        for (int i = high; i < end; i++)
            slot[i] = from[i - shift];
    }
    const int bytes = (high - low) * (int)sizeof(FEM_T);
    barrier_expect(barrier, bytes);
    bulk_load(shared_address(slot + low), from + (low - shift), bytes, barrier);
}
#endif

template <int N> __global__ void __launch_bounds__(folded_shape<N>::THREADS, 1)
folded_kernel(const folded_values<N> basis, size_t elements, const FEM_T *__restrict__ d, const FEM_T *__restrict__ v,
              FEM_T *__restrict__ u)
{
#if __CUDA_ARCH__ >= 900
    using shape = folded_shape<N>;
    constexpr int E = shape::E, SQUARE = N * N, CUBE = N * SQUARE, H = N / 2, M = (N + 1) / 2;
    constexpr int UNIT = shape::UNIT, SIZE = (int)sizeof(FEM_T);
    using whole_line = folded_share<N, 2>;
    constexpr bool APART = N % 2 == 0; /* v and u by planes */
    extern __shared__ __align__(128) unsigned char bytes[];
    __shared__ __align__(16) FEM_T values[2][N * M];
    /* The first partner has the middle columns and so more to do: every quarter gets some. The second copies. */
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, team = warp / 2, part = (warp ^ warp / 4) & 1;
    const int all = 32 * part + lane, element = lane / N;
    FEM_T *const slots = (FEM_T *)(bytes + shape::BARRIERS) + team * shape::SLOTS * shape::SLOT;
    FEM_T *const weights = slots + 2 * shape::SLOT;
    const unsigned barriers = shared_address(bytes) + 8 * shape::SLOTS * team;
    const size_t chunks = (elements + E - 1) / E, step = (size_t)gridDim.x * shape::TEAMS;
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
    if (threadIdx.x == 0) {
        for (int b = 0; b < shape::SLOTS * shape::TEAMS; b++)
            barrier_init(shared_address(bytes) + 8 * b, 1);
        barrier_init_fence();
    }
    __syncthreads();
    const auto count_of = [&](size_t chunk) { return (int)min((size_t)E, elements - chunk * E); };
    const auto load_d = [&](size_t chunk) {
        if (chunk < chunks && lane == 0)
            load_around(weights, d + chunk * E * CUBE, count_of(chunk) * CUBE, chunk == 0, chunk + 1 == chunks,
                        barriers + 16);
    };
    const auto load_v = [&](size_t chunk, int slot) {
        if (chunk >= chunks)
            return;
        FEM_T *const to = slots + slot * shape::SLOT;
        const FEM_T *const from = v + chunk * E * CUBE;
        const int count = count_of(chunk);
        if (!APART && lane == 0)
            load_around(to, from, count * CUBE, chunk == 0, chunk + 1 == chunks, barriers + 8 * slot);
        if (APART && lane == 0)
            barrier_expect(barriers + 8 * slot, count * CUBE * SIZE);
        if (APART && lane < count * N)
            bulk_load(shared_address(to + lane * shape::PLANE), from + lane * SQUARE, SQUARE * SIZE,
                      barriers + 8 * slot);
    };
    size_t chunk = (size_t)blockIdx.x * shape::TEAMS + team;
    if (part == 1) {
        load_v(chunk, 0);
        load_d(chunk);
        load_v(chunk + step, 1);
    }
    for (int round = 0; chunk < chunks; round++, chunk += step) {
        const int count = count_of(chunk), slot = round & 1;
        const int v_shift = APART ? 0 : line_shift(v + chunk * E * CUBE), d_shift = line_shift(d + chunk * E * CUBE);
        const bool here = element < count;
        FEM_T *const cubes = slots + slot * shape::SLOT + v_shift, *const plane = cubes + lane * shape::PLANE;
        barrier_spin(barriers + 8 * slot, round >> 1 & 1);
        fold_plane<N, true>(basis, values[0], plane, team, part, here);
        if (part == 1 && round > 0) { /* by now the u before this one has left */
            bulk_wait_read();
            __syncwarp();
            load_v(chunk + step, slot ^ 1);
        }
        barrier_spin(barriers + 16, round & 1);
        partners_meet(team);
#pragma unroll 1
        for (int x = all; x < count * SQUARE; x += 64) { /* lines along axis 3, around D */
            const int cube = x / SQUARE;
            FEM_T *const line = cubes + cube * (shape::ELEMENT - SQUARE) + x;
            const FEM_T *const factor = weights + d_shift + cube * (CUBE - SQUARE) + x;
            FEM_T in[N], out[N];
#pragma unroll
            for (int i = 0; i < N; i++)
                in[i] = line[i * shape::PLANE];
            fold_line<N, true, whole_line>(basis, in, out);
#pragma unroll
            for (int c = 0; c < N; c++)
                in[whole_line::place(c)] = out[c] * factor[whole_line::place(c) * SQUARE];
            fold_line<N, false, whole_line>(basis, in, out);
#pragma unroll
            for (int c = 0; c < N; c++)
                line[whole_line::place(c) * shape::PLANE] = out[c];
        }
        partners_meet(team);
        if (part == 1)
            load_d(chunk + step);
        fold_plane<N, false>(basis, values[1], plane, team, part, here);
        bulk_fence();
        partners_meet(team);
        FEM_T *const to = u + chunk * E * CUBE;
        if (APART) {
            if (part == 1 && lane < count * N)
                bulk_store(to + lane * SQUARE, shared_address(plane), SQUARE * SIZE);
        } else if ((line_shift(to) - v_shift) % UNIT == 0) {
            if (part == 1 && lane == 0) {
                const int head = (UNIT - v_shift % UNIT) % UNIT, whole = (count * CUBE - head) / UNIT * UNIT;
                bulk_store(to + head, shared_address(cubes + head), whole * SIZE);
                for (int x = 0; x < head; x++)
                    to[x] = cubes[x];
                for (int x = head + whole; x < count * CUBE; x++)
                    to[x] = cubes[x];
            }
        } else { /* v and u lie differently */
            for (int x = all; x < count * CUBE; x += 64)
                to[x] = cubes[x];
        }
        bulk_commit();
    }
    bulk_wait_read(); /* shared memory must outlive its last readers */
#endif
}
