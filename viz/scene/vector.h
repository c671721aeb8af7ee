/* Vectors of three doubles. */
#ifndef HOT_VIZ_VECTOR_H
#define HOT_VIZ_VECTOR_H

static inline double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

#endif
