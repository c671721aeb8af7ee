#include "sphere.h"

#include <math.h>

void hot_sphere_lattice(size_t count, double *points)
{
    for (size_t p = 0; p < count; p++) {
        const double z = ((double)p + 0.5) / (double)count, r = sqrt(1 - z * z), turn = 2.399963229728653 * (double)p;
        points[3 * p] = r * cos(turn);
        points[3 * p + 1] = r * sin(turn);
        points[3 * p + 2] = z;
    }
}
