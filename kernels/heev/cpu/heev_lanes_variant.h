/* heev_lanes.h for one instruction set: included by heev_lanes_baseline.c, _avx2.c and _avx512.c with HOT_VARIANT. */
#include <math.h>
#include <string.h>

#include "common/simd.h"
#include "heev/cpu/heev_lanes_table.h"
#include "heev/heev_ql.h"

/* As frexp, whose call is a good part of a matrix of two rows. */
static inline int exponent_of(double x)
{
    int exponent;
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (bits >> 52) /* positive and normal */
        return (int)(bits >> 52) - 1022;
    frexp(x, &exponent);
    return exponent;
}

/* 2^exponent, within the normal numbers. */
static inline double power_of_two(int exponent)
{
    const uint64_t bits = (uint64_t)(1023 + exponent) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

#define NAME(name) name##_syev_f32
#define SCALAR float
#define REAL vf
#define MASK vi
#define EPSILON 6e-8
#define SMALL 1e-15
#define PARTS 1
#include "heev_lanes.h"
#define NAME(name) name##_syev_f64
#define SCALAR double
#define REAL vd
#define MASK vl
#define EPSILON 1.1e-16
#define SMALL 1e-140
#define PARTS 1
#include "heev_lanes.h"
#define NAME(name) name##_heev_f32
#define SCALAR float
#define REAL vf
#define MASK vi
#define EPSILON 6e-8
#define SMALL 1e-15
#define PARTS 2
#include "heev_lanes.h"
#define NAME(name) name##_heev_f64
#define SCALAR double
#define REAL vd
#define MASK vl
#define EPSILON 1.1e-16
#define SMALL 1e-140
#define PARTS 2
#include "heev_lanes.h"

const hot_heev_lanes HOT_VARIANT(hot_heev_lanes) = {
    HOT_LANES_F32, HOT_LANES_F64, {{solve_syev_f32, solve_syev_f64}, {solve_heev_f32, solve_heev_f64}}};
