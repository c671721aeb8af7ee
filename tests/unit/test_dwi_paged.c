/* Out-of-core samples: how many slices are in memory, which, and the bytes read for them. */
#include "check.h"
#include "dwi/dwi_private.h"
#include "dwi/paged.h"
#include "io/dwi_load.h"

enum { NX = 5, NY = 4, NZ = 11, VOLUMES = 3, PLANE = NX * NY, SLICE = PLANE * VOLUMES * sizeof(int16_t) };
static const hot_grid grid = {.size = {NX, NY, NZ}, .to_world = {{2, 0, 0}, {0, 2, 0}, {0, 0, 2}},
                              .space = HOT_SPACE_LPS};
static const double b[VOLUMES] = {0, 1000, 1000}, g[3 * VOLUMES] = {0, 0, 0, 1, 0, 0, 0, 1, 0};

typedef struct pages {
    int16_t samples[VOLUMES * PLANE * NZ];
    size_t bytes, released;
} pages;

static hot_status span(void *from, size_t at, void *to, size_t bytes)
{
    pages *file = from;
    CHECK(at + bytes <= sizeof file->samples, "beyond the end: %zu + %zu", at, bytes);
    memcpy(to, (char *)file->samples + at, bytes);
    file->bytes += bytes;
    return HOT_OK;
}

static void release(hot_context *context, void *from)
{
    (void)context;
    ((pages *)from)->released++;
}

static int16_t sample_of(size_t voxel, size_t volume) { return (int16_t)(voxel * VOLUMES + volume); }

/* Every voxel in turn: the slices held at a time are `most`, none is read twice, and samples are right. */
static void check_slices(hot_context *context, int together, int swapped, size_t window, size_t most)
{
    static pages file;
    hot_dwi *dwi = NULL;
    file.bytes = file.released = 0;
    CHECK(hot_dwi_begin(context, &grid, VOLUMES, together ? PLANE : PLANE * NZ, "nowhere", &dwi) == HOT_OK, "begin");
    if (!dwi)
        return;
    memcpy(dwi->b, b, sizeof b);
    memcpy(dwi->gradients, g, sizeof g);
    dwi->sample = HOT_SAMPLE_I16;
    dwi->stride[0] = 1, dwi->stride[1] = NX, dwi->stride[2] = together ? (size_t)VOLUMES * PLANE : PLANE;
    for (size_t voxel = 0; voxel < PLANE * NZ; voxel++)
        for (size_t v = 0; v < VOLUMES; v++) {
            const uint16_t sample = (uint16_t)sample_of(voxel, v);
            file.samples[voxel % PLANE + voxel / PLANE * dwi->stride[2] + dwi->position[v]] =
                (int16_t)(swapped ? (uint16_t)(sample << 8 | sample >> 8) : sample);
        }
    CHECK(hot_dwi_complete(context, dwi) == HOT_OK && hot_dwi_can_page(dwi), "can be read in slices");
    CHECK(hot_dwi_page(context, dwi, &(hot_dwi_pages){.span = span, .from = &file, .release = release,
                                                     .swapped = swapped, .bytes = sizeof file.samples,
                                                     .window = window}) == HOT_OK,
          "%s", hot_context_message(context));
    for (size_t at = 0; at < PLANE * NZ;) {
        hot_dwi_mapped held;
        file.bytes = 0;
        const size_t left = NZ - at / PLANE, expected = left < most ? left : most;
        CHECK(hot_dwi_map(context, dwi, at, &held) == HOT_OK, "%s", hot_context_message(context));
        CHECK(held.view.grid.size[2] == expected && held.count == expected * PLANE,
              "window %zu: %zu slices held instead of %zu", window, held.view.grid.size[2], expected);
        CHECK(file.bytes == expected * SLICE, "window %zu: %zu bytes read for %zu slices", window,
              file.bytes, expected);
        float read[VOLUMES * PLANE];
        CHECK(hot_dwi_read(context, dwi, at, PLANE, read) == HOT_OK, "%s", hot_context_message(context));
        for (size_t n = 0; n < VOLUMES * PLANE; n++)
            CHECK(read[n] == (float)sample_of(at + n / VOLUMES, n % VOLUMES), "voxel %zu", at + n / VOLUMES);
        at += held.count ? held.count : PLANE;
    }
    float first[VOLUMES]; /* and back */
    CHECK(hot_dwi_read(context, dwi, 0, 1, first) == HOT_OK && first[1] == (float)sample_of(0, 1), "voxel 0");
    hot_dwi_destroy(&dwi);
    CHECK(file.released == 1, "released %zu times", file.released);
}

/* A sixteenth of the memory that a run may take, 64 KB at least, is for the slices. */
static void check_file(hot_context *context, size_t memory, size_t most)
{
    enum { SIDE = 64, SLICES = 24, BYTES = SIDE * SIDE * 2 * sizeof(float) }; /* 32 KB a slice */
    const hot_grid wide = {.size = {SIDE, SIDE, SLICES}, .to_world = {{2, 0, 0}, {0, 2, 0}, {0, 0, 2}},
                           .space = HOT_SPACE_LPS};
    hot_dwi *dwi = NULL;
    hot_dwi_mapped held;
    float *signals = calloc(SLICES, BYTES);
    CHECK(hot_dwi_create(context, &wide, 2, b, g, signals, &dwi) == HOT_OK &&
          hot_dwi_save(context, dwi, "test_dwi_paged.nrrd") == HOT_OK, "%s", hot_context_message(context));
    hot_dwi_destroy(&dwi);
    free(signals);
    CHECK(hot_dwi_load_within(context, "test_dwi_paged.nrrd", NULL, NULL, memory, "here", &dwi) == HOT_OK, "%s",
          hot_context_message(context));
    if (dwi && hot_dwi_map(context, dwi, 0, &held) == HOT_OK)
        CHECK(held.view.grid.size[2] == most, "%zu bytes: %zu slices held instead of %zu", memory,
              held.view.grid.size[2], most);
    hot_dwi_destroy(&dwi);
    remove("test_dwi_paged.nrrd");
}

int main(void)
{
    hot_context *context = NULL;
    CHECK(hot_context_create(NULL, &context) == HOT_OK, "context");
    for (int layout = 0; layout < 4; layout++) {
        const int together = layout % 2, swapped = layout / 2;
        check_slices(context, together, swapped, 1, 1); /* a slice in any case */
        check_slices(context, together, swapped, SLICE, 1);
        check_slices(context, together, swapped, 2 * SLICE - 1, 1);
        check_slices(context, together, swapped, 3 * SLICE + 5, 3);
        check_slices(context, together, swapped, NZ * SLICE - 1, NZ - 1);
        check_slices(context, together, swapped, 100 * SLICE, NZ);
    }
    check_file(context, 1, 2);
    check_file(context, 16 * 5 * 32768, 5);
    hot_context_destroy(&context);
    HOT_TEST_END();
}
