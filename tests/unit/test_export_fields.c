/* Tensor fields and directions through files: tensors come back; layouts of others are understood; broken files get one
 * line. */
#include "check.h"
#include "folders.h"

#include <unistd.h>

#include <teem/nrrd.h>

#include "core/fields.h"

static const hot_grid oblique = {
    .size = {3, 2, 4},
    .to_world = {{1.2, -.5, .1, 10}, {.6, 1.1, -.2, -20}, {0, .3, 2.5, 30}},
    .space = HOT_SPACE_LPS,
};
enum { VOXELS = 24 };

static void same_grid(const hot_grid *a, const hot_grid *b)
{
    CHECK(a->space == b->space, "space %d", a->space);
    for (int row = 0; row < 3; row++) {
        CHECK(a->size[row] == b->size[row], "size %d", row);
        for (int column = 0; column < 4; column++)
            CHECK_NEAR(a->to_world[row][column], b->to_world[row][column], 1e-5, "%d %d", row, column);
    }
}

/* A field of random tensors; of model fod with a response, or of adc without. */
static hot_tensor_field *make_tensors(hot_context *context, int order, uint64_t seed)
{
    size_t row = 1 + hot_symtensor_count(order, 3);
    float *values = malloc(VOXELS * row * sizeof *values);
    hot_tensor_field *field = NULL;
    for (size_t i = 0; i < VOXELS * row; i++)
        values[i] = (float)check_random_normal(&seed);
    for (size_t voxel = 0; voxel < VOXELS; voxel++)
        values[voxel * row] = voxel % 3 != 0;
    if (hot_tensor_field_create(context, &oblique, order, order == 4 ? "fod" : "adc", values, &field) == HOT_OK &&
        order == 4) {
        field->flagged = 5;
        field->response = hot_context_calloc(context, 1, sizeof *field->response);
        if (field->response) {
            *field->response = (hot_response){.context = context, .shells = 2, .lmax = 6, .typical = 11. / 13,
                                              .noise = 1. / 17};
            field->response->b = hot_context_alloc(context, 2, sizeof(double));
            field->response->rows = hot_context_alloc(context, 8, sizeof(double));
        }
        if (!field->response || !field->response->b || !field->response->rows)
            hot_tensor_field_destroy(&field);
        else {
            field->response->b[0] = 1000. / 3, field->response->b[1] = NAN;
            for (int i = 0; i < 8; i++)
                field->response->rows[i] = 1e3 * check_random_normal(&seed) / 7;
        }
    }
    free(values);
    return field;
}

static void tensors_round_trip(hot_context *context, int order, const char *path)
{
    hot_tensor_field *out = make_tensors(context, order, 3), *in = NULL;
    size_t fitted, flagged, row = 1 + hot_symtensor_count(order, 3);
    CHECK(hot_tensor_field_save(context, out, path) == HOT_OK, "%s", hot_context_message(context));
    CHECK(hot_tensor_field_load(context, path, &in) == HOT_OK, "%s", hot_context_message(context));
    if (in) {
        same_grid(hot_tensor_field_grid(in), &oblique);
        hot_tensor_field_counts(in, &fitted, &flagged);
        CHECK(hot_tensor_field_order(in) == order && strcmp(hot_tensor_field_model(in), out->model) == 0, "model");
        CHECK(fitted == 16 && flagged == out->flagged, "%zu %zu", fitted, flagged);
        CHECK(memcmp(in->values, out->values, VOXELS * row * sizeof(float)) == 0, "values");
        const hot_response *response = hot_tensor_field_response(in);
        CHECK(!response == (order != 4), "response");
        CHECK(!response || response->typical == out->response->typical, "typical fibre");
        CHECK(!response || response->noise == out->response->noise, "its noise");
        double b;
        for (size_t shell = 0; response && shell < 2; shell++)
            for (int i = 0; i < 4; i++) {
                CHECK(hot_response_row(response, shell, &b)[i] == out->response->rows[4 * shell + i], "row %zu", shell);
                CHECK(shell == 0 ? b == 1000. / 3 : isnan(b), "b %g", b);
            }
    }
    hot_tensor_field_destroy(&in);
    hot_tensor_field_destroy(&out);
    unlink(path);
}

/* Another program's tensors: doubles, no keys, no confidence. */
static void foreign_tensors(hot_context *context)
{
    double values[VOXELS * 15];
    for (int i = 0; i < VOXELS * 15; i++)
        values[i] = i / 8.;
    size_t sizes[4] = {15, 3, 2, 4};
    Nrrd *nrrd = nrrdNew();
    hot_tensor_field *in = NULL;
    CHECK(nrrdWrap_nva(nrrd, values, nrrdTypeDouble, 4, sizes) == 0 && nrrdSave("f.nrrd", nrrd, NULL) == 0, "write");
    CHECK(hot_tensor_field_load(context, "f.nrrd", &in) == HOT_OK, "%s", hot_context_message(context));
    CHECK(in && in->order == 4 && strcmp(in->model, "unknown") == 0 && in->fitted == VOXELS, "foreign");
    for (int voxel = 0; in && voxel < VOXELS; voxel++)
        for (int i = 0; i < 16; i++)
            CHECK(in->values[16 * voxel + i] == (i ? (15 * voxel + i - 1) / 8.f : 1), "voxel %d value %d", voxel, i);
    hot_tensor_field_destroy(&in);
    nrrdNix(nrrd);
    unlink("f.nrrd");
}

/* 5-D directions (amplitude and unit vector, fibre, i j k), with a measurement frame that turns x into y. */
static void five_axes(hot_context *context)
{
    float values[VOXELS][2][4] = {{{0}}};
    for (int voxel = 0; voxel < VOXELS; voxel++) {
        values[voxel][0][0] = .25f, values[voxel][0][3] = 1;
        values[voxel][1][0] = .5f, values[voxel][1][1] = 1;
    }
    size_t sizes[5] = {4, 2, 3, 2, 4};
    Nrrd *nrrd = nrrdNew();
    hot_fiber_field *in = NULL;
    CHECK(nrrdWrap_nva(nrrd, values, nrrdTypeFloat, 5, sizes) == 0 &&
              nrrdSpaceSet(nrrd, nrrdSpaceRightAnteriorSuperior) == 0,
          "wrap");
    const double frame[3][3] = {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}}; /* its column vectors */
    for (unsigned int a = 0; a < 3; a++)
        for (unsigned int d = 0; d < 3; d++) {
            nrrd->axis[a + 2].spaceDirection[d] = a == d;
            nrrd->measurementFrame[a][d] = frame[a][d];
        }
    CHECK(nrrdSave("5.nrrd", nrrd, NULL) == 0, "write");
    CHECK(hot_fiber_field_load(context, "5.nrrd", &in) == HOT_OK, "%s", hot_context_message(context));
    const float want[6] = {0, .5f, 0, 0, 0, .25f};
    for (int i = 0; in && i < 6 * VOXELS; i++)
        CHECK(in->peaks[i] == want[i % 6], "value %d: %g", i, in->peaks[i]);
    hot_fiber_field_destroy(&in);
    nrrdNix(nrrd);
    unlink("5.nrrd");
}

/* ---- Trouble --------------------------------------------------------------------------------------------- */

static void one_line(hot_context *context, const char *must)
{
    const char *message = hot_context_message(context);
    CHECK(strstr(message, must) && !strchr(message, '\n'), "'%s' should speak of '%s'", message, must);
}

static void broken_files(hot_context *context)
{
    const char *header = "NRRD0004\ntype: float\ndimension: 4\nsizes: %s\nencoding: raw\nendian: little\n%s\n";
    const struct { const char *sizes, *more, *must; } tensors[] = {
        {"16 3 2 4", "", "'t.nrrd'"}, /* the data are missing */
        {"17 3 2 4", "", "'t.nrrd' holds no tensors: 17 volumes"},
        {"16 3 2 4", "labels: \"tijk_mask_6o3d_sym\" \"\" \"\" \"\"\n",
         "'t.nrrd': axis 0 is labelled 'tijk_mask_6o3d_sym' but has 16 values"},
        {"16 3 2 4", "hotfiber_order:=6\n", "'t.nrrd': key hotfiber_order is 6 but axis 0 has order 4"},
        {"16 3 2 4", "hotfiber_order:=2\n", "'t.nrrd': key hotfiber_order is 2 but axis 0 has order 4"},
        {"16 3 2 4", "hotfiber_order:=four\n", "'t.nrrd': key hotfiber_order is 'four', not a count"},
        {"16 3 2 4", "hotfiber_order:=4.5\n", "'t.nrrd': key hotfiber_order is '4.5', not a count"},
        {"16 3 2 4", "hotfiber_flagged:=-1\n", "'t.nrrd': key hotfiber_flagged is '-1', not a count"},
        {"16 3 2 4", "hotfiber_response:=1 2 ; 3\n", "t.nrrd"},
        {"16 3 2 4", "hotfiber_model:=amodelwithaverylongname\n", "'t.nrrd': key hotfiber_model is too long"},
    };
    static const char zeros[17 * VOXELS * 4];
    for (size_t i = 0; i < sizeof tensors / sizeof tensors[0]; i++) {
        hot_tensor_field *tensor_field = NULL;
        hot_fiber_field *fibers = NULL;
        FILE *file = fopen("t.nrrd", "wb");
        fprintf(file, header, tensors[i].sizes, tensors[i].more);
        fwrite(zeros, 1, i ? sizeof zeros : 100, file);
        fclose(file);
        CHECK(hot_tensor_field_load(context, "t.nrrd", &tensor_field) != HOT_OK && !tensor_field, "tensors %zu", i);
        one_line(context, tensors[i].must);
        CHECK(hot_fiber_field_load(context, "t.nrrd", &fibers) != HOT_OK && !fibers, "fibers %zu", i);
        one_line(context, "t.nrrd");
    }
    unlink("t.nrrd");
    hot_tensor_field *field = NULL;
    CHECK(hot_tensor_field_load(context, "a.nii", &field) == HOT_ERROR_FILE, "no such tensors");
    field = make_tensors(context, 6, 1);
    CHECK(hot_tensor_field_save(context, field, "/dev/null/a.nrrd") == HOT_ERROR_FILE, "no folder");
    one_line(context, "/dev/null");
    CHECK(hot_tensor_field_save(context, field, "/dev/full") == HOT_ERROR_FILE, "full");
    one_line(context, "/dev/full");
    hot_tensor_field_destroy(&field);
    CHECK(files_in(".") == 0, "%zu files left", files_in("."));
}

int main(void)
{
    char folder[] = "/tmp/hot_fields_XXXXXX";
    hot_context *context = NULL;
    CHECK(mkdtemp(folder) && chdir(folder) == 0, "folder");
    CHECK(hot_context_create(NULL, &context) == HOT_OK, "context");
    for (int order = 2; order <= 8; order += 2)
        tensors_round_trip(context, order, "t.nrrd");
    foreign_tensors(context);
    five_axes(context);
    broken_files(context);
    CHECK(chdir("/") == 0 && rmdir(folder) == 0, "empty folder");
    hot_context_destroy(&context);
    HOT_TEST_END();
}
