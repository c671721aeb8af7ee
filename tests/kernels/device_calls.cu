/* See device_calls.h. All outputs must be the same in all ways of device_run.h, bit by bit, but for the two exceptions
 * of device.h; what is right is for the checks. */
#define HOT_TESTS_CALLS_THEMSELVES
#include "device_calls.h"

#include "device_run.h"

#include <cuda_runtime.h>
#include <functional>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <vector>

#include <hotfiber/device.h>
#include <hotfiber/symtensor.h>

#include "cpd/cpd_args.h"

using device::direct;
using device::in;
using device::out;
using device::run;

namespace {

/* Values from the first to the last of `count` rows. */
size_t rows(size_t count, size_t stride, size_t row) { return count ? (count - 1) * stride + row : 0; }

template <typename T, typename F>
hot_status sshopm(F *function, hot_context *context, const hot_sshopm_options *options, int order, int dim,
                  size_t count, const T *tensors, size_t stride, size_t start_count, const T *starts, T *lambda, T *x,
                  T *residual, int32_t *iterations)
{
    if (direct(context))
        return function(context, options, order, dim, count, tensors, stride, start_count, starts, lambda, x, residual,
                        iterations);
    const size_t pairs = count * start_count * sizeof(T);
    return run(context,
               {in("tensors", tensors, rows(count, stride, hot_symtensor_count(order, dim)) * sizeof(T)),
                out("lambda", lambda, pairs), out("x", x, pairs * (size_t)dim), out("residual", residual, pairs),
                out("iterations", iterations, count * start_count * sizeof *iterations)},
               [&](void *const *at) {
                   return function(context, options, order, dim, count, (const T *)at[0], stride, start_count, starts,
                                   (T *)at[1], (T *)at[2], (T *)at[3], (int32_t *)at[4]);
               });
}

template <typename T, typename F>
hot_status forms(F *function, hot_context *context, int order, int dim, int times, size_t count, const T *tensors,
                 size_t stride, size_t point_count, const T *points, T *result)
{
    if (direct(context))
        return function(context, order, dim, times, count, tensors, stride, point_count, points, result);
    const size_t unique = hot_symtensor_count(order, dim),
                 width = times == order ? 1 : hot_symtensor_count(order - times, dim);
    return run(context,
               {in("tensors", tensors, rows(count, stride, unique) * sizeof(T)),
                in("points", points, point_count * (size_t)dim * sizeof(T)),
                out("result", result, count * point_count * width * sizeof(T))},
               [&](void *const *at) {
                   return function(context, order, dim, times, count, (const T *)at[0], stride, point_count,
                                   (const T *)at[1], (T *)at[2]);
               });
}

template <typename T, typename F>
hot_status eigen(F *function, bool is_complex, hot_context *context, const hot_heev_options *options, size_t n,
                 size_t count, const T *matrices, T *values, T *vectors, uint8_t *flags)
{
    const size_t kept = options && options->largest ? options->largest : n, number = (is_complex ? 2 : 1) * sizeof(T);
    if (direct(context) || n == 0)
        return function(context, options, n, count, matrices, values, vectors, flags);
    return run(context,
               {in("matrices", matrices, count * n * n * number), out("values", values, count * kept * sizeof(T)),
                out("vectors", vectors, count * kept * n * number), out("flags", flags, count)},
               [&](void *const *at) {
                   return function(context, options, n, count, (const T *)at[0], (T *)at[1], (T *)at[2],
                                   (uint8_t *)at[3]);
               }, true, n <= 1024);
}

template <typename T, typename F>
hot_status tridiag(F *function, hot_context *context, const hot_tridiag_options *options, size_t n, size_t count,
                   const T *diagonal, const T *off, size_t stride, T *values, size_t width, int64_t *found)
{
    if (direct(context) || n == 0)
        return function(context, options, n, count, diagonal, off, stride, values, width, found);
    return run(context,
               {in("diagonal", diagonal, rows(count, stride, n) * sizeof(T)),
                in("off", off, rows(count, stride, n - 1) * sizeof(T)),
                out("values", values, count * width * sizeof(T)), out("found", found, count * sizeof *found)},
               [&](void *const *at) {
                   return function(context, options, n, count, (const T *)at[0], (const T *)at[1], stride, (T *)at[2],
                                   width, (int64_t *)at[3]);
               },
               !options || options->absolute == 0);
}

size_t power(size_t base, int exponent) { return exponent == 3 ? base * base * base : base * base; }

template <typename T, typename F>
hot_status action(F *function, hot_context *context, int dim, size_t dofs, size_t points, const T *basis,
                  size_t elements, const T *d, const T *v, T *u)
{
    if (direct(context))
        return function(context, dim, dofs, points, basis, elements, d, v, u);
    const size_t values = elements * power(dofs, dim) * sizeof(T);
    return run(context,
               {in("d", d, elements * power(points, dim) * sizeof(T)), in("v", v, values), out("u", u, values)},
               [&](void *const *at) {
                   return function(context, dim, dofs, points, basis, elements, (const T *)at[0], (const T *)at[1],
                                   (T *)at[2]);
               });
}

template <typename T, typename F>
hot_status assemble(F *function, hot_context *context, int dim, size_t dofs, size_t points, const T *basis,
                    size_t elements, const T *d, T *m)
{
    if (direct(context))
        return function(context, dim, dofs, points, basis, elements, d, m);
    return run(context,
               {in("d", d, elements * power(points, dim) * sizeof(T)),
                out("m", m, elements * power(dofs, dim) * power(dofs, dim) * sizeof(T))},
               [&](void *const *at) {
                   return function(context, dim, dofs, points, basis, elements, (const T *)at[0], (T *)at[1]);
               });
}

/* Sizes for which a test has arrays; others are for the call to refuse. */
bool are_sizes(const size_t n[3], size_t rank)
{
    const double values = (double)n[0] * (double)n[1] * (double)n[2];
    return values > 0 && values < 1e9 && rank > 0 && rank < 10000;
}

template <typename T, typename F>
hot_status cpd(F *function, hot_context *context, const hot_cpd_options *options, const size_t n[3], const T *x,
               T *lambda, T *const f[3], hot_cpd_report *report)
{
    if (direct(context) || !options || !are_sizes(n, options->rank))
        return function(context, options, n[0], n[1], n[2], x, lambda, f[0], f[1], f[2], report);
    const size_t rank = options->rank, one = rank * sizeof(T);
    return run(context,
               {in("x", x, n[0] * n[1] * n[2] * sizeof(T)), out("lambda", lambda, one), out("a", f[0], n[0] * one),
                out("b", f[1], n[1] * one), out("c", f[2], n[2] * one), out("report", report, sizeof *report),
                out("fits", options->fits, (size_t)(options->iterations ? options->iterations : 500) * sizeof(double))},
               [&](void *const *at) {
                   hot_cpd_options here = *options;
                   here.fits = (double *)at[6];
                   return function(context, &here, n[0], n[1], n[2], (const T *)at[0], (T *)at[1], (T *)at[2],
                                   (T *)at[3], (T *)at[4], (hot_cpd_report *)at[5]);
               },
               true, options->tolerance < 0 && options->start != HOT_CPD_HOSVD);
}

/* call: the product of the arrays x (NULL where the tensor is kept), a, b, c and out. */
hot_status mttkrp(hot_context *context, size_t size, int mode, const size_t n[3], size_t rank, const void *x,
                  const void *const f[3], void *to, const device_call &product)
{
    void *const plain[5] = {(void *)x, (void *)f[0], (void *)f[1], (void *)f[2], to};
    if (direct(context) || mode < 1 || mode > 3 || !are_sizes(n, rank) || !to)
        return product(plain);
    return run(context,
               {in("x", x, n[0] * n[1] * n[2] * size), in("a", f[0], n[0] * rank * size),
                in("b", f[1], n[1] * rank * size), in("c", f[2], n[2] * rank * size),
                out("out", to, n[mode - 1] * rank * size)},
               product);
}

template <typename T, typename F>
hot_status kept_product(F *function, hot_context *context, hot_mttkrp_tensor *tensor, int mode, size_t rank, const T *a,
                        const T *b, const T *c, T *to)
{
    const size_t none[3] = {0, 0, 0};
    const void *const f[3] = {a, b, c};
    return mttkrp(context, sizeof(T), mode, tensor ? tensor->n : none, rank, NULL, f, to, [&](void *const *at) {
        return function(context, tensor, mode, rank, (const T *)at[1], (const T *)at[2], (const T *)at[3], (T *)at[4]);
    });
}

/* create: of the array x. */
hot_status keep(hot_context *context, size_t size, const size_t n[3], const void *x, hot_mttkrp_tensor **tensor,
                const std::function<hot_status(const void *x)> &create)
{
    void *there = NULL;
    const size_t bytes = n[0] * n[1] * n[2] * size;
    if (direct(context) || !are_sizes(n, 1) || !x || !tensor)
        return create(x);
    if (cudaMalloc(&there, bytes) != cudaSuccess || cudaMemcpy(there, x, bytes, cudaMemcpyHostToDevice) != cudaSuccess)
        return device_trouble(context, "no memory on the GPU", "x");
    cudaDeviceSynchronize();
    const hot_status status = create(there);
    cudaMemset(there, 0xff, bytes); /* NaN: it is not read again */
    cudaFree(there);
    return status;
}

} // namespace

hot_status check_use_device(hot_context *context)
{
    cudaStream_t stream = NULL; /* as long as the process */
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess)
        return HOT_ERROR_DEVICE;
    return hot_context_set_memory(context, HOT_MEMORY_DEVICE, stream);
}

hot_status placed_signal(hot_context *context, const hot_signal_options *options, const hot_signal_scheme *scheme,
                        size_t count, const float *signals, const float *sigma, const float *s0, const uint8_t *mask,
                        const hot_signal_result *result)
{
    if (direct(context))
        return hot_signal_fibers_f32(context, options, scheme, count, signals, sigma, s0, mask, result);
    const size_t fibers = options && options->max_fibers ? (size_t)options->max_fibers : 3, one = count * sizeof(float);
    return run(context,
               {in("signals", signals, one * scheme->volumes), in("sigma", sigma, one), in("s0", s0, one),
                in("mask", mask, count), out("directions", result->directions, one * 3 * fibers),
                out("found", result->found, count), out("probability", result->probability, 4 * one),
                out("margin", result->margin, one), out("residual", result->residual, one),
                out("width", result->width, one), out("flags", result->flags, count),
                out("fits", result->fits, 4 * count * sizeof *result->fits)},
               [&](void *const *at) {
                   const hot_signal_result to = {sizeof to,      (float *)at[4], (uint8_t *)at[5], (float *)at[6],
                                                 (float *)at[7], (float *)at[8], (float *)at[9],   (uint8_t *)at[10],
                                                 NULL,           (hot_signal_fit *)at[11]};
                   return hot_signal_fibers_f32(context, options, scheme, count, (const float *)at[0],
                                                (const float *)at[1], (const float *)at[2], (const uint8_t *)at[3],
                                                &to);
               });
}

hot_status placed_fit(hot_context *context, size_t matrix_rows, size_t columns, const double *matrix, size_t count,
                     const float *input, size_t input_stride, float *output, size_t output_stride)
{
    if (direct(context))
        return hot_fit_linear_f32(context, matrix_rows, columns, matrix, count, input, input_stride, output,
                                  output_stride);
    return run(context,
               {in("input", input, rows(count, input_stride, columns) * sizeof *input),
                out("output", output, rows(count, output_stride, matrix_rows) * sizeof *output)},
               [&](void *const *at) {
                   return hot_fit_linear_f32(context, matrix_rows, columns, matrix, count, (const float *)at[0],
                                             input_stride, (float *)at[1], output_stride);
               });
}

hot_status placed_weighted(hot_context *context, size_t design_rows, size_t columns, const double *design, size_t count,
                          const float *input, const float *weight, float *coefficients, size_t output_stride,
                          uint8_t *flags)
{
    if (direct(context))
        return hot_fit_weighted_f32(context, design_rows, columns, design, count, input, weight, coefficients,
                                    output_stride, flags);
    const size_t signals = count * design_rows * sizeof(float);
    return run(context,
               {in("input", input, signals), in("weight", weight, signals),
                out("coefficients", coefficients, rows(count, output_stride, columns) * sizeof(float)),
                out("flags", flags, count)},
               [&](void *const *at) {
                   return hot_fit_weighted_f32(context, design_rows, columns, design, count, (const float *)at[0],
                                               (const float *)at[1], (float *)at[2], output_stride, (uint8_t *)at[3]);
               });
}

hot_status placed_denoise(hot_context *context, const hot_denoise_options *options, const size_t size[3],
                         size_t volumes, const float *signals, const uint8_t *mask, float *denoised, float *noise)
{
    if (direct(context))
        return hot_denoise_f32(context, options, size, volumes, signals, mask, denoised, noise);
    const size_t plane = size[0] * size[1],
                 slices = options && options->slices ? options->end - options->begin : size[2];
    const size_t each = volumes * (options && options->is_complex ? 2 : 1) * sizeof(float);
    return run(context,
               {in("signals", signals, plane * size[2] * each), in("mask", mask, plane * size[2]),
                out("denoised", denoised, plane * slices * each), out("noise", noise, plane * slices * sizeof(float))},
               [&](void *const *at) {
                   return hot_denoise_f32(context, options, size, volumes, (const float *)at[0],
                                          (const uint8_t *)at[1], (float *)at[2], (float *)at[3]);
               });
}

hot_status placed_lowrank(hot_context *context, const hot_lowrank_options *options, int order, size_t count,
                         const float *tensors, size_t stride, const uint8_t *mask, float *directions, uint8_t *found,
                         float *residual)
{
    if (direct(context))
        return hot_lowrank_f32(context, options, order, count, tensors, stride, mask, directions, found, residual);
    const size_t rank = options && options->max_rank ? (size_t)options->max_rank : 3;
    return run(context,
               {in("tensors", tensors, rows(count, stride, hot_symtensor_count(order, 3)) * sizeof(float)),
                in("mask", mask, count), out("directions", directions, count * 3 * rank * sizeof(float)),
                out("found", found, count), out("residual", residual, count * sizeof(float))},
               [&](void *const *at) {
                   return hot_lowrank_f32(context, options, order, count, (const float *)at[0], stride,
                                          (const uint8_t *)at[1], (float *)at[2], (uint8_t *)at[3], (float *)at[4]);
               });
}

hot_status placed_msmt(hot_context *context, const hot_msmt_problem *problem, size_t count, const float *signals,
                      size_t signal_stride, const uint8_t *mask, float *tensors, size_t tensor_stride, float *amounts,
                      float *residual, uint8_t *flags)
{
    if (direct(context))
        return hot_msmt_f32(context, problem, count, signals, signal_stride, mask, tensors, tensor_stride, amounts,
                            residual, flags);
    const size_t terms = hot_symtensor_count(problem->order, 3);
    return run(context,
               {in("signals", signals, rows(count, signal_stride, problem->rows) * sizeof(float)),
                in("mask", mask, count), out("tensors", tensors, rows(count, tensor_stride, terms) * sizeof(float)),
                out("amounts", amounts, count * problem->tissues * sizeof(float)),
                out("residual", residual, count * sizeof(float)), out("flags", flags, count)},
               [&](void *const *at) {
                   return hot_msmt_f32(context, problem, count, (const float *)at[0], signal_stride,
                                       (const uint8_t *)at[1], (float *)at[2], tensor_stride, (float *)at[3],
                                       (float *)at[4], (uint8_t *)at[5]);
               });
}

hot_status placed_directions(hot_context *context, const hot_directions_options *options, int order, size_t count,
                            const float *tensors, size_t stride, const uint8_t *mask, float *directions,
                            uint8_t *found)
{
    if (direct(context))
        return hot_directions_f32(context, options, order, count, tensors, stride, mask, directions, found);
    if (order == 2 || order > 8) { /* the CPU's */
        void *stream;
        hot_context_memory(context, &stream);
        hot_context_set_memory(context, HOT_MEMORY_HOST, NULL);
        const hot_status status = hot_directions_f32(context, options, order, count, tensors, stride, mask, directions,
                                                     found);
        hot_context_set_memory(context, HOT_MEMORY_DEVICE, stream);
        return status;
    }
    const size_t keep = options && options->max_directions ? (size_t)options->max_directions : 3;
    return run(context,
               {in("tensors", tensors, rows(count, stride, hot_symtensor_count(order, 3)) * sizeof(float)),
                in("mask", mask, count), out("directions", directions, count * 3 * keep * sizeof(float)),
                out("found", found, count)},
               [&](void *const *at) {
                   return hot_directions_f32(context, options, order, count, (const float *)at[0], stride,
                                             (const uint8_t *)at[1], (float *)at[2], (uint8_t *)at[3]);
               });
}

hot_status placed_sshopm_f32(hot_context *context, const hot_sshopm_options *options, int order, int dim, size_t count,
                            const float *tensors, size_t stride, size_t start_count, const float *starts,
                            float *lambda, float *x, float *residual, int32_t *iterations)
{
    return sshopm<float>(hot_sshopm_f32, context, options, order, dim, count, tensors, stride, start_count, starts,
                         lambda, x, residual, iterations);
}

hot_status placed_sshopm_f64(hot_context *context, const hot_sshopm_options *options, int order, int dim, size_t count,
                            const double *tensors, size_t stride, size_t start_count, const double *starts,
                            double *lambda, double *x, double *residual, int32_t *iterations)
{
    return sshopm<double>(hot_sshopm_f64, context, options, order, dim, count, tensors, stride, start_count, starts,
                          lambda, x, residual, iterations);
}

hot_status placed_forms_f32(hot_context *context, int order, int dim, int times, size_t count, const float *tensors,
                            size_t stride, size_t point_count, const float *points, float *result)
{
    return forms<float>(hot_symtensor_contract_f32, context, order, dim, times, count, tensors, stride, point_count,
                        points, result);
}

hot_status placed_forms_f64(hot_context *context, int order, int dim, int times, size_t count, const double *tensors,
                            size_t stride, size_t point_count, const double *points, double *result)
{
    return forms<double>(hot_symtensor_contract_f64, context, order, dim, times, count, tensors, stride, point_count,
                         points, result);
}

#define EIGEN(NAME, T, IS_COMPLEX)                                                                                     \
    hot_status placed_##NAME(hot_context *context, const hot_heev_options *options, size_t n, size_t count,            \
                            const T *matrices, T *values, T *vectors, uint8_t *flags)                                  \
    {                                                                                                                  \
        return eigen<T>(hot_##NAME, IS_COMPLEX, context, options, n, count, matrices, values, vectors, flags);         \
    }
EIGEN(heev_f64, double, true)
EIGEN(heev_f32, float, true)
EIGEN(syev_f64, double, false)
EIGEN(syev_f32, float, false)

#define OF_PRECISION(SUFFIX, T)                                                                                        \
    hot_status placed_tridiag_##SUFFIX(hot_context *context, const hot_tridiag_options *options, size_t n,             \
                                      size_t count, const T *diagonal, const T *off, size_t stride, T *values,         \
                                      size_t width, int64_t *found)                                                    \
    {                                                                                                                  \
        return tridiag<T>(hot_tridiag_##SUFFIX, context, options, n, count, diagonal, off, stride, values, width,      \
                          found);                                                                                      \
    }                                                                                                                  \
    hot_status placed_action_##SUFFIX(hot_context *context, int dim, size_t dofs, size_t points, const T *basis,       \
                                     size_t elements, const T *d, const T *v, T *u)                                    \
    {                                                                                                                  \
        return action<T>(hot_fem_mass_action_##SUFFIX, context, dim, dofs, points, basis, elements, d, v, u);          \
    }                                                                                                                  \
    hot_status placed_assemble_##SUFFIX(hot_context *context, int dim, size_t dofs, size_t points, const T *basis,     \
                                       size_t elements, const T *d, T *m)                                              \
    {                                                                                                                  \
        return assemble<T>(hot_fem_mass_assemble_##SUFFIX, context, dim, dofs, points, basis, elements, d, m);         \
    }
OF_PRECISION(f64, double)
OF_PRECISION(f32, float)

#define OF_CPD(SUFFIX, T)                                                                                              \
    hot_status placed_cpd_##SUFFIX(hot_context *context, const hot_cpd_options *options, size_t i, size_t j, size_t k, \
                                   const T *x, T *lambda, T *a, T *b, T *c, hot_cpd_report *report)                    \
    {                                                                                                                  \
        const size_t n[3] = {i, j, k};                                                                                 \
        T *const f[3] = {a, b, c};                                                                                     \
        return cpd<T>(hot_cpd_##SUFFIX, context, options, n, x, lambda, f, report);                                    \
    }                                                                                                                  \
    hot_status placed_product_##SUFFIX(hot_context *context, hot_mttkrp_tensor *tensor, int mode, size_t rank,         \
                                       const T *a, const T *b, const T *c, T *to)                                      \
    {                                                                                                                  \
        return kept_product<T>(hot_mttkrp_tensor_product_##SUFFIX, context, tensor, mode, rank, a, b, c, to);          \
    }
OF_CPD(f64, double)
OF_CPD(f32, float)

hot_status placed_mttkrp_f64(hot_context *context, int mode, size_t i, size_t j, size_t k, size_t rank, const double *x,
                             const double *a, const double *b, const double *c, double *to)
{
    const size_t n[3] = {i, j, k};
    const void *const f[3] = {a, b, c};
    return mttkrp(context, sizeof *to, mode, n, rank, x, f, to, [&](void *const *at) {
        return hot_mttkrp_f64(context, mode, i, j, k, rank, (const double *)at[0], (const double *)at[1],
                              (const double *)at[2], (const double *)at[3], (double *)at[4]);
    });
}

hot_status placed_mttkrp_f32(hot_context *context, hot_cpd_arithmetic arithmetic, int mode, size_t i, size_t j,
                             size_t k, size_t rank, const float *x, const float *a, const float *b, const float *c,
                             float *to)
{
    const size_t n[3] = {i, j, k};
    const void *const f[3] = {a, b, c};
    return mttkrp(context, sizeof *to, mode, n, rank, x, f, to, [&](void *const *at) {
        return hot_mttkrp_f32(context, arithmetic, mode, i, j, k, rank, (const float *)at[0], (const float *)at[1],
                              (const float *)at[2], (const float *)at[3], (float *)at[4]);
    });
}

hot_status placed_keep_f64(hot_context *context, size_t i, size_t j, size_t k, const double *x,
                           hot_mttkrp_tensor **tensor)
{
    const size_t n[3] = {i, j, k};
    return keep(context, sizeof *x, n, x, tensor, [&](const void *there) {
        return hot_mttkrp_tensor_create_f64(context, i, j, k, (const double *)there, tensor);
    });
}

hot_status placed_keep_f32(hot_context *context, hot_cpd_arithmetic arithmetic, size_t i, size_t j, size_t k,
                           const float *x, hot_mttkrp_tensor **tensor)
{
    const size_t n[3] = {i, j, k};
    return keep(context, sizeof *x, n, x, tensor, [&](const void *there) {
        return hot_mttkrp_tensor_create_f32(context, arithmetic, i, j, k, (const float *)there, tensor);
    });
}
