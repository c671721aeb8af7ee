/* The scan's directions: a half sphere as three faces of a cube, HOT_SIDE x HOT_SIDE points each, evenly spaced in
 * angle along both axes of the face (tan-spaced in the plane), with one ring of further points over the face's edge so
 * that every point of the face has its eight neighbours.
 *
 * On the face of pivot axis p the point (u, v) is the direction with 1 at p, u at p + 1, v at p + 2 (axes modulo 3).
 * The spacing: at 10 % noise, of 20,000 tensors of each order fewer than .05 % lose a maximum, and half the spacing
 * finds no more. */
#pragma once

#include <math.h>

enum { HOT_SIDE_4 = 6, HOT_SIDE_6 = 8, HOT_SIDE_8 = 10, HOT_SIDE_10 = 12, HOT_SIDE_12 = 14, HOT_SIDE_MAX = 14 };

/* A grid point is a candidate when the quadratic through its 3 x 3 square is concave and has its maximum within this
 * many spacings along each axis. Comparing with the eight neighbours instead, one loses ten times as many maxima: on a
 * ridge a point beyond the saddle can be higher. More than 1 because the quadratic is only a guess at this spacing, and
 * because a maximum at a seam is then seen from both faces. */
#define HOT_GRID_REACH 1.25f

/* Of two candidates side by side only the higher one is refined, unless the lower one's quadratic has its maximum
 * within this many spacings: then it may be another. */
#define HOT_GRID_SURE 0.6f

/* The least value that the grid point nearest to a maximum can have, as a fraction of the largest maximum's height:
 * what lies further below the threshold need not be refined. */
#define HOT_GRID_LOSS 0.7f

/* The coordinate of column or row i = 0 ... side + 1 (0 and side + 1 are the ring). */
static inline double hot_grid_coordinate(int side, int i)
{
    return tan((i - 0.5 * (side + 1)) * (1.57079632679489661923 / side));
}
