/* A scan of the half sphere for places where critical points may be (dimension 3): what makes a list of eigenpairs
 * complete without hundreds of starts. */
#pragma once

#include "eigen_point.h"

enum { HOT_SCAN_NEIGHBOURS = 6 };

/* An even lattice over the half sphere; a point's neighbours are its nearest ones, mirrored where that is nearer. */
typedef struct hot_eigen_scan {
    size_t points;
    double *x;           /* points x 3 */
    int32_t *neighbours; /* points x HOT_SCAN_NEIGHBOURS: index, or -1 - index when mirrored */
} hot_eigen_scan;

/* How many points suffice for an order: about 12 across the narrowest bump that a form of this order can have. */
size_t hot_eigen_scan_points(int order);

hot_status hot_eigen_scan_create(hot_context *context, size_t points, hot_eigen_scan *scan);
void hot_eigen_scan_destroy(hot_context *context, hot_eigen_scan *scan);

/* Fills values (A x^m) and slopes (squared length of the tangential gradient), and marks[p]: bit 0 where the value is a
 * local maximum of the lattice, bit 1 a local minimum, bit 2 where the slope is a local minimum. */
enum { HOT_SCAN_HIGH = 1, HOT_SCAN_LOW = 2, HOT_SCAN_FLAT = 4 };
void hot_eigen_scan_mark(const hot_eigen_scan *scan, const hot_eigen_tensor *tensor, double *values, double *slopes,
                         unsigned char *marks);
