/* Includes a template once for each order that has unrolled kernels in three dimensions:
 *
 *   #define HOT_ORDER_TEMPLATE "family/template.h"    taken back at the end
 *
 * HOT_ORDER is the order meanwhile. The names that the template makes bear it: HOT_JOIN(name##_, HOT_ORDER). */
#define HOT_ORDER 4
#include HOT_ORDER_TEMPLATE
#undef HOT_ORDER
#define HOT_ORDER 6
#include HOT_ORDER_TEMPLATE
#undef HOT_ORDER
#define HOT_ORDER 8
#include HOT_ORDER_TEMPLATE
#undef HOT_ORDER
#undef HOT_ORDER_TEMPLATE
