/* Spherical harmonics in scanner axes mean the same directions whatever the space of the file's grid: the form of a
 * voxel along a direction is that of the file whose space is RAS along the same scanner direction. */
#include "check.h"

#include <hotfiber/hotfiber.h>
#include <hotfiber/symtensor.h>

#include <unistd.h>

enum { N = 2, VOXELS = N * N * N, ORDER = 4, TERMS = 15 };

static void write_harmonics(const char *path, const char *space)
{
    uint64_t seed = 12;
    FILE *file = fopen(path, "wb");
    fprintf(file, "NRRD0005\ntype: float\ndimension: 4\nspace: %s\nsizes: %d %d %d %d\n"
            "space directions: (2,0,0) (0,2,0) (0,0,2) none\nkinds: space space space list\nendian: %s\n"
            "encoding: raw\nspace origin: (0,0,0)\n\n", space, N, N, N, TERMS,
            __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? "big" : "little");
    for (int i = 0; i < VOXELS * TERMS; i++) {
        const float value = (float)(i < VOXELS ? 3 + check_random(&seed) : check_random(&seed) - 0.5);
        fwrite(&value, sizeof value, 1, file);
    }
    fclose(file);
}

static hot_tensor_field *load(hot_context *context, const char *space)
{
    const hot_sh_options options = {.size = sizeof options, .basis = "tournier07", .frame = "scanner"};
    hot_tensor_field *field = NULL;
    write_harmonics("sh.nrrd", space);
    CHECK(hot_tensor_field_load_sh(context, "sh.nrrd", &options, &field) == HOT_OK, "%s: %s", space,
          hot_context_message(context));
    remove("sh.nrrd");
    return field;
}

static double form(const hot_tensor_field *field, size_t voxel, const double x[3])
{
    double tensor[TERMS];
    for (size_t i = 0; i < TERMS; i++)
        tensor[i] = (double)hot_tensor_field_values(field)[voxel * (1 + TERMS) + 1 + i];
    return hot_symtensor_value_f64(ORDER, 3, tensor, x);
}

int main(void)
{
    static const struct { const char *name; double sign[3]; } spaces[] = {
        {"right-anterior-superior", {1, 1, 1}}, {"left-posterior-superior", {-1, -1, 1}},
        {"left-anterior-superior", {-1, 1, 1}}};
    hot_context *context = NULL;
    char folder[] = "/tmp/hot_frames_XXXXXX";
    if (hot_context_create(NULL, &context) != HOT_OK || !mkdtemp(folder) || chdir(folder) != 0)
        return 1;
    hot_tensor_field *ras = load(context, spaces[0].name);
    for (size_t s = 1; s < sizeof spaces / sizeof *spaces; s++) {
        hot_tensor_field *field = load(context, spaces[s].name);
        uint64_t seed = 5;
        double apart = 0;
        for (size_t v = 0; v < VOXELS && ras && field; v++)
            for (int i = 0; i < 20; i++) {
                double x[3], own[3];
                check_random_unit(&seed, x);
                for (int d = 0; d < 3; d++)
                    own[d] = spaces[s].sign[d] * x[d]; /* the same direction in the file's world */
                CHECK_NEAR(form(field, v, own), form(ras, v, x), 1e-5, "%s: voxel %zu", spaces[s].name, v);
                apart = fmax(apart, fabs(form(field, v, x) - form(ras, v, x)));
            }
        CHECK(apart > 0.1, "%s: forms are even, so nothing is shown", spaces[s].name);
        hot_tensor_field_destroy(&field);
    }
    hot_tensor_field_destroy(&ras);
    CHECK(chdir("/") == 0 && rmdir(folder) == 0, "nothing is left");
    hot_context_destroy(&context);
    HOT_TEST_END();
}
