/* The step's arithmetic for one shape (HOT_ORDER, HOT_DIM) and precision (HOT_SCALAR), as a class of static functions:
 * included once for each by sshopm_shapes.h. The forms are C templates shared with the CPU (form3.h, formn.h,
 * sshopm_step.h). Order and dimension 0: any shape, without unrolled forms (general_evaluate, sshopm_device.cuh). */
#if HOT_DIM != 0
template <> struct sshopm_shape<HOT_SCALAR, HOT_ORDER, HOT_DIM> {
#define HOT_REAL HOT_SCALAR
#define HOT_COEF HOT_SCALAR
#define HOT_MAX(a, b) ((a) > (b) ? (a) : (b))
#define HOT_SQRT(a) sqrt(a)
#define HOT_FORM(name) form_##name
#define HOT_STEP(name) name
#if HOT_DIM == 3 && HOT_ORDER % 2 == 0
#include "symtensor/form3.h"
#else
#include "symtensor/formn.h"
#endif
#include "sshopm/sshopm_step.h"
#undef HOT_REAL
#undef HOT_COEF
#undef HOT_MAX
#undef HOT_SQRT
#undef HOT_FORM
#undef HOT_STEP
};
#endif
