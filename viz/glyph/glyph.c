#include "glyph.h"
#include "common/entry.h"
#include "common/flow.h"
#include "common/free.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const int hot_sphere_parts[HOT_SPHERES] = {1, 3, 4, 9, 16, 25, 36, 64, 100, 144, 256, 576, 1024};

/* ---- Spheres ---------------------------------------------------------------------------------------------- */

/* Corners of an icosahedron: two poles and two rings of five. */
static void icosahedron_corner(int corner, double v[3])
{
    const double z = 1 / sqrt(5), across = 2 / sqrt(5), fifth = 1.2566370614359172;
    if (corner == 0 || corner == 11) {
        v[0] = v[1] = 0;
        v[2] = corner == 0 ? 1 : -1;
        return;
    }
    int ring = corner > 5, place = (corner - 1) % 5;
    double angle = fifth * (place + (ring ? 0.5 : 0));
    v[0] = across * cos(angle);
    v[1] = across * sin(angle);
    v[2] = ring ? -z : z;
}

/* Faces, counter-clockwise seen from outside. */
static void icosahedron_face(int face, int corner[3])
{
    int place = face % 5, next = (place + 1) % 5;
    const int faces[4][3] = {{0, 1 + place, 1 + next},
                             {1 + place, 6 + place, 1 + next},
                             {1 + next, 6 + place, 6 + next},
                             {11, 6 + next, 6 + place}};
    memcpy(corner, faces[face / 5], sizeof faces[0]);
}

/* Builds vertices once although faces share edges. Order: corners, inner points of edges, inner points of faces. */
struct builder {
    int level;
    int edge[12][12]; /* number of an edge's first inner point; -1 = not built yet */
    size_t vertices;
    float (*vertex)[3];
};

static uint16_t put_vertex(struct builder *builder, const double v[3])
{
    double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int d = 0; d < 3; d++)
        builder->vertex[builder->vertices][d] = (float)(v[d] / length);
    return (uint16_t)builder->vertices++;
}

/* Point number `step` of `level` from corner a to corner b. */
static uint16_t on_edge(struct builder *builder, int a, int b, int step)
{
    if (a > b)
        return on_edge(builder, b, a, builder->level - step);
    if (step == 0 || step == builder->level)
        return (uint16_t)(step == 0 ? a : b);
    if (builder->edge[a][b] < 0) {
        double from[3], to[3];
        icosahedron_corner(a, from);
        icosahedron_corner(b, to);
        builder->edge[a][b] = (int)builder->vertices;
        for (int s = 1; s < builder->level; s++) {
            /* equal angles along the edge give triangles of more equal size than equal steps on the chord */
            const double whole = acos(1 / sqrt(5)), t = whole * s / builder->level;
            double v[3];
            for (int d = 0; d < 3; d++)
                v[d] = sin(whole - t) * from[d] + sin(t) * to[d];
            put_vertex(builder, v);
        }
    }
    return (uint16_t)(builder->edge[a][b] + step - 1);
}

/* Three triangles around the centre of a face. All faces together make 60 nearly equal triangles; their vertices are
 * those of an icosahedron and a dodecahedron. */
static void put_star(struct builder *builder, const int corner[3], const double at[3][3], uint16_t (*triangle)[3])
{
    double middle[3];
    for (int d = 0; d < 3; d++)
        middle[d] = at[0][d] + at[1][d] + at[2][d];
    const uint16_t m = put_vertex(builder, middle);
    for (int c = 0; c < 3; c++) {
        const uint16_t third[3] = {(uint16_t)corner[c], (uint16_t)corner[(c + 1) % 3], m};
        memcpy(triangle[c], third, sizeof third);
    }
}

hot_status hot_sphere_create(hot_context *context, int parts, hot_sphere *sphere)
{
    const int level = (int)lround(sqrt(parts > 0 ? parts : 0)), star = parts == 3;
    struct builder builder = {.level = level};
    uint16_t row[33], below[33];
    memset(sphere, 0, sizeof *sphere);
    if (parts < 1 || parts > HOT_MAX_SPHERE_PARTS || (level * level != parts && !star))
        return hot_context_fail(context, HOT_ERROR_ARGUMENT,
                                "a sphere of %d triangles per face; must be 3 or a square up to %d", parts,
                                HOT_MAX_SPHERE_PARTS);
    sphere->parts = parts;
    sphere->vertices = 10 * (size_t)parts + 2;
    sphere->triangles = 20 * (size_t)parts;
    sphere->vertex = hot_context_alloc(context, sphere->vertices, sizeof *sphere->vertex);
    sphere->triangle = hot_context_alloc(context, sphere->triangles, sizeof *sphere->triangle);
    if (!sphere->vertex || !sphere->triangle) {
        hot_sphere_free(context, sphere);
        return HOT_ERROR_MEMORY;
    }
    builder.vertex = sphere->vertex;
    memset(builder.edge, 0xff, sizeof builder.edge);
    for (int corner = 0; corner < 12; corner++) {
        double v[3];
        icosahedron_corner(corner, v);
        put_vertex(&builder, v);
    }
    size_t made = 0;
    for (int face = 0; face < 20; face++) {
        int corner[3];
        double at[3][3];
        icosahedron_face(face, corner);
        for (int c = 0; c < 3; c++)
            icosahedron_corner(corner[c], at[c]);
        if (star) {
            put_star(&builder, corner, (const double (*)[3])at, sphere->triangle + 3 * face);
            continue;
        }
        /* row r of the face has r + 1 points, from edge 0-1 to edge 0-2 */
        row[0] = (uint16_t)corner[0];
        for (int r = 1; r <= level; r++) {
            below[0] = on_edge(&builder, corner[0], corner[1], r);
            below[r] = on_edge(&builder, corner[0], corner[2], r);
            for (int c = 1; c < r; c++) {
                if (r == level) {
                    below[c] = on_edge(&builder, corner[1], corner[2], c);
                    continue;
                }
                /* the mean over the three pairs of edges of the point between them */
                const int part[3] = {level - r, r - c, c};
                const double whole = acos(1 / sqrt(5));
                double v[3] = {0, 0, 0};
                for (int k = 0; k < 3; k++)
                    for (int d = 0; d < 3; d++)
                        v[d] += sin(whole * part[k] / level) * at[k][d];
                below[c] = put_vertex(&builder, v);
            }
            for (int c = 0; c < r; c++) {
                const uint16_t lower[3] = {row[c], below[c], below[c + 1]};
                memcpy(sphere->triangle[made++], lower, sizeof lower);
                if (c + 1 < r) {
                    const uint16_t upper[3] = {row[c], below[c + 1], row[c + 1]};
                    memcpy(sphere->triangle[made++], upper, sizeof upper);
                }
            }
            memcpy(row, below, sizeof row);
        }
    }
    return HOT_OK;
}

void hot_sphere_free(hot_context *context, hot_sphere *sphere)
{
    HOT_FREE(context, sphere->vertex, sphere->triangle);
    memset(sphere, 0, sizeof *sphere);
}

hot_status hot_sphere_halve(hot_context *context, const hot_sphere *sphere, hot_sphere *half)
{
    uint16_t *number = hot_context_calloc(context, sphere->vertices,
                                          sizeof *number); /* of a vertex in the half, plus 1; 0 = not used */
    *half = (hot_sphere){.parts = sphere->parts, .triangles = sphere->triangles / 2};
    half->vertex = hot_context_alloc(context, sphere->vertices, sizeof *half->vertex);
    half->triangle = hot_context_alloc(context, half->triangles, sizeof *half->triangle);
    if (!number || !half->vertex || !half->triangle) {
        hot_context_free(context, number);
        hot_sphere_free(context, half);
        return HOT_ERROR_MEMORY;
    }
    for (size_t t = 0; t < half->triangles; t++) /* each of the first ten faces is opposite to one of the last ten */
        for (int c = 0; c < 3; c++) {
            const uint16_t old = sphere->triangle[t][c];
            if (!number[old]) {
                memcpy(half->vertex[half->vertices], sphere->vertex[old], sizeof *half->vertex);
                number[old] = (uint16_t)++half->vertices;
            }
            half->triangle[t][c] = number[old] - 1;
        }
    for (size_t v = 0; v < half->vertices; v++)
        for (size_t w = v + 1; w < half->vertices; w++) {
            const float *a = half->vertex[v];
            float *b = half->vertex[w];
            if (fabsf(a[0] + b[0]) < 1e-5f && fabsf(a[1] + b[1]) < 1e-5f && fabsf(a[2] + b[2]) < 1e-5f)
                for (int d = 0; d < 3; d++)
                    b[d] = -a[d];
        }
    hot_context_free(context, number);
    return HOT_OK;
}

/* Angle of the longest edges, times the square root of the number of parts. */
static const double EDGE = 1.18;

/* Permitted distance from the true outline, in pixels, at the tip of the sharpest possible lobe; typical lobes stay
 * within a third of it. Large glyphs have a stricter limit, because corners of their outline would be visible. */
static double tolerance(double radius) { return fmin(1, fmax(0.3, 10 / radius)); }

int hot_glyph_detail(int order, double radius)
{
    /* Between vertices at an angle h, a triangle is R (1 + s) h^2 / 8 below the surface. s = -r''/r is the sharpness, m
     * at the tip of x^m. */
    const double parts = EDGE * EDGE * radius * (1 + order) / (8 * tolerance(radius));
    int detail = 0;
    while (detail < HOT_SPHERES - 1 && hot_sphere_parts[detail] < parts)
        detail++;
    return detail;
}

int hot_glyph_nearest_detail(int triangles)
{
    int best = 0;
    for (int detail = 1; detail < HOT_SPHERES; detail++)
        if (abs(20 * hot_sphere_parts[detail] - triangles) < abs(20 * hot_sphere_parts[best] - triangles))
            best = detail;
    return best;
}

double hot_glyph_bend(int order, int parts)
{
    /* An edge's midpoint is h^2 / 8 too low, the mean over a triangle less. With this factor projected areas are within
     * 1 % of the true ones from 180 triangles on and within 3 % at 80; uncorrected, order 8 with 180 triangles loses a
     * quarter. 60 triangles, for glyphs of a few pixels, still lose 14 % at order 8. */
    return 0.072 * (1 + order) * EDGE * EDGE / parts;
}

/* ---- Largest radii ---------------------------------------------------------------------------------------- */

enum { SCAN_PARTS = 16, SCAN = HOT_GLYPH_SCAN };

/* Monomials of a direction times their multiplicities: A v^m = form . tensor. */
static void fill_form(int terms, const int *exponents, const double *multiplicity, const double v[3], float *form,
                      size_t step)
{
    for (int t = 0; t < terms; t++) {
        double product = multiplicity[t];
        for (int d = 0; d < 3; d++)
            for (int e = 0; e < exponents[3 * t + d]; e++)
                product *= v[d];
        form[(size_t)t * step] = (float)product;
    }
}

/* Improves the best direction of the scan by x <- A x^(m-1), which ascends where the surface is convex near its tip.
 * Returns the best value of all steps, so the result is never worse than the start. */
static float climb(int order, int terms, const float *tensor, const float start[3], float best)
{
    double values[HOT_GLYPH_TERMS], x[3] = {start[0], start[1], start[2]}, g[3];
    for (int t = 0; t < terms; t++)
        values[t] = tensor[t];
    for (int step = 0; step < HOT_GLYPH_CLIMB_STEPS; step++) {
        double value = hot_symtensor_gradient_f64(order, 3, values, x, g);
        double length = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
        if (value > best)
            best = (float)value;
        if (!(length > 0) || !isfinite(length))
            break;
        for (int d = 0; d < 3; d++)
            x[d] = g[d] / length;
    }
    return best;
}

static float largest_radius(int order, int terms, const float *row, const float *forms, const float (*direction)[3])
{
    float value[SCAN] = {0};
    if (!(row[0] > 0))
        return 0;
    for (int t = 0; t < terms; t++) {
        const float factor = row[1 + t], *form = forms + t * SCAN;
        if (!isfinite(factor))
            return 0;
        for (int p = 0; p < SCAN; p++)
            value[p] += form[p] * factor;
    }
    int best = 0;
    for (int p = 1; p < SCAN; p++)
        if (value[p] > value[best])
            best = p;
    if (!(value[best] > 0) || !isfinite(value[best]))
        return 0;
    return climb(order, terms, row + 1, direction[best], value[best]);
}

hot_status hot_glyph_scan_make(hot_context *context, int order, hot_glyph_scan *scan)
{
    const int terms = (int)hot_symtensor_count(order, 3);
    int exponents[3 * HOT_GLYPH_TERMS];
    double multiplicity[HOT_GLYPH_TERMS];
    hot_sphere sphere;
    int found = 0;
    memset(scan, 0, sizeof *scan);
    if (terms == 0 || terms > HOT_GLYPH_TERMS || order % 2 != 0)
        return hot_context_fail(context, HOT_ERROR_ARGUMENT, "tensors of order %d cannot be drawn; 2, 4, 6 and 8 can",
                                order);
    scan->order = order;
    scan->terms = terms;
    hot_status status = hot_sphere_create(context, SCAN_PARTS, &sphere);
    if (status == HOT_OK)
        status = hot_symtensor_exponents(order, 3, exponents);
    if (status == HOT_OK)
        status = hot_symtensor_multiplicity(order, 3, multiplicity);
    /* one of each pair v, -v: even orders have the same value there. Unused entries of SCAN are zero directions of
     * value 0 */
    for (size_t v = 0; status == HOT_OK && v < sphere.vertices && found < SCAN; v++) {
        const float *x = sphere.vertex[v];
        if (x[2] < -1e-6f || (fabsf(x[2]) <= 1e-6f && (x[1] < -1e-6f || (fabsf(x[1]) <= 1e-6f && x[0] < 0))))
            continue;
        const double unit[3] = {x[0], x[1], x[2]};
        memcpy(scan->direction[found], x, sizeof scan->direction[found]);
        fill_form(terms, exponents, multiplicity, unit, scan->form + found++, SCAN);
    }
    hot_sphere_free(context, &sphere);
    return status;
}

hot_status hot_glyph_radii(hot_context *context, int order, size_t voxels, const float *tensors, float *radius)
{
    hot_glyph_scan scan;
    HOT_TRY(hot_glyph_scan_make(context, order, &scan));
    const int threads = hot_context_threads(context);
#pragma omp parallel for schedule(static) num_threads(hot_team(threads))
    for (size_t voxel = 0; voxel < voxels; voxel++)
        radius[voxel] = largest_radius(order, scan.terms, tensors + voxel * (size_t)(scan.terms + 1), scan.form,
                                       (const float (*)[3])scan.direction);
    return HOT_OK;
}
