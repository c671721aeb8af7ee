/* The unrolled shapes: includes HOT_SHAPE_TEMPLATE for each, and lists them. To add one: an include here and a line in
 * the list (dimension 3 and an even order, or order 3 or 4); 0, 0 is the general version. */
#define HOT_ORDER 2
#define HOT_DIM 3
#include HOT_SHAPE_TEMPLATE
#undef HOT_ORDER
#undef HOT_DIM
#define HOT_ORDER 4
#define HOT_DIM 3
#include HOT_SHAPE_TEMPLATE
#undef HOT_ORDER
#undef HOT_DIM
#define HOT_ORDER 6
#define HOT_DIM 3
#include HOT_SHAPE_TEMPLATE
#undef HOT_ORDER
#undef HOT_DIM
#define HOT_ORDER 8
#define HOT_DIM 3
#include HOT_SHAPE_TEMPLATE
#undef HOT_ORDER
#undef HOT_DIM
#define HOT_ORDER 3
#define HOT_DIM 2
#include HOT_SHAPE_TEMPLATE
#undef HOT_ORDER
#undef HOT_DIM
#define HOT_ORDER 3
#define HOT_DIM 3
#include HOT_SHAPE_TEMPLATE
#undef HOT_ORDER
#undef HOT_DIM
#define HOT_ORDER 3
#define HOT_DIM 4
#include HOT_SHAPE_TEMPLATE
#undef HOT_ORDER
#undef HOT_DIM
#define HOT_ORDER 3
#define HOT_DIM 5
#include HOT_SHAPE_TEMPLATE
#undef HOT_ORDER
#undef HOT_DIM
#define HOT_ORDER 3
#define HOT_DIM 6
#include HOT_SHAPE_TEMPLATE
#undef HOT_ORDER
#undef HOT_DIM
#define HOT_ORDER 4
#define HOT_DIM 2
#include HOT_SHAPE_TEMPLATE
#undef HOT_ORDER
#undef HOT_DIM
#define HOT_ORDER 4
#define HOT_DIM 4
#include HOT_SHAPE_TEMPLATE
#undef HOT_ORDER
#undef HOT_DIM
#define HOT_ORDER 4
#define HOT_DIM 5
#include HOT_SHAPE_TEMPLATE
#undef HOT_ORDER
#undef HOT_DIM
#define HOT_ORDER 4
#define HOT_DIM 6
#include HOT_SHAPE_TEMPLATE
#undef HOT_ORDER
#undef HOT_DIM
#define HOT_ORDER 0
#define HOT_DIM 0
#include HOT_SHAPE_TEMPLATE
#undef HOT_ORDER
#undef HOT_DIM

#ifndef HOT_SSHOPM_SHAPES
#define HOT_SSHOPM_SHAPES(X) \
    X(2, 3) X(4, 3) X(6, 3) X(8, 3) \
    X(3, 2) X(3, 3) X(3, 4) X(3, 5) X(3, 6) \
    X(4, 2) X(4, 4) X(4, 5) X(4, 6) \
    X(0, 0)
#endif
