/* A .vtp holds line segments and no grid: the viewer finds the voxels again. Every fibre of a field that was saved so
 * is found where it was, with its direction and length: of turned grids with unequal sides, of which the first segment
 * is in no corner, of one slice, one row and one voxel. */
#include "check.h"
#include "scenes.h"

#include <unistd.h>

enum { NX = 9, NY = 7, NZ = 6, MOST = 3 };

/* Which voxels have fibres: all of a ball's, so that no corner of the box is there; else a box. */
static int has_fibers(const size_t size[3], const size_t at[3], int ball)
{
    double away = 0;
    for (int d = 0; d < 3; d++)
        away += pow(((double)at[d] + 0.5) / (double)size[d] - 0.55, 2);
    return !ball || away < 0.2;
}

static void check_field(hot_context *context, const hot_grid *grid, int ball, uint64_t seed, const char *what)
{
    static float peaks[NX * NY * NZ * 3 * MOST];
    static const char *const path[] = {"fibers.vtp"};
    const size_t voxels = grid->size[0] * grid->size[1] * grid->size[2];
    hot_fiber_field *fibers = NULL;
    hot_scene *scene = NULL;
    size_t saved = 0, seen = 0;
    memset(peaks, 0, sizeof peaks);
    for (size_t v = 0; v < voxels; v++) {
        const size_t at[3] = {v % grid->size[0], v / grid->size[0] % grid->size[1], v / grid->size[0] / grid->size[1]};
        const int many = has_fibers(grid->size, at, ball) ? 1 + (int)(v % MOST) : 0;
        for (int n = 0; n < many; n++, saved++) {
            double x[3];
            check_random_unit(&seed, x);
            for (int d = 0; d < 3; d++)
                peaks[3 * ((size_t)MOST * v + (size_t)n) + (size_t)d] = (float)((0.9 - 0.25 * n) * x[d]);
        }
    }
    CHECK(hot_fiber_field_create(context, grid, MOST, peaks, &fibers) == HOT_OK &&
              hot_export_format_find("vtp", NULL)->write(context, fibers, path[0]) == HOT_OK &&
              hot_scene_load(context, path, 1, NULL, &scene) == HOT_OK, "%s: %s", what, hot_context_message(context));
    double to_ras[3][4], sign[3];
    hot_grid_to_ras(grid, to_ras);
    hot_space_ras_sign(grid->space, sign);
    for (size_t v = 0; scene && v < voxels; v++) {
        const size_t at[3] = {v % grid->size[0], v / grid->size[0] % grid->size[1], v / grid->size[0] / grid->size[1]};
        double ras[3], place[3];
        size_t voxel = 0;
        int inside = 1;
        for (int r = 0; r < 3; r++) {
            ras[r] = to_ras[r][3];
            for (int c = 0; c < 3; c++)
                ras[r] += to_ras[r][c] * (double)at[c];
        }
        hot_scene_from_ras(scene, ras, place);
        for (int d = 2; d >= 0; d--) {
            inside &= place[d] > -0.5 && place[d] < (double)scene->grid.size[d] - 0.5;
            voxel = voxel * scene->grid.size[d] + (size_t)lround(fmax(place[d], 0));
        }
        const float *own = hot_fiber_field_peaks(fibers) + 3 * (size_t)MOST * v;
        for (int n = 0; n < hot_fiber_field_counts(fibers)[v]; n++) {
            CHECK(inside, "%s: voxel %zu is outside", what, v);
            if (!inside)
                continue;
            const float *found = scene->peaks + 3 * ((size_t)scene->max_fibers * voxel + (size_t)n);
            double off[2] = {0}; /* a segment has two ends and no head */
            for (int d = 0; d < 3; d++) {
                CHECK_NEAR(place[d], round(place[d]), 0.01, "%s: voxel %zu", what, v);
                off[0] += fabs((double)found[d] * scene->sign[d] - (double)own[3 * n + d] * sign[d]);
                off[1] += fabs((double)found[d] * scene->sign[d] + (double)own[3 * n + d] * sign[d]);
            }
            CHECK(fmin(off[0], off[1]) < 2e-3, "%s: fibre %d of voxel %zu is off by %g", what, n, v,
                  fmin(off[0], off[1]));
        }
    }
    /* where the field has no voxels next to each other, steps are at right angles and as long as the shortest */
    for (int c = 0; scene && c < 3 && grid->size[0] > 1; c++)
        for (int other = 0; other < 3 && scene->grid.size[c] == 1; other++) {
            double along = 0, step = 0;
            for (int r = 0; r < 3; r++) {
                along += scene->grid.to_world[r][c] * scene->grid.to_world[r][other];
                step += grid->to_world[r][0] * grid->to_world[r][0];
            }
            CHECK_NEAR(along, c == other ? step : 0, 1e-3, "%s: axes %d and %d", what, c, other);
        }
    for (size_t v = 0; scene && v < scene->voxels * (size_t)scene->max_fibers; v++)
        seen += scene->peaks[3 * v] != 0 || scene->peaks[3 * v + 1] != 0 || scene->peaks[3 * v + 2] != 0;
    CHECK(seen == saved, "%s: %zu fibres of %zu", what, seen, saved);
    hot_scene_destroy(&scene);
    hot_fiber_field_destroy(&fibers);
    remove(path[0]);
}

static void test_fields(hot_context *context)
{
    static const hot_space spaces[] = {HOT_SPACE_RAS, HOT_SPACE_LPS, HOT_SPACE_LAS};
    uint64_t seed = 8;
    char folder[] = "/tmp/hot_vtp_XXXXXX", what[64];
    if (!mkdtemp(folder) || chdir(folder) != 0) {
        CHECK(0, "no folder");
        return;
    }
    for (int turn = 0; turn < 6; turn++)
        for (int thin = 0; thin < 4; thin++) {
            hot_grid grid = scene_turned_grid(thin > 2 ? 1 : NX, thin > 1 ? 1 : NY, thin > 0 ? 1 : NZ, turn, &seed);
            grid.space = spaces[turn % 3];
            for (int d = 0; d < 3; d++)
                grid.to_world[d][3] += 40;
            snprintf(what, sizeof what, "turn %d, %d axes of one voxel", turn, thin);
            check_field(context, &grid, thin == 0 && turn % 2, seed, what);
        }
    CHECK(chdir("/") == 0 && rmdir(folder) == 0, "nothing is left");
}

int main(void)
{
    static void (*const tests[])(hot_context *) = {test_fields, NULL};
    return scene_run_tests(tests);
}
