/* The k-th allocation failing, for every k: the eigenvalue kernels, denoising, directions by many starts, products with
 * a kept tensor, deconvolution and tuning end with HOT_ERROR_MEMORY, leak nothing, and succeed when memory suffices. */
#include "check.h"
#include "starve.h"

#include <hotfiber/contract.h>
#include <hotfiber/cpd.h>
#include <hotfiber/denoise.h>
#include <hotfiber/directions.h>
#include <hotfiber/heev.h>
#include <hotfiber/msmt.h>
#include <hotfiber/tridiag.h>

enum { N = 6, VOXELS = 5 * 5 * 4, VOLUMES = 6 };

static hot_status kept_product(hot_context *context, const float *x, const float *f, float *out)
{
    hot_mttkrp_tensor *tensor;
    hot_status status = hot_mttkrp_tensor_create_f32(context, HOT_CPD_FULL, 5, 5, 4, x, &tensor);
    for (int mode = 1; mode <= 3 && status == HOT_OK; mode++)
        status = hot_mttkrp_tensor_product_f32(context, tensor, mode, 2, f, f + 10, f + 20, out);
    hot_mttkrp_tensor_destroy(&tensor);
    return status;
}

static hot_status deconvolution(hot_context *context, const float *signals, const double *design, float *out)
{
    const hot_msmt_problem problem = {.size = sizeof problem, .order = 2, .tissues = 1, .rows = 8, .design = design,
                                      .constraint = HOT_CONSTRAINT_NONNEGATIVE};
    return hot_msmt_f32(context, &problem, 5, signals, 8, NULL, out, 6, out + 30, NULL, NULL);
}

/* Two shapes: the table has a line for each that succeeded, and no other. */
static hot_status tuning(hot_context *context)
{
    hot_contract_tuning *table = NULL;
    hot_status status = hot_contract_tuning_create(context, NULL, &table);
    size_t tuned = 0, lines = 0;
    for (size_t n = 3; status == HOT_OK && n < 5; n++) {
        const char *chosen = NULL;
        double best = -1, usual = -1;
        status = hot_contract_tune(context, table, 64, 2, n, 4, 2, 0, &chosen, &best, &usual);
        CHECK(status == HOT_OK ? chosen && best >= 0 && best <= usual : !chosen && best < 0 && usual < 0,
              "status %d, variant %s, %g of %g s", (int)status, chosen ? chosen : "none", best, usual);
        tuned += status == HOT_OK;
    }
    char *text = table ? hot_contract_tuning_text(context, table) : NULL;
    for (const char *at = text; at && *at; at++)
        lines += *at == '\n';
    CHECK(!text || lines == 1 + tuned, "%zu lines of %zu shapes", lines, tuned);
    status = status == HOT_OK && !text ? HOT_ERROR_MEMORY : status;
    hot_context_free(context, text);
    hot_contract_tuning_destroy(&table);
    return status;
}

static hot_status call(hot_context *context, int which)
{
    static double matrices[2 * 2 * N * N], values[2 * N], vectors[2 * 2 * N * N], off[2 * N];
    static float signals[VOXELS * VOLUMES * 2], denoised[VOXELS * VOLUMES * 2], noise[VOXELS];
    const size_t size[3] = {5, 5, 4};
    hot_tridiag_options some = {.size = sizeof some, .range = HOT_TRIDIAG_INDEX, .first = 1, .last = 3};
    hot_denoise_options denoising = {.size = sizeof denoising, .window = {3, 3, 3}, .is_complex = which == 8};
    const hot_directions_options by_starts = {.size = sizeof by_starts, .starts = 7};
    static float directions[5 * 9];
    uint64_t seed = 1;
    for (size_t k = 0; k < sizeof matrices / sizeof *matrices; k++)
        matrices[k] = check_random_normal(&seed);
    for (size_t k = 0; k < sizeof signals / sizeof *signals; k++)
        signals[k] = (float)(100 + check_random_normal(&seed));
    switch (which) {
    case 0: return hot_tridiag_f64(context, NULL, N, 2, matrices, off, N, values, N, NULL);
    case 1: return hot_tridiag_f64(context, &some, N, 2, matrices, off, N, values, N, NULL);
    case 2: return hot_heev_f64(context, NULL, N, 2, matrices, values, vectors, NULL);
    case 3: return hot_syev_f64(context, NULL, N, 2, matrices, values, NULL, NULL);
    case 4: return hot_denoise_f32(context, &denoising, size, VOLUMES, signals, NULL, denoised, noise);
    case 5: return hot_denoise_f32(context, &denoising, size, VOLUMES, signals, NULL, denoised, NULL);
    case 6: return hot_directions_f32(context, &by_starts, 4, 5, signals, 15, NULL, directions, NULL);
    case 7: return kept_product(context, signals, signals + 100, denoised);
    case 10: return tuning(context);
    case 9: return deconvolution(context, signals, matrices, denoised);
    default: return hot_denoise_f32(context, &denoising, size, VOLUMES, signals, NULL, denoised, noise);
    }
}

int main(void)
{
    for (int which = 0; which < 11; which++)
        for (int device = HOT_DEVICE_CPU; device <= HOT_DEVICE_REFERENCE;
             device += HOT_DEVICE_REFERENCE - HOT_DEVICE_CPU) {
            hot_status status = HOT_ERROR_MEMORY;
            int k = 0;
            for (; k < 100 && status != HOT_OK; k++) {
                starved memory = {.fail_at = -1, .for_good = 1};
                hot_context_options options = {.size = sizeof options, .device = (hot_device)device, .threads = 2,
                                               .allocate = starved_take, .release = starved_give,
                                               .allocator_user = &memory};
                hot_context *context = NULL;
                if (hot_context_create(&options, &context) != HOT_OK)
                    return 2;
                const long before = memory.live;
                memory.fail_at = memory.calls + k;
                status = call(context, which);
                CHECK(status == HOT_OK || status == HOT_ERROR_MEMORY, "call %d, allocation %d: status %d", which, k,
                      (int)status);
                CHECK(memory.live == before, "call %d, allocation %d: %ld not released", which, k,
                      memory.live - before);
                hot_context_destroy(&context);
                CHECK(memory.live == 0, "call %d: the context keeps %ld", which, memory.live);
            }
            CHECK(k > 1 && status == HOT_OK, "call %d: %d allocations", which, k - 1);
        }
    HOT_TEST_END();
}
