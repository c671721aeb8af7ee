/* All export formats by the list: an allocation that fails, whichever it is, a disk that is full, a folder that is not
 * there: one line, nothing left behind. And where the picture puts things, for random geometries. */
#include "check.h"
#include "folders.h"
#include "starve.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/fields.h"
#include "io/picture/picture_layout.h"

enum { VOXELS = 24 };

/* ---- Inputs ---------------------------------------------------------------------------------------------- */

static hot_grid grid_of(size_t a, size_t b, size_t c)
{
    return (hot_grid){.size = {a, b, c},
                      .to_world = {{1.2, -.5, .1, 10}, {.6, 1.1, -.2, -20}, {0, .3, 2.5, 30}},
                      .space = HOT_SPACE_LPS};
}

static hot_fiber_field *make_fibers(hot_context *context, const hot_grid *grid, int none)
{
    size_t voxels = hot_grid_voxels(grid);
    float *peaks = calloc(voxels, 9 * sizeof *peaks);
    uint64_t seed = 7;
    hot_fiber_field *fibers = NULL;
    for (size_t voxel = 0; voxel < voxels && !none; voxel++)
        for (size_t i = 0, values = 3 * (check_random_bits(&seed) % 4); i < values; i++)
            peaks[9 * voxel + i] = (float)check_random_normal(&seed);
    if (hot_fiber_field_create(context, grid, 3, peaks, &fibers) != HOT_OK)
        fibers = NULL;
    free(peaks);
    return fibers;
}

/* Such as the format takes: diffusion tensors for the maps of these, else an fODF. */
static hot_tensor_field *make_tensors(hot_context *context, const hot_grid *grid, const hot_export_format *format)
{
    const int diffusion = strcmp(format->name, "fa") == 0 || strcmp(format->name, "md") == 0;
    const size_t voxels = hot_grid_voxels(grid), row = diffusion ? 7 : 16;
    float *values = calloc(voxels, row * sizeof *values);
    uint64_t seed = 8;
    hot_tensor_field *tensors = NULL;
    for (size_t i = 0; i < row * voxels; i++)
        values[i] = i % row ? (float)check_random_normal(&seed) : 1;
    if (hot_tensor_field_create(context, grid, diffusion ? 2 : 4, diffusion ? "adc" : "fod", values, &tensors) !=
        HOT_OK)
        tensors = NULL;
    free(values);
    return tensors;
}

/* The usual file name of a format. */
static void name_for(const hot_export_format *format, char *name, size_t capacity)
{
    snprintf(name, capacity, "%s%.*s", format->name, (int)strcspn(format->suffix, "|"), format->suffix);
}

/* ---- Trouble --------------------------------------------------------------------------------------------- */

static void test_starved(const hot_export_format *format)
{
    char name[64];
    int done = 0;
    size_t k = 0;
    name_for(format, name, sizeof name);
    for (; !done && k < 1000; k++) {
        starved memory = {.fail_at = (long)k};
        hot_context_options options = {.size = sizeof options, .allocate = starved_take,
                                       .release = starved_give, .allocator_user = &memory};
        hot_grid grid = grid_of(3, 2, 4);
        hot_context *context = NULL;
        hot_fiber_field *fibers = NULL;
        hot_tensor_field *tensors = NULL;
        if (hot_context_create(&options, &context) == HOT_OK) {
            hot_status status = HOT_ERROR_MEMORY;
            if (format->write && (fibers = make_fibers(context, &grid, 0)))
                status = format->write(context, fibers, name);
            else if (!format->write && (tensors = make_tensors(context, &grid, format)))
                status = format->write_tensors(context, tensors, name);
            done = status == HOT_OK;
            CHECK(done || files_in(".") == 0, "%s, allocation %zu: %zu files left", format->name, k, files_in("."));
            CHECK(done || hot_context_message(context)[0], "%s, %zu: a message", format->name, k);
            CHECK(!done || memory.calls <= (long)k, "%s, %zu: done though an allocation failed", format->name, k);
        }
        hot_fiber_field_destroy(&fibers);
        hot_tensor_field_destroy(&tensors);
        hot_context_destroy(&context);
        CHECK(memory.live == 0, "%s, allocation %zu: %ld pieces leaked", format->name, k, memory.live);
    }
    CHECK(done, "%s: never done", format->name);
    CHECK(files_in(".") > 0, "%s: wrote nothing", format->name);
    remove_all(".");
}

static void refused(hot_context *context, hot_status status, const char *name, const char *what)
{
    CHECK(status == HOT_ERROR_FILE, "%s, %s: status %d", name, what, status);
    const char *message = hot_context_message(context);
    CHECK(message[0] && !strchr(message, '\n'), "%s, %s: '%s'", name, what, message);
    CHECK(files_in(".") == 0, "%s, %s: %zu files left", name, what, files_in("."));
    remove_all(".");
}

/* A disk that is full after some bytes (a limit on the size of files), and a folder that is not there. */
static void disk(hot_context *context, const hot_export_format *format)
{
    hot_grid grid = grid_of(20, 20, 20);
    hot_fiber_field *fibers = make_fibers(context, &grid, 0);
    hot_tensor_field *tensors = make_tensors(context, &grid, format);
    char name[64], path[80];
    struct rlimit limit;
    name_for(format, name, sizeof name);
    snprintf(path, sizeof path, "/dev/null/%s", name); /* a folder that cannot be made */
    hot_status status = format->write ? format->write(context, fibers, path)
                                      : format->write_tensors(context, tensors, path);
    refused(context, status, format->name, "no folder");
    getrlimit(RLIMIT_FSIZE, &limit);
    rlim_t before = limit.rlim_cur;
    for (rlim_t bytes = 0; bytes <= 1000; bytes += 500) {
        limit.rlim_cur = bytes;
        setrlimit(RLIMIT_FSIZE, &limit);
        status = format->write ? format->write(context, fibers, name) : format->write_tensors(context, tensors, name);
        limit.rlim_cur = before;
        setrlimit(RLIMIT_FSIZE, &limit);
        refused(context, status, format->name, "disk full");
    }
    hot_fiber_field_destroy(&fibers);
    hot_tensor_field_destroy(&tensors);
}

/* No fibre anywhere, and a single voxel: files as ever. */
static void small(hot_context *context, const hot_export_format *format)
{
    for (int which = 0; which < 2; which++) {
        hot_grid grid = which ? grid_of(1, 1, 1) : grid_of(4, 3, 2);
        hot_fiber_field *fibers = make_fibers(context, &grid, 1);
        hot_tensor_field *tensors = make_tensors(context, &grid, format);
        char name[64];
        name_for(format, name, sizeof name);
        hot_status status = format->write ? format->write(context, fibers, name)
                                          : format->write_tensors(context, tensors, name);
        CHECK(status == HOT_OK, "%s: %s", format->name, hot_context_message(context));
        hot_fiber_field_destroy(&fibers);
        hot_tensor_field_destroy(&tensors);
        remove_all(".");
    }
}

/* A folder that holds something else is not replaced, nor is a file; an earlier fixel directory is. */
static void fixel_folder(hot_context *context)
{
    hot_grid grid = grid_of(4, 3, 2);
    hot_fiber_field *fibers = make_fibers(context, &grid, 0);
    const hot_export_format *format = hot_export_format_find("fixels", NULL);
    CHECK(mkdir("f", 0777) == 0 && mkdir("f/data", 0777) == 0, "folder");
    CHECK(format->write(context, fibers, "f") == HOT_ERROR_FILE && strstr(hot_context_message(context), "'data'"), "%s",
          hot_context_message(context));
    CHECK(rmdir("f/data") == 0 && format->write(context, fibers, "f/") == HOT_OK && files_in("f") == 3, "empty: %s",
          hot_context_message(context));
    CHECK(format->write(context, fibers, "f") == HOT_OK && files_in("f") == 3 && files_in(".") == 1, "ours: %s",
          hot_context_message(context));
    FILE *file = fopen("g", "w");
    fclose(file);
    CHECK(format->write(context, fibers, "g") == HOT_ERROR_FILE && files_in(".") == 2, "a file");
    /* a killed process' leftovers are removed, unless they are locked or have another name */
    static const struct { const char *name; int locked, goes; } left[] = {
        {".part-4000001-7-f", 0, 1}, {".part-4000002-7-f", 1, 0}, {".part-4000003-7-ff", 0, 0}};
    int handles[3];
    for (int i = 0; i < 3; i++) {
        char inside[64];
        snprintf(inside, sizeof inside, "%s/index.mif", left[i].name);
        CHECK(mkdir(left[i].name, 0777) == 0 && (file = fopen(inside, "w")), "%s", inside);
        fclose(file);
        handles[i] = open(left[i].name, O_RDONLY | O_DIRECTORY);
        CHECK(!left[i].locked || flock(handles[i], LOCK_EX) == 0, "lock");
    }
    CHECK(format->write(context, fibers, "f") == HOT_OK, "%s", hot_context_message(context));
    for (int i = 0; i < 3; i++) {
        CHECK((access(left[i].name, F_OK) != 0) == left[i].goes, "%s", left[i].name);
        close(handles[i]);
    }
    CHECK(files_in(".") == 4 && files_in("f") == 3, "nothing else: %zu, %zu", files_in("."), files_in("f"));
    hot_fiber_field_destroy(&fibers);
    remove_all(".");
}

/* ---- The picture's geometry ------------------------------------------------------------------------------- */

static void letters(void)
{
    const struct { double direction[3]; int known; const char *want; } cases[] = {
        {{1, 0, 0}, 1, "R"},          {{-1, 0.1, 0}, 1, "L"},  {{0, 0, -2}, 1, "I"},      {{.3, .9, .1}, 1, "AR"},
        {{.3, -.4, .9}, 1, "SP"},     {{-.5, .2, -.8}, 1, "IL"}, {{0, -1, .2}, 0, "-y"}, {{.1, .9, .9001}, 0, "+z"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char found[3];
        hot_direction_letters(cases[i].direction, cases[i].known, found);
        CHECK(strcmp(found, cases[i].want) == 0, "case %zu: %s, not %s", i, found, cases[i].want);
    }
}

/* In any geometry: screen right is the patient's left (or back) and screen up is up (or front), as the letters say. */
static void layouts(void)
{
    const hot_space spaces[] = {HOT_SPACE_RAS, HOT_SPACE_LAS, HOT_SPACE_LPS};
    uint64_t seed = 11;
    for (int turn = 0; turn < 200; turn++) {
        /* a random rotation of unequal spacings, of any handedness, in any space */
        double x[3], y[3], z[3];
        check_random_unit(&seed, x);
        check_random_unit(&seed, y);
        for (int d = 0; d < 3; d++)
            z[d] = x[(d + 1) % 3] * y[(d + 2) % 3] - x[(d + 2) % 3] * y[(d + 1) % 3];
        double length = sqrt(z[0] * z[0] + z[1] * z[1] + z[2] * z[2]), hand = turn % 2 ? 1 : -1;
        hot_grid grid = {.size = {9, 8, 7}, .space = spaces[turn % 3]};
        for (int d = 0; d < 3; d++) {
            z[d] /= length;
            grid.to_world[d][0] = 1.5 * x[d];
            grid.to_world[d][2] = 2.5 * hand * z[d];
        }
        for (int d = 0; d < 3; d++)
            grid.to_world[d][1] = 2 * (z[(d + 1) % 3] * x[(d + 2) % 3] - z[(d + 2) % 3] * x[(d + 1) % 3]);
        uint8_t counts[9 * 8 * 7] = {0};
        for (size_t k = 2; k <= 4; k++)
            counts[5 + 9 * (3 + 8 * k)] = 1;
        hot_picture_layout layout;
        double ras[3][4];
        hot_picture_lay_out(&grid, counts, &layout);
        hot_grid_to_ras(&grid, ras);
        CHECK(layout.low[0] == 4 && layout.high[0] == 6 && layout.low[2] == 1 && layout.high[2] == 5, "box");
        CHECK(layout.width <= 2401 && layout.height <= 2401, "%d x %d", layout.width, layout.height);
        for (int p = 0; p < 3; p++) {
            const hot_panel *panel = &layout.panels[p];
            const int right[] = {0, 1, 0}, up[] = {2, 2, 1}; /* coronal, sagittal, axial: against these world axes */
            CHECK(panel->across + panel->down + panel->through == 3 && panel->across != panel->down, "axes");
            const size_t middle[] = {5, 3, 3};
            CHECK(panel->slice == middle[panel->through], "slice %zu", panel->slice);
            /* a step to the right of the screen, and a step down, in RAS */
            double across = panel->across_sign * ras[right[p]][panel->across];
            double down = panel->down_sign * ras[up[p]][panel->down];
            CHECK(across < 0 && down < 0, "turn %d panel %d: %g %g", turn, p, across, down);
            CHECK(panel->x >= 0 && panel->y >= 0 && panel->x + panel->width <= layout.width &&
                  panel->y + panel->height <= layout.height, "inside");
            /* the letters on both ends are opposites, and the first one is the axis that dominates there */
            const char *opposite = "RLAPSI";
            for (int pair = 0; pair < 2; pair++)
                for (int c = 0; c < 2 && panel->letters[2 * pair][c]; c++) {
                    size_t at = (size_t)(strchr(opposite, panel->letters[2 * pair][c]) - opposite);
                    CHECK(panel->letters[2 * pair + 1][c] == opposite[at ^ 1], "%s %s", panel->letters[2 * pair],
                          panel->letters[2 * pair + 1]);
                }
            double step[3];
            for (int d = 0; d < 3; d++)
                step[d] = panel->across_sign * ras[d][panel->across];
            int most = fabs(step[0]) > fabs(step[1]) ? 0 : 1;
            most = fabs(step[2]) > fabs(step[most]) ? 2 : most;
            CHECK(panel->letters[1][0] == (step[most] > 0 ? "RAS" : "LPI")[most], "right edge %s", panel->letters[1]);
        }
        /* mm along grid axes of a voxel's step are its spacing */
        const double spacing[] = {1.5, 2, 2.5};
        for (int axis = 0; axis < 3; axis++)
            for (int d = 0; d < 3; d++) {
                double along = 0;
                for (int e = 0; e < 3; e++)
                    along += layout.to_axes[d][e] * ras[e][axis];
                CHECK_NEAR(along, d == axis ? spacing[d] : 0, 1e-9, "axis %d", axis);
            }
    }
}

static void names(void)
{
    const struct { const char *path, *format; } cases[] = {
        {"out/peaks.nii.gz", "peaks"}, {"nfibers.nii.gz", "nfibers"}, {"x.nii", "peaks"}, {"fiber.nrrd", "fiber"},
        {"dec.nii.gz", "dec"}, {"a.b/x.png", "png"}, {"fibers.vtp", "vtp"}, {"some/folder", "fixels"}, {"x/", "fixels"},
        {"x.jpeg", NULL}, {"dec.png", "dec"}, {"glyphs.vtp", "glyphs"}, {"glyphs.ply", "ply"}, {"fixels.nrrd", "peaks"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const hot_export_format *format = hot_export_format_find(NULL, cases[i].path);
        CHECK(format ? cases[i].format && strcmp(format->name, cases[i].format) == 0 : !cases[i].format, "%s: %s",
              cases[i].path, format ? format->name : "none");
    }
    CHECK(hot_export_format_find("vtp", "x") && !hot_export_format_find("gif", "x.png"), "by name");
}

/* Nothing is written as NRRD under another format's name. */
static void suffixes(hot_context *context)
{
    const hot_grid grid = grid_of(2, 2, 2);
    hot_fiber_field *fibers = make_fibers(context, &grid, 0);
    hot_tensor_field *tensors = make_tensors(context, &grid, hot_export_format_find("glyphs", NULL));
    CHECK(fibers && tensors, "fields");
    CHECK(hot_tensor_field_save(context, tensors, "a.png") == HOT_ERROR_ARGUMENT &&
              strstr(hot_context_message(context), "'.png' is none of .nrrd"), "%s", hot_context_message(context));
    CHECK(hot_fiber_field_save(context, fibers, "a.vtp") == HOT_ERROR_ARGUMENT &&
              strstr(hot_context_message(context), "'.vtp' is none of .nrrd"), "%s", hot_context_message(context));
    CHECK(files_in(".") == 0, "nothing is left");
    CHECK(hot_tensor_field_save(context, tensors, "plain") == HOT_OK && remove("plain") == 0, "no suffix is NRRD");
    hot_tensor_field_destroy(&tensors);
    hot_fiber_field_destroy(&fibers);
}

int main(void)
{
    char folder[] = "/tmp/hot_formats_XXXXXX";
    hot_context *context = NULL;
    size_t count;
    signal(SIGXFSZ, SIG_IGN);
    CHECK(mkdtemp(folder) && chdir(folder) == 0, "folder");
    CHECK(hot_context_create(NULL, &context) == HOT_OK, "context");
    const hot_export_format *const *formats = hot_export_formats(&count);
    for (size_t i = 0; i < count; i++) {
        CHECK((formats[i]->write || formats[i]->write_tensors) && formats[i]->help[0], "%s", formats[i]->name);
        CHECK(hot_export_format_find(formats[i]->name, "x") == formats[i], "%s is found", formats[i]->name);
        small(context, formats[i]);
        test_starved(formats[i]);
        disk(context, formats[i]);
    }
    fixel_folder(context);
    letters();
    layouts();
    names();
    suffixes(context);
    CHECK(chdir("/") == 0 && rmdir(folder) == 0, "empty folder");
    hot_context_destroy(&context);
    HOT_TEST_END();
}
