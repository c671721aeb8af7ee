/* The action of mass operators in 3-D with as many points as functions: a thread holds a plane of an element, N x N
 * values, so that two of the three axes cost no exchange through shared memory. First thread i3 of an element brings
 * the plane (., ., i3) to the points of axes 1 and 2; then thread k2 takes the plane (., k2, .) along axis 3 to the
 * points, around D and back; then the first again. Each team, one warp or two that share every plane, works on whole
 * elements and waits for no other warp. Included by fem_cuda.cuh. */

enum { PLANES_FIRST = 3, PLANES_LAST = 8 }; /* what it is faster for; larger planes are too many registers */

template <int N> struct plane_shape {
    static constexpr int E = 32 / N;                                    /* elements of a warp */
    static constexpr int WIDE = N % 2 == 0 ? 2 : 1;                     /* values per access */
    /* Where planes and elements begin, and whether neighbouring lanes are of other elements: fewest bank conflicts. */
    static constexpr bool ACROSS = N == 4 || N == 7;
    static constexpr int PLANE = N * N + (N == 5 || N == 6 || N == 8 ? 2 : 0);
    static constexpr int ELEMENT = N * PLANE + (N == 4 ? 2 : N == 7 ? 5 : 0);
    static constexpr int SLOT = (E * ELEMENT + 1) / 2 * 2;
    /* Measured on an H200 for doubles: slots of a team (v and D, and the next v), teams of a block, warps of a team,
     * and how far loops over the rows of a plane are unrolled: code that does not fit the instruction caches is slow. A
     * multiple of four warps shares the multiprocessor's quarters evenly. */
    static constexpr int SLOTS = N == 3 || N == 7 ? 2 : 3, TEAMS = N == 3 ? 16 : N == 6 ? 8 : 4, PARTS = N == 8 ? 2 : 1;
    static constexpr int UNROLL = N == 4 || N == 6 ? N : 1;
    static constexpr int THREADS = 32 * TEAMS * PARTS;
    static constexpr size_t BYTES = sizeof(FEM_T) * TEAMS * SLOTS * SLOT;
};

/* Rows of planes of 8 x 8 lie with their pairs exchanged, or every other row would begin at the same bank. */
template <int N> __device__ __forceinline__ int pair_place(int row, int pair)
{
    return N == 8 ? pair ^ (row >> 1 & 3) : pair;
}

template <int W> struct alignas(W * sizeof(FEM_T)) wide_value { FEM_T v[W]; };

template <int N> __device__ __forceinline__ void read_row(const FEM_T *plane, int row, FEM_T (&out)[N])
{
    constexpr int W = plane_shape<N>::WIDE;
#pragma unroll
    for (int u = 0; u < N / W; u++) {
        const wide_value<W> x = *(const wide_value<W> *)(plane + row * N + W * pair_place<N>(row, u));
#pragma unroll
        for (int w = 0; w < W; w++)
            out[u * W + w] = x.v[w];
    }
}
template <int N, int FIRST, int COUNT>
__device__ __forceinline__ void write_part(FEM_T *plane, int row, const FEM_T (&in)[COUNT])
{
    constexpr int W = plane_shape<N>::WIDE;
    static_assert(FIRST % W == 0 && COUNT % W == 0, "whole accesses");
#pragma unroll
    for (int u = 0; u < COUNT / W; u++) {
        wide_value<W> x;
#pragma unroll
        for (int w = 0; w < W; w++)
            x.v[w] = in[u * W + w];
        *(wide_value<W> *)(plane + row * N + W * pair_place<N>(row, FIRST / W + u)) = x;
    }
}

/* (lane + T i) / SIZE for lane < T, where i is known when compiled: mostly a constant. */
template <int T, int SIZE> __device__ __forceinline__ int part_of(int lane, int i)
{
    if (T % SIZE == 0)
        return lane / SIZE + i * (T / SIZE);
    if (SIZE < T)
        return (lane + T * i) / SIZE;
    const int low = T * i / SIZE, high = (T * i + T - 1) / SIZE;
    return low == high || lane < high * SIZE - T * i ? low : high;
}

/* Calls f(where in the chunk behind the lane's first access, where in the slot) for each access of one of T lanes. A
 * whole chunk is the rule: no questions asked. */
template <int N, int T, typename F> __device__ __forceinline__ void each_access(int lane, int count, const F &f)
{
    using shape = plane_shape<N>;
    constexpr int W = shape::WIDE, IN_PLANE = N * N / W, IN_ELEMENT = N * IN_PLANE, TOTAL = shape::E * IN_ELEMENT;
    if (count == shape::E) {
#pragma unroll
        for (int i = 0; i < (TOTAL + T - 1) / T; i++) {
            int to = lane * W;
            if (shape::PLANE == N * N) {
                to += T * W * i + part_of<T, IN_ELEMENT>(lane, i) * (shape::ELEMENT - N * N * N);
            } else {
                const int plane = part_of<T, IN_PLANE>(lane, i);
                const int rest = T % IN_PLANE == 0 ? lane % IN_PLANE : lane + T * i - plane * IN_PLANE,
                          row = rest / (N / W);
                to = plane * shape::PLANE + row * N + W * pair_place<N>(row, rest % (N / W));
            }
            if (T * i + T <= TOTAL || lane < TOTAL - T * i)
                f(T * W * i, to);
        }
    } else {
#pragma unroll 1
        for (int x = lane; x < count * IN_ELEMENT; x += T) {
            const int element = x / IN_ELEMENT, plane = x % IN_ELEMENT / IN_PLANE, rest = x % IN_PLANE,
                      row = rest / (N / W);
            f((x - lane) * W,
              element * shape::ELEMENT + plane * shape::PLANE + row * N + W * pair_place<N>(row, rest % (N / W)));
        }
    }
}

/* W values on their way into shared memory, by its address there. */
template <int W> __device__ __forceinline__ void fetch_wide(unsigned to, const FEM_T *from)
{
#if __CUDA_ARCH__ >= 800
    if (W * sizeof(FEM_T) == 16) /* past the first-level cache, of which the slots leave little */
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(W * (int)sizeof(FEM_T))
                     : "memory");
#endif
}

/* The warps of a team wait for one another. */
template <int PARTS> __device__ __forceinline__ void meet(int team)
{
    if (PARTS == 1)
        __syncwarp();
    else
        asm volatile("bar.sync %0, %1;" ::"r"(team + 1), "n"(32 * PARTS) : "memory");
}

/* A plane along its axes 1 and 2, to the points (THERE) or back, by one of the threads that share it, which takes COUNT
 * columns of the result from FIRST on. Row by row: along axis 1, and its share in every row of the result. factors: the
 * basis as axis 2 needs it. */
template <int N, bool THERE, int FIRST, int COUNT> __device__ __forceinline__ void
plane_part(const basis_values<N, N> &basis, const FEM_T *factors, FEM_T *plane, int team, bool here)
{
    constexpr int UNROLL = plane_shape<N>::UNROLL, PARTS = plane_shape<N>::PARTS;
    FEM_T rows[N][COUNT];
    if (here) {
#pragma unroll
        for (int x = 0; x < N * COUNT; x++)
            rows[x / COUNT][x % COUNT] = 0;
#pragma unroll UNROLL
        for (int row = 0; row < N; row++) {
            FEM_T in[N], out[COUNT];
            read_row<N>(plane, row, in);
#pragma unroll
            for (int c = 0; c < COUNT; c++) {
                FEM_T sum = (THERE ? basis.b[0][FIRST + c] : basis.b[FIRST + c][0]) * in[0];
#pragma unroll
                for (int i = 1; i < N; i++)
                    sum += (THERE ? basis.b[i][FIRST + c] : basis.b[FIRST + c][i]) * in[i];
                out[c] = sum;
            }
#pragma unroll
            for (int r = 0; r < N; r++) {
                const FEM_T factor = UNROLL == N ? THERE ? basis.b[row][r] : basis.b[r][row] : factors[N * row + r];
#pragma unroll
                for (int c = 0; c < COUNT; c++)
                    rows[r][c] += factor * out[c];
            }
        }
    }
    if (PARTS > 1)
        meet<PARTS>(team);
    if (here)
#pragma unroll
        for (int r = 0; r < N; r++)
            write_part<N, FIRST, COUNT>(plane, r, rows[r]);
}

template <int N, bool THERE> __device__ __forceinline__ void
plane_axes(const basis_values<N, N> &basis, const FEM_T *factors, FEM_T *plane, int team, int part, bool here)
{
    if constexpr (plane_shape<N>::PARTS == 1)
        plane_part<N, THERE, 0, N>(basis, factors, plane, team, here);
    else if (part == 0)
        plane_part<N, THERE, 0, N / 2>(basis, factors, plane, team, here);
    else
        plane_part<N, THERE, N / 2, N / 2>(basis, factors, plane, team, here);
}

template <int N>
__global__ void __launch_bounds__(plane_shape<N>::THREADS)
planes_kernel(const basis_values<N, N> basis, size_t elements, const FEM_T *__restrict__ d, const FEM_T *__restrict__ v,
              FEM_T *__restrict__ u)
{
    using shape = plane_shape<N>;
    constexpr int E = shape::E, W = shape::WIDE, CUBE = N * N * N, SLOTS = shape::SLOTS, TEAMS = shape::TEAMS;
    constexpr int PARTS = shape::PARTS, T = 32 * PARTS;
    extern __shared__ __align__(128) unsigned char bytes[];
    __shared__ __align__(16) FEM_T values[2 * N * N]; /* the basis by functions and by points, for any row */
    const int lane = threadIdx.x % 32, team = threadIdx.x / 32 % TEAMS, part = threadIdx.x / 32 / TEAMS;
    const int all = 32 * part + lane;
    const int element = shape::ACROSS ? lane % E : lane / N, line = shape::ACROSS ? lane / E : lane % N;
    const size_t chunks = (elements + E - 1) / E, step = (size_t)gridDim.x * TEAMS;
    FEM_T *const slots = (FEM_T *)bytes + team * SLOTS * shape::SLOT, *const weight = slots + shape::SLOT;
#pragma unroll
    for (int x = 0; x < N * N; x++)
        if (threadIdx.x == x % 32) {
            values[x] = basis.b[x / N][x % N];
            values[N * N + x] = basis.b[x % N][x / N];
        }
    __syncthreads();
    const auto count_of = [&](size_t chunk) { return chunk < chunks ? (int)min((size_t)E, elements - chunk * E) : 0; };
    const auto load = [&](const FEM_T *from, size_t chunk, FEM_T *to) {
        const FEM_T *const begin = from + chunk * E * CUBE + all * W;
        const unsigned there = (unsigned)__cvta_generic_to_shared(to);
        each_access<N, T>(all, count_of(chunk),
                          [&](int x, int y) { fetch_wide<W>(there + y * (int)sizeof(FEM_T), begin + x); });
        __pipeline_commit();
    };
    int turn = 0; /* v and its result: in the first slot, and with three slots in the first and the last by turns */
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
        meet<PARTS>(team);
        FEM_T *const cube = now + element * shape::ELEMENT, *const plane = cube + line * shape::PLANE;
        plane_axes<N, true>(basis, values, plane, team, part, here);
        __pipeline_wait_prior(SLOTS == 3 ? 1 : 0);
        meet<PARTS>(team);
        if (here) {
            const FEM_T *const there = weight + element * shape::ELEMENT;
            const int end = N / W * (part + 1) / PARTS;
#pragma unroll(shape::UNROLL == N ? N / W : 1)
            for (int x = N / W * part / PARTS; x < end; x++) {
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
                    to_points(basis, in, out);
#pragma unroll
                    for (int k = 0; k < N; k++)
                        out[k] *= factor[k].v[w];
                    to_dofs(basis, out, in);
#pragma unroll
                    for (int i = 0; i < N; i++)
                        along[i].v[w] = in[i];
                }
#pragma unroll
                for (int i = 0; i < N; i++)
                    *(wide_value<W> *)(cube + at + i * shape::PLANE) = along[i];
            }
        }
        meet<PARTS>(team);
        if (SLOTS == 3)
            load(d, chunk + step, weight);
        plane_axes<N, false>(basis, values + N * N, plane, team, part, here);
        meet<PARTS>(team);
        FEM_T *const to = u + chunk * E * CUBE + all * W;
        each_access<N, T>(all, count,
                          [&](int x, int y) { *(wide_value<W> *)(to + x) = *(const wide_value<W> *)(now + y); });
        meet<PARTS>(team);
    }
}
