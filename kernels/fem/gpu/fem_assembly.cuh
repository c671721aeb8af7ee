/* Assembly of mass operators: writing the matrices takes most of the time. A block works on a group of slots, which are
 * an element and, in 3-D, a j3. Sums over the last axes first; then, for a slab of some (slot, j2) at a time, a thread
 * per row of the matrix sums over axis 1. A slab's output is contiguous, with any alignment: it is gathered in shared
 * memory and written as whole lines while the next slab is computed. D of the next group is on its way meanwhile.
 * Included by fem_cuda.cuh. */

constexpr int floor_to_one(int n) { return n < 1 ? 1 : n; }

/* Blocks that share a multiprocessor, and slots of a group in slabs: measured on an H200 for doubles. */
constexpr int assembly_blocks(int dim, int p)
{
    return dim == 2 ? p <= 4 ? 5 : p <= 5 ? 4 : p <= 8 ? 3 : 2 : p <= 3 ? 4 : p <= 6 ? 3 : p <= 8 ? 2 : 1;
}
constexpr int assembly_slabs(int dim, int p) { return p <= 3 || (dim == 2 && p >= 6 && p <= 8) ? 2 : 1; }

template <int DIM, int P, int Q> struct assembly_shape {
    static constexpr int ROWS = power<P, DIM>::OF, GROUPS = ROWS / P;   /* a group of rows: all i1 */
    static constexpr int POINTS = power<Q, DIM>::OF, LASTS = DIM == 3 ? P : 1;
    static constexpr int SLAB = ROWS * P;                               /* what a slot and a j2 write */
    static constexpr int SLABS = floor_to_one(256 / ROWS);              /* at a time */
    static constexpr int SLOTS = SLABS * assembly_slabs(DIM, P);        /* at a time */
    /* Columns at a time, and rounds over the rows: what leaves at once is not to be much more than 16 KiB. */
    static constexpr int COLUMNS = DIM == 3 && P == 9 ? 3 : DIM == 3 && P == 8 ? 4 : P;
    static constexpr int ROUNDS = ROWS <= 256 ? 1 : DIM == 3 && P == 9 ? 3 : 2;
    static constexpr int AT_ONCE = (SLABS * GROUPS + ROUNDS - 1) / ROUNDS; /* groups of rows */
    static constexpr int ACTIVE = AT_ONCE * P, THREADS = (ACTIVE + 31) / 32 * 32;
    static constexpr int ALIGN = 16 / (int)sizeof(FEM_T), LINE = 128 / (int)sizeof(FEM_T);
    static constexpr int OUT = (SLABS * COLUMNS * ROWS + 2 * LINE - 1) / LINE *
        LINE; /* it lies as in memory relative to lines */
    static constexpr int FIRST = DIM == 3 ? SLOTS * Q * Q * P : 0, SECOND = SLOTS * P * GROUPS * Q;
    static constexpr int FETCHED = POINTS *
        (DIM == 3 ? (SLOTS + P - 2) / P + 1 : SLOTS); /* elements that a group may meet */
    static constexpr size_t BYTES = sizeof(FEM_T) * (2 * OUT + FIRST + SECOND + P * Q + 2 * FETCHED);
};

/* `total` values to memory from shared memory, by all threads of the block; the caller must not
 * overwrite `from` before the barrier after the next call. */
template <int THREADS> __device__ __forceinline__ void send(FEM_T *to, const FEM_T *from, int total)
{
    constexpr int ALIGN = 16 / (int)sizeof(FEM_T);
    const int head = (int)((ALIGN - (size_t)to / sizeof(FEM_T) % ALIGN) % ALIGN),
              whole = (total - head) / ALIGN * ALIGN;
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0) /* what was sent before has been read: its place is free after the barrier */
        bulk_wait_read();
    bulk_fence();
    __syncthreads();
    if (threadIdx.x == 0) {
        if (whole > 0)
            bulk_store(to + head, shared_address(from + head), whole * (int)sizeof(FEM_T));
        bulk_commit();
        for (int x = 0; x < head; x++)
            to[x] = from[x];
        for (int x = head + whole; x < total; x++)
            to[x] = from[x];
    }
#else
    __syncthreads();
    for (int x = threadIdx.x; x < total; x += THREADS)
        to[x] = from[x];
    (void)head, (void)whole;
#endif
}

template <int DIM, int P, int Q>
__global__ void __launch_bounds__(assembly_shape<DIM, P, Q>::THREADS, assembly_blocks(DIM, P))
assembly_kernel(const basis_values<P, Q> basis, size_t elements, const FEM_T *__restrict__ d, FEM_T *__restrict__ m)
{
    using shape = assembly_shape<DIM, P, Q>;
    constexpr int ROWS = shape::ROWS, GROUPS = shape::GROUPS, SLAB = shape::SLAB, SLABS = shape::SLABS,
                  SLOTS = shape::SLOTS;
    constexpr int THREADS = shape::THREADS, LASTS = shape::LASTS, POINTS = shape::POINTS;
    extern __shared__ __align__(128) unsigned char bytes[];
    FEM_T *const gathered = (FEM_T *)bytes, *const second = gathered + 2 * shape::OUT;
    FEM_T *const planes = second + shape::SECOND, *const values = planes + shape::FIRST;
    FEM_T *const pieces = values + P * Q; /* D of this group and of the next */
    int turn = 0;
    const int tid = threadIdx.x, i1 = tid % P, mine = tid / P;
    const size_t slots = elements * LASTS;
#pragma unroll
    for (int x = 0; x < P * Q; x++) /* a kernel argument has no address: its values are taken one by one */
        if (tid == x % THREADS)
            values[x] = basis.b[x / Q][x % Q];
    __syncthreads();
    FEM_T along[Q]; /* phi_i1 at the points of axis 1 */
#pragma unroll
    for (int k = 0; k < Q; k++)
        along[k] = values[i1 * Q + k];
    const auto fetch = [&](size_t first, FEM_T *to) {
        const size_t begin = first / LASTS, end = min(elements, (first + SLOTS + LASTS - 1) / LASTS);
        for (int x = tid; x < ((int)end - (int)begin) * POINTS; x += THREADS)
            __pipeline_memcpy_async(to + x, d + begin * POINTS + x, sizeof(FEM_T));
        __pipeline_commit();
    };
    int buffer = 0;
    size_t first = (size_t)blockIdx.x * SLOTS;
    if (first < slots)
        fetch(first, pieces);
    for (; first < slots; first += (size_t)gridDim.x * SLOTS) {
        const int count = (int)min((size_t)SLOTS, slots - first);
        const FEM_T *const fetched = pieces + turn * shape::FETCHED;
        turn ^= 1;
        __pipeline_wait_prior(0);
        __syncthreads();
        if (first + (size_t)gridDim.x * SLOTS < slots)
            fetch(first + (size_t)gridDim.x * SLOTS, pieces + turn * shape::FETCHED);
        if (DIM == 3) { /* over axis 3: (k1, k2, i3) per slot */
            const int offset = (int)(first % LASTS);
            for (int x = tid; x < count * Q * Q; x += THREADS) {
                const int slot = x / (Q * Q), k12 = x % (Q * Q), j3 = (slot + offset) % LASTS;
                const FEM_T *const line = fetched + (slot + offset) / LASTS * POINTS + k12;
                FEM_T in[Q], out[P];
#pragma unroll
                for (int k = 0; k < Q; k++)
                    in[k] = line[Q * Q * k] * values[j3 * Q + k];
                to_dofs(basis, in, out);
#pragma unroll
                for (int i = 0; i < P; i++)
                    planes[(slot * P + i) * Q * Q + k12] = out[i];
            }
            __syncthreads();
        }
        const FEM_T *const from = DIM == 3 ? planes : fetched;
        for (int x = tid; x < count * P * LASTS * Q; x += THREADS) { /* over axis 2: (k1, i2, i3) per slot and j2 */
            const int k1 = x % Q, i3 = x / Q % LASTS, slab = x / (Q * LASTS), slot = slab / P, j2 = slab % P;
            const FEM_T *const line = from + (slot * LASTS + i3) * Q * Q + k1;
            FEM_T in[Q], out[P];
#pragma unroll
            for (int k = 0; k < Q; k++)
                in[k] = line[Q * k] * values[j2 * Q + k];
            to_dofs(basis, in, out);
#pragma unroll
            for (int i = 0; i < P; i++)
                second[(slab * GROUPS + i3 * P + i) * Q + k1] = out[i];
        }
        __syncthreads();
        for (int slab = 0; slab < count * P; slab += SLABS) {
            const int now = min(SLABS, count * P - slab);
            FEM_T factor[shape::ROUNDS][Q];
#pragma unroll
            for (int r = 0; r < shape::ROUNDS; r++) {
                const int group = mine + r * shape::AT_ONCE;
                if (tid < shape::ACTIVE && group < now * GROUPS) {
                    const FEM_T *const there = second + (slab * GROUPS + group) * Q;
#pragma unroll
                    for (int k = 0; k < Q; k++)
                        factor[r][k] = along[k] * there[k];
                }
            }
#pragma unroll
            for (int j = 0; j < P; j += shape::COLUMNS) {
                FEM_T *const to = m + (first * P + slab) * SLAB + j * ROWS;
                FEM_T *const out = gathered + buffer * shape::OUT + (size_t)to / sizeof(FEM_T) % shape::LINE;
#pragma unroll
                for (int r = 0; r < shape::ROUNDS; r++) {
                    const int group = mine + r * shape::AT_ONCE;
                    if (tid < shape::ACTIVE && group < now * GROUPS) {
                        FEM_T *const here = out + group / GROUPS * SLAB + group % GROUPS * P + i1;
#pragma unroll
                        for (int c = 0; c < shape::COLUMNS; c++) {
                            FEM_T sum = factor[r][0] * basis.b[j + c][0];
#pragma unroll
                            for (int k = 1; k < Q; k++)
                                sum += factor[r][k] * basis.b[j + c][k];
                            here[c * ROWS] = sum;
                        }
                    }
                }
                send<THREADS>(to, out, (now - 1) * SLAB + shape::COLUMNS * ROWS); /* whole slabs, or columns of one */
                buffer ^= 1;
            }
        }
    }
#if __CUDA_ARCH__ >= 900
    if (tid == 0) /* shared memory must outlive its last readers */
        bulk_wait_read();
#endif
}
