/* The pipeline on arrays: data from memory give what the same data from a file give, stage by stage and as a whole;
 * several threads share one data set; nothing is lost when a stage is refused. */
#include "check.h"

#include <pthread.h>

#include <hotfiber/hotfiber.h>

static hot_grid grid;
static size_t volumes, voxels;
static double *b, *gradients;
static float *signals;
static hot_dwi *shared;

static hot_context *context_new(void)
{
    hot_context *context = NULL;
    const hot_context_options options = {.size = sizeof options, .device = HOT_DEVICE_CPU, .threads = 2, .seed = 1};
    CHECK(hot_context_create(&options, &context) == HOT_OK, "context");
    return context;
}

/* The arrays of a phantom, as a pipeline has them. */
static void make_arrays(void)
{
    hot_context *context = context_new();
    hot_phantom *phantom = NULL;
    const hot_phantom_options shape = {.size = sizeof shape, .layout = HOT_PHANTOM_BUNDLES, .volume = {16, 16, 8},
                                       .directions = 40, .b0 = 3, .oblique = 1};
    CHECK(hot_phantom_create(context, &shape, &phantom) == HOT_OK, "%s", hot_context_message(context));
    const hot_dwi *dwi = hot_phantom_dwi(phantom);
    grid = *hot_dwi_grid(dwi);
    volumes = hot_dwi_volumes(dwi);
    voxels = grid.size[0] * grid.size[1] * grid.size[2];
    b = malloc(volumes * sizeof *b);
    gradients = malloc(3 * volumes * sizeof *gradients);
    signals = malloc(volumes * voxels * sizeof *signals);
    float *together = malloc(volumes * voxels * sizeof *together);
    memcpy(b, hot_dwi_b(dwi), volumes * sizeof *b);
    memcpy(gradients, hot_dwi_gradients(dwi), 3 * volumes * sizeof *gradients);
    CHECK(hot_dwi_read(context, dwi, 0, voxels, together) == HOT_OK, "%s", hot_context_message(context));
    for (size_t voxel = 0; voxel < voxels; voxel++)
        for (size_t v = 0; v < volumes; v++)
            signals[v * voxels + voxel] = together[voxel * volumes + v];
    free(together);
    hot_phantom_destroy(&phantom);
    hot_context_destroy(&context);
}

static uint64_t sum_of(const hot_run_fields *fields)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a of every bit of the directions */
    const unsigned char *bytes = (const unsigned char *)hot_fiber_field_peaks(fields->fibers);
    for (size_t i = 0; i < voxels * 3 * (size_t)hot_fiber_field_max(fields->fibers) * sizeof(float); i++)
        hash = (hash ^ bytes[i]) * 1099511628211u;
    return hash;
}

static void *in_thread(void *result)
{
    hot_context *context = context_new();
    hot_run_fields fields;
    if (hot_run_compute(context, shared, NULL, &fields, NULL) == HOT_OK)
        *(uint64_t *)result = sum_of(&fields);
    hot_run_fields_free(&fields);
    hot_context_destroy(&context);
    return NULL;
}

int main(void)
{
    make_arrays();
    hot_context *context = context_new();
    hot_run_fields all, again;
    hot_run_result result;
    CHECK(hot_dwi_create(context, &grid, volumes, b, gradients, signals, &shared) == HOT_OK, "%s",
          hot_context_message(context));
    memset(signals, 0, voxels * volumes * sizeof *signals); /* copied */
    CHECK(hot_run_compute(context, shared, NULL, &all, &result) == HOT_OK, "%s", hot_context_message(context));
    CHECK(all.mask && all.response && all.tensors && all.fibers && all.maps.probability, "every field");
    CHECK(result.voxels == hot_mask_count(all.mask) && result.fibers[1] > 100 && result.fibers[2] > 10,
          "%zu voxels, %zu, %zu", result.voxels, result.fibers[1], result.fibers[2]);

    /* The same step by step, with the estimates from above. */
    hot_mask *mask = NULL;
    hot_response *response = NULL;
    const size_t shells = hot_response_shells(all.response);
    const size_t row = (size_t)hot_response_lmax(all.response) / 2 + 1;
    double shell_b[8], rows[8 * 9];
    CHECK(shells <= 8 && row <= 9, "%zu shells of %zu", shells, row);
    for (size_t s = 0; s < shells; s++)
        memcpy(rows + s * row, hot_response_row(all.response, s, &shell_b[s]), row * sizeof *rows);
    CHECK(hot_mask_create(context, &grid, hot_mask_bytes(all.mask), &mask) == HOT_OK &&
              hot_mask_count(mask) == result.voxels,
          "%s", hot_context_message(context));
    CHECK(hot_response_create(context, shells, hot_response_lmax(all.response), shell_b, rows, &response) == HOT_OK,
          "%s", hot_context_message(context));
    CHECK(hot_response_set_noise(response, -1) == HOT_ERROR_ARGUMENT &&
              hot_response_set_noise(response, 1) == HOT_ERROR_ARGUMENT &&
              hot_response_set_noise(response, NAN) == HOT_ERROR_ARGUMENT && hot_response_noise(response) == 0,
          "noise that cannot be");
    CHECK(hot_response_noise(all.response) > 0 &&
              hot_response_set_noise(response, hot_response_noise(all.response)) == HOT_OK,
          "%g", hot_response_noise(all.response));
    hot_run_options options = {.size = sizeof options, .mask_in_memory = mask};
    hot_fit_options fit = {.size = sizeof fit, .response = response};
    options.fit = &fit;
    CHECK(hot_run_compute(context, shared, &options, &again, NULL) == HOT_OK, "%s", hot_context_message(context));
    CHECK(sum_of(&all) == sum_of(&again), "mask and response from memory");
    hot_run_fields_free(&again);

    hot_tensor_field *tensors = NULL;
    fit.order = 6;
    CHECK(hot_tensor_field_fit(context, shared, mask, &fit, &tensors) == HOT_OK, "%s",
          hot_context_message(context));
    CHECK(memcmp(hot_tensor_field_values(tensors), hot_tensor_field_values(all.tensors), voxels * 29 * sizeof(float)) ==
              0,
          "the single stage");
    hot_tensor_field *copy = NULL;
    CHECK(hot_tensor_field_create(context, &grid, 6, "fod", hot_tensor_field_values(tensors), &copy) == HOT_OK, "%s",
          hot_context_message(context));
    hot_fiber_field *found[2] = {NULL, NULL};
    CHECK(hot_fiber_field_find(context, tensors, NULL, &found[0]) == HOT_OK &&
              hot_fiber_field_find(context, copy, NULL, &found[1]) == HOT_OK,
          "%s", hot_context_message(context));
    CHECK(memcmp(hot_fiber_field_peaks(found[0]), hot_fiber_field_peaks(found[1]), voxels * 9 * sizeof(float)) == 0,
          "tensors from memory");

    /* Impossible options are refused, and leave nothing behind. */
    hot_run_fields none;
    hot_mask *small = NULL;
    hot_grid half = grid;
    half.size[0] /= 2;
    CHECK(hot_mask_create(context, &half, hot_mask_bytes(mask), &small) == HOT_OK, "a smaller mask");
    options.mask_in_memory = small;
    CHECK(hot_run_compute(context, shared, &options, &none, NULL) == HOT_ERROR_DATA && !none.tensors && !none.fibers,
          "a mask of another size: %s", hot_context_message(context));
    hot_response *of_small = NULL;
    hot_tensor_field *small_tensors = NULL;
    hot_fiber_field *small_fibers = NULL;
    hot_dwi *clean = NULL;
    double sigma, snr;
    size_t repeats;
    CHECK(hot_response_estimate(context, shared, small, 8, &of_small, NULL) == HOT_ERROR_DATA && !of_small,
          "response");
    CHECK(hot_tensor_field_fit(context, shared, small, NULL, &small_tensors) == HOT_ERROR_DATA && !small_tensors,
          "fit");
    CHECK(hot_fiber_field_signal(context, shared, small, response, NULL, NULL, &small_fibers) == HOT_ERROR_DATA &&
              !small_fibers, "signal");
    const hot_peaks_options looking = {.size = sizeof looking, .mask = small};
    CHECK(hot_fiber_field_find(context, all.tensors, &looking, &small_fibers) == HOT_ERROR_DATA && !small_fibers,
          "find");
    CHECK(hot_dwi_noise(context, shared, small, &sigma, &snr, &repeats) == HOT_ERROR_DATA, "noise");
    CHECK(hot_dwi_denoise(context, shared, small, NULL, &clean, NULL) == HOT_ERROR_DATA && !clean, "denoise");
    CHECK(strstr(hot_context_message(context), "the mask has"), "%s", hot_context_message(context));
    options.mask_in_memory = mask;
    options.axial_diffusivity = 1.7e-3;
    CHECK(hot_run_compute(context, shared, &options, &none, NULL) == HOT_ERROR_ARGUMENT && !none.mask, "two responses");
    rows[1] = NAN;
    hot_response *bad = NULL;
    CHECK(hot_response_create(context, shells, 8, shell_b, rows, &bad) == HOT_ERROR_ARGUMENT && !bad, "no number");
    CHECK(strstr(hot_context_message(context), "coefficient 1"), "%s", hot_context_message(context));
    CHECK(hot_response_create(context, 0, 8, shell_b, rows, &bad) == HOT_ERROR_ARGUMENT && !bad, "no shell");
    CHECK(hot_response_create(context, shells, 7, shell_b, rows, &bad) == HOT_ERROR_ARGUMENT && !bad, "an odd degree");
    CHECK(hot_run_compute(context, NULL, NULL, &none, NULL) == HOT_ERROR_ARGUMENT, "no data");
    /* the priors are available in memory, too */
    options = (hot_run_options){.size = sizeof options, .learned = "nothing.json"};
    CHECK(hot_run_compute(context, shared, &options, &none, NULL) == HOT_ERROR_FILE && !none.mask, "no such model");
    hot_run_fields_free(NULL);

    /* One data set, three threads. */
    uint64_t sums[3] = {0};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, in_thread, &sums[i]) == 0, "thread");
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        CHECK(sums[i] == sum_of(&all), "thread %d", i);
    }
    for (int i = 0; i < 2; i++)
        hot_fiber_field_destroy(&found[i]);
    hot_tensor_field_destroy(&tensors);
    hot_tensor_field_destroy(&copy);
    hot_mask_destroy(&small);
    hot_mask_destroy(&mask);
    hot_response_destroy(&response);
    hot_run_fields_free(&all);
    hot_dwi_destroy(&shared);
    hot_context_destroy(&context);
    FREE(signals, gradients, b);
    HOT_TEST_END();
}
