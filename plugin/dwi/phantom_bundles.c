/* The bundles layout: a head-shaped piece of grey matter in air with a ventricle of CSF and six bundles. Lengths are in
 * halves of the volume's width, x to the right, y up, origin in the middle. */
#include <math.h>
#include <string.h>

#include "phantom.h"

typedef struct bundle {
    int arc;                 /* 0: a straight piece, 1: an arc in the x-y plane */
    double from[3], to[3];   /* straight: its ends; arc: centre, and {radius, first angle, last angle} (radians) */
    double radius;           /* of the cross-section; three times that in z for in-plane bundles */
} bundle;

/* Chosen so that pairs meet at about 40, 60 and 90 degrees, in the plane and out of it, and that one bends by 180. */
static const bundle bundles[] = {
    {0, {-0.85, -0.38, 0}, {0.85, -0.38, 0}, 0.15},
    {0, {-0.30, -0.80, 0}, {-0.72, 0.02, 0}, 0.12},
    {1, {0.27, -0.42, 0}, {0.48, 0.0, 3.14159265358979}, 0.13},
    {0, {0.02, -0.72, 0}, {0.84, -0.08, 0}, 0.10},
    {0, {-0.60, 0.36, -0.8}, {-0.40, 0.48, 0.8}, 0.14},
    {1, {0.0, -0.36, 0}, {0.95, 0.60, 2.60}, 0.11},
};

static double clamp(double value, double low, double high) { return fmin(fmax(value, low), high); }

/* Distance of the point (in radii of the bundle) and the bundle's direction at the nearest place. */
static double across_bundle(const bundle *b, const double point[3], double direction[3])
{
    double nearest[3];
    if (b->arc) {
        double x = point[0] - b->from[0], y = point[1] - b->from[1];
        double angle = atan2(y, x);
        if (angle < -1.57079632679) /* the arc's gap is below: the far end is nearer than a turn further */
            angle += 6.28318530717959;
        angle = clamp(angle, b->to[1], b->to[2]);
        nearest[0] = b->from[0] + b->to[0] * cos(angle);
        nearest[1] = b->from[1] + b->to[0] * sin(angle);
        nearest[2] = b->from[2];
        direction[0] = -sin(angle), direction[1] = cos(angle), direction[2] = 0;
    } else {
        double length2 = 0, along = 0;
        for (int d = 0; d < 3; d++) {
            direction[d] = b->to[d] - b->from[d];
            length2 += direction[d] * direction[d];
            along += direction[d] * (point[d] - b->from[d]);
        }
        along = clamp(along / length2, 0, 1);
        for (int d = 0; d < 3; d++) {
            nearest[d] = b->from[d] + along * direction[d];
            direction[d] /= sqrt(length2);
        }
    }
    double flat = direction[2] == 0 ? 0.3 : 1, distance2 = 0;
    for (int d = 0; d < 3; d++) {
        double apart = (point[d] - nearest[d]) * (d == 2 ? flat : 1);
        distance2 += apart * apart;
    }
    return sqrt(distance2) / b->radius;
}

void hot_phantom_bundles(const double point[3], double half, phantom_voxel *voxel)
{
    double at[3] = {point[0] / half, point[1] / half, point[2] / half};
    memset(voxel, 0, sizeof *voxel);
    double x = at[0] / 0.95, y = at[1] / 0.92;
    if (x * x + y * y > 1)
        return; /* air */
    voxel->s0 = 1;
    for (size_t i = 0; i < sizeof bundles / sizeof bundles[0] && voxel->fibers < HOT_PHANTOM_FIBERS; i++) {
        double direction[3];
        if (across_bundle(&bundles[i], at, direction) <= 1)
            memcpy(voxel->direction[voxel->fibers++], direction, sizeof direction);
    }
    for (int i = 0; i < voxel->fibers; i++)
        voxel->fraction[i] = 1.0 / voxel->fibers;
    if (voxel->fibers > 0)
        return;
    double ventricle_x = (at[0] - 0.27) / 0.24, ventricle_y = (at[1] + 0.13) / 0.14;
    voxel->water = 1;
    voxel->water_diffusivity = ventricle_x * ventricle_x + ventricle_y * ventricle_y <= 1 ? HOT_CSF_DIFFUSIVITY
                                                                                          : HOT_GREY_DIFFUSIVITY;
}
