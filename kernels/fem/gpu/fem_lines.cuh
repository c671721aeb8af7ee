/* The action of mass operators: a block keeps a few elements in shared memory and passes over them axis by axis, a
 * thread per line of values, which it holds in registers; the basis is a kernel argument, so that its values are
 * operands of the multiplications. Strides in shared memory are padded so that neighbouring threads meet different
 * banks whichever axis they run along. The next elements are on their way meanwhile; elements so large that few fit are
 * better off with more blocks instead. Included by fem_cuda.cuh. */

constexpr int odd(int n) { return n | 1; }

/* The smallest stride of at least `size` with this remainder by the banks. */
constexpr int padded(int size, int rest)
{
    return size + (rest % FEM_BANKS - size % FEM_BANKS + FEM_BANKS) % FEM_BANKS;
}
/* In 2-D, with one exchange through shared memory, that must not cost much: memory that holds nothing keeps elements
 * from being on their way. */
constexpr int lightly_padded(int size, int rest)
{
    return 4 * (padded(size, rest) - size) <= size ? padded(size, rest) : odd(size);
}

/* Layout of shared memory, per element. */
template <int DIM, int P, int Q> struct places;

template <int P, int Q> struct places<2, P, Q> {
    static constexpr int LINES = Q;                              /* threads per element */
    static constexpr int V = lightly_padded(P * P, P);                   /* v, then u: i1 + P i2 */
    static constexpr int D_ROW = odd(Q), D = Q * odd(Q);         /* k1 + D_ROW k2 */
    static constexpr int W_ROW = odd(P), W = Q * odd(P);         /* i1 + W_ROW k2 */
    static constexpr int WORK = W;
    static __device__ int v_at(int x) { return x; }
    static __device__ int d_at(int x) { return x % Q + x / Q * D_ROW; }
};

template <int P, int Q> struct places<3, P, Q> {
    static constexpr int LINES = Q * Q;
    static constexpr int V = padded(P * P * P, P * P);
    static constexpr int D_PLANE = padded(Q * Q, Q), D = Q * D_PLANE; /* k1 + Q k2 + D_PLANE k3 */
    static constexpr int W_I1 = padded(P * Q, 1);                     /* first work array: k3 + Q i2 + W_I1 i1 */
    static constexpr int X_K3 = odd(Q), X_I2 = padded(Q * X_K3, 1);   /* second: k1 + X_K3 k3 + X_I2 i2 */
    static constexpr int FIRST = P * W_I1, WORK = FIRST + P * X_I2;
    static __device__ int v_at(int x) { return x; }
    static __device__ int d_at(int x) { return x % (Q * Q) + x / (Q * Q) * D_PLANE; }
};

/* 2-D: axis 2 to the points, axis 1 there and back around D, axis 2 back. One element's thread `line`. */
template <int P, int Q> __device__ __forceinline__ void pass(const basis_values<P, Q> &basis, FEM_T *v, const FEM_T *d,
                                                             FEM_T *w, int line, bool here, places<2, P, Q>)
{
    using at = places<2, P, Q>;
    FEM_T p[P], q[Q];
    if (here && line < P) {
#pragma unroll
        for (int i = 0; i < P; i++)
            p[i] = v[line + P * i];
        to_points(basis, p, q);
#pragma unroll
        for (int k = 0; k < Q; k++)
            w[line + at::W_ROW * k] = q[k];
    }
    __syncthreads();
    if (here) {
#pragma unroll
        for (int i = 0; i < P; i++)
            p[i] = w[i + at::W_ROW * line];
        to_points(basis, p, q);
#pragma unroll
        for (int k = 0; k < Q; k++)
            q[k] *= d[k + at::D_ROW * line];
        to_dofs(basis, q, p);
#pragma unroll
        for (int i = 0; i < P; i++)
            w[i + at::W_ROW * line] = p[i];
    }
    __syncthreads();
    if (here && line < P) {
#pragma unroll
        for (int k = 0; k < Q; k++)
            q[k] = w[line + at::W_ROW * k];
        to_dofs(basis, q, p);
#pragma unroll
        for (int i = 0; i < P; i++)
            v[line + P * i] = p[i];
    }
}

/* 3-D: axes 3 and 1 to the points, axis 2 there and back around D, axes 1 and 3 back. */
template <int P, int Q> __device__ __forceinline__ void pass(const basis_values<P, Q> &basis, FEM_T *v, const FEM_T *d,
                                                             FEM_T *w, int line, bool here, places<3, P, Q>)
{
    using at = places<3, P, Q>;
    FEM_T p[P], q[Q];
    FEM_T *const x = w + at::FIRST;
    const bool outer = here && line < P * P, middle = here && line < P * Q;
    const int i1 = line % P, i2 = line / P;   /* of the lines along axis 3 */
    const int k3 = line % Q, m2 = line / Q;   /* of those along axis 1: k3, i2 */
    if (outer) {
#pragma unroll
        for (int i = 0; i < P; i++)
            p[i] = v[line + P * P * i];
        to_points(basis, p, q);
#pragma unroll
        for (int k = 0; k < Q; k++)
            w[k + Q * i2 + at::W_I1 * i1] = q[k];
    }
    __syncthreads();
    if (middle) {
#pragma unroll
        for (int i = 0; i < P; i++)
            p[i] = w[k3 + Q * m2 + at::W_I1 * i];
        to_points(basis, p, q);
#pragma unroll
        for (int k = 0; k < Q; k++)
            x[k + at::X_K3 * k3 + at::X_I2 * m2] = q[k];
    }
    __syncthreads();
    if (here) { /* k1 = line % Q, k3 = line / Q */
        FEM_T *const mine = x + line % Q + at::X_K3 * (line / Q);
        const FEM_T *const there = d + line % Q + at::D_PLANE * (line / Q);
#pragma unroll
        for (int i = 0; i < P; i++)
            p[i] = mine[at::X_I2 * i];
        to_points(basis, p, q);
#pragma unroll
        for (int k = 0; k < Q; k++)
            q[k] *= there[Q * k];
        to_dofs(basis, q, p);
#pragma unroll
        for (int i = 0; i < P; i++)
            mine[at::X_I2 * i] = p[i];
    }
    __syncthreads();
    if (middle) {
#pragma unroll
        for (int k = 0; k < Q; k++)
            q[k] = x[k + at::X_K3 * k3 + at::X_I2 * m2];
        to_dofs(basis, q, p);
#pragma unroll
        for (int i = 0; i < P; i++)
            w[k3 + Q * m2 + at::W_I1 * i] = p[i];
    }
    __syncthreads();
    if (outer) {
#pragma unroll
        for (int k = 0; k < Q; k++)
            q[k] = w[k + Q * i2 + at::W_I1 * i1];
        to_dofs(basis, q, p);
#pragma unroll
        for (int i = 0; i < P; i++)
            v[line + P * P * i] = p[i];
    }
}

template <int DIM, int P, int Q> constexpr int stages_of()
{
    using at = places<DIM, P, Q>;
    return (2 * (at::V + at::D) + at::WORK) * (int)sizeof(FEM_T) > 16384 ? 1 : 2; /* measured: both ways */
}

/* Elements per block: about 192 threads, and at most 48 KiB of shared memory. */
template <int DIM, int P, int Q> constexpr int elements_per_block()
{
    using at = places<DIM, P, Q>;
    const int by_threads = (192 + at::LINES / 2) / at::LINES;
    const int bytes = (stages_of<DIM, P, Q>() * (at::V + at::D) + at::WORK) * (int)sizeof(FEM_T);
    const int by_memory = 49152 / bytes, both = by_threads < by_memory ? by_threads : by_memory;
    return both < 1 ? 1 : both;
}

template <int DIM, int P, int Q> struct action_shape {
    using at = places<DIM, P, Q>;
    static constexpr int E = elements_per_block<DIM, P, Q>(), THREADS = (E * at::LINES + 31) / 32 * 32;
    static constexpr int STAGES = stages_of<DIM, P, Q>();
    static constexpr size_t BYTES = sizeof(FEM_T) * E * (STAGES * (at::V + at::D) + at::WORK);
};

template <int DIM, int P, int Q>
__global__ void __launch_bounds__(action_shape<DIM, P, Q>::THREADS)
action_kernel(const basis_values<P, Q> basis, size_t elements, const FEM_T *__restrict__ d, const FEM_T *__restrict__ v,
              FEM_T *__restrict__ u)
{
    using at = places<DIM, P, Q>;
    constexpr int E = action_shape<DIM, P, Q>::E, THREADS = action_shape<DIM, P, Q>::THREADS;
    constexpr int DOFS = power<P, DIM>::OF, POINTS = power<Q, DIM>::OF;
    extern __shared__ __align__(128) unsigned char bytes[];
    constexpr int STAGES = action_shape<DIM, P, Q>::STAGES, STAGE = E * (at::V + at::D);
    FEM_T *const stage = (FEM_T *)bytes, *const work = stage + STAGES * STAGE;
    const size_t chunks = (elements + E - 1) / E;
    const int line = threadIdx.x % at::LINES, mine = threadIdx.x / at::LINES;
    const auto load = [&](size_t chunk, FEM_T *to) {
        const int count = chunk < chunks ? (int)min((size_t)E, elements - chunk * E) : 0;
        for (int x = threadIdx.x; x < count * DOFS; x += THREADS)
            __pipeline_memcpy_async(to + x / DOFS * at::V + at::v_at(x % DOFS), v + chunk * E * DOFS + x,
                                    sizeof(FEM_T));
        to += E * at::V;
        for (int x = threadIdx.x; x < count * POINTS; x += THREADS)
            __pipeline_memcpy_async(to + x / POINTS * at::D + at::d_at(x % POINTS), d + chunk * E * POINTS + x,
                                    sizeof(FEM_T));
        __pipeline_commit();
    };
    int now = 0;
    if (STAGES == 2)
        load(blockIdx.x, stage);
    for (size_t chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x, now ^= STAGES - 1) {
        load(STAGES == 2 ? chunk + gridDim.x : chunk, stage + (now ^ (STAGES - 1)) * STAGE);
        __pipeline_wait_prior(STAGES - 1);
        __syncthreads();
        FEM_T *const here = stage + now * STAGE;
        const int count = (int)min((size_t)E, elements - chunk * E);
        pass(basis, here + mine * at::V, here + E * at::V + mine * at::D, work + mine * at::WORK, line, mine < count,
             at());
        __syncthreads();
        for (int x = threadIdx.x; x < count * DOFS; x += THREADS)
            u[chunk * E * DOFS + x] = here[x / DOFS * at::V + at::v_at(x % DOFS)];
        __syncthreads();
    }
}
