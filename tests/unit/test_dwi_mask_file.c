/* Mask files: any type of sample, zero and NaN outside, sizes that must be the grid's, refusals. */
#include "check.h"
#include "core/fields.h"

static const hot_grid grid = {
    .size = {3, 2, 2}, .to_world = {{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}}, .space = HOT_SPACE_LPS};
static char said[512];

static void log_line(void *user, hot_log_level level, const char *line)
{
    (void)user, (void)level;
    snprintf(said, sizeof said, "%s", line);
}

static void write_mask(const char *type, const char *sizes, const char *more, const char *values)
{
    FILE *file = fopen("mask.nrrd", "wb");
    if (!file)
        return;
    int axes = 1;
    for (const char *c = sizes; *c; c++)
        axes += *c == ' ';
    fprintf(file, "NRRD0005\ntype: %s\ndimension: %d\nsizes: %s\nencoding: ascii\n%s\n%s\n", type, axes, sizes, more,
            values);
    fclose(file);
}

static void refused(hot_context *context, hot_status expected, const char *one, const char *two)
{
    hot_mask *mask = NULL;
    hot_status status = hot_mask_load(context, "mask.nrrd", &grid, &mask);
    CHECK(status == expected && !mask, "status %d: %s", status, hot_context_message(context));
    CHECK(strstr(hot_context_message(context), one) && strstr(hot_context_message(context), two), "%s",
          hot_context_message(context));
}

/* The same voxels in another order, and on other grids that overlap. */
static void placed_masks(hot_context *context)
{
    static const struct { const char *sizes, *place, *values, *note; uint8_t expected[12]; } masks[] = {
        {"3 2 2", "space: LPS\nspace directions: (2,0,0) (0,2,0) (0,0,2)\nspace origin: (0,0,0)\n",
         "1 0 0 1 1 0 0 0 1 0 0 0", "", {1, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0}},
        {"3 2 2", "space: RAS\nspace directions: (2,0,0) (0,-2,0) (0,0,2)\nspace origin: (-4,0,0)\n", /* i reversed */
         "1 0 0 1 1 0 0 0 1 0 0 0", "", {0, 0, 1, 0, 1, 1, 1, 0, 0, 0, 0, 0}},
        {"2 2 3", "space: LPS\nspace directions: (0,2,0) (0,0,2) (2,0,0)\nspace origin: (0,0,0)\n", /* j k i */
         "1 0 0 0 1 1 0 0 0 0 0 1", "", {1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1}},
        {"2 2 2", "space: LPS\nspace directions: (2,0,0) (0,2,0) (0,0,2)\nspace origin: (2.3,0,0)\n", /* a part */
         "1 0 1 0 0 1 0 1", "nearest neighbour", {0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1}},
    };
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        hot_mask *mask = NULL;
        said[0] = '\0';
        write_mask("uchar", masks[i].sizes, masks[i].place, masks[i].values);
        CHECK(hot_mask_load(context, "mask.nrrd", &grid, &mask) == HOT_OK, "%zu: %s", i, hot_context_message(context));
        CHECK(mask && memcmp(hot_mask_bytes(mask), masks[i].expected, 12) == 0, "mask %zu", i);
        CHECK(strstr(said, masks[i].note) && !said[0] == !masks[i].note[0], "%zu: '%s'", i, said);
        hot_mask_destroy(&mask);
    }
}

int main(void)
{
    static const char *const types[] = {"signed char", "uchar",    "short",     "ushort", "int",
                                        "uint",        "longlong", "ulonglong", "float",  "double"};
    hot_context_options options = {.size = sizeof options, .log = log_line};
    hot_context *context = NULL;
    hot_mask *mask = NULL;
    CHECK(hot_context_create(&options, &context) == HOT_OK, "context");
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        int real = types[t][0] == 'f' || types[t][0] == 'd', unsign = types[t][0] == 'u';
        write_mask(types[t], "3 2 2", "",
                   real ? "0 1 -0 .25 nan -7 0 0 0 0 0 1e9"
                   : unsign ? "0 1 0 2 0 99 0 0 0 0 0 100" : "0 1 0 2 0 -9 0 0 0 0 0 100");
        CHECK(hot_mask_load(context, "mask.nrrd", &grid, &mask) == HOT_OK, "%s: %s", types[t],
              hot_context_message(context));
        static const uint8_t expected[12] = {0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1};
        CHECK(mask && hot_mask_count(mask) == 4 && memcmp(hot_mask_bytes(mask), expected, 12) == 0, "%s", types[t]);
        hot_mask_destroy(&mask);
    }
    write_mask("uchar", "1 3 2 2", "", "1 1 1 0 0 0 1 1 1 0 0 0");
    CHECK(hot_mask_load(context, "mask.nrrd", &grid, &mask) == HOT_OK && hot_mask_count(mask) == 6,
          "an axis of one value: %s", hot_context_message(context));
    hot_mask_destroy(&mask);
    CHECK(strstr(said, "does not say where it is"), "a mask without a place: '%s'", said);
    said[0] = '\0';
    write_mask("uchar", "3 2 2", "space: LPS\nspace directions: (2,0,0) (0,2,0) (0,0,2)\nspace origin: (0,0,50)\n",
               "1 1 1 0 0 0 1 1 1 0 0 0");
    refused(context, HOT_ERROR_DATA, "lies elsewhere", "50 to 52");
    CHECK(!said[0], "nothing else to say: %s", said);
    placed_masks(context);

    static const struct { const char *sizes, *samples; hot_status status; const char *text[2]; } bad[] = {
        {"2 3 2", "1 1 1 0 0 0 1 1 1 0 0 0", HOT_ERROR_DATA, {"2 x 3 x 2", "3 x 2 x 2"}},
        {"3 2 3", "1 1 1 0 0 0 1 1 1 0 0 0 1 1 1 0 0 0", HOT_ERROR_DATA, {"3 x 2 x 3", "3 x 2 x 2"}},
        {"12", "1 1 1 0 0 0 1 1 1 0 0 0", HOT_ERROR_DATA, {"12 x 1 x 1", "3 x 2 x 2"}},
        {"2 3 2 2", "1 1 1 0 0 0 1 1 1 0 0 0 1 1 1 0 0 0 1 1 1 0 0 0", HOT_ERROR_FORMAT,
         {"2 values per voxel", "mask.nrrd"}},
        {"3 2 2", "0 0 0 0 0 0 0 0 0 0 0 0", HOT_ERROR_DATA, {"empty", "mask.nrrd"}},
        {"3 2 2", "1 1 1 0", HOT_ERROR_FORMAT, {"too short", "mask.nrrd"}},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_mask("uchar", bad[i].sizes, "", bad[i].samples);
        refused(context, bad[i].status, bad[i].text[0], bad[i].text[1]);
    }
    CHECK(hot_mask_load(context, "no-such.nii.gz", &grid, &mask) == HOT_ERROR_FILE, "%s", hot_context_message(context));
    hot_context_destroy(&context);
    HOT_TEST_END();
}
