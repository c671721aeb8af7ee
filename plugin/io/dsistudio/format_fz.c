/* fz: DSI Studio's fibre file, a gzipped MATLAB 4 file (.fz, formerly .fib.gz). fa0, fa1 ... are the amplitudes of the
 * first, second ... fibre and dir0, dir1 ... their directions, free vectors rather than numbers of a tessellation.
 * Voxels must be in LPS order. DSI Studio tracks in voxel coordinates, so the vectors are along the image's own axes in
 * that order; `trans` takes voxels to scanner RAS. */
#include <math.h>
#include <string.h>

#include "dwi/frames.h"
#include "common/entry.h"
#include "core/grid_match.h"
#include "io/common/formats.h"
#include "io/common/gzip_writer.h"
#include "io/common/output.h"

/* MATLAB's types of samples, and how many fibres DSI Studio looks for. */
enum { FLOAT32 = 10, INT32 = 20, UINT8 = 50, FIBERS_MAX = 8, BLOCK = 1 << 16 };

typedef struct fz {
    hot_context *context;
    const hot_fiber_field *fibers;
    hot_gzip_writer *zip;
    hot_status status;
    size_t size[3], step[3], start; /* of the LPS grid; where its voxels lie among ours */
    double axes[3][3];              /* its axes in our world, as columns */
    double ras[3][4];               /* its voxels to scanner RAS */
    int count;                      /* fibres per voxel, at least 1 */
    size_t held;
    unsigned char block[BLOCK];
} fz;

/* ---- Geometry ---------------------------------------------------------------------------------------------- */

/* The order and the directions of our axes that come nearest to L, P, S. */
static void find_lps(fz *f)
{
    const hot_grid *grid = &f->fibers->grid;
    const size_t strides[3] = {1, grid->size[0], grid->size[0] * grid->size[1]};
    double own[3][3], ras[3][4], lps[3];
    int order[3];
    hot_grid_image_axes(grid, own);
    hot_grid_to_ras(grid, ras);
    hot_space_ras_sign(grid->space, lps);
    hot_grid_axes_match((const double(*)[3])own, order);
    for (int r = 0; r < 3; r++) {
        lps[r] *= r < 2 ? -1 : 1;
        f->ras[r][3] = ras[r][3];
    }
    f->start = 0;
    for (int a = 0; a < 3; a++) {
        const int from = order[a], flip = lps[a] * own[a][from] < 0;
        f->size[a] = grid->size[from];
        f->step[a] = flip ? (size_t)0 - strides[from] : strides[from]; /* unsigned: wraps to the voxel before */
        f->start += flip ? (f->size[a] - 1) * strides[from] : 0;
        for (int r = 0; r < 3; r++) {
            f->axes[r][a] = flip ? -own[r][from] : own[r][from];
            f->ras[r][a] = flip ? -ras[r][from] : ras[r][from];
            f->ras[r][3] += flip ? ras[r][from] * (double)(f->size[a] - 1) : 0;
        }
    }
}

/* Our number of the voxel that is `at` there. */
static size_t voxel_at(const fz *f, size_t at)
{
    return f->start + at % f->size[0] * f->step[0] + at / f->size[0] % f->size[1] * f->step[1] +
           at / f->size[0] / f->size[1] * f->step[2];
}

/* ---- Records ----------------------------------------------------------------------------------------------- */

static void flush(fz *f)
{
    if (f->status == HOT_OK)
        f->status = hot_gzip_write(f->zip, f->block, f->held);
    f->held = 0;
}

static void put(fz *f, const void *data, size_t bytes)
{
    if (f->held + bytes > BLOCK)
        flush(f);
    memcpy(f->block + f->held, data, bytes);
    f->held += bytes;
}

static void put_float(fz *f, double value) { put(f, &(float){(float)value}, sizeof(float)); }

static void put_head(fz *f, const char *name, int type, size_t rows, size_t columns)
{
    const uint16_t one = 1;
    const uint32_t head[5] = {(uint32_t)type + (*(const uint8_t *)&one ? 0 : 1000), (uint32_t)rows, (uint32_t)columns,
                              0, (uint32_t)strlen(name) + 1};
    put(f, head, sizeof head);
    put(f, name, strlen(name) + 1);
}

static const float *fiber_at(const fz *f, size_t at, int number)
{
    return f->fibers->peaks + 3 * (voxel_at(f, at) * (size_t)f->fibers->max_fibers + (size_t)number);
}

static double length_of(const float v[3])
{
    return sqrt((double)v[0] * v[0] + (double)v[1] * v[1] + (double)v[2] * v[2]);
}

static void put_grid(fz *f)
{
    put_head(f, "dimension", INT32, 1, 3);
    for (int a = 0; a < 3; a++)
        put(f, &(int32_t){(int32_t)f->size[a]}, sizeof(int32_t));
    put_head(f, "voxel_size", FLOAT32, 1, 3);
    for (int a = 0; a < 3; a++)
        put_float(f, sqrt(f->ras[0][a] * f->ras[0][a] + f->ras[1][a] * f->ras[1][a] + f->ras[2][a] * f->ras[2][a]));
    put_head(f, "trans", FLOAT32, 4, 4);
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++)
            put_float(f, r < 3 ? f->ras[r][c] : c == 3);
}

/* The direction along the axes of the LPS grid; 0 without a fibre. */
static void put_unit(fz *f, const float v[3])
{
    const double length = length_of(v);
    for (int a = 0; a < 3; a++)
        put_float(f, length > 0 ? (f->axes[0][a] * v[0] + f->axes[1][a] * v[1] + f->axes[2][a] * v[2]) / length : 0);
}

static void put_fibers(fz *f, size_t voxels)
{
    char name[16];
    for (int n = 0; n < f->count; n++) {
        snprintf(name, sizeof name, "fa%d", n);
        put_head(f, name, FLOAT32, 1, voxels);
        for (size_t at = 0; at < voxels; at++)
            put_float(f, length_of(fiber_at(f, at, n)));
        snprintf(name, sizeof name, "dir%d", n);
        put_head(f, name, FLOAT32, 3, voxels);
        for (size_t at = 0; at < voxels; at++)
            put_unit(f, fiber_at(f, at, n));
    }
}

static void put_all(fz *f)
{
    const size_t voxels = hot_grid_voxels(&f->fibers->grid);
    f->count = 1;
    for (size_t v = 0; v < voxels; v++)
        f->count = f->fibers->counts[v] > f->count ? f->fibers->counts[v] : f->count;
    f->count = f->count < FIBERS_MAX ? f->count : FIBERS_MAX;
    if (voxels > INT32_MAX) {
        f->status = hot_context_fail(f->context, HOT_ERROR_DATA, "%zu voxels are more than a .fz file can count",
                                     voxels);
        return;
    }
    put_grid(f);
    put_head(f, "mask", UINT8, f->size[0] * f->size[1], f->size[2]);
    for (size_t at = 0; at < voxels; at++)
        put(f, &(uint8_t){f->fibers->counts[voxel_at(f, at)] > 0}, 1);
    put_fibers(f, voxels);
    flush(f);
}

hot_status hot_write_fz(hot_context *context, const hot_fiber_field *fibers, const char *path)
{
    HOT_ENTRY(context);
    hot_output output = {0};
    FILE *file = NULL;
    fz *f = hot_context_calloc(context, 1, sizeof *f);
    if (!f)
        return HOT_ERROR_MEMORY;
    f->context = context;
    f->fibers = fibers;
    find_lps(f);
    f->status = hot_output_begin(context, path, &output);
    if (f->status == HOT_OK)
        f->status = hot_output_file(context, &output, &file);
    if (f->status == HOT_OK)
        f->status = hot_gzip_begin(context, file, path, &f->zip);
    if (f->status == HOT_OK)
        put_all(f);
    f->status = hot_gzip_end(&f->zip, f->status);
    hot_status status = f->status;
    hot_context_free(context, f);
    return hot_output_end(context, &output, status);
}
