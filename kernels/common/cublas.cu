/* See cublas.h. */
#include "cublas.h"

#include "context_internal.h"
#include "loaded_library.h"

#if defined(HOT_HAVE_CUBLAS) && HOT_HAVE_CUBLAS

#include <cublas_v2.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>

/* The C function; the header also has C++ overloads of it. */
typedef cublasStatus_t gemm_function(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void *,
                                     const void *, cudaDataType, int, long long, const void *, cudaDataType, int,
                                     long long, const void *, void *, cudaDataType, int, long long, int,
                                     cublasComputeType_t, cublasGemmAlgo_t);

struct hot_cublas {
    void *library;
    cublasHandle_t handle;
    decltype(&cublasDestroy_v2) destroy;
    decltype(&cublasSetStream_v2) set_stream;
    decltype(&cublasSetWorkspace_v2) set_workspace;
    gemm_function *multiply;
};

static void *find(void *library, const char *name) { return library ? dlsym(library, name) : NULL; }

hot_status hot_cublas_create(hot_context *context, void *stream, hot_cublas **out)
{
    *out = NULL;
    char name[64];
    snprintf(name, sizeof name, "libcublas.so.%d", CUBLAS_VER_MAJOR);
    hot_cublas *cublas = (hot_cublas *)hot_context_calloc(context, 1, sizeof *cublas);
    if (!cublas)
        return HOT_ERROR_MEMORY;
    cublas->library = hot_library_load(name, HOT_CUBLAS_PATH);
    const auto create = (decltype(&cublasCreate_v2))find(cublas->library, "cublasCreate_v2");
    cublas->set_stream = (decltype(&cublasSetStream_v2))find(cublas->library, "cublasSetStream_v2");
    cublas->set_workspace = (decltype(&cublasSetWorkspace_v2))find(cublas->library, "cublasSetWorkspace_v2");
    cublas->destroy = (decltype(&cublasDestroy_v2))find(cublas->library, "cublasDestroy_v2");
    cublas->multiply = (gemm_function *)find(cublas->library, "cublasGemmStridedBatchedEx");
    hot_status status = HOT_OK;
    if (!create || !cublas->set_stream || !cublas->set_workspace || !cublas->destroy || !cublas->multiply)
        status = hot_context_fail(context, HOT_ERROR_DEVICE, "cuBLAS (%s) cannot be loaded", name);
    else if (create(&cublas->handle) != CUBLAS_STATUS_SUCCESS ||
             cublas->set_stream(cublas->handle, (cudaStream_t)stream) != CUBLAS_STATUS_SUCCESS)
        status = hot_context_fail(context, HOT_ERROR_DEVICE, "cuBLAS does not start");
    if (status == HOT_OK)
        *out = cublas;
    else
        hot_cublas_destroy(context, &cublas);
    return status;
}

void hot_cublas_destroy(hot_context *context, hot_cublas **cublas)
{
    if (!*cublas)
        return;
    if ((*cublas)->handle)
        (*cublas)->destroy((*cublas)->handle);
    if ((*cublas)->library)
        dlclose((*cublas)->library);
    hot_context_free(context, *cublas);
    *cublas = NULL;
}

static void free_kept(hot_context *context, void *kept)
{
    hot_cublas *cublas = (hot_cublas *)kept;
    hot_cublas_destroy(context, &cublas);
}

hot_status hot_cublas_set_stream(hot_context *context, hot_cublas *cublas, void *stream)
{
    return cublas->set_stream(cublas->handle, (cudaStream_t)stream) == CUBLAS_STATUS_SUCCESS
        ? HOT_OK
        : hot_context_fail(context, HOT_ERROR_DEVICE, "cuBLAS does not take a stream");
}

hot_status hot_cublas_kept(hot_context *context, void *stream, void *workspace, hot_cublas **cublas)
{
    hot_cublas *kept = (hot_cublas *)hot_context_kept(context, HOT_KEPT_CUBLAS);
    hot_status status = HOT_OK;
    *cublas = NULL;
    if (!kept) {
        status = hot_cublas_create(context, stream, &kept);
        if (status == HOT_OK)
            hot_context_keep(context, HOT_KEPT_CUBLAS, kept, free_kept);
    }
    if (status == HOT_OK)
        status = hot_cublas_set_stream(context, kept, stream); /* which takes working memory away */
    if (status == HOT_OK &&
        kept->set_workspace(kept->handle, workspace, HOT_CUBLAS_WORKSPACE) != CUBLAS_STATUS_SUCCESS)
        status = hot_context_fail(context, HOT_ERROR_DEVICE, "cuBLAS does not take working memory");
    if (status == HOT_OK)
        *cublas = kept;
    return status;
}

hot_status hot_cublas_multiply(hot_context *context, hot_cublas *cublas, hot_cublas_precision precision,
                               int transpose_a, int transpose_b, size_t m, size_t n, size_t k, double alpha,
                               const void *a, size_t lda, size_t stride_a, const void *b, size_t ldb, size_t stride_b,
                               double beta, void *c, size_t ldc, size_t stride_c, size_t batch)
{
    const float narrow_alpha = (float)alpha, narrow_beta = (float)beta;
    const bool f64 = precision == HOT_CUBLAS_F64;
    const cudaDataType type = f64 ? CUDA_R_64F : precision == HOT_CUBLAS_F16 ? CUDA_R_16F : CUDA_R_32F;
    const cudaDataType type_c = f64 ? CUDA_R_64F : CUDA_R_32F;
    const cublasComputeType_t compute = f64 ? CUBLAS_COMPUTE_64F
        : precision == HOT_CUBLAS_TF32      ? CUBLAS_COMPUTE_32F_FAST_TF32
                                            : CUBLAS_COMPUTE_32F;
    if (m > INT_MAX || n > INT_MAX || k > INT_MAX || lda > INT_MAX || ldb > INT_MAX || ldc > INT_MAX || batch > INT_MAX)
        return hot_context_fail(context, HOT_ERROR_DEVICE, "a product of %zu x %zu x %zu is more than cuBLAS takes", m,
                                n, k);
    const cublasStatus_t outcome = cublas->multiply(
        cublas->handle, transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N, transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N, (int)m,
        (int)n, (int)k, f64 ? (const void *)&alpha : &narrow_alpha, a, type, (int)lda, (long long)stride_a, b, type,
        (int)ldb, (long long)stride_b, f64 ? (const void *)&beta : &narrow_beta, c, type_c, (int)ldc,
        (long long)stride_c, (int)batch, compute, CUBLAS_GEMM_DEFAULT);
    return outcome == CUBLAS_STATUS_SUCCESS
        ? HOT_OK
        : hot_context_fail(context, HOT_ERROR_DEVICE, "cuBLAS: error %d", (int)outcome);
}

#else

hot_status hot_cublas_kept(hot_context *context, void *stream, void *workspace, hot_cublas **cublas)
{
    (void)workspace;
    return hot_cublas_create(context, stream, cublas);
}

hot_status hot_cublas_set_stream(hot_context *context, hot_cublas *cublas, void *stream)
{
    (void)context, (void)cublas, (void)stream;
    return HOT_OK;
}

hot_status hot_cublas_create(hot_context *context, void *stream, hot_cublas **cublas)
{
    (void)stream;
    *cublas = NULL;
    return hot_context_fail(context, HOT_ERROR_DEVICE, "this build has no cuBLAS");
}

void hot_cublas_destroy(hot_context *context, hot_cublas **cublas)
{
    (void)context;
    *cublas = NULL;
}

hot_status hot_cublas_multiply(hot_context *context, hot_cublas *cublas, hot_cublas_precision precision,
                               int transpose_a, int transpose_b, size_t m, size_t n, size_t k, double alpha,
                               const void *a, size_t lda, size_t stride_a, const void *b, size_t ldb, size_t stride_b,
                               double beta, void *c, size_t ldc, size_t stride_c, size_t batch)
{
    (void)cublas, (void)precision, (void)transpose_a, (void)transpose_b, (void)m, (void)n, (void)k, (void)alpha,
        (void)a;
    (void)lda, (void)stride_a, (void)b, (void)ldb, (void)stride_b, (void)beta, (void)c, (void)ldc, (void)stride_c,
        (void)batch;
    return hot_context_fail(context, HOT_ERROR_DEVICE, "this build has no cuBLAS");
}

#endif
