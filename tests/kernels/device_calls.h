/* The families' functions for contexts whose arrays are in device memory (hotfiber/device.h): the same calls with
 * arrays of the host, which go there, with fences around them, and back. With other contexts the functions
 * themselves. */
#pragma once

#include <hotfiber/contract.h>
#include <hotfiber/cpd.h>
#include <hotfiber/denoise.h>
#include <hotfiber/directions.h>
#include <hotfiber/fem.h>
#include <hotfiber/fit.h>
#include <hotfiber/heev.h>
#include <hotfiber/lowrank.h>
#include <hotfiber/msmt.h>
#include <hotfiber/signal.h>
#include <hotfiber/sshopm.h>
#include <hotfiber/symtensor.h>
#include <hotfiber/tridiag.h>

HOT_C_BEGIN

/* Sets the context up for arrays in the memory of GPU 0, on a new stream. */
hot_status check_use_device(hot_context *context);

hot_status placed_fit(hot_context *context, size_t rows, size_t columns, const double *matrix, size_t count,
                     const float *input, size_t input_stride, float *output, size_t output_stride);
hot_status placed_weighted(hot_context *context, size_t rows, size_t columns, const double *design, size_t count,
                          const float *input, const float *weight, float *coefficients, size_t output_stride,
                          uint8_t *flags);
hot_status placed_denoise(hot_context *context, const hot_denoise_options *options, const size_t size[3],
                         size_t volumes, const float *signals, const uint8_t *mask, float *denoised, float *noise);
hot_status placed_signal(hot_context *context, const hot_signal_options *options, const hot_signal_scheme *scheme,
                        size_t count, const float *signals, const float *sigma, const float *s0, const uint8_t *mask,
                        const hot_signal_result *result);
hot_status placed_lowrank(hot_context *context, const hot_lowrank_options *options, int order, size_t count,
                         const float *tensors, size_t stride, const uint8_t *mask, float *directions, uint8_t *found,
                         float *residual);
hot_status placed_msmt(hot_context *context, const hot_msmt_problem *problem, size_t count, const float *signals,
                      size_t signal_stride, const uint8_t *mask, float *tensors, size_t tensor_stride, float *amounts,
                      float *residual, uint8_t *flags);
hot_status placed_directions(hot_context *context, const hot_directions_options *options, int order, size_t count,
                            const float *tensors, size_t stride, const uint8_t *mask, float *directions,
                            uint8_t *found);
hot_status placed_sshopm_f32(hot_context *context, const hot_sshopm_options *options, int order, int dim, size_t count,
                            const float *tensors, size_t stride, size_t start_count, const float *starts,
                            float *lambda, float *x, float *residual, int32_t *iterations);
hot_status placed_sshopm_f64(hot_context *context, const hot_sshopm_options *options, int order, int dim, size_t count,
                            const double *tensors, size_t stride, size_t start_count, const double *starts,
                            double *lambda, double *x, double *residual, int32_t *iterations);

hot_status placed_forms_f32(hot_context *context, int order, int dim, int times, size_t count, const float *tensors,
                            size_t stride, size_t point_count, const float *points, float *result);
hot_status placed_forms_f64(hot_context *context, int order, int dim, int times, size_t count, const double *tensors,
                            size_t stride, size_t point_count, const double *points, double *result);

typedef hot_status placed_eigen_f64(hot_context *context, const hot_heev_options *options, size_t n, size_t count,
                                   const double *matrices, double *values, double *vectors, uint8_t *flags);
typedef hot_status placed_eigen_f32(hot_context *context, const hot_heev_options *options, size_t n, size_t count,
                                   const float *matrices, float *values, float *vectors, uint8_t *flags);
placed_eigen_f64 placed_heev_f64, placed_syev_f64;
placed_eigen_f32 placed_heev_f32, placed_syev_f32;

hot_status placed_tridiag_f64(hot_context *context, const hot_tridiag_options *options, size_t n, size_t count,
                             const double *diagonal, const double *off, size_t stride, double *values, size_t width,
                             int64_t *found);
hot_status placed_tridiag_f32(hot_context *context, const hot_tridiag_options *options, size_t n, size_t count,
                             const float *diagonal, const float *off, size_t stride, float *values, size_t width,
                             int64_t *found);
hot_status placed_matrices_f64(hot_context *context, const hot_contract_options *options, size_t m, size_t n, size_t k,
                              size_t batch, double alpha, const double *a, const size_t a_stride[3], const double *b,
                              const size_t b_stride[3], double beta, double *c, const size_t c_stride[3]);
hot_status placed_matrices_f32(hot_context *context, const hot_contract_options *options, size_t m, size_t n, size_t k,
                              size_t batch, float alpha, const float *a, const size_t a_stride[3], const float *b,
                              const size_t b_stride[3], float beta, float *c, const size_t c_stride[3]);
hot_status placed_contract_f64(hot_context *context, const hot_contract_options *options, const char *spec,
                               size_t batch, double alpha, const double *a, const hot_contract_layout *a_layout,
                               const double *b, const hot_contract_layout *b_layout, double beta, double *c,
                               const hot_contract_layout *c_layout);
hot_status placed_contract_f32(hot_context *context, const hot_contract_options *options, const char *spec,
                               size_t batch, float alpha, const float *a, const hot_contract_layout *a_layout,
                               const float *b, const hot_contract_layout *b_layout, float beta, float *c,
                               const hot_contract_layout *c_layout);
hot_status placed_groups_f64(hot_context *context, const hot_contract_options *options, size_t count,
                             const hot_contract_group_f64 *group);
hot_status placed_groups_f32(hot_context *context, const hot_contract_options *options, size_t count,
                             const hot_contract_group_f32 *group);
hot_status placed_three_f64(hot_context *context, const hot_contract_options *options, const char *spec, size_t batch,
                            double alpha, const double *a, const hot_contract_layout *a_layout, const double *b,
                            const hot_contract_layout *b_layout, const double *c, const hot_contract_layout *c_layout,
                            double beta, double *d, const hot_contract_layout *d_layout);
hot_status placed_three_f32(hot_context *context, const hot_contract_options *options, const char *spec, size_t batch,
                            float alpha, const float *a, const hot_contract_layout *a_layout, const float *b,
                            const hot_contract_layout *b_layout, const float *c, const hot_contract_layout *c_layout,
                            float beta, float *d, const hot_contract_layout *d_layout);
hot_status placed_contract_c128(hot_context *context, const hot_contract_options *options, const char *spec,
                                int conjugate, size_t batch, const double *alpha, const double *a,
                                const hot_contract_layout *a_layout, const double *b,
                                const hot_contract_layout *b_layout, const double *beta, double *c,
                                const hot_contract_layout *c_layout);
hot_status placed_contract_c64(hot_context *context, const hot_contract_options *options, const char *spec,
                               int conjugate, size_t batch, const float *alpha, const float *a,
                               const hot_contract_layout *a_layout, const float *b,
                               const hot_contract_layout *b_layout, const float *beta, float *c,
                               const hot_contract_layout *c_layout);
hot_status placed_action_f64(hot_context *context, int dim, size_t dofs, size_t points, const double *basis,
                            size_t elements, const double *d, const double *v, double *u);
hot_status placed_action_f32(hot_context *context, int dim, size_t dofs, size_t points, const float *basis,
                            size_t elements, const float *d, const float *v, float *u);
hot_status placed_assemble_f64(hot_context *context, int dim, size_t dofs, size_t points, const double *basis,
                              size_t elements, const double *d, double *m);
hot_status placed_assemble_f32(hot_context *context, int dim, size_t dofs, size_t points, const float *basis,
                              size_t elements, const float *d, float *m);
hot_status placed_cpd_f64(hot_context *context, const hot_cpd_options *options, size_t i, size_t j, size_t k,
                          const double *x, double *lambda, double *a, double *b, double *c, hot_cpd_report *report);
hot_status placed_cpd_f32(hot_context *context, const hot_cpd_options *options, size_t i, size_t j, size_t k,
                          const float *x, float *lambda, float *a, float *b, float *c, hot_cpd_report *report);
hot_status placed_mttkrp_f64(hot_context *context, int mode, size_t i, size_t j, size_t k, size_t rank, const double *x,
                             const double *a, const double *b, const double *c, double *out);
hot_status placed_mttkrp_f32(hot_context *context, hot_cpd_arithmetic arithmetic, int mode, size_t i, size_t j,
                             size_t k, size_t rank, const float *x, const float *a, const float *b, const float *c,
                             float *out);
hot_status placed_keep_f64(hot_context *context, size_t i, size_t j, size_t k, const double *x,
                           hot_mttkrp_tensor **tensor);
hot_status placed_keep_f32(hot_context *context, hot_cpd_arithmetic arithmetic, size_t i, size_t j, size_t k,
                           const float *x, hot_mttkrp_tensor **tensor);
hot_status placed_product_f64(hot_context *context, hot_mttkrp_tensor *tensor, int mode, size_t rank, const double *a,
                              const double *b, const double *c, double *out);
hot_status placed_product_f32(hot_context *context, hot_mttkrp_tensor *tensor, int mode, size_t rank, const float *a,
                              const float *b, const float *c, float *out);

#ifndef HOT_TESTS_CALLS_THEMSELVES
#define hot_cpd_f64 placed_cpd_f64
#define hot_cpd_f32 placed_cpd_f32
#define hot_mttkrp_f64 placed_mttkrp_f64
#define hot_mttkrp_f32 placed_mttkrp_f32
#define hot_mttkrp_tensor_create_f64 placed_keep_f64
#define hot_mttkrp_tensor_create_f32 placed_keep_f32
#define hot_mttkrp_tensor_product_f64 placed_product_f64
#define hot_mttkrp_tensor_product_f32 placed_product_f32
#define hot_fit_linear_f32 placed_fit
#define hot_fit_weighted_f32 placed_weighted
#define hot_denoise_f32 placed_denoise
#define hot_signal_fibers_f32 placed_signal
#define hot_lowrank_f32 placed_lowrank
#define hot_msmt_f32 placed_msmt
#define hot_directions_f32 placed_directions
#define hot_sshopm_f32 placed_sshopm_f32
#define hot_sshopm_f64 placed_sshopm_f64
#define hot_symtensor_contract_f32 placed_forms_f32
#define hot_symtensor_contract_f64 placed_forms_f64
#define hot_heev_f64 placed_heev_f64
#define hot_heev_f32 placed_heev_f32
#define hot_syev_f64 placed_syev_f64
#define hot_syev_f32 placed_syev_f32
#define hot_tridiag_f64 placed_tridiag_f64
#define hot_tridiag_f32 placed_tridiag_f32
#define hot_contract_matrices_f64 placed_matrices_f64
#define hot_contract_matrices_f32 placed_matrices_f32
#define hot_contract_f64 placed_contract_f64
#define hot_contract_f32 placed_contract_f32
#define hot_contract_groups_f64 placed_groups_f64
#define hot_contract_groups_f32 placed_groups_f32
#define hot_contract_three_f64 placed_three_f64
#define hot_contract_three_f32 placed_three_f32
#define hot_contract_c128 placed_contract_c128
#define hot_contract_c64 placed_contract_c64
#define hot_fem_mass_action_f64 placed_action_f64
#define hot_fem_mass_action_f32 placed_action_f32
#define hot_fem_mass_assemble_f64 placed_assemble_f64
#define hot_fem_mass_assemble_f32 placed_assemble_f32
#endif

HOT_C_END
