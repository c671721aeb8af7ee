/* Mass operators: what the backends share. */
#ifndef HOT_CONTRACT_FEM_H
#define HOT_CONTRACT_FEM_H

#include <hotfiber/fem.h>

#include "contract/cpu/contract_variant.h"

#ifdef __cplusplus
extern "C" {
#endif

/* n^dim */
static inline size_t hot_fem_power(size_t n, int dim) { return dim == 2 ? n * n : n * n * n; }

/* Values of scratch that hot_contract_variant's operators need, for `lanes` elements at a time: three arrays of a cube
 * whose side is the larger of dofs and points. */
static inline size_t hot_fem_scratch(const hot_fem_job *job, size_t lanes)
{
    const size_t side = job->dofs > job->points ? job->dofs : job->points;
    return 3 * lanes * hot_fem_power(side, job->dim);
}

typedef struct hot_fem_call {
    hot_fem_job job;
    int assemble; /* else action */
} hot_fem_call;

hot_status hot_fem_ref(hot_context *context, void *call);
hot_status hot_fem_cpu(hot_context *context, void *call);
hot_status hot_fem_cuda(hot_context *context, void *call);

#ifdef __cplusplus
}
#endif
#endif
