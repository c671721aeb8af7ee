#include "sphere.h"

#include <math.h>
#include <string.h>

#include "common/free.h"

static size_t put_vertex(double (*vertices)[3], size_t *count, double x, double y, double z)
{
    double length = sqrt(x * x + y * y + z * z), v[3] = {x / length, y / length, z / length};
    for (size_t i = 0; i < *count; i++)
        if (fabs(vertices[i][0] - v[0]) + fabs(vertices[i][1] - v[1]) + fabs(vertices[i][2] - v[2]) < 1e-9)
            return i; /* the middle of an edge that the neighbour had already */
    memcpy(vertices[*count], v, sizeof v);
    return (*count)++;
}

static size_t put_middle(double (*vertices)[3], size_t *count, size_t a, size_t b)
{
    return put_vertex(vertices, count, vertices[a][0] + vertices[b][0], vertices[a][1] + vertices[b][1],
                      vertices[a][2] + vertices[b][2]);
}

size_t hot_sphere_triangles(int level) { return (size_t)20 << (2 * level); }

size_t hot_sphere_vertices(int level) { return hot_sphere_triangles(level) / 2 + 2; }

hot_status hot_sphere_make(hot_context *context, int level, double (*vertices)[3], uint32_t (*triangles)[3])
{
    static const uint32_t icosahedron[20][3] = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                                                {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                                                {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                                                {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};
    const double golden = (1 + sqrt(5)) / 2;
    const size_t capacity = hot_sphere_triangles(level);
    size_t count = 0, held = 20;
    uint32_t(*faces)[3] = hot_context_alloc(context, capacity, sizeof *faces);
    uint32_t(*spare)[3] = hot_context_alloc(context, capacity, sizeof *spare);
    hot_status status = faces && spare ? HOT_OK : HOT_ERROR_MEMORY;
    if (status != HOT_OK)
        goto cleanup;
    for (int plane = 0; plane < 3; plane++)
        for (int corner = 0; corner < 4; corner++) {
            double one = corner % 2 ? 1 : -1, long_one = corner < 2 ? golden : -golden;
            double v[3];
            v[plane] = one, v[(plane + 1) % 3] = long_one, v[(plane + 2) % 3] = 0;
            put_vertex(vertices, &count, v[0], v[1], v[2]);
        }
    memcpy(faces, icosahedron, sizeof icosahedron);
    for (int step = 0; step < level; step++) {
        memcpy(spare, faces, held * sizeof *faces);
        for (size_t t = 0; t < held; t++) {
            const uint32_t a = spare[t][0], b = spare[t][1], c = spare[t][2];
            const uint32_t ab = (uint32_t)put_middle(vertices, &count, a, b),
                           bc = (uint32_t)put_middle(vertices, &count, b, c),
                           ca = (uint32_t)put_middle(vertices, &count, c, a);
            const uint32_t four[4][3] = {{a, ab, ca}, {b, bc, ab}, {c, ca, bc}, {ab, bc, ca}};
            memcpy(faces[4 * t], four, sizeof four);
        }
        held *= 4;
    }
    if (triangles)
        memcpy(triangles, faces, capacity * sizeof *faces);
cleanup:
    HOT_FREE(context, faces, spare);
    return status;
}
