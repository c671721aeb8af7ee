/* The rules of all functions in context.h: pointers that are NULL, objects that go, options of a context, HOT_ZERO, and
 * the environment in which plain arithmetic and an allocator run. */
#include <fenv.h>

#include <hotfiber/hotfiber.h>

#include "check.h"

static int allocations, other_rounding;

static void *take(void *user, size_t bytes)
{
    (void)user;
    allocations++;
    other_rounding += fegetround() != FE_TONEAREST;
    return malloc(bytes);
}

static void give_back(void *user, void *memory)
{
    (void)user;
    other_rounding += fegetround() != FE_TONEAREST;
    free(memory);
}

static void check_pointers(hot_context *context)
{
    float tensors[2 * 15] = {1, 2}, lines[2][18];
    uint8_t all[2] = {1, 1};
    /* without elements */
    CHECK(hot_directions_f32(context, NULL, 4, 0, NULL, 15, NULL, NULL, NULL) == HOT_OK &&
              hot_lowrank_f32(context, NULL, 4, 0, NULL, 15, NULL, NULL, NULL, NULL) == HOT_OK, "no tensors: %s",
          hot_context_message(context));
    /* no mask is all voxels */
    tensors[15 + 14] = 3;
    CHECK(hot_directions_f32(context, NULL, 4, 2, tensors, 15, NULL, lines[0], NULL) == HOT_OK &&
              hot_directions_f32(context, NULL, 4, 2, tensors, 15, all, lines[1], NULL) == HOT_OK &&
              memcmp(lines[0], lines[1], sizeof lines[0]) == 0 && lines[0][9 + 2] == 3, "no mask: %g",
          (double)lines[0][9 + 2]);
    /* what returns no status returns what it returns of nothing */
    CHECK(hot_context_message(NULL) && hot_context_message(NULL)[0] == '\0' && hot_context_parameter(NULL)[0] == '\0',
          "a message of nothing");
    CHECK(hot_tensor_field_values(NULL) == NULL && hot_fiber_field_peaks(NULL) == NULL &&
              hot_mask_bytes(NULL) == NULL && hot_dwi_volumes(NULL) == 0, "arrays of nothing");
    size_t count = 7;
    const double *b;
    const int *shell_of;
    CHECK(!hot_dwi_grid(NULL) && !hot_dwi_b(NULL) && !hot_dwi_gradients(NULL) && !hot_dwi_has_b0(NULL) &&
              hot_dwi_source(NULL)[0] == '\0' && hot_dwi_shells(NULL, &b, &shell_of) == 0 && hot_mask_count(NULL) == 0,
          "data of nothing");
    CHECK(!hot_tensor_field_grid(NULL) && hot_tensor_field_order(NULL) == 0 && !hot_tensor_field_model(NULL) &&
              !hot_tensor_field_response(NULL) && hot_tensor_field_tissues(NULL) == 0 && !hot_fiber_field_grid(NULL) &&
              !hot_fiber_field_counts(NULL) && hot_fiber_field_max(NULL) == 0, "fields of nothing");
    CHECK(hot_response_shells(NULL) == 0 && hot_response_lmax(NULL) == 0 && !hot_response_row(NULL, 0, NULL) &&
              !hot_glyphs_faces(NULL) && !hot_glyphs_colors(NULL) && hot_glyphs_count(NULL) == 0 &&
              hot_glyphs_vertices(NULL) == 0 && !hot_phantom_truth(NULL) && !hot_score_groups(NULL, &count) &&
              count == 0 && isnan(hot_score_mean(NULL, NULL)) && hot_context_seed(NULL) == 0 &&
              hot_context_cancelled(NULL) == 0, "objects of nothing");
}

static void check_destroy(void)
{
    hot_fiber_field *fibers = NULL;
    hot_dwi *dwi = NULL;
    hot_mask *mask = NULL;
    hot_phantom *phantom = NULL;
    hot_score *score = NULL;
    hot_response *response = NULL;
    hot_tensor_field *field = NULL;
    hot_context *context = NULL;
    /* twice: NULL, and a pointer to NULL */
    hot_fiber_field_destroy(NULL), hot_fiber_field_destroy(&fibers);
    hot_dwi_destroy(NULL), hot_dwi_destroy(&dwi);
    hot_mask_destroy(NULL), hot_mask_destroy(&mask);
    hot_phantom_destroy(NULL), hot_phantom_destroy(&phantom);
    hot_score_destroy(NULL), hot_score_destroy(&score);
    hot_response_destroy(NULL), hot_response_destroy(&response);
    hot_tensor_field_destroy(NULL), hot_tensor_field_destroy(&field);
    hot_context_destroy(NULL), hot_context_destroy(&context);
    hot_run_fields_free(NULL), hot_signal_maps_free(NULL);
    CHECK(hot_context_create(NULL, &context) == HOT_OK && context, "defaults");
    CHECK(hot_context_seed(context) == 0 && hot_context_threads(context) >= 1, "defaults");
    hot_phantom_options options = HOT_PHANTOM_OPTIONS_INIT;
    CHECK(hot_phantom_create(context, &options, &phantom) == HOT_OK && phantom, "%s", hot_context_message(context));
    hot_phantom_destroy(&phantom);
    hot_context_destroy(&context);
    CHECK(!phantom && !context, "set to NULL");
}

/* HOT_..._INIT, also in C++ (init.cc): the size, and all else zero; that is what NULL and zeros are (unit_options_rule
 * has every struct). */
size_t hot_promised_init_in_cxx(unsigned char *bytes);

static void check_init(void)
{
    hot_fit_options zeros, made = HOT_FIT_OPTIONS_INIT, from_cxx;
    memset(&zeros, 0, sizeof zeros);
    zeros.size = sizeof zeros;
    from_cxx = zeros;
#ifdef HOT_HAS_CXX
    memset(&from_cxx, 0x5a, sizeof from_cxx);
    CHECK(hot_promised_init_in_cxx((unsigned char *)&from_cxx) == sizeof zeros, "the size in C++");
#endif
    const hot_fit_options *const both[2] = {&made, &from_cxx};
    for (int i = 0; i < 2; i++)
        CHECK(both[i]->size == zeros.size && !both[i]->model && both[i]->order == 0 && !both[i]->response &&
                  both[i]->regularise == 0 && both[i]->positive == 0 && both[i]->weighted == 0 && !both[i]->tissues &&
                  both[i]->tissue_count == 0 && !both[i]->directions && both[i]->direction_count == 0 &&
                  both[i]->normalise == 0, "initialiser %d", i);
}

static void check_context_options(void)
{
    static const int nothing;
    for (int which = 0; which < 9; which++) {
        hot_context_options o = HOT_CONTEXT_OPTIONS_INIT;
        o.device = HOT_DEVICE_CPU;
        hot_context *context = (hot_context *)(uintptr_t)&nothing;
        switch (which) {
        case 0: o.size = 0; break;
        case 1: o.size -= 1; break;
        case 2: o.size += 8; break;
        case 3: o.device = (hot_device)(HOT_DEVICE_REFERENCE + 1); break;
        case 4: o.device = (hot_device)-1; break;
        case 5: o.device_number = HOT_ALL_GPUS - 1; break;
        case 6: o.threads = -1; break;
        case 7: o.allocate = take; break;
        default: o.release = give_back;
        }
        CHECK(hot_context_create(&o, &context) == HOT_ERROR_ARGUMENT && !context, "options %d", which);
    }
}

static void check_environment(void)
{
    const hot_context_options o = {.size = sizeof o, .device = HOT_DEVICE_CPU, .threads = 2, .allocate = take,
                                   .release = give_back};
    hot_context *context = NULL;
    float tensor[15] = {1, 0.1f}, lines[9];
    double wide[15] = {1.0 / 3, 1.0 / 7, 1.0 / 11}, value[2];
    const double x[3] = {0.1, 0.3, 0.7};
    CHECK(hot_context_create(&o, &context) == HOT_OK, "a context");
    const int before = allocations;
    const int modes[2] = {FE_UPWARD, FE_DOWNWARD};
    for (int k = 0; k < 2; k++) {
        fesetround(modes[k]);
        CHECK(hot_directions_f32(context, NULL, 4, 1, tensor, 15, NULL, lines, NULL) == HOT_OK, "directions");
        value[k] = hot_symtensor_value_f64(4, 3, wide, x);
        CHECK(fegetround() == modes[k], "the caller's rounding is kept");
    }
    fesetround(FE_TONEAREST);
    CHECK(allocations > before && other_rounding == 0, "%d of %d allocations in another rounding", other_rounding,
          allocations - before);
    CHECK(value[0] > value[1], "a single value in the caller's rounding: %.17g, %.17g", value[0], value[1]);
    hot_context_destroy(&context);
}

int main(void)
{
    const hot_context_options o = {.size = sizeof o, .device = HOT_DEVICE_CPU};
    hot_context *context = NULL;
    CHECK((double)HOT_ZERO == (double)(int)(float)HOT_ZERO && (float)HOT_ZERO == (float)(double)HOT_ZERO &&
              (int)(float)HOT_ZERO == HOT_ZERO, "HOT_ZERO in every type");
    CHECK(hot_context_create(&o, &context) == HOT_OK, "a context");
    check_pointers(context);
    hot_context_destroy(&context);
    check_destroy();
    check_init();
    check_context_options();
    check_environment();
    HOT_TEST_END();
}
