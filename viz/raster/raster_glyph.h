/* Draws one glyph. Included once per instruction set, with RASTER_GLYPH as the function's name. */
#include <math.h>

#include "raster_parts.h"

typedef float lanes __attribute__((vector_size(4 * RASTER_LANES), aligned(4), may_alias));

/* A v^(m-1) at every vertex, in the tensors' world. Each monomial contributes to three components (see
 * hot_program_form). `order` is a constant after inlining. */
static inline __attribute__((always_inline)) void find_gradients(int order, const raster_level *level, const float *a,
                                                                  float *const gradient[3])
{
    const size_t count = level->vertices;
    for (size_t v = 0; v < count; v += 2 * RASTER_LANES) {
        lanes x0 = {0}, y0 = {0}, z0 = {0}, x1 = {0}, y1 = {0}, z1 = {0};
        const float *form = level->forms + v;
#pragma GCC unroll 8
        for (int s = 0; s < order; s++)
#pragma GCC unroll 8
            for (int t = 0; t <= s; t++, form += count) {
                const int i = s * (s + 1) / 2 + t, j = (s + 1) * (s + 2) / 2 + t;
                const lanes w0 = *(const lanes *)form, w1 = *(const lanes *)(form + RASTER_LANES);
                x0 += w0 * a[i];
                y0 += w0 * a[j];
                z0 += w0 * a[j + 1];
                x1 += w1 * a[i];
                y1 += w1 * a[j];
                z1 += w1 * a[j + 1];
            }
        *(lanes *)(gradient[0] + v) = x0;
        *(lanes *)(gradient[1] + v) = y0;
        *(lanes *)(gradient[2] + v) = z0;
        *(lanes *)(gradient[0] + v + RASTER_LANES) = x1;
        *(lanes *)(gradient[1] + v + RASTER_LANES) = y1;
        *(lanes *)(gradient[2] + v + RASTER_LANES) = z1;
    }
}

/* shade() of shaders/shade.glsl: a colour is multiplied by *times, then *plus is added. */
static inline __attribute__((always_inline)) void shade(float facing, float shine, float *times, float *plus)
{
    facing = facing > 0 ? facing : 0;
    shine = shine > 0 ? shine : 0;
    shine *= shine;
    shine *= shine;
    shine *= shine;
    shine *= shine;
    *times = 0.34f + 0.66f * facing;
    *plus = 0.12f * shine * shine;
}

/* Rounds to the nearest integer, symmetrically: fast_round(-x) = -fast_round(x). */
static inline float fast_round(float x) { return (x + 12582912.f) - 12582912.f; }

/* ceil(x) for coordinates within a picture. */
static inline float fast_ceil(float x)
{
    const float near = (float)(int)x;
    return near + (float)(near < x);
}

/* Cuts a surface off at its voxel's wall, as surface() of shaders/surface.glsl does. radius: along x y z. m: RAS to
 * voxels. */
static inline __attribute__((always_inline)) void clip_to_voxel(const float m[3][3], float x, float y, float z,
                                                                float *radius, float *nx, float *ny, float *nz)
{
    const float i = m[0][0] * x + m[0][1] * y + m[0][2] * z, j = m[1][0] * x + m[1][1] * y + m[1][2] * z;
    const float k = m[2][0] * x + m[2][1] * y + m[2][2] * z, far_i = fabsf(i), far_j = fabsf(j), far_k = fabsf(k);
    const float far_jk = far_j > far_k ? far_j : far_k, max_far = far_i > far_jk ? far_i : far_jk;
    const int wall = far_i == max_far ? 0 : far_j == max_far ? 1 : 2;
    const float out = wall == 0 ? i : wall == 1 ? j : k, way = out < 0 ? -1.f : 1.f;
    const float wx = wall == 0 ? m[0][0] : wall == 1 ? m[1][0] : m[2][0];
    const float wy = wall == 0 ? m[0][1] : wall == 1 ? m[1][1] : m[2][1];
    const float wz = wall == 0 ? m[0][2] : wall == 1 ? m[1][2] : m[2][2];
    const int cut = *radius * max_far > 0.5f;
    *radius = cut ? 0.5f / max_far : *radius;
    *nx = cut ? way * wx : *nx;
    *ny = cut ? way * wy : *ny;
    *nz = cut ? way * wz : *nz;
}

/* The cofactors of a tensor of order 2, xx xy xz yy yz zz; the normals of its ellipsoid are their product with the
 * sphere's. */
static inline void find_cofactors(const float *d, float *cofactor)
{
    cofactor[0] = d[3] * d[5] - d[4] * d[4];
    cofactor[1] = d[2] * d[4] - d[1] * d[5];
    cofactor[2] = d[1] * d[4] - d[2] * d[3];
    cofactor[3] = d[0] * d[5] - d[2] * d[2];
    cofactor[4] = d[1] * d[2] - d[0] * d[4];
    cofactor[5] = d[0] * d[3] - d[1] * d[1];
}

/* Positions and colours of the vertices: main() of shaders/surface.vert. a: the tensor. `ellipsoid` is a constant after
 * inlining. */
static inline __attribute__((always_inline)) void find_vertices(int ellipsoid, const raster_frame *frame,
                                                                 const raster_level *level, const float *a,
                                                                 const hot_surface_item *item,
                                                                 const raster_scratch *scratch)
{
    float c[6] = {0};
    if (ellipsoid)
        find_cofactors(a, c);
    const float xx = c[0], xy = c[1], xz = c[2], yy = c[3], yz = c[4], zz = c[5];
    const float larger = 1 + level->bend / 3; /* level->bend is that of order 2 */
    const float px = frame->per_mm[0][0], py = frame->per_mm[0][1], pz = frame->per_mm[0][2];
    const float qx = frame->per_mm[1][0], qy = frame->per_mm[1][1], qz = frame->per_mm[1][2];
    const float rx = frame->per_mm[2][0], ry = frame->per_mm[2][1], rz = frame->per_mm[2][2];
    const float order = (float)frame->order, size = item->size, bend = level->bend;
    const float given[3] = {item->rgba[0] / 255.f, item->rgba[1] / 255.f, item->rgba[2] / 255.f};
    const int by_direction = item->rgba[3] == 0, lit = frame->lit, clipped = frame->clipped;
    const float m[3][3] = {{frame->to_voxel[0][0], frame->to_voxel[0][1], frame->to_voxel[0][2]},
                           {frame->to_voxel[1][0], frame->to_voxel[1][1], frame->to_voxel[1][2]},
                           {frame->to_voxel[2][0], frame->to_voxel[2][1], frame->to_voxel[2][2]}};
    const float lx = frame->light[0], ly = frame->light[1], lz = frame->light[2];
    const float hx = frame->half[0], hy = frame->half[1], hz = frame->half[2];
    const float flip_x = frame->flip[0], flip_y = frame->flip[1], flip_z = frame->flip[2];
    const int count = (int)level->vertices;
    const float *const restrict unit_x = level->unit[0], *const restrict unit_y = level->unit[1];
    const float *const restrict unit_z = level->unit[2], *const restrict way_x = level->way[0];
    const float *const restrict way_y = level->way[1], *const restrict way_z = level->way[2];
    const float *const restrict gradient_x = scratch->gradient[0], *const restrict gradient_y = scratch->gradient[1];
    const float *const restrict gradient_z = scratch->gradient[2];
    float *const restrict place_x = scratch->place[0], *const restrict place_y = scratch->place[1];
    float *const restrict place_z = scratch->place[2];
    float *const restrict front_r = scratch->front[0], *const restrict front_g = scratch->front[1];
    float *const restrict front_b = scratch->front[2], *const restrict back_r = scratch->back[0];
    float *const restrict back_g = scratch->back[1], *const restrict back_b = scratch->back[2];
#pragma omp simd
    for (int v = 0; v < count; v++) {
        float x = unit_x[v], y = unit_y[v], z = unit_z[v];
        const float gx = flip_x * gradient_x[v], gy = flip_y * gradient_y[v], gz = flip_z * gradient_z[v];
        float radius = gx * x + gy * y + gz * z;
        float nx = (order + 1) * radius * x - order * gx, ny = (order + 1) * radius * y - order * gy;
        float nz = (order + 1) * radius * z - order * gz;
        const float sx = gx - radius * x, sy = gy - radius * y, sz = gz - radius * z, squared = radius * radius;
        const float steep = order * (sx * sx + sy * sy + sz * sz) / (squared > 1e-6f ? squared : 1e-6f);
        const float raised = bend * (1 + steep);
        radius = (radius > 0 ? radius : 0) * size * (1 + (raised < 0.5f ? raised : 0.5f));
        if (ellipsoid) {
            const float wx = flip_x * x, wy = flip_y * y, wz = flip_z * z;
            const float away = sqrtf(gx * gx + gy * gy + gz * gz), inverse = 1 / (away > 1e-30f ? away : 1e-30f);
            nx = flip_x * (xx * wx + xy * wy + xz * wz);
            ny = flip_y * (xy * wx + yy * wy + yz * wz);
            nz = flip_z * (xz * wx + yz * wy + zz * wz);
            x = inverse * gx;
            y = inverse * gy;
            z = inverse * gz;
            radius = away * size * larger;
        }
        if (clipped)
            clip_to_voxel(m, x, y, z, &radius, &nx, &ny, &nz);
        place_x[v] = fast_round(radius * (ellipsoid ? px * x + py * y + pz * z : way_x[v]));
        place_y[v] = fast_round(radius * (ellipsoid ? qx * x + qy * y + qz * z : way_y[v]));
        place_z[v] = radius * (ellipsoid ? rx * x + ry * y + rz * z : way_z[v]);
        const float red = by_direction ? fabsf(x) : given[0], green = by_direction ? fabsf(y) : given[1];
        const float blue = by_direction ? fabsf(z) : given[2];
        const float length = nx * nx + ny * ny + nz * nz, per = 1 / sqrtf(length > 1e-30f ? length : 1e-30f);
        const float facing = per * (nx * lx + ny * ly + nz * lz);
        const float shine = per * (nx * hx + ny * hy + nz * hz);
        float front_times, front_plus, back_times, back_plus;
        shade(facing, shine, &front_times, &front_plus);
        shade(-facing, -shine, &back_times, &back_plus);
        front_times = lit ? front_times : 1;
        front_plus = lit ? front_plus : 0;
        back_times = lit ? back_times : 1;
        back_plus = lit ? back_plus : 0;
        front_r[v] = red * front_times + front_plus;
        front_g[v] = green * front_times + front_plus;
        front_b[v] = blue * front_times + front_plus;
        back_r[v] = red * back_times + back_plus;
        back_g[v] = green * back_times + back_plus;
        back_b[v] = blue * back_times + back_plus;
    }
}

/* Of each triangle and its antipode one faces the viewer. side: which one, or 0 if no pixel of the tile is in its
 * bounding box. center: 1/256 pixel, relative to the tile's corner. */
static inline void find_sides(const raster_frame *frame, const raster_level *level, const raster_tile *tile,
                              const float center[2], const raster_scratch *scratch)
{
    const float *const restrict x = scratch->place[0], *const restrict y = scratch->place[1];
    const int32_t *const restrict first = level->corner[0], *const restrict second = level->corner[1];
    const int32_t *const restrict third = level->corner[2];
    const float low_x = frame->low[0], low_y = frame->low[1], high_x = frame->high[0], high_y = frame->high[1];
    const float right = (float)tile->width - 1, top = (float)tile->height - 1, cx = center[0], cy = center[1];
    int32_t *const restrict side = scratch->side;
    const int count = (int)level->triangles;
#pragma omp simd
    for (int t = 0; t < count; t++) {
        const float ax = x[first[t]], bx = x[second[t]], dx = x[third[t]];
        const float ay = y[first[t]], by = y[second[t]], dy = y[third[t]];
        const float area = (bx - ax) * (dy - ay) - (dx - ax) * (by - ay), sign = copysignf(1, area);
        const float px = sign * ax, qx = sign * bx, rx = sign * dx, py = sign * ay, qy = sign * by, ry = sign * dy;
        const float min_x = px < qx ? px : qx, max_x = px < qx ? qx : px, min_y = py < qy ? py : qy;
        const float max_y = py < qy ? qy : py;
        const float from_x = (cx + (min_x < rx ? min_x : rx)) * 0.00390625f - high_x;
        const float to_x = (cx + (max_x > rx ? max_x : rx)) * 0.00390625f - low_x;
        const float from_y = (cy + (min_y < ry ? min_y : ry)) * 0.00390625f - high_y;
        const float to_y = (cy + (max_y > ry ? max_y : ry)) * 0.00390625f - low_y;
        /* whether the interval contains a pixel of the tile */
        const float start_x = from_x > 0 ? from_x : 0, start_y = from_y > 0 ? from_y : 0;
        const float end_x = to_x < right ? to_x : right, end_y = to_y < top ? to_y : top;
        const int hit = (fast_ceil(start_x) <= end_x) & (fast_ceil(start_y) <= end_y) & (area != 0);
        side[t] = hit * (1 + (area < 0));
    }
}

static inline int int_max(int low, int x) { return x < low ? low : x; }

static inline int int_min(int high, int x) { return x > high ? high : x; }

static inline double min3(const double x[3])
{
    const double two = x[0] < x[1] ? x[0] : x[1];
    return two < x[2] ? two : x[2];
}

static inline double max3(const double x[3])
{
    const double two = x[0] > x[1] ? x[0] : x[1];
    return two > x[2] ? two : x[2];
}

/* Fills one triangle. Coordinates are multiples of 1/256 pixel, so that products of doubles are exact and neighbouring
 * triangles have neither overlap nor gap. */
static inline void fill(const raster_frame *frame, const raster_tile *tile, const double x[3], const double y[3],
                        const float z[3], const float *const color[3], const int corner[3])
{
    enum { COLORS = 3 };
    const double abx = x[1] - x[0], aby = y[1] - y[0], acx = x[2] - x[0], acy = y[2] - y[0], bcx = x[2] - x[1],
                 bcy = y[2] - y[1];
    const double area = abx * acy - acx * aby;
    if (!(area > 0))
        return;
    /* a sample on a shared edge belongs to one of its triangles; all other distances exceed 2^-17 */
    const double on_ab = aby < 0 || (aby == 0 && abx < 0) ? 0 : 0x1p-17,
                 on_bc = bcy < 0 || (bcy == 0 && bcx < 0) ? 0 : 0x1p-17;
    const double on_ca = acy > 0 || (acy == 0 && acx > 0) ? 0 : 0x1p-17;
    /* clamp as integers: with -ffinite-math-only, a NaN could otherwise leave the tile */
    const int from_x = int_max(0, (int)ceil(min3(x) - (double)frame->high[0]));
    const int to_x = int_min(tile->width - 1, (int)floor(max3(x) - (double)frame->low[0]));
    const int from_y = int_max(0, (int)ceil(min3(y) - (double)frame->high[1]));
    const int to_y = int_min(tile->height - 1, (int)floor(max3(y) - (double)frame->low[1]));
    const float per = (float)(1 / area), zb = (z[1] - z[0]) * per, zc = (z[2] - z[0]) * per;
    const int samples = frame->samples;
    float base[COLORS], to_b[COLORS], to_c[COLORS];
    for (int c = 0; c < COLORS; c++) {
        base[c] = 255 * color[c][corner[0]] + 0.5f;
        to_b[c] = 255 * (color[c][corner[1]] - color[c][corner[0]]) * per;
        to_c[c] = 255 * (color[c][corner[2]] - color[c][corner[0]]) * per;
    }
    for (int row = from_y; row <= to_y; row++)
        for (int column = from_x; column <= to_x; column++)
            for (int s = 0; s < samples; s++) {
                const double px = column + (double)frame->sample[s][0] - x[0],
                             py = row + (double)frame->sample[s][1] - y[0];
                const double ab = abx * py - aby * px, ca = acy * px - acx * py, bc = area - ab - ca;
                if (ab < on_ab || ca < on_ca || bc < on_bc)
                    continue;
                const size_t at = (size_t)row * tile->row + (size_t)(column * samples + s);
                const float b = (float)ca, c = (float)ab, deep = z[0] + b * zb + c * zc;
                if (!(deep < tile->depth[at]) || deep < 0)
                    continue;
                tile->depth[at] = deep;
                for (int d = 0; d < COLORS; d++) {
                    const float value = base[d] + b * to_b[d] + c * to_c[d];
                    tile->color[at][d] = (uint8_t)(value < 255 ? value > 0 ? value : 0 : 255);
                }
                tile->color[at][3] = 255;
            }
}

void RASTER_GLYPH(const raster_frame *frame, const raster_level *level, const raster_tile *tile, size_t which,
                  const raster_scratch *scratch)
{
    const hot_surface_item *item = &frame->items[which];
    const int16_t *values = frame->values + item->slot * frame->row;
    float a[RASTER_TERMS + 3];
    double center[3];
    for (size_t t = 0; t < frame->row && t < RASTER_TERMS + 3; t++)
        a[t] = values[t];
    for (int d = 0; d < 3; d++) {
        const double *m = frame->matrix + 4 * d;
        center[d] = m[0] * (double)item->center[0] + m[1] * (double)item->center[1] + m[2] * (double)item->center[2] +
                    m[3];
    }
    /* 1/256 pixel, relative to the tile's corner */
    center[0] = rint(256 * center[0]) - 256. * tile->x;
    center[1] = rint(256 * center[1]) - 256. * tile->y;
    switch (frame->order) {
    case 2: find_gradients(2, level, a, scratch->gradient); break;
    case 4: find_gradients(4, level, a, scratch->gradient); break;
    case 6: find_gradients(6, level, a, scratch->gradient); break;
    case 8: find_gradients(8, level, a, scratch->gradient); break;
    }
    if (frame->ellipsoid)
        find_vertices(1, frame, level, a, item, scratch);
    else
        find_vertices(0, frame, level, a, item, scratch);
    find_sides(frame, level, tile, (const float[2]){(float)center[0], (float)center[1]}, scratch);
    for (size_t group = 0; group < level->triangles; group += 8) {
        int32_t any = 0;
        for (size_t t = group; t < group + 8; t++)
            any |= scratch->side[t];
        if (!any)
            continue;
        for (size_t t = group; t < group + 8; t++) {
            if (!scratch->side[t])
                continue;
            /* the antipode of a triangle has the opposite orientation */
            const int other = scratch->side[t] == 2;
            const double sign = other ? -1 : 1;
            const int corner[3] = {level->corner[0][t], level->corner[other ? 2 : 1][t],
                                   level->corner[other ? 1 : 2][t]};
            double x[3], y[3];
            float z[3];
            for (int c = 0; c < 3; c++) {
                x[c] = (center[0] + sign * (double)scratch->place[0][corner[c]]) * 0.00390625;
                y[c] = (center[1] + sign * (double)scratch->place[1][corner[c]]) * 0.00390625;
                z[c] = (float)(center[2] + sign * (double)scratch->place[2][corner[c]]);
            }
            fill(frame, tile, x, y, z, (const float *const *)(other ? scratch->back : scratch->front), corner);
        }
    }
}
