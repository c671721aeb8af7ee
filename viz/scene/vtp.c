#include "vtp.h"
#include "common/free.h"
#include "io/common/file_open.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The file --------------------------------------------------------------------------------------------- */

struct vtp {
    char *bytes;         /* the whole file, zero-terminated */
    size_t length, data; /* data: offset of the appended samples */
    size_t segments;
    const float *points; /* segments x 2 x 3, LPS mm */
    const float *amplitude;
    const uint8_t *fiber;
};

/* The samples of the array with this name. NULL if it is missing, has another type, or exceeds the file. */
static const void *find_array(const struct vtp *vtp, const char *type, const char *name, size_t bytes)
{
    char text[96];
    snprintf(text, sizeof text, "<DataArray type=\"%s\" Name=\"%s\"", type, name);
    const char *at = strstr(vtp->bytes, text), *offset = at ? strstr(at, "offset=\"") : NULL;
    if (!offset || offset > vtp->bytes + vtp->data)
        return NULL;
    size_t start = (size_t)strtoull(offset + 8, NULL, 10);
    uint64_t said;
    if (start > vtp->length || vtp->data > vtp->length - start || vtp->length - start - vtp->data < sizeof said)
        return NULL;
    start += vtp->data;
    memcpy(&said, vtp->bytes + start, sizeof said);
    if (said != bytes || vtp->length - start - sizeof said < bytes)
        return NULL;
    return vtp->bytes + start + sizeof said;
}

static hot_status parse(hot_context *context, const char *path, struct vtp *vtp)
{
    static const char begin[] = "<AppendedData encoding=\"raw\">";
    const char *lines = strstr(vtp->bytes, "NumberOfLines=\""), *data = strstr(vtp->bytes, begin);
    const char *mark = data ? strchr(data, '_') : NULL;
    if (!strstr(vtp->bytes, "<VTKFile type=\"PolyData\"") || !lines || !mark ||
        !strstr(vtp->bytes, "byte_order=\"LittleEndian\"") || !strstr(vtp->bytes, "header_type=\"UInt64\""))
        return hot_context_fail(context, HOT_ERROR_FORMAT,
                                "'%s' is not a .vtp as hotfiber writes it (`hotfiber export`)", path);
    const char *polygons = strstr(vtp->bytes, "NumberOfPolys=\"");
    if (polygons && strtoull(polygons + 15, NULL, 10) > 0)
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' holds surfaces: view the tensors that they are of",
                                path);
    vtp->data = (size_t)(mark + 1 - vtp->bytes);
    vtp->segments = (size_t)strtoull(lines + 15, NULL, 10);
    if (vtp->segments > vtp->length / (6 * sizeof(float)))
        return hot_context_fail(context, HOT_ERROR_FORMAT, "'%s' is truncated: its header declares %zu segments", path,
                                vtp->segments);
    vtp->points = find_array(vtp, "Float32", "points", vtp->segments * 6 * sizeof(float));
    vtp->amplitude = find_array(vtp, "Float32", "amplitude", vtp->segments * sizeof(float));
    vtp->fiber = find_array(vtp, "UInt8", "fiber", vtp->segments);
    if (!vtp->points || !vtp->amplitude || !vtp->fiber)
        return hot_context_fail(context, HOT_ERROR_FORMAT,
                                "'%s' is truncated, or lacks one of the arrays points, amplitude, fiber", path);
    if (vtp->segments == 0)
        return hot_context_fail(context, HOT_ERROR_DATA, "'%s' holds no fibres", path);
    return HOT_OK;
}

/* End 0 or 1 of a segment. Samples may be unaligned. */
static void get_point(const struct vtp *vtp, size_t segment, int end, float point[3])
{
    memcpy(point, (const char *)vtp->points + (segment * 2 + (size_t)end) * 3 * sizeof(float), 3 * sizeof(float));
}

static void get_middle(const struct vtp *vtp, size_t segment, double middle[3])
{
    float a[3], b[3];
    get_point(vtp, segment, 0, a);
    get_point(vtp, segment, 1, b);
    for (int d = 0; d < 3; d++)
        middle[d] = ((double)a[d] + b[d]) / 2;
}

/* ---- The lattice ------------------------------------------------------------------------------------------ */

static double length_of(const double v[3]) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

/* Volume spanned by v and the steps so far, relative to that of perpendicular vectors of the same lengths. */
static double independence(const double steps[3][3], int found, const double v[3])
{
    double a = length_of(v), c[3];
    if (found == 0)
        return 1;
    const double *s = steps[0];
    for (int d = 0; d < 3; d++)
        c[d] = s[(d + 1) % 3] * v[(d + 2) % 3] - s[(d + 2) % 3] * v[(d + 1) % 3];
    if (found == 1)
        return length_of(c) / (a * length_of(s));
    double volume = fabs(steps[1][0] * c[0] + steps[1][1] * c[1] + steps[1][2] * c[2]);
    return volume / (a * length_of(s) * length_of(steps[1]));
}

/* Finds the shortest difference between midpoints that is independent of the steps so far; returns 0 if there is none.
 * Compares a few hundred segments with all others: some of them have neighbours. */
static int find_step(const struct vtp *vtp, double steps[3][3], int found)
{
    enum { PROBES = 200 };
    double best = HUGE_VAL, from[3], to[3], v[3];
    for (size_t p = 0; p < PROBES && p < vtp->segments; p++) {
        get_middle(vtp, vtp->segments < PROBES ? p : p * (vtp->segments / PROBES), from);
        for (size_t s = 0; s < vtp->segments; s++) {
            get_middle(vtp, s, to);
            for (int d = 0; d < 3; d++)
                v[d] = to[d] - from[d];
            double length = length_of(v);
            if (length > 1e-3 && length < best * (1 - 1e-4) &&
                independence((const double (*)[3])steps, found, v) > 0.2) {
                best = length;
                memcpy(steps[found], v, sizeof v);
            }
        }
    }
    return best < HUGE_VAL;
}

/* A step perpendicular to the others, as long as the first: the field is one voxel thick in this direction. */
static void make_step(double steps[3][3], int found, double size)
{
    double best = -1;
    if (found > 0)
        size = length_of(steps[0]);
    for (int axis = 0; axis < 3; axis++) {
        double v[3] = {0, 0, 0};
        v[axis] = size;
        for (int s = 0; s < found; s++) {
            double along = 0, norm = length_of(steps[s]);
            for (int d = 0; d < 3; d++)
                along += v[d] * steps[s][d] / norm;
            for (int d = 0; d < 3; d++)
                v[d] -= along * steps[s][d] / norm;
        }
        double length = length_of(v);
        if (length <= best)
            continue;
        best = length;
        for (int d = 0; d < 3; d++)
            steps[found][d] = v[d] / length * size;
    }
}

static void set_grid(const double steps[3][3], const double origin[3], hot_grid *grid)
{
    memset(grid, 0, sizeof *grid);
    grid->space = HOT_SPACE_LPS;
    for (int d = 0; d < 3; d++) {
        for (int s = 0; s < 3; s++)
            grid->to_world[d][s] = steps[s][d];
        grid->to_world[d][3] = origin[d];
    }
}

/* Lattice coordinates of a point: Cramer's rule on the columns of to_world. */
static void to_lattice(const hot_grid *grid, const double world[3], double at[3])
{
    double m[3][4], whole = 0;
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++)
            m[r][c] = grid->to_world[r][c];
        m[r][3] = world[r] - grid->to_world[r][3];
    }
    for (int unknown = -1; unknown < 3; unknown++) {
        double determinant = 0;
        for (int r = 0; r < 3; r++) {
            double e[3];
            for (int c = 0; c < 3; c++)
                e[c] = m[(r + c) % 3][unknown == c ? 3 : c];
            determinant += e[0] * e[1] * e[2];
            for (int c = 0; c < 3; c++)
                e[c] = m[(r + 3 - c) % 3][unknown == c ? 3 : c];
            determinant -= e[0] * e[1] * e[2];
        }
        if (unknown < 0)
            whole = determinant;
        else
            at[unknown] = determinant / whole;
    }
}

static hot_status find_grid(hot_context *context, const char *path, const struct vtp *vtp, hot_grid *grid)
{
    double steps[3][3], origin[3], middle[3], at[3], low[3] = {0}, high[3] = {0};
    float a[3], b[3];
    get_middle(vtp, 0, origin);
    get_point(vtp, 0, 0, a);
    get_point(vtp, 0, 1, b);
    double size = sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2));
    int has_step = 1;
    for (int s = 0; s < 3; s++)
        if (!has_step || !(has_step = find_step(vtp, steps, s)))
            make_step(steps, s, size > 0 ? size : 1);
    set_grid((const double (*)[3])steps, origin, grid);
    for (size_t s = 0; s < vtp->segments; s++) {
        get_middle(vtp, s, middle);
        to_lattice(grid, middle, at);
        for (int d = 0; d < 3; d++) {
            if (!(fabs(at[d] - round(at[d])) < 0.1) || !(fabs(at[d]) < 1e6))
                return hot_context_fail(context, HOT_ERROR_FORMAT,
                                        "'%s': the segments' midpoints are not on a lattice of voxels", path);
            low[d] = fmin(low[d], round(at[d]));
            high[d] = fmax(high[d], round(at[d]));
        }
    }
    for (int d = 0; d < 3; d++) {
        grid->size[d] = (size_t)(high[d] - low[d]) + 1;
        for (int r = 0; r < 3; r++)
            grid->to_world[r][3] += low[d] * grid->to_world[r][d];
    }
    return HOT_OK;
}

/* Rejects a grid far too large for the number of segments: a damaged file may place a few of them anywhere. */
static hot_status check_size(hot_context *context, const char *path, const struct vtp *vtp, const hot_grid *grid,
                             size_t rows)
{
    const double places = (double)grid->size[0] * (double)grid->size[1] * (double)grid->size[2] * (double)rows;
    if (places <= fmin(1e9, fmax(1e7, 1e4 * (double)vtp->segments)))
        return HOT_OK;
    return hot_context_fail(context, HOT_ERROR_FORMAT,
                            "'%s': %zu x %zu x %zu voxels of %zu fibres would be needed for its %zu segments", path,
                            grid->size[0], grid->size[1], grid->size[2], rows, vtp->segments);
}

/* The voxel of a segment; SIZE_MAX if the coordinates are outside the grid. */
static size_t voxel_of(const struct vtp *vtp, const hot_grid *grid, size_t segment)
{
    double middle[3], at[3];
    size_t voxel = 0;
    get_middle(vtp, segment, middle);
    to_lattice(grid, middle, at);
    for (int d = 2; d >= 0; d--) {
        if (!(at[d] > -0.5 && at[d] < (double)grid->size[d] - 0.5))
            return SIZE_MAX;
        voxel = voxel * grid->size[d] + (size_t)lround(at[d]);
    }
    return voxel;
}

/* ---- Loading ---------------------------------------------------------------------------------------------- */

hot_status hot_vtp_load(hot_context *context, const char *path, hot_fiber_field **fibers)
{
    struct vtp vtp = {0};
    hot_grid grid;
    float *peaks = NULL;
    *fibers = NULL;
    hot_status status = hot_file_load(context, path, HOT_FILE_GIVEN, "a .vtp", SIZE_MAX / 4, &vtp.bytes, &vtp.length);
    if (status == HOT_OK)
        status = parse(context, path, &vtp);
    if (status == HOT_OK)
        status = find_grid(context, path, &vtp, &grid);
    if (status != HOT_OK)
        goto cleanup;
    size_t max_fiber = 0;
    for (size_t s = 0; s < vtp.segments; s++)
        max_fiber = vtp.fiber[s] > max_fiber ? vtp.fiber[s] : max_fiber;
    int first = 1; /* fibre numbers start at 0 or 1 */
    for (size_t s = 0; s < vtp.segments; s++)
        first = vtp.fiber[s] < first ? 0 : first;
    const size_t rows = max_fiber + 1 - (size_t)first;
    status = check_size(context, path, &vtp, &grid, rows);
    if (status != HOT_OK)
        goto cleanup;
    peaks = hot_context_calloc(context, grid.size[0] * grid.size[1] * grid.size[2], 3 * rows * sizeof *peaks);
    if (!peaks) {
        status = HOT_ERROR_MEMORY;
        goto cleanup;
    }
    for (size_t s = 0; s < vtp.segments; s++) {
        float a[3], b[3], amplitude;
        double length = 0;
        get_point(&vtp, s, 0, a);
        get_point(&vtp, s, 1, b);
        memcpy(&amplitude, (const char *)vtp.amplitude + s * sizeof amplitude, sizeof amplitude);
        const size_t voxel = voxel_of(&vtp, &grid, s);
        if (voxel == SIZE_MAX) {
            status = hot_context_fail(context, HOT_ERROR_FORMAT,
                                      "'%s': the segments' midpoints are not on a lattice of voxels", path);
            goto cleanup;
        }
        for (int d = 0; d < 3; d++)
            length += ((double)b[d] - a[d]) * ((double)b[d] - a[d]);
        length = sqrt(length);
        for (int d = 0; d < 3 && length > 0; d++)
            peaks[voxel * 3 * rows + 3 * (size_t)(vtp.fiber[s] - first) + (size_t)d] = (float)(amplitude *
                                                                                               (b[d] - a[d]) / length);
    }
    status = hot_fiber_field_create(context, &grid, (int)rows, peaks, fibers);
cleanup:
    HOT_FREE(context, peaks, vtp.bytes);
    return status;
}
