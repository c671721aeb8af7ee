/* See heev_cusolver.h. cuSOLVER overwrites its input, wants numbers of moderate size and says nothing about NaN: each
 * matrix is copied, judged and scaled before, and its results are scaled back or replaced by NaN. Nor does it say that
 * its vectors are not orthogonal, or its values NaN, as those of some matrices are: its results are judged, too. */
#include "heev_cusolver.h"

#include <cfloat>
#include <dlfcn.h>

#include "common/arena.h"
#include "common/context_internal.h"
#include "common/cuda_status.h"
#include "common/device_memory.h"
#include "common/loaded_library.h"

#ifndef HOT_CUSOLVER_PATH
#define HOT_CUSOLVER_PATH ""
#endif

/* The declarations of cusolverDn.h, with pointers for handles and ints for enumerations. */
typedef int create_function(void **handle);
typedef int destroy_function(void *handle);
typedef int stream_function(void *handle, cudaStream_t stream);
typedef int size_function(void *handle, void *params, int vectors, int upper, int64_t n, int type_a, const void *a,
                          int64_t lda, int type_w, const void *w, int compute, size_t *device_bytes,
                          size_t *host_bytes);
typedef int solve_function(void *handle, void *params, int vectors, int upper, int64_t n, int type_a, void *a,
                           int64_t lda, int type_w, void *w, int compute, void *device, size_t device_bytes,
                           void *host, size_t host_bytes, int *info);

struct cusolver {
    void *library, *handle, *params;
    destroy_function *destroy, *destroy_params;
    stream_function *set_stream;
    size_function *size;
    solve_function *solve;
};

static void destroy(hot_context *context, void *kept)
{
    cusolver *self = (cusolver *)kept;
    if (self->params)
        self->destroy_params(self->params);
    if (self->handle)
        self->destroy(self->handle);
    if (self->library)
        dlclose(self->library);
    hot_context_free(context, self);
}

/* The handle that the context keeps. */
static hot_status get(hot_context *context, cudaStream_t stream, cusolver **out)
{
    *out = (cusolver *)hot_context_kept(context, HOT_KEPT_CUSOLVER);
    hot_status status = HOT_OK;
    if (!*out) {
        create_function *create = NULL, *create_params = NULL;
        cusolver *self = (cusolver *)hot_context_calloc(context, 1, sizeof *self);
        if (!self)
            return HOT_ERROR_MEMORY;
        self->library = hot_library_load("libcusolver.so.12", HOT_CUSOLVER_PATH); /* CUDA 13 */
        if (!self->library)
            self->library = hot_library_load("libcusolver.so.11", "");
        if (!self->library ||
            !(hot_library_find(self->library, "cusolverDnCreate", &create) &
              hot_library_find(self->library, "cusolverDnCreateParams", &create_params) &
              hot_library_find(self->library, "cusolverDnDestroy", &self->destroy) &
              hot_library_find(self->library, "cusolverDnDestroyParams", &self->destroy_params) &
              hot_library_find(self->library, "cusolverDnSetStream", &self->set_stream) &
              hot_library_find(self->library, "cusolverDnXsyevd_bufferSize", &self->size) &
              hot_library_find(self->library, "cusolverDnXsyevd", &self->solve)))
            status = hot_context_fail(context, HOT_ERROR_DEVICE, "heev: matrices of more than %d rows need cuSOLVER "
                                      "on the GPU: libcusolver.so.12 or .11 cannot be loaded", HOT_HEEV_DEVICE_MAX);
        else if (create(&self->handle) || create_params(&self->params))
            status = hot_context_fail(context, HOT_ERROR_DEVICE, "heev: cuSOLVER does not start");
        if (status != HOT_OK) {
            destroy(context, self);
            return status;
        }
        hot_context_keep(context, HOT_KEPT_CUSOLVER, self, destroy);
        *out = self;
    }
    return (*out)->set_stream((*out)->handle, stream)
               ? hot_context_fail(context, HOT_ERROR_DEVICE, "heev: cuSOLVER does not take a stream") : HOT_OK;
}

enum { THREADS = 256, BLOCKS = 1024 };

/* Whether number (row, column) of a column-major matrix is in the triangle that is read; part 1: imaginary. */
static __device__ bool is_read(size_t at, size_t n, int parts, int upper)
{
    const size_t row = at / parts % n, column = at / parts / n;
    return (upper ? row <= column : row >= column) && !(at % parts && row == column);
}

/* bits: of the largest |number| that is read, 0 before. Those of NaN and Inf are larger than any number's. */
template <typename T> static __global__ void measure(size_t n, int parts, int upper, const T *a,
                                                     unsigned long long *bits)
{
    unsigned long long largest = 0;
    for (size_t at = blockIdx.x * (size_t)THREADS + threadIdx.x; at < n * n * parts; at += (size_t)THREADS * gridDim.x)
        if (is_read(at, n, parts, upper)) {
            const unsigned long long mine = (unsigned long long)__double_as_longlong(fabs((double)a[at]));
            largest = mine > largest ? mine : largest;
        }
    for (int offset = 16; offset > 0; offset /= 2) {
        const unsigned long long other = __shfl_down_sync(0xffffffffu, largest, offset);
        largest = other > largest ? other : largest;
    }
    if (threadIdx.x % 32 == 0)
        atomicMax(bits, largest);
}

static __device__ bool is_finite(const unsigned long long *bits) { return *bits < 0x7ff0000000000000ull; }

/* The power of two that a matrix is divided by: to 1/2 to 1, unless its squares and their inverses are numbers. */
template <typename T> static __device__ int exponent_of(const unsigned long long *bits)
{
    int exponent = 0;
    frexp(__longlong_as_double((long long)*bits), &exponent);
    return abs(exponent) > (sizeof(T) == sizeof(double) ? 200 : 20) ? exponent : 0;
}

/* Numbers up to this become 0: it is to the rounding of the largest as that rounding is to the largest. cuSOLVER's
 * reflections of columns so faint that their squares underflow are not orthogonal and end in NaN; LAPACK scales
 * each. */
template <typename T> static __device__ double faint(const unsigned long long *bits)
{
    const double epsilon = sizeof(T) == sizeof(double) ? DBL_EPSILON : FLT_EPSILON;
    return __longlong_as_double((long long)*bits) * epsilon * epsilon;
}

/* 32 bits of which each depends on the whole number (the end of MurmurHash3). */
static __device__ unsigned mixed(unsigned number)
{
    number = (number ^ number >> 16) * 0x85ebca6bu;
    number = (number ^ number >> 13) * 0xc2b2ae35u;
    return number ^ number >> 16;
}

/* A matrix that is not finite becomes zero. noise: each number is changed by at most half of epsilon of the largest;
 * then no column of the rest of a matrix, while it is reduced, is fainter than that. */
template <typename T> static __global__ void prepare(size_t n, int parts, int upper, const unsigned long long *bits,
                                                     bool noise, T *a)
{
    const bool finite = is_finite(bits);
    const int exponent = finite ? exponent_of<T>(bits) : 0;
    const double least = finite ? faint<T>(bits) : 0, epsilon = sizeof(T) == sizeof(double) ? DBL_EPSILON : FLT_EPSILON;
    const double largest = finite ? ldexp(__longlong_as_double((long long)*bits), -exponent) : 0;
    const double most = noise ? largest * epsilon * 0x1p-32 : 0;
    const size_t first = blockIdx.x * (size_t)THREADS + threadIdx.x;
    for (size_t at = first; at < n * n * parts; at += (size_t)THREADS * gridDim.x) {
        double value = 0;
        if (finite && is_read(at, n, parts, upper)) {
            value = fabs((double)a[at]) <= least ? 0 : exponent ? ldexp((double)a[at], -exponent) : (double)a[at];
            value += most * (int)mixed((unsigned)at);
        }
        a[at] = (T)value;
    }
}

/* Sums of a prepared matrix, 0 before: of the diagonal, and of all squares. */
template <typename T> static __global__ void total(size_t n, int parts, const T *a, double *sums)
{
    double trace = 0, squares = 0;
    const size_t first = blockIdx.x * (size_t)THREADS + threadIdx.x;
    for (size_t at = first; at < n * n * parts; at += (size_t)THREADS * gridDim.x) {
        const bool diagonal = at / parts % n == at / parts / n;
        const double value = a[at];
        trace += diagonal && at % parts == 0 ? value : 0;
        squares += (diagonal ? 1 : 2) * value * value;
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        trace += __shfl_xor_sync(0xffffffffu, trace, offset);
        squares += __shfl_xor_sync(0xffffffffu, squares, offset);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&sums[0], trace);
        atomicAdd(&sums[1], squares);
    }
}

/* Whether the values have the matrix's sums. One warp; *wrong: 0 before. */
template <typename T> static __global__ void judge_values(size_t n, const T *w, const double *sums, int *wrong)
{
    double trace = 0, squares = 0;
    for (size_t i = threadIdx.x; i < n; i += 32) {
        trace += w[i];
        squares += (double)w[i] * w[i];
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        trace += __shfl_xor_sync(0xffffffffu, trace, offset);
        squares += __shfl_xor_sync(0xffffffffu, squares, offset);
    }
    const double bound = (double)n * (sizeof(T) == sizeof(double) ? DBL_EPSILON : FLT_EPSILON);
    if (threadIdx.x == 0 &&
        !(fabs(trace - sums[0]) <= bound * sqrt(sums[1]) && fabs(squares - sums[1]) <= 4 * bound * sums[1]))
        *wrong = 1;
}

enum { PROBES = 8, ROWS = 32, COLUMNS = THREADS / ROWS };

/* Of vector `column`, in all combinations of vectors that are judged. */
static __device__ double sign_of(size_t column, int probe)
{
    return mixed((unsigned)column) >> probe & 1 ? 1 : -1;
}

/* sums = V z for PROBES vectors z of signs: row after row, in each the probes, their real and imaginary parts. */
template <typename T> static __global__ void combine(size_t n, int parts, const T *v, double *sums)
{
    __shared__ double shared[COLUMNS][ROWS][2 * PROBES];
    const size_t row = blockIdx.x * (size_t)ROWS + threadIdx.x % ROWS;
    double sum[2 * PROBES] = {};
    for (size_t column = threadIdx.x / ROWS; column < n && row < n; column += COLUMNS)
        for (int probe = 0; probe < PROBES; probe++)
            for (int part = 0; part < parts; part++)
                sum[2 * probe + part] += sign_of(column, probe) * v[(column * n + row) * parts + part];
    for (int k = 0; k < 2 * PROBES; k++)
        shared[threadIdx.x / ROWS][threadIdx.x % ROWS][k] = sum[k];
    __syncthreads();
    for (int k = threadIdx.x / ROWS; k < 2 * PROBES && row < n; k += COLUMNS) {
        double all = 0;
        for (int i = 0; i < COLUMNS; i++)
            all += shared[i][threadIdx.x % ROWS][k];
        sums[row * 2 * PROBES + k] = all;
    }
}

/* Whether V^H (V z) is z, as it is of orthonormal columns; of others it is, for a vector of random signs, off by about
 * the size of a row of V^H V - I. Orthonormal ones reach .3 n epsilon. A warp for each column; *wrong: 0 before. */
template <typename T> static __global__ void judge_vectors(size_t n, int parts, const T *v, const double *sums,
                                                           int *wrong)
{
    const size_t column = (blockIdx.x * (size_t)THREADS + threadIdx.x) / 32;
    if (column >= n)
        return;
    double real[PROBES] = {}, imaginary[PROBES] = {};
    for (size_t row = threadIdx.x % 32; row < n; row += 32) {
        const T *number = v + (column * n + row) * parts;
        const double x = number[0], y = parts == 2 ? number[1] : 0;
        for (int probe = 0; probe < PROBES; probe++) {
            const double p = sums[row * 2 * PROBES + 2 * probe], q = sums[row * 2 * PROBES + 2 * probe + 1];
            real[probe] += x * p + y * q;
            imaginary[probe] += x * q - y * p;
        }
    }
    const double bound = (double)n * (sizeof(T) == sizeof(double) ? DBL_EPSILON : FLT_EPSILON);
    bool right = true;
    for (int probe = 0; probe < PROBES; probe++) {
        for (int offset = 16; offset > 0; offset /= 2) {
            real[probe] += __shfl_xor_sync(0xffffffffu, real[probe], offset);
            imaginary[probe] += __shfl_xor_sync(0xffffffffu, imaginary[probe], offset);
        }
        right &= fabs(real[probe] - sign_of(column, probe)) <= bound && fabs(imaginary[probe]) <= bound;
    }
    if (!right)
        *wrong = 1;
}

/* vectors: how many numbers of vectors there are; info: cuSOLVER's. */
template <typename T> static __global__ void finish(size_t n, size_t vectors, const unsigned long long *bits,
                                                    const int *info, const int *wrong, T *w, T *v, uint8_t *flag)
{
    const bool failed = !is_finite(bits) || *info != 0 || *wrong;
    const int exponent = failed ? 0 : exponent_of<T>(bits);
    const size_t first = blockIdx.x * (size_t)THREADS + threadIdx.x;
    if (first == 0)
        *flag = failed;
    for (size_t at = first; at < n; at += (size_t)THREADS * gridDim.x)
        w[at] = failed ? (T)NAN : exponent ? (T)ldexp(w[at], exponent) : w[at];
    for (size_t at = first; failed && at < vectors; at += (size_t)THREADS * gridDim.x)
        v[at] = (T)NAN;
}

/* cuSOLVER's values of clusters may descend by rounding: each becomes the largest so far. One warp. */
template <typename T> static __global__ void ascend(size_t n, T *w)
{
    T before = w[0];
    for (size_t from = 0; from < n; from += 32) {
        const size_t at = from + threadIdx.x;
        T most = at < n ? w[at] : before;
        for (int offset = 1; offset < 32; offset *= 2) {
            const T other = __shfl_up_sync(0xffffffffu, most, offset);
            most = (int)threadIdx.x >= offset && other > most ? other : most;
        }
        most = before > most ? before : most;
        if (at < n)
            w[at] = most;
        before = __shfl_sync(0xffffffffu, most, 31);
    }
}

/* The memory of a call, on the GPU. */
struct room {
    void *a, *w, *work;
    unsigned long long *bits;
    int *info, *wrong;
    double *sums; /* of total and combine */
    uint8_t *flag;
    void *host; /* not on the GPU */
    size_t work_bytes, host_bytes;
};

static size_t divide(room *self, size_t n, size_t matrix, size_t values, void *memory)
{
    hot_arena arena = {(char *)memory, 0};
    self->a = hot_arena_alloc(&arena, matrix);
    self->w = hot_arena_alloc(&arena, values);
    self->bits = hot_arena_array<unsigned long long>(&arena, 1);
    self->info = hot_arena_array<int>(&arena, 1);
    self->wrong = hot_arena_array<int>(&arena, 1);
    self->sums = hot_arena_array<double>(&arena, 2 + n * 2 * PROBES);
    self->flag = hot_arena_array<uint8_t>(&arena, 1);
    self->work = hot_arena_alloc(&arena, self->work_bytes);
    return arena.used;
}

/* cudaDataType of the matrices and of the eigenvalues. */
static int type_of(int is_complex, int f64) { return (is_complex ? 4 : 0) + (f64 ? 1 : 0); }

/* Matrix i of the caller becomes the vectors in room.a; *wrong: they or the values are. */
template <typename T> static hot_status decompose(hot_context *context, const hot_heev_args *args,
                                                  const cusolver *solver, const room *at, size_t i, bool noise,
                                                  int *wrong, cudaStream_t stream)
{
    const size_t n = args->n;
    const int parts = args->is_complex ? 2 : 1, type = type_of(args->is_complex, args->f64);
    const size_t matrix = n * n * parts * sizeof(T);
    T *a = (T *)at->a, *w = (T *)at->w;
    const void *from = (const char *)args->matrices + i * matrix;
    cudaError_t error = cudaMemcpyAsync(a, from, matrix, cudaMemcpyDefault, stream);
    if (error == cudaSuccess)
        error = cudaMemsetAsync(at->bits, 0, sizeof *at->bits, stream);
    if (error == cudaSuccess)
        error = cudaMemsetAsync(at->wrong, 0, sizeof *at->wrong, stream);
    if (error == cudaSuccess)
        error = cudaMemsetAsync(at->sums, 0, 2 * sizeof *at->sums, stream);
    if (error != cudaSuccess)
        return hot_cuda_status(context, error, "a matrix");
    measure<<<BLOCKS, THREADS, 0, stream>>>(n, parts, args->upper, a, at->bits);
    prepare<<<BLOCKS, THREADS, 0, stream>>>(n, parts, args->upper, at->bits, noise, a);
    total<<<BLOCKS, THREADS, 0, stream>>>(n, parts, a, at->sums);
    const int failed = solver->solve(solver->handle, solver->params, args->vectors != NULL, args->upper, (int64_t)n,
                                     type, a, (int64_t)n, type_of(0, args->f64), w, type, at->work, at->work_bytes,
                                     at->host, at->host_bytes, at->info);
    if (failed)
        return hot_context_fail(context, HOT_ERROR_DEVICE, "heev: cuSOLVER: error %d", failed);
    judge_values<<<1, 32, 0, stream>>>(n, w, at->sums, at->wrong);
    if (args->vectors) {
        double *sums = at->sums + 2;
        combine<<<(unsigned)((n + ROWS - 1) / ROWS), THREADS, 0, stream>>>(n, parts, a, sums);
        judge_vectors<<<(unsigned)((n * 32 + THREADS - 1) / THREADS), THREADS, 0, stream>>>(n, parts, a, sums,
                                                                                            at->wrong);
    }
    error = cudaGetLastError();
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(wrong, at->wrong, sizeof *wrong, cudaMemcpyDefault, stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    return hot_cuda_status(context, error, "the eigensolver");
}

template <typename T> static hot_status queue(hot_context *context, const hot_heev_args *args, const cusolver *solver,
                                              const room *at, size_t i, cudaStream_t stream)
{
    const size_t n = args->n;
    T *w = (T *)at->w;
    int wrong = 0;
    hot_status status = decompose<T>(context, args, solver, at, i, false, &wrong, stream);
    if (status == HOT_OK && wrong)
        status = decompose<T>(context, args, solver, at, i, true, &wrong, stream);
    if (status != HOT_OK)
        return status;
    ascend<<<1, 32, 0, stream>>>(n, w);
    finish<<<BLOCKS, THREADS, 0, stream>>>(n, args->vectors ? n * n * (args->is_complex ? 2 : 1) : 0, at->bits,
                                           at->info, at->wrong, w, (T *)at->a, at->flag);
    return hot_cuda_status(context, cudaGetLastError(), "the eigensolver");
}

/* Matrix i from the caller's memory to its results there. */
static hot_status solve(hot_context *context, const hot_heev_args *args, const cusolver *solver, const room *at,
                        size_t i, cudaStream_t stream)
{
    const size_t real = args->f64 ? sizeof(double) : sizeof(float), n = args->n, skipped = n - args->kept;
    const size_t number = (args->is_complex ? 2 : 1) * real, part = args->kept * n * number;
    hot_status status = args->f64 ? queue<double>(context, args, solver, at, i, stream)
                                  : queue<float>(context, args, solver, at, i, stream);
    struct { void *to; const void *from; size_t bytes; } results[] = {
        {(char *)args->values + i * args->kept * real, (char *)at->w + skipped * real, args->kept * real},
        {args->vectors ? (char *)args->vectors + i * part : NULL, (char *)at->a + skipped * n * number, part},
        {args->flags ? args->flags + i : NULL, at->flag, 1}};
    for (int k = 0; k < 3 && status == HOT_OK; k++)
        if (results[k].to)
            status = hot_cuda_status(context, cudaMemcpyAsync(results[k].to, results[k].from, results[k].bytes,
                                                              cudaMemcpyDefault, stream), "eigenvalues");
    /* also after a failure: the memory is still in use */
    const hot_status waited = hot_cuda_status(context, cudaStreamSynchronize(stream), "eigenvalues");
    return status != HOT_OK ? status : waited;
}

static hot_status check_places(hot_context *context, const hot_heev_args *args, int queued, cudaStream_t stream)
{
    hot_status status = hot_device_check(context, "matrices", args->matrices);
    if (status == HOT_OK)
        status = hot_device_check(context, "values", args->values);
    if (status == HOT_OK && args->vectors)
        status = hot_device_check(context, "vectors", args->vectors);
    if (status == HOT_OK && args->flags)
        status = hot_device_check(context, "flags", args->flags);
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    if (status == HOT_OK && queued)
        status = hot_cuda_status(context, cudaStreamIsCapturing(stream, &capture), "its stream");
    if (status == HOT_OK && capture != cudaStreamCaptureStatusNone)
        status = hot_context_fail(context, HOT_ERROR_ARGUMENT, "heev: matrices of more than %d rows wait for the GPU, "
                                  "which a capture does not allow", HOT_HEEV_DEVICE_MAX);
    return status;
}

hot_status hot_heev_cusolver(hot_context *context, const hot_heev_args *args)
{
    const size_t real = args->f64 ? sizeof(double) : sizeof(float), n = args->n;
    const size_t matrix = n * n * (args->is_complex ? 2 : 1) * real;
    const int type = type_of(args->is_complex, args->f64);
    void *on_stream = NULL, *memory = NULL;
    const int queued = hot_context_memory(context, &on_stream) == HOT_MEMORY_DEVICE;
    cudaStream_t stream = queued ? (cudaStream_t)on_stream : cudaStreamPerThread;
    cusolver *solver = NULL;
    room at = {};
    hot_status status = check_places(context, args, queued, stream);
    if (status == HOT_OK)
        status = get(context, stream, &solver);
    if (status == HOT_OK &&
        solver->size(solver->handle, solver->params, args->vectors != NULL, args->upper, (int64_t)n, type, NULL,
                     (int64_t)n, type_of(0, args->f64), NULL, type, &at.work_bytes, &at.host_bytes))
        status = hot_context_fail(context, HOT_ERROR_DEVICE, "heev: cuSOLVER does not take matrices of size %zu", n);
    if (status == HOT_OK)
        status = hot_device_alloc(context, divide(&at, n, matrix, n * real, NULL), &memory, "working memory");
    if (status == HOT_OK && at.host_bytes > 0 && !(at.host = hot_context_alloc(context, at.host_bytes, 1)))
        status = HOT_ERROR_MEMORY;
    if (status == HOT_OK)
        divide(&at, n, matrix, n * real, memory);
    for (size_t i = 0; i < args->count && status == HOT_OK; i++) {
        status = solve(context, args, solver, &at, i, stream);
        if (status == HOT_OK && !queued)
            status = hot_context_progress(context, "finding eigenvectors", (double)(i + 1) / (double)args->count);
    }
    hot_context_free(context, at.host);
    hot_device_release(context, memory);
    return status;
}
