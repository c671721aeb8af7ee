/* The scan: see eigen_scan.h. */
#include "eigen_scan.h"

#include <math.h>
#include <string.h>

size_t hot_eigen_scan_points(int order) { return 40 * (size_t)order * (size_t)order; }

/* The nearest neighbours of point i, by |x_i . x_j|. The lattice is sorted by z, from 1 to 0: only points within
 * `reach` of z, or of -z, can be near. */
static void find_neighbours(const hot_eigen_scan *scan, size_t i, double reach, int32_t *list)
{
    double nearest[HOT_SCAN_NEIGHBOURS];
    const double *x = scan->x + 3 * i;
    int count = 0;
    for (size_t j = 0; j < scan->points; j++) {
        const double *y = scan->x + 3 * j;
        if (j == i || (fabs(x[2] - y[2]) > reach && x[2] + y[2] > reach))
            continue;
        double dot = x[0] * y[0] + x[1] * y[1] + x[2] * y[2], near = fabs(dot);
        if (count == HOT_SCAN_NEIGHBOURS && near <= nearest[count - 1])
            continue;
        int at = count < HOT_SCAN_NEIGHBOURS ? count++ : count - 1;
        for (; at > 0 && nearest[at - 1] < near; at--) {
            nearest[at] = nearest[at - 1];
            list[at] = list[at - 1];
        }
        nearest[at] = near;
        list[at] = dot < 0 ? -1 - (int32_t)j : (int32_t)j;
    }
    while (count < HOT_SCAN_NEIGHBOURS) { /* a lattice of next to no points */
        list[count] = (int32_t)i;
        count++;
    }
}

hot_status hot_eigen_scan_create(hot_context *context, size_t points, hot_eigen_scan *scan)
{
    scan->points = points;
    scan->x = hot_context_alloc(context, points, 3 * sizeof *scan->x);
    scan->neighbours = hot_context_alloc(context, points, HOT_SCAN_NEIGHBOURS * sizeof *scan->neighbours);
    if (!scan->x || !scan->neighbours)
        return HOT_ERROR_MEMORY;
    hot_starts_even(points, scan->x);
    double spacing = sqrt(6.28318530717958647693 / (double)points);
    for (size_t i = 0; i < points && !(i % 64 == 0 && hot_context_cancelled(context)); i++)
        find_neighbours(scan, i, 4 * spacing, scan->neighbours + i * HOT_SCAN_NEIGHBOURS);
    return HOT_OK;
}

void hot_eigen_scan_destroy(hot_context *context, hot_eigen_scan *scan)
{
    hot_context_free(context, scan->x);
    hot_context_free(context, scan->neighbours);
    memset(scan, 0, sizeof *scan);
}

void hot_eigen_scan_mark(const hot_eigen_scan *scan, const hot_eigen_tensor *tensor, double *values, double *slopes,
                         unsigned char *marks)
{
    for (size_t p = 0; p < scan->points; p++) {
        const double *x = scan->x + 3 * p;
        double g[3], squares = 0;
        values[p] = hot_symtensor_gradient_f64(tensor->order, 3, tensor->values, x, g);
        for (int d = 0; d < 3; d++)
            squares += (g[d] - values[p] * x[d]) * (g[d] - values[p] * x[d]);
        slopes[p] = squares;
        if (hot_poll_after(tensor->poll, (size_t)tensor->order * (size_t)tensor->order / 2))
            return;
    }
    /* Ties count as extrema: duplicates are merged. */
    double slack = 1e-14 * tensor->scale, mirror = tensor->order % 2 ? -1 : 1;
    for (size_t p = 0; p < scan->points; p++) {
        unsigned char mark = HOT_SCAN_HIGH | HOT_SCAN_LOW | HOT_SCAN_FLAT;
        for (int k = 0; k < HOT_SCAN_NEIGHBOURS; k++) {
            int32_t q = scan->neighbours[p * HOT_SCAN_NEIGHBOURS + (size_t)k];
            double value = q < 0 ? mirror * values[-1 - q] : values[q], slope = slopes[q < 0 ? -1 - q : q];
            if (values[p] < value - slack)
                mark &= (unsigned char)~HOT_SCAN_HIGH;
            if (values[p] > value + slack)
                mark &= (unsigned char)~HOT_SCAN_LOW;
            if (slopes[p] > slope * (1 + 1e-12))
                mark &= (unsigned char)~HOT_SCAN_FLAT;
        }
        marks[p] = mark;
    }
}
