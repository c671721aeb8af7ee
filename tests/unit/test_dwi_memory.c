/* A DWI made from memory: what it tells, reading with any layout and number of threads, shells, saving as NRRD; and the
 * NRRD helpers: round trip, absurd and broken headers refused with their numbers. */
#include "check.h"
#include "io/nrrd/nrrd_image.h"
#include "dwi/dwi_private.h"

static const hot_grid grid = {
    .size = {5, 7, 3}, .to_world = {{0, -1.9, .2, 10}, {2, .1, 0, -20}, {.1, .2, 2.5, 30}}, .space = HOT_SPACE_LPS};

static void test_create(hot_context *context)
{
    enum { VOLUMES = 9, VOXELS = 105 };
    double b[VOLUMES] = {0, 1000, 990, 5, 3000, 1010, 2990, 0, 3010}, g[3 * VOLUMES], sum = 0;
    float signals[VOLUMES * VOXELS], read[VOLUMES * VOXELS];
    uint64_t state = 7;
    for (int v = 0; v < VOLUMES; v++) {
        check_random_unit(&state, g + 3 * v);
        for (int d = 0; d < 3; d++)
            g[3 * v + d] *= 1 + v;
    }
    for (int n = 0; n < VOLUMES * VOXELS; n++)
        signals[n] = (float)n;
    hot_dwi *dwi = NULL;
    CHECK(hot_dwi_create(context, &grid, VOLUMES, b, g, signals, &dwi) == HOT_OK, "%s", hot_context_message(context));
    if (!dwi)
        return;
    memset(read, 0xff, sizeof read);
    CHECK(hot_dwi_read(context, dwi, 0, VOXELS, read) == HOT_OK, "all");
    for (int v = 0; v < VOLUMES; v++)
        for (int n = 0; n < VOXELS; n++)
            CHECK(read[n * VOLUMES + v] == signals[v * VOXELS + n], "voxel %d volume %d", n, v);
    CHECK(hot_dwi_read(context, dwi, 100, 5, read) == HOT_OK && read[8] == signals[8 * VOXELS + 100], "the last five");
    CHECK(hot_dwi_read(context, dwi, 100, 6, read) == HOT_ERROR_ARGUMENT, "one too many");
    CHECK(hot_dwi_read(context, dwi, SIZE_MAX, 2, read) == HOT_ERROR_ARGUMENT, "overflow");
    for (int v = 0; v < VOLUMES; v++) {
        const double *u = hot_dwi_gradients(dwi) + 3 * v;
        sum = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
        CHECK_NEAR(sum, b[v] > 0 ? 1 : 0, 1e-15, "volume %d", v);
    }
    const double *shell_b;
    const int *of;
    CHECK(hot_dwi_shells(dwi, &shell_b, &of) == 3 && hot_dwi_has_b0(dwi), "three shells");
    CHECK_NEAR(shell_b[0], 5. / 3, 1e-12, "%g", shell_b[0]);
    CHECK_NEAR(shell_b[1], 1000, 1e-9, "%g", shell_b[1]);
    CHECK_NEAR(shell_b[2], 3000, 1e-9, "%g", shell_b[2]);
    const int expected[VOLUMES] = {0, 1, 1, 0, 2, 1, 2, 0, 2};
    for (int v = 0; v < VOLUMES; v++)
        CHECK(of[v] == expected[v], "volume %d in shell %d", v, of[v]);

    /* Another layout of the same samples reads the same: list axis first, k before j, as short with a scale. */
    int16_t *other = hot_context_alloc(context, VOLUMES * VOXELS, sizeof *other);
    for (size_t v = 0; v < VOLUMES; v++)
        for (size_t n = 0; n < VOXELS; n++)
            other[v + VOLUMES * (n % 5) + VOLUMES * 15 * (n / 5 % 7) + VOLUMES * 5 * (n / 35)] =
                (int16_t)(signals[v * VOXELS + n] - 10);
    hot_dwi changed = *dwi;
    size_t position[VOLUMES] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    changed.data = other;
    changed.sample = HOT_SAMPLE_I16;
    changed.position = position;
    changed.stride[0] = VOLUMES, changed.stride[1] = VOLUMES * 15, changed.stride[2] = VOLUMES * 5;
    changed.slope = .5, changed.intercept = 5;
    memset(read, 0xff, sizeof read);
    CHECK(hot_dwi_read(context, &changed, 0, VOXELS, read) == HOT_OK, "changed");
    for (int v = 0; v < VOLUMES; v++)
        for (int n = 0; n < VOXELS; n++)
            CHECK(read[n * VOLUMES + v] == signals[v * VOXELS + n] / 2, "voxel %d volume %d: %g", n, v,
                  read[n * VOLUMES + v]);
    hot_context_free(context, other);

    CHECK(hot_dwi_save(context, dwi, "test_dwi_memory.nrrd") == HOT_OK, "%s", hot_context_message(context));
    Nrrd *nrrd = NULL;
    CHECK(hot_nrrd_load(context, "test_dwi_memory.nrrd", &nrrd) == HOT_OK, "%s", hot_context_message(context));
    if (nrrd) {
        hot_grid back;
        CHECK(hot_nrrd_get_grid(context, nrrd, (unsigned int[]){0, 1, 2}, &back) == HOT_OK, "grid");
        CHECK(back.space == grid.space && !memcmp(back.size, grid.size, sizeof grid.size), "space and sizes");
        CHECK(!memcmp(back.to_world, grid.to_world, sizeof grid.to_world), "directions bit for bit");
        CHECK(nrrd->dim == 4 && nrrd->axis[3].size == VOLUMES && !memcmp(nrrd->data, signals, sizeof signals),
              "samples");
        char *value = hot_nrrd_get_key(context, nrrd, "modality");
        CHECK(value && !strcmp(value, "DWMRI"), "modality");
        hot_context_free(context, value);
        CHECK(hot_nrrd_get_key(context, nrrd, "no such") == NULL, "absent key");
        hot_nrrd_free(context, nrrd);
    }
    hot_dwi_destroy(&dwi);
    CHECK(!dwi, "set to NULL");
    hot_dwi_destroy(&dwi);
    b[1] = -1;
    CHECK(hot_dwi_create(context, &grid, VOLUMES, b, g, signals, &dwi) == HOT_ERROR_DATA && !dwi, "negative b");
    b[1] = NAN;
    CHECK(hot_dwi_create(context, &grid, VOLUMES, b, g, signals, &dwi) == HOT_ERROR_DATA && !dwi, "NaN b");
    b[1] = 1000, g[3] = g[4] = g[5] = 0;
    CHECK(hot_dwi_create(context, &grid, VOLUMES, b, g, signals, &dwi) == HOT_ERROR_DATA && !dwi, "no direction");
    CHECK(strstr(hot_context_message(context), "volume 1"), "%s", hot_context_message(context));
}

/* Loading `text` must fail with a message that holds both strings. */
static void refused(hot_context *context, const char *text, const char *one, const char *two)
{
    Nrrd *nrrd = NULL;
    check_write("test_dwi_memory_bad.nrrd", text);
    CHECK(hot_nrrd_load(context, "test_dwi_memory_bad.nrrd", &nrrd) != HOT_OK && !nrrd, "accepted: %s", text);
    const char *said = hot_context_message(context);
    CHECK(strstr(said, one) && strstr(said, two) && !strchr(said, '\n'), "'%s' instead of '%s ... %s'", said, one, two);
}

int main(void)
{
    hot_context *context = NULL;
    CHECK(hot_context_create(NULL, &context) == HOT_OK, "context");
    test_create(context);
#define HEAD "NRRD0004\ntype: short\nencoding: raw\nendian: little\n"
    refused(context, HEAD "dimension: 4\nsizes: 10000 10000 10000 65\n\nab", "10000 x 10000 x 10000 x 65", "2 bytes");
    refused(context, HEAD "dimension: 3\nsizes: 4000000000 4000000000 4000000000\n\nab", "test_dwi_memory_bad",
            "large");
    refused(context, HEAD "dimension: 1\nsizes: 3\n\nabcde", "5 bytes", "at least 6");
    refused(context, HEAD "dimension: 1\nsizes: 0\n\n", "test_dwi_memory_bad", "0");
    refused(context, HEAD "dimension: 1\n\nabcdef", "sizes", "test_dwi_memory_bad");
    refused(context, HEAD "dimension: 1\nsizes: 3\n", "no data", "data file");
    refused(context, HEAD "dimension: 1\nsizes: 3\ndata file: not-there.raw\n", "not-there.raw", "No such file");
    refused(context, HEAD "dimension: 1\nsizes: 3\ndata file: x%999999d.raw 1 3 1\n", "%d", "%999999d");
    refused(context, HEAD "dimension: 1\nsizes: 3\ndata file: x%s.raw 1 3 1\n", "%d", "%s");
    refused(context, "NRRD0004\ntype: short\nencoding: raw\ndimension: 1\nsizes: 3\n\nabcdef", "endian", "raw");
    refused(context, "NRRD0004\ntype: shirt\nencoding: raw\ndimension: 1\nsizes: 3\n\nabcdef", "shirt", "type");
    refused(context, "P5 3 4 255 ", "not an NRRD", "first line");
    refused(context, "", "is empty", "test_dwi_memory_bad");
    Nrrd *nrrd = NULL;
    CHECK(hot_nrrd_load(context, "/", &nrrd) == HOT_ERROR_FILE, "a folder");
    CHECK(strstr(hot_context_message(context), "folder"), "%s", hot_context_message(context));
    CHECK(hot_nrrd_load(context, "/no/such/file.nrrd", &nrrd) == HOT_ERROR_FILE, "%s", hot_context_message(context));

    /* A header's data files are found: gzip through a detached header, and a list of files in pieces. */
    const float values[6] = {1, 2, 3, 4, 5, 6};
    Nrrd *made = NULL;
    CHECK(hot_nrrd_wrap(context, values, nrrdTypeFloat, 2, (size_t[]){3, 2}, &made) == HOT_OK, "wrap");
    CHECK(hot_nrrd_set_key(context, made, "k", "a b") == HOT_OK, "key");
    CHECK(hot_nrrd_save(context, made, "test_dwi_memory_two.nhdr", 1) == HOT_OK, "%s", hot_context_message(context));
    nrrdNix(made);
    CHECK(hot_nrrd_load(context, "test_dwi_memory_two.nhdr", &nrrd) == HOT_OK, "%s", hot_context_message(context));
    CHECK(nrrd && nrrd->dim == 2 && !memcmp(nrrd->data, values, sizeof values), "samples through gzip");
    if (nrrd)
        hot_nrrd_free(context, nrrd);
    check_write("test_dwi_memory_07.txt", "7 8,9\n");
    check_write("test_dwi_memory_09.txt", "-1 1e2 nan\n");
    check_write("test_dwi_memory_bad.nrrd",
               "NRRD0004\r\ntype: float\r\nencoding: ascii\r\ndimension: 2\r\nsizes: 3 2\r\n"
               "datafile: test_dwi_memory_%02d.txt 7 9 2\r\n");
    CHECK(hot_nrrd_load(context, "test_dwi_memory_bad.nrrd", &nrrd) == HOT_OK, "%s", hot_context_message(context));
    const float *got = nrrd ? nrrd->data : NULL;
    CHECK(got && got[0] == 7 && got[2] == 9 && got[3] == -1 && got[4] == 100 && isnan(got[5]), "numbered ascii files");
    if (nrrd)
        hot_nrrd_free(context, nrrd);
    hot_context_destroy(&context);
    HOT_TEST_END();
}
