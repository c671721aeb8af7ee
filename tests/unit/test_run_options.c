/* The table of a run's options: changing a field of the structs changes the key exactly if the field decides the
 * result. The checksum of a data set: of every sample, gradient and position, for every way to read them. */
#include "check.h"
#include "common/context_internal.h"
#include "core/fingerprint.h"
#include "dwi/dwi_private.h"
#include "dwi/fingerprint.h"
#include "dwi/paged.h"
#include "model/model.h"
#include "run/option_table.h"

#include <unistd.h>

static const double two[6] = {1, 0, 0, 0, 1, 0};

static void point(hot_run_inputs *inputs)
{
    inputs->options.fit = &inputs->fit;
    inputs->options.peaks = &inputs->peaks;
    inputs->options.signal = &inputs->signal;
}

static char *describe(const hot_run_state *state, unsigned use)
{
    cJSON *object = NULL;
    CHECK(hot_run_describe(state, use, &object) == HOT_OK, "%s", hot_context_message(state->context));
    char *text = hot_report_line(object);
    cJSON_Delete(object);
    return text;
}

/* Sets a member to something else. */
static void change(void *member, const hot_run_row *row, const hot_run_state *state)
{
    static const char text[] = "lowrank", file[] = "option_file";
    switch (row->type) {
    case HOT_IS_INT: case HOT_IS_FLAG: case HOT_IS_NAME: *(int *)member = *(int *)member == 0; break;
    case HOT_IS_SIZE: *(size_t *)member += 1; break;
    case HOT_IS_DOUBLE: *(double *)member = nextafter(*(double *)member, 1e9); break;
    case HOT_IS_TEXT: *(const char **)member = text; break;
    case HOT_IS_IMAGE: case HOT_IS_FILES: *(const char **)member = file; break;
    case HOT_IS_MEMORY:
        if (strcmp(row->name, "directions") == 0)
            *(const double **)member = two;
        else if (strcmp(row->name, "mask_in_memory") == 0)
            *(const hot_mask **)member = state->learned.mask;
        else if (strcmp(row->name, "response") == 0)
            *(const hot_response **)member = state->learned.response;
        else if (strcmp(row->name, "tissues") == 0)
            *(const hot_response *const **)member = (const hot_response *const *)&state->learned.response;
        else
            *(const void **)member = two;
        break;
    }
}

static void check_table(hot_context *context)
{
    static const unsigned uses[] = {HOT_LEARNS, HOT_FINDS, HOT_RESUMES};
    const hot_grid grid = {.size = {2, 2, 1}, .to_world = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
    const hot_run_row *row;
    hot_mask *mask = NULL;
    hot_response *response = NULL;
    FILE *file = fopen("option_file", "wb");
    CHECK(file && fputs("content", file) >= 0 && fclose(file) == 0, "a file");
    CHECK(hot_mask_full(context, &grid, &mask) == HOT_OK, "a mask");
    CHECK(hot_response_make(context, 1, 4, &response) == HOT_OK, "a response");
    size_t rows = 0, deciding = 0;
    for (size_t i = 0; (row = hot_run_row_at(i)); i++, rows++)
        for (size_t u = 0; u < sizeof uses / sizeof *uses; u++) {
            hot_run_state state = {.context = context, .learned = {.mask = mask, .response = response},
                                   .inputs.fit = {.tissue_count = 1, .direction_count = 2}};
            point(&state.inputs);
            char *before = describe(&state, uses[u]);
            change((void *)(uintptr_t)hot_run_member(&state.inputs.options, row), row, &state);
            char *after = describe(&state, uses[u]);
            const int differs = strcmp(before, after) != 0, decides = (row->use & uses[u]) != 0;
            CHECK(differs == decides, "%s, use %u: %s after %s", row->name, uses[u], after, before);
            deciding += (size_t)decides;
            cJSON_free(before);
            cJSON_free(after);
        }
    CHECK(rows > 50 && deciding > 35, "%zu rows, %zu that decide", rows, deciding);

    /* A file counts by what is in it. */
    hot_run_state state = {.context = context,
                           .inputs.options = {.response = "option_file,option_file", .mask = "option_file"}};
    point(&state.inputs);
    char *before = describe(&state, HOT_RESUMES);
    file = fopen("option_file", "r+b");
    CHECK(file && fputc('C', file) == 'C' && fclose(file) == 0, "another content");
    char *after = describe(&state, HOT_RESUMES);
    CHECK(strcmp(before, after) != 0, "a file's content: %s", after);
    cJSON_free(before);
    cJSON_free(after);
    unlink("option_file");
    hot_mask_destroy(&mask);
    hot_response_destroy(&response);
}

enum { NX = 40, NY = 30, NZ = 7, VOLUMES = 5, PLANE = NX * NY, VOXELS = PLANE * NZ };
static int16_t samples[VOLUMES * VOXELS];

static hot_status span(void *from, size_t at, void *to, size_t bytes)
{
    memcpy(to, (char *)from + at, bytes);
    return HOT_OK;
}

static void release(hot_context *context, void *from) { (void)context, (void)from; }

static uint64_t sum_of(hot_context *context, const hot_dwi *dwi)
{
    uint64_t sum = 0;
    CHECK(hot_dwi_fingerprint(context, dwi, &sum) == HOT_OK, "%s", hot_context_message(context));
    return sum;
}

static void check_data(hot_context *context)
{
    const hot_grid grid = {.size = {NX, NY, NZ}, .to_world = {{2, 0, 0}, {0, 2, 0}, {0, 0, 2}}, .space = HOT_SPACE_LPS};
    hot_dwi *dwi = NULL;
    CHECK(hot_dwi_begin(context, &grid, VOLUMES, VOXELS, "nowhere", &dwi) == HOT_OK, "begin");
    for (size_t i = 0; i < VOLUMES * VOXELS; i++)
        samples[i] = (int16_t)(hot_fingerprint_mix(i) % 1000);
    for (size_t v = 1; v < VOLUMES; v++)
        dwi->b[v] = 1000, dwi->gradients[3 * v + v % 3] = 1;
    dwi->sample = HOT_SAMPLE_I16;
    dwi->stride[0] = 1, dwi->stride[1] = NX, dwi->stride[2] = PLANE;
    CHECK(hot_dwi_complete(context, dwi) == HOT_OK, "complete");
    dwi->data = samples;
    const uint64_t sum = sum_of(context, dwi);
    hot_context_set_threads(context, 3);
    CHECK(sum_of(context, dwi) == sum, "threads decide nothing");
    for (size_t bit = 0; bit < 12; bit++)
        for (size_t i = bit; i < VOLUMES * VOXELS; i += 1999) {
            samples[i] ^= (int16_t)(1 << bit);
            CHECK(sum_of(context, dwi) != sum, "bit %zu of sample %zu", bit, i);
            samples[i] ^= (int16_t)(1 << bit);
        }
    double *const numbers[] = {&dwi->b[2], &dwi->gradients[4], &dwi->gradients[14], &dwi->grid.to_world[1][3],
                               &dwi->slope};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const double kept = *numbers[i];
        *numbers[i] = nextafter(kept, 2e4) + (numbers[i] == &dwi->slope);
        CHECK(sum_of(context, dwi) != sum, "number %zu", i);
        *numbers[i] = kept;
    }
    for (size_t i = 0; i < 3; i++) { /* what changes places: samples, voxels, volumes */
        static const size_t from[] = {3, 17, 0}, to[] = {4, 1017, VOXELS}, count[] = {1, 1000, VOXELS};
        for (size_t twice = 0; twice < 2; twice++) {
            for (size_t n = 0; n < count[i]; n++) {
                const int16_t kept = samples[from[i] + n];
                samples[from[i] + n] = samples[to[i] + n];
                samples[to[i] + n] = kept;
            }
            CHECK((sum_of(context, dwi) == sum) == (twice == 1), "places, %zu", i);
        }
    }
    dwi->data = NULL;
    const hot_dwi_pages pages = {.span = span, .from = samples, .release = release, .bytes = sizeof samples,
                                 .window = sizeof samples / 3};
    CHECK(hot_dwi_page(context, dwi, &pages) == HOT_OK, "pages");
    CHECK(sum_of(context, dwi) == sum, "slice by slice");
    hot_dwi_destroy(&dwi);
}

int main(void)
{
    hot_context *context = NULL;
    CHECK(hot_context_create(NULL, &context) == HOT_OK, "context");
    check_table(context);
    check_data(context);
    hot_context_destroy(&context);
    HOT_TEST_END();
}
