/* The interior-point method of msmt_variant.h, a voxel per warp. A voxel's arrays are in shared memory; the lanes share
 * its rows. V voxels make a block: their products with the directions' forms and moments are made by all its threads,
 * so that a value of these matrices, which stay in the GPU's second-level cache, is read once for V voxels. A voxel
 * that has converged makes room for the next of the list at once. */
#pragma once

#include "msmt_warp_matrix.cuh"

namespace {

/* The plan on the GPU. */
struct msmt_device {
    int terms, tissues, unknowns, padded, moments, directions, rows;
    double rounding;
    const double *normal, *project, *whiten, *form, *across, *power;
    const msmt_tables *tables;
    int stride; /* doubles of shared memory that a voxel takes */
};

/* A chunk: its arrays, and the voxels that can be computed with their C^T y and |L^-1 C^T y|^2. */
struct msmt_chunk {
    unsigned count;
    const float *signals;
    const uint8_t *mask;
    float *tensors, *amounts, *residual;
    uint8_t *flags;
    unsigned *used, *taken, *list; /* used: how many are on the list; taken: how many of these have been begun */
    double *right, *size;          /* at the voxel's place in the chunk */
};

/* A voxel's arrays in shared memory. */
struct warp_voxel {
    double *hessian, *x, *step, *gradient, *moments, *s, *u, *ds, *w;
    warp_matrices m;
};

__host__ __device__ inline int even(int n) { return (n + 1) / 2 * 2; }

/* ds has room for a part of the sums over directions, too. Returns the doubles used. */
template <int SIDE>
__host__ __device__ inline int place(const msmt_device &d, double *memory, warp_voxel *v)
{
    double *const from = memory;
    const int n = d.padded, rows = even(d.directions + d.tissues), entries = even(SIDE * SIDE);
    v->hessian = memory, memory += even(n * (n + 1) / 2);
    v->x = memory, memory += n;
    v->step = memory, memory += n;
    v->gradient = memory, memory += n;
    v->moments = memory, memory += SIDE ? 0 : even(d.moments);
    v->s = memory, memory += rows;
    v->u = memory, memory += rows;
    v->w = memory, memory += rows;
    v->ds = memory, memory += SIDE || rows > n ? rows : n;
    double **const matrices[] = {&v->m.s, &v->m.z, &v->m.ds, &v->m.dz, &v->m.inverse, &v->m.target, &v->m.a, &v->m.b};
    for (int i = 0; i < 8; i++)
        *matrices[i] = memory, memory += entries;
    return (int)(memory - from);
}

/* ---- One voxel, by its warp ---------------------------------------------------------------------------------- */

/* |L^-1 right|^2 */
__device__ inline double whitened_square(const msmt_device &d, const double *right)
{
    const unknowns_of_lane x = warp_product(d.padded, d.tables->whiten, right);
    return warp_sum(x.low * x.low + x.high * x.high);
}

template <int SIDE>
__device__ inline void begin(const msmt_device &d, const msmt_chunk &chunk, unsigned item, const warp_voxel &v)
{
    const double size = chunk.size[item], root = sqrt(size), u = MSMT_FIRST_GAP * size / (d.tables->inside_sum * root);
    for (int i = lane_of_warp(); i < d.padded; i += 32)
        v.x[i] = d.tables->inside[i] * root;
    for (int j = lane_of_warp(); j < d.directions + d.tissues; j += 32) {
        v.s[j] = d.tables->inside_rows[j] * root;
        v.u[j] = u;
    }
    __syncwarp();
    if constexpr (SIDE > 0) {
        set_matrix<SIDE>(*d.tables, v.x, v.m.s);
        for (int i = lane_of_warp(); i < SIDE * SIDE; i += 32)
            v.m.z[i] = i % (SIDE + 1) == 0 ? u : 0;
        __syncwarp();
    }
}

/* hessian = N + A^T w A, of which the moments are there in parts where the matrix is made */
template <int SIDE> __device__ inline void make_hessian(const msmt_device &d, int parts, const warp_voxel &v)
{
    const msmt_tables &t = *d.tables;
    const int lane = lane_of_warp(), entries = d.padded * (d.padded + 1) / 2;
    if constexpr (SIDE == 0) {
        for (int m = lane; m < d.moments; m += 32) {
            double sum = 0;
            for (int p = 0; p < parts; p++)
                sum += v.hessian[p * d.moments + m];
            v.moments[m] = sum;
        }
        __syncwarp();
    }
    for (int e = lane; e < entries; e += 32)
        v.hessian[e] = SIDE ? t.normal[e] : t.normal[e] + t.weight[e] * v.moments[t.moment[e]];
    __syncwarp();
    for (int i = lane; i < d.tissues; i += 32)
        v.hessian[packed_at(d.terms + i, d.terms + i)] += v.w[d.directions + i];
    __syncwarp();
    if constexpr (SIDE > 0)
        add_curvature<SIDE>(t, d.terms * (d.terms + 1) / 2, v.m, v.hessian);
}

/* gradient = right - N x */
__device__ inline void make_gradient(const msmt_device &d, const double *right, const warp_voxel &v)
{
    unknowns_of_lane g = load_unknowns(d.padded, right);
    const unknowns_of_lane less = warp_product(d.padded, d.normal, v.x);
    g.low -= less.low;
    g.high -= less.high;
    store_unknowns(d.padded, g, v.gradient);
}

/* sum += A^T w, of which the directions' part is there in parts in v.ds */
__device__ inline void add_columns(const msmt_device &d, int parts, const warp_voxel &v, double *sum)
{
    for (int i = lane_of_warp(); i < d.unknowns; i += 32) {
        double more = i < d.terms ? 0 : v.w[d.directions + i - d.terms];
        for (int p = 0; p < parts && i < d.terms; p++)
            more += v.ds[p * d.terms + i];
        sum[i] += more;
    }
    __syncwarp();
}

/* A row's part of a step, or of x where that has been put in its place. */
__device__ inline double row_step(const msmt_device &d, const warp_voxel &v, int j)
{
    return j < d.directions ? v.ds[j] : v.step[d.terms + j - d.directions];
}

/* w = u / s, s^-1; returns the gap. */
template <int SIDE> __device__ inline double weigh(const msmt_device &d, const warp_voxel &v)
{
    double gap = 0;
    for (int j = lane_of_warp(); j < d.directions + d.tissues; j += 32) {
        gap += v.s[j] * v.u[j];
        v.w[j] = v.u[j] / v.s[j];
    }
    gap = warp_sum(gap);
    if constexpr (SIDE > 0)
        gap += inner<SIDE>(v.m.s, v.m.z);
    __syncwarp();
    return gap;
}

/* After the first step: w = target of the second. */
template <int SIDE> __device__ inline void aim(const msmt_device &d, double gap, const warp_voxel &v)
{
    const int rows = d.directions + d.tissues, lane = lane_of_warp();
    double rate = 1, after = 0;
    for (int j = lane; j < rows; j += 32) {
        const double ds = row_step(d, v, j), u = v.u[j], du = -u - v.w[j] * ds;
        rate = fmax(fmax(-ds / v.s[j], -du / u), rate);
    }
    double reach = 1 / warp_max(rate);
    if constexpr (SIDE > 0) {
        set_matrix<SIDE>(*d.tables, v.step, v.m.ds);
        set_multiplier_step<SIDE>(v.m, NULL);
        reach = longest_definite<SIDE>(v.m, reach, MSMT_FIRST_ROUNDS);
    }
    for (int j = lane; j < rows; j += 32) {
        const double ds = row_step(d, v, j), u = v.u[j], du = -u - v.w[j] * ds;
        after += (v.s[j] + reach * ds) * (u + reach * du);
    }
    for (int i = lane; i < SIDE * SIDE; i += 32)
        after += (v.m.s[i] + reach * v.m.ds[i]) * (v.m.z[i] + reach * v.m.dz[i]);
    const double ratio = warp_sum(after) / gap, center = ratio * ratio * ratio * gap / (rows + SIDE);
    for (int j = lane; j < rows; j += 32) {
        const double ds = row_step(d, v, j), du = -v.u[j] - v.w[j] * ds;
        v.w[j] = (center - reach * ds * du) / v.s[j];
    }
    __syncwarp();
    if constexpr (SIDE > 0) {
        symmetric_product<SIDE>(v.m, v.m.dz, v.m.ds, v.m.target);
        for (int i = lane; i < SIDE * SIDE; i += 32)
            v.m.target[i] = center * v.m.inverse[i] - reach * v.m.target[i];
        __syncwarp();
    }
}

/* Takes the second step; returns the remaining part of the first point's stationarity residual. */
template <int SIDE> __device__ inline double advance(const msmt_device &d, const warp_voxel &v)
{
    const int rows = d.directions + d.tissues, lane = lane_of_warp();
    double rate = 1;
    for (int j = lane; j < rows; j += 32) {
        const double ds = row_step(d, v, j), s = v.s[j], u = v.u[j], du = v.w[j] - u - u / s * ds;
        v.w[j] = du;
        rate = fmax(fmax(-ds / s, -du / u), rate);
    }
    double most = 1 / warp_max(rate);
    if constexpr (SIDE > 0) {
        set_matrix<SIDE>(*d.tables, v.step, v.m.ds);
        set_multiplier_step<SIDE>(v.m, v.m.target);
        most = longest_definite<SIDE>(v.m, most, MSMT_ROUNDS);
    }
    most *= 0.995;
    for (int j = lane; j < rows; j += 32) {
        v.s[j] += most * row_step(d, v, j);
        v.u[j] += most * v.w[j];
    }
    for (int i = lane; i < d.unknowns; i += 32)
        v.x[i] += most * v.step[i];
    for (int i = lane; i < SIDE * SIDE; i += 32) {
        v.m.s[i] += most * v.m.ds[i];
        v.m.z[i] += most * v.m.dz[i];
    }
    __syncwarp();
    return 1 - most;
}

/* With A x in the step's place: the gap, or how far a row is below 0, whichever is larger; w = u. */
template <int SIDE> __device__ inline double row_conditions(const msmt_device &d, double size, const warp_voxel &v)
{
    double gap = 0, least = 0, largest = 1e-300;
    for (int j = lane_of_warp(); j < d.directions + d.tissues; j += 32) {
        const double s = row_step(d, v, j);
        gap += fabs(s * v.u[j]);
        least = fmin(s, least);
        largest = fmax(s, largest);
        v.w[j] = v.u[j];
    }
    gap = warp_sum(gap);
    if constexpr (SIDE > 0) {
        set_matrix<SIDE>(*d.tables, v.x, v.m.s);
        gap += fabs(inner<SIDE>(v.m.s, v.m.z));
    }
    __syncwarp();
    return fmax(gap / size, -warp_smallest(least) / warp_max(largest));
}

/* The voxel's outputs; `lift`: how much of the isotropic tensor makes up for rounding. */
__device__ inline void write(const msmt_device &d, const msmt_chunk &chunk, unsigned item, const double *x, double lift,
                             double residual)
{
    const int lane = lane_of_warp();
    for (int i = lane; i < d.unknowns; i += 32) {
        const double value = x[i] + (i < d.terms ? lift * d.tables->inside[i] : 0);
        if (i < d.terms)
            chunk.tensors[(size_t)item * d.terms + i] = (float)(value * d.tables->scale[i]);
        else
            chunk.amounts[(size_t)item * d.tissues + i - d.terms] = (float)(value * d.tables->scale[i]);
    }
    if (lane == 0 && chunk.residual)
        chunk.residual[item] = (float)residual;
    if (lane == 0 && chunk.flags)
        chunk.flags[item] = 0;
}

/* ---- The kernels --------------------------------------------------------------------------------------------- */

enum { PREPARE_WARPS = 8 };

/* A warp per voxel: C^T y, and the list of those with a signal; zeros for the others. PLAIN: without a constraint, the
 * answer. */
template <bool PLAIN>
__global__ void __launch_bounds__(32 * PREPARE_WARPS)
    msmt_prepare_kernel(const __grid_constant__ msmt_device d, const __grid_constant__ msmt_chunk chunk)
{
    __shared__ double memory[PREPARE_WARPS][64];
    const int lane = lane_of_warp(), n = d.padded;
    const unsigned item = blockIdx.x * PREPARE_WARPS + threadIdx.x / 32;
    double *const x = memory[threadIdx.x / 32];
    if (item >= chunk.count)
        return;
    const float *signal = chunk.signals + (size_t)item * d.rows;
    const bool masked = chunk.mask && !chunk.mask[item];
    bool finite = true, any = false;
    unknowns_of_lane sum = {0, 0};
    for (int first = 0; first < d.rows && !masked; first += 32) {
        const float mine = first + lane < d.rows ? signal[first + lane] : 0;
        const int more = d.rows - first < 32 ? d.rows - first : 32;
        const double *row = d.project + (size_t)first * n;
        finite = finite && isfinite(mine);
        any = any || mine != 0;
#pragma unroll 8
        for (int r = 0; r < more; r++, row += n) {
            const double value = (double)__shfl_sync(~0u, mine, r);
            sum.low += (lane < n ? row[lane] : 0) * value;
            sum.high += (lane + 32 < n ? row[lane + 32] : 0) * value;
        }
    }
    finite = __all_sync(~0u, finite);
    any = __any_sync(~0u, any);
    store_unknowns(n, sum, x);
    if (!finite || !any) {
        for (int i = lane; i < n; i += 32)
            x[i] = 0;
        __syncwarp();
        write(d, chunk, item, x, 0, 0);
        if (lane == 0 && chunk.flags)
            chunk.flags[item] = !finite;
        return;
    }
    const unknowns_of_lane white = warp_product(n, d.tables->whiten, x);
    if (PLAIN) {
        __syncwarp();
        store_unknowns(n, white, x);
        const unknowns_of_lane answer = warp_product(n, d.whiten, x);
        __syncwarp();
        store_unknowns(n, answer, x);
        write(d, chunk, item, x, 0, 0);
        return;
    }
    const double size = fmax(warp_sum(white.low * white.low + white.high * white.high), 1e-300);
    store_unknowns(n, sum, chunk.right + (size_t)item * n);
    if (lane == 0) { /* the list's order differs from run to run; a voxel's answer does not depend on its place */
        chunk.size[item] = size;
        chunk.list[atomicAdd(chunk.used, 1u)] = item;
    }
}

/* SIDE: of the tensor's matrix where it is held positive semidefinite; else 0. Warps are then on their own. Shared
 * memory has room for eight voxels of order 8 on a multiprocessor: that many may have all its registers. */
template <int V, int SIDE>
__global__ void __launch_bounds__(32 * V, 8 / V)
    msmt_solve_kernel(const __grid_constant__ msmt_device d, const __grid_constant__ msmt_chunk chunk)
{
    extern __shared__ double2 shared[];
    enum { IDLE, RUNNING, ENDING } state = IDLE;
    warp_voxel v, first;
    double *const memory = (double *)shared;
    place<SIDE>(d, memory + (threadIdx.x / 32) * d.stride, &v);
    place<SIDE>(d, memory, &first); /* the block's first voxel, for what all threads do */
    const int n = d.padded, entries = n * (n + 1) / 2;
    const int moment_parts = SIDE ? 0 : parts_of<V>(d.moments, entries);
    const int form_parts = SIDE ? 0 : parts_of<V>(d.terms, d.directions > n ? d.directions : n);
    const double *right = NULL;
    double size = 1, gap = 0, left = 1, worst = 0;
    unsigned item = 0;
    int iteration = 0;
    bool more = true;
    for (;;) {
        if (state == IDLE && more) {
            unsigned at = 0;
            if (lane_of_warp() == 0)
                at = atomicAdd(chunk.taken, 1u);
            at = __shfl_sync(~0u, at, 0);
            more = at < *chunk.used;
            if (more) {
                item = chunk.list[at];
                right = chunk.right + (size_t)item * n;
                size = chunk.size[item];
                begin<SIDE>(d, chunk, item, v);
                left = 1;
                iteration = 0;
                state = RUNNING;
            }
        }
        if (SIDE ? state == IDLE : !__syncthreads_or(state != IDLE))
            return;
        if (state == RUNNING) {
            gap = weigh<SIDE>(d, v);
            if ((gap < MSMT_GAP * size && left < MSMT_LEFT) || iteration == MSMT_ITERATIONS)
                state = ENDING;
            iteration++;
        }
        if constexpr (SIDE == 0) {
            __syncthreads();
            block_products<V>(d.directions, d.moments, moment_parts, d.power, first.w, first.hessian, d.stride);
            __syncthreads();
        }
        if (state == RUNNING) {
            if constexpr (SIDE > 0)
                invert<SIDE>(v.m);
            make_hessian<SIDE>(d, moment_parts, v);
            warp_factorise(n, v.hessian, MSMT_PIVOT);
            make_gradient(d, right, v);
            unknowns_of_lane step = load_unknowns(n, v.gradient);
            warp_solve(n, v.hessian, &step);
            store_unknowns(n, step, v.step);
        } else if (state == ENDING) {
            store_unknowns(n, load_unknowns(n, v.x), v.step);
        }
        if constexpr (SIDE == 0) {
            __syncthreads();
            block_products<V>(d.terms, d.directions, 1, d.across, first.step, first.ds, d.stride);
            __syncthreads();
        }
        if (state == RUNNING)
            aim<SIDE>(d, gap, v);
        else if (state == ENDING)
            worst = row_conditions<SIDE>(d, size, v);
        if constexpr (SIDE == 0) {
            __syncthreads();
            block_products<V>(d.directions, d.terms, form_parts, d.form, first.w, first.ds, d.stride);
            __syncthreads();
        }
        if (state == RUNNING) {
            add_columns(d, form_parts, v, v.gradient);
            if constexpr (SIDE > 0)
                add_adjoint<SIDE>(*d.tables, d.terms, v.m.target, v.gradient);
            unknowns_of_lane step = load_unknowns(n, v.gradient);
            warp_solve(n, v.hessian, &step);
            store_unknowns(n, step, v.step);
        } else if (state == ENDING) {
            double trace = 0;
            make_gradient(d, right, v);
            add_columns(d, form_parts, v, v.gradient);
            if constexpr (SIDE > 0) {
                add_adjoint<SIDE>(*d.tables, d.terms, v.m.z, v.gradient);
                trace = warp_sum(lane_of_warp() < SIDE ? v.m.s[lane_of_warp() * (SIDE + 1)] : 0.0);
            }
            const double still = sqrt(whitened_square(d, v.gradient) / size);
            write(d, chunk, item, v.x, trace * d.rounding, fmax(still, worst));
            __syncwarp();
            state = IDLE;
        }
        if constexpr (SIDE == 0) {
            __syncthreads();
            block_products<V>(d.terms, d.directions, 1, d.across, first.step, first.ds, d.stride);
            __syncthreads();
        }
        if (state == RUNNING)
            left *= advance<SIDE>(d, v);
    }
}

} // namespace
