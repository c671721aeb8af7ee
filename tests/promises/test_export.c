/* The promises of hotfiber_export.h and hotfiber_dwi.h about files and threads: the content of images,
 * images of every type, confined headers, places of voxels, one data set and one glyph for many threads. */
#include <sys/stat.h>
#include <unistd.h>

#include <hotfiber/hotfiber.h>

#include "threads.h"

enum { NX = 4, NY = 3, NZ = 2, VOXELS = NX * NY * NZ };

static const hot_grid grid = {
    .size = {NX, NY, NZ}, .to_world = {{0, -2, 0, 10}, {1.5, 0, 0, -20}, {0, 0, 2.5, 30}}, .space = HOT_SPACE_RAS};

static void put(const char *path, const char *head, const void *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    CHECK(file && fputs(head, file) >= 0 && fwrite(data, 1, bytes, file) == bytes, "%s", path);
    if (file)
        fclose(file);
}

static const char *little(void)
{
    static const uint16_t one = 1;
    return *(const uint8_t *)&one ? "LE" : "BE";
}

/* A MIF image of `values` per voxel, of a type, with a further line of its header. */
static void put_mif(const char *path, const char *type, size_t item, int values, const char *line, const void *data)
{
    char head[1024];
    const int length = snprintf(head, sizeof head,
                                "mrtrix image\ndim: %d,%d,%d,%d\nvox: 1.5,2,2.5,nan\nlayout: "
                                "+0,+1,+2,+3\ndatatype: %s%s\ntransform: 0,-1,0,10\ntransform: 1,0,0,-20\ntransform: "
                                "0,0,1,30\n%sfile: . 1000\nEND\n",
                                NX, NY, NZ, values, type, item > 1 ? little() : "", line);
    memset(head + length, ' ', sizeof head - (size_t)length);
    head[1000] = '\0';
    put(path, head, data, item * VOXELS * (size_t)values);
}

/* ---- content ----------------------------------------------------------------------------------------------------- */

static void expect(hot_context *context, const char *path, const char *right)
{
    const char *word = "";
    const hot_status status = hot_file_content(context, path, &word);
    CHECK(right ? status == HOT_OK && strcmp(word, right) == 0 : status == HOT_ERROR_FORMAT && !word, "%s: %d, %s",
          path, (int)status, word ? word : "NULL");
}

static void test_content(hot_context *context)
{
    static float six[6 * VOXELS], ones[VOXELS], peaks[9 * VOXELS], values[7 * VOXELS];
    uint64_t state = 3;
    for (int n = 0; n < VOXELS; n++) {
        const float tensor[6] = {3e-3f, .1e-3f, .2e-3f, 1e-3f, .3e-3f, .5e-3f};
        for (int t = 0; t < 6; t++)
            six[t * VOXELS + n] = (float)check_random_normal(&state);
        ones[n] = 7, peaks[9 * n] = 1, values[7 * n] = 1;
        memcpy(values + 7 * n + 1, tensor, sizeof tensor);
    }
    hot_tensor_field *field = NULL;
    hot_fiber_field *fibers = NULL;
    CHECK(hot_tensor_field_create(context, &grid, 2, "adc", values, &field) == HOT_OK &&
              hot_fiber_field_create(context, &grid, 3, peaks, &fibers) == HOT_OK &&
              hot_tensor_field_save(context, field, "t.nrrd") == HOT_OK &&
              hot_tensor_field_save(context, field, "t.nii") == HOT_OK &&
              hot_fiber_field_save(context, fibers, "p.nrrd") == HOT_OK &&
              hot_fiber_field_save(context, fibers, "p.nii") == HOT_OK,
          "%s", hot_context_message(context));
    hot_tensor_field_destroy(&field);
    hot_fiber_field_destroy(&fibers);
    put_mif("open.mif", "Float32", 4, 6, "", six), put_mif("map.mif", "Float32", 4, 1, "", ones);
    put_mif("sh.mif", "Float32", 4, 6, "command_history: dwi2fod msmt_csd in.mif r.txt sh.mif\n", six);
    expect(context, "t.nrrd", "tensor"), expect(context, "t.nii", "tensor");
    expect(context, "p.nrrd", "peaks"), expect(context, "p.nii", "peaks");
    expect(context, "map.mif", "map"), expect(context, "sh.mif", "sh"), expect(context, "open.mif", NULL);
    /* an image that could be several things is refused unless the caller says which */
    CHECK(hot_tensor_field_load(context, "open.mif", &field) == HOT_ERROR_FORMAT && !field &&
              hot_tensor_field_load_as(context, "open.mif", NULL, &field) == HOT_ERROR_FORMAT && !field,
          "NULL: %s", hot_context_message(context));
    CHECK(hot_fiber_field_load(context, "open.mif", &fibers) == HOT_ERROR_FORMAT && !fibers &&
              hot_fiber_field_load_as(context, "open.mif", "peaks", &fibers) == HOT_OK &&
              hot_fiber_field_max(fibers) == 2,
          "as directions: %s", hot_context_message(context));
    hot_fiber_field_destroy(&fibers);
    /* the places of xx, xy, xz, yy, yz, zz in the file, and the signs of the axes: those of the image are y and -x, the
     * bvec's are the image's with the first turned round, ITK's are LPS */
    static const struct {
        const char *content;
        int place[6], axis[3];
        double sign[3];
    } layouts[] = {{"tensor_fsl", {0, 1, 2, 3, 4, 5}, {1, 0, 2}, {-1, -1, 1}},
                   {"tensor_mrtrix", {0, 3, 4, 1, 5, 2}, {0, 1, 2}, {1, 1, 1}},
                   {"tensor_dipy", {0, 1, 3, 2, 4, 5}, {1, 0, 2}, {-1, -1, 1}},
                   {"tensor_itk", {0, 1, 3, 2, 4, 5}, {0, 1, 2}, {-1, -1, 1}}};
    static const int at[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    for (size_t l = 0; l < sizeof layouts / sizeof *layouts; l++) {
        CHECK(hot_tensor_field_load_as(context, "open.mif", layouts[l].content, &field) == HOT_OK, "%s",
              hot_context_message(context));
        double file_sign[3];
        hot_space_ras_sign(hot_tensor_field_grid(field)->space, file_sign);
        for (int i = 0; i < 3 && field; i++)
            for (int j = 0; j < 3; j++) {
                const int *axis = layouts[l].axis;
                const double right = layouts[l].sign[i] * layouts[l].sign[j] * file_sign[axis[i]] * file_sign[axis[j]] *
                                     (double)six[layouts[l].place[at[i][j]] * VOXELS + 5];
                CHECK_NEAR(hot_tensor_field_values(field)[7 * 5 + 1 + at[axis[i]][axis[j]]], right, 1e-6, "%s: %d %d",
                           layouts[l].content, i, j);
            }
        hot_tensor_field_destroy(&field);
    }
    CHECK(hot_tensor_field_load_as(context, "open.mif", "sh", &field) == HOT_ERROR_FORMAT && !field, "no tensors");
    CHECK(hot_tensor_field_load_as(context, "t.nrrd", "dwi", &field) == HOT_ERROR_FORMAT && !field, "tensors as data");
    /* harmonics: a basis or a frame says that the file has them, else header or values must; NULL: neither */
    const hot_sh_options basis = {.size = sizeof basis, .basis = "tournier07"};
    const hot_sh_options frame = {.size = sizeof frame, .frame = "scanner"};
    const hot_sh_options says = {.size = sizeof says, .content = "sh"};
    const hot_sh_options both = {.size = sizeof both, .basis = "tournier07", .content = "tensor"};
    const hot_sh_options nothing = {.size = sizeof nothing};
    const hot_sh_options *const ways[] = {NULL, &nothing, &basis, &frame, &says, &both};
    for (int w = 0; w < 6; w++) {
        const hot_status status = hot_tensor_field_load_sh(context, "open.mif", ways[w], &field);
        CHECK(w < 2   ? status == HOT_ERROR_FORMAT
              : w < 5 ? status == HOT_OK
                      : status != HOT_OK,
              "way %d: %d %s", w, (int)status, hot_context_message(context));
        CHECK(!field || strcmp(hot_tensor_field_model(field), "sh") == 0, "way %d", w);
        hot_tensor_field_destroy(&field);
        CHECK(hot_tensor_field_load_sh(context, "t.nrrd", ways[w], &field) == HOT_OK || w >= 2, "way %d: tensors: %s",
              w, hot_context_message(context));
        hot_tensor_field_destroy(&field);
    }
    static const char *const made[] = {"t.nrrd", "t.nii", "p.nrrd", "p.nii", "open.mif", "map.mif", "sh.mif"};
    for (size_t f = 0; f < sizeof made / sizeof *made; f++)
        unlink(made[f]);
}

/* ---- images ------------------------------------------------------------------------------------------------------ */

/* Every scalar type; of several volumes the first, or all of a voxel side by side; i fastest; the file's own grid. */
static void test_images(hot_context *context)
{
    static const char *const types[] = {"Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Float32", "Float64"};
    for (int t = 0; t < 8; t++)
        for (int volumes = 1; volumes <= 3; volumes += 2) {
            static union {
                int8_t i8[300];
                uint8_t u8[300];
                int16_t i16[300];
                uint16_t u16[300];
                int32_t i32[300];
                uint32_t u32[300];
                float f32[300];
                double f64[300];
            } data;
            static const size_t item[] = {1, 1, 2, 2, 4, 4, 4, 8};
            hot_grid where;
            float *values = NULL;
            size_t count = 0;
            for (int i = 0; i < VOXELS * volumes; i++) {
                const int x = t == 1 || t == 3 || t == 5 ? i + 100 : i - 30;
                switch (t) {
                case 0: data.i8[i] = (int8_t)x; break;
                case 1: data.u8[i] = (uint8_t)x; break;
                case 2: data.i16[i] = (int16_t)x; break;
                case 3: data.u16[i] = (uint16_t)x; break;
                case 4: data.i32[i] = x; break;
                case 5: data.u32[i] = (uint32_t)x; break;
                case 6: data.f32[i] = (float)x; break;
                default: data.f64[i] = x;
                }
            }
            put_mif("image.mif", types[t], item[t], volumes, "", &data);
            const int least = t == 1 || t == 3 || t == 5 ? 100 : -30;
            CHECK(hot_image_load(context, "image.mif", &where, &values) == HOT_OK, "%s", hot_context_message(context));
            for (int n = 0; n < VOXELS && values; n++)
                CHECK(values[n] == (float)(n + least), "%s: voxel %d: %g", types[t], n, (double)values[n]);
            double off = 0, sign[3];
            hot_space_ras_sign(where.space, sign);
            for (int i = 0; i < 12; i++)
                off = fmax(off, fabs(sign[i / 4] * where.to_world[i / 4][i % 4] - grid.to_world[i / 4][i % 4]));
            CHECK(off < 1e-6 && memcmp(where.size, grid.size, sizeof where.size) == 0, "%s: grid off by %g", types[t],
                  off);
            hot_context_free(context, values);
            CHECK(hot_image_load_values(context, "image.mif", &where, &values, &count) == HOT_OK &&
                      count == (size_t)volumes,
                  "%s: %zu", hot_context_message(context), count);
            for (int n = 0; n < VOXELS * volumes && values; n++)
                CHECK(values[n] == (float)(n / volumes + VOXELS * (n % volumes) + least), "%s: number %d: %g", types[t],
                      n, (double)values[n]);
            hot_context_free(context, values);
        }
    unlink("image.mif");
}

/* Without a background: what the sum of the amplitudes gives, if its 2nd percentile is as good as 0. */
static void test_picture(hot_context *context)
{
    static float peaks[6 * VOXELS], sums[VOXELS];
    static char bytes[2][1 << 20];
    size_t size[2] = {0};
    hot_fiber_field *fibers = NULL;
    sums[0] = 1e-30f;
    for (int n = 1; n < VOXELS; n++)
        peaks[6 * n] = .1f + .02f * (float)n, peaks[6 * n + 4] = .05f, sums[n] = .15f + .02f * (float)n;
    CHECK(hot_fiber_field_create(context, &grid, 2, peaks, &fibers) == HOT_OK, "%s", hot_context_message(context));
    for (int given = 0; given < 3; given++) {
        sums[5] += given == 2 ? 3 : 0;
        CHECK(hot_export_picture(context, fibers, given ? sums : NULL, "p.png") == HOT_OK, "%s",
              hot_context_message(context));
        FILE *file = fopen("p.png", "rb");
        const int to = given > 0;
        size[to] = file ? fread(bytes[to], 1, sizeof bytes[to], file) : 0;
        if (file)
            fclose(file);
        if (given)
            CHECK((size[0] == size[1] && memcmp(bytes[0], bytes[1], size[0]) == 0) == (given == 1), "picture %d",
                  given);
        unlink("p.png");
    }
    hot_fiber_field_destroy(&fibers);
}

/* ---- headers and their data files -------------------------------------------------------------------------------- */

static void test_confined(hot_context *context)
{
    static const float data[7 * VOXELS] = {1, 2, 3};
    static const struct {
        const char *file;
        int inside;
    } cases[] = {{"own.raw", 1},    {"sub/own.raw", 1}, {"./own.raw", 1},    {"./sub/../own.raw", 0},
                 {"../far.raw", 0}, {"link.raw", 0},    {"sub/link.raw", 0}, {"sub/../../far.raw", 0}};
    char head[700], full[400], folder[300];
    CHECK(mkdir("headers", 0700) == 0 && mkdir("headers/sub", 0700) == 0, "folders");
    put("far.raw", "", data, sizeof data), put("headers/own.raw", "", data, sizeof data);
    put("headers/sub/own.raw", "", data, sizeof data);
    CHECK(symlink("../far.raw", "headers/link.raw") == 0 && symlink("../../far.raw", "headers/sub/link.raw") == 0 &&
              getcwd(folder, sizeof folder),
          "links");
    CHECK(hot_context_confined(context) == 0, "not by default");
    for (size_t c = 0; c <= sizeof cases / sizeof *cases; c++)
        for (int mif = 0; mif < 2; mif++) {
            snprintf(full, sizeof full, "%s/far.raw", folder);
            const int absolute = c == sizeof cases / sizeof *cases, inside = !absolute && cases[c].inside;
            const char *name = absolute ? full : cases[c].file, *path = mif ? "headers/h.mih" : "headers/h.nhdr";
            if (mif)
                snprintf(head, sizeof head,
                         "mrtrix image\ndim: %d,%d,%d\nvox: 1,1,1\nlayout: +0,+1,+2\ndatatype: "
                         "Float32%s\nfile: %s\nEND\n",
                         NX, NY, NZ, little(), name);
            else
                snprintf(head, sizeof head,
                         "NRRD0004\ntype: float\ndimension: 3\nsizes: %d %d %d\nendian: %s\nencoding: "
                         "raw\ndata file: %s\n",
                         NX, NY, NZ, little()[0] == 'L' ? "little" : "big", name);
            put(path, head, "", 0);
            for (int confined = 0; confined < 2; confined++) {
                hot_grid where;
                float *values = NULL;
                hot_context_confine(context, confined);
                CHECK(hot_context_confined(context) == confined, "the setting is kept");
                const hot_status status = hot_image_load(context, path, &where, &values);
                CHECK(status == (confined && !inside ? HOT_ERROR_FILE : HOT_OK), "%s of %s, confined %d: %d %s", name,
                      path, confined, (int)status, hot_context_message(context));
                CHECK((values != NULL) == (status == HOT_OK) && (!values || values[1] == 2), "%s", name);
                hot_context_free(context, values);
            }
            hot_context_confine(context, 0);
            unlink(path);
        }
    unlink("far.raw"), unlink("headers/own.raw"), unlink("headers/sub/own.raw");
    unlink("headers/link.raw"), unlink("headers/sub/link.raw");
    CHECK(rmdir("headers/sub") == 0 && rmdir("headers") == 0, "nothing is left");
}

/* World coordinates, mm, of the file's own space: the centre of voxel (i, j, k) is origin + i, j, k steps. */
static void test_world(hot_context *context)
{
    static const char *const spaces[] = {"right-anterior-superior", "left-anterior-superior",
                                         "left-posterior-superior"};
    static const float data[VOXELS];
    for (int s = 0; s < 3; s++)
        for (int nifti = 0; nifti < 2; nifti++) {
            char head[600];
            hot_grid where;
            float *values = NULL;
            hot_mask *mask = NULL;
            snprintf(head, sizeof head,
                     "NRRD0004\ntype: float\ndimension: 3\nspace: %s\nsizes: %d %d %d\nspace directions: "
                     "(2,.1,0) (0,2.5,-.2) (.3,0,3)\nspace origin: (-7,11,13)\nendian: %s\nencoding: raw\n\n",
                     spaces[s], NX, NY, NZ, little()[0] == 'L' ? "little" : "big");
            put("w.nrrd", head, data, sizeof data);
            CHECK(hot_image_load(context, "w.nrrd", &where, &values) == HOT_OK, "%s", hot_context_message(context));
            static const double right[3][4] = {{2, 0, .3, -7}, {.1, 2.5, 0, 11}, {0, -.2, 3, 13}};
            hot_context_free(context, values);
            CHECK(where.space == (hot_space)(HOT_SPACE_RAS + s) && memcmp(where.to_world, right, sizeof right) == 0,
                  "%s", spaces[s]);
            if (nifti) { /* what demands another frame gets it: NIfTI is scanner RAS */
                hot_grid ras;
                double sign[3];
                CHECK(hot_mask_full(context, &where, &mask) == HOT_OK &&
                          hot_mask_save(context, mask, "w.nii") == HOT_OK &&
                          hot_image_load(context, "w.nii", &ras, &values) == HOT_OK && ras.space == HOT_SPACE_RAS,
                      "%s", hot_context_message(context));
                hot_space_ras_sign(where.space, sign);
                for (int i = 0; i < 12; i++)
                    CHECK_NEAR(ras.to_world[i / 4][i % 4], sign[i / 4] * right[i / 4][i % 4], 1e-5, "%s", spaces[s]);
                hot_context_free(context, values);
                hot_mask_destroy(&mask);
                unlink("w.nii");
            }
        }
    unlink("w.nrrd");
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static const hot_dwi *shared;
static const hot_glyphs *shapes;
typedef struct answer {
    float rows[64 * 40], peaks[64 * 9], surface[3 * 4000];
} answer;

static void *ask(void *to)
{
    hot_context *context = context_of(1);
    answer *a = to;
    hot_fiber_field *fibers = NULL;
    hot_tensor_field *field = NULL;
    const hot_fit_options o = {.size = sizeof o, .model = "odf", .order = 4};
    memset(a, 0, sizeof *a);
    CHECK(hot_dwi_read(context, shared, 0, 64, a->rows) == HOT_OK &&
              hot_tensor_field_fit(context, shared, NULL, &o, &field) == HOT_OK &&
              hot_fiber_field_find(context, field, NULL, &fibers) == HOT_OK,
          "%s", hot_context_message(context));
    memcpy(a->peaks, hot_fiber_field_peaks(fibers), sizeof a->peaks);
    for (size_t n = 0; n < 64; n++)
        CHECK(hot_glyphs_surface(shapes, n, a->surface) == 1, "voxel %zu", n);
    hot_fiber_field_destroy(&fibers);
    hot_tensor_field_destroy(&field);
    hot_context_destroy(&context);
    return NULL;
}

static void test_threads(hot_context *context)
{
    static answer alone;
    const hot_phantom_options o = {
        .size = sizeof o, .layout = HOT_PHANTOM_MIXTURE, .volume = {4, 4, 4}, .directions = 32};
    hot_phantom *phantom = NULL;
    hot_tensor_field *field = NULL;
    hot_glyphs *made = NULL;
    CHECK(hot_phantom_create(context, &o, &phantom) == HOT_OK, "%s", hot_context_message(context));
    shared = hot_phantom_dwi(phantom);
    CHECK(hot_tensor_field_fit(context, shared, NULL, NULL, &field) == HOT_OK &&
              hot_glyphs_create(context, field, HOT_SPACE_RAS, &made) == HOT_OK,
          "%s", hot_context_message(context));
    shapes = made;
    CHECK(hot_glyphs_vertices(shapes) <= 4000, "room for %zu vertices", hot_glyphs_vertices(shapes));
    check_at_once(ask, &alone, sizeof alone);
    hot_glyphs_destroy(&made);
    hot_tensor_field_destroy(&field);
    hot_phantom_destroy(&phantom);
}

int main(void)
{
    char folder[] = "/tmp/hotfiber-export-XXXXXX";
    hot_context *context = context_of(2);
    CHECK(mkdtemp(folder) && chdir(folder) == 0, "a folder");
    test_content(context);
    test_images(context);
    test_picture(context);
    test_confined(context);
    test_world(context);
    test_threads(context);
    CHECK(chdir("/tmp") == 0 && rmdir(folder) == 0, "something is left in %s", folder);
    hot_context_destroy(&context);
    COUNTED_TEST_END();
}
