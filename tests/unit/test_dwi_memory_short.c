/* The k-th allocation failing, for every k: reading, masks, noise and saving end with HOT_ERROR_MEMORY, never crash,
 * and give everything back. */
#include <unistd.h>

#include <zlib.h>

#include "check.h"
#include "core/fields.h"

typedef struct counter {
    long left;        /* allocations that still succeed; < 0: no limit */
    long made, alive; /* allocations so far; not yet released */
} counter;

static void *allocate(void *user, size_t bytes)
{
    counter *c = user;
    if (c->left == 0)
        return NULL;
    c->left -= c->left > 0;
    void *memory = malloc(bytes);
    if (memory) {
        memset(memory, 0xcd, bytes);
        c->made++;
        c->alive++;
    }
    return memory;
}

static void release(void *user, void *memory)
{
    ((counter *)user)->alive--;
    free(memory);
}

typedef hot_status job(hot_context *context);

static hot_status load(hot_context *context, const char *path)
{
    hot_dwi *dwi = NULL;
    hot_status status = hot_dwi_load(context, path, NULL, NULL, &dwi);
    CHECK((status == HOT_OK) == (dwi != NULL), "%s: status %d", path, status);
    hot_dwi_destroy(&dwi);
    return status;
}
static hot_status load_nrrd(hot_context *context) { return load(context, "short.nrrd"); }
static hot_status load_list(hot_context *context) { return load(context, "short_list.nhdr"); }
static hot_status load_nifti(hot_context *context) { return load(context, "short.nii"); }

static hot_status with_dwi(hot_context *context, hot_status (*act)(hot_context *, hot_dwi *))
{
    hot_dwi *dwi = NULL;
    hot_status status = hot_dwi_load(context, "short.nrrd", NULL, NULL, &dwi);
    if (status == HOT_OK)
        status = act(context, dwi);
    hot_dwi_destroy(&dwi);
    return status;
}

static hot_status act_mask(hot_context *context, hot_dwi *dwi)
{
    hot_mask *mask = NULL;
    double sigma, snr;
    size_t repeats;
    hot_status status = hot_mask_estimate(context, dwi, &mask);
    if (status == HOT_OK)
        status = hot_dwi_noise(context, dwi, mask, &sigma, &snr, &repeats);
    hot_mask_destroy(&mask);
    return status;
}
static hot_status estimate(hot_context *context) { return with_dwi(context, act_mask); }

static hot_status act_load_masks(hot_context *context, hot_dwi *dwi)
{
    hot_mask *mask = NULL;
    hot_status status = hot_mask_load(context, "short_mask.nrrd", hot_dwi_grid(dwi), &mask);
    hot_mask_destroy(&mask);
    if (status == HOT_OK)
        status = hot_mask_load(context, "short_mask.nii", hot_dwi_grid(dwi), &mask);
    hot_mask_destroy(&mask);
    return status;
}
static hot_status load_masks(hot_context *context) { return with_dwi(context, act_load_masks); }

static hot_status act_save(hot_context *context, hot_dwi *dwi)
{
    hot_status status = hot_dwi_save(context, dwi, "short_out.nrrd");
    if (status == HOT_OK)
        status = hot_dwi_save(context, dwi, "short_out.nii.gz");
    return status == HOT_OK ? hot_dwi_save(context, dwi, "short_out.nhdr") : status;
}
static hot_status save(hot_context *context) { return with_dwi(context, act_save); }

static void every_one(const char *name, job *run)
{
    counter count = {.left = -1};
    hot_context_options options = {
        .size = sizeof options, .threads = 2, .allocate = allocate, .release = release, .allocator_user = &count};
    hot_context *context = NULL;
    CHECK(hot_context_create(&options, &context) == HOT_OK, "context");
    CHECK(run(context) == HOT_OK, "%s with all the memory: %s", name, hot_context_message(context));
    CHECK(count.alive == 1, "%s: %ld blocks left", name, count.alive - 1);
    long all = count.made;
    hot_context_destroy(&context);
    CHECK(all > 3, "%s: only %ld allocations", name, all);
    for (long k = 1; k < all; k++) {
        count = (counter){.left = k};
        CHECK(hot_context_create(&options, &context) == HOT_OK, "context");
        hot_status status = run(context);
        CHECK(status == HOT_ERROR_MEMORY, "%s, allocation %ld of %ld failing: status %d: %s", name, k + 1, all, status,
              hot_context_message(context));
        CHECK(hot_context_message(context)[0], "%s, allocation %ld: no message", name, k + 1);
        CHECK(count.alive == 1, "%s, allocation %ld failing: %ld blocks left", name, k + 1, count.alive - 1);
        hot_context_destroy(&context);
    }
    printf("%s: %ld allocations\n", name, all);
}

static void make_files(void)
{
    enum { VOLUMES = 9, VOXELS = 8 * 7 * 3 };
    hot_context *context = NULL;
    hot_dwi *dwi = NULL;
    hot_grid grid = {.size = {8, 7, 3}, .to_world = {{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}}, .space = HOT_SPACE_RAS};
    double b[VOLUMES], g[3 * VOLUMES];
    float signals[VOLUMES * VOXELS];
    uint64_t state = 3;
    for (int v = 0; v < VOLUMES; v++) {
        b[v] = v < 2 ? 0 : 1000;
        check_random_unit(&state, g + 3 * v);
        for (int n = 0; n < VOXELS; n++)
            signals[v * VOXELS + n] = (float)((n % 8 > 1 && n % 8 < 6 ? 100 : 1) + check_random(&state));
    }
    CHECK(hot_context_create(NULL, &context) == HOT_OK, "context");
    CHECK(hot_dwi_create(context, &grid, VOLUMES, b, g, signals, &dwi) == HOT_OK, "dwi");
    CHECK(hot_dwi_save(context, dwi, "short.nrrd") == HOT_OK, "%s", hot_context_message(context));
    CHECK(hot_dwi_save(context, dwi, "short.nii") == HOT_OK, "%s", hot_context_message(context));
    hot_dwi_destroy(&dwi);
    hot_context_destroy(&context);

    /* The same as a list of gzip files with one to spare behind (byte skip -1), header from the attached one. */
    FILE *whole = fopen("short.nrrd", "rb"), *header = fopen("short_list.nhdr", "wb");
    char line[4096];
    while (whole && header && fgets(line, sizeof line, whole) && line[0] != '\n')
        fputs(strncmp(line, "encoding", 8) == 0 ? "encoding: gzip\nbyte skip: -1\n" : line, header);
    if (header) {
        fputs("data file: LIST 3\n", header);
        for (int v = 0; v < VOLUMES; v++) {
            char name[32];
            snprintf(name, sizeof name, "short_%d.gz", v);
            fprintf(header, "%s\n", name);
            gzFile part = gzopen(name, "wb");
            gzwrite(part, "before", 6);
            gzwrite(part, signals + v * VOXELS, VOXELS * sizeof(float));
            gzclose(part);
        }
        fclose(header);
    }
    if (whole)
        fclose(whole);
    FILE *mask = fopen("short_mask.nrrd", "wb");
    if (mask) {
        fprintf(mask, "NRRD0004\ntype: uchar\ndimension: 3\nsizes: 8 7 3\nencoding: ascii\n\n");
        for (int n = 0; n < VOXELS; n++)
            fprintf(mask, "%d ", n % 3);
        fclose(mask);
    }
    unsigned char head[352 + VOXELS] = {0};
    const int16_t dims[4] = {3, 8, 7, 3}, types[2] = {2, 8};
    const float places[2] = {352, 0};
    const int size = 348;
    memcpy(head, &size, 4);
    memcpy(head + 40, dims, sizeof dims);
    memcpy(head + 70, types, sizeof types);
    memcpy(head + 108, places, 4);
    memcpy(head + 344, "n+1", 4);
    memset(head + 352, 1, VOXELS);
    mask = fopen("short_mask.nii", "wb");
    if (mask) {
        fwrite(head, 1, sizeof head, mask);
        fclose(mask);
    }
}

int main(void)
{
    make_files();
    every_one("NRRD", load_nrrd);
    every_one("NRRD in pieces", load_list);
    every_one("NIfTI", load_nifti);
    every_one("built-in mask and noise", estimate);
    every_one("mask files", load_masks);
    every_one("saving", save);
    CHECK(access("short_out.nrrd", F_OK) == 0, "saved in the end");
    HOT_TEST_END();
}
