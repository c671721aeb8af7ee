/* Reference rasteriser for the overlay's triangles: pixel centres, nearest texel, straight alpha. Tests without OpenGL
 * use it. */
#pragma once

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "overlay/overlay_mesh.h"

/* Barycentric weights of (x, y); returns 0 outside. Points on a shared edge belong to one triangle. */
static inline int raster_inside(const hot_overlay_vertex t[3], double x, double y, double weight[3])
{
    const double area = ((double)t[1].x - t[0].x) * ((double)t[2].y - t[0].y) -
                        ((double)t[2].x - t[0].x) * ((double)t[1].y - t[0].y);
    if (area == 0)
        return 0;
    for (int i = 0; i < 3; i++) {
        const hot_overlay_vertex *a = &t[(i + 1) % 3], *b = &t[(i + 2) % 3];
        double dx = (double)b->x - a->x, dy = (double)b->y - a->y;
        weight[i] = (dx * (y - a->y) - dy * (x - a->x)) / area;
        if (area < 0) {
            dx = -dx;
            dy = -dy;
        }
        if (weight[i] < 0 || (weight[i] == 0 && !(dy < 0 || (dy == 0 && dx > 0))))
            return 0;
    }
    return 1;
}

/* Blends the mesh over rgb (width x height x 3, 0 to 1). */
static inline void raster_draw(const hot_overlay_mesh *mesh, int width, int height, float *rgb)
{
    for (size_t first = 0; first + 2 < mesh->count; first += 3) {
        const hot_overlay_vertex *t = mesh->vertices + first;
        const double low_x = fmin(t[0].x, fmin(t[1].x, t[2].x)), high_x = fmax(t[0].x, fmax(t[1].x, t[2].x));
        const double low_y = fmin(t[0].y, fmin(t[1].y, t[2].y)), high_y = fmax(t[0].y, fmax(t[1].y, t[2].y));
        for (int y = (int)fmax(0, floor(low_y)); y < height && y <= high_y; y++)
            for (int x = (int)fmax(0, floor(low_x)); x < width && x <= high_x; x++) {
                double w[3], u = 0, v = 0, color[4] = {0};
                if (!raster_inside(t, x + 0.5, y + 0.5, w))
                    continue;
                for (int i = 0; i < 3; i++) {
                    u += w[i] * (double)t[i].u;
                    v += w[i] * (double)t[i].v;
                    for (int c = 0; c < 4; c++)
                        color[c] += w[i] * t[i].rgba[c] / 255;
                }
                if (t[0].u >= 0) {
                    int column = (int)floor(u * mesh->atlas_width), row = (int)floor(v * mesh->atlas_height);
                    column = column < 0 ? 0 : column >= mesh->atlas_width ? mesh->atlas_width - 1 : column;
                    row = row < 0 ? 0 : row >= mesh->atlas_height ? mesh->atlas_height - 1 : row;
                    color[3] *= mesh->atlas[(size_t)row * (size_t)mesh->atlas_width + (size_t)column] / 255.;
                }
                float *pixel = rgb + 3 * ((size_t)y * (size_t)width + (size_t)x);
                for (int c = 0; c < 3; c++)
                    pixel[c] += (float)(color[3] * (color[c] - (double)pixel[c]));
            }
    }
}
